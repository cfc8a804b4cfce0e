/* test_event.c - event trees: construction, text, comparison, scaling, terms, limits. */
#include "arenatest.h"
#include "acct/acct.h"
#include "alloctest.h"

static const pv_event *leaf(pv_ev_kind kind, double a, double b)
{
    return pv_ev_leaf(arena, kind, a, b);
}

static const pv_event *seq2(const pv_event *x, const pv_event *y)
{
    const pv_event *const parts[] = { x, y };
    return pv_ev_seq(arena, 2, parts);
}

static pv_status parse(const char *text, const pv_event **ev)
{
    pvi_json *v;
    *ev = NULL;
    const pv_status s = pvi_json_parse(ctx, arena, "e.json", text, strlen(text), &v);
    return s == PV_OK ? pvi_event_parse(ctx, arena, "e.json", v, ev) : s;
}

static char *text_of(const pv_event *ev)
{
    pvi_str out = { .ctx = ctx };
    pvi_jw w = { .out = &out };
    char *s;
    pvi_event_write(ev, &w, NULL);
    PVT_OK(pvi_str_take(&out, &s));
    return s;
}

static const char all_kinds[] =
    "{\"kind\":\"sequence\",\"events\":[{\"kind\":\"gaussian\",\"noise_multiplier\":1.1},"
    "{\"kind\":\"laplace\",\"scale\":2},{\"kind\":\"select\",\"epsilon\":0.1},{\"kind\":\"ball\",\"delta\":1e-06},"
    "{\"kind\":\"eps-delta\",\"epsilon\":1,\"delta\":1e-06},{\"kind\":\"none\"},{\"kind\":\"nonprivate\"},"
    "{\"kind\":\"repeat\",\"times\":100,\"event\":{\"kind\":\"poisson\",\"rate\":0.01,\"event\":"
    "{\"kind\":\"gaussian\",\"noise_multiplier\":1.1}}},"
    "{\"kind\":\"cyclic\",\"parts\":7,\"event\":{\"kind\":\"laplace\",\"scale\":3}},"
    "{\"kind\":\"fixed\",\"rate\":0.01,\"event\":{\"kind\":\"sequence\",\"events\":[]}}]}";

static void text_round_trips(void **state)
{
    (void)state;
    const pv_event *ev;
    PVT_OK(parse(all_kinds, &ev));
    char *s = text_of(ev);
    assert_string_equal(s, all_kinds);
    pv_string_free(ctx, s);
}

static void built_equals_parsed(void **state)
{
    (void)state;
    const pv_event *ev;
    PVT_OK(parse("{\"kind\":\"repeat\",\"times\":7,\"event\":{\"kind\":\"sequence\",\"events\":[{\"kind\":\"fixed\","
                 "\"rate\":0.5,\"event\":{\"kind\":\"laplace\",\"scale\":3}},{\"kind\":\"ball\",\"delta\":0.25}]}}",
                 &ev));
    const pv_event *fixed = pv_ev_sampled(arena, PV_EV_FIXED, 0.5, leaf(PV_EV_LAPLACE, 3, 0));
    const pv_event *mine = pv_ev_repeat(arena, 7, seq2(fixed, leaf(PV_EV_BALL, 0.25, 0)));
    PVT_TRUE(pvi_event_equal(ev, mine));
    PVT_TRUE(!pvi_event_equal(ev, pv_ev_repeat(arena, 8, mine->sub)));
    PVT_TRUE(!pvi_event_equal(ev, pv_ev_repeat(arena, 7, seq2(leaf(PV_EV_BALL, 0.25, 0), fixed))));
    PVT_TRUE(!pvi_event_equal(mine->sub, seq2(fixed, seq2(fixed, fixed))));
    PVT_TRUE(!pvi_event_equal(leaf(PV_EV_EPS_DELTA, 1, 0.1), leaf(PV_EV_EPS_DELTA, 1, 0.2)));
    PVT_TRUE(!pvi_event_equal(leaf(PV_EV_GAUSSIAN, 1, 0), leaf(PV_EV_LAPLACE, 1, 0)));
    PVT_TRUE(!pvi_event_equal(leaf(PV_EV_GAUSSIAN, 1, 0), leaf(PV_EV_GAUSSIAN, 2, 0)));
    PVT_TRUE(!pvi_event_equal(pv_ev_seq(arena, 0, NULL), seq2(fixed, fixed)));
    PVT_TRUE(!pvi_event_equal(seq2(fixed, fixed), pv_ev_seq(arena, 0, NULL)));
    PVT_TRUE(!pvi_event_equal(NULL, fixed) && !pvi_event_equal(fixed, NULL));
    /* a part's own `next` is its place in a sequence, not part of what it is */
    PVT_TRUE(pvi_event_equal(mine->sub->sub, fixed));
    PVT_TRUE(pvi_event_equal(pv_ev_repeat(arena, 2, mine->sub->sub), pv_ev_repeat(arena, 2, fixed)));
}

static void text_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "3",
        "{}",
        "{\"kind\":1}",
        "{\"kind\":\"future\"}",
        "{\"kind\":\"none\",\"extra\":1}",
        "{\"kind\":\"gaussian\"}",
        "{\"kind\":\"gaussian\",\"noise_multiplier\":\"1\"}",
        "{\"kind\":\"gaussian\",\"noise_multiplier\":0}",
        "{\"kind\":\"gaussian\",\"noise_multiplier\":-1}",
        "{\"kind\":\"gaussian\",\"noise_multiplier\":1,\"delta\":1}",
        "{\"kind\":\"laplace\",\"scale\":1e-200}",
        "{\"kind\":\"select\",\"epsilon\":0}",
        "{\"kind\":\"ball\",\"delta\":1.5}",
        "{\"kind\":\"ball\",\"delta\":-0.5}",
        "{\"kind\":\"eps-delta\",\"epsilon\":-1,\"delta\":0}",
        "{\"kind\":\"eps-delta\",\"epsilon\":1,\"delta\":2}",
        "{\"kind\":\"eps-delta\",\"epsilon\":1,\"delta\":-2}",
        "{\"kind\":\"eps-delta\",\"epsilon\":1}",
        "{\"kind\":\"poisson\",\"rate\":0,\"event\":{\"kind\":\"none\"}}",
        "{\"kind\":\"poisson\",\"rate\":1.01,\"event\":{\"kind\":\"none\"}}",
        "{\"kind\":\"poisson\",\"rate\":0.5}",
        "{\"kind\":\"fixed\",\"rate\":0.5,\"event\":[]}",
        "{\"kind\":\"repeat\",\"times\":-1,\"event\":{\"kind\":\"none\"}}",
        "{\"kind\":\"repeat\",\"times\":1.5,\"event\":{\"kind\":\"none\"}}",
        "{\"kind\":\"repeat\",\"event\":{\"kind\":\"none\"}}",
        "{\"kind\":\"repeat\",\"times\":9007199254740993,\"event\":{\"kind\":\"none\"}}",
        "{\"kind\":\"sequence\",\"events\":{\"kind\":\"none\"}}",
        "{\"kind\":\"sequence\"}",
        "{\"kind\":\"sequence\",\"events\":[{\"kind\":\"none\"},{\"kind\":\"gaussian\"}]}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const pv_event *ev;
        const pv_status s = parse(bad[i], &ev);
        PVT_CHECK(s == PV_E_FORMAT && !ev, "%s: status %d", bad[i], (int)s);
        PVT_CHECK(strncmp(pv_ctx_errmsg(ctx), "e.json:1:", 9) == 0, "%s: %s", bad[i], pv_ctx_errmsg(ctx));
    }
}

static void checks_built_trees(void **state)
{
    (void)state;
    const pv_event *g = leaf(PV_EV_GAUSSIAN, 1, 0);
    const pv_event with_sub = { .kind = PV_EV_GAUSSIAN, .a = 1, .sub = g },
                   no_sub = { .kind = PV_EV_POISSON, .a = 0.5 };
    PVT_OK(pvi_event_check(ctx, g));
    PVT_IS(pvi_event_check(ctx, NULL), PV_E_ARG);
    PVT_IS(pvi_event_check(ctx, &with_sub), PV_E_ARG);
    PVT_IS(pvi_event_check(ctx, &no_sub), PV_E_ARG);
    PVT_IS(pvi_event_check(ctx, leaf(PV_EV_GAUSSIAN, NAN, 0)), PV_E_ARG);
    PVT_IS(pvi_event_check(ctx, leaf(PV_EV_EPS_DELTA, 1, NAN)), PV_E_ARG);
    PVT_IS(pvi_event_check(ctx, leaf(PV_EV_BALL, NAN, 0)), PV_E_ARG);
    PVT_IS(pvi_event_check(ctx, pv_ev_sampled(arena, PV_EV_FIXED, NAN, g)), PV_E_ARG);
    PVT_IS(pvi_event_check(ctx, leaf((pv_ev_kind)777, 1, 0)), PV_E_UNSUPPORTED);
    assert_string_equal(pv_ctx_errmsg(ctx), "event: unknown kind 777");
    PVT_IS(pvi_event_check(NULL, leaf((pv_ev_kind)777, 1, 0)), PV_E_UNSUPPORTED);
    PVT_IS(pvi_event_check(NULL, NULL), PV_E_ARG);
    PVT_IS(pvi_event_check(NULL, leaf(PV_EV_GAUSSIAN, 0, 0)), PV_E_ARG);
    PVT_IS(pvi_event_check(ctx, leaf(PV_EV_EPS_DELTA, 1e200, 0)), PV_E_ARG);
    char *s = text_of(NULL);
    assert_string_equal(s, "{\"kind\":\"unknown\"}");
    pv_string_free(ctx, s);
    PVT_TRUE(!pv_ev_repeat(arena, 1, NULL) && !pv_ev_sampled(arena, PV_EV_POISSON, 1, NULL) && !seq2(g, NULL));
    assert_string_equal(pvi_event_name(PV_EV_FIXED), "fixed");
    assert_string_equal(pvi_event_name((pv_ev_kind)777), "unknown");
}

static const pv_event *chain(int64_t levels)
{
    const pv_event *e = leaf(PV_EV_GAUSSIAN, 1, 0);
    for (int64_t i = 1; i < levels; i++) e = i % 2 ? pv_ev_repeat(arena, 1, e) : pv_ev_seq(arena, 1, &e);
    return e;
}

static pv_status ignore(void *user, const pvi_term *t)
{
    (void)user, (void)t;
    return PV_OK;
}

static void a_million_levels(void **state)
{
    (void)state;
    const pv_event *deep = chain(1000000);
    PVT_IS(pvi_event_check(ctx, deep), PV_E_ARG);
    assert_string_equal(pv_ctx_errmsg(ctx), "event: nested deeper than 24 levels");
    PVT_IS(pvi_event_each(deep, ignore, NULL), PV_E_ARG);
    PVT_TRUE(!pvi_event_equal(deep, deep));
    PVT_TRUE(!pvi_event_scale(arena, deep, 2));
    char *s = text_of(deep);
    PVT_TRUE(strstr(s, "unknown") != NULL);
    pv_string_free(ctx, s);
    pvi_meter *m = pvi_meter_create(arena, deep);
    PVT_TRUE(!pvi_meter_done(m));
    PVT_IS(pvi_meter_spend(m, 0, leaf(PV_EV_GAUSSIAN, 1, 0)), PV_E_PLAN);

    /* the deepest legal tree survives writing and reading */
    const pv_event *ok = chain(PVI_EVENT_DEPTH), *back;
    PVT_OK(pvi_event_check(ctx, ok));
    s = text_of(ok);
    PVT_OK(parse(s, &back));
    PVT_TRUE(pvi_event_equal(ok, back));
    pv_string_free(ctx, s);

    /* repetitions take one JSON level each: the event limit speaks before the JSON limit */
    char text[4096] = "";
    for (int i = 0; i < 30; i++) strcat(text, "{\"kind\":\"repeat\",\"times\":1,\"event\":");
    strcat(text, "{\"kind\":\"none\"}");
    for (int i = 0; i < 30; i++) strcat(text, "}");
    PVT_IS(parse(text, &back), PV_E_FORMAT);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "events are nested too deeply") != NULL);
}

static void shared_parts_cannot_explode(void **state)
{
    (void)state;
    const pv_event *e = leaf(PV_EV_GAUSSIAN, 1, 0);
    for (int i = 1; i < PVI_EVENT_DEPTH; i++) {
        const pv_event *const parts[] = { e, e, e, e };
        e = pv_ev_seq(arena, 4, parts);
    }
    PVT_IS(pvi_event_check(ctx, e), PV_E_ARG);
    assert_string_equal(pv_ctx_errmsg(ctx), "event: more than 10000000 parts");
}

static void scaling(void **state)
{
    (void)state;
    const pv_event *ev;
    PVT_OK(parse(all_kinds, &ev));
    const pv_event *s = pvi_event_scale(arena, ev, 2.0), *p = s->sub;
    PVT_NEAR(p->a, 2.2, 0);
    PVT_NEAR((p = p->next)->a, 4, 0);
    PVT_NEAR((p = p->next)->a, 0.05, 0);
    PVT_NEAR((p = p->next)->a, 1e-6, 0);
    PVT_NEAR((p = p->next)->a, 1, 0);
    p = p->next->next->next;
    PVT_NEAR(p->sub->sub->a, 2.2, 0);
    PVT_IS(p->n, 100);
    PVT_TRUE(pvi_event_equal(pvi_event_scale(arena, ev, 1.0), ev));
    PVT_NEAR(ev->sub->a, 1.1, 0); /* the original stays */
}

typedef struct terms {
    int n;
    pvi_term t[8];
} terms;

static pv_status keep(void *user, const pvi_term *t)
{
    terms *k = user;
    if (k->n == 8) return PV_DONE;
    k->t[k->n++] = *t;
    return PV_OK;
}

static void list_of_terms(void **state)
{
    (void)state;
    const pv_event *g = leaf(PV_EV_GAUSSIAN, 2, 0), *lap = leaf(PV_EV_LAPLACE, 3, 0);
    const pv_event *many = pv_ev_repeat(arena, 1000000000, pv_ev_sampled(arena, PV_EV_POISSON, 0.25, g));
    terms k = { 0 };
    PVT_OK(pvi_event_each(pv_ev_repeat(arena, 3, seq2(many, lap)), keep, &k));
    PVT_IS(k.n, 2);
    PVT_TRUE(k.t[0].kind == PV_EV_GAUSSIAN && k.t[0].a == 2 && k.t[0].sampler == PV_EV_POISSON &&
             k.t[0].rate == 0.25);
    PVT_IS(k.t[0].count, 3000000000);
    PVT_TRUE(k.t[1].kind == PV_EV_LAPLACE && k.t[1].sampler == PV_EV_NONE && k.t[1].rate == 1 && k.t[1].count == 3);

    /* rate 1 is no sampling; nothing is nothing */
    k.n = 0;
    PVT_OK(pvi_event_each(pv_ev_sampled(arena, PV_EV_FIXED, 1, seq2(g, leaf(PV_EV_NONE, 0, 0))), keep, &k));
    PVT_TRUE(k.n == 1 && k.t[0].sampler == PV_EV_NONE);
    k.n = 0;
    PVT_OK(pvi_event_each(pv_ev_sampled(arena, PV_EV_POISSON, 0.5, pv_ev_repeat(arena, 0, g)), keep, &k));
    PVT_IS(k.n, 0);

    /* Gaussians from one sample are one Gaussian: 1/4 + 4/16 = 1/2 */
    const pv_event *both = seq2(g, pv_ev_repeat(arena, 4, leaf(PV_EV_GAUSSIAN, 4, 0)));
    PVT_OK(pvi_event_each(pv_ev_sampled(arena, PV_EV_POISSON, 0.5, both), keep, &k));
    PVT_IS(k.n, 1);
    PVT_REL(k.t[0].a, sqrt(2.0), 1e-15);
    PVT_TRUE(k.t[0].a < sqrt(2.0) && k.t[0].count == 1);
}

static void samplers_in_a_list_of_terms(void **state)
{
    (void)state;
    const pv_event *g = leaf(PV_EV_GAUSSIAN, 2, 0), *lap = leaf(PV_EV_LAPLACE, 3, 0);
    const pv_event *both = seq2(g, pv_ev_repeat(arena, 4, leaf(PV_EV_GAUSSIAN, 4, 0)));
    terms k = { 0 };

    /* no proof for mixtures inside a sampler, nor for a sampler inside a sampler */
    const pv_event *inner = pv_ev_sampled(arena, PV_EV_POISSON, 0.5, g);
    PVT_IS(pvi_event_each(pv_ev_sampled(arena, PV_EV_POISSON, 0.5, seq2(g, lap)), keep, &k), PV_E_UNSUPPORTED);
    PVT_IS(pvi_event_each(pv_ev_sampled(arena, PV_EV_FIXED, 0.5, pv_ev_repeat(arena, 2, lap)), keep, &k),
           PV_E_UNSUPPORTED);
    PVT_IS(pvi_event_each(pv_ev_sampled(arena, PV_EV_POISSON, 0.5, inner), keep, &k), PV_E_UNSUPPORTED);
    PVT_IS(pvi_event_each(pv_ev_sampled(arena, PV_EV_POISSON, 0.5, pv_ev_repeat(arena, 2, inner)), keep, &k),
           PV_E_UNSUPPORTED);
    PVT_OK(pvi_event_each(pv_ev_sampled(arena, PV_EV_FIXED, 0.5, lap), keep, &k));
    PVT_OK(pvi_event_each(pv_ev_sampled(arena, PV_EV_FIXED, 0.5, pv_ev_repeat(arena, 1, g)), keep, &k));
    PVT_IS(pvi_event_each(pv_ev_sampled(arena, PV_EV_FIXED, 0.5, both), keep, &k), PV_E_UNSUPPORTED);
    PVT_IS(pvi_event_each(pv_ev_sampled(arena, PV_EV_FIXED, 0.5, pv_ev_repeat(arena, 2, g)), keep, &k),
           PV_E_UNSUPPORTED);
    const pv_event *mixed = pv_ev_sampled(arena, PV_EV_POISSON, 0.5, seq2(g, lap));
    PVT_IS(pvi_event_each(pv_ev_sampled(arena, PV_EV_POISSON, 0.5, mixed), keep, &k), PV_E_UNSUPPORTED);

    /* in turn over 7 parts: a row is seen once in 7 releases, rounded up; each node counts for itself */
    static const int64_t seen[][2] = { { 1, 1 }, { 7, 1 }, { 8, 2 }, { 14, 2 }, { 700000001, 100000001 } };
    for (int i = 0; i < 5; i++) {
        k.n = 0;
        PVT_OK(pvi_event_each(pv_ev_repeat(arena, seen[i][0], pv_ev_cyclic(arena, 7, g)), keep, &k));
        PVT_TRUE(k.n == 1 && k.t[0].parts && k.t[0].sampler == PV_EV_NONE && k.t[0].a == 2);
        PVT_IS(k.t[0].count, seen[i][1]);
    }
    /* three runs of two releases begin at the same part; releases between others may all see one part */
    const pv_event *twice = pv_ev_repeat(arena, 2, pv_ev_cyclic(arena, 7, g));
    k.n = 0;
    PVT_OK(pvi_event_each(pv_ev_repeat(arena, 3, twice), keep, &k));
    PVT_TRUE(k.n == 1 && k.t[0].count == 3);
    k.n = 0;
    PVT_OK(pvi_event_each(pv_ev_repeat(arena, 10, seq2(pv_ev_cyclic(arena, 7, g), twice)), keep, &k));
    PVT_TRUE(k.n == 2 && k.t[0].count == 10 && k.t[1].count == 10);
    k.n = 0;
    PVT_OK(pvi_event_each(pv_ev_cyclic(arena, 7, pv_ev_repeat(arena, 5, g)), keep, &k));
    PVT_TRUE(k.n == 1 && k.t[0].count == 5);

    k.n = 0;
    PVT_OK(pvi_event_each(pv_ev_repeat(arena, 8, pv_ev_cyclic(arena, 7, inner)), keep, &k));
    PVT_TRUE(k.n == 1 && k.t[0].count == 2 && k.t[0].sampler == PV_EV_POISSON && k.t[0].parts);
    PVT_IS(pvi_event_each(pv_ev_sampled(arena, PV_EV_POISSON, 0.5, pv_ev_cyclic(arena, 7, g)), keep, &k),
           PV_E_UNSUPPORTED);
    PVT_IS(pvi_event_check(ctx, pv_ev_cyclic(arena, 0, g)), PV_E_ARG);

    PVT_IS(pvi_event_check(ctx, pv_ev_repeat(arena, 1 << 30, pv_ev_repeat(arena, 1 << 30, g))), PV_E_ARG);
    assert_string_equal(pv_ctx_errmsg(ctx), "event: more than 2^53 repetitions");
}

/* Amplification is for the pairs that a theorem covers; a new sampler is refused until it has one. */
static void amplified_pairs(void **state)
{
    (void)state;
    for (int kind = 0; kind <= PV_EV_NONPRIVATE; kind++) {
        const pvi_term t = { .sampler = (pv_ev_kind)kind };
        PVT_IS(pvi_amplified(&t, PV_REL_ZERO_OUT), kind == PV_EV_NONE || kind == PV_EV_POISSON);
        PVT_IS(pvi_amplified(&t, PV_REL_REPLACE), kind == PV_EV_NONE || kind == PV_EV_FIXED);
    }
}

static void noise_and_counts_of_trees(void **state)
{
    (void)state;
    const pv_event *g = leaf(PV_EV_GAUSSIAN, 2, 0);
    terms k = { 0 };

    /* the largest noise of a tree, wherever it is */
    const pv_event *g3 = pv_ev_leaf(arena, PV_EV_GAUSSIAN, 3, 0), *l9 = pv_ev_leaf(arena, PV_EV_LAPLACE, 9, 0);
    const pv_event *list[] = { l9, pv_ev_repeat(arena, 5, pv_ev_sampled(arena, PV_EV_POISSON, 0.5, g3)),
                               pv_ev_leaf(arena, PV_EV_GAUSSIAN, 2, 0) };
    PVT_NEAR(pvi_event_noise_max(pv_ev_seq(arena, 3, list)), 3, 0);
    PVT_NEAR(pvi_event_noise_max(l9), 0, 0);
    PVT_IS(pvi_event_check(ctx, pv_ev_cyclic(arena, ((int64_t)1 << 53) + 1, pv_ev_leaf(arena, PV_EV_LAPLACE, 1, 0))),
           PV_E_ARG);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "number of parts inf is not in"));
    /* counts beyond 2^53 cannot be represented */
    const pv_event *huge = pv_ev_repeat(arena, 1 << 30, pv_ev_repeat(arena, 1 << 30, g));
    PVT_IS(pvi_event_each(huge, keep, &k), PV_E_ARG);
    const pv_event *most = pv_ev_repeat(arena, (int64_t)1 << 53, g);
    PVT_OK(pvi_event_each(most, keep, &k));
    PVT_IS(pvi_event_each(pv_ev_repeat(arena, (int64_t)1 << 53, most), keep, &k), PV_E_ARG);
    PVT_IS(pvi_event_each(pv_ev_sampled(arena, PV_EV_POISSON, 0.5, huge), keep, &k), PV_E_ARG);
    PVT_IS(pvi_event_each(leaf((pv_ev_kind)777, 0, 0), keep, &k), PV_E_UNSUPPORTED);
}

static void exhausted_memory(void **state)
{
    (void)state;
    pvt_memory m = { 0 };
    pv_ctx *poor = pvt_counted(&m);
    const pv_event *ev, *g = leaf(PV_EV_GAUSSIAN, 1, 0);
    pvi_json *v;
    pv_arena *full = pvi_arena_create(poor);
    PVT_TRUE(pv_ev_leaf(full, PV_EV_NONE, 0, 0) != NULL);
    m.left = 0;
    while (pv_ev_leaf(full, PV_EV_NONE, 0, 0)) continue;
    PVT_TRUE(!pv_ev_seq(full, 1, &g) && !pv_ev_repeat(full, 1, g) && !pv_ev_sampled(full, PV_EV_POISSON, 0.5, g));
    PVT_TRUE(!pvi_event_scale(full, g, 2) && !pvi_meter_create(full, g));
    PVT_OK(pvi_json_parse(ctx, arena, "e", "{\"kind\":\"none\"}", 15, &v));
    PVT_IS(pvi_event_parse(poor, full, "e", v, &ev), PV_E_NOMEM);
    PVT_TRUE(!ev);
    pvi_arena_free(full);
    pv_ctx_free(poor);
}

/* Just outside each end of each range: refused, by name. */
static void ranges(void **state)
{
    (void)state;
    static const struct {
        pvi_range_id id;
        pv_ev_kind kind;
    } rows[] = { { PVI_RANGE_NOISE, PV_EV_GAUSSIAN }, { PVI_RANGE_SCALE, PV_EV_LAPLACE },
                 { PVI_RANGE_SELECT, PV_EV_SELECT },  { PVI_RANGE_DELTA0, PV_EV_BALL },
                 { PVI_RANGE_EPS0, PV_EV_EPS_DELTA }, { PVI_RANGE_RATE, PV_EV_POISSON } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const pvi_range *r = &pvi_ranges[rows[i].id];
        const double x[] = { r->least, r->most, nextafter(r->least, 0), nextafter(r->most, INFINITY), NAN };
        for (int k = 0; k < 5; k++) {
            const pv_event *one = leaf(PV_EV_GAUSSIAN, 1, 0);
            const bool sampler = rows[i].kind == PV_EV_POISSON;
            const pv_event *e = sampler ? pv_ev_sampled(arena, rows[i].kind, x[k], one) : leaf(rows[i].kind, x[k], 0);
            PVT_IS(pvi_event_check(ctx, e), k < 2 ? PV_OK : PV_E_ARG);
            if (k >= 2) PVT_TRUE(strstr(pv_ctx_errmsg(ctx), r->name));
        }
    }
    pvi_cost c;
    double d;
    const pv_event *g = leaf(PV_EV_GAUSSIAN, 1, 0);
    PVT_IS(pvi_account(ctx, "best", PV_REL_ZERO_OUT, g, 1e-201, &c), PV_E_ARG);
    PVT_IS(pvi_account_rows(ctx, "best", PV_REL_ZERO_OUT, g, 1e-6, 1000001, &c), PV_E_ARG);
    PVT_IS(pvi_account_delta(ctx, "best", PV_REL_ZERO_OUT, g, 1.1e6, &d, NULL), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, g, 1.1e6, 1e-6, &d, &c), PV_E_ARG);
    PVT_IS(pvi_calibrate(ctx, "best", PV_REL_ZERO_OUT, g, 1, 1e-201, &d, &c), PV_E_ARG);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(text_round_trips),
        cmocka_unit_test(built_equals_parsed),
        cmocka_unit_test(text_is_refused),
        cmocka_unit_test(checks_built_trees),
        cmocka_unit_test(a_million_levels),
        cmocka_unit_test(shared_parts_cannot_explode),
        cmocka_unit_test(scaling),
        cmocka_unit_test(list_of_terms),
        cmocka_unit_test(samplers_in_a_list_of_terms),
        cmocka_unit_test(amplified_pairs),
        cmocka_unit_test(noise_and_counts_of_trees),
        cmocka_unit_test(ranges),
        cmocka_unit_test(exhausted_memory),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
