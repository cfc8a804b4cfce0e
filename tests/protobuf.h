/* protobuf.h - fields of a protocol buffer, for tests that read what was written. */
#ifndef PROTOBUF_H
#define PROTOBUF_H
#include "pvtest.h"

static inline uint64_t little(const uint8_t *p, int n)
{
    uint64_t x = 0;
    while (n--) x = x << 8 | p[n];
    return x;
}

typedef struct field {
    int no, type;
    uint64_t value;
    const uint8_t *p; /* type 2: value bytes */
} field;

static inline uint64_t varint(const uint8_t **p, const uint8_t *end)
{
    uint64_t x = 0;
    for (int shift = 0;; shift += 7) {
        PVT_TRUE(*p < end && shift < 64);
        x |= (uint64_t)(**p & 0x7f) << shift;
        if (!(*(*p)++ & 0x80)) return x;
    }
}

static inline bool next(const uint8_t **p, const uint8_t *end, field *f)
{
    if (*p == end) return false;
    const uint64_t tag = varint(p, end);
    *f = (field) { .no = (int)(tag >> 3), .type = (int)(tag & 7) };
    if (f->type == 0) {
        f->value = varint(p, end);
    } else if (f->type == 2) {
        f->value = varint(p, end);
        f->p = *p;
        PVT_TRUE((uint64_t)(end - *p) >= f->value);
        *p += f->value;
    } else {
        PVT_IS(f->type, 5);
        *p += 4;
    }
    return true;
}

static inline bool is_text(const field *f, const char *s)
{
    return f->value == strlen(s) && memcmp(f->p, s, f->value) == 0;
}

/* The n-th field of that number; false: there are fewer. */
static inline bool find(const field *in, int no, int n, field *out)
{
    const uint8_t *p = in->p;
    while (next(&p, in->p + in->value, out))
        if (out->no == no && n-- == 0) return true;
    return false;
}

/* Metadata of an ONNX file: is there such a key, with this value unless it is NULL? */
static inline bool has_fact(const field *file_, const char *key, const char *value)
{
    field pair, k, v;
    for (int i = 0; find(file_, 14, i, &pair); i++)
        if (find(&pair, 1, 0, &k) && find(&pair, 2, 0, &v) && is_text(&k, key)) return !value || is_text(&v, value);
    return false;
}
#endif
