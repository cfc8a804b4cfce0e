/* test_account_api.c - pv_account, pv_calibrate, pv_curve: requests, answers, refusals, exhausted memory. */
#include "ctxtest.h"
#include "core/core.h"
#include "alloctest.h"

#include <unistd.h>

typedef pv_status (*call)(pv_ctx *, const char *, char **);

static pv_arena *arena_of_answer;
static const pvi_json *ask(call f, const char *request)
{
    char *json;
    pvi_json *v;
    const pv_status s = f(ctx, request, &json);
    PVT_CHECK(s == PV_OK, "%s: %s", request, pv_ctx_errmsg(ctx));
    pvi_arena_free(arena_of_answer);
    arena_of_answer = pvi_arena_create(ctx);
    PVT_OK(pvi_json_parse(ctx, arena_of_answer, "answer", json, strlen(json), &v));
    pv_string_free(ctx, json);
    return v;
}

static double num(const pvi_json *v, const char *key)
{
    const pvi_json *m = pvi_json_get(v, key);
    PVT_CHECK(m && m->type == PVI_JNUM, "%s is not a number", key);
    return m->num;
}

static const char *str(const pvi_json *v, const char *key)
{
    const pvi_json *m = pvi_json_get(v, key);
    PVT_CHECK(m && m->type == PVI_JSTR, "%s is not text", key);
    return m->text;
}

#define SAMPLED "\"mechanism\":\"gaussian\",\"z\":1.1,\"q\":0.004266666666666667,\"steps\":14063"

static void known_answers(void **state)
{
    (void)state;
    const pvi_json *v = ask(pv_account, "{" SAMPLED ",\"delta\":1e-5,\"accountant\":\"rdp\"}");
    PVT_NEAR(num(v, "epsilon"), 2.5967, 5e-4);
    assert_string_equal(str(v, "accountant"), "rdp");
    assert_string_equal(str(v, "relation"), "zero-out");
    PVT_NEAR(num(v, "delta"), 1e-5, 0);
    PVT_TRUE(num(v, "seconds") >= 0 && num(v, "epsilon_lower") <= num(v, "epsilon"));
    assert_string_equal(str(pvi_json_get(pvi_json_get(v, "events"), "event"), "kind"), "poisson");

    v = ask(pv_account,
            "{\"mechanism\":\"gaussian\",\"z\":\"10\",\"steps\":\"1e2\",\"delta\":\"1e-5\",\"all\":true}");
    PVT_NEAR(num(v, "epsilon"), 4.3772, 5e-4);
    PVT_TRUE(pvi_json_get(v, "accountants")->count >= 3);
    v = ask(pv_account, "{\"mechanism\":\"gaussian\",\"z\":10,\"delta\":1e-5,\"all\":\"yes\"}");
    PVT_TRUE(pvi_json_get(v, "accountants") != NULL);
    v = ask(pv_account, "{\"mechanism\":\"gaussian\",\"z\":10,\"epsilon\":1,\"all\":true}");
    PVT_TRUE(!pvi_json_get(v, "accountants"));
    v = ask(pv_account, "{\"mechanism\":\"gaussian\",\"z\":10,\"steps\":100,\"epsilon\":4.37718,\"all\":false}");
    PVT_REL(num(v, "delta"), 1e-5, 1e-4);
    v = ask(pv_account,
            "{\"events\":{\"kind\":\"gaussian\",\"noise_multiplier\":1},\"delta\":1e-5,\"relation\":\"replace\"}");
    PVT_NEAR(num(v, "epsilon"), 4.3772, 5e-4);
    assert_string_equal(str(v, "relation"), "replace");
    v = ask(pv_account, "{\"mechanism\":\"gaussian\",\"z\":3,\"rows\":3,\"delta\":1e-5}");
    PVT_NEAR(num(v, "epsilon"), 4.3772, 5e-4);
    v = ask(pv_account, "{\"mechanism\":\"laplace\",\"scale\":2,\"delta\":0}");
    PVT_NEAR(num(v, "epsilon"), 0.5, 1e-12);
    v = ask(pv_account, "{\"mechanism\":\"select\",\"eps0\":0.1,\"steps\":10,\"delta\":1e-9,\"accountant\":\"compose:"
                        "method=basic\"}");
    PVT_NEAR(num(v, "epsilon"), 1, 1e-12);
    v = ask(pv_account, "{\"mechanism\":\"eps-delta\",\"eps0\":1,\"delta0\":1e-7,\"delta\":1e-6}");
    PVT_TRUE(num(v, "epsilon") <= 1);
    v = ask(pv_account, "{\"mechanism\":\"ball\",\"delta0\":1e-4,\"q\":0.01,\"sampler\":\"fixed\",\"relation\":"
                        "\"replace\",\"delta\":1e-5}");
    PVT_NEAR(num(v, "epsilon"), 0, 0);
    assert_string_equal(str(v, "accountant"), "tv");

    /* 95 releases in turn over ten parts: a row sees ten */
    v = ask(pv_account, "{\"mechanism\":\"gaussian\",\"z\":2,\"q\":0.1,\"sampler\":\"cyclic\",\"steps\":95,"
                        "\"delta\":1e-5}");
    const double turns = num(v, "epsilon");
    v = ask(pv_account, "{\"mechanism\":\"gaussian\",\"z\":2,\"steps\":10,\"delta\":1e-5}");
    PVT_NEAR(turns, num(v, "epsilon"), 0);

    /* c = 0.9, t large: mu = sqrt(1.9 / 0.1) / z; an assumption's bound is no lower bound */
    v = ask(pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":5,\"step\":1,\"smooth\":0.35,\"strong\":0.1,"
                        "\"steps\":1000,\"delta\":1e-5}");
    PVT_REL(num(pvi_json_get(v, "events"), "noise_multiplier"), 5 / sqrt(19.0), 1e-9);
    PVT_TRUE(num(v, "epsilon_lower") == 0 && pvi_json_get(v, "assumptions")->count == 5);
    assert_string_equal(str(v, "accountant"), "hidden-state");
    v = ask(pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":5,\"step\":1,\"smooth\":1,\"diameter\":2,\"shift\":1,"
                        "\"steps\":1000,\"delta\":1e-5}");
    PVT_REL(num(pvi_json_get(v, "events"), "noise_multiplier"), 5 / sqrt(8.0), 0.1);
    PVT_TRUE(num(pvi_json_get(v, "events"), "noise_multiplier") <= 5 / sqrt(8.0));
}

static void balls_from_their_geometry(void **state)
{
    (void)state;
    /* two balls apart by x diameters: x in one dimension, x (3 - x^2)/2 in three */
    const pvi_json *v =
        ask(pv_account, "{\"mechanism\":\"ball\",\"distance\":1,\"radius\":2,\"dimension\":1,\"epsilon\":0}");
    PVT_NEAR(num(v, "delta"), 0.25, 1e-9);
    PVT_TRUE(num(v, "delta") >= 0.25);
    v = ask(pv_account, "{\"mechanism\":\"ball\",\"distance\":0.5,\"dimension\":3,\"epsilon\":0}");
    PVT_NEAR(num(v, "delta"), 0.3671875, 1e-9);
    v = ask(pv_account, "{\"mechanism\":\"ball\",\"distance\":3,\"dimension\":3,\"epsilon\":0}"); /* disjoint */
    PVT_NEAR(num(v, "delta"), 1.0, 0.0);
}

/* More terms than the list holds, over many decades: both bounds stay bounds. */
static void wide_lists(void **state)
{
    (void)state;
    enum { N = 600 };
    static const char *const kinds[] = { "\"kind\":\"select\",\"epsilon\"", "\"kind\":\"laplace\",\"scale\"" };
    for (int k = 0; k < 2; k++) {
        pvi_str b = { .ctx = ctx };
        double most = 0;
        pvi_str_puts(&b, "{\"delta\":1e-6,\"accountant\":\"pld\",\"events\":{\"kind\":\"sequence\",\"events\":[");
        for (int i = 0; i < N; i++) {
            const double e = pow(10, -15.9 * i / N);
            pvi_str_printf(&b, "%s{%s:%.17g}", i ? "," : "", kinds[k], k ? 1 / e : e);
            most += e;
        }
        pvi_str_puts(&b, "]}}");
        const pvi_json *v = ask(pv_account, b.s);
        PVT_CHECK(num(v, "epsilon_lower") <= num(v, "epsilon") && num(v, "epsilon_lower") <= most, "%s: %g above %g",
                  kinds[k], num(v, "epsilon_lower"), num(v, "epsilon"));
        pvi_str_free(&b);
    }
}

static void calibrations(void **state)
{
    (void)state;
    PVT_TRUE(num(ask(pv_calibrate, "{\"mechanism\":\"select\",\"q\":0.1,\"steps\":10,\"epsilon\":1,\"delta\":1e-6}"),
                 "eps0") > 1); /* sampled, so each may cost more than its share */
    const pvi_json *v = ask(pv_calibrate, "{\"mechanism\":\"gaussian\",\"steps\":100,\"epsilon\":1,\"delta\":1e-5}");
    const double z = num(v, "noise_multiplier");
    PVT_TRUE(num(v, "epsilon") <= 1 && num(v, "epsilon") > 1 - 1e-5 && num(v, "target_epsilon") == 1);
    PVT_NEAR(num(v, "factor"), z, 0);
    char request[256];
    snprintf(request, sizeof request, "{\"mechanism\":\"gaussian\",\"z\":%.17g,\"steps\":100,\"delta\":1e-5}", z);
    PVT_TRUE(num(ask(pv_account, request), "epsilon") <= 1);
    v = ask(pv_calibrate, "{\"mechanism\":\"select\",\"steps\":5,\"epsilon\":1,\"delta\":0}");
    PVT_REL(num(v, "eps0"), 0.2, 1e-5);
    v = ask(pv_calibrate,
            "{\"events\":{\"kind\":\"sequence\",\"events\":[{\"kind\":\"gaussian\",\"noise_multiplier\":2},"
            "{\"kind\":\"laplace\",\"scale\":1}]},\"epsilon\":0.5,\"delta\":1e-6}");
    PVT_TRUE(!pvi_json_get(v, "noise_multiplier") && num(v, "factor") > 1);
    v = ask(pv_calibrate,
            "{\"events\":{\"kind\":\"gaussian\",\"noise_multiplier\":2},\"epsilon\":0.5,\"delta\":1e-6}");
    PVT_TRUE(num(v, "factor") > 1);
}

/* Shares for the accuracy of draws, where the releases of several runs cost more than those of each. */
static void draws(void **state)
{
    (void)state;
#define RELEASED "{\"mechanism\":\"gaussian\",\"z\":1,\"steps\":%d,\"%s\":%.17g"
    enum { STEPS = 4 };
    char request[256];
    const double s = 1e-9, D = 1e-6;
#define ASK(steps, what, x, more, ...)                                                                               \
    (snprintf(request, sizeof request, RELEASED more "}", steps, what, x, ##__VA_ARGS__), ask(pv_account, request))
    const double less = num(ASK(STEPS, "delta", D - s, ""), "epsilon"),
                 half = num(ASK(STEPS, "delta", D / 2, ""), "epsilon");
    const double whole = num(ASK(STEPS, "delta", D, ""), "epsilon");
    const double more = num(ASK(STEPS, "delta", D - s * exp(4), ""), "epsilon");
    PVT_TRUE(less > 5 && half > less && less > whole);
    const pvi_json *v = ASK(STEPS, "delta", D, ",\"draws\":1e-9,\"draws_epsilon\":30"); /* (1): enough there */
    PVT_REL(num(v, "epsilon"), less, 1e-12);
    PVT_TRUE(num(v, "delta") == D && num(v, "delta_draws") >= s && num(v, "delta_draws") < s * (1 + 1e-12));
    v = ASK(STEPS, "delta", D, ",\"draws\":1e-9,\"draws_epsilon\":%.17g", half - 4); /* (2): e^4 times as much */
    PVT_REL(num(v, "epsilon"), more, 1e-9);
    PVT_TRUE(num(v, "delta") == D && more < half && more > less);
    PVT_REL(num(v, "delta_draws"), s * exp(more - half + 4), 1e-6);
    v = ASK(STEPS, "delta", D, ",\"draws\":1e-9,\"draws_epsilon\":%.17g", whole - 9); /* (3): e^9 is too much */
    PVT_TRUE(num(v, "epsilon") == whole);
    PVT_REL(num(v, "delta"), D + s * exp(9), 1e-6);
    v = ASK(400, "delta", D, ",\"draws\":1e-9,\"draws_epsilon\":30"); /* nothing is said above 30 */
    PVT_TRUE(num(v, "epsilon") > 30 && num(v, "delta_draws") == 0 && pvi_json_get(v, "ideal_draws")->num != 0);
    const double ideal = num(ASK(STEPS, "epsilon", 8.0, ""), "delta");
    v = ASK(STEPS, "epsilon", 8.0, ",\"draws\":1e-9,\"draws_epsilon\":5");
    PVT_REL(num(v, "delta") - ideal, s * exp(3), 1e-6);
    const double z =
        num(ask(pv_calibrate, "{\"mechanism\":\"gaussian\",\"epsilon\":2,\"delta\":1e-6}"), "noise_multiplier");
    v = ask(pv_calibrate,
            "{\"mechanism\":\"gaussian\",\"epsilon\":2,\"delta\":1e-6,\"draws\":1e-7,\"draws_epsilon\":1}");
    PVT_TRUE(num(v, "noise_multiplier") > z * 1.001 && num(v, "delta") == 1e-6);
    v = ask(pv_curve, "{\"mechanism\":\"gaussian\",\"z\":1,\"epsilon\":8,\"draws\":1e-9,\"draws_epsilon\":5}");
    const pvi_json *last = pvi_json_get(v, "delta")->child;
    while (last->next) last = last->next;
    PVT_TRUE(last->num >= s * exp(3));
}

static void curves(void **state)
{
    (void)state;
    const pvi_json *v = ask(pv_curve, "{\"mechanism\":\"gaussian\",\"z\":1}");
    const pvi_json *e = pvi_json_get(v, "epsilon")->child, *d = pvi_json_get(v, "delta")->child;
    PVT_REL(num(v, "mu"), 1, 1e-9);
    double last = 2;
    for (; e; e = e->next, d = d->next) {
        const double mu = 1, t = e->num / mu,
                     want = 0.5 * erfc((t - 0.5) / sqrt(2)) - exp(e->num) * 0.5 * erfc((t + 0.5) / sqrt(2));
        PVT_CHECK(fabs(d->num - want) <= 1e-9 * want + 1e-16 && d->num < last, "eps=%g: %g, %g", e->num, d->num,
                  want);
        last = d->num;
    }
    PVT_REL(last, 1e-10, 1e-6);
    PVT_IS(pvi_json_get(v, "alpha")->count, pvi_json_get(v, "beta")->count);
    v = ask(pv_curve, "{\"mechanism\":\"gaussian\",\"z\":1,\"epsilon\":2}");
    PVT_TRUE(pvi_json_get(v, "epsilon")->count > 10);
    v = ask(pv_curve, "{\"mechanism\":\"gaussian\",\"z\":1,\"relation\":\"replace\"}");
    assert_string_equal(str(v, "relation"), "replace");
    v = ask(pv_curve, "{\"events\":{\"kind\":\"none\"}}");
    PVT_NEAR(num(v, "mu"), 0, 0);
    v = ask(pv_curve, "{\"mechanism\":\"ball\",\"delta0\":0.25}"); /* flat: delta does not fall with epsilon */
    PVT_NEAR(pvi_json_get(v, "delta")->child->num, 0.25, 1e-12);
}

static void files(void **state)
{
    (void)state;
    char path[] = "/tmp/privet-events-XXXXXX", request[256];
    char *json;
    close(mkstemp(path));
    static const struct {
        const char *body;
        pv_status want;
        const char *message;
    } cases[] = {
        { "{\"kind\":\"gaussian\",\n \"noise_multiplier\": 1}", PV_OK, "" },
        { "{\"kind\":\"gaussian\",\n \"noise_multiplier\": 1", PV_E_FORMAT, ":2:23: the text ends in the middle" },
        { "{\"kind\":\"gaussian\",\n \"noise_multiplier\": -1}", PV_E_FORMAT,
          ":1:1: noise multiplier -1 is not in [1e-06, 1e+16]" },
        { "", PV_E_FORMAT, ": empty file" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PVT_OK(pvi_file_write(ctx, path, cases[i].body, strlen(cases[i].body)));
        snprintf(request, sizeof request, "{\"file\":\"%s\",\"delta\":1e-5}", path);
        PVT_IS(pv_account(ctx, request, &json), cases[i].want);
        PVT_CHECK(cases[i].want == PV_OK || strstr(pv_ctx_errmsg(ctx), cases[i].message), "%s", pv_ctx_errmsg(ctx));
        pv_string_free(ctx, json);
    }
    /* a million levels in a file: one line, no stack */
    enum { LEVELS = 1000000 };
    static const char open[] = "{\"kind\":\"repeat\",\"times\":1,\"event\":";
    char *deep = malloc(LEVELS * sizeof open);
    for (size_t i = 0; i < LEVELS; i++) memcpy(deep + i * (sizeof open - 1), open, sizeof open);
    PVT_OK(pvi_file_write(ctx, path, deep, strlen(deep)));
    free(deep);
    PVT_IS(pv_account(ctx, request, &json), PV_E_FORMAT);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "nested too deeply") && !json);
    unlink(path);
    PVT_IS(pv_account(ctx, request, &json), PV_E_IO);
}

static const struct {
    call f;
    const char *request;
    pv_status want;
    const char *message;
} bad[] = {
    { pv_account, NULL, PV_E_ARG, "pv_account: request_json is NULL" },
    { pv_account, "", PV_E_FORMAT, "request:1:1" },
    { pv_account, "[]", PV_E_FORMAT, "an object is needed" },
    { pv_account, "{\"delt\":1}", PV_E_PARAM, "unknown setting delt; did you mean delta?" },
    { pv_account, "{\"frobnicate\":1}", PV_E_PARAM, "unknown setting frobnicate" },
    { pv_account, "{\"delta\":1e-5}", PV_E_PARAM, "say what is released" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"delta\":1e-5,\"draws\":-1}", PV_E_PARAM,
      "a share of delta" },
    { pv_calibrate, "{\"mechanism\":\"gaussian\",\"epsilon\":9,\"delta\":1e-5,\"draws\":1e-6}", PV_E_PARAM,
      "the accuracy of the draws alone takes" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"file\":\"x\"}", PV_E_PARAM, "say what is released" },
    { pv_account, "{\"mechanism\":3}", PV_E_PARAM, "mechanism: text is needed" },
    { pv_account, "{\"mechanism\":\"entropy\",\"z\":1}", PV_E_PARAM, "are known" },
    { pv_account, "{\"mechanism\":\"ball\",\"delta0\":2}", PV_E_PARAM, "delta0=2: a number between 0 and 1" },
    { pv_account, "{\"mechanism\":\"ball\",\"dimension\":2}", PV_E_PARAM, "ball needs distance=" },
    { pv_account, "{\"mechanism\":\"ball\",\"distance\":1}", PV_E_PARAM, "ball needs dimension=" },
    { pv_account, "{\"mechanism\":\"ball\",\"distance\":1,\"dimension\":1.5}", PV_E_PARAM, "a whole number" },
    { pv_account, "{\"mechanism\":\"ball\",\"distance\":-1,\"dimension\":2}", PV_E_PARAM, "must be above 0" },
    { pv_account, "{\"mechanism\":\"ball\",\"delta0\":0.1,\"radius\":2}", PV_E_PARAM, "leave one out" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"radius\":2}", PV_E_PARAM, "gaussian has no radius" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"sampler\":\"cyclic\",\"q\":0.3}", PV_E_PARAM, "1/2, 1/3" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"step\":1,\"smooth\":1}", PV_E_PARAM, "noisy-gd needs z" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"smooth\":1}", PV_E_PARAM, "noisy-gd needs step" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":1}", PV_E_PARAM, "noisy-gd needs smooth" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":3,\"smooth\":1}", PV_E_UNSUPPORTED, "2/M" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":1,\"smooth\":1,\"diameter\":1}", PV_E_PARAM,
      "needs shift" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":1,\"smooth\":1,\"steps\":5,\"batches\":2}",
      PV_E_PARAM, "whole passes" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":1,\"smooth\":1,\"rows\":2}", PV_E_PARAM,
      "for one row" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":1,\"smooth\":1,\"strong\":[]}", PV_E_PARAM,
      "a number is needed" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":1,\"smooth\":1,\"diameter\":\"x\"}", PV_E_PARAM,
      "diameter=x: a number" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":1,\"smooth\":1,\"batches\":0}", PV_E_PARAM,
      "batches=0: a whole" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":1,\"smooth\":1,\"steps\":0}", PV_E_PARAM,
      "steps=0: a whole" },
    { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":1,\"step\":1,\"smooth\":1,\"scale\":1}", PV_E_PARAM,
      "noisy-gd has no scale" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"step\":1}", PV_E_PARAM,
      "gaussian has no step; did you mean steps?" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"diameter\":1}", PV_E_PARAM, "gaussian has no diameter" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"sampler\":\"cyclic\",\"q\":3}", PV_E_PARAM, "1/2, 1/3" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"sampler\":\"cyclic\",\"q\":1e-300}", PV_E_PARAM,
      "1/2, 1/3" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"sampler\":\"cyclic\",\"q\":0.4}", PV_E_PARAM, "1/2, 1/3" },
    { pv_account, "{\"file\":3}", PV_E_PARAM, "file: text is needed" },
    { pv_account, "{\"mechanism\":\"gausian\",\"z\":1}", PV_E_PARAM, "did you mean gaussian?" },
    { pv_account, "{\"mechanism\":\"gaussian\"}", PV_E_PARAM, "gaussian needs z=" },
    { pv_account, "{\"mechanism\":\"eps-delta\",\"eps0\":1}", PV_E_PARAM, "eps-delta needs delta0=" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":\"much\"}", PV_E_PARAM, "z=much: a number is needed" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":\"nan\"}", PV_E_PARAM, "z=nan: a number is needed" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"steps\":1.5}", PV_E_PARAM, "steps=1.5: a whole" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"steps\":1e30}", PV_E_PARAM, "steps=1e30: a whole" },
    { pv_curve, "{\"mechanism\":\"gaussian\",\"z\":1,\"epsilon\":\"inf\"}", PV_E_PARAM, "a positive number" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":[]}", PV_E_PARAM, "z=...: a number is needed" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"q\":true}", PV_E_PARAM, "q=...: a number" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"steps\":0.5}", PV_E_PARAM, "steps=0.5: a whole number" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"steps\":{}}", PV_E_PARAM, "steps=...: a number" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"sampler\":\"none\"}", PV_E_PARAM,
      "poisson, fixed or cyclic" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"sampler\":1}", PV_E_PARAM, "sampler: text" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"delta\":\"x\"}", PV_E_PARAM, "delta=x" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"epsilon\":\"x\"}", PV_E_PARAM, "epsilon=x" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"rows\":\"x\"}", PV_E_PARAM, "rows=x" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"accountant\":1}", PV_E_PARAM, "accountant: text" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"relation\":1}", PV_E_PARAM, "relation: text" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"relation\":\"add\"}", PV_E_PARAM, "zero-out or replace" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":0,\"delta\":1e-5}", PV_E_PARAM, "z=0: a number" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"q\":2,\"delta\":1e-5}", PV_E_ARG, "sampling rate 2" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"delta\":1}", PV_E_ARG, "delta 1 is not in" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1}", PV_E_PARAM, "give delta to learn epsilon" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"delta\":1e-5,\"epsilon\":1}", PV_E_PARAM, "both given" },
    { pv_account, "{\"mechanism\":\"gaussian\",\"z\":1,\"epsilon\":1,\"rows\":2}", PV_E_PARAM, "groups need delta" },
    { pv_account, "{\"events\":{\"kind\":\"none\"},\"z\":1}", PV_E_PARAM, "a tree of events has no z" },
    { pv_account, "{\"events\":{\"kind\":\"gausian\"}}", PV_E_FORMAT, "gausian; did you mean gaussian?" },
    { pv_account, "{\"events\":3}", PV_E_FORMAT, "request:1:11: an event is an object" },
    { pv_calibrate, "{\"mechanism\":\"gaussian\",\"epsilon\":1}", PV_E_PARAM, "needs epsilon and delta" },
    { pv_calibrate, "{\"mechanism\":\"gaussian\",\"delta\":1e-5}", PV_E_PARAM, "needs epsilon and delta" },
    { pv_calibrate, "{\"mechanism\":\"gaussian\",\"epsilon\":1,\"delta\":1e-5,\"rows\":2}", PV_E_PARAM,
      "for one row" },
    { pv_calibrate, "{\"mechanism\":\"gaussian\",\"z\":2,\"epsilon\":1,\"delta\":1e-5}", PV_E_PARAM,
      "z is what calibrate solves for" },
    { pv_calibrate, "{\"mechanism\":\"ball\",\"epsilon\":1,\"delta\":1e-5}", PV_E_ARG, "no noise to calibrate" },
    { pv_calibrate, "{\"mechanism\":\"gaussian\",\"epsilon\":1,\"delta\":0}", PV_E_BUDGET, "no amount of noise" },
    { pv_curve, "{\"mechanism\":\"gaussian\",\"z\":1,\"delta\":1e-5}", PV_E_PARAM, "a curve has no delta" },
    { pv_curve, "{\"mechanism\":\"gaussian\",\"z\":1,\"rows\":2}", PV_E_PARAM, "a curve has no delta" },
    { pv_curve, "{\"mechanism\":\"gaussian\",\"z\":1,\"epsilon\":-1}", PV_E_PARAM, "a positive number" },
    { pv_curve, "{\"events\":{\"kind\":\"nonprivate\"}}", PV_E_UNSUPPORTED, "no accountant" },
    { pv_curve, "{", PV_E_FORMAT, "request" },
    { pv_calibrate, "{", PV_E_FORMAT, "request" },
};

static void refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *json = (char *)"x";
        const pv_status s = bad[i].f(ctx, bad[i].request, &json);
        PVT_CHECK(s == bad[i].want && !json, "%s: status %d: %s", bad[i].request, (int)s, pv_ctx_errmsg(ctx));
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), bad[i].message), "%s: %s", bad[i].request, pv_ctx_errmsg(ctx));
    }
}

/* ---- memory: the k-th allocation fails, for every k ------------------------------------------------------ */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const struct {
        call f;
        const char *request;
    } calls[] = {
        { pv_account, "{\"mechanism\":\"gaussian\",\"z\":2,\"q\":0.1,\"steps\":5,\"delta\":1e-5,\"rows\":2,"
                      "\"accountant\":\"rdp\"}" },
        { pv_account, "{\"events\":{\"kind\":\"sequence\",\"events\":[{\"kind\":\"gaussian\",\"noise_multiplier\":1}]"
                      "},\"delta\":1e-5,\"rows\":2}" },
        { pv_account,
          "{\"mechanism\":\"gaussian\",\"z\":2,\"delta\":1e-5,\"accountant\":\"zcdp:conversion=paper\"}" },
        { pv_account, "{\"mechanism\":\"gaussian\",\"z\":2,\"q\":0.1,\"steps\":2,\"delta\":1e-5,"
                      "\"accountant\":\"pld\"}" },
        { pv_account, "{\"mechanism\":\"laplace\",\"scale\":2,\"epsilon\":0.1,\"accountant\":\"pld\"}" },
        { pv_account, "{\"mechanism\":\"noisy-gd\",\"z\":5,\"step\":1,\"smooth\":1,\"steps\":9,\"delta\":1e-5}" },
        { pv_calibrate, "{\"mechanism\":\"gaussian\",\"epsilon\":1,\"delta\":1e-5,\"accountant\":\"gaussian\"}" },
        { pv_curve, "{\"mechanism\":\"gaussian\",\"z\":2,\"accountant\":\"gaussian\"}" },
    };
    static char many[40000] =
        "{\"accountant\":\"gaussian\",\"epsilon\":1,\"delta\":1e-5,\"events\":{\"kind\":\"sequence\",\"events\":[";
    for (int i = 0; i < 700; i++) strcat(many, "{\"kind\":\"gaussian\",\"noise_multiplier\":1},");
    strcat(many, "{\"kind\":\"none\"}]}}");
    for (size_t i = 0; i <= sizeof calls / sizeof *calls; i++) {
        const bool last = i == sizeof calls / sizeof *calls;
        pv_status s = PV_E_NOMEM;
        for (int64_t k = 0; s != PV_OK; k++) {
            pvt_memory memory = { 0 };
            pv_ctx *c = pvt_counted(&memory);
            char *json;
            memory.left = k;
            s = last ? pv_calibrate(c, many, &json) : calls[i].f(c, calls[i].request, &json);
            PVT_CHECK(s == PV_OK || (s == PV_E_NOMEM && !json), "call %d, allocation %d: %s", (int)i, (int)k,
                      pv_ctx_errmsg(c));
            pv_string_free(c, json);
            pv_ctx_free(c);
            PVT_IS(memory.live, 0);
            PVT_TRUE(k < 5000);
        }
    }
}

/* Padding moves the end of the arena's first chunk through everything a request makes. */
static void memory_ends_anywhere(void **state)
{
    (void)state;
    static char request[70000];
    static const char *const bodies[] = {
        "\"mechanism\":\"gaussian\",\"q\":0.5,\"epsilon\":1,\"delta\":1e-5",
        "\"events\":{\"kind\":\"gaussian\",\"noise_multiplier\":1},\"epsilon\":1,\"delta\":1e-5",
        "\"mechanism\":\"noisy-gd\",\"step\":1,\"smooth\":1,\"epsilon\":1,\"delta\":1e-5"
    };
    for (int b = 0; b < 3; b++)
        for (int pad = 62000; pad < 65600; pad += 64) {
            pvt_memory memory = { 0 };
            pv_ctx *c = pvt_counted(&memory);
            char *json;
            snprintf(request, sizeof request, "{%s,\"relation\":\"zero-out\",\"accountant\":\"gaussian:%0*d\"}",
                     bodies[b], pad, 0);
            memory.left = 2; /* the arena and its first chunk */
            const pv_status s = pv_calibrate(c, request, &json);
            PVT_CHECK(s == PV_E_NOMEM && !json, "pad %d: %s", pad, pv_ctx_errmsg(c));
            pv_ctx_free(c);
            PVT_IS(memory.live, 0);
        }
}

static int free_answer(void **state)
{
    (void)state;
    pvi_arena_free(arena_of_answer);
    arena_of_answer = NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_teardown(known_answers, free_answer),
        cmocka_unit_test_teardown(balls_from_their_geometry, free_answer),
        cmocka_unit_test_teardown(calibrations, free_answer),
        cmocka_unit_test_teardown(curves, free_answer),
        cmocka_unit_test_teardown(draws, free_answer),
        cmocka_unit_test(files),
        cmocka_unit_test(refusals),
        cmocka_unit_test(wide_lists),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(memory_ends_anywhere),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
