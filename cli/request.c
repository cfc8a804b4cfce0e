/* request.c - the command line of account, calibrate and curve as the JSON the library takes.
 *
 * Values go over as text: what is a number is the library's to decide, and its messages name the key. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *s;
    size_t len, cap;
} text;

static void put(text *t, const char *s, size_t n)
{
    if (t->len + n + 1 > t->cap) {
        char *grown = realloc(t->s, t->cap = 2 * (t->len + n) + 64);
        if (!grown) abort(); /* a few hundred bytes */
        t->s = grown;
    }
    memcpy(t->s + t->len, s, n);
    t->s[t->len += n] = '\0';
}

static void put_quoted(text *t, const char *s)
{
    char hex[8];
    put(t, "\"", 1);
    for (; *s; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') put(t, "\\", 1);
        if (c >= 0x20) put(t, s, 1);
        else put(t, hex, (size_t)snprintf(hex, sizeof hex, "\\u%04x", c));
    }
    put(t, "\"", 1);
}

static void put_pair(text *t, const char *key, const char *value)
{
    put(t, t->len > 1 ? ", " : "", t->len > 1 ? 2 : 0);
    put_quoted(t, key);
    put(t, ": ", 2);
    put_quoted(t, value);
}

/* Options that are settings elsewhere keep their short names here. */
static const char *short_key(const char *key)
{
    return strncmp(key, "budget.", 7) == 0 ? key + 7 : key;
}

const char *setting_value(const cli *c, const char *key)
{
    const char *value = NULL;
    for (int i = 0; i < c->args.n_settings; i++) {
        const char *const whole = c->args.settings[i].key;
        if (strcmp(whole, key) == 0 || strcmp(short_key(whole), key) == 0) value = c->args.settings[i].value;
    }
    return value;
}

char *make_request(const cli *c, const char *mechanism)
{
    text t = { 0 };
    const args *a = &c->args;
    if (a->n_words) mechanism = a->words[0];
    else if (setting_value(c, "file")) mechanism = NULL;
    put(&t, "{", 1);
    if (mechanism) put_pair(&t, "mechanism", mechanism);
    for (int i = 0; i < a->n_settings; i++) {
        const char *key = short_key(a->settings[i].key);
        if (strcmp(key, "svg") != 0 && setting_value(c, key) == a->settings[i].value)
            put_pair(&t, key, a->settings[i].value); /* of a key given twice, once */
    }
    put(&t, "}", 1);
    return t.s;
}
