/* region.c - the trust-region loop: where to ask next, and how far to go, from released values only.
 *
 * At the base point b with released g, H (second.c) the step h solves the sub-problem globally (trust.c); the next
 * release is made at b + h.
 * (1) The decrease along h, by the trapezoid rule from the gradients at both ends, over the predicted one:
 *     q = (g + g+)'h / 2 / (g'h + h'Hh/2).   Exact for quadratics; no function value is asked for.
 * (2) q < 0.1: b stays, the radius becomes 0.3 ||h||, and a shorter step from b is tried: g and H are known there.
 *     Otherwise b moves on; the radius is halved if q < 0.3, and doubled again, up to r, if q > 0.6 and the step was
 *     as long as allowed.
 * (3) Near the end steps are short and the gradients of several releases say the same: e = g + H h predicts the next
 *     one, with variance P (of g, per coordinate) plus v, what the measured distance shows beyond noise,
 *     v = max(0, ||g+ - e||^2/d - P - a^2).  The new g is e + k (g+ - e), k = (P + v)/(P + v + a^2), its P is k a^2: far
 *     from the end v is large and k = 1.
 * (4) With alpha: the run stops when the multiplier falls to sqrt(alpha rho), the theory's sign of an alpha-SOSP; what is
 *     left of the budget goes into one last release and step there.
 * With calibration=paper the radius is fixed and every step is taken.
 *
 * Defaults  r = 4: (2) shortens steps that promise too much.  With alpha, r = sqrt(alpha/rho) and
 *           T = ceil(6 sqrt(rho) Delta / alpha^1.5), as the theory chooses them.
 *           weight 0.7: for logistic rows the Hessian then costs nothing beside the gradient (glm_joint.c).
 *           damping 0.3 for convex losses, whose noise was already clamped at 0; 1 for others: less and the lowest
 *           noise eigenvalue is taken for negative curvature. */
#include "opt/region.h"

const pv_param pvi_region_params[] = { PVI_LOOP_ROWS(PVI_OUT_LAST), PVI_SECOND_ROWS, { 0 } };

static pv_status theory(pvi_second_cfg *c, const pv_problem *p)
{
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

pv_status pvi_region_resolve(pvi_second_cfg *c, const pv_problem *p, int64_t steps, double growth)
{
    const bool paper = c->calibration == PVI_SECOND_PAPER;
    if (!isnan(c->alpha)) {
        const pv_status s = theory(c, p);
        if (s != PV_OK) return s;
    }
    if (isnan(c->weight)) c->weight = paper ? 1.0 : 0.7;
    if (isnan(c->growth)) c->growth = paper ? 1.0 : growth;
    if (isnan(c->radius)) c->radius = paper ? 3.0 : 4.0;
    if (isnan(c->damping)) c->damping = paper ? 0.0 : p->joint->convex ? 0.3 : 1.0;
    if (c->loop.steps == PV_AUTO_I64) c->loop.steps = paper ? 8 : steps;
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
    s->predicted = pv_arena_f64(a, p->d);
    if (!s->base || !s->g || !s->h || !s->H || !s->predicted) return PV_E_NOMEM;
    return pvi_second_init(&s->s, c, p, a);
}

/* (1); s->s.g is the gradient at the end of h. */
static double ratio(const pvi_region *s, int64_t d)
{
    double linear = 0.0, square = 0.0, after = 0.0;
    for (int64_t i = 0; i < d; i++) {
        double x = 0.0;
        for (int64_t j = 0; j < d; j++) x += s->H[i * d + j] * s->h[j];
        linear += s->g[i] * s->h[i];
        square += x * s->h[i];
        after += s->s.g[i] * s->h[i];
    }
    const double predicted = linear + 0.5 * square;
    return predicted < 0.0 ? 0.5 * (linear + after) / predicted : 1.0;
}

/* (2): does the base point move to where the release was made? */
static bool accept(pvi_region *s, int64_t d, double most)
{
    const double q = ratio(s, d), length = s->s.trust.norm;
    if (q < 0.1) {
        s->radius = 0.3 * length;
        return false;
    }
    if (q > 0.6 && length > 0.99 * s->radius) s->radius = fmin(2.0 * s->radius, most);
    else if (q < 0.3) s->radius = 0.5 * length;
    return true;
}

/* (3): s->s.g becomes the better estimate; h leads from the base to where it was released. */
static void combine(pvi_region *s, int64_t d, double noise)
{
    const double a2 = noise * noise;
    double far = 0.0;
    for (int64_t i = 0; i < d; i++) {
        double e = s->g[i] - s->shift * s->h[i]; /* the added curvature is not the objective's */
        for (int64_t j = 0; j < d; j++) e += s->H[i * d + j] * s->h[j];
        s->predicted[i] = e;
        far += (s->s.g[i] - e) * (s->s.g[i] - e);
    }
    const double prior = s->variance + fmax(0.0, far / (double)d - s->variance - a2), k = prior / (prior + a2);
    for (int64_t i = 0; i < d; i++) s->s.g[i] = s->predicted[i] + k * (s->s.g[i] - s->predicted[i]);
    s->variance = k * a2;
}

static void move_base(pvi_region *s, const double *w, int64_t d)
{
    s->shift = s->s.shift;
    memcpy(s->base, w, (size_t)d * sizeof *w);
    memcpy(s->g, s->s.g, (size_t)d * sizeof *w);
    memcpy(s->H, s->s.H, (size_t)(d * d) * sizeof *w);
}

pv_status pvi_region_step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    pvi_region *s = s_;
    const pvi_second_cfg *c = c_;
    const int64_t d = p->d, units = s->stop ? s->s.left : pvi_second_units(c, t);

    pvi_loop_begin(&s->s.loop, p, t, o, w);
    pv_status st = pvi_second_query(&s->s, p, o, w, units, c->damping);
    if (st != PV_OK) return st;
    const double noise = pvi_second_noise(p, units);
    const bool paper = c->calibration == PVI_SECOND_PAPER;
    if (t == 1 || paper || accept(s, d, c->radius)) {
        if (t > 1 && !paper && noise > 0.0) combine(s, d, noise);
        else s->variance = noise * noise;
        move_base(s, w, d);
    }
    if ((st = pvi_trust_solve(&s->s.trust, s->H, s->g, s->radius, s->h)) != PV_OK)
        return pvi_fail(p->ctx, st, "the trust-region step has no solution in numbers");
    for (int64_t j = 0; j < d; j++) w[j] = s->base[j] + s->h[j];
    if (s->stop) return PV_DONE; /* (4): w is what is returned, whatever the output rule */
    s->stop = !isnan(c->alpha) && s->s.trust.lambda <= sqrt(c->alpha * pvi_second_rho(p)) && t < c->loop.steps;
    return pvi_loop_end(&s->s.loop, p, t, w);
}
