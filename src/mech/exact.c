/* exact.c - logarithm, cosine and sine to 118 bits, and rounding decided by comparing integers.
 *
 * Only draws whose double-precision value lies too near a rounding boundary come here, about one in 2^14, so the
 * code is written for its error bounds, not for speed.  Every operation is a truncation to a fixed number of
 * bits; one ulp is the unit named in the comment.
 *
 * Logarithm  U = 2^-z m, m in [1/2, 1).  For i = 1 .. 64 multiply m by 1 + 2^-i whenever the product stays
 *            below 1:
 *            (1)  -ln U = z ln 2 + sum of the ln(1 + 2^-i) used + delta + O(delta^2),  delta = 1 - m at the end
 *            Greedy choice works because ln(1 + 2^-i) <= sum_{j>i} ln(1 + 2^-j) + 2^-64; it leaves
 *            delta < 2^-63, so the omitted delta^2/2 < 2^-127.  64 products truncated at 2^-128 against
 *            m >= 1/2 move ln m by at most 2^-121, 64 table entries by 2^-122, units of 2^-120 by 2^-120, z ln 2 by
 *            z 2^-121 <= 0.73 * 2^-120 (-ln U).  Total at most 2^-118 max(1, -ln U).
 * Cosine     a = pi/2 f <= 0.7854.  Horner in a^2 over
 *            (2)  cos a = sum_{j<=17} (-a^2)^j / (2j)!,   sin a = a sum_{j<=16} (-a^2)^j / (2j+1)!
 *            The first omitted term is below 2^-150.  Each step errs by at most 4 ulp of 2^-127 and is multiplied by
 *            a^2 <= 0.617 afterwards: at most 11 ulp, and 13 with the error of a^2, below 2^-122.
 * Rounding   s = S 2^e with S a 53-bit integer.
 *            (3)  s sqrt(2L) t > M/2   iff   S^2 L t^2 2^(3+2e) > M^2        (Gaussian, M = 2k + 1)
 *            (4)  s L > M/2            iff   S L 2^(1+e) > M                 (Laplace)
 *            (5)  s sqrt(L/sum) t > M/2  iff  S^2 L t^2 2^(2+2e) > M^2 sum     (ball)
 *            (8)  m h/scale > g          iff  m 2^144 > S g 2^120    (selection, h = 2^(e+24), scale = S 2^e)
 *            Both sides are integers of at most 256 bits: no square root, no rounding in the comparison.
 * Residual   With L and t inside their bounds the decision is that of real arithmetic unless the real value y is
 *            within eta of a half-integer, where for radius r = sqrt(2L)
 *            (6)  Gaussian  eta = s (2^-121 r + 2^-118 max(1, L)/r),     Laplace  eta = s 2^-118 max(1, L)
 *            For r >= 1 (up to 16.8, all bits zero) eta <= s 2^-114; the density of y is unimodal with maximum
 *            0.4/s, so the probability is at most 2 eta (1 + 0.4/s) < s 2^-113 + 2^-114.  For r in [2^-j-1, 2^-j) at
 *            most 2 s 2^-j + 1 strips of area 4 eta s 2^-j meet the density 1/(2 pi s^2): (2 s 2^-j + 1) 2^-116,
 *            summed over the j <= 41 for which a strip exists at all.  Together
 *            (7)  Gaussian  below s 2^-112 + 2^-110,   Laplace  below s 2^-115 + 2^-115 */
#include "mech/exact.h"

typedef pvi_u128 u128;
typedef pvi_u256 u256;

static u128 entry(const uint64_t w[2])
{
    return (u128)w[0] << 64 | w[1];
}

static u256 multiply(u128 a, u128 b)
{
    const u128 mask = (u128)UINT64_MAX, a0 = a & mask, a1 = a >> 64, b0 = b & mask, b1 = b >> 64;
    const u128 low = a0 * b0, m1 = a1 * b0, m2 = a0 * b1;
    const u128 mid = (low >> 64) + (m1 & mask) + (m2 & mask);
    return (u256) { .hi = a1 * b1 + (m1 >> 64) + (m2 >> 64) + (mid >> 64), .lo = mid << 64 | (low & mask) };
}

/* Product of two numbers in units of 2^-127: at most 2 ulp too small. */
static u128 product(u128 a, u128 b)
{
    return multiply(a, b).hi << 1;
}

static int leading_zeros(u128 x)
{
    const uint64_t hi = (uint64_t)(x >> 64);
    return hi ? __builtin_clzll(hi) : 64 + __builtin_clzll((uint64_t)x);
}

static u256 shift_left(u256 x, int n)
{
    if (n >= 128) return (u256) { .hi = x.lo << (n - 128), .lo = 0 };
    if (n == 0) return x;
    return (u256) { .hi = x.hi << n | x.lo >> (128 - n), .lo = x.lo << n };
}

static int zeros(u256 x)
{
    return x.hi ? leading_zeros(x.hi) : 128 + leading_zeros(x.lo);
}

static bool larger(u256 x, u256 y)
{
    return x.hi > y.hi || (x.hi == y.hi && x.lo > y.lo);
}

u128 pvi_exact_neglog(const uint64_t u[4])
{
    const u256 x = { .hi = entry(u), .lo = entry(u + 2) };
    PVI_REQUIRE(x.hi | x.lo);
    const int z = zeros(x);
    u128 m = shift_left(x, z).hi, sum = 0; /* m in units of 2^-128, sum in units of 2^-127 */
    for (int i = 1; i <= 64; i++) {
        const u128 larger = m + (m >> i);
        if (larger < m) continue; /* reached 1 */
        m = larger;
        sum += entry(pvi_ln1p_q127[i]);
    }
    sum += -m >> 1; /* delta */
    return (u128)(unsigned)z * entry(pvi_ln2_q120) + (sum >> 7);
}

/* sum_j (-square)^j / (2j + first)!, j = 0 .. 17 - first */
static u128 series(u128 square, int first)
{
    u128 acc = 0;
    for (int j = 34 - first; j >= first; j -= 2) acc = entry(pvi_inverse_factorial_q127[j]) - product(square, acc);
    return acc;
}

void pvi_exact_cos_sin(u128 f, u128 *cosine, u128 *sine)
{
    const u128 a = multiply(f, entry(pvi_half_pi_q127)).hi, square = product(a, a); /* units of 2^-127 */
    *cosine = series(square, 0);
    *sine = product(a, series(square, 1));
}

/* s = S 2^e, S in [2^52, 2^53). */
static uint64_t split(double s, int *e)
{
    PVI_REQUIRE(s >= 0x1p-4 && s <= 0x1p40);
    const double f = frexp(s, e);
    *e -= 53;
    return (uint64_t)ldexp(f, 53);
}

/* Whether value > M/2, as left > M^power factor 2^shift. */
typedef struct comparison {
    u256 left;
    int power;
    u128 factor;
    int shift;
} comparison;

/* value > k + 1/2 */
static bool above(const comparison *c, int64_t k)
{
    const u128 M = 2 * (u128)k + 1;
    const u256 right = multiply(c->power == 2 ? M * M : M, c->factor);
    if (256 - zeros(right) + c->shift > 256) return false; /* 2^256 or more */
    return larger(c->left, shift_left(right, c->shift));
}

/* The k next to the value, from a guess that is a few units off at most. */
static int64_t settle(const comparison *c, double guess)
{
    int64_t k = (int64_t)rint(guess);
    while (above(c, k)) k++;
    while (k > 0 && !above(c, k - 1)) k--;
    return k;
}

/* L t^2 with 125 significant bits however small t is, in units of 2^-*unit; not for zeros. */
static u128 square_term(u128 L, u128 t, int *unit)
{
    const int zl = leading_zeros(L), zt = leading_zeros(t);
    const u128 tt = multiply(t << zt, t << zt).hi; /* units of 2^-(126 + 2 zt) */
    *unit = 118 + zl + 2 * zt;
    return multiply(L << zl, tt).hi;
}

int64_t pvi_exact_gauss(double s, u128 L, u128 t)
{
    int e, unit;
    const uint64_t S = split(s, &e);
    if (L == 0 || t == 0) return 0;
    const u128 Ltt = square_term(L, t, &unit);
    const comparison c = { multiply(Ltt, (u128)S * S), 2, 1, unit - 3 - 2 * e }; /* (3) */
    return settle(&c, s * sqrt(2.0 * (double)L * 0x1p-120) * ((double)t * 0x1p-127));
}

int64_t pvi_exact_ball(double s, u128 L, u128 t, const u256 *sum)
{
    int e, unit;
    const uint64_t S = split(s, &e);
    if (L == 0 || t == 0) return 0;
    const u128 Ltt = square_term(L, t, &unit);
    const int z = zeros(*sum);
    const u128 top = shift_left(*sum, z).hi;                                               /* units of 2^(8 - z) */
    const comparison c = { multiply(Ltt, (u128)S * S), 2, top, unit + 8 - z - 2 - 2 * e }; /* (5) */
    const double total = ldexp((double)top, 8 - z);
    return settle(&c, s * sqrt((double)L * 0x1p-120 / total) * ((double)t * 0x1p-127));
}

void pvi_exact_sum(u256 *sum, u128 L, u128 t)
{
    const u256 tt = multiply(t, t); /* units of 2^-126 after .hi */
    const u128 term = t >> 127 ? L : multiply(L, tt.hi).hi << 2;
    sum->lo += term;
    sum->hi += sum->lo < term;
}

u128 pvi_exact_gumbel(const uint64_t u[4])
{
    const u128 L = pvi_exact_neglog(u), at_least = L | (L == 0); /* L / 256 as a fraction of 128 bits */
    return pvi_exact_neglog((const uint64_t[4]) { (uint64_t)(at_least >> 64), (uint64_t)at_least, 0, 0 });
}

bool pvi_exact_ahead(int64_t lead, double scale, u128 a, u128 b)
{
    int e;
    const u128 S = (u128)ldexp(frexp(scale, &e), 53);
    const u256 left = multiply((u128)(lead < 0 ? -lead : lead) << 64, (u128)1 << 80); /* |lead| 2^144 */
    const u256 right = multiply(S, b > a ? b - a : a - b);
    if (lead >= 0) return b < a || larger(left, right); /* (8) */
    return b < a && larger(right, left);
}

void pvi_exact_polar(const pvi_wide *bits, uint64_t b, pvi_exact_pair *out)
{
    const u128 half = (u128)1 << 127, angle = entry(bits->angle); /* f + 1/2 */
    const bool swap = b >> 12 & 1;
    out->L = pvi_exact_neglog(bits->u);
    pvi_exact_cos_sin(angle > half ? angle - half : half - angle, &out->t[swap], &out->t[!swap]);
    out->negative[swap] = b >> 13 & 1;
    out->negative[!swap] = angle < half;
}
