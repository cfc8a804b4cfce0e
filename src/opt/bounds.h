/* bounds.h - what the papers' theorems promise: lists that an optimiser declares as its own, and those of a plan. */
#ifndef PVI_BOUNDS_H
#define PVI_BOUNDS_H
#include "core/core.h"

struct pvi_utility_inputs;   /* public quantities of a plan */
typedef struct pvi_utility { /* theorem NULL ends a list */
    const char *theorem, *measure, *formula;
    const char *(*lacks)(const struct pvi_utility_inputs *q); /* NULL, or why it says nothing */
    double (*value)(const struct pvi_utility_inputs *q);
} pvi_utility;

/* By what they are about (bounds.c); an optimiser's .bounds is one of them. */
extern const pvi_utility pvi_bounds_gradient[], pvi_bounds_frank_wolfe[], pvi_bounds_mirror[], pvi_bounds_vertices[],
    pvi_bounds_trust_region[], pvi_bounds_sosp[], pvi_bounds_sampled_trust_region[], pvi_bounds_smoothed[];

/* "bounds": all of them at the quantities of a plan, those of its optimiser marked. */
void pvi_bounds_write(const pv_optimizer_ops *opt, const void *cfg, const pv_problem *p, pvi_jw *w);
#endif
