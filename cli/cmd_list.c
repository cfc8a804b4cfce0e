/* cmd_list.c - privet list: the catalogue, from the library's parameter tables. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void setting_range(jv p, char out[96])
{
    char type[16];
    if (jv_get(p, "choices").p) {
        jv_str(jv_get(p, "choices"), out, 96);
    } else if (jv_get(p, "min").p) {
        snprintf(out, 96, "%.12g .. %.12g", jv_num(jv_get(p, "min")), jv_num(jv_get(p, "max")));
    } else {
        jv_str(jv_get(p, "type"), type, sizeof type);
        snprintf(out, 96, "%s", type);
    }
}

const char *setting_default(jv p, char *out, size_t cap)
{
    jv_str(jv_get(p, "default"), out, cap);
    if (strcmp(out, "null") == 0 || !*out) return "-";
    if (strcmp(out, "true") == 0) return "yes";
    if (strcmp(out, "false") == 0) return "no";
    return out;
}

static void setting_line(jv p, const char *indent)
{
    enum { KEY = 26, DEFAULT = 9, RANGE = 21 };
    char key[64], def[192], range[96], help[256];
    setting_range(p, range);
    printf("%s%-*s %-*s %-*s ", indent, KEY, jv_str(jv_get(p, "key"), key, sizeof key), DEFAULT,
           setting_default(p, def, sizeof def), RANGE, range);
    if (strlen(range) > RANGE || strlen(def) > DEFAULT) printf("\n%s%*s", indent, KEY + DEFAULT + RANGE + 3, "");
    printf("%s%s\n", jv_str(jv_get(p, "help"), help, sizeof help), jv_true(jv_get(p, "certified")) ? " *" : "");
}

static bool has_prefix(jv p, const char *prefix)
{
    char key[64];
    return !prefix || strncmp(jv_str(jv_get(p, "key"), key, sizeof key), prefix, strlen(prefix)) == 0;
}

static void settings_lines(jv list, const char *prefix)
{
    for (jv_iter it = jv_begin(list); jv_next(&it);)
        if (has_prefix(it.value, prefix)) setting_line(it.value, "  ");
}

int show_settings(cli *c, const char *prefix)
{
    char *json;
    const pv_status s = pv_list(c->ctx, "settings", &json);
    if (s != PV_OK) return fail(c, s);
    puts("\nsettings (key=value):");
    settings_lines(jv_get((jv) { json }, "settings"), prefix);
    if (!prefix) puts("\nSettings of one plug-in, such as optimizer.steps or reg.lambda: privet list");
    pv_string_free(c->ctx, json);
    return EXIT_DONE;
}

static void plugin_lines(jv plugins)
{
    char name[64], text[512], reference[512];
    for (jv_iter it = jv_begin(plugins); jv_next(&it);) {
        printf("  %-12s %s\n", jv_str(jv_get(it.value, "name"), name, sizeof name),
               jv_str(jv_get(it.value, "summary"), text, sizeof text));
        jv_str(jv_get(it.value, "reference"), reference, sizeof reference);
        if (strlen(reference) > 1 && strcmp(reference, "null") != 0) printf("  %-12s %s\n", "", reference);
        for (jv_iter p = jv_begin(jv_get(it.value, "settings")); jv_next(&p);) setting_line(p.value, "    ");
    }
}

int cmd_list(cli *c)
{
    char *json, kind[32];
    const pv_status s = pv_list(c->ctx, c->args.n_words ? c->args.words[0] : NULL, &json);
    if (s != PV_OK) return fail(c, s);
    if (c->args.json) {
        print_json(json);
    } else {
        for (jv_iter it = jv_begin((jv) { json }); jv_next(&it);) {
            jv_str(it.key, kind, sizeof kind);
            printf("%s\n", kind);
            if (strcmp(kind, "settings") == 0) settings_lines(it.value, NULL);
            else plugin_lines(it.value);
        }
        puts("\nColumns: key, default, range, meaning.  * enters the guarantee and is certified.");
    }
    pv_string_free(c->ctx, json);
    return EXIT_DONE;
}
