/* run.h - a planned run at work: the oracle between rows and optimiser, diagnostics, the run itself. */
#ifndef PVI_RUN_H
#define PVI_RUN_H
#include "cert/cert.h"
#include "export/model_file.h"
#include "plan/job.h"

/* ---- oracle (oracle.c) ------------------------------------------------------------------------------ */
typedef struct pvi_seen { /* one release, before the noise: only tests may look                              */
    const pvi_release *release;
    const int64_t *sum;
    const double *score; /* a selection: its scores instead of a sum; NULL otherwise */
    int64_t n;           /* of either */
} pvi_seen;
/* Neighbour replay: sees every release, and may replace what was drawn (of a selection, one number). */
typedef void (*pvi_tap)(void *user, const pvi_seen *seen, double *drawn);

pv_status pvi_oracle_create(const pvi_job *job, const pvi_matrix *m, pv_rng *rng, pvi_tap tap, void *tap_user,
                            pv_oracle **out);
void pvi_oracle_free(pv_oracle *o);
pv_status pvi_oracle_rows(pv_oracle *o);         /* room for them as they are stored, now */
void pvi_oracle_cap(pv_oracle *o, int64_t rows); /* from now on no unit has more rows than that */
bool pvi_oracle_spent_all(const pv_oracle *o);
double pvi_oracle_fraction(const pv_oracle *o);
int64_t pvi_oracle_queries(const pv_oracle *o);
int64_t pvi_oracle_count(const pv_oracle *o, int k); /* events of release k */

/* ---- diagnostics on one table (diagnose.c): NOT PRIVATE ---------------------------------------------- */
enum { /* what run.measure names */
       PVI_MEASURE_LOSS = 1u,
       PVI_MEASURE_GRADIENT = 2u,
       PVI_MEASURE_ACCURACY = 4u,
       PVI_MEASURE_CURVATURE = 8u,
       PVI_MEASURE_SECOND = 16u /* at the end of methods that look for second-order points: diagnose_second.c */
};
typedef struct pvi_diagnosis pvi_diagnosis; /* in the arena                                                  */
/* wanted: bits of the above. */
pv_status pvi_diagnose_create(const pvi_job *j, const pvi_matrix *m, unsigned wanted, pv_arena *a,
                              pvi_diagnosis **out);
bool pvi_diagnose_due(const pvi_diagnosis *x, int64_t t, int64_t T); /* after step t of T                    */
pv_status pvi_diagnose_at(pvi_diagnosis *x, int64_t step, const double *w);
pv_status pvi_diagnose_end(pvi_diagnosis *x, int64_t step, const double *w); /* the returned model         */
pv_status pvi_diagnose_objective(pvi_diagnosis *x, const double *w, double *value);
pv_status pvi_diagnose_gradient(pvi_diagnosis *x, const double *w, double *g); /* of loss + penalty */
typedef struct pvi_lowest { /* eigenvalue of the Hessian of loss + penalty, and how far off it may be (curvature.c) */
    double value, error;
} pvi_lowest;
const char *pvi_curvature_missing(const pvi_job *j); /* why there is no Hessian; NULL: there is one              */
int64_t pvi_curvature_work(int64_t d);               /* doubles                                                 */
pv_status pvi_curvature(pvi_diagnosis *x, int64_t d, const double *w, double *work, pvi_lowest *out);
pv_status pvi_diagnose_lowest(pvi_diagnosis *x, const double *w, pvi_lowest *out);
typedef struct pvi_sosp { /* of the returned model (diagnose_second.c) */
    double objective, gradient, lowest, rho, alpha, wanted, reference;
} pvi_sosp;
pv_status pvi_diagnose_second(const pvi_job *j, const pvi_matrix *m, pvi_diagnosis *x, const double *w, pv_arena *a,
                              pvi_sosp *out);
void pvi_sosp_write(const pvi_sosp *s, pvi_jw *w);
/* Neither needs job or matrix any more.  _last: step and measures of the latest point, into an open object. */
void pvi_diagnose_write(const pvi_diagnosis *x, pvi_jw *w, const char *key, const char *warning);
void pvi_diagnose_write_last(const pvi_diagnosis *x, pvi_jw *w);

/* ---- additive models (monotone.c, band.c) ------------------------------------------------------------------ */
/* Columns of the weights, none without curves; refuses "monotone" where there are several scores. */
pv_status pvi_monotone_open(const pvi_job *j, const pvi_matrix *m, pv_arena *a, pvi_origins *out);
pv_status pvi_monotone(const pvi_origins *of, pv_arena *a, pv_ctx *ctx, double *w);
/* A bound on the standard deviation that the noise of a run gives any weight; 0: not known. */
pv_status pvi_noise_at_most(const pvi_job *j, pv_arena *a, double *stddev);

/* ---- measures along a run (measures.c): on the rows to train on, and on others --------------------------- */
typedef struct pvi_measures pvi_measures;       /* in the arena                                                    */
pv_status pvi_measures_check(const pvi_job *j); /* settings and files that a run would refuse               */
pv_status pvi_measures_create(const pvi_job *j, const pvi_matrix *m, pv_arena *a,
                              pvi_measures **out);                                 /* NULL: none */
pv_status pvi_measures_at(pvi_measures *x, int64_t t, int64_t T, const double *w); /* if they are due */
pv_status pvi_measures_end(pvi_measures *x, int64_t step, const double *w);        /* the returned model     */
void pvi_measures_close(pvi_measures *x); /* the file, the rows; what was measured stays                      */
void pvi_measures_write(const pvi_measures *x, pvi_jw *w);

/* Where bounds and values are from, by the schema's own word (sources.c): a sentence; NULL: it does not say. */
pv_status pvi_sources_say(pv_ctx *ctx, pv_arena *a, const char *schema, const char **out);

/* ---- a stage before the optimiser (stage_run.c, row_counts.c) --------------------------------------------- */
typedef struct pvi_row_count {
    int64_t cap; /* K: as planned, or as the counts say; 0: a unit is a row                        */
    bool known;  /* rows were counted                                                              */
    pvi_rows_found found;
} pvi_row_count;
typedef struct pvi_stage_found { /* what a stage released, as whole numbers */
    int64_t *count, n;           /* NULL: there was none */
    double stddev;
    pvi_row_count rows;
} pvi_stage_found;
/* Releases it, and does what follows: how many rows of a person count, or which knots the curves of m have. */
pv_status pvi_stage_run(const pvi_job *j, pv_oracle *o, pvi_matrix *m, pv_arena *a, pvi_stage_found *out);
pvi_row_count pvi_row_counts(const pvi_job *j, pv_oracle *o, const pvi_stage_found *f);
void pvi_row_counts_write(const pvi_row_count *c, pvi_jw *w); /* into an open object */

/* ---- where it starts (start_weights.c) ------------------------------------------------------------------ */
pv_status pvi_start_fill(pvi_job *j, pv_rng *rng); /* reads the file, or draws; rng NULL: only what a file says */

/* ---- run (run.c) -------------------------------------------------------------------------------------- */
struct pv_result {
    PVI_HANDLE;
    pv_arena *arena; /* owned; everything below lives there */
    pvi_model_file file;
    pvi_cert cert;
    const pv_mechanism_ops *mech; /* of its first release */
    const char *certificate;
    int64_t steps;
    pv_cost cost;
    double draws_epsilon; /* pvi_draws_covered */
    pvi_stage_found stage;
    pvi_matrix *whole; /* owned: the table that `held` is a part of; NULL: nothing was held out */
    pvi_matrix held;
    double held_share;
    const int64_t *released; /* counts, as many as the first release has values; NULL: none were asked for */
    pvi_measures *measures;  /* NULL: none were asked for */
};
/* The rows of `from`, or of the file that data.path names where it is NULL, as the plan's model wants them. */
pv_status pvi_plan_data(pv_plan *plan, pv_data *from, pvi_matrix **out);
/* Some of the rows for an evaluation, drawn at random (hold_out.c): m is shuffled, both are views of it. */
pv_status pvi_hold_out(const pv_plan *plan, pvi_matrix *m, pvi_matrix *train, pvi_matrix *held);
pv_status pvi_plan_rng(const pv_plan *plan, pv_rng **out); /* the run's source of randomness */
/* The state of the optimiser, its arrays and what it makes of them. */
pv_status pvi_optimizer_state(const pvi_job *j, pv_arena *a, void **state);
pv_status pvi_run_matrix(pv_plan *plan, pvi_matrix *m, pvi_tap tap, void *tap_user, pv_result **out);
/* How many units, under the name that says which. */
static inline void pvi_units_write(pvi_jw *w, int64_t n, int64_t unit_rows, bool known)
{
    pvi_jw_i64(w, unit_rows ? "persons" : "rows", n);
    if (unit_rows) pvi_jw_i64(w, known ? "rows_per_person" : "rows_per_person_most", unit_rows);
}
#endif
