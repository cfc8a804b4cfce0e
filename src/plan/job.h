/* job.h - a checked plan, ready to run: settings made concrete, event tree, noise, cost. */
#ifndef PVI_JOB_H
#define PVI_JOB_H
#include "acct/acct.h"
#include "data/load.h"
#include "query/query.h"
#include "reg/reg.h"

/* ---- settings (settings.c) --------------------------------------------------------------------- */
typedef struct pvi_settings { /* the keys that belong to no plug-in                                     */
    const char *model, *reg, *set, *optimizer, *mechanism, *accountant;
    int64_t privacy; /* enum on|off                                                                      */
    double epsilon, delta, noise_multiplier, clip, batch;
    int64_t relation, sampler, threads, seed;
    bool diagnostics;
    pvi_data_cfg data;
} pvi_settings;
enum { PVI_PRIVACY_ON = 0, PVI_PRIVACY_OFF = 1 };

typedef struct pvi_pair { /* a key of a plug-in, kept until the plug-in is known                          */
    struct pvi_pair *next;
    const char *key, *value;
} pvi_pair;

struct pv_plan {
    PVI_HANDLE;
    pv_arena *arena;
    pvi_settings s;
    pvi_pair *pairs;
};
struct pvi_job;
const char *pvi_key_prefix(pv_kind kind);    /* of the settings of its plug-ins: "model."; "": they have none */
extern const pv_param pvi_settings_params[]; /* without data.*                                            */
pv_status pvi_plugin_cfg(pv_plan *plan, pv_arena *a, const char *prefix, const pv_plugin *head, void **cfg);
/* `accountant` with the settings accountant.*, as acct.h takes it. */
pv_status pvi_plan_accountant(const pv_plan *plan, pv_arena *a, const char **text);
/* job: the resolved values of its plug-ins; NULL: what was set by hand.  with_paths false leaves out
 * what belongs to one machine (paths, threads, seed). */
pv_status pvi_settings_write(pv_plan *plan, const struct pvi_job *job, bool with_paths, char **json);

/* ---- job (plan.c) -------------------------------------------------------------------------------- */
typedef struct pvi_model_choice { /* a loss through glm, or a model of its own                             */
    const pv_model_ops *ops;
    void *cfg;
    const pv_plugin *named; /* what `model=` named: the loss or the model                                   */
    void *named_cfg;
    const pv_loss_ops *loss; /* NULL: a model of its own                                                     */
} pvi_model_choice;

typedef struct pvi_job {
    pv_ctx *ctx;
    pv_arena *arena; /* owned                                                                              */
    pv_plan *plan;   /* borrowed                                                                            */
    bool private_run;
    const char *accountant; /* with its settings: "zcdp:conversion=paper"                                       */
    pvi_model_choice model;
    const pv_optimizer_ops *opt;
    void *opt_cfg;
    pv_domain dom;
    bool features_measured;
    char image[72]; /* shape of images that was found, not declared; "": none                              */
    pv_problem prob;
    bool sparse;     /* CSR rows, of a model that adds them to the grid one by one                          */
    bool transforms; /* rows may be replaced by dense ones in other coordinates                            */
    pv_joint joint;  /* constants of second derivatives, and how the optimiser weighs them                  */
    pvi_release release[PV_MOST_ASKS]; /* by the optimiser's asks; up to `releases`, where `asked`            */
    int releases;
    pv_planned planned[PV_MOST_ASKS]; /* what the optimiser knows of them                                    */
    double noise_multiplier;
    double draws; /* share of delta set aside for the finite accuracy of the draws                          */
    const pv_event *events, *events_replace;
    pvi_cost cost, cost_replace;
} pvi_job;

/* m NULL: plan without data, from data.rows and data.features or the schema. */
pv_status pvi_job_create(pv_plan *plan, const pvi_matrix *m, pvi_job **out);
void pvi_job_free(pvi_job *job);
void pvi_job_cost(const pvi_job *j, pv_cost *out); /* the numbers of a caller (budget.c)                    */
/* Its parts, in this order: which plug-ins (choose.c); rows, columns, weights (shape.c); target (budget.c); clipping
 * norm, samplers, queries, the optimiser's own choices (releases.c); event tree, noise, cost (budget.c). */
pv_status pvi_job_classes(pvi_job *j, const pvi_matrix *m, int64_t *classes); /* of the label, for model=auto */
pv_status pvi_job_choose(pvi_job *j, int64_t classes);
pv_status pvi_job_shape(pvi_job *j, const pvi_matrix *m);
pv_status pvi_job_budget(pvi_job *j);
pv_status pvi_job_releases(pvi_job *j);
pv_status pvi_job_noise(pvi_job *j);
uint32_t pvi_model_props(const pvi_model_choice *m);
/* What the finite accuracy of the draws costs of delta at this epsilon. */
double pvi_draws_need(const pvi_job *j, double epsilon);
/* classes: of the label, 0 for numbers; decides what model=auto means. */
pv_status pvi_model_choose(pv_plan *plan, int64_t classes, pv_arena *a, pvi_model_choice *out);
bool pvi_model_is_auto(const pv_plan *plan);
/* What to expect of labels before model=auto is known. */
pvi_expect pvi_auto_expect(const pv_plan *plan);
/* What rows and labels to expect before any is read: by the model that is named, or whatever is declared. */
pv_status pvi_plan_expect(pv_plan *plan, pvi_expect *out);
/* What the model wants of the labels. */
pvi_expect pvi_model_expect(const pvi_model_choice *m);
#endif
