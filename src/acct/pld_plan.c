/* pld_plan.c - choosing tilt, cells, lattice and window.
 *
 * Nothing chosen here can make a bound wrong: masses (pld_mass.c) and evaluation (pld_compose.c) are
 * certified for every tilt, lattice and window.  The choices decide how tight and how fast.
 *
 *   (1) theta   minimises Markov's bound on eps, (K(theta) + ln c(theta) - ln delta)/theta, or on ln delta; the
 *               saddle-point approximation delta = e^{K - theta eps}/(theta (1+theta) s sqrt(2 pi)) then
 *               gives a first guess.
 *   (2) cells   of width w raise the variance of a loss by w^2/6 from above and lower it by w^2/12 from
 *               below, which moves eps by (1 + theta)/2 times the total, tilted.  c sets the width relative to
 *               the loss; h is the largest lattice whose cells around zero add no more than the others.
 *               The gap is predicted by (K_up - K_low)/theta, so c and h are settled before composing.
 *   (3) window  with a = -ln(what wrapping may add): theta y >= a and (t - theta) y >= K(t) - t eps - ln(1+t) + a,
 *               so y = (K(t) - ln(1+t) + 2 a)/t - eps, minimised over t, and theta = a/y. */
#include "pld.h"

enum { ROUNDS = 6, ROOM = 1 << 15, TOTAL = 1 << 18 };

pv_status pvi_pld_build(pvi_pld_job *b, bool low)
{
    pvi_pld_mass *m = pv_arena_get(b->arena, (size_t)b->terms * sizeof *m);
    const pvi_pld_grid g = { b->h, b->c, b->cap, b->tail, b->add, low };
    const int64_t room = TOTAL / b->terms < ROOM ? TOTAL / b->terms : ROOM;
    if (!m) return PV_E_NOMEM;
    if (!(b->work < PVI_PLD_WORK)) return PV_E_NUMERIC;
    double never = 0;
    for (int64_t e = 0; e < b->terms; e++) {
        const pv_status ok = pvi_pld_mass_build(b->arena, &b->term[e], &g, room, &m[e]);
        if (ok != PV_OK) return ok;
        never += (double)m[e].count * log1p(-m[e].inf);
        b->work += 200.0 * (double)m[e].len;
    }
    if (low) b->low = m;
    else b->up = m, b->inf = -expm1(never) * (1.0 + 64 * PVI_PLD_U);
    return PV_OK;
}

static pvi_pld_cumulant cumulants(const pvi_pld_job *b, double theta)
{
    return pvi_pld_cumulants(b->up, b->terms, b->h, theta);
}

/* Smallest f over x = start 2^k, k = 0 .. octaves, then nearby; f may have several minima. */
static double minimize(const pvi_pld_job *b, double (*f)(const pvi_pld_job *, double), double start, int octaves,
                       double *value)
{
    double best = start, fbest = f(b, start), x = start;
    for (int i = 0; i < octaves; i++) {
        const double fx = f(b, x *= 2.0);
        if (fx < fbest) best = x, fbest = fx;
    }
    for (double step = octaves ? 1.41 : 1.1; step > 1.05; step = sqrt(step)) {
        const double up = f(b, best * step), down = up < fbest ? INFINITY : f(b, best / step);
        if (up < fbest) best *= step, fbest = up;
        else if (down < fbest) best /= step, fbest = down;
    }
    *value = fbest;
    return best;
}

/* ---- (1) ----------------------------------------------------------------------------------------------- */

/* The finite part of delta, rounded down: by more than any sum of infinite losses is off. */
double pvi_pld_finite_delta(const pvi_pld_job *b)
{
    return (b->delta - b->inf) - 256 * PVI_PLD_U * b->delta;
}

static double markov_at(const pvi_pld_job *b, double theta)
{
    const double x = pvi_pld_markov(b->up, b->terms, b->h, theta, b->delta > 0 ? 0.0 : b->eps);
    return b->delta > 0 ? (x - log(pvi_pld_finite_delta(b))) / theta * (1.0 + 0x1p-48) : x;
}

/* Beyond the largest loss only infinite ones are left. */
double pvi_pld_largest(const pvi_pld_job *b)
{
    double sum = 0, size = 0;
    for (int64_t e = 0; e < b->terms; e++) {
        const double x = (double)b->up[e].count * ((double)b->up[e].k[b->up[e].len - 1] * b->h);
        sum += x;
        size += fabs(x);
    }
    return pvi_pld_max(sum + 0x1p-45 * size, 0.0);
}

/* first: the size of theta is not known yet. */
static void tilt(pvi_pld_job *b, bool first)
{
    double value;
    int octaves = 0;
    if (first) { /* from one large loss to many small ones */
        const double top = 30.0 / pvi_pld_max(sqrt(cumulants(b, 0.0).K2), 1e-6 * b->far);
        b->theta = pvi_pld_min(0.01 * top, 0.5 / b->far);
        while (PVI_ITERATE(PLD_OCTAVE, octaves) && ldexp(b->theta, octaves) < top) octaves++;
    }
    b->theta = minimize(b, markov_at, b->theta, octaves, &value);
    b->s = sqrt(cumulants(b, b->theta).K2);
    const double peak = log(pvi_pld_max(1.0, b->theta * b->s * 2.5066)); /* how far Markov's bound is off */
    b->markov = value;
    b->guess = b->delta > 0 ? pvi_pld_min(pvi_pld_max(0.0, value - peak / b->theta), pvi_pld_largest(b)) : b->eps;
    b->ln_delta = b->delta > 0 ? log(pvi_pld_finite_delta(b)) : value - peak;
}

/* ---- (2) ----------------------------------------------------------------------------------------------- */

/* Variance that one cell of step h adds to a loss x. */
static double fine_cell(double x, double h)
{
    return x < h ? x * (h - x) : h * h / 6.0;
}

/* Tilted variance added by cells wider than the lattice, and by those of one step h. */
static void dilation(const pvi_pld_job *b, double h, double *wide, double *fine)
{
    *wide = *fine = 0;
    for (int64_t e = 0; e < b->terms; e++) {
        const pvi_pld_mass *m = &b->up[e];
        double mean, var;
        const double lnM = pvi_pld_log_moment(m, b->h, b->theta, &mean, &var);
        for (int64_t i = 0; i < m->len; i++) {
            const double y = (double)m->k[i] * b->h, x = fabs(y),
                         w = b->c * pvi_pld_min(x, pvi_pld_min(b->cap, m->scale));
            const double r = (double)m->count * m->p[i] * exp(b->theta * y - lnM);
            *wide += r * w * w / 6.0;
            if (w < h) *fine += r * fine_cell(x, h);
        }
    }
}

/* Makes h divide the largest loss of an unsampled discrete event: its masses are then exact. */
static double snapped(const pvi_pld_job *b, double h)
{
    double e0 = 0;
    for (int64_t e = 0; e < b->terms; e++) {
        pvi_pld_pair x;
        pvi_pld_pair_init(&x, &b->term[e], false, false, h);
        if (x.q == 1.0 && x.atoms > 0) e0 = pvi_pld_max(e0, x.atom[x.atoms - 1].loss);
    }
    return e0 > 0 ? e0 / ceil(e0 / h) : h;
}

static void choose_lattice(pvi_pld_job *b)
{
    double wide, fine, h;
    b->cap = 4.0 / b->theta;
    h = b->c * pvi_pld_min(b->cap, b->far);
    dilation(b, h, &wide, &fine);
    /* all masses but atoms lie at zero or 2^-24 of `far` away */
    for (int i = 0; PVI_ITERATE(PLD_HALVE, i) && fine > wide && h > 0x1p-30 * b->far; i++) {
        h *= 0.5;
        dilation(b, h, &wide, &fine);
    }
    b->h = snapped(b, h);
}

/* When few large losses make up the tail, and eps = b->guess and -d ln delta/d eps = slope are known: a step acts
 * through its losses up to the size of 1/slope, and through those next to eps. */
void pvi_pld_lattice_near(pvi_pld_job *b, double slope)
{
    const double eps = b->guess, want = b->tolerance * pvi_pld_max(eps, 0.1 / slope);
    double square = 0, fine = INFINITY;
    for (int64_t e = 0; e < b->terms; e++)
        for (int64_t i = 0; i < b->up[e].len; i++) {
            const double x = fabs((double)b->up[e].k[i] * b->h);
            if (x < 3.0 / slope) square += (double)b->up[e].count * b->up[e].p[i] * x * x;
        }
    b->c = pvi_pld_min(0.1, sqrt(want * pvi_pld_min(8.0 / (slope * eps * eps), 4.0 / (square * (1.0 + slope)))));
    double h = b->c * pvi_pld_max(eps, 1.0 / slope);
    for (int j = 0; j < 30; j++, h *= 0.5) {
        fine = 0;
        for (int64_t e = 0; e < b->terms; e++)
            for (int64_t i = 0; i < b->up[e].len; i++) {
                const double x = fabs((double)b->up[e].k[i] * b->h);
                if (x < 3.0 / slope && b->c * x < h) fine += (double)b->up[e].count * b->up[e].p[i] * fine_cell(x, h);
            }
        if (fine * (1.0 + slope) <= want) break;
    }
    b->h = snapped(b, h);
    b->cap = 4.0 / b->theta;
}

static double predicted_gap(const pvi_pld_job *b)
{
    return (cumulants(b, b->theta).K - pvi_pld_cumulants(b->low, b->terms, b->h, b->theta).K) / b->theta;
}

/* Finer cells until the gap will do, or rounding or room ends the improvement. */
pv_status pvi_pld_refine(pvi_pld_job *b)
{
    pvi_pld_job best = *b;
    double least = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        pv_status ok = pvi_pld_build(b, false);
        if (ok == PV_OK) ok = pvi_pld_build(b, true);
        if (ok == PV_E_NUMERIC && i > 0) break;
        if (ok != PV_OK) return ok;
        tilt(b, false);
        const double gap = predicted_gap(b), want = b->tolerance * pvi_pld_max(b->guess, 0.1 * b->s);
        const bool better = gap < 0.8 * least;
        if (gap < least) best = *b, least = gap;
        if (gap <= want || !better) break;
        const double f = pvi_pld_max(0.1, 0.9 * sqrt(want / gap));
        b->c *= f;
        b->h = snapped(b, b->h * f);
        b->cap = 4.0 / b->theta;
    }
    best.work = b->work;
    *b = best;
    return PV_OK;
}

/* Coarse masses on a very fine lattice: enough to find the tilt. */
pv_status pvi_pld_survey(pvi_pld_job *b, double c)
{
    b->far = 0;
    for (int64_t e = 0; e < b->terms; e++) {
        pvi_pld_pair x;
        double lo, hi;
        pvi_pld_pair_init(&x, &b->term[e], b->add, false, 1.0);
        pvi_pld_pair_range(&x, b->tail, &lo, &hi);
        b->far = pvi_pld_max(b->far, pvi_pld_max(fabs(lo), fabs(hi)));
        for (int i = 0; i < x.atoms; i++) b->far = pvi_pld_max(b->far, fabs(x.atom[i].loss)); /* a sampled ball's */
    }
    if (!(b->far < INFINITY)) return PV_E_NUMERIC;
    b->far = pvi_pld_max(b->far, 1e-100); /* only zero losses */
    b->h = b->far * 0x1p-24, b->c = 0.2, b->cap = INFINITY;
    const pv_status ok = pvi_pld_build(b, false);
    if (ok != PV_OK || (b->delta > 0 && !(pvi_pld_finite_delta(b) > 0))) return ok;
    tilt(b, true);
    b->c = c;
    choose_lattice(b);
    return PV_OK;
}

/* ---- (3) ----------------------------------------------------------------------------------------------- */

static double wrap_exponent(const pvi_pld_job *b)
{
    return 9.2 - pvi_pld_min(b->ln_delta, 0.0); /* a: 1e-4 of delta; Markov's bound on it may be above 1 */
}

static double reach_at(const pvi_pld_job *b, double t)
{
    return (cumulants(b, t).K - log1p(t) + 2.0 * wrap_exponent(b)) / t;
}

static double exponent_at(const pvi_pld_job *b, double theta)
{
    return cumulants(b, theta).K - theta * b->guess;
}

/* y for theta and t both given */
static double width_for(const pvi_pld_job *b, double theta, double t, double reach)
{
    const double a = wrap_exponent(b), high = cumulants(b, t).K - t * reach - log1p(t) + a;
    return pvi_pld_max(a / theta, high / (t - theta));
}

/* For all eps from `reach` on.  theta must not be so far from the saddle point at eps that rounding is all that
 * is left of the sum. */
pvi_pld_window pvi_pld_choose_window(const pvi_pld_job *b, double reach)
{
    pvi_pld_window w;
    double least;
    const double a = wrap_exponent(b), saddle = minimize(b, exponent_at, 0.25 * b->theta, 4, &least);
    w.t = minimize(b, reach_at, b->theta, 5, &w.y);
    w.y = pvi_pld_max(w.y - reach, a / (20.0 * b->theta));
    w.theta = a / w.y;
    if (exponent_at(b, w.theta) > least + 6.0) {
        for (int i = 0; i < 8 && exponent_at(b, w.theta) > least + 6.0; i++) w.theta = sqrt(w.theta * saddle);
        w.t = pvi_pld_max(w.t, 1.1 * w.theta);
        w.y = width_for(b, w.theta, w.t, reach);
        for (double t = 1.05 * w.theta; t < 4.0 * w.theta; t *= 1.1) {
            const double y = width_for(b, w.theta, t, reach);
            if (y < w.y) w.y = y, w.t = t;
        }
    }
    w.t = pvi_pld_max(w.t, 1.01 * w.theta);
    w.N = 16;
    while ((double)w.N * b->h < w.y && w.N < (int64_t)1 << 44) w.N *= 2;
    w.y = (double)w.N * b->h;
    return w;
}
