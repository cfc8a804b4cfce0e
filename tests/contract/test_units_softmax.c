/* test_units_softmax.c - gradients with Hessians of multi-class logistic regression for units of several rows:
 * softmax_joint.c (5), (6).
 *   (M1) a unit's vector (g, s svec H) has norm at most B, its parts at most C and K
 *   H is semidefinite to the last bit, also where the rows of a unit leave most of the space to rounding
 *   (M2), (M3) units are added one after the other, within rounding; a unit of one row is a row
 * What a unit adds without clipping is the sum or mean of what its rows add, which test_joint.c holds against
 * formulas. */
#include "arenatest.h"
#include "core/eigen.h"
#include "modeltest.h"

enum { UNITS = 24, P = 5, CLASSES = 3, N = P * CLASSES, T = P * (P + 1) / 2, H = CLASSES * (CLASSES + 1) / 2 * T };
enum { D = N + H, MOST = 130 };
static const int64_t sizes[] = { 1, 2, 50, 3, 1, MOST };
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct fixture {
    const pv_model_ops *model;
    void *cfg, *st, *scratch;
    pv_domain dom;
    pv_joint j;
    int64_t start[UNITS + 1];
    mt_rows t;
    bool dense, mean, by_rows;
} fixture;
typedef void joint_check(fixture *f);

/* Copies of one row, rows in one direction, rows far beyond the bound and far below it. */
static void spoil(fixture *f, int64_t u)
{
    for (int64_t r = f->start[u], i = 0; r < f->start[u + 1]; r++, i++) {
        float *const x = f->t.x + r * f->t.ld, *const first = f->t.x + f->start[u] * f->t.ld;
        for (int64_t j = 0; j < P; j++)
            x[j] = u / SIZES == 1 ? (1 + (float)(i % 2)) * first[j] : u / SIZES == 2 ? x[j] * 1e20f : x[j];
        for (int64_t j = 0; u / SIZES == 3 && j < P; j++) x[j] *= 1e-15f;
    }
}

static void choose(fixture *f, double clip)
{
    double G, L;
    f->model->constants(f->cfg, &f->dom, &G, &L);
    f->j.grad = fmin(clip, G);
    f->model->hess->bounds(f->cfg, &f->dom, &f->j);
    f->j.hess *= fmin(1, clip);
    f->j.scale = f->j.grad / f->j.hess;
    f->j.clip = f->model->hess->norm(f->cfg, &f->dom, &f->j);
}

static void choose_no_clip(fixture *f)
{
    choose(f, 1e3);
    f->j.grad = f->j.hess = 1e9;
    f->j.clip = 1e12;
}

static void for_each(joint_check *check)
{
    fixture f = { .dom = { .n = UNITS, .p = P, .row_norm = 1, .classes = CLASSES, .unit_rows = MOST } };
    double w[N];
    uint64_t seed = 5;
    f.model = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, "softmax");
    f.cfg = calloc(1, f.model->head.cfg_size + 1);
    pvi_param_defaults(f.model->head.params, f.cfg);
    for (int64_t u = 0; u < UNITS; u++) f.start[u + 1] = f.start[u] + sizes[u % SIZES];
    f.t = mt_make(7, f.start[UNITS], P, 0.9, CLASSES);
    for (int64_t u = 0; u < UNITS; u++) spoil(&f, u);
    mt_norms(&f.t);
    mt_csr(&f.t);
    f.st = calloc(1, f.model->head.state_size);
    f.scratch = aligned_alloc(64, (f.model->hess->scratch(f.cfg, &f.dom) + 63) / 64 * 64);
    for (int64_t j = 0; j < N; j++) w[j] = pvt_normal(&seed);
    PVT_OK(f.model->begin(f.st, f.cfg, &f.dom, w, 0, arena));
    for (int how = 0; how < 8; how++) {
        f.dense = how & 1;
        f.mean = how & 2;
        f.by_rows = how & 4;
        check(&f);
    }
    mt_free(&f.t);
    free(f.cfg), free(f.st), free(f.scratch);
}

/* ---- sums ------------------------------------------------------------------------------------------------------ */

static pv_rows rows_of(const fixture *f)
{
    pv_rows v = mt_view(&f->t, f->dense, false);
    v.bound = 1.0f;
    return v;
}

static pv_rows units_of(const fixture *f)
{
    pv_rows v = rows_of(f);
    v.n = UNITS;
    v.start = f->start;
    v.unit_rows = MOST;
    v.unit_combine = f->mean ? PV_UNIT_MEAN : PV_UNIT_SUM;
    v.unit_weight = f->by_rows ? PV_UNIT_ROWS : PV_UNIT_ONE;
    return v;
}

static void add(const fixture *f, const pv_rows *v, float *g) /* g: D numbers */
{
    int64_t bad = 0;
    f->model->hess->sum(f->st, f->cfg, v, &f->j, g, g + N, &bad, f->scratch);
    PVT_IS(bad, 0);
}

static pv_rows one(const fixture *f, const int64_t *u)
{
    pv_rows v = units_of(f);
    v.pick = u;
    v.n = 1;
    return v;
}

/* The whole matrix of the blocks that h holds. */
static void unpack(const float *h, double *A)
{
    for (int64_t a = 0, k = 0; a < CLASSES; a++)
        for (int64_t b = 0; b <= a; b++)
            for (int64_t i = 0; i < P; i++)
                for (int64_t j = 0; j <= i; j++, k++) {
                    const int64_t at[4][2] = { { a * P + i, b * P + j },
                                               { a * P + j, b * P + i },
                                               { b * P + i, a * P + j },
                                               { b * P + j, a * P + i } };
                    for (int e = 0; e < 4; e++) A[at[e][0] * N + at[e][1]] = (double)h[k];
                }
}

static double length(const double *x, int64_t n)
{
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i] * x[i];
    return sqrt(s);
}

static double frobenius(const float *h)
{
    double A[N * N];
    unpack(h, A);
    return length(A, N * N);
}

static double gradient_length(const float *g)
{
    double x[N];
    for (int64_t i = 0; i < N; i++) x[i] = (double)g[i];
    return length(x, N);
}

/* ---- checks ---------------------------------------------------------------------------------------------------- */

static void check_clip(fixture *f)
{
    static const double clips[] = { 1e-3, 0.3, 1e3 };
    double most = 0;
    for (int c = 0; c < 3; c++) {
        choose(f, clips[c]);
        for (int64_t u = 0; u < UNITS; u++) {
            float g[D] = { 0 };
            const pv_rows v = one(f, &u);
            add(f, &v, g);
            const double a = gradient_length(g), b = frobenius(g + N), up = 1 + 0x1p-22;
            PVT_CHECK(a <= f->j.grad * up && b <= f->j.hess * up, "unit %lld has %.9g of %.9g, %.9g of %.9g",
                      (long long)u, a, f->j.grad, b, f->j.hess);
            if (sizes[u % SIZES] > 1) most = fmax(most, fmin(a / f->j.grad, b / f->j.hess));
        }
    }
    PVT_CHECK(most > 0.99, "no unit comes near its bounds: %g", most);
}

static void check_semidefinite(fixture *f)
{
    if (f->mean || f->by_rows) return; /* sums of 1 times the floats formed, so that signs can be told */
    choose_no_clip(f);
    for (int64_t u = 0; u < UNITS; u++) {
        float g[D] = { 0 };
        double A[N * N], value[N], work[N];
        const pv_rows v = one(f, &u);
        if (sizes[u % SIZES] == 1) continue;
        add(f, &v, g);
        unpack(g + N, A);
        const double size = length(A, N * N);
        PVT_OK(pvi_eigen(N, A, value, work));
        PVT_CHECK(value[0] >= -1e-13 * size, "unit %lld has an eigenvalue %g of %g", (long long)u, value[0], size);
    }
}

static void check_rows(fixture *f)
{
    choose_no_clip(f);
    for (int64_t u = 0; u < UNITS; u++) {
        const int64_t k = sizes[u % SIZES];
        const double share = f->by_rows ? 1.0 / MOST : f->mean ? 1.0 / (double)k : 1.0;
        float g[D] = { 0 };
        double want[D] = { 0 }, sum = 0;
        const pv_rows v = one(f, &u);
        add(f, &v, g);
        for (int64_t r = f->start[u]; r < f->start[u + 1]; r++) {
            float h[D] = { 0 };
            pv_rows row = rows_of(f);
            row.pick = &r;
            row.n = 1;
            add(f, &row, h);
            for (int64_t i = 0; i < D; i++) want[i] += share * (double)h[i];
            sum += share * (gradient_length(h) + frobenius(h + N));
        }
        for (int64_t i = 0; i < D; i++) PVT_NEAR(g[i], want[i], 1e-5 * sum + 1e-35);
    }
}

static void check_sequence(fixture *f)
{
    float group[D] = { 0 }, single[D] = { 0 }, rows[D] = { 0 }, units[D] = { 0 };
    int64_t *start = malloc(sizeof *start * (size_t)(f->t.n + 1));
    choose(f, 0.3);
    const pv_rows all = units_of(f);
    add(f, &all, group);
    for (int64_t u = 0; u < UNITS; u++) {
        const pv_rows v = one(f, &u);
        add(f, &v, single);
    }
    assert_memory_equal(group, single, sizeof group);
    for (int64_t r = 0; r <= f->t.n; r++) start[r] = r;
    pv_rows v = rows_of(f), u = units_of(f);
    u.start = start;
    u.n = f->t.n;
    add(f, &v, rows);
    add(f, &u, units);
    if (!f->by_rows) assert_memory_equal(rows, units, sizeof rows);
    free(start);
}

static void clip_is_of_the_unit(void **state)
{
    (void)state;
    for_each(check_clip);
}

static void matrices_are_semidefinite(void **state)
{
    (void)state;
    for_each(check_semidefinite);
}

static void units_are_their_rows(void **state)
{
    (void)state;
    for_each(check_rows);
}

static void units_add_one_after_the_other(void **state)
{
    (void)state;
    for_each(check_sequence);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(clip_is_of_the_unit),
                                      cmocka_unit_test(matrices_are_semidefinite),
                                      cmocka_unit_test(units_are_their_rows),
                                      cmocka_unit_test(units_add_one_after_the_other) };
    return cmocka_run_group_tests(all, setup, teardown);
}
