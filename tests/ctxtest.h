/* ctxtest.h - a context for the tests of a file, opened and freed around each or all of them. */
#ifndef CTXTEST_H
#define CTXTEST_H
#include "pvtest.h"

static pv_ctx *ctx;

static inline int setup(void **state)
{
    (void)state;
    return pv_ctx_create(NULL, &ctx) != PV_OK;
}

static inline int teardown(void **state)
{
    (void)state;
    pv_ctx_free(ctx);
    return 0;
}
#endif
