/* test_replay_persons.c - neighbour replay where a unit is a person: tables that differ in all rows of one person.
 *
 * As in test_replay.c, the second run is fed the values that the first one released, and the sums before noise must
 * lie within the declared sensitivity, and close to it where gradients are clipped.  The person has K rows, all as
 * long as allowed and on one side; under zero-out they contribute nothing, under replace they become one row, or K
 * again, of the other side: the number of rows changes, and with it where all rows behind are stored.
 * That the order of rows in a file changes nothing is in unit/data/test_persons.c. */
#include "pvtable.h"
#include "replaytape.h"

enum { PERSONS = 200, P = 7, K = 5 };

typedef struct config {
    const char *model, *optimizer, *sampler, *relation, *clip, *combine, *weight;
    int64_t classes, special; /* the person who changes */
    bool csr, network;
    int threads, rows; /* rows of the person in the other table */
    bool counted;      /* K is not said: persons are counted by their rows first */
    int64_t most;      /* rows of every person, at most; 0: K */
} config;

static int64_t size_of(int64_t person)
{
    return 1 + person * 3 % K;
}

/* side 1 and -1: rows at the border; 0: rows that add nothing. */
static pvt_table *make(const config *c, int side, int64_t rows)
{
    pvt_table *t = pvt_table_make((int64_t)PERSONS * K, P, c->classes, 7);
    int64_t *start = malloc(sizeof *start * (PERSONS + 1)), n = 0;
    for (int64_t u = 0; u < PERSONS; u++) {
        const int64_t own = u == c->special ? rows : size_of(u), size = c->most && own > c->most ? c->most : own;
        start[u] = n;
        for (int64_t r = 0; r < size; r++, n++) {
            memmove(t->x + n * P, t->x + (u * K + r) * P, P * sizeof *t->x);
            t->y[n] = t->y[u * K + r];
            t->norm[n] = t->norm[u * K + r];
            if (u != c->special) continue;
            const double x[P] = { 0.99999 * (side ? side : 1) };
            const double y = c->classes == 2 ? 1.0 : c->classes > 2 ? (c->network && side < 0 ? 1.0 : 0.0) : 2.0;
            pvt_set_row(t, n, x, c->network && side == 0 ? NAN : y); /* without a label it has no gradient there */
            if (side == 0 && !c->network) t->norm[n] = -1.0f;
        }
    }
    start[PERSONS] = n;
    t->m.domain.n = n;
    if (c->csr) pvt_table_as_csr(t);
    t->m.start = start;
    t->m.stored = n;
    t->m.domain.n = PERSONS;
    t->m.domain.unit_rows = K;
    t->m.cap_open = c->counted;
    if (c->network) t->m.domain.height = P, t->m.domain.width = t->m.domain.channels = 1;
    return t;
}

/* The first of releases that were counted says that nobody has more than three rows, so that K becomes 3. */
static double counted; /* how far the histogram moved, of what is declared */
static void watch(void *user, const pvi_seen *r, double *value)
{
    tape *tp = user;
    const bool stage = r->release->kind->stage;
    if (stage && value && !tp->playing)
        for (int64_t k = 0; k < r->n; k++) value[k] = k == 2;
    if (stage && !value && tp->playing) counted = tape_distance(tp, r) / r->release->noise.change;
    tape_watch(user, r, value);
}

static void run(pv_plan *plan, pvt_table *t, pvi_tap tap, tape *tp)
{
    pv_result *r;
    const bool open = t->m.cap_open;
    const pv_status s = pvi_run_matrix(plan, &t->m, tap, tp, &r);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(plan->ctx));
    if (open) PVT_IS(r->cert.unit_rows, 3);
    pv_result_free(r);
    free(t->m.start);
    pvt_table_free(t);
}

static pv_plan *make_plan(pv_ctx *ctx, const config *c)
{
    static const char *const fixed[][2] = { { "budget.noise_multiplier", "1.5" }, { "accountant", "rdp" },
                                            { "budget.epsilon", "1e6" },          { "optimizer.steps", "6" },
                                            { "data.person_rows", "5" },          { "run.seed", "42" } };
    pv_plan *p;
    PVT_OK(pv_plan_create(ctx, &p));
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) PVT_OK(pv_plan_set(p, fixed[i][0], fixed[i][1]));
    PVT_OK(pv_plan_set(p, "model", c->model));
    PVT_OK(pv_plan_set(p, "optimizer", c->optimizer));
    PVT_OK(pv_plan_set(p, "budget.relation", c->relation));
    PVT_OK(pv_plan_set(p, "clip", c->clip));
    PVT_OK(pv_plan_set(p, "unit.combine", c->combine));
    PVT_OK(pv_plan_set(p, "unit.weight", c->weight));
    PVT_OK(pv_plan_set(p, "sampler", c->sampler));
    if (strcmp(c->sampler, "full") != 0) PVT_OK(pv_plan_set(p, "sampler.batch", "80"));
    if (c->network) PVT_OK(pv_plan_set(p, "model.layers", "dense5,tanh,dense"));
    if (c->counted) PVT_OK(pv_plan_set(p, "budget.epsilon", "500"));
    if (c->counted) PVT_OK(pv_plan_set(p, "data.person_rows_share", "0.1"));
    return p;
}

static double replay(pv_ctx *ctx, const config *c)
{
    tape *tp = calloc(1, sizeof *tp);
    pv_plan *plan = make_plan(ctx, c);
    const bool replace = strcmp(c->relation, "replace") == 0;
    PVT_OK(pvi_set_threads(ctx, c->threads));
    run(plan, make(c, 1, K), watch, tp);
    tp->playing = true;
    run(plan, make(c, replace ? -1 : 0, c->rows), watch, tp);
    PVT_IS(tp->at, tp->n);
    const double worst = tp->worst;
    tape_free(tp);
    pv_plan_free(plan);
    return worst;
}

/* Of a person who has K rows, and then one: the histogram moves as far as it may under replace, and what is computed
 * with the K that it chose stays within the bounds that were planned before. */
static void rows_are_counted(void **state)
{
    static const char *const samplers[] = { "full", "poisson", "fixed", "cyclic" };
    (void)state;
    pv_ctx *ctx;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (int s = 0; s < 4; s++)
        for (int how = 0; how < 4; how++)
            for (int replace = 0; replace < 2; replace++) {
                config c = { .model = s == 1 ? "softmax" : "logistic", .classes = s == 1 ? 4 : 2, .clip = "0.05" };
                if (s == 2 && !replace) continue;
                c.optimizer = s == 1 ? "adam" : "sgd";
                c.sampler = samplers[s];
                c.relation = replace ? "replace" : "zero-out";
                c.combine = how & 1 ? "sum" : "mean";
                c.weight = how & 2 ? "rows" : "one";
                c.csr = how == 3;
                c.threads = 1 + how % 2;
                c.special = 63;
                c.rows = replace ? 1 : K; /* who adds nothing falls into no bin either: test_histogram.c */
                c.counted = true;
                counted = 0.0;
                const double worst = replay(ctx, &c);
                PVT_CHECK(replace ? counted > 0.999 : counted <= 1.0, "%s: histogram measured %.3f", c.sampler,
                          counted);
                PVT_TRUE(worst > 0.3 || s == 3);
            }
    pv_ctx_free(ctx);
}

/* The sums of a run that chose K = 3 are those on a table where nobody has more: the first rows, and no others. */
static void match(void *user, const pvi_seen *r, double *value)
{
    tape *tp = user;
    if (!tp->playing || value) {
        watch(user, r, value);
        return;
    }
    PVT_IS(r->n, tp->length[tp->at]);
    for (int64_t k = 0; k < r->n && !r->release->kind->stage; k++) PVT_IS(r->sum[k], tp->sums[tp->at][k]);
}

static void the_first_rows_count(void **state)
{
    static const char *const models[] = { "logistic", "softmax", "mlp" };
    (void)state;
    pv_ctx *ctx;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (int i = 0; i < 3 * 4 * 2; i++) {
        config c = { .model = models[i % 3], .classes = i % 3 ? 4 : 2, .clip = "0.05", .network = i % 3 == 2 };
        c.optimizer = "sgd";
        c.sampler = i / 3 % 2 ? "poisson" : "full";
        c.relation = "zero-out";
        c.combine = i / 6 % 2 ? "sum" : "mean";
        c.weight = i / 12 ? "rows" : "one";
        c.csr = i / 3 == 1 && !c.network;
        c.special = 5;
        c.counted = true;
        tape *tp = calloc(1, sizeof *tp);
        pv_plan *plan = make_plan(ctx, &c);
        run(plan, make(&c, 1, K), match, tp);
        tp->playing = true;
        c.most = 3;
        run(plan, make(&c, 1, K), match, tp);
        PVT_IS(tp->at, tp->n);
        tape_free(tp);
        pv_plan_free(plan);
    }
    pv_ctx_free(ctx);
}

/* Persons in the middle of a group, at its borders, and the last one. */
static int64_t replay_model(pv_ctx *ctx, config c)
{
    static const char *const samplers[] = { "full", "poisson", "fixed", "cyclic" }, *const relations[] = {
        "zero-out", "replace"
    };
    static const int64_t special[] = { 30, 63, 64, PERSONS - 1 };
    int64_t ran = 0;
    for (int s = 0; s < 4; s++)
        for (int r = 0; r < 2; r++)
            for (int k = 0; k < 3; k++) { /* clipped not at all; clipped; clipped in the other lines of units.c (2) */
                const int how = k == 2 ? 1 + (int)(ran / 3 + c.csr) % 3 : k == 0 ? s & 1 : 0;
                if (s == 2 && r == 0) continue; /* samples of a fixed size have a proof under replace alone */
                c.sampler = samplers[s];
                c.relation = relations[r];
                c.clip = k ? "0.05" : "auto";
                c.optimizer = s == 1 ? "adam" : s == 0 && !c.network ? "pgd" : "sgd";
                c.special = special[(s + r + k) % 4];
                c.rows = (s + k) % 2 ? 1 : K;
                c.combine = how & 1 ? "sum" : "mean";
                c.weight = how & 2 ? "rows" : "one";
                c.threads = 1 + (s + r) % 3;
                const double worst = replay(ctx, &c);
                ran++;
                /* cyclic batches of six steps may not hold the person; a network has no opposite gradient; a person
                 * of one row counts little by rows */
                const bool little = how & 2 && r && c.rows == 1;
                if (k && s != 3 && !(c.network && r) && !little)
                    PVT_CHECK(worst > 0.85, "%s/%s/%s/%s/%s: measured only %.3f", c.model, c.sampler, c.relation,
                              c.combine, c.weight, worst);
            }
    return ran;
}

static void every_model_of_units(void **state)
{
    (void)state;
    pv_ctx *ctx;
    const pv_plugin *h;
    int64_t ran = 0;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (int csr = 0; csr < 2; csr++) {
        for (int64_t i = 0; (h = pv_nth(PV_KIND_loss, i)); i++) {
            const bool two = ((const pv_loss_ops *)(const void *)h)->props & PV_CLASSIFY;
            ran += replay_model(ctx, (config) { .model = h->name, .classes = two ? 2 : 0, .csr = csr });
        }
        for (int64_t i = 0; (h = pv_nth(PV_KIND_model, i)); i++) {
            const pv_model_ops *m = (const pv_model_ops *)(const void *)h;
            if (!(m->props & PV_UNITS) || m->props & PV_OF_LOSSES) continue;
            ran += replay_model(ctx, (config) { .model = h->name, .classes = 4, .csr = csr, .network = m->open });
        }
    }
    print_message("%lld replays of tables that differ in one person\n", (long long)ran);
    PVT_TRUE(ran > 0);
    pv_ctx_free(ctx);
}

/* What has no proof for persons is refused, in a line that says what does. */
static void the_rest_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *model, *optimizer, *more, *value, *says;
    } cases[] = {
        { "mlp", "tr", "run.seed", "1", "optimizer=tr needs" },
        { "logistic", "prgd", "budget.relation", "replace", "has no proof for persons of several rows" },
        { "logistic", "output-perturbation", "reg", "l2", "has no proof for persons of several rows" },
        { "split-mlp", "sbcd", "run.seed", "1", "does not take persons of several rows: these do: " },
        { "logistic", "pgd", "run.diagnostics", "yes", "run.diagnostics measures rows" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const config c = { .classes = strstr(cases[i].model, "mlp") ? 4 : 2, .special = 3 };
        pvt_table *t = make(&c, 1, K);
        pv_ctx *ctx;
        pv_plan *p;
        pv_result *r;
        PVT_OK(pv_ctx_create(NULL, &ctx));
        PVT_OK(pv_plan_create(ctx, &p));
        PVT_OK(pv_plan_set(p, "model", cases[i].model));
        PVT_OK(pv_plan_set(p, "optimizer", cases[i].optimizer));
        PVT_OK(pv_plan_set(p, cases[i].more, cases[i].value));
        const pv_status s = pvi_run_matrix(p, &t->m, NULL, NULL, &r);
        PVT_CHECK(s == PV_E_UNSUPPORTED && strstr(pv_ctx_errmsg(ctx), cases[i].says), "%s: %d, %s",
                  cases[i].optimizer, (int)s, pv_ctx_errmsg(ctx));
        pv_plan_free(p);
        pv_ctx_free(ctx);
        free(t->m.start);
        pvt_table_free(t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_model_of_units), cmocka_unit_test(rows_are_counted),
                                        cmocka_unit_test(the_first_rows_count),
                                        cmocka_unit_test(the_rest_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
