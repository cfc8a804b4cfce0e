/* compare_table.c - a comparison as text, as JSON and as CSV, and what must be said of its numbers. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

const char *const table_heads[COLUMNS] = { "mean", "sd", "runs", "difference", "pairs", "t", "p", "p, Holm" };

/* Four decimals where they say something, digits otherwise. */
static void number(double x, char out[CELL])
{
    const double size = fabs(x);
    if (isnan(x)) snprintf(out, CELL, "-");
    else snprintf(out, CELL, size >= 0.001 && size < 1000 ? "%.4f" : "%.4g", x);
}

static void digits(const char *fmt, double x, char out[CELL])
{
    if (isnan(x)) snprintf(out, CELL, "-");
    else snprintf(out, CELL, fmt, x);
}

void table_row(const sums *s, int k, int cell, char out[COLUMNS][CELL])
{
    const cellsum *c = sums_at(s, k, cell);
    const bool tested = cell != sums_base(s->r->g, cell);
    number(c->mean, out[0]);
    digits("%.2g", c->sd, out[1]);
    snprintf(out[2], CELL, "%d", c->runs);
    for (int i = 3; i < COLUMNS; i++) out[i][0] = '\0';
    if (!tested) return;
    digits("%+.3g", c->difference, out[3]);
    snprintf(out[4], CELL, "%d", c->pairs);
    digits("%.2f", c->t, out[5]);
    digits("%.2g", c->p, out[6]);
    digits("%.2g", c->holm, out[7]);
}

/* ---- text --------------------------------------------------------------------------------------------------- */

static int setting_width(const grid *g, int v)
{
    const factor *f = &g->at[g->varying[v]];
    size_t w = strlen(grid_word(f->key));
    for (int i = 0; i < f->n; i++) w = strlen(f->values[i]) > w ? strlen(f->values[i]) : w;
    return w > 40 ? 40 : (int)w;
}

/* Settings that vary; in a grid the first one last, since it changes from line to line. */
static void put_settings(FILE *f, const grid *g, int cell)
{
    for (int v = 1; v <= g->n_varying; v++) {
        const int k = g->pairs ? v - 1 : v % g->n_varying, at = g->varying[k];
        fprintf(f, "%-*.40s  ", setting_width(g, k), cell < 0 ? grid_word(g->at[at].key) : grid_value(g, cell, at));
    }
}

/* True: the cell has no run of this measure, and the line is finished with the reason, in full where `whole`. */
static bool put_refused(FILE *f, const comparison *q, int k, int cell, bool whole)
{
    const char *why = q->r->why[cell];
    if (sums_at(q->s, k, cell)->runs || !why) return false;
    if (whole) fprintf(f, " %s: %s\n", cell_fate(q->r, cell), why);
    else fprintf(f, " %9s\n", cell_fate(q->r, cell));
    return true;
}

static void put_measure(FILE *f, const comparison *q, int k, bool whole)
{
    static const int widths[COLUMNS] = { 9, 8, 5, 11, 6, 8, 8, 8 };
    const int columns = q->g->width > 1 ? COLUMNS : 3;
    fprintf(f, "\n%s%s\n", measures[k].label, measures[k].better > 0 ? ", more is better" : ", less is better");
    put_settings(f, q->g, -1);
    for (int i = 0; i < columns; i++) fprintf(f, " %*s", widths[i], table_heads[i]);
    fputc('\n', f);
    for (int cell = 0; cell < q->g->cells; cell++) {
        char cells[COLUMNS][CELL];
        put_settings(f, q->g, cell);
        if (put_refused(f, q, k, cell, whole)) continue;
        table_row(q->s, k, cell, cells);
        for (int i = 0; i < columns; i++)
            if (cells[i][0]) fprintf(f, " %*s", widths[i], cells[i]);
        fputc('\n', f);
    }
}

const char *const cost_heads[COSTS] = { "seconds", "sd", "epsilon", "noise multiplier" };

void cost_row(const sums *s, int cell, char out[COSTS][CELL])
{
    number(sums_at(s, QUALITIES, cell)->mean, out[0]);
    digits("%.2g", sums_at(s, QUALITIES, cell)->sd, out[1]);
    digits("%.6g", sums_at(s, QUALITIES + 1, cell)->mean, out[2]);
    digits("%.6g", sums_at(s, QUALITIES + 2, cell)->mean, out[3]);
}

static void put_costs(FILE *f, const comparison *q)
{
    static const int widths[COSTS] = { 9, 8, 8, 16 };
    fputs("\none run: processor seconds of training, epsilon and noise multiplier\n", f);
    put_settings(f, q->g, -1);
    for (int i = 0; i < COSTS; i++) fprintf(f, " %*s", widths[i], cost_heads[i]);
    fputc('\n', f);
    for (int cell = 0; cell < q->g->cells; cell++) {
        char cells[COSTS][CELL];
        put_settings(f, q->g, cell);
        if (put_refused(f, q, QUALITIES, cell, false)) continue;
        cost_row(q->s, cell, cells);
        for (int i = 0; i < COSTS; i++) fprintf(f, " %*s", widths[i], cells[i]);
        fputc('\n', f);
    }
}

static void put_wrapped(FILE *f, const char *text)
{
    int column = 0;
    while (*text) {
        const int len = (int)strcspn(text, " ");
        if (column + len > 98 && column > 0) column = 0, fputs("\n", f);
        column += fprintf(f, "%s%.*s", column ? " " : "", len, text);
        text += len;
        text += strspn(text, " ");
    }
    fputc('\n', f);
}

void table_text(FILE *f, const comparison *q)
{
    char words[1200], said[8][512];
    const int n = remarks(q, said, 8);
    fprintf(f, "%d combination%s, %d repeat%s each%s\n", q->g->cells, q->g->cells == 1 ? "" : "s", q->g->repeats,
            q->g->repeats == 1 ? "" : "s", runs_private(q->r) ? "" : "; NOT PRIVATE, see below");
    bool first = true;
    for (int k = 0; k < QUALITIES; k++) {
        if (!q->s->there[k]) continue;
        put_measure(f, q, k, first);
        first = false;
    }
    put_costs(f, q);
    fputc('\n', f);
    together_words(q->t, words, sizeof words);
    put_wrapped(f, words);
    for (int i = 0; i < n; i++) put_wrapped(f, said[i]);
}

/* ---- what must be said -------------------------------------------------------------------------------------- */

static int crashed_of(const runs *r)
{
    int n = 0;
    for (int i = 0; i < r->g->cells * r->g->repeats; i++) n += r->at[i].fate == CRASHED;
    return n;
}

typedef struct measured {
    bool own, held;     /* there are figures on the rows trained on, and on others */
    double least, most; /* of these */
} measured;

static measured measured_on(const runs *r)
{
    measured m = { .least = INFINITY };
    for (int i = 0; i < r->g->cells * r->g->repeats; i++) {
        const run *x = &r->at[i];
        if (x->fate != FINISHED) continue;
        m.own |= x->own_rows;
        m.held |= !x->own_rows;
        if (x->own_rows) continue;
        m.least = fmin(m.least, x->rows);
        m.most = fmax(m.most, x->rows);
    }
    return m;
}

static const char *rows_text(const measured *m, char out[100])
{
    char least[40], most[40];
    const char *to = m->most > m->least ? " to " : "";
    snprintf(out, 100, "%s%s%s", with_commas(m->least, least), to, *to ? with_commas(m->most, most) : "");
    return out;
}

/* Is data.curves left to each optimiser, and did they choose differently? */
static bool curves_differ(const runs *r, double *least, double *most)
{
    const grid *g = r->g;
    *least = INFINITY, *most = 0.0;
    for (int v = 0; v < g->n_varying; v++) {
        const char *key = g->at[g->varying[v]].key;
        if (strncmp(key, "model", 5) == 0 || strncmp(key, "data.", 5) == 0) return false; /* another table or model */
    }
    for (int i = 0; i < g->cells * g->repeats; i++) {
        *least = fmin(*least, r->at[i].fate == FINISHED ? r->at[i].weights : NAN);
        *most = fmax(*most, r->at[i].fate == FINISHED ? r->at[i].weights : NAN);
    }
    return *least < *most && grid_setting(g, 0, "data.schema") && !grid_setting(g, 0, "data.curves");
}

int remarks(const comparison *q, char (*out)[512], int cap)
{
    const int crashed = crashed_of(q->r);
    char rows[100];
    double least, most;
    int n = 0;
    snprintf(out[n++], 512,
             "Whoever sees these figures, or chooses by them, has seen all of the runs: the best of k runs costs k "
             "runs, and the certificate of one covers one.");
    const measured m = measured_on(q->r);
    if (m.own)
        snprintf(out[n++], 512,
                 "NOT PRIVATE: %s figures are computed on the training rows without noise. Do not publish them.",
                 m.held ? "some" : "the");
    if (m.held)
        snprintf(
            out[n++], 512,
            "Measured on %s held-out rows without noise: what is said about privacy is about the rows trained on, "
            "not about these.",
            rows_text(&m, rows));
    if (q->g->repeats > 1)
        snprintf(out[n++], 512,
                 "sd is over repeats on the same rows: it shows what noise and samples change, not what other rows "
                 "would.");
    if (q->s->tests && n < cap)
        snprintf(out[n++], 512,
                 "Tests are two-sided paired t-tests against the first line of each group, over repeats; p, Holm is "
                 "corrected for all %d tests of this table.",
                 q->s->tests);
    if (q->s->tests && n < cap)
        snprintf(out[n++], 512, "%s",
                 q->g->seeded
                     ? "Repeat r takes the same seed in every line: pairs share their seed."
                     : "Noise is fresh in every run: pairs share their number only, so pairing them gains "
                       "nothing over runs that are not paired; --seed gives pairs the same seed, NOT PRIVATE.");
    if (curves_differ(q->r, &least, &most) && n < cap)
        snprintf(out[n++], 512,
                 "These models have from %.0f to %.0f weights: some lines fit a curve for each number and others "
                 "straight lines, or curves of more knots. data.curves=off, or a number of knots, makes them alike.",
                 least, most);
    if (crashed && n < cap)
        snprintf(out[n++], 512, "%d run%s ended early and %s missing here; the same command tries again.", crashed,
                 crashed == 1 ? "" : "s", crashed == 1 ? "is" : "are");
    return n;
}

/* ---- JSON --------------------------------------------------------------------------------------------------- */

static void json_settings(const grid *g, int cell)
{
    for (int v = 0; v < g->n_varying; v++) {
        const int f = g->varying[v];
        json_text(g->at[f].key, grid_value(g, cell, f));
        fputs(", ", stdout);
    }
}

static void json_cell(const comparison *q, int k, int cell)
{
    const cellsum *c = sums_at(q->s, k, cell);
    fputs("{", stdout);
    json_settings(q->g, cell);
    printf("\"runs\": %d, ", c->runs);
    json_number("mean", c->mean), fputs(", ", stdout);
    json_number("sd", c->sd);
    if (c->runs == 0 && q->r->why[cell]) fputs(", ", stdout), json_text(cell_fate(q->r, cell), q->r->why[cell]);
    if (k < QUALITIES && cell != sums_base(q->g, cell)) {
        printf(", \"pairs\": %d, ", c->pairs);
        json_number("difference", c->difference), fputs(", ", stdout);
        json_number("t", c->t), fputs(", ", stdout);
        json_number("p", c->p), fputs(", ", stdout);
        json_number("p_holm", c->holm);
    }
    fputs("}", stdout);
}

static void json_together(const together *t)
{
    char words[1200];
    together_words(t, words, sizeof words);
    printf("  \"together\": {\"runs\": %d, \"not_private\": %d, \"unfinished\": %d, \"not_accounted\": %d, ", t->runs,
           t->not_private, t->unfinished, t->unknown);
    json_number("epsilon", t->not_private ? (double)NAN : t->epsilon), fputs(", ", stdout);
    json_number("delta", t->not_private ? (double)NAN : t->delta), fputs(", ", stdout);
    json_number("delta_draws", t->draws), fputs(", ", stdout);
    json_text("relation", t->relation), fputs(", ", stdout);
    json_text("words", words);
    fputs("}", stdout);
}

void table_json(const comparison *q)
{
    char said[8][512];
    const int n = remarks(q, said, 8);
    bool first = true;
    printf("{\n  "), json_text("out", q->g->out);
    if (!runs_private(q->r)) printf(",\n  "), json_text("warning", "NOT PRIVATE");
    printf(
        ",\n  \"cells\": %d,\n  \"repeats\": %d,\n  \"runs_now\": %d,\n  \"runs_crashed\": %d,\n  \"tests\": %d,\n",
        q->g->cells, q->g->repeats, q->r->now, crashed_of(q->r), q->s->tests);
    fputs("  \"measures\": {", stdout);
    for (int k = 0; k < MEASURES; k++) {
        if (!q->s->there[k]) continue;
        printf("%s\n    \"%s\": [", first ? "" : ",", measures[k].key);
        first = false;
        for (int i = 0; i < q->g->cells; i++) fputs(i ? ",\n      " : "\n      ", stdout), json_cell(q, k, i);
        fputs("\n    ]", stdout);
    }
    fputs("\n  },\n", stdout);
    json_together(q->t);
    fputs(",\n  \"remarks\": [", stdout);
    for (int i = 0; i < n; i++) fputs(i ? ",\n    " : "\n    ", stdout), json_text(NULL, said[i]);
    puts("\n  ]\n}");
}

/* ---- CSV: one line for every run and measure ---------------------------------------------------------------- */

char *table_csv(const comparison *q)
{
    char *text;
    size_t len;
    const grid *g = q->g;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    for (int v = 0; v < g->n_varying; v++) csv_text(f, g->at[g->varying[v]].key), fputc(',', f);
    fputs("repeat,private,measure,value\n", f);
    for (int i = 0; i < g->cells * g->repeats; i++) {
        const run *x = &q->r->at[i];
        for (int k = 0; k < MEASURES && x->fate == FINISHED; k++) {
            if (isnan(x->m[k])) continue;
            for (int v = 0; v < g->n_varying; v++)
                csv_text(f, grid_value(g, i / g->repeats, g->varying[v])), fputc(',', f);
            fprintf(f, "%d,%s,%s,%.15g\n", i % g->repeats + 1, x->private && !x->own_rows ? "yes" : "no",
                    measures[k].key, x->m[k]);
        }
    }
    if (fclose(f) != 0) abort();
    return text;
}
