/* test_models.c - the promises (M1), (M2), (M3) of every linear model of the registry, the GLM with every loss.
 *
 * The models here are linear in the row: a row adds q x' with q of d/p numbers.  A last column that is a power
 * of two in every row therefore shows q exactly, and the exact sum can be formed in double from it. */
#include "arenatest.h"
#include "modeltest.h"

enum { P = 54, N = 300 };
static const float MARK = 0x1p-3f;

typedef struct fixture {
    const pv_model_ops *model;
    const void *cfg;
    const char *name;
    pv_domain dom;
    int64_t d;
    void *st, *scratch;
    mt_rows t;
    double *w;
} fixture;

typedef void model_check(fixture *f);

static void begin(fixture *f)
{
    PVT_OK(f->model->begin(f->st, f->cfg, &f->dom, f->w, 0, arena));
}

/* Rows over many scales, marked in the last column. */
static void run(const pv_model_ops *model, const void *cfg, const char *name, int64_t classes, model_check *check)
{
    fixture f = { .model = model, .cfg = cfg, .name = name };
    uint64_t seed = 77;
    f.dom = (pv_domain) { .n = N, .p = P, .classes = classes, .y_lo = -10, .y_hi = 10 };
    f.t = mt_make(2, N, P, 1, classes);
    for (int64_t i = 0; i < N; i++) {
        const float scale = (float)pow(10, -3 + 4 * pvt_uniform(&seed));
        for (int64_t j = 0; j < P - 1; j++) f.t.x[i * f.t.ld + j] *= scale;
        f.t.x[i * f.t.ld + P - 1] = MARK;
    }
    mt_norms(&f.t);
    mt_csr(&f.t);
    for (int64_t i = 0; i < N; i++) f.dom.row_norm = fmax(f.dom.row_norm, (double)f.t.norm[i]);
    f.d = model->dim(cfg, &f.dom);
    f.st = calloc(1, model->head.state_size);
    f.scratch = aligned_alloc(64, (model->scratch(cfg, &f.dom, N) + 63) / 64 * 64);
    f.w = calloc((size_t)f.d, sizeof *f.w);
    for (int64_t j = 0; j < f.d; j++) f.w[j] = pvt_normal(&seed);
    begin(&f);
    check(&f);
    mt_free(&f.t);
    free(f.st), free(f.scratch), free(f.w);
}

static void for_each(model_check *check)
{
    const pv_plugin *head, *loss;
    for (int64_t i = 0; (head = pv_nth(PV_KIND_model, i)) != NULL; i++) {
        const pv_model_ops *model = (const pv_model_ops *)(const void *)head;
        if (model->open) continue; /* networks: test_nets.c */
        if (strcmp(head->name, "glm") != 0) {
            run(model, NULL, head->name, 2, check);
            run(model, NULL, head->name, 5, check);
            continue;
        }
        for (int64_t l = 0; (loss = pv_nth(PV_KIND_loss, l)) != NULL; l++) {
            const pv_loss_ops *ops = (const pv_loss_ops *)(const void *)loss;
            void *loss_cfg = calloc(1, loss->cfg_size + 1);
            pvi_param_defaults(loss->params, loss_cfg);
            const pvi_glm_cfg cfg = { ops, loss_cfg };
            run(model, &cfg, loss->name, ops->props & PV_CLASSIFY ? 2 : 0, check);
            free(loss_cfg);
        }
    }
}

static pv_rows one_row(const fixture *f, bool dense, const int64_t *r)
{
    pv_rows v = mt_view(&f->t, dense, false);
    v.pick = r;
    v.n = 1;
    return v;
}

static double norm2(const float *g, int64_t d)
{
    double s = 0;
    for (int64_t j = 0; j < d; j++) s += (double)g[j] * (double)g[j];
    return sqrt(s);
}

/* q of row r, exactly; dense and sparse rows may round their dot products differently. */
static void coefficients(const fixture *f, bool dense, int64_t r, double clip, double *q)
{
    float *g = calloc((size_t)f->d, sizeof *g);
    const pv_rows v = one_row(f, dense, &r);
    int64_t bad = 0;
    f->model->grad_sum(f->st, f->cfg, &v, clip, g, &bad, f->scratch);
    for (int64_t c = 0; c < f->d / P; c++) q[c] = (double)g[c * P + P - 1] / (double)MARK;
    free(g);
}

static const double clips[] = { 1e-3, 0.1, 0.7, 1, 1.4142135623730951, 10, 1e4 };
enum { CLIPS = sizeof clips / sizeof *clips };

/* (M1): ||q|| ||x|| <= clip for the exact numbers, at moderate and at huge weights. */
static void check_clip(fixture *f)
{
    for (int big = 0; big < 2; big++) {
        if (big)
            for (int64_t j = 0; j < f->d; j++) f->w[j] *= 1e7;
        begin(f);
        for (int k = 0; k < CLIPS; k++) {
            int64_t active = 0;
            for (int64_t r = 0; r < N; r++) {
                double q[8], s = 0, x = 0;
                coefficients(f, r & 1, r, clips[k], q);
                for (int64_t c = 0; c < f->d / P; c++) s += q[c] * q[c];
                for (int64_t j = 0; j < P; j++)
                    x += (double)f->t.x[r * f->t.ld + j] * (double)f->t.x[r * f->t.ld + j];
                const double size = sqrt(s) * sqrt(x);
                PVT_CHECK(size <= clips[k] * (1 + 1e-14), "%s: row %lld has %.17g at clip %g", f->name, (long long)r,
                          size, clips[k]);
                active += size > 0.999 * clips[k];
            }
            PVT_CHECK(big || k > 1 || active > 0, "%s: the clip %g is never reached", f->name, clips[k]);
        }
    }
}

/* (M2): the float sum of m rows against the sum of exact products. */
static void check_rounding(fixture *f)
{
    static const int64_t sizes[] = { 1, 2, 3, 17, 64, 256 };
    float *g = malloc((size_t)f->d * sizeof *g);
    double *exact = malloc((size_t)f->d * sizeof *exact), tightest = 0;
    for (int k = 0; k < CLIPS; k++)
        for (int s = 0; s < 6; s++)
            for (int how = 0; how < 6; how++) { /* dense, CSR; drawn rows, one row repeated, two rows repeated */
                pv_rows v = mt_view(&f->t, how & 1, true);
                int64_t bad = 0, row[N];
                for (int64_t i = 0; i < sizes[s]; i++)
                    row[i] = how < 2 ? f->t.pick[i] : how < 4 ? 7 + k : i % 2 ? 9 + k : 20 + s;
                v.n = sizes[s];
                v.pick = row;
                memset(g, 0, (size_t)f->d * sizeof *g);
                memset(exact, 0, (size_t)f->d * sizeof *exact);
                f->model->grad_sum(f->st, f->cfg, &v, clips[k], g, &bad, f->scratch);
                for (int64_t i = 0; i < v.n; i++) {
                    double q[8];
                    coefficients(f, how & 1, row[i], clips[k], q);
                    for (int64_t c = 0; c < f->d / P; c++)
                        for (int64_t j = 0; j < P; j++)
                            exact[c * P + j] += q[c] * (double)f->t.x[row[i] * f->t.ld + j];
                }
                double error = 0;
                for (int64_t j = 0; j < f->d; j++) error += ((double)g[j] - exact[j]) * ((double)g[j] - exact[j]);
                error = sqrt(error) / clips[k];
                const double bound = f->model->rounding(f->cfg, v.n, f->d);
                PVT_CHECK(error <= bound, "%s: %lld rows at clip %g: error %g, bound %g", f->name, (long long)v.n,
                          clips[k], error, bound);
                tightest = fmax(tightest, error / bound);
            }
    print_message("%s: largest rounding error / bound = %.3f\n", f->name, tightest);
    PVT_TRUE(f->model->rounding(f->cfg, 64, f->d) < 2e-4);
    free(g), free(exact);
}

/* (M3): a group is the same as its rows one after the other, so a row that adds zero leaves no trace wherever
 * it stands: a row of zeros, or one that is not finite. */
static void check_sequence(fixture *f)
{
    const size_t size = (size_t)f->d * sizeof(float);
    float *group = malloc(size), *single = malloc(size), *less = malloc(size);
    for (int64_t j = 0; j < P; j++) f->t.x[100 * f->t.ld + j] = 0;
    f->t.y[200] = NAN;
    mt_norms(&f->t);
    mt_csr(&f->t);
    for (int dense = 0; dense < 2; dense++) {
        pv_rows v = mt_view(&f->t, dense, false);
        int64_t bad = 0, n = 0;
        memset(group, 0, size), memset(single, 0, size), memset(less, 0, size);
        f->model->grad_sum(f->st, f->cfg, &v, 0.5, group, &bad, f->scratch);
        PVT_IS(bad, 1);
        for (int64_t i = 0; i < N; i++) {
            const pv_rows one = one_row(f, dense, &i);
            f->model->grad_sum(f->st, f->cfg, &one, 0.5, single, &bad, f->scratch);
        }
        assert_memory_equal(group, single, size);
        for (int64_t i = 0; i < N; i++)
            if (i != 100 && i != 200) f->t.pick[n++] = i;
        v.pick = f->t.pick;
        v.n = n;
        f->model->grad_sum(f->st, f->cfg, &v, 0.5, less, &bad, f->scratch);
        assert_memory_equal(group, less, size);
    }
    free(group), free(single), free(less);
}

/* Without clipping the gradient is that of the value. */
static void check_gradient(fixture *f)
{
    float *g = calloc((size_t)f->d, sizeof *g);
    double *u = malloc((size_t)f->d * sizeof *u), slope = 0, value[2];
    const pv_rows v = mt_view(&f->t, true, false);
    uint64_t seed = 5;
    int64_t bad = 0;
    f->model->grad_sum(f->st, f->cfg, &v, INFINITY, g, &bad, f->scratch);
    for (int64_t j = 0; j < f->d; j++) {
        u[j] = 0.01 * pvt_normal(&seed);
        slope += 2 * u[j] * (double)g[j];
    }
    for (int side = 0; side < 2; side++) {
        for (int64_t j = 0; j < f->d; j++) f->w[j] += side ? 2 * u[j] : -u[j];
        begin(f);
        value[side] = f->model->value_sum(f->st, f->cfg, &v, f->scratch);
    }
    PVT_CHECK(fabs(value[1] - value[0] - slope) <= 0.02 * fabs(slope) + 1e-5 * value[1],
              "%s: difference %g, slope %g", f->name, value[1] - value[0], slope);
    free(g), free(u);
}

/* w so that the row x has logits s, -s and otherwise -30 (or a dot product of s). */
static void aim(fixture *f, const float *x, double xx, double s)
{
    const int64_t k = f->d / P;
    for (int64_t c = 0; c < k; c++) {
        const double z = k == 1 || c == 0 ? s : c == 1 ? -s : -30;
        for (int64_t j = 0; j < P; j++) f->w[c * P + j] = z * (double)x[j] / xx;
    }
    begin(f);
}

/* G bounds the gradient and L its change, and L is reached, by the row of largest norm. */
static void check_constants(fixture *f)
{
    const double h = 0.02;
    float *g[2] = { malloc((size_t)f->d * sizeof(float)), malloc((size_t)f->d * sizeof(float)) };
    double G, L, most = 0, xx = 0;
    int64_t r = 0, bad = 0;
    for (int64_t i = 0; i < N; i++)
        if (f->t.norm[i] > f->t.norm[r]) r = i;
    const float *x = f->t.x + r * f->t.ld;
    const pv_rows v = one_row(f, true, &r);
    for (int64_t j = 0; j < P; j++) xx += (double)x[j] * (double)x[j];
    f->model->constants(f->cfg, &f->dom, &G, &L);
    for (double s = -8; s < 8; s += h) {
        double change = 0;
        for (int side = 0; side < 2; side++) {
            aim(f, x, xx, s + side * h);
            memset(g[side], 0, (size_t)f->d * sizeof(float));
            f->model->grad_sum(f->st, f->cfg, &v, INFINITY, g[side], &bad, f->scratch);
            PVT_CHECK(norm2(g[side], f->d) <= G * (1 + 1e-6), "%s: gradient above G = %g", f->name, G);
        }
        for (int64_t j = 0; j < f->d; j++) change += pow((double)g[1][j] - (double)g[0][j], 2);
        most = fmax(most, sqrt(change) / (h * sqrt(f->d == P ? 1 : 2) / sqrt(xx)));
    }
    PVT_CHECK(most <= L * 1.001 && most >= L * 0.98, "%s: L = %g, seen %g", f->name, L, most);
    free(g[0]), free(g[1]);
}

static void clip_is_respected(void **state)
{
    (void)state;
    for_each(check_clip);
}

static void rounding_is_bounded(void **state)
{
    (void)state;
    for_each(check_rounding);
}

static void rows_add_one_after_the_other(void **state)
{
    (void)state;
    for_each(check_sequence);
}

static void gradient_of_the_value(void **state)
{
    (void)state;
    for_each(check_gradient);
}

static void constants_bound_and_are_reached(void **state)
{
    (void)state;
    for_each(check_constants);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(clip_is_respected), cmocka_unit_test(rounding_is_bounded),
                                      cmocka_unit_test(rows_add_one_after_the_other),
                                      cmocka_unit_test(gradient_of_the_value),
                                      cmocka_unit_test(constants_bound_and_are_reached) };
    return cmocka_run_group_tests(all, setup, teardown);
}
