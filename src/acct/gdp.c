/* gdp.c - the exact privacy curve of a Gaussian, bracketed by rounding.
 *
 * With mu = sensitivity / standard deviation, t = eps/mu, a = t - mu/2 and b = t + mu/2 = a + mu,
 *   (1) delta = Q(a) - e^eps Q(b)                         Balle, Wang 2018, Thm 8 (Q = 1 - Phi)
 *   (2)       = phi(a) (R(a) - R(b)),  R = Q/phi          because (b^2 - a^2)/2 = eps
 *   (3)       = phi(a) int_a^b D(x) dx, D = -R' = 1 - x R
 * (1) serves a <= 0, (2) a > 0, (3) mu <= 1, where (1) and (2) would cancel; nothing overflows in
 * any of them.  R and D come from mills.c.
 *
 * Rounding  F(a) = phi(a)(R(a) - R(a + mu)) decreases in a.  Upper bounds evaluate it at an a
 *   lowered by the rounding of t - mu/2 and multiply by 1 + SLACK, lower bounds the other way
 *   round.  SLACK = 2^-41 exceeds the worst error of the formulas: a^2/2 <= 760 before delta
 *   leaves the double range, so exp(-a^2/2) errs by less than 760 * 3 ulp < 2^-42.
 * Inversion  Newton's method on ln F finds t; then t moves outwards until the bound itself says
 *   delta_ub(t) <= delta, so the result does not depend on how well Newton converged. */
#include "acct.h"
#include "mills.h"

#define SLACK        0x1p-41
#define SQRT_HALF    0.70710678118654752440
#define INV_SQRT_2PI 0.39894228040143267794
#define A_MAX        39.5 /* F(39.5) < 1e-340: below every double */

/* (3): Gauss-Legendre with 16 nodes on [a, a + mu], mu <= 1; D is entire, the rule's error is far
 * below an ulp on so short an interval. */
static double mills_drop(double a, double mu)
{
    static const double x[8] = { 0.09501250983763744018531934, 0.2816035507792589132304605,
                                 0.4580167776572273863424194,  0.6178762444026437484466718,
                                 0.7554044083550030338951012,  0.8656312023878317438804679,
                                 0.9445750230732325760779884,  0.9894009349916499325961542 };
    static const double w[8] = { 0.1894506104550684962853967,  0.1826034150449235888667637,
                                 0.1691565193950025381893121,  0.1495959888165767320815017,
                                 0.1246289712555338720524763,  0.09515851168249278480992511,
                                 0.06225352393864789286284384, 0.02715245941175409485178057 };
    double sum = 0, R, lo, hi;
    for (int i = 7; i >= 0; i--) {
        pvi_mills(a + 0.5 * mu * (1.0 - x[i]), &R, &lo);
        pvi_mills(a + 0.5 * mu * (1.0 + x[i]), &R, &hi);
        sum += w[i] * (lo + hi);
    }
    return 0.5 * mu * sum;
}

static double profile(double mu, double a)
{
    const double phi = INV_SQRT_2PI * exp(-0.5 * a * a);
    double Ra, Rb, D;
    if (mu <= 1.0) return phi * mills_drop(a, mu); /* (3) */
    pvi_mills(a + mu, &Rb, &D);
    if (a <= 0) return 0.5 * erfc(a * SQRT_HALF) - phi * Rb; /* (1) */
    pvi_mills(a, &Ra, &D);
    return phi * (Ra - Rb); /* (2) */
}

/* F at t = eps/mu with a moved by its own rounding in the direction given (-1: F rises). */
static double profile_at(double mu, double t, int direction)
{
    const double err = 0x1p-51 * (t + 0.5 * mu);
    double a = t - 0.5 * mu + direction * err;
    if (a < -0.5 * mu) a = -0.5 * mu; /* eps >= 0 */
    return a < A_MAX ? profile(mu, a) : 0.0;
}

static double delta_ub(double mu, double t)
{
    const double d = profile_at(mu, t, -1) * (1.0 + SLACK) + 0x1p-1074; /* the last term covers underflow */
    return d < 1.0 ? d : 1.0;
}

static double delta_lb(double mu, double t)
{
    const double d = profile_at(mu, t, 1) * (1.0 - SLACK) - 0x1p-1022; /* nothing is claimed of subnormals */
    return d > 0.0 ? d : 0.0;
}

double pvi_gdp_delta_ub(double mu, double eps)
{
    if (!(mu > 0) || !(eps < INFINITY)) return 0.0;
    return delta_ub(mu, pvi_down(eps / mu, 1));
}

double pvi_gdp_delta_lb(double mu, double eps)
{
    if (!(mu > 0) || !(eps < INFINITY)) return 0.0;
    return delta_lb(mu, pv_up(eps / mu, 1));
}

/* t with F(t) close to delta < F(0): Newton on ln F inside a shrinking bracket, until the steps are
 * below a tolerance that grows, so that it ends whatever the rounding.
 * -F'(t) = mu phi(a) R(b), the derivative of (1) at fixed mu. */
static double solve(double mu, double delta)
{
    double lo = 0.0, hi = (0.5 * mu + A_MAX) * (1.0 + 0x1p-40), t = 0.5 * mu < 1.0 ? 1.0 : 0.5 * mu, R, D;
    double last = INFINITY, tol = 0x1p-48;
    for (int i = 0; PVI_ITERATE(GDP_NEWTON, i) && fabs(t - last) > tol * (1.0 + t); i++, tol *= 1.25) {
        const double F = profile_at(mu, t, 0), a = t - 0.5 * mu;
        if (F > delta) lo = t;
        else hi = t;
        pvi_mills(t + 0.5 * mu, &R, &D);
        const double slope = mu * INV_SQRT_2PI * exp(-0.5 * a * a) * R;
        const double next = t + F * log(F / delta) / slope;
        last = t;
        t = next > lo && next < hi ? next : 0.5 * (lo + hi); /* false for NaN */
    }
    return t;
}

double pvi_gdp_epsilon_ub(double mu, double delta)
{
    if (!(mu > 0) || delta_ub(mu, 0.0) <= delta) return 0.0;
    if (!(delta > 0)) return INFINITY;
    double t = solve(mu, delta), step = 0x1p-46 * t;
    for (int i = 0; !(delta_ub(mu, t) <= delta); i++, step *= 2) {
        if (!PVI_ITERATE(GDP_MOVE, i)) return INFINITY;
        t += step;
    }
    return pv_up(mu * t, 1);
}

double pvi_gdp_epsilon_lb(double mu, double delta)
{
    if (!(mu > 0) || !(delta_lb(mu, 0.0) >= delta)) return 0.0;
    if (!(delta > 0)) return INFINITY;
    double t = solve(mu, delta), step = 0x1p-46 * t;
    for (int i = 0; !(delta_lb(mu, t) >= delta); i++, step *= 2) { /* it is at t = 0 */
        if (!PVI_ITERATE(GDP_MOVE, i)) return 0.0;
        t = fmax(t - step, 0.0);
    }
    return pvi_down(mu * t, 1);
}
