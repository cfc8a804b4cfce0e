/* test_loss.c - every instruction set of every loss against the textbook formula in double. */
#include "modeltest.h"

typedef struct phi3 {
    double v, d1, d2;
} phi3;

static phi3 logistic(double m)
{
    const double e = exp(-fabs(m)), s = 1 / (1 + e);
    const double p = m > 0 ? e / (1 + e) : s;
    return (phi3) { (m < 0 ? -m : 0) + log1p(e), -p, e / ((1 + e) * (1 + e)) };
}

static phi3 sigmoid(double m)
{
    const double e = exp(-fabs(m)), s = m > 0 ? e / (1 + e) : 1 / (1 + e);
    return (phi3) { s, -s * (m > 0 ? 1 / (1 + e) : e / (1 + e)), -tanh(-m / 2) * e / ((1 + e) * (1 + e)) };
}

static phi3 hinge(double m) /* h = 1/2, the printed polynomial */
{
    const double z = 1 - m;
    if (z <= -0.5) return (phi3) { 0, 0, 0 };
    if (z >= 0.5) return (phi3) { z, -1, 0 };
    return (phi3) { -pow(z, 4) / 2 + 3 * z * z / 4 + z / 2 + 3.0 / 32, 2 * pow(z, 3) - 1.5 * z - 0.5,
                    1.5 - 6 * z * z };
}

static phi3 squared(double r)
{
    return (phi3) { r * r / 2, r, 1 };
}

static phi3 huber(double r) /* delta = 1.5 */
{
    if (fabs(r) <= 1.5) return (phi3) { r * r / 2, r, 1 };
    return (phi3) { 1.5 * fabs(r) - 1.125, copysign(1.5, r), 0 };
}

static phi3 tukey(double r) /* c = 4 */
{
    const double b = 1 - r * r / 16;
    if (fabs(r) >= 4) return (phi3) { 16.0 / 6, 0, 0 };
    return (phi3) { -16.0 / 6 * expm1(3 * log1p(-r * r / 16)), r * b * b, b * (1 - 5 * r * r / 16) };
}

PVI_LOSS_TABLE(logistic);
PVI_LOSS_TABLE(sigmoid);
PVI_LOSS_TABLE(hinge);
PVI_LOSS_TABLE(squared);
PVI_LOSS_TABLE(huber);
PVI_LOSS_TABLE(tukey);

/* cfg: the one parameter; slack: absolute error allowed in value and both derivatives where they cross zero */
static const struct {
    const char *name;
    pvi_loss_fn *const *isa;
    phi3 (*truth)(double);
    double cfg;
    double slack[3];
} losses[] = {
    { "logistic", pvi_loss_logistic_isa, logistic, 0, { 0 } },
    { "sigmoid", pvi_loss_sigmoid_isa, sigmoid, 0, { 0, 0, 2e-8 } },
    { "hinge", pvi_loss_hinge_isa, hinge, 0.5, { 3e-7, 3e-7, 1e-6 } },
    { "squared", pvi_loss_squared_isa, squared, 0, { 0 } },
    { "huber", pvi_loss_huber_isa, huber, 1.5, { 0 } },
    { "tukey", pvi_loss_tukey_isa, tukey, 4, { 0, 1e-6, 5e-7 } },
};
enum { LOSSES = sizeof losses / sizeof *losses };

/* Error in units of the last place of `want`; what lies below the normal floats may become 0. */
static double ulps(double got, double want, double slack)
{
    int e;
    if (got == want || fabs(got - want) < fmax(slack, 0x1p-126)) return 0;
    frexp(want, &e);
    return fabs(got - want) / ldexp(1, e - 24);
}

static void near_truth(void **state)
{
    (void)state;
    enum { N = 1 << 18 };
    float *m = malloc(N * sizeof *m), *v = malloc(N * sizeof *v), *d1 = malloc(N * sizeof *d1),
          *d2 = malloc(N * sizeof *d2);
    uint64_t seed = 5;
    for (int i = 0; i < N; i++) {
        const double scale = pow(10, -7 + 9 * pvt_uniform(&seed));
        m[i] = (float)(i & 1 ? scale * pvt_normal(&seed) : -20 + 40.0 * i / N);
    }
    for (int l = 0; l < LOSSES; l++)
        for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
            double worst[3] = { 0 };
            losses[l].isa[isa](&losses[l].cfg, N, m, v, d1, d2);
            for (int i = 0; i < N; i++) {
                const phi3 t = losses[l].truth((double)m[i]);
                worst[0] = fmax(worst[0], ulps(v[i], t.v, losses[l].slack[0]));
                worst[1] = fmax(worst[1], ulps(d1[i], t.d1, losses[l].slack[1]));
                worst[2] = fmax(worst[2], ulps(d2[i], t.d2, losses[l].slack[2]));
            }
            print_message("%s isa %d: value %.2f, first %.2f, second %.2f ulp\n", losses[l].name, isa, worst[0],
                          worst[1], worst[2]);
            for (int k = 0; k < 3; k++)
                PVT_CHECK(worst[k] <= (k < 2 ? 5 : 8), "%s isa %d: %g", losses[l].name, isa, worst[k]);
        }
    free(m), free(v), free(d1), free(d2);
}

/* One element alone, with every combination of outputs, gives the bits it gives among others. */
static void same_at_every_place(void **state)
{
    (void)state;
    enum { N = 37 };
    float m[N], all[3][N];
    uint64_t seed = 9;
    for (int i = 0; i < N; i++) m[i] = (float)(4 * pvt_normal(&seed));
    for (int l = 0; l < LOSSES; l++)
        for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
            losses[l].isa[isa](&losses[l].cfg, N, m, all[0], all[1], all[2]);
            for (int i = 0; i < N; i++)
                for (int mask = 1; mask < 8; mask++) {
                    float one[3] = { -7, -7, -7 };
                    losses[l].isa[isa](&losses[l].cfg, 1, m + i, mask & 1 ? one : NULL, mask & 2 ? one + 1 : NULL,
                                       mask & 4 ? one + 2 : NULL);
                    for (int k = 0; k < 3; k++) PVT_TRUE(one[k] == (mask >> k & 1 ? all[k][i] : -7));
                }
        }
}

static void reads_and_writes_exactly_n(void **state)
{
    (void)state;
    for (int l = 0; l < LOSSES; l++)
        for (int isa = 0; isa <= (int)pvi_isa(); isa++)
            for (int n = 0; n <= 40; n++) {
                /* exact allocations, so that the address sanitizer sees a step beyond */
                float *m = calloc((size_t)n + 1, sizeof *m), *d = calloc((size_t)n + 1, sizeof *d);
                d[n] = 123;
                losses[l].isa[isa](&losses[l].cfg, n, m, NULL, d, NULL);
                PVT_TRUE(d[n] == 123);
                free(m), free(d);
            }
}

static void logistic_extremes(void **state)
{
    (void)state;
    const float m[] = { INFINITY, -INFINITY, 1e6f, -1e6f, 3e38f, -3e38f, 0.0f, -0.0f, 1e-40f };
    const float want[][3] = { { 0, 0, 0 },     { INFINITY, -1, 0 }, { 0, 0, 0 },
                              { 1e6f, -1, 0 }, { 0, 0, 0 },         { 3e38f, -1, 0 } };
    float v[9], d1[9], d2[9], nan = NAN;
    for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
        pvi_loss_logistic_isa[isa](NULL, 9, m, v, d1, d2);
        for (int i = 0; i < 6; i++) PVT_TRUE(v[i] == want[i][0] && d1[i] == want[i][1] && d2[i] == want[i][2]);
        for (int i = 6; i < 9; i++) {
            PVT_NEAR(v[i], log(2), 1e-7);
            PVT_TRUE(d1[i] == -0.5f && d2[i] == 0.25f);
        }
        pvi_loss_logistic_isa[isa](NULL, 1, &nan, v, d1, d2);
        PVT_TRUE(isnan(v[0]) && isnan(d1[0]) && isnan(d2[0]));
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(near_truth), cmocka_unit_test(same_at_every_place),
                                      cmocka_unit_test(reads_and_writes_exactly_n),
                                      cmocka_unit_test(logistic_extremes) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
