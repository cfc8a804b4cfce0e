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

/* ---- all weights, tensor by tensor (smooth_layers.c) ------------------------------------------------------ */
typedef struct pvi_smoothing_cfg {
    pv_numbers sigma; /* one, or of every layer */
    int64_t order;
} pvi_smoothing_cfg;
#define PVI_SMOOTHING_ROWS(cfg)                                                                                      \
    { "smoothing",                                                                                                   \
      PV_LIST,                                                                                                       \
      offsetof(cfg, smoothing.sigma),                                                                                \
      0,                                                                                                             \
      0,                                                                                                             \
      1e6,                                                                                                           \
      false,                                                                                                         \
      "sigma, Laplacian smoothing of the noisy gradient; or one for each layer",                                     \
      NULL },                                                                                                        \
    {                                                                                                                \
        "smoothing_order", PV_ENUM, offsetof(cfg, smoothing.order), 0, 0, 0, false,                                  \
            "whose neighbour a weight is: as weights are stored, along pixels, or along units",                      \
            "stored|pixels|units"                                                                                    \
    }
typedef struct pvi_smoothing {
    int64_t n, order;
    pvi_smoother *one; /* n of them: one, or one for each layer */
    double *room;      /* a tensor in another order; NULL: none is needed */
} pvi_smoothing;
pv_status pvi_smoothing_check(const pvi_smoothing_cfg *c, const pv_problem *p); /* does the list fit the layers? */
pv_status pvi_smoothing_open(pvi_smoothing *s, const pvi_smoothing_cfg *c, const pv_problem *p, pv_arena *a);
void pvi_smoothing_apply(const pvi_smoothing *s, const pv_problem *p, double *g);

/* (1/d) sum_i lambda_i^{-1} and (1/d) sum_i lambda_i^{-2} over the eigenvalues of A_sigma: the factors by
 * which smoothing shrinks the noise term of the utility bounds.  d >= 1. */
double pvi_smooth_gamma(double sigma, int64_t d);
double pvi_smooth_beta(double sigma, int64_t d);
#endif
