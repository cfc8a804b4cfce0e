/* pld_bracket.c - certified epsilon and delta of a list of terms.
 *
 * delta(eps) of the composition is bracketed by pld_compose.c; here it is inverted.  Only values at which a
 * certified bound was evaluated are returned, so that neither the search nor its starting point matters:
 *   (1) upper bound: delta_ub(eps) <= delta, or Markov's bound if that is smaller
 *   (2) lower bound: delta_lb(eps) > delta
 * Sampled events have two directions.  Epsilon is the larger of the two; if delta_ub of the second is at most
 * delta at the epsilon of the first, the second cannot matter.
 * The cells are refined until the gap is small enough.  Work is limited by counting, not by the clock, so that
 * the same question has the same answer. */
#include "pld.h"

enum { TRIES = 6 };
#define TAIL_MIN 1e-280

typedef struct curve {
    pvi_pld_job *b; /* its work grows */
    const pvi_pld_law *law;
    const pvi_pld_window *w;
    bool low;
} curve;

static double value(const curve *c, double eps)
{
    const pvi_pld_mass *m = c->low ? c->b->low : c->b->up;
    c->b->work += 20.0 * (double)m->len; /* of one step; of more, pld_compose.c has counted enough */
    if (!c->low) return pvi_pld_delta_ub(c->law, eps);
    const double x = pvi_pld_excess(c->b->low, c->b->terms, c->b->h, c->w->theta, c->w->y, c->w->t, eps);
    return pvi_pld_delta_lb(c->law, eps, x);
}

typedef struct bracket {
    double lo, hi, flo, fhi; /* value(lo) > delta >= value(hi) */
} bracket;

/* Where between lo and hi to look: false position on ln delta, a little to either side of it in turn. */
static double next(const bracket *r, double delta, int i)
{
    const double mid = 0.5 * (r->lo + r->hi), t = (log(r->flo) - log(delta)) / (log(r->flo) - log(r->fhi));
    const double side = i % 3 == 0 ? 1e-6 : -1e-6, x = r->lo + (r->hi - r->lo) * (t * (1.0 + 100.0 * side) + side);
    return i % 3 != 2 && x > r->lo && x < r->hi ? x : mid; /* false for NaN */
}

/* First a bracket around the guess, growing ever faster: it reaches infinity, where only infinite losses are left
 * and the first loop ends, in a few hundred iterations; and zero.  Then its refinement, at least halved by every
 * third iteration.  Where a loop is cut short, infinity, zero or an end that holds is the answer. */
static double invert(const curve *c, double guess)
{
    const double delta = c->b->delta, f = value(c, guess);
    const double least = 1e-13 * c->b->s + 1e-300; /* no need to be closer, even to zero */
    double step = pvi_pld_min(0.001 * guess, 0.1 * c->b->s) + 1e-9 * (guess + c->b->s) + 1e-300;
    bracket r = { guess, guess, f, f };
    if (!(guess >= 0.0 && step > 0.0 && step < INFINITY))
        return c->low ? 0.0 : INFINITY; /* NaN: nothing to start from */
    for (int i = 0; r.fhi > delta; i++, step *= 1.0 + ldexp(1.0, i / 8)) {
        if (!(r.hi < INFINITY)) return INFINITY; /* infinite losses alone have more than delta */
        if (!PVI_ITERATE(PLD_RISE, i)) return c->low ? r.hi : INFINITY;
        r.lo = r.hi, r.flo = r.fhi, r.hi += step;
        r.fhi = value(c, r.hi);
    }
    for (int i = 0; !(r.flo > delta); i++, step *= 2) {
        r.hi = r.lo, r.fhi = r.flo;
        if (r.hi == 0) return 0.0;
        if (!PVI_ITERATE(PLD_FALL, i)) return c->low ? 0.0 : r.hi;
        r.lo = pvi_pld_max(r.lo - step, 0.0);
        r.flo = value(c, r.lo);
    }
    for (int i = 0; PVI_ITERATE(PLD_CLOSE, i) && r.hi - r.lo > 1e-7 * r.hi + least; i++) {
        const double x = next(&r, delta, i), y = value(c, x);
        if (y > delta) r.lo = x, r.flo = y;
        else r.hi = x, r.fhi = y;
    }
    return c->low ? r.lo : r.hi; /* (2), (1) */
}

/* ---- one side ----------------------------------------------------------------------------------------- */

static pv_status compose(pvi_pld_job *b, pv_arena *a, const pvi_pld_window *w, bool low, pvi_pld_law **law)
{
    const pvi_pld_mass *m = low ? b->low : b->up;
    const double K = pvi_pld_cumulants(m, b->terms, b->h, w->theta).K;
    const double scale = exp(b->ln_delta - K + w->theta * b->guess);
    return pvi_pld_compose(a, m, b->terms, b->h, w->theta, w->N, scale, &b->work, law);
}

/* Composes and inverts in scratch memory of its own.  slope: -d ln delta/d eps there; NULL: not wanted. */
static pv_status side(pvi_pld_job *b, const pvi_pld_window *w, bool low, double *eps, double *slope)
{
    pvi_pld_law *law;
    pv_arena *a = pvi_arena_create(b->ctx);
    pv_status ok = a ? compose(b, a, w, low, &law) : PV_E_NOMEM;
    if (ok == PV_OK) {
        const curve c = { b, law, w, low };
        *eps = invert(&c, b->guess);
        if (slope) {
            const double d = pvi_pld_max(pvi_pld_min(0.02 * *eps, 0.2 * b->s), b->h);
            *slope = log((value(&c, *eps) - b->inf) / (value(&c, *eps + d) - b->inf)) / d;
        }
    }
    pvi_arena_free(a);
    return ok;
}

/* The first guess may be far too high when few losses are large: then the window is moved down, as often as the
 * guess shrinks and work is left. */
static pv_status eps_above(pvi_pld_job *b, double *slope)
{
    for (int i = 0;; i++) {
        const double reach = i == 0 ? pvi_pld_max(0.95 * b->guess, b->guess - 2.0 * b->s) : 0.7 * b->guess;
        const pvi_pld_window w = pvi_pld_choose_window(b, reach);
        const pv_status ok = side(b, &w, false, &b->guess, slope);
        if (ok != PV_OK) return ok;
        if (!(b->guess < INFINITY)) return PV_E_NUMERIC; /* rounding is all that is left */
        if (b->guess < reach && PVI_ITERATE(PLD_WINDOW, i) && b->work < PVI_PLD_WORK) continue;
        if (i > 0) b->theta = w.theta;
        break;
    }
    *slope = pvi_pld_max(*slope, 0.1 / (b->guess + b->s)); /* the curve may have a plateau; false for NaN */
    return PV_OK;
}

/* From below the masses are those of `low`, and eps is lower by about the predicted gap. */
static pv_status eps_below_once(pvi_pld_job *b, double K_up, double *eps)
{
    pvi_pld_job x = *b;
    const double gap = (K_up - pvi_pld_cumulants(b->low, b->terms, b->h, b->theta).K) / b->theta;
    x.up = b->low;
    x.guess = pvi_pld_max(0.0, b->guess - pvi_pld_max(0.0, gap));
    const pvi_pld_window w = pvi_pld_choose_window(&x, x.guess - 0.5 * (b->guess - x.guess));
    const pv_status ok = side(&x, &w, true, eps, NULL);
    b->work = x.work;
    return ok;
}

/* Too much work: a coarser lattice may do. */
static pv_status eps_below(const pvi_pld_job *b, double *eps)
{
    pvi_pld_job x = *b;
    const double K_up = pvi_pld_cumulants(b->up, b->terms, b->h, b->theta).K;
    pv_status ok = eps_below_once(&x, K_up, eps);
    for (int i = 0; i < TRIES && ok == PV_E_NUMERIC; i++) {
        x.h *= 2.0;
        x.c *= 1.4;
        ok = pvi_pld_build(&x, true);
        if (ok == PV_OK) ok = eps_below_once(&x, K_up, eps);
    }
    return ok;
}

/* One direction.  A result is already there when the work limit stops an improvement. */
static pv_status solve(pvi_pld_job *b, double *ub, double *lb)
{
    pv_status ok = pvi_pld_survey(b, 0.1);
    if (ok != PV_OK) return ok;
    if (!(pvi_pld_finite_delta(b) > 0)) return *ub = INFINITY, PV_OK;
    *ub = pvi_pld_max(b->markov, 0.0);
    ok = pvi_pld_refine(b);
    if (ok == PV_OK) *ub = pvi_pld_min(*ub, pvi_pld_largest(b));
    for (int i = 0; i < TRIES && ok == PV_OK; i++) {
        const double guess = b->guess;
        double slope = 0, low = 0;
        if (i > 0) ok = pvi_pld_build(b, false);
        if (i > 0 && ok == PV_OK) ok = pvi_pld_build(b, true);
        if (ok == PV_OK) ok = eps_above(b, &slope);
        if (ok != PV_OK) break;
        *ub = pvi_pld_min(*ub, pvi_pld_min(b->guess, pvi_pld_largest(b)));
        const bool moved = fabs(b->guess - guess) > 0.1 * b->guess;
        b->guess = *ub;
        if (moved && slope < INFINITY) {
            pvi_pld_lattice_near(b, slope); /* all choices rested on a wrong guess */
            continue;
        }
        if ((ok = eps_below(b, &low)) != PV_OK) break;
        *lb = pvi_pld_max(*lb, low);
        const double gap = *ub - *lb, want = 2.0 * b->tolerance * pvi_pld_max(b->guess, 0.1 / slope);
        if (!(gap > want)) break;
        const double f = pvi_pld_max(0.1, 0.7 * sqrt(want / gap));
        b->c *= f;
        b->h *= f;
    }
    return ok == PV_E_NUMERIC ? PV_OK : ok;
}

/* One value of delta_ub, and its slope. */
static pv_status delta_above(pvi_pld_job *b, double *delta, double *slope)
{
    pvi_pld_law *law;
    pv_status ok = pvi_pld_build(b, false);
    if (ok != PV_OK) return ok;
    const pvi_pld_window w = pvi_pld_choose_window(b, b->eps);
    pv_arena *a = pvi_arena_create(b->ctx);
    ok = a ? compose(b, a, &w, false, &law) : PV_E_NOMEM;
    if (ok == PV_OK) {
        const double d = pvi_pld_max(pvi_pld_min(0.02 * b->eps, 0.2 * b->s), b->h), x = pvi_pld_delta_ub(law, b->eps);
        *slope = log((x - b->inf) / (pvi_pld_delta_ub(law, b->eps + d) - b->inf)) / d;
        *delta = pvi_pld_min(*delta, x);
    }
    pvi_arena_free(a);
    return ok;
}

/* Upper bound on delta at b->eps in one direction; it need not be better than `enough`. */
static pv_status solve_delta(pvi_pld_job *b, int tries, double enough, double *delta)
{
    double slope = 0; /* stays where delta_above refuses */
    pv_status ok = pvi_pld_survey(b, 0.1);
    if (ok != PV_OK) return ok;
    *delta = pvi_pld_min(1.0, (b->inf + exp(b->markov)) * (1.0 + 1e-12));
    for (int i = 0; i<tries && * delta> enough; i++) {
        ok = delta_above(b, delta, &slope);
        slope = pvi_pld_max(slope, 0.1 / (b->eps + b->s));
        if (ok != PV_OK || !(slope < INFINITY)) break;
        b->ln_delta = log(pvi_pld_max(*delta - b->inf, 1e-300));
        pvi_pld_lattice_near(b, slope);
    }
    return ok == PV_E_NUMERIC ? PV_OK : ok;
}

/* ---- both directions ------------------------------------------------------------------------------------- */

static pvi_pld_job job(pv_ctx *ctx, const pvi_pld_term *term, int64_t terms, double tail, double tolerance,
                       double *work)
{
    pvi_pld_job b = { .ctx = ctx, .term = term, .terms = terms, .tolerance = tolerance };
    for (int64_t e = 0; e < terms; e++) b.count += (double)term[e].count;
    b.tail = pvi_pld_max(tail / b.count, TAIL_MIN);
    b.total = work;
    return b;
}

static bool sampled(const pvi_pld_term *term, int64_t terms)
{
    for (int64_t e = 0; e < terms; e++)
        if (term[e].rate < 1.0) return true;
    return false;
}

static pv_status direction(pvi_pld_job b, bool add, double *ub, double *lb)
{
    b.add = add;
    if (!(*b.total < PVI_PLD_TOTAL)) return PV_E_NUMERIC;
    b.arena = pvi_arena_create(b.ctx);
    const pv_status ok = b.arena ? solve(&b, ub, lb) : PV_E_NOMEM;
    pvi_arena_free(b.arena);
    *b.total += b.work;
    return ok;
}

static pv_status direction_delta(pvi_pld_job b, bool add, int tries, double enough, double *delta)
{
    b.add = add;
    if (!(*b.total < PVI_PLD_TOTAL)) return PV_E_NUMERIC;
    b.arena = pvi_arena_create(b.ctx);
    const pv_status ok = b.arena ? solve_delta(&b, tries, enough, delta) : PV_E_NOMEM;
    pvi_arena_free(b.arena);
    *b.total += b.work;
    return ok;
}

pv_status pvi_pld_epsilon(pv_ctx *ctx, const pvi_pld_term *term, int64_t terms, double delta, double tolerance,
                          double *work, double *ub, double *lb)
{
    pvi_pld_job b = job(ctx, term, terms, 1e-5 * delta, tolerance, work);
    double ub2 = 0, lb2 = 0, d = 1;
    *ub = *lb = 0;
    if (terms == 0) return PV_OK;
    b.delta = delta;
    pv_status ok = direction(b, false, ub, lb);
    if (ok != PV_OK || *ub == INFINITY || !sampled(term, terms)) return ok;
    b.delta = 0, b.eps = *ub;
    ok = direction_delta(b, true, 2, delta, &d);
    if (ok != PV_OK || d <= delta) return ok;
    b.delta = delta;
    ok = direction(b, true, &ub2, &lb2);
    *ub = pvi_pld_max(*ub, ub2);
    *lb = pvi_pld_max(*lb, lb2);
    return ok;
}

/* The tail that may be cut off depends on delta: passes with Markov's bound alone find its size.  Each divides
 * delta by a million or is the last, so there are 55 at most before it is zero. */
static pv_status delta_one_way(pvi_pld_job b, bool add, double enough, double *delta)
{
    double last = 1.0;
    pv_status ok = direction_delta(b, add, 0, 0.0, delta);
    for (int i = 0; PVI_ITERATE(PLD_PASS, i) && ok == PV_OK && *delta < 1e-6 * last; i++) {
        last = *delta;
        b.tail = pvi_pld_max(pvi_pld_min(b.tail, 1e-12 * last / b.count), TAIL_MIN);
        ok = direction_delta(b, add, 0, 0.0, delta);
    }
    b.tail = pvi_pld_max(pvi_pld_min(b.tail, 1e-8 * *delta / b.count), TAIL_MIN);
    return ok == PV_OK && *delta > enough ? direction_delta(b, add, 4, enough, delta) : ok;
}

pv_status pvi_pld_delta(pv_ctx *ctx, const pvi_pld_term *term, int64_t terms, double eps, double tolerance,
                        double *work, double *ub)
{
    *ub = 0;
    if (terms == 0) return PV_OK;
    pvi_pld_job b = job(ctx, term, terms, 1e-20, tolerance, work);
    b.eps = eps;
    for (int add = 0; add < 1 + sampled(term, terms); add++) {
        double d = 1;
        const pv_status ok = delta_one_way(b, add, *ub, &d);
        if (ok != PV_OK) return ok;
        *ub = pvi_pld_max(*ub, d);
    }
    return PV_OK;
}
