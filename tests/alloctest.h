/* alloctest.h - a context whose memory is counted, and runs out when a test says so. */
#ifndef ALLOCTEST_H
#define ALLOCTEST_H
#include "pvtest.h"

#include <malloc.h>

typedef struct pvt_memory {
    int64_t left; /* allocations that succeed before one fails; and so do all behind it, unless `once` */
    bool once;
    int64_t asked, live; /* allocations so far; blocks not given back */
    size_t bytes, most;  /* of those blocks; the most at a time */
} pvt_memory;

static inline void *pvt_get(void *self, size_t n)
{
    pvt_memory *m = self;
    const int64_t left = m->left--;
    m->asked++;
    void *p = (m->once ? left == 0 : left <= 0) ? NULL : malloc(n);
    m->live += p != NULL;
    m->bytes += p ? malloc_usable_size(p) : 0;
    if (m->bytes > m->most) m->most = m->bytes;
    return p;
}

static inline void pvt_put(void *self, void *p)
{
    pvt_memory *m = self;
    m->live--;
    m->bytes -= malloc_usable_size(p);
    free(p);
}

static inline pv_alloc pvt_alloc(pvt_memory *m)
{
    return (pv_alloc) { pvt_get, pvt_put, m };
}

/* A context with so much memory as it wants; what it has asked for by then does not count. */
static inline pv_ctx *pvt_counted(pvt_memory *m)
{
    const pv_alloc a = pvt_alloc(m);
    pv_ctx *c;
    m->left = INT64_MAX;
    PVT_OK(pv_ctx_create(&a, &c));
    m->asked = 0;
    return c;
}
#endif
