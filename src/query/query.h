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

/* ---- bins of a histogram (query_histogram.c) -------------------------------------------------------------- */
typedef struct pvi_bins {
    int64_t histograms, bins; /* H, and B of each                                                       */
    bool shared;              /* rows of a unit fall by themselves, and share its count                  */
    /* Bin of row r of unit u in histogram h, 0 .. bins - 1, or -1: none.  Not shared: asked for r = 0 alone. */
    int64_t (*place)(const struct pvi_bins *b, const pv_rows *units, int64_t u, int64_t r, int64_t h);
    const void *arg; /* of place */
} pvi_bins;
/* Persons by how many rows they have, 1 .. most (person_rows.c); what a released histogram says. */
enum { PVI_PERSON_ROWS_MOST = 1024, PVI_COUNTS_MOST = 1 << 15 };
pvi_bins pvi_person_rows_bins(int64_t most);
extern const char pvi_kind_person_rows[], pvi_kind_column_values[]; /* names of kinds of release */
/* Values of the numbers of a table (column_values.c); late NULL: only planned. */
struct pvi_late;
pvi_bins pvi_column_values_bins(const struct pvi_late *late, int64_t columns);
int64_t pvi_column_values_columns(int64_t counts); /* that so many counts are of; 0: of none */
int64_t pvi_person_rows_cap(const int64_t *count, int64_t bins, int64_t persons);
typedef struct pvi_rows_found {
    double rows, error; /* how many rows there are with at most K of a person, and its standard error */
} pvi_rows_found;
static inline void pvi_rows_found_write(pvi_jw *w, const pvi_rows_found *f)
{
    pvi_jw_f64(w, "rows_counted", rint(f->rows));
    pvi_jw_f64(w, "rows_counted_error", ceil(f->error));
}
pvi_rows_found pvi_person_rows_total(const int64_t *count, int64_t bins, int64_t persons, int64_t K, double stddev);

/* ---- counts of scores by class (query_scores.c) -------------------------------------------------------------- */
enum { PVI_SCORE_BINS_MOST = 200, PVI_CHANCE_BINS = 10, PVI_SCORE_CLASSES = 30 };
#define PVI_SCORE_RANGE 10.0     /* of the bins of margins: from -5 to 5, the outer ones open */
typedef struct pvi_score_shape { /* of the counts; all zeros: there is none */
    int64_t classes, bins, cells;
} pvi_score_shape;
pvi_score_shape pvi_score_planned(int64_t classes, double units, double mu); /* by public numbers */
pvi_score_shape pvi_score_found(int64_t cells);
extern const char pvi_scores_caveat[]; /* for the assumptions of a certificate */

/* ---- queries ------------------------------------------------------------------------------------------------ */
typedef struct pvi_query { /* one that was opened; all borrowed                                     */
    const struct pvi_query_ops *ops;
    const pv_problem *prob;
    const pv_domain *dom;
    const pv_model_ops *model;
    const void *cfg;        /* of the model                                                            */
    int64_t length;         /* numbers in a sum                                                        */
    int64_t values;         /* numbers in an answer                                                    */
    pvi_bound bound;        /* of what one unit adds to a sum                                          */
    double unit;            /* of its answer, in means of its sums: 1 unless open() says otherwise */
    bool sparse;            /* CSR rows, of a model that puts them on the grid one by one                */
    bool per_unit;          /* units are rounded to the grid one by one: there are no float sums       */
    pv_joint joint;         /* queries of matrices                                                     */
    pv_descent descent;     /* of query_descent.c                                                   */
    pvi_bins bins;          /* of query_histogram.c                                                 */
    pvi_score_shape scores; /* of query_scores.c                                                */
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
    bool own_batch;     /* its samples have a size of their own: sampler.batch_hessian                  */
    bool takes_weights; /* asked at a point                                                           */
    bool counts;        /* its answer is counts, all of which a certificate lists; no gradient is clipped for it */
    bool units;         /* its bound holds for units of several rows: what a unit adds is clipped as a whole */
    /* length, values and bound from problem, domain and model; or refuses.                           */
    pv_status (*open)(pvi_query *q, pv_ctx *ctx);
    size_t (*scratch)(const pvi_query *q, int64_t most);
    double (*rounding)(const pvi_query *q, int64_t m); /* L2 error of the float sum of m units          */
    void (*add)(const pvi_query *q, const void *model_state, const pv_rows *units, double spacing, pvi_lane *l);
    /* Instead of `add`, for an answer that is no sum of units: puts it on the grid, in the sum of lane 0.        */
    pv_status (*evaluate)(const pvi_query *q, const pv_rows *all, double spacing, pvi_lane *lane, int lanes);
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
typedef struct pvi_release_kind {
    const char *name; /* pinned: in certificates                                                        */
    const pvi_query_ops *query;
    const pv_mechanism_ops *mech;
    const pvi_sampler_ops *const *samplers; /* NULL ends the list                                         */
    bool may_clip;      /* the clipping norm may be chosen below the loss's own bound                     */
    const char *refuse; /* what is said to another sampler                                                */
    const char *proof;
    bool stage; /* one release before the optimiser's, which asks for none; its noise is its own          */
} pvi_release_kind;
extern const pvi_release_kind pvi_release_kinds[];          /* name NULL ends the table                             */
const pvi_release_kind *pvi_kind_of(const pv_ask_row *ask); /* NULL: no proof covers it                    */
const pvi_release_kind *pvi_kind_named(const char *name);
bool pvi_kind_takes_units(const pvi_release_kind *k);  /* of several rows                              */
bool pvi_kind_is_second(const pvi_release_kind *kind); /* a model's pv_hess_ops make it */
/* What a unit's vector can be at most before it is clipped, in gradients of a row (model/units.c (2)). */
static inline double pvi_unit_longest(const pv_domain *d)
{
    const bool adds_up = d->unit_combine == PV_UNIT_SUM && d->unit_weight == PV_UNIT_ONE;
    return d->unit_rows && adds_up ? (double)d->unit_rows : 1.0;
}
static inline const char *pvi_unit_word(const pv_domain *d)
{
    return d->unit_rows ? "person" : "row";
}
bool pvi_kind_takes(const pvi_release_kind *k, const pvi_sampler_ops *s);
bool pvi_kind_has_sizes(const pvi_release_kind *k); /* does some sampler of its draw batches of any size?  */

/* A row of the plan. */
typedef struct pvi_release {
    const pvi_release_kind *kind;
    const pvi_sampler_ops *sampler;
    bool asked;       /* an ask that the optimiser has no use for is not */
    bool group_bound; /* replace is accounted for as two zero-out steps, of the whole run */
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
