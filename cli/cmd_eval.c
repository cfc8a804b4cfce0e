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

static void confusion(jv v)
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

void show_metrics(jv v)
{
    char n[40];
    if (jv_get(v, "warning").p) row("NOT PRIVATE", "this model was trained without protection");
    if (jv_true(jv_get(v, "training_rows")))
        row("caution", "these are the training rows: the figures below are NOT PRIVATE, do not publish them");
    row("rows", "%s", with_commas(jv_num(jv_get(v, "rows")), n));
    number_row(v, "accuracy", "accuracy", "share of rows predicted correctly");
    number_row(v, "majority", "baseline", "accuracy of always predicting the most frequent class");
    log_loss(v);
    number_row(v, "auc", "AUC", "1 is perfect, 0.5 is guessing");
    number_row(v, "rmse", "RMSE", "root mean squared error");
    number_row(v, "mae", "MAE", "mean absolute error");
    number_row(v, "r2", "R2", "1 is perfect, 0 is the mean");
    confusion(jv_get(v, "confusion"));
}

int cmd_eval(cli *c)
{
    pv_model *m = NULL;
    char *json = NULL;
    int code = open_model(c, &m);
    if (code == EXIT_DONE) {
        const pv_status s = pv_model_eval(m, c->args.words[1], &json);
        progress_clear();
        if (s != PV_OK) code = fail(c, s);
    }
    if (code == EXIT_DONE) {
        notes_flush(); /* a warning about the figures comes before them */
        if (c->args.json) print_json(json);
        else show_metrics((jv) { json });
    }
    pv_string_free(c->ctx, json);
    pv_model_free(m);
    return code;
}
