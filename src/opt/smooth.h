/* smooth.h - Laplacian smoothing of a vector, in place. */
#ifndef PVI_SMOOTH_H
#define PVI_SMOOTH_H
#include "core/core.h"

typedef struct pvi_smoother { /* zero-initialise; memory is borrowed from the arena             */
    double sigma, a, scale;
    int64_t warm; /* K: steps after which a start value no longer matters                   */
    int64_t lane; /* L: elements of one of the lanes of a full block                        */
    int64_t max_d;
    double *edge;    /* start value and K following elements of every task                     */
    double *scratch; /* room for one block and its look-ahead, per thread                      */
    int64_t scratch_len;
    int threads; /* that have scratch */
    pv_ctx *ctx;
} pvi_smoother;

/* Prepares smoothing of vectors of up to max_d elements; sigma in [0, 1e12], 0 changes nothing. */
pv_status pvi_smooth_open(pvi_smoother *s, pv_arena *a, double sigma, int64_t max_d);
/* g <- A_sigma^{-1} g for 0 <= d <= max_d.  The result does not depend on the number of threads. */
void pvi_smooth(const pvi_smoother *s, double *g, int64_t d);
/* The same for every tensor of the weights on its own. */
void pvi_smooth_tensors(const pvi_smoother *s, const pv_problem *p, double *g);

/* (1/d) sum_i lambda_i^{-1} and (1/d) sum_i lambda_i^{-2} over the eigenvalues of A_sigma: the factors by
 * which smoothing shrinks the noise term of the utility bounds.  d >= 1. */
double pvi_smooth_gamma(double sigma, int64_t d);
double pvi_smooth_beta(double sigma, int64_t d);
#endif
