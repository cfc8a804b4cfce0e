/* test_replay.c - neighbour replay over the registry.
 *
 * Any configuration is run on two neighbouring tables with identical randomness.  The second run is fed
 * the values the first one released, so both take the same path.  Then
 *   - the sequence of releases (count, event, dimension) must be the same, and
 *   - every pair of sums, before noise, must lie within the declared sensitivity.
 * Where gradients are clipped the measured distance must also come close to the sensitivity: a test
 * that cannot see a violation would prove nothing. */
#include "pvtable.h"
#include "replaytape.h"

enum { N = 300, P = 7, SPECIAL = 130 };

/* The special row: as long as allowed, on the boundary; or gone; or its opposite. */
static void set_special(pvt_table *t, int variant, int64_t classes, bool network)
{
    double x[P] = { 0.0 };
    double y = classes == 2 ? 1.0 : classes > 2 ? 0.0 : 2.0;
    if (network && variant == 0) y = NAN;  /* a row of zeros has a gradient there, one without a label has none */
    if (network && variant == -1) y = 1.0; /* and opposite rows may have much the same */
    x[0] = 0.99999 * variant;              /* along an axis: longest in every norm */
    pvt_set_row(t, SPECIAL, x, y);
}

/* Triples of query, mechanism and sampler that were replayed. */
enum { KINDS = 16, SAMPLERS = 8 };
static bool seen[KINDS][SAMPLERS];

static void met(const pvi_release *r)
{
    for (int s = 0; pvi_samplers[s]; s++)
        if (pvi_samplers[s] == r->sampler) seen[r->kind - pvi_release_kinds][s] = true;
}

/* What no optimiser asks for cannot be replayed: test_queries.c has its query. */
static bool is_asked_for(const pvi_release_kind *kind)
{
    const pv_plugin *h;
    for (int64_t i = 0; (h = pv_nth(PV_KIND_optimizer, i)); i++) {
        const pv_ask_row *ask = ((const pv_optimizer_ops *)(const void *)h)->ask;
        for (int k = 0; k < PV_MOST_ASKS && ask[k].query; k++)
            if (pvi_kind_of(&ask[k]) == kind) return true;
    }
    return false;
}

static void every_legal_triple_was_met(void)
{
    int legal = 0;
    for (int k = 0; pvi_release_kinds[k].name; k++)
        for (int s = 0; pvi_samplers[s]; s++) {
            const bool takes =
                is_asked_for(&pvi_release_kinds[k]) && pvi_kind_takes(&pvi_release_kinds[k], pvi_samplers[s]);
            PVT_CHECK(seen[k][s] == takes, "%s on %s (%s): %s", pvi_release_kinds[k].name, pvi_samplers[s]->name,
                      pvi_samplers[s]->setting, takes ? "never replayed" : "has no proof, but ran");
            legal += takes;
        }
    print_message("%d legal triples of query, mechanism and sampler, each replayed\n", legal);
}

static void watch(void *user, const pvi_seen *r, double *value)
{
    met(r->release);
    tape_watch(user, r, value);
}

typedef struct config {
    const char *model, *optimizer, *relation, *sampler, *clip, *set, *steps, *share; /* share NULL: not set */
    int64_t classes;
    int layout; /* dense; CSR; CSR with rows bounded in their largest value */
    bool network, stretched;
} config;

static pv_plan *make_plan(pv_ctx *ctx, const config *c)
{
    pv_plan *p;
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "model", c->model));
    PVT_OK(pv_plan_set(p, "optimizer", c->optimizer));
    PVT_OK(pv_plan_set(p, pvt_steps_key(c->optimizer), c->steps));
    PVT_OK(pv_plan_set(p, "budget.relation", c->relation));
    /* by hand, because calibrating every configuration takes long; a ball has a budget of delta only */
    if (strcmp(c->optimizer, "prgd") != 0) {
        PVT_OK(pv_plan_set(p, "budget.noise_multiplier", "1.5"));
        PVT_OK(pv_plan_set(p, "accountant", "rdp")); /* the quickest that knows all these events */
    }
    PVT_OK(pv_plan_set(p, "budget.epsilon", "1e6"));
    PVT_OK(pv_plan_set(p, "sampler", c->sampler));
    if (strcmp(c->sampler, "full") != 0 && strcmp(c->sampler, "auto") != 0)
        PVT_OK(pv_plan_set(p, "sampler.batch", "60"));
    if (strcmp(c->optimizer, "str2") == 0 && (strcmp(c->sampler, "poisson") == 0 || strcmp(c->sampler, "fixed") == 0))
        PVT_OK(pv_plan_set(p, "sampler.batch_hessian", "90"));
    const bool listed = strchr(c->clip, ',') != NULL; /* a norm for each layer */
    PVT_OK(pv_plan_set(p, listed ? "model.clips" : "clip", c->clip));
    if (listed && strcmp(c->model, "split-mlp") != 0) PVT_OK(pv_plan_set(p, "model.clipping", "layer"));
    PVT_OK(pv_plan_set(p, "set", c->set));
    PVT_OK(pv_plan_set(p, "run.seed", "42"));
    if (c->share) PVT_OK(pv_plan_set(p, "optimizer.share", c->share));
    const bool blocks = strcmp(c->model, "split-mlp") == 0; /* dense layers and relu only */
    if (c->network)
        PVT_OK(pv_plan_set(p, "model.layers",
                           blocks ? "conv2x3same,relu,dense5,relu,dense"
                                  : "conv3x3same,groupnorm1,relu,pool1,dense5,tanh,dense"));
    if (strcmp(c->model, "cnn") == 0) { /* the other networks show a row as it is */
        PVT_OK(pv_plan_set(p, "model.augment", "3"));
        PVT_OK(pv_plan_set(p, "model.flip", "yes"));
    }
    /* noise that changes: within epochs where samples are drawn, which those of cyclic batches are not */
    const pv_plugin *opt = pv_find(PV_KIND_optimizer, c->optimizer);
    const bool drawn = strcmp(c->sampler, "poisson") == 0 || strcmp(c->sampler, "fixed") == 0;
    if (pvi_param_find(opt->params, "noise")) PVT_OK(pv_plan_set(p, "optimizer.noise", "ramp:3,1,2"));
    if (drawn && pvi_param_find(opt->params, "noise")) PVT_OK(pv_plan_set(p, "optimizer.noise_within", "table:1,2"));
    if (pvi_param_find(opt->params, "schedule")) PVT_OK(pv_plan_set(p, "optimizer.schedule", "inverse-sqrt:9"));
    return p;
}

/* false: the combination is refused, with a reason.  *worst is raised to the largest ratio seen. */
static bool replay(pv_ctx *ctx, const config *c, double *worst)
{
    pvt_table *t = pvt_table_make(N, P, c->classes, 7);
    tape *tp = calloc(1, sizeof *tp);
    pv_result *r = NULL;
    pv_plan *plan = make_plan(ctx, c);
    const bool replace = strcmp(c->relation, "replace") == 0;

    set_special(t, 1, c->classes, c->network);
    if (c->stretched) pvt_table_stretch(t);
    if (c->layout > 0) pvt_table_as_csr(t);
    t->m.domain.max_norm = c->layout == 2;
    if (c->network) t->m.domain.height = P, t->m.domain.width = t->m.domain.channels = 1;
    pv_status s = pvi_run_matrix(plan, &t->m, watch, tp, &r);
    const bool ran = s == PV_OK;
    PVT_CHECK(ran || s == PV_E_UNSUPPORTED || s == PV_E_PARAM, "%s/%s: %s", c->optimizer, c->model,
              pv_ctx_errmsg(ctx));
    pv_result_free(r);
    if (ran) {
        set_special(t, replace ? -1 : 0, c->classes, c->network);
        tp->playing = true;
        tp->at = 0;
        PVT_OK(pvi_run_matrix(plan, &t->m, watch, tp, &r));
        PVT_IS(tp->at, tp->n); /* the same number of releases */
        pv_result_free(r);
        if (tp->worst > *worst) *worst = tp->worst;
    }
    pv_plan_free(plan);
    tape_free(tp);
    pvt_table_free(t);
    return ran;
}

static int64_t model_classes(const char *name)
{
    const pv_loss_ops *l = (const pv_loss_ops *)pv_find(PV_KIND_loss, name);
    if (l) return l->props & PV_CLASSIFY ? 2 : 0;
    return 4;
}

static bool is_network(const char *name)
{
    const pv_model_ops *m = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, name);
    return m && m->open;
}

static int64_t by_layer; /* replays with a clipping norm for each layer */

static int64_t replay_all_clips(pv_ctx *ctx, config *c)
{
    const bool blocks = strcmp(c->model, "split-mlp") == 0;
    const char *const clips[] = { "auto", "0.05", blocks ? "0.01,0.02,0.04" : "0.01,0.02,0.02,0.04" };
    int64_t ran = 0;
    for (int k = 0; k < (c->network ? 3 : 2); k++) {
        double worst = 0.0;
        c->clip = clips[k];
        if (!replay(ctx, c, &worst)) continue;
        ran++;
        by_layer += k == 2;
        /* 0.05 is far below any loss's gradient at the start, so the clip is active.  (The largest entry of a softmax
         * gradient is 0.87 of its length, hence not more for selections.) */
        /* Ball noise moves the weights so far that some rows' losses are flat: only the bound is checked there. */
        /* No row of a network has the opposite gradient of another. */
        /* A joint release has a part for the Hessian that need not be full, second-order steps soon come to where
         * losses are flat, and transformed rows may be short; test_replay_joint.c looks into it. */
        const pv_optimizer_ops *opt =
            (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, c->optimizer);
        /* One layer of a split network may stay below its share of the clip. */
        /* The largest entry is that of one layer, which has a part of the clip. */
        const double least = strcmp(c->model, "split-mlp") == 0                  ? 0.15
                             : k == 2 && opt->ask[0].mech->scores                ? 0.15
                             : c->network && strcmp(c->relation, "replace") == 0 ? 0.2
                             : opt->ask[0].query->parts ? (strcmp(c->optimizer, "gd-sosp") == 0 ? 0.6 : 0.4)
                             : opt->needs & PV_HESSIAN  ? 0.6
                                                        : 0.85;
        if (k >= 1 && strcmp(c->optimizer, "prgd") != 0 && !c->share) /* transformed rows may be short */
            PVT_CHECK(worst > least, "%s/%s/%s/%s: measured only %.3f of the sensitivity", c->optimizer, c->model,
                      c->relation, c->sampler, worst);
    }
    return ran;
}

static bool one_unit(const pv_optimizer_ops *opt)
{
    return opt->ask[0].sampler == &pvi_one;
}

/* Of first-order methods; test_replay_joint.c looks at the others. */
static bool preconditions(const pv_optimizer_ops *opt)
{
    return !(opt->needs & PV_HESSIAN) && pvi_param_find(opt->head.params, "share");
}

static int64_t preconditioned; /* replays of steps on transformed rows, dense ones and sparse ones */
static int64_t fixed_size;     /* replays with samples of a fixed size */

/* Layouts and sets change the sums, samplers the rows: each is varied against the plain case, not against all. */
static int64_t replay_model(pv_ctx *ctx, const pv_optimizer_ops *opt, const char *model)
{
    static const struct {
        const char *sampler, *set;
        int layout;
    } variants[] = { { "full", "none", 0 },   { "full", "l1ball", 0 },  { "full", "none", 1 },
                     { "full", "l1ball", 2 }, { "poisson", "none", 0 }, { "poisson", "l1ball", 1 },
                     { "cyclic", "none", 0 }, { "fixed", "none", 0 },   { "fixed", "l1ball", 1 } };
    static const char *const relations[] = { "zero-out", "replace" };
    int64_t ran = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 9; k++) {
            config c = { .model = model,
                         .optimizer = opt->head.name,
                         .relation = relations[i],
                         .sampler = one_unit(opt) ? "auto" : variants[k].sampler,
                         .set = variants[k].set,
                         .classes = model_classes(model),
                         .network = is_network(model),
                         .steps = one_unit(opt) ? "1500" : "12", /* one row a step: enough to meet the special one */
                         .layout = variants[k].layout,
                         .stretched = (i + k) % 2 }; /* each variant under one relation */
            const int64_t now = replay_all_clips(ctx, &c);
            fixed_size += strcmp(c.sampler, "fixed") == 0 ? now : 0;
            ran += now;
            for (c.layout = 0; preconditions(opt) && strcmp(c.set, "none") == 0 && c.layout < 2; c.layout++) {
                c.share = "0.25";
                preconditioned += replay_all_clips(ctx, &c);
            }
        }
    return ran;
}

static void every_optimizer_and_loss(void **state)
{
    (void)state;
    pv_ctx *ctx;
    const pv_plugin *opt, *m;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pvi_set_threads(ctx, 2));
    for (int64_t i = 0; (opt = pv_nth(PV_KIND_optimizer, i)); i++) {
        int64_t ran = 0;
        for (int64_t k = 0; (m = pv_nth(PV_KIND_loss, k)); k++)
            ran += replay_model(ctx, (const pv_optimizer_ops *)(const void *)opt, m->name);
        for (int64_t k = 0; (m = pv_nth(PV_KIND_model, k)); k++)
            if (strcmp(m->name, "glm") != 0)
                ran += replay_model(ctx, (const pv_optimizer_ops *)(const void *)opt, m->name);
        print_message("%s: %lld configurations replayed\n", opt->name, (long long)ran);
        PVT_CHECK(ran > 0, "%s: no configuration runs", opt->name);
    }
    every_legal_triple_was_met();
    print_message("samples of a fixed size: %lld configurations replayed\n", (long long)fixed_size);
    print_message("preconditioned steps: %lld configurations replayed\n", (long long)preconditioned);
    print_message("norms of layers: %lld configurations replayed\n", (long long)by_layer);
    PVT_TRUE(fixed_size > 50 && preconditioned > 100 && by_layer > 50);
    pv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(every_optimizer_and_loss) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
