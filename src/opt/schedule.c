/* schedule.c - how long each step is and how much noise its release gets, by public rules fixed before the run.
 *
 * Steps     t = 1 .. T:  eta_t = eta s(t) min(1, t/(warmup T)), a tenth of it after `drop` steps               (1)
 *   constant (auto)   1                               cosine          (1 + cos(pi (t-1)/T))/2
 *   inverse[:H]       1/(1 + (t-1)/H), H = 1: 1/t     linear          1 - (t-1)/T
 *   inverse-sqrt[:H]  the root of that                decay           1, from T/2 on 0.1, from 3T/4 on 0.01
 *   drops:N1,N2,...   0.1 after N1 steps, 0.01 after N2, ...          drops-by:F,N1,N2,...   F instead of 0.1
 *           s <= 1 everywhere (F is at most 1).  Lengths act on released values: post-processing.
 *
 * Noise     o is a variance.  The release of step t = k J + j + 1, step j of the J that make up epoch k, has
 *             o_t = o(k) o(j),   noise sqrt(o_t / min o) times that of the step with the least,                (2)
 *           which is what calibration finds.  For o(k) (optimizer.noise) and o(j) (noise_within), over n positions:
 *   constant[:O]      O                               cosine:A,B      from A to B by half a wave
 *   linear:A,B        straight from A to B            exponential:A,B A (B/A)^(k/(n-1))
 *   ramp:A,B,M        from A to B in M, then B        table:O0,O1,... the last stays
 *           step:RULE is o(t) over all T steps instead of o(k) over epochs.  o must be positive: no noise is no
 *           privacy.
 *
 * Levels    An event tree has a leaf for every run of steps with equal noise, and there may be 10^9 steps.  All
 *           rules but table are monotone.  Where one has more than N positions that may differ, with o from a to b,
 *           they are rounded up to
 *             a (b/a)^(i/(N-1)),  i = 0 .. N-1                                                                 (3)
 *           and where each level begins is found by bisection: N log n evaluations.  Noise is never below the rule
 *           and at most (b/a)^(1/(2(N-1))) times it: 1.007 at N = 1000 and the largest b/a, 10^6.  With both o(k)
 *           and o(j), N is split so that their product stays within 1000 leaves.  The leaf of a step names the level
 *           that the release uses, rounded or not: what is charged is what is drawn.
 *
 * Privacy   The noise of every release is known before the first, so the run is an adaptive composition of leaves
 *           with their own multipliers; no filter is needed.  Calibration scales them all by one number.
 *   full, poisson, fixed   each release is drawn from all rows anew: leaves count as often as they are released.
 *   cyclic                 (event.c (2)) n releases in a row cost one row ceil(n/J) of them, if they are equal: a run
 *           of whole epochs.  Within an epoch a row is always at the same j, and one where o(j) is least has that
 *           noise in every epoch: the cost would be that of the least noise in all steps, so noise by step and within
 *           an epoch are refused there. */
#include "opt/schedule.h"
#include "acct/acct.h"

enum {
    MOST_LEAVES = 1000,
    MOST_NUMBERS = 1000,
    SHARED = 31
}; /* SHARED: what o(k) and o(j) have at least, if asked */
static const double most_ratio = 1e6;

/* ---- rules ---------------------------------------------------------------------------------------------------- */

enum { CONSTANT, INVERSE, INVERSE_SQRT, LINEAR, COSINE, DECAY, DROPS, DROPS_BY, RAMP, EXPONENTIAL, TABLE };
typedef struct form {
    const char *name;
    int kind, least, most;      /* so many numbers */
    const char *written, *rule; /* how, and what its numbers must be */
} form;
static const char above_0[] = "H above 0", from_to[] = "two variances above 0";
static const form step_forms[] = {
    { "constant", CONSTANT, 0, 0, "constant", "no number" },
    { "auto", CONSTANT, 0, 0, "auto", "no number" },
    { "inverse", INVERSE, 0, 1, "inverse[:H]", above_0 },
    { "inverse-sqrt", INVERSE_SQRT, 0, 1, "inverse-sqrt[:H]", above_0 },
    { "linear", LINEAR, 0, 0, "linear", "no number" },
    { "cosine", COSINE, 0, 0, "cosine", "no number" },
    { "decay", DECAY, 0, 0, "decay", "no number" },
    { "drops", DROPS, 1, MOST_NUMBERS, "drops:N1,N2,...", "whole numbers of steps, each above the one before" },
    { "drops-by", DROPS_BY, 2, MOST_NUMBERS, "drops-by:F,N1,N2,...",
      "F above 0 and at most 1, then whole numbers of steps, each above the one before" },
    { NULL, 0, 0, 0, NULL, NULL },
};
static const form noise_forms[] = {
    { "constant", CONSTANT, 0, 1, "constant[:O]", "a variance above 0" },
    { "linear", LINEAR, 2, 2, "linear:FROM,TO", from_to },
    { "cosine", COSINE, 2, 2, "cosine:FROM,TO", from_to },
    { "exponential", EXPONENTIAL, 2, 2, "exponential:FROM,TO", from_to },
    { "ramp", RAMP, 3, 3, "ramp:FROM,TO,M", "two variances above 0 and a whole number M from 1 to 1e9" },
    { "table", TABLE, 1, MOST_NUMBERS, "table:O0,O1,...", "variances above 0, at most 1000 of them" },
    { NULL, 0, 0, 0, NULL, NULL },
};

static const form *form_of(const form *forms, const char *text)
{
    const size_t len = strcspn(text, ":");
    while (forms->name && (strlen(forms->name) != len || memcmp(forms->name, text, len) != 0)) forms++;
    return forms;
}

/* Which rule is broken, or which there are. */
static pv_status refuse(pv_ctx *ctx, const char *key, const form *forms, const char *text, const char *shown)
{
    const form *f = form_of(forms, text);
    char list[256] = "";
    if (f->name)
        return pvi_fail(ctx, PV_E_PARAM, "%s=%.60s: it is written %s, with %s", key, shown, f->written, f->rule);
    for (f = forms; f->name; f++) {
        const size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", f->written);
    }
    return pvi_fail(ctx, PV_E_PARAM, "%s=%.60s: not a schedule; there is %s", key, shown, list);
}

/* NAME, or NAME:X1,X2,...; false: not a rule.  NOMEM leaves r->kind at -1. */
static bool read_rule(const form *forms, const char *text, pv_arena *a, pvi_rule *r)
{
    const size_t len = strcspn(text, ":");
    const char *at = text[len] ? text + len + 1 : NULL;
    int64_t most = at ? 1 : 0, i = 0;
    for (const char *c = at; c && *c; c++) most += *c == ',';
    forms = form_of(forms, text);
    if (!forms->name || most < forms->least || most > forms->most) return false;
    double *x = pv_arena_f64(a, most + 1);
    *r = (pvi_rule) { x ? forms->kind : -1, most, x };
    for (; x && i < most; i++) {
        const size_t n = strcspn(at, ",");
        if (!pvi_parse_f64(at, n, &x[i]) || !isfinite(x[i])) return false;
        at += n + 1;
    }
    return true;
}

static bool whole(double x, double least)
{
    return x >= least && x <= 1e15 && x == floor(x);
}

static bool step_rule_fits(const pvi_rule *r)
{
    const int64_t first = r->kind == DROPS_BY;
    if (r->kind == INVERSE || r->kind == INVERSE_SQRT) return r->n == 0 || r->x[0] > 0.0;
    if (r->kind != DROPS && r->kind != DROPS_BY) return true;
    if (first && !(r->x[0] > 0.0 && r->x[0] <= 1.0)) return false;
    for (int64_t i = first; i < r->n; i++)
        if (!whole(r->x[i], 1.0) || (i > first && !(r->x[i] > r->x[i - 1]))) return false;
    return true;
}

static bool noise_rule_fits(const pvi_rule *r)
{
    return r->kind != RAMP || (whole(r->x[2], 1.0) && r->x[2] <= 1e9);
}

/* ---- steps: (1) ------------------------------------------------------------------------------------------------ */

static double dropped(const pvi_rule *r, int64_t t)
{
    const int64_t first = r->kind == DROPS_BY;
    double f = 1.0;
    for (int64_t i = first; i < r->n && (double)t > r->x[i]; i++) f *= first ? r->x[0] : 0.1;
    return f;
}

static double shape(const pvi_rule *r, int64_t t, int64_t T)
{
    const double x = (double)(t - 1) / (double)T, h = r->n ? r->x[0] : 1.0;
    switch (r->kind) {
    case INVERSE: return r->n ? 1.0 / (1.0 + (double)(t - 1) / h) : 1.0 / (double)t;
    case INVERSE_SQRT: return 1.0 / sqrt(1.0 + (double)(t - 1) / h);
    case LINEAR: return 1.0 - x;
    case COSINE: return 0.5 * (1.0 + cos(3.141592653589793 * x));
    case DECAY: return x < 0.5 ? 1.0 : x < 0.75 ? 0.1 : 0.01;
    case DROPS:
    case DROPS_BY: return dropped(r, t);
    default: return 1.0;
    }
}

double pvi_schedule_eta(const pvi_schedule *s, double eta, int64_t t)
{
    const double full = fmax(s->warmup * (double)s->T, 1.0);
    const double f = shape(&s->steps, t, s->T) * (s->drop > 0 && t > s->drop ? 0.1 : 1.0);
    return eta * f * fmin(1.0, (double)t / full);
}

static bool is_constant(const char *text)
{
    return !text || strcmp(text, "constant") == 0 || strcmp(text, "auto") == 0;
}

bool pvi_schedule_equal_steps(const pvi_schedule_cfg *c)
{
    return is_constant(c->steps) && c->warmup == 0.0 && c->drop == 0;
}

bool pvi_schedule_equal_noise(const pvi_schedule_cfg *c)
{
    return (is_constant(c->noise) || strncmp(c->noise, "constant:", 9) == 0) &&
           (is_constant(c->within) || strncmp(c->within, "constant:", 9) == 0);
}

/* ---- noise: values and levels ---------------------------------------------------------------------------------- */

typedef struct reading { /* of one rule, for its errors */
    pv_ctx *ctx;
    pv_arena *a;
    const char *key, *text, *position;
    const char *shown; /* the text with its step: */
} reading;

static double between(double a, double b, int64_t k, int64_t last)
{
    return k >= last ? b : a + (b - a) * (double)k / (double)last;
}

/* o at position k of n. */
static double variance(const pvi_rule *r, int64_t k, int64_t n)
{
    const double *x = r->x, part = n > 1 ? (double)k / (double)(n - 1) : 1.0;
    switch (r->kind) {
    case LINEAR: return between(x[0], x[1], n == 1 ? 1 : k, n - 1);
    case RAMP: return between(x[0], x[1], x[2] == 1.0 ? 1 : k, (int64_t)x[2] - 1);
    case COSINE: return k == n - 1 ? x[1] : x[1] + (x[0] - x[1]) * 0.5 * (1.0 + cos(3.141592653589793 * part));
    case EXPONENTIAL: return k == n - 1 ? x[1] : x[0] * pow(x[1] / x[0], part);
    case TABLE: return x[k < r->n ? k : r->n - 1];
    default: return r->n ? x[0] : 1.0;
    }
}

/* Positions from the first on that may differ. */
static int64_t changing(const pvi_rule *r, int64_t n)
{
    const int64_t own = r->kind == CONSTANT ? 1 : r->kind == RAMP ? (int64_t)r->x[2] : r->kind == TABLE ? r->n : n;
    return own < n ? own : n;
}

static pv_status check_positive(const reading *q, const pvi_rule *r, int64_t n)
{
    const int64_t c = changing(r, n), by = c > MOST_LEAVES ? c - 1 : 1; /* monotone: the ends will do */
    for (int64_t k = 0; k < c; k += by) {
        const double o = variance(r, k, n);
        if (o > 0.0) continue;
        return pvi_fail(q->ctx, PV_E_PARAM,
                        "%s=%s: the variance is %g in %s %lld of %lld, and must be above 0 in every one", q->key,
                        q->shown, o, q->position, (long long)k + 1, (long long)n);
    }
    return PV_OK;
}

static void push(pvi_level *l, int64_t *n, int64_t until, double o)
{
    const int64_t from = *n > 0 ? l[*n - 1].until : 0;
    if (until <= from) return;
    if (*n > 0 && l[*n - 1].variance == o) l[*n - 1].until = until;
    else l[(*n)++] = (pvi_level) { until, o };
}

/* The first of the positions at .. end-1 that is past the limit; end: none. */
static int64_t first_past(const pvi_rule *r, int64_t n, int64_t at, int64_t end, double limit, bool rising)
{
    while (at < end) {
        const int64_t mid = at + (end - at) / 2;
        const double o = variance(r, mid, n);
        if (rising ? o > limit : o <= limit) end = mid;
        else at = mid + 1;
    }
    return end;
}

/* (3): `most` levels for the first c of n positions. */
static void round_up(const pvi_rule *r, int64_t n, int64_t c, int64_t most, pvi_level *l, int64_t *count)
{
    const double a = variance(r, 0, n), b = variance(r, c - 1, n), lo = fmin(a, b), hi = fmax(a, b);
    const bool rising = b > a;
    int64_t at = 0;
    for (int64_t k = 0; k < most; k++) {
        const int64_t i = rising ? k : most - 1 - k;
        const double last = (double)(most - 1), level = i == most - 1 ? hi : lo * pow(hi / lo, (double)i / last);
        const double below = i > 1 ? lo * pow(hi / lo, (double)(i - 1) / last) : lo;
        at = k == most - 1 ? c : first_past(r, n, at, c, rising ? level : below, rising);
        push(l, count, at, level);
    }
}

static pv_status make_levels(const reading *q, const pvi_rule *r, int64_t n, int64_t most, pvi_levels *out)
{
    const int64_t c = changing(r, n);
    const pv_status s = check_positive(q, r, n);
    int64_t count = 0;
    if (s != PV_OK) return s;
    if (c > most && r->kind == TABLE)
        return pvi_fail(q->ctx, PV_E_PARAM, "%s=%.20s...: a table may have %lld numbers here, and this one has %lld",
                        q->key, q->shown, (long long)most, (long long)c);
    pvi_level *l = pv_arena_get(q->a, sizeof *l * (size_t)(c < most ? c : most));
    if (!l) return pvi_nomem(q->ctx);
    if (c > most) round_up(r, n, c, most, l, &count);
    for (int64_t k = 0; c <= most && k < c; k++) push(l, &count, k + 1, variance(r, k, n));
    l[count - 1].until = n;
    *out = (pvi_levels) { count, l };
    return PV_OK;
}

static pv_status read_noise(const reading *q, pvi_rule *r)
{
    if (read_rule(noise_forms, q->text, q->a, r) && (r->kind < 0 || noise_rule_fits(r)))
        return r->kind < 0 ? pvi_nomem(q->ctx) : PV_OK;
    return refuse(q->ctx, q->key, noise_forms, q->text, q->shown);
}

pv_status pvi_noise_variances(pv_ctx *ctx, const char *text, int64_t K, pv_arena *a, double *o)
{
    const reading q = { ctx, a, "noise", text, "epoch", text };
    pvi_rule r;
    pvi_levels l = { 0, NULL };
    pv_status s = read_noise(&q, &r);
    if (s == PV_OK) s = make_levels(&q, &r, K, MOST_LEAVES, &l);
    for (int64_t i = 0, k = 0; s == PV_OK && i < l.n; i++)
        for (; k < l.level[i].until; k++) o[k] = l.level[i].variance;
    return s;
}

/* ---- noise of a run: (2) --------------------------------------------------------------------------------------- */

int64_t pvi_epoch_steps(const pv_problem *p)
{
    return (int64_t)fmax(1.0, rint((double)p->n / p->batch));
}

/* How many levels each of two rules may have. */
static void share_leaves(int64_t *over, int64_t *within)
{
    int64_t *const less = *over < *within ? over : within, *const more = less == over ? within : over;
    if (*over <= MOST_LEAVES / *within) return;
    if (*less > SHARED) *less = SHARED;
    *more = MOST_LEAVES / *less;
}

/* Steps with one level of o(k): `whole` times `length` of them, then `rest`. */
typedef struct span {
    int64_t whole, length, rest;
    double variance;
} span;

static span span_of(const pvi_schedule *s, int64_t i)
{
    const int64_t from = i > 0 ? s->over.level[i - 1].until : 0, to = s->over.level[i].until, T = s->T, J = s->unit;
    const double o = s->over.level[i].variance;
    if (s->within.n == 1) return (span) { 1, (to * J < T ? to * J : T) - from * J, 0, o };
    const int64_t end = to < T / J ? to : T / J; /* of whole epochs */
    return (span) { end > from ? end - from : 0, J, to * J > T ? T % J : 0, o };
}

static int64_t begins(const pvi_schedule *s, int64_t j)
{
    return j > 0 ? s->within.level[j - 1].until : 0;
}

static pv_status find_least(pvi_schedule *s, const reading *q)
{
    double least = INFINITY, most = 0.0;
    for (int64_t i = 0; i < s->over.n; i++) {
        const span p = span_of(s, i);
        const int64_t steps = p.whole > 0 ? p.length : p.rest;
        for (int64_t j = 0; j < s->within.n && begins(s, j) < steps; j++) {
            const double o = p.variance * s->within.level[j].variance;
            least = fmin(least, o);
            most = fmax(most, o);
        }
    }
    s->least = least;
    if (least > 0.0 && most <= most_ratio * least) return PV_OK;
    return pvi_fail(q->ctx, PV_E_PARAM,
                    "%s=%.60s: the largest variance is %.4g times the least, and may be %.0f times it at most",
                    q->key, q->shown, most / least, most_ratio);
}

static pv_status check_sampler(const reading *q, const pv_problem *p, bool by_step, bool within, int64_t J)
{
    if (within && by_step)
        return pvi_fail(
            q->ctx, PV_E_PARAM,
            "optimizer.noise=%.60s is by step, so optimizer.noise_within has nothing to add: leave one out",
            q->shown);
    if (within && J == 1)
        return pvi_fail(
            q->ctx, PV_E_PARAM,
            "optimizer.noise_within: an epoch of this plan is one step; optimizer.noise changes from step "
            "to step here");
    if ((within || by_step) && J > 1 && p->sampling == PV_EV_CYCLIC)
        return pvi_fail(
            q->ctx, PV_E_UNSUPPORTED,
            "optimizer.noise%s: with sampler=cyclic a row is always at the same place of an epoch, so the "
            "least noise of one would be the cost of all: noise by epoch or sampler=poisson would do",
            within ? "_within" : "=step:...");
    return PV_OK;
}

static pv_status open_noise(pvi_schedule *s, const pvi_schedule_cfg *c, const pv_problem *p, pv_arena *a)
{
    const bool by_step = c->noise && strncmp(c->noise, "step:", 5) == 0;
    const char *text = c->noise ? c->noise + (by_step ? 5 : 0) : "constant";
    const char *in_text = c->within ? c->within : "constant";
    const reading over = {
        p->ctx, a, "optimizer.noise", text, by_step ? "step" : "epoch", c->noise ? c->noise : text
    };
    const reading in = { p->ctx, a, "optimizer.noise_within", in_text, "step", in_text };
    const int64_t J = pvi_epoch_steps(p);
    pvi_rule r, w;
    s->unit = by_step ? 1 : J;
    const int64_t n = (s->T - 1) / s->unit + 1;
    pv_status st = read_noise(&over, &r);
    if (st == PV_OK) st = read_noise(&in, &w);
    if (st == PV_OK) st = check_sampler(&over, p, by_step, w.kind != CONSTANT, J);
    if (st != PV_OK) return st;
    int64_t most_over = changing(&r, n), most_within = changing(&w, J);
    share_leaves(&most_over, &most_within);
    st = make_levels(&over, &r, n, most_over, &s->over);
    if (st == PV_OK) st = make_levels(&in, &w, J, most_within, &s->within);
    return st == PV_OK ? find_least(s, &over) : st;
}

static pv_status open_steps(pvi_schedule *s, const pvi_schedule_cfg *c, const pv_problem *p, pv_arena *a)
{
    const char *text = c->steps ? c->steps : "constant";
    s->warmup = isnan(c->warmup) ? 0.0 : c->warmup;
    s->drop = c->drop;
    if (read_rule(step_forms, text, a, &s->steps) && (s->steps.kind < 0 || step_rule_fits(&s->steps)))
        return s->steps.kind < 0 ? pvi_nomem(p->ctx) : PV_OK;
    return refuse(p->ctx, "optimizer.schedule", step_forms, text, text);
}

pv_status pvi_schedule_open(pvi_schedule *s, const pvi_schedule_cfg *c, const pv_problem *p, int64_t T, pv_arena *a)
{
    s->T = T;
    const pv_status st = open_steps(s, c, p, a);
    return st == PV_OK ? open_noise(s, c, p, a) : st;
}

pv_status pvi_schedule_check(const pvi_schedule_cfg *c, const pv_problem *p, int64_t T)
{
    pvi_schedule s;
    pv_arena *a = pvi_arena_create(p->ctx);
    const pv_status st = a ? pvi_schedule_open(&s, c, p, T, a) : pvi_nomem(p->ctx);
    pvi_arena_free(a);
    return st;
}

/* The variance at a position; a single level is that of all. */
static double level_at(const pvi_levels *l, int64_t k)
{
    int64_t at = 0, end = l->n - 1;
    while (at < end) {
        const int64_t mid = at + (end - at) / 2;
        if (k < l->level[mid].until) end = mid;
        else at = mid + 1;
    }
    return l->level[at].variance;
}

static double factor(const pvi_schedule *s, double o)
{
    const double f = sqrt(o / s->least);
    return f > 1.0 ? f : 1.0;
}

double pvi_schedule_factor(const pvi_schedule *s, int64_t t)
{
    return factor(s, level_at(&s->over, (t - 1) / s->unit) * level_at(&s->within, (t - 1) % s->unit));
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

/* Of `steps` steps from the beginning of an epoch on; NULL: no memory. */
static const pv_event *in_epoch(const pvi_schedule *s, double o, int64_t steps, const pv_event *one, pv_arena *a)
{
    const pv_event **part = pv_arena_get(a, sizeof *part * (size_t)s->within.n);
    int64_t parts = 0;
    for (int64_t j = 0; part && j < s->within.n && begins(s, j) < steps; j++) {
        const pvi_level *l = &s->within.level[j];
        const double f = factor(s, o * l->variance);
        const int64_t end = s->within.n > 1 && l->until < steps ? l->until : steps;
        const pv_event *e = f == 1.0 ? one : pvi_event_scale(a, one, f);
        part[parts] = e ? pv_ev_repeat(a, end - begins(s, j), e) : NULL;
        if (!part[parts++]) return NULL;
    }
    return !part ? NULL : parts == 1 ? part[0] : pv_ev_seq(a, parts, part);
}

pv_status pvi_schedule_events(const pvi_schedule *s, const pv_event *one, pv_arena *a, const pv_event **total)
{
    const pv_event **part = pv_arena_get(a, sizeof *part * (size_t)(s->over.n + 1));
    int64_t parts = 0;
    for (int64_t i = 0; part && i < s->over.n; i++) {
        const span p = span_of(s, i);
        const pv_event *e = p.whole > 0 ? in_epoch(s, p.variance, p.length, one, a) : NULL;
        if (e && p.whole > 1) e = pv_ev_repeat(a, p.whole, e);
        if (p.whole > 0 && !(part[parts++] = e)) return PV_E_NOMEM;
        if (p.rest > 0 && !(part[parts++] = in_epoch(s, p.variance, p.rest, one, a))) return PV_E_NOMEM;
    }
    *total = !part ? NULL : parts == 1 ? part[0] : pv_ev_seq(a, parts, part);
    return *total ? PV_OK : PV_E_NOMEM;
}
