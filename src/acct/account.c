/* account.c - from an accountant's name and an event tree to a certified cost.
 *
 * `best` asks every registered accountant that supports the events and keeps the smallest upper
 * bound: each one is certified, so the minimum is.  Lower bounds are certified too: the largest
 * is kept, and an upper bound below it, which only an error could bring about, is never returned.  The
 * search ends early when upper and lower bound meet.
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
    for (const char *s = settings; *s;) {
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
    if (ops->open) ops->open(r->st, ctx);
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
    return *ops ? PV_OK : pvi_accountant_unknown(ctx, name);
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
    const double x = pv_up(d * pv_up(1.0 + pv_up(exp(e), 2), 1), 1); /* NaN for 0 times infinity: 1 */
    return x < 1.0 ? x : 1.0;
}

/* delta of (1) at e; 1 and *s when the accountant fails. */
static double group_at(const run *r, double e, pv_status *s)
{
    double d = 1.0;
    *s = r->ops->delta_ub(r->st, r->cfg, e, &d);
    return *s == PV_OK ? group_delta(e, d) : 1.0;
}

/* ln of how far delta of (1) is above the wanted one, kept finite. */
static double group_excess(const run *r, double e, double delta, pv_status *s)
{
    const double d = group_at(r, e, s);
    return d <= delta ? fmax(log(d / delta), -50.0) : fmin(fmax(log(d / delta), 0x1p-60), 50.0);
}

/* Smallest e found with (1 + e^e) delta_ub(e) <= delta.  Only values for which the bound was evaluated and holds are
 * returned, so the search need not assume monotonicity.  ln delta against e is smooth: false position, with the value
 * at an end that stays halved (Illinois), and each guess moved a little to the side that is still open. */
static pv_status group_epsilon(const run *r, double delta, double *eps)
{
    pv_status s;
    double lo = 0.0, hi = 0.5, flo = 50.0, fhi;
    int safe = -1;
    *eps = 0.0;
    if (group_at(r, 0.0, &s) <= delta && s == PV_OK) return s; /* else the search would halve its way to it */
    *eps = INFINITY;
    for (int i = 0; (fhi = group_excess(r, hi, delta, &s)) > 0.0; i++, lo = hi, flo = fhi, hi *= 2)
        if (s != PV_OK || hi > 1e3 || !PVI_ITERATE(GROUP_RISE, i)) return s; /* e^hi has left the range of a double */
    for (int i = 1; PVI_ITERATE(GROUP_CLOSE, i) && hi - lo > 1e-9 * hi; i++) {
        const double edge = 0.4e-9 * hi, guess = (lo * fhi - hi * flo) / (fhi - flo);
        double e = fmin(fmax(guess + (safe == 1 ? -edge : edge), lo + edge), hi - edge);
        if (i % 4 == 0 || !(fhi < 0.0)) e = 0.5 * (lo + hi); /* when it stalls, or fhi says nothing */
        const double f = group_excess(r, e, delta, &s);
        if (s != PV_OK) break; /* no more work may be done: hi holds already */
        if (f > 0.0) lo = e, flo = f, fhi *= safe == 0 ? 0.5 : 1.0;
        else hi = e, fhi = f, flo *= safe == 1 ? 0.5 : 1.0;
        safe = f <= 0.0;
    }
    *eps = 2.0 * hi;
    return s == PV_E_NUMERIC ? PV_OK : s;
}

/* ---- one accountant ---------------------------------------------------------------------------------- */

static pv_status ask_epsilon(const run *r, const pvi_question *q, bool group, pvi_cost *out)
{
    const pv_accountant_ops *o = r->ops;
    pv_status s =
        group ? group_epsilon(r, q->delta, &out->epsilon) : o->epsilon_ub(r->st, r->cfg, q->delta, &out->epsilon);
    if (s != PV_OK) return s;
    if (!group && o->epsilon_lb) s = o->epsilon_lb(r->st, r->cfg, q->delta, &out->epsilon_lower);
    out->delta = q->delta;
    return s != PV_OK || out->epsilon >= 0 ? s : PV_E_NUMERIC;
}

static pv_status delta_at(const run *r, double eps, bool group, double *delta)
{
    pv_status s = PV_OK;
    *delta = NAN;
    if (group) *delta = group_at(r, 0.5 * eps, &s);
    else s = r->ops->delta_ub(r->st, r->cfg, eps, delta);
    return s != PV_OK || (*delta >= 0 && *delta <= 1) ? s : PV_E_NUMERIC;
}

/* The smallest delta at each point: what other accountants have put there stays if it is smaller. */
static pv_status ask_curve(const run *r, const pvi_curve *c, bool group)
{
    for (int64_t i = 0; i < c->n; i++) {
        double d;
        const pv_status s = delta_at(r, c->epsilon[i], group, &d);
        if (s != PV_OK) return s;
        if (d < c->delta[i]) c->delta[i] = d;
    }
    return PV_OK;
}

static pv_status answer(const run *r, const pvi_question *q, pvi_cost *out)
{
    const bool group = q->rel == PV_REL_REPLACE && has_poisson(q->ev);
    const pv_status s = r->ops->compose(r->st, r->cfg, group ? PV_REL_ZERO_OUT : q->rel, q->ev);
    *out = (pvi_cost) { .epsilon = q->epsilon, .accountant = r->ops->head.name, .group_bound = group };
    if (s != PV_OK) return s;
    switch (q->what) {
    case PVI_ASK_EPSILON: return ask_epsilon(r, q, group, out);
    case PVI_ASK_DELTA: return delta_at(r, q->epsilon, group, &out->delta);
    default: return ask_curve(r, q->curve, group);
    }
}

pv_status pvi_ask(pv_ctx *ctx, const pv_accountant_ops *ops, const char *settings, const pvi_question *q,
                  pvi_cost *out)
{
    run r;
    pv_status s = run_open(ctx, ops, settings, &r);
    if (s == PV_OK) s = answer(&r, q, out);
    run_close(&r);
    return s;
}

/* ---- by name, or the best ---------------------------------------------------------------------------- */

static const char *relation_name(const pvi_question *q)
{
    return q->rel == PV_REL_REPLACE ? "replace" : "zero-out";
}

static pv_status ask_named(pv_ctx *ctx, const char *text, const pvi_question *q, pvi_cost *out)
{
    const pv_accountant_ops *ops;
    const char *settings;
    pv_status s = find(ctx, text, &ops, &settings);
    if (s != PV_OK) return s;
    ctx->err[0] = '\0';
    s = pvi_ask(ctx, ops, settings, q, out);
    if (s == PV_OK || ctx->err[0]) return s;
    return pvi_fail(ctx, s, "accountant %s has no answer for these events under %s (%s); try best", ops->head.name,
                    relation_name(q), pv_status_name(s));
}

/* Of n answers, the smallest that no certified lower bound contradicts; NULL: none.  Of epsilon and delta one was
 * given, and is the same in all. */
static const pvi_cost *smallest(const pvi_cost *c, int n, double lower)
{
    const pvi_cost *best = NULL;
    for (int i = 0; i < n; i++) {
        if (c[i].epsilon < lower) continue;
        if (!best || c[i].epsilon < best->epsilon || (c[i].epsilon == best->epsilon && c[i].delta < best->delta))
            best = &c[i];
    }
    return best;
}

/* Has one of them a proof for the other relation?  Then the end of a message says so. */
static const char *other_relation(pv_ctx *ctx, const pv_accountant_ops *const *ops, int n, const pvi_question *q)
{
    const bool zero_out = q->rel == PV_REL_ZERO_OUT;
    pvi_question other = *q;
    pvi_cost cost;
    other.rel = zero_out ? PV_REL_REPLACE : PV_REL_ZERO_OUT;
    for (int i = 0; i < n; i++)
        if (pvi_ask(ctx, ops[i], "", &other, &cost) == PV_OK)
            return zero_out ? "; --relation replace has" : "; --relation zero-out has";
    return "";
}

pv_status pvi_ask_best(pv_ctx *ctx, const pv_accountant_ops *const *ops, int n, const pvi_question *q, pvi_cost *out)
{
    pvi_cost cost[PVI_ACCOUNTANTS];
    const pvi_cost *best = NULL;
    double lower = 0.0;
    int known = 0;
    for (int i = 0; i < n; i++) {
        const pv_status s = pvi_ask(ctx, ops[i], "", q, &cost[known]);
        if (s == PV_E_NOMEM) return s;
        if (s != PV_OK) continue;
        lower = fmax(lower, cost[known++].epsilon_lower);
        best = smallest(cost, known, lower);
        if (best && lower > 0 && best->epsilon - lower <= 1e-9 * lower) break; /* nothing can be better */
    }
    if (known > 0 && !best)
        return pvi_fail(ctx, PV_E_NUMERIC, "the accountants contradict each other: none is believed");
    if (!best)
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "no accountant has a proof for these events under %s%s",
                        relation_name(q), other_relation(ctx, ops, n, q));
    *out = *best;
    out->epsilon_lower = lower;
    return PV_OK;
}

static pv_status ask_best(pv_ctx *ctx, const pvi_question *q, pvi_cost *out)
{
    const pv_accountant_ops *ops[PVI_ACCOUNTANTS];
    const pv_plugin *p;
    int n = 0;
    while (n < PVI_ACCOUNTANTS && (p = pv_nth(PV_KIND_accountant, n)))
        ops[n++] = (const pv_accountant_ops *)(const void *)p;
    return pvi_ask_best(ctx, ops, n, q, out);
}

/* ---- the calls ------------------------------------------------------------------------------------------ */

static pv_status checked(pv_ctx *ctx, const char *accountant, const pvi_question *q, pvi_cost *out)
{
    if (q->rel != PV_REL_ZERO_OUT && q->rel != PV_REL_REPLACE)
        return pvi_fail(ctx, PV_E_ARG, "the relation is zero-out or replace");
    pv_status s = pvi_event_check(ctx, q->ev);
    if (s == PV_OK && q->what == PVI_ASK_EPSILON) s = pvi_within(ctx, PVI_RANGE_DELTA, q->delta);
    if (s == PV_OK && q->what == PVI_ASK_DELTA) s = pvi_within(ctx, PVI_RANGE_EPSILON, q->epsilon);
    for (int64_t i = 0; s == PV_OK && q->what == PVI_ASK_CURVE && i < q->curve->n; i++)
        s = q->curve->epsilon[i] >= 0 ? PV_OK : PV_E_ARG; /* a point below 1e-9 is as good as 0 */
    if (s != PV_OK) return s;
    return strcmp(accountant, "best") == 0 ? ask_best(ctx, q, out) : ask_named(ctx, accountant, q, out);
}

pv_status pvi_account(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double delta,
                      pvi_cost *out)
{
    *out = (pvi_cost) { 0 };
    pvi_cost c;
    const pv_status s = checked(ctx, accountant, &(pvi_question) { PVI_ASK_EPSILON, rel, ev, delta, 0.0, NULL }, &c);
    if (s == PV_OK) *out = c;
    return s;
}

pv_status pvi_account_delta(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double epsilon,
                            double *delta, const char **used)
{
    pvi_cost c;
    *delta = 1.0;
    if (used) *used = NULL;
    const pv_status s = checked(ctx, accountant, &(pvi_question) { PVI_ASK_DELTA, rel, ev, 0.0, epsilon, NULL }, &c);
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
    return checked(ctx, accountant, &(pvi_question) { PVI_ASK_CURVE, rel, ev, 0.0, 0.0, curve }, &c);
}
