/* core.c - privet for Python: the calls of privet.h that the package uses, one for one, and nothing computed here.
 *
 * A Context owns a pv_ctx, a Model a pv_model and a reference to its context.  A call that may take long releases the
 * lock of the interpreter; log and progress callbacks, which the library makes on the thread of the call, take it
 * back for as long as they run.  Progress looks for signals at most every 20 ms, so that Ctrl-C stops a run soon and
 * costs nothing.  A context serves one thread at a time: the package holds a lock around it, and a second call
 * meanwhile is an error here. */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct context {
    PyObject_HEAD pv_ctx *ctx;
    PyObject *log, *progress;
    PyThreadState *saved; /* of the call under way; NULL: none */
    double looked;        /* when signals were looked for, seconds */
    bool began;           /* the last run began to train: its budget counts as spent */
} context;

typedef struct model {
    PyObject_HEAD context *of;
    pv_model *m;
} model;

static PyTypeObject *model_type; /* made once, with the module */

/* ---- errors ---------------------------------------------------------------------------------------------- */

PyObject *raise_status(pv_ctx *ctx, pv_status s)
{
    if (PyErr_Occurred()) return NULL; /* a callback's own */
    const char *why = ctx ? pv_ctx_errmsg(ctx) : "";
    PyObject *errors = PyImport_ImportModule("privet._errors");
    PyObject *error =
        errors ? PyObject_CallMethod(errors, "of_status", "is", (int)s, *why ? why : pv_status_name(s)) : NULL;
    if (error) PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(error);
    Py_XDECREF(errors);
    return NULL;
}

/* ---- calls ----------------------------------------------------------------------------------------------- */

static bool begin(context *c)
{
    if (c->saved || !c->ctx) {
        PyErr_SetString(PyExc_RuntimeError, "privet: this model is in use by another thread");
        return false;
    }
    c->saved = PyEval_SaveThread();
    return true;
}

static void end(context *c)
{
    PyThreadState *t = c->saved;
    c->saved = NULL;
    PyEval_RestoreThread(t);
}

static void on_log(void *user, pv_level level, const char *line)
{
    context *c = user;
    if (c->log == Py_None) return;
    if (c->saved) PyEval_RestoreThread(c->saved);
    if (!PyErr_Occurred()) {
        PyObject *r = PyObject_CallFunction(c->log, "is", (int)level, line);
        if (!r && !PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_Clear(); /* a logger does not end a run */
        Py_XDECREF(r);
    }
    if (c->saved) c->saved = PyEval_SaveThread();
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* false: an exception is set, and the call ends with it. */
static bool on_progress(void *user, const char *what, double done, double total, double epsilon)
{
    context *c = user;
    const double t = now();
    if (strcmp(what, "training") == 0) c->began = true;
    if (!c->saved || (t - c->looked < 0.02 && done < total)) return true;
    c->looked = t;
    PyEval_RestoreThread(c->saved);
    bool more = !PyErr_Occurred() && PyErr_CheckSignals() == 0;
    if (more && c->progress != Py_None) {
        PyObject *r = PyObject_CallFunction(c->progress, "sddd", what, done, total, epsilon);
        more = r && r != Py_False;
        Py_XDECREF(r);
    }
    c->saved = PyEval_SaveThread();
    return more;
}

static PyObject *take_text(pv_ctx *ctx, pv_status s, char *json)
{
    PyObject *text = s == PV_OK ? PyUnicode_FromString(json) : raise_status(ctx, s);
    pv_string_free(ctx, json);
    return text;
}

/* ---- Context --------------------------------------------------------------------------------------------- */

static PyObject *context_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char log_word[] = "log", progress_word[] = "progress";
    static char *words[] = { log_word, progress_word, NULL };
    PyObject *log = Py_None, *progress = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO", words, &log, &progress)) return NULL;
    allocfunc make = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    context *c = (context *)make(type, 0);
    if (!c) return NULL;
    Py_INCREF(log);
    Py_INCREF(progress);
    c->log = log;
    c->progress = progress;
    const pv_status s = pv_ctx_create(NULL, &c->ctx);
    if (s != PV_OK) return Py_DECREF(c), raise_status(NULL, s);
    pv_ctx_on_log(c->ctx, on_log, c);
    pv_ctx_on_progress(c->ctx, on_progress, c);
    return (PyObject *)c;
}

static void context_free(PyObject *self)
{
    context *c = (context *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc put = (freefunc)PyType_GetSlot(type, Py_tp_free);
    pv_ctx_free(c->ctx);
    Py_XDECREF(c->log);
    Py_XDECREF(c->progress);
    put(self);
    Py_DECREF(type);
}

/* The callbacks of one run are not those of the model's whole life. */
static PyObject *context_quiet(PyObject *self, PyObject *none)
{
    context *c = (context *)self;
    PyObject *log = c->log, *progress = c->progress;
    (void)none;
    Py_INCREF(Py_None);
    Py_INCREF(Py_None);
    c->log = c->progress = Py_None;
    Py_DECREF(log);
    Py_DECREF(progress);
    Py_RETURN_NONE;
}

static PyObject *context_began(PyObject *self, PyObject *none)
{
    (void)none;
    return PyBool_FromLong(((context *)self)->began);
}

static PyObject *context_list(PyObject *self, PyObject *args)
{
    context *c = (context *)self;
    const char *what = NULL;
    char *json;
    if (!PyArg_ParseTuple(args, "|z", &what)) return NULL;
    const pv_status s = pv_list(c->ctx, what, &json);
    return take_text(c->ctx, s, json);
}

static PyObject *context_ask(PyObject *self, PyObject *args)
{
    static const struct {
        const char *word;
        pv_status (*call)(pv_ctx *, const char *, char **);
    } questions[] = { { "account", pv_account },
                      { "calibrate", pv_calibrate },
                      { "curve", pv_curve },
                      { "epochs", pv_epochs },
                      { NULL, NULL } };
    context *c = (context *)self;
    const char *word, *request;
    char *json = NULL;
    pv_status s = PV_E_ARG;
    if (!PyArg_ParseTuple(args, "ss", &word, &request) || !begin(c)) return NULL;
    for (int i = 0; questions[i].word; i++)
        if (strcmp(questions[i].word, word) == 0) s = questions[i].call(c->ctx, request, &json);
    end(c);
    return take_text(c->ctx, s, json);
}

static PyObject *context_verify(PyObject *self, PyObject *args)
{
    context *c = (context *)self;
    const char *bytes, *name;
    Py_ssize_t size;
    char *json;
    if (!PyArg_ParseTuple(args, "y#s", &bytes, &size, &name) || !begin(c)) return NULL;
    const pv_status s = pv_verify_bytes(c->ctx, bytes, (size_t)size, name, &json);
    end(c);
    return take_text(c->ctx, s, json);
}

static PyObject *context_write(PyObject *self, PyObject *args)
{
    context *c = (context *)self;
    const char *path, *bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "yy#", &path, &bytes, &size)) return NULL;
    const pv_status s = pv_file_write(c->ctx, path, bytes, (size_t)size);
    if (s != PV_OK) return raise_status(c->ctx, s);
    Py_RETURN_NONE;
}

/* draft(path, label, public): a schema to begin with. */
static PyObject *context_draft(PyObject *self, PyObject *args)
{
    context *c = (context *)self;
    const char *path, *label;
    char *json = NULL;
    int is_public;
    if (!PyArg_ParseTuple(args, "yzp", &path, &label, &is_public) || !begin(c)) return NULL;
    const pv_status s = pv_schema_draft(c->ctx, path, label, is_public, &json);
    end(c);
    return take_text(c->ctx, s, json);
}

static PyObject *context_demo(PyObject *self, PyObject *args)
{
    context *c = (context *)self;
    const char *folder;
    unsigned long long seed;
    long long rows, heldout;
    if (!PyArg_ParseTuple(args, "yKLL", &folder, &seed, &rows, &heldout)) return NULL;
    const pv_status s = pv_demo_data(c->ctx, folder, seed, rows, heldout);
    if (s != PV_OK) return raise_status(c->ctx, s);
    Py_RETURN_NONE;
}

static PyObject *new_model(context *c, pv_model *m)
{
    allocfunc make = (allocfunc)PyType_GetSlot(model_type, Py_tp_alloc);
    model *self = (model *)make(model_type, 0);
    if (!self) return pv_model_free(m), NULL;
    Py_INCREF(c);
    self->of = c;
    self->m = m;
    return (PyObject *)self;
}

static PyObject *context_load(PyObject *self, PyObject *args)
{
    context *c = (context *)self;
    const char *bytes, *name;
    Py_ssize_t size;
    pv_model *m;
    if (!PyArg_ParseTuple(args, "y#s", &bytes, &size, &name) || !begin(c)) return NULL;
    const pv_status s = pv_model_of_bytes(c->ctx, bytes, (size_t)size, name, &m);
    end(c);
    return s == PV_OK ? new_model(c, m) : raise_status(c->ctx, s);
}

/* settings: [(key, text), ...] */
static pv_plan *make_plan(context *c, PyObject *settings)
{
    pv_plan *plan = NULL;
    pv_status s = pv_plan_create(c->ctx, &plan);
    for (Py_ssize_t i = 0; s == PV_OK && i < PyList_Size(settings); i++) {
        const char *key, *value;
        if (!PyArg_ParseTuple(PyList_GetItem(settings, i), "ss", &key, &value)) s = PV_E_ARG;
        else s = pv_plan_set(plan, key, value);
    }
    if (s == PV_OK) return plan;
    raise_status(c->ctx, s);
    pv_plan_free(plan);
    return NULL;
}

static PyObject *cost_dict(const pv_cost *x)
{
    return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:L,s:L,s:L,s:O}", "epsilon", x->epsilon, "epsilon_lower",
                         x->epsilon_lower, "epsilon_replace", x->epsilon_replace, "delta", x->delta,
                         "noise_multiplier", x->noise_multiplier, "sensitivity", x->sensitivity, "clip_norm",
                         x->clip_norm, "batch", x->batch, "rows", (long long)x->rows, "weights",
                         (long long)x->weights, "steps", (long long)x->steps, "is_private",
                         x->is_private ? Py_True : Py_False);
}

static PyObject *context_cost(PyObject *self, PyObject *args)
{
    context *c = (context *)self;
    PyObject *settings, *rows, *labels, *out = NULL;
    pv_cost cost;
    if (!PyArg_ParseTuple(args, "O!OO", &PyList_Type, &settings, &rows, &labels)) return NULL;
    pv_plan *plan = make_plan(c, settings);
    pv_data *d = plan ? rows_open(c->ctx, rows, labels, Py_None) : NULL;
    if (d && begin(c)) {
        const pv_status s = pv_plan_cost_on(plan, d, &cost);
        end(c);
        out = s == PV_OK && !PyErr_Occurred() ? cost_dict(&cost) : raise_status(c->ctx, s);
    }
    pv_data_free(d);
    pv_plan_free(plan);
    return out;
}

/* (figures, certificate), two texts; takes over both. */
static PyObject *take_release(pv_ctx *ctx, pv_status s, char *json, char *certificate)
{
    PyObject *pair = NULL;
    if (s == PV_OK && !PyErr_Occurred()) pair = Py_BuildValue("(ss)", json, certificate);
    else raise_status(ctx, s);
    pv_string_free(ctx, json);
    pv_string_free(ctx, certificate);
    return pair;
}

/* (model, summary as JSON, release): the release is of the rows that run.holdout_share held out, None without a
 * budget for it. */
static PyObject *run_result(context *c, pv_result *r, const pv_plan *budget)
{
    pv_model *m = NULL;
    char *json = NULL, *figures = NULL, *certificate = NULL;
    if (!begin(c)) return NULL;
    pv_status s = pv_result_model(r, &m);
    if (s == PV_OK) s = pv_result_summary(r, &json);
    if (s == PV_OK && budget) s = pv_result_evaluate(r, budget, &figures, &certificate);
    end(c);
    if (s != PV_OK || PyErr_Occurred()) {
        pv_string_free(c->ctx, json);
        pv_model_free(m);
        return take_release(c->ctx, s, figures, certificate);
    }
    PyObject *made = new_model(c, m), *summary = PyUnicode_FromString(json), *release = Py_None;
    pv_string_free(c->ctx, json);
    if (budget) release = take_release(c->ctx, s, figures, certificate);
    else Py_INCREF(Py_None);
    PyObject *out = made && summary && release ? PyTuple_Pack(3, made, summary, release) : NULL;
    Py_XDECREF(made);
    Py_XDECREF(summary);
    Py_XDECREF(release);
    return out;
}

static PyObject *context_run(PyObject *self, PyObject *args)
{
    context *c = (context *)self;
    PyObject *settings, *rows, *labels, *persons = Py_None, *told = Py_None, *out = NULL;
    pv_result *r = NULL;
    if (!PyArg_ParseTuple(args, "O!OO|OO", &PyList_Type, &settings, &rows, &labels, &persons, &told)) return NULL;
    pv_plan *plan = make_plan(c, settings), *budget = plan && told != Py_None ? make_plan(c, told) : NULL;
    pv_data *d = plan && (budget || told == Py_None) ? rows_open(c->ctx, rows, labels, persons) : NULL;
    c->began = false;
    if (d && begin(c)) {
        const pv_status s = pv_plan_run_on(plan, d, &r);
        end(c);
        out = s == PV_OK && !PyErr_Occurred() ? run_result(c, r, budget) : raise_status(c->ctx, s);
    }
    pv_result_free(r);
    pv_data_free(d);
    pv_plan_free(budget);
    pv_plan_free(plan);
    return out;
}

/* ---- Model ----------------------------------------------------------------------------------------------- */

/* A model is trained or loaded; one that is made of nothing would have none of what its methods use. */
static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)type, (void)args, (void)kwargs;
    PyErr_SetString(PyExc_TypeError, "a Model comes from a Context: run or load");
    return NULL;
}

static void model_free(PyObject *self)
{
    model *m = (model *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc put = (freefunc)PyType_GetSlot(type, Py_tp_free);
    pv_model_free(m->m);
    Py_XDECREF(m->of);
    put(self);
    Py_DECREF(type);
}

/* (classes, outputs, features, weights, private) */
static PyObject *model_describe(PyObject *self, PyObject *none)
{
    model *m = (model *)self;
    pv_model_info x;
    (void)none;
    const pv_status s = pv_model_describe(m->m, &x);
    if (s != PV_OK) return raise_status(m->of->ctx, s);
    return Py_BuildValue("LLLLO", (long long)x.classes, (long long)x.outputs, (long long)x.features,
                         (long long)x.weights, x.is_private ? Py_True : Py_False);
}

static PyObject *model_class(PyObject *self, PyObject *args)
{
    model *m = (model *)self;
    long long k;
    const char *name;
    if (!PyArg_ParseTuple(args, "L", &k)) return NULL;
    const pv_status s = pv_model_class(m->m, k, &name);
    return s == PV_OK ? PyUnicode_FromString(name) : raise_status(m->of->ctx, s);
}

static PyObject *text_of(PyObject *self, pv_status (*call)(const pv_model *, const char **))
{
    model *m = (model *)self;
    const char *text;
    const pv_status s = call(m->m, &text);
    if (s != PV_OK) return raise_status(m->of->ctx, s);
    if (!text) Py_RETURN_NONE;
    return PyUnicode_FromString(text);
}

static PyObject *model_certificate(PyObject *self, PyObject *none)
{
    (void)none;
    return text_of(self, pv_model_certificate);
}

static PyObject *model_schema(PyObject *self, PyObject *none)
{
    (void)none;
    return text_of(self, pv_model_schema);
}

static PyObject *model_settings(PyObject *self, PyObject *none)
{
    (void)none;
    return text_of(self, pv_model_settings);
}

static PyObject *model_weights(PyObject *self, PyObject *args)
{
    model *m = (model *)self;
    PyObject *address;
    long long room;
    int64_t d;
    if (!PyArg_ParseTuple(args, "OL", &address, &room)) return NULL;
    double *w = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) return NULL;
    const pv_status s = pv_model_weights(m->m, w, room, &d);
    return s == PV_OK ? PyLong_FromLongLong(d) : raise_status(m->of->ctx, s);
}

static PyObject *model_bytes(PyObject *self, PyObject *none)
{
    model *m = (model *)self;
    char *bytes;
    size_t size;
    (void)none;
    const pv_status s = pv_model_to_bytes(m->m, &bytes, &size);
    PyObject *out = s == PV_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : raise_status(m->of->ctx, s);
    pv_string_free(m->of->ctx, bytes);
    return out;
}

static PyObject *model_set(PyObject *self, PyObject *args)
{
    model *m = (model *)self;
    const char *key, *value;
    if (!PyArg_ParseTuple(args, "ss", &key, &value)) return NULL;
    const pv_status s = pv_model_set(m->m, key, value);
    if (s != PV_OK) return raise_status(m->of->ctx, s);
    Py_RETURN_NONE;
}

/* predict(rows, n, score, probability, label): addresses of the caller's arrays, 0 for none. */
static PyObject *model_predict(PyObject *self, PyObject *args)
{
    model *m = (model *)self;
    PyObject *rows, *at[3];
    long long n;
    if (!PyArg_ParseTuple(args, "OLOOO", &rows, &n, &at[0], &at[1], &at[2])) return NULL;
    const pv_predictions into = { n, PyLong_AsVoidPtr(at[0]), PyLong_AsVoidPtr(at[1]), PyLong_AsVoidPtr(at[2]) };
    if (PyErr_Occurred()) return NULL;
    pv_data *d = rows_open(m->of->ctx, rows, Py_None, Py_None);
    if (!d) return NULL;
    pv_status s = PV_E_ARG;
    const bool begun = begin(m->of);
    if (begun) {
        s = pv_model_predict_on(m->m, d, &into);
        end(m->of);
    }
    pv_data_free(d);
    if (!begun) return NULL;
    if (s != PV_OK || PyErr_Occurred()) return raise_status(m->of->ctx, s);
    Py_RETURN_NONE;
}

/* evaluate(rows, labels, persons, column): exact measures, of every value of a column that is named. */
static PyObject *model_evaluate(PyObject *self, PyObject *args)
{
    model *m = (model *)self;
    PyObject *rows, *labels, *persons;
    const char *column;
    char *json = NULL;
    if (!PyArg_ParseTuple(args, "OOOz", &rows, &labels, &persons, &column)) return NULL;
    pv_data *d = rows_open(m->of->ctx, rows, labels, persons);
    if (!d || !begin(m->of)) return pv_data_free(d), NULL;
    const pv_status s = column ? pv_model_eval_by(m->m, d, column, &json) : pv_model_eval_on(m->m, d, &json);
    end(m->of);
    pv_data_free(d);
    if (!PyErr_Occurred()) return take_text(m->of->ctx, s, json);
    pv_string_free(m->of->ctx, json);
    return NULL;
}

/* release(budget, rows, labels, persons): noisy measures and their certificate. */
static PyObject *model_release(PyObject *self, PyObject *args)
{
    model *m = (model *)self;
    context *c = m->of;
    PyObject *settings, *rows, *labels, *persons;
    char *json = NULL, *certificate = NULL;
    if (!PyArg_ParseTuple(args, "O!OOO", &PyList_Type, &settings, &rows, &labels, &persons)) return NULL;
    pv_plan *budget = make_plan(c, settings);
    pv_data *d = budget ? rows_open(c->ctx, rows, labels, persons) : NULL;
    c->began = false;
    const bool begun = d && begin(c);
    pv_status s = PV_E_ARG;
    if (begun) {
        s = pv_model_evaluate(m->m, d, budget, &json, &certificate);
        end(c);
    }
    pv_data_free(d);
    pv_plan_free(budget);
    return begun ? take_release(c->ctx, s, json, certificate) : NULL;
}

/* What columns add to the score, as text; raises for a model without curves. */
static PyObject *model_curves(PyObject *self, PyObject *none)
{
    model *m = (model *)self;
    char *json = NULL;
    (void)none;
    const pv_status s = pv_model_curves(m->m, &json);
    return take_text(m->of->ctx, s, json);
}

static PyObject *model_explain(PyObject *self, PyObject *args)
{
    model *m = (model *)self;
    PyObject *rows;
    long long row;
    char *json = NULL;
    if (!PyArg_ParseTuple(args, "OL", &rows, &row)) return NULL;
    pv_data *d = rows_open(m->of->ctx, rows, Py_None, Py_None);
    if (!d || !begin(m->of)) return pv_data_free(d), NULL;
    const pv_status s = pv_model_explain(m->m, d, row, &json);
    end(m->of);
    pv_data_free(d);
    if (!PyErr_Occurred()) return take_text(m->of->ctx, s, json);
    pv_string_free(m->of->ctx, json);
    return NULL;
}

static PyObject *model_export(PyObject *self, PyObject *args)
{
    model *m = (model *)self;
    const char *format, *path;
    if (!PyArg_ParseTuple(args, "sy", &format, &path) || !begin(m->of)) return NULL;
    const pv_status s = pv_model_export(m->m, format, path);
    end(m->of);
    if (s != PV_OK) return raise_status(m->of->ctx, s);
    Py_RETURN_NONE;
}

/* ---- module ---------------------------------------------------------------------------------------------- */

static PyObject *version(PyObject *module, PyObject *none)
{
    (void)module, (void)none;
    return PyUnicode_FromString(pv_version());
}

static PyMethodDef context_methods[] = {
    { "quiet", context_quiet, METH_NOARGS, NULL },  { "list", context_list, METH_VARARGS, NULL },
    { "ask", context_ask, METH_VARARGS, NULL },     { "verify", context_verify, METH_VARARGS, NULL },
    { "write", context_write, METH_VARARGS, NULL }, { "draft", context_draft, METH_VARARGS, NULL },
    { "demo", context_demo, METH_VARARGS, NULL },   { "load", context_load, METH_VARARGS, NULL },
    { "cost", context_cost, METH_VARARGS, NULL },   { "run", context_run, METH_VARARGS, NULL },
    { "began", context_began, METH_NOARGS, NULL },  { NULL, NULL, 0, NULL },
};

static PyMethodDef model_methods[] = {
    { "describe", model_describe, METH_NOARGS, NULL },
    { "class_name", model_class, METH_VARARGS, NULL },
    { "certificate", model_certificate, METH_NOARGS, NULL },
    { "schema", model_schema, METH_NOARGS, NULL },
    { "settings", model_settings, METH_NOARGS, NULL },
    { "weights", model_weights, METH_VARARGS, NULL },
    { "to_bytes", model_bytes, METH_NOARGS, NULL },
    { "set", model_set, METH_VARARGS, NULL },
    { "predict", model_predict, METH_VARARGS, NULL },
    { "evaluate", model_evaluate, METH_VARARGS, NULL },
    { "curves", model_curves, METH_NOARGS, NULL },
    { "explain", model_explain, METH_VARARGS, NULL },
    { "release", model_release, METH_VARARGS, NULL },
    { "export", model_export, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot context_slots[] = { { Py_tp_new, (void *)context_new },
                                       { Py_tp_dealloc, (void *)context_free },
                                       { Py_tp_methods, context_methods },
                                       { 0, NULL } };
static PyType_Slot model_slots[] = { { Py_tp_new, (void *)model_new },
                                     { Py_tp_dealloc, (void *)model_free },
                                     { Py_tp_methods, model_methods },
                                     { 0, NULL } };
static PyType_Spec context_spec = { "privet._core.Context", sizeof(context), 0, Py_TPFLAGS_DEFAULT, context_slots };
static PyType_Spec model_spec = { "privet._core.Model", sizeof(model), 0, Py_TPFLAGS_DEFAULT, model_slots };

static PyMethodDef functions[] = {
    { "report", page_report, METH_VARARGS, NULL },
    { "version", version, METH_NOARGS, NULL },
    { "arrow_names", arrow_names, METH_O, NULL },
    { NULL, NULL, 0, NULL },
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_core", NULL, -1, functions, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit__core(void); /* declared: nothing else is */
PyMODINIT_FUNC PyInit__core(void)
{
    PyObject *m = PyModule_Create(&definition);
    PyObject *c = m ? PyType_FromSpec(&context_spec) : NULL;
    model_type = c ? (PyTypeObject *)PyType_FromSpec(&model_spec) : NULL;
    if (!model_type || PyModule_AddObject(m, "Context", c) != 0) {
        Py_XDECREF(c);
        Py_XDECREF(m);
        return NULL;
    }
    return m;
}
