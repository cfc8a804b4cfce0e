/* effects.c - what each column adds to a model's score: curves to look at, and the parts of one row's score.
 *
 * With curves all rows are multiplied by one factor s (data/curves.c (3)), so that the score is a sum over columns,
 *   (1) score = s b w_bias + sum_c f_c(v_c),   f_c(v) = s w_j at the knot or the value j, linear between knots.
 * A number may be added to one f_c and taken from another without changing any score, so only differences within a
 * column mean something.  Each f_c is shown minus its mean over its knots, both ends of a line, or its values:
 *   (2) e_c = f_c - m_c,   base = s b w_bias + sum_c m_c,   score = base + sum_c e_c.
 * Several classes: a number may be added to the scores of all of them; shown is each minus the mean of all     (3)
 * Importance of a column: the root of the mean of e_c^2 over its points, and classes                             (4)
 * Privacy   weights, declared knots and values only: no row but one that the caller gives is looked at. */
#include "api/scored.h"

typedef struct effects {
    const pv_model *m;
    pv_arena *arena;
    pvi_origins of;
    int64_t outputs; /* 1: a number, or the log odds of the second of two classes */
    int64_t ld, k;   /* weights are w[c * ld + j], c < k */
    double *mean;    /* m_c: place x output */
    double *base;
    double *importance;
    int64_t *order; /* places, the most important first */
} effects;

static double weight(const effects *e, int64_t feature, int64_t o)
{
    const double *w = e->m->file.w;
    const double own = w[o * e->ld + feature];
    double all = 0.0;
    if (e->k == 1) return e->of.factor * own;
    if (e->outputs == 1) return e->of.factor * (w[e->ld + feature] - w[feature]);
    for (int64_t c = 0; c < e->k; c++) all += w[c * e->ld + feature];
    return e->of.factor * (own - all / (double)e->k); /* (3) */
}

/* f_c at point i. */
static double value(const effects *e, const pvi_origin *p, int64_t i, int64_t o)
{
    return p->kind == PVI_ORIGIN_LINE ? (double)i * weight(e, p->first, o) : weight(e, p->first + i, o);
}

static double absent(const effects *e, const pvi_origin *p, int64_t o)
{
    if (p->kind == PVI_ORIGIN_LINE) return p->absent_line * weight(e, p->first, o);
    return p->absent ? weight(e, p->first + p->features, o) : 0.0;
}

static void weigh(effects *e, int64_t c) /* (2), (4) */
{
    const pvi_origin *p = &e->of.place[c];
    double squares = 0.0;
    for (int64_t o = 0; o < e->outputs; o++) {
        double *mean = &e->mean[c * e->outputs + o];
        for (int64_t i = 0; i < p->points; i++) *mean += value(e, p, i, o) / (double)p->points;
        for (int64_t i = 0; i < p->points; i++) squares += pow(value(e, p, i, o) - *mean, 2.0);
        e->base[o] += *mean;
    }
    e->importance[c] = sqrt(squares / (double)(p->points * e->outputs));
}

static void sort(effects *e)
{
    for (int64_t c = 0; c < e->of.n; c++) {
        int64_t i = c;
        for (; i > 0 && e->importance[c] > e->importance[e->order[i - 1]]; i--) e->order[i] = e->order[i - 1];
        e->order[i] = c;
    }
}

static pv_status open_effects(const pv_model *m, effects *e)
{
    const pv_domain *dom = &m->file.domain;
    const double b = m->plan->s.data.bias;
    pv_status s = PV_OK;
    if (m->file.schema) s = pvi_curves_origins(m->ctx, e->arena, &m->plan->s.data, m->file.schema, &e->of);
    if (s != PV_OK) return s;
    if (e->of.n == 0)
        return pvi_fail(m->ctx, PV_E_UNSUPPORTED,
                        "this model has no curves: what a column adds depends on the others there; models of tables "
                        "with a schema have them with data.curves=auto");
    e->k = m->file.d / dom->p;
    e->ld = dom->p;
    e->outputs = e->k == 2 ? 1 : e->k;
    e->mean = pv_arena_f64(e->arena, e->of.n * e->outputs);
    e->base = pv_arena_f64(e->arena, e->outputs);
    e->importance = pv_arena_f64(e->arena, e->of.n);
    e->order = pv_arena_get(e->arena, sizeof *e->order * (size_t)e->of.n);
    if (!e->mean || !e->base || !e->importance || !e->order) return pvi_nomem(m->ctx);
    for (int64_t o = 0; o < e->outputs && b != 0.0; o++) e->base[o] = b * weight(e, e->of.features, o);
    for (int64_t c = 0; c < e->of.n; c++) weigh(e, c);
    sort(e);
    return PV_OK;
}

/* ---- as JSON ------------------------------------------------------------------------------------------------- */

static void write_numbers(pvi_jw *w, const char *key, const double *x, int64_t n)
{
    pvi_jw_open(w, key, '[');
    for (int64_t i = 0; i < n; i++) pvi_jw_f64(w, NULL, x[i]);
    pvi_jw_close(w, ']');
}

/* What the scores are: "score", and "classes" they are of. */
static void write_scores(pvi_jw *w, const effects *e)
{
    const int64_t classes = e->m->file.domain.classes;
    pvi_jw_str(w, "score", classes == 0 ? "prediction" : e->outputs == 1 ? "log odds" : "score of a class");
    pvi_jw_open(w, "classes", '[');
    for (int64_t k = 0; k < classes; k++) pvi_jw_str(w, NULL, e->m->class_name[k]);
    pvi_jw_close(w, ']');
    write_numbers(w, "base", e->base, e->outputs);
    bool absent = false; /* run/band.c */
    for (int64_t c = 0; c < e->of.n; c++) absent |= e->of.place[c].absent;
    /* of two scores the margin has the noise of both */
    const double noise = e->of.factor * e->m->file.noise * sqrt((e->k == 2 ? 2.0 : 1.0) * (absent ? 1.5 : 1.0));
    if (noise > 0.0) pvi_jw_f64(w, "noise_at_most", noise);
}

static void write_place(pvi_jw *w, const effects *e, int64_t c)
{
    static const char *const kinds[] = { "curve", "line", "category" };
    const pvi_origin *p = &e->of.place[c];
    pvi_jw_str(w, "name", p->name);
    pvi_jw_str(w, "type", p->date ? "date" : p->value ? "category" : "number");
    pvi_jw_str(w, "shape", kinds[p->kind]);
    pvi_jw_f64(w, "importance", e->importance[c]);
}

static void write_points(pvi_jw *w, const effects *e, int64_t c)
{
    const pvi_origin *p = &e->of.place[c];
    if (p->at) {
        pvi_jw_f64(w, "min", p->lo);
        pvi_jw_f64(w, "max", p->hi);
        write_numbers(w, "at", p->at, p->points);
    } else {
        pvi_jw_open(w, "at", '[');
        for (int64_t i = 0; i < p->points; i++) pvi_jw_str(w, NULL, p->value[i]);
        pvi_jw_close(w, ']');
    }
    pvi_jw_open(w, "effect", '[');
    for (int64_t o = 0; o < e->outputs; o++) {
        pvi_jw_open(w, NULL, '[');
        for (int64_t i = 0; i < p->points; i++) pvi_jw_f64(w, NULL, value(e, p, i, o) - e->mean[c * e->outputs + o]);
        pvi_jw_close(w, ']');
    }
    pvi_jw_close(w, ']');
    if (!p->absent) return;
    pvi_jw_open(w, "missing", '[');
    for (int64_t o = 0; o < e->outputs; o++) pvi_jw_f64(w, NULL, absent(e, p, o) - e->mean[c * e->outputs + o]);
    pvi_jw_close(w, ']');
}

static void write_curves(pvi_jw *w, const effects *e)
{
    pvi_jw_open(w, NULL, '{');
    write_scores(w, e);
    pvi_jw_open(w, "columns", '[');
    for (int64_t i = 0; i < e->of.n; i++) {
        pvi_jw_open(w, NULL, '{');
        write_place(w, e, e->order[i]);
        write_points(w, e, e->order[i]);
        pvi_jw_close(w, '}');
    }
    pvi_jw_close(w, ']');
    pvi_jw_close(w, '}');
}

static pv_status curves(const pv_model *m, char **json)
{
    effects e = { .m = m, .arena = pvi_arena_create(m->ctx) };
    pvi_str b = { .ctx = m->ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    pv_status s = e.arena ? open_effects(m, &e) : pvi_nomem(m->ctx);
    if (s == PV_OK) {
        write_curves(&w, &e);
        pvi_str_puts(&b, "\n");
        s = pvi_str_take(&b, json);
    }
    pvi_str_free(&b);
    pvi_arena_free(e.arena);
    return s;
}

pv_status pv_model_curves(const pv_model *m, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, json);
    return pvi_done(m->ctx, curves(m, json));
}

/* ---- one row --------------------------------------------------------------------------------------------------- */

/* Features are floats: six digits of what they stand for. */
static double six_digits(double v)
{
    char text[32];
    double x = v;
    snprintf(text, sizeof text, "%.6g", v);
    return pvi_parse_f64(text, strlen(text), &x) ? x : v;
}

/* The row's value, from its features: a number within the bounds, the name of a category, null: none. */
static void write_value(pvi_jw *w, const pvi_origin *p, const pvi_matrix *x, int64_t r)
{
    double v = 0.0, any = 0.0;
    for (int64_t j = 0; j < p->features; j++) {
        const double h = pvi_feature_of(x, r, p->first + j);
        any += h;
        if (p->kind == PVI_ORIGIN_CURVE) v += h * p->at[j];
        if (p->kind == PVI_ORIGIN_CATEGORY && h != 0.0) {
            pvi_jw_str(w, "value", p->value[j]);
            return;
        }
    }
    if (p->kind == PVI_ORIGIN_LINE) pvi_jw_f64(w, "value", six_digits(p->lo + any * (p->hi - p->lo)));
    else if (any != 0.0) pvi_jw_f64(w, "value", six_digits(v));
    else pvi_jw_str(w, "value", NULL);
}

static double part(const effects *e, int64_t c, const pvi_matrix *x, int64_t r, int64_t o)
{
    const pvi_origin *p = &e->of.place[c];
    double f = 0.0;
    for (int64_t j = 0; j < p->features + p->absent; j++)
        f += pvi_feature_of(x, r, p->first + j) * weight(e, p->first + j, o);
    return f - e->mean[c * e->outputs + o];
}

static void write_row(pvi_jw *w, const effects *e, const pvi_matrix *x, int64_t r, double *size, int64_t *order)
{
    pvi_jw_open(w, NULL, '{');
    write_scores(w, e);
    pvi_jw_open(w, "score_of_row", '[');
    for (int64_t o = 0; o < e->outputs; o++) {
        double all = e->base[o];
        for (int64_t c = 0; c < e->of.n; c++) all += part(e, c, x, r, o);
        pvi_jw_f64(w, NULL, all);
    }
    pvi_jw_close(w, ']');
    for (int64_t c = 0; c < e->of.n; c++) { /* the largest parts first */
        int64_t i = c;
        for (int64_t o = 0; o < e->outputs; o++) size[c] = fmax(size[c], fabs(part(e, c, x, r, o)));
        for (; i > 0 && size[c] > size[order[i - 1]]; i--) order[i] = order[i - 1];
        order[i] = c;
    }
    pvi_jw_open(w, "columns", '[');
    for (int64_t i = 0; i < e->of.n; i++) {
        pvi_jw_open(w, NULL, '{');
        write_place(w, e, order[i]);
        write_value(w, &e->of.place[order[i]], x, r);
        pvi_jw_open(w, "effect", '[');
        for (int64_t o = 0; o < e->outputs; o++) pvi_jw_f64(w, NULL, part(e, order[i], x, r, o));
        pvi_jw_close(w, ']');
        pvi_jw_close(w, '}');
    }
    pvi_jw_close(w, ']');
    pvi_jw_close(w, '}');
}

static pv_status explain(pv_model *m, pv_data *data, int64_t row, char **json)
{
    effects e = { .m = m, .arena = pvi_arena_create(m->ctx) };
    pvi_scores x = { 0 };
    pvi_str b = { .ctx = m->ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    pv_status s = e.arena ? open_effects(m, &e) : pvi_nomem(m->ctx);
    double *size = s == PV_OK ? pv_arena_f64(e.arena, e.of.n) : NULL;
    int64_t *order = s == PV_OK ? pv_arena_get(e.arena, sizeof *order * (size_t)e.of.n) : NULL;
    if (s == PV_OK && (!size || !order)) s = pvi_nomem(m->ctx);
    if (s == PV_OK) s = pvi_score(m, data, NULL, true, NULL, &x);
    if (s == PV_OK && (row < 0 || row >= x.x->domain.n))
        s = pvi_fail(m->ctx, PV_E_PARAM, "row %lld: there are not so many, counted from 1", (long long)row + 1);
    if (s == PV_OK) {
        write_row(&w, &e, x.x, row, size, order);
        pvi_str_puts(&b, "\n");
        s = pvi_str_take(&b, json);
    }
    pvi_str_free(&b);
    pvi_scores_free(m->ctx, &x);
    pvi_arena_free(e.arena);
    return s;
}

pv_status pv_model_explain(pv_model *m, pv_data *data, int64_t row, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_TAKES(m->ctx, data, PVI_DATA);
    PVI_NEEDS(m->ctx, json);
    return pvi_done(m->ctx, explain(m, data, row, json));
}
