/* memory_dense.c - a dense matrix, row i's value j at x[i row_stride + j column_stride].
 *
 * Without a schema, as reader_npy.c takes an array: v = value - center, bytes (PV_UINT8) as value/255 - center; rows
 * that are 32-bit floats side by side, with nothing to subtract, are handed over where they are.  Integers are taken
 * at their value.  With a schema, as a table whose columns are the schema's in order, the label's left out where
 * labels come apart (memory_table.c).
 *
 * Labels come apart (data.c); which classes there are follows data.labels or, without it, the rule for arrays:
 * reader_npy.c. */
#include "memory_table.h"

/* Are the rows floats already, with nothing to change? */
static bool as_they_are(const pvi_data_dense *d, const pvi_data_cfg *cfg)
{
    return d->type == PV_FLOAT32 && (d->column_stride == 1 || d->columns == 1) && cfg->center == 0.0;
}

/* ---- values to floats ------------------------------------------------- */
#define ROW(name, type)                                                                                              \
    static void name(const void *x, int64_t stride, int64_t n, double scale, double center, float *v)                \
    {                                                                                                                \
        const type *a = x;                                                                                           \
        if (stride == 1)                                                                                             \
            for (int64_t j = 0; j < n; j++) v[j] = (float)((double)a[j] * scale - center);                           \
        else                                                                                                         \
            for (int64_t j = 0; j < n; j++) v[j] = (float)((double)a[j * stride] * scale - center);                  \
    }
ROW(row_f32, float)
ROW(row_f64, double)
ROW(row_i8, int8_t)
ROW(row_i16, int16_t)
ROW(row_i32, int32_t)
ROW(row_i64, int64_t)
ROW(row_u8, uint8_t)
ROW(row_u16, uint16_t)
ROW(row_u32, uint32_t)
ROW(row_u64, uint64_t)
typedef void row_fn(const void *x, int64_t stride, int64_t n, double scale, double center, float *v);
static row_fn *const row_of[] = {
    [PV_FLOAT32] = row_f32, [PV_FLOAT64] = row_f64, [PV_INT8] = row_i8,  [PV_INT16] = row_i16,
    [PV_INT32] = row_i32,   [PV_INT64] = row_i64,   [PV_UINT8] = row_u8, [PV_UINT16] = row_u16,
    [PV_UINT32] = row_u32,  [PV_UINT64] = row_u64,  [PV_BOOL8] = row_u8
};

/* The exponent of a float that is not finite is all ones. */
static bool all_finite(const float *v, int64_t n)
{
    uint32_t bad = 0;
    for (int64_t j = 0; j < n; j++) {
        uint32_t bits;
        memcpy(&bits, &v[j], sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

static bool all_bits(const uint8_t *x, int64_t stride, int64_t n)
{
    uint8_t all = 0;
    for (int64_t j = 0; j < n; j++) all |= x[j * stride];
    return all <= 1;
}

static const void *value_at(const pvi_data_dense *d, int64_t i, int64_t j)
{
    return (const char *)d->x + (i * d->row_stride + j * d->column_stride) * pvi_type_size(d->type);
}

static void complain(pvi_block *b, const pvi_dense *s, int64_t row, const float *v)
{
    int64_t j = 0;
    while (j + 1 < s->d.columns && isfinite(v[j]) &&
           !(s->d.type == PV_BOOL8 && *(const uint8_t *)value_at(&s->d, row, j) > 1))
        j++;
    if (!isfinite(v[j])) pvi_block_fail(b, row, j, "not a finite 32-bit number");
    else pvi_block_fail(b, row, j, "a truth value is 0 or 1");
}

static void fill(void *arg, pvi_block *b)
{
    const pvi_dense *s = arg;
    const pvi_data_dense *d = &s->d;
    const double scale = d->type == PV_UINT8 ? 1.0 / 255.0 : 1.0, center = s->job->cfg->center;
    pvi_segment *g = &b->seg;
    g->max_index = d->columns;
    g->row = !s->rows ? NULL : s->borrow ? value_at(d, b->first, 0) : g->val;
    g->row_ld = s->borrow ? d->row_stride : d->columns;
    /* Rows side by side are looked at all at once, and one by one only to find the one that is wrong. */
    const bool fine = s->borrow && g->row_ld == d->columns && all_finite(g->row, b->rows * d->columns);
    for (int64_t i = 0; i < b->rows; i++) {
        const void *x = value_at(d, b->first + i, 0);
        const float *v = s->borrow ? x : g->val + i * d->columns;
        if (!s->borrow) row_of[d->type](x, d->column_stride, d->columns, scale, center, g->val + i * d->columns);
        if (!(fine || all_finite(v, d->columns)) ||
            (d->type == PV_BOOL8 && !all_bits(x, d->column_stride, d->columns))) {
            complain(b, s, b->first + i, v);
            return;
        }
        if (s->y &&
            !pvi_label_of(&s->job->label, b->seen, s->y_type, s->y, b->first + i, &g->y[i], b->why, sizeof b->why)) {
            b->bad = b->first + i;
            b->column = -1;
            return;
        }
        g->end[i] = (uint32_t)((i + 1) * d->columns);
        for (int64_t j = 0; j < d->columns && !s->rows; j++) g->idx[i * d->columns + j] = (int32_t)j;
    }
}

static pv_status refuse(void *arg, const pvi_block *b)
{
    const pvi_dense *s = arg;
    if (b->column < 0)
        return pvi_fail(s->job->ctx, PV_E_FORMAT, "%s: row %lld: %s", s->job->name, (long long)b->bad + 1,
                        pvi_told(s->job, b->why));
    return pvi_fail(s->job->ctx, PV_E_FORMAT, "%s: row %lld, column %lld: %s", s->job->name, (long long)b->bad + 1,
                    (long long)b->column + 1, pvi_told(s->job, b->why));
}

/* ---- one load ------------------------------------------------- */
/* Cells of the schema's columns, which those of the matrix are in order; without the label's if it has one less. */
pv_status pvi_dense_cells(struct pv_load *job, const pvi_data_dense *d, pvi_cells *cells)
{
    const pvi_schema *sc = job->schema;
    const int64_t size = pvi_type_size(d->type);
    const bool optional = job->beside || job->expect->labels_optional;
    const bool lacks = sc->label >= 0 && d->columns == sc->count - 1 && optional;
    if (d->columns != sc->count - lacks)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %lld columns, but the schema has %lld%s", job->name,
                        (long long)d->columns, (long long)sc->count,
                        sc->label >= 0 && optional ? "; that of the label may be left out" : "");
    job->labelled = sc->label >= 0 && !lacks;
    for (int64_t i = 0, j = 0; i < sc->count; i++) {
        if (i == sc->label && lacks) continue;
        cells[i] = (pvi_cells) { .kind = (int)d->type,
                                 .at = (const char *)d->x + j++ * d->column_stride * size,
                                 .stride = d->row_stride };
    }
    return PV_OK;
}

pv_status pvi_dense_open(pvi_dense *s, struct pv_load *job, const pvi_data_dense *d, int64_t rows)
{
    *s = (pvi_dense) { .job = job, .d = *d };
    s->rounds = (pvi_rounds) { .job = job, .arg = s, .fill = fill, .refuse = refuse };
    pv_status st = pvi_rows_check(job, "rows", rows, "values", d->columns);
    if (st == PV_OK) st = pvi_array_labels(job, job->cfg->labels && *job->cfg->labels);
    job->dense = true;
    if (st == PV_OK) st = pvi_build_begin(job, d->columns);
    job->counted = job->cfg->features == PV_AUTO_I64;
    if (st != PV_OK) return st;
    s->rows = pvi_build_takes_rows(job->out);
    return pvi_rounds_open(&s->rounds, d->columns);
}

pv_status pvi_dense_run(pvi_dense *s, int64_t rows, double before, double after)
{
    s->borrow = s->rows && as_they_are(&s->d, s->job->cfg);
    return pvi_rounds_run(&s->rounds, rows, before, after);
}

void pvi_dense_close(pvi_dense *s)
{
    if (s->job) pvi_rounds_close(&s->rounds);
}

static pv_status read_table(struct pv_load *job)
{
    pvi_table t = { 0 };
    pvi_cells *cells = pv_arena_get(job->arena, (size_t)job->schema->count * sizeof *cells);
    pv_status s = cells ? pvi_label_table(job) : pvi_nomem(job->ctx);
    if (s == PV_OK) s = pvi_dense_cells(job, &job->from->of.dense, cells);
    if (s == PV_OK) s = pvi_table_open(&t, job, job->schema, cells);
    if (s == PV_OK) s = pvi_table_run(&t, job->from->rows, 0.0, 1.0);
    pvi_table_close(&t);
    return s;
}

static pv_status read_rows(struct pv_load *job)
{
    pvi_dense st = { 0 };
    if (job->schema) return read_table(job);
    if (!job->aparts && !job->expect->labels_optional)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: no labels: pv_data_labels or pv_data_label_words gives them",
                        job->name);
    const pvi_data_dense *d = &job->from->of.dense;
    pv_status s = pvi_dense_open(&st, job, d, job->from->rows);
    if (s == PV_OK && st.rows && as_they_are(d, job->cfg) && d->row_stride >= d->columns && !job->by_person)
        pvi_build_borrow(job->out, d->x, d->row_stride); /* they stay there until the run has ended: privet.h */
    if (s == PV_OK) s = pvi_dense_run(&st, job->from->rows, 0.0, 1.0);
    pvi_dense_close(&st);
    return s;
}

static const pvi_data_ops dense_ops = { .name = "dense rows", .read = read_rows };

/* Does the last value lie where an address can reach it? */
static bool reachable(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride, int64_t size)
{
    int64_t down, across, last;
    return !__builtin_mul_overflow(rows - 1, row_stride, &down) &&
           !__builtin_mul_overflow(columns - 1, column_stride, &across) &&
           !__builtin_add_overflow(down, across, &last) && last < INT64_MAX && (last + 1) <= PTRDIFF_MAX / size;
}

pv_status pvi_dense_check(pv_ctx *ctx, const char *name, const pvi_data_dense *d, int64_t rows)
{
    const int64_t size = pvi_type_size(d->type);
    if (!size) return pvi_fail(ctx, PV_E_ARG, "%s: %d is no type of values", name, (int)d->type);
    if (rows < 1) return pvi_fail(ctx, PV_E_ARG, "%s: %lld rows: at least one is needed", name, (long long)rows);
    if (d->columns < 1 || d->columns > INT32_MAX)
        return pvi_fail(ctx, PV_E_ARG, "%s: %lld columns: 1 to 2147483647 can be", name, (long long)d->columns);
    if (!d->x) return pvi_fail(ctx, PV_E_ARG, "%s: no values: the pointer is NULL", name);
    if ((uintptr_t)d->x % (uintptr_t)size) return pvi_fail(ctx, PV_E_ARG, "%s: the values are not aligned", name);
    if (d->row_stride < 0 || d->column_stride < 0) return pvi_fail(ctx, PV_E_ARG, "%s: a negative stride", name);
    if (!reachable(rows, d->columns, d->row_stride, d->column_stride, size))
        return pvi_fail(ctx, PV_E_ARG, "%s: rows times stride is beyond memory", name);
    return PV_OK;
}

pv_status pv_data_dense(pv_ctx *ctx, const void *x, pv_type type, int64_t rows, int64_t columns, int64_t row_stride,
                        int64_t column_stride, pv_data **out)
{
    if (out) *out = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, x);
    PVI_NEEDS(ctx, out);
    const pvi_data_dense d = { x, type, columns, row_stride, column_stride };
    pv_status s = pvi_dense_check(ctx, dense_ops.name, &d, rows);
    if (s == PV_OK) s = pvi_data_create(ctx, &dense_ops, rows, out);
    if (s == PV_OK) (*out)->of.dense = d;
    return s;
}
