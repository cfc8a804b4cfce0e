/* query_histogram.c - counts of units in public bins.
 *
 * Asked at  nothing
 * Bins      H histograms of B bins each, all fixed before any row is looked at.  place() says in which bin of
 *           histogram h a row of a unit falls, by that unit's rows alone; -1: in none
 * Unit      v = (v_1, ..., v_H), each v_h of B numbers >= 0 with sum at most 1: a count of 1 in one bin; or, of a
 *           unit whose k rows fall by themselves (`shared`), 1/k in the bin of each                            (1)
 *           ||v_h||^2 <= ||v_h||_1^2 <= 1, so that ||v|| <= sqrt H and ||v||_1 <= H, however many rows it has
 * Bound     absent sqrt H; other sqrt(2 H): no entry is below 0, so <v, v'> >= 0 and
 *           ||v - v'||^2 <= ||v||^2 + ||v'||^2                                                                 (2)
 * Rounding  counts are integers on the grid: 1 is U = floor(1/spacing), 1/k is floor(U/k), and k of them are at most
 *           U.  (1) and (2) hold of what is added, exactly, unit by unit; there are no float sums              (3)
 *           A verifier finds `other` from `absent` by (2), and H = absent^2
 * Answer    H B numbers: the noisy counts over the expected number of units */
#include "query/query.h"

#include "model/units.h"

static pv_status open(pvi_query *q, pv_ctx *ctx)
{
    const pvi_bins *b = &q->bins;
    if (!b->place || b->histograms < 1 || b->bins < 1)
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "nothing is said of what falls into which bin");
    const double H = (double)b->histograms;
    q->length = q->values = b->histograms * b->bins;
    q->per_unit = true;                                                    /* (3) */
    q->bound = (pvi_bound) { pv_up(sqrt(H), 1), pv_up(sqrt(2.0 * H), 1) }; /* (1), (2) */
    return PV_OK;
}

static size_t scratch(const pvi_query *q, int64_t most)
{
    (void)q, (void)most;
    return 1;
}

static double rounding(const pvi_query *q, int64_t m)
{
    (void)q, (void)m;
    return 0.0; /* (3) */
}

static void add(const pvi_query *q, const void *st, const pv_rows *units, double spacing, pvi_lane *l)
{
    const pvi_bins *b = &q->bins;
    const int64_t one = (int64_t)floor(1.0 / spacing); /* (3): spacing is a power of two */
    (void)st;
    for (int64_t u = 0; u < units->n; u++) {
        const int64_t rows = b->shared && units->start ? pvi_unit_size(units, u) : 1;
        for (int64_t h = 0; h < b->histograms; h++)
            for (int64_t r = 0; r < rows; r++) {
                const int64_t bin = b->place(b, units, u, r, h);
                PVI_REQUIRE(bin >= -1 && bin < b->bins);
                if (bin >= 0) l->sum[h * b->bins + bin] += one / rows;
            }
    }
}

static double other(double B, double C, bool semidefinite)
{
    (void)C, (void)semidefinite;
    return pv_up(sqrt(2.0), 1) * B; /* (2) */
}

const pvi_query_ops pvi_query_histogram = {
    .name = "histogram",
    .summary = "counts of units in public bins",
    .full = 256,
    .sampled = 256,
    .mean = 96,
    .batch_share = 10.0,
    .batch_most = INFINITY,
    .units = true,
    .open = open,
    .scratch = scratch,
    .rounding = rounding,
    .add = add,
    .other = other,
};
