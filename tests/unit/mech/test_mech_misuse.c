/* test_mech_misuse.c - what could release data ends the process: scales, scores, rates and rounding modes that no
 * proof covers. */
#include "mech/exact.h"
#include "aborttest.h"

#include <fenv.h>

static pv_ctx *ctx;
static pv_rng *rng;

static int setup(void **state)
{
    (void)state;
    return pv_ctx_create(NULL, &ctx) != PV_OK || pvi_rng_create_test(ctx, 7, &rng) != PV_OK;
}

static int teardown(void **state)
{
    (void)state;
    pvi_rng_free(rng);
    pv_ctx_free(ctx);
    return 0;
}

typedef struct noise {
    const char *name;
    double scale, spacing;
    int rounding;
} noise;

static int add_noise(const void *arg)
{
    const noise *c = arg;
    const pv_mechanism_ops *m = (const pv_mechanism_ops *)pv_find(PV_KIND_mechanism, c->name);
    int64_t x[3] = { 0 };
    double out[3];
    fesetround(c->rounding);
    m->draw(&(pv_noise) { .scale = c->scale, .spacing = c->spacing, .length = 3 }, rng, 1.0, 1.0, x, NULL, out);
    return 0;
}

static void noise_scales(void **state)
{
    (void)state;
    const char *const names[] = { "gaussian", "ball" };
    const double bad[] = { 0, -1, NAN, INFINITY, 0x1p-5, 0x1.8p40 }, good[] = { 0x1p-4, 1, 0x1p40 };
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < 6; i++)
            PVT_CHECK(in_child(add_noise, &(noise) { names[n], bad[i], 1, FE_TONEAREST }) == ABORTED, "%s took %g",
                      names[n], bad[i]);
        for (int i = 0; i < 3; i++)
            PVT_CHECK(in_child(add_noise, &(noise) { names[n], good[i], 1, FE_TONEAREST }) == 0, "%s refused %g",
                      names[n], good[i]);
        PVT_IS(in_child(add_noise, &(noise) { names[n], 1, NAN, FE_TONEAREST }), ABORTED);
        PVT_IS(in_child(add_noise, &(noise) { names[n], 1, 1, FE_UPWARD }), ABORTED);
        PVT_IS(in_child(add_noise, &(noise) { names[n], 1, 1, FE_TOWARDZERO }), ABORTED);
    }
}

static int put_on_grid(const void *arg)
{
    const float x = 1.0f;
    int64_t acc = 0;
    fesetround(*(const int *)arg);
    pvi_grid_add(&x, 0x1p-20, &acc, 1);
    return acc != 1 << 20;
}

static void rounding_modes(void **state)
{
    (void)state;
    const int bad[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO }, good = FE_TONEAREST;
    for (int i = 0; i < 3; i++) PVT_IS(in_child(put_on_grid, &bad[i]), ABORTED);
    PVT_IS(in_child(put_on_grid, &good), 0);
}

typedef struct choice {
    double score[3], scale;
    int64_t n;
    int rounding;
} choice;

static int choose(const void *arg)
{
    const choice *c = arg;
    fesetround(c->rounding);
    return pvi_select(rng, c->score, c->n, c->scale) < 3 ? 0 : 1;
}

static void selections(void **state)
{
    (void)state;
    const choice bad[] = {
        { { 0, NAN, 1 }, 1, 3, FE_TONEAREST },       { { 0, 1, INFINITY }, 1, 3, FE_TONEAREST },
        { { -INFINITY, 1, 2 }, 1, 3, FE_TONEAREST }, { { 0, 1, 5e6 }, 1, 3, FE_TONEAREST },
        { { 0, 1, 2 }, 0, 3, FE_TONEAREST },         { { 0, 1, 2 }, -1, 3, FE_TONEAREST },
        { { 0, 1, 2 }, NAN, 3, FE_TONEAREST },       { { 0, 1, 2 }, INFINITY, 3, FE_TONEAREST },
        { { 0, 1, 2 }, 1, 0, FE_TONEAREST },         { { 0, 1, 2 }, 1, 3, FE_DOWNWARD },
    };
    for (int i = 0; i < 10; i++) PVT_CHECK(in_child(choose, &bad[i]) == ABORTED, "case %d was taken", i);
    PVT_IS(in_child(choose, &(choice) { { 0, 1, 2 }, 1, 3, FE_TONEAREST }), 0);
}

typedef struct query {
    const pvi_sampler_ops *kind;
    double rate;
    int64_t n, step;
} query;

static int ask(const void *arg)
{
    const query *q = arg;
    int64_t rows[100], count;
    pvi_sample(rng, q->kind, q->rate, q->n, q->step, rows, &count);
    return count >= 0 && count <= q->n ? 0 : 1;
}

static void samples(void **state)
{
    (void)state;
    const query bad[] = { { &pvi_poisson, 0, 9, 0 },    { &pvi_poisson, -0.1, 9, 0 }, { &pvi_poisson, NAN, 9, 0 },
                          { &pvi_poisson, 1.01, 9, 0 }, { &pvi_fixed, 2, 9, 0 },      { &pvi_cyclic, 0, 9, 0 },
                          { &pvi_poisson, 0.5, -1, 0 }, { &pvi_cyclic, 0.5, 9, -1 } };
    for (int i = 0; i < 8; i++) PVT_CHECK(in_child(ask, &bad[i]) == ABORTED, "case %d was taken", i);
    PVT_IS(in_child(ask, &(query) { &pvi_full, NAN, 9, 0 }), 0); /* has no rate */
}

static int log_of_zero(const void *arg)
{
    (void)arg;
    return pvi_exact_neglog((const uint64_t[4]) { 0 }) == 0;
}

static int exact_scale(const void *arg)
{
    return pvi_exact_gauss(*(const double *)arg, (pvi_u128)1 << 120, (pvi_u128)1 << 126) < 0;
}

static void exact_scales(void **state)
{
    (void)state;
    const double bad[] = { 0x1p-5, 0x1p41, NAN, -1 }, good = 1;
    for (int i = 0; i < 4; i++) PVT_IS(in_child(exact_scale, &bad[i]), ABORTED);
    PVT_IS(in_child(exact_scale, &good), 0);
}

static void logarithm_of_zero(void **state)
{
    (void)state;
    PVT_IS(in_child(log_of_zero, NULL), ABORTED);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(noise_scales),      cmocka_unit_test(rounding_modes),
                                      cmocka_unit_test(selections),        cmocka_unit_test(samples),
                                      cmocka_unit_test(logarithm_of_zero), cmocka_unit_test(exact_scales) };
    return cmocka_run_group_tests(all, setup, teardown);
}
