/* cmd_explain.c - privet explain: what each column adds to a model's score, of one row or over its declared range.
 *
 * A row is one of a file, or column=value for every column; it becomes an Arrow stream of one row of texts, which the
 * library reads as it reads a table. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- column=value ---------------------------------------------------------------------------------------- */

typedef struct cell {
    struct ArrowSchema schema;
    struct ArrowArray array;
    char name[256];
    const char *text; /* NULL: no value */
    int32_t offset[2];
    uint8_t valid;
    const void *buffer[3];
} cell;

typedef struct table { /* a stream of one row; free()d with it */
    struct ArrowSchema *columns[1024];
    struct ArrowArray *arrays[1024];
    cell cells[1024];
    int n;
    bool told;
    const void *nothing[1];
} table;
enum { MOST = 1024 };

static void keep_schema(struct ArrowSchema *s)
{
    s->release = NULL;
}

static void keep_array(struct ArrowArray *a)
{
    a->release = NULL;
}

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    table *t = s->private_data;
    for (int i = 0; i < t->n; i++) {
        t->cells[i].schema = (struct ArrowSchema) {
            .format = "u", .name = t->cells[i].name, .flags = ARROW_FLAG_NULLABLE, .release = keep_schema
        };
        t->columns[i] = &t->cells[i].schema;
    }
    *out = (struct ArrowSchema) {
        .format = "+s", .name = "", .n_children = t->n, .children = t->columns, .release = keep_schema
    };
    return 0;
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    table *t = s->private_data;
    memset(out, 0, sizeof *out);
    if (t->told) return 0;
    t->told = true;
    for (int i = 0; i < t->n; i++) {
        cell *c = &t->cells[i];
        c->offset[1] = c->text ? (int32_t)strlen(c->text) : 0;
        c->valid = c->text != NULL;
        c->buffer[0] = &c->valid;
        c->buffer[1] = c->offset;
        c->buffer[2] = c->text ? c->text : "";
        c->array = (struct ArrowArray) {
            .length = 1, .null_count = !c->text, .n_buffers = 3, .buffers = c->buffer, .release = keep_array
        };
        t->arrays[i] = &c->array;
    }
    *out = (struct ArrowArray) { .length = 1,
                                 .n_buffers = 1,
                                 .buffers = t->nothing,
                                 .n_children = t->n,
                                 .children = t->arrays,
                                 .release = keep_array };
    return 0;
}

static const char *no_error(struct ArrowArrayStream *s)
{
    (void)s;
    return NULL;
}

static void release(struct ArrowArrayStream *s)
{
    free(s->private_data);
    s->release = NULL;
}

/* The value given for a column; NULL: none. */
static const char *value_of(const cli *c, const char *name)
{
    const size_t len = strlen(name);
    for (int i = 0; i < c->args.n_settings; i++)
        if (strcmp(c->args.settings[i].key, name) == 0) return c->args.settings[i].value;
    for (int i = 1; i < c->args.n_words; i++) /* names that are no keys, as "hours per week=40" */
        if (strncmp(c->args.words[i], name, len) == 0 && c->args.words[i][len] == '=')
            return c->args.words[i] + len + 1;
    return NULL;
}

static bool is_type(jv column, const char *type)
{
    char text[16];
    return strcmp(jv_str(jv_get(column, "type"), text, sizeof text), type) == 0;
}

/* The columns of the schema with the values given; those that have none and need one to `lacks`. */
static void fill_table(const cli *c, jv schema, table *t, char *lacks, size_t cap)
{
    char policy[16];
    for (jv_iter it = jv_begin(jv_get(schema, "columns")); t->n < MOST && jv_next(&it);) {
        cell *at = &t->cells[t->n];
        if (is_type(it.value, "label") || is_type(it.value, "person")) continue;
        jv_str(jv_get(it.value, "name"), at->name, sizeof at->name);
        at->text = is_type(it.value, "ignore") ? "" : value_of(c, at->name);
        t->n++;
        if (at->text || strcmp(jv_str(jv_get(it.value, "missing"), policy, sizeof policy), "error") != 0) continue;
        const size_t len = strlen(lacks);
        snprintf(lacks + len, cap - len, "%s%s", len ? ", " : "", at->name);
    }
}

static int values_given(cli *c, jv schema, pv_data **out)
{
    char lacks[400] = "";
    table *t = calloc(1, sizeof *t);
    if (!t) return complain(EXIT_INTERNAL, "out of memory");
    fill_table(c, schema, t, lacks, sizeof lacks);
    if (*lacks) {
        free(t);
        return usage("explain needs a value of every column; none is given of %s", lacks);
    }
    struct ArrowArrayStream stream = { get_schema, get_next, no_error, release, t };
    const pv_status s = pv_data_arrow(c->ctx, &stream, out);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

static bool is_column(jv schema, const char *name, size_t len)
{
    char text[256];
    for (jv_iter it = jv_begin(jv_get(schema, "columns")); schema.p && jv_next(&it);) {
        jv_str(jv_get(it.value, "name"), text, sizeof text);
        if (strlen(text) == len && strncmp(text, name, len) == 0) return true;
    }
    return false;
}

typedef struct asked {
    const char *file, *svg;
    long row;    /* from 1 */
    bool values; /* column=value */
} asked;

static int read_row(const char *text, long *row)
{
    char *end;
    errno = 0;
    *row = strtol(text, &end, 10);
    if (errno || *end || end == text || *row < 1) return usage("--row %s: a number from 1 on is needed", text);
    return EXIT_DONE;
}

/* A setting is a column, an option of this command, or one of the data. */
static int take_setting(cli *c, pv_model *m, jv schema, const setting *s, asked *a)
{
    if (strcmp(s->key, "explain.svg") == 0) return a->svg = s->value, EXIT_DONE;
    if (strcmp(s->key, "explain.row") == 0) return read_row(s->value, &a->row);
    if (is_column(schema, s->key, strlen(s->key))) return a->values = true, EXIT_DONE;
    if (strncmp(s->key, "data.", 5) != 0 && strncmp(s->key, "run.", 4) != 0)
        return usage("the model has no column %s", s->key);
    const pv_status st = pv_model_set(m, s->key, s->value);
    return st == PV_OK ? EXIT_DONE : fail(c, st);
}

static int read_asked(cli *c, pv_model *m, jv schema, asked *a)
{
    int code = EXIT_DONE;
    for (int i = 0; i < c->args.n_settings && code == EXIT_DONE; i++)
        code = take_setting(c, m, schema, &c->args.settings[i], a);
    for (int i = 1; i < c->args.n_words && code == EXIT_DONE; i++) {
        const char *word = c->args.words[i], *sign = strchr(word, '=');
        if (sign && is_column(schema, word, (size_t)(sign - word))) a->values = true;
        else if (!a->file) a->file = word;
        else code = usage("unexpected argument %s; explain takes one file, or column=value for every column", word);
    }
    if (code == EXIT_DONE && a->file && a->values) return usage("a file and column=value: leave one of them out");
    if (code == EXIT_DONE && a->row && !a->file) return usage("--row says which row of a file; name the file");
    return code;
}

/* ---- text ------------------------------------------------------------------------------------------------------ */

static void value_text(jv column, char out[80])
{
    const jv v = jv_get(column, "value");
    char text[60];
    if (*v.p == '"') snprintf(out, 80, "%.70s", jv_str(v, text, sizeof text));
    else if (*v.p == 'n') snprintf(out, 80, "missing");
    else effect_at(is_type(column, "date"), jv_num(v), out);
}

static void put_effects(jv column)
{
    for (jv_iter it = jv_begin(jv_get(column, "effect")); jv_next(&it);) printf(" %+9.4f", jv_num(it.value));
}

static void show_row(jv v)
{
    char words[160], name[64], value[80];
    jv_iter score = jv_begin(jv_get(v, "score_of_row")), base = jv_begin(jv_get(v, "base"));
    score_words(v, words, sizeof words);
    printf("%s\n", words);
    printf("%-24s %-20s", "this row", "");
    while (jv_next(&score)) printf(" %+9.4f", jv_num(score.value));
    putchar('\n');
    printf("%-24s %-20s", "every column at its mean", "");
    while (jv_next(&base)) printf(" %+9.4f", jv_num(base.value));
    putchar('\n');
    for (jv_iter it = jv_begin(jv_get(v, "columns")); jv_next(&it);) {
        value_text(it.value, value);
        printf("%-24.24s %-20.20s", jv_str(jv_get(it.value, "name"), name, sizeof name), value);
        put_effects(it.value);
        putchar('\n');
    }
}

static void show_columns(jv v)
{
    char words[160], name[64], line[600];
    const double noise = jv_num(jv_get(v, "noise_at_most"));
    row("score", "%s; what a column adds is relative to its mean over its knots or values",
        score_words(v, words, sizeof words));
    if (noise > 0.0)
        row("noise",
            "of privacy: standard deviation about %.2g at a point without rows, far less where there are many",
            noise);
    for (jv_iter it = jv_begin(jv_get(v, "columns")); jv_next(&it);) {
        printf("\n%-24.48s importance %.4f\n", jv_str(jv_get(it.value, "name"), name, sizeof name),
               jv_num(jv_get(it.value, "importance")));
        effect_words(v, it.value, line, sizeof line);
        if (*line) paragraph("", line);
    }
}

/* ---- command --------------------------------------------------------------------------------------------------- */

/* A row of values has no place to name. */
static int fail_row(cli *c, pv_status s, bool values)
{
    static const char place[] = "Arrow stream: row 1, ";
    const char *message = pv_ctx_errmsg(c->ctx);
    if (!values || strncmp(message, place, sizeof place - 1) != 0) return fail(c, s);
    return complain(EXIT_INPUT, "%s", message + sizeof place - 1);
}

static int answer(cli *c, pv_model *m, jv schema, const asked *a, char **json)
{
    pv_data *data = NULL;
    const bool one = a->file || a->values;
    int code = EXIT_DONE;
    pv_status s = a->file ? pv_data_file(c->ctx, a->file, &data) : PV_OK;
    if (s == PV_OK && a->values) code = values_given(c, schema, &data);
    if (code != EXIT_DONE) return code;
    if (s == PV_OK) s = one ? pv_model_explain(m, data, a->row ? a->row - 1 : 0, json) : pv_model_curves(m, json);
    pv_data_free(data);
    progress_clear();
    return s == PV_OK ? EXIT_DONE : fail_row(c, s, a->values);
}

static int draw(cli *c, bool one, jv v, const char *path)
{
    char *svg = one ? parts_svg(v) : effects_svg(v);
    const pv_status s = pv_file_write(c->ctx, path, svg, strlen(svg));
    free(svg);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

int cmd_explain(cli *c)
{
    pv_model *m = NULL;
    const char *schema = NULL;
    char *json = NULL;
    asked a = { 0 };
    const int settings = c->args.n_settings;
    c->args.n_settings = 0; /* columns, not settings of the data */
    int code = open_model(c, &m);
    c->args.n_settings = settings;
    if (code == EXIT_DONE && pv_model_schema(m, &schema) != PV_OK) schema = NULL;
    if (code == EXIT_DONE) code = read_asked(c, m, (jv) { schema }, &a);
    if (code == EXIT_DONE && a.svg) code = check_writable(a.svg);
    if (code == EXIT_DONE) code = answer(c, m, (jv) { schema }, &a, &json);
    if (code == EXIT_DONE && a.svg) code = draw(c, a.file || a.values, (jv) { json }, a.svg);
    if (code == EXIT_DONE) {
        notes_flush();
        if (c->args.json) print_json(json);
        else (a.file || a.values ? show_row : show_columns)((jv) { json });
        if (a.svg && !c->args.json) row("drawing", "%s", a.svg);
    }
    pv_string_free(c->ctx, json);
    pv_model_free(m);
    return code;
}
