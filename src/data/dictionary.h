/* dictionary.h - declared words (labels, categories, missing markers) to codes; the look-up is inlined into kernels.
 *
 * Text to be looked up has 16 readable bytes behind its start.  Words of up to 16 bytes are two masked loads, one
 * hash and one comparison: the only branches depend on the outcome. */
#ifndef PVI_DICTIONARY_H
#define PVI_DICTIONARY_H
#include "decimal.h"

typedef struct pvi_word {
    const char *text;
    size_t len;
    int32_t code;
    uint64_t key[2]; /* the first 16 bytes, zeros behind the text                                    */
    double num;      /* NAN: not a number                                                            */
} pvi_word;
typedef struct pvi_dictionary { /* all in the load's arena                                                */
    pvi_word *word;
    int64_t count, codes; /* words; distinct codes 0 .. codes-1                                      */
    int32_t *slot;        /* open addressing, -1: free                                               */
    uint64_t mask;
} pvi_dictionary;
typedef struct pvi_span {
    const char *s;
    size_t len;
} pvi_span;
/* Spans stay borrowed.  *twice: index of a word that occurs before, -1 if none; PV_E_NOMEM or PV_OK. */
pv_status pvi_dictionary_build(pv_ctx *ctx, pv_arena *a, int64_t n, const pvi_span *text, const int32_t *code,
                               pvi_dictionary *out, int64_t *twice);
static inline uint64_t pvi_word_mix(uint64_t a, uint64_t b)
{
    const uint64_t h = (a ^ (b * 0xC2B2AE3D27D4EB4Fu)) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 32);
}
static inline void pvi_word_key(const char *s, size_t len, uint64_t key[2])
{
    static const uint64_t keep[9] = {
        0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff
    };
    key[0] = pvi_load8(s) & keep[len < 8 ? len : 8];
    key[1] = pvi_load8(s + 8) & keep[len < 8 ? 0 : len - 8];
}
/* The code of a word, or -1 - the free slot where it belongs. */
static inline int64_t pvi_dictionary_place(const pvi_dictionary *w, uint64_t k0, uint64_t k1, size_t len)
{
    uint64_t k = pvi_word_mix(k0 ^ len, k1) & w->mask;
    for (; w->slot[k] >= 0; k = (k + 1) & w->mask) {
        const pvi_word *v = &w->word[w->slot[k]];
        if (((v->key[0] ^ k0) | (v->key[1] ^ k1) | (v->len ^ len)) == 0) return v->code;
    }
    return -1 - (int64_t)k;
}
int32_t pvi_dictionary_find_long(const pvi_dictionary *w, const char *s,
                                 size_t len); /* above 16 bytes              */
static inline int32_t pvi_dictionary_find(const pvi_dictionary *w, const char *s,
                                          size_t len) /* code, or -1          */
{
    uint64_t key[2];
    if (len > 16) return pvi_dictionary_find_long(w, s, len);
    pvi_word_key(s, len, key);
    const int64_t code = pvi_dictionary_place(w, key[0], key[1], len);
    return code < 0 ? -1 : (int32_t)code;
}
int32_t pvi_dictionary_match(const pvi_dictionary *w, const char *s,
                             size_t len); /* also equal as numbers: 1 = +1.0 */
#endif
