/* test_regs.c - every regulariser of the registry: value, gradient, curvature, prox, constants, ranges. */
#include "arenatest.h"
#include "plug.h"
#include "reg/reg.h"

static const pv_reg_ops *reg_at(int64_t i)
{
    return (const pv_reg_ops *)pv_nth(PV_KIND_reg, i);
}

static const pv_reg_ops *reg_named(const char *name)
{
    const pv_plugin *p = pv_find(PV_KIND_reg, name);
    assert_non_null(p);
    return (const pv_reg_ops *)p;
}

static void *reg_cfg(const pv_reg_ops *r, const char *lambda)
{
    return plug_cfg(ctx, arena, &r->head, "lambda", lambda);
}

static void random_vector(uint64_t *s, double *w, int64_t d, double scale)
{
    for (int64_t j = 0; j < d; j++) w[j] = scale * pvt_normal(s);
}

static void every_slot_and_flag_is_consistent(void **state)
{
    (void)state;
    int64_t n = 0;
    for (const pv_reg_ops *r; (r = reg_at(n)); n++) {
        PVT_CHECK(r->head.name && r->head.summary && r->head.reference && r->head.params, "%s: head is incomplete",
                  r->head.name);
        PVT_CHECK(r->value && (r->prox || r->grad), "%s: a value, and a prox or a gradient are needed", r->head.name);
        PVT_CHECK(!!r->prox == !!(r->props & PV_PROX), "%s: PV_PROX", r->head.name);
        PVT_CHECK(!!r->curv == !!(r->props & PV_HESSIAN), "%s: PV_HESSIAN", r->head.name);
        PVT_CHECK(!(r->props & PV_SMOOTH) || (r->grad && r->smooth), "%s: PV_SMOOTH", r->head.name);
        PVT_CHECK(!(r->props & PV_STRONG) || r->strong, "%s: PV_STRONG", r->head.name);
        PVT_CHECK(!(r->props & PV_ELASTIC) || r->prox, "%s: PV_ELASTIC", r->head.name);
    }
    PVT_TRUE(n >= 5);
}

/* The penalties written once more, coordinate by coordinate.  NAN: it is not here, and has a test of its own. */
static double expected_value(const char *name, const double *w, int64_t d, double lambda)
{
    static const char *const known[] = { "none", "l2", "l1", "elastic", "nonconvex" };
    double v = NAN;
    for (int i = 0; i < 5; i++)
        if (!strcmp(name, known[i])) v = 0.0;
    for (int64_t j = 0; j < d; j++) {
        const double x = w[j];
        if (!strcmp(name, "l2")) v += lambda / 2.0 * x * x;
        if (!strcmp(name, "l1")) v += lambda * fabs(x);
        if (!strcmp(name, "elastic")) v += lambda * (0.5 * fabs(x) + 0.25 * x * x);
        if (!strcmp(name, "nonconvex")) v += lambda * x * x / (1.0 + x * x);
    }
    return v;
}

static void values_follow_the_formula(void **state)
{
    (void)state;
    uint64_t s = 11;
    double w[37];
    int compared = 0;
    for (int64_t i = 0; reg_at(i); i++)
        for (int round = 0; round < 20; round++) {
            const int64_t d = 1 + round * 36 / 19;
            random_vector(&s, w, d, 2.0);
            const void *cfg = reg_cfg(reg_at(i), "0.3");
            const double want = expected_value(reg_at(i)->head.name, w, d, 0.3);
            if (isnan(want)) continue;
            PVT_NEAR(reg_at(i)->value(cfg, w, d), want, 1e-13 * (1.0 + fabs(want)));
            compared++;
        }
    PVT_IS(compared, 5 * 20);
}

static void gradient_and_curvature_match_differences(void **state)
{
    (void)state;
    enum { D = 9 };
    uint64_t s = 5;
    double w[D], up[D], g[D], h[D], gu[D], gd[D];
    const double e = 1e-5;
    for (int64_t i = 0; reg_at(i); i++) {
        const pv_reg_ops *r = reg_at(i);
        const void *cfg = reg_cfg(r, "0.7");
        for (int round = 0; r->grad && round < 50; round++) {
            random_vector(&s, w, D, 1.5);
            for (int j = 0; j < D; j++) g[j] = 1.0 + j, h[j] = 2.0 + j; /* slots add, they do not overwrite */
            r->grad(cfg, w, g, D);
            if (r->curv) r->curv(cfg, w, h, D);
            for (int j = 0; j < D; j++) {
                memcpy(up, w, sizeof w);
                up[j] = w[j] + e;
                const double above = r->value(cfg, up, D);
                memset(gu, 0, sizeof gu);
                r->grad(cfg, up, gu, D);
                up[j] = w[j] - e;
                const double below = r->value(cfg, up, D);
                memset(gd, 0, sizeof gd);
                r->grad(cfg, up, gd, D);
                PVT_NEAR(g[j] - (1.0 + j), (above - below) / (2.0 * e), 1e-8);
                if (r->curv) PVT_NEAR(h[j] - (2.0 + j), (gu[j] - gd[j]) / (2.0 * e), 1e-8);
                /* the constants hold along this coordinate */
                const double slope = (gu[j] - gd[j]) / (2.0 * e);
                if (r->smooth) PVT_TRUE(fabs(slope) <= r->smooth(cfg) + 1e-7);
                if (r->strong) PVT_TRUE(slope >= r->strong(cfg) - 1e-7);
            }
        }
    }
}

static double prox_objective(const pv_reg_ops *r, const void *cfg, double eta, const double *x, const double *u,
                             int64_t d)
{
    double q = 0.0;
    for (int64_t j = 0; j < d; j++) q += (x[j] - u[j]) * (x[j] - u[j]);
    return r->value(cfg, x, d) + q / (2.0 * eta);
}

static void prox_is_the_minimiser(void **state)
{
    (void)state;
    enum { D = 6 };
    uint64_t s = 77;
    double u[D], x[D], y[D];
    for (int64_t i = 0; reg_at(i); i++) {
        const pv_reg_ops *r = reg_at(i);
        if (!r->prox) continue;
        const void *cfg = reg_cfg(r, "0.4");
        for (int round = 0; round < 200; round++) {
            const double eta = exp(3.0 * pvt_normal(&s));
            random_vector(&s, u, D, 1.0);
            memcpy(x, u, sizeof u);
            r->prox(cfg, eta, x, D);
            const double best = prox_objective(r, cfg, eta, x, u, D);
            for (int k = 0; k < 200; k++) { /* convex: no better point nearby means no better point */
                const double step = exp2(-20.0 * pvt_uniform(&s));
                for (int j = 0; j < D; j++) y[j] = x[j] + (pvt_uniform(&s) < 0.5 ? step * pvt_normal(&s) : 0.0);
                PVT_TRUE(prox_objective(r, cfg, eta, y, u, D) >= best * (1.0 - 1e-14) - 1e-300);
            }
        }
    }
}

/* Golden section on one coordinate at a time: exact for the separable penalties, shares nothing with prox. */
static double numeric_prox_1d(const pv_reg_ops *r, const void *cfg, double eta, double u)
{
    double a = -fabs(u) - 1.0, b = fabs(u) + 1.0;
    const double k = 0.6180339887498949;
    for (int i = 0; i < 120; i++) {
        const double c = b - k * (b - a), e = a + k * (b - a);
        if (prox_objective(r, cfg, eta, &c, &u, 1) < prox_objective(r, cfg, eta, &e, &u, 1)) b = e;
        else a = c;
    }
    return 0.5 * (a + b);
}

static void prox_matches_a_numeric_minimiser(void **state)
{
    (void)state;
    uint64_t s = 3;
    for (int64_t i = 0; reg_at(i); i++) {
        const pv_reg_ops *r = reg_at(i);
        if (!r->prox) continue;
        const void *cfg = reg_cfg(r, "0.4");
        for (int round = 0; round < 300; round++) {
            const double eta = exp(2.0 * pvt_normal(&s)), u = 2.0 * pvt_normal(&s);
            double x = u;
            r->prox(cfg, eta, &x, 1);
            PVT_NEAR(x, numeric_prox_1d(r, cfg, eta, u), 1e-6);
        }
    }
}

/* Values far outside any training run: no overflow into NaN, the bounds of the penalty still hold. */
static void extreme_weights_stay_finite(void **state)
{
    (void)state;
    const double w[6] = { 1e200, -1e200, 1e-200, 0.0, -1e-9, 1.0 };
    for (int64_t i = 0; reg_at(i); i++) {
        const pv_reg_ops *r = reg_at(i);
        const void *cfg = reg_cfg(r, "1");
        double g[6] = { 0 }, h[6] = { 0 }, x[6];
        PVT_TRUE(!isnan(r->value(cfg, w, 6)) && r->value(cfg, w, 6) >= 0.0);
        if (r->grad) r->grad(cfg, w, g, 6);
        if (r->curv) r->curv(cfg, w, h, 6);
        memcpy(x, w, sizeof w);
        if (r->prox) r->prox(cfg, 1.0, x, 6);
        for (int j = 0; j < 6; j++) PVT_TRUE(!isnan(g[j]) && !isnan(h[j]) && fabs(x[j]) <= fabs(w[j]));
    }
    const double tiny = -1e-9;
    const pv_reg_ops *r = reg_named("nonconvex");
    PVT_REL(r->value(reg_cfg(r, "1"), &tiny, 1), 1e-18, 1e-14);
}

static void elastic_ends_are_ridge_and_lasso(void **state)
{
    (void)state;
    uint64_t s = 8;
    const pv_reg_ops *e = reg_named("elastic");
    static const char *const ratio[] = { "0", "1" }, *const name[] = { "l2", "l1" };
    for (int k = 0; k < 2; k++) {
        void *cfg = reg_cfg(e, "0.4");
        PVT_OK(pvi_param_set(ctx, arena, "", e->head.params, cfg, "l1_ratio", ratio[k]));
        const pv_reg_ops *r = reg_named(name[k]);
        const void *rc = reg_cfg(r, "0.4");
        double w[9], x[9];
        random_vector(&s, w, 9, 1.0);
        memcpy(x, w, sizeof w);
        PVT_REL(e->value(cfg, w, 9), r->value(rc, w, 9), 1e-15);
        e->prox(cfg, 0.7, w, 9);
        r->prox(rc, 0.7, x, 9);
        for (int j = 0; j < 9; j++) PVT_NEAR(w[j], x[j], 1e-16);
        PVT_TRUE(e->smooth(cfg) == r->smooth(rc));
        PVT_NEAR(e->strong(cfg), r->strong ? r->strong(rc) : 0.0, 0.0);
    }
}

static void bad_settings_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "-1e-9", "nan", "-inf", "inf", "ten", "" };
    for (int64_t i = 0; reg_at(i); i++) {
        const pv_plugin *p = &reg_at(i)->head;
        void *cfg = plug_cfg(ctx, arena, p, NULL, NULL);
        for (const pv_param *row = p->params; row->key; row++)
            for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
                PVT_IS(pvi_param_set(ctx, arena, "reg.", p->params, cfg, row->key, bad[k]), PV_E_PARAM);
    }
}

static void named_values(void **state)
{
    (void)state;
    const double w[3] = { 3.0, 0.0, -4.0 };
    double x[3] = { 3.0, 0.25, -4.0 };
    PVT_REL(reg_named("l2")->value(reg_cfg(reg_named("l2"), "2"), w, 3), 25.0, 1e-15);
    PVT_REL(reg_named("l1")->value(reg_cfg(reg_named("l1"), "2"), w, 3), 14.0, 1e-15);
    PVT_REL(reg_named("elastic")->value(reg_cfg(reg_named("elastic"), "2"), w, 3), 19.5, 1e-15);
    PVT_REL(reg_named("nonconvex")->value(reg_cfg(reg_named("nonconvex"), "2"), w, 3), 2.0 * (0.9 + 16.0 / 17.0),
            1e-15);
    PVT_NEAR(reg_named("none")->value(reg_cfg(reg_named("none"), NULL), w, 3), 0.0, 0.0);
    reg_named("l1")->prox(reg_cfg(reg_named("l1"), "2"), 0.25, x, 3);
    PVT_NEAR(x[0], 2.5, 0.0);
    PVT_NEAR(x[1], 0.0, 0.0);
    PVT_NEAR(x[2], -3.5, 0.0);
}

/* Two layers of 3 + 2 and 4 + 1 weights. */
static const pv_tensor two_layers[] = { { 3, 1, 3, 1, 0 }, { 2, 1, 2, 1, 0 }, { 4, 2, 2, 1, 0 }, { 1, 1, 1, 1, 0 } };

/* (1) and (2) of penalty.c: every layer as if it were alone, with its factor in the penalty's own. */
static void layers_have_their_factors(void **state)
{
    (void)state;
    static const double factor[] = { 2.5, 0.0, 1.0 };
    uint64_t seed = 8;
    for (int64_t i = 0; reg_at(i); i++)
        for (int k = 0; k < 2; k++) {
            const pv_reg_ops *r = reg_at(i);
            const pv_numbers a = { 2, { factor[k], factor[k + 1] } };
            const pv_problem p = { .ctx = ctx,
                                   .d = 10,
                                   .reg = r,
                                   .reg_cfg = reg_cfg(r, "0.4"),
                                   .tensor = two_layers,
                                   .tensors = 4,
                                   .reg_layers = &a };
            double w[10], g[10] = { 0 }, want[10] = { 0 }, x[10], value = 0;
            PVT_IS(pvi_penalty_check(&p, &a), r->props & PV_ZERO ? PV_E_PARAM : PV_OK);
            random_vector(&seed, w, 10, 2.0);
            memcpy(x, w, sizeof w);
            for (int l = 0; l < 2; l++) {
                char lambda[32];
                snprintf(lambda, sizeof lambda, "%.17g", 0.4 * a.v[l]);
                const void *own = reg_cfg(r, lambda);
                value += r->value(own, w + 5 * l, 5);
                if (r->grad) r->grad(own, w + 5 * l, want + 5 * l, 5);
                if (r->prox) r->prox(own, 0.3, x + 5 * l, 5);
            }
            PVT_CHECK(fabs(pvi_penalty_value(&p, w) - value) <= 1e-14 * value, "%s: value", r->head.name);
            if (r->grad) pvi_penalty_grad(&p, w, g);
            for (int j = 0; j < 10; j++) PVT_CHECK(fabs(g[j] - want[j]) <= 1e-14, "%s: gradient", r->head.name);
            if (r->prox) pv_prox(&p, 0.3, w);
            for (int j = 0; j < 10; j++) PVT_CHECK(fabs(w[j] - x[j]) <= 1e-14, "%s: prox", r->head.name);
            const double strong = r->strong ? r->strong(p.reg_cfg) : 0;
            PVT_TRUE(pvi_penalty_strong(&p) == strong * fmin(a.v[0], a.v[1]));
        }
}

static void factors_that_do_not_fit(void **state)
{
    (void)state;
    const pv_set_ops *ball = (const pv_set_ops *)(const void *)pv_find(PV_KIND_set, "l2ball");
    const pv_numbers two = { 2, { 1, 2 } }, three = { 3, { 1, 2, 3 } }, half = { 1, { 0.5 } }, one = { 1, { 1 } };
    pv_problem p = { .ctx = ctx, .d = 10, .reg = reg_named("l2"), .tensor = two_layers, .tensors = 4 };
    PVT_OK(pvi_penalty_check(&p, &two));
    PVT_OK(pvi_penalty_check(&p, &half));
    PVT_IS(pvi_penalty_check(&p, &three), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "reg.layers has 3 numbers, and the network has 2 layers"));
    p.set = ball;
    PVT_IS(pvi_penalty_check(&p, &two), PV_E_UNSUPPORTED);
    p.set = NULL, p.tensors = 0;
    PVT_IS(pvi_penalty_check(&p, &two), PV_E_PARAM);
    PVT_IS(pvi_penalty_check(&p, &half), PV_E_UNSUPPORTED);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "reg.lambda"));
    PVT_OK(pvi_penalty_check(&p, &one));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_slot_and_flag_is_consistent),
        cmocka_unit_test(values_follow_the_formula),
        cmocka_unit_test(gradient_and_curvature_match_differences),
        cmocka_unit_test(prox_is_the_minimiser),
        cmocka_unit_test(prox_matches_a_numeric_minimiser),
        cmocka_unit_test(extreme_weights_stay_finite),
        cmocka_unit_test(elastic_ends_are_ridge_and_lasso),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(named_values),
        cmocka_unit_test(layers_have_their_factors),
        cmocka_unit_test(factors_that_do_not_fit),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
