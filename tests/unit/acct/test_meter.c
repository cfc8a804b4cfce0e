/* test_meter.c - the meter accepts the planned releases in order, and nothing else. */
#include "acct/acct.h"
#include "arenatest.h"

static const pv_event *leaf(double z)
{
    return pv_ev_leaf(arena, PV_EV_GAUSSIAN, z, 0);
}

static const pv_event *seq(int64_t k, const pv_event *const *parts)
{
    return pv_ev_seq(arena, k, parts);
}

/* The truth by unrolling: the releases of a tree, one after the other. */
static int unroll(const pv_event *e, const pv_event **out, int n)
{
    if (e->kind == PV_EV_NONE) return n;
    if (e->kind == PV_EV_REPEAT) {
        for (int64_t i = 0; i < e->n; i++) n = unroll(e->sub, out, n);
    } else if (e->kind == PV_EV_SEQ) {
        for (const pv_event *p = e->sub; p; p = p->next) n = unroll(p, out, n);
    } else {
        out[n++] = e;
    }
    return n;
}

static const pv_event *random_tree(uint64_t *rng, int depth)
{
    const uint64_t r = pvt_u64(rng), pick = depth < 2 ? 3 + r % 3 : r % (depth > 4 ? 3 : 6);
    if (pick == 0) return pv_ev_leaf(arena, PV_EV_NONE, 0, 0);
    if (pick == 1) return leaf(1 + (double)(pvt_u64(rng) % 3));
    if (pick == 2) return pv_ev_sampled(arena, PV_EV_POISSON, 0.5, leaf(1 + (double)(pvt_u64(rng) % 3)));
    if (pick == 3) return pv_ev_repeat(arena, (int64_t)(pvt_u64(rng) % 4), random_tree(rng, depth + 1));
    const pv_event *parts[4];
    const int64_t k = (int64_t)(pvt_u64(rng) % 5);
    for (int64_t i = 0; i < k; i++) parts[i] = random_tree(rng, depth + 1);
    return seq(k, parts);
}

static void follows_the_unrolled_order(void **state)
{
    (void)state;
    uint64_t rng = 1;
    int long_ones = 0;
    for (int trial = 0; trial < 2000; trial++) {
        static const pv_event *order[100000];
        const pv_event *t = random_tree(&rng, 0);
        const int n = unroll(t, order, 0);
        pvi_meter *m = pvi_meter_create(arena, t);
        long_ones += n > 20;
        for (int i = 0; i < n; i++) {
            PVT_TRUE(!pvi_meter_done(m));
            PVT_REL(pvi_meter_fraction(m) + 1, 1 + (double)i / n, 1e-14);
            PVT_IS(pvi_meter_spend(m, 0, leaf(77)), PV_E_PLAN); /* refused, and leaves no trace */
            PVT_OK(pvi_meter_spend(m, 0, order[i]));
        }
        PVT_TRUE(pvi_meter_done(m));
        PVT_NEAR(pvi_meter_fraction(m), 1, 0);
        PVT_IS(pvi_meter_spend(m, 0, leaf(1)), PV_E_PLAN);
    }
    PVT_TRUE(long_ones > 50);
}

static void huge_counts_are_not_unrolled(void **state)
{
    (void)state;
    const pv_event *none = pv_ev_leaf(arena, PV_EV_NONE, 0, 0), *empty = seq(0, NULL);
    const pv_event *parts[] = { none, pv_ev_repeat(arena, (int64_t)1 << 23, pv_ev_repeat(arena, 1 << 30, empty)),
                                pv_ev_repeat(arena, 1000000000, leaf(2)), leaf(3) };
    pvi_meter *m = pvi_meter_create(arena, seq(4, parts));
    for (int i = 0; i < 1000; i++) PVT_OK(pvi_meter_spend(m, 0, leaf(2)));
    PVT_IS(pvi_meter_spend(m, 0, leaf(3)), PV_E_PLAN);
    PVT_REL(pvi_meter_fraction(m), 1000.0 / 1000000001.0, 1e-15);
    PVT_TRUE(!pvi_meter_done(m));
}

static void nothing_planned(void **state)
{
    (void)state;
    pvi_meter *m = pvi_meter_create(arena, pv_ev_repeat(arena, 1000000000, pv_ev_leaf(arena, PV_EV_NONE, 0, 0)));
    PVT_TRUE(pvi_meter_done(m));
    PVT_NEAR(pvi_meter_fraction(m), 1, 0);
    PVT_IS(pvi_meter_spend(m, 0, leaf(1)), PV_E_PLAN);
}

/* A sampled release is compared whole: sampler, rate and what is inside. */
static void sampler_and_rate_count(void **state)
{
    (void)state;
    const pv_event *g = leaf(1);
    pvi_meter *m = pvi_meter_create(arena, pv_ev_sampled(arena, PV_EV_POISSON, 0.1, g));
    PVT_IS(pvi_meter_spend(m, 0, g), PV_E_PLAN);
    PVT_IS(pvi_meter_spend(m, 0, pv_ev_sampled(arena, PV_EV_FIXED, 0.1, g)), PV_E_PLAN);
    PVT_IS(pvi_meter_spend(m, 0, pv_ev_sampled(arena, PV_EV_POISSON, 0.2, g)), PV_E_PLAN);
    PVT_OK(pvi_meter_spend(m, 0, pv_ev_sampled(arena, PV_EV_POISSON, 0.1, leaf(1))));
    PVT_TRUE(pvi_meter_done(m));
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(follows_the_unrolled_order),
                                      cmocka_unit_test(huge_counts_are_not_unrolled),
                                      cmocka_unit_test(nothing_planned), cmocka_unit_test(sampler_and_rate_count) };
    return cmocka_run_group_tests(all, setup, teardown);
}
