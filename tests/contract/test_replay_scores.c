/* test_replay_scores.c - neighbour replay of an evaluation: tables that differ in one row, or in all rows of one
 * person.
 *
 * The counts before noise must lie within the declared sensitivity, and reach it: of a row in one cell of each table
 * that is left out (query_scores.c (1)), or becomes one of two other cells (2).  Persons have up to K rows, which all
 * fall together, and become one row elsewhere.  Then the counts themselves, added up here from scores that the model
 * gives row by row; and certificates that say something else. */
#include "pvtable.h"
#include "replaytape.h"

enum { UNITS = 300, P = 7, K = 5, MOST_WEIGHTS = 400 };

typedef struct config {
    const char *model, *relation;
    int64_t classes, special;
    bool csr, network, persons;
    int threads, rows; /* rows of the person in the other table */
} config;

static double weights[MOST_WEIGHTS];

/* side 1 and -1: one end of the scores and the other, with another label; 0: rows that add nothing. */
static pvt_table *make(const config *c, int side, int64_t rows)
{
    pvt_table *t = pvt_table_make((int64_t)UNITS * K, P, c->classes, 7);
    int64_t *start = malloc(sizeof *start * (UNITS + 1)), n = 0;
    for (int64_t u = 0; u < UNITS; u++) {
        const int64_t size = !c->persons ? 1 : u == c->special ? rows : 1 + u * 3 % K;
        start[u] = n;
        for (int64_t r = 0; r < size; r++, n++) {
            memmove(t->x + n * P, t->x + (u * K + r) * P, P * sizeof *t->x);
            t->y[n] = t->y[u * K + r];
            t->norm[n] = t->norm[u * K + r];
            if (u != c->special) continue;
            const double x[P] = { 0.99999 * (side ? side : 1) };
            pvt_set_row(t, n, x, side == 0 ? NAN : c->classes == 2 ? side : side > 0 ? 0 : 1);
            if (side == 0 && !c->network) t->norm[n] = -1.0f;
        }
    }
    start[UNITS] = n;
    t->m.domain.n = n;
    if (c->csr) pvt_table_as_csr(t);
    t->m.stored = n;
    t->m.domain.n = UNITS;
    t->m.start = c->persons ? start : NULL;
    if (c->persons) t->m.domain.unit_rows = K;
    else free(start);
    if (c->network) t->m.domain.height = P, t->m.domain.width = t->m.domain.channels = 1;
    return t;
}

static pv_plan *make_plan(pv_ctx *ctx, const config *c)
{
    static const char *const fixed[][2] = { { "budget.noise_multiplier", "1.5" },
                                            { "budget.epsilon", "1e6" },
                                            { "run.seed", "42" } };
    pv_plan *p;
    uint64_t seed = 5;
    PVT_OK(pv_plan_create(ctx, &p));
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) PVT_OK(pv_plan_set(p, fixed[i][0], fixed[i][1]));
    PVT_OK(pv_plan_set(p, "model", c->model));
    PVT_OK(pv_plan_set(p, "budget.relation", c->relation));
    PVT_OK(pv_plan_set(p, "optimizer", "evaluation"));
    if (c->persons) PVT_OK(pv_plan_set(p, "data.person_rows", "5"));
    if (c->network) PVT_OK(pv_plan_set(p, "model.layers", "dense5,tanh,dense"));
    for (int k = 0; k < MOST_WEIGHTS; k++) weights[k] = 3.0 * pvt_normal(&seed);
    p->given = weights;
    return p;
}

static void run(pv_plan *plan, pvt_table *t, tape *tp)
{
    pv_result *r;
    const pv_status s = pvi_run_matrix(plan, &t->m, tape_watch, tp, &r);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(plan->ctx));
    PVT_TRUE(r->released && r->cert.n_kinds == 1 && r->cert.kinds[0].counts == r->released);
    pv_result_free(r);
    free(t->m.start);
    pvt_table_free(t);
}

static double replay(pv_ctx *ctx, const config *c)
{
    tape *tp = calloc(1, sizeof *tp);
    pv_plan *plan = make_plan(ctx, c);
    const bool replace = strcmp(c->relation, "replace") == 0;
    PVT_OK(pvi_set_threads(ctx, c->threads));
    run(plan, make(c, 1, K), tp);
    tp->playing = true;
    run(plan, make(c, replace ? -1 : 0, c->rows), tp);
    PVT_IS(tp->n, 1);
    PVT_IS(tp->at, 1);
    const double worst = tp->worst;
    tape_free(tp);
    pv_plan_free(plan);
    return worst;
}

static void every_model(void **state)
{
    static const struct {
        const char *model;
        int64_t classes;
        bool network;
    } models[] = { { "logistic", 2, false },
                   { "hinge", 2, false },
                   { "softmax", 4, false },
                   { "mlp", 4, true },
                   { "mlp", 2, true } };
    static const int64_t special[] = { 0, 127, 128, UNITS - 1 };
    (void)state;
    pv_ctx *ctx;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (int how = 0; how < 8; how++) {
            config c = { .model = models[m].model, .classes = models[m].classes, .network = models[m].network };
            c.csr = how & 1;
            c.persons = how & 2;
            c.relation = how & 4 ? "replace" : "zero-out";
            c.threads = 1 + how % 3;
            c.special = special[(how + (int)m) % 4];
            c.rows = how & 4 ? 1 : K;
            const double worst = replay(ctx, &c); /* the tape has seen that it is at most 1 */
            const bool moves =
                !(how & 4) || models[m].classes == 2 || !models[m].network; /* else the score may stay */
            PVT_CHECK(worst <= 1.0 && worst > (moves ? 0.999 : 0.5), "%s/%s%s%s: measured %.4f", c.model, c.relation,
                      c.csr ? "/csr" : "", c.persons ? "/persons" : "", worst);
        }
    pv_ctx_free(ctx);
}

/* ---- the counts ---------------------------------------------------------------------------------- */

static int64_t *counted;
static void keep(void *user, const pvi_seen *r, double *value)
{
    if (value) return;
    *(double *)user = r->release->noise.spacing;
    counted = tape_copy(r->sum, sizeof *counted * (size_t)r->n);
}

static void counts_are_those_of_the_rows(void **state)
{
    (void)state;
    const config c = { .model = "logistic", .relation = "zero-out", .classes = 2, .special = -1, .threads = 2 };
    double spacing, *want;
    pv_ctx *ctx;
    pv_result *r;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    pv_plan *plan = make_plan(ctx, &c);
    pvt_table *t = make(&c, 1, 1);
    PVT_OK(pvi_run_matrix(plan, &t->m, keep, &spacing, &r));
    const pvi_score_shape of = pvi_score_found(r->cert.kinds[0].n_counts);
    PVT_IS(of.classes, 2);
    want = calloc((size_t)of.cells, sizeof *want);
    for (int64_t i = 0; i < UNITS; i++) {
        const double gain = fmin(1.0, t->m.domain.row_norm / (double)t->norm[i]);
        double m = 0.0;
        for (int64_t j = 0; j < P; j++) m += gain * (double)t->x[i * P + j] * weights[j];
        const int64_t y = t->y[i] > 0.0f;
        int64_t bin = (int64_t)floor((m + 5.0) / (10.0 / (double)of.bins));
        bin = bin < 0 ? 0 : bin >= of.bins ? of.bins - 1 : bin;
        want[2 * y + (m > 0.0)]++;
        want[4 + y * of.bins + bin]++;
    }
    double off = 0.0, sums[2] = { 0 };
    for (int64_t k = 0; k < of.cells; k++) {
        off += fabs((double)counted[k] * spacing - want[k]); /* scores here are doubles: a row may be next door */
        sums[k >= 4] += (double)counted[k] * spacing;
    }
    PVT_CHECK(off <= 4.0, "%g away", off);
    PVT_TRUE(sums[0] == UNITS && sums[1] == UNITS);
    free(want), free(counted);
    pv_result_free(r);
    free(t->m.start);
    pvt_table_free(t);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
}

/* ---- the certificate ----------------------------------------------------------------------------- */

static void refused(pv_ctx *ctx, const pvi_cert *c, const char *why)
{
    const pv_status s = pvi_cert_verify(ctx, "c", c);
    PVT_CHECK(s == PV_E_VERIFY && strstr(pv_ctx_errmsg(ctx), why), "%d, %s, wanted: %s", (int)s, pv_ctx_errmsg(ctx),
              why);
}

static void what_is_not_so_does_not_hold(void **state)
{
    (void)state;
    const config c = { .model = "logistic", .relation = "zero-out", .classes = 2, .special = -1, .threads = 1 };
    int64_t counts[1024];
    const char *kept[32];
    char other[65];
    pv_ctx *ctx;
    pv_result *r;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    pv_plan *plan = make_plan(ctx, &c);
    PVT_OK(pv_plan_set(plan, "run.seed", "auto"));
    pvt_table *t = make(&c, 1, 1);
    PVT_OK(pvi_run_matrix(plan, &t->m, NULL, NULL, &r));
    PVT_OK(pvi_cert_verify(ctx, "c", &r->cert));
    pvi_cert x = r->cert;
    memcpy(counts, r->released, sizeof *counts * (size_t)x.kinds[0].n_counts);
    x.kinds[0].counts = counts;
    counts[3] = 100000;
    refused(ctx, &x, "further from any true one");
    counts[3] = INT64_MIN;
    refused(ctx, &x, "further from any true one");
    x = r->cert;
    x.kinds[0].n_counts--;
    refused(ctx, &x, "not as many as it has");
    x = r->cert; /* as if a unit counted in one table only: less noise for the same multiplier */
    x.clip_norm = x.clip_gradient = 1.0;
    x.replace_change = sqrt(2.0);
    x.sensitivity = 1.0 + x.rounding_allowance;
    x.noise_stddev = x.noise_multiplier * x.sensitivity;
    refused(ctx, &x, "counts once in each of the two tables");
    x = r->cert;
    memset(other, 'a', 64), other[64] = 0;
    x.weights_digest = other;
    refused(ctx, &x, "optimizer.start");
    x = r->cert;
    x.n_assumptions = 0;
    for (int64_t i = 0; i < r->cert.n_assumptions; i++)
        if (strcmp(r->cert.assumptions[i], pvi_scores_caveat) != 0) kept[x.n_assumptions++] = r->cert.assumptions[i];
    x.assumptions = kept;
    PVT_IS(x.n_assumptions, r->cert.n_assumptions - 1);
    refused(ctx, &x, "optimizer.start");
    pv_result_free(r);
    free(t->m.start);
    pvt_table_free(t);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
}

/* How many counts there are says what they are. */
static void shapes(void **state)
{
    (void)state;
    for (int64_t k = 2; k <= PVI_SCORE_CLASSES; k++)
        for (double n = 1; n < 1e9; n *= 7)
            for (double mu = 1e-4; mu < 1e9; mu *= 11) {
                const pvi_score_shape s = pvi_score_planned(k, n, mu), found = pvi_score_found(s.cells);
                PVT_TRUE(found.classes == k && found.bins == s.bins && found.cells == s.cells && s.bins % 10 == 0);
                PVT_TRUE(s.bins <= PVI_SCORE_BINS_MOST && s.cells <= PVI_PERSON_ROWS_MOST);
            }
    PVT_IS(pvi_score_found(5).classes, 0);
    PVT_IS(pvi_score_planned(2, 1e9, INFINITY).bins, PVI_SCORE_BINS_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_model), cmocka_unit_test(counts_are_those_of_the_rows),
                                        cmocka_unit_test(what_is_not_so_does_not_hold), cmocka_unit_test(shapes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
