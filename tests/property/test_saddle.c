/* test_saddle.c - noise leaves a strict saddle, exact gradients do not; and how the cost of ball noise moves.
 *
 * Tukey's biweight with c = 1 on rows (e_1/2, +a), (e_1/2, -a), (e_2/2, 0), (e_2/2, 0), a = sqrt(3/5):
 *   F(w) = (phi(w_1/2 - a) + phi(w_1/2 + a))/4 + phi(w_2/2)/2.
 * At w = 0 the gradient is (phi'(a) + phi'(-a))/8 = 0, exactly also in floating point because halving is exact; the
 * curvature is phi''(a)/8 = -0.1 along e_1 and phi''(0)/8 = 1/8 along e_2: a strict saddle.  The minima are at
 * w_1 = -2a and 2a, where one residual is 0 and the other beyond c.
 * tests/cli/test_saddle.sh does the same by the commands of docs/algorithms/start.md. */
#include "ctxtest.h"
#include "pvtable.h"
#include "run/run.h"

static const double a = 0.7745966692414834;

static pvt_table *saddle(int64_t n)
{
    static const double e1[] = { 0.5, 0 }, e2[] = { 0, 0.5 };
    pvt_table *t = pvt_table_make(n, 2, 0, 1);
    for (int64_t i = 0; i < n; i++) {
        const bool first = i % 4 < 2;
        pvt_set_row(t, i, first ? e1 : e2, !first ? 0.0 : i % 4 ? -a : a);
    }
    return t;
}

static void train(const pvt_table *t, const char *const *pairs, double w[2])
{
    pv_plan *p;
    pv_result *r;
    int64_t d;
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "model", "tukey"));
    PVT_OK(pv_plan_set(p, "model.c", "1"));
    for (; *pairs; pairs += 2) PVT_OK(pv_plan_set(p, pairs[0], pairs[1]));
    const pv_status s = pvt_run(ctx, p, t, &r);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_weights(r, w, 2, &d));
    pv_result_free(r);
    pv_plan_free(p);
}

static void exact_gradients_stay(void **state)
{
    (void)state;
    static const char *const steps[] = { "0.1", "1", "8" };
    pvt_table *t = saddle(2000);
    for (int k = 0; k < 3; k++) {
        const char *pairs[] = {
            "privacy", "off", "optimizer.steps", "500", "optimizer.step", steps[k], "optimizer.output", "last", NULL
        };
        double w[2];
        train(t, pairs, w);
        PVT_TRUE(w[0] == 0.0 && w[1] == 0.0);
    }
    pvt_table_free(t);
}

/* Another start leaves it, or is drawn to it where only the stable direction differs. */
static void exact_gradients_leave_from_beside(void **state)
{
    (void)state;
    pvt_table *t = saddle(2000);
    for (int seed = 0; seed < 5; seed++) {
        char text[8];
        const char *pairs[] = { "privacy",
                                "off",
                                "optimizer.steps",
                                "500",
                                "optimizer.step",
                                "8",
                                "optimizer.momentum",
                                "0",
                                "optimizer.output",
                                "last",
                                "optimizer.start",
                                "random:0.001",
                                "run.seed",
                                text,
                                NULL };
        double w[2];
        snprintf(text, sizeof text, "%d", seed);
        train(t, pairs, w);
        PVT_CHECK(fabs(fabs(w[0]) - 2 * a) < 1e-3 && fabs(w[1]) < 1e-3, "seed %d: %g %g", seed, w[0], w[1]);
    }
    pvt_table_free(t);
}

/* Both find the negative curvature in the released Hessian, or are moved by noise along it. */
static void second_order_methods_leave(void **state)
{
    (void)state;
    static const char *const optimizers[] = { "gd-sosp", "tr", "str" };
    pvt_table *t = saddle(20000);
    for (int k = 0; k < 3; k++)
        for (int seed = 0; seed < 3; seed++) {
            char text[8];
            const char *pairs[] = { "optimizer", optimizers[k], "run.seed", text, "optimizer.start", "zero", NULL };
            double w[2];
            snprintf(text, sizeof text, "%d", seed);
            train(t, pairs, w);
            PVT_CHECK(fabs(fabs(w[0]) - 2 * a) < 0.1 && fabs(w[1]) < 0.1, "%s, seed %d: %g %g", optimizers[k], seed,
                      w[0], w[1]);
        }
    pvt_table_free(t);
}

static void noisy_gradients_leave(void **state)
{
    (void)state;
    pvt_table *t = saddle(2000);
    for (int seed = 0; seed < 5; seed++) {
        char text[8];
        const char *pairs[] = { "run.seed",
                                text,
                                "budget.epsilon",
                                "10",
                                "optimizer.steps",
                                "200",
                                "optimizer.step",
                                "4",
                                "optimizer.momentum",
                                "0",
                                "optimizer.output",
                                "last",
                                NULL };
        double w[2];
        snprintf(text, sizeof text, "%d", seed);
        train(t, pairs, w);
        PVT_CHECK(fabs(fabs(w[0]) - 2 * a) < 0.1 && fabs(w[1]) < 0.1, "seed %d: %g %g", seed, w[0], w[1]);
    }
    pvt_table_free(t);
}

/* One row at a time with uniform noise in a ball; delta is large because only large deltas leave a small ball. */
static void prgd_leaves(void **state)
{
    (void)state;
    pvt_table *t = saddle(20000);
    for (int seed = 0; seed < 3; seed++) {
        char text[8];
        const char *pairs[] = { "optimizer",
                                "prgd",
                                "run.seed",
                                text,
                                "budget.relation",
                                "replace",
                                "budget.delta",
                                "0.3",
                                "optimizer.steps",
                                "20000",
                                "optimizer.step",
                                "0.012",
                                "clip",
                                "0.15",
                                NULL };
        double w[2];
        snprintf(text, sizeof text, "%d", seed);
        train(t, pairs, w);
        PVT_CHECK(fabs(fabs(w[0]) - 2 * a) < 0.8 && fabs(w[1]) < 0.8, "seed %d: %g %g", seed, w[0], w[1]);
    }
    pvt_table_free(t);
}

/* ---- the cost of ball noise, as in the paper's second figure ------------------------------------------- */

static void delta_moves_as_it_should(void **state)
{
    (void)state;
    static const double dims[] = { 1, 2, 5, 10, 100, 1000, 1e5, 1e7 };
    for (int k = 0; k < 8; k++)
        for (double x = 0.02; x < 2.0; x += 0.02) { /* distance of the centres of two unit balls */
            const double delta = pv_ball_delta(x, 1.0, dims[k]);
            PVT_CHECK(delta > 0.0 && delta <= 1.0 + 1e-9, "d = %g, distance %g: %g", dims[k], x, delta);
            PVT_TRUE(pv_ball_delta(x + 0.01, 1.0, dims[k]) >= delta * (1.0 - 1e-9));     /* grows with the distance */
            PVT_TRUE(pv_ball_delta(x, 1.05, dims[k]) <= delta * (1.0 + 1e-9));           /* falls with the radius   */
            if (k) PVT_TRUE(delta >= pv_ball_delta(x, 1.0, dims[k - 1]) * (1.0 - 1e-9)); /* grows with d      */
        }
    PVT_NEAR(pv_ball_delta(0.3, 1.0, 1.0), 0.15, 1e-9); /* an interval: D/(2R) */
}

/* Radius in units of the sensitivity that a plan asks for. */
static double radius(const char *steps, const char *features, const char *delta)
{
    pv_plan *p;
    char *json;
    PVT_OK(pv_plan_create(ctx, &p));
    const char *pairs[] = { "optimizer",     "prgd",   "budget.relation", "replace", "data.rows",    "10000",
                            "data.features", features, "optimizer.steps", steps,     "budget.delta", delta };
    for (int i = 0; i < 12; i += 2) PVT_OK(pv_plan_set(p, pairs[i], pairs[i + 1]));
    PVT_CHECK(pv_plan_cost(p, &json) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    const double z = strtod(strstr(json, "\"noise_multiplier\":") + 19, NULL);
    pv_string_free(ctx, json);
    pv_plan_free(p);
    return z;
}

static void radius_moves_as_it_should(void **state)
{
    (void)state;
    static const char *const steps[] = { "10", "100", "1000", "10000" },
                             *const features[] = { "1", "5", "50", "500" },
                             *const delta[] = { "0.1", "0.01", "1e-3", "1e-4" };
    for (int k = 1; k < 4; k++) {
        PVT_TRUE(radius(steps[k], "5", "1e-3") > radius(steps[k - 1], "5", "1e-3"));
        PVT_TRUE(radius("1000", features[k], "1e-3") > radius("1000", features[k - 1], "1e-3"));
        PVT_TRUE(radius("1000", "5", delta[k]) > radius("1000", "5", delta[k - 1]));
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(exact_gradients_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(exact_gradients_leave_from_beside, setup, teardown),
        cmocka_unit_test_setup_teardown(second_order_methods_leave, setup, teardown),
        cmocka_unit_test_setup_teardown(noisy_gradients_leave, setup, teardown),
        cmocka_unit_test_setup_teardown(prgd_leaves, setup, teardown),
        cmocka_unit_test_setup_teardown(delta_moves_as_it_should, setup, teardown),
        cmocka_unit_test_setup_teardown(radius_moves_as_it_should, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
