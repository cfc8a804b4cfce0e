/* spread.c - how many events each of T steps spends on its release; for whoever plans, runs and verifies.
 *
 *   (1) u_t = round(q^((t-1)/(T-1))),  q the growth: early steps only have to come closer, the last decide the result
 *   (2) second moments, released before the first step, take the share s of all events: s/(1 - s) sum u_t,
 *       at least 1 */
#include "acct.h"

int64_t pvi_spread_units(double growth, int64_t steps, int64_t t)
{
    return steps == 1 ? 1 : (int64_t)round(pow(growth, (double)(t - 1) / (double)(steps - 1))); /* (1) */
}

int64_t pvi_spread_total(double growth, int64_t steps)
{
    int64_t total = 0;
    for (int64_t t = 1; t <= steps; t++) total += pvi_spread_units(growth, steps, t);
    return total;
}

int64_t pvi_spread_first(double share, int64_t total)
{
    return share > 0.0 ? (int64_t)fmax(round((double)total * share / (1.0 - share)), 1.0) : 0; /* (2) */
}
