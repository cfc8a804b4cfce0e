/* gauss.c - expectations over a standard Gaussian vector z in d dimensions, for Gaussian widths.
 *
 *   (1)  E||z||_2 = sqrt(2) Gamma((d+1)/2) / Gamma(d/2)
 *   (2)  for large d  sqrt(d) (1 - 1/(4d) + 1/(32d^2) + 5/(128d^3) - 21/(2048d^4) + O(d^-5)),
 *        because the difference of two large log-gammas would lose digits
 *   (3)  E max|z_j| = int_0^inf 1 - (1 - q(t))^d dt,             q(t) = erfc(t/sqrt 2)
 *   (4)  E max z_j  = int_0^inf 1 - (1 - q(t)/2)^d - (q(t)/2)^d dt
 *
 * (3) and (4) are integrated by the five-point Gauss-Legendre rule on panels of 1/32 up to t = 12, where
 * d q(t) < 1e-14 for every 64-bit d.  The integrand varies on a scale of 1/sqrt(2 ln d) >= 0.1, several panels,
 * so the rule of order ten is exact to rounding; the tests compare with closed forms for d <= 5.
 *
 * Widths only feed default step counts; they are no part of any guarantee. */
#include "reg.h"

double pvi_mean_norm(int64_t dim)
{
    const double d = (double)dim;
    if (dim <= 0) return 0.0;
    if (dim < 200) {
        int sign;
        return sqrt(2.0) * exp(lgamma_r(0.5 * (d + 1.0), &sign) - lgamma_r(0.5 * d, &sign)); /* (1) */
    }
    const double x = 1.0 / d;
    return sqrt(d) * (1.0 + x * (-0.25 + x * (1.0 / 32.0 + x * (5.0 / 128.0 - x * 21.0 / 2048.0)))); /* (2) */
}

static double tail_abs(double t, double d) /* integrand of (3) */
{
    return -expm1(d * log1p(-erfc(t * M_SQRT1_2)));
}

static double tail_max(double t, double d) /* integrand of (4) */
{
    const double q = 0.5 * erfc(t * M_SQRT1_2);
    return -expm1(d * log1p(-q)) - pow(q, d);
}

static double integrate(double (*f)(double t, double d), double d)
{
    enum { PANELS = 12 * 32 };
    const double h = 0.5 / 32.0; /* half a panel */
    const double x1 = sqrt(5.0 - 2.0 * sqrt(10.0 / 7.0)) / 3.0, x2 = sqrt(5.0 + 2.0 * sqrt(10.0 / 7.0)) / 3.0;
    const double w0 = 128.0 / 225.0, w1 = (322.0 + 13.0 * sqrt(70.0)) / 900.0,
                 w2 = (322.0 - 13.0 * sqrt(70.0)) / 900.0;
    double total = 0.0;
    for (int k = 0; k < PANELS; k++) {
        const double m = (2 * k + 1) * h;
        total +=
            w0 * f(m, d) + w1 * (f(m - h * x1, d) + f(m + h * x1, d)) + w2 * (f(m - h * x2, d) + f(m + h * x2, d));
    }
    return h * total;
}

double pvi_mean_max_abs(int64_t d)
{
    return d > 0 ? integrate(tail_abs, (double)d) : 0.0;
}

double pvi_mean_max(int64_t d)
{
    return d > 0 ? integrate(tail_max, (double)d) : 0.0;
}
