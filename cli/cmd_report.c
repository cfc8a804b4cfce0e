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

/* What verify says of the certificate of an evaluation, which must be of this model. */
static int read_evaluation(cli *c, const char *certificate, char **json)
{
    char own[80], other[80];
    const char *path = c->args.evaluation;
    if (!path) return EXIT_DONE;
    const pv_status s = pv_verify(c->ctx, path, json);
    if (s != PV_OK) return fail(c, s);
    const jv e = jv_get((jv) { *json }, "evaluation");
    if (!e.p)
        return complain(EXIT_INPUT,
                        "%s: no evaluation: privet eval MODEL DATA --epsilon E --certificate FILE writes one", path);
    jv_str(jv_get((jv) { certificate }, "weights_digest"), own, sizeof own);
    if (strcmp(own, jv_str(jv_get(e, "weights_digest"), other, sizeof other)) != 0)
        return complain(EXIT_INPUT, "%s: an evaluation of another model than %s", path, c->args.words[0]);
    return EXIT_DONE;
}

static int report(cli *c, pv_model *m, const char *out)
{
    const char *certificate = NULL, *schema = NULL, *data = c->args.n_words > 1 ? c->args.words[1] : NULL;
    char *verified = NULL, *metrics = NULL, *curve = NULL, *along = NULL, *effects = NULL, *evaluation = NULL;
    char digest[80];
    int code = EXIT_DONE;
    pv_status s = pv_model_certificate(m, &certificate);
    if (s == PV_OK) s = pv_model_schema(m, &schema);
    if (s == PV_OK && !c->not_private) s = pv_verify(c->ctx, c->args.words[0], &verified);
    if (s == PV_OK && data) s = pv_model_eval(m, data, &metrics);
    progress_clear();
    if (s == PV_OK) curve = curve_of(c, (jv) { certificate });
    if (s == PV_OK && pv_model_curves(m, &effects) != PV_OK) effects = NULL; /* a model without curves */
    if (s == PV_OK && c->args.measures)
        code = measures_svg(c->args.measures,
                            jv_str(jv_get((jv) { certificate }, "weights_digest"), digest, sizeof digest), &along);
    if (s == PV_OK && code == EXIT_DONE) code = read_evaluation(c, certificate, &evaluation);
    const findings r = {
        .certificate = { certificate },
        .verification = { verified },
        .curve = { curve },
        .metrics = { metrics },
        .schema = { schema },
        .effects = { effects },
        .model = m,
        .evaluation = { evaluation },
        .model_file = file_name(c->args.words[0]),
        .data_file = file_name(data),
        .measures = along,
        .exact = c->args.exact,
    };
    if (s != PV_OK) code = fail(c, s);
    if (code == EXIT_DONE && setting_value(c, "report.registry")) notes_flush(), registry_entry(&r);
    else if (code == EXIT_DONE) code = write_page(c, &r, out);
    free(along);
    pv_string_free(c->ctx, verified);
    pv_string_free(c->ctx, metrics);
    pv_string_free(c->ctx, curve);
    pv_string_free(c->ctx, effects);
    pv_string_free(c->ctx, evaluation);
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
    const bool entry = setting_value(c, "report.registry") != NULL; /* goes to the screen */
    if (!c->args.out && !entry)
        code = check_own(out,
                         text      ? " of five papers"
                         : results ? "<title>Results: "
                                   : "<title>Privacy report: ",
                         "name the page with --out");
    if (entry && (results || text || c->args.out || c->args.n_words > 1))
        return usage("--registry prints the entry of a model: privet report MODEL --registry");
    if (code == EXIT_DONE && !entry) code = check_writable(out);
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
