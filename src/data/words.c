/* words.c - declared words (labels, categories, missing markers) to codes: an open-addressed table.
 *
 * The words are public, so the table's shape and the time of a look-up tell nothing about rows that
 * their encoding does not. */
#include "decimal.h"
#include "reader.h"

static uint64_t load(const char *s, size_t len) /* 1 .. 8 bytes, no more are touched */
{
    if (len >= 8) return pvi_load8(s);
    uint32_t a, b;
    if (len < 4)
        return len ? (uint64_t)(uint8_t)s[0] | (uint64_t)(uint8_t)s[len / 2] << 8 |
                         (uint64_t)(uint8_t)s[len - 1] << 16
                   : 0;
    memcpy(&a, s, 4);
    memcpy(&b, s + len - 4, 4);
    return (uint64_t)a | (uint64_t)b << 32;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 32);
}

static uint64_t hash_of(const char *s, size_t len)
{
    uint64_t h = mix(0, len);
    for (; len > 8; s += 8, len -= 8) h = mix(h, pvi_load8(s));
    return mix(h, load(s, len));
}

static bool same(const pvi_word *w, const char *s, size_t len)
{
    return w->len == len && memcmp(w->text, s, len) == 0;
}

/* The slot that holds the word, or the free one where it belongs. */
static uint64_t place(const pvi_words *w, const char *s, size_t len)
{
    uint64_t k = hash_of(s, len) & w->mask;
    while (w->slot[k] >= 0 && !same(&w->word[w->slot[k]], s, len)) k = (k + 1) & w->mask;
    return k;
}

pv_status pvi_words_build(pv_ctx *ctx, pv_arena *a, int64_t n, const pvi_span *text, const int32_t *code,
                          pvi_words *out, int64_t *twice)
{
    uint64_t slots = 4;
    while (slots < (uint64_t)n * 2) slots *= 2;
    *twice = -1;
    *out = (pvi_words) { .count = n, .mask = slots - 1 };
    out->word = pv_arena_get(a, sizeof *out->word * (size_t)(n ? n : 1));
    out->slot = pv_arena_get(a, sizeof *out->slot * slots);
    if (!out->word || !out->slot) return pvi_nomem(ctx);
    memset(out->slot, 0xff, sizeof *out->slot * slots);
    for (int64_t i = 0; i < n; i++) {
        out->word[i] = (pvi_word) { text[i].s, text[i].len, code[i], NAN };
        if (!pvi_parse_f64(text[i].s, text[i].len, &out->word[i].num)) out->word[i].num = NAN; /* no padding here */
        const uint64_t k = place(out, text[i].s, text[i].len);
        if (out->slot[k] >= 0) {
            *twice = i;
            return PV_OK;
        }
        out->slot[k] = (int32_t)i;
        if (code[i] >= out->codes) out->codes = code[i] + 1;
    }
    return PV_OK;
}

int32_t pvi_words_find(const pvi_words *w, const char *s, size_t len)
{
    const int32_t i = w->slot[place(w, s, len)];
    return i < 0 ? -1 : w->word[i].code;
}

int32_t pvi_words_match(const pvi_words *w, const char *s, size_t len)
{
    const int32_t code = pvi_words_find(w, s, len);
    double x;
    if (code >= 0 || !pvi_number(s, len, &x)) return code;
    for (int64_t i = 0; i < w->count; i++)
        if (w->word[i].num == x) return w->word[i].code;
    return -1;
}
