/* person_rows.c - how many rows persons have: a histogram, and what a released one says.
 *
 *   n      persons, public              c_k    persons with k rows as released, k = 1 .. B; B also of more
 *   s      standard deviation of the noise on each c_k
 *
 * (1) All persons are counted once, and n is public: p_k = c_k - (sum c - n)/B are nearer to the truth.
 * (2) cap: the least K such that at most three persons in ten have more rows, sum_{k > K} p_k <= 0.3 n.  Noise on
 *     that sum has a standard deviation of s sqrt(K (B - K)/B).  0.3 was chosen once: where persons count by their
 *     rows, the best K left 29 to 43 of a hundred with more (docs/results/people.md)
 * (3) rows: with K rows of a person at most there are sum_k min(k, K) p_k.  By (1) that is sum_k a_k c_k plus a
 *     constant, a_k = min(k, K) less their mean over k, so that its standard error is s sqrt(sum a_k^2).  c_k are
 *     rounded to whole persons, which adds 1/12 to s^2
 * Both are functions of what was released and of n: whoever has that finds the same numbers, a verifier too. */
#include "query/query.h"

#include "model/units.h"

static int64_t place(const pvi_bins *b, const pv_rows *units, int64_t u, int64_t r, int64_t h)
{
    const int64_t k = units->start ? pvi_unit_size(units, u) : 1;
    (void)r, (void)h;
    return (k < b->bins ? k : b->bins) - 1;
}

pvi_bins pvi_person_rows_bins(int64_t most)
{
    return (pvi_bins) { .histograms = 1, .bins = most, .place = place };
}

/* (1) */
static double excess(const int64_t *count, int64_t bins, double n)
{
    double sum = 0.0;
    for (int64_t k = 0; k < bins; k++) sum += (double)count[k];
    return (sum - n) / (double)bins;
}

int64_t pvi_person_rows_cap(const int64_t *count, int64_t bins, int64_t persons)
{
    const double n = (double)persons, e = excess(count, bins, n);
    double more = n;
    for (int64_t K = 1; K < bins; K++) {
        more -= (double)count[K - 1] - e;
        if (more <= 0.3 * n) return K; /* (2) */
    }
    return bins;
}

pvi_rows_found pvi_person_rows_total(const int64_t *count, int64_t bins, int64_t persons, int64_t K, double stddev)
{
    const double e = excess(count, bins, (double)persons);
    pvi_rows_found f = { 0 };
    double mean = 0.0, squares = 0.0;
    for (int64_t k = 1; k <= bins; k++) mean += (double)(k < K ? k : K) / (double)bins;
    for (int64_t k = 1; k <= bins; k++) {
        const double a = (double)(k < K ? k : K);
        f.rows += a * ((double)count[k - 1] - e);
        squares += (a - mean) * (a - mean);
    }
    f.error = sqrt(squares * (stddev * stddev + 1.0 / 12.0)); /* (3) */
    return f;
}
