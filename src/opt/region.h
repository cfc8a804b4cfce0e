/* region.h - the trust-region loop of tr and str. */
#ifndef PVI_REGION_H
#define PVI_REGION_H
#include "opt/second.h"

typedef struct pvi_region {
    pvi_second s;
    double *base, *g, *H, *h; /* the last accepted point, what was released there, the step from it; from the arena */
    double noise;             /* per coordinate of g */
    double *mean, entry;      /* Hessian of the loss from all releases, and the noise in its entries */
    double radius;
    bool stop; /* the next release is the last */
} pvi_region;

extern const pv_param pvi_region_params[];
pv_status pvi_region_resolve(pvi_second_cfg *c, const pv_problem *p, int64_t steps, double growth);
pv_status pvi_region_init(void *s, const void *c, const pv_problem *p, pv_arena *a);
pv_status pvi_region_step(void *s, const void *c, const pv_problem *p, int64_t t, pv_oracle *o, double *w);
#endif
