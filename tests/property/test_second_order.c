/* test_second_order.c - second-order methods: saddles are left, noise is what the plan says, every event is spent. */
#include "ctxtest.h"
#include "run/run.h"
#include "pvtable.h"

#include <unistd.h>

static char heard[600], noted[600];

static void hear(void *user, pv_level level, const char *text)
{
    (void)user;
    snprintf(level == PV_LOG_WARN ? heard : noted, sizeof heard, "%s", text);
}

static pv_plan *plan_with(const char *const *pairs) /* key, value, ..., NULL */
{
    pv_plan *p;
    PVT_OK(pv_plan_create(ctx, &p));
    for (; *pairs; pairs += 2) PVT_OK(pv_plan_set(p, pairs[0], pairs[1]));
    return p;
}

/* ---- strict saddles --------------------------------------------------------------------------------------
 * Tukey's loss of the residual r = <w,x> - y with u = (r/c)^2: phi' = r (1-u)^2 and phi'' = (1-u)(1-5u) for u < 1.
 * Rows come in pairs (x, y), (x, -y), so the gradient at w = 0 is exactly zero; along the first columns the labels
 * are outliers with phi'' < 0, along the others they are 0: w = 0, where every run starts, is a strict saddle. */

enum { D = 6, N = 100000 };
static const double c = 4.685;

static pvt_table *saddle(int64_t down, uint64_t seed)
{
    pvt_table *t = pvt_table_make(N, D, 0, seed);
    t->m.domain.y_lo = -4;
    t->m.domain.y_hi = 4;
    for (int64_t i = 0; i < N; i += 2) {
        double x[D] = { 0 };
        const bool steep = pvt_uniform(&seed) < 0.6;
        const int64_t k = steep ? (int64_t)(pvt_u64(&seed) % (uint64_t)down)
                                : down + (int64_t)(pvt_u64(&seed) % (uint64_t)(D - down));
        const double y = k < down ? 3.3 + 0.5 * pvt_uniform(&seed) : 0.0;
        x[k] = 0.9 + 0.09 * pvt_uniform(&seed);
        x[(k + 1) % D] = 0.1 * (pvt_uniform(&seed) - 0.5);
        pvt_set_row(t, i, x, y);
        pvt_set_row(t, i + 1, x, -y);
    }
    return t;
}

/* Norm of the gradient and the smallest eigenvalue of the Hessian, by inverse-free power iteration on shift - H. */
static void exact(const pvt_table *t, const double *w, double *gradient, double *lowest)
{
    double g[D] = { 0 }, H[D][D] = { { 0 } }, v[D], rayleigh = 0;
    for (int64_t i = 0; i < N; i++) {
        const float *x = t->x + i * D;
        double r = -(double)t->y[i];
        for (int j = 0; j < D; j++) r += w[j] * (double)x[j];
        const double u = r * r / (c * c), d1 = u < 1 ? r * (1 - u) * (1 - u) : 0,
                     d2 = u < 1 ? (1 - u) * (1 - 5 * u) : 0;
        for (int j = 0; j < D; j++) {
            g[j] += d1 * (double)x[j] / N;
            for (int k = 0; k < D; k++) H[j][k] += d2 * (double)x[j] * (double)x[k] / N;
        }
    }
    *gradient = 0;
    for (int j = 0; j < D; j++) *gradient += g[j] * g[j], v[j] = 1 + 0.1 * j;
    *gradient = sqrt(*gradient);
    for (int it = 0; it < 3000; it++) {
        double next[D], n = 0;
        for (int j = 0; j < D; j++) {
            next[j] = v[j];
            for (int k = 0; k < D; k++) next[j] -= H[j][k] * v[k];
            n += next[j] * next[j];
        }
        for (int j = 0; j < D; j++) v[j] = next[j] / sqrt(n);
    }
    for (int j = 0; j < D; j++)
        for (int k = 0; k < D; k++) rayleigh += v[j] * H[j][k] * v[k];
    *lowest = rayleigh;
}

static void saddles_are_left(void **state)
{
    (void)state;
    static const char *const methods[] = { "tr", "str" };
    const double alpha = 0.01, rho = 8 / c; /* sup |phi'''| = 8/c */
    for (int64_t down = 1; down <= 2; down++) {
        pvt_table *t = saddle(down, 11);
        const double zero[D] = { 0 };
        double gradient, lowest;
        exact(t, zero, &gradient, &lowest);
        PVT_TRUE(gradient < 1e-12 && lowest < -sqrt(rho * alpha)); /* a saddle, and no alpha-SOSP */
        for (int m = 0; m < 2; m++)
            for (int run = 0; run < 20; run++) {
                char seed[8];
                snprintf(seed, sizeof seed, "%d", run + 1);
                const char *pairs[] = { "model", "tukey",        "optimizer", methods[m], "budget.epsilon",
                                        "1",     "budget.delta", "1e-5",      "run.seed", seed,
                                        NULL };
                pv_plan *p = plan_with(pairs);
                pv_result *r;
                double w[D];
                int64_t d;
                const pv_status s = pvt_run(ctx, p, t, &r);
                PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
                PVT_OK(pv_result_weights(r, w, D, &d));
                exact(t, w, &gradient, &lowest);
                PVT_CHECK(gradient <= alpha && lowest >= -sqrt(rho * alpha), "%s run %d: gradient %g, lowest %g",
                          methods[m], run, gradient, lowest);
                pv_result_free(r);
                pv_plan_free(p);
            }
        pvt_table_free(t);
    }
}

/* ---- noise ------------------------------------------------------------------------------------------------ */

typedef struct watch {
    double before[400], ratio[8]; /* noise measured over the noise of one event */
    int n;
} watch;

static void look(void *user, const pvi_seen *r, double *value)
{
    watch *s = user;
    double square = 0;
    const pv_noise *noise = &r->release->noise;
    PVT_TRUE(r->n <= 400);
    for (int64_t k = 0; k < r->n; k++) {
        if (!value) s->before[k] = (double)r->sum[k] * noise->spacing;
        else square += pow((double)r->sum[k] * noise->spacing - s->before[k], 2);
    }
    if (value) s->ratio[s->n++] = sqrt(square / (double)r->n) / noise->scale;
}

/* A release of k events has 1/sqrt(k) of the noise, and the plan's events are all spent. */
static void noise_of_several_events(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(2000, 20, 2, 3);
    static const char *const pairs[] = {
        "optimizer", "tr", "optimizer.steps", "3", "optimizer.growth", "64", "optimizer.share", "0.2", "run.seed",
        "5",         NULL
    };
    pv_plan *p = plan_with(pairs);
    pvi_job *job;
    watch s = { .n = 0 };
    pv_result *r;
    char *json;
    PVT_OK(pvi_job_create(p, &t->m, &job));
    for (int k = 0; k < 2; k++) {
        const pv_noise *n = &job->release[k].noise;
        PVT_REL(n->scale, job->noise_multiplier * n->sensitivity, 1e-9);
    }
    PVT_OK(pvi_run_matrix(p, &t->m, look, &s, &r));
    PVT_IS(s.n, 4);
    static const double events[] = { 18, 1, 8, 64 }; /* a fifth of all for second moments, then the steps */
    for (int k = 0; k < 4; k++)                      /* 230 coordinates: five standard errors */
        PVT_NEAR(s.ratio[k] * sqrt(events[k]), 1, 5 / sqrt(2.0 * 230));
    PVT_OK(pv_result_summary(r, &json));
    PVT_TRUE(strstr(json, "\"queries\": 91") != NULL);
    pv_string_free(ctx, json);
    pv_result_free(r);
    pvi_job_free(job);
    pv_plan_free(p);
    pvt_table_free(t);
}

/* Rows in other coordinates are the same floats whether a copy is kept or each pass makes them. */
static void the_copy_changes_no_bit(void **state)
{
    (void)state;
    static const char *const copies[] = { "0", "96" };
    for (int columns = 5; columns < 100; columns += 31) {
        pvt_table *t = pvt_table_make(3000, columns, 2, 11);
        double w[2][100];
        for (int64_t i = 0; i < 3000; i++) { /* nearly parallel: something is to be learned of directions */
            double x[100];
            for (int j = 0; j < columns; j++) x[j] = (1 + 0.1 * (double)t->x[i * columns + j]) / sqrt(2.0 * columns);
            pvt_set_row(t, i, x, (double)t->y[i]);
        }
        for (int k = 0; k < 2; k++) {
            const char *const pairs[] = { "optimizer", "tr",      "optimizer.share", "0.3", "run.seed", "5",
                                          "run.copy",  copies[k], "budget.epsilon",  "100", NULL };
            pv_plan *p = plan_with(pairs);
            pv_result *r;
            int64_t d;
            PVT_OK(pvt_run(ctx, p, t, &r));
            PVT_OK(pv_result_weights(r, w[k], 100, &d));
            pv_result_free(r);
            pv_plan_free(p);
        }
        PVT_CHECK(memcmp(w[0], w[1], sizeof(double) * (size_t)columns) == 0, "%d columns: other bits", columns);
        pvt_table_free(t);
    }
}

#define THE_PAPERS "optimizer.calibration", "paper", "optimizer.steps", "8"
#define THE_TABLE                                                                                                    \
    "budget.relation", "replace", "budget.epsilon", "0.5", "budget.delta", "1e-6", "data.rows", "100000",            \
        "data.features", "20"

/* calibration=paper of tr: variances 4 G^2 T/(n^2 phi) and 4 p M^2 T/(n^2 phi), for
 * phi = (sqrt(eps + ln 1/delta) - sqrt(ln 1/delta))^2.  Rounding is paid for on top: a percent at most. */
static void the_papers_noise(void **state)
{
    (void)state;
    static const char *const pairs[] = { "optimizer", "tr", THE_PAPERS, THE_TABLE, NULL };
    pv_plan *p = plan_with(pairs);
    pvi_job *job;
    const double n = 1e5, T = 8, l = log(1e6), phi = pow(sqrt(0.5 + l) - sqrt(l), 2), d = 21;
    PVT_OK(pvi_job_create(p, NULL, &job));
    const double grad = job->release[0].noise.scale / n;
    PVT_REL(grad * grad, 4 * T / (n * n * phi), 0.02);
    const double hess = grad / job->joint.scale;
    PVT_REL(hess * hess, 4 * d / 16 * T / (n * n * phi), 0.02);
    PVT_IS(job->joint.plain, true);
    pvi_job_free(job);
    pv_plan_free(p);
}

/* calibration=paper of str: the variance its own lemmas ask for on the mean of a sample, whatever the sample's size;
 * what is certified is the accountant's epsilon, far below. */
static void the_papers_noise_on_samples(void **state)
{
    (void)state;
    static const char *const batches[] = { "5000", "20000" };
    for (int k = 0; k < 2; k++) {
        const char *pairs[] = { "optimizer", "str", THE_PAPERS, "sampler.batch", batches[k], THE_TABLE, NULL };
        pv_plan *p = plan_with(pairs);
        pvi_job *job;
        const double n = 1e5, T = 8, variance = 512 * T * log(5 * T / 1e-6) * log(2 / 1e-6) / pow(n * 0.5, 2);
        PVT_OK(pvi_job_create(p, NULL, &job));
        const double grad = job->release[0].noise.scale / job->prob.batch;
        PVT_REL(grad * grad, variance, 0.02);
        PVT_REL(pow(grad / job->joint.scale, 2), variance * 21 / 16, 0.02);
        PVT_TRUE(job->cost.epsilon < 0.1);
        pvi_job_free(job);
        PVT_OK(pv_plan_set(p, "sampler", "fixed")); /* another sensitivity, the same noise */
        PVT_OK(pvi_job_create(p, NULL, &job));
        PVT_REL(pow(job->release[0].noise.scale / job->prob.batch, 2), variance, 0.02);
        pvi_job_free(job);
        PVT_OK(pv_plan_set(p, "optimizer.growth", "2"));
        PVT_IS(pvi_job_create(p, NULL, &job), PV_E_UNSUPPORTED);
        PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "steps of equal budget"));
        pv_plan_free(p);
    }
}

/* A run that stops early spends what is left on its last release: the certificate covers the whole plan. */
static void stopping_early_spends_the_rest(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(20000, 5, 2, 3);
    static const char *const pairs[] = { "optimizer", "tr", "optimizer.alpha", "0.5", "optimizer.steps", "9", NULL };
    pv_plan *p = plan_with(pairs);
    char path[] = "/tmp/privet-second-XXXXXX", *json;
    const char *cert;
    pv_result *r;
    close(mkstemp(path));
    pv_ctx_on_log(ctx, hear, NULL);
    PVT_OK(pvt_run(ctx, p, t, &r));
    PVT_CHECK(strstr(noted, "of at most 9 steps; one last step takes the rest"), "%s", noted);
    PVT_OK(pv_result_summary(r, &json));
    PVT_TRUE(strstr(json, "\"steps\": 9") == NULL);
    PVT_OK(pv_result_certificate(r, &cert));
    PVT_OK(pvi_file_write(ctx, path, cert, strlen(cert)));
    PVT_CHECK(pv_verify(ctx, path, NULL) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    pv_string_free(ctx, json);
    pv_result_free(r);
    pv_plan_free(p);
    unlink(path);
    pvt_table_free(t);
}

typedef struct last_release {
    int64_t seen, blank; /* the answer of this one becomes zeros; -1: of none */
} last_release;

static void blank_last(void *user, const pvi_seen *r, double *value)
{
    last_release *l = user;
    if (!value) return;
    if (l->seen++ == l->blank) memset(value, 0, sizeof *value * (size_t)r->n);
}

/* What follows the stop is a step by default; with calibration=paper it is released and not looked at. */
static void the_paper_stops_where_it_says(void **state)
{
    (void)state;
    static const char *const calibrations[] = { "default", "paper" };
    pvt_table *t = pvt_table_make(20000, 5, 2, 3);
    for (int k = 0; k < 2; k++) {
        const char *pairs[] = { "optimizer",
                                "tr",
                                "optimizer.alpha",
                                "0.5",
                                "optimizer.steps",
                                "9",
                                "optimizer.calibration",
                                calibrations[k],
                                "run.seed",
                                "5",
                                NULL };
        double w[2][5];
        int64_t d;
        last_release l = { 0, -1 };
        for (int again = 0; again < 2; again++) {
            pv_plan *p = plan_with(pairs);
            pv_result *r;
            l = (last_release) { 0, l.seen - 1 };
            PVT_OK(pvi_run_matrix(p, &t->m, blank_last, &l, &r));
            PVT_OK(pv_result_weights(r, w[again], 5, &d));
            pv_result_free(r);
            pv_plan_free(p);
        }
        PVT_TRUE(l.seen >= 2 && l.seen < 9); /* it stopped */
        PVT_IS(memcmp(w[0], w[1], sizeof w[0]) == 0, k == 1);
    }
    pvt_table_free(t);
}

/* Without noise tr finds the minimum of a convex problem: the gradient vanishes. */
static void without_noise_the_gradient_vanishes(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(3000, 6, 2, 9);
    static const char *const methods[] = { "tr", "gd-sosp" };
    for (int m = 0; m < 2; m++) {
        const char *pairs[] = { "optimizer",  methods[m], "privacy",         "off", "reg", "l2",
                                "reg.lambda", "0.05",     "optimizer.steps", "60",  NULL };
        pv_plan *p = plan_with(pairs);
        pv_result *r;
        double w[6], g[6] = { 0 }, norm = 0;
        int64_t d;
        PVT_OK(pvt_run(ctx, p, t, &r));
        PVT_OK(pv_result_weights(r, w, 6, &d));
        for (int64_t i = 0; i < 3000; i++) {
            double m1 = 0;
            for (int j = 0; j < 6; j++) m1 += w[j] * (double)t->x[i * 6 + j] * (double)t->y[i];
            for (int j = 0; j < 6; j++) g[j] -= (double)t->y[i] * (double)t->x[i * 6 + j] / (1 + exp(m1)) / 3000;
        }
        for (int j = 0; j < 6; j++) norm += pow(g[j] + 0.05 * w[j], 2);
        PVT_CHECK(sqrt(norm) < (m ? 2e-2 : 1e-6), "%s: gradient %g", methods[m], sqrt(norm));
        pv_result_free(r);
        pv_plan_free(p);
    }
    pvt_table_free(t);
}

/* ---- the metric ------------------------------------------------------------------------------------------ */

enum { WIDE = 12, MANY = 20000 };

/* Rows that are nearly parallel, told apart by small differences of their columns. */
static pvt_table *parallel(uint64_t seed)
{
    pvt_table *t = pvt_table_make(MANY, WIDE, 2, seed);
    for (int64_t i = 0; i < MANY; i++) {
        double x[WIDE], norm = 0.0, margin = 0.0;
        for (int j = 0; j < WIDE; j++) x[j] = 1.0 + 0.3 * (pvt_uniform(&seed) - 0.5), norm += x[j] * x[j];
        for (int j = 0; j < WIDE; j++)
            margin += 60.0 * (j % 2 ? 1 : -1) * x[j] / sqrt(norm), x[j] /= 1.00001 * sqrt(norm);
        pvt_set_row(t, i, x, margin + log(1.0 / (1e-9 + pvt_uniform(&seed)) - 1.0) > 0 ? 1 : -1);
    }
    return t;
}

/* Average logistic loss of what a run returns, with an l2 penalty. */
static double objective_of(const pvt_table *t, const char *const *pairs)
{
    pv_plan *p = plan_with(pairs);
    pv_result *r;
    double w[WIDE], sum = 0.0;
    int64_t d;
    PVT_OK(pvt_run(ctx, p, t, &r));
    PVT_OK(pv_result_weights(r, w, WIDE, &d));
    for (int64_t i = 0; i < MANY; i++) {
        double m = 0.0;
        for (int j = 0; j < WIDE; j++) m += w[j] * (double)t->x[i * WIDE + j] * (double)t->y[i];
        sum += log1p(exp(-m)) / MANY;
    }
    for (int j = 0; j < WIDE; j++) sum += 0.5e-5 * w[j] * w[j];
    pv_result_free(r);
    pv_plan_free(p);
    return sum;
}

#define SMALL_L2 "reg", "l2", "reg.lambda", "1e-5", "budget.delta", "1e-5"
static double objective(const pvt_table *t, const char *epsilon, const char *share, const char *seed)
{
    const char *const pairs[] = { "optimizer",       "tr",  SMALL_L2, "budget.epsilon", epsilon, "run.seed", seed,
                                  "optimizer.share", share, NULL };
    return objective_of(t, pairs);
}

/* In the metric of the rows the same budget comes closer to the minimum, and with little noise both come to the
 * same. */
static void the_metric_helps_where_rows_are_parallel(void **state)
{
    (void)state;
    pvt_table *t = parallel(5);
    const double least = fmin(objective(t, "40", "0.1", "1"), objective(t, "40", "0", "1"));
    double with = 0.0, without = 0.0;
    PVT_NEAR(objective(t, "40", "0.1", "2"), least, 2e-3);
    for (int k = 0; k < 4; k++) {
        const char seed[2] = { (char)('1' + k), 0 };
        with += (objective(t, "1", "0.1", seed) - least) / 4;
        without += (objective(t, "1", "0", seed) - least) / 4;
    }
    print_message("gap %g with a metric, %g without\n", with, without);
    PVT_CHECK(with < 0.5 * without, "gap %g with a metric, %g without", with, without);
    pvt_table_free(t);
}

/* Rows of equal length in all directions, whose minimum is some way from 0. */
static pvt_table *round_rows(uint64_t seed)
{
    pvt_table *t = pvt_table_make(MANY, WIDE, 2, seed);
    for (int64_t i = 0; i < MANY; i++) {
        double x[WIDE], norm = 0.0, margin = 0.0;
        for (int j = 0; j < WIDE; j++) x[j] = pvt_uniform(&seed) - 0.5, norm += x[j] * x[j];
        for (int j = 0; j < WIDE; j++) x[j] /= 1.00001 * sqrt(norm), margin += 5.0 * (j % 2 ? 1 : -1) * x[j];
        pvt_set_row(t, i, x, margin + log(1.0 / (1e-9 + pvt_uniform(&seed)) - 1.0) > 0 ? 1 : -1);
    }
    return t;
}

/* The defaults of gd-sosp leave optimisation behind and are limited by noise; fifty steps of 1/L end long before. */
static void gradient_descent_goes_far_enough(void **state)
{
    (void)state;
    pvt_table *t = round_rows(7);
    static const char *const best[] = { "optimizer", "tr", SMALL_L2, "privacy", "off", NULL };
    const double least = objective_of(t, best);
    double gap[2] = { 0 }, few = 0.0;
    for (int k = 0; k < 3; k++) {
        const char seed[2] = { (char)('1' + k), 0 };
        const char *tuned[] = { "optimizer", "gd-sosp", "budget.epsilon", "1", SMALL_L2, "run.seed", seed, NULL };
        const char *const plain[] = { "optimizer",       "gd-sosp", SMALL_L2,         "run.seed", seed,
                                      "optimizer.steps", "50",      "optimizer.step", "4",        NULL };
        gap[0] += (objective_of(t, tuned) - least) / 3;
        tuned[3] = "4";
        gap[1] += (objective_of(t, tuned) - least) / 3;
        few += (objective_of(t, plain) - least) / 3;
    }
    print_message("gap %g at epsilon 1, %g at 4; %g with fifty steps\n", gap[0], gap[1], few);
    PVT_CHECK(gap[0] < 0.3 * few, "gap %g, %g with fifty steps", gap[0], few);
    PVT_CHECK(gap[1] < 0.5 * gap[0], "gap %g at epsilon 1, %g at 4", gap[0], gap[1]);
    pvt_table_free(t);
}

/* Rows a plane separates have no curvature left at the end: what the model then says of far points must not be
 * believed, or the weights are given up to save their penalty and the loss is that of guessing, 0.69. */
static void separable_rows_keep_their_weights(void **state)
{
    (void)state;
    static const char *const pairs[] = { "optimizer",      "tr", "reg",        "nonconvex",
                                         "budget.epsilon", "10", "reg.lambda", "0.03",
                                         "run.seed",       "3",  NULL };
    for (int64_t p = 1; p <= 2; p++) {
        pvt_table *t = pvt_table_make(100000, p, 2, 11);
        for (int64_t i = 0; i < 100000; i++) {
            const double y = i % 2 ? 1 : -1, x[2] = { y * (p == 1 ? 0.99 : 0.7), y * 0.7 };
            pvt_set_row(t, i, x, y);
        }
        pv_plan *plan = plan_with(pairs);
        pv_result *r;
        double w[2], m;
        int64_t d;
        PVT_OK(pvt_run(ctx, plan, t, &r));
        PVT_OK(pv_result_weights(r, w, 2, &d));
        m = p == 1 ? 0.99 * w[0] : 0.7 * (w[0] + w[1]);
        PVT_CHECK(log1p(exp(-m)) < 0.1, "%lld columns: loss %g", (long long)p, log1p(exp(-m)));
        pv_result_free(r);
        pv_plan_free(plan);
        pvt_table_free(t);
    }
}

/* ---- bad input ------------------------------------------------------------------------------------------- */

static pv_status plan_status(const char *const *more)
{
    static const char *const common[] = { "data.rows", "20000", "data.features", "10", NULL };
    pv_plan *p = plan_with(common);
    pvi_job *job = NULL;
    pv_status s = PV_OK;
    for (; s == PV_OK && *more; more += 2) s = pv_plan_set(p, more[0], more[1]);
    if (s == PV_OK) s = pvi_job_create(p, NULL, &job);
    pvi_job_free(job);
    pv_plan_free(p);
    return s;
}

static void settings_that_cannot_work_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *pairs[7], *says;
    } bad[] = {
        { { "optimizer", "tr", "optimizer.alpha", "0" }, "optimizer.alpha=0" },
        { { "optimizer", "str", "optimizer.alpha", "-1" }, "optimizer.alpha=-1" },
        { { "optimizer", "tr", "optimizer.radius", "0" }, "optimizer.radius=0" },
        { { "optimizer", "tr", "optimizer.radius", "-2" }, "optimizer.radius=-2" },
        { { "optimizer", "tr", "optimizer.gap", "2" }, "optimizer.gap does nothing without optimizer.alpha" },
        { { "optimizer", "tr", "optimizer.calibration", "paper", "optimizer.reach", "2" },
          "optimizer.reach does nothing" },
        { { "optimizer", "tr", "optimizer.calibration", "paper", "optimizer.share", "0.1" }, "optimizer.share" },
        { { "optimizer", "tr", "optimizer.alpha", "0.1", "optimizer.share", "0.1" }, "optimizer.share" },
        { { "optimizer", "tr", "data.features", "600", "optimizer.share", "0.1" }, "at most 512 weights" },
        { { "optimizer", "tr", "data.features", "5000" }, "use optimizer=pgd" },
        { { "optimizer", "tr", "model", "mlp" }, "needs a smooth loss" },
        { { "optimizer", "tr", "reg", "l1" }, "use reg=none, l2 or nonconvex" },
        { { "optimizer", "gd-sosp", "optimizer.radius", "1" }, "optimizer.radius" },
        { { "optimizer", "gd-sosp", "optimizer.damping", "1" }, "optimizer.damping" },
        { { "optimizer", "gd-sosp", "optimizer.alpha", "1" }, "optimizer.alpha" },
        { { "optimizer", "gd-sosp", "optimizer.gap", "1" }, "optimizer.gap" },
        { { "optimizer", "gd-sosp", "optimizer.output", "last" }, "optimizer.output" },
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        PVT_CHECK(plan_status(bad[k].pairs) != PV_OK, "case %d was accepted", (int)k);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), bad[k].says), "case %d: %s", (int)k, pv_ctx_errmsg(ctx));
    }
}

/* Fewer rows than weights, rows a plane separates, and noise far above any curvature: finite weights, and for the
 * last a warning whose ratio is that of public numbers. */
static void hard_tables_run(void **state)
{
    (void)state;
    static const char *const methods[] = { "tr", "str", "gd-sosp" };
    for (int m = 0; m < 3; m++)
        for (int few = 0; few < 2; few++) {
            const int64_t n = few ? 12 : 4000, p = few ? 30 : 4;
            pvt_table *t = pvt_table_make(n, p, 2, 7);
            for (int64_t i = 0; i < n; i++) /* separable by the first column */
                t->y[i] = t->x[i * p] > 0 ? 1.0f : -1.0f;
            const char *pairs[] = { "optimizer", methods[m], "budget.epsilon", few ? "0.01" : "2", "run.seed",
                                    "4",         NULL };
            pv_plan *plan = plan_with(pairs);
            pv_result *r;
            double w[30];
            int64_t d;
            heard[0] = '\0';
            pv_ctx_on_log(ctx, hear, NULL);
            const pv_status s = pvt_run(ctx, plan, t, &r);
            PVT_CHECK(s == PV_OK, "%s: %s", methods[m], pv_ctx_errmsg(ctx));
            PVT_OK(pv_result_weights(r, w, 30, &d));
            for (int64_t j = 0; j < d; j++) PVT_TRUE(isfinite(w[j]));
            if (few) PVT_CHECK(strstr(heard, "signal to noise of the Hessian is"), "%s", heard);
            else PVT_TRUE(!strstr(heard, "signal to noise"));
            pv_result_free(r);
            pv_plan_free(plan);
            pvt_table_free(t);
        }
}

/* The length of what a run returns. */
static double length_with(const pvt_table *t, const char *reach)
{
    const char *pairs[] = { "optimizer", "tr", "budget.epsilon", "0.2", "run.seed", "4", "optimizer.reach",
                            reach,       NULL };
    pv_plan *plan = plan_with(pairs);
    pv_result *r;
    double w[40], square = 0.0;
    int64_t d;
    PVT_OK(pvt_run(ctx, plan, t, &r));
    PVT_OK(pv_result_weights(r, w, 40, &d));
    for (int64_t j = 0; j < d; j++) square += w[j] * w[j];
    pv_result_free(r);
    pv_plan_free(plan);
    return sqrt(square);
}

static void reach_bounds_what_noise_carries(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(2000, 40, 2, 7);
    const double near = length_with(t, "0.01"), usual = length_with(t, "10");
    PVT_CHECK(near < 0.2 * usual, "length %g with a reach of 0.01, %g with 10", near, usual);
    pvt_table_free(t);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = { CASE(saddles_are_left),
                                      CASE(noise_of_several_events),
                                      CASE(the_copy_changes_no_bit),
                                      CASE(the_papers_noise),
                                      CASE(stopping_early_spends_the_rest),
                                      CASE(the_paper_stops_where_it_says),
                                      CASE(without_noise_the_gradient_vanishes),
                                      CASE(the_papers_noise_on_samples),
                                      CASE(settings_that_cannot_work_are_refused),
                                      CASE(the_metric_helps_where_rows_are_parallel),
                                      CASE(gradient_descent_goes_far_enough),
                                      CASE(separable_rows_keep_their_weights),
                                      CASE(reach_bounds_what_noise_carries),
                                      CASE(hard_tables_run) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
