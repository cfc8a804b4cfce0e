/* test_queries.c - what every query promises in its file, measured over the list of queries, with several losses, on
 * dense and on sparse rows, and on transformed rows, which may be longer than the declared norm:
 *   a unit adds at most bound.absent, another in its place changes at most bound.other, up to the error of one unit
 *   the float sum of m units is within rounding(m) of the sum of its units, and one that adds nothing leaves no trace
 *   exactly `length` numbers are summed and `values` answered; without noise the answer is the average of the units
 *   other() finds the bound that open() declared
 * Units at their limits are among them, so that the test would see a violation: bounds are nearly reached somewhere.
 * Every kind of release is made of a query of the list and samplers of theirs. */
#include "arenatest.h"
#include "modeltest.h"
#include "plug.h"
#include "query/query.h"

enum { N = 256, P = 11, LIMITS = 2 * P + 2, PAD = 7, GUARD = 77 };
static const double R = 1.5;

typedef struct fixture {
    pv_problem prob;
    pv_domain dom;
    pvi_query q;
    const char *model;
    bool dense, longer;
    mt_rows t;
    void *st;
    pvi_lane lane;
    double spacing, error; /* of one unit */
    double *v;             /* N x length: what each unit adds */
} fixture;

static double reached[16][2]; /* by query: the largest norm and change seen, over their bounds */

/* ---- units ------------------------------------------------------------------------------------------------- */

/* +-R along each axis, two rows of zeros, then rows of many lengths up to R; all of them `times` as long. */
static mt_rows make_rows(int64_t classes, double times)
{
    mt_rows t = mt_make(5, N, P, 1, classes);
    uint64_t seed = 9;
    for (int64_t i = 0; i < N; i++) {
        float *x = t.x + i * t.ld;
        double s = 0;
        for (int64_t j = 0; j < P && i < LIMITS; j++) x[j] = j == i / 2 ? (i % 2 ? -1.0f : 1.0f) : 0.0f;
        for (int64_t j = 0; j < P; j++) s += (double)x[j] * (double)x[j];
        const double length = times * (i < LIMITS ? R : R * fmin(1.0, 1.3 * pvt_uniform(&seed)));
        for (int64_t j = 0; j < P; j++) x[j] = (float)(s > 0 ? (double)x[j] * length / sqrt(s) * (1 - 0x1p-22) : 0.0);
    }
    mt_norms(&t);
    mt_csr(&t);
    return t;
}

static pv_rows units_of(const fixture *f, const int64_t *pick, int64_t n)
{
    pv_rows u = mt_view(&f->t, f->dense, false);
    u.pick = pick;
    u.n = n;
    return u;
}

/* sum (length numbers, and a guard behind them): of the units picked. */
static void add(fixture *f, const int64_t *pick, int64_t n, int64_t *sum)
{
    const int64_t d = f->q.length;
    const pv_rows u = units_of(f, pick, n);
    memset(f->lane.sum, 0, sizeof *sum * (size_t)d);
    for (int64_t k = 0; k < PAD; k++) f->lane.sum[d + k] = GUARD;
    f->q.ops->add(&f->q, f->st, &u, f->spacing, &f->lane);
    for (int64_t k = 0; k < PAD; k++) PVT_IS(f->lane.sum[d + k], GUARD);
    memcpy(sum, f->lane.sum, sizeof *sum * (size_t)d);
}

static double norm(const double *x, const double *y, int64_t d)
{
    double s = 0;
    for (int64_t k = 0; k < d; k++) s += y ? (x[k] - y[k]) * (x[k] - y[k]) : x[k] * x[k];
    return sqrt(s);
}

static double error_of(const fixture *f, int64_t m)
{
    return f->q.ops->rounding(&f->q, m) + pvi_grid_error(f->spacing, f->q.length);
}

/* ---- checks -------------------------------------------------------------------------------------------------- */

static void check_opened(const fixture *f)
{
    const pvi_query_ops *ops = f->q.ops;
    const pvi_bound b = f->q.bound;
    PVT_TRUE(ops->name && ops->summary && ops->full >= 1 && ops->sampled >= ops->mean && ops->mean >= 1);
    PVT_TRUE(ops->batch_share >= 1.0 && ops->batch_most >= 1.0);
    PVT_TRUE(f->q.length >= 1 && f->q.values >= 1);
    PVT_TRUE(b.absent > 0.0 && isfinite(b.other) && b.other <= 2.0 * b.absent * (1 + 1e-12));
    PVT_REL(ops->other(b.absent, f->prob.C, f->q.joint.convex), b.other, 1e-12);
    PVT_TRUE(ops->rounding(&f->q, 1) >= 0.0 && ops->rounding(&f->q, 100) >= ops->rounding(&f->q, 1));
}

static void check_bounds(fixture *f, double most[2])
{
    const int64_t d = f->q.length;
    const pvi_bound b = f->q.bound;
    int64_t *sum = calloc((size_t)d, sizeof *sum);
    for (int64_t i = 0; i < N; i++) {
        add(f, &i, 1, sum);
        for (int64_t k = 0; k < d; k++) f->v[i * d + k] = (double)sum[k] * f->spacing;
        const double size = norm(f->v + i * d, NULL, d);
        most[0] = fmax(most[0], size / b.absent);
        PVT_CHECK(size <= b.absent + f->error, "%s, %s: unit %lld adds %.9g, at most %.9g", f->q.ops->name, f->model,
                  (long long)i, size, b.absent);
    }
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < i; k++) {
            const double change = norm(f->v + i * d, f->v + k * d, d);
            most[1] = fmax(most[1], change / b.other);
            PVT_CHECK(change <= b.other + 2 * f->error, "%s, %s: %lld in place of %lld changes %.9g, at most %.9g",
                      f->q.ops->name, f->model, (long long)i, (long long)k, change, b.other);
        }
    free(sum);
}

/* Of m units, each known up to the error of one; then with units that add nothing between them. */
static void check_sum(fixture *f, int64_t m, uint64_t *seed)
{
    const int64_t d = f->q.length;
    const double allowed = error_of(f, m) + (double)m * f->error;
    int64_t *sum = calloc((size_t)d, sizeof *sum), *again = calloc((size_t)d, sizeof *again), pick[2 * N], more = 0;
    double *exact = calloc((size_t)d, sizeof *exact), *got = calloc((size_t)d, sizeof *got);
    int64_t with[2 * N];
    for (int64_t i = 0; i < m; i++) {
        pick[i] = (int64_t)(pvt_u64(seed) % N);
        for (int64_t k = 0; k < d; k++) exact[k] += f->v[pick[i] * d + k];
        with[more++] = pick[i];
        if (i % 3 == 0) with[more++] = LIMITS - 1;
    }
    add(f, pick, m, sum);
    for (int64_t k = 0; k < d; k++) got[k] = (double)sum[k] * f->spacing;
    PVT_CHECK(norm(got, exact, d) <= allowed, "%s, %s: the sum of %lld is off by %g, at most %g", f->q.ops->name,
              f->model, (long long)m, norm(got, exact, d), allowed);
    if (norm(f->v + (LIMITS - 1) * d, NULL, d) == 0.0) {
        add(f, with, more, again);
        for (int64_t k = 0; k < d; k++) PVT_IS(again[k], sum[k]);
    }
    free(sum), free(again), free(exact), free(got);
}

/* out += the answer of `noisy`; nothing behind it is touched. */
static void answer(const fixture *f, const double *noisy, double share, double *out)
{
    for (int64_t k = 0; k < PAD; k++) out[f->q.values + k] = GUARD;
    if (f->q.ops->value) f->q.ops->value(&f->q, noisy, share, out);
    for (int64_t i = 0; !f->q.ops->value && i < f->q.length; i++) out[i] += share * noisy[i]; /* as the oracle does */
    for (int64_t k = 0; k < PAD; k++) PVT_TRUE(out[f->q.values + k] == GUARD);
}

/* A unit's answer as its model or the row itself gives it, losses of one number only; false: not known here. */
static bool known_answer(const fixture *f, int64_t i, double *out)
{
    const char *name = f->q.ops->name;
    const float *x = f->t.x + i * f->t.ld;
    const pv_rows u = units_of(f, &i, 1);
    const double R2 = f->q.joint.row_norm * f->q.joint.row_norm;
    const bool mean = strcmp(name, "mean") == 0, alone = strcmp(name, "curvature") == 0;
    const bool hessian = strcmp(name, "hessian") == 0 || alone;
    pv_joint joint = f->q.joint;
    if (alone) joint.clip = 2 * hypot(joint.grad, joint.scale * joint.hess); /* nothing shared */
    float g[P] = { 0 }, h[P * (P + 1) / 2] = { 0 };
    int64_t bad = 0;
    if (f->prob.d != P || f->longer) return false;
    if (strcmp(name, "gradient") == 0) f->q.model->grad_sum(f->st, f->q.cfg, &u, f->prob.C, g, &bad, f->lane.scratch);
    else if (hessian) f->q.model->hess->sum(f->st, f->q.cfg, &u, &joint, g, h, &bad, f->lane.scratch);
    else if (strcmp(name, "moments") != 0 && !mean) return false;
    for (int64_t j = 0; j < P && f->q.values != P * P; j++) out[j] = mean ? (double)x[j] : (double)g[j];
    for (int64_t j = 0; j < P && f->q.values >= P * P; j++)
        for (int64_t k = 0; k < P; k++)
            out[f->q.values - P * P + j * P + k] = hessian
                                                       ? (double)h[j > k ? j * (j + 1) / 2 + k : k * (k + 1) / 2 + j]
                                                       : (double)x[j] * (double)x[k] / R2;
    return true;
}

static void check_answers(fixture *f)
{
    const int64_t d = f->q.length, n = f->q.values;
    const double scale = f->q.joint.scale > 0.0 ? fmin(1.0, f->q.joint.scale) : 1.0; /* of matrices in a sum */
    double *mean = calloc((size_t)(n + PAD), sizeof *mean), *one = calloc((size_t)(n + PAD), sizeof *one);
    double *total = calloc((size_t)(n + PAD), sizeof *total), *sum = calloc((size_t)d, sizeof *sum);
    for (int64_t i = 0; i < N; i++) {
        memset(one, 0, sizeof *one * (size_t)n);
        answer(f, f->v + i * d, 1.0, one);
        if (known_answer(f, i, mean))
            PVT_CHECK(norm(one, mean, n) <= 8 * f->error / scale + 1e-6 * norm(mean, NULL, n),
                      "%s, %s: unit %lld: the answer is %g away", f->q.ops->name, f->model, (long long)i,
                      norm(one, mean, n));
        PVT_TRUE(i == LIMITS - 1 || norm(f->v + i * d, NULL, d) == 0.0 || norm(one, NULL, n) > 0.0);
        for (int64_t k = 0; k < n; k++) total[k] += one[k] / N;
        for (int64_t k = 0; k < d; k++) sum[k] += f->v[i * d + k];
    }
    memset(mean, 0, sizeof *mean * (size_t)n);
    answer(f, sum, 0.5 / N, mean); /* adds, so that samples can be averaged */
    answer(f, sum, 0.5 / N, mean);
    PVT_NEAR(norm(mean, total, n), 0.0, 1e-9 * (1 + norm(total, NULL, n)));
    free(mean), free(one), free(total), free(sum);
}

/* ---- every query, every loss ----------------------------------------------------------------------------------*/

static void close_query(fixture *f)
{
    free(f->lane.g), free(f->lane.sum), free(f->lane.scratch), free(f->v);
}

/* Three histograms of four bins: where the first columns lie within the declared norm.  The second has no bin for
 * zeros. */
static int64_t bin_of(const pvi_bins *b, const pv_rows *units, int64_t u, int64_t r, int64_t h)
{
    const mt_rows *t = b->arg;
    const double x = (double)t->x[units->pick[u] * t->ld + h] / R;
    (void)r;
    if (h == 1 && x == 0.0) return -1;
    return (int64_t)fmin(3.0, fmax(0.0, floor(2.0 * (x + 1.0))));
}

/* false: not for this loss. */
static bool open_query(fixture *f, const pvi_query_ops *ops)
{
    f->q.ops = ops;
    f->q.prob = &f->prob;
    f->q.dom = &f->dom;
    f->q.sparse = !f->dense && f->q.model->grid_sum;
    f->q.per_unit = false;
    f->q.bins = (pvi_bins) { .histograms = 3, .bins = 4, .place = bin_of, .arg = &f->t };
    const pv_status s = ops->open(&f->q, ctx);
    if (s == PV_E_UNSUPPORTED) return false;
    PVT_OK(s);
    const int64_t d = f->q.length;
    const double B = f->q.bound.absent;
    f->spacing = pvi_grid_spacing(B, N, B, d);
    PVT_TRUE(f->spacing > 0.0);
    f->error = error_of(f, 1);
    const size_t scratch = ops->scratch(&f->q, N) + f->q.model->scratch(f->q.cfg, &f->dom, N);
    f->lane = (pvi_lane) { .g = aligned_alloc(64, (sizeof(float) * (size_t)d + 127) / 64 * 64),
                           .sum = calloc((size_t)(d + PAD), sizeof(int64_t)),
                           .scratch = aligned_alloc(64, (scratch + 127) / 64 * 64) };
    f->v = calloc((size_t)(N * d), sizeof *f->v);
    return true;
}

static void check_query(fixture *f, int k)
{
    double most[2] = { 0 };
    uint64_t seed = 4;
    if (pvi_queries[k]->evaluate) return;                           /* no sum of units: test_descent.c */
    if (pvi_queries[k]->parts && !(f->q.joint.scale > 0.0)) return; /* no second derivatives */
    if (!open_query(f, pvi_queries[k])) return;
    check_opened(f);
    check_bounds(f, most);
    for (int64_t m = 1; m <= pvi_queries[k]->sampled && m <= N; m = m < 4 ? m + 1 : 2 * m) check_sum(f, m, &seed);
    check_answers(f);
    for (int i = 0; i < 2; i++) reached[k][i] = fmax(reached[k][i], most[i]);
    close_query(f);
}

typedef struct loss {
    const pv_model_ops *model;
    const void *cfg;
    const char *name;
    uint32_t props;
    int64_t classes;
} loss;

static void run(const loss *of, double clip, bool longer)
{
    const pv_model_ops *model = of->model;
    uint64_t seed = 3;
    double G, L;
    fixture f = { .model = of->name, .longer = longer, .t = make_rows(of->classes, longer ? 3.0 : 1.0) };
    f.dom = (pv_domain) { .n = N, .p = P, .row_norm = R, .classes = of->classes, .y_lo = -4, .y_hi = 4 };
    pv_domain seen = f.dom;
    if (longer) seen.row_norm = INFINITY;
    f.q.model = model;
    f.q.cfg = of->cfg;
    model->constants(of->cfg, &f.dom, &G, &L);
    f.prob =
        (pv_problem) { .ctx = ctx, .n = N, .d = model->dim(of->cfg, &f.dom), .G = G, .C = fmin(G, clip), .L = L };
    f.q.joint.grad = f.prob.C;
    if (model->hess && of->props & PV_HESSIAN) {
        model->hess->bounds(of->cfg, &f.dom, &f.q.joint);
        f.q.joint.scale = 0.9 * f.prob.C / f.q.joint.hess;
    }
    const pv_joint joint = f.q.joint;
    f.prob.joint = &joint;
    f.st = calloc(1, model->head.state_size);
    double *w = calloc((size_t)f.prob.d, sizeof *w);
    for (int64_t j = 0; j < f.prob.d; j++) w[j] = 2 * pvt_normal(&seed);
    PVT_OK(model->begin(f.st, of->cfg, &seen, w, 1, arena));
    for (int dense = longer ? 1 : 0; dense < 2; dense++) /* transformed rows are dense */
        for (int k = 0; pvi_queries[k] && (!longer || joint.row_norm > 0.0); k++) {
            f.dense = dense;
            f.q.joint = joint;
            check_query(&f, k);
        }
    mt_free(&f.t);
    free(f.st), free(w);
}

static void run_all(const loss *of, double loose, double tight)
{
    run(of, loose, false);
    run(of, tight, false);
    run(of, tight, true);
    run(of, loose, true);
}

static void every_query_keeps_its_bounds(void **state)
{
    const pv_plugin *head, *named;
    (void)state;
    for (int64_t i = 0; (head = pv_nth(PV_KIND_model, i)); i++) {
        const pv_model_ops *model = (const pv_model_ops *)(const void *)head;
        if (model->open) continue; /* networks: test_nets.c */
        const loss own = { model, NULL, head->name, model->props, 3 };
        if (!(model->props & PV_OF_LOSSES)) run_all(&own, 1e9, 0.4);
        for (int64_t l = 0; model->props & PV_OF_LOSSES && (named = pv_nth(PV_KIND_loss, l)); l++) {
            const pv_loss_ops *ops = (const pv_loss_ops *)(const void *)named;
            const pvi_glm_cfg cfg = { ops, plug_cfg(ctx, arena, named, NULL, NULL) };
            run_all(&(loss) { model, &cfg, named->name, ops->props, ops->props & PV_CLASSIFY ? 2 : 0 }, 3.0, 0.3);
        }
    }
    for (int k = 0; pvi_queries[k]; k++) { /* or the test could not see a violation */
        if (pvi_queries[k]->evaluate) continue;
        PVT_CHECK(reached[k][0] > 0.95, "%s: no unit comes near its bound: %.3f", pvi_queries[k]->name,
                  reached[k][0]);
        PVT_CHECK(reached[k][1] > 0.7, "%s: no change comes near its bound: %.3f", pvi_queries[k]->name,
                  reached[k][1]);
    }
}

static void every_kind_is_of_the_lists(void **state)
{
    (void)state;
    for (const pvi_release_kind *kind = pvi_release_kinds; kind->name; kind++) {
        bool listed = false;
        for (int k = 0; pvi_queries[k]; k++) listed |= pvi_queries[k] == kind->query;
        PVT_CHECK(listed, "%s: its query is not in query.def", kind->name);
        PVT_CHECK(pv_find(PV_KIND_mechanism, kind->mech->head.name), "%s: unknown mechanism", kind->name);
        PVT_CHECK(kind->proof && strstr(kind->proof, "query_"), "%s: no proof is named", kind->name);
        PVT_TRUE(kind->samplers[0] && pvi_kind_named(kind->name) == kind);
        PVT_TRUE(pvi_kind_of(&(pv_ask_row) { kind->query, kind->mech, NULL, NULL }) == (kind->stage ? NULL : kind));
        for (int s = 0; kind->samplers[s]; s++) {
            bool known = false;
            for (int k = 0; pvi_samplers[k]; k++) known |= pvi_samplers[k] == kind->samplers[s];
            PVT_CHECK(known, "%s: a sampler that is in no list", kind->name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(every_query_keeps_its_bounds),
                                      cmocka_unit_test(every_kind_is_of_the_lists) };
    return cmocka_run_group_tests(all, setup, teardown);
}
