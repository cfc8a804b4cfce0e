/* claim.c - from a computed cost to the epsilon that is claimed, and the share of delta that pays for the draws; the
 * rules of whoever plans and whoever verifies. */
#include "acct.h"

double pvi_draws_share(double epsilon, double delta)
{
    return epsilon <= PVI_DRAWS_LIMIT ? delta * 0x1p-10 : 0.0;
}

/* A relative 1e-9 covers what libm and FFT of another machine may do to the last digits. */
double pvi_cert_claim(double cost, double limit)
{
    if (!(cost > 0.0 && cost < 1e300)) return cost;
    const double above = pvi_digits_up(cost * (1.0 + 1e-9), 6);
    return above > limit && cost <= limit ? limit : above;
}
