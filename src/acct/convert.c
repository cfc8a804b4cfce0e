/* convert.c - from a Renyi bound at one order to (epsilon, delta), and the search for the order.
 *
 * If the Renyi divergence of order alpha = 1 + m is at most r in both directions, then
 *   (1) eps(delta) = r + ln(1 - 1/alpha) - (ln delta + ln alpha)/m
 *   (2) ln delta(eps) = m (r - eps) - ln m + alpha ln(1 - 1/alpha)
 *                                 Canonne, Kamath, Steinke 2020, Prop. 12
 *   (3) delta(0) = total variation <= sqrt(1 - e^-r)           Bretagnolle, Huber 1979; order 1 <= alpha
 * (1) and (2) hold for every real eps, so a negative value of (1) means that (0, delta) holds, and
 * delta at 0 bounds delta everywhere.  (3) is best at the lowest order, (1) and (2) somewhere between.
 * Working with m instead of alpha keeps 1 - 1/alpha = m/(1 + m) exact for orders close to 1.
 *
 * Search    With K(m) = m r(m) convex (a cumulant function), (1) is (K(m) + m ln m - (1+m) ln(1+m)
 *   - ln delta)/m, convex over linear, and (2) is K(m) - m eps + m ln m - (1+m) ln(1+m), convex: one
 *   minimum each.  Any order gives a valid bound, so the search affects tightness only, never validity.
 * Rounding  each sum is raised by 2^-50 of the sum of its absolute terms. */
#include "acct.h"

#define ROUNDING 0x1p-50
#define U_MIN    (-500.0) /* ln m; far outside every optimum */
#define U_MAX    500.0
#define M_LOW    1e-6 /* the order at which (3) is asked */
#define U_TOL    1e-5 /* the value is level at the floor: 1e-5 in ln m is 1e-10 in epsilon */

/* (1), not yet cut off at 0 */
static double raw_epsilon(double m, double rdp, double delta)
{
    const double shrink = log1p(1.0 / m), fall = log(delta), rise = log1p(m);
    return rdp - shrink - (fall + rise) / m + ROUNDING * (rdp + shrink + (rise - fall) / m);
}

/* (2) */
static double log_delta(double m, double rdp, double eps)
{
    const double a = m * rdp, b = m * eps, c = log(m), d = (1.0 + m) * log1p(1.0 / m);
    return a - b - c - d + ROUNDING * (a + b + fabs(c) + d);
}

/* (3) */
static double variation(double rdp)
{
    return pv_up(sqrt(-expm1(-rdp)), 3);
}

/* ---- search ----------------------------------------------------------------------------------------- */

typedef struct point {
    double u, f; /* u = ln m */
} point;

typedef struct search {
    double (*f)(void *user, double m);
    void *user;
} search;

static point look(const search *s, double u)
{
    const double in = fmax(U_MIN, fmin(U_MAX, u)); /* NaN: U_MAX */
    return (point) { in, s->f(s->user, exp(in)) };
}

/* Vertex of the parabola through three points; NaN when they are on a line. */
static double vertex(point a, point b, point c)
{
    const double p = (b.u - a.u) * (b.f - c.f), q = (b.u - c.u) * (b.f - a.f);
    return b.u - 0.5 * ((b.u - a.u) * p - (b.u - c.u) * q) / (p - q);
}

/* Shrinks a < b < c with b lowest: parabolic steps, and golden ones when those stall. */
static double floor_of(const search *s, point a, point b, point c)
{
    for (int i = 0; PVI_ITERATE(ORDER_CLOSE, i) && c.u - a.u > U_TOL; i++) {
        const double wide = c.u - b.u > b.u - a.u ? c.u : a.u, golden = b.u + 0.381966 * (wide - b.u);
        const double v = vertex(a, b, c), edge = 0.1 * U_TOL;
        const bool good = i % 3 != 2 && v > a.u + edge && v < c.u - edge && fabs(v - b.u) > edge; /* false for NaN */
        const point x = look(s, good ? v : golden);
        if (x.f < b.f) {
            if (x.u > b.u) a = b;
            else c = b;
            b = x;
        } else if (x.u > b.u) {
            c = x;
        } else {
            a = x;
        }
    }
    return b.f;
}

double pvi_minimize(double (*f)(void *user, double m), void *user, double start)
{
    const search s = { f, user };
    double h = 0.5;
    point b = look(&s, start), a = look(&s, b.u - h), c = look(&s, b.u + h);
    if (c.f < b.f) {
        for (int i = 0; PVI_ITERATE(ORDER_FIND, i) && c.f < b.f; i++) a = b, b = c, c = look(&s, b.u + (h *= 1.6));
    } else { /* also where all is infinite: bounds are finite at low orders */
        for (int i = 0; PVI_ITERATE(ORDER_FIND, i) && (a.f < b.f || (b.f == INFINITY && b.u > U_MIN)); i++)
            c = b, b = a, a = look(&s, b.u - (h *= 1.6));
    }
    return floor_of(&s, a, b, c);
}

/* ---- the two questions -------------------------------------------------------------------------------- */

typedef struct query {
    double (*rdp)(const void *user, double m);
    const void *user;
    double x; /* delta, or epsilon */
} query;

static double epsilon_at(void *user, double m)
{
    const query *q = user;
    return raw_epsilon(m, q->rdp(q->user, m), q->x);
}

static double delta_at(void *user, double m)
{
    const query *q = user;
    return log_delta(m, q->rdp(q->user, m), q->x);
}

double pvi_rdp_epsilon(double (*rdp)(const void *user, double m), const void *user, double delta, double start)
{
    query q = { rdp, user, delta };
    if (variation(rdp(user, M_LOW)) <= delta) return 0.0;
    if (!(delta > 0)) return INFINITY;
    return fmax(pvi_minimize(epsilon_at, &q, log(start)), 0.0);
}

double pvi_rdp_delta(double (*rdp)(const void *user, double m), const void *user, double eps, double start)
{
    query q = { rdp, user, eps };
    const double tv = variation(rdp(user, M_LOW));
    if (!(eps < INFINITY) || tv == 0) return 0.0;
    const double ln = pvi_minimize(delta_at, &q, log(start));
    return fmin(fmin(pv_up(exp(ln), 2) + 0x1p-1074, tv), 1.0);
}
