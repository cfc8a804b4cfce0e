/* test_hess.c - second derivatives: packed sums of every loss against plain double loops with their clip, rounding
 * and order; the curvature of softmax against the
 * plain formula. */
#include "arenatest.h"
#include "modeltest.h"

extern const pv_model_ops pv_model_glm;

enum { N = 90, P = 37 };
static const float MARK = 0x1p-2f;

typedef struct fixture {
    pvi_glm_cfg cfg;
    pvi_glm_state st;
    pv_domain dom;
    mt_rows t;
    double w[P];
    void *loss_cfg, *scratch;
} fixture;

static void start(fixture *f, const pv_loss_ops *loss)
{
    uint64_t seed = 3;
    memset(f, 0, sizeof *f);
    f->t = mt_make(12, N, P, 1.5, loss->props & PV_CLASSIFY ? 2 : 0);
    for (int64_t i = 0; i < N; i++) f->t.x[i * f->t.ld + P - 1] = MARK;
    mt_norms(&f->t);
    mt_csr(&f->t);
    f->dom = (pv_domain) { .n = N, .p = P };
    for (int64_t i = 0; i < N; i++) f->dom.row_norm = fmax(f->dom.row_norm, (double)f->t.norm[i]);
    for (int64_t j = 0; j < P; j++) f->w[j] = pvt_normal(&seed);
    f->loss_cfg = calloc(1, loss->head.cfg_size + 1);
    pvi_param_defaults(loss->head.params, f->loss_cfg);
    f->cfg = (pvi_glm_cfg) { loss, f->loss_cfg };
    PVT_OK(pv_model_glm.begin(&f->st, &f->cfg, &f->dom, f->w, 0, arena));
    f->scratch = aligned_alloc(64, (pvi_glm_hess_scratch(P) + 63) / 64 * 64);
}

static void stop(fixture *f)
{
    mt_free(&f->t);
    free(f->loss_cfg), free(f->scratch);
}

enum { D = P * (P + 1) / 2 };

static void add(const fixture *f, const pv_rows *v, double clip, float h[D])
{
    const pv_joint j = { .scale = 1, .grad = 1, .hess = clip, .clip = INFINITY };
    float g[P] = { 0 };
    int64_t bad = 0;
    pvi_glm_hess.sum(&f->st, &f->cfg, v, &j, g, h, &bad, f->scratch);
    PVT_IS(bad, 0);
}

static void sum(const fixture *f, const pv_rows *v, double clip, float h[D])
{
    memset(h, 0, D * sizeof *h);
    add(f, v, clip, h);
}

/* The coefficient of row r, read exactly through the marker column. */
static double coefficient(const fixture *f, bool dense, int64_t r, double clip)
{
    float h[D];
    pv_rows v = mt_view(&f->t, dense, false);
    v.pick = &r;
    v.n = 1;
    sum(f, &v, clip, h);
    return (double)h[D - 1] / (double)(MARK * MARK);
}

static double curvature(const fixture *f, int64_t r)
{
    const float *x = f->t.x + r * f->t.ld;
    const double dot = mt_dot(x, f->w, P), y = (double)f->t.y[r];
    const float m = (float)(f->cfg.loss->props & PV_MARGIN ? y * dot : dot - y);
    float d2;
    f->cfg.loss->eval(f->loss_cfg, 1, &m, NULL, NULL, &d2);
    return (double)d2;
}

/* (M1) and the value of each coefficient, then (M2) of the whole sum: all rows, or one row again and again. */
static void check_sum(fixture *f, bool dense, bool repeat, double clip)
{
    const pv_rows v = mt_view(&f->t, dense, true);
    double exact[D] = { 0 }, error = 0;
    float h[D];
    for (int64_t i = 0; i < N; i++) {
        const int64_t r = f->t.pick[i] = repeat ? 11 : i;
        const float *x = f->t.x + r * f->t.ld;
        const double c = coefficient(f, dense, r, clip), raw = curvature(f, r);
        double xx = 0;
        for (int64_t j = 0; j < P; j++) xx += (double)x[j] * (double)x[j];
        PVT_TRUE(fabs(c) * xx <= clip * (1 + 1e-14));
        PVT_NEAR(c, fabs(raw) * xx > clip ? copysign(clip / xx, raw) : raw, 2e-5);
        for (int64_t a = 0, k = 0; a < P; a++)
            for (int64_t b = 0; b <= a; b++) exact[k++] += c * (double)x[a] * (double)x[b];
    }
    sum(f, &v, clip, h);
    for (int64_t a = 0, k = 0; a < P; a++)
        for (int64_t b = 0; b <= a; b++, k++) error += (a == b ? 1 : 2) * pow((double)h[k] - exact[k], 2);
    PVT_CHECK(sqrt(error) <= clip * pvi_glm_hess_rounding(N, P), "%s: error %g, bound %g", f->cfg.loss->head.name,
              sqrt(error), clip * pvi_glm_hess_rounding(N, P));
}

/* (M3) */
static void check_sequence(fixture *f, bool dense)
{
    pv_rows v = mt_view(&f->t, dense, false);
    float group[D], single[D] = { 0 };
    sum(f, &v, 0.4, group);
    for (int64_t i = 0; i < N; i++) {
        v.pick = &i;
        v.n = 1;
        add(f, &v, 0.4, single);
    }
    assert_memory_equal(group, single, sizeof group);
}

static void every_loss(void **state)
{
    (void)state;
    const pv_plugin *head;
    static fixture f;
    for (int64_t l = 0; (head = pv_nth(PV_KIND_loss, l)) != NULL; l++) {
        const pv_loss_ops *loss = (const pv_loss_ops *)(const void *)head;
        start(&f, loss);
        for (int dense = 0; dense < 2; dense++) {
            double sup[3];
            pvi_loss_sup(loss, f.loss_cfg, sup);
            for (int repeat = 0; repeat < 2; repeat++) {
                check_sum(&f, dense, repeat, 0.01);
                check_sum(&f, dense, repeat, 0.3);
                check_sum(&f, dense, repeat, sup[1] * f.dom.row_norm * f.dom.row_norm);
            }
            check_sequence(&f, dense);
        }
        stop(&f);
    }
}

/* At clip = sup|phi''| R^2 nothing is touched, not even by a rounding. */
static void nothing_clipped_at_the_bound(void **state)
{
    (void)state;
    static fixture f;
    start(&f, (const pv_loss_ops *)(const void *)pv_find(PV_KIND_loss, "squared"));
    for (int64_t r = 0; r < N; r++) PVT_TRUE(coefficient(&f, true, r, f.dom.row_norm * f.dom.row_norm) == 1);
    stop(&f);
}

static void kernels_on_all_shapes(void **state)
{
    (void)state;
    static const int64_t rows[] = { 1, 3, 64 };
    for (int64_t p = 1; p <= 71; p++) {
        const int64_t q = p == 71 ? 150 : p, ldt = (q + 15) / 16 * 16, n = rows[p % 3], d = q * (q + 1) / 2;
        mt_rows t = mt_make((uint64_t)p, n, q, 1, 2);
        const float *row[64];
        float c[64], *scaled = malloc((size_t)(n * ldt) * sizeof *scaled), *h = malloc((size_t)(d + 1) * sizeof *h);
        for (int64_t i = 0; i < n; i++) {
            row[i] = t.x + i * t.ld;
            c[i] = 0.5f - (float)(i % 4) / 4;
        }
        for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
            for (int64_t k = 0; k <= d; k++) h[k] = 1;
            pvi_hess_kernel_isa[isa]->scale(row, n, q, 0.0f, c, scaled, ldt);
            pvi_hess_kernel_isa[isa]->add(row, n, q, scaled, ldt, h);
            for (int64_t a = 0, k = 0; a < q; a++)
                for (int64_t b = 0; b <= a; b++, k++) {
                    double want = 1;
                    for (int64_t i = 0; i < n; i++) want += (double)c[i] * (double)row[i][a] * (double)row[i][b];
                    PVT_NEAR(h[k], want, 1e-5);
                }
            PVT_TRUE(h[d] == 1);
        }
        mt_free(&t);
        free(scaled), free(h);
    }
}

/* Softmax: a <- p_c (a_c - sum_b p_b a_b) against the plain formula, on every instruction set. */
static void softmax_curvature(void **state)
{
    (void)state;
    static const int64_t classes[] = { 2, 3, 7, 10 };
    enum { ROWS = PVI_SOFT_ROWS, MOST = 10 };
    static _Alignas(64) float z[MOST * ROWS], a[MOST * ROWS];
    for (int trial = 0; trial < 16; trial++)
        for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
            const int64_t k = classes[trial % 4], n = 16 * (1 + trial / 4);
            double want[MOST * ROWS];
            uint64_t seed = 6 + (uint64_t)trial;
            for (int64_t j = 0; j < k * ROWS; j++)
                z[j] = (float)(3 * pvt_normal(&seed)), a[j] = (float)pvt_normal(&seed);
            for (int64_t i = 0; i < n; i++) {
                double total = 0, mean = 0;
                for (int64_t c = 0; c < k; c++) {
                    total += exp((double)z[c * ROWS + i]);
                    mean += exp((double)z[c * ROWS + i]) * (double)a[c * ROWS + i];
                }
                for (int64_t c = 0; c < k; c++)
                    want[c * ROWS + i] =
                        exp((double)z[c * ROWS + i]) / total * ((double)a[c * ROWS + i] - mean / total);
            }
            pvi_softmax_kernel_isa[isa]->curvature(n, k, z, a);
            for (int64_t i = 0; i < n; i++)
                for (int64_t c = 0; c < k; c++) PVT_NEAR(a[c * ROWS + i], want[c * ROWS + i], 1e-6);
        }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(every_loss), cmocka_unit_test(nothing_clipped_at_the_bound),
                                      cmocka_unit_test(kernels_on_all_shapes), cmocka_unit_test(softmax_curvature) };
    return cmocka_run_group_tests(all, setup, teardown);
}
