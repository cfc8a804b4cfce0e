/* region.c - the trust-region loop: where to ask next, and how far to go, from released values only.
 *
 * At the base point b with released g, H (second.c) the step h solves the sub-problem globally (trust.c); the next
 * release is made at b + h.
 * (1) The decrease along h, by the trapezoid rule from the gradients at both ends, over the predicted one:
 *     q = (g + g+)'h / 2 / (g'h + h'Hh/2).   Exact for quadratics; no function value is asked for.  With noise of
 *     variance a^2 in g and a+^2 in g+ its numerator is off by e = ||h|| (a^2 + a+^2)^(1/2) / 2.
 * (2) b stays, the radius becomes 0.3 ||h|| and a shorter step from b is tried (g and H are known there) if q is
 *     below 0.1 by more than 2 e: taking noise for a bad step would waste the release.  Otherwise b moves on; the
 *     radius is halved if q is below 0.3 by more than 2 e, and doubled again, up to r, if q > 0.6 and the step was as
 *     long as allowed.
 * (3) The Hessian changes slowly, and mostly in size: as margins grow, phi'' of all rows shrinks.  So M, the mean of
 *     all releases so far with variance m^2 per entry, predicts the next one as k M, k = <H, M>/(||M||^2 - d^2 m^2)
 *     within [0.1, 2], up to v = max(0, ||H - k M||^2/d^2 - k^2 m^2 - b^2), b^2 the variance of an entry of H.  The
 *     new M is k M + K (H - k M), K = (k^2 m^2 + v)/(k^2 m^2 + v + b^2), and its variance K b^2: with little noise
 *     K = 1.
 * (4) Where curvature is far below the damping l, T steps carry the noise of the whole budget, a per coordinate,
 *     T a/l far: l is at least T a/reach, so that noise alone moves no weight by more than about `reach`.
 * (5) With alpha: the run stops when the multiplier falls to sqrt(alpha rho), the theory's sign of an alpha-SOSP;
 *     what is left of the budget goes into one last release and step there.
 * Near the end each step lands at w* - H^(-1) noise, whatever the step before did: the mean of the last half of the
 * iterates has the noise of all their releases together (Polyak, Juditsky 1992), which is what is returned.
 * With calibration=paper the radius is fixed, every step is taken with its own Hessian, and the last iterate
 * returned.
 *
 * Defaults  r = 4: (2) shortens steps that promise too much.  reach = 10: weights of standardised problems are of
 *           that order; chosen once by the gaps of docs/results.md.  No released value was found that tells tables
 *           which need more from tables which more would hurt (docs/algorithms/tr.md), so it is a setting.  With
 *           alpha, r = sqrt(alpha/rho) and T = ceil(6 sqrt(rho) Delta / alpha^1.5), as the theory chooses them.
 *           weight 0.7: for logistic rows the Hessian then costs nothing beside the gradient (glm_joint.c).
 *           damping 0.3 for convex losses, whose noise was already clamped at 0; 1 for others: less and the lowest
 *           noise eigenvalue is taken for negative curvature. */
#include "opt/region.h"

enum { OUT_AUTO = PVI_OUT_EMA + 1 };
const pv_param pvi_region_params[] = {
    PVI_STEPS_ROW,
    { "output", PV_ENUM, offsetof(pvi_loop_cfg, output), OUT_AUTO, 0, 0, false,
      "which iterate is returned; auto: average of the last half, without noise the last",
      PVI_OUTPUT_CHOICES "|auto" },
    PVI_REGION_ROWS,
    PVI_JOINT_ROWS,
    { 0 }
};

static pv_status theory(pvi_second_cfg *c, const pv_problem *p)
{
    if (isnan(c->gap)) c->gap = 1.0;
    const double rho = pvi_second_rho(p), T = ceil(6.0 * sqrt(rho) * c->gap / pow(c->alpha, 1.5));
    if (!(rho > 0.0 && isfinite(rho)))
        return pvi_fail(p->ctx, PV_E_PARAM,
                        "optimizer.alpha needs a Hessian that changes at a bounded, positive rate: "
                        "leave it out for this loss");
    if (isnan(c->radius)) c->radius = sqrt(c->alpha / rho);
    if (c->loop.steps != PV_AUTO_I64) return PV_OK;
    if (!(T <= 1e5))
        return pvi_fail(p->ctx, PV_E_PARAM,
                        "optimizer.alpha=%g asks for %.3g steps: a larger alpha, or optimizer.steps, would do",
                        c->alpha, T);
    c->loop.steps = (int64_t)fmax(T, 1.0);
    return PV_OK;
}

static void note_choices(const pvi_second_cfg *c, const pv_problem *p)
{
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.steps = %lld: the last takes %g times the budget of the first",
            (long long)c->loop.steps, c->growth);
    pvi_log(p->ctx, PV_LOG_NOTE,
            "optimizer.radius = %g: the longest step, shortened where gradients do not bear it out", c->radius);
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.reach = %g: noise alone carries no weight further than about that",
            c->reach);
}

pv_status pvi_region_resolve(pvi_second_cfg *c, const pv_problem *p, int64_t steps, double growth)
{
    const bool paper = c->calibration == PVI_SECOND_PAPER;
    if (isnan(c->alpha) && !isnan(c->gap))
        return pvi_fail(p->ctx, PV_E_PARAM, "optimizer.gap does nothing without optimizer.alpha: leave it out");
    if (paper && !isnan(c->reach))
        return pvi_fail(p->ctx, PV_E_PARAM, "optimizer.reach does nothing with calibration=paper: leave it out");
    if (!isnan(c->alpha)) {
        const pv_status s = theory(c, p);
        if (s != PV_OK) return s;
    }
    if (!paper && isnan(c->reach)) c->reach = 10.0;
    if (isnan(c->weight)) c->weight = paper ? 1.0 : 0.7;
    if (isnan(c->growth)) c->growth = paper ? 1.0 : growth;
    if (isnan(c->radius)) c->radius = paper ? 3.0 : 4.0;
    if (isnan(c->damping)) c->damping = paper ? 0.0 : p->joint->convex ? 0.3 : 1.0;
    if (c->loop.steps == PV_AUTO_I64) c->loop.steps = paper ? 8 : steps;
    if (c->loop.output == OUT_AUTO) c->loop.output = paper || !isfinite(p->mu) ? PVI_OUT_LAST : PVI_OUT_AVERAGE;
    if (!paper) note_choices(c, p);
    return PV_OK;
}

pv_status pvi_region_init(void *s_, const void *c_, const pv_problem *p, pv_arena *a)
{
    pvi_region *s = s_;
    const pvi_second_cfg *c = c_;
    s->radius = c->radius;
    s->base = pv_arena_f64(a, p->d);
    s->g = pv_arena_f64(a, p->d);
    s->h = pv_arena_f64(a, p->d);
    s->H = pv_arena_f64(a, p->d * p->d);
    s->mean = pv_arena_f64(a, p->d * p->d);
    if (!s->base || !s->g || !s->h || !s->H || !s->mean) return PV_E_NOMEM;
    return pvi_second_init(&s->s, c, p, a);
}

/* (1): measured decrease along h, negative when it is one; s->s.g is the gradient at its end. */
static double decrease(const pvi_region *s, int64_t d, double *predicted)
{
    double linear = 0.0, square = 0.0, after = 0.0;
    for (int64_t i = 0; i < d; i++) {
        double x = 0.0;
        for (int64_t j = 0; j < d; j++) x += s->H[i * d + j] * s->h[j];
        linear += s->g[i] * s->h[i];
        square += x * s->h[i];
        after += s->s.g[i] * s->h[i];
    }
    *predicted = linear + 0.5 * square;
    return 0.5 * (linear + after);
}

/* (2): does the base point move to where the release was made? */
static bool accept(pvi_region *s, int64_t d, double most, double noise)
{
    const double length = s->s.trust.norm, doubt = length * hypot(s->noise, noise); /* 2 e */
    double predicted;
    const double measured = decrease(s, d, &predicted);
    if (!(predicted < 0.0)) return true;
    if (measured - doubt > 0.1 * predicted) {
        s->radius = 0.3 * length;
        return false;
    }
    if (measured < 0.6 * predicted && length > 0.99 * s->radius) s->radius = fmin(2.0 * s->radius, most);
    else if (measured - doubt > 0.3 * predicted) s->radius = 0.5 * length;
    return true;
}

/* (3): the release in s->s.H becomes the better estimate. */
static void mix_hessian(pvi_region *s, int64_t d, double b)
{
    const double size = (double)(d * d), m2 = s->entry * s->entry, b2 = b * b;
    double *H = s->s.H, *M = s->mean, both = 0.0, old = 0.0, far = 0.0;
    for (int64_t i = 0; i < d * d; i++) both += H[i] * M[i], old += M[i] * M[i];
    const double k = old > size * m2 ? fmin(fmax(both / (old - size * m2), 0.1), 2.0) : 1.0;
    for (int64_t i = 0; i < d * d; i++) far += (H[i] - k * M[i]) * (H[i] - k * M[i]);
    const double prior = k * k * m2 + fmax(0.0, far / size - k * k * m2 - b2), K = prior / (prior + b2);
    for (int64_t i = 0; i < d * d; i++) H[i] = k * M[i] + K * (H[i] - k * M[i]);
    s->entry = sqrt(K) * b;
}

static void improve_hessian(pvi_region *s, const pv_problem *p, int64_t units, bool alone)
{
    const double b = pvi_second_entry(p, units);
    if (alone || !(b > 0.0)) s->entry = b;
    else mix_hessian(s, p->d, b);
    memcpy(s->mean, s->s.H, (size_t)(p->d * p->d) * sizeof *s->mean);
}

/* Curvature added to the diagonal: of the noise in H, and (4). */
static double added(const pvi_region *s, const pvi_second_cfg *c, const pv_problem *p)
{
    const double all = pvi_second_noise(p, pvi_second_total(c)), T = (double)c->loop.steps;
    const double noise = c->damping * pvi_second_spread(p->d, s->entry);
    return c->calibration == PVI_SECOND_PAPER ? noise : fmax(noise, T * all / c->reach);
}

static void move_base(pvi_region *s, const double *w, int64_t d, double noise)
{
    s->noise = noise;
    memcpy(s->base, w, (size_t)d * sizeof *w);
    memcpy(s->g, s->s.g, (size_t)d * sizeof *w);
    memcpy(s->H, s->s.H, (size_t)(d * d) * sizeof *w);
}

pv_status pvi_region_step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    pvi_region *s = s_;
    const pvi_second_cfg *c = c_;
    const int64_t d = p->d, units = s->stop ? s->s.left : pvi_second_units(c, t);
    const bool plain = t == 1 || c->calibration == PVI_SECOND_PAPER;
    const double noise = pvi_second_noise(p, units);

    pvi_loop_begin(&s->s.loop, p, t, o, w);
    pv_status st = pvi_second_query(&s->s, p, o, w, units);
    if (st != PV_OK) return st;
    improve_hessian(s, p, units, plain);
    if ((st = pvi_second_model(&s->s, p, w, added(s, c, p))) != PV_OK) return st;
    if (plain || accept(s, d, c->radius, noise)) move_base(s, w, d, noise);
    if ((st = pvi_trust_solve(&s->s.trust, s->H, s->g, s->radius, s->h)) != PV_OK)
        return pvi_fail(p->ctx, st, "the trust-region step has no solution in numbers");
    for (int64_t j = 0; j < d; j++) w[j] = s->base[j] + s->h[j];
    if (s->stop) return PV_DONE; /* (5): w is what is returned, whatever the output rule */
    s->stop = !isnan(c->alpha) && s->s.trust.lambda <= sqrt(c->alpha * pvi_second_rho(p)) && t < c->loop.steps;
    if (s->stop)
        pvi_log(p->ctx, PV_LOG_NOTE,
                "optimizer.alpha = %g: reached after %lld of at most %lld steps; one last step takes the rest of the "
                "budget",
                c->alpha, (long long)t, (long long)c->loop.steps);
    return pvi_loop_end(&s->s.loop, p, t, w);
}
