/* list.c - the catalogue: every plug-in and every setting, from the tables. */
#include "run/job.h"

static void list_params(const pv_param *rows, const char *prefix, pvi_jw *w)
{
    pvi_jw_open(w, "settings", '[');
    for (const pv_param *r = rows; r->key; r++) {
        pv_param full = *r;
        char key[128];
        snprintf(key, sizeof key, "%s%s", prefix, r->key);
        full.key = key;
        pvi_param_describe(&full, w);
    }
    pvi_jw_close(w, ']');
}

static const char *key_prefix(pv_kind kind)
{
    switch (kind) {
    case PV_KIND_link:
    case PV_KIND_model: return "model.";
    case PV_KIND_reg: return "reg.";
    case PV_KIND_set: return "set.";
    case PV_KIND_optimizer: return "optimizer.";
    case PV_KIND_accountant: return "accountant.";
    case PV_KIND_mechanism: return "mechanism.";
    case PV_KIND_reader: return "data.";
    default: return "";
    }
}

static void list_kind(pv_kind kind, pvi_jw *w)
{
    const pv_plugin *h;
    pvi_jw_open(w, pv_kind_name(kind), '[');
    for (int64_t i = 0; (h = pv_nth(kind, i)); i++) {
        pvi_jw_open(w, NULL, '{');
        pvi_jw_str(w, "name", h->name);
        pvi_jw_str(w, "summary", h->summary);
        pvi_jw_str(w, "reference", h->reference);
        list_params(h->params, key_prefix(kind), w);
        pvi_jw_close(w, '}');
    }
    pvi_jw_close(w, ']');
}

static void list_general(pvi_jw *w)
{
    pvi_jw_open(w, "settings", '[');
    for (const pv_param *r = pvi_settings_params; r->key; r++) pvi_param_describe(r, w);
    for (const pv_param *r = pvi_data_params; r->key; r++) {
        pv_param full = *r;
        char key[128];
        snprintf(key, sizeof key, "data.%s", r->key);
        full.key = key;
        pvi_param_describe(&full, w);
    }
    pvi_jw_close(w, ']');
}

pv_status pv_list(pv_ctx *ctx, const char *kind, char **json)
{
    bool found = !kind;
    if (!ctx || !json) return PV_E_ARG;
    *json = NULL;
    pvi_str b = { .ctx = ctx };
    pvi_jw w = { .out = &b, .indent = 2 };
    pvi_jw_open(&w, NULL, '{');
    if (!kind || strcmp(kind, "settings") == 0) {
        list_general(&w);
        found = true;
    }
    for (int k = 0; k < PV_KIND_COUNT; k++)
        if (!kind || strcmp(kind, pv_kind_name((pv_kind)k)) == 0) {
            list_kind((pv_kind)k, &w);
            found = true;
        }
    pvi_jw_close(&w, '}');
    pvi_str_puts(&b, "\n");
    if (found) return pvi_str_take(&b, json);
    const char *names[PV_KIND_COUNT + 1] = { "settings" };
    for (int k = 0; k < PV_KIND_COUNT; k++) names[k + 1] = pv_kind_name((pv_kind)k);
    const char *near = pvi_nearest(kind, names, PV_KIND_COUNT + 1);
    pvi_str_free(&b);
    if (near) return pvi_fail(ctx, PV_E_PARAM, "no kind of plug-in is called %s: did you mean %s?", kind, near);
    for (int k = 0; k <= PV_KIND_COUNT; k++) {
        pvi_str_puts(&b, k ? ", " : "");
        pvi_str_puts(&b, names[k]);
    }
    const pv_status s = b.failed ? pvi_nomem(ctx)
                                 : pvi_fail(ctx, PV_E_PARAM, "no kind of plug-in is called %s; there is %s", kind, b.s);
    pvi_str_free(&b);
    return s;
}
