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
    "--line:#0b62a8;--shade:#cfe3f5;--grid:#dfe4ea;--good:#0a6b45;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#11171d;--ink:#e6edf3;--soft:#a9b6c2;--card:#1a232c;"
    "--edge:#33414e;--line:#6cb2eb;--shade:#1e3a52;--grid:#2b3844;--good:#5fd3a2;--bad:#ff8a80}}\n"
    "*{box-sizing:border-box}body{margin:0 "
    "auto;padding:1.2rem;max-width:60rem;background:var(--page);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,\"Segoe UI\",Roboto,Helvetica,Arial,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.6rem;line-height:1.25;margin:.4rem 0}h2{font-size:1.2rem;margin:2rem 0 .6rem}\n"
    "p,li{max-width:44rem}.soft{color:var(--soft)}.verdict{background:var(--card);border:1px solid var(--edge);"
    "border-left:.4rem solid var(--good);border-radius:.5rem;padding:.8rem 1.1rem;margin:1rem 0}\n"
    ".verdict.bad{border-left-color:var(--bad)}.verdict strong{color:var(--good)}.verdict.bad "
    "strong{color:var(--bad)}\n"
    ".box{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;overflow-wrap:normal}\n"
    "td,th{padding:.3rem .8rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--edge)}\n"
    "th{font-weight:600;color:var(--soft)}td.n,th.n{text-align:right}td.hit{font-weight:700}\n"
    ".pair{display:flex;flex-wrap:wrap;gap:1rem}.pair figure{flex:0 1 23rem;min-width:min(18rem,100%);margin:0}\n"
    "svg{width:100%;height:auto}svg .ink{fill:var(--ink)}svg .grid{stroke:var(--grid)}svg .frame{stroke:var(--ink)}\n"
    "svg .soft{stroke:var(--soft)}svg .shade{fill:var(--shade)}svg .series0{stroke:var(--line)}"
    "svg .dot0{fill:var(--line)}\n"
    "figcaption{color:var(--soft);font-size:.9rem}code,pre{font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;"
    "white-space:pre-wrap;overflow-wrap:anywhere}pre{background:var(--card);border:1px solid var(--edge);"
    "border-radius:.4rem;padding:.7rem}\n"
    "details{margin:1rem 0}summary{cursor:pointer;font-weight:600}\n"
    "@media print{body{max-width:none;padding:0;font-size:11pt}h2{break-after:avoid}figure,table,.verdict"
    "{break-inside:avoid}details>*{display:block}}\n";

void html_put(FILE *f, const char *text)
{
    for (; *text; text++) switch (*text) {
        case '&': fputs("&amp;", f); break;
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '"': fputs("&quot;", f); break;
        default: fputc((unsigned char)*text < 0x20 ? ' ' : *text, f);
        }
}

/* A string, number or word of JSON; its length is the file's, so it is not cut. */
static void put_value(FILE *f, jv v)
{
    if (!v.p) return;
    const size_t cap = strlen(v.p) + 1; /* no value is longer than the text it is in */
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
    put_value(f, jv_get(v, key));
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
        put_value(f, it.value);
        fputs("</li>\n", f);
    }
    fputs("</ul>\n", f);
}

/* ---- the guarantee ------------------------------------------------------------------------------------- */

static void verdict(FILE *f, const findings *r)
{
    const bool good = jv_true(jv_get(r->certificate, "private")) && r->verification.p;
    fprintf(f, "<div class=\"verdict%s\"><p><strong>", good ? "" : " bad");
    if (good)
        fprintf(f,
                "Private: epsilon %g, delta %g</strong> &mdash; recomputed for this page from the recorded releases.",
                jv_num(jv_get(r->certificate, "epsilon")), jv_num(jv_get(r->certificate, "delta")));
    else fputs("NOT PRIVATE</strong>", f);
    fputs("</p>\n<p>", f);
    put_value(f, jv_get(r->certificate, "statement"));
    fputs("</p></div>\n", f);
}

static void training(FILE *f, const findings *r)
{
    const jv c = r->certificate;
    fputs("<h2>What was trained</h2>\n<div class=\"box\"><table>\n", f);
    fact_of(f, c, "model", "model");
    count_of(f, c, "rows", "rows");
    count_of(f, c, "columns, constant included", "features");
    count_of(f, c, "weights", "weights");
    fact_of(f, c, "optimizer", "optimizer");
    fact_of(f, c, "rows each step looks at", "sampler");
    count_of(f, c, "noisy releases", "queries");
    fputs("</table></div>\n", f);
}

/* "100 times: Poisson sample of rate 0.01: Gaussian noise, multiplier 1.1" */
static void put_event(FILE *f, jv e)
{
    char kind[32];
    jv_str(jv_get(e, "kind"), kind, sizeof kind);
    if (strcmp(kind, "repeat") == 0) {
        put_value(f, jv_get(e, "times"));
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
        put_value(f, parts.p ? parts : jv_get(e, "rate"));
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

static void guarantee(FILE *f, const findings *r)
{
    const jv c = r->certificate;
    fputs("<h2>The guarantee in full</h2>\n<div class=\"box\"><table>\n", f);
    fact_of(f, c, "relation", "relation");
    fact(f, "epsilon", "%g", jv_num(jv_get(c, "epsilon")));
    fact(f, "delta", "%g", jv_num(jv_get(c, "delta")));
    fact_of(f, c, "accountant", "accountant");
    if (r->verification.p)
        fact(f, "epsilon, recomputed", "%.9g", jv_num(jv_get(r->verification, "epsilon_recomputed")));
    fact(f, "epsilon if one row is replaced", "%g", jv_num(jv_get(c, "epsilon_replace")));
    if (r->curve.p) fact(f, "mu of the closest Gaussian curve", "%.4g", jv_num(jv_get(r->curve, "mu")));
    fputs("<tr><th>releases</th><td>", f);
    put_event(f, jv_get(c, "events"));
    fputs("</td></tr>\n", f);
    fact(f, "bound on what one row adds to a release", "%g", jv_num(jv_get(c, "clip_norm")));
    fact(f, "sensitivity, rounding included", "%.8g", jv_num(jv_get(c, "sensitivity")));
    fact(f, "noise, standard deviation", "%.6g", jv_num(jv_get(c, "noise_stddev")));
    fputs("</table></div>\n<h2>What it rests on</h2>\n", f);
    list(f, jv_get(c, "assumptions"));
    fputs("<h2>What it does not cover</h2>\n", f);
    list(f, jv_get(c, "not_covered"));
}

static void curves(FILE *f, const findings *r)
{
    if (!r->curve.p) return;
    fputs("<h2>How private</h2>\n<div class=\"pair\"><figure>\n", f);
    draw_delta(f, r->curve, 0, 0);
    fputs(
        "<figcaption>For every epsilon, the chance delta that the guarantee with it may fail.</figcaption></figure>\n"
        "<figure>\n",
        f);
    draw_tests(f, r->curve, 0, 0);
    fputs("<figcaption>Whoever tries to tell from the model whether one row was used errs at least this often: no "
          "test lies in the shaded region.</figcaption></figure></div>\n",
          f);
}

/* ---- figures on labelled rows ------------------------------------------------------------------------------ */

static void metric(FILE *f, jv m, const char *key, const char *name, const char *meaning)
{
    const double x = jv_num(jv_get(m, key));
    if (isnan(x)) return;
    fprintf(f, "<tr><th>%s</th><td class=\"n\">%.4f</td><td>%s</td></tr>\n", name, x, meaning);
}

static void confusion(FILE *f, jv m)
{
    const jv classes = jv_get(m, "classes");
    if (!m.p) return;
    fputs("<h3>Confusion matrix</h3>\n<div class=\"box\"><table>\n<tr><th>true \\ named</th>", f);
    for (jv_iter it = jv_begin(classes); jv_next(&it);) {
        fputs("<th class=\"n\">", f);
        put_value(f, it.value);
        fputs("</th>", f);
    }
    fputs("</tr>\n", f);
    jv_iter name = jv_begin(classes);
    int i = 0;
    for (jv_iter line = jv_begin(jv_get(m, "true_by_predicted")); jv_next(&line) && jv_next(&name); i++) {
        int k = 0;
        char n[40];
        fputs("<tr><th>", f);
        put_value(f, name.value);
        fputs("</th>", f);
        for (jv_iter it = jv_begin(line.value); jv_next(&it); k++)
            fprintf(f, "<td class=\"n%s\">%s</td>", i == k ? " hit" : "", with_commas(jv_num(it.value), n));
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

static void calibration(FILE *f, jv m)
{
    const plot p = { f, 0, 1, 0, 1, "Calibration", "probability predicted", "share observed", 0 };
    if (!m.p) return;
    fputs("<div class=\"pair\"><figure>\n", f);
    plot_open(&p, 0, 0);
    for (int k = 0; k <= 4; k++) plot_mark_x(&p, 0.25 * k, "%.2f");
    for (int k = 0; k <= 4; k++) plot_mark_y(&p, 0.25 * k, "%.2f");
    plot_diagonal(&p, false);
    for (jv_iter it = jv_begin(jv_get(m, "bins")); jv_next(&it);) {
        const double rows = jv_num(jv_get(it.value, "rows"));
        if (rows > 0)
            plot_dot(&p, jv_num(jv_get(it.value, "predicted")), jv_num(jv_get(it.value, "observed")),
                     3.0 + log10(rows), 0);
    }
    plot_close(&p);
    fprintf(
        f,
        "<figcaption>Rows in bins of the predicted probability; larger dots hold more rows; on the dashed line "
        "predictions come true as often as they say. Expected calibration error %.4f.</figcaption></figure></div>\n",
        jv_num(jv_get(m, "error")));
}

static void metrics(FILE *f, const findings *r)
{
    const jv m = r->metrics;
    if (!m.p) return;
    fputs("<h2>How good</h2>\n<p>On the rows of <code>", f);
    html_put(f, strrchr(r->data_file, '/') ? strrchr(r->data_file, '/') + 1 : r->data_file);
    fprintf(f, "</code>. %s</p>\n<div class=\"box\"><table>\n",
            jv_true(jv_get(m, "training_rows"))
                ? "<strong>These are the training rows: the figures are NOT PRIVATE, do not publish them.</strong>"
                : "These figures are computed from those rows without noise; they are not covered by the guarantee.");
    count_of(f, m, "rows", "rows");
    metric(f, m, "accuracy", "accuracy", "share of rows named correctly");
    metric(f, m, "majority", "baseline", "accuracy of always naming the most frequent class");
    metric(f, m, "log_loss", "log loss", "0 is perfect");
    metric(f, m, "auc", "AUC", "1 is perfect, 0.5 is a coin");
    metric(f, m, "precision", "precision", "share of rows named positive that are");
    metric(f, m, "recall", "recall", "share of positive rows that are named so");
    metric(f, m, "rmse", "RMSE", "root mean squared error");
    metric(f, m, "mae", "MAE", "mean absolute error");
    metric(f, m, "r2", "R2", "1 is perfect, 0 is the mean");
    fputs("</table></div>\n", f);
    confusion(f, jv_get(m, "confusion"));
    calibration(f, jv_get(m, "calibration"));
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
        put_value(f, jv_get(it.value, "name"));
        fputs("</td><td>", f);
        put_value(f, jv_get(it.value, "type"));
        fputs("</td><td>", f);
        if (lo.p) {
            put_value(f, lo);
            fputs(" to ", f);
            put_value(f, jv_get(it.value, "max"));
        }
        bool first = true;
        for (jv_iter k = jv_begin(values); values.p && jv_next(&k); first = false) {
            if (!first) fputs(", ", f);
            put_value(f, k.value);
        }
        fputs("</td></tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

static void settings(FILE *f, jv v)
{
    fputs("<details><summary>Every setting</summary>\n<div class=\"box\"><table>\n", f);
    for (jv_iter it = jv_begin(v); jv_next(&it);) {
        fputs("<tr><th>", f);
        put_value(f, it.key);
        fputs("</th><td>", f);
        put_value(f, it.value);
        fputs("</td></tr>\n", f);
    }
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
    fact_of(f, r->certificate, "keyed digest of the data", "data_digest");
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
    training(f, r);
    curves(f, r);
    metrics(f, r);
    guarantee(f, r);
    columns(f, r->schema);
    settings(f, jv_get(r->certificate, "settings"));
    checking(f, r);
    fputs("</body></html>\n", f);
    if (fclose(f) != 0) abort(); /* memory */
    return text;
}
