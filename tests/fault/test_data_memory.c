/* test_data_memory.c - loading with the first, second, third ... allocation failing: an error, no leak. */
#include "alloctest.h"
#include "datatest.h"

#include <unistd.h>
#include <zlib.h>

static const char *image; /* set: the rows are images, and are scattered */

static void every_failure(const char *text, const char *schema, int64_t layout)
{
    dt t;
    pvt_memory c = { .once = true };
    dt_open(&t);
    pv_ctx_free(t.ctx);
    t.ctx = pvt_counted(&c);
    PVT_OK(pvi_set_threads(t.ctx, 2));
    dt_write(t.path, text, strlen(text));
    t.cfg.schema = schema;
    t.cfg.chunk = 64;
    t.cfg.layout = layout;
    t.cfg.image = image;
    t.cfg.transform = image ? PVI_TRANSFORM_SCATTER : PVI_TRANSFORM_NONE;
    t.cfg.scatter_scales = 1;
    const int64_t before = c.live;
    int64_t n = 0;
    for (;; n++) {
        pvi_matrix *m;
        c.left = n;
        const pv_status s = pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m);
        const bool used = c.left < 0;
        c.left = INT64_MAX;
        if (s == PV_OK) {
            pvi_matrix_free(m);
            PVT_IS(c.live, before);
            if (!used) break;
        } else {
            PVT_CHECK(s == PV_E_NOMEM && !m, "%d %s", (int)s, pv_ctx_errmsg(t.ctx));
            PVT_IS(c.live, before);
        }
        PVT_TRUE(n < 10000);
    }
    PVT_TRUE(n > 10);
    dt_close(&t);
    PVT_IS(c.live, 0);
}

static void libsvm(void **state)
{
    (void)state;
    char text[4000] = "";
    for (int i = 0; i < 60; i++)
        sprintf(text + strlen(text), "%d 1:0.5 %d:2\n", i % 2 ? 1 : -1, i < 55 ? 2 + i : 2000);
    every_failure(text, NULL, PVI_LAYOUT_AUTO); /* becomes wider, then sparse */
    every_failure(text, NULL, PVI_LAYOUT_SPARSE);
}

static void csv(void **state)
{
    (void)state;
    char text[4000] = "a,b,y\n";
    for (int i = 0; i < 60; i++) sprintf(text + strlen(text), "%d,\"x\n\n\",%s\n", i, i % 2 ? "no" : "yes");
    every_failure(text,
                  "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 60}, {\"name\": "
                  "\"b\", \"type\": "
                  "\"category\", \"values\": [\"x\\n\\n\", \"z\"]}, {\"name\": \"y\", \"type\": \"label\", "
                  "\"values\": [\"no\", \"yes\"]}]}",
                  PVI_LAYOUT_AUTO);
}

static void scattering(void **state)
{
    (void)state;
    char text[4000] = "";
    for (int i = 0; i < 20; i++) sprintf(text + strlen(text), "%d 1:0.5 %d:2\n", i % 2 ? 1 : -1, 2 + i);
    image = "5x5";
    every_failure(text, NULL, PVI_LAYOUT_AUTO);
    image = NULL;
}

/* ---- files that are long and hold nothing ---------------------------------------------------------------------- */

/* Megabytes of one byte: refused with this message, and how much memory that took. */
static size_t most_bytes(char byte, const char *format, int64_t max_line, const char *message)
{
    enum { SIZE = 32 << 20 };
    dt t;
    pvt_memory k = { 0 };
    pvi_matrix *m;
    char *text = malloc(SIZE);
    dt_open(&t);
    pv_ctx_free(t.ctx);
    t.ctx = pvt_counted(&k);
    PVT_OK(pvi_set_threads(t.ctx, 2));
    memset(text, byte, SIZE);
    dt_write(t.path, text, SIZE);
    free(text);
    t.cfg.format = format;
    t.cfg.chunk = 4096;
    t.cfg.max_line = max_line;
    t.cfg.labels = "-1,1";
    const pv_status s = pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m);
    PVT_CHECK(s == PV_E_FORMAT, "%d %s", (int)s, pv_ctx_errmsg(t.ctx));
    PVT_CHECK(strstr(pv_ctx_errmsg(t.ctx), message), "%s", pv_ctx_errmsg(t.ctx));
    dt_close(&t);
    return k.most;
}

static void blank_lines_are_not_kept(void **state)
{
    (void)state;
    PVT_TRUE(most_bytes('\n', "libsvm", 1 << 26, ": no rows") < 1 << 20);
    PVT_TRUE(most_bytes('\n', "csv", 1 << 26, ": no rows") < 1 << 20);
}

static void long_lines_are_refused(void **state)
{
    (void)state;
    static const char why[] = ":1:1: a line of more than data.max_line=100000 bytes; is a quote left open?";
    PVT_TRUE(most_bytes('1', "libsvm", 100000, why) < 2 << 20);
    PVT_TRUE(most_bytes('1', "csv", 100000, why) < 2 << 20);
}

/* Headers that declare what is not there.  Plain files have the bytes they have; compressed ones are told by
 * data.max_expansion. */
static size_t declared(const char *rows, size_t n_rows, const char *labels, size_t n_labels, const char *message)
{
    dt t;
    pvt_memory k = { 0 };
    pvi_matrix *m;
    char labels_file[sizeof t.path + 8];
    dt_open(&t);
    pv_ctx_free(t.ctx);
    t.ctx = pvt_counted(&k);
    snprintf(labels_file, sizeof labels_file, "%s.y.gz", t.path); /* told by its content, not its name */
    dt_write(t.path, rows, n_rows);
    dt_write(labels_file, labels, n_labels);
    t.cfg.labels = labels_file;
    t.expect.classes = 10;
    const pv_status s = pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m);
    PVT_CHECK(s == PV_E_FORMAT, "%d %s", (int)s, pv_ctx_errmsg(t.ctx));
    PVT_CHECK(strstr(pv_ctx_errmsg(t.ctx), message), "%s", pv_ctx_errmsg(t.ctx));
    unlink(labels_file);
    dt_close(&t);
    return k.most;
}

/* An NPY header and no values; its length. */
static size_t npy(char out[300], const char *type, const char *shape)
{
    const int n = snprintf(out + 10, 290, "{'descr': '%s', 'fortran_order': False, 'shape': %s}", type, shape);
    memcpy(out, "\x93NUMPY\1\0", 8);
    out[8] = (char)n;
    out[9] = 0;
    return 10 + (size_t)n;
}

static void headers_that_declare_too_much(void **state)
{
    (void)state;
    static const char idx_many[] = "\0\0\10\3\377\377\377\377\0\0\0\34\0\0\0\34",
                      idx_labels[] = "\0\0\10\1\377\377\377\377";
    static const char idx_large[] = "\0\0\10\3\0\0\0\2\0\0\264\0\0\0\264\0", idx_two[] = "\0\0\10\1\0\0\0\2\0\1";
    char x[300], y[300];
    size_t nx = npy(x, "<f8", "(999999999999999999, 10)"), ny = npy(y, "<i8", "(999999999999999999,)");
    PVT_TRUE(declared(x, nx, y, ny, "truncated in the labels: 0 of 8000000000000000000 bytes are there") < 1 << 20);
    nx = npy(x, "|u1", "(2, 26000, 27000, 3)"), ny = npy(y, "|u1", "(2,)");
    y[ny++] = 0, y[ny++] = 1;
    PVT_TRUE(declared(x, nx, y, ny, "truncated in the values: 0 of 4212000000 bytes are there") < 1 << 20);
    PVT_TRUE(declared(idx_many, 16, idx_labels, 8, "truncated in the labels: 0 of 4294967295 bytes are there") <
             1 << 20);
    PVT_TRUE(declared(idx_large, 16, idx_two, 10, "truncated in the images: 0 of 4246732800 bytes are there") <
             1 << 20);
}

static void compressed_headers_that_declare_too_much(void **state)
{
    (void)state;
    char x[300], y[300], packed[600];
    size_t nx = npy(x, "|u1", "(2, 26000, 27000, 3)"), ny = npy(y, "|u1", "(2,)");
    z_stream z = { 0 };
    y[ny++] = 0, y[ny++] = 1;
    PVT_IS(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)x, z.avail_in = (unsigned)nx, z.next_out = (Bytef *)packed, z.avail_out = sizeof packed;
    PVT_IS(deflate(&z, Z_FINISH), Z_STREAM_END);
    PVT_IS(deflateEnd(&z), Z_OK);
    PVT_TRUE(declared(packed, z.total_out, y, ny,
                      "the header declares 4212000000 bytes of values, too many for a file of this size; "
                      "data.max_expansion= allows more") < 1 << 20);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(libsvm),
                                      cmocka_unit_test(csv),
                                      cmocka_unit_test(scattering),
                                      cmocka_unit_test(blank_lines_are_not_kept),
                                      cmocka_unit_test(long_lines_are_refused),
                                      cmocka_unit_test(headers_that_declare_too_much),
                                      cmocka_unit_test(compressed_headers_that_declare_too_much) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
