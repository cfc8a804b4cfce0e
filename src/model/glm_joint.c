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
 * (6) Transformed rows A x are floats, made of x block by block in every pass, or once, with the same bits: each is a
 *     function of its row and A.  A sum of p squares in doubles, each product exact, bounds the norm of these floats
 *     with relative error below p 2^-53.  What a row contributes is
 *     then clipped by that bound, as any row's, whatever its length; one longer than 2^30 becomes zeros:
 *     precondition.c keeps ||A|| below 2^10, so that of rows within R this is one in 2^20 R, and x 2^-149 stays
 *     within the underflow counted above.
 * (7) Units of several rows: G = sum of c1 x and H = sum of c2 x x' over the unit's k rows, formed as floats
 *     (units.c (1)), the coefficients bounded as in (3) with 2^60 for C, K and B.  Then f1 of units.c (2) for G with
 *     C, and f2 for H, in the Frobenius norm, with the smaller of K and (B^2 - f1^2 ||G||^2)^(1/2) / s; the unit
 *     adds (f1 G, f2 H).  M1 to M3 are those of units.c: where units count by their rows, f1 and f2 have a factor
 *     b <= 1, and f1^2 ||G||^2 + b^2 (B^2 - f1^2 ||G||^2) <= B^2.  Units of one row that count once are rows.
 * (8) H is semidefinite although it was rounded: an entry is off by at most ((1 + u)^(k+2) - 1) sum of c2 |x_a x_b|
 *     and 2^-148 k for underflow, so the whole, in the Frobenius norm, by D = 1.07 (k + 3) u T + 2^-147 k p, T = sum
 *     of c2 norm^2 and k <= 2^20.  1.1 (k + 8) u T + 2^-146 k p, added to the diagonal of a convex loss, is more
 *     than D and the rounding of that addition, so that H is above a sum of semidefinite matrices.  A unit of more
 *     rows adds nothing.
 * (9) Second moments of a unit: the mean of its rows' (5), formed, shifted and clipped to 1 likewise, whatever
 *     unit.combine and unit.weight say: they only choose coordinates.
 * Rounding (M2): errors are relative to each coordinate, so (3) of glm_hess.c holds for the whole vector with B for
 * clip (the gradient's coordinates have one rounding less).  Order (M3): row after row in both parts; a row with
 * c1 = c2 = 0 leaves no trace. */
#include "glm_block.h"
#include "net_run.h"
#include "units.h"

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
    const size_t sums = (size_t)(block_pad(dom->p) + block_pad(dom->p * (dom->p + 1) / 2));
    (void)cfg;
    return pvi_glm_hess_scratch(dom->p) + (dom->unit_rows > 0 ? sums * sizeof(float) : 0);
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
    hb->z = hb->t + HESS_ROWS * block_pad(p);
    pvi_shown_open(&hb->seen, p, hb->z + HESS_ROWS * block_pad(p));
    hb->traces = 0.0;
    return hb;
}

/* (6): an upper bound of the norm of p floats whose squares have this sum. */
static float norm_above(double sum, int64_t p)
{
    const double up = sqrt(sum) * (1.0 + ((double)p + 16.0) * 0x1p-52);
    const float near = (float)(up * (1.0 + 0x1p-23)); /* (1 + 2u)(1 - u) > 1, for normal floats */
    return !(up <= 0x1p30) ? -1.0f : near < FLT_MIN ? FLT_MIN : near;
}

/* (6): what is seen becomes A times it. */
static void transform_block(hess_block *hb)
{
    const pvi_hess_kernel *kernel = pvi_hess_kernel_isa[pvi_isa()];
    glm_block *b = &hb->b;
    pv_rows *rows = &hb->seen.rows;
    const int64_t ld = block_pad(rows->p);
    double sum[HESS_ROWS];

    if (rows->x) kernel->transform(b->row, b->n, rows->p, rows->A, ld, hb->z);
    else kernel->csr_transform(rows, b->r, b->n, rows->A, ld, hb->z);
    kernel->squares(hb->z, b->n, ld, sum);
    for (int64_t i = 0; i < b->n; i++) {
        float *const z = hb->z + i * ld;
        b->norm[i] = b->norm[i] >= 0.0f ? norm_above(sum[i], rows->p) : -1.0f;
        if (!(b->norm[i] >= 0.0f)) memset(z, 0, sizeof *z * (size_t)rows->p);
        b->row[i] = z;
    }
    rows->x = hb->z;
    rows->ptr = NULL;
    b->ahead = 0;
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
    if (rows->A) transform_block(hb);
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

static void sum_rows(const pvi_glm_state *s, const pvi_glm_cfg *cfg, const pv_rows *rows, const pv_joint *j, float *g,
                     float *h, int64_t *n_bad, hess_block *hb)
{
    const pvi_hess_kernel *kernel = pvi_hess_kernel_isa[pvi_isa()];
    const pv_rows as_seen = { .bound = INFINITY };
    const pvi_clip k[2] = { pvi_glm_clip(s, cfg, &as_seen, j->grad), pvi_glm_hess_clip(s, cfg, j->hess) };
    glm_block *b = &hb->b;

    for (int64_t i = 0; i < rows->n; i += b->n) {
        see_block(hb, rows, i);
        coefficients(s, cfg, j, k, hb, n_bad);
        if (hb->seen.rows.x) s->kernel->add(b->row, b->n, rows->p, 0.0f, b->c, b->ahead, g);
        else s->kernel->csr_add(&hb->seen.rows, b->r, b->n, b->c, g);
        add_squares(kernel, hb, h);
        for (int64_t r = 0; r < b->n; r++) hb->traces += fabs((double)hb->c2[r]) * (double)hb->norm2[r];
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

static void moment_rows(const pv_rows *rows, double row_norm, float *h, int64_t *n_bad, hess_block *hb)
{
    const pvi_hess_kernel *kernel = pvi_hess_kernel_isa[pvi_isa()];
    const glm_block *b = &hb->b;

    for (int64_t i = 0; i < rows->n; i += b->n) {
        see_block(hb, rows, i);
        moment_coefficients(row_norm, hb, n_bad);
        add_squares(kernel, hb, h);
        for (int64_t r = 0; r < b->n; r++) hb->traces += (double)hb->c2[r] * (double)b->norm[r] * (double)b->norm[r];
    }
}

/* ---- units of several rows ------------------------------------------------------------------------------------ */

typedef struct unit_sums { /* behind the block in a thread's scratch */
    float *g, *h;
    int64_t p, size; /* of h */
} unit_sums;

static unit_sums clear_sums(hess_block *hb, int64_t p)
{
    unit_sums u = { .p = p, .size = p * (p + 1) / 2 };
    u.g = (float *)(void *)((char *)hb + pvi_glm_hess_scratch(p));
    u.h = u.g + block_pad(p);
    memset(u.g, 0, sizeof *u.g * (size_t)p);
    memset(u.h, 0, sizeof *u.h * (size_t)u.size);
    hb->traces = 0.0;
    return u;
}

/* (8); then the square of the Frobenius norm of H. */
static double shift_diagonal(const unit_sums *u, bool convex, double traces, int64_t k)
{
    const double more = 1.1 * ((double)k + 8.0) * 0x1p-24 * traces + 0x1p-146 * (double)k * (double)u->p;
    double diagonal = 0.0;
    for (int64_t a = 0; a < u->p; a++) {
        float *const at = u->h + a * (a + 3) / 2;
        if (convex && traces > 0.0) *at += nextafterf((float)more, INFINITY);
        diagonal += (double)*at * (double)*at;
    }
    return 2.0 * pvi_net_kernel_isa[pvi_isa()]->squares(u->h, u->size) - diagonal;
}

/* (7) */
static void sum_unit(const pvi_glm_state *s, const pvi_glm_cfg *cfg, const pv_rows *units, int64_t i,
                     const pv_joint *j, float *g, float *h, int64_t *n_bad, hess_block *hb)
{
    const pvi_net_kernel *vectors = pvi_net_kernel_isa[pvi_isa()];
    const int64_t size = pvi_unit_size(units, i), p = units->p;
    const pv_rows rows = pvi_rows_from(units, pvi_unit_start(units, i), size);
    const unit_sums u = clear_sums(hb, p);
    pv_joint wide = *j;
    wide.grad = wide.hess = PVI_CLIP_MAX;
    wide.clip = INFINITY;
    if (size > 1 << 20) return; /* (8) */
    sum_rows(s, cfg, &rows, &wide, u.g, u.h, n_bad, hb);
    const double g2 = vectors->squares(u.g, p), h2 = shift_diagonal(&u, j->convex, hb->traces, size);
    const float f1 = pvi_unit_factor(g2, p, j->grad, units, size);
    const double a = (double)f1 * sqrt(g2) * (1.0 + 0x1p-30), left = (j->clip - a) * (j->clip + a);
    const double room = left > 0.0 ? sqrt(left) / j->scale * (1.0 - 0x1p-30) : 0.0;
    const float f2 = pvi_unit_factor(h2, 2 * u.size, room < j->hess ? room : j->hess, units, size);
    if (f1 != 0.0f) vectors->axpy(f1, u.g, p, g);
    if (f2 != 0.0f) vectors->axpy(f2, u.h, u.size, h);
}

static void sum(const void *st, const void *cfg, const pv_rows *rows, const pv_joint *j, float *g, float *h,
                int64_t *n_bad, void *scratch)
{
    hess_block *hb = open_block(scratch, rows->p);
    int64_t room[HESS_ROWS];
    if (!rows->start) {
        sum_rows(st, cfg, rows, j, g, h, n_bad, hb);
        return;
    }
    for (int64_t i = 0; i < rows->n;) {
        const pv_rows singles = pvi_single_rows(rows, i, HESS_ROWS, room);
        if (singles.n > 0) sum_rows(st, cfg, &singles, j, g, h, n_bad, hb);
        else sum_unit(st, cfg, rows, i, j, g, h, n_bad, hb);
        i += singles.n > 0 ? singles.n : 1;
    }
}

/* (9) */
static void moment_unit(const pv_rows *units, int64_t i, double row_norm, float *h, int64_t *n_bad, hess_block *hb)
{
    const int64_t size = pvi_unit_size(units, i);
    const pv_rows rows = pvi_rows_from(units, pvi_unit_start(units, i), size);
    const unit_sums u = clear_sums(hb, units->p);
    if (size > 1 << 20) return; /* (8) */
    moment_rows(&rows, row_norm, u.h, n_bad, hb);
    const double h2 = shift_diagonal(&u, true, hb->traces, size);
    const float f = pvi_unit_factor(h2, 2 * u.size, 1.0, units, size);
    if (f != 0.0f) pvi_net_kernel_isa[pvi_isa()]->axpy(f, u.h, u.size, h);
}

static void moment(const pv_rows *rows, double row_norm, float *h, int64_t *n_bad, void *scratch)
{
    hess_block *hb = open_block(scratch, rows->p);
    int64_t room[HESS_ROWS];
    if (!rows->start) {
        moment_rows(rows, row_norm, h, n_bad, hb);
        return;
    }
    pv_rows means = *rows; /* (9) */
    means.unit_combine = PV_UNIT_MEAN;
    means.unit_weight = PV_UNIT_ONE;
    for (int64_t i = 0; i < rows->n;) {
        const pv_rows singles = pvi_single_rows(&means, i, HESS_ROWS, room);
        if (singles.n > 0) moment_rows(&singles, row_norm, h, n_bad, hb);
        else moment_unit(&means, i, row_norm, h, n_bad, hb);
        i += singles.n > 0 ? singles.n : 1;
    }
}

static void transform(const pv_rows *rows, float *x, int64_t ld, float *norm, void *scratch)
{
    hess_block *hb = open_block(scratch, rows->p);
    const glm_block *b = &hb->b;

    for (int64_t first = 0; first < rows->n; first += b->n) {
        see_block(hb, rows, first);
        for (int64_t i = 0; i < b->n; i++) {
            memcpy(x + (first + i) * ld, b->row[i], sizeof *x * (size_t)rows->p);
            norm[first + i] = b->norm[i];
        }
    }
}

const pv_hess_ops pvi_glm_hess = { .bounds = bounds,
                                   .norm = norm,
                                   .scratch = scratch_size,
                                   .sum = sum,
                                   .rounding = rounding,
                                   .moment = moment,
                                   .transform = transform,
                                   .props = PV_UNITS };
