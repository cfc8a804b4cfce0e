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
#define U_MIN    (-500.0) /* ln m; far outside every optimum */
#define U_MAX    500.0
#define U_TOL    1e-5 /* the value is level at the floor: 1e-5 in ln m is 1e-10 in epsilon */

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
    u = u < U_MIN ? U_MIN : u > U_MAX ? U_MAX : u;
    return (point) { u, s->f(s->user, exp(u)) };
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
    for (int i = 0; i < 60 && c.u - a.u > U_TOL; i++) {
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
    point b = look(&s, start);
    if (b.f == 0) return 0.0; /* neither epsilon nor delta can be less */
    point a = look(&s, start - h), c = look(&s, start + h);
    const bool up = c.f < b.f || (c.f == b.f && a.f >= b.f); /* level ground (1, infinity): upwards */
    while (up && c.f <= b.f && c.u > b.u && c.f > 0) a = b, b = c, c = look(&s, b.u + (h *= 1.6));
    while (!up && a.f <= b.f && a.u < b.u && a.f > 0) c = b, b = a, a = look(&s, b.u - (h *= 1.6));
    if (a.f == 0 || c.f == 0) return 0.0;
    return floor_of(&s, a, b, c);
}
