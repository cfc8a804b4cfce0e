/* memory_rounds.c - rows in memory to segments: rounds of blocks on all threads.
 *
 * A round is a few blocks per thread, each small enough to stay in a core's cache between the pass that encodes it
 * and the one that norms and copies it.  Blocks are cut by position and appended in order, so the outcome, including
 * which row is refused, is that of going from top to bottom. */
#include "data/data.h"

enum { PER_THREAD = 4, BLOCK_ENTRIES = 16384, BLOCK_ROWS = 4096 };

void pvi_block_fail(pvi_block *b, int64_t row, int64_t column, const char *fmt, ...)
{
    va_list ap;
    if (b->bad >= 0 && b->bad <= row) return; /* an earlier one counts */
    va_start(ap, fmt);
    vsnprintf(b->why, sizeof b->why, fmt, ap);
    va_end(ap);
    b->bad = row;
    b->column = column;
}

pv_status pvi_rounds_room(pvi_rounds *r, int64_t rows, int64_t entries)
{
    pv_ctx *ctx = r->job->ctx;
    const size_t m = (size_t)rows, n = (size_t)entries;
    r->block_rows = rows;
    r->blocks = PER_THREAD * pvi_threads(ctx);
    r->block = pvi_alloc(ctx, (size_t)r->blocks * sizeof *r->block);
    if (!r->block) return pvi_nomem(ctx);
    for (int64_t i = 0; i < r->blocks; i++) {
        pvi_block *b = &r->block[i];
        b->seg = (pvi_segment) { .end = pvi_raw(ctx, m * sizeof(uint32_t)),
                                 .y = pvi_alloc(ctx, m * sizeof(float)),
                                 .val = pvi_raw(ctx, n * sizeof(float)),
                                 .idx = pvi_raw(ctx, n * sizeof(int32_t)),
                                 .person = r->job->id_column ? pvi_raw(ctx, m * sizeof(pvi_id)) : NULL,
                                 .row_room = m,
                                 .entry_room = n };
        b->seen = pvi_alloc(ctx, sizeof *b->seen);
        if (!b->seg.end || !b->seg.y || !b->seg.val || !b->seg.idx || !b->seen) return pvi_nomem(ctx);
        if (r->job->id_column && !b->seg.person) return pvi_nomem(ctx);
    }
    return PV_OK;
}

pv_status pvi_rounds_open(pvi_rounds *r, int64_t entries)
{
    const int64_t fit = BLOCK_ENTRIES / entries, rows = fit < 1 ? 1 : fit > BLOCK_ROWS ? BLOCK_ROWS : fit;
    return pvi_rounds_room(r, rows, rows * entries);
}

void pvi_rounds_close(pvi_rounds *r)
{
    pv_ctx *ctx = r->job->ctx;
    for (int64_t i = 0; r->block && i < r->blocks; i++) {
        pvi_segment *g = &r->block[i].seg;
        pvi_free(ctx, g->end);
        pvi_free(ctx, g->y);
        pvi_free(ctx, g->val);
        pvi_free(ctx, g->idx);
        pvi_free(ctx, g->person);
        pvi_free(ctx, r->block[i].seen);
    }
    pvi_free(ctx, r->block);
    r->block = NULL;
}

static void fill(void *arg, int64_t k, int thread)
{
    pvi_rounds *r = arg;
    (void)thread;
    r->fill(r->arg, &r->block[k]);
}

static pv_status one_round(pvi_rounds *r, int64_t n, double fraction)
{
    pvi_segment *stack[64], **seg = stack;
    pv_status s = PV_OK;
    if (n > 64 && !(seg = pvi_alloc(r->job->ctx, (size_t)n * sizeof *seg))) return pvi_nomem(r->job->ctx);
    pvi_parallel(r->job->ctx, n, fill, r);
    for (int64_t i = 0; i < n && s == PV_OK; i++) {
        seg[i] = &r->block[i].seg;
        if (r->block[i].bad >= 0) s = r->refuse(r->arg, &r->block[i]);
    }
    if (s == PV_OK) s = pvi_build_append(r->job->out, seg, n, fraction);
    if (seg != stack) pvi_free(r->job->ctx, seg);
    if (s == PV_OK && !pvi_progress(r->job->ctx, "reading", fraction, 1.0, -1.0))
        s = pvi_fail(r->job->ctx, PV_E_CANCELLED, PVI_STOPPED_READING, r->job->name);
    return s;
}

pv_status pvi_rounds_run(pvi_rounds *r, int64_t rows, double before, double after)
{
    pv_status s = PV_OK;
    for (int64_t first = 0; first < rows && s == PV_OK;) {
        int64_t n = 0;
        for (; n < r->blocks && first < rows; n++) {
            pvi_block *b = &r->block[n];
            b->first = first;
            b->rows = rows - first < r->block_rows ? rows - first : r->block_rows;
            if (r->cut) b->rows = r->cut(r->arg, first, b->rows);
            b->bad = -1;
            b->seg.rows = b->rows;
            first += b->rows;
        }
        s = one_round(r, n, before + (after - before) * (double)first / (double)rows);
    }
    return s;
}
