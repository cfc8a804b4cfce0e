/* test_fft_memory.c - FFTW out of memory: its planner is replaced here by one that refuses on demand. */
#include "acct/pld.h"
#include "pvtest.h"

#include <dlfcn.h>
#include <fftw3.h>

static int64_t left = INT64_MAX; /* plans before the planner refuses */

fftw_plan fftw_plan_dft_r2c_1d(int n, double *in, fftw_complex *out, unsigned flags)
{
    fftw_plan (*real)(int, double *, fftw_complex *, unsigned);
    void *f = dlsym(RTLD_NEXT, "fftw_plan_dft_r2c_1d");
    memcpy(&real, &f, sizeof real);
    return left-- > 0 ? real(n, in, out, flags) : NULL;
}

static void sizes(void **state)
{
    (void)state;
    double x[10] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    PVT_OK(pvi_fft_real(8, x)); /* sum, and the alternating sum */
    PVT_NEAR(x[0], 36, 1e-13);
    PVT_NEAR(x[8], -4, 1e-13);
    PVT_IS(pvi_fft_real((int64_t)INT32_MAX + 1, x), PV_E_NOMEM); /* beyond FFTW's integers: not touched */
    PVT_NEAR(x[0], 36, 1e-13);
    PVT_IS(pvi_fft_real(0, x), PV_E_NOMEM);
}

/* The second of three transforms fails: the composition is refused, not half done. */
static void a_transform_fails(void **state)
{
    (void)state;
    pv_ctx *ctx;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    pv_arena *a = pvi_arena_create(ctx);
    enum { SIZE = 200 };
    int64_t k[SIZE];
    double p[SIZE], work = 0;
    for (int i = 0; i < SIZE; i++) k[i] = i - SIZE / 2, p[i] = 1.0 / SIZE;
    const pvi_pld_mass one = { .len = SIZE, .count = 2, .k = k, .p = p }, m[3] = { one, one, one };
    pvi_pld_law *law;
    for (left = 0; left < 3;) {
        const int64_t plans = left;
        PVT_IS(pvi_pld_compose(a, m, 3, 0.1, 1.0, 4096, 1e-30, &work, &law), PV_E_NOMEM);
        PVT_IS(left, -1);
        left = plans + 1;
    }
    left = INT64_MAX;
    PVT_OK(pvi_pld_compose(a, m, 3, 0.1, 1.0, 4096, 1e-30, &work, &law));
    PVT_TRUE(left < INT64_MAX);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(a_transform_fails),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
