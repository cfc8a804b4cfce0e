/* test_reader_idx.c - IDX images: values, labels, shapes, and every way a file can be wrong. */
#include "datatest.h"

static dt t;
static char labels[128];

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    t.cfg.bias = 0;
    t.cfg.row_norm = 100;
    snprintf(labels, sizeof labels, "%s/l-ubyte", t.dir);
    t.cfg.labels = labels;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(labels);
    dt_close(&t);
    return 0;
}

/* Two images of 2x3 pixels, labels 7 and 0. */
static const uint8_t two[] = {
    0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 51, 255, 1, 2, 3, 9, 8, 7, 6, 5, 4
};
static const uint8_t two_labels[] = { 0, 0, 8, 1, 0, 0, 0, 2, 7, 0 };

static void write_labels(const uint8_t *bytes, size_t n)
{
    dt_write(labels, bytes, n);
}

static pvi_matrix *load(const uint8_t *bytes, size_t n)
{
    dt_write(t.path, bytes, n);
    return dt_load(&t, NULL);
}

static void values_labels_and_shape(void **state)
{
    (void)state;
    write_labels(two_labels, sizeof two_labels);
    t.cfg.center = 0.25;
    pvi_matrix *m = load(two, sizeof two);
    PVT_IS(m->domain.n, 2);
    PVT_IS(m->domain.p, 6);
    PVT_IS(m->domain.classes, 10);
    PVT_IS(m->domain.height, 2);
    PVT_IS(m->domain.width, 3);
    PVT_IS(m->domain.channels, 1);
    for (int i = 0; i < 12; i++) PVT_NEAR(dt_at(m, i / 6, i % 6), two[16 + i] / 255.0 - 0.25, 1e-7);
    PVT_NEAR(m->y[0], 7, 0);
    PVT_NEAR(m->y[1], 0, 0);
    assert_string_equal(m->class_names[7], "7");
    pvi_matrix_free(m);
}

static void bytes_are_the_same_floats(void **state)
{
    (void)state;
    write_labels(two_labels, sizeof two_labels);
    dt_write(t.path, two, sizeof two);
    dt_same_as_bytes(&t);
    t.cfg.center = 0.25;
    t.cfg.row_norm = 0.1; /* rows are scaled down */
    t.cfg.bias = 1;
    dt_same_as_bytes(&t);
    t.cfg.norm = PVI_NORM_MAX;
    dt_same_as_bytes(&t);
}

static void four_sizes_are_planes(void **state)
{
    (void)state;
    const uint8_t b[] = { 0, 0, 8, 4, 0, 0,  0,   2, 0, 0, 0, 3, 0, 0, 0, 1,
                          0, 0, 0, 2, 0, 51, 255, 1, 2, 3, 9, 8, 7, 6, 5, 4 };
    write_labels(two_labels, sizeof two_labels);
    pvi_matrix *m = load(b, sizeof b);
    PVT_IS(m->domain.channels, 3);
    PVT_IS(m->domain.height, 1);
    PVT_IS(m->domain.width, 2);
    pvi_matrix_free(m);
}

static void vectors_have_no_shape_unless_declared(void **state)
{
    (void)state;
    const uint8_t b[] = { 0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 6, 0, 51, 255, 1, 2, 3, 9, 8, 7, 6, 5, 4 };
    write_labels(two_labels, sizeof two_labels);
    pvi_matrix *m = load(b, sizeof b);
    PVT_IS(m->domain.height, 0);
    pvi_matrix_free(m);
    t.cfg.image = "1x3x2";
    m = load(b, sizeof b);
    PVT_IS(m->domain.height, 1);
    PVT_IS(m->domain.width, 3);
    PVT_IS(m->domain.channels, 2);
    pvi_matrix_free(m);
    t.cfg.image = "2x2";
    dt_fails_bytes(&t, b, sizeof b, PV_E_FORMAT, ": 6 features do not make an image of 2x2x1");
    t.cfg.image = "3x2";
    dt_fails_bytes(&t, two, sizeof two, PV_E_FORMAT, ": images of 2x3x1, but data.image=3x2");
}

static void bad_declarations(void **state)
{
    (void)state;
    static const char *const bad[] = { "x",       "3",    "3x",      "3x4x", "0x4",
                                       "3x4x5x6", "3x4 ", "99999x2", "-1x4", "32768x32768x32768" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pvi_shape s = { 1, 1, 1 };
        PVT_IS(pvi_image_parse(t.ctx, bad[i], &s), PV_E_PARAM);
        PVT_IS(s.height + s.width + s.channels, 0);
        PVT_TRUE(strstr(pv_ctx_errmsg(t.ctx), "data.image=") != NULL);
    }
}

static void wrong_files(void **state)
{
    (void)state;
    uint8_t b[sizeof two + 1];
    write_labels(two_labels, sizeof two_labels);
    dt_fails_bytes(&t, two, sizeof two - 1, PV_E_FORMAT, ": truncated in the images: 11 of 12 bytes are there");
    dt_fails_bytes(&t, two, 10, PV_E_FORMAT, ": truncated in the header: 6 of 12 bytes are there");
    memcpy(b, two, sizeof two);
    b[sizeof two] = 0;
    dt_fails_bytes(&t, b, sizeof b, PV_E_FORMAT, ": longer than its header says");
    b[7] = 0;
    dt_fails_bytes(&t, b, sizeof b, PV_E_FORMAT, ": a size in the header is 0");
    b[8] = 0xff;
    b[7] = 2;
    dt_fails_bytes(&t, b, sizeof b, PV_E_FORMAT, ": images of more than 2^31 pixels");
    t.cfg.rows = 3;
    dt_fails_bytes(&t, two, sizeof two, PV_E_FORMAT, ": 2 images, but data.rows=3");
    t.cfg.features = 5;
    dt_fails_bytes(&t, two, sizeof two, PV_E_FORMAT, ": images of 6 pixels, but 5 are declared");
}

static void wrong_labels(void **state)
{
    (void)state;
    uint8_t l[sizeof two_labels];
    pvi_matrix *m;
    memcpy(l, two_labels, sizeof l);
    l[9] = 10;
    write_labels(l, sizeof l);
    dt_fails_bytes(&t, two, sizeof two, PV_E_FORMAT,
                   ": image 2: label '10' is none of: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9");
    l[7] = 1;
    write_labels(l, sizeof l - 1);
    dt_write(t.path, two, sizeof two);
    PVT_IS(pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m), PV_E_FORMAT);
    PVT_TRUE(strstr(pv_ctx_errmsg(t.ctx), "1 labels for 2 images") != NULL);
    t.cfg.labels = NULL;
    dt_fails_bytes(&t, two, sizeof two, PV_E_FORMAT, ": which file holds the labels? data.labels=FILE names it");
    t.expect.labels_optional = true;
    m = load(two, sizeof two);
    PVT_TRUE(!m->has_labels);
    pvi_matrix_free(m);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(values_labels_and_shape, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_are_the_same_floats, setup, teardown),
        cmocka_unit_test_setup_teardown(four_sizes_are_planes, setup, teardown),
        cmocka_unit_test_setup_teardown(vectors_have_no_shape_unless_declared, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_declarations, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_files, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_labels, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
