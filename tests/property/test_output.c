/* test_output.c - optimizer.output=random returns x_1 .. x_T alike, x_1 the start: the algorithms of Wang, Xu 2019 as
 * they are printed. */
#include "pvtable.h"
#include "run/run.h"

enum { N = 200, P = 4, T = 3, RUNS = 120 };

static void run(pv_ctx *ctx, pvt_table *rows, const char *optimizer, const char *steps, const char *output, int seed,
                double *w)
{
    char text[16];
    pv_plan *p;
    pv_result *r;
    int64_t d;
    const bool first = strcmp(optimizer, "tr") != 0, set = strcmp(optimizer, "fw-l2") == 0;
    snprintf(text, sizeof text, "%d", seed);
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "optimizer", optimizer));
    PVT_OK(pv_plan_set(p, "privacy", "off"));
    PVT_OK(pv_plan_set(p, "optimizer.steps", steps));
    PVT_OK(pv_plan_set(p, "optimizer.output", output));
    PVT_OK(pv_plan_set(p, "run.seed", text));
    if (set) PVT_OK(pv_plan_set(p, "set", "l2ball"));
    PVT_OK(pv_plan_set(p, !first ? "optimizer.radius" : set ? "optimizer.gamma" : "optimizer.step", "0.5"));
    if (strcmp(optimizer, "pgd") == 0) PVT_OK(pv_plan_set(p, "optimizer.momentum", "0"));
    PVT_CHECK(pvi_run_matrix(p, &rows->m, NULL, NULL, &r) == PV_OK, "%s: %s", optimizer, pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_weights(r, w, P, &d));
    pv_result_free(r);
    pv_plan_free(p);
}

static void random_is_of_x1_to_xT(void **state)
{
    (void)state;
    static const char *const optimizers[] = { "pgd", "pmd", "tr" };
    pv_ctx *ctx;
    pvt_table *rows = pvt_table_make(N, P, 2, 5);
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (int o = 0; o < 3; o++) {
        double x[T][P] = { { 0 } }, w[P];
        int met[T] = { 0 };
        run(ctx, rows, optimizers[o], "1", "last", 1, x[1]);
        run(ctx, rows, optimizers[o], "2", "last", 1, x[2]);
        for (int s = 1; s <= RUNS; s++) {
            int k = 0;
            run(ctx, rows, optimizers[o], "3", "random", s, w);
            while (k < T && memcmp(w, x[k], sizeof w) != 0) k++;
            PVT_CHECK(k < T, "%s: seed %d returns none of x_1 .. x_3", optimizers[o], s);
            met[k]++;
        }
        for (int k = 0; k < T; k++) /* 40 on average, standard deviation 5.2 */
            PVT_CHECK(met[k] > 14 && met[k] < 66, "%s: x_%d in %d of %d runs", optimizers[o], k + 1, met[k], RUNS);
    }
    pvt_table_free(rows);
    pv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(random_is_of_x1_to_xT) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
