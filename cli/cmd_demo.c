/* cmd_demo.c - privet demo: make a table, train on it privately, verify, compare, say what to try next.
 *
 * Each step prints the command that does the same, so that the demo doubles as a first lesson. */
#include "cli.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { ROWS = 20000, HELD_OUT = 5000, SEED = 1 };

typedef struct demo {
    cli *c;
    char train[512], test[512], schema[512], model[512], open[512];
    double accuracy[2], log_loss[2], auc[2]; /* private, not private */
    double epsilon, delta;
    char relation[32], strength[32];
    double patients, stays; /* who trained it; stays of one that count, at most */
} demo;

static void paths(demo *d, const char *folder)
{
    snprintf(d->train, sizeof d->train, "%s/demo_train.csv", folder);
    snprintf(d->test, sizeof d->test, "%s/demo_test.csv", folder);
    snprintf(d->schema, sizeof d->schema, "%s/demo.schema.json", folder);
    snprintf(d->model, sizeof d->model, "%s/model.pvt", folder);
    snprintf(d->open, sizeof d->open, "%s/not-private.pvt", folder);
}

/* What a demo made it may make again; a table or model of somebody else's stays.  Every file of a demo, models
 * included, names the columns of its table near the beginning. */
static int check_folder(const demo *d)
{
    const char *const files[] = { d->train, d->test, d->schema, d->model, d->open };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const int code = check_own(files[i], i < 2 ? "patient,age,sex,admission,ward,days," : "prior_visits",
                                   "name another folder: privet demo FOLDER");
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
}

static pv_status train(demo *d, bool private, char **summary)
{
    pv_plan *plan = NULL;
    pv_result *result = NULL;
    *summary = NULL;
    pv_status s = pv_plan_create(d->c->ctx, &plan);
    if (s == PV_OK) s = pv_plan_set(plan, "data.path", d->train);
    if (s == PV_OK) s = pv_plan_set(plan, "data.schema", d->schema);
    if (s == PV_OK) s = private ? pv_plan_set(plan, "budget.epsilon", "1") : pv_plan_set(plan, "privacy", "off");
    if (s == PV_OK) s = pv_plan_run(plan, &result);
    progress_clear();
    if (s == PV_OK) s = pv_result_save(result, private ? d->model : d->open);
    if (s == PV_OK) s = pv_result_summary(result, summary);
    pv_result_free(result);
    pv_plan_free(plan);
    return s;
}

static pv_status measure(demo *d, bool private)
{
    const int k = private ? 0 : 1;
    pv_model *m = NULL;
    char *json = NULL;
    pv_status s = pv_model_load(d->c->ctx, private ? d->model : d->open, &m);
    if (s == PV_OK) s = pv_model_eval(m, d->test, &json);
    progress_clear();
    if (s == PV_OK) {
        d->accuracy[k] = jv_num(jv_get((jv) { json }, "accuracy"));
        d->log_loss[k] = jv_num(jv_get((jv) { json }, "log_loss"));
        d->auc[k] = jv_num(jv_get((jv) { json }, "auc"));
    }
    pv_string_free(d->c->ctx, json);
    pv_model_free(m);
    return s;
}

static pv_status private_part(demo *d)
{
    char *summary, *verdict, eps[40];
    const bool told = !d->c->args.json;
    if (told)
        printf("\n$ %s train %s --schema %s --epsilon 1 --out %s\n", d->c->program, d->train, d->schema, d->model);
    fflush(stdout);
    pv_status s = train(d, true, &summary);
    if (s != PV_OK) return s;
    d->patients = jv_num(jv_get((jv) { summary }, "persons"));
    d->stays = jv_num(jv_get((jv) { summary }, "rows_per_person"));
    if (told) show_run((jv) { summary });
    pv_string_free(d->c->ctx, summary);
    if (told) printf("\n$ %s verify %s\n", d->c->program, d->model);
    s = pv_verify(d->c->ctx, d->model, &verdict);
    if (s != PV_OK) return s;
    d->epsilon = jv_num(jv_get((jv) { verdict }, "epsilon"));
    d->delta = jv_num(jv_get((jv) { verdict }, "delta"));
    jv_str(jv_get((jv) { verdict }, "relation"), d->relation, sizeof d->relation);
    jv_str(jv_get((jv) { verdict }, "strength"), d->strength, sizeof d->strength);
    if (told)
        row("holds", "%s: the recorded events cost at most epsilon %s, as claimed", d->model,
            cost_text(d->epsilon, eps));
    pv_string_free(d->c->ctx, verdict);
    return PV_OK;
}

static pv_status comparison(demo *d)
{
    char *summary;
    pv_status s = train(d, false, &summary);
    pv_string_free(d->c->ctx, summary);
    if (s == PV_OK) s = measure(d, true);
    if (s == PV_OK) s = measure(d, false);
    return s;
}

static void show_comparison(const demo *d)
{
    char n[40];
    printf("\nPatients come back: the guarantee is for a patient with all of their stays, not for one stay.\n");
    printf("\nOn %s stays of other patients, next to the same fit without noise (privacy=off, NOT PRIVATE):\n",
           with_commas(HELD_OUT, n));
    printf("%-12s %10s %12s\n", "", "epsilon 1", "NOT PRIVATE");
    printf("%-12s %10.4f %12.4f\n", "accuracy", d->accuracy[0], d->accuracy[1]);
    printf("%-12s %10.4f %12.4f\n", "AUC", d->auc[0], d->auc[1]);
    printf("%-12s %10.4f %12.4f\n", "log loss", d->log_loss[0], d->log_loss[1]);
}

static void next(const demo *d, double seconds)
{
    const char *program = d->c->program;
    const int width = (int)strlen(d->schema) + 2; /* the longest */
    printf("\nMade in %.1f s:\n", seconds);
    printf("  %-*s the table\n", width, d->train);
    printf("  %-*s what was declared about it\n", width, d->schema);
    printf("  %-*s the private model with its certificate\n", width, d->model);
    printf("  %-*s the reference, NOT PRIVATE\n", width, d->open);
    printf("\nTry next:\n");
    printf("  %s eval %s %s\n", program, d->model, d->test);
    printf("  %s predict %s %s --out scores.csv\n", program, d->model, d->test);
    printf("  %s plan %s --schema %s --epsilon 0.1\n", program, d->train, d->schema);
    printf("  %s list optimizer\n", program);
}

static void figures_of(const char *key, const demo *d, int k)
{
    printf("  \"%s\": {", key);
    json_number("accuracy", d->accuracy[k]), printf(", ");
    json_number("auc", d->auc[k]), printf(", ");
    json_number("log_loss", d->log_loss[k]), printf("},\n");
}

static void as_json(const demo *d, const char *folder, double seconds)
{
    const char *const files[][2] = {
        { "folder", folder },    { "train", d->train }, { "test", d->test },
        { "schema", d->schema }, { "model", d->model }, { "model_not_private", d->open }
    };
    puts("{");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        printf("  "), json_text(files[i][0], files[i][1]), puts(",");
    printf("  \"rows\": %d,\n  \"heldout_rows\": %d,\n  \"verified\": true,\n  ", ROWS, HELD_OUT);
    json_number("patients", d->patients), printf(",\n  ");
    json_number("stays_per_patient", d->stays), printf(",\n  ");
    json_number("epsilon", d->epsilon), printf(",\n  ");
    json_number("delta", d->delta), printf(",\n  ");
    json_text("relation", d->relation), printf(",\n  ");
    json_text("strength", d->strength), puts(",");
    figures_of("private", d, 0);
    figures_of("not_private", d, 1);
    printf("  "), json_number("seconds", seconds), puts("\n}");
}

int cmd_demo(cli *c)
{
    const char *folder = c->args.n_words ? c->args.words[0] : "privet-demo";
    struct timespec begin, end;
    demo d = { .c = c };
    char n1[40], n2[40];

    if (strlen(folder) > 400) return usage("the name of the folder is too long");
    clock_gettime(CLOCK_MONOTONIC, &begin);
    paths(&d, folder);
    const int code = check_folder(&d);
    if (code != EXIT_DONE) return code;
    pv_status s = pv_demo_data(c->ctx, folder, SEED, ROWS, HELD_OUT);
    if (s != PV_OK) return fail(c, s);
    if (!c->args.json)
        printf("A table of %s made-up hospital stays in %s, several of some patients, and %s stays of others to test "
               "on:\nwho comes back within 30 days?\n",
               with_commas(ROWS, n1), folder, with_commas(HELD_OUT, n2));
    s = private_part(&d);
    if (s == PV_OK) s = comparison(&d);
    if (s != PV_OK) return fail(c, s);
    clock_gettime(CLOCK_MONOTONIC, &end);
    signals_phase(PHASE_QUIET);
    const double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    if (c->args.json) {
        as_json(&d, folder, seconds);
        return EXIT_DONE;
    }
    show_comparison(&d);
    next(&d, seconds);
    return EXIT_DONE;
}
