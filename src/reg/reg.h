/* reg.h - penalties, sets and what they need from each other. */
#ifndef PVI_REG_H
#define PVI_REG_H
#include "core/core.h"

/* ---- prox.c ------------------------------------------------------------------------------ */
/* PV_OK: pv_prox is exact for this pair (set NULL: the whole space).  Otherwise
 * PV_E_UNSUPPORTED with the reason and what would work. */
pv_status pvi_prox_check(pv_ctx *ctx, const pv_reg_ops *reg, const pv_set_ops *set);

/* ---- penalty.c: r of all weights, r_d = factor_d r in layer d ------------------------------------------ */
/* PV_OK: the factors of reg.layers go with the layers, the penalty and the set. */
pv_status pvi_penalty_check(const pv_problem *p, const pv_numbers *factors);
double pvi_penalty_value(const pv_problem *p, const double *w);
void pvi_penalty_grad(const pv_problem *p, const double *w, double *g); /* g += r'(w); the penalty has grad */
void pvi_penalty_prox(const pv_problem *p, double eta, double *w);      /* without the set; it has prox     */
double pvi_penalty_strong(const pv_problem *p);                         /* strong convexity of the least    */

/* A member of the set to start from: the one nearest to 0, or the oracle's choice without a projection. */
void pvi_set_start(const pv_problem *p, double *w);

/* ---- mirror.c ----------------------------------------------------------------------------------- */
/* The map made for the set, else euclidean. */
const pv_mirror_ops *pvi_mirror_default(const pv_set_ops *set);
/* For maps of one set whose step is exact for penalties a ||x||_1 only. */
pv_status pvi_mirror_l1_check(pv_ctx *ctx, const pv_mirror_ops *map, const pv_reg_ops *reg, const pv_set_ops *set);

/* ---- threshold.c ------------------------------------------------------------------------------ */
typedef struct pvi_cut { /* theta = top + shift with sum_i max(v_i - theta, 0) = R                  */
    double top, shift;
} pvi_cut;
pvi_cut pvi_cut_find(const double *w, int64_t d, bool magnitude, double R); /* v = |w| or w; d >= 1   */
double pvi_cut_apply(pvi_cut cut, double v);

/* ---- vector.c: plain loops that do not overflow before their result does -------------------- */
double pvi_norm1(const double *w, int64_t d);
double pvi_norm2(const double *w, int64_t d);
double pvi_norm_inf(const double *w, int64_t d);
double pvi_dot(const double *a, const double *b, int64_t d);
double pvi_sum(const double *w, int64_t d);
void pvi_scale(double *w, double c, int64_t d);
void pvi_soft_threshold(double *w, double t, int64_t d);

/* ---- gauss.c: expectations over a standard Gaussian vector z --------------------------------- */
double pvi_mean_norm(int64_t d);    /* E ||z||_2                                                      */
double pvi_mean_max(int64_t d);     /* E max_j z_j                                                    */
double pvi_mean_max_abs(int64_t d); /* E max_j |z_j|                                                  */

#endif
