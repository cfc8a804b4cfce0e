/* label.c - label text to the numbers a model sees.
 *
 *   (1) two classes      first declared -> -1, second -> +1
 *   (2) k > 2 classes    position in the declaration, 0 .. k-1
 *   (3) real             the number, within declared bounds
 *   (4) nothing declared -1 and 0 -> -1, +1 -> +1
 *
 * Each is a fixed map of one label, so it depends on no other row: which labels exist is declared,
 * never collected from the file (a class that only one person has would otherwise show). */
#include "reader.h"

enum { MAX_CLASSES = 1 << 20 };

/* "a,b,c" with aliases "a|A,b|B". */
static pv_status parse_labels(struct pv_load *job, const char *text, pvi_dictionary *out)
{
    int64_t n = 1, twice;
    for (const char *c = text; *c; c++) n += *c == ',' || *c == '|';
    pvi_span *span = pv_arena_get(job->arena, sizeof *span * (size_t)n);
    int32_t *code = pv_arena_get(job->arena, sizeof *code * (size_t)n), class_no = 0;
    if (!span || !code) return pvi_nomem(job->ctx);
    for (int64_t i = 0; i < n; i++) {
        const size_t len = strcspn(text, ",|");
        if (len == 0) return pvi_fail(job->ctx, PV_E_PARAM, "data.labels=%s: a label is empty", job->cfg->labels);
        span[i] = (pvi_span) { text, len };
        code[i] = class_no;
        class_no += text[len] == ',';
        text += len + 1;
    }
    pv_status s = pvi_dictionary_build(job->ctx, job->arena, n, span, code, out, &twice);
    if (s != PV_OK) return s;
    if (twice >= 0)
        return pvi_fail(job->ctx, PV_E_PARAM, "data.labels=%s: %.*s is listed twice", job->cfg->labels,
                        (int)span[twice].len, span[twice].s);
    if (out->codes < 2 || out->codes > MAX_CLASSES)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "data.labels=%s: two or more classes are needed, as in data.labels=no,yes", job->cfg->labels);
    return PV_OK;
}

static pv_status default_words(struct pv_load *job, pvi_dictionary *out)
{
    static const pvi_span text[] = { { "-1", 2 }, { "0", 1 }, { "+1", 2 }, { "1", 1 } };
    static const int32_t code[] = { 0, 0, 1, 1 };
    int64_t twice;
    return pvi_dictionary_build(job->ctx, job->arena, 4, text, code, out, &twice);
}

/* Bounds of a real label: of the settings, else what the model expects. */
static pv_status declare_bounds(struct pv_load *job, pvi_label_rule *out)
{
    const pvi_data_cfg *c = job->cfg;
    const bool set = !isnan(c->y_min) || !isnan(c->y_max);
    if (set && job->expect->classes != 0)
        return pvi_fail(
            job->ctx, PV_E_PARAM,
            "data.y_min and data.y_max bound a real label, but the model tells classes apart: leave them out, "
            "or use model=%s",
            pv_names_with(PV_KIND_loss, PV_FOR_NUMBERS).text);
    if (job->expect->classes != 0) return PV_OK;
    if (set) {
        out->lo = c->y_min;
        out->hi = c->y_max;
    }
    if (pvi_bounds_ok(out->lo, out->hi)) return PV_OK;
    return pvi_fail(job->ctx, PV_E_PARAM,
                    "the model predicts a number, which needs declared bounds, the lower below the upper: "
                    "data.y_min=A data.y_max=B, or a schema");
}

pv_status pvi_label_declare(struct pv_load *job, pvi_label_rule *out)
{
    const pvi_expect *e = job->expect;
    const char *labels = job->cfg->labels;
    memset(out, 0, sizeof *out);
    out->lo = e->y_lo;
    out->hi = e->y_hi;
    out->clamp = pvi_outside_of(job->cfg).numbers == PVI_OUTSIDE_CLAMP;
    if (labels && *labels) {
        pv_status s = parse_labels(job, labels, &out->words);
        out->classes = out->words.codes;
        return s;
    }
    const pv_status bad = declare_bounds(job, out);
    if (bad != PV_OK || e->classes == 0) return bad;
    if (e->classes > 2)
        return pvi_fail(
            job->ctx, PV_E_PARAM,
            "%lld classes need their labels declared: data.labels=a,b,c names them in order (never taken from "
            "the rows)",
            (long long)e->classes);
    out->classes = 2;
    out->by_default = true;
    return default_words(job, &out->words);
}

pv_status pvi_label_check(struct pv_load *job, const pvi_label_rule *r)
{
    const int64_t want = job->expect->classes;
    if (want < 0 || want == r->classes) return PV_OK;
    if (want == 0)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "the model predicts a real number, but the declared label has %lld classes",
                        (long long)r->classes);
    if (r->classes == 0)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "the model tells %lld classes apart, but the declared label is a real number",
                        (long long)want);
    return pvi_fail(job->ctx, PV_E_PARAM, "the model tells %lld classes apart, but %lld are declared",
                    (long long)want, (long long)r->classes);
}

/* ---- tables ------------------------------------------------------------------------------------------------ */
static pv_status declared_label(struct pv_load *job)
{
    const pvi_schema *sc = job->schema;
    const bool elsewhere = sc->label < 0 && job->beside; /* declared by the settings, as without a schema */
    if (job->cfg->labels && *job->cfg->labels && !elsewhere)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "data.labels and data.schema both declare labels; the schema's \"values\" are enough");
    if ((!isnan(job->cfg->y_min) || !isnan(job->cfg->y_max)) && !elsewhere)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "data.y_min or data.y_max and data.schema both declare the label; the schema's \"min\" and "
                        "\"max\" are enough");
    if (job->cfg->features > 0 && job->cfg->features != sc->features)
        return pvi_fail(job->ctx, PV_E_PARAM, "data.features=%lld, but the schema makes %lld",
                        (long long)job->cfg->features, (long long)sc->features);
    if (job->expect->features > 0 && job->expect->features != sc->features)
        return pvi_fail(job->ctx, PV_E_PARAM, "the schema makes %lld features, but the model has %lld",
                        (long long)sc->features, (long long)job->expect->features);
    if (elsewhere) return pvi_label_declare(job, &job->label);
    if (sc->label < 0) {
        job->label.classes = job->expect->classes < 0 ? 0 : job->expect->classes;
        if (job->expect->labels_optional) return PV_OK;
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: no column has \"type\": \"label\"", job->cfg->schema);
    }
    const pvi_column *c = &sc->column[sc->label];
    const int64_t outside = c->outside >= 0 ? c->outside : pvi_outside_of(job->cfg).numbers;
    job->label = (pvi_label_rule) {
        .classes = c->words.codes,
        .lo = c->lo,
        .hi = c->hi,
        .words = c->words,
        .clamp = outside == PVI_OUTSIDE_CLAMP,
        .column = c->name,
        .written = sc,
    };
    return PV_OK;
}

static pv_status undeclared_label(struct pv_load *job)
{
    const bool labels = job->cfg->labels && *job->cfg->labels;
    char text[72];
    const char *trained = pvi_trained_on(job, text);
    if (!labels && job->expect->classes != 0 && trained)
        return pvi_fail(
            job->ctx, PV_E_FORMAT,
            "%s: a table, but the model was trained on %s; if its columns are just those and the label comes "
            "last, data.labels=no,yes declares the classes",
            job->name, trained);
    if (!labels && job->expect->classes != 0)
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "%s: a table needs data.schema=FILE, as in {\"columns\": [{\"name\": \"age\", \"type\": "
                        "\"number\", \"min\": 0, "
                        "\"max\": 99}, {\"name\": \"ill\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}; "
                        "without one, all "
                        "columns must be numbers, the label last, and data.labels=no,yes declared",
                        job->name);
    return pvi_label_declare(job, &job->label);
}

pv_status pvi_label_table(struct pv_load *job)
{
    const bool none = job->schema && job->schema->label < 0 && !job->beside;
    const pv_status s = job->schema   ? declared_label(job)
                        : job->beside ? pvi_label_declare(job, &job->label)
                                      : undeclared_label(job);
    return s == PV_OK && !none ? pvi_label_check(job, &job->label) : s;
}

/* ---- one label ----------------------------------------------------------------------------------------------- */
/* The declared words, "no, yes", as far as they fit. */
static const char *list_words(const pvi_dictionary *w, char out[128])
{
    size_t n = 0;
    out[0] = '\0';
    for (int64_t i = 0; i < w->count; i++) {
        const pvi_word *v = &w->word[i];
        if (n + v->len + 8 > 128) return strcpy(out + n, i ? ", ..." : "..."), out;
        n += (size_t)snprintf(out + n, 128 - n, "%s%.*s", i ? ", " : "", (int)v->len, v->text);
    }
    return out;
}

/* label 'x' in column "y", for a message. */
static const char *name_label(const pvi_label_rule *r, const char *s, size_t len, char out[128])
{
    char part[48], column[48];
    const size_t n = (size_t)snprintf(out, 128, "label '%s'", pvi_excerpt(s, len, part));
    if (r->column) snprintf(out + n, 128 - n, " in column \"%s\"", pvi_excerpt(r->column, strlen(r->column), column));
    return out;
}

static bool real_value(const pvi_label_rule *r, double x, const char *s, size_t len, float *y, char *why,
                       size_t why_size)
{
    char name[128], lo[32], hi[32];
    if (!isfinite(x)) {
        snprintf(why, why_size, "%s is not a finite number", name_label(r, s, len, name));
        return false;
    }
    if (!(x >= r->lo && x <= r->hi)) {
        if (!r->clamp) {
            pvi_f64_text(r->lo, lo);
            pvi_f64_text(r->hi, hi);
            snprintf(why, why_size, "%s is outside the declared %s .. %s; data.outside=clamp would clamp it",
                     name_label(r, s, len, name), lo, hi);
            return false;
        }
        x = x < r->lo ? r->lo : r->hi;
    }
    *y = (float)x;
    if ((double)*y > r->hi) *y = nextafterf(*y, -INFINITY); /* the float must stay inside, too */
    if ((double)*y < r->lo) *y = nextafterf(*y, INFINITY);
    return true;
}

float pvi_label_class(const pvi_label_rule *r, int32_t code)
{
    return r->classes == 2 ? (float)(2 * code - 1) : (float)code; /* (1), (2) */
}

bool pvi_label_value(const pvi_label_rule *r, const char *s, size_t len, float *y, char *why, size_t why_size)
{
    char name[128], words[128];
    if (r->classes == 0) {
        double x;
        const bool number = r->written ? pvi_spelt_number(r->written, s, len, &x) : pvi_number(s, len, &x);
        return real_value(r, number ? x : NAN, s, len, y, why, why_size);
    }
    const int32_t code = pvi_dictionary_match(&r->words, s, len);
    if (code >= 0) {
        *y = pvi_label_class(r, code);
        return true;
    }
    name_label(r, s, len, name);
    if (r->by_default)
        snprintf(why, why_size, "%s is not -1, 0 or +1; declare the labels, as in data.labels=no,yes", name);
    else snprintf(why, why_size, "%s is none of: %s", name, list_words(&r->words, words));
    return false;
}

bool pvi_label_number(const pvi_label_rule *r, double x, const char *text, size_t len, float *y, char *why,
                      size_t why_size)
{
    return r->classes == 0 ? real_value(r, x, text, len, y, why, why_size)
                           : pvi_label_value(r, text, len, y, why, why_size);
}

bool pvi_label_learn(const pvi_label_rule *r, pvi_label_memo *m, const char *s, size_t len, float *y, char *why,
                     size_t why_size)
{
    if (!pvi_label_value(r, s, len, y, why, why_size)) return false;
    if (len > 7) return true;
    m->key[m->next] = pvi_label_key(s, len);
    m->y[m->next] = *y;
    m->next = (m->next + 1) % PVI_MEMO;
    return true;
}
