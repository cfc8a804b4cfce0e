/* apply.c - from arguments to a plan: the settings file first, then the command line in its order. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static int load_config(cli *c, pv_plan *plan)
{
    char *text;
    size_t len;
    int code = read_text(c->args.config, &text, &len);
    if (code != EXIT_DONE) return code;
    const pv_status s = pv_plan_load(plan, text, len, c->args.config);
    free(text);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

/* Who names an issuer wants a day beside it. */
pv_status date_issue(const cli *c, pv_plan *plan)
{
    if (!setting_value(c, "issuer.name") || setting_value(c, "issuer.date")) return PV_OK;
    return pv_plan_set(plan, "issuer.date", "today");
}

int make_plan(cli *c, const char *data, pv_plan **out)
{
    int code = EXIT_DONE;
    pv_status s = pv_plan_create(c->ctx, out);
    if (s == PV_OK && c->cmd->groups & OPT_TRAIN) s = pv_plan_set(*out, "run.least", "20");
    if (s == PV_OK && c->args.config) code = load_config(c, *out);
    for (int i = 0; s == PV_OK && code == EXIT_DONE && i < c->args.n_settings; i++)
        s = pv_plan_set(*out, c->args.settings[i].key, c->args.settings[i].value);
    if (s == PV_OK && code == EXIT_DONE) s = date_issue(c, *out);
    if (s == PV_OK && code == EXIT_DONE && data) s = pv_plan_set(*out, "data.path", data);
    if (s != PV_OK) code = fail(c, s);
    return code;
}

static bool is_private(const pv_model *m)
{
    const char *json;
    return pv_model_certificate(m, &json) == PV_OK && jv_true(jv_get((jv) { json }, "private"));
}

int open_model(cli *c, pv_model **out)
{
    pv_status s = pv_model_load(c->ctx, c->args.words[0], out);
    for (int i = 0; s == PV_OK && i < c->args.n_settings; i++)
        if (!(c->cmd->groups & OPT_EVAL && of_budget(c->args.settings[i].key)) &&
            strcmp(c->args.settings[i].key, "report.registry") != 0)
            s = pv_model_set(*out, c->args.settings[i].key, c->args.settings[i].value);
    if (s != PV_OK) return fail(c, s);
    c->not_private = !is_private(*out);
    if (c->not_private) note(PV_LOG_WARN, "%s is NOT PRIVATE", c->args.words[0]);
    return EXIT_DONE;
}

int dump_settings(cli *c, pv_plan *plan)
{
    char *json;
    pv_status s = pv_plan_dump(plan, &json);
    if (s != PV_OK) return fail(c, s);
    if (strcmp(c->args.dump_config, "-") == 0) fputs(json, stdout);
    else s = pv_file_write(c->ctx, c->args.dump_config, json, strlen(json));
    pv_string_free(c->ctx, json);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}
