/* reader_idx.c - IDX images: one row per image, one column per pixel, v = byte/255 - center.
 *
 *   bytes 0 0 8 k | k big-endian sizes n, s_1, ..., s_{k-1} | n s_1 ... s_{k-1} bytes        k >= 2, unsigned bytes
 *   k = 3: n images of height s_1 and width s_2; k = 4: of s_1 channels, height s_2 and width s_3
 *   labels: bytes 0 0 8 1 | n | n bytes, in a file of its own
 *
 * The labels file is the one named by data.labels if that is a path (it has a '/' or ends in "ubyte" or ".gz"), else
 * the images' name with "images-idx3" replaced by "labels-idx1".  Classes are 0..9 unless data.labels declares others.
 *
 * Privacy  the scaling 1/255 and the centre are constants of the format and the settings, not of the rows. */
#include "reader.h"

enum { BATCH = 256, MAX_DIMS = 8 };

typedef struct images {
    struct pv_load *job;
    int64_t n, pixels;
    float value[256]; /* of a pixel byte */
    float y[256];     /* of a label byte */
    bool known[256];  /* is it a declared label? */
    uint8_t *labels;  /* owned; NULL: none */
} images;

/* Exactly n bytes, or an error that says what was being read. */
static pv_status read_bytes(pv_ctx *ctx, pvi_source *src, void *buf, size_t n, const char *what)
{
    size_t got = 0;
    bool end;
    for (int64_t k = 0, slices = pvi_source_slices(src, n); k < slices; k++) pvi_source_slice(src, buf, n, k);
    const pv_status s = pvi_source_filled(src, n, &got, &end);
    if (s != PV_OK) return s;
    if (got < n) return pvi_fail(ctx, PV_E_FORMAT, "%s: truncated in the %s", pvi_source_path(src), what);
    return PV_OK;
}

/* n, the product of the other sizes, and the shape of an image if they tell one. */
static pv_status read_sizes(pv_ctx *ctx, pvi_source *src, int dims_lo, int dims_hi, int64_t *n, int64_t *rest,
                            pvi_shape *shape)
{
    int64_t last[MAX_DIMS] = { 0 };
    uint8_t head[4 + 4 * MAX_DIMS];
    const char *path = pvi_source_path(src);
    pv_status s = read_bytes(ctx, src, head, 4, "header");
    if (s != PV_OK) return s;
    if (head[0] || head[1] || head[2] != 8 || head[3] < dims_lo || head[3] > dims_hi)
        return pvi_fail(ctx, PV_E_FORMAT, "%s: not an IDX file of unsigned bytes with %d to %d dimensions", path,
                        dims_lo, dims_hi);
    if ((s = read_bytes(ctx, src, head + 4, 4 * (size_t)head[3], "header")) != PV_OK) return s;
    *n = *rest = 1;
    for (int k = 0; k < head[3]; k++) {
        const uint8_t *b = head + 4 + 4 * k;
        const int64_t size = (int64_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
        if (size < 1) return pvi_fail(ctx, PV_E_FORMAT, "%s: a size in the header is 0", path);
        if (k == 0) *n = size;
        else *rest *= size;
        if (*rest > INT32_MAX) return pvi_fail(ctx, PV_E_FORMAT, "%s: images of more than 2^31 pixels", path);
        last[k] = size;
    }
    if (head[3] == 3) *shape = (pvi_shape) { last[1], last[2], 1 };
    if (head[3] == 4) *shape = (pvi_shape) { last[2], last[3], last[1] };
    return PV_OK;
}

/* Anything left behind the last image? */
static pv_status read_end(pv_ctx *ctx, pvi_source *src)
{
    char more;
    size_t got = 0;
    bool end;
    for (int64_t k = 0, slices = pvi_source_slices(src, 1); k < slices; k++) pvi_source_slice(src, &more, 1, k);
    const pv_status s = pvi_source_filled(src, 1, &got, &end);
    if (s != PV_OK) return s;
    return got == 0 ? PV_OK : pvi_fail(ctx, PV_E_FORMAT, "%s: longer than its header says", pvi_source_path(src));
}

/* ---- labels ----------------------------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *tail)
{
    const size_t n = strlen(s), m = strlen(tail);
    return n >= m && strcmp(s + n - m, tail) == 0;
}

static bool is_path(const char *labels)
{
    return labels && (strchr(labels, '/') || ends_with(labels, "ubyte") || ends_with(labels, ".gz"));
}

static pv_status labels_path(struct pv_load *job, const char **out)
{
    static const char from[] = "images-idx3", to[] = "labels-idx1";
    const char *images_path = job->cfg->path;
    if (is_path(job->cfg->labels)) return *out = job->cfg->labels, PV_OK;
    char *path = pvi_arena_strdup(job->arena, images_path, strlen(images_path));
    if (!path) return pvi_nomem(job->ctx);
    char *at = strstr(path, from);
    *out = at ? memcpy(at, to, sizeof to - 1), path : NULL;
    return PV_OK;
}

static pv_status read_labels(images *im)
{
    struct pv_load *job = im->job;
    const char *path = NULL;
    pvi_source *src = NULL;
    int64_t n, rest;
    pvi_shape none;
    pv_status s = labels_path(job, &path);
    if (s != PV_OK) return s;
    if (!path)
        return job->expect->labels_optional
                   ? PV_OK
                   : pvi_fail(job->ctx, PV_E_FORMAT, "%s: which file holds the labels? data.labels=FILE names it",
                              job->cfg->path);
    s = pvi_source_open(job->ctx, path, &src);
    if (s != PV_OK && job->expect->labels_optional) return PV_OK;
    if (s == PV_OK) s = read_sizes(job->ctx, src, 1, 1, &n, &rest, &none);
    if (s == PV_OK && n != im->n)
        s = pvi_fail(job->ctx, PV_E_FORMAT, "%s: %lld labels for %lld images", path, (long long)n, (long long)im->n);
    if (s == PV_OK && !(im->labels = pvi_raw(job->ctx, (size_t)n))) s = pvi_nomem(job->ctx);
    if (s == PV_OK) s = read_bytes(job->ctx, src, im->labels, (size_t)n, "labels");
    if (s == PV_OK) s = read_end(job->ctx, src);
    pvi_source_close(src);
    job->labelled = s == PV_OK;
    return s;
}

/* The classes, and what each label byte means. */
static pv_status declare_labels(images *im)
{
    struct pv_load *job = im->job;
    if (!job->cfg->labels || is_path(job->cfg->labels)) {
        pvi_data_cfg *cfg = pv_arena_get(job->arena, sizeof *cfg);
        if (!cfg) return pvi_nomem(job->ctx);
        *cfg = *job->cfg;
        cfg->labels = "0,1,2,3,4,5,6,7,8,9";
        job->cfg = cfg;
    }
    pv_status s = pvi_label_declare(job, &job->label);
    if (s == PV_OK) s = pvi_label_check(job, &job->label);
    for (int b = 0; s == PV_OK && b < 256; b++) {
        char text[24] = { 0 }, why[256];
        const int len = snprintf(text, sizeof text, "%d", b);
        im->known[b] = pvi_label_value(&job->label, text, (size_t)len, &im->y[b], why, sizeof why);
    }
    return s;
}

static pv_status bad_label(const images *im, int64_t row)
{
    return pvi_fail(im->job->ctx, PV_E_FORMAT, "%s: the label of image %lld is not in the declared set",
                    im->job->cfg->path, (long long)(row + 1));
}

/* ---- images ------------------------------------------------------------------------------------------- */

static pv_status fill_segment(const images *im, const uint8_t *bytes, int64_t first, int64_t rows, pvi_segment *seg)
{
    uint32_t e = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < im->pixels; j++) {
            const float v = im->value[bytes[i * im->pixels + j]];
            if (v == 0.0f) continue;
            seg->val[e] = v;
            seg->idx[e++] = (int32_t)j;
        }
        seg->end[i] = e;
        seg->y[i] = 0.0f;
        if (!im->labels) continue;
        const uint8_t label = im->labels[first + i];
        if (!im->known[label]) return bad_label(im, first + i);
        seg->y[i] = im->y[label];
    }
    seg->rows = rows;
    seg->max_index = im->pixels;
    return PV_OK;
}

static pv_status read_images(images *im, uint8_t *bytes, pvi_segment *seg)
{
    struct pv_load *job = im->job;
    for (int64_t first = 0; first < im->n; first += BATCH) {
        const int64_t rows = im->n - first < BATCH ? im->n - first : BATCH;
        pv_status s = read_bytes(job->ctx, job->src, bytes, (size_t)(rows * im->pixels), "images");
        if (s == PV_OK) s = fill_segment(im, bytes, first, rows, seg);
        if (s == PV_OK) s = pvi_build_append(job->out, &seg, 1, pvi_source_fraction(job->src));
        if (s != PV_OK) return s;
    }
    return read_end(job->ctx, job->src);
}

static pv_status read_all(images *im)
{
    const size_t entries = (size_t)(BATCH * im->pixels);
    pv_ctx *ctx = im->job->ctx;
    uint8_t *bytes = pvi_raw(ctx, entries);
    pvi_segment seg = { .end = pvi_raw(ctx, BATCH * sizeof(uint32_t)),
                        .y = pvi_raw(ctx, BATCH * sizeof(float)),
                        .val = pvi_raw(ctx, entries * sizeof(float)),
                        .idx = pvi_raw(ctx, entries * sizeof(int32_t)),
                        .row_room = BATCH,
                        .entry_room = entries };
    const pv_status s =
        bytes && seg.end && seg.y && seg.val && seg.idx ? read_images(im, bytes, &seg) : pvi_nomem(ctx);
    pvi_free(ctx, bytes);
    pvi_free(ctx, seg.end);
    pvi_free(ctx, seg.y);
    pvi_free(ctx, seg.val);
    pvi_free(ctx, seg.idx);
    return s;
}

static pv_status check_shape(const images *im)
{
    const pvi_data_cfg *c = im->job->cfg;
    const int64_t want = im->job->expect->features > 0 ? im->job->expect->features
                         : c->features != PV_AUTO_I64  ? c->features
                                                       : im->pixels;
    if (im->pixels != want)
        return pvi_fail(im->job->ctx, PV_E_FORMAT, "%s: images of %lld pixels, but %lld are declared", c->path,
                        (long long)im->pixels, (long long)want);
    if (c->rows != PV_AUTO_I64 && c->rows != im->n)
        return pvi_fail(im->job->ctx, PV_E_FORMAT, "%s: %lld images, but data.rows=%lld", c->path, (long long)im->n,
                        (long long)c->rows);
    return PV_OK;
}

static pv_status read_file(const void *cfg, struct pv_load *job)
{
    images *im = pvi_alloc(job->ctx, sizeof *im);
    (void)cfg;
    if (!im) return pvi_nomem(job->ctx);
    im->job = job;
    pvi_shape shape = { 0 };
    pv_status s = read_sizes(job->ctx, job->src, 2, MAX_DIMS, &im->n, &im->pixels, &shape);
    if (s == PV_OK && shape.height) s = pvi_image_found(job, shape);
    for (int b = 0; b < 256; b++) im->value[b] = (float)(b / 255.0 - job->cfg->center);
    if (s == PV_OK) s = check_shape(im);
    if (s == PV_OK) s = read_labels(im);
    if (s == PV_OK) s = declare_labels(im);
    if (s == PV_OK) s = pvi_build_begin(job, im->pixels);
    job->counted = job->cfg->features == PV_AUTO_I64;
    if (s == PV_OK) s = read_all(im);
    pvi_free(job->ctx, im->labels);
    pvi_free(job->ctx, im);
    return s;
}

static int probe(const char *path, const uint8_t *magic, size_t n)
{
    (void)path;
    return n >= 8 && magic[0] == 0 && magic[1] == 0 && magic[2] == 8 && magic[3] >= 2 && magic[3] <= MAX_DIMS ? 100
                                                                                                              : 0;
}

const pv_reader_ops pv_reader_idx = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "idx",
              .summary = "IDX images, labels in a file beside them",
              .reference = "LeCun, Cortes, Burges: the MNIST database, file format",
              .params = pv_no_params },
    .probe = probe,
    .read = read_file,
};
