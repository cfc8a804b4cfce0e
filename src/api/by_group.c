/* by_group.c - how good a model is on each group of rows, by the values of a declared category.
 *
 * A model may be good on the whole and bad for some: measures of every group show it.  Counts over rows without
 * noise, NOT PRIVATE, as those of eval; rows without a value are a group of their own, named null. */
#include "eval/eval.h"
#include "api/scored.h"

typedef struct groups {
    pv_model *m;
    const pvi_scores *x;
    pvi_category of;
    float *score, *y; /* of one group */
} groups;

static int64_t group_of(const groups *g, int64_t r)
{
    int64_t k = 0;
    while (k < g->of.values && pvi_feature_of(g->x->x, r, g->of.first + k) == 0.0) k++;
    return k; /* `values`: none of them */
}

static pv_status write_group(const groups *g, int64_t k, pvi_jw *w)
{
    const int64_t outputs = g->x->outputs;
    pv_domain dom = g->m->file.domain;
    int64_t n = 0;
    double positive = 0.0;
    for (int64_t r = 0; r < g->x->x->domain.n; r++) {
        if (group_of(g, r) != k) continue;
        memcpy(g->score + n * outputs, g->x->score + r * outputs, sizeof *g->score * (size_t)outputs);
        positive += g->x->x->y[r] > 0.0f;
        g->y[n++] = g->x->x->y[r];
    }
    if (n == 0) return PV_OK;
    dom.n = n;
    pvi_jw_open(w, NULL, '{');
    pvi_jw_str(w, "value", k < g->of.values ? g->of.name[k] : NULL);
    if (dom.classes == 2) pvi_jw_f64(w, "share_of_second", positive / (double)n);
    const pv_status s = pvi_metrics_json(g->m->ctx, &dom, g->x->x->class_names, n, g->score, g->y, g->m->cut, w);
    pvi_jw_close(w, '}');
    return s;
}

static pv_status write_groups(groups *g, const char *column, char **json)
{
    const int64_t n = g->x->x->domain.n;
    pvi_str b = { .ctx = g->m->ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    g->score = pvi_alloc(g->m->ctx, sizeof *g->score * (size_t)(n * g->x->outputs));
    g->y = pvi_alloc(g->m->ctx, sizeof *g->y * (size_t)n);
    pv_status s = g->score && g->y ? PV_OK : pvi_nomem(g->m->ctx);
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "metrics_are_private", false);
    pvi_jw_str(&w, "column", column);
    pvi_jw_open(&w, "groups", '[');
    for (int64_t k = 0; s == PV_OK && k <= g->of.values; k++) s = write_group(g, k, &w);
    pvi_jw_close(&w, ']');
    pvi_jw_close(&w, '}');
    pvi_str_puts(&b, "\n");
    pvi_free(g->m->ctx, g->score);
    pvi_free(g->m->ctx, g->y);
    if (s == PV_OK) return pvi_str_take(&b, json);
    pvi_str_free(&b);
    return s;
}

static pv_status eval_by(pv_model *m, pv_data *data, const char *column, char **json)
{
    pvi_scores x = { 0 };
    groups g = { .m = m, .x = &x };
    pv_arena *a = pvi_arena_create(m->ctx);
    pv_status s =
        a ? pvi_category_find(m->ctx, a, &m->plan->s.data, m->file.schema, column, &g.of) : pvi_nomem(m->ctx);
    if (s == PV_OK) s = pvi_score(m, data, NULL, false, NULL, &x);
    if (s == PV_OK) s = write_groups(&g, column, json);
    pvi_scores_free(m->ctx, &x);
    pvi_arena_free(a);
    return s;
}

pv_status pv_model_eval_by(pv_model *m, pv_data *data, const char *column, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(m, PVI_MODEL);
    PVI_TAKES(m->ctx, data, PVI_DATA);
    PVI_NEEDS(m->ctx, column);
    PVI_NEEDS(m->ctx, json);
    return pvi_done(m->ctx, eval_by(m, data, column, json));
}
