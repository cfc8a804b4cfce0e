/* test_row_norm.c - the norm beside a stored row bounds it, and what the model sees of the row is no longer than
 * declared, checked in exact integer arithmetic; and it is the same float however the row is stored and summed. */
#include "data/reader.h"
#include "model/model.h"
#include "pvtest.h"

/* Exact comparison of sum x_j^2 with r^2: squares of floats are integers times 2^-298, added as long
 * double pairs would round, so they are added as 700-bit integers in 32-bit limbs. */
enum { LIMBS = 26, SHIFT = 300 };
static void add_square(uint64_t *acc, float x)
{
    int e;
    const double m = frexp(fabs((double)x), &e); /* x = m 2^e, m has 24 bits */
    if (m == 0) return;
    const uint64_t k = (uint64_t)ldexp(m, 24), sq = k * k; /* x^2 = sq 2^(2e - 48) */
    const int at = 2 * e - 48 + SHIFT;
    PVT_TRUE(at >= 0);
    unsigned __int128 v = (unsigned __int128)sq << (at % 32);
    for (int i = at / 32; v; i++) {
        PVT_TRUE(i < LIMBS);
        acc[i] += (uint32_t)v;
        v >>= 32;
    }
}

static void carry(uint64_t *acc)
{
    for (int i = 0; i + 1 < LIMBS; i++) {
        acc[i + 1] += acc[i] >> 32;
        acc[i] &= 0xffffffffu;
    }
}

static bool norm_at_most(const float *x, int64_t n, float r)
{
    uint64_t a[LIMBS] = { 0 }, b[LIMBS] = { 0 };
    for (int64_t j = 0; j < n; j++) {
        add_square(a, x[j]);
        carry(a);
    }
    add_square(b, r);
    carry(b);
    for (int i = LIMBS - 1; i >= 0; i--)
        if (a[i] != b[i]) return a[i] < b[i];
    return true;
}

static void check_row(double R, bool unit, float bias, float *v, int64_t n)
{
    const pvi_data_cfg cfg = { .row_norm = R, .norm = unit ? PVI_NORM_UNIT : PVI_NORM_CLIP, .bias = bias };
    const pvi_row_norm b = pvi_row_norm_of(&cfg);
    const pv_rows rows = { .bound = b.bound, .bias = bias, .unit = unit };
    const float norm = pvi_row_bound(&b, NULL, v, n), s = pvi_gain(&rows, norm);
    float x[600], raw[600];
    double size = 0;
    for (int64_t j = 0; j <= n; j++) {
        raw[j] = j < n ? v[j] : bias;
        x[j] = s * raw[j];
        size += (double)raw[j] * raw[j];
    }
    PVT_TRUE((double)b.bound <= R && s >= 0);
    PVT_CHECK(norm_at_most(raw, n + 1, norm), "norm %.9g, R %.17g, n %lld", (double)norm, R, (long long)n);
    /* row.c (2): a product of two floats is exact in double; (3) */
    PVT_CHECK((double)s * (double)norm <= (double)b.bound, "gain %.9g, norm %.9g", (double)s, (double)norm);
    PVT_CHECK(norm_at_most(x, n + 1, pvi_shown_norm(&rows, norm)), "gain %.9g, norm %.9g", (double)s, (double)norm);
    size = sqrt(size);
    if (!unit && size <= R * (1 - 1e-6)) PVT_TRUE(s == 1.0f); /* rows inside are left alone */
    if (size > R * (1 + 1e-6) || (unit && size > 0))
        PVT_REL((double)s, R / size, 1e-6); /* others lose only rounding */
    PVT_TRUE((double)norm <= size * (1 + 1e-6));
}

static void random_rows(void **state)
{
    (void)state;
    uint64_t s = 3;
    float v[600];
    for (int i = 0; i < 40000; i++) {
        const int64_t n = (int64_t)(pvt_u64(&s) % (i % 50 ? 30 : 500));
        const double R = i % 3 == 0 ? 1.0 : ldexp(pvt_uniform(&s) + 0.5, (int)(pvt_u64(&s) % 12) - 6);
        const double size = ldexp(1.0, (int)(pvt_u64(&s) % 40) - 20);
        for (int64_t j = 0; j < n; j++) v[j] = (float)(size * (i % 2 ? pvt_normal(&s) : (double)(pvt_u64(&s) % 3)));
        if (i % 5 == 0) { /* right at the border */
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += (double)v[j] * v[j];
            for (int64_t j = 0; j < n && sum > 0; j++) v[j] = (float)(v[j] * (R / sqrt(sum)));
        }
        check_row(R, i % 7 == 0, i % 4 ? 0.0f : 1.0f, v, n);
    }
}

static void exact_border_is_kept(void **state)
{
    (void)state;
    float v[4] = { 1, 1, 1, 1 };
    pvi_data_cfg cfg = { .row_norm = 2.0 };
    pvi_row_norm b = pvi_row_norm_of(&cfg);
    PVT_TRUE(pvi_row_bound(&b, NULL, v, 4) == 2.0f);
    cfg.norm = PVI_NORM_UNIT;
    b = pvi_row_norm_of(&cfg);
    PVT_TRUE(pvi_row_bound(&b, NULL, v, 4) == 2.0f);
    cfg = (pvi_data_cfg) { .row_norm = 1.0, .bias = 0.8 };
    b = pvi_row_norm_of(&cfg);
    v[0] = 0.6f; /* 0.6f^2 + 0.8f^2 > 1 by a rounding error */
    PVT_TRUE(pvi_row_bound(&b, NULL, v, 1) == nextafterf(1.0f, 2.0f));
    for (float tiny = 1e-4f; tiny > 1e-18f; tiny /= 10) { /* 1 + tiny^2 rounds to 1, but is above it */
        float w[3] = { 1, tiny, tiny };
        check_row(1.0, false, 0, w, 3);
        check_row(1.0, true, 0, w, 3);
    }
}

static void extremes(void **state)
{
    (void)state;
    float huge[3] = { 3.4e38f, -3.4e38f, 1e-45f }, tiny[2] = { 1e-45f, 0 }, large[2] = { 3e38f, 1e38f };
    pvi_data_cfg cfg = { .row_norm = 1e-6 };
    pvi_row_norm b = pvi_row_norm_of(&cfg);
    pv_rows rows = { .bound = b.bound };
    PVT_TRUE(pvi_row_bound(&b, NULL, huge, 3) == INFINITY); /* above all floats: a row that adds nothing */
    PVT_TRUE(pvi_gain(&rows, INFINITY) == 0.0f);
    const float norm = pvi_row_bound(&b, NULL, huge, 1);
    PVT_TRUE(norm >= huge[0] && norm <= nextafterf(huge[0], INFINITY) && pvi_gain(&rows, norm) == 0.0f);
    check_row(1e6, false, 0, large, 2);
    check_row(1e6, true, 1, large, 2);
    cfg = (pvi_data_cfg) { .row_norm = 1e6, .norm = PVI_NORM_UNIT };
    b = pvi_row_norm_of(&cfg);
    rows = (pv_rows) { .bound = 1e6f, .unit = true };
    PVT_TRUE(pvi_row_bound(&b, NULL, tiny, 2) == 2 * tiny[0] && pvi_gain(&rows, tiny[0]) == FLT_MAX);
    PVT_TRUE(pvi_row_bound(&b, NULL, tiny + 1, 1) == 0.0f && pvi_gain(&rows, 0.0f) == 1.0f);
    cfg.norm = PVI_NORM_MAX;
    b = pvi_row_norm_of(&cfg);
    PVT_TRUE(pvi_row_bound(&b, NULL, huge, 3) == huge[0]);
}

/* ---- the same bits everywhere ---------------------------------------------------------------------------------- */
enum { ROWS = 70, LD = 83 };

/* row_norm.kernel.c (1), (2), as plain as can be. */
static double plain_sum(const float *v, int64_t n, float bias)
{
    double a[8] = { (double)bias * (double)bias };
    for (int64_t j = 0; j < n; j++) a[j % 8] += (double)v[j] * (double)v[j];
    return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]));
}

static float drawn(uint64_t *s)
{
    switch (pvt_u64(s) % 8) {
    case 0:
    case 1: return 0.0f;
    case 2: return -0.0f;
    case 3: return ldexpf((float)pvt_normal(s), (int)(pvt_u64(s) % 270) - 145); /* tiny ones below the normal, too */
    default: return (float)pvt_normal(s);
    }
}

/* Rows at x of n values, those behind them NaN: nobody may look at them. */
static void draw_rows(uint64_t *s, float *x, int64_t n)
{
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < LD; j++) x[i * LD + j] = j < n ? drawn(s) : NAN;
}

static void sums_are_the_same(void **state)
{
    (void)state;
    static float x[ROWS * LD];
    uint64_t s = 11;
    double sum[ROWS];
    for (int64_t n = 0; n <= 80; n++)
        for (int k = 0; k < 6; k++) {
            const float bias = k % 2 ? 0.3f : 0.0f;
            draw_rows(&s, x, n);
            for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
                pvi_squares_isa[isa](x, ROWS, LD, n, bias, sum);
                for (int64_t i = 0; i < ROWS; i++) {
                    const double want = plain_sum(x + i * LD, n, bias);
                    PVT_CHECK(memcmp(&sum[i], &want, sizeof want) == 0, "set %d, n %lld: %a, want %a", isa,
                              (long long)n, sum[i], want);
                }
            }
        }
}

/* Dense rows together, one by one, and without their zeros: by length, by the largest value. */
static void norms_are_the_same(void **state)
{
    (void)state;
    static float x[ROWS * LD];
    uint64_t s = 12;
    for (int k = 0; k < 400; k++) {
        const int64_t n = (int64_t)(pvt_u64(&s) % 81);
        const pvi_data_cfg cfg = { .row_norm = k % 2 ? 1e6 : 4.0,
                                   .norm = k % 5 ? PVI_NORM_CLIP : PVI_NORM_MAX,
                                   .bias = k % 3 ? 0.0 : 1.0 };
        pvi_row_norm b = pvi_row_norm_of(&cfg);
        draw_rows(&s, x, n);
        for (int64_t i = 0; i < ROWS * LD && k % 4 == 0; i++) /* some just as long as declared */
            x[i] = i % LD < n ? (float)(x[i] > 0) : NAN;
        for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
            float norm[ROWS];
            b.squares = pvi_squares_isa[isa];
            pvi_row_bounds(&b, x, ROWS, LD, n, norm);
            for (int64_t i = 0; i < ROWS; i++) {
                int32_t idx[LD];
                float v[LD];
                int64_t e = 0;
                for (int64_t j = 0; j < n; j++) {
                    idx[e] = (int32_t)j;
                    v[e] = x[i * LD + j];
                    e += v[e] != 0.0f;
                }
                const float sparse = pvi_row_bound(&b, idx, v, e), dense = pvi_row_bound(&b, NULL, x + i * LD, n);
                PVT_CHECK(norm[i] == sparse && norm[i] == dense, "set %d, n %lld: %a, %a, %a", isa, (long long)n,
                          (double)norm[i], (double)sparse, (double)dense);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(random_rows),       cmocka_unit_test(exact_border_is_kept), cmocka_unit_test(extremes),
        cmocka_unit_test(sums_are_the_same), cmocka_unit_test(norms_are_the_same),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
