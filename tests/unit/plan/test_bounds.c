/* test_bounds.c - the papers' utility bounds of a plan, against their formulas written out with numbers. */
#include "arenatest.h"

/* "bounds" of a plan for 10,000 rows of 20 columns, epsilon 0.5, delta 1e-5; pairs: key, value, ..., NULL */
static const pvi_json *bounds_of(const char *const *pairs)
{
    pv_plan *p;
    char *text;
    pvi_json *v;
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "data.rows", "10000"));
    PVT_OK(pv_plan_set(p, "data.features", "20"));
    PVT_OK(pv_plan_set(p, "data.bias", "0"));
    PVT_OK(pv_plan_set(p, "budget.epsilon", "0.5"));
    PVT_OK(pv_plan_set(p, "budget.delta", "1e-5"));
    PVT_OK(pv_plan_set(p, "clip", "0.2"));
    for (; *pairs; pairs += 2) PVT_OK(pv_plan_set(p, pairs[0], pairs[1]));
    const pv_status s = pv_plan_cost(p, &text);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pvi_json_parse(ctx, arena, "plan", text, strlen(text), &v));
    pv_string_free(ctx, text);
    pv_plan_free(p);
    return pvi_json_get(v, "bounds");
}

/* Of the k-th row whose theorem ends so; NAN: there is none, and why is said. */
static double value(const pvi_json *bounds, const char *theorem, int k)
{
    PVT_TRUE(bounds != NULL);
    for (const pvi_json *b = pvi_json_get(bounds, "theorems")->child; b; b = b->next) {
        const char *name = pvi_json_get(b, "theorem")->text;
        const size_t n = strlen(name), m = strlen(theorem);
        if (n < m || strcmp(name + n - m, theorem) != 0 || k-- > 0) continue;
        const pvi_json *x = pvi_json_get(b, "value");
        PVT_TRUE((x != NULL) != (pvi_json_get(b, "void") != NULL));
        return x ? x->num : NAN;
    }
    PVT_CHECK(false, "no %s", theorem);
    return NAN;
}

static const double l = 11.512925464970229; /* ln(1e5) */

static void without_a_set(void **state)
{
    (void)state;
    static const char *const sigmoid[] = { "model", "sigmoid", "optimizer", "pgd", NULL };
    const pvi_json *b = bounds_of(sigmoid);
    PVT_REL(value(b, "Theorem 2", 0), pow(20 * l, 0.25) / sqrt(5000), 1e-9);
    PVT_REL(value(b, "Theorem 3", 0), sqrt(0.04 * 20 * log(4) * log(10000) / 10000) + pow(20 * l, 0.25) / sqrt(5000),
            1e-9);
    PVT_REL(value(b, "Zhang et al. 2017", 0), pow(20 * l * log(1e9), 0.25) / sqrt(5000), 1e-9);
    PVT_REL(value(b, "Wang, Ye, Xu 2017", 0), value(b, "Theorem 2", 0), 1e-12);
    const double alpha = pow(sqrt(20 * log(20) * l) / 5000, 4.0 / 7);
    PVT_REL(value(b, "Theorem 15", 0), alpha, 1e-9);
    PVT_REL(value(b, "Theorem 18", 0), alpha, 1e-9);
    PVT_REL(value(b, "Theorem 18", 1), 0.04 * log(400) / (alpha * alpha), 1e-9);
    /* radius^2 rho = alpha, rows of a Hessian M^2 ln(p/zeta)/(alpha rho) */
    const double rho = alpha / pow(value(b, "Theorem 15", 1), 2), M = pvi_json_get(pvi_json_get(b, "with"), "M")->num;
    PVT_REL(value(b, "Theorem 18", 2), M * M * log(400) / (alpha * rho), 1e-9);
    PVT_REL(value(b, "Wang, Chen, Xu 2019", 0), sqrt(sqrt(20 * l) / 5000), 1e-9);
    for (int k = 4; k <= 6; k++) {
        char theorem[16];
        snprintf(theorem, sizeof theorem, ", Theorem %d", k);
        PVT_TRUE(isnan(value(b, theorem, 0))); /* no set; and Theorem 4 of DP-LSSGD needs a convex loss */
    }
    PVT_TRUE(isnan(value(b, "DP-LSSGD, Theorem 4", 0)));
}

static void in_a_set(void **state)
{
    (void)state;
    static const char *const ball[] = { "model",  "logistic",   "optimizer", "fw-l2", "set",
                                        "l2ball", "set.radius", "3",         NULL };
    static const char *const cross[] = { "model",  "logistic",   "optimizer", "pmd", "set",
                                         "l1ball", "set.radius", "2",         NULL };
    static const char *const simplex[] = { "model", "logistic", "optimizer", "pmd", "set", "simplex", NULL };
    const double width = 3 * sqrt(2) * exp(lgamma(10.5) - lgamma(10)), W = 9 + width * width;
    const pvi_json *b = bounds_of(ball);
    PVT_REL(pvi_json_get(pvi_json_get(b, "with"), "gaussian_width")->num, width, 1e-9);
    PVT_REL(value(b, "(6), Theorem 4", 0), 3 * pow(W * l, 0.25) / sqrt(5000), 1e-9);
    PVT_REL(value(b, "(7), Theorem 5", 0), pow(3, 1.5) * pow(W * l, 0.25) / sqrt(5000), 1e-9);
    PVT_TRUE(isnan(value(b, "(8), Theorem 6", 0))); /* a round ball has no vertices */
    PVT_TRUE(isnan(value(b, "Theorem 15", 0)));
    b = bounds_of(cross);
    PVT_REL(value(b, "(8), Theorem 6", 0), 2 * pow(l, 0.25) * sqrt(log(10000 * 40 / 0.05)) / sqrt(5000), 1e-9);
    PVT_TRUE(value(b, "(6), Theorem 4", 0) > 0);
    b = bounds_of(simplex); /* not symmetric about 0 */
    PVT_TRUE(isnan(value(b, "(6), Theorem 4", 0)) && value(b, "(8), Theorem 6", 0) > 0);
}

static void of_smoothing(void **state)
{
    (void)state;
    static const char *const plain[] = { "model",
                                         "logistic",
                                         "optimizer",
                                         "sgd",
                                         "optimizer.smoothing",
                                         "2",
                                         "sampler.batch",
                                         "100",
                                         "optimizer.steps",
                                         "20",
                                         "accountant",
                                         "rdp",
                                         NULL };
    const pvi_json *b = bounds_of(plain);
    double gamma = 0, beta = 0;
    for (int i = 1; i <= 20; i++) {
        const double e = 1 + 4 - 4 * cos(2 * M_PI * i / 20);
        gamma += 1 / e / 20;
        beta += 1 / (e * e) / 20;
    }
    PVT_REL(value(b, "DP-LSSGD, Theorem 4", 0), 0.2 * sqrt(6 * gamma * (9 + 0.04 / 100) * 20 * l) / 5000, 1e-9);
    PVT_REL(value(b, "DP-LSSGD, Theorem 7", 0), 0.2 * sqrt(beta * 20 * 0.25 * (0.4 + 0.25 * 0.04 / 100) * l) / 5000,
            1e-9);
}

/* Theorems of a plan's own optimiser, and who else has them. */
static int marked(const pvi_json *bounds, const char *theorem, const char *optimizers)
{
    int n = 0;
    for (const pvi_json *b = pvi_json_get(bounds, "theorems")->child; b; b = b->next) {
        if (!pvi_json_get(b, "of_this_plan")->num) continue;
        const char *name = pvi_json_get(b, "theorem")->text;
        PVT_TRUE(strcmp(name + strlen(name) - strlen(theorem), theorem) == 0);
        PVT_TRUE(strcmp(pvi_json_get(b, "optimizer")->text, optimizers) == 0);
        n++;
    }
    return n;
}

static void of_the_optimizer(void **state)
{
    (void)state;
    static const char *const one[] = { "model", "sigmoid", "optimizer", "str", NULL };
    static const char *const two[] = { "model", "sigmoid", "optimizer", "str2", NULL };
    static const char *const full[] = { "model", "sigmoid", "optimizer", "tr", NULL };
    static const char *const adam[] = { "model", "sigmoid", "optimizer", "adam", NULL };
    PVT_TRUE(marked(bounds_of(one), "Theorem 18", "str, str2") == 3);
    PVT_TRUE(marked(bounds_of(two), "Theorem 18", "str, str2") == 3);
    PVT_TRUE(marked(bounds_of(full), "Theorem 15", "tr") == 2);
    PVT_TRUE(marked(bounds_of(adam), "", "") == 0);
}

static void none_without_privacy(void **state)
{
    (void)state;
    static const char *const off[] = { "model", "logistic", "privacy", "off", NULL };
    PVT_TRUE(bounds_of(off) == NULL);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(without_a_set), cmocka_unit_test(in_a_set),
                                      cmocka_unit_test(of_smoothing), cmocka_unit_test(of_the_optimizer),
                                      cmocka_unit_test(none_without_privacy) };
    return cmocka_run_group_tests(all, setup, teardown);
}
