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
bool pvi_oracle_spent_all(const pv_oracle *o);
double pvi_oracle_fraction(const pv_oracle *o);
int64_t pvi_oracle_queries(const pv_oracle *o);
int64_t pvi_oracle_count(const pv_oracle *o, int k); /* events of release k */

/* ---- diagnostics (diagnose.c): NOT PRIVATE, only with run.diagnostics ------------------------------------ */
typedef struct pvi_diagnosis pvi_diagnosis; /* in the arena                                                  */
pv_status pvi_diagnose_create(const pvi_job *j, const pvi_matrix *m, pv_arena *a, pvi_diagnosis **out);
bool pvi_diagnose_due(int64_t t, int64_t T); /* after step t of T; about 20 times                           */
pv_status pvi_diagnose_at(pvi_diagnosis *x, int64_t step, const double *w);
pv_status pvi_diagnose_end(pvi_diagnosis *x, int64_t step, const double *w); /* the returned model         */
pv_status pvi_diagnose_objective(pvi_diagnosis *x, const double *w, double *value);
pv_status pvi_diagnose_gradient(pvi_diagnosis *x, const double *w, double *g); /* of loss + penalty */
typedef struct pvi_sosp { /* of the returned model (diagnose_second.c) */
    double objective, gradient, lowest, rho, alpha, wanted, reference;
} pvi_sosp;
pv_status pvi_diagnose_second(const pvi_job *j, const pvi_matrix *m, pvi_diagnosis *x, const double *w, pv_arena *a,
                              pvi_sosp *out);
void pvi_sosp_write(const pvi_sosp *s, pvi_jw *w);
/* Needs neither job nor matrix any more.  */
void pvi_diagnose_write(const pvi_diagnosis *x, pvi_jw *w, const char *key);

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
    pvi_diagnosis *diagnosis; /* NULL: none was asked for */
};
/* The rows of `from`, or of the file that data.path names where it is NULL, as the plan's model wants them. */
pv_status pvi_plan_data(pv_plan *plan, pv_data *from, pvi_matrix **out);
/* The state of the optimiser, its arrays and what it makes of them. */
pv_status pvi_optimizer_state(const pvi_job *j, pv_arena *a, void **state);
pv_status pvi_run_matrix(pv_plan *plan, const pvi_matrix *m, pvi_tap tap, void *tap_user, pv_result **out);
#endif
