/* strbuf.c - growing text with a sticky failure flag. */
#include "core.h"

static bool room(pvi_str *b, size_t extra)
{
    if (b->failed) return false;
    if (b->len + extra + 1 <= b->cap) return true;
    size_t cap = b->cap ? b->cap : 256;
    while (cap < b->len + extra + 1) cap *= 2;
    char *s = pvi_realloc(b->ctx, b->s, b->len, cap);
    if (!s) {
        b->failed = true;
        return false;
    }
    b->s = s;
    b->cap = cap;
    return true;
}

void pvi_str_add(pvi_str *b, const char *s, size_t len)
{
    if (!room(b, len)) return;
    memcpy(b->s + b->len, s, len);
    b->len += len;
    b->s[b->len] = '\0';
}

void pvi_str_puts(pvi_str *b, const char *s)
{
    pvi_str_add(b, s, strlen(s));
}

void pvi_str_printf(pvi_str *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !room(b, (size_t)n)) return;
    va_start(ap, fmt);
    vsnprintf(b->s + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
}

void pvi_str_free(pvi_str *b)
{
    pvi_free(b->ctx, b->s);
    b->s = NULL;
    b->len = b->cap = 0;
}

pv_status pvi_str_take(pvi_str *b, char **out)
{
    if (!b->failed && !b->s) pvi_str_add(b, "", 0);
    if (b->failed) {
        pvi_str_free(b);
        *out = NULL;
        return pvi_nomem(b->ctx);
    }
    *out = b->s;
    b->s = NULL;
    b->len = b->cap = 0;
    return PV_OK;
}
