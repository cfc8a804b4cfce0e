/* repro_run.c - one point of a grid: its command, its data, and what the run, plan or computation gives. */
#include "repro.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

double repro_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* neighbours on the machine do not count */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double repro_training_began, repro_training_ended;

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

static pv_status keep_summary(cli *c, const item *it, const pv_result *result, record *r)
{
    char *json;
    const pv_status s = pv_result_summary(result, &json);
    if (s != PV_OK) return s;
    const jv diagnostics = jv_get((jv) { json }, "diagnostics_not_private");
    r->m[M_EPSILON] = jv_num(jv_get((jv) { json }, "epsilon"));
    r->m[M_OBJECTIVE] = jv_num(jv_get(diagnostics, "objective"));
    r->m[M_GRADIENT] = jv_num(jv_get(diagnostics, "projected_gradient"));
    if (it->curve) keep_curve(diagnostics, jv_num(jv_get((jv) { json }, "steps")), it->curve, r);
    pv_string_free(c->ctx, json);
    return PV_OK;
}

static pv_status keep_metrics(cli *c, const char *model, const char *test, record *r)
{
    char *json = NULL;
    pv_model *m = NULL;
    pv_status s = pv_model_load(c->ctx, model, &m);
    if (s == PV_OK) s = pv_model_eval(m, test, &json);
    if (s == PV_OK) {
        r->m[M_ACCURACY] = jv_num(jv_get((jv) { json }, "accuracy"));
        r->m[M_LOG_LOSS] = jv_num(jv_get((jv) { json }, "log_loss"));
        pv_string_free(c->ctx, json);
    }
    pv_model_free(m);
    return s;
}

/* RESULTS/certificates/NAME-SWEEP-SERIES-X-RUN.json, with dashes for anything that is no letter or digit. */
static pv_status keep_certificate(cli *c, const item *it, const place *p, const pv_result *result, const record *r)
{
    const sweep *s = &it->sweeps[r->sweep];
    const char *json;
    char name[200], path[4400];
    snprintf(name, sizeof name, "%s-%s-%s-%.6g-%d", it->name, s->name, s->lines[r->line].label,
             isnan(r->x) ? 0.0 : r->x, r->run);
    for (char *u = name; *u; u++)
        if (!isalnum((unsigned char)*u) && *u != '.') *u = '-';
    snprintf(path, sizeof path, "%s/certificates/%s.json", p->out, name);
    const pv_status st = pv_result_certificate(result, &json);
    return st == PV_OK ? pv_file_write(c->ctx, path, json, strlen(json)) : st;
}

static pv_status train(cli *c, const item *it, const place *p, pv_plan *plan, const char *test, record *r)
{
    char model[4200];
    pv_result *result = NULL;
    snprintf(model, sizeof model, "%s/.model.pvt", p->out);
    repro_training_began = repro_training_ended = repro_clock();
    pv_status s = pv_plan_run(plan, &result);
    r->m[M_SECONDS] = repro_training_ended - repro_training_began;
    if (s == PV_OK) s = keep_summary(c, it, result, r);
    if (s == PV_OK) s = keep_certificate(c, it, p, result, r);
    if (s == PV_OK) s = pv_result_save(result, model);
    if (s == PV_OK) s = keep_metrics(c, model, test, r);
    unlink(model);
    pv_result_free(result);
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
