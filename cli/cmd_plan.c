/* cmd_plan.c - privet plan: what a run would cost and how much noise it needs; of DATA only the shape counts. */
#include "cli.h"

#include <math.h>
#include <string.h>

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
        const bool declared = !isnan(jv_num(jv_get((jv) { json }, "settings/data.rows")));
        row("data", declared ? "not read: this is what privet train would do"
                             : "only its shape was used: this is what privet train would do");
    }
out:
    pv_string_free(c->ctx, json);
    pv_plan_free(plan);
    return code;
}
