/* test_exact.c - 128-bit logarithm, cosine, sine and the decided rounding, against 600-bit vectors. */
#include "mech/exact.h"
#include "pvtest.h"

#include "reference/exact_vectors.h"

static pvi_u128 pair(const uint64_t w[2])
{
    return (pvi_u128)w[0] << 64 | w[1];
}

static double distance(pvi_u128 a, pvi_u128 b)
{
    return (double)(a > b ? a - b : b - a);
}

static void neglog_within_bound(void **state)
{
    (void)state;
    double worst = 0.0;
    for (size_t i = 0; i < sizeof neglog_vectors / sizeof *neglog_vectors; i++) {
        const pvi_u128 want = pair(neglog_vectors[i].want), got = pvi_exact_neglog(neglog_vectors[i].u);
        const double value = (double)want * 0x1p-120, error = distance(got, want) * 0x1p-2; /* in 2^-118 */
        worst = fmax(worst, error / fmax(1.0, value));
    }
    print_message("neglog: worst error %.3f of its bound\n", worst);
    PVT_TRUE(worst <= 1.0);
}

static void turn_within_bound(void **state)
{
    (void)state;
    double worst = 0.0;
    for (size_t i = 0; i < sizeof turn_vectors / sizeof *turn_vectors; i++) {
        pvi_u128 c, s;
        pvi_exact_turn(pair(turn_vectors[i].f), &c, &s);
        worst = fmax(worst, distance(c, pair(turn_vectors[i].cosine)) * 0x1p-5); /* in 2^-122 */
        worst = fmax(worst, distance(s, pair(turn_vectors[i].sine)) * 0x1p-5);
    }
    print_message("turn: worst error %.3f of its bound\n", worst);
    PVT_TRUE(worst <= 1.0);
}

/* L and t chosen so that the value is known: s sqrt(2 * 2^-1) t = s t. */
static void gauss_rounds_known_values(void **state)
{
    (void)state;
    const pvi_u128 half = (pvi_u128)1 << 119, one = (pvi_u128)1 << 127;
    const double scales[] = { 0x1p-4, 0.3, 1, 1.75, 1000.25, 0x1p30, 0x1.23456789abcdep33, 0x1p40 };
    for (int i = 0; i < 8; i++) {
        for (int j = 1; j < 64; j++) {
            const double t = j / 64.0, y = scales[i] * t; /* exact: t has 6 bits */
            const pvi_u128 T = (one >> 6) * (unsigned)j;
            const int64_t got = pvi_exact_gauss(scales[i], half, T);
            PVT_CHECK(fabs((double)got - y) <= 0.5, "s=%g t=%g: %lld", scales[i], t, (long long)got);
        }
        PVT_IS(pvi_exact_gauss(scales[i], 0, one), 0);
        PVT_IS(pvi_exact_gauss(scales[i], half, 0), 0);
    }
}

/* At a half-integer a change of the last bit decides. */
static void last_bit_decides(void **state)
{
    (void)state;
    const pvi_u128 half = (pvi_u128)1 << 119, one = (pvi_u128)1 << 127, t = one >> 1; /* s t = 2.5 at s = 5 */
    PVT_IS(pvi_exact_gauss(5, half, t + 4), 3);
    PVT_IS(pvi_exact_gauss(5, half, t - 4), 2);
    PVT_IS(pvi_exact_gauss(5, half + 16, t), 3);
    PVT_IS(pvi_exact_gauss(5, half - 16, t), 2);
    PVT_IS(pvi_exact_laplace(5, half + 1), 3);
    PVT_IS(pvi_exact_laplace(5, half - 1), 2);
    PVT_IS(pvi_exact_laplace(0x1p40, (pvi_u128)1 << 79), 0); /* exactly 1/2 */
    PVT_IS(pvi_exact_laplace(0x1p40, ((pvi_u128)1 << 79) + 1), 1);
    PVT_IS(pvi_exact_gauss(0x1p40, 1, 1), 0); /* far below every boundary */
    PVT_IS(pvi_exact_laplace(0x1p-4, (pvi_u128)141 << 120), 9);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(neglog_within_bound),
        cmocka_unit_test(turn_within_bound),
        cmocka_unit_test(gauss_rounds_known_values),
        cmocka_unit_test(last_bit_decides),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
