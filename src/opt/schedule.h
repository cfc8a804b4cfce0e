/* schedule.h - how long each step is and how much noise its release gets, by public rules. */
#ifndef PVI_SCHEDULE_H
#define PVI_SCHEDULE_H
#include "core/core.h"

/* ---- settings: part of every method's loop (opt.h); NULL: constant -------------------------------------- */
typedef struct pvi_schedule_cfg {
    const char *steps;          /* optimizer.schedule                                                    */
    const char *noise, *within; /* optimizer.noise, optimizer.noise_within                              */
    double warmup;              /* share of the steps over which they grow to their full length          */
    int64_t drop;               /* steps after which they are a tenth; 0: never                          */
} pvi_schedule_cfg;

typedef struct pvi_rule { /* one rule that was read */
    int kind;
    int64_t n;
    const double *x; /* its numbers */
} pvi_rule;

typedef struct pvi_level { /* positions up to `until`, from where the last level ends, have this variance */
    int64_t until;
    double variance;
} pvi_level;
typedef struct pvi_levels {
    int64_t n;
    const pvi_level *level;
} pvi_levels;

typedef struct pvi_schedule { /* of a run of T steps */
    int64_t T;
    double warmup;
    int64_t drop;
    pvi_rule steps;
    int64_t unit;            /* steps that one position of `over` takes: those of an epoch, or 1         */
    pvi_levels over, within; /* o(k) and o(j)                                                            */
    double least;            /* the smallest product that a step has                                     */
} pvi_schedule;

/* Reads and checks all of it, or PV_E_PARAM, or PV_E_UNSUPPORTED where no proof covers it. */
pv_status pvi_schedule_open(pvi_schedule *s, const pvi_schedule_cfg *c, const pv_problem *p, int64_t T, pv_arena *a);
/* The same, for its errors alone. */
pv_status pvi_schedule_check(const pvi_schedule_cfg *c, const pv_problem *p, int64_t T);
double pvi_schedule_eta(const pvi_schedule *s, double eta, int64_t t); /* length of step t = 1 .. T              */
double pvi_schedule_factor(const pvi_schedule *s, int64_t t);          /* of its noise, >= 1                     */
/* T releases, `one` that with the least noise, as a tree with a leaf for every level. */
pv_status pvi_schedule_events(const pvi_schedule *s, const pv_event *one, pv_arena *a, const pv_event **total);
bool pvi_schedule_equal_steps(const pvi_schedule_cfg *c); /* all steps are as long as the first */
bool pvi_schedule_equal_noise(const pvi_schedule_cfg *c);
/* o(k) of epochs k = 0 .. K-1. */
pv_status pvi_noise_variances(pv_ctx *ctx, const char *text, int64_t K, pv_arena *a, double *o);
int64_t pvi_epoch_steps(const pv_problem *p); /* J: steps that look at as many rows as there are */
#endif
