/* test_synth.c - the demonstration table: reproducible, loads by its own schema, and has something to learn; patients
 * come back, and none is in both files. */
#include "datatest.h"

static void *slurp(const char *dir, const char *name, size_t *n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    PVT_CHECK(f != NULL, "%s", path);
    char *text = calloc(1, 1 << 22);
    *n = fread(text, 1, (1 << 22) - 1, f);
    fclose(f);
    return text;
}

static void remove_all(const char *dir)
{
    static const char *const names[] = { "demo_train.csv", "demo_test.csv", "demo.schema.json" };
    char path[128];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        PVT_IS(access(path, F_OK), 0);
        unlink(path);
    }
}

static void same_seed_same_bytes(void **state)
{
    (void)state;
    dt t;
    size_t n[3];
    char *text[3];
    dt_open(&t);
    for (int i = 0; i < 3; i++) {
        PVT_OK(pv_demo_data(t.ctx, t.dir, i < 2 ? 7 : 8, 500, 100));
        text[i] = slurp(t.dir, "demo_train.csv", &n[i]);
    }
    PVT_TRUE(n[0] == n[1] && memcmp(text[0], text[1], n[0]) == 0);
    PVT_TRUE(n[0] != n[2] || memcmp(text[0], text[2], n[0]) != 0);
    for (int i = 0; i < 3; i++) free(text[i]);
    remove_all(t.dir);
    PVT_IS(pv_demo_data(t.ctx, t.dir, 1, 0, 1), PV_E_ARG);
    PVT_IS(pv_demo_data(t.ctx, "/proc/nowhere", 1, 1, 1), PV_E_IO);
    dt_close(&t);
}

static void loads_and_correlates(void **state)
{
    (void)state;
    dt t;
    char schema[128], path[128];
    dt_open(&t);
    PVT_OK(pv_demo_data(t.ctx, t.dir, 1, 20000, 5000));
    snprintf(schema, sizeof schema, "%s/demo.schema.json", t.dir);
    t.cfg.schema = schema;
    t.cfg.path = path;
    for (int held_out = 0; held_out < 2; held_out++) {
        snprintf(path, sizeof path, "%s/%s", t.dir, held_out ? "demo_test.csv" : "demo_train.csv");
        pvi_matrix *m = dt_load(&t, NULL); /* as eval reads it */
        PVT_IS(m->domain.n, held_out ? 5000 : 20000);
        PVT_IS(m->domain.p, 6 + 2 + 3 + 5 + 4 + 1);
        double positive = 0, visits[2] = { 0 }, n[2] = { 0 };
        for (int64_t i = 0; i < m->domain.n; i++) {
            const int k = m->y[i] > 0;
            positive += k;
            n[k]++;
            visits[k] += (double)dt_at(m, i, 12) / (double)dt_at(m, i, 20); /* prior visits over the bias column */
        }
        PVT_CHECK(positive / (double)m->domain.n > 0.25 && positive / (double)m->domain.n < 0.55, "%g",
                  positive / (double)m->domain.n);
        PVT_TRUE(visits[1] / n[1] > 1.5 * visits[0] / n[0]);
        pvi_matrix_free(m);
    }
    remove_all(t.dir);
    dt_close(&t);
}

/* Stays of patient 1, 2, ... up to n: P0000001, ... */
static void count(const char *dir, const char *name, int n, int *stays)
{
    size_t size;
    char *text = slurp(dir, name, &size);
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        PVT_IS(line[1], 'P');
        const long who = strtol(line + 2, NULL, 10);
        PVT_TRUE(who >= 1 && who <= n);
        stays[who - 1]++;
    }
    free(text);
}

static void patients_come_back(void **state)
{
    (void)state;
    enum { ROWS = 3000, HELD_OUT = 500 };
    static int train[ROWS + HELD_OUT], test[ROWS + HELD_OUT];
    dt t;
    dt_open(&t);
    PVT_OK(pv_demo_data(t.ctx, t.dir, 5, ROWS, HELD_OUT));
    count(t.dir, "demo_train.csv", ROWS + HELD_OUT, train);
    count(t.dir, "demo_test.csv", ROWS + HELD_OUT, test);
    int patients = 0, several = 0, both = 0, most = 0;
    for (int i = 0; i < ROWS + HELD_OUT; i++) {
        patients += train[i] > 0;
        several += train[i] > 1;
        both += train[i] > 0 && test[i] > 0;
        most = train[i] > most ? train[i] : most;
    }
    PVT_IS(both, 0);
    PVT_TRUE(several > patients / 3 && most > 8 && most <= 12);
    char *schema = slurp(t.dir, "demo.schema.json", &(size_t) { 0 });
    PVT_TRUE(strstr(schema, "\"type\": \"person\"") != NULL && strstr(schema, "\"rows\": 8") != NULL);
    free(schema);
    remove_all(t.dir);
    dt_close(&t);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(same_seed_same_bytes), cmocka_unit_test(loads_and_correlates),
                                      cmocka_unit_test(patients_come_back) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
