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
       OPT_TREE = 65536u,    /* works on a source tree */
       OPT_TRAIN = 131072u,  /* train alone */
       OPT_BOUNDS = 262144u, /* plan alone */
       OPT_EVAL = 524288u,   /* eval alone */
       OPT_EXPLAIN = 1048576u,
       OPT_SCHEMA = 2097152u,
       OPT_PREDICT = 4194304u, /* predict alone */
       OPT_SHOW = 8388608u,
       OPT_DECIDE = 16777216u /* predicts one of two classes */
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
    const char *out, *certificate, *config, *dump_config, *format, *measures, *evaluation, *by, *eval_epsilon;
    const char *keep;
    bool json, quiet, help, exact, bounds, append;
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
int cmd_explain(cli *c);
int cmd_schema(cli *c);
pv_status write_schema_page(pv_ctx *ctx, const char *path, const char *json); /* schema_page.c */
int cmd_show(cli *c);
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

/* ---- topics (topics.c) ------------------------------------------------------------------------ */
typedef struct topic {
    const char *name, *summary, *text; /* text: Markdown */
} topic;
extern const topic cli_topics[]; /* name NULL ends it */
const topic *find_topic(const char *name);
void print_topic(const topic *t);
void plain_line(const char *s, size_t len, char *out, size_t cap);
bool plain_cells(const char *line, char *out, size_t cap);

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
int read_text(const char *path, char **text, size_t *len); /* settings; free() it; exit code */
int read_text_of(const char *path, size_t limit, const char *what, char **text, size_t *len);
int check_writable(const char *path); /* before anything is spent; exit code */
/* Whether a file that is there may be written over: it has `mark` near its beginning, so the same command made it.
 * Otherwise EXIT_USAGE, and `advice` ends the message. */
int check_own(const char *path, const char *mark, const char *advice);
void csv_text(FILE *f, const char *s); /* a cell: in quotes where it needs them */

/* ---- settings shared by train and plan (apply.c) ----------------------------------------------------- */
pv_status date_issue(const cli *c, pv_plan *plan);
int make_plan(cli *c, const char *data, pv_plan **out);
int open_model(cli *c, pv_model **out); /* the first word, with the settings given; warns if NOT PRIVATE */
int dump_settings(cli *c, pv_plan *plan);

/* ---- JSON written by the library, read for display (json_view.c) ----------------------------------------- */
typedef struct jv { /* a slice of valid JSON text; p NULL: absent */
    const char *p;
} jv;
typedef struct jv_iter {
    jv key, value; /* key.p NULL in an array */
    const char *at;
} jv_iter;
jv jv_get(jv v, const char *path); /* "a/b/c": keys may contain dots */
size_t jv_size(jv v);              /* bytes of the value as it stands in the text */
jv_iter jv_begin(jv v);
bool jv_next(jv_iter *it);
double jv_num(jv v); /* NAN if it is not a number; "inf" is */
bool jv_true(jv v);
const char *jv_str(jv v, char *buf, size_t cap); /* unescaped, or the token; "" when absent */

char *jv_text(jv object, const char *key); /* the JSON of a value as it stands, free() it; "" when absent */

/* ---- what several runs cost together (ledger.c) ------------------------------------------------------------ */
typedef struct ledger_entry {
    char *events; /* owned: as text */
    long count;
} ledger_entry;
typedef struct ledger { /* .covered = INFINITY to begin with */
    ledger_entry *at;   /* owned */
    int n;
    double delta, draws, covered; /* the largest delta; shares for draws, and up to which epsilon they are enough */
    bool persons, rows;           /* that runs protect */
} ledger;
typedef struct ledger_run { /* one of them, or several alike */
    long times;
    double delta, draws, covered;
    bool person;
} ledger_run;
bool events_private(jv events);
int ledger_add(ledger *l, jv object, const char *key, const ledger_run *run); /* events are object's key; its entry */
void ledger_ask(const ledger *l, FILE *f, const char *relation,
                double delta); /* members of a request to pv_account */
void ledger_free(ledger *l);
int account_files(cli *c); /* account_files.c: of the words, which name models or certificates */

/* ---- questions about events (request.c, curve_svg.c) ---------------------------------------------------- */
char *make_request(const cli *c, const char *mechanism);  /* free() it; mechanism when none is named */
const char *setting_value(const cli *c, const char *key); /* the last one given; NULL: none */
char *curve_svg(jv curve);                                /* free() it */
char *epochs_svg(jv epochs);                              /* free() it */
/* Of what run.log wrote, for the model with these weights; free() it. */
int measures_svg(const char *path, const char *weights_digest, char **svg);
void draw_delta(FILE *f, jv curve, double x, double y); /* one panel each, at a place of the picture */
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
void plot_zero(const plot *p);
void plot_noise(const plot *p, double sd);
void plot_diagonal(const plot *p, bool falling);
void plot_text(const plot *p, double x, double y, const char *anchor, const char *text);
void plot_close(const plot *p);

/* ---- what columns add to a score (effects_svg.c, effects_page.c): of pv_model_curves and pv_model_explain ------ */
enum { EFFECT_CLASSES = 6 };                              /* no more are drawn */
const char *effect_at(bool date, double v, char out[40]); /* a value of a number or a date */
void draw_effect(FILE *f, jv effects, jv column);
char *effects_svg(jv effects); /* free() it */
char *parts_svg(jv parts);     /* free() it */
void effects_page(FILE *f, jv effects);
void effect_words(jv effects, jv column, char *out, size_t cap); /* what a curve does, for people */
const char *score_words(jv effects, char *out, size_t cap);      /* log odds of "yes" */

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
    jv certificate, verification, curve, metrics, schema, effects;
    const pv_model *model;
    jv evaluation;                      /* what verify says of the certificate of one */
    const char *model_file, *data_file; /* without folders: a page is passed on */
    const char *measures;               /* curves along the run as SVG; NULL: none */
    bool exact;                         /* show figures of the rows as they are, not rounded */
} findings;
char *report_html(const findings *r);   /* free() it */
void registry_entry(const findings *r); /* on stdout (registry_entry.c) */
void html_begin(FILE *f, const char *kind, const char *what);
void html_put(FILE *f, const char *text);          /* escaped */
void html_value(FILE *f, jv v);                    /* a string, number or word, escaped; nothing when absent */
void figures(FILE *f, const findings *r);          /* figures.c: how good on labelled rows */
void released_figures(FILE *f, const findings *r); /* the same, from an evaluation that was released */
void figures_json(const findings *r);              /* the same numbers as one JSON object on stdout, or null */

/* ---- results for people (show.c) ------------------------------------------------------------------------ */
void row(const char *label, const char *fmt, ...) CLI_PRINTF(2, 3); /* aligned pair on stdout */
void paragraph(const char *label, const char *text);                /* the same, wrapped       */
const char *with_commas(double x, char out[40]);
const char *cost_text(double x, char out[40]); /* rounded up */
void print_json(const char *json);
void print_pairs(const char *const *pairs); /* key, text, key, text, NULL as one JSON object */
void json_text(const char *key,
               const char *text); /* "key": "text" of an object; key NULL: the text alone; text NULL: null */
void json_number(const char *key, double x); /* the same; null unless it is finite */
/* "people" or "groups" of a plan's cost or a verification: epsilon for somebody with several rows, or for several
 * persons; empty where there is none. */
const char *people_words(jv people, char *out, size_t cap);
/* answers.c: what an officer asks of a verified certificate, question by question, with a label for the screen */
typedef void (*answer_fn)(void *user, const char *label, const char *question, const char *text);
void answers(jv v, answer_fn fn, void *user);
void show_counted(jv v);  /* rows, if they were counted with noise    */
void show_run(jv v);      /* a plan's cost or a run's summary              */
void show_strength(jv v); /* what its epsilon and delta mean               */
void show_metrics(jv v);  /* cmd_eval.c                                    */
void show_confusion(jv v);
/* noisy_figures.c: figures released with noise */
bool of_budget(const char *key); /* a setting of what a release may cost */
bool has_budget(const cli *c);
void show_noisy(jv v);
/* Of the rows of `path`, or of those that the run held out.  json: goes there instead of the screen, unless NULL. */
int evaluate(cli *c, pv_model *m, const pv_result *of, const char *path, const pv_plan *budget,
             const char *certificate, char **json);
int eval_private(cli *c, pv_model *m);
void show_evaluation(jv v, const char *certificate); /* NULL: none was written */
int show_settings(cli *c, const char *prefix);       /* cmd_list.c: the keys that start so; NULL: all */
void setting_range(jv p, char out[96]);
const char *setting_default(jv p, char *out, size_t cap);
#endif
