/* cmd_calibrate.c - privet calibrate: the least noise whose certified cost meets a budget. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

static void show(jv v)
{
    char accountant[32], relation[32], eps[40], delta[40];
    const double z = jv_num(jv_get(v, "noise_multiplier")), eps0 = jv_num(jv_get(v, "eps0"));
    if (!isnan(z)) row("noise", "multiplier %.9g: standard deviation or scale over sensitivity", z);
    else if (!isnan(eps0)) row("noise", "epsilon %.9g for each selection", eps0);
    else row("noise", "multiply every noise in the file by %.9g", jv_num(jv_get(v, "factor")));
    row("cost", "epsilon %s at delta %s, of %.6g asked for", cost_text(jv_num(jv_get(v, "epsilon")), eps),
        cost_text(jv_num(jv_get(v, "delta")), delta), jv_num(jv_get(v, "target_epsilon")));
    show_strength(v);
    row("by", "accountant %s, relation %s%s", jv_str(jv_get(v, "accountant"), accountant, sizeof accountant),
        jv_str(jv_get(v, "relation"), relation, sizeof relation),
        jv_true(jv_get(v, "group_bound")) ? ", counted as two zero-out steps (group bound)" : "");
}

int cmd_calibrate(cli *c)
{
    char *json, *request = make_request(c, "gaussian");
    const pv_status s = pv_calibrate(c->ctx, request, &json);
    free(request);
    if (s != PV_OK) return fail(c, s);
    if (c->args.json) print_json(json);
    else show((jv) { json });
    pv_string_free(c->ctx, json);
    return EXIT_DONE;
}
