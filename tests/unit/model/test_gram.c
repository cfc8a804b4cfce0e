/* test_gram.c - the norm of a sum of outer products from inner products (gram.c), against the sum itself as a unit's
 * rows form it in floats: never below it, hardly above it, unknown where rows cancel. */
#include "model/gram.h"
#include "model/net_run.h"
#include "modeltest.h"

enum { P = 300, Q = 7, MOST = 12 };

typedef struct unit {
    int64_t n;
    float a[MOST][P], b[MOST][Q];
} unit;

/* near: how much of a row the next one takes away again. */
static void make(unit *x, int64_t n, double near, uint64_t *seed)
{
    x->n = n;
    for (int64_t r = 0; r < n; r++) {
        const bool back = r % 2 == 1;
        for (int64_t j = 0; j < P; j++)
            x->a[r][j] =
                (float)(back ? near * (double)x->a[r - 1][j] + (1 - near) * pvt_normal(seed) : pvt_normal(seed));
        for (int64_t j = 0; j < Q; j++)
            x->b[r][j] =
                (float)(back ? -near * (double)x->b[r - 1][j] + (1 - near) * pvt_normal(seed) : pvt_normal(seed));
    }
}

static double product(const float *x, const float *y, int64_t n)
{
    double sum = 0;
    for (int64_t j = 0; j < n; j++) sum += (double)x[j] * (double)y[j];
    return sum;
}

/* ||v||^2 of units.c (1). */
static double formed(const unit *x)
{
    double sum = 0;
    for (int64_t i = 0; i < P; i++)
        for (int64_t j = 0; j < Q; j++) {
            float v = 0;
            for (int64_t r = 0; r < x->n; r++) v += x->a[r][i] * x->b[r][j];
            sum += (double)v * (double)v;
        }
    return sum;
}

static double found(const unit *x, const pvi_net_kernel *kernel)
{
    double A[MOST * MOST], B[MOST * MOST], own[MOST];
    for (int64_t r = 0; r < x->n; r++) {
        const float *a[MOST], *b[MOST];
        const int64_t n = x->n, left = n - r - 1;
        const double lengths = sqrt(product(x->a[r], x->a[r], P));
        own[r] = lengths * sqrt(product(x->b[r], x->b[r], Q));
        for (int64_t s = 0; s < left; s++) a[s] = x->a[r + 1 + s], b[s] = x->b[r + 1 + s];
        kernel->inner(x->a[r], a, left, P, A + r * n + r + 1);
        kernel->inner(x->b[r], b, left, Q, B + r * n + r + 1);
        for (int64_t s = r + 1; s < n; s++) /* (2) */
            PVT_NEAR(A[r * n + s], product(x->a[r], x->a[s], P),
                     (PVI_GRAM_CHUNK + 6) * 0x1p-24 * lengths * sqrt(product(x->a[s], x->a[s], P)));
    }
    return pvi_gram_square(A, B, own, x->n);
}

static void norm_is_rounded_up(void **state)
{
    static const double near[] = { 0, 0.5, 0.9, 0.97, 0.999, 1 };
    uint64_t seed = 5;
    int64_t known = 0, unknown = 0;
    (void)state;
    for (int isa = 0; isa <= (int)pvi_isa(); isa++)
        for (int64_t n = 1; n <= MOST; n++)
            for (int k = 0; k < (int)(sizeof near / sizeof *near); k++) {
                unit x;
                make(&x, n, near[k], &seed);
                const double want = formed(&x), got = found(&x, pvi_net_kernel_isa[isa]);
                known += got >= 0;
                unknown += got < 0;
                if (got < 0) continue;
                PVT_CHECK(got >= want, "%lld rows, %g: %.17g is below %.17g", (long long)n, near[k], got, want);
                PVT_CHECK(got <= want * (1 + 0x1p-10), "%lld rows, %g: %.17g is far above %.17g", (long long)n,
                          near[k], got, want);
            }
    PVT_TRUE(known > 34 * ((int)pvi_isa() + 1) &&
             unknown > 4 * ((int)pvi_isa() + 1)); /* rows that cancel have no such norm */
}

static void many_rows_do_not_pay(void **state)
{
    (void)state;
    PVT_TRUE(pvi_gram_pays(10, 794, 7840));
    PVT_TRUE(!pvi_gram_pays(20, 794, 7840));
    PVT_TRUE(!pvi_gram_pays(PVI_GRAM_ROWS + 1, 2000, 1000000));
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(norm_is_rounded_up), cmocka_unit_test(many_rows_do_not_pay) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
