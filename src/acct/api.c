/* api.c - accounting for callers outside the library: one JSON request in, one JSON answer out.
 *
 * A request names the events in one of three ways,
 *   "events": {...}      an event tree, in the canonical form of event_json.c
 *   "file": "path"       the same, in a file
 *   "mechanism": "gaussian", "z": 1.1, "q": 0.01, "sampler": "poisson", "steps": 100
 *                        or laplace with "scale", select with "eps0", ball with "delta0", eps-delta with
 *                        "eps0" and "delta0"; q 1 and steps 1 when absent
 * and asks with "delta" or "epsilon", "accountant" (best), "relation" (zero-out), "rows" (1).  Numbers may be
 * written as numbers or as text.  An unknown member is refused. */
#include <time.h>

#include "acct.h"

enum { CURVE_POINTS = 129, TRADEOFF_POINTS = 101 };
#define FILE_LIMIT ((size_t)1 << 28)
#define FIT_DELTA  1e-10 /* the curve is drawn down to this delta */

typedef struct request {
    pv_ctx *ctx;
    pv_arena *arena; /* owned */
    const pvi_json *json;
    const pv_event *ev;
    const char *accountant;
    pv_relation rel;
    double delta, epsilon; /* NAN: not given */
    int64_t rows;
    bool all;
    double unit; /* the noise parameter of a shorthand; NAN: the events came as a tree */
    struct timespec start;
} request;

static const char *const members[] = { "events",     "file",     "mechanism", "z",       "scale", "eps0",
                                       "delta0",     "q",        "steps",     "sampler", "delta", "epsilon",
                                       "accountant", "relation", "rows",      "all" };
enum { MEMBERS = sizeof members / sizeof *members };

/* ---- reading a request -------------------------------------------------------------------------------- */

static pv_status number(const request *r, const char *key, double absent, double *out)
{
    const pvi_json *v = pvi_json_get(r->json, key);
    *out = absent;
    if (!v) return PV_OK;
    if (v->type == PVI_JNUM) return *out = v->num, PV_OK;
    if (v->type == PVI_JSTR && pvi_parse_f64(v->text, v->text_len, out) && !isnan(*out)) return PV_OK;
    return pvi_fail(r->ctx, PV_E_PARAM, "%s=%s: a number is needed", key, v->type == PVI_JSTR ? v->text : "...");
}

static pv_status whole(const request *r, const char *key, int64_t absent, int64_t *out)
{
    double x;
    const pv_status s = number(r, key, (double)absent, &x);
    if (s != PV_OK) return s;
    if (!(x >= 1 && x <= 0x1p53 && x == floor(x)))
        return pvi_fail(r->ctx, PV_E_PARAM, "%s=%g: a whole number between 1 and 2^53 is needed", key, x);
    *out = (int64_t)x;
    return PV_OK;
}

static pv_status text(const request *r, const char *key, const char *absent, const char **out)
{
    const pvi_json *v = pvi_json_get(r->json, key);
    *out = v && v->type == PVI_JSTR ? v->text : absent;
    return !v || v->type == PVI_JSTR ? PV_OK : pvi_fail(r->ctx, PV_E_PARAM, "%s: text is needed", key);
}

static pv_status known_members(const request *r)
{
    for (const pvi_json *c = r->json->child; c; c = c->next) {
        bool known = false;
        for (int i = 0; i < MEMBERS && !known; i++) known = strcmp(c->key, members[i]) == 0;
        if (known) continue;
        const char *near = pvi_nearest(c->key, members, MEMBERS);
        return pvi_fail(r->ctx, PV_E_PARAM, "unknown setting %s%s%s%s", c->key, near ? "; did you mean " : "",
                        near ? near : "", near ? "?" : "");
    }
    return PV_OK;
}

/* Which parameter a shorthand needs; the second is that of eps-delta. */
static const struct shorthand {
    pv_ev_kind kind;
    const char *a, *b;
} shorthands[] = {
    { PV_EV_GAUSSIAN, "z", NULL },  { PV_EV_LAPLACE, "scale", NULL },      { PV_EV_SELECT, "eps0", NULL },
    { PV_EV_BALL, "delta0", NULL }, { PV_EV_EPS_DELTA, "eps0", "delta0" },
};
enum { SHORTHANDS = sizeof shorthands / sizeof *shorthands };

static pv_status parameter(const request *r, const char *name, const char *key, double absent, double *out)
{
    const pv_status s = number(r, key, absent, out);
    if (s != PV_OK || !isnan(*out)) return s;
    return pvi_fail(r->ctx, PV_E_PARAM, "%s needs %s=...", name, key);
}

/* Wraps e in its sampler; NULL in e is passed on. */
static pv_status sampled_event(const request *r, const char *sampler, double q, const pv_event **e)
{
    const bool cyclic = strcmp(sampler, "cyclic") == 0, fixed = strcmp(sampler, "fixed") == 0;
    const double parts = rint(1.0 / q);
    if (!cyclic && !fixed && strcmp(sampler, "poisson") != 0)
        return pvi_fail(r->ctx, PV_E_PARAM, "sampler=%s: poisson, fixed or cyclic is needed", sampler);
    if (cyclic && !(parts >= 1.0 && parts <= 0x1p53 && fabs(q * parts - 1.0) < 1e-6))
        return pvi_fail(r->ctx, PV_E_PARAM,
                        "q=%g: sampler=cyclic takes equal parts in turn, so q is 1/2, 1/3, 1/4, ...", q);
    if (cyclic) *e = pv_ev_cyclic(r->arena, (int64_t)parts, *e);
    else if (q != 1.0) *e = pv_ev_sampled(r->arena, fixed ? PV_EV_FIXED : PV_EV_POISSON, q, *e);
    return PV_OK;
}

static pv_status shorthand_event(request *r, const char *name, double unit)
{
    const struct shorthand *h = NULL;
    double b = 0.0, q;
    int64_t steps = 1;
    const char *sampler;
    pv_status s;
    for (int i = 0; i < SHORTHANDS; i++)
        if (strcmp(pvi_event_name(shorthands[i].kind), name) == 0) h = &shorthands[i];
    if (!h)
        return pvi_fail(r->ctx, PV_E_PARAM, "%s: one of gaussian, laplace, select, ball, eps-delta is needed", name);
    if ((s = parameter(r, name, h->a, unit, &r->unit)) != PV_OK ||
        (h->b && (s = parameter(r, name, h->b, NAN, &b)) != PV_OK) || (s = number(r, "q", 1.0, &q)) != PV_OK ||
        (s = whole(r, "steps", 1, &steps)) != PV_OK || (s = text(r, "sampler", "poisson", &sampler)) != PV_OK)
        return s;
    const pv_event *e = pv_ev_leaf(r->arena, h->kind, r->unit, b);
    if (!e) return pvi_nomem(r->ctx);
    if ((s = sampled_event(r, sampler, q, &e)) != PV_OK) return s;
    r->ev = pv_ev_repeat(r->arena, steps, e);
    return r->ev ? pvi_event_check(r->ctx, r->ev) : pvi_nomem(r->ctx);
}

static pv_status file_event(request *r, const char *path)
{
    char *body;
    size_t len;
    pvi_json *v;
    pv_status s = pvi_file_read(r->ctx, path, FILE_LIMIT, &body, &len);
    if (s != PV_OK) return s;
    s = pvi_json_parse(r->ctx, r->arena, path, body, len, &v);
    pvi_free(r->ctx, body);
    return s == PV_OK ? pvi_event_parse(r->ctx, r->arena, path, v, &r->ev) : s;
}

static pv_status read_events(request *r, double unit)
{
    const char *file, *mechanism;
    const pvi_json *tree = pvi_json_get(r->json, "events");
    pv_status s;
    if ((s = text(r, "file", NULL, &file)) != PV_OK || (s = text(r, "mechanism", NULL, &mechanism)) != PV_OK)
        return s;
    if ((tree != NULL) + (file != NULL) + (mechanism != NULL) != 1)
        return pvi_fail(r->ctx, PV_E_PARAM, "give a mechanism such as gaussian, or a file of events, not both");
    if (mechanism) return shorthand_event(r, mechanism, unit);
    static const char *const only[] = { "z", "scale", "eps0", "delta0", "q", "steps", "sampler" };
    for (int i = 0; i < 7; i++)
        if (pvi_json_get(r->json, only[i]))
            return pvi_fail(r->ctx, PV_E_PARAM, "%s belongs to a mechanism; a tree of events has its own", only[i]);
    return tree ? pvi_event_parse(r->ctx, r->arena, "request", tree, &r->ev) : file_event(r, file);
}

static pv_status read_question(request *r)
{
    const char *rel;
    const pvi_json *all = pvi_json_get(r->json, "all");
    pv_status s;
    if ((s = text(r, "relation", "zero-out", &rel)) != PV_OK ||
        (s = text(r, "accountant", "best", &r->accountant)) != PV_OK ||
        (s = number(r, "delta", NAN, &r->delta)) != PV_OK || (s = number(r, "epsilon", NAN, &r->epsilon)) != PV_OK ||
        (s = whole(r, "rows", 1, &r->rows)) != PV_OK)
        return s;
    r->rel = strcmp(rel, "replace") == 0 ? PV_REL_REPLACE : PV_REL_ZERO_OUT;
    r->all = all && (all->type != PVI_JBOOL || all->num != 0);
    if (r->rel == PV_REL_ZERO_OUT && strcmp(rel, "zero-out") != 0)
        return pvi_fail(r->ctx, PV_E_PARAM, "relation=%s: zero-out or replace is needed", rel);
    return PV_OK;
}

static void request_free(request *r)
{
    pvi_arena_free(r->arena);
}

/* unit: the noise parameter of a shorthand that does not give one (NAN: it must). */
static pv_status request_open(pv_ctx *ctx, const char *json, double unit, request *r)
{
    pvi_json *v;
    *r = (request) { .ctx = ctx, .unit = NAN };
    clock_gettime(CLOCK_MONOTONIC, &r->start);
    if (!json) return pvi_fail(ctx, PV_E_ARG, "a request is needed");
    if (!(r->arena = pvi_arena_create(ctx))) return pvi_nomem(ctx);
    pv_status s = pvi_json_parse(ctx, r->arena, "request", json, strlen(json), &v);
    if (s != PV_OK) return s;
    r->json = v;
    if (v->type != PVI_JOBJ) return pvi_fail(ctx, PV_E_FORMAT, "request:1:1: an object is needed");
    if ((s = known_members(r)) != PV_OK || (s = read_question(r)) != PV_OK) return s;
    return read_events(r, unit);
}

/* ---- writing an answer ----------------------------------------------------------------------------------- */

static double seconds_since(const struct timespec *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + 1e-9 * (double)(now.tv_nsec - t->tv_nsec);
}

static void write_cost(pvi_jw *w, const request *r, const pvi_cost *c)
{
    pvi_jw_f64(w, "epsilon", c->epsilon);
    pvi_jw_f64(w, "epsilon_lower", c->epsilon_lower);
    pvi_jw_f64(w, "delta", c->delta);
    pvi_jw_str(w, "accountant", c->accountant);
    pvi_jw_str(w, "relation", r->rel == PV_REL_REPLACE ? "replace" : "zero-out");
    pvi_jw_bool(w, "group_bound", c->group_bound);
    pvi_jw_i64(w, "rows", r->rows);
}

static pv_status finish(request *r, pvi_jw *w, const pv_event *ev, char **json)
{
    pvi_jw_f64(w, "seconds", seconds_since(&r->start));
    pvi_event_write(ev, w, "events");
    pvi_jw_close(w, '}');
    return pvi_str_take(w->out, json) == PV_OK ? PV_OK : pvi_nomem(r->ctx);
}

/* Every accountant that supports the events, side by side. */
static void write_all(pvi_jw *w, const request *r)
{
    const pv_plugin *p;
    pvi_jw_open(w, "accountants", '[');
    for (int64_t i = 0; (p = pv_nth(PV_KIND_accountant, i)); i++) {
        pvi_cost c;
        if (pvi_account_rows(r->ctx, p->name, r->rel, r->ev, r->delta, r->rows, &c) != PV_OK) continue;
        pvi_jw_open(w, NULL, '{');
        pvi_jw_str(w, "accountant", p->name);
        pvi_jw_f64(w, "epsilon", c.epsilon);
        pvi_jw_f64(w, "epsilon_lower", c.epsilon_lower);
        pvi_jw_bool(w, "group_bound", c.group_bound);
        pvi_jw_close(w, '}');
    }
    pvi_jw_close(w, ']');
}

static pv_status answer_account(request *r, pvi_jw *w)
{
    pvi_cost c;
    pv_status s;
    if (isnan(r->delta) == isnan(r->epsilon))
        return pvi_fail(r->ctx, PV_E_PARAM, "give delta to learn epsilon, or epsilon to learn delta");
    if (!isnan(r->delta)) {
        s = pvi_account_rows(r->ctx, r->accountant, r->rel, r->ev, r->delta, r->rows, &c);
    } else if (r->rows != 1) {
        return pvi_fail(r->ctx, PV_E_PARAM, "rows=%lld: groups need delta, not epsilon", (long long)r->rows);
    } else {
        c = (pvi_cost) { .epsilon = r->epsilon };
        s = pvi_account_delta(r->ctx, r->accountant, r->rel, r->ev, r->epsilon, &c.delta, &c.accountant);
    }
    if (s != PV_OK) return s;
    pvi_jw_open(w, NULL, '{');
    write_cost(w, r, &c);
    if (r->all && !isnan(r->delta)) write_all(w, r);
    return PV_OK;
}

pv_status pv_account(pv_ctx *ctx, const char *request_json, char **json)
{
    request r;
    pvi_str out = { .ctx = ctx };
    pvi_jw w = { .out = &out, .indent = 2 };
    *json = NULL;
    pv_status s = request_open(ctx, request_json, NAN, &r);
    if (s == PV_OK) s = answer_account(&r, &w);
    if (s == PV_OK) s = finish(&r, &w, r.ev, json);
    pvi_str_free(&out);
    request_free(&r);
    return s;
}

/* ---- calibration ------------------------------------------------------------------------------------------- */

static pv_status answer_calibrate(request *r, pvi_jw *w)
{
    pvi_cost c;
    double factor;
    if (isnan(r->delta) || isnan(r->epsilon))
        return pvi_fail(r->ctx, PV_E_PARAM, "calibration needs epsilon and delta");
    if (r->rows != 1)
        return pvi_fail(r->ctx, PV_E_PARAM, "rows=%lld: calibration is for one row", (long long)r->rows);
    const pv_status s = pvi_calibrate(r->ctx, r->accountant, r->rel, r->ev, r->epsilon, r->delta, &factor, &c);
    if (s != PV_OK) return s;
    const bool selection = r->ev->sub && r->ev->sub->kind == PV_EV_SELECT;
    pvi_jw_open(w, NULL, '{');
    if (!isnan(r->unit))
        pvi_jw_f64(w, selection ? "eps0" : "noise_multiplier", selection ? r->unit / factor : r->unit * factor);
    pvi_jw_f64(w, "factor", factor);
    write_cost(w, r, &c);
    pvi_jw_f64(w, "target_epsilon", r->epsilon);
    r->ev = pvi_event_scale(r->arena, r->ev, factor);
    return r->ev ? PV_OK : pvi_nomem(r->ctx);
}

pv_status pv_calibrate(pv_ctx *ctx, const char *request_json, char **json)
{
    request r;
    pvi_str out = { .ctx = ctx };
    pvi_jw w = { .out = &out, .indent = 2 };
    *json = NULL;
    pv_status s = request_open(ctx, request_json, 1.0, &r);
    if (s == PV_OK) s = answer_calibrate(&r, &w);
    if (s == PV_OK) s = finish(&r, &w, r.ev, json);
    pvi_str_free(&out);
    request_free(&r);
    return s;
}

/* ---- curve --------------------------------------------------------------------------------------------------- */

static void write_numbers(pvi_jw *w, const char *key, const double *x, int64_t n)
{
    const int indent = w->indent;
    pvi_jw_open(w, key, '[');
    w->indent = 0; /* one line */
    for (int64_t i = 0; i < n; i++) pvi_jw_f64(w, NULL, x[i]);
    w->indent = indent;
    pvi_jw_close(w, ']');
}

static pv_status make_curve(const request *r, pvi_curve *c, double *epsilon)
{
    pvi_cost top;
    pv_status s = pvi_account(r->ctx, r->accountant, r->rel, r->ev, FIT_DELTA, &top);
    if (s != PV_OK) return s;
    const double end = !isnan(r->epsilon)                          ? r->epsilon
                       : top.epsilon > 0 && top.epsilon < INFINITY ? top.epsilon
                                                                   : 1.0;
    if (!(end > 0 && end < INFINITY))
        return pvi_fail(r->ctx, PV_E_PARAM, "epsilon=%g: a positive number is needed", end);
    for (int i = 0; i < CURVE_POINTS; i++) epsilon[i] = end * i / (CURVE_POINTS - 1);
    c->n = CURVE_POINTS;
    c->epsilon = epsilon;
    return pvi_account_curve(r->ctx, r->accountant, r->rel, r->ev, c);
}

static pv_status answer_curve(request *r, pvi_jw *w)
{
    double epsilon[CURVE_POINTS], delta[CURVE_POINTS], alpha[TRADEOFF_POINTS], beta[TRADEOFF_POINTS];
    pvi_curve c = { .delta = delta };
    if (!isnan(r->delta) || r->rows != 1)
        return pvi_fail(r->ctx, PV_E_PARAM, "a curve has no delta and no rows; epsilon is where it ends");
    const pv_status s = make_curve(r, &c, epsilon);
    if (s != PV_OK) return s;
    for (int i = 0; i < TRADEOFF_POINTS; i++) {
        const double x = (double)i / (TRADEOFF_POINTS - 1);
        alpha[i] = x * x; /* dense where the curve is steep */
        beta[i] = pvi_tradeoff(&c, alpha[i]);
    }
    const double mu = pvi_mu_fit(&c);
    pvi_jw_open(w, NULL, '{');
    pvi_jw_str(w, "accountant", r->accountant);
    pvi_jw_str(w, "relation", r->rel == PV_REL_REPLACE ? "replace" : "zero-out");
    pvi_jw_f64(w, "mu", mu);
    pvi_jw_str(w, "mu_is", "a fit: the smallest Gaussian curve above every point shown, no more");
    write_numbers(w, "epsilon", epsilon, CURVE_POINTS);
    write_numbers(w, "delta", delta, CURVE_POINTS);
    write_numbers(w, "alpha", alpha, TRADEOFF_POINTS);
    write_numbers(w, "beta", beta, TRADEOFF_POINTS);
    return PV_OK;
}

pv_status pv_curve(pv_ctx *ctx, const char *request_json, char **json)
{
    request r;
    pvi_str out = { .ctx = ctx };
    pvi_jw w = { .out = &out, .indent = 2 };
    *json = NULL;
    pv_status s = request_open(ctx, request_json, NAN, &r);
    if (s == PV_OK) s = answer_curve(&r, &w);
    if (s == PV_OK) s = finish(&r, &w, r.ev, json);
    pvi_str_free(&out);
    request_free(&r);
    return s;
}
