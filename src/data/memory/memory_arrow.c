/* memory_arrow.c - an Arrow C stream of struct arrays: a table, batch by batch.
 *
 * With a schema the columns are matched to it by name, in any order, and each is read as the field of a CSV is; a
 * column that the one has and the other lacks is an error, but for the label's where labels are not needed.  Without
 * a schema all columns are numbers and the last one is the label, as in a CSV without one.
 *
 * Numbers are taken at their exact value (memory_cells.c (1)): the 32-bit float 0.1 is not the number that a CSV's
 * "0.1" is.  Words of a dictionary are looked up once a batch, and count only if a row uses them.
 *
 * A stream can be read once.  What it hands out is given back as soon as it has been read. */
#include "arrow_columns.h"

#include <errno.h>

typedef struct arrow {
    struct pv_load *job;
    struct ArrowArrayStream *stream;
    struct ArrowSchema schema;
    const pvi_schema *sc;
    int64_t *child;                   /* of each column of sc; -1: not there */
    pvi_arrow_type *type, *word_type; /* the same */
    pvi_cells *cells, *words;
    pvi_table table;
    int64_t batch;
} arrow;

static const char *child_name(const arrow *st, int64_t i)
{
    const struct ArrowSchema *c = st->schema.children[i];
    return c && c->name ? c->name : "";
}

/* ---- the stream's own errors ----------------------------------------------------------------------------------- */
/* What it says of a batch may quote a value. */
static pv_status stream_failed(const arrow *st, int code, bool batch)
{
    const char *why = st->stream->get_last_error ? st->stream->get_last_error(st->stream) : NULL;
    char text[256];
    snprintf(text, sizeof text, "%s", why && *why ? why : strerror(code));
    pvi_after_host(st->job->ctx);
    if (!batch) return pvi_fail(st->job->ctx, PV_E_IO, "%s: %s", st->job->name, text);
    return pvi_fail(st->job->ctx, PV_E_IO, "%s: batch %lld: %s", st->job->name, (long long)st->batch + 1,
                    pvi_told(st->job, text));
}

static pv_status bad_array(const arrow *st, const char *column, const char *why)
{
    char part[48];
    if (!column)
        return pvi_fail(st->job->ctx, PV_E_FORMAT, "%s: batch %lld: %s", st->job->name, (long long)st->batch, why);
    return pvi_fail(st->job->ctx, PV_E_FORMAT, "%s: batch %lld, column \"%s\": %s", st->job->name,
                    (long long)st->batch, pvi_excerpt(column, strlen(column), part), why);
}

/* ---- columns --------------------------------------------------------------------------------------------------- */
static pv_status check_struct(const arrow *st)
{
    const struct ArrowSchema *s = &st->schema;
    if (!s->release || !s->format || strcmp(s->format, "+s") != 0 || s->n_children < 0 ||
        (s->n_children > 0 && !s->children))
        return pvi_fail(st->job->ctx, PV_E_FORMAT, "%s: a table is needed: batches of columns with names",
                        st->job->name);
    if (s->n_children == 0 || s->n_children > INT32_MAX)
        return pvi_fail(st->job->ctx, PV_E_FORMAT, "%s: no columns", st->job->name);
    for (int64_t i = 0; i < s->n_children; i++)
        if (!s->children[i] || !s->children[i]->release)
            return pvi_fail(st->job->ctx, PV_E_FORMAT, "%s: column %lld has no type", st->job->name,
                            (long long)i + 1);
    return PV_OK;
}

static pv_status get_room(arrow *st)
{
    pv_arena *a = st->job->arena;
    const size_t n = (size_t)st->sc->count;
    st->child = pv_arena_get(a, n * sizeof *st->child);
    st->type = pv_arena_get(a, n * sizeof *st->type);
    st->word_type = pv_arena_get(a, n * sizeof *st->word_type);
    st->cells = pv_arena_get(a, n * sizeof *st->cells);
    st->words = pv_arena_get(a, n * sizeof *st->words);
    return st->child && st->type && st->word_type && st->cells && st->words ? PV_OK : pvi_nomem(st->job->ctx);
}

/* Names of the stream to numbers; they must differ. */
static pv_status name_children(const arrow *st, pvi_dictionary *names)
{
    struct pv_load *job = st->job;
    const size_t n = (size_t)st->schema.n_children;
    pvi_span *span = pv_arena_get(job->arena, n * sizeof *span);
    int32_t *code = pv_arena_get(job->arena, n * sizeof *code);
    int64_t twice;
    char part[48];
    if (!span || !code) return pvi_nomem(job->ctx);
    for (size_t i = 0; i < n; i++) {
        span[i] = (pvi_span) { child_name(st, (int64_t)i), strlen(child_name(st, (int64_t)i)) };
        code[i] = (int32_t)i;
    }
    const pv_status s = pvi_dictionary_build(job->ctx, job->arena, (int64_t)n, span, code, names, &twice);
    if (s != PV_OK || twice < 0) return s;
    return pvi_fail(job->ctx, PV_E_FORMAT, "%s: two columns named \"%s\"", job->name,
                    pvi_excerpt(span[twice].s, span[twice].len, part));
}

static pv_status missing_column(const arrow *st, int64_t i)
{
    char part[48];
    const char *name = pvi_excerpt(st->sc->column[i].name, strlen(st->sc->column[i].name), part);
    if (i == st->sc->label)
        return pvi_fail(st->job->ctx, PV_E_FORMAT, "%s: the column of the label, \"%s\", is missing%s", st->job->name,
                        name, st->job->expect->features > 0 ? "; predict needs none, eval does" : "");
    return pvi_fail(st->job->ctx, PV_E_FORMAT, "%s: the column \"%s\" of the schema is missing", st->job->name, name);
}

static pv_status match_names(arrow *st)
{
    struct pv_load *job = st->job;
    const pvi_schema *sc = st->sc;
    pvi_dictionary names;
    char part[48];
    pv_status s = name_children(st, &names);
    bool *taken = pv_arena_get(job->arena, (size_t)st->schema.n_children);
    if (s == PV_OK && !taken) s = pvi_nomem(job->ctx);
    for (int64_t i = 0; i < sc->count && s == PV_OK; i++) {
        const size_t len = strlen(sc->column[i].name);
        char *name = pv_arena_get(job->arena, len + 17); /* with room to read behind it */
        if (!name) return pvi_nomem(job->ctx);
        memcpy(name, sc->column[i].name, len);
        st->child[i] = pvi_dictionary_find(&names, name, len);
        if (st->child[i] >= 0) taken[st->child[i]] = true;
        else if (i == sc->person && !job->expect->persons) job->by_person = job->id_column = false; /* not needed */
        else if (i != sc->label || !(job->aparts || job->expect->labels_optional)) s = missing_column(st, i);
    }
    for (int64_t i = 0; i < st->schema.n_children && s == PV_OK; i++)
        if (!taken[i])
            s = pvi_fail(job->ctx, PV_E_FORMAT,
                         "%s: the schema has no column \"%s\"; \"type\": \"ignore\" leaves one out", job->name,
                         pvi_excerpt(child_name(st, i), strlen(child_name(st, i)), part));
    job->labelled = s == PV_OK && sc->label >= 0 && st->child[sc->label] >= 0;
    return s;
}

/* Numbers as they are, the label last: as reader_csv.c without a schema. */
static pv_status plain_columns(arrow *st)
{
    struct pv_load *job = st->job;
    pvi_schema *sc;
    const int64_t n = st->schema.n_children, model = job->expect->features,
                  declared = model > 0 ? model : job->cfg->features;
    const bool unlabelled = job->aparts || (job->expect->labels_optional && declared > 0 && n == declared);
    char text[72];
    const char *trained = pvi_trained_on(job, text);
    if (n < 2 && !unlabelled)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: one column only: features and a label are needed", job->name);
    if (trained && n != declared + !unlabelled)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %lld columns, but the model was trained on %s", job->name,
                        (long long)n, trained);
    if (declared > 0 && n != declared + !unlabelled)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %lld columns, but %lld features%s are declared", job->name,
                        (long long)n, (long long)declared, unlabelled ? "" : " and a label");
    pv_status s = pvi_schema_plain(job->ctx, job->arena, n + unlabelled, -1, &sc);
    if (s != PV_OK) return s;
    st->sc = sc;
    job->labelled = !unlabelled;
    job->counted = declared <= 0;
    if ((s = get_room(st)) != PV_OK) return s;
    for (int64_t i = 0; i < sc->count; i++) {
        st->child[i] = i < n ? i : -1;
        if (i < n) sc->column[i].name = child_name(st, i); /* the stream's schema lives as long as this load */
    }
    return PV_OK;
}

/* ---- types ----------------------------------------------------------------------------------------------------- */
static bool is_index(int kind)
{
    return kind >= PV_INT8 && kind <= PV_UINT64;
}

static bool is_date(int kind)
{
    return kind == PVI_CELL_DAY || kind == PVI_CELL_DATE || kind == PVI_CELL_TIME;
}

static pv_status check_type(arrow *st, int64_t i)
{
    const struct ArrowSchema *c = st->schema.children[st->child[i]];
    const pvi_column *col = &st->sc->column[i];
    pvi_arrow_type *t = &st->type[i], *w = &st->word_type[i];
    char part[48];
    const char *bad = pvi_arrow_format(c->format, t);
    t->dictionary = c->dictionary != NULL;
    if (!bad && t->dictionary) bad = pvi_arrow_format(c->dictionary->format, w);
    if (!bad && t->dictionary && (!is_index(t->kind) || c->dictionary->dictionary)) bad = "a dictionary of this kind";
    const int kind = t->dictionary ? w->kind : t->kind;
    if (!bad && col->raw && col->type == PVI_COL_NUMBER && is_date(kind)) bad = "a date without a schema";
    if (!bad) return PV_OK;
    return pvi_fail(st->job->ctx, PV_E_FORMAT, "%s: column \"%s\": %s cannot be encoded%s", st->job->name,
                    pvi_excerpt(col->name, strlen(col->name), part), bad,
                    col->raw ? "" : "; \"type\": \"ignore\" leaves it out");
}

static pv_status find_columns(arrow *st)
{
    pv_status s = check_struct(st);
    if (s == PV_OK && st->job->schema) {
        st->sc = st->job->schema;
        if ((s = get_room(st)) == PV_OK) s = match_names(st);
    } else if (s == PV_OK) {
        s = plain_columns(st);
    }
    for (int64_t i = 0; s == PV_OK && i < st->sc->count; i++)
        if (st->child[i] >= 0 && st->sc->column[i].type != PVI_COL_IGNORE) s = check_type(st, i);
    return s;
}

/* ---- batches --------------------------------------------------------------------------------------------------- */
static pv_status bind(arrow *st, const struct ArrowArray *a)
{
    pvi_bitmap above;
    const char *bad = pvi_arrow_bind_struct(a, st->schema.n_children, &above);
    if (bad) return bad_array(st, NULL, bad);
    for (int64_t i = 0; i < st->sc->count; i++) {
        pvi_cells *c = &st->cells[i];
        if (st->child[i] < 0 || st->sc->column[i].type == PVI_COL_IGNORE) continue;
        const struct ArrowArray *child = a->children[st->child[i]];
        bad = pvi_arrow_bind(&st->type[i], child, a->offset, a->length, c);
        if (!bad && st->type[i].dictionary) {
            bad = pvi_arrow_bind(&st->word_type[i], child->dictionary, 0, child->dictionary->length, &st->words[i]);
            c->words = &st->words[i];
        }
        if (bad) return bad_array(st, st->sc->column[i].name, bad);
        c->above = above;
    }
    return PV_OK;
}

static pv_status read_batches(arrow *st)
{
    pv_status s = PV_OK;
    for (bool more = true; more && s == PV_OK;) {
        struct ArrowArray a = { 0 };
        const int code = st->stream->get_next(st->stream, &a);
        pvi_after_host(st->job->ctx);
        if (code) return stream_failed(st, code, true);
        more = a.release != NULL;
        st->batch += more;
        if (more) s = bind(st, &a);
        if (more && s == PV_OK && a.length > 0) s = pvi_table_run(&st->table, a.length, 0.0, 0.0);
        if (more) a.release(&a);
        pvi_after_host(st->job->ctx);
    }
    return s;
}

static pv_status read_rows(struct pv_load *job)
{
    arrow st = { .job = job, .stream = &job->from->of.arrow };
    pv_status s = pvi_label_table(job);
    if (s == PV_OK) s = pvi_data_begin(job->ctx, job->from);
    if (s != PV_OK) return s;
    const int code = st.stream->get_schema(st.stream, &st.schema);
    pvi_after_host(job->ctx);
    if (code) return stream_failed(&st, code, false);
    s = find_columns(&st);
    if (s == PV_OK) s = pvi_table_open(&st.table, job, st.sc, st.cells);
    if (s == PV_OK) s = read_batches(&st);
    pvi_table_close(&st.table);
    if (st.schema.release) st.schema.release(&st.schema);
    return s;
}

static void close_stream(pv_data *d)
{
    if (d->of.arrow.release) d->of.arrow.release(&d->of.arrow);
}

static const pvi_data_ops arrow_ops = { .name = "Arrow stream", .read = read_rows, .close = close_stream };

static pv_status open_stream(pv_ctx *ctx, const struct ArrowArrayStream *stream, pv_data **out)
{
    PVI_CALL(ctx, PVI_CTX);
    if (!out || !stream) return pvi_fail(ctx, PV_E_ARG, "pv_data_arrow: %s is NULL", out ? "stream" : "out");
    if (!stream->release) return pvi_fail(ctx, PV_E_ARG, "Arrow stream: it has been released");
    if (!stream->get_schema || !stream->get_next)
        return pvi_fail(ctx, PV_E_ARG, "Arrow stream: a function of it is NULL");
    const pv_status s = pvi_data_create(ctx, &arrow_ops, -1, out);
    if (s == PV_OK) (*out)->of.arrow = *stream;
    return s;
}

pv_status pv_data_arrow(pv_ctx *ctx, struct ArrowArrayStream *stream, pv_data **out)
{
    if (out) *out = NULL;
    const pv_status s = open_stream(ctx, stream, out);
    if (s == PV_OK) stream->release = NULL; /* moved, as the interface has it */
    else if (stream && stream->release) stream->release(stream);
    return s;
}
