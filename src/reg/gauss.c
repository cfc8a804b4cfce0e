/* gauss.c - expectations over a standard Gaussian vector z in d dimensions, for Gaussian widths.
 *
 *   (1)  E||z||_2 = sqrt(2) Gamma((d+1)/2) / Gamma(d/2)
 *   (2)  for large d  sqrt(d) (1 - 1/(4d) + 1/(32d^2) + 5/(128d^3) - 21/(2048d^4) + O(d^-5)),
 *        because the difference of two large log-gammas would lose digits.
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
