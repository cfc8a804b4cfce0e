/* draft_fields.c - a schema to begin with, by what is written about a table: no row is read.
 *
 *   Table Schema   of Frictionless Data, or a package whose first resource has one: {"fields": [{"name": ..,
 *                  "type": .., "constraints": {"minimum": .., "maximum": .., "enum": [..]}}], "missingValues": [..]}
 *   dtypes         of pandas, as DataFrame.dtypes.to_csv() writes them: a name and a type in every line
 *
 *   a schema       that has been begun: itself
 *
 * What is said there becomes the declaration, with its "source"; bounds and values that are not said stay out, and
 * training asks for them.  Types without an equal are "open". */
#include "draft.h"

enum { MAX_FILE = 64 << 20 };

typedef struct fields {
    pv_ctx *ctx;
    pv_arena *arena;
    const char *path, *label, *source;
    pvi_str text;
    int64_t count;
    bool found; /* the label */
    bool whole; /* the text has its end */
} fields;

static bool begins_with(const char *s, const char *head)
{
    return strncmp(s, head, strlen(head)) == 0;
}

/* A line of the schema; `rest`: what follows the type. */
static void put_column(fields *f, const char *name, const char *type, const pvi_str *rest)
{
    const bool label = f->label && strcmp(f->label, name) == 0;
    const bool truth = strcmp(type, "boolean") == 0, values = rest && rest->s && strstr(rest->s, "\"values\"");
    f->found |= label;
    pvi_str_puts(&f->text, f->count++ ? ",\n  {\"name\": " : "\n  {\"name\": ");
    pvi_draft_text(&f->text, name);
    pvi_draft_pair(&f->text, "type", label ? "label" : type);
    if (label && truth && !values) pvi_draft_pair(&f->text, "values", "boolean");
    if (rest && rest->s) pvi_str_add(&f->text, rest->s, rest->len);
    pvi_draft_pair(&f->text, "source", f->source);
    pvi_str_puts(&f->text, "}");
}

/* ---- Table Schema ------------------------------------------------------------------------------------------ */

static const char *text_of(const pvi_json *v, const char *key)
{
    const pvi_json *x = v ? pvi_json_get(v, key) : NULL;
    return x && x->type == PVI_JSTR ? x->text : "";
}

static void put_words(pvi_str *t, const pvi_json *list)
{
    pvi_str_puts(t, "[");
    for (const pvi_json *x = list->child; x; x = x->next) {
        if (x != list->child) pvi_str_puts(t, ", ");
        if (x->type == PVI_JSTR) pvi_draft_text(t, x->text);
        else if (x->type == PVI_JNUM) pvi_jw_f64(&(pvi_jw) { .out = t }, NULL, x->num);
        else pvi_draft_text(t, x->type == PVI_JBOOL && x->num != 0.0 ? "true" : "false");
    }
    pvi_str_puts(t, "]");
}

static const char *type_of(const char *type, bool values)
{
    static const char *const same[][2] = {
        { "integer", "number" }, { "number", "number" }, { "year", "number" },
        { "date", "date" },      { "datetime", "date" }, { "boolean", "boolean" }
    };
    if (values) return "category";
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(type, same[i][0]) == 0) return same[i][1];
    return "open";
}

/* "trueValues" and "falseValues" of a truth value that is spelt otherwise. */
static bool put_truths(pvi_str *t, const pvi_json *field)
{
    const pvi_json *yes = pvi_json_get(field, "trueValues"), *no = pvi_json_get(field, "falseValues");
    if (!yes || !no || yes->type != PVI_JARR || no->type != PVI_JARR || !yes->count || !no->count) return false;
    pvi_str_puts(t, ", \"values\": [");
    put_words(t, no);
    pvi_str_puts(t, ", ");
    put_words(t, yes);
    pvi_str_puts(t, "]");
    return true;
}

static pv_status one_field(fields *f, const pvi_json *field)
{
    const pvi_json *limits = pvi_json_get(field, "constraints"), *lo, *hi, *values;
    const char *name = text_of(field, "name");
    pvi_str rest = { .ctx = f->ctx };
    if (field->type != PVI_JOBJ || !*name)
        return pvi_fail(f->ctx, PV_E_FORMAT, "%s:%d:%d: a field needs a \"name\"", f->path, field->line,
                        field->column);
    values = limits ? pvi_json_get(limits, "enum") : NULL;
    bool listed = values && values->type == PVI_JARR && values->count > 0;
    if (listed) {
        pvi_str_puts(&rest, ", \"values\": ");
        put_words(&rest, values);
    } else if (strcmp(text_of(field, "type"), "boolean") == 0) {
        listed = put_truths(&rest, field);
    }
    const char *type = type_of(text_of(field, "type"), listed);
    lo = limits ? pvi_json_get(limits, "minimum") : NULL;
    hi = limits ? pvi_json_get(limits, "maximum") : NULL;
    const bool bounded = lo && hi && lo->type == hi->type && (lo->type == PVI_JNUM || lo->type == PVI_JSTR);
    if (bounded && (strcmp(type, "number") == 0 || strcmp(type, "date") == 0)) {
        pvi_str_puts(&rest, ", \"min\": ");
        if (lo->type == PVI_JSTR) pvi_draft_text(&rest, lo->text);
        else pvi_jw_f64(&(pvi_jw) { .out = &rest }, NULL, lo->num);
        pvi_str_puts(&rest, ", \"max\": ");
        if (hi->type == PVI_JSTR) pvi_draft_text(&rest, hi->text);
        else pvi_jw_f64(&(pvi_jw) { .out = &rest }, NULL, hi->num);
    }
    put_column(f, name, type, &rest);
    pvi_str_free(&rest);
    return PV_OK;
}

/* Marks within numbers are of each field there, and of the table here. */
static void put_table(fields *f, const pvi_json *schema, const pvi_json *resource)
{
    const pvi_json *missing = pvi_json_get(schema, "missingValues"), *dialect = NULL;
    if (resource) dialect = pvi_json_get(resource, "dialect");
    const char *separator = dialect && dialect->type == PVI_JOBJ ? text_of(dialect, "delimiter") : "", *decimal = "",
               *thousands = "";
    for (const pvi_json *x = pvi_json_get(schema, "fields")->child; x && x->type == PVI_JOBJ; x = x->next) {
        if (!*decimal) decimal = text_of(x, "decimalChar");
        if (!*thousands) thousands = text_of(x, "groupChar");
    }
    pvi_str_puts(&f->text, "{\"header\": true");
    if (*separator) pvi_draft_pair(&f->text, "separator", separator);
    if (*decimal && strcmp(decimal, ".") != 0) pvi_draft_pair(&f->text, "decimal", decimal);
    if (*thousands) pvi_draft_pair(&f->text, "thousands", thousands);
    pvi_str_puts(&f->text, ", \"missing\": ");
    if (missing && missing->type == PVI_JARR) put_words(&f->text, missing);
    else pvi_str_puts(&f->text, "[\"\"]");
    pvi_str_puts(&f->text, ",\n \"columns\": [");
}

/* A schema that has been begun stays as it is. */
static pv_status begun(fields *f, const pvi_json *list, const char *text, size_t len)
{
    for (const pvi_json *c = list->child; c; c = c->next, f->count++) {
        if (list->type != PVI_JARR || c->type != PVI_JOBJ || !*text_of(c, "name") || !*text_of(c, "type"))
            return pvi_fail(f->ctx, PV_E_FORMAT, "%s:%d:%d: a column needs a \"name\" and a \"type\"", f->path,
                            c->line, c->column);
        f->found |= f->label && strcmp(f->label, text_of(c, "name")) == 0;
    }
    pvi_str_add(&f->text, text, len);
    f->whole = true;
    return PV_OK;
}

static pv_status table_schema(fields *f, char *text, size_t len)
{
    pvi_json *root;
    pv_status s = pvi_json_parse(f->ctx, f->arena, f->path, text, len, &root);
    if (s != PV_OK) return s;
    const pvi_json *schema = root, *resource = NULL;
    if (root->type == PVI_JOBJ && pvi_json_get(root, "columns"))
        return begun(f, pvi_json_get(root, "columns"), text, len);
    if (root->type == PVI_JOBJ && (schema = pvi_json_get(root, "resources")) && schema->type == PVI_JARR)
        resource = schema->child;
    if (root->type == PVI_JOBJ && !resource)
        schema = pvi_json_get(root, "schema") ? pvi_json_get(root, "schema") : root;
    if (resource && resource->type == PVI_JOBJ) schema = pvi_json_get(resource, "schema");
    const pvi_json *list = schema && schema->type == PVI_JOBJ ? pvi_json_get(schema, "fields") : NULL;
    if (!list || list->type != PVI_JARR || list->count == 0)
        return pvi_fail(
            f->ctx, PV_E_FORMAT,
            "%s: JSON, but no Table Schema: \"fields\" is missing; of rows in JSON, duckdb -c \"COPY (FROM "
            "'FILE') TO 'FILE.csv'\" makes a table",
            f->path);
    f->source = "Table Schema";
    put_table(f, schema, resource);
    for (const pvi_json *x = list->child; x && s == PV_OK; x = x->next) s = one_field(f, x);
    return s;
}

/* ---- dtypes ------------------------------------------------------------------------------------------------- */

static const char *dtype(const char *type)
{
    static const char *const numbers[] = { "int", "uint", "float", "Int", "UInt", "Float", "decimal" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (begins_with(type, numbers[i])) return "number";
    return begins_with(type, "datetime") || begins_with(type, "date") ? "date"
           : begins_with(type, "bool")                                ? "boolean"
                                                                      : "open";
}

static pv_status dtypes(fields *f, char *text, size_t len)
{
    static const pvi_dialect comma = { ',', false };
    pvi_span field[2], record;
    int64_t n;
    const char *end = text + len, *p = pvi_csv_next(text, end, &comma, field, 2, &n, &record);
    f->source = "dtypes";
    pvi_str_puts(&f->text, "{\"header\": true, \"missing\": [\"\"],\n \"columns\": [");
    while (p && (p = pvi_csv_next(p, end, &comma, field, 2, &n, &record)) != NULL) {
        char *name = n == 2 ? pvi_arena_strdup(f->arena, field[0].s, field[0].len) : NULL;
        char *type = n == 2 ? pvi_arena_strdup(f->arena, field[1].s, field[1].len) : NULL;
        if (n != 2) return pvi_fail(f->ctx, PV_E_FORMAT, "%s: a name and a type are needed in every line", f->path);
        if (!name || !type) return pvi_nomem(f->ctx);
        if (*name == '"') pvi_draft_unquote(name);
        put_column(f, name, dtype(type), NULL);
    }
    return PV_OK;
}

/* ---- which ---------------------------------------------------------------------------------------------------- */

bool pvi_draft_is_fields(const uint8_t *s, size_t n, bool *json)
{
    size_t i = n >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    const char *first = (const char *)s + i;
    size_t len = 0;
    while (i + len < n && first[len] != '\n' && first[len] != '\r') len++;
    for (; i < n && strchr(" \t\r\n", s[i]) && s[i]; i++) continue;
    *json = i < n && s[i] == '{';
    const char *comma = memchr(first, ',', len);
    const size_t rest = comma ? len - (size_t)(comma + 1 - first) : 0;
    const bool zero = comma == first && rest == 1 && comma[1] == '0';
    return *json || zero || (comma && (rest == 5 || rest == 6) && memcmp(comma + 1, "dtypes", rest) == 0);
}

pv_status pvi_draft_fields(pv_ctx *ctx, pv_arena *a, const char *path, const char *label, bool json, char **out)
{
    fields f = { .ctx = ctx, .arena = a, .path = path, .label = label, .text = { .ctx = ctx } };
    char *text = NULL;
    size_t len;
    pv_status s = pvi_file_read(ctx, path, MAX_FILE, &text, &len);
    if (s != PV_OK) return s;
    const size_t mark = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    s = json ? table_schema(&f, text + mark, len - mark) : dtypes(&f, text + mark, len - mark);
    if (s == PV_OK && f.count == 0) s = pvi_fail(ctx, PV_E_FORMAT, "%s: no columns", path);
    if (s == PV_OK && label && !f.found) s = pvi_fail(ctx, PV_E_PARAM, "%s: there is no column \"%s\"", path, label);
    if (!f.whole) pvi_str_puts(&f.text, "\n]}\n");
    if (s == PV_OK) s = pvi_str_take(&f.text, out);
    else pvi_str_free(&f.text);
    pvi_free(ctx, text);
    return s;
}
