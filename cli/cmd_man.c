/* cmd_man.c - privet man, privet complete: the manual page and the bash completion, from the same tables
 * as the help.  Not shown in the list of commands: the build runs them. */
#include "cli.h"

#include <ctype.h>
#include <string.h>

/* Text for roff: hyphens, backslashes and leading dots would otherwise change meaning. */
static void roff(const char *s)
{
    if (*s == '.' || *s == '\'') fputs("\\&", stdout);
    for (; *s; s++) {
        if (*s == '-') fputs("\\-", stdout);
        else if (*s == '\\') fputs("\\e", stdout);
        else if (*s == ',' && s[1] > ' ') fputs(",\\:", stdout); /* a long list may be broken here */
        else putchar(*s);
    }
}

static void section(const char *name)
{
    printf(".SH %s\n", name);
}

/* A tagged paragraph: the tag in bold, then the text. */
static void item(const char *tag, const char *word, const char *text)
{
    fputs(".TP\n\\fB", stdout);
    roff(tag);
    fputs("\\fR", stdout);
    if (word) {
        fputs(" \\fI", stdout);
        roff(word);
        fputs("\\fR", stdout);
    }
    putchar('\n');
    roff(text);
    putchar('\n');
}

static void man_commands(void)
{
    char tag[96];
    section("COMMANDS");
    for (const command *c = cli_commands; c->name; c++)
        if (c->help) item((snprintf(tag, sizeof tag, "%s", c->name), tag), c->words, c->help);
}

/* Has an option of this name come before?  One command may say it in words of its own. */
static bool seen(const option *o)
{
    for (const option *p = cli_options; p < o; p++)
        if (strcmp(p->name, o->name) == 0) return true;
    return false;
}

static void man_options(void)
{
    char tag[48], text[160];
    section("OPTIONS");
    puts("Options may stand anywhere; \\fB\\-\\-name value\\fR and \\fB\\-\\-name=value\\fR are the same, and "
         "\\fB\\-\\-\\fR "
         "ends them.");
    for (const option *o = cli_options; o->name; o++) {
        if (seen(o)) continue;
        snprintf(tag, sizeof tag, "--%s", o->name);
        if (o->key) snprintf(text, sizeof text, "%s (%s)", o->help, o->key);
        else snprintf(text, sizeof text, "%s", o->help);
        item(tag, o->word, text);
    }
}

static void man_settings(jv list)
{
    char key[64], def[192], range[96], help[256], text[512];
    for (jv_iter it = jv_begin(list); jv_next(&it);) {
        setting_range(it.value, range);
        snprintf(text, sizeof text, "%s; default %s (%s)%s", jv_str(jv_get(it.value, "help"), help, sizeof help),
                 setting_default(it.value, def, sizeof def), range,
                 jv_true(jv_get(it.value, "certified")) ? "; enters the guarantee" : "");
        item(jv_str(jv_get(it.value, "key"), key, sizeof key), NULL, text);
    }
}

static void man_plugins(jv all)
{
    char kind[32], name[64], summary[512], reference[512], text[1200];
    for (jv_iter k = jv_begin(all); jv_next(&k);) {
        jv_str(k.key, kind, sizeof kind);
        if (strcmp(kind, "settings") == 0) continue;
        printf(".SS \"%s\"\n", kind);
        for (jv_iter p = jv_begin(k.value); jv_next(&p);) {
            jv_str(jv_get(p.value, "summary"), summary, sizeof summary);
            jv_str(jv_get(p.value, "reference"), reference, sizeof reference);
            if (strlen(reference) > 1 && strcmp(reference, "null") != 0)
                snprintf(text, sizeof text, "%s. %s", summary, reference);
            else snprintf(text, sizeof text, "%s", summary);
            item(jv_str(jv_get(p.value, "name"), name, sizeof name), NULL, text);
            man_settings(jv_get(p.value, "settings"));
        }
    }
}

static void man_rest(void)
{
    section("EXIT STATUS");
    item("0", NULL, "done");
    item("2", NULL, "usage: unknown command, option or setting, value out of range, combination without a proof");
    item("3", NULL, "input: a file that cannot be read or written, bad rows, a certificate that does not hold");
    item("4", NULL, "refused: more than the budget");
    item("5", NULL, "internal: out of memory, no secure randomness, a failed check");
    item("6", NULL, "data to reproduce a table or figure is missing; the others were made");
    puts(".PP\nA signal ends the command as that signal does: 130 for an interrupt, 143 for a termination. After "
         "training "
         "has begun, the budget then counts as spent.");
    section("EXAMPLES");
    puts(".nf\nprivet train people.csv \\-\\-schema people.json \\-\\-epsilon 1 \\-\\-out model.pvt\n"
         "privet verify model.pvt\nprivet eval model.pvt heldout.csv\n"
         "privet plan \\-\\-rows 50000 \\-\\-features 20 \\-\\-epsilon 0.5\n.fi");
    section("SEE ALSO");
    puts(
        "The pages under share/doc/privet/docs of the installation: README.md says which answers what, reproduce.md\n"
        "finds every theorem, algorithm, table and figure of the papers that privet implements.");
}

static void see_also(const char *but)
{
    section("SEE ALSO");
    fputs(".BR privet (1)", stdout);
    for (const command *c = cli_commands; c->name; c++)
        if (c->help && strcmp(c->name, but) != 0) printf(",\n.BR privet\\-%s (1)", c->name);
    puts(",\n.BR privet\\-schema (5),\n.BR libprivet (3)");
}

/* privet-COMMAND(1) */
static int man_command(const command *cmd)
{
    char tag[48], text[160];
    printf(".TH PRIVET\\-%s 1 \"\" \"privet %s\" \"User Commands\"\n.ad l\n", cmd->name, pv_version());
    section("NAME");
    printf("privet\\-%s \\- ", cmd->name);
    roff(cmd->help);
    puts("");
    section("SYNOPSIS");
    printf(".B privet %s\n", cmd->name);
    roff(cmd->words);
    puts("\n[\\fIoption\\fR ...]");
    section("OPTIONS");
    for (const option *o = cli_options; o->name; o++) {
        if (!(o->groups & (cmd->groups | OPT_ALWAYS))) continue;
        snprintf(tag, sizeof tag, "--%s", o->name);
        snprintf(text, sizeof text, o->key ? "%s (%s)" : "%s", o->help, o->key ? o->key : "");
        item(tag, o->word, text);
    }
    if (cmd->groups & (OPT_PLAN | OPT_DATA))
        puts(".PP\nEvery option with a name in brackets is short for that setting; every setting is listed in\n.BR "
             "privet (1).");
    see_also(cmd->name);
    return EXIT_DONE;
}

/* A line of a table: the first cell is the tag of what the others say. */
static void man_cells(char *cells)
{
    char *bar = strstr(cells, " | ");
    if (bar) *bar = '\0';
    fputs(".TP\n\\fB", stdout);
    roff(cells);
    puts("\\fR");
    roff(bar ? bar + 3 : "");
    puts("");
}

/* privet-TOPIC(5), of the text that `privet help TOPIC` prints */
static int man_topic(const topic *t)
{
    char line[4096], cells[4096];
    bool code = false;
    printf(".TH PRIVET\\-%s 5 \"\" \"privet %s\" \"File Formats\"\n.ad l\n", t->name, pv_version());
    section("NAME");
    printf("privet\\-%s \\- ", t->name);
    roff(t->summary);
    puts("");
    section("DESCRIPTION");
    for (const char *p = t->text; *p;) {
        const size_t len = strcspn(p, "\n");
        plain_line(p, len, line, sizeof line);
        if (strncmp(p, "```", 3) == 0) puts((code = !code) ? ".PP\n.RS 4\n.nf" : ".fi\n.RE\n.PP");
        else if (code) snprintf(line, sizeof line, "%.*s", (int)len, p), roff(line), puts("");
        else if (line[0] == '#') printf(".SH \"%s\"\n", line + strspn(line, "# "));
        else if (line[0] == '|') {
            if (plain_cells(line, cells, sizeof cells)) man_cells(cells + strspn(cells, " "));
        } else if (line[0] == '-' && line[1] == ' ') puts(".IP \\(bu 2"), roff(line + 2), puts("");
        else if (len == 0) puts(".PP");
        else roff(line + strspn(line, " ")), puts("");
        p += len + (p[len] == '\n');
    }
    see_also("");
    return EXIT_DONE;
}

static int man_overview(cli *c);

/* Each page as a file of the folder. */
static int man_pages(cli *c, const char *folder)
{
    char path[4096];
    int code = EXIT_DONE;
    for (const command *m = cli_commands; m->name && code == EXIT_DONE; m++) {
        if (!m->help) continue;
        snprintf(path, sizeof path, "%s/privet-%s.1", folder, m->name);
        if (!freopen(path, "w", stdout)) return complain(EXIT_INPUT, "%s: cannot be written", path);
        code = flush_stdout(man_command(m));
    }
    snprintf(path, sizeof path, "%s/privet-schema.5", folder);
    if (code == EXIT_DONE && !freopen(path, "w", stdout)) return complain(EXIT_INPUT, "%s: cannot be written", path);
    if (code == EXIT_DONE) code = flush_stdout(man_topic(find_topic("schema")));
    snprintf(path, sizeof path, "%s/privet.1", folder);
    if (code == EXIT_DONE && !freopen(path, "w", stdout)) return complain(EXIT_INPUT, "%s: cannot be written", path);
    return code == EXIT_DONE ? man_overview(c) : code;
}

int cmd_man(cli *c)
{
    return c->args.n_words ? man_pages(c, c->args.words[0]) : man_overview(c);
}

static int man_overview(cli *c)
{
    char *json;
    const pv_status s = pv_list(c->ctx, NULL, &json);
    if (s != PV_OK) return fail(c, s);
    printf(".TH PRIVET 1 \"\" \"privet %s\" \"User Commands\"\n", pv_version());
    puts(".ad l"); /* descriptions of networks are long words: no line is stretched */
    section("NAME");
    puts("privet \\- train models under differential privacy and certify the cost");
    section("SYNOPSIS");
    puts(".B privet\n.I COMMAND\n[\\fIargument\\fR ...] [\\fIkey\\fR=\\fIvalue\\fR ...] [\\fIoption\\fR ...]");
    section("DESCRIPTION");
    puts(
        "Fits a model to rows about people so that nobody who sees the model can tell whether any one row was among\n"
        "them. How close to that ideal a run comes is the privacy budget epsilon. The model file carries a "
        "certificate\n"
        "with the recorded noise, from which anybody can recompute epsilon without the data.");
    man_commands();
    man_options();
    section("SETTINGS");
    puts("Every setting is one \\fIkey\\fR=\\fIvalue\\fR, on the command line or in a JSON file given with "
         "\\fB\\-\\-config\\fR.");
    man_settings(jv_get((jv) { json }, "settings"));
    section("PLUG-INS");
    man_plugins((jv) { json });
    man_rest();
    pv_string_free(c->ctx, json);
    return EXIT_DONE;
}

/* ---- bash completion ---------------------------------------------------------------------------------- */

/* Plug-ins of a kind share settings: each once. */
static void complete_settings(jv list, char *said, size_t cap)
{
    char key[64], word[72];
    for (jv_iter it = jv_begin(list); jv_next(&it);) {
        snprintf(word, sizeof word, " %s=", jv_str(jv_get(it.value, "key"), key, sizeof key));
        if (strstr(said, word) || strlen(said) + strlen(word) >= cap) continue;
        strcat(said, word);
    }
}

static void complete_names(jv plugins)
{
    char name[64];
    for (jv_iter it = jv_begin(plugins); jv_next(&it);)
        if (strcmp(jv_str(jv_get(it.value, "name"), name, sizeof name), "glm") != 0) /* goes by the names of losses */
            printf(" %s", name);
}

/* case "$key" in KEY) values="a b c" ;; : the words a setting can take. */
static void complete_values(jv all)
{
    static const struct {
        const char *key, *kinds[2];
    } named[] = { { "model", { "loss", "model" } },
                  { "reg", { "reg" } },
                  { "set", { "set" } },
                  { "optimizer", { "optimizer" } },
                  { "mechanism", { "mechanism" } },
                  { "accountant", { "accountant" } },
                  { "data.format", { "reader" } } };
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        printf("        %s) values=\"", named[i].key);
        for (int k = 0; k < 2 && named[i].kinds[k]; k++) complete_names(jv_get(all, named[i].kinds[k]));
        puts("\" ;;");
    }
    char key[64], words[256];
    for (jv_iter it = jv_begin(jv_get(all, "settings")); jv_next(&it);) {
        if (!jv_get(it.value, "choices").p) continue;
        jv_str(jv_get(it.value, "choices"), words, sizeof words);
        for (char *p = words; *p; p++)
            if (*p == '|') *p = ' ';
        printf("        %s) values=\"%s\" ;;\n", jv_str(jv_get(it.value, "key"), key, sizeof key), words);
    }
}

/* What `list` and `help` take instead of files. */
static void complete_listed(jv all)
{
    char kind[32];
    fputs("\"\n    local topics=\"settings", stdout);
    for (const topic *t = cli_topics; t->name; t++) printf(" %s", t->name);
    fputs("\"\n    local listed=\"", stdout);
    for (jv_iter k = jv_begin(all); jv_next(&k);) {
        printf(" %s", jv_str(k.key, kind, sizeof kind));
        if (strcmp(kind, "settings") != 0) complete_names(k.value);
    }
}

static void complete_commands(void)
{
    fputs("    local commands=\"", stdout);
    for (const command *c = cli_commands; c->name; c++)
        if (c->help) printf("%s ", c->name);
    puts("--help --version\"\n    local options=\"\"\n    case \"${COMP_WORDS[1]}\" in");
    for (const command *c = cli_commands; c->name; c++) {
        if (!c->help) continue;
        printf("        %s) options=\"", c->name);
        for (const option *o = cli_options; o->name; o++)
            if (o->groups & (c->groups | OPT_ALWAYS)) printf("--%s ", o->name);
        puts("\" ;;");
    }
    puts("    esac");
}

static void complete_option_keys(void)
{
    puts("    case \"$key\" in");
    for (const option *o = cli_options; o->name; o++)
        if (o->key && !seen(o)) printf("        --%s) key=%s ;;\n", o->name, o->key);
    puts("    esac");
}

int cmd_complete(cli *c)
{
    char *json;
    const pv_status s = pv_list(c->ctx, NULL, &json);
    if (s != PV_OK) return fail(c, s);
    const jv all = { json };
    puts("# bash completion for privet, generated by `privet complete`\n_privet() {\n"
         "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" key=\"${COMP_WORDS[COMP_CWORD-1]}\" values=\"\"");
    complete_commands();
    char said[16384] = "";
    complete_settings(jv_get(all, "settings"), said, sizeof said);
    for (jv_iter k = jv_begin(all); jv_next(&k);)
        for (jv_iter p = jv_begin(k.value); jv_next(&p);)
            complete_settings(jv_get(p.value, "settings"), said, sizeof said);
    printf("    local settings=\"%s", said);
    complete_listed(all);
    puts(
        "\"\n    if [ \"$COMP_CWORD\" -eq 1 ]; then COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\")); return; fi\n"
        "    [ \"$cur\" = \"=\" ] && cur=\"\"\n"
        "    [ \"$key\" = \"=\" ] && key=\"${COMP_WORDS[COMP_CWORD-2]}\"");
    complete_option_keys();
    puts("    case \"$key\" in");
    complete_values(all);
    puts(
        "    esac\n"
        "    if [ -n \"$values\" ]; then COMPREPLY=($(compgen -W \"$values\" -- \"$cur\"))\n"
        "    elif [ \"${cur#-}\" != \"$cur\" ]; then COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
        "    elif [ \"${COMP_WORDS[1]}\" = list ]; then COMPREPLY=($(compgen -W \"$listed $settings\" -- \"$cur\"))\n"
        "    elif [ \"${COMP_WORDS[1]}\" = help ]; then COMPREPLY=($(compgen -W \"$commands $topics\" -- \"$cur\"))\n"
        "    else\n"
        "        COMPREPLY=($(compgen -f -- \"$cur\"))\n"
        "        case \"${COMP_WORDS[1]}\" in train|plan|compare) COMPREPLY+=($(compgen -W \"$settings\" -- "
        "\"$cur\")) ;; "
        "esac\n"
        "        [ \"${COMPREPLY[0]%=}\" = \"${COMPREPLY[0]}\" ] || compopt -o nospace 2>/dev/null\n"
        "    fi\n}\ncomplete -o filenames -F _privet privet");
    pv_string_free(c->ctx, json);
    return EXIT_DONE;
}
