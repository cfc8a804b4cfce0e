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
 * Every call: inputs are borrowed until it returns; on failure each `out` is
 * NULL and nothing leaks; `_free` takes NULL; a handle belongs to one thread.
 * The library never prints, never exits, never touches the locale or the umask.
 * A call computes in the default floating-point environment and puts back the
 * caller's (rounding mode, traps, flags); callbacks run in the default one.
 * Strings handed out as `char **json` belong to the caller: pv_string_free. */
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

#define PV_VERSION "0.1.0"
PV_API const char *pv_version(void); /* of the library actually linked */

/* Could the call do its job?  Values are pinned: never renumbered, never reused. */
typedef enum pv_status {
    PV_OK = 0,
    PV_DONE = 1,           /* iteration finished; not an error                */
    PV_E_ARG = 10,         /* caller: bad argument                            */
    PV_E_PARAM = 11,       /* caller: unknown key, or value out of range      */
    PV_E_UNSUPPORTED = 12, /* caller: no proof covers this combination        */
    PV_E_NOMEM = 20,
    PV_E_IO = 21,
    PV_E_FORMAT = 22,  /* input file; the message has line and column     */
    PV_E_RNG = 23,     /* no secure randomness; there is no fallback      */
    PV_E_BUDGET = 30,  /* refused: more than the budget                   */
    PV_E_PLAN = 31,    /* run asked for a release it had not planned      */
    PV_E_VERIFY = 32,  /* a certificate or model that does not hold       */
    PV_E_NUMERIC = 40, /* NaN or infinity in a checked value              */
    PV_E_INTERNAL = 90
} pv_status;
PV_API const char *pv_status_name(pv_status s);

/* How did a successful run end?  An outcome, never an error. */

typedef struct pv_ctx pv_ctx;       /* allocator, logger, threads, last error message */
typedef struct pv_plan pv_plan;     /* what would run; no data touched yet             */
typedef struct pv_result pv_result; /* weights, certificate                            */
typedef struct pv_model pv_model;   /* weights, settings and certificate, from a file  */

typedef struct pv_alloc {
    void *(*get)(void *self, size_t n);
    void (*put)(void *self, void *p);
    void *self;
} pv_alloc;

/* ---- context ---------------------------------------------------------------- */
PV_MUST pv_status pv_ctx_create(const pv_alloc *a, pv_ctx **out); /* a NULL: malloc  */
PV_API void pv_ctx_free(pv_ctx *ctx);
PV_API const char *pv_ctx_errmsg(const pv_ctx *ctx); /* valid until the next call   */
PV_API void pv_string_free(pv_ctx *ctx, char *s);
/* Writes a file so that a reader sees the old one or the new one, never half of it. */
PV_MUST pv_status pv_file_write(pv_ctx *ctx, const char *path, const void *data, size_t size);
PV_API void pv_cleanup(void); /* removes temporaries of writes under way; for signal handlers, before _exit */

/* Notes and warnings, one line each without a newline; NULL: silence (the default). */
typedef enum pv_level { PV_LOG_NOTE = 1, PV_LOG_WARN = 2 } pv_level;
typedef void (*pv_log_fn)(void *user, pv_level level, const char *line);
PV_API void pv_ctx_on_log(pv_ctx *ctx, pv_log_fn fn, void *user);

/* Progress of long work: what ("reading", "training"), done of total, and the
 * epsilon spent so far (negative: not applicable).  Return false to stop early. */
typedef bool (*pv_progress_fn)(void *user, const char *what, double done, double total, double epsilon);
PV_API void pv_ctx_on_progress(pv_ctx *ctx, pv_progress_fn fn, void *user);

/* ---- plan: settings, cost, run ------------------------------------------------ */
PV_MUST pv_status pv_plan_create(pv_ctx *ctx, pv_plan **out);
PV_API void pv_plan_free(pv_plan *plan);
PV_MUST pv_status pv_plan_set(pv_plan *plan, const char *key, const char *value);
PV_MUST pv_status pv_plan_load(pv_plan *plan, const char *json, size_t len, const char *name); /* --config */
PV_MUST pv_status pv_plan_dump(pv_plan *plan, char **json); /* the same keys back        */
/* Cost, noise, steps; reads data.path only where data.rows is not set.  The noise of one release, here and in
 * pv_result_summary: "noise_stddev" on each entry of a sum (gaussian), "noise_radius" of the ball around it (ball),
 * or "selection_epsilon", the cost of one choice (select).  "noise_per_weight", where there is a sum: standard
 * deviation on each entry of the average gradient. */
PV_MUST pv_status pv_plan_cost(pv_plan *plan, char **json);
PV_MUST pv_status pv_plan_epsilon(pv_plan *plan, double delta, double *eps_ub); /* reads as pv_plan_cost does */
PV_MUST pv_status pv_plan_run(pv_plan *plan, pv_result **out);                  /* reserve, run, certify     */

/* ---- result --------------------------------------------------------------------- */
/* Copies at most cap weights to w and sets *d to how many there are. */
PV_MUST pv_status pv_result_weights(const pv_result *r, double *w, int64_t cap, int64_t *d);
PV_MUST pv_status pv_result_certificate(const pv_result *r, const char **json); /* lives with r */
PV_MUST pv_status pv_result_summary(const pv_result *r, char **json);
PV_MUST pv_status pv_result_save(const pv_result *r, const char *path); /* atomic: old file or new file */
PV_API void pv_result_free(pv_result *r);

/* ---- post-processing of what was released ------------------------------------------- */
/* v <- (I - sigma L)^-1 v, L the second difference around a circle: Laplacian smoothing, sigma 0 changes nothing. */
PV_MUST pv_status pv_smooth(pv_ctx *ctx, double sigma, double *v, int64_t d);
/* Shares of white noise that are left: averages of 1/lambda and 1/lambda^2 over the eigenvalues of I - sigma L. */
PV_MUST pv_status pv_smooth_factors(double sigma, int64_t d, double *gamma, double *beta);

/* ---- demonstration data ------------------------------------------------------------- */
/* Writes demo_train.csv, demo_test.csv and demo.schema.json: made-up hospital stays. */
PV_MUST pv_status pv_demo_data(pv_ctx *ctx, const char *folder, uint64_t seed, int64_t rows, int64_t heldout_rows);
/* Writes madelon_train.csv, madelon_test.csv and madelon.schema.json: 20 numbers a row, five classes. */
PV_MUST pv_status pv_synth_data(pv_ctx *ctx, const char *folder, uint64_t seed, int64_t rows, int64_t heldout_rows);

/* ---- model file ------------------------------------------------------------------- */
PV_MUST pv_status pv_model_load(pv_ctx *ctx, const char *path, pv_model **out);
PV_MUST pv_status pv_model_certificate(const pv_model *m, const char **json);           /* lives with m */
PV_MUST pv_status pv_model_schema(const pv_model *m, const char **json);                /* NULL: the data had none */
PV_MUST pv_status pv_model_set(pv_model *m, const char *key, const char *value);        /* data.* keys of new data */
PV_MUST pv_status pv_model_predict(pv_model *m, const char *data, const char *out_csv); /* NULL: standard output */
PV_MUST pv_status pv_model_eval(pv_model *m, const char *data, char **json);
/* The model for other programs: format "onnx", "npz" or "safetensors"; see docs/export.md. */
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
/* what: a kind of plug-in, a plug-in, a setting or a family of them; NULL: all.                */
PV_MUST pv_status pv_list(pv_ctx *ctx, const char *what, char **json);
/* What events cost, how much noise a budget needs, the whole curve.  The request is a JSON object:
 *   {"mechanism": "gaussian", "z": 1.1, "q": 0.004, "steps": 14063, "delta": 1e-5}
 * or "events" with a tree as certificates have it, or "file" with its path; then "accountant" (best)
 * and its settings ("accountant.conversion": "paper"), "relation" (zero-out or replace), "epsilon" and "delta" as the
 * question needs, "rows" for groups. */
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
