/* mech_select.c - private selection: the exponential mechanism by Gumbel noise.
 *
 *   (1) q_i = h * round(score_i / h),  h = pvi_select_grid(scale): the largest power of two up to 2^-28 scale
 *   (2) return argmax_i v_i,  v_i = (q_i - max q) / scale + G_i,  G_i = -ln(-ln U_i) independent Gumbel variables
 *   (3) P(i) = exp(q_i / scale) / sum_j exp(q_j / scale)
 *
 * Privacy   with sensitivity Delta per score one row moves q_i by at most Delta + h: epsilon = 2 (Delta + h) / scale
 *           with bounded range, so epsilon^2 / 8 in zCDP.  Only the index leaves, never a score or a v_i.
 * Distance  U_i has 64 bits, G_i the error of draw.kernel.c.  The index differs from that of (2) only if
 *           - the double arithmetic, in error by at most 218 u < 2^-45 for every v_i that can win (|v_i| < 50),
 *             closes the gap between the best two.  (2) is a race of exponential clocks of rates exp(q_i / scale); by
 *             their lack of memory P(gap <= a) <= 1 - e^-a <= a, so at most 2^-44;
 *           - or the bits nobody has drawn do: for given rivals U_i must lie within 2^-64 of one point, n times:
 *             n 2^-62 with both ends and both rivals.
 *           pvi_select_tv(n) = 2^-43 + n 2^-62.
 * Time      one pass for the maximum, one for the noise; no branch on a score or a draw.
 * Reference McSherry, Talwar, FOCS 2007; Durfee, Rogers, NeurIPS 2019 (Gumbel); Dong, Durfee, Rogers, ICML 2020
 *           (bounded range); Cesar, Rogers, ALT 2021, Lemma 3.4 (epsilon^2 / 8). */
#include "mech/kernel.h"

typedef struct race {
    _Alignas(64) uint64_t words[PVI_CHUNK];
    double v[PVI_CHUNK];
    double best[PVI_LANES], index[PVI_LANES];
    uint8_t key[PVI_KEY_SIZE];
} race;

double pvi_select_grid(double scale)
{
    int e;
    frexp(scale, &e); /* scale >= 2^(e-1) */
    return ldexp(1.0, e - 1 - 28);
}

double pvi_select_tv(int64_t n)
{
    return 0x1p-43 + (double)n * 0x1p-62;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void start(race *c)
{
    for (int l = 0; l < PVI_LANES; l++) {
        c->best[l] = -INFINITY;
        c->index[l] = 0.0;
    }
}

/* Takes v[0 .. m-1] of rows from j on into the lanes. */
static void enter(const pvi_mech_kernels *k, race *c, int64_t j, int64_t m)
{
    const int64_t whole = (m + PVI_LANES - 1) / PVI_LANES * PVI_LANES;
    for (int64_t i = m; i < whole; i++) c->v[i] = -INFINITY;
    k->keep_best(c->v, (double)j, c->best, c->index, whole);
}

/* The best of all lanes. */
static int64_t finish(const race *c, double *best)
{
    int w = 0;
    for (int l = 1; l < PVI_LANES; l++) w = c->best[l] > c->best[w] ? l : w;
    *best = c->best[w];
    return (int64_t)c->index[w];
}

static double largest(const pvi_mech_kernels *k, race *c, const double *score, int64_t n, double limit)
{
    double top;
    int outside = 0;
    start(c);
    for (int64_t j = 0; j < n; j += PVI_CHUNK) {
        const int64_t m = smaller(n - j, PVI_CHUNK);
        memcpy(c->v, score + j, (size_t)m * sizeof *score);
        for (int64_t i = 0; i < m; i++) outside |= !(fabs(c->v[i]) < limit);
        enter(k, c, j, m);
    }
    PVI_REQUIRE(!outside); /* a NaN would always win, or never */
    finish(c, &top);
    return top;
}

int64_t pvi_select(pv_rng *r, const double *score, int64_t n, double scale)
{
    const pvi_mech_kernels *k = pvi_rng_kernels(r);
    PVI_REQUIRE(n >= 1 && scale > 0x1p-900 && scale < 0x1p900 && pvi_rounds_to_nearest());
    const double h = pvi_select_grid(scale), inverse = 1.0 / h;
    race c;
    double best;
    const double top = rint(largest(k, &c, score, n, 0x1p22 * scale) * inverse);
    start(&c);
    pvi_rng_bytes(r, c.key, sizeof c.key);
    for (int64_t j = 0; j < n; j += PVI_CHUNK) {
        const int64_t m = smaller(n - j, PVI_CHUNK);
        k->chacha(c.key, 0, (uint64_t)j / 8, (uint8_t *)c.words, (size_t)(m + 7) / 8);
        k->gumbel(c.words, score + j, inverse, top, h / scale, c.v, m); /* (2) */
        enter(k, &c, j, m);
    }
    const int64_t winner = finish(&c, &best);
    pvi_wipe(&c, sizeof c);
    return winner;
}

/* Names no sum: pv_query_atom calls pvi_select, so there is no `add`. */
const pv_mechanism_ops pv_mechanism_select = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "select",
              .summary = "private choice of the best among many: exponential mechanism",
              .reference = "McSherry-Talwar 2007; Dong-Durfee-Rogers 2020",
              .params = pv_no_params },
    .norm = PV_LINF,
    .event = PV_EV_SELECT,
};
