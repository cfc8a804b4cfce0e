/* glm_hess.c - second derivatives of generalised linear models.  Names as in glm.c.
 *
 * Rows are here the floats x that the model sees, bias included, and norm is a bound on the norm of these (row.c
 * (3)): what is stored may be so large that the square of its norm is not a float.
 *
 * The Hessian of a row is c x x' with c = y^2 phi''(m) (margin; y^2 = 1) or phi''(m) (residual): symmetric of
 * rank one, so its Frobenius norm is |c| ||x||^2.
 * (1) Sums are held as the lower triangle, row after row: h[a (a+1)/2 + b], b <= a; d = p (p+1)/2 numbers.
 * (2) Clipping: |c| norm^2 <= clip.  The float norm^2 is raised by a factor 1 + 2^-21 to lie above the exact
 *     square; then (2)-(4) of glm.c apply with norm^2 for norm and phi'' for phi'.  Nothing is clipped if
 *     clip >= sup|phi''| R^2.
 * (3) Rounding.  An entry is fl(S + fl(x_a t)), t = fl(c x_b), one rounding more per row than a gradient:
 *     E_k <= (1 + u) E_{k-1} + u (k + 2 + 3u) clip, so
 *     E_m <= u (1 + u)^(m+3) m (m + 5)/2 clip + m p 2^-88 clip (underflow),
 *     in the Frobenius norm of the symmetric matrix, since every entry's error is relative to that entry.
 * (4) Matrix rows are summed data row after data row, as gradients are: (M3) holds.
 * glm_joint.c adds them up, in one pass with the gradient. */
#include "glm_block.h"

extern const pvi_hess_kernel PVI_DECLARE_ISA(pvi_hess_kernel);
const pvi_hess_kernel *const pvi_hess_kernel_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_hess_kernel);

size_t pvi_glm_hess_scratch(int64_t p)
{
    return sizeof(hess_block) + 2 * sizeof(float) * HESS_ROWS * (size_t)block_pad(p) + pvi_shown_size(p);
}

double pvi_glm_hess_rounding(int64_t m, int64_t p)
{
    const double u = 0x1p-24, rows = (double)m;
    const double sum = u * pow(1.0 + u, rows + 3.0) * rows * (rows + 5.0) / 2.0; /* (3) */
    return pv_up((sum + rows * (0x1p-49 + (double)p * 0x1p-88)) * (1.0 + 0x1p-40), 4);
}

pvi_clip pvi_glm_hess_clip(const pvi_glm_state *s, const pvi_glm_cfg *cfg, double clip)
{
    const double square = s->row_norm * s->row_norm;
    double sup[3];
    pvi_loss_sup(cfg->loss, cfg->loss_cfg, sup);
    PVI_REQUIRE((clip >= PVI_CLIP_MIN && clip <= PVI_CLIP_MAX) || clip == (double)INFINITY);
    double safe = clip >= sup[1] * square ? square * (1.0 + 0x1p-20) : pvi_down(clip / sup[1], 1); /* (2) */
    if (isinf(clip)) safe = INFINITY;
    return (pvi_clip) { .clip = pvi_float_down(clip), .safe = pvi_float_down(safe), .top = pvi_float_down(sup[1]) };
}
