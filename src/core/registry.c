/* registry.c - name to ops, from registry.def. */
#include "core.h"

#define PV_PLUGIN(kind, name) extern const pv_##kind##_ops pv_##kind##_##name;
#define PV_UNLISTED           PV_PLUGIN
#include "registry.def"
#undef PV_PLUGIN
#undef PV_UNLISTED

#define PV_PLUGIN(kind, name)   { PV_KIND_##kind, &pv_##kind##_##name.head, true },
#define PV_UNLISTED(kind, name) { PV_KIND_##kind, &pv_##kind##_##name.head, false },
static const struct {
    pv_kind kind;
    const pv_plugin *head;
    bool listed;
} table[] = {
#include "registry.def"
    { PV_KIND_COUNT, NULL, false }, /* keeps the table legal when it is empty */
};

const pv_param pv_no_params[] = { { 0 } };

const char *pv_kind_name(pv_kind kind)
{
    static const char *const names[PV_KIND_COUNT] = { "reader",    "loss",      "model",      "reg",   "set",
                                                      "mechanism", "optimizer", "accountant", "mirror" };
    return (unsigned)kind < PV_KIND_COUNT ? names[kind] : "?";
}

const pv_plugin *pv_find(pv_kind kind, const char *name)
{
    for (size_t i = 0; table[i].head; i++)
        if (table[i].kind == kind && strcmp(table[i].head->name, name) == 0) return table[i].head;
    return NULL;
}

const pv_plugin *pv_nth(pv_kind kind, int64_t n)
{
    for (size_t i = 0; table[i].head; i++)
        if (table[i].kind == kind && table[i].listed && n-- == 0) return table[i].head;
    return NULL;
}

/* ---- names for messages --------------------------------------------------------------------------------------- */

void pv_words_add(pv_words *w, const char *glue, const char *text)
{
    const size_t used = strlen(w->text);
    snprintf(w->text + used, sizeof w->text - used, "%s%s", used ? glue : "", text);
}

pv_words pv_names_where(pv_kind kind, bool (*is)(const pv_plugin *h, uint32_t of), uint32_t of)
{
    pv_words w = { "" };
    const pv_plugin *h, *last = NULL;
    for (int64_t i = 0; (h = pv_nth(kind, i)); i++) {
        if (!is(h, of)) continue;
        if (last) pv_words_add(&w, ", ", last->name);
        last = h;
    }
    if (last) pv_words_add(&w, " or ", last->name);
    return w;
}

static bool loss_has(const pv_plugin *h, uint32_t of)
{
    return (((const pv_loss_ops *)(const void *)h)->props & of) == of;
}

static bool model_has(const pv_plugin *h, uint32_t of)
{
    return (((const pv_model_ops *)(const void *)h)->props & of) == of;
}

static bool reg_has(const pv_plugin *h, uint32_t of)
{
    return (((const pv_reg_ops *)(const void *)h)->props & of) == of;
}

static bool set_has(const pv_plugin *h, uint32_t of)
{
    return (((const pv_set_ops *)(const void *)h)->props & of) == of;
}

pv_words pv_names_with(pv_kind kind, uint32_t props)
{
    bool (*const has)(const pv_plugin *, uint32_t) = kind == PV_KIND_loss    ? loss_has
                                                     : kind == PV_KIND_model ? model_has
                                                     : kind == PV_KIND_reg   ? reg_has
                                                                             : set_has;
    PVI_REQUIRE(has != set_has || kind == PV_KIND_set);
    return pv_names_where(kind, has, props);
}
