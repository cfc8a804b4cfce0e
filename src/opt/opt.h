/* opt.h - what the optimisers share: which iterate is returned, step-size schedules. */
#ifndef PVI_OPT_H
#define PVI_OPT_H
#include "core/core.h"
#include "reg/reg.h"

/* ---- output rules (output.c).  All are functions of the released values: post-processing. ---------- */
#define PVI_OUTPUT_CHOICES "average|last|random|ema"
enum { PVI_OUT_AVERAGE, PVI_OUT_LAST, PVI_OUT_RANDOM, PVI_OUT_EMA };
typedef struct pvi_output {
    int64_t rule, steps, kept, pick;
    double decay; /* of the moving average */
    double *w;    /* borrowed from the arena */
} pvi_output;
pv_status pvi_output_init(pvi_output *o, int64_t rule, int64_t steps, int64_t d, pv_arena *a);
void pvi_output_start(pvi_output *o, pv_oracle *oracle); /* at t = 1: draws the random index          */
void pvi_output_keep(pvi_output *o, int64_t t, const double *w, int64_t d);
void pvi_output_take(const pvi_output *o, double *w, int64_t d);

/* ---- schedules: factor of the base step at t = 1 .. T -------------------------------------------------- */
#define PVI_SCHEDULE_CHOICES "constant|inverse|cosine|decay"
double pvi_schedule(int64_t kind, int64_t t, int64_t T);

/* ---- defaults -------------------------------------------------------------------------------------------
 * Steps after which the noise alone has carried the weights a distance of about B = 16: with step eta,
 * momentum beta and N the rows behind one unit of noise (the batch without sampling, n with it),
 *   eta/(1 - beta) sigma_g sqrt(T d) = B,  sigma_g = G sqrt(T) / (N mu)   =>   T = B (1 - beta) N mu / (eta G sqrt(d)),
 * kept within lo .. hi; 2000 when privacy is off. */
int64_t pvi_default_steps(const pv_problem *p, double eta, double beta, double N, int64_t lo, int64_t hi);
/* 1/L, or PV_E_PARAM where the loss has no smoothness constant. */
pv_status pvi_default_step(const pv_problem *p, double factor, double *eta);

/* Smoothness of loss + penalty as far as it is handled by gradient. */
double pvi_smoothness(const pv_problem *p);
#endif
