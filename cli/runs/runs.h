/* runs.h - runs that are done several at a time and recorded: what `privet compare` and `privet reproduce` share.
 *
 * A task is one run: its settings, the rows to measure on, its repeat or seed.  It is known by a key (task.c), done
 * in a process of its own (pool.c, cmd_run.c) and recorded in OUT/runs/NAME.json, so that the same question goes on
 * where an interrupted one stopped. */
#ifndef PRIVET_RUNS_H
#define PRIVET_RUNS_H
#include "cli.h"

#include <math.h>

enum { NAME_SIZE = 40 };
typedef enum fate { NOT_YET, FINISHED, REFUSED, CRASHED } fate;
typedef struct task {
    setting *settings; /* owned, and the texts in it: each key once, neither run.seed nor run.threads */
    int n_settings;
    char *test;        /* owned: rows to measure on; NULL: those trained on; empty: the run measures by itself */
    char *certificate; /* owned: the file it goes to; NULL: OUT/certificates/NAME.json */
    bool seeded;
    long seed;                  /* of this run, if seeded */
    int repeat;                 /* from 1 */
    int group;                  /* what is refused for one task of a group is for all */
    char *key, name[NAME_SIZE]; /* task_identify */
    fate fate;
    int code;           /* of a refusal */
    char *why, *record; /* owned: of what is not finished; the text of the record of what is */
} task;
void task_set(task *t, const char *key, const char *value); /* the last value counts */
const char *task_get(const task *t, const char *key);       /* NULL: not set */
void task_identify(task *t);
void task_free(task *t);

/* ---- records (task.c, cmd_run.c) ---------------------------------------------------------------------------- */
char run_key_char(char c);                                             /* of the key, as a record has it */
char *run_path(const char *out, const char *name, const char *ending); /* free() it */
/* Is it a whole record, and that of this run?  key NULL: of any.  free() the text. */
bool record_read(cli *c, const char *path, const char *key, char **text);
bool json_valid(cli *c, const char *text, size_t len, const char *name);

/* ---- doing them (pool.c) ------------------------------------------------------------------------------------- */
typedef struct pool {
    cli *c;
    const char *out;
    task *at;    /* in the order in which they are done */
    int n, jobs; /* jobs 0: one for each core */
    bool warn;   /* pass the warnings of runs on, each once */
    void (*progress)(void *user, int done, int pending);
    void *user;
    int now, crashed;
} pool;
int pool_open(const char *out); /* the folder, and a lock that lasts as long as the process; exit code */
int pool_pending(cli *c, const char *out, task *at, int n); /* finds what is recorded; how many are not */
int pool_do(pool *p);                                       /* exit code */
double wall_clock(void);                                    /* seconds */

/* ---- one run (runner.c) --------------------------------------------------------------------------------------- */
typedef struct outcome { /* NULL: the run did not get so far */
    char *summary, *metrics, *certificate;
    double seconds; /* of the processor, from the first step of training to the last */
} outcome;
/* Trains, and measures on the rows of `test`, unless it is empty. */
pv_status run_measured(pv_plan *plan, const char *test, outcome *out);
void outcome_free(cli *c, outcome *out);
bool runner_progress(const char *what); /* for callbacks of progress: keeps the time; true once, as training begins */

/* ---- what many gave (sample.c) -------------------------------------------------------------------------------- */
typedef struct sample { /* values that are added one at a time */
    int n;
    double first, sum, squares;
} sample;
void sample_add(sample *s, double v);
double sample_mean(const sample *s);   /* NAN: there is none */
double sample_sd(const sample *s);     /* NAN: of less than two */
double student_p(double t, double df); /* two-sided */
void holm(double *p, int n);           /* corrects them in place, in any order */
#endif
