/* arena.c - scratch memory freed as a whole: a list of chunks, 64-byte aligned pieces. */
#include "core.h"

#ifndef PVI_ARENA_CHUNK
#define PVI_ARENA_CHUNK (1 << 16) /* tests set 1, so that every piece is an allocation that can fail */
#endif

enum { ALIGN = 64, CHUNK = PVI_ARENA_CHUNK };

typedef struct chunk {
    struct chunk *next;
    size_t used, size; /* of the payload, which starts at the first aligned byte after the header */
} chunk;

struct pv_arena {
    pv_ctx *ctx;
    chunk *head;
};

static char *payload(chunk *c)
{
    const uintptr_t p = (uintptr_t)(c + 1);
    return (char *)((p + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
}

pv_arena *pvi_arena_create(pv_ctx *ctx)
{
    pv_arena *a = pvi_alloc(ctx, sizeof *a);
    if (a) a->ctx = ctx;
    return a;
}

pv_ctx *pvi_arena_ctx(const pv_arena *a)
{
    return a->ctx;
}

void pvi_arena_free(pv_arena *a)
{
    if (!a) return;
    for (chunk *c = a->head, *next; c; c = next) {
        next = c->next;
        pvi_free(a->ctx, c);
    }
    pvi_free(a->ctx, a);
}

static chunk *grow(pv_arena *a, size_t need)
{
    const size_t size = need > CHUNK ? need : CHUNK;
    chunk *c = pvi_alloc(a->ctx, sizeof *c + ALIGN + size);
    if (!c) return NULL;
    c->size = size;
    if (size > CHUNK && a->head) { /* a big piece must not hide the room left in the current chunk */
        c->next = a->head->next;
        a->head->next = c;
    } else {
        c->next = a->head;
        a->head = c;
    }
    return c;
}

void *pv_arena_get(pv_arena *a, size_t size)
{
    if (size > PTRDIFF_MAX - CHUNK) return NULL;
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    chunk *c = a->head;
    if (!c || c->size - c->used < size) c = grow(a, size);
    if (!c) return NULL;
    char *p = payload(c) + c->used; /* zeroed: pvi_alloc zeroes, pieces are never reused */
    c->used += size;
    return p;
}

double *pv_arena_f64(pv_arena *a, int64_t n)
{
    if (n < 0 || (uint64_t)n > PTRDIFF_MAX / sizeof(double)) return NULL;
    return pv_arena_get(a, (size_t)n * sizeof(double));
}

char *pvi_arena_strdup(pv_arena *a, const char *s, size_t len)
{
    char *t = pv_arena_get(a, len + 1);
    if (t) memcpy(t, s, len);
    return t;
}
