/* mech_laplace.c - the Laplace mechanism on the grid.
 *
 *   (1) M(x) = x + round(V / h), x in grid units, V Laplace of scale noise_scale per coordinate, h the spacing
 *   (2) V = +- noise_scale * -ln U, the sign a bit of its own
 *
 * Method    as normal.c: a double within 2^-43 s of s * -ln U (draw.kernel.c, (8)), s = noise_scale / h, settles the
 *           rounding unless it lies that near to a half-integer; then 128 more bits and exact.c settle it.
 *           Total variation per draw below s 2^-115 + 2^-115 < 2^-74 (exact.c, (7)).
 * Privacy   x is a vector of integers, so (1) is round(x + V / h), a post-processing of the Laplace mechanism:
 *           epsilon = L1 sensitivity / noise_scale, the sensitivity including the rounding to the grid.
 * Time      constant work; undecided draws as in normal.c.
 * Reference Dwork, McSherry, Nissim, Smith, TCC 2006, Proposition 1; Mironov, CCS 2012 (why the grid). */
#include "mech/exact.h"
#include "mech/kernel.h"

typedef struct batch {
    pvi_bits words;
    _Alignas(64) double y[PVI_CHUNK];
} batch;

static void load(batch *c, int64_t j, double s, int64_t m)
{
    pvi_bits_load(&c->words, j / PVI_CHUNK, m);
    c->words.k->exponential(c->words.a, c->words.b, s, c->y, m);
    for (int64_t i = 0; i < m; i++) c->y[i] = copysign(c->y[i], (double)(int64_t)c->words.b[i]); /* (2) */
}

/* Adds what round_add left out. */
static void settle(const batch *c, double s, double margin, int64_t *x, int64_t m)
{
    for (int64_t i = 0; i < m; i++) {
        if (fabs(c->y[i] - rint(c->y[i])) <= 0.5 - margin) continue;
        pvi_wide wide;
        pvi_bits_wide(&c->words, i, &wide);
        const int64_t z = pvi_exact_laplace(s, pvi_exact_neglog(wide.u));
        x[i] += c->words.b[i] >> 63 ? -z : z;
    }
}

double pvi_laplace_tv_per_draw(void)
{
    return 0x1p-72;
}

void pvi_laplace_add(pv_rng *r, double noise_scale, double spacing, int64_t *x, int64_t d)
{
    const double s = noise_scale / spacing, margin = s * 0x1p-43;
    PVI_REQUIRE(s >= 0x1p-4 && s <= 0x1p40 && pvi_rounds_to_nearest());
    batch c;
    pvi_bits_begin(&c.words, r);
    for (int64_t j = 0; j < d; j += PVI_CHUNK) {
        const int64_t m = d - j < PVI_CHUNK ? d - j : PVI_CHUNK;
        load(&c, j, s, m);
        if (c.words.k->round_add(c.y, margin, x + j, m)) settle(&c, s, margin, x + j, m);
    }
    pvi_wipe(&c, sizeof c);
}

static pv_status add(pv_rng *rng, double noise_scale, double spacing, int64_t *x, int64_t d)
{
    pvi_laplace_add(rng, noise_scale, spacing, x, d);
    return PV_OK;
}

const pv_mechanism_ops pv_mechanism_laplace = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "laplace",
              .summary = "Laplace noise, rounded to the grid",
              .reference = "Dwork-McSherry-Nissim-Smith 2006, Proposition 1",
              .params = pv_no_params },
    .norm = PV_L1,
    .event = PV_EV_LAPLACE,
    .add = add,
};
