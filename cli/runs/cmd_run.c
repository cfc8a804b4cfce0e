/* cmd_run.c - privet run: one run of a comparison or a reproduction, in a process of its own.
 *
 * Called by `privet compare` and `privet reproduce` only.  What it leaves is one record, written at once; before
 * training begins it leaves a mark, RECORD.started, which counts the attempts: one that ends early has spent its
 * budget all the same.
 * A run that is refused says why on stderr, in one line, and ends with the code of the refusal. */
#include "runs/runs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct attempt {
    cli own; /* with a context of its own: the mark is written in the middle of a call */
    const char *record, *certificate, *key;
    int number; /* this one included */
    bool bad;   /* the mark could not be written */
} attempt;

static char *beside(const char *record, const char *ending)
{
    char *path;
    if (asprintf(&path, "%.*s%s", (int)(strlen(record) - 5), record, ending) < 0) abort(); /* without .json */
    return path;
}

static void put_key(FILE *f, const char *key)
{
    fputs("\"key\": \"", f);
    for (; *key; key++) {
        if (*key == '"' || *key == '\\') fputc('\\', f);
        fputc(run_key_char(*key), f);
    }
    fputc('"', f);
}

static pv_status write_out(cli *c, const char *path, FILE *f, char **text)
{
    if (fclose(f) != 0) abort();
    const pv_status s = pv_file_write(c->ctx, path, *text, strlen(*text));
    free(*text);
    return s;
}

static void mark(attempt *a)
{
    char *text, *path = beside(a->record, ".started"), *before;
    size_t len;
    if (record_read(&a->own, path, NULL, &before)) a->number = 1 + (int)jv_num(jv_get((jv) { before }, "attempts"));
    free(before);
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fputs("{\"format\": \"privet-run\", ", f);
    put_key(f, a->key);
    fprintf(f, ", \"attempts\": %d}\n", a->number);
    a->bad = write_out(&a->own, path, f, &text) != PV_OK;
    free(path);
}

static bool on_progress(void *user, const char *what, double done, double total, double epsilon)
{
    attempt *a = user;
    (void)done, (void)total, (void)epsilon;
    if (runner_progress(what)) mark(a);
    return !a->bad;
}

static void put_number(FILE *f, const char *key, double x, bool first)
{
    fprintf(f, "%s\"%s\": ", first ? "" : ", ", key);
    if (isfinite(x)) fprintf(f, "%.15g", x);
    else fputs("null", f);
}

/* A value as it stands in an object; nothing where there is none. */
static void put_value(FILE *f, const char *before, jv object, const char *key)
{
    const jv v = jv_get(object, key);
    jv_iter it = jv_begin(object);
    while (v.p && jv_next(&it) && it.value.p != v.p) {
    }
    if (v.p) fprintf(f, "%s\"%s\": %.*s", before, key, (int)(it.at - v.p), v.p);
}

static void put_measures(FILE *f, const outcome *o)
{
    static const char *const metrics[] = { "accuracy", "auc", "log_loss", "rmse", "mae", "r2" }, *const costs[] = {
        "epsilon", "noise_multiplier", "steps"
    };
    for (int k = 0; k < 6; k++) put_number(f, metrics[k], jv_num(jv_get((jv) { o->metrics }, metrics[k])), k == 0);
    put_number(f, "seconds", o->seconds, false);
    for (int k = 0; k < 3; k++) put_number(f, costs[k], jv_num(jv_get((jv) { o->summary }, costs[k])), false);
}

static pv_status write_record(attempt *a, const outcome *o)
{
    const jv summary = { o->summary }, metrics = { o->metrics }, certificate = { o->certificate };
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fputs("{\n\"format\": \"privet-run\",\n", f);
    put_key(f, a->key);
    fprintf(f, ",\n\"attempts\": %d,\n\"private\": %s,\n\"training_rows\": %s,\n", a->number,
            jv_true(jv_get(certificate, "private")) ? "true" : "false",
            jv_true(jv_get(metrics, "training_rows")) ? "true" : "false");
    put_number(f, "rows", jv_num(jv_get(metrics, "rows")), true);
    put_number(f, "weights", jv_num(jv_get(certificate, "weights")), false);
    fputs(",\n\"measures\": {", f);
    put_measures(f, o);
    fputs("},\n", f);
    put_number(f, "delta", jv_num(jv_get(certificate, "delta")), true);
    put_number(f, "delta_draws", jv_num(jv_get(certificate, "delta_draws")), false);
    fprintf(f, ", \"unit\": \"%s\"", jv_get(certificate, "unit").p ? "person" : "row");
    put_number(f, "draws_epsilon", jv_num(jv_get(summary, "draws_epsilon")), false);
    put_value(f, ",\n", certificate, "relation");
    put_value(f, ", ", certificate, "accountant");
    put_value(f, ",\n", certificate, "events");
    put_value(f, ",\n", certificate, "events_replace"); /* null: those are for replace, or there are none */
    put_value(f, ",\n", summary, "diagnostics_not_private");
    put_value(f, ",\n", summary, "holdout_not_private");
    fputs("\n}\n", f);
    return write_out(&a->own, a->record, f, &text);
}

int cmd_run(cli *c)
{
    const char *const *words = c->args.words, *test = words[3], *slash = strrchr(words[0], '/');
    attempt a = { .record = words[0], .certificate = words[1], .key = words[2], .number = 1 };
    outcome o = { 0 };
    pv_plan *plan = NULL;
    if (!slash || strlen(slash) < 6) return usage("run is for privet compare and privet reproduce");
    if (pv_ctx_create(NULL, &a.own.ctx) != PV_OK) return complain(EXIT_INTERNAL, "out of memory");
    char *started = beside(a.record, ".started");
    int code = make_plan(c, NULL, &plan);
    pv_ctx_on_progress(c->ctx, on_progress, &a);
    if (code == EXIT_DONE) {
        pv_status s = run_measured(plan, test, &o);
        if (s == PV_OK) s = pv_file_write(c->ctx, a.certificate, o.certificate, strlen(o.certificate));
        if (s == PV_OK) s = write_record(&a, &o);
        if (s == PV_OK) unlink(started);
        else code = *pv_ctx_errmsg(c->ctx) ? fail(c, s) : fail(&a.own, s);
    }
    outcome_free(c, &o);
    pv_plan_free(plan);
    pv_ctx_free(a.own.ctx);
    free(started);
    return code;
}
