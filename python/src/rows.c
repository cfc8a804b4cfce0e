/* rows.c - rows that Python holds, for the library: addresses of arrays, a capsule with an Arrow stream, or columns
 * that are handed over as an Arrow stream in batches.
 *
 *   ("dense", address, type, rows, columns, row stride, column stride)
 *   ("csr", rows, columns, ptr, type, idx, type, val, type)
 *   ("arrow", capsule)
 *   ("table", [(name, format, format of its dictionary or None), ...], next)
 *   ("files", [path, ...])
 * next() is None, or one batch (rows, [(nulls, (address, ...), dictionary), ...], keep): for each column how many
 * values are null and its buffers by address, 0 for none; dictionary None or (values, (address, ...)); keep is held
 * until the batch is released.  The library reads streams on the thread that made the call, without the lock of the
 * interpreter: callbacks take it. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BUFFERS = 3 };

/* ---- a stream of columns --------------------------------------------------------------------------------- */

typedef struct table {
    PyObject *columns, *next;
    char error[512];
} table;

static void release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++)
        if (s->children && s->children[i]) {
            if (s->children[i]->release) s->children[i]->release(s->children[i]);
            free(s->children[i]);
        }
    if (s->dictionary) {
        if (s->dictionary->release) s->dictionary->release(s->dictionary);
        free(s->dictionary);
    }
    free(s->children);
    free(s->private_data); /* format and name in one piece */
    s->release = NULL;
}

static int make_schema(struct ArrowSchema *s, const char *format, const char *name)
{
    const size_t f = strlen(format) + 1, n = strlen(name) + 1;
    char *text = malloc(f + n);
    memset(s, 0, sizeof *s);
    if (!text) return -1;
    memcpy(text, format, f);
    memcpy(text + f, name, n);
    *s = (struct ArrowSchema) { .format = text,
                                .name = text + f,
                                .flags = ARROW_FLAG_NULLABLE,
                                .release = release_schema,
                                .private_data = text };
    return 0;
}

static int column_schema(struct ArrowSchema *s, PyObject *column)
{
    const char *name, *format, *dictionary;
    if (!PyArg_ParseTuple(column, "ssz", &name, &format, &dictionary) || make_schema(s, format, name) != 0) return -1;
    if (!dictionary) return 0;
    s->dictionary = calloc(1, sizeof *s->dictionary);
    return s->dictionary ? make_schema(s->dictionary, dictionary, "") : -1;
}

static int table_schema(PyObject *columns, struct ArrowSchema *out)
{
    const Py_ssize_t n = PyList_Size(columns);
    if (n < 0 || make_schema(out, "+s", "") != 0) return -1;
    out->children = calloc((size_t)n + 1, sizeof *out->children);
    if (!out->children) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        out->children[i] = calloc(1, sizeof **out->children);
        out->n_children = i + 1;
        if (!out->children[i] || column_schema(out->children[i], PyList_GetItem(columns, i)) != 0) return -1;
    }
    return 0;
}

/* An exception becomes the stream's last error; the one of Ctrl-C stays set, and the call is left with it. */
static int stream_failed(table *t)
{
    PyObject *type, *value, *trace;
    snprintf(t->error, sizeof t->error, "no memory");
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) return 5;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
    if (bytes) snprintf(t->error, sizeof t->error, "%s", PyBytes_AsString(bytes));
    PyErr_Clear();
    Py_XDECREF(bytes), Py_XDECREF(text), Py_XDECREF(type), Py_XDECREF(value), Py_XDECREF(trace);
    return 5;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    table *t = stream->private_data;
    const PyGILState_STATE lock = PyGILState_Ensure();
    int bad = table_schema(t->columns, out);
    if (bad) {
        bad = stream_failed(t);
        if (out->release) out->release(out);
    }
    PyGILState_Release(lock);
    return bad;
}

typedef struct held { /* what an array keeps */
    PyObject *keep;
    const void *buffers[MOST_BUFFERS];
} held;

static void release_array(struct ArrowArray *a)
{
    held *h = a->private_data;
    for (int64_t i = 0; i < a->n_children; i++)
        if (a->children && a->children[i]) {
            if (a->children[i]->release) a->children[i]->release(a->children[i]);
            free(a->children[i]);
        }
    if (a->dictionary) {
        if (a->dictionary->release) a->dictionary->release(a->dictionary);
        free(a->dictionary);
    }
    free(a->children);
    if (h && h->keep) {
        const PyGILState_STATE lock = PyGILState_Ensure();
        Py_DECREF(h->keep);
        PyGILState_Release(lock);
    }
    free(h);
    a->release = NULL;
}

/* buffers: a tuple of addresses, at most three. */
static int make_array(struct ArrowArray *a, int64_t length, int64_t nulls, PyObject *buffers)
{
    const Py_ssize_t n = PyTuple_Size(buffers);
    memset(a, 0, sizeof *a);
    held *h = n < 0 || n > MOST_BUFFERS ? NULL : calloc(1, sizeof *h);
    if (!h) return -1;
    *a = (struct ArrowArray) { .length = length,
                               .null_count = nulls,
                               .n_buffers = n,
                               .buffers = h->buffers,
                               .release = release_array,
                               .private_data = h };
    for (Py_ssize_t i = 0; i < n; i++) h->buffers[i] = PyLong_AsVoidPtr(PyTuple_GetItem(buffers, i));
    return PyErr_Occurred() ? -1 : 0;
}

static int column_array(struct ArrowArray *a, int64_t rows, PyObject *column)
{
    long long nulls, values;
    PyObject *buffers, *dictionary, *of;
    if (!PyArg_ParseTuple(column, "LO!O", &nulls, &PyTuple_Type, &buffers, &dictionary)) return -1;
    if (make_array(a, rows, nulls, buffers) != 0) return -1;
    if (dictionary == Py_None) return 0;
    if (!PyArg_ParseTuple(dictionary, "LO!", &values, &PyTuple_Type, &of)) return -1;
    a->dictionary = calloc(1, sizeof *a->dictionary);
    return a->dictionary ? make_array(a->dictionary, values, 0, of) : -1;
}

static int table_batch(PyObject *batch, struct ArrowArray *out)
{
    long long rows;
    PyObject *columns, *keep;
    if (!PyArg_ParseTuple(batch, "LO!O", &rows, &PyList_Type, &columns, &keep)) return -1;
    PyObject *none = Py_BuildValue("(i)", 0);
    const int bad = none ? make_array(out, rows, 0, none) : -1;
    Py_XDECREF(none);
    const Py_ssize_t n = PyList_Size(columns);
    if (bad) return -1;
    Py_INCREF(keep);
    ((held *)out->private_data)->keep = keep;
    out->children = calloc((size_t)n + 1, sizeof *out->children);
    if (!out->children) return -1;
    for (Py_ssize_t i = 0; i < n; i++) {
        out->children[i] = calloc(1, sizeof **out->children);
        out->n_children = i + 1;
        if (!out->children[i] || column_array(out->children[i], rows, PyList_GetItem(columns, i)) != 0) return -1;
    }
    return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    table *t = stream->private_data;
    const PyGILState_STATE lock = PyGILState_Ensure();
    int bad = 0;
    memset(out, 0, sizeof *out);
    PyObject *batch = PyObject_CallObject(t->next, NULL);
    if (!batch) bad = stream_failed(t);
    else if (batch != Py_None && table_batch(batch, out) != 0) {
        bad = stream_failed(t);
        if (out->release) out->release(out);
    }
    Py_XDECREF(batch);
    PyGILState_Release(lock);
    return bad;
}

static const char *last_error(struct ArrowArrayStream *stream)
{
    return ((table *)stream->private_data)->error;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    table *t = stream->private_data;
    const PyGILState_STATE lock = PyGILState_Ensure();
    Py_DECREF(t->columns);
    Py_DECREF(t->next);
    PyGILState_Release(lock);
    free(t);
    stream->release = NULL;
}

static pv_status open_table(pv_ctx *ctx, PyObject *rows, pv_data **out)
{
    const char *word;
    PyObject *columns, *next;
    if (!PyArg_ParseTuple(rows, "sO!O", &word, &PyList_Type, &columns, &next)) return PV_E_ARG;
    table *t = calloc(1, sizeof *t);
    if (!t) return PV_E_NOMEM;
    Py_INCREF(columns);
    Py_INCREF(next);
    t->columns = columns;
    t->next = next;
    struct ArrowArrayStream stream = { get_schema, get_next, last_error, release_stream, t };
    return pv_data_arrow(ctx, &stream, out);
}

/* ---- the others ---------------------------------------------------------------------------------------------- */

static pv_status open_arrow(pv_ctx *ctx, PyObject *rows, pv_data **out)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(PyTuple_GetItem(rows, 1), "arrow_array_stream");
    return stream ? pv_data_arrow(ctx, stream, out) : PV_E_ARG; /* taken over: the capsule is left an empty one */
}

static pv_status open_dense(pv_ctx *ctx, PyObject *rows, pv_data **out)
{
    const char *word;
    PyObject *address;
    int type;
    long long n, p, row, column;
    if (!PyArg_ParseTuple(rows, "sOiLLLL", &word, &address, &type, &n, &p, &row, &column)) return PV_E_ARG;
    const void *x = PyLong_AsVoidPtr(address);
    return PyErr_Occurred() ? PV_E_ARG : pv_data_dense(ctx, x, (pv_type)type, n, p, row, column, out);
}

static pv_status open_csr(pv_ctx *ctx, PyObject *rows, pv_data **out)
{
    const char *word;
    PyObject *part[3];
    int type[3];
    long long n, p;
    if (!PyArg_ParseTuple(rows, "sLLOiOiOi", &word, &n, &p, &part[0], &type[0], &part[1], &type[1], &part[2],
                          &type[2]))
        return PV_E_ARG;
    const void *ptr = PyLong_AsVoidPtr(part[0]), *idx = PyLong_AsVoidPtr(part[1]), *val = PyLong_AsVoidPtr(part[2]);
    if (PyErr_Occurred()) return PV_E_ARG;
    return pv_data_csr(ctx, n, p, ptr, (pv_type)type[0], idx, (pv_type)type[1], val, (pv_type)type[2], out);
}

static pv_status open_files(pv_ctx *ctx, PyObject *rows, pv_data **out)
{
    PyObject *list = PyTuple_GetItem(rows, 1);
    const Py_ssize_t n = PyList_Size(list);
    const char **path = n < 0 ? NULL : calloc((size_t)n + 1, sizeof *path);
    pv_status s = path ? PV_OK : PV_E_NOMEM;
    for (Py_ssize_t i = 0; s == PV_OK && i < n; i++) {
        path[i] = PyBytes_AsString(PyList_GetItem(list, i)); /* as the file system spells them */
        if (!path[i]) s = PV_E_ARG;
    }
    if (s == PV_OK) s = pv_data_files(ctx, path, n, out);
    free(path);
    return s;
}

static const struct {
    const char *word;
    pv_status (*open)(pv_ctx *ctx, PyObject *rows, pv_data **out);
} kinds[] = {
    { "dense", open_dense }, { "csr", open_csr },     { "arrow", open_arrow },
    { "table", open_table }, { "files", open_files }, { NULL, NULL },
};

static bool is_word(PyObject *tuple, const char *word)
{
    PyObject *first = PyTuple_GetItem(tuple, 0);
    return first && PyUnicode_CompareWithASCIIString(first, word) == 0;
}

/* A column that comes apart: labels, or ids of persons. */
static pv_status add_column(pv_data *d, PyObject *column,
                            pv_status (*numbers)(pv_data *, const void *, pv_type, int64_t),
                            pv_status (*words)(pv_data *, const char *const *, int64_t))
{
    const char *word;
    PyObject *address;
    int type;
    long long n;
    if (column == Py_None) return PV_OK;
    if (is_word(column, "numbers")) {
        if (!PyArg_ParseTuple(column, "sOiL", &word, &address, &type, &n)) return PV_E_ARG;
        return numbers(d, PyLong_AsVoidPtr(address), (pv_type)type, n);
    }
    if (!PyArg_ParseTuple(column, "sOL", &word, &address, &n)) return PV_E_ARG;
    return words(d, PyLong_AsVoidPtr(address), n);
}

/* Places in a list of words, for each row one. */
static pv_status add_places(pv_data *d, PyObject *column)
{
    const char *word;
    PyObject *places, *words;
    int type;
    long long n, count;
    if (!PyArg_ParseTuple(column, "sOiLOL", &word, &places, &type, &n, &words, &count)) return PV_E_ARG;
    return pv_data_label_places(d, PyLong_AsVoidPtr(places), (pv_type)type, n, PyLong_AsVoidPtr(words), count);
}

pv_data *rows_open(pv_ctx *ctx, PyObject *rows, PyObject *labels, PyObject *persons)
{
    pv_data *d = NULL;
    pv_status s = PV_E_ARG;
    for (int i = 0; PyTuple_Check(rows) && kinds[i].word; i++)
        if (is_word(rows, kinds[i].word)) s = kinds[i].open(ctx, rows, &d);
    if (s == PV_OK && labels != Py_None && is_word(labels, "places")) s = add_places(d, labels);
    else if (s == PV_OK) s = add_column(d, labels, pv_data_labels, pv_data_label_words);
    if (s == PV_OK) s = add_column(d, persons, pv_data_persons, pv_data_person_words);
    if (s == PV_OK && !PyErr_Occurred()) return d;
    pv_data_free(d);
    if (!PyErr_Occurred()) raise_status(ctx, s);
    return NULL;
}

PyObject *arrow_names(PyObject *module, PyObject *capsule)
{
    struct ArrowSchema schema = { 0 };
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    (void)module;
    if (!stream) return NULL;
    if (!stream->release || stream->get_schema(stream, &schema) != 0)
        return PyErr_SetString(PyExc_ValueError, "the Arrow stream has no schema"), NULL;
    PyObject *names = PyList_New(0);
    for (int64_t i = 0; names && i < schema.n_children; i++) {
        PyObject *name = PyUnicode_FromString(schema.children[i]->name ? schema.children[i]->name : "");
        if (!name || PyList_Append(names, name) != 0) Py_CLEAR(names);
        Py_XDECREF(name);
    }
    if (schema.release) schema.release(&schema);
    return names;
}
