/* by_person.c - measures of a model where persons own several rows: each person counts once.
 *
 * Row i of a person with k rows weighs w_i = 1/k, W = sum of w_i, which is the number of persons.
 *   (1)  accuracy, log loss, squared and absolute error: sum w_i m_i / W, m_i the row's; the mean over persons of the
 *        mean over their rows
 *   (2)  AUC of two classes: sum of w_i w_j (1 if s_i > s_j, 1/2 on a tie) over positive i and negative j, divided by
 *        the sum of w_i w_j: a positive and a negative row of persons drawn alike
 * What a row has is as in metrics.c (1), (2), (4), (5), (7), which has checked labels and scores. */
#include "eval.h"

#include <stdlib.h>

typedef struct entry {
    uint64_t id[2];
    int64_t row;
} entry;

static int by_id(const void *x, const void *y)
{
    const entry *a = x, *b = y;
    for (int k = 0; k < 2; k++)
        if (a->id[k] != b->id[k]) return a->id[k] < b->id[k] ? -1 : 1;
    return 0;
}

/* w of each row; the number of persons, or -1: no memory. */
static int64_t weigh(pv_ctx *ctx, int64_t n, const uint64_t *id, double *w)
{
    int64_t persons = 0;
    entry *e = pvi_alloc(ctx, sizeof *e * (size_t)n);
    if (!e) return -1;
    for (int64_t i = 0; i < n; i++) e[i] = (entry) { { id[2 * i], id[2 * i + 1] }, i };
    qsort(e, (size_t)n, sizeof *e, by_id);
    for (int64_t i = 0, to; i < n; i = to, persons++) {
        for (to = i + 1; to < n && by_id(&e[i], &e[to]) == 0;) to++;
        for (int64_t k = i; k < to; k++) w[e[k].row] = 1.0 / (double)(to - i);
    }
    pvi_free(ctx, e);
    return persons;
}

/* ---- (2) ---------------------------------------------------------------------------------------------- */

typedef struct weighed {
    float score;
    bool positive;
    double w;
} weighed;

static int by_score(const void *x, const void *y)
{
    const float a = ((const weighed *)x)->score, b = ((const weighed *)y)->score;
    return a < b ? -1 : a > b;
}

static pv_status weighed_auc(pv_ctx *ctx, int64_t n, const float *score, const float *y, const double *w, double *auc)
{
    double below = 0.0, above = 0.0, sum = 0.0;
    weighed *e = pvi_alloc(ctx, sizeof *e * (size_t)n);
    if (!e) return pvi_nomem(ctx);
    for (int64_t i = 0; i < n; i++) e[i] = (weighed) { score[i], y[i] > 0.0f, w[i] };
    qsort(e, (size_t)n, sizeof *e, by_score);
    for (int64_t i = 0, to; i < n; i = to) {
        double pos = 0.0, neg = 0.0;
        for (to = i; to < n && !(e[to].score > e[i].score); to++) *(e[to].positive ? &pos : &neg) += e[to].w;
        sum += pos * (below + 0.5 * neg);
        below += neg;
        above += pos;
    }
    *auc = below > 0.0 && above > 0.0 ? sum / (below * above) : NAN;
    pvi_free(ctx, e);
    return PV_OK;
}

/* ---- (1) ---------------------------------------------------------------------------------------------- */

typedef struct row_measures {
    double correct, log_loss, square, absolute;
} row_measures;

static row_measures of_row(int64_t classes, const float *s, double y, double cut)
{
    row_measures m = { 0 };
    int64_t top = 0;
    double rest = 0.0;
    if (classes == 0) return (row_measures) { .square = (*s - y) * (*s - y), .absolute = fabs(*s - y) };
    if (classes == 2) {
        const double z = -y * (double)*s;
        return (row_measures) { .correct = ((double)*s > cut) == (y > 0.0),
                                .log_loss = z > 0.0 ? z + log1p(exp(-z)) : log1p(exp(z)) };
    }
    for (int64_t c = 1; c < classes; c++)
        if (s[c] > s[top]) top = c;
    for (int64_t c = 0; c < classes; c++)
        if (c != top) rest += exp((double)s[c] - (double)s[top]);
    m.correct = (double)top == y;
    m.log_loss = ((double)s[top] - (double)s[(int64_t)y]) + log1p(rest);
    return m;
}

static void write_means(const pv_domain *dom, const row_measures *sum, double W, double auc, pvi_jw *w)
{
    if (dom->classes == 0) {
        pvi_jw_f64(w, "rmse", sqrt(sum->square / W));
        pvi_jw_f64(w, "mae", sum->absolute / W);
        return;
    }
    pvi_jw_f64(w, "accuracy", sum->correct / W);
    pvi_jw_f64(w, "log_loss", sum->log_loss / W);
    if (!isnan(auc)) pvi_jw_f64(w, "auc", auc);
}

pv_status pvi_metrics_by_person(pv_ctx *ctx, const pv_domain *dom, int64_t n, const float *score, const float *y,
                                double cut, const uint64_t *id, pvi_jw *w)
{
    const int64_t outputs = dom->classes > 2 ? dom->classes : 1;
    row_measures sum = { 0 };
    double auc = NAN, *weight = pvi_alloc(ctx, sizeof *weight * (size_t)n);
    const int64_t persons = weight ? weigh(ctx, n, id, weight) : -1;
    pv_status s = persons >= 0 ? PV_OK : pvi_nomem(ctx);
    if (s == PV_OK && dom->classes == 2) s = weighed_auc(ctx, n, score, y, weight, &auc);
    for (int64_t i = 0; s == PV_OK && i < n; i++) {
        const row_measures m = of_row(dom->classes, score + i * outputs, (double)y[i], cut);
        sum.correct += weight[i] * m.correct;
        sum.log_loss += weight[i] * m.log_loss;
        sum.square += weight[i] * m.square;
        sum.absolute += weight[i] * m.absolute;
    }
    pvi_free(ctx, weight);
    if (s != PV_OK) return s;
    pvi_jw_open(w, "per_person", '{');
    pvi_jw_i64(w, "persons", persons);
    write_means(dom, &sum, (double)persons, auc, w);
    pvi_jw_close(w, '}');
    return PV_OK;
}
