/* svec.h - symmetric matrices as vectors, for queries that sum them.
 *
 * svec lists the lower triangle, entries off the diagonal times sqrt 2, so that its length is the Frobenius norm.  A
 * matrix of blocks x blocks symmetric blocks lists the blocks of the lower triangle, each as its own lower triangle;
 * blocks off the diagonal count once more, times another sqrt 2.  Factors are floats not above the true ones.  A
 * diagonal passes one float multiplication more than the rest. */
#ifndef PVI_SVEC_H
#define PVI_SVEC_H
#include "query/query.h"

static inline int64_t svec_triangle(int64_t n)
{
    return n * (n + 1) / 2;
}
static inline int64_t svec_length(const pv_joint *j)
{
    return svec_triangle(j->blocks) * svec_triangle(j->width);
}
/* A block's entries are multiplied by this, after those on its diagonal were by the other. */
static inline float svec_factor(const pv_joint *j, bool diagonal_block)
{
    static const double root2 = 1.4142135623730950; /* just below */
    if (j->plain) return pvi_float_down(j->scale);
    return pvi_float_down(j->scale * root2 * (diagonal_block ? 1.0 : root2));
}
static inline float svec_diagonal(const pv_joint *j)
{
    return j->plain ? 1.0f : 0x1.6a09e6p-1f; /* below 1 / sqrt 2 */
}
/* sum += svec of the float blocks h, times the scale, on the grid; h is overwritten. */
static inline void svec_add(const pv_joint *j, float *h, double spacing, int64_t *sum)
{
    const int64_t p = j->width, size = svec_triangle(p);
    const float diagonal = svec_diagonal(j);
    for (int64_t a = 0; a < j->blocks; a++)
        for (int64_t b = 0; b <= a; b++, h += size, sum += size) {
            for (int64_t r = 0; r < p; r++) h[r * (r + 3) / 2] *= diagonal;
            pvi_grid_add_times(h, svec_factor(j, a == b), spacing, sum, size);
        }
}
/* H (d x d) += share times the matrix whose svec, times the scale, is v. */
static inline void svec_unpack(const pv_joint *j, const double *v, double share, double *H)
{
    const int64_t p = j->width, d = j->blocks * p;
    for (int64_t a = 0; a < j->blocks; a++)
        for (int64_t b = 0; b <= a; b++) {
            const double f = 1.0 / (double)svec_factor(j, a == b);
            for (int64_t r = 0; r < p; r++)
                for (int64_t c = 0; c <= r; c++, v++) {
                    const double x = *v * share * f / (r == c ? (double)svec_diagonal(j) : 1.0);
                    H[(a * p + r) * d + b * p + c] += x;
                    if (r != c) H[(a * p + c) * d + b * p + r] += x;
                    if (a != b) H[(b * p + c) * d + a * p + r] += x;
                    if (a != b && r != c) H[(b * p + r) * d + a * p + c] += x;
                }
        }
}
#endif
