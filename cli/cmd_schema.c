/* cmd_schema.c - privet schema: begin one from a header, print one as a table, hold a table against one. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- draft -------------------------------------------------------------------------------------------------- */

/* How many columns have this type. */
static int of_type(jv columns, const char *type)
{
    char text[16];
    int n = 0;
    for (jv_iter it = jv_begin(columns); jv_next(&it);)
        n += strcmp(jv_str(jv_get(it.value, "type"), text, sizeof text), type) == 0;
    return n;
}

/* How many a dictionary names, without bounds or values. */
static int unbounded(jv columns)
{
    char type[16];
    int n = 0;
    for (jv_iter it = jv_begin(columns); jv_next(&it);) {
        jv_str(jv_get(it.value, "type"), type, sizeof type);
        const bool needs = strcmp(type, "number") == 0 || strcmp(type, "date") == 0 || strcmp(type, "label") == 0;
        n += needs && jv_get(it.value, "source").p && !jv_get(it.value, "min").p && !jv_get(it.value, "values").p;
    }
    return n;
}

static void advise(jv schema, bool public)
{
    const jv columns = jv_get(schema, "columns");
    const int open = of_type(columns, "open") + unbounded(columns);
    if (open > 0)
        note(PV_LOG_NOTE,
             "%d column%s still open: say what each is, with bounds and values that everybody may know; copied from "
             "private rows they would reveal them, and so would a first line that is no header",
             open, open == 1 ? " is" : "s are");
    if (of_type(columns, "label") == 0)
        note(PV_LOG_NOTE, "no column is the label: --label COLUMN, or \"type\": \"label\"");
    if (public && of_type(columns, "ignore") > 0)
        note(PV_LOG_NOTE, "ignored columns: %d, of one value only or of words of too many kinds",
             of_type(columns, "ignore"));
    if (public && of_type(columns, "person") > 0)
        note(PV_LOG_NOTE,
             "a column named like an id is the person, whose rows are protected together; say \"ignore\" "
             "if it is not");
    if (public)
        note(PV_LOG_NOTE, "types, bounds and values are those of the rows, which --public declares to be public");
}

static void say_page(const cli *c, const char *page)
{
    if (c->args.json) print_pairs((const char *const[]) { "page", page, NULL });
    else row("page", "%s: open it in a browser, fill in the columns and save the schema", page);
}

static int draft(cli *c)
{
    const char *out = c->args.out, *label = setting_value(c, "schema.label");
    const bool public = setting_value(c, "schema.public") != NULL;
    const char *page = setting_value(c, "schema.page");
    char *json = NULL;
    if (public && setting_value(c, "schema.header"))
        return usage("--header reads no row, --public reads all of them: only one can be meant");
    if (out && access(out, F_OK) == 0) return usage("%s is there already: a draft replaces no file", out);
    int code = out ? check_writable(out) : EXIT_DONE;
    if (code == EXIT_DONE && page) code = check_writable(page);
    if (code != EXIT_DONE) return code;
    pv_status s = pv_schema_draft(c->ctx, c->args.words[1], label, public, &json);
    if (s == PV_OK && out) s = pv_file_write(c->ctx, out, json, strlen(json));
    if (s == PV_OK && page) s = write_schema_page(c->ctx, page, json);
    if (s != PV_OK) code = fail(c, s);
    else if (!out && !page) fputs(json, stdout);
    else if (!out) say_page(c, page);
    else if (c->args.json) print_pairs((const char *const[]) { "schema", out, NULL });
    else row("schema", "%s", out);
    if (code == EXIT_DONE && !c->args.quiet) advise((jv) { json }, public);
    pv_string_free(c->ctx, json);
    return code;
}

/* ---- show --------------------------------------------------------------------------------------------------- */

enum { DECLARED = 44 };

/* "0 .. 120" or "a, b, ...". */
static void declared(jv column, char *out, size_t cap)
{
    char a[48], b[48];
    size_t n = 0;
    int count = 0;
    *out = '\0';
    if (jv_get(column, "min").p)
        snprintf(out, cap, "%s .. %s", jv_str(jv_get(column, "min"), a, sizeof a),
                 jv_str(jv_get(column, "max"), b, sizeof b));
    if (jv_get(column, "rows").p) snprintf(out, cap, "at most %s rows", jv_str(jv_get(column, "rows"), a, sizeof a));
    for (jv_iter it = jv_begin(jv_get(column, "values")); jv_next(&it) && n < cap; count++) {
        if (*it.value.p == '[') {
            jv_iter first = jv_begin(it.value);
            jv_next(&first);
            it.value = first.value;
        }
        if (count < 5)
            n += (size_t)snprintf(out + n, cap - n, "%s%s", count ? ", " : "", jv_str(it.value, a, sizeof a));
    }
    if (count > 5 && n < cap) snprintf(out + n, cap - n, ", ... (%d)", count);
    if (strlen(out) > DECLARED) snprintf(out + DECLARED - 3, 4, "...");
}

static void show_columns(jv schema)
{
    char name[64], type[16], what[400], missing[16], outside[16], source[64];
    printf("%-24s %-9s %-*s %-8s %-8s %s\n", "column", "type", DECLARED, "declared", "missing", "outside", "source");
    for (jv_iter it = jv_begin(jv_get(schema, "columns")); jv_next(&it);) {
        declared(it.value, what, sizeof what);
        printf("%-24s %-9s %-*s %-8s %-8s %s\n", jv_str(jv_get(it.value, "name"), name, sizeof name),
               jv_str(jv_get(it.value, "type"), type, sizeof type), DECLARED, what,
               jv_str(jv_get(it.value, "missing"), missing, sizeof missing),
               jv_str(jv_get(it.value, "outside"), outside, sizeof outside),
               jv_str(jv_get(it.value, "source"), source, sizeof source));
    }
}

/* Of a model file, whose first bytes tell, or of a schema; free() it. */
static int find_schema(cli *c, char **json)
{
    const char *path = c->args.words[1], *own;
    const size_t n = strlen(path);
    char *text = NULL;
    pv_model *m = NULL;
    pv_status s;
    if (n > 4 && strcmp(path + n - 4, ".pvt") == 0) {
        s = pv_model_load(c->ctx, path, &m);
        if (s == PV_OK) s = pv_model_schema(m, &own);
        if (s == PV_OK && !own) {
            pv_model_free(m);
            return complain(EXIT_INPUT, "%s: its rows had no schema", path);
        }
        if (s == PV_OK && !(*json = strdup(own))) abort();
        pv_model_free(m);
    } else {
        s = pv_schema_canonical(c->ctx, path, &text);
        if (s == PV_OK && !(*json = strdup(text))) abort();
        pv_string_free(c->ctx, text);
    }
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

/* A schema that is not finished is one to be filled in. */
static int find_draft(cli *c, char **json)
{
    char *text = NULL;
    const pv_status s = pv_schema_draft(c->ctx, c->args.words[1], NULL, false, &text);
    if (s != PV_OK) return find_schema(c, json); /* a model, or what is wrong with it */
    if (!(*json = strdup(text))) abort();
    pv_string_free(c->ctx, text);
    return EXIT_DONE;
}

static int show(cli *c)
{
    const char *page = setting_value(c, "schema.page");
    char *json = NULL;
    int code = page ? check_writable(page) : EXIT_DONE;
    if (code == EXIT_DONE) code = page ? find_draft(c, &json) : find_schema(c, &json);
    if (code == EXIT_DONE && page) {
        const pv_status s = write_schema_page(c->ctx, page, json);
        if (s != PV_OK) code = fail(c, s);
        else say_page(c, page);
    } else if (code == EXIT_DONE && c->args.json) puts(json);
    else if (code == EXIT_DONE) show_columns((jv) { json });
    free(json);
    return code;
}

/* ---- check --------------------------------------------------------------------------------------------------- */

static const char reason[] = "these counts and lines come from the rows: a value or bound that is copied from here, "
                             "or from the rows, into the "
                             "schema reveals them to everybody who sees a model. Declare what is known without the "
                             "rows; data.outside=usual, or "
                             "\"outside\": \"other\" of a category, takes the rest without looking at it.";

static void show_found(jv found, const char *data)
{
    char text[300], rows[32], problems[32], spaced[32];
    jv_str(jv_get(found, "rows"), rows, sizeof rows);
    jv_str(jv_get(found, "problems"), problems, sizeof problems);
    row("checked", "%s: %s rows, %s problem%s", data, rows, problems, strcmp(problems, "1") == 0 ? "" : "s");
    jv_str(jv_get(found, "spaced_ids"), spaced, sizeof spaced);
    if (strcmp(problems, "0") == 0 && strcmp(spaced, "0") == 0) return;
    for (jv_iter it = jv_begin(jv_get(found, "kinds")); jv_next(&it);)
        row("", "%s", jv_str(jv_get(it.value, "text"), text, sizeof text));
    if (strcmp(spaced, "0") != 0) {
        snprintf(text, sizeof text,
                 "%s row%s an id with blanks at an end, or two side by side: ids are taken as they are, and another "
                 "spelling is another person",
                 spaced, strcmp(spaced, "1") == 0 ? " has" : "s have");
        paragraph("note", text);
    }
    paragraph("NOT PRIVATE", reason);
}

/* Exits 3 where something does not fit. */
static int check(cli *c)
{
    char *json = NULL, *found = NULL, problems[32];
    if (c->args.n_words < 3) return usage("privet schema check needs the table, too: check SCHEMA DATA");
    int code = find_schema(c, &json);
    if (code == EXIT_DONE) {
        const pv_status s = pv_schema_check(c->ctx, json, c->args.words[2], &found);
        progress_clear();
        if (s != PV_OK) code = fail(c, s);
    }
    if (code == EXIT_DONE) {
        if (c->args.json) puts(found);
        else show_found((jv) { found }, c->args.words[2]);
        if (strcmp(jv_str(jv_get((jv) { found }, "problems"), problems, sizeof problems), "0") != 0)
            code = EXIT_INPUT;
    }
    pv_string_free(c->ctx, found);
    free(json);
    return code;
}

int cmd_schema(cli *c)
{
    const char *what = c->args.words[0];
    for (int i = 0; i < c->args.n_settings; i++)
        if (strncmp(c->args.settings[i].key, "schema.", 7) != 0)
            return usage("schema has no setting %s; there is --public, --header, --label COLUMN and --page FILE",
                         c->args.settings[i].key);
    if (strcmp(what, "check") == 0) return check(c);
    if (c->args.n_words > 2) return usage("privet schema %s takes one file", what);
    if (strcmp(what, "draft") == 0) return draft(c);
    if (strcmp(what, "show") == 0) return show(c);
    return usage("privet schema has no %s; there is draft, show and check", what);
}
