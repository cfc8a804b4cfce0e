/* sample.c - means and spreads over runs, Student's t and Holm's correction.
 *
 * (1) P(|T| > t) with df degrees of freedom is I_x(df/2, 1/2), x = df/(df + t^2), the regularised incomplete beta
 *     function                                                          Abramowitz, Stegun 1964, 26.7.1 and 26.5.27
 * (2) I_x(a, b) = x^a (1-x)^b / (a B(a, b)) times a continued fraction, x <= (a+1)/(a+b+2); else 1 - I_{1-x}(b, a)
 *                                                                                                    there, 26.5.8
 * (3) of n p-values in ascending order the i-th becomes max_{j <= i} min(1, (n - j + 1) p_j)             Holm 1979 */
#include "runs/runs.h"

#include <stdlib.h>

/* As distances from the first: equal values have no spread. */
void sample_add(sample *s, double v)
{
    if (s->n++ == 0) s->first = v;
    s->sum += v - s->first;
    s->squares += (v - s->first) * (v - s->first);
}

double sample_mean(const sample *s)
{
    return s->n ? s->first + s->sum / s->n : (double)NAN;
}

/* n - 1 in the denominator. */
double sample_sd(const sample *s)
{
    const double mean = s->sum / s->n;
    return s->n > 1 ? sqrt(fmax(0.0, s->squares - s->n * mean * mean) / (s->n - 1.0)) : (double)NAN;
}

/* The continued fraction of (2), from its first term on (Lentz's algorithm). */
static double fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 10000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
        double step = 1.0;
        for (int k = 0; k < 2; k++) {
            const double term = k ? odd : even;
            d = 1.0 + term * d;
            c = 1.0 + term / c;
            d = 1.0 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            step = c * d;
            h *= step;
        }
        if (fabs(step - 1.0) < 1e-15) break;
    }
    return h;
}

static double beta(double a, double b, double x)
{
    if (!(x > 0.0)) return 0.0;
    if (!(x < 1.0)) return 1.0;
    if (x > (a + 1.0) / (a + b + 2.0)) return 1.0 - beta(b, a, 1.0 - x);
    const double front = a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b);
    return exp(front) * fraction(a, b, x) / a; /* (2) */
}

double student_p(double t, double df)
{
    if (isnan(t) || !(df > 0)) return NAN;
    return isinf(t) ? 0.0 : beta(df / 2.0, 0.5, df / (df + t * t)); /* (1) */
}

static int by_value(const void *a, const void *b)
{
    const double x = **(double *const *)a, y = **(double *const *)b;
    return (x > y) - (x < y);
}

void holm(double *p, int n)
{
    double **sorted = calloc((size_t)n + 1, sizeof *sorted), before = 0.0;
    if (!sorted) abort();
    for (int i = 0; i < n; i++) sorted[i] = &p[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (int i = 0; i < n; i++) *sorted[i] = before = fmax(before, fmin(1.0, (n - i) * *sorted[i])); /* (3) */
    free(sorted);
}
