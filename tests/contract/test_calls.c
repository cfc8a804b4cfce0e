/* test_calls.c - every public call with every pointer NULL in turn, and with a bad value: status, message, what
 * is left in `out`; that a message is of the last call; freed handles and the order of freeing; the version. */
#include "aborttest.h"
#include "alloctest.h"

static pv_ctx *ctx;
static pv_plan *plan;
static pv_result *result;
static pv_model *model;
static pv_data *rows; /* the file once more */
static char folder[] = "/tmp/privet_calls_XXXXXX", table[64], schema[64], file[64], scores[64];
static const char account_request[] = "{\"mechanism\": \"gaussian\", \"z\": 2, \"delta\": 1e-5}";
static const char calibrate_request[] = "{\"mechanism\": \"gaussian\", \"epsilon\": 1, \"delta\": 1e-5}";
static const char curve_request[] = "{\"mechanism\": \"gaussian\", \"z\": 2}";
static const char epochs_request[] =
    "{\"noise\": \"constant\", \"z\": 5, \"batches\": 5, \"epochs\": 5, \"step\": 0.01, "
    "\"smooth\": 50, \"delta\": 1e-5}";

/* What a call is given; bit k of `null`: its k-th pointer is NULL.  Bit 0 is the handle. */
#define P(k, x)  (null & 1u << (k) ? NULL : (x))
#define NOT_NULL ((void *)file)

static char *json;
static const char *text;
static double number;
static int64_t count;
static void *handle; /* handed out */

static pv_status call_ctx_create(unsigned null, bool bad)
{
    static const pv_alloc no_put = { .get = (void *(*)(void *, size_t))(uintptr_t)1 };
    pv_ctx *c = NOT_NULL;
    const pv_status s = pv_ctx_create(bad ? &no_put : NULL, P(1, &c));
    if (s == PV_OK) pv_ctx_free(c);
    handle = s == PV_OK ? NULL : null & 2 ? NULL : c;
    return s;
}

static pv_status call_file_write(unsigned null, bool bad)
{
    return pv_file_write(P(0, ctx), bad ? "/nonexistent/x" : P(1, scores), P(2, "x"), 1);
}

static pv_status call_plan_create(unsigned null, bool bad)
{
    (void)bad;
    pv_plan *p = NOT_NULL;
    const pv_status s = pv_plan_create(P(0, ctx), P(1, &p));
    if (s == PV_OK) pv_plan_free(p);
    handle = s == PV_OK ? NULL : null & 2 ? NULL : p;
    return s;
}

static pv_status call_plan_set(unsigned null, bool bad)
{
    return pv_plan_set(P(0, plan), P(1, bad ? "no.such" : "run.threads"), P(2, "2"));
}

static pv_status call_plan_load(unsigned null, bool bad)
{
    return pv_plan_load(P(0, plan), P(1, bad ? "[]" : "{}"), 2, P(2, "settings"));
}

static pv_status call_plan_dump(unsigned null, bool bad)
{
    (void)bad;
    return pv_plan_dump(P(0, plan), P(1, &json));
}

/* A setting that no plan survives, and away again. */
static void spoil(pv_plan *p, bool bad)
{
    if (p && bad) PVT_OK(pv_plan_set(p, "sampler.batch", "1e9"));
}

static void mend(pv_plan *p, bool bad)
{
    static char kept[256];
    if (!p || !bad) return;
    snprintf(kept, sizeof kept, "%s", pv_ctx_errmsg(ctx)); /* setting clears the message: say it again */
    PVT_OK(pv_plan_set(p, "sampler.batch", "auto"));
    PVT_TRUE(pv_ctx_errmsg(ctx)[0] == '\0');
    PVT_TRUE(kept[0] != '\0');
}

static pv_status call_plan_cost(unsigned null, bool bad)
{
    spoil(plan, bad);
    const pv_status s = pv_plan_cost(P(0, plan), P(1, &json));
    mend(plan, bad);
    return s;
}

static pv_status call_plan_epsilon(unsigned null, bool bad)
{
    return pv_plan_epsilon(P(0, plan), bad ? 1.5 : 1e-5, P(1, &number));
}

static pv_status call_plan_run(unsigned null, bool bad)
{
    pv_result *r = NOT_NULL;
    spoil(plan, bad);
    const pv_status s = pv_plan_run(P(0, plan), P(1, &r));
    mend(plan, bad);
    if (s == PV_OK) pv_result_free(r);
    handle = s == PV_OK ? NULL : null & 2 ? NULL : r;
    return s;
}

static pv_status call_result_weights(unsigned null, bool bad)
{
    double w[64];
    (void)bad;
    return pv_result_weights(P(0, result), P(1, w), 64, P(2, &count));
}

static pv_status call_result_certificate(unsigned null, bool bad)
{
    (void)bad;
    return pv_result_certificate(P(0, result), P(1, &text));
}

static pv_status call_result_summary(unsigned null, bool bad)
{
    (void)bad;
    return pv_result_summary(P(0, result), P(1, &json));
}

static pv_status call_result_save(unsigned null, bool bad)
{
    return pv_result_save(P(0, result), P(1, bad ? "/nonexistent/x" : file));
}

static pv_status call_smooth(unsigned null, bool bad)
{
    double v[4] = { 1, 2, 3, 4 };
    return pv_smooth(P(0, ctx), bad ? -1.0 : 1.0, P(1, v), 4);
}

static pv_status call_schema_draft(unsigned null, bool bad)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, bad ? "none.csv" : "demo_train.csv");
    return pv_schema_draft(P(0, ctx), P(1, path), NULL, false, P(2, &json));
}

static pv_status call_schema_check(unsigned null, bool bad)
{
    char declared[600], path[600];
    snprintf(declared, sizeof declared, "%s/demo.schema.json", folder);
    snprintf(path, sizeof path, "%s/%s", folder, bad ? "none.csv" : "demo_train.csv");
    return pv_schema_check(P(0, ctx), P(1, declared), P(2, path), P(3, &json));
}

static pv_status call_schema_canonical(unsigned null, bool bad)
{
    static const char good[] = "{\"columns\": [{\"name\": \"x\", \"type\": \"number\", \"min\": 0, \"max\": 1}]}";
    return pv_schema_canonical(P(0, ctx), P(1, bad ? "{}" : good), P(2, &json));
}

static pv_status call_demo_data(unsigned null, bool bad)
{
    return pv_demo_data(P(0, ctx), P(1, folder), 1, bad ? -1 : 300, 20);
}

static pv_status call_synth_data(unsigned null, bool bad)
{
    return pv_synth_data(P(0, ctx), P(1, folder), 1, bad ? -1 : 20, 20);
}

static pv_status call_model_load(unsigned null, bool bad)
{
    pv_model *m = NOT_NULL;
    const pv_status s = pv_model_load(P(0, ctx), P(1, bad ? table : file), P(2, &m));
    if (s == PV_OK) pv_model_free(m);
    handle = s == PV_OK ? NULL : null & 4 ? NULL : m;
    return s;
}

static pv_status call_model_certificate(unsigned null, bool bad)
{
    (void)bad;
    return pv_model_certificate(P(0, model), P(1, &text));
}

static pv_status call_model_schema(unsigned null, bool bad)
{
    (void)bad;
    return pv_model_schema(P(0, model), P(1, &text));
}

static pv_status call_model_settings(unsigned null, bool bad)
{
    (void)bad;
    return pv_model_settings(P(0, model), P(1, &text));
}

static pv_status call_model_weights(unsigned null, bool bad)
{
    double w[64];
    (void)bad;
    return pv_model_weights(P(0, model), P(1, w), 64, P(2, &count));
}

static pv_status call_model_to_bytes(unsigned null, bool bad)
{
    size_t size = 1;
    char *const before = (char *)&size, *bytes = before;
    (void)bad;
    const pv_status s = pv_model_to_bytes(P(0, model), P(1, &bytes), P(2, &size));
    PVT_TRUE(null & 4 || (size > 0) == (s == PV_OK));
    PVT_TRUE(null & 2 || (bytes != NULL) == (s == PV_OK));
    if (bytes != before) pv_string_free(ctx, bytes);
    return s;
}

static pv_status call_model_of_bytes(unsigned null, bool bad)
{
    char *bytes;
    size_t size;
    pv_model *m = NOT_NULL;
    PVT_OK(pv_model_to_bytes(model, &bytes, &size));
    const pv_status s = pv_model_of_bytes(P(0, ctx), P(1, bytes), bad ? size - 1 : size, P(2, "bytes"), P(3, &m));
    if (s == PV_OK) pv_model_free(m);
    handle = s == PV_OK ? NULL : null & 8 ? NULL : m;
    pv_string_free(ctx, bytes);
    return s;
}

static pv_status call_verify_bytes(unsigned null, bool bad)
{
    char *bytes;
    size_t size;
    PVT_OK(pv_model_to_bytes(model, &bytes, &size));
    const pv_status s = pv_verify_bytes(P(0, ctx), P(1, bytes), bad ? size - 1 : size, P(2, "bytes"), &json);
    pv_string_free(ctx, bytes);
    return s;
}

static pv_status call_model_set(unsigned null, bool bad)
{
    return pv_model_set(P(0, model), P(1, bad ? "optimizer" : "data.key_path"), P(2, "none"));
}

static pv_status call_model_predict(unsigned null, bool bad)
{
    return pv_model_predict(P(0, model), P(1, bad ? "/nonexistent/x" : table), P(2, scores));
}

static pv_status call_model_eval(unsigned null, bool bad)
{
    return pv_model_eval(P(0, model), P(1, bad ? "/nonexistent/x" : table), P(2, &json));
}

static pv_status call_model_export(unsigned null, bool bad)
{
    return pv_model_export(P(0, model), P(1, bad ? "paper" : "npz"), P(2, scores));
}

static pv_status call_verify(unsigned null, bool bad)
{
    return pv_verify(P(0, ctx), P(1, bad ? "/nonexistent/x" : file), &json);
}

static pv_status call_list(unsigned null, bool bad)
{
    return pv_list(P(0, ctx), bad ? "no such thing" : NULL, P(1, &json));
}

static pv_status call_account(unsigned null, bool bad)
{
    return pv_account(P(0, ctx), P(1, bad ? "{" : account_request), P(2, &json));
}

static pv_status call_calibrate(unsigned null, bool bad)
{
    return pv_calibrate(P(0, ctx), P(1, bad ? "{" : calibrate_request), P(2, &json));
}

static pv_status call_curve(unsigned null, bool bad)
{
    return pv_curve(P(0, ctx), P(1, bad ? "{" : curve_request), P(2, &json));
}

static pv_status call_epochs(unsigned null, bool bad)
{
    return pv_epochs(P(0, ctx), P(1, bad ? "{" : epochs_request), P(2, &json));
}

/* ---- rows, and calls that take them ------------------------------------------------------------------------ */

static const float x[2][2] = { { 1, 2 }, { 3, 4 } };
static const int32_t ptr[] = { 0, 1, 2 }, idx[] = { 0, 1 }, y[] = { -1, 1 };
static const char *const words[] = { "no", "yes" };

/* What the call made is freed; after a failure, what it left. */
static pv_status made(pv_status s, pv_data *d, bool out)
{
    if (s == PV_OK) pv_data_free(d);
    handle = s == PV_OK || !out ? NULL : d;
    return s;
}

static pv_status call_data_file(unsigned null, bool bad)
{
    pv_data *d = NOT_NULL;
    const pv_status s = pv_data_file(P(0, ctx), P(1, bad ? "" : table), P(2, &d));
    return made(s, d, !(null & 4));
}

static pv_status call_data_files(unsigned null, bool bad)
{
    pv_data *d = NOT_NULL;
    const char *const paths[] = { table, table };
    const pv_status s = pv_data_files(P(0, ctx), P(1, paths), bad ? 0 : 2, P(2, &d));
    return made(s, d, !(null & 4));
}

static pv_status call_data_dense(unsigned null, bool bad)
{
    pv_data *d = NOT_NULL;
    const pv_status s = pv_data_dense(P(0, ctx), P(1, x), PV_FLOAT32, 2, 2, bad ? -2 : 2, 1, P(2, &d));
    return made(s, d, !(null & 4));
}

static pv_status call_data_csr(unsigned null, bool bad)
{
    pv_data *d = NOT_NULL;
    const pv_status s =
        pv_data_csr(P(0, ctx), bad ? 0 : 2, 2, P(1, ptr), PV_INT32, idx, PV_INT32, x, PV_FLOAT32, P(2, &d));
    return made(s, d, !(null & 4));
}

static int streams; /* that were made and not released */

static void release_stream(struct ArrowArrayStream *s)
{
    s->release = NULL;
    streams--;
}

static int no_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    (void)s, (void)out;
    return 5;
}

static int no_batch(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    (void)s, (void)out;
    return 5;
}

static pv_status call_data_arrow(unsigned null, bool bad)
{
    pv_data *d = NOT_NULL;
    struct ArrowArrayStream stream = { bad ? NULL : no_schema, no_batch, NULL, release_stream, NULL };
    streams += !(null & 2);
    const pv_status s = pv_data_arrow(P(0, ctx), P(1, &stream), P(2, &d));
    made(s, d, !(null & 4));
    PVT_IS(streams, 0); /* released with the handle, or by the call that failed */
    return s;
}

static pv_status no_more(void *user, pv_batch *batch)
{
    (void)user, (void)batch;
    return PV_DONE;
}

static pv_status call_data_batches(unsigned null, bool bad)
{
    pv_data *d = NOT_NULL;
    const pv_status s =
        pv_data_batches(P(0, ctx), P(1, no_more), NULL, bad ? 0 : -1, 2, PV_FLOAT32, PV_INT32, P(2, &d));
    return made(s, d, !(null & 4));
}

static pv_data *two_rows(void)
{
    pv_data *d;
    PVT_OK(pv_data_dense(ctx, x, PV_FLOAT32, 2, 2, 2, 1, &d));
    return d;
}

static pv_status call_data_labels(unsigned null, bool bad)
{
    pv_data *d = two_rows();
    const pv_status s = pv_data_labels(P(0, d), P(1, y), PV_INT32, bad ? 3 : 2);
    return pv_data_free(d), s;
}

static pv_status call_data_label_words(unsigned null, bool bad)
{
    pv_data *d = two_rows();
    const pv_status s = pv_data_label_words(P(0, d), P(1, words), bad ? 3 : 2);
    return pv_data_free(d), s;
}

static pv_status call_data_label_places(unsigned null, bool bad)
{
    pv_data *d = two_rows();
    static const uint8_t place[] = { 1, 0 };
    const pv_status s = pv_data_label_places(P(0, d), P(1, place), PV_UINT8, 2, P(2, words), bad ? 1 : 2);
    return pv_data_free(d), s;
}

static pv_status call_data_persons(unsigned null, bool bad)
{
    pv_data *d = two_rows();
    const pv_status s = pv_data_persons(P(0, d), P(1, y), PV_INT32, bad ? 3 : 2);
    return pv_data_free(d), s;
}

static pv_status call_data_person_words(unsigned null, bool bad)
{
    pv_data *d = two_rows();
    const pv_status s = pv_data_person_words(P(0, d), P(1, words), bad ? 3 : 2);
    return pv_data_free(d), s;
}

static pv_status call_plan_set_f64(unsigned null, bool bad)
{
    return pv_plan_set_f64(P(0, plan), P(1, "budget.epsilon"), bad ? NAN : 10.0);
}

static pv_status call_plan_set_i64(unsigned null, bool bad)
{
    return pv_plan_set_i64(P(0, plan), P(1, "optimizer.steps"), bad ? INT64_MIN : 3);
}

static pv_status call_plan_cost_on(unsigned null, bool bad)
{
    pv_cost c = { .rows = -1 };
    spoil(plan, bad);
    const pv_status s = pv_plan_cost_on(P(0, plan), rows, P(1, &c));
    mend(plan, bad);
    if (s != PV_OK && !(null & 2))
        PVT_TRUE(c.rows == 0 && isinf(c.epsilon) && isinf(c.epsilon_replace) && c.delta == 1.0);
    return s;
}

static pv_status call_plan_run_on(unsigned null, bool bad)
{
    pv_result *r = NOT_NULL;
    spoil(plan, bad);
    const pv_status s = pv_plan_run_on(P(0, plan), P(1, rows), P(2, &r));
    mend(plan, bad);
    if (s == PV_OK) pv_result_free(r);
    handle = s == PV_OK ? NULL : null & 4 ? NULL : r;
    return s;
}

static pv_status call_result_cost(unsigned null, bool bad)
{
    pv_cost c = { .rows = -1 };
    (void)bad;
    return pv_result_cost(P(0, result), P(1, &c));
}

static pv_status call_result_model(unsigned null, bool bad)
{
    pv_model *m = NOT_NULL;
    (void)bad;
    const pv_status s = pv_result_model(P(0, result), P(1, &m));
    if (s == PV_OK) pv_model_free(m);
    handle = s == PV_OK ? NULL : null & 2 ? NULL : m;
    return s;
}

static pv_status call_model_describe(unsigned null, bool bad)
{
    pv_model_info info;
    (void)bad;
    return pv_model_describe(P(0, model), P(1, &info));
}

static pv_status call_model_curves(unsigned null, bool bad)
{
    (void)bad;
    return pv_model_curves(P(0, model), P(1, &json));
}

static pv_status call_model_eval_by(unsigned null, bool bad)
{
    return pv_model_eval_by(P(0, model), P(1, rows), P(2, bad ? "age" : "sex"), P(3, &json));
}

static pv_status call_model_explain(unsigned null, bool bad)
{
    return pv_model_explain(P(0, model), P(1, rows), bad ? 300 : 299, P(2, &json));
}

static pv_status call_model_class(unsigned null, bool bad)
{
    return pv_model_class(P(0, model), bad ? 2 : 1, P(1, &text));
}

static pv_status call_model_predict_on(unsigned null, bool bad)
{
    static float score[300];
    const pv_predictions into = { bad ? 299 : 300, score, NULL, NULL };
    return pv_model_predict_on(P(0, model), P(1, rows), P(2, &into));
}

static pv_status call_model_eval_on(unsigned null, bool bad)
{
    pv_data *d = bad ? two_rows() : NULL;
    const pv_status s = pv_model_eval_on(P(0, model), bad ? d : P(1, rows), P(2, &json));
    return pv_data_free(d), s;
}

static pv_status call_model_evaluate(unsigned null, bool bad)
{
    pv_data *d = bad ? two_rows() : NULL;
    const pv_status s = pv_model_evaluate(P(0, model), bad ? d : P(1, rows), P(2, plan), P(3, &json), NULL);
    return pv_data_free(d), s;
}

static pv_status call_result_evaluate(unsigned null, bool bad)
{
    static pv_result *split; /* one that held rows out */
    if (!split) {
        PVT_OK(pv_plan_set(plan, "run.holdout_share", "0.3"));
        PVT_OK(pv_plan_run(plan, &split));
        PVT_OK(pv_plan_set(plan, "run.holdout_share", "auto"));
    }
    const pv_status s = pv_result_evaluate(bad ? result : P(0, split), P(1, plan), P(2, &json), NULL);
    if (!null && !bad) pv_result_free(split), split = NULL;
    return s;
}

static bool take(void *user, const char *some, size_t size)
{
    (void)some, (void)size;
    return user == NULL;
}

static pv_status call_model_predict_keeping(unsigned null, bool bad)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, bad ? "none.csv" : "demo_test.csv");
    return pv_model_predict_keeping(P(0, model), P(1, path), NULL, NULL, P(2, take), NULL);
}

static pv_status call_model_predict_to(unsigned null, bool bad)
{
    return pv_model_predict_to(P(0, model), P(1, rows), P(2, take), bad ? file : NULL);
}

/* name; pointers, the handle included; status of the bad value (0: there is none); the first pointer that may be NULL
 * in a test (pv_ctx_create has no handle) */
typedef struct call {
    const char *name;
    pv_status (*fn)(unsigned null, bool bad);
    int pointers;
    pv_status bad;
} call;
static const call calls[] = {
    { "pv_ctx_create", call_ctx_create, 2, PV_E_ARG },
    { "pv_file_write", call_file_write, 3, PV_E_IO },
    { "pv_plan_create", call_plan_create, 2, PV_OK },
    { "pv_plan_set", call_plan_set, 3, PV_E_PARAM },
    { "pv_plan_load", call_plan_load, 3, PV_E_FORMAT },
    { "pv_plan_dump", call_plan_dump, 2, PV_OK },
    { "pv_plan_cost", call_plan_cost, 2, PV_E_PARAM },
    { "pv_plan_epsilon", call_plan_epsilon, 2, PV_E_ARG },
    { "pv_plan_run", call_plan_run, 2, PV_E_PARAM },
    { "pv_result_weights", call_result_weights, 3, PV_OK },
    { "pv_result_certificate", call_result_certificate, 2, PV_OK },
    { "pv_result_summary", call_result_summary, 2, PV_OK },
    { "pv_result_save", call_result_save, 2, PV_E_IO },
    { "pv_smooth", call_smooth, 2, PV_E_ARG },
    { "pv_schema_draft", call_schema_draft, 3, PV_E_IO },
    { "pv_schema_check", call_schema_check, 4, PV_E_IO },
    { "pv_schema_canonical", call_schema_canonical, 3, PV_E_FORMAT },
    { "pv_demo_data", call_demo_data, 2, PV_E_ARG },
    { "pv_synth_data", call_synth_data, 2, PV_E_ARG },
    { "pv_model_load", call_model_load, 3, PV_E_FORMAT },
    { "pv_model_certificate", call_model_certificate, 2, PV_OK },
    { "pv_model_schema", call_model_schema, 2, PV_OK },
    { "pv_model_settings", call_model_settings, 2, PV_OK },
    { "pv_model_weights", call_model_weights, 3, PV_OK },
    { "pv_model_to_bytes", call_model_to_bytes, 3, PV_OK },
    { "pv_model_of_bytes", call_model_of_bytes, 4, PV_E_FORMAT },
    { "pv_verify_bytes", call_verify_bytes, 3, PV_E_VERIFY },
    { "pv_model_set", call_model_set, 3, PV_E_PARAM },
    { "pv_model_predict", call_model_predict, 3, PV_E_IO },
    { "pv_model_eval", call_model_eval, 3, PV_E_IO },
    { "pv_model_export", call_model_export, 3, PV_E_PARAM },
    { "pv_verify", call_verify, 2, PV_E_IO },
    { "pv_list", call_list, 2, PV_E_PARAM },
    { "pv_account", call_account, 3, PV_E_FORMAT },
    { "pv_calibrate", call_calibrate, 3, PV_E_FORMAT },
    { "pv_curve", call_curve, 3, PV_E_FORMAT },
    { "pv_epochs", call_epochs, 3, PV_E_FORMAT },
    { "pv_data_file", call_data_file, 3, PV_E_ARG },
    { "pv_data_files", call_data_files, 3, PV_E_ARG },
    { "pv_data_dense", call_data_dense, 3, PV_E_ARG },
    { "pv_data_csr", call_data_csr, 3, PV_E_ARG },
    { "pv_data_arrow", call_data_arrow, 3, PV_E_ARG },
    { "pv_data_batches", call_data_batches, 3, PV_E_ARG },
    { "pv_data_labels", call_data_labels, 2, PV_E_ARG },
    { "pv_data_label_places", call_data_label_places, 3, PV_E_ARG },
    { "pv_data_label_words", call_data_label_words, 2, PV_E_ARG },
    { "pv_data_persons", call_data_persons, 2, PV_E_ARG },
    { "pv_data_person_words", call_data_person_words, 2, PV_E_ARG },
    { "pv_plan_set_f64", call_plan_set_f64, 2, PV_E_PARAM },
    { "pv_plan_set_i64", call_plan_set_i64, 2, PV_OK },
    { "pv_plan_cost_on", call_plan_cost_on, 2, PV_E_PARAM },
    { "pv_plan_run_on", call_plan_run_on, 3, PV_E_PARAM },
    { "pv_result_cost", call_result_cost, 2, PV_OK },
    { "pv_result_model", call_result_model, 2, PV_OK },
    { "pv_model_describe", call_model_describe, 2, PV_OK },
    { "pv_model_curves", call_model_curves, 2, PV_OK },
    { "pv_model_eval_by", call_model_eval_by, 4, PV_E_PARAM },
    { "pv_model_explain", call_model_explain, 3, PV_E_PARAM },
    { "pv_model_class", call_model_class, 2, PV_E_ARG },
    { "pv_model_predict_on", call_model_predict_on, 3, PV_E_ARG },
    { "pv_model_eval_on", call_model_eval_on, 3, PV_E_FORMAT },
    { "pv_result_evaluate", call_result_evaluate, 3, PV_E_ARG },
    { "pv_model_evaluate", call_model_evaluate, 4, PV_E_FORMAT },
    { "pv_model_predict_keeping", call_model_predict_keeping, 3, PV_E_IO },
    { "pv_model_predict_to", call_model_predict_to, 3, PV_E_CANCELLED },
};
enum { CALLS = sizeof calls / sizeof *calls };
/* Calls that return no status, or (pv_smooth_factors) have no context: below. */
static const char *const others[] = { "pv_cleanup",        "pv_ctx_errmsg",  "pv_ctx_free",    "pv_ctx_on_log",
                                      "pv_model_free",     "pv_plan_free",   "pv_result_free", "pv_ctx_on_progress",
                                      "pv_version",        "pv_string_free", "pv_status_name", "pv_version_number",
                                      "pv_smooth_factors", "pv_data_rows",   "pv_data_free" };

static int setup(void **state)
{
    (void)state;
    if (!mkdtemp(folder)) return 1;
    snprintf(table, sizeof table, "%s/demo_train.csv", folder);
    snprintf(schema, sizeof schema, "%s/demo.schema.json", folder);
    snprintf(file, sizeof file, "%s/model.pvt", folder);
    snprintf(scores, sizeof scores, "%s/scores", folder);
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pv_demo_data(ctx, folder, 1, 300, 20));
    PVT_OK(pv_plan_create(ctx, &plan));
    const char *const settings[][2] = { { "data.path", table },      { "data.schema", schema },
                                        { "data.key_path", "none" }, { "optimizer.steps", "3" },
                                        { "budget.epsilon", "10" },  { "budget.delta", "1e-4" } };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        PVT_OK(pv_plan_set(plan, settings[i][0], settings[i][1]));
    PVT_CHECK(pv_plan_run(plan, &result) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_save(result, file));
    PVT_OK(pv_model_load(ctx, file, &model));
    PVT_OK(pv_model_set(model, "data.key_path", "none"));
    PVT_OK(pv_data_file(ctx, table, &rows));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[64];
    pv_data_free(rows);
    pv_model_free(model);
    pv_result_free(result);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void poison(void)
{
    json = NOT_NULL;
    text = NOT_NULL;
    number = -1.0;
    count = -1;
    handle = NULL;
}

/* What `out` of the call is, where it has one: empty after a failure. */
static void expect_empty(const char *name, unsigned null)
{
    PVT_CHECK(json == NULL || json == (char *)NOT_NULL, "%s, NULL %#x: json was set", name, null);
    PVT_CHECK(handle == NULL, "%s, NULL %#x: out is not NULL", name, null);
}

static bool writes(const char *name, const char *what)
{
    static const char *const text_out[] = { "pv_result_certificate", "pv_model_certificate", "pv_model_schema",
                                            "pv_model_class", "pv_model_settings" };
    static const char *const json_out[] = {
        "pv_plan_dump",     "pv_plan_cost",        "pv_result_summary", "pv_model_eval",   "pv_verify",
        "pv_list",          "pv_account",          "pv_calibrate",      "pv_curve",        "pv_epochs",
        "pv_model_eval_on", "pv_verify_bytes",     "pv_model_eval_by",  "pv_model_curves", "pv_model_explain",
        "pv_schema_draft",  "pv_schema_canonical", "pv_model_evaluate", "pv_schema_check", "pv_result_evaluate"
    };
    if (*what == 't')
        for (size_t i = 0; i < sizeof text_out / sizeof *text_out; i++)
            if (strcmp(text_out[i], name) == 0) return true;
    if (*what == 'j')
        for (size_t i = 0; i < sizeof json_out / sizeof *json_out; i++)
            if (strcmp(json_out[i], name) == 0) return true;
    return false;
}

static void refused(const call *c, unsigned null, bool bad, pv_status want)
{
    const bool has_out = !(null & 1u << (c->pointers - 1)) || strncmp(c->name, "pv_verify", 9) == 0; /* the last */
    poison();
    const pv_status s = c->fn(null, bad);
    PVT_CHECK(s == want, "%s, NULL %#x: status %d, want %d: %s", c->name, null, (int)s, (int)want,
              pv_ctx_errmsg(ctx));
    expect_empty(c->name, null);
    if (has_out && writes(c->name, "json"))
        PVT_CHECK(json == NULL, "%s, NULL %#x: json is left as it was", c->name, null);
    if (has_out && writes(c->name, "text"))
        PVT_CHECK(text == NULL, "%s, NULL %#x: text is left as it was", c->name, null);
    if (has_out && strcmp(c->name, "pv_plan_epsilon") == 0) PVT_TRUE(number == (double)INFINITY);
    if (has_out && strcmp(c->name, "pv_result_weights") == 0) PVT_IS(count, 0);
}

static void succeeds(const call *c)
{
    poison();
    pv_status s = c->fn(0, false);
    PVT_CHECK(s == PV_OK, "%s: status %d: %s", c->name, (int)s, pv_ctx_errmsg(ctx));
    PVT_CHECK(pv_ctx_errmsg(ctx)[0] == '\0', "%s leaves a message: %s", c->name, pv_ctx_errmsg(ctx));
    if (writes(c->name, "json")) pv_string_free(ctx, json);
}

static void every_pointer_null_and_a_bad_value(void **state)
{
    (void)state;
    for (int i = 0; i < CALLS; i++) {
        const call *c = &calls[i];
        const bool no_handle = strcmp(c->name, "pv_ctx_create") == 0;
        succeeds(c);
        for (int k = 1; k < c->pointers; k++) {
            refused(c, 1u << k, false, PV_E_ARG);
            const char *why = pv_ctx_errmsg(ctx);
            PVT_CHECK(no_handle || (strncmp(why, c->name, strlen(c->name)) == 0 && strstr(why, " is NULL")), "%s: %s",
                      c->name, why);
        }
        if (!no_handle) refused(c, 1, false, PV_E_ARG);
        if (c->bad == PV_OK) continue;
        refused(c, 0, true, c->bad);
        PVT_CHECK(no_handle || pv_ctx_errmsg(ctx)[0] || strncmp(c->name, "pv_plan_", 8) == 0, "%s: no message",
                  c->name);
        succeeds(c);
    }
}

/* The table above is complete: as many rows as tools/symbols.txt has names that are implemented here. */
static void every_call_is_in_the_table(void **state)
{
    (void)state;
    char path[512], line[128];
    const char *source = getenv("PRIVET_SOURCE");
    if (!source) PVT_SKIP("PRIVET_SOURCE is not set");
    snprintf(path, sizeof path, "%s/tools/symbols.txt", source);
    FILE *f = fopen(path, "r");
    PVT_TRUE(f != NULL);
    while (fgets(line, sizeof line, f)) {
        bool found = false;
        line[strcspn(line, "\n")] = '\0';
        for (int i = 0; i < CALLS; i++) found |= strcmp(calls[i].name, line) == 0;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) found |= strcmp(others[i], line) == 0;
        PVT_CHECK(found, "%s has no row in test_calls.c", line);
    }
    fclose(f);
}

static void calls_without_a_status(void **state)
{
    (void)state;
    double gamma, beta;
    pv_ctx_free(NULL);
    pv_plan_free(NULL);
    pv_result_free(NULL);
    pv_model_free(NULL);
    pv_data_free(NULL);
    PVT_IS(pv_data_rows(NULL), -1);
    pv_string_free(ctx, NULL);
    pv_string_free(NULL, NULL);
    pv_ctx_on_log(NULL, NULL, NULL);
    pv_ctx_on_progress(NULL, NULL, NULL);
    pv_cleanup(NULL);
    PVT_TRUE(pv_ctx_errmsg(NULL)[0]);
    PVT_TRUE(pv_status_name((pv_status)12345)[0]);
    PVT_OK(pv_smooth_factors(1.0, 4, &gamma, &beta));
    PVT_IS(pv_smooth_factors(1.0, 4, NULL, &beta), PV_E_ARG);
    PVT_IS(pv_smooth_factors(1.0, 4, &gamma, NULL), PV_E_ARG);
    PVT_IS(pv_smooth_factors(-1.0, 4, &gamma, &beta), PV_E_ARG);
}

static void messages_are_of_the_last_call(void **state)
{
    (void)state;
    PVT_IS(pv_verify(ctx, "/nonexistent/x", NULL), PV_E_IO);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "/nonexistent/x"));
    pv_string_free(ctx, NULL); /* frees leave it alone */
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "/nonexistent/x"));
    PVT_IS(pv_plan_set(plan, NULL, "1"), PV_E_ARG);
    assert_string_equal(pv_ctx_errmsg(ctx), "pv_plan_set: key is NULL");
    PVT_OK(pv_plan_set(plan, "run.threads", "2"));
    assert_string_equal(pv_ctx_errmsg(ctx), "");
    /* Accountants that do not know an event are tried and leave no trace. */
    PVT_OK(pv_account(ctx, "{\"mechanism\": \"laplace\", \"scale\": 2, \"delta\": 1e-5, \"all\": true}", &json));
    pv_string_free(ctx, json);
    assert_string_equal(pv_ctx_errmsg(ctx), "");
}

/* ---- freeing ------------------------------------------------------- */

static char logged[512];
static void keep_line(void *user, pv_level level, const char *line)
{
    (void)user;
    if (level == PV_LOG_WARN) snprintf(logged, sizeof logged, "%s", line);
}

static void a_context_freed_too_early_waits(void **state)
{
    (void)state;
    pvt_memory m = { 0 };
    pv_ctx *c = pvt_counted(&m);
    pv_plan *p, *q;
    PVT_OK(pv_plan_create(c, &p));
    PVT_OK(pv_plan_create(c, &q));
    pv_ctx_on_log(c, keep_line, NULL);
    logged[0] = '\0';
    pv_ctx_free(c);
    PVT_CHECK(strstr(logged, "pv_ctx_free: 2 made from this context"), "%s", logged);
    pv_plan_free(p);
    PVT_OK(pv_plan_set(q, "run.threads", "1")); /* still works */
    PVT_TRUE(m.live > 0);
    pv_plan_free(q);
    PVT_IS(m.live, 0);
}

/* Memory that was given back stays readable, and known to whoever looks for leaks. */
enum { KEPT = 1 << 14 };
static void *kept[KEPT];
static void keep_put(void *self, void *p)
{
    (void)self, (void)p;
}

static void *keep_get(void *self, size_t n)
{
    static int at;
    (void)self;
    return at < KEPT ? kept[at++] = malloc(n) : NULL;
}

static int free_twice(const void *what)
{
    const pv_alloc a = { keep_get, keep_put, NULL };
    pv_ctx *c;
    pv_plan *p;
    pv_model *m;
    if (pv_ctx_create(&a, &c) != PV_OK || pv_plan_create(c, &p) != PV_OK || pv_model_load(c, file, &m) != PV_OK)
        return 1;
    pv_plan_free(p);
    pv_model_free(m);
    switch (*(const int *)what) {
    case 0: pv_plan_free(p); break;
    case 1: return pv_plan_set(p, "run.threads", "1") == PV_OK;
    case 2: pv_model_free(m); break;
    case 3: return pv_model_set(m, "run.threads", "1") == PV_OK;
    case 4: pv_model_free((pv_model *)(void *)c); break; /* of another kind */
    case 5:
        pv_ctx_free(c);
        pv_ctx_free(c);
        break;
    default: return 0;
    }
    return 0;
}

static void freed_handles_end_the_process(void **state)
{
    (void)state;
    for (int what = 0; what < 6; what++) PVT_CHECK(in_child(free_twice, &what) == ABORTED, "case %d", what);
    PVT_IS(in_child(free_twice, &(int) { 6 }), 0);
}

static void versions_agree(void **state)
{
    (void)state;
    char want[32];
    snprintf(want, sizeof want, "%d.%d.%d", PV_VERSION_MAJOR, PV_VERSION_MINOR, PV_VERSION_PATCH);
    assert_string_equal(PV_VERSION, want);
    assert_string_equal(pv_version(), want);
    PVT_IS(pv_version_number(), PV_VERSION_MAJOR * 10000 + PV_VERSION_MINOR * 100 + PV_VERSION_PATCH);
    assert_string_equal(PRIVET_PROJECT_VERSION, want); /* of CMakeLists.txt */
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_pointer_null_and_a_bad_value),
        cmocka_unit_test(every_call_is_in_the_table),
        cmocka_unit_test(calls_without_a_status),
        cmocka_unit_test(messages_are_of_the_last_call),
        cmocka_unit_test(a_context_freed_too_early_waits),
        cmocka_unit_test(freed_handles_end_the_process),
        cmocka_unit_test(versions_agree),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
