/* cmd_reproduce.c - privet reproduce: every table and figure of the papers, by name.
 *
 * A set of items is one list of runs.  Those recorded already are taken from their file, so the same command goes on
 * where an interrupted one stopped; results are written whenever an item is complete. */
#include "repro.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const item *const papers[] = { repro_prgd, repro_tr, repro_sbcd, repro_erm, repro_ls };
enum { PAPERS = sizeof papers / sizeof *papers };

const item *repro_item(int i)
{
    for (int k = 0; k < PAPERS; k++)
        for (const item *it = papers[k]; it->name; it++)
            if (i-- == 0) return it;
    return NULL;
}

const item *repro_find(const char *name)
{
    const item *it;
    for (int i = 0; (it = repro_item(i)) != NULL; i++)
        if (strcmp(it->name, name) == 0) return it;
    return NULL;
}

static const char *item_name(const void *list, int i)
{
    const item *it = repro_item(i);
    (void)list;
    return it ? it->name : NULL;
}

const char *item_data(const item *it, const sweep *s, const line *l, bool quick)
{
    const char *d = l->data ? l->data : s->data;
    const size_t n = d ? strlen(d) : 0;
    const bool less = quick && n && it->quick_data && strncmp(d, it->quick_data, n) == 0 && it->quick_data[n] == ':';
    return less ? it->quick_data : d;
}

int item_runs(const item *it, const place *p)
{
    const int own = it->runs[p->quick ? 0 : 1];
    return p->runs && it->runs[1] > 1 ? p->runs : own; /* what is computed is the same every time */
}

/* ---- the grid ----------------------------------------------------------------------------------------------- */

typedef int (*visitor)(void *user, const item *it, record *at);

/* Every run of an item, in the order in which it is done: run 1 of all points first. */
static int each_run(const item *it, const place *p, visitor visit, void *user)
{
    double xs[POINTS_MAX];
    for (int run = 1; run <= item_runs(it, p); run++)
        for (int s = 0; it->sweeps[s].name; s++) {
            const int n = repro_numbers(it->sweeps[s].xs, p->quick, xs, POINTS_MAX);
            for (int l = 0; it->sweeps[s].lines[l].label; l++) {
                const bool level = it->sweeps[s].lines[l].level;
                for (int i = 0; i < (level ? 1 : n); i++) {
                    record at = { .sweep = s, .line = l, .run = run, .x = level ? (double)NAN : xs[i] };
                    const int code = visit(user, it, &at);
                    if (code != EXIT_DONE) return code;
                }
            }
        }
    return EXIT_DONE;
}

static int count(void *user, const item *it, record *at)
{
    (void)it, (void)at;
    ++*(int *)user;
    return EXIT_DONE;
}

static int grid_size(const item *it, const place *p)
{
    int n = 0;
    each_run(it, p, count, &n);
    return n;
}

static double minutes(const item *it, const place *p)
{
    return grid_size(it, p) * it->seconds[p->quick ? 0 : 1] / 60.0;
}

/* ---- list --------------------------------------------------------------------------------------------------- */

/* Names of the data sets an item needs, without repetition. */
static void data_names(const item *it, char out[96])
{
    out[0] = '\0';
    for (const sweep *s = it->sweeps; s->name; s++)
        for (const line *l = s->lines; l->label; l++) {
            const char *d = item_data(it, s, l, false);
            char name[32];
            if (!d) continue;
            snprintf(name, sizeof name, "%.*s", (int)strcspn(d, ":"), d);
            if (strstr(out, name)) continue;
            const size_t n = strlen(out);
            snprintf(out + n, 96 - n, "%s%s%s", n ? " " : "", name, data_wanted(d) ? "" : " (made)");
        }
    if (!out[0]) snprintf(out, 96, "none");
}

static int list(cli *c)
{
    const place quick = { .quick = true }, whole = { 0 };
    const item *it;
    char data[96];
    if (c->args.json) puts("[");
    else
        printf("%-12s %-6s %-13s %-22s %7s %7s  %s\n", "name", "paper", "where", "data", "quick", "whole",
               "what it shows");
    for (int i = 0; (it = repro_item(i)) != NULL; i++) {
        data_names(it, data);
        if (c->args.json)
            printf(
                "%s  {\"name\": \"%s\", \"paper\": \"%s\", \"figure\": \"%s\", \"shows\": \"%s\", \"data\": \"%s\", "
                "\"minutes_quick\": %.2f, \"minutes\": %.1f, \"full_only\": %s}",
                i ? ",\n" : "", it->name, it->paper, it->figure, it->shows, data, minutes(it, &quick),
                minutes(it, &whole), it->full ? "true" : "false");
        else
            printf("%-12s %-6s %-13s %-22s %7.1f %7.0f  %s%s\n", it->name, it->paper, it->figure, data,
                   minutes(it, &quick), minutes(it, &whole), it->shows, it->full ? " (--full)" : "");
    }
    if (c->args.json) puts("\n]");
    else
        puts("\nMinutes are about those of two cores.  privet reproduce NAME|all [--quick] [--runs N] [--seed N] "
             "[--full] "
             "[--out FOLDER]");
    return EXIT_DONE;
}

/* ---- running ------------------------------------------------------------------------------------------------ */

typedef struct work {
    cli *c;
    place p;
    records done; /* of the item under way */
    const item *item;
    double total, past, weight; /* seconds, about: of what was to do, of what is done, of the run under way */
    double begun;
    int runs, skipped, told;
    bool on_rows; /* something written was measured on rows */
} work;

/* What became of an item: a line, or an object of the list in --json. */
static void tell(work *w, const item *it, const char *key, const char *why)
{
    if (!w->c->args.json) {
        row(it->name, "%s: %s", strcmp(key, "skipped") == 0 ? "skipped" : "left out", why);
        return;
    }
    printf("%s\n    {", w->told++ ? "," : "");
    json_text("name", it->name), fputs(", ", stdout);
    json_text(key, why), fputs("}", stdout);
}

static void tell_files(work *w, const item *it, int now)
{
    static const char *const endings[] = { "csv", "svg", "commands" };
    char path[4200];
    if (!w->c->args.json) {
        row(it->name, "%s/%s.csv .svg .commands: %d run%s, %d of them now", w->p.out, it->name, w->done.n,
            w->done.n == 1 ? "" : "s", now);
        return;
    }
    printf("%s\n    {", w->told++ ? "," : "");
    json_text("name", it->name), fputs(", \"files\": [", stdout);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", w->p.out, it->name, endings[i]);
        fputs(i ? ", " : "", stdout), json_text(NULL, path);
    }
    printf("], \"runs\": %d, \"runs_now\": %d}", w->done.n, now);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool on_progress(void *user, const char *what, double done, double total, double epsilon)
{
    work *w = user;
    const bool training = strcmp(what, "training") == 0;
    (void)epsilon;
    runner_progress(what);
    const double part = training && total > 0 ? fmin(1.0, done / total) : 0.0;
    progress_show(w->item->name, (w->past + part * w->weight) / fmax(w->total, 1e-9), now() - w->begun);
    return true;
}

static void keep(work *w, record *r)
{
    if (w->done.n % 64 == 0) w->done.at = realloc(w->done.at, sizeof(record) * (size_t)(w->done.n + 64));
    if (!w->done.at) abort();
    w->done.at[w->done.n++] = *r;
}

static int do_run(void *user, const item *it, record *at)
{
    work *w = user;
    int code = run_prepare(w->c, it, &w->p, at);
    const int found = code == EXIT_DONE ? record_find(&w->p, at) : 0;
    if (found < 0) code = EXIT_INPUT;
    if (code == EXIT_DONE && !found) {
        w->weight = it->seconds[w->p.quick ? 0 : 1];
        code = run_once(w->c, it, &w->p, at);
        if (code == EXIT_DONE && !it->sweeps[at->sweep].compute && !it->plan) code = record_add(&w->p, at);
        w->past += w->weight;
        w->runs++;
    }
    keep(w, at);
    return code;
}

static const char *missing_data(const item *it, const place *p)
{
    for (const sweep *s = it->sweeps; s->name; s++)
        for (const line *l = s->lines; l->label; l++) {
            const char *d = item_data(it, s, l, p->quick);
            if (d && !data_there(p, d)) return d;
        }
    return NULL;
}

static void forget(work *w)
{
    for (int i = 0; i < w->done.n; i++) record_clear(&w->done.at[i]);
    free(w->done.at);
    w->done = (records) { 0 };
}

static int do_item(work *w, const item *it)
{
    const char *missing = missing_data(it, &w->p);
    if (missing) {
        progress_clear();
        char why[4600];
        snprintf(why, sizeof why, "put %s of a folder named by PRIVET_DATA%s%s", data_wanted(missing),
                 w->p.data ? "; looked in " : "", w->p.data ? w->p.data : "");
        tell(w, it, "skipped", why);
        w->skipped++;
        return EXIT_DONE;
    }
    w->item = it;
    const int runs = w->runs;
    int code = each_run(it, &w->p, do_run, w);
    if (code == EXIT_DONE) {
        summary s = summarize(it, &w->done, &w->p);
        code = summary_write(w->c, it, &w->p, &s, &w->done);
        summary_free(&s);
    }
    progress_clear();
    for (const sweep *s = it->sweeps; code == EXIT_DONE && s->name; s++) w->on_rows |= s->data != NULL;
    if (code == EXIT_DONE) tell_files(w, it, w->runs - runs);
    forget(w);
    return code;
}

static int make_folders(const char *out)
{
    static const char *const inside[] = { "", "/certificates" };
    char path[4200];
    if (strlen(out) > 4000) return usage("the path of --out is too long");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s", out, inside[i]);
        if (mkdir(path, 0777) != 0 && errno != EEXIST) return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
    }
    return EXIT_DONE;
}

/* Weight of what is not recorded yet. */
static int add_pending(void *user, const item *it, record *at)
{
    work *w = user;
    int code = run_prepare(w->c, it, &w->p, at);
    if (code == EXIT_DONE && record_find(&w->p, at) == 0) w->total += it->seconds[w->p.quick ? 0 : 1];
    record_clear(at);
    return code;
}

static int do_all(work *w, const item *only)
{
    const item *it;
    int code = EXIT_DONE, failed = EXIT_DONE;
    for (int i = 0; code == EXIT_DONE && (it = repro_item(i)) != NULL; i++) {
        if ((only && it != only) || (it->full && !w->p.full) || missing_data(it, &w->p)) continue;
        code = make_folders(w->p.out); /* not for items that are skipped */
        if (code == EXIT_DONE) code = each_run(it, &w->p, add_pending, w);
    }
    w->begun = now();
    const bool json = w->c->args.json && code == EXIT_DONE;
    if (json) printf("{\n  "), json_text("out", w->p.out), fputs(",\n  \"items\": [", stdout);
    pv_ctx_on_progress(w->c->ctx, on_progress, w);
    for (int i = 0; code == EXIT_DONE && (it = repro_item(i)) != NULL; i++) {
        if (only && it != only) continue;
        if (it->full && !w->p.full) tell(w, it, "left_out", only ? "it runs with --full" : "runs with --full");
        else if (failed == EXIT_DONE) failed = do_item(w, it);
        else do_item(w, it); /* the first failure is the code, and no reason to miss the rest */
        fflush(stdout);
    }
    if (json) {
        puts(w->told ? "\n  ]," : "],");
        if (w->on_rows) printf("  "), json_text("warning", "NOT PRIVATE: measures on rows"), puts(",");
        printf("  \"skipped\": %d\n}\n", w->skipped);
    } else if (w->on_rows)
        row("NOT PRIVATE", "accuracies, losses and gradients in these files are computed on rows without noise");
    if (code == EXIT_DONE) code = failed;
    return code == EXIT_DONE && w->skipped ? EXIT_MISSING : code;
}

/* A whole number from 1 to most; 0: not set. */
static int take_number(cli *c, const char *key, const char *name, long most, long *out)
{
    const char *text = setting_value(c, key);
    char *end;
    *out = text ? strtol(text, &end, 10) : 0;
    if (text && (*end || end == text || *out < 1 || *out > most))
        return usage("--%s %s: a whole number from 1 to %ld is needed", name, text, most);
    return EXIT_DONE;
}

int cmd_reproduce(cli *c)
{
    const char *name = c->args.words[0];
    work w = { .c = c };
    for (int i = 0; i < c->args.n_settings; i++) {
        const char *key = c->args.settings[i].key;
        if (strcmp(key, "runs") != 0 && strcmp(key, "quick") != 0 && strcmp(key, "full") != 0 &&
            strcmp(key, "run.seed") != 0)
            return usage("reproduce has no setting %s; there is --runs, --seed, --quick and --full", key);
    }
    if (strcmp(name, "list") == 0) return list(c);
    const item *it = repro_find(name);
    if (!it && strcmp(name, "all") != 0) {
        const char *near = nearest(name, item_name, NULL);
        if (near) return usage("unknown table or figure %s; did you mean %s?", name, near);
        return usage("unknown table or figure %s; privet reproduce list shows what there is", name);
    }
    w.p = (place) { .out = c->args.out ? c->args.out : "results",
                    .quick = setting_value(c, "quick") != NULL,
                    .full = setting_value(c, "full") != NULL };
    data_find(&w.p);
    long runs;
    int code = take_number(c, "runs", "runs", 1000, &runs);
    if (code == EXIT_DONE) code = take_number(c, "run.seed", "seed", 1000000, &w.p.seed);
    if (code != EXIT_DONE) return code;
    w.p.runs = (int)runs;
    pv_ctx_on_log(c->ctx, NULL, NULL); /* notes of hundreds of runs help nobody */
    signals_phase(PHASE_KEPT);
    return do_all(&w, it);
}
