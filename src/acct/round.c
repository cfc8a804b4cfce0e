/* round.c - sums, products and quotients rounded up, and exact ones left alone.
 *
 * The error of one operation is itself a double: for a product fma(x, y, -p), for a quotient
 * fma(q, y, -x), for a sum by Knuth's two-sum.  Only a result below the exact one is moved, so that
 * ten releases of epsilon 1 cost 10 and not the next double. */
#include "acct.h"

double pvi_snap(double x, double width, bool above)
{
    const double side = above ? 1.0 : -1.0;
    if (!(x > 0)) return x;
    double k = side * ceil(side * log(x) / width);
    for (int i = 0; i < 2; i++) /* log, the quotient and exp are off by far less than width */
        if (side * exp(k * width) < side * x) k += side;
    return exp(k * width);
}

double pvi_add_up(double x, double y)
{
    const double s = x + y, z = s - x, err = (x - (s - z)) + (y - z);
    return err > 0 ? pv_up(s, 1) : s;
}

double pvi_mul_up(double x, double y)
{
    const double p = x * y;
    return fma(x, y, -p) > 0 ? pv_up(p, 1) : p;
}

double pvi_div_up(double x, double y) /* y > 0 */
{
    const double q = x / y;
    return fma(q, y, -x) < 0 ? pv_up(q, 1) : q;
}
