/* reader_npy.c - NumPy arrays: one row per row, v = value - center for floats, value/255 - center for bytes.
 *
 *   (n, p)                        rows
 *   (n, h, w)                     images with one channel
 *   (n, h, w, c) or (n, c, h, w)  images; data.image=HxWxC says which, else the side that is 1, 3 or 4 is c
 * Values: float32, float64 or uint8, little-endian, C order.
 *
 * Labels are an array of n integers or floats in a file of its own: data.labels if that is a path (one word, or it
 * has a '/' or ends in .npy, .npy.gz, .npy.bz2), else the file beside the rows that is called y* for x*, labels for
 * images, features or data.  Classes are 0..9, or those of the trained model, unless data.labels declares others.
 *
 * Privacy  scaling and centre are constants of the format and the settings; the shape is treated as public. */
#include "npy.h"

#include <sys/stat.h>

typedef struct array {
    struct pv_load *job;
    pvi_npy h;
    int64_t n, columns;
    bool channels_last; /* c is the last size: values are put into planes */
    int32_t *place;     /* owned: where value j of a row goes; NULL: where it is */
    float *y;           /* owned; NULL: no labels */
    int64_t batch;
} array;

/* ---- the shape -------------------------------------------------------------------------------------------- */

static bool few(int64_t c)
{
    return c == 1 || c == 3 || c == 4;
}

static pv_status find_order(array *a, pvi_shape *out)
{
    const int64_t *s = a->h.shape;
    const pvi_shape last = { s[1], s[2], s[3] }, first = { s[2], s[3], s[1] }, d = a->job->image;
    const bool says_last = d.height == last.height && d.width == last.width && d.channels == last.channels,
               says_first = d.height == first.height && d.width == first.width && d.channels == first.channels;
    if (!d.height && few(s[1]) == few(s[3]))
        return pvi_fail(
            a->job->ctx, PV_E_FORMAT,
            "%s: which side of (%lld, %lld, %lld) are the channels? data.image=HEIGHTxWIDTHxCHANNELS says it",
            a->job->name, (long long)s[1], (long long)s[2], (long long)s[3]);
    a->channels_last = d.height ? says_last || !says_first : few(s[3]);
    *out = a->channels_last ? last : first;
    return PV_OK;
}

static pv_status find_shape(array *a)
{
    struct pv_load *job = a->job;
    const int64_t *s = a->h.shape;
    pvi_shape image = { 0 };
    pv_status st = PV_OK;
    if (a->h.dims < 2)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: one row per row is needed: save a.reshape(n, -1)", job->name);
    if (!((a->h.kind == 'f') || (a->h.kind == 'u' && a->h.size == 1)))
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: rows of type %c%d; save a.astype('<f4') or a.astype('u1')",
                        job->name, a->h.kind, a->h.size);
    a->n = s[0];
    a->columns = 1;
    for (int k = 1; k < a->h.dims; k++) {
        if (s[k] < 1 || s[k] > INT32_MAX || a->columns > INT32_MAX / s[k])
            return pvi_fail(job->ctx, PV_E_FORMAT, "%s: rows of no or more than 2^31 values", job->name);
        a->columns *= s[k];
    }
    if (a->n < 1) return pvi_fail(job->ctx, PV_E_FORMAT, "%s: no rows", job->name);
    if (a->h.dims == 3) image = (pvi_shape) { s[1], s[2], 1 };
    if (a->h.dims == 4) st = find_order(a, &image);
    return st == PV_OK && image.height ? pvi_image_found(job, image) : st;
}

static pv_status find_places(array *a)
{
    const pvi_shape s = a->job->image;
    if (!a->channels_last || s.channels == 1) return PV_OK;
    const int64_t points = s.height * s.width;
    a->place = pvi_alloc(a->job->ctx, sizeof *a->place * (size_t)a->columns);
    for (int64_t j = 0; a->place && j < a->columns; j++)
        a->place[j] = (int32_t)(j % s.channels * points + j / s.channels);
    return a->place ? PV_OK : pvi_nomem(a->job->ctx);
}

/* ---- labels -------------------------------------------------------------------------------------------------- */

static bool is_path(const char *labels)
{
    return labels && *labels &&
           (!strchr(labels, ',') || strchr(labels, '/') || pvi_ends_with(labels, ".npy") ||
            pvi_ends_with(labels, ".npy.gz") || pvi_ends_with(labels, ".npy.bz2"));
}

/* The rows' path with `from` of its name replaced by `to`; NULL: no such part, or no such file. */
static const char *beside(struct pv_load *job, const char *from, const char *to)
{
    struct stat st;
    const char *path = job->name, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *at = strlen(from) == 1 ? (*name == *from ? name : NULL) : strstr(name, from);
    const size_t size = strlen(path) + strlen(to) + 1;
    char *out = at ? pv_arena_get(job->arena, size) : NULL;
    if (!out) return NULL;
    snprintf(out, size, "%.*s%s%s", (int)(at - path), path, to, at + strlen(from));
    return stat(out, &st) == 0 ? out : NULL;
}

static const char *labels_path(struct pv_load *job)
{
    static const char *const rule[][2] = {
        { "x", "y" }, { "X", "y" }, { "images", "labels" }, { "features", "labels" }, { "data", "labels" }
    };
    const char *found = is_path(job->cfg->labels) ? job->cfg->labels : NULL;
    if (job->aparts) return NULL;
    for (size_t i = 0; i < sizeof rule / sizeof *rule && !found; i++) found = beside(job, rule[i][0], rule[i][1]);
    return found;
}

pv_status pvi_array_labels(struct pv_load *job, bool named)
{
    pv_status s = PV_OK;
    if (!named && (job->expect->classes < 0 || job->expect->classes > 2)) s = pvi_labels_default(job);
    else if (!named && job->cfg->labels) { /* two classes or a number: nothing to declare but the file */
        pvi_data_cfg *cfg = pv_arena_get(job->arena, sizeof *cfg);
        if (!cfg) return pvi_nomem(job->ctx);
        *cfg = *job->cfg;
        cfg->labels = NULL;
        job->cfg = cfg;
    }
    if (s == PV_OK) s = pvi_label_declare(job, &job->label);
    return s == PV_OK ? pvi_label_check(job, &job->label) : s;
}

static pv_status read_values(array *a, pvi_source *src, const pvi_npy *h)
{
    struct pv_load *job = a->job;
    pvi_label_memo memo = { 0 };
    for (int64_t i = 0; i < a->n; i++) {
        uint8_t raw[8];
        char text[64] = { 0 }, why[256];
        const pv_status s = pvi_read_part(job->ctx, src, raw, (size_t)h->size, "labels", i * h->size, a->n * h->size);
        if (s != PV_OK) return s;
        const double v = pvi_npy_value(h, raw);
        pvi_f64_text(v, text);
        if (!pvi_label_recall(&job->label, &memo, text, strlen(text), &a->y[i], why, sizeof why))
            return pvi_fail(job->ctx, PV_E_FORMAT, "%s: label %lld: %s", pvi_source_path(src), (long long)(i + 1),
                            pvi_told(job, why));
    }
    return pvi_read_end(job->ctx, src);
}

static pv_status read_labels(array *a, const char *path)
{
    struct pv_load *job = a->job;
    pvi_source *src = NULL;
    pvi_npy h;
    if (!path)
        return job->expect->labels_optional
                   ? PV_OK
                   : pvi_fail(job->ctx, PV_E_FORMAT, "%s: which file holds the labels? data.labels=y.npy names it",
                              job->name);
    pv_status s = pvi_source_open(job->ctx, path, job->cfg->max_expansion, &src);
    if (s != PV_OK && job->expect->labels_optional) return PV_OK;
    if (s == PV_OK) s = pvi_npy_header(job->ctx, src, &h);
    if (s == PV_OK && (h.dims < 1 || h.dims > 2 || h.shape[0] != a->n || (h.dims == 2 && h.shape[1] != 1)))
        s = pvi_fail(job->ctx, PV_E_FORMAT, "%s: labels of shape (%lld%s for %lld rows", path, (long long)h.shape[0],
                     h.dims > 1 ? ", ...)" : ")", (long long)a->n);
    if (s == PV_OK) s = pvi_read_declared(job->ctx, src, "labels", (double)a->n * h.size);
    if (s == PV_OK && !(a->y = pvi_raw(job->ctx, sizeof *a->y * (size_t)a->n))) s = pvi_nomem(job->ctx);
    if (s == PV_OK) s = read_values(a, src, &h);
    pvi_source_close(src);
    job->labelled = s == PV_OK;
    return s;
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static pv_status not_finite(const array *a, int64_t row, int64_t j)
{
    return pvi_fail(a->job->ctx, PV_E_FORMAT, "%s: row %lld, value %lld is not a finite 32-bit number", a->job->name,
                    (long long)(row + 1), (long long)(j + 1));
}

static pv_status fill_row(const array *a, const uint8_t *bytes, int64_t row, float *v)
{
    const double scale = a->h.kind == 'f' ? 1.0 : 1.0 / 255.0, center = a->job->cfg->center;
    for (int64_t j = 0; j < a->columns; j++) {
        const float x = (float)(pvi_npy_value(&a->h, bytes + j * a->h.size) * scale - center);
        if (!isfinite(x)) return not_finite(a, row, j);
        v[a->place ? a->place[j] : j] = x;
    }
    return PV_OK;
}

static pv_status read_rows(void *arg, uint8_t *bytes, pvi_segment *seg)
{
    array *a = arg;
    struct pv_load *job = a->job;
    const size_t row_bytes = (size_t)a->columns * (size_t)a->h.size;
    for (int64_t first = 0; first < a->n; first += a->batch) {
        const int64_t rows = a->n - first < a->batch ? a->n - first : a->batch;
        pv_status s = pvi_read_part(job->ctx, job->src, bytes, (size_t)rows * row_bytes, "values",
                                    first * (int64_t)row_bytes, a->n * (int64_t)row_bytes);
        for (int64_t i = 0; i < rows && s == PV_OK; i++) {
            s = fill_row(a, bytes + (size_t)i * row_bytes, first + i, seg->val + i * a->columns);
            for (int64_t j = 0; j < a->columns; j++) seg->idx[i * a->columns + j] = (int32_t)j;
            seg->end[i] = (uint32_t)((i + 1) * a->columns);
            seg->y[i] = a->y ? a->y[first + i] : 0.0f;
        }
        seg->rows = rows;
        seg->max_index = a->columns;
        if (s == PV_OK) s = pvi_append_batch(job, seg, pvi_source_fraction(job->src));
        if (s != PV_OK) return s;
    }
    return pvi_read_end(job->ctx, job->src);
}

static pv_status read_file(const void *cfg, struct pv_load *job)
{
    array a = { .job = job };
    (void)cfg;
    pv_status s = pvi_npy_header(job->ctx, job->src, &a.h);
    if (s == PV_OK) s = find_shape(&a);
    if (s == PV_OK) s = pvi_rows_check(job, "rows", a.n, "values", a.columns);
    const char *labels = labels_path(job); /* before the classes take the setting's place */
    if (s == PV_OK) s = pvi_array_labels(job, job->cfg->labels && !is_path(job->cfg->labels));
    if (s == PV_OK) s = read_labels(&a, labels);
    if (s == PV_OK) s = pvi_read_declared(job->ctx, job->src, "values", (double)a.n * (double)a.columns * a.h.size);
    if (s == PV_OK) s = find_places(&a);
    if (s == PV_OK) s = pvi_build_begin(job, a.columns);
    job->counted = job->cfg->features == PV_AUTO_I64;
    a.batch = pvi_batch_rows(a.columns);
    if (s == PV_OK) s = pvi_read_batches(job, a.batch, a.columns * a.h.size, a.columns, read_rows, &a);
    pvi_free(job->ctx, a.place);
    pvi_free(job->ctx, a.y);
    return s;
}

static int probe(const char *path, const uint8_t *magic, size_t n)
{
    (void)path;
    return n >= 6 && memcmp(magic, "\x93NUMPY", 6) == 0 ? 100 : 0;
}

const pv_reader_ops pv_reader_npy = {
    .head = { .name = "npy",
              .summary = "NumPy arrays of floats or bytes, labels in a file beside them",
              .reference = "NumPy: the NPY format, versions 1.0 to 3.0",
              .params = pv_no_params },
    .probe = probe,
    .read = read_file,
    .dense = true,
};
