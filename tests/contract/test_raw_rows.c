/* test_raw_rows.c - stored rows may hold any finite floats; every model, with rows of 10^30 and more, of subnormal
 * numbers, of both, of zeros, and of a norm above all floats:
 *   (M1) a row adds a vector within the clip, (M2) a sum is that of its rows within the rounding bound, (M3) row
 *   after row, and a row that adds nothing leaves no trace;
 *   what a row adds is what the row s (v, b), written out with its bias as rows were once stored, adds.
 * Rows end where their memory ends, and lie at odd places in it: whoever reads on is stopped by the processor. */
#include "arenatest.h"
#include "modeltest.h"

#include <sys/mman.h>
#include <unistd.h>

enum { N = 48, MOST = 70 };

typedef struct table {
    int64_t q, p, ld;
    float *x, *val, *y, *norm, *seen, *seen_norm; /* seen: s (v, b), without gaps */
    int64_t *ptr;
    int32_t *idx;
    pv_rows rows;
} table;

typedef struct fixture {
    const pv_model_ops *model;
    void *cfg;
    const char *name;
    pv_domain dom;
    int64_t d;
    void *st, *scratch;
    double *w;
} fixture;

static struct {
    void *at;
    size_t size;
} held[64];
static int holds, opened;

/* Memory behind which nothing can be read. */
static void *at_the_end(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    char *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    PVT_TRUE(at != MAP_FAILED && holds < 64 && mprotect(at + room, page, PROT_NONE) == 0);
    held[holds].at = at;
    held[holds++].size = room + page;
    return at + room - size;
}

static void let_go(void)
{
    while (holds > 0) {
        holds--;
        PVT_IS(munmap(held[holds].at, held[holds].size), 0);
    }
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static float value(int64_t i, int64_t j, uint64_t *seed)
{
    const double sign = pvt_u64(seed) & 1 ? 1 : -1, u = pvt_uniform(seed);
    switch (i % 8) {
    case 1: return (float)(sign * pow(10, 30 + 7 * u));
    case 2: return (float)(sign * 3e38);
    case 3: return (float)(sign * pow(10, -45 + 7 * u));
    case 4: return (float)(sign * (j == 0 ? 1e38 : u < 0.5 ? 1e-41 : u));
    case 5: return 0.0f;
    case 6: return (float)(sign * pow(10, 12 + 8 * u));
    case 7: return (float)(sign * pow(10, -25 + 8 * u));
    default: return u < 0.3 ? 0.0f : (float)pvt_normal(seed);
    }
}

static double norm_of(const float *v, int64_t n, float bias, bool max)
{
    double sum = (double)bias * (double)bias, most = fabs((double)bias);
    for (int64_t j = 0; j < n; j++) {
        sum += (double)v[j] * (double)v[j];
        most = fmax(most, fabs((double)v[j]));
    }
    return max ? most : sqrt(sum) * (1 + 1e-14);
}

/* The gain by its definition. */
static double gain_of(const pv_rows *r, float norm)
{
    const double s = (double)r->bound / (double)norm;
    if (r->unit ? norm == r->bound || norm == 0.0f : norm <= r->bound) return 1.0;
    return s < 0x1p-126 ? 0.0 : fmin(s, 0x1.fffffep127);
}

static table make(uint64_t seed, int64_t q, float bias, float R, bool unit, bool max, int64_t classes)
{
    table t = { .q = q, .p = q + (bias != 0.0f), .ld = q + (int64_t)((seed / 40 * 3 % 4 + seed) % 4) };
    int64_t e = 0;
    t.rows = (pv_rows) { .n = N, .p = t.p, .ld = t.ld, .bound = R, .unit = unit, .bias = bias };
    t.x = at_the_end(sizeof(float) * (size_t)((N - 1) * t.ld + q)); /* not even the gap behind the last row */
    t.rows.y = t.y = at_the_end(sizeof(float) * N);
    t.rows.norm = t.norm = at_the_end(sizeof(float) * N);
    t.seen = at_the_end(sizeof(float) * (size_t)(N * t.p));
    t.seen_norm = at_the_end(sizeof(float) * N);
    t.ptr = at_the_end(sizeof *t.ptr * (N + 1));
    for (int64_t i = 0; i < N; i++) {
        float *const v = t.x + i * t.ld;
        for (int64_t j = 0; j < t.ld && (j < q || i + 1 < N); j++) v[j] = j < q ? value(i, j, &seed) : NAN;
        for (int64_t j = 0; j < q; j++) e += v[j] != 0.0f;
        t.norm[i] = mt_up(norm_of(v, q, bias, max));
        const double s = gain_of(&t.rows, t.norm[i]);
        for (int64_t j = 0; j < t.p; j++) t.seen[i * t.p + j] = (float)(s * (double)(j < q ? v[j] : bias));
        t.seen_norm[i] = mt_up(norm_of(t.seen + i * t.p, t.p, 0.0f, max));
        t.y[i] = classes == 2 ? (i % 3 ? 1.0f : -1.0f) : classes ? (float)(i % classes) : (float)pvt_normal(&seed);
    }
    t.val = at_the_end(sizeof *t.val * (size_t)e);
    t.idx = at_the_end(sizeof *t.idx * (size_t)e);
    e = 0;
    for (int64_t i = 0; i < N; i++) {
        t.ptr[i] = e;
        for (int64_t j = 0; j < q; j++)
            if (t.x[i * t.ld + j] != 0.0f) t.idx[e] = (int32_t)j, t.val[e++] = t.x[i * t.ld + j];
    }
    t.ptr[N] = e;
    return t;
}

static pv_rows view(const table *t, bool dense, const int64_t *pick, int64_t n)
{
    pv_rows v = t->rows;
    v.pick = pick;
    v.n = n;
    if (dense) v.x = t->x;
    else v.ptr = t->ptr, v.idx = t->idx, v.val = t->val;
    return v;
}

static pv_rows view_seen(const table *t, const int64_t *pick)
{
    return (pv_rows) {
        .n = 1, .p = t->p, .ld = t->p, .x = t->seen, .y = t->y, .norm = t->seen_norm, .bound = INFINITY, .pick = pick
    };
}

/* ---- models ---------------------------------------------------------------------------------------------------- */

static void use_isa(const fixture *f, int isa)
{
    if (strcmp(f->model->head.name, "glm") == 0) ((pvi_glm_state *)f->st)->kernel = pvi_glm_kernel_isa[isa];
    if (strcmp(f->model->head.name, "softmax") == 0)
        ((pvi_softmax_state *)f->st)->kernel = pvi_softmax_kernel_isa[isa];
}

static size_t lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static bool open_model(fixture *f, const pv_model_ops *model, void *cfg, const char *name, const table *t,
                       int64_t classes)
{
    uint64_t seed = 31;
    *f = (fixture) { .model = model, .cfg = cfg, .name = name };
    f->dom = (pv_domain) { .n = N, .p = t->p, .row_norm = (double)t->rows.bound, .classes = classes };
    f->dom.y_lo = -4, f->dom.y_hi = 4;
    if (model->open && model->open(cfg, &f->dom, ctx) != PV_OK) return false; /* needs images */
    opened++;
    f->d = model->dim(cfg, &f->dom);
    f->st = calloc(1, model->head.state_size);
    f->scratch = aligned_alloc(64, lines(model->scratch(cfg, &f->dom, N)));
    f->w = calloc((size_t)f->d, sizeof *f->w);
    if (model->start) model->start(cfg, &f->dom, f->w);
    for (int64_t j = 0; !model->start && j < f->d; j++) f->w[j] = pvt_normal(&seed) / (double)t->rows.bound;
    PVT_OK(model->begin(f->st, cfg, &f->dom, f->w, 0, arena));
    return true;
}

static void close_model(fixture *f)
{
    free(f->st), free(f->scratch), free(f->w);
}

static int64_t sum(const fixture *f, const pv_rows *v, double clip, float *g)
{
    int64_t bad = 0;
    memset(g, 0, sizeof *g * (size_t)f->d);
    f->model->grad_sum(f->st, f->cfg, v, clip, g, &bad, f->scratch);
    return bad;
}

static double size_of(const float *g, const float *less, int64_t d, bool max)
{
    double s = 0, most = 0;
    for (int64_t k = 0; k < d; k++) {
        const double x = (double)g[k] - (less ? (double)less[k] : 0);
        s += x * x;
        most = fmax(most, fabs(x));
        if (isnan(x)) return x;
    }
    return max ? most : sqrt(s);
}

/* A row that no float gain can scale, written out at the bound: predicted like any other, though it adds nothing. */
static pv_rows written_out(const pv_rows *v, int64_t i, float *x, float *norm)
{
    static const int64_t first = 0;
    const int64_t q = v->p - (v->bias != 0.0f);
    long double sum = (long double)v->bias * (long double)v->bias;
    for (int64_t j = 0; j < q; j++) sum += (long double)v->x[i * v->ld + j] * (long double)v->x[i * v->ld + j];
    const long double by = (long double)v->bound / (isinf(v->norm[i]) ? sqrtl(sum) : (long double)v->norm[i]);
    for (int64_t j = 0; j < q; j++) x[j] = (float)(by * (long double)v->x[i * v->ld + j]);
    if (q < v->p) x[q] = (float)(by * (long double)v->bias);
    *norm = v->bound;
    return (pv_rows) {
        .n = 1, .p = v->p, .x = x, .ld = v->p, .y = v->y, .norm = norm, .bound = INFINITY, .pick = &first
    };
}

/* One row, dense and sparse: (M1), and the same as the row written out. */
static void check_row(const fixture *f, const table *t, int64_t i, double clip, bool max, float *g, float *want)
{
    float *x = malloc(sizeof *x * (size_t)t->p), norm;
    const pv_rows all = view(t, true, NULL, N);
    pv_rows seen = view_seen(t, &i);
    if (pvi_is_far(&all, all.norm[i])) { /* of networks, which clip what they computed */
        seen = written_out(&all, i, x, &norm);
        seen.y = t->y + i;
    }
    /* coefficients of the stored row below the normal floats: nothing is added, or not all of it */
    const bool faint = clip / (double)t->norm[i] < 1e-32 || gain_of(&t->rows, t->norm[i]) < 1e-32;
    for (int dense = 0; dense < 2; dense++) {
        const pv_rows v = view(t, dense, &i, 1);
        const int64_t bad = sum(f, &v, clip, g);
        const double size = size_of(g, NULL, f->d, max && !f->model->open);
        PVT_CHECK(size <= clip * (1 + 0x1p-22) + 1e-40, "%s: row %lld of %lld: %.9g at clip %g", f->name,
                  (long long)i, (long long)t->q, size, clip);
        PVT_TRUE(bad == 0 || isinf(t->norm[i]));
        if (isinf(t->norm[i]) && !f->model->open) PVT_TRUE(bad == 1 && size == 0.0);
        if (faint && !f->model->open) continue;
        sum(f, &seen, clip, want);
        const double off = size_of(g, want, f->d, false);
        PVT_CHECK(off <= 2e-4 * fmin(clip, 1e-3 * clip + size_of(want, NULL, f->d, false)),
                  "%s: row %lld of %lld off by %g of %g", f->name, (long long)i, (long long)t->q, off, size);
    }
    free(x);
}

/* All rows at once: (M2), (M3). */
static void check_group(const fixture *f, const table *t, double clip, float *g, float *one)
{
    double *exact = malloc(sizeof *exact * (size_t)f->d);
    float *all = malloc(sizeof *all * (size_t)f->d);
    for (int dense = 0; dense < 2; dense++) {
        const pv_rows v = view(t, dense, NULL, N);
        int64_t pick[N], n = 0, bad = 0;
        double error = 0;
        sum(f, &v, clip, all);
        memset(g, 0, sizeof *g * (size_t)f->d);
        memset(exact, 0, sizeof *exact * (size_t)f->d);
        for (int64_t i = 0; i < N; i++) {
            const pv_rows r = view(t, dense, &i, 1);
            f->model->grad_sum(f->st, f->cfg, &r, clip, g, &bad, f->scratch);
            sum(f, &r, clip, one);
            for (int64_t k = 0; k < f->d; k++) exact[k] += (double)one[k];
            if (size_of(one, NULL, f->d, false) > 0) pick[n++] = i;
        }
        PVT_TRUE(size_of(all, g, f->d, false) == 0.0);
        for (int64_t k = 0; k < f->d; k++) error += pow((double)all[k] - exact[k], 2);
        const double bound = clip * (f->model->rounding(f->cfg, N, f->d) + N * 0x1p-24);
        PVT_CHECK(sqrt(error) <= bound, "%s: sums off by %g, bound %g", f->name, sqrt(error), bound);
        const pv_rows less = view(t, dense, pick, n);
        sum(f, &less, clip, g);
        PVT_TRUE(size_of(all, g, f->d, false) == 0.0);
    }
    free(exact), free(all);
}

/* Sparse rows on the grid, one by one. */
static void check_grid(const fixture *f, const table *t, double clip, float *one)
{
    const double spacing = exp2(floor(log2(clip)) - 18);
    int64_t *grid = calloc((size_t)f->d, sizeof *grid), bad = 0;
    for (int64_t i = 0; f->model->grid_sum && i < N; i++) {
        const pv_rows r = view(t, false, &i, 1);
        sum(f, &r, clip, one);
        memset(grid, 0, sizeof *grid * (size_t)f->d);
        f->model->grid_sum(f->st, f->cfg, &r, clip, spacing, grid, &bad, f->scratch);
        for (int64_t k = 0; k < f->d; k++)
            PVT_NEAR((double)grid[k] * spacing, (double)one[k], spacing / 2 + 0x1p-23 * fabs((double)one[k]));
    }
    free(grid);
}

static void check_scores(const fixture *f, const table *t)
{
    float *x = malloc(sizeof *x * (size_t)t->p), norm;
    const pv_rows all = view(t, true, NULL, N);
    const int64_t k = f->model->outputs(f->cfg, &f->dom);
    float *a = at_the_end(sizeof *a * (size_t)(N * k)), *b = malloc(sizeof *b * (size_t)k);
    for (int dense = 0; dense < 2; dense++) {
        const pv_rows v = view(t, dense, NULL, N);
        f->model->predict(f->st, f->cfg, &v, a, f->scratch);
        PVT_TRUE(isfinite(f->model->value_sum(f->st, f->cfg, &v, f->scratch)));
        for (int64_t i = 0; i < N; i++) {
            const bool far = pvi_is_far(&all, all.norm[i]);
            const pv_rows seen = far ? written_out(&all, i, x, &norm) : view_seen(t, &i);
            f->model->predict(f->st, f->cfg, &seen, b, f->scratch);
            for (int64_t c = 0; c < k; c++) PVT_NEAR(a[i * k + c], b[c], 1e-4 * (1 + fabs((double)b[c])));
        }
    }
    free(x);
    free(b);
}

static void check_model(fixture *f, const table *t, bool max)
{
    static const double clips[] = { 1e-2, 1, 300 };
    float *g = at_the_end(sizeof *g * (size_t)f->d), *other = malloc(sizeof *other * (size_t)f->d);
    for (int isa = f->model->open ? (int)pvi_isa() : 0; isa <= (int)pvi_isa(); isa++) {
        use_isa(f, isa);
        for (int k = 0; k < 3; k++) {
            for (int64_t i = 0; i < N; i++) check_row(f, t, i, clips[k] * (double)t->rows.bound, max, g, other);
            if (!max) check_group(f, t, clips[k] * (double)t->rows.bound, g, other);
            check_grid(f, t, clips[k] * (double)t->rows.bound, other);
        }
        check_scores(f, t);
    }
    free(other);
}

/* Bounds that clip some of the rows. */
static pv_joint joint_of(const fixture *f, const table *t)
{
    double G, L;
    pv_joint j = { 0 };
    f->model->constants(f->cfg, &f->dom, &G, &L);
    f->model->hess->bounds(f->cfg, &f->dom, &j);
    j.grad = fmin(G, 0.3 * (double)t->rows.bound);
    j.scale = j.grad / j.hess;
    j.clip = f->model->hess->norm(f->cfg, &f->dom, &j);
    return j;
}

/* Gradient and Hessian, moments, transformed rows: within their bounds, and those of the rows written out. */
static void check_joint(const fixture *f, const table *t, float *g, float *want)
{
    const pv_hess_ops *h = f->model->hess;
    void *scratch = aligned_alloc(64, lines(h->scratch(f->cfg, &f->dom)));
    const pv_joint j = joint_of(f, t);
    const int64_t H = j.blocks * (j.blocks + 1) / 2 * (j.width * (j.width + 1) / 2);
    for (int64_t i = 0; i < N; i++)
        for (int dense = 0; dense < 2; dense++) {
            const pv_rows v = view(t, dense, &i, 1), seen = view_seen(t, &i);
            int64_t bad = 0;
            memset(g, 0, sizeof *g * (size_t)(f->d + H)), memset(want, 0, sizeof *want * (size_t)(f->d + H));
            h->sum(f->st, f->cfg, &v, &j, g, g + f->d, &bad, scratch);
            h->sum(f->st, f->cfg, &seen, &j, want, want + f->d, &bad, scratch);
            PVT_TRUE(bad == 0 && size_of(g, NULL, f->d, false) <= j.grad * (1 + 0x1p-22));
            PVT_TRUE(size_of(g + f->d, NULL, H, true) <= j.hess * (1 + 0x1p-22));
            PVT_TRUE(size_of(g, want, f->d, false) <= 1e-4 * j.grad);
            PVT_TRUE(size_of(g + f->d, want + f->d, H, false) <= 1e-4 * j.hess);
            if (!h->moment) continue;
            memset(g, 0, sizeof *g * (size_t)H), memset(want, 0, sizeof *want * (size_t)H);
            h->moment(&v, j.row_norm, g, &bad, scratch);
            h->moment(&seen, j.row_norm, want, &bad, scratch);
            PVT_TRUE(bad == 0 && size_of(g, NULL, H, true) <= 1 && size_of(g, want, H, false) <= 1e-5);
        }
    free(scratch);
}

/* A group of rows is its rows one after the other, to the last bit: no row changes what another adds (M3). */
static void check_joint_groups(const fixture *f, const table *t, float *g, float *want)
{
    const pv_hess_ops *h = f->model->hess;
    void *scratch = aligned_alloc(64, lines(h->scratch(f->cfg, &f->dom)));
    const pv_joint j = joint_of(f, t);
    const int64_t all = f->d + j.blocks * (j.blocks + 1) / 2 * (j.width * (j.width + 1) / 2);
    for (int dense = 0; dense < 2; dense++) {
        const pv_rows v = view(t, dense, NULL, N);
        int64_t bad = 0;
        memset(g, 0, sizeof *g * (size_t)all), memset(want, 0, sizeof *want * (size_t)all);
        h->sum(f->st, f->cfg, &v, &j, g, g + f->d, &bad, scratch);
        for (int64_t i = 0; i < N; i++) {
            const pv_rows one = view(t, dense, &i, 1);
            h->sum(f->st, f->cfg, &one, &j, want, want + f->d, &bad, scratch);
        }
        PVT_TRUE(size_of(g, want, all, false) == 0.0);
    }
    free(scratch);
}

static void check_transform(const fixture *f, const table *t)
{
    const pv_hess_ops *h = f->model->hess;
    const int64_t p = t->p, lda = (p + 15) / 16 * 16;
    void *scratch = aligned_alloc(64, lines(h->scratch(f->cfg, &f->dom)));
    float *A = calloc((size_t)(p * lda), sizeof *A), *x = at_the_end(sizeof *x * (size_t)(N * p)), norm[N];
    uint64_t seed = 8;
    for (int64_t a = 0; a < p; a++)
        for (int64_t b = 0; b <= a; b++) A[a * lda + b] = A[b * lda + a] = (float)pvt_normal(&seed);
    for (int dense = 0; dense < 2; dense++) {
        pv_rows v = view(t, dense, NULL, N);
        v.A = A;
        h->transform(&v, x, p, norm, scratch);
        for (int64_t i = 0; i < N; i++) {
            PVT_TRUE((double)norm[i] >= norm_of(x + i * p, p, 0.0f, false) * (1 - 1e-13));
            for (int64_t a = 0; a < p; a++) {
                double want = 0, size = 0;
                for (int64_t b = 0; b < p; b++) {
                    const double z = (double)A[a * lda + b] * (double)t->seen[i * p + b];
                    want += z, size += fabs(z);
                }
                PVT_NEAR((double)x[i * p + a], want, 4e-6 * size + 1e-38);
            }
        }
    }
    free(scratch), free(A);
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

typedef void check_fn(fixture *f, const table *t, bool max);

static void joint(fixture *f, const table *t, bool max)
{
    if (!f->model->hess || max) return;
    const size_t most = (size_t)(f->d + (f->d + 1) * f->d / 2) * sizeof(float);
    float *g = malloc(most), *want = malloc(most);
    check_joint(f, t, g, want);
    check_joint_groups(f, t, g, want);
    if (f->model->hess->transform) check_transform(f, t);
    free(g), free(want);
}

static void with(const pv_model_ops *model, void *cfg, const char *name, int64_t classes, check_fn *check)
{
    static const int64_t widths[] = { 1, 7, 8, 15, 16, 31, 33, 64, 65 };
    static const float biases[] = { 0, 1, 0.37f };
    static const float bounds[] = { 1, 0.013f, 40 };
    for (int k = 0; k < 9; k++)
        for (int b = 0; b < 3; b++) {
            const int mode = (k + b) % 3; /* clip, unit, max */
            const table t = make((uint64_t)(40 * k + b), widths[k], biases[b], bounds[(k + 2 * b) % 3], mode == 1,
                                 mode == 2, classes);
            fixture f;
            if (check == joint && widths[k] > 33) continue;
            if (open_model(&f, model, cfg, name, &t, classes)) {
                check(&f, &t, mode == 2);
                close_model(&f);
            }
            let_go();
        }
}

static void for_each(check_fn *check)
{
    const pv_plugin *head, *loss;
    for (int64_t i = 0; (head = pv_nth(PV_KIND_model, i)) != NULL; i++) {
        const pv_model_ops *model = (const pv_model_ops *)(const void *)head;
        void *cfg = calloc(1, head->cfg_size + 1);
        pvi_param_defaults(head->params, cfg);
        for (int64_t l = 0; (loss = pv_nth(PV_KIND_loss, l)) != NULL && model->props & PV_OF_LOSSES; l++) {
            const pv_loss_ops *ops = (const pv_loss_ops *)(const void *)loss;
            void *link_cfg = calloc(1, loss->cfg_size + 1);
            pvi_param_defaults(loss->params, link_cfg);
            pvi_glm_cfg of = { ops, link_cfg };
            if (check != joint || ops->props & PV_HESSIAN)
                with(model, &of, loss->name, ops->props & PV_CLASSIFY ? 2 : 0, check);
            free(link_cfg);
        }
        if (!(model->props & PV_OF_LOSSES)) with(model, cfg, head->name, 3, check);
        free(cfg);
    }
}

static void rows_of_any_size(void **state)
{
    (void)state;
    for_each(check_model);
    PVT_CHECK(opened >= 27 * 9, "only %d models were opened", opened); /* every loss, softmax, mlp, split-mlp */
}

static void second_derivatives_of_any_size(void **state)
{
    (void)state;
    for_each(joint);
}

/* A coefficient of softmax below the normal floats, times a long row: rounded up, it would be a third above the
 * clip. */
static void coefficients_below_the_normal_floats(void **state)
{
    (void)state;
    for (double far = 13; far < 20; far += 0.01) {
        float v[1] = { 0x1p125f }, y[1] = { -1 }, norm[1] = { 0x1p125f }, g[2] = { 0 };
        const pv_rows rows = { .n = 1, .p = 1, .ld = 1, .x = v, .y = y, .norm = norm, .bound = 1 };
        table t = { .p = 1, .rows = rows };
        const double e = 1 / (1 + exp(far)), clip = 0.9 * sqrt(2) * e;
        fixture f;
        PVT_TRUE(open_model(&f, (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, "softmax"), NULL,
                            "softmax", &t, 2));
        f.w[0] = far, f.w[1] = 0;
        PVT_OK(f.model->begin(f.st, NULL, &f.dom, f.w, 0, arena));
        for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
            use_isa(&f, isa);
            sum(&f, &rows, clip, g);
            PVT_CHECK(hypot((double)g[0], (double)g[1]) <= clip * (1 + 0x1p-22), "%g at clip %g",
                      hypot((double)g[0], (double)g[1]), clip);
        }
        close_model(&f);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(rows_of_any_size),
                                      cmocka_unit_test(coefficients_below_the_normal_floats),
                                      cmocka_unit_test(second_derivatives_of_any_size) };
    return cmocka_run_group_tests(all, setup, teardown);
}
