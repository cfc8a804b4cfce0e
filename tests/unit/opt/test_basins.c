/* test_basins.c - the search among the penalty's local minima, against looking everywhere.
 *
 * Models of two weights with a loss that is a parabola: the lowest value on a fine grid is known.  From a local
 * minimum near 0 or near the loss's own minimum the search must never end higher, must mostly find the lowest, and
 * must stay where it is when noise could explain any gain. */
#include "opt/basins.h"
#include "pvtest.h"

enum { D = 2, PROBLEMS = 300, GRID = 400 };
#define HALF 9.0

typedef struct problem {
    double A[D * D], H[D * D], g[D], v[D];
} problem;

static pv_ctx *ctx;
static pv_problem p;
static double lambda = 1e-3;

static double value(const problem *q, const double *h)
{
    double w[D], sum = 0.0;
    for (int i = 0; i < D; i++) {
        w[i] = 0.0;
        for (int j = 0; j < D; j++) {
            w[i] += q->A[i * D + j] * (q->v[j] + h[j]);
            sum += 0.5 * h[i] * q->H[i * D + j] * h[j];
        }
        sum += q->g[i] * h[i];
    }
    return sum + p.reg->value(p.reg_cfg, w, D);
}

/* A loss with its minimum at `best`, curvatures of the order at which the penalty matters, and a start. */
static void make(uint64_t *seed, problem *q)
{
    const double t = 2.0 * pvt_uniform(seed) - 1.0;
    double best[D], e[D];
    q->A[0] = 1.0 + 0.5 * pvt_uniform(seed), q->A[3] = 1.0 + 0.5 * pvt_uniform(seed), q->A[1] = q->A[2] = 0.4 * t;
    for (int i = 0; i < D; i++) {
        e[i] = pow(10.0, -4.2 + 0.8 * pvt_uniform(seed));
        best[i] = 4.0 * (2.0 * pvt_uniform(seed) - 1.0);
        q->v[i] = 0.0;
    }
    const double c = cos(3.0 * t), s = sin(3.0 * t);
    q->H[0] = c * c * e[0] + s * s * e[1], q->H[3] = s * s * e[0] + c * c * e[1];
    q->H[1] = q->H[2] = c * s * (e[0] - e[1]);
    if (pvt_uniform(seed) < 0.5) memcpy(q->v, best, sizeof best);
    for (int i = 0; i < D; i++) {
        q->g[i] = 0.0;
        for (int j = 0; j < D; j++) q->g[i] += q->H[i * D + j] * (q->v[j] - best[j]);
    }
}

static double lowest(const problem *q)
{
    double least = INFINITY;
    for (int i = 0; i <= GRID; i++)
        for (int j = 0; j <= GRID; j++) {
            const double h[D] = { HALF * (2.0 * i / GRID - 1.0), HALF * (2.0 * j / GRID - 1.0) };
            least = fmin(least, value(q, h));
        }
    return least;
}

/* To the local minimum below, in steps too short to leave it: the start, as a run would give it. */
static void downhill(problem *q)
{
    double h[D] = { 0 }, now = value(q, h);
    for (double step = 0.05; step > 1e-4; step *= 0.7)
        for (int k = 0; k < 800; k++) {
            double next[D] = { h[0], h[1] };
            next[k / 2 % 2] += k % 2 ? step : -step;
            const double then = value(q, next);
            if (then < now) memcpy(h, next, sizeof h), now = then;
        }
    for (int i = 0; i < D; i++) {
        for (int j = 0; j < D; j++) q->g[i] += q->H[i * D + j] * h[j];
    }
    for (int i = 0; i < D; i++) q->v[i] += h[i];
}

static void search_against_grid(void **state)
{
    (void)state;
    uint64_t seed = 5;
    int found = 0, fell = 0;
    for (int k = 0; k < PROBLEMS; k++) {
        problem q;
        double h[D] = { 7.0, 7.0 }; /* must not be read */
        const double zero[D] = { 0 };
        make(&seed, &q);
        downhill(&q);
        pv_arena *a = pvi_arena_create(ctx);
        pvi_model m = { &p, q.A, q.v, q.g, q.H, 0.0, INFINITY };
        PVT_OK(pvi_basins(&m, a, h));
        PVT_CHECK(value(&q, h) <= value(&q, zero) + 1e-12, "problem %d rose from %g to %g", k, value(&q, zero),
                  value(&q, h));
        const double least = lowest(&q);
        found += value(&q, h) <= least + 2e-5;
        fell += value(&q, zero) <= least + 2e-5;
        m.far = 1e-3;
        PVT_OK(pvi_basins(&m, a, h));
        PVT_TRUE(hypot(h[0], h[1]) <= m.far);
        m.far = INFINITY;
        m.noise = 1e3;
        PVT_OK(pvi_basins(&m, a, h));
        PVT_TRUE(h[0] == 0.0 && h[1] == 0.0);
        pvi_arena_free(a);
    }
    print_message("lowest value found in %d of %d, at the start in %d\n", found, PROBLEMS, fell);
    PVT_CHECK(found >= 0.97 * PROBLEMS, "found in %d only", found);
    PVT_TRUE(fell < 0.85 * PROBLEMS); /* or there was nothing to find */
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(search_against_grid) };
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 1;
    p = (pv_problem) { .ctx = ctx, .d = D, .reg_cfg = &lambda };
    p.reg = (const pv_reg_ops *)(const void *)pv_find(PV_KIND_reg, "nonconvex");
    const int failed = cmocka_run_group_tests(all, NULL, NULL);
    pv_ctx_free(ctx);
    return failed;
}
