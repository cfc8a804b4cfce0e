/* precondition.h - a stage before an optimiser's steps: coordinates learned from noisy second moments of the rows.
 *
 * An optimiser that wants it has a setting `share`, asks for second moments (PVI_PRECONDITION_ASK) and takes its
 * steps in the coordinates v, w = A v (precondition.c). */
#ifndef PVI_PRECONDITION_H
#define PVI_PRECONDITION_H
#include "core/eigen.h"
#include "opt/opt.h"

typedef struct pvi_precondition { /* borrowed from the arena */
    double *A;                    /* d x d, symmetric: w = A v, rows become A x; NULL: v = w, rows as they are */
    double *x;                    /* d, scratch */
    double *V, *e, *work;         /* of the eigenproblem: d x d, d, d */
    bool continuation;            /* noise is small beside a penalty that is not convex: trust_region.c (7) */
    double unit; /* steps of length 1 change margins by about 1/unit; without coordinates of its own 1 */
} pvi_precondition;

#define PVI_PRECONDITION_ASK(sampler, wanted)                                                                        \
    {                                                                                                                \
        &pvi_query_moments, &pv_mechanism_gaussian, sampler, wanted                                                  \
    }

typedef struct pvi_precondition_cost { /* what learning may spend */
    int ask;                           /* number of the optimiser's ask for second moments */
    int64_t events;                    /* 0: nothing is learned */
    double noise;                      /* of all later releases together, in a number of the gradient */
} pvi_precondition_cost;

/* Are there few enough weights and rows, and a loss of one number? */
bool pvi_precondition_fits(const pv_problem *p);
pv_status pvi_precondition_init(pvi_precondition *m, bool on, const pv_problem *p, pv_arena *a);
/* Spends that, transforms the rows, and gives the coordinates v of w. */
pv_status pvi_precondition_learn(pvi_precondition *m, const pvi_precondition_cost *cost, const pv_problem *p,
                                 pv_oracle *o, const double *w, double *v);
void pvi_precondition_weights(const pvi_precondition *m, int64_t d, const double *v, double *w); /* w = A v */
/* g += weight times the penalty's gradient at w, in the coordinates v. */
void pvi_precondition_gradient(const pvi_precondition *m, const pv_problem *p, const double *w, double weight,
                               double *g);
/* And H += weight times a diagonal that bounds r at w, in the coordinates v.  Without coordinates of its own both are
 * exact and the weight is 1. */
void pvi_precondition_penalty(const pvi_precondition *m, const pv_problem *p, const double *w, double weight,
                              double *g, double *H);
#endif
