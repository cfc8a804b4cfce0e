/* test_reader_cifar.c - CIFAR-10 records from one file, several files, a folder; and every way they can be wrong. */
#include "datatest.h"

enum { RECORD = 3073 };
static dt t;
static char file[3][96];

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    t.cfg.bias = 0;
    t.cfg.row_norm = 1000;
    for (int k = 0; k < 3; k++) snprintf(file[k], sizeof file[k], "%s/data_batch_%d.bin", t.dir, k + 1);
    t.cfg.path = file[0];
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) unlink(file[k]);
    dt_close(&t);
    return 0;
}

static uint8_t byte(int file_no, int row, int j)
{
    return (uint8_t)(file_no * 101 + row * 31 + j * 7);
}

static void write_batch(int k, int rows, size_t cut, int bad_class)
{
    uint8_t *b = malloc((size_t)rows * RECORD);
    for (int i = 0; i < rows; i++) {
        b[i * RECORD] = (uint8_t)(i == rows - 1 && bad_class ? bad_class : (i + k) % 10);
        for (int j = 0; j < 3072; j++) b[i * RECORD + 1 + j] = byte(k, i, j);
    }
    dt_write(file[k], b, (size_t)rows * RECORD - cut);
    free(b);
}

static void check_row(const pvi_matrix *m, int64_t r, int k, int i)
{
    PVT_NEAR(m->y[r], (i + k) % 10, 0);
    for (int j = 0; j < 3072; j++) PVT_NEAR(dt_at(m, r, j), byte(k, i, j) / 255.0 - t.cfg.center, 1e-7);
}

static void one_file(void **state)
{
    (void)state;
    t.cfg.center = 0.5;
    write_batch(0, 300, 0, 0); /* more than one batch */
    pvi_matrix *m = dt_load(&t, NULL);
    PVT_IS(m->domain.n, 300);
    PVT_IS(m->domain.p, 3072);
    PVT_IS(m->domain.classes, 10);
    PVT_TRUE(m->domain.height == 32 && m->domain.width == 32 && m->domain.channels == 3);
    PVT_TRUE(m->x != NULL); /* images are dense */
    check_row(m, 0, 0, 0);
    check_row(m, 299, 0, 299);
    pvi_matrix_free(m);
}

static void bytes_are_the_same_floats(void **state)
{
    (void)state;
    t.cfg.center = 0.5;
    t.cfg.row_norm = 3;
    write_batch(0, 300, 0, 0);
    dt_same_as_bytes(&t);
    for (int k = 1; k < 3; k++) write_batch(k, 3 + k, 0, 0);
    t.cfg.path = t.dir;
    dt_same_as_bytes(&t);
}

typedef struct seen {
    int64_t calls, stop_at;
    double last;
} seen;

static bool note(void *user, const char *what, double done, double total, double epsilon)
{
    seen *s = user;
    assert_string_equal(what, "reading");
    PVT_TRUE(done >= s->last && done <= total && epsilon < 0);
    s->last = done;
    return ++s->calls != s->stop_at;
}

static void progress_is_told(void **state)
{
    (void)state;
    seen s = { 0 };
    pvi_matrix *m;
    for (int k = 0; k < 3; k++) write_batch(k, 300, 0, 0);
    t.cfg.path = t.dir;
    pv_ctx_on_progress(t.ctx, note, &s);
    m = dt_load(&t, NULL);
    PVT_TRUE(m->domain.n == 900 && s.calls >= 6 && s.last == 1);
    pvi_matrix_free(m);
    s = (seen) { .stop_at = 3 };
    PVT_IS(pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m), PV_E_CANCELLED);
    PVT_TRUE(!m && s.calls == 3 && strstr(pv_ctx_errmsg(t.ctx), "stopped while reading"));
    pv_ctx_on_progress(t.ctx, NULL, NULL);
}

/* The files beside the first, the folder, and a list are the same rows. */
static void several_files(void **state)
{
    (void)state;
    char list[320];
    for (int k = 0; k < 3; k++) write_batch(k, 3 + k, 0, 0);
    pvi_matrix *a = dt_load(&t, NULL);
    PVT_IS(a->domain.n, 12);
    check_row(a, 2, 0, 2);
    check_row(a, 3, 1, 0);
    check_row(a, 11, 2, 4);
    t.cfg.path = t.dir;
    pvi_matrix *b = dt_load(&t, NULL);
    dt_same(a, b);
    snprintf(list, sizeof list, "%s,%s,%s", file[0], file[1], file[2]);
    t.cfg.path = list;
    pvi_matrix *c = dt_load(&t, NULL);
    dt_same(a, c);
    t.cfg.path = file[1]; /* not the first: alone */
    pvi_matrix *d = dt_load(&t, NULL);
    PVT_IS(d->domain.n, 4);
    pvi_matrix_free(a);
    pvi_matrix_free(b);
    pvi_matrix_free(c);
    pvi_matrix_free(d);
}

static void fails(pv_status want, const char *words)
{
    pvi_matrix *m;
    const pv_status s = pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m);
    PVT_CHECK(s == want && strstr(pv_ctx_errmsg(t.ctx), words), "%d %s", (int)s, pv_ctx_errmsg(t.ctx));
    PVT_TRUE(m == NULL);
}

static void wrong_files(void **state)
{
    (void)state;
    write_batch(0, 3, 5, 0);
    fails(PV_E_FORMAT, "truncated: the record at byte 6146 has 3068 of 3073 bytes");
    write_batch(0, 257, 0, 11);
    fails(PV_E_FORMAT, "byte 786688: class 11, but CIFAR-10 has 0 to 9");
    write_batch(0, 3, 0, 0);
    write_batch(1, 2, 1, 0);
    fails(PV_E_FORMAT, "data_batch_2.bin: truncated: the record at byte 3073");
    write_batch(1, 2, 0, 0);
    t.cfg.labels = "0,1";
    fails(PV_E_FORMAT, "byte 6146: label '2' is none of: 0, 1");
    t.cfg.labels = NULL;
    t.cfg.rows = 4;
    fails(PV_E_FORMAT, "more rows than the declared data.rows=4");
    t.cfg.rows = 6;
    fails(PV_E_FORMAT, "fewer rows than the declared data.rows=6");
    t.cfg.rows = PV_AUTO_I64;
    t.cfg.features = 784;
    fails(PV_E_FORMAT, "images of 3072 pixels, but 784 are declared");
    t.cfg.features = PV_AUTO_I64;
    t.cfg.image = "28x28";
    fails(PV_E_FORMAT, "images of 32x32x3, but data.image=28x28");
}

static void wrong_paths(void **state)
{
    (void)state;
    char list[320];
    t.cfg.path = t.dir;
    fails(PV_E_IO, "is a directory, a data file is needed");
    write_batch(0, 1, 0, 0);
    snprintf(list, sizeof list, "%s,", file[0]);
    t.cfg.path = list;
    fails(PV_E_PARAM, "a name in the list is empty");
    snprintf(list, sizeof list, "%s,,%s", file[0], file[0]);
    fails(PV_E_PARAM, "a name in the list is empty");
    snprintf(list, sizeof list, "%s,%s/none", file[0], t.dir);
    fails(PV_E_IO, "none: No such file");
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(one_file, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_are_the_same_floats, setup, teardown),
        cmocka_unit_test_setup_teardown(progress_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(several_files, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_files, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_paths, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
