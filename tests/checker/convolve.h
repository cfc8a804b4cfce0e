/* convolve.h - delta(eps) of many releases, between two rigorous bounds, by convolution of integers. */
#ifndef CK_CONVOLVE_H
#define CK_CONVOLVE_H
#include <stdint.h>

#include <flint/fmpz_poly.h>

#include "loss.h"

typedef struct ck_step {
    ck_release r;
    int64_t count;
} ck_step;

/* Masses 2^-bits p_i at the losses offset + (i - K) h, i = 0 .. 2K, and inf at infinity. */
typedef struct ck_law {
    fmpz_poly_t p;
    fmpz_t inf;
    arb_t offset;
} ck_law;

typedef struct ck_lattice {
    double h;
    slong K, bits;
} ck_lattice;

void ck_compose(ck_law *law, const ck_step *s, int64_t n, const ck_lattice *g, const ck_side *side);
void ck_law_free(ck_law *law);
/* sum of p (1 - e^{eps - loss})_+, and inf */
void ck_law_delta(arb_t delta, const ck_law *law, const ck_lattice *g, double eps);

/* The true epsilon at delta lies between *lo and *hi; points: 2K + 1 losses are used.  Under fixed-size sampling
 * *hi is
 * INFINITY: what is composed is one attack. */
typedef struct ck_truth {
    double eps_lo, eps_hi;          /* around the epsilon at delta      */
    double eps, delta_lo, delta_hi; /* around the delta at an epsilon   */
} ck_truth;
void ck_truth_of(const ck_step *s, int64_t n, double delta, slong K, ck_truth *out);
#endif
