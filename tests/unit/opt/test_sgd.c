/* test_sgd.c - the path of sgd without noise, against the iteration written out: momentum, schedule, warm-up, drop;
 * and that adam takes the same drop. */
#include "pvtable.h"
#include "run/run.h"

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

static void iterate(const pvt_table *t, bool cosine, double warmup, int drop, double *w)
{
    double g[P], m[P] = { 0 };
    memset(w, 0, P * sizeof *w);
    for (int k = 1; k <= T; k++) {
        const double full = warmup * T < 1 ? 1 : warmup * T,
                     eta = 2.0 * (k < full ? k / full : 1) * (cosine ? 0.5 * (1 + cos(M_PI * (k - 1) / T)) : 1) *
                           (drop && k > drop ? 0.1 : 1);
        gradient(t, w, g);
        for (int j = 0; j < P; j++) {
            m[j] = 0.5 * m[j] + g[j];
            w[j] -= eta * m[j];
        }
    }
}

typedef const char *pair[2];

static void run(const pvt_table *t, const pair *set, size_t n, double *got)
{
    int64_t d;
    pv_ctx *ctx;
    pv_plan *plan;
    pv_result *r;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pv_plan_create(ctx, &plan));
    for (size_t i = 0; i < n; i++) PVT_OK(pv_plan_set(plan, set[i][0], set[i][1]));
    PVT_OK(pvt_run(ctx, plan, t, &r));
    PVT_OK(pv_result_weights(r, got, P, &d));
    pv_result_free(r);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
}

static void check_path(const char *schedule, const char *warmup, const char *drop)
{
    const pair set[] = { { "model", "logistic" },
                         { "optimizer", "sgd" },
                         { "optimizer.steps", "6" },
                         { "optimizer.step", "2" },
                         { "optimizer.momentum", "0.5" },
                         { "optimizer.output", "last" },
                         { "sampler", "full" },
                         { "privacy", "off" },
                         { "optimizer.schedule", schedule },
                         { "optimizer.warmup", warmup },
                         { "optimizer.drop", drop } };
    pvt_table *t = pvt_table_make(N, P, 2, 5);
    double want[P], got[P];
    run(t, set, sizeof set / sizeof *set, got);
    iterate(t, strcmp(schedule, "cosine") == 0, strcmp(warmup, "auto") == 0 ? 0 : atof(warmup), atoi(drop), want);
    for (int j = 0; j < P; j++)
        PVT_CHECK(fabs(got[j] - want[j]) <= 1e-5 * (fabs(want[j]) + 0.1),
                  "%s, warm-up %s, drop %s: weight %d is %g, not %g", schedule, warmup, drop, j, got[j], want[j]);
    pvt_table_free(t);
}

/* Where `steps` steps of adam lead. */
static void adam(const pvt_table *t, const char *steps, const char *drop, double *got)
{
    const pair set[] = { { "model", "logistic" },     { "optimizer", "adam" },        { "optimizer.steps", steps },
                         { "optimizer.step", "0.3" }, { "optimizer.output", "last" }, { "sampler", "full" },
                         { "privacy", "off" },        { "optimizer.drop", drop } };
    run(t, set, sizeof set / sizeof *set, got);
}

/* The moments do not depend on the step, so the step after the drop is a tenth of what it would have been. */
static void adam_drops_too(void **state)
{
    pvt_table *t = pvt_table_make(N, P, 2, 5);
    double before[P], after[P], dropped[P];
    (void)state;
    adam(t, "4", "0", before);
    adam(t, "5", "0", after);
    adam(t, "5", "4", dropped);
    for (int j = 0; j < P; j++) {
        const double want = before[j] + 0.1 * (after[j] - before[j]);
        PVT_CHECK(fabs(dropped[j] - want) <= 1e-6 * (fabs(want) + 0.1), "weight %d is %g, not %g", j, dropped[j],
                  want);
    }
    pvt_table_free(t);
}

static void path_is_as_documented(void **state)
{
    (void)state;
    check_path("constant", "auto", "0"); /* a linear model starts at full length */
    check_path("constant", "0", "0");
    check_path("constant", "0.5", "0");
    check_path("cosine", "1", "0");
    check_path("constant", "0", "4");
    check_path("cosine", "0.5", "1");
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(path_is_as_documented), cmocka_unit_test(adam_drops_too) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
