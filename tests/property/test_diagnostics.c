/* test_diagnostics.c - diagnostics: right, marked, and without any influence on the model. */
#include "ctxtest.h"
#include "pvtable.h"
#include "run/run.h"

#include <unistd.h>

enum { N = 700, P = 5 };
/* Weights, and the summary's and the certificate's text (free both). */
static void train(const pvt_table *t, const char *const *pairs, double *w, char **summary, char **certificate)
{
    pv_plan *p;
    pv_result *r;
    int64_t d;
    char *json;
    const char *cert;
    PVT_OK(pv_plan_create(ctx, &p));
    const bool named = pairs[0] && strcmp(pairs[0], "optimizer") == 0;
    PVT_OK(pv_plan_set(p, named ? pvt_steps_key(pairs[1]) : "optimizer.steps", "47"));
    for (; *pairs; pairs += 2) PVT_OK(pv_plan_set(p, pairs[0], pairs[1]));
    const pv_status s = pvt_run(ctx, p, t, &r);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_weights(r, w, P, &d));
    PVT_OK(pv_result_summary(r, &json));
    PVT_OK(pv_result_certificate(r, &cert));
    *summary = strdup(json);
    *certificate = strdup(cert);
    pv_string_free(ctx, json);
    pv_result_free(r);
    pv_plan_free(p);
}

/* The first number after "key": beyond `from`; NAN: no such key. */
static double number(const char *from, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(from, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : (double)NAN;
}

static const char *diagnostics(const char *summary)
{
    const char *at = strstr(summary, "\"diagnostics_not_private\"");
    PVT_TRUE(at);
    return at;
}

/* Mean logistic loss and its gradient in double precision, straight from the definition. */
static double logistic(const pvt_table *t, const double *w, double g[P])
{
    double loss = 0.0;
    memset(g, 0, P * sizeof *g);
    for (int i = 0; i < N; i++) {
        double m = 0.0;
        for (int j = 0; j < P; j++) m += w[j] * (double)t->x[i * P + j];
        const double y = (double)t->y[i];
        loss += log1p(exp(-y * m)) / N;
        for (int j = 0; j < P; j++) g[j] -= y / (1.0 + exp(y * m)) * (double)t->x[i * P + j] / N;
    }
    return loss;
}

static void the_numbers_are_those_of_the_returned_model(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(N, P, 2, 8);
    static const char *const pairs[] = { "run.seed", "3",  "run.diagnostics", "yes", "clip", "0.01",
                                         "reg",      "l2", "reg.lambda",      "0.3", NULL };
    double w[P], g[P], norm = 0.0, square = 0.0;
    char *summary, *cert;
    train(t, pairs, w, &summary, &cert);
    const double loss = logistic(t, w, g);
    for (int j = 0; j < P; j++) {
        norm += (g[j] + 0.3 * w[j]) * (g[j] + 0.3 * w[j]);
        square += w[j] * w[j];
    }
    const char *d = diagnostics(summary);
    PVT_NEAR(number(d, "loss"), loss, 1e-6);
    PVT_NEAR(number(d, "penalty"), 0.15 * square, 1e-12);
    PVT_NEAR(number(d, "objective"), loss + 0.15 * square, 1e-6);
    PVT_NEAR(number(d, "gradient_norm"), sqrt(norm), 1e-6);
    PVT_NEAR(number(d, "rows_not_finite"), 0.0, 0.0);
    PVT_TRUE(strstr(d, "\"frank_wolfe_gap\": \"there is no constraint set\""));
    free(summary);
    free(cert);
    pvt_table_free(t);
}

/* max_v <x - v, g> over the l1 ball is <x, g> + R max |g_j|; the projected gradient of an l1 penalty is known for one
 * step: soft thresholding. */
static void every_measure_that_exists_is_there(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(N, P, 2, 8);
    static const char *const ball[] = { "run.seed", "3", "run.diagnostics", "yes", "set", "l1ball", "set.radius",
                                        "2",        NULL },
                             *const sparse[] = { "run.seed", "3", "run.diagnostics", "yes", "reg", "l1", "reg.lambda",
                                                 "0.02",     NULL };
    double w[P], g[P], gap = 0.0, top = 0.0, move = 0.0;
    char *summary, *cert;

    train(t, ball, w, &summary, &cert);
    logistic(t, w, g);
    for (int j = 0; j < P; j++) {
        gap += w[j] * g[j];
        top = fmax(top, fabs(g[j]));
    }
    const char *d = diagnostics(summary);
    PVT_NEAR(number(d, "frank_wolfe_gap"), gap + 2.0 * top, 1e-6);
    PVT_TRUE(number(d, "mirror_gradient") >= 0.0 && number(d, "projected_gradient") >= 0.0);
    PVT_TRUE(strstr(d, "\"gradient_norm\": \"the gradient need not vanish"));
    free(summary);
    free(cert);

    train(t, sparse, w, &summary, &cert);
    logistic(t, w, g);
    for (int j = 0; j < P; j++) { /* L = 1/4, so gamma = 4 */
        const double u = w[j] - 4.0 * g[j], x = copysign(fmax(fabs(u) - 4.0 * 0.02, 0.0), u);
        move += (w[j] - x) * (w[j] - x);
    }
    d = diagnostics(summary);
    PVT_NEAR(number(d, "projected_gradient"), sqrt(move) / 4.0, 1e-6);
    PVT_TRUE(strstr(d, "\"gradient_norm\": \"the penalty has no gradient\""));
    free(summary);
    free(cert);
    pvt_table_free(t);
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++) n++;
    return n;
}

/* Every optimiser, with and without: the same bits, and as many points of the curve as promised. */
/* lambda_min by power iteration on I - H, the reference by gradient descent: neither shares code with the library. */
static void second_order_numbers_are_right(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(N, P, 2, 8);
    static const char *const pairs[] = { "run.seed",  "3",  "run.diagnostics", "yes",
                                         "reg",       "l2", "reg.lambda",      "0.3",
                                         "optimizer", "tr", "optimizer.alpha", "0.5",
                                         NULL };
    double w[P], g[P], x[P] = { 0 }, v[P] = { 1, 0.5, 0.3, 0.2, 0.1 }, H[P][P] = { { 0 } }, square = 0.0, low = 0.0;
    char *summary, *cert;
    train(t, pairs, w, &summary, &cert);
    for (int it = 0; it < 3000; it++) {
        logistic(t, x, g);
        for (int j = 0; j < P; j++) x[j] -= g[j] + 0.3 * x[j];
    }
    for (int j = 0; j < P; j++) square += x[j] * x[j];
    const double best = logistic(t, x, g) + 0.15 * square;
    for (int i = 0; i < N; i++) {
        double m = 0.0;
        for (int j = 0; j < P; j++) m += w[j] * (double)t->x[i * P + j];
        const double q = 1.0 / (1.0 + exp(m));
        for (int j = 0; j < P; j++)
            for (int k = 0; k < P; k++)
                H[j][k] += q * (1.0 - q) * (double)t->x[i * P + j] * (double)t->x[i * P + k] / N;
    }
    for (int it = 0; it < 4000; it++) {
        double next[P], size = 0.0;
        for (int j = 0; j < P; j++) {
            next[j] = v[j];
            for (int k = 0; k < P; k++) next[j] -= H[j][k] * v[k];
            size += next[j] * next[j];
        }
        for (int j = 0; j < P; j++) v[j] = next[j] / sqrt(size);
    }
    for (int j = 0; j < P; j++)
        for (int k = 0; k < P; k++) low += v[j] * H[j][k] * v[k];
    const char *d = strstr(diagnostics(summary), "\"second_order\"");
    PVT_TRUE(d);
    PVT_NEAR(number(d, "lambda_min"), low + 0.3, 1e-5);
    PVT_NEAR(number(d, "reference_objective"), best, 1e-6);
    PVT_NEAR(number(d, "optimality_gap"), number(diagnostics(summary), "objective") - best, 2e-6);
    PVT_TRUE(number(d, "optimality_gap") >= -1e-6);
    PVT_NEAR(number(d, "alpha"), number(d, "gradient_norm"), 1e-12); /* convex: the gradient decides */
    PVT_NEAR(number(d, "rho"), 1.0 / (6.0 * sqrt(3.0)), 1e-6);
    PVT_TRUE(strstr(d, "\"alpha_wanted_reached\": true"));
    free(summary);
    free(cert);
    pvt_table_free(t);
}

static void weights_do_not_change(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(N, P, 2, 8);
    const pv_plugin *h;
    for (int64_t i = 0; (h = pv_nth(PV_KIND_optimizer, i)); i++) {
        const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)h;
        const bool open = o->needs & PV_HESSIAN || o->descend;
        const char *pairs[] = {
            "optimizer",       h->name,   "run.seed",        "3",  "set", open ? "none" : "l1ball",
            "budget.relation", "replace", "run.diagnostics", "no", NULL
        };
        double w[2][P];
        char *summary[2], *cert[2];
        for (int k = 0; k < 2; k++) {
            pairs[9] = k ? "yes" : "no";
            train(t, pairs, w[k], &summary[k], &cert[k]);
        }
        PVT_CHECK(memcmp(w[0], w[1], sizeof w[0]) == 0, "%s", h->name);
        PVT_TRUE(!strstr(summary[0], "diagnostics"));
        PVT_TRUE(!strstr(cert[0], pvi_cert_diagnostics) && strstr(cert[1], pvi_cert_diagnostics));
        const int points = count(diagnostics(summary[1]), "\"step\":");
        PVT_CHECK(open ? points <= 20 : points == 19, "%s: %d points", h->name, points);
        for (int k = 0; k < 2; k++) {
            free(summary[k]);
            free(cert[k]);
        }
    }
    pvt_table_free(t);
}

static void threads_do_not_change_a_digit(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(N, P, 2, 8);
    char *summary[2], *cert;
    double w[P];
    for (int k = 0; k < 2; k++) {
        const char *const pairs[] = { "run.seed", "3", "run.diagnostics", "yes", "run.threads", k ? "3" : "1", NULL };
        train(t, pairs, w, &summary[k], &cert);
        free(cert);
    }
    assert_string_equal(summary[0], summary[1]);
    free(summary[0]);
    free(summary[1]);
    pvt_table_free(t);
}

/* The certificate still holds, for the model alone, and says what it leaves out. */
static void the_certificate_leaves_them_out(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(N, P, 2, 8);
    static const char *const pairs[] = { "run.diagnostics", "yes", NULL }, *const plain[] = { NULL };
    char path[] = "/tmp/privet-cert-XXXXXX", *summary, *cert, *json;
    double w[P];
    close(mkstemp(path));
    train(t, pairs, w, &summary, &cert);
    PVT_OK(pv_file_write(ctx, path, cert, strlen(cert)));
    PVT_OK(pv_verify(ctx, path, &json));
    PVT_TRUE(!strstr(json, "every result") && strstr(json, "probability of this model by"));
    PVT_TRUE(strstr(json, "The diagnostics this run showed"));
    pv_string_free(ctx, json);
    free(summary);
    free(cert);
    train(t, plain, w, &summary, &cert);
    PVT_TRUE(strstr(cert, "every result") && !strstr(cert, "The diagnostics this run showed"));
    free(summary);
    free(cert);
    unlink(path);
    pvt_table_free(t);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(the_numbers_are_those_of_the_returned_model, setup, teardown),
        cmocka_unit_test_setup_teardown(every_measure_that_exists_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(second_order_numbers_are_right, setup, teardown),
        cmocka_unit_test_setup_teardown(weights_do_not_change, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_do_not_change_a_digit, setup, teardown),
        cmocka_unit_test_setup_teardown(the_certificate_leaves_them_out, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
