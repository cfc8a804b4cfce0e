/* precondition.h - coordinates for the steps of tr and str, learned from noisy second moments of the rows. */
#ifndef PVI_PRECONDITION_H
#define PVI_PRECONDITION_H
#include "opt/second_order.h"

typedef struct pvi_precondition { /* borrowed from the arena */
    double *A;              /* d x d, symmetric: w = A v, rows become A x; NULL: v = w, rows as they are, because nothing
                             * was asked for or the rows are about as long in every direction */
    double *x;              /* d, scratch */
    bool gentle;            /* noise is small beside a penalty that is not convex */
    double unit;            /* steps of length 1 change margins by about 1/unit; without a metric 1 */
} pvi_precondition;

/* Is there a metric to be learned under this plan? */
static inline bool pvi_precondition_on(const pvi_second_cfg *c)
{
    return c->share > 0.0;
}
bool pvi_precondition_wanted(const void *cfg); /* the same, of an ask */
pv_status pvi_precondition_init(pvi_precondition *m, const pvi_second_cfg *c, const pv_problem *p, pv_arena *a);
/* Spends the planned share, transforms the rows, and gives the coordinates v of w. */
pv_status pvi_precondition_learn(pvi_precondition *m, pvi_second *s, const pvi_second_cfg *c, const pv_problem *p, pv_oracle *o,
                           const double *w, double *v);
void pvi_precondition_weights(const pvi_precondition *m, int64_t d, const double *v, double *w); /* w = A v */
/* g += weight r'(w), H += weight times a diagonal that bounds r at w, in the coordinates v.  Without a metric both are
 * exact and the weight is 1. */
void pvi_precondition_penalty(const pvi_precondition *m, const pv_problem *p, const double *w, double weight, double *g,
                        double *H);
#endif
