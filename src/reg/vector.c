/* vector.c - norms, sums and thresholds of double vectors.
 *
 * Sums run in eight independent lanes: the additions of one lane wait for each other, those of
 * different lanes do not, and the error bound falls to about (d/8 + 8) u sum |terms|.  The order
 * is fixed, so results do not depend on threads or on the instruction set. */
#include "reg.h"

enum { LANES = 8 };

static double fold(const double s[LANES])
{
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

double pvi_sum(const double *w, int64_t d)
{
    double s[LANES] = { 0 };
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (int k = 0; k < LANES; k++) s[k] += w[j + k];
    for (; j < d; j++) s[j % LANES] += w[j];
    return fold(s);
}

double pvi_norm1(const double *w, int64_t d)
{
    double s[LANES] = { 0 };
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (int k = 0; k < LANES; k++) s[k] += fabs(w[j + k]);
    for (; j < d; j++) s[j % LANES] += fabs(w[j]);
    return fold(s);
}

double pvi_dot(const double *a, const double *b, int64_t d)
{
    double s[LANES] = { 0 };
    int64_t j = 0;
    for (; j + LANES <= d; j += LANES)
        for (int k = 0; k < LANES; k++) s[k] += a[j + k] * b[j + k];
    for (; j < d; j++) s[j % LANES] += a[j] * b[j];
    return fold(s);
}

/* NaN if any coordinate is: a comparison alone would skip it. */
double pvi_norm_inf(const double *w, int64_t d)
{
    double m = 0.0;
    for (int64_t j = 0; j < d; j++) {
        if (isnan(w[j])) return w[j];
        m = fabs(w[j]) > m ? fabs(w[j]) : m;
    }
    return m;
}

double pvi_norm2(const double *w, int64_t d)
{
    const double plain = pvi_dot(w, w, d);
    if (plain > 1e-280 && plain < 1e300) return sqrt(plain);

    /* The squares left the range: once more, relative to a power of two near the largest. */
    const double m = pvi_norm_inf(w, d);
    if (!(m > 0.0) || isinf(m)) return m;
    int e;
    frexp(m, &e);
    double s = 0.0;
    for (int64_t j = 0; j < d; j++) {
        const double x = ldexp(w[j], -e);
        s += x * x;
    }
    return ldexp(sqrt(s), e);
}

void pvi_scale(double *w, double c, int64_t d)
{
    for (int64_t j = 0; j < d; j++) w[j] *= c;
}

void pvi_soft_threshold(double *w, double t, int64_t d)
{
    for (int64_t j = 0; j < d; j++) {
        const double a = fabs(w[j]) - t;
        w[j] = copysign(a > 0.0 || isnan(a) ? a : 0.0, w[j]);
    }
}
