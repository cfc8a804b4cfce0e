/* fuzz_settings.c - settings are refused in one line, or dumped and loaded to the same settings.
 *
 * First byte: 0 a JSON text for pv_plan_load; otherwise key=value lines for pv_plan_set. */
#include "privet.h"

#include "fuzz.h"

static char *dump(pv_plan *plan)
{
    char *json = NULL;
    FUZZ_REQUIRE(pv_plan_dump(plan, &json) == PV_OK && json);
    return json;
}

/* What was accepted can be written, read, and is then written the same. */
static void check_round_trip(pv_ctx *ctx, pv_plan *plan)
{
    pv_plan *again;
    char *first = dump(plan), *second;
    FUZZ_REQUIRE(pv_plan_create(ctx, &again) == PV_OK);
    if (pv_plan_load(again, first, strlen(first), "dump") != PV_OK) {
        fprintf(stderr, "%s\n%s\n", first, pv_ctx_errmsg(ctx));
        abort();
    }
    second = dump(again);
    FUZZ_REQUIRE(strcmp(first, second) == 0);
    pv_string_free(ctx, first);
    pv_string_free(ctx, second);
    pv_plan_free(again);
}

static void set_lines(pv_ctx *ctx, pv_plan *plan, char *text)
{
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *value = strchr(line, '=');
        if (value) *value++ = '\0';
        const pv_status s = pv_plan_set(plan, line, value ? value : "");
        if (s != PV_OK) fuzz_refused(ctx, s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pv_ctx *ctx;
    pv_plan *plan;
    if (size < 1 || size > 16384 || pv_ctx_create(NULL, &ctx) != PV_OK) return 0;
    FUZZ_REQUIRE(pv_plan_create(ctx, &plan) == PV_OK);
    char *text = calloc(1, size);
    memcpy(text, data + 1, size - 1);
    if (data[0] == 0) {
        const pv_status s = pv_plan_load(plan, text, size - 1, "f");
        if (s != PV_OK) fuzz_refused(ctx, s);
    } else {
        set_lines(ctx, plan, text);
    }
    check_round_trip(ctx, plan);
    free(text);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
    return 0;
}
