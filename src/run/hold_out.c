/* hold_out.c - run.holdout_share: some of the rows are drawn to be left out, for an evaluation of the model.
 *
 * Of n units, n public, floor(share n) are held out, at least one, and all others are trained on.
 *   (1) Which ones is drawn without looking at a row: rows are shuffled by the run's source of randomness; persons
 *       stand in an order by the hash of their ids under a key that is drawn for every load (persons.c (2)) and kept
 *       nowhere.
 *   (2) A unit is in one part or in the other.  Given the draw, which is the same for neighbouring tables, a change
 *       of one unit changes one part: the model costs epsilon for whoever is trained on, the evaluation its own for
 *       whoever is held out, and nobody pays for both.
 * Both parts are views of one table, which the result of the run keeps. */
#include "data/reader.h"
#include "mech/mech.h"
#include "run/run.h"

static pv_status shuffle_sparse(pvi_matrix *m, pv_rng *rng)
{
    const int64_t n = m->stored;
    int64_t *order = pvi_alloc(m->ctx, sizeof *order * (size_t)n);
    if (!order) return pvi_nomem(m->ctx);
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = (int64_t)pvi_rng_below(rng, (uint64_t)i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    const pv_status s = pvi_matrix_order(m, order, n);
    pvi_free(m->ctx, order);
    return s;
}

/* (1) */
static pv_status shuffle(pvi_matrix *m, pv_rng *rng)
{
    if (m->start) return PV_OK;
    if (m->borrowed)
        return pvi_fail(m->ctx, PV_E_UNSUPPORTED,
                        "run.holdout_share: rows in memory of the caller stay in their order: split them first");
    if (m->ptr) return shuffle_sparse(m, rng);
    char *aside = pvi_alloc(m->ctx, pvi_matrix_line(m) + 1);
    if (!aside) return pvi_nomem(m->ctx);
    const pvi_mover v = pvi_matrix_mover(m, aside);
    for (int64_t i = m->stored - 1; i > 0; i--) {
        const int64_t k = (int64_t)pvi_rng_below(rng, (uint64_t)i + 1);
        if (k != i) pvi_move_swap(&v, i, k);
    }
    pvi_free(m->ctx, aside);
    return PV_OK;
}

/* Units first .. first + n - 1 as a table of their own; it owns nothing. */
static pvi_matrix part(const pvi_matrix *m, int64_t first, int64_t n)
{
    pvi_matrix v = *m;
    v.domain.n = n;
    if (m->start) {
        v.start = m->start + first;
        return v;
    }
    if (v.x) v.x += first * m->ld;
    if (v.byte) v.byte += first * m->ld;
    if (v.cell) v.cell += (size_t)first * m->line;
    if (v.ptr) v.ptr += first;
    v.y += first;
    v.norm += first;
    v.stored = n;
    return v;
}

pv_status pvi_hold_out(const pv_plan *plan, pvi_matrix *m, pvi_matrix *train, pvi_matrix *held)
{
    const pvi_settings *s = &plan->s;
    const int64_t n = m->domain.n, out = (int64_t)fmax(1.0, floor(s->holdout_share * (double)n));
    pv_rng *rng;
    if (s->data.rows != PV_AUTO_I64 || s->data.persons != PV_AUTO_I64)
        return pvi_fail(plan->ctx, PV_E_PARAM,
                        "run.holdout_share: data.rows and data.persons would be of all rows: leave them out");
    if (m->late)
        return pvi_fail(plan->ctx, PV_E_PARAM,
                        "run.holdout_share and data.knots_share: rows to be held out have no knots yet: leave one of "
                        "them out");
    if (s->holdout || s->apart)
        return pvi_fail(plan->ctx, PV_E_PARAM,
                        "run.holdout_share holds rows out: leave run.holdout and run.apart out");
    if (m->domain.classes < 2 || m->domain.classes > PVI_SCORE_CLASSES)
        return pvi_fail(
            plan->ctx, PV_E_UNSUPPORTED,
            "run.holdout_share: rows held out are for private figures, which are of 2 to %d classes: leave it "
            "out",
            PVI_SCORE_CLASSES);
    if (out >= n)
        return pvi_fail(plan->ctx, PV_E_PARAM, "run.holdout_share: there are too few rows to hold some out");
    pv_status st = pvi_plan_rng(plan, &rng);
    if (st != PV_OK) return st;
    pvi_rng_begin(rng);
    st = shuffle(m, rng);
    pvi_rng_free(rng);
    if (st != PV_OK) return st;
    *train = part(m, 0, n - out);
    *held = part(m, n - out, out);
    if (m->owner) train->owner = held->owner = NULL; /* ids of all persons, to look for elsewhere: nobody asks */
    pvi_log(plan->ctx, PV_LOG_NOTE, "run.holdout_share = %g: %lld %ss to train on, %lld held out at random",
            s->holdout_share, (long long)(n - out), m->start ? "person" : "row", (long long)out);
    return PV_OK;
}
