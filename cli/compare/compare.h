/* compare.h - what the files of `privet compare` share: the grid of settings, its runs, what they give.
 *
 * A factor is a setting with its values; one with several varies.  A cell is one choice for every factor, and has as
 * many runs as there are repeats.  Cells come in groups: within a group only the first setting that varies differs
 * (with --pairs there is one group), and its first cell is what the others are tested against. */
#ifndef PRIVET_COMPARE_H
#define PRIVET_COMPARE_H
#include "runs/runs.h"

typedef struct factor {
    char *key, **values; /* owned */
    int n;
} factor;

enum { RUNS_MAX = 10000, DRAWN_MAX = 400 }; /* cells that are drawn */
typedef struct grid {
    factor *at; /* owned, in the order given */
    int n;
    int *varying, n_varying; /* owned: which of them */
    int cells, width;        /* in all, in a group */
    int repeats, jobs;
    bool pairs, fresh, many;
    bool seeded; /* repeat r takes seed + r - 1 */
    long seed;
    char *holdout, *out; /* owned; holdout NULL: the training rows */
} grid;
int grid_make(cli *c, grid *g); /* from the command line and --config; exit code */
void grid_free(grid *g);
const char *grid_value(const grid *g, int cell, int f); /* of factor f */
const char *grid_setting(const grid *g, int cell, const char *key);
void grid_label(const grid *g, int cell, int without, char *out, size_t cap); /* values that vary, but one; -1: all */
const char *grid_word(const char *key);                                       /* its last word */
bool grid_numeric(const factor *f);
int grid_file(cli *c, const grid *g); /* OUT/compare.json: the same question again; exit code */

/* ---- runs (compare_run.c) -------------------------------------------------------------------- */
enum { MEASURES = 9, QUALITIES = 6 }; /* the first so many say how good a model is */
typedef struct measure {
    const char *key, *label;
    int better; /* 1: more is better, -1: less */
} measure;
extern const measure measures[MEASURES]; /* compare_sum.c */

typedef struct run {
    fate fate;
    double m[MEASURES]; /* NAN: not measured */
    bool private, own_rows;
    double rows;    /* measured on */
    double weights; /* of the model; NAN: not recorded */
} run;
typedef struct runs {
    const grid *g;
    run *at;    /* owned: [cell * repeats + repeat] */
    char **why; /* owned, of a cell: why there is nothing; NULL: there is something, or nothing to say */
    int code;   /* of the first refusal */
    int now, crashed;
} runs;
int runs_do(cli *c, runs *r);                   /* exit code */
const char *cell_fate(const runs *r, int cell); /* a word for a cell without a result */
void runs_free(runs *r);

/* ---- sums (compare_sum.c) --------------------------------------------------------------------------- */
typedef struct cellsum { /* NAN: there is none */
    int runs, pairs;
    double mean, sd;
    double difference, t, p, holm; /* against the first cell of the group */
} cellsum;
typedef struct sums {
    const runs *r;
    cellsum *at; /* owned: [measure * cells + cell] */
    bool there[MEASURES];
    int tests;
} sums;
void sums_make(const runs *r, sums *s);
void sums_free(sums *s);
bool runs_private(const runs *r); /* all of them, and not measured on the rows they were trained on */
const cellsum *sums_at(const sums *s, int k, int cell);
int sums_base(const grid *g, int cell);

/* ---- what all runs cost together (compare_cost.c) ----------------------------------------------------------- */
typedef struct together {
    int runs, not_private, unfinished, unknown;
    int other_relation;           /* runs without events for the relation of the sum */
    const char *relation;         /* of the sum */
    bool persons;                 /* are protected, not rows */
    double epsilon, delta, draws; /* NAN: not accounted for */
    bool ideal;                   /* draws are taken as ideal */
    char accountant[32], strength[32], colour[16], why[400];
} together;
void together_make(cli *c, const grid *g, together *t);
void together_words(const together *t, char *out, size_t cap); /* one sentence or two */

/* ---- files (compare_table.c, compare_chart.c, compare_page.c) ----------------------------------------------- */
typedef struct comparison {
    cli *c;
    const grid *g;
    const runs *r;
    const sums *s;
    const together *t;
} comparison;
enum { COLUMNS = 8, COSTS = 4, CELL = 64 };
extern const char *const table_heads[COLUMNS];
void table_row(const sums *s, int k, int cell, char out[COLUMNS][CELL]); /* of a quality */
extern const char *const cost_heads[COSTS];
void cost_row(const sums *s, int cell, char out[COSTS][CELL]);
void table_text(FILE *f, const comparison *q);
void table_json(const comparison *q);
char *table_csv(const comparison *q);                        /* free() it */
int remarks(const comparison *q, char (*out)[512], int cap); /* what must be said of the numbers; how many */
void chart_draw(FILE *f, const sums *s, int k, double x, double y);
int chart_height(const sums *s, int k);
char *compare_html(const comparison *q); /* free() it */
#endif
