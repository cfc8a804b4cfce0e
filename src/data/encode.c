/* encode.c - what one value becomes: the rules of tables, whether their values are text or in memory.
 *
 *   (1) number     (v - min) / (max - min) - center, after the column's `outside` policy; a date or time as text is
 *                  the number of days since 1970-01-01 (date.c)
 *   (2) category   1 at the value's feature, by the same policy that of "other"
 *   (3) missing    zero: nothing is stored;  middle: as if v were half way;  error: the table is refused
 *   (4) what is missing: texts that the schema lists; in memory also null, NaN and numbers equal to a listed text
 *
 * Each depends on the value and the declaration alone, so a row's encoding tells nothing about others. */
#include "encode.h"

enum { WHY = 256 };

static bool stands_for_nothing(const pvi_span *f)
{
    static const char *const words[] = { "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?", "-" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (f->len == strlen(words[i]) && memcmp(f->s, words[i], f->len) == 0) return true;
    return false;
}

static void say(char *why, const char *fmt, ...) PVI_PRINTF(2, 3);
static void say(char *why, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why, WHY, fmt, ap);
    va_end(ap);
}

/* fmt has the column's name and the value. */
#define complain(e, kind, fmt, name, f)                                                                              \
    (*(e)->what = kind, say((e)->why, fmt, name, pvi_excerpt((f)->s, (f)->len, (char[48]) { 0 })), PVI_UNFIT)

pvi_outcome pvi_encode_missing(const pvi_encoder *e, const pvi_column *col, const pvi_span *f)
{
    if (col->missing != PVI_MISSING_ERROR) return PVI_ABSENT;
    if (col->raw)
        return complain(e, PVI_NO_NUMBER,
                        "%scolumns without a schema must be numbers, found '%s'; a schema can declare "
                        "text, a header and missing values",
                        "", f);
    return complain(
        e, PVI_NO_VALUE,
        "column \"%s\" has no value ('%s'); \"missing\": \"middle\" or \"zero\" in the schema would allow it",
        col->name, f);
}

static pvi_outcome not_finite(const pvi_encoder *e, const pvi_column *col, const pvi_span *f)
{
    double x;
    if (f->len >= 512)
        return complain(e, PVI_NO_NUMBER, "column \"%s\": a number of more than 511 characters: %s", col->name, f);
    const bool number = e->plain ? pvi_parse_f64(f->s, f->len, &x) : pvi_spelt_number(e->sc, f->s, f->len, &x);
    if (!col->raw && (!number || stands_for_nothing(f)) &&
        (col->text >= 0 ? col->text : e->outside.text) == PVI_OUTSIDE_MISSING)
        return pvi_encode_missing(e, col, f);
    if (!col->raw && stands_for_nothing(f)) {
        char word[48];
        pvi_excerpt(f->s, f->len, word);
        *e->what = PVI_NO_NUMBER;
        say(e->why,
            "column \"%s\": '%s' is not a number; \"missing\": [\"\", \"%s\"] beside \"columns\" says that it stands "
            "for no "
            "value",
            col->name, word, word);
        return PVI_REFUSED;
    }
    if (!number) {
        if (col->raw) return pvi_encode_missing(e, col, f);
        return complain(e, col->date ? PVI_NO_DATE : PVI_NO_NUMBER,
                        col->date ? "column \"%s\": '%s' is not a date as 2024-01-31"
                                  : "column \"%s\": '%s' is not a number",
                        col->name, f);
    }
    if (isfinite(x))
        return complain(e, PVI_NO_NUMBER, "column \"%s\": %s is too large for a 32-bit float", col->name, f);
    return complain(e, PVI_NO_NUMBER, "column \"%s\": '%s' is not a finite number", col->name, f);
}

static void bound_text(const pvi_column *col, double v, char out[32])
{
    if (col->date && v == floor(v) && fabs(v) < 2.9e6) pvi_date_text((int64_t)v, out);
    else pvi_f64_text(v, out);
}

/* v inside the bounds, by the column's policy. */
static pvi_outcome within(const pvi_encoder *e, const pvi_column *col, const pvi_span *f, double *v)
{
    if (*v >= col->lo && *v <= col->hi) return PVI_TAKEN;
    switch (col->outside >= 0 ? col->outside : e->outside.numbers) {
    case PVI_OUTSIDE_CLAMP: *v = *v < col->lo ? col->lo : col->hi; return PVI_TAKEN;
    case PVI_OUTSIDE_MISSING: return pvi_encode_missing(e, col, f);
    default: break;
    }
    char lo[32], hi[32], part[48];
    bound_text(col, col->lo, lo);
    bound_text(col, col->hi, hi);
    *e->what = PVI_OUTSIDE;
    snprintf(e->why, WHY, "column \"%s\": %s is outside the declared %s .. %s; data.outside=%s would clamp it",
             col->name, pvi_excerpt(f->s, f->len, part), lo, hi, e->sc->categories ? "usual" : "clamp");
    return PVI_REFUSED;
}

pvi_outcome pvi_encode_text(const pvi_encoder *e, const pvi_column *col, const pvi_span *f, double *v)
{
    if (pvi_dictionary_find(&e->sc->missing, f->s, f->len) >= 0) return pvi_encode_missing(e, col, f);
    const bool spelt = e->plain ? pvi_number(f->s, f->len, v) : pvi_spelt_number(e->sc, f->s, f->len, v);
    const bool number = spelt || (!col->raw && pvi_date_parse(f->s, f->len, v)); /* (1) */
    if (!number || !isfinite(*v) || (col->raw && fabs(*v) > col->hi)) return not_finite(e, col, f);
    return within(e, col, f, v);
}

pvi_outcome pvi_encode_number(const pvi_encoder *e, const pvi_column *col, double x, const pvi_span *f, double *v)
{
    *v = x;
    if (isnan(x) || (e->sc->numeric_missing && pvi_dictionary_match(&e->sc->missing, f->s, f->len) >= 0)) /* (4) */
        return pvi_encode_missing(e, col, f);
    if (isinf(x) || (col->raw && fabs(x) > col->hi)) return not_finite(e, col, f);
    return within(e, col, f, v);
}

pvi_outcome pvi_encode_word(const pvi_encoder *e, const pvi_column *col, const pvi_span *f, bool number,
                            int32_t *code)
{
    *code = pvi_dictionary_find(&col->words, f->s, f->len);
    if (*code < 0 && number) *code = pvi_dictionary_match(&col->words, f->s, f->len);
    if (*code >= 0) return PVI_TAKEN;
    const pvi_dictionary *missing = &e->sc->missing;
    const int32_t listed =
        number ? pvi_dictionary_match(missing, f->s, f->len) : pvi_dictionary_find(missing, f->s, f->len);
    const int64_t policy = col->outside >= 0 ? col->outside : e->outside.categories;
    if (listed < 0 && policy == PVI_OUTSIDE_OTHER && col->other >= 0) return *code = col->other, PVI_TAKEN;
    if (listed >= 0 || policy == PVI_OUTSIDE_MISSING || policy == PVI_OUTSIDE_OTHER)
        return pvi_encode_missing(e, col, f);
    return complain(e, PVI_UNDECLARED,
                    "column \"%s\": '%s' is not one of its declared values; data.outside=usual would take it for "
                    "\"other\" or none",
                    col->name, f);
}
