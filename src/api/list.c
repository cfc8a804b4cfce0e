/* list.c - the catalogue: every plug-in and every setting, from the tables. */
#include "run/run.h"

/* Is the key what was asked for: itself, one of a family (budget), or by its last word (epsilon)?  NULL: any is. */
static bool is_asked(const char *what, const char *key)
{
    const char *dot = strrchr(key, '.');
    const size_t n = what ? strlen(what) : 0;
    if (!what || (dot && strcmp(dot + 1, what) == 0)) return true;
    return strncmp(key, what, n) == 0 && (key[n] == '\0' || key[n] == '.');
}

/* Describes the settings asked for; w NULL: only counts them. */
static int64_t list_params(const pv_param *rows, const char *prefix, const char *what, pvi_jw *w)
{
    int64_t n = 0;
    for (const pv_param *r = rows; r->key; r++) {
        pv_param full = *r;
        char key[128];
        snprintf(key, sizeof key, "%s%s", prefix, r->key);
        full.key = key;
        if (!is_asked(what, key)) continue;
        if (w) pvi_param_describe(&full, w);
        n++;
    }
    return n;
}

static bool list_kind(pv_kind kind, const char *what, pvi_jw *w)
{
    const pv_plugin *h;
    bool found = false;
    for (int64_t i = 0; (h = pv_nth(kind, i)); i++) {
        const char *keys = what && strcmp(h->name, what) == 0 ? NULL : what; /* a plug-in by its name: all of it */
        if (keys && list_params(h->params, pvi_key_prefix(kind), keys, NULL) == 0) continue;
        if (!found) pvi_jw_open(w, pv_kind_name(kind), '[');
        found = true;
        pvi_jw_open(w, NULL, '{');
        pvi_jw_str(w, "name", h->name);
        pvi_jw_str(w, "summary", h->summary);
        pvi_jw_str(w, "reference", h->reference);
        pvi_jw_open(w, "settings", '[');
        list_params(h->params, pvi_key_prefix(kind), keys, w);
        pvi_jw_close(w, ']');
        pvi_jw_close(w, '}');
    }
    if (found) pvi_jw_close(w, ']');
    return found;
}

static bool list_general(const char *what, pvi_jw *w)
{
    if (list_params(pvi_settings_params, "", what, NULL) + list_params(pvi_data_params, "data.", what, NULL) == 0)
        return false;
    pvi_jw_open(w, "settings", '[');
    list_params(pvi_settings_params, "", what, w);
    list_params(pvi_data_params, "data.", what, w);
    pvi_jw_close(w, ']');
    return true;
}

enum { KINDS = PV_KIND_COUNT + 1 };

static pv_status nothing_called(pv_ctx *ctx, const char *what, const char *const *kinds)
{
    pvi_str b = { .ctx = ctx };
    const char *near = pvi_nearest(what, kinds, KINDS);
    if (near)
        return pvi_fail(ctx, PV_E_PARAM, "no kind, plug-in or setting is called %s: did you mean %s?", what, near);
    for (int k = 0; k < KINDS; k++) {
        pvi_str_puts(&b, k ? ", " : "");
        pvi_str_puts(&b, kinds[k]);
    }
    const pv_status s =
        b.failed ? pvi_nomem(ctx)
                 : pvi_fail(ctx, PV_E_PARAM, "no kind, plug-in or setting is called %s; kinds are %s", what, b.s);
    pvi_str_free(&b);
    return s;
}

pv_status pv_list(pv_ctx *ctx, const char *what, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, json);
    const char *kinds[KINDS] = { "settings" };
    int only = -1; /* the kind that was named */
    bool found = false;
    for (int k = 1; k < KINDS; k++) kinds[k] = pv_kind_name((pv_kind)(k - 1));
    for (int k = 0; k < KINDS && what; k++)
        if (strcmp(kinds[k], what) == 0) only = k;
    pvi_str b = { .ctx = ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    pvi_jw_open(&w, NULL, '{');
    for (int k = 0; k < KINDS; k++) {
        if (only >= 0 && only != k) continue;
        const char *part = only >= 0 ? NULL : what;
        found |= k == 0 ? list_general(part, &w) : list_kind((pv_kind)(k - 1), part, &w);
    }
    pvi_jw_close(&w, '}');
    pvi_str_puts(&b, "\n");
    if (found) return pvi_done(ctx, pvi_str_take(&b, json));
    pvi_str_free(&b);
    return nothing_called(ctx, what, kinds);
}
