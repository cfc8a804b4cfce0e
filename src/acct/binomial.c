/* binomial.c - the exact curve of k adaptive releases that are each eps-DP.
 *
 * Every eps-DP release is a post-processing of a coin whose privacy loss is +eps with probability
 * p = 1/(1 + e^-eps) and -eps with probability r = 1 - p; k of them lose (k - 2l) eps, l ~ Bin(k, r):
 *   (1) delta(e) = sum_l P(l) (1 - e^{e - (k-2l) eps})_+      Kairouz, Oh, Viswanath 2015, Thm 3.3
 *   (2) ln P(l) = ln sqrt(k/(2 pi l (k-l))) + S(k) - S(l) - S(k-l) - D(l, k r) - D(k-l, k p),
 *       S(n) = ln n! - ln(sqrt(2 pi n) (n/e)^n),  D(x, m) = x ln(x/m) + m - x        Loader 2000
 *   (3) P(l-1)/P(l) = l p/((k-l+1) r)
 * The sum starts at its largest term, by (2), and moves outwards by (3) until what is left, bounded
 * by a geometric series, is below 1e-18 of it; that bound is added.  Rounding: each step of (3) may
 * err by three ulps, so the total is raised by four ulps per step. */
#include "acct.h"

#define LN_SQRT_2PI 0.91893853320467274178
#define K_MAX       1e10 /* a million terms */

static double stirling_error(double n) /* S, n >= 1 */
{
    static const double small[16] = {
        0.0,
        0.0810614667953272582196702635943824,
        0.0413406959554092940938221,
        0.0276779256849983391487892927,
        0.0207906721037650931115,
        0.0166446911898211921631948653,
        0.0138761288230707479987,
        0.0118967099458917700950557241,
        0.0104112652619720964974,
        0.00925546218271273291772863663,
        0.00833056343336287125646931865,
        0.00757367548795184079497202421,
        0.00694284010720735985,
        0.00640899418800420706843963108,
        0.00595137011275884773562441604,
        0.00555473355196280137103868995,
    };
    if (n < 16) return small[(int)n];
    const double i = 1.0 / (n * n);
    return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - i / 1188) * i) * i) * i) / n;
}

static double deviance(double x, double mean) /* D; a series where the definition cancels */
{
    const double v = (x - mean) / (x + mean);
    if (fabs(v) > 0.1) return x * log(x / mean) + mean - x;
    double power = 2.0 * x * v, sum = (x - mean) * v;
    for (int j = 3; j < 40; j += 2) sum += (power *= v * v) / j;
    return sum;
}

static double log_probability(double k, double l, double eps) /* (2); l <= k/2 */
{
    const double p = 1.0 / (1.0 + exp(-eps)), r = 1.0 / (1.0 + exp(eps));
    if (l == 0) return -k * log1p(exp(-eps));
    return 0.5 * log(k / (l * (k - l))) - LN_SQRT_2PI + stirling_error(k) - stirling_error(l) -
           stirling_error(k - l) - deviance(l, k * r) - deviance(k - l, k * p);
}

typedef struct partial_sum {
    double k, eps, e; /* releases, their epsilon, the epsilon asked about */
    double sum, steps;
} partial_sum;

static double weight(const partial_sum *w, double l)
{
    const double x = w->e - (w->k - 2.0 * l) * w->eps;
    return x < 0 ? -expm1(x) : 0.0;
}

/* Adds l0 + dir, l0 + 2 dir, ... up to `last`; P is the probability of l0, relative. */
static void sum_terms(partial_sum *w, double l, double last, int dir, double P)
{
    const double odds = exp(w->eps); /* p/r */
    for (int64_t i = 0; l != last; i++) {
        if (!PVI_ITERATE(BINOMIAL_SUM, i)) {
            w->sum = INFINITY; /* delta is then 1 */
            return;
        }
        const double ratio = dir < 0 ? l * odds / (w->k - l + 1.0) : (w->k - l) / ((l + 1.0) * odds);
        if (ratio < 0.999999 && P * ratio / (1.0 - ratio) < 1e-18 * w->sum) {
            w->sum += P * ratio / (1.0 - ratio); /* all that is left: ratios only fall from here */
            return;
        }
        l += dir;
        P *= ratio;
        w->sum += P * weight(w, l);
        w->steps++;
    }
}

double pvi_pure_delta(double eps, double k, double e)
{
    if (!(eps > 0) || !(k > 0) || e >= k * eps) return 0.0;
    if (!(k <= K_MAX && eps < 300)) return 1.0;
    const double low = e - 0x1p-51 * (e + k * eps); /* the curve falls: covers the rounding of (k-2l) eps - e */
    const double top = ceil(0.5 * (k - low / eps)) + 1.0, last = top > k ? k : top; /* weights vanish above */
    const double mode = floor(k / (1.0 + exp(eps))), start = mode < last ? mode : last;
    partial_sum w = { .k = k, .eps = eps, .e = low };
    w.sum = weight(&w, start);
    sum_terms(&w, start, 0.0, -1, 1.0);
    sum_terms(&w, start, last, 1, 1.0);
    const double ln = log_probability(k, start, eps);
    const double size = 16.0 + w.steps + fabs(ln); /* rounding of steps and of the exponent */
    const double delta = exp(ln) * w.sum * (1.0 + 0x1p-50 * size) + 0x1p-1074;
    return delta < 1.0 ? delta : 1.0; /* NaN: 1 */
}
