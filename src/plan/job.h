/* job.h - a checked plan, ready to run: settings made concrete, event tree, noise, cost. */
#ifndef PVI_JOB_H
#define PVI_JOB_H
#include "acct/acct.h"
#include "data/load.h"
#include "query/query.h"
#include "reg/reg.h"

/* ---- settings (settings.c) --------------------------------------------------------------------- */
typedef struct pvi_settings { /* the keys that belong to no plug-in                                     */
    const char *model, *reg, *set, *optimizer, *start, *mechanism, *accountant;
    int64_t privacy; /* enum on|off                                                                      */
    double epsilon, delta, noise_multiplier, clip, batch, batch_hessian;
    pv_numbers reg_layers;
    int64_t relation, sampler, unit_combine, unit_weight, threads, seed;
    bool diagnostics;
    double holdout_share; /* NAN: none is held out */
    const char *holdout, *apart, *measure, *log;
    const char *issuer, *contact, *date, *data_name; /* NULL: not stated */
    int64_t every, copy, least;                      /* copy: MiB; least: units */
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
    const double *given; /* borrowed: weights of a model that is evaluated, instead of optimizer.start; NULL: none */
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

/* ---- where a run starts (start.c) ---------------------------------------------------------------- */
typedef enum pvi_start_kind {
    PVI_START_MODEL, /* the model's own: zeros, or what it draws by a public seed                           */
    PVI_START_ZERO,
    PVI_START_RANDOM,
    PVI_START_PVT,
    PVI_START_NPY,
    PVI_START_GIVEN /* in memory: of a model that is evaluated                                               */
} pvi_start_kind;
typedef struct pvi_start {
    pvi_start_kind kind;
    double scale; /* of random weights                                                                    */
    double *w;    /* d weights that a run fills in before its first step; NULL: nothing to fill in        */
} pvi_start;

/* ---- releases of a plan: the optimiser's by the number of its asks, and that of the stage before it ---------- */
enum { PVI_STAGE = PV_MOST_ASKS, PVI_RELEASES };

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
    double auto_batch; /* expected units in a sample that optimizer=auto chose; NAN: every unit, or as set       */
    void *opt_cfg;
    pv_domain dom;
    bool features_measured;
    bool cap_open;  /* dom.unit_rows is the most that the rows of a person may be: a release chooses, or it stays   */
    char image[72]; /* shape of images that was found, not declared; "": none                              */
    pv_problem prob;
    pvi_start start;
    char start_digest[80]; /* "file:" and the digest of the weights of a file, as certificates say it; "": none  */
    bool sparse;           /* CSR rows, of a model that adds them to the grid one by one                          */
    bool transforms;       /* rows may be replaced by dense ones in other coordinates                            */
    pv_joint joint;        /* constants of second derivatives, and how the optimiser weighs them                  */
    pv_descent descent;
    pvi_release release[PVI_RELEASES]; /* by the optimiser's asks, then the stage; up to `releases`, where `asked` */
    int releases;
    pv_planned planned[PVI_RELEASES]; /* what the optimiser knows of them                                    */
    pvi_knots_ask knots;              /* histograms that a stage releases; share 0: none                      */
    const struct pvi_late *late;      /* rows that wait for that release; NULL: none                          */
    double stage_share;               /* of the budget; 0: there is no stage                                  */
    double stage_multiplier;          /* of its noise                                                         */
    double noise_multiplier;
    double draws; /* share of delta set aside for the finite accuracy of the draws                          */
    const pv_event *steps;                   /* events of the optimiser                                       */
    const pv_event *events, *events_replace; /* of the run: the stage comes first                             */
    pvi_cost cost, cost_replace;
} pvi_job;

/* m NULL: plan without data, from data.rows and data.features or the schema. */
pv_status pvi_job_create(pv_plan *plan, const pvi_matrix *m, pvi_job **out);
void pvi_job_free(pvi_job *job);
bool pvi_job_exposes(const pvi_job *j);        /* shows measures of the training rows while it trains             */
const char *pvi_job_why_not(const pvi_job *j); /* why what it makes is NOT PRIVATE; NULL: it is private           */
void pvi_job_cost(const pvi_job *j, pv_cost *out); /* the numbers of a caller (budget.c)                    */
/* Of the first ask, where others have less; what is planned where events are not Gaussian.               */
double pvi_first_multiplier(const pv_event *events, double planned);
/* Its parts, in this order: which plug-ins (choose.c); rows, columns, weights (shape.c); target (budget.c); which
 * optimiser (choose.c, auto_optimizer.c); clipping norm, samplers, queries, the optimiser's own choices (releases.c);
 * a release before the optimiser's (stage.c);
 * event tree, noise, cost (budget.c). */
pv_status pvi_job_classes(pvi_job *j, const pvi_matrix *m, int64_t *classes); /* of the label, for model=auto */
pv_status pvi_job_choose(pvi_job *j, int64_t classes); /* but for the optimiser, which wants shape and target */
pv_status pvi_job_choose_optimizer(pvi_job *j);
pv_status pvi_auto_optimizer(pvi_job *j); /* the optimiser of optimizer=auto, its settings and samples */
/* The one of optimizer=auto for the model where nothing else is known; NULL: none. */
const pv_optimizer_ops *pvi_plain_optimizer(const pvi_job *j);
bool pvi_auto_formulas(const pv_plan *plan); /* optimizer=auto, private, nothing of the optimiser set by hand */
pv_status pvi_job_shape(pvi_job *j, const pvi_matrix *m);
pv_status pvi_job_start(pvi_job *j); /* after model and set are open */
pv_status pvi_job_budget(pvi_job *j);
pv_status pvi_job_releases(pvi_job *j);
pv_status pvi_job_stage(pvi_job *j);     /* at the end of pvi_job_releases (stage.c) */
bool pvi_stage_counts(const pvi_job *j); /* it counts rows of persons, and where values lie otherwise */
void pvi_stage_warn(const pvi_job *j);
pv_status pvi_job_noise(pvi_job *j);
/* Signal to noise of a whole run for rows of ordinary signal, NAN: no formula; a warning where it is below 1
 * (outlook.c). */
double pvi_job_outlook(const pvi_job *j);
void pvi_outlook_log(const pvi_job *j);
uint32_t pvi_model_props(const pvi_model_choice *m);
/* What the finite accuracy of the draws costs of delta at this epsilon. */
double pvi_draws_need(const pvi_job *j, double epsilon);
double pvi_draws_covered(const pvi_job *j); /* up to which epsilon the share covers them, with other runs' releases */
/* classes: of the label, 0 for numbers; decides what model=auto means. */
pv_status pvi_model_choose(pv_plan *plan, int64_t classes, pv_arena *a, pvi_model_choice *out);
bool pvi_model_is_auto(const pv_plan *plan);
/* What to expect of labels before model=auto is known. */
pvi_expect pvi_auto_expect(const pv_plan *plan);
/* What rows and labels to expect before any is read: by the model that is named, or whatever is declared. */
pv_status pvi_plan_expect(pv_plan *plan, pvi_expect *out);
/* Whether numbers of a table may become curves, and what their knots are chosen by. */
void pvi_plan_curves(const pv_plan *plan, pvi_expect *e);
/* What the model wants of the labels. */
pvi_expect pvi_model_expect(const pvi_model_choice *m);
#endif
