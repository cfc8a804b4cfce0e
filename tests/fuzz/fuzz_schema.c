/* fuzz_schema.c - any text as a schema: refused with a line and column, or written back to what reads the same. */
#include "data/reader.h"
#include "fuzz.h"

static void check_schema(const pvi_schema *s)
{
    int64_t features = 0, labels = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const pvi_column *c = &s->column[i];
        FUZZ_REQUIRE(c->name && c->first == features);
        features += c->type == PVI_COL_NUMBER ? 1 : c->type == PVI_COL_CATEGORY ? c->words.codes : 0;
        labels += c->type == PVI_COL_LABEL;
        if (c->type == PVI_COL_NUMBER) FUZZ_REQUIRE(c->lo < c->hi && c->range > 0 && isfinite(c->range));
        for (int64_t k = 0; k < c->words.count; k++) {
            const pvi_word *w = &c->words.word[k];
            char *text = calloc(1, w->len + 16); /* as the reader does: 16 readable bytes */
            memcpy(text, w->text, w->len);
            FUZZ_REQUIRE(pvi_dictionary_find(&c->words, text, w->len) == w->code && w->code < c->words.codes);
            free(text);
        }
    }
    FUZZ_REQUIRE(features == s->features && features > 0 && labels <= 1 && (labels == 1) == (s->label >= 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pv_ctx *ctx;
    pvi_schema *s, *again;
    char *json, *back;
    if (size > 16384 || pv_ctx_create(NULL, &ctx) != PV_OK) return 0;
    pv_arena *a = pvi_arena_create(ctx);
    char *copy = malloc(size + 1);
    memcpy(copy, data, size);
    const pv_status st = pvi_schema_parse(ctx, a, "f", copy, size, &s);
    if (st == PV_OK) {
        check_schema(s);
        FUZZ_REQUIRE(pvi_schema_json(ctx, s, &json) == PV_OK);
        FUZZ_REQUIRE(pvi_schema_load(ctx, a, json, &again) == PV_OK);
        check_schema(again);
        FUZZ_REQUIRE(pvi_schema_json(ctx, again, &back) == PV_OK && strcmp(json, back) == 0);
        pvi_free(ctx, json);
        pvi_free(ctx, back);
    } else {
        FUZZ_REQUIRE(s == NULL);
        fuzz_refused(ctx, st);
    }
    free(copy);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
    return 0;
}
