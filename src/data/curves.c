/* curves.c - a curve for each number of a table: what a straight line would miss (docs/algorithms/additive.md).
 *
 * A column with knots k_1 < ... < k_K within its declared bounds becomes K hat functions of its value v:
 *   (1) h_j(v) = 1 at k_j, 0 at the other knots, linear in between; v below k_1 counts as k_1, above k_K as k_K
 *   (2) sum_j h_j = 1, and at most two of them are not 0
 * so a linear model of them is continuous and piecewise linear in v: sum_j w_j h_j(v) runs through w_j at k_j.  A
 * column that may have no value gets one feature more, 1 where there is none, and its hats are then 0.
 *
 * Row norm  with two hats f and 1 - f the column adds f^2 + (1 - f)^2, between 1/2 and 1, to the squared norm;
 *           without a value, 1; a category at most 1; a straight number in 0..1 at most 1.  With c columns and bias b
 *   (3)       ||(x, b)||^2 <= c + b^2 =: N^2
 *           up to rounding: f is a float in 0..1 and 1 - f rounded once, so each square is off by less than 2^-22
 *           relative.  Every row gets the norm N (1 + 2^-20), rounded up, not its own: row.c then scales all rows by
 *           the same factor R/N, and what a column adds to a score depends on no other column.  (The largest |x_j| of
 *           data.norm=max is max(1, |b|), exactly.)
 *
 * Knots     as the schema declares them, else K of them at equal distances on the column's scale, both bounds among
 *           them:
 *   (4)       linear: v    log: log v    symlog: sign(v) log(1 + |v|/s), s a thousandth of the larger bound
 *           The scale only says where knots stand; between them the curve is linear in v.
 *   (5)       K = 0.4 (n epsilon)^(2/5) rounded down, between 2 and 32, n units (rows, or persons), and no more than
 *           700 knots in all columns together while each has 4.  A squared error K^-4 of a smooth curve and one in
 *           proportion to K/(n epsilon)^2 of the noise in K weights balance at that power; the numbers were chosen on
 *           random splits of tables (docs/algorithms/additive.md), where a K wrong by a factor of two costs little.
 *           For a label that is a number n/2 stands in place of n, and n/20 where an optimiser is named or set by
 *           hand, whose clip is then the largest size of the label (defaults.c).
 * Privacy   n, epsilon and the declaration are public, so K and knots are; each row is encoded by itself. */
#include "curves.h"
#include "cells.h"
#include "encode.h"
#include "knots.h"

enum { AUTO = 0, OFF = -1, LEAST = 2, MOST = 32, ALL = 700, FEW = 4 };

/* ---- which columns, which knots ------------------------------------------------------------------------------- */

/* data.curves: OFF, AUTO or a number of knots. */
static pv_status asked(pv_ctx *ctx, const pvi_data_cfg *cfg, int64_t *out)
{
    const char *text = cfg->curves ? cfg->curves : "off";
    double x;
    *out = strcmp(text, "auto") == 0 ? AUTO : OFF;
    if (*out == AUTO || strcmp(text, "off") == 0) return PV_OK;
    if (!pvi_parse_f64(text, strlen(text), &x) || x != floor(x) || !(x >= LEAST && x <= PVI_KNOTS_MOST))
        return pvi_fail(ctx, PV_E_PARAM, "data.curves=%s: auto, off or a number of knots from %d to %d is needed",
                        text, LEAST, PVI_KNOTS_MOST);
    *out = (int64_t)x;
    return PV_OK;
}

/* What excludes curves; NULL: nothing does. */
static const char *excluded(const pvi_data_cfg *cfg, const pvi_expect *e)
{
    if (e->curves != PVI_CURVES_FIT) return "is for models that are linear in their features: leave it out";
    if (cfg->transform != PVI_TRANSFORM_NONE || (cfg->image && *cfg->image))
        return "is for tables: leave out data.image";
    return cfg->center != 0.0 ? "and data.center: numbers are centred for straight lines, leave one of them out"
                              : NULL;
}

/* Knots of a trained model for another declaration of its columns, which must have the same bounds. */
static pv_status take_knots(pv_ctx *ctx, pv_arena *a, const pvi_expect *e, pvi_schema *sc)
{
    pvi_schema *from;
    pv_status s = pvi_schema_load(ctx, a, e->trained, &from);
    for (int64_t i = 0; s == PV_OK && i < from->count; i++) {
        const pvi_column *f = &from->column[i];
        int64_t k = i, tried = 0; /* mostly in the same order */
        if (f->knots == 0) continue;
        while (tried < sc->count && strcmp(sc->column[k % sc->count].name, f->name) != 0) k++, tried++;
        if (tried == sc->count) continue; /* another number of features tells of a column that is not there */
        pvi_column *c = &sc->column[k % sc->count];
        if (c->type != f->type || c->lo != f->lo || c->hi != f->hi ||
            (c->missing != f->missing && c->missing * f->missing == 0))
            return pvi_fail(ctx, PV_E_PARAM,
                            "column \"%s\": the model has a curve for it, so its bounds and whether a value may be "
                            "missing stay as they were when it was trained",
                            f->name);
        c->knots = f->knots;
        c->knot = f->knot;
    }
    return s;
}

/* What needs curves.  Rows without them are scaled one by one, so that a weight's sign does not make a score
 * monotone. */
static pv_status without_curves(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *e, const pvi_schema *sc)
{
    if (e->curves == PVI_CURVES_FIT && cfg->knots_share > 0.0)
        return pvi_fail(ctx, PV_E_PARAM, "data.knots_share is for curves, and this run has none: leave it out");
    for (int64_t i = 0; i < sc->count && e->curves != PVI_CURVES_DECLARED; i++)
        if (sc->column[i].monotone)
            return pvi_fail(
                ctx, PV_E_PARAM,
                "column \"%s\": \"monotone\" needs curves, and this run has none; data.curves=10 with a linear "
                "model gives each number 10 knots",
                sc->column[i].name);
    return PV_OK;
}

pv_status pvi_curves_choose(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const pvi_expect *e, pvi_schema *sc)
{
    int64_t want = OFF;
    const bool as_declared = e->curves == PVI_CURVES_DECLARED;
    for (int64_t i = 0; as_declared && i < sc->count; i++) sc->column[i].knots = 0;
    const pv_status s = !as_declared ? asked(ctx, cfg, &want) : e->trained ? take_knots(ctx, a, e, sc) : PV_OK;
    if (s != PV_OK) return s;
    const char *why = excluded(cfg, e);
    if (want > 0 && why) return pvi_fail(ctx, PV_E_PARAM, "data.curves=%s %s", cfg->curves, why);
    if (!as_declared && (want == OFF || why || (want == AUTO && e->curves_asked)))
        return without_curves(ctx, cfg, e, sc);
    for (int64_t i = 0; i < sc->count; i++) {
        pvi_column *c = &sc->column[i];
        c->curved = c->type == PVI_COL_NUMBER && !c->raw && !c->straight && (!as_declared || c->knots > 0);
        sc->curved += c->curved;
    }
    return sc->curved ? PV_OK : without_curves(ctx, cfg, e, sc);
}

/* Is the label a number?  Its clipped gradients are noisier in proportion than those of classes. */
static bool real_label(const pvi_schema *sc, const pvi_expect *e)
{
    return e->classes == 0 || (sc->label >= 0 && sc->column[sc->label].words.count == 0);
}

static int64_t knots_by_rule(const pvi_schema *sc, const pvi_expect *e, double n) /* (5) */
{
    const double part = sc->knots.share > 0.0 && !real_label(sc, e) ? 0.5 : 1.0; /* knots.c (4) */
    const double less = !real_label(sc, e) ? 1.0
                        : e->small_clip    ? 2.0
                                           : 20.0,
                 k = floor(part * 0.4 * pow(n * e->epsilon / less, 0.4)),
                 each = fmax((double)FEW, floor((double)ALL / (double)sc->curved));
    return (int64_t)fmax(LEAST, fmin(fmin(k, MOST), each));
}

static double on_scale(const pvi_column *c, double v) /* (4) */
{
    const double s = 1e-3 * fmax(fabs(c->lo), fabs(c->hi));
    return c->scale == PVI_SCALE_LOG ? log(v) : c->scale == PVI_SCALE_SYMLOG ? copysign(log1p(fabs(v) / s), v) : v;
}

static double off_scale(const pvi_column *c, double q)
{
    const double s = 1e-3 * fmax(fabs(c->lo), fabs(c->hi));
    return c->scale == PVI_SCALE_LOG ? exp(q) : c->scale == PVI_SCALE_SYMLOG ? copysign(s * expm1(fabs(q)), q) : q;
}

float pvi_curves_at(const pvi_column *c, double v)
{
    return (float)pvi_encode_feature(c, v, 0.0);
}

/* Those that are different numbers where values are floats; the bounds are. */
void pvi_curves_spread(pvi_column *c, int64_t k)
{
    const double from = on_scale(c, c->lo), to = on_scale(c, c->hi);
    c->knots = 0;
    c->knot[c->knots++] = c->lo;
    for (int64_t j = 1; j < k - 1; j++) {
        const double v = off_scale(c, from + (to - from) * (double)j / (double)(k - 1));
        if (pvi_curves_at(c, v) > pvi_curves_at(c, c->knot[c->knots - 1]) && pvi_curves_at(c, v) < 1.0f)
            c->knot[c->knots++] = v;
    }
    c->knot[c->knots++] = c->hi;
}

static void say_knots(pv_ctx *ctx, const pvi_schema *sc, int64_t want, int64_t k, double n)
{
    char each[48] = "";
    const int64_t rule = 2 * k;
    int64_t open = 0; /* columns whose knots nobody declared */
    for (int64_t i = 0; i < sc->count; i++) open += sc->column[i].curved && sc->column[i].knots == 0;
    if (open == 0) return;
    snprintf(each, sizeof each, "%lld column%s", (long long)open, open == 1 ? "" : "s");
    if (want > rule)
        pvi_log(
            ctx, PV_LOG_WARN,
            "data.curves=%lld: more knots than %.0f units can bear at this epsilon; data.curves=auto would use %lld",
            (long long)want, n, (long long)k);
    else if (want == AUTO)
        pvi_log(ctx, PV_LOG_NOTE, "data.curves = %lld: knots of a curve for each of %s, by units and epsilon",
                (long long)k, each);
}

pv_status pvi_curves_place(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const pvi_expect *e, double n,
                           pvi_schema *sc)
{
    int64_t want = OFF, first = 0;
    const pv_status s = e->curves == PVI_CURVES_FIT ? asked(ctx, cfg, &want) : PV_OK;
    if (s != PV_OK || !sc->curved) return s;
    const pv_status paid = pvi_knots_share(ctx, cfg, e, real_label(sc, e) ? n / 2.0 : n, want == AUTO, sc);
    if (paid != PV_OK) return paid;
    const int64_t rule = knots_by_rule(sc, e, n), k = want > 0 ? want : rule;
    if (e->curves == PVI_CURVES_FIT) say_knots(ctx, sc, want, rule, n);
    for (int64_t i = 0; i < sc->count; i++) {
        pvi_column *c = &sc->column[i];
        c->wide = (int32_t)first;
        if (c->curved && c->knots == 0) {
            c->knot = pv_arena_f64(a, k);
            if (!c->knot) return pvi_nomem(ctx);
            pvi_curves_spread(c, k);
        }
        if (c->type == PVI_COL_CATEGORY) first += c->words.codes;
        else if (c->curved) first += c->knots + (c->missing != PVI_MISSING_ERROR);
        else first += c->type == PVI_COL_NUMBER;
        if (first > INT32_MAX - 1) return pvi_fail(ctx, PV_E_PARAM, "more than 2^31 features");
    }
    sc->wide = first;
    return PV_OK;
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

enum { PARTS = 64 };

typedef struct piece { /* base features first .. first + n - 1, of one column, and where they go */
    int32_t first, n, to;
    const float *at; /* knots as features are; NULL: copied */
    int32_t knots;
    int64_t cell;             /* of a record: curves come first (cells.c) */
    uint16_t from[PARTS + 1]; /* the last knot at or below k/PARTS, where the search for t in k/PARTS .. begins */
} piece;

typedef struct expansion {
    const pvi_matrix *from;
    pvi_matrix *to;
    piece *piece;
    int64_t pieces, hats, base, features, most; /* most: entries of a row */
    float norm;
    float *room; /* of every thread: a base row */
    int32_t *idx;
    float *val, *x;                                                                /* x: of dense rows */
    void (*put)(const struct expansion *e, int64_t r, const float *x, int thread); /* row r, as it is stored */
} expansion;

/* (1), (2): one or two entries. */
static int hats(const piece *p, float t, int32_t *idx, float *val)
{
    const int32_t hi = p->knots - 1;
    const bool missing = t < -0.5f, below = t <= p->at[0];
    val[0] = 1.0f;
    if (missing || below || t >= p->at[hi]) return *idx = p->to + (missing ? p->knots : below ? 0 : hi), 1;
    int32_t lo = p->from[(int)(t * PARTS)]; /* at[0] < t < at[hi] <= 1 */
    while (t >= p->at[lo + 1]) lo++;
    const float f = (t - p->at[lo]) / (p->at[lo + 1] - p->at[lo]);
    idx[0] = p->to + lo;
    val[0] = 1.0f - f;
    idx[1] = p->to + lo + 1;
    val[1] = f;
    return 1 + (f > 0.0f);
}

static const float *base_row(const expansion *e, int64_t r, float *room)
{
    const pvi_matrix *m = e->from;
    if (m->x) return m->x + r * m->ld;
    memset(room, 0, sizeof *room * (size_t)e->base);
    for (int64_t k = m->ptr[r]; k < m->ptr[r + 1]; k++) room[m->idx[k]] = m->val[k];
    return room;
}

static int64_t expand_row(const expansion *e, const float *x, int32_t *idx, float *val)
{
    int64_t n = 0;
    for (int64_t k = 0; k < e->pieces; k++) {
        const piece *p = &e->piece[k];
        if (p->at) n += hats(p, x[p->first], idx + n, val + n);
        for (int32_t j = 0; j < p->n && !p->at; j++)
            if (x[p->first + j] != 0.0f) idx[n] = p->to + j, val[n++] = x[p->first + j];
    }
    return n;
}

static void put_dense(const expansion *e, int64_t r, const float *base, int thread)
{
    const int32_t *idx = e->idx + thread * e->most;
    const float *val = e->val + thread * e->most;
    float *x = e->x + r * e->features;
    const int64_t n = expand_row(e, base, e->idx + thread * e->most, e->val + thread * e->most);
    memset(x, 0, sizeof *x * (size_t)e->features);
    for (int64_t k = 0; k < n; k++) x[idx[k]] = val[k];
}

static void put_count(const expansion *e, int64_t r, const float *base, int thread)
{
    e->to->ptr[r + 1] = expand_row(e, base, e->idx + thread * e->most, e->val + thread * e->most);
}

static void put_entries(const expansion *e, int64_t r, const float *base, int thread)
{
    (void)thread;
    expand_row(e, base, e->to->idx + e->to->ptr[r], e->to->val + e->to->ptr[r]);
}

static void put_cells(const expansion *e, int64_t r, const float *base, int thread)
{
    float *record = pvi_cells_record(e->to, r), *v = record + PVI_CELLS_FROM;
    uint16_t *at = (uint16_t *)(void *)(v + e->pieces);
    (void)thread;
    record[PVI_CELLS_LABEL] = e->to->y[r];
    record[PVI_CELLS_NORM] = e->to->norm[r];
    for (int64_t k = 0; k < e->pieces; k++) {
        const piece *p = &e->piece[k];
        int32_t idx[2] = { p->to };
        float val[2] = { 0.0f };
        const int n = p->at ? hats(p, base[p->first], idx, val) : 0;
        v[p->cell] = n == 2 ? val[1] : 0.0f;
        for (int32_t j = 0; j < p->n && !p->at; j++) /* one at most is not zero */
            if (base[p->first + j] != 0.0f) idx[0] = p->to + j, v[p->cell] = base[p->first + j];
        at[p->cell] = (uint16_t)idx[0];
    }
}

enum { BLOCK = 256 };

static void expand_block(void *arg, int64_t task, int thread)
{
    const expansion *e = arg;
    const int64_t end = (task + 1) * BLOCK < e->from->stored ? (task + 1) * BLOCK : e->from->stored;
    for (int64_t r = task * BLOCK; r < end; r++) {
        if (e->to->norm[r] >= 0.0f) e->to->norm[r] = e->norm; /* else it adds nothing, and stays so */
        e->put(e, r, base_row(e, r, e->room + thread * e->base), thread);
    }
}

static float row_bound(const pvi_data_cfg *cfg, const pvi_schema *sc) /* (3) */
{
    double columns = 0;
    for (int64_t i = 0; i < sc->count; i++)
        columns += sc->column[i].type == PVI_COL_NUMBER || sc->column[i].type == PVI_COL_CATEGORY;
    return pvi_curves_norm(cfg, columns);
}

float pvi_curves_norm(const pvi_data_cfg *cfg, double columns)
{
    const double b = (double)(float)cfg->bias;
    if (cfg->norm == PVI_NORM_MAX) return (float)fmax(1.0, b);
    return nextafterf((float)(sqrt(columns + b * b) * (1.0 + 0x1p-20)), INFINITY);
}

static pv_status cut(expansion *e, pv_arena *a, const pvi_schema *sc)
{
    int64_t hat = 0, other = sc->curved;
    e->hats = sc->curved;
    e->piece = pv_arena_get(a, sizeof *e->piece * (size_t)(sc->count + 1));
    if (!e->piece) return PV_E_NOMEM;
    for (int64_t i = 0; i < sc->count; i++) {
        const pvi_column *c = &sc->column[i];
        if (c->type != PVI_COL_NUMBER && c->type != PVI_COL_CATEGORY) continue;
        piece *p = &e->piece[e->pieces++];
        *p = (piece) { c->first,
                       c->type == PVI_COL_NUMBER ? 1 : (int32_t)c->words.codes,
                       c->wide,
                       NULL,
                       (int32_t)c->knots,
                       c->curved ? hat++ : other++,
                       { 0 } };
        e->most += c->type == PVI_COL_NUMBER ? 2 : c->words.codes;
        if (!c->curved) continue;
        float *at = pv_arena_get(a, sizeof *at * (size_t)c->knots);
        if (!at) return PV_E_NOMEM;
        for (int64_t k = 0; k < c->knots; k++) at[k] = pvi_curves_at(c, c->knot[k]);
        p->at = at;
        for (int32_t part = 0, k = 0; part <= PARTS; p->from[part++] = (uint16_t)k)
            while (k < c->knots - 1 && at[k + 1] <= (float)part / PARTS) k++;
    }
    return PV_OK;
}

static pv_status make_rows(expansion *e, pvi_matrix *m, pvi_matrix *old, size_t line)
{
    const int64_t tasks = (m->stored + BLOCK - 1) / BLOCK;
    void *to;
    pv_status s = pvi_matrix_renew(m, e->features, line, old, &to);
    e->from = old;
    e->to = m;
    if (s != PV_OK) return s;
    if (e->put == put_cells) {
        m->cell = to;
        m->cells = e->pieces;
        m->hats = e->hats;
        m->line = line;
    } else if (e->put == put_dense) {
        m->x = e->x = to;
    }
    pvi_parallel(m->ctx, tasks, expand_block, e);
    if (e->put != put_count) return PV_OK;
    for (int64_t r = 0; r < m->stored; r++) m->ptr[r + 1] += m->ptr[r];
    e->put = put_entries;
    if ((s = pvi_matrix_entries(m, m->ptr[m->stored])) == PV_OK) pvi_parallel(m->ctx, tasks, expand_block, e);
    return s;
}

bool pvi_curves_dense(const pvi_data_cfg *cfg, const pvi_schema *sc)
{
    return cfg->layout == PVI_LAYOUT_DENSE || (cfg->layout == PVI_LAYOUT_AUTO && sc->wide <= PVI_DENSE_FEATURES);
}

pv_status pvi_curves_expand(const pvi_data_cfg *cfg, bool whole, const pvi_schema *sc, pvi_matrix *m)
{
    expansion e = { .base = sc->features, .features = sc->wide, .norm = row_bound(cfg, sc), .put = put_count };
    const int64_t threads = pvi_threads(m->ctx);
    pvi_matrix old = { 0 };
    pv_arena *a = pvi_arena_create(m->ctx);
    if (!a) return pvi_nomem(m->ctx);
    pv_status s = cut(&e, a, sc);
    if (pvi_curves_dense(cfg, sc)) e.put = put_dense;
    if (e.put == put_dense && cfg->layout == PVI_LAYOUT_AUTO && !whole &&
        pvi_cells_fit(sc->wide, m->domain.unit_rows))
        e.put = put_cells;
    e.room = pv_arena_get(a, sizeof *e.room * (size_t)(e.base * threads));
    e.idx = pv_arena_get(a, sizeof *e.idx * (size_t)(e.most * threads));
    e.val = pv_arena_get(a, sizeof *e.val * (size_t)(e.most * threads));
    if (s != PV_OK || !e.room || !e.idx || !e.val) s = pvi_nomem(m->ctx);
    if (s == PV_OK)
        s = make_rows(&e, m, &old,
                      e.put == put_cells   ? pvi_cells_line(e.pieces)
                      : e.put == put_dense ? sizeof(float) * (size_t)e.features
                                           : 0);
    pvi_matrix_old_free(&old);
    pvi_arena_free(a);
    return s;
}

/* ---- for other programs ------------------------------------------------------------------------------------------
 * Where a column may have no value, x = -1 must be 0 on its first hat and 1 on the last feature: 4 x + 3 and -4 x - 3
 * are above 1 and below 0 on 0..1, and the other way round at -1. */

static void ramps_of(const pvi_column *c, pvi_ramp *r)
{
    const bool absent = c->missing != PVI_MISSING_ERROR;
    const int64_t k = c->knots;
    for (int64_t j = 0; j < k; j++) {
        const double at = pvi_curves_at(c, c->knot[j]),
                     before = j        ? pvi_curves_at(c, c->knot[j - 1])
                              : absent ? -0.75
                                       : -2.0,
                     after = j < k - 1 ? pvi_curves_at(c, c->knot[j + 1]) : -2.0;
        r[j] = (pvi_ramp) { c->first,
                            { before, after },
                            { j        ? 1.0 / (at - before)
                              : absent ? 4.0
                                       : 1.0,
                              j < k - 1 ? 1.0 / (at - after) : 1.0 } };
    }
    if (absent) r[k] = (pvi_ramp) { c->first, { -0.75, -0.75 }, { -4.0, -4.0 } };
}

double pvi_curves_factor(const pvi_data_cfg *cfg, const pvi_schema *sc)
{
    const double norm = row_bound(cfg, sc);
    return cfg->norm == PVI_NORM_UNIT || norm > cfg->row_norm ? cfg->row_norm / norm : 1.0;
}

pv_status pvi_curves_trained(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, pvi_schema **out)
{
    const pvi_expect e = { .curves = PVI_CURVES_DECLARED, .trained = schema };
    pv_status s = pvi_schema_load(ctx, a, schema, out);
    if (s == PV_OK) s = pvi_curves_choose(ctx, a, cfg, &e, *out);
    return s == PV_OK ? pvi_curves_place(ctx, a, cfg, &e, 1.0, *out) : s;
}

pv_status pvi_curves_ramps(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, pvi_ramps *out)
{
    pvi_schema *sc;
    *out = (pvi_ramps) { 0 };
    const pv_status s = pvi_curves_trained(ctx, a, cfg, schema, &sc);
    if (s != PV_OK || !sc->curved) return s;
    pvi_ramp *ramp = pv_arena_get(a, sizeof *ramp * (size_t)sc->wide);
    if (!ramp) return pvi_nomem(ctx);
    for (int64_t i = 0; i < sc->count; i++) {
        const pvi_column *c = &sc->column[i];
        const int64_t straight = c->type == PVI_COL_CATEGORY ? c->words.codes : c->type == PVI_COL_NUMBER;
        if (c->curved) ramps_of(c, ramp + c->wide);
        for (int64_t j = 0; j < straight && !c->curved; j++)
            ramp[c->wide + j] = (pvi_ramp) { c->first + j, { 0.0, 0.0 }, { 1.0, 1.0 } };
    }
    *out = (pvi_ramps) { ramp, sc->features, sc->wide, pvi_curves_factor(cfg, sc) };
    return PV_OK;
}
