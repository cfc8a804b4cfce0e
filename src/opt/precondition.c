/* precondition.c - coordinates in which the rows are as long in every direction as the noise is.
 *
 * Noise of equal size in all directions is right for rows of equal size in all directions.  Most tables are not like
 * that: columns within [0, 1] share their mean, so that rows are nearly parallel, and the differences between them
 * are small beside the noise.  A row's gradient is c x, so the same sum in other coordinates, with noise of equal
 * size there, is as private:
 * (1) M' = (1/n) sum_i x_i x_i'/R^2 + E is released once, for `share` of the budget (query_moments.c (1)); entries of
 *     E off the diagonal have standard deviation b, and ||E|| is about t = 2 b sqrt d.
 * (2) A = V (e + t)^(-1/2) V'/q,  e, V the eigenvalues of M' and their vectors: directions stronger than the noise
 *     are made equal.  The lowest eigenvalues, within t of their mean, are not distinguishable from noise: each is
 *     replaced by that mean, so that such directions are raised alike.  If the others have less than a third of the
 *     trace, the rows are about as long in every direction, nothing is to be gained, and the coordinates stay as they
 *     are.
 * (3) f = sum_k e_k/(e_k + t) is the mean of ||q A x||^2/R^2, the number of directions that are left.  q = k sqrt f:
 *     rows A x have norms of about R/k, are added with the bound of rows of norm R, and the few whose gradients are
 *     longer are clipped.  Noise costs less for a small k, clipping for a large one: k^2 = K0/a within [1, 9], a the
 *     noise of the whole run in a coordinate of the gradient by q A w for k = 1.  K0 = 3e-4 was chosen once, by the
 *     gaps of docs/results/trust-region.md.
 * (4) Steps are taken in v, w = A v: the gradient by v is A g, the Hessian A H A, and the penalty is added exactly.
 *     A v of length q/R changes a margin by about 1: that is the unit of `radius` and `reach`.
 * (5) A penalty that is concave in w_j^2 (non-convex, l2) lies below its tangent there, a parabola of curvature
 *     r'(w_j)/w_j: taken instead of r'', which may be negative, since A makes it steep where rows say little.
 * (6) Noise is called small beside the penalty if the penalty's steepest slope (at w_j = 3^(-1/2), for w^2/(1 +
 *     w^2)), times the root mean square of the rows of A, is ten times the noise of the whole run in a coordinate of
 *     the gradient.  The penalty is small beside the loss if all weights at their largest penalty pay less than a
 *     tenth of what the loss can change for a margin of 1: else most belong near 0, and should not be let go first.
 *
 * A is a function of a released value.  Each transformed row A x depends on one row of the table and on A, so that
 * later releases are what they were: sums of one clipped vector per row (adaptive composition). */
#include "opt/precondition.h"
#include "reg/reg.h"

static const double clip_trade = 3e-4; /* K0 */

enum { MOST_WEIGHTS = 512 }; /* of an eigendecomposition that is not felt */

bool pvi_precondition_fits(const pv_problem *p)
{
    return p->joint && p->joint->row_norm > 0.0 && p->d <= MOST_WEIGHTS;
}

pv_status pvi_precondition_init(pvi_precondition *m, bool on, const pv_problem *p, pv_arena *a)
{
    m->unit = 1.0;
    m->x = pv_arena_f64(a, p->d);
    if (!m->x) return PV_E_NOMEM;
    if (!on) return PV_OK;
    m->A = pv_arena_f64(a, p->d * p->d);
    m->V = pv_arena_f64(a, p->d * p->d);
    m->e = pv_arena_f64(a, p->d);
    m->work = pv_arena_f64(a, p->d);
    return m->A && m->V && m->e && m->work ? PV_OK : PV_E_NOMEM;
}

/* (2): what is not distinguishable from noise is replaced by its mean; false: that is most of it. */
static bool pool_low_eigenvalues(int64_t d, double *e, double t)
{
    int64_t low = 0;
    double sum = 0.0,
           rest = 0.0; /* e is ascending: the lowest are alike as long as they are within t of their mean */
    for (; low < d && e[low] <= t + fmax(sum, 0.0) / (double)(low + 1); low++) sum += e[low];
    for (int64_t k = low; k < d; k++) rest += e[k];
    for (int64_t k = 0; k < low; k++) e[k] = fmax(sum / (double)low, 0.0);
    return rest > 0.5 * sum;
}

/* (3): q, from the eigenvalues above t that M' has. */
static double typical_length(double noise, const pv_problem *p, const double *e, double t)
{
    double f = 0.0;
    for (int64_t k = 0; k < p->d; k++) f += fmax(e[k], 0.0) / (fmax(e[k], 0.0) + t);
    f = fmax(f, 1.0);
    const double a = noise * sqrt(f) / p->joint->row_norm;
    return sqrt(f) * (a > 0.0 ? fmin(fmax(sqrt(clip_trade / a), 1.0), 3.0) : 3.0);
}

/* (6) */
static bool noise_is_small(const pvi_precondition *m, double noise, const pv_problem *p)
{
    static const double steepest = 0.57735026918962576, far = 1e6;
    const double size = pvi_norm2(m->A, p->d * p->d);
    const double most = p->reg->value(p->reg_cfg, &far, 1) * (double)p->d;
    double slope = 0.0;
    p->reg->grad(p->reg_cfg, &steepest, &slope, 1);
    return slope * size / sqrt((double)p->d) > 10.0 * noise && most < 0.1 * p->C / p->joint->row_norm;
}

pv_status pvi_precondition_learn(pvi_precondition *m, const pvi_precondition_cost *cost, const pv_problem *p,
                                 pv_oracle *o, const double *w, double *v)
{
    const int64_t d = p->d;
    double *V = m->V, *e = m->e;
    memcpy(v, w, (size_t)d * sizeof *v);
    if (cost->events == 0) return PV_OK;
    pv_status st = pv_transform_reserve(o); /* before budget is spent to learn how to transform */
    if (st == PV_OK) st = pv_ask(o, cost->ask, NULL, (pv_spend) { cost->events, 1.0 }, V); /* (1) */
    if (st != PV_OK) return st;
    if ((st = pvi_eigen(d, V, e, m->work)) != PV_OK)
        return pvi_fail(p->ctx, st, "the noisy second moments have no eigendecomposition");
    const double b = p->planned[cost->ask].stddev / sqrt(2.0 * (double)cost->events);
    const double t = fmax(2.0 * sqrt((double)d) * b, 0x1p-20);
    if (!pool_low_eigenvalues(d, e, t)) {
        m->unit = 1.0 / p->joint->row_norm;
        m->A = NULL;
        return PV_OK;
    }
    const double q = typical_length(cost->noise, p, e, t);
    m->unit = q / p->joint->row_norm;
    for (int64_t k = 0; k < d; k++) e[k] = sqrt(fmax(e[k], 0.0) + t) * q; /* of the inverse of A */
    pvi_matvec(d, V, w, m->x);
    for (int64_t k = 0; k < d; k++) m->x[k] *= e[k], e[k] = 1.0 / e[k];
    pvi_matvec_t(d, V, m->x, v);
    pvi_from_eigen(d, V, e, m->A); /* (2) */
    m->continuation = !(p->reg->props & PV_CONVEX) && noise_is_small(m, cost->noise, p);
    return pv_transform_rows(o, m->A);
}

void pvi_precondition_weights(const pvi_precondition *m, int64_t d, const double *v, double *w)
{
    if (m->A) pvi_matvec(d, m->A, v, w); /* (4) */
    else memcpy(w, v, (size_t)d * sizeof *w);
}

void pvi_precondition_gradient(const pvi_precondition *m, const pv_problem *p, const double *w, double weight,
                               double *g)
{
    const int64_t d = p->d;
    double *c = m->x;
    memset(c, 0, (size_t)d * sizeof *c);
    p->reg->grad(p->reg_cfg, w, c, d);
    for (int64_t k = 0; k < d; k++)
        for (int64_t i = 0; i < d; i++) g[i] += weight * m->A[k * d + i] * c[k];
}

static void transform_penalty(const pvi_precondition *m, const pv_problem *p, const double *w, double weight,
                              double *g, double *H)
{
    const int64_t d = p->d;
    double *c = m->x;
    pvi_precondition_gradient(m, p, w, weight, g); /* leaves r'(w) in c */
    for (int64_t k = 0; k < d; k++) {              /* (5): A diag(r'/w) A; at 0 the limit is r'' */
        double curved = 0.0;
        if (w[k] == 0.0) p->reg->curv(p->reg_cfg, &w[k], &curved, 1);
        else curved = c[k] / w[k];
        for (int64_t i = 0; curved != 0.0 && i < d; i++) {
            const double x = weight * curved * m->A[k * d + i];
            for (int64_t j = 0; j < d; j++) H[i * d + j] += x * m->A[k * d + j];
        }
    }
}

void pvi_precondition_penalty(const pvi_precondition *m, const pv_problem *p, const double *w, double weight,
                              double *g, double *H)
{
    const int64_t d = p->d;
    if (m->A) {
        transform_penalty(m, p, w, weight, g, H);
        return;
    }
    memset(m->x, 0, (size_t)d * sizeof *m->x);
    p->reg->grad(p->reg_cfg, w, g, d);
    p->reg->curv(p->reg_cfg, w, m->x, d);
    for (int64_t i = 0; i < d; i++) H[i * d + i] += m->x[i];
}
