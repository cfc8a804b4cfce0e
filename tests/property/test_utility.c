/* test_utility.c - defaults that nobody tuned: near the fit without noise where the budget allows, harmless where
 * not.
 *
 * Accuracy is counted here from the released weights on fresh rows of the same rule; no code of the library
 * scores. */
#include "ctxtest.h"
#include "opt/opt.h"
#include "pvtable.h"
#include "reg/reg.h"
#include "run/run.h"

/* Weights of a run with nothing set but epsilon (NULL: no privacy) and, if given, these two; caller frees. */
static double *train(const pvt_table *t, const char *epsilon, const char *optimizer, const char *smoothing)
{
    pv_plan *p;
    pv_result *r;
    int64_t d;
    double *w = malloc(sizeof *w * 4096);
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "run.seed", "7"));
    PVT_OK(epsilon ? pv_plan_set(p, "budget.epsilon", epsilon) : pv_plan_set(p, "privacy", "off"));
    if (optimizer) PVT_OK(pv_plan_set(p, "optimizer", optimizer));
    if (smoothing) PVT_OK(pv_plan_set(p, "optimizer.smoothing", smoothing));
    const pv_status s = pvt_run(ctx, p, t, &r);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_weights(r, w, 4096, &d));
    pv_result_free(r);
    pv_plan_free(p);
    return w;
}

static double dot(const pvt_table *t, int64_t i, const double *w)
{
    double s = 0.0;
    for (int64_t j = 0; j < t->m.domain.p; j++) s += w[j] * (double)t->x[i * t->m.domain.p + j];
    return s;
}

static double predicted(const pvt_table *t, int64_t i, const double *w)
{
    const int64_t k = t->m.domain.classes, p = t->m.domain.p;
    int64_t best = 0;
    if (k == 2) return dot(t, i, w) > 0.0 ? 1.0 : -1.0;
    for (int64_t c = 1; c < k; c++)
        if (dot(t, i, w + c * p) > dot(t, i, w + best * p)) best = c;
    return (double)best;
}

static double accuracy(const pvt_table *t, const double *w)
{
    int64_t right = 0;
    for (int64_t i = 0; i < t->m.domain.n; i++) right += predicted(t, i, w) == (double)t->y[i];
    return (double)right / (double)t->m.domain.n;
}

static const struct {
    int64_t n, p, classes;
    const char *epsilon, *optimizer;
    double gap; /* that may be lost against no noise at all */
} cases[] = {
    { 5000, 8, 2, "1", NULL, 0.02 },    { 20000, 8, 2, "0.1", NULL, 0.03 },  { 20000, 200, 2, "1", NULL, 0.05 },
    { 20000, 12, 4, "1", NULL, 0.03 },  { 20000, 12, 2, "1", "sgd", 0.03 },  { 20000, 12, 2, "1", "adam", 0.04 },
    { 20000, 12, 4, "1", "sgd", 0.04 }, { 20000, 12, 4, "1", "adam", 0.05 },
};

static void near_the_fit_without_noise(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pvt_table *t = pvt_table_make(cases[k].n, cases[k].p, cases[k].classes, 3),
                  *fresh = pvt_table_make(10000, cases[k].p, cases[k].classes, 4);
        double *noisy = train(t, cases[k].epsilon, cases[k].optimizer, NULL), *plain = train(t, NULL, NULL, NULL);
        const double got = accuracy(fresh, noisy), want = accuracy(fresh, plain);
        PVT_CHECK(got >= want - cases[k].gap, "case %zu: accuracy %.4f, %.4f without noise", k, got, want);
        free(noisy);
        free(plain);
        pvt_table_free(t);
        pvt_table_free(fresh);
    }
}

/* Few rows and next to no budget: the result is noise, but small noise.  0 weights would have a loss of log 2. */
static void tiny_budgets_leave_small_weights(void **state)
{
    (void)state;
    static const char *const optimizers[] = { "pgd", "sgd", "adam" }, *const epsilons[] = { "0.001", "0.01", "0.1" };
    for (int o = 0; o < 3; o++)
        for (int e = 0; e < 3; e++) {
            pvt_table *t = pvt_table_make(600, 20, 2, 5);
            double *w = train(t, epsilons[e], optimizers[o], NULL), loss = 0.0;
            for (int64_t i = 0; i < 600; i++) loss += log1p(exp(-(double)t->y[i] * dot(t, i, w))) / 600.0;
            PVT_CHECK(loss < 1.0, "%s at epsilon %s: loss %g", optimizers[o], epsilons[e], loss);
            free(w);
            pvt_table_free(t);
        }
}

/* Labels by a rule whose weights change slowly or at random from column to column: sign and mean length are alike. */
static void relabel(pvt_table *t, bool slow)
{
    const int64_t p = t->m.domain.p;
    uint64_t seed = 11;
    double *rule = malloc(sizeof *rule * (size_t)p);
    for (int64_t j = 0; j < p; j++)
        rule[j] = slow ? sqrt(2.0) * sin(6.283185307179586 * (double)j / (double)p) : pvt_normal(&seed);
    for (int64_t i = 0; i < t->m.domain.n; i++) t->y[i] = dot(t, i, rule) > 0.0 ? 1.0f : -1.0f;
    free(rule);
}

static double accuracy_with(const pvt_table *t, const pvt_table *fresh, const char *smoothing)
{
    double *w = train(t, "0.2", "sgd", smoothing);
    const double a = accuracy(fresh, w);
    free(w);
    return a;
}

/* DP-LSSGD's claim, both ways: where noise decides, smoothing helps a rule that is smooth along the columns, and
 * harms one that is not, whatever the noise. */
static void smoothing_helps_smooth_rules_only(void **state)
{
    (void)state;
    for (int slow = 0; slow <= 1; slow++) {
        pvt_table *t = pvt_table_make(8000, 100, 2, 3), *fresh = pvt_table_make(8000, 100, 2, 4);
        relabel(t, slow);
        relabel(fresh, slow);
        const double plain = accuracy_with(t, fresh, "0"), smooth = accuracy_with(t, fresh, "3");
        PVT_CHECK(slow ? smooth > plain + 0.03 : smooth < plain - 0.03,
                  "%s rule: accuracy %.4f without smoothing, %.4f with", slow ? "smooth" : "rough", plain, smooth);
        pvt_table_free(t);
        pvt_table_free(fresh);
    }
}

/* The two limits of the horizon, by their closed forms. */
static void horizon_has_its_limits(void **state)
{
    (void)state;
    pv_problem p = { .ctx = ctx, .n = 1000000, .d = 2, .outputs = 1, .G = 1.0, .C = 1.0, .L = 0.25, .mu = 100.0 };
    p.reg = (const pv_reg_ops *)(const void *)pv_find(PV_KIND_reg, "none");
    const double B = 28.0, few = B * sqrt(2.0 / 2.0) * 1e8;
    PVT_NEAR(pvi_horizon(&p, 1.0) / few, 1.0, 0.01);
    PVT_NEAR(pvi_horizon(&p, 0.5) / few, 2.0, 0.01);
    p.d = (int64_t)1 << 50;
    const double t = 0.05, many = cbrt(B * B / (2.0 * t)) * cbrt(1e16);
    PVT_NEAR(pvi_horizon(&p, 1.0) / many, 1.0, 0.01);
    p.relation = PV_REL_REPLACE; /* twice the noise */
    PVT_NEAR(pvi_horizon(&p, 1.0) / many, 1.0 / cbrt(4.0), 0.01);
    p.mu = INFINITY;
    PVT_TRUE(pvi_horizon(&p, 1.0) == INFINITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_the_fit_without_noise),
        cmocka_unit_test(tiny_budgets_leave_small_weights),
        cmocka_unit_test(smoothing_helps_smooth_rules_only),
        cmocka_unit_test(horizon_has_its_limits),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
