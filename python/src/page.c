/* page.c - the page of `privet report`, made by files of the command (CMakeLists.txt names them) from texts. */
#include "core.h"

#include <stdlib.h>

#include "cli.h"

/* report(certificate, verification, curve, metrics, schema, effects, evaluation, name, rows, exact): texts, None
 * where there is none. */
PyObject *page_report(PyObject *module, PyObject *given)
{
    findings r = { 0 };
    int exact;
    (void)module;
    if (!PyArg_ParseTuple(given, "szzzzzzszp", &r.certificate.p, &r.verification.p, &r.curve.p, &r.metrics.p,
                          &r.schema.p, &r.effects.p, &r.evaluation.p, &r.model_file, &r.data_file, &exact))
        return NULL;
    r.exact = exact;
    char *html = report_html(&r);
    PyObject *text = PyUnicode_FromString(html);
    free(html);
    return text;
}
