/* test_measures.c - measures along a run, on training rows and on others: right, without influence on the model, and
 * with the guarantee that is left. */
#include <sys/stat.h>
#include "core/eigen.h"
#include "datatest.h"
#include "pvtable.h"
#include "run/run.h"

#include <malloc.h>

enum { N = 400, P = 5, HELD = 150 };
static dt t;
static char held[120], lines[120];

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    snprintf(held, sizeof held, "%s/held", t.dir);
    snprintf(lines, sizeof lines, "%s/lines", t.dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(held);
    unlink(lines);
    dt_close(&t);
    return 0;
}

/* The rows as a LIBSVM file, digits enough to be the same floats. */
static void write_rows(pvt_table *rows, const char *path)
{
    FILE *f = fopen(path, "w");
    PVT_TRUE(f != NULL);
    for (int64_t i = 0; i < rows->m.domain.n; i++) {
        fprintf(f, "%g", (double)rows->y[i]);
        for (int j = 0; j < P; j++) fprintf(f, " %d:%.9g", j + 1, (double)rows->x[i * P + j]);
        fputc('\n', f);
    }
    fclose(f);
}

static pv_status train(pvt_table *rows, const char *const *pairs, pv_result **r)
{
    pv_plan *p;
    PVT_OK(pv_plan_create(t.ctx, &p));
    PVT_OK(pv_plan_set(p, "data.bias", "0"));
    PVT_OK(pv_plan_set(p, "data.key_path", t.key));
    for (; *pairs; pairs += 2) PVT_OK(pv_plan_set(p, pairs[0], pairs[1]));
    const pv_status s = pvi_run_matrix(p, &rows->m, NULL, NULL, r);
    pv_plan_free(p);
    return s;
}

/* The first number after "key": beyond `from`; NAN: no such key. */
static double number(const char *from, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = from ? strstr(from, quoted) : NULL;
    return at ? strtod(at + strlen(quoted), NULL) : (double)NAN;
}

typedef struct truth {
    double loss, gradient, accuracy, auc, lowest;
} truth;

/* Straight from the definitions, in doubles. */
static truth logistic(pvt_table *rows, const double *w)
{
    const int n = (int)rows->m.domain.n;
    double g[P] = { 0 }, H[P * P] = { 0 }, e[P], work[P], *m = calloc((size_t)n, sizeof *m), above = 0.0, pairs = 0.0;
    truth q = { 0 };
    for (int i = 0; i < n; i++) {
        const float *x = rows->x + i * P;
        const double y = (double)rows->y[i];
        for (int j = 0; j < P; j++) m[i] += w[j] * (double)x[j];
        const double s = 1.0 / (1.0 + exp(y * m[i]));
        q.loss += log1p(exp(-y * m[i])) / n;
        q.accuracy += (m[i] > 0.0) == (y > 0.0) ? 1.0 / n : 0.0;
        for (int j = 0; j < P; j++) g[j] -= y * s * (double)x[j] / n;
        for (int j = 0; j < P; j++)
            for (int k = 0; k < P; k++) H[j * P + k] += s * (1.0 - s) * (double)x[j] * (double)x[k] / n;
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (rows->y[i] > 0 && rows->y[k] < 0) pairs += 1.0, above += m[i] > m[k] ? 1.0 : m[i] == m[k] ? 0.5 : 0.0;
    for (int j = 0; j < P; j++) q.gradient += g[j] * g[j];
    q.gradient = sqrt(q.gradient);
    q.auc = above / pairs;
    PVT_OK(pvi_eigen(P, H, e, work));
    q.lowest = e[0];
    free(m);
    return q;
}

static void agrees(const char *json, const truth *q)
{
    PVT_NEAR(number(json, "loss"), q->loss, 1e-6);
    PVT_NEAR(number(json, "gradient_norm"), q->gradient, 1e-6);
    PVT_NEAR(number(json, "accuracy"), q->accuracy, 1e-12);
    PVT_NEAR(number(json, "auc"), q->auc, 1e-12);
    PVT_NEAR(number(json, "lambda_min"), q->lowest, 1e-6);
    PVT_TRUE(number(json, "lambda_min_error") < 1e-4);
}

static void the_numbers_are_those_of_held_out_rows(void **state)
{
    (void)state;
    pvt_table *rows = pvt_table_make(N, P, 2, 8), *other = pvt_table_make(HELD, P, 2, 9);
    const char *pairs[] = { "run.seed",    "3",   "optimizer.steps", "40",  "run.holdout", held,
                            "run.measure", "all", "run.diagnostics", "yes", "run.every",   "7",
                            NULL };
    pv_result *r;
    char *summary;
    double w[P];
    int64_t d, points = 0;
    write_rows(other, held);
    PVT_CHECK(train(rows, pairs, &r) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    PVT_OK(pv_result_weights(r, w, P, &d));
    PVT_OK(pv_result_summary(r, &summary));
    const truth here = logistic(rows, w), there = logistic(other, w);
    agrees(strstr(summary, "diagnostics_not_private"), &here);
    const char *json = strstr(summary, "holdout_not_private");
    agrees(json, &there);
    PVT_TRUE(strstr(json, "NOT PRIVATE: computed from held-out rows"));
    for (const char *at = strstr(json, "\"curve\""); (at = strstr(at, "\"step\":")) != NULL; at++)
        PVT_NEAR(strtod(at + 7, NULL), 7.0 * (double)++points, 0);
    PVT_IS(points, 5); /* 7, 14, 21, 28, 35; 40 is what is returned */
    pv_string_free(t.ctx, summary);
    pv_result_free(r);
    pvt_table_free(rows);
    pvt_table_free(other);
}

/* Along the way they are of the iterate that is there: a run that ends there returns the same. */
static void a_point_of_a_long_run_is_the_end_of_a_short_one(void **state)
{
    (void)state;
    pvt_table *rows = pvt_table_make(N, P, 2, 8), *other = pvt_table_make(HELD, P, 2, 9);
    static const char *const optimizers[] = { "sgd", "adam" };
    write_rows(other, held);
    for (int k = 0; k < 2; k++) {
        double loss[2];
        for (int i = 0; i < 2; i++) {
            const char *pairs[] = { "run.seed",
                                    "3",
                                    "optimizer",
                                    optimizers[k],
                                    "optimizer.steps",
                                    i ? "20" : "50",
                                    "run.holdout",
                                    held,
                                    "run.every",
                                    "20",
                                    "optimizer.output",
                                    "last",
                                    "budget.noise_multiplier",
                                    "5",
                                    "budget.epsilon",
                                    "100",
                                    "optimizer.step",
                                    "0.3",
                                    NULL };
            pv_result *r;
            char *summary;
            PVT_CHECK(train(rows, pairs, &r) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
            PVT_OK(pv_result_summary(r, &summary));
            const char *json = strstr(summary, "holdout_not_private");
            loss[i] = number(i ? json : strstr(json, "\"curve\""), "loss");
            pv_string_free(t.ctx, summary);
            pv_result_free(r);
        }
        PVT_NEAR(loss[0], loss[1], 0);
    }
    pvt_table_free(rows);
    pvt_table_free(other);
}

static void weights_do_not_change(void **state)
{
    (void)state;
    pvt_table *rows = pvt_table_make(N, P, 2, 8), *other = pvt_table_make(HELD, P, 2, 9);
    const char *with[] = { "run.seed", "3", "run.holdout", held, "run.measure", "all", "run.log", lines, NULL },
               *plain[] = { "run.seed", "3", NULL };
    pv_result *r[2];
    double w[2][P];
    int64_t d;
    write_rows(other, held);
    PVT_OK(train(rows, with, &r[0]));
    PVT_OK(train(rows, plain, &r[1]));
    for (int k = 0; k < 2; k++) PVT_OK(pv_result_weights(r[k], w[k], P, &d));
    PVT_IS(memcmp(w[0], w[1], sizeof w[0]), 0);
    pv_result_free(r[0]);
    pv_result_free(r[1]);
    pvt_table_free(rows);
    pvt_table_free(other);
}

/* ---- the guarantee ------ */

static void the_guarantee_is_what_is_left(void **state)
{
    (void)state;
    pvt_table *rows = pvt_table_make(N, P, 2, 8), *other = pvt_table_make(HELD, P, 2, 9);
    const char *on_others[] = { "run.holdout", held, "run.log", lines, NULL },
               *on_training[] = { "run.diagnostics", "yes", "run.log", lines, NULL };
    pv_result *r;
    const char *cert;
    char *text;
    size_t len;
    write_rows(other, held);
    PVT_CHECK(train(rows, on_others, &r) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    PVT_OK(pv_result_certificate(r, &cert));
    PVT_OK(pvi_cert_verify(t.ctx, "certificate", &r->cert));
    PVT_TRUE(strstr(cert, pvi_cert_holdout) && strstr(cert, "every result"));
    PVT_OK(pvi_file_read(t.ctx, lines, 1 << 20, &text, &len));
    PVT_TRUE(strncmp(text, "{\"rows\":\"held-out\",\"warning\":\"NOT PRIVATE\",\"returned\":false,\"step\":", 66) ==
             0);
    PVT_TRUE(strstr(text, "\"returned\":true") && text[len - 2] == '}' && text[len - 1] == '\n');
    pvi_free(t.ctx, text);
    pv_result_free(r);

    pv_plan *plan;
    char *cost;
    static const char *const set[] = { "data.rows",       "100", "data.features", "3",    "model", "logistic",
                                       "run.diagnostics", "yes", "run.log",       "lines" };
    PVT_OK(pv_plan_create(t.ctx, &plan));
    for (int i = 0; i < 10; i += 2) PVT_OK(pv_plan_set(plan, set[i], set[i + 1]));
    PVT_OK(pv_plan_cost(plan, &cost));
    PVT_TRUE(strstr(cost, "\"private\": false"));
    pv_string_free(t.ctx, cost);
    pv_plan_free(plan);

    PVT_OK(train(rows, on_training, &r)); /* whoever saw them may have stopped it by them */
    PVT_TRUE(!r->cert.is_private);
    PVT_IS(pvi_cert_verify(t.ctx, "certificate", &r->cert), PV_E_VERIFY);
    PVT_TRUE(strstr(pv_ctx_errmsg(t.ctx), "measures of the training rows were shown while it was trained"));
    pv_result_free(r);
    pvt_table_free(rows);
    pvt_table_free(other);
}

/* The bound for the last weights alone is not stated where others were looked at. */
static void no_bound_for_the_last_iterate_alone(void **state)
{
    (void)state;
    pvt_table *rows = pvt_table_make(N, P, 3, 8), *other = pvt_table_make(HELD, P, 3, 9);
    const char *pairs[] = { "model",
                            "split-mlp:dense4,relu,dense",
                            "sampler",
                            "cyclic",
                            "sampler.batch",
                            "100",
                            "optimizer.epochs",
                            "30",
                            "optimizer.output",
                            "last",
                            "optimizer.momentum",
                            "0",
                            "optimizer.step",
                            "0.1",
                            "reg",
                            "l2",
                            "reg.lambda",
                            "1",
                            "data.labels",
                            "0,1,2",
                            "run.holdout",
                            held,
                            NULL };
    pv_result *r;
    write_rows(other, held);
    PVT_CHECK(train(rows, pairs, &r) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    PVT_TRUE(r->cert.is_private && !r->cert.conditional);
    pv_result_free(r);
    pairs[20] = NULL;
    PVT_OK(train(rows, pairs, &r));
    PVT_TRUE(r->cert.conditional != NULL);
    pv_result_free(r);
    pvt_table_free(rows);
    pvt_table_free(other);
}

static void refused(pvt_table *rows, const char *key, const char *value, const char *key2, const char *value2,
                    const char *why)
{
    const char *pairs[] = { "optimizer.steps", "3", key, value, key2, value2, NULL };
    pv_result *r;
    PVT_CHECK(train(rows, pairs, &r) != PV_OK, "accepted: %s=%s", key, value);
    PVT_CHECK(strstr(pv_ctx_errmsg(t.ctx), why), "%s", pv_ctx_errmsg(t.ctx));
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    pvt_table *rows = pvt_table_make(N, P, 2, 8);
    refused(rows, "run.log", lines, NULL, NULL, "run.log does nothing without");
    refused(rows, "run.every", "3", NULL, NULL, "run.every does nothing without");
    refused(rows, "run.measure", "loss", NULL, NULL, "run.measure does nothing without rows to measure on");
    refused(rows, "run.holdout", "", NULL, NULL, "run.holdout has no value");
    refused(rows, "run.diagnostics", "yes", "run.log", "", "run.log has no value");
    refused(rows, "run.diagnostics", "yes", "run.measure", "speed", "a list of loss, gradient, accuracy, curvature");
    refused(rows, "run.diagnostics", "yes", "run.measure", "loss,", "a list of");
    refused(rows, "run.holdout", held, NULL, NULL, "No such file");
    refused(rows, "run.diagnostics", "yes", "run.log", "/nowhere/lines", "No such file");
    pvt_table *other = pvt_table_make(HELD, P, 2, 9);
    struct stat before, after;
    write_rows(other, held);
    PVT_TRUE(stat(held, &before) == 0);
    refused(rows, "run.holdout", held, "run.log", held, "is an input; name another file");
    PVT_TRUE(stat(held, &after) == 0 && before.st_size > 0 && after.st_size == before.st_size);
    pvt_table_free(other);
    pvt_table_free(rows);
}

/* ---- Hessians ------ */

/* A network of one hidden layer of tanh at zero: the loss's second derivatives are those of output biases, which are
 * not negative, and between weights of a hidden unit k, from it and to it, G_cj = mean (p_c - y_c) x_j with p_c =
 * 1/2.  * The second pair gives eigenvalues -s and s, s the singular values of G, whose two rows are opposite. */
static void a_network_at_zero_is_at_a_strict_saddle(void **state)
{
    (void)state;
    pvt_table *rows = pvt_table_make(N, P, 2, 8);
    const char *pairs[] = { "model",
                            "mlp:dense3,tanh,dense",
                            "model.scale",
                            "1",
                            "optimizer.start",
                            "zero",
                            "privacy",
                            "off",
                            "optimizer",
                            "pgd",
                            "optimizer.steps",
                            "1",
                            "optimizer.step",
                            "1e-12",
                            "run.diagnostics",
                            "yes",
                            "run.measure",
                            "curvature",
                            NULL };
    double square = 0.0, bias = 0.0;
    pv_result *r;
    char *summary;
    for (int j = 0; j < P; j++) {
        double g = 0.0;
        for (int i = 0; i < N; i++) g += 0.5 * (double)rows->y[i] * (double)rows->x[i * P + j] / N;
        square += g * g;
    }
    for (int i = 0; i < N; i++) bias += 0.5 * (double)rows->y[i] / N;
    PVT_CHECK(train(rows, pairs, &r) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    PVT_OK(pv_result_summary(r, &summary));
    PVT_NEAR(number(summary, "lambda_min"), -sqrt(2.0 * (square + bias * bias)), 1e-5);
    pv_string_free(t.ctx, summary);
    pv_result_free(r);

    pairs[1] = "mlp:dense3,relu,dense";
    PVT_OK(train(rows, pairs, &r));
    PVT_OK(pv_result_summary(r, &summary));
    PVT_TRUE(strstr(summary, "relu and maximum pooling are not differentiable twice"));
    PVT_TRUE(isnan(number(strstr(summary, "diagnostics_not_private"), "lambda_min_error")));
    pv_string_free(t.ctx, summary);
    pv_result_free(r);
    pvt_table_free(rows);
}

typedef struct memory {
    size_t live, most;
} memory;

static void *get(void *self, size_t n)
{
    memory *m = self;
    void *p = malloc(n);
    m->live += p ? malloc_usable_size(p) : 0;
    if (m->live > m->most) m->most = m->live;
    return p;
}

static void put(void *self, void *p)
{
    ((memory *)self)->live -= p ? malloc_usable_size(p) : 0;
    free(p);
}

/* 40 rows of 10^5 columns: the loss is flat in most directions, so that the penalty's curvature is the lowest. */
static void a_hundred_thousand_weights_in_bounded_memory(void **state)
{
    (void)state;
    const pv_alloc alloc = { get, put, &(memory) { 0, 0 } };
    const memory *m = alloc.self;
    pvt_table *rows = pvt_table_make(40, 100000, 2, 8);
    pvt_table_as_csr(rows);
    pv_ctx *ctx;
    pv_plan *p;
    pv_result *r;
    char *summary;
    static const char *const pairs[] = { "privacy",     "off",       "optimizer",  "pgd", "optimizer.steps", "2",
                                         "reg",         "l2",        "reg.lambda", "0.3", "run.diagnostics", "yes",
                                         "run.measure", "curvature", NULL };
    PVT_OK(pv_ctx_create(&alloc, &ctx));
    PVT_OK(pv_plan_create(ctx, &p));
    for (int k = 0; pairs[k]; k += 2) PVT_OK(pv_plan_set(p, pairs[k], pairs[k + 1]));
    PVT_CHECK(pvi_run_matrix(p, &rows->m, NULL, NULL, &r) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_summary(r, &summary));
    PVT_NEAR(number(summary, "lambda_min"), 0.3, 1e-3);
    PVT_CHECK(m->most < (size_t)200000000, "%.0f MB", (double)m->most / 1e6); /* 62 vectors are 50 of them */
    pv_string_free(ctx, summary);
    pv_result_free(r);
    pv_plan_free(p);
    pv_ctx_free(ctx);
    pvt_table_free(rows);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = {
        CASE(the_numbers_are_those_of_held_out_rows),
        CASE(a_point_of_a_long_run_is_the_end_of_a_short_one),
        CASE(weights_do_not_change),
        CASE(the_guarantee_is_what_is_left),
        CASE(no_bound_for_the_last_iterate_alone),
        CASE(what_makes_no_sense_is_refused),
        CASE(a_network_at_zero_is_at_a_strict_saddle),
        CASE(a_hundred_thousand_weights_in_bounded_memory),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
