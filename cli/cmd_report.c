/* cmd_report.c - privet report: a model's guarantee, and its figures on labelled rows, or results, as one page. */
#include "repro/repro.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The curve of the recorded releases.  A model that is not private has none; nor have releases no accountant
 * draws. */
static char *curve_of(cli *c, jv certificate)
{
    char *json = NULL, *request, relation[32];
    size_t len;
    if (!jv_true(jv_get(certificate, "private"))) return NULL;
    const jv events = jv_get(certificate, "events");
    jv_iter after = jv_begin(certificate); /* the slice ends where the next value begins */
    while (jv_next(&after) && after.value.p != events.p) {
    }
    FILE *f = open_memstream(&request, &len);
    if (!f) abort();
    fprintf(f, "{\"relation\": \"%s\", \"events\": %.*s}",
            jv_str(jv_get(certificate, "relation"), relation, sizeof relation), (int)(after.at - events.p), events.p);
    if (fclose(f) != 0) abort();
    if (pv_curve(c->ctx, request, &json) != PV_OK) json = NULL;
    free(request);
    return json;
}

/* What was written, and the numbers on it. */
static void as_json(const cli *c, const findings *r, const char *out)
{
    static const char *const numbers[] = { "epsilon", "delta", "guess_right_at_most" };
    static const char *const words[] = { "relation", "strength", "strength_because" };
    char text[600];
    printf("{\n  "), json_text("report", out), printf(",\n  ");
    json_text("model", c->args.words[0]), printf(",\n  ");
    json_text("data", c->args.n_words > 1 ? c->args.words[1] : NULL);
    printf(",\n  \"private\": %s", jv_true(jv_get(r->certificate, "private")) ? "true" : "false");
    for (int i = 0; i < 3 && r->verification.p; i++)
        printf(",\n  "), json_number(numbers[i], jv_num(jv_get(r->verification, numbers[i])));
    for (int i = 0; i < 3 && r->verification.p; i++)
        printf(",\n  "), json_text(words[i], jv_str(jv_get(r->verification, words[i]), text, sizeof text));
    printf(",\n  \"figures\": ");
    figures_json(r);
    puts("\n}");
}

static int write_page(cli *c, const findings *r, const char *out)
{
    char *html = report_html(r);
    const pv_status s = pv_file_write(c->ctx, out, html, strlen(html));
    free(html);
    if (s != PV_OK) return fail(c, s);
    notes_flush();
    if (c->args.json) as_json(c, r, out);
    else row("report", "%s", out);
    return EXIT_DONE;
}

static const char *file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static int report(cli *c, pv_model *m, const char *out)
{
    const char *certificate = NULL, *schema = NULL, *data = c->args.n_words > 1 ? c->args.words[1] : NULL;
    char *verified = NULL, *metrics = NULL, *curve = NULL;
    int code = EXIT_DONE;
    pv_status s = pv_model_certificate(m, &certificate);
    if (s == PV_OK) s = pv_model_schema(m, &schema);
    if (s == PV_OK && !c->not_private) s = pv_verify(c->ctx, c->args.words[0], &verified);
    if (s == PV_OK && data) s = pv_model_eval(m, data, &metrics);
    progress_clear();
    if (s == PV_OK) curve = curve_of(c, (jv) { certificate });
    const findings r = { { certificate }, { verified }, { curve },
                         { metrics },     { schema },   file_name(c->args.words[0]),
                         file_name(data), c->args.exact };
    code = s == PV_OK ? write_page(c, &r, out) : fail(c, s);
    pv_string_free(c->ctx, verified);
    pv_string_free(c->ctx, metrics);
    pv_string_free(c->ctx, curve);
    return code;
}

int cmd_report(cli *c)
{
    pv_model *m = NULL;
    struct stat st;
    const bool text = setting_value(c, "markdown") != NULL;
    const char *out = c->args.out ? c->args.out : text ? "report.md" : "report.html";
    const bool results = stat(c->args.words[0], &st) == 0 && S_ISDIR(st.st_mode);
    int code = EXIT_DONE;
    if (!c->args.out)
        code = check_own(out,
                         text      ? " of five papers"
                         : results ? "<title>Results: "
                                   : "<title>Privacy report: ",
                         "name the page with --out");
    if (code == EXIT_DONE) code = check_writable(out);
    if (code == EXIT_DONE && results) return results_page(c, c->args.words[0], out, text);
    if (code == EXIT_DONE && c->args.exact && c->args.n_words < 2)
        return usage("--exact is about figures on labelled rows; name them: privet report MODEL DATA --exact");
    if (code == EXIT_DONE && text)
        return usage("--markdown is for a folder of results; %s is none", c->args.words[0]);
    if (code == EXIT_DONE) code = open_model(c, &m);
    if (code == EXIT_DONE) code = report(c, m, out);
    pv_model_free(m);
    return code;
}
