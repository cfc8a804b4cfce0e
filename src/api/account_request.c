/* account_request.c - a question about costs, from JSON.
 *
 * A request names the events in one of three ways,
 *   "events": {...}      an event tree, in the canonical form of event_json.c
 *   "file": "path"       the same, in a file
 *   "mechanism": "gaussian", "z": 1.1, "q": 0.01, "sampler": "poisson", "steps": 100
 *                        or laplace with "scale", select with "eps0", ball with "delta0", eps-delta with
 *                        "eps0" and "delta0"; q 1 and steps 1 when absent
 *   "mechanism": "ball", "distance", "dimension", "radius"   in place of "delta0": the share of the volume that two
 *                        balls of this radius (1 when absent) do not have in common (mech_ball.c)
 *   "mechanism": "noisy-gd", "z", "step", "smooth", "strong", "batches", "steps", "diameter" with "shift"
 *                        the last iterate alone (hidden.c), under assumptions that the answer lists
 * and asks with "delta" or "epsilon", "accountant" (best) and its settings as they are listed
 * ("accountant.conversion"), "relation" (zero-out), "rows" (1), "unit" (row; person: what its words are about), and
 * "draws" with "draws_epsilon" (acct/draws.c).
 * Numbers may be written as numbers or as text.  An unknown member is refused. */
#include "account_request.h"

#define FILE_LIMIT ((size_t)1 << 28)

static const char *const members[] = { "events",   "file",     "mechanism", "delta",    "epsilon",       "accountant",
                                       "relation", "rows",     "all",       "draws",    "draws_epsilon", "unit",
                                       "q",        "sampler",  "steps",     "z",        "scale",         "eps0",
                                       "delta0",   "step",     "smooth",    "strong",   "diameter",      "shift",
                                       "batches",  "distance", "radius",    "dimension" };
enum { MEMBERS = sizeof members / sizeof *members, GENERAL = 12, NOISE = 15, NOISE_END = 19 }; /* z .. delta0 */

/* Behind a member whose option has another name. */
static const char *option_of(const char *key)
{
    return strcmp(key, "rows") == 0 ? " (--group)" : "";
}

pv_status pvi_ask_number(const pvi_request *r, const char *key, double absent, double *out)
{
    const pvi_json *v = pvi_json_get(r->json, key);
    *out = absent;
    if (!v) return PV_OK;
    if (v->type == PVI_JNUM) return *out = v->num, PV_OK;
    if (v->type == PVI_JSTR && pvi_parse_f64(v->text, v->text_len, out) && !isnan(*out)) return PV_OK;
    return pvi_fail(r->ctx, PV_E_PARAM, "%s=%s%s: a number is needed", key, v->type == PVI_JSTR ? v->text : "...",
                    option_of(key));
}

/* From 1 to the most of the range.  Digits are read as they are; of another spelling, 1e6, a double says the number
 * as long as it is below 2^53. */
pv_status pvi_ask_whole(const pvi_request *r, const char *key, int64_t absent, pvi_range_id range, int64_t *out)
{
    const pvi_json *v = pvi_json_get(r->json, key);
    double x;
    const pv_status s = pvi_ask_number(r, key, (double)absent, &x);
    *out = absent;
    if (s != PV_OK || !v) return s;
    const bool digits = pvi_parse_i64(v->text, v->text_len, out);
    if (!digits && fabs(x) < 0x1p53 && x == floor(x)) *out = (int64_t)x;
    else if (!digits) *out = 0;
    if (*out >= 1 && (double)*out <= pvi_ranges[range].most && *out <= (int64_t)1 << 53) return PV_OK;
    return pvi_fail(r->ctx, PV_E_PARAM, "%s=%s%s: a whole number from 1 to %.0f is needed", key, v->text,
                    option_of(key), pvi_ranges[range].most);
}

pv_status pvi_ask_text(const pvi_request *r, const char *key, const char *absent, const char **out)
{
    const pvi_json *v = pvi_json_get(r->json, key);
    *out = v && v->type == PVI_JSTR ? v->text : absent;
    return !v || v->type == PVI_JSTR ? PV_OK : pvi_fail(r->ctx, PV_E_PARAM, "%s: text is needed", key);
}

/* What papers and other tools call a member that is known here. */
static const char *other_name(const char *key, const char *const *known, int n)
{
    static const char *const names[][2] = {
        { "sigma", "z" },         { "noise_multiplier", "z" }, { "b", "scale" },
        { "sampling_rate", "q" }, { "sample_rate", "q" },      { "T", "steps" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int k = 0; k < n && strcmp(key, names[i][0]) == 0; k++)
            if (strcmp(known[k], names[i][1]) == 0) return known[k];
    return NULL;
}

/* a, b, c: of the n words those that a command line has as they are, without the many of single accountants. */
static const char *listed(const char *const *words, int n, char out[256])
{
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        const bool inside = strcmp(words[i], "events") == 0 || strcmp(words[i], "mechanism") == 0;
        if (inside || strchr(words[i], '.') || at + strlen(words[i]) + 3 > 256) continue;
        at += (size_t)snprintf(out + at, 256 - at, "%s%s", at ? ", " : "", words[i]);
    }
    return out;
}

pv_status pvi_ask_known(const pvi_request *r, const char *const *known, int n)
{
    char list[256];
    for (const pvi_json *c = r->json->child; c; c = c->next) {
        bool found = false;
        for (int i = 0; i < n && !found; i++) found = strcmp(c->key, known[i]) == 0;
        if (found) continue;
        const char *near = other_name(c->key, known, n);
        if (!near) near = pvi_nearest(c->key, known, n);
        return pvi_fail(r->ctx, PV_E_PARAM, "unknown setting %s; %s%s%s", c->key,
                        near ? "did you mean " : "there is ", near ? near : listed(known, n, list), near ? "?" : "");
    }
    return PV_OK;
}

/* ---- settings of the accountant ------------------------------------------------------------------------- */

static const char prefix[] = "accountant.";
enum { PREFIX = sizeof prefix - 1, ACCOUNTANT_KEYS = 64, KEY_SIZE = 64 };

/* The members above, and accountant.* of every accountant. */
static pv_status known_members(const pvi_request *r)
{
    const char *known[MEMBERS + ACCOUNTANT_KEYS];
    char text[ACCOUNTANT_KEYS][KEY_SIZE];
    const pv_plugin *p;
    int n = 0;
    for (int64_t i = 0; (p = pv_nth(PV_KIND_accountant, i)); i++)
        for (const pv_param *row = p->params; row->key && n < ACCOUNTANT_KEYS; row++, n++) {
            snprintf(text[n], KEY_SIZE, "%s%s", prefix, row->key);
            known[MEMBERS + n] = text[n];
        }
    memcpy(known, members, sizeof members);
    return pvi_ask_known(r, known, MEMBERS + n);
}

static pv_status accountant_settings(pvi_request *r)
{
    pv_status s = PV_OK;
    for (const pvi_json *c = r->json->child; c && s == PV_OK; c = c->next) {
        if (strncmp(c->key, prefix, PREFIX) != 0) continue;
        if (c->type != PVI_JSTR && c->type != PVI_JNUM)
            return pvi_fail(r->ctx, PV_E_PARAM, "%s: text or a number is needed", c->key);
        s = pvi_accountant_set(r->ctx, r->arena, c->key + PREFIX, c->text, &r->accountant);
    }
    return s;
}

/* ---- events ------------------------------------------------------------------------------------------- */

/* What a mechanism's parameter is, for who left it out. */
static const char *meaning(const char *key)
{
    static const char *const words[][2] = {
        { "z", "noise over sensitivity" },
        { "scale", "noise over sensitivity" },
        { "eps0", "the epsilon of one release" },
        { "delta0", "the delta of one release" },
        { "distance", "how far a neighbour moves what the noise is added to; or delta0" },
        { "dimension", "numbers that are released" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(key, words[i][0]) == 0) return words[i][1];
    return "a number";
}

/* Which parameter a shorthand needs; the second is that of eps-delta. */
static const struct shorthand {
    pv_ev_kind kind;
    const char *a, *b;
    pvi_range_id range; /* of a */
} shorthands[] = {
    { PV_EV_GAUSSIAN, "z", NULL, PVI_RANGE_NOISE },        { PV_EV_LAPLACE, "scale", NULL, PVI_RANGE_SCALE },
    { PV_EV_SELECT, "eps0", NULL, PVI_RANGE_SELECT },      { PV_EV_BALL, "delta0", NULL, PVI_RANGE_DELTA0 },
    { PV_EV_EPS_DELTA, "eps0", "delta0", PVI_RANGE_EPS0 },
};
enum { SHORTHANDS = sizeof shorthands / sizeof *shorthands };

static pv_status parameter(const pvi_request *r, const char *name, const char *key, double absent, double *out)
{
    const pv_status s = pvi_ask_number(r, key, absent, out);
    if (s != PV_OK || !isnan(*out)) return s;
    return pvi_fail(r->ctx, PV_E_PARAM, "%s needs %s=..., %s", name, key, meaning(key));
}

/* A calibration finds the amount of noise itself: one that is given would be ignored. */
static pv_status left_open(const pvi_request *r, const char *key, double unit)
{
    if (isnan(unit) || !pvi_json_get(r->json, key)) return PV_OK;
    return pvi_fail(r->ctx, PV_E_PARAM, "%s is what calibrate solves for: leave it out, or ask account what it costs",
                    key);
}

/* Wraps e in its sampler; NULL in e is passed on. */
static pv_status sampled_event(const pvi_request *r, const char *sampler, double q, const pv_event **e)
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

/* Members from `q` on belong to mechanisms: only those in `own` may be there. */
static pv_status only_own(const pvi_request *r, const char *name, const char *const *own, int n)
{
    for (int i = GENERAL; i < MEMBERS; i++) {
        bool mine = !pvi_json_get(r->json, members[i]);
        for (int k = 0; k < n && !mine; k++) mine = strcmp(own[k], members[i]) == 0;
        if (mine) continue;
        char list[256] = "";
        const char *near = i >= NOISE && i < NOISE_END && n ? own[0] : pvi_nearest(members[i], own, n);
        if (!near && n) listed(own, n, list);
        return pvi_fail(r->ctx, PV_E_PARAM, "%s has no %s%s%s%s", name, members[i],
                        near ? "; did you mean "
                        : n  ? "; it has "
                             : "",
                        near ? near : list, near ? "?" : "");
    }
    return PV_OK;
}

static pv_status unknown_mechanism(const pvi_request *r, const char *name)
{
    static const char *const names[] = { "gaussian", "laplace", "select", "ball", "eps-delta", "noisy-gd", "sbcd" };
    if (strcmp(name, "sbcd") == 0)
        return pvi_fail(r->ctx, PV_E_PARAM, "sbcd is for privet curve: it shows what every pass costs");
    const char *near = pvi_nearest(name, names, 7);
    if (near) return pvi_fail(r->ctx, PV_E_PARAM, "unknown mechanism %s; did you mean %s?", name, near);
    return pvi_fail(
        r->ctx, PV_E_PARAM,
        "unknown mechanism %s: gaussian, laplace, select, ball, eps-delta and noisy-gd are known, and sbcd "
        "to privet curve",
        name);
}

/* The delta of a ball, from what it follows from; left alone where delta0 is given. */
static pv_status ball_delta(const pvi_request *r, double *delta)
{
    double distance, radius, dimension;
    pv_status s;
    if (pvi_json_get(r->json, "delta0")) {
        static const char *const others[] = { "distance", "radius", "dimension" };
        for (int i = 0; i < 3; i++)
            if (pvi_json_get(r->json, others[i]))
                return pvi_fail(r->ctx, PV_E_PARAM, "delta0 and %s both say how far balls overlap: leave one out",
                                others[i]);
        return PV_OK;
    }
    if ((s = parameter(r, "ball", "distance", NAN, &distance)) != PV_OK ||
        (s = parameter(r, "ball", "dimension", NAN, &dimension)) != PV_OK ||
        (s = pvi_ask_number(r, "radius", 1.0, &radius)) != PV_OK)
        return s;
    if (!(distance > 0.0 && distance <= 1e100) || !(radius >= 1e-100 && radius <= 1e100))
        return pvi_fail(r->ctx, PV_E_PARAM, "distance=%g radius=%g: both must be above 0, and finite", distance,
                        radius);
    if (!(dimension >= 1.0 && dimension <= 1e9 && dimension == floor(dimension)))
        return pvi_fail(r->ctx, PV_E_PARAM, "dimension=%g: a whole number from 1 to 1e9 is needed", dimension);
    *delta = pv_ball_delta(distance, radius, dimension);
    return PV_OK;
}

/* A leaf out of range is told by the name it has here; of eps-delta the tree's own message serves. */
static pv_status check_leaf(const pvi_request *r, const struct shorthand *h)
{
    const pvi_range *range = &pvi_ranges[h->range];
    if (h->b || pvi_in_range(h->range, r->unit)) return PV_OK;
    return pvi_fail(r->ctx, PV_E_PARAM, "%s=%g: a number between %g and %g is needed", h->a, r->unit,
                    range->zero ? 0.0 : range->least, range->most);
}

static pv_status shorthand_event(pvi_request *r, const char *name, double unit)
{
    const struct shorthand *h = NULL;
    double b = 0.0, q;
    int64_t steps = 1;
    const char *sampler;
    pv_status s;
    for (int i = 0; i < SHORTHANDS; i++)
        if (strcmp(pvi_event_name(shorthands[i].kind), name) == 0) h = &shorthands[i];
    if (!h) return unknown_mechanism(r, name);
    const bool ball = h->kind == PV_EV_BALL;
    const char *const own[] = { h->a, "q", "sampler", "steps", ball ? "distance" : h->b, "radius", "dimension" };
    const bool noise = h->kind != PV_EV_BALL && h->kind != PV_EV_EPS_DELTA; /* others cannot be calibrated */
    if ((s = only_own(r, name, own, ball ? 7 : h->b ? 5 : 4)) != PV_OK) return s;
    if (ball && isnan(unit) && (s = ball_delta(r, &unit)) != PV_OK) return s;
    if (noise && (s = left_open(r, h->a, unit)) != PV_OK) return s;
    if ((s = parameter(r, name, h->a, unit, &r->unit)) != PV_OK ||
        (h->b && (s = parameter(r, name, h->b, NAN, &b)) != PV_OK) ||
        (s = pvi_ask_number(r, "q", 1.0, &q)) != PV_OK ||
        (s = pvi_ask_whole(r, "steps", 1, PVI_RANGE_TIMES, &steps)) != PV_OK ||
        (s = pvi_ask_text(r, "sampler", "poisson", &sampler)) != PV_OK)
        return s;
    if ((s = check_leaf(r, h)) != PV_OK) return s;
    const pv_event *e = pv_ev_leaf(r->arena, h->kind, r->unit, b);
    if (!e) return pvi_nomem(r->ctx);
    if ((s = sampled_event(r, sampler, q, &e)) != PV_OK) return s;
    r->ev = pv_ev_repeat(r->arena, steps, e);
    return r->ev ? pvi_event_check(r->ctx, r->ev) : pvi_nomem(r->ctx);
}

/* ---- the last iterate of noisy gradient descent (hidden.c) ------------------------------------------------ */

/* The gates that no number shows: who asks says that they hold, and the answer repeats them. */
static const char *const gates[] = {
    "The loss, averaged over each batch and with its penalty, is smooth and convex with the constants given.",
    "Only the last iterate leaves the run: no checkpoint, no metric, no stopping rule computed on rows.",
    "No gradient is clipped, and the projection, if any, is exact.",
    "Batches are taken in the same order in every pass.",
    "Noise and iterates are real numbers: rounding is not part of this theorem, so no certificate rests on it.",
    NULL,
};

static pv_status noisy_gd_event(pvi_request *r, double unit)
{
    pvi_hidden h = { .last_iterate_only = true, .no_clipping = true, .exact_projection = true, .fixed_order = true };
    static const char *const own[] = { "z", "step", "smooth", "strong", "diameter", "shift", "batches", "steps" };
    int64_t steps;
    double mu;
    pv_status s = only_own(r, "noisy-gd", own, 8);
    if (s != PV_OK || (s = left_open(r, "z", unit)) != PV_OK ||
        (s = parameter(r, "noisy-gd", "z", unit, &h.z)) != PV_OK ||
        (s = parameter(r, "noisy-gd", "step", NAN, &h.eta)) != PV_OK ||
        (s = parameter(r, "noisy-gd", "smooth", NAN, &h.smooth)) != PV_OK ||
        (s = pvi_ask_number(r, "strong", 0.0, &h.strong)) != PV_OK ||
        (s = pvi_ask_number(r, "diameter", INFINITY, &h.diameter)) != PV_OK ||
        (s = parameter(r, "noisy-gd with a diameter", "shift", h.diameter < INFINITY ? NAN : 1.0, &h.shift)) !=
            PV_OK ||
        (s = pvi_ask_whole(r, "batches", 1, PVI_RANGE_PARTS, &h.batches)) != PV_OK ||
        (s = pvi_ask_whole(r, "steps", 1, PVI_RANGE_TIMES, &steps)) != PV_OK)
        return s;
    if (steps % h.batches != 0)
        return pvi_fail(r->ctx, PV_E_PARAM, "steps=%lld: whole passes over %lld batches are needed", (long long)steps,
                        (long long)h.batches);
    h.passes = steps / h.batches;
    if (r->rows != 1)
        return pvi_fail(r->ctx, PV_E_PARAM, "rows=%lld (--group): noisy-gd is for one row", (long long)r->rows);
    if ((s = pvi_hidden_mu(r->ctx, &h, &mu)) != PV_OK) return s;
    r->unit = h.z;
    r->ev = pv_ev_leaf(r->arena, PV_EV_GAUSSIAN, pvi_down(1.0 / mu, 2), 0.0);
    r->assumptions = gates;
    return r->ev ? pvi_event_check(r->ctx, r->ev) : pvi_nomem(r->ctx);
}

static pv_status file_event(pvi_request *r, const char *path)
{
    char *body;
    size_t len;
    pvi_json *v;
    pv_status s = pvi_file_read(r->ctx, path, FILE_LIMIT, &body, &len);
    if (s != PV_OK) return s;
    /* The events of a certificate count only with all the rest of it, and that is for verify to check. */
    if (pvi_is_model_file(body, len))
        s = pvi_fail(r->ctx, PV_E_PARAM, "%s is a model: privet verify %s recomputes its cost", path, path);
    else s = pvi_json_parse(r->ctx, r->arena, path, body, len, &v);
    pvi_free(r->ctx, body);
    if (s != PV_OK) return s;
    if (pvi_json_get(v, "format"))
        return pvi_fail(r->ctx, PV_E_PARAM, "%s is a certificate: privet verify %s recomputes its cost", path, path);
    return pvi_event_parse(r->ctx, r->arena, path, v, &r->ev);
}

static pv_status read_events(pvi_request *r, double unit)
{
    const char *file, *mechanism;
    const pvi_json *tree = pvi_json_get(r->json, "events");
    pv_status s;
    if ((s = pvi_ask_text(r, "file", NULL, &file)) != PV_OK ||
        (s = pvi_ask_text(r, "mechanism", NULL, &mechanism)) != PV_OK)
        return s;
    if ((tree != NULL) + (file != NULL) + (mechanism != NULL) != 1)
        return pvi_fail(
            r->ctx, PV_E_PARAM,
            "say what is released, once: a mechanism such as `gaussian z=1.1 steps=100`, or --file events.json");
    if (mechanism)
        return strcmp(mechanism, "noisy-gd") == 0 ? noisy_gd_event(r, unit) : shorthand_event(r, mechanism, unit);
    if ((s = only_own(r, "a tree of events", NULL, 0)) != PV_OK) return s;
    return tree ? pvi_event_parse(r->ctx, r->arena, "request", tree, &r->ev) : file_event(r, file);
}

static pv_status read_draws(pvi_request *r)
{
    pv_status s;
    if ((s = pvi_ask_number(r, "draws", 0.0, &r->draws)) != PV_OK ||
        (s = pvi_ask_number(r, "draws_epsilon", 0.0, &r->covered)) != PV_OK)
        return s;
    if (r->draws >= 0.0 && r->draws < 1.0 && r->covered >= 0.0) return PV_OK;
    return pvi_fail(r->ctx, PV_E_PARAM,
                    "draws=%g draws_epsilon=%g: a share of delta below 1 and an epsilon are needed", r->draws,
                    r->covered);
}

static pv_status read_question(pvi_request *r)
{
    const char *rel, *unit;
    const pvi_json *all = pvi_json_get(r->json, "all");
    pv_status s;
    if ((s = pvi_ask_text(r, "relation", "zero-out", &rel)) != PV_OK ||
        (s = pvi_ask_text(r, "unit", "row", &unit)) != PV_OK ||
        (s = pvi_ask_text(r, "accountant", "best", &r->accountant)) != PV_OK ||
        (s = accountant_settings(r)) != PV_OK || (s = pvi_ask_number(r, "delta", NAN, &r->delta)) != PV_OK ||
        (s = pvi_ask_number(r, "epsilon", NAN, &r->epsilon)) != PV_OK ||
        (s = pvi_ask_whole(r, "rows", 1, PVI_RANGE_GROUP, &r->rows)) != PV_OK || (s = read_draws(r)) != PV_OK)
        return s;
    r->rel = strcmp(rel, "replace") == 0 ? PV_REL_REPLACE : PV_REL_ZERO_OUT;
    r->persons = strcmp(unit, "person") == 0;
    if (!r->persons && strcmp(unit, "row") != 0)
        return pvi_fail(r->ctx, PV_E_PARAM, "unit=%s: row or person is needed", unit);
    r->all = all && (all->type != PVI_JBOOL || all->num != 0);
    if (r->rel == PV_REL_ZERO_OUT && strcmp(rel, "zero-out") != 0)
        return pvi_fail(r->ctx, PV_E_PARAM, "relation=%s: zero-out or replace is needed", rel);
    return PV_OK;
}

void pvi_request_free(pvi_request *r)
{
    pvi_arena_free(r->arena);
}

pv_status pvi_ask_open(pv_ctx *ctx, const char *json, pvi_request *r)
{
    pvi_json *v;
    *r = (pvi_request) { .ctx = ctx, .unit = NAN };
    clock_gettime(CLOCK_MONOTONIC, &r->start);
    if (!(r->arena = pvi_arena_create(ctx))) return pvi_nomem(ctx);
    const bool empty = !json[strspn(json, " \t\r\n")]; /* which of a file would be said */
    const pv_status s = empty ? PV_OK : pvi_json_parse(ctx, r->arena, "request", json, strlen(json), &v);
    if (s != PV_OK) return s;
    r->json = empty ? NULL : v;
    return r->json && v->type == PVI_JOBJ ? PV_OK : pvi_fail(ctx, PV_E_FORMAT, "request:1:1: an object is needed");
}

pv_status pvi_request_open(pv_ctx *ctx, const char *json, double unit, pvi_request *r)
{
    pv_status s = pvi_ask_open(ctx, json, r);
    if (s != PV_OK || (s = known_members(r)) != PV_OK || (s = read_question(r)) != PV_OK) return s;
    return read_events(r, unit);
}
