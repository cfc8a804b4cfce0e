/* test_stationarity.c - measures of stationarity against brute force: Lanczos against the dense eigensolver,
 * projected gradients and Frank-Wolfe gaps against a search over the set. */
#include "core/eigen.h"
#include "eval/eval.h"
#include "opt/opt.h"
#include "pvtest.h"

typedef struct dense {
    int64_t d;
    const double *A;
} dense;

static void product(void *arg, const double *v, double *y)
{
    const dense *m = arg;
    pvi_matvec(m->d, m->A, v, y);
}

static double *symmetric(int64_t d, uint64_t seed)
{
    double *A = calloc((size_t)(d * d), sizeof *A);
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++) A[i * d + j] = A[j * d + i] = pvt_normal(&seed);
    return A;
}

static double lowest(int64_t d, const double *A, double *u, double *residual)
{
    const dense m = { d, A };
    double *work = calloc((size_t)pvi_lanczos_work(d), sizeof *work);
    const double t = pvi_lowest_eigenvalue(d, product, (void *)(uintptr_t)&m, work, u, residual);
    free(work);
    return t;
}

/* Up to 60 weights Lanczos has them all; beyond, an eigenvalue lies within the residual and none is lower than it
 * says by more. */
static void lanczos_agrees_with_the_dense_solver(void **state)
{
    (void)state;
    static const int64_t sizes[] = { 1, 2, 3, 7, 30, 60, 61, 120, 250 };
    for (int k = 0; k < 9; k++) {
        const int64_t d = sizes[k];
        double *A = symmetric(d, 11 + (uint64_t)k), *V = malloc(sizeof *V * (size_t)(d * d)),
               *u = calloc((size_t)d, sizeof *u), *y = calloc((size_t)d, sizeof *y),
               *e = calloc((size_t)d, sizeof *e), *w = calloc((size_t)d, sizeof *w), residual, far = 0.0,
               length = 0.0;
        memcpy(V, A, sizeof *V * (size_t)(d * d));
        PVT_OK(pvi_eigen(d, V, e, w));
        const double t = lowest(d, A, u, &residual), spread = e[d - 1] - e[0] + 1.0;
        pvi_matvec(d, A, u, y);
        for (int64_t i = 0; i < d; i++) far += (y[i] - t * u[i]) * (y[i] - t * u[i]), length += u[i] * u[i];
        PVT_NEAR(length, 1.0, 1e-9);
        PVT_NEAR(sqrt(far), residual, 1e-9 * spread);
        PVT_TRUE(t >= e[0] - 1e-9 * spread);
        PVT_CHECK(d <= 60 ? fabs(t - e[0]) <= 1e-8 * spread : t - e[0] <= 0.01 * spread, "d = %lld: %g, not %g",
                  (long long)d, t, e[0]);
        free(A), free(V), free(u), free(y), free(e), free(w);
    }
}

/* diag(-1, 0.00001, 0.00002, ...): 10^5 weights in 62 vectors. */
static void stretch(void *arg, const double *v, double *y)
{
    (void)arg;
    for (int64_t i = 0; i < 100000; i++) y[i] = v[i] * (i ? 1e-5 * (double)i : -1.0);
}

static void a_hundred_thousand_weights(void **state)
{
    (void)state;
    const int64_t d = 100000;
    PVT_TRUE(pvi_lanczos_work(d) <= 62 * d);
    double *work = calloc((size_t)pvi_lanczos_work(d), sizeof *work), *u = calloc((size_t)d, sizeof *u), residual;
    const double t = pvi_lowest_eigenvalue(d, stretch, NULL, work, u, &residual);
    PVT_NEAR(t, -1.0, 1e-9);
    PVT_TRUE(residual < 1e-6);
    PVT_NEAR(fabs(u[0]), 1.0, 1e-6);
    free(work);
    free(u);
}

/* ---- two weights, a set, and a search over it ------ */

typedef struct plane {
    pv_ctx *ctx;
    pv_arena *a;
    pv_problem p;
    void *set_cfg;
} plane;

static void open_plane(plane *q, const char *set, const char *reg)
{
    PVT_OK(pv_ctx_create(NULL, &q->ctx));
    q->a = pvi_arena_create(q->ctx);
    const pv_set_ops *s = (const pv_set_ops *)(const void *)pv_find(PV_KIND_set, set);
    const pv_reg_ops *r = (const pv_reg_ops *)(const void *)pv_find(PV_KIND_reg, reg);
    q->set_cfg = pv_arena_get(q->a, s->head.cfg_size + 1);
    void *reg_cfg = pv_arena_get(q->a, r->head.cfg_size + 1), *st = pv_arena_get(q->a, s->head.state_size + 1);
    pvi_param_defaults(s->head.params, q->set_cfg);
    pvi_param_defaults(r->head.params, reg_cfg);
    if (s->open) PVT_OK(s->open(st, q->set_cfg, 2, q->ctx, q->a));
    q->p = (pv_problem) {
        .ctx = q->ctx, .d = 2, .reg = r, .reg_cfg = reg_cfg, .set = s, .set_cfg = q->set_cfg, .set_st = st
    };
}

static void close_plane(plane *q)
{
    pvi_arena_free(q->a);
    pv_ctx_free(q->ctx);
}

/* Is the point in the set?  Its projection is itself. */
static bool inside(const plane *q, const double u[2])
{
    double z[2] = { u[0], u[1] };
    q->p.set->project(q->p.set_st, q->set_cfg, z, 2);
    return hypot(z[0] - u[0], z[1] - u[1]) < 1e-9;
}

enum { GRID = 600 };

static void by_search(const char *set, const char *reg)
{
    plane q;
    open_plane(&q, set, reg);
    uint64_t seed = 3;
    for (int trial = 0; trial < 6; trial++) {
        double x[2] = { pvt_normal(&seed), pvt_normal(&seed) }, g[2] = { pvt_normal(&seed), pvt_normal(&seed) };
        double work[4], best = INFINITY, gap = -INFINITY, at[2] = { 0, 0 };
        const double gamma = 0.3 + 0.2 * trial;
        q.p.set->project(q.p.set_st, q.set_cfg, x, 2);
        double full[2] = { g[0], g[1] };
        if (q.p.reg->grad) q.p.reg->grad(q.p.reg_cfg, x, full, 2);
        for (int i = 0; i <= GRID; i++)
            for (int j = 0; j <= GRID; j++) {
                const double u[2] = { 2.4 * i / GRID - 1.2, 2.4 * j / GRID - 1.2 };
                if (!inside(&q, u)) continue;
                const double f = g[0] * u[0] + g[1] * u[1] + q.p.reg->value(q.p.reg_cfg, u, 2) +
                                 (pow(u[0] - x[0], 2) + pow(u[1] - x[1], 2)) / (2.0 * gamma);
                if (f < best) best = f, at[0] = u[0], at[1] = u[1];
                gap = fmax(gap, full[0] * (x[0] - u[0]) + full[1] * (x[1] - u[1]));
            }
        const double moved = hypot(x[0] - at[0], x[1] - at[1]) / gamma;
        PVT_CHECK(fabs(pvi_projected_gradient(&q.p, pvi_mirror_default(NULL), gamma, x, g, work) - moved) < 0.1,
                  "%s, %s: projected gradient %g, by search %g", set, reg,
                  pvi_projected_gradient(&q.p, pvi_mirror_default(NULL), gamma, x, g, work), moved);
        if (!q.p.reg->grad) continue;
        PVT_CHECK(fabs(pvi_frank_wolfe_gap(&q.p, x, g, work) - gap) < 0.02, "%s, %s: gap %g, by search %g", set, reg,
                  pvi_frank_wolfe_gap(&q.p, x, g, work), gap);
    }
    close_plane(&q);
}

static void measures_agree_with_a_search(void **state)
{
    (void)state;
    static const char *const sets[] = { "l2ball", "l1ball", "linfball" }, *const regs[] = { "none", "l2", "l1" };
    for (int s = 0; s < 3; s++)
        for (int r = 0; r < 3; r++) by_search(sets[s], regs[r]);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(lanczos_agrees_with_the_dense_solver),
        cmocka_unit_test(a_hundred_thousand_weights),
        cmocka_unit_test(measures_agree_with_a_search),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
