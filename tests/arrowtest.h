/* arrowtest.h - Arrow arrays and streams made by hand: every buffer exactly as long as it must be, in memory of its
 * own, so that a sanitizer sees a byte read too much; what is handed out is counted, so that a leak shows. */
#ifndef ARROWTEST_H
#define ARROWTEST_H
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "privet.h"

typedef struct at_column {
    const char *name, *format;
    const void *values;            /* of `size` bytes each; bits: a byte each, 0 or 1                       */
    size_t size;                   /* 0: text                                                               */
    const char *const *text;       /* format u, U or vu; NULL entries are null                              */
    const uint8_t *null;           /* 1: null; NULL: none                                                   */
    const struct at_column *words; /* dictionary, of `count` words                                          */
    int64_t count;
} at_column;

typedef struct at_batch { /* rows from .. from + n of the columns */
    int64_t from, n, pad, struct_pad;
    bool unknown_nulls; /* null_count -1 */
} at_batch;

typedef struct at_table {
    const at_column *column;
    int64_t columns;
    const at_batch *batch;
    int64_t batches;
    int64_t at, fail_at; /* the batch before which the stream fails; -1: none      */
    const char *error;
    const uint8_t *null_row;
    void (*spoil)(struct ArrowArray *a, int64_t batch); /* changes what is handed out */
    void (*spoil_schema)(struct ArrowSchema *s);
} at_table;

static int64_t at_live; /* arrays, schemas and streams not yet released */

typedef struct at_owned {
    void *buffer[8];
    struct ArrowArray *child;
    struct ArrowArray dictionary;
    int64_t children;
} at_owned;

static inline void at_release_array(struct ArrowArray *a)
{
    at_owned *o = a->private_data;
    for (int64_t i = 0; i < o->children; i++)
        if (o->child[i].release) o->child[i].release(&o->child[i]);
    if (o->dictionary.release) o->dictionary.release(&o->dictionary);
    for (int i = 0; i < 8; i++) free(o->buffer[i]);
    free(o->child);
    free(a->children);
    free((void *)a->buffers);
    free(o);
    a->release = NULL;
    at_live--;
}

static inline at_owned *at_begin(struct ArrowArray *a, int64_t length, int64_t offset, int64_t buffers)
{
    at_owned *o = calloc(1, sizeof *o);
    *a = (struct ArrowArray) { .length = length, .offset = offset, .n_buffers = buffers, .private_data = o };
    a->buffers = calloc(8, sizeof *a->buffers);
    a->release = at_release_array;
    at_live++;
    return o;
}

static inline void *at_exactly(at_owned *o, int k, size_t size)
{
    return o->buffer[k] = malloc(size ? size : 1);
}

static inline void at_bits(at_owned *o, int k, struct ArrowArray *a, const uint8_t *bit, int64_t from, bool flip)
{
    const int64_t n = a->length + a->offset;
    uint8_t *b = at_exactly(o, k, (size_t)(n + 7) / 8);
    memset(b, flip ? 0x55 : 0xaa, (size_t)(n + 7) / 8); /* rows of no concern */
    for (int64_t i = a->offset; i < n; i++) {
        const bool set = (bit[from + i - a->offset] != 0) != flip;
        b[i >> 3] = (uint8_t)((b[i >> 3] & ~(1u << (i & 7))) | (unsigned)set << (i & 7));
    }
    a->buffers[k] = b;
}

static inline void at_text(at_owned *o, struct ArrowArray *a, const at_column *c, int64_t from)
{
    const int64_t n = a->length + a->offset;
    const bool wide = strcmp(c->format, "U") == 0, view = strcmp(c->format, "vu") == 0;
    size_t size = 0;
    for (int64_t i = 0; i < a->length; i++) size += c->text[from + i] ? strlen(c->text[from + i]) : 0;
    char *bytes = at_exactly(o, 2, size);
    char *offsets = at_exactly(o, 1, view ? 16 * (size_t)n : (wide ? 8 : 4) * (size_t)(n + 1));
    size_t at = 0;
    memset(offsets, 0, view ? 16 * (size_t)n : (wide ? 8 : 4) * (size_t)(n + 1));
    for (int64_t i = 0; i < n; i++) {
        const char *s = i < a->offset ? NULL : c->text[from + i - a->offset];
        const size_t len = s ? strlen(s) : 0;
        if (len) memcpy(bytes + at, s, len);
        if (view) {
            int32_t word[4] = { (int32_t)len, 0, 0, (int32_t)at };
            if (len <= 12) memcpy(word + 1, s ? s : "", len);
            else memcpy(word + 1, s, 4);
            memcpy(offsets + 16 * i, word, 16);
        }
        at += len;
        if (!view && wide) ((int64_t *)(void *)offsets)[i + 1] = (int64_t)at;
        else if (!view) ((int32_t *)(void *)offsets)[i + 1] = (int32_t)at;
    }
    a->buffers[1] = offsets;
    a->buffers[2] = bytes;
    a->n_buffers = 3;
    if (view) {
        int64_t *sizes = at_exactly(o, 3, 8);
        *sizes = (int64_t)size;
        a->buffers[3] = sizes;
        a->n_buffers = 4;
    }
}

static inline void at_array(const at_column *c, int64_t from, int64_t n, int64_t pad, bool unknown,
                            struct ArrowArray *a)
{
    at_owned *o = at_begin(a, n, pad, 2);
    int64_t nulls = 0;
    uint8_t *null = calloc(1, (size_t)(from + n) + 1);
    for (int64_t i = from; i < from + n; i++) {
        null[i] = (c->null && c->null[i]) || (c->text && !c->text[i]);
        nulls += null[i];
    }
    a->null_count = unknown ? -1 : nulls;
    if (strcmp(c->format, "n") == 0) {
        a->n_buffers = 0;
        a->null_count = n;
    } else {
        if (nulls) at_bits(o, 0, a, null, from, true);
        if (strcmp(c->format, "b") == 0) {
            at_bits(o, 1, a, c->values, from, false);
        } else if (c->text) {
            at_text(o, a, c, from);
        } else {
            char *v = at_exactly(o, 1, c->size * (size_t)(n + pad));
            memset(v, 0xff, c->size * (size_t)pad); /* of no concern */
            memcpy(v + c->size * (size_t)pad, (const char *)c->values + c->size * (size_t)from, c->size * (size_t)n);
            a->buffers[1] = v;
        }
    }
    free(null);
    if (c->words) {
        at_array(c->words, 0, c->count, pad, unknown, &o->dictionary);
        a->dictionary = &o->dictionary;
    }
}

/* ---- schemas --------------------------------------------------------------------------------------------------- */
static inline void at_release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        if (s->children[i]->release) s->children[i]->release(s->children[i]);
        free(s->children[i]);
    }
    if (s->dictionary && s->dictionary->release) s->dictionary->release(s->dictionary);
    free(s->dictionary);
    free(s->children);
    s->release = NULL;
    at_live--;
}

static inline void at_schema(const at_column *c, struct ArrowSchema *s)
{
    *s = (struct ArrowSchema) { .format = c->format, .name = c->name, .flags = ARROW_FLAG_NULLABLE };
    s->release = at_release_schema;
    at_live++;
    if (c->words) {
        s->dictionary = calloc(1, sizeof *s->dictionary);
        at_schema(c->words, s->dictionary);
    }
}

/* ---- streams --------------------------------------------------------------------------------------------------- */
static inline int at_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *s)
{
    const at_table *t = stream->private_data;
    *s = (struct ArrowSchema) { .format = "+s", .name = "", .n_children = t->columns };
    s->release = at_release_schema;
    at_live++;
    s->children = calloc((size_t)t->columns + 1, sizeof *s->children);
    for (int64_t i = 0; i < t->columns; i++) {
        s->children[i] = calloc(1, sizeof **s->children);
        at_schema(&t->column[i], s->children[i]);
    }
    if (t->spoil_schema) t->spoil_schema(s);
    return 0;
}

static inline int at_get_next(struct ArrowArrayStream *stream, struct ArrowArray *a)
{
    at_table *t = stream->private_data;
    memset(a, 0, sizeof *a);
    if (t->at == t->fail_at) return EIO;
    if (t->at == t->batches) return 0;
    const at_batch *b = &t->batch[t->at++];
    at_owned *o = at_begin(a, b->n, b->struct_pad, 1);
    o->children = a->n_children = t->columns;
    o->child = calloc((size_t)t->columns + 1, sizeof *o->child);
    a->children = calloc((size_t)t->columns + 1, sizeof *a->children);
    for (int64_t i = 0; i < t->columns; i++) {
        at_array(&t->column[i], b->from - b->struct_pad, b->n + b->struct_pad, b->pad, b->unknown_nulls,
                 &o->child[i]);
        a->children[i] = &o->child[i];
    }
    if (t->null_row) {
        at_bits(o, 0, a, t->null_row, b->from, true);
        a->null_count = -1;
    }
    if (t->spoil) t->spoil(a, t->at);
    return 0;
}

static inline const char *at_last_error(struct ArrowArrayStream *stream)
{
    return ((const at_table *)stream->private_data)->error;
}

static inline void at_release_stream(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
    at_live--;
}

static inline struct ArrowArrayStream at_stream(at_table *t)
{
    at_live++;
    t->at = 0;
    return (struct ArrowArrayStream) { at_get_schema, at_get_next, at_last_error, at_release_stream, t };
}
#endif
