/* memory_csr.c - sparse rows, as reader_libsvm.c takes lines.
 *
 * Row i has val[k] in column idx[k], ptr[i] <= k < ptr[i+1].
 *
 * Columns count from 0 and ascend within a row; absent ones are zero, and zeros that are there count as absent.  How
 * many features there are is data.features, the trained model's or the declared number of columns.  A column above
 * them is an error, or left out with data.outside=missing.
 *
 * The row pointers are checked from top to bottom before any value is read, so that what they point at is inside the
 * arrays if the last one is. */
#include "data/data.h"

#include <float.h>

enum { ENTRIES = 16384 };

typedef struct csr {
    struct pv_load *job;
    const pvi_data_csr *d;
    int64_t rows, limit, most; /* features; values of the longest row, or of a block */
    bool drop;
} csr;

static int64_t integer(pv_type t, const void *x, int64_t i)
{
    return t == PV_INT32 ? ((const int32_t *)x)[i] : ((const int64_t *)x)[i];
}

/* ---- checks ------------------------------------------------- */
static pv_status check_pointers(csr *s)
{
    const pvi_data_csr *d = s->d;
    pv_ctx *ctx = s->job->ctx;
    int64_t before = integer(d->ptr_type, d->ptr, 0);
    if (before != 0)
        return pvi_fail(ctx, PV_E_FORMAT, "%s: row pointers begin with %lld, not with 0", s->job->name,
                        (long long)before);
    for (int64_t i = 0; i < s->rows; i++) {
        const int64_t next = integer(d->ptr_type, d->ptr, i + 1);
        if (next < before)
            return pvi_fail(ctx, PV_E_FORMAT, "%s: row %lld: row pointers must not decrease", s->job->name,
                            (long long)i + 1);
        const int64_t n = next - before;
        if (n > d->columns)
            return pvi_fail(ctx, PV_E_FORMAT, "%s: row %lld: more values than the %lld columns", s->job->name,
                            (long long)i + 1, (long long)d->columns);
        if (n > s->most) s->most = n;
        before = next;
    }
    if (before > 0 && (!d->idx || !d->val))
        return pvi_fail(ctx, PV_E_FORMAT, "%s: no columns or values: a pointer is NULL", s->job->name);
    return PV_OK;
}

static pv_status feature_limit(csr *s)
{
    const struct pv_load *job = s->job;
    const int64_t model = job->expect->features, declared = job->cfg->features;
    if (model > 0 && declared > 0 && declared != model)
        return pvi_fail(job->ctx, PV_E_PARAM, "data.features=%lld, but the model has %lld", (long long)declared,
                        (long long)model);
    s->limit = model > 0 ? model : declared > 0 ? declared : s->d->columns;
    s->drop = job->cfg->outside == PVI_OUTSIDE_MISSING;
    return PV_OK;
}

static bool bad_column(const csr *s, pvi_block *b, int64_t row, int64_t column, int64_t before)
{
    const bool model = s->job->expect->features > 0;
    if (column < 0 || column >= s->d->columns)
        pvi_block_fail(b, row, column, "column %lld is not one of 0 .. %lld", (long long)column,
                       (long long)s->d->columns - 1);
    else if (column == before) pvi_block_fail(b, row, column, "column %lld occurs twice", (long long)column);
    else if (column < before)
        pvi_block_fail(b, row, column, "column %lld after %lld: columns must ascend", (long long)column,
                       (long long)before);
    else
        pvi_block_fail(b, row, column,
                       model ? "column %lld, but the model has %lld features; data.outside=missing drops it"
                             : "column %lld is not below data.features=%lld; data.outside=missing drops it",
                       (long long)column, (long long)s->limit);
    return false;
}

/* ---- rows ------------------------------------------------- */
static bool fill_row(const csr *s, pvi_block *b, int64_t row, uint32_t *n)
{
    const pvi_data_csr *d = s->d;
    pvi_segment *g = &b->seg;
    const int64_t to = integer(d->ptr_type, d->ptr, row + 1);
    int64_t before = -1;
    for (int64_t k = integer(d->ptr_type, d->ptr, row); k < to; k++) {
        const int64_t j = integer(d->idx_type, d->idx, k);
        const double v = d->val_type == PV_FLOAT32 ? (double)((const float *)d->val)[k] : ((const double *)d->val)[k];
        if (j <= before || j >= d->columns || (j >= s->limit && !s->drop)) return bad_column(s, b, row, j, before);
        if (!(fabs(v) <= FLT_MAX)) {
            pvi_block_fail(b, row, j, "the value in column %lld is not a finite 32-bit number", (long long)j);
            return false;
        }
        before = j;
        g->idx[*n] = (int32_t)j;
        g->val[*n] = (float)v;
        *n += (float)v != 0.0f && j < s->limit;
    }
    return true;
}

static void fill(void *arg, pvi_block *b)
{
    const csr *s = arg;
    uint32_t n = 0;
    b->seg.max_index = s->limit;
    for (int64_t i = 0; i < b->rows; i++) {
        if (!fill_row(s, b, b->first + i, &n)) return;
        b->seg.end[i] = n;
    }
}

static int64_t cut(void *arg, int64_t first, int64_t most)
{
    const csr *s = arg;
    const int64_t from = integer(s->d->ptr_type, s->d->ptr, first);
    int64_t rows = 1;
    while (rows < most && integer(s->d->ptr_type, s->d->ptr, first + rows + 1) - from <= s->most) rows++;
    return rows;
}

static pv_status refuse(void *arg, const pvi_block *b)
{
    const csr *s = arg;
    return pvi_fail(s->job->ctx, PV_E_FORMAT, "%s: row %lld: %s", s->job->name, (long long)b->bad + 1,
                    pvi_told(s->job, b->why));
}

static pv_status read_rows(struct pv_load *job)
{
    csr st = { .job = job, .d = &job->from->of.csr, .rows = job->from->rows, .most = ENTRIES };
    pvi_rounds r = { .job = job, .arg = &st, .fill = fill, .refuse = refuse, .cut = cut };
    if (job->cfg->center != 0.0)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "data.center is for tables: CSR rows leave zeros out, and must stay sparse");
    if (job->schema) return pvi_fail(job->ctx, PV_E_PARAM, "data.schema is for tables; CSR rows have none");
    if (!job->aparts && !job->expect->labels_optional)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: no labels: pv_data_labels or pv_data_label_words gives them",
                        job->name);
    pv_status s = pvi_label_declare(job, &job->label);
    if (s == PV_OK) s = pvi_label_check(job, &job->label);
    if (s == PV_OK) s = feature_limit(&st);
    if (s == PV_OK) s = check_pointers(&st);
    if (s == PV_OK) s = pvi_build_begin(job, st.limit);
    job->counted = job->cfg->features == PV_AUTO_I64 && job->expect->features <= 0;
    if (s == PV_OK) s = pvi_rounds_room(&r, ENTRIES, st.most);
    if (s == PV_OK) s = pvi_rounds_run(&r, st.rows, 0.0, 1.0);
    pvi_rounds_close(&r);
    return s;
}

static const pvi_data_ops csr_ops = { .name = "CSR rows", .read = read_rows };

static bool is_index(pv_type t)
{
    return t == PV_INT32 || t == PV_INT64;
}

pv_status pv_data_csr(pv_ctx *ctx, int64_t rows, int64_t columns, const void *ptr, pv_type ptr_type, const void *idx,
                      pv_type idx_type, const void *val, pv_type val_type, pv_data **out)
{
    if (out) *out = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, ptr);
    PVI_NEEDS(ctx, out);
    if (!is_index(ptr_type) || !is_index(idx_type))
        return pvi_fail(ctx, PV_E_ARG, "CSR rows: row pointers and columns are PV_INT32 or PV_INT64");
    if (!pvi_type_is_float(val_type)) return pvi_fail(ctx, PV_E_ARG, "CSR rows: values are PV_FLOAT32 or PV_FLOAT64");
    if (rows < 1 || rows >= PTRDIFF_MAX / 8)
        return pvi_fail(ctx, PV_E_ARG, "CSR rows: %lld rows: at least one is needed", (long long)rows);
    if (columns < 1 || columns > INT32_MAX)
        return pvi_fail(ctx, PV_E_ARG, "CSR rows: %lld columns: 1 to 2147483647 can be", (long long)columns);
    const pv_status s = pvi_data_create(ctx, &csr_ops, rows, out);
    if (s == PV_OK) (*out)->of.csr = (pvi_data_csr) { ptr, idx, val, ptr_type, idx_type, val_type, columns };
    return s;
}
