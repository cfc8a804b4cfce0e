/* mills.c - Mills' ratio R = Q/phi of the normal distribution, Q = 1 - Phi, and D = -R' = 1 - x R.
 *
 *   (1) x < 2    R = sqrt(pi/2) e^{x^2/2} erfc(x/sqrt 2)
 *   (2) x >= 2   R = 1/(x + K), D = K/(x + K), K = 1/(x + 2/(x + 3/(x + ...)))
 * The terms of (2) are all positive, so that neither cancels; nothing overflows or underflows for x < 1e150. */
#include "mills.h"

#include <math.h>

#define SQRT_HALF    0.70710678118654752440
#define SQRT_HALF_PI 1.25331413731550025121

void pvi_mills(double x, double *R, double *D)
{
    if (x < 2.0) { /* (1) */
        *R = SQRT_HALF_PI * exp(0.5 * x * x) * erfc(x * SQRT_HALF);
        *D = 1.0 - x * *R;
        return;
    }
    double tail = x; /* x + (k+1)/(x + (k+2)/...) from the far end; 40 + 400/x^2 terms give 2^-56 at x = 2 */
    for (int k = 40 + (int)(400.0 / (x * x)); k >= 2; k--) tail = x + k / tail;
    const double K = 1.0 / tail; /* (2) */
    *R = 1.0 / (x + K);
    *D = K / (x + K);
}
