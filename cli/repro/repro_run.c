/* repro_run.c - one point of a grid: its command, its data, its task, and what the run, plan or computation gives. */
#include "repro.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Settings of the item, the sweep and the line, in this order: later ones win, so earlier ones are defaults. */
static char *settings_of(const item *it, const place *p, const record *r, const char *of_data)
{
    const sweep *s = &it->sweeps[r->sweep];
    const double x = repro_along(it, r) ? repro_longest(s, p->quick) : r->x;
    const char *const parts[] = { of_data, it->common, s->settings, s->lines[r->line].settings };
    char *all;
    size_t len;
    FILE *f = open_memstream(&all, &len);
    if (!f) abort();
    for (int i = 0; i < 4; i++) {
        char *text = repro_expand(parts[i], p->quick, x);
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
    char after[48] = "";
    const int along = repro_along(it, r);
    if (along) snprintf(after, sizeof after, " # after %.10g steps", r->x * along);
    const int len = s->compute ? asprintf(&r->command, "privet reproduce %s%s #%s", it->name, quick, settings)
                               : asprintf(&r->command, "%s%s%s%s%s%s", verb, src.train, settings,
                                          *src.test ? " | test " : "", src.test, after);
    if (len < 0) abort();
    free(settings);
    return code;
}

bool run_trains(const item *it, const record *r)
{
    return !it->plan && !it->sweeps[r->sweep].compute;
}

/* ---- a task or a plan from the command's words ---------------------------------------------------------------- */

/* RESULTS/certificates/NAME-SWEEP-SERIES-X-RUN.json, with dashes for anything that is no letter or digit. */
static char *certificate_path(const item *it, const place *p, const record *r)
{
    const sweep *s = &it->sweeps[r->sweep];
    const double x = repro_along(it, r) ? repro_longest(s, p->quick) : r->x;
    char name[200], *path;
    snprintf(name, sizeof name, "%s-%s-%s-%.6g-%d", it->name, s->name, s->lines[r->line].label, isnan(x) ? 0.0 : x,
             r->run);
    for (char *u = name; *u; u++)
        if (!isalnum((unsigned char)*u) && *u != '.') *u = '-';
    if (asprintf(&path, "%s/certificates/%s.json", p->out, name) < 0) abort();
    return path;
}

static void set_pair(task *t, const place *p, const char *word)
{
    char key[64];
    const char *eq = strchr(word, '=');
    if (!eq || eq - word >= (int)sizeof key) abort(); /* a table is wrong */
    snprintf(key, sizeof key, "%.*s", (int)(eq - word), word);
    char *value = repro_path(p, eq + 1);
    if (strcmp(key, "run.seed") == 0) t->seeded = true, t->seed = strtol(value, NULL, 10);
    else task_set(t, key, value);
    free(value);
}

/* `privet train DATA key=value ... | test DATA # ...` */
task run_task(const item *it, const place *p, const record *r)
{
    task t = { .repeat = r->run, .certificate = certificate_path(it, p, r) };
    char *text = strdup(r->command), *save;
    if (!text) abort();
    strtok_r(text, " ", &save);
    strtok_r(NULL, " ", &save);
    for (char *w; (w = strtok_r(NULL, " ", &save)) != NULL && *w != '#';) {
        if (strchr(w, '=')) {
            set_pair(&t, p, w);
        } else if (strcmp(w, "|") == 0) {
            strtok_r(NULL, " ", &save);
            t.test = repro_path(p, strtok_r(NULL, " ", &save));
        } else {
            char *train = repro_path(p, w);
            task_set(&t, "data.path", train);
            free(train);
        }
    }
    free(text);
    if (repro_along(it, r)) { /* measured while it trains */
        task_set(&t, "run.holdout", t.test ? t.test : task_get(&t, "data.path"));
        free(t.test);
        if (!(t.test = strdup(""))) abort();
    }
    task_identify(&t);
    return t;
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

static double epsilon_of(jv run)
{
    return jv_true(jv_get(run, "private")) || isfinite(jv_num(jv_get(run, "measures/epsilon")))
               ? jv_num(jv_get(run, "measures/epsilon"))
               : (double)INFINITY;
}

static void keep_measures(const item *it, jv run, record *r)
{
    const jv diagnostics = jv_get(run, "diagnostics_not_private"), measures = jv_get(run, "measures");
    r->m[M_EPSILON] = epsilon_of(run);
    r->m[M_OBJECTIVE] = jv_num(jv_get(diagnostics, "objective"));
    r->m[M_GRADIENT] = jv_num(jv_get(diagnostics, "projected_gradient"));
    r->m[M_ACCURACY] = jv_num(jv_get(measures, "accuracy"));
    r->m[M_LOG_LOSS] = jv_num(jv_get(measures, "log_loss"));
    r->m[M_SECONDS] = jv_num(jv_get(measures, "seconds"));
    if (it->curve) keep_curve(diagnostics, jv_num(jv_get(measures, "steps")), it->curve, r);
}

/* ---- all points of a line from its longest run ---------------------------------------------------------------- */

/* Of the iterate after so many steps, or of the returned model where these are all; p NULL: not measured. */
static jv measured_at(jv measures, double step, double steps)
{
    if (step == steps) return measures;
    for (jv_iter it = jv_begin(jv_get(measures, "curve")); jv_next(&it);)
        if (jv_num(jv_get(it.value, "step")) == step) return it.value;
    return (jv) { NULL };
}

/* What so many of the releases cost: those of a run of so many steps, all of one noise. */
static pv_status spent_by(cli *c, jv run, double step, double *epsilon)
{
    char *json, *request, kind[32], relation[32], accountant[64];
    size_t len;
    const jv events = jv_get(run, "events");
    *epsilon = INFINITY;
    if (strcmp(jv_str(jv_get(events, "kind"), kind, sizeof kind), "repeat") != 0) return PV_OK; /* no noise */
    jv_iter one = jv_begin(events); /* its value ends where the iterator stands */
    while (jv_next(&one) && one.value.p != jv_get(events, "event").p) {
    }
    FILE *f = open_memstream(&request, &len);
    if (!f) abort();
    fprintf(f, "{\"relation\": \"%s\", \"accountant\": \"%s\", \"delta\": %.17g, ",
            jv_str(jv_get(run, "relation"), relation, sizeof relation),
            jv_str(jv_get(run, "accountant"), accountant, sizeof accountant),
            jv_num(jv_get(run, "delta")) - jv_num(jv_get(run, "delta_draws")));
    fprintf(f, "\"events\": {\"kind\": \"repeat\", \"times\": %.0f, \"event\": %.*s}}", step,
            (int)(one.at - one.value.p), one.value.p);
    if (fclose(f) != 0) abort();
    const pv_status s = pv_account(c->ctx, request, &json);
    free(request);
    if (s != PV_OK) return s;
    *epsilon = jv_num(jv_get((jv) { json }, "epsilon"));
    pv_string_free(c->ctx, json);
    return PV_OK;
}

static pv_status keep_point(cli *c, const item *it, jv run, record *r)
{
    const double steps = jv_num(jv_get(run, "measures/steps")), step = r->x * repro_along(it, r);
    const jv here = measured_at(jv_get(run, "diagnostics_not_private"), step, steps),
             there = measured_at(jv_get(run, "holdout_not_private"), step, steps);
    r->m[M_OBJECTIVE] = jv_num(jv_get(here, "objective"));
    r->m[M_GRADIENT] = jv_num(jv_get(here, "projected_gradient"));
    r->m[M_ACCURACY] = jv_num(jv_get(there, "accuracy"));
    r->m[M_LOG_LOSS] = jv_num(jv_get(there, "log_loss"));
    r->m[M_EPSILON] = epsilon_of(run);
    if (step == steps) r->m[M_SECONDS] = jv_num(jv_get(run, "measures/seconds")); /* measuring included */
    return step == steps ? PV_OK : spent_by(c, run, step, &r->m[M_EPSILON]);
}

static void nothing_measured(record *r)
{
    for (int i = 0; i < MEASURES; i++) r->m[i] = NAN;
}

int run_take(cli *c, const item *it, record *r, const char *text)
{
    pv_status s = PV_OK;
    nothing_measured(r);
    if (repro_along(it, r)) s = keep_point(c, it, (jv) { text }, r);
    else keep_measures(it, (jv) { text }, r);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

/* ---- without a run ------------------------------------------------------------------------------------------- */

static pv_status ask_plan(cli *c, const item *it, const task *t, record *r)
{
    char *json;
    pv_plan *plan = NULL;
    pv_status s = pv_plan_create(c->ctx, &plan);
    for (int i = 0; s == PV_OK && i < t->n_settings; i++)
        s = pv_plan_set(plan, t->settings[i].key, t->settings[i].value);
    if (s == PV_OK) s = pv_plan_cost(plan, &json);
    if (s == PV_OK) {
        r->m[M_VALUE] = jv_num(jv_get((jv) { json }, it->plan));
        pv_string_free(c->ctx, json);
    }
    pv_plan_free(plan);
    return s;
}

int run_compute(cli *c, const item *it, const place *p, record *r)
{
    nothing_measured(r);
    if (it->sweeps[r->sweep].compute) return it->sweeps[r->sweep].compute(c, strchr(r->command, '#') + 1, r);
    task t = run_task(it, p, r);
    const pv_status s = ask_plan(c, it, &t, r);
    task_free(&t);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

void record_clear(record *r)
{
    free(r->curve_x);
    free(r->curve_y);
    free(r->command);
    *r = (record) { 0 };
}
