/* second_order.h - what the second-order methods share: joint releases, how the budget is spread over them, and
 * steps. */
#ifndef PVI_SECOND_ORDER_H
#define PVI_SECOND_ORDER_H
#include "opt/opt.h"
#include "opt/trust_subproblem.h"

typedef struct pvi_second_cfg { /* first member of a method's cfg */
    pvi_loop_cfg loop;
    double radius, alpha, gap, weight, growth, damping, reach, share;
    int64_t calibration, krylov;
} pvi_second_cfg;
enum { PVI_SECOND_DEFAULT, PVI_SECOND_PAPER };
/* Numbers of the asks; without the third, gradient and Hessian are one release. */
enum { PVI_SECOND_STEPS, PVI_SECOND_MOMENTS, PVI_SECOND_HESSIAN };

typedef struct pvi_second { /* first member of a method's state */
    pvi_loop loop;
    pvi_trust trust;
    double *g, *H, *h; /* g and H are one answer of the oracle */
    int64_t left;      /* planned events not spent yet; of each kind where gradient and Hessian are apart */
    double *one;       /* apart: an answer, before it is averaged with others; else NULL */
    double times[2];   /* apart: noise of gradient and Hessian over what is planned of one event */
} pvi_second;

/* Rows of the parameter table: of joint releases, and of steps within a region. */
/* clang-format off */
#define PVI_SECOND_CALIBRATION_ROW                                                                                   \
    { "calibration", PV_ENUM, offsetof(pvi_second_cfg, calibration), PVI_SECOND_DEFAULT, 0, 0, true,                 \
      "paper: its sensitivity, equal shares, equal steps", "default|paper" }
#define PVI_JOINT_ROWS                                                                                               \
    { "weight", PV_F64, offsetof(pvi_second_cfg, weight), PV_AUTO, 1e-3, 1e3, true,                                  \
      "s K / C, weight of the Hessian in a release; auto: as much as costs little", NULL },                          \
    { "growth", PV_F64, offsetof(pvi_second_cfg, growth), PV_AUTO, 1, 1e4, true,                                     \
      "q, budget of the last step over that of the first", NULL },                                                   \
    PVI_SECOND_CALIBRATION_ROW
#define PVI_TRUST_REGION_ROWS                                                                                        \
    { "radius", PV_F64, offsetof(pvi_second_cfg, radius), PV_AUTO, 1e-9, 1e9, false,                                 \
      "r, longest step; auto: 4, or from alpha", NULL },                                                       \
    { "alpha", PV_F64, offsetof(pvi_second_cfg, alpha), PV_AUTO, 1e-12, 1e6, false,                                  \
      "alpha, wanted second-order stationarity: sets r and T as the theory does", NULL },                            \
    { "gap", PV_F64, offsetof(pvi_second_cfg, gap), PV_AUTO, 1e-12, 1e12, false,                                     \
      "Delta, bound on how far the start is above the minimum, with alpha; auto: 1", NULL },                         \
    { "damping", PV_F64, offsetof(pvi_second_cfg, damping), PV_AUTO, 0, 1e3, false,                                  \
      "added curvature over the noise's", NULL },                                                                    \
    { "krylov", PV_I64, offsetof(pvi_second_cfg, krylov), 0, 0, 300, false,                                          \
      "vectors g, Hg, HHg, .. in whose span a step is looked for; 0: everywhere, exactly", NULL },                   \
    { "reach", PV_F64, offsetof(pvi_second_cfg, reach), PV_AUTO, 1e-6, 1e9, false,                                   \
      "most that noise alone may change a margin (with share=0: a weight); auto: 1 (10; 0.3 if not convex)", NULL }, \
    { "share", PV_F64, offsetof(pvi_second_cfg, share), PV_AUTO, 0, 0.9, true,                                       \
      "of the budget, to learn in which directions the rows differ; auto: 0.1 for convex losses of one "     \
      "number and up to 512 weights, else 0", NULL }
/* clang-format on */

#define PVI_SECOND_ARRAYS                                                                                            \
    PVI_LOOP_ARRAY,                                                                                                  \
    {                                                                                                                \
        offsetof(pvi_second, h), PV_VECTOR                                                                           \
    }

int64_t pvi_second_units(const pvi_second_cfg *c, int64_t t); /* events spent on step t */
int64_t pvi_second_total(const pvi_second_cfg *c);            /* on all steps */
int64_t pvi_second_moment_units(const pvi_second_cfg *c);     /* before the first, on second moments */
bool pvi_second_learns(const void *cfg);                      /* are there any? */
void pvi_second_weigh(const void *cfg, const pv_problem *p, pv_joint *j);
pv_status pvi_second_plan(const void *cfg, const pv_problem *p, pv_arena *a, const pv_event **total);
/* The Hessian is all noise: so says a warning, from public quantities. */
void pvi_second_warn(const void *cfg, const pv_problem *p);
pv_status pvi_second_init(pvi_second *s, const pvi_second_cfg *c, const pv_problem *p, pv_arena *a);
/* A release of so many events at w, with so many times the noise: gradient and Hessian of the loss in s->g, s->H. */
pv_status pvi_second_query(pvi_second *s, pv_oracle *o, const double *w, int64_t units, double louder);
/* Eigenvalues of s->H in s->trust.value, vectors in the rows of s->trust.A; then those of s->H are moved to where a
 * convex loss can have them. */
pv_status pvi_second_eigen(pvi_second *s, const pv_problem *p);
/* rho of loss + penalty. */
double pvi_second_rho(const pv_problem *p);
/* Standard deviation of the noise per coordinate of the averaged gradient, for one release of so many events. */
double pvi_second_noise(const pvi_second_cfg *c, const pv_problem *p, int64_t units);
/* The same per entry of the Hessian off its diagonal. */
double pvi_second_entry(const pvi_second_cfg *c, const pv_problem *p, int64_t units);
static inline double pvi_second_noise_norm(int64_t d, double entry) /* largest eigenvalue of that noise */
{
    return 2.0 * sqrt((double)d) * entry;
}
#endif
