/* cmd_train.c - privet train: plan, check the output, run, save, say what was made. */
#include "cli.h"

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

static void show_diagnostics(jv v)
{
    int shown = MEASURES;
    if (!v.p) return;
    row("NOT PRIVATE", "what follows was computed from the rows without noise; the certificate does not cover it");
    row("objective", "%-10.6g average loss and penalty on the training rows", jv_num(jv_get(v, "objective")));
    for (int i = MEASURES - 1; i >= 0; i--)
        if (jv_get(v, measures[i].key).p) shown = i;
    for (int i = 0; i < MEASURES; i++)
        if (jv_get(v, measures[i].key).p)
            row(measures[i].label, "%-10.6g %s", jv_num(jv_get(v, measures[i].key)), measures[i].meaning);
    show_missing(jv_get(v, "missing"));
    show_curve(jv_get(v, "curve"), shown);
    row("", "end of what is NOT PRIVATE");
}

static int report(cli *c, const pv_result *r, const char *out)
{
    char *json;
    const pv_status s = pv_result_summary(r, &json);
    if (s != PV_OK) return fail(c, s);
    if (c->args.json) {
        print_json(json);
    } else {
        show_run((jv) { json });
        show_diagnostics(jv_get((jv) { json }, "diagnostics_not_private"));
        row("model", "%s, certificate inside", out);
        if (jv_true(jv_get((jv) { json }, "private"))) row("next", "privet verify %s", out);
    }
    pv_string_free(c->ctx, json);
    return EXIT_DONE;
}

int cmd_train(cli *c)
{
    const char *out = c->args.out ? c->args.out : default_out;
    pv_plan *plan = NULL;
    pv_result *result = NULL;
    int code = make_plan(c, c->args.words[0], &plan);
    if (code == EXIT_DONE && c->args.dump_config) {
        code = dump_settings(c, plan);
        if (strcmp(c->args.dump_config, "-") == 0) goto out;
    }
    if (code == EXIT_DONE) code = check_outputs(c, out);
    if (code == EXIT_DONE) {
        const pv_status s = pv_plan_run(plan, &result);
        progress_clear();
        if (s != PV_OK) code = fail(c, s);
    }
    if (code == EXIT_DONE) code = save(c, result, out);
    signals_phase(PHASE_QUIET);
    if (code == EXIT_DONE) code = report(c, result, out);
out:
    pv_result_free(result);
    pv_plan_free(plan);
    return code;
}
