/* test_settings.c - whatever `privet list` shows can be set, by the key it is listed under. */
#include "arenatest.h"

#include "acct/acct.h"

static const pvi_json *catalogue(void)
{
    char *json;
    pvi_json *v;
    PVT_OK(pv_list(ctx, NULL, &json));
    PVT_OK(pvi_json_parse(ctx, arena, "list", json, strlen(json), &v));
    pv_string_free(ctx, json);
    return v;
}

static const char *text_of(const pvi_json *obj, const char *key)
{
    const pvi_json *v = pvi_json_get(obj, key);
    return v ? v->text : NULL;
}

/* The default as one would write it; what has none is a path. */
static const char *default_of(const pvi_json *setting)
{
    const pvi_json *v = pvi_json_get(setting, "default");
    assert_non_null(v);
    if (v->type == PVI_JNULL) return "none.txt";
    return v->type == PVI_JBOOL ? (v->num != 0.0 ? "yes" : "no") : v->text;
}

/* What must be set for a plug-in of this kind to be the one in use: pairs, ended by NULL. */
static const char *const *chosen_with(const char *kind, const char *name)
{
    static const char *const nothing[] = { NULL };
    static const char *const vertices[] = { "optimizer", "fw-l1", "set", "l1ball", NULL };
    static const char *const ball[] = { "budget.relation", "replace", "clip", "1e-6", NULL };
    static const char *const blocks[] = { "model", "split-mlp", "data.labels", "0,1", NULL };
    static const char *const l2ball[] = { "set", "l2ball", NULL };
    static const char *const l1ball[] = { "set", "l1ball", NULL };
    if (strcmp(kind, "accountant") == 0) return vertices; /* selections: every accountant with settings covers them */
    if (strcmp(kind, "optimizer") != 0) return nothing;
    if (strcmp(name, "prgd") == 0) return ball;
    if (strcmp(name, "sbcd") == 0) return blocks;
    return strcmp(name, "fw-l1") == 0 ? l1ball : strcmp(name, "fw-l2") == 0 ? l2ball : nothing;
}

static const char *chooser(const char *kind)
{
    return strcmp(kind, "loss") == 0 ? "model" : kind;
}

static pv_status plan_with(const char *kind, const char *name, const char *key, const char *value)
{
    pv_plan *plan;
    char *json;
    PVT_OK(pv_plan_create(ctx, &plan));
    PVT_OK(pv_plan_set(plan, "data.rows", "10000"));
    PVT_OK(pv_plan_set(plan, "data.features", "12"));
    for (const char *const *p = chosen_with(kind, name); *p; p += 2) PVT_OK(pv_plan_set(plan, p[0], p[1]));
    PVT_OK(pv_plan_set(plan, chooser(kind), name));
    pv_status s = pv_plan_set(plan, key, value);
    if (s == PV_OK && (s = pv_plan_cost(plan, &json)) == PV_OK) pv_string_free(ctx, json);
    pv_plan_free(plan);
    return s;
}

static bool is_misunderstood(void)
{
    const char *e = pv_ctx_errmsg(ctx);
    return strstr(e, "unknown setting") || strstr(e, "not a setting") || strstr(e, "has no setting");
}

static int check_plugin(const char *kind, const pvi_json *plugin)
{
    int n = 0;
    for (const pvi_json *s = pvi_json_get(plugin, "settings")->child; s; s = s->next, n++) {
        const char *name = text_of(plugin, "name"), *key = text_of(s, "key");
        const pv_status got = plan_with(kind, name, key, default_of(s));
        PVT_CHECK(got == PV_OK || !is_misunderstood(), "%s=%s %s: %s", kind, name, key, pv_ctx_errmsg(ctx));
    }
    return n;
}

static void every_setting_of_every_plugin(void **state)
{
    (void)state;
    int n = 0;
    for (const pvi_json *kind = catalogue()->child; kind; kind = kind->next)
        for (const pvi_json *p = kind->child; p && strcmp(kind->key, "settings") != 0; p = p->next)
            n += check_plugin(kind->key, p);
    PVT_CHECK(n > 100, "only %d settings are listed", n);
}

static void every_general_setting(void **state)
{
    (void)state;
    for (const pvi_json *s = pvi_json_get(catalogue(), "settings")->child; s; s = s->next) {
        pv_plan *plan;
        PVT_OK(pv_plan_create(ctx, &plan));
        const bool day = strcmp(text_of(s, "key"), "issuer.date") == 0; /* no text but a day can be set */
        const pv_status got = pv_plan_set(plan, text_of(s, "key"), day ? "2026-01-31" : default_of(s));
        PVT_CHECK(got == PV_OK, "%s: %s", text_of(s, "key"), pv_ctx_errmsg(ctx));
        pv_plan_free(plan);
    }
}

typedef pv_status (*call)(pv_ctx *, const char *, char **);

static pv_status ask(call f, const char *question, const char *accountant, const char *key, const char *value)
{
    char request[512], *json;
    snprintf(request, sizeof request, "{%s, \"accountant\": \"%s\", \"%s\": \"%s\"}", question, accountant, key,
             value);
    const pv_status s = f(ctx, request, &json);
    if (s == PV_OK) pv_string_free(ctx, json);
    return s;
}

/* Plans and questions take what is listed, and everybody else's accountant is refused in one line. */
static void every_setting_of_every_accountant(void **state)
{
    (void)state;
    int n = 0;
    for (const pvi_json *p = pvi_json_get(catalogue(), "accountant")->child; p; p = p->next)
        for (const pvi_json *s = pvi_json_get(p, "settings")->child; s; s = s->next, n++) {
            const char *name = text_of(p, "name"), *key = text_of(s, "key"), *value = default_of(s);
            PVT_OK(plan_with("accountant", name, key, value));
            PVT_OK(ask(pv_account, "\"mechanism\":\"select\",\"eps0\":1,\"delta\":1e-5", name, key, value));
            PVT_OK(ask(pv_calibrate, "\"mechanism\":\"select\",\"epsilon\":1,\"delta\":1e-5", name, key, value));
            PVT_OK(ask(pv_curve, "\"mechanism\":\"select\",\"eps0\":1", name, key, value));
            PVT_IS(plan_with("accountant", "best", key, value), PV_E_PARAM);
            PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "accountant=best has no setting"));
            PVT_TRUE(strstr(pv_ctx_errmsg(ctx), name));
            PVT_IS(ask(pv_account, "\"mechanism\":\"select\",\"eps0\":1,\"delta\":1e-5", "tv", key, value),
                   PV_E_PARAM);
            PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "accountant=tv has no setting"));
        }
    PVT_CHECK(n >= 2, "%d settings of accountants", n);
}

static double epsilon_of(const char *request)
{
    char *json;
    pvi_json *v;
    PVT_OK(pv_account(ctx, request, &json));
    PVT_OK(pvi_json_parse(ctx, arena, "answer", json, strlen(json), &v));
    pv_string_free(ctx, json);
    return pvi_json_get(v, "epsilon")->num;
}

#define ONE "{\"mechanism\": \"gaussian\", \"z\": 2, \"delta\": 1e-5, "
static void both_spellings_mean_the_same(void **state)
{
    (void)state;
    const double listed = epsilon_of(ONE "\"accountant\": \"zcdp\", \"accountant.conversion\": \"paper\"}");
    const double inside = epsilon_of(ONE "\"accountant\": \"zcdp:conversion=paper\"}");
    const double rho = 1.0 / 8.0, formula = rho + 2.0 * sqrt(rho * log(1e5));
    PVT_NEAR(listed, formula, 1e-9);
    PVT_IS(listed == inside, true);
    PVT_TRUE(listed > epsilon_of(ONE "\"accountant\": \"zcdp\"}") * 1.01);
    PVT_IS(ask(pv_account, "\"mechanism\":\"gaussian\",\"z\":2,\"delta\":1e-5", "zcdp:conversion=paper",
               "accountant.conversion", "optimal"),
           PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "say the same twice"));
    PVT_IS(
        ask(pv_account, "\"mechanism\":\"gaussian\",\"z\":2,\"delta\":1e-5", "zcdp", "accountant.conversion", "blue"),
        PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "accountant.conversion"));
    PVT_IS(ask(pv_account, "\"mechanism\":\"gaussian\",\"z\":2,\"delta\":1e-5", "zcdp", "accountant.convergion",
               "paper"),
           PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "did you mean accountant.conversion?"));
}

/* The field's words set the settings they stand for, and what is written has the settings' own names. */
static void other_words(void **state)
{
    (void)state;
    pv_plan *p;
    char *json;
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "learning_rate", "0.5"));
    PVT_OK(pv_plan_set(p, "max_grad_norm", "2"));
    PVT_OK(pv_plan_set(p, "adjacency", "replace"));
    PVT_OK(pv_plan_dump(p, &json));
    PVT_TRUE(strstr(json, "\"optimizer.step\": \"0.5\"") && strstr(json, "\"clip\": 2") &&
             strstr(json, "\"budget.relation\": \"replace\""));
    PVT_TRUE(!strstr(json, "learning_rate") && !strstr(json, "adjacency"));
    pv_string_free(ctx, json);
    pv_plan_free(p);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = {
        CASE(every_setting_of_every_plugin), CASE(every_general_setting), CASE(every_setting_of_every_accountant),
        CASE(both_spellings_mean_the_same),  CASE(other_words),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
