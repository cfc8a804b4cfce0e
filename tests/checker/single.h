/* single.h - the exact privacy curve of one release, as rigorous intervals (Arb).
 *
 * Shares no code with src/acct: nothing here includes a header of the library. */
#ifndef CK_SINGLE_H
#define CK_SINGLE_H
#include <stdbool.h>

#include <arb.h>

typedef enum ck_kind { CK_GAUSSIAN, CK_LAPLACE, CK_SELECT, CK_BALL, CK_EPS_DELTA, CK_KINDS } ck_kind;
typedef enum ck_sampler { CK_WHOLE, CK_POISSON, CK_FIXED, CK_SAMPLERS } ck_sampler;

/* a: noise multiplier, scale, epsilon, delta, epsilon;  b: delta of an (epsilon, delta) release. */
typedef struct ck_release {
    ck_kind kind;
    double a, b;
    ck_sampler sampler;
    double rate;  /* 1 without a sampler                                              */
    double times; /* Gaussian: so many, from one sample if there is a sampler         */
    double rows;  /* Gaussian, Laplace without a sampler: so many rows change at once */
    bool replace; /* relation: replace; else zero-out                                 */
} ck_release;

/* Is the curve below the truth?  Otherwise no theorem covers the release, and no answer may be given. */
bool ck_known(const ck_release *r);
/* Poisson sampling under replace: the curve is the group bound, a theorem but not the truth. */
bool ck_group(const ck_release *r);
/* delta(eps), eps >= 0, to 60 bits or to an absolute 2^-30000. */
void ck_delta(arb_t delta, const ck_release *r, double eps);
/* The smallest eps with delta(eps) <= delta, between *lo and *hi, a relative 1e-12 apart (from 1e-39 on);
 * INFINITY: none. */
void ck_epsilon(const ck_release *r, double delta, double *lo, double *hi);
/* A lower bound on delta(eps) under replace of a Poisson-sampled Gaussian: one attack. */
void ck_attack(arb_t delta, const ck_release *r, double eps);
/* H of the release without its sampler at the ratio e^eps, eps >= 0 (formulas in single.c). */
void ck_base(arb_t h, const ck_release *r, const arb_t eps, slong prec);
/* The normal distribution function. */
void ck_normal(arb_t p, const arb_t x, slong prec);
#endif
