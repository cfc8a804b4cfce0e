/* account_api.c - accounting for callers outside the library: JSON in (account_request.c), one JSON answer out. */
#include "account_request.h"

enum { CURVE_POINTS = 129, TRADEOFF_POINTS = 101 };
#define FIT_DELTA 1e-10 /* the curve is drawn down to this delta */

static double seconds_since(const struct timespec *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - t->tv_sec) + 1e-9 * (double)(now.tv_nsec - t->tv_nsec);
}

/* s g of acct/draws.c. */
static double taken(const pvi_request *r, double epsilon)
{
    return pvi_draws_taken(&(pvi_draws) { r->draws, r->covered }, epsilon);
}

/* The delta of ideal draws at epsilon, and what is taken by others. */
static double with_draws(const pvi_request *r, double epsilon, double delta)
{
    if (r->draws == 0.0) return delta;
    return fmin(1.0, pv_up(delta + taken(r, epsilon), 2));
}

static void write_cost(pvi_jw *w, const pvi_request *r, const pvi_cost *c)
{
    pvi_jw_f64(w, "epsilon", c->epsilon);
    pvi_jw_f64(w, "epsilon_lower",
               r->assumptions ? 0.0 : c->epsilon_lower); /* a theorem's bound may not be attained */
    pvi_jw_f64(w, "delta", c->delta);
    if (r->draws > 0.0) pvi_jw_f64(w, "delta_draws", c->epsilon <= PVI_DRAWS_LIMIT ? taken(r, c->epsilon) : 0.0);
    if (r->draws > 0.0) pvi_jw_bool(w, "ideal_draws", c->epsilon > PVI_DRAWS_LIMIT);
    pvi_jw_str(w, "accountant", r->assumptions ? "hidden-state" : c->accountant);
    pvi_jw_str(w, "relation", r->rel == PV_REL_REPLACE ? "replace" : "zero-out");
    pvi_jw_bool(w, "group_bound", c->group_bound);
    pvi_jw_i64(w, "rows", r->rows);
    if (r->persons) pvi_jw_str(w, "unit", "person");
    pvi_strength_write(
        w,
        &(pvi_claim) {
            .epsilon = c->epsilon, .delta = c->delta, .relation = r->rel, .group = r->rows, .persons = r->persons });
}

static pv_status finish(pvi_request *r, pvi_jw *w, const pv_event *ev, char **json)
{
    pvi_jw_bool(w, "conditional", r->assumptions != NULL);
    if (r->assumptions) pvi_jw_open(w, "assumptions", '[');
    for (const char *const *line = r->assumptions; line && *line; line++) pvi_jw_str(w, NULL, *line);
    if (r->assumptions) pvi_jw_close(w, ']');
    pvi_jw_f64(w, "seconds", seconds_since(&r->start));
    pvi_event_write(ev, w, "events");
    pvi_jw_close(w, '}');
    return pvi_str_take(w->out, json) == PV_OK ? PV_OK : pvi_nomem(r->ctx);
}

/* From the request to the answer; ask writes what is asked for, finish the rest. */
static pv_status answer(pv_ctx *ctx, const char *request_json, double unit, pv_status (*ask)(pvi_request *, pvi_jw *),
                        char **json)
{
    pvi_request r;
    pvi_str out = { .ctx = ctx };
    pvi_jw w = { .out = &out, .indent = 2 };
    pv_status s = pvi_request_open(ctx, request_json, unit, &r);
    if (s == PV_OK) s = ask(&r, &w);
    if (s == PV_OK) s = finish(&r, &w, r.ev, json);
    pvi_str_free(&out);
    pvi_request_free(&r);
    return pvi_done(ctx, s);
}

/* Every accountant that supports the events, side by side. */
static void write_all(pvi_jw *w, const pvi_request *r)
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

static pv_status answer_account(pvi_request *r, pvi_jw *w)
{
    pvi_cost c;
    pv_status s;
    if (!isnan(r->delta) && !isnan(r->epsilon))
        return pvi_fail(
            r->ctx, PV_E_PARAM,
            "epsilon and delta are both given: leave out the one to learn; calibrate finds the noise for both");
    if (isnan(r->delta) && isnan(r->epsilon))
        return pvi_fail(r->ctx, PV_E_PARAM, "give delta to learn epsilon, or epsilon to learn delta");
    if (!isnan(r->delta)) {
        s = pvi_account_draws(r->ctx, r->accountant, r->rel, r->ev, r->delta, r->rows,
                              &(pvi_draws) { r->draws, r->covered }, &c);
    } else if (r->rows != 1) {
        return pvi_fail(r->ctx, PV_E_PARAM, "rows=%lld (--group): groups need delta, not epsilon",
                        (long long)r->rows);
    } else {
        c = (pvi_cost) { .epsilon = r->epsilon };
        s = pvi_account_delta(r->ctx, r->accountant, r->rel, r->ev, r->epsilon, &c.delta, &c.accountant);
        if (r->epsilon <= PVI_DRAWS_LIMIT) c.delta = with_draws(r, r->epsilon, c.delta);
    }
    if (s != PV_OK) return s;
    pvi_jw_open(w, NULL, '{');
    write_cost(w, r, &c);
    if (r->all && !isnan(r->delta)) write_all(w, r);
    return PV_OK;
}

pv_status pv_account(pv_ctx *ctx, const char *request_json, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, request_json);
    PVI_NEEDS(ctx, json);
    return answer(ctx, request_json, NAN, answer_account, json);
}

/* ---- calibration ------------------------------------------------------------------------------------------- */

/* Of a shorthand: one release, perhaps repeated, perhaps sampled. */
static const pv_event *leaf_of(const pv_event *ev)
{
    while (ev->sub) ev = ev->sub;
    return ev;
}

static pv_status answer_calibrate(pvi_request *r, pvi_jw *w)
{
    pvi_cost c;
    double factor;
    if (isnan(r->delta) || isnan(r->epsilon))
        return pvi_fail(r->ctx, PV_E_PARAM, "calibration needs epsilon and delta");
    if (r->rows != 1)
        return pvi_fail(r->ctx, PV_E_PARAM, "rows=%lld (--group): calibration is for one row", (long long)r->rows);
    const double draws = r->draws > 0.0 && r->epsilon <= PVI_DRAWS_LIMIT ? taken(r, r->epsilon) : 0.0;
    if (draws > 0.0 && !(draws < r->delta))
        return pvi_fail(r->ctx, PV_E_PARAM, "delta=%g: the accuracy of the draws alone takes %g of it", r->delta,
                        draws);
    const double ideal = draws > 0.0 ? pvi_down(r->delta - draws, 2) : r->delta;
    const pv_status s = pvi_calibrate(r->ctx, r->accountant, r->rel, r->ev, r->epsilon, ideal, &factor, &c);
    if (s != PV_OK) return s;
    c.delta = r->delta;
    const bool selection = leaf_of(r->ev)->kind == PV_EV_SELECT;
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
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, request_json);
    PVI_NEEDS(ctx, json);
    return answer(ctx, request_json, 1.0, answer_calibrate, json);
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

static pv_status make_curve(const pvi_request *r, pvi_curve *c, double *epsilon)
{
    pvi_cost top;
    pv_status s = pvi_account(r->ctx, r->accountant, r->rel, r->ev, FIT_DELTA, &top);
    if (s != PV_OK) return s;
    const double end = !isnan(r->epsilon)                          ? r->epsilon
                       : top.epsilon > 0 && top.epsilon < INFINITY ? top.epsilon
                                                                   : 1.0;
    if (!(end > 0 && end < INFINITY))
        return pvi_fail(r->ctx, PV_E_PARAM, "epsilon=%g: a positive number is needed", end);
    if (!isnan(r->epsilon) && (s = pvi_within(r->ctx, PVI_RANGE_EPSILON, end)) != PV_OK) return s;
    for (int i = 0; i < CURVE_POINTS; i++) epsilon[i] = end * i / (CURVE_POINTS - 1);
    c->n = CURVE_POINTS;
    c->epsilon = epsilon;
    return pvi_account_curve(r->ctx, r->accountant, r->rel, r->ev, c);
}

static pv_status answer_curve(pvi_request *r, pvi_jw *w)
{
    double epsilon[CURVE_POINTS], delta[CURVE_POINTS], alpha[TRADEOFF_POINTS], beta[TRADEOFF_POINTS];
    pvi_curve c = { .delta = delta };
    if (!isnan(r->delta) || r->rows != 1)
        return pvi_fail(r->ctx, PV_E_PARAM, "a curve has no delta and no group; epsilon is where it ends");
    const pv_status s = make_curve(r, &c, epsilon);
    if (s != PV_OK) return s;
    for (int i = 0; i < CURVE_POINTS; i++) delta[i] = with_draws(r, epsilon[i], delta[i]);
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
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, request_json);
    PVI_NEEDS(ctx, json);
    return answer(ctx, request_json, NAN, answer_curve, json);
}
