/* test_grid.c - the fixed-point boundary: rounding, order, spacing. */
#include "mech/mech.h"
#include "aborttest.h"

/* Rounding written differently: split off the whole part, then look at the rest. */
static int64_t round_even(double y)
{
    const double whole = floor(y), rest = y - whole;
    int64_t k = (int64_t)whole;
    if (rest > 0.5 || (rest == 0.5 && k % 2 != 0)) k++;
    return k;
}

static void rounds_to_nearest_ties_to_even(void **state)
{
    (void)state;
    const double h = 0x1p-20;
    const float adversarial[] = { 0.5f * 0x1p-20f,
                                  1.5f * 0x1p-20f,
                                  2.5f * 0x1p-20f,
                                  -0.5f * 0x1p-20f,
                                  -1.5f * 0x1p-20f,
                                  nextafterf(0.5f * 0x1p-20f, 1),
                                  nextafterf(0.5f * 0x1p-20f, 0),
                                  0.0f,
                                  -0.0f,
                                  1e-45f,
                                  -1e-45f,
                                  0x1p31f,
                                  -0x1p31f,
                                  0x1.fffffep31f,
                                  0x1p41f,
                                  -0x1.fffffep40f };
    enum { N = sizeof adversarial / sizeof *adversarial };
    int64_t acc[N] = { 0 };
    pvi_grid_add(adversarial, h, acc, N);
    for (int i = 0; i < N; i++) PVT_IS(acc[i], round_even((double)adversarial[i] / h));
}

enum { D = 1003, ROWS = 40 };

static void fill(float *x, int n, uint64_t *seed)
{
    for (int i = 0; i < n; i++) x[i] = (float)(pvt_normal(seed) * ldexp(1.0, (int)(pvt_u64(seed) % 40) - 25));
}

static void random_input_and_error_bound(void **state)
{
    (void)state;
    static float x[D];
    static int64_t acc[D];
    uint64_t seed = 1;
    for (int rep = 0; rep < 50; rep++) {
        const double h = ldexp(1.0, -5 - rep % 30);
        double err = 0.0;
        fill(x, D, &seed);
        memset(acc, 0, sizeof acc);
        pvi_grid_add(x, h, acc, D);
        for (int i = 0; i < D; i++) {
            PVT_IS(acc[i], round_even((double)x[i] / h));
            err += ((double)acc[i] * h - (double)x[i]) * ((double)acc[i] * h - (double)x[i]);
        }
        PVT_CHECK(sqrt(err) <= pvi_grid_error(h, D), "%g above %g", sqrt(err), pvi_grid_error(h, D));
    }
    PVT_NEAR(pvi_grid_error(0.25, 4), 0.25, 1e-15);
    PVT_TRUE(pvi_grid_error(0.25, 4) >= 0.25);
}

static void order_does_not_matter(void **state)
{
    (void)state;
    static float x[ROWS][D];
    static int64_t up[D], down[D];
    uint64_t seed = 2;
    fill(x[0], ROWS * D, &seed);
    for (int i = 0; i < ROWS; i++) pvi_grid_add(x[i], 0x1p-30, up, D);
    for (int i = ROWS; i-- > 0;) pvi_grid_add(x[i], 0x1p-30, down, D);
    assert_memory_equal(up, down, sizeof up);
}

static void spacing_is_a_power_of_two_that_fits(void **state)
{
    (void)state;
    const double clips[] = { 1e-6, 0.1, 1, 5, 1e8 }, z[] = { 0.05, 0.5, 1.1, 10, 1e4 };
    const int64_t ns[] = { 1, 60000, 1000000000 }, ds[] = { 1, 1000, 100000000 };
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            for (int c = 0; c < 3; c++)
                for (int e = 0; e < 3; e++) {
                    const double scale = clips[a] * z[b], h = pvi_grid_spacing(clips[a], ns[c], scale, ds[e]);
                    int k;
                    PVT_TRUE(frexp(h, &k) == 0.5);
                    PVT_TRUE((double)ns[c] * clips[a] / h + 16 * scale / h < 0x1p62);
                    PVT_TRUE(h >= scale * 0x1p-37);
                    if (h > scale * 0x1p-30) /* coarser only because half of it would not fit */
                        PVT_TRUE((double)ns[c] * clips[a] * 2 / h + 256 * scale / h >= 0x1p62);
                }
    /* Much noise in many dimensions: finer, so that rounding stays below 2^-16 of the clip. */
    PVT_TRUE(pvi_grid_error(pvi_grid_spacing(1, 1000, 100, 1000000), 1000000) <= 0x1p-16);
    PVT_TRUE(pvi_grid_spacing(1, 1000, 100, 1000000) < 100 * 0x1p-31);
    /* A sum too large for the noise: coarser, then none. */
    PVT_TRUE(pvi_grid_spacing(1, 1000000000000, 1e-3, 10) > 1e-3 * 0x1p-30);
    PVT_NEAR(pvi_grid_spacing(1, INT64_MAX, 1e-3, 10), 0, 0);
}

static void spacing_refuses(void **state)
{
    (void)state;
    const double bad[] = { 0, -1, NAN, INFINITY, 1e-300, 1e300 };
    for (int i = 0; i < 6; i++) {
        PVT_NEAR(pvi_grid_spacing(bad[i], 10, 1, 1), 0, 0);
        PVT_NEAR(pvi_grid_spacing(1, 10, bad[i], 1), 0, 0);
    }
    PVT_NEAR(pvi_grid_spacing(1, 0, 1, 1), 0, 0);
    PVT_NEAR(pvi_grid_spacing(1, 1, 1, 0), 0, 0);
}

static void value_scales_back(void **state)
{
    (void)state;
    const int64_t acc[] = { 0, 3, -8, (int64_t)1 << 52 };
    double out[4];
    pvi_grid_value(acc, 0x1p-4, 0.5, out, 4);
    PVT_NEAR(out[0], 0, 0);
    PVT_NEAR(out[1], 3.0 / 32, 0);
    PVT_NEAR(out[2], -0.25, 0);
    PVT_NEAR(out[3], 0x1p47, 0);
}

static int add_it(const void *arg)
{
    float x[40] = { 0 };
    int64_t acc[40] = { 0 };
    x[17] = *(const float *)arg;
    pvi_grid_add(x, 0x1p-30, acc, 40);
    return 0;
}

static void aborts_on(float bad)
{
    PVT_CHECK(in_child(add_it, &bad) == ABORTED, "%g got in", (double)bad);
}

static void not_finite_never_gets_in(void **state)
{
    (void)state;
    aborts_on(NAN);
    aborts_on(INFINITY);
    aborts_on(-INFINITY);
    aborts_on(0x1p40f); /* 2^70 units */
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(rounds_to_nearest_ties_to_even),
        cmocka_unit_test(random_input_and_error_bound),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(spacing_is_a_power_of_two_that_fits),
        cmocka_unit_test(spacing_refuses),
        cmocka_unit_test(value_scales_back),
        cmocka_unit_test(not_finite_never_gets_in),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
