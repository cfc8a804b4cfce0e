/* ctx.c - the context: allocator, logger, progress, last error message. */
#include "core.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, LARGE = 8 << 20 };

/* Rows picked at random from a large array miss the page tables' cache nearly every time: ask for large pages, which
 * made a pass over Poisson samples 1.4 times as fast.  Only a wish: where it is not granted nothing changes. */
static void *libc_get(void *self, size_t n)
{
    (void)self;
    char *p = malloc(n);
    if (p && n >= LARGE) {
        char *const from = (char *)(((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
        madvise(from, (size_t)(p + n - from) & ~(size_t)(PAGE - 1), MADV_HUGEPAGE);
    }
    return p;
}

static void libc_put(void *self, void *p)
{
    (void)self;
    free(p);
}

pv_status pv_ctx_create(const pv_alloc *a, pv_ctx **out)
{
    const pv_alloc libc = { libc_get, libc_put, NULL };

    if (out) *out = NULL;
    if (!out || (a && (!a->get || !a->put))) return PV_E_ARG;
    if (!a) a = &libc;
    const locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!locale) return PV_E_NOMEM;
    pv_ctx *ctx = a->get(a->self, sizeof *ctx);
    if (!ctx) {
        freelocale(locale);
        return PV_E_NOMEM;
    }
    memset(ctx, 0, sizeof *ctx);
    ctx->magic = PVI_CTX;
    ctx->ctx = ctx;
    ctx->locale = locale;
    ctx->alloc = *a;
    *out = ctx;
    return PV_OK;
}

const char *pv_ctx_errmsg(const pv_ctx *ctx)
{
    return pvi_alive(ctx, PVI_CTX, __func__) ? ctx->err : "no context";
}

void pv_string_free(pv_ctx *ctx, char *s)
{
    if (pvi_alive(ctx, PVI_CTX, __func__)) pvi_free(ctx, s);
}

void pv_ctx_on_log(pv_ctx *ctx, pv_log_fn fn, void *user)
{
    if (!pvi_alive(ctx, PVI_CTX, __func__)) return;
    ctx->log = fn;
    ctx->log_user = user;
}

void pv_ctx_on_progress(pv_ctx *ctx, pv_progress_fn fn, void *user)
{
    if (!pvi_alive(ctx, PVI_CTX, __func__)) return;
    ctx->progress = fn;
    ctx->progress_user = user;
}

int pvi_character(const unsigned char *s)
{
    if (s[0] < 0x80) return s[0] >= 0x20 && s[0] != 0x7f;
    const int n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || (s[0] == 0xc2 && s[1] < 0xa0)) return 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    return n;
}

/* Control characters of a hostile file must not reach a terminal through a message. */
static void make_printable(char *s)
{
    while (*s) {
        const int n = pvi_character((const unsigned char *)s);
        if (n == 0) *s = '?';
        s += n ? n : 1;
    }
}

pv_status pvi_fail(pv_ctx *ctx, pv_status s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(ctx->err, sizeof ctx->err, fmt, ap);
    va_end(ap);
    make_printable(ctx->err);
    return s;
}

pv_status pvi_nomem(pv_ctx *ctx)
{
    return pvi_fail(ctx, PV_E_NOMEM, "out of memory");
}

void pvi_log(pv_ctx *ctx, pv_level level, const char *fmt, ...)
{
    char line[1024];
    va_list ap;

    if (!ctx->log) return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    make_printable(line);
    ctx->log(ctx->log_user, level, line);
    pvi_after_host(ctx);
}

bool pvi_progress(pv_ctx *ctx, const char *what, double done, double total, double epsilon)
{
    if (!ctx->progress) return true;
    const bool go_on = ctx->progress(ctx->progress_user, what, done, total, epsilon);
    pvi_after_host(ctx);
    return go_on;
}

void *pvi_alloc(pv_ctx *ctx, size_t size)
{
    if (size > PTRDIFF_MAX) return NULL;
    void *p = ctx->alloc.get(ctx->alloc.self, size ? size : 1);
    if (p) memset(p, 0, size);
    return p;
}

void *pvi_realloc(pv_ctx *ctx, void *p, size_t old_size, size_t size)
{
    if (size > PTRDIFF_MAX) return NULL;
    void *q = ctx->alloc.get(ctx->alloc.self, size ? size : 1);
    if (!q) return NULL;
    if (p) memcpy(q, p, old_size < size ? old_size : size);
    pvi_free(ctx, p);
    return q;
}

void pvi_free(pv_ctx *ctx, void *p)
{
    if (p) ctx->alloc.put(ctx->alloc.self, p);
}

char *pvi_strdup(pv_ctx *ctx, const char *s)
{
    const size_t n = strlen(s) + 1;
    char *t = pvi_alloc(ctx, n);
    if (t) memcpy(t, s, n);
    return t;
}

_Noreturn void pvi_misuse(const char *cond, const char *file, int line)
{
    /* The one place that writes to stderr: the process ends here, and silence would hide why. */
    fprintf(stderr, "privet: internal privacy check failed: %s (%s:%d)\n", cond, file, line);
    abort();
}
