/* repro_run.c - one point of a grid: its command, its data, and what the run, plan or computation gives. */
#include "repro.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Settings of the item, the sweep and the line, in this order: later ones win, so earlier ones are defaults. */
static char *settings_of(const item *it, const place *p, const record *r, const char *of_data)
{
    const sweep *s = &it->sweeps[r->sweep];
    const char *const parts[] = { of_data, it->common, s->settings, s->lines[r->line].settings };
    char *all;
    size_t len;
    FILE *f = open_memstream(&all, &len);
    if (!f) abort();
    for (int i = 0; i < 4; i++) {
        char *text = repro_expand(parts[i], p->quick, r->x);
        if (*text) fprintf(f, " %s", text);
        free(text);
    }
    if (p->seed && !s->compute && !it->plan) fprintf(f, " run.seed=%ld", p->seed + r->run - 1);
    if (fclose(f) != 0) abort();
    return all;
}

int run_prepare(cli *c, const item *it, const place *p, record *r)
{
    source src = { "", "", "" };
    const sweep *s = &it->sweeps[r->sweep];
    const char *data = item_data(it, s, &s->lines[r->line], p->quick);
    const int code = data ? data_open(c, p, data, &src) : EXIT_DONE;
    char *settings = settings_of(it, p, r, src.settings);
    const char *verb = it->plan ? "privet plan" : "privet train ", *quick = p->quick ? " --quick" : "";
    const int len = s->compute ? asprintf(&r->command, "privet reproduce %s%s #%s", it->name, quick, settings)
                               : asprintf(&r->command, "%s%s%s%s%s", verb, src.train, settings,
                                          *src.test ? " | test " : "", src.test);
    if (len < 0) abort();
    free(settings);
    return code;
}

/* ---- a plan from the command's words ------------------------------------------------------------------------ */

static pv_status set_pair(const place *p, pv_plan *plan, const char *word)
{
    char key[64];
    const char *eq = strchr(word, '=');
    if (!eq || eq - word >= (int)sizeof key) abort(); /* a table is wrong */
    snprintf(key, sizeof key, "%.*s", (int)(eq - word), word);
    char *value = repro_path(p, eq + 1);
    const pv_status s = pv_plan_set(plan, key, value);
    free(value);
    return s;
}

/* `privet train DATA key=value ... | test DATA`: the plan, and the rows to test on (none: those to train on). */
static pv_status plan_of(cli *c, const item *it, const place *p, const char *words, pv_plan **plan, char **test)
{
    char *text = strdup(words), *save, *train = NULL;
    *test = NULL;
    if (!text) abort();
    pv_status s = pv_plan_create(c->ctx, plan);
    strtok_r(text, " ", &save);
    strtok_r(NULL, " ", &save);
    for (char *w; s == PV_OK && (w = strtok_r(NULL, " ", &save)) != NULL;) {
        if (strcmp(w, "|") == 0) {
            strtok_r(NULL, " ", &save);
            *test = repro_path(p, strtok_r(NULL, " ", &save));
        } else if (!it->plan && !train) {
            train = repro_path(p, w);
            s = pv_plan_set(*plan, "data.path", train);
        } else {
            s = set_pair(p, *plan, w);
        }
    }
    if (*test) free(train);
    else *test = train;
    free(text);
    return s;
}

/* ---- measuring ---------------------------------------------------------------------------------------------- */

static void add_to_curve(record *r, double x, double y)
{
    r->curve_x = realloc(r->curve_x, sizeof(double) * (size_t)(r->n_curve + 1));
    r->curve_y = realloc(r->curve_y, sizeof(double) * (size_t)(r->n_curve + 1));
    if (!r->curve_x || !r->curve_y) abort();
    r->curve_x[r->n_curve] = x;
    r->curve_y[r->n_curve++] = y;
}

/* Iterates along the run, and at its end the model that is returned: an average or a choice of them. */
static void keep_curve(jv diagnostics, double steps, const char *key, record *r)
{
    for (jv_iter it = jv_begin(jv_get(diagnostics, "curve")); jv_next(&it);)
        add_to_curve(r, jv_num(jv_get(it.value, "step")), jv_num(jv_get(it.value, key)));
    add_to_curve(r, steps, jv_num(jv_get(diagnostics, key)));
}

static void keep_measures(const item *it, const outcome *o, record *r)
{
    const jv result = { o->summary }, metrics = { o->metrics };
    const jv diagnostics = jv_get(result, "diagnostics_not_private");
    r->m[M_EPSILON] = jv_num(jv_get(result, "epsilon"));
    r->m[M_OBJECTIVE] = jv_num(jv_get(diagnostics, "objective"));
    r->m[M_GRADIENT] = jv_num(jv_get(diagnostics, "projected_gradient"));
    r->m[M_ACCURACY] = jv_num(jv_get(metrics, "accuracy"));
    r->m[M_LOG_LOSS] = jv_num(jv_get(metrics, "log_loss"));
    r->m[M_SECONDS] = o->seconds;
    if (it->curve) keep_curve(diagnostics, jv_num(jv_get(result, "steps")), it->curve, r);
}

/* RESULTS/certificates/NAME-SWEEP-SERIES-X-RUN.json, with dashes for anything that is no letter or digit. */
static pv_status keep_certificate(cli *c, const item *it, const place *p, const char *json, const record *r)
{
    const sweep *s = &it->sweeps[r->sweep];
    char name[200], path[4400];
    snprintf(name, sizeof name, "%s-%s-%s-%.6g-%d", it->name, s->name, s->lines[r->line].label,
             isnan(r->x) ? 0.0 : r->x, r->run);
    for (char *u = name; *u; u++)
        if (!isalnum((unsigned char)*u) && *u != '.') *u = '-';
    snprintf(path, sizeof path, "%s/certificates/%s.json", p->out, name);
    return pv_file_write(c->ctx, path, json, strlen(json));
}

static pv_status train(cli *c, const item *it, const place *p, pv_plan *plan, const char *test, record *r)
{
    char model[4200];
    outcome o;
    snprintf(model, sizeof model, "%s/.model.pvt", p->out);
    pv_status s = run_measured(c, plan, test, model, &o);
    if (s == PV_OK) keep_measures(it, &o, r);
    if (s == PV_OK) s = keep_certificate(c, it, p, o.certificate, r);
    outcome_free(c, &o);
    return s;
}

static pv_status ask_plan(cli *c, const item *it, pv_plan *plan, record *r)
{
    char *json;
    const pv_status s = pv_plan_cost(plan, &json);
    if (s != PV_OK) return s;
    r->m[M_VALUE] = jv_num(jv_get((jv) { json }, it->plan));
    pv_string_free(c->ctx, json);
    return PV_OK;
}

int run_once(cli *c, const item *it, const place *p, record *r)
{
    pv_plan *plan = NULL;
    char *test = NULL;
    for (int i = 0; i < MEASURES; i++) r->m[i] = NAN;
    if (it->sweeps[r->sweep].compute) return it->sweeps[r->sweep].compute(c, strchr(r->command, '#') + 1, r);
    pv_status s = plan_of(c, it, p, r->command, &plan, &test);
    if (s == PV_OK) s = it->plan ? ask_plan(c, it, plan, r) : train(c, it, p, plan, test, r);
    pv_plan_free(plan);
    free(test);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}
