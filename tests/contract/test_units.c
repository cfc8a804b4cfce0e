/* test_units.c - units of several rows, of every model that takes them: the promises (M1), (M2), (M3) of units.c.
 *
 * Units are made to break a bound: rows of 10^25 and 10^-40, rows that cancel each other, fifty copies of one row,
 * more rows than any block holds, labels and norms that are not numbers; of 1, 2, 3, 50 and 300 rows.  The truth
 * is made from the gradients of single rows, which test_models.c and test_nets.c hold against formulas, added up in
 * double. */
#include "arenatest.h"
#include "model/net_run.h"
#include "nettest.h"

enum { UNITS = 40, P = 21, MOST = 300 };
static const int64_t sizes[] = { 1, 2, 50, 3, 1, 1, 300, 2 };
enum { SIZES = sizeof sizes / sizeof *sizes };

typedef struct fixture {
    const pv_model_ops *model;
    const void *cfg;
    char name[96];
    pv_domain dom;
    int64_t d, start[UNITS + 1];
    void *st, *scratch;
    mt_rows t;
    double *w;
    float *label;
    bool mean, by_rows, dense, net;
    bool plain; /* what a unit adds is the clipped sum or mean of what its rows add, whatever their place */
} fixture;
typedef void unit_check(fixture *f);

static int64_t rows_in_all(void)
{
    int64_t n = 0;
    for (int64_t u = 0; u < UNITS; u++) n += sizes[u % SIZES];
    return n;
}

static const double clips[] = { 1e-3, 1, 50 };
enum { CLIPS = sizeof clips / sizeof *clips };

/* ---- tables ---------------------------------------------------------------------------------------------------- */

static void scale_row(fixture *f, int64_t r, float by)
{
    for (int64_t j = 0; j < f->t.p; j++) f->t.x[r * f->t.ld + j] *= by;
}

static void copy_row(fixture *f, int64_t from, int64_t to)
{
    memcpy(f->t.x + to * f->t.ld, f->t.x + from * f->t.ld, sizeof(float) * (size_t)f->t.p);
    f->t.y[to] = f->t.y[from];
}

static float other_label(const fixture *f, float y)
{
    return f->dom.classes > 2 ? fmodf(y + 1, (float)f->dom.classes) : -y;
}

static void spoil(fixture *f, int64_t unit, float huge)
{
    const int64_t from = f->start[unit], to = f->start[unit + 1];
    for (int64_t r = from; r < to; r++) {
        switch (unit / SIZES) {
        case 1: scale_row(f, r, (r - from) % 3 ? 1 : huge); break;
        case 2: /* cancels what the row before adds, or nearly so */
            if ((r - from) % 2) copy_row(f, r - 1, r), f->t.y[r] = other_label(f, f->t.y[r - 1]);
            else scale_row(f, r, huge);
            break;
        case 3: scale_row(f, r, 1e-40f); break;
        case 4: copy_row(f, from, r); break;
        default: break;
        }
    }
}

/* Labels and norms as they were made. */
static void mend(fixture *f)
{
    memcpy(f->t.y, f->label, sizeof *f->label * (size_t)f->t.n);
    mt_norms(&f->t);
}

/* What no spoiled table has: a label that is not a number, a norm that is not finite. */
static void make_bad(fixture *f)
{
    f->t.y[f->start[1]] = NAN;
    f->t.norm[f->start[3] + 1] = INFINITY;
    for (int64_t r = f->start[10]; r < f->start[11]; r++) f->t.y[r] = NAN;
}

static void make_units(fixture *f)
{
    f->start[0] = 0;
    for (int64_t u = 0; u < UNITS; u++) f->start[u + 1] = f->start[u] + sizes[u % SIZES];
    PVT_IS(f->start[UNITS], f->t.n);
    for (int64_t u = 0; u < UNITS; u++) spoil(f, u, f->net ? 1e3f : 1e25f);
    mt_norms(&f->t);
    mt_csr(&f->t);
    f->label = malloc(sizeof *f->label * (size_t)f->t.n);
    memcpy(f->label, f->t.y, sizeof *f->label * (size_t)f->t.n);
}

/* ---- models ---------------------------------------------------------------------------------------------------- */

static void use_kernels(fixture *f, int isa)
{
    PVT_OK(f->model->begin(f->st, f->cfg, &f->dom, f->w, 0, arena));
    if (f->net) ((pvi_net_state *)f->st)->kernel = pvi_net_kernel_isa[isa];
    else if (strcmp(f->model->head.name, "glm") == 0) ((pvi_glm_state *)f->st)->kernel = pvi_glm_kernel_isa[isa];
    else if (strcmp(f->model->head.name, "softmax") == 0)
        ((pvi_softmax_state *)f->st)->kernel = pvi_softmax_kernel_isa[isa];
}

static void check_each(fixture *f, const char *name, unit_check *check)
{
    for (int isa = 0; isa <= (int)pvi_isa(); isa += f->net && isa == 0 && pvi_isa() > 0 ? (int)pvi_isa() : 1) {
        use_kernels(f, isa);
        for (int how = 0; how < 8; how++) {
            f->dense = how & 1;
            f->mean = how & 2;
            f->by_rows = how & 4;
            if (f->net && (f->dense ^ f->mean ^ f->by_rows)) continue; /* networks take a while: four of eight */
            snprintf(f->name, sizeof f->name, "%s, instruction set %d, %s, %s, %s", name, isa,
                     f->dense ? "dense" : "CSR", f->mean ? "mean" : "sum", f->by_rows ? "rows" : "one");
            check(f);
        }
    }
}

/* A network in every way of clipping, or with several views of each row. */
static void run_net(const char *model, const char *layers, int64_t side, int64_t views, unit_check *check)
{
    nt_net n;
    nt_make(&n, ctx, arena, model, layers, side, side, side ? 1 : P, 5, rows_in_all(), 5);
    n.dom.unit_rows = MOST;
    nt_augment(&n, arena, views, 1, true); /* makes room for units as well */
    fixture f = { .model = n.ops, .cfg = &n.cfg, .dom = n.dom, .d = n.d, .net = true };
    f.st = n.st;
    f.scratch = n.scratch;
    f.t = n.t;
    f.w = n.w;
    make_units(&f);
    for (int mode = 0; mode < (views > 1 ? 1 : 3); mode++) {
        char name[64];
        n.cfg.clipping = mode;
        f.plain = mode == 0 && views == 1;
        snprintf(name, sizeof name, "%s, clipping %d, views %d", model, mode, (int)views);
        check_each(&f, name, check);
    }
    nt_free(&n);
    free(f.label);
}

static void run_linear(const pv_model_ops *model, const void *cfg, const char *name, int64_t classes,
                       unit_check *check)
{
    fixture f = { .model = model, .cfg = cfg, .plain = true };
    uint64_t seed = 3;
    f.dom = (pv_domain) { .n = UNITS, .p = P, .row_norm = 1, .classes = classes, .y_lo = -9, .y_hi = 9 };
    f.dom.unit_rows = MOST;
    f.t = mt_make(2, rows_in_all(), P, 1, classes);
    make_units(&f);
    f.d = model->dim(cfg, &f.dom);
    f.st = calloc(1, model->head.state_size);
    f.scratch = aligned_alloc(64, (model->scratch(cfg, &f.dom, UNITS) + 63) / 64 * 64);
    f.w = calloc((size_t)f.d, sizeof *f.w);
    for (int64_t j = 0; j < f.d; j++) f.w[j] = 0.3 * pvt_normal(&seed);
    check_each(&f, name, check);
    mt_free(&f.t);
    free(f.st), free(f.scratch), free(f.w), free(f.label);
}

static void run_glm(const pv_model_ops *model, unit_check *check)
{
    const pv_plugin *loss;
    for (int64_t l = 0; (loss = pv_nth(PV_KIND_loss, l)) != NULL; l++) {
        const pv_loss_ops *ops = (const pv_loss_ops *)(const void *)loss;
        void *loss_cfg = calloc(1, loss->cfg_size + 1);
        pvi_param_defaults(loss->params, loss_cfg);
        const pvi_glm_cfg cfg = { ops, loss_cfg };
        run_linear(model, &cfg, loss->name, ops->props & PV_CLASSIFY ? 2 : 0, check);
        free(loss_cfg);
    }
}

static void for_each(unit_check *check)
{
    const pv_plugin *head;
    int64_t found = 0;
    for (int64_t i = 0; (head = pv_nth(PV_KIND_model, i)) != NULL; i++) {
        const pv_model_ops *model = (const pv_model_ops *)(const void *)head;
        if (!(model->props & PV_UNITS)) continue;
        found++;
        if (model->props & PV_OF_LOSSES) {
            run_glm(model, check);
        } else if (!model->open) {
            run_linear(model, NULL, head->name, 2, check);
            run_linear(model, NULL, head->name, 5, check);
        }
    }
    PVT_TRUE(found >= 4);
    run_net("mlp", "dense4,tanh,dense", 0, 1, check);
    run_net("cnn", "conv2x2same,groupnorm2,tanh,dense4,groupnorm2,relu,dense", 3, 1, check);
    run_net("cnn", "conv2x2s2,relu,dense", 3, 3, check);
}

/* ---- sums
 * --------------------------------------------------------------------------------------------------------- */

static pv_rows rows_of(const fixture *f)
{
    pv_rows v = mt_view(&f->t, f->dense, false);
    v.bound = pvi_float_down(f->dom.row_norm);
    v.unit_rows = 1;
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

static void sum(const fixture *f, const pv_rows *v, double clip, float *g)
{
    int64_t bad = 0;
    f->model->grad_sum(f->st, f->cfg, v, clip, g, &bad, f->scratch);
}

/* g = what one unit adds. */
static void one_unit(const fixture *f, int64_t u, double clip, float *g)
{
    pv_rows v = units_of(f);
    v.pick = &u;
    v.n = 1;
    memset(g, 0, sizeof *g * (size_t)f->d);
    sum(f, &v, clip, g);
}

static double length(const float *g, int64_t d)
{
    double s = 0;
    for (int64_t j = 0; j < d; j++) s += (double)g[j] * (double)g[j];
    return sqrt(s);
}

static float *vector(const fixture *f)
{
    return calloc((size_t)f->d, sizeof(float));
}

/* The rows of unit u added up in double, and the sum of their lengths. */
static double by_rows(const fixture *f, int64_t u, double *want)
{
    float *g = vector(f);
    double lengths = 0;
    memset(want, 0, sizeof *want * (size_t)f->d);
    for (int64_t r = f->start[u]; r < f->start[u + 1]; r++) {
        pv_rows v = rows_of(f);
        v.pick = &r;
        v.n = 1;
        memset(g, 0, sizeof *g * (size_t)f->d);
        sum(f, &v, PVI_CLIP_MAX, g);
        for (int64_t j = 0; j < f->d; j++) want[j] += (double)g[j];
        lengths += length(g, f->d);
    }
    free(g);
    return lengths;
}

/* ---- checks
 * --------------------------------------------------------------------------------------------------------- */

/* (M1), and what a unit adds is the clipped sum or mean of its rows. */
static void check_clip(fixture *f)
{
    const bool linear = strcmp(f->model->head.name, "glm") == 0;
    float *g = vector(f);
    double *want = malloc(sizeof *want * (size_t)f->d);
    for (int64_t u = 0; u < UNITS; u++) {
        const int64_t k = f->start[u + 1] - f->start[u];
        const double lengths = by_rows(f, u, want);
        double N = 0;
        for (int64_t j = 0; j < f->d; j++) N += want[j] * want[j];
        N = sqrt(N);
        for (int c = 0; c < CLIPS; c++) {
            const double share = f->mean ? 1.0 / (double)k : f->by_rows ? 1.0 / MOST : 1.0;
            const double counts = f->mean && f->by_rows ? (double)k / MOST : 1.0;
            const double scale = fmin(share, clips[c] / N) * counts;
            double error = 0;
            one_unit(f, u, clips[c], g);
            PVT_CHECK(length(g, f->d) <= clips[c] * counts * (1 + 0x1p-23), "%s: unit %lld has %.17g at clip %g",
                      f->name, (long long)u, length(g, f->d), clips[c]);
            for (int64_t j = 0; j < f->d; j++) error += pow((double)g[j] - scale * want[j], 2);
            /* rounding in v is relative to the rows; where they cancel, the direction is its own */
            const double near = 1e-5 * (share * lengths + clips[c]), same = 2e-6 * lengths / N * clips[c];
            const double gram = linear || lengths > 8 * N ? 0 : 0x1p-18 * pow(lengths / N, 2); /* gram.c (4) */
            if (f->plain && N > 1e-3 * lengths)
                PVT_CHECK(sqrt(error) <= fmin(near, same) + (1e-6 + gram) * clips[c] + 1e-30,
                          "%s: unit %lld of %lld rows is off by %g at clip %g", f->name, (long long)u, (long long)k,
                          sqrt(error), clips[c]);
        }
    }
    free(g), free(want);
}

/* (M3): units one after the other, and (M2): near their sum in double. */
static void check_groups(fixture *f)
{
    const size_t size = sizeof(float) * (size_t)f->d;
    float *group = vector(f), *single = vector(f), *g = vector(f);
    double *exact = malloc(sizeof *exact * (size_t)f->d);
    const pv_rows all = units_of(f);
    for (int c = 0; c < CLIPS; c++) {
        double error = 0;
        memset(group, 0, size), memset(single, 0, size), memset(exact, 0, sizeof *exact * (size_t)f->d);
        sum(f, &all, clips[c], group);
        for (int64_t u = 0; u < UNITS; u++) {
            pv_rows v = units_of(f);
            v.pick = &u;
            v.n = 1;
            sum(f, &v, clips[c], single);
            one_unit(f, u, clips[c], g);
            for (int64_t j = 0; j < f->d; j++) exact[j] += (double)g[j];
        }
        assert_memory_equal(group, single, size);
        for (int64_t j = 0; j < f->d; j++) error += pow((double)group[j] - exact[j], 2);
        /* each g is the exact one rounded once */
        const double bound = clips[c] * (f->model->rounding(f->cfg, UNITS, f->d) + UNITS * 0x1p-24);
        PVT_CHECK(sqrt(error) <= bound, "%s: a group is off by %g, bound %g", f->name, sqrt(error), bound);
    }
    free(group), free(single), free(g), free(exact);
}

/* Of units that own more rows than may count, the first: the bits of units that own no more. */
static void check_prefix(fixture *f)
{
    const size_t size = sizeof(float) * (size_t)f->d;
    float *group = vector(f), *single = vector(f);
    for (int64_t K = 1; K <= 49; K += 24) {
        pv_rows all = units_of(f);
        all.unit_rows = K;
        all.prefix = true;
        memset(group, 0, size), memset(single, 0, size);
        sum(f, &all, 0.5, group);
        for (int64_t u = 0; u < UNITS; u++) {
            const int64_t from = f->start[u], to = f->start[u + 1];
            const int64_t own[2] = { from, to - from < K ? to : from + K };
            pv_rows v = units_of(f);
            v.start = own;
            v.unit_rows = K;
            v.n = 1;
            v.first = u;
            sum(f, &v, 0.5, single);
        }
        assert_memory_equal(group, single, size);
        memset(single, 0, size);
        int64_t pick[UNITS]; /* in their order, as a sample would name them */
        for (int64_t u = 0; u < UNITS; u++) pick[u] = u;
        all.pick = pick;
        sum(f, &all, 0.5, single);
        assert_memory_equal(group, single, size);
    }
    free(group), free(single);
}

/* Rows that are units of their own: the bits of a view without units. */
static void check_ones(fixture *f)
{
    const size_t size = sizeof(float) * (size_t)f->d;
    float *rows = vector(f), *units = vector(f);
    int64_t *start = malloc(sizeof *start * (size_t)(f->t.n + 1)), bad[2] = { 0, 0 };
    for (int64_t r = 0; r <= f->t.n; r++) start[r] = r;
    make_bad(f);
    for (int picked = 0; picked < 2; picked++) {
        pv_rows v = rows_of(f), u = v;
        u.start = start;
        u.unit_rows = 1;
        u.unit_combine = f->mean ? PV_UNIT_MEAN : PV_UNIT_SUM;
        u.unit_weight = f->by_rows ? PV_UNIT_ROWS : PV_UNIT_ONE;
        if (picked) v.pick = u.pick = f->t.pick;
        memset(rows, 0, size), memset(units, 0, size);
        f->model->grad_sum(f->st, f->cfg, &v, 0.5, rows, &bad[0], f->scratch);
        f->model->grad_sum(f->st, f->cfg, &u, 0.5, units, &bad[1], f->scratch);
        if (!f->by_rows) assert_memory_equal(rows, units, size);
        PVT_CHECK(bad[0] == bad[1], "%s: %lld bad rows, %lld as units", f->name, (long long)bad[0],
                  (long long)bad[1]);
    }
    mend(f);
    free(rows), free(units), free(start);
}

/* A row that is not usable: the unit is what its others are; a unit of such rows leaves no trace. */
static void check_bad(fixture *f)
{
    const size_t size = sizeof(float) * (size_t)f->d;
    float *with = vector(f), *without = vector(f);
    int64_t pick[UNITS], n = 0;
    pv_rows v = units_of(f);
    const int64_t one = 6;
    /* unit 2 without its last row is a unit that begins where it begins */
    f->t.y[f->start[2] + 49] = NAN;
    v.pick = &(int64_t) { 2 };
    v.n = 1;
    sum(f, &v, 0.5, with);
    int64_t shorter[2] = { f->start[2], f->start[2] + 49 };
    pv_rows less = v;
    less.start = shorter;
    less.pick = &(int64_t) { 0 };
    sum(f, &less, 0.5, without);
    if (f->plain && !f->mean)
        assert_memory_equal(with, without, size); /* the mean is over all rows, bad ones included */
    for (int64_t r = f->start[one]; r < f->start[one + 1]; r++) f->t.y[r] = NAN;
    memset(with, 0, size), memset(without, 0, size);
    v = units_of(f);
    sum(f, &v, 0.5, with);
    for (int64_t u = 0; u < UNITS; u++)
        if (u != one) pick[n++] = u;
    v.pick = pick;
    v.n = n;
    sum(f, &v, 0.5, without);
    assert_memory_equal(with, without, size);
    mend(f);
    free(with), free(without);
}

/* Neighbours: one unit's rows all replaced, or left out, move the sum by at most 2 C or C, and rounding. */
static void check_neighbours(fixture *f)
{
    float *g = vector(f), *other = vector(f);
    const double E = f->model->rounding(f->cfg, UNITS, f->d);
    double most = 0;
    for (int64_t u = 1; u < UNITS; u += 13)
        for (int c = 0; c < CLIPS; c++) {
            int64_t pick[UNITS], n = 0;
            double far = 0, gone = 0;
            for (int64_t i = 0; i < UNITS; i++)
                if (i != u) pick[n++] = i;
            pv_rows v = units_of(f), left = units_of(f);
            left.pick = pick;
            left.n = n;
            memset(g, 0, sizeof *g * (size_t)f->d), memset(other, 0, sizeof *g * (size_t)f->d);
            sum(f, &v, clips[c], g);
            sum(f, &left, clips[c], other);
            for (int64_t j = 0; j < f->d; j++) gone += pow((double)g[j] - (double)other[j], 2);
            for (int64_t i = 0; i < UNITS; i++) pick[i] = i == u ? (u + SIZES) % UNITS : i;
            left.n = UNITS;
            memset(other, 0, sizeof *g * (size_t)f->d);
            sum(f, &left, clips[c], other);
            for (int64_t j = 0; j < f->d; j++) far += pow((double)g[j] - (double)other[j], 2);
            PVT_CHECK(sqrt(gone) <= clips[c] * (1 + 2 * E) && sqrt(far) <= clips[c] * (2 + 2 * E),
                      "%s: unit %lld moves the sum by %.9g, another by %.9g at clip %g", f->name, (long long)u,
                      sqrt(gone), sqrt(far), clips[c]);
            most = fmax(most, sqrt(gone) / clips[c]);
        }
    PVT_CHECK(most > 0.99 || f->by_rows, "%s: no unit is clipped", f->name);
    free(g), free(other);
}

/* CSR units on the grid one by one. */
static void check_grid(fixture *f)
{
    const double spacing = 0x1p-30;
    float *g = vector(f);
    if (f->dense || !f->model->grid_sum) {
        free(g);
        return;
    }
    int64_t *got = malloc(sizeof *got * (size_t)f->d), *all = calloc((size_t)f->d, sizeof *all), bad = 0;
    int64_t *total = calloc((size_t)f->d, sizeof *total);
    const pv_rows v = units_of(f);
    f->model->grid_sum(f->st, f->cfg, &v, 0.5, spacing, all, &bad, f->scratch);
    for (int64_t u = 0; u < UNITS; u++) {
        pv_rows one = units_of(f);
        one.pick = &u;
        one.n = 1;
        memset(got, 0, sizeof *got * (size_t)f->d);
        f->model->grid_sum(f->st, f->cfg, &one, 0.5, spacing, got, &bad, f->scratch);
        one_unit(f, u, 0.5, g);
        for (int64_t j = 0; j < f->d; j++) {
            const double off = fabs((double)got[j] * spacing - (double)g[j]);
            PVT_CHECK(off <= spacing / 2 + 0x1p-24 * fabs((double)g[j]), "%s: unit %lld is %g from the grid", f->name,
                      (long long)u, off);
            total[j] += got[j];
        }
    }
    assert_memory_equal(total, all, sizeof *all * (size_t)f->d);
    free(g), free(got), free(all), free(total);
}

/* data.norm=max: every entry is at most C, and reaches it. */
static void check_largest(fixture *f)
{
    float *g = vector(f), most = 0;
    if (f->net) {
        free(g);
        return;
    }
    f->dom.max_norm = true;
    PVT_OK(f->model->begin(f->st, f->cfg, &f->dom, f->w, 0, arena));
    for (int64_t r = 0; r < f->t.n; r++) {
        f->t.norm[r] = 0;
        for (int64_t j = 0; j < P; j++) f->t.norm[r] = fmaxf(f->t.norm[r], fabsf(f->t.x[r * f->t.ld + j]));
    }
    for (int64_t u = 0; u < UNITS; u++) {
        one_unit(f, u, 0.5, g);
        for (int64_t j = 0; j < f->d; j++) {
            PVT_CHECK(fabsf(g[j]) <= 0.5f, "%s: unit %lld has an entry %.9g", f->name, (long long)u, (double)g[j]);
            if (sizes[u % SIZES] > 1) most = fmaxf(most, fabsf(g[j]));
        }
    }
    PVT_CHECK(f->mean || f->by_rows || most > 0.4999f, "%s: the largest entry is %g", f->name, (double)most);
    f->dom.max_norm = false;
    mend(f);
    PVT_OK(f->model->begin(f->st, f->cfg, &f->dom, f->w, 0, arena));
    free(g);
}

static void clip_is_of_the_unit(void **state)
{
    (void)state;
    for_each(check_clip);
}

static void units_add_one_after_the_other(void **state)
{
    (void)state;
    for_each(check_groups);
}

static void the_first_rows_are_a_unit(void **state)
{
    (void)state;
    for_each(check_prefix);
}

static void one_row_is_a_row(void **state)
{
    (void)state;
    for_each(check_ones);
}

static void bad_rows_add_nothing(void **state)
{
    (void)state;
    for_each(check_bad);
}

static void neighbours_are_near(void **state)
{
    (void)state;
    for_each(check_neighbours);
}

static void sparse_units_on_the_grid(void **state)
{
    (void)state;
    for_each(check_grid);
}

static void largest_entries_are_bounded(void **state)
{
    (void)state;
    for_each(check_largest);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(clip_is_of_the_unit),
                                      cmocka_unit_test(units_add_one_after_the_other),
                                      cmocka_unit_test(one_row_is_a_row),
                                      cmocka_unit_test(bad_rows_add_nothing),
                                      cmocka_unit_test(neighbours_are_near),
                                      cmocka_unit_test(sparse_units_on_the_grid),
                                      cmocka_unit_test(largest_entries_are_bounded),
                                      cmocka_unit_test(the_first_rows_are_a_unit) };
    return cmocka_run_group_tests(all, setup, teardown);
}
