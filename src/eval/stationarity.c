/* stationarity.c - how far a point is from being stationary, from an exact gradient of the loss.
 *
 * F(x) = f(x) + r(x) over a set C; g = f'(x).  A smooth r without a proximal step counts as part of f.
 *   (1)  gradient norm             ||g + r'(x)||, for the whole space and a differentiable r
 *   (2)  projected gradient        ||x - x+|| / gamma,  x+ = argmin_{u in C} <g, u> + r(u) + D(u, x)/gamma,
 *        the generalised gradient mapping; D = ||u - x||^2/2 or the Bregman divergence of a mirror map
 *   (3)  Frank-Wolfe gap           max_{v in C} <v - x, -(g + r'(x))>, by the linear oracle; zero iff stationary
 *
 * NOT PRIVATE.  Computed from an un-noised gradient, each of these numbers depends on the rows without any noise.
 * They are diagnostics that must be asked for and must be marked wherever they appear.
 *
 * Reference  Wang, Xu 2019, equations (2) and after Definition 9; Lacoste-Julien 2016 for the gap. */
#include "eval.h"
#include "reg/reg.h"

/* work <- g + r'(x) */
static void full_gradient(const pv_problem *p, const double *x, const double *g, double *work)
{
    memcpy(work, g, (size_t)p->d * sizeof *g);
    if (p->reg) p->reg->grad(p->reg_cfg, x, work, p->d);
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
