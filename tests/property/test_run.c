/* test_run.c - whole runs: what must not change the result, and what must. */
#include "ctxtest.h"
#include "run/run.h"
#include "alloctest.h"
#include "pvtable.h"

#include <unistd.h>

static pv_plan *plan_with(const char *const *pairs) /* key, value, ..., NULL */
{
    pv_plan *p;
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "optimizer.steps", "30"));
    for (; *pairs; pairs += 2) PVT_OK(pv_plan_set(p, pairs[0], pairs[1]));
    return p;
}

/* Weights of a run on t; returns how many. */
static int64_t train(const pvt_table *t, const char *const *pairs, double *w, int64_t cap)
{
    pv_plan *p = plan_with(pairs);
    pv_result *r;
    int64_t d;
    const pv_status s = pvt_run(ctx, p, t, &r);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_weights(r, w, cap, &d));
    pv_result_free(r);
    pv_plan_free(p);
    return d;
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(5000, 11, 2, 3);
    for (int k = 0; k < 2; k++) {
        double w[2][11];
        for (int i = 0; i < 2; i++) {
            const char *const pairs[] = { "run.seed",       "5", "run.threads", i ? "4" : "1", "privacy",
                                          k ? "off" : "on", NULL };
            PVT_IS(train(t, pairs, w[i], 11), 11);
        }
        PVT_IS(memcmp(w[0], w[1], sizeof w[0]), 0);
    }
    pvt_table_free(t);
}

static void noise_is_fresh_without_a_seed(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(500, 5, 2, 3);
    static const char *const none[] = { NULL };
    double a[5], b[5];
    train(t, none, a, 5);
    train(t, none, b, 5);
    PVT_TRUE(memcmp(a, b, sizeof a) != 0);
    pvt_table_free(t);
}

static void much_budget_is_the_private_fit_without_noise(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(20000, 6, 2, 9);
    static const char *const rich[] = { "budget.epsilon", "100000", NULL }, *const off[] = { "privacy", "off", NULL };
    double a[6], b[6];
    train(t, rich, a, 6);
    train(t, off, b, 6);
    for (int j = 0; j < 6; j++) PVT_NEAR(a[j], b[j], 0.01);
    pvt_table_free(t);
}

/* Settings that are not certified must leave the event tree alone; steps must change it. */
static const char *events_of(const char *const *pairs)
{
    pv_plan *p = plan_with(pairs);
    char *json;
    PVT_OK(pv_plan_set(p, "data.rows", "1000"));
    PVT_OK(pv_plan_set(p, "data.features", "10"));
    PVT_OK(pv_plan_cost(p, &json));
    char *at = strstr(json, "\"events\""), *end = strstr(json, "\"bounds\"");
    PVT_TRUE(at && end);
    *end = '\0';
    char *copy = strdup(at);
    pv_string_free(ctx, json);
    pv_plan_free(p);
    return copy;
}

static void speed_settings_leave_the_events_alone(void **state)
{
    (void)state;
    static const char *const base[] = { NULL }, *const same[][5] = {
        { "run.threads", "1", "optimizer.step", "0.5", NULL },
        { "reg", "l2", "reg.lambda", "0.1", NULL },
        { "set", "l2ball", "optimizer.output", "last", NULL }
    };
    static const char *const other[] = { "optimizer.steps", "31", NULL };
    char *want = (char *)(uintptr_t)events_of(base);
    for (int k = 0; k < 3; k++) {
        char *got = (char *)(uintptr_t)events_of(same[k]);
        assert_string_equal(got, want);
        free(got);
    }
    char *got = (char *)(uintptr_t)events_of(other);
    PVT_TRUE(strcmp(got, want) != 0);
    free(got);
    free(want);
}

static void the_meter_stops_an_optimizer_that_asks_for_more(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(100, 3, 2, 1);
    static const char *const pairs[] = { "optimizer.steps", "1", NULL };
    pv_plan *p = plan_with(pairs);
    pvi_job *job;
    pv_rng *rng;
    pv_oracle *o;
    double w[3] = { 0 }, g[3];
    PVT_OK(pvi_job_create(p, &t->m, &job));
    PVT_OK(pvi_rng_create(ctx, &rng));
    PVT_OK(pvi_oracle_create(job, &t->m, rng, NULL, NULL, &o));
    PVT_OK(pv_ask_once(o, w, g));
    PVT_TRUE(pvi_oracle_spent_all(o));
    PVT_IS(pv_ask_once(o, w, g), PV_E_PLAN);
    for (int j = 0; j < 3; j++) PVT_NEAR(g[j], 0.0, 0.0); /* nothing leaves on refusal */
    pvi_oracle_free(o);
    pvi_rng_free(rng);
    pvi_job_free(job);
    pv_plan_free(p);
    pvt_table_free(t);
}

static void released_noise_has_the_declared_size(void **state)
{
    (void)state;
    enum { D = 400, T = 40 };
    pvt_table *t = pvt_table_make(50, D, 2, 1);
    static const char *const pairs[] = { "optimizer.steps", "40", "run.seed", "11", NULL };
    static const char *const off[] = { "optimizer.steps", "40", "privacy", "off", NULL };
    double sum[2] = { 0 }, exact[D], g[D], w[D] = { 0 };
    for (int k = 1; k >= 0; k--) {
        pv_plan *p = plan_with(k ? off : pairs);
        pvi_job *job;
        pv_rng *rng;
        pv_oracle *o;
        PVT_OK(pvi_job_create(p, &t->m, &job));
        PVT_OK(pvi_rng_create_test(ctx, 3, &rng));
        PVT_OK(pvi_oracle_create(job, &t->m, rng, NULL, NULL, &o));
        for (int i = 0; i < (k ? 1 : T); i++) {
            PVT_OK(pv_ask_once(o, w, k ? exact : g));
            for (int j = 0; !k && j < D; j++) {
                const double e = (g[j] - exact[j]) * job->prob.batch / job->release[0].noise.scale;
                sum[0] += e;
                sum[1] += e * e;
            }
        }
        pvi_oracle_free(o);
        pvi_rng_free(rng);
        pvi_job_free(job);
        pv_plan_free(p);
    }
    /* 16,000 draws: mean within 6/sqrt(16000), variance within 6 sqrt(2/16000) of 1, or one in 5e8 */
    PVT_NEAR(sum[0] / (D * T), 0.0, 0.0475);
    PVT_NEAR(sum[1] / (D * T), 1.0, 0.0672);
    pvt_table_free(t);
}

static void settings_round_trip(void **state)
{
    (void)state;
    static const char *const pairs[] = { "budget.epsilon", "0.3",       "reg", "l1", "reg.lambda",
                                         "0.01",           "data.rows", "77",  NULL };
    pv_plan *p = plan_with(pairs), *q;
    char *a, *b;
    PVT_OK(pv_plan_dump(p, &a));
    PVT_OK(pv_plan_create(ctx, &q));
    PVT_OK(pv_plan_load(q, a, strlen(a), "dump"));
    PVT_OK(pv_plan_dump(q, &b));
    assert_string_equal(a, b);
    pv_string_free(ctx, a);
    pv_string_free(ctx, b);
    pv_plan_free(p);
    pv_plan_free(q);
}

static void settings_refused_with_a_reason(void **state)
{
    (void)state;
    static const char *const bad[][3] = {
        { "optimizer.stepz", "3", "did you mean optimizer.steps" },
        { "budget.epsilon", "0", "between" },
        { "budget.epsilon", "nan", "between" },
        { "budget.delta", "1", "between" },
        { "budget.delta", "0", "between" },
        { "privacy", "maybe", "on|off" },
        { "completely.unknown.thing", "1", "privet list" },
    };
    pv_plan *p;
    PVT_OK(pv_plan_create(ctx, &p));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        PVT_IS(pv_plan_set(p, bad[i][0], bad[i][1]), PV_E_PARAM);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), bad[i][2]), "%s", pv_ctx_errmsg(ctx));
    }
    static const char *const bad_json = "{\n \"budget\": {\"epsilon\": -1}}";
    PVT_IS(pv_plan_load(p, bad_json, strlen(bad_json), "run.json"), PV_E_PARAM);
    PVT_CHECK(strncmp(pv_ctx_errmsg(ctx), "run.json:2:24: budget.epsilon=-1", 32) == 0, "%s", pv_ctx_errmsg(ctx));
    pv_plan_free(p);
}

/* Every relation and sampler: what a run certifies, verify accepts; and not from a seeded run. */
static void certificates_verify(void **state)
{
    (void)state;
    static const char *const relations[] = { "zero-out", "replace" }, *const samplers[] = { "full", "poisson",
                                                                                            "fixed", "cyclic" };
    pvt_table *t = pvt_table_make(2000, 5, 2, 2);
    char path[] = "/tmp/privet-cert-XXXXXX";
    close(mkstemp(path));
    int verified = 0;
    for (int i = 0; i < 16; i++) {
        const char *pairs[] = { "budget.relation",           relations[i % 2],    "sampler", samplers[i / 2 % 4],
                                i / 8 ? "run.seed" : "clip", i / 8 ? "1" : "0.5", NULL };
        pv_plan *p = plan_with(pairs);
        pv_result *r;
        const char *json;
        const pv_status s = pvt_run(ctx, p, t, &r);
        if (s == PV_OK) {
            PVT_OK(pv_result_certificate(r, &json));
            PVT_OK(pvi_file_write(ctx, path, json, strlen(json)));
            const pv_status v = pv_verify(ctx, path, NULL);
            PVT_CHECK(v == (i / 8 ? PV_E_VERIFY : PV_OK), "%s %s: %s", pairs[1], pairs[3], pv_ctx_errmsg(ctx));
            verified++;
        } else {
            PVT_CHECK(s == PV_E_UNSUPPORTED, "%s %s: %s", pairs[1], pairs[3], pv_ctx_errmsg(ctx));
            print_message("refused: %s\n", pv_ctx_errmsg(ctx));
        }
        pv_result_free(r);
        pv_plan_free(p);
    }
    PVT_CHECK(verified >= 4, "only %d configurations ran", verified);
    unlink(path);
    pvt_table_free(t);
}

/* The same for every optimiser. */
static void every_optimizer_certifies(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(2000, 5, 2, 2);
    char path[] = "/tmp/privet-cert-XXXXXX";
    const pv_plugin *h;
    close(mkstemp(path));
    for (int64_t i = 0; (h = pv_nth(PV_KIND_optimizer, i)); i++) {
        const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)h;
        pv_plan *p;
        pv_result *r;
        PVT_OK(pv_plan_create(ctx, &p));
        PVT_OK(pv_plan_set(p, "optimizer", h->name));
        PVT_OK(pv_plan_set(p, pvt_steps_key(h->name), "30"));
        PVT_OK(pv_plan_set(p, "set", o->needs & PV_HESSIAN || o->descend ? "none" : "l1ball"));
        PVT_OK(pv_plan_set(p, "budget.relation", "replace"));
        const char *json;
        const pv_status s = pvt_run(ctx, p, t, &r);
        PVT_CHECK(s == PV_OK, "%s: %s", h->name, pv_ctx_errmsg(ctx));
        PVT_OK(pv_result_certificate(r, &json));
        PVT_OK(pvi_file_write(ctx, path, json, strlen(json)));
        PVT_CHECK(pv_verify(ctx, path, NULL) == PV_OK, "%s: %s", h->name, pv_ctx_errmsg(ctx));
        pv_result_free(r);
        pv_plan_free(p);
    }
    unlink(path);
    pvt_table_free(t);
}

/* The N-th allocation fails, N = 1, 2, 3 ... until the run succeeds: always an error, never a crash. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    pvt_table *t = pvt_table_make(200, 4, 2, 1);
    bool done = false;
    int64_t n = 0;
    for (; !done && n < 5000; n++) {
        pvt_memory m = { .left = n };
        const pv_alloc a = pvt_alloc(&m);
        pv_ctx *c = NULL;
        pv_plan *p = NULL;
        pv_result *r = NULL;
        pv_status s = pv_ctx_create(&a, &c);
        if (s == PV_OK) s = pv_plan_create(c, &p);
        if (s == PV_OK) s = pv_plan_set(p, "optimizer.steps", "3");
        if (s == PV_OK) s = pvt_run(c, p, t, &r);
        done = s == PV_OK;
        PVT_CHECK(done || s == PV_E_NOMEM, "allocation %lld: status %d %s", (long long)n, s,
                  c ? pv_ctx_errmsg(c) : "");
        pv_result_free(r);
        pv_plan_free(p);
        pv_ctx_free(c);
        PVT_IS(m.live, 0);
    }
    PVT_TRUE(done && n > 10);
    pvt_table_free(t);
}

/* Second moments before the steps are releases of another kind, on samples of the same size. */
static void preconditioned_steps_certify(void **state)
{
    (void)state;
    static const char *const samplers[] = { "auto", "poisson", "cyclic" };
    pvt_table *t = pvt_table_make(15000, 4, 2, 1); /* large enough for the default batch to differ by query */
    for (int k = 0; k < 3; k++) {
        const char *pairs[] = { "optimizer", "pgd",     "optimizer.steps", "30", "optimizer.share",
                                "0.2",       "sampler", samplers[k],       NULL };
        pv_plan *p = plan_with(pairs);
        pv_result *r;
        const char *json;
        PVT_CHECK(pvt_run(ctx, p, t, &r) == PV_OK, "%s", pv_ctx_errmsg(ctx));
        PVT_OK(pv_result_certificate(r, &json));
        PVT_TRUE(strstr(json, "second moments") != NULL);
        pv_result_free(r);
        pv_plan_free(p);
    }
    pvt_table_free(t);
}

/* Above 30 no share of delta pays for the accuracy of the draws: a run whose cost is at most 30 without that share
 * and above it with the share must have a certificate that holds, too. */
static void budgets_next_to_the_limit_of_the_draws(void **state)
{
    (void)state;
    static const char *const multipliers[] = { "2.1471", "2.147217038798941", "2.1473" };
    static const char *const budgets[] = { "29.9999", "30", "30.0000001", "30.00001", "30.01" };
    pvt_table *t = pvt_table_make(500, 3, 2, 1);
    for (int k = 0; k < 8; k++) { /* noise set by hand, then a budget */
        const bool by_hand = k < 3;
        const char *pairs[] = { "optimizer.steps",
                                "100",
                                "budget.delta",
                                "1e-5",
                                "budget.epsilon",
                                by_hand ? "100" : budgets[k - 3],
                                "budget.noise_multiplier",
                                by_hand ? multipliers[k] : "auto",
                                NULL };
        pv_plan *p = plan_with(pairs);
        pv_result *r;
        const pv_status s = pvt_run(ctx, p, t, &r); /* verifies its own certificate */
        PVT_CHECK(s == PV_OK, "%s %s: %s", pairs[5], pairs[7], pv_ctx_errmsg(ctx));
        pv_result_free(r);
        pv_plan_free(p);
    }
    pvt_table_free(t);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(threads_do_not_change_a_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(noise_is_fresh_without_a_seed, setup, teardown),
        cmocka_unit_test_setup_teardown(much_budget_is_the_private_fit_without_noise, setup, teardown),
        cmocka_unit_test_setup_teardown(speed_settings_leave_the_events_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(the_meter_stops_an_optimizer_that_asks_for_more, setup, teardown),
        cmocka_unit_test_setup_teardown(released_noise_has_the_declared_size, setup, teardown),
        cmocka_unit_test_setup_teardown(settings_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(settings_refused_with_a_reason, setup, teardown),
        cmocka_unit_test_setup_teardown(certificates_verify, setup, teardown),
        cmocka_unit_test_setup_teardown(every_optimizer_certifies, setup, teardown),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, setup, teardown),
        cmocka_unit_test_setup_teardown(preconditioned_steps_certify, setup, teardown),
        cmocka_unit_test_setup_teardown(budgets_next_to_the_limit_of_the_draws, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
