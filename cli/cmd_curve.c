/* cmd_curve.c - privet curve: delta at every epsilon, the errors of every test, and a drawing of both; or what passes
 * of block coordinate descent cost, one after the other. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eight of the points, for people; --json has them all. */
static void show(jv v)
{
    char relation[32], eps[40];
    enum { SHOWN = 8 };
    double e[256], d[256];
    int n = 0;
    jv_iter x = jv_begin(jv_get(v, "epsilon")), y = jv_begin(jv_get(v, "delta"));
    for (; n < 256 && jv_next(&x) && jv_next(&y); n++) e[n] = jv_num(x.value), d[n] = jv_num(y.value);
    row("relation", "%s", jv_str(jv_get(v, "relation"), relation, sizeof relation));
    row("epsilon", "delta, at most");
    for (int i = 0; i <= SHOWN && n > 1; i++) {
        const int k = i * (n - 1) / SHOWN;
        char label[40];
        snprintf(label, sizeof label, "%.6g", e[k]);
        row(label, "%s", cost_text(d[k], eps));
    }
    row("mu", "%.6g fits: the smallest Gaussian curve above these points", jv_num(jv_get(v, "mu")));
}

/* Eight of the passes: composition, and in brackets the last iterate alone. */
static void show_epochs(jv v)
{
    enum { SHOWN = 8 };
    const int n = (int)jv_num(jv_get(v, "epochs"));
    char name[80], label[40];
    for (jv_iter it = jv_begin(jv_get(v, "schedules")); jv_next(&it);) {
        row("noise", "%s", jv_str(jv_get(it.value, "noise"), name, sizeof name));
        row("epochs", "epsilon of all that is released (of the last weights alone, under assumptions: never more)");
        jv_iter x = jv_begin(jv_get(it.value, "composition")), y = jv_begin(jv_get(it.value, "hidden_state"));
        for (int k = 1; jv_next(&x) && jv_next(&y); k++) {
            if (n > SHOWN && k * SHOWN / n == (k - 1) * SHOWN / n && k > 1) continue;
            snprintf(label, sizeof label, "%d", k);
            row(label, "%.6g (%.6g)", jv_num(x.value), jv_num(y.value));
        }
    }
    row("delta", "%g", jv_num(jv_get(v, "delta")));
}

static int draw(cli *c, char *svg, const char *path)
{
    const pv_status s = pv_file_write(c->ctx, path, svg, strlen(svg));
    free(svg);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

int cmd_curve(cli *c)
{
    const char *path = setting_value(c, "svg");
    const bool passes = c->args.n_words && strcmp(c->args.words[0], "sbcd") == 0;
    char *json, *request = make_request(c, NULL);
    const pv_status s = passes ? pv_epochs(c->ctx, request, &json) : pv_curve(c->ctx, request, &json);
    free(request);
    if (s != PV_OK) return fail(c, s);
    const int code = path ? draw(c, passes ? epochs_svg((jv) { json }) : curve_svg((jv) { json }), path) : EXIT_DONE;
    if (code == EXIT_DONE) {
        if (c->args.json) print_json(json);
        else (passes ? show_epochs : show)((jv) { json });
        if (path && !c->args.json) row("drawing", "%s", path);
    }
    pv_string_free(c->ctx, json);
    return code;
}
