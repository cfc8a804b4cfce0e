/* test_schedules.c - whole runs with schedules, over every optimiser that has them: the noise of each step is the
 * declared one, the declared ones compose to the cost, certificates hold, and steps are as long as they should be. */
#include "run/run.h"
#include "ctxtest.h"
#include "pvtable.h"

enum { N = 2000, P = 120, T = 24, CLASSES = 2 };

typedef const char *pair[2];

static pv_plan *plan_of(const char *optimizer, const pair *set)
{
    pv_plan *p;
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "optimizer", optimizer));
    if (strcmp(optimizer, "sbcd") == 0) PVT_OK(pv_plan_set(p, "model.layers", "dense4,relu,dense"));
    if (strncmp(optimizer, "fw", 2) == 0) PVT_OK(pv_plan_set(p, "set", "l1ball"));
    for (; set[0][0]; set++)
        PVT_CHECK(pv_plan_set(p, set[0][0], set[0][1]) == PV_OK, "%s=%s: %s", set[0][0], set[0][1],
                  pv_ctx_errmsg(ctx));
    return p;
}

static const pv_optimizer_ops *next_with(const char *key, int64_t *i)
{
    const pv_plugin *h;
    while ((h = pv_nth(PV_KIND_optimizer, (*i)++)))
        if (pvi_param_find(h->params, key)) return (const pv_optimizer_ops *)(const void *)h;
    return NULL;
}

/* ---- noise ----------------------------------------------------------------------------------------------------- */

typedef struct flat {
    double z[T];
    int64_t n;
} flat;

static void flatten(const pv_event *e, flat *f)
{
    if (e->kind == PV_EV_SEQ)
        for (const pv_event *p = e->sub; p; p = p->next) flatten(p, f);
    else if (e->kind == PV_EV_REPEAT)
        for (int64_t i = 0; i < e->n; i++) flatten(e->sub, f);
    else if (e->sub) flatten(e->sub, f);
    else {
        PVT_TRUE(f->n < T);
        f->z[f->n++] = e->kind == PV_EV_SELECT ? 1 / e->a : e->a;
    }
}

typedef struct drawn {
    double spread[T]; /* standard deviation of the noise of each release, measured */
    int64_t n, length;
    int64_t *sum;
} drawn;

static void watch(void *user, const pvi_seen *r, double *value)
{
    drawn *d = user;
    if (r->score) return;
    if (!value) {
        d->sum = malloc(sizeof *d->sum * (size_t)r->n);
        memcpy(d->sum, r->sum, sizeof *d->sum * (size_t)r->n);
        return;
    }
    double square = 0;
    const double unit = r->release->q.ops->value ? 1.0 : r->release->batch; /* a gradient is averaged already */
    for (int64_t k = 0; k < r->n; k++) {
        const double noise = value[k] * unit - (double)d->sum[k] * r->release->noise.spacing;
        square += noise * noise;
    }
    PVT_TRUE(d->n < T);
    d->spread[d->n++] = sqrt(square / (double)r->n);
    d->length = r->n;
    free(d->sum);
}

/* What the settings say of step t, as a variance; an epoch has J steps. */
static double said(const char *noise, const char *within, int64_t t, int64_t J)
{
    const double K = ceil((double)T / (double)J), k = (double)(t / J), j = (double)(t % J);
    double o = 1;
    if (strcmp(noise, "linear:9,1") == 0) o *= K > 1 ? 9 - 8 * k / (K - 1) : 1;
    if (strcmp(noise, "step:exponential:1,16") == 0) o *= pow(16, (double)t / (T - 1));
    if (strcmp(within, "table:1,4,2") == 0) o *= j < 1 ? 1 : j < 2 ? 4 : 2;
    return o;
}

static void check_noise(const pv_optimizer_ops *opt, const char *sampler, const char *noise, const char *within)
{
    const char *name = opt->head.name;
    const bool whole = strcmp(sampler, "full") == 0;
    const int64_t J = whole ? 1 : 4;
    const pair set[] = { { "optimizer.steps", "24" },
                         { "sampler", sampler },
                         { "sampler.batch", whole ? "auto" : "500" },
                         { "budget.epsilon", "1e6" },
                         { "budget.noise_multiplier", "3" },
                         { "accountant", "rdp" },
                         { "optimizer.noise", noise },
                         { "optimizer.noise_within", within },
                         { "run.seed", "11" },
                         { NULL, NULL } };
    pvt_table *t = pvt_table_make(N, P, CLASSES, 5);
    pv_plan *plan = plan_of(name, set);
    pvi_job *job;
    pv_result *r;
    flat f = { .n = 0 };
    drawn d = { .n = 0 };
    const pv_status made = pvi_job_create(plan, &t->m, &job);
    PVT_CHECK(made == PV_OK, "%s, %s, %s, %s: %s", name, sampler, noise, within, pv_ctx_errmsg(ctx));
    flatten(job->events, &f);
    PVT_IS(f.n, T);
    double least = INFINITY;
    for (int64_t i = 0; i < T; i++) least = fmin(least, said(noise, within, i, J));
    for (int64_t i = 0; i < T; i++)
        PVT_REL(f.z[i], job->noise_multiplier * sqrt(said(noise, within, i, J) / least), 1e-9);
    const double sensitivity = job->release[0].noise.sensitivity;
    const pv_status ran = pvi_run_matrix(plan, &t->m, watch, &d, &r);
    PVT_CHECK(ran == PV_OK, "%s: %s", name, pv_ctx_errmsg(ctx)); /* its certificate was verified as well */
    double most = 0;
    for (int64_t i = 0; i < T; i++) most = fmax(most, said(noise, within, i, J));
    PVT_REL(r->cert.noise_multiplier_max, job->noise_multiplier * sqrt(most / least), 1e-9);
    const double tolerance = 5.5 / sqrt(2.0 * (double)d.length);
    for (int64_t i = 0; i < d.n; i++)
        PVT_CHECK(fabs(d.spread[i] / (f.z[i] * sensitivity) - 1) < tolerance,
                  "%s, %s, %s, %s: step %lld has noise %.4g, declared %.4g", name, sampler, noise, within,
                  (long long)i, d.spread[i], f.z[i] * sensitivity);
    PVT_TRUE(opt->ask[0].mech->scores ? d.n == 0 : d.n == T);
    const pv_noise *n = &job->release[0].noise; /* scores are rounded to the grid of the noisiest choice */
    if (opt->ask[0].mech->scores)
        PVT_TRUE(n->change >= n->sensitivity + pvi_select_grid(n->scale * sqrt(most / least)));
    pv_result_free(r);
    pvi_job_free(job);
    pv_plan_free(plan);
    pvt_table_free(t);
}

static void noise_is_the_declared_one(void **state)
{
    (void)state;
    int64_t n = 0;
    const pv_optimizer_ops *opt;
    for (int64_t i = 0; (opt = next_with("noise", &i)); n++) {
        const pvi_release_kind *kind = pvi_kind_of(&opt->ask[0]);
        if (pvi_kind_takes(kind, &pvi_full)) {
            check_noise(opt, "full", "linear:9,1", "constant");
            check_noise(opt, "full", "step:exponential:1,16", "constant");
        }
        if (pvi_kind_takes(kind, &pvi_poisson)) {
            check_noise(opt, "poisson", "linear:9,1", "table:1,4,2");
            check_noise(opt, "poisson", "step:exponential:1,16", "constant");
        }
        if (pvi_kind_takes(kind, &pvi_cyclic)) check_noise(opt, "cyclic", "linear:9,1", "constant");
    }
    PVT_TRUE(n >= 7);
}

/* ---- cost ------------------------------------------------------------------------------------------------------ */

/* Every release on its own, with the noise that the settings say, in a tree of its own. */
static void check_cost(const char *sampler, const char *accountant, const char *noise, const char *within)
{
    const bool whole = strcmp(sampler, "full") == 0;
    const pair set[] = {
        { "optimizer.steps", "24" },        { "sampler", sampler },       { "sampler.batch", whole ? "auto" : "500" },
        { "budget.noise_multiplier", "3" }, { "optimizer.noise", noise }, { "optimizer.noise_within", within },
        { "budget.epsilon", "1e6" },        { "accountant", accountant }, { NULL, NULL }
    };
    pvt_table *t = pvt_table_make(N, 5, CLASSES, 5);
    pv_plan *plan = plan_of("sgd", set);
    pv_arena *a = pvi_arena_create(ctx);
    const pv_event *part[T], *all;
    pvi_job *job;
    pvi_cost cost;
    double least = INFINITY;
    const pv_status made = pvi_job_create(plan, &t->m, &job);
    PVT_CHECK(made == PV_OK, "%s", pv_ctx_errmsg(ctx));
    for (int64_t i = 0; i < T; i++) least = fmin(least, said(noise, within, i, whole ? 1 : 4));
    for (int64_t i = 0; i < T; i++) {
        const double z = 3 * sqrt(said(noise, within, i, whole ? 1 : 4) / least) * (1 + 1e-9);
        part[i] = pv_ev_leaf(a, PV_EV_GAUSSIAN, z, 0);
        if (!whole) part[i] = pv_ev_sampled(a, PV_EV_POISSON, 0.25, part[i]);
    }
    all = pv_ev_seq(a, T, part);
    PVT_OK(pvi_account(ctx, accountant, PV_REL_ZERO_OUT, all, job->prob.delta, &cost));
    PVT_CHECK(job->cost.epsilon >= cost.epsilon && job->cost.epsilon <= cost.epsilon * 1.02,
              "%s, %s, %s, %s: epsilon %.9g, of the steps %.9g", sampler, accountant, noise, within,
              job->cost.epsilon, cost.epsilon);
    pvi_arena_free(a);
    pvi_job_free(job);
    pv_plan_free(plan);
    pvt_table_free(t);
}

static void cost_is_that_of_the_steps(void **state)
{
    (void)state;
    check_cost("full", "gaussian", "linear:9,1", "constant");
    check_cost("full", "zcdp", "step:exponential:1,16", "constant");
    check_cost("poisson", "rdp", "linear:9,1", "table:1,4,2");
    check_cost("poisson", "rdp", "step:exponential:1,16", "constant");
    check_cost("poisson", "pld", "constant", "table:1,4,2");
    check_cost("poisson", "pld", "linear:9,1", "table:1,4,2");
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

static void walk(const char *optimizer, const char *steps, const char *schedule, double *w, int64_t *d)
{
    const bool fw = strncmp(optimizer, "fw", 2) == 0;
    const bool selects = strcmp(optimizer, "fw-l1") == 0;
    const pair set[] = { { "optimizer.steps", steps },
                         { "optimizer.schedule", schedule },
                         { "optimizer.step", fw ? "0.3" : "0.01" },
                         { "optimizer.output", "last" },
                         { "privacy", "off" },
                         { "run.seed", "3" },
                         { NULL, NULL } };
    pvt_table *t = pvt_table_make(N, selects ? 6 : 20, CLASSES, 5);
    pv_plan *plan = plan_of(optimizer, set);
    const pv_optimizer_ops *opt = (const pv_optimizer_ops *)(const void *)pv_find(PV_KIND_optimizer, optimizer);
    if (pvi_param_find(opt->head.params, "momentum")) PVT_OK(pv_plan_set(plan, "optimizer.momentum", "0"));
    if (pvi_kind_takes(pvi_kind_of(&opt->ask[0]), &pvi_full)) PVT_OK(pv_plan_set(plan, "sampler", "full"));
    if (strcmp(optimizer, "prgd") == 0) PVT_OK(pv_plan_set(plan, "budget.relation", "replace"));
    pv_result *r;
    const pv_status s = pvi_run_matrix(plan, &t->m, NULL, NULL, &r);
    PVT_CHECK(s == PV_OK, "%s, %s: %s", optimizer, schedule, pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_weights(r, w, 1000, d));
    pv_result_free(r);
    pv_plan_free(plan);
    pvt_table_free(t);
}

/* A move is in proportion to the length of its step: the sixth of six, where the first five are the same. */
static void steps_are_as_long_as_scheduled(void **state)
{
    (void)state;
    static const struct {
        const char *schedule;
        double length;
    } cases[] = { { "drops:5", 0.1 }, { "drops-by:0.5,5", 0.5 }, { "drops-by:0.5,5,9", 0.5 }, { "drops:9", 1 } };
    const pv_optimizer_ops *opt;
    double before[1000], after[1000], w[1000];
    int64_t n = 0, d;
    for (int64_t i = 0; (opt = next_with("schedule", &i)); n++) {
        const char *name = opt->head.name;
        if (strcmp(name, "gd-sosp") == 0) continue; /* returns one of its iterates, not the last */
        walk(name, "5", "constant", before, &d);
        walk(name, "6", "constant", after, &d);
        for (int k = 0; k < 4; k++) {
            double moved = 0;
            walk(name, "6", cases[k].schedule, w, &d);
            for (int64_t j = 0; j < d; j++) {
                const double full = after[j] - before[j];
                moved = fmax(moved, fabs(full));
                PVT_CHECK(fabs(w[j] - before[j] - cases[k].length * full) <= 1e-9 + 1e-6 * fabs(full),
                          "%s, %s: weight %lld moved by %g, of %g", name, cases[k].schedule, (long long)j,
                          w[j] - before[j], full);
            }
            PVT_CHECK(moved > 1e-6, "%s does not move", name);
        }
    }
    PVT_TRUE(n >= 8);
}

/* ---- averages -------------------------------------------------------------------------------------------------- */

static void averages(void **state)
{
    (void)state;
    static const char *const rules[] = { "average-all", "average", "ema", "last" };
    double each[6][20], w[20];
    for (int64_t k = 0; k < 6; k++) {
        char steps[8];
        int64_t d;
        snprintf(steps, sizeof steps, "%lld", (long long)k + 1);
        walk("sgd", steps, "constant", each[k], &d);
    }
    for (int rule = 0; rule < 4; rule++) {
        const pair set[] = { { "optimizer.steps", "6" },
                             { "optimizer.step", "0.01" },
                             { "optimizer.momentum", "0" },
                             { "privacy", "off" },
                             { "sampler", "full" },
                             { "run.seed", "3" },
                             { "optimizer.output", rules[rule] },
                             { NULL, NULL } };
        pvt_table *t = pvt_table_make(N, 20, CLASSES, 5);
        pv_plan *plan = plan_of("sgd", set);
        pv_result *r;
        int64_t d;
        PVT_OK(pvi_run_matrix(plan, &t->m, NULL, NULL, &r));
        PVT_OK(pv_result_weights(r, w, 20, &d));
        for (int64_t j = 0; j < d; j++) {
            double sum = 0, weight = 0;
            for (int k = 0; k < 6; k++) {
                const double share = rule == 0 ? 1 : rule == 1 ? k >= 3 : rule == 2 ? pow(0.5, 5 - k) : k == 5;
                sum += share * each[k][j];
                weight += share;
            }
            PVT_NEAR(w[j], sum / weight, 1e-9);
        }
        pv_result_free(r);
        pv_plan_free(plan);
        pvt_table_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(noise_is_the_declared_one),
                                      cmocka_unit_test(cost_is_that_of_the_steps),
                                      cmocka_unit_test(steps_are_as_long_as_scheduled), cmocka_unit_test(averages) };
    return cmocka_run_group_tests(all, setup, teardown);
}
