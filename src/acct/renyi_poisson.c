/* renyi_poisson.c - Renyi divergence of the Poisson-sampled Gaussian, at every real order.
 *
 * Zero-out relation, noise multiplier z, sampling probability q, order alpha = 1 + m.  With
 * x standard normal, u = x/z - 1/(2 z^2) and y = q (e^u - 1),
 *   (1) K(m) = m D_alpha = ln A,  A = E (1 + y)^alpha      Mironov, Talwar, Zhang 2019, Thm 4, 5
 *       (the direction sampled against not sampled is the larger one, ibid.).
 *   (2) A - 1 = E h(y),  h(y) = (1 + y)^alpha - 1 - alpha y >= 0    because E y = 0
 * The integrand of (2) is positive, so small values of ln A keep their relative accuracy; at
 * q = 10^-7 (1) itself would be lost to cancellation.
 *
 * Quadrature is the trapezoidal rule with step s on the whole line.  In the strip |Im x| <= d
 * with d < pi z the integrand is analytic and |1 + y(x + id)| <= 1 - q + q e^u, hence its error is
 *   (3) at most kappa (A + 1 + 2 alpha q),  kappa = 2 e^{d^2/2}/(e^{2 pi d/s} - 1)
 *       (Trefethen, Weideman 2014, Thm 5.1, applied to the three parts of h).
 * s is chosen so that kappa < 3e-40.  What is left out is bounded and added:
 *   (4) x < -X: h <= alpha q, so alpha q Q(X)
 *   (5) x > x_hi > alpha/z: h <= (1 + y)^alpha = e^{g(x) + x^2/2}, g'(x) <= alpha/z - x, so
 *       e^{g(x_hi)} R(x_hi - alpha/z) / sqrt(2 pi), with Mills' ratio R(t) < 1/t
 *   (6) a gap (x1, x2): g' = (alpha/z) w(x) - x with a logistic w has at most three roots, so g rises
 *       to a first peak, may fall and rise to a last one, and falls.  Where x1 and x2 are on one slope,
 *       or on the two sides of the minimum, g is at most the larger of its end values between them.
 * Hence the result is an upper bound up to the rounding of the sum, which SLACK covers. */
#include "acct.h"

#define X_LEFT       13.0
#define X_RIGHT      14.0
#define Q_LEFT       6.2e-39 /* > Q(13) = 6.12e-39 */
#define KAPPA        3e-40
#define Z_LEAST      0.01  /* below, nothing is gained by sampling that is worth 10^5 terms */
#define NEGLIGIBLE   100.0 /* e^-100 of what is already summed */
#define INV_SQRT_2PI 0.39894228040143267794
#define PI           3.14159265358979323846

typedef struct mix {
    double z, q, m, alpha;
} mix;

/* h(y) of (2) for (1 + y)^alpha < e^30: a binomial series near zero, where the definition cancels. */
static double excess(const mix *p, double y)
{
    if (fabs(y) * p->alpha >= 0.25) return (1.0 + y) * expm1(p->m * log1p(y)) - p->m * y;
    double term = 0.5 * p->alpha * p->m * y * y, sum = term;
    for (int k = 2; PVI_ITERATE(SERIES, k) && fabs(term) > 0x1p-56 * sum; k++) {
        term *= (p->alpha - k) / (k + 1) * y;
        sum += term;
    }
    return sum;
}

/* ln(1 - q + q e^u) without overflow. */
static double log_mix(const mix *p, double u)
{
    return u < 30 ? log1p(p->q * expm1(u)) : u + log(p->q) + log1p((1.0 - p->q) / p->q * exp(-u));
}

static double exponent(const mix *p, double x)
{
    return p->alpha * log_mix(p, x / p->z - 0.5 / (p->z * p->z)) - 0.5 * x * x; /* g */
}

/* e^{-x^2/2 - top} h(y) */
static double integrand(const mix *p, double x, double top)
{
    const double u = x / p->z - 0.5 / (p->z * p->z), L = p->alpha * log_mix(p, u), base = -0.5 * x * x - top;
    if (L < 30) return exp(base) * excess(p, p->q * expm1(u));
    const double ly = u < 700 ? log1p(p->alpha * p->q * expm1(u)) : log(p->alpha * p->q) + u;
    return exp(base + L) - exp(base + ly);
}

static double slope(const mix *p, double x) /* g' */
{
    const double u = x / p->z - 0.5 / (p->z * p->z);
    return p->alpha / p->z / (1.0 + (1.0 - p->q) / p->q * exp(-u)) - x;
}

/* A root of g' from x on: x -> x + g'(x) is increasing, so it converges to the nearest root in its
 * direction without passing it. */
static double peak(const mix *p, double x)
{
    for (int i = 0; i < 100; i++) x += slope(p, x);
    return x;
}

static double larger(double x, double y)
{
    return x > y ? x : y;
}

/* Left end, on the grid, of the window around a peak within which g - top exceeds `negligible`. */
static double window(const mix *p, double step, double at, double top, double negligible)
{
    for (int i = 0; at > 0 && exponent(p, at) - top > negligible; i++, at -= X_RIGHT)
        if (!PVI_ITERATE(RENYI_WINDOW, i)) return 0.0; /* the sum then goes on without a gap */
    return floor(at / step);
}

/* Trapezoidal sum of (2) divided by e^top, with bounds (3)-(6).  `left` is at or below the first peak of
 * g, `right` at or above the last, so g rises before the one and falls after the other. */
static double integrate(const mix *p, double step, double left, double right, double top)
{
    const double x_hi = larger(p->alpha, 2.0) / p->z + X_RIGHT, k_hi = ceil(x_hi / step);
    double sum = 0, missed = 0, x = 0, settled = X_RIGHT + 2.0 / p->z; /* no gap is looked for before it */
    int64_t iterations = 0;
    for (double k = floor(-X_LEFT / step); k <= k_hi; k++) {
        if (!PVI_ITERATE(RENYI_NODES, iterations++)) return NAN; /* the cost without sampling is taken */
        x = k * step;
        sum += integrand(p, x, top);
        if (x < settled) continue;
        const double negligible = (top > 30 ? 0.0 : log(sum)) - NEGLIGIBLE; /* a peak's own term is e^0 */
        if (exponent(p, x) - top > negligible) continue;
        if (x >= right) break;
        settled = x < left ? left : right;
        const double to = window(p, step, settled, top, negligible);
        if (to <= k) continue;
        const double g = larger(exponent(p, x), exponent(p, to * step)) + 1.0; /* 1: peaks are approximate */
        missed += (to - k) * step * exp(g - top);                              /* (6) */
        k = to - 1;
    }
    if (x < x_hi) missed += (x_hi - x) * exp(exponent(p, x) - top); /* (6): g falls from x on */
    missed += exp(exponent(p, x_hi) - top) / X_RIGHT;               /* (5) */
    const double B = INV_SQRT_2PI * (step * sum + missed) + p->alpha * p->q * Q_LEFT * exp(-top); /* (4) */
    return B + KAPPA * (B + 2.0 * (1.0 + p->alpha * p->q) * exp(-top));                           /* (3) */
}

/* The terms between -X_LEFT and where gaps are looked for, and those of two windows around peaks. */
double pvi_renyi_poisson_work(double z)
{
    const double d = fmin(PI * z, 13.565), step = 2.0 * PI * d / (92.0 + 0.5 * d * d);
    return z > Z_LEAST ? (X_LEFT + 5.0 * X_RIGHT + 2.0 / z) / step : 0.0;
}

double pvi_renyi_poisson(double z, double q, double m)
{
    const mix p = { z, q, m, 1.0 + m };
    const double plain = pv_up(p.alpha * m / (2.0 * z * z), 3); /* sampling never hurts */
    if (!(z > Z_LEAST && p.alpha < 1e12 && p.alpha / z < 1e9)) return plain;
    const double reach = PI * z * (1.0 - 1e-9), d = reach < 13.565 ? reach : 13.565;
    const double step = 2.0 * PI * d / (92.0 + 0.5 * d * d);
    const double left = peak(&p, 0.0), right = peak(&p, p.alpha / z);
    const double top = larger(0.0, larger(exponent(&p, left), exponent(&p, right)));
    /* rounding of exponents as large as alpha L and x^2/2 near the peak, and of the sum itself */
    const double slack = 0x1p-50 * (64.0 + p.alpha * fabs(log_mix(&p, right / z - 0.5 / (z * z))) + right * right);
    const double B = integrate(&p, step, left, right, top) * (1.0 + slack);
    const double K = top > 30 ? top + log(B + exp(-top)) : log1p(exp(top) * B);
    const double up = pv_up(K, 4) + (top > 30 ? slack : 0.0);
    return up < plain ? up : plain; /* false for NaN */
}
