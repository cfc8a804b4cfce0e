/* glm_double.c - gradients of losses of one number in double, with an error that is known at every point.
 *
 * glm.c promises what a float sum is off by at one point.  A method that follows unreleased gradients from point to
 * point (query/query_descent.c) needs more: the function that is followed must be convex and smooth but for an error
 * far below what one row in n can change.
 *
 *   z, s, norm   stored row with the bias, its gain, its float norm (row.c): x = s z, ||x|| <= s norm <= R
 *   m            y <w,x> for a margin loss, <w,x> - y otherwise, y cut to its declared bounds |y| <= Y
 *   C, t         bound on a row's gradient; t = fl(C / (s norm)) (1 - 2^-50) rounded: a number of the row alone
 *   u            2^-53
 *
 * (1) Row by row, psi(w) has the gradient c(m) x, c = clamp(phi'(m), -t, t) (times y for a margin loss).  phi is
 *     convex, so phi' and with it c does not decrease in m, and c changes by at most sup phi'' |dm| as phi' does: psi
 *     is convex, L-smooth with L = sup phi'' R^2, and ||c x|| <= t s norm <= C.  Clipping the gradient of a loss of
 *     one number is taking the gradient of another convex loss (Song, Steinke, Thakkar, Thakurta 2021, Lemma 5.1).
 *     The exact clamp has no part in the error: t is what it is.
 * (2) A row adds nothing, at any w, if x = 0, norm is negative, s = 0, or its label is not a number, or not in
 *     [-1, 1] for a margin loss.
 * (3) Let ||w|| <= V.  Products and sums of m in any order: |dm| <= 1.01 (p + 6) u (R V + Y).
 * (4) phi' is within 2^-48 (max(1, |phi'|) + sup phi'') of the truth (slot `slope`).  Where |phi'| <= 1.01 t, so
 *     is c; elsewhere the clamp leaves at most 2^-48 (1 + sup phi'') of it.  As t ||x|| <= C,
 *     |dc| ||x|| <= sup phi'' |dm| R + 2^-48 (R + 2 C + sup phi'' R).
 * (5) c s z_j in two products, up to GLM_DOUBLE_ROWS of them added one after the other, then rounded to multiples of
 *     h; sparse rows are rounded one by one.  With the mean made of it, in two more products: at most
 *     1.01 (GLM_DOUBLE_ROWS + 8) u C + h sqrt(p) on the mean.  h = 2^(ceil(log2(n C)) - 61): sums stay below 2^62 h.
 * (6) The computed mean of n gradients is within e = (4) + (5) of the exact one of (1), at every w with ||w|| <= V,
 *     for every table.  2^-500 pays for underflow.  By (5) alone its norm is at most 1.005 C, at any w, since the
 *     computed c is clamped too, and n sqrt(p) < 2^50. */
#include "model.h"

double pvi_glm_double_grid(double clip, int64_t n)
{
    int e;
    frexp((double)n * clip, &e); /* n C < 2^e */
    return ldexp(1.0, e - 61);   /* (5) */
}

double pvi_glm_double_error(const pvi_glm_double *at, const pv_domain *dom, double V)
{
    double sup[3];
    const double p = (double)dom->p, R = dom->row_norm, C = at->clip, u = 0x1p-53;
    pvi_loss_sup(at->cfg->loss, at->cfg->loss_cfg, sup);
    const double dm = 1.01 * (p + 6.0) * u * (R * V + at->y_most);                   /* (3) */
    const double dc = sup[1] * dm * R + 0x1p-48 * (R + 2.0 * C + sup[1] * R);        /* (4) */
    const double sums = 1.01 * (GLM_DOUBLE_ROWS + 8.0) * u * C + at->grid * sqrt(p); /* (5) */
    return pv_up((dc + sums + 0x1p-500) * (1.0 + 0x1p-40), 4);                       /* (6) */
}

static double dot(const pv_rows *rows, int64_t r, const double *w)
{
    enum { LANES = 4 };
    const int64_t q = pvi_stored(rows);
    double s[LANES] = { rows->bias != 0.0f ? (double)rows->bias * w[q] : 0.0 };
    if (rows->x) {
        const float *x = rows->x + r * rows->ld;
        int64_t j = 0;
        for (; j + LANES <= q; j += LANES)
            for (int k = 0; k < LANES; k++) s[k] += (double)x[j + k] * w[j + k];
        for (; j < q; j++) s[0] += (double)x[j] * w[j];
    } else {
        for (int64_t e = rows->ptr[r]; e < rows->ptr[r + 1]; e++) s[0] += (double)rows->val[e] * w[rows->idx[e]];
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* c s of (1): the coefficient of the stored row. */
static double coefficient(const pvi_glm_double *at, const pv_rows *rows, int64_t r, const double *w)
{
    const pv_loss_ops *loss = at->cfg->loss;
    const bool margin = loss->props & PV_MARGIN;
    const float norm = rows->norm[r];
    const double y = (double)rows->y[r], s = norm > 0.0f ? (double)pvi_gain(rows, norm) : 0.0;
    if (!(s > 0.0) || isnan(y) || (margin && !(fabs(y) <= 1.0))) return 0.0; /* (2) */
    const double t = at->clip / (s * (double)norm) * (1.0 - 0x1p-50), score = s * dot(rows, r, w);
    const double m = margin ? y * score : score - fmin(fmax(y, -at->y_most), at->y_most);
    const double c = fmin(fmax(loss->slope(at->cfg->loss_cfg, m), -t), t); /* (1) */
    return (margin ? y * c : c) * s;
}

static void add_sparse(const pv_rows *rows, int64_t r, double a, double inverse, int64_t *sum)
{
    for (int64_t e = rows->ptr[r]; e < rows->ptr[r + 1]; e++)
        sum[rows->idx[e]] += llrint(a * (double)rows->val[e] * inverse);
    if (rows->bias != 0.0f) sum[rows->p - 1] += llrint(a * (double)rows->bias * inverse);
}

static void add_dense(const pv_rows *rows, int64_t r, double a, double *g)
{
    const int64_t q = pvi_stored(rows);
    const float *x = rows->x + r * rows->ld;
    for (int64_t j = 0; j < q; j++) g[j] += a * (double)x[j];
    if (rows->bias != 0.0f) g[q] += a * (double)rows->bias;
}

void pvi_glm_double_add(const pvi_glm_double *at, const pv_rows *rows, const double *w, int64_t first, int64_t n,
                        double *g, int64_t *sum)
{
    const double inverse = 1.0 / at->grid;
    PVI_REQUIRE(n <= GLM_DOUBLE_ROWS && !rows->pick && !rows->start && isfinite(rows->bound));
    if (rows->x) memset(g, 0, sizeof *g * (size_t)rows->p);
    for (int64_t r = first; r < first + n; r++) {
        const double a = coefficient(at, rows, r, w);
        if (a == 0.0) continue;
        if (rows->x) add_dense(rows, r, a, g);
        else add_sparse(rows, r, a, inverse, sum);
    }
    for (int64_t j = 0; rows->x && j < rows->p; j++) sum[j] += llrint(g[j] * inverse); /* (5) */
}
