/* html.c - a model's guarantee and figures as one page: no script, nothing fetched, readable on a phone, on paper,
 * in a light or a dark room.
 *
 * Text from files (names of columns and classes) goes through html_put(), which escapes it; everything else is
 * written here.  Tables scroll inside their box when they are wider than the page, so the page itself never does. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--page:#ffffff;--ink:#1b2733;--soft:#4d5b69;--card:#f4f7fa;--edge:#d5dde5;"
    "--line:#0b62a8;--shade:#cfe3f5;--grid:#dfe4ea;--good:#0a6b45;--warn:#8a5300;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#11171d;--ink:#e6edf3;--soft:#a9b6c2;--card:#1a232c;"
    "--edge:#33414e;--line:#6cb2eb;--shade:#1e3a52;--grid:#2b3844;--good:#5fd3a2;--warn:#f0b440;--bad:#ff8a80}}\n"
    "*{box-sizing:border-box}body{margin:0 "
    "auto;padding:1.2rem;max-width:60rem;background:var(--page);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,Helvetica,Arial,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:.4rem 0}h2{font-size:1.2rem;margin:2rem 0 .6rem}\n"
    "p,li{max-width:44rem}.soft{color:var(--soft)}.verdict{--tone:var(--good);--fill:var(--tone);--on:var(--page);"
    "background:var(--card);border:1px solid var(--edge);border-left:.6rem solid var(--fill);"
    "border-radius:.5rem;padding:.3rem 1.1rem;margin:1rem 0}\n"
    ".verdict.amber{--tone:var(--warn);--fill:#f2a900;--on:#1b2733}.verdict.red,.none{--tone:var(--bad)}"
    ".verdict.none{border:.25rem solid var(--tone)}"
    ".verdict strong,strong.none{color:var(--tone)}.head{font-size:1.25rem}\n"
    ".badge{background:var(--fill);color:var(--on);border-radius:.3rem;padding:.1rem .6rem;font-weight:700;"
    "-webkit-print-color-adjust:exact;print-color-adjust:exact}\n"
    ".box{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;overflow-wrap:normal}\n"
    "td,th{padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--edge)}\n"
    "th{font-weight:600;color:var(--soft)}td.n,th.n{text-align:right}td.hit{font-weight:700}\n"
    ".pair{display:flex;flex-wrap:wrap;gap:1rem}.pair figure{flex:0 1 23rem;min-width:min(18rem,100%);margin:0}\n"
    "svg{width:100%;height:auto}svg .ink{fill:var(--ink)}svg .grid{stroke:var(--grid)}svg .frame{stroke:var(--ink)}\n"
    "svg .soft{stroke:var(--soft)}svg .whisker{stroke:var(--ink);stroke-width:1.5}svg .shade{fill:var(--shade)}svg "
    ".series0{stroke:var(--line)}"
    "svg .dot0{fill:var(--line)}\n"
    "figcaption{color:var(--soft);font-size:.9rem}code,pre{font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;"
    "white-space:pre-wrap;overflow-wrap:anywhere}pre{background:var(--card);border:1px solid var(--edge);"
    "border-radius:.4rem;padding:.7rem}\n"
    "details{margin:1rem 0}summary{cursor:pointer;font-weight:600}\n"
    "@media print{body{max-width:none;padding:0;font-size:10pt}h2{break-after:avoid}figure,tr,li,.verdict"
    "{break-inside:avoid}.pair figure{flex:1 1 45%;min-width:0}.box{overflow:visible}details>*{display:block}"
    "details::details-content{content-visibility:visible;display:block}}\n";

void html_put(FILE *f, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        case ' ': fputs(text[1] == '%' ? "&nbsp;" : " ", f); break; /* a percentage stays in one line */
        default: fputc((unsigned char)*text < 0x20 ? ' ' : *text, f);
        }
}

/* A string, number or word of JSON; its length is the file's, so it is not cut. */
void html_value(FILE *f, jv v)
{
    if (!v.p) return;
    const size_t cap = jv_size(v) + 1; /* no text is longer than it is in JSON */
    char *text = malloc(cap);
    if (!text) abort();
    html_put(f, jv_str(v, text, cap));
    free(text);
}

static void fact(FILE *f, const char *name, const char *fmt, double x)
{
    fprintf(f, "<tr><th>%s</th><td>", name);
    fprintf(f, fmt, x);
    fputs("</td></tr>\n", f);
}

static void fact_of(FILE *f, jv v, const char *name, const char *key)
{
    fprintf(f, "<tr><th>%s</th><td>", name);
    html_value(f, jv_get(v, key));
    fputs("</td></tr>\n", f);
}

static void count_of(FILE *f, jv v, const char *name, const char *key)
{
    char n[40];
    fprintf(f, "<tr><th>%s</th><td>%s</td></tr>\n", name, with_commas(jv_num(jv_get(v, key)), n));
}

static void list(FILE *f, jv v)
{
    fputs("<ul>\n", f);
    for (jv_iter it = jv_begin(v); jv_next(&it);) {
        fputs("<li>", f);
        html_value(f, it.value);
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
}

/* ---- the guarantee ------------------------------------------------------------------------------------- */

/* A run that failed to verify never gets here: cmd_report.c. */
static void verdict(FILE *f, const findings *r)
{
    const jv v = r->verification;
    char colour[16], eps[40], delta[40], people[320];
    if (!v.p) {
        fputs(
            "<div class=\"verdict none\"><p class=\"head\"><span class=\"badge\">NOT PRIVATE</span> no guarantee is "
            "given</p>\n<p>",
            f);
        html_value(f, jv_get(r->certificate, "statement"));
        fputs("</p></div>\n", f);
        return;
    }
    const char *unit = jv_get(v, "unit").p ? "person" : "row";
    fprintf(f, "<div class=\"verdict %s\"><p class=\"head\">Protection of each %s: <span class=\"badge\">",
            jv_str(jv_get(v, "colour"), colour, sizeof colour), unit);
    html_value(f, jv_get(v, "strength"));
    fprintf(f,
            "</span></p>\n<p><strong>epsilon %s per %s, delta %s</strong> &mdash; recomputed for this page from the "
            "recorded releases.</p>\n<p>",
            cost_text(jv_num(jv_get(v, "epsilon")), eps), unit, cost_text(jv_num(jv_get(v, "delta")), delta));
    html_value(f, jv_get(v, "guess"));
    fputs("</p>\n<p class=\"soft\">Why this word: ", f);
    html_value(f, jv_get(v, "strength_because"));
    if (strcmp(unit, "row") == 0)
        fprintf(f,
                ". Per row: a person with several rows is protected less: %s at this delta, draws taken as "
                "ideal.</p></div>\n",
                people_words(jv_get(v, "people"), people, sizeof people));
    else fputs(". Per person: with all of their rows.</p></div>\n", f);
}

static void put_answer(void *user, const char *label, const char *question, const char *text)
{
    FILE *f = user;
    (void)label;
    fprintf(f, "<tr><th>%s</th><td>", question);
    html_put(f, text);
    fputs("</td></tr>\n", f);
}

static void in_short(FILE *f, const findings *r)
{
    if (!r->verification.p) return;
    fputs("<h2>In short</h2>\n<div class=\"box\"><table>\n", f);
    answers(r->verification, put_answer, f);
    fputs("</table></div>\n", f);
}

static void counted(FILE *f, jv v)
{
    const jv rows = jv_get(v, "rows_counted");
    if (rows.p)
        fprintf(f, "<tr><th>rows that count, by a noisy count</th><td>about %.0f, standard error %.0f</td></tr>\n",
                jv_num(rows), jv_num(jv_get(v, "rows_counted_error")));
}

static void training(FILE *f, const findings *r)
{
    const jv c = r->certificate;
    fputs("<h2>What was trained</h2>\n<div class=\"box\"><table>\n", f);
    fact_of(f, c, "model", "model");
    if (jv_get(c, "persons").p) {
        count_of(f, c, "persons", "persons");
        count_of(f, c, "rows of a person that count, at most", "rows_per_person");
        counted(f, r->verification);
    } else {
        count_of(f, c, "rows", "rows");
    }
    count_of(f, c, "columns, constant included", "features");
    count_of(f, c, "weights", "weights");
    fact_of(f, c, "optimizer", "optimizer");
    fact_of(f, c, jv_get(c, "persons").p ? "persons each step looks at" : "rows each step looks at", "sampler");
    count_of(f, c, "noisy releases", "queries");
    fputs("</table></div>\n", f);
}

/* "100 times: Poisson sample of rate 0.01: Gaussian noise, multiplier 1.1" */
static void put_event(FILE *f, jv e)
{
    char kind[32];
    jv_str(jv_get(e, "kind"), kind, sizeof kind);
    if (strcmp(kind, "repeat") == 0) {
        html_value(f, jv_get(e, "times"));
        fputs(" times: ", f);
        put_event(f, jv_get(e, "event"));
    } else if (strcmp(kind, "sequence") == 0) {
        bool first = true;
        for (jv_iter it = jv_begin(jv_get(e, "events")); jv_next(&it); first = false) {
            if (!first) fputs("; then ", f);
            put_event(f, it.value);
        }
    } else if (jv_get(e, "event").p) {
        const jv parts = jv_get(e, "parts");
        html_put(f, kind);
        fputs(parts.p ? ", parts " : " sample, rate ", f);
        html_value(f, parts.p ? parts : jv_get(e, "rate"));
        fputs(": ", f);
        put_event(f, jv_get(e, "event"));
    } else {
        html_put(f, kind);
        for (jv_iter it = jv_begin(e); jv_next(&it);) {
            char key[32], value[40];
            jv_str(it.key, key, sizeof key);
            if (strcmp(key, "kind") == 0) continue;
            for (char *u = key; *u; u++) *u = *u == '_' ? ' ' : *u;
            fputs(", ", f);
            html_put(f, key);
            fputc(' ', f);
            html_put(f, jv_str(it.value, value, sizeof value));
        }
    }
}

/* The definition itself: true at every epsilon, which words about factors are not. */
static void definition(FILE *f, jv v)
{
    static const char *const change[2][2] = {
        { "if one row contributed nothing", "with any other row in the place of one row" },
        { "if one person contributed nothing", "with any other person's rows in the place of one person's" }
    };
    char relation[32], eps[40], delta[40];
    const bool replace = strcmp(jv_str(jv_get(v, "relation"), relation, sizeof relation), "replace") == 0;
    fprintf(f,
            "<p>For every set of results: its probability is at most e<sup>%s</sup> times what it would be %s, plus "
            "%s; and the other way round.</p>\n",
            cost_text(jv_num(jv_get(v, "epsilon")), eps), change[jv_get(v, "persons").p != NULL][replace],
            cost_text(jv_num(jv_get(v, "delta")), delta));
}

/* A certificate has one field for the noise of every mechanism. */
static void noise_fact(FILE *f, jv c)
{
    char mechanism[32];
    const double scale = jv_num(jv_get(c, "noise_stddev"));
    jv_str(jv_get(c, "mechanism"), mechanism, sizeof mechanism);
    if (strcmp(mechanism, "select") == 0)
        fact(f, "epsilon of each private choice", "%.6g", 1.0 / jv_num(jv_get(c, "noise_multiplier")));
    else if (strcmp(mechanism, "ball") == 0) fact(f, "noise, radius of the ball", "%.6g", scale);
    else fact(f, "noise, standard deviation", "%.6g", scale);
}

static void guarantee(FILE *f, const findings *r)
{
    const jv c = r->certificate;
    fputs("<h2>The guarantee in full</h2>\n", f);
    if (r->verification.p) definition(f, r->verification);
    fputs("<div class=\"box\"><table>\n", f);
    fact_of(f, c, "relation", "relation");
    fact(f, "epsilon", "%g", jv_num(jv_get(c, "epsilon")));
    fact(f, "delta", "%g", jv_num(jv_get(c, "delta")));
    fact_of(f, c, "accountant", "accountant");
    if (r->verification.p)
        fact(f, "epsilon, recomputed", "%.9g", jv_num(jv_get(r->verification, "epsilon_recomputed")));
    const double replace = jv_num(jv_get(c, "epsilon_replace"));
    const bool persons = jv_get(c, "persons").p != NULL;
    fact(f, persons ? "epsilon if one person is replaced" : "epsilon if one row is replaced",
         isfinite(replace) ? "%g" : "none is claimed", replace);
    if (r->curve.p) fact(f, "mu of the closest Gaussian curve", "%.4g", jv_num(jv_get(r->curve, "mu")));
    fputs("<tr><th>releases</th><td>", f);
    put_event(f, jv_get(c, "events"));
    fputs("</td></tr>\n", f);
    fact(f, persons ? "bound on what one person adds to a release" : "bound on what one row adds to a release", "%g",
         jv_num(jv_get(c, "clip_norm")));
    fact(f, "sensitivity, rounding included", "%.8g", jv_num(jv_get(c, "sensitivity")));
    noise_fact(f, c);
    fputs("</table></div>\n<h2>What it rests on</h2>\n", f);
    list(f, jv_get(c, "assumptions"));
    fputs("<h2>What it does not cover</h2>\n", f);
    list(f, jv_get(r->verification.p ? r->verification : c, "not_covered"));
}

/* Half of 1 + delta(0) bounds a guess: delta(0) is the distance in total variation.  In percent, rounded up, with the
 * share of delta for the accuracy of the draws. */
static double right_by_curve(const findings *r)
{
    jv_iter first = jv_begin(jv_get(r->curve, "delta"));
    if (!jv_next(&first)) return 100.0;
    const double distance = jv_num(first.value) + jv_num(jv_get(r->certificate, "delta_draws"));
    return fmin(100.0, ceil(500.0 * (1.0 + distance) * (1.0 + 1e-9)) / 10.0);
}

static void curves(FILE *f, const findings *r)
{
    static const char *const tested[2][2] = { { "whether one row was used", "which of two rows was used" },
                                              { "whether one person's rows were used",
                                                "which of two persons' rows were used" } };
    char relation[32];
    if (!r->curve.p) return;
    const bool replace = strcmp(jv_str(jv_get(r->curve, "relation"), relation, sizeof relation), "replace") == 0;
    fputs("<h2>How private</h2>\n<div class=\"pair\"><figure>\n", f);
    draw_delta(f, r->curve, 0, 0);
    fputs(
        "<figcaption>For every epsilon, the chance delta that the guarantee with it may fail.</figcaption></figure>\n"
        "<figure>\n",
        f);
    draw_tests(f, r->curve, 0, 0);
    fprintf(
        f,
        "<figcaption>Whoever tries to tell from the model %s errs at least this often: no "
        "test lies in the shaded region. By the whole curve, which says more than one epsilon with its delta, the "
        "guess above is right at most %.1f %% of the time.</figcaption></figure></div>\n",
        tested[jv_get(r->certificate, "persons").p != NULL][replace], right_by_curve(r));
}

static void along(FILE *f, const findings *r)
{
    if (!r->measures) return;
    fprintf(f,
            "<h2>Along the run</h2>\n<p><b>NOT PRIVATE</b>: measured on rows without noise, not covered by the "
            "certificate. Not for passing on.</p>\n<figure>\n%s</figure>\n",
            r->measures);
}

/* ---- settings, data, how to check ---------------------------------------------------------------------------- */

static void columns(FILE *f, jv schema)
{
    if (!schema.p) return;
    fputs("<h2>Data schema</h2>\n<p>Declared, never measured on the rows.</p>\n<div class=\"box\"><table>\n"
          "<tr><th>column</th><th>type</th><th>declared</th></tr>\n",
          f);
    for (jv_iter it = jv_begin(jv_get(schema, "columns")); jv_next(&it);) {
        const jv lo = jv_get(it.value, "min"), values = jv_get(it.value, "values");
        fputs("<tr><td>", f);
        html_value(f, jv_get(it.value, "name"));
        fputs("</td><td>", f);
        html_value(f, jv_get(it.value, "type"));
        fputs("</td><td>", f);
        if (lo.p) {
            html_value(f, lo);
            fputs(" to ", f);
            html_value(f, jv_get(it.value, "max"));
        }
        bool first = true;
        for (jv_iter k = jv_begin(values); values.p && jv_next(&k); first = false) {
            if (!first) fputs(", ", f);
            html_value(f, k.value);
        }
        fputs("</td></tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

/* Where the certificate says what `auto` (of the accountant: best) came to. */
static const struct {
    const char *key, *field, *how;
} recorded[] = {
    { "accountant", "accountant", "the smallest bound" },
    { "budget.delta", "delta", "chosen by privet" },
    { "budget.noise_multiplier", "noise_multiplier", "chosen by privet" },
    { "clip", "clip_norm", "chosen by privet" },
    { "sampler", "sampler", "chosen by privet" },
    { "sampler.batch", "batch", "chosen by privet" },
    { "data.rows", "rows", "counted" },
    { "data.persons", "persons", "counted" },
    { "data.person_rows", "rows_per_person", "by a noisy histogram" },
    { "data.features", "features", "of the schema or the data" },
};

/* Of a label that is a number, as the schema declares them. */
static const char *label_bound(FILE *f, const findings *r, const char *which)
{
    char type[16];
    for (jv_iter it = jv_begin(jv_get(r->schema, "columns")); r->schema.p && jv_next(&it);) {
        const jv bound = jv_get(it.value, which);
        if (strcmp(jv_str(jv_get(it.value, "type"), type, sizeof type), "label") != 0 || !bound.p) continue;
        html_value(f, bound);
        return "of the schema";
    }
    fputs("none", f);
    return "";
}

/* What was used where the setting says auto, and how it came about. */
static const char *chosen(FILE *f, const findings *r, const char *key)
{
    const jv c = r->certificate, s = jv_get(c, "settings");
    const bool joint = jv_get(s, "optimizer.weight").p != NULL; /* clip_norm is of gradient and Hessian together */
    char off[8];
    jv v = { NULL };
    size_t i = 0;
    if (strncmp(key, "data.y_", 7) == 0) return label_bound(f, r, key + 7);
    if (strncmp(key, "budget.", 7) == 0 && strcmp(jv_str(jv_get(s, "privacy"), off, sizeof off), "off") == 0)
        return fputs("not used", f), "";
    const bool persons = jv_get(c, "persons").p != NULL;
    if (strncmp(key, "data.person", 11) == 0 && !persons) return fputs("not used", f), "";
    if (strcmp(key, "data.rows") == 0 && persons)
        return fputs(jv_get(r->verification, "rows_counted").p ? "told with noise" : "told nowhere", f), "";
    while (i < sizeof recorded / sizeof *recorded && strcmp(key, recorded[i].key) != 0) i++;
    if (i < sizeof recorded / sizeof *recorded && !(joint && strcmp(key, "clip") == 0))
        v = jv_get(c, recorded[i].field);
    if (strcmp(key, "optimizer.start") == 0)
        return fputs("the model's own", f), "zeros; networks draw by a public seed";
    if (!v.p) return "chosen by privet; the certificate does not record it";
    if (strcmp(key, "data.features") == 0) /* the certificate counts the constant column */
        fprintf(f, "%.0f", jv_num(v) - (jv_num(jv_get(s, "data.bias")) != 0.0));
    else html_value(f, v);
    return recorded[i].how;
}

static void setting_row(FILE *f, const findings *r, jv key, jv value)
{
    char name[64], text[16];
    const char *how = "";
    jv_str(key, name, sizeof name);
    jv_str(value, text, sizeof text);
    const bool best = strcmp(name, "accountant") == 0 && strcmp(text, "best") == 0;
    fputs("<tr><th>", f);
    html_value(f, key);
    fputs("</th><td>", f);
    if (strcmp(text, "auto") == 0 || best) how = chosen(f, r, name);
    else if (strcmp(text, "null") == 0) fputs("not set", f);
    else html_value(f, value);
    fprintf(f, "</td><td class=\"soft\">%s</td></tr>\n", how);
}

static void settings(FILE *f, const findings *r)
{
    fputs("<details><summary>Every setting</summary>\n<div class=\"box\"><table>\n", f);
    for (jv_iter it = jv_begin(jv_get(r->certificate, "settings")); jv_next(&it);)
        setting_row(f, r, it.key, it.value);
    fputs("</table></div></details>\n", f);
}

static void checking(FILE *f, const findings *r)
{
    fputs("<h2>How to check</h2>\n<p>The certificate is inside the model file. This command recomputes epsilon from "
          "the "
          "recorded releases, without any data:</p>\n<pre>privet verify ",
          f);
    html_put(f, r->model_file);
    fputs("</pre>\n<div class=\"box\"><table>\n", f);
    fact_of(f, r->certificate, "made by", "made_by");
    fprintf(f, "<tr><th>page made by</th><td>privet %s</td></tr>\n", pv_version());
    fact_of(f, r->certificate, "salted digest of the data", "data_digest");
    fact_of(f, r->certificate, "checksum of the certificate", "checksum");
    fputs("</table></div>\n", f);
}

void html_begin(FILE *f, const char *kind, const char *what)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
          f);
    fprintf(f, "%s: ", kind);
    html_put(f, what);
    fprintf(f, "</title>\n<style>\n%s</style></head><body>\n<h1>%s</h1>\n<p class=\"soft\">", style, kind);
    html_put(f, what);
    fputs("</p>\n", f);
}

char *report_html(const findings *r)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    html_begin(f, "Privacy report", r->model_file);
    verdict(f, r);
    in_short(f, r);
    training(f, r);
    curves(f, r);
    effects_page(f, r->effects);
    released_figures(f, r);
    figures(f, r);
    along(f, r);
    guarantee(f, r);
    columns(f, r->schema);
    settings(f, r);
    checking(f, r);
    fputs("</body></html>\n", f);
    if (fclose(f) != 0) abort(); /* memory */
    return text;
}
