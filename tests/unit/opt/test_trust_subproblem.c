/* test_trust_subproblem.c - the trust-region sub-problem against its optimality conditions, which are sufficient:
 *   (H + lambda I) h = -g,   H + lambda I >= 0,   lambda >= 0,   ||h|| <= r,   lambda (||h|| - r) = 0.
 * 10,000 problems: random, indefinite, singular, hard and nearly hard, badly scaled, diagonal, tiny and huge radii.
 * Positive semidefiniteness is decided by a Cholesky factorisation, which shares no code with the solver. */
#include "opt/trust_subproblem.h"
#include "pvtest.h"

enum { MAX = 40 };

typedef struct problem {
    int64_t d;
    double H[MAX * MAX], g[MAX], r;
    const char *kind;
} problem;

/* Random orthogonal Q (product of reflections) to H = Q' diag(e) Q and g = Q' gamma. */
static void rotate(uint64_t *seed, problem *q, const double *e, const double *gamma)
{
    const int64_t d = q->d;
    memset(q->H, 0, sizeof q->H);
    for (int64_t i = 0; i < d; i++) {
        q->H[i * d + i] = e[i];
        q->g[i] = gamma[i];
    }
    for (int k = 0; k < 3; k++) {
        double v[MAX], Hv[MAX], n = 0, c = 0, s = 0;
        for (int64_t i = 0; i < d; i++) v[i] = pvt_normal(seed), n += v[i] * v[i];
        for (int64_t i = 0; i < d; i++) v[i] /= sqrt(n);
        for (int64_t i = 0; i < d; i++) {
            Hv[i] = 0;
            for (int64_t j = 0; j < d; j++) Hv[i] += q->H[i * d + j] * v[j];
            s += v[i] * q->g[i];
        }
        for (int64_t i = 0; i < d; i++) c += v[i] * Hv[i];
        for (int64_t i = 0; i < d; i++) {
            q->g[i] -= 2 * s * v[i];
            for (int64_t j = 0; j < d; j++)
                q->H[i * d + j] += -2 * v[i] * Hv[j] - 2 * Hv[i] * v[j] + 4 * c * v[i] * v[j];
        }
    }
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < i; j++) q->H[i * d + j] = q->H[j * d + i];
}

static void make(uint64_t *seed, int kind, problem *q)
{
    static const char *const names[] = { "random", "definite", "singular", "hard",     "nearly hard",
                                         "scaled", "zero g",   "zero H",   "diagonal", "multiple" };
    double e[MAX], gamma[MAX];
    q->kind = names[kind];
    q->d = 1 + (int64_t)(pvt_u64(seed) % MAX);
    q->r = pow(10, -4 + 8 * pvt_uniform(seed));
    for (int64_t i = 0; i < q->d; i++) {
        e[i] = pvt_normal(seed);
        gamma[i] = pvt_normal(seed);
    }
    int64_t low = 0;
    for (int64_t i = 1; i < q->d; i++)
        if (e[i] < e[low]) low = i;
    switch (kind) {
    case 1:
        for (int64_t i = 0; i < q->d; i++) e[i] = fabs(e[i]) + 1e-3;
        break;
    case 2:
        for (int64_t i = 0; i < q->d; i++) e[i] = i % 3 ? fabs(e[i]) : 0;
        break;
    case 3: e[low] = -fabs(e[low]), gamma[low] = 0; break;
    case 4: e[low] = -fabs(e[low]), gamma[low] *= pow(10, -18 * pvt_uniform(seed)); break;
    case 5:
        for (int64_t i = 0; i < q->d; i++) {
            e[i] *= pow(10, 12 * pvt_uniform(seed) - 6);
            gamma[i] *= pow(10, 12 * pvt_uniform(seed) - 6);
        }
        break;
    case 6: memset(gamma, 0, sizeof gamma); break;
    case 7: memset(e, 0, sizeof e); break;
    case 9:
        for (int64_t i = 0; i < q->d / 2; i++) e[i] = -1, gamma[i] = 0;
        break;
    }
    rotate(seed, q, e, gamma);
    if (kind == 8)
        for (int64_t i = 0; i < q->d; i++)
            for (int64_t j = 0; j < q->d; j++) q->H[i * q->d + j] = i == j ? e[i] : 0;
}

/* Is H + shift I positive definite? */
static bool definite(const problem *q, double shift)
{
    double L[MAX * MAX] = { 0 };
    for (int64_t i = 0; i < q->d; i++)
        for (int64_t j = 0; j <= i; j++) {
            double s = q->H[i * q->d + j] + (i == j ? shift : 0);
            for (int64_t k = 0; k < j; k++) s -= L[i * MAX + k] * L[j * MAX + k];
            if (i == j && !(s > 0)) return false;
            L[i * MAX + j] = i == j ? sqrt(s) : s / L[j * MAX + j];
        }
    return true;
}

static double size_of(int64_t n, const double *x)
{
    double top = 0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    return top;
}

static void check(pv_arena *a, const problem *q)
{
    pvi_trust t = { 0 };
    double h[MAX], n = 0, worst = 0;
    PVT_OK(pvi_trust_open(&t, q->d, a));
    PVT_OK(pvi_trust_solve(&t, q->H, q->g, q->r, h));
    const double E = size_of(q->d * q->d, q->H) * (double)q->d, G = size_of(q->d, q->g);
    for (int64_t i = 0; i < q->d; i++) n += h[i] / q->r * (h[i] / q->r);
    n = sqrt(n); /* ||h|| / r */
    PVT_CHECK(n <= 1 + 1e-10, "%s: ||h|| is %.15g r", q->kind, n);
    PVT_TRUE(t.lambda >= 0);
    PVT_CHECK(t.lambda <= 1e-9 * (E + G / q->r) || n >= 1 - 1e-6, "%s: lambda %g inside, at %.9g r", q->kind,
              t.lambda, n);
    for (int64_t i = 0; i < q->d; i++) {
        double s = t.lambda * h[i] + q->g[i];
        for (int64_t j = 0; j < q->d; j++) s += q->H[i * q->d + j] * h[j];
        worst = fmax(worst, fabs(s));
    }
    PVT_CHECK(worst <= 1e-11 * (G + E * n * q->r), "%s d=%lld: residual %g of %g + %g", q->kind, (long long)q->d,
              worst, G, E * n * q->r);
    PVT_CHECK(definite(q, t.lambda + 1e-12 * E + 1e-300), "%s: H + lambda I is not semidefinite", q->kind);
}

static void ten_thousand_problems(void **state)
{
    (void)state;
    pv_ctx *ctx;
    uint64_t seed = 2024;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (int i = 0; i < 10000; i++) {
        pv_arena *a = pvi_arena_create(ctx);
        problem q;
        make(&seed, i % 10, &q);
        check(a, &q);
        pvi_arena_free(a);
    }
    pv_ctx_free(ctx);
}

/* Above PVI_DENSE_TRUST weights: the same conditions, semidefiniteness by the known spectrum. */
static void large_problems(void **state)
{
    (void)state;
    enum { D = PVI_DENSE_TRUST + 8 };
    pv_ctx *ctx;
    uint64_t seed = 5;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (int kind = 0; kind < 3; kind++) {
        pv_arena *a = pvi_arena_create(ctx);
        double *H = pv_arena_f64(a, D * D), *g = pv_arena_f64(a, D), *h = pv_arena_f64(a, D), n = 0, worst = 0;
        pvi_trust t = { 0 };
        for (int64_t i = 0; i < D; i++) { /* in pairs of coordinates, turned by 30 degrees */
            H[i * D + i] = kind == 0            ? 1 + (double)(i / 2) / D
                           : kind == 1 && i < 2 ? -0.5
                                                : 0.1 + (double)(i / 2) / D;
            g[i] = kind == 2 && i < 2 ? 0 : pvt_normal(&seed);
        }
        if (kind == 2) H[0] = H[D + 1] = -1, H[1] = H[D] = 0.5; /* eigenvalues -1.5, -0.5 that g does not see */
        PVT_OK(pvi_trust_open(&t, D, a));
        PVT_OK(pvi_trust_solve(&t, H, g, kind == 2 ? 100 : 3, h));
        for (int64_t i = 0; i < D; i++) {
            double s = t.lambda * h[i] + g[i];
            for (int64_t j = 0; j < D; j++) s += H[i * D + j] * h[j];
            worst = fmax(worst, fabs(s));
            n += h[i] * h[i];
        }
        print_message("kind %d: %lld products, lambda %g, norm %g\n", kind, (long long)t.products, t.lambda, sqrt(n));
        PVT_CHECK(worst <= 1e-7, "kind %d: residual %g", kind, worst);
        PVT_NEAR(sqrt(n), kind == 2 ? 100 : 3, 1e-6);
        PVT_TRUE(t.lambda >= (kind == 2 ? 1.5 : kind == 1 ? 0.5 : 0) - 1e-9);
        PVT_IS(t.products > 0, kind != 2); /* what Lanczos cannot certify is decomposed */
        pvi_arena_free(a);
    }
    pv_ctx_free(ctx);
}

static void whole_space_and_bad_input(void **state)
{
    (void)state;
    pv_ctx *ctx;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    pv_arena *a = pvi_arena_create(ctx);
    pvi_trust t = { 0 };
    double H[] = { 2, 0, 0, -4 }, g[] = { 2, 8 }, h[2];
    PVT_OK(pvi_trust_open(&t, 2, a));
    PVT_OK(pvi_trust_solve(&t, H, g, INFINITY, h)); /* by |H|: (-1, -2) */
    PVT_NEAR(h[0], -1, 1e-14);
    PVT_NEAR(h[1], -2, 1e-14);
    H[0] = NAN;
    PVT_IS(pvi_trust_solve(&t, H, g, 1, h), PV_E_NUMERIC);
    H[0] = 1, g[1] = INFINITY;
    PVT_IS(pvi_trust_solve(&t, H, g, 1, h), PV_E_NUMERIC);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
}

/* Inexact: as many vectors as dimensions give the solution, one the Cauchy point, more never less of a decrease. */
static void few_vectors(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (int n = 0; n < 200; n++) {
        problem q;
        double h[MAX], best[MAX], last = 0;
        make(&seed, 1, &q);
        pv_ctx *ctx;
        PVT_OK(pv_ctx_create(NULL, &ctx));
        pv_arena *a = pvi_arena_create(ctx);
        pvi_trust exact = { 0 };
        PVT_OK(pvi_trust_open(&exact, q.d, a));
        PVT_OK(pvi_trust_solve(&exact, q.H, q.g, q.r, best));
        for (int64_t k = 1; k <= q.d; k++) {
            pvi_trust t = { .krylov = k };
            double value = 0, gHg = 0, g2 = 0, exactly = 0;
            PVT_OK(pvi_trust_open(&t, q.d, a));
            PVT_OK(pvi_trust_solve(&t, q.H, q.g, q.r, h));
            for (int64_t i = 0; i < q.d; i++) {
                g2 += q.g[i] * q.g[i];
                value += q.g[i] * h[i];
                exactly += q.g[i] * best[i];
                for (int64_t j = 0; j < q.d; j++) {
                    gHg += q.g[i] * q.H[i * q.d + j] * q.g[j];
                    value += 0.5 * h[i] * q.H[i * q.d + j] * h[j];
                    exactly += 0.5 * best[i] * q.H[i * q.d + j] * best[j];
                }
            }
            const double step = fmin(q.r / sqrt(g2), g2 / gHg);
            if (k == 1) PVT_REL(value, -step * g2 + 0.5 * step * step * gHg, 1e-9);
            if (k == q.d) PVT_REL(value, exactly, 1e-7);
            PVT_TRUE(k == 1 || value <= last + 1e-9 * fabs(last));
            last = value;
        }
        pvi_arena_free(a);
        pv_ctx_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(few_vectors), cmocka_unit_test(ten_thousand_problems),
                                      cmocka_unit_test(large_problems), cmocka_unit_test(whole_space_and_bad_input) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
