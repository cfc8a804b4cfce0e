/* test_select.c - Gumbel selection against the softmax it should follow.  False-alarm rate: see stattest.h. */
#include "stat/stattest.h"

enum { M = DRAWS(60000), NMAX = 3000 };
static double score[NMAX], seen[NMAX], want[NMAX];

static double selection_p(int n, double scale, int draws)
{
    double total = 0, top = -INFINITY;
    for (int i = 0; i < n; i++) top = fmax(top, score[i]);
    for (int i = 0; i < n; i++) {
        want[i] = exp((score[i] - top) / scale);
        total += want[i];
        seen[i] = 0;
    }
    for (int i = 0; i < n; i++) want[i] *= draws / total;
    for (int i = 0; i < draws; i++) {
        const int64_t k = pvi_select(rng, score, n, scale);
        PVT_TRUE(k >= 0 && k < n);
        seen[k]++;
    }
    return pearson_p(seen, want, n);
}

static void follows_softmax(void **state)
{
    (void)state;
    const double five[] = { 0.0, 1.0, -2.0, 0.5, 1.25 };
    memcpy(score, five, sizeof five);
    const double scales[] = { 0.1, 0.5, 1, 7, 1e6 };
    for (int c = 0; c < 5; c++) PVT_PLAUSIBLE(selection_p(5, scales[c], M), "five scores, scale %g", scales[c]);
    for (int n = 2; n <= 20; n++) { /* every remainder of the lanes */
        for (int i = 0; i < n; i++) score[i] = 0.3 * i;
        PVT_PLAUSIBLE(selection_p(n, 1.0, 20000), "%d scores", n);
    }
    for (int i = 0; i < NMAX; i++) score[i] = 1e-3 * i;
    PVT_PLAUSIBLE(selection_p(NMAX, 1.0, 5000), "many scores");
    for (int i = 0; i < 300; i++) score[i] = 4e6 + (i == 299); /* large offsets cancel exactly */
    PVT_PLAUSIBLE(selection_p(300, 1.0, 10000), "offset scores");
}

static void certain_cases(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) score[i] = i == 617 ? 0 : -100;
    for (int i = 0; i < 50; i++) PVT_IS(pvi_select(rng, score, 1000, 0.5), 617);
    score[0] = -3e-200;
    PVT_IS(pvi_select(rng, score, 1, 1e-200), 0);
    PVT_IS(pvi_select(rng, (const double[]) { -2e-195, 0 }, 2, 1e-200), 1);
}

/* Scores are rounded to the grid: what is below half a unit cannot matter at all. */
static void scores_are_on_the_grid(void **state)
{
    (void)state;
    const double h = pvi_select_grid(1.0);
    PVT_NEAR(h, 0x1p-28, 0);
    PVT_TRUE(pvi_select_grid(1.9) == h && pvi_select_grid(2.0) == 2 * h);
    pv_rng *a, *b;
    double moved[50];
    for (int i = 0; i < 50; i++) {
        score[i] = h * (1000.0 * i);
        moved[i] = score[i] + 0.49 * h * (i % 3 - 1);
    }
    PVT_OK(pvi_rng_create_test(ctx, 3, &a));
    PVT_OK(pvi_rng_create_test(ctx, 3, &b));
    for (int i = 0; i < 1000; i++) PVT_IS(pvi_select(a, score, 50, 1.0), pvi_select(b, moved, 50, 1.0));
    pvi_rng_free(a);
    pvi_rng_free(b);
    PVT_TRUE(pvi_select_tv(1) > 0 && pvi_select_tv(1000000) <= 0x1p-70);
}

/* Successive selections are independent. */
static void independent(void **state)
{
    (void)state;
    double both[9] = { 0 }, expected[9];
    const double three[] = { 0, 0.5, 1 };
    const double w = 1 + exp(0.5) + exp(1.0);
    int64_t last = pvi_select(rng, three, 3, 1.0);
    for (int i = 0; i < M; i++) {
        const int64_t k = pvi_select(rng, three, 3, 1.0);
        both[3 * last + k]++;
        last = k;
    }
    for (int i = 0; i < 9; i++) expected[i] = M * exp(three[i / 3] + three[i % 3]) / (w * w);
    PVT_PLAUSIBLE(pearson_p(both, expected, 9), "pairs of selections");
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(follows_softmax), cmocka_unit_test(certain_cases),
                                      cmocka_unit_test(scores_are_on_the_grid), cmocka_unit_test(independent) };
    return cmocka_run_group_tests(all, stat_setup, stat_teardown);
}
