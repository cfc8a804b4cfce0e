/* pld.h - shared by the files of the privacy-loss-distribution accountant (pld_*.c, acct_pld.c, fft.c). */
#ifndef PVI_PLD_H
#define PVI_PLD_H
#include "core/core.h"
#include "range.h"

#define PVI_PLD_U 0x1p-53 /* unit roundoff */

/* `count` adaptive repetitions of one leaf, sampled with probability rate (1: not sampled).  The truth is at
 * least as private as a, b, rate say; each is off by a factor of 1 + slack at most: lower bounds use that end. */
typedef struct pvi_pld_term {
    pv_ev_kind kind; /* GAUSSIAN, LAPLACE, SELECT, BALL or EPS_DELTA */
    double a, b, rate, slack;
    int64_t count;
} pvi_pld_term;

static inline double pvi_pld_max(double x, double y)
{
    return x > y ? x : y;
}

static inline double pvi_pld_min(double x, double y)
{
    return x < y ? x : y;
}

/* ---- dominating pairs (pld_pair.c) ----------------------------------------------------------------------- */
typedef struct pvi_pld_atom {
    double loss, p; /* privacy loss and its probability under P, each off by less than 16 ulp */
} pvi_pld_atom;
typedef struct pvi_pld_pair {
    double z;        /* Gaussian: noise multiplier; 0: the exponential family below              */
    double coef, e0; /* density coef e^{(l - e0)/2}/2 dl of the base loss l on [-e0, e0]            */
    double q;        /* sampling rate                                                            */
    bool add;        /* the reverse direction: P = base, Q = mixture                             */
    double scale;    /* a length on which the loss density varies                                */
    double top;      /* probability of an infinite loss                                          */
    int atoms;
    pvi_pld_atom atom[4]; /* ascending */
} pvi_pld_pair;
/* At one loss: the base loss l, its ratio gam = e^l (continued below zero), the tails there. */
typedef struct pvi_pld_edge {
    double eps, l, gam;
    double aP, aQ, sP, sQ, rP, rQ; /* Gaussian: arguments, tails on their own side, error of the tails */
    double gQ, rG;                 /* e^l times the upper tail of Q, where aQ > 0, and its error         */
} pvi_pld_edge;
/* The continuous part between two edges: P, L = e^lo Q, E = P - L, and bounds on their errors. */
typedef struct pvi_pld_cell {
    double P, L, E, eP, eL, eE;
} pvi_pld_cell;
/* low: a pair that the event is sure to have, instead of one that dominates it; h: the lattice used. */
void pvi_pld_pair_init(pvi_pld_pair *x, const pvi_pld_term *t, bool add, bool low, double h);
/* Losses outside [lo, hi] have probability of about `tail` at most on either side. */
void pvi_pld_pair_range(const pvi_pld_pair *x, double tail, double *lo, double *hi);
/* Sampled Gaussian: a loss that cuts off about 2 % of P at the bounded end. */
double pvi_pld_pair_inner(const pvi_pld_pair *x);
void pvi_pld_pair_edge(const pvi_pld_pair *x, double eps, pvi_pld_edge *e);
void pvi_pld_pair_cell(const pvi_pld_pair *x, const pvi_pld_edge *lo, const pvi_pld_edge *hi, pvi_pld_cell *c);

/* ---- masses on the lattice offset + k h (pld_mass.c, pld_below.c) ---------------------------------------- */
typedef struct pvi_pld_grid {
    double h, c, cap; /* lattice; a cell near loss x is max(h, c min(|x|, scale, cap)) wide              */
    double tail;      /* probability that may be cut off on either side                                */
    bool add, low;
} pvi_pld_grid;
typedef struct pvi_pld_mass {
    int64_t len, count;
    int64_t *k; /* ascending, repeats allowed */
    double *p;
    double offset, inf, scale;
} pvi_pld_mass;
/* PV_E_NUMERIC: more than `room` cells. */
pv_status pvi_pld_mass_build(pv_arena *a, const pvi_pld_term *t, const pvi_pld_grid *g, int64_t room,
                             pvi_pld_mass *out);
/* Puts p (and its excess, see pld_below.c) at k, keeping the order; masses of one point are summed. */
void pvi_pld_mass_put(pvi_pld_mass *m, double *E, int64_t k, double p, double excess);
/* From cells (k, p, E) to masses below them. */
pv_status pvi_pld_balance(pv_arena *a, double h, const double *E, pvi_pld_mass *m);

/* ---- moments (pld_moment.c) ------------------------------------------------------------------------------ */
/* ln sum p e^{theta k h}, and the mean and variance of k h so tilted; without the offset. */
double pvi_pld_log_moment(const pvi_pld_mass *m, double h, double theta, double *mean, double *var);
typedef struct pvi_pld_cumulant { /* of the whole composition at theta, offsets included */
    double K, K1, K2;
} pvi_pld_cumulant;
pvi_pld_cumulant pvi_pld_cumulants(const pvi_pld_mass *m, int64_t terms, double h, double theta);
/* Upper bounds: ln of the finite part of delta(eps), by Markov's inequality at any theta > 0; and what wrapping
 * adds to it (pld_compose.c), for any t > theta. */
double pvi_pld_markov(const pvi_pld_mass *m, int64_t terms, double h, double theta, double eps);
double pvi_pld_excess(const pvi_pld_mass *m, int64_t terms, double h, double theta, double y, double t, double eps);

/* ---- composition (pld_compose.c) ------------------------------------------------------------------------- */
typedef struct pvi_pld_law pvi_pld_law; /* the composed law, tilted, on a circle of N lattice points */
/* N: a power of two.  `scale`: expected size of the sum, for choosing how many frequencies are needed.
 * Adds to *work, about nanoseconds; PV_E_NUMERIC: it would take more than PVI_PLD_WORK altogether. */
#define PVI_PLD_WORK  8e8
#define PVI_PLD_TOTAL 4e9 /* all directions and all epsilons that one question leads to */
pv_status pvi_pld_compose(pv_arena *a, const pvi_pld_mass *m, int64_t terms, double h, double theta, int64_t N,
                          double scale, double *work, pvi_pld_law **out);
/* Bounds on delta(eps) of the masses composed; excess: pvi_pld_excess. */
double pvi_pld_delta_ub(const pvi_pld_law *law, double eps);
double pvi_pld_delta_lb(const pvi_pld_law *law, double eps, double excess);

/* ---- choices (pld_plan.c) -------------------------------------------------------------------------------- */
typedef struct pvi_pld_job {
    pv_ctx *ctx;
    pv_arena *arena; /* masses */
    const pvi_pld_term *term;
    int64_t terms;
    bool add;
    double delta, eps; /* the target: delta, or eps if delta is 0                                             */
    double count;      /* steps                                                                              */
    double tolerance;  /* wanted gap, relative to eps                                                         */
    double tail, h, c, cap;
    double far;                               /* largest loss of one step                                     */
    double theta, s, guess, ln_delta, markov; /* tilt, standard deviation there, expected eps and ln delta     */
    double inf;                               /* probability of infinite losses, upper bound                  */
    double work, *total;                      /* of this direction, and of the whole question */
    pvi_pld_mass *up, *low;
} pvi_pld_job;
typedef struct pvi_pld_window {
    double theta, y, t;
    int64_t N;
} pvi_pld_window;
#define PVI_PLD_TOLERANCE 1e-3 /* the default */
pv_status pvi_pld_build(pvi_pld_job *b, bool low);
double pvi_pld_largest(const pvi_pld_job *b);      /* sum of the largest losses, upper bound */
double pvi_pld_finite_delta(const pvi_pld_job *b); /* what delta leaves to finite losses; lower bound */
/* Coarse masses, tilt, lattice with cells of relative width c.  Leaves after the masses when that is nothing. */
pv_status pvi_pld_survey(pvi_pld_job *b, double c);
pv_status pvi_pld_refine(pvi_pld_job *b);
void pvi_pld_lattice_near(pvi_pld_job *b, double slope);
pvi_pld_window pvi_pld_choose_window(const pvi_pld_job *b, double reach);

/* ---- answers (pld_bracket.c) ----------------------------------------------------------------------------- */
/* Certified bounds on epsilon at delta > 0, as close to each other as `tolerance` wants where work allows; INFINITY:
 * losses are infinite with probability delta or more.  *work grows by what was done; PV_E_NUMERIC: it had reached
 * PVI_PLD_TOTAL before. */
pv_status pvi_pld_epsilon(pv_ctx *ctx, const pvi_pld_term *term, int64_t terms, double delta, double tolerance,
                          double *work, double *ub, double *lb);
pv_status pvi_pld_delta(pv_ctx *ctx, const pvi_pld_term *term, int64_t terms, double eps, double tolerance,
                        double *work, double *ub);

/* ---- FFT (fft.c) ----------------------------------------------------------------------------------------- */
int64_t pvi_fft_room(int64_t n);          /* doubles that the roots take; n: a power of two from 8 on */
void pvi_fft_roots(int64_t n, double *w); /* once for all transforms of n numbers                      */
/* x[0 .. n/2] (re, im interleaved) = sum_k x[k] e^{-2 pi i jk/n}, in place: n + 2 doubles.  z: room for n. */
typedef void pvi_fft_fn(int64_t n, const double *w, double *z, double *x);
pvi_fft_fn pvi_fft_real;
extern pvi_fft_fn *const pvi_fft_isa[]; /* the same for each instruction set (core/isa.h) */
#endif
