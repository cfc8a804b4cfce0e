/* reader_csv.c - tables: one record per line, columns as the schema declares them.
 *
 * Records are taken apart in csv_rows.kernel.c, unusual fields in csv_field.c; here is what precedes the rows:
 * lines to skip and, in csv_header.c, the header.  Without a schema every
 * column is a number taken as it is and the last one is the label; that is allowed only when the labels are
 * declared. */
#include "csv.h"

/* ---- before the rows ------------------------------------------------------------------------------------ */
/* Fields of the record at p, but for a declared separator at its end; 0: it goes on behind the chunk. */
static int64_t count_fields(pvi_cursor *k)
{
    pvi_span f;
    for (int64_t n = 1;; n++) {
        if (!pvi_csv_field(k, &f)) return 0;
        if (*k->p != k->s->sc->separator || pvi_csv_trailing(k)) return n;
        k->p++;
    }
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

/* The column of ids by its number; -1: none.  It is not the label, the last one. */
static pv_status person_column(struct pv_load *job, int64_t columns, int64_t *out)
{
    const char *text = job->cfg->person;
    double x = 0;
    *out = -1;
    if (!text) return PV_OK;
    if (!pvi_parse_f64(text, strlen(text), &x) || x != floor(x) || !(x >= 1 && x < (double)columns))
        return pvi_fail(job->ctx, PV_E_PARAM,
                        "data.person=%s: without a schema it is the number of a column, from 1 to %lld, and the last "
                        "one is the label",
                        text, (long long)columns - 1);
    *out = (int64_t)x - 1;
    job->ids_found = true;
    return PV_OK;
}

static pv_status no_schema(pvi_csv *s, pvi_chunk *c, int64_t fields)
{
    struct pv_load *job = s->job;
    pvi_schema *sc;
    const int64_t model = job->expect->features, ids = job->cfg->person != NULL;
    const int64_t wanted = model > 0 ? model : job->cfg->features, declared = wanted > 0 ? wanted + ids : wanted;
    int64_t person;
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
                              (long long)wanted, unlabelled ? "" : " and a label"),
               PV_OK;
    pv_status st = person_column(job, fields + unlabelled, &person);
    if (st == PV_OK) st = pvi_schema_plain(job->ctx, job->arena, fields + unlabelled, person, &sc);
    if (st != PV_OK) return st;
    s->sc = sc;
    job->labelled = !unlabelled;
    job->counted = declared <= 0;
    s->columns = fields;
    return pvi_build_begin(job, sc->features);
}

/* Without a header: all columns as declared, or all but the label. */
static pv_status by_position(pvi_csv *s, int64_t fields)
{
    struct pv_load *job = s->job;
    job->labelled = s->sc->label >= 0 && !(job->expect->labels_optional && fields == s->sc->count - 1);
    job->ids_found = s->headed = true;
    return PV_OK;
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
        const char *header = c->stop;
        const bool has = s->sc->header;
        const pvi_piece *piece = job->expect->piece;
        pv_status how = has ? pvi_csv_header(s, c, fields) : by_position(s, fields);
        if (how != PV_OK || !s->headed) return how;
        s->columns = s->sc->count - (s->sc->label >= 0 && !job->labelled);
        const pvi_dialect d = { s->sc->separator, s->sc->trailing };
        if (has && piece) how = piece->header(piece->user, header, (size_t)(c->stop - header), &d);
        if (how != PV_OK) return how;
    }
    return pvi_build_begin(job, s->sc->features);
}

static size_t row_bytes(const void *st)
{
    const pvi_csv *s = st;
    return (size_t)s->columns; /* separators and a line end */
}

static const char *column(const void *st, int64_t i)
{
    const pvi_csv *s = st;
    return s->sc->column[i - 1].name;
}

pvi_csv_parse_fn PVI_DECLARE_NARROW(pvi_csv_parse);
pvi_csv_parse_fn *const pvi_csv_parse_isa[PVI_ISA_COUNT] = PVI_EACH_NARROW(pvi_csv_parse);

static pv_status read_file(const void *cfg, struct pv_load *job)
{
    const pvi_text_ops ops = { start, pvi_csv_parse_isa[pvi_isa()], row_bytes, 1, column };
    pvi_csv s = { .job = job, .sc = job->schema, .center = job->cfg->center, .outside = pvi_outside_of(job->cfg) };
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
