/* query_scores.c - how a model's scores go with the labels: two tables of counts, for evaluation.
 *
 * Asked at  weights w, which are public here: those of the model that is evaluated
 * Tables    of a row with label y and scores at w, every bin fixed before any row is looked at:
 *             class table   K x K: label, by the class that the model predicts (api/predict.c (1), (2))
 *             score table   K = 2: label, by the margin in B equal bins from -5 to 5, the first and the last of which
 *                           are open; K > 2: whether the prediction is right, by the chance that the model gives it,
 *                           in B = 10 equal bins
 * Unit      v = (c, s), of a row: a count of 1 in one cell of each table; of a unit of k rows: the mean of those of
 *           its rows.  Cells are at least 0 and add up to at most 1 in each table, so that                        (1)
 *           ||v||^2 <= ||c||_1^2 + ||s||_1^2 <= 2, however many rows the unit has
 *           A row that adds nothing to gradients, or whose scores are not finite, adds nothing here.
 * Bound     absent sqrt 2; other 2: no entry is below 0, so that ||v - v'||^2 <= ||v||^2 + ||v'||^2 <= 4          (2)
 *           The first is reached by every unit of one row, the second by two that share no cell.
 * Rounding  a count of 1 is U = floor(1/spacing) on the grid, a share 1/k is floor(U/k), and k of them are at most U:
 *           (1) and (2) hold of what is added, exactly, unit by unit; there are no float sums                     (3)
 *           Where a row falls is decided in floating point by that row and w alone: another row has no say.
 * Bins      B of margins: an AUC is known up to the pairs in one bin, about 1/(2 B), and to the noise on B bins,
 *           about 3 s sqrt(B)/n with s = sqrt(2)/mu on each: the sum is least near B = (n/(3 s))^(2/3)            (4)
 *           A guess at a typical table, from public numbers alone; eval/noisy.c says what an interval is whatever B
 *           is.
 * Answer    K K + 2 B numbers: the noisy counts over the number of units (eval/noisy.c makes figures of them) */
#include "query/query.h"

#include "model/units.h"

enum { CHUNK = 128 }; /* rows scored at a time */

const char pvi_scores_caveat[] =
    "The weights that were evaluated are public: what they tell of these rows, if any of them were trained on, is "
    "counted by the model's own certificate, not here.";

/* No K K + 20 with K > 2 is 4 + 2 B for one of these: how many counts there are says what they are. */
static const int64_t choices[] = { 10, 20, 50, 100, PVI_SCORE_BINS_MOST, 0 };

static pvi_score_shape shape(int64_t classes, int64_t bins)
{
    return (pvi_score_shape) { classes, bins, classes * classes + 2 * bins };
}

pvi_score_shape pvi_score_planned(int64_t classes, double units, double mu)
{
    const double best = pow(units * fmin(mu, 1e6) / (3.0 * sqrt(2.0)), 2.0 / 3.0); /* (4) */
    int k = 0;
    while (choices[k + 1] && (double)choices[k + 1] * (double)choices[k] <= best * best) k++; /* nearest by ratio */
    return shape(classes, classes == 2 ? choices[k] : PVI_CHANCE_BINS);
}

pvi_score_shape pvi_score_found(int64_t cells)
{
    for (int k = 0; choices[k]; k++)
        if (shape(2, choices[k]).cells == cells) return shape(2, choices[k]);
    for (int64_t c = 3; c <= PVI_SCORE_CLASSES; c++)
        if (shape(c, PVI_CHANCE_BINS).cells == cells) return shape(c, PVI_CHANCE_BINS);
    return (pvi_score_shape) { 0 };
}

static pv_status open(pvi_query *q, pv_ctx *ctx)
{
    const pv_domain *d = q->dom;
    if (d->classes < 2 || d->classes > PVI_SCORE_CLASSES)
        return pvi_fail(ctx, PV_E_UNSUPPORTED,
                        d->classes < 2 ? "private evaluation counts classes, and the labels are numbers"
                                       : "private evaluation counts up to %d classes, and there are %lld",
                        PVI_SCORE_CLASSES, (long long)d->classes);
    if (q->model->outputs(q->cfg, d) != (d->classes == 2 ? 1 : d->classes))
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "private evaluation needs a margin, or a score for each class");
    if (d->unit_rows && (d->unit_combine != PV_UNIT_MEAN || d->unit_weight != PV_UNIT_ONE))
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "evaluation counts each person once: leave unit.* out");
    q->scores = pvi_score_planned(d->classes, (double)d->n, q->prob->mu);
    q->length = q->values = q->scores.cells;
    q->per_unit = true;                                  /* (3) */
    q->bound = (pvi_bound) { pv_up(sqrt(2.0), 1), 2.0 }; /* (1), (2) */
    return PV_OK;
}

static size_t room(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

static size_t scores_room(const pvi_query *q)
{
    return room((size_t)(CHUNK * q->model->outputs(q->cfg, q->dom)) * sizeof(float));
}

static size_t scratch(const pvi_query *q, int64_t most)
{
    (void)most;
    return scores_room(q) + room(q->model->scratch(q->cfg, q->dom, CHUNK));
}

static double rounding(const pvi_query *q, int64_t m)
{
    (void)q, (void)m;
    return 0.0; /* (3) */
}

typedef struct cells {
    int64_t first, second; /* one of each table */
} cells;

static cells of_margin(int64_t bins, double m, bool positive)
{
    const double at = floor(m * (double)bins / PVI_SCORE_RANGE) + (double)(bins / 2);
    const int64_t bin = (int64_t)fmin(fmax(at, 0.0), (double)(bins - 1));
    return (cells) { 2 * positive + (m > 0.0), 4 + positive * bins + bin };
}

static cells of_logits(const float *z, int64_t k, int64_t truth)
{
    int64_t best = 0;
    double total = 0.0;
    for (int64_t c = 1; c < k; c++)
        if (z[c] > z[best]) best = c;
    for (int64_t c = 0; c < k; c++) total += exp((double)z[c] - z[best]);
    const int64_t bin = (int64_t)fmin(floor(PVI_CHANCE_BINS / total), PVI_CHANCE_BINS - 1); /* total >= 1 */
    return (cells) { truth * k + best, k * k + (truth == best) * PVI_CHANCE_BINS + bin };
}

/* Where a row falls; false: nowhere. */
static bool place(const pvi_score_shape *of, const float *score, int64_t outputs, double y, cells *out)
{
    const int64_t classes = of->classes;
    for (int64_t c = 0; c < outputs; c++)
        if (!isfinite(score[c])) return false;
    const double truth = classes == 2 ? (y + 1.0) / 2.0 : y; /* -1 and +1, or 0 .. k-1 */
    if (!(truth >= 0.0 && truth < (double)classes && truth == floor(truth))) return false;
    *out = classes == 2 ? of_margin(of->bins, score[0], truth > 0.0) : of_logits(score, classes, (int64_t)truth);
    return true;
}

/* `rows` are rows; each adds `one` to its cells. */
static void add_rows(const pvi_query *q, const void *st, const pv_rows *rows, int64_t one, pvi_lane *l)
{
    const int64_t outputs = q->model->outputs(q->cfg, q->dom);
    float *score = l->scratch;
    q->model->predict(st, q->cfg, rows, score, (char *)l->scratch + scores_room(q));
    for (int64_t i = 0; i < rows->n; i++) {
        const int64_t r = rows->pick ? rows->pick[i] : i;
        cells at;
        if (!(rows->norm[r] >= 0.0f) || /* one that adds nothing */
            !place(&q->scores, score + i * outputs, outputs, (double)rows->y[r], &at)) {
            l->bad++;
            continue;
        }
        PVI_REQUIRE(at.first >= 0 && at.first < q->length && at.second >= 0 && at.second < q->length);
        l->sum[at.first] += one;
        l->sum[at.second] += one;
    }
}

static void add(const pvi_query *q, const void *st, const pv_rows *units, double spacing, pvi_lane *l)
{
    const int64_t one = (int64_t)floor(1.0 / spacing); /* (3): spacing is a power of two */
    for (int64_t r = 0; !units->start && r < units->n; r += CHUNK) {
        const int64_t n = units->n - r < CHUNK ? units->n - r : CHUNK;
        const pv_rows rows = units->pick ? pvi_rows_picked(units, units->pick + r, n) : pvi_rows_from(units, r, n);
        add_rows(q, st, &rows, one, l);
    }
    for (int64_t u = 0; units->start && u < units->n; u++) {
        const int64_t size = pvi_unit_size(units, u), start = pvi_unit_start(units, u);
        for (int64_t r = 0; r < size; r += CHUNK) {
            const pv_rows rows = pvi_rows_from(units, start + r, size - r < CHUNK ? size - r : CHUNK);
            add_rows(q, st, &rows, one / size, l);
        }
    }
}

static double other(double B, double C, bool semidefinite)
{
    (void)C, (void)semidefinite;
    return sqrt(2.0) * B; /* (2) */
}

const pvi_query_ops pvi_query_scores = {
    .name = "scores",
    .summary = "counts of units by label, prediction and score",
    .caveat = pvi_scores_caveat,
    .full = 256,
    .sampled = 256,
    .mean = 96,
    .batch_share = 10.0,
    .batch_most = INFINITY,
    .takes_weights = true,
    .units = true,
    .counts = true,
    .open = open,
    .scratch = scratch,
    .rounding = rounding,
    .add = add,
    .other = other,
};
