/* test_descent.c - what query_descent.c and glm_double.c promise: output perturbation.
 *
 * The query's answer is no sum of units, so test_queries.c does not see it; test_replay.c runs it as all others.
 *   computed gradients are within e of those in long double, for rows of any size, wherever the weights are
 *   one row never moves what is released further than declared, on tables made to move it far, and nearly so far on
 *   some
 *   what is answered is the minimiser, in units of weights, with the same bits on any number of threads
 *   where the proof does not hold, the run is refused */
#include "plug.h"
#include "pvtable.h"
#include "run/run.h"

enum { P = 5, SPECIAL = 3 };

/* ---- gradients in double ------------------------------------------------------------------------------------- */

static long double slope_of(const char *loss, long double m)
{
    const long double h = 0.5L, a = fminl(fmaxl((1 + h - m) / h, 0), 2);
    if (strcmp(loss, "logistic") == 0) return -1 / (1 + expl(m));
    if (strcmp(loss, "hinge") == 0) return -a * a * (3 - a) / 4;
    if (strcmp(loss, "huber") == 0) return fminl(fmaxl(m, -1), 1);
    PVT_TRUE(strcmp(loss, "squared") == 0);
    return m;
}

static void exact_mean(const pvt_table *t, const pvi_glm_double *at, const double *w, long double *g)
{
    const pv_rows rows = pvi_matrix_rows(&t->m, 0, t->m.domain.n);
    const bool margin = at->cfg->loss->props & PV_MARGIN;
    for (int64_t i = 0; i < t->m.domain.n; i++) {
        const long double s = (long double)pvi_gain(&rows, t->norm[i]), y = (long double)t->y[i];
        long double dot = 0;
        if (!(t->norm[i] > 0.0f) || isnan(t->y[i])) continue;
        for (int64_t j = 0; j < P; j++) dot += s * (long double)t->x[i * P + j] * (long double)w[j];
        const long double top = (long double)at->clip / (s * (long double)t->norm[i]);
        const long double c = slope_of(at->cfg->loss->head.name, margin ? y * dot : dot - y);
        const long double cut = fminl(fmaxl(c, -top), top) * (margin ? y : 1) * s;
        for (int64_t j = 0; j < P; j++) g[j] += cut * (long double)t->x[i * P + j] / (long double)t->m.domain.n;
    }
}

static double worst_error; /* over e */

static void check_point(const pvt_table *t, const pvi_glm_double *at, double length, uint64_t *seed)
{
    const int64_t n = t->m.domain.n;
    const pv_rows rows = pvi_matrix_rows(&t->m, 0, n);
    double w[P], room[P], norm = 0, away = 0;
    int64_t sum[P] = { 0 };
    long double g[P] = { 0 };
    for (int j = 0; j < P; j++) w[j] = pvt_normal(seed), norm += w[j] * w[j];
    for (int j = 0; j < P; j++) w[j] *= length / sqrt(norm);
    for (int64_t i = 0; i < n; i += GLM_DOUBLE_ROWS)
        pvi_glm_double_add(at, &rows, w, i, n - i < GLM_DOUBLE_ROWS ? n - i : GLM_DOUBLE_ROWS, room, sum);
    exact_mean(t, at, w, g);
    for (int j = 0; j < P; j++) {
        const double diff = (double)((long double)sum[j] * at->grid / n - g[j]);
        away += diff * diff;
    }
    const double e = pvi_glm_double_error(at, &t->m.domain, length * (1 + 1e-12));
    PVT_CHECK(sqrt(away) <= e, "%s: off by %g, at most %g", at->cfg->loss->head.name, sqrt(away), e);
    PVT_TRUE(e <= 1e-12 * (1 + length)); /* far below one row of many */
    worst_error = fmax(worst_error, sqrt(away) / e);
}

static void computed_gradients_are_near_the_exact_ones(void **state)
{
    static const char *const losses[] = { "logistic", "hinge", "huber", "squared" };
    pv_ctx *ctx;
    uint64_t seed = 11;
    (void)state;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    pv_arena *a = pvi_arena_create(ctx);
    for (int k = 0; k < 16; k++) {
        const pv_plugin *head = pv_find(PV_KIND_loss, losses[k % 4]);
        const pvi_glm_cfg cfg = { (const pv_loss_ops *)(const void *)head, plug_cfg(ctx, a, head, NULL, NULL) };
        const bool margin = cfg.loss->props & PV_MARGIN;
        pvt_table *t = pvt_table_make(300, P, margin ? 2 : 0, 3);
        if (k & 4) pvt_table_stretch(t);
        if (k & 8) pvt_table_as_csr(t);
        t->y[7] = NAN;
        t->norm[9] = -1.0f;
        for (int c = 0; c < 2; c++) {
            const pvi_glm_double at = { &cfg, c ? 1.0 : 0.05, margin ? 0.0 : 2.0,
                                        pvi_glm_double_grid(c ? 1.0 : 0.05, 300) };
            for (double length = 1e-3; length < 1e7; length *= 10) check_point(t, &at, length, &seed);
        }
        pvt_table_free(t);
    }
    print_message("largest error of a gradient: %.3g of what is allowed for\n", worst_error);
    PVT_TRUE(worst_error > 1e-4);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
}

/* ---- how far one row moves what is released -------------------------------------------------------------------- */

typedef struct config {
    const char *model, *relation, *passes, *step, *lambda, *clip;
    int64_t n, rest; /* rows; what the others are */
    bool csr;
} config;

enum {
    NOTHING,
    FLAT,
    ALIKE,
    AGAINST,
    RANDOM,
    RESTS
}; /* rows of zeros; far on the right side; as the special one; ... */

static pvt_table *make_table(const config *c, int variant)
{
    const bool real = strcmp(c->model, "huber") == 0 || strcmp(c->model, "squared") == 0;
    pvt_table *t = pvt_table_make(c->n, P, real ? 0 : 2, 5);
    for (int64_t i = 0; i < c->n && c->rest != RANDOM; i++) {
        double x[P] = { 0 };
        if (c->rest == FLAT) x[1] = 1e-6;
        if (c->rest == ALIKE || c->rest == AGAINST) x[0] = c->rest == ALIKE ? 0.99999 : -0.99999;
        pvt_set_row(t, i, x, real ? 2.0 : 1.0);
    }
    double x[P] = { 0.99999 * variant };
    pvt_set_row(t, SPECIAL, x, real ? 2.0 : 1.0);
    if (c->csr) pvt_table_as_csr(t);
    return t;
}

typedef struct tape {
    int64_t sum[P];
    int seen;
    double moved, change;
} tape;

static void watch(void *user, const pvi_seen *r, double *drawn)
{
    tape *t = user;
    double s = 0;
    if (drawn) return;
    for (int64_t j = 0; j < P; j++) {
        const double diff = (double)(r->sum[j] - t->sum[j]) * r->release->noise.spacing;
        s += diff * diff;
        t->sum[j] = r->sum[j];
    }
    if (t->seen++) t->moved = sqrt(s);
    t->change = r->release->noise.change;
}

static pv_plan *make_plan(pv_ctx *ctx, const config *c)
{
    pv_plan *p;
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "optimizer", "output-perturbation"));
    PVT_OK(pv_plan_set(p, "model", c->model));
    PVT_OK(pv_plan_set(p, "budget.relation", c->relation));
    PVT_OK(pv_plan_set(p, "budget.noise_multiplier", "1.5"));
    PVT_OK(pv_plan_set(p, "budget.epsilon", "1e6"));
    PVT_OK(pv_plan_set(p, "optimizer.passes", c->passes));
    PVT_OK(pv_plan_set(p, "optimizer.step", c->step));
    PVT_OK(pv_plan_set(p, "clip", c->clip));
    PVT_OK(pv_plan_set(p, "reg", "l2"));
    PVT_OK(pv_plan_set(p, "reg.lambda", c->lambda));
    PVT_OK(pv_plan_set(p, "run.seed", "42"));
    return p;
}

static double measure(pv_ctx *ctx, const config *c)
{
    tape tp = { .seen = 0 };
    pv_result *r;
    pv_plan *plan = make_plan(ctx, c);
    const bool replace = strcmp(c->relation, "replace") == 0;
    for (int k = 0; k < 2; k++) {
        pvt_table *t = make_table(c, k == 0 ? 1 : replace ? -1 : 0);
        PVT_OK(pvi_run_matrix(plan, &t->m, watch, &tp, &r));
        pv_result_free(r);
        pvt_table_free(t);
    }
    PVT_IS(tp.seen, 2);
    PVT_CHECK(tp.moved <= tp.change,
              "%s, %s, T %s, eta %s, lambda %s, clip %s, n %lld, rest %lld: moved %.9g, at most %.9g", c->model,
              c->relation, c->passes, c->step, c->lambda, c->clip, (long long)c->n, (long long)c->rest, tp.moved,
              tp.change);
    pv_plan_free(plan);
    return tp.moved / tp.change;
}

static void one_row_moves_the_end_no_further_than_declared(void **state)
{
    static const char *const models[] = { "logistic", "hinge", "huber", "squared" };
    static const char *const longest[] = { "8", "1.3333333333333333", "2", "2" }; /* 2/L */
    static const char *const relations[] = { "zero-out", "replace" }, *const passes[] = { "1", "7", "300" };
    static const char *const lambdas[] = { "0", "0.01", "2" }, *const clips[] = { "auto", "0.01" };
    double most[2] = { 0 };
    pv_ctx *ctx;
    (void)state;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pvi_set_threads(ctx, 2));
    for (int k = 0; k < 4 * 2 * 3 * 3 * 2 * RESTS; k++) {
        const int m = k % 4, rel = k / 4 % 2, T = k / 8 % 3, l = k / 24 % 3, cut = k / 72 % 2;
        config c = { models[m],  relations[rel], passes[T],       k / 7 % 2 ? longest[m] : "auto",
                     lambdas[l], clips[cut],     k % 3 ? 120 : 7, k / 144,
                     k / 5 % 2 };
        most[rel] = fmax(most[rel], measure(ctx, &c));
    }
    print_message("furthest moved: %.6f and %.6f of what is declared\n", most[0], most[1]);
    PVT_TRUE(most[0] > 0.999 && most[1] > 0.999); /* or the test could not see a violation */
    pv_ctx_free(ctx);
}

/* ---- the answer ------------------------------------------------------------------------------------------------ */

static void descend(pv_ctx *ctx, int threads, pvt_table *t, double *w)
{
    pv_plan *p;
    pv_result *r;
    PVT_OK(pvi_set_threads(ctx, threads));
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "optimizer", "output-perturbation"));
    PVT_OK(pv_plan_set(p, "privacy", "off"));
    PVT_OK(pv_plan_set(p, "reg", "elastic"));
    PVT_OK(pv_plan_set(p, "reg.lambda", "0.1"));
    PVT_OK(pv_plan_set(p, "reg.l1_ratio", "0.25"));
    PVT_OK(pvi_run_matrix(p, &t->m, NULL, NULL, &r));
    memcpy(w, r->file.w, sizeof *w * P);
    pv_result_free(r);
    pv_plan_free(p);
}

/* At the minimum the gradient of F + (l/2) ||w||^2 is -a sign(w), or within a of 0 where w is. */
static void the_answer_is_the_minimiser(void **state)
{
    const pv_plugin *head = pv_find(PV_KIND_loss, "logistic");
    const pvi_glm_cfg cfg = { (const pv_loss_ops *)(const void *)head, NULL };
    const pvi_glm_double at = { &cfg, 1.0, 0.0, 1.0 };
    pvt_table *t = pvt_table_make(2500, P, 2, 3);
    double one[P], two[P];
    long double g[P] = { 0 };
    pv_ctx *ctx;
    int zeros = 0;
    (void)state;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    descend(ctx, 1, t, one);
    descend(ctx, 2, t, two);
    PVT_TRUE(memcmp(one, two, sizeof one) == 0);
    exact_mean(t, &at, one, g);
    for (int j = 0; j < P; j++) {
        const double slope = (double)g[j] + 0.075 * one[j], a = 0.025;
        zeros += one[j] == 0.0;
        if (one[j] == 0.0) PVT_TRUE(fabs(slope) <= a);
        else PVT_NEAR(slope, one[j] > 0 ? -a : a, 1e-5);
    }
    PVT_TRUE(zeros < P && one[0] > 0.1);
    pvt_table_free(t);
    pv_ctx_free(ctx);
}

/* ---- refusals -------------------------------------------------------------------------------------------------- */

static void what_no_proof_covers_is_refused(void **state)
{
    static const struct {
        const char *key, *value, *says;
        int64_t classes;
    } rows[] = { { "optimizer.step", "8.001", "at most 2/L = 8", 2 },
                 { "model", "sigmoid", "a convex loss", 2 },
                 { "model", "softmax", "a convex and smooth loss of one number", 3 },
                 { "set", "l2ball", "leave the set out", 2 },
                 { "optimizer.start", "random:0.1", "leave optimizer.start out", 2 },
                 { "reg", "nonconvex", "a convex penalty", 2 },
                 { "sampler", "poisson", "leave the sampler out", 2 },
                 { "model", "huber", "declared bounds of the label", 0 } };
    pv_ctx *ctx;
    (void)state;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        pvt_table *t = pvt_table_make(200, P, rows[k].classes, 3);
        pv_plan *p;
        pv_result *r;
        if (rows[k].classes == 0) t->m.domain.y_lo = -INFINITY, t->m.domain.y_hi = INFINITY;
        PVT_OK(pv_plan_create(ctx, &p));
        PVT_OK(pv_plan_set(p, "optimizer", "output-perturbation"));
        PVT_OK(pv_plan_set(p, rows[k].key, rows[k].value));
        const pv_status s = pvi_run_matrix(p, &t->m, NULL, NULL, &r);
        PVT_CHECK(s == PV_E_UNSUPPORTED || s == PV_E_PARAM, "%s=%s was not refused", rows[k].key, rows[k].value);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), rows[k].says), "%s=%s: %s", rows[k].key, rows[k].value,
                  pv_ctx_errmsg(ctx));
        pv_plan_free(p);
        pvt_table_free(t);
    }
    pv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(computed_gradients_are_near_the_exact_ones),
                                      cmocka_unit_test(one_row_moves_the_end_no_further_than_declared),
                                      cmocka_unit_test(the_answer_is_the_minimiser),
                                      cmocka_unit_test(what_no_proof_covers_is_refused) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
