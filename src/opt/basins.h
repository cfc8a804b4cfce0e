/* basins.h - from the last point of a run to a lower local minimum of its model, where the penalty has many. */
#ifndef PVI_BASINS_H
#define PVI_BASINS_H
#include "opt/precondition.h"
#include "reg/reg.h"

typedef struct pvi_model { /* of loss and penalty around v: g'h + h'Hh/2 + r(A (v + h)) */
    const pv_problem *p;
    const double *A, *v, *g, *H;
    double noise; /* standard deviation of a coordinate of g */
    double far;   /* the model holds for ||h|| up to this */
} pvi_model;

/* Moves v + h from h = 0; PV_E_NOMEM. */
pv_status pvi_basins(const pvi_model *m, pv_arena *a, double *h);
#endif
