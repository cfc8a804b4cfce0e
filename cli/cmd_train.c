/* cmd_train.c - privet train: plan, check the output, run, save, say what was made. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char default_out[] = "model.pvt";

/* Everything that could go wrong with the output is asked before the budget is spent. */
static int check_outputs(const cli *c, const char *out)
{
    if (strcmp(out, "-") == 0) return usage("a model cannot go to standard output; name a file with --out");
    if (!c->args.out && access(out, F_OK) == 0)
        return usage("%s exists already; name the model with --out (%s is only the default)", out, out);
    int code = check_writable(out);
    if (code == EXIT_DONE && c->args.certificate) code = check_writable(c->args.certificate);
    return code;
}

static int save(cli *c, const pv_result *r, const char *out)
{
    const char *json;
    pv_status s = pv_result_save(r, out);
    if (s == PV_OK && c->args.certificate) {
        s = pv_result_certificate(r, &json);
        if (s == PV_OK) s = pv_file_write(c->ctx, c->args.certificate, json, strlen(json));
    }
    if (s == PV_OK) return EXIT_DONE;
    if (s == PV_E_IO) return complain(EXIT_INPUT, "%s (the budget counts as spent)", pv_ctx_errmsg(c->ctx));
    return fail(c, s);
}

/* ---- numbers that depend on the rows without noise, between two lines that say so ------------------------- */

static const struct {
    const char *key, *label, *meaning;
} measures[] = {
    { "gradient_norm", "gradient", "length of the objective's gradient" },
    { "projected_gradient", "projected", "length of the generalised projected gradient" },
    { "mirror_gradient", "mirror", "the same for the set's mirror map" },
    { "frank_wolfe_gap", "gap", "Frank-Wolfe gap" },
    { "lambda_min", "lambda min", "lowest eigenvalue of the Hessian" },
    { "lambda_min_error", "", "by which it may be off" },
    { "accuracy", "accuracy", "share of rows predicted correctly" },
    { "log_loss", "log loss", "0 is perfect" },
    { "auc", "AUC", "1 is perfect, 0.5 is guessing" },
    { "rmse", "error", "root mean square of prediction - label" },
};
enum { MEASURES = sizeof measures / sizeof *measures };

static void show_missing(jv missing)
{
    char line[1024], name[64], why[900];
    jv_iter it = jv_begin(missing);
    while (jv_next(&it)) {
        snprintf(line, sizeof line, "%s: %s", jv_str(it.key, name, sizeof name), jv_str(it.value, why, sizeof why));
        paragraph("no", line);
    }
}

static void show_curve(jv curve, int measure)
{
    jv_iter it = jv_begin(curve);
    for (bool first = true; jv_next(&it); first = false) {
        if (first)
            row("curve", "%9s  %-12s %s", "step", "objective", measure < MEASURES ? measures[measure].label : "");
        row("", "%9.0f  %-12.6g %.6g", jv_num(jv_get(it.value, "step")), jv_num(jv_get(it.value, "objective")),
            measure < MEASURES ? jv_num(jv_get(it.value, measures[measure].key)) : 0.0);
    }
}

static void show_diagnostics(jv v, const char *whose)
{
    int shown = MEASURES;
    if (!v.p) return;
    if (jv_get(v, "objective").p)
        row("objective", "%-10.6g average loss and penalty on the %s rows", jv_num(jv_get(v, "objective")), whose);
    for (int i = MEASURES - 1; i >= 0; i--)
        if (jv_get(v, measures[i].key).p) shown = i;
    for (int i = 0; i < MEASURES; i++)
        if (jv_get(v, measures[i].key).p)
            row(measures[i].label, "%-10.6g %s", jv_num(jv_get(v, measures[i].key)), measures[i].meaning);
    show_missing(jv_get(v, "missing"));
    show_curve(jv_get(v, "curve"), shown);
}

static void show_measures(jv result)
{
    const jv here = jv_get(result, "diagnostics_not_private"), there = jv_get(result, "holdout_not_private");
    if (!here.p && !there.p) return;
    if (here.p)
        row("NOT PRIVATE",
            "what follows was computed from the rows without noise; the certificate does not cover it");
    show_diagnostics(here, "training");
    if (there.p)
        row("NOT PRIVATE", "what follows was computed from held-out rows without noise; the people in them are not "
                           "protected");
    show_diagnostics(there, "held-out");
    row("", "end of what is NOT PRIVATE");
}

/* ---- --eval-epsilon: figures of held-out rows as a release of their own ------------------------------------ */

static bool is_share(const char *text)
{
    char *end;
    const double x = text ? strtod(text, &end) : 0.0;
    return text && end != text && !*end && x > 0.0 && x < 1.0;
}

/* Before there is a plan: what --holdout says becomes a share that is held out, or rows to keep apart. */
static int plan_holdout(cli *c, const char **rows)
{
    const char *named = setting_value(c, "run.holdout");
    *rows = NULL;
    if (!c->args.eval_epsilon && is_share(named))
        return usage("--holdout %s holds rows out for a private evaluation: add --eval-epsilon E", named);
    if (!c->args.eval_epsilon) return EXIT_DONE;
    if (!named && !setting_value(c, "run.holdout_share"))
        return usage("--eval-epsilon is for held-out rows: add --holdout FILE, or a share such as --holdout 0.2");
    if (named && !is_share(named)) *rows = named;
    for (int i = 0; i < c->args.n_settings; i++)
        if (strcmp(c->args.settings[i].key, "run.holdout") == 0)
            c->args.settings[i].key = *rows ? "run.apart" : "run.holdout_share";
    return EXIT_DONE;
}

enum { PATH = 4096 };

/* Before anything is spent on training: the budget of the evaluation, and where its certificate goes. */
static int plan_evaluation(cli *c, const char *out, char path[PATH], pv_plan **budget)
{
    static const char *const alike[] = { "budget.relation", "budget.delta",   "privacy",     "run.seed",
                                         "issuer.name",     "issuer.contact", "issuer.date", "issuer.data" };
    if (!c->args.eval_epsilon) return EXIT_DONE;
    if (snprintf(path, PATH, "%s.eval.json", out) >= PATH) return usage("%s: too long a name", out);
    const int code = check_writable(path);
    if (code != EXIT_DONE) return code;
    pv_status s = pv_plan_create(c->ctx, budget);
    if (s == PV_OK && pv_plan_set(*budget, "budget.epsilon", c->args.eval_epsilon) != PV_OK)
        return usage("--eval-epsilon: %s", pv_ctx_errmsg(c->ctx));
    for (size_t i = 0; s == PV_OK && i < sizeof alike / sizeof *alike; i++)
        if (setting_value(c, alike[i])) s = pv_plan_set(*budget, alike[i], setting_value(c, alike[i]));
    if (s == PV_OK) s = date_issue(c, *budget);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

static int evaluate_holdout(cli *c, const pv_result *r, const char *rows, const pv_plan *budget, const char *path,
                            char **json)
{
    pv_model *m = NULL;
    if (!budget) return EXIT_DONE;
    const pv_status s = rows ? pv_result_model(r, &m) : PV_OK;
    int code = s == PV_OK ? EXIT_DONE : fail(c, s);
    if (code == EXIT_DONE) code = evaluate(c, m, rows ? NULL : r, rows, budget, path, json);
    if (code != EXIT_DONE) note(PV_LOG_NOTE, "the model was trained and is there: its budget counts as spent");
    pv_model_free(m);
    return code;
}

/* One object: that of the run, with the evaluation as its last member. */
static void print_both(const char *run, const char *evaluation)
{
    const char *end = strrchr(run, '}');
    printf("%.*s,\n  \"evaluation\": %s}\n", (int)(end - run) - 1, run, evaluation);
}

static int report(cli *c, const pv_result *r, const char *out, const char *evaluation)
{
    char path[4096];
    char *json;
    const pv_status s = pv_result_summary(r, &json);
    if (s != PV_OK) return fail(c, s);
    if (c->args.json && evaluation) {
        print_both(json, evaluation);
    } else if (c->args.json) {
        print_json(json);
    } else {
        show_run((jv) { json });
        show_measures((jv) { json });
        row("model", "%s, certificate inside", out);
        if (jv_true(jv_get((jv) { json }, "private"))) row("next", "privet verify %s", out);
        snprintf(path, sizeof path, "%s.eval.json", out);
        if (evaluation)
            puts("\nevaluation of held-out rows, a release of its own"), show_evaluation((jv) { evaluation }, path);
    }
    pv_string_free(c->ctx, json);
    return EXIT_DONE;
}

int cmd_train(cli *c)
{
    const char *out = c->args.out ? c->args.out : default_out;
    pv_plan *plan = NULL, *budget = NULL;
    pv_result *result = NULL;
    const char *rows;
    char *evaluation = NULL, path[PATH];
    if (!c->args.n_words && !c->args.config && !setting_value(c, "data.path"))
        return usage("train needs more: privet train %s", c->cmd->words);
    int code = plan_holdout(c, &rows);
    if (code == EXIT_DONE) code = make_plan(c, c->args.n_words ? c->args.words[0] : NULL, &plan);
    if (code == EXIT_DONE && c->args.dump_config) {
        code = dump_settings(c, plan);
        if (strcmp(c->args.dump_config, "-") == 0) goto out;
    }
    if (code == EXIT_DONE) code = check_outputs(c, out);
    if (code == EXIT_DONE) code = plan_evaluation(c, out, path, &budget);
    const bool replaced = code == EXIT_DONE && access(out, F_OK) == 0;
    if (code == EXIT_DONE) {
        const pv_status s = pv_plan_run(plan, &result);
        progress_clear();
        if (s != PV_OK) code = fail(c, s);
    }
    if (code == EXIT_DONE) code = save(c, result, out);
    if (code == EXIT_DONE && replaced && !c->args.quiet)
        note(PV_LOG_NOTE, "%s was there and has been replaced; what the run behind it cost stays spent", out);
    signals_phase(PHASE_QUIET);
    if (code == EXIT_DONE) code = evaluate_holdout(c, result, rows, budget, path, &evaluation);
    if (code == EXIT_DONE) code = report(c, result, out, evaluation);
out:
    pv_string_free(c->ctx, evaluation);
    pv_result_free(result);
    pv_plan_free(budget);
    pv_plan_free(plan);
    return code;
}
