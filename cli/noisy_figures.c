/* noisy_figures.c - figures that were released with noise: the run behind them, and how they are shown. */
#include "cli.h"

#include <math.h>
#include <string.h>

bool of_budget(const char *key)
{
    return strncmp(key, "budget.", 7) == 0 || strncmp(key, "issuer.", 7) == 0 ||
           strncmp(key, "accountant", 10) == 0 || strcmp(key, "privacy") == 0 || strcmp(key, "run.seed") == 0;
}

bool has_budget(const cli *c)
{
    for (int i = 0; i < c->args.n_settings; i++)
        if (of_budget(c->args.settings[i].key) && strncmp(c->args.settings[i].key, "issuer.", 7) != 0) return true;
    return false;
}

static void interval_row(jv v, const char *key, const char *label, const char *meaning)
{
    const jv x = jv_get(v, key);
    const double value = jv_num(jv_get(x, "value"));
    char number[16] = "unknown";
    if (!x.p) return;
    if (!isnan(value)) snprintf(number, sizeof number, "%.4f", value);
    row(label, "%-9s %.4f .. %.4f   %s", number, jv_num(jv_get(x, "low")), jv_num(jv_get(x, "high")), meaning);
}

static void calibration(jv list)
{
    if (!list.p) return;
    printf("\n%-18s %8s   %s\n", "predicted chance", "of all", "observed, 95 %");
    for (jv_iter it = jv_begin(list); jv_next(&it);) {
        const jv seen = jv_get(it.value, "observed");
        const double value = jv_num(jv_get(seen, "value"));
        char range[32], number[16] = "unknown";
        snprintf(range, sizeof range, "%.3f .. %.3f", jv_num(jv_get(it.value, "from")),
                 jv_num(jv_get(it.value, "to")));
        if (!isnan(value)) snprintf(number, sizeof number, "%.3f", value);
        printf("%-18s %7.1f%%   %-8s %.3f .. %.3f\n", range,
               100.0 * jv_num(jv_get(jv_get(it.value, "share"), "value")), number, jv_num(jv_get(seen, "low")),
               jv_num(jv_get(seen, "high")));
    }
}

void show_noisy(jv v)
{
    const jv matrix = jv_get(v, "confusion");
    interval_row(v, "accuracy", "accuracy", "share predicted correctly");
    interval_row(v, "majority", "baseline", "always the most frequent class");
    interval_row(v, "auc", "AUC", "1 is perfect, 0.5 is guessing");
    interval_row(v, "precision", "precision", "of those predicted to be of the second class, share that is");
    interval_row(v, "recall", "recall", "of those of the second class, share that is found");
    show_confusion(matrix);
    if (matrix.p) printf("each count        +- %.0f, 95 %%\n", jv_num(jv_get(matrix, "plus_minus")));
    calibration(jv_get(v, "calibration"));
}

void show_evaluation(jv v, const char *certificate)
{
    char n[40], eps[40], delta[40], relation[16];
    const jv persons = jv_get(v, "persons");
    if (!jv_true(jv_get(v, "metrics_are_private")))
        row("NOT PRIVATE", "these figures have no noise, or noise that can be removed: do not publish them");
    if (persons.p) row("persons", "%s, each counting once; their number is public", with_commas(jv_num(persons), n));
    else row("rows", "%s; their number is public", with_commas(jv_num(jv_get(v, "rows")), n));
    if (jv_true(jv_get(v, "metrics_are_private"))) {
        row("privacy", "epsilon %s at delta %s, relation %s, of this evaluation alone",
            cost_text(jv_num(jv_get(v, "epsilon")), eps), cost_text(jv_num(jv_get(v, "delta")), delta),
            jv_str(jv_get(v, "relation"), relation, sizeof relation));
        show_strength(v);
        row("noise", "standard deviation %.4g on each count", jv_num(jv_get(v, "noise_stddev")));
    }
    row("figures", "value, then a 95 %% interval for the noise");
    show_noisy(v);
    if (certificate) row("certificate", "%s; privet verify %s", certificate, certificate);
}

static int make_budget(cli *c, pv_plan **out)
{
    pv_status s = pv_plan_create(c->ctx, out);
    for (int i = 0; s == PV_OK && i < c->args.n_settings; i++)
        if (of_budget(c->args.settings[i].key))
            s = pv_plan_set(*out, c->args.settings[i].key, c->args.settings[i].value);
    if (s == PV_OK) s = date_issue(c, *out);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

int evaluate(cli *c, pv_model *m, const pv_result *of, const char *path, const pv_plan *budget,
             const char *certificate, char **to)
{
    char *json = NULL, *text = NULL;
    pv_data *rows = NULL;
    int code = certificate ? check_writable(certificate) : EXIT_DONE;
    if (code != EXIT_DONE) return code;
    pv_status s = of ? PV_OK : pv_data_file(c->ctx, path, &rows);
    if (s == PV_OK)
        s = of ? pv_result_evaluate(of, budget, &json, &text) : pv_model_evaluate(m, rows, budget, &json, &text);
    progress_clear();
    if (s == PV_OK && certificate) s = pv_file_write(c->ctx, certificate, text, strlen(text));
    if (s != PV_OK) code = fail(c, s);
    if (code == EXIT_DONE && to) *to = json, json = NULL;
    if (code == EXIT_DONE && !to) {
        notes_flush();
        if (c->args.json) print_json(json);
        else show_evaluation((jv) { json }, certificate);
    }
    pv_string_free(c->ctx, text);
    pv_string_free(c->ctx, json);
    pv_data_free(rows);
    return code;
}

int eval_private(cli *c, pv_model *m)
{
    pv_plan *budget = NULL;
    int code = c->args.by ? usage("--by counts groups without noise: leave it out with --epsilon") : EXIT_DONE;
    if (code == EXIT_DONE) code = make_budget(c, &budget);
    if (code == EXIT_DONE) code = evaluate(c, m, NULL, c->args.words[1], budget, c->args.certificate, NULL);
    pv_plan_free(budget);
    return code;
}
