/* cmd_show.c - privet show: the weights of a model as a table, from what was released alone.
 *
 * A model with curves: what each knot or value of a column adds to the score, columns by importance (api/effects.c).
 * Another linear model: the weight of each feature, the largest first.
 * The standard error is the one that the known noise implies, where the run has a bound on it (run/band.c): no point
 * has a larger one.  Rows are never looked at, so that what other rows would have given is not in it. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct line {
    const char *column, *at, *class; /* at: a knot, or a value of a category; class NULL: there is one score */
    double weight;
} line;

typedef struct sheet { /* how lines are written */
    const cli *c;
    double error; /* NAN: not known */
    long lines;
} sheet;

static void csv_field(const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, stdout);
        return;
    }
    putchar('"');
    for (; *s; s++) {
        if (*s == '"') putchar('"');
        putchar(*s);
    }
    putchar('"');
}

static void put(sheet *s, const line *l)
{
    char error[24] = "";
    if (!isnan(s->error)) snprintf(error, sizeof error, "%.4g", s->error);
    if (s->c->args.json) {
        printf("%s\n    {", s->lines++ ? "," : "");
        json_text("column", l->column), fputs(", ", stdout);
        json_text("at", l->at), fputs(", ", stdout);
        if (l->class) json_text("class", l->class), fputs(", ", stdout);
        printf("\"weight\": %.9g, \"error_at_most\": %s}", l->weight, *error ? error : "null");
    } else if (setting_value(s->c, "show.csv")) {
        csv_field(l->column), putchar(','), csv_field(l->at ? l->at : ""), putchar(',');
        csv_field(l->class ? l->class : "");
        printf(",%.9g,%s\n", l->weight, error);
    } else {
        printf("%-22.22s %-18.18s %-12.12s %11.4f  %s\n", l->column, l->at ? l->at : "", l->class ? l->class : "",
               l->weight, error);
    }
}

static void begin(sheet *s, jv scores, double error, const char *what)
{
    char score[40];
    const bool csv = setting_value(s->c, "show.csv") != NULL;
    s->error = error;
    jv_str(jv_get(scores, "score"), score, sizeof score);
    if (s->c->args.json) {
        printf("{\n  "), json_text("shown", what),
            printf(",\n  \"private\": %s,\n  \"weights\": [", s->c->not_private ? "false" : "true");
    } else if (csv) {
        puts("column,at,class,weight,error_at_most");
    } else {
        row("shown", "%s", what);
        if (s->c->not_private) row("NOT PRIVATE", "this model was trained without protection");
        if (isnan(error)) row("error", "not known: this kind of run has no bound on what noise does to a weight");
        else row("error", "of privacy noise alone: standard deviation at most, less where there are many rows");
        printf("\n%-22s %-18s %-12s %11s  %s\n", "column", "at", "class", "weight", "error");
    }
}

static void end(const sheet *s)
{
    if (s->c->args.json) puts("\n  ]\n}");
}

/* The text of a knot or value. */
static const char *at_text(jv v, char out[64])
{
    if (v.p && *v.p == '"') return jv_str(v, out, 64);
    snprintf(out, 64, "%.6g", jv_num(v));
    return out;
}

static void curves(sheet *s, jv v)
{
    char name[128], at[64], class[64];
    int classes = 0;
    for (jv_iter it = jv_begin(jv_get(v, "classes")); jv_next(&it);) classes++;
    const double error = jv_num(jv_get(v, "noise_at_most"));
    begin(s, v, error, "what each point of a column adds to the score, relative to the mean of the column");
    for (jv_iter c = jv_begin(jv_get(v, "columns")); jv_next(&c);) {
        jv_iter which = jv_begin(jv_get(v, "classes"));
        jv_str(jv_get(c.value, "name"), name, sizeof name);
        for (jv_iter o = jv_begin(jv_get(c.value, "effect")); jv_next(&o);) {
            const bool several = classes > 2 && jv_next(&which);
            if (several) jv_str(which.value, class, sizeof class);
            jv_iter p = jv_begin(jv_get(c.value, "at"));
            for (jv_iter e = jv_begin(o.value); jv_next(&e) && jv_next(&p);)
                put(s, &(line) { name, at_text(p.value, at), several ? class : NULL, jv_num(e.value) });
        }
    }
    end(s);
}

/* ---- without curves -------------------------------------------------------------------------------------------- */

typedef struct entry {
    double w;
    int64_t k;
} entry;

static int larger_first(const void *a, const void *b)
{
    const double x = fabs(((const entry *)a)->w), y = fabs(((const entry *)b)->w);
    return x > y ? -1 : x < y;
}

static int plain(sheet *s, pv_model *m)
{
    cli *c = (cli *)(uintptr_t)s->c;
    pv_model_info info;
    int64_t d = 0;
    pv_status st = pv_model_describe(m, &info);
    if (st == PV_OK) st = pv_model_weights(m, NULL, 0, &d);
    if (st != PV_OK) return fail(c, st);
    const int64_t per = d % info.outputs == 0 ? d / info.outputs : 0;
    if (per != info.features && per != info.features + 1)
        return usage("the weights of a network say nothing one by one: privet export writes them");
    double *w = malloc(sizeof *w * (size_t)d);
    entry *e = malloc(sizeof *e * (size_t)d);
    if (!w || !e) abort();
    st = pv_model_weights(m, w, d, &d);
    for (int64_t k = 0; k < d; k++) e[k] = (entry) { w[k], k };
    if (st == PV_OK) qsort(e, (size_t)d, sizeof *e, larger_first);
    if (st == PV_OK) begin(s, (jv) { "{}" }, NAN, "the weight of each feature, the largest first");
    for (int64_t k = 0; st == PV_OK && k < d; k++) {
        char name[40] = "bias";
        const char *class = NULL;
        const int64_t j = e[k].k % per;
        if (j < info.features) snprintf(name, sizeof name, "feature %lld", (long long)j + 1);
        if (info.outputs > 1 && pv_model_class(m, e[k].k / per, &class) != PV_OK) class = NULL;
        put(s, &(line) { name, NULL, class, e[k].w });
    }
    if (st == PV_OK) end(s);
    free(w), free(e);
    return st == PV_OK ? EXIT_DONE : fail(c, st);
}

int cmd_show(cli *c)
{
    pv_model *m = NULL;
    char *json = NULL;
    sheet s = { .c = c };
    if (c->args.json && setting_value(c, "show.csv")) return usage("--json or --csv, not both");
    for (int i = 0; i < c->args.n_settings; i++)
        if (strcmp(c->args.settings[i].key, "show.csv") != 0)
            return usage("show takes no settings, but got %s=%s", c->args.settings[i].key, c->args.settings[i].value);
    const pv_status st = pv_model_load(c->ctx, c->args.words[0], &m);
    if (st != PV_OK) return fail(c, st);
    pv_model_info info;
    c->not_private = pv_model_describe(m, &info) == PV_OK && !info.is_private;
    if (c->not_private) note(PV_LOG_WARN, "%s is NOT PRIVATE", c->args.words[0]);
    int code = EXIT_DONE;
    if (pv_model_curves(m, &json) == PV_OK) curves(&s, (jv) { json });
    else code = plain(&s, m);
    pv_string_free(c->ctx, json);
    pv_model_free(m);
    return code;
}
