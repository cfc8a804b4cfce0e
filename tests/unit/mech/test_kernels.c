/* test_kernels.c - every instruction set: the same stream, doubles inside the certified error, the same draws. */
#include "mech/exact.h"
#include "mech/kernel.h"
#include "ctxtest.h"

#define FOR_EACH_ISA(k)                                                                                              \
    for (int isa_ = PVI_ISA_BASE; isa_ <= (int)pvi_isa(); isa_++)                                                    \
        for (const pvi_mech_kernels *k = pvi_mech_kernels_isa[isa_]; k; k = NULL)

static void chacha_equals_libsodium(void **state)
{
    (void)state;
    static uint8_t want[64 * 70], got[64 * 71];
    const uint64_t counters[] = { 0, 1, 0xfffffff0u, 0xffffffffu, UINT64_MAX - 3 };
    uint8_t key[PVI_KEY_SIZE];
    for (int i = 0; i < PVI_KEY_SIZE; i++) key[i] = (uint8_t)(37 * i + 11);
    FOR_EACH_ISA(k)
    {
        for (int c = 0; c < 5; c++)
            for (size_t blocks = 0; blocks <= 70; blocks++) {
                if (counters[c] == UINT64_MAX - 3 && blocks > 4) break; /* libsodium's own wrap is not ours to test */
                memset(got, 0xa5, sizeof got);
                pvi_chacha20(key, 0x0123456789abcdefu, counters[c], want, 64 * blocks);
                k->chacha(key, 0x0123456789abcdefu, counters[c], got, blocks);
                PVT_CHECK(memcmp(got, want, 64 * blocks) == 0, "isa %d: %zu blocks", isa_, blocks);
                PVT_IS(got[64 * blocks], 0xa5);
            }
    }
}

/* Words whose U, 1 - U or f are extreme, then random ones. */
static void make_words(pvi_bits *w, int round, uint64_t *seed)
{
    static const uint64_t extreme[] = { 0,
                                        1,
                                        2,
                                        0xfff,
                                        1ull << 31,
                                        (1ull << 32) - 1,
                                        1ull << 32,
                                        (1ull << 32) + 1,
                                        1ull << 53,
                                        (1ull << 63) - 1,
                                        1ull << 63,
                                        (1ull << 63) + 1,
                                        0xb504f333f9de6484u,
                                        0xb504f333f9de6485u,
                                        0x5a827999fcef3242u,
                                        UINT64_MAX,
                                        UINT64_MAX - 7,
                                        UINT64_MAX - 8,
                                        UINT64_MAX - 9 };
    enum { E = sizeof extreme / sizeof *extreme };
    for (int i = 0; i < PVI_CHUNK; i++) {
        const bool a = round < 3 && i < 10 * E, b = round < 3 && i % 7 == 0;
        w->a[i] = a ? extreme[i % E] + (uint64_t)(i / E) : pvt_u64(seed) >> (round % 4 == 3 ? pvt_u64(seed) % 34 : 0);
        w->b[i] = b ? extreme[(i / 7) % E] : pvt_u64(seed);
        if (round % 8 == 5) w->a[i] = ~(w->a[i] >> pvt_u64(seed) % 62);
    }
    w->chunk = (uint64_t)round;
}

static bool in_range(uint64_t a)
{
    return a >= 1ull << 32 && a <= UINT64_MAX - 8; /* 2^-32 <= U < 1 - 2^-61 */
}

/* The real value to 60 bits, from 118-bit parts. */
static long double gauss_value(const pvi_exact_pair *p, int which)
{
    const long double r = sqrtl(2.0L * (long double)p->L * 0x1p-120L), y = r * ((long double)p->t[which] * 0x1p-127L);
    return p->negative[which] ? -y : y;
}

static void doubles_are_within_their_bounds(void **state)
{
    (void)state;
    if (sizeof(long double) == sizeof(double)) PVT_SKIP("long double is double here");
    FOR_EACH_ISA(k)
    {
        pvi_bits w = { .k = k, .key = { 1, 2, 3 } };
        double y0[PVI_CHUNK], y1[PVI_CHUNK], e[PVI_CHUNK], worst_gauss = 0, worst_exp = 0;
        uint64_t seed = 3;
        for (int round = 0; round < 400; round++) {
            make_words(&w, round, &seed);
            k->gauss(w.a, w.b, 1.0, y0, y1, PVI_CHUNK);
            k->exponential(w.a, w.b, 1.0, e, PVI_CHUNK);
            for (int i = 0; i < PVI_CHUNK; i++) {
                pvi_wide wide;
                pvi_exact_pair p;
                PVT_CHECK(isnan(y0[i]) == !in_range(w.a[i]) && isnan(y1[i]) == isnan(y0[i]) &&
                              isnan(e[i]) == isnan(y0[i]),
                          "isa %d: word %llx gives %g", isa_, (unsigned long long)w.a[i], y0[i]);
                if (isnan(y0[i])) continue;
                pvi_bits_wide(&w, i, &wide);
                pvi_exact_polar(&wide, w.b[i], &p);
                worst_gauss = fmax(worst_gauss, (double)fabsl((long double)y0[i] - gauss_value(&p, 0)));
                worst_gauss = fmax(worst_gauss, (double)fabsl((long double)y1[i] - gauss_value(&p, 1)));
                worst_exp = fmax(worst_exp, (double)fabsl((long double)e[i] - (long double)p.L * 0x1p-120L));
            }
        }
        print_message(
            "isa %d: Gaussian within %.3f of 2^-45 (proved: 0.66), exponential within %.3f of 2^-43 (proved: 0.56)\n",
            isa_, worst_gauss * 0x1p45, worst_exp * 0x1p43);
        PVT_TRUE(worst_gauss * 0x1p45 <= 0.66 && worst_exp * 0x1p43 <= 0.56);
    }
}

static void gumbel_agrees_with_libm(void **state)
{
    (void)state;
    FOR_EACH_ISA(k)
    {
        pvi_bits w = { .k = k };
        double g[PVI_CHUNK], none[PVI_CHUNK] = { 0 };
        uint64_t seed = 4;
        for (int round = 0; round < 200; round++) {
            make_words(&w, round, &seed);
            k->gumbel(w.a, none, 1.0, 0.0, 1.0, g, PVI_CHUNK);
            for (int i = 0; i < PVI_CHUNK; i++) {         /* 1 - U keeps its bits where U is near 1 */
                const long double rest = 0.5L + 0x1p-13L; /* the middle of what 12 more bits could say */
                const long double u = ((long double)w.a[i] + rest) * 0x1p-64L;
                const long double v = ((long double)~w.a[i] + 1 - rest) * 0x1p-64L;
                const bool inside = w.a[i] >= 1ull << 33 && w.a[i] < 0u - (1ull << 37); /* 2^-31 .. 1 - 2^-27 */
                PVT_CHECK(isinf(g[i]) == !inside, "%llx gives %g", (unsigned long long)w.a[i], g[i]);
                if (inside) PVT_NEAR(g[i], (double)-logl(w.a[i] >> 63 ? -log1pl(-v) : -logl(u)), 0x1p-46);
            }
        }
    }
}

/* Every draw of a run equals the one that exact arithmetic gives for the same bits, on every instruction set. */
enum { D = 20001 };

static void draws_are_the_exact_ones(void **state)
{
    (void)state;
    static int64_t x[D];
    const double scales[] = { 0x1p-4, 1.0, 1234.5, 0x1.8p30, 0x1p36, 0x1p40 };
    for (int c = 0; c < 6; c++) FOR_EACH_ISA(k)
        {
            pv_rng *r;
            pvi_bits w;
            PVT_OK(pvi_rng_create_test(ctx, 100 + (uint64_t)c, &r));
            pvi_bits_begin(&w, r);
            pvi_rng_free(r);
            PVT_OK(pvi_rng_create_test(ctx, 100 + (uint64_t)c, &r));
            pvi_rng_use(r, k);
            memset(x, 0, sizeof x);
            pvi_normal_add(r, scales[c] * 0x1p-7, 0x1p-7, x, D);
            pvi_rng_free(r);
            for (int64_t j = 0; j < D; j += 2 * PVI_CHUNK) {
                const int64_t m = D - j < 2 * PVI_CHUNK ? D - j : 2 * PVI_CHUNK, pairs = (m + 1) / 2;
                pvi_bits_load(&w, j / (2 * PVI_CHUNK), pairs);
                for (int64_t i = 0; i < m; i++) {
                    pvi_wide wide;
                    pvi_exact_pair p;
                    pvi_bits_wide(&w, i % pairs, &wide);
                    pvi_exact_polar(&wide, w.b[i % pairs], &p);
                    const int64_t z = pvi_exact_gauss(scales[c], p.L, p.t[i / pairs]);
                    PVT_CHECK(x[j + i] == (p.negative[i / pairs] ? -z : z),
                              "isa %d, s = %g: draw %lld is %lld, exactly %lld", isa_, scales[c], (long long)(j + i),
                              (long long)x[j + i], (long long)z);
                }
            }
        }
}

/* Words and further bits come from separate places of the stream of one key. */
static void words_have_their_places(void **state)
{
    (void)state;
    pvi_bits w = { .k = pvi_mech_kernels_isa[pvi_isa()], .key = { 9, 8, 7 } };
    static uint64_t stream[2 * PVI_CHUNK];
    for (int64_t chunk = 0; chunk < 4; chunk++) {
        pvi_bits_load(&w, chunk, PVI_CHUNK);
        pvi_chacha20(w.key, 0, 64 * (uint64_t)chunk, (uint8_t *)stream, sizeof stream);
        assert_memory_equal(w.a, stream, sizeof w.a);
        assert_memory_equal(w.b, stream + PVI_CHUNK, sizeof w.b);
        for (int64_t i = 0; i < PVI_CHUNK; i += 17) {
            uint64_t more[8];
            pvi_wide wide;
            pvi_chacha20(w.key, 1, PVI_CHUNK * (uint64_t)chunk + (uint64_t)i, (uint8_t *)more, sizeof more);
            pvi_bits_wide(&w, i, &wide);
            PVT_TRUE(wide.u[0] == w.a[i] && wide.u[1] >> 52 == (w.b[i] & 0xfff) &&
                     (wide.u[1] & 0xfffffffffffffu) == more[0] >> 12);
            PVT_TRUE(wide.u[2] >> 52 == (more[0] & 0xfff) && (wide.u[2] & 0xfffffffffffffu) == more[1] >> 12);
            PVT_TRUE(wide.u[3] == (more[1] & 0xfff) << 52);
            PVT_TRUE(wide.angle[0] >> 14 == w.b[i] >> 14 && (wide.angle[0] & 0x3fff) == more[2] >> 50);
            PVT_TRUE(wide.angle[1] >> 14 == (more[2] & 0x3ffffffffffffu) &&
                     (wide.angle[1] & 0x3fff) == more[3] >> 50);
        }
    }
}

/* The index is the argmax of (2) in mech_select.c, computed with libm. */
static void selection_is_the_argmax(void **state)
{
    (void)state;
    enum { N = 700 };
    double score[N];
    uint64_t words[N + 8], seed = 21;
    for (int rep = 0; rep < 300; rep++) {
        const int64_t n = 1 + rep % N;
        const double scale = exp(3 * pvt_normal(&seed)), h = pvi_select_grid(scale);
        pv_rng *r;
        uint8_t key[PVI_KEY_SIZE];
        int64_t best = 0;
        long double top = -INFINITY;
        for (int64_t i = 0; i < n; i++) score[i] = 2 * scale * pvt_normal(&seed);
        PVT_OK(pvi_rng_create_test(ctx, 300 + (uint64_t)rep, &r));
        pvi_rng_bytes(r, key, sizeof key);
        pvi_rng_free(r);
        pvi_chacha20(key, 0, 0, (uint8_t *)words, (size_t)(n + 7) / 8 * 64);
        for (int64_t i = 0; i < n; i++) {
            const long double u = ((long double)words[i] + 0.5L) * 0x1p-64L;
            const long double v = (long double)(rint(score[i] / h) * h / scale) - logl(-logl(u));
            if (v > top) best = i;
            top = fmaxl(top, v);
        }
        PVT_OK(pvi_rng_create_test(ctx, 300 + (uint64_t)rep, &r));
        PVT_IS(pvi_select(r, score, n, scale), best);
        pvi_rng_free(r);
    }
}

static uint64_t digest(const int64_t *x, int64_t n)
{
    uint8_t h[PVI_HASH_SIZE];
    uint64_t out;
    pvi_hash(NULL, 0, x, (size_t)n * sizeof *x, h);
    memcpy(&out, h, sizeof out);
    return out;
}

/* A million draws, so that about a hundred are settled exactly; all mechanisms, selection, samplers. */
static void instruction_sets_agree(void **state)
{
    (void)state;
    enum { N = 1000001 };
    static int64_t x[N], rows[N];
    static double score[N];
    uint64_t first[8] = { 0 }, seed = 9;
    for (int i = 0; i < N; i++) score[i] = pvt_normal(&seed);
    FOR_EACH_ISA(k)
    {
        pv_rng *r;
        uint64_t now[8];
        int64_t count;
        int c = 0;
        PVT_OK(pvi_rng_create_test(ctx, 77, &r));
        pvi_rng_use(r, k);
        memset(x, 0, sizeof x);
        pvi_normal_add(r, 3.0, 0x1p-30, x, N), now[c++] = digest(x, N);
        pvi_ball_add(r, 3.0, 0x1p-30, x, 1001), now[c++] = digest(x, N);
        pvi_ball_add(r, 3.0, 0x1p-38, x, 600), now[c++] = digest(x, N);
        now[c++] = (uint64_t)pvi_select(r, score, N, 0.5);
        pvi_sample(r, &pvi_poisson, 0.003, N, 0, rows, &count), now[c++] = digest(rows, count);
        pvi_sample(r, &pvi_poisson, 0.5, N, 0, rows, &count), now[c++] = digest(rows, count);
        pvi_sample(r, &pvi_fixed, 0.01, N, 0, rows, &count), now[c++] = digest(rows, count);
        for (int i = 0; i < c; i++) {
            PVT_CHECK(isa_ == PVI_ISA_BASE || now[i] == first[i], "isa %d differs from base in case %d", isa_, i);
            first[i] = now[i];
        }
        pvi_rng_free(r);
    }
}

/* Kernels that decide nothing leave every draw to exact arithmetic: slower, and the same integers. */
static void gauss_undecided(const uint64_t *a, const uint64_t *b, double s, double *y0, double *y1, int64_t n)
{
    (void)a, (void)b, (void)s;
    for (int64_t i = 0; i < n; i++) y0[i] = y1[i] = NAN;
}

static void exponential_undecided(const uint64_t *a, const uint64_t *b, double s, double *y, int64_t n)
{
    (void)a, (void)b, (void)s;
    for (int64_t i = 0; i < n; i++) y[i] = NAN;
}

static void gumbel_undecided(const uint64_t *a, const double *score, double inverse, double top, double unit,
                             double *v, int64_t n)
{
    (void)a, (void)score, (void)inverse, (void)top, (void)unit;
    for (int64_t i = 0; i < n; i++) v[i] = INFINITY;
}

/* All alike within the bound: the gap is never clear. */
static void gumbel_flat(const uint64_t *a, const double *score, double inverse, double top, double unit, double *v,
                        int64_t n)
{
    pvi_mech_kernels_isa[pvi_isa()]->gumbel(a, score, inverse, top, unit, v, n);
    for (int64_t i = 0; i < n; i++) v[i] = v[i] > 1e300 ? v[i] : v[i] + (i % 2 ? 0.9 : -0.9) * 0x1p-37;
}

static void chacha_ones(const uint8_t *key, uint64_t nonce, uint64_t counter, uint8_t *out, size_t blocks)
{
    (void)key, (void)nonce, (void)counter;
    const uint64_t word = 0xfffffffffffff000u;
    for (size_t i = 0; i < 8 * blocks; i++) memcpy(out + 8 * i, &word, 8);
}

/* Kernels as wrong as their bounds allow, this way and that. */
static void gauss_off(const uint64_t *a, const uint64_t *b, double s, double *y0, double *y1, int64_t n)
{
    pvi_mech_kernels_isa[pvi_isa()]->gauss(a, b, s, y0, y1, n);
    for (int64_t i = 0; i < n; i++) {
        y0[i] += (i % 2 ? 0.9 : -0.9) * 0x1p-45 * s;
        y1[i] += (i % 3 ? 0.9 : -0.9) * 0x1p-45 * s;
    }
}

static void exponential_off(const uint64_t *a, const uint64_t *b, double s, double *y, int64_t n)
{
    pvi_mech_kernels_isa[pvi_isa()]->exponential(a, b, s, y, n);
    for (int64_t i = 0; i < n; i++) y[i] += (i % 2 ? 0.8 : -0.8) * 0x1p-43 * s;
}

static void deciding_nothing_changes_nothing(void **state)
{
    (void)state;
    enum { N = 2001, ROWS = 30000 };
    enum { CASES = 3 };
    static int64_t x[CASES][6][N], rows[CASES][ROWS], count[CASES];
    static double score[N];
    int64_t chosen[CASES][50];
    uint64_t seed = 5;
    for (int i = 0; i < N; i++) score[i] = pvt_normal(&seed);
    pvi_mech_kernels none = *pvi_mech_kernels_isa[pvi_isa()], off = none, sum_right;
    off.gauss = gauss_off;
    off.exponential = exponential_off;
    none.gumbel = gumbel_undecided;
    off.gumbel = gumbel_flat;
    sum_right = off; /* the ball's own bound has no room for a sum that far off */
    sum_right.exponential = none.exponential;
    none.gauss = gauss_undecided;
    none.exponential = exponential_undecided;
    for (int which = 0; which < CASES; which++) {
        pv_rng *r;
        PVT_OK(pvi_rng_create_test(ctx, 31, &r));
        const pvi_mech_kernels *const kernels[CASES] = { pvi_mech_kernels_isa[pvi_isa()], &none, &off };
        pvi_rng_use(r, kernels[which]);
        pvi_normal_add(r, 1.5, 0x1p-38, x[which][0], N);
        pvi_normal_add(r, 1.5, 0x1p-37, x[which][1], N);
        pvi_sample(r, &pvi_poisson, 0x1.3p-20, ROWS, 0, rows[which], &count[which]);
        pvi_sample(r, &pvi_poisson, 0.03, ROWS, 0, rows[which], &count[which]);
        for (int i = 0; i < 50; i++) chosen[which][i] = pvi_select(r, score, 40 * i + 1, 0.5);
        if (which == 2) pvi_rng_use(r, &sum_right);
        pvi_ball_add(r, 1.5, 0x1p-30, x[which][2], N);
        pvi_ball_add(r, 1.5, 0x1p-30, x[which][3], 1);
        pvi_ball_add(r, 1.5, 0x1p-39, x[which][4], 1000);
        for (int i = 0; i + 3 <= N; i += 3) pvi_ball_add(r, 1.5, 0x1p-39, x[which][5] + i, 3);
        pvi_rng_free(r);
    }
    for (int which = 1; which < CASES; which++) {
        assert_memory_equal(x[0], x[which], sizeof x[0]);
        PVT_IS(count[0], count[which]);
        assert_memory_equal(rows[0], rows[which], sizeof rows[0]);
        assert_memory_equal(chosen[0], chosen[which], sizeof chosen[0]);
    }
}

/* The same first 64 bits for every score, so that only the further ones can tell; and one score undecided by a
 * kernel. */
static void chacha_same_words(const uint8_t *key, uint64_t nonce, uint64_t counter, uint8_t *out, size_t blocks)
{
    if (nonce == 1) pvi_mech_kernels_isa[pvi_isa()]->chacha(key, nonce, counter, out, blocks);
    else memset(out, 0xb7, 64 * blocks);
}

static void gumbel_one_undecided(const uint64_t *a, const double *score, double inverse, double top, double unit,
                                 double *v, int64_t n)
{
    pvi_mech_kernels_isa[pvi_isa()]->gumbel(a, score, inverse, top, unit, v, n);
    v[n / 2] = INFINITY;
}

static void close_races_are_decided(void **state)
{
    (void)state;
    enum { N = 600 };
    double score[N] = { 0 };
    pvi_mech_kernels same = *pvi_mech_kernels_isa[pvi_isa()], one = same;
    same.chacha = same.stream = chacha_same_words;
    one.gumbel = gumbel_one_undecided;
    for (uint64_t seed = 0; seed < 100; seed++) {
        pv_rng *r;
        uint8_t key[PVI_KEY_SIZE];
        uint64_t more[8], most = 0;
        int64_t want = 0;
        PVT_OK(pvi_rng_create_test(ctx, seed, &r));
        pvi_rng_use(r, &same);
        memset(key, 0xb7, sizeof key); /* what this stream hands out */
        for (int64_t i = 0; i < N; i++) {
            score[i] = seed % 2 ? 0.0 : 1e-12 * (double)i; /* below half a unit */
            pvi_chacha20(key, 1, (uint64_t)i, (uint8_t *)more, sizeof more);
            if (more[0] > most) want = i;
            most = more[0] > most ? more[0] : most;
        }
        PVT_IS(pvi_select(r, score, N, 1.0), want); /* U grows with its further bits, and G with U */
        pvi_rng_free(r);
        int64_t got[2];
        for (int which = 0; which < 2; which++) {
            PVT_OK(pvi_rng_create_test(ctx, seed, &r));
            if (which) pvi_rng_use(r, &one);
            got[which] = pvi_select(r, score, N, 1.0);
            pvi_rng_free(r);
        }
        PVT_IS(got[1], got[0]);
    }
}

/* A skip of 2^24 rows has a margin of 2^-19 rows: kernels off by most of it still give the same samples. */
static void skips_are_the_exact_ones(void **state)
{
    (void)state;
    enum { ROWS = 1 << 22 };
    pvi_mech_kernels off = *pvi_mech_kernels_isa[pvi_isa()];
    off.exponential = exponential_off;
    int64_t *rows[2] = { malloc(ROWS * sizeof(int64_t)), malloc(ROWS * sizeof(int64_t)) }, count[2];
    PVT_TRUE(rows[0] && rows[1]);
    for (uint64_t seed = 0; seed < 200; seed++) {
        for (int which = 0; which < 2; which++) {
            pv_rng *r;
            PVT_OK(pvi_rng_create_test(ctx, seed, &r));
            if (which) pvi_rng_use(r, &off);
            pvi_sample(r, &pvi_poisson, seed % 2 ? 1e-7 : 1e-4, ROWS, 0, rows[which], &count[which]);
            pvi_rng_free(r);
        }
        PVT_IS(count[0], count[1]);
        PVT_TRUE(memcmp(rows[0], rows[1], (size_t)count[0] * sizeof(int64_t)) == 0);
    }
    free(rows[0]);
    free(rows[1]);
}

/* The stream could, if it never will, be nearly all ones: U next to 1 everywhere, the ball's sum next to 0. */
static void degenerate_bits_stay_inside(void **state)
{
    (void)state;
    pvi_mech_kernels ones = *pvi_mech_kernels_isa[pvi_isa()];
    ones.chacha = ones.stream = chacha_ones;
    pv_rng *r;
    PVT_OK(pvi_rng_create_test(ctx, 1, &r));
    pvi_rng_use(r, &ones);
    for (int64_t d = 1; d <= 4; d++) {
        int64_t x[4] = { 0 };
        double norm2 = 0;
        pvi_ball_add(r, 1.0, 0x1p-20, x, d);
        for (int64_t j = 0; j < d; j++) norm2 += (double)x[j] * 0x1p-20 * ((double)x[j] * 0x1p-20);
        PVT_CHECK(norm2 > 0 && sqrt(norm2) <= 1 + pvi_grid_error(0x1p-20, d), "d = %d: norm %g", (int)d, sqrt(norm2));
        pvi_normal_add(r, 1.0, 0x1p-20, x, d);
        for (int64_t j = 0; j < d; j++) PVT_TRUE(llabs(x[j]) <= 1 << 20);
    }
    pvi_rng_free(r);
}

/* Ball draws against (3) of mech_ball.c in 64-bit arithmetic. */
static void ball_follows_its_formula(void **state)
{
    (void)state;
    for (int64_t d = 1; d <= 7; d++) {
        const double s = 3.0 * 0x1p24;
        pv_rng *r;
        pvi_bits w;
        pvi_exact_pair p[5];
        int64_t x[7] = { 0 };
        long double sum = 0;
        PVT_OK(pvi_rng_create_test(ctx, 60 + (uint64_t)d, &r));
        pvi_bits_begin(&w, r);
        pvi_rng_free(r);
        PVT_OK(pvi_rng_create_test(ctx, 60 + (uint64_t)d, &r));
        pvi_ball_add(r, 3.0, 0x1p-24, x, d);
        pvi_rng_free(r);
        const int64_t pairs = (d + 1) / 2;
        pvi_bits_load(&w, 0, pairs + 1);
        for (int64_t i = 0; i <= pairs; i++) {
            pvi_wide wide;
            pvi_bits_wide(&w, i, &wide);
            pvi_exact_polar(&wide, w.b[i], &p[i]);
            const long double L = (long double)p[i].L * 0x1p-120L, t = (long double)p[i].t[0] * 0x1p-127L;
            sum += 2 * i + 1 == d ? L * t * t : L;
        }
        for (int64_t j = 0; j < d; j++) {
            const pvi_exact_pair *q = &p[j % pairs];
            const long double y =
                s * sqrtl((long double)q->L * 0x1p-120L / sum) * ((long double)q->t[j / pairs] * 0x1p-127L);
            const long double want = q->negative[j / pairs] ? -y : y;
            PVT_CHECK(fabsl((long double)x[j] - want) <= 0.5001L, "d = %d, %d: %lld, not %Lg", (int)d, (int)j,
                      (long long)x[j], want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(chacha_equals_libsodium),     cmocka_unit_test(doubles_are_within_their_bounds),
        cmocka_unit_test(gumbel_agrees_with_libm),     cmocka_unit_test(draws_are_the_exact_ones),
        cmocka_unit_test(words_have_their_places),     cmocka_unit_test(selection_is_the_argmax),
        cmocka_unit_test(instruction_sets_agree),      cmocka_unit_test(deciding_nothing_changes_nothing),
        cmocka_unit_test(skips_are_the_exact_ones),    cmocka_unit_test(close_races_are_decided),
        cmocka_unit_test(degenerate_bits_stay_inside), cmocka_unit_test(ball_follows_its_formula),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
