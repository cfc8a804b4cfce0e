/* single.c - the exact privacy curve of one release.
 *
 * Definition  delta(eps) = sup over neighbours and sets S of  P(S) - e^eps Q(S)  =: H(P||Q) at the ratio g = e^eps.
 *
 * Without a sampler, e0 the parameter:
 *   (1) Gaussian, z       N(1/z, 1) against N(0, 1), the set x > t with density ratio g:
 *                         Phi(mu/2 - eps/mu) - g Phi(-mu/2 - eps/mu),  mu = rows sqrt(times)/z
 *   (2) Laplace, rows/e0  Laplace(1) against Laplace(0), scale 1/e0:  (1 - e^{(eps-e0)/2})_+
 *   (3) selection, e0     every law whose ratio P/Q lies in [T/E, T], E = e^e0: the extreme ones have two points,
 *                         P(S) = T Q(S), Q(S) = (E - T)/(T (E - 1)), so H = (E - T)(1 - g/T)/(E - 1); the
 *                         supremum over T is at T = sqrt(g E):  (sqrt E - sqrt g)^2/(E - 1) for g <= E, else 0
 *   (4) (e0, d)           d + (1 - d)(E - g)_+/(E + 1): d is disclosed outright, the rest is randomised response
 *   (5) ball, d           d
 * Sampled with rate q, A without the row and B with it: Poisson under zero-out.
 *   (6) removing it       P = (1-q) A + q B, Q = A:  P - g Q = q (B - G A), G = 1 + (g-1)/q:  q H_G
 *   (7) adding it         P = A, Q = (1-q) A + q B:  P - g Q = s A - g q B, s = 1 - g (1-q):  s H_{gq/s};
 *                         0 for s <= 0
 *   (8) fixed size under replace: P = (1-q) A + q B, Q = (1-q) A + q B', and any two of A, B, B' are neighbours.
 *       P - g Q = q (B - G C), C a mixture of A and B', so at most q H_G by convexity; reached with B' = A: (6).
 *   (9) a ball is q d under every sampler and relation: P - Q = q (B - B').
 * Poisson under replace: replacing is removing and adding, so with delta(eps) under zero-out
 *  (10) (1 + e^{eps/2}) delta(eps/2)   group privacy: an upper bound, and what privet answers
 *
 * Arb computes with intervals that contain the true value, without overflow or underflow; the precision is doubled
 * until the interval is narrow. */
#include "single.h"

#include <math.h>

#include <arb_hypgeom.h>

enum { FIRST = 128, LAST = 1 << 15, WANTED = 60 };

/* erfc(x), which falls, between its values at the two ends: Arb's own bound for an interval is too wide for
 * large x. */
static void erfc_between(arb_t y, const arb_t x, slong prec)
{
    arb_t lo, hi;
    arb_init(lo), arb_init(hi);
    arb_get_lbound_arf(arb_midref(lo), x, prec);
    arb_get_ubound_arf(arb_midref(hi), x, prec);
    arb_hypgeom_erfc(lo, lo, prec);
    arb_hypgeom_erfc(hi, hi, prec);
    arb_union(y, lo, hi, prec);
    arb_clear(lo), arb_clear(hi);
}

/* Phi(x) = erfc(-x/sqrt 2)/2 */
void ck_normal(arb_t p, const arb_t x, slong prec)
{
    arb_t r;
    arb_init(r);
    arb_sqrt_ui(r, 2, prec);
    arb_div(r, x, r, prec);
    arb_neg(r, r);
    erfc_between(p, r, prec);
    arb_mul_2exp_si(p, p, -1);
    arb_clear(r);
}

/* (1) */
static void gaussian(arb_t h, const ck_release *r, const arb_t eps, slong prec)
{
    arb_t mu, x, y, p;
    arb_init(mu), arb_init(x), arb_init(y), arb_init(p);
    arb_set_d(mu, r->times);
    arb_sqrt(mu, mu, prec);
    arb_set_d(x, r->rows);
    arb_mul(mu, mu, x, prec);
    arb_set_d(x, r->a);
    arb_div(mu, mu, x, prec);
    arb_div(y, eps, mu, prec); /* eps/mu */
    arb_mul_2exp_si(mu, mu, -1);
    arb_sub(x, mu, y, prec);
    ck_normal(h, x, prec);
    arb_add(x, mu, y, prec);
    arb_neg(x, x);
    ck_normal(p, x, prec);
    arb_exp(y, eps, prec);
    arb_submul(h, y, p, prec);
    arb_clear(mu), arb_clear(x), arb_clear(y), arb_clear(p);
}

/* x_+ */
static void positive_part(arb_t x, slong prec)
{
    arb_t zero;
    arb_init(zero);
    arb_max(x, x, zero, prec);
    arb_clear(zero);
}

/* (2), (3), (4) with e0 = eps0 */
static void bounded(arb_t h, const ck_release *r, const arb_t eps0, const arb_t eps, slong prec)
{
    arb_t x, y, d;
    arb_init(x), arb_init(y), arb_init(d);
    if (r->kind == CK_LAPLACE) { /* 1 - e^{(eps-e0)/2} */
        arb_sub(x, eps, eps0, prec);
        arb_mul_2exp_si(x, x, -1);
        arb_expm1(h, x, prec);
        arb_neg(h, h);
        positive_part(h, prec);
    } else if (r->kind == CK_SELECT) { /* with both numerator and denominator divided by E */
        arb_sub(x, eps, eps0, prec);
        arb_mul_2exp_si(x, x, -1);
        arb_expm1(x, x, prec);
        arb_neg(x, x);
        positive_part(x, prec); /* 1 - sqrt(g/E) */
        arb_mul(x, x, x, prec);
        arb_neg(y, eps0);
        arb_expm1(y, y, prec);
        arb_neg(y, y); /* 1 - 1/E */
        arb_div(h, x, y, prec);
    } else { /* (1 - g/E)/(1 + 1/E) */
        arb_sub(x, eps, eps0, prec);
        arb_expm1(x, x, prec);
        arb_neg(x, x);
        positive_part(x, prec);
        arb_neg(y, eps0);
        arb_exp(y, y, prec);
        arb_add_ui(y, y, 1, prec);
        arb_div(x, x, y, prec);
        arb_set_d(d, r->b);
        arb_sub_ui(y, d, 1, prec);
        arb_submul(d, y, x, prec);
        arb_set(h, d);
    }
    arb_clear(x), arb_clear(y), arb_clear(d);
}

void ck_base(arb_t h, const ck_release *r, const arb_t eps, slong prec)
{
    arb_t eps0, rows;
    if (r->kind == CK_GAUSSIAN) {
        gaussian(h, r, eps, prec);
        return;
    }
    arb_init(eps0), arb_init(rows);
    arb_set_d(eps0, r->a);
    arb_set_d(rows, r->rows);
    if (r->kind == CK_BALL) {
        arb_set(h, eps0);
    } else {
        if (r->kind == CK_LAPLACE) arb_div(eps0, rows, eps0, prec);
        bounded(h, r, eps0, eps, prec);
    }
    arb_clear(eps0), arb_clear(rows);
}

/* (6): q H_G */
static void removing(arb_t d, const ck_release *r, const arb_t eps, slong prec)
{
    arb_t q, G;
    arb_init(q), arb_init(G);
    arb_set_d(q, r->rate);
    arb_expm1(G, eps, prec);
    arb_div(G, G, q, prec);
    arb_log1p(G, G, prec);
    ck_base(d, r, G, prec);
    arb_mul(d, d, q, prec);
    arb_clear(q), arb_clear(G);
}

/* (7): s H_{gq/s}; every base pair is symmetric, H(P0||Q0) = H(Q0||P0) */
static void adding(arb_t d, const ck_release *r, const arb_t eps, slong prec)
{
    arb_t g, s, x;
    arb_init(g), arb_init(s), arb_init(x);
    arb_exp(g, eps, prec);
    arb_set_d(x, r->rate);
    arb_sub_ui(s, x, 1, prec);
    arb_mul(s, s, g, prec);
    arb_add_ui(s, s, 1, prec);
    if (arb_is_positive(s)) {
        arb_mul(x, x, g, prec);
        arb_div(x, x, s, prec);
        arb_log(x, x, prec);
        positive_part(x, prec); /* it is >= 0; an interval may reach below */
        ck_base(d, r, x, prec);
        arb_mul(d, d, s, prec);
    } else if (arb_is_nonpositive(s)) {
        arb_zero(d);
    } else { /* between 0 and s */
        arb_zero(d);
        arb_union(d, d, s, prec);
        positive_part(d, prec);
    }
    arb_clear(g), arb_clear(s), arb_clear(x);
}

bool ck_group(const ck_release *r)
{
    return r->sampler == CK_POISSON && r->replace && r->kind != CK_BALL; /* (9) needs no group bound */
}

bool ck_known(const ck_release *r)
{
    return r->kind == CK_BALL || r->sampler != CK_FIXED || r->replace;
}

/* The larger direction; the relation's own theorem. */
static void curve(arb_t d, const ck_release *r, const arb_t eps, slong prec)
{
    arb_t x;
    arb_init(x);
    if (r->sampler == CK_WHOLE) {
        ck_base(d, r, eps, prec);
    } else {
        removing(d, r, eps, prec);
        adding(x, r, eps, prec);
        arb_max(d, d, x, prec);
    }
    positive_part(d, prec);
    arb_clear(x);
}

/* (10), where it is asked for */
static void answer(arb_t d, const ck_release *r, const arb_t eps, slong prec)
{
    arb_t half;
    if (!ck_group(r)) {
        curve(d, r, eps, prec);
        return;
    }
    arb_init(half);
    arb_mul_2exp_si(half, eps, -1);
    curve(d, r, half, prec);
    arb_exp(half, half, prec);
    arb_add_ui(half, half, 1, prec);
    arb_mul(d, d, half, prec);
    arb_clear(half);
}

void ck_delta(arb_t delta, const ck_release *r, double eps)
{
    arb_t e;
    arb_init(e);
    arb_set_d(e, eps);
    for (slong prec = FIRST; prec <= LAST; prec *= 2) {
        answer(delta, r, e, prec);
        if (arb_rel_accuracy_bits(delta) >= WANTED || arb_is_zero(delta)) break;
        if (arf_cmpabs_2exp_si(arb_midref(delta), -30000) < 0 && mag_cmp_2exp_si(arb_radref(delta), -30000) < 0)
            break;
    }
    arb_clear(e);
}

/* delta(eps) <= delta for sure */
static bool enough(const ck_release *r, double delta, double eps)
{
    arb_t d, x;
    arb_init(d), arb_init(x);
    ck_delta(d, r, eps);
    arb_set_d(x, delta);
    const bool yes = arb_le(d, x);
    arb_clear(d), arb_clear(x);
    return yes;
}

void ck_epsilon(const ck_release *r, double delta, double *lo, double *hi)
{
    *lo = *hi = 0.0;
    if (enough(r, delta, 0.0)) return;
    for (*hi = 1.0; !enough(r, delta, *hi); *lo = *hi, *hi *= 4.0)
        if (*hi > 1e15) {
            *lo = *hi = INFINITY;
            return;
        }
    for (double x = 1e-3; *lo == 0.0 && x > 1e-40; x *= 1e-3) *(enough(r, delta, x) ? hi : lo) = x;
    while (*hi - *lo > 1e-12 * *hi && *lo > 0.0) {
        const double mid = *hi > 2.0 * *lo ? sqrt(*lo * *hi) : 0.5 * (*lo + *hi);
        *(enough(r, delta, mid) ? hi : lo) = mid;
    }
}

/* ---- an attack on Poisson sampling under replace -------------------------------------------------------------- */

/* q Phi(m - t) + (1-q) Phi(-t): the mixture's probability of x > t, the row pulling to m */
static void beyond(arb_t p, const arb_t q, const arb_t m, double t, slong prec)
{
    arb_t x, y;
    arb_init(x), arb_init(y);
    arb_set_d(x, t);
    arb_sub(x, m, x, prec);
    ck_normal(p, x, prec);
    arb_set_d(x, -t);
    ck_normal(y, x, prec);
    arb_sub(p, p, y, prec);
    arb_mul(p, p, q, prec);
    arb_add(p, p, y, prec);
    arb_clear(x), arb_clear(y);
}

/* ln of the density ratio at t of the rows at +mu and -mu, in doubles: any t gives a valid set. */
static double log_ratio(double q, double mu, double t)
{
    const double u = mu * t - 0.5 * mu * mu, v = -mu * t - 0.5 * mu * mu, w = log1p(-q);
    const double up = u + log(q) > w ? u + log(q) + log1p(exp(w - u - log(q))) : w + log1p(exp(u + log(q) - w));
    const double down = v + log(q) > w ? v + log(q) + log1p(exp(w - v - log(q))) : w + log1p(exp(v + log(q) - w));
    return up - down;
}

void ck_attack(arb_t delta, const ck_release *r, double eps)
{
    const double mu = sqrt(r->times) / r->a;
    double lo = 0.0, hi = 1.0;
    arb_t q, m, g, p;
    while (log_ratio(r->rate, mu, hi) < eps && hi < 1e9) hi *= 2.0;
    for (int i = 0; i < 60; i++) *(log_ratio(r->rate, mu, 0.5 * (lo + hi)) < eps ? &lo : &hi) = 0.5 * (lo + hi);
    arb_init(q), arb_init(m), arb_init(g), arb_init(p);
    for (slong prec = FIRST; prec <= LAST; prec *= 2) {
        arb_set_d(q, r->rate);
        arb_set_d(g, r->times);
        arb_sqrt(g, g, prec);
        arb_set_d(m, r->a);
        arb_div(m, g, m, prec);
        beyond(delta, q, m, hi, prec);
        arb_neg(m, m);
        beyond(p, q, m, hi, prec);
        arb_set_d(g, eps);
        arb_exp(g, g, prec);
        arb_submul(delta, g, p, prec);
        if (arb_rel_accuracy_bits(delta) >= WANTED) break;
    }
    arb_clear(q), arb_clear(m), arb_clear(g), arb_clear(p);
}
