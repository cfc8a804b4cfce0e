/* event_json.c - the canonical text of an event tree, and back.
 *
 * One object per event, "kind" first, then exactly the members listed in `forms`.  A member or
 * kind that is not listed is refused, never skipped: what is not understood cannot be costed. */
#include "acct.h"

typedef struct form {
    pv_ev_kind kind;
    const char *name;
    const char *a, *b, *n; /* member names; NULL: absent */
    const char *sub;       /* "event" (one) or "events" (a list) */
} form;

static const form forms[] = {
    { PV_EV_NONE, "none", NULL, NULL, NULL, NULL },
    { PV_EV_GAUSSIAN, "gaussian", "noise_multiplier", NULL, NULL, NULL },
    { PV_EV_LAPLACE, "laplace", "scale", NULL, NULL, NULL },
    { PV_EV_SELECT, "select", "epsilon", NULL, NULL, NULL },
    { PV_EV_BALL, "ball", "delta", NULL, NULL, NULL },
    { PV_EV_EPS_DELTA, "eps-delta", "epsilon", "delta", NULL, NULL },
    { PV_EV_POISSON, "poisson", "rate", NULL, NULL, "event" },
    { PV_EV_FIXED, "fixed", "rate", NULL, NULL, "event" },
    { PV_EV_CYCLIC, "cyclic", NULL, NULL, "parts", "event" },
    { PV_EV_REPEAT, "repeat", NULL, NULL, "times", "event" },
    { PV_EV_SEQ, "sequence", NULL, NULL, NULL, "events" },
    { PV_EV_NONPRIVATE, "nonprivate", NULL, NULL, NULL, NULL },
};
enum { FORMS = sizeof forms / sizeof *forms };

static const form *form_of_kind(pv_ev_kind kind)
{
    for (int i = 0; i < FORMS; i++)
        if (forms[i].kind == kind) return &forms[i];
    return NULL;
}

static const form *form_of_name(const char *name)
{
    for (int i = 0; i < FORMS; i++)
        if (strcmp(forms[i].name, name) == 0) return &forms[i];
    return NULL;
}

const char *pvi_event_name(pv_ev_kind kind)
{
    const form *f = form_of_kind(kind);
    return f ? f->name : "unknown";
}

/* Beyond the depth limit, and for unknown kinds, a kind is written that no reader accepts. */
static void write(const pv_event *ev, pvi_jw *w, const char *key, int depth)
{
    const form *f = ev && depth <= PVI_EVENT_DEPTH ? form_of_kind(ev->kind) : NULL;
    pvi_jw_open(w, key, '{');
    pvi_jw_str(w, "kind", f ? f->name : "unknown");
    if (f && f->a) pvi_jw_f64(w, f->a, ev->a);
    if (f && f->b) pvi_jw_f64(w, f->b, ev->b);
    if (f && f->n) pvi_jw_i64(w, f->n, ev->n);
    if (f && f->sub && ev->kind != PV_EV_SEQ) write(ev->sub, w, f->sub, depth + 1);
    if (f && ev->kind == PV_EV_SEQ) {
        pvi_jw_open(w, f->sub, '[');
        for (const pv_event *p = ev->sub; p; p = p->next) write(p, w, NULL, depth + 1);
        pvi_jw_close(w, ']');
    }
    pvi_jw_close(w, '}');
}

void pvi_event_write(const pv_event *ev, pvi_jw *w, const char *key)
{
    write(ev, w, key, 1);
}

/* ---- parsing ------------------------------------------------------------------------------------ */

typedef struct reader {
    pv_ctx *ctx;
    pv_arena *arena;
    const char *name;
} reader;

static pv_status bad(const reader *r, const pvi_json *at, const char *what, const char *word)
{
    return pvi_fail(r->ctx, PV_E_FORMAT, "%s:%d:%d: %s%s", r->name, at->line, at->column, what, word);
}

static pv_status number(const reader *r, const pvi_json *v, const char *key, double *out)
{
    const pvi_json *m = key ? pvi_json_get(v, key) : NULL;
    if (!key) return PV_OK;
    if (!m) return bad(r, v, "the event needs the number ", key);
    if (m->type != PVI_JNUM) return bad(r, m, "a number is needed for ", key);
    *out = m->num;
    return PV_OK;
}

static pv_status whole(const reader *r, const pvi_json *v, const char *key, int64_t *out)
{
    const pvi_json *m = key ? pvi_json_get(v, key) : NULL;
    if (!key) return PV_OK;
    if (!m) return bad(r, v, "the event needs the whole number ", key);
    return pvi_json_i64(m, out) ? PV_OK : bad(r, m, "a whole number is needed for ", key);
}

static bool known_member(const form *f, const char *key)
{
    const char *const names[] = { "kind", f->a, f->b, f->n, f->sub };
    for (int i = 0; i < 5; i++)
        if (names[i] && strcmp(names[i], key) == 0) return true;
    return false;
}

static pv_status parse(const reader *r, const pvi_json *v, int depth, pv_event **out);

static pv_status parse_parts(const reader *r, const pvi_json *v, const form *f, int depth, pv_event *e)
{
    const pvi_json *m = pvi_json_get(v, f->sub);
    const bool list = f->kind == PV_EV_SEQ;
    const pv_event **tail = &e->sub;
    if (!m) return bad(r, v, "the event needs the member ", f->sub);
    if (list && m->type != PVI_JARR) return bad(r, m, "a list is needed for ", f->sub);
    for (const pvi_json *c = list ? m->child : m; c; c = list ? c->next : NULL) {
        pv_event *part;
        const pv_status s = parse(r, c, depth + 1, &part);
        if (s != PV_OK) return s;
        *tail = part;
        tail = &part->next;
    }
    return PV_OK;
}

/* Ranges are those of pvi_event_check, reported with the place in the text. */
static pv_status in_range(const reader *r, const pvi_json *v, const pv_event *e)
{
    pv_event alone = *e;
    static const pv_event nothing = { .kind = PV_EV_NONE };
    char why[256];
    if (alone.sub) alone.sub = &nothing;
    alone.next = NULL;
    const pv_status s = pvi_event_check(r->ctx, &alone);
    if (s == PV_OK) return PV_OK;
    snprintf(why, sizeof why, "%s", pv_ctx_errmsg(r->ctx));
    return bad(r, v, why, "");
}

static pv_status unknown_kind(const reader *r, const pvi_json *kind)
{
    const char *names[FORMS];
    for (int i = 0; i < FORMS; i++) names[i] = forms[i].name;
    const char *near = pvi_nearest(kind->text, names, FORMS);
    char word[192];
    snprintf(word, sizeof word, "%.100s%s%s%s", kind->text, near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "");
    return bad(r, kind, "unknown kind of event: ", word);
}

static pv_status parse(const reader *r, const pvi_json *v, int depth, pv_event **out)
{
    pv_status s;
    if (depth > PVI_EVENT_DEPTH) return bad(r, v, "events are nested too deeply", "");
    if (v->type != PVI_JOBJ) return bad(r, v, "an event is an object such as {\"kind\":\"gaussian\",...}", "");
    const pvi_json *kind = pvi_json_get(v, "kind");
    if (!kind || kind->type != PVI_JSTR) return bad(r, v, "the event needs a kind in quotes", "");
    const form *f = form_of_name(kind->text);
    if (!f) return unknown_kind(r, kind);
    for (const pvi_json *c = v->child; c; c = c->next)
        if (!known_member(f, c->key)) return bad(r, c, "unknown member of the event: ", c->key);
    pv_event *e = pv_arena_get(r->arena, sizeof *e);
    if (!e) return pvi_nomem(r->ctx);
    e->kind = f->kind;
    if ((s = number(r, v, f->a, &e->a)) != PV_OK || (s = number(r, v, f->b, &e->b)) != PV_OK ||
        (s = whole(r, v, f->n, &e->n)) != PV_OK || (f->sub && (s = parse_parts(r, v, f, depth, e)) != PV_OK) ||
        (s = in_range(r, v, e)) != PV_OK)
        return s;
    *out = e;
    return PV_OK;
}

pv_status pvi_event_parse(pv_ctx *ctx, pv_arena *a, const char *name, const pvi_json *v, const pv_event **out)
{
    const reader r = { ctx, a, name };
    pv_event *e;
    *out = NULL;
    const pv_status s = parse(&r, v, 1, &e);
    if (s == PV_OK) *out = e;
    return s;
}
