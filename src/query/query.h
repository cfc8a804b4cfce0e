/* query.h - what can be asked of rows, and releases: a query, noised by a mechanism, on the units of a sampler.
 *
 * A query is one file, with its bound proved at the top, and one line in query.def.  Planner, oracle, certificate and
 * verifier read the same rows of the same tables. */
#ifndef PVI_QUERY_H
#define PVI_QUERY_H
#include "mech/mech.h"
#include "model/model.h"

/* ---- sensitivity (sensitivity.c): one formula ------------------------------------------------------------ */
typedef struct pvi_bound {
    double absent; /* sup ||v||: a unit left out                                       */
    double other;  /* sup ||v - v'||: another in its place                             */
} pvi_bound;
double pvi_sensitivity(const pvi_bound *b, pv_relation relation, bool group_bound, double allowance);
/* How far another unit in the place of one moves a sum of (g, s svec H), ||g|| <= C, the whole at most B. */
double pvi_replace_change(double B, double C, bool semidefinite);

/* ---- queries ------------------------------------------------------------------------------------------------ */
typedef struct pvi_query { /* one that was opened; all borrowed                                     */
    const struct pvi_query_ops *ops;
    const pv_problem *prob;
    const pv_domain *dom;
    const pv_model_ops *model;
    const void *cfg; /* of the model                                                            */
    int64_t length;  /* numbers in a sum                                                        */
    int64_t values;  /* numbers in an answer                                                    */
    pvi_bound bound; /* of what one unit adds to a sum                                          */
    bool sparse;     /* CSR rows, of a model that puts them on the grid one by one                */
    bool per_unit;   /* units are rounded to the grid one by one: there are no float sums       */
    pv_joint joint;  /* queries of matrices                                                     */
} pvi_query;

typedef struct pvi_lane { /* what one thread needs */
    float *g;             /* the float sum of one group */
    int64_t *sum;         /* on the grid */
    void *scratch;
    int64_t bad;
} pvi_lane;

typedef struct pvi_query_ops {
    const char *name, *summary;
    const char *caveat; /* optional: a sentence for the assumptions of a certificate                 */
    int64_t full, sampled,
        mean; /* units of one float sum: of every unit, of a sample at most, of a sample on average */
    double batch_share, batch_most; /* a sample unless set: one in so many, at most so many            */
    bool transforms;    /* its answers transform the rows of later queries: they become dense                */
    bool parts;         /* a gradient is one part of what is bounded                                   */
    bool takes_weights; /* asked at a point                                                           */
    /* length, values and bound from problem, domain and model; or refuses.                           */
    pv_status (*open)(pvi_query *q, pv_ctx *ctx);
    size_t (*scratch)(const pvi_query *q, int64_t most);
    double (*rounding)(const pvi_query *q, int64_t m); /* L2 error of the float sum of m units          */
    void (*add)(const pvi_query *q, const void *model_state, const pv_rows *units, double spacing, pvi_lane *l);
    /* Optional: out += share times the answer of the noisy sum, post-processing; NULL: the sum itself.     */
    void (*value)(const pvi_query *q, const double *noisy, double share, double *out);
    /* The verifier's question: what `other` follows from recorded bounds B of the whole and C of the gradient? */
    double (*other)(double B, double C, bool semidefinite);
} pvi_query_ops;
#define PVI_QUERY(name) extern const pvi_query_ops pvi_query_##name;
#include "query/query.def"
#undef PVI_QUERY
extern const pvi_query_ops *const pvi_queries[]; /* NULL ends the list */

/* ---- kinds of release (release.c): which query goes with which mechanism and samplers, and where that is proved */
enum { PVI_MOST_SAMPLERS = 5 };
typedef struct pvi_release_kind {
    const char *name; /* pinned: in certificates                                                        */
    const pvi_query_ops *query;
    const pv_mechanism_ops *mech;
    const pvi_sampler_ops *samplers[PVI_MOST_SAMPLERS]; /* NULL ends the list                             */
    bool may_clip;      /* the clipping norm may be chosen below the loss's own bound                     */
    const char *refuse; /* what is said to another sampler                                                */
    const char *proof;
} pvi_release_kind;
extern const pvi_release_kind pvi_release_kinds[];          /* name NULL ends the table                             */
const pvi_release_kind *pvi_kind_of(const pv_ask_row *ask); /* NULL: no proof covers it                    */
const pvi_release_kind *pvi_kind_named(const char *name);
bool pvi_kind_takes(const pvi_release_kind *k, const pvi_sampler_ops *s);

/* A row of the plan. */
typedef struct pvi_release {
    const pvi_release_kind *kind;
    const pvi_sampler_ops *sampler;
    bool asked; /* an ask that the optimiser has no use for is not */
    pvi_query q;
    double batch, rate;    /* expected units in a query, and their share of all                                */
    int64_t group, most;   /* places that a group spans; units in one float sum                              */
    double error;          /* E: L2 distance of one computed group sum from the exact one, grid included      */
    double allowance;      /* part of the sensitivity that pays for floating point and the grid              */
    double sensitivity[3]; /* by pv_relation, without the group bound                                        */
    pv_noise noise;
    const pv_event *event; /* of one; its leaf names this row                                                */
} pvi_release;
/* Batch, rate and groups of a release on `units` units, `wanted` in a sample (NAN: the query's own choice). */
void pvi_release_sample(pvi_release *r, double wanted, double units);
/* Grid, rounding error, sensitivities; noise for the multiplier z (private_run false: none). */
pv_status pvi_release_noise(pvi_release *r, pv_relation relation, double z, double max_ratio, bool private_run,
                            pv_ctx *ctx);
#endif
