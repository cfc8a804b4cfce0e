/* diagnose.c - NOT PRIVATE: the objective and how stationary a point is, from the rows without noise.
 *
 * With run.diagnostics on the rows to train on, with run.holdout on others; what run.measure names.  At about POINTS
 * iterates, or every run.every-th, and at the returned model,
 *   (1)  F(w) = (1/n) sum_i f(w; z_i) + r(w),   g = (1/n) sum_i grad f(w; z_i), not clipped
 *   (2)  the measures of eval/stationarity.c that exist for this penalty and set; for the others, why they do not
 *   (3)  gamma = m/L for the projected gradient, m the mirror map's modulus, L the smoothness of what is handled by
 *        gradient; 1 where there is no L
 *   (4)  the lowest eigenvalue of the Hessian (curvature.c); accuracy, log loss and AUC, or the root mean square
 *        error
 * On held-out rows g is what Theorem 3 of the trust-region paper calls the population gradient, but for their number.
 *
 * Privacy   none: these numbers are shown to whoever runs the training and to nobody else, the summary names them
 *           NOT PRIVATE, and the certificate says that it does not cover them.  They flow nowhere: no random
 *           number is drawn, and the optimiser never sees them, so that the weights are those of the same run without
 *           diagnostics.  measures.c says when they are shown, and what that means for the guarantee.
 * Sums      rows are cut into at most SLOTS ranges by position, each summed on its own in doubles and the ranges
 *           added in order: the number of threads does not change a digit. */
#include "eval/eval.h"
#include "opt/opt.h"
#include "run/run.h"

enum { POINTS = 20, MOST_POINTS = 100000, SLOTS = 16, CHUNK = 128 };
static const int64_t slot_room = 1 << 24;  /* doubles in all slots together */
static const int64_t score_room = 1 << 28; /* floats */

typedef enum measure {
    GRADIENT,
    PROJECTED,
    MIRROR,
    GAP,
    LOWEST,
    LOWEST_ERROR,
    ACCURACY,
    LOG_LOSS,
    AUC,
    RMSE,
    MEASURES
} measure;
static const struct {
    const char *name;
    unsigned of;
} measures[MEASURES] = {
    [GRADIENT] = { "gradient_norm", PVI_MEASURE_GRADIENT },
    [PROJECTED] = { "projected_gradient", PVI_MEASURE_GRADIENT },
    [MIRROR] = { "mirror_gradient", PVI_MEASURE_GRADIENT },
    [GAP] = { "frank_wolfe_gap", PVI_MEASURE_GRADIENT },
    [LOWEST] = { "lambda_min", PVI_MEASURE_CURVATURE },
    [LOWEST_ERROR] = { "lambda_min_error", PVI_MEASURE_CURVATURE },
    [ACCURACY] = { "accuracy", PVI_MEASURE_ACCURACY },
    [LOG_LOSS] = { "log_loss", PVI_MEASURE_ACCURACY },
    [AUC] = { "auc", PVI_MEASURE_ACCURACY },
    [RMSE] = { "rmse", PVI_MEASURE_ACCURACY },
};

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
    float **g;               /* per thread */
    void **scratch, **shown; /* of every thread; shown: for rows that are shown */
    double *work;
    const pv_mirror_ops *euclidean, *mirror;
    unsigned wanted, now;          /* what is measured; of it, what the sum under way is for: bits of run.h */
    const char *missing[MEASURES]; /* why there is none; NULL: there is one */
    float *score;
    int64_t outputs;
    double *lanczos;
    point *at;
    int64_t n, room, every; /* every 0: about POINTS */
    pvi_sosp sosp;
    bool second; /* there will be one */
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
    d->missing[LOWEST] = d->missing[LOWEST_ERROR] = pvi_curvature_missing(d->job);
    const bool classes = d->job->dom.classes != 0; /* "": what nobody expects of such labels */
    const char *scores = d->score ? NULL : "there are too many scores to hold";
    d->missing[ACCURACY] = d->missing[LOG_LOSS] = d->missing[AUC] = classes ? scores : "";
    d->missing[RMSE] = classes ? "" : scores;
}

static bool is_measured(const pvi_diagnosis *x, int k)
{
    return x->wanted & measures[k].of && !x->missing[k];
}

/* How many points there will be, at most, the returned model among them. */
static pv_status plan_points(pvi_diagnosis *x)
{
    const pvi_job *j = x->job;
    const int64_t T = j->opt->steps(j->opt_cfg), set = j->plan->s.every;
    x->every = set == PV_AUTO_I64 ? 0 : set;
    x->room = (x->every ? T / x->every : POINTS) + 2;
    if (x->room > MOST_POINTS)
        return pvi_fail(j->ctx, PV_E_PARAM, "run.every=%lld: %lld measures, at most %d are kept: measure less often",
                        (long long)set, (long long)x->room, MOST_POINTS);
    x->at = pv_arena_get(x->arena, sizeof *x->at * (size_t)x->room);
    return x->at ? PV_OK : pvi_nomem(j->ctx);
}

/* Room for scores and for Lanczos vectors, where they are wanted. */
static pv_status take_room(pvi_diagnosis *x)
{
    const pvi_job *j = x->job;
    const int64_t n = x->m->domain.n;
    x->outputs = j->model.ops->outputs(j->model.cfg, &j->dom);
    if (x->wanted & PVI_MEASURE_ACCURACY && n <= score_room / x->outputs &&
        !(x->score = pv_arena_get(x->arena, sizeof *x->score * (size_t)(n * x->outputs))))
        return pvi_nomem(j->ctx);
    x->second = x->wanted & PVI_MEASURE_SECOND && j->opt->needs & PV_HESSIAN;
    const bool curved = x->second || (x->wanted & PVI_MEASURE_CURVATURE && !pvi_curvature_missing(j));
    if (curved && !(x->lanczos = pv_arena_f64(x->arena, pvi_curvature_work(j->prob.d)))) return pvi_nomem(j->ctx);
    return PV_OK;
}

pv_status pvi_diagnose_create(const pvi_job *j, const pvi_matrix *m, unsigned wanted, pv_arena *a,
                              pvi_diagnosis **out)
{
    const size_t d = (size_t)j->prob.d, threads = (size_t)pvi_threads(j->ctx);
    const size_t scratch = j->model.ops->scratch(j->model.cfg, &j->dom, CHUNK);
    pvi_diagnosis *x = pv_arena_get(a, sizeof *x);

    *out = x;
    if (!x) return pvi_nomem(j->ctx);
    x->job = j;
    x->m = m;
    x->arena = a;
    x->wanted = wanted;
    x->slots = slot_room / j->prob.d < 1 ? 1 : slot_room / j->prob.d > SLOTS ? SLOTS : slot_room / j->prob.d;
    x->model_st = pv_arena_get(a, j->model.ops->head.state_size);
    x->slot = pv_arena_get(a, sizeof *x->slot * (size_t)x->slots);
    x->g = pv_arena_get(a, sizeof *x->g * threads);
    x->scratch = pv_arena_get(a, sizeof *x->scratch * threads);
    x->shown = pv_arena_get(a, sizeof *x->shown * threads);
    x->work = pv_arena_f64(a, 2 * j->prob.d);
    if (!x->model_st || !x->slot || !x->g || !x->scratch || !x->shown || !x->work) return pvi_nomem(j->ctx);
    for (size_t i = 0; i < threads; i++) {
        x->g[i] = pv_arena_get(a, sizeof(float) * d);
        x->scratch[i] = pv_arena_get(a, scratch);
        x->shown[i] = pv_arena_get(a, pvi_matrix_room(x->m, CHUNK));
        if (!x->g[i] || !x->scratch[i] || !x->shown[i]) return pvi_nomem(j->ctx);
    }
    for (int64_t i = 0; i < x->slots; i++)
        if (!(x->slot[i].g = pv_arena_f64(a, j->prob.d))) return pvi_nomem(j->ctx);
    x->euclidean = pvi_mirror_default(NULL);
    x->mirror = pvi_mirror_default(j->prob.set);
    pv_status s = take_room(x);
    if (s == PV_OK) s = plan_points(x);
    if (s == PV_OK) find_missing(x);
    return s;
}

/* ---- sums over all rows ---------------------------------------------------------------------------------- */

static void sum_range(void *arg, int64_t task, int thread)
{
    const pvi_diagnosis *x = arg;
    const pvi_job *j = x->job;
    const pv_model_ops *ops = j->model.ops;
    const int64_t n = x->m->domain.n, d = j->prob.d, first = n * task / x->slots, last = n * (task + 1) / x->slots;
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
            pv_rows rows = pvi_matrix_rows(x->m, i, i + CHUNK < stop ? CHUNK : stop - i);
            pvi_matrix_show(x->m, &rows, x->shown[thread]);
            if (x->now & PVI_MEASURE_GRADIENT)
                ops->grad_sum(x->model_st, j->model.cfg, &rows, INFINITY, g, &s->bad, x->scratch[thread]);
            if (x->now & PVI_MEASURE_LOSS)
                s->loss += ops->value_sum(x->model_st, j->model.cfg, &rows, x->scratch[thread]);
            if (x->now & PVI_MEASURE_ACCURACY)
                ops->predict(x->model_st, j->model.cfg, &rows, x->score + i * x->outputs, x->scratch[thread]);
        }
        for (int64_t k = 0; x->now & PVI_MEASURE_GRADIENT && k < d; k++) s->g[k] += (double)g[k];
    }
}

/* (1): the gradient is left in slot 0. */
static void sum_rows(pvi_diagnosis *x, point *at)
{
    const pvi_job *j = x->job;
    const int64_t d = j->prob.d, n = x->m->domain.n;
    double *g = x->slot[0].g;

    pvi_parallel(j->ctx, x->slots, sum_range, x);
    at->loss = x->slot[0].loss;
    at->bad = x->slot[0].bad;
    for (int64_t i = 1; i < x->slots; i++) {
        at->loss += x->slot[i].loss;
        at->bad += x->slot[i].bad;
        for (int64_t k = 0; k < d; k++) g[k] += x->slot[i].g[k];
    }
    at->loss /= (double)n;
    pvi_scale(g, 1.0 / (double)n, d);
}

/* ---- one point --------------------------------------------------------------------------------------------- */

/* (2) */
static void measure_at(const pvi_diagnosis *x, const double *w, double value[MEASURES])
{
    const pv_problem *p = &x->job->prob;
    const double L = pvi_smoothness(p), gamma = isfinite(L) && L > 0.0 ? 1.0 / L : 1.0; /* (3) */
    const double *g = x->slot[0].g;

    for (int k = 0; k < MEASURES; k++) value[k] = NAN;
    if (!(x->wanted & PVI_MEASURE_GRADIENT)) return;
    if (!x->missing[GRADIENT]) value[GRADIENT] = pvi_gradient_norm(p, w, g, x->work);
    if (!x->missing[PROJECTED]) value[PROJECTED] = pvi_projected_gradient(p, x->euclidean, gamma, w, g, x->work);
    if (!x->missing[MIRROR])
        value[MIRROR] = pvi_projected_gradient(p, x->mirror, gamma * x->mirror->modulus(p), w, g, x->work);
    if (!x->missing[GAP]) value[GAP] = pvi_frank_wolfe_gap(p, w, g, x->work);
}

bool pvi_diagnose_due(const pvi_diagnosis *x, int64_t t, int64_t T)
{
    if (x->every) return t % x->every == 0;
    return T <= POINTS || t * POINTS / T != (t - 1) * POINTS / T;
}

/* (4): of the scores that the sum under way left; what has no value, after a run that diverged, stays NAN. */
static pv_status measure_scores(pvi_diagnosis *x, double value[MEASURES])
{
    pv_ctx *ctx = x->job->ctx;
    pvi_metrics m;
    const pv_status s = pvi_metrics_compute(ctx, &x->m->domain, x->m->domain.n, x->score, x->m->y, 0.0, &m);
    if (s == PV_E_NOMEM) return s;
    ctx->err[0] = '\0';
    if (s != PV_OK) return PV_OK;
    value[ACCURACY] = m.accuracy;
    value[LOG_LOSS] = m.log_loss;
    value[AUC] = m.auc;
    value[RMSE] = m.rmse;
    pvi_metrics_free(ctx, &m);
    return PV_OK;
}

/* Leaves the gradient of the loss in slot 0; weights beyond what a float holds give a loss of NAN. */
static pv_status look_at(pvi_diagnosis *x, const double *w, unsigned what, point *at)
{
    const pvi_job *j = x->job;
    x->now = what;
    const pv_status s = j->model.ops->begin(x->model_st, j->model.cfg, &j->dom, w, 0, x->arena);
    if (s == PV_E_NOMEM) return pvi_nomem(j->ctx);
    at->loss = NAN;
    if (s == PV_OK) sum_rows(x, at);
    at->penalty = pvi_penalty_value(&j->prob, w);
    return PV_OK;
}

pv_status pvi_diagnose_objective(pvi_diagnosis *x, const double *w, double *value)
{
    point at;
    const pv_status s = look_at(x, w, PVI_MEASURE_LOSS, &at);
    if (s == PV_OK) *value = at.loss + at.penalty;
    return s;
}

pv_status pvi_diagnose_gradient(pvi_diagnosis *x, const double *w, double *g)
{
    const pv_problem *p = &x->job->prob;
    point at;
    const pv_status s = look_at(x, w, PVI_MEASURE_GRADIENT, &at);
    memcpy(g, x->slot[0].g, (size_t)p->d * sizeof *g);
    if (s == PV_OK) pvi_penalty_grad(p, w, g);
    return s;
}

pv_status pvi_diagnose_end(pvi_diagnosis *x, int64_t step, const double *w)
{
    pv_status s = pvi_diagnose_at(x, step, w);
    if (s == PV_OK && x->second) s = pvi_diagnose_second(x->job, x->m, x, w, x->arena, &x->sosp);
    return s;
}

static pv_status measure_curvature(pvi_diagnosis *x, const double *w, double value[MEASURES])
{
    pvi_lowest low;
    const pv_status s = pvi_diagnose_lowest(x, w, &low);
    value[LOWEST] = low.value;
    value[LOWEST_ERROR] = low.error;
    return s;
}

pv_status pvi_diagnose_lowest(pvi_diagnosis *x, const double *w, pvi_lowest *out)
{
    return pvi_curvature(x, x->job->prob.d, w, x->lanczos, out);
}

pv_status pvi_diagnose_at(pvi_diagnosis *x, int64_t step, const double *w)
{
    point *at = &x->at[x->n + 1 < x->room ? x->n++ : x->room - 1]; /* the returned model always has a place */
    const bool scored = x->score && x->wanted & PVI_MEASURE_ACCURACY;
    const unsigned gradient = x->wanted & PVI_MEASURE_GRADIENT, loss = x->wanted & PVI_MEASURE_LOSS;
    pv_status s = look_at(x, w, gradient | loss | (scored ? PVI_MEASURE_ACCURACY : 0u), at);
    if (s != PV_OK) return s;
    at->step = step;
    measure_at(x, w, at->value);
    if (scored) s = measure_scores(x, at->value);
    if (s == PV_OK && is_measured(x, LOWEST)) s = measure_curvature(x, w, at->value);
    return s;
}

/* ---- report ---------------------------------------------------------------------------------------------------- */

static void write_point(const pvi_diagnosis *x, const point *at, pvi_jw *w)
{
    if (x->wanted & PVI_MEASURE_LOSS) {
        pvi_jw_f64(w, "objective", at->loss + at->penalty);
        pvi_jw_f64(w, "loss", at->loss);
        pvi_jw_f64(w, "penalty", at->penalty);
    }
    for (int k = 0; k < MEASURES; k++)
        if (is_measured(x, k)) pvi_jw_f64(w, measures[k].name, at->value[k]);
    if (x->wanted & PVI_MEASURE_GRADIENT) pvi_jw_i64(w, "rows_not_finite", at->bad);
}

void pvi_diagnose_write_last(const pvi_diagnosis *x, pvi_jw *w)
{
    pvi_jw_i64(w, "step", x->at[x->n - 1].step);
    write_point(x, &x->at[x->n - 1], w);
}

void pvi_diagnose_write(const pvi_diagnosis *x, pvi_jw *w, const char *key, const char *warning)
{
    pvi_jw_open(w, key, '{');
    pvi_jw_str(w, "warning", warning);
    write_point(x, &x->at[x->n - 1], w);
    if (is_measured(x, MIRROR)) pvi_jw_str(w, "mirror", x->mirror->head.name);
    pvi_jw_open(w, "missing", '{');
    for (int k = 0; k < MEASURES; k++)
        if (x->wanted & measures[k].of && x->missing[k] && *x->missing[k] && k != LOWEST_ERROR)
            pvi_jw_str(w, measures[k].name, x->missing[k]);
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
