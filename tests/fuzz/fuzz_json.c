/* fuzz_json.c - any text is refused with a line and column, or written back and read to the same tree. */
#include "fuzz.h"

static void write_tree(pvi_jw *w, const char *key, const pvi_json *v)
{
    int64_t i;
    switch (v->type) {
    case PVI_JNULL: pvi_jw_str(w, key, NULL); return;
    case PVI_JBOOL: pvi_jw_bool(w, key, v->num != 0.0); return;
    case PVI_JSTR: pvi_jw_str(w, key, v->text); return;
    case PVI_JNUM:
        if (pvi_json_i64(v, &i)) pvi_jw_i64(w, key, i);
        else pvi_jw_f64(w, key, v->num);
        return;
    case PVI_JARR:
    case PVI_JOBJ: break;
    }
    pvi_jw_open(w, key, v->type == PVI_JOBJ ? '{' : '[');
    for (const pvi_json *c = v->child; c; c = c->next) write_tree(w, c->key, c);
    pvi_jw_close(w, v->type == PVI_JOBJ ? '}' : ']');
}

static bool same(const pvi_json *x, const pvi_json *y)
{
    if (x->type != y->type || x->count != y->count || x->num != y->num) return false;
    if ((x->key != NULL) != (y->key != NULL) || (x->key && strcmp(x->key, y->key) != 0)) return false;
    if (x->type == PVI_JSTR && (x->text_len != y->text_len || memcmp(x->text, y->text, x->text_len) != 0))
        return false;
    for (x = x->child, y = y->child; x && y; x = x->next, y = y->next)
        if (!same(x, y)) return false;
    return !x && !y;
}

static void check_round_trip(pv_ctx *ctx, pv_arena *a, const pvi_json *v, int indent)
{
    pvi_str text = { .ctx = ctx };
    pvi_jw w = { .out = &text, .indent = indent };
    pvi_json *back;
    write_tree(&w, NULL, v);
    FUZZ_REQUIRE(!text.failed && text.len == strlen(text.s));
    FUZZ_REQUIRE(pvi_json_parse(ctx, a, "again", text.s, text.len, &back) == PV_OK && same(v, back));
    pvi_str_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pv_ctx *ctx;
    pvi_json *v;
    if (size > 65536 || pv_ctx_create(NULL, &ctx) != PV_OK) return 0;
    pv_arena *a = pvi_arena_create(ctx);
    char *copy = malloc(size + 1); /* exactly as long as the input: reading past the end is seen */
    memcpy(copy, data, size);
    const pv_status s = pvi_json_parse(ctx, a, "f", copy, size, &v);
    if (s == PV_OK) {
        check_round_trip(ctx, a, v, 0);
        check_round_trip(ctx, a, v, 2);
    } else {
        FUZZ_REQUIRE(v == NULL);
        fuzz_refused(ctx, s);
    }
    free(copy);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
    return 0;
}
