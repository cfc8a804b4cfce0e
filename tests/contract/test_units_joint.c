/* test_units_joint.c - gradients with Hessians and second moments of units of several rows: glm_joint.c (7) to (9).
 *   (M1) a unit's vector (g, s svec H) has norm at most B, its parts at most C and K, its second moments at most 1
 *   convex losses: H is semidefinite to the last bit, also where the rows of a unit leave most of the space to
 *   rounding
 *   (M2), (M3) units are added one after the other, within rounding; a unit of one row is a row
 * What a unit adds without clipping is the sum or mean of what its rows add, which test_joint.c holds against
 * formulas. */
#include "arenatest.h"
#include "core/eigen.h"
#include "modeltest.h"

enum { UNITS = 30, P = 13, H = P * (P + 1) / 2, D = P + H };
static const int64_t sizes[] = { 1, 2, 50, 3, 1, 130 };
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct fixture {
    const pv_model_ops *model;
    const pvi_glm_cfg *cfg;
    const char *name;
    pv_domain dom;
    pv_joint j;
    int64_t start[UNITS + 1];
    void *st, *scratch;
    mt_rows t;
    bool dense, mean, by_rows;
} fixture;
typedef void joint_check(fixture *f);

/* Copies of one row with either label, rows in one direction, rows far beyond the bound and far below it. */
static void spoil(fixture *f, int64_t u)
{
    for (int64_t r = f->start[u], i = 0; r < f->start[u + 1]; r++, i++) {
        float *const x = f->t.x + r * f->t.ld, *const first = f->t.x + f->start[u] * f->t.ld;
        const float by = u / SIZES == 2 ? 1e20f : u / SIZES == 3 ? 1e-30f : 1.0f + (float)i;
        if (u / SIZES == 1 || u / SIZES == 4)
            for (int64_t j = 0; i > 0 && j < P; j++) x[j] = u / SIZES == 1 ? first[j] : by * first[j];
        if (u / SIZES == 1 && f->dom.classes == 2) f->t.y[r] = i % 2 ? 1 : -1;
        for (int64_t j = 0; (u / SIZES == 2 || u / SIZES == 3) && j < P; j++) x[j] *= by;
    }
}

static void choose(fixture *f, double clip, double weight)
{
    double G, L;
    f->model->constants(f->cfg, &f->dom, &G, &L);
    f->j.grad = fmin(clip, G);
    f->model->hess->bounds(f->cfg, &f->dom, &f->j);
    f->j.hess *= fmin(1, clip);
    f->j.scale = weight * f->j.grad / f->j.hess;
    f->j.clip = f->model->hess->norm(f->cfg, &f->dom, &f->j);
}

static void run(const pvi_glm_cfg *cfg, const char *name, joint_check *check)
{
    fixture f = { .cfg = cfg, .name = name };
    double w[P];
    uint64_t seed = 5;
    f.model = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, "glm");
    f.dom = (pv_domain) { .n = UNITS, .p = P, .row_norm = 1, .classes = cfg->loss->props & PV_CLASSIFY ? 2 : 0 };
    f.dom.y_lo = -9, f.dom.y_hi = 9, f.dom.unit_rows = 130;
    for (int64_t u = 0; u < UNITS; u++) f.start[u + 1] = f.start[u] + sizes[u % SIZES];
    f.t = mt_make(7, f.start[UNITS], P, 0.9, f.dom.classes);
    for (int64_t u = 0; u < UNITS; u++) spoil(&f, u);
    mt_norms(&f.t);
    mt_csr(&f.t);
    f.st = calloc(1, f.model->head.state_size);
    f.scratch = aligned_alloc(64, (f.model->hess->scratch(cfg, &f.dom) + 63) / 64 * 64);
    for (int64_t j = 0; j < P; j++) w[j] = pvt_normal(&seed);
    PVT_OK(f.model->begin(f.st, cfg, &f.dom, w, 0, arena));
    for (int how = 0; how < 8; how++) {
        f.dense = how & 1;
        f.mean = how & 2;
        f.by_rows = how & 4;
        check(&f);
    }
    mt_free(&f.t);
    free(f.st), free(f.scratch);
}

static void for_each(joint_check *check)
{
    const pv_plugin *loss;
    int64_t found = 0;
    for (int64_t l = 0; (loss = pv_nth(PV_KIND_loss, l)) != NULL; l++) {
        const pv_loss_ops *ops = (const pv_loss_ops *)(const void *)loss;
        if (!(ops->props & PV_HESSIAN)) continue;
        void *loss_cfg = calloc(1, loss->cfg_size + 1);
        pvi_param_defaults(loss->params, loss_cfg);
        const pvi_glm_cfg cfg = { ops, loss_cfg };
        run(&cfg, loss->name, check);
        free(loss_cfg);
        found++;
    }
    PVT_TRUE(found >= 2);
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
    v.unit_rows = 130;
    v.unit_combine = f->mean ? PV_UNIT_MEAN : PV_UNIT_SUM;
    v.unit_weight = f->by_rows ? PV_UNIT_ROWS : PV_UNIT_ONE;
    return v;
}

static void add(const fixture *f, const pv_rows *v, float *g) /* g: D numbers */
{
    int64_t bad = 0;
    f->model->hess->sum(f->st, f->cfg, v, &f->j, g, g + P, &bad, f->scratch);
    PVT_IS(bad, 0);
}

static void add_moment(const fixture *f, const pv_rows *v, float *h)
{
    int64_t bad = 0;
    f->model->hess->moment(v, 1.0, h, &bad, f->scratch);
}

static pv_rows one(const fixture *f, const int64_t *u)
{
    pv_rows v = units_of(f);
    v.pick = u;
    v.n = 1;
    return v;
}

static double frobenius(const float *h)
{
    double s = 0;
    for (int64_t a = 0, k = 0; a < P; a++)
        for (int64_t b = 0; b <= a; b++, k++) s += (a == b ? 1 : 2) * (double)h[k] * (double)h[k];
    return sqrt(s);
}

static double length(const float *g)
{
    double s = 0;
    for (int64_t j = 0; j < P; j++) s += (double)g[j] * (double)g[j];
    return sqrt(s);
}

static double smallest(const float *h)
{
    double A[P * P], value[P], work[P];
    for (int64_t a = 0, k = 0; a < P; a++)
        for (int64_t b = 0; b <= a; b++, k++) A[a * P + b] = A[b * P + a] = (double)h[k];
    PVT_OK(pvi_eigen(P, A, value, work));
    return value[0];
}

/* ---- checks ---------------------------------------------------------------------------------------------------- */

static void check_clip(fixture *f)
{
    static const double clips[] = { 1e-3, 0.3, 1e3 };
    double most = 0;
    for (int c = 0; c < 3; c++)
        for (int weight = 0; weight < 2; weight++) {
            choose(f, clips[c], weight ? 3 : 0.5);
            for (int64_t u = 0; u < UNITS; u++) {
                float g[D] = { 0 };
                const pv_rows v = one(f, &u);
                add(f, &v, g);
                const double a = length(g), b = frobenius(g + P), all = hypot(a, f->j.scale * b), up = 1 + 0x1p-22;
                PVT_CHECK(a <= f->j.grad * up && b <= f->j.hess * up && all <= f->j.clip * up,
                          "%s: unit %lld has %.9g of %.9g, %.9g of %.9g, together %.9g of %.9g", f->name,
                          (long long)u, a, f->j.grad, b, f->j.hess, all, f->j.clip);
                if (sizes[u % SIZES] > 1) most = fmax(most, all / f->j.clip);
            }
        }
    PVT_CHECK(most > 0.5, "%s: no unit comes near its bound", f->name);
}

/* No clipping at all: sums of 1 times the floats formed, so that signs of eigenvalues can be told. */
static void check_semidefinite(fixture *f)
{
    choose(f, 1e3, 1);
    f->j.grad = f->j.hess = 1e9;
    f->j.clip = 1e12;
    for (int64_t u = 0; u < UNITS; u++) {
        float g[D] = { 0 }, m[H] = { 0 };
        const pv_rows v = one(f, &u);
        if (sizes[u % SIZES] == 1) continue;
        add(f, &v, g);
        add_moment(f, &v, m);
        PVT_CHECK(frobenius(m) <= 1 + 0x1p-22, "%s: second moments of unit %lld", f->name, (long long)u);
        if (f->mean || f->by_rows || !(f->cfg->loss->props & PV_CONVEX)) continue;
        PVT_CHECK(smallest(g + P) >= -1e-13 * frobenius(g + P), "%s: unit %lld has an eigenvalue %g of %g", f->name,
                  (long long)u, smallest(g + P), frobenius(g + P));
    }
}

static void check_rows(fixture *f)
{
    choose(f, 1e3, 1);
    f->j.grad = f->j.hess = 1e9;
    f->j.clip = 1e12;
    for (int64_t u = 0; u < UNITS; u++) {
        const int64_t k = sizes[u % SIZES];
        const double share = f->by_rows ? 1.0 / 130 : f->mean ? 1.0 / (double)k : 1.0;
        float g[D] = { 0 }, m[H] = { 0 };
        double want[D] = { 0 }, moments[H] = { 0 }, sum = 0;
        const pv_rows v = one(f, &u);
        add(f, &v, g);
        add_moment(f, &v, m);
        for (int64_t r = f->start[u]; r < f->start[u + 1]; r++) {
            float h[D] = { 0 }, n[H] = { 0 };
            pv_rows row = rows_of(f);
            row.pick = &r;
            row.n = 1;
            add(f, &row, h);
            add_moment(f, &row, n);
            for (int64_t i = 0; i < D; i++) want[i] += share * (double)h[i];
            for (int64_t i = 0; i < H; i++) moments[i] += (double)n[i] / (double)k;
            sum += share * (length(h) + frobenius(h + P));
        }
        for (int64_t i = 0; i < D; i++) PVT_NEAR(g[i], want[i], 1e-5 * sum + 1e-35);
        for (int64_t i = 0; i < H; i++) PVT_NEAR(m[i], moments[i], 2e-5);
    }
}

static void check_sequence(fixture *f)
{
    float group[D] = { 0 }, single[D] = { 0 }, m[H] = { 0 }, each[H] = { 0 };
    double exact[D] = { 0 }, error = 0;
    choose(f, 0.3, 1);
    const pv_rows all = units_of(f);
    add(f, &all, group);
    add_moment(f, &all, m);
    for (int64_t u = 0; u < UNITS; u++) {
        float own[D] = { 0 };
        const pv_rows v = one(f, &u);
        add(f, &v, single);
        add(f, &v, own);
        add_moment(f, &v, each);
        for (int64_t i = 0; i < D; i++) exact[i] += (double)own[i];
    }
    assert_memory_equal(group, single, sizeof group);
    assert_memory_equal(m, each, sizeof m);
    for (int64_t i = 0; i < P; i++) error += pow((double)group[i] - exact[i], 2);
    for (int64_t i = P; i < D; i++) error += 2 * pow(f->j.scale * ((double)group[i] - exact[i]), 2);
    PVT_TRUE(sqrt(error) <= f->j.clip * (f->model->hess->rounding(f->cfg, UNITS, P) + UNITS * 0x1p-23));
}

static void check_ones(fixture *f)
{
    float rows[D] = { 0 }, units[D] = { 0 }, m[2][H] = { { 0 }, { 0 } };
    int64_t *start = malloc(sizeof *start * (size_t)(f->t.n + 1));
    for (int64_t r = 0; r <= f->t.n; r++) start[r] = r;
    choose(f, 0.3, 1);
    pv_rows v = rows_of(f), u = v;
    u.start = start;
    u.unit_rows = 1;
    u.unit_combine = f->mean ? PV_UNIT_MEAN : PV_UNIT_SUM;
    u.unit_weight = f->by_rows ? PV_UNIT_ROWS : PV_UNIT_ONE;
    add(f, &v, rows);
    add(f, &u, units);
    add_moment(f, &v, m[0]);
    add_moment(f, &u, m[1]);
    if (!f->by_rows) assert_memory_equal(rows, units, sizeof rows);
    assert_memory_equal(m[0], m[1], sizeof m[0]);
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

static void one_row_is_a_row(void **state)
{
    (void)state;
    for_each(check_ones);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(clip_is_of_the_unit),
                                      cmocka_unit_test(matrices_are_semidefinite),
                                      cmocka_unit_test(units_are_their_rows),
                                      cmocka_unit_test(units_add_one_after_the_other),
                                      cmocka_unit_test(one_row_is_a_row) };
    return cmocka_run_group_tests(all, setup, teardown);
}
