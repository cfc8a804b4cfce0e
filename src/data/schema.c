/* schema.c - the declared columns of a table, from JSON.
 *
 *   {"header": true, "separator": ";", "decimal": ",", "thousands": ".", "trailing": true, "skip": 0,
 *    "missing": ["", "?"],
 *    "columns": [{"name": "age", "type": "number", "min": 17, "max": 90},
 *                {"name": "job", "type": "category", "values": ["a", ["b", "B"]], "missing": "zero"},
 *                {"name": "income", "type": "label", "values": ["<=50K", ">50K"]},
 *                {"name": "id", "type": "ignore"}, {"name": "remarks", "type": "text"},
 *                {"name": "smoker", "type": "boolean"}]}
 *
 *   (1) number    one feature, (v - min) / (max - min) in 0..1
 *   (2) category  one 0/1 feature per value; a list inside `values` holds spellings of one value, whose name is the
 *                 first, and {"name": [..]} a group with a name of its own, which counts as a spelling, too
 *   (3) label     `values`: classes; min and max: a real number
 *   (4) date      a number, of days since 1970-01-01; min and max as 2024-01-31 or as numbers of days
 *   (5) person    says whose row it is; no feature (persons.c).  `rows`: how many of one count, at most, unless
 *                 data.person_rows says it
 *   (6) curves    of numbers and dates (curves.c): "curve": false for a straight line, "knots": [..] increasing and
 *                 within the bounds, or "scale": linear, log or symlog, which says where knots are put;
 *                 "placed" marks, in a model's schema, knots that its run bought (knots.c): another run may not
 *                 declare what its certificate would not count
 *                 "monotone": "up" or "down", a curve that never falls or never rises (run/monotone.c)
 *
 *   (7) boolean   a category of two values, "no" and "yes", in the spellings `truths`; "values": "boolean" of a label
 *   (8) text      ignored, and a note says so
 *
 * Everything a row is compared with stands here, so nothing about the encoding is learned from rows.
 * A key nobody knows is refused: a misspelt "mx" must not leave a bound at its default. */
#include <float.h>

#include "encode.h"

enum { MAX_FILE = 64 << 20, MAX_WORD = 1000, MAX_COLUMNS = 1 << 24 };

typedef struct reading {
    pv_ctx *ctx;
    pv_arena *arena;
    const char *name;
    pvi_schema *s;
} reading;

static pv_status bad(const reading *r, const pvi_json *at, const char *fmt, ...) PVI_PRINTF(3, 4);
static pv_status bad(const reading *r, const pvi_json *at, const char *fmt, ...)
{
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return pvi_fail(r->ctx, PV_E_FORMAT, "%s:%d:%d: %s", r->name, at->line, at->column, what);
}

static const char *const table_keys[] = { "$schema",   "header",   "separator", "skip",   "decimal",
                                          "thousands", "trailing", "missing",   "columns" };
static const char *const column_keys[] = { "name",    "type",    "min",      "max",   "values",
                                           "missing", "outside", "curve",    "knots", "scale",
                                           "rows",    "source",  "monotone", "text",  "placed" };
enum { TABLE_KEYS = sizeof table_keys / sizeof *table_keys, COLUMN_KEYS = sizeof column_keys / sizeof *column_keys };

static bool is_one_of(const char *key, const char *const *keys, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

static pv_status known_keys(const reading *r, const pvi_json *obj, bool column)
{
    const char *const *keys = column ? column_keys : table_keys, *const *other = column ? table_keys : column_keys;
    const int64_t n = column ? COLUMN_KEYS : TABLE_KEYS, others = column ? TABLE_KEYS : COLUMN_KEYS;
    for (const pvi_json *v = obj->child; v; v = v->next) {
        if (is_one_of(v->key, keys, n)) continue;
        if (is_one_of(v->key, other, others))
            return bad(r, v, "\"%s\" belongs %s", v->key, column ? "beside \"columns\", not in one" : "in a column");
        const char *near = pvi_nearest(v->key, keys, n);
        return bad(r, v, "unknown key \"%s\" in %s%s%s%s", v->key, column ? "a column" : "the schema",
                   near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    return PV_OK;
}

/* ---- values: "a" or ["a", "alias", ...], each a text or a number as written ------------------------ */
static bool is_word(const pvi_json *v)
{
    return v->type == PVI_JSTR || v->type == PVI_JNUM;
}

static pv_status one_word(const reading *r, const pvi_json *v, bool may_be_empty, pvi_span *out)
{
    if (!is_word(v)) return bad(r, v, "a text or a number is needed here");
    if (v->text_len > MAX_WORD) return bad(r, v, "longer than %d bytes", MAX_WORD);
    if (v->text_len == 0 && !may_be_empty)
        return bad(r, v, "an empty text cannot be a value; list it under \"missing\"");
    *out = (pvi_span) { v->text, v->text_len };
    return PV_OK;
}

static int64_t count_words(const pvi_json *list)
{
    int64_t n = 0;
    for (const pvi_json *v = list->child; v; v = v->next) {
        const pvi_json *of = v->type == PVI_JOBJ && v->child ? v->child : v; /* a name, and the spellings */
        n += (of != v) + (of->type == PVI_JARR ? of->count : 1);
    }
    return n;
}

/* `further`: a word of its own behind them unless it is among them; NULL: none. */
static pv_status read_words(const reading *r, const pvi_json *list, bool markers, const pvi_span *further,
                            pvi_dictionary *out)
{
    if (list->type != PVI_JARR) return bad(r, list, "\"%s\" must be a list of texts", list->key);
    int64_t n = count_words(list);
    pvi_span *span = pv_arena_get(r->arena, sizeof *span * (size_t)(n + 1));
    int32_t *code = pv_arena_get(r->arena, sizeof *code * (size_t)(n + 1)), k = 0;
    const pvi_json **from = pv_arena_get(r->arena, sizeof *from * (size_t)(n + 1));
    int64_t i = 0, twice;
    pv_status s = PV_OK;
    if (!span || !code || !from) return pvi_nomem(r->ctx);
    for (const pvi_json *v = list->child; v; v = v->next, k++) {
        const pvi_json *of = v->type == PVI_JOBJ ? v->child : v;
        if (of != v && (!of || of->next || of->type != PVI_JARR))
            return bad(r, v,
                       "a group has one name and a list of spellings, as in {\"attack\": [\"smurf\", \"back\"]}");
        if (of->type == PVI_JARR && of->count == 0) return bad(r, of, "an empty list of spellings");
        const size_t name = of != v ? strlen(of->key) : 0;
        if (of != v && (name == 0 || name > MAX_WORD))
            return bad(r, v, "a group needs a name, of %d bytes at most", MAX_WORD);
        if (of != v) { /* the first of its spellings */
            span[i] = (pvi_span) { of->key, name };
            code[i] = k;
            from[i++] = v;
        }
        for (const pvi_json *w = of->type == PVI_JARR ? of->child : of; w;
             w = of->type == PVI_JARR ? w->next : NULL) {
            if ((s = one_word(r, w, markers, &span[i])) != PV_OK) return s;
            if (of != v && span[i].len == name && memcmp(span[i].s, of->key, name) == 0) continue;
            if (further && span[i].len == further->len && memcmp(span[i].s, further->s, further->len) == 0)
                further = NULL;
            code[i] = k;
            from[i++] = w;
        }
    }
    n = i;
    if (further) {
        span[n] = *further;
        code[n] = k;
        from[n++] = list;
    }
    if ((s = pvi_dictionary_build(r->ctx, r->arena, n, span, code, out, &twice)) != PV_OK) return s;
    return twice < 0 ? PV_OK : bad(r, from[twice], "\"%s\" is listed twice", span[twice].s);
}

/* ---- one column -------------------------------------------------------------------------------------- */
static pv_status choice(const reading *r, const pvi_json *v, const char *const *words, int n, int64_t *out)
{
    if (!v) return PV_OK;
    char list[96] = "";
    for (int i = 0; i < n && v->type == PVI_JSTR; i++)
        if (strcmp(v->text, words[i]) == 0) return *out = i, PV_OK;
    for (int i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"",
                 i == 0       ? ""
                 : i == n - 1 ? " or "
                              : ", ",
                 words[i]);
    return bad(r, v, "\"%s\" must be %s", v->key, list);
}

static pv_status one_number(const reading *r, const pvi_json *x, const pvi_column *c, const char *key, double *out)
{
    if (c->date && x->type == PVI_JSTR) /* (4) */
        return pvi_date_parse(x->text, x->text_len, out)
                   ? PV_OK
                   : bad(r, x, "column \"%s\": \"%s\" must be a date, as in \"2024-01-31\"", c->name, key);
    if (x->type != PVI_JNUM)
        return bad(r, x, "column \"%s\": \"%s\" must be a number%s", c->name, key,
                   x->type == PVI_JSTR ? ", written without quotes" : "");
    if (!(fabs(x->num) <= PVI_BOUND_MAX))
        return bad(r, x, "column \"%s\": \"%s\" must lie between -%g and %g, for 32-bit floats", c->name, key,
                   PVI_BOUND_MAX, PVI_BOUND_MAX);
    *out = x->num;
    return PV_OK;
}

static pv_status bound(const reading *r, const pvi_json *v, const pvi_column *c, const char *key, double *out)
{
    const pvi_json *x = pvi_json_get(v, key);
    if (x) return one_number(r, x, c, key, out);
    return bad(r, v, "column \"%s\" needs \"min\" and \"max\"%s: declared, not taken from the rows", c->name,
               c->type == PVI_COL_LABEL ? ", or \"values\" if it names classes" : "");
}

bool pvi_bounds_ok(double lo, double hi)
{
    if (!isfinite(lo) || !isfinite(hi) || !(lo < hi) || !isfinite(hi - lo)) return false;
    return hi - lo > 1e-6 * fmax(fabs(lo), fabs(hi)) && fabs(lo) <= PVI_BOUND_MAX && fabs(hi) <= PVI_BOUND_MAX;
}

static pv_status bounds(const reading *r, const pvi_json *v, pvi_column *c)
{
    pv_status s = bound(r, v, c, "min", &c->lo);
    if (s == PV_OK) s = bound(r, v, c, "max", &c->hi);
    if (s != PV_OK) return s;
    c->from = c->lo;
    c->range = c->hi - c->lo;
    if (pvi_bounds_ok(c->lo, c->hi)) return PV_OK;
    return bad(r, pvi_json_get(v, "max"), "column \"%s\": \"max\" must be above \"min\"%s", c->name,
               c->lo < c->hi ? " by more than 32-bit floats are apart" : "");
}

static const char *const missing[] = { "error", "zero", "middle" },
                         *const outside[] = { "error", "clamp", "missing", "other" },
                         *const texts[] = { "error", "missing" };

static pv_status policies(const reading *r, const pvi_json *v, pvi_column *c)
{
    int64_t m = c->type == PVI_COL_CATEGORY ? PVI_MISSING_ZERO : PVI_MISSING_ERROR;
    const pvi_json *at = pvi_json_get(v, "missing");
    pv_status s = choice(r, at, missing, 3, &m);
    if (s != PV_OK) return s;
    c->missing = (pvi_missing)m;
    c->outside = -1;
    if (at && m == PVI_MISSING_MIDDLE && c->type != PVI_COL_NUMBER)
        return bad(r, at, "\"middle\" is for numbers only");
    if (at && m != PVI_MISSING_ERROR && c->type == PVI_COL_LABEL) return bad(r, at, "a label cannot be missing");
    at = pvi_json_get(v, "outside");
    if ((s = choice(r, at, outside, 4, &c->outside)) != PV_OK) return s;
    if (at && c->outside == PVI_OUTSIDE_OTHER && c->type != PVI_COL_CATEGORY)
        return bad(r, at, "\"other\" is for categories only");
    if (at && c->outside == PVI_OUTSIDE_CLAMP && (c->type == PVI_COL_CATEGORY || c->words.count > 0))
        return bad(r, at, "\"clamp\" is for numbers only");
    if (at && c->outside == PVI_OUTSIDE_MISSING && c->type == PVI_COL_LABEL)
        return bad(r, at, "a label cannot be missing");
    c->text = -1;
    at = pvi_json_get(v, "text");
    if (at && c->type != PVI_COL_NUMBER) return bad(r, at, "\"text\" is for numbers and dates only");
    if ((s = choice(r, at, texts, 2, &c->text)) != PV_OK) return s;
    if (c->text > 0) c->text = PVI_OUTSIDE_MISSING;
    if (c->text > 0 && c->missing == PVI_MISSING_ERROR)
        return bad(r, at, "column \"%s\": \"text\": \"missing\" needs \"missing\": \"middle\" or \"zero\"", c->name);
    return PV_OK;
}

/* ---- (6) ---------------------------------------------------------------------------------------------- */
static pv_status read_knots(const reading *r, const pvi_json *list, pvi_column *c)
{
    if (list->type != PVI_JARR || list->count < 2 || list->count > PVI_KNOTS_MOST)
        return bad(r, list, "column \"%s\": \"knots\" must list 2 to %d numbers", c->name, PVI_KNOTS_MOST);
    c->knot = pv_arena_f64(r->arena, list->count);
    if (!c->knot) return pvi_nomem(r->ctx);
    for (const pvi_json *x = list->child; x; x = x->next) {
        double *k = &c->knot[c->knots];
        if (x->type != PVI_JNUM && !(c->date && x->type == PVI_JSTR))
            return bad(r, x, "column \"%s\": a knot must be a %s%s", c->name, c->date ? "date" : "number",
                       x->type == PVI_JSTR ? ", written without quotes" : "");
        const pv_status s = one_number(r, x, c, "knots", k);
        if (s != PV_OK) return s;
        if (!(*k >= c->lo && *k <= c->hi))
            return bad(r, x, "column \"%s\": a knot must lie between \"min\" and \"max\"", c->name);
        if (c->knots > 0 && !((float)pvi_encode_feature(c, *k, 0.0) > (float)pvi_encode_feature(c, k[-1], 0.0)))
            return bad(r, x, "column \"%s\": knots must increase%s", c->name,
                       *k > k[-1] ? ", by more than 32-bit floats are apart" : "");
        c->knots++;
    }
    return PV_OK;
}

static pv_status read_monotone(const reading *r, const pvi_json *v, pvi_column *c)
{
    if (!v) return PV_OK;
    if (c->type != PVI_COL_NUMBER)
        return bad(r, v, "column \"%s\": \"monotone\" is for numbers and dates: %s", c->name,
                   c->type == PVI_COL_CATEGORY ? "the values of a category have no order"
                                               : "this column has no curve");
    if (v->type == PVI_JSTR && strcmp(v->text, "up") == 0) c->monotone = 1;
    else if (v->type == PVI_JSTR && strcmp(v->text, "down") == 0) c->monotone = -1;
    else return bad(r, v, "column \"%s\": \"monotone\" must be \"up\" or \"down\"", c->name);
    return PV_OK;
}

static pv_status read_curve(const reading *r, const pvi_json *v, pvi_column *c)
{
    static const char *const scales[] = { "linear", "log", "symlog" };
    const pvi_json *curve = pvi_json_get(v, "curve"), *knots = pvi_json_get(v, "knots"),
                   *scale = pvi_json_get(v, "scale"), *placed = pvi_json_get(v, "placed"),
                   *any = curve   ? curve
                          : knots ? knots
                          : scale ? scale
                                  : placed;
    if (!any) return PV_OK;
    if (c->type != PVI_COL_NUMBER)
        return bad(r, any, "column \"%s\": \"%s\" is for numbers and dates only", c->name, any->key);
    if (curve && curve->type != PVI_JBOOL) return bad(r, curve, "\"curve\" must be true or false");
    if (placed && !(placed->type == PVI_JBOOL && placed->num != 0.0 && knots))
        return bad(r, placed, "\"placed\" is true, of \"knots\" that a histogram of rows placed");
    c->straight = curve && curve->num == 0.0;
    if (c->straight && (knots || scale))
        return bad(r, knots ? knots : scale, "column \"%s\" is to be straight: it has no knots", c->name);
    if (knots && scale)
        return bad(r, scale, "column \"%s\": \"scale\" places knots, and \"knots\" has them", c->name);
    const pv_status s = choice(r, scale, scales, 3, &c->scale);
    if (s != PV_OK) return s;
    if (c->scale == PVI_SCALE_LOG && !(c->lo > 0.0))
        return bad(r, scale, "column \"%s\": \"log\" needs a \"min\" above 0; \"symlog\" takes any", c->name);
    c->bought = placed != NULL;
    return knots ? read_knots(r, knots, c) : PV_OK;
}

/* (7) */
static const char truths[][32] = { "no",  "No",  "NO",  "n", "N", "false", "False", "FALSE", "f", "F", "0",
                                   "yes", "Yes", "YES", "y", "Y", "true",  "True",  "TRUE",  "t", "T", "1" };
enum { TRUTHS = sizeof truths / sizeof *truths };

bool pvi_is_truth(const char *word)
{
    for (int i = 0; i < TRUTHS; i++)
        if (strcmp(truths[i], word) == 0) return true;
    return false;
}

static pv_status read_truths(const reading *r, pvi_column *c)
{
    pvi_span span[TRUTHS];
    int32_t code[TRUTHS];
    int64_t twice;
    c->other = -1;
    for (int i = 0; i < TRUTHS; i++) {
        span[i] = (pvi_span) { truths[i], strlen(truths[i]) };
        code[i] = i >= TRUTHS / 2;
    }
    return pvi_dictionary_build(r->ctx, r->arena, TRUTHS, span, code, &c->words, &twice);
}

static bool says_boolean(const pvi_json *v)
{
    return v && v->type == PVI_JSTR && strcmp(v->text, "boolean") == 0;
}

static pv_status read_label(const reading *r, const pvi_json *v, pvi_column *c)
{
    const pvi_json *values = pvi_json_get(v, "values");
    if (!values) return bounds(r, v, c);
    if (says_boolean(values)) return read_truths(r, c);
    if (pvi_json_get(v, "min") || pvi_json_get(v, "max"))
        return bad(r, v, "label \"%s\" has \"values\" (classes) and bounds (a number): only one can hold", c->name);
    pv_status s = read_words(r, values, false, NULL, &c->words);
    if (s == PV_OK && c->words.codes < 2) s = bad(r, values, "label \"%s\" needs two or more values", c->name);
    return s;
}

/* Where values that are not declared count as "other", that is a value. */
static pv_status read_category(const reading *r, const pvi_json *v, const pvi_json *values, pvi_column *c)
{
    static const char text[32] = "other";
    const pvi_span other = { text, 5 };
    const pvi_json *policy = pvi_json_get(v, "outside");
    const bool wanted = policy && policy->type == PVI_JSTR && strcmp(policy->text, text) == 0;
    const pv_status s = read_words(r, values, false, wanted ? &other : NULL, &c->words);
    if (s == PV_OK) c->other = pvi_dictionary_find(&c->words, text, 5);
    return s;
}

static pv_status read_person(const reading *r, const pvi_json *v, int64_t index)
{
    const pvi_json *rows = pvi_json_get(v, "rows");
    if (r->s->person >= 0) return bad(r, v, "a second person: only one column can say whose row it is");
    r->s->person = index;
    if (rows && (!pvi_json_i64(rows, &r->s->person_rows) || r->s->person_rows < 1 || r->s->person_rows > 1000000000))
        return bad(r, rows, "\"rows\" must say how many rows of one person count, at most: 1 to 1000000000");
    return PV_OK;
}

static pv_status read_type(const reading *r, const pvi_json *v, pvi_column *c)
{
    static const struct {
        const char *name;
        pvi_coltype type;
    } types[] = { { "number", PVI_COL_NUMBER }, { "date", PVI_COL_NUMBER },      { "category", PVI_COL_CATEGORY },
                  { "label", PVI_COL_LABEL },   { "boolean", PVI_COL_CATEGORY }, { "person", PVI_COL_PERSON },
                  { "ignore", PVI_COL_IGNORE }, { "text", PVI_COL_IGNORE } };
    enum { TYPES = sizeof types / sizeof *types };
    const char *name[TYPES];
    const pvi_json *t = pvi_json_get(v, "type");
    for (int i = 0; i < TYPES; i++) {
        name[i] = types[i].name;
        if (!t || t->type != PVI_JSTR || strcmp(t->text, name[i]) != 0) continue;
        c->type = types[i].type;
        c->date = strcmp(name[i], "date") == 0;   /* (4) */
        c->unread = strcmp(name[i], "text") == 0; /* (8) */
        return PV_OK;
    }
    if (t && t->type == PVI_JSTR && strcmp(t->text, "open") == 0) /* draft.c */
        return bad(
            r, t,
            "column \"%s\" is still open: it is a number or date with \"min\" and \"max\", a category or label "
            "with \"values\", boolean, text, the person, or ignore",
            c->name);
    const char *near = t && t->type == PVI_JSTR ? pvi_nearest(t->text, name, TYPES) : NULL;
    if (near) return bad(r, t, "column \"%s\": no type \"%s\"; did you mean \"%s\"?", c->name, t->text, near);
    if (t && t->type == PVI_JSTR)
        return bad(r, t,
                   "column \"%s\": no type \"%s\"; there is number, date, category, boolean, label, person, text and "
                   "ignore",
                   c->name, t->text);
    return bad(r, t ? t : v,
               "column \"%s\" needs a \"type\": number, date, category, boolean, label, person, text or ignore",
               c->name);
}

static pv_status read_column(reading *r, const pvi_json *v, int64_t index, pvi_column *c)
{
    if (v->type != PVI_JOBJ)
        return bad(r, v, "a column is an object, as in {\"name\": \"age\", \"type\": \"number\", ...}");
    pv_status s = known_keys(r, v, true);
    if (s != PV_OK) return s;
    const pvi_json *name = pvi_json_get(v, "name");
    if (!name || name->type != PVI_JSTR) return bad(r, v, "column %lld needs a \"name\"", (long long)index + 1);
    c->name = name->text;
    const pvi_json *source = pvi_json_get(v, "source");
    if (source && (source->type != PVI_JSTR || source->text_len > 200))
        return bad(r, source, "column \"%s\": \"source\" says in a few words where its declaration is from", c->name);
    c->source = source ? source->text : NULL;
    if ((s = read_type(r, v, c)) != PV_OK) return s;
    pvi_schema *sc = r->s;
    c->first = (int32_t)sc->features;
    switch (c->type) {
    case PVI_COL_NUMBER:
        s = bounds(r, v, c);
        sc->features++;
        break;
    case PVI_COL_CATEGORY: {
        const pvi_json *values = pvi_json_get(v, "values");
        const bool truth = says_boolean(pvi_json_get(v, "type"));
        if (truth && values)
            return bad(r, values, "boolean \"%s\" has the values no and yes, and no others", c->name);
        if (!truth && !says_boolean(values) && (!values || values->count == 0))
            return bad(r, v, "category \"%s\" needs \"values\": every one it may take", c->name);
        s = truth || says_boolean(values) ? read_truths(r, c) : read_category(r, v, values, c);
        sc->features += c->words.codes;
        sc->categories++;
        break;
    }
    case PVI_COL_LABEL:
        if (sc->label >= 0) return bad(r, v, "a second label: only one column can be it");
        sc->label = index;
        s = read_label(r, v, c);
        break;
    case PVI_COL_PERSON: s = read_person(r, v, index); break;
    case PVI_COL_IGNORE: break;
    }
    if (c->type != PVI_COL_PERSON && pvi_json_get(v, "rows"))
        return bad(r, pvi_json_get(v, "rows"), "\"rows\" is for a column of type person");
    if (s == PV_OK) s = read_curve(r, v, c);
    if (s == PV_OK) s = read_monotone(r, pvi_json_get(v, "monotone"), c);
    return s == PV_OK ? policies(r, v, c) : s;
}

/* ---- the whole ------------------------------------------------------------------------------------------ */
static pv_status default_missing(pv_ctx *ctx, pv_arena *a, pvi_schema *sc)
{
    static const pvi_span nothing = { "", 0 };
    static const int32_t zero;
    int64_t twice;
    return pvi_dictionary_build(ctx, a, 1, &nothing, &zero, &sc->missing, &twice);
}

/* A mark within numbers: one of `all`. */
static pv_status read_mark(const reading *r, const pvi_json *x, const char *all, char *out)
{
    if (x && (x->type != PVI_JSTR || x->text_len != 1 || !strchr(all, x->text[0])))
        return bad(r, x, "\"%s\" must be one of %s", x->key,
                   *all == '.' && !all[2] ? "\".\" and \",\"" : "\",\", \".\", \" \" and \"'\"");
    if (x) *out = x->text[0];
    return PV_OK;
}

static pv_status read_numbers(reading *r, const pvi_json *v)
{
    pvi_schema *sc = r->s;
    const pvi_json *x = pvi_json_get(v, "thousands"), *t = pvi_json_get(v, "trailing");
    pv_status s = read_mark(r, pvi_json_get(v, "decimal"), ".,", &sc->decimal);
    if (s == PV_OK) s = read_mark(r, x, ",. '", &sc->thousands);
    if (s != PV_OK) return s;
    if (sc->thousands == sc->decimal)
        return bad(r, x, "\"thousands\" and \"decimal\" are the same mark: numbers would mean two things");
    sc->respelt = sc->decimal != '.' || sc->thousands;
    if (t && t->type != PVI_JBOOL) return bad(r, t, "\"trailing\" must be true or false");
    sc->trailing = t && t->num != 0.0;
    return PV_OK;
}

static pv_status read_table(reading *r, const pvi_json *v)
{
    pvi_schema *sc = r->s;
    pv_status s = known_keys(r, v, false);
    const pvi_json *x;
    if (s != PV_OK) return s;
    if ((x = pvi_json_get(v, "header"))) {
        if (x->type != PVI_JBOOL) return bad(r, x, "\"header\" must be true or false");
        sc->header = x->num != 0;
    }
    if ((x = pvi_json_get(v, "separator"))) {
        if (x->type != PVI_JSTR || x->text_len != 1 || !strchr(",;|:\t ~^!/&=*#", x->text[0]))
            return bad(r, x, "\"separator\" must be a tab (\"\\t\"), a blank or one of , ; | : ~ ^ ! / & = * #");
        sc->separator = x->text[0];
    }
    if ((s = read_numbers(r, v)) != PV_OK) return s;
    if ((x = pvi_json_get(v, "skip")) && (!pvi_json_i64(x, &sc->skip) || sc->skip < 0 || sc->skip > 1000000))
        return bad(r, x, "\"skip\" must be the number of lines before the table");
    x = pvi_json_get(v, "missing");
    if (x && x->type == PVI_JSTR)
        return bad(r, x,
                   "\"missing\" here lists the texts that mean no value, as in [\"\", \"?\"]; \"missing\": \"%s\" "
                   "belongs in a column",
                   x->text);
    s = x ? read_words(r, x, true, NULL, &sc->missing) : default_missing(r->ctx, r->arena, sc);
    for (int64_t i = 0; s == PV_OK && i < sc->missing.count; i++)
        sc->numeric_missing |= !isnan(sc->missing.word[i].num);
    return s;
}

static pv_status read_columns(reading *r, const pvi_json *v)
{
    pvi_schema *sc = r->s;
    const pvi_json *list = pvi_json_get(v, "columns");
    if (!list || list->type != PVI_JARR || list->count == 0 || list->count > MAX_COLUMNS)
        return bad(r, list ? list : v, "\"columns\" must list the columns of the table");
    sc->count = list->count;
    sc->column = pv_arena_get(r->arena, sizeof *sc->column * (size_t)sc->count);
    if (!sc->column) return pvi_nomem(r->ctx);
    int64_t i = 0;
    for (const pvi_json *c = list->child; c; c = c->next, i++) {
        pv_status s = read_column(r, c, i, &sc->column[i]);
        if (s != PV_OK) return s;
        if (sc->features > INT32_MAX - 1) return bad(r, c, "more than 2^31 features");
    }
    if (sc->features == 0) return bad(r, list, "no column of type number or category: nothing to learn from");
    return PV_OK;
}

static pv_status names_differ(const reading *r, const pvi_json *list)
{
    const pvi_schema *sc = r->s;
    pvi_span *span = pv_arena_get(r->arena, sizeof *span * (size_t)sc->count);
    int32_t *code = pv_arena_get(r->arena, sizeof *code * (size_t)sc->count);
    pvi_dictionary names;
    int64_t twice;
    if (!span || !code) return pvi_nomem(r->ctx);
    for (int64_t i = 0; i < sc->count; i++) {
        span[i] = (pvi_span) { sc->column[i].name, strlen(sc->column[i].name) };
        code[i] = (int32_t)i;
    }
    pv_status s = pvi_dictionary_build(r->ctx, r->arena, sc->count, span, code, &names, &twice);
    if (s != PV_OK || twice < 0) return s;
    const pvi_json *c = list->child;
    for (; twice > 0; twice--) c = c->next;
    return bad(r, c, "two columns named \"%s\"", pvi_json_get(c, "name")->text);
}

pv_status pvi_schema_parse(pv_ctx *ctx, pv_arena *a, const char *name, const char *text, size_t len, pvi_schema **out)
{
    pvi_json *root;
    *out = NULL;
    pv_status s = pvi_json_parse(ctx, a, name, text, len, &root);
    if (s != PV_OK) return s;
    pvi_schema *sc = pv_arena_get(a, sizeof *sc);
    if (!sc) return pvi_nomem(ctx);
    *sc = (pvi_schema) {
        .header = true, .separator = ',', .decimal = '.', .label = -1, .person = -1, .person_rows = PV_AUTO_I64
    };
    reading r = { ctx, a, name, sc };
    if (root->type != PVI_JOBJ) return bad(&r, root, "a schema is an object, as in {\"columns\": [...]}");
    if ((s = read_table(&r, root)) != PV_OK || (s = read_columns(&r, root)) != PV_OK ||
        (s = names_differ(&r, pvi_json_get(root, "columns"))) != PV_OK)
        return s;
    *out = sc;
    return PV_OK;
}

pv_status pvi_schema_load(pv_ctx *ctx, pv_arena *a, const char *text, pvi_schema **out)
{
    char *copy = NULL;
    size_t len;
    *out = NULL;
    if (text[0] == '{') return pvi_schema_parse(ctx, a, "schema", text, strlen(text), out);
    pv_status s = pvi_file_read(ctx, text, MAX_FILE, &copy, &len);
    if (s != PV_OK) return s;
    char *kept = pvi_arena_strdup(a, copy, len); /* the tree may point into it */
    pvi_free(ctx, copy);
    return kept ? pvi_schema_parse(ctx, a, text, kept, len, out) : pvi_nomem(ctx);
}

pvi_schema *pvi_schema_arranged(pv_arena *a, const pvi_schema *s, const int64_t *from, int64_t count)
{
    pvi_schema *out = pv_arena_get(a, sizeof *out);
    pvi_column *c = pv_arena_get(a, sizeof *c * (size_t)count);
    if (!out || !c) return NULL;
    *out = *s;
    out->column = c;
    out->count = count;
    out->label = out->person = -1;
    for (int64_t i = 0; i < count; i++) {
        c[i] = from[i] < 0 ? (pvi_column) { .name = "", .type = PVI_COL_IGNORE } : s->column[from[i]];
        if (from[i] >= 0 && from[i] == s->label) out->label = i;
        if (from[i] >= 0 && from[i] == s->person) out->person = i;
    }
    return out;
}

pv_status pvi_schema_plain(pv_ctx *ctx, pv_arena *a, int64_t columns, int64_t person, pvi_schema **out)
{
    pvi_schema *sc = pv_arena_get(a, sizeof *sc);
    pvi_column *c = pv_arena_get(a, sizeof *c * (size_t)columns);
    if (!sc || !c) return pvi_nomem(ctx);
    *sc = (pvi_schema) { .separator = ',',
                         .count = columns,
                         .label = columns - 1,
                         .person = person,
                         .person_rows = PV_AUTO_I64,
                         .column = c };
    for (int64_t i = 0; i < columns; i++) {
        c[i] = (pvi_column) { .name = "",
                              .type = PVI_COL_NUMBER,
                              .raw = true,
                              .lo = -FLT_MAX,
                              .hi = FLT_MAX,
                              .range = 1,
                              .first = (int32_t)sc->features,
                              .outside = -1,
                              .text = -1 };
        if (i == person) c[i].type = PVI_COL_PERSON;
        else if (i == sc->label) c[i].type = PVI_COL_LABEL;
        else sc->features++;
    }
    *out = sc;
    return default_missing(ctx, a, sc);
}

/* ---- writing back ------------------------------------------------------------------------------------------ */
static void write_words(pvi_jw *w, const char *key, const pvi_dictionary *words)
{
    pvi_jw_open(w, key, '[');
    for (int64_t i = 0; i < words->count;) {
        int64_t n = 1;
        while (i + n < words->count && words->word[i + n].code == words->word[i].code) n++;
        if (n > 1) pvi_jw_open(w, NULL, '[');
        for (int64_t j = i; j < i + n; j++) pvi_jw_str(w, NULL, words->word[j].text);
        if (n > 1) pvi_jw_close(w, ']');
        i += n;
    }
    pvi_jw_close(w, ']');
}

/* (4): days that have a date are written as one. */
static void write_bound(pvi_jw *w, const char *key, const pvi_column *c, double v)
{
    char text[32];
    double back;
    if (c->date && v == floor(v) && fabs(v) <= 1e7) {
        pvi_date_text((int64_t)v, text);
        if (pvi_date_parse(text, strlen(text), &back) && back == v) {
            pvi_jw_str(w, key, text);
            return;
        }
    }
    pvi_jw_f64(w, key, v);
}

static void write_column(pvi_jw *w, const pvi_schema *s, const pvi_column *c)
{
    static const char *const types[] = { "number", "category", "label", "ignore", "person" };
    pvi_jw_open(w, NULL, '{');
    pvi_jw_str(w, "name", c->name);
    pvi_jw_str(w, "type", c->date ? "date" : c->unread ? "text" : types[c->type]);
    if (c->words.count > 0) {
        write_words(w, "values", &c->words);
    } else if (c->type != PVI_COL_IGNORE && c->type != PVI_COL_PERSON) {
        write_bound(w, "min", c, c->lo);
        write_bound(w, "max", c, c->hi);
    }
    if (c->type == PVI_COL_NUMBER || c->type == PVI_COL_CATEGORY) pvi_jw_str(w, "missing", missing[c->missing]);
    if (c->outside >= 0) pvi_jw_str(w, "outside", outside[c->outside]);
    if (c->text >= 0) pvi_jw_str(w, "text", texts[c->text > 0]);
    if (c->type == PVI_COL_PERSON && s->person_rows != PV_AUTO_I64) pvi_jw_i64(w, "rows", s->person_rows);
    if (c->source) pvi_jw_str(w, "source", c->source);
    if (c->monotone) pvi_jw_str(w, "monotone", c->monotone > 0 ? "up" : "down");
    if (c->curved) {
        pvi_jw_open(w, "knots", '[');
        for (int64_t k = 0; k < c->knots; k++) pvi_jw_f64(w, NULL, c->knot[k]);
        pvi_jw_close(w, ']');
        if (c->placed || c->bought) pvi_jw_bool(w, "placed", true);
    }
    pvi_jw_close(w, '}');
}

pv_status pvi_schema_json(pv_ctx *ctx, const pvi_schema *s, char **out)
{
    pvi_str text = { .ctx = ctx };
    pvi_jw w = { .out = &text };
    const char separator[2] = { s->separator, '\0' }, decimal[2] = { s->decimal, '\0' },
               thousands[2] = { s->thousands, '\0' };
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "header", s->header);
    pvi_jw_str(&w, "separator", separator);
    if (s->decimal != '.') pvi_jw_str(&w, "decimal", decimal);
    if (s->thousands) pvi_jw_str(&w, "thousands", thousands);
    if (s->trailing) pvi_jw_bool(&w, "trailing", true);
    pvi_jw_i64(&w, "skip", s->skip);
    write_words(&w, "missing", &s->missing);
    pvi_jw_open(&w, "columns", '[');
    for (int64_t i = 0; i < s->count; i++) write_column(&w, s, &s->column[i]);
    pvi_jw_close(&w, ']');
    pvi_jw_close(&w, '}');
    return pvi_str_take(&text, out);
}
