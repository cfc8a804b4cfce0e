/* compare_grid.c - the settings of a comparison: lists on the command line and in --config, and the cells they make.
 *
 * A comma separates values, but for settings whose single value may have one; lists of those are arrays of a settings
 * file.  The file comes first, and the command line replaces what it says. */
#include "compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- factors ------------------------------------------------------------------------------------------------ */

static char *copy(const char *s, size_t n)
{
    char *t = strndup(s, n);
    if (!t) abort();
    return t;
}

static void clear_factor(factor *f)
{
    for (int i = 0; i < f->n; i++) free(f->values[i]);
    free(f->values);
    f->values = NULL;
    f->n = 0;
}

static factor *factor_of(grid *g, const char *key)
{
    for (int i = 0; i < g->n; i++)
        if (strcmp(g->at[i].key, key) == 0) return &g->at[i];
    g->at = realloc(g->at, sizeof *g->at * (size_t)(g->n + 1));
    if (!g->at) abort();
    g->at[g->n] = (factor) { .key = copy(key, strlen(key)) };
    return &g->at[g->n++];
}

static int add_value(factor *f, const char *text, size_t n)
{
    char *value = copy(text, n);
    f->values = realloc(f->values, sizeof *f->values * (size_t)(f->n + 1));
    if (!f->values) abort();
    f->values[f->n++] = value;
    return EXIT_DONE;
}

/* A value of these may have commas. */
static bool takes_commas(const char *key, const char *value)
{
    static const char *const keys[] = {
        "data.path",    "data.schema",     "data.key_path",          "data.labels", "set.vertices",
        "model.layers", "optimizer.noise", "optimizer.noise_within", "run.measure", "holdout",
        "out"
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    /* a model with its layers, a schedule with its steps */
    return (strcmp(key, "model") == 0 || strcmp(key, "optimizer.schedule") == 0) && strchr(value, ':');
}

static int take_list(grid *g, const char *key, const char *text)
{
    factor *f = factor_of(g, key);
    int code = EXIT_DONE;
    clear_factor(f);
    if (takes_commas(key, text)) return add_value(f, text, strlen(text));
    for (const char *s = text; code == EXIT_DONE; s++) {
        const size_t n = strcspn(s, ",");
        if (n == 0) {
            return *text ? usage("%s=%s: a value is missing beside a comma", key, text)
                         : usage("%s has no value; one, or several with commas between them, are needed", key);
        }
        code = add_value(f, s, n);
        s += n;
        if (!*s) break;
    }
    return code;
}

/* ---- the settings file -------------------------------------------------------------------------------------- */

static int take_scalar(grid *g, const char *key, jv v, const char *name)
{
    char text[4096];
    jv_str(v, text, sizeof text);
    if (*v.p == '{' || *v.p == '[') return usage("%s: %s: a list holds texts and numbers only", name, key);
    if (*v.p == '"') {
        const char *end = v.p + 1;
        while (*end != '"' && *end != '\\') end++;
        if (*end == '\\') return usage("%s: %s: write the character itself, without a backslash", name, key);
        if (end - v.p > 4000) return usage("%s: %s: the text is too long", name, key);
    } else if (*v.p == 't' || *v.p == 'f') {
        snprintf(text, sizeof text, "%s", *v.p == 't' ? "yes" : "no");
    }
    return add_value(factor_of(g, key), text, strlen(text));
}

static int take_object(grid *g, const char *prefix, jv v, const char *name)
{
    int code = EXIT_DONE;
    for (jv_iter it = jv_begin(v); code == EXIT_DONE && jv_next(&it);) {
        char word[128], key[264];
        jv_str(it.key, word, sizeof word);
        snprintf(key, sizeof key, "%s%s%s", prefix, *prefix ? "." : "", word);
        if (strlen(key) > 120) return usage("%s: the key %s is too long", name, key);
        if (*it.value.p == '{') {
            code = take_object(g, key, it.value, name);
        } else if (*it.value.p == '[') {
            clear_factor(factor_of(g, key));
            for (jv_iter k = jv_begin(it.value); code == EXIT_DONE && jv_next(&k);)
                code = take_scalar(g, key, k.value, name);
            if (code == EXIT_DONE && factor_of(g, key)->n == 0)
                code = usage("%s: %s is an empty list; one value or more are needed", name, key);
        } else if (*it.value.p != 'n') {
            clear_factor(factor_of(g, key));
            code = take_scalar(g, key, it.value, name);
        }
    }
    return code;
}

static int take_config(cli *c, grid *g)
{
    char *text;
    size_t len;
    int code = read_text(c->args.config, &text, &len);
    if (code != EXIT_DONE) return code;
    char *whole = realloc(text, len + 1);
    if (!whole) abort();
    whole[len] = '\0';
    if (json_valid(c, whole, len, c->args.config)) {
        const char *begin = whole + strspn(whole, " \t\r\n");
        code = take_object(g, "", (jv) { begin }, c->args.config);
    } else {
        code = complain(EXIT_INPUT, "%s", pv_ctx_errmsg(c->ctx));
    }
    free(whole);
    return code;
}

/* ---- settings of the comparison itself ---------------------------------------------------------------------- */

/* Takes a factor out of the list; NULL: it is not there.  free() it. */
static int take_out(grid *g, const char *key, char **out)
{
    *out = NULL;
    for (int i = 0; i < g->n; i++) {
        factor *f = &g->at[i];
        if (strcmp(f->key, key) != 0) continue;
        if (f->n != 1) return usage("%s takes one value, not a list", key);
        *out = copy(f->values[0], strlen(f->values[0]));
        clear_factor(f);
        free(f->key);
        memmove(f, f + 1, sizeof *f * (size_t)(g->n - i - 1));
        g->n--;
        return EXIT_DONE;
    }
    return EXIT_DONE;
}

static int take_whole(grid *g, const char *key, const char *name, long absent, long most, long *out, bool *given)
{
    char *text, *end;
    const int code = take_out(g, key, &text);
    if (code != EXIT_DONE) return code;
    if (given) *given = text != NULL;
    *out = text ? strtol(text, &end, 10) : absent;
    const bool good = !text || (end != text && !*end && *out >= 1 && *out <= most);
    if (!good) usage("--%s %s: a whole number from 1 to %ld is needed", name, text, most);
    free(text);
    return good ? EXIT_DONE : EXIT_USAGE;
}

static int take_flag(grid *g, const char *key, bool *out)
{
    char *text;
    const int code = take_out(g, key, &text);
    *out = text && strcmp(text, "no") != 0;
    free(text);
    return code;
}

static int take_own(cli *c, grid *g)
{
    long repeats = 0, jobs = 0;
    int code = take_whole(g, "repeats", "repeats", 5, 1000000, &repeats, NULL);
    if (code == EXIT_DONE) code = take_whole(g, "jobs", "jobs", 0, 1024, &jobs, NULL);
    if (code == EXIT_DONE) code = take_whole(g, "run.seed", "seed", 0, 1000000000, &g->seed, &g->seeded);
    if (code == EXIT_DONE) code = take_flag(g, "pairs", &g->pairs);
    if (code == EXIT_DONE) code = take_flag(g, "fresh", &g->fresh);
    if (code == EXIT_DONE) code = take_flag(g, "many", &g->many);
    if (code == EXIT_DONE) code = take_out(g, "holdout", &g->holdout);
    if (code == EXIT_DONE) code = take_out(g, "out", &g->out);
    if (code != EXIT_DONE) return code;
    g->repeats = (int)repeats;
    g->jobs = (int)jobs;
    if (!g->holdout)
        return usage("compare needs rows to measure on: --holdout FILE; figures on the training rows would not be "
                     "private (--holdout none takes those)");
    if (strcmp(g->holdout, "none") == 0) {
        free(g->holdout);
        g->holdout = NULL;
    }
    if (g->holdout && access(g->holdout, R_OK) != 0) /* before anything is spent */
        return complain(EXIT_INPUT, "%s: %s", g->holdout, strerror(errno));
    if (c->args.out) {
        free(g->out);
        g->out = copy(c->args.out, strlen(c->args.out));
    }
    if (!g->out) g->out = copy("compare", 7);
    for (size_t n = strlen(g->out); n > 1 && g->out[n - 1] == '/'; n--) g->out[n - 1] = '\0';
    if (strlen(g->out) > 3000) return usage("the path of --out is too long");
    return EXIT_DONE;
}

/* ---- cells -------------------------------------------------------------------------------------------------- */

/* A setting nobody knows ends everything; a value that is refused is a matter of its cell. */
static int check_keys(cli *c, const grid *g)
{
    pv_plan *plan = NULL;
    if (grid_setting(g, 0, "run.log"))
        return usage("run.log: the runs of a comparison would all write to one file; what they measure along the way "
                     "is in the records, %s/runs",
                     g->out);
    int code = pv_plan_create(c->ctx, &plan) == PV_OK ? EXIT_DONE : complain(EXIT_INTERNAL, "out of memory");
    for (int i = 0; code == EXIT_DONE && i < g->n; i++) {
        const pv_status s = pv_plan_set(plan, g->at[i].key, g->at[i].values[0]);
        if (s != PV_OK && strncmp(pv_ctx_errmsg(c->ctx), "unknown setting", 15) == 0) code = fail(c, s);
    }
    pv_plan_free(plan);
    return code;
}

/* Every combination of equal values would be made twice; of pairs one is equal if all its values are. */
static int check_twice(const grid *g)
{
    for (int v = 0; !g->pairs && v < g->n_varying; v++) {
        const factor *f = &g->at[g->varying[v]];
        for (int i = 1; i < f->n; i++)
            for (int k = 0; k < i; k++)
                if (strcmp(f->values[i], f->values[k]) == 0)
                    return usage("%s has the value %s twice; once is enough, and --pairs takes lists value by value",
                                 f->key, f->values[i]);
    }
    for (int i = 1; g->pairs && i < g->width; i++)
        for (int k = 0; k < i; k++) {
            bool same = true;
            for (int v = 0; v < g->n_varying; v++) {
                char *const *values = g->at[g->varying[v]].values;
                same = same && strcmp(values[i], values[k]) == 0;
            }
            if (same)
                return usage("--pairs: values number %d of all lists are those of number %d; once is enough", i + 1,
                             k + 1);
        }
    return EXIT_DONE;
}

static int count_cells(grid *g)
{
    double cells = 1.0;
    g->varying = calloc((size_t)g->n + 1, sizeof *g->varying);
    if (!g->varying) abort();
    for (int i = 0; i < g->n; i++)
        if (g->at[i].n > 1) g->varying[g->n_varying++] = i;
    const factor *first = g->n_varying ? &g->at[g->varying[0]] : NULL;
    for (int i = 0; i < g->n_varying; i++) {
        const factor *f = &g->at[g->varying[i]];
        if (g->pairs && f->n != first->n)
            return usage("--pairs needs lists of one length: %s has %d values, %s has %d", first->key, first->n,
                         f->key, f->n);
        cells = g->pairs ? f->n : cells * f->n;
    }
    const double all = cells * g->repeats;
    if (all > RUNS_MAX && !g->many)
        return usage("%.0f runs are asked for (combinations: %.0f, repeats: %d); above %d say --many as well", all,
                     cells, g->repeats, RUNS_MAX);
    if (all > 1e7) return usage("%.0f runs are asked for; 10,000,000 is the most", all);
    g->cells = (int)cells;
    g->width = !first ? 1 : g->pairs ? g->cells : first->n;
    return check_twice(g);
}

int grid_make(cli *c, grid *g)
{
    int code = EXIT_DONE;
    *g = (grid) { 0 };
    if (c->args.dump_config)
        return usage("compare has no --dump-config: it writes its settings to compare.json in the folder of --out");
    if (c->args.config) code = take_config(c, g);
    for (int i = 0; code == EXIT_DONE && i < c->args.n_settings; i++)
        code = take_list(g, c->args.settings[i].key, c->args.settings[i].value);
    if (code == EXIT_DONE && c->args.n_words) code = take_list(g, "data.path", c->args.words[0]);
    if (code == EXIT_DONE && !grid_setting(g, 0, "data.path"))
        code = usage("compare needs rows to train on: privet compare DATA --holdout FILE ...");
    if (code == EXIT_DONE) code = take_own(c, g);
    if (code == EXIT_DONE) code = check_keys(c, g);
    if (code == EXIT_DONE) code = count_cells(g);
    return code;
}

void grid_free(grid *g)
{
    for (int i = 0; i < g->n; i++) {
        clear_factor(&g->at[i]);
        free(g->at[i].key);
    }
    free(g->at);
    free(g->varying);
    free(g->holdout);
    free(g->out);
    *g = (grid) { 0 };
}

/* Which value of varying setting v: the first one changes from cell to cell, of the others the last one fastest. */
static int index_of(const grid *g, int cell, int v)
{
    if (g->pairs) return cell;
    if (v == 0) return cell % g->width;
    int rest = cell / g->width;
    for (int i = g->n_varying - 1; i > v; i--) rest /= g->at[g->varying[i]].n;
    return rest % g->at[g->varying[v]].n;
}

const char *grid_value(const grid *g, int cell, int f)
{
    for (int v = 0; v < g->n_varying; v++)
        if (g->varying[v] == f) return g->at[f].values[index_of(g, cell, v)];
    return g->at[f].values[0];
}

const char *grid_setting(const grid *g, int cell, const char *key)
{
    for (int i = 0; i < g->n; i++)
        if (strcmp(g->at[i].key, key) == 0) return grid_value(g, cell, i);
    return NULL;
}

const char *grid_word(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot ? dot + 1 : key;
}

bool grid_numeric(const factor *f)
{
    for (int i = 0; i < f->n; i++) {
        char *end;
        const double x = strtod(f->values[i], &end);
        if (end == f->values[i] || *end || !isfinite(x)) return false;
    }
    return true;
}

void grid_label(const grid *g, int cell, int without, char *out, size_t cap)
{
    size_t n = 0;
    out[0] = '\0';
    for (int v = 0; v < g->n_varying && n < cap; v++) {
        const factor *f = &g->at[g->varying[v]];
        if (v == without) continue;
        n += (size_t)snprintf(out + n, cap - n, "%s", n ? ", " : "");
        if (n < cap && grid_numeric(f)) n += (size_t)snprintf(out + n, cap - n, "%s ", grid_word(f->key));
        if (n < cap) n += (size_t)snprintf(out + n, cap - n, "%s", grid_value(g, cell, g->varying[v]));
    }
    if (!out[0]) snprintf(out, cap, "all runs");
}

/* ---- the same question again -------------------------------------------------------------------------------- */

static void put_text(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') fputc('\\', f);
        fputc((unsigned char)*s < 0x20 ? ' ' : *s, f);
    }
    fputc('"', f);
}

int grid_file(cli *c, const grid *g)
{
    char *text, *path;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f || asprintf(&path, "%s/compare.json", g->out) < 0) abort();
    fputs("{\n", f);
    for (int i = 0; i < g->n; i++) {
        const factor *x = &g->at[i];
        fputs("  ", f), put_text(f, x->key), fputs(x->n > 1 ? ": [" : ": ", f);
        for (int k = 0; k < x->n; k++) fputs(k ? ", " : "", f), put_text(f, x->values[k]);
        fputs(x->n > 1 ? "],\n" : ",\n", f);
    }
    fputs("  \"holdout\": ", f), put_text(f, g->holdout ? g->holdout : "none");
    if (g->seeded) fprintf(f, ",\n  \"run.seed\": %ld", g->seed);
    if (g->pairs) fputs(",\n  \"pairs\": true", f);
    fprintf(f, ",\n  \"repeats\": %d\n}\n", g->repeats);
    if (fclose(f) != 0) abort();
    const pv_status s = pv_file_write(c->ctx, path, text, len);
    free(text);
    free(path);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}
