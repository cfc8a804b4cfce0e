/* mech_select.c - private selection: the exponential mechanism by Gumbel noise.
 *
 *   (1) q_i = h * round(score_i / h),  h = pvi_select_grid(scale): the largest power of two up to 2^-28 scale
 *   (2) return argmax_i v_i,  v_i = (q_i - max q) / scale + G_i,  G_i = -ln(-ln U_i) independent Gumbel variables
 *   (3) P(i) = exp(q_i / scale) / sum_j exp(q_j / scale)
 *
 * Method    As normal.c: double precision proposes, integers decide.  Every v_i is known to within 2^-37, or
 *           undecided (draw.kernel.c, (9)).  If the best is more than 2^-36 ahead of the second it is the argmax.
 *           Else, and that is once in 2^36 selections or when some U_i was next to 0 or 1 (probability n 2^-26), the
 *           scores are gone through once more: whoever is not clearly behind the champion so far is compared with it
 *           by integers, with G from 256 bits of U (exact.c, (8)).
 * Distance  That comparison is wrong only if L_i = -ln U_i falls within 2^-117 of the point where its v_i
 *           equals the best rival's, for some i: below n 2^-114, the table of exact.c included.
 *           (4)  pvi_select_tv(n) = n 2^-100
 * Privacy   with sensitivity Delta per score one row moves q_i by at most Delta + h: epsilon = 2 (Delta + h) / scale
 *           with bounded range, so epsilon^2 / 8 in zCDP.  Only the index leaves, never a score or a v_i.
 *           (5) Scores are <v_k, S>, S a sum that neighbours move by at most Delta, and A the largest ||v_k||
 *               (||v_k||_1 where
 *           rows are bounded in their largest value): a score moves by A Delta, plus the rounding of the inner
 *           product and of
 *           (1), h of the scale that follows; scale = 2 z times all that, z = 1 / epsilon.  Where a schedule has
 *           releases of more noise, h is that of the noisiest.
 * Time      one pass for the maximum, one for the noise; no branch on a score or a draw.  The second pass depends on
 *           the gap and on extreme U_i, hardly on the scores: P(gap <= a) <= a whatever they are, by the lack of
 *           memory of exponential clocks of rates exp(q_i / scale), which is what (2) is a race of.
 * Reference McSherry, Talwar, FOCS 2007; Durfee, Rogers, NeurIPS 2019 (Gumbel); Dong, Durfee, Rogers, ICML 2020
 *           (bounded range); Cesar, Rogers, ALT 2021, Lemma 3.4 (epsilon^2 / 8). */
#include "mech/exact.h"
#include "mech/kernel.h"

typedef struct race {
    _Alignas(64) uint64_t words[PVI_CHUNK];
    double v[PVI_CHUNK];
    pvi_best best;
    const pvi_mech_kernels *k;
    const double *score;
    int64_t n;
    double h, scale, top; /* top: max q in units of h */
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
    return (double)n * 0x1p-100; /* (4) */
}

static int64_t length(const race *c, int64_t j)
{
    return c->n - j < PVI_CHUNK ? c->n - j : PVI_CHUNK;
}

static void start(race *c)
{
    for (int l = 0; l < PVI_BEST_LANES; l++) {
        c->best.first[l] = c->best.second[l] = -INFINITY;
        c->best.index[l] = 0.0;
    }
}

/* Takes v[0 .. m-1], of rows from j on, into the lanes. */
static void enter(race *c, int64_t j, int64_t m)
{
    const int64_t whole = (m + PVI_BEST_LANES - 1) / PVI_BEST_LANES * PVI_BEST_LANES;
    for (int64_t i = m; i < whole; i++) c->v[i] = -INFINITY;
    c->k->keep_best(c->v, (double)j, &c->best, whole);
}

/* The lane with the best, and the second best of all. */
static int finish(const race *c, double *second)
{
    int w = 0;
    for (int l = 1; l < PVI_BEST_LANES; l++) w = c->best.first[l] > c->best.first[w] ? l : w;
    *second = c->best.second[w];
    for (int l = 0; l < PVI_BEST_LANES; l++) *second = fmax(*second, l == w ? -INFINITY : c->best.first[l]);
    return w;
}

static void find_top(race *c, double limit)
{
    double second;
    int outside = 0;
    start(c);
    for (int64_t j = 0; j < c->n; j += PVI_CHUNK) {
        const int64_t m = length(c, j);
        memcpy(c->v, c->score + j, (size_t)m * sizeof *c->score);
        for (int64_t i = 0; i < m; i++) outside |= !(fabs(c->v[i]) < limit);
        enter(c, j, m);
    }
    PVI_REQUIRE(!outside); /* a NaN would always win, or never */
    c->top = rint(c->best.first[finish(c, &second)] / c->h);
}

/* v of the rows from j on, (2). */
static void load(race *c, int64_t j, int64_t m)
{
    c->k->stream(c->key, 0, (uint64_t)j / 8, (uint8_t *)c->words, (size_t)(m + 7) / 8);
    c->k->gumbel(c->words, c->score + j, 1.0 / c->h, c->top, c->h / c->scale, c->v, m);
}

typedef struct runner {
    int64_t index, q; /* q: score in units of h, less top */
    pvi_u128 G;
    double v;
} runner;

static runner look_closer(const race *c, int64_t i, int64_t j)
{
    uint64_t more[8];
    c->k->stream(c->key, 1, (uint64_t)(j + i), (uint8_t *)more, 1);
    const uint64_t u[4] = { c->words[i], more[0], more[1], more[2] };
    runner r = { .index = j + i, .q = (int64_t)(rint(c->score[j + i] / c->h) - c->top), .G = pvi_exact_gumbel(u) };
    r.v = (double)r.q * c->h / c->scale + ((double)r.G * 0x1p-120 - 0x1.62e42fefa39efp+2); /* 8 ln 2 */
    return r;
}

static int64_t decide(race *c)
{
    runner champion = { .v = -INFINITY };
    for (int64_t j = 0; j < c->n; j += PVI_CHUNK) {
        const int64_t m = length(c, j);
        load(c, j, m);
        for (int64_t i = 0; i < m; i++) {
            if (c->v[i] < champion.v - 0x1p-36) continue;
            const runner r = look_closer(c, i, j);
            if (j + i == 0 || pvi_exact_ahead(r.q - champion.q, c->scale, r.G, champion.G)) champion = r;
        }
    }
    return champion.index;
}

int64_t pvi_select(pv_rng *r, const double *score, int64_t n, double scale)
{
    PVI_REQUIRE(n >= 1 && scale > 0x1p-900 && scale < 0x1p900 && pvi_rounds_to_nearest());
    race c = { .k = pvi_rng_kernels(r), .score = score, .n = n, .h = pvi_select_grid(scale), .scale = scale };
    double second;
    find_top(&c, 0x1p22 * scale);
    start(&c);
    pvi_rng_bytes(r, c.key, sizeof c.key);
    for (int64_t j = 0; j < n; j += PVI_CHUNK) {
        load(&c, j, length(&c, j));
        enter(&c, j, length(&c, j));
    }
    const int w = finish(&c, &second);
    const bool clear = c.best.first[w] < INFINITY && c.best.first[w] - second > 0x1p-36;
    const int64_t winner = clear ? (int64_t)c.best.index[w] : decide(&c);
    pvi_wipe(&c, sizeof c);
    return winner;
}

/* ---- the mechanism: scores are the inner products of a sum with the vertices of the constraint set ------------- */

static double shown_value(const pv_noise *n)
{
    return pv_up(1.0 / n->multiplier, 1);
}

static double leaf(double z, double d)
{
    (void)d;
    return pv_up(1.0 / z, 1);
}

static bool can_choose(const pv_plugin *h, uint32_t of)
{
    const pv_set_ops *set = (const pv_set_ops *)(const void *)h;
    return set->props & of && set->atoms && set->scores;
}

static pv_words lacks(const pv_problem *p)
{
    pv_words w = { "" };
    if (p->set && can_choose(&p->set->head, PV_COMPACT)) return w;
    const bool too_many = p->set && p->set->props & PV_COMPACT && p->set->atoms;
    pv_words_add(&w, "", too_many ? "a set with fewer vertices" : "a constraint set with vertices");
    pv_words_add(&w, ": set=", pv_names_where(PV_KIND_set, can_choose, PV_COMPACT).text);
    return w;
}

static int64_t scores(const pv_noise *n)
{
    const pv_problem *p = n->problem;
    return p->set->atoms(p->set_st, p->set_cfg, p->d);
}

/* (5) */
static pv_status plan(pv_noise *n, pv_ctx *ctx)
{
    const pv_problem *p = n->problem;
    const double A = (n->max_norm ? p->set->radius1 : p->set->radius)(p->set_st, p->set_cfg, p->d);
    const double product = 2.0 * ((double)p->d / 8.0 + 12.0) * 0x1p-53 * (double)n->units * A * n->bound;
    const double most = pv_up(2.0 * A * n->sensitivity, 2); /* twice as much as needed: its grid is no finer */
    n->change = pv_up(A * n->sensitivity + product + pvi_select_grid(2.0 * n->multiplier * most * n->max_ratio), 4);
    if (!(n->change <= most))
        return pvi_fail(ctx, PV_E_UNSUPPORTED,
                        "scores of %lld rows and %lld columns cannot be computed accurately enough",
                        (long long)n->units, (long long)p->d);
    n->scale = pv_up(2.0 * n->multiplier * n->change, 2);
    if ((double)n->units * A * n->bound < 0x1p21 * n->scale) return PV_OK;
    return pvi_fail(ctx, PV_E_UNSUPPORTED, "scores of %lld rows are too large for this little noise: lower epsilon",
                    (long long)n->units);
}

static pvi_close close(const pv_noise *n, double T)
{
    (void)n, (void)T;
    return (pvi_close) { INFINITY, 1.0 };
}

static double distance(const pv_noise *n, double T)
{
    return T * pvi_select_tv(scores(n));
}

/* Large where <v_k, sum> is small. */
static void score(const pv_noise *n, const int64_t *sum, double *gradient, double *score)
{
    const pv_problem *p = n->problem;
    pvi_grid_value(sum, n->spacing, -1.0, gradient, p->d);
    p->set->scores(p->set_st, p->set_cfg, gradient, score, p->d);
}

static void draw(const pv_noise *n, pv_rng *rng, double times, double unit, int64_t *sum, const double *score,
                 double *out)
{
    int64_t best = 0;
    (void)sum, (void)unit;
    if (!n->off) {
        *out = (double)pvi_select(rng, score, scores(n), pvi_noise_scale(n, times));
        return;
    }
    for (int64_t i = 1; i < scores(n); i++)
        if (score[i] > score[best]) best = i;
    *out = (double)best;
}

const pv_mechanism_ops pv_mechanism_select = {
    .head = { .name = "select",
              .summary = "private choice of the best among many: exponential mechanism",
              .reference = "McSherry-Talwar 2007; Dong-Durfee-Rogers 2020",
              .params = pv_no_params },
    .norm = PV_LINF,
    .event = PV_EV_SELECT,
    .relations = 1u << PV_REL_ZERO_OUT | 1u << PV_REL_REPLACE,
    .caveat =
        "Vertices of the constraint set are chosen by the exponential mechanism; noise_multiplier is 1 over the "
        "epsilon of one choice.",
    .shown = "selection_epsilon",
    .shown_value = shown_value,
    .leaf = leaf,
    .lacks = lacks,
    .plan = plan,
    .close = close,
    .distance = distance,
    .scores = scores,
    .score = score,
    .draw = draw,
};
