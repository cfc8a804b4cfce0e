/* trust_region.h - the trust-region loop of tr and str. */
#ifndef PVI_TRUST_REGION_H
#define PVI_TRUST_REGION_H
#include "opt/precondition.h"
#include "opt/second_order.h"

typedef struct pvi_trust_region {
    pvi_second s;
    pvi_precondition metric;
    double *v, *out;    /* where the next release is made, in the metric's coordinates as all points here; its mean */
    double *at, *loss;  /* where the last one was made, and the gradient of the loss there from all releases */
    double variance;    /* of a coordinate of `loss`; if it is not averaged, of the last release */
    double noise_total; /* D of (5): root of the sum of squares of the noise of all steps */
    double *base, *g, *H, *h; /* the last accepted point, what was released there, the step from it; from the arena */
    double noise;             /* per coordinate of g */
    double *mean, entry;      /* Hessian of the loss from all releases, and the noise in its entries */
    double radius;
    pv_arena *arena;
    bool average; /* gradients too, and shrink them */
    bool stop;    /* the next release is the last */
} pvi_trust_region;

extern const pv_param pvi_trust_region_params[],
    pvi_trust_region_apart_params[]; /* the latter without weight, growth */
extern const pv_state pvi_trust_region_arrays[];
pv_status pvi_trust_region_resolve(void *c, const pv_problem *p);
pv_status pvi_trust_region_init(void *s, const void *c, const pv_problem *p, pv_arena *a);
pv_status pvi_trust_region_step(void *s, const void *c, const pv_problem *p, int64_t t, pv_oracle *o, double *w);
#endif
