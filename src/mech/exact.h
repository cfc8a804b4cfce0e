/* exact.h - 128-bit fixed point for the few draws that double precision cannot decide. */
#ifndef PVI_MECH_EXACT_H
#define PVI_MECH_EXACT_H
#include "mech/kernel.h"

typedef unsigned __int128 pvi_u128;
typedef struct pvi_u256 {
    pvi_u128 hi, lo;
} pvi_u256;

extern const uint64_t pvi_ln2_q120[2], pvi_half_pi_q127[2], pvi_ln1p_q127[65][2], pvi_inverse_factorial_q127[35][2];

/* -ln U in units of 2^-120, error at most 2^-118 max(1, -ln U).  U = the 256-bit fraction u[0] u[1] u[2] u[3],
 * first word highest; not zero. */
pvi_u128 pvi_exact_neglog(const uint64_t u[4]);

/* cos and sin of pi/2 f, in units of 2^-127, error at most 2^-122.  0 <= f <= 1/2 in units of 2^-128. */
void pvi_exact_cos_sin(pvi_u128 f, pvi_u128 *cosine, pvi_u128 *sine);

/* A pair of Gaussians in polar form: (-1)^negative[i] sqrt(2 L) t[i], t in units of 2^-127. */
typedef struct pvi_exact_pair {
    pvi_u128 L, t[2];
    bool negative[2];
} pvi_exact_pair;
void pvi_exact_polar(const pvi_wide *bits, uint64_t b, pvi_exact_pair *out);

/* round(s sqrt(2 L) t) for 0 <= t <= 1; 2^-4 <= s <= 2^40. */
int64_t pvi_exact_gauss(double s, pvi_u128 L, pvi_u128 t);

/* round(s sqrt(L / sum) t), sum in units of 2^-120 too and at least L t^2. */
int64_t pvi_exact_ball(double s, pvi_u128 L, pvi_u128 t, const pvi_u256 *sum);
void pvi_exact_sum(pvi_u256 *sum, pvi_u128 L, pvi_u128 t); /* sum += L t^2 */

/* round(s L). */

/* 8 ln 2 - ln(-ln U) in units of 2^-120, u as for pvi_exact_neglog. */
pvi_u128 pvi_exact_gumbel(const uint64_t u[4]);
/* lead h / scale + a > b, h = 2^-28 times the power of two at or below scale; |lead| < 2^53, a, b < 2^127. */
bool pvi_exact_ahead(int64_t lead, double scale, pvi_u128 a, pvi_u128 b);
#endif
