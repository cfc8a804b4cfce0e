/* test_epochs.c - what passes cost: against the accountant of Gaussians, against the bound computed prefix by prefix
 * here, and the claims about schedules: constant noise with a shrinking prox converges, falling noise grows. */
#include "arenatest.h"
#include "acct/acct.h"
#include "alloctest.h"

static const pvi_json *ask(pv_status (*fn)(pv_ctx *, const char *, char **), const char *request)
{
    char *json;
    pvi_json *v;
    const pv_status s = fn(ctx, request, &json);
    PVT_CHECK(s == PV_OK, "%s: %s", request, pv_ctx_errmsg(ctx));
    char *own = pvi_arena_strdup(arena, json, strlen(json));
    pv_string_free(ctx, json);
    PVT_OK(pvi_json_parse(ctx, arena, "answer", own, strlen(own), &v));
    return v;
}

static double at(const pvi_json *schedule, const char *key, int k)
{
    const pvi_json *x = pvi_json_get(schedule, key)->child;
    while (k-- > 0) x = x->next;
    return x->num;
}

static void composition_is_the_accountant(void **state)
{
    (void)state;
    const pvi_json *v = ask(pv_epochs, "{\"mechanism\":\"sbcd\",\"z\":4,\"batches\":3,\"epochs\":9,\"step\":0.01,"
                                       "\"smooth\":20,\"delta\":1e-6,\"noise\":\"constant:2.25\"}");
    const pvi_json *one = pvi_json_get(v, "schedules")->child;
    for (int k = 1; k <= 9; k++) {
        char request[120];
        snprintf(request, sizeof request, "{\"mechanism\":\"gaussian\",\"z\":6,\"steps\":%d,\"delta\":1e-6}", k);
        const double want = pvi_json_get(ask(pv_account, request), "epsilon")->num;
        PVT_REL(at(one, "composition", k - 1), want, 1e-6);
        PVT_REL(at(one, "composition_rate", k - 1), k / 72.0, 1e-12);
    }
}

/* The bound of the header of hidden_sbcd.c for the first k passes, the row in batch j0. */
static double bound(const double *z, int k, int J, int j0, double T, double F)
{
    double inverse = 0, rate = 0;
    for (int e = 0; e < k; e++)
        for (int j = 0; j < J; j++) {
            if (j == j0) rate += 1 / (2 * z[e] * z[e]);
            else rate /= 1 + z[e] * z[e] / (F * F * inverse);
            inverse = T * T * (F * F * inverse + z[e] * z[e]);
        }
    return rate;
}

static void hidden_state_is_the_bound(void **state)
{
    (void)state;
    const pvi_json *v = ask(pv_epochs, "{\"z\":3,\"batches\":4,\"epochs\":12,\"step\":\"0.02\",\"smooth\":90,"
                                       "\"shrink\":2,\"delta\":1e-5,\"noise\":\"linear:4,1+ramp:9,1,4\"}");
    const pvi_json *one = pvi_json_get(v, "schedules")->child;
    for (int s = 0; s < 2; s++, one = one->next) {
        double z[12];
        for (int k = 0; k < 12; k++) z[k] = 3 * sqrt(s == 0 ? 4 - 3 * k / 11.0 : k < 3 ? 9 - 8 * k / 3.0 : 1);
        for (int k = 1; k <= 12; k++) {
            double most = 0;
            for (int j0 = 0; j0 < 4; j0++) most = fmax(most, bound(z, k, 4, j0, 1 / 1.04, 1));
            PVT_REL(at(one, "hidden_state_rate", k - 1), most, 1e-9);
        }
    }
    PVT_TRUE(one == NULL);
}

/* Strong convexity m: L_F = max(|1 - eta m|, |1 - eta beta|), 0.8 here; the cost then converges without a penalty. */
static void strong_convexity_contracts(void **state)
{
    (void)state;
    const pvi_json *v =
        ask(pv_epochs, "{\"z\":3,\"batches\":4,\"epochs\":40,\"step\":0.02,\"smooth\":90,\"strong\":10,"
                       "\"delta\":1e-5}");
    const pvi_json *plain = ask(pv_epochs, "{\"z\":3,\"batches\":4,\"epochs\":40,\"step\":0.02,\"smooth\":90,"
                                           "\"delta\":1e-5}");
    const pvi_json *one = pvi_json_get(v, "schedules")->child, *other = pvi_json_get(plain, "schedules")->child;
    double z[40], most = 0;
    for (int k = 0; k < 40; k++) z[k] = 3;
    for (int j0 = 0; j0 < 4; j0++) most = fmax(most, bound(z, 40, 4, j0, 1, 0.8));
    PVT_REL(at(one, "hidden_state_rate", 39), most, 1e-9);
    PVT_REL(at(one, "hidden_state_rate", 39), at(one, "hidden_state_rate", 19), 1e-6);
    PVT_TRUE(at(other, "hidden_state_rate", 39) > 1.2 * at(other, "hidden_state_rate", 19));
    PVT_IS(pvi_json_get(v, "assumptions")->count, pvi_json_get(plain, "assumptions")->count + 1);
    char *json;
    PVT_IS(pv_epochs(ctx, "{\"z\":3,\"step\":0.02,\"smooth\":9,\"strong\":10,\"delta\":1e-5}", &json), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "strong=10"));
    v = ask(pv_epochs,
            "{\"z\":3,\"batches\":2,\"step\":0.1,\"smooth\":10,\"strong\":10,\"delta\":1e-5}"); /* L_F = 0 */
    PVT_REL(at(pvi_json_get(v, "schedules")->child, "hidden_state_rate", 0), 1 / 18.0, 1e-9);
}

static void schedules_differ_as_claimed(void **state)
{
    (void)state;
    const pvi_json *v =
        ask(pv_epochs, "{\"z\":5,\"batches\":5,\"epochs\":60,\"step\":0.01,\"smooth\":50,"
                       "\"shrink\":5,\"delta\":1e-5,\"noise\":\"ramp:4,1,15+linear:4,0.1+linear:1,4\"}");
    const pvi_json *settles = pvi_json_get(v, "schedules")->child, *falls = settles->next, *rises = falls->next;
    PVT_REL(at(settles, "hidden_state", 59), at(settles, "hidden_state", 49), 1e-4);
    PVT_TRUE(at(falls, "hidden_state", 59) > 1.3 * at(falls, "hidden_state", 49));
    PVT_TRUE(at(rises, "hidden_state", 59) < at(rises, "hidden_state", 20));
    for (const pvi_json *s = settles; s; s = s->next) { /* nothing hides from who sees all releases */
        for (int k = 1; k < 60; k++) PVT_TRUE(at(s, "composition", k) > at(s, "composition", k - 1));
        for (int k = 0; k < 60; k++) PVT_TRUE(at(s, "hidden_state", k) <= at(s, "composition", k));
    }
}

static void requests_are_checked(void **state)
{
    (void)state;
#define GOOD "\"z\":5,\"step\":0.01,\"smooth\":50"
    static const char *const bad[] = { "{" GOOD "}",
                                       "{" GOOD ",\"delta\":0}",
                                       "{" GOOD ",\"delta\":1e-5,\"noise\":\"linear:1,-1\",\"epochs\":3}",
                                       "{" GOOD ",\"delta\":1e-5,\"noise\":\"constant+\"}",
                                       "{" GOOD ",\"delta\":1e-5,\"noise\":3}",
                                       "{" GOOD ",\"delta\":1e-5,\"epochs\":0}",
                                       "{" GOOD ",\"delta\":1e-5,\"batches\":200,\"epochs\":200}",
                                       "{" GOOD ",\"delta\":1e-5,\"rho\":3}",
                                       "{\"z\":-5,\"step\":0.01,\"smooth\":50,\"delta\":1e-5}" };
    char *json;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const pv_status s = pv_epochs(ctx, bad[i], &json);
        PVT_CHECK(s == PV_E_PARAM && !json, "%s: %d", bad[i], (int)s);
    }
    PVT_IS(pv_epochs(ctx, "{" GOOD ",\"delta\":1}", &json), PV_E_ARG); /* outside what is answered */
    PVT_IS(pv_epochs(ctx, "{" GOOD ",\"delta\":1e-250}", &json), PV_E_ARG);
    PVT_IS(pv_epochs(ctx, "{" GOOD ",\"delta\":1e-5,\"shrink\":-1}", &json), PV_E_ARG);
    PVT_IS(pv_epochs(ctx, "[]", &json), PV_E_FORMAT);
    PVT_IS(pv_epochs(ctx, NULL, &json), PV_E_ARG);
    PVT_IS(pv_epochs(NULL, "{}", &json), PV_E_ARG);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    pv_status s = PV_E_NOMEM;
    for (int k = 0; s == PV_E_NOMEM && k < 200; k++) {
        pvt_memory m = { 0 };
        pv_ctx *other = pvt_counted(&m);
        char *json;
        m.left = k;
        s = pv_epochs(other, "{" GOOD ",\"delta\":1e-5,\"epochs\":3,\"noise\":\"constant+linear:2,1\"}", &json);
        pv_string_free(other, json);
        pv_ctx_free(other);
    }
    PVT_OK(s);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(composition_is_the_accountant), cmocka_unit_test(hidden_state_is_the_bound),
        cmocka_unit_test(strong_convexity_contracts),    cmocka_unit_test(schedules_differ_as_claimed),
        cmocka_unit_test(requests_are_checked),          cmocka_unit_test(every_allocation_may_fail)
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
