/* cli.h - what the files of the command share.  Only the public headers of the library are used here. */
#ifndef PRIVET_CLI_H
#define PRIVET_CLI_H
#include <stdbool.h>
#include <stdio.h>

#include "privet.h"

#define CLI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Exit codes, also in the man page.  A signal ends the process as that signal does (130, 143). */
enum { EXIT_DONE = 0, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_BUDGET = 4, EXIT_INTERNAL = 5, EXIT_MISSING = 6 };

/* ---- options (args.c) ------------------------------------------------------------------- */
enum {                /* which commands know an option */
       OPT_PLAN = 1u, /* train, plan: every setting                              */
       OPT_DATA = 2u, /* anything that reads rows                                */
       OPT_OUT = 4u,  /* writes a file                                           */
       OPT_CERT = 8u, /* can write the certificate as a file of its own          */
       OPT_JSON = 16u,
       OPT_QUIET = 32u,
       OPT_ALWAYS = 64u,
       OPT_ACCT = 128u, /* questions about events: account, calibrate, curve       */
       OPT_DRAW = 256u,
       OPT_FORMAT = 512u, /* writes a model in a format of other programs           */
       OPT_SYNTH = 1024u, /* takes settings of its own */
       OPT_REPRO = 2048u,
       OPT_PAGE = 4096u,   /* writes a page */
       OPT_COST = 8192u,   /* account, calibrate: a budget                           */
       OPT_GROUP = 16384u, /* account alone                                          */
       OPT_COMPARE = 32768u,
       OPT_TREE = 65536u /* works on a source tree */
};
typedef struct option {
    const char *name;
    const char *key;  /* the setting it is short for; NULL: an option of the command itself      */
    const char *word; /* what the value is called in the help; NULL: a flag                      */
    const char *help;
    unsigned groups;
} option;
extern const option cli_options[]; /* name NULL ends it */

typedef struct setting {
    const char *key, *value;
} setting;
typedef struct args {   /* everything borrowed from argv, but the arrays */
    const char **words; /* owned: positional arguments */
    int n_words;
    setting *settings; /* owned: in the order given */
    int n_settings;
    const char *out, *certificate, *config, *dump_config, *format;
    bool json, quiet, help, exact;
} args;

/* ---- commands (main.c) --------------------------------------------------------------------- */
typedef struct command command;
typedef struct cli {
    pv_ctx *ctx;
    const char *program; /* as it was called */
    const command *cmd;
    args args;
    bool not_private; /* the model in use */
} cli;
struct command {
    const char *name;
    int (*run)(cli *c); /* returns the exit code */
    const char *words;  /* positional arguments, for the usage line */
    int min_words, max_words;
    unsigned groups;
    const char *help; /* one line; NULL: not shown */
};
extern const command cli_commands[]; /* name NULL ends it */
const command *find_command(const char *name);
int unknown_command(const char *name);

int cmd_train(cli *c);
int cmd_predict(cli *c);
int cmd_eval(cli *c);
int cmd_plan(cli *c);
int cmd_verify(cli *c);
int cmd_export(cli *c);
int cmd_list(cli *c);
int cmd_account(cli *c);
int cmd_calibrate(cli *c);
int cmd_curve(cli *c);
int cmd_synth(cli *c);
int cmd_report(cli *c);
int cmd_reproduce(cli *c);
int cmd_compare(cli *c);
int cmd_run(cli *c);
int cmd_new(cli *c);
int cmd_demo(cli *c);
int cmd_help(cli *c);
int cmd_man(cli *c);
int cmd_complete(cli *c);

int args_parse(const command *cmd, int argc, char **argv, args *out); /* EXIT_DONE or EXIT_USAGE, reported */
void args_free(args *a);
typedef const char *(*word_at)(const void *list, int i);             /* NULL past the end */
const char *nearest(const char *word, word_at at, const void *list); /* NULL: nothing near */

/* ---- reporting (report.c): one line `privet: ...` on stderr, and the exit code ---------------- */
int usage(const char *fmt, ...) CLI_PRINTF(1, 2);
int complain(int code, const char *fmt, ...) CLI_PRINTF(2, 3);
int fail(cli *c, pv_status s); /* the library's own message */
int flush_stdout(int code);    /* code, or EXIT_INPUT if the output could not be written */

/* Notes of the library go to stderr once the command has not failed (on a terminal: once training
 * begins): an error is one line. */
void notes_attach(cli *c);
void note(pv_level level, const char *fmt, ...) CLI_PRINTF(2, 3);
void notes_flush(void);

/* ---- help (help.c) -------------------------------------------------------------------------- */
int command_help(cli *c, const command *cmd);

/* ---- progress and signals (progress.c, signals.c) ----------------------------------------------- */
void progress_attach(cli *c);
void progress_clear(void);
void progress_show(const char *what, double part, double elapsed); /* of a bar of one's own */
typedef enum phase { PHASE_QUIET, PHASE_SPENDING, PHASE_KEPT } phase;
void signals_install(void);
void signals_context(pv_ctx *ctx); /* whose temporary files a signal removes; NULL: none are left */
void signals_phase(phase p);       /* what an interruption would mean now */

/* ---- files (files.c) -------------------------------------------------------------------------------- */
int read_text(const char *path, char **text, size_t *len); /* free() it; exit code */
int check_writable(const char *path);                      /* before anything is spent; exit code */
/* Whether a file that is there may be written over: it has `mark` near its beginning, so the same command made it.
 * Otherwise EXIT_USAGE, and `advice` ends the message. */
int check_own(const char *path, const char *mark, const char *advice);

/* ---- settings shared by train and plan (apply.c) ----------------------------------------------------- */
int make_plan(cli *c, const char *data, pv_plan **out);
int open_model(cli *c, pv_model **out); /* the first word, with the settings given; warns if NOT PRIVATE */
int dump_settings(cli *c, pv_plan *plan);

/* ---- one run, measured (runner.c): shared by compare and reproduce ------------------------------------- */
typedef struct outcome { /* NULL: the run did not get so far */
    char *summary, *metrics, *certificate;
    double seconds; /* of the processor, from the first step of training to the last */
} outcome;
/* Trains, and measures on the rows of `test`; `model` is a file for the meantime. */
pv_status run_measured(cli *c, pv_plan *plan, const char *test, const char *model, outcome *out);
void outcome_free(cli *c, outcome *out);
bool runner_progress(const char *what); /* for callbacks of progress: keeps the time; true once, as training begins */
double runner_clock(void);              /* processor seconds */

/* ---- JSON written by the library, read for display (json_view.c) ----------------------------------------- */
typedef struct jv { /* a slice of valid JSON text; p NULL: absent */
    const char *p;
} jv;
typedef struct jv_iter {
    jv key, value; /* key.p NULL in an array */
    const char *at;
} jv_iter;
jv jv_get(jv v, const char *path); /* "a/b/c": keys may contain dots */
jv_iter jv_begin(jv v);
bool jv_next(jv_iter *it);
double jv_num(jv v); /* NAN if it is not a number; "inf" is */
bool jv_true(jv v);
const char *jv_str(jv v, char *buf, size_t cap); /* unescaped, or the token; "" when absent */

/* ---- questions about events (request.c, curve_svg.c) ---------------------------------------------------- */
char *make_request(const cli *c, const char *mechanism);  /* free() it; mechanism when none is named */
const char *setting_value(const cli *c, const char *key); /* the last one given; NULL: none */
char *curve_svg(jv curve);                                /* free() it */
char *epochs_svg(jv epochs);                              /* free() it */
void draw_delta(FILE *f, jv curve, double x, double y);   /* one panel each, at a place of the picture */
void draw_tests(FILE *f, jv curve, double x, double y);

/* ---- plots (plot.c): open, marks, lines, close ----------------------------------------------------------- */
typedef struct plot {
    FILE *f;
    double x0, x1, y0, y1;              /* ranges of the axes; larger y are cut, smaller ones left out */
    const char *title, *below, *beside; /* what the axes are; plain words, no markup                   */
    int rows;                           /* of the legend below                                         */
} plot;
extern const int plot_width, plot_height, plot_key_height;
void plot_open(const plot *p, double x, double y);
void plot_mark_x(const plot *p, double x, const char *fmt);
void plot_mark_y(const plot *p, double y, const char *fmt);
double plot_step(double range);
void plot_line(const plot *p, const double *x, const double *y, int n, int series);
void plot_area(const plot *p, const double *x, const double *y, int n);
void plot_dot(const plot *p, double x, double y, double radius, int series);
void plot_bar(const plot *p, double x, double y0, double y1, int series); /* spread */
void plot_cross(const plot *p, double x, double y, int series);
void plot_diamond(const plot *p, double x, double y, int series);
void plot_key(const plot *p, int row, bool right, int series, const char *label);
void plot_key_cross(const plot *p, int row, bool right, const char *label);
void plot_key_diamond(const plot *p, int row, bool right, const char *label);
void plot_diagonal(const plot *p, bool falling);
void plot_text(const plot *p, double x, double y, const char *anchor, const char *text);
void plot_close(const plot *p);

/* ---- axes (axis.c): widen by every value, settle, mark ---------------------------------------------------- */
typedef struct axis {
    double lo, hi; /* INFINITY, -INFINITY to begin with; of a logarithmic one in log10 */
    bool log;
} axis;
double axis_at(const axis *a, double v); /* where a value is drawn */
void axis_widen(axis *a, double v);
void axis_settle(axis *a, double air);
typedef void (*axis_marker)(const plot *p, double v, const char *fmt);
void axis_mark(const plot *p, const axis *a, axis_marker mark_at);

/* ---- report (html.c, figures.c) -------------------------------------------------------------------------------- */
typedef struct findings { /* what a report is made of; p NULL: not there */
    jv certificate, verification, curve, metrics, schema;
    const char *model_file, *data_file; /* without folders: a page is passed on */
    bool exact;                         /* show figures of the rows as they are, not rounded */
} findings;
char *report_html(const findings *r); /* free() it */
void html_begin(FILE *f, const char *kind, const char *what);
void html_put(FILE *f, const char *text); /* escaped */
void html_value(FILE *f, jv v);           /* a string, number or word, escaped; nothing when absent */
void figures(FILE *f, const findings *r); /* figures.c: how good on labelled rows */
void figures_json(const findings *r);     /* the same numbers as one JSON object on stdout, or null */

/* ---- results for people (show.c) ------------------------------------------------------------------------ */
void row(const char *label, const char *fmt, ...) CLI_PRINTF(2, 3); /* aligned pair on stdout */
void paragraph(const char *label, const char *text);                /* the same, wrapped       */
const char *with_commas(double x, char out[40]);
const char *cost_text(double x, char out[40]); /* rounded up */
void print_json(const char *json);
void print_pairs(const char *const *pairs); /* key, text, key, text, NULL as one JSON object */
void json_text(const char *key,
               const char *text); /* "key": "text" of an object; key NULL: the text alone; text NULL: null */
void json_number(const char *key, double x);   /* the same; null unless it is finite */
void show_run(jv v);                           /* a plan's cost or a run's summary              */
void show_strength(jv v);                      /* what its epsilon and delta mean               */
void show_metrics(jv v);                       /* cmd_eval.c                                    */
int show_settings(cli *c, const char *prefix); /* cmd_list.c: the keys that start so; NULL: all */
void setting_range(jv p, char out[96]);
const char *setting_default(jv p, char *out, size_t cap);
#endif
