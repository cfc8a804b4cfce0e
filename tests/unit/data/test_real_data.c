/* test_real_data.c - the published benchmark sets: rows, features and labels as documented.  They are looked for
 * in $PRIVET_DATA, else in ../shared/data beside the source tree; absent ones are skipped. */
#include "datatest.h"

static dt t;

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dt_close(&t);
    return 0;
}

static const char *find(const char *name)
{
    static char path[512];
    const char *data = getenv("PRIVET_DATA"), *source = getenv("PRIVET_SOURCE");
    if (data) snprintf(path, sizeof path, "%s/%s", data, name);
    else snprintf(path, sizeof path, "%s/../shared/data/%s", source ? source : ".", name);
    if (access(path, R_OK) == 0) return path;
    print_message("skipped: %s is not there (PRIVET_DATA=FOLDER tells where)\n", path);
    return NULL;
}

static int64_t count_label(const pvi_matrix *m, float y)
{
    int64_t n = 0;
    for (int64_t i = 0; i < m->domain.n; i++) n += m->y[i] == y;
    return n;
}

static void norms_hold(const pvi_matrix *m)
{
    for (int64_t i = 0; i < m->domain.n; i++) {
        double s = (double)m->bias * (double)m->bias;
        const int64_t from = m->x ? 0 : m->ptr[i], to = m->x ? m->ld : m->ptr[i + 1];
        const float *v = m->x ? m->x + i * m->ld : m->val;
        for (int64_t j = from; j < to; j++) s += (double)v[j] * v[j];
        PVT_TRUE(sqrt(s) <= (double)m->norm[i] * (1 + 1e-15) && (double)m->norm[i] <= sqrt(s) * (1 + 1e-6));
    }
}

static void libsvm_sets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t n, p, positive;
    } set[] = {
        { "ijcnn1/ijcnn1.tr.bz2", 35000, 22, 3415 },   { "ijcnn1/ijcnn1.val.bz2", 14990, 22, 1438 },
        { "ijcnn1/ijcnn1.t.bz2", 91701, 22, 8712 },    { "adult/a9a.bz2", 32561, 123, 7841 },
        { "adult/a9a.t.bz2", 16281, 123, 3846 },       { "highdim/madelon.svm.bz2", 2600, 500, 1300 },
        { "highdim/RELATHE.svm.bz2", 1427, 4322, -1 }, { "highdim/dorothea_train_nonempty.svm.bz2", 800, 88119, 78 }
    };
    int seen = 0;
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        if (!(t.cfg.path = find(set[i].name))) continue;
        pvi_matrix *m = dt_load(&t, NULL);
        PVT_IS(m->domain.n, set[i].n);
        PVT_IS(m->domain.p, set[i].p + 1);
        PVT_IS(m->x != NULL, set[i].p <= 1024);
        if (set[i].positive >= 0) PVT_IS(count_label(m, 1), set[i].positive);
        else PVT_TRUE(count_label(m, 1) == 648 || count_label(m, 1) == 779);
        norms_hold(m);
        pvi_matrix_free(m);
        seen++;
    }
    if (!seen) PVT_SKIP("no data sets");
}

static void covertype(void **state)
{
    (void)state;
    static const int64_t count[] = { 211840, 283301, 35754, 2747, 9493, 17367, 20510 };
    if (!(t.cfg.path = find("covtype/covtype.data.gz"))) PVT_SKIP("no covertype");
    t.cfg.labels = "1,2,3,4,5,6,7";
    pvi_matrix *m = dt_load(&t, NULL);
    PVT_IS(m->domain.n, 581012);
    PVT_IS(m->domain.p, 55);
    PVT_IS(m->domain.classes, 7);
    for (int k = 0; k < 7; k++) PVT_IS(count_label(m, (float)k), count[k]);
    pvi_matrix_free(m);
    t.cfg.labels = "1|3|4|5|6|7,2";
    m = dt_load(&t, NULL);
    PVT_IS(count_label(m, 1), 283301);
    pvi_matrix_free(m);
}

static const char adult_schema[] =
    "{\"header\": false, \"missing\": [\"?\"], \"columns\": ["
    "{\"name\": \"age\", \"type\": \"number\", \"min\": 17, \"max\": 90},"
    "{\"name\": \"workclass\", \"type\": \"category\", \"values\": [\"Private\", \"Self-emp-not-inc\", "
    "\"Self-emp-inc\", \"Federal-gov\", "
    "\"Local-gov\", \"State-gov\", \"Without-pay\", \"Never-worked\"]},"
    "{\"name\": \"fnlwgt\", \"type\": \"ignore\"}, {\"name\": \"education\", \"type\": \"ignore\"},"
    "{\"name\": \"education-num\", \"type\": \"number\", \"min\": 1, \"max\": 16},"
    "{\"name\": \"marital-status\", \"type\": \"ignore\"}, {\"name\": \"occupation\", \"type\": \"ignore\"},"
    "{\"name\": \"relationship\", \"type\": \"ignore\"}, {\"name\": \"race\", \"type\": \"ignore\"},"
    "{\"name\": \"sex\", \"type\": \"category\", \"values\": [\"Male\", \"Female\"]},"
    "{\"name\": \"capital-gain\", \"type\": \"number\", \"min\": 0, \"max\": 99999},"
    "{\"name\": \"capital-loss\", \"type\": \"number\", \"min\": 0, \"max\": 5000},"
    "{\"name\": \"hours\", \"type\": \"number\", \"min\": 1, \"max\": 99},"
    "{\"name\": \"country\", \"type\": \"ignore\"},"
    "{\"name\": \"income\", \"type\": \"label\", \"values\": [[\"<=50K\", \"<=50K.\"], [\">50K\", \">50K.\"]]}]%s}";

static void adult(void **state)
{
    (void)state;
    char json[4096];
    snprintf(json, sizeof json, adult_schema, "");
    t.cfg.schema = json;
    if (!(t.cfg.path = find("adult/adult.data.gz"))) PVT_SKIP("no adult");
    pvi_matrix *m = dt_load(&t, NULL);
    PVT_IS(m->domain.n, 32561);
    PVT_IS(m->domain.p, 16);
    PVT_IS(count_label(m, 1), 7841);
    norms_hold(m);
    pvi_matrix_free(m);
    snprintf(json, sizeof json, adult_schema, ", \"skip\": 1"); /* |1x3 Cross validator */
    t.cfg.path = find("adult/adult.test.gz");
    m = dt_load(&t, NULL);
    PVT_IS(m->domain.n, 16281);
    PVT_IS(count_label(m, 1), 3846);
    pvi_matrix_free(m);
}

static void mnist(void **state)
{
    (void)state;
    if (!(t.cfg.path = find("mnist/t10k-images-idx3-ubyte.gz"))) PVT_SKIP("no MNIST");
    pvi_matrix *m = dt_load(&t, NULL);
    PVT_IS(m->domain.n, 10000);
    PVT_IS(m->domain.p, 785);
    PVT_TRUE(m->domain.height == 28 && m->domain.width == 28 && m->domain.channels == 1);
    PVT_IS(count_label(m, 7), 1028);
    norms_hold(m);
    pvi_matrix_free(m);
}

static void cifar(void **state)
{
    (void)state;
    if (!(t.cfg.path = find("cifar10/test_batch.bin.bz2"))) PVT_SKIP("no CIFAR-10");
    pvi_matrix *m = dt_load(&t, NULL);
    PVT_IS(m->domain.n, 10000);
    PVT_IS(m->domain.p, 3073);
    PVT_TRUE(m->domain.height == 32 && m->domain.width == 32 && m->domain.channels == 3);
    for (int k = 0; k < 10; k++) PVT_IS(count_label(m, (float)k), 1000);
    norms_hold(m);
    pvi_matrix_free(m);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = { T(libsvm_sets), T(covertype), T(adult), T(mnist), T(cifar) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
