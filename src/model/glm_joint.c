/* glm_joint.c - gradient and Hessian of generalised linear models in one pass, clipped together.
 *
 * A block of rows is first made what the model sees, x = fl(s (v, b)) with a bound on the norm of these floats
 * (row.c (3)), which costs p products a row beside the p^2 to come; below, x is that and norm its bound.
 *
 * A row contributes v = (c1 x, s svec(c2 x x')), c1 = y phi'(m) and c2 = phi''(m) (glm.c, glm_hess.c), so
 * (1) ||v||^2 = c1^2 ||x||^2 + s^2 c2^2 ||x||^4.
 *
 * The first derivative is large where the second is small (a logistic loss has phi'' = |phi'| (1 - |phi'|)), so (1)
 * stays well below C^2 + s^2 K^2: with p = |phi'| and R = 1 it is p^2 (1 + s^2 (1 - p)^2), whose derivative is
 * 2p (1 + s^2 (1 - p)(1 - 2p)) >= 2p (1 - s^2/8).  For s^2 <= 8 the largest value is that of p = 1: the Hessian adds
 * nothing to the sensitivity of the gradient alone.  For the sigmoid loss, with u = |phi'| <= 1/4 and
 * phi''^2 = u^2 (1 - 4u), the same holds for s^2 <= 2.
 * (2) B = the largest value of (1), found on a grid of margins when phi'' varies slowly enough for the grid, else
 *     (C^2 + s^2 K^2)^(1/2).  Privacy does not rest on it:
 * (3) clipping enforces ||c1 x|| <= C, ||c2 x x'|| <= K as in glm.c and glm_hess.c, and then
 *     |c2| norm^2 <= (B^2 - c1^2 norm^2)^(1/2) / s: the Hessian gets the room the gradient leaves.
 *     In floats: a = |c1| norm (1 + 4u) >= |c1| norm; the bound is fl(sqrt((B' - a)(B' + a)) / (s' norm2)) (1 - 16u),
 *     B' <= B and s' >= s floats; its seven roundings raise it by less than 16u.  Bounds below the normal floats are
 *     0.
 * (4) Convex losses: c2 below 0, which only rounding can give, becomes 0; hence <c2 x x', c2' x' x''> >= 0.
 * (5) Second moments (query_moments.c): a row adds c x x', c = 1/R^2; rows have norms up to R, and in case one has
 *     more, c is cut so that |c| norm^2 <= 1, rounding as in (3).
 * (6) Transformed rows A x are stored as floats, bias and gain applied, with a bound on the norm of these floats: a
 *     sum of p squares in doubles, each product exact, has relative error below p 2^-53.  What a row contributes is
 *     then clipped by that bound, as any row's, whatever its length; one longer than 2^30 becomes zeros:
 *     precondition.c keeps ||A|| below 2^10, so that of rows within R this is one in 2^20 R, and x 2^-149 stays
 *     within the underflow counted above.
 * Rounding (M2): errors are relative to each coordinate, so (3) of glm_hess.c holds for the whole vector with B for
 * clip (the gradient's coordinates have one rounding less).  Order (M3): row after row in both parts; a row with
 * c1 = c2 = 0 leaves no trace. */
#include "glm_block.h"

#include <float.h>

static void bounds(const void *cfg_, const pv_domain *dom, pv_joint *j)
{
    const pvi_glm_cfg *cfg = cfg_;
    const double R = dom->row_norm;
    double sup[3];
    pvi_loss_sup(cfg->loss, cfg->loss_cfg, sup);
    j->hess = sup[1] * R * R;
    j->rho = sup[2] * R * R * R;
    j->blocks = 1;
    j->width = dom->p;
    j->row_norm = R;
    j->convex = cfg->loss->props & PV_CONVEX;
}

/* (1) for a row of norm R with these derivatives after clipping. */
static double row_norm(const pv_joint *j, double R, double d1, double d2)
{
    return hypot(fmin(fabs(d1) * R, j->grad), j->scale * fmin(fabs(d2) * R * R, j->hess));
}

static double norm(const void *cfg_, const pv_domain *dom, const pv_joint *j)
{
    enum { HALF = 8192 };
    static const double reach = 60.0;
    const pvi_glm_cfg *cfg = cfg_;
    const double apart = hypot(j->grad, j->scale * j->hess);
    double sup[3], most = 0.0;
    float m[16], d1[16], d2[16];

    pvi_loss_sup(cfg->loss, cfg->loss_cfg, sup);
    if (!(sup[2] * reach / HALF <= 0.05 * sup[1]) || !(cfg->loss->props & PV_CLASSIFY)) return apart; /* (2) */
    for (int i = -HALF; i < HALF; i += 16) {
        for (int k = 0; k < 16; k++) m[k] = (float)(reach * (i + k) / HALF);
        cfg->loss->eval(cfg->loss_cfg, 16, m, NULL, d1, d2);
        for (int k = 0; k < 16; k++) most = fmax(most, row_norm(j, dom->row_norm, (double)d1[k], (double)d2[k]));
    }
    return fmin(apart, fmax(most * (1.0 + 1e-5), j->grad));
}

static size_t scratch_size(const void *cfg, const pv_domain *dom)
{
    (void)cfg;
    return pvi_glm_hess_scratch(dom->p);
}

static double rounding(const void *cfg, int64_t m, int64_t d)
{
    (void)cfg;
    return pvi_glm_hess_rounding(m, d);
}

/* (3), (4): the coefficients of x x' within the room that those of x leave. */
static void share_room(const pv_joint *j, hess_block *hb)
{
    const glm_block *b = &hb->b;
    const float top = pvi_float_down(j->clip), s = nextafterf((float)j->scale, INFINITY);
    const bool tight = j->clip < hypot(j->grad, j->scale * j->hess) * (1.0 + 1e-12);
    for (int64_t i = 0; j->convex && i < b->padded; i++) hb->c2[i] = hb->c2[i] > 0.0f ? hb->c2[i] : 0.0f;
    if (!tight) return;
    for (int64_t i = 0; i < b->padded; i++) { /* without branches, so that vectors can do it */
        const float a = fabsf(b->c[i]) * b->norm[i] * (1.0f + 0x1p-22f), size = fabsf(hb->c2[i]);
        const float left = (top - a) * (top + a), room = left > 0.0f ? left : 0.0f;
        const float share = sqrtf(room) / (s * hb->norm2[i]) * (1.0f - 0x1p-20f);
        const float most = share >= FLT_MIN ? share : 0.0f; /* a norm of 0 gives infinity: no bound, or NaN: 0 */
        hb->c2[i] = copysignf(size <= most ? size : most, hb->c2[i]);
    }
}

static hess_block *open_block(void *scratch, int64_t p)
{
    hess_block *hb = scratch;
    pvi_shown_open(&hb->seen, p, hb->t + HESS_ROWS * block_pad(p));
    return hb;
}

/* Rows first .. of the view as the model sees them: hb->seen.rows, norms and places in hb->b. */
static void see_block(hess_block *hb, const pv_rows *rows, int64_t first)
{
    glm_block *b = &hb->b;
    block_fill(b, rows, first, HESS_ROWS);
    block_gather(b, rows, rows->y, b->y);
    block_gather(b, rows, rows->norm, b->norm);
    pvi_show(&hb->seen, rows, b->n, b->row, b->r, b->norm);
    if (b->row[0] == hb->seen.x && b->ahead > 0) b->ahead = 0; /* what is used next is not that far from the copy */
}

/* Both coefficients of the block's rows. */
static void coefficients(const pvi_glm_state *s, const pvi_glm_cfg *cfg, const pv_joint *j, const pvi_clip k[2],
                         hess_block *hb, int64_t *n_bad)
{
    glm_block *b = &hb->b;
    const bool margin = cfg->loss->props & PV_MARGIN;
    block_dots(s->kernel, b, &hb->seen.rows, s->w);
    block_margins(cfg, b);
    cfg->loss->eval(cfg->loss_cfg, b->padded, b->m, NULL, b->c, hb->c2);
    *n_bad += s->kernel->clip(&k[0], b->padded, b->m, b->norm, margin ? b->y : NULL, NULL, b->c);
    for (int64_t i = 0; i < b->padded; i++) {
        hb->norm2[i] = b->norm[i] < 0.0f ? -1.0f : b->norm[i] * b->norm[i] * (1.0f + 0x1p-21f);
        if (margin) hb->c2[i] *= b->y[i] * b->y[i];
    }
    s->kernel->clip(&k[1], b->padded, b->m, hb->norm2, NULL, NULL, hb->c2);
    share_room(j, hb);
}

/* h += sum of c2 x x' over the block. */
static void add_squares(const pvi_hess_kernel *kernel, hess_block *hb, float *h)
{
    const glm_block *b = &hb->b;
    const pv_rows *rows = &hb->seen.rows;
    if (rows->x) {
        kernel->scale(b->row, b->n, rows->p, 0.0f, hb->c2, hb->t, block_pad(rows->p));
        kernel->add(b->row, b->n, rows->p, hb->t, block_pad(rows->p), h);
    } else {
        kernel->csr_add(rows, b->r, b->n, hb->c2, h);
    }
}

static void sum(const void *st, const void *cfg, const pv_rows *rows, const pv_joint *j, float *g, float *h,
                int64_t *n_bad, void *scratch)
{
    const pvi_glm_state *s = st;
    const pvi_hess_kernel *kernel = pvi_hess_kernel_isa[pvi_isa()];
    const pv_rows as_seen = { .bound = INFINITY };
    const pvi_clip k[2] = { pvi_glm_clip(s, cfg, &as_seen, j->grad), pvi_glm_hess_clip(s, cfg, j->hess) };
    hess_block *hb = open_block(scratch, rows->p);
    glm_block *b = &hb->b;

    for (int64_t i = 0; i < rows->n; i += b->n) {
        see_block(hb, rows, i);
        coefficients(s, cfg, j, k, hb, n_bad);
        if (rows->x) s->kernel->add(b->row, b->n, rows->p, 0.0f, b->c, b->ahead, g);
        else s->kernel->csr_add(&hb->seen.rows, b->r, b->n, b->c, g);
        add_squares(kernel, hb, h);
    }
}

/* (5) */
static void moment_coefficients(double row_norm, hess_block *hb, int64_t *n_bad)
{
    glm_block *b = &hb->b;
    const float all = pvi_float_down(1.0 / (row_norm * row_norm));
    for (int64_t i = 0; i < b->n; i++) {
        const float norm = b->norm[i], norm2 = norm * norm * (1.0f + 0x1p-21f);
        const float share = 1.0f / norm2 * (1.0f - 0x1p-20f);
        const bool good = norm >= 0.0f && norm <= FLT_MAX;
        hb->c2[i] = !good || share < FLT_MIN ? 0.0f : share < all ? share : all;
        *n_bad += !good;
    }
}

static void moment(const pv_rows *rows, double row_norm, float *h, int64_t *n_bad, void *scratch)
{
    const pvi_hess_kernel *kernel = pvi_hess_kernel_isa[pvi_isa()];
    hess_block *hb = open_block(scratch, rows->p);
    const glm_block *b = &hb->b;

    for (int64_t i = 0; i < rows->n; i += b->n) {
        see_block(hb, rows, i);
        moment_coefficients(row_norm, hb, n_bad);
        add_squares(kernel, hb, h);
    }
}

/* (6): an upper bound of the norm of the floats x. */
static float norm_above(const float *x, int64_t p)
{
    double sum = 0.0;
    for (int64_t j = 0; j < p; j++) sum += (double)x[j] * (double)x[j];
    const double up = sqrt(sum) * (1.0 + ((double)p + 16.0) * 0x1p-52);
    return up <= 0x1p30 ? nextafterf((float)up, INFINITY) : -1.0f;
}

static void transform(const pv_rows *rows, const float *A, int64_t lda, float *x, int64_t ld, float *norm,
                      void *scratch)
{
    const pvi_glm_kernel *kernel = pvi_glm_kernel_isa[pvi_isa()];
    hess_block *hb = open_block(scratch, rows->p);
    glm_block *b = &hb->b;

    for (int64_t first = 0; first < rows->n; first += b->n) {
        float *to = x + first * ld;
        see_block(hb, rows, first);
        for (int64_t k = 0; k < rows->p; k++) {
            block_dots(kernel, b, &hb->seen.rows, A + k * lda);
            for (int64_t i = 0; i < b->n; i++) to[i * ld + k] = b->m[i];
        }
        for (int64_t i = 0; i < b->n; i++) {
            float *const r = to + i * ld, up = b->norm[i] >= 0.0f ? norm_above(r, rows->p) : -1.0f;
            norm[first + i] = up;
            if (!(up >= 0.0f)) memset(r, 0, sizeof *r * (size_t)rows->p);
        }
    }
}

const pv_hess_ops pvi_glm_hess = { .bounds = bounds,
                                   .norm = norm,
                                   .scratch = scratch_size,
                                   .sum = sum,
                                   .rounding = rounding,
                                   .moment = moment,
                                   .transform = transform };
