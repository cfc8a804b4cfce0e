/* named.c - an accountant with its settings, as one text: "zcdp:conversion=paper".
 *
 * Settings come one by one, by the key under which they are listed (accountant.conversion); the text is what
 * account.c takes, what a certificate records, and what verify recomputes with. */
#include "acct.h"

static bool has_setting(const pv_plugin *p, const char *key)
{
    return pvi_param_find(p->params, key) != NULL;
}

/* The first accountant with such a setting; NULL: none has it. */
static const char *owner(const char *key)
{
    const pv_plugin *p;
    for (int64_t i = 0; (p = pv_nth(PV_KIND_accountant, i)); i++)
        if (has_setting(p, key)) return p->name;
    return NULL;
}

/* Does "name:a=1,b=2" say the key already? */
static bool said(const char *text, const char *key)
{
    const size_t n = strlen(key);
    for (const char *s = strchr(text, ':'); s; s = strchr(s, ',')) {
        s++;
        if (strncmp(s, key, n) == 0 && s[n] == '=') return true;
    }
    return false;
}

static pv_status refuse(pv_ctx *ctx, const char *name, const char *key)
{
    const char *who = owner(key);
    if (!who)
        return pvi_fail(ctx, PV_E_PARAM, "unknown setting accountant.%s: `privet list` shows every setting", key);
    return pvi_fail(ctx, PV_E_PARAM, "accountant=%s has no setting accountant.%s: accountant=%s has", name, key, who);
}

pv_status pvi_accountant_unknown(pv_ctx *ctx, const char *name)
{
    char list[256] = "best";
    const pv_plugin *p;
    for (int64_t i = 0; (p = pv_nth(PV_KIND_accountant, i)); i++) {
        const size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, ", %s", p->name);
    }
    return pvi_fail(ctx, PV_E_PARAM, "unknown accountant %s; there is %s", name, list);
}

pv_status pvi_accountant_set(pv_ctx *ctx, pv_arena *a, const char *key, const char *value, const char **accountant)
{
    char name[64];
    const char *old = *accountant;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(old, ":"), old);
    const pv_plugin *p = pv_find(PV_KIND_accountant, name);
    if (!p && strcmp(name, "best") != 0) return pvi_accountant_unknown(ctx, name);
    if (!p || !has_setting(p, key)) return refuse(ctx, name, key);
    if (said(old, key))
        return pvi_fail(ctx, PV_E_PARAM, "accountant=%s and accountant.%s=%s say the same twice: leave one out", old,
                        key, value);
    void *trial = pv_arena_get(a, p->cfg_size);
    const size_t size = strlen(old) + strlen(key) + strlen(value) + 3;
    char *text = pv_arena_get(a, size);
    if (!trial || !text) return pvi_nomem(ctx);
    const pv_status s = pvi_param_set(ctx, a, "accountant.", p->params, trial, key, value);
    if (s != PV_OK) return s;
    snprintf(text, size, "%s%c%s=%s", old, strchr(old, ':') ? ',' : ':', key, value);
    *accountant = text;
    return PV_OK;
}
