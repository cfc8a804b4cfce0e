/* stationarity.c - how far a point is from being stationary, from an exact gradient of the loss.
 *
 * F(x) = f(x) + r(x) over a set C; g = f'(x).  A smooth r without a proximal step counts as part of f.
 *   (1)  gradient norm             ||g + r'(x)||, for the whole space and a differentiable r
 *   (2)  projected gradient        ||x - x+|| / gamma,  x+ = argmin_{u in C} <g, u> + r(u) + D(u, x)/gamma,
 *        the generalised gradient mapping; D = ||u - x||^2/2 or the Bregman divergence of a mirror map
 *   (3)  Frank-Wolfe gap           max_{v in C} <v - x, -(g + r'(x))>, by the linear oracle; zero iff stationary
 *   (4)  lambda_min                smallest Ritz value t of at most KRYLOV Lanczos steps from a fixed start, every
 *        new vector made orthogonal to all earlier ones twice: never below lambda_min, and equal to it for
 *        d <= KRYLOV.  Its vector u has the residual ||A u - t u|| = beta_k |s_k|, s_k the last component of the
 *        eigenvector of the tridiagonal matrix: some eigenvalue lies within so much of t.  Memory is KRYLOV + 1
 *        vectors, whatever d.
 *
 * NOT PRIVATE.  Computed from an un-noised gradient, each of these numbers depends on the rows without any noise.
 * They are diagnostics that must be asked for and must be marked wherever they appear.
 *
 * Reference  Wang, Xu 2019, equations (2) and after Definition 9; Lacoste-Julien 2016 for the gap. */
#include "eval.h"
#include "core/eigen.h"
#include "reg/reg.h"

/* work <- g + r'(x) */
static void full_gradient(const pv_problem *p, const double *x, const double *g, double *work)
{
    memcpy(work, g, (size_t)p->d * sizeof *g);
    if (p->reg) pvi_penalty_grad(p, x, work);
}

double pvi_gradient_norm(const pv_problem *p, const double *x, const double *g, double *work)
{
    if (p->reg && !p->reg->grad) return NAN;
    full_gradient(p, x, g, work);
    return pvi_norm2(work, p->d); /* (1) */
}

double pvi_projected_gradient(const pv_problem *p, const pv_mirror_ops *mirror, double gamma, const double *x,
                              const double *g, double *work)
{
    double *next = work + p->d;
    memcpy(work, g, (size_t)p->d * sizeof *g);
    pv_reg_grad(p, x, work);
    memcpy(next, x, (size_t)p->d * sizeof *x);
    mirror->step(p, gamma, work, next);
    for (int64_t j = 0; j < p->d; j++) next[j] = x[j] - next[j];
    return pvi_norm2(next, p->d) / gamma; /* (2) */
}

double pvi_frank_wolfe_gap(const pv_problem *p, const double *x, const double *g, double *work)
{
    double *v = work + p->d;
    if (!p->set || !p->set->lmo || (p->reg && !p->reg->grad)) return NAN;
    full_gradient(p, x, g, work);
    p->set->lmo(p->set_st, p->set_cfg, work, v, p->d);
    for (int64_t j = 0; j < p->d; j++) v[j] = x[j] - v[j];
    return pvi_dot(v, work, p->d); /* (3) */
}

enum { KRYLOV = 60 };

static int64_t krylov(int64_t d)
{
    return d < KRYLOV ? d : KRYLOV;
}

int64_t pvi_lanczos_work(int64_t d)
{
    const int64_t k = krylov(d);
    return (k + 1) * d + k * k + 2 * k;
}

/* v <- v - Q Q'v, twice; returns its length. */
static double orthogonalize(int64_t d, int64_t k, const double *Q, double *v)
{
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < k; i++) {
            const double c = pvi_dot(Q + i * d, v, d);
            for (int64_t j = 0; j < d; j++) v[j] -= c * Q[i * d + j];
        }
    return pvi_norm2(v, d);
}

double pvi_lowest_eigenvalue(int64_t d, pvi_product product, void *arg, double *work, double *vector,
                             double *residual)
{
    const int64_t most = krylov(d);
    double *Q = work, *T = Q + (most + 1) * d, *value = T + most * most, beta = 0.0;
    int64_t k = 0;
    for (int64_t j = 0; j < d; j++) Q[j] = 1.0 + 0.5 * sin(3.0 * (double)j); /* no row is likely to be orthogonal */
    pvi_scale(Q, 1.0 / pvi_norm2(Q, d), d);
    memset(T, 0, (size_t)(most * most) * sizeof *T);
    while (k < most) { /* (4) */
        double *v = Q + (k + 1) * d;
        product(arg, Q + k * d, v);
        const double size = pvi_norm2(v, d), alpha = pvi_dot(Q + k * d, v, d);
        T[k * most + k] = alpha;
        k++;
        beta = orthogonalize(d, k, Q, v);
        if (k == most || !(beta > 1e-9 * size)) break;
        pvi_scale(v, 1.0 / beta, d);
        T[k * most + k - 1] = T[(k - 1) * most + k] = beta;
    }
    for (int64_t i = 0; i < k; i++) memmove(T + i * k, T + i * most, (size_t)k * sizeof *T);
    if (pvi_eigen(k, T, value, value + most) != PV_OK) return *residual = (double)NAN;
    memset(vector, 0, (size_t)d * sizeof *vector);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < d; j++) vector[j] += T[i] * Q[i * d + j];
    *residual = beta * fabs(T[k - 1]);
    return value[0];
}
