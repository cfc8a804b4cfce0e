/* test_replay_units.c - neighbour replay where a unit is a person who owns several rows.
 *
 * Two tables that differ in one whole person: seven rows as long as allowed, against none that contribute, three of
 * them, or against one row, the opposite.  The rows of all persons behind stand at other places then, and everything
 * else must stay within the declared sensitivity all the same: sums, samples and views go by persons. */
#include "pvtable.h"
#include "replaytape.h"

enum { UNITS = 120, K = 7, P = 7, SPECIAL = 50 };

typedef struct config {
    const char *model, *optimizer, *relation, *sampler, *clip, *set, *combine, *weight;
    int64_t classes;
    int layout; /* dense; CSR; CSR with rows bounded in their largest value */
    bool network;
} config;

static int64_t size_of(int64_t u, int variant)
{
    static const int64_t special[] = { K, 3, 1 };
    return u == SPECIAL ? special[variant] : 1 + u * 5 % K;
}

/* Variant 0: the special person; 1: gone; 2: another. */
static void set_special(pvt_table *t, const config *c, int64_t r, int variant)
{
    double x[P] = { variant == 0 ? 0.99999 : variant == 1 ? 0.0 : -0.99999 };
    double y = c->classes == 2 ? 1.0 : c->classes > 2 ? 0.0 : 2.0;
    if (c->network && variant == 1) y = NAN; /* a row of zeros has a gradient there */
    if (c->network && variant == 2) y = 1.0;
    pvt_set_row(t, r, x, y);
}

static pvt_table *make_table(const config *c, int variant, int64_t *start)
{
    pvt_table *from = pvt_table_make(UNITS * K, P, c->classes, 7);
    for (int64_t u = 0; u < UNITS; u++) start[u + 1] = start[u] + size_of(u, variant);
    pvt_table *t = pvt_table_make(start[UNITS], P, c->classes, 8);
    for (int64_t u = 0; u < UNITS; u++)
        for (int64_t i = 0; i < size_of(u, variant); i++) {
            double x[P];
            for (int64_t j = 0; j < P; j++) x[j] = (double)from->x[(u * K + i) * P + j];
            if (u == SPECIAL) set_special(t, c, start[u] + i, variant);
            else pvt_set_row(t, start[u] + i, x, (double)from->y[u * K + i]);
        }
    pvt_table_free(from);
    if (c->layout > 0) pvt_table_as_csr(t); /* of all rows, so before there are fewer units */
    t->m.domain.max_norm = c->layout == 2;
    if (c->network) t->m.domain.height = P, t->m.domain.width = t->m.domain.channels = 1;
    t->m.stored = t->m.domain.n;
    t->m.domain.n = UNITS;
    t->m.domain.unit_rows = K;
    t->m.start = start;
    return t;
}

static pv_plan *make_plan(pv_ctx *ctx, const config *c)
{
    pv_plan *p;
    const pv_plugin *opt = pv_find(PV_KIND_optimizer, c->optimizer);
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "model", c->model));
    PVT_OK(pv_plan_set(p, "optimizer", c->optimizer));
    PVT_OK(pv_plan_set(p, pvt_steps_key(c->optimizer), "9"));
    PVT_OK(pv_plan_set(p, "budget.relation", c->relation));
    PVT_OK(pv_plan_set(p, "budget.noise_multiplier", "1.5"));
    PVT_OK(pv_plan_set(p, "accountant", "rdp"));
    PVT_OK(pv_plan_set(p, "budget.epsilon", "1e6"));
    PVT_OK(pv_plan_set(p, "sampler", c->sampler));
    if (strcmp(c->sampler, "full") != 0) PVT_OK(pv_plan_set(p, "sampler.batch", "40"));
    PVT_OK(pv_plan_set(p, "clip", c->clip));
    PVT_OK(pv_plan_set(p, "unit.combine", c->combine));
    PVT_OK(pv_plan_set(p, "unit.weight", c->weight));
    PVT_OK(pv_plan_set(p, "set", c->set));
    PVT_OK(pv_plan_set(p, "run.seed", "42"));
    if (c->network) PVT_OK(pv_plan_set(p, "model.layers", "conv2x3same,groupnorm1,relu,dense4,tanh,dense"));
    if (strcmp(c->model, "cnn") == 0) PVT_OK(pv_plan_set(p, "model.augment", "3"));
    if (pvi_param_find(opt->params, "noise")) PVT_OK(pv_plan_set(p, "optimizer.noise", "constant"));
    return p;
}

/* false: the combination is refused, with a reason. */
static bool replay(pv_ctx *ctx, const config *c, double *worst)
{
    int64_t start[2][UNITS + 1] = { { 0 }, { 0 } };
    const int variant = strcmp(c->relation, "replace") == 0 ? 2 : 1;
    pvt_table *t[2] = { make_table(c, 0, start[0]), make_table(c, variant, start[1]) };
    tape *tp = calloc(1, sizeof *tp);
    pv_result *r = NULL;
    pv_plan *plan = make_plan(ctx, c);
    const pv_status s = pvi_run_matrix(plan, &t[0]->m, tape_watch, tp, &r);
    PVT_CHECK(s == PV_OK || s == PV_E_UNSUPPORTED || s == PV_E_PARAM, "%s/%s: %s", c->optimizer, c->model,
              pv_ctx_errmsg(ctx));
    pv_result_free(r);
    if (s == PV_OK) {
        tp->playing = true;
        PVT_OK(pvi_run_matrix(plan, &t[1]->m, tape_watch, tp, &r));
        PVT_IS(tp->at, tp->n);
        pv_result_free(r);
        *worst = fmax(*worst, tp->worst);
    }
    pv_plan_free(plan);
    tape_free(tp);
    for (int i = 0; i < 2; i++) pvt_table_free(t[i]);
    return s == PV_OK;
}

static int64_t replay_model(pv_ctx *ctx, const char *optimizer, const char *model, int64_t classes)
{
    static const struct {
        const char *sampler, *set;
        int layout;
    } variants[] = { { "full", "none", 0 },   { "full", "l1ball", 0 },  { "full", "none", 1 },
                     { "full", "l1ball", 2 }, { "poisson", "none", 0 }, { "cyclic", "none", 0 },
                     { "fixed", "none", 1 } };
    const pv_model_ops *m = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, model);
    int64_t ran = 0;
    for (int relation = 0; relation < 2; relation++)
        for (int k = 0; k < 7 * 2; k++) { /* each with the mean, and with another line of units.c (2) */
            const int v = k % 7, how = k < 7 ? 0 : 1 + (v + relation + (int)classes) % 3;
            config c = { .model = model,
                         .optimizer = optimizer,
                         .relation = relation ? "replace" : "zero-out",
                         .sampler = variants[v].sampler,
                         .set = variants[v].set,
                         .combine = how & 1 ? "sum" : "mean",
                         .weight = how & 2 ? "rows" : "one",
                         .classes = classes,
                         .network = m && m->open,
                         .layout = variants[v].layout };
            double worst = 0.0;
            c.clip = "0.05";
            const bool went = replay(ctx, &c, &worst);
            ran += went;
            const bool first_order = strcmp(optimizer, "pgd") == 0 || strcmp(optimizer, "sgd") == 0;
            if (went && first_order && !c.network && !(how & 2 && relation)) /* of one row, by rows: little */
                PVT_CHECK(worst > 0.85, "%s/%s/%s/%s/%s/%s: measured only %.3f of the sensitivity", optimizer, model,
                          c.relation, c.sampler, c.combine, c.weight, worst);
        }
    return ran;
}

static void every_optimizer(void **state)
{
    static const char *const proved[] = { "pgd", "sgd", "adam", "pmd", "fw-l1", "fw-l2", "tr", "str", "gd-sosp" };
    (void)state;
    pv_ctx *ctx;
    const pv_plugin *opt;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pvi_set_threads(ctx, 2));
    for (int64_t i = 0; (opt = pv_nth(PV_KIND_optimizer, i)); i++) {
        if (strcmp(opt->name, "prgd") == 0) continue; /* one row a step: its ball takes no multiplier by hand */
        int64_t ran = replay_model(ctx, opt->name, "logistic", 2);
        ran += replay_model(ctx, opt->name, "squared", 0);
        ran += replay_model(ctx, opt->name, "softmax", 4);
        ran += replay_model(ctx, opt->name, "cnn", 4);
        print_message("%s: %lld configurations replayed\n", opt->name, (long long)ran);
        for (size_t k = 0; k < sizeof proved / sizeof *proved; k++)
            PVT_CHECK(strcmp(opt->name, proved[k]) != 0 || ran > 0, "%s: no configuration runs", opt->name);
    }
    pv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(every_optimizer) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
