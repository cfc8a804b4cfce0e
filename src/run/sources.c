/* sources.c - where a schema says that its bounds and values are from, as a sentence for the certificate.
 *
 * Declared by whoever writes the schema: bounds that were copied from the rows would leak them, and nothing in a file
 * can show that they were not.  Nothing here is computed from rows. */
#include "run/run.h"

enum { TOLD = 6 }; /* sources that are named */

typedef struct source {
    const char *name; /* NULL: not stated */
    int64_t columns;
} source;

/* Columns that nothing reads, and ids, declare no bounds. */
static bool declares(const pvi_json *column)
{
    const pvi_json *type = pvi_json_get(column, "type");
    static const char *const none[] = { "ignore", "text", "person" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (type && strcmp(type->text, none[i]) == 0) return false;
    return true;
}

static void put(pvi_str *t, const char *name, int64_t columns, bool first)
{
    pvi_str_printf(t, first ? " " : ", ");
    pvi_str_printf(t, name ? "\"%s\"" : "not stated", name);
    pvi_str_printf(t, " (%lld column%s)", (long long)columns, columns == 1 ? "" : "s");
}

pv_status pvi_sources_say(pv_ctx *ctx, pv_arena *a, const char *schema, const char **out)
{
    source seen[TOLD] = { { 0 } };
    int n = 0;
    int64_t open = 0, others = 0;
    pvi_json *root;
    pvi_str text = { .ctx = ctx };
    *out = NULL;
    const pv_status s = schema ? pvi_json_parse(ctx, a, "schema", schema, strlen(schema), &root) : PV_OK;
    if (s != PV_OK || !schema) return s;
    for (const pvi_json *c = pvi_json_get(root, "columns")->child; c; c = c->next) {
        const pvi_json *name = pvi_json_get(c, "source");
        int i = 0;
        if (!declares(c)) continue;
        while (name && i < n && strcmp(seen[i].name, name->text) != 0) i++;
        if (!name) open++;
        else if (i == TOLD) others++;
        else if (i == n) seen[n++] = (source) { name->text, 1 };
        else seen[i].columns++;
    }
    if (n == 0) return PV_OK;
    pvi_str_puts(&text, "Bounds and values come from where the schema says:");
    for (int i = 0; i < n; i++) put(&text, seen[i].name, seen[i].columns, i == 0);
    if (others) pvi_str_printf(&text, ", other sources (%lld column%s)", (long long)others, others == 1 ? "" : "s");
    if (open) put(&text, NULL, open, false);
    pvi_str_puts(&text, ".");
    char *own = NULL;
    const pv_status taken = pvi_str_take(&text, &own);
    if (taken == PV_OK && !(*out = pvi_arena_strdup(a, own, strlen(own)))) {
        pvi_free(ctx, own);
        return pvi_nomem(ctx);
    }
    pvi_free(ctx, own);
    return taken;
}
