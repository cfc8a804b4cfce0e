/* core.h - what the files of the binding share: the limited API of Python 3.9 and the public header, nothing else. */
#ifndef PRIVET_PYTHON_CORE_H
#define PRIVET_PYTHON_CORE_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "privet.h"

/* Rows as Python describes them, a tuple that begins with a word (rows.c), as a handle of the library; NULL: an
 * exception is set.  labels: None, ("numbers", address, type, n) or ("words", address, n).  What addresses point to
 * stays alive and unchanged until the handle is freed: whoever calls holds it. */
pv_data *rows_open(pv_ctx *ctx, PyObject *rows, PyObject *labels, PyObject *persons); /* Py_None: none */
/* Sets the exception that belongs to a status, with the library's message; returns NULL. */
PyObject *raise_status(pv_ctx *ctx, pv_status s);
/* The names of the columns of an Arrow stream in a capsule, as a list of str. */
PyObject *arrow_names(PyObject *module, PyObject *capsule);
/* The page of `privet report` as text. */
PyObject *page_report(PyObject *module, PyObject *given);
#endif
