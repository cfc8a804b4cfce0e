/* renyi_replace.c - Renyi divergence of a Gaussian on a fixed-size sample when one row is replaced.
 *
 * Sampling without replacement, rate q = b/n with n public; noise multiplier z with respect to the
 * sensitivity under `replace`; order alpha.
 *
 * Structure  Let the data sets differ in row i, and let R be the b-1 other rows of a sample with i.
 *   Put B = M(R + i) and B' = M(R + i'), and A = M(R + j) for a row j outside, uniformly chosen: R + j
 *   is then a uniform sample without i.  So the two outputs are mixtures, over (R, j), of the pairs
 *   (P, Q) = ((1-q) A + q B', (1-q) A + q B).  E_Q (P/Q)^alpha is jointly convex, so one worst triple
 *   bounds it.  A, B, B' are Gaussians whose centres are pairwise at most one sensitivity apart.
 * For an integer alpha = n, with P - Q = q (B' - B) and convexity of v^j Q^(1-j) in Q,
 *   (1) E_Q (P/Q)^n <= 1 + sum_{j=2}^n C(n,j) q^j zeta_j,   zeta_j = sup int |B' - B|^j A^(1-j),
 *       the supremum over triples as above (A = B included): Wang, Balle, Kasiviswanathan 2019, Thm 9
 *   (2) K(m) = ln of (1) is convex in the order and 0 at order 1: linear between integers (Cor. 10)
 * Bounds on zeta_j for Gaussians, s = 1/z^2 the squared distance in standard deviations:
 *   (3) zeta_j <= 2 e^{j(j-1)s/2}      |B' - B|^j <= B^j + B'^j  (the paper's)
 *   (4) zeta_2  = 2 (e^s - e^{s/2})    for centres at squared distances x, y from A and t from each
 *       other, all <= s, it is f = e^x + e^y - 2 e^{(x+y-t)/2}: f rises with t; at t = s it rises with
 *       x because df/dx = e^x - e^{(x+y-s)/2} and y <= s <= x + s, likewise with y; so f <= f(s, s, s).
 *       The paper's 4 (e^s - 1) is up to four times larger.
 *   (5) zeta_j <= zeta_j of an equilateral triangle with squared side s' = 4s/3: a linear map that
 *       takes the equilateral triangle of side D to any triangle with sides <= D has norm at most
 *       2/sqrt 3 (its Gram matrix G satisfies e'Ge <= 1 in three directions 60 degrees apart, so no
 *       eigenvalue exceeds 1/cos^2 30), and a contraction followed by independent noise is
 *       post-processing, which cannot raise int |B' - B|^j A^(1-j).  That value is
 *       e^{j(j-1)s'/2} E |e^{v} - 1|^j,  v = sqrt(s') x - j s'/2, x standard normal.
 *   (6) odd j: zeta_j <= sqrt(zeta_{j-1} zeta_{j+1})           Cauchy-Schwarz
 * (5) is evaluated for even j <= JMAX by the trapezoidal rule; the integrand is entire and on the
 * line Im x = d at most e^{d^2/2} (e^v + 1)^j phi, so the error is below kappa 2^j e^{j(j-1)s'/2}
 * (Trefethen, Weideman 2014, Thm 5.1; E e^{jv} = 1), and each tail is below Q(13.5) times that power. */
#include "acct.h"

enum { JMAX = 40, ORDER_MAX = 10000 };
#define STEP         0.463 /* kappa = 2 e^{d^2/2}/(e^{2 pi d/step} - 1) < 3e-40 at d = 13.565 */
#define REACH        13.5  /* Q(13.5) < 1e-41 */
#define MISSED       3e-40
#define INV_SQRT_2PI 0.39894228040143267794

/* (5), divided by e^{j(j-1)s'/2}, for even j. */
static double even_moment(double s, int j)
{
    const double root = sqrt(s);
    double sum = 0;
    for (double k = floor(-REACH / STEP); k * STEP <= REACH + j * root; k++) {
        const double x = k * STEP;
        sum += exp(j * log(fabs(expm1(root * x - 0.5 * j * s))) - 0.5 * x * x);
    }
    return INV_SQRT_2PI * STEP * sum * (1.0 + 1e-12) + (1.0 + exp2(j)) * MISSED;
}

/* ln zeta_j for j = 2 .. JMAX + 1 in lz[j]. */
static void log_zetas(double s, double lz[JMAX + 2])
{
    lz[2] = M_LN2 + 0.5 * s + log(expm1(0.5 * s));                               /* (4) */
    for (int j = 3; j <= JMAX + 1; j++) lz[j] = M_LN2 + 0.5 * j * (j - 1.0) * s; /* (3) */
    if (s > 1.0) return;                                                         /* (5) would not be smaller */
    for (int j = 4; j <= JMAX; j += 2) {
        const double t = 4.0 / 3.0 * s, equilateral = 0.5 * j * (j - 1.0) * t + log(even_moment(t, j));
        if (equilateral < lz[j]) lz[j] = equilateral;
    }
    for (int j = 3; j < JMAX; j += 2) {
        const double mean = 0.5 * (lz[j - 1] + lz[j + 1]); /* (6) */
        if (mean < lz[j]) lz[j] = mean;
    }
}

/* (1) at an integer order: ln(1 + e^a + e^b + ...), the largest exponent kept outside. */
static double integer_order(double s, double q, double n, const double lz[JMAX + 2])
{
    double top = 0.0, sum = 0.0, size = 0.0; /* sum excludes the leading 1 */
    double c = log(0.5 * n * (n - 1.0)) + 2.0 * log(q);
    for (double j = 2; j <= n; j++) {
        const double e = c + (j <= JMAX ? lz[(int)j] : M_LN2 + 0.5 * j * (j - 1.0) * s);
        if (e > top) {
            sum *= exp(top - e);
            top = e;
        }
        sum += exp(e - top);
        size = fabs(e) + fabs(c) > size ? fabs(e) + fabs(c) : size;
        c += log((n - j) / (j + 1.0)) + log(q);
    }
    const double slack = 0x1p-50 * (16.0 + n + size); /* the rounding of exponents and of n additions */
    sum *= 1.0 + slack;
    return top > 0 ? pv_up(top + log(sum + exp(-top)), 4) : pv_up(log1p(sum), 2);
}

double pvi_renyi_replace_work(double m)
{
    return 2000.0 + (m < ORDER_MAX ? 2.0 * m : 0.0);
}

double pvi_renyi_replace(double z, double q, double m)
{
    const double s = pv_up(1.0 / (z * z), 2), alpha = 1.0 + m, plain = pv_up(0.5 * alpha * m * s, 3);
    if (!(alpha < ORDER_MAX && s < 1e6))
        return plain; /* without sampling: a mixture is no worse than its worst part */
    double lz[JMAX + 2];
    log_zetas(s, lz);
    if (m <= 1.0) {
        const double K = pv_up(m * integer_order(s, q, 2.0, lz), 1); /* (2) */
        return K < plain ? K : plain;
    }
    const double n = floor(alpha), f = alpha - n;
    const double lo = integer_order(s, q, n, lz), hi = f > 0 ? integer_order(s, q, n + 1.0, lz) : lo;
    const double K = pv_up((1.0 - f) * lo + f * hi, 4); /* (2) */
    return K < plain ? K : plain;
}
