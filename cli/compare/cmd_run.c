/* cmd_run.c - privet run: one run of a comparison, in a process of its own.
 *
 * Called by `privet compare` only.  What it leaves is one record, written at once; before training begins it leaves a
 * mark, RECORD.started, which counts the attempts: one that ends early has spent its budget all the same.
 * A run that is refused says why on stderr, in one line, and ends with the code of the refusal. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct attempt {
    cli own; /* with a context of its own: the mark is written in the middle of a call */
    const char *record, *key;
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
    if (record_read(&a->own, path, NULL, NULL, &before))
        a->number = 1 + (int)jv_num(jv_get((jv) { before }, "attempts"));
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

/* The tree of events as it stands in the certificate. */
static void put_events(FILE *f, jv certificate)
{
    const jv events = jv_get(certificate, "events");
    jv_iter it = jv_begin(certificate);
    while (jv_next(&it) && it.value.p != events.p) {
    }
    fprintf(f, "%.*s", (int)(it.at - events.p), events.p);
}

static pv_status write_record(attempt *a, const outcome *o)
{
    const jv summary = { o->summary }, metrics = { o->metrics }, certificate = { o->certificate };
    char *text, relation[32];
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fputs("{\n\"format\": \"privet-run\",\n", f);
    put_key(f, a->key);
    fprintf(f, ",\n\"attempts\": %d,\n\"private\": %s,\n\"training_rows\": %s,\n", a->number,
            jv_true(jv_get(certificate, "private")) ? "true" : "false",
            jv_true(jv_get(metrics, "training_rows")) ? "true" : "false");
    put_number(f, "rows", jv_num(jv_get(metrics, "rows")), true);
    fputs(",\n\"measures\": {", f);
    for (int k = 0; k < MEASURES; k++) {
        const char *key = measures[k].key;
        const bool time = strcmp(key, "seconds") == 0;
        put_number(f, key, time ? o->seconds : jv_num(jv_get(k < QUALITIES ? metrics : summary, key)), k == 0);
    }
    fputs("},\n", f);
    put_number(f, "delta", jv_num(jv_get(certificate, "delta")), true);
    put_number(f, "delta_draws", jv_num(jv_get(certificate, "delta_draws")), false);
    fprintf(f, ",\n\"relation\": \"%s\",\n\"events\": ",
            jv_str(jv_get(certificate, "relation"), relation, sizeof relation));
    put_events(f, certificate);
    fputs("\n}\n", f);
    return write_out(&a->own, a->record, f, &text);
}

/* OUT/runs/NAME.json has its certificate in OUT/certificates/NAME.json. */
static pv_status write_certificate(cli *c, const char *record, const char *certificate)
{
    char *path;
    const char *name = strrchr(record, '/') + 1;
    if (asprintf(&path, "%.*scertificates/%s", (int)(name - record) - 5, record, name) < 0) abort();
    const pv_status s = pv_file_write(c->ctx, path, certificate, strlen(certificate));
    free(path);
    return s;
}

int cmd_run(cli *c)
{
    attempt a = { .record = c->args.words[0], .key = c->args.words[1], .number = 1 };
    const char *test = c->args.words[2], *slash = strrchr(a.record, '/');
    outcome o = { 0 };
    pv_plan *plan = NULL;
    if (!slash || slash - a.record < 5 || strlen(slash) < 6) return usage("run is for privet compare");
    if (pv_ctx_create(NULL, &a.own.ctx) != PV_OK) return complain(EXIT_INTERNAL, "out of memory");
    char *model = beside(a.record, ".pvt"), *started = beside(a.record, ".started");
    int code = make_plan(c, NULL, &plan);
    pv_ctx_on_progress(c->ctx, on_progress, &a);
    if (code == EXIT_DONE) {
        pv_status s = run_measured(c, plan, test, model, &o);
        if (s == PV_OK) s = write_certificate(c, a.record, o.certificate);
        if (s == PV_OK) s = write_record(&a, &o);
        if (s == PV_OK) unlink(started);
        else code = *pv_ctx_errmsg(c->ctx) ? fail(c, s) : fail(&a.own, s);
    }
    outcome_free(c, &o);
    pv_plan_free(plan);
    pv_ctx_free(a.own.ctx);
    free(model);
    free(started);
    return code;
}
