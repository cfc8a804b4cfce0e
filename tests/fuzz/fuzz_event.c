/* fuzz_event.c - an event tree is refused, or round-trips and gets a cost that is never NaN or negative. */
#include "acct/acct.h"
#include "fuzz.h"

static void check_cost(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev)
{
    pvi_cost loose, tight;
    const pv_status s = pvi_account(ctx, accountant, rel, ev, 1e-6, &tight);
    if (s != PV_OK) {
        fuzz_refused(ctx, s);
        return;
    }
    FUZZ_REQUIRE(tight.epsilon >= 0 && tight.epsilon_lower <= tight.epsilon);
    if (pvi_account(ctx, accountant, rel, ev, 1e-3, &loose) == PV_OK) /* a larger delta never costs more */
        FUZZ_REQUIRE(loose.epsilon <= tight.epsilon * (1 + 1e-9));
}

static void check_text(pv_ctx *ctx, pv_arena *a, const pv_event *ev)
{
    pvi_str text = { .ctx = ctx };
    pvi_jw w = { .out = &text };
    pvi_json *v;
    const pv_event *back;
    pvi_event_write(ev, &w, NULL);
    FUZZ_REQUIRE(!text.failed && pvi_json_parse(ctx, a, "again", text.s, text.len, &v) == PV_OK);
    FUZZ_REQUIRE(pvi_event_parse(ctx, a, "again", v, &back) == PV_OK && pvi_event_equal(ev, back));
    pvi_str_free(&text);
}

static void check_meter(pv_arena *a, const pv_event *ev)
{
    static const pv_event other = { .kind = PV_EV_EPS_DELTA, .a = 0.123, .b = 0.456 };
    pvi_meter *m = pvi_meter_create(a, ev);
    FUZZ_REQUIRE(m != NULL && pvi_meter_spend(m, 0, &other) != PV_OK);
    FUZZ_REQUIRE(pvi_meter_fraction(m) >= 0 && pvi_meter_fraction(m) <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pv_ctx *ctx;
    pvi_json *v;
    const pv_event *ev = NULL;
    if (size > 8192 || pv_ctx_create(NULL, &ctx) != PV_OK) return 0;
    pv_arena *a = pvi_arena_create(ctx);
    pv_status s = pvi_json_parse(ctx, a, "f", (const char *)data, size, &v);
    if (s == PV_OK) s = pvi_event_parse(ctx, a, "f", v, &ev);
    if (s == PV_OK) {
        check_text(ctx, a, ev);
        check_meter(a, ev);
        const pv_plugin *p;
        for (int64_t i = 0; (p = pv_nth(PV_KIND_accountant, i)); i++)
            for (int rel = PV_REL_ZERO_OUT; rel <= PV_REL_REPLACE; rel++)
                check_cost(ctx, p->name, (pv_relation)rel, ev);
    } else {
        fuzz_refused(ctx, s);
    }
    pvi_arena_free(a);
    pv_ctx_free(ctx);
    return 0;
}
