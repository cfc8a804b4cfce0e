/* test_softmax.c - the softmax model on every instruction set against plain double loops. */
#include "arenatest.h"
#include "modeltest.h"

extern const pv_model_ops pv_model_softmax;

typedef struct fixture {
    pvi_softmax_state st;
    pv_domain dom;
    double *w;
    void *scratch;
} fixture;

static fixture start(const mt_rows *t, int64_t k, int isa, double scale)
{
    fixture f = { .dom = { .n = t->n, .p = t->p, .row_norm = 10, .classes = k } };
    uint64_t seed = 31;
    f.w = malloc((size_t)(k * t->p) * sizeof *f.w);
    for (int64_t j = 0; j < k * t->p; j++) f.w[j] = scale * pvt_normal(&seed);
    PVT_OK(pv_model_softmax.begin(&f.st, NULL, &f.dom, f.w, 0, arena));
    f.st.kernel = pvi_softmax_kernel_isa[isa];
    f.scratch = aligned_alloc(64, (pv_model_softmax.scratch(NULL, &f.dom, t->n) + 63) / 64 * 64);
    return f;
}

static void stop(fixture *f)
{
    free(f->w), free(f->scratch);
}

static int64_t label(const mt_rows *t, int64_t k, int64_t r)
{
    return k == 2 ? t->y[r] > 0 : (int64_t)t->y[r];
}

/* Logits, p - e_y and loss of one row. */
static double truth(const fixture *f, const float *x, int64_t y, double *z, double *q)
{
    const int64_t k = f->dom.classes, p = f->dom.p;
    double sum = 0, top = -INFINITY;
    for (int64_t c = 0; c < k; c++) {
        z[c] = mt_dot(x, f->w + c * p, p);
        top = fmax(top, z[c]);
    }
    for (int64_t c = 0; c < k; c++) sum += exp(z[c] - top);
    for (int64_t c = 0; c < k; c++) q[c] = exp(z[c] - top) / sum - (c == y);
    return log(sum) + top - z[y];
}

static void compare(const fixture *f, const mt_rows *t, const pv_rows *v, double clip)
{
    const int64_t k = f->dom.classes, p = t->p, outs = k == 2 ? 1 : k;
    float *g = calloc((size_t)(k * p) + 1, sizeof *g), *score = calloc((size_t)(t->n * outs) + 1, sizeof *score);
    double *want = calloc((size_t)(k * p), sizeof *want), z[64], q[64], value = 0, total = 0;
    int64_t bad = 0;
    g[k * p] = score[t->n * outs] = 77;
    pv_model_softmax.grad_sum(&f->st, NULL, v, clip, g, &bad, f->scratch);
    pv_model_softmax.predict(&f->st, NULL, v, score, f->scratch);
    for (int64_t i = 0; i < v->n; i++) {
        const float *x = mt_row(t, v, i);
        const int64_t r = v->pick ? v->pick[i] : i;
        double size = 0;
        value += truth(f, x, label(t, k, r), z, q);
        for (int64_t c = 0; c < k; c++) size += q[c] * q[c];
        size = sqrt(size) * (double)t->norm[r];
        const double scale = size > clip ? clip / size : 1;
        for (int64_t c = 0; c < k; c++)
            for (int64_t j = 0; j < p; j++) want[c * p + j] += scale * q[c] * (double)x[j];
        total += fmin(size, clip);
        for (int64_t c = 0; c < outs; c++)
            PVT_NEAR(score[i * outs + c], k == 2 ? z[1] - z[0] : z[c], 1e-5 * (1 + fabs(z[c])));
    }
    for (int64_t j = 0; j < k * p; j++) PVT_NEAR(g[j], want[j], 3e-6 * (1e-3 + total));
    PVT_NEAR(pv_model_softmax.value_sum(&f->st, NULL, v, f->scratch), value, 1e-5 * (1 + value));
    PVT_IS(bad, 0);
    PVT_TRUE(g[k * p] == 77 && score[t->n * outs] == 77);
    free(g), free(score), free(want);
}

static void shapes(void **state)
{
    (void)state;
    static const int64_t rows[] = { 1, 2, 3, 5, 16, 64, 65, 200 }, classes[] = { 2, 3, 4, 5, 6, 9, 10, 11, 17, 33 };
    static const double clips[] = { 0.05, 1, 1e6 };
    for (int64_t p = 1; p <= 71; p++) {
        const int64_t k = classes[p % 10], n = rows[p % 8];
        mt_rows t = mt_make((uint64_t)p, n, p == 71 ? 784 : p, 2, k);
        for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
            fixture f = start(&t, k, isa, 2);
            for (int how = 0; how < 4; how++) {
                const pv_rows v = mt_view(&t, how & 1, how & 2);
                compare(&f, &t, &v, clips[(p + how) % 3]);
            }
            stop(&f);
        }
        mt_free(&t);
    }
}

/* Logits of 10^6 and more: finite losses, saturated probabilities, the exact norm at the clip. */
static void extreme_logits(void **state)
{
    (void)state;
    enum { N = 40, P = 7, K = 5 };
    mt_rows t = mt_make(3, N, P, 2, K);
    for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
        fixture f = start(&t, K, isa, 1e6);
        const pv_rows v = mt_view(&t, true, false);
        compare(&f, &t, &v, 1.0);
        stop(&f);
    }
    mt_free(&t);
}

/* A confident success keeps its relative precision: p_y - 1 would be 0 in float. */
static void small_gradients_survive(void **state)
{
    (void)state;
    float x[1] = { 1 }, y[1] = { 1 }, norm[1] = { 1 }, g[3] = { 0 };
    const double w[3] = { 0, 30, 1 };
    const mt_rows t = { .n = 1, .p = 1 };
    const pv_rows v = { .n = 1, .p = 1, .ld = 1, .x = x, .y = y, .norm = norm, .bound = INFINITY };
    int64_t bad = 0;
    fixture f = start(&t, 3, PVI_ISA_BASE, 1);
    PVT_OK(pv_model_softmax.begin(&f.st, NULL, &f.dom, w, 0, arena));
    pv_model_softmax.grad_sum(&f.st, NULL, &v, 10, g, &bad, f.scratch);
    PVT_REL(g[1], -(exp(-30) + exp(-29)), 1e-6);
    PVT_REL(g[0], exp(-30), 1e-6);
    stop(&f);
}

static void bad_rows(void **state)
{
    (void)state;
    enum { N = 20, P = 4, K = 3 };
    mt_rows t = mt_make(8, N, P, 1, K);
    t.y[3] = 3;
    t.y[4] = NAN;
    t.y[5] = 0.5f;
    t.norm[6] = NAN;
    t.norm[7] = INFINITY;
    for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
        fixture f = start(&t, K, isa, 1);
        float all[P * K] = { 0 }, good[P * K] = { 0 };
        pv_rows v = mt_view(&t, true, false);
        int64_t bad = 0, n = 0;
        pv_model_softmax.grad_sum(&f.st, NULL, &v, 0.5, all, &bad, f.scratch);
        PVT_IS(bad, 5);
        for (int64_t i = 0; i < N; i++)
            if (i < 3 || i > 7) t.pick[n++] = i;
        v.pick = t.pick;
        v.n = n;
        pv_model_softmax.grad_sum(&f.st, NULL, &v, 0.5, good, &bad, f.scratch);
        assert_memory_equal(all, good, sizeof all);
        stop(&f);
    }
    mt_free(&t);
}

static void constants_and_refusals(void **state)
{
    (void)state;
    pv_domain dom = { .n = 1, .p = 3, .row_norm = 2, .classes = 4 };
    pvi_softmax_state st = { 0 };
    double G, L, w[12] = { 0 };
    pv_model_softmax.constants(NULL, &dom, &G, &L);
    PVT_NEAR(G, 2.8284271247461903, 1e-15);
    PVT_NEAR(L, 2, 0);
    PVT_IS(pv_model_softmax.dim(NULL, &dom), 12);
    PVT_IS(pv_model_softmax.outputs(NULL, &dom), 4);
    PVT_OK(pv_model_softmax.begin(&st, NULL, &dom, w, 0, arena));
    w[11] = -1e300;
    PVT_IS(pv_model_softmax.begin(&st, NULL, &dom, w, 0, arena), PV_E_NUMERIC);
    dom.classes = 0;
    PVT_IS(pv_model_softmax.begin(&st, NULL, &dom, w, 0, arena), PV_E_UNSUPPORTED);
    dom.classes = 2;
    PVT_IS(pv_model_softmax.outputs(NULL, &dom), 1);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(shapes), cmocka_unit_test(extreme_logits),
                                      cmocka_unit_test(small_gradients_survive), cmocka_unit_test(bad_rows),
                                      cmocka_unit_test(constants_and_refusals) };
    return cmocka_run_group_tests(all, setup, teardown);
}
