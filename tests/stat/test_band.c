/* test_band.c - the noise that a model file says its weights have at most, against runs with many seeds.
 *
 * Half of the range of column "a" has no rows: weights at its knots are moved by noise alone, and their standard
 * deviation over seeds must be what src/run/band.c (3) says.  With SEEDS runs and KNOTS knots the ratio of both is
 * known to about 1/sqrt(2 SEEDS KNOTS) = 2.5 %, neighbours being independent; 15 % are allowed, since (3) is linear.
 * Weights with rows have less, so that the bound is one. */
#include <unistd.h>

#include "privet.h"
#include "pvtest.h"

enum { SEEDS = 100, ROWS = 1500, CURVE = 17, FIRST = 9, KNOTS = 8 };
static const char schema[] =
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 100}, {\"name\": \"b\", \"type\": "
    "\"category\", \"values\": [\"x\", \"y\"]}, {\"name\": \"l\", \"type\": \"label\", \"values\": [\"n\", \"p\"]}]}";

static char path[] = "/tmp/privet_band_XXXXXX";

static void write_rows(void)
{
    FILE *f = fdopen(mkstemp(path), "w");
    PVT_TRUE(f != NULL);
    fputs("a,b,l\n", f);
    for (int i = 0; i < ROWS; i++)
        fprintf(f, "%d,%c,%c\n", i % 51, i % 3 ? 'x' : 'y', (i * 7919) % 100 < 20 + i % 51 ? 'p' : 'n');
    const int closed = fclose(f);
    PVT_IS(closed, 0);
}

typedef struct spread {
    double sum[CURVE], squares[CURVE], bound;
} spread;

static void one_run(const char *const (*extra)[2], int seed, spread *x)
{
    pv_ctx *ctx;
    pv_plan *plan;
    pv_result *r;
    pv_model *m;
    double w[CURVE + 3];
    char text[16], *json;
    int64_t d;
    snprintf(text, sizeof text, "%d", seed);
    const char *const settings[][2] = { { "data.path", path },       { "data.schema", schema },
                                        { "data.key_path", "none" }, { "data.curves", "17" },
                                        { "run.seed", text },        { "budget.delta", "1e-5" } };
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pv_plan_create(ctx, &plan));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        PVT_OK(pv_plan_set(plan, settings[i][0], settings[i][1]));
    for (; (*extra)[0]; extra++) PVT_OK(pv_plan_set(plan, (*extra)[0], (*extra)[1]));
    PVT_CHECK(pv_plan_run(plan, &r) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_weights(r, w, CURVE + 3, &d));
    PVT_IS(d, CURVE + 3);
    PVT_OK(pv_result_model(r, &m));
    PVT_OK(pv_model_curves(m, &json));
    const char *at = strstr(json, "\"noise_at_most\": ");
    PVT_TRUE(at != NULL);
    x->bound = strtod(at + 17, NULL) * sqrt(3.0); /* of an effect, which has the factor of rows of two columns */
    for (int k = 0; k < CURVE; k++) x->sum[k] += w[k], x->squares[k] += w[k] * w[k];
    pv_string_free(ctx, json);
    pv_model_free(m);
    pv_result_free(r);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
}

static double variance(const spread *x, int k)
{
    return (x->squares[k] - x->sum[k] * x->sum[k] / SEEDS) / (SEEDS - 1);
}

static void compare(const char *const (*extra)[2])
{
    spread x = { .bound = 0.0 };
    double empty = 0.0, full = 0.0;
    for (int seed = 1; seed <= SEEDS; seed++) one_run(extra, seed, &x);
    for (int k = 0; k < KNOTS; k++) empty += variance(&x, FIRST + k) / KNOTS, full += variance(&x, k) / KNOTS;
    const double ratio = sqrt(empty) / x.bound;
    printf("spread %.4g where there are no rows, %.4g where there are; bound %.4g\n", sqrt(empty), sqrt(full),
           x.bound);
    PVT_CHECK(ratio > 0.85 && ratio < 1.15, "spread over seeds is %.3f of what the file says", ratio);
    PVT_CHECK(full < empty, "rows do not hold weights: %g, %g", full, empty);
}

static void the_default(void **state)
{
    (void)state;
    static const char *const extra[][2] = { { "budget.epsilon", "1" }, { NULL, NULL } };
    compare(extra);
}

static void other_steps(void **state)
{
    (void)state;
    static const char *const extra[][2] = { { "budget.epsilon", "4" },
                                            { "optimizer", "pgd" },
                                            { "optimizer.steps", "60" },
                                            { "optimizer.step", "1.5" },
                                            { "optimizer.momentum", "0.8" },
                                            { "optimizer.shrink", "0.5" },
                                            { NULL, NULL } };
    compare(extra);
}

static void a_smaller_clip(void **state)
{
    (void)state;
    static const char *const extra[][2] = {
        { "budget.epsilon", "2" }, { "clip", "0.25" }, { "optimizer", "pgd" }, { NULL, NULL }
    };
    compare(extra);
}

int main(void)
{
    write_rows();
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_default), cmocka_unit_test(other_steps),
                                        cmocka_unit_test(a_smaller_clip) };
    const int bad = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return bad;
}
