/* defaults.c - steps, step sizes, momentum and clipping for those who set none, from public quantities only.
 *
 * Model     T noisy gradients with steps eta and momentum beta make steps of a total length, the horizon,
 *             H = eta T / (1 - beta).                                                                          (1)
 *           Each has noise of standard deviation s sqrt(T) in every weight, where s = C/(n mu) (twice that under
 *           replace): with H fixed, T changes the noise of a step but not that of the result.
 * Bias      a smooth convex loss started f0 above its minimum, which lies B away, is after H above it by at most
 *             B^2/(2 H), and by f0 at H = 0:      bias(H) = f0 / (1 + 2 H f0/B^2)                             (2)
 * Noise     in a direction of curvature h the result has variance s^2 H^2 while h H is small (a random walk) and
 *           s^2 H/(2 h) when it is large (stationary).  With the curvature t spread evenly over d weights, h = t/d,
 *             noise(H) = t s^2 H^2 / (2 (1 + 2 t H/d))                                                       (3)
 * Horizon   argmin of (2) + (3); both are convex in H.  Two limits show what it does:
 *             few weights    H = B sqrt(2/d) n mu/C         many    H = (B^2/(2t))^(1/3) (n mu/C)^(2/3),
 *           so in many dimensions it does not depend on d: noise in directions the rows do not use costs nothing.
 * Descent   where the noise comes once, at the end, its variance is s^2 H^2 in every direction: with the bias
 *           B^2/(2 H) of a long run the best H is the second of these limits, whatever d                          (6)
 * Guesses   G/L has the unit of weights, G^2/L that of the loss.  B = 7 (G/L) sqrt(max(1, k/2)) for k outputs (at
 *           most the radius of the set), f0 = G^2/(4L), t = L/5.  These three numbers are not derived: they were
 *           chosen once so that H is near the best one on tables of 22 to 785 columns and epsilon from 0.01 to 1
 *           (docs/results/tables.md), where an H wrong by a factor of two costs little.
 * Steps     eta = factor/L, T = sqrt(10 H/eta), 1 - beta = eta T/H: momentum averages a tenth of the run, as in
 *           accelerated descent, between .9 and .98.  If T is bounded, eta gives way so that (1) stays at most H.
 * Clip      the loss's own bound G, halved while (3) at that clip exceeds f0/50: twice at most for one output, whose
 *           clipped loss is still convex, once for several, where it need not be.  Most rows of a fitted model have
 *           small gradients, and the noise shrinks with the clip; where noise is small, clipping would only distort
 *           the predicted probabilities.
 * Numbers   as labels: squared errors have no G.  With optimizer=auto half the label's declared range times R, Y,
 *           stands for it in B and f0 = Y^2/(10 L), and the clip is Y/2, halved twice at most by the same rule: where
 *           rows are fitted, most errors are far below Y.  A clipped squared loss is Huber's, convex, between mean
 *           and median.  These numbers were chosen on made-up tables and on training rows of California housing
 *           (docs/algorithms/additive.md).
 * Vertices  Frank-Wolfe gains 2 L D^2/T and loses the width W of the set times the noise, s sqrt(T) W: balanced by
 *             T = (2 L D^2/(s W))^(2/3), D the radius of the set                                              (4)
 * No L      (a network) leaves (2) without meaning; noise alone may then move the weights by 16:
 *             H = 16/(s sqrt(d)), eta = 1/C                                                                   (5)
 * Signal    an ordinary one is a mean gradient of g = C/20 at the start, against noise of length sqrt(d) s:
 *             r = g/(sqrt(d) s)                                                                               (7)
 * Privacy   n, d, k, epsilon, delta, clip and the loss's constants are public: nothing here depends on a row.
 * Reference (2) Nesterov 2018, Theorem 2.1.14; convexity of clipped linear models: Song, Steinke, Thakkar, Thakurta
 *           2021. */
#include "opt/opt.h"

static const double distance_factor = 7.0, start_share = 0.25, real_share = 0.1, curvature_share = 0.2,
                    small_noise = 0.02, most_momentum = 0.98;

double pvi_smoothness(const pv_problem *p)
{
    return p->L + (p->reg->prox || !p->reg->smooth ? 0.0 : p->reg->smooth(p->reg_cfg));
}

static double bound(const pv_problem *p)
{
    return isfinite(p->G) ? p->G : p->size > 0.0 ? p->size : p->C;
}

static double start_gap(const pv_problem *p)
{
    return (p->size > 0.0 ? real_share : start_share) * bound(p) * bound(p) / p->L;
}

static double distance(const pv_problem *p)
{
    const double B = distance_factor * bound(p) / p->L * sqrt(fmax(1.0, (double)p->outputs / 2.0));
    return p->set && p->set->radius ? fmin(B, p->set->radius(p->set_st, p->set_cfg, p->d)) : B;
}

double pvi_run_noise(const pv_problem *p, double clip)
{
    return clip * (p->relation == PV_REL_REPLACE ? 2.0 : 1.0) / ((double)p->n * p->mu);
}

double pvi_signal_to_noise(const pv_problem *p) /* (7) */
{
    return 0.05 / (sqrt((double)p->d) * pvi_run_noise(p, 1.0));
}

static double noise_cost(const pv_problem *p, double s, double H) /* (3) */
{
    const double t = curvature_share * p->L;
    return 0.5 * t * s * s * H * H / (1.0 + 2.0 * t * H / (double)p->d);
}

static double excess(const pv_problem *p, double s, double H) /* (2) + (3) */
{
    const double f0 = start_gap(p), B = distance(p);
    return f0 / (1.0 + 2.0 * H * f0 / (B * B)) + noise_cost(p, s, H);
}

double pvi_horizon(const pv_problem *p, double clip)
{
    static const double golden = 0.6180339887498949;
    const double s = pvi_run_noise(p, clip);
    double lo = log(1e-9 / p->L), hi = log(1e12 / p->L); /* of H; excess() is unimodal */
    if (!(s > 0.0)) return INFINITY;
    if (!isfinite(p->L) || !(p->L > 0.0)) return 16.0 / (s * sqrt((double)p->d)); /* (5) */
    for (int k = 0; k < 100; k++) {
        const double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo);
        if (excess(p, s, exp(a)) < excess(p, s, exp(b))) hi = b;
        else lo = a;
    }
    return exp(0.5 * (lo + hi));
}

double pvi_descent_horizon(const pv_problem *p, double clip)
{
    const double s = pvi_run_noise(p, clip), B = distance(p);
    return s > 0.0 ? cbrt(B * B / (2.0 * curvature_share * p->L * s * s)) : INFINITY; /* (6) */
}

double pvi_clip_for(const pv_problem *p)
{
    const bool real = !isfinite(p->G);
    const int most = p->outputs > 1 ? 1 : 2; /* halvings */
    double clip = real ? 0.5 * p->size : p->G;
    if (!isfinite(p->L) || !isfinite(p->mu)) return clip;
    for (int k = 0; k < most; k++) {
        if (!(noise_cost(p, pvi_run_noise(p, clip), pvi_horizon(p, clip)) > small_noise * start_gap(p))) break;
        clip *= 0.5;
    }
    return clip;
}

double pvi_default_clip(const pv_problem *p)
{
    const double clip = pvi_clip_for(p);
    if (!isfinite(p->G))
        pvi_log(p->ctx, PV_LOG_NOTE,
                "clip = %g: %s of the label's declared range, because the noise is in proportion", clip,
                clip < 0.2 * p->size   ? "a sixteenth"
                : clip < 0.4 * p->size ? "an eighth"
                                       : "a quarter");
    else if (clip < p->G)
        pvi_log(p->ctx, PV_LOG_NOTE,
                "clip = %g: %s of what a row's gradient can be, because the noise is in proportion", clip,
                clip < 0.4 * p->G ? "a quarter" : "half");
    return clip;
}

/* Steps that balance optimisation and noise; most: how many there would be without more momentum. */
static double balanced_steps(bool adapt, double momentum, double H, double eta, double *most)
{
    *most = (1.0 - momentum) * H / eta;
    return adapt ? fmax(sqrt(10.0 * H / eta), (1.0 - most_momentum) * H / eta) : *most;
}

static int64_t whole_steps(const pvi_step_rule *r, double T, double most)
{
    return (int64_t)ceil(fmin(fmax(fmin(T, most), (double)r->least), (double)r->most));
}

const pvi_step_rule pvi_pgd_rule = {
    .factor = 1.0, .momentum = 0.9, .adapt_momentum = true, .least = 50, .most = 1000
};

int64_t pvi_default_pgd_steps(const pv_problem *p)
{
    double most;
    const double T = balanced_steps(true, pvi_pgd_rule.momentum, pvi_horizon(p, p->C),
                                    pvi_pgd_rule.factor / pvi_smoothness(p), &most);
    return whole_steps(&pvi_pgd_rule, T, most);
}

/* T and beta, for a horizon and a step. */
static void choose_steps(const pv_problem *p, const pvi_step_rule *r, double H, double eta, pvi_step_choice *choice)
{
    const bool adapt = r->adapt_momentum && isnan(choice->momentum) && isfinite(p->L);
    if (isnan(choice->momentum)) choice->momentum = r->momentum;
    if (choice->steps == PV_AUTO_I64) {
        double plain;
        const double T = balanced_steps(adapt, choice->momentum, H, eta, &plain);
        choice->steps = whole_steps(r, T, plain);
        pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.steps = %lld: %s", (long long)choice->steps,
                !isfinite(H)                         ? "without noise, steps cost time only"
                : choice->steps == r->most           ? "noise would allow more, time is the limit"
                : (double)r->least >= fmin(T, plain) ? "few, because noise soon outweighs what a step gains"
                                                     : "with more, noise outweighs what a step gains");
    }
    const double T = (double)choice->steps;
    if (!adapt) return;
    const double slowest = fmin(fmax(10.0 / T, 1.0 - most_momentum), 1.0 - r->momentum);
    choice->momentum = 1.0 - fmin(fmax(eta * T / H, slowest), 1.0 - r->momentum);
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.momentum = %.3g: averages about %.0f steps", choice->momentum,
            1.0 / (1.0 - choice->momentum));
}

static pv_status longest_step(const pv_problem *p, double factor, double *eta)
{
    const double L = pvi_smoothness(p);
    if (p->props & PV_NETWORK && !isfinite(L)) return *eta = 1.0 / p->C, PV_OK; /* (5) */
    if (!isfinite(L) || !(L > 0.0))
        return pvi_fail(p->ctx, PV_E_PARAM,
                        "this loss has no smoothness constant to take a step from: set optimizer.step");
    *eta = factor / L;
    return PV_OK;
}

static void say_step(const pv_problem *p, double factor, double eta)
{
    const double L = pvi_smoothness(p);
    if (isfinite(L)) pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.step = %g: %g/L with smoothness L = %g", eta, factor, L);
    else pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.step = %g: a clipped gradient moves the weights by 1", eta);
}

pv_status pvi_default_step(const pv_problem *p, double factor, double *eta)
{
    const pv_status s = longest_step(p, factor, eta);
    if (s == PV_OK) say_step(p, factor, *eta);
    return s;
}

pv_status pvi_default_steps(const pv_problem *p, const pvi_step_rule *r, pvi_step_choice *choice)
{
    double eta = choice->step;
    const pv_status st = isnan(eta) ? longest_step(p, r->factor, &eta) : PV_OK;
    if (st != PV_OK) return st;
    const double H = pvi_horizon(p, p->C);
    choose_steps(p, r, H, eta, choice);
    if (!isnan(choice->step)) return PV_OK;
    choice->step = fmin(eta, H * (1.0 - choice->momentum) / (double)choice->steps);          /* (1) */
    if (choice->step > 0.98 * eta) return say_step(p, r->factor, choice->step = eta), PV_OK; /* T was rounded up */
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.step = %.3g: below %g/L, so that noise does not outweigh the fit",
            choice->step, r->factor);
    return PV_OK;
}

int64_t pvi_default_fw_steps(const pv_problem *p, int64_t least, int64_t most)
{
    const double D = p->set->radius(p->set_st, p->set_cfg, p->d), W = p->set->width(p->set_st, p->set_cfg, p->d),
                 T = pow(2.0 * p->L * D * D / (pvi_run_noise(p, p->C) * W), 2.0 / 3.0); /* (4) */
    const int64_t steps = (int64_t)ceil(fmin(fmax(T, (double)least), (double)most));
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.steps = %lld: %s", (long long)steps,
            isfinite(p->mu) ? "with more, noise outweighs what a step gains" : "without noise, steps cost time only");
    return steps;
}
