/* oracle.c - sample, clip, sum, noise, meter: the only training code that computes on rows.
 *
 * One gradient query
 *   1. the meter takes the planned event, or the run stops here (P2)
 *   2. the sampler draws row positions; no row is looked at
 *   3. rows fall into groups fixed by position; the model returns each group's sum of clipped
 *      gradients as floats; the sum goes to the integer grid and is added exactly, so neither
 *      threads nor order change it (P8)
 *   4. the mechanism adds integer noise of scale sigma
 *   5. the result is divided by the expected, never the realised, batch size
 * One joint release of gradient and Hessian: the same with the longer vector of (8) in noise.c.
 * One release of second moments: the same, with (9) there.  Rows may then be turned: o->m becomes a copy.
 * One selection: the same 1 to 3, then the scores <v_k, sum> of the set's vertices, and the exponential mechanism
 * names one of them.
 * Nothing computed in 3 leaves this file before 4 (P1); on any error the output is zeroed.
 * The sensitivity of 3 is derived in plan.c. */
#include "run/run.h"

#include <float.h>

enum { MOST_TASK_GROUPS = 16, TASKS_PER_THREAD = 4 };

typedef struct lane { /* what one thread needs */
    float *g;         /* one group's sum: d numbers, and the Hessian's after them */
    int64_t *sum;     /* as many, on the grid */
    void *scratch;
    int64_t bad;
} lane;

struct pv_oracle {
    pv_ctx *ctx;
    const pvi_job *job;
    const pvi_matrix *m;
    pvi_matrix turned; /* its copy in other coordinates, see pv_turn_rows; x is owned */
    pv_domain dom;
    bool moments; /* the sum under way is of second moments */
    pv_rng *rng;
    pvi_tap tap;
    void *tap_user;
    pv_arena *arena; /* owned */
    void *model_st;
    pvi_meter *meter;
    int64_t *rows, n_rows;       /* the sample, ascending; NULL: all rows */
    int64_t *starts;             /* groups + 1 offsets into rows */
    int64_t groups, task_groups; /* groups one task adds up; speed only */
    int lanes;
    lane *lane;
    int64_t atoms;
    double *gradient, *score; /* of a selection */
    double *value;            /* of a joint release */
    int64_t queries, count[PVI_CERT_KINDS]; /* all, and by pvi_release_kind */
    const pv_event *scaled; /* of the last query with another noise than planned for one, and its factor */
    double factor;
};

static pv_status create_lanes(pv_oracle *o)
{
    const pvi_job *j = o->job;
    const size_t d = (size_t)j->release_d;
    size_t scratch = j->model.ops->scratch(j->model.cfg, &j->dom, pvi_most_rows(j));

    if (j->opt->joint) scratch = j->model.ops->hess->scratch(j->model.cfg, &j->dom);

    o->lanes = pvi_threads(o->ctx);
    o->lane = pv_arena_get(o->arena, sizeof *o->lane * (size_t)o->lanes);
    for (int i = 0; o->lane && i < o->lanes; i++) {
        lane *l = &o->lane[i];
        l->g = pv_arena_get(o->arena, d * sizeof *l->g);
        l->sum = pv_arena_get(o->arena, d * sizeof *l->sum);
        l->scratch = pv_arena_get(o->arena, scratch);
        if (!l->g || !l->sum || !l->scratch) return pvi_nomem(o->ctx);
    }
    return o->lane ? PV_OK : pvi_nomem(o->ctx);
}

static pv_status create_parts(pv_oracle *o)
{
    const pvi_job *j = o->job;
    const int64_t n = o->m->domain.n;

    o->arena = pvi_arena_create(o->ctx);
    if (!o->arena) return pvi_nomem(o->ctx);
    o->groups = (n + j->group_rows - 1) / j->group_rows;
    const double busy = j->sampler == PVI_CYCLIC ? j->rate : 1.0; /* share of the groups that a query touches */
    o->task_groups = (int64_t)(busy * (double)o->groups) / (TASKS_PER_THREAD * pvi_threads(o->ctx));
    o->task_groups = o->task_groups < 1 ? 1 : o->task_groups > MOST_TASK_GROUPS ? MOST_TASK_GROUPS : o->task_groups;
    if (j->sampler != PVI_FULL_BATCH) {
        o->rows = pv_arena_get(o->arena, sizeof *o->rows * (size_t)n);
        o->starts = pv_arena_get(o->arena, sizeof *o->starts * (size_t)(o->groups + 1));
        if (!o->rows || !o->starts) return pvi_nomem(o->ctx);
    }
    if (j->opt->selects) {
        o->atoms = j->prob.set->atoms(j->prob.set_st, j->prob.set_cfg, j->prob.d);
        o->gradient = pv_arena_f64(o->arena, j->prob.d);
        o->score = pv_arena_f64(o->arena, o->atoms);
        if (!o->gradient || !o->score) return pvi_nomem(o->ctx);
    }
    if (j->opt->joint && !(o->value = pv_arena_f64(o->arena, j->release_d))) return pvi_nomem(o->ctx);
    o->model_st = pv_arena_get(o->arena, j->model.ops->head.state_size);
    o->meter = pvi_meter_create(o->arena, j->events);
    if (!o->model_st || !o->meter) return pvi_nomem(o->ctx);
    return create_lanes(o);
}

pv_status pvi_oracle_create(const pvi_job *job, const pvi_matrix *m, pv_rng *rng, pvi_tap tap, void *tap_user,
                            pv_oracle **out)
{
    PVI_REQUIRE(m->domain.n == job->dom.n && m->domain.p == job->dom.p && m->domain.row_norm <= job->dom.row_norm);
    PVI_REQUIRE(!m->byte || job->model.ops->props & PV_PIXELS);
    PVI_REQUIRE(!job->private_run ||
                (job->noise_scale >= job->noise_multiplier * job->sensitivity && job->sensitivity > 0));
    *out = NULL;
    pv_oracle *o = pvi_alloc(job->ctx, sizeof *o);
    if (!o) return pvi_nomem(job->ctx);
    o->ctx = job->ctx;
    o->job = job;
    o->m = m;
    o->dom = job->dom;
    o->rng = rng;
    o->tap = tap;
    o->tap_user = tap_user;
    const pv_status s = create_parts(o);
    if (s != PV_OK) {
        pvi_oracle_free(o);
        return s;
    }
    *out = o;
    return PV_OK;
}

void pvi_oracle_free(pv_oracle *o)
{
    if (!o) return;
    pvi_arena_free(o->arena);
    pvi_free(o->ctx, o->turned.x);
    pvi_free(o->ctx, o);
}

bool pvi_oracle_spent_all(const pv_oracle *o)
{
    return pvi_meter_done(o->meter);
}

double pvi_oracle_fraction(const pv_oracle *o)
{
    return pvi_meter_fraction(o->meter);
}

int64_t pvi_oracle_queries(const pv_oracle *o)
{
    return o->queries;
}

int64_t pvi_oracle_count(const pv_oracle *o, pvi_release_kind kind)
{
    return o->count[kind];
}

static pvi_release_kind kind_of(const pv_oracle *o)
{
    const pv_optimizer_ops *opt = o->job->opt;
    if (opt->joint) return o->moments ? PVI_MOMENTS : PVI_HESSIAN;
    return opt->selects ? PVI_SELECTION : opt->ball ? PVI_ONE_ROW : PVI_GRADIENT;
}

int64_t pv_random_below(pv_oracle *o, int64_t n)
{
    return (int64_t)pvi_rng_below(o->rng, (uint64_t)n);
}

/* ---- step 2: which rows ---------------------------------------------------------------------------- */

static void draw_sample(pv_oracle *o)
{
    const pvi_job *j = o->job;
    int64_t next = 0;

    if (!o->rows) return;
    pvi_sample(o->rng, j->sampler, j->rate, j->dom.n, o->queries, o->rows, &o->n_rows);
    for (int64_t k = 0; k < o->groups; k++) {
        o->starts[k] = next;
        while (next < o->n_rows && o->rows[next] < (k + 1) * j->group_rows) next++;
    }
    o->starts[o->groups] = o->n_rows;
}

/* ---- step 3: group sums on the grid ------------------------------------------------------------------ */

static void add_joint(pv_oracle *o, lane *l, const pv_rows *rows)
{
    const pvi_job *j = o->job;
    const pv_joint *q = &j->joint;
    const int64_t d = j->prob.d, p = q->width, size = p * (p + 1) / 2;
    const float diagonal = pvi_joint_diagonal(q);
    float *h = l->g + d;
    int64_t *sum = l->sum + d;

    memset(l->g, 0, (size_t)j->release_d * sizeof *l->g);
    const pv_hess_ops *hess = j->model.ops->hess;
    (o->moments ? hess->moment : hess->sum)(o->model_st, j->model.cfg, rows, q, l->g, h, &l->bad, l->scratch);
    pvi_grid_add(l->g, j->spacing, l->sum, d);
    for (int64_t a = 0; a < q->blocks; a++)
        for (int64_t b = 0; b <= a; b++, h += size, sum += size) {
            for (int64_t r = 0; r < p; r++) h[r * (r + 3) / 2] *= diagonal;
            pvi_grid_add_times(h, pvi_joint_factor(q, a == b), j->spacing, sum, size);
        }
}

static void add_group(pv_oracle *o, lane *l, const pv_rows *rows)
{
    const pvi_job *j = o->job;
    if (j->opt->joint) {
        add_joint(o, l, rows);
        return;
    }
    if (j->sparse) {
        j->model.ops->grid_sum(o->model_st, j->model.cfg, rows, j->prob.G, j->spacing, l->sum, &l->bad, l->scratch);
        return;
    }
    memset(l->g, 0, (size_t)j->prob.d * sizeof *l->g);
    j->model.ops->grad_sum(o->model_st, j->model.cfg, rows, j->prob.G, l->g, &l->bad, l->scratch);
    pvi_grid_add(l->g, j->spacing, l->sum, j->prob.d);
}

static void sum_groups(void *arg, int64_t task, int thread)
{
    pv_oracle *o = arg;
    const int64_t width = o->job->group_rows, n = o->job->dom.n, most = pvi_most_rows(o->job);
    const int64_t first_group = task * o->task_groups;
    const int64_t last = first_group + o->task_groups < o->groups ? first_group + o->task_groups : o->groups;

    for (int64_t k = first_group; k < last; k++) {
        if (!o->rows) {
            const int64_t first = k * width;
            const pv_rows rows = pvi_matrix_rows(o->m, first, first + width < n ? width : n - first);
            add_group(o, &o->lane[thread], &rows);
            continue;
        }
        for (int64_t i = o->starts[k]; i < o->starts[k + 1]; i += most) {
            pv_rows rows = pvi_matrix_rows(o->m, 0, n);
            rows.pick = o->rows + i;
            rows.n = o->starts[k + 1] - i < most ? o->starts[k + 1] - i : most;
            add_group(o, &o->lane[thread], &rows);
        }
    }
}

/* Leaves the exact integer sum in lane 0. */
static void sum_rows(pv_oracle *o)
{
    const int64_t d = o->job->release_d;
    for (int i = 0; i < o->lanes; i++) memset(o->lane[i].sum, 0, (size_t)d * sizeof(int64_t));
    pvi_parallel(o->ctx, (o->groups + o->task_groups - 1) / o->task_groups, sum_groups, o);
    for (int i = 1; i < o->lanes; i++)
        for (int64_t k = 0; k < d; k++) o->lane[0].sum[k] += o->lane[i].sum[k];
}

/* ---- the query ------------------------------------------------------------------------------------------ */

/* Steps 1 to 3; the sum is in lane 0 and must not leave without noise. */
static pv_status sum_at(pv_oracle *o, const double *w, const pv_event *event, int64_t units)
{
    const pvi_job *j = o->job;
    int64_t odd = 0; /* no early return, so that vectors can do it */
    pv_status s;

    for (int64_t k = 0; k < j->prob.d; k++) odd |= !(fabs(w[k]) <= DBL_MAX);
    if (odd) return pvi_fail(o->ctx, PV_E_NUMERIC, "a weight is not finite: the step size is too large");
    for (int64_t k = 0; k < units; k++, o->queries++)
        if (!event || pvi_meter_spend(o->meter, event) != PV_OK)
            return pvi_fail(o->ctx, PV_E_PLAN, "the optimiser asked for a release that was not planned");
    o->count[kind_of(o)] += units;
    if ((s = j->model.ops->begin(o->model_st, j->model.cfg, &o->dom, w, o->arena)) != PV_OK)
        return s == PV_E_NOMEM ? pvi_nomem(o->ctx)
                               : pvi_fail(o->ctx, s,
                                          "the weights have grown beyond what a float holds: the step size is "
                                          "too large");
    draw_sample(o);
    sum_rows(o);
    return PV_OK;
}

/* out: release_d numbers. */
static pv_status release_sum(pv_oracle *o, const pv_event *event, double noise_scale, double *out)
{
    const pvi_job *j = o->job;
    const pvi_release r = { event, o->lane[0].sum, j->release_d, j->spacing, j->row_change, NULL };
    pv_status s = PV_OK;

    if (o->tap) o->tap(o->tap_user, &r, NULL);
    if (j->private_run) s = j->mech->add(o->rng, noise_scale, j->spacing, o->lane[0].sum, j->release_d);
    if (s != PV_OK) return pvi_fail(o->ctx, s, "noise could not be drawn: nothing was released");
    pvi_grid_value(o->lane[0].sum, j->spacing, 1.0 / j->prob.batch, out, j->release_d);
    if (o->tap) o->tap(o->tap_user, &r, out);
    return PV_OK;
}

pv_status pv_query_grad(pv_oracle *o, const double *w, double *g)
{
    PVI_REQUIRE(!o->job->opt->joint);
    memset(g, 0, (size_t)o->job->prob.d * sizeof *g);
    const pv_status s = sum_at(o, w, o->job->prob.grad_event, 1);
    return s == PV_OK ? release_sum(o, o->job->prob.grad_event, o->job->noise_scale, g) : s;
}

pv_status pv_query_grad_scaled(pv_oracle *o, const double *w, double factor, double *g)
{
    const pvi_job *j = o->job;
    PVI_REQUIRE(!j->opt->joint && factor >= 1.0 && isfinite(factor));
    memset(g, 0, (size_t)j->prob.d * sizeof *g);
    if (!o->scaled || o->factor != factor) {
        o->scaled = pvi_event_scale(o->arena, j->prob.grad_event, factor);
        o->factor = factor;
    }
    if (!o->scaled) return pvi_nomem(o->ctx);
    const pv_status s = sum_at(o, w, o->scaled, 1);
    return s == PV_OK ? release_sum(o, o->scaled, pv_up(j->noise_scale * factor, 2), g) : s;
}

/* H += share times the matrix of the released coordinates. */
static void add_matrix(const pvi_job *j, const double *value, double share, double *H)
{
    const pv_joint *q = &j->joint;
    const int64_t d = j->prob.d, p = q->width;
    for (int64_t a = 0; a < q->blocks; a++)
        for (int64_t b = 0; b <= a; b++) {
            const double f = share / (double)pvi_joint_factor(q, a == b);
            for (int64_t r = 0; r < p; r++)
                for (int64_t c = 0; c <= r; c++, value++) {
                    const double x = *value * f / (r == c ? (double)pvi_joint_diagonal(q) : 1.0);
                    H[(a * p + r) * d + b * p + c] += x;
                    if (r != c) H[(a * p + c) * d + b * p + r] += x;
                    if (a != b) H[(b * p + c) * d + a * p + r] += x;
                    if (a != b && r != c) H[(b * p + r) * d + a * p + c] += x;
                }
        }
}

pv_status pv_query_hess(pv_oracle *o, const double *w, int64_t units, double *g, double *H)
{
    const pvi_job *j = o->job;
    const int64_t d = j->prob.d, samples = j->sampler == PVI_FULL_BATCH ? 1 : units, each = units / samples;
    const double noise = pv_up(j->noise_scale / pvi_down(sqrt((double)each), 1), 2), share = 1.0 / (double)samples;

    PVI_REQUIRE(j->opt->joint && units >= 1);
    memset(g, 0, (size_t)d * sizeof *g);
    memset(H, 0, (size_t)(d * d) * sizeof *H);
    for (int64_t k = 0; k < samples; k++) { /* a sample for every event; all rows serve them all at once */
        pv_status s = sum_at(o, w, j->prob.joint_event, each);
        if (s == PV_OK) s = release_sum(o, j->prob.joint_event, noise, o->value);
        if (s != PV_OK) {
            memset(g, 0, (size_t)d * sizeof *g);
            memset(H, 0, (size_t)(d * d) * sizeof *H);
            return s;
        }
        for (int64_t i = 0; i < d; i++) g[i] += share * o->value[i];
        add_matrix(j, o->value + d, share, H);
    }
    return PV_OK;
}

/* For turned rows, before budget is spent to learn how to turn them. */
static bool make_room(pv_oracle *o)
{
    const size_t n = (size_t)o->dom.n, p = (size_t)o->dom.p;
    if (o->turned.x) return true;
    o->turned = (pvi_matrix) { .ctx = o->ctx, .domain = o->m->domain, .ld = o->dom.p, .y = o->m->y };
    o->turned.norm = pv_arena_get(o->arena, sizeof(float) * n);
    if (o->turned.norm)
        o->turned.x = pvi_realloc(o->ctx, NULL, 0, sizeof(float) * n * p); /* not zeroed: threads fill it */
    return o->turned.x;
}

pv_status pv_query_moment(pv_oracle *o, int64_t units, double *M)
{
    const pvi_job *j = o->job;
    const int64_t d = j->prob.d;
    PVI_REQUIRE(j->joint.row_norm > 0.0 && j->joint.blocks == 1 && o->m != &o->turned);
    double *zero = pv_arena_f64(o->arena, 2 * d), *g = zero + d;
    if (!zero || !make_room(o)) return pvi_nomem(o->ctx);
    o->moments = true;
    const pv_status s = pv_query_hess(o, zero, units, g, M);
    o->moments = false;
    for (int64_t i = 0; i < d * d; i++) M[i] *= j->joint.scale / j->joint.moment;
    return s;
}

typedef struct turning {
    pv_oracle *o;
    const float *A;
    int64_t lda;
} turning;

static void turn_groups(void *arg, int64_t task, int thread)
{
    const turning *t = arg;
    pv_oracle *o = t->o;
    const pvi_matrix *to = &o->turned;
    const int64_t n = o->dom.n, width = o->job->group_rows * o->task_groups, first = task * width;
    const pv_rows rows = pvi_matrix_rows(o->m, first, first + width < n ? width : n - first);
    o->job->model.ops->hess->turn(&rows, t->A, t->lda, to->x + first * to->ld, to->ld, to->norm + first,
                                  o->lane[thread].scratch);
}

pv_status pv_turn_rows(pv_oracle *o, const double *A)
{
    const pvi_job *j = o->job;
    const int64_t p = o->dom.p, lda = (p + 15) / 16 * 16;
    PVI_REQUIRE(j->joint.row_norm > 0.0 && o->turned.x && o->m != &o->turned);
    float *B = pv_arena_get(o->arena, sizeof *B * (size_t)(p * lda));
    if (!B) return pvi_nomem(o->ctx);
    for (int64_t i = 0; i < p; i++)
        for (int64_t k = 0; k < p; k++) B[i * lda + k] = (float)A[i * p + k];
    turning t = { o, B, lda };
    pvi_parallel(o->ctx, (o->groups + o->task_groups - 1) / o->task_groups, turn_groups, &t);
    o->m = &o->turned;
    o->dom.row_norm = INFINITY; /* nothing is known of the rows but their norms: all are clipped */
    return PV_OK;
}

pv_status pv_query_atom(pv_oracle *o, const double *w, int64_t *k)
{
    const pvi_job *j = o->job;
    const pv_problem *p = &j->prob;
    const pvi_release r = { p->atom_event, NULL, o->atoms, 1.0, j->score_change, o->score };
    double chosen;

    *k = 0;
    const pv_status s = sum_at(o, w, p->atom_event, 1);
    if (s != PV_OK) return s;
    pvi_grid_value(o->lane[0].sum, j->spacing, -1.0, o->gradient, p->d);
    p->set->scores(p->set_st, p->set_cfg, o->gradient, o->score, p->d); /* large where <v_k, sum> is small */
    if (o->tap) o->tap(o->tap_user, &r, NULL);
    if (j->private_run) {
        *k = pvi_select(o->rng, o->score, o->atoms, j->select_scale);
    } else {
        for (int64_t i = 1; i < o->atoms; i++)
            if (o->score[i] > o->score[*k]) *k = i;
    }
    chosen = (double)*k;
    if (o->tap) o->tap(o->tap_user, &r, &chosen);
    *k = (int64_t)chosen;
    return PV_OK;
}
