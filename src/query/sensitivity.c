/* sensitivity.c - how far one unit can move a released sum: one formula for whoever plans, runs and verifies.
 *
 * Where B comes from is proved at the top of each query_*.c, on what the models promise (M1 to M3 in plugin.h;
 * glm.c, softmax.c, net.c, split.c).
 *
 * A unit adds v to the sum, ||v|| <= B; the sum that is computed is off by rounding, paid for by an allowance
 * (release.c (1), (2)).
 *   (1) left out, the unit moves the exact sum by at most B
 *   (2) another unit in its place moves it by ||v - v'|| <= 2 B.  Where v = (g, s svec H), ||g|| <= C, and both H and
 *       H' are positive semidefinite, <H, H'> >= 0 and so
 *       ||v - v'||^2 <= (||g|| + ||g'||)^2 + s^2 ||H||^2 + s^2 ||H'||^2 <= 2 B^2 + 2 C^2
 *   (3) sensitivity: (1) under zero-out and where replace is counted as two zero-out steps, (2) under replace; plus
 *       the allowance */
#include "query/query.h"

double pvi_replace_change(double B, double C, bool semidefinite)
{
    return 2.0 * (semidefinite ? fmin(B, pv_up(sqrt((B * B + C * C) / 2.0), 4)) : B); /* (2) */
}

double pvi_sensitivity(const pvi_bound *b, pv_relation relation, bool group_bound, double allowance)
{
    return pv_up((relation == PV_REL_REPLACE && !group_bound ? b->other : b->absent) + allowance, 2); /* (3) */
}
