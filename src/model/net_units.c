/* net_units.c - networks: units of several rows, whose gradients are added up before they are clipped once.
 *
 *   g_r    gradient of row r of a unit, with several views the mean of theirs (net_views.c)
 *   v      the sum of the g_r of a unit, all weights, formed as floats (units.c (1)), as a convolution's in net.c (3)
 *   s, b   fl(1/k) for the mean, 1 for the sum, and what a unit counts: a and b of units.c (2)
 *
 * Micro-batches hold rows of any units: going forward and backward, a row's values do not depend on what stands
 * beside it (net_run.h).  Then unit by unit the squared norms n_l^2 s^2 of v layer by layer, the factors f of net.c
 * for them, and
 *   (1) g += fl(f fl(s b)) v, layer by layer, b <= 1.
 *       Of a dense layer v is a sum of products a_r b_r', whose norm is found from inner products, rounded up, with
 *       (a_r, 1) for a_r as the bias is in it (gram.c); it is formed in registers as it is added, for all units of
 *       the micro-batch.  Where that does not pay or is not precise, and of other layers, v is formed in memory.
 *       Flat clipping: f <= C (1 - 4u)(1 + u)/(n s), s b and the product off by another u each, and 0 where it is
 *       below the normal floats: what is added has norm <= C in exact arithmetic, as in net.c (M1); layer by layer
 *       and automatic likewise.
 *       (M2), (M3): units.c.
 * A unit of one row is added as in net.c, with the same bits.  A row that is not usable adds nothing to v; with
 * several views, a unit with a view that is not usable adds nothing.
 * Views are drawn by a row's place (net_views.c), which must not depend on how many rows other units have: row i of
 * the unit at place u has place
 *   (2) u K + i,   K the most rows that a unit may have, i < K. */
#include "gram.h"
#include "net_run.h"
#include "units.h"

/* Rows from .. to-1 that are usable, as taps of a dense layer. */
static int64_t usable_taps(const pvi_place *c, pvi_net_work *k, int64_t from, int64_t to)
{
    int64_t rows = 0;
    for (int64_t e = from; e < to; e++) {
        if (!k->usable[e]) continue;
        k->at[rows] = (int32_t)(e * c->in_size);
        k->bt[rows++] = (int32_t)(e * c->out_size);
    }
    return rows;
}

static const int32_t zero[PVI_NET_BATCH];
static const float one = 1.0f;

static void form_dense(const pvi_net_state *s, pvi_net_work *k, int64_t from, int64_t to, bool more, float *v)
{
    for (int64_t i = s->plan.first_dense; i < s->net->n; i++) {
        const pvi_layer *l = &s->net->layer[i];
        const pvi_place *c = &s->plan.place[i];
        if (l->kind != PVI_LAYER_DENSE) continue;
        const int64_t rows = usable_taps(c, k, from, to);
        const pvi_taps weights = { k->at, rows, 1, l->in.c, 0 }, biases = { zero, rows, 1, 1, 0 };
        s->kernel->outer(&weights, k->x + c->in, k->x + c->delta, k->bt, l->units, more, v + l->weights);
        s->kernel->outer(&biases, &one, k->x + c->delta, k->bt, l->units, more, v + l->biases);
    }
}

static void form_others(const pvi_net_state *s, pvi_net_work *k, int64_t from, int64_t to, bool more, float *v)
{
    for (int64_t i = s->plan.first_dense; i < s->net->n; i++) {
        const pvi_layer *l = &s->net->layer[i];
        const int64_t n = l->n_weights + l->n_biases;
        if (n == 0 || l->kind == PVI_LAYER_DENSE) continue;
        if (!more) memset(v + l->weights, 0, sizeof *v * (size_t)n);
        for (int64_t e = from; e < to; e++)
            if (k->usable[e]) s->kernel->axpy(1.0f, k->x + s->plan.place[i].inst + e * n, n, v + l->weights);
    }
    if (!more) memset(v, 0, sizeof *v * (size_t)s->plan.head);
    for (int64_t e = from; e < to; e++) {
        if (!k->usable[e]) continue;
        pvi_net_back_head(s, k, e);
        s->kernel->axpy(1.0f, k->x + s->plan.inst, s->plan.head, v);
    }
}

void pvi_net_form(const pvi_net_state *s, pvi_net_work *k, int64_t from, int64_t to, bool more, float *v)
{
    form_dense(s, k, from, to, more, v);
    form_others(s, k, from, to, more, v);
}

bool pvi_net_add_vector(const pvi_net_state *s, const pvi_net_cfg *c, double clip, const float *v, float share,
                        double weight, float *g)
{
    const float part = (float)((double)share * weight);
    double norm2[PVI_MAX_LAYERS];
    float factor[PVI_MAX_LAYERS];
    for (int64_t i = 0; i < s->net->n; i++) {
        const pvi_layer *l = &s->net->layer[i];
        if (l->n_weights)
            norm2[i] =
                s->kernel->squares(v + l->weights, l->n_weights + l->n_biases) * ((double)share * (double)share);
    }
    if (!pvi_net_factors(s, c, clip, norm2, factor)) return false;
    for (int64_t i = 0; i < s->net->n; i++) {
        const pvi_layer *l = &s->net->layer[i];
        if (l->n_weights)
            s->kernel->axpy(pvi_times(factor[i], part), v + l->weights, l->n_weights + l->n_biases,
                            g + l->weights); /* (1) */
    }
    return true;
}

typedef struct job {
    const pvi_net_state *s;
    const pvi_net_cfg *c;
    const pv_rows *units;
    double clip;
    float *g;
    int64_t *n_bad;
    pvi_net_work *k;
} job;

/* ---- dense layers whose sums stay in registers ----------------------------------------------------------------- */

typedef struct waiting { /* units of the micro-batch whose dense layers are still to be added */
    int64_t n, from, to; /* units; their examples */
    int64_t size[PVI_NET_BATCH];
    float f[PVI_MAX_LAYERS][PVI_NET_BATCH];
    bool alone[PVI_NET_BATCH];
} waiting;

static void add_waiting(const pvi_net_state *s, pvi_net_work *k, waiting *w, float *g)
{
    for (int64_t i = s->plan.first_dense; i < s->net->n && w->n > 0; i++) {
        const pvi_layer *l = &s->net->layer[i];
        const pvi_place *c = &s->plan.place[i];
        if (l->kind != PVI_LAYER_DENSE) continue;
        const int64_t rows = usable_taps(c, k, w->from, w->to);
        const pvi_taps weights = { k->at, rows, 1, l->in.c, 0 }, biases = { zero, rows, 1, 1, 0 };
        const pvi_runs runs = { w->n, w->size, w->f[i], w->alone };
        s->kernel->outer_units(&weights, k->x + c->in, k->x + c->delta, k->bt, l->units, &runs, g + l->weights);
        s->kernel->outer_units(&biases, &one, k->x + c->delta, k->bt, l->units, &runs, g + l->biases);
    }
    w->n = 0;
}

/* The next unit waits: its usable examples of from .. to-1. */
static void let_wait(const pvi_net_work *k, waiting *w, int64_t from, int64_t to, bool alone)
{
    if (w->n == 0) w->from = from;
    w->to = to;
    w->size[w->n] = 0;
    for (int64_t e = from; e < to; e++) w->size[w->n] += k->usable[e];
    w->alone[w->n++] = alone;
}

/* The squared norm of a dense layer's v, rounded up; negative: unknown. */
static double dense_square(const pvi_net_state *s, const pvi_net_work *k, int64_t i, const int64_t *e, int64_t n)
{
    const pvi_place *c = &s->plan.place[i];
    const float *a[PVI_NET_BATCH], *b[PVI_NET_BATCH];
    double A[PVI_NET_BATCH * PVI_NET_BATCH], B[PVI_NET_BATCH * PVI_NET_BATCH], own[PVI_NET_BATCH];
    int64_t m = 0;
    for (int64_t r = 0; r < n; r++) {
        const float *const delta = k->x + c->delta + e[r] * c->out_size;
        const double b2 = s->kernel->squares(delta, c->out_size), all = k->norm2[e[r]][i];
        if (b2 == 0.0 && all == 0.0) continue; /* adds exact zeros: 0 times what is finite */
        if (!(b2 >= 0x1p-80 && b2 <= 0x1p80 && all <= 0x1p80 * b2)) return -1.0;
        a[m] = k->x + c->in + e[r] * c->in_size;
        b[m] = delta;
        own[m++] = sqrt(all);
    }
    for (int64_t r = 0; r < m; r++) {
        s->kernel->inner(a[r], a + r + 1, m - r - 1, c->in_size, A + r * m + r + 1);
        s->kernel->inner(b[r], b + r + 1, m - r - 1, c->out_size, B + r * m + r + 1);
        for (int64_t q = r + 1; q < m; q++) A[r * m + q] += 1.0;
    }
    return pvi_gram_square(A, B, own, m);
}

static bool few_rows(const pvi_net_state *s, int64_t n)
{
    int64_t sides = 0, entries = 0;
    for (int64_t i = s->plan.first_dense; i < s->net->n; i++) {
        const pvi_layer *l = &s->net->layer[i];
        if (l->kind != PVI_LAYER_DENSE) continue;
        sides += s->plan.place[i].in_size + s->plan.place[i].out_size;
        entries += s->plan.place[i].in_size * s->plan.place[i].out_size;
    }
    return pvi_gram_pays(n, sides, entries);
}

/* Squared norms of the dense layers' v; false: they are to be formed. */
static bool dense_squares(const pvi_net_state *s, const pvi_net_work *k, int64_t from, int64_t to, double *norm2)
{
    int64_t e[PVI_NET_BATCH], n = 0;
    if (!few_rows(s, to - from)) return false;
    for (int64_t r = from; r < to; r++)
        if (k->usable[r]) e[n++] = r;
    for (int64_t i = s->plan.first_dense; i < s->net->n; i++) {
        if (s->net->layer[i].kind != PVI_LAYER_DENSE) continue;
        norm2[i] = dense_square(s, k, i, e, n);
        if (norm2[i] < 0.0) return false;
    }
    return true;
}

static void sum_views(const pvi_net_state *s, const pvi_net_cfg *c, const pv_rows *units, double clip, float *g,
                      int64_t *n_bad, pvi_net_work *k)
{
    const pv_rows rows = pvi_rows_from(units, 0, units->start[units->n]);
    float *const v = k->x + s->plan.mean, each = 1.0f / (float)c->augment;
    for (int64_t i = 0; i < units->n; i++) {
        const int64_t from = pvi_unit_start(units, i), size = pvi_unit_size(units, i);
        const int64_t place = (units->pick ? units->pick[i] : units->first + i) * units->unit_rows; /* (2) */
        bool good = true;
        for (int64_t r = 0; good && r < size; r++) good = pvi_net_add_row(s, c, &rows, from + r, place + r, r > 0, k);
        for (int64_t j = 0; good && j < s->net->d; j++) v[j] *= each;
        if (!good || !pvi_net_add_vector(s, c, clip, v, pvi_unit_share(units, size), pvi_unit_weight(units, size), g))
            ++*n_bad;
    }
}

/* A unit that is in the micro-batch as a whole, examples from .. to-1, but for its dense layers, which wait.  False:
 * their v is to be formed, nothing was added. */
static bool add_whole(const job *j, int64_t from, int64_t to, float share, double weight, waiting *w)
{
    const pvi_net_state *s = j->s;
    float *const v = j->k->x + s->plan.mean, part = (float)((double)share * weight), factor[PVI_MAX_LAYERS];
    double norm2[PVI_MAX_LAYERS];
    if (!dense_squares(s, j->k, from, to, norm2)) return false;
    form_others(s, j->k, from, to, false, v);
    for (int64_t i = 0; i < s->net->n; i++) {
        const pvi_layer *l = &s->net->layer[i];
        if (l->n_weights == 0) continue;
        if (l->kind != PVI_LAYER_DENSE) norm2[i] = s->kernel->squares(v + l->weights, l->n_weights + l->n_biases);
        norm2[i] *= (double)share * (double)share;
    }
    if (!pvi_net_factors(s, j->c, j->clip, norm2, factor)) return false;
    for (int64_t i = 0; i < s->net->n; i++) {
        const pvi_layer *l = &s->net->layer[i];
        if (l->n_weights == 0) continue;
        const float f = pvi_times(factor[i], part);
        w->f[i][w->n] = f;
        if (l->kind != PVI_LAYER_DENSE)
            s->kernel->axpy(f, v + l->weights, l->n_weights + l->n_biases, j->g + l->weights); /* (1) */
    }
    let_wait(j->k, w, from, to, false);
    return true;
}

static void add_unit(const job *j, const pvi_part *part, int64_t from, waiting *w)
{
    pvi_net_work *k = j->k;
    const int64_t to = from + part->n;
    const float share = pvi_unit_share(j->units, part->size);
    const double weight = pvi_unit_weight(j->units, part->size);
    if (pvi_unit_is_row(j->units, part->size)) {
        k->usable[from] = pvi_net_clip_example(j->s, j->c, j->clip, from, j->g, j->n_bad, k);
        let_wait(k, w, from, to, true);
        return;
    }
    for (int64_t e = from; e < to; e++) *j->n_bad += !k->usable[e];
    if (part->first && part->last && add_whole(j, from, to, share, weight, w)) return;
    add_waiting(j->s, k, w, j->g);
    pvi_net_form(j->s, k, from, to, !part->first, k->x + j->s->plan.mean);
    if (part->last)
        *j->n_bad += !pvi_net_add_vector(j->s, j->c, j->clip, k->x + j->s->plan.mean, share, weight, j->g);
}

void pvi_net_sum_units(const pvi_net_state *s, const pvi_net_cfg *c, const pv_rows *units, double clip, float *g,
                       int64_t *n_bad, pvi_net_work *k)
{
    const job j = { s, c, units, clip, g, n_bad, k };
    int64_t room[PVI_NET_BATCH];
    waiting w = { 0 };
    pvi_walk at = { 0, 0 };
    if (c->augment > 1) {
        sum_views(s, c, units, clip, g, n_bad, k);
        return;
    }
    while (at.unit < units->n) {
        const pv_rows rows = pvi_walk_rows(&at, units, pvi_walk_whole(&at, units, s->plan.batch), room);
        pvi_net_start_batch(s, c, &rows, 0, k);
        for (int64_t e = 0; e < k->n;) {
            const pvi_part part = pvi_walk_part(&at, units, k->n - e);
            add_unit(&j, &part, e, &w);
            e += part.n;
        }
        add_waiting(s, k, &w, g);
    }
}
