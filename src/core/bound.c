/* bound.c - moving a double by whole ulps, so that a computed cost becomes a bound. */
#include "core.h"

double pv_up(double x, int k)
{
    if (x == 0.0) return 0.0;
    for (int i = 0; i < k; i++) x = nextafter(x, INFINITY);
    return x;
}

double pvi_down(double x, int k)
{
    if (x == 0.0) return 0.0;
    for (int i = 0; i < k; i++) x = nextafter(x, -INFINITY);
    return x;
}
