/* compare_run.c - the runs of a comparison: a task for every cell and repeat, and what their records hold.
 *
 * Repeat 1 of all cells comes first; a cell that was refused is not asked for again. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static task task_of(const grid *g, int cell, int repeat)
{
    task t = { .seeded = g->seeded, .seed = g->seed + repeat, .repeat = repeat + 1, .group = cell };
    for (int f = 0; f < g->n; f++) task_set(&t, g->at[f].key, grid_value(g, cell, f));
    if (g->holdout && !(t.test = strdup(g->holdout))) abort();
    task_identify(&t);
    return t;
}

/* --fresh: the record stays under another name, since what it cost stays spent. */
static void set_aside(const grid *g, const char *name)
{
    char *from = run_path(g->out, name, ".json"), *to = NULL;
    for (int n = 1; access(from, F_OK) == 0; n++) {
        char ending[32];
        free(to);
        snprintf(ending, sizeof ending, ".%d.json", n);
        to = run_path(g->out, name, ending);
        if (access(to, F_OK) != 0 && rename(from, to) != 0) break;
    }
    free(from);
    free(to);
}

static void take_record(const char *record, run *out)
{
    const jv v = { record }, m = jv_get(v, "measures");
    for (int k = 0; k < MEASURES; k++) out->m[k] = jv_num(jv_get(m, measures[k].key));
    out->private = jv_true(jv_get(v, "private"));
    out->own_rows = jv_true(jv_get(v, "training_rows"));
    out->rows = jv_num(jv_get(v, "rows"));
    out->weights = jv_num(jv_get(v, "weights"));
}

static void take_task(runs *r, task *t)
{
    run *x = &r->at[t->group * r->g->repeats + t->repeat - 1];
    char **why = &r->why[t->group];
    x->fate = t->fate;
    if (t->fate == FINISHED) take_record(t->record, x);
    if (t->fate == REFUSED && !r->code) r->code = t->code;
    if (t->why && !*why) *why = t->why, t->why = NULL;
}

typedef struct bar {
    double begun;
} bar;

static void show(void *user, int done, int pending)
{
    const bar *b = user;
    char what[32];
    snprintf(what, sizeof what, "run %d of %d", done, pending);
    progress_show(what, (double)done / pending, wall_clock() - b->begun);
}

int runs_do(cli *c, runs *r)
{
    const grid *g = r->g;
    const int n = g->cells * g->repeats;
    bar b = { wall_clock() };
    pool p = { .c = c,
               .out = g->out,
               .at = calloc((size_t)n, sizeof *p.at),
               .n = n,
               .jobs = g->jobs,
               .warn = true,
               .progress = show,
               .user = &b };
    r->at = calloc((size_t)n, sizeof *r->at);
    r->why = calloc((size_t)g->cells, sizeof *r->why);
    if (!r->at || !r->why || !p.at) abort();
    int code = pool_open(g->out);
    if (code == EXIT_DONE) code = grid_file(c, g);
    for (int i = 0; code == EXIT_DONE && i < n; i++) {
        p.at[i] = task_of(g, i % g->cells, i / g->cells);
        if (g->fresh) set_aside(g, p.at[i].name);
    }
    if (code == EXIT_DONE) code = pool_do(&p);
    progress_clear();
    r->now = p.now;
    r->crashed = p.crashed;
    for (int i = 0; i < n; i++) {
        if (code == EXIT_DONE) take_task(r, &p.at[i]);
        task_free(&p.at[i]);
    }
    free(p.at);
    return code;
}

const char *cell_fate(const runs *r, int cell)
{
    for (int i = 0; i < r->g->repeats; i++)
        if (r->at[cell * r->g->repeats + i].fate == REFUSED) return "refused";
    return "failed";
}

void runs_free(runs *r)
{
    for (int i = 0; r->why && i < r->g->cells; i++) free(r->why[i]);
    free(r->at);
    free(r->why);
    *r = (runs) { 0 };
}
