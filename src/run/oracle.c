/* oracle.c - sample, clip, sum, noise, meter: the only training code that computes on rows.
 *
 * One release, a row of the plan (query/query.h):
 *   1. the meter takes the planned events of this row, or the run stops here (P2)
 *   2. the sampler draws the places of units; no row is looked at
 *   3. units fall into groups fixed by their place; the query adds up each group, onto the integer grid; integers add
 *      exactly, so neither threads nor order change the sum (P8), and processes would not either (comm); a query
 *      whose answer is no sum of units puts it on the grid itself
 *   4. the mechanism draws
 *   5. the query makes its answer of what was drawn, over the expected, never the realised, number of units
 * Nothing computed in 3 leaves this file before 4 (P1); on any error the answer is zeros.  The sensitivity of 3 is
 * derived in the query's file and in query/release.c.
 * Rows may be seen in other coordinates: a transformed row depends on one row of the table and on released values. */
#include "comm/comm.h"
#include "run/run.h"

#include <float.h>

/* LEAST_WORK: products of a release, some ten microseconds: to hand over less takes longer than to do it. */
enum { MOST_TASK_GROUPS = 16, TASKS_PER_THREAD = 4, LEAST_WORK = 1 << 15 };

typedef struct split {           /* of a release's units */
    int64_t groups, task_groups; /* groups one task adds up; speed only */
} split;

struct pv_oracle {
    pv_ctx *ctx;
    const pvi_job *job;
    const pvi_matrix *m;
    pvi_matrix transformed; /* the same in other coordinates */
    float *A;               /* its coordinates */
    float *copy;            /* owned: its x; NULL: where the rows stood, or they are transformed in each pass */
    pv_domain dom;
    const pvi_comm *comm;
    pv_rng *rng;
    pvi_tap tap;
    void *tap_user;
    pv_arena *arena; /* owned */
    void *model_st;
    pvi_meter *meter;
    split split[PVI_RELEASES];
    const pvi_release *now; /* the release under way, and its split */
    const split *parts;
    int64_t *units, n_units; /* the sample, ascending; room is NULL if every release is of every unit */
    int64_t *starts;         /* groups + 1 offsets into units: of the groups that it touches */
    int64_t from, to;        /* those groups */
    int lanes;
    pvi_lane *lane;
    void **room; /* of every lane, for so many units that are shown as a model sees them (pvi_matrix_show) */
    int64_t room_units;
    double *noisy, *score;               /* what was drawn; a selection's scores */
    int64_t number, count[PVI_RELEASES]; /* events spent: all, and by release */
    pv_event scaled[2]; /* of a release with another noise than planned: leaf, and the sampler above it */
};

static bool some(const pvi_job *j, int k)
{
    return k < j->releases && j->release[k].asked;
}

/* ---- making one ---------------------------------------------------------------------------------------------- */

pv_status pvi_oracle_rows(pv_oracle *o)
{
    PVI_REQUIRE(o->m->late || !o->job->sparse || o->m->ptr);
    for (int i = 0; i < o->lanes; i++)
        if (!(o->room[i] = pv_arena_get(o->arena, pvi_matrix_room(o->m, o->room_units)))) return pvi_nomem(o->ctx);
    return PV_OK;
}

static pv_status create_lanes(pv_oracle *o, int64_t length, size_t scratch)
{
    o->lanes = pvi_threads(o->ctx);
    o->lane = pv_arena_get(o->arena, sizeof *o->lane * (size_t)o->lanes);
    o->room = pv_arena_get(o->arena, sizeof *o->room * (size_t)o->lanes);
    for (int i = 0; o->lane && o->room && i < o->lanes; i++) {
        pvi_lane *l = &o->lane[i];
        l->g = pv_arena_get(o->arena, (size_t)length * sizeof *l->g);
        l->sum = pv_arena_get(o->arena, (size_t)length * sizeof *l->sum);
        l->scratch = pv_arena_get(o->arena, scratch);
        if (!l->g || !l->sum || !l->scratch) return pvi_nomem(o->ctx);
    }
    return o->lane && o->room ? pvi_oracle_rows(o) : pvi_nomem(o->ctx);
}

static void split_units(pv_oracle *o, int k)
{
    const pvi_release *r = &o->job->release[k];
    split *s = &o->split[k];
    const double busy = r->sampler->consecutive ? r->rate : 1.0; /* share of the groups that a query touches */
    const double work = r->rate * (double)o->m->domain.n * (double)r->q.length;
    s->groups = (o->m->domain.n + r->group - 1) / r->group;
    s->task_groups = (int64_t)(busy * (double)s->groups) / (TASKS_PER_THREAD * pvi_threads(o->ctx));
    s->task_groups = s->task_groups < 1 ? 1 : s->task_groups > MOST_TASK_GROUPS ? MOST_TASK_GROUPS : s->task_groups;
    if (work < LEAST_WORK) s->task_groups = s->groups;
}

/* Room for the largest of the releases. */
static pv_status create_parts(pv_oracle *o)
{
    const pvi_job *j = o->job;
    int64_t length = 1, groups = 1, scores = 0;
    size_t scratch = 1;
    bool sampled = false;

    if (!(o->arena = pvi_arena_create(o->ctx))) return pvi_nomem(o->ctx);
    for (int k = 0; k < PVI_RELEASES; k++) {
        if (!some(j, k)) continue;
        const pvi_release *r = &j->release[k];
        const pv_mechanism_ops *mech = r->kind->mech;
        const size_t need = r->q.ops->scratch(&r->q, r->most);
        split_units(o, k);
        length = r->q.length > length ? r->q.length : length;
        scratch = need > scratch ? need : scratch;
        o->room_units = r->most > o->room_units ? r->most : o->room_units;
        if (r->sampler->whole && r->group > o->room_units) o->room_units = r->group;
        groups = o->split[k].groups > groups ? o->split[k].groups : groups;
        sampled |= !r->sampler->whole;
        if (mech->scores && mech->scores(&r->noise) > scores) scores = mech->scores(&r->noise);
    }
    o->noisy = pv_arena_f64(o->arena, length);
    if (scores > 0) o->score = pv_arena_f64(o->arena, scores);
    if (sampled) {
        o->units = pv_arena_get(o->arena, sizeof *o->units * (size_t)o->m->domain.n);
        o->starts = pv_arena_get(o->arena, sizeof *o->starts * (size_t)(groups + 1));
    }
    o->model_st = pv_arena_get(o->arena, j->model.ops->head.state_size);
    o->meter = pvi_meter_create(o->arena, j->events);
    if (!o->noisy || (scores > 0 && !o->score) || (sampled && (!o->units || !o->starts)) || !o->model_st || !o->meter)
        return pvi_nomem(o->ctx);
    return create_lanes(o, length, scratch);
}

pv_status pvi_oracle_create(const pvi_job *job, const pvi_matrix *m, pv_rng *rng, pvi_tap tap, void *tap_user,
                            pv_oracle **out)
{
    PVI_REQUIRE(m->domain.n == job->dom.n && m->domain.p == job->dom.p && m->domain.row_norm <= job->dom.row_norm);
    PVI_REQUIRE(m->domain.unit_rows == job->dom.unit_rows && !m->start == !m->domain.unit_rows);
    PVI_REQUIRE(!m->start || job->model.ops->props & PV_UNITS);
    PVI_REQUIRE(!m->byte || job->model.ops->props & PV_PIXELS);
    PVI_REQUIRE(!job->sparse || m->ptr ||
                m->late); /* what one unit's rounding adds was planned for rows like these */
    for (int k = 0; job->private_run && k < PVI_RELEASES; k++) {
        const pv_noise *n = &job->release[k].noise;
        PVI_REQUIRE(!some(job, k) || (!n->off && n->sensitivity > 0.0 && n->scale >= n->multiplier * n->sensitivity));
    }
    *out = NULL;
    pv_oracle *o = pvi_alloc(job->ctx, sizeof *o);
    if (!o) return pvi_nomem(job->ctx);
    o->ctx = job->ctx;
    o->job = job;
    o->m = m;
    o->dom = job->dom;
    o->comm = &pvi_comm_one;
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
    pvi_free(o->ctx, o->copy);
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
    return o->number;
}

int64_t pvi_oracle_count(const pv_oracle *o, int k)
{
    return o->count[k];
}

int64_t pv_random_below(pv_oracle *o, int64_t n)
{
    return (int64_t)pvi_rng_below(o->rng, (uint64_t)n);
}

/* ---- 2: which units ------------------------------------------------------------------------------------------- */

static void draw_sample(pv_oracle *o)
{
    const pvi_release *r = o->now;
    int64_t next = 0;

    o->from = 0;
    o->to = o->parts->groups;
    if (r->sampler->whole) return;
    pvi_sample(o->rng, r->sampler, r->rate, o->dom.n, o->number, o->units, &o->n_units);
    o->to = o->n_units > 0 ? o->units[o->n_units - 1] / r->group + 1 : 0;
    o->from = o->n_units > 0 ? o->units[0] / r->group : 0;
    for (int64_t k = o->from; k < o->to; k++) {
        o->starts[k] = next;
        while (next < o->n_units && o->units[next] < (k + 1) * r->group) next++;
    }
    o->starts[o->to] = o->n_units;
}

/* ---- 3: group sums on the grid --------------------------------------------------------------------------------- */

static void add_units(pv_oracle *o, pv_rows *units, int thread)
{
    pvi_matrix_show(o->m, units, o->room[thread]);
    o->now->q.ops->add(&o->now->q, o->model_st, units, o->now->noise.spacing, &o->lane[thread]);
}

static pv_rows units_from(const pv_oracle *o, int64_t first, int64_t n)
{
    pv_rows units = pvi_matrix_rows(o->m, first, n);
    units.prefix = o->dom.unit_rows < units.unit_rows;
    if (units.prefix) units.unit_rows = o->dom.unit_rows;
    units.unit_combine = o->dom.unit_combine;
    units.unit_weight = o->dom.unit_weight;
    return units;
}

/* Units i .. i+n-1 of the sample; those behind them, up to `end`, come next. */
static pv_rows picked_units(const pv_oracle *o, int64_t i, int64_t n, int64_t end)
{
    if (o->now->sampler->consecutive) return units_from(o, o->units[i], n); /* side by side: no list of places */
    pv_rows units = units_from(o, 0, o->dom.n);
    units.pick = o->units + i;
    units.n = n;
    units.next = end - i - n;
    return units;
}

static void sum_groups(void *arg, int64_t task, int thread)
{
    pv_oracle *o = arg;
    const int64_t width = o->now->group, n = o->dom.n, most = o->now->most;
    const int64_t first_group = o->from + task * o->parts->task_groups;
    const int64_t last = first_group + o->parts->task_groups < o->to ? first_group + o->parts->task_groups : o->to;

    for (int64_t k = first_group; k < last; k++) {
        if (o->now->sampler->whole) {
            const int64_t first = k * width;
            pv_rows units = units_from(o, first, first + width < n ? width : n - first);
            add_units(o, &units, thread);
            continue;
        }
        for (int64_t i = o->starts[k], end = o->starts[k + 1]; i < end; i += most) {
            pv_rows units = picked_units(o, i, end - i < most ? end - i : most, o->starts[last]);
            add_units(o, &units, thread);
        }
    }
}

/* Leaves the exact integer sum in lane 0. */
static void sum_units(pv_oracle *o)
{
    const int64_t d = o->now->q.length;
    for (int i = 0; i < o->lanes; i++) memset(o->lane[i].sum, 0, (size_t)d * sizeof(int64_t));
    pvi_parallel(o->ctx, (o->to - o->from + o->parts->task_groups - 1) / o->parts->task_groups, sum_groups, o);
    for (int i = 1; i < o->lanes; i++)
        for (int64_t k = 0; k < d; k++) o->lane[0].sum[k] += o->lane[i].sum[k];
    o->comm->sum(o->comm, o->lane[0].sum, d);
}

/* Or what the query makes of the whole table. */
static pv_status collect(pv_oracle *o)
{
    const pvi_query *q = &o->now->q;
    if (!q->ops->evaluate) {
        sum_units(o);
        return PV_OK;
    }
    PVI_REQUIRE(o->now->sampler->whole && o->comm == &pvi_comm_one && !o->m->cell);
    const pv_rows all = pvi_matrix_rows(o->m, 0, o->dom.n);
    return q->ops->evaluate(q, &all, o->now->noise.spacing, o->lane, o->lanes);
}

/* ---- 1: the meter, and the model at the point asked for -------------------------------------------------------- */

/* The event of a schedule's step, made in place: there may be as many factors as steps. */
static const pv_event *event_for(pv_oracle *o, double factor)
{
    const pv_event *planned = o->now->event;
    if (factor == 1.0 || !planned) return planned;
    const bool sampled = planned->sub != NULL;
    PVI_REQUIRE(!sampled || !planned->sub->sub);
    o->scaled[0] = pvi_event_leaf_scale(sampled ? planned->sub : planned, factor);
    o->scaled[1] = *planned;
    o->scaled[1].sub = &o->scaled[0];
    return &o->scaled[sampled];
}

static pv_status spend(pv_oracle *o, int k, int64_t events, double factor)
{
    const pv_event *event = event_for(o, factor);
    for (int64_t i = 0; i < events; i++)
        if (!event || pvi_meter_spend(o->meter, k, event) != PV_OK)
            return pvi_fail(o->ctx, PV_E_PLAN, "the optimiser asked for a release that was not planned");
    o->number += events;
    o->count[k] += events;
    return PV_OK;
}

static pv_status begin(pv_oracle *o, const double *at)
{
    const pvi_job *j = o->job;
    int64_t odd = 0; /* no early return, so that vectors can do it */
    if (!o->now->q.ops->takes_weights) return PV_OK;
    for (int64_t k = 0; k < j->prob.d; k++) odd |= !(fabs(at[k]) <= DBL_MAX);
    if (odd) return pvi_fail(o->ctx, PV_E_NUMERIC, "a weight is not finite: the step size is too large");
    const pv_status s = j->model.ops->begin(o->model_st, j->model.cfg, &o->dom, at, o->number, o->arena);
    if (s == PV_E_NOMEM) return pvi_nomem(o->ctx);
    return s == PV_OK
               ? s
               : pvi_fail(o->ctx, s, "the weights have grown beyond what a float holds: the step size is too large");
}

/* ---- 4: the draw ----------------------------------------------------------------------------------------------- */

static void draw(pv_oracle *o, double times, double unit, double *out)
{
    const pv_noise *n = &o->now->noise;
    const pv_mechanism_ops *mech = o->now->kind->mech;
    const pvi_seen seen = { o->now, o->lane[0].sum, mech->score ? o->score : NULL,
                            mech->scores ? mech->scores(n) : n->length };
    if (mech->score) mech->score(n, o->lane[0].sum, o->noisy, o->score);
    if (o->tap) o->tap(o->tap_user, &seen, NULL);
    mech->draw(n, o->rng, times, unit, o->lane[0].sum, o->score, out);
    if (o->tap) o->tap(o->tap_user, &seen, out);
}

/* ---- a release, and as many of them as an answer takes --------------------------------------------------------- */

/* Is the answer what was drawn, with nothing to be made of it or added to it? */
static bool is_direct(const pvi_release *r, int64_t sums)
{
    return r->kind->mech->scores || (!r->q.ops->value && sums == 1);
}

/* out += share times the noisy sum, or what the query makes of it. */
static void add_answer(const pv_oracle *o, double share, double *out)
{
    const pvi_query *q = &o->now->q;
    if (q->ops->value) {
        q->ops->value(q, o->noisy, share, out);
        return;
    }
    for (int64_t i = 0; i < q->length; i++) out[i] += share * o->noisy[i];
}

/* One of `sums` that an answer takes; `events` are spent on it. */
static pv_status release(pv_oracle *o, int k, const double *at, int64_t events, int64_t sums, double factor,
                         double *out)
{
    const double times = events == 1 ? factor : pv_up(factor / pvi_down(sqrt((double)events), 1), 2);
    const bool direct = is_direct(&o->job->release[k], sums);
    pv_status s;
    PVI_REQUIRE(pvi_fenv_is_default());
    o->now = &o->job->release[k];
    o->parts = &o->split[k];
    if ((s = spend(o, k, events, factor)) != PV_OK || (s = begin(o, at)) != PV_OK) return s;
    pvi_rng_begin(o->rng);
    draw_sample(o);
    if ((s = collect(o)) != PV_OK) return s;
    const double share = 1.0 / (double)sums / o->now->batch;
    double *to = direct ? out : o->noisy;
    if (o->comm->rank == 0) draw(o, times, direct ? share : 1.0, to);
    s = o->comm->share(o->comm, PV_OK, to, o->now->kind->mech->scores ? 1 : o->now->q.length);
    if (s == PV_OK && !direct) add_answer(o, share, out);
    return s;
}

pv_status pv_ask(pv_oracle *o, int k, const double *at, pv_spend how, double *out)
{
    PVI_REQUIRE(k >= 0 && some(o->job, k) && how.events >= 1 && how.factor >= 1.0 && isfinite(how.factor));
    const pvi_release *r = &o->job->release[k];
    const int64_t sums = r->sampler->whole ? 1 : how.events, each = how.events / sums;
    const size_t size = sizeof *out * (size_t)(r->kind->mech->scores ? 1 : r->q.values);
    pv_status s = PV_OK;
    if (!is_direct(r, sums)) memset(out, 0, size);
    for (int64_t i = 0; s == PV_OK && i < sums;
         i++) /* a sample for every event; every unit serves them all at once */
        s = release(o, k, at, each, sums, how.factor, out);
    if (s != PV_OK) memset(out, 0, size);
    return s;
}

/* The rows of a unit stand in an order that no row has a say in: the first are any (data/persons.c (3)). */
void pvi_oracle_cap(pv_oracle *o, int64_t rows)
{
    PVI_REQUIRE(o->m->start && rows >= 1 && rows <= o->dom.unit_rows);
    o->dom.unit_rows = rows;
}

/* ---- rows in other coordinates --------------------------------------------------------------------------------- */

static int64_t stored_rows(const pv_oracle *o)
{
    return o->m->start ? o->m->stored : o->dom.n;
}

/* Does a copy of its own hold them?  It costs memory, transforming in each pass as much time as the pass: a copy
 * where it is small, or where gradients alone are asked for, which take rows as they are stored.  Decided by public
 * numbers: how many rows persons own is not one, how many they may own at most is. */
static bool copies(const pv_oracle *o)
{
    const double rows = (double)o->dom.n * (o->m->start ? (double)o->m->domain.unit_rows : 1.0);
    const double size = sizeof(float) * rows * (double)o->dom.p;
    bool second = true;
    for (int k = 0; k < PVI_RELEASES; k++) second &= !some(o->job, k) || pvi_kind_is_second(o->job->release[k].kind);
    return !second || size <= 0x1p20 * (double)o->job->plan->s.copy;
}

pv_status pv_transform_reserve(pv_oracle *o)
{
    const size_t n = (size_t)stored_rows(o), p = (size_t)o->dom.p, width = (p + 15) / 16 * 16;
    pvi_matrix *t = &o->transformed;
    *t = *o->m;
    if (!(o->A = pv_arena_get(o->arena, sizeof *o->A * p * width))) return pvi_nomem(o->ctx);
    if (t->spare || !copies(o)) return PV_OK;
    t->norm = pv_arena_get(o->arena, sizeof(float) * n);
    if (t->norm)
        t->spare = o->copy = pvi_realloc(o->ctx, NULL, 0, sizeof(float) * n * p); /* not zeroed: threads fill it */
    return t->spare ? PV_OK : pvi_nomem(o->ctx);
}

typedef struct transform {
    pv_oracle *o;
    pvi_matrix from;
    int64_t width; /* rows a task takes */
} transform;

static void transform_rows(void *arg, int64_t task, int thread)
{
    const transform *t = arg;
    pv_oracle *o = t->o;
    const pvi_matrix *to = &o->transformed;
    const int64_t n = stored_rows(o), end = (task + 1) * t->width < n ? (task + 1) * t->width : n;
    const int64_t most = t->from.cell ? o->room_units : t->width;
    for (int64_t i = task * t->width; i < end; i += most) {
        pv_rows rows = pvi_matrix_stored(&t->from, i, end - i < most ? end - i : most);
        pvi_matrix_show(&t->from, &rows, o->room[thread]);
        o->job->model.ops->hess->transform(&rows, to->spare + i * to->ld, to->ld, to->norm + i,
                                           o->lane[thread].scratch);
    }
}

/* Every row to a place of its own, which may be where it stands. */
static void transform_all(pv_oracle *o)
{
    pvi_matrix *to = &o->transformed;
    transform t = { o, *to, o->job->release[0].group * o->split[0].task_groups };
    t.from.norm = o->m->norm;
    to->ld = o->dom.p;
    if (!o->copy && t.from.ld < to->ld) { /* from the end: no row is overwritten before it has moved */
        for (int64_t r = stored_rows(o); r-- > 0;)
            memmove(to->spare + r * to->ld, to->spare + r * t.from.ld, sizeof(float) * (size_t)t.from.ld);
        t.from.ld = to->ld;
    }
    to->x = to->spare;
    to->ptr = NULL;
    to->cell = NULL;
    to->bias = 0.0f;
    to->unit = false;
    to->A = NULL;
    to->domain.row_norm = INFINITY; /* bias and gain are applied: rows are what they are */
    pvi_parallel(o->ctx, (stored_rows(o) + t.width - 1) / t.width, transform_rows, &t);
}

pv_status pv_transform_rows(pv_oracle *o, const double *A)
{
    const int64_t p = o->dom.p, lda = (p + 15) / 16 * 16;
    PVI_REQUIRE(o->job->joint.row_norm > 0.0 && o->A && o->m != &o->transformed);
    for (int64_t i = 0; i < p; i++)
        for (int64_t k = 0; k < p; k++) o->A[i * lda + k] = (float)A[i * p + k];
    o->transformed.A = o->A;
    if (o->transformed.spare) transform_all(o);
    o->m = &o->transformed;
    o->dom.row_norm = INFINITY; /* nothing is known of the rows but their norms: all are clipped */
    return PV_OK;
}
