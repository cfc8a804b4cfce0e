/* effects_page.c - what a model makes of each column, in words and on a page. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWN = 40 };

static int outputs_of(jv effects)
{
    int n = 0;
    for (jv_iter it = jv_begin(jv_get(effects, "base")); jv_next(&it);) n++;
    return n;
}

/* The class that log odds are of: the second of two; "": none. */
static const char *second_class(jv effects, char *out, size_t cap)
{
    jv_iter it = jv_begin(jv_get(effects, "classes"));
    *out = '\0';
    if (outputs_of(effects) == 1 && jv_next(&it) && jv_next(&it)) jv_str(it.value, out, cap);
    return out;
}

const char *score_words(jv effects, char *out, size_t cap)
{
    char name[120], score[40];
    if (*second_class(effects, name, sizeof name)) snprintf(out, cap, "log odds of \"%s\"", name);
    else snprintf(out, cap, "%s", jv_str(jv_get(effects, "score"), score, sizeof score));
    return out;
}

/* A point's value as text. */
static void point_text(jv column, jv at, char out[80])
{
    char type[16];
    const bool date = strcmp(jv_str(jv_get(column, "type"), type, sizeof type), "date") == 0;
    if (*at.p == '"') jv_str(at, out, 80);
    else effect_at(date, jv_num(at), out);
}

typedef struct extreme {
    double effect;
    char at[80];
} extreme;

static void extremes(jv column, extreme *lo, extreme *hi)
{
    jv_iter first = jv_begin(jv_get(column, "effect"));
    lo->effect = INFINITY;
    hi->effect = -INFINITY;
    if (!jv_next(&first)) return;
    jv_iter x = jv_begin(jv_get(column, "at")), y = jv_begin(first.value);
    while (jv_next(&x) && jv_next(&y)) {
        const double e = jv_num(y.value);
        if (e < lo->effect) lo->effect = e, point_text(column, x.value, lo->at);
        if (e > hi->effect) hi->effect = e, point_text(column, x.value, hi->at);
    }
}

void effect_words(jv effects, jv column, char *out, size_t cap)
{
    char name[120];
    extreme lo, hi;
    *out = '\0';
    if (outputs_of(effects) != 1) return;
    extremes(column, &lo, &hi);
    if (*second_class(effects, name, sizeof name))
        snprintf(out, cap,
                 "lowest at %s, where the odds of \"%s\" are %.2f times those at the mean of the curve; highest at "
                 "%s, %.2f "
                 "times; %.1f times from one to the other, with everything else alike",
                 lo.at, name, exp(lo.effect), hi.at, exp(hi.effect), exp(hi.effect - lo.effect));
    else
        snprintf(out, cap, "lowest at %s, %+.4g to the prediction; highest at %s, %+.4g; with everything else alike",
                 lo.at, lo.effect, hi.at, hi.effect);
}

static void missing_words(FILE *f, jv effects, jv column)
{
    char name[120];
    jv_iter it = jv_begin(jv_get(column, "missing"));
    if (!jv_get(column, "missing").p || outputs_of(effects) != 1 || !jv_next(&it)) return;
    const double e = jv_num(it.value);
    if (*second_class(effects, name, sizeof name)) fprintf(f, " Without a value: odds times %.2f.", exp(e));
    else fprintf(f, " Without a value: %+.4g.", e);
}

static void noise_words(FILE *f, jv effects)
{
    const double noise = jv_num(jv_get(effects, "noise_at_most"));
    fputs("<p>Privacy noise is part of every curve, most of all where few rows are, as at the ends of a range: jumps "
          "between neighbouring points there are likely to be noise. ",
          f);
    if (noise > 0.0)
        fprintf(f,
                "The noise of this run gives a point a standard deviation of about %.2g where there are no rows, the "
                "bar at the left of "
                "the pictures (one up, one down), and far less where there are many. "
                "How much less depends on the rows, and nothing that was released tells it point by point. It is "
                "privacy noise alone, not the uncertainty of a sample.</p>\n",
                noise);
    else
        fputs(
            "How large it is for this model is not known: its optimiser has no formula for it, or the file was made "
            "before there was one.</p>\n",
            f);
}

static void introduction(FILE *f, jv effects)
{
    char words[160];
    fputs("<h2>What the model makes of each column</h2>\n<p>The ", f);
    html_put(f, score_words(effects, words, sizeof words));
    fputs(" that the model gives a row is a sum: what each column adds, and a constant. Each picture shows what one "
          "column adds over its declared range, relative to the mean over its knots or values. The columns that can "
          "change the score most, on average over their declared range, come first; no row was looked at for any of "
          "this.</p>\n",
          f);
    noise_words(f, effects);
}

/* A list where there are too many classes to draw. */
static void only_order(FILE *f, jv effects)
{
    fprintf(f,
            "<p>With more than %d classes curves are not drawn; the columns in the order of importance:</p>\n<ol>\n",
            EFFECT_CLASSES);
    for (jv_iter it = jv_begin(jv_get(effects, "columns")); jv_next(&it);) {
        fputs("<li>", f);
        html_value(f, jv_get(it.value, "name"));
        fputs("</li>\n", f);
    }
    fputs("</ol>\n", f);
}

/* Effects of the values of a category on several classes. */
static void class_table(FILE *f, jv effects, jv column)
{
    int k = 0;
    fputs("<div class=\"box\"><table>\n<tr><th>", f);
    html_value(f, jv_get(column, "name"));
    fputs("</th>", f);
    for (jv_iter it = jv_begin(jv_get(effects, "classes")); jv_next(&it);) {
        fputs("<th class=\"n\">", f);
        html_value(f, it.value);
        fputs("</th>", f);
    }
    fputs("</tr>\n", f);
    for (jv_iter v = jv_begin(jv_get(column, "at")); jv_next(&v); k++) {
        fputs("<tr><td>", f);
        html_value(f, v.value);
        fputs("</td>", f);
        for (jv_iter o = jv_begin(jv_get(column, "effect")); jv_next(&o);) {
            jv_iter e = jv_begin(o.value);
            for (int i = 0; i <= k; i++) jv_next(&e);
            fprintf(f, "<td class=\"n\">%+.2f</td>", jv_num(e.value));
        }
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

static void one_column(FILE *f, jv effects, jv column)
{
    char words[600], shape[16];
    const bool category = strcmp(jv_str(jv_get(column, "shape"), shape, sizeof shape), "category") == 0;
    fputs("<figure>\n", f);
    if (category && outputs_of(effects) > 1) class_table(f, effects, column);
    else draw_effect(f, effects, column);
    fputs("<figcaption>", f);
    effect_words(effects, column, words, sizeof words);
    if (*words) {
        if (words[0] == 'l') words[0] = 'L';
        html_put(f, words);
        fputc('.', f);
    }
    missing_words(f, effects, column);
    fputs("</figcaption></figure>\n", f);
}

static void class_key(FILE *f, jv effects)
{
    static const char *const lines[] = { "solid blue",       "dashed orange", "dotted green",
                                         "dash-dotted pink", "long dashes",   "sparse dots" };
    int k = 0;
    if (outputs_of(effects) == 1) return;
    fputs("<p>Lines: ", f);
    for (jv_iter it = jv_begin(jv_get(effects, "classes")); k < EFFECT_CLASSES && jv_next(&it); k++) {
        if (k) fputs("; ", f);
        html_value(f, it.value);
        fprintf(f, " %s", lines[k]);
    }
    fputs(".</p>\n", f);
}

void effects_page(FILE *f, jv effects)
{
    int n = 0;
    if (!effects.p) return;
    introduction(f, effects);
    if (outputs_of(effects) > EFFECT_CLASSES) {
        only_order(f, effects);
        return;
    }
    class_key(f, effects);
    fputs("<div class=\"pair\">\n", f);
    for (jv_iter it = jv_begin(jv_get(effects, "columns")); jv_next(&it); n++)
        if (n < DRAWN) one_column(f, effects, it.value);
    fputs("</div>\n", f);
    if (n > DRAWN) fprintf(f, "<p>%d columns that change less are left out.</p>\n", n - DRAWN);
}
