/* trust_region.c - the trust-region loop: where to ask next, and how far to go, from released values only.
 *
 * At the base point b with released g, H (second_order.c) the step h solves the sub-problem globally
 * (trust_subproblem.c); the next release is made at b + h.
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
 * (4) With a metric, and for losses that are not convex, gradients are averaged alike: the last estimate, moved by h,
 *     predicts the next, x = g + M h of variance a^2; the release has variance s^2.  ||release - x||^2/d above
 *     a^2 + s^2 by more than two standard deviations of it, 2 (2/d)^(1/2) (a^2 + s^2), counts against the prediction:
 *     a^2 grows by what is above.  The estimate becomes x + K (release - x), K = a^2/(a^2 + s^2), its variance K s^2.
 *     Components c of it along the eigenvectors of M that cannot be distinguished from noise would add up over the
 *     steps: each is taken times max(0, 1 - a^2/c^2) (James, Stein 1961, one by one).
 * (5) Where curvature is far below the damping l, the noise a_t of the steps adds up to a displacement of D/l in a
 *     coordinate, D^2 = sum_t a_t^2: l is at least D/reach, so that noise alone moves no margin by more than about
 *     `reach`.
 * (6) With alpha: the run stops when the multiplier falls to sqrt(alpha rho), the theory's sign of an alpha-SOSP;
 *     what is left of the budget goes into one last release and step there.  With calibration=paper, as in Algorithms
 *     1 and 2, the point after that step is returned as it is: what is left is spent on releases nobody looks at,
 *     since a certificate counts what was planned.
 * Near the end each step lands at w* - H^(-1) noise, whatever the step before did: the mean of the last half of the
 * iterates has the noise of all their releases together (Polyak, Juditsky 1992), which is what is returned.
 * (7) A penalty that is not convex has a local minimum at 0, where the weights start, and keeps them there even where
 *     the sum of loss and penalty is lower further away.  Where noise is small beside the penalty (precondition.c
 *     (6)), its weight grows from 0 to 1 during the first half of the steps (continuation, graduated non-convexity).
 * (8) Which of the penalty's local minima that mean is in may be decided by noise: basins.c looks for lower ones.
 * With calibration=paper the radius is fixed, every step is taken with its own gradient and Hessian, and the last
 * iterate returned.
 *
 * Defaults  share = 0.1: steps are taken in the metric of precondition.c, up to 512 weights and 4 GB of transformed
 *           rows, where the loss is convex: of others' curvature second moments say little.  r = 4, in which margins
 *           change by about 4: (2) shortens steps that promise too much.  reach = 1; both chosen once by the gaps of
 *           docs/results/trust-region.md.  Without a metric both are lengths of w, and reach is 10, or 0.3 for losses
 *           that are not convex.  With alpha there is no metric, r = sqrt(alpha/rho) and
 *           T = ceil(6 sqrt(rho) Delta / alpha^1.5), as the theory chooses them.
 *           weight 0.7: for logistic rows the Hessian then costs nothing beside the gradient (glm_joint.c).
 *           damping 0.3 for convex losses, whose noise was already clamped at 0; 1 for others: less and the lowest
 *           noise eigenvalue is taken for negative curvature. */
#include "opt/trust_region.h"
#include "opt/basins.h"

enum { OUT_AUTO = PVI_OUT_CHOICES };
#define LOOP_ROWS                                                                                                    \
    PVI_STEPS_ROW,                                                                                                   \
    {                                                                                                                \
        "output", PV_ENUM, offsetof(pvi_loop_cfg, output), OUT_AUTO, 0, 0, false,                                    \
            "which iterate is returned; auto: average of the last half, without noise the last",                     \
            PVI_OUTPUT_CHOICES "|auto"                                                                               \
    }
const pv_param pvi_trust_region_params[] = { LOOP_ROWS, PVI_TRUST_REGION_ROWS, PVI_JOINT_ROWS, { 0 } };
const pv_param pvi_trust_region_apart_params[] = {
    LOOP_ROWS, PVI_TRUST_REGION_ROWS, PVI_SECOND_CALIBRATION_ROW, { 0 }
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
    if (c->growth == 1.0)
        pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.steps = %lld, of equal budget", (long long)c->loop.steps);
    else
        pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.steps = %lld: the last takes %g times the budget of the first",
                (long long)c->loop.steps, c->growth);
    pvi_log(p->ctx, PV_LOG_NOTE,
            "optimizer.radius = %g: the longest step, shortened where the next gradients do not confirm it",
            c->radius);
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.reach = %g: noise alone changes no %s by much more than that", c->reach,
            pvi_second_learns(c) ? "margin" : "weight");
    if (pvi_second_learns(c))
        pvi_log(p->ctx, PV_LOG_NOTE,
                "optimizer.share = %g: %lld of %lld releases, to learn in which directions the rows differ", c->share,
                (long long)pvi_second_moment_units(c), (long long)(pvi_second_moment_units(c) + pvi_second_total(c)));
}

enum { ENOUGH = 8 }; /* of fewer events for the steps a tenth is less than one */

static pv_status resolve_share(pvi_second_cfg *c, const pv_problem *p, bool paper)
{
    const bool asked = !isnan(c->share) && c->share > 0.0;
    if (asked && (paper || !isnan(c->alpha)))
        return pvi_fail(p->ctx, PV_E_PARAM, "optimizer.share: %s steps in the metric of the weights; leave it out",
                        paper ? "calibration=paper" : "with optimizer.alpha the theory");
    if (asked && !pvi_precondition_fits(p))
        return pvi_fail(p->ctx, PV_E_PARAM,
                        "optimizer.share needs a binary or numeric loss and at most %d weights: leave it out",
                        PVI_DENSE_TRUST);
    const bool learn = !paper && isnan(c->alpha) && isfinite(p->mu) && pvi_precondition_fits(p) && p->joint->convex;
    if (isnan(c->share)) c->share = learn && pvi_second_total(c) >= ENOUGH ? 0.1 : 0.0;
    return PV_OK;
}

pv_status pvi_trust_region_resolve(void *c_, const pv_problem *p)
{
    pvi_second_cfg *c = c_;
    const bool paper = c->calibration == PVI_SECOND_PAPER;
    if (isnan(c->alpha) && !isnan(c->gap))
        return pvi_fail(p->ctx, PV_E_PARAM, "optimizer.gap does nothing without optimizer.alpha: leave it out");
    if (paper && !isnan(c->reach))
        return pvi_fail(p->ctx, PV_E_PARAM, "optimizer.reach does nothing with calibration=paper: leave it out");
    if (!isnan(c->alpha)) {
        const pv_status s = theory(c, p);
        if (s != PV_OK) return s;
    }
    if (isnan(c->growth)) c->growth = 1.0;
    if (c->loop.steps == PV_AUTO_I64) c->loop.steps = paper ? 8 : 48;
    const pv_status st = resolve_share(c, p, paper);
    if (st != PV_OK) return st;
    if (!paper && isnan(c->reach)) c->reach = pvi_second_learns(c) ? 1.0 : p->joint->convex ? 10.0 : 0.3;
    if (isnan(c->weight)) c->weight = paper ? 1.0 : 0.7;
    if (isnan(c->radius)) c->radius = paper ? 3.0 : 4.0;
    if (isnan(c->damping)) c->damping = paper ? 0.0 : p->joint->convex ? 0.3 : 1.0;
    if (c->loop.output == OUT_AUTO) c->loop.output = paper || !isfinite(p->mu) ? PVI_OUT_LAST : PVI_OUT_AVERAGE;
    if (!paper && isfinite(p->mu)) note_choices(c, p);
    return PV_OK;
}

#define ARRAY(name, shape)                                                                                           \
    {                                                                                                                \
        offsetof(pvi_trust_region, name), shape                                                                      \
    }
const pv_state pvi_trust_region_arrays[] = {
    PVI_SECOND_ARRAYS,
    ARRAY(v, PV_VECTOR),
    ARRAY(out, PV_VECTOR),
    ARRAY(at, PV_VECTOR),
    ARRAY(loss, PV_VECTOR),
    ARRAY(base, PV_VECTOR),
    ARRAY(g, PV_VECTOR),
    ARRAY(h, PV_VECTOR),
    ARRAY(H, PV_SQUARE),
    ARRAY(mean, PV_SQUARE),
    { 0, 0 },
};

pv_status pvi_trust_region_init(void *s_, const void *c_, const pv_problem *p, pv_arena *a)
{
    pvi_trust_region *s = s_;
    const pvi_second_cfg *c = c_;
    s->arena = a;
    if (pvi_precondition_init(&s->metric, pvi_second_learns(c), p, a) != PV_OK) return PV_E_NOMEM;
    return pvi_second_init(&s->s, c, p, a);
}

/* (1): measured decrease along h, negative when it is one; s->s.g is the gradient at its end. */
static double decrease(const pvi_trust_region *s, int64_t d, double *predicted)
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
static bool accept(pvi_trust_region *s, int64_t d, double most, double noise)
{
    const double length = s->s.trust.norm, error = length * hypot(s->noise, noise); /* 2 e */
    double predicted;
    const double measured = decrease(s, d, &predicted);
    if (!(predicted < 0.0)) return true;
    if (measured - error > 0.1 * predicted) {
        s->radius = 0.3 * length;
        return false;
    }
    if (measured < 0.6 * predicted && length > 0.99 * s->radius) s->radius = fmin(2.0 * s->radius, most);
    else if (measured - error > 0.3 * predicted) s->radius = 0.5 * length;
    return true;
}

/* (3): the release in s->s.H becomes the better estimate. */
static void mix_hessian(pvi_trust_region *s, int64_t d, double b)
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

static void improve_hessian(pvi_trust_region *s, const pvi_second_cfg *c, const pv_problem *p, int64_t units,
                            bool alone)
{
    const double b = pvi_second_entry(c, p, units);
    if (alone || !(b > 0.0)) s->entry = b;
    else mix_hessian(s, p->d, b);
    memcpy(s->mean, s->s.H, (size_t)(p->d * p->d) * sizeof *s->mean);
}

/* (4): the release in s->s.g becomes the better estimate, with the Hessian in s->s.H. */
static void mix_gradient(pvi_trust_region *s, int64_t d, double release)
{
    double *x = s->loss, far = 0.0;
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) x[i] += s->s.H[i * d + j] * (s->v[j] - s->at[j]);
    for (int64_t i = 0; i < d; i++) far += (s->s.g[i] - x[i]) * (s->s.g[i] - x[i]);
    const double noise = s->variance + release, above = far / (double)d - noise;
    if (above > 2.0 * sqrt(2.0 / (double)d) * noise) s->variance += above;
    const double K = s->variance / (s->variance + release);
    for (int64_t i = 0; i < d; i++) x[i] += K * (s->s.g[i] - x[i]);
    s->variance = K * release;
}

static void improve_gradient(pvi_trust_region *s, int64_t d, double noise, bool alone)
{
    if (alone || !(noise > 0.0)) {
        memcpy(s->loss, s->s.g, (size_t)d * sizeof *s->loss);
        s->variance = noise * noise;
    } else {
        mix_gradient(s, d, noise * noise);
    }
    memcpy(s->at, s->v, (size_t)d * sizeof *s->at);
}

/* (4): what of s->loss is distinguishable from noise, in s->s.g. */
static void shrink(pvi_trust_region *s, int64_t d)
{
    double *c = s->metric.x;
    pvi_matvec(d, s->s.trust.A, s->loss, c);
    for (int64_t k = 0; k < d; k++) c[k] *= c[k] != 0.0 ? fmax(0.0, 1.0 - s->variance / (c[k] * c[k])) : 0.0;
    pvi_matvec_t(d, s->s.trust.A, c, s->s.g);
}

/* Curvature added to the diagonal: of the noise in H, and (5). */
static double added(const pvi_trust_region *s, const pvi_second_cfg *c, const pv_problem *p)
{
    const double noise = c->damping * pvi_second_noise_norm(p->d, s->entry);
    return c->calibration == PVI_SECOND_PAPER ? noise : fmax(noise, s->noise_total / (c->reach * s->metric.unit));
}

/* The release at s->v becomes gradient and Hessian of the model to step with. */
static pv_status model(pvi_trust_region *s, const pvi_second_cfg *c, const pv_problem *p, const double *w, int64_t t,
                       int64_t units, bool alone)
{
    const int64_t d = p->d;
    const double noise = pvi_second_noise(c, p, units);
    const double weight = s->metric.continuation ? fmin(1.0, 2.0 * (double)t / (double)c->loop.steps) : 1.0; /* (7) */
    pv_status st = PV_OK;
    improve_hessian(s, c, p, units, alone);
    if ((s->average || p->joint->convex) && d <= PVI_DENSE_TRUST && (st = pvi_second_eigen(&s->s, p)) != PV_OK)
        return st;
    s->variance = s->average ? s->variance : noise * noise;
    if (s->average) {
        improve_gradient(s, d, noise, alone);
        shrink(s, d);
    }
    pvi_precondition_penalty(&s->metric, p, w, weight, s->s.g, s->s.H);
    const double shift = added(s, c, p);
    for (int64_t i = 0; i < d; i++) s->s.H[i * d + i] += shift;
    return PV_OK;
}

/* (8): the returned point v. */
static pv_status search_minima(pvi_trust_region *s, const pv_problem *p, double *v)
{
    const int64_t d = p->d;
    double *h = s->h;
    const pvi_model m = { p, s->metric.A, v, s->s.g, s->s.H, sqrt(s->variance), s->metric.unit };
    memcpy(s->s.H, s->mean, (size_t)(d * d) * sizeof *s->mean);
    pv_status st = pvi_second_eigen(&s->s, p);
    if (st != PV_OK) return st;
    shrink(s, d);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) s->s.g[i] += s->s.H[i * d + j] * (v[j] - s->at[j]);
    for (int64_t i = 0; i < d; i++) s->s.H[i * d + i] += pvi_second_noise_norm(d, s->entry);
    if ((st = pvi_basins(&m, s->arena, h)) != PV_OK) return st;
    for (int64_t i = 0; i < d; i++) v[i] += h[i];
    return PV_OK;
}

/* The loop's rule of output, in the metric's coordinates; w is the weights of whatever it says. */
static pv_status end(pvi_trust_region *s, const pv_problem *p, int64_t t, double *w)
{
    const bool nonconvex = s->metric.A && !(p->reg->props & PV_CONVEX);
    memcpy(s->out, s->v, (size_t)p->d * sizeof *s->out);
    pv_status st = pvi_loop_end(&s->s.loop, p, t, s->out);
    if (st == PV_DONE && nonconvex && (st = search_minima(s, p, s->out)) == PV_OK) st = PV_DONE;
    pvi_precondition_weights(&s->metric, p->d, s->out, w);
    return st;
}

static void move_base(pvi_trust_region *s, int64_t d)
{
    s->noise = sqrt(s->variance);
    memcpy(s->base, s->v, (size_t)d * sizeof *s->v);
    memcpy(s->g, s->s.g, (size_t)d * sizeof *s->g);
    memcpy(s->H, s->s.H, (size_t)(d * d) * sizeof *s->H);
}

static pv_status begin(pvi_trust_region *s, const pvi_second_cfg *c, const pv_problem *p, pv_oracle *o,
                       const double *w)
{
    const pvi_precondition_cost cost = { PVI_SECOND_MOMENTS, pvi_second_moment_units(c),
                                         pvi_second_noise(c, p, pvi_second_total(c)) };
    const pv_status st = pvi_precondition_learn(&s->metric, &cost, p, o, w, s->v);
    pvi_loop_keep_start(&s->s.loop, p, s->v);
    s->radius = c->radius * s->metric.unit;
    for (int64_t t = 1; t <= c->loop.steps; t++)
        s->noise_total = hypot(s->noise_total, pvi_second_noise(c, p, pvi_second_units(c, t)));
    s->average = s->metric.A || (!p->joint->convex && c->calibration != PVI_SECOND_PAPER && isnan(c->alpha) &&
                                 isfinite(p->mu) && p->d <= PVI_DENSE_TRUST);
    return st;
}

/* (6): PV_OK where one more step follows. */
static pv_status stop(pvi_trust_region *s, const pvi_second_cfg *c, const pv_problem *p, int64_t t, pv_oracle *o)
{
    const bool paper = c->calibration == PVI_SECOND_PAPER;
    pvi_log(p->ctx, PV_LOG_NOTE, "optimizer.alpha = %g: reached after %lld of at most %lld steps; %s", c->alpha,
            (long long)t, (long long)c->loop.steps,
            paper ? "the rest of the budget is spent without looking at what it buys"
                  : "one last step takes the rest of the budget");
    if (!paper) return PV_OK;
    const pv_status st = pvi_second_query(&s->s, o, s->v, s->s.left, 1.0);
    return st == PV_OK ? PV_DONE : st;
}

pv_status pvi_trust_region_step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    pvi_trust_region *s = s_;
    const pvi_second_cfg *c = c_;
    const int64_t d = p->d, units = s->stop ? s->s.left : pvi_second_units(c, t);
    const bool alone = t == 1 || c->calibration == PVI_SECOND_PAPER; /* no release before this one counts */
    pv_status st = PV_OK;

    pvi_loop_begin(&s->s.loop, p, t, o, w);
    if (t == 1 && (st = begin(s, c, p, o, w)) != PV_OK) return st;
    if ((st = pvi_second_query(&s->s, o, s->v, units, 1.0)) != PV_OK) return st;
    if ((st = model(s, c, p, w, t, units, alone)) != PV_OK) return st;
    if (alone || accept(s, d, c->radius * s->metric.unit, sqrt(s->variance))) move_base(s, d);
    if ((st = pvi_trust_solve(&s->s.trust, s->H, s->g, s->radius, s->h)) != PV_OK)
        return pvi_fail(p->ctx, st, "the trust-region step has no solution in numbers");
    for (int64_t j = 0; j < d; j++) s->v[j] = s->base[j] + s->h[j];
    pvi_precondition_weights(&s->metric, d, s->v, w);
    if (s->stop) return PV_DONE; /* (6): w is what is returned, whatever the output rule */
    s->stop = !isnan(c->alpha) && s->s.trust.lambda <= sqrt(c->alpha * pvi_second_rho(p)) && t < c->loop.steps;
    return s->stop ? stop(s, c, p, t, o) : end(s, p, t, w);
}
