/* test_sbcd.c - the bounds on the layers' spectral norms, one for all and one for each. */
#include "pvtable.h"
#include "run/run.h"

enum { N = 60, P = 6, D = 200 };

/* The largest singular value of a matrix of in x out, by power iteration in double. */
static double largest(const double *w, int64_t in, int64_t out)
{
    double v[16], u[16], s = 0;
    for (int64_t n = 0; n < out; n++) v[n] = 1.0 + 0.1 * (double)n;
    for (int round = 0; round < 2000; round++) {
        double size = 0;
        for (int64_t i = 0; i < in; i++) {
            u[i] = 0;
            for (int64_t n = 0; n < out; n++) u[i] += w[i * out + n] * v[n];
        }
        for (int64_t n = 0; n < out; n++) {
            v[n] = 0;
            for (int64_t i = 0; i < in; i++) v[n] += w[i * out + n] * u[i];
            size += v[n] * v[n];
        }
        s = sqrt(sqrt(size));
        for (int64_t n = 0; n < out; n++) v[n] /= sqrt(size);
    }
    return s;
}

/* Noise carries the weights far beyond every bound, so each layer ends at its own. */
static void check(const char *rho, const double *want)
{
    static const char *const set[][2] = {
        { "model", "split-mlp" },     { "model.layers", "dense5,relu,dense4,relu,dense" },
        { "optimizer", "sbcd" },      { "optimizer.steps", "4" },
        { "optimizer.step", "1000" }, { "optimizer.output", "last" },
        { "sampler", "full" },        { "run.seed", "3" }
    };
    static const int64_t in[] = { P, 5, 4 }, out[] = { 5, 4, 3 };
    pvt_table *t = pvt_table_make(N, P, 3, 5);
    double w[D];
    int64_t d, at = 0;
    pv_ctx *ctx;
    pv_plan *plan;
    pv_result *r;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pv_plan_create(ctx, &plan));
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) PVT_OK(pv_plan_set(plan, set[i][0], set[i][1]));
    PVT_OK(pv_plan_set(plan, "optimizer.rho", rho));
    PVT_OK(pvi_run_matrix(plan, &t->m, NULL, NULL, &r));
    PVT_OK(pv_result_weights(r, w, D, &d));
    for (int i = 0; i < 3; at += in[i] * out[i] + out[i], i++)
        PVT_CHECK(fabs(largest(w + at, in[i], out[i]) - want[i]) <= 1e-3 * want[i], "rho=%s: layer %d has %g, not %g",
                  rho, i, largest(w + at, in[i], out[i]), want[i]);
    PVT_IS(at, d);
    pv_result_free(r);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
    pvt_table_free(t);
}

static void layers_have_their_bounds(void **state)
{
    (void)state;
    check("3", (const double[]) { 3, 3, 3 });
    check("0.5,2,7", (const double[]) { 0.5, 2, 7 });
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(layers_have_their_bounds) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
