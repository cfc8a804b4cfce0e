/* privet.h - differentially private empirical risk minimisation: public API.
 *
 *   pv_ctx *ctx;  pv_plan *plan;  pv_result *res;
 *   pv_ctx_create(NULL, &ctx);
 *   pv_plan_create(ctx, &plan);
 *   pv_plan_set(plan, "data.path", "adult.csv");       any key `privet list` shows
 *   pv_plan_set(plan, "optimizer", "pgd");
 *   pv_plan_set(plan, "optimizer.steps", "500");
 *   pv_plan_set(plan, "budget.epsilon", "1.0");
 *   if (pv_plan_run(plan, &res) != PV_OK) puts(pv_ctx_errmsg(ctx));
 *
 * CALLS     Inputs are borrowed until a call returns.  On failure each `out` pointer is NULL, a number that is
 *   asked for is 0, an epsilon INFINITY and its delta 1, nothing leaks, and pv_ctx_errmsg says why.  A handle that is
 *   NULL is PV_E_ARG without a message, since there is no context to hold it.  Strings handed out as `char **json`
 *   belong to the caller: pv_string_free.
 * HOST      The library never prints, never touches the umask, signals or the environment, of which it reads
 *   PRIVET_HOME and HOME (see data.key_path), and keeps no state outside of handles: two contexts know nothing of
 *   each other.  A call computes in the default floating-point environment and in the locale "C" of its thread, and
 *   puts back the caller's; numbers are read and written alike under every locale.  setlocale is never called.
 * ENDING    The process is ended (one line on stderr, then abort) where carrying on could release data or works on
 *   freed memory, and nowhere else: a handle that was freed before or is of another kind (best effort: a magic word
 *   in it, until its memory is used again); the floating-point environment cannot be set; the operating system
 *   gives a child no randomness in the middle of a run; a check before a release is false, which is a bug in the
 *   library or a plug-in (bounds of clipping and rows, sensitivity, noise, sampling rate, a sum or score that is no
 *   number, a release that was not planned).
 * FREEING   `_free` takes NULL.  Results, models and data live on their own; free them, and strings, before their
 *   context.  pv_ctx_free before them logs a warning and takes effect with the last of them.
 * THREADS   A context and all that was made from it belong to one thread at a time; contexts of different threads
 *   do not get in each other's way.  A call starts threads of its own (run.threads), for which the host's callbacks
 *   and allocator are never called: callbacks run on the thread that made the call, before it returns.  They run in
 *   the default floating-point environment and the locale "C"; what they change of either is set back behind them (an
 *   allocator leaves both alone).  A callback makes no call on the context it belongs
 *   to but pv_ctx_errmsg, and no C++ exception and no longjmp may leave it: catch what is thrown, return false,
 *   throw again behind the call.
 * FORK      A child may use its parent's handles if no other thread was inside a call on them at the fork, also
 *   behind a callback that forked; it starts threads of its own and never draws its parent's noise (but with
 *   run.seed, which is for tests).
 * STACK     64 KiB of stack are enough for every call.
 * FILES     What is written appears under its name complete or not at all (PATH.tmp.xxxxxx until then). */
#ifndef PRIVET_H
#define PRIVET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PV_API  __attribute__((visibility("default")))
#define PV_MUST PV_API __attribute__((warn_unused_result))
#else
#define PV_API
#define PV_MUST
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PV_VERSION        "0.1.0"
#define PV_VERSION_MAJOR  0
#define PV_VERSION_MINOR  1
#define PV_VERSION_PATCH  0
#define PV_VERSION_NUMBER (PV_VERSION_MAJOR * 10000 + PV_VERSION_MINOR * 100 + PV_VERSION_PATCH)
PV_API const char *pv_version(void); /* of the library actually linked */
PV_API int pv_version_number(void);  /* the same as PV_VERSION_NUMBER      */

/* Could the call do its job?  Values are pinned: never renumbered, never reused. */
typedef enum pv_status {
    PV_OK = 0,
    PV_DONE = 1,           /* iteration finished; not an error                */
    PV_E_ARG = 10,         /* caller: bad argument                            */
    PV_E_PARAM = 11,       /* caller: unknown key, or value out of range      */
    PV_E_UNSUPPORTED = 12, /* caller: no proof covers this combination        */
    PV_E_NOMEM = 20,
    PV_E_IO = 21,
    PV_E_FORMAT = 22,    /* input file; the message has line and column     */
    PV_E_RNG = 23,       /* no secure randomness; there is no fallback      */
    PV_E_CANCELLED = 24, /* a callback said stop; the message says what counts as spent */
    PV_E_BUDGET = 30,    /* refused: more than the budget                   */
    PV_E_PLAN = 31,      /* run asked for a release it had not planned      */
    PV_E_VERIFY = 32,    /* a certificate or model that does not hold       */
    PV_E_NUMERIC = 40,   /* NaN or infinity in a checked value              */
    PV_E_INTERNAL = 90
} pv_status;
PV_API const char *pv_status_name(pv_status s);

typedef struct pv_ctx pv_ctx;       /* allocator, logger, threads, last error message */
typedef struct pv_plan pv_plan;     /* what would run; no data touched yet             */
typedef struct pv_result pv_result; /* weights, certificate                            */
typedef struct pv_model pv_model;   /* weights, settings and certificate               */
typedef struct pv_data pv_data;     /* where rows come from: files, memory, a stream   */

/* Where memory comes from.  get: n > 0 bytes, aligned as malloc's, any content, or NULL; put: never NULL.  Called
 * on the thread that makes a call, never on others; copied, but `self` must outlive the context and all made from
 * it.  Not from here: what the C library takes for a thread's stack, and the pages of the random generator, which
 * stay out of core dumps and swap. */
typedef struct pv_alloc {
    void *(*get)(void *self, size_t n);
    void (*put)(void *self, void *p);
    void *self;
} pv_alloc;

/* ---- context ---------------------------------------------------------------- */
PV_MUST pv_status pv_ctx_create(const pv_alloc *a, pv_ctx **out); /* a NULL: malloc  */
PV_API void pv_ctx_free(pv_ctx *ctx);
/* Of the last call that returns a status, on the context or on what was made from it: one line, empty after PV_OK.
 * Valid until the next such call; frees leave it alone. */
PV_API const char *pv_ctx_errmsg(const pv_ctx *ctx);
PV_API void pv_string_free(pv_ctx *ctx, char *s);

/* Notes and warnings, one line each without a newline; NULL: silence (the default).  PV_LOG_ERROR: several things are
 * wrong with the rows, of which the call's own message has the first alone; each line counts those of one kind. */
typedef enum pv_level { PV_LOG_NOTE = 1, PV_LOG_WARN = 2, PV_LOG_ERROR = 3 } pv_level;
typedef void (*pv_log_fn)(void *user, pv_level level, const char *line);
PV_API void pv_ctx_on_log(pv_ctx *ctx, pv_log_fn fn, void *user);

/* Progress of long work: what ("reading", "training"), done of total, and the
 * epsilon spent so far (negative: not applicable).  Return false to stop early: the call fails with PV_E_CANCELLED.
 * Stopped while reading or scattering, nothing is spent; while training, the budget of the whole run is.  Accounting
 * and calibration do not report progress. */
typedef bool (*pv_progress_fn)(void *user, const char *what, double done, double total, double epsilon);
PV_API void pv_ctx_on_progress(pv_ctx *ctx, pv_progress_fn fn, void *user);

/* ---- rows ---------------------------------------------------------------------- */
/* Where rows come from.  What they mean (schema, bounds, row norm, labels) is said by the data.* settings of the plan
 * or model they are used with, for every source alike:
 *   dense matrix, batches  like a .npy file    CSR  like LIBSVM lines    Arrow  like a CSV table
 * and the same rows as in that file give the same digest and, with the same run.seed, the same weights and
 * certificate.  Across formats this holds where rows are stored alike: up to 1024 features, or with the same
 * data.layout.  With data.schema the columns of a matrix are the schema's in order, the label's left out where labels
 * come apart.
 *
 * BORROWED: what a pv_data was made of must stay alive until pv_data_free, and must not change while a call that was
 * given the pv_data is under way.  This is a privacy precondition: a row that changes between two releases can move
 * them further than the noise was made for.  A dense matrix of float32 whose values lie side by side is read where it
 * is, if nothing changes its values (no schema, centre, transform or sparse layout); everything else is encoded once
 * per run.  tr and str may hold a transformed copy of borrowed rows, of up to run.copy MiB.
 * A pv_data may be used for several runs, one at a time; a stream or callback can be read once. */
typedef enum pv_type {
    PV_FLOAT32 = 1,
    PV_FLOAT64 = 2,
    PV_INT8 = 3,
    PV_INT16 = 4,
    PV_INT32 = 5,
    PV_INT64 = 6,
    PV_UINT8 = 7,
    PV_UINT16 = 8,
    PV_UINT32 = 9,
    PV_UINT64 = 10,
    PV_BOOL8 = 11 /* a byte: 0 or 1 */
} pv_type;
/* A path as data.path takes it; n paths, whose rows follow one another. */
PV_MUST pv_status pv_data_file(pv_ctx *ctx, const char *path, pv_data **out);
PV_MUST pv_status pv_data_files(pv_ctx *ctx, const char *const *paths, int64_t n, pv_data **out);
/* Value j of row i is x[i row_stride + j column_stride]; strides count values, and neither is negative. */
PV_MUST pv_status pv_data_dense(pv_ctx *ctx, const void *x, pv_type type, int64_t rows, int64_t columns,
                                int64_t row_stride, int64_t column_stride, pv_data **out);
/* Row i has the values ptr[i] .. ptr[i+1]-1 of val, in the columns idx, ascending from 0.  ptr and idx: PV_INT32 or
 * PV_INT64 each; val: PV_FLOAT32 or PV_FLOAT64. */
PV_MUST pv_status pv_data_csr(pv_ctx *ctx, int64_t rows, int64_t columns, const void *ptr, pv_type ptr_type,
                              const void *idx, pv_type idx_type, const void *val, pv_type val_type, pv_data **out);
/* Takes the stream over: it is released with the pv_data, also when this call fails. */
struct ArrowArrayStream;
PV_MUST pv_status pv_data_arrow(pv_ctx *ctx, struct ArrowArrayStream *stream, pv_data **out);
/* Rows in batches, as a callback hands them over. */
typedef struct pv_batch {
    int64_t rows;                      /* of this batch, at least 1                                           */
    const void *x;                     /* type and columns as declared below                                   */
    int64_t row_stride, column_stride; /* as in pv_data_dense                                                  */
    const void *y;                     /* labels, of y_type; NULL: no labels, in every batch or in none        */
} pv_batch;
/* Fills *batch, which stays valid until the next call, and returns PV_OK; PV_DONE: there are no more; any other
 * status ends the run with it.  rows: in all, or -1 if unknown; another number is an error. */
typedef pv_status (*pv_batch_fn)(void *user, pv_batch *batch);
PV_MUST pv_status pv_data_batches(pv_ctx *ctx, pv_batch_fn next, void *user, int64_t rows, int64_t columns,
                                  pv_type type, pv_type y_type, pv_data **out);
/* Labels of their own, one a row, borrowed: numbers, the words of classes, or places in a list of `count` words,
 * from 0 on and of any type of integers, as columns of categories have them. */
PV_MUST pv_status pv_data_labels(pv_data *d, const void *y, pv_type type, int64_t n);
PV_MUST pv_status pv_data_label_words(pv_data *d, const char *const *y, int64_t n);
PV_MUST pv_status pv_data_label_places(pv_data *d, const void *y, pv_type type, int64_t n, const char *const *words,
                                       int64_t count);
/* Whose row it is, one id a row, borrowed: training then protects persons, not rows (docs/people.md).  Numbers are
 * taken as their text, so that 7 and "7" are one person. */
PV_MUST pv_status pv_data_persons(pv_data *d, const void *id, pv_type type, int64_t n);
PV_MUST pv_status pv_data_person_words(pv_data *d, const char *const *id, int64_t n);
PV_API int64_t pv_data_rows(const pv_data *d); /* -1: files, streams, batches of unknown number */
PV_API void pv_data_free(pv_data *d);

/* The Arrow C data and stream interface (arrow.apache.org/docs/format/CDataInterface.html), for programs that have no
 * Arrow library.  Its names and layout are fixed by that specification. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE           2
#define ARROW_FLAG_MAP_KEYS_SORTED    4
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};
struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* ---- plan: settings, cost, run ------------------------------------------------ */
PV_MUST pv_status pv_plan_create(pv_ctx *ctx, pv_plan **out);
PV_API void pv_plan_free(pv_plan *plan);
/* data.key_path: the file with the secret that keys the digest of the data.  If it is not there, whatever reads
 * rows makes it, by default $PRIVET_HOME/secret.key or ~/.local/share/privet/secret.key: the only file the
 * library makes without being asked for it by name.  "none": no file; the key lives for one call, and the rows
 * are not recognised later. */
PV_MUST pv_status pv_plan_set(pv_plan *plan, const char *key, const char *value);
PV_MUST pv_status pv_plan_set_f64(pv_plan *plan, const char *key, double value);
PV_MUST pv_status pv_plan_set_i64(pv_plan *plan, const char *key, int64_t value);
PV_MUST pv_status pv_plan_load(pv_plan *plan, const char *json, size_t len, const char *name); /* --config */
PV_MUST pv_status pv_plan_dump(pv_plan *plan, char **json); /* the same keys back        */
/* Cost, noise, steps; reads the rows of data.path only where data.rows is not set, and otherwise at most the first
 * bytes of the file, which tell its format.  The noise of one release, here and in
 * pv_result_summary: "noise_stddev" on each entry of a sum (gaussian), "noise_radius" of the ball around it (ball),
 * or "selection_epsilon", the cost of one choice (select).  "noise_per_weight", where there is a sum: standard
 * deviation on each entry of the average gradient. */
PV_MUST pv_status pv_plan_cost(pv_plan *plan, char **json);
PV_MUST pv_status pv_plan_epsilon(pv_plan *plan, double delta, double *eps_ub);  /* reads as pv_plan_cost does */
PV_MUST pv_status pv_plan_run(pv_plan *plan, pv_result **out);                   /* reserve, run, certify     */
PV_MUST pv_status pv_plan_run_on(pv_plan *plan, pv_data *data, pv_result **out); /* rows of data, not data.path */
/* The same numbers as in pv_plan_cost, without JSON to be read.  data: NULL, or the rows
 * that the plan is for, which are read: a stream or callback is used up. */
typedef struct pv_cost {
    double epsilon, epsilon_lower, epsilon_replace,
        delta; /* INFINITY, 0, INFINITY, 1 with privacy=off; with run.seed those of fresh noise, is_private false */
    double noise_multiplier, sensitivity; /* of one release                                      */
    double clip_norm, batch;
    int64_t rows, weights, steps;
    bool is_private;
    double reserved[8]; /* zeros */
} pv_cost;
PV_MUST pv_status pv_plan_cost_on(pv_plan *plan, pv_data *data, pv_cost *out);

/* ---- result --------------------------------------------------------------------- */
/* Copies at most cap weights to w and sets *d to how many there are. */
PV_MUST pv_status pv_result_weights(const pv_result *r, double *w, int64_t cap, int64_t *d);
PV_MUST pv_status pv_result_certificate(const pv_result *r, const char **json); /* lives with r */
PV_MUST pv_status pv_result_summary(const pv_result *r, char **json);
PV_MUST pv_status pv_result_cost(const pv_result *r, pv_cost *out);
PV_MUST pv_status pv_result_save(const pv_result *r, const char *path); /* atomic: old file or new file */
/* A model as if it had been saved and loaded, without the file; lives on its own. */
PV_MUST pv_status pv_result_model(const pv_result *r, pv_model **out);
/* As pv_model_evaluate, on the rows that run.holdout_share left out of training. */
PV_MUST pv_status pv_result_evaluate(const pv_result *r, const pv_plan *budget, char **json, char **certificate);
PV_API void pv_result_free(pv_result *r);

/* ---- post-processing of what was released ------------------------------------------- */
/* v <- (I - sigma L)^-1 v, L the second difference around a circle: Laplacian smoothing, sigma 0 changes nothing. */
PV_MUST pv_status pv_smooth(pv_ctx *ctx, double sigma, double *v, int64_t d);
/* Shares of white noise that are left: averages of 1/lambda and 1/lambda^2 over the eigenvalues of I - sigma L. */
PV_MUST pv_status pv_smooth_factors(double sigma, int64_t d, double *gamma, double *beta);

/* ---- for the command ---------------------------------------------------------------- */
/* What the privet command needs and others may find handy; these four may change from one version to the next. */
/* Writes a file so that a reader sees the old one or the new one, never half of it. */
PV_MUST pv_status pv_file_write(pv_ctx *ctx, const char *path, const void *data, size_t size);
/* Removes the temporary files of writes that are under way on this context, which then fail; for a signal handler
 * that ends the process.  Async-signal-safe, on any thread: reads a list in the context and calls unlink, nothing
 * else.  The context must not be freed meanwhile; NULL does nothing. */
PV_API void pv_cleanup(pv_ctx *ctx);
/* ---- schemas ---------------------------------------------------------------------- */
/* A schema to begin with, as JSON text: the columns that the header of a CSV names, each of type "open", which
 * training refuses, to be filled in by someone who knows the data.  `label`: the column of the label, or NULL.  With
 * rows_are_public all rows are read, and types, bounds and values are theirs: for tables that are public, since
 * bounds copied from private rows reveal them.  Instead of a table, `path` may be a Frictionless Table Schema, the
 * dtypes of pandas as CSV, or a schema that has been begun, which stays as it is. */
PV_MUST pv_status pv_schema_draft(pv_ctx *ctx, const char *path, const char *label, bool rows_are_public,
                                  char **json);
/* A schema, the name of its file or its text, checked, as JSON with all that it leaves to defaults. */
PV_MUST pv_status pv_schema_canonical(pv_ctx *ctx, const char *schema, char **json);
/* What training would refuse in a CSV, all of it, as JSON: "problems", how many, and "kinds" of them, each with its
 * "column", "count" and "first_line"; "spaced_ids": rows whose id of a person has blanks at an end, or two side by
 * side, which is no problem.  NOT PRIVATE: counts and places come from the rows, and what is copied from
 * them into the schema reveals rows to everybody who sees a model. */
PV_MUST pv_status pv_schema_check(pv_ctx *ctx, const char *schema, const char *path, char **json);

/* Writes demo_train.csv, demo_test.csv and demo.schema.json: made-up hospital stays. */
PV_MUST pv_status pv_demo_data(pv_ctx *ctx, const char *folder, uint64_t seed, int64_t rows, int64_t heldout_rows);
/* Writes madelon_train.csv, madelon_test.csv and madelon.schema.json: 20 numbers a row, five classes. */
PV_MUST pv_status pv_synth_data(pv_ctx *ctx, const char *folder, uint64_t seed, int64_t rows, int64_t heldout_rows);

/* ---- model file ------------------------------------------------------------------- */
PV_MUST pv_status pv_model_load(pv_ctx *ctx, const char *path, pv_model **out);
/* The bytes of a model file, which belong to the caller (pv_string_free), and a model from such bytes; `name` starts
 * messages about them. */
PV_MUST pv_status pv_model_to_bytes(const pv_model *m, char **bytes, size_t *size);
PV_MUST pv_status pv_model_of_bytes(pv_ctx *ctx, const void *bytes, size_t size, const char *name, pv_model **out);
PV_MUST pv_status pv_model_certificate(const pv_model *m, const char **json); /* lives with m */
PV_MUST pv_status pv_model_schema(const pv_model *m, const char **json);      /* NULL: the data had none */
PV_MUST pv_status pv_model_settings(const pv_model *m, const char **json);    /* of its run; lives with m */
PV_MUST pv_status pv_model_weights(const pv_model *m, double *w, int64_t cap, int64_t *d); /* as pv_result_weights */
/* data.* keys of new data; of two classes also predict.threshold=P, the chance above which the second is predicted,
 * or predict.cost=A,B, what a false alarm and a miss cost. */
PV_MUST pv_status pv_model_set(pv_model *m, const char *key, const char *value);
PV_MUST pv_status pv_model_predict(pv_model *m, const char *data, const char *out_csv); /* a file; atomic */
PV_MUST pv_status pv_model_eval(pv_model *m, const char *data, char **json);
/* What a model makes of one row: 0 classes is a number; outputs: scores, 1 (a number, a margin) or one per class. */
typedef struct pv_model_info {
    int64_t classes, outputs, features, weights;
    bool is_private;
    int64_t reserved[8]; /* zeros */
} pv_model_info;
PV_MUST pv_status pv_model_describe(const pv_model *m, pv_model_info *out);
PV_MUST pv_status pv_model_class(const pv_model *m, int64_t k, const char **name); /* lives with m */
/* Predictions into the caller's buffers, for exactly `rows` rows; NULL: not wanted. */
typedef struct pv_predictions {
    int64_t rows;
    float *score;        /* rows x outputs: the prediction, the margin of class 1, or a score per class            */
    double *probability; /* rows x classes: logistic for a margin, else by softmax; not for numbers             */
    int64_t *label;      /* the most likely class, 0 .. classes-1; not for numbers                                  */
} pv_predictions;
PV_MUST pv_status pv_model_predict_on(pv_model *m, pv_data *data, const pv_predictions *out);
PV_MUST pv_status pv_model_eval_on(pv_model *m, pv_data *data, char **json);
/* The same as a release of its own, since test rows are people too: noisy confusion matrix, calibration table and AUC
 * with 95 % intervals, and a certificate that pv_verify takes (may be NULL: not wanted).  Of `budget` count budget.*,
 * accountant, privacy, issuer.* and run.seed.  Free both with pv_string_free. */
PV_MUST pv_status pv_model_evaluate(pv_model *m, pv_data *data, const pv_plan *budget, char **json,
                                    char **certificate);
/* The same measures for every value of a category that the schema declares. */
PV_MUST pv_status pv_model_eval_by(pv_model *m, pv_data *data, const char *column, char **json);
/* The lines of pv_model_predict to a callback, which returns false to stop. */
typedef bool (*pv_write_fn)(void *user, const char *text, size_t size);
PV_MUST pv_status pv_model_predict_to(pv_model *m, pv_data *data, pv_write_fn write, void *user);
/* The same of a file, with columns of the table in front of the scores: names with commas, "*": all, NULL: none.  The
 * lines go to out_csv, atomically, or where that is NULL to the callback, while the file ("-": standard input) is
 * read: memory does not grow with it, and an error may come after lines. */
PV_MUST pv_status pv_model_predict_keeping(pv_model *m, const char *data, const char *keep, const char *out_csv,
                                           pv_write_fn write, void *user);
/* What each column adds to the score, of models with curves (docs/algorithms/additive.md), as JSON: columns in the
 * order of their importance, each with its points and the effect there, by output.  No row is looked at. */
PV_MUST pv_status pv_model_curves(const pv_model *m, char **json);
/* What each column of one row, counted from 0, adds to its score; the largest parts first. */
PV_MUST pv_status pv_model_explain(pv_model *m, pv_data *data, int64_t row, char **json);
/* The model for other programs: format "onnx", "onnx-raw", "npz", "npy" or "safetensors"; see docs/export.md. */
PV_MUST pv_status pv_model_export(const pv_model *m, const char *format, const char *path);
PV_API void pv_model_free(pv_model *m);

/* ---- certificate, accounting, catalogue -------------------------------------------- */
/* Answers that have an epsilon (plan, run, verify, account, calibrate) also say what it means: "strength" (strong,
 * moderate, weak, next to none, or none), "colour", "strength_because", "guess_right_at_most", "guess"; see
 * docs/scale.md. */
/* Recomputes epsilon from the recorded events, and of a model file also whether weights and
 * header are those of its certificate.  PV_OK, or PV_E_VERIFY with the reason in the error
 * message.  `path` is a certificate or a model file.  json may be NULL; it says what this
 * shows ("shown") and what it does not ("on_trust").  See docs/certificate-format.md.    */
PV_MUST pv_status pv_verify(pv_ctx *ctx, const char *path, char **json);
/* The same of a certificate or model file in memory; `name` starts messages. */
PV_MUST pv_status pv_verify_bytes(pv_ctx *ctx, const void *bytes, size_t size, const char *name, char **json);
/* what: a kind of plug-in, a plug-in, a setting or a family of them; NULL: all.                */
PV_MUST pv_status pv_list(pv_ctx *ctx, const char *what, char **json);
/* What events cost, how much noise a budget needs, the whole curve.  The request is a JSON object:
 *   {"mechanism": "gaussian", "z": 1.1, "q": 0.004, "steps": 14063, "delta": 1e-5}
 * or "events" with a tree as certificates have it, or "file" with its path; then "accountant" (best)
 * and its settings ("accountant.conversion": "paper"), "relation" (zero-out or replace), "epsilon" and "delta" as the
 * question needs, "rows" for groups; "draws", the sum of the delta_draws of certificates whose events these are, and
 * "draws_epsilon", the least epsilon up to which one of them is enough, which the summaries of runs name. */
PV_MUST pv_status pv_account(pv_ctx *ctx, const char *request_json, char **json);
PV_MUST pv_status pv_calibrate(pv_ctx *ctx, const char *request_json, char **json);
PV_MUST pv_status pv_curve(pv_ctx *ctx, const char *request_json, char **json);
/* What block coordinate descent has cost after each pass, by composition and, conditionally, for the last iterate
 * alone:
 *   {"noise": "constant+linear:4,1", "z": 5, "batches": 5, "epochs": 50, "step": 0.01, "smooth": 50, "delta": 1e-5}
 * z: noise multiplier at variance 1; "shrink": lambda of an l2 prox.  R_a <= a rate at every order a. */
PV_MUST pv_status pv_epochs(pv_ctx *ctx, const char *request_json, char **json);

#ifdef __cplusplus
}
#endif
#endif
