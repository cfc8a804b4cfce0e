/* softmax.c - multi-class logistic regression.
 *
 *   W      k x p weights, class after class: w[c p + j]   z = W x   logits
 *   v, b   a stored row and the bias; norm >= ||(v, b)||, x = s (v, b): row.c
 *   p_c    e^(z_c) / sum_b e^(z_b)                          e_y      unit vector of the label
 *   u      2^-24
 * (1) l(W; x, y) = -log p_y = log sum_c e^(z_c - z_y);  gradient (p - e_y) x', a k x p matrix of rank one, so
 *     its Frobenius norm is ||p - e_y|| ||x|| exactly and clipping scales k numbers.
 * (2) With the largest logit subtracted all exponents are <= 0.  The label's own entry is
 *     -(sum over the other classes)/(sum over all), which keeps its relative precision when p_y is near 1.
 *
 * Constants: ||p - e_y||^2 = (1 - p_y)^2 + sum_{c != y} p_c^2 <= 2 (1 - p_y)^2 <= 2, so G = sqrt(2) R; the
 * Hessian in z is diag(p) - p p' with largest eigenvalue at most 1/2 (a row's absolute sum is
 * 2 p_c (1 - p_c) <= 1/2), so L = R^2/2.  Convex.
 *
 * Clipping (M1).  What is added is f q (v, b)' with one float f, at most the gain s.  q = p - e_y as floats, S the
 * float sum of squares plus 2^-120 (above all underflow), computed with k fused steps, so
 * sqrt(S) >= ||q|| (1 - (k + 3) u/2).  f is the smaller of s and fl(fl(t / sqrt(S)) / norm), 0 where the latter is
 * below the normal floats, with
 * (3) t = clip' (1 - (k + 16) u), clip' <= clip a float.
 *     t / sqrt(S) is within 2^-62 .. 2^121, and a second quotient above all floats is above s: the roundings of
 *     square root, quotients, and of the coefficients f q_c are one u each, those of t three, in all at most
 *     (k + 3) u/2 + 7 u < (k + 16) u.  An f q_c below the normal floats, where u does not bound the rounding and a
 *     long row would blow it up, becomes 0.  So ||f q|| norm <= clip in exact arithmetic, for rows of any length.
 *     Rows with a NaN logit, an unknown label or an infinite norm add zero and are counted.
 * Hessian times V, a = V x, as a k x p matrix:
 * (4) (diag(p) - p p') a x',  so row c is p_c (a_c - sum_b p_b a_b) x'.
 * Rounding (M2) and zero rows (M3) are those of glm.c: every coordinate of the sum is its own sequence of
 * multiply-adds over the rows, (5) there holds for any d. */
#include "softmax_block.h"
#include "units.h"

#include <float.h>

extern const pvi_softmax_kernel PVI_DECLARE_ISA(pvi_softmax_kernel);
const pvi_softmax_kernel *const pvi_softmax_kernel_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_softmax_kernel);

static int64_t dim(const void *cfg, const pv_domain *dom)
{
    (void)cfg;
    return dom->p * dom->classes;
}

static size_t scratch_size(const void *cfg, const pv_domain *dom, int64_t max_rows)
{
    (void)cfg;
    (void)max_rows;
    return sizeof(soft_block) + sizeof(float) * PVI_SOFT_ROWS * (size_t)dom->classes +
           (dom->unit_rows > 0 ? pvi_softmax_units_scratch(dom->p, dom->classes) : 0);
}

static pv_status begin(void *st, const void *cfg, const pv_domain *dom, const double *w, int64_t number, pv_arena *a)
{
    pvi_softmax_state *s = st;
    (void)cfg, (void)number;

    if (dom->classes < 2 || dom->classes > 1 << 20) return PV_E_UNSUPPORTED;
    if (!s->w || !s->wt || s->p != dom->p || s->k != dom->classes) {
        s->p = dom->p;
        s->k = dom->classes;
        s->ldw = soft_pad(s->p);
        s->ldt = soft_pad(s->k);
        s->w = pv_arena_get(a, sizeof *s->w * (size_t)(s->k * s->ldw));
        s->wt = pv_arena_get(a, sizeof *s->wt * (size_t)(s->p * s->ldt));
        if (!s->w || !s->wt) return PV_E_NOMEM;
    }
    int32_t odd = 0;
    for (int64_t c = 0; c < s->k; c++)
        for (int64_t j = 0; j < s->p; j++) {
            const float f = (float)w[c * s->p + j];
            s->w[c * s->ldw + j] = f;
            odd |= !(fabsf(f) <= FLT_MAX);
        }
    if (odd) return PV_E_NUMERIC;
    for (int64_t j = 0; j < s->p; j++)
        for (int64_t c = 0; c < s->k; c++) s->wt[j * s->ldt + c] = s->w[c * s->ldw + j];
    s->kernel = pvi_softmax_kernel_isa[pvi_isa()];
    s->max_norm = dom->max_norm;
    return PV_OK;
}

static void grad_sum(const void *st, const void *cfg, const pv_rows *rows, double clip, float *g, int64_t *n_bad,
                     void *scratch)
{
    const pvi_softmax_state *s = st;
    soft_block *b = scratch;
    (void)cfg;

    PVI_REQUIRE((clip >= PVI_CLIP_MIN && clip <= PVI_CLIP_MAX) || clip == (double)INFINITY);
    if (rows->start) {
        pvi_softmax_units_sum(s, rows, clip, g, n_bad, scratch);
        return;
    }
    for (int64_t i = 0; i < rows->n; i += b->n) {
        soft_fill(b, rows, i);
        const float *gain = soft_logits(s, b, rows, b->z);
        soft_labels(s, b, rows);
        *n_bad += s->kernel->coefficients(pvi_float_down(clip), b->padded, s->k, b->y, b->norm, gain, b->z);
        soft_add(s, b, rows, b->z, g);
    }
}

static double rounding(const void *cfg, int64_t m, int64_t d)
{
    (void)cfg;
    return pvi_sum_rounding(m, d);
}

static double row_loss(const float *z, int64_t k, int64_t y)
{
    double top = -INFINITY, sum = 0.0;
    for (int64_t c = 0; c < k; c++) top = fmax(top, (double)z[c * PVI_SOFT_ROWS]);
    for (int64_t c = 0; c < k; c++) sum += exp((double)z[c * PVI_SOFT_ROWS] - top);
    return log(sum) + top - (double)z[y * PVI_SOFT_ROWS];
}

static double value_sum(const void *st, const void *cfg, const pv_rows *rows, void *scratch)
{
    const pvi_softmax_state *s = st;
    soft_block *b = scratch;
    double sum = 0.0;
    (void)cfg;

    for (int64_t i = 0; i < rows->n; i += b->n) {
        soft_fill(b, rows, i);
        soft_logits(s, b, rows, b->z);
        soft_labels(s, b, rows);
        for (int64_t j = 0; j < b->n; j++)
            if (b->y[j] >= 0.0f && b->y[j] < (float)s->k) sum += row_loss(b->z + j, s->k, (int64_t)b->y[j]);
    }
    return sum;
}

static int64_t outputs(const void *cfg, const pv_domain *dom)
{
    (void)cfg;
    return dom->classes == 2 ? 1 : dom->classes;
}

/* Two classes: the margin of the second; otherwise all logits. */
static void row_scores(const float *z, int64_t k, float *score)
{
    if (k == 2) *score = z[PVI_SOFT_ROWS] - z[0];
    else
        for (int64_t c = 0; c < k; c++) score[c] = z[c * PVI_SOFT_ROWS];
}

static void predict(const void *st, const void *cfg, const pv_rows *rows, float *score, void *scratch)
{
    const pvi_softmax_state *s = st;
    soft_block *b = scratch;
    (void)cfg;

    for (int64_t i = 0; i < rows->n; i += b->n) {
        soft_fill(b, rows, i);
        soft_logits(s, b, rows, b->z);
        for (int64_t j = 0; j < b->n; j++) row_scores(b->z + j, s->k, score + (i + j) * (s->k == 2 ? 1 : s->k));
    }
}

static void constants(const void *cfg, const pv_domain *dom, double *G, double *L)
{
    (void)cfg;
    *G = sqrt(2.0) * dom->row_norm;
    *L = 0.5 * dom->row_norm * dom->row_norm;
}

const pv_model_ops pv_model_softmax = {
    .head = { .name = "softmax",
              .summary = "multi-class logistic regression, labels 0 .. k-1",
              .reference = "Cox 1966; Bohning 1992 (curvature)",
              .state_size = sizeof(pvi_softmax_state),
              .params = pv_no_params },
    .props = PV_CONVEX | PV_SMOOTH | PV_LIPSCHITZ | PV_HESSIAN | PV_CLASSIFY | PV_FOR_MANY | PV_LINEAR | PV_UNITS,
    .dim = dim,
    .scratch = scratch_size,
    .begin = begin,
    .grad_sum = grad_sum,
    .rounding = rounding,
    .value_sum = value_sum,
    .outputs = outputs,
    .predict = predict,
    .constants = constants,
    .hess = &pvi_softmax_hess,
};
