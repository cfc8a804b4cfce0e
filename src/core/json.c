/* json.c - strict JSON: a tree in an arena, and a writer.
 *
 * Parsing is recursive with a depth limit, so hostile nesting ends in an error and not in a
 * stack overflow.  Every error carries file, line and column. */
#include "core.h"

enum { MAX_DEPTH = 64, MAX_KEYS = 1000 }; /* keys are compared in pairs: many would take for ever */

typedef struct parser {
    pv_ctx *ctx;
    pv_arena *arena;
    const char *name, *s, *end, *line_start;
    int line, depth;
} parser;

static int column(const parser *p)
{
    return (int)(p->s - p->line_start) + 1;
}

static pv_status bad(parser *p, const char *what)
{
    return pvi_fail(p->ctx, PV_E_FORMAT, "%s:%d:%d: %s", p->name, p->line, column(p), what);
}

static void skip_blanks(parser *p)
{
    for (; p->s < p->end; p->s++) {
        if (*p->s == '\n') {
            p->line++;
            p->line_start = p->s + 1;
        } else if (*p->s != ' ' && *p->s != '\t' && *p->s != '\r') {
            return;
        }
    }
}

static int hex4(const char *s)
{
    int v = 0;
    for (int i = 0; i < 4; i++) {
        const char c = s[i];
        const int d = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
        if (d < 0) return -1;
        v = v * 16 + d;
    }
    return v;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | (c >> 6));
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | (c >> 12));
        out[1] = (char)(0x80 | ((c >> 6) & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (c >> 18));
    out[1] = (char)(0x80 | ((c >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((c >> 6) & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* \uXXXX, with surrogate pairs; p->s stands on the 'u'. */
static pv_status unicode_escape(parser *p, char *out, size_t *n)
{
    int hi = p->end - p->s >= 5 ? hex4(p->s + 1) : -1;
    if (hi <= 0) return bad(p, "bad \\u escape"); /* \u0000 would end the string early */
    p->s += 5;
    uint32_t c = (uint32_t)hi;
    if (hi >= 0xD800 && hi < 0xE000) {
        const int lo = hi < 0xDC00 && p->end - p->s >= 6 && p->s[0] == '\\' && p->s[1] == 'u' ? hex4(p->s + 2) : -1;
        if (lo < 0xDC00 || lo >= 0xE000) return bad(p, "unpaired surrogate in \\u escape");
        p->s += 6;
        c = 0x10000u + (((uint32_t)hi - 0xD800u) << 10) + ((uint32_t)lo - 0xDC00u);
    }
    *n += put_utf8(out + *n, c);
    return PV_OK;
}

static pv_status parse_string(parser *p, const char **out, size_t *out_len)
{
    const char *q = ++p->s; /* after the opening quote */
    while (q < p->end && *q != '"') q += *q == '\\' && q + 1 < p->end ? 2 : 1;
    if (q >= p->end) return bad(p, "string does not end");
    char *t = pv_arena_get(p->arena, (size_t)(q - p->s) + 1); /* escapes only shrink */
    size_t n = 0;
    if (!t) return pvi_nomem(p->ctx);
    while (*p->s != '"') {
        const unsigned char c = (unsigned char)*p->s;
        if (c < 0x20) return bad(p, "control character in a string");
        if (c != '\\') {
            t[n++] = *p->s++;
            continue;
        }
        static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
        const char *hit = strchr(from, *++p->s);
        if (*p->s == 'u') {
            const pv_status s = unicode_escape(p, t, &n);
            if (s != PV_OK) return s;
        } else if (hit && *hit) {
            t[n++] = to[hit - from];
            p->s++;
        } else {
            return bad(p, "unknown escape in a string");
        }
    }
    p->s++;
    *out = t;
    *out_len = n;
    return PV_OK;
}

static bool is_digit(const parser *p)
{
    return p->s < p->end && *p->s >= '0' && *p->s <= '9';
}

static bool skip_digits(parser *p)
{
    if (!is_digit(p)) return false;
    while (is_digit(p)) p->s++;
    return true;
}

static pv_status parse_number(parser *p, pvi_json *v)
{
    const char *start = p->s;
    if (*p->s == '-') p->s++;
    if (p->s < p->end && *p->s == '0') p->s++;
    else if (!skip_digits(p)) return bad(p, "not a JSON value");
    if (p->s < p->end && *p->s == '.') {
        p->s++;
        if (!skip_digits(p)) return bad(p, "digits must follow the decimal point");
    }
    if (p->s < p->end && (*p->s == 'e' || *p->s == 'E')) {
        p->s++;
        if (p->s < p->end && (*p->s == '+' || *p->s == '-')) p->s++;
        if (!skip_digits(p)) return bad(p, "digits must follow the exponent sign");
    }
    v->type = PVI_JNUM;
    v->text_len = (size_t)(p->s - start);
    v->text = pvi_arena_strdup(p->arena, start, v->text_len);
    if (!v->text) return pvi_nomem(p->ctx);
    if (!pvi_parse_f64(start, v->text_len, &v->num)) return bad(p, "number too long");
    return isfinite(v->num) ? PV_OK : bad(p, "number too large for a double");
}

static pv_status parse_word(parser *p, const char *word, pvi_json *v, pvi_jtype type, double num)
{
    const size_t n = strlen(word);
    if ((size_t)(p->end - p->s) < n || memcmp(p->s, word, n) != 0) return bad(p, "not a JSON value");
    p->s += n;
    v->type = type;
    v->num = num;
    return PV_OK;
}

static pv_status parse_value(parser *p, pvi_json *v);

static pv_status parse_key(parser *p, const pvi_json *obj, pvi_json *v)
{
    size_t n;
    if (p->s >= p->end || *p->s != '"') return bad(p, "a key in double quotes is needed");
    const pv_status s = parse_string(p, &v->key, &n);
    if (s != PV_OK) return s;
    if (pvi_json_get(obj, v->key)) return bad(p, "the same key twice");
    if (obj->count >= MAX_KEYS) return bad(p, "too many keys in one object");
    skip_blanks(p);
    if (p->s >= p->end || *p->s != ':') return bad(p, "':' is needed after a key");
    p->s++;
    skip_blanks(p);
    return PV_OK;
}

static pv_status parse_children(parser *p, pvi_json *v, char close)
{
    pvi_json **tail = &v->child;
    pv_status s;

    if (++p->depth > MAX_DEPTH) return bad(p, "nested too deeply");
    p->s++;
    skip_blanks(p);
    if (p->s < p->end && *p->s == close) {
        p->s++;
        p->depth--;
        return PV_OK;
    }
    for (;;) {
        pvi_json *c = pv_arena_get(p->arena, sizeof *c);
        if (!c) return pvi_nomem(p->ctx);
        if (close == '}' && (s = parse_key(p, v, c)) != PV_OK) return s;
        if ((s = parse_value(p, c)) != PV_OK) return s;
        *tail = c;
        tail = &c->next;
        v->count++;
        skip_blanks(p);
        if (p->s >= p->end) return bad(p, "the text ends in the middle");
        const char d = *p->s;
        if (d != ',' && d != close) return bad(p, close == '}' ? "',' or '}' is needed" : "',' or ']' is needed");
        p->s++;
        if (d == close) break;
        skip_blanks(p);
    }
    p->depth--;
    return PV_OK;
}

static pv_status parse_value(parser *p, pvi_json *v)
{
    if (p->s >= p->end) return bad(p, "the text ends in the middle");
    v->line = p->line;
    v->column = column(p);
    switch (*p->s) {
    case '{': v->type = PVI_JOBJ; return parse_children(p, v, '}');
    case '[': v->type = PVI_JARR; return parse_children(p, v, ']');
    case '"': v->type = PVI_JSTR; return parse_string(p, &v->text, &v->text_len);
    case 't': return parse_word(p, "true", v, PVI_JBOOL, 1.0);
    case 'f': return parse_word(p, "false", v, PVI_JBOOL, 0.0);
    case 'n': return parse_word(p, "null", v, PVI_JNULL, 0.0);
    default: return parse_number(p, v);
    }
}

pv_status pvi_json_parse(pv_ctx *ctx, pv_arena *a, const char *name, const char *text, size_t len, pvi_json **out)
{
    parser p = { .ctx = ctx, .arena = a, .name = name, .s = text, .end = text + len, .line_start = text, .line = 1 };
    *out = NULL;
    pvi_json *v = pv_arena_get(a, sizeof *v);
    if (!v) return pvi_nomem(ctx);
    skip_blanks(&p);
    if (p.s == p.end) return pvi_fail(ctx, PV_E_FORMAT, "%s: empty file", name);
    pv_status s = parse_value(&p, v);
    if (s != PV_OK) return s;
    skip_blanks(&p);
    if (p.s != p.end) return bad(&p, "text after the end of the JSON value");
    *out = v;
    return PV_OK;
}

const pvi_json *pvi_json_get(const pvi_json *obj, const char *key)
{
    for (const pvi_json *c = obj && obj->type == PVI_JOBJ ? obj->child : NULL; c; c = c->next)
        if (strcmp(c->key, key) == 0) return c;
    return NULL;
}

bool pvi_json_i64(const pvi_json *v, int64_t *out)
{
    return v && v->type == PVI_JNUM && pvi_parse_i64(v->text, v->text_len, out);
}

/* ---- writer --------------------------------------------------------------------------------- */

static void write_quoted(pvi_str *b, const char *s)
{
    pvi_str_add(b, "\"", 1);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') {
            const char two[2] = { '\\', *s };
            pvi_str_add(b, two, 2);
        } else if (c < 0x20 || c == 0x7f) {
            pvi_str_printf(b, "\\u%04x", c);
        } else {
            pvi_str_add(b, s, 1);
        }
    }
    pvi_str_add(b, "\"", 1);
}

static void new_line(pvi_jw *w)
{
    if (!w->indent) return;
    pvi_str_add(w->out, "\n", 1);
    for (int i = 0; i < w->depth * w->indent; i++) pvi_str_add(w->out, " ", 1);
}

static void begin_value(pvi_jw *w, const char *key)
{
    if (w->depth > 0) {
        if (!w->first) pvi_str_add(w->out, ",", 1);
        new_line(w);
    }
    w->first = false;
    if (!key) return;
    write_quoted(w->out, key);
    pvi_str_puts(w->out, w->indent ? ": " : ":");
}

void pvi_jw_open(pvi_jw *w, const char *key, char bracket)
{
    begin_value(w, key);
    pvi_str_add(w->out, &bracket, 1);
    w->depth++;
    w->first = true;
}

void pvi_jw_close(pvi_jw *w, char bracket)
{
    w->depth--;
    if (!w->first) new_line(w);
    w->first = false;
    pvi_str_add(w->out, &bracket, 1);
}

void pvi_jw_str(pvi_jw *w, const char *key, const char *value)
{
    begin_value(w, key);
    if (value) write_quoted(w->out, value);
    else pvi_str_puts(w->out, "null");
}

void pvi_jw_f64(pvi_jw *w, const char *key, double value)
{
    char text[32];
    if (!isfinite(value)) {
        pvi_jw_str(w, key, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    begin_value(w, key);
    pvi_f64_text(value, text);
    pvi_str_puts(w->out, text);
}

void pvi_jw_i64(pvi_jw *w, const char *key, int64_t value)
{
    begin_value(w, key);
    pvi_str_printf(w->out, "%lld", (long long)value);
}

void pvi_jw_bool(pvi_jw *w, const char *key, bool value)
{
    begin_value(w, key);
    pvi_str_puts(w->out, value ? "true" : "false");
}

void pvi_jw_raw(pvi_jw *w, const char *key, const char *json)
{
    begin_value(w, key);
    pvi_str_puts(w->out, json);
}
