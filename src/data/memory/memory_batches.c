/* memory_batches.c - rows in batches, as a callback hands them over: each a matrix as in memory_dense.c, with labels
 * beside it.
 *
 * All batches are read by one rule, with and without a schema, so that how rows are cut into batches changes nothing.
 * The callback is asked on the caller's thread; a batch has been read when it is asked for the next. */
#include "memory_table.h"

typedef struct batches {
    struct pv_load *job;
    const pvi_data_batches *b;
    pv_batch now;
    int64_t number, done; /* of the batch; rows before it */
    bool labels;          /* batches have labels of their own */
    char name[32];        /* "batch 3" */
    pvi_dense dense;
    pvi_table table;
    pvi_cells *cells;
} batches;

static pvi_data_dense matrix(const batches *st)
{
    return (pvi_data_dense) { st->now.x, st->b->type, st->b->columns, st->now.row_stride, st->now.column_stride };
}

/* The next batch, checked; PV_DONE: there are no more. */
static pv_status ask(batches *st)
{
    pv_ctx *ctx = st->job->ctx;
    const int64_t all = st->job->from->rows;
    st->now = (pv_batch) { 0 };
    const pv_status s = st->b->next(st->b->user, &st->now);
    pvi_after_host(ctx);
    st->number += s == PV_OK;
    if (s == PV_DONE && all >= 0 && st->done != all)
        return pvi_fail(ctx, PV_E_FORMAT, "%s: %lld rows came, but %lld were declared", st->job->whole,
                        (long long)st->done, (long long)all);
    if (s == PV_DONE) return s;
    if (s != PV_OK)
        return pvi_fail(ctx, s, "%s: the callback ended before batch %lld: %s", st->job->whole,
                        (long long)st->number + 1, pv_status_name(s));
    snprintf(st->name, sizeof st->name, "batch %lld", (long long)st->number);
    const pvi_data_dense d = matrix(st);
    const pv_status bad = pvi_dense_check(ctx, st->name, &d, st->now.rows);
    if (bad != PV_OK) return bad;
    if (all >= 0 && st->now.rows > all - st->done)
        return pvi_fail(ctx, PV_E_FORMAT, "%s: more rows than the %lld that were declared", st->name, (long long)all);
    if (st->number > 1 && (st->now.y != NULL) != st->labels)
        return pvi_fail(ctx, PV_E_FORMAT, "%s: %s labels, but the batches before have %s", st->name,
                        st->labels ? "no" : "has", st->labels ? "some" : "none");
    if (st->now.y && (uintptr_t)st->now.y % (uintptr_t)(pvi_type_size(st->b->y_type) + !pvi_type_size(st->b->y_type)))
        return pvi_fail(ctx, PV_E_ARG, "%s: the labels are not aligned", st->name);
    return PV_OK;
}

/* Labels of the batches, of the caller, or none where none are needed. */
static pv_status find_labels(batches *st)
{
    struct pv_load *job = st->job;
    st->labels = st->now.y != NULL;
    if (st->labels && !pvi_type_size(st->b->y_type))
        return pvi_fail(job->ctx, PV_E_ARG, "%s: %d is no type of labels", st->name, (int)st->b->y_type);
    if (st->labels && job->aparts)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: the batches have labels of their own, and others were given",
                        job->name);
    job->beside |= st->labels;
    const bool column = job->schema && job->schema->label >= 0 && st->b->columns == job->schema->count;
    if (column && st->labels)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: labels, and a column of the label as well", st->name);
    if (!column && !job->beside && !job->expect->labels_optional)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: no labels, neither y of the batches nor by pv_data_labels",
                        job->name);
    return PV_OK;
}

static pv_status open(batches *st)
{
    struct pv_load *job = st->job;
    const pvi_data_dense d = matrix(st);
    pv_status s = find_labels(st);
    if (s != PV_OK) return s;
    if (!job->schema) {
        job->labelled = st->labels;
        return pvi_dense_open(&st->dense, job, &d, job->cfg->rows == PV_AUTO_I64 ? 0 : job->cfg->rows);
    }
    st->cells = pv_arena_get(job->arena, (size_t)job->schema->count * sizeof *st->cells);
    s = st->cells ? pvi_label_table(job) : pvi_nomem(job->ctx);
    if (s == PV_OK) s = pvi_dense_cells(job, &d, st->cells);
    job->labelled |= st->labels;
    return s == PV_OK ? pvi_table_open(&st->table, job, job->schema, st->cells) : s;
}

/* One batch to the builder. */
static pv_status run(batches *st)
{
    struct pv_load *job = st->job;
    const int64_t all = job->from->rows, rows = st->now.rows;
    const double before = all > 0 ? (double)st->done / (double)all : 0.0,
                 after = all > 0 ? (double)(st->done + rows) / (double)all : 0.0;
    st->done += rows;
    if (!job->schema) {
        st->dense.d = matrix(st);
        st->dense.y = st->now.y;
        st->dense.y_type = st->b->y_type;
        return pvi_dense_run(&st->dense, rows, before, after);
    }
    const pvi_data_dense d = matrix(st);
    const bool labelled = job->labelled;
    const pv_status s = pvi_dense_cells(job, &d, st->cells);
    job->labelled = labelled;
    st->table.row0 = 0; /* rows count from 1 in each batch */
    if (st->labels) st->table.beside = (pvi_cells) { .kind = (int)st->b->y_type, .at = st->now.y, .stride = 1 };
    return s == PV_OK ? pvi_table_run(&st->table, rows, before, after) : s;
}

static pv_status read_rows(struct pv_load *job)
{
    batches st = { .job = job, .b = &job->from->of.batches };
    pv_status s = pvi_data_begin(job->ctx, job->from);
    if (s == PV_OK) s = ask(&st);
    if (s == PV_OK) s = open(&st);
    job->name = st.name;
    while (s == PV_OK) {
        s = run(&st);
        if (s == PV_OK) s = ask(&st);
    }
    if (s == PV_DONE && st.number == 0) s = pvi_fail(job->ctx, PV_E_FORMAT, "%s: no rows", job->whole);
    pvi_dense_close(&st.dense);
    pvi_table_close(&st.table);
    job->name = job->whole;
    return s == PV_DONE ? PV_OK : s;
}

static const pvi_data_ops batches_ops = { .name = "batches", .read = read_rows };

pv_status pv_data_batches(pv_ctx *ctx, pv_batch_fn next, void *user, int64_t rows, int64_t columns, pv_type type,
                          pv_type y_type, pv_data **out)
{
    if (out) *out = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, next);
    PVI_NEEDS(ctx, out);
    if (rows < 1 && rows != -1)
        return pvi_fail(ctx, PV_E_ARG, "batches: %lld rows: at least one is needed, or -1 if unknown",
                        (long long)rows);
    if (columns < 1 || columns > INT32_MAX)
        return pvi_fail(ctx, PV_E_ARG, "batches: %lld columns: 1 to 2147483647 can be", (long long)columns);
    if (!pvi_type_size(type)) return pvi_fail(ctx, PV_E_ARG, "batches: %d is no type of values", (int)type);
    const pv_status s = pvi_data_create(ctx, &batches_ops, rows, out);
    if (s == PV_OK) (*out)->of.batches = (pvi_data_batches) { next, user, columns, type, y_type };
    return s;
}
