/* figures.c - the part of a report that says how good the model is on labelled rows.
 *
 * These figures are computed from the rows of DATA without noise: no guarantee covers them, and exact counts tell
 * whoever knows all of those rows but one what the last one's label is.  A report is made for passing on, so by
 * default
 *   (1)  shares are rounded to a step that holds at least ten of the rows they are about,
 *   (2)  what is about fewer than 200 rows is left out, and so is everything about the training rows.
 * That is care, not a proof, and the page says so.  --exact shows everything as it is, marked. */
#include "cli.h"

#include <math.h>
#include <string.h>

enum { FEW = 200, MANY = 1000 };

/* (1): 0: exact; NAN: left out (2). */
static double step_for(const findings *r, double rows)
{
    if (r->exact) return 0.0;
    return rows >= MANY ? 0.01 : rows >= FEW ? 0.05 : NAN;
}

static double rounded(double x, double step)
{
    return step > 0.0 ? step * floor(x / step + 0.5) : x;
}

/* Of the confusion matrix: rows of a true class, or (named) of a class the model named; class -1: of the rarest. */
static double class_rows(const findings *r, int class, bool named)
{
    double found = 0.0, least = INFINITY;
    int i = 0;
    for (jv_iter line = jv_begin(jv_get(r->metrics, "confusion/true_by_predicted")); jv_next(&line); i++) {
        double all = 0.0;
        int k = 0;
        for (jv_iter it = jv_begin(line.value); jv_next(&it); k++) {
            all += jv_num(it.value);
            if (named && k == class) found += jv_num(it.value);
        }
        if (!named && i == class) found = all;
        if (all > 0.0) least = fmin(least, all); /* a class without rows says nothing of any */
    }
    return class < 0 ? least : found;
}

/* The rows a figure is about: positive is the second class. */
static double rows_behind(const findings *r, const char *key)
{
    if (strcmp(key, "auc") == 0) return class_rows(r, -1, false);
    if (strcmp(key, "precision") == 0) return class_rows(r, 1, true);
    if (strcmp(key, "recall") == 0) return class_rows(r, 1, false);
    return jv_num(jv_get(r->metrics, "rows"));
}

/* What is shown, in this order.  Errors have the label's unit: two digits instead of a step. */
static const struct figure {
    const char *key, *name, *meaning;
    bool unit;
} shown[] = {
    { "accuracy", "accuracy", "share of rows predicted correctly", false },
    { "majority", "baseline", "accuracy of always predicting the most frequent class", false },
    { "log_loss", "log loss", "0 is perfect", false },
    { "auc", "AUC", "1 is perfect, 0.5 is guessing", false },
    { "precision", "precision", "share of rows predicted positive that are positive", false },
    { "recall", "recall", "share of positive rows that are predicted positive", false },
    { "rmse", "RMSE", "root mean squared error", true },
    { "mae", "MAE", "mean absolute error", true },
    { "r2", "R2", "1 is perfect, 0 is the mean", false },
};
enum { SHOWN = sizeof shown / sizeof *shown };

/* As shown, or "few rows"; false: there is no such figure. */
static bool figure_text(const findings *r, const struct figure *g, char text[40])
{
    const double x = jv_num(jv_get(r->metrics, g->key)), step = step_for(r, rows_behind(r, g->key));
    if (isnan(x)) return false;
    if (g->unit) snprintf(text, 40, "%.*g", r->exact ? 6 : 2, x);
    else if (isnan(step)) snprintf(text, 40, "few rows");
    else snprintf(text, 40, "%.*f", r->exact ? 4 : 2, rounded(x, step));
    return true;
}

static double rows_of(const findings *r)
{
    const double n = jv_num(jv_get(r->metrics, "rows")), unit = pow(10.0, fmax(0.0, floor(log10(n)) - 1.0));
    return r->exact ? n : unit * floor(n / unit + 0.5);
}

static void table(FILE *f, const findings *r)
{
    char text[40];
    fprintf(f, "<tr><th>rows</th><td class=\"n\">%s%s</td><td></td></tr>\n", r->exact ? "" : "about ",
            with_commas(rows_of(r), text));
    for (const struct figure *g = shown; g < shown + SHOWN; g++)
        if (figure_text(r, g, text))
            fprintf(f, "<tr><th>%s</th><td class=\"n\">%s</td><td>%s</td></tr>\n", g->name, text, g->meaning);
}

/* (2): nothing is shown of the training rows, or of few. */
static bool hidden(const findings *r)
{
    return !r->exact &&
           (jv_true(jv_get(r->metrics, "training_rows")) || !(jv_num(jv_get(r->metrics, "rows")) >= FEW));
}

void figures_json(const findings *r)
{
    char text[40];
    if (!r->metrics.p || hidden(r)) {
        fputs("null", stdout);
        return;
    }
    printf("{\"exact\": %s, ", r->exact ? "true" : "false");
    json_number("rows", rows_of(r));
    for (const struct figure *g = shown; g < shown + SHOWN; g++)
        if (figure_text(r, g, text)) {
            fputs(", ", stdout);
            if (strcmp(text, "few rows") == 0) json_text(g->key, NULL);
            else printf("\"%s\": %s", g->key, text);
        }
    putchar('}');
}

/* One true class: counts, or the share each name got of its rows. */
static void confusion_row(FILE *f, const findings *r, jv line, int truth)
{
    double all = 0.0;
    int k = 0;
    char n[40];
    for (jv_iter it = jv_begin(line); jv_next(&it);) all += jv_num(it.value);
    const double step = step_for(r, all);
    for (jv_iter it = jv_begin(line); jv_next(&it); k++) {
        const double x = jv_num(it.value);
        fprintf(f, "<td class=\"n%s\">", truth == k ? " hit" : "");
        if (r->exact) fputs(with_commas(x, n), f);
        else if (isnan(step)) fputs("few rows", f);
        else fprintf(f, "%.0f %%", 100.0 * rounded(x / all, step));
        fputs("</td>", f);
    }
}

static void confusion(FILE *f, const findings *r)
{
    const jv m = jv_get(r->metrics, "confusion"), classes = jv_get(m, "classes");
    if (!m.p) return;
    fprintf(f, "<h3>Confusion matrix</h3>\n<p>%s</p>\n<div class=\"box\"><table>\n<tr><th>true \\ predicted</th>",
            r->exact ? "Rows of each true class by the class the model predicted."
                     : "Of the rows of each true class, the share the model predicted as each class.");
    for (jv_iter it = jv_begin(classes); jv_next(&it);) {
        fputs("<th class=\"n\">", f);
        html_value(f, it.value);
        fputs("</th>", f);
    }
    fputs("</tr>\n", f);
    jv_iter name = jv_begin(classes);
    int i = 0;
    for (jv_iter line = jv_begin(jv_get(m, "true_by_predicted")); jv_next(&line) && jv_next(&name); i++) {
        fputs("<tr><th>", f);
        html_value(f, name.value);
        fputs("</th>", f);
        confusion_row(f, r, line.value, i);
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

static void calibration(FILE *f, const findings *r)
{
    const jv m = jv_get(r->metrics, "calibration");
    const plot p = { f, 0, 1, 0, 1, "Calibration", "probability predicted", "share observed", 0 };
    if (!m.p) return;
    fputs("<div class=\"pair\"><figure>\n", f);
    plot_open(&p, 0, 0);
    for (int k = 0; k <= 4; k++) plot_mark_x(&p, 0.25 * k, "%.2f");
    for (int k = 0; k <= 4; k++) plot_mark_y(&p, 0.25 * k, "%.2f");
    plot_diagonal(&p, false);
    for (jv_iter it = jv_begin(jv_get(m, "bins")); jv_next(&it);) {
        const double rows = jv_num(jv_get(it.value, "rows")), step = step_for(r, rows);
        if (rows > 0 && !isnan(step))
            plot_dot(&p, rounded(jv_num(jv_get(it.value, "predicted")), step),
                     rounded(jv_num(jv_get(it.value, "observed")), step), r->exact ? 3.0 + log10(rows) : 5.0, 0);
    }
    plot_close(&p);
    fprintf(f,
            "<figcaption>Rows in bins of the predicted probability; %s; on the dashed line predictions come true as "
            "often as they say. Expected calibration error %.*f.</figcaption></figure></div>\n",
            r->exact ? "larger dots hold more rows" : "bins of fewer than 200 rows are left out", r->exact ? 4 : 2,
            jv_num(jv_get(m, "error")));
}

/* What the figures give away, before the figures.  False: nothing follows. */
static bool caution(FILE *f, const findings *r)
{
    const bool training = jv_true(jv_get(r->metrics, "training_rows"));
    fputs("<h2>How good</h2>\n<p>On the rows of <code>", f);
    html_put(f, r->data_file);
    fputs("</code>. ", f);
    if (training)
        fputs(
            "<strong class=\"none\">These are the training rows: figures computed from them are NOT PRIVATE, do not "
            "publish them.</strong> ",
            f);
    if (hidden(r)) {
        fprintf(f, "No figures are shown here%s; <code>--exact</code> shows them, for your eyes only.</p>\n",
                training ? "" : ": fewer than 200 rows would be told too well");
        return false;
    }
    if (r->exact)
        fputs("<strong class=\"none\">Exact figures, not for passing on</strong>: they are computed from these rows "
              "without noise, NOT PRIVATE, and no guarantee covers them. Whoever knows all of these rows but one can "
              "work out "
              "from them what that one's label is.</p>\n",
              f);
    else
        fputs("<strong class=\"none\">NOT PRIVATE</strong>: the figures are computed from these rows without noise, "
              "and <strong>the guarantee does not cover them</strong>: if these rows are private as well, each "
              "figure gives a little of them away. They are "
              "rounded, shares to steps that hold at least ten rows, and what is about fewer than 200 rows is left "
              "out; that makes it hard to work out a single row, but it is no proof.</p>\n",
              f);
    return true;
}

/* ---- figures that were released with noise ------------------------------------------------------------------- */

static const struct {
    const char *key, *name, *meaning;
} noisy[] = {
    { "accuracy", "accuracy", "share predicted correctly" },
    { "majority", "baseline", "always predicting the most frequent class" },
    { "auc", "AUC", "1 is perfect, 0.5 is guessing" },
    { "precision", "precision", "share of those predicted positive that are positive" },
    { "recall", "recall", "share of positives that are predicted positive" },
};

static void interval_cells(FILE *f, jv x, int digits)
{
    const double value = jv_num(jv_get(x, "value"));
    if (isnan(value)) fputs("<td class=\"n\">unknown</td>", f);
    else fprintf(f, "<td class=\"n\">%.*f</td>", digits, value);
    fprintf(f, "<td class=\"n\">%.*f to %.*f</td>", digits, jv_num(jv_get(x, "low")), digits,
            jv_num(jv_get(x, "high")));
}

/* As the model calls it. */
static void class_head(FILE *f, const findings *r, int k, const char *attributes)
{
    const char *name = "";
    if (pv_model_class(r->model, k, &name) != PV_OK) name = "";
    fprintf(f, "<th%s>", attributes);
    html_put(f, name);
    fputs("</th>", f);
}

static void noisy_matrix(FILE *f, const findings *r, jv m)
{
    int i = 0;
    fprintf(f,
            "<h3>Confusion matrix</h3>\n<p>Noisy counts, each give or take %.0f (95&nbsp;%%).</p>\n<div "
            "class=\"box\"><table>\n<tr><th>true \\ predicted</th>",
            jv_num(jv_get(m, "plus_minus")));
    for (jv_iter it = jv_begin(jv_get(m, "classes")); jv_next(&it); i++) class_head(f, r, i, " class=\"n\"");
    fputs("</tr>\n", f);
    i = 0;
    for (jv_iter line = jv_begin(jv_get(m, "true_by_predicted")); jv_next(&line); i++) {
        int k = 0;
        char n[40];
        fputs("<tr>", f);
        class_head(f, r, i, "");
        for (jv_iter it = jv_begin(line.value); jv_next(&it); k++)
            fprintf(f, "<td class=\"n%s\">%s</td>", i == k ? " hit" : "", with_commas(jv_num(it.value), n));
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

static void noisy_calibration(FILE *f, jv list)
{
    fputs("<h3>Calibration</h3>\n<p>Of those whose predicted chance lies in a range, the share that came true.</p>\n"
          "<div class=\"box\"><table>\n<tr><th>predicted</th><th class=\"n\">of all</th><th "
          "class=\"n\">observed</th><th class=\"n\">95&nbsp;% interval</th></tr>\n",
          f);
    for (jv_iter it = jv_begin(list); jv_next(&it);) {
        fprintf(f, "<tr><th>%.3f to %.3f</th><td class=\"n\">%.1f&nbsp;%%</td>", jv_num(jv_get(it.value, "from")),
                jv_num(jv_get(it.value, "to")), 100.0 * jv_num(jv_get(it.value, "share/value")));
        interval_cells(f, jv_get(it.value, "observed"), 3);
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

void released_figures(FILE *f, const findings *r)
{
    const jv v = r->evaluation, e = jv_get(v, "evaluation");
    char eps[40], delta[40], n[40];
    if (!e.p) return;
    const jv persons = jv_get(v, "persons");
    fprintf(
        f,
        "<h2>How good, as released</h2>\n<p>Measured on %s %s that an evaluation of its own protects: "
        "<strong>epsilon %s at delta %s</strong>, recomputed for this page from its certificate. The figures have "
        "noise; intervals are 95&nbsp;%% for that noise.</p>\n<div class=\"box\"><table>\n",
        with_commas(jv_num(persons.p ? persons : jv_get(v, "rows")), n), persons.p ? "persons" : "rows",
        cost_text(jv_num(jv_get(v, "epsilon")), eps), cost_text(jv_num(jv_get(v, "delta")), delta));
    fputs("<tr><th>figure</th><th class=\"n\">value</th><th class=\"n\">95&nbsp;% interval</th><th></th></tr>\n", f);
    for (size_t i = 0; i < sizeof noisy / sizeof *noisy; i++) {
        const jv x = jv_get(e, noisy[i].key);
        if (!x.p) continue;
        fprintf(f, "<tr><th>%s</th>", noisy[i].name);
        interval_cells(f, x, 4);
        fprintf(f, "<td>%s</td></tr>\n", noisy[i].meaning);
    }
    fputs("</table></div>\n", f);
    noisy_matrix(f, r, jv_get(e, "confusion"));
    noisy_calibration(f, jv_get(e, "calibration"));
}

void figures(FILE *f, const findings *r)
{
    if (!r->metrics.p || !caution(f, r)) return;
    fputs("<div class=\"box\"><table>\n", f);
    table(f, r);
    fputs("</table></div>\n", f);
    confusion(f, r);
    calibration(f, r);
}
