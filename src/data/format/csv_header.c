/* csv_header.c - the header of a table: which of its columns is which of the schema's, by name.
 *
 * The parser goes by position, so it gets the schema in the order of the file, with a column that is ignored for each
 * that the schema does not have.  Features keep their numbers: rows, digest and model are those of the file whose
 * columns stand as declared.  What the header decides is told in a note; it is no row. */
#include "csv.h"

#include <strings.h>

enum { TOLD = 4 }; /* names in a note */

typedef struct names {
    pvi_dictionary of;     /* the schema's columns that are read, by their numbers */
    pvi_dictionary others; /* and that are not, none where two have one name */
    int64_t *from, *where; /* of each field its column, -1: none; of each column its field, -1: none */
    int64_t fields, extra;
    char told[256], id[48]; /* the first of them; one that is called as ids are */
} names;

static void tell(names *n, const pvi_span *f)
{
    char part[48];
    const size_t len = strlen(n->told);
    pvi_excerpt(f->s, f->len, part);
    if (n->extra++ < TOLD) snprintf(n->told + len, sizeof n->told - len, "%s\"%s\"", len ? ", " : "", part);
    if (!*n->id && pvi_named_like_id(part)) memcpy(n->id, part, sizeof part);
}

/* The names of the columns that are ignored, or of the others. */
static pv_status know(const pvi_csv *s, bool ignored, pvi_dictionary *out, int64_t *twice)
{
    struct pv_load *job = s->job;
    const pvi_schema *sc = s->sc;
    int64_t n = 0;
    pvi_span *text = pv_arena_get(job->arena, sizeof *text * (size_t)sc->count);
    int32_t *code = pv_arena_get(job->arena, sizeof *code * (size_t)sc->count);
    if (!text || !code) return pvi_nomem(job->ctx);
    for (int64_t i = 0; i < sc->count; i++) {
        const char *name = sc->column[i].name;
        if ((sc->column[i].type == PVI_COL_IGNORE) != ignored) continue;
        text[n] = (pvi_span) { name, strlen(name) };
        code[n++] = (int32_t)i;
    }
    const pv_status st = pvi_dictionary_build(job->ctx, job->arena, n, text, code, out, twice);
    if (*twice >= 0) *twice = code[*twice];
    return st;
}

static pv_status know_names(const pvi_csv *s, names *n)
{
    struct pv_load *job = s->job;
    int64_t twice, never;
    pv_status st = know(s, false, &n->of, &twice);
    if (st == PV_OK) st = know(s, true, &n->others, &never);
    if (st != PV_OK) return st;
    if (never >= 0) n->others.count = 0;
    n->from = pv_arena_get(job->arena, sizeof *n->from * (size_t)n->fields);
    n->where = pv_arena_get(job->arena, sizeof *n->where * (size_t)s->sc->count);
    if (!n->from || !n->where) return pvi_nomem(job->ctx);
    for (int64_t i = 0; i < s->sc->count; i++) n->where[i] = -1;
    if (twice < 0) return PV_OK;
    return pvi_fail(job->ctx, PV_E_FORMAT, "%s: the schema has two columns named \"%s\"", job->name,
                    s->sc->column[twice].name);
}

/* Does the schema know a field that nothing reads? */
static bool ignored(const pvi_csv *s, const names *n, int64_t i, const pvi_span *f)
{
    const char *name = i < s->sc->count ? s->sc->column[i].name : "";
    if (f->len == strlen(name) && memcmp(f->s, name, f->len) == 0) return true;
    return n->others.count > 0 && pvi_dictionary_find(&n->others, f->s, f->len) >= 0;
}

/* All fields of the header; false: a column of the schema is named twice. */
static bool read_names(pvi_cursor *k, names *n)
{
    pvi_span f;
    char part[48];
    for (int64_t i = 0; i < n->fields; i++) {
        const char *at = k->p = pvi_csv_skip(k->s, k->p + (i > 0));
        if (!pvi_csv_field(k, &f)) return false;
        n->from[i] = pvi_dictionary_find(&n->of, f.s, f.len);
        if (n->from[i] < 0) {
            const bool end = i + 1 == n->fields && f.len == 0; /* every line ends with a separator */
            if (!end && !ignored(k->s, n, i, &f)) tell(n, &f);
        } else if (n->where[n->from[i]] >= 0) {
            pvi_chunk_fail(k->c, at, "the header has \"%s\" twice", pvi_excerpt(f.s, f.len, part));
            return false;
        } else {
            n->where[n->from[i]] = i;
        }
    }
    return true;
}

/* ---- what is missing ------------------------------------------------------------------------------------------ */

/* What a header that does not fit most often means. */
static const char *hint(const pvi_csv *s, const pvi_column *col, const pvi_span *f)
{
    double x;
    if (memchr(f->s, '\0', f->len)) return "; this is no text in UTF-8: another kind of file, or UTF-16";
    if (memchr(f->s, '\r', f->len)) return "; lines must end with a line feed, not with a carriage return alone";
    if (pvi_number(f->s, f->len, &x) ||
        (col->words.count > 0 && pvi_dictionary_match(&col->words, f->s, f->len) >= 0))
        return "; \"header\": false in the schema is for files without one";
    return pvi_csv_hint(s, f->s, f->len);
}

/* Column i is not there: what stands in its place, or is spelt alike? */
static void missing(const pvi_csv *s, pvi_chunk *c, const names *n, int64_t i)
{
    const pvi_column *col = &s->sc->column[i];
    pvi_chunk trial = *c;
    pvi_cursor k = { .s = s, .c = &trial, .p = c->stop };
    const size_t len = strlen(col->name);
    pvi_span f;
    char part[48];
    for (int64_t j = 0; j < n->fields; j++) {
        const char *at = k.p = pvi_csv_skip(s, k.p + (j > 0));
        if (!pvi_csv_field(&k, &f)) return;
        const bool alike = f.len == len && strncasecmp(f.s, col->name, len) == 0;
        if (n->from[j] >= 0 || !(alike || j == i)) continue;
        pvi_chunk_fail(c, at, "the header has no column \"%s\"; column %lld is \"%s\"%s", col->name, (long long)j + 1,
                       pvi_excerpt(f.s, f.len, part), alike ? "" : hint(s, col, &f));
        return;
    }
    if (i != s->sc->label) pvi_chunk_fail(c, c->stop, "the header has no column \"%s\"", col->name);
    else
        pvi_chunk_fail(c, c->stop, "the column of the label, \"%s\", is missing%s", col->name,
                       s->job->expect->features > 0 ? "; predict needs none, eval does" : "");
}

/* May a table lack column i? */
static bool needed(const struct pv_load *job, const pvi_schema *sc, int64_t i)
{
    if (i == sc->label) return !job->expect->labels_optional;
    if (i == sc->person) return job->expect->persons || job->ids_found;
    return sc->column[i].type != PVI_COL_IGNORE;
}

/* The label last: a header without several columns most often has none of them. */
static bool all_there(const pvi_csv *s, pvi_chunk *c, const names *n)
{
    const pvi_schema *sc = s->sc;
    int64_t lost = -1;
    for (int64_t i = 0; i < sc->count && (lost < 0 || lost == sc->label); i++)
        if (n->where[i] < 0 && needed(s->job, sc, i)) lost = i;
    if (lost >= 0) missing(s, c, n, lost);
    return lost < 0;
}

/* ---- the schema for this file --------------------------------------------------------------------------------- */

static bool ascending(const pvi_schema *sc)
{
    int32_t last = -1;
    for (int64_t i = 0; i < sc->count; i++) {
        const pvi_column *col = &sc->column[i];
        if (col->type != PVI_COL_NUMBER && col->type != PVI_COL_CATEGORY) continue;
        if (col->first < last) return false;
        last = col->first;
    }
    return true;
}

static pv_status arrange(pvi_csv *s, const names *n)
{
    struct pv_load *job = s->job;
    const pvi_schema *sc = s->sc;
    job->labelled = sc->label >= 0 && n->where[sc->label] >= 0;
    if (sc->person >= 0 && n->where[sc->person] < 0) job->by_person = job->id_column = false;
    else job->ids_found = true; /* and other files of the set have them, too */
    if (n->extra)
        pvi_log(job->ctx, PV_LOG_NOTE, "%s: the schema does not have, and nothing reads, column%s %s%s", job->name,
                n->extra > 1 ? "s" : "", n->told, n->extra > TOLD ? ", ..." : "");
    if (*n->id && job->expect->persons && !job->by_person)
        pvi_log(
            job->ctx, PV_LOG_WARN,
            "%s: column \"%s\", which nothing reads, has the name of an id: if persons have several rows, \"type\": "
            "\"person\" in the schema protects all of them together, and rows are protected one by one without it",
            job->name, n->id);
    s->sc = pvi_schema_arranged(job->arena, sc, n->from, n->fields);
    if (!s->sc) return pvi_nomem(job->ctx);
    s->shuffled = !ascending(s->sc);
    return PV_OK;
}

pv_status pvi_csv_header(pvi_csv *s, pvi_chunk *c, int64_t fields)
{
    names n = { .fields = fields };
    pvi_cursor k = { .s = s, .c = c, .p = c->stop };
    pv_status st = know_names(s, &n);
    if (st != PV_OK || !read_names(&k, &n) || !all_there(s, c, &n)) return st;
    st = arrange(s, &n);
    c->stop = k.p + (*k.p == '\r') + 1;
    c->lines++;
    s->headed = true;
    return st;
}
