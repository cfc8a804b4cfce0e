/* test_run_memory.c - a run of every optimiser, with its first, second, third ... allocation failing: an error or a
 * result, never a crash, and not a byte is left.
 *
 * The arena of this program asks for every piece apart (tests/CMakeLists.txt); otherwise hardly any would fail.
 * Optimisers and models come from the registry.  Each pair is tried with the settings below until one is accepted;
 * a pair that no proof covers is left out, but every optimiser must have run. */
#include "alloctest.h"
#include "pvtable.h"

enum { N = 24, P = 4 };

static char why[300]; /* the last refusal */

static const char *const settings[][10] = {
    /* noise by hand where that is allowed: calibrating each time takes long */
    { "budget.noise_multiplier", "1.5", "accountant", "rdp", "budget.epsilon", "1e6", NULL },
    { "budget.noise_multiplier", "1.5", "accountant", "rdp", "budget.epsilon", "1e6", "set", "l1ball", NULL },
    { "budget.delta", "1e-3", NULL },
    { "budget.delta", "1e-3", "set", "l1ball", NULL },
    { "budget.relation", "replace", "budget.epsilon", "1e6", NULL },
    { "budget.relation", "replace", "budget.epsilon", "1e6", "set", "l1ball", NULL },
};
enum { SETTINGS = sizeof settings / sizeof *settings };

typedef struct job {
    const char *optimizer, *model;
    bool network;
    const char *const *pairs; /* of settings */
    pvt_table *table;
    int64_t first,
        stride; /* allocations that are made to fail: not all of them for every model, which would take long */
} job;

static pv_status set_all(pv_plan *plan, const job *j)
{
    pv_status s = pv_plan_set(plan, "optimizer", j->optimizer);
    if (s == PV_OK) s = pv_plan_set(plan, "model", j->model);
    if (s == PV_OK && j->network) s = pv_plan_set(plan, "model.layers", "dense3,relu,dense2,relu,dense");
    if (s == PV_OK) s = pv_plan_set(plan, pvt_steps_key(j->optimizer), "3");
    if (s == PV_OK) s = pv_plan_set(plan, "run.threads", "1");
    for (const char *const *p = j->pairs; s == PV_OK && *p; p += 2) s = pv_plan_set(plan, p[0], p[1]);
    return s;
}

/* One run from the context to the certificate; everything is given back. */
static pv_status run(const job *j, pvt_memory *m)
{
    const pv_alloc a = pvt_alloc(m);
    pv_ctx *ctx = NULL;
    pv_plan *plan = NULL;
    pv_result *r = NULL;
    const char *json;
    pv_status s = pv_ctx_create(&a, &ctx);
    if (s == PV_OK) s = pv_plan_create(ctx, &plan);
    if (s == PV_OK) s = set_all(plan, j);
    if (s == PV_OK) s = pvt_run(ctx, plan, j->table, &r);
    if (s == PV_OK) s = pv_result_certificate(r, &json);
    if (s != PV_OK && ctx) snprintf(why, sizeof why, "%s", pv_ctx_errmsg(ctx));
    pv_result_free(r);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
    return s;
}

/* Fails the allocations of an accepted job one at a time; returns how many of them. */
static int64_t fail_each(const job *j, int64_t allocations)
{
    int64_t tried = 0;
    for (int64_t k = j->first; k < allocations; k += j->stride, tried++) {
        pvt_memory m = { .left = k, .once = true };
        const pv_status s = run(j, &m);
        PVT_CHECK(s == PV_E_NOMEM || s == PV_OK, "%s, %s, allocation %lld: status %d, %s", j->optimizer, j->model,
                  (long long)k, (int)s, why);
        PVT_CHECK(m.bytes == 0, "%s, %s, allocation %lld: %zu bytes are left", j->optimizer, j->model, (long long)k,
                  m.bytes);
    }
    return tried;
}

/* false: refused with all settings. */
static bool sweep(const char *optimizer, const char *model, bool network, int64_t first, int64_t stride)
{
    job j = { .optimizer = optimizer, .model = model, .network = network, .first = first, .stride = stride };
    bool ran = false;
    j.table = pvt_table_make(N, P, stride > 1 ? 3 : 2, 3);
    if (network) j.table->m.domain.height = P, j.table->m.domain.width = j.table->m.domain.channels = 1;
    for (int i = 0; i < SETTINGS && !ran; i++) {
        pvt_memory m = { .left = INT64_MAX };
        j.pairs = settings[i];
        const pv_status s = run(&j, &m);
        PVT_CHECK(s == PV_OK || s == PV_E_UNSUPPORTED || s == PV_E_PARAM || s == PV_E_BUDGET, "%s, %s: status %d, %s",
                  optimizer, model, (int)s, why);
        PVT_CHECK(m.bytes == 0, "%s, %s: %zu bytes are left", optimizer, model, m.bytes);
        ran = s == PV_OK;
        if (ran) {
            PVT_TRUE(m.asked > 10);
            const int64_t tried = fail_each(&j, m.asked);
            print_message("%s, %s: %lld of %lld allocations failed\n", optimizer, model, (long long)tried,
                          (long long)m.asked);
        }
    }
    pvt_table_free(j.table);
    return ran;
}

static void every_optimizer(void **state)
{
    (void)state;
    const pv_plugin *opt, *m;
    for (int64_t i = 0; (opt = pv_nth(PV_KIND_optimizer, i)); i++) {
        int64_t ran = sweep(opt->name, "logistic", false, 0, 1); /* the other losses take the same way */
        for (int64_t k = 0; (m = pv_nth(PV_KIND_model, k)); k++) {
            if (pv_find(PV_KIND_loss, m->name) || strcmp(m->name, "glm") == 0) continue;
            ran += sweep(opt->name, m->name, ((const pv_model_ops *)(const void *)m)->open != NULL, k % 4, 4);
        }
        PVT_CHECK(ran > 0, "%s: no run was accepted; the last: %s", opt->name, why);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(every_optimizer) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
