/* test_glm.c - the GLM model on every instruction set against plain double loops. */
#include "arenatest.h"
#include "modeltest.h"

extern const pv_model_ops pv_model_glm;
extern const pv_loss_ops pv_loss_logistic, pv_loss_squared, pv_loss_weighted;
static const double uneven[2] = {
    3, 0.2
}; /* class_weight, prevalence of pv_loss_weighted: +1 counts 12 times as much */

static double slope(const pv_loss_ops *loss, double dot, double y)
{
    if (loss == &pv_loss_weighted) return slope(&pv_loss_logistic, dot, y) / (y > 0 ? 1 : 12);
    return loss == &pv_loss_logistic ? -y / (1 + exp(y * dot)) : dot - y;
}

static double loss_value(const pv_loss_ops *loss, double dot, double y)
{
    if (loss == &pv_loss_weighted) return loss_value(&pv_loss_logistic, dot, y) / (y > 0 ? 1 : 12);
    return loss == &pv_loss_logistic ? log1p(exp(-y * dot)) : (dot - y) * (dot - y) / 2;
}

typedef struct fixture {
    pvi_glm_cfg cfg;
    pvi_glm_state st;
    pv_domain dom;
    double *w;
    void *scratch;
} fixture;

static fixture start(const mt_rows *t, const pv_loss_ops *loss, int isa, uint64_t seed)
{
    fixture f = { .cfg = { loss, loss == &pv_loss_weighted ? uneven : NULL },
                  .dom = { .n = t->n, .p = t->p, .row_norm = 10 } };
    f.w = malloc((size_t)t->p * sizeof *f.w);
    for (int64_t j = 0; j < t->p; j++) f.w[j] = pvt_normal(&seed);
    PVT_OK(pv_model_glm.begin(&f.st, &f.cfg, &f.dom, f.w, 0, arena));
    f.st.kernel = pvi_glm_kernel_isa[isa];
    f.scratch = aligned_alloc(64, (pv_model_glm.scratch(&f.cfg, &f.dom, t->n) + 63) / 64 * 64);
    return f;
}

static void stop(fixture *f)
{
    free(f->w), free(f->scratch);
}

static void compare(const fixture *f, const mt_rows *t, const pv_rows *v, double clip)
{
    float *g = calloc((size_t)t->p + 1, sizeof *g), *score = calloc((size_t)t->n + 1, sizeof *score);
    double *want = calloc((size_t)t->p, sizeof *want), total = 0, value = 0;
    int64_t bad = 3;
    g[t->p] = score[t->n] = 77;
    pv_model_glm.grad_sum(&f->st, &f->cfg, v, clip, g, &bad, f->scratch);
    pv_model_glm.predict(&f->st, &f->cfg, v, score, f->scratch);
    for (int64_t i = 0; i < v->n; i++) {
        const float *x = mt_row(t, v, i);
        const int64_t r = v->pick ? v->pick[i] : i;
        const double dot = mt_dot(x, f->w, t->p);
        double c = slope(f->cfg.loss, dot, t->y[r]);
        if (fabs(c) * (double)t->norm[r] > clip) c = copysign(clip / (double)t->norm[r], c);
        for (int64_t j = 0; j < t->p; j++) want[j] += c * (double)x[j];
        total += fabs(c) * (double)t->norm[r];
        value += loss_value(f->cfg.loss, dot, t->y[r]);
        PVT_NEAR(score[i], dot, 2e-6 * (1 + fabs(dot)) * sqrt((double)t->p));
    }
    for (int64_t j = 0; j < t->p; j++)
        PVT_NEAR(g[j], want[j], 1e-5 * (1 + total) / sqrt((double)t->p) + 4e-6 * total);
    PVT_NEAR(pv_model_glm.value_sum(&f->st, &f->cfg, v, f->scratch), value, 1e-5 * (1 + value));
    PVT_IS(bad, 3);
    PVT_TRUE(g[t->p] == 77 && score[t->n] == 77);
    free(g), free(score), free(want);
}

static void shapes(void **state)
{
    (void)state;
    static const int64_t rows[] = { 1, 2, 7, 8, 9, 64, 256, 300 };
    static const double clips[] = { 0.05, 1, 1e6 };
    for (int64_t p = 1; p <= 72; p++) {
        const int64_t q = p == 71 ? 784 : p == 72 ? 1030 : p;
        const int64_t n = rows[p % 8];
        for (int isa = 0; isa <= (int)pvi_isa(); isa++)
            for (int l = 0; l < 3; l++) {
                const pv_loss_ops *const losses[] = { &pv_loss_logistic, &pv_loss_squared, &pv_loss_weighted },
                                         *const loss = losses[l];
                mt_rows t = mt_make((uint64_t)p, n, q, 2, l == 1 ? 0 : 2);
                fixture f = start(&t, loss, isa, (uint64_t)p + 99);
                for (int how = 0; how < 4; how++) {
                    const pv_rows v = mt_view(&t, how & 1, how & 2);
                    compare(&f, &t, &v, clips[(p + how) % 3]);
                }
                stop(&f);
                mt_free(&t);
            }
    }
}

/* A row not in the list, a row of zeros in the list: the same bits; also at another place in the list. */
static void zero_rows_leave_no_trace(void **state)
{
    (void)state;
    enum { N = 130, P = 54 };
    mt_rows t = mt_make(4, N, P, 2, 2);
    const int64_t zero = 17;
    for (int64_t j = 0; j < P; j++) t.x[zero * t.ld + j] = 0;
    mt_norms(&t);
    mt_csr(&t);
    for (int isa = 0; isa <= (int)pvi_isa(); isa++)
        for (int dense = 0; dense < 2; dense++) {
            fixture f = start(&t, &pv_loss_logistic, isa, 5);
            float with[P] = { 0 }, without[P] = { 0 };
            int64_t bad = 0, n = 0;
            pv_rows v = mt_view(&t, dense, true);
            for (int64_t i = 0; i < N; i++) t.pick[i] = i;
            pv_model_glm.grad_sum(&f.st, &f.cfg, &v, 0.5, with, &bad, f.scratch);
            for (int64_t i = 0; i < N; i++)
                if (i != zero) t.pick[n++] = i;
            v.n = n;
            pv_model_glm.grad_sum(&f.st, &f.cfg, &v, 0.5, without, &bad, f.scratch);
            assert_memory_equal(with, without, sizeof with);
            stop(&f);
        }
    mt_free(&t);
}

static void bad_rows_count_and_add_nothing(void **state)
{
    (void)state;
    enum { N = 21, P = 5 };
    mt_rows t = mt_make(6, N, P, 1, 0);
    t.y[2] = NAN;
    t.y[9] = INFINITY;
    t.norm[20] = -1;
    t.norm[19] = INFINITY;
    for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
        fixture f = start(&t, &pv_loss_squared, isa, 5);
        float all[P] = { 0 }, good[P] = { 0 };
        int64_t bad = 0, n = 0;
        pv_rows v = mt_view(&t, true, false);
        pv_model_glm.grad_sum(&f.st, &f.cfg, &v, 0.5, all, &bad, f.scratch);
        PVT_IS(bad, 4);
        for (int64_t i = 0; i < N; i++)
            if (i != 2 && i != 9 && i < 19) t.pick[n++] = i;
        v.pick = t.pick;
        v.n = n;
        pv_model_glm.grad_sum(&f.st, &f.cfg, &v, 0.5, good, &bad, f.scratch);
        PVT_IS(bad, 4);
        assert_memory_equal(all, good, sizeof all);
        stop(&f);
    }
    mt_free(&t);
}

/* Vectors have the gains of pvi_gain, whose bound test_row_norm.c checks, bit for bit. */
static void gains_are_those_of_one_row(void **state)
{
    (void)state;
    static const float norms[] = { 0,        1e-45f,   1e-42f, 0x1p-126f, 1e-30f,   0x1p-60f, 1e-5f,    0.25f,
                                   0.3f,     0.99999f, 1,      1.000001f, 7,        1e6f,     0x1p60f,  0x1.8p60f,
                                   1e30f,    8e31f,    9e31f,  1e37f,     8.4e37f,  8.6e37f,  3.4e38f,  INFINITY,
                                   0x1p-61f, 3e-20f,   2.5f,   1e-6f,     0x1p126f, 0x1p127f, 0x1p-61f, -1 };
    static const float bounds[] = { 1, 0.25f, 1e-6f, 1e6f, INFINITY };
    for (int isa = 0; isa <= (int)pvi_isa(); isa++)
        for (int k = 0; k < 10; k++) {
            const pv_rows rows = { .bound = bounds[k / 2], .unit = k & 1 && k < 8 };
            float s[32], m[32];
            for (int i = 0; i < 32; i++) m[i] = 3;
            PVT_IS(pvi_glm_kernel_isa[isa]->gain(&rows, 32, norms, s, m), PVI_GAIN_ODD);
            for (int i = 0; i < 32; i++) {
                PVT_CHECK(s[i] == pvi_gain(&rows, norms[i]), "norm %g: %.9g", (double)norms[i], (double)s[i]);
                PVT_TRUE(m[i] == 3 * s[i]);
            }
            for (int i = 0; i < 32; i++) s[i] = norms[i] >= 0x1p-60f && norms[i] <= 0x1p60f ? norms[i] : 0;
            PVT_IS(pvi_glm_kernel_isa[isa]->gain(&rows, 32, s, m, m), PVI_GAIN_SOME);
            for (int i = 0; i < 32; i++) s[i] = pvi_pad_norm(&rows), m[i] = 3;
            PVT_IS(pvi_glm_kernel_isa[isa]->gain(&rows, 32, s, s, m), PVI_GAIN_ONE);
            PVT_TRUE(pvi_gain(&rows, s[0]) == 1 && m[0] == 3 && m[31] == 3);
        }
}

static void refuses_weights_beyond_float(void **state)
{
    (void)state;
    const pv_domain dom = { .n = 1, .p = 2, .row_norm = 1 };
    const pvi_glm_cfg cfg = { &pv_loss_logistic, NULL };
    const double w[][2] = { { 0, NAN }, { 1e39, 0 }, { 0, -INFINITY } };
    pvi_glm_state st = { 0 };
    for (int i = 0; i < 3; i++) PVT_IS(pv_model_glm.begin(&st, &cfg, &dom, w[i], 0, arena), PV_E_NUMERIC);
}

static void constants_and_shape(void **state)
{
    (void)state;
    const pv_domain dom = { .n = 1, .p = 12, .row_norm = 3 };
    const pvi_glm_cfg logistic = { &pv_loss_logistic, NULL }, squared = { &pv_loss_squared, NULL };
    double G, L;
    pv_model_glm.constants(&logistic, &dom, &G, &L);
    PVT_NEAR(G, 3, 0);
    PVT_NEAR(L, 2.25, 0);
    pv_model_glm.constants(&squared, &dom, &G, &L);
    PVT_TRUE(isinf(G));
    PVT_NEAR(L, 9, 0);
    PVT_IS(pv_model_glm.dim(&logistic, &dom), 12);
    PVT_IS(pv_model_glm.outputs(&logistic, &dom), 1);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(shapes),
                                      cmocka_unit_test(zero_rows_leave_no_trace),
                                      cmocka_unit_test(bad_rows_count_and_add_nothing),
                                      cmocka_unit_test(gains_are_those_of_one_row),
                                      cmocka_unit_test(refuses_weights_beyond_float),
                                      cmocka_unit_test(constants_and_shape) };
    return cmocka_run_group_tests(all, setup, teardown);
}
