/* mech_ball.c - noise uniform in the volume of a ball, on the grid.
 *
 *   (1) M(x) = x + round(V / h), x in grid units, V uniform in the d-ball of radius noise_scale, h the spacing
 *   (2) V = noise_scale (g_1 .. g_d) / sqrt(g_1^2 + .. + g_{d+2}^2), all g independent N(0, 1): the first d
 *       coordinates of a point uniform on the sphere in d + 2 dimensions are uniform in the d-ball, which is the
 *       Gaussian direction times u^(1/d) without the power
 *   (3) a pair (g, g') has g^2 + g'^2 = 2 L, L = -ln U of that pair (draw.kernel.c); g_{d+1}^2 + g_{d+2}^2 = 2 L_0
 *       for one exponential L_0; an odd last coordinate adds L t^2.  With their sum S,
 *       V_j = noise_scale sqrt(L / S) t_j
 *
 * Method    as normal.c.  S is summed with compensation: relative error 2u, beside 14 u of each L and 2^-49.4 for
 *           the bits nobody has drawn, provided S > 2^-20 times the number of terms.  With k = s / sqrt(2 S),
 *           s = noise_scale / h, the double k g_j is within k (0.66 * 2^-45 + 6.67 * 2^-49) < 2^-44 k of the
 *           real one (draw.kernel.c, (7)); nearer than that to a half-integer exact.c, (5), settles it.
 *           The bits of the vector are gone through twice, and once more if anything is undecided.
 * Distance  2^-70 per coordinate, as for the Gaussian; pvi_ball_tv() sums them.
 * Privacy   (0, delta) only, by total variation: with probability up to delta a row is exposed outright.
 *           delta_1 = I_{(D/2R)^2}(1/2, (d+1)/2) for a shift D < 2R, R = noise_scale; D includes the rounding to
 *           the grid.  Noise from the surface of the sphere would give no privacy at all and is not offered.
 *           T releases, each on one uniform unit of n:
 *           (4) delta = 1 - (1 - delta_1/n)^T; the multiplier is the smallest with at most the delta wanted
 * Reference Harman, Lacko, J. Multivar. Anal. 101(10), 2010 (the identity (2)). */
#include "mech/exact.h"
#include "mech/kernel.h"

typedef struct batch {
    pvi_bits words;
    _Alignas(64) double y[2 * PVI_CHUNK];
    int64_t d, pairs; /* pair number `pairs` gives L_0 */
    pvi_u256 sum;     /* S exactly, once something was undecided */
    bool summed;
} batch;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void exact_pair(const batch *c, int64_t i, pvi_exact_pair *out)
{
    pvi_wide wide;
    pvi_bits_wide(&c->words, i, &wide);
    pvi_exact_polar(&wide, c->words.b[i], out);
}

/* What pair i adds to S, as L t^2: t = 1 unless half of it is used. */
static void exact_term(const batch *c, int64_t i, pvi_u128 *L, pvi_u128 *t)
{
    pvi_exact_pair p;
    exact_pair(c, i % PVI_CHUNK, &p);
    *L = p.L;
    *t = 2 * i + 1 == c->d ? p.t[0] : (pvi_u128)1 << 127;
}

static double rough_term(const batch *c, int64_t i)
{
    pvi_u128 L, t;
    if (!isnan(c->y[i % PVI_CHUNK]) && 2 * i + 1 != c->d) return c->y[i % PVI_CHUNK];
    exact_term(c, i, &L, &t);
    return ldexp((double)L, -120) * ldexp((double)t, -127) * ldexp((double)t, -127);
}

/* S of (3) in double precision, with Kahan's compensation. */
static double rough_sum(batch *c)
{
    double sum = 0.0, lost = 0.0;
    for (int64_t i = 0; i <= c->pairs; i++) {
        if (i % PVI_CHUNK == 0) {
            const int64_t m = smaller(c->pairs + 1 - i, PVI_CHUNK);
            pvi_bits_load(&c->words, i / PVI_CHUNK, m);
            c->words.k->exponential(c->words.a, c->words.b, 1.0, c->y, m);
        }
        const double term = rough_term(c, i) - lost, next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return sum;
}

static void exact_sum(batch *c)
{
    for (int64_t i = 0; i <= c->pairs; i++) {
        pvi_u128 L, t;
        if (i % PVI_CHUNK == 0) pvi_bits_load(&c->words, i / PVI_CHUNK, PVI_CHUNK);
        exact_term(c, i, &L, &t);
        pvi_exact_sum(&c->sum, L, t);
    }
    c->summed = true;
}

/* Adds to x what round_add left out of the draws j .. j + m - 1. */
static void settle(batch *c, double s, double margin, int64_t *x, int64_t j, int64_t m)
{
    const int64_t chunk = j / (2 * PVI_CHUNK), pairs = (m + 1) / 2;
    if (!c->summed) {
        exact_sum(c);
        pvi_bits_load(&c->words, chunk, pairs);
    }
    for (int64_t i = 0; i < m; i++) {
        if (fabs(c->y[i] - rint(c->y[i])) <= 0.5 - margin) continue;
        pvi_exact_pair p;
        exact_pair(c, i % pairs, &p);
        const int64_t z = pvi_exact_ball(s, p.L, p.t[i / pairs], &c->sum);
        x[j + i] += p.negative[i / pairs] ? -z : z;
    }
}

double pvi_ball_tv(int64_t d)
{
    return (double)d * 0x1p-70;
}

void pvi_ball_add(pv_rng *r, double radius, double spacing, int64_t *x, int64_t d)
{
    const double s = radius / spacing;
    PVI_REQUIRE(s >= 0x1p-4 && s <= 0x1p40 && pvi_rounds_to_nearest());
    batch c = { .d = d, .pairs = (d + 1) / 2 };
    pvi_bits_begin(&c.words, r);
    const double S = rough_sum(&c), k = S > 0x1p-20 * (double)(c.pairs + 1) ? s / sqrt(2.0 * S) : (double)NAN;
    for (int64_t j = 0; j < d; j += 2 * PVI_CHUNK) {
        const int64_t m = smaller(d - j, 2 * PVI_CHUNK), pairs = (m + 1) / 2;
        pvi_bits_load(&c.words, j / (2 * PVI_CHUNK), pairs);
        c.words.k->gauss(c.words.a, c.words.b, k, c.y, c.y + pairs, pairs);
        if (c.words.k->round_add(c.y, k * 0x1p-44, x + j, m)) settle(&c, s, k * 0x1p-44, x, j, m);
    }
    pvi_wipe(&c, sizeof c);
}

static double shown_value(const pv_noise *n)
{
    return n->scale;
}

/* A point drawn from the ball of radius R in d dimensions has E V_k^2 = R^2 / (d + 2). */
static double entry(const pv_noise *n)
{
    return n->scale / sqrt((double)n->length + 2.0);
}

static double leaf(double z, double d)
{
    return pv_ball_delta(1.0, z, d);
}

/* (4): T releases of one uniform unit each cost 1 - (1 - delta_1/n)^T. */
static double own_multiplier(double T, double units, double d, double delta)
{
    const double delta_1 = -units * expm1(log1p(-delta) / T) * (1.0 - 1e-9);
    return pv_ball_radius(1.0, fmin(delta_1, 1.0 - 1e-9), d);
}

/* The sum of T draws has a length of about R sqrt(T), that of T gradients T C at most. */
static void warn(const pv_noise *n, double T, pv_ctx *ctx)
{
    const double drift = n->scale * sqrt(T), reach = n->bound * T;
    if (drift > reach)
        pvi_log(ctx, PV_LOG_WARN,
                "over %.0f steps noise moves the weights %.2g times as far as gradients could: the result will be "
                "noise; ball noise wants many more rows, fewer steps or a larger delta",
                T, drift / reach);
}

static pvi_close close(const pv_noise *n, double T)
{
    (void)n, (void)T;
    return (pvi_close) { INFINITY, 1.0 };
}

static double distance(const pv_noise *n, double T)
{
    return T * pvi_ball_tv(n->length);
}

static void draw(const pv_noise *n, pv_rng *rng, double times, double unit, int64_t *sum, const double *score,
                 double *out)
{
    (void)score;
    if (!n->off) pvi_ball_add(rng, pvi_noise_scale(n, times), n->spacing, sum, n->length);
    pvi_grid_value(sum, n->spacing, unit, out, n->length);
}

const pv_mechanism_ops pv_mechanism_ball = {
    .head = { .name = "ball",
              .summary = "noise uniform in the volume of a ball: (0, delta) by total variation",
              .reference = "Harman-Lacko 2010",
              .params = pv_no_params },
    .norm = PV_L2,
    .event = PV_EV_BALL,
    .relations = 1u << PV_REL_REPLACE,
    .caveat = "Ball noise is (0, delta): with a probability of up to delta a row is exposed outright.",
    .shown = "noise_radius",
    .shown_value = shown_value,
    .entry = entry,
    .leaf = leaf,
    .own_multiplier = own_multiplier,
    .plan = pvi_noise_plan,
    .warn = warn,
    .close = close,
    .distance = distance,
    .draw = draw,
};
