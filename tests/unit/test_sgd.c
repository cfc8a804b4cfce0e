/* test_sgd.c - the path of sgd without noise, against the iteration written out: momentum, schedule, warm-up. */
#include "pvtable.h"
#include "run/job.h"

enum { N = 40, P = 3, T = 6 };

/* Average gradient of log(1 + exp(-y <w, x>)) over the table. */
static void gradient(const pvt_table *t, const double *w, double *g)
{
    memset(g, 0, P * sizeof *g);
    for (int64_t i = 0; i < N; i++) {
        const float *x = t->m.x + i * t->m.ld;
        const double y = (double)t->m.y[i];
        double m = 0;
        for (int j = 0; j < P; j++) m += y * w[j] * (double)x[j];
        for (int j = 0; j < P; j++) g[j] -= y * (double)x[j] / (1 + exp(m)) / N;
    }
}

static void iterate(const pvt_table *t, bool cosine, double warmup, double *w)
{
    double g[P], m[P] = { 0 };
    memset(w, 0, P * sizeof *w);
    for (int k = 1; k <= T; k++) {
        const double full = warmup * T < 1 ? 1 : warmup * T,
                     eta = 2.0 * (k < full ? k / full : 1) * (cosine ? 0.5 * (1 + cos(M_PI * (k - 1) / T)) : 1);
        gradient(t, w, g);
        for (int j = 0; j < P; j++) {
            m[j] = 0.5 * m[j] + g[j];
            w[j] -= eta * m[j];
        }
    }
}

static void check_path(const char *schedule, const char *warmup)
{
    const char *const set[][2] = { { "model", "logistic" },        { "optimizer", "sgd" },
                                   { "optimizer.steps", "6" },     { "optimizer.step", "2" },
                                   { "optimizer.momentum", "0.5" }, { "optimizer.output", "last" },
                                   { "sampler", "full" },          { "privacy", "off" },
                                   { "optimizer.schedule", schedule }, { "optimizer.warmup", warmup } };
    pvt_table *t = pvt_table_make(N, P, 2, 5);
    double want[P], got[P];
    int64_t d;
    pv_ctx *ctx;
    pv_plan *plan;
    pv_result *r;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pv_plan_create(ctx, &plan));
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) PVT_OK(pv_plan_set(plan, set[i][0], set[i][1]));
    PVT_OK(pvi_run_matrix(plan, &t->m, NULL, NULL, &r));
    PVT_OK(pv_result_weights(r, got, P, &d));
    iterate(t, strcmp(schedule, "cosine") == 0, strcmp(warmup, "auto") == 0 ? 0 : atof(warmup), want);
    for (int j = 0; j < P; j++)
        PVT_CHECK(fabs(got[j] - want[j]) <= 1e-5 * (fabs(want[j]) + 0.1), "%s, warm-up %s: weight %d is %g, not %g",
                  schedule, warmup, j, got[j], want[j]);
    pv_result_free(r);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
    pvt_table_free(t);
}

static void path_is_as_documented(void **state)
{
    (void)state;
    check_path("constant", "auto"); /* a linear model starts at full length */
    check_path("constant", "0");
    check_path("constant", "0.5");
    check_path("cosine", "1");
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(path_is_as_documented) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
