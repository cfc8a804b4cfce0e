/* beta.c - total variation between two uniform distributions on balls.
 *
 * Balls of radius R in d dimensions whose centres are D < 2R apart, u = D/(2R), x = u^2, b = (d+1)/2:
 *   (1) TV = I_x(1/2, b), the regularised incomplete beta function (d = 1: u)
 *   (2) I_x(1/2, b) = c x^{1/2} (1-x)^b sum_n t_n,  t_n = t_{n-1} x (b - 1/2 + n)/(n + 1/2), t_0 = 1
 *   (3) 1 - I_x     = c/(2b) x^{1/2} (1-x)^b sum_n s_n,  s_n = s_{n-1} (1-x) (b - 1/2 + n)/(b + n), s_0 = 1
 *       c = 1/((1/2) B(1/2, b)) = (2/sqrt pi) Gamma(b + 1/2)/Gamma(b)
 *   (4) Gamma(b + 1/2)/Gamma(b) = sqrt(b) (1 - 1/(8b) + 1/(128 b^2) + 5/(1024 b^3) - 21/(32768 b^4)
 *       - 399/(262144 b^5) + ...), after b was moved above 40 by r(b) = r(b+1) b/(b + 1/2)
 * All terms are positive, so nothing cancels: (2) serves x <= 1/2, (3) the rest, both with ratios of
 * at most 1/2 in the end.  When (1-x)^b < e^-200 the result is 1 to all digits.
 * References  DLMF 8.17.8, 5.11.13. */
#include "acct.h"

#define TWO_OVER_SQRT_PI 1.12837916709551257390
#define SAFE             (1.0 + 1e-12) /* above the accumulated rounding, far below the promised 1e-10 */

static double gamma_ratio(double b) /* (4) */
{
    double shift = 1.0;
    for (; b < 40.0; b += 1.0) shift *= b / (b + 0.5);
    const double i = 1.0 / b;
    const double series =
        1.0 + i * (-1.0 / 8 + i * (1.0 / 128 + i * (5.0 / 1024 + i * (-21.0 / 32768 - i * (399.0 / 262144)))));
    return shift * sqrt(b) * series;
}

static double lower_series(double x, double b) /* sum of (2) */
{
    double t = 1.0, sum = 1.0;
    for (int n = 1; t > 1e-18 * sum; n++) {
        if (!PVI_ITERATE(BETA_SERIES, n)) return INFINITY; /* the distance is then 1 */
        sum += t *= x * (b - 0.5 + n) / (n + 0.5);
    }
    return sum;
}

static double upper_series(double y, double b) /* sum of (3), y = 1 - x */
{
    double s = 1.0, sum = 1.0;
    for (int n = 1; PVI_ITERATE(BETA_SERIES, n) && s > 1e-18 * sum; n++) sum += s *= y * (b - 0.5 + n) / (b + n);
    return sum; /* subtracted from 1: too small is safe */
}

double pv_ball_delta(double distance, double radius, double d)
{
    if (!(distance > 0)) return 0.0;
    if (!(distance < 2.0 * radius) || !(d >= 1)) return 1.0;
    const double u = 0.5 * distance / radius, x = u * u, b = 0.5 * (d + 1.0);
    const double y = (1.0 - u) * (1.0 + u); /* 1 - x without cancellation at u = 1 */
    const double ln = b * (x < 0.5 ? log1p(-x) : log(y));
    if (ln < -200.0) return 1.0;
    const double front = TWO_OVER_SQRT_PI * gamma_ratio(b) * u * exp(ln);
    const double tv = x <= 0.5 ? front * lower_series(x, b) * SAFE
                               : 1.0 - front / (2.0 * b) * upper_series(y, b) * (2.0 - SAFE) + 1e-15;
    return tv < 1.0 ? tv : 1.0;
}

/* Bisection on R; only a radius whose bound was evaluated and holds is returned. */
double pv_ball_radius(double distance, double delta, double d)
{
    double lo = 0.5 * distance, hi = distance;
    if (!(distance > 0)) return 0.0;
    if (!(delta > 0) || !(d >= 1)) return INFINITY;
    for (int i = 0; !(pv_ball_delta(distance, hi, d) <= delta); i++, lo = hi, hi *= 2.0)
        if (!PVI_ITERATE(RADIUS_RISE, i)) return INFINITY;
    for (int i = 0; PVI_ITERATE(RADIUS_CLOSE, i) && hi - lo > 1e-12 * hi; i++) {
        const double mid = 0.5 * (lo + hi);
        if (pv_ball_delta(distance, mid, d) <= delta) hi = mid;
        else lo = mid;
    }
    return hi;
}
