/* test_reader_npy.c - NumPy arrays written byte by byte: types, versions, shapes, labels, and refusals. */
#include "datatest.h"

static dt t;
static char rows_file[96], labels_file[96];

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    t.cfg.bias = 0;
    t.cfg.row_norm = 1000;
    snprintf(rows_file, sizeof rows_file, "%s/x.npy", t.dir);
    snprintf(labels_file, sizeof labels_file, "%s/y.npy", t.dir);
    t.cfg.path = rows_file;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(rows_file);
    unlink(labels_file);
    dt_close(&t);
    return 0;
}

/* Header text as given, filled up to a multiple of 64 bytes. */
static void write_npy(const char *path, int version, const char *text, const void *data, size_t size)
{
    uint8_t b[4096] = { 0x93, 'N', 'U', 'M', 'P', 'Y', (uint8_t)version, 0 };
    const size_t start = version == 1 ? 10 : 12, len = ((start + strlen(text) + 64) / 64) * 64 - start;
    memset(b + start, ' ', len);
    memcpy(b + start, text, strlen(text));
    b[start + len - 1] = '\n';
    b[8] = (uint8_t)len;
    b[9] = (uint8_t)(len >> 8);
    memcpy(b + start + len, data, size);
    dt_write(path, b, start + len + size);
}

static void write_rows(const char *descr, const char *shape, const void *data, size_t size)
{
    char text[256];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    write_npy(rows_file, 1, text, data, size);
}

static void write_labels(const char *descr, const void *data, size_t size)
{
    char text[256];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }", descr);
    write_npy(labels_file, 1, text, data, size);
}

static const uint8_t two[2] = { 3, 9 };
static const float f32[6] = { 1.5f, -2, 0, 4, 5, 1e-30f };
static const double f64[6] = { 1.5, -2, 0, 4, 5, 1e-30 };
static const uint8_t u8[6] = { 0, 255, 51, 1, 2, 3 };

static void fails(pv_status want, const char *words)
{
    pvi_matrix *m;
    const pv_status s = pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m);
    PVT_CHECK(s == want && strstr(pv_ctx_errmsg(t.ctx), words), "%d %s, wanted %s", (int)s, pv_ctx_errmsg(t.ctx),
              words);
    PVT_TRUE(m == NULL);
}

static void types(void **state)
{
    (void)state;
    write_labels("|u1", two, 2);
    t.cfg.center = 0.25;
    write_rows("<f4", "(2, 3)", f32, sizeof f32);
    pvi_matrix *a = dt_load(&t, NULL);
    write_rows("<f8", "(2, 3)", f64, sizeof f64);
    pvi_matrix *b = dt_load(&t, NULL);
    dt_same(a, b);
    write_rows("|u1", "(2, 3)", u8, sizeof u8);
    pvi_matrix *c = dt_load(&t, NULL);
    for (int i = 0; i < 6; i++) {
        PVT_NEAR(dt_at(a, i / 3, i % 3), f64[i] - 0.25, 1e-6);
        PVT_NEAR(dt_at(c, i / 3, i % 3), u8[i] / 255.0 - 0.25, 1e-7);
    }
    PVT_TRUE(a->y[0] == 3 && a->y[1] == 9 && a->domain.classes == 10 && a->domain.height == 0);
    pvi_matrix_free(a);
    pvi_matrix_free(b);
    pvi_matrix_free(c);
}

static void versions_and_key_order(void **state)
{
    (void)state;
    write_labels("|u1", two, 2);
    for (int version = 1; version <= 3; version++) {
        write_npy(rows_file, version, "{\"shape\":(2,3),'fortran_order':False,  'descr' : '<f4'}", f32, sizeof f32);
        pvi_matrix *m = dt_load(&t, NULL);
        PVT_IS(m->domain.p, 3);
        pvi_matrix_free(m);
    }
    write_npy(rows_file, 4, "{}", f32, 0);
    fails(PV_E_FORMAT, "NPY version 4.0; 1.0, 2.0 and 3.0 can be read");
}

static void images_in_either_order(void **state)
{
    (void)state;
    uint8_t pixel[48];
    for (int i = 0; i < 48; i++) pixel[i] = (uint8_t)(i * 5);
    write_labels("|u1", two, 2);
    write_rows("|u1", "(2, 2, 4, 3)", pixel, 48); /* n h w c: ambiguous? 2 is no channel count, 3 is */
    pvi_matrix *m = dt_load(&t, NULL);
    PVT_TRUE(m->domain.height == 2 && m->domain.width == 4 && m->domain.channels == 3);
    for (int r = 0; r < 2; r++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 4; x++)
                for (int c = 0; c < 3; c++)
                    PVT_NEAR(dt_at(m, r, (c * 2 + y) * 4 + x), pixel[((r * 2 + y) * 4 + x) * 3 + c] / 255.0, 1e-7);
    pvi_matrix_free(m);
    write_rows("|u1", "(2, 3, 4, 2)", pixel, 48); /* n c h w */
    m = dt_load(&t, NULL);
    PVT_TRUE(m->domain.height == 4 && m->domain.width == 2 && m->domain.channels == 3);
    PVT_NEAR(dt_at(m, 1, 5), pixel[29] / 255.0, 1e-7);
    pvi_matrix_free(m);
    write_rows("|u1", "(2, 3, 2, 4)", pixel, 48);
    fails(PV_E_FORMAT, "which side of (3, 2, 4) are the channels? data.image=HEIGHTxWIDTHxCHANNELS says it");
    t.cfg.image = "3x2x4";
    m = dt_load(&t, NULL);
    PVT_IS(m->domain.channels, 4);
    PVT_NEAR(dt_at(m, 0, 6), pixel[1] / 255.0, 1e-7); /* channel 1 of the first point */
    pvi_matrix_free(m);
    t.cfg.image = "2x4x3";
    m = dt_load(&t, NULL);
    PVT_IS(m->domain.channels, 3);
    PVT_NEAR(dt_at(m, 0, 1), pixel[1] / 255.0, 1e-7);
    pvi_matrix_free(m);
    t.cfg.image = "9x9x9";
    fails(PV_E_FORMAT, "but data.image=9x9x9");
    t.cfg.image = NULL;
    write_rows("|u1", "(2, 6, 4)", pixel, 48);
    m = dt_load(&t, NULL);
    PVT_TRUE(m->domain.height == 6 && m->domain.width == 4 && m->domain.channels == 1);
    pvi_matrix_free(m);
}

static void label_types(void **state)
{
    (void)state;
    const int64_t i8[2] = { 3, 9 };
    const int32_t i4[2] = { 3, 9 };
    const int16_t i2[2] = { 3, 9 };
    const double d8[2] = { 3, 9 };
    const float d4[2] = { 3, 9 };
    const struct {
        const char *descr;
        const void *data;
        size_t size;
    } kind[] = { { "<i8", i8, 16 }, { "<u8", i8, 16 }, { "<i4", i4, 8 }, { "<i2", i2, 4 },
                 { "<f8", d8, 16 }, { "<f4", d4, 8 },  { "|i1", two, 2 } };
    write_rows("<f4", "(2, 3)", f32, sizeof f32);
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        write_labels(kind[i].descr, kind[i].data, kind[i].size);
        pvi_matrix *m = dt_load(&t, NULL);
        PVT_TRUE(m->y[0] == 3 && m->y[1] == 9);
        pvi_matrix_free(m);
    }
    const int8_t sign[2] = { -1, 1 };
    write_labels("|i1", sign, 2);
    t.expect.classes = 2;
    t.cfg.labels = labels_file; /* a path, and two classes */
    pvi_matrix *m = dt_load(&t, NULL);
    PVT_TRUE(m->y[0] == -1 && m->y[1] == 1 && m->domain.classes == 2);
    pvi_matrix_free(m);
    t.cfg.labels = "1,-1,7"; /* beside the rows, classes declared */
    t.expect.classes = -1;
    m = dt_load(&t, NULL);
    PVT_TRUE(m->y[0] == 1 && m->y[1] == 0 && m->domain.classes == 3);
    pvi_matrix_free(m);
    t.cfg.labels = "4,5,6";
    fails(PV_E_FORMAT, "y.npy: label 1: ");
}

static void missing_labels(void **state)
{
    (void)state;
    write_rows("<f4", "(2, 3)", f32, sizeof f32);
    fails(PV_E_FORMAT, "which file holds the labels? data.labels=y.npy names it");
    t.expect.labels_optional = true;
    pvi_matrix *m = dt_load(&t, NULL);
    PVT_TRUE(!m->has_labels);
    pvi_matrix_free(m);
    t.expect.labels_optional = false;
    write_npy(labels_file, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", u8, 3);
    fails(PV_E_FORMAT, "labels of shape (3) for 2 rows");
    write_labels("|u1", two, 1);
    fails(PV_E_FORMAT, "truncated in the labels");
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        { "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3)}", "values of type >f4; save a.astype('<f4')" },
        { "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3)}", "values of type <f2" },
        { "{'descr': '<c8', 'fortran_order': False, 'shape': (2, 3)}", "values of type <c8" },
        { "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}", "'descr' cannot be read" },
        { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}", "named columns" },
        { "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}", "rows of type i4; save" },
        { "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}",
          "Fortran order; save numpy.ascontiguousarray(a)" },
        { "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}", "neither True nor False" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "save a.reshape(n, -1)" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': ()}", "save a.reshape(n, -1)" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 1, 1, 1)}", "more than four dimensions" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3)}", "no rows" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0)}", "rows of no or more than 2^31 values" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 65536, 65536)}", "rows of no or more" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 9999999999999999999)}", "not a number" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3)}", "not a number" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': 3}", "'shape' is not a tuple" },
        { "{'descr': '<f4', 'fortran_order': False}", "'descr', 'fortran_order' and 'shape' are needed" },
        { "{'descr': '<f4', 'descr': '<f4'}", "key 'descr' is unknown or there twice" },
        { "{'more': 1}", "key 'more' is unknown" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)} 1", "something follows" },
        { "[]", "not a dictionary" },
        { "{'descr' '<f4'}", "not a dictionary" },
        { "{'descr': '<f4' 'shape': (2, 3)}", "not a dictionary" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3)}", "truncated in the values" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", "longer than its header says" },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (900000000000, 3)}", "y.npy: labels of shape" },
    };
    write_labels("|u1", two, 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const bool three = strstr(bad[i].text, "(3, 3)");
        if (three) write_npy(labels_file, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}", u8 + 3, 3);
        write_npy(rows_file, 1, bad[i].text, f32, sizeof f32);
        fails(PV_E_FORMAT, bad[i].words);
        if (three) write_labels("|u1", two, 2);
    }
    const float inf[6] = { 1, 2, 3, 4, INFINITY, 6 };
    write_rows("<f4", "(2, 3)", inf, sizeof inf);
    fails(PV_E_FORMAT, "row 2, value 2 is not a finite 32-bit number");
    const double big[6] = { 1, 2, 1e39, 4, 5, 6 };
    write_rows("<f8", "(2, 3)", big, sizeof big);
    fails(PV_E_FORMAT, "row 1, value 3 is not a finite 32-bit number");
    dt_write(rows_file, "\x93NUMPY\1\0\377\377{", 11);
    fails(PV_E_FORMAT, "an NPY header of 65535 bytes");
    dt_write(rows_file, "\x93NUMPY\1\0\040\0{", 11);
    fails(PV_E_FORMAT, "truncated in the header");
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(types, setup, teardown),
        cmocka_unit_test_setup_teardown(versions_and_key_order, setup, teardown),
        cmocka_unit_test_setup_teardown(images_in_either_order, setup, teardown),
        cmocka_unit_test_setup_teardown(label_types, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_labels, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
