/* hidden.c - privacy of the LAST iterate of noisy gradient descent on smooth convex problems.
 *
 *   x <- Pi(x - eta (g(x) + Z)),  Z ~ N(0, (z a)^2 I),
 * where g is the average gradient of the batch, changing one row moves it by at most a, and Pi is an
 * exact projection on a convex set (of diameter D, if bounded).  The averaged loss is M-smooth and
 * m-strongly convex, c = max(|1 - eta m|, |1 - eta M|).  Composition gives mu = sqrt(t)/z for t full
 * batches and sqrt(E)/z for E passes over l batches in a fixed order.  If only the last iterate
 * leaves, contraction hides the past (Bok, Su, Altschuler, ICML 2024, section 4):
 *   (1) full batch, m > 0     mu = (1/z) sqrt((1-c^t)/(1+c^t) (1+c)/(1-c)) (attained by a quadratic)
 *   (2) cyclic, m > 0         mu = (1/z) sqrt(1 + c^{2l-2} (1-c^2)/(1-c^l)^2 (1-c^{l(E-1)})/(1+c^{l(E-1)}))
 *   (3) full batch, D < inf   mu = (1/z) sqrt(3 k + ceil(k)),  k = D/(eta a)
 *   (4) cyclic, D < inf       mu = (1/z) sqrt(1 + (3 k + ceil(k))/l)
 * Each is reported only when smaller than composition; several may apply and the smallest counts.
 *
 * This is not an event accountant: an event does not know step sizes, curvature or what leaves the
 * run.  The caller states them, and every condition is a field that must be set, so that a caller who has
 * not thought about one does not get the number.
 * Gates  eta <= 2/M; only the last iterate leaves (no checkpoint, metric, or stopping rule computed
 *   on rows); no clipping active (a clipped gradient need not contract); exact projection; batches
 *   in the same order in every pass.  Otherwise: PV_E_UNSUPPORTED with the condition's name, and
 *   composition is the answer. */
#include "acct.h"

static pv_status not_met(pv_ctx *ctx, const char *condition)
{
    return pvi_fail(ctx, PV_E_UNSUPPORTED, "hidden-state accounting does not apply: %s", condition);
}

static pv_status gates(pv_ctx *ctx, const pvi_hidden *h)
{
    const double constants[] = { h->z, h->eta, h->smooth, h->strong, h->shift };
    for (int i = 0; i < 5; i++) {
        const pv_status s = pvi_within(ctx, PVI_RANGE_CONSTANT, constants[i]);
        if (s != PV_OK) return s;
    }
    if (h->diameter < INFINITY && !pvi_in_range(PVI_RANGE_CONSTANT, h->diameter))
        return pvi_within(ctx, PVI_RANGE_CONSTANT, h->diameter);
    if (!(h->z > 0 && h->eta > 0 && h->smooth > 0 && h->strong >= 0 && h->strong <= h->smooth && h->shift > 0 &&
          h->diameter > 0 && h->batches >= 1 && h->passes >= 1))
        return pvi_fail(ctx, PV_E_ARG, "hidden-state accounting: a constant is missing or out of range");
    if (!(h->eta * h->smooth <= 2.0)) return not_met(ctx, "the step is longer than 2/M");
    if (!h->last_iterate_only) return not_met(ctx, "more than the last iterate leaves the run");
    if (!h->no_clipping) return not_met(ctx, "clipping may be active");
    if (!h->exact_projection) return not_met(ctx, "the projection is not exact");
    if (!h->fixed_order) return not_met(ctx, "batches are not taken in a fixed order");
    return PV_OK;
}

/* 1 - c^n for c = 1 - gap, without cancellation. */
static double fall(double gap, double n)
{
    return n > 0 ? -expm1(n * log1p(-gap)) : 0.0;
}

/* mu^2 z^2 by (1) or (2); gap = 1 - c in (0, 1]. */
static double contracted(double gap, double l, double passes)
{
    const double c = 1.0 - gap;
    if (l == 1.0) return fall(gap, passes) / (2.0 - fall(gap, passes)) * (1.0 + c) / gap; /* (1) */
    const double past = fall(gap, l * (passes - 1.0)), epoch = fall(gap, l);
    const double left = exp((2.0 * l - 2.0) * log1p(-gap)); /* c^{2l-2}; the rounding of c itself would grow with l */
    return 1.0 + left * (gap / epoch) * (1.0 + c) * (past / epoch) / (2.0 - past); /* (2) */
}

/* (3) or (4) */
static double bounded(double k, double l)
{
    const double sum = 3.0 * k + ceil(k);
    return l == 1.0 ? sum : 1.0 + sum / l;
}

pv_status pvi_hidden_mu(pv_ctx *ctx, const pvi_hidden *h, double *mu)
{
    *mu = INFINITY;
    const pv_status s = gates(ctx, h);
    if (s != PV_OK) return s;
    const double l = (double)h->batches, E = (double)h->passes;
    const double low = h->eta * h->strong, high = 2.0 - h->eta * h->smooth;
    const double gap = pvi_down(low < high ? low : high, 2); /* 1 - c = min(eta m, 2 - eta M) */
    double best = E;                                         /* composition */
    if (gap > 0 && contracted(gap, l, E) < best) best = contracted(gap, l, E);
    if (h->diameter < INFINITY && bounded(pv_up(h->diameter / (h->eta * h->shift), 2), l) < best)
        best = bounded(pv_up(h->diameter / (h->eta * h->shift), 2), l);
    *mu = sqrt(best) * (1.0 + 1e-12) / h->z; /* above the rounding of the formulas: exp of 745 at most, 1e-13 */
    return PV_OK;
}
