/* metrics.c - accuracy, log loss, AUC, confusion, calibration; error of real predictions.
 *
 * Two classes, labels y = -1, +1, margin m (the log odds of +1):
 *   (1)  predicted +1 iff m > cut;   (2)  log loss = mean of log(1 + exp(-y m));   (3)  p(+1) = 1/(1 + exp(-m))
 * k classes, labels 0..k-1, logits l:
 *   (4)  predicted argmax l, the lowest index on a tie;   (5)  log p_c = l_c - log sum_j exp(l_j);
 *        log loss = mean of -log p_y;   (6)  AUC = mean over the classes that have both members and others
 *        of the AUC of log p_c for "is c"
 * Real labels, prediction z:
 *   (7)  RMSE = sqrt(mean (z-y)^2), MAE = mean |z-y|, R2 = 1 - sum (z-y)^2 / sum (y - mean y)^2
 * Calibration: rows fall into ten equal bins of predicted probability (of +1, or of the chosen class);
 *   (8)  error = sum_bins (count/n) |mean predicted - observed frequency|. */
#include "eval.h"

static double softplus(double z) /* log(1 + e^z), no overflow */
{
    return z > 0.0 ? z + log1p(exp(-z)) : log1p(exp(z));
}

static double sigmoid(double m)
{
    return m >= 0.0 ? 1.0 / (1.0 + exp(-m)) : exp(m) / (1.0 + exp(m));
}

static pv_status bad_label(pv_ctx *ctx, int64_t row, double y, int64_t classes)
{
    return pvi_fail(ctx, PV_E_ARG, "row %lld: label %g is not one of the %lld classes", (long long)row + 1, y,
                    (long long)classes);
}

static pv_status bad_score(pv_ctx *ctx, int64_t row)
{
    return pvi_fail(ctx, PV_E_NUMERIC, "row %lld: the model's score is not a finite number", (long long)row + 1);
}

/* ---- tallies shared by both kinds of classes ------------------------------------------------- */

static void tally(pvi_metrics *m, int64_t *per_class, int64_t truth, int64_t guess)
{
    per_class[truth]++;
    m->accuracy += truth == guess;
    if (m->confusion) m->confusion[truth * m->classes + guess]++;
}

static void tally_bin(pvi_metrics *m, double p, bool hit)
{
    const int k = (int)(p * PVI_BINS);
    pvi_bin *b = &m->bins[k < PVI_BINS ? k : PVI_BINS - 1];
    b->count++;
    b->predicted += p;
    b->observed += hit;
}

/* Sums become means. */
static void finish(pvi_metrics *m, const int64_t *per_class)
{
    const double n = (double)m->rows;
    int64_t most = 0;
    for (int64_t c = 0; c < m->classes; c++) most = per_class[c] > most ? per_class[c] : most;
    m->accuracy /= n;
    m->log_loss /= n;
    m->majority = (double)most / n;
    m->calibration_error = 0.0;
    for (pvi_bin *b = m->bins; b < m->bins + PVI_BINS; b++) {
        m->calibration_error += fabs(b->predicted - b->observed) / n; /* (8) */
        b->predicted /= (double)b->count;                             /* 0/0 in an empty bin: NAN, as promised */
        b->observed /= (double)b->count;
    }
}

/* ---- two classes -------------------------------------------------------------------------------- */

static void precision_recall(pvi_metrics *m)
{
    const double hit = (double)m->confusion[3], false_alarm = (double)m->confusion[1], miss = (double)m->confusion[2];
    if (hit + false_alarm > 0.0) m->precision = hit / (hit + false_alarm);
    if (hit + miss > 0.0) m->recall = hit / (hit + miss);
    if (hit + miss > 0.0) m->f1 = 2.0 * hit / (2.0 * hit + false_alarm + miss);
}

static pv_status two_classes(pv_ctx *ctx, pvi_metrics *m, const float *score, const float *y, double cut)
{
    int64_t per_class[2] = { 0, 0 };
    uint8_t *positive = pvi_alloc(ctx, (size_t)m->rows);
    if (!positive) return pvi_nomem(ctx);
    pv_status s = PV_OK;

    for (int64_t i = 0; i < m->rows && s == PV_OK; i++) {
        const double margin = score[i];
        positive[i] = y[i] > 0.0f;
        if (!(y[i] == 1.0f || y[i] == -1.0f)) s = bad_label(ctx, i, y[i], 2);
        else if (!isfinite(margin)) s = bad_score(ctx, i);
        if (s != PV_OK) break;
        tally(m, per_class, positive[i], margin > cut);  /* (1) */
        m->log_loss += softplus(-(double)y[i] * margin); /* (2) */
        tally_bin(m, sigmoid(margin), positive[i]);      /* (3) */
    }
    if (s == PV_OK) s = pvi_auc(ctx, m->rows, score, positive, &m->auc);
    pvi_free(ctx, positive);
    if (s != PV_OK) return s;
    finish(m, per_class);
    precision_recall(m);
    return PV_OK;
}

/* ---- k classes ---------------------------------------------------------------------------------- */

static int64_t argmax(const float *l, int64_t k)
{
    int64_t best = 0;
    for (int64_t c = 1; c < k; c++)
        if (l[c] > l[best]) best = c;
    return best;
}

/* What (5) needs of a row besides the logit: -log p_c = (top - l_c) + rest.  Leaving the largest logit out of
 * the sum keeps the digits of a p_c near 1. */
typedef struct normaliser {
    double top, rest;
} normaliser;

static normaliser normalise(const float *l, int64_t k, int64_t top)
{
    double sum = 0.0;
    for (int64_t j = 0; j < k; j++)
        if (j != top) sum += exp((double)l[j] - l[top]);
    return (normaliser) { l[top], log1p(sum) };
}

static pv_status tally_row(pv_ctx *ctx, pvi_metrics *m, int64_t *per_class, int64_t i, const float *l, double label,
                           normaliser *z)
{
    const int64_t k = m->classes;
    if (!(label >= 0.0 && label < (double)k && label == floor(label))) return bad_label(ctx, i, label, k);
    for (int64_t c = 0; c < k; c++)
        if (!isfinite(l[c])) return bad_score(ctx, i);
    const int64_t truth = (int64_t)label, guess = argmax(l, k);
    *z = normalise(l, k, guess);
    tally(m, per_class, truth, guess);            /* (4) */
    m->log_loss += (z->top - l[truth]) + z->rest; /* (5) */
    tally_bin(m, exp(-z->rest), truth == guess);
    return PV_OK;
}

/* (6) */
static pv_status mean_auc(pv_ctx *ctx, pvi_metrics *m, const float *score, const float *y, const int64_t *per_class,
                          const normaliser *z)
{
    const int64_t n = m->rows, k = m->classes;
    float *column = pvi_alloc(ctx, (size_t)n * sizeof *column);
    uint8_t *positive = pvi_alloc(ctx, (size_t)n);
    pv_status s = column && positive ? PV_OK : pvi_nomem(ctx);
    double total = 0.0;
    int64_t used = 0;

    for (int64_t c = 0; c < k && s == PV_OK; c++) {
        if (per_class[c] == 0 || per_class[c] == n) continue;
        for (int64_t i = 0; i < n; i++) {
            column[i] = (float)-((z[i].top - score[i * k + c]) + z[i].rest);
            positive[i] = y[i] == (float)c;
        }
        double auc;
        s = pvi_auc(ctx, n, column, positive, &auc);
        total += auc;
        used++;
    }
    if (used > 0) m->auc = total / (double)used;
    pvi_free(ctx, positive);
    pvi_free(ctx, column);
    return s;
}

static pv_status k_classes(pv_ctx *ctx, pvi_metrics *m, const float *score, const float *y)
{
    int64_t *per_class = pvi_alloc(ctx, (size_t)m->classes * sizeof *per_class);
    normaliser *z = pvi_alloc(ctx, (size_t)m->rows * sizeof *z);
    pv_status s = per_class && z ? PV_OK : pvi_nomem(ctx);
    for (int64_t i = 0; i < m->rows && s == PV_OK; i++)
        s = tally_row(ctx, m, per_class, i, score + i * m->classes, y[i], &z[i]);
    if (s == PV_OK) s = mean_auc(ctx, m, score, y, per_class, z);
    if (s == PV_OK) finish(m, per_class);
    pvi_free(ctx, z);
    pvi_free(ctx, per_class);
    return s;
}

/* ---- real labels --------------------------------------------------------------------------------- */

static pv_status real_labels(pv_ctx *ctx, pvi_metrics *m, const float *score, const float *y) /* (7) */
{
    const double n = (double)m->rows;
    double squares = 0.0, absolute = 0.0, mean = 0.0, spread = 0.0;
    for (int64_t i = 0; i < m->rows; i++) {
        if (!isfinite(y[i]))
            return pvi_fail(ctx, PV_E_ARG, "row %lld: the label is not a finite number", (long long)i + 1);
        if (!isfinite(score[i])) return bad_score(ctx, i);
        const double e = (double)score[i] - y[i];
        squares += e * e;
        absolute += fabs(e);
        mean += y[i] / n;
    }
    for (int64_t i = 0; i < m->rows; i++) spread += (y[i] - mean) * (y[i] - mean);
    m->rmse = sqrt(squares / n);
    m->mae = absolute / n;
    if (spread > 0.0) m->r2 = 1.0 - squares / spread;
    return PV_OK;
}

/* ---- entry ----------------------------------------------------------------------------------------- */

pv_status pvi_metrics_compute(pv_ctx *ctx, const pv_domain *dom, int64_t n, const float *score, const float *y,
                              double cut, pvi_metrics *m)
{
    const int64_t k = dom->classes;
    *m = (pvi_metrics) { .rows = n,
                         .classes = k,
                         .auc = NAN,
                         .precision = NAN,
                         .recall = NAN,
                         .f1 = NAN,
                         .rmse = NAN,
                         .mae = NAN,
                         .r2 = NAN };
    if (n <= 0) return pvi_fail(ctx, PV_E_ARG, "there are no rows to evaluate");
    if (k < 0 || k == 1) return pvi_fail(ctx, PV_E_ARG, "%lld classes: two or more are needed", (long long)k);
    if (k == 0) {
        m->accuracy = m->majority = m->log_loss = m->calibration_error = NAN;
        return real_labels(ctx, m, score, y);
    }
    if (k <= PVI_CONFUSION_MAX && !(m->confusion = pvi_alloc(ctx, (size_t)(k * k) * sizeof *m->confusion)))
        return pvi_nomem(ctx);
    const pv_status s = k == 2 ? two_classes(ctx, m, score, y, cut) : k_classes(ctx, m, score, y);
    if (s != PV_OK) pvi_metrics_free(ctx, m);
    return s;
}

void pvi_metrics_free(pv_ctx *ctx, pvi_metrics *m)
{
    pvi_free(ctx, m->confusion);
    m->confusion = NULL;
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

static void number_or_null(pvi_jw *w, const char *key, double x)
{
    if (isnan(x)) pvi_jw_str(w, key, NULL);
    else pvi_jw_f64(w, key, x);
}

static void write_confusion(const pvi_metrics *m, char *const *names, pvi_jw *w)
{
    char label[32];
    pvi_jw_open(w, "confusion", '{');
    pvi_jw_open(w, "classes", '[');
    for (int64_t c = 0; c < m->classes; c++) {
        snprintf(label, sizeof label, m->classes == 2 ? "%+lld" : "%lld",
                 (long long)(m->classes == 2 ? 2 * c - 1 : c));
        pvi_jw_str(w, NULL, names ? names[c] : label);
    }
    pvi_jw_close(w, ']');
    pvi_jw_open(w, "true_by_predicted", '['); /* one list per true class */
    for (int64_t t = 0; t < m->classes; t++) {
        pvi_jw_open(w, NULL, '[');
        for (int64_t g = 0; g < m->classes; g++) pvi_jw_i64(w, NULL, m->confusion[t * m->classes + g]);
        pvi_jw_close(w, ']');
    }
    pvi_jw_close(w, ']');
    pvi_jw_close(w, '}');
}

static void write_bins(const pvi_metrics *m, pvi_jw *w)
{
    pvi_jw_open(w, "calibration", '{');
    pvi_jw_f64(w, "error", m->calibration_error);
    pvi_jw_open(w, "bins", '[');
    for (int k = 0; k < PVI_BINS; k++) {
        pvi_jw_open(w, NULL, '{');
        pvi_jw_f64(w, "from", (double)k / PVI_BINS);
        pvi_jw_f64(w, "to", (double)(k + 1) / PVI_BINS);
        pvi_jw_i64(w, "rows", m->bins[k].count);
        number_or_null(w, "predicted", m->bins[k].predicted);
        number_or_null(w, "observed", m->bins[k].observed);
        pvi_jw_close(w, '}');
    }
    pvi_jw_close(w, ']');
    pvi_jw_close(w, '}');
}

void pvi_metrics_write(const pvi_metrics *m, char *const *class_names, pvi_jw *w)
{
    pvi_jw_i64(w, "rows", m->rows);
    if (m->classes == 0) {
        number_or_null(w, "rmse", m->rmse);
        number_or_null(w, "mae", m->mae);
        number_or_null(w, "r2", m->r2);
        return;
    }
    number_or_null(w, "accuracy", m->accuracy);
    number_or_null(w, "majority", m->majority);
    number_or_null(w, "log_loss", m->log_loss);
    number_or_null(w, "auc", m->auc);
    if (m->classes == 2) {
        number_or_null(w, "precision", m->precision);
        number_or_null(w, "recall", m->recall);
        number_or_null(w, "f1", m->f1);
    }
    if (m->confusion) write_confusion(m, class_names, w);
    write_bins(m, w);
}

pv_status pvi_metrics_json(pv_ctx *ctx, const pv_domain *dom, char *const *class_names, int64_t n, const float *score,
                           const float *y, double cut, pvi_jw *w)
{
    pvi_metrics m;
    const pv_status s = pvi_metrics_compute(ctx, dom, n, score, y, cut, &m);
    if (s != PV_OK) return s;
    pvi_metrics_write(&m, class_names, w);
    pvi_metrics_free(ctx, &m);
    return PV_OK;
}
