/* eval.h - how good a model is, and how stationary a point is.  Plain functions on arrays.
 *
 * Everything here but noisy.c looks at rows or at exact gradients.  None of that is private: on held-out rows that is
 * the point, on training rows it may be shown only where it is marked as not private. */
#ifndef PVI_EVAL_H
#define PVI_EVAL_H
#include "core/core.h"

/* ---- auc.c ---------------------------------------------------------------------------------- */
/* Area under the ROC curve of n finite scores, positive[i] != 0 for the positive class: the chance that a random
 * positive scores above a random negative, ties counting half.  Exact.  NAN without both classes. */
pv_status pvi_auc(pv_ctx *ctx, int64_t n, const float *score, const uint8_t *positive, double *auc);

/* ---- metrics.c ------------------------------------------------------------------------------- */
enum { PVI_BINS = 10, PVI_CONFUSION_MAX = 1000 };
typedef struct pvi_bin {
    int64_t count;
    double predicted, observed; /* means over the bin; NAN in an empty one                        */
} pvi_bin;
typedef struct pvi_metrics {      /* NAN: undefined on these rows, or not for this kind of label           */
    int64_t rows, classes;        /* 0 classes: real labels                                                */
    double accuracy, majority;    /* majority: accuracy of always predicting the most frequent class     */
    double log_loss, auc;         /* auc of k classes: mean of one against the rest                      */
    double precision, recall, f1; /* two classes; of the class +1                                     */
    double calibration_error;     /* expected calibration error over the bins                         */
    pvi_bin bins[PVI_BINS];       /* two classes: chance of +1; k classes: confidence of the choice   */
    double rmse, mae, r2;         /* real labels                                                      */
    int64_t *confusion;           /* owned; [true * classes + predicted]; NULL above PVI_CONFUSION_MAX */
} pvi_metrics;

/* score: n margins (two classes), n x k logits (k classes) or n predictions (real labels); y as in pv_rows.  cut: the
 * margin above which the second of two classes is predicted.  On failure nothing is left to free. */
pv_status pvi_metrics_compute(pv_ctx *ctx, const pv_domain *dom, int64_t n, const float *score, const float *y,
                              double cut, pvi_metrics *out);
void pvi_metrics_free(pv_ctx *ctx, pvi_metrics *m);
/* Writes fields into an object the caller opened; class_names may be NULL (two classes: -1 and +1). */
void pvi_metrics_write(const pvi_metrics *m, char *const *class_names, pvi_jw *w);
pv_status pvi_metrics_json(pv_ctx *ctx, const pv_domain *dom, char *const *class_names, int64_t n, const float *score,
                           const float *y, double cut, pvi_jw *w);

/* ---- by_person.c ----------------------------------------------------------------------------- */
/* The same with every person counting once, as an object "per_person"; id: whose row it is, two numbers each.
 * Labels and scores are those that pvi_metrics_compute took. */
pv_status pvi_metrics_by_person(pv_ctx *ctx, const pv_domain *dom, int64_t n, const float *score, const float *y,
                                double cut, const uint64_t *id, pvi_jw *w);

/* ---- noisy.c: private, since it is made of what was released ------------------------------------- */
typedef struct pvi_noisy { /* of an evaluation (query/query_scores.c) */
    const int64_t *count;
    int64_t n, units;
    double stddev; /* of the noise on each */
} pvi_noisy;
/* Figures with intervals, into an open object; names may be NULL, as above. */
pv_status pvi_noisy_figures(pv_ctx *ctx, const pvi_noisy *from, const char *const *names, pvi_jw *w);

/* ---- stationarity.c: from an exact gradient g of the loss at x, hence NOT private ----------------- */
/* ||g + r'(x)||; NAN if r has no gradient.  work: d doubles. */
double pvi_gradient_norm(const pv_problem *p, const double *x, const double *g, double *work);
/* ||x - x+||/gamma after one exact step of the mirror map (checked for the pair).  work: 2d doubles. */
double pvi_projected_gradient(const pv_problem *p, const pv_mirror_ops *mirror, double gamma, const double *x,
                              const double *g, double *work);
/* max_v <v - x, -(g + r'(x))> over the set; NAN without a set or if r has no gradient.  work: 2d doubles. */
double pvi_frank_wolfe_gap(const pv_problem *p, const double *x, const double *g, double *work);
/* Smallest eigenvalue of a symmetric d x d matrix known by its products y = A v, by Lanczos, and its vector of length
 * 1; some eigenvalue lies within `residual` of it.  work: lanczos_work(d). */
typedef void (*pvi_product)(void *arg, const double *v, double *y);
double pvi_lowest_eigenvalue(int64_t d, pvi_product product, void *arg, double *work, double *vector,
                             double *residual);
int64_t pvi_lanczos_work(int64_t d);

#endif
