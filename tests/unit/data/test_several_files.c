/* test_several_files.c - the rows of several files follow one another, whatever their format: as one file with all of
 * them. */
#include "memorytest.h"

static mt t;
static char part[3][96];

static int setup(void **state)
{
    (void)state;
    mt_open(&t);
    for (int k = 0; k < 3; k++) snprintf(part[k], sizeof part[k], "%s/x%d.npy", t.d.dir, k);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char other[96];
    for (int k = 0; k < 3; k++) {
        unlink(part[k]);
        snprintf(other, sizeof other, "%s/y%d.npy", t.d.dir, k);
        unlink(other);
        snprintf(other, sizeof other, "%s/%d-labels-idx1", t.d.dir, k);
        unlink(other);
        snprintf(other, sizeof other, "%s/%d-images-idx3", t.d.dir, k);
        unlink(other);
    }
    mt_close(&t);
    return 0;
}

/* The files by pv_data_files and as a list in data.path, against `whole`, which is freed. */
static void same_as(pvi_matrix *whole, int n)
{
    const char *path[3];
    char list[320] = "";
    for (int k = 0; k < n; k++) {
        path[k] = part[k];
        sprintf(list + strlen(list), "%s%s", k ? "," : "", part[k]);
    }
    pv_data *d;
    PVT_OK(pv_data_files(t.d.ctx, path, n, &d));
    PVT_IS(pv_data_rows(d), -1);
    pvi_matrix *a = mt_load(&t, d), *b = mt_load(&t, d);
    dt_same(whole, a);
    dt_same(whole, b);
    pv_data_free(d);
    t.d.cfg.path = list;
    pvi_matrix *c = mt_file(&t);
    dt_same(whole, c);
    PVT_IS(c->features_measured, whole->features_measured);
    t.d.cfg.path = t.d.path;
    pvi_matrix_free(whole), pvi_matrix_free(a), pvi_matrix_free(b), pvi_matrix_free(c);
}

static void fails_with(int n, pv_status want, const char *words)
{
    const char *const path[] = { part[0], part[1], part[2] };
    pvi_matrix *m;
    pv_data *d;
    PVT_OK(pv_data_files(t.d.ctx, path, n, &d));
    const pv_status s = pvi_data_load(t.d.ctx, &t.d.cfg, &t.d.expect, d, &m);
    PVT_CHECK(s == want && !m && strstr(pv_ctx_errmsg(t.d.ctx), words), "%d %s", (int)s, pv_ctx_errmsg(t.d.ctx));
    pv_data_free(d);
}

static void text(const char *path, const char *s)
{
    dt_write(path, s, strlen(s));
}

static const char schema[] =
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 9}, {\"name\": "
    "\"c\", \"type\": \"category\", \"values\": [\"x\", \"y\"]}, {\"name\": \"l\", \"type\": "
    "\"label\", \"values\": [\"no\", \"yes\"]}]}";

/* Each file has its header, and the message about a bad field names its file. */
static void tables(void **state)
{
    (void)state;
    t.d.cfg.schema = schema;
    t.d.cfg.chunk = 16;
    text(t.d.path, "a,c,l\n1,x,no\n2,y,yes\n3,x,no\n4,\"y\",yes\n5,x,yes\n");
    text(part[0], "a,c,l\n1,x,no\n2,y,yes\n");
    text(part[1], "a,c,l\n3,x,no\n");
    text(part[2], "a,c,l\n4,\"y\",yes\n5,x,yes");
    same_as(mt_file(&t), 3);
    text(part[1], "a,c,l\n"); /* no rows in one of them */
    text(t.d.path, "a,c,l\n1,x,no\n2,y,yes\n4,\"y\",yes\n5,x,yes\n");
    same_as(mt_file(&t), 3);
    text(part[1], "a,c,l\n3,x,no\n4,z,no\n");
    fails_with(3, PV_E_FORMAT, "x1.npy:3:3: column \"c\": 'z' is not one of its declared values");
    text(part[1], "3,x,no\n");
    fails_with(3, PV_E_FORMAT, "x1.npy:1:1: the header has no column \"a\"; column 1 is \"3\"");
    text(part[1], "a,c\n3,x\n");
    fails_with(3, PV_E_FORMAT, "x1.npy:1:1: the column of the label, \"l\", is missing");
    t.d.expect.labels_optional = true;
    fails_with(3, PV_E_FORMAT, "x1.npy: has no labels, but the files before have some");
    text(part[0], "a,c\n3,x\n");
    text(part[1], "a,c,l\n3,x,no\n");
    fails_with(2, PV_E_FORMAT, "x1.npy: has labels, but the files before have none");
    t.d.cfg.rows = 5;
    text(part[1], "a,c\n3,x\n");
    fails_with(2, PV_E_FORMAT, "x0.npy and 1 more: fewer rows than the declared data.rows=5");
    t.d.cfg.rows = 1;
    fails_with(2, PV_E_FORMAT, "x0.npy and 1 more: more rows than the declared data.rows=1");
}

static void tables_without_a_schema(void **state)
{
    (void)state;
    t.d.cfg.labels = "0,1";
    t.d.cfg.format = "csv";
    text(t.d.path, "1,2,0\n3,4,1\n5,6,1\n");
    text(part[0], "1,2,0\n");
    text(part[1], "3,4,1\n5,6,1\n");
    same_as(mt_file(&t), 2);
    text(part[1], "3,4,1,1\n");
    fails_with(2, PV_E_FORMAT, "x1.npy: 3 features, but the files before have 2");
}

static void lines(void **state)
{
    (void)state;
    t.d.expect.classes = 2;
    text(t.d.path, "1 1:0.5\n-1 7:1\n1 2000:1\n-1 1:1\n");
    text(part[0], "1 1:0.5\n-1 7:1\n");
    text(part[1], "1 2000:1\n"); /* becomes sparse on the way */
    text(part[2], "-1 1:1\n");
    same_as(mt_file(&t), 3);
    text(part[1], "5 2000:1\n");
    fails_with(3, PV_E_FORMAT, "x1.npy:1:1: label '5' is not -1, 0 or +1");
    text(part[1], "");
    fails_with(3, PV_E_FORMAT, "x1.npy: empty file");
}

static void arrays(void **state)
{
    (void)state;
    static const float x[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    static const uint8_t y[] = { 0, 1, 2, 3 };
    char label[96];
    mt_npy(t.rows, "<f4", 4, 2, x, sizeof x);
    mt_npy(t.labels, "|u1", 4, 0, y, 4);
    for (int k = 0; k < 2; k++) {
        snprintf(label, sizeof label, "%s/y%d.npy", t.d.dir, k);
        mt_npy(part[k], "<f4", 2, 2, x + 4 * k, 16);
        mt_npy(label, "|u1", 2, 0, y + 2 * k, 2);
    }
    t.d.cfg.path = t.rows;
    same_as(mt_file(&t), 2);
    t.d.cfg.rows = 4;
    t.d.cfg.path = t.rows;
    same_as(mt_file(&t), 2);
    mt_npy(part[1], "<f4", 1, 3, x, 12);
    snprintf(label, sizeof label, "%s/y1.npy", t.d.dir);
    mt_npy(label, "|u1", 1, 0, y, 1);
    t.d.cfg.rows = PV_AUTO_I64;
    fails_with(2, PV_E_FORMAT, "x1.npy: 3 features, but the files before have 2");
}

static void images(void **state)
{
    (void)state;
    static const char two[] = "\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\2abcdefgh", labels[] = "\0\0\10\1\0\0\0\2\1\2";
    static const char both[] = "\0\0\10\3\0\0\0\4\0\0\0\2\0\0\0\2abcdefghabcdefgh",
                      all[] = "\0\0\10\1\0\0\0\4\1\2\1\2";
    static const char wide[] = "\0\0\10\3\0\0\0\2\0\0\0\1\0\0\0\4abcdefgh";
    char label[96];
    for (int k = 0; k < 3; k++) {
        snprintf(part[k], sizeof part[k], "%s/%d-images-idx3", t.d.dir, k);
        snprintf(label, sizeof label, "%s/%d-labels-idx1", t.d.dir, k);
        dt_write(part[k], k < 2 ? two : both, (k < 2 ? sizeof two : sizeof both) - 1);
        dt_write(label, k < 2 ? labels : all, (k < 2 ? sizeof labels : sizeof all) - 1);
    }
    t.d.cfg.path = part[2];
    same_as(mt_file(&t), 2);
    dt_write(part[1], wide, sizeof wide - 1);
    fails_with(2, PV_E_FORMAT, "1-images-idx3: images of 1x4x1, but the files before have 2x2x1");
}

/* Labels apart for files: they count over all rows, and the files must have none. */
static void labels_apart(void **state)
{
    (void)state;
    static const char *const y[] = { "no", "yes", "yes" };
    const char *const path[] = { part[0], part[1] };
    pv_data *d;
    t.d.cfg.schema = schema;
    text(t.d.path, "a,c,l\n1,x,no\n2,y,yes\n3,x,yes\n");
    text(part[0], "a,c\n1,x\n2,y\n");
    text(part[1], "a,c\n3,x\n");
    PVT_OK(pv_data_files(t.d.ctx, path, 2, &d));
    PVT_OK(pv_data_label_words(d, y, 3));
    pvi_matrix *a = mt_file(&t), *b = mt_load(&t, d);
    dt_same(a, b);
    PVT_TRUE(b->has_labels);
    pvi_matrix_free(a), pvi_matrix_free(b);
    PVT_OK(pv_data_label_words(d, y, 2));
    pvi_matrix *m;
    PVT_IS(pvi_data_load(t.d.ctx, &t.d.cfg, &t.d.expect, d, &m), PV_E_FORMAT);
    PVT_TRUE(strstr(pv_ctx_errmsg(t.d.ctx), "more rows than the 2 labels that were given") != NULL);
    pv_data_free(d);
    PVT_OK(pv_data_file(t.d.ctx, t.d.path, &d));
    PVT_OK(pv_data_label_words(d, y, 3));
    PVT_IS(pvi_data_load(t.d.ctx, &t.d.cfg, &t.d.expect, d, &m), PV_E_FORMAT);
    PVT_TRUE(strstr(pv_ctx_errmsg(t.d.ctx), "the rows have labels of their own, and others were given") != NULL);
    pv_data_free(d);
    t.d.cfg.schema = NULL; /* all columns are features */
    t.d.cfg.labels = "no,yes";
    t.d.cfg.format = "csv";
    text(t.d.path, "1,2,no\n3,4,yes\n5,6,yes\n");
    text(part[0], "1,2\n3,4\n");
    text(part[1], "5,6\n");
    PVT_OK(pv_data_files(t.d.ctx, path, 2, &d));
    PVT_OK(pv_data_label_words(d, y, 3));
    a = mt_file(&t), b = mt_load(&t, d);
    dt_same(a, b);
    pvi_matrix_free(a), pvi_matrix_free(b);
    pv_data_free(d);
}

static void bad_arguments(void **state)
{
    (void)state;
    pv_data *d = (pv_data *)&t;
    const char *const hole[] = { "a", NULL }, *const empty[] = { "" };
    mt_refused(&t, pv_data_files(t.d.ctx, NULL, 1, &d), "pv_data_files: paths is NULL");
    PVT_TRUE(d == NULL);
    mt_refused(&t, pv_data_files(t.d.ctx, hole, 0, &d), "files: at least one path is needed");
    mt_refused(&t, pv_data_files(t.d.ctx, hole, 2, &d), "files: path 2 is empty");
    mt_refused(&t, pv_data_files(t.d.ctx, empty, 1, &d), "files: path 1 is empty");
    mt_refused(&t, pv_data_file(t.d.ctx, NULL, &d), "pv_data_file: path is NULL");
    PVT_IS(pv_data_file(NULL, "a", &d), PV_E_ARG);
    PVT_IS(pv_data_file(t.d.ctx, "a", NULL), PV_E_ARG);
    text(part[0], "1 1:1\n");
    fails_with(2, PV_E_IO, "x1.npy: No such file or directory");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = { TEST(tables),       TEST(tables_without_a_schema),
                                        TEST(lines),        TEST(arrays),
                                        TEST(images),       TEST(labels_apart),
                                        TEST(bad_arguments) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
