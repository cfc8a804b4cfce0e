/* event.c - privacy events: construction, checking, comparison, scaling, the list of terms.
 *
 * A tree is a leaf (one release), a sampler over a sub-tree, a repetition of a sub-tree or a
 * sequence of sub-trees.  Traversals recurse, so each one carries the depth and stops at
 * PVI_EVENT_DEPTH: a hostile tree ends in an error, never in a stack overflow.  Repetitions are
 * multiplied, never unrolled; the product stays below 2^53 so that a double holds it exactly.
 *
 *   (1) several Gaussians z_1, ..., z_k released adaptively from one sample are one Gaussian:
 *       1/z^2 = sum_i n_i / z_i^2 (Dong, Roth, Su 2022, Cor. 3.3), hence a sampler over them is a
 *       Poisson sampler over that one (Zhu, Dong, Wang 2022, Thm 11: amplification acts on the pair).  Not so a
 *       fixed-size sample: its divergence is that of a triple of distributions, and a later release may move two of
 *       the three closer together after seeing an earlier one, so several releases are refused there.
 *   (2) cyclic: releases take the n parts of the rows in turn.  A row lies in one part, which is seen at most
 *       ceil(k/n) times in k releases one directly after the other, a repetition right above the parts, wherever
 *       they begin; the others are functions of rows that neighbours share and of earlier outputs, so k such
 *       releases cost what ceil(k/n) cost without the parts (parallel composition).
 *   (3) What is further above may begin anew at the same part (another run) or lie between other releases: there
 *       every repetition counts in full. */
#include "acct.h"

enum { MAX_NODES = 10000000 };
#define MAX_COUNT ((int64_t)1 << 53)

const pv_event *pv_ev_leaf(pv_arena *a, pv_ev_kind kind, double x, double y)
{
    pv_event *e = pv_arena_get(a, sizeof *e);
    if (e) *e = (pv_event) { .kind = kind, .a = x, .b = y };
    return e;
}

const pv_event *pv_ev_sampled(pv_arena *a, pv_ev_kind kind, double rate, const pv_event *sub)
{
    pv_event *e = sub ? pv_arena_get(a, sizeof *e) : NULL;
    if (e) *e = (pv_event) { .kind = kind, .a = rate, .sub = sub };
    return e;
}

static const pv_event *counted(pv_arena *a, pv_ev_kind kind, int64_t n, const pv_event *sub)
{
    pv_event *e = sub ? pv_arena_get(a, sizeof *e) : NULL;
    if (e) *e = (pv_event) { .kind = kind, .n = n, .sub = sub };
    return e;
}

const pv_event *pv_ev_cyclic(pv_arena *a, int64_t parts, const pv_event *sub)
{
    return counted(a, PV_EV_CYCLIC, parts, sub);
}

const pv_event *pv_ev_repeat(pv_arena *a, int64_t n, const pv_event *sub)
{
    return counted(a, PV_EV_REPEAT, n, sub);
}

/* Parts are copied: an event may occur several times, but has only one `next`. */
const pv_event *pv_ev_seq(pv_arena *a, int64_t k, const pv_event *const *parts)
{
    pv_event *e = pv_arena_get(a, sizeof *e);
    if (!e) return NULL;
    *e = (pv_event) { .kind = PV_EV_SEQ };
    const pv_event **tail = &e->sub;
    for (int64_t i = 0; i < k; i++) {
        pv_event *c = parts[i] ? pv_arena_get(a, sizeof *c) : NULL;
        if (!c) return NULL;
        *c = *parts[i];
        c->next = NULL;
        *tail = c;
        tail = &c->next;
    }
    return e;
}

/* ---- checking --------------------------------------------------------------------------------- */

typedef struct checker {
    pv_ctx *ctx; /* NULL: only the status is wanted */
    int64_t nodes;
} checker;

static pv_status refuse(const checker *c, pv_status s, const char *what, double got)
{
    return c->ctx ? pvi_fail(c->ctx, s, what, got) : s;
}

pv_status pvi_within(pv_ctx *ctx, pvi_range_id id, double x)
{
    char text[PVI_RANGE_TEXT];
    if (pvi_in_range(id, x)) return PV_OK;
    pvi_range_text(id, x, text);
    return ctx ? pvi_fail(ctx, PV_E_ARG, "%s", text) : PV_E_ARG;
}

static pv_status check_leaf(const checker *c, const pv_event *e)
{
    if (e->sub) return refuse(c, PV_E_ARG, "event: a single release cannot contain events", 0);
    switch (e->kind) {
    case PV_EV_GAUSSIAN: return pvi_within(c->ctx, PVI_RANGE_NOISE, e->a);
    case PV_EV_LAPLACE: return pvi_within(c->ctx, PVI_RANGE_SCALE, e->a);
    case PV_EV_SELECT: return pvi_within(c->ctx, PVI_RANGE_SELECT, e->a);
    case PV_EV_BALL: return pvi_within(c->ctx, PVI_RANGE_DELTA0, e->a);
    case PV_EV_EPS_DELTA: {
        const pv_status s = pvi_within(c->ctx, PVI_RANGE_EPS0, e->a);
        return s == PV_OK ? pvi_within(c->ctx, PVI_RANGE_DELTA0, e->b) : s;
    }
    case PV_EV_NONE:
    case PV_EV_NONPRIVATE: return PV_OK;
    default: return refuse(c, PV_E_UNSUPPORTED, "event: unknown kind %g", (double)e->kind);
    }
}

static pv_status times(int64_t x, int64_t y, int64_t *out)
{
    return __builtin_mul_overflow(x, y, out) || *out > MAX_COUNT ? PV_E_ARG : PV_OK;
}

/* As a double, which would round 2^53 + 1 into range. */
static double whole(int64_t n)
{
    return n <= MAX_COUNT ? (double)n : INFINITY;
}

/* count: how often the surrounding repetitions run e. */
static pv_status check(checker *c, const pv_event *e, int depth, int64_t count)
{
    int64_t n;
    pv_status s;
    if (!e) return refuse(c, PV_E_ARG, "event: a part is missing", 0);
    if (depth > PVI_EVENT_DEPTH) return refuse(c, PV_E_ARG, "event: nested deeper than %g levels", PVI_EVENT_DEPTH);
    if (++c->nodes > MAX_NODES) return refuse(c, PV_E_ARG, "event: more than %.0f parts", MAX_NODES);
    switch (e->kind) {
    case PV_EV_POISSON:
    case PV_EV_FIXED:
        s = pvi_within(c->ctx, PVI_RANGE_RATE, e->a);
        return s == PV_OK ? check(c, e->sub, depth + 1, count) : s;
    case PV_EV_CYCLIC:
        s = pvi_within(c->ctx, PVI_RANGE_PARTS, whole(e->n));
        return s == PV_OK ? check(c, e->sub, depth + 1, count) : s;
    case PV_EV_REPEAT:
        if ((s = pvi_within(c->ctx, PVI_RANGE_TIMES, whole(e->n))) != PV_OK) return s;
        if (times(count, e->n, &n) != PV_OK) return refuse(c, PV_E_ARG, "event: more than 2^53 repetitions", 0);
        return check(c, e->sub, depth + 1, n);
    case PV_EV_SEQ:
        for (const pv_event *p = e->sub; p; p = p->next)
            if ((s = check(c, p, depth + 1, count)) != PV_OK) return s;
        return PV_OK;
    default: return check_leaf(c, e);
    }
}

pv_status pvi_event_check(pv_ctx *ctx, const pv_event *ev)
{
    checker c = { .ctx = ctx };
    return check(&c, ev, 1, 1);
}

/* ---- comparison and scaling --------------------------------------------------------------------- */

static bool equal(const pv_event *x, const pv_event *y, int depth)
{
    if (!x || !y || depth > PVI_EVENT_DEPTH) return false;
    if (x->kind != y->kind || x->a != y->a || x->b != y->b || x->n != y->n) return false;
    const pv_event *p = x->sub, *q = y->sub;
    for (; p && q; p = p->next, q = q->next) {
        if (!equal(p, q, depth + 1)) return false;
        if (x->kind != PV_EV_SEQ) return true; /* only a sequence has more than one part */
    }
    return !p && !q;
}

bool pvi_event_equal(const pv_event *x, const pv_event *y)
{
    return equal(x, y, 1);
}

pv_event pvi_event_leaf_scale(const pv_event *leaf, double s)
{
    pv_event e = *leaf;
    e.next = NULL;
    if (leaf->kind == PV_EV_GAUSSIAN || leaf->kind == PV_EV_LAPLACE) e.a = leaf->a * s;
    if (leaf->kind == PV_EV_SELECT) e.a = leaf->a / s;
    return e;
}

static const pv_event *scale(pv_arena *a, const pv_event *ev, double s, int depth)
{
    pv_event *e = depth > PVI_EVENT_DEPTH ? NULL : pv_arena_get(a, sizeof *e);
    if (!e) return NULL;
    *e = pvi_event_leaf_scale(ev, s);
    const pv_event **tail = &e->sub;
    for (const pv_event *p = ev->sub; p; p = p->next) {
        pv_event *c;
        if (!(c = (pv_event *)(uintptr_t)scale(a, p, s, depth + 1))) return NULL;
        *tail = c;
        tail = &c->next;
        if (ev->kind != PV_EV_SEQ) break;
    }
    return e;
}

const pv_event *pvi_event_scale(pv_arena *a, const pv_event *ev, double s)
{
    return scale(a, ev, s, 1);
}

double pvi_event_noise_max(const pv_event *ev)
{
    double most = ev->kind == PV_EV_GAUSSIAN ? ev->a : ev->kind == PV_EV_SELECT ? 1.0 / ev->a : 0.0;
    for (const pv_event *p = ev->sub; p; p = p->next) {
        most = fmax(most, pvi_event_noise_max(p));
        if (ev->kind != PV_EV_SEQ) break; /* only a sequence has more than one part */
    }
    return most;
}

double pvi_event_noise_of(const pv_event *ev, int release)
{
    double least = ev->kind == PV_EV_GAUSSIAN && ev->release == release ? ev->a : INFINITY;
    for (const pv_event *p = ev->sub; p; p = p->next) {
        least = fmin(least, pvi_event_noise_of(p, release));
        if (ev->kind != PV_EV_SEQ) break;
    }
    return least;
}

/* ---- terms ------------------------------------------------------------------------------------------ */

typedef struct traversal {
    pvi_term_fn fn;
    void *user;
    bool in_sample, in_parts;
} traversal;

/* What a sampler contains: its single leaf, or the Gaussians collected by (1). */
typedef struct inner {
    pvi_term leaf;
    int64_t terms;
    double inv2; /* sum of n / z^2, rounded up */
    bool mixed;
} inner;

static pv_status collect(void *user, const pvi_term *t)
{
    inner *in = user;
    in->mixed |= t->sampler != PV_EV_NONE || t->kind != PV_EV_GAUSSIAN;
    in->terms += t->count > 1 ? 2 : 1;
    in->leaf = *t;
    if (!in->mixed) in->inv2 = pv_up(in->inv2 + pv_up((double)t->count / (t->a * t->a), 2), 1);
    return PV_OK;
}

static pv_status sampled(traversal w, const pv_event *ev, int64_t count);

/* How often a repetition sees a row. */
static int64_t turns(const pv_event *repeat)
{
    return repeat->sub->kind == PV_EV_CYCLIC ? (repeat->n - 1) / repeat->sub->n + 1 : repeat->n; /* (2) */
}

/* Of a tree that was checked: its depth and the products of its repetitions are bounded. */
static pv_status each(traversal w, const pv_event *ev, int64_t count)
{
    switch (ev->kind) {
    case PV_EV_NONE: return PV_OK;
    case PV_EV_POISSON:
    case PV_EV_FIXED: return ev->a == 1.0 ? each(w, ev->sub, count) : sampled(w, ev, count);
    case PV_EV_CYCLIC: /* (2); the parts of a sample would depend on who else is in it */
        if (w.in_sample) return PV_E_UNSUPPORTED;
        w.in_parts = true;
        return each(w, ev->sub, count); /* (3) */
    case PV_EV_REPEAT: return ev->n == 0 ? PV_OK : each(w, ev->sub, count * turns(ev));
    case PV_EV_SEQ:
        for (const pv_event *p = ev->sub; p; p = p->next) {
            const pv_status s = each(w, p, count);
            if (s != PV_OK) return s;
        }
        return PV_OK;
    default: {
        const pvi_term t = {
            .kind = ev->kind, .a = ev->a, .b = ev->b, .rate = 1.0, .count = count, .parts = w.in_parts
        };
        return w.fn(w.user, &t);
    }
    }
}

static pv_status sampled(traversal w, const pv_event *ev, int64_t count)
{
    inner in = { 0 };
    const pv_status s = each((traversal) { .fn = collect, .user = &in, .in_sample = true }, ev->sub, 1);
    if (s != PV_OK) return s;
    if (in.terms == 0) return PV_OK;
    if (in.terms > 1 ? in.mixed || ev->kind == PV_EV_FIXED : in.leaf.sampler != PV_EV_NONE) return PV_E_UNSUPPORTED;
    pvi_term t = in.leaf;
    if (in.terms > 1) t.a = pvi_down(1.0 / sqrt(in.inv2), 2);
    t.sampler = ev->kind;
    t.rate = ev->a;
    t.parts = w.in_parts;
    t.count = count;
    return w.fn(w.user, &t);
}

pv_status pvi_event_each(const pv_event *ev, pvi_term_fn fn, void *user)
{
    const pv_status s = pvi_event_check(NULL, ev);
    return s == PV_OK ? each((traversal) { .fn = fn, .user = user }, ev, 1) : s;
}

/* The pairs that a theorem covers; any other sampler is refused until it has a row here. */
bool pvi_amplified(const pvi_term *t, pv_relation rel)
{
    switch (t->sampler) {
    case PV_EV_NONE: return true;
    case PV_EV_POISSON: return rel == PV_REL_ZERO_OUT;
    case PV_EV_FIXED: return rel == PV_REL_REPLACE;
    default: return false;
    }
}
