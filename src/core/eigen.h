/* eigen.h - real symmetric eigenproblems of moderate size, without a library. */
#ifndef PVI_EIGEN_H
#define PVI_EIGEN_H
#include "core.h"

/* a (n x n, row-major, symmetric) is replaced by its eigenvectors, one per row, orthonormal; value holds the
 * eigenvalues in ascending order.  work: n doubles.  PV_E_NUMERIC: a is not finite, or no convergence. */
pv_status pvi_eigen(int64_t n, double *a, double *value, double *work);
/* a = sum_k e_k v_k v_k', v_k the rows of V: the way back, with other eigenvalues. */
void pvi_from_eigen(int64_t n, const double *V, const double *e, double *a);
/* y = A x and y = A' x for row-major n x n. */
void pvi_matvec(int64_t n, const double *a, const double *x, double *y);
void pvi_matvec_t(int64_t n, const double *a, const double *x, double *y);
#endif
