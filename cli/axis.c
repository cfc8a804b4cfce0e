/* axis.c - axes that fit the numbers.
 *
 * A logarithmic axis is drawn in log10 of its values, with marks at powers of ten, or at 1, 2, 5 where there are few.
 */
#include "cli.h"

#include <math.h>

double axis_at(const axis *a, double v)
{
    return a->log ? log10(v) : v;
}

void axis_widen(axis *a, double v)
{
    if (isnan(v) || (a->log && !(v > 0))) return;
    a->lo = fmin(a->lo, axis_at(a, v));
    a->hi = fmax(a->hi, axis_at(a, v));
}

/* Some air, and never an empty range. */
void axis_settle(axis *a, double air)
{
    if (!(a->lo <= a->hi)) *a = (axis) { 0, 1, a->log };
    double range = a->hi - a->lo;
    if (!(range > 1e-9 * fabs(a->hi))) range = a->hi != 0 ? fabs(a->hi) : 1.0;
    const bool from_zero = !a->log && a->lo >= 0 && a->lo - air * range < 0;
    a->lo = from_zero ? 0.0 : a->lo - air * range;
    a->hi += air * range;
}

/* Less than a factor of eight from end to end: the marks of a linear axis, where they lie on this one. */
static void mark_narrow(const plot *p, const axis *a, axis_marker mark_at)
{
    const double lo = pow(10.0, a->lo), hi = pow(10.0, a->hi), step = plot_step(hi - lo);
    for (double v = ceil(lo / step) * step; v <= hi; v += step) {
        char text[32];
        snprintf(text, sizeof text, "%.3g", v);
        mark_at(p, log10(v), text);
    }
}

static void mark_log(const plot *p, const axis *a, axis_marker mark_at)
{
    static const double within[] = { 1, 2, 5 };
    const double decades = a->hi - a->lo;
    const int each = decades > 7 ? 2 : 1, steps = decades < 1.6 ? 3 : 1;
    for (int k = (int)floor(a->lo); k <= (int)ceil(a->hi); k++)
        for (int i = 0; i < steps; i++) {
            char text[32];
            const double v = k + log10(within[i]);
            if (v < a->lo || v > a->hi || k % each != 0) continue;
            snprintf(text, sizeof text, k < -3 || k > 4 ? "%.0e" : "%g", within[i] * pow(10.0, k));
            mark_at(p, v, text); /* no % in it, so the value is not printed */
        }
}

void axis_mark(const plot *p, const axis *a, axis_marker mark_at)
{
    if (a->log) {
        (a->hi - a->lo < 0.9 ? mark_narrow : mark_log)(p, a, mark_at);
        return;
    }
    const double step = plot_step(a->hi - a->lo);
    for (double v = ceil(a->lo / step) * step; v <= a->hi + 1e-9 * step; v += step)
        mark_at(p, fabs(v) < 1e-9 * step ? 0.0 : v, "%.4g");
}
