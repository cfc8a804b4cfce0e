/* json_view.c - looks into JSON the library wrote, for display.
 *
 * A value is a pointer to its first character.  The text is trusted to be valid JSON: it never
 * comes from outside the process, files are parsed by the library. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *space(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r') p++;
    return p;
}

static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1]) p++;
    return *p ? p + 1 : p;
}

static const char *skip(const char *p)
{
    int depth = 0;
    if (*p == '"') return skip_string(p);
    if (*p != '{' && *p != '[') return p + strcspn(p, ",}] \n\t\r");
    while (*p) {
        if (*p == '"') {
            p = skip_string(p);
            continue;
        }
        depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
        p++;
        if (depth == 0) break;
    }
    return p;
}

jv_iter jv_begin(jv v)
{
    jv_iter it = { { NULL }, { NULL }, NULL };
    if (v.p && (*v.p == '{' || *v.p == '[')) it.at = v.p + 1;
    return it;
}

bool jv_next(jv_iter *it)
{
    if (!it->at) return false;
    const char *p = space(it->at);
    if (*p == ',') p = space(p + 1);
    it->at = NULL;
    if (!*p || *p == '}' || *p == ']') return false;
    const char *end = space(skip(p));
    it->key.p = NULL;
    if (*p == '"' && *end == ':') {
        it->key.p = p;
        p = space(end + 1);
    }
    it->value.p = p;
    it->at = skip(p);
    return true;
}

static jv member(jv v, const char *key, size_t len)
{
    for (jv_iter it = jv_begin(v); jv_next(&it);)
        if (it.key.p && strncmp(it.key.p + 1, key, len) == 0 && it.key.p[len + 1] == '"') return it.value;
    return (jv) { NULL };
}

jv jv_get(jv v, const char *path)
{
    if (v.p) v.p = space(v.p);
    while (v.p) {
        const size_t len = strcspn(path, "/");
        v = member(v, path, len);
        if (!path[len]) break;
        path += len + 1;
    }
    return v;
}

size_t jv_len(jv v)
{
    return v.p ? (size_t)(skip(v.p) - v.p) : 0;
}

static int hex4(const char *p)
{
    char digits[5] = { 0 };
    memcpy(digits, p, 4);
    return (int)strtol(digits, NULL, 16);
}

/* One escape at p (after the backslash) to *out, at most 3 bytes; returns what follows. */
static const char *unescape(const char *p, char **out)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *hit = strchr(from, *p);
    if (hit && *p) {
        *(*out)++ = to[hit - from];
    } else if (*p == 'u') {
        const int u = hex4(p + 1);
        if (u < 0x80) {
            *(*out)++ = (char)u;
        } else if (u < 0x800) {
            *(*out)++ = (char)(0xC0 | u >> 6);
            *(*out)++ = (char)(0x80 | (u & 63));
        } else {
            *(*out)++ = (char)(0xE0 | u >> 12);
            *(*out)++ = (char)(0x80 | (u >> 6 & 63));
            *(*out)++ = (char)(0x80 | (u & 63));
        }
        p += 4;
    } else {
        *(*out)++ = *p;
    }
    return p + 1;
}

const char *jv_str(jv v, char *buf, size_t cap)
{
    char *out = buf;
    const char *end = v.p ? v.p + jv_len(v) : NULL;
    if (v.p && *v.p == '"') {
        const char *p = v.p + 1;
        while (p < end - 1 && (size_t)(out - buf) + 4 < cap) {
            if (*p == '\\') p = unescape(p + 1, &out);
            else *out++ = *p++;
        }
    } else if (v.p) {
        const size_t n = (size_t)(end - v.p) < cap - 1 ? (size_t)(end - v.p) : cap - 1;
        memcpy(buf, v.p, n);
        out += n;
    }
    *out = '\0';
    return buf;
}

double jv_num(jv v)
{
    char text[64];
    if (!v.p || strchr("{[tfn", *v.p)) return NAN;
    jv_str(v, text, sizeof text);
    char *end;
    const double x = strtod(text, &end);
    return end != text && !*end ? x : NAN;
}

bool jv_is(jv v, const char *text)
{
    char got[256];
    return v.p && strcmp(jv_str(v, got, sizeof got), text) == 0;
}

bool jv_true(jv v)
{
    return v.p && *v.p == 't';
}
