/* test_fft_memory.c - composition by Fourier transform when memory runs out at each of its allocations in turn. */
#include "acct/pld.h"
#include "alloctest.h"

/* Three terms with so many cells that all frequencies are wanted. */
static pv_status compose(pv_arena *a, double *delta)
{
    enum { SIZE = 200 };
    int64_t k[SIZE];
    double p[SIZE], work = 0;
    for (int i = 0; i < SIZE; i++) k[i] = i - SIZE / 2, p[i] = 1.0 / SIZE;
    const pvi_pld_mass one = { .len = SIZE, .count = 2, .k = k, .p = p }, m[3] = { one, one, one };
    pvi_pld_law *law;
    const pv_status s = pvi_pld_compose(a, m, 3, 0.1, 1.0, 4096, 1e-30, &work, &law);
    if (s == PV_OK) *delta = pvi_pld_delta_ub(law, 1.0);
    return s;
}

static void refused_not_half_done(void **state)
{
    (void)state;
    double delta = 0, want = 0;
    int refused = 0;
    for (int64_t allowed = 0; delta == 0; allowed++) {
        pvt_memory m = { 0 };
        pv_ctx *ctx = pvt_counted(&m);
        pv_arena *a = pvi_arena_create(ctx);
        PVT_TRUE(a != NULL);
        if (allowed == 0) PVT_OK(compose(a, &want));
        m.left = allowed;
        const pv_status s = compose(a, &delta);
        PVT_TRUE(s == PV_OK || s == PV_E_NOMEM);
        refused += s == PV_E_NOMEM;
        pvi_arena_free(a);
        pv_ctx_free(ctx);
        PVT_TRUE(allowed < 100);
    }
    PVT_TRUE(refused >= 2 && delta == want);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(refused_not_half_done) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
