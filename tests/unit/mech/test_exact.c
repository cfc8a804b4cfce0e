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
    for (size_t i = 0; i < sizeof angle_vectors / sizeof *angle_vectors; i++) {
        pvi_u128 c, s;
        pvi_exact_cos_sin(pair(angle_vectors[i].f), &c, &s);
        worst = fmax(worst, distance(c, pair(angle_vectors[i].cosine)) * 0x1p-5); /* in 2^-122 */
        worst = fmax(worst, distance(s, pair(angle_vectors[i].sine)) * 0x1p-5);
    }
    print_message("angle: worst error %.3f of its bound\n", worst);
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
    PVT_IS(pvi_exact_gauss(0x1p40, 1, 1), 0); /* far below every boundary */
}

/* s sqrt(L / sum) t with L / sum a quarter: s t / 2. */
static void ball_rounds_known_values(void **state)
{
    (void)state;
    const pvi_u128 one = (pvi_u128)1 << 127;
    for (int bits = 0; bits < 300; bits += 3) { /* sums from tiny to more than 128 bits */
        const pvi_u128 L = bits < 128 ? (pvi_u128)1 << (bits < 100 ? bits : 100) : (pvi_u128)1 << 100;
        const int over = bits < 128 ? 2 : bits - 128; /* log2(sum / L) */
        if (over > 120) break;
        const int at = (bits < 128 ? (bits < 100 ? bits : 100) : 100) + over;
        pvi_u256 sum = { 0 };
        if (at >= 128) sum.hi = (pvi_u128)1 << (at - 128);
        else sum.lo = (pvi_u128)1 << at;
        const double y = 0x1p36 * sqrt(ldexp(1.0, -over)) * 0.625;
        const int64_t got = pvi_exact_ball(0x1p36, L, one / 8 * 5, &sum);
        PVT_CHECK(fabs((double)got - y) <= 0.5 + 1e-4, "L = 2^%d, sum = 2^%d: %lld, not %g", at - over, at,
                  (long long)got, y);
    }
    const pvi_u256 sum = { 0, one };
    PVT_IS(pvi_exact_ball(100, 0, one, &sum), 0);
    PVT_IS(pvi_exact_ball(100, one, 0, &sum), 0);
    /* At s t sqrt(L / sum) = 2.5 the last bits decide. */
    PVT_IS(pvi_exact_ball(5, one >> 3, one >> 1, &(pvi_u256) { 0, (one >> 3) - 64 }), 3);
    PVT_IS(pvi_exact_ball(5, one >> 3, one >> 1, &(pvi_u256) { 0, (one >> 3) + 64 }), 2);
}

static void sums_carry(void **state)
{
    (void)state;
    const pvi_u128 one = (pvi_u128)1 << 127, big = ~(pvi_u128)0;
    pvi_u256 sum = { 0 };
    pvi_exact_sum(&sum, big, one);
    pvi_exact_sum(&sum, 3, one);
    PVT_TRUE(sum.hi == 1 && sum.lo == 2);
    pvi_exact_sum(&sum, 64, one / 2); /* a quarter of 64 */
    PVT_TRUE(sum.hi == 1 && sum.lo >= 2 + 12 && sum.lo <= 2 + 16);
}

/* -ln(-ln U) for U = e^-L with L known: the vectors' own logarithms, then libm. */
static void gumbel_of_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof neglog_vectors / sizeof *neglog_vectors; i++) {
        const long double L = (long double)pair(neglog_vectors[i].want) * 0x1p-120L;
        if (!(L > 1e-15L)) continue;
        const long double got = (long double)pvi_exact_gumbel(neglog_vectors[i].u) * 0x1p-120L - 8 * logl(2);
        PVT_NEAR((double)got, (double)-logl(L), 1e-15);
    }
    const uint64_t almost_one[4] = { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX };
    PVT_TRUE((double)pvi_exact_gumbel(almost_one) * 0x1p-120 > 80);
}

/* lead 2^-28 (scale 1, and 1.5: h does not grow with it) against a difference of Gumbel values. */
static void ahead_is_decided_by_the_last_bit(void **state)
{
    (void)state;
    const pvi_u128 one = (pvi_u128)1 << 120, step = one >> 28;
    PVT_TRUE(pvi_exact_ahead(0, 1, 5, 4) && !pvi_exact_ahead(0, 1, 4, 5) && !pvi_exact_ahead(0, 1, 4, 4));
    for (int64_t lead = 1; lead < (int64_t)1 << 34; lead = 3 * lead + 1) {
        const pvi_u128 worth = step * (unsigned long)lead;
        PVT_TRUE(pvi_exact_ahead(lead, 1, one, one + worth - 1) && !pvi_exact_ahead(lead, 1, one, one + worth));
        PVT_TRUE(pvi_exact_ahead(-lead, 1, one + worth + 1, one) && !pvi_exact_ahead(-lead, 1, one + worth, one));
        PVT_TRUE(pvi_exact_ahead(lead, 1, one, 1) && !pvi_exact_ahead(-lead, 1, 1, one));
        PVT_TRUE(pvi_exact_ahead(3 * lead, 1.5, one, one + 2 * worth - 1) &&
                 !pvi_exact_ahead(3 * lead, 1.5, one, one + 2 * worth));
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(neglog_within_bound),       cmocka_unit_test(turn_within_bound),
        cmocka_unit_test(gauss_rounds_known_values), cmocka_unit_test(last_bit_decides),
        cmocka_unit_test(ball_rounds_known_values),  cmocka_unit_test(sums_carry),
        cmocka_unit_test(gumbel_of_vectors),         cmocka_unit_test(ahead_is_decided_by_the_last_bit),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
