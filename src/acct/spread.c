/* spread.c - how many events each of T steps spends on its release; for whoever plans, runs and verifies.
 *
 *   (1) u_t = round(q^((t-1)/(T-1))),  q the growth: early steps only have to come closer, the last decide the result
 *   (2) second moments, released before the first step, take the share s of all events: s/(1 - s) sum u_t, at least 1
 *   (3) u_t never falls, so that sum u_t = sum_k #{ t: u_t >= k }, k up to the last of them, at most 10^4 */
#include "acct.h"

enum { MOST_SUMMED = 100000 }; /* steps that are added up one by one */

int64_t pvi_spread_units(double growth, int64_t steps, int64_t t)
{
    return steps == 1 ? 1 : (int64_t)round(pow(growth, (double)(t - 1) / (double)(steps - 1))); /* (1) */
}

int64_t pvi_spread_total(double growth, int64_t steps)
{
    int64_t total = 0;
    if (growth == 1.0) return steps;
    if (steps <= MOST_SUMMED) {
        for (int64_t t = 1; t <= steps; t++) total += pvi_spread_units(growth, steps, t);
        return total;
    }
    /* (3): where u_t becomes k, by bisection */
    total = steps;
    for (int64_t k = 2, last = pvi_spread_units(growth, steps, steps), from = 1; k <= last; k++) {
        int64_t below = from, at = steps; /* u at `below` is less than k, at `at` it is not */
        while (at - below > 1) {
            const int64_t mid = below + (at - below) / 2;
            if (pvi_spread_units(growth, steps, mid) >= k) at = mid;
            else below = mid;
        }
        total += steps - at + 1;
        from = below;
    }
    return total;
}

int64_t pvi_spread_first(double share, int64_t total)
{
    return share > 0.0 ? (int64_t)fmax(round((double)total * share / (1.0 - share)), 1.0) : 0; /* (2) */
}
