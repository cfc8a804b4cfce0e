/* knots.c - knots where the values of a table lie, by one noisy release of histograms (docs/algorithms/additive.md).
 *
 *   n      units, public                       H      columns whose knots are placed
 *   B      PVI_KNOT_BINS bins of each, at equal distances on its scale between its bounds (fewer where floats are no
 *          finer); a missing value is in none
 *   s      standard deviation of the noise on each count c_b, as released
 *
 * Release   each row is in one bin of each of H histograms: query/column_values.c, whose row norm is sqrt(H).
 * Knots     of a column with K of them, a function of what was released and of public numbers:
 *   (1) c_b below the largest of B noises, s sqrt(2 ln B), are 0: where noise hides what there is, nothing is seen
 *   (2) p_b = c_b / sum c, none above 1/(K - 1): a value that most rows have needs a knot on either side, not more
 *   (3) q_b = 4/5 p_b + 1/(5 B): rare values have knots as well.  Knots are the bin edges nearest to equal shares of
 *       q, at least one bin apart, both bounds among them.  Without any c_b left they are at equal distances
 * Number    hats of equal mass all learn at the same pace, so that noise enters more weights than where most hats
 *           are nearly empty:
 *   (4) K is half that of curves.c (5) where the label is a class, and that of (5) where it is a number; K does not
 *       depend on what is released, so that weights, noise and cost are planned before it
 *   (5) auto pays 1/50 of the budget where n epsilon >= 2000 sqrt(H), n/2 in place of n where the label is a number,
 *       and elsewhere nothing: below that noise hides the histograms, and few knots are as good anywhere
 *       (docs/algorithms/additive.md has the measurements)
 * Rows      stay as they were read until then, in one feature a number (pvi_late), and are encoded one by one after
 *           it, by released knots alone. */
#include "knots.h"

static const double auto_share = 0.02, least_signal = 2e3, even = 0.2;

/* ---- is it worth it? --------------------------------------------------------------------------------------- */

static bool is_open(const pvi_column *c)
{
    return c->curved && c->knots == 0;
}

static bool enough(const pvi_expect *e, double n, int64_t columns) /* (5) */
{
    return e->may_pay && isfinite(e->epsilon) && columns <= PVI_KNOT_COLUMNS &&
           n * e->epsilon >= least_signal * sqrt((double)columns);
}

pv_status pvi_knots_share(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *e, double n, bool rule,
                          pvi_schema *sc)
{
    const double said = cfg->knots_share;
    int64_t open = 0;
    sc->knots = (pvi_knots_ask) { 0 };
    for (int64_t i = 0; e->curves == PVI_CURVES_FIT && i < sc->count; i++)
        if (sc->column[i].bought)
            return pvi_fail(
                ctx, PV_E_PARAM,
                "column \"%s\": its knots were placed by a release of another run, which this one does not "
                "count: take \"knots\" and \"placed\" out of the schema",
                sc->column[i].name);
    if (e->curves != PVI_CURVES_FIT || said == 0.0) return PV_OK;
    for (int64_t i = 0; i < sc->count; i++) open += is_open(&sc->column[i]);
    const bool asked = said > 0.0;
    if (asked && open == 0)
        return pvi_fail(ctx, PV_E_PARAM,
                        "data.knots_share: no column has a curve whose knots are not declared: leave it out");
    if (asked && open > PVI_KNOT_COLUMNS)
        return pvi_fail(ctx, PV_E_PARAM, "data.knots_share places the knots of up to %d columns, and there are %lld",
                        PVI_KNOT_COLUMNS, (long long)open);
    if (open == 0 || !(asked || (rule && enough(e, n, open)))) return PV_OK;
    sc->knots = (pvi_knots_ask) { asked ? said : auto_share, open };
    for (int64_t i = 0; i < sc->count; i++) sc->column[i].placed = is_open(&sc->column[i]);
    return PV_OK;
}

/* ---- rows that wait ---------------------------------------------------------------------------------------- */

static pv_status open_fine(pv_arena *a, pvi_column *c, pvi_fine *f)
{
    pvi_column fine = *c;
    f->at = fine.knot = pv_arena_f64(a, PVI_KNOT_BINS + 1);
    f->edge = pv_arena_get(a, sizeof *f->edge * (PVI_KNOT_BINS + 1));
    if (!f->at || !f->edge) return PV_E_NOMEM;
    pvi_curves_spread(&fine, PVI_KNOT_BINS + 1);
    f->feature = c->first;
    f->edges = fine.knots;
    f->column = c;
    for (int64_t i = 0; i < f->edges; i++) f->edge[i] = pvi_curves_at(c, f->at[i]);
    return PV_OK;
}

pv_status pvi_late_open(pv_arena *a, const pvi_data_cfg *cfg, bool whole, pvi_schema *sc, pvi_matrix *m)
{
    pvi_late *l = pv_arena_get(a, sizeof *l);
    pvi_fine *f = pv_arena_get(a, sizeof *f * (size_t)sc->knots.columns);
    if (!l || !f) return pvi_nomem(m->ctx);
    *l = (pvi_late) { a, sc, *cfg, whole, false, f };
    for (int64_t i = 0; i < sc->count; i++)
        if (sc->column[i].placed && open_fine(a, &sc->column[i], f++) != PV_OK) return pvi_nomem(m->ctx);
    m->domain.p = sc->wide + (m->bias != 0.0f);
    m->knots = sc->knots;
    m->late = l;
    return PV_OK;
}

bool pvi_late_sparse(const pvi_late *l)
{
    return !pvi_curves_dense(&l->cfg, l->schema);
}

void pvi_late_free(pvi_late *l)
{
    if (l) pvi_arena_free(l->arena);
}

int64_t pvi_late_bin(const pvi_late *l, int64_t column, float x)
{
    const pvi_fine *f = &l->fine[column];
    int64_t lo = 0, hi = f->edges - 1;
    if (x < -0.5f) return -1;
    while (hi - lo > 1) {
        const int64_t middle = (lo + hi) / 2;
        if (x >= f->edge[middle]) lo = middle;
        else hi = middle;
    }
    return lo;
}

int32_t pvi_late_feature(const pvi_late *l, int64_t column)
{
    return l->fine[column].feature;
}

/* ---- knots by released counts ------------------------------------------------------------------------------ */

/* (1) to (3): the shares of the bins, all of them. */
static void shares(const int64_t *count, int64_t bins, int64_t knots, double stddev, double *q)
{
    const double hidden = stddev * sqrt(2.0 * log((double)bins)), most = 1.0 / (double)(knots - 1);
    double sum = 0.0;
    for (int64_t b = 0; b < bins; b++) sum += q[b] = (double)count[b] > hidden ? (double)count[b] : 0.0; /* (1) */
    for (int64_t b = 0; b < bins && sum == 0.0; b++) q[b] = 1.0;
    if (sum == 0.0) sum = (double)bins;
    for (int round = 0; round < 32; round++) { /* (2): what is cut from one goes to all others */
        double left = 0.0;
        for (int64_t b = 0; b < bins; b++) left += q[b] = fmin(q[b] / sum, most);
        sum = left;
    }
    for (int64_t b = 0; b < bins; b++)
        q[b] = (1.0 - even) * q[b] + (1.0 - (1.0 - even) * sum) / (double)bins; /* (3) */
}

static void place(const pvi_fine *f, const int64_t *count, double stddev)
{
    const int64_t bins = f->edges - 1, K = f->column->knots;
    double q[PVI_KNOT_BINS], below = 0.0; /* below: the share of bins before edge e */
    if (K < 3 || bins < K - 1) return;    /* the bounds, or no finer edges than knots */
    shares(count, bins, K, stddev, q);
    for (int64_t j = 1, e = 0; j < K - 1; j++) {
        const double target = (double)j / (double)(K - 1);
        do below += q[e++];
        while (e < bins - (K - 1 - j) && fabs(below + q[e] - target) <= fabs(below - target));
        f->column->knot[j] = f->at[e];
    }
}

pv_status pvi_late_encode(pvi_matrix *m, const int64_t *count, double stddev)
{
    pvi_late *l = m->late;
    for (int64_t h = 0; h < m->knots.columns; h++) place(&l->fine[h], count + h * PVI_KNOT_BINS, stddev);
    pv_status s = pvi_curves_expand(&l->cfg, l->whole, l->schema, m);
    pvi_free(m->ctx, m->schema_json);
    m->schema_json = NULL;
    if (s == PV_OK) s = pvi_schema_json(m->ctx, l->schema, &m->schema_json);
    m->late = NULL;
    m->knots = (pvi_knots_ask) { 0 };
    m->spare = NULL;
    if (s == PV_OK && l->offered) pvi_matrix_offer(m);
    pvi_late_free(l);
    return s;
}
