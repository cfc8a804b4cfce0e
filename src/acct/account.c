/* account.c - from an accountant's name and an event tree to a certified cost.
 *
 * `best` asks every registered accountant that supports the events and keeps the smallest upper
 * bound: each one is certified, so the minimum is.  Lower bounds are certified too: the largest
 * is kept.  The search ends early when upper and lower bound meet.
 *
 * Poisson sampling under `replace` has no agreed dominating pair.  Replacing a row is zeroing it
 * and then filling it, two zero-out steps, so if the events cost (e, d) under zero-out,
 *   (1) replace costs (2e, (1 + e^e) d)             group privacy, Vadhan 2017, Lemma 2.2
 * The multiplier of a Poisson-sampled release always refers to the zero-out sensitivity.  Other
 * releases of the same tree refer to the sensitivity under `replace`; zeroing a row is one way of
 * replacing it, so their zero-out sensitivity is not larger and the same multiplier may be used. */
#include "acct.h"

/* ---- one accountant with its settings and state ---------------------------------------------- */

typedef struct run {
    pv_ctx *ctx;
    const pv_accountant_ops *ops;
    void *cfg, *st;  /* owned */
    pv_arena *arena; /* owned: text settings */
} run;

static void run_close(run *r)
{
    if (r->st && r->ops->close) r->ops->close(r->st);
    pvi_free(r->ctx, r->st);
    pvi_free(r->ctx, r->cfg);
    pvi_arena_free(r->arena);
    r->st = r->cfg = r->arena = NULL;
}

static pv_status run_settings(run *r, const char *settings)
{
    char prefix[64], pair[256];
    snprintf(prefix, sizeof prefix, "%s:", r->ops->head.name);
    for (const char *s = settings; s && *s;) {
        const size_t n = strcspn(s, ",");
        snprintf(pair, sizeof pair, "%.*s", (int)n, s);
        char *value = strchr(pair, '=');
        if (n >= sizeof pair || !value)
            return pvi_fail(r->ctx, PV_E_PARAM, "%s settings are written key=value, separated by commas", prefix);
        *value++ = '\0';
        const pv_status ok = pvi_param_set(r->ctx, r->arena, prefix, r->ops->head.params, r->cfg, pair, value);
        if (ok != PV_OK) return ok;
        s += n + (s[n] == ',');
    }
    return PV_OK;
}

static pv_status run_open(pv_ctx *ctx, const pv_accountant_ops *ops, const char *settings, run *r)
{
    *r = (run) { .ctx = ctx, .ops = ops };
    r->cfg = pvi_alloc(ctx, ops->head.cfg_size);
    r->st = pvi_alloc(ctx, ops->head.state_size);
    r->arena = pvi_arena_create(ctx);
    if (!r->cfg || !r->st || !r->arena) return pvi_nomem(ctx);
    pvi_param_defaults(ops->head.params, r->cfg);
    return run_settings(r, settings);
}

/* "name:settings" */
static pv_status find(pv_ctx *ctx, const char *text, const pv_accountant_ops **ops, const char **settings)
{
    char name[64];
    const size_t n = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    *settings = text[n] ? text + n + 1 : "";
    *ops = (const pv_accountant_ops *)pv_find(PV_KIND_accountant, name);
    return *ops ? PV_OK
                : pvi_fail(ctx, PV_E_PARAM, "unknown accountant %s: `privet list accountant` shows them", name);
}

/* ---- relation ------------------------------------------------------------------------------------ */

/* On the tree itself, not its terms: even a Poisson sampler of rate 1 means zero-out multipliers. */
static bool has_poisson(const pv_event *e)
{
    if (e->kind == PV_EV_POISSON) return true;
    for (const pv_event *p = e->sub; p; p = e->kind == PV_EV_SEQ ? p->next : NULL)
        if (has_poisson(p)) return true;
    return false;
}

/* (1 + e^e) d, rounded up. */
static double group_delta(double e, double d)
{
    const double x = d > 0 ? pv_up(d * pv_up(1.0 + pv_up(exp(e), 2), 1), 1) : 0.0;
    return x < 1.0 ? x : 1.0;
}

/* Smallest e found with (1 + e^e) delta_ub(e) <= delta.  Only values for which the bound was
 * evaluated and holds are returned, so the search need not assume monotonicity. */
static pv_status group_epsilon(const run *r, double delta, double *eps)
{
    double lo = 0.0, hi = 0.5, d;
    for (;; lo = hi, hi *= 2) {
        const pv_status s = r->ops->delta_ub(r->st, r->cfg, hi, &d);
        if (s != PV_OK) return s;
        if (group_delta(hi, d) <= delta) break;
        if (hi > 1e3) return *eps = INFINITY, PV_OK; /* e^hi has left the range of a double */
    }
    for (int i = 0; i < 60 && hi - lo > 1e-9 * hi; i++) {
        const double mid = 0.5 * (lo + hi);
        const pv_status s = r->ops->delta_ub(r->st, r->cfg, mid, &d);
        if (s != PV_OK) return s;
        if (group_delta(mid, d) <= delta) hi = mid;
        else lo = mid;
    }
    *eps = 2.0 * hi;
    return PV_OK;
}

/* ---- one accountant ---------------------------------------------------------------------------------- */

typedef struct question {
    pv_relation rel;
    const pv_event *ev;
    bool group;             /* ask under zero-out and apply (1) */
    const pvi_curve *curve; /* borrowed: the points ask_curve fills */
} question;

static pv_status ask_epsilon(const run *r, const question *q, double delta, pvi_cost *out)
{
    pv_status s = r->ops->compose(r->st, r->cfg, q->group ? PV_REL_ZERO_OUT : q->rel, q->ev);
    if (s != PV_OK) return s;
    *out = (pvi_cost) { .delta = delta, .accountant = r->ops->head.name, .group_bound = q->group };
    s = q->group ? group_epsilon(r, delta, &out->epsilon) : r->ops->epsilon_ub(r->st, r->cfg, delta, &out->epsilon);
    if (s == PV_OK && !q->group && r->ops->epsilon_lb)
        s = r->ops->epsilon_lb(r->st, r->cfg, delta, &out->epsilon_lower);
    if (s == PV_OK && !(out->epsilon >= 0)) s = PV_E_NUMERIC;
    return s;
}

static pv_status ask_delta(const run *r, const question *q, double eps, pvi_cost *out)
{
    pv_status s = r->ops->compose(r->st, r->cfg, q->group ? PV_REL_ZERO_OUT : q->rel, q->ev);
    if (s != PV_OK) return s;
    *out = (pvi_cost) { .epsilon = eps, .accountant = r->ops->head.name, .group_bound = q->group };
    s = r->ops->delta_ub(r->st, r->cfg, q->group ? 0.5 * eps : eps, &out->delta);
    if (s == PV_OK && q->group) out->delta = group_delta(0.5 * eps, out->delta);
    if (s == PV_OK && !(out->delta >= 0 && out->delta <= 1)) s = PV_E_NUMERIC;
    return s;
}

/* The smallest delta at each point; a point that fails leaves what other accountants have put there. */
static pv_status ask_curve(const run *r, const question *q, double x, pvi_cost *out)
{
    (void)x;
    pv_status s = r->ops->compose(r->st, r->cfg, q->group ? PV_REL_ZERO_OUT : q->rel, q->ev);
    for (int64_t i = 0; s == PV_OK && i < q->curve->n; i++) {
        const double eps = q->curve->epsilon[i];
        double d = 1.0;
        s = r->ops->delta_ub(r->st, r->cfg, q->group ? 0.5 * eps : eps, &d);
        if (q->group) d = group_delta(0.5 * eps, d);
        if (s == PV_OK && d >= 0 && d < q->curve->delta[i]) q->curve->delta[i] = d;
    }
    *out = (pvi_cost) { .accountant = r->ops->head.name, .group_bound = q->group };
    return s;
}

typedef pv_status (*ask_fn)(const run *r, const question *q, double x, pvi_cost *out);

static pv_status ask(pv_ctx *ctx, const pv_accountant_ops *ops, const char *settings, ask_fn fn, const question *q,
                     double x, pvi_cost *out)
{
    run r;
    pv_status s = run_open(ctx, ops, settings, &r);
    if (s == PV_OK) s = fn(&r, q, x, out);
    run_close(&r);
    return s;
}

static pv_status ask_named(pv_ctx *ctx, const char *text, ask_fn fn, const question *q, double x, pvi_cost *out)
{
    const pv_accountant_ops *ops;
    const char *settings;
    pv_status s = find(ctx, text, &ops, &settings);
    if (s != PV_OK) return s;
    ctx->err[0] = '\0';
    s = ask(ctx, ops, settings, fn, q, x, out);
    if (s == PV_OK || ctx->err[0]) return s;
    if (s == PV_E_UNSUPPORTED)
        return pvi_fail(ctx, s, "accountant %s has no proof for these events under %s; try best", ops->head.name,
                        q->rel == PV_REL_REPLACE ? "replace" : "zero-out");
    return pvi_fail(ctx, s, "accountant %s: %s", ops->head.name, pv_status_name(s));
}

/* Is y the better answer?  Epsilon decides when delta was given, and the other way round. */
static bool better(const pvi_cost *x, const pvi_cost *y)
{
    return y->epsilon < x->epsilon || (y->epsilon == x->epsilon && y->delta < x->delta);
}

static pv_status ask_best(pv_ctx *ctx, ask_fn fn, const question *q, double x, pvi_cost *out)
{
    const pv_plugin *p;
    bool found = false;
    double lower = 0.0;
    for (int64_t i = 0; (p = pv_nth(PV_KIND_accountant, i)); i++) {
        pvi_cost c;
        const pv_status s = ask(ctx, (const pv_accountant_ops *)p, "", fn, q, x, &c);
        if (s == PV_E_NOMEM || s == PV_E_INTERNAL) return s;
        if (s != PV_OK) continue;
        if (c.epsilon_lower > lower) lower = c.epsilon_lower;
        if (!found || better(out, &c)) *out = c;
        found = true;
        if (fn == ask_epsilon && out->epsilon < INFINITY && out->epsilon - lower <= 1e-9 * out->epsilon) break;
    }
    if (!found)
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "no accountant has a proof for these events under %s",
                        q->rel == PV_REL_REPLACE ? "replace" : "zero-out");
    out->epsilon_lower = lower;
    return PV_OK;
}

/* ---- the calls ------------------------------------------------------------------------------------------ */

static pv_status answer(pv_ctx *ctx, const char *accountant, ask_fn fn, pv_relation rel, const pv_event *ev, double x,
                        const pvi_curve *curve, pvi_cost *out)
{
    if (rel != PV_REL_ZERO_OUT && rel != PV_REL_REPLACE)
        return pvi_fail(ctx, PV_E_ARG, "the relation is zero-out or replace");
    const pv_status s = pvi_event_check(ctx, ev);
    if (s != PV_OK) return s;
    const question q = { rel, ev, rel == PV_REL_REPLACE && has_poisson(ev), curve };
    return strcmp(accountant, "best") == 0 ? ask_best(ctx, fn, &q, x, out)
                                           : ask_named(ctx, accountant, fn, &q, x, out);
}

pv_status pvi_account(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double delta,
                      pvi_cost *out)
{
    *out = (pvi_cost) { 0 };
    if (!(delta >= 0 && delta < 1)) return pvi_fail(ctx, PV_E_ARG, "delta %g is not in [0, 1)", delta);
    pvi_cost c;
    const pv_status s = answer(ctx, accountant, ask_epsilon, rel, ev, delta, NULL, &c);
    if (s == PV_OK) *out = c;
    return s;
}

pv_status pvi_account_delta(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double epsilon,
                            double *delta, const char **used)
{
    *delta = 1.0;
    if (used) *used = NULL;
    if (!(epsilon >= 0)) return pvi_fail(ctx, PV_E_ARG, "epsilon %g is negative", epsilon);
    pvi_cost c;
    const pv_status s = answer(ctx, accountant, ask_delta, rel, ev, epsilon, NULL, &c);
    if (s != PV_OK) return s;
    *delta = c.delta;
    if (used) *used = c.accountant;
    return PV_OK;
}

pv_status pvi_account_curve(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev,
                            const pvi_curve *curve)
{
    pvi_cost c;
    for (int64_t i = 0; i < curve->n; i++) curve->delta[i] = 1.0;
    return answer(ctx, accountant, ask_curve, rel, ev, 0.0, curve, &c);
}
