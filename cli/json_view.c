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

size_t jv_size(jv v)
{
    return (size_t)(skip(v.p) - v.p);
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

/* One escape, p after the backslash.  The library escapes quotes, backslashes and, as \u00XX, control characters,
 * which have no business on a terminal. */
static const char *unescape(const char *p, char *out)
{
    *out = *p == 'u' ? '?' : *p;
    return p + (*p == 'u' ? 5 : 1);
}

const char *jv_str(jv v, char *buf, size_t cap)
{
    size_t n = 0;
    if (v.p && *v.p == '"') {
        const char *p = v.p + 1, *end = skip(v.p) - 1;
        for (; p < end && n + 1 < cap; n++) {
            if (*p == '\\') p = unescape(p + 1, buf + n);
            else buf[n] = *p++;
        }
    } else if (v.p) {
        n = (size_t)(skip(v.p) - v.p);
        if (n > cap - 1) n = cap - 1;
        memcpy(buf, v.p, n);
    }
    buf[n] = '\0';
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

bool jv_true(jv v)
{
    return v.p && *v.p == 't';
}

char *jv_text(jv object, const char *key)
{
    const jv v = jv_get(object, key);
    jv_iter it = jv_begin(object);
    while (jv_next(&it) && it.value.p != v.p) {
    }
    char *text = v.p ? strndup(v.p, (size_t)(it.at - v.p)) : strdup("");
    if (!text) abort();
    return text;
}
