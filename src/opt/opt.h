/* opt.h - what the optimisers share: the loop, schedules, defaults. */
#ifndef PVI_OPT_H
#define PVI_OPT_H
#include "opt/schedule.h"
#include "query/query.h"
#include "reg/reg.h"

/* ---- the loop all methods share (loop.c): T releases, and which iterate is returned ------------------
 * All output rules are functions of released values: post-processing. */
#define PVI_OUTPUT_CHOICES "average|last|random|ema|average-all"
enum { PVI_OUT_AVERAGE, PVI_OUT_LAST, PVI_OUT_RANDOM, PVI_OUT_EMA, PVI_OUT_ALL, PVI_OUT_CHOICES };
typedef struct pvi_loop_cfg { /* first member of a method's cfg */
    int64_t steps, output;
    pvi_schedule_cfg sched; /* constant where a method has no rows for it */
} pvi_loop_cfg;
/* Its rows of the parameter table. */
#define PVI_STEPS_ROW                                                                                                \
    {                                                                                                                \
        "steps", PV_I64, offsetof(pvi_loop_cfg, steps), PV_AUTO, 1, 1e9, true, "T, number of steps", NULL            \
    }
#define PVI_LOOP_ROWS(default_output)                                                                                \
    PVI_STEPS_ROW,                                                                                                   \
    {                                                                                                                \
        "output", PV_ENUM, offsetof(pvi_loop_cfg, output), default_output, 0, 0, false, "which iterate is returned", \
            PVI_OUTPUT_CHOICES                                                                                       \
    }
/* Rows of what schedule.c reads.  `certified`: lengths enter a guarantee. */
/* clang-format off */
#define PVI_SCHEDULE_ROW(standard, certified)                                                                        \
    { "schedule", PV_STR, offsetof(pvi_loop_cfg, sched.steps), 0, 0, 0, certified,                                   \
      "how steps change: constant, inverse[:H], inverse-sqrt[:H], linear, cosine, decay, drops:N1,N2,..., "          \
      "drops-by:F,N1,N2,...", standard }
#define PVI_WARMUP_ROW(standard, certified)                                                                          \
    { "warmup", PV_F64, offsetof(pvi_loop_cfg, sched.warmup), standard, 0, 1, certified,                             \
      "share of the steps over which they grow to their full length", NULL }
#define PVI_DROP_ROW                                                                                                 \
    { "drop", PV_I64, offsetof(pvi_loop_cfg, sched.drop), 0, 0, 1e15, false,                                         \
      "steps after which eta is a tenth of what it was; 0: never", NULL }
#define PVI_NOISE_ROWS                                                                                               \
    { "noise", PV_STR, offsetof(pvi_loop_cfg, sched.noise), 0, 0, 0, true,                                           \
      "o, noise variance by epoch: constant, linear:A,B, cosine:A,B, exponential:A,B, ramp:A,B,M, table:O0,...; "    \
      "step:RULE: by step",                                                                                          \
      "constant" },                                                                                                  \
    { "noise_within", PV_STR, offsetof(pvi_loop_cfg, sched.within), 0, 0, 0, true,                                   \
      "the same by step within an epoch; both multiply", "constant" }
/* clang-format on */
typedef struct pvi_loop { /* first member of a method's state */
    int64_t rule, steps, kept, pick;
    double decay; /* of the moving average */
    double *w;    /* what will be returned */
    pvi_schedule sched;
} pvi_loop;
/* Slots: T releases of the query the method asks for, with the noise of the schedule; T. */
pv_status pvi_loop_plan(const void *cfg, const pv_problem *p, pv_arena *a, const pv_event **total);
int64_t pvi_loop_steps(const void *cfg);
pv_status pvi_loop_init(pvi_loop *l, const pvi_loop_cfg *c, const pv_problem *p, pv_arena *a);
/* Slot, where the loop's state comes first and nothing else is to be done. */
pv_status pvi_loop_start(void *state, const void *cfg, const pv_problem *p, pv_arena *a);
#define PVI_LOOP_ARRAY                                                                                               \
    {                                                                                                                \
        offsetof(pvi_loop, w), PV_VECTOR                                                                             \
    } /* a row of the table of arrays */
/* Before step t: at t = 1 w becomes the start, a member of the set chosen without looking at rows. */
void pvi_loop_begin(pvi_loop *l, const pv_problem *p, int64_t t, pv_oracle *o, double *w);
/* The start in other coordinates, where steps are taken in them. */
void pvi_loop_keep_start(pvi_loop *l, const pv_problem *p, const double *w);
/* Release of step t, the method's first ask, with the noise of the schedule; and the length of the step. */
pv_status pvi_loop_ask(const pvi_loop *l, int64_t t, pv_oracle *o, const double *at, double *out);
static inline double pvi_loop_eta(const pvi_loop *l, double eta, int64_t t)
{
    return pvi_schedule_eta(&l->sched, eta, t);
}
/* Share of the vertex in step t of Frank-Wolfe: schedule=auto is step, or 2/(t + 2) where that is NAN. */
double pvi_loop_gamma(const pvi_loop *l, const pvi_loop_cfg *c, double step, int64_t t);
/* After step t: PV_OK, or PV_DONE with the returned iterate in w. */
pv_status pvi_loop_end(pvi_loop *l, const pv_problem *p, int64_t t, double *w);

/* ---- defaults (defaults.c): from public quantities only, each with a note that says why ---------------------- */
typedef struct pvi_step_choice { /* in: NAN or PV_AUTO_I64 where the method may choose; out: chosen */
    double step, momentum;
    int64_t steps;
} pvi_step_choice;
typedef struct pvi_step_rule {
    double factor;   /* the largest step is factor / L                                                  */
    double momentum; /* the smallest one to choose; chosen up to .98 if `adapt_momentum` */
    bool adapt_momentum;
    int64_t least, most; /* steps                                                                              */
} pvi_step_rule;
/* PV_E_PARAM where the loss has no smoothness constant to take a step from. */
pv_status pvi_default_steps(const pv_problem *p, const pvi_step_rule *rule, pvi_step_choice *choice);
/* factor/L alone; the same error. */
pv_status pvi_default_step(const pv_problem *p, double factor, double *eta);
/* The product of steps and step length at which optimisation and noise balance; INFINITY without noise. */
double pvi_horizon(const pv_problem *p, double clip);
/* The same where noise is added once, to the end of a descent: output perturbation. */
double pvi_descent_horizon(const pv_problem *p, double clip);
/* s: the noise in each weight of T averaged gradients, whatever T is.  0: none. */
double pvi_run_noise(const pv_problem *p, double clip);
/* Of what can be learned from rows of ordinary signal, over a whole run. */
double pvi_signal_to_noise(const pv_problem *p);
/* A bound for one row's gradient, at most the loss's own (p->G, finite). */
double pvi_default_clip(const pv_problem *p);
double pvi_clip_for(const pv_problem *p); /* the same, without a note */
/* The rule of pgd, and the steps it makes for p->C, without a note. */
extern const pvi_step_rule pvi_pgd_rule;
int64_t pvi_default_pgd_steps(const pv_problem *p);
/* Frank-Wolfe on noisy gradients. */
int64_t pvi_default_fw_steps(const pv_problem *p, int64_t least, int64_t most);

/* ---- calibration=paper (paper.c): PV_E_UNSUPPORTED where a condition of the theorem fails ------------------- */
enum { PVI_BY_ACCOUNTANT, PVI_BY_PAPER };
#define PVI_CALIBRATION_ROW(cfg, help)                                                                               \
    {                                                                                                                \
        "calibration", PV_ENUM, offsetof(cfg, calibration), PVI_BY_ACCOUNTANT, 0, 0, true, help, "default|paper"     \
    }
pv_status pvi_paper_batches(const pv_problem *p, int64_t T, double *z); /* DP-LSSGD                          */
pv_status pvi_paper_full(const pv_problem *p, const char *theorem, bool needs_set, int64_t T, double *z);
bool pvi_paper_symmetric(const pv_problem *p); /* is the set, which has lmo, symmetric about 0? */
/* Theorems that have one length of steps, or one noise, have nothing to say of others. */
pv_status pvi_paper_equal_steps(const pv_problem *p, const char *theorem, const pvi_schedule_cfg *c);
pv_status pvi_paper_equal_noise(const pv_problem *p, const char *theorem, const pvi_schedule_cfg *c);
pv_status pvi_paper_step(const pv_problem *p, const char *theorem, double step, double most, double momentum);
int64_t pvi_paper_pgd_steps(const pv_problem *p);
int64_t pvi_paper_fw_steps(const pv_problem *p);
pv_status pvi_paper_vertices(const pv_problem *p, int64_t T, double *z); /* DP-FW-L2 */
double pvi_paper_fw_gamma(const pv_problem *p, int64_t T);
int64_t pvi_paper_pmd_steps(const pv_problem *p);
double pvi_paper_pmd_factor(const pv_problem *p, double modulus);                    /* of 1/L */
pv_status pvi_paper_joint(const pv_problem *p, int64_t T, double growth, double *z); /* DP-TR                 */
double pvi_paper_samples(const pv_problem *p, int64_t T); /* DP-STR: standard deviation on the mean of a sample */
pv_status pvi_paper_selection(const pv_problem *p, int64_t T, double *z); /* DP-FW-L1                        */
int64_t pvi_paper_choices(const pv_problem *p);
double pvi_paper_gamma(const pv_problem *p, int64_t T);
pv_status pvi_paper_ball(const pv_problem *p, int64_t T, double *z); /* PrGD                                 */

/* Smoothness of loss + penalty as far as it is handled by gradient. */
double pvi_smoothness(const pv_problem *p);
#endif
