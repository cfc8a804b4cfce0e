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
