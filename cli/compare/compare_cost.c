/* compare_cost.c - what all runs recorded in a folder cost together.
 *
 * Every run there counts, also those of an earlier question, those set aside by --fresh, and attempts that ended
 * early: whoever looks at the folder, or chooses by it, has seen what they all released.  Equal trees of events are
 * counted, not repeated.
 *   (1) every run has a share of its delta for the accuracy of its draws; these shares add up to s
 *   (2) with D the largest delta of a run, the accountant is asked at D - s, and the sum is at delta D; if s is more
 *       than D/2, it is asked at D, and the sum is at D + s */
#include "compare.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

typedef struct group {
    char *events, *key; /* owned: as text; the key of the first record without its repeat */
    long count;
} group;

typedef struct ledger {
    group *at;
    int n;
    double delta, draws;
    together *t;
} ledger;

static char *value_text(jv object, const char *key)
{
    const jv v = jv_get(object, key);
    jv_iter it = jv_begin(object);
    while (jv_next(&it) && it.value.p != v.p) {
    }
    char *text = v.p ? strndup(v.p, (size_t)(it.at - v.p)) : strdup("");
    if (!text) abort();
    return text;
}

/* The settings of a run: its key up to the repeat or seed, which stand last. */
static char *settings_text(jv record)
{
    char *key = value_text(record, "key"), *last = strrchr(key, '|');
    if (last) *last = '\0';
    return key;
}

static long attempts_of(jv record)
{
    const double n = jv_num(jv_get(record, "attempts"));
    return n >= 1 && n < 1e6 ? (long)n : 1;
}

static void add_record(ledger *l, jv record)
{
    const long n = attempts_of(record);
    l->t->runs++;
    l->t->unfinished += (int)n - 1;
    if (!jv_true(jv_get(record, "private"))) l->t->not_private++;
    char kind[32], *events = value_text(record, "events");
    if (strcmp(jv_str(jv_get(jv_get(record, "events"), "kind"), kind, sizeof kind), "nonprivate") == 0) {
        free(events);
        return;
    }
    l->delta = fmax(l->delta, jv_num(jv_get(record, "delta")));
    l->draws += (double)n * jv_num(jv_get(record, "delta_draws")); /* (1) */
    for (int i = 0; i < l->n; i++)
        if (strcmp(l->at[i].events, events) == 0) {
            l->at[i].count += n;
            free(events);
            return;
        }
    l->at = realloc(l->at, sizeof *l->at * (size_t)(l->n + 1));
    if (!l->at) abort();
    l->at[l->n++] = (group) { events, settings_text(record), n };
}

/* Attempts without a result: they cost what a finished run with the same settings costs. */
static void add_started(ledger *l, jv mark)
{
    const long n = attempts_of(mark);
    char *settings = settings_text(mark);
    int i = 0;
    l->t->unfinished += (int)n;
    while (i < l->n && strcmp(l->at[i].key, settings) != 0) i++;
    if (i < l->n) l->at[i].count += n;
    else l->t->unknown += (int)n;
    if (i < l->n) l->draws += (double)n * l->delta / 1024.0; /* the share of every delta */
    free(settings);
}

static bool ends_in(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

static void read_folder(cli *c, const grid *g, const char *ending, void (*add)(ledger *, jv), ledger *l)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/runs", g->out);
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char *text;
        if (!ends_in(e->d_name, ending)) continue;
        snprintf(path, sizeof path, "%s/runs/%.255s", g->out, e->d_name);
        if (record_read(c, path, NULL, NULL, &text)) add(l, (jv) { text });
        free(text);
    }
    if (d) closedir(d);
}

static bool within(const ledger *l)
{
    return l->draws <= 0.5 * l->delta;
}

static char *request_of(const ledger *l)
{
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fprintf(f, "{\"relation\": \"zero-out\", \"delta\": %.17g, \"events\": {\"kind\": \"sequence\", \"events\": [",
            within(l) ? (l->delta - l->draws) * (1.0 - 1e-15) : l->delta); /* (2) */
    for (int i = 0; i < l->n; i++)
        fprintf(f, "%s{\"kind\": \"repeat\", \"times\": %ld, \"event\": %s}", i ? ", " : "", l->at[i].count,
                l->at[i].events);
    fputs("]}}", f);
    if (fclose(f) != 0) abort();
    return text;
}

/* The words for a sum: those of a single release that costs as much. */
static void take_words(cli *c, together *t)
{
    char *json, request[200];
    snprintf(request, sizeof request,
             "{\"mechanism\": \"eps-delta\", \"eps0\": %.17g, \"delta0\": %.17g, \"delta\": %.17g}", t->epsilon,
             t->delta, t->delta);
    if (pv_account(c->ctx, request, &json) != PV_OK) return;
    jv_str(jv_get((jv) { json }, "strength"), t->strength, sizeof t->strength);
    jv_str(jv_get((jv) { json }, "colour"), t->colour, sizeof t->colour);
    pv_string_free(c->ctx, json);
}

static void account(cli *c, const ledger *l, together *t)
{
    char *json, *request = request_of(l);
    const pv_status s = pv_account(c->ctx, request, &json);
    free(request);
    if (s != PV_OK) {
        snprintf(t->why, sizeof t->why, "%s", pv_ctx_errmsg(c->ctx));
        return;
    }
    t->epsilon = jv_num(jv_get((jv) { json }, "epsilon"));
    t->draws = l->draws;
    t->delta = within(l) ? l->delta : (l->delta + l->draws) * (1.0 + 1e-15);
    jv_str(jv_get((jv) { json }, "accountant"), t->accountant, sizeof t->accountant);
    pv_string_free(c->ctx, json);
    take_words(c, t);
}

void together_make(cli *c, const grid *g, together *t)
{
    ledger l = { .t = t };
    *t = (together) { .epsilon = NAN, .delta = NAN, .draws = NAN };
    read_folder(c, g, ".json", add_record, &l);
    read_folder(c, g, ".started", add_started, &l);
    if (l.n) account(c, &l, t);
    for (int i = 0; i < l.n; i++) {
        free(l.at[i].events);
        free(l.at[i].key);
    }
    free(l.at);
}

void together_words(const together *t, char *out, size_t cap)
{
    char eps[40], delta[40], what[80] = "", cost[200] = "";
    if (t->unfinished) snprintf(what, sizeof what, ", and %d that did not finish,", t->unfinished);
    if (isfinite(t->epsilon))
        snprintf(cost, sizeof cost, "at most epsilon %s at delta %s (zero-out, accountant %s)",
                 cost_text(t->epsilon, eps), cost_text(t->delta, delta), t->accountant);
    size_t n;
    if (t->not_private)
        n = (size_t)snprintf(out, cap,
                             "NOT PRIVATE: %d of the %d run%s recorded in this folder give no guarantee, so there is "
                             "none for all together.",
                             t->not_private, t->runs, t->runs == 1 ? "" : "s");
    else if (*cost)
        n = (size_t)snprintf(out, cap, "All %d run%s recorded in this folder%s cost %s together.", t->runs,
                             t->runs == 1 ? "" : "s", what, cost);
    else
        n = (size_t)snprintf(out, cap,
                             "What the %d run%s recorded in this folder cost together could not be accounted: %s.",
                             t->runs, t->runs == 1 ? "" : "s", t->why);
    if (t->not_private && *cost && n < cap)
        n += (size_t)snprintf(out + n, cap - n, " With fresh noise, those that have noise would cost %s together.",
                              cost);
    if (t->unknown && n < cap)
        snprintf(
            out + n, cap - n,
            " %d attempt%s not in this sum: no run with the same settings has finished, so the cost is not known.",
            t->unknown, t->unknown == 1 ? " is" : "s are");
}
