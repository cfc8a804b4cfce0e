/* trust_subproblem.h - min <g,h> + h'Hh/2 over ||h|| <= r, solved to the global optimum. */
#ifndef PVI_TRUST_SUBPROBLEM_H
#define PVI_TRUST_SUBPROBLEM_H
#include "core/eigen.h"

typedef struct pvi_trust { /* zero it, then pvi_trust_open; everything borrowed from the arena */
    int64_t d;
    double *A, *value, *work; /* d x d, d, 4 d */
    double *basis;            /* of Lanczos, (PVI_KRYLOV + 1) x d; NULL: dense only */
    double lambda, norm;      /* of the last solution: multiplier, ||h|| */
    int64_t krylov;           /* set before opening: vectors of an inexact solution, at most PVI_KRYLOV; 0: exact */
    int64_t products;         /* of H with a vector; 0: by eigendecomposition */
} pvi_trust;
enum { PVI_DENSE_TRUST = 512, PVI_KRYLOV = 300 };

pv_status pvi_trust_open(pvi_trust *t, int64_t d, pv_arena *a); /* PV_E_NOMEM */
/* H (d x d, both triangles) and g stay as they are; r > 0, INFINITY: the whole space (then H is made positive by its
 * absolute eigenvalues where it is not).  PV_E_NUMERIC: not finite. */
pv_status pvi_trust_solve(pvi_trust *t, const double *H, const double *g, double r, double *h);
/* The same in coordinates where H is diagonal, e ascending: y, and the multiplier returned. */
double pvi_trust_diagonal(int64_t n, const double *e, const double *g, double r, double *y);
#endif
