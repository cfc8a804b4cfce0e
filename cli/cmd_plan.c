/* cmd_plan.c - privet plan: what a run would cost and how much noise it needs; of DATA only the shape counts. */
#include "cli.h"

#include <math.h>
#include <string.h>

/* Those that say something, the ones of the plan's optimiser marked. */
static void show_bounds(jv bounds)
{
    if (!bounds.p) {
        row("bounds", "none: a run without privacy has no epsilon");
        return;
    }
    paragraph("bounds",
              "what the papers' theorems promise at this n, p, epsilon and delta, each up to a constant that "
              "the paper does not give (1 is taken) and for the steps and output of the theorem:");
    for (jv_iter it = jv_begin(jv_get(bounds, "theorems")); jv_next(&it);) {
        char theorem[80], measure[80], formula[120], lacks[80];
        const double value = jv_num(jv_get(it.value, "value"));
        jv_str(jv_get(it.value, "theorem"), theorem, sizeof theorem);
        jv_str(jv_get(it.value, "measure"), measure, sizeof measure);
        jv_str(jv_get(it.value, "formula"), formula, sizeof formula);
        jv_str(jv_get(it.value, "void"), lacks, sizeof lacks);
        const bool own = jv_true(jv_get(it.value, "of_this_plan"));
        if (isnan(value)) printf("%12s %c %-44s %s\n", "-", own ? '*' : ' ', theorem, lacks);
        else printf("%12.4g %c %-44s %s: %s\n", value, own ? '*' : ' ', theorem, measure, formula);
    }
    row("", "  * of this plan's optimizer");
}

int cmd_plan(cli *c)
{
    pv_plan *plan = NULL;
    char *json = NULL;
    int code = make_plan(c, c->args.n_words ? c->args.words[0] : NULL, &plan);
    if (code == EXIT_DONE && c->args.dump_config) {
        code = dump_settings(c, plan);
        if (strcmp(c->args.dump_config, "-") == 0) goto out;
    }
    if (code == EXIT_DONE) {
        const pv_status s = pv_plan_cost(plan, &json);
        progress_clear();
        if (s != PV_OK) code = fail(c, s);
    }
    if (code != EXIT_DONE) goto out;
    if (c->args.json) {
        print_json(json);
    } else {
        show_run((jv) { json });
        const bool declared = !isnan(jv_num(jv_get((jv) { json }, "settings/data.rows"))) ||
                              !isnan(jv_num(jv_get((jv) { json }, "settings/data.persons")));
        row("data", declared ? "not read: this is what privet train would do"
                             : "only its shape was used: this is what privet train would do");
        if (c->args.bounds) show_bounds(jv_get((jv) { json }, "bounds"));
    }
out:
    pv_string_free(c->ctx, json);
    pv_plan_free(plan);
    return code;
}
