/* draw.kernel.c - uniform bits to Gaussian, exponential and Gumbel variables in double precision, with error bounds;
 * one copy per instruction set.
 *
 * Uniforms   word a and the low 12 bits c of word b: U = (a + (c + v) / 2^12) / 2^64, v in (0, 1) the bits nobody has
 *            drawn; here v = 1/2.  Read as signed, x = U for U < 1/2 and x = U - 1 otherwise, so that both U near 0
 *            and 1 - U near 0 keep 53 significant bits.
 * Logarithm  U = 2^-k m, m in [sqrt(1/2), sqrt 2), z = (m - 1) / (m + 1), w = z^2, polynomial R of degree 6:
 *            (1)  -ln U = k ln 2 - (2 z + z w R(w))
 * Angle      f in [-1/2, 1/2) from the top 50 bits of b, bit 12 swaps, bit 13 is a sign; polynomials in f^2:
 *            (2)  (c, t) = (+-cos(pi/2 f), sin(pi/2 f)), swapped or not: uniform on the circle
 *            (3)  y0, y1 = s sqrt(-2 ln U) (c, t)                                   (Box and Muller 1958)
 *
 * Errors     in units of u = 2^-53, the relative error of one operation, with fused multiply-add / without.  Largest
 *            errors of the polynomials, printed by tests/reference/mech_constants.py: 2^-58.9 of 2z, 2^-54.5 of t,
 *            2^-55.7 for cos.
 *            x, two roundings, 2u; where 1 + x is formed another u: at most 6u of -ln U.  z, m - 1 being exact: 2u;
 *            2z + zwR: 3.3u of |ln m|; k ln 2: 0.3u / 1.3u of it; the last sum u.  For k = 0, |ln m| = -ln U; else
 *            |ln m| <= ln(2)/2 <= -ln U and k ln 2 <= -2 ln U.  Together
 *            (4)  -ln U has relative error at most 11 u / 13 u
 *            (5)  s sqrt(-2 ln U): 7.5u / 8.5u; cos: 2u / 2.4u; t: 2.7u / 3u; their product u more:
 *                 y has relative error at most 13 u
 *            (6)  bits nobody has drawn: |v - 1/2| < 1/2 moves -ln U by at most 2^-77 / U, f by 2^-51
 *            Wherever 2^-32 <= U < 1 - 2^-61, r = sqrt(-2 ln U) is between 2^-30 and 6.67, moves by 1/r of what -ln U
 *            moves by, and the errors add up to less than
 *            (7)  s (13 u 6.67 + 2^-45/6.66 + 6.67 (pi/2) 2^-51)  <  0.66 * 2^-45 s         Gaussian
 *            (8)  s (14 u 22.2 + 2^-45)                           <  0.56 * 2^-43 s         exponential
 *            Outside that range (probability 2^-32 and a little) the result is NAN: undecided.
 * Gumbel     G = -ln(-ln U) from 64 bits: the bits nobody has drawn move U by 2^-65 and a little, G by 2^-65 / (U L),
 *            L = -ln U; rounding, (4) twice and one sum, moves v by at most 218 u where |v| < 50.  So
 *            (9)  v is within 2^-37 wherever 2^-31 <= U <= 1 - 2^-27, and undecided (INFINITY) elsewhere
 * Time       no branch, no table, one division and one square root for every pair. */
#include "mech/kernel.h"

#if defined(__FMA__)
#define FMA(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif

static inline double as_f64(uint64_t u)
{
    double d;
    memcpy(&d, &u, sizeof d);
    return d;
}

static inline uint64_t as_u64(double d)
{
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

/* All ones where the sign bit is set. */
static inline uint64_t negative(double d)
{
    return 0 - (as_u64(d) >> 63);
}

static inline double select(uint64_t mask, double yes, double no)
{
    return as_f64((as_u64(yes) & mask) | (as_u64(no) & ~mask));
}

/* Integers below 2^52 become doubles by being written into the mantissa of 2^52. */
static inline double small_f64(uint64_t u)
{
    return as_f64(u | 0x4330000000000000u) - 0x1p52;
}

static inline double signed_f64(uint64_t a)
{
#if defined(__AVX512DQ__)
    return (double)(int64_t)a;
#else /* high half in the mantissa of 2^84, low half in that of 2^52: one rounding, as the conversion has */
    const double high = as_f64((a >> 32 ^ 0x80000000u) | 0x4530000000000000u);
    return (high - 0x1.00000801p84) + as_f64((a & 0xffffffffu) | 0x4330000000000000u); /* 2^84 + 2^63 + 2^52 */
#endif
}

/* x of the header. */
static inline double centered(uint64_t a, uint64_t c)
{
    return FMA(small_f64(c) + 0.5, 0x1p-76, signed_f64(a) * 0x1p-64);
}

/* -ln p by (1); where `near_one` is set, p = 1 + x and x is more exact than p - 1. */
static inline double neglog(double p, double x, uint64_t near_one)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcdu, e = as_u64(p) + (0x3ff0000000000000u - root_half);
    const double k = 1023.0 - small_f64(e >> 52), m = as_f64((e & 0xfffffffffffffu) + root_half);
    const double num = select(near_one, x, m - 1.0), z = num / (num + 2.0), w = z * z;
    double r = 0x1.2f0563862790bp-3;
    r = FMA(r, w, 0x1.39a1bab740866p-3);
    r = FMA(r, w, 0x1.74663ee86e7c1p-3);
    r = FMA(r, w, 0x1.c71c52095d172p-3);
    r = FMA(r, w, 0x1.24924941f124fp-2);
    r = FMA(r, w, 0x1.999999997fdb7p-2);
    r = FMA(r, w, 0x1.5555555555592p-1);
    return FMA(k, 0x1.62e42fefa39efp-1, -FMA(z * w, r, 2.0 * z));
}

static inline double neglog_uniform(double x)
{
    const uint64_t upper = negative(x);
    return neglog(select(upper, 1.0 + x, x), x, upper & negative(-0.2928 - x));
}

static inline double cosine(double w)
{
    double c = -0x1.b26fe85b71befp-28;
    c = FMA(c, w, 0x1.f9cc6acfc67dap-22);
    c = FMA(c, w, -0x1.a6d1ecb740183p-16);
    c = FMA(c, w, 0x1.e1f50683b42cap-11);
    c = FMA(c, w, -0x1.55d3c7e3c95bcp-6);
    c = FMA(c, w, 0x1.03c1f081b5ab0p-2);
    c = FMA(c, w, -0x1.3bd3cc9be45dep+0);
    return FMA(c, w, 1.0);
}

static inline double sine_over_f(double w)
{
    double t = 0x1.e3f39e11ac85ep-25;
    t = FMA(t, w, -0x1.e30071ff2da0cp-19);
    t = FMA(t, w, 0x1.50782fda6c315p-13);
    t = FMA(t, w, -0x1.32d2cce2e60e4p-8);
    t = FMA(t, w, 0x1.466bc677587fdp-4);
    t = FMA(t, w, -0x1.4abbce625be41p-1);
    return FMA(t, w, 0x1.921fb54442d18p+0);
}

/* y inside the range of (7) and (8), NAN outside. */
static inline double decided(double x, double y)
{
    const double distance = select(negative(x), x * -0x1p29, x);
    return select(negative(distance - 0x1p-32), (double)NAN, y);
}

/* Three short loops rather than a long one: more draws are in flight while the division and the root are waited
 * for. */
static void gauss(const uint64_t *restrict a, const uint64_t *restrict b, double s, double *restrict y0,
                  double *restrict y1, int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y0[i] = centered(a[i], b[i] & 0xfff);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) y1[i] = neglog_uniform(y0[i]);
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double r = decided(y0[i], s * __builtin_sqrt(2.0 * y1[i]));
        const double f = as_f64((b[i] >> 12 & ~(uint64_t)3) | 0x3ff0000000000002u) - 1.5, w = f * f;
        const double c = as_f64(as_u64(r * cosine(w)) ^ (b[i] & 0x2000) << 50), t = r * (f * sine_over_f(w));
        const uint64_t swap = 0 - (b[i] >> 12 & 1);
        y0[i] = select(swap, t, c); /* (2), (3) */
        y1[i] = select(swap, c, t);
    }
}

static void exponential(const uint64_t *restrict a, const uint64_t *restrict b, double s, double *restrict y,
                        int64_t n)
{
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double x = centered(a[i], b[i] & 0xfff);
        y[i] = decided(x, s * neglog_uniform(x));
    }
}

static void gumbel(const uint64_t *restrict a, const double *restrict score, double inverse, double top, double unit,
                   double *restrict v, int64_t n)
{
    const double magic = 0x1.8p52;
#pragma omp simd
    for (int64_t i = 0; i < n; i++) {
        const double q = (score[i] * inverse + magic) - magic;
        const double x = centered(a[i], 0x800), g = neglog(neglog_uniform(x), 0.0, 0);
        const double distance = select(negative(x), x * -0x1p-4, x);
        v[i] = select(negative(distance - 0x1p-31), (double)INFINITY, (q - top) * unit + g);
    }
}

/* Masks rather than comparisons: compilers turn those into branches here, and a branch would show when the lead
 * changes.  Where both are infinite of one sign the difference is NAN, and either answer will do. */
static void keep_best(const double *restrict v, double first, pvi_best *restrict b, int64_t n)
{
    static const double lane[PVI_BEST_LANES] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    for (int64_t i = 0; i < n; i += PVI_BEST_LANES) {
        const double at = first + (double)i;
#pragma omp simd
        for (int l = 0; l < PVI_BEST_LANES; l++) {
            const double x = v[i + l];
            const uint64_t leads = negative(b->first[l] - x), follows = negative(b->second[l] - x);
            b->second[l] = select(leads, b->first[l], select(follows, x, b->second[l]));
            b->first[l] = select(leads, x, b->first[l]);
            b->index[l] = select(leads, at + lane[l], b->index[l]);
        }
    }
}

/* y + 1.5 * 2^52 holds round(y) in its low mantissa bits. */
static bool round_add(const double *restrict y, double margin, int64_t *restrict x, int64_t n)
{
    const double magic = 0x1.8p52, limit = 0.5 - margin;
    uint64_t undecided = 0;
#pragma omp simd reduction(| : undecided)
    for (int64_t i = 0; i < n; i++) {
        const double t = y[i] + magic, rest = y[i] - (t - magic);
        const uint64_t ok = fabs(rest) <= limit ? ~(uint64_t)0 : 0;
        x[i] = (int64_t)((uint64_t)x[i] + ((as_u64(t) - as_u64(magic)) & ok));
        undecided |= ~ok;
    }
    return undecided != 0;
}

static bool grid_round(const float *restrict x, double inverse, int64_t *restrict acc, int64_t n)
{
    const double magic = 0x1.8p52;
    uint64_t large = 0;
#pragma omp simd reduction(| : large)
    for (int64_t i = 0; i < n; i++) {
        const double y = (double)x[i] * inverse, t = y + magic;
        const uint64_t ok = fabs(y) < 0x1p51 ? ~(uint64_t)0 : 0;
        acc[i] = (int64_t)((uint64_t)acc[i] + ((as_u64(t) - as_u64(magic)) & ok));
        large |= ~ok;
    }
    return large != 0;
}

extern pvi_stream_fn PVI_ISA_NAME(pvi_chacha_blocks); /* chacha.kernel.c */
extern const pvi_mech_kernels PVI_ISA_NAME(pvi_mech_kernels);
const pvi_mech_kernels PVI_ISA_NAME(pvi_mech_kernels) = { .chacha = PVI_ISA_NAME(pvi_chacha_blocks),
                                                          .stream = PVI_ISA_NAME(pvi_chacha_blocks),
                                                          .gauss = gauss,
                                                          .exponential = exponential,
                                                          .gumbel = gumbel,
                                                          .keep_best = keep_best,
                                                          .round_add = round_add,
                                                          .grid_add = grid_round };
