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

const char pvi_cert_diagnostics[] = "Diagnostics computed from the rows without noise were shown to whoever ran the "
                                    "training; they are NOT PRIVATE and "
                                    "not covered by this certificate.";

static bool showed_diagnostics(const pvi_cert *c)
{
    for (int64_t i = 0; i < c->n_assumptions; i++)
        if (strcmp(c->assumptions[i], pvi_cert_diagnostics) == 0) return true;
    return false;
}

static void put_f64(pvi_str *out, double x)
{
    char text[32] = "nan"; /* without the sign printf may give it */
    if (!isnan(x)) pvi_f64_text(x, text);
    pvi_str_puts(out, text);
}

/* e^epsilon for a reader: four digits, rounded up. */
static void put_factor(pvi_str *out, double epsilon)
{
    if (epsilon >= 0.0 && epsilon < 13.0) {
        pvi_str_puts(out, "at most ");
        put_f64(out, pvi_digits_up(exp(epsilon) * (1.0 + 1e-9), 4));
    } else {
        pvi_str_puts(out, "more than 400000");
    }
    pvi_str_puts(out, " (e^");
    put_f64(out, epsilon);
    pvi_str_puts(out, ")");
}

void pvi_cert_statement(const pvi_cert *c, pvi_str *out)
{
    const bool replace = c->relation == PV_REL_REPLACE;
    if (!c->is_private) {
        pvi_str_printf(
            out, "NOT PRIVATE (%s): this model may reveal the rows it was trained on, and no guarantee is given.",
            c->why_not ? c->why_not : "no reason recorded");
        return;
    }
    pvi_str_puts(out, "Whatever else is known, ");
    pvi_str_puts(out, replace ? "putting any other row in the place of one row of the data"
                              : "leaving out what any one row of the data contributes");
    pvi_str_puts(out, " would have changed the probability of ");
    pvi_str_puts(out, showed_diagnostics(c) ? "this model" : "every result, this model included,");
    pvi_str_puts(out, " by a factor of ");
    put_factor(out, c->epsilon);
    pvi_str_puts(out, ", apart from a chance of ");
    put_f64(out, c->delta);
    pvi_str_puts(out, " (epsilon = ");
    put_f64(out, c->epsilon);
    pvi_str_puts(out, ", delta = ");
    put_f64(out, c->delta);
    pvi_str_puts(out, replace ? ", relation replace)." : ", relation zero-out).");
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
    if (c->is_private && showed_diagnostics(c))
        pvi_jw_str(
            w, NULL,
            "The diagnostics this run showed: they were computed from the rows without noise and are NOT PRIVATE.");
    if (c->is_private && c->features_measured)
        pvi_jw_str(w, NULL, "The number of columns: it was taken from the data file and treated as public.");
    if (c->is_private && !(c->delta * (double)c->rows < 1.0))
        pvi_jw_str(w, NULL,
                   "A whole row shown by bad luck: delta is not below one over the number of rows, which is larger "
                   "than advisable.");
    if (c->is_private && c->epsilon > 8.0)
        pvi_jw_str(
            w, NULL,
            "Much at all: an epsilon above 8 lets probabilities differ by a factor of thousands, which is weak.");
    if (!c->is_private) pvi_jw_str(w, NULL, "Everything: this run was not private.");
    pvi_jw_close(w, ']');
}
