/* test_ball_vectors.c - total variation of uniform balls against 60-digit quadrature. */
#include "acct/acct.h"
#include "pvtest.h"
#include "ball_vectors.h"

static void matches_quadrature(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ball_vectors / sizeof *ball_vectors; i++) {
        const double distance = ball_vectors[i][0], d = ball_vectors[i][1], want = ball_vectors[i][2];
        const double got = pv_ball_delta(distance, 1.0, d);
        PVT_CHECK(got >= want && got <= want * (1 + 1e-10), "distance %g d %g: %.17g, want %.17g", distance, d, got,
                  want);
    }
}

static void one_dimension_is_linear(void **state)
{
    (void)state;
    for (double u = 0.01; u < 1; u += 0.01) PVT_REL(pv_ball_delta(2 * u * 3.0, 3.0, 1), u, 1e-11);
}

/* The claims of the perturbed-gradient paper: delta grows with the shift and with the dimension. */
static void monotone(void **state)
{
    (void)state;
    double before = 0;
    for (double s = 1e-4; s < 2.2; s *= 1.1) {
        const double tv = pv_ball_delta(s, 1, 50);
        PVT_TRUE(tv > before || tv == 1.0);
        before = tv;
    }
    before = 0;
    for (double d = 1; d < 1e9; d *= 1.7) {
        const double tv = pv_ball_delta(0.1, 1, floor(d));
        PVT_TRUE(tv >= before);
        before = tv;
    }
    PVT_NEAR(pv_ball_delta(0.1, 1, 100), 0.38, 0.005);
    PVT_NEAR(pv_ball_delta(0, 1, 5), 0, 0);
    PVT_NEAR(pv_ball_delta(2, 1, 5), 1, 0);
    PVT_NEAR(pv_ball_delta(NAN, 1, 5), 0, 0);
    PVT_NEAR(pv_ball_delta(1, NAN, 5), 1, 0);
    PVT_NEAR(pv_ball_delta(1, 1, NAN), 1, 0);
}

static void radius_inverts(void **state)
{
    (void)state;
    static const double deltas[] = { 1e-12, 1e-6, 0.1, 0.9, 1 }, dims[] = { 1, 7, 1000, 1e8 };
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++) {
            const double r = pv_ball_radius(2.5, deltas[i], dims[j]);
            PVT_TRUE(pv_ball_delta(2.5, r, dims[j]) <= deltas[i]);
            if (deltas[i] < 1) PVT_TRUE(pv_ball_delta(2.5, r * (1 - 1e-9), dims[j]) > deltas[i]);
        }
    PVT_TRUE(isinf(pv_ball_radius(1, 0, 3)) && isinf(pv_ball_radius(1, 0.5, 0)) && pv_ball_radius(0, 0.5, 3) == 0);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(matches_quadrature), cmocka_unit_test(one_dimension_is_linear),
                                      cmocka_unit_test(monotone), cmocka_unit_test(radius_inverts) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
