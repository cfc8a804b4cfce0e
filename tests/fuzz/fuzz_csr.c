/* fuzz_csr.c - any numbers as CSR rows in memory, in arrays exactly as long as the last row pointer says: refused
 * with one line, or rows inside the ball; the same twice, and the same from 32-bit and 64-bit indices. Byte 0:
 * settings; byte 1: rows; byte 2: columns; byte 3: values; then row pointers, columns, values, labels, a byte each
 * and again from the start. */
#include "data/data.h"
#include "fuzz_rows.h"

typedef struct bytes {
    const uint8_t *data;
    size_t size, at;
} bytes;

static int take(bytes *b)
{
    return b->data[b->at++ % b->size];
}

typedef struct rows {
    int64_t n, entries, columns;
    int64_t *ptr, *idx;
    int32_t *ptr32, *idx32;
    double *val;
    int8_t *y;
} rows;

/* Mostly what ascends, so that something gets through. */
static void fill(rows *r, bytes *b)
{
    static const double special[] = { 0, 1, -1, 1e39, NAN, INFINITY, 1e-45, 0.5 };
    const int odd = take(b);
    for (int64_t i = 0; i < r->n; i++) {
        const int64_t step = i ? take(b) % 5 : 0, before = i ? r->ptr[i - 1] : 0;
        r->ptr[i] = odd & 1 ? (int8_t)take(b) : before + step > r->entries ? r->entries : before + step;
    }
    r->ptr[r->n] = r->entries;
    for (int64_t k = 0; k < r->entries; k++) {
        r->idx[k] = odd & 2 ? (int8_t)take(b) : (k % 4) * (1 + r->columns / 5) + take(b) % (1 + r->columns / 5);
        const int v = take(b);
        r->val[k] = odd & 4 && v < 8 ? special[v] : (v - 128) * 0.01;
    }
    for (int64_t i = 0; i < r->n; i++) r->y[i] = odd & 8 ? (int8_t)take(b) : (int8_t)(take(b) & 1);
    for (int64_t i = 0; i <= r->n; i++) r->ptr32[i] = (int32_t)r->ptr[i];
    for (int64_t k = 0; k < r->entries; k++) r->idx32[k] = (int32_t)r->idx[k];
}

static pv_status load(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *e, const rows *r, bool wide,
                      pvi_matrix **m)
{
    pv_data *d;
    *m = NULL;
    pv_status s =
        wide ? pv_data_csr(ctx, r->n, r->columns, r->ptr, PV_INT64, r->idx, PV_INT64, r->val, PV_FLOAT64, &d)
             : pv_data_csr(ctx, r->n, r->columns, r->ptr32, PV_INT32, r->idx32, PV_INT32, r->val, PV_FLOAT64, &d);
    if (s != PV_OK) return s;
    s = pv_data_labels(d, r->y, PV_INT8, r->n);
    if (s == PV_OK) s = pvi_data_load(ctx, cfg, e, d, m);
    pv_data_free(d);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const labels[] = { NULL, "0,1", "-1,0,1", "0|1,2" };
    pvi_data_cfg cfg;
    if (size < 5) return 0;
    pv_ctx *ctx = fuzz_context(&cfg);
    bytes b = { data, size, 4 };
    rows r = { .n = data[1] % 40 + 1, .columns = data[2] + 1, .entries = data[3] };
    const size_t n = (size_t)r.n, e = (size_t)r.entries;
    const pvi_expect expect = { .classes = data[0] & 3 ? -1 : 2, .features = data[0] & 64 ? 40 : 0 };
    cfg.labels = labels[data[0] & 3];
    cfg.bias = data[0] & 4 ? 0.0 : 1.0;
    cfg.layout = data[0] & 8 ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
    cfg.outside = data[0] & 16 ? PVI_OUTSIDE_MISSING : PVI_OUTSIDE_ERROR;
    if (data[0] & 32) cfg.features = 30;
    r.ptr = malloc((n + 1) * 8), r.ptr32 = malloc((n + 1) * 4), r.y = malloc(n);
    r.idx = malloc(e * 8 + !e), r.idx32 = malloc(e * 4 + !e), r.val = malloc(e * 8 + !e);
    fill(&r, &b);
    pvi_matrix *one, *two;
    char why[sizeof ctx->err];
    const pv_status s = load(ctx, &cfg, &expect, &r, true, &one);
    if (s == PV_OK) fuzz_check_rows(one);
    else fuzz_refused(ctx, s);
    memcpy(why, ctx->err, sizeof why);
    FUZZ_REQUIRE(load(ctx, &cfg, &expect, &r, false, &two) == s);
    FUZZ_REQUIRE(s == PV_OK ? fuzz_same(one, two) : strcmp(why, ctx->err) == 0);
    pvi_matrix_free(one), pvi_matrix_free(two);
    free(r.ptr), free(r.ptr32), free(r.y), free(r.idx), free(r.idx32), free(r.val);
    pv_ctx_free(ctx);
    return 0;
}
