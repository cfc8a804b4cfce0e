/* account_files.c - privet account FILE ...: what the runs behind several models or certificates cost together.
 *
 * Each is verified first.  Whether two of them are about the same rows no file tells: digests carry a salt of their
 * own.  The sum holds for whoever is in the data of all of them, so it holds either way.  A certificate with a salt
 * that is given twice is one run; of version 2, without one, two runs may have the same text.  By default the
 * relation is zero-out, or replace where a certificate is for that one, and delta the largest that is claimed; the
 * answer is never below what one file claims by itself at that delta or more. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_file {
    const char *path;
    char *text;     /* owned: its certificate */
    const char *of; /* the file with the same one before it; NULL: the first */
    double epsilon; /* claimed under the relation of the sum; NAN: nothing is */
    double delta;
    bool ideal; /* no share of delta for the accuracy of its draws */
} run_file;

static int read_certificate(cli *c, const char *path, char **out)
{
    char *answer, kind[16];
    const char *json;
    size_t len;
    pv_model *m = NULL;
    pv_status s = pv_verify(c->ctx, path, &answer);
    if (s != PV_OK) return fail(c, s);
    jv_str(jv_get((jv) { answer }, "file"), kind, sizeof kind);
    pv_string_free(c->ctx, answer);
    if (strcmp(kind, "model") != 0) return read_text(path, out, &len);
    if ((s = pv_model_load(c->ctx, path, &m)) == PV_OK) s = pv_model_certificate(m, &json);
    if (s == PV_OK && !(*out = strdup(json))) abort();
    pv_model_free(m);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

static bool for_replace(jv certificate)
{
    char relation[16];
    return strcmp(jv_str(jv_get(certificate, "relation"), relation, sizeof relation), "replace") == 0;
}

/* Adds one run under the relation of the sum.  A certificate for replace has no events under zero-out. */
static int add(ledger *l, run_file *f, bool replace)
{
    const jv v = { f->text };
    char unit[16];
    const bool own = for_replace(v) == replace;
    const double other = jv_num(jv_get(v, "epsilon_replace")), claim = jv_num(jv_get(v, "epsilon"));
    f->epsilon = own ? claim : replace ? other : NAN;
    f->delta = jv_num(jv_get(v, "delta"));
    if (!(f->epsilon < INFINITY))
        return complain(EXIT_INPUT, "%s: its releases are not accounted for under %s; --relation %s may do", f->path,
                        replace ? "replace" : "zero-out", replace ? "zero-out" : "replace");
    /* A share is enough up to what the run costs, of which the claim is a rounding upwards by less than 2e-5: one
     * that is larger by e^(1.2e-4 claim) is enough up to 1 + 1e-4 of the claim (src/acct/draws.c (1)). */
    const double share = jv_num(jv_get(v, "delta_draws"));
    f->ideal = !(share > 0.0);
    const ledger_run one = { .times = 1,
                             .delta = f->delta,
                             .draws = f->ideal ? 0.0 : share * exp(1.2e-4 * f->epsilon) * (1.0 + 1e-9),
                             .covered = (1.0 + 1e-4) * f->epsilon,
                             .person = strcmp(jv_str(jv_get(v, "unit"), unit, sizeof unit), "person") == 0 };
    if (!f->of) ledger_add(l, v, own ? "events" : "events_replace", &one);
    return EXIT_DONE;
}

static int read_all(cli *c, run_file *files, int n)
{
    int code = EXIT_DONE;
    for (int i = 0; i < n && code == EXIT_DONE; i++) {
        files[i].path = c->args.words[i];
        code = read_certificate(c, files[i].path, &files[i].text);
        for (int k = 0; k < i && code == EXIT_DONE && !files[i].of; k++)
            if (jv_get((jv) { files[i].text }, "data_salt").p && strcmp(files[k].text, files[i].text) == 0)
                files[i].of = files[k].path;
    }
    return code;
}

static double delta_asked(const cli *c, const ledger *l)
{
    const char *delta = setting_value(c, "delta");
    return delta ? strtod(delta, NULL) : l->delta;
}

/* Settings of the question that are not the sum's: accountant, rows. */
static char *request(const cli *c, const ledger *l, bool replace)
{
    static const char *const passed[] = { "accountant", "rows" };
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fputc('{', f);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (setting_value(c, passed[i])) fprintf(f, "\"%s\": \"%s\", ", passed[i], setting_value(c, passed[i]));
    fprintf(f, "\"unit\": \"%s\", ", l->persons ? "person" : "row");
    ledger_ask(l, f, replace ? "replace" : "zero-out", delta_asked(c, l));
    fputc('}', f);
    if (fclose(f) != 0) abort();
    return text;
}

static void show_files(const run_file *files, int n)
{
    char eps[40], delta[40];
    for (int i = 0; i < n; i++)
        if (files[i].of) row(i ? "" : "of", "%s: the run of %s, counted once", files[i].path, files[i].of);
        else
            row(i ? "" : "of", "%s: epsilon %s at delta %s by itself", files[i].path,
                cost_text(files[i].epsilon, eps), cost_text(files[i].delta, delta));
}

/* A file whose draws have no share of delta, as above epsilon 30; NULL: none. */
static const char *taken_as_ideal(const run_file *files, int n)
{
    for (int i = 0; i < n; i++)
        if (files[i].ideal) return files[i].path;
    return NULL;
}

static void json_files(const run_file *files, int n, double epsilon, double delta)
{
    fputs("{\n  \"files\": [", stdout);
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "", stdout);
        putchar('{'), json_text("file", files[i].path), fputs(", ", stdout);
        json_number("epsilon", files[i].epsilon), fputs(", ", stdout);
        json_number("delta", files[i].delta), fputs(", ", stdout);
        json_text("same_as", files[i].of), putchar('}');
    }
    fputs("],\n  ", stdout);
    printf("\"epsilon_together\": %.17g, \"delta_together\": %.17g, \"ideal_draws_in\": ", epsilon, delta);
    const char *ideal = taken_as_ideal(files, n);
    json_text(NULL, ideal), fputs(",\n  \"account\": ", stdout);
}

static void show(jv v, const run_file *files, int n, double epsilon, double asked, const ledger *l)
{
    char eps[40], delta[40], name[32], relation[16];
    const double group = jv_num(jv_get(v, "rows")), added = jv_num(jv_get(v, "delta"));
    row("together", "epsilon %s at delta %s%s", cost_text(epsilon, eps), cost_text(added, delta),
        added > asked ? ", not less: the accuracy of draws takes more than half of the delta asked for" : "");
    show_strength(v);
    row("by", "events composed, accountant %s, relation %s, unit %s",
        jv_str(jv_get(v, "accountant"), name, sizeof name), jv_str(jv_get(v, "relation"), relation, sizeof relation),
        l->persons ? "person" : "row");
    if (group > 1) row("group", "any %.0f %s at once", group, l->persons ? "persons" : "rows");
    show_files(files, n);
    if (taken_as_ideal(files, n))
        row("if", "draws are ideal: %s has no share of delta for their accuracy", taken_as_ideal(files, n));
    paragraph("holds for",
              "whoever is in the data of all these files; runs that are not among them are not counted.");
}

static int answer(cli *c, const ledger *l, const run_file *files, int n, bool replace)
{
    char *json, *ask = request(c, l, replace);
    const pv_status s = pv_account(c->ctx, ask, &json);
    free(ask);
    if (s != PV_OK) return fail(c, s);
    const jv v = { json };
    const double delta = jv_num(jv_get(v, "delta"));
    double epsilon = jv_num(jv_get(v, "epsilon"));
    for (int i = 0; i < n; i++)
        if (files[i].delta >= delta) epsilon = fmax(epsilon, files[i].epsilon);
    if (c->args.json) json_files(files, n, epsilon, delta), fputs(json, stdout), puts("\n}");
    else show(v, files, n, epsilon, delta_asked(c, l), l);
    pv_string_free(c->ctx, json);
    return EXIT_DONE;
}

static int mixed(const run_file *files, int n)
{
    const char *of[2] = { NULL, NULL };
    char unit[16];
    for (int i = 0; i < n; i++)
        of[strcmp(jv_str(jv_get((jv) { files[i].text }, "unit"), unit, sizeof unit), "person") == 0] = files[i].path;
    return complain(EXIT_INPUT, "%s protects persons and %s rows: there is no sum for both; ask for each kind apart",
                    of[1], of[0]);
}

static int sum(cli *c, run_file *files, int n)
{
    const char *relation = setting_value(c, "relation"), *delta = setting_value(c, "delta");
    char *end = NULL;
    if (delta && (!(strtod(delta, &end) >= 1e-100) || *end || strtod(delta, NULL) >= 1.0))
        return usage("--delta %s: a number from 1e-100 to below 1 is needed", delta);
    if (relation && strcmp(relation, "zero-out") != 0 && strcmp(relation, "replace") != 0)
        return usage("--relation %s: zero-out or replace is needed", relation);
    int code = read_all(c, files, n);
    bool replace = relation && strcmp(relation, "replace") == 0;
    for (int i = 0; i < n && code == EXIT_DONE && !relation; i++) replace |= for_replace((jv) { files[i].text });
    ledger l = { .covered = INFINITY };
    for (int i = 0; i < n && code == EXIT_DONE; i++) code = add(&l, &files[i], replace);
    if (code == EXIT_DONE && l.persons && l.rows) code = mixed(files, n);
    if (code == EXIT_DONE) code = answer(c, &l, files, n, replace);
    ledger_free(&l);
    return code;
}

int account_files(cli *c)
{
    static const char *const not_here[] = { "epsilon", "sampler", "file", "all", "z", "q", "steps" };
    const int n = c->args.n_words;
    for (size_t i = 0; i < sizeof not_here / sizeof *not_here; i++)
        if (setting_value(c, not_here[i]))
            return usage("%s: not for files; --delta, --relation, --accountant and --group are", not_here[i]);
    for (int i = 0; i < c->args.n_settings; i++)
        if (strpbrk(c->args.settings[i].value, "\"\\")) return usage("%s: a quotation mark", c->args.settings[i].key);
    run_file *files = calloc((size_t)n, sizeof *files);
    if (!files) abort();
    const int code = sum(c, files, n);
    for (int i = 0; i < n; i++) free(files[i].text);
    free(files);
    return code;
}
