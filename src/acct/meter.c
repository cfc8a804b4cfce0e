/* meter.c - traverses a planned event tree release by release, so that a run can spend what was
 * planned, in that order, and nothing else (invariant P2).
 *
 * The position is a stack of frames, one per repetition or sequence on the way down; a repetition
 * of 10^9 is a counter, not 10^9 nodes.  A sampled event, or one on a part of the rows, is one release.  NONE is no
 * release; a repetition without any release is skipped whole, whatever its count. */
#include "acct.h"

typedef struct frame {
    const pv_event *node; /* REPEAT or SEQ                                  */
    const pv_event *part; /* SEQ: the part in progress                      */
    int64_t left;         /* REPEAT: repetitions not finished               */
} frame;

struct pvi_meter {
    frame stack[PVI_EVENT_DEPTH + 1];
    int depth;
    const pv_event *now; /* the release that must come next; NULL: none left */
    double spent, planned;
    bool broken; /* a tree that cannot be traversed: every spend is refused      */
};

static bool composite(const pv_event *e)
{
    return e->kind == PV_EV_REPEAT || e->kind == PV_EV_SEQ;
}

/* A double saturates gracefully. */
double pvi_event_releases(const pv_event *e)
{
    double n = 0;
    if (e->kind == PV_EV_NONE) return 0;
    if (e->kind == PV_EV_REPEAT) return e->n ? (double)e->n * pvi_event_releases(e->sub) : 0;
    if (e->kind != PV_EV_SEQ) return 1;
    for (const pv_event *p = e->sub; p; p = p->next) n += pvi_event_releases(p);
    return n;
}

int pvi_event_release(const pv_event *e)
{
    while (e->sub) e = e->sub;
    return e->release;
}

double pvi_event_releases_of(const pv_event *e, int release)
{
    double n = 0;
    if (e->kind == PV_EV_NONE) return 0;
    if (e->kind == PV_EV_REPEAT) return e->n ? (double)e->n * pvi_event_releases_of(e->sub, release) : 0;
    if (e->kind != PV_EV_SEQ) return pvi_event_release(e) == release;
    for (const pv_event *p = e->sub; p; p = p->next) n += pvi_event_releases_of(p, release);
    return n;
}

static bool any_release(const pv_event *e)
{
    if (e->kind == PV_EV_REPEAT) return e->n > 0 && any_release(e->sub);
    if (e->kind != PV_EV_SEQ) return e->kind != PV_EV_NONE;
    for (const pv_event *p = e->sub; p; p = p->next)
        if (any_release(p)) return true;
    return false;
}

/* Descends from e to its first release.  e is known to have one. */
static void descend(pvi_meter *m, const pv_event *e)
{
    while (composite(e)) {
        frame *f = &m->stack[m->depth++];
        *f = (frame) { .node = e, .part = e->sub, .left = e->n };
        if (e->kind == PV_EV_SEQ)
            while (!any_release(f->part)) f->part = f->part->next;
        e = f->part;
    }
    m->now = e;
}

/* Climbs to the nearest frame with something left, then descends again. */
static void advance(pvi_meter *m)
{
    m->now = NULL;
    for (; m->depth > 0; m->depth--) {
        frame *f = &m->stack[m->depth - 1];
        if (f->node->kind == PV_EV_REPEAT && --f->left > 0) {
            descend(m, f->node->sub);
            return;
        }
        if (f->node->kind != PV_EV_SEQ) continue;
        do f->part = f->part->next;
        while (f->part && !any_release(f->part));
        if (f->part) {
            descend(m, f->part);
            return;
        }
    }
}

pvi_meter *pvi_meter_create(pv_arena *a, const pv_event *total)
{
    pvi_meter *m = pv_arena_get(a, sizeof *m);
    if (!m) return NULL;
    m->broken = pvi_event_check(NULL, total) != PV_OK;
    if (m->broken) return m;
    m->planned = pvi_event_releases(total);
    if (any_release(total)) descend(m, total);
    return m;
}

pv_status pvi_meter_spend(pvi_meter *m, int release, const pv_event *event)
{
    if (!m->now || pvi_event_release(m->now) != release || !pvi_event_equal(m->now, event)) return PV_E_PLAN;
    m->spent += 1;
    advance(m);
    return PV_OK;
}

bool pvi_meter_done(const pvi_meter *m)
{
    return !m->broken && !m->now;
}

double pvi_meter_fraction(const pvi_meter *m)
{
    return m->planned > 0 ? m->spent / m->planned : 1.0;
}
