/* convert.c - from a Renyi bound at one order to (epsilon, delta), and the search for the order.
 *
 * If the Renyi divergence of order alpha = 1 + m is at most r in both directions, then
 *   (1) eps(delta) = r + ln(1 - 1/alpha) - (ln delta + ln alpha)/m
 *   (2) delta(eps) = exp(m (r - eps)) / m * (1 - 1/alpha)^alpha
 *                                 Canonne, Kamath, Steinke 2020, Prop. 12
 *   (3) delta(0) = total variation <= sqrt(1 - e^-r)           Bretagnolle, Huber 1979; order 1 <= alpha
 * (1) and (2) hold for every real eps, so a negative value of (1) means that (0, delta) holds.
 * Working with m instead of alpha keeps 1 - 1/alpha = m/(1 + m) exact for orders close to 1.
 *
 * Search    With K(m) = m r(m) convex (a cumulant function), (1) is (K(m) + m ln m
 *   - (1+m) ln(1+m) - ln delta)/m: convex over linear, hence one valley.  Any order gives a valid
 *   bound, so the search affects tightness only, never validity.
 * Rounding  each sum is raised by 2^-50 of the sum of its absolute terms. */
#include "acct.h"

#define ROUNDING 0x1p-50

double pvi_rdp_epsilon(double m, double rdp, double delta)
{
    if (rdp == 0) return 0.0; /* identical output distributions */
    if (!(delta > 0) || !(rdp < INFINITY)) return INFINITY;
    if (pv_up(-expm1(-rdp), 2) <= pvi_down(delta * delta, 1)) return 0.0; /* (3) */
    const double shrink = -log1p(1.0 / m), gain = (log(delta) + log1p(m)) / m;
    const double eps = rdp + shrink - gain; /* (1) */
    const double slack = ROUNDING * (rdp - shrink + (fabs(log(delta)) + log1p(m)) / m);
    return eps + slack > 0 ? eps + slack : 0.0;
}

double pvi_rdp_delta(double m, double rdp, double eps)
{
    if (rdp == 0) return 0.0;
    if (!(rdp < INFINITY)) return 1.0;
    if (!(eps < INFINITY)) return 0.0;
    const double a = m * rdp, b = m * eps, c = log(m), d = (1.0 + m) * log1p(1.0 / m);
    const double ln = a - b - c - d + ROUNDING * (a + b + fabs(c) + d); /* (2) */
    const double tv = pv_up(sqrt(-expm1(-rdp)), 3);                     /* (3) */
    const double delta = ln < 0 ? pv_up(exp(ln), 2) + 0x1p-1074 : 1.0;
    return delta < tv ? delta : tv < 1.0 ? tv : 1.0;
}

/* A coarse scan finds the valley, golden section its floor; stops when the values agree to 1e-13. */
double pvi_minimize(double (*f)(void *user, double m), void *user, double lo, double hi)
{
    enum { SCAN = 24 };
    const double golden = 0.61803398874989484820;
    double best = INFINITY, at = lo;
    const double h = (hi - lo) / SCAN;
    for (int i = 0; i <= SCAN; i++) {
        const double v = f(user, exp(lo + i * h));
        if (v < best) best = v, at = lo + i * h;
    }
    double a = at - h > lo ? at - h : lo, b = at + h < hi ? at + h : hi;
    double x = b - golden * (b - a), y = a + golden * (b - a);
    double fx = f(user, exp(x)), fy = f(user, exp(y));
    for (int i = 0; i < 60 && b - a > 1e-8; i++) {
        if (fx < fy) {
            b = y, y = x, fy = fx;
            fx = f(user, exp(x = b - golden * (b - a)));
        } else {
            a = x, x = y, fx = fy;
            fy = f(user, exp(y = a + golden * (b - a)));
        }
    }
    const double floor = fx < fy ? fx : fy;
    return floor < best ? floor : best;
}
