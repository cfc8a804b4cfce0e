/* cmd_reproduce.c - privet reproduce: every table and figure of the papers, by name.
 *
 * The runs of an item are tasks (runs.h), done several at a time and recorded as those of `privet compare` are; those
 * recorded already are not done again.  Results are written whenever an item is complete. */
#include "repro.h"

#include <stdlib.h>
#include <string.h>

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

static bool left_out(const item *it, const place *p)
{
    return it->full && !p->full && !p->quick;
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

/* Is this the point that a run is made for?  All of them, but for those along a longer run. */
static bool has_run(const item *it, const place *p, const record *at)
{
    const sweep *s = &it->sweeps[at->sweep];
    return !repro_along(it, at) || at->x == repro_longest(s, p->quick);
}

typedef struct tally {
    const place *p;
    int n;
} tally;

static int count(void *user, const item *it, record *at)
{
    tally *t = user;
    t->n += has_run(it, t->p, at);
    return EXIT_DONE;
}

static int grid_size(const item *it, const place *p)
{
    tally t = { p, 0 };
    each_run(it, p, count, &t);
    return t.n;
}

double item_minutes(const item *it, bool quick)
{
    const place p = { .quick = quick };
    return grid_size(it, &p) * it->seconds[quick ? 0 : 1] / 60.0;
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

static void put_papers(void)
{
    puts("\nPrGD  Tholeti, Kalyani: On the differentially private nature of perturbed gradient descent\n"
         "TR    D. Wang, J. Xu: Escaping saddle points of empirical risk privately and scalably via DP-trust region\n"
         "SBCD  D. Chen, C. Liu: Differentially private neural network training under hidden state assumption\n"
         "ERM   D. Wang, J. Xu: Differentially private ERM with smooth non-convex loss functions\n"
         "LS    B. Wang and others: DP-LSSGD\n"
         "docs/reproduce.md has an index of their theorems, algorithms, tables and figures.");
}

static int list(cli *c)
{
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
                i ? ",\n" : "", it->name, it->paper, it->figure, it->shows, data, item_minutes(it, true),
                item_minutes(it, false), it->full ? "true" : "false");
        else
            printf("%-12s %-6s %-13s %-22s %7.1f %7.0f  %s%s\n", it->name, it->paper, it->figure, data,
                   item_minutes(it, true), item_minutes(it, false), it->shows, it->full ? " (--full)" : "");
    }
    if (c->args.json) {
        puts("\n]");
        return EXIT_DONE;
    }
    put_papers();
    puts(
        "Minutes are about those of two cores.  privet reproduce NAME|all [--quick] [--runs N] [--seed N] [--jobs N] "
        "[--full] [--out FOLDER]");
    return EXIT_DONE;
}

/* ---- running ------------------------------------------------------------------------------------------------ */

typedef struct work {
    cli *c;
    place p;
    records points; /* of the item under way */
    task *tasks;    /* its runs, each once */
    int n_tasks;
    const item *item;
    double total, past; /* seconds, about: of what was to do, of what is done */
    double begun;
    int skipped, told;
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
    int runs = w->n_tasks;
    for (int i = 0; i < w->points.n; i++) runs += w->points.at[i].task < 0;
    if (!w->c->args.json) {
        row(it->name, "%s/%s.csv .svg .commands: %d run%s, %d of them now", w->p.out, it->name, runs,
            runs == 1 ? "" : "s", now);
        return;
    }
    printf("%s\n    {", w->told++ ? "," : "");
    json_text("name", it->name), fputs(", \"files\": [", stdout);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", w->p.out, it->name, endings[i]);
        fputs(i ? ", " : "", stdout), json_text(NULL, path);
    }
    printf("], \"runs\": %d, \"runs_now\": %d}", runs, now);
}

static void show(void *user, int done, int pending)
{
    const work *w = user;
    const double weight = w->item->seconds[w->p.quick ? 0 : 1];
    (void)pending;
    progress_show(w->item->name, (w->past + done * weight) / fmax(w->total, 1e-9), wall_clock() - w->begun);
}

/* Two points of the same settings and repeat share a run. */
static int add_task(work *w, const item *it, const record *at)
{
    task t = run_task(it, &w->p, at);
    for (int i = 0; i < w->n_tasks; i++)
        if (strcmp(w->tasks[i].name, t.name) == 0) {
            task_free(&t);
            return i;
        }
    if (w->n_tasks % 64 == 0) w->tasks = realloc(w->tasks, sizeof t * (size_t)(w->n_tasks + 64));
    if (!w->tasks) abort();
    w->tasks[w->n_tasks] = t;
    return w->n_tasks++;
}

static int add_point(void *user, const item *it, record *at)
{
    work *w = user;
    const int code = run_prepare(w->c, it, &w->p, at);
    at->task = code == EXIT_DONE && run_trains(it, at) ? add_task(w, it, at) : -1;
    if (w->points.n % 64 == 0) w->points.at = realloc(w->points.at, sizeof *at * (size_t)(w->points.n + 64));
    if (!w->points.at) abort();
    w->points.at[w->points.n++] = *at;
    return code;
}

static void forget(work *w)
{
    for (int i = 0; i < w->points.n; i++) record_clear(&w->points.at[i]);
    for (int i = 0; i < w->n_tasks; i++) task_free(&w->tasks[i]);
    free(w->points.at);
    free(w->tasks);
    w->points = (records) { 0 };
    w->tasks = NULL;
    w->n_tasks = 0;
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

static void tell_missing(work *w, const item *it, const char *missing)
{
    char why[4600];
    snprintf(why, sizeof why, "put %s of a folder named by PRIVET_DATA%s%s", data_wanted(missing),
             w->p.data ? "; looked in " : "", w->p.data ? w->p.data : "");
    tell(w, it, "skipped", why);
    w->skipped++;
}

/* What every point shows, from the record of its run or without one; *now counts those. */
static int measure_points(work *w, const item *it, int *now)
{
    int code = EXIT_DONE;
    for (int i = 0; i < w->n_tasks; i++)
        if (w->tasks[i].fate != FINISHED && w->tasks[i].why)
            return complain(w->tasks[i].code, "%s: %s", it->name, w->tasks[i].why);
    for (int i = 0; code == EXIT_DONE && i < w->points.n; i++) {
        record *r = &w->points.at[i];
        if (r->task >= 0) code = run_take(w->c, it, r, w->tasks[r->task].record);
        else code = run_compute(w->c, it, &w->p, r), ++*now;
    }
    return code;
}

static int do_item(work *w, const item *it)
{
    w->item = it;
    int code = each_run(it, &w->p, add_point, w);
    pool p = {
        .c = w->c, .out = w->p.out, .at = w->tasks, .n = w->n_tasks, .jobs = w->p.jobs, .progress = show, .user = w
    };
    if (code == EXIT_DONE) code = pool_do(&p);
    int now = p.now;
    progress_clear();
    if (code == EXIT_DONE) code = measure_points(w, it, &now);
    w->past += now * it->seconds[w->p.quick ? 0 : 1];
    if (code == EXIT_DONE) {
        summary s = summarize(it, &w->points, &w->p);
        code = summary_write(w->c, it, &w->p, &s, &w->points);
        summary_free(&s);
    }
    for (const sweep *s = it->sweeps; code == EXIT_DONE && s->name; s++) w->on_rows |= s->data != NULL;
    if (code == EXIT_DONE) tell_files(w, it, now);
    forget(w);
    return code;
}

/* Folders and data of what will be done, and about how long that takes. */
static int prepare(work *w, const item *only)
{
    const item *it;
    int code = EXIT_DONE;
    bool open = false; /* not for items that are skipped */
    for (int i = 0; code == EXIT_DONE && (it = repro_item(i)) != NULL; i++) {
        if ((only && it != only) || left_out(it, &w->p) || missing_data(it, &w->p)) continue;
        if (!open) code = pool_open(w->p.out), open = true;
        if (code == EXIT_DONE) code = each_run(it, &w->p, add_point, w);
        if (code == EXIT_DONE)
            w->total += pool_pending(w->c, w->p.out, w->tasks, w->n_tasks) * it->seconds[w->p.quick ? 0 : 1];
        forget(w);
    }
    return code;
}

static int do_all(work *w, const item *only)
{
    const item *it;
    int code = prepare(w, only), failed = EXIT_DONE;
    w->begun = wall_clock();
    const bool json = w->c->args.json && code == EXIT_DONE;
    if (json) printf("{\n  "), json_text("out", w->p.out), fputs(",\n  \"items\": [", stdout);
    for (int i = 0; code == EXIT_DONE && (it = repro_item(i)) != NULL; i++) {
        if (only && it != only) continue;
        const char *missing = missing_data(it, &w->p);
        if (left_out(it, &w->p))
            tell(w, it, "left_out", only ? "it runs with --quick or --full" : "runs with --quick or --full");
        else if (missing) tell_missing(w, it, missing);
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
            strcmp(key, "run.seed") != 0 && strcmp(key, "jobs") != 0)
            return usage("reproduce has no setting %s; there is --runs, --seed, --jobs, --quick and --full", key);
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
    long runs, jobs;
    int code = take_number(c, "runs", "runs", 1000, &runs);
    if (code == EXIT_DONE) code = take_number(c, "run.seed", "seed", 1000000, &w.p.seed);
    if (code == EXIT_DONE) code = take_number(c, "jobs", "jobs", 1024, &jobs);
    if (code != EXIT_DONE) return code;
    w.p.runs = (int)runs;
    w.p.jobs = (int)jobs;
    pv_ctx_on_log(c->ctx, NULL, NULL); /* notes of hundreds of runs help nobody */
    return do_all(&w, it);
}
