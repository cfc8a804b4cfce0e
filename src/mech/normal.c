/* normal.c - Gaussian draws: rounded exactly, at the speed of double precision.
 *
 * Wanted     (1)  Z = round(s N), N ~ N(0, 1), s = noise_scale / spacing, as in real arithmetic.
 *
 * Method     N is a function of infinitely many uniform bits (draw.kernel.c): U and f.  Of each pair of draws 128
 *            bits are drawn, and the double y with
 *            (2)  |y - s N| <= e s,  e = 2^-45, whatever the bits not drawn are        (draw.kernel.c, (7))
 *            If y is further than e s from every half-integer, round(y) = Z is settled, whatever the other bits.
 *            Else 256 more bits are drawn and Z is settled by integer arithmetic (exact.c).
 *            The outcome is (1) itself, whatever the instruction set: all of them agree bit for bit, because the
 *            further bits of a pair have a place of their own in the stream (random_bits.c).
 *
 * Distance   Z differs from (1) only if s N is within the error of exact.c of a half-integer; with s <= 2^40 the
 *            probability is below s 2^-112 + 2^-110 < 2^-71, with the unused bits of U and f (2^-128 each) below
 *            (3)  total variation per draw <= 2^-70                              (pvi_normal_tv_per_draw)
 *            given uniform bits; that ChaCha20 and AES-256 under a key of the operating system cannot be told
 *            from uniform bits is the computational assumption of the library (aes.c: its blocks never repeat).
 *            Double precision alone would not do: shifting y by 2^-50 s units of the grid moves mass between
 *            neighbouring integers, up to 2^-20 in total variation at s = 2^30, for every coordinate of every step.
 *            Tails are not cut: U has 204 bits, |N| reaches 16.8.
 *
 * Ratio      Outcome by outcome the law is closer than (3) says.  A pair of draws is a point of the plane, radius r,
 *            L = r^2/2, density e^{-L}/2 pi; its outcome a square of side 1/s.  The outcome can be wrong only within
 *            g = 2^-118 max(1, L)/r + 2^-121 r + 2^-204 e^L/r  of an edge: exact.c (6) and the bits of U not drawn.
 *            The strips along the four edges are at most 8 s g (1 + 2^-14) of the square's mass, s >= 2^20, and r >=
 *            1/2s on every edge.  So |P'(k) - P(k)| <= c P(k) with
 *            (4)  c = s (2^(j-113) + 2^-100)  for squares with r >= 2^-j, j >= 3, and e^L <= 2^104
 *                 c = s^2 2^-112              for those nearer to 0
 *            Beyond e^L = 2^104 a pair falls with probability 2^-104.  Of R pairs more than 40 fall within 2^-j of 0
 *            with probability below 1/40! < 2^-158, if R 2^(-2j) <= 1.  Together
 *            (5)  kappa = 2 (R s (2^(j-113) + 2^-100) + 40 s^2 2^-112),  tau = R 2^-103 + 2^-157   (pvi_normal_close)
 *            where the factors 2 cover P' in place of P and squares that the circles cut.
 *
 * Time       constant work per pair, except the settling of undecided draws.  A draw is undecided when the
 *            fractional part of s N falls into a window of width 2 e s (probability 2^-14 at s = 2^30), or when
 *            U < 2^-32 or U > 1 - 2^-61 (probability 2^-32 a pair).  The density of s N changes by a factor 1 +- 8/s
 *            inside one unit, so the first event is independent of Z up to 2^-14 * 2^-27: the time of a call tells
 *            that some fractional parts, which are never released, were near 1/2, and nothing about the values.
 * Rounding   requires the default rounding mode, round to nearest.
 * Reference  Box, Muller, Ann. Math. Stat. 29, 1958; Jin et al. 2022, arXiv:2112.05307 (attacks). */
#include "mech/exact.h"
#include "mech/kernel.h"

typedef struct batch {
    pvi_bits words;
    _Alignas(64) double y[2 * PVI_CHUNK]; /* the first draws of the pairs, then the second ones */
} batch;

static void load(batch *c, int64_t j, double s, int64_t pairs)
{
    pvi_bits_load(&c->words, j / (2 * PVI_CHUNK), pairs);
    c->words.k->gauss(c->words.a, c->words.b, s, c->y, c->y + pairs, pairs);
}

/* Draw j of the batch from the bits at hand and 256 more. */
static int64_t settle_one(const batch *c, double s, int64_t pairs, int64_t j)
{
    pvi_wide wide;
    pvi_exact_pair p;
    pvi_bits_wide(&c->words, j % pairs, &wide);
    pvi_exact_polar(&wide, c->words.b[j % pairs], &p);
    const int64_t z = pvi_exact_gauss(s, p.L, p.t[j / pairs]);
    return p.negative[j / pairs] ? -z : z;
}

/* Adds what round_add left out. */
static void settle(const batch *c, double s, double margin, int64_t *x, int64_t pairs, int64_t m)
{
    for (int64_t j = 0; j < m; j++)
        if (!(fabs(c->y[j] - rint(c->y[j])) <= 0.5 - margin)) x[j] += settle_one(c, s, pairs, j);
}

double pvi_normal_tv_per_draw(void)
{
    return 0x1p-70; /* (3) */
}

pvi_close pvi_normal_close(double least, double most, double pairs)
{
    if (!(least >= 0x1p20 && most <= 0x1p40 && pairs < 0x1p60)) return (pvi_close) { INFINITY, 1.0 };
    const double j = fmax(3.0, ceil(0.5 * log2(pairs))), s = most;
    return (pvi_close) { 2.0 * (pairs * s * (ldexp(1.0, (int)j - 113) + 0x1p-100) + 40.0 * s * s * 0x1p-112),
                         pairs * 0x1p-103 + 0x1p-157 }; /* (5) */
}

static int64_t length(int64_t d, int64_t j)
{
    return d - j < 2 * PVI_CHUNK ? d - j : 2 * PVI_CHUNK;
}

/* Draws have fixed places in the stream, so that any thread can draw any part of a vector. */
enum { PART = 8 * 2 * PVI_CHUNK }; /* draws of one task */
typedef struct addition {
    pvi_bits words; /* kernels and key */
    double s;
    int64_t *x, d;
} addition;

static void add_part(void *arg, int64_t task, int thread)
{
    const addition *a = arg;
    const double s = a->s, margin = s * 0x1p-45; /* e s of (2) */
    const int64_t last = (task + 1) * PART < a->d ? (task + 1) * PART : a->d;
    batch c;
    (void)thread;
    PVI_REQUIRE(pvi_rounds_to_nearest());
    c.words.k = a->words.k;
    memcpy(c.words.key, a->words.key, sizeof c.words.key);
    for (int64_t j = task * PART; j < last; j += 2 * PVI_CHUNK) {
        const int64_t m = length(a->d, j), pairs = (m + 1) / 2;
        load(&c, j, s, pairs);
        if (c.words.k->round_add(c.y, margin, a->x + j, m)) settle(&c, s, margin, a->x + j, pairs, m);
    }
    pvi_wipe(&c, sizeof c);
    pvi_wipe_stack();
}

void pvi_normal_add(pv_rng *r, double noise_scale, double spacing, int64_t *x, int64_t d)
{
    addition a = { .s = noise_scale / spacing, .x = x, .d = d };
    PVI_REQUIRE(a.s >= 0x1p-4 && a.s <= 0x1p40);
    pvi_bits_begin(&a.words, r);
    pvi_parallel(pvi_rng_ctx(r), (d + PART - 1) / PART, add_part, &a);
    pvi_bits_end(&a.words);
}
