/* statement.c - the guarantee in words a reader without the mathematics can use.
 *
 * Both texts are functions of the certificate's other fields and are written into it; reading a
 * certificate makes them again and compares, so words that promise more than the numbers cannot
 * pass.  The wording therefore belongs to the certificate's format version: changing a word here
 * means a new version.
 *
 * What the sentence renders, for neighbouring tables D, D' and every set S of outcomes:
 *   (1)  P[M(D) in S] <= e^epsilon P[M(D') in S] + delta                                         */
#include "out.h"

static void put_f64(pvi_str *out, double x)
{
    char text[32] = "nan"; /* without the sign printf may give it */
    if (!isnan(x)) pvi_f64_text(x, text);
    pvi_str_puts(out, text);
}

void pvi_cert_statement(const pvi_cert *c, pvi_str *out)
{
    if (!c->is_private) {
        pvi_str_printf(
            out, "NOT PRIVATE (%s): this model may reveal the rows it was trained on, and no guarantee is given.",
            c->why_not ? c->why_not : "no reason recorded");
        return;
    }
    pvi_str_puts(
        out, "Whoever sees this model, whatever else they know, learns almost nothing that depends on any one row: ");
    pvi_str_puts(out, c->relation == PV_REL_REPLACE ? "had that row been any other row"
                                                    : "had that row contributed nothing");
    pvi_str_puts(out, ", every result would have been at most e^");
    put_f64(out, c->epsilon);
    pvi_str_puts(out, " times as likely or unlikely, apart from a chance of ");
    put_f64(out, c->delta);
    pvi_str_puts(out, " (epsilon = ");
    put_f64(out, c->epsilon);
    pvi_str_puts(out, ", delta = ");
    put_f64(out, c->delta);
    pvi_str_puts(out, c->relation == PV_REL_REPLACE ? ", relation replace)." : ", relation zero-out).");
}

void pvi_cert_not_covered(const pvi_cert *c, pvi_jw *w, const char *key)
{
    static const char *const always[] = {
        "Several rows about the same person: the guarantee is for one row, and k rows together cost at least k times "
        "epsilon.",
        "Other runs on the same data, earlier trials and tuning included: their costs add up, and this certificate "
        "counts one run.",
        "What holds for a whole group: a model may teach something true of a person who was never in the data.",
        "The number of rows, the declared bounds, categories and labels, and every setting: they are treated as "
        "public.",
        "Training loss, accuracy on the training rows and other diagnostics computed without noise, if anyone "
        "published them.",
        "The data file, backups, memory and running time of the computer used: only the released model is covered.",
    };
    pvi_jw_open(w, key, '[');
    for (size_t i = 0; c->is_private && i < sizeof always / sizeof *always; i++) pvi_jw_str(w, NULL, always[i]);
    if (c->is_private && c->features_measured)
        pvi_jw_str(w, NULL, "The number of columns: it was taken from the data file and treated as public.");
    if (c->is_private && !(c->delta * (double)c->rows < 1.0))
        pvi_jw_str(w, NULL,
                   "A whole row shown by bad luck: delta is not below one over the number of rows, which is larger "
                   "than advisable.");
    if (!c->is_private) pvi_jw_str(w, NULL, "Everything: this run was not private.");
    pvi_jw_close(w, ']');
}
