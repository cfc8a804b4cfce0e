/* cmd_eval.c - privet eval: how good a model is on labelled rows. */
#include "cli.h"

#include <math.h>
#include <string.h>

enum { MAX_CLASSES = 12 }; /* a wider table is read better as JSON */

static void number_row(jv v, const char *key, const char *label, const char *meaning)
{
    const double x = jv_num(jv_get(v, key));
    if (!isnan(x)) row(label, "%-9.4f %s", x, meaning);
}

static int classes_of(jv confusion)
{
    int k = 0;
    for (jv_iter it = jv_begin(jv_get(confusion, "classes")); jv_next(&it);) k++;
    return k;
}

static void log_loss(jv v)
{
    char what[64];
    const int k = classes_of(jv_get(v, "confusion"));
    snprintf(what, sizeof what, "0 is perfect; log %d = %.4f is guessing", k, log((double)k));
    number_row(v, "log_loss", "log loss", what);
}

void show_confusion(jv v)
{
    char name[32];
    const int k = classes_of(v);
    if (k == 0 || k > MAX_CLASSES) return;
    printf("\n%-16s", "true \\ predicted");
    for (jv_iter it = jv_begin(jv_get(v, "classes")); jv_next(&it);)
        printf(" %10.10s", jv_str(it.value, name, sizeof name));
    putchar('\n');
    jv_iter label = jv_begin(jv_get(v, "classes"));
    for (jv_iter r = jv_begin(jv_get(v, "true_by_predicted")); jv_next(&r) && jv_next(&label);) {
        printf("%-16.16s", jv_str(label.value, name, sizeof name));
        for (jv_iter c = jv_begin(r.value); jv_next(&c);) printf(" %10.0f", jv_num(c.value));
        putchar('\n');
    }
}

/* The same with every person counting once, and whether some of them were trained on. */
static void by_person(jv v)
{
    char n[40];
    const jv p = jv_get(v, "per_person");
    if (!p.p) return;
    row("persons", "%s, each counting once in what follows", with_commas(jv_num(jv_get(p, "persons")), n));
    number_row(p, "accuracy", "accuracy", "mean over persons of the share of their rows");
    number_row(p, "log_loss", "log loss", "mean over persons");
    number_row(p, "auc", "AUC", "rows of persons drawn alike");
    number_row(p, "rmse", "RMSE", "of persons drawn alike");
    number_row(p, "mae", "MAE", "of persons drawn alike");
}

static void trained_on(jv v)
{
    char n[40];
    const double both = jv_num(jv_get(v, "persons_trained_on"));
    if (both == 0.0) row("apart", "no person of these rows was trained on (looked up in both tables: NOT PRIVATE)");
    if (both > 0.0)
        row("caution", "%s of these persons were trained on: the figures below are NOT PRIVATE, and too good",
            with_commas(both, n));
}

void show_metrics(jv v)
{
    char n[40];
    if (jv_get(v, "warning").p) row("NOT PRIVATE", "this model was trained without protection");
    if (jv_true(jv_get(v, "training_rows")))
        row("caution", "these are the training rows: the figures below are NOT PRIVATE, do not publish them");
    trained_on(v);
    row("NOT PRIVATE", "exact figures of these rows, whoever is in them; --epsilon E releases noisy ones instead");
    row("rows", "%s", with_commas(jv_num(jv_get(v, "rows")), n));
    number_row(v, "threshold", "threshold", "chance above which the second class is predicted");
    number_row(v, "accuracy", "accuracy", "share of rows predicted correctly");
    number_row(v, "majority", "baseline", "accuracy of always predicting the most frequent class");
    log_loss(v);
    number_row(v, "auc", "AUC", "1 is perfect, 0.5 is guessing");
    number_row(v, "rmse", "RMSE", "root mean squared error");
    number_row(v, "mae", "MAE", "mean absolute error");
    number_row(v, "r2", "R2", "1 is perfect, 0 is the mean");
    by_person(v);
    show_confusion(jv_get(v, "confusion"));
}

/* One line for every group. */
static void show_groups(jv v)
{
    static const char *const keys[] = { "accuracy", "log_loss",          "auc",  "precision",
                                        "recall",   "calibration/error", "rmse", "mae" };
    char name[64];
    const jv_iter none = { 0 };
    jv_iter first = jv_begin(jv_get(v, "groups"));
    if (!jv_next(&first)) first = none;
    printf("\n%-20.20s %8s", jv_str(jv_get(v, "column"), name, sizeof name), "rows");
    for (int i = 0; i < 8; i++)
        if (!isnan(jv_num(jv_get(first.value, keys[i]))))
            printf(" %10.10s", strcmp(keys[i], "calibration/error") == 0 ? "calib.err" : keys[i]);
    putchar('\n');
    for (jv_iter it = jv_begin(jv_get(v, "groups")); jv_next(&it);) {
        const jv value = jv_get(it.value, "value");
        printf("%-20.20s %8.0f", *value.p == '"' ? jv_str(value, name, sizeof name) : "(missing)",
               jv_num(jv_get(it.value, "rows")));
        for (int i = 0; i < 8; i++)
            if (!isnan(jv_num(jv_get(first.value, keys[i])))) printf(" %10.4f", jv_num(jv_get(it.value, keys[i])));
        putchar('\n');
    }
}

static int eval_groups(cli *c, pv_model *m, char **json)
{
    pv_data *rows = NULL;
    pv_status s = pv_data_file(c->ctx, c->args.words[1], &rows);
    if (s == PV_OK) s = pv_model_eval_by(m, rows, c->args.by, json);
    pv_data_free(rows);
    progress_clear();
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

int cmd_eval(cli *c)
{
    pv_model *m = NULL;
    char *json = NULL, *groups = NULL;
    int code = open_model(c, &m);
    if (code == EXIT_DONE && has_budget(c) && !setting_value(c, "budget.epsilon") &&
        !setting_value(c, "budget.noise_multiplier") && !setting_value(c, "privacy"))
        code = usage("how much may these figures cost?  Add --epsilon E; without any of the budget they are exact");
    if (code == EXIT_DONE && has_budget(c)) {
        code = eval_private(c, m);
        pv_model_free(m);
        return code;
    }
    if (code == EXIT_DONE && c->args.certificate)
        code = usage("exact figures have no certificate: --epsilon E releases noisy ones that have");
    if (code == EXIT_DONE && c->args.by) code = eval_groups(c, m, &groups);
    if (code == EXIT_DONE) {
        const pv_status s = pv_model_eval(m, c->args.words[1], &json);
        progress_clear();
        if (s != PV_OK) code = fail(c, s);
    }
    if (code == EXIT_DONE) {
        notes_flush(); /* a warning about the figures comes before them */
        if (c->args.json) print_json(groups ? groups : json);
        else show_metrics((jv) { json });
        if (groups && !c->args.json) show_groups((jv) { groups });
    }
    pv_string_free(c->ctx, groups);
    pv_string_free(c->ctx, json);
    pv_model_free(m);
    return code;
}
