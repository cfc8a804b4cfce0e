/* test_joint.c - gradient and Hessian in one pass, for every model that has second derivatives:
 *   (M1) a row's vector (g, s svec(H)) has norm at most B, its parts at most C and K; convex: H is semidefinite
 *   (M2) the float sum of m rows is within rounding(m) B of the sum of its rows
 *   (M3) rows are added one after the other
 * and the Hessian is the derivative of the gradient.  A row's own vector is read from a sum of one row: exact but for
 * the product of coefficient and entries, a rounding of 2^-24 each.
 * Models that offer second moments and transformed rows: what a row adds is x x' times one number for all rows and
 * within its bound, transformed rows are products with the matrix within the bound of their norm, rows marked as bad
 * add nothing to either, and (M1) holds for transformed rows of any length. */
#include "arenatest.h"
#include "modeltest.h"

enum { N = 300, P = 13 };

typedef struct fixture {
    const pv_model_ops *model;
    const void *cfg;
    const char *name;
    pv_domain dom;
    pv_joint j;
    int64_t d, h; /* weights; numbers of the Hessian */
    void *st, *scratch;
    mt_rows t;
    double *w;
} fixture;
typedef void joint_check(fixture *f);

static void begin(fixture *f)
{
    PVT_OK(f->model->begin(f->st, f->cfg, &f->dom, f->w, 0, arena));
}

/* The bounds for this clip and weight of the Hessian. */
static void choose(fixture *f, double clip, double weight)
{
    double G, L;
    f->model->constants(f->cfg, &f->dom, &G, &L);
    f->j.grad = fmin(clip, G);
    f->model->hess->bounds(f->cfg, &f->dom, &f->j);
    f->j.scale = weight * f->j.grad / f->j.hess;
    f->j.clip = f->model->hess->norm(f->cfg, &f->dom, &f->j);
    PVT_TRUE(f->j.clip >= f->j.grad);
    PVT_TRUE(f->j.clip <= hypot(f->j.grad, f->j.scale * f->j.hess) * (1 + 1e-12));
}

static void run(const pv_model_ops *model, const void *cfg, const char *name, int64_t classes, joint_check *check)
{
    fixture f = { .model = model, .cfg = cfg, .name = name };
    uint64_t seed = 77;
    if (!model->hess) return;
    f.dom = (pv_domain) { .n = N, .p = P, .classes = classes, .y_lo = -10, .y_hi = 10 };
    f.t = mt_make(2, N, P, 1, classes);
    for (int64_t i = 0; i < N; i++) {
        const float scale = (float)pow(10, -2 + 2 * pvt_uniform(&seed));
        for (int64_t k = 0; k < P; k++) f.t.x[i * f.t.ld + k] *= scale;
    }
    mt_norms(&f.t);
    mt_csr(&f.t);
    for (int64_t i = 0; i < N; i++) f.dom.row_norm = fmax(f.dom.row_norm, (double)f.t.norm[i]);
    f.d = model->dim(cfg, &f.dom);
    f.st = calloc(1, model->head.state_size);
    f.scratch =
        aligned_alloc(64, (model->hess->scratch(cfg, &f.dom) + model->scratch(cfg, &f.dom, N) + 127) / 64 * 64);
    f.w = calloc((size_t)f.d, sizeof *f.w);
    for (int64_t k = 0; k < f.d; k++) f.w[k] = 2 * pvt_normal(&seed);
    begin(&f);
    choose(&f, 1.0, 1.0);
    f.h = f.j.blocks * (f.j.blocks + 1) / 2 * P * (P + 1) / 2;
    PVT_IS(f.j.blocks * f.j.width, f.d);
    check(&f);
    mt_free(&f.t);
    free(f.st), free(f.scratch), free(f.w);
}

static void for_each(joint_check *check)
{
    const pv_plugin *head, *loss;
    for (int64_t i = 0; (head = pv_nth(PV_KIND_model, i)) != NULL; i++) {
        const pv_model_ops *model = (const pv_model_ops *)(const void *)head;
        if (strcmp(head->name, "softmax") == 0) {
            run(model, NULL, head->name, 2, check);
            run(model, NULL, head->name, 5, check);
        }
        for (int64_t l = 0; strcmp(head->name, "glm") == 0 && (loss = pv_nth(PV_KIND_loss, l)) != NULL; l++) {
            const pv_loss_ops *ops = (const pv_loss_ops *)(const void *)loss;
            void *loss_cfg = calloc(1, loss->cfg_size + 1);
            pvi_param_defaults(loss->params, loss_cfg);
            const pvi_glm_cfg cfg = { ops, loss_cfg };
            if (ops->props & PV_HESSIAN) run(model, &cfg, loss->name, ops->props & PV_CLASSIFY ? 2 : 0, check);
            free(loss_cfg);
        }
    }
}

static void add(const fixture *f, const pv_rows *v, float *g) /* g: d + h numbers, not cleared */
{
    int64_t bad = 0;
    f->model->hess->sum(f->st, f->cfg, v, &f->j, g, g + f->d, &bad, f->scratch);
    PVT_IS(bad, 0);
}

static void one_row(const fixture *f, bool dense, int64_t r, float *g)
{
    pv_rows v = mt_view(&f->t, dense, false);
    v.pick = &r;
    v.n = 1;
    memset(g, 0, sizeof *g * (size_t)(f->d + f->h));
    add(f, &v, g);
}

/* The whole matrix from the stored blocks, written out entry by entry. */
static void full(const fixture *f, const float *h, double *H)
{
    for (int64_t a = 0; a < f->j.blocks; a++)
        for (int64_t b = 0; b < f->j.blocks; b++)
            for (int64_t r = 0; r < P; r++)
                for (int64_t c = 0; c < P; c++) {
                    const int64_t A = a > b ? a : b, B = a > b ? b : a, R = r > c ? r : c, C = r > c ? c : r;
                    const int64_t at = (A * (A + 1) / 2 + B) * (P * (P + 1) / 2) + R * (R + 1) / 2 + C;
                    H[(a * P + r) * f->d + b * P + c] = (double)h[at];
                }
}

static double frobenius(const fixture *f, const double *H)
{
    double s = 0;
    for (int64_t i = 0; i < f->d * f->d; i++) s += H[i] * H[i];
    return sqrt(s);
}

static void check_bounds(fixture *f)
{
    static const double weights[] = { 0.1, 0.7, 1, 3 };
    float *g = calloc((size_t)(f->d + f->h), sizeof *g);
    double *H = calloc((size_t)(f->d * f->d), sizeof *H), fullest = 0, fullest_hess = 0;
    for (int big = 0; big < 3; big++) {
        for (int64_t k = 0; k < f->d; k++) f->w[k] *= big == 2 ? 1e6 : 0.3;
        begin(f);
        for (int k = 0; k < 8; k++) {
            choose(f, k < 4 ? 1e3 : 0.05, weights[k % 4]);
            for (int64_t r = 0; r < N; r++) {
                double grad = 0;
                one_row(f, r & 1, r, g);
                for (int64_t i = 0; i < f->d; i++) grad += (double)g[i] * (double)g[i];
                full(f, g + f->d, H);
                const double hess = frobenius(f, H), joint = sqrt(grad + f->j.scale * f->j.scale * hess * hess);
                PVT_CHECK(sqrt(grad) <= f->j.grad * (1 + 3e-7), "%s: gradient %g above %g", f->name, sqrt(grad),
                          f->j.grad);
                PVT_CHECK(hess <= f->j.hess * (1 + 3e-7), "%s: Hessian %g above %g", f->name, hess, f->j.hess);
                PVT_CHECK(joint <= f->j.clip * (1 + 3e-7), "%s: joint %g above %g", f->name, joint, f->j.clip);
                fullest = fmax(fullest, joint / f->j.clip);
                fullest_hess = fmax(fullest_hess, hess / f->j.hess);
                for (int64_t i = 0; f->j.convex && i < f->d; i++) PVT_TRUE(H[i * f->d + i] >= 0);
            }
        }
    }
    print_message("%s: fullest row %.3f of B, %.3f of K\n", f->name, fullest, fullest_hess);
    PVT_CHECK(fullest > 0.7, "%s: B is loose: %.3f", f->name, fullest);
    free(g), free(H);
}

/* Second moments of one row: x x'/R^2, of norm at most 1. */
static void check_moments(fixture *f)
{
    float *h = calloc((size_t)f->h, sizeof *h);
    const double R = f->j.row_norm, c = 1.0 / (R * R);
    if (!R) PVT_TRUE(!f->model->hess->moment && !f->model->hess->transform);
    for (int64_t r = 0; R > 0 && r < N; r++) {
        const float *x = f->t.x + r * f->t.ld;
        pv_rows v = mt_view(&f->t, r & 1, false);
        int64_t bad = 0;
        double square = 0;
        v.pick = &r;
        v.n = 1;
        memset(h, 0, sizeof *h * (size_t)f->h);
        f->model->hess->moment(&v, R, h, &bad, f->scratch);
        PVT_IS(bad, 0);
        for (int64_t a = 0, at = 0; a < P; a++)
            for (int64_t b = 0; b <= a; b++, at++) {
                PVT_NEAR((double)h[at], c * (double)x[a] * (double)x[b],
                         2e-6 * c * fabs((double)x[a] * (double)x[b]) + 1e-30);
                square += (a == b ? 1 : 2) * (double)h[at] * (double)h[at];
            }
        PVT_CHECK(sqrt(square) <= 1 + 3e-7, "moment %g", sqrt(square));
        float *norm = &f->t.norm[r], was = *norm;
        *norm = 3.0f * (float)R; /* as if it were longer than declared: it is cut, not believed */
        memset(h, 0, sizeof *h * (size_t)f->h);
        f->model->hess->moment(&v, R, h, &bad, f->scratch);
        for (int64_t a = 0, at = 0; a < P; at += a + 2, a++)
            PVT_NEAR((double)h[at], c / 9.0 * (double)x[a] * (double)x[a], 1e-5 * c * (double)x[a] * (double)x[a]);
        *norm = -1.0f;
        memset(h, 0, sizeof *h * (size_t)f->h);
        f->model->hess->moment(&v, R, h, &bad, f->scratch);
        for (int64_t k = 0; k < f->h; k++) PVT_TRUE(h[k] == 0.0f);
        PVT_IS(bad, 1);
        *norm = was;
    }
    free(h);
}

/* Rows transformed on the way add up to what their copy does, to the bit, whether stored as dense rows or not. */
static void check_same_bits(fixture *f, const float *A, const float *x, const float *norm)
{
    const size_t size = sizeof(float) * (size_t)(f->d + f->h);
    const pv_rows copy = { .n = N, .p = P, .x = x, .ld = P, .y = f->t.y, .norm = norm, .bound = INFINITY };
    float *sum[2] = { malloc(size), malloc(size) };
    for (int dense = 0; f->j.row_norm > 0 && dense < 2; dense++) {
        pv_rows v = mt_view(&f->t, dense, false);
        int64_t bad[2] = { 0 };
        v.A = A;
        for (int k = 0; k < 2; k++) {
            memset(sum[k], 0, size);
            f->model->hess->sum(f->st, f->cfg, k ? &copy : &v, &f->j, sum[k], sum[k] + f->d, &bad[k], f->scratch);
        }
        PVT_IS(bad[0], bad[1]);
        PVT_CHECK(memcmp(sum[0], sum[1], size) == 0, "other bits where rows are %s", dense ? "dense" : "sparse");
    }
    free(sum[0]), free(sum[1]);
}

/* Rows times a matrix that makes some of them a thousand times as long as R. */
static void check_transformed(fixture *f)
{
    enum { LDA = 16 };
    float A[P * LDA] = { 0 }, *x = calloc(N * P, sizeof *x), norm[N], *g = calloc((size_t)(f->d + f->h), sizeof *g);
    double *H = calloc((size_t)(f->d * f->d), sizeof *H);
    uint64_t seed = 9;
    for (int64_t i = 0; i < P; i++)
        for (int64_t k = 0; k <= i; k++)
            A[i * LDA + k] = A[k * LDA + i] = (float)(pvt_normal(&seed) * (i + k == 0 ? 3000 : i == k ? 30 : 0.3));
    f->t.norm[5] = -1.0f;
    for (int dense = 0; f->j.row_norm > 0 && dense < 2; dense++) {
        pv_rows v = mt_view(&f->t, dense, false);
        v.A = A;
        f->model->hess->transform(&v, x, P, norm, f->scratch);
        for (int64_t r = 0; r < N; r++) {
            double square = 0;
            for (int64_t k = 0; k < P; k++) {
                double sum = 0, size = 0;
                for (int64_t i = 0; i < P; i++) {
                    const double z = (double)A[k * LDA + i] * (double)f->t.x[r * f->t.ld + i];
                    sum += z, size += fabs(z);
                }
                PVT_NEAR((double)x[r * P + k], r == 5 ? 0 : sum, 2e-6 * size + 1e-30);
                square += (double)x[r * P + k] * (double)x[r * P + k];
            }
            if (r == 5) PVT_TRUE(norm[r] < 0);
            else PVT_CHECK((double)norm[r] >= sqrt(square) && (double)norm[r] <= sqrt(square) * (1 + 1e-6), "norm");
        }
    }
    f->dom.row_norm = f->j.row_norm > 0 ? INFINITY : f->dom.row_norm; /* as the oracle does */
    begin(f);
    for (int64_t r = 0; f->j.row_norm > 0 && r < N; r++) {
        const pv_rows v = {
            .n = 1, .p = P, .x = x + r * P, .ld = P, .y = f->t.y + r, .norm = norm + r, .bound = INFINITY
        };
        double grad = 0;
        int64_t bad = 0;
        memset(g, 0, sizeof *g * (size_t)(f->d + f->h));
        f->model->hess->sum(f->st, f->cfg, &v, &f->j, g, g + f->d, &bad, f->scratch);
        for (int64_t i = 0; i < f->d; i++) grad += (double)g[i] * (double)g[i];
        full(f, g + f->d, H);
        const double hess = frobenius(f, H);
        PVT_TRUE(sqrt(grad) <= f->j.grad * (1 + 3e-7) && hess <= f->j.hess * (1 + 3e-7));
        PVT_TRUE(sqrt(grad + f->j.scale * f->j.scale * hess * hess) <= f->j.clip * (1 + 3e-7));
    }
    check_same_bits(f, A, x, norm);
    free(x), free(g), free(H);
}

static void check_rounding(fixture *f)
{
    static const int64_t sizes[] = { 1, 3, 17, 64, 256 };
    const int64_t D = f->d + f->h;
    float *g = calloc((size_t)D, sizeof *g), *row = calloc((size_t)D, sizeof *row);
    double *exact = calloc((size_t)D, sizeof *exact);
    choose(f, 0.3, 1.0);
    for (int s = 0; s < 5; s++)
        for (int how = 0; how < 4; how++) {
            pv_rows v = mt_view(&f->t, how & 1, true);
            double error = 0;
            v.n = sizes[s];
            for (int64_t i = 0; i < v.n; i++) f->t.pick[i] = how < 2 ? i : 7;
            memset(g, 0, sizeof *g * (size_t)D);
            memset(exact, 0, sizeof *exact * (size_t)D);
            add(f, &v, g);
            for (int64_t i = 0; i < v.n; i++) {
                one_row(f, how & 1, f->t.pick[i], row);
                for (int64_t k = 0; k < D; k++) exact[k] += (double)row[k];
            }
            for (int64_t k = 0; k < D; k++)
                error += (k < f->d ? 1 : 4 * f->j.scale * f->j.scale) * pow((double)g[k] - exact[k], 2);
            const double bound =
                f->j.clip * (2 * f->model->hess->rounding(f->cfg, v.n, f->d) + (double)v.n * 0x1p-22);
            PVT_CHECK(sqrt(error) <= bound, "%s: %lld rows: error %g, bound %g", f->name, (long long)v.n, sqrt(error),
                      bound);
        }
    PVT_TRUE(f->model->hess->rounding(f->cfg, 256, f->d) < 3e-3);
    free(g), free(row), free(exact);
}

/* A row of zeros and a row that is not finite leave no trace, wherever they stand. */
static void check_sequence(fixture *f)
{
    const int64_t D = f->d + f->h;
    float *all = calloc((size_t)D, sizeof *all), *less = calloc((size_t)D, sizeof *less);
    int64_t bad = 0, rows[N], n = 0;
    for (int64_t k = 0; k < P; k++) f->t.x[100 * f->t.ld + k] = 0;
    f->t.y[200] = NAN;
    mt_norms(&f->t);
    mt_csr(&f->t);
    for (int64_t i = 0; i < N; i++)
        if (i != 100 && i != 200) rows[n++] = i;
    for (int dense = 0; dense < 2; dense++) {
        pv_rows v = mt_view(&f->t, dense, false);
        memset(all, 0, sizeof *all * (size_t)D), memset(less, 0, sizeof *less * (size_t)D);
        f->model->hess->sum(f->st, f->cfg, &v, &f->j, all, all + f->d, &bad, f->scratch);
        v.pick = rows;
        v.n = n;
        f->model->hess->sum(f->st, f->cfg, &v, &f->j, less, less + f->d, &bad, f->scratch);
        for (int64_t k = 0; k < D; k++) PVT_CHECK(all[k] == less[k], "%s: a row without effect shows", f->name);
    }
    PVT_IS(bad, 2);
    free(all), free(less);
}

/* The Hessian against differences of unclipped gradients in direction e: (g(w + t e) - g(w - t e)) / 2t. */
static void check_derivative(fixture *f)
{
    const int64_t D = f->d + f->h;
    const double t = 1e-2;
    float *g = calloc((size_t)D, sizeof *g), *up = calloc((size_t)D, sizeof *up),
          *down = calloc((size_t)D, sizeof *down);
    double *H = calloc((size_t)(f->d * f->d), sizeof *H), *e = calloc((size_t)f->d, sizeof *e), worst = 0, size = 0;
    const pv_rows v = mt_view(&f->t, true, false);
    uint64_t seed = 4;
    for (int64_t k = 0; k < f->d; k++) f->w[k] *= 0.2, e[k] = pvt_normal(&seed) / sqrt((double)f->d);
    choose(f, 1e6, 1.0);
    begin(f);
    add(f, &v, g);
    full(f, g + f->d, H);
    for (int64_t k = 0; k < f->d; k++) f->w[k] += t * e[k];
    begin(f);
    add(f, &v, up);
    for (int64_t k = 0; k < f->d; k++) f->w[k] -= 2 * t * e[k];
    begin(f);
    add(f, &v, down);
    for (int64_t k = 0; k < f->d; k++) {
        double want = 0;
        for (int64_t l = 0; l < f->d; l++) want += H[k * f->d + l] * e[l];
        worst = fmax(worst, fabs(((double)up[k] - (double)down[k]) / (2 * t) - want));
        size = fmax(size, fabs(want));
    }
    PVT_CHECK(worst <= 3e-2 * size, "%s: off by %g of %g", f->name, worst, size);
    free(g), free(up), free(down), free(H), free(e);
}

#define CHECK(name)                                                                                                  \
    static void name##_all(void **state)                                                                             \
    {                                                                                                                \
        (void)state;                                                                                                 \
        for_each(check_##name);                                                                                      \
    }
CHECK(bounds)
CHECK(rounding)
CHECK(sequence)
CHECK(derivative)
CHECK(moments)
CHECK(transformed)

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(bounds_all, setup, teardown),
        cmocka_unit_test_setup_teardown(rounding_all, setup, teardown),
        cmocka_unit_test_setup_teardown(sequence_all, setup, teardown),
        cmocka_unit_test_setup_teardown(derivative_all, setup, teardown),
        cmocka_unit_test_setup_teardown(moments_all, setup, teardown),
        cmocka_unit_test_setup_teardown(transformed_all, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
