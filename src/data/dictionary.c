/* dictionary.c - declared words (labels, categories, missing markers) to codes: an open-addressed table.
 *
 * The words are public, so the table's shape and the time of a look-up tell nothing about rows that
 * their encoding does not. */
#include "dictionary.h"

static uint64_t long_hash(const char *s, size_t len)
{
    uint64_t h = len;
    for (; len > 8; s += 8, len -= 8) h = pvi_word_mix(h ^ pvi_load8(s), len);
    uint64_t rest = 0;
    memcpy(&rest, s, len);
    return pvi_word_mix(h ^ rest, len);
}

/* Words above 16 bytes: the code, or the free slot where the word belongs as -1 - slot. */
static int64_t long_place(const pvi_dictionary *w, const char *s, size_t len)
{
    uint64_t k = long_hash(s, len) & w->mask;
    for (; w->slot[k] >= 0; k = (k + 1) & w->mask) {
        const pvi_word *v = &w->word[w->slot[k]];
        if (v->len == len && memcmp(v->text, s, len) == 0) return v->code;
    }
    return -1 - (int64_t)k;
}

int32_t pvi_dictionary_find_long(const pvi_dictionary *w, const char *s, size_t len)
{
    const int64_t i = long_place(w, s, len);
    return i < 0 ? -1 : (int32_t)i;
}

static int64_t place(const pvi_dictionary *w, const pvi_word *v)
{
    return v->len > 16 ? long_place(w, v->text, v->len) : pvi_dictionary_place(w, v->key[0], v->key[1], v->len);
}

pv_status pvi_dictionary_build(pv_ctx *ctx, pv_arena *a, int64_t n, const pvi_span *text, const int32_t *code,
                               pvi_dictionary *out, int64_t *twice)
{
    uint64_t slots = 4;
    while (slots < (uint64_t)n * 4) slots *= 2;
    *twice = -1;
    *out = (pvi_dictionary) { .count = n, .mask = slots - 1 };
    out->word = pv_arena_get(a, sizeof *out->word * (size_t)(n ? n : 1));
    out->slot = pv_arena_get(a, sizeof *out->slot * slots);
    if (!out->word || !out->slot) return pvi_nomem(ctx);
    memset(out->slot, 0xff, sizeof *out->slot * slots);
    for (int64_t i = 0; i < n; i++) {
        pvi_word *v = &out->word[i];
        *v = (pvi_word) { .text = text[i].s, .len = text[i].len, .code = code[i], .num = NAN };
        if (!pvi_parse_f64(text[i].s, text[i].len, &v->num)) v->num = NAN;
        char padded[32] = { 0 }; /* declared texts have no padding of their own */
        memcpy(padded, text[i].s, text[i].len < 16 ? text[i].len : 16);
        pvi_word_key(padded, text[i].len < 16 ? text[i].len : 16, v->key);
        const int64_t k = place(out, v);
        if (k >= 0) {
            *twice = i;
            return PV_OK;
        }
        out->slot[-1 - k] = (int32_t)i;
        if (code[i] >= out->codes) out->codes = code[i] + 1;
    }
    return PV_OK;
}

int32_t pvi_dictionary_match(const pvi_dictionary *w, const char *s, size_t len)
{
    const int32_t code = pvi_dictionary_find(w, s, len);
    double x;
    if (code >= 0 || !pvi_number(s, len, &x)) return code;
    for (int64_t i = 0; i < w->count; i++)
        if (w->word[i].num == x) return w->word[i].code;
    return -1;
}
