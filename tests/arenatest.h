/* arenatest.h - a context and an arena for the tests of a file, opened and freed around each or all of them. */
#ifndef ARENATEST_H
#define ARENATEST_H
#include "core/core.h"
#include "pvtest.h"

static pv_ctx *ctx;
static pv_arena *arena;

static inline int setup(void **state)
{
    (void)state;
    return pv_ctx_create(NULL, &ctx) != PV_OK || !(arena = pvi_arena_create(ctx));
}

static inline int teardown(void **state)
{
    (void)state;
    pvi_arena_free(arena);
    pv_ctx_free(ctx);
    return 0;
}
#endif
