/* test_hidden_sbcd.c - the last iterate of block coordinate descent: the bound against an evaluation of the theorem
 * with 50 digits, against pairs of Gaussians whose divergence is known, and its gates. */
#include "acct/acct.h"
#include "alloctest.h"

#include "reference/hidden_sbcd_vectors.h"

static pv_ctx *ctx;

static int setup(void **state)
{
    (void)state;
    return pv_ctx_create(NULL, &ctx) != PV_OK;
}

static int teardown(void **state)
{
    (void)state;
    pv_ctx_free(ctx);
    return 0;
}

static pvi_hidden_sbcd open_gates(int64_t J, int64_t K, const double *z, double step, double smooth, double shrink)
{
    return (pvi_hidden_sbcd) { J, K, z, step, smooth, shrink, true, true, true, true, 0.0 };
}

static double rate_of(const pvi_hidden_sbcd *h)
{
    double rate;
    PVT_OK(pvi_hidden_sbcd_rate(ctx, h, &rate));
    return rate;
}

static void equals_the_theorem(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const pvi_hidden_sbcd h = open_gates(vectors[i].batches, vectors[i].epochs, vectors[i].z, vectors[i].step,
                                             vectors[i].smooth, vectors[i].shrink);
        PVT_REL(rate_of(&h), vectors[i].rate, 1e-9);
    }
}

/* F the identity, T a scaling by t, a row that moves its batch's step by s: all iterates are Gaussian, and the
 * divergence of order a is a m^2/(2 v) with m the distance of the means, v the variance. */
static double exact(int64_t J, int64_t K, const double *z, double t, int64_t j0)
{
    double m = 0, v = 0;
    for (int64_t k = 0; k < K; k++)
        for (int64_t j = 0; j < J; j++) {
            m = t * (m + (j == j0 ? 1 : 0));
            v = t * t * (v + z[k] * z[k]);
        }
    return m * m / (2 * v);
}

static void bounds_gaussians_tightly(void **state)
{
    (void)state;
    static const double z[] = { 2, 1.5, 1.2, 1 };
    for (int64_t K = 1; K <= 4; K++)
        for (int64_t J = 1; J <= 6; J++)
            for (double lambda = 0; lambda < 9; lambda += 4) {
                const pvi_hidden_sbcd h = open_gates(J, K, z, 0.1, 10, lambda);
                const double t = 1 / (1 + 0.1 * lambda), bound = rate_of(&h);
                for (int64_t j0 = 0; j0 < J; j0++) PVT_TRUE(exact(J, K, z, t, j0) <= bound * (1 + 1e-9));
                if (J == 1 && K == 1) PVT_REL(exact(J, K, z, t, 0), bound, 1e-9);
            }
}

/* With one visit (3) is an equality step by step, for any prox; to the printed power it would fall below the
 * truth. */
static void printed_exponent_is_too_strong(void **state)
{
    (void)state;
    const double z[] = { 1.0 }, t = 0.5;
    double inverse = 0, ours = 0, printed = 0;
    for (int64_t j = 0; j < 5; j++) {
        if (j == 1) ours += 0.5, printed += 0.5;
        if (j > 1) {
            ours /= 1 + 1 / inverse;
            printed /= pow(1 + 1 / inverse, 1 / (t * t));
        }
        inverse = t * t * (inverse + 1);
    }
    const double truth = exact(5, 1, z, t, 1);
    PVT_TRUE(ours >= truth * (1 - 1e-12));
    PVT_TRUE(printed < 0.5 * truth);
}

/* Constant noise late and an l2 prox: it converges; noise that keeps shrinking: it grows; composition is never beaten
 * upward. */
static void converges_and_grows(void **state)
{
    (void)state;
    double flat[60], falling[60], last = 0, before = 0;
    for (int k = 0; k < 60; k++) flat[k] = 2, falling[k] = 2 - 0.03 * k;
    for (int64_t K = 40; K <= 60; K += 10) {
        const pvi_hidden_sbcd h = open_gates(5, K, flat, 0.01, 50, 5), g = open_gates(5, K, falling, 0.01, 50, 5);
        if (K > 40) PVT_REL(rate_of(&h), last, 1e-3);
        if (K > 40) PVT_TRUE(rate_of(&g) > 1.2 * before);
        last = rate_of(&h);
        before = rate_of(&g);
        PVT_TRUE(last < 0.25 * (double)K * 0.125);
    }
    PVT_TRUE(pvi_hidden_sbcd_epsilon(last, 1e-6) < 10 && pvi_hidden_sbcd_epsilon(last, 1e-6) > 0.1);
}

/* A step so long that F expands hides nothing: composition, however long the run. */
static void expansion_hides_nothing(void **state)
{
    (void)state;
    double z[200];
    for (int k = 0; k < 200; k++) z[k] = 14;
    const pvi_hidden_sbcd h = open_gates(5, 200, z, 9.6, 801, 0);
    PVT_REL(rate_of(&h), 200 / (2 * 14.0 * 14.0), 1e-6);
    PVT_TRUE(pvi_hidden_sbcd_epsilon(rate_of(&h), 1e-5) > 1);
    double rate;
    const pvi_hidden_sbcd far = open_gates(5, 200, z, 1e60, 801, 0);
    PVT_IS(pvi_hidden_sbcd_rate(ctx, &far, &rate), PV_E_UNSUPPORTED);
}

static void gates_close(void **state)
{
    (void)state;
    const double z[] = { 1, 1 }, none[] = { 1, 0 };
    double rate;
    for (int i = 0; i < 4; i++) {
        pvi_hidden_sbcd h = open_gates(2, 2, z, 0.1, 1, 0);
        *(i == 0 ? &h.fixed_order : i == 1 ? &h.last_iterate_only : i == 2 ? &h.no_momentum : &h.convex) = false;
        PVT_IS(pvi_hidden_sbcd_rate(ctx, &h, &rate), PV_E_UNSUPPORTED);
        PVT_TRUE(rate == INFINITY);
    }
    pvi_hidden_sbcd h = open_gates(2, 2, none, 0.1, 1, 0);
    PVT_IS(pvi_hidden_sbcd_rate(ctx, &h, &rate), PV_E_ARG);
    h = open_gates(2, 2, z, 0.1, INFINITY, 0);
    PVT_IS(pvi_hidden_sbcd_rate(ctx, &h, &rate), PV_E_ARG);
    h = open_gates(2, 2, z, 0.1, 1, -1);
    PVT_IS(pvi_hidden_sbcd_rate(ctx, &h, &rate), PV_E_ARG);
}

/* What is written is what is checked, and nothing else passes. */
/* Refused before the work begins, since a stranger's certificate may ask for it. */
static void too_many_steps_are_refused(void **state)
{
    (void)state;
    enum { K = 512 };
    double z[K], rate;
    for (int k = 0; k < K; k++) z[k] = 10;
    static const int64_t sizes[][2] = { { (1 << 22) + 1, 1 }, { INT64_MAX, 1 }, { 1 << 20, 257 }, { INT64_MAX, K } };
    for (int i = 0; i < 4; i++) {
        const pvi_hidden_sbcd h = open_gates(sizes[i][0], sizes[i][1], z, 0.1, 1, 0);
        PVT_IS(pvi_hidden_sbcd_rate(ctx, &h, &rate), PV_E_UNSUPPORTED);
        PVT_TRUE(rate == INFINITY && strstr(pv_ctx_errmsg(ctx), "too many batches or epochs"));
    }
    const pvi_hidden_sbcd many = open_gates(20000, K, z, 0.1, 1, 0); /* 10^7 steps, 2 10^11 for each row on its own */
    PVT_TRUE(rate_of(&many) > 0);
}

static void statement_is_checked(void **state)
{
    (void)state;
    pv_arena *a = pvi_arena_create(ctx);
    const pv_event *part[2];
    const char *json;
    char wrong[2048];
    double epsilon;
    part[0] = pv_ev_repeat(a, 12, pv_ev_cyclic(a, 4, pv_ev_leaf(a, PV_EV_GAUSSIAN, 3, 0)));
    part[1] = pv_ev_repeat(a, 8, pv_ev_cyclic(a, 4, pv_ev_leaf(a, PV_EV_GAUSSIAN, 2, 0)));
    const pv_event *events = pv_ev_seq(a, 2, part);
    const pvi_hidden_sbcd h = open_gates(0, 0, NULL, 0.01, 50, 1);
    PVT_OK(pvi_hidden_sbcd_write(ctx, a, h, events, 1e-5, &epsilon, &json));
    PVT_OK(pvi_hidden_sbcd_check(ctx, json, events, 1e-5));
    PVT_IS(pvi_hidden_sbcd_check(ctx, json, events, 1e-6), PV_E_VERIFY);
    PVT_IS(pvi_hidden_sbcd_check(ctx, json, part[0], 1e-5), PV_E_VERIFY);
    PVT_IS(pvi_hidden_sbcd_check(ctx, "{}", events, 1e-5), PV_E_ARG);
    snprintf(wrong, sizeof wrong, "%s", json);
    char *digit = strstr(wrong, "\"epsilon\":");
    PVT_TRUE(digit != NULL);
    while (*digit < '1' || *digit > '9') digit++;
    *digit = (char)(*digit - 1);
    PVT_IS(pvi_hidden_sbcd_check(ctx, wrong, events, 1e-5), PV_E_VERIFY);
    const pv_event *poisson = pv_ev_sampled(a, PV_EV_POISSON, 0.1, pv_ev_leaf(a, PV_EV_GAUSSIAN, 3, 0));
    PVT_IS(pvi_hidden_sbcd_write(ctx, a, h, poisson, 1e-5, &epsilon, &json), PV_E_UNSUPPORTED);
    pvi_arena_free(a);
}

/* ---- in a certificate ------------------------------------------------------------------------------------------ */

static pv_arena *arena;

static const pv_event *turns(int64_t times, int64_t parts, double z)
{
    const pv_event *g = pv_ev_leaf(arena, PV_EV_GAUSSIAN, z, 0);
    return pv_ev_repeat(arena, times, parts > 1 ? pv_ev_cyclic(arena, parts, g) : g);
}

static pv_status statement(const pv_event *ev, pvi_hidden_sbcd h, const char **json)
{
    double epsilon;
    return pvi_hidden_sbcd_write(ctx, arena, h, ev, 1e-6, &epsilon, json);
}

static void changed_statements_are_refused(void **state)
{
    (void)state;
    static const char *const change[][2] = {
        { "\"batches\":5", "\"batches\":6" },       { "\"charged\":false", "\"charged\":true" },
        { "DP-SBCD, Theorem", "DP-SBCD, theorem" }, { "\"guarantee\"", "\"warrantee\"" },
        { "\"epochs\":2", "\"epochs\":\"2\"" },     { "\"charged\":false,", "" }
    };
    arena = pvi_arena_create(ctx);
    const pv_event *ev = turns(10, 5, 2);
    const pvi_hidden_sbcd h = open_gates(0, 0, NULL, 0.1, 10, 1);
    const char *json;
    PVT_OK(statement(ev, h, &json));
    PVT_OK(pvi_hidden_sbcd_check(ctx, json, ev, 1e-6));
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        char other[2000];
        const char *at = strstr(json, change[i][0]);
        PVT_CHECK(at != NULL, "%s is not in %s", change[i][0], json);
        snprintf(other, sizeof other, "%.*s%s%s", (int)(at - json), json, change[i][1], at + strlen(change[i][0]));
        PVT_IS(pvi_hidden_sbcd_check(ctx, other, ev, 1e-6), PV_E_VERIFY);
    }
    PVT_IS(pvi_hidden_sbcd_check(ctx, json, ev, 1e-7), PV_E_VERIFY); /* less delta costs more */
    PVT_IS(pvi_hidden_sbcd_check(ctx, "{", ev, 1e-6), PV_E_FORMAT);
    PVT_IS(pvi_hidden_sbcd_check(ctx, "{}", ev, 1e-6), PV_E_ARG);
    PVT_IS(pvi_hidden_sbcd_check(ctx, "{\"step\":\"long\"}", ev, 1e-6), PV_E_ARG);
    char claim[2000];
    const char *at = strstr(json, "\"epsilon\":"), *end = strchr(at, ',');
    snprintf(claim, sizeof claim, "%.*s\"epsilon\":0.001%s", (int)(at - json), json, end);
    PVT_IS(pvi_hidden_sbcd_check(ctx, claim, ev, 1e-6), PV_E_VERIFY);
    pvi_arena_free(arena);
}

static void only_passes_in_order(void **state)
{
    (void)state;
    arena = pvi_arena_create(ctx);
    const pvi_hidden_sbcd h = open_gates(0, 0, NULL, 0.1, 10, 1);
    const char *json;
    const pv_event *const two[] = { turns(10, 5, 2), turns(5, 5, 3) }, *const mixed[] = { turns(10, 5, 2),
                                                                                          turns(4, 4, 2) };
    const pv_event *g = pv_ev_leaf(arena, PV_EV_GAUSSIAN, 2, 0), *lap = pv_ev_leaf(arena, PV_EV_LAPLACE, 2, 0);
    PVT_OK(statement(pv_ev_seq(arena, 2, two), h, &json));
    PVT_OK(statement(turns(7, 1, 2), h, &json));
    PVT_OK(statement(g, h, &json));
    const pv_event *const bad[] = { pv_ev_seq(arena, 2, mixed),
                                    pv_ev_repeat(arena, 2, pv_ev_seq(arena, 2, two)),
                                    pv_ev_repeat(arena, 2, turns(5, 5, 2)),
                                    turns(9, 5, 2),
                                    lap,
                                    turns(200000, 1, 2),
                                    pv_ev_sampled(arena, PV_EV_POISSON, 0.1, g) };
    for (int i = 0; i < 7; i++) PVT_IS(statement(bad[i], h, &json), PV_E_UNSUPPORTED);
    pvi_arena_free(arena);
}

static void constants_are_checked(void **state)
{
    (void)state;
    static const double z[] = { 1, 2 }, zero[] = { 1, 0 }, endless[] = { 1, INFINITY }, tiny[] = { 1e-170, 1e-170 },
                        large[] = { 1e170, 1e170 };
    const pvi_hidden_sbcd bad[] = { open_gates(0, 2, z, 1, 1, 1),        open_gates(1, 0, z, 1, 1, 1),
                                    open_gates(1, 2, z, 0, 1, 1),        open_gates(1, 2, z, 1, 0, 1),
                                    open_gates(1, 2, z, 1, 1, -1),       open_gates(1, 2, NULL, 1, 1, 1),
                                    open_gates(1, 2, zero, 1, 1, 1),     open_gates(1, 2, endless, 1, 1, 1),
                                    open_gates(1, 2, z, INFINITY, 1, 1), open_gates(1, 2, z, 1, INFINITY, 1),
                                    open_gates(1, 2, z, 1, 1, INFINITY) };
    double rate;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) PVT_IS(pvi_hidden_sbcd_rate(ctx, &bad[i], &rate), PV_E_ARG);
    const pvi_hidden_sbcd h = open_gates(1, 2, tiny, 1, 1, 1), loud = open_gates(1, 2, large, 1, 1, 1);
    PVT_IS(pvi_hidden_sbcd_rate(ctx, &h, &rate), PV_E_NUMERIC);
    PVT_IS(pvi_hidden_sbcd_rate(ctx, &loud, &rate), PV_E_NUMERIC);
}

/* ---- memory: the k-th allocation fails, for every k ------------------------------------------------------------ */

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const pv_event g = { .kind = PV_EV_GAUSSIAN, .a = 2 };
    const pvi_hidden_sbcd h = open_gates(0, 0, NULL, 0.1, 10, 1);
    const char *json;
    arena = pvi_arena_create(ctx);
    PVT_OK(statement(&g, h, &json));
    pv_status s = PV_E_NOMEM;
    for (int k = 0; s == PV_E_NOMEM && k < 200; k++) {
        pvt_memory m = { 0 };
        pv_ctx *other = pvt_counted(&m);
        m.left = k;
        s = pvi_hidden_sbcd_check(other, json, &g, 1e-6);
        pv_ctx_free(other);
    }
    PVT_OK(s);
    s = PV_E_NOMEM;
    for (int k = 1; s == PV_E_NOMEM && k < 200; k++) { /* writing alone, in a new arena */
        pvt_memory m = { 0 };
        pv_ctx *other = pvt_counted(&m);
        double epsilon;
        m.left = k;
        pv_arena *own = pvi_arena_create(other);
        if (own) s = pvi_hidden_sbcd_write(other, own, h, &g, 1e-6, &epsilon, &json);
        pvi_arena_free(own);
        pv_ctx_free(other);
    }
    PVT_OK(s);
    pvi_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(changed_statements_are_refused),
                                      cmocka_unit_test(only_passes_in_order),
                                      cmocka_unit_test(constants_are_checked),
                                      cmocka_unit_test(every_allocation_may_fail),
                                      cmocka_unit_test(equals_the_theorem),
                                      cmocka_unit_test(bounds_gaussians_tightly),
                                      cmocka_unit_test(printed_exponent_is_too_strong),
                                      cmocka_unit_test(converges_and_grows),
                                      cmocka_unit_test(expansion_hides_nothing),
                                      cmocka_unit_test(gates_close),
                                      cmocka_unit_test(too_many_steps_are_refused),
                                      cmocka_unit_test(statement_is_checked) };
    return cmocka_run_group_tests(all, setup, teardown);
}
