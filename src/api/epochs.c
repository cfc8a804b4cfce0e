/* epochs.c - what block coordinate descent has cost after each of its passes, for one noise schedule or several.
 *
 *   z_k = z sqrt(o(k)): noise multiplier of pass k = 0 .. K-1, z that of variance 1 (schedule.c)
 *   (1) composition   a row is in one release of every pass, so after k of them it is a Gaussian of
 *                     mu^2 = sum_{l<k} 1/z_l^2, whose curve is exact: R_a/a = mu^2/2
 *   (2) hidden state  the bound on the last iterate alone after k passes (acct/hidden_sbcd.c), under its assumptions;
 *                     the last iterate is part of what is released, so where (1) is lower, (1) holds for it as well.
 *                     That happens when little is hidden: (1) is exact, (2) goes through Renyi divergences.
 * This is figure 1 of DP-SBCD with the costs that follow. */
#include "api/account_request.h"
#include "opt/schedule.h"

enum { MOST_STEPS = 30000 }; /* the time grows with the square */

typedef struct passes {
    pvi_request r;
    pvi_hidden_sbcd h;
    const char *noise;
    double z, delta;
} passes;

static pv_status needed(const pvi_request *r, const char *key, double *out)
{
    const pv_status s = pvi_ask_number(r, key, NAN, out);
    if (s != PV_OK) return s;
    if (*out > 0 && isfinite(*out)) return PV_OK;
    return pvi_fail(r->ctx, PV_E_PARAM, "sbcd needs %s=..., a number above 0", key);
}

static pv_status read_passes(passes *q)
{
    static const char *const known[] = { "mechanism", "noise",  "z",      "batches", "epochs",
                                         "step",      "smooth", "shrink", "strong",  "delta" };
    const pvi_request *r = &q->r;
    pv_status s;
    q->h = (pvi_hidden_sbcd) { .fixed_order = true, .last_iterate_only = true, .no_momentum = true, .convex = true };
    if ((s = pvi_ask_known(r, known, 10)) != PV_OK ||
        (s = pvi_ask_text(r, "noise", "constant", &q->noise)) != PV_OK || (s = needed(r, "z", &q->z)) != PV_OK ||
        (s = needed(r, "step", &q->h.step)) != PV_OK || (s = needed(r, "smooth", &q->h.smooth)) != PV_OK ||
        (s = needed(r, "delta", &q->delta)) != PV_OK ||
        (s = pvi_ask_number(r, "shrink", 0.0, &q->h.shrink)) != PV_OK ||
        (s = pvi_ask_number(r, "strong", 0.0, &q->h.strong)) != PV_OK ||
        (s = pvi_ask_whole(r, "batches", 1, PVI_RANGE_PARTS, &q->h.batches)) != PV_OK ||
        (s = pvi_ask_whole(r, "epochs", 1, PVI_RANGE_TIMES, &q->h.epochs)) != PV_OK)
        return s;
    if (q->h.epochs > MOST_STEPS / q->h.batches)
        return pvi_fail(r->ctx, PV_E_PARAM, "epochs=%lld of %lld batches: %d steps in all at most",
                        (long long)q->h.epochs, (long long)q->h.batches, MOST_STEPS);
    if ((s = pvi_within(r->ctx, PVI_RANGE_NOISE, q->z)) != PV_OK ||
        (s = pvi_within(r->ctx, PVI_RANGE_DELTA, q->delta)) != PV_OK ||
        (s = pvi_within(r->ctx, PVI_RANGE_CONSTANT, q->h.step)) != PV_OK ||
        (s = pvi_within(r->ctx, PVI_RANGE_CONSTANT, q->h.smooth)) != PV_OK)
        return s;
    if (!(q->h.strong >= 0.0 && q->h.strong <= q->h.smooth))
        return pvi_fail(r->ctx, PV_E_PARAM, "strong=%g: a number from 0 to smooth=%g is needed", q->h.strong,
                        q->h.smooth);
    return pvi_within(r->ctx, PVI_RANGE_CONSTANT, q->h.shrink);
}

typedef struct series {
    double *z, *rate[2], *epsilon[2]; /* composition, hidden state */
} series;

static bool make_series(pv_arena *a, int64_t n, series *out)
{
    double *const room = pv_arena_f64(a, 5 * n);
    if (room) *out = (series) { room, { room + n, room + 2 * n }, { room + 3 * n, room + 4 * n } };
    return room != NULL;
}

static pv_status compute(passes *q, const char *noise, series *t)
{
    const int64_t K = q->h.epochs;
    double sum = 0.0;
    pv_status s = pvi_noise_variances(q->r.ctx, noise, K, q->r.arena, t->z);
    if (s != PV_OK) return s;
    for (int64_t k = 0; s == PV_OK && k < K; k++) {
        t->z[k] = q->z * sqrt(t->z[k]);
        s = pvi_within(q->r.ctx, PVI_RANGE_NOISE, t->z[k]);
    }
    for (int64_t k = 0; s == PV_OK && k < K; k++) {
        pvi_hidden_sbcd h = q->h;
        h.z = t->z;
        h.epochs = k + 1;
        s = pvi_hidden_sbcd_rate(q->r.ctx, &h, &t->rate[1][k]); /* (2) */
        if (s != PV_OK) return s;
        sum = pv_up(sum + pv_up(1.0 / (t->z[k] * t->z[k]), 2), 1);
        t->rate[0][k] = 0.5 * sum; /* (1) */
        t->epsilon[0][k] = pvi_gdp_epsilon_ub(pv_up(sqrt(sum), 1), q->delta);
        t->epsilon[1][k] = fmin(pvi_hidden_sbcd_epsilon(t->rate[1][k], q->delta), t->epsilon[0][k]);
    }
    return s;
}

static void write_numbers(pvi_jw *w, const char *key, const double *x, int64_t n)
{
    pvi_jw_open(w, key, '[');
    for (int64_t k = 0; k < n; k++) pvi_jw_f64(w, NULL, x[k]);
    pvi_jw_close(w, ']');
}

static pv_status write_schedule(passes *q, const char *noise, pvi_jw *w)
{
    series t;
    if (!make_series(q->r.arena, q->h.epochs, &t)) return pvi_nomem(q->r.ctx);
    const pv_status s = compute(q, noise, &t);
    if (s != PV_OK) return s;
    pvi_jw_open(w, NULL, '{');
    pvi_jw_str(w, "noise", noise);
    write_numbers(w, "noise_multiplier", t.z, q->h.epochs);
    write_numbers(w, "composition", t.epsilon[0], q->h.epochs);
    write_numbers(w, "hidden_state", t.epsilon[1], q->h.epochs);
    write_numbers(w, "composition_rate", t.rate[0], q->h.epochs);
    write_numbers(w, "hidden_state_rate", t.rate[1], q->h.epochs);
    pvi_jw_close(w, '}');
    return PV_OK;
}

/* Schedules are joined by +. */
static pv_status write_schedules(passes *q, pvi_jw *w)
{
    pv_status s = PV_OK;
    for (const char *at = q->noise; s == PV_OK;) {
        const size_t n = strcspn(at, "+");
        const char *one = pvi_arena_strdup(q->r.arena, at, n);
        s = one ? write_schedule(q, one, w) : pvi_nomem(q->r.ctx);
        if (!at[n]) break;
        at += n + 1;
    }
    return s;
}

static pv_status answer(passes *q, char **json)
{
    pvi_str b = { .ctx = q->r.ctx };
    pvi_jw w = { .out = &b };
    pv_status s = read_passes(q);
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_f64(&w, "delta", q->delta);
    pvi_jw_i64(&w, "epochs", q->h.epochs);
    pvi_jw_open(&w, "schedules", '[');
    if (s == PV_OK) s = write_schedules(q, &w);
    pvi_jw_close(&w, ']');
    pvi_jw_open(&w, "assumptions", '[');
    for (int i = 0; pvi_hidden_sbcd_assumptions[i]; i++) pvi_jw_str(&w, NULL, pvi_hidden_sbcd_assumptions[i]);
    if (q->h.strong > 0.0)
        pvi_jw_str(&w, NULL,
                   "The problem of every layer is strongly convex with the constant given, for the inputs that its "
                   "rows bring: no run of privet shows that.");
    pvi_jw_close(&w, ']');
    pvi_jw_close(&w, '}');
    if (s == PV_OK) return pvi_str_take(&b, json);
    pvi_str_free(&b);
    return s;
}

pv_status pv_epochs(pv_ctx *ctx, const char *request_json, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, request_json);
    PVI_NEEDS(ctx, json);
    passes q = { 0 };
    pv_status s = pvi_ask_open(ctx, request_json, &q.r);
    if (s == PV_OK) s = answer(&q, json);
    pvi_request_free(&q.r);
    return pvi_done(ctx, s);
}
