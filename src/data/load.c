/* load.c - the data.* settings, and one load from path to matrix. */
#include "data.h"
#include "curves.h"
#include "knots.h"
#include "reader.h"

#define AT(field) offsetof(pvi_data_cfg, field)
const pv_param pvi_data_params[] = {
    { "path", PV_STR, AT(path), 0, 0, 0, false,
      "file with the rows, several with commas: plain, gzip or bzip2, told by content", NULL },
    { "format", PV_STR, AT(format), 0, 0, 0, false, "reader of the file (`privet list reader`); auto: by content",
      "auto" },
    { "schema", PV_STR, AT(schema), 0, 0, 0, true, "JSON file that declares the columns of a table", NULL },
    { "labels", PV_STR, AT(labels), 0, 0, 0, true, "classes in order, as in no,yes; spellings of one as in n|no,yes",
      NULL },
    { "y_min", PV_F64, AT(y_min), PV_AUTO, -1e38, 1e38, true,
      "lower bound of a real label, declared; tables declare it in the schema", NULL },
    { "y_max", PV_F64, AT(y_max), PV_AUTO, -1e38, 1e38, true, "upper bound of a real label, declared", NULL },
    { "rows", PV_I64, AT(rows), PV_AUTO, 1, 1e15, true, "n, number of rows; auto: counted, and treated as public",
      NULL },
    { "features", PV_I64, AT(features), PV_AUTO, 1, 2147483647, true,
      "columns before the bias; auto: the largest index in the file, treated as public", NULL },
    { "row_norm", PV_F64, AT(row_norm), 1, 1e-6, 1e6, true,
      "R, bound on the Euclidean norm of every row, bias included", NULL },
    { "norm", PV_ENUM, AT(norm), 0, 0, 0, true,
      "clip: scale rows above R down; unit: every row to R; max: R bounds the largest value", "clip|unit|max" },
    { "center", PV_F64, AT(center), 0, -1e6, 1e6, true, "public constant subtracted from every number of a table",
      NULL },
    { "bias", PV_F64, AT(bias), 1, 0, 1e3, true, "value of the constant column, before the row is normed; 0: none",
      NULL },
    { "layout", PV_ENUM, AT(layout), 0, 0, 0, false,
      "rows in memory; auto: dense up to 1024 features, images and arrays always; of curves, what is not zero",
      "auto|dense|sparse" },
    { "outside", PV_ENUM, AT(outside), 0, 0, 0, true,
      "values outside the declaration: refuse the file, clamp numbers, treat as missing, or the usual: clamp "
      "numbers, "
      "and take a category for \"other\" or, where the column has no such value, for missing",
      "error|clamp|missing|usual" },
    { "outside_numbers", PV_ENUM, AT(outside_numbers), 0, 0, 0, true,
      "the same of numbers; auto: as data.outside says", "auto|error|clamp|missing" },
    { "outside_categories", PV_ENUM, AT(outside_categories), 0, 0, 0, true,
      "the same of categories; auto: as data.outside says", "auto|error|missing|other" },
    { "outside_text", PV_ENUM, AT(outside_text), 0, 0, 0, true,
      "what is no number, where the schema declares one: refuse the file, or treat as missing", "error|missing" },
    { "messages", PV_ENUM, AT(messages), 0, 0, 0, false,
      "what is said of a value that is refused: what it is and where it stands, or the place alone", "full|place" },
    { "measured", PV_ENUM, AT(measured), 0, 0, 0, true,
      "what was taken from the rows, not declared: classes are treated as public; bounds make the result NOT PRIVATE",
      "none|classes|bounds" },
    { "chunk", PV_I64, AT(chunk), 262144, 16, 1 << 28, false, "bytes of text per task; speed only", NULL },
    { "max_line", PV_I64, AT(max_line), 67108864, 16, 1e15, false,
      "bytes that a line of text may have; a longer one is refused", NULL },
    { "max_expansion", PV_F64, AT(max_expansion), 500, 1, 1e12, false,
      "a compressed file above 64 MiB may be at most so many times its compressed size", NULL },
    { "image", PV_STR, AT(image), 0, 0, 0, true,
      "the rows are images, HEIGHTxWIDTHxCHANNELS or HEIGHTxWIDTH; default: what the file says", NULL },
    { "transform", PV_ENUM, AT(transform), 0, 0, 0, true,
      "public features computed from each image on its own: none, or scattering coefficients", "none|scatter" },
    { "scatter_scales", PV_I64, AT(scatter_scales), 2, 1, 4, true,
      "J, scales of the wavelets; features are 2^J apart", NULL },
    { "scatter_angles", PV_I64, AT(scatter_angles), 8, 1, 32, true, "L, angles of the wavelets", NULL },
    { "scatter_groups", PV_I64, AT(scatter_groups), 27, 0, 1e6, true,
      "G, groups of channels normalized to mean 0 and variance 1 within each row; 0: none", NULL },
    { "curves", PV_STR, AT(curves), 0, 0, 0, true,
      "a curve for each number of a table with a schema: off, so many knots, or auto: by units and epsilon", "auto" },
    { "knots_share", PV_F64, AT(knots_share), PV_AUTO, 0, 0.9, true,
      "share of the budget for noisy histograms of all numbers, by which knots of curves are placed; auto: 0.02 "
      "where "
      "units and epsilon make it worth that, else 0",
      NULL },
    { "person", PV_STR, AT(person), 0, 0, 0, true,
      "column that says whose row it is, by name, or by number in a table without a schema", NULL },
    { "person_file", PV_STR, AT(person_file), 0, 0, 0, false, "file that says whose row it is, a line for every row",
      NULL },
    { "person_rows", PV_I64, AT(person_rows), PV_AUTO, 1, 1e9, true,
      "K, rows that one person contributes at most; of more, K are drawn; auto: as the schema says, else "
      "data.person_rows_most, or with a share a private quantile",
      NULL },
    { "person_rows_most", PV_I64, AT(person_rows_most), 64, 1, 1024, true,
      "K at most, where neither data.person_rows nor the schema says it", NULL },
    { "person_rows_share", PV_F64, AT(person_rows_share), PV_AUTO, 0, 0.9, true,
      "share of the budget for a noisy histogram of rows per person, which chooses K unless it is said and counts "
      "rows; auto: 0.05 where unit.weight=rows and K is not said, else 0",
      NULL },
    { "trained_on", PV_STR, AT(trained_on), 0, 0, 0, false,
      "eval: the file that was trained on, to say how many persons of the new rows are in it", NULL },
    { "persons", PV_I64, AT(persons), PV_AUTO, 1, 1e15, true,
      "n, number of persons; auto: counted, and treated as public", NULL },
    { "key_path", PV_STR, AT(key_path), 0, 0, 0, false,
      "secret that keys the data's digest, made on first use; none: for this run only", NULL },
    { 0 },
};

pvi_outside pvi_outside_of(const pvi_data_cfg *cfg)
{
    static const int64_t numbers[] = { -1, PVI_OUTSIDE_ERROR, PVI_OUTSIDE_CLAMP, PVI_OUTSIDE_MISSING },
                         categories[] = { -1, PVI_OUTSIDE_ERROR, PVI_OUTSIDE_MISSING, PVI_OUTSIDE_OTHER };
    pvi_outside o = { numbers[cfg->outside_numbers], categories[cfg->outside_categories],
                      cfg->outside_text ? PVI_OUTSIDE_MISSING : PVI_OUTSIDE_ERROR };
    if (o.numbers < 0) o.numbers = cfg->outside == PVI_OUTSIDE_OTHER ? PVI_OUTSIDE_CLAMP : cfg->outside;
    if (o.categories < 0) o.categories = cfg->outside == PVI_OUTSIDE_CLAMP ? PVI_OUTSIDE_ERROR : cfg->outside;
    return o;
}

const char *pvi_told(const struct pv_load *job, const char *why)
{
    return job->cfg->messages == PVI_TELL_PLACE ? "refused; data.messages=full tells why, and quotes it" : why;
}

/* ---- which reader -------------------------------------------------------------------------------- */
static pv_status unknown_reader(pv_ctx *ctx, const char *name)
{
    char list[256] = "";
    const pv_plugin *p;
    for (int64_t i = 0; (p = pv_nth(PV_KIND_reader, i)); i++) {
        const size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, ", %s", p->name);
    }
    return pvi_fail(ctx, PV_E_PARAM, "data.format=%s: one of auto%s is needed", name, list);
}

enum { MAGIC = 100 }; /* a probe that says so has seen a magic number: it is nothing else */

/* The reader that knows the first bytes best. */
static const pv_reader_ops *best_reader(const struct pv_load *job, int *score)
{
    const pv_reader_ops *best = NULL;
    const pv_plugin *p;
    size_t n;
    const uint8_t *magic = pvi_source_peek(job->src, &n);
    *score = 0;
    for (int64_t i = 0; (p = pv_nth(PV_KIND_reader, i)); i++) {
        const pv_reader_ops *r = (const pv_reader_ops *)p;
        const int found = r->probe(pvi_source_path(job->src), magic, n);
        if (found > *score) *score = found, best = r;
    }
    return best;
}

const char *pvi_trained_on(const struct pv_load *job, char out[72])
{
    const char *image = job->cfg->image;
    const bool transform = job->cfg->transform != PVI_TRANSFORM_NONE; /* then the reader expects what precedes it */
    if ((transform ? job->transformed : job->expect->features) <= 0) return NULL;
    if (job->schema) snprintf(out, 72, "a table of %lld columns", (long long)job->schema->count);
    else if (image && *image) snprintf(out, 72, "images of %s", image);
    else snprintf(out, 72, "rows of %lld features", (long long)job->expect->features);
    return out;
}

/* Is this another kind of data than a schema declares, or than the model had?  More than two classes go undeclared
 * only where labels are bytes: not in text. */
static pv_status check_kind(const struct pv_load *job, const pv_reader_ops *found, int score)
{
    char text[72];
    const char *trained = pvi_trained_on(job, text);
    const bool only_binary = trained && job->expect->classes > 2 && !job->cfg->labels && !job->schema;
    if (!found || !(job->schema ? score == MAGIC : only_binary && score < MAGIC)) return PV_OK;
    return pvi_fail(
        job->ctx, PV_E_FORMAT, "%s: data of format %s, but %s%s%s", pvi_source_path(job->src), found->head.name,
        trained ? "the model was trained on " : "data.schema is for tables: leave it out", trained ? trained : "",
        only_binary && strncmp(trained, "rows", 4) == 0 ? "; data.labels= would name the labels of a text file" : "");
}

static const pv_reader_ops *table_reader(void)
{
    const pv_plugin *h;
    for (int64_t i = 0; (h = pv_nth(PV_KIND_reader, i)); i++)
        if (((const pv_reader_ops *)(const void *)h)->tables) return (const pv_reader_ops *)(const void *)h;
    return NULL;
}

static pv_status choose(const struct pv_load *job, const pv_reader_ops **out)
{
    const char *format = job->cfg->format ? job->cfg->format : "auto", *path = pvi_source_path(job->src);
    int score;
    *out = NULL;
    if (strcmp(format, "auto") != 0) {
        *out = (const pv_reader_ops *)pv_find(PV_KIND_reader, format);
        return *out ? PV_OK : unknown_reader(job->ctx, format);
    }
    const pv_reader_ops *found = best_reader(job, &score);
    size_t n;
    const uint8_t *first = pvi_source_peek(job->src, &n);
    pv_status bad = score < MAGIC ? pvi_kind_check(job->ctx, path, first, n) : PV_OK;
    if (bad == PV_OK) bad = check_kind(job, found, score);
    if (bad != PV_OK) return bad;
    *out = job->schema ? table_reader() : found; /* only tables have one */
    if (*out) return PV_OK;
    return pvi_fail(job->ctx, PV_E_FORMAT, "%s:1:1: neither LIBSVM lines nor a table; data.format= names the format",
                    path);
}

/* The reader that the first file would get; NULL: there is no such file yet, or none is known that reads it. */
static pv_status reader_of_file(pv_ctx *ctx, const pvi_data_cfg *cfg, const pv_reader_ops **out)
{
    struct pv_load job = { .ctx = ctx, .cfg = cfg };
    int score;
    *out = NULL;
    if (!cfg->path || !*cfg->path || strcmp(cfg->path, "-") == 0) return PV_OK; /* a pipe can be read once */
    if (!(job.arena = pvi_arena_create(ctx))) return pvi_nomem(ctx);
    pv_status s = pvi_paths(&job, &cfg->path, 1);
    if (s == PV_OK) s = pvi_source_open(ctx, job.file[0], cfg->max_expansion, &job.src);
    if (s == PV_OK) *out = best_reader(&job, &score);
    pvi_source_close(job.src);
    pvi_arena_free(job.arena);
    return s == PV_E_NOMEM ? s : PV_OK;
}

pv_status pvi_data_is_sparse(pv_ctx *ctx, const pvi_data_cfg *cfg, int64_t p, bool *sparse)
{
    const char *format = cfg->format ? cfg->format : "auto";
    const bool known = cfg->schema || cfg->features != PV_AUTO_I64; /* before the first row */
    const pv_reader_ops *r = NULL;
    pv_status s = PV_OK;
    *sparse = cfg->layout == PVI_LAYOUT_SPARSE;
    if (cfg->layout != PVI_LAYOUT_AUTO || p - (cfg->bias != 0.0) <= PVI_DENSE_FEATURES ||
        cfg->transform != PVI_TRANSFORM_NONE || (cfg->image && known))
        return PV_OK;
    if (strcmp(format, "auto") != 0) r = (const pv_reader_ops *)(const void *)pv_find(PV_KIND_reader, format);
    else if (cfg->schema) r = table_reader();
    else s = reader_of_file(ctx, cfg, &r);
    *sparse = !r || !(r->images || r->dense);
    return s;
}

/* ---- after reading -------------------------------------------------------------------------------- */
static pv_status name_classes(const struct pv_load *job, pvi_matrix *m)
{
    const pvi_label_rule *r = &job->label;
    m->has_labels = job->labelled;
    m->features_measured |= job->counted;
    m->domain.classes = r->classes;
    m->pixels = job->cfg->transform == PVI_TRANSFORM_NONE ? job->image : job->pixels;
    m->domain.height = job->image.height;
    m->domain.width = job->image.width;
    m->domain.channels = job->image.channels;
    m->domain.y_lo = r->classes == 0 ? r->lo : r->classes == 2 ? -1 : 0;
    m->domain.y_hi = r->classes == 0 ? r->hi : r->classes == 2 ? 1 : (double)r->classes - 1;
    if (r->classes == 0) return PV_OK;
    m->class_names = pvi_alloc(m->ctx, sizeof *m->class_names * (size_t)r->classes);
    if (!m->class_names) return pvi_nomem(m->ctx);
    for (int64_t i = r->words.count; i-- > 0;) { /* the first spelling of each class wins */
        char *name = pvi_alloc(m->ctx, r->words.word[i].len + 1), **slot = &m->class_names[r->words.word[i].code];
        if (!name) return pvi_nomem(m->ctx);
        memcpy(name, r->words.word[i].text, r->words.word[i].len);
        pvi_free(m->ctx, *slot);
        *slot = name;
    }
    return PV_OK;
}

static void say_what_is_text(const struct pv_load *job)
{
    const pvi_schema *sc = job->schema;
    char told[160] = "", part[48];
    int64_t n = 0;
    for (int64_t i = 0; i < sc->count; i++) {
        if (!sc->column[i].unread || n++ >= 3) continue;
        const size_t len = strlen(told);
        snprintf(told + len, sizeof told - len, "%s\"%s\"", len ? ", " : "",
                 pvi_excerpt(sc->column[i].name, strlen(sc->column[i].name), part));
    }
    if (n > 0)
        pvi_log(job->ctx, PV_LOG_NOTE, "text, which nothing reads: column%s %s%s", n > 1 ? "s" : "", told,
                n > 3 ? ", ..." : "");
}

static void say_what_is_public(const struct pv_load *job, const pvi_matrix *m)
{
    const bool one = m->domain.n == 1;
    if (m->start && job->cfg->persons == PV_AUTO_I64)
        pvi_log(job->ctx, PV_LOG_NOTE,
                "%s: %lld person%s, counted and treated as public; data.persons= declares them", job->name,
                (long long)m->domain.n, one ? "" : "s");
    if (!m->start && job->cfg->rows == PV_AUTO_I64)
        pvi_log(job->ctx, PV_LOG_NOTE, "%s: %lld row%s, counted and treated as public; data.rows= declares them",
                job->name, (long long)m->domain.n, one ? "" : "s");
    if (m->features_measured)
        pvi_log(job->ctx, PV_LOG_NOTE,
                "%s: %lld feature%s, taken from the file and treated as public; data.features= declares them",
                job->name, (long long)(m->domain.p - (job->cfg->bias != 0)),
                m->domain.p - (job->cfg->bias != 0) == 1 ? "" : "s");
    if (job->schema && job->expect->features <= 0) say_what_is_text(job);
    const pvi_outside o = pvi_outside_of(job->cfg);
    if (o.numbers != PVI_OUTSIDE_ERROR || o.categories != PVI_OUTSIDE_ERROR || o.text != PVI_OUTSIDE_ERROR)
        pvi_log(job->ctx, PV_LOG_NOTE,
                "values outside the declaration are %s; how many is not told, because the count is not private",
                o.numbers == o.categories           ? "treated as missing"
                : o.numbers != PVI_OUTSIDE_CLAMP    ? "taken as the settings say"
                : o.categories == PVI_OUTSIDE_ERROR ? "clamped"
                                                    : "clamped, those of categories taken for \"other\" or missing");
}

/* One file after the other, by the reader that the first one needs: each begins anew, and the rows follow those
 * before them. */
static pv_status read_files(struct pv_load *job, const char *const *path, int64_t n)
{
    const pv_reader_ops *reader = NULL;
    const pvi_data_cfg *cfg = job->cfg;
    pv_status s = pvi_paths(job, path, n);
    for (job->part = 0; s == PV_OK && job->part < job->files; job->part++) {
        job->cfg = cfg; /* a reader may have put defaults in its place */
        job->begun = false;
        if (job->files > 1) job->name = job->file[job->part];
        pvi_source_close(job->src);
        job->src = NULL;
        s = pvi_source_open(job->ctx, job->file[job->part], cfg->max_expansion, &job->src);
        if (s == PV_OK && !reader) s = choose(job, &reader);
        if (s == PV_OK) job->dense = reader->dense;
        if (s == PV_OK) s = reader->read(NULL, job);
    }
    if (s != PV_OK) return s;
    job->name = job->whole;
    if (job->files > 1)
        pvi_log(job->ctx, PV_LOG_NOTE, "%s: read %lld files, up to %s", job->name, (long long)job->files,
                job->file[job->files - 1]);
    return PV_OK;
}

/* Labels that come apart count instead of those of the rows, which must have none. */
static pv_status take_labels(struct pv_load *job)
{
    if (!job->aparts) return PV_OK;
    if (job->labelled)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: the rows have labels of their own, and others were given",
                        job->name);
    job->labelled = true;
    return PV_OK;
}

/* The number of units is known now. */
static pv_status make_curves(struct pv_load *job, pvi_matrix *m)
{
    pvi_schema *sc = job->declared;
    if (!sc->curved) return PV_OK;
    const pv_status s = pvi_curves_place(job->ctx, job->arena, job->cfg, job->expect, (double)m->domain.n, sc);
    if (s != PV_OK || sc->knots.share == 0.0)
        return s == PV_OK ? pvi_curves_expand(job->cfg, job->expect->whole, sc, m) : s;
    const pv_status waits = pvi_late_open(job->arena, job->cfg, job->expect->whole, sc, m);
    if (waits == PV_OK) job->arena = NULL; /* the matrix has it now */
    return waits;
}

pv_status pvi_hand_over(struct pv_load *job, const char *text, size_t len)
{
    const pvi_piece *p = job->expect->piece;
    pvi_matrix *m = NULL;
    if (pvi_build_empty(job->out)) return PV_OK;
    pv_status s = pvi_build_again(job, &m);
    if (s == PV_OK) s = name_classes(job, m);
    if (s == PV_OK && job->schema) s = make_curves(job, m);
    if (s == PV_OK) s = p->take(p->user, m, text, len);
    if (s == PV_OK) job->handed += m->stored;
    pvi_matrix_free(m);
    return s;
}

static pv_status read_rows(struct pv_load *job, pvi_matrix **m)
{
    const pvi_data_files *f = job->from ? &job->from->of.files : NULL;
    pv_status s = PV_OK;
    if (job->from && job->from->ops->read) s = job->from->ops->read(job);
    else s = f ? read_files(job, f->path, f->n) : read_files(job, &job->cfg->path, 1);
    if (s == PV_OK && (job->expect->problems || job->handed)) return PV_OK; /* there are no rows left */
    if (s == PV_OK) s = take_labels(job);
    if (s == PV_OK) s = pvi_build_end(job->out, m);
    if (s == PV_OK) s = pvi_image_check(job, (*m)->domain.p - (job->cfg->bias != 0));
    if (s == PV_OK) s = name_classes(job, *m);
    if (s == PV_OK && !job->expect->undigested) s = pvi_digest(job->ctx, job->cfg, *m);
    if (s == PV_OK && job->by_person)
        s = job->expect->persons ? pvi_persons_group(job, *m) : pvi_persons_keep(job, *m);
    if (s == PV_OK && job->schema) s = make_curves(job, *m);
    if (s == PV_OK && job->schema) s = pvi_schema_json(job->ctx, job->schema, &(*m)->schema_json);
    if (s == PV_OK) say_what_is_public(job, *m);
    return s;
}

/* What the settings say, for the rows of `from`. */
static pv_status take_source(struct pv_load *job, pv_data *from, pvi_data_cfg *cfg)
{
    job->from = from;
    if (from) {
        job->aparts = from->labels;
        job->beside = from->labels > 0;
        if (!from->ops->read) cfg->path = from->of.files.path[0];
    } else if (!cfg->path || !*cfg->path) {
        return pvi_fail(job->ctx, PV_E_PARAM, "data.path is not set: which file holds the rows?");
    }
    job->name = job->whole = from && from->ops->read ? from->ops->name : cfg->path;
    return PV_OK;
}

/* Several paths have no name in common: that of the first, and how many there are. */
static pv_status name_files(struct pv_load *job)
{
    if (!job->from || job->from->ops->read || job->from->of.files.n == 1) return PV_OK;
    const size_t size = strlen(job->name) + 48;
    char *name = pv_arena_get(job->arena, size);
    if (!name) return pvi_nomem(job->ctx);
    snprintf(name, size, "%s and %lld more", job->name, (long long)job->from->of.files.n - 1);
    job->name = job->whole = name;
    return PV_OK;
}

/* What a trained model expects are features of curves; readers are to find those of the table. */
static pv_status open_curves(struct pv_load *job, pvi_expect *before)
{
    pvi_schema *sc = job->declared;
    pv_status s = pvi_curves_choose(job->ctx, job->arena, job->cfg, before, sc);
    if (s != PV_OK || !sc->curved || before->features <= 0) return s;
    s = pvi_curves_place(job->ctx, job->arena, job->cfg, before, 1.0, sc); /* a model's knots are declared */
    if (s == PV_OK && sc->wide != before->features)
        s = pvi_fail(job->ctx, PV_E_PARAM, "the schema makes %lld features, but the model has %lld",
                     (long long)sc->wide, (long long)before->features);
    before->features = sc->features;
    return s;
}

pv_status pvi_data_load(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *expect, pv_data *from,
                        pvi_matrix **out)
{
    pvi_data_cfg own = *cfg;
    pvi_expect before = *expect; /* what the reader finds, before the transform */
    struct pv_load job = { .ctx = ctx, .cfg = &own, .expect = &before };
    pvi_schema *schema = NULL;

    *out = NULL;
    if (cfg->bias != 0.0 && !((float)cfg->bias >= 1e-30f))
        return pvi_fail(ctx, PV_E_PARAM, "data.bias=%g: 0, or at least 1e-30", cfg->bias);
    pv_status s = take_source(&job, from, &own);
    if (s != PV_OK) return s;
    job.arena = pvi_arena_create(ctx);
    if (!job.arena) return pvi_nomem(ctx);
    s = name_files(&job);
    if (s == PV_OK && cfg->schema && *cfg->schema) s = pvi_schema_load(ctx, job.arena, cfg->schema, &schema);
    job.schema = job.declared = schema;
    if (s == PV_OK && schema) s = open_curves(&job, &before);
    if (s == PV_OK) s = pvi_persons_open(&job, schema);
    if (s == PV_OK) s = pvi_image_parse(ctx, cfg->image, &job.image);
    if (job.aparts) before.labels_optional = true; /* the rows need none of their own */
    if (cfg->transform != PVI_TRANSFORM_NONE) {
        before.features = job.image.height * job.image.width * job.image.channels;
        job.transformed = expect->features;
    }
    if (s == PV_OK) s = read_rows(&job, out);
    if (s != PV_OK) {
        pvi_matrix_free(*out);
        *out = NULL;
    }
    pvi_build_free(job.out);
    pvi_free(ctx, job.apart);
    pvi_wipe(job.person_key, sizeof job.person_key);
    pvi_source_close(job.src);
    pvi_arena_free(job.arena);
    return s;
}

void pvi_data_elsewhere(pvi_data_cfg *cfg, const char *path)
{
    cfg->path = path;
    cfg->rows = PV_AUTO_I64;
    cfg->person_file = NULL;
    if (cfg->labels && !strchr(cfg->labels, ',')) cfg->labels = NULL; /* a file, no list */
}

pv_status pvi_curves_features(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *e, double n, int64_t *features,
                              pvi_knots_ask *knots)
{
    pvi_schema *sc;
    if (!cfg->schema || !*cfg->schema) return PV_OK;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_schema_load(ctx, a, cfg->schema, &sc);
    if (s == PV_OK) s = pvi_curves_choose(ctx, a, cfg, e, sc);
    if (s == PV_OK) s = pvi_curves_place(ctx, a, cfg, e, n, sc);
    if (s == PV_OK && sc->curved) *features = sc->wide, *knots = sc->knots;
    pvi_arena_free(a);
    return s;
}

pv_status pvi_schema_shape(pv_ctx *ctx, const pvi_data_cfg *cfg, int64_t *features, pvi_expect *labels)
{
    struct pv_load job = { .ctx = ctx, .cfg = cfg, .expect = labels };
    pvi_schema *schema = NULL;
    pvi_label_rule rule = { 0 };
    pv_status s = PV_OK;

    *features = cfg->features;
    *labels = (pvi_expect) { .classes = -1 };
    const bool declared = cfg->schema && *cfg->schema;
    job.arena = pvi_arena_create(ctx);
    if (!job.arena) return pvi_nomem(ctx);
    if (declared) s = pvi_schema_load(ctx, job.arena, cfg->schema, &schema);
    else if (cfg->labels && *cfg->labels) s = pvi_label_declare(&job, &rule);
    if (s == PV_OK && declared) {
        *features = schema->features;
        if (schema->label >= 0) {
            const pvi_column *c = &schema->column[schema->label];
            *labels = (pvi_expect) { .classes = c->words.codes, .y_lo = c->lo, .y_hi = c->hi };
        }
    } else if (s == PV_OK && rule.classes > 0) {
        labels->classes = rule.classes;
    }
    pvi_arena_free(job.arena);
    return s;
}
