/* cmd_verify.c - privet verify: does the certificate hold?  Exit 0, or 3 and the reason. */
#include "cli.h"

#include <string.h>

/* The certificate inside a model, as a file of its own. */
static int extract(cli *c)
{
    const char *json;
    pv_model *m;
    pv_status s = pv_model_load(c->ctx, c->args.words[0], &m);
    if (s != PV_OK) return fail(c, s);
    s = pv_model_certificate(m, &json);
    if (s == PV_OK) s = pv_file_write(c->ctx, c->args.certificate, json, strlen(json));
    pv_model_free(m);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

static void show_list(const char *label, jv list)
{
    char text[1024];
    jv_iter it = jv_begin(list);
    for (bool first = true; jv_next(&it); first = false)
        paragraph(first ? label : "", jv_str(it.value, text, sizeof text));
}

static void print_answer(void *user, const char *label, const char *question, const char *text)
{
    (void)user, (void)question;
    paragraph(label, text);
}

static void show(const char *path, jv v)
{
    char eps[40];
    row("holds", "%s: the recorded events cost at most epsilon %s, as claimed", path,
        cost_text(jv_num(jv_get(v, "epsilon")), eps));
    show_strength(v);
    answers(v, print_answer, NULL);
    show_counted(v);
    if (jv_get(v, "evaluation").p) {
        row("figures", "made again of the counts in it: value, then a 95 %% interval for the noise");
        show_noisy(jv_get(v, "evaluation"));
        putchar('\n');
    }
    show_list("shown", jv_get(v, "shown"));
    show_list("on trust", jv_get(v, "on_trust"));
    show_list("assumes", jv_get(v, "assumptions"));
    show_list("not covered", jv_get(v, "not_covered"));
}

int cmd_verify(cli *c)
{
    char *json;
    const pv_status s = pv_verify(c->ctx, c->args.words[0], &json);
    if (s != PV_OK) {
        const char *because = pv_ctx_errmsg(c->ctx);
        if (c->args.json) {
            printf("{\n  \"verified\": false,\n  ");
            json_text("because", *because ? because : pv_status_name(s)), puts("\n}");
        }
        return fail(c, s);
    }
    const int code = c->args.certificate ? extract(c) : EXIT_DONE;
    if (code == EXIT_DONE) {
        if (c->args.json) print_json(json);
        else show(c->args.words[0], (jv) { json });
    }
    pv_string_free(c->ctx, json);
    return code;
}
