/* diagnose.c - NOT PRIVATE: the objective and how stationary a point is, from the rows without noise.
 *
 * Only with run.diagnostics.  At about POINTS iterates and at the returned model,
 *   (1)  F(w) = (1/n) sum_i f(w; z_i) + r(w),   g = (1/n) sum_i grad f(w; z_i), not clipped
 *   (2)  the measures of eval/stationarity.c that exist for this penalty and set; for the others, why they do not
 *   (3)  gamma = m/L for the projected gradient, m the mirror map's modulus, L the smoothness of what is handled by
 *        gradient; 1 where there is no L
 *
 * Privacy   none: these numbers are shown to whoever runs the training and to nobody else, the summary names them
 *           NOT PRIVATE, and the certificate says that it does not cover them.  They flow nowhere: no random
 *           number is drawn, the optimiser never sees them, and they are shown only after the last step, so that the
 *           weights and their guarantee are those of the same run without diagnostics.
 * Sums      rows are cut into at most SLOTS ranges by position, each summed on its own in doubles and the ranges
 *           added in order: the number of threads does not change a digit. */
#include "eval/eval.h"
#include "opt/opt.h"
#include "run/run.h"

enum { POINTS = 20, SLOTS = 16, CHUNK = 128 };
static const int64_t slot_room = 1 << 24; /* doubles in all slots together */

typedef enum measure { GRADIENT, PROJECTED, MIRROR, GAP, MEASURES } measure;
static const char *const measure_names[MEASURES] = { "gradient_norm", "projected_gradient", "mirror_gradient",
                                                     "frank_wolfe_gap" };

typedef struct point {
    int64_t step, bad;
    double loss, penalty, value[MEASURES];
} point;

typedef struct slot { /* one range of rows */
    double *g, loss;
    int64_t bad;
} slot;

struct pvi_diagnosis {
    const pvi_job *job;
    const pvi_matrix *m;
    pv_arena *arena; /* borrowed */
    void *model_st;
    int64_t slots;
    slot *slot;
    float **g; /* per thread */
    void **scratch;
    double *work;
    const pv_mirror_ops *euclidean, *mirror;
    const char *missing[MEASURES]; /* why there is none; NULL: there is one */
    point at[POINTS + 1];
    int64_t n;
    pvi_sosp sosp;
    bool second; /* there is one */
};

/* ---- what can be measured ----------------------------------------------------------------------------- */

/* NULL, or the reason why the map has no exact step for this penalty and set. */
static const char *refusal(pvi_diagnosis *d, const pv_mirror_ops *map)
{
    pv_ctx *ctx = d->job->ctx;
    if (map->check(ctx, d->job->prob.reg, d->job->prob.set) == PV_OK) return NULL;
    const char *why = pvi_arena_strdup(d->arena, ctx->err, strlen(ctx->err));
    ctx->err[0] = '\0';
    return why ? why : "no exact step";
}

static void find_missing(pvi_diagnosis *d)
{
    const pv_problem *p = &d->job->prob;
    const char *no_gradient = p->reg->grad ? NULL : "the penalty has no gradient";

    d->missing[GRADIENT] = p->set ? "the gradient need not vanish on a constraint set" : no_gradient;
    d->missing[PROJECTED] = refusal(d, d->euclidean);
    d->missing[MIRROR] =
        d->mirror == d->euclidean ? "no other mirror map is made for this set" : refusal(d, d->mirror);
    d->missing[GAP] = !p->set        ? "there is no constraint set"
                      : !p->set->lmo ? "the set has no linear oracle"
                                     : no_gradient;
}

pv_status pvi_diagnose_create(const pvi_job *j, const pvi_matrix *m, pv_arena *a, pvi_diagnosis **out)
{
    const size_t d = (size_t)j->prob.d, threads = (size_t)pvi_threads(j->ctx);
    const size_t scratch = j->model.ops->scratch(j->model.cfg, &j->dom, CHUNK);
    pvi_diagnosis *x = pv_arena_get(a, sizeof *x);

    *out = x;
    if (!x) return pvi_nomem(j->ctx);
    x->job = j;
    x->m = m;
    x->arena = a;
    x->slots = slot_room / j->prob.d < 1 ? 1 : slot_room / j->prob.d > SLOTS ? SLOTS : slot_room / j->prob.d;
    x->model_st = pv_arena_get(a, j->model.ops->head.state_size);
    x->slot = pv_arena_get(a, sizeof *x->slot * (size_t)x->slots);
    x->g = pv_arena_get(a, sizeof *x->g * threads);
    x->scratch = pv_arena_get(a, sizeof *x->scratch * threads);
    x->work = pv_arena_f64(a, 2 * j->prob.d);
    if (!x->model_st || !x->slot || !x->g || !x->scratch || !x->work) return pvi_nomem(j->ctx);
    for (size_t i = 0; i < threads; i++) {
        x->g[i] = pv_arena_get(a, sizeof(float) * d);
        x->scratch[i] = pv_arena_get(a, scratch);
        if (!x->g[i] || !x->scratch[i]) return pvi_nomem(j->ctx);
    }
    for (int64_t i = 0; i < x->slots; i++)
        if (!(x->slot[i].g = pv_arena_f64(a, j->prob.d))) return pvi_nomem(j->ctx);
    x->euclidean = pvi_mirror_default(NULL);
    x->mirror = pvi_mirror_default(j->prob.set);
    find_missing(x);
    return PV_OK;
}

/* ---- sums over all rows ---------------------------------------------------------------------------------- */

static void sum_range(void *arg, int64_t task, int thread)
{
    const pvi_diagnosis *x = arg;
    const pvi_job *j = x->job;
    const pv_model_ops *ops = j->model.ops;
    const int64_t n = j->dom.n, d = j->prob.d, first = n * task / x->slots, last = n * (task + 1) / x->slots;
    const int64_t flush = j->sparse ? 32 * CHUNK : CHUNK; /* rows per float sum; sparse rows cost less than d */
    float *g = x->g[thread];
    slot *s = &x->slot[task];

    memset(s->g, 0, (size_t)d * sizeof *s->g);
    s->loss = 0.0;
    s->bad = 0;
    for (int64_t start = first; start < last; start += flush) {
        const int64_t stop = start + flush < last ? start + flush : last;
        memset(g, 0, (size_t)d * sizeof *g);
        for (int64_t i = start; i < stop; i += CHUNK) {
            const pv_rows rows = pvi_matrix_rows(x->m, i, i + CHUNK < stop ? CHUNK : stop - i);
            ops->grad_sum(x->model_st, j->model.cfg, &rows, INFINITY, g, &s->bad, x->scratch[thread]);
            s->loss += ops->value_sum(x->model_st, j->model.cfg, &rows, x->scratch[thread]);
        }
        for (int64_t k = 0; k < d; k++) s->g[k] += (double)g[k];
    }
}

/* (1): the gradient is left in slot 0. */
static void sum_rows(pvi_diagnosis *x, point *at)
{
    const pvi_job *j = x->job;
    const int64_t d = j->prob.d;
    double *g = x->slot[0].g;

    pvi_parallel(j->ctx, x->slots, sum_range, x);
    at->loss = x->slot[0].loss;
    at->bad = x->slot[0].bad;
    for (int64_t i = 1; i < x->slots; i++) {
        at->loss += x->slot[i].loss;
        at->bad += x->slot[i].bad;
        for (int64_t k = 0; k < d; k++) g[k] += x->slot[i].g[k];
    }
    at->loss /= (double)j->dom.n;
    pvi_scale(g, 1.0 / (double)j->dom.n, d);
}

/* ---- one point --------------------------------------------------------------------------------------------- */

/* (2) */
static void measure_at(const pvi_diagnosis *x, const double *w, double value[MEASURES])
{
    const pv_problem *p = &x->job->prob;
    const double L = pvi_smoothness(p), gamma = isfinite(L) && L > 0.0 ? 1.0 / L : 1.0; /* (3) */
    const double *g = x->slot[0].g;

    for (int k = 0; k < MEASURES; k++) value[k] = NAN;
    if (!x->missing[GRADIENT]) value[GRADIENT] = pvi_gradient_norm(p, w, g, x->work);
    if (!x->missing[PROJECTED]) value[PROJECTED] = pvi_projected_gradient(p, x->euclidean, gamma, w, g, x->work);
    if (!x->missing[MIRROR])
        value[MIRROR] = pvi_projected_gradient(p, x->mirror, gamma * x->mirror->modulus(p), w, g, x->work);
    if (!x->missing[GAP]) value[GAP] = pvi_frank_wolfe_gap(p, w, g, x->work);
}

bool pvi_diagnose_due(int64_t t, int64_t T)
{
    return T <= POINTS || t * POINTS / T != (t - 1) * POINTS / T;
}

/* Leaves the gradient of the loss in slot 0; weights beyond what a float holds give a loss of NAN. */
static pv_status look_at(pvi_diagnosis *x, const double *w, point *at)
{
    const pvi_job *j = x->job;
    const pv_status s = j->model.ops->begin(x->model_st, j->model.cfg, &j->dom, w, 0, x->arena);
    if (s == PV_E_NOMEM) return pvi_nomem(j->ctx);
    at->loss = NAN;
    if (s == PV_OK) sum_rows(x, at);
    at->penalty = j->prob.reg->value(j->prob.reg_cfg, w, j->prob.d);
    return PV_OK;
}

pv_status pvi_diagnose_objective(pvi_diagnosis *x, const double *w, double *value)
{
    point at;
    const pv_status s = look_at(x, w, &at);
    if (s == PV_OK) *value = at.loss + at.penalty;
    return s;
}

pv_status pvi_diagnose_gradient(pvi_diagnosis *x, const double *w, double *g)
{
    const pv_problem *p = &x->job->prob;
    point at;
    const pv_status s = look_at(x, w, &at);
    memcpy(g, x->slot[0].g, (size_t)p->d * sizeof *g);
    if (s == PV_OK) p->reg->grad(p->reg_cfg, w, g, p->d);
    return s;
}

pv_status pvi_diagnose_end(pvi_diagnosis *x, int64_t step, const double *w)
{
    pv_status s = pvi_diagnose_at(x, step, w);
    x->second = x->job->opt->needs & PV_HESSIAN;
    if (s == PV_OK && x->second) s = pvi_diagnose_second(x->job, x->m, x, w, x->arena, &x->sosp);
    return s;
}

pv_status pvi_diagnose_at(pvi_diagnosis *x, int64_t step, const double *w)
{
    point *at = &x->at[x->n <= POINTS ? x->n++ : POINTS]; /* the returned model always has a place */
    const pv_status s = look_at(x, w, at);
    if (s != PV_OK) return s;
    at->step = step;
    measure_at(x, w, at->value);
    return PV_OK;
}

/* ---- report ---------------------------------------------------------------------------------------------------- */

static void write_point(const pvi_diagnosis *x, const point *at, pvi_jw *w)
{
    pvi_jw_f64(w, "objective", at->loss + at->penalty);
    pvi_jw_f64(w, "loss", at->loss);
    pvi_jw_f64(w, "penalty", at->penalty);
    for (int k = 0; k < MEASURES; k++)
        if (!x->missing[k]) pvi_jw_f64(w, measure_names[k], at->value[k]);
    pvi_jw_i64(w, "rows_not_finite", at->bad);
}

void pvi_diagnose_write(const pvi_diagnosis *x, pvi_jw *w, const char *key)
{
    pvi_jw_open(w, key, '{');
    pvi_jw_str(w, "warning", "NOT PRIVATE: computed from the rows without noise, not covered by the certificate");
    write_point(x, &x->at[x->n - 1], w);
    if (!x->missing[MIRROR]) pvi_jw_str(w, "mirror", x->mirror->head.name);
    pvi_jw_open(w, "missing", '{');
    for (int k = 0; k < MEASURES; k++)
        if (x->missing[k]) pvi_jw_str(w, measure_names[k], x->missing[k]);
    pvi_jw_close(w, '}');
    if (x->second) pvi_sosp_write(&x->sosp, w);
    pvi_jw_open(w, "curve", '[');
    for (int64_t i = 0; i + 1 < x->n; i++) {
        pvi_jw_open(w, NULL, '{');
        pvi_jw_i64(w, "step", x->at[i].step);
        write_point(x, &x->at[i], w);
        pvi_jw_close(w, '}');
    }
    pvi_jw_close(w, ']');
    pvi_jw_close(w, '}');
}
