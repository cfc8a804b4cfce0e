/* test_registry.c - every table a plug-in registers is complete and means what it says.
 *
 * Names unique, required slots filled, parameter rows inside their struct, defaults in range and
 * readable back, and parameters that are not marked certified unable to change what is released. */
#include "ctxtest.h"
#include "acct/acct.h"
#include "plug.h"
#include "query/query.h"

#include <ctype.h>

typedef void (*visit)(pv_kind kind, const pv_plugin *p);

static void each(visit fn)
{
    const pv_plugin *p;
    for (int k = 0; k < PV_KIND_COUNT; k++)
        for (int64_t i = 0; (p = pv_nth((pv_kind)k, i)); i++) fn((pv_kind)k, p);
}

#define AT  "%s %s: "
#define WHO pv_kind_name(kind), p->name ? p->name : "?"

/* ---- head ------------------------------------------------------------------------------------------- */

static bool one_line(const char *s)
{
    if (!s || !*s) return false;
    for (; *s; s++)
        if ((unsigned char)*s < 0x20) return false;
    return true;
}

static bool is_name(const char *s)
{
    if (!s || !islower((unsigned char)*s)) return false;
    for (; *s; s++)
        if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '-' && *s != '_') return false;
    return true;
}

static void check_head(pv_kind kind, const pv_plugin *p)
{
    PVT_CHECK(is_name(p->name), AT "name", WHO);
    PVT_CHECK(one_line(p->summary), AT "summary", WHO);
    PVT_CHECK(one_line(p->reference), AT "reference", WHO);
    PVT_CHECK(p->params != NULL, AT "params is NULL: use pv_no_params", WHO);
    PVT_CHECK(pv_find(kind, p->name) == p, AT "the name is taken", WHO);
    int64_t same = 0;
    for (int64_t i = 0; pv_nth(kind, i); i++) same += strcmp(pv_nth(kind, i)->name, p->name) == 0;
    PVT_CHECK(same == 1, AT "registered %lld times", WHO, (long long)same);
    PVT_CHECK(p->cfg_size < (1 << 20) && p->state_size < (1 << 20), AT "sizes", WHO);
}

static void heads(void **state)
{
    (void)state;
    each(check_head);
    PVT_TRUE(pv_find(PV_KIND_loss, "no such") == NULL && pv_nth(PV_KIND_loss, 1000000) == NULL);
    for (int k = 0; k < PV_KIND_COUNT; k++) PVT_TRUE(is_name(pv_kind_name((pv_kind)k)));
    PVT_TRUE(!is_name(pv_kind_name(PV_KIND_COUNT)));
}

/* Every line of registry.def made it into the table. */
static void all_lines_are_registered(void **state)
{
    (void)state;
    const char *root = getenv("PRIVET_SOURCE");
    char path[4096], line[256];
    if (!root) PVT_SKIP("PRIVET_SOURCE is not set");
    snprintf(path, sizeof path, "%s/src/core/registry.def", root ? root : "");
    FILE *f = fopen(path, "r");
    PVT_TRUE(f != NULL);
    int64_t lines = 0, found = 0;
    while (fgets(line, sizeof line, f)) lines += strncmp(line, "PV_PLUGIN(", 10) == 0;
    fclose(f);
    for (int k = 0; k < PV_KIND_COUNT; k++)
        for (int64_t i = 0; pv_nth((pv_kind)k, i); i++) found++;
    PVT_IS(found, lines);
}

/* ---- slots -------------------------------------------------------------------------------------------- */

typedef struct slot {
    pv_kind kind;
    const char *name;
    size_t offset;
} slot;
#define SLOT(kind, member)                                                                                           \
    {                                                                                                                \
        PV_KIND_##kind, #member, offsetof(pv_##kind##_ops, member)                                                   \
    }
static const slot required[] = {
    SLOT(reader, probe),        SLOT(reader, read),         SLOT(loss, eval),          SLOT(model, dim),
    SLOT(model, scratch),       SLOT(model, begin),         SLOT(model, grad_sum),     SLOT(model, rounding),
    SLOT(model, value_sum),     SLOT(model, outputs),       SLOT(model, predict),      SLOT(model, constants),
    SLOT(reg, value),           SLOT(optimizer, resolve),   SLOT(optimizer, plan),     SLOT(optimizer, step),
    SLOT(optimizer, steps),     SLOT(accountant, supports), SLOT(accountant, compose), SLOT(accountant, epsilon_ub),
    SLOT(accountant, delta_ub),
};

static void check_slots(pv_kind kind, const pv_plugin *p)
{
    for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
        void (*fn)(void);
        if (required[i].kind != kind) continue;
        memcpy(&fn, (const char *)p + required[i].offset, sizeof fn);
        PVT_CHECK(fn != NULL, AT "the slot %s is empty", WHO, required[i].name);
    }
}

/* A property that is claimed comes with the slot that delivers it. */
static void check_props(pv_kind kind, const pv_plugin *p)
{
    const pv_reg_ops *reg = (const pv_reg_ops *)(const void *)p;
    const pv_set_ops *set = (const pv_set_ops *)(const void *)p;
    const pv_loss_ops *loss = (const pv_loss_ops *)(const void *)p;
    const pv_mechanism_ops *mech = (const pv_mechanism_ops *)(const void *)p;
    const pv_optimizer_ops *opt = (const pv_optimizer_ops *)(const void *)p;
    switch (kind) {
    case PV_KIND_reg:
        PVT_CHECK(!(reg->props & PV_PROX) == !reg->prox, AT "PV_PROX and the prox slot disagree", WHO);
        PVT_CHECK(!(reg->props & PV_SMOOTH) || reg->grad, AT "smooth without a gradient", WHO);
        break;
    case PV_KIND_set:
        PVT_CHECK(!(set->props & PV_PROX) == !set->project, AT "PV_PROX and the project slot disagree", WHO);
        PVT_CHECK(!(set->props & PV_LMO) == !set->lmo, AT "PV_LMO and the lmo slot disagree", WHO);
        break;
    case PV_KIND_loss:
        PVT_CHECK(loss->sup1 > 0 && loss->sup2 > 0 && loss->sup3 >= 0, AT "suprema", WHO);
        PVT_CHECK(!(loss->props & PV_LIPSCHITZ) == !isfinite(loss->sup1), AT "PV_LIPSCHITZ against sup1", WHO);
        PVT_CHECK(!(loss->props & PV_SMOOTH) == !isfinite(loss->sup2), AT "PV_SMOOTH against sup2", WHO);
        break;
    case PV_KIND_optimizer:
        PVT_CHECK(opt->ask[0].query, AT "asks for nothing", WHO);
        for (int k = 0; k < PV_MOST_ASKS && opt->ask[k].query; k++) {
            const pvi_release_kind *of = pvi_kind_of(&opt->ask[k]);
            PVT_CHECK(of && pvi_kind_takes(of, opt->ask[k].sampler), AT "no proof covers ask %d", WHO, k);
        }
        break;
    case PV_KIND_mechanism:
        PVT_CHECK(!mech->scores == !mech->score, AT "scores and score go together", WHO);
        PVT_CHECK(mech->relations && mech->shown && mech->shown_value && mech->leaf && mech->plan && mech->close &&
                      mech->distance && mech->draw,
                  AT "a slot is missing", WHO);
        PVT_CHECK(mech->norm >= PV_L1 && mech->norm <= PV_LINF, AT "norm", WHO);
        PVT_CHECK(mech->event > PV_EV_NONE && mech->event < PV_EV_POISSON, AT "its event must be a leaf", WHO);
        break;
    default: break;
    }
}

static void slots(void **state)
{
    (void)state;
    each(check_slots);
    each(check_props);
}

/* ---- parameter rows --------------------------------------------------------------------------------------- */

static size_t size_of(pv_ptype type)
{
    static const size_t size[] = {
        [PV_F64] = sizeof(double),   [PV_I64] = sizeof(int64_t), [PV_BOOL] = sizeof(bool),
        [PV_ENUM] = sizeof(int64_t), [PV_STR] = sizeof(char *),  [PV_LIST] = sizeof(pv_numbers)
    };
    return type >= PV_F64 && type <= PV_LIST ? size[type] : 0;
}

static int64_t choices(const char *s)
{
    int64_t n = 1;
    for (; *s; s++) n += *s == '|';
    return n;
}

static void check_default(pv_kind kind, const pv_plugin *p, const pv_param *r)
{
    const bool automatic = isnan(r->def);
    if (r->type == PV_LIST) PVT_CHECK(!automatic == !r->choices, AT "%s: a word for no number", WHO, r->key);
    if (r->type == PV_F64 || r->type == PV_I64 || r->type == PV_LIST) {
        PVT_CHECK(r->lo <= r->hi, AT "%s: range [%g, %g]", WHO, r->key, r->lo, r->hi);
        PVT_CHECK(automatic || (r->def >= r->lo && r->def <= r->hi), AT "%s: default %g outside", WHO, r->key,
                  r->def);
        PVT_CHECK(r->type != PV_I64 || automatic || r->def == floor(r->def), AT "%s: default %g", WHO, r->key,
                  r->def);
        const bool resolves =
            kind == PV_KIND_optimizer || (kind == PV_KIND_model && ((const pv_model_ops *)(const void *)p)->open);
        PVT_CHECK(!automatic || resolves, AT "%s: only optimisers and networks resolve auto", WHO, r->key);
    }
    if (r->type == PV_BOOL) PVT_CHECK(r->def == 0 || r->def == 1, AT "%s: default %g", WHO, r->key, r->def);
    if (r->type == PV_ENUM) {
        PVT_CHECK(one_line(r->choices), AT "%s: choices", WHO, r->key);
        PVT_CHECK(r->def >= 0 && r->def < (double)choices(r->choices), AT "%s: default %g", WHO, r->key, r->def);
    }
    if (automatic && kind == PV_KIND_optimizer) {
        const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)p;
        PVT_CHECK(o->resolve != NULL, AT "%s: auto, but no resolve slot", WHO, r->key);
    }
}

static void check_rows(pv_kind kind, const pv_plugin *p)
{
    for (const pv_param *r = p->params; r->key; r++) {
        const size_t size = size_of(r->type);
        PVT_CHECK(is_name(r->key), AT "key %s", WHO, r->key);
        PVT_CHECK(size > 0, AT "%s: type %d", WHO, r->key, r->type);
        const size_t align = r->type == PV_LIST ? _Alignof(pv_numbers) : size;
        PVT_CHECK(r->offset + size <= p->cfg_size && r->offset % align == 0, AT "%s: outside its struct", WHO,
                  r->key);
        PVT_CHECK(one_line(r->help), AT "%s: help", WHO, r->key);
        check_default(kind, p, r);
        for (const pv_param *q = p->params; q < r; q++) {
            PVT_CHECK(strcmp(q->key, r->key) != 0, AT "%s twice", WHO, r->key);
            PVT_CHECK(q->offset + size_of(q->type) <= r->offset || r->offset + size <= q->offset,
                      AT "%s and %s share memory", WHO, q->key, r->key);
        }
    }
}

/* What `privet list` shows as the default can be typed back and is the default. */
static void check_text(pv_kind kind, const pv_plugin *p)
{
    pv_arena *a = pvi_arena_create(ctx);
    void *def = plug_cfg(ctx, a, p, NULL, NULL), *back = pv_arena_get(a, p->cfg_size + 1);
    for (const pv_param *r = p->params; r->key; r++) {
        pvi_str text = { .ctx = ctx }, again = { .ctx = ctx };
        if (r->type == PV_STR && !r->choices) continue; /* no default: nothing to type */
        pvi_param_text(r, def, &text);
        PVT_CHECK(pvi_param_set(ctx, a, "", p->params, back, r->key, text.s) == PV_OK, AT "%s", WHO,
                  pv_ctx_errmsg(ctx));
        pvi_param_text(r, back, &again);
        assert_string_equal(text.s, again.s);
        PVT_IS(pvi_param_set(ctx, a, "", p->params, back, r->key, r->type == PV_STR ? "" : "no such value"),
               r->type == PV_STR ? PV_OK : PV_E_PARAM);
        pvi_str_free(&text);
        pvi_str_free(&again);
    }
    pvi_arena_free(a);
}

static void parameters(void **state)
{
    (void)state;
    each(check_rows);
    each(check_text);
}

/* ---- certified marks ------------------------------------------------------------------------------------------ */

/* A plain convex problem with every property an optimiser may need, as the plan would pose it. */
static pv_problem problem(pv_arena *a)
{
    static const pv_joint joint = {
        .grad = 1.0, .hess = 0.25, .rho = 0.1, .clip = 1.1, .blocks = 1, .width = 10, .scale = 1.0, .convex = true
    };
    const pv_set_ops *set = (const pv_set_ops *)(const void *)pv_find(PV_KIND_set, "l1ball");
    pv_planned *asks = pv_arena_get(a, PV_MOST_ASKS * sizeof *asks);
    for (int k = 0; k < PV_MOST_ASKS; k++)
        asks[k] = (pv_planned) { pv_ev_leaf(a, PV_EV_GAUSSIAN, 5.0, 0), 1.0, 5e-4, 1000.0 };
    return (pv_problem) { .ctx = ctx,
                          .mu = 0.25,
                          .d = 10,
                          .n = 10000,
                          .props = ~0u,
                          .C = 1.0,
                          .L = 0.25,
                          .batch = 10000,
                          .noise_multiplier = 5.0,
                          .sensitivity = 1.0,
                          .epsilon = 1.0,
                          .delta = 1e-5,
                          .relation = PV_REL_ZERO_OUT,
                          .reg = (const pv_reg_ops *)(const void *)pv_find(PV_KIND_reg, "none"),
                          .set = set,
                          .set_cfg = plug_cfg(ctx, a, &set->head, NULL, NULL),
                          .planned = asks,
                          .joint = &joint };
}

static const pv_event *planned(const pv_optimizer_ops *o, pv_arena *a, const void *cfg, const pv_problem *p)
{
    const pv_event *total = NULL;
    return o->plan(cfg, p, a, &total) == PV_OK ? total : NULL;
}

/* Another value of the row, inside its range; false: there is none. */
static bool change(pv_arena *a, const pv_plugin *p, const pv_param *r, void *cfg)
{
    char text[32], *at = (char *)cfg + r->offset;
    if (r->type == PV_STR && strcmp(r->key, "schedule") == 0)
        return pvi_param_set(ctx, a, "", p->params, cfg, r->key, "inverse") == PV_OK;
    if (r->type == PV_STR) return false;
    if (r->type == PV_BOOL) {
        *(bool *)(void *)at = !*(bool *)(void *)at;
        return true;
    }
    if (r->type == PV_ENUM) {
        int64_t *i = (int64_t *)(void *)at;
        *i = (*i + 1) % choices(r->choices);
        return choices(r->choices) > 1;
    }
    const double now = r->type == PV_F64    ? *(double *)(void *)at
                       : r->type == PV_LIST ? ((pv_numbers *)(void *)at)->v[0]
                                            : (double)*(int64_t *)(void *)at;
    const double tries[] = { now * 2, now / 2, now + 1, r->lo };
    for (int i = 0; i < 4; i++) {
        const double x = r->type == PV_I64 ? floor(tries[i]) : tries[i];
        if (!(x >= r->lo && x <= r->hi) || x == now) continue;
        pvi_f64_text(x, text);
        return pvi_param_set(ctx, a, "", p->params, cfg, r->key, text) == PV_OK;
    }
    return false;
}

static void check_certified(pv_kind kind, const pv_plugin *p)
{
    if (kind != PV_KIND_optimizer) return;
    const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)p;
    pv_arena *a = pvi_arena_create(ctx);
    const pv_problem pr = problem(a);
    void *cfg = plug_cfg(ctx, a, p, NULL, NULL), *other = pv_arena_get(a, p->cfg_size + 1);
    if (o->resolve) PVT_OK(o->resolve(cfg, &pr));
    const pv_event *total = planned(o, a, cfg, &pr);
    PVT_CHECK(total != NULL, AT "cannot plan a plain problem", WHO);
    int certified = 0;
    for (const pv_param *r = p->params; r->key; r++) {
        certified += r->certified;
        memcpy(other, cfg, p->cfg_size);
        if (r->certified || !change(a, p, r, other)) continue;
        const pv_event *now = planned(o, a, other, &pr);
        PVT_CHECK(!now || pvi_event_equal(now, total), AT "%s is not certified but changes the events", WHO, r->key);
    }
    PVT_CHECK(certified > 0, AT "no parameter is certified: not even the number of steps?", WHO);
    pvi_arena_free(a);
}

static void only_certified_parameters_change_the_events(void **state)
{
    (void)state;
    each(check_certified);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = {
        CASE(heads),
        CASE(all_lines_are_registered),
        CASE(slots),
        CASE(parameters),
        CASE(only_certified_parameters_change_the_events),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
