/* acct.h - events and accountants, as the rest of the library sees them. */
#ifndef PVI_ACCT_H
#define PVI_ACCT_H
#include "core/core.h"
#include "range.h"

/* ---- event trees (event.c) ------------------------------------------------------------------
 * Canonical JSON, no alternatives, unknown keys and kinds refused (P5):
 *   {"kind":"gaussian","noise_multiplier":1.1}      {"kind":"laplace","scale":2}
 *   {"kind":"select","epsilon":0.1}                 {"kind":"ball","delta":1e-6}
 *   {"kind":"eps-delta","epsilon":1,"delta":1e-6}   {"kind":"none"}  {"kind":"nonprivate"}
 *   {"kind":"poisson","rate":0.01,"event":{...}}    {"kind":"fixed","rate":0.01,"event":{...}}
 *   {"kind":"cyclic","parts":10,"event":{...}}
 *   {"kind":"repeat","times":100,"event":{...}}     {"kind":"sequence","events":[...]}           */
void pvi_event_write(const pv_event *ev, pvi_jw *w, const char *key);
/* Depth is limited (JSON's own limit); ranges are checked: rates in (0,1], noise > 0, times >= 0. */
pv_status pvi_event_parse(pv_ctx *ctx, pv_arena *a, const char *name, const pvi_json *v, const pv_event **out);
bool pvi_event_equal(const pv_event *x, const pv_event *y); /* false beyond the depth limit                 */
/* Shape and ranges of a tree built by a program: the same rules as parsing.  Nothing else in this
 * folder trusts a tree that has not passed; a tree that is too deep or too large is PV_E_ARG. */
pv_status pvi_event_check(pv_ctx *ctx, const pv_event *ev); /* ctx NULL: no message */
/* PV_E_ARG with the range in words where x is outside it; ctx NULL: no message (event.c) */
pv_status pvi_within(pv_ctx *ctx, pvi_range_id id, double x);
enum { PVI_EVENT_DEPTH = 24 }; /* a sequence takes two JSON levels, so every checked tree can be read back */

/* What accountants see: the tree as a list of terms.  Samplers of rate 1 vanish; several Gaussians
 * released from one Poisson sample are one Gaussian (its noise multiplier rounded down).  A sampler over
 * anything else that is not a single leaf, or over a sampler or parts taken in turn, is PV_E_UNSUPPORTED. */
typedef struct pvi_term {
    pv_ev_kind kind; /* a leaf; never NONE                                                          */
    double a, b;
    pv_ev_kind sampler; /* PV_EV_NONE, PV_EV_POISSON or PV_EV_FIXED                                    */
    double rate;        /* 1 without a sampler                                                       */
    int64_t count;      /* adaptive repetitions, 1 .. 2^53                                           */
    bool parts;         /* each on a part of the rows: count is what one row sees                      */
} pvi_term;
typedef pv_status (*pvi_term_fn)(void *user, const pvi_term *t); /* anything but PV_OK ends it        */
pv_status pvi_event_each(const pv_event *ev, pvi_term_fn fn, void *user);
/* Is there a theorem that the sampler amplifies under the relation?  Poisson under zero-out and fixed size
 * under replace, and no sampler at all. */
bool pvi_amplified(const pvi_term *t, pv_relation rel);
const char *pvi_event_name(pv_ev_kind kind); /* "gaussian"; "unknown" */
/* A copy in which the noise multiplier of every Gaussian and the scale of every Laplace is
 * multiplied by s and every selection's epsilon divided by s; other leaves stay.  NULL: no memory. */
const pv_event *pvi_event_scale(pv_arena *a, const pv_event *ev, double s);
pv_event pvi_event_leaf_scale(const pv_event *leaf, double s); /* the same of a leaf */
/* Largest noise multiplier of its Gaussians, and of its selections, whose multiplier is 1 over epsilon; 0: none. */
double pvi_event_noise_max(const pv_event *ev);
double pvi_event_noise_of(const pv_event *ev, int release); /* smallest of this release; INFINITY: none */

int pvi_event_release(const pv_event *ev);                     /* which row of the plan its leaf names */
double pvi_event_releases_of(const pv_event *ev, int release); /* how many of that row */
double pvi_event_releases(const pv_event *ev); /* of a checked tree: how many, a sampled leaf counts as one */
/* Visits the leaves (a sampled leaf counts as one) in the order a run must release them. */
typedef struct pvi_meter pvi_meter;
pvi_meter *pvi_meter_create(pv_arena *a, const pv_event *total); /* NULL: no memory               */
/* PV_E_PLAN: not what was planned, or planned for another release. */
pv_status pvi_meter_spend(pvi_meter *m, int release, const pv_event *event);
bool pvi_meter_done(const pvi_meter *m);       /* everything planned was spent   */
double pvi_meter_fraction(const pvi_meter *m); /* leaves spent / leaves planned  */

/* ---- rounding up unless exact (round.c); finite arguments -------------------------------------------- */
double pvi_add_up(double x, double y);
double pvi_mul_up(double x, double y);
double pvi_div_up(double x, double y); /* y > 0 */
/* One of the values e^{k width} on one side of x > 0, at most width away in ln, rounding apart; 0 stays.
 * width >= 2^-20. */
double pvi_snap(double x, double width, bool above);

/* ---- events of the steps of a second-order method (spread.c): of one step, of all, of second moments before --- */
int64_t pvi_spread_units(double growth, int64_t steps, int64_t t);
int64_t pvi_spread_total(double growth, int64_t steps);
int64_t pvi_spread_first(double share, int64_t total);

/* ---- what is claimed (claim.c) ------------------------------------------------------------ */
/* Draws are not exactly what the accountant assumes: a distance of tau in total variation costs (1 + e^epsilon) tau
 * of delta.  A fixed share is set aside for it; none above epsilon = 30, where the certificate says so. */
#define PVI_DRAWS_LIMIT 30.0
double pvi_draws_share(double epsilon, double delta);

/* The epsilon to claim for a computed cost: six digits, at least a relative 1e-9 above it, so that another
 * machine's last digits cannot lift the recomputed value over the claim; `limit` when the cost meets it
 * and the rounded claim would not. */
double pvi_cert_claim(double cost, double limit);

/* ---- one Gaussian of parameter mu = sensitivity / standard deviation (gdp.c) ---------------------
 * The exact curve delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), bracketed; mu >= 0.   */
double pvi_gdp_delta_ub(double mu, double eps);
double pvi_gdp_delta_lb(double mu, double eps);
double pvi_gdp_epsilon_ub(double mu, double delta); /* delta 0: INFINITY unless mu is 0                */
double pvi_gdp_epsilon_lb(double mu, double delta);

/* ---- Renyi to (epsilon, delta) (convert.c) --------------------------------------------------------
 * rdp(user, m) bounds the divergence of order 1 + m > 1 and may be INFINITY; `start` is a guess at the best
 * m.  Upper bounds, rounding included.                                                                  */
double pvi_rdp_epsilon(double (*rdp)(const void *user, double m), const void *user, double delta, double start);
double pvi_rdp_delta(double (*rdp)(const void *user, double m), const void *user, double eps, double start);
/* The smallest f(user, m) seen in a search from m = exp(start); f should be unimodal. */
double pvi_minimize(double (*f)(void *user, double m), void *user, double start);

/* ---- Renyi divergences: upper bounds on m D_{1+m} (renyi_*.c) -------------------------------------- */
double pvi_renyi_poisson(double z, double q, double m); /* Poisson-sampled Gaussian, zero-out; 0 < q < 1     */
double pvi_renyi_replace(double z, double q, double m); /* Gaussian on a fixed-size sample, replace      */

/* About how many terms they sum, for who limits the work. */
double pvi_renyi_poisson_work(double z);
double pvi_renyi_replace_work(double m);

/* delta at e of k adaptive eps-DP releases, the exact worst case (binomial.c); upper bound */
double pvi_pure_delta(double eps, double k, double e);

/* ---- last iterate of noisy (cyclic) gradient descent (hidden.c) ---------------------------------------- */
typedef struct pvi_hidden {
    double z;                /* noise standard deviation / a                                                       */
    double shift;            /* a: how far one row can move the averaged gradient                                  */
    double eta;              /* step                                                                               */
    double smooth;           /* M of the averaged loss, regulariser included                                       */
    double strong;           /* m; 0: convex only                                                                  */
    double diameter;         /* D of the constraint set; INFINITY: none                                  */
    int64_t batches, passes; /* l (1: full batch) and E                                                  */
    bool last_iterate_only, no_clipping, exact_projection, fixed_order; /* gates: all must hold            */
} pvi_hidden;
pv_status pvi_hidden_mu(pv_ctx *ctx, const pvi_hidden *h, double *mu); /* PV_E_UNSUPPORTED: a condition is not met */

/* ---- last iterate of block coordinate descent (hidden_sbcd.c): conditional, never charged -------------- */
typedef struct pvi_hidden_sbcd {
    int64_t batches, epochs; /* J and K                                                             */
    const double *z;         /* K noise multipliers, those of all layers together                    */
    double step, smooth;     /* eta of the mean gradient; beta of a layer's problem                   */
    double shrink;           /* lambda of an l2 prox; 0: any other                                    */
    bool fixed_order, last_iterate_only, no_momentum, convex; /* gates: all must hold                 */
    double strong; /* strong convexity of a layer's problem, at most `smooth`; 0: convex alone */
} pvi_hidden_sbcd;
/* R_a <= a rate for every order a; PV_E_UNSUPPORTED: a condition is not met. */
extern const char *const pvi_hidden_sbcd_assumptions[]; /* NULL ends them */
pv_status pvi_hidden_sbcd_rate(pv_ctx *ctx, const pvi_hidden_sbcd *h, double *rate);
double pvi_hidden_sbcd_epsilon(double rate, double delta);
/* The statement as a JSON object, with batches, epochs and multipliers from the events. */
pv_status pvi_hidden_sbcd_write(pv_ctx *ctx, pv_arena *a, pvi_hidden_sbcd h, const pv_event *events, double delta,
                                double *epsilon, const char **json);
pv_status pvi_hidden_sbcd_check(pv_ctx *ctx, const char *json, const pv_event *events, double delta);

/* ---- cost ------------------------------------------------------------------------------------- */
typedef struct pvi_cost {
    double epsilon;       /* certified upper bound at delta                                       */
    double epsilon_lower; /* certified lower bound; 0 when the accountant gives none             */
    double delta;
    const char *accountant; /* the one used (static string)                                         */
    /* Poisson under replace: (2 eps, (1 + e^eps) delta) of zero-out.  What a Poisson sampler contains always
     * refers to the zero-out sensitivity. */
    bool group_bound;
} pvi_cost;
/* Adds one setting to the text below, in the arena; refused where the accountant has no such setting (named.c). */
pv_status pvi_accountant_unknown(pv_ctx *ctx, const char *name); /* the error, with those there are */
pv_status pvi_accountant_set(pv_ctx *ctx, pv_arena *a, const char *key, const char *value, const char **accountant);
/* accountant: a registered name, optionally with settings ("zcdp:conversion=paper"), or "best": the smallest
 * certified upper bound among those that support the events. */
pv_status pvi_account(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double delta,
                      pvi_cost *out);
pv_status pvi_account_delta(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double epsilon,
                            double *delta, const char **used);
/* delta[i], an upper bound at epsilon[i] >= 0, for n points at once (best: the smallest at each point). */
typedef struct pvi_curve {
    int64_t n;
    const double *epsilon;
    double *delta;
} pvi_curve;
/* One accountant, given by its ops: what the calls above and below do for registered ones. */
typedef enum pvi_ask_what { PVI_ASK_EPSILON, PVI_ASK_DELTA, PVI_ASK_CURVE } pvi_ask_what;
typedef struct pvi_question {
    pvi_ask_what what;
    pv_relation rel;
    const pv_event *ev;
    double delta, epsilon;  /* as asked */
    const pvi_curve *curve; /* borrowed */
} pvi_question;
pv_status pvi_ask(pv_ctx *ctx, const pv_accountant_ops *ops, const char *settings, const pvi_question *q,
                  pvi_cost *out);
/* The smallest answer of n accountants that none of their certified lower bounds contradicts. */
enum { PVI_ACCOUNTANTS = 32 };
pv_status pvi_ask_best(pv_ctx *ctx, const pv_accountant_ops *const *ops, int n, const pvi_question *q, pvi_cost *out);
pv_status pvi_account_curve(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev,
                            const pvi_curve *curve);
/* The same for any k rows at once: (k e, (e^{ke} - 1)/(e^e - 1) delta(e)) with the best e. */
pv_status pvi_account_rows(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double delta,
                           int64_t k, pvi_cost *out);
/* The same, and shares for draws are taken from delta (draws.c): c->delta may be larger than delta. */
typedef struct pvi_draws {
    double share, covered; /* of delta; up to which epsilon it is enough */
} pvi_draws;
pv_status pvi_account_draws(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double delta,
                            int64_t rows, const pvi_draws *d, pvi_cost *c);
double pvi_draws_taken(const pvi_draws *d, double epsilon); /* of delta, there */
/* "people" (people.c): what releases that protect a row cost somebody who owns several; share: delta_draws.
 * persons: "groups", what releases that protect a person cost several persons. */
void pvi_people_write(pv_ctx *ctx, pvi_jw *w, const char *accountant, pv_relation rel, const pv_event *ev,
                      double delta, double share, bool persons);

/* ---- what a curve means (curve.c) ------------------------------------------------------------------- */
/* Lower bound on the type II error of every test with type I error alpha. */
double pvi_tradeoff(const pvi_curve *c, double alpha);
/* Smallest mu whose Gaussian curve lies on or above the given one at every point: a fit, and a guarantee only
 * at these points.  INFINITY: none. */
double pvi_mu_fit(const pvi_curve *c);

/* An upper bound by privacy loss distributions alone, with another gap than the accountant's. */
pv_status pvi_pld_within(pv_ctx *ctx, pv_relation rel, const pv_event *ev, double delta, double tolerance,
                         double *eps);

/* Smallest s (to a relative 1e-6, on the safe side) such that the cost of pvi_event_scale(ev, s) is at
 * most epsilon at delta; re-verified after rounding. */
pv_status pvi_calibrate(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double epsilon,
                        double delta, double *s, pvi_cost *cost);
/* The same where events whose noise stays as it is come first (NULL: none): cost is of both. */
pv_status pvi_calibrate_after(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *before,
                              const pv_event *ev, double epsilon, double delta, double *s, pvi_cost *cost);
/* The Gaussian-DP parameter mu with this (epsilon, delta): 1 over the noise multiplier of one Gaussian
 * (acct_gaussian.c). */
pv_status pvi_gaussian_mu(pv_ctx *ctx, pv_relation rel, double epsilon, double delta, double *mu);

/* ---- what epsilon and delta mean, in words (scale.c) ------------------------------------------------- */
typedef struct pvi_claim {
    double epsilon, delta;
    double rows; /* of the table, or persons; 0: nobody says */
    pv_relation relation;
    int64_t group; /* rows protected at once; 0 and 1: one */
    bool persons;  /* not rows: all rows of a person */
} pvi_claim;
typedef struct pvi_strength {
    int level; /* 0 strong, 1 moderate, 2 weak, 3 next to none: the worse of epsilon and delta */
    const char *word, *colour;
    double right; /* how often a guess which of two neighbouring tables was used is right, at most */
} pvi_strength;
pvi_strength pvi_strength_of(const pvi_claim *c);
void pvi_strength_why(const pvi_claim *c, pvi_str *out);   /* which limits were met, or not */
void pvi_strength_guess(const pvi_claim *c, pvi_str *out); /* what that means, in a sentence or two */
/* Members strength, colour, strength_because, guess_right_at_most, guess; c NULL: of what is NOT PRIVATE. */
void pvi_strength_write(pvi_jw *w, const pvi_claim *c);
void pvi_strength_log(pv_ctx *ctx, const pvi_claim *c); /* nothing if strong, a warning if next to none */
#endif
