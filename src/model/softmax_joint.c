/* softmax_joint.c - gradient and Hessian of multi-class logistic regression in one pass.  Names as in softmax.c.
 *
 * A block of rows is first made what the model sees, x = fl(s (v, b)) with a bound on the norm of these floats
 * (row.c (3)); below, x is that and norm its bound.
 *
 * The Hessian of a row is S (x) x x' with S = diag(p) - p p', k x k blocks S_ab x x' of p x p.
 * (1) ||S||_F <= 1/2: with q = sum p_c^2, ||S||_F^2 = q - 2 sum p_c^3 + q^2, and q^2 <= sum p_c^3 (Cauchy-Schwarz
 *     on p^(1/2) p^(3/2)), so it is at most q - q^2 <= 1/4.  Hence K = R^2/2.
 * (2) Third derivative along a direction h: the third central moment of h_c under p.  h lies in an interval of length
 *     at most sqrt(2) ||h||, and on an interval of length 1 that moment is at most 1/(6 sqrt 3); so
 *     rho = 2^(3/2)/(6 sqrt 3) R^3.
 * (3) Positive semidefinite in floats: off the diagonal -w_ab, w_ab >= 0 the computed and scaled p_a p_b, and on it
 *     the sum of the w_ab of its row, rounded up.  A symmetric matrix whose diagonal is at least the sum of the
 *     absolute values beside it is positive semidefinite, and <S (x) x x', S' (x) x' x''> = tr(S S') <x, x'>^2 >= 0.
 * (4) Clipping: the float ||S||_F norm^2, raised for its own rounding, decides a factor for the w_ab.
 *     (k + 8)^2 2^-22 covers every rounding on the way.  B = (C^2 + s^2 K^2)^(1/2): nothing is shared.
 * (5) Units of several rows: G, the sum of the rows' gradients, and H, that of their Hessians, formed as floats
 *     (units.c (1)) with 2^60 for C and K; then f1 of units.c (2) for G with C, f2 for H, in the Frobenius norm, with
 *     K: the unit adds (f1 G, f2 H), of norm at most (C^2 + s^2 K^2)^(1/2) <= B.  Units of one row that count once
 *     are rows.
 * (6) H is semidefinite although it was rounded, as in glm_joint.c (8): each row's S is by (3), an entry of H is off
 *     by at most ((1 + u)^(m+2) - 1) sum of |S_ab x_i x_j| and 2^-148 m for underflow, m rows, so the whole by
 *     D = 1.07 (m + 3) u T + 2^-147 m k p, T = sum of ||S||_F norm^2 and m <= 2^20.  1.1 (m + 8) u T + 2^-146 m k p
 *     on the diagonal is more than D and the rounding of that addition.  A unit of more rows adds nothing.
 * Each block is summed as in glm_hess.c, row after row: (M2) and (M3) are those of its (3) and (4). */
#include "net_run.h"
#include "softmax_block.h"
#include "units.h"

#include <float.h>

typedef struct joint_block {
    soft_block *b;
    pvi_shown *seen; /* its rows as the model sees them */
    float *q;        /* k x PVI_SOFT_ROWS: coefficients of the gradient */
    float *z, *a;    /* logits, and a column of S */
    float *S;        /* k (k+1)/2 x PVI_SOFT_ROWS: blocks of the lower triangle */
    float *t;        /* PVI_SOFT_ROWS x padded p */
    float *G, *H;    /* sums of a unit */
    double traces;   /* T of (6) */
} joint_block;

static void bounds(const void *cfg, const pv_domain *dom, pv_joint *j)
{
    const double R = dom->row_norm;
    (void)cfg;
    j->hess = 0.5 * R * R;                              /* (1) */
    j->rho = sqrt(8.0) / (6.0 * sqrt(3.0)) * R * R * R; /* (2) */
    j->blocks = dom->classes;
    j->width = dom->p;
    j->convex = true;
}

static double norm(const void *cfg, const pv_domain *dom, const pv_joint *j)
{
    (void)cfg;
    (void)dom;
    return hypot(j->grad, j->scale * j->hess);
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static size_t soft_size(int64_t k)
{
    return whole_lines(sizeof(soft_block) + 2 * sizeof(float) * PVI_SOFT_ROWS * (size_t)k);
}

static int64_t triangle(int64_t n)
{
    return n * (n + 1) / 2;
}

static size_t rows_size(int64_t p, int64_t k)
{
    const int64_t columns = 2 * k + triangle(k);
    return whole_lines(soft_size(k) + sizeof(float) * PVI_SOFT_ROWS * (size_t)(columns + soft_pad(p)) +
                       pvi_shown_size(p) + whole_lines(sizeof(pvi_shown)));
}

static size_t scratch_size(const void *cfg, const pv_domain *dom)
{
    const int64_t k = dom->classes, p = dom->p, sums = soft_pad(k * p) + soft_pad(triangle(k) * triangle(p));
    (void)cfg;
    return rows_size(p, k) + (dom->unit_rows > 0 ? sizeof(float) * (size_t)sums : 0);
}

static double rounding(const void *cfg, int64_t m, int64_t d)
{
    (void)cfg;
    return pvi_glm_hess_rounding(m, d);
}

static joint_block open_block(const pvi_softmax_state *s, void *scratch)
{
    joint_block jb = { .b = scratch, .q = ((soft_block *)scratch)->z };
    jb.z = (float *)((char *)scratch + soft_size(s->k));
    jb.a = jb.z + s->k * PVI_SOFT_ROWS;
    jb.S = jb.a + s->k * PVI_SOFT_ROWS;
    jb.t = jb.S + s->k * (s->k + 1) / 2 * PVI_SOFT_ROWS;
    jb.seen = (pvi_shown *)(void *)(jb.t + PVI_SOFT_ROWS * soft_pad(s->p));
    pvi_shown_open(jb.seen, s->p, (char *)jb.seen + whole_lines(sizeof(pvi_shown)));
    jb.G = (float *)(void *)((char *)scratch + rows_size(s->p, s->k));
    jb.H = jb.G + soft_pad(s->k * s->p);
    return jb;
}

static float *entry(const joint_block *jb, int64_t a, int64_t b)
{
    return jb->S + (a > b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a) * PVI_SOFT_ROWS;
}

/* w_ab for b < a into S; NaN becomes 0. */
static void products(const pvi_softmax_state *s, const joint_block *jb)
{
    const int64_t n = jb->b->padded;
    for (int64_t b = 0; b + 1 < s->k; b++) {
        soft_dots(s, jb->b, &jb->seen->rows, jb->z);
        memset(jb->a, 0, sizeof(float) * PVI_SOFT_ROWS * (size_t)s->k);
        for (int64_t i = 0; i < n; i++) jb->a[b * PVI_SOFT_ROWS + i] = 1.0f;
        s->kernel->curvature(n, s->k, jb->z, jb->a); /* column b of S */
        for (int64_t a = b + 1; a < s->k; a++)
            for (int64_t i = 0; i < n; i++) {
                const float w = -jb->a[a * PVI_SOFT_ROWS + i];
                entry(jb, a, b)[i] = w > 0.0f && w <= 1.0f ? w : 0.0f;
            }
    }
}

/* The sum of the w_ab of row a of S, rounded up. */
static float diagonal(const joint_block *jb, int64_t k, int64_t a, int64_t i)
{
    float sum = 0.0f;
    for (int64_t b = 0; b < k; b++) sum += b == a ? 0.0f : fabsf(entry(jb, a, b)[i]);
    return sum * (1.0f + (float)(k + 4) * 0x1p-23f);
}

/* (4): the factor of row i's w_ab. */
static float shrink(const pvi_softmax_state *s, const pv_joint *j, const joint_block *jb, int64_t i)
{
    const float slack = (float)((s->k + 8) * (s->k + 8)) * 0x1p-22f, most = pvi_float_down(j->hess) * (1.0f - slack);
    const float norm2 = jb->b->norm[i] * jb->b->norm[i];
    float square = 0x1p-120f;
    for (int64_t a = 0; a < s->k; a++) {
        const float d = diagonal(jb, s->k, a, i);
        square += d * d;
        for (int64_t b = 0; b < a; b++) square += 2.0f * entry(jb, a, b)[i] * entry(jb, a, b)[i];
    }
    const float size = sqrtf(square) * norm2 * (1.0f + slack);
    if (size <= most) return 1.0f;
    const float f = most / size * (1.0f - slack);
    return f >= FLT_MIN && norm2 <= 0x1p60f ? f : 0.0f; /* NaN: 0 */
}

/* (3), (4): S of every row, blocks off the diagonal negative. */
static void curvatures(const pvi_softmax_state *s, const pv_joint *j, const joint_block *jb)
{
    products(s, jb);
    for (int64_t i = 0; i < jb->b->n; i++) {
        float row = 0.0f;
        for (int64_t a = 0; a < s->k; a++) row += fabsf(jb->q[a * PVI_SOFT_ROWS + i]);
        const float f = row > 0.0f ? shrink(s, j, jb, i) : 0.0f; /* an unusable row has no gradient: left out */
        for (int64_t a = 0; a < s->k; a++)
            for (int64_t b = 0; b < a; b++) entry(jb, a, b)[i] *= -f;
        for (int64_t a = 0; a < s->k; a++) entry(jb, a, a)[i] = diagonal(jb, s->k, a, i);
    }
}

static void add_blocks(const pvi_softmax_state *s, const joint_block *jb, float *h)
{
    const pvi_hess_kernel *kernel = pvi_hess_kernel_isa[pvi_isa()];
    const soft_block *b = jb->b;
    const int64_t ld = soft_pad(s->p), size = s->p * (s->p + 1) / 2;
    for (int64_t k = 0; k < s->k * (s->k + 1) / 2; k++) {
        const float *c = jb->S + k * PVI_SOFT_ROWS;
        if (jb->seen->rows.x) {
            kernel->scale(b->row, b->n, s->p, 0.0f, c, jb->t, ld);
            kernel->add(b->row, b->n, s->p, jb->t, ld, h + k * size);
        } else {
            kernel->csr_add(&jb->seen->rows, b->r, b->n, c, h + k * size);
        }
    }
}

/* ||S||_F norm^2 of the block's rows. */
static double traces(const pvi_softmax_state *s, const joint_block *jb)
{
    double sum = 0.0;
    for (int64_t i = 0; i < jb->b->n; i++) {
        double square = 0.0;
        for (int64_t a = 0; a < s->k; a++)
            for (int64_t b = 0; b <= a; b++) {
                const double w = (double)entry(jb, a, b)[i];
                square += (a == b ? 1.0 : 2.0) * w * w;
            }
        if (square > 0.0) sum += sqrt(square) * (double)jb->b->norm[i] * (double)jb->b->norm[i];
    }
    return sum;
}

static void sum_rows(const pvi_softmax_state *s, const pv_rows *rows, const pv_joint *j, float *g, float *h,
                     int64_t *n_bad, joint_block *jb)
{
    soft_block *b = jb->b;
    PVI_REQUIRE(!rows->start && j->grad >= PVI_CLIP_MIN && j->grad <= PVI_CLIP_MAX);
    PVI_REQUIRE(j->clip >= hypot(j->grad, j->scale * j->hess) * (1.0 - 0x1p-50));
    for (int64_t i = 0; i < rows->n; i += b->n) {
        soft_fill(b, rows, i);
        soft_labels(s, b, rows);
        soft_norms(b, rows);
        pvi_show(jb->seen, rows, b->n, b->row, b->r, b->norm);
        soft_dots(s, b, &jb->seen->rows, jb->q);
        *n_bad += s->kernel->coefficients(pvi_float_down(j->grad), b->padded, s->k, b->y, b->norm, NULL, jb->q);
        soft_add(s, b, &jb->seen->rows, jb->q, g);
        curvatures(s, j, jb);
        add_blocks(s, jb, h);
        if (h == jb->H) jb->traces += traces(s, jb);
    }
}

/* ---- units of several rows ------------------------------------------------------------------------------------ */

/* (6); then the square of the Frobenius norm of H. */
static double shift_diagonal(const pvi_softmax_state *s, const joint_block *jb, int64_t m)
{
    const pvi_net_kernel *vectors = pvi_net_kernel_isa[pvi_isa()];
    const int64_t size = triangle(s->p);
    const double more = 1.1 * ((double)m + 8.0) * 0x1p-24 * jb->traces + 0x1p-146 * (double)m * (double)(s->k * s->p);
    double total = 0.0;
    float *block = jb->H;
    for (int64_t a = 0; a < s->k; a++)
        for (int64_t b = 0; b <= a; b++, block += size) {
            double diagonal = 0.0;
            for (int64_t i = 0; i < s->p; i++) {
                float *const at = block + i * (i + 3) / 2;
                if (a == b && jb->traces > 0.0) *at += nextafterf((float)more, INFINITY);
                diagonal += (double)*at * (double)*at;
            }
            total += (a == b ? 1.0 : 2.0) * (2.0 * vectors->squares(block, size) - diagonal);
        }
    return total;
}

/* (5) */
static void sum_unit(const pvi_softmax_state *s, const pv_rows *units, int64_t i, const pv_joint *j, float *g,
                     float *h, int64_t *n_bad, joint_block *jb)
{
    const pvi_net_kernel *vectors = pvi_net_kernel_isa[pvi_isa()];
    const int64_t m = pvi_unit_size(units, i), d = s->k * s->p, size = triangle(s->k) * triangle(s->p);
    const pv_rows rows = pvi_rows_from(units, pvi_unit_start(units, i), m);
    pv_joint wide = *j;
    wide.grad = wide.hess = PVI_CLIP_MAX;
    wide.clip = INFINITY;
    if (m > 1 << 20) return; /* (6) */
    memset(jb->G, 0, sizeof *jb->G * (size_t)d);
    memset(jb->H, 0, sizeof *jb->H * (size_t)size);
    jb->traces = 0.0;
    sum_rows(s, &rows, &wide, jb->G, jb->H, n_bad, jb);
    const float f1 = pvi_unit_factor(vectors->squares(jb->G, d), d, j->grad, units, m);
    const float f2 = pvi_unit_factor(shift_diagonal(s, jb, m), 4 * size, j->hess, units, m);
    if (f1 != 0.0f) vectors->axpy(f1, jb->G, d, g);
    if (f2 != 0.0f) vectors->axpy(f2, jb->H, size, h);
}

static void sum(const void *st, const void *cfg, const pv_rows *rows, const pv_joint *j, float *g, float *h,
                int64_t *n_bad, void *scratch)
{
    const pvi_softmax_state *s = st;
    joint_block jb = open_block(s, scratch);
    int64_t room[PVI_SOFT_ROWS];
    (void)cfg;
    if (!rows->start) {
        sum_rows(s, rows, j, g, h, n_bad, &jb);
        return;
    }
    for (int64_t i = 0; i < rows->n;) {
        const pv_rows singles = pvi_single_rows(rows, i, PVI_SOFT_ROWS, room);
        if (singles.n > 0) sum_rows(s, &singles, j, g, h, n_bad, &jb);
        else sum_unit(s, rows, i, j, g, h, n_bad, &jb);
        i += singles.n > 0 ? singles.n : 1;
    }
}

const pv_hess_ops pvi_softmax_hess = {
    .bounds = bounds, .norm = norm, .scratch = scratch_size, .sum = sum, .rounding = rounding, .props = PV_UNITS
};
