/* repro.h - what the reproductions share: tables of items, their points, and where things lie.
 *
 * An item is a table or figure of a paper.  Its sweeps are grids: lines x values of x x runs.  Each point of a grid
 * is one training run (or one plan, or one computation, or a measure along a run) whose settings are texts with three
 * notations,
 *   @        the value of x;  @*235: that many times;  @*0.5+1: and 1 more
 *   {a|b}    a with --quick, b otherwise
 *   DATA/, RESULTS/ at the start of a path: the folder of data sets, the folder of results
 * so that the settings in a table, the command printed and the task that runs.h does come from the same text. */
#ifndef PRIVET_REPRO_H
#define PRIVET_REPRO_H
#include "runs/runs.h"

typedef enum measure { /* of a point; their names are in repro_sum.c */
                       M_VALUE,
                       M_ACCURACY,
                       M_LOG_LOSS,
                       M_OBJECTIVE,
                       M_GRADIENT,
                       M_EPSILON,
                       M_SECONDS,
                       MEASURES
} measure;

typedef struct record { /* what one run gave; NAN: not measured */
    int sweep, line, run, n_curve;
    int task; /* that trains it; -1: planned or computed */
    double x, m[MEASURES];
    double *curve_x, *curve_y; /* owned */
    char *command;             /* owned */
} record;

typedef struct line { /* label NULL ends a list */
    const char *label, *settings;
    const char *data; /* instead of the sweep's; NULL: the sweep's  */
    bool level;       /* one point, whatever x is, drawn as a level */
} line;

typedef struct sweep { /* name NULL ends a list */
    const char *name, *data, *settings;
    const char *xs; /* numbers; NULL: one point without x, drawn as a level or as its curve */
    const line *lines;
    int (*compute)(cli *c, const char *settings, record *r); /* exit code; NULL: planned or trained */
} sweep;

enum {
    LOG_X = 1u,
    LOG_Y = 2u,
    CURVE = 4u,
    TIME = 8u,
    GAP = 16u,
    PERCENT = 32u,
    NO_LEVELS = 64u,
    ONLY_X = 128u,
    BY_EPSILON = 256u,
    FINITE = 512u
};
typedef struct panel { /* title NULL ends a list */
    const char *title, *sweep, *below, *beside;
    measure y;
    unsigned flags; /* CURVE: along each run; TIME: in seconds; GAP: above the lowest of all; ONLY_X: x = at;
                     * BY_EPSILON: against it; FINITE: without what has no guarantee */
    double at;
} panel;

typedef struct printed { /* a number the paper prints; line NULL ends a list */
    int panel;
    const char *line;
    double x, value, spread;
} printed;

typedef struct records {
    record *at;
    int n;
} records;

typedef struct item {
    const char *name, *paper, *figure, *shows;
    const char *taken; /* what the paper leaves open, and what was taken here */
    const char *why;   /* one sentence: why our numbers differ from the paper's */
    const char *common;
    const char *quick_data; /* with --quick, of a set of this name before the colon; NULL: the set itself */
    const char *curve;      /* the diagnostic recorded along a run; NULL: none */
    const sweep *sweeps;
    const panel *panels;
    const printed *printed; /* NULL: the paper prints no number */
    const char *plan;       /* path into the plan's JSON: nothing is trained; NULL: trained */
    int runs[2];            /* quick, otherwise */
    double seconds[2];      /* of one run, about */
    bool full;              /* at the paper's sizes with --full only: hours */
} item;

extern const item repro_prgd[], repro_tr[], repro_sbcd[], repro_erm[], repro_ls[]; /* name NULL ends each */
const item *repro_item(int i);                                                     /* NULL past the last */
const item *repro_find(const char *name);
const char *item_data(const item *it, const sweep *s, const line *l, bool quick); /* NULL: none is needed */

/* ---- where, and how much (cmd_reproduce.c) ------------------------------------------------------------------ */
typedef struct place {
    const char *out;  /* folder of results */
    int jobs;         /* runs at the same time; 0: one for each core */
    const char *data; /* folder of data sets; NULL: there is none */
    bool quick, full;
    int runs;  /* 0: the item's own */
    long seed; /* of run 1; 0: noise from the operating system, as in any other run */
} place;
int item_runs(const item *it, const place *p);
double item_minutes(const item *it, bool quick); /* of two cores, about */

/* ---- settings (repro_words.c) ------------------------------------------------------------------------------- */
char *repro_expand(const char *text, bool quick, double x); /* free() it; NULL text: "" */
char *repro_path(const place *p, const char *text);         /* free() it */
/* Steps from one measure to the next where all points of a line are measures along its longest run: where its
 * settings have run.every, and x counts so many steps.  0: every point has a run. */
int repro_along(const item *it, const record *r);
double repro_longest(const sweep *s, bool quick);                      /* the largest x; NAN: there is none */
int repro_numbers(const char *text, bool quick, double *out, int cap); /* how many; text NULL: one NAN */

/* ---- data sets (repro_data.c) ------------------------------------------------------------------------------- */
typedef struct source {
    char train[256], test[256], settings[256]; /* DATA/... and RESULTS/...; test empty: the training rows */
} source;
void data_find(place *p);
double repro_normal(uint64_t *seed); /* the same on every machine; for tables, never for privacy */
int data_open(cli *c, const place *p, const char *name, source *out); /* exit code; makes what must be made */
bool data_there(const place *p, const char *name);
const char *data_wanted(const char *name); /* what to get, and where to put it */

/* ---- runs (repro_run.c) ------------------------------------------------------------------------------------- */
int run_prepare(cli *c, const item *it, const place *p, record *r); /* its data and its command; exit code */
bool run_trains(const item *it, const record *r);                   /* or is it planned or computed? */
task run_task(const item *it, const place *p, const record *r);     /* of one that trains */
int run_take(cli *c, const item *it, record *r, const char *text);  /* measures from the record of its task */
int run_compute(cli *c, const item *it, const place *p, record *r); /* of one that does not train; exit codes */
void record_clear(record *r);

/* ---- results (repro_sum.c, chart.c) ------------------------------------------------------------------------- */
typedef struct point {
    int panel, runs;
    char line[80];
    double x, mean, spread, paper, paper_spread; /* NAN: none */
} point;
enum { POINTS_MAX = 256 };
typedef struct summary {
    point *at; /* owned */
    int n;
    bool quick;
    long seed; /* of run 1; 0: none */
} summary;
summary summarize(const item *it, const records *all, const place *p);
/* CSV of points and of runs, SVG, commands; exit code */
int summary_write(cli *c, const item *it, const place *p, const summary *s, const records *all);
bool summary_read(const item *it, const char *folder, summary *out);
void summary_free(summary *s);
int panel_height(const item *it, int k);
void panel_draw(FILE *f, const item *it, int k, const summary *s, double x, double y);

/* ---- all results as a page (repro_page.c) ------------------------------------------------------------------- */
int results_page(cli *c, const char *folder, const char *out, bool markdown);
#endif
