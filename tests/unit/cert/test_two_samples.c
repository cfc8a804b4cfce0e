/* test_two_samples.c - certificates of runs whose gradients and Hessians have samples of their own: each number said
 * of the second kind is read, compared and recomputed, so that another one in its place is refused, and so is a
 * certificate without it. */
#include "corpus.h"
#include "arenatest.h"

static const char *const names[] = { "str2-sizes", "str2-replace", "str2-paper", "str2-full" };
enum { NAMES = sizeof names / sizeof *names };

static char *text_of(const char *name, size_t *len)
{
    char path[512], *text;
    const char *source = getenv("PRIVET_SOURCE");
    snprintf(path, sizeof path, "%s/tests/corpus/certificates-v3/%s.json", source ? source : ".", name);
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, len));
    return text;
}

static pvi_cert parsed(const char *name)
{
    pvi_cert c;
    size_t len;
    char *text = text_of(name, &len);
    PVT_OK(pvi_cert_parse(ctx, arena, name, text, len, &c));
    pvi_free(ctx, text);
    return c;
}

static pvi_cert_kind *hessians(pvi_cert *c)
{
    for (int64_t i = 0; i < c->n_kinds; i++)
        if (strcmp(c->kinds[i].kind, "Hessian") == 0) return &c->kinds[i];
    fail_msg("no Hessians");
    return NULL;
}

/* Written with a checksum that fits, read again, and refused. */
static void refused(const pvi_cert *c, const char *what)
{
    char *json;
    pvi_cert back;
    PVT_OK(pvi_cert_write(ctx, c, &json));
    pv_status s = pvi_cert_parse(ctx, arena, "c", json, strlen(json), &back);
    if (s == PV_OK) s = pvi_cert_verify(ctx, "c", &back);
    PVT_CHECK(s == PV_E_VERIFY || s == PV_E_FORMAT, "%s of %s: accepted", what, c->optimizer);
    pvi_free(ctx, json);
}

static void every_number_is_checked(void **state)
{
    static const struct {
        const char *name;
        size_t offset;
    } numbers[] = {
#define NUMBER(field) { #field, offsetof(pvi_cert_kind, field) }
        NUMBER(batch),       NUMBER(clip_norm),        NUMBER(replace_change), NUMBER(rounding_allowance),
        NUMBER(sensitivity), NUMBER(noise_multiplier), NUMBER(noise_stddev),   NUMBER(grid_spacing),
    };
    (void)state;
    for (int n = 0; n < NAMES; n++) {
        pvi_cert good = parsed(names[n]);
        PVT_OK(pvi_cert_verify(ctx, names[n], &good));
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            for (int up = 0; up < 2; up++) {
                pvi_cert c = good;
                double *x = (double *)(void *)((char *)hessians(&c) + numbers[i].offset);
                *x *= up ? 1.5 : 0.5;
                if (strcmp(numbers[i].name, "grid_spacing") == 0) *x = up ? 0.75 * good.grid_spacing : 0.25;
                refused(&c, numbers[i].name);
            }
    }
}

/* Noise and bound scaled together leave every formula but the model's own bound. */
static void the_bound_is_the_models(void **state)
{
    (void)state;
    pvi_cert c = parsed("str2-sizes");
    pvi_cert_kind *k = hessians(&c);
    k->clip_norm *= 0.5;
    k->replace_change *= 0.5;
    k->sensitivity = k->clip_norm + k->rounding_allowance;
    k->noise_stddev = k->noise_multiplier * k->sensitivity;
    refused(&c, "half of the bound");
}

static pv_event *sampled(const pv_event *e, int64_t which)
{
    while (e->kind == PV_EV_REPEAT || e->kind == PV_EV_SEQ) {
        if (e->kind == PV_EV_SEQ && e->sub->next && e->sub->next->kind == PV_EV_REPEAT) e = e->sub->next;
        else if (e->kind == PV_EV_SEQ && which > 0) return (pv_event *)(uintptr_t)e->sub->next;
        else e = e->sub;
    }
    return (pv_event *)(uintptr_t)e;
}

/* The events as many, the noise the same, the samples of other sizes. */
static void rates_are_counted(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        pvi_cert c = parsed("str2-sizes");
        pv_event *one = sampled(c.events, which), *two = sampled(c.events, 1 - which);
        PVT_TRUE(one->kind == PV_EV_POISSON && two->kind == PV_EV_POISSON && one->a != two->a);
        one->a = two->a; /* all of one size */
        sampled(c.events_replace, which)->a = two->a;
        refused(&c, "other rates");
    }
    pvi_cert c = parsed("str2-sizes");
    for (int64_t i = 0; i < c.n_kinds; i++)
        if (strcmp(c.kinds[i].kind, "gradient") == 0) c.kinds[i].count++;
    hessians(&c)->count--;
    refused(&c, "other counts");
}

/* All steps but the first with other noise on gradients. */
static const pv_event *uneven(const pv_event *e)
{
    const pv_event *g = sampled(e, 0), *h = sampled(e, 1);
    PVT_TRUE(e->kind == PV_EV_REPEAT && e->n > 1);
    const pv_event *other = pv_ev_sampled(arena, g->kind, g->a, pv_ev_leaf(arena, g->sub->kind, 0.9 * g->sub->a, 0));
    const pv_event *first[] = { g, h }, *later[] = { other, h };
    const pv_event *steps[] = { pv_ev_seq(arena, 2, first),
                                pv_ev_repeat(arena, e->n - 1, pv_ev_seq(arena, 2, later)) };
    return pv_ev_seq(arena, 2, steps);
}

static void noise_does_not_change_by_step(void **state)
{
    (void)state;
    pvi_cert c = parsed("str2-paper");
    c.events = uneven(c.events);
    c.events_replace = uneven(c.events_replace);
    refused(&c, "noise of later gradients");
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "of one size with different noise"));
}

static void text_without_a_number_is_refused(void **state)
{
    (void)state;
    static const char *const keys[] = { "batch",       "clip_norm",        "replace_change", "rounding_allowance",
                                        "sensitivity", "noise_multiplier", "noise_stddev" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t len;
        char key[64], *text = text_of("str2-sizes", &len), *kind = strstr(text, "\"kind\": \"Hessian\"");
        pvi_cert c;
        snprintf(key, sizeof key, "      \"%s\":", keys[i]);
        char *at = kind ? strstr(kind, key) : NULL;
        PVT_TRUE(at);
        const char *next = strchr(at, '\n') + 1;
        memmove(at, next, strlen(next) + 1);
        PVT_IS(pvi_cert_parse(ctx, arena, "c", text, strlen(text), &c), PV_E_FORMAT);
        pvi_free(ctx, text);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(every_number_is_checked),
                                      cmocka_unit_test(the_bound_is_the_models), cmocka_unit_test(rates_are_counted),
                                      cmocka_unit_test(noise_does_not_change_by_step),
                                      cmocka_unit_test(text_without_a_number_is_refused) };
    return cmocka_run_group_tests(all, setup, teardown);
}
