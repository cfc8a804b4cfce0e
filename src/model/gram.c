/* gram.c - how long the sum of a unit's outer products is, without forming it.
 *
 *   a_r, b_r     floats of row r of a unit, r < n; V = sum of a_r b_r', exactly
 *   v            V as floats: row after row from zeros, a multiply-add each, in registers only (units.c (1))
 *   A, B         inner products <a_r, a_s>, <b_r, b_s>        o_r      at least ||a_r|| ||b_r||;  T = sum of the o_r
 *   u            2^-24
 *
 * (1) ||V||^2 = sum over r, s of A_rs B_rs: n^2/2 inner products instead of a matrix that is written, read for its
 *     norm and read again.  Then f is known before the sum, which is added as it is formed: g += f v.
 * (2) Inner products of different rows are made in floats, lanes of at most CHUNK products added up in double: off by
 *     (CHUNK + 6) u ||a_r|| ||a_s|| at most, given that no square of ||a_r|| or ||b_r|| (with the bias in it) is
 *     outside [2^-80, 2^80], so that nothing overflows and what underflows is far below u.  With o_r^2 for r = s, the
 *     sum (1) as computed is below ||V||^2 by 2 (CHUNK + 6) u (1 + u) T^2 + n^2 2^-52 T^2 < 2^-17 T^2 at most.
 * (3) v differs from V by n + 1 roundings of sums that are no longer than T: ||v|| <= ||V|| + (n + 2) u T.  (Below
 *     the normal floats, by n sqrt(d) 2^-149 more: nothing beside e C of units.c (2), C being 2^-60 or more.)
 * (4) N = sqrt(S + 2^-17 T^2) + (n + 3) u T, S the sum (1) as computed, is therefore at least ||v||, whatever the
 *     rows: units.c (M1) holds with it.  Where rows cancel so far that T^2 > 64 S this N would be too long by more
 *     than 2^-12 or so; such a unit's v is formed in memory instead, and its norm found to the last bits. */
#include "gram.h"

#include <math.h>

bool pvi_gram_pays(int64_t n, int64_t sides, int64_t entries)
{
    return n <= PVI_GRAM_ROWS && n * (n - 1) * sides <= 16 * entries;
}

double pvi_gram_square(const double *A, const double *B, const double *own, int64_t n)
{
    double S = 0.0, T = 0.0;
    for (int64_t r = 0; r < n; r++) {
        T += own[r];
        S += own[r] * own[r];
        for (int64_t s = r + 1; s < n; s++) S += 2.0 * A[r * n + s] * B[r * n + s]; /* (1) */
    }
    const double slack = 0x1p-17 * T * T; /* (2) */
    if (!(slack <= 0x1p-11 * S)) return -1.0;
    const double N = sqrt(S + slack) + ((double)n + 3.0) * 0x1p-24 * T; /* (4) */
    return N * N * (1.0 + 0x1p-50);
}
