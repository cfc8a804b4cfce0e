/* compare_cost.c - what all runs recorded in a folder cost together.
 *
 * Every run there counts, also those of an earlier question, those set aside by --fresh, and attempts that ended
 * early: whoever looks at the folder, or chooses by it, has seen what they all released.  ledger.c says how they are
 * added up; a record that names no epsilon up to which its share for draws is enough counts as 0.  The accountant is
 * asked at the largest delta of a run, or where no epsilon covers all of them there, as with noise whose deltas add
 * up, at the sum of their deltas.  The relation is zero-out, or replace where a run is for that: its events hold for
 * no other relation, while a run for zero-out records those for replace beside its own. */
#include "compare.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    ledger sum;
    char **key; /* owned, of each of its entries: the settings of the first run that has them */
    int keys;
    bool replace;  /* a run is for this relation */
    double deltas; /* of all runs, added up */
    together *t;
} tally;

static bool for_replace(jv record)
{
    char relation[16];
    return strcmp(jv_str(jv_get(record, "relation"), relation, sizeof relation), "replace") == 0;
}

static void see_relation(tally *l, jv record)
{
    l->replace |= for_replace(record);
}

/* The settings of a run: its key up to the repeat or seed, which stand last. */
static char *settings_text(jv record)
{
    char *key = jv_text(record, "key"), *last = strrchr(key, '|');
    if (last) *last = '\0';
    return key;
}

static long attempts_of(jv record)
{
    const double n = jv_num(jv_get(record, "attempts"));
    return n >= 1 && n < 1e6 ? (long)n : 1;
}

static void add_record(tally *l, jv record)
{
    const long n = attempts_of(record);
    char unit[16];
    l->t->runs++;
    l->t->unfinished += (int)n - 1;
    if (!jv_true(jv_get(record, "private"))) l->t->not_private++;
    const bool person = strcmp(jv_str(jv_get(record, "unit"), unit, sizeof unit), "person") == 0;
    *(person ? &l->sum.persons : &l->sum.rows) = true;
    if (!events_private(jv_get(record, "events"))) return;
    l->deltas += (double)n * jv_num(jv_get(record, "delta"));
    const char *events = for_replace(record) == l->replace ? "events" : "events_replace";
    if (!jv_get(jv_get(record, events), "kind").p) {
        l->t->other_relation++;
        return;
    }
    const double share = jv_num(jv_get(record, "delta_draws")), to = jv_num(jv_get(record, "draws_epsilon"));
    const ledger_run one = { n, jv_num(jv_get(record, "delta")), share, to >= 0.0 ? to : 0.0, person };
    if (ledger_add(&l->sum, record, events, &one) < l->keys) return;
    l->key = realloc(l->key, sizeof *l->key * (size_t)(l->keys + 1));
    if (!l->key) abort();
    l->key[l->keys++] = settings_text(record);
}

static bool seeded(jv mark)
{
    char *key = jv_text(mark, "key"), *last = strrchr(key, '|');
    const bool seed = last && strncmp(last, "|seed ", 6) == 0;
    free(key);
    return seed;
}

/* Attempts without a result: they cost what a finished run with the same settings costs, with a seed nothing that
 * could be counted. */
static void add_started(tally *l, jv mark)
{
    const long n = attempts_of(mark);
    char *settings = settings_text(mark);
    int i = 0;
    l->t->unfinished += (int)n;
    l->t->not_private += seeded(mark) ? (int)n : 0;
    while (i < l->keys && strcmp(l->key[i], settings) != 0) i++;
    if (i < l->keys) l->sum.at[i].count += n;
    else l->t->unknown += (int)n;
    l->deltas += (double)n * l->sum.delta;
    if (i < l->keys) l->sum.draws += (double)n * l->sum.delta / 1024.0; /* the share of every delta */
    free(settings);
}

static bool ends_in(const char *name, const char *ending)
{
    const size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

static void read_folder(cli *c, const grid *g, const char *ending, void (*add)(tally *, jv), tally *l)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/runs", g->out);
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        char *text;
        if (!ends_in(e->d_name, ending)) continue;
        snprintf(path, sizeof path, "%s/runs/%.255s", g->out, e->d_name);
        if (record_read(c, path, NULL, &text)) add(l, (jv) { text });
        free(text);
    }
    if (d) closedir(d);
}

static char *request_of(const ledger *l, const char *relation, double delta)
{
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fputc('{', f), ledger_ask(l, f, relation, delta), fputc('}', f);
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

static void account(cli *c, const ledger *l, double delta, together *t)
{
    char *json, *request = request_of(l, t->relation, delta);
    const pv_status s = pv_account(c->ctx, request, &json);
    free(request);
    if (s != PV_OK) {
        snprintf(t->why, sizeof t->why, "%s", pv_ctx_errmsg(c->ctx));
        return;
    }
    t->epsilon = jv_num(jv_get((jv) { json }, "epsilon"));
    t->delta = jv_num(jv_get((jv) { json }, "delta"));
    t->draws = l->draws > 0.0 ? jv_num(jv_get((jv) { json }, "delta_draws")) : 0.0;
    t->ideal = jv_true(jv_get((jv) { json }, "ideal_draws"));
    snprintf(t->why, sizeof t->why, "no epsilon covers them at delta %.6g", delta);
    jv_str(jv_get((jv) { json }, "accountant"), t->accountant, sizeof t->accountant);
    pv_string_free(c->ctx, json);
    take_words(c, t);
}

static void sum_up(cli *c, const tally *l, together *t)
{
    const double deltas = l->deltas * (1.0 + 1e-12);
    account(c, &l->sum, l->sum.delta, t);
    if (!isfinite(t->epsilon) && deltas > l->sum.delta && deltas < 1.0) account(c, &l->sum, deltas, t);
}

void together_make(cli *c, const grid *g, together *t)
{
    tally l = { .sum.covered = INFINITY, .t = t };
    *t = (together) { .epsilon = NAN, .delta = NAN, .draws = NAN };
    read_folder(c, g, ".json", see_relation, &l);
    t->relation = l.replace ? "replace" : "zero-out";
    read_folder(c, g, ".json", add_record, &l);
    read_folder(c, g, ".started", add_started, &l);
    t->persons = l.sum.persons;
    if (l.sum.persons && l.sum.rows) snprintf(t->why, sizeof t->why, "some protect persons, others rows");
    else if (t->other_relation)
        snprintf(t->why, sizeof t->why, "some are for relation replace, and others have no figures for it");
    else if (l.sum.n) sum_up(c, &l, t);
    for (int i = 0; i < l.keys; i++) free(l.key[i]);
    free(l.key);
    ledger_free(&l.sum);
}

void together_words(const together *t, char *out, size_t cap)
{
    char eps[40], delta[40], what[80] = "", cost[200] = "";
    if (t->unfinished) snprintf(what, sizeof what, ", and %d that did not finish,", t->unfinished);
    if (isfinite(t->epsilon))
        snprintf(cost, sizeof cost, "at most epsilon %s at delta %s (%s, accountant %s%s)",
                 cost_text(t->epsilon, eps), cost_text(t->delta, delta), t->relation, t->accountant,
                 t->ideal ? ", draws taken as ideal" : "");
    size_t n;
    if (t->not_private)
        n = (size_t)snprintf(out, cap,
                             "NOT PRIVATE: %d of the %d run%s recorded in this folder%s give no guarantee, so there "
                             "is none for all together.",
                             t->not_private, t->runs, t->runs == 1 ? "" : "s", what);
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
