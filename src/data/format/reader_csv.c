/* reader_csv.c - tables: one record per line, columns as the schema declares them.
 *
 * Records are taken apart in csv_rows.kernel.c, unusual fields in csv_field.c; here is what precedes the rows:
 * lines to skip, the header, and whether a table to be scored has its label column.  Without a schema every
 * column is a number taken as it is and the last one is the label; that is allowed only when the labels are
 * declared. */
#include "csv.h"

/* ---- before the rows ------------------------------------------------------------------------------------ */
/* Fields of the record at p; 0: it goes on behind the chunk. */
static int64_t count_fields(pvi_cursor *k)
{
    pvi_span f;
    for (int64_t n = 1;; n++) {
        if (!pvi_csv_field(k, &f)) return 0;
        if (*k->p != k->s->sc->separator) return n;
        k->p++;
    }
}

/* What a header that does not fit most often means. */
static const char *header_hint(const pvi_csv *s, const pvi_column *col, const pvi_span *f)
{
    double x;
    if (memchr(f->s, '\0', f->len)) return "; this is no text in UTF-8: another kind of file, or UTF-16";
    if (memchr(f->s, '\r', f->len)) return "; lines must end with a line feed, not with a carriage return alone";
    if (pvi_number(f->s, f->len, &x) ||
        (col->words.count > 0 && pvi_dictionary_match(&col->words, f->s, f->len) >= 0))
        return "; \"header\": false in the schema is for files without one";
    return pvi_csv_hint(s, f->s, f->len);
}

static bool name_matches(pvi_cursor *k, int64_t i)
{
    pvi_span f;
    char part[48];
    const pvi_column *col = &k->s->sc->column[i];
    const char *at = k->p = pvi_csv_skip(k->s, k->p);
    if (!pvi_csv_field(k, &f)) return false;
    if (f.len == strlen(col->name) && memcmp(f.s, col->name, f.len) == 0) return true;
    pvi_chunk_fail(k->c, at, "the header says \"%s\" where the schema has \"%s\" (column %lld)%s",
                   pvi_excerpt(f.s, f.len, part), col->name, (long long)i + 1, header_hint(k->s, col, &f));
    return false;
}

/* The header against the schema; a table to be scored may lack the label. */
static bool header(pvi_cursor *k)
{
    const pvi_csv *s = k->s;
    int64_t seen = 0;
    for (int64_t i = 0; i < s->sc->count; i++) {
        if (i == s->sc->label && !s->job->labelled) continue;
        if (!name_matches(k, i)) return false;
        if (++seen == s->columns) break;
        if (*k->p != s->sc->separator) return pvi_csv_count(k, seen);
        k->p++;
    }
    if (*k->p == s->sc->separator) return pvi_csv_count(k, seen);
    k->p += (*k->p == '\r') + 1;
    k->c->lines++;
    return true;
}

/* Are all columns of the header there but the label? */
static bool lacks_label(pvi_csv *s, const pvi_chunk *c)
{
    pvi_chunk trial = *c;
    pvi_cursor k = { .s = s, .c = &trial, .p = c->stop };
    const int64_t columns = s->columns;
    if (!s->sc->header || !s->job->labelled) return false;
    s->job->labelled = false;
    s->columns = s->sc->count - 1;
    const bool lacks = header(&k);
    s->job->labelled = true;
    s->columns = columns;
    return lacks;
}

/* Lines that may precede the first record. */
static bool skip_lines(pvi_csv *s, pvi_chunk *c)
{
    const int64_t skip = s->sc->skip;
    for (; s->skipped < skip; s->skipped++, c->lines++) {
        const char *end = memchr(c->stop, '\n', (size_t)(c->end - c->stop));
        if (!end || pvi_chunk_longer(c, c->stop, end + 1)) return false;
        c->stop = end + 1;
    }
    for (const char *p = c->stop; p < c->end && pvi_csv_blank_line(s, &p); c->stop = p, c->lines++)
        if (pvi_chunk_longer(c, c->stop, p)) return false;
    return c->stop < c->end;
}

static pv_status no_schema(pvi_csv *s, pvi_chunk *c, int64_t fields)
{
    struct pv_load *job = s->job;
    pvi_schema *sc;
    const int64_t model = job->expect->features, declared = model > 0 ? model : job->cfg->features;
    const bool unlabelled = job->aparts || (job->expect->labels_optional && declared > 0 && fields == declared);
    if (fields < 2 && !unlabelled)
        return pvi_chunk_fail(c, c->stop, "one column only: features and a label are needed%s",
                              pvi_csv_hint(s, c->stop, strcspn(c->stop, "\n"))),
               PV_OK;
    char text[72];
    const char *trained = pvi_trained_on(job, text);
    if (trained && fields != declared + !unlabelled)
        return pvi_chunk_fail(c, c->stop, "%lld columns, but the model was trained on %s", (long long)fields,
                              trained),
               PV_OK;
    if (declared > 0 && fields != declared + !unlabelled)
        return pvi_chunk_fail(c, c->stop, "%lld columns, but %lld features%s are declared", (long long)fields,
                              (long long)declared, unlabelled ? "" : " and a label"),
               PV_OK;
    pv_status st = pvi_schema_plain(job->ctx, job->arena, fields + unlabelled, &sc);
    if (st != PV_OK) return st;
    s->sc = sc;
    job->labelled = !unlabelled;
    job->counted = declared <= 0;
    s->columns = fields;
    return pvi_build_begin(job, sc->features);
}

static pv_status start(void *st, struct pv_load *job, pvi_chunk *c)
{
    static const pvi_schema plain = { .separator = ',' };
    pvi_csv *s = st;
    if (!s->sc) s->sc = &plain; /* until the first record has been counted */
    c->lines = 0;
    if (!skip_lines(s, c)) return PV_OK;
    pvi_cursor k = { .s = s, .c = c, .p = c->stop };
    pvi_chunk probe = *c; /* counting must not count lines or fail for good */
    k.c = &probe;
    const int64_t fields = count_fields(&k);
    if (fields == 0) {
        if (probe.bad) *c = probe;
        if (probe.bad) pvi_chunk_stopped(c, c->stop, k.p);
        return PV_OK;
    }
    if (pvi_chunk_longer(c, c->stop, k.p + (*k.p == '\r') + 1)) return PV_OK;
    if (!job->schema) return no_schema(s, c, fields);
    if (!s->headed) {
        job->labelled = s->sc->label >= 0 && !(job->expect->labels_optional && fields == s->sc->count - 1);
        s->columns = s->sc->count - (s->sc->label >= 0 && !job->labelled);
        if (fields == s->sc->count - 1 && lacks_label(s, c)) {
            pvi_chunk_fail(c, c->stop, "the column of the label, \"%s\", is missing%s",
                           s->sc->column[s->sc->label].name,
                           job->expect->features > 0 ? "; predict needs none, eval does" : "");
            return PV_OK;
        }
        if (s->sc->header) {
            k = (pvi_cursor) { .s = s, .c = c, .p = c->stop };
            if (!header(&k)) return PV_OK;
            c->stop = k.p;
        }
        s->headed = true;
    }
    return pvi_build_begin(job, s->sc->features);
}

static size_t row_bytes(const void *st)
{
    const pvi_csv *s = st;
    return (size_t)s->columns; /* separators and a line end */
}

pvi_csv_parse_fn PVI_DECLARE_NARROW(pvi_csv_parse);
pvi_csv_parse_fn *const pvi_csv_parse_isa[PVI_ISA_COUNT] = PVI_EACH_NARROW(pvi_csv_parse);

static pv_status read_file(const void *cfg, struct pv_load *job)
{
    const pvi_text_ops ops = { start, pvi_csv_parse_isa[pvi_isa()], row_bytes, 1 };
    pvi_csv s = { .job = job, .sc = job->schema, .center = job->cfg->center, .outside = job->cfg->outside };
    (void)cfg;
    const pv_status st = pvi_label_table(job);
    return st == PV_OK ? pvi_text_run(job, &ops, &s) : st;
}

static bool ends_with_csv(const char *path)
{
    const char *dot = strstr(path, ".csv");
    return dot && (dot[4] == '\0' || dot[4] == '.');
}

/* Is the first line that is not blank printable, with a comma in it or a name that says so? */
static int probe(const char *path, const uint8_t *magic, size_t n)
{
    size_t from = 0, to;
    while (from < n && (magic[from] == '\n' || magic[from] == '\r')) from++;
    bool comma = false;
    for (to = from; to < n && magic[to] != '\n'; to++) {
        if (magic[to] < 0x20 && magic[to] != '\t' && magic[to] != '\r') return 0;
        comma |= magic[to] == ',';
    }
    return ends_with_csv(path) ? 80 : comma ? 60 : 0;
}

const pv_reader_ops pv_reader_csv = {
    .head = { .name = "csv",
              .summary = "tables with declared columns: numbers, categories, a label",
              .reference = "RFC 4180",
              .params = pv_no_params },
    .probe = probe,
    .read = read_file,
    .tables = true,
};
