/* glm.c - generalised linear models: the loss of a row is phi(m), a function of one number.
 *
 *   w      weights, a float copy during a query        p      columns
 *   v, b   a stored row, any finite floats, and the bias; z = (v, b)
 *   norm   float stored with the row, norm >= ||z||     s      gain of the row: x = s z (row.c)
 *   m      y <w,x> for a margin loss, <w,x> - y otherwise, <w,x> = s <w,z>
 *   c      coefficient: the gradient of a row is c x, with c = y phi'(m) or c = phi'(m), times the factor, at most 1,
 *          that the loss may have for the row's class
 *   a      coefficient of the stored row, a = fl(c s) clipped: what is added is a z
 *   R      declared bound on the norms of the x         u      2^-24, half the spacing of floats at 1
 *
 * One block of rows at a time goes through three steps while it is in the first-level cache: dot products,
 * phi' of all margins, sum of a_i z_i.  Neither per-row gradients nor scaled rows ever exist.
 *
 * Clipping (M1).  The norm of what a row adds is |a| ||z||, so clipping it bounds |a|, by the norm of the stored row:
 * (1) |a| norm <= clip.  The gain has no part in it.
 * (2) Where s = 1 and sup|phi'| norm <= clip nothing needs clipping: the bound is sup|phi'| itself, as the largest
 *     float below it.  In particular no row with s = 1 is clipped if clip >= sup|phi'| R.  The products and quotients
 *     here are doubles; a norm above clip by their rounding (a factor of 1 + 2^-51) is counted under (5).
 * (3) Elsewhere the bound is t = fl(fl(clip' / norm) (1 - 4u)) with clip' <= clip a float.  Two roundings
 *     each raise by a factor of at most 1 + u, and (1 + u)^2 (1 - 4u) < 1: t norm <= clip in exact arithmetic, for
 *     every norm, also one below the normal floats.  A t below the normal floats, where u does not bound the
 *     rounding, becomes 0, so a row longer than 2^126 clip adds nothing; one above all floats is no bound, and a
 *     stays finite. For s < 1 this costs |c| at most 6u: a row at the bound R whose |phi'| is within 6u of clip / R
 *     is the only one that notices.
 * (4) A row whose m or c is not finite, or whose norm is negative, infinite or NaN, gets a = 0 and is counted.
 *     (A margin of +-inf with a finite phi' is a row like any other.)
 * Hence the exact vector a z of every row, a as computed and z as stored, has norm at most clip.
 *
 * Rounding (M2).  Let s_k = a_1 z_1 + ... + a_k z_k exactly, S_k as computed from S_0 = 0 by
 * S_k = fl(S_{k-1} + fl(a_k z_k)) in every coordinate (a fused multiply-add lacks the inner rounding), and
 * E_k = ||S_k - s_k||.  Coordinate errors are at most u times the coordinate, so norms behave alike:
 *     E_k <= E_{k-1} + u clip + u (||S_{k-1}|| + (1 + u) clip) <= (1 + u) E_{k-1} + u (k + 1 + u) clip,
 * because ||S_{k-1}|| <= (k-1) clip + E_{k-1}.  Unrolled:
 * (5) E_m <= u (1 + u)^(m+1) m (m + 3)/2 clip,
 *     a factor of two below m gamma_m, and independent of the dimension.  Underflow adds at most 2^-149 per
 *     row and coordinate, so m sqrt(d) 2^-149 <= m sqrt(d) 2^-89 clip, given clip >= 2^-60; (2) adds m 2^-50.
 * Only the products a z_j enter, and |a z_j| <= clip <= 2^60: they do not overflow however large z is, and where a
 * or z_j is below the normal floats the product is off by u relative or 2^-150, as any other.
 * g must be zero on entry for the bound to hold.  The floating-point environment is the default one.
 *
 * Zero rows (M3).  Coordinates are summed row after row, never in a tree: a row with a z = 0 leaves every
 * S_k as it was (a sum of -0, which only underflow can give, may become +0: the same number).  The value of each m
 * and a depends on its own row only, not on its place in the block.
 *
 * (6) Constants: a row's gradient has norm at most sup|phi'| R =: G, the loss is L-smooth with
 *     L = sup|phi''| R^2.
 * Reference for (5): Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2. */
#include "glm_block.h"
#include "units.h"

extern const pvi_glm_kernel PVI_DECLARE_ISA(pvi_glm_kernel);
const pvi_glm_kernel *const pvi_glm_kernel_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_glm_kernel);

float pvi_float_down(double x)
{
    const float f = (float)x;
    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

double pvi_sum_rounding(int64_t m, int64_t d)
{
    const double u = 0x1p-24, rows = (double)m;
    const double sum = u * pow(1.0 + u, rows + 1.0) * rows * (rows + 3.0) / 2.0; /* (5) */
    return pv_up((sum + rows * (0x1p-50 + sqrt((double)d) * 0x1p-89)) * (1.0 + 0x1p-40), 4);
}

void pvi_loss_sup(const pv_loss_ops *loss, const void *cfg, double sup[3])
{
    sup[0] = loss->sup1;
    sup[1] = loss->sup2;
    sup[2] = loss->sup3;
    if (loss->sup) loss->sup(cfg, sup);
}

static int64_t dim(const void *cfg, const pv_domain *dom)
{
    (void)cfg;
    return dom->p;
}

static size_t scratch_size(const void *cfg, const pv_domain *dom, int64_t max_rows)
{
    (void)cfg;
    (void)max_rows;
    return sizeof(glm_block) + (dom->unit_rows > 0 ? pvi_glm_units_scratch(dom->p) : 0);
}

static pv_status begin(void *st, const void *cfg, const pv_domain *dom, const double *w, int64_t number, pv_arena *a)
{
    pvi_glm_state *s = st;
    (void)cfg, (void)number;

    if (s->room < dom->p) {
        const int64_t room = (dom->p + GLM_PAD - 1) / GLM_PAD * GLM_PAD;
        s->w = pv_arena_get(a, sizeof *s->w * (size_t)room);
        s->room = s->w ? room : 0;
        if (!s->w) return PV_E_NOMEM;
    }
    for (int64_t j = 0; j < dom->p; j++) {
        s->w[j] = (float)w[j];
        if (!isfinite(s->w[j])) return PV_E_NUMERIC;
    }
    for (int64_t j = dom->p; j < s->room; j++) s->w[j] = 0.0f;
    s->kernel = pvi_glm_kernel_isa[pvi_isa()];
    s->row_norm = dom->row_norm;
    s->max_norm = dom->max_norm;
    return PV_OK;
}

pvi_clip pvi_glm_clip(const pvi_glm_state *s, const pvi_glm_cfg *cfg, const pv_rows *rows, double clip)
{
    double sup[3];
    pvi_loss_sup(cfg->loss, cfg->loss_cfg, sup);
    PVI_REQUIRE((clip >= PVI_CLIP_MIN && clip <= PVI_CLIP_MAX) || clip == (double)INFINITY);
    double safe = clip >= sup[0] * s->row_norm ? s->row_norm : pvi_down(clip / sup[0], 1); /* (2) */
    if (isinf(clip)) safe = INFINITY;
    safe = rows->unit ? 0.0 : fmin(safe, (double)rows->bound); /* s = 1 up to there */
    return (pvi_clip) { .clip = pvi_float_down(clip), .safe = pvi_float_down(safe), .top = pvi_float_down(sup[0]) };
}

static void grad_sum(const void *st, const void *cfg, const pv_rows *rows, double clip, float *g, int64_t *n_bad,
                     void *scratch)
{
    const pvi_glm_state *s = st;
    const pvi_clip k = pvi_glm_clip(s, cfg, rows, clip);
    glm_block *b = scratch;

    if (rows->start) {
        pvi_glm_units_sum(s, cfg, rows, clip, g, NULL, n_bad, scratch);
        return;
    }
    for (int64_t i = 0; i < rows->n; i += b->n) {
        block_fill(b, rows, i, PVI_GLM_ROWS);
        block_coefs(s, cfg, &k, b, rows, n_bad);
        if (rows->x) s->kernel->add(b->row, b->n, pvi_stored(rows), rows->bias, b->c, b->ahead, g);
        else s->kernel->csr_add(rows, b->r, b->n, b->c, g);
    }
}

/* CSR only.  A product of two floats is exact in double, and spacing is a power of two: only the rounding of each
 * entry to the grid is left. */
static void grid_sum(const void *st, const void *cfg, const pv_rows *rows, double clip, double spacing, int64_t *sum,
                     int64_t *n_bad, void *scratch)
{
    const pvi_glm_state *s = st;
    const pvi_clip k = pvi_glm_clip(s, cfg, rows, clip);
    const double inverse = 1.0 / spacing;
    glm_block *b = scratch;

    if (rows->start) {
        const pvi_grid_to grid = { inverse, sum };
        pvi_glm_units_sum(s, cfg, rows, clip, NULL, &grid, n_bad, scratch);
        return;
    }
    for (int64_t i = 0; i < rows->n; i += b->n) {
        block_fill(b, rows, i, PVI_GLM_ROWS);
        block_coefs(s, cfg, &k, b, rows, n_bad);
        for (int64_t j = 0; j < b->n; j++) {
            for (int64_t e = rows->ptr[b->r[j]]; e < rows->ptr[b->r[j] + 1]; e++)
                sum[rows->idx[e]] += llrint((double)b->c[j] * (double)rows->val[e] * inverse);
            if (rows->bias != 0.0f) sum[rows->p - 1] += llrint((double)b->c[j] * (double)rows->bias * inverse);
        }
    }
}

static double rounding(const void *cfg, int64_t m, int64_t d)
{
    (void)cfg;
    return pvi_sum_rounding(m, d);
}

static double value_sum(const void *st, const void *cfg, const pv_rows *rows, void *scratch)
{
    const pvi_glm_cfg *c = cfg;
    glm_block *b = scratch;
    double sum = 0.0;

    for (int64_t i = 0; i < rows->n; i += b->n) {
        block_fill(b, rows, i, PVI_GLM_ROWS);
        block_products(st, b, rows);
        block_gather(b, rows, rows->y, b->y);
        block_margins(c, b);
        c->loss->eval(c->loss_cfg, b->padded, b->m, b->c, NULL, NULL);
        block_weigh(c, b, b->c);
        for (int64_t j = 0; j < b->n; j++) sum += (double)b->c[j];
    }
    return sum;
}

static int64_t outputs(const void *cfg, const pv_domain *dom)
{
    (void)cfg;
    (void)dom;
    return 1;
}

static void predict(const void *st, const void *cfg, const pv_rows *rows, float *score, void *scratch)
{
    glm_block *b = scratch;
    (void)cfg;

    for (int64_t i = 0; i < rows->n; i += b->n) {
        block_fill(b, rows, i, PVI_GLM_ROWS);
        block_products(st, b, rows);
        memcpy(score + i, b->m, sizeof *score * (size_t)b->n);
    }
}

static void constants(const void *cfg, const pv_domain *dom, double *G, double *L)
{
    const pvi_glm_cfg *c = cfg;
    double sup[3];
    pvi_loss_sup(c->loss, c->loss_cfg, sup);
    *G = sup[0] * dom->row_norm; /* (6) */
    *L = sup[1] * dom->row_norm * dom->row_norm;
}

const pv_model_ops pv_model_glm = {
    .head = { .name = "glm",
              .summary = "generalised linear model: a loss of the margin or of the residual",
              .reference = "Nelder, Wedderburn 1972",
              .cfg_size = sizeof(pvi_glm_cfg),
              .state_size = sizeof(pvi_glm_state),
              .params = pv_no_params },
    .props = PV_OF_LOSSES | PV_UNITS,
    .dim = dim,
    .scratch = scratch_size,
    .begin = begin,
    .grad_sum = grad_sum,
    .rounding = rounding,
    .value_sum = value_sum,
    .outputs = outputs,
    .predict = predict,
    .constants = constants,
    .grid_sum = grid_sum,
    .hess = &pvi_glm_hess,
};
