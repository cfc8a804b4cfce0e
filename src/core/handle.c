/* handle.c - what every public call does first and last, and what a caller holds.
 *
 * Host      A call computes in the default floating-point environment (host_fenv.c) and in the locale "C" of its
 *           thread, and puts back the caller's: a comma as decimal sign would end up in certificates, and a
 *           certificate of one country would not be one in the next.  uselocale() changes the calling thread alone;
 *           setlocale(), which changes all, is never called.  Threads of the pool begin in "C" (parallel.c).
 * Handles   A magic word at the beginning tells a live handle from one of another kind, and, as long as its memory
 *           was not given to somebody else, from one that was freed: best effort, which catches the common mistake.
 *           A context counts what was made from it, so that pv_ctx_free can tell that it came too early. */
#include "core.h"

#include <stdlib.h>

typedef struct any {
    PVI_HANDLE;
} any;

bool pvi_alive(const void *handle, pvi_kind kind, const char *call)
{
    if (!handle) return false;
    const uint32_t magic = ((const any *)handle)->magic;
    if (magic == (uint32_t)kind) return true;
    /* Nothing that lies there can be trusted, not even to hold a context for a message. */
    fprintf(stderr, "privet: %s: %s\n", call,
            magic == PVI_FREED ? "this handle was freed before" : "this is not a handle of that kind, or no longer");
    abort();
}

void *pvi_handle_open(pv_ctx *ctx, pvi_kind kind, size_t size)
{
    any *h = pvi_alloc(ctx, size);
    if (!h) return pvi_nomem(ctx), NULL;
    h->magic = (uint32_t)kind;
    h->ctx = ctx;
    ctx->handles++;
    return h;
}

static void end_context(pv_ctx *ctx)
{
    pvi_pool_free(ctx->pool, ctx);
    freelocale(ctx->locale);
    const pv_alloc a = ctx->alloc;
    ctx->magic = PVI_FREED;
    a.put(a.self, ctx);
}

void pvi_handle_close(void *handle)
{
    any *h = handle;
    pv_ctx *ctx = h->ctx;
    h->magic = PVI_FREED;
    pvi_free(ctx, h);
    if (--ctx->handles == 0 && ctx->closing) end_context(ctx);
}

void pv_ctx_free(pv_ctx *ctx)
{
    if (!pvi_alive(ctx, PVI_CTX, __func__)) return;
    if (ctx->handles == 0) {
        end_context(ctx);
        return;
    }
    pvi_host host;
    pvi_enter(&host, ctx);
    pvi_log(ctx, PV_LOG_WARN, "pv_ctx_free: %d made from this context %s alive; it goes with the last of them",
            ctx->handles, ctx->handles == 1 ? "is" : "are");
    pvi_leave(&host);
    ctx->closing = true;
    ctx->log = NULL; /* whoever frees a context expects to be called no more */
    ctx->progress = NULL;
}

void pvi_enter(pvi_host *host, pv_ctx *ctx)
{
    pvi_fenv_default(&host->fenv);
    host->locale = uselocale(ctx->locale);
    ctx->err[0] = '\0';
}

void pvi_leave(pvi_host *host)
{
    pvi_fenv_restore(&host->fenv);
    uselocale(host->locale);
}

pv_status pvi_done(pv_ctx *ctx, pv_status s)
{
    if (s == PV_OK) ctx->err[0] = '\0';
    else if (!ctx->err[0]) pvi_fail(ctx, s, "%s", pv_status_name(s));
    return s;
}
