/* test_smooth.c - Laplacian smoothing against elimination and against its definition, for every way of cutting. */
#include "core/core.h"
#include "opt/smooth.h"
#include "ctxtest.h"

/* A x = g by elimination in long double, A the circle's second difference.  d > 2: A = T + u u'/sigma with T
 * tridiagonal, u = (sigma, 0, ..., 0, -sigma)', so x = y - z (u'y)/(sigma + u'z) with T y = g, T z = u. */
static void by_elimination(const double *g, double *x, int64_t d, double sigma)
{
    const long double s = (long double)sigma, c = 1 + 2 * s;
    if (d <= 2 || !(sigma > 0)) { /* a circle of one is its own neighbour, of two has one neighbour twice */
        const long double f = d == 2 ? 1 / (1 + 4 * s) : 1, sum = g[0] + (long double)g[d - 1];
        const long double half = (g[0] - (long double)g[d - 1]) / 2;
        for (int64_t i = 0; i < d; i++) x[i] = (double)(d == 2 ? sum / 2 + (i ? -half : half) * f : g[i]);
        return;
    }
    long double *y = malloc(3 * (size_t)d * sizeof *y), *z = y + d, *up = z + d, low = 0, yu, zu;
    for (int64_t i = 0; i < d; i++) {
        const long double u = i == 0 ? s : i == d - 1 ? -s : 0, end = i == 0 || i == d - 1 ? -s : 0;
        const long double pivot = c + end + (i ? s * up[i - 1] : 0);
        up[i] = -s / pivot;
        y[i] = (g[i] + (i ? s * y[i - 1] : low)) / pivot;
        z[i] = (u + (i ? s * z[i - 1] : low)) / pivot;
    }
    for (int64_t i = d - 1; i-- > 0;) y[i] -= up[i] * y[i + 1], z[i] -= up[i] * z[i + 1];
    yu = s * (y[0] - y[d - 1]), zu = s * (z[0] - z[d - 1]);
    for (int64_t i = 0; i < d; i++) x[i] = (double)(y[i] - z[i] * yu / (s + zu));
    free(y);
}

enum { RANDOM, IMPULSE_FIRST, IMPULSE_LAST, ALTERNATING, CONSTANT, SHAPES };
static void fill(double *g, int64_t d, int shape, uint64_t *s)
{
    for (int64_t i = 0; i < d; i++)
        g[i] = shape == RANDOM          ? pvt_normal(s)
               : shape == IMPULSE_FIRST ? i == 0
               : shape == IMPULSE_LAST  ? i == d - 1
               : shape == ALTERNATING   ? (i % 2 ? -1.0 : 1.0)
                                        : 3.0;
}

static double largest(const double *x, int64_t d)
{
    double m = 0.0;
    for (int64_t i = 0; i < d; i++) m = fmax(m, fabs(x[i]));
    return m;
}

/* Returns the worst error relative to the largest element; checks the definition A x = g on the way. */
static double worst_error(int64_t d, double sigma, int shape)
{
    uint64_t seed = (uint64_t)d * 7 + (uint64_t)shape;
    double *g = calloc((size_t)d, sizeof *g), *x = malloc((size_t)d * sizeof *x),
           *want = malloc((size_t)d * sizeof *want);
    pv_arena *a = pvi_arena_create(ctx);
    pvi_smoother s;
    PVT_OK(pvi_smooth_open(&s, a, sigma, d));
    fill(g, d, shape, &seed);
    memcpy(x, g, (size_t)d * sizeof *g);
    pvi_smooth(&s, x, d);
    by_elimination(g, want, d, sigma);
    double worst = 0.0, residual = 0.0;
    for (int64_t i = 0; i < d; i++) {
        const double before = x[(i + d - 1) % d], after = x[(i + 1) % d];
        worst = fmax(worst, fabs(x[i] - want[i]));
        residual = fmax(residual, fabs((1.0 + 2.0 * sigma) * x[i] - sigma * (before + after) - g[i]));
    }
    PVT_CHECK(residual <= 1e-13 * (1.0 + sigma) * largest(x, d) + 1e-15 * largest(g, d),
              "d=%lld sigma=%g residual %g", (long long)d, sigma, residual);
    worst /= largest(want, d);
    pvi_arena_free(a);
    free(want);
    free(x);
    free(g);
    return worst;
}

static const double sigmas[] = { 0.0, 1e-9, 0.1, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 33.3, 100.0 };
enum { SIGMAS = sizeof sigmas / sizeof *sigmas };

static void short_vectors_match_elimination(void **state)
{
    (void)state;
    for (int k = 0; k < SIGMAS; k++)
        for (int shape = 0; shape < SHAPES; shape++) {
            for (int64_t d = 1; d <= 17; d++) PVT_NEAR(worst_error(d, sigmas[k], shape), 0.0, 1e-12);
            for (int64_t d = 90; d <= 1200; d += 97) PVT_NEAR(worst_error(d, sigmas[k], shape), 0.0, 1e-12);
        }
}

static void long_vectors_match_elimination(void **state)
{
    (void)state;
    for (int k = 0; k < SIGMAS; k += 2) {
        PVT_NEAR(worst_error(100000, sigmas[k], k % SHAPES), 0.0, 1e-12);
        PVT_NEAR(worst_error(100000, sigmas[k], RANDOM), 0.0, 1e-12);
        PVT_NEAR(worst_error(1000000, sigmas[k], RANDOM), 0.0, 1e-12);
    }
    PVT_NEAR(worst_error(1000000, 1e4, RANDOM), 0.0, 1e-12); /* long memory: large blocks */
}

/* Lengths around every change of method: closed form, one block, several blocks, several tasks. */
static void changes_of_method_match_elimination(void **state)
{
    (void)state;
    static const double some[] = { 1.0, 100.0 };
    for (int k = 0; k < 2; k++) {
        pv_arena *a = pvi_arena_create(ctx);
        pvi_smoother s;
        PVT_OK(pvi_smooth_open(&s, a, some[k], 1000000));
        const int64_t edges[] = { 8 * s.warm + 8, 8 * s.lane, 16 * s.lane, 24 * s.lane, 8 * 32 * s.lane };
        for (int e = 0; e < 5; e++)
            for (int64_t d = edges[e] - 9; d <= edges[e] + 9; d += e < 2 ? 1 : e < 4 ? 3 : 9) {
                PVT_NEAR(worst_error(d, some[k], RANDOM), 0.0, 1e-12);
                if (d % 5 == 0) PVT_NEAR(worst_error(d, some[k], IMPULSE_LAST), 0.0, 1e-12);
            }
        pvi_arena_free(a);
    }
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    enum { D = 700001 };
    double *one = malloc(D * sizeof *one), *many = malloc(D * sizeof *many);
    for (int threads = 2; threads <= 5; threads++) {
        pv_arena *a = pvi_arena_create(ctx);
        uint64_t s1 = 4, s2 = 4;
        pvi_smoother s;
        fill(one, D, RANDOM, &s1);
        fill(many, D, RANDOM, &s2);
        PVT_OK(pvi_set_threads(ctx, 1));
        PVT_OK(pvi_smooth_open(&s, a, 2.5, D));
        pvi_smooth(&s, one, D);
        PVT_OK(pvi_set_threads(ctx, threads));
        if (threads > 2) PVT_OK(pvi_smooth_open(&s, a, 2.5, D)); /* 2: opened for fewer threads than there are now */
        pvi_smooth(&s, many, D);
        PVT_TRUE(memcmp(one, many, D * sizeof *one) == 0);
        pvi_arena_free(a);
    }
    PVT_OK(pvi_set_threads(ctx, 0));
    free(many);
    free(one);
}

static void one_smoother_serves_shorter_vectors(void **state)
{
    (void)state;
    static const int64_t lengths[] = { 0, 1, 2, 150, 7850, 60000, 200000 };
    pv_arena *a = pvi_arena_create(ctx);
    pvi_smoother large, exact;
    PVT_OK(pvi_smooth_open(&large, a, 3.0, 200000));
    for (int k = 0; k < 7; k++) {
        double *x = calloc(200001, sizeof *x), *y = calloc(200001, sizeof *y);
        uint64_t s1 = 5, s2 = 5;
        fill(x, lengths[k] + 1, RANDOM, &s1); /* the element behind the end must not be touched */
        fill(y, lengths[k] + 1, RANDOM, &s2);
        PVT_OK(pvi_smooth_open(&exact, a, 3.0, lengths[k]));
        pvi_smooth(&large, x, lengths[k]);
        pvi_smooth(&exact, y, lengths[k]);
        PVT_TRUE(memcmp(x, y, 200001 * sizeof *x) == 0);
        free(y);
        free(x);
    }
    pvi_arena_free(a);
}

static void gamma_and_beta_match_sums_and_tables(void **state)
{
    (void)state;
    static const double gamma[] = { .447, .333, .277, .243, .218 }, beta[] = { .268, .185, .149, .128, .114 };
    for (int k = 0; k < 5; k++)
        for (int64_t d = 1000; d <= 100000; d *= 10) { /* the printed tables; some entries are cut, not rounded */
            PVT_NEAR(pvi_smooth_gamma(k + 1.0, d), gamma[k], 0.001);
            PVT_NEAR(pvi_smooth_beta(k + 1.0, d), beta[k], 0.001);
        }
    static const int64_t dims[] = { 1, 2, 3, 4, 7, 100, 1001 };
    for (int k = 0; k < SIGMAS; k++)
        for (int i = 0; i < 7; i++) {
            const double sigma = sigmas[k], d = (double)dims[i];
            double g = 0.0, b = 0.0;
            for (int64_t j = 0; j < dims[i]; j++) {
                const double e = 1.0 + 2.0 * sigma - 2.0 * sigma * cos(2.0 * M_PI * (double)j / d);
                g += 1.0 / e / d;
                b += 1.0 / (e * e) / d;
            }
            PVT_REL(pvi_smooth_gamma(sigma, dims[i]), g, 1e-12);
            PVT_REL(pvi_smooth_beta(sigma, dims[i]), b, 1e-12);
            /* the closed form as printed */
            if (sigma < 0.1) continue;
            const double xi = -sqrt(1.0 + 4.0 * sigma) / sigma,
                         w = (2.0 * sigma + 1.0 - sqrt(4.0 * sigma + 1.0)) / (2.0 * sigma);
            const double u = pow(w, d);
            PVT_REL((2.0 * u * u * w - xi * u * u + 2.0 * xi * d * u - 2.0 * w + xi) /
                        (sigma * sigma * xi * xi * xi * (1.0 - u) * (1.0 - u)),
                    b, 1e-9);
        }
}

/* Smoothing white noise leaves the share beta of its power: ties (9) to the filter itself. */
static void noise_power_falls_by_beta(void **state)
{
    (void)state;
    enum { D = 400000 };
    double *g = malloc(D * sizeof *g);
    for (double sigma = 1.0; sigma <= 100.0; sigma *= 10.0) {
        uint64_t seed = 3;
        pv_arena *a = pvi_arena_create(ctx);
        pvi_smoother s;
        PVT_OK(pvi_smooth_open(&s, a, sigma, D));
        fill(g, D, RANDOM, &seed);
        pvi_smooth(&s, g, D);
        double power = 0.0;
        for (int64_t i = 0; i < D; i++) power += g[i] * g[i] / D;
        PVT_REL(power, pvi_smooth_beta(sigma, D), 0.03);
        pvi_arena_free(a);
    }
    free(g);
}

enum { Q = 4, C = 3, U = 5, BIAS = 5, IN = 7, OUT = 2, ALL = Q * C * U + BIAS + IN * OUT + OUT };
static const pv_tensor layers[] = {
    { Q * C * U, Q, C, U, 0 }, { BIAS, 1, BIAS, 1, 0 }, { IN * OUT, 1, IN, OUT, 0 }, { OUT, 1, OUT, 1, 0 }
};

static void apply(const pv_problem *p, const pvi_smoothing_cfg *c, double *g)
{
    pvi_smoothing s;
    pv_arena *a = pvi_arena_create(ctx);
    PVT_OK(pvi_smoothing_check(c, p));
    PVT_OK(pvi_smoothing_open(&s, c, p, a));
    pvi_smoothing_apply(&s, p, g);
    pvi_arena_free(a);
}

/* g smoothed on a circle of n places, place[k] the k-th of them. */
static void on_circle(double sigma, int64_t n, const int64_t *place, const double *g, double *out)
{
    double v[ALL];
    pvi_smoother s;
    pv_arena *a = pvi_arena_create(ctx);
    PVT_OK(pvi_smooth_open(&s, a, sigma, n));
    for (int64_t k = 0; k < n; k++) v[k] = g[place[k]];
    pvi_smooth(&s, v, n);
    for (int64_t k = 0; k < n; k++) out[place[k]] = v[k];
    pvi_arena_free(a);
}

/* Where the weights of the first layer, of the second, and of biases lie, in the order of the circle. */
static void circles(bool pixels, double sigma0, double sigma1, const double *g, double *out)
{
    int64_t place[ALL], n = 0;
    for (int64_t i = 0; i < (pixels ? U : Q); i++)
        for (int64_t c = 0; c < C; c++)
            for (int64_t j = 0; j < (pixels ? Q : U); j++)
                place[n++] = pixels ? (j * C + c) * U + i : (i * C + c) * U + j;
    on_circle(sigma0, n, place, g, out);
    for (n = 0; n < BIAS; n++) place[n] = Q * C * U + n;
    on_circle(sigma0, n, place, g, out);
    n = 0;
    for (int64_t i = 0; i < (pixels ? OUT : IN); i++)
        for (int64_t j = 0; j < (pixels ? IN : OUT); j++)
            place[n++] = Q * C * U + BIAS + (pixels ? j * OUT + i : i * OUT + j);
    on_circle(sigma1, n, place, g, out);
    for (n = 0; n < OUT; n++) place[n] = ALL - OUT + n;
    on_circle(sigma1, n, place, g, out);
}

/* Tensors are smoothed one by one, with the sigma of their layer, in the order that is asked for. */
static void layers_have_their_sigma_and_order(void **state)
{
    (void)state;
    const pv_problem p = { .ctx = ctx, .d = ALL, .outputs = OUT, .tensor = layers, .tensors = 4 };
    static const pv_numbers several[] = { { 1, { 2.0 } }, { 2, { 2.0, 0.0 } }, { 2, { 0.5, 30.0 } } };
    uint64_t seed = 9;
    for (int k = 0; k < 3; k++)
        for (int order = 0; order < 3; order++) { /* stored, pixels, units */
            const pvi_smoothing_cfg c = { several[k], order };
            double g[ALL], want[ALL];
            fill(g, ALL, RANDOM, &seed);
            circles(order == 1, several[k].v[0], several[k].v[several[k].n - 1], g, want);
            apply(&p, &c, g);
            for (int j = 0; j < ALL; j++)
                PVT_CHECK(fabs(g[j] - want[j]) <= 1e-15 * (1 + fabs(want[j])), "sigmas %d, order %d: %g, not %g", k,
                          order, g[j], want[j]);
        }
    const pvi_smoothing_cfg three = { { 3, { 1, 1, 1 } }, 0 };
    PVT_IS(pvi_smoothing_check(&three, &p), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "optimizer.smoothing has 3 numbers, and the network has 2 layers"));
}

/* Weights of a linear model lie class after class: along the columns of a row, as they are. */
static void linear_models_have_an_order_too(void **state)
{
    (void)state;
    const pv_problem p = { .ctx = ctx, .d = 60, .outputs = 4 };
    const pvi_smoothing_cfg stored = { { 1, { 3.0 } }, 0 }, pixels = { { 1, { 3.0 } }, 1 },
                            units = { { 1, { 3.0 } }, 2 };
    double g[60], a[60], b[60], c[60], want[60];
    int64_t along[60], across[60];
    uint64_t seed = 4;
    fill(g, 60, RANDOM, &seed);
    for (int64_t k = 0; k < 60; k++) along[k] = k, across[k] = k % 4 * 15 + k / 4;
    memcpy(a, g, sizeof g), memcpy(b, g, sizeof g), memcpy(c, g, sizeof g);
    apply(&p, &stored, a), apply(&p, &pixels, b), apply(&p, &units, c);
    assert_memory_equal(a, b, sizeof a);
    on_circle(3.0, 60, along, g, want);
    assert_memory_equal(a, want, sizeof a);
    on_circle(3.0, 60, across, g, want);
    assert_memory_equal(c, want, sizeof c);
    const pvi_smoothing_cfg two = { { 2, { 1, 1 } }, 0 };
    PVT_IS(pvi_smoothing_check(&two, &p), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "the model has no layers"));
}

static void bad_sigma_is_refused(void **state)
{
    (void)state;
    pv_arena *a = pvi_arena_create(ctx);
    pvi_smoother s;
    PVT_IS(pvi_smooth_open(&s, a, -1.0, 10), PV_E_PARAM);
    PVT_IS(pvi_smooth_open(&s, a, NAN, 10), PV_E_PARAM);
    PVT_IS(pvi_smooth_open(&s, a, INFINITY, 10), PV_E_PARAM);
    PVT_IS(pvi_smooth_open(&s, a, 1.0, -1), PV_E_ARG);
    pvi_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(short_vectors_match_elimination),     cmocka_unit_test(long_vectors_match_elimination),
        cmocka_unit_test(changes_of_method_match_elimination), cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(one_smoother_serves_shorter_vectors), cmocka_unit_test(gamma_and_beta_match_sums_and_tables),
        cmocka_unit_test(noise_power_falls_by_beta),           cmocka_unit_test(bad_sigma_is_refused),
        cmocka_unit_test(layers_have_their_sigma_and_order),   cmocka_unit_test(linear_models_have_an_order_too),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
