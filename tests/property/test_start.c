/* test_start.c - optimizer.start: every optimiser starts there, certificates say so, and what no proof covers is
 * refused. */
#include "datatest.h"
#include "pvtable.h"
#include "run/run.h"

enum { N = 400, P = 6 };
static dt t;
static char npy[120], pvt[120];

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    snprintf(npy, sizeof npy, "%s/w.npy", t.dir);
    snprintf(pvt, sizeof pvt, "%s/m.pvt", t.dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(npy);
    unlink(pvt);
    dt_close(&t);
    return 0;
}

static void write_npy(const double *w, int64_t d)
{
    char text[118];
    FILE *f = fopen(npy, "wb");
    PVT_TRUE(f != NULL);
    memset(text, ' ', sizeof text);
    const int n =
        snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld,), }", (long long)d);
    text[n] = ' ';
    text[sizeof text - 1] = '\n';
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, f);
    fwrite(text, 1, sizeof text, f);
    fwrite(w, sizeof *w, (size_t)d, f);
    const bool closed = fclose(f) == 0;
    PVT_TRUE(closed);
}

static pv_status train(pvt_table *rows, const char *const *pairs, pv_result **r)
{
    pv_plan *p;
    PVT_OK(pv_plan_create(t.ctx, &p));
    for (; *pairs; pairs += 2) PVT_OK(pv_plan_set(p, pairs[0], pairs[1]));
    const pv_status s = pvi_run_matrix(p, &rows->m, NULL, NULL, r);
    pv_plan_free(p);
    return s;
}

/* ---- every optimiser ------ */

/* Steps so short, and one alone, that what is returned is the start. */
static pv_plan *short_plan(const pv_plugin *h, const char *model)
{
    static const char *const tiny[][2] = { { "step", "1e-12" },  { "radius", "1e-9" }, { "steps", "1" },
                                           { "output", "last" }, { "share", "0" },     { "rho", "100" } };
    const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)h;
    pv_plan *p;
    PVT_OK(pv_plan_create(t.ctx, &p));
    PVT_OK(pv_plan_set(p, "optimizer", h->name));
    PVT_OK(pv_plan_set(p, "model", model));
    PVT_OK(pv_plan_set(p, "optimizer.start", npy));
    PVT_OK(pv_plan_set(p, "budget.relation", "replace")); /* all have a proof for it */
    PVT_OK(pv_plan_set(p, "budget.delta", "1e-2"));
    if (o->needs & PV_COMPACT) PVT_OK(pv_plan_set(p, "set", "l1ball"));
    if (o->needs & PV_COMPACT) PVT_OK(pv_plan_set(p, "set.radius", "50"));
    for (size_t k = 0; k < sizeof tiny / sizeof *tiny; k++) {
        char key[64];
        snprintf(key, sizeof key, "optimizer.%s", tiny[k][0]);
        if (pvi_param_find(h->params, tiny[k][0])) PVT_OK(pv_plan_set(p, key, tiny[k][1]));
    }
    return p;
}

static void every_optimizer_starts_there(void **state)
{
    (void)state;
    const pv_plugin *h;
    pvt_table *rows = pvt_table_make(N, P, 2, 5);
    for (int64_t i = 0; (h = pv_nth(PV_KIND_optimizer, i)); i++) {
        const bool blocks = ((const pv_optimizer_ops *)(const void *)h)->needs & PV_BLOCKS;
        if (((const pv_optimizer_ops *)(const void *)h)->descend) continue; /* starts at 0: test_descent.c */
        const int64_t d = blocks ? (P + 1) * 4 + (4 + 1) * 2 : P;
        double start[64], w[64];
        int64_t got;
        for (int64_t k = 0; k < d; k++) start[k] = 0.01 * (double)(k * k % 11) - 0.03;
        write_npy(start, d);
        pv_plan *p = short_plan(h, blocks ? "split-mlp" : "logistic");
        if (blocks) PVT_OK(pv_plan_set(p, "model.layers", "dense4,relu,dense"));
        pv_result *r;
        const pv_status s = pvi_run_matrix(p, &rows->m, NULL, NULL, &r);
        PVT_CHECK(s == PV_OK, "%s: %s", h->name, pv_ctx_errmsg(t.ctx));
        PVT_OK(pv_result_weights(r, w, 64, &got));
        PVT_IS(got, d);
        for (int64_t k = 0; k < d; k++)
            PVT_CHECK(fabs(w[k] - start[k]) < 1e-7, "%s: weight %lld is %g, started at %g", h->name, (long long)k,
                      w[k], start[k]);
        pv_result_free(r);
        pv_plan_free(p);
    }
    pvt_table_free(rows);
}

/* In the coordinates that second moments give: the start is moved there and back. */
static void preconditioned_steps_start_there(void **state)
{
    (void)state;
    static const char *const optimizers[] = { "pgd", "tr", "pgd", "tr" }; /* the latter two return it as x_1 */
    const double start[P] = { 0.5, -0.25, 0, 1, 2, -1 };
    pvt_table *rows = pvt_table_make(N, P, 2, 5);
    for (int64_t i = 0; i < N; i++) /* rows that differ little from each other: there is something to gain */
        for (int k = 1; k < P; k++) rows->x[i * P + k] *= 0.02f;
    write_npy(start, P);
    for (int k = 0; k < 4; k++) {
        const char *pairs[] = { "optimizer",
                                optimizers[k],
                                "optimizer.share",
                                "0.2",
                                "optimizer.steps",
                                k < 2 ? "10" : "1",
                                k % 2 ? "optimizer.radius" : "optimizer.step",
                                "1e-9",
                                "optimizer.start",
                                npy,
                                "budget.epsilon",
                                "1000",
                                "optimizer.output",
                                k < 2 ? "last" : "random",
                                "model",
                                "logistic",
                                "run.seed",
                                "1",
                                NULL };
        double w[P];
        int64_t d;
        pv_result *r;
        PVT_CHECK(train(rows, pairs, &r) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
        PVT_OK(pv_result_weights(r, w, P, &d));
        for (int j = 0; j < P; j++) PVT_NEAR(w[j], start[j], 1e-4);
        pv_result_free(r);
    }
    pvt_table_free(rows);
}

/* ---- random, zero, sets ------ */

static void first_weights(pvt_table *rows, const char *start, const char *seed, const char *model, double *w,
                          int64_t cap)
{
    const char *pairs[] = { "optimizer.start",
                            start,
                            "optimizer.steps",
                            "1",
                            "optimizer.step",
                            "1e-12",
                            "privacy",
                            "off",
                            "optimizer",
                            "pgd",
                            "model",
                            model,
                            "optimizer.output",
                            "last",
                            seed ? "run.seed" : NULL,
                            seed,
                            NULL };
    pv_result *r;
    int64_t d;
    PVT_CHECK(train(rows, pairs, &r) == PV_OK, "%s: %s", start, pv_ctx_errmsg(t.ctx));
    PVT_OK(pv_result_weights(r, w, cap, &d));
    pv_result_free(r);
}

static void random_starts_have_their_scale(void **state)
{
    (void)state;
    enum { D = 500 };
    double w[D], again[D], other[D], sum = 0.0, square = 0.0;
    pvt_table *rows = pvt_table_make(50, D, 2, 5);
    first_weights(rows, "random:0.25", "7", "logistic", w, D);
    first_weights(rows, "random:0.25", "7", "logistic", again, D);
    first_weights(rows, "random:0.25", NULL, "logistic", other, D);
    PVT_IS(memcmp(w, again, sizeof w), 0);
    PVT_TRUE(memcmp(w, other, sizeof w) != 0);
    for (int k = 0; k < D; k++) sum += w[k], square += w[k] * w[k];
    PVT_NEAR(sum / D, 0.0, 5 * 0.25 / sqrt(D));
    PVT_REL(square / D, 0.0625, 5 * sqrt(2.0 / D));
    pvt_table_free(rows);
}

static void networks_can_start_at_zero(void **state)
{
    (void)state;
    double w[4096], own = 0.0;
    pvt_table *rows = pvt_table_make(50, P, 2, 5);
    memset(w, 0, sizeof w);
    first_weights(rows, "auto", NULL, "mlp", w, 4096);
    for (int k = 0; k < 4096; k++) own += fabs(w[k]);
    PVT_TRUE(own > 1.0);
    first_weights(rows, "zero", NULL, "mlp", w, 4096);
    for (int k = 0; k < 4096; k++) PVT_NEAR(w[k], 0.0, 1e-9);
    pvt_table_free(rows);
}

static void a_start_outside_the_set_is_projected(void **state)
{
    (void)state;
    const double start[P] = { 3, 4, 0, 0, 0, 0 };
    const char *pairs[] = { "optimizer.start", npy,          "set",
                            "l2ball",          "set.radius", "1",
                            "optimizer.steps", "1",          "optimizer.step",
                            "1e-12",           "model",      "logistic",
                            "optimizer",       "pgd",        NULL };
    pvt_table *rows = pvt_table_make(N, P, 2, 5);
    pv_result *r;
    double w[P];
    int64_t d;
    write_npy(start, P);
    PVT_CHECK(train(rows, pairs, &r) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    PVT_OK(pv_result_weights(r, w, P, &d));
    PVT_NEAR(w[0], 0.6, 1e-8);
    PVT_NEAR(w[1], 0.8, 1e-8);
    pv_result_free(r);
    pvt_table_free(rows);
}

/* ---- certificate ------ */

static void the_certificate_says_where_it_started(void **state)
{
    (void)state;
    const double start[P] = { 1, 2, 3, 4, 5, 6 };
    const char *pairs[] = { "optimizer.start", npy, "optimizer.steps", "3", "model", "logistic", NULL };
    pvt_table *rows = pvt_table_make(N, P, 2, 5);
    pv_result *r;
    const char *json;
    char digest[65], want[100];
    write_npy(start, P);
    PVT_CHECK(train(rows, pairs, &r) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    PVT_OK(pv_result_certificate(r, &json));
    pvi_weights_digest(start, P, digest);
    snprintf(want, sizeof want, "\"optimizer.start\": \"file:%s\"", digest);
    PVT_TRUE(strstr(json, want) && strstr(json, pvi_cert_public_start) && !strstr(json, npy));
    PVT_OK(pvi_cert_verify(t.ctx, "certificate", &r->cert));

    pvi_cert c = r->cert; /* the same without the declaration; with a start that is none */
    const char *assumptions[16];
    c.assumptions = assumptions;
    c.n_assumptions = 0;
    for (int64_t i = 0; i < r->cert.n_assumptions; i++)
        if (strcmp(r->cert.assumptions[i], pvi_cert_public_start) != 0)
            assumptions[c.n_assumptions++] = r->cert.assumptions[i];
    PVT_IS(pvi_cert_verify(t.ctx, "certificate", &c), PV_E_VERIFY);
    PVT_TRUE(strstr(pv_ctx_errmsg(t.ctx), "assumptions is not what the setting optimizer.start says"));
    static const char *const none[] = { "file:abc", "random:", "random:-1", "w.npy" };
    for (int k = 0; k < 4; k++) {
        char text[8192];
        const char *at = strstr(r->cert.settings, "\"file:");
        c = r->cert;
        snprintf(text, sizeof text, "%.*s\"%s\"%s", (int)(at - c.settings), c.settings, none[k], at + 71);
        c.settings = text;
        PVT_IS(pvi_cert_verify(t.ctx, "certificate", &c), PV_E_VERIFY);
        PVT_CHECK(strstr(pv_ctx_errmsg(t.ctx), "optimizer.start"), "%s", pv_ctx_errmsg(t.ctx));
    }
    pv_result_free(r);
    pvt_table_free(rows);
}

/* ---- refused ------ */

static void refused(pvt_table *rows, const char *start, const char *key, const char *value, const char *why)
{
    const char *pairs[] = { "optimizer.start", start, "optimizer.steps", "3", "model", "logistic", key, value, NULL };
    pv_result *r;
    PVT_CHECK(train(rows, pairs, &r) != PV_OK, "accepted: %s", start);
    PVT_CHECK(strstr(pv_ctx_errmsg(t.ctx), why), "%s", pv_ctx_errmsg(t.ctx));
    PVT_TRUE(r == NULL);
}

static void what_no_proof_covers_is_refused(void **state)
{
    (void)state;
    const char *with[] = {
        "optimizer.start", pvt, "optimizer.steps", "3", "model", "logistic", "privacy", "off", NULL
    };
    pvt_table *rows = pvt_table_make(N, P, 2, 5);
    pv_result *r;
    for (int off = 0; off < 2; off++) {
        const char *pairs[] = { "optimizer.steps", "3", "model", "logistic", "privacy", off ? "off" : "on", NULL };
        PVT_OK(train(rows, pairs, &r));
        PVT_OK(pv_result_save(r, pvt));
        pv_result_free(r);
        refused(rows, pvt, "privacy", "on", off ? "NOT PRIVATE" : "counts one run");
        PVT_OK(train(rows, with, &r)); /* NOT PRIVATE itself */
        pv_result_free(r);
    }
    pvt_table_free(rows);
}

static void bad_starts_are_refused(void **state)
{
    (void)state;
    double w[P + 1] = { 0 };
    pvt_table *rows = pvt_table_make(N, P, 2, 5);
    refused(rows, "here", NULL, NULL, "auto, zero, random:SCALE, FILE.pvt or FILE.npy is needed");
    refused(rows, "random:0", NULL, NULL, "a scale from 1e-12 to 1e+06 is needed");
    refused(rows, "random:x", NULL, NULL, "a scale from");
    refused(rows, npy, NULL, NULL, "No such file");
    write_npy(w, P + 1);
    refused(rows, npy, NULL, NULL, "7 weights, and this model has 6");
    w[2] = NAN;
    write_npy(w, P);
    refused(rows, npy, NULL, NULL, "weight 2 is nan; numbers of size 1e+30 at most are taken");
    w[2] = 0.0, w[3] = -1e300;
    write_npy(w, P);
    refused(rows, npy, NULL, NULL, "weight 3 is -1e+300");
    dt_write(npy, "nothing", 7);
    refused(rows, npy, NULL, NULL, "header");
    pvt_table_free(rows);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(every_optimizer_starts_there, setup, teardown),
        cmocka_unit_test_setup_teardown(preconditioned_steps_start_there, setup, teardown),
        cmocka_unit_test_setup_teardown(random_starts_have_their_scale, setup, teardown),
        cmocka_unit_test_setup_teardown(networks_can_start_at_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(a_start_outside_the_set_is_projected, setup, teardown),
        cmocka_unit_test_setup_teardown(the_certificate_says_where_it_started, setup, teardown),
        cmocka_unit_test_setup_teardown(what_no_proof_covers_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_starts_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
