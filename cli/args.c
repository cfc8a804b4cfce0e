/* args.c - the command line: words, key=value settings, and long options that are short for settings. */
#include "cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PLAN OPT_PLAN
const option cli_options[] = {
    { "model", "model", "NAME", "what is fitted", PLAN },
    { "optimizer", "optimizer", "NAME", "how it is fitted", PLAN },
    { "epsilon", "budget.epsilon", "E", "privacy budget: smaller is more private", PLAN | OPT_COST | OPT_EVAL },
    { "delta", "budget.delta", "D", "chance that the guarantee may fail, far below 1/rows",
      PLAN | OPT_COST | OPT_EVAL },
    { "relation", "budget.relation", "NAME", "what one person can change", PLAN | OPT_ACCT | OPT_EVAL },
    { "accountant", "accountant", "NAME", "how the cost is computed", PLAN | OPT_ACCT | OPT_EVAL },
    { "reg", "reg", "NAME", "penalty on the weights", PLAN },
    { "set", "set", "NAME", "set the weights must lie in", PLAN },
    { "sampler", "sampler", "NAME", "which rows a step looks at", PLAN | OPT_ACCT },
    { "privacy", "privacy", "on|off", "off: without noise; every output says NOT PRIVATE", PLAN | OPT_EVAL },
    { "diagnostics", "run.diagnostics", NULL, "report quantities that are NOT PRIVATE, such as the training loss",
      PLAN },
    { "seed", "run.seed", "N", "repeatable noise for tests: NOT PRIVATE", PLAN | OPT_REPRO | OPT_EVAL },
    { "rows", "data.rows", "N", "number of rows, instead of counting them", PLAN },
    { "person", "data.person", "COLUMN", "column that says whose row it is: persons are protected, not rows", PLAN },
    { "rows-per-person", "data.person_rows", "K", "how many rows of one person count, at most", PLAN },
    { "features", "data.features", "P", "number of columns, instead of measuring it", PLAN },
    { "schema", "data.schema", "FILE", "declares columns, bounds, categories and the label", PLAN | OPT_DATA },
    { "issuer", "issuer.name", "TEXT", "who answers for the run, repeated in the certificate with the day",
      PLAN | OPT_EVAL },
    { "contact", "issuer.contact", "TEXT", "whom to ask about it", PLAN | OPT_EVAL },
    { "date", "issuer.date", "DAY", "2026-01-31; with --issuer that of the clock unless it is given",
      PLAN | OPT_EVAL },
    { "data-name", "issuer.data", "TEXT", "what the data are called; no path", PLAN | OPT_EVAL },
    { "threads", "run.threads", "N", "threads; 0 takes every core", PLAN | OPT_DATA },
    { "config", NULL, "FILE", "read settings from a JSON file first", PLAN },
    { "dump-config", NULL, "FILE", "write the settings as JSON; - prints them and stops", PLAN },
    { "file", "file", "FILE", "a tree of events as JSON; a certificate is for privet verify", OPT_ACCT },
    { "group", "rows", "K", "protect any K rows at once instead of one", OPT_GROUP },
    { "all", "all", NULL, "show every accountant that has a proof", OPT_GROUP },
    { "epsilon", "budget.epsilon", "E", "where the curve ends; chosen when it is left out", OPT_DRAW },
    { "delta", "budget.delta", "D", "of sbcd, whose curve is epsilon after every pass", OPT_DRAW },
    { "svg", "svg", "FILE", "draw the curve and the errors of every test", OPT_DRAW },
    { "row", "explain.row", "N", "which row of DATA, counted from 1 (1)", OPT_EXPLAIN },
    { "svg", "explain.svg", "FILE", "draw it", OPT_EXPLAIN },
    { "csv", "show.csv", NULL, "as CSV", OPT_SHOW },
    { "public", "schema.public", NULL, "the rows of DATA are public: bounds and values are taken from them",
      OPT_SCHEMA },
    { "header", "schema.header", NULL, "no row is read, the header alone: what draft does without --public",
      OPT_SCHEMA },
    { "label", "schema.label", "COLUMN", "the column that is to be predicted", OPT_SCHEMA },
    { "page", "schema.page", "FILE", "a page to fill in the schema, for a browser without network", OPT_SCHEMA },
    { "format", NULL, "NAME", "onnx, onnx-raw, npz, npy or safetensors; default: what the file's name ends in",
      OPT_FORMAT },
    { "runs", "runs", "N", "runs of every point, instead of the paper's number", OPT_REPRO },
    { "quick", "quick", NULL, "fewer points, rows, runs and steps: minutes instead of hours", OPT_REPRO },
    { "full", "full", NULL, "without --quick: also CIFAR-10, which takes 13 hours", OPT_REPRO },
    { "holdout", "holdout", "FILE", "labelled rows to measure on; none: the training rows, NOT PRIVATE",
      OPT_COMPARE },
    { "holdout", "run.holdout", "FILE|SHARE",
      "labelled rows to measure on along the way, NOT PRIVATE for the people in them; or with --eval-epsilon",
      OPT_TRAIN },
    { "eval-epsilon", NULL, "E",
      "release noisy figures of the rows of --holdout, a file or a share of DATA, in the end", OPT_TRAIN },
    { "trained-on", "data.trained_on", "FILE", "the file that was trained on: says how many persons are in both",
      OPT_EVAL },
    { "threshold", "predict.threshold", "P", "two classes: the chance above which the second is predicted (0.5)",
      OPT_DECIDE },
    { "cost", "predict.cost", "A,B", "instead: what a false alarm and a miss cost; the threshold is A/(A + B)",
      OPT_DECIDE },
    { "by", NULL, "COLUMN", "measures of every value of a category as well; --json: those alone", OPT_EVAL },
    { "keep", NULL, "A,B", "columns of DATA in front of the scores, by name", OPT_PREDICT },
    { "append", NULL, NULL, "every column of DATA in front of the scores", OPT_PREDICT },
    { "repeats", "repeats", "N", "runs of every combination (5)", OPT_COMPARE },
    { "pairs", "pairs", NULL, "lists go together value by value, instead of every combination", OPT_COMPARE },
    { "jobs", "jobs", "N", "runs at the same time; left out: one for each core", OPT_COMPARE | OPT_REPRO },
    { "fresh", "fresh", NULL, "do recorded runs again; what they cost still counts", OPT_COMPARE },
    { "many", "many", NULL, "more than 10,000 runs are meant", OPT_COMPARE },
    { "tree", "tree", "FOLDER", "the source tree of privet; left out: the current folder", OPT_TREE },
    { "measures", NULL, "FILE", "curves along the run, from the file that run.log named; NOT PRIVATE", OPT_PAGE },
    { "evaluation", NULL, "FILE", "figures that privet eval --epsilon released: the certificate it wrote", OPT_PAGE },
    { "registry", "report.registry", NULL, "print what registries and checklists ask, as JSON, instead of a page",
      OPT_PAGE },
    { "markdown", "markdown", NULL, "of a folder of results: a text instead of a page", OPT_PAGE },
    { "exact", NULL, NULL, "exact figures and counts of DATA, not rounded ones: not for passing on", OPT_PAGE },
    { "out", NULL, "FILE", "where the result goes (a model: model.pvt; a folder: results, of compare: compare)",
      OPT_OUT },
    { "certificate", NULL, "FILE", "write the certificate to a file of its own", OPT_CERT },
    { "bounds", NULL, NULL, "also show what the papers' theorems promise for such a plan", OPT_BOUNDS },
    { "json", NULL, NULL, "print one JSON object", OPT_JSON },
    { "quiet", NULL, NULL, "no notes and no progress bar", OPT_QUIET },
    { "help", NULL, NULL, "this text", OPT_ALWAYS },
    { 0 },
};
#undef PLAN

/* Edits (insert, delete, replace, swap) between two words, of which the first 31 characters count. */
static int distance(const char *a, const char *b)
{
    int d[32][32];
    const int n = (int)strnlen(a, 31), m = (int)strnlen(b, 31);
    for (int i = 0; i <= n; i++) d[i][0] = i;
    for (int j = 0; j <= m; j++) d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

const char *nearest(const char *word, word_at at, const void *list)
{
    const char *best = NULL, *w;
    int best_d = (int)strlen(word) / 3 + 2; /* further away than this is no suggestion */
    for (int i = 0; (w = at(list, i)) != NULL; i++) {
        const bool begun = strlen(word) >= 3 && strncmp(word, w, strlen(word)) == 0; /* --eps */
        const int d = begun ? 1 : distance(word, w);
        if (d < best_d && 2 * d <= (int)strlen(word)) { /* foo is not a slip of box */
            best_d = d;
            best = w;
        }
    }
    return best;
}

static const char *option_name(const void *groups, int i)
{
    for (const option *o = cli_options; o->name; o++)
        if (((o->groups & *(const unsigned *)groups) || o->groups == OPT_ALWAYS) && i-- == 0) return o->name;
    return NULL;
}

/* The first key of a catalogue that ends in .name; false: none. */
static bool key_ending(jv list, const char *name, char out[64])
{
    for (jv_iter it = jv_begin(list); jv_next(&it);) {
        const char *dot = strrchr(jv_str(jv_get(it.value, "key"), out, 64), '.');
        if (dot && strcmp(dot + 1, name) == 0) return true;
        if (key_ending(jv_get(it.value, "settings"), name, out)) return true;
    }
    return false;
}

/* A setting that somebody took for an option: --augment is model.augment. */
static bool find_setting(const command *cmd, const char *word, char out[64])
{
    char name[64], *json = NULL;
    pv_ctx *ctx;
    bool found = false;
    if (!(cmd->groups & OPT_PLAN) || pv_ctx_create(NULL, &ctx) != PV_OK) return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    for (char *p = name; *p; p++)
        if (*p == '-') *p = '_';
    if (pv_list(ctx, name, &json) == PV_OK)
        for (jv_iter it = jv_begin((jv) { json }); !found && jv_next(&it);) found = key_ending(it.value, name, out);
    pv_string_free(ctx, json);
    pv_ctx_free(ctx);
    return found;
}

/* Which commands have it: "train, plan"; false: none. */
static bool find_owners(const char *name, size_t len, char out[160])
{
    unsigned groups = 0;
    size_t n = 0;
    for (const option *o = cli_options; o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0) groups |= o->groups;
    for (const command *c = cli_commands; c->name; c++)
        if (c->help && (c->groups & groups) && n + strlen(c->name) + 3 < 160)
            n += (size_t)snprintf(out + n, 160 - n, "%s%s", n ? ", " : "", c->name);
    return n > 0;
}

static int unknown_option(const command *cmd, const char *word)
{
    char key[64], owners[160];
    if (word[1] == '-' && find_setting(cmd, word + 2, key))
        return usage("unknown option %s; did you mean the setting %s=...?", word, key);
    const int len = (int)strcspn(word, "=");
    if (word[1] == '-' && find_owners(word + 2, (size_t)len - 2, owners))
        return usage("%s has no %.*s; it is for %s", cmd->name, len, word, owners);
    const char *near = word[1] == '-' ? nearest(word + 2, option_name, &cmd->groups) : NULL;
    if (near) return usage("unknown option %s for %s; did you mean --%s?", word, cmd->name, near);
    return usage("unknown option %s; privet %s --help lists what there is", word, cmd->name);
}

static const option *find_option(const command *cmd, const char *name, size_t len)
{
    for (const option *o = cli_options; o->name; o++)
        if ((o->groups & (cmd->groups | OPT_ALWAYS)) && strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

/* The command's own options that name something; NULL: another one. */
static const char **own_value(args *a, const option *o)
{
    if (o->key) return NULL;
    if (strcmp(o->name, "out") == 0) return &a->out;
    if (strcmp(o->name, "eval-epsilon") == 0) return &a->eval_epsilon;
    if (strcmp(o->name, "measures") == 0) return &a->measures;
    if (strcmp(o->name, "evaluation") == 0) return &a->evaluation;
    if (strcmp(o->name, "certificate") == 0) return &a->certificate;
    if (strcmp(o->name, "config") == 0) return &a->config;
    if (strcmp(o->name, "dump-config") == 0) return &a->dump_config;
    if (strcmp(o->name, "by") == 0) return &a->by;
    if (strcmp(o->name, "keep") == 0) return &a->keep;
    return strcmp(o->name, "format") == 0 ? &a->format : NULL;
}

/* The command's own options; the others are settings. */
static void store(args *a, const option *o, const char *value)
{
    if (o->key) a->settings[a->n_settings++] = (setting) { o->key, value };
    else if (own_value(a, o)) *own_value(a, o) = value;
    else if (strcmp(o->name, "json") == 0) a->json = true;
    else if (strcmp(o->name, "quiet") == 0) a->quiet = true;
    else if (strcmp(o->name, "exact") == 0) a->exact = true;
    else if (strcmp(o->name, "bounds") == 0) a->bounds = true;
    else if (strcmp(o->name, "append") == 0) a->append = true;
    else if (strcmp(o->name, "help") == 0) a->help = true;
}

/* --name, --name=value, --name value.  *i moves past a value of its own. */
static int parse_option(const command *cmd, int argc, char **argv, int *i, args *a)
{
    const char *word = argv[*i];
    if (strcmp(word, "-h") == 0) return a->help = true, EXIT_DONE;
    if (strcmp(word, "-q") == 0 && (cmd->groups & OPT_QUIET)) return a->quiet = true, EXIT_DONE;
    if (strcmp(word, "-o") == 0) word = "--out";
    const size_t len = word[1] == '-' ? strcspn(word + 2, "=") : 0;
    const option *o = len ? find_option(cmd, word + 2, len) : NULL;
    if (!o) return unknown_option(cmd, word);
    const char *value = word[2 + len] == '=' ? word + 3 + len : NULL;
    if (!o->word) {
        if (value && !o->key) return usage("--%s takes no value", o->name);
        store(a, o, value ? value : "yes");
        return EXIT_DONE;
    }
    if (!value) {
        if (*i + 1 >= argc || strncmp(argv[*i + 1], "--", 2) == 0)
            return usage("--%s needs a value (%s)", o->name, o->word);
        value = argv[++*i];
    }
    if (!*value && !o->key) return usage("--%s needs a value (%s)", o->name, o->word);
    const char **own = own_value(a, o);
    if (own && *own && strcmp(*own, value) != 0) return usage("--%s is given twice: %s and %s", o->name, *own, value);
    store(a, o, value);
    return EXIT_DONE;
}

/* key=value with a key made of letters, digits, dots, dashes and underscores: ./a=b stays a path. */
static char *setting_sign(char *word)
{
    if (!isalpha((unsigned char)*word)) return NULL;
    char *p = word;
    while (isalnum((unsigned char)*p) || *p == '.' || *p == '_' || *p == '-') p++;
    return *p == '=' ? p : NULL;
}

/* A budget given twice is more likely a slip than a wish; a settings file may be overridden. */
static int check_twice(const args *a)
{
    for (int i = 1; i < a->n_settings; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(a->settings[i].key, a->settings[k].key) == 0 &&
                strcmp(a->settings[i].value, a->settings[k].value) != 0)
                return usage("%s is given twice: %s and %s", a->settings[i].key, a->settings[k].value,
                             a->settings[i].value);
    return EXIT_DONE;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* No output may be an input, or another output: a table, a model or a budget would be gone. */
static int check_outputs(const command *cmd, const args *a)
{
    const char *svg = NULL, *log = NULL; /* the settings that are outputs */
    for (int k = 0; k < a->n_settings; k++) {
        if ((cmd->groups & OPT_DRAW) && strcmp(a->settings[k].key, "svg") == 0) svg = a->settings[k].value;
        if ((cmd->groups & OPT_EXPLAIN) && strcmp(a->settings[k].key, "explain.svg") == 0) svg = a->settings[k].value;
        if (strcmp(a->settings[k].key, "run.log") == 0) log = a->settings[k].value;
    }
    const char *const out[] = { a->out, a->certificate, a->dump_config, svg, log };
    static const char *const names[] = { "--out", "--certificate", "--dump-config", "--svg", "run.log" };
    for (int i = 0; i < 5; i++) {
        if (!out[i] || strcmp(out[i], "-") == 0) continue;
        for (int k = 0; k < i; k++)
            if (out[k] && same_file(out[i], out[k]))
                return usage("%s %s and %s are the same file; name another", names[i], out[i], names[k]);
        for (int k = 0; k < a->n_words; k++)
            if (same_file(out[i], a->words[k]))
                return usage("%s %s is an input; name another file", names[i], out[i]);
        for (int k = 0; k < a->n_settings; k++)
            if (a->settings[k].value != svg && a->settings[k].value != log && same_file(out[i], a->settings[k].value))
                return usage("%s %s is an input; name another file", names[i], out[i]);
        if ((a->config && same_file(out[i], a->config)) || (a->measures && same_file(out[i], a->measures)) ||
            (a->evaluation && same_file(out[i], a->evaluation)))
            return usage("%s %s is an input; name another file", names[i], out[i]);
    }
    return EXIT_DONE;
}

static int check_words(const command *cmd, const args *a)
{
    if (a->help) return EXIT_DONE;
    if (a->n_words > cmd->max_words)
        return usage("unexpected argument %s; usage: privet %s %s", a->words[cmd->max_words], cmd->name, cmd->words);
    if (a->n_words < cmd->min_words) return usage("%s needs more: privet %s %s", cmd->name, cmd->name, cmd->words);
    if (a->n_settings && !(cmd->groups & (OPT_PLAN | OPT_DATA | OPT_ACCT | OPT_SYNTH | OPT_REPRO | OPT_TREE |
                                          OPT_EXPLAIN | OPT_SCHEMA | OPT_SHOW)))
        return usage("%s takes no settings, but got %s=%s", cmd->name, a->settings[0].key, a->settings[0].value);
    const int code = check_twice(a);
    return code == EXIT_DONE ? check_outputs(cmd, a) : code;
}

int args_parse(const command *cmd, int argc, char **argv, args *a)
{
    bool only_words = false;
    memset(a, 0, sizeof *a);
    a->words = calloc((size_t)argc + 1, sizeof *a->words);
    a->settings = calloc((size_t)argc + 1, sizeof *a->settings);
    if (!a->words || !a->settings) return complain(EXIT_INTERNAL, "out of memory");
    for (int i = 0; i < argc; i++) {
        char *word = argv[i], *sign;
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
        } else if (!only_words && word[0] == '-' && word[1]) {
            const int code = parse_option(cmd, argc, argv, &i, a);
            if (code != EXIT_DONE) return code;
        } else if (!only_words && (sign = setting_sign(word)) != NULL) {
            *sign = '\0';
            a->settings[a->n_settings++] = (setting) { word, sign + 1 };
        } else {
            a->words[a->n_words++] = word;
        }
    }
    return check_words(cmd, a);
}

void args_free(args *a)
{
    free(a->words);
    free(a->settings);
    memset(a, 0, sizeof *a);
}
