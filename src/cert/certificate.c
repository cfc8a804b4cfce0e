/* certificate.c - the certificate as text: one table of fields, written and read in one order.
 *
 * Canonical form: JSON, two blanks of indentation, the fields of `fields` in that order, doubles in
 * the shortest form that reads back, integers in full, one line feed at the end.  The last field is
 *   (1)  checksum = BLAKE2b-256(every byte before the comma that precedes it), hexadecimal.
 * Reading parses, checks every field, writes the certificate again and compares byte for byte.  So
 * each certificate has exactly one text: any changed byte is a parse error, a field error, a
 * departure from the canonical form, or a wrong checksum.  The checksum finds accidents and careless
 * edits; it is not a signature.  Against deliberate forgery stands the recomputation in cert_check.c:
 * an epsilon its own events do not support is refused whatever the checksum says.
 *
 * Fields nobody knows are refused (P5).  No host, user or path is recorded, and no time but a day that was declared
 * (issuer.c).
 *
 * A field belongs to the versions from `since` to `until`.  What a version wrote is written the same way for ever,
 * words included (statement.c), so that its certificates go on to verify; tests/corpus has some of each version.
 * Version 4 is that of runs whose unit is a person; runs on rows go on to write version 3. */
#include "cert.h"

#define FORMAT "privet-certificate"

typedef enum ftype {
    T_FORMAT, /* the first four are derived: not in the struct */
    T_VERSION,
    T_STATEMENT,
    T_NOT_COVERED,
    T_BOOL,
    T_I64,
    T_F64,
    T_STR,
    T_RELATION,
    T_EVENT,
    T_OBJECT,
    T_SENTENCES,
    T_KINDS
} ftype;

typedef struct field {
    const char *key;
    ftype type;
    size_t offset;
    int64_t since, until; /* 0: from the first version, up to the last */
} field;

#define AT(member) offsetof(pvi_cert, member)
static const field fields[] = {
    { "format", T_FORMAT, 0, 0, 0 },
    { "version", T_VERSION, 0, 0, 0 },
    { "made_by", T_STR, AT(made_by), 0, 0 },
    { "private", T_BOOL, AT(is_private), 0, 0 },
    { "not_private_because", T_STR, AT(why_not), 0, 0 },
    { "statement", T_STATEMENT, 0, 0, 0 },
    { "not_covered", T_NOT_COVERED, 0, 0, 0 },
    { "assumptions", T_SENTENCES, AT(assumptions), 0, 0 },
    { "conditional", T_OBJECT, AT(conditional), 0, 0 },
    { "relation", T_RELATION, AT(relation), 0, 0 },
    { "epsilon", T_F64, AT(epsilon), 0, 0 },
    { "delta", T_F64, AT(delta), 0, 0 },
    { "delta_draws", T_F64, AT(delta_draws), 0, 0 },
    { "accountant", T_STR, AT(accountant), 0, 0 },
    { "events", T_EVENT, AT(events), 0, 0 },
    { "epsilon_replace", T_F64, AT(epsilon_replace), 0, 0 },
    { "accountant_replace", T_STR, AT(accountant_replace), 0, 0 },
    { "replace_is_group_bound", T_BOOL, AT(replace_is_group_bound), 0, 0 },
    { "events_replace", T_EVENT, AT(events_replace), 0, 0 },
    { "model", T_STR, AT(model), 0, 0 },
    { "optimizer", T_STR, AT(optimizer), 0, 0 },
    { "mechanism", T_STR, AT(mechanism), 0, 0 },
    { "sampler", T_STR, AT(sampler), 0, 0 },
    { "rows", T_I64, AT(rows), 0, 3 },
    { "unit", T_STR, AT(unit), 4, 0 },
    { "persons", T_I64, AT(rows), 4, 0 },
    { "rows_per_person", T_I64, AT(unit_rows), 4, 0 },
    { "features", T_I64, AT(features), 0, 0 },
    { "weights", T_I64, AT(weights), 0, 0 },
    { "batch", T_F64, AT(batch), 0, 0 },
    { "features_measured", T_BOOL, AT(features_measured), 0, 0 },
    { "row_norm", T_F64, AT(row_norm), 0, 0 },
    { "clip_norm", T_F64, AT(clip_norm), 0, 0 },
    { "clip_norm_gradient", T_F64, AT(clip_gradient), 3, 0 },
    { "replace_change", T_F64, AT(replace_change), 3, 0 },
    { "rounding_allowance", T_F64, AT(rounding_allowance), 0, 0 },
    { "sensitivity", T_F64, AT(sensitivity), 0, 0 },
    { "noise_multiplier", T_F64, AT(noise_multiplier), 0, 0 },
    { "noise_multiplier_max", T_F64, AT(noise_multiplier_max), 0, 0 },
    { "noise_stddev", T_F64, AT(noise_stddev), 0, 0 },
    { "grid_spacing", T_F64, AT(grid_spacing), 0, 0 },
    { "queries", T_I64, AT(queries), 0, 0 },
    { "releases", T_KINDS, 0, 3, 0 },
    { "data_salt", T_STR, AT(data_salt), 3, 0 },
    { "data_digest", T_STR, AT(data_digest), 0, 0 },
    { "header_digest", T_STR, AT(header_digest), 3, 0 },
    { "weights_digest", T_STR, AT(weights_digest), 3, 0 },
    { "settings", T_OBJECT, AT(settings), 0, 0 },
};

enum { N_FIELDS = sizeof fields / sizeof *fields };

/* Of an entry of `releases` whose kind has samples of its own, or is of a stage, behind kind and count. */
static const struct {
    const char *key;
    size_t offset;
} own_fields[] = {
    { "batch", offsetof(pvi_cert_kind, batch) },
    { "clip_norm", offsetof(pvi_cert_kind, clip_norm) },
    { "replace_change", offsetof(pvi_cert_kind, replace_change) },
    { "rounding_allowance", offsetof(pvi_cert_kind, rounding_allowance) },
    { "sensitivity", offsetof(pvi_cert_kind, sensitivity) },
    { "noise_multiplier", offsetof(pvi_cert_kind, noise_multiplier) },
    { "noise_stddev", offsetof(pvi_cert_kind, noise_stddev) },
    { "grid_spacing", offsetof(pvi_cert_kind, grid_spacing) },
};
enum { N_OWN = sizeof own_fields / sizeof *own_fields };

static bool is_of(const field *f, int64_t version)
{
    return f->since <= version && (f->until == 0 || version <= f->until);
}

/* ---- writing ------------------------------------------------------------------------------------- */

/* Any JSON value in canonical spelling. */
static void write_json(pvi_jw *w, const char *key, const pvi_json *v)
{
    int64_t i;
    switch (v->type) {
    case PVI_JNULL: pvi_jw_str(w, key, NULL); return;
    case PVI_JBOOL: pvi_jw_bool(w, key, v->num != 0.0); return;
    case PVI_JSTR: pvi_jw_str(w, key, v->text); return;
    case PVI_JNUM:
        if (pvi_json_i64(v, &i)) pvi_jw_i64(w, key, i);
        else pvi_jw_f64(w, key, v->num);
        return;
    case PVI_JARR:
    case PVI_JOBJ: break;
    }
    pvi_jw_open(w, key, v->type == PVI_JOBJ ? '{' : '[');
    for (const pvi_json *c = v->child; c; c = c->next) write_json(w, c->key, c);
    pvi_jw_close(w, v->type == PVI_JOBJ ? '}' : ']');
}

/* Settings arrive as text from the plan: spelled again, so that one object has one text. */
static pv_status write_object(pv_ctx *ctx, pvi_jw *w, const char *key, const char *text)
{
    pvi_json *v;
    if (!text) {
        pvi_jw_str(w, key, NULL);
        return PV_OK;
    }
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_json_parse(ctx, a, "settings", text, strlen(text), &v);
    if (s == PV_OK && v->type != PVI_JOBJ) s = pvi_fail(ctx, PV_E_ARG, "settings: a JSON object is needed");
    if (s == PV_OK) write_json(w, key, v);
    pvi_arena_free(a);
    return s;
}

static void write_kinds(pvi_jw *w, const char *key, const pvi_cert *c)
{
    pvi_jw_open(w, key, '[');
    for (int64_t i = 0; i < c->n_kinds; i++) {
        pvi_jw_open(w, NULL, '{');
        pvi_jw_str(w, "kind", c->kinds[i].kind);
        pvi_jw_i64(w, "count", c->kinds[i].count);
        for (int f = 0; c->kinds[i].batch > 0.0 && f < N_OWN; f++)
            pvi_jw_f64(w, own_fields[f].key,
                       *(const double *)(const void *)((const char *)&c->kinds[i] + own_fields[f].offset));
        if (c->kinds[i].counts) {
            pvi_jw_open(w, "counts", '[');
            for (int64_t k = 0; k < c->kinds[i].n_counts; k++) pvi_jw_i64(w, NULL, c->kinds[i].counts[k]);
            pvi_jw_close(w, ']');
        }
        pvi_jw_close(w, '}');
    }
    pvi_jw_close(w, ']');
}

static pv_status write_field(pv_ctx *ctx, pvi_jw *w, const field *f, const pvi_cert *c)
{
    const char *at = (const char *)c + f->offset;
    pvi_str words = { .ctx = ctx };

    switch (f->type) {
    case T_FORMAT: pvi_jw_str(w, f->key, FORMAT); break;
    case T_VERSION: pvi_jw_i64(w, f->key, c->version); break;
    case T_STATEMENT:
        pvi_cert_statement(c, &words);
        pvi_jw_str(w, f->key, words.s);
        w->out->failed |= words.failed;
        pvi_str_free(&words);
        break;
    case T_NOT_COVERED: pvi_cert_not_covered(c, w, f->key); break;
    case T_BOOL: pvi_jw_bool(w, f->key, *(const bool *)at); break;
    case T_I64: pvi_jw_i64(w, f->key, *(const int64_t *)at); break;
    case T_F64: pvi_jw_f64(w, f->key, *(const double *)at); break;
    case T_STR: pvi_jw_str(w, f->key, *(const char *const *)at); break;
    case T_RELATION: pvi_jw_str(w, f->key, c->relation == PV_REL_REPLACE ? "replace" : "zero-out"); break;
    case T_EVENT:
        if (*(const pv_event *const *)at) pvi_event_write(*(const pv_event *const *)at, w, f->key);
        else pvi_jw_str(w, f->key, NULL);
        break;
    case T_OBJECT: return write_object(ctx, w, f->key, *(const char *const *)at);
    case T_SENTENCES:
        pvi_jw_open(w, f->key, '[');
        for (int64_t i = 0; i < c->n_assumptions; i++) pvi_jw_str(w, NULL, c->assumptions[i]);
        pvi_jw_close(w, ']');
        break;
    case T_KINDS: write_kinds(w, f->key, c); break;
    }
    return PV_OK;
}

static void write_checksum(pvi_jw *w)
{
    uint8_t hash[PVI_HASH_SIZE];
    char hex[2 * PVI_HASH_SIZE + 1];
    if (w->out->failed) return;
    pvi_hash(NULL, 0, w->out->s, w->out->len, hash); /* (1) */
    pvi_hex(hash, sizeof hash, hex);
    pvi_jw_str(w, "checksum", hex);
}

pv_status pvi_cert_write(pv_ctx *ctx, const pvi_cert *cert, char **json)
{
    pvi_str out = { .ctx = ctx };
    pvi_jw w = { .out = &out, .indent = 2 };
    pvi_cert c = *cert;
    pv_status s = PV_OK;

    *json = NULL;
    if (!c.version) c.version = PVI_CERT_VERSION;
    if (!c.made_by) c.made_by = "privet " PV_VERSION;
    if (c.noise_multiplier_max == 0.0) c.noise_multiplier_max = c.noise_multiplier;
    if (c.clip_gradient == 0.0) c.clip_gradient = c.clip_norm;
    if (c.replace_change == 0.0) c.replace_change = 2.0 * c.clip_norm;
    if (c.relation == PV_REL_REPLACE) { /* nothing beside the headline */
        c.epsilon_replace = c.epsilon;
        c.accountant_replace = NULL;
        c.events_replace = NULL;
    } else if (!c.accountant_replace) {
        c.accountant_replace = c.accountant;
    }
    pvi_jw_open(&w, NULL, '{');
    for (int i = 0; i < N_FIELDS && s == PV_OK; i++)
        if (is_of(&fields[i], c.version)) s = write_field(ctx, &w, &fields[i], &c);
    write_checksum(&w);
    pvi_jw_close(&w, '}');
    pvi_str_puts(&out, "\n");
    if (s == PV_OK) return pvi_str_take(&out, json);
    pvi_str_free(&out);
    return s;
}

/* ---- reading -------------------------------------------------------------------------------------- */

typedef struct reader {
    pv_ctx *ctx;
    pv_arena *arena;
    const char *name;
    pvi_cert *out;
} reader;

static pv_status wrong(reader *r, const pvi_json *v, const char *key, const char *need)
{
    return pvi_fail(r->ctx, PV_E_FORMAT, "%s:%d:%d: %s: %s is needed", r->name, v->line, v->column, key, need);
}

/* A number, or the text the writer uses for what JSON cannot say. */
static pv_status read_f64(reader *r, const field *f, const pvi_json *v, double *out)
{
    if (v->type == PVI_JNUM) *out = v->num;
    else if (v->type == PVI_JSTR && strcmp(v->text, "inf") == 0) *out = INFINITY;
    else if (v->type == PVI_JSTR && strcmp(v->text, "-inf") == 0) *out = -INFINITY;
    else if (v->type == PVI_JSTR && strcmp(v->text, "nan") == 0) *out = NAN;
    else return wrong(r, v, f->key, "a number");
    return PV_OK;
}

static pv_status read_relation(reader *r, const pvi_json *v)
{
    if (v->type == PVI_JSTR && strcmp(v->text, "zero-out") == 0) r->out->relation = PV_REL_ZERO_OUT;
    else if (v->type == PVI_JSTR && strcmp(v->text, "replace") == 0) r->out->relation = PV_REL_REPLACE;
    else return wrong(r, v, "relation", "zero-out or replace");
    return PV_OK;
}

static pv_status read_sentences(reader *r, const pvi_json *v)
{
    if (v->type != PVI_JARR) return wrong(r, v, "assumptions", "a list of sentences");
    const char **list = pv_arena_get(r->arena, ((size_t)v->count + 1) * sizeof *list);
    if (!list) return pvi_nomem(r->ctx);
    int64_t n = 0;
    for (const pvi_json *c = v->child; c; c = c->next) {
        if (c->type != PVI_JSTR) return wrong(r, c, "assumptions", "text");
        list[n++] = c->text;
    }
    r->out->assumptions = list;
    r->out->n_assumptions = n;
    return PV_OK;
}

/* All of them; cert_check.c looks at what they say. */
static pv_status read_own(reader *r, const pvi_json *e, pvi_cert_kind *k)
{
    for (int f = 0; f < N_OWN; f++) {
        const pvi_json *v = pvi_json_get(e, own_fields[f].key);
        if (!v || v->type != PVI_JNUM || !(v->num >= 0.0 && isfinite(v->num)))
            return wrong(r, v ? v : e, own_fields[f].key, "a number of at least 0");
        *(double *)(void *)((char *)k + own_fields[f].offset) = v->num;
    }
    return k->batch > 0.0 ? PV_OK : wrong(r, e, "batch", "a number above 0");
}

/* What a stage or an evaluation released. */
static pv_status read_counts(reader *r, const pvi_json *e, pvi_cert_kind *k)
{
    const pvi_json *v = pvi_json_get(e, "counts");
    if (!v || v->type != PVI_JARR || v->count < 1 || v->count > PVI_COUNTS_MOST)
        return wrong(r, v ? v : e, "counts", "a list of noisy counts");
    int64_t *counts = pv_arena_get(r->arena, (size_t)v->count * sizeof *counts);
    if (!counts) return pvi_nomem(r->ctx);
    for (const pvi_json *c = v->child; c; c = c->next)
        if (!pvi_json_i64(c, &counts[k->n_counts++])) return wrong(r, c, "counts", "a whole number");
    k->counts = counts;
    return PV_OK;
}

/* Each kind once, in the order of their names' table, at least one of it. */
static pv_status read_kinds(reader *r, const pvi_json *v)
{
    pvi_cert *c = r->out;
    const pvi_release_kind *last = NULL;
    if (v->type != PVI_JARR || v->count > PVI_CERT_KINDS)
        return wrong(r, v, "releases", "a list of kinds of release");
    for (const pvi_json *e = v->child; e; e = e->next) {
        const pvi_json *kind = pvi_json_get(e, "kind");
        pvi_cert_kind *k = &c->kinds[c->n_kinds++];
        if (!kind || kind->type != PVI_JSTR) return wrong(r, e, "releases", "a kind and a count");
        const pvi_release_kind *known = pvi_kind_named(kind->text);
        if (!known || (last && known <= last))
            return wrong(r, kind, "releases", known ? "each kind once, in order," : "a known kind of release");
        const bool counts = known->stage || known->query->counts;
        const int own = (known->query->own_batch || known->stage ? N_OWN : 0) + counts;
        if (e->count != 2 + own || !pvi_json_i64(pvi_json_get(e, "count"), &k->count) || k->count < 1)
            return wrong(r, e, "releases",
                         own ? "a count of at least 1, and all about its samples or counts,"
                             : "a count of at least 1 and nothing else");
        pv_status s = own >= N_OWN ? read_own(r, e, k) : PV_OK;
        if (s == PV_OK && counts) s = read_counts(r, e, k);
        if (s != PV_OK) return s;
        k->kind = (last = known)->name;
    }
    return PV_OK;
}

static pv_status read_object(reader *r, const field *f, const pvi_json *v, const char **out)
{
    pvi_str text = { .ctx = r->ctx };
    pvi_jw w = { .out = &text };
    if (v->type == PVI_JNULL) return PV_OK;
    if (v->type != PVI_JOBJ) return wrong(r, v, f->key, "an object");
    write_json(&w, NULL, v);
    *out = text.failed ? NULL : pvi_arena_strdup(r->arena, text.s, text.len);
    pvi_str_free(&text);
    return *out ? PV_OK : pvi_nomem(r->ctx);
}

static pv_status read_version(reader *r, const pvi_json *v)
{
    if (!pvi_json_i64(v, &r->out->version)) return wrong(r, v, "version", "a whole number");
    if (r->out->version < PVI_CERT_FIRST || r->out->version > PVI_CERT_PERSONS)
        return pvi_fail(r->ctx, PV_E_FORMAT, "%s: certificate version %lld; this privet reads versions %d to %d",
                        r->name, (long long)r->out->version, PVI_CERT_FIRST, PVI_CERT_PERSONS);
    return PV_OK;
}

static pv_status read_field(reader *r, const field *f, const pvi_json *v)
{
    char *at = (char *)r->out + f->offset;
    switch (f->type) {
    case T_FORMAT: return PV_OK; /* checked before the fields */
    case T_VERSION: return read_version(r, v);
    case T_STATEMENT:
    case T_NOT_COVERED: return PV_OK; /* made again and compared */
    case T_BOOL:
        if (v->type != PVI_JBOOL) return wrong(r, v, f->key, "true or false");
        *(bool *)at = v->num != 0.0;
        return PV_OK;
    case T_I64: return pvi_json_i64(v, (int64_t *)(void *)at) ? PV_OK : wrong(r, v, f->key, "a whole number");
    case T_F64: return read_f64(r, f, v, (double *)(void *)at);
    case T_STR:
        if (v->type != PVI_JSTR && v->type != PVI_JNULL) return wrong(r, v, f->key, "text");
        *(const char **)(void *)at = v->type == PVI_JSTR ? v->text : NULL;
        return PV_OK;
    case T_RELATION: return read_relation(r, v);
    case T_EVENT:
        if (v->type == PVI_JNULL) return PV_OK;
        return pvi_event_parse(r->ctx, r->arena, r->name, v, (const pv_event **)(void *)at);
    case T_OBJECT: return read_object(r, f, v, (const char **)(void *)at);
    case T_SENTENCES: return read_sentences(r, v);
    case T_KINDS: return read_kinds(r, v);
    }
    return pvi_fail(r->ctx, PV_E_INTERNAL, "certificate field %s has no type", f->key);
}

/* Every field of the version and no other; repeats are refused by the JSON parser. */
static pv_status check_keys(reader *r, const pvi_json *root)
{
    for (const pvi_json *v = root->child; v; v = v->next) {
        bool known = strcmp(v->key, "checksum") == 0;
        for (int i = 0; i < N_FIELDS && !known; i++)
            known = is_of(&fields[i], r->out->version) && strcmp(v->key, fields[i].key) == 0;
        if (!known)
            return pvi_fail(r->ctx, PV_E_FORMAT,
                            "%s:%d:%d: unknown field %s: refused, since it could change the meaning", r->name,
                            v->line, v->column, v->key);
    }
    for (int i = 0; i < N_FIELDS; i++)
        if (is_of(&fields[i], r->out->version) && !pvi_json_get(root, fields[i].key))
            return pvi_fail(r->ctx, PV_E_FORMAT, "%s: the field %s is missing", r->name, fields[i].key);
    if (!pvi_json_get(root, "checksum")) return pvi_fail(r->ctx, PV_E_FORMAT, "%s: the checksum is missing", r->name);
    return PV_OK;
}

static pv_status read_fields(reader *r, const pvi_json *root)
{
    const pvi_json *format = pvi_json_get(root, "format");
    if (!format || format->type != PVI_JSTR || strcmp(format->text, FORMAT) != 0)
        return pvi_fail(r->ctx, PV_E_FORMAT, "%s: not a privet certificate", r->name);
    const pvi_json *version = pvi_json_get(root, "version"); /* first: other versions have other fields */
    pv_status s = version ? read_version(r, version)
                          : pvi_fail(r->ctx, PV_E_FORMAT, "%s: the field version is missing", r->name);
    if (s == PV_OK) s = check_keys(r, root);
    for (int i = 0; i < N_FIELDS && s == PV_OK; i++)
        if (is_of(&fields[i], r->out->version)) s = read_field(r, &fields[i], pvi_json_get(root, fields[i].key));
    if (s == PV_OK && r->out->version == 2) { /* which had one field for both */
        r->out->clip_gradient = r->out->clip_norm;
        r->out->replace_change = 2.0 * r->out->clip_norm;
    }
    return s;
}

/* Where the text departs from the canonical one, and what that means. */
static pv_status compare(reader *r, const char *text, size_t len, const char *canon)
{
    const size_t n = strlen(canon);
    size_t i = 0, line = 1, start = 0;
    if (n == len && memcmp(text, canon, n) == 0) return PV_OK;
    for (; i < len && i < n && text[i] == canon[i]; i++)
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    if (n == len && len - i <= 2 * PVI_HASH_SIZE + 4) /* all but the checksum agrees */
        return pvi_fail(r->ctx, PV_E_VERIFY, "%s: the checksum does not match: the certificate was changed", r->name);
    return pvi_fail(r->ctx, PV_E_VERIFY, "%s:%zu:%zu: not as privet writes it: the certificate was changed", r->name,
                    line, i - start + 1);
}

pv_status pvi_cert_parse(pv_ctx *ctx, pv_arena *a, const char *name, const char *text, size_t len, pvi_cert *out)
{
    reader r = { ctx, a, name, out };
    pvi_json *root;
    char *canon = NULL;

    memset(out, 0, sizeof *out);
    pv_status s = pvi_json_parse(ctx, a, name, text, len, &root);
    if (s == PV_OK) s = read_fields(&r, root);
    if (s == PV_OK) s = pvi_cert_write(ctx, out, &canon);
    if (s == PV_OK) s = compare(&r, text, len, canon);
    if (s != PV_OK) memset(out, 0, sizeof *out);
    pvi_free(ctx, canon);
    return s;
}
