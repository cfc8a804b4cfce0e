/* test_schedule.c - schedules of steps and noise: what each rule gives, what is refused, and that the tree of events
 * names the noise that every step is given. */
#include "opt/schedule.h"
#include "acct/acct.h"
#include "arenatest.h"

static double by_epoch(const char *text, int64_t k, int64_t K)
{
    double o[64];
    PVT_OK(pvi_noise_variances(ctx, text, K, arena, o));
    return o[k];
}

static void variances(void **state)
{
    (void)state;
    PVT_NEAR(by_epoch("constant", 3, 9), 1, 0);
    PVT_NEAR(by_epoch("constant:0.01", 3, 9), 0.01, 0);
    for (int64_t k = 0; k < 9; k++) {
        PVT_NEAR(by_epoch("linear:2,1", k, 9), 2 - (double)k / 8, 1e-12);
        PVT_NEAR(by_epoch("linear:1,5", k, 9), 1 + (double)k / 2, 1e-12);
        PVT_NEAR(by_epoch("ramp:2,1,5", k, 9), k < 5 ? 2 - (double)k / 4 : 1, 1e-12);
        PVT_NEAR(by_epoch("table:3,2,1", k, 9), k < 3 ? 3 - (double)k : 1, 1e-12);
        PVT_NEAR(by_epoch("cosine:4,2", k, 9), 3 + cos(M_PI * (double)k / 8), 1e-12);
        PVT_NEAR(by_epoch("exponential:1,256", k, 9), ldexp(1, (int)k), 1e-9);
    }
    PVT_NEAR(by_epoch("linear:2,1", 0, 1), 1, 0);
    PVT_NEAR(by_epoch("cosine:2,1", 0, 1), 1, 0);
    PVT_NEAR(by_epoch("ramp:2,1,1", 0, 9), 1, 0);
}

static const char *why(const pvi_schedule_cfg *c, const pv_problem *p, int64_t T)
{
    const pv_status s = pvi_schedule_check(c, p, T);
    PVT_CHECK(s == PV_E_PARAM || s == PV_E_UNSUPPORTED, "steps=%s noise=%s within=%s: status %d",
              c->steps ? c->steps : "", c->noise ? c->noise : "", c->within ? c->within : "", (int)s);
    return pv_ctx_errmsg(ctx);
}

static bool refused(const char *message)
{
    return strstr(message, "not a schedule") || strstr(message, ": it is written ");
}

static void refusals(void **state)
{
    (void)state;
    static const char *const bad[] = { "",
                                       "linear",
                                       "linear:1",
                                       "linear:1,2,3",
                                       "linear:1,x",
                                       "constant:",
                                       "ramp:1,2",
                                       "ramp:1,2,0",
                                       "ramp:1,2,1.5",
                                       "table:",
                                       "table:1,",
                                       "table:1,,2",
                                       "linear:inf,1",
                                       "Constant",
                                       "constant:nan",
                                       "step:",
                                       "step:step:constant",
                                       "cosine",
                                       "exponential:1",
                                       "auto",
                                       "constant:1,2" };
    static const char *const low[] = { "constant:0", "linear:1,0", "linear:1,-1",     "ramp:1,0,3",     "table:1,0",
                                       "table:-1",   "cosine:1,0", "exponential:0,1", "step:linear:1,0" };
    static const char *const steps[] = { "",         "inverse:0",    "inverse:-1",   "drops",     "drops:",
                                         "drops:0",  "drops:2,2",    "drops:3,2",    "drops:1.5", "drops-by:2,5",
                                         "cosine:1", "drops-by:0.5", "drops-by:0,5", "Inverse",   "linear:1,2" };
    const pv_problem p = { .ctx = ctx, .n = 100, .batch = 20, .sampling = PV_EV_POISSON };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const pvi_schedule_cfg c = { .noise = bad[i] }, w = { .within = bad[i] };
        PVT_CHECK(refused(why(&c, &p, 20)), "%s: %s", bad[i], pv_ctx_errmsg(ctx));
        PVT_CHECK(refused(why(&w, &p, 20)), "%s: %s", bad[i], pv_ctx_errmsg(ctx));
    }
    for (size_t i = 0; i < sizeof low / sizeof *low; i++) {
        const pvi_schedule_cfg c = { .noise = low[i] };
        PVT_CHECK(strstr(why(&c, &p, 20), "above 0"), "%s: %s", low[i], pv_ctx_errmsg(ctx));
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const pvi_schedule_cfg c = { .steps = steps[i] };
        PVT_CHECK(refused(why(&c, &p, 20)), "%s: %s", steps[i], pv_ctx_errmsg(ctx));
    }
    const pvi_schedule_cfg wide = { .noise = "linear:1e9,1" },
                           product = { .noise = "linear:1e4,1", .within = "table:1e4,1" },
                           both = { .noise = "step:linear:2,1", .within = "linear:2,1" },
                           within = { .within = "linear:2,1" }, by_step = { .noise = "step:linear:2,1" };
    const pv_problem full = { .ctx = ctx, .n = 100, .batch = 100 },
                     cyclic = { .ctx = ctx, .n = 100, .batch = 20, .sampling = PV_EV_CYCLIC };
    PVT_TRUE(strstr(why(&wide, &p, 20), "1e+09 times the least, and may be 1000000 times it at most"));
    PVT_TRUE(strstr(why(&product, &p, 20), "1e+08 times the least"));
    PVT_TRUE(strstr(why(&both, &p, 20), "leave one out"));
    PVT_TRUE(strstr(why(&within, &full, 20), "an epoch of this plan is one step"));
    PVT_TRUE(strstr(why(&within, &cyclic, 20), "always at the same place"));
    PVT_TRUE(strstr(why(&by_step, &cyclic, 20), "always at the same place"));
    PVT_OK(pvi_schedule_check(&by_step, &full, 20));
    char table[8192] = "table:1";
    for (int i = 1; i < 1002; i++) strcat(table, ",1");
    const pvi_schedule_cfg lengthy = { .noise = table };
    PVT_TRUE(strstr(why(&lengthy, &p, 20), "variances above 0, at most 1000 of them"));
}

static void which_rule_is_broken(void **state)
{
    (void)state;
    const pv_problem p = { .ctx = ctx, .n = 100, .batch = 20, .sampling = PV_EV_POISSON };
    const pvi_schedule_cfg falls = { .steps = "drops:3,2" }, other = { .steps = "Inverse" },
                           ramp = { .noise = "step:ramp:1,2,0.5" };
    PVT_TRUE(strstr(why(&falls, &p, 20), "optimizer.schedule=drops:3,2: it is written drops:N1,N2,..., with whole"));
    PVT_TRUE(strstr(why(&other, &p, 20), "inverse-sqrt[:H], linear, cosine, decay, drops:N1,N2,..., drops-by:F,N1"));
    PVT_TRUE(strstr(why(&ramp, &p, 20), "optimizer.noise=step:ramp:1,2,0.5: it is written ramp:FROM,TO,M, with two"));
}

static double eta_at(const char *text, double warmup, int64_t drop, int64_t t, int64_t T)
{
    const pv_problem p = { .ctx = ctx, .n = 100, .batch = 100 };
    const pvi_schedule_cfg c = { .steps = text, .warmup = warmup, .drop = drop };
    pvi_schedule s;
    PVT_OK(pvi_schedule_open(&s, &c, &p, T, arena));
    return pvi_schedule_eta(&s, 2.0, t);
}

static void lengths(void **state)
{
    (void)state;
    for (int64_t t = 1; t <= 100; t++) {
        const double x = (double)t;
        PVT_NEAR(eta_at("constant", 0, 0, t, 100), 2, 0);
        PVT_NEAR(eta_at(NULL, 0, 0, t, 100), 2, 0);
        PVT_REL(eta_at("inverse", 0, 0, t, 100), 2 / x, 1e-14);
        PVT_REL(eta_at("inverse:10", 0, 0, t, 100), 20 / (9 + x), 1e-14);
        PVT_REL(eta_at("inverse-sqrt", 0, 0, t, 100), 2 / sqrt(x), 1e-14);
        PVT_REL(eta_at("linear", 0, 0, t, 100), 2 * (101 - x) / 100, 1e-13);
        PVT_NEAR(eta_at("cosine", 0, 0, t, 100), 1 + cos(M_PI * (x - 1) / 100), 1e-13);
        PVT_REL(eta_at("decay", 0, 0, t, 100), t <= 50 ? 2 : t <= 75 ? 0.2 : 0.02, 1e-14);
        PVT_REL(eta_at("drops:10,20", 0, 0, t, 100), t <= 10 ? 2 : t <= 20 ? 0.2 : 0.02, 1e-14);
        PVT_REL(eta_at("drops-by:0.5,10,20", 0, 0, t, 100), t <= 10 ? 2 : t <= 20 ? 1 : 0.5, 1e-14);
        PVT_REL(eta_at("constant", 0.2, 0, t, 100), t < 20 ? x / 10 : 2, 1e-14);
        PVT_REL(eta_at("constant", 0, 40, t, 100), t <= 40 ? 2 : 0.2, 1e-14);
    }
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

typedef struct flat {
    double *z;
    int64_t n, cap, leaves;
} flat;

/* Noise multipliers in the order of the releases. */
static void flatten(const pv_event *e, flat *f)
{
    if (e->kind == PV_EV_SEQ) {
        for (const pv_event *p = e->sub; p; p = p->next) flatten(p, f);
    } else if (e->kind == PV_EV_REPEAT) {
        const int64_t leaves = f->leaves;
        for (int64_t i = 0; i < e->n; i++) {
            f->leaves = leaves;
            flatten(e->sub, f);
        }
    } else {
        PVT_TRUE(f->n < f->cap);
        f->z[f->n++] = e->kind == PV_EV_POISSON ? e->sub->a : e->a;
        f->leaves++;
    }
}

static double say(const char *rule, double k, double n) /* what some rules mean, in another way */
{
    if (!rule) return 1;
    if (strcmp(rule, "linear:4,1") == 0) return n == 1 ? 1 : 4 - 3 * k / (n - 1);
    if (strcmp(rule, "exponential:1,9") == 0) return n == 1 ? 9 : pow(9, k / (n - 1));
    if (strcmp(rule, "cosine:1,4") == 0) return n == 1 ? 4 : 2.5 - 1.5 * cos(M_PI * k / (n - 1));
    if (strcmp(rule, "table:2,1,3") == 0) return k < 1 ? 2 : k < 2 ? 1 : 3;
    return 1;
}

/* Every step's leaf is the one it is given, and its noise is the rule's up to (3), never below. */
static void check_tree(const char *noise, const char *within, int64_t J, int64_t T, double loss, int64_t leaves)
{
    const bool by_step = noise && strncmp(noise, "step:", 5) == 0;
    const char *rule = by_step ? noise + 5 : noise;
    const pv_problem p = { .ctx = ctx, .n = 100 * J, .batch = 100, .sampling = PV_EV_POISSON };
    const pvi_schedule_cfg c = { .noise = noise, .within = within };
    const pv_event *one = pv_ev_sampled(arena, PV_EV_POISSON, 0.1, pv_ev_leaf(arena, PV_EV_GAUSSIAN, 5, 0)), *total;
    const int64_t unit = by_step ? 1 : J, K = (T - 1) / unit + 1;
    flat f = { malloc(sizeof(double) * (size_t)T), 0, T, 0 };
    double least = INFINITY, lowest = INFINITY;
    pvi_schedule s;
    PVT_OK(pvi_schedule_open(&s, &c, &p, T, arena));
    PVT_OK(pvi_schedule_events(&s, one, arena, &total));
    PVT_OK(pvi_event_check(ctx, total));
    flatten(total, &f);
    PVT_IS(f.n, T);
    PVT_CHECK(f.leaves <= leaves, "%s, %s: %lld leaves", noise ? noise : "", within ? within : "",
              (long long)f.leaves);
    for (int64_t t = 0; t < T; t++) {
        const double o = say(rule, (double)(t / unit), (double)K) * say(within, (double)(t % J), (double)J);
        least = fmin(least, o);
        lowest = fmin(lowest, f.z[t]);
    }
    PVT_NEAR(lowest, 5, 0);
    for (int64_t t = 0; t < T; t++) {
        const double o = say(rule, (double)(t / unit), (double)K) * say(within, (double)(t % J), (double)J);
        const double want = 5 * sqrt(o / least);
        PVT_CHECK(f.z[t] >= want * (1 - 1e-12) && f.z[t] <= want * (1 + loss),
                  "%s, %s: step %lld has noise %.9g, the rule says %.9g", noise ? noise : "", within ? within : "",
                  (long long)t + 1, f.z[t], want);
        PVT_NEAR(5 * pvi_schedule_factor(&s, t + 1), f.z[t], 0);
    }
    free(f.z);
}

static void trees(void **state)
{
    (void)state;
    check_tree(NULL, NULL, 7, 100, 1e-12, 1);
    check_tree("linear:4,1", NULL, 7, 100, 1e-12, 15);
    check_tree("step:linear:4,1", NULL, 7, 100, 1e-12, 100);
    check_tree("cosine:1,4", NULL, 1, 30, 1e-12, 30);
    check_tree("table:2,1,3", NULL, 10, 95, 1e-12, 3);
    check_tree(NULL, "linear:4,1", 10, 95, 1e-12, 20);
    check_tree(NULL, "table:2,1,3", 10, 3, 1e-12, 3);         /* less than an epoch */
    check_tree("linear:4,1", "linear:4,1", 6, 10, 1e-12, 12); /* the least of either is in no step */
    check_tree("table:2,1,3", "exponential:1,9", 5, 52, 1e-12, 30);
    check_tree("linear:4,1", NULL, 2, 100000, 0.0008, 1000); /* rounded up: 4^(1/1998) - 1 = 0.0007 */
    check_tree("step:exponential:1,9", NULL, 5, 100000, 0.0012, 1000);
    check_tree("step:cosine:1,4", NULL, 5, 1000000, 0.0008, 1000);
    check_tree("linear:4,1", "cosine:1,4", 100, 20000, 0.055, 1100); /* 31 and 32 levels: 4^(1/60 + 1/62) */
    check_tree("table:2,1,3", "cosine:1,4", 5000, 20000, 0.0022, 1100);
}

static void a_plan_of_a_billion_steps_is_small(void **state)
{
    (void)state;
    const pv_problem p = { .ctx = ctx, .n = 1000, .batch = 10, .sampling = PV_EV_POISSON };
    const pvi_schedule_cfg c = { .noise = "step:exponential:1e6,1" };
    const pv_event *one = pv_ev_leaf(arena, PV_EV_GAUSSIAN, 5, 0), *total;
    pvi_schedule s;
    PVT_OK(pvi_schedule_open(&s, &c, &p, 1000000000, arena));
    PVT_TRUE(s.over.n <= 1000);
    PVT_OK(pvi_schedule_events(&s, one, arena, &total));
    PVT_NEAR(pvi_event_releases(total), 1e9, 0);
    for (int64_t t = 1; t <= 1000000000; t += 7654321) {
        const double want = pow(1e3, 1 - (double)(t - 1) / 999999999);
        PVT_TRUE(pvi_schedule_factor(&s, t) >= want * (1 - 1e-12) && pvi_schedule_factor(&s, t) <= want * 1.007);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(variances), cmocka_unit_test(refusals), cmocka_unit_test(which_rule_is_broken),
        cmocka_unit_test(lengths),   cmocka_unit_test(trees),    cmocka_unit_test(a_plan_of_a_billion_steps_is_small)
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
