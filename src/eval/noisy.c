/* noisy.c - figures of a model from the noisy counts of an evaluation (query_scores.c), each with a 95 % interval.
 *
 * Everything here is made of released counts and public numbers: post-processing, and anyone who has the certificate
 * can do it again.  Of n units, public, every one counts 1 in each of two tables.  A released count is the true one
 * plus noise of standard deviation s, independent from cell to cell, rounded to a whole number.
 *   (1)  sigma^2 = s^2 + 1/12
 *   (2)  a table of m cells adds up to n: x_i = released_i - (sum - n)/m.  A linear figure sum c_i x_i has the
 *        variance sigma^2 (sum c_i^2 - (sum c_i)^2/m), and the interval of 1.96 standard deviations
 *        The largest of K > 2 classes, chosen by the noisy counts, takes sqrt(2 log(2 K/0.05)) instead of 1.96: then
 *        the intervals of all classes hold at once, and with them that of the largest
 *   (3)  a ratio r = a/(a + b) of sums of cells, u cells in each: r is in the interval iff
 *        |(1 - r) a - r b| <= 1.96 sigma sqrt(u ((1 - r)^2 + r^2)), whose left side has mean 0 at the true r.  Where
 *        the noise is as large as a + b, every r is.
 *   (4)  AUC of two classes from the counts n_i, p_j of margins by bin:  A = sum_{i<j} n_i p_j + sum_i n_i p_i / 2
 *        over N P, N = sum n_i, P = sum p_j.  Pairs in one bin may be won or lost: A is within t = sum_i n_i p_i / 2
 *        of what it is without bins, for certain.  A - r N P has the gradient G in the counts; its noise has the
 *        variance sigma^2 |G|^2 + sigma^4 sum_ij (k_ij - r)^2, k_ij = 1, 1/2, 0 for i <, =, > j, the second term
 *        since both factors have noise.  r is in the interval iff |A - r N P| <= 1.96 standard deviations + t.
 *        N and P are known better from the class table, X and n - X with variance sigma^2 by (2): the B counts of
 *        each class are moved alike to add up to them.  Then |G|^2 becomes, with G_n, G_p of the two classes and bars
 *        for means, |G_n - mean|^2 + |G_p - mean|^2 + (mean G_n - mean G_p)^2.
 * Gradients are taken at the noisy counts, whose squares are larger on average than those of the true ones: (3) and
 * (4) are rather too wide than too narrow.  bench/utility/evaluation.py measures how often they hold the exact
 * figure. */
#include "eval.h"

#include "query/query.h"

#define Z95 1.959963984540054
enum { STEPS = 2000 }; /* of an interval between 0 and 1 */

typedef struct interval {
    double value, low, high; /* value NAN: the counts say nothing */
} interval;

typedef struct tables {
    int64_t classes, units;
    double sigma;         /* (1) */
    const double *class_; /* K x K */
    const double *score;  /* 2 x bins */
    int64_t bins;
} tables;

static double clamp01(double x)
{
    return fmin(fmax(x, 0.0), 1.0);
}

static double class_sum(const tables *t, int64_t truth)
{
    double sum = 0.0;
    for (int64_t g = 0; g < t->classes; g++) sum += t->class_[truth * t->classes + g];
    return sum;
}

/* The share of the units that (2) gives to `ones` of m cells with the sum x. */
static interval share_of(const tables *t, double x, double ones, double m, double z)
{
    const double h = z * t->sigma * sqrt(fmax(ones - ones * ones / m, 0.0)), n = (double)t->units;
    return (interval) { clamp01(x / n), clamp01((x - h) / n), clamp01((x + h) / n) };
}

/* How far r is from what the counts say, and how far it may be. */
typedef struct miss {
    double off, most;
} miss;
typedef miss (*miss_at)(const void *arg, double r);

/* All r in 0 .. 1 that are not too far: from the first to the last. */
static void scan(miss_at at, const void *arg, interval *out)
{
    out->low = 1.0, out->high = 0.0;
    for (int k = 0; k <= STEPS; k++) {
        const double r = (double)k / STEPS;
        const miss m = at(arg, r);
        if (!(fabs(m.off) <= m.most)) continue;
        out->low = fmin(out->low, fmax(r - 1.0 / STEPS, 0.0)); /* the end may lie before the next point */
        out->high = fmin(fmax(out->high, r + 1.0 / STEPS), 1.0);
    }
    if (!isnan(out->value)) {
        out->low = fmin(out->low, out->value);
        out->high = fmax(out->high, out->value);
    } else if (out->low > out->high) {
        out->low = 0.0, out->high = 1.0;
    }
}

typedef struct ratio {
    double a, b, cells, sigma;
} ratio;

static miss ratio_at(const void *arg, double r) /* (3) */
{
    const ratio *q = arg;
    return (miss) { (1.0 - r) * q->a - r * q->b, Z95 * q->sigma * sqrt(q->cells * ((1.0 - r) * (1.0 - r) + r * r)) };
}

static interval ratio_of(const tables *t, double a, double b, double cells)
{
    const ratio q = { a, b, cells, t->sigma };
    interval out = { .value = a + b > 0.0 ? clamp01(a / (a + b)) : NAN };
    scan(ratio_at, &q, &out);
    return out;
}

typedef struct pairs { /* (4) */
    double N, P, A, tie, sigma;
    int64_t bins;
    double below[PVI_SCORE_BINS_MOST], above[PVI_SCORE_BINS_MOST]; /* sum_{j<i} n_j + n_i/2; sum_{j>i} p_j + p_i/2 */
} pairs;

static miss pairs_at(const void *arg, double r)
{
    const pairs *q = arg;
    const double B = (double)q->bins, s2 = q->sigma * q->sigma;
    const double product = 0.5 * B * (B - 1.0) * ((1.0 - r) * (1.0 - r) + r * r) + B * (0.5 - r) * (0.5 - r);
    double squares = 0.0, sn = 0.0, sp = 0.0;
    for (int64_t i = 0; i < q->bins; i++) {
        const double gn = q->above[i] - r * q->P, gp = q->below[i] - r * q->N;
        squares += gn * gn + gp * gp;
        sn += gn, sp += gp;
    }
    squares += (sn - sp) * (sn - sp) / (B * B) - (sn * sn + sp * sp) / B;
    return (miss) { q->A - r * q->N * q->P, Z95 * sqrt(s2 * squares + s2 * s2 * product) + q->tie };
}

static interval auc_of(const tables *t)
{
    const double *n = t->score, *p = t->score + t->bins;
    pairs q = { .sigma = t->sigma, .bins = t->bins };
    double moved[2] = { class_sum(t, 0), class_sum(t, 1) };
    for (int64_t i = 0; i < t->bins; i++) moved[0] -= n[i], moved[1] -= p[i];
    for (int c = 0; c < 2; c++) moved[c] /= (double)t->bins;
    for (int64_t i = 0; i < t->bins; i++) {
        const double ni = n[i] + moved[0], pi = p[i] + moved[1];
        q.below[i] = q.N + 0.5 * ni;
        q.N += ni;
        q.A += q.below[i] * pi;
        q.tie += 0.5 * fmax(ni, 0.0) * fmax(pi, 0.0);
    }
    for (int64_t i = t->bins - 1; i >= 0; i--) {
        q.above[i] = q.P + 0.5 * (p[i] + moved[1]);
        q.P += p[i] + moved[1];
    }
    interval out = { .value = q.N > 0.0 && q.P > 0.0 ? clamp01(q.A / (q.N * q.P)) : NAN };
    scan(pairs_at, &q, &out);
    return out;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static double shown(double x)
{
    return rint(x * 1e4) / 1e4;
}

static void write_interval(pvi_jw *w, const char *key, interval x)
{
    pvi_jw_open(w, key, '{');
    if (isnan(x.value)) pvi_jw_str(w, "value", NULL);
    else pvi_jw_f64(w, "value", shown(x.value));
    pvi_jw_f64(w, "low", floor(x.low * 1e4) / 1e4);
    pvi_jw_f64(w, "high", ceil(x.high * 1e4) / 1e4);
    pvi_jw_close(w, '}');
}

static void write_confusion(const tables *t, const char *const *names, pvi_jw *w)
{
    const int64_t k = t->classes;
    pvi_jw_open(w, "confusion", '{');
    pvi_jw_open(w, "classes", '[');
    for (int64_t c = 0; c < k; c++) {
        char number[32];
        snprintf(number, sizeof number, k == 2 ? "%+lld" : "%lld", (long long)(k == 2 ? 2 * c - 1 : c));
        pvi_jw_str(w, NULL, names ? names[c] : number);
    }
    pvi_jw_close(w, ']');
    pvi_jw_open(w, "true_by_predicted", '[');
    for (int64_t c = 0; c < k; c++) {
        pvi_jw_open(w, NULL, '[');
        for (int64_t g = 0; g < k; g++) pvi_jw_f64(w, NULL, fmax(rint(t->class_[c * k + g]), 0.0));
        pvi_jw_close(w, ']');
    }
    pvi_jw_close(w, ']');
    const double m = (double)(k * k);
    pvi_jw_f64(w, "plus_minus", ceil(Z95 * t->sigma * sqrt(1.0 - 1.0 / m))); /* (2) */
    pvi_jw_close(w, '}');
}

/* Ten groups of neighbouring bins. */
static void write_calibration(const tables *t, pvi_jw *w)
{
    const int64_t each = t->bins / PVI_CHANCE_BINS;
    const double m = 2.0 * (double)t->bins;
    pvi_jw_open(w, "calibration", '[');
    for (int64_t g = 0; g < PVI_CHANCE_BINS; g++) {
        double no = 0.0, yes = 0.0;
        for (int64_t i = g * each; i < (g + 1) * each; i++) no += t->score[i], yes += t->score[t->bins + i];
        const double width = PVI_SCORE_RANGE / PVI_CHANCE_BINS, from = (double)(g - PVI_CHANCE_BINS / 2) * width;
        const double to = from + width;
        const bool two = t->classes == 2;
        pvi_jw_open(w, NULL, '{');
        pvi_jw_f64(w, "from", two ? g == 0 ? 0.0 : shown(1.0 / (1.0 + exp(-from))) : (double)g / PVI_CHANCE_BINS);
        pvi_jw_f64(w, "to",
                   two ? g == PVI_CHANCE_BINS - 1 ? 1.0 : shown(1.0 / (1.0 + exp(-to)))
                       : (double)(g + 1) / PVI_CHANCE_BINS);
        write_interval(w, "share", share_of(t, no + yes, 2.0 * (double)each, m, Z95));
        write_interval(w, "observed", ratio_of(t, yes, no, (double)each));
        pvi_jw_close(w, '}');
    }
    pvi_jw_close(w, ']');
}

static void write_figures(const tables *t, const char *const *names, pvi_jw *w)
{
    const int64_t k = t->classes;
    const double m = (double)(k * k), *x = t->class_;
    double right = 0.0;
    int64_t most = 0;
    for (int64_t c = 0; c < k; c++) {
        right += x[c * k + c];
        if (class_sum(t, c) > class_sum(t, most)) most = c;
    }
    write_interval(w, "accuracy", share_of(t, right, (double)k, m, Z95));
    const double z = k == 2 ? Z95 : sqrt(2.0 * log(2.0 * (double)k / 0.05)); /* of two classes one says all */
    write_interval(w, "majority", share_of(t, class_sum(t, most), (double)k, m, z));
    if (k == 2) {
        write_interval(w, "auc", auc_of(t));
        write_interval(w, "precision", ratio_of(t, x[3], x[1], 1.0));
        write_interval(w, "recall", ratio_of(t, x[3], x[2], 1.0));
    }
    write_confusion(t, names, w);
    write_calibration(t, w);
}

/* (2) */
static void centre(const int64_t *count, int64_t m, int64_t units, double *x)
{
    double sum = 0.0;
    for (int64_t i = 0; i < m; i++) sum += (double)count[i];
    for (int64_t i = 0; i < m; i++) x[i] = (double)count[i] - (sum - (double)units) / (double)m;
}

pv_status pvi_noisy_figures(pv_ctx *ctx, const pvi_noisy *from, const char *const *names, pvi_jw *w)
{
    const pvi_score_shape of = pvi_score_found(from->n);
    const int64_t k = of.classes;
    if (k == 0) return pvi_fail(ctx, PV_E_ARG, "%lld counts: no evaluation has so many", (long long)from->n);
    double *x = pvi_alloc(ctx, sizeof *x * (size_t)from->n);
    if (!x) return pvi_nomem(ctx);
    centre(from->count, k * k, from->units, x);
    centre(from->count + k * k, from->n - k * k, from->units, x + k * k);
    const tables t = { .classes = k,
                       .units = from->units,
                       .sigma = sqrt(from->stddev * from->stddev + 1.0 / 12.0),
                       .class_ = x,
                       .score = x + k * k,
                       .bins = of.bins };
    pvi_jw_str(w, "interval", "95 %, of the noise; the rows are taken as they are");
    write_figures(&t, names, w);
    pvi_free(ctx, x);
    return PV_OK;
}
