/* column_values.c - where values of the numbers of a table lie: a histogram of each, released together.
 *
 * (1) A row falls into at most one bin of each of H histograms, those of data/knots.c, by its own values alone: with
 *     query_histogram.c (1) its norm is at most sqrt(H), and sqrt(2 H) when another row takes its place
 * (2) The rows of a person fall by themselves and share the person's count: with k rows each counts 1/k, so that a
 *     person adds no more than a row does */
#include "query/query.h"

#include "data/load.h"

static int64_t place(const pvi_bins *b, const pv_rows *units, int64_t u, int64_t r, int64_t h)
{
    const int64_t row = (units->start ? units->start[u] : u) + r;
    const int32_t feature = pvi_late_feature(b->arg, h);
    if (units->norm[row] < 0.0f) return -1; /* a row that adds nothing */
    if (units->x) return pvi_late_bin(b->arg, h, units->x[row * units->ld + feature]);
    for (int64_t k = units->ptr[row]; k < units->ptr[row + 1]; k++)
        if (units->idx[k] == feature) return pvi_late_bin(b->arg, h, units->val[k]);
    return pvi_late_bin(b->arg, h, 0.0f); /* sparse rows leave out zeros */
}

_Static_assert(PVI_KNOT_BINS *PVI_KNOT_COLUMNS <= PVI_COUNTS_MOST, "a certificate lists them");

int64_t pvi_column_values_columns(int64_t counts)
{
    return counts % PVI_KNOT_BINS ? 0 : counts / PVI_KNOT_BINS;
}

pvi_bins pvi_column_values_bins(const struct pvi_late *late, int64_t columns)
{
    return (pvi_bins) { .histograms = columns, .bins = PVI_KNOT_BINS, .shared = true, .place = place, .arg = late };
}
