/* statement.c - the guarantee in words a reader without the mathematics can use.
 *
 * Both texts are functions of the certificate's other fields and are written into it; reading a
 * certificate makes them again and compares, so words that promise more than the numbers cannot
 * pass.  The wording therefore belongs to the certificate's format version: what a version says stays
 * as it is, and changing a word means a new version.  Version 2 is frozen, although two of its sentences are wrong:
 * costs of several runs do not simply add up, and from epsilon = 13 on it said "more than" where it meant "up to".
 *
 * What the sentence renders, for neighbouring tables D, D' and every set S of outcomes:
 *   (1)  P[M(D) in S] <= e^epsilon P[M(D') in S] + delta                                         */
#include "cert.h"

const char pvi_cert_diagnostics[] = "Diagnostics computed from the rows without noise were shown to whoever ran the "
                                    "training; they are NOT PRIVATE and "
                                    "not covered by this certificate.";
const char pvi_cert_ideal_draws[] = "Above epsilon = 30 the finite accuracy of the draws is not included in delta.";
const char pvi_cert_holdout[] =
    "Measures on held-out rows were shown to whoever ran the training: none of those rows "
    "is among the rows trained on, and for the people in them nothing is promised.";
const char pvi_cert_part[] =
    "Of the rows that data_digest is of, a part was drawn at random without looking at any, and "
    "this certificate is about that part alone.";
const char pvi_cert_public_start[] = "The weights that the run started from are public: whoever ran it declared that "
                                     "nothing in them was learned from these rows.";
const char pvi_cert_found_classes[] = "The classes were found in the rows and are treated as public; declare them to "
                                      "avoid it.";

#define PERSON                                                                                                       \
    "Where a sentence says row, the unit is a person: all rows that carry the same id, of which at most "            \
    "rows_per_person count; of more, as many were drawn at random by a key that was kept nowhere, for each person "  \
    "on their own. "
const char *pvi_cert_person_rows(bool sum, bool by_rows)
{
    static const char *const sentence[2][2] = {
        { PERSON "Each person counts once: what is clipped is the mean over their rows.",
          PERSON "Each person counts by their rows out of rows_per_person: what is clipped is the mean over their "
                 "rows." },
        { PERSON "What is clipped is the sum over a person's rows.",
          PERSON "Each person counts by their rows out of rows_per_person: what is clipped is the sum over their "
                 "rows, divided by rows_per_person." },
    };
    return sentence[sum][by_rows];
}
#undef PERSON

bool pvi_cert_assumes(const pvi_cert *c, const char *sentence)
{
    for (int64_t i = 0; i < c->n_assumptions; i++)
        if (strcmp(c->assumptions[i], sentence) == 0) return true;
    return false;
}

static bool showed_diagnostics(const pvi_cert *c)
{
    return pvi_cert_assumes(c, pvi_cert_diagnostics);
}

static void put_f64(pvi_str *out, double x)
{
    char text[32] = "nan"; /* without the sign printf may give it */
    if (!isnan(x)) pvi_f64_text(x, text);
    pvi_str_puts(out, text);
}

/* e^epsilon for a reader: four digits, rounded up; large ones by the power of ten above. */
static void put_factor(pvi_str *out, const pvi_cert *c)
{
    static const double log10e = 0.4342944819032519;
    const bool small = c->epsilon >= 0.0 && c->epsilon < 13.0;
    if (small) {
        pvi_str_puts(out, "at most ");
        put_f64(out, pvi_digits_up(exp(c->epsilon) * (1.0 + 1e-9), 4));
    } else if (c->version == 2) {
        pvi_str_puts(out, "more than 400000");
    } else {
        pvi_str_puts(out, "at most 10^");
        put_f64(out, ceil(c->epsilon * log10e * (1.0 + 1e-12)));
    }
    pvi_str_puts(out, " (e^");
    put_f64(out, c->epsilon);
    pvi_str_puts(out, small || c->version == 2 ? ")" : "), which rules out next to nothing");
}

void pvi_cert_statement(const pvi_cert *c, pvi_str *out)
{
    const bool replace = c->relation == PV_REL_REPLACE;
    if (!c->is_private) {
        pvi_str_printf(out, "NOT PRIVATE (%s): %s, and no guarantee is given.",
                       c->why_not ? c->why_not : "no reason recorded",
                       pvi_cert_evaluation(c) ? "these counts may reveal the rows they were made of"
                                              : "this model may reveal the rows it was trained on");
        return;
    }
    pvi_str_puts(out, "Whatever else is known, ");
    if (c->version >= PVI_CERT_PERSONS)
        pvi_str_puts(out, replace ? "putting all rows of any other person in the place of all rows of one person"
                                  : "leaving out what all rows of any one person contribute");
    else
        pvi_str_puts(out, replace ? "putting any other row in the place of one row of the data"
                                  : "leaving out what any one row of the data contributes");
    pvi_str_puts(out, " would have changed the probability of ");
    pvi_str_puts(out, pvi_cert_evaluation(c)  ? "every result, the counts in releases included,"
                      : showed_diagnostics(c) ? "this model"
                                              : "every result, this model included,");
    pvi_str_puts(out, " by a factor of ");
    put_factor(out, c);
    pvi_str_puts(out, ", apart from a chance of ");
    put_f64(out, c->delta);
    pvi_str_puts(out, " (epsilon = ");
    put_f64(out, c->epsilon);
    pvi_str_puts(out, ", delta = ");
    put_f64(out, c->delta);
    pvi_str_puts(out, replace ? ", relation replace)." : ", relation zero-out).");
}

/* Sentences of the versions from `since` to `until` (0: the last), in their order. */
typedef struct sentence {
    int64_t since, until;
    bool (*said)(const pvi_cert *c);
    const char *text;
} sentence;

static bool always(const pvi_cert *c)
{
    return c->is_private;
}

static bool diagnostics(const pvi_cert *c)
{
    return c->is_private && showed_diagnostics(c);
}

static bool measured(const pvi_cert *c)
{
    return c->is_private && c->features_measured;
}

static bool found_classes(const pvi_cert *c)
{
    return c->is_private && pvi_cert_assumes(c, pvi_cert_found_classes);
}

static bool large_delta(const pvi_cert *c)
{
    return c->is_private && !(c->delta * (double)c->rows < 1.0);
}

static bool large_epsilon(const pvi_cert *c)
{
    return c->is_private && c->epsilon > 8.0;
}

static bool uncounted(const pvi_cert *c)
{
    return c->is_private && !pvi_cert_stage_of(c, pvi_kind_person_rows);
}

static bool counted(const pvi_cert *c)
{
    return c->is_private && pvi_cert_stage_of(c, pvi_kind_person_rows);
}

static bool evaluated(const pvi_cert *c)
{
    return c->is_private && pvi_cert_evaluation(c);
}

static bool not_private(const pvi_cert *c)
{
    return !c->is_private;
}

static const sentence not_covered[] = {
    { 2, 2, always,
      "Several rows about the same person: the guarantee is for one row, and k rows together cost at least k times "
      "epsilon." },
    { 4, 0, always,
      "Rows about one person under several ids, or about others in a person's rows: the guarantee is for all rows of "
      "one id. k persons together, a family for instance, have k times epsilon, and a delta that is at least k times "
      "as large." },
    { 3, 3, always,
      "Several rows about the same person: the guarantee is for one row. k rows together have k times epsilon, and a "
      "delta that is at least k times as large." },
    { 2, 2, always,
      "Other runs on the same data, earlier trials and tuning included: their costs add up, and this certificate "
      "counts one run." },
    { 3, 0, always,
      "Other runs on the same data, earlier trials and tuning included: this certificate counts one run. Several "
      "runs together cost at least as much as any one of them, and at most the sums of their epsilons and of their "
      "deltas; how much, an accountant says that is given the events of all of them." },
    { 2, 0, always,
      "What holds for a whole group: a model may teach something true of a person who was never in the data." },
    { 4, 0, counted,
      "The number of persons, the declared bounds, categories and labels, and every setting: they are treated as "
      "public. The number of rows is not: what is told of it are the noisy counts in releases, which epsilon "
      "covers." },
    { 4, 0, uncounted,
      "The number of persons, the cap on rows of one, the declared bounds, categories and labels, and every setting: "
      "they are treated as public. The number of rows is not, and is told nowhere." },
    { 2, 3, always,
      "The number of rows, the declared bounds, categories and labels, and every setting: they are treated as "
      "public." },
    { 2, 0, always,
      "Training loss, accuracy on the training rows and other diagnostics computed without noise, if anyone "
      "published them." },
    { 2, 0, always,
      "The data file, backups, memory and running time of the computer used: only the released model is covered." },
    { 3, 0, always,
      "That the run ended with a model: a row that cannot be read or, with data.outside=error, holds a value outside "
      "its declaration stops it, so that this may depend on one row." },
    { 3, 0, always,
      "Messages to whoever ran the training: one about a value that was refused quotes it, unless "
      "data.messages=place." },
    { 3, 0, evaluated,
      "The model that was evaluated, and the rows that it was trained on: its own certificate is about them. Figures "
      "of "
      "these rows without noise, if anyone published them." },
    { 2, 0, diagnostics,
      "The diagnostics this run showed: they were computed from the rows without noise and are NOT PRIVATE." },
    { 2, 0, measured, "The number of columns: it was taken from the data file and treated as public." },
    { 3, 0, found_classes,
      "Which classes there are: they were found in the rows, where one row may be the only one of its class." },
    { 4, 0, large_delta,
      "All rows of a person shown by bad luck: delta is not below one over the number of persons, which is larger "
      "than advisable." },
    { 2, 3, large_delta,
      "A whole row shown by bad luck: delta is not below one over the number of rows, which is larger than "
      "advisable." },
    { 2, 0, large_epsilon,
      "Much at all: an epsilon above 8 lets probabilities differ by a factor of thousands, which is weak." },
    { 2, 0, not_private, "Everything: this run was not private." },
};

void pvi_cert_not_covered(const pvi_cert *c, pvi_jw *w, const char *key)
{
    pvi_jw_open(w, key, '[');
    for (size_t i = 0; i < sizeof not_covered / sizeof *not_covered; i++) {
        const sentence *s = &not_covered[i];
        if (s->since <= c->version && (s->until == 0 || c->version <= s->until) && s->said(c))
            pvi_jw_str(w, NULL, s->text);
    }
    pvi_jw_close(w, ']');
}

/* ---- what verifying shows: no part of a certificate, so the words may change ---------------------------------- */

void pvi_cert_shown(const pvi_cert *c, bool is_model, pvi_jw *w, const char *key)
{
    pvi_jw_open(w, key, '[');
    pvi_jw_str(w, NULL,
               "The recorded releases, with the recorded noise, cost at most the claimed epsilon: "
               "recomputed, without the data.");
    pvi_jw_str(w, NULL, "What is said twice agrees, and every byte is as privet writes it.");
    if (is_model && c->version >= 3)
        pvi_jw_str(
            w, NULL,
            "The weights, the settings, the schema, the classes and the domain in this file are those that the "
            "certificate was written for.");
    pvi_jw_close(w, ']');
}

void pvi_cert_taken_on_trust(const pvi_cert *c, bool is_model, pvi_jw *w, const char *key)
{
    pvi_jw_open(w, key, '[');
    pvi_jw_str(
        w, NULL,
        pvi_cert_evaluation(c)
            ? "That the counts came out of such a release, with such noise, from such rows: whoever issued the "
              "file says so, and anyone can write one that says so. A signature would show who."
            : "That the weights came out of such releases, with such noise, from such rows: whoever issued the file "
              "says so, and anyone can write one that says so. A signature would show who.");
    if (pvi_cert_assumes(c, pvi_cert_public_start))
        pvi_jw_str(w, NULL, "That nothing in the weights it started from was learned from these rows.");
    if (c->version < 3)
        pvi_jw_str(w, NULL,
                   "That the model is the one this certificate was written for: a certificate of version 2 does not "
                   "bind weights, schema, classes and domain, and others may stand beside it.");
    else if (!is_model)
        pvi_jw_str(
            w, NULL,
            "Which model it is of: verify the model file, whose weights must have the digest that stands here.");
    pvi_jw_close(w, ']');
}
