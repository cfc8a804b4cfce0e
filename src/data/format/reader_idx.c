/* reader_idx.c - IDX images: one row per image, one column per pixel, v = byte/255 - center.
 *
 *   bytes 0 0 8 k | k big-endian sizes n, s_1, ..., s_{k-1} | n s_1 ... s_{k-1} bytes        k >= 2, unsigned bytes
 *   k = 3: n images of height s_1 and width s_2; k = 4: of s_1 channels, height s_2 and width s_3
 *   labels: bytes 0 0 8 1 | n | n bytes, in a file of its own
 *
 * The labels file is the one named by data.labels if that is a path (one word: several with commas between them
 * declare labels; but it may have commas if it has a '/' or ends in "ubyte" or ".gz"), else
 * the images' name with "images-idx3" replaced by "labels-idx1".  Classes are 0..9 unless data.labels declares
 * others.
 *
 * Privacy  the scaling 1/255 and the centre are constants of the format and the settings, not of the rows. */
#include <unistd.h>

#include "data/reader.h"

enum { MAX_DIMS = 8 };

typedef struct images {
    struct pv_load *job;
    int64_t n, pixels;
    float value[256]; /* of a pixel byte */
    pvi_byte_labels classes;
    uint8_t *labels; /* owned; NULL: none */
} images;

/* n, the product of the other sizes, and the shape of an image if they tell one. */
static pv_status read_sizes(pv_ctx *ctx, pvi_source *src, int dims_lo, int dims_hi, int64_t *n, int64_t *rest,
                            pvi_shape *shape)
{
    int64_t last[MAX_DIMS] = { 0 };
    uint8_t head[4 + 4 * MAX_DIMS];
    const char *path = pvi_source_path(src);
    pv_status s = pvi_read_exactly(ctx, src, head, 4, "header");
    if (s != PV_OK) return s;
    if (head[0] || head[1] || head[2] != 8 || head[3] < dims_lo || head[3] > dims_hi)
        return pvi_fail(ctx, PV_E_FORMAT, "%s: not an IDX file of unsigned bytes with %d to %d dimensions", path,
                        dims_lo, dims_hi);
    if ((s = pvi_read_exactly(ctx, src, head + 4, 4 * (size_t)head[3], "header")) != PV_OK) return s;
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

/* ---- labels ----------------------------------------------------------------------------------------- */

static bool is_path(const char *labels)
{
    return labels && *labels &&
           (!strchr(labels, ',') || strchr(labels, '/') || pvi_ends_with(labels, "ubyte") ||
            pvi_ends_with(labels, ".gz"));
}

static pv_status labels_path(struct pv_load *job, const char **out)
{
    static const char from[] = "images-idx3", to[] = "labels-idx1";
    const char *images_path = job->name;
    if (is_path(job->cfg->labels) && !job->aparts) return *out = job->cfg->labels, PV_OK;
    char *path = pvi_arena_strdup(job->arena, images_path, strlen(images_path));
    if (!path) return pvi_nomem(job->ctx);
    char *at = strstr(path, from);
    *out = at && !job->aparts ? memcpy(at, to, sizeof to - 1), path : NULL;
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
                              job->name);
    s = pvi_source_open(job->ctx, path, job->cfg->max_expansion, &src);
    if (s != PV_OK && job->expect->labels_optional) return PV_OK;
    if (s == PV_E_IO && !is_path(job->cfg->labels) && access(path, F_OK) != 0)
        s = pvi_fail(job->ctx, s, "%s: no labels: there is no %s; data.labels=FILE names another", job->name, path);
    if (s == PV_OK) s = read_sizes(job->ctx, src, 1, 1, &n, &rest, &none);
    if (s == PV_OK && n != im->n)
        s = pvi_fail(job->ctx, PV_E_FORMAT, "%s: %lld labels for %lld images", path, (long long)n, (long long)im->n);
    if (s == PV_OK) s = pvi_read_declared(job->ctx, src, "labels", (double)n);
    if (s == PV_OK && !(im->labels = pvi_raw(job->ctx, (size_t)n))) s = pvi_nomem(job->ctx);
    if (s == PV_OK) s = pvi_read_exactly(job->ctx, src, im->labels, (size_t)n, "labels");
    if (s == PV_OK) s = pvi_read_end(job->ctx, src);
    pvi_source_close(src);
    job->labelled = s == PV_OK;
    return s;
}

static pv_status bad_label(const images *im, int64_t row)
{
    char why[256];
    return pvi_fail(im->job->ctx, PV_E_FORMAT, "%s: image %lld: %s", im->job->name, (long long)(row + 1),
                    pvi_told(im->job, pvi_byte_label_why(im->job, im->labels[row], why)));
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
        if (!im->classes.known[label]) return bad_label(im, first + i);
        seg->y[i] = im->classes.y[label];
    }
    seg->rows = rows;
    seg->byte = bytes;
    seg->stride = im->pixels;
    seg->max_index = im->pixels;
    return PV_OK;
}

static pv_status read_images(void *arg, uint8_t *bytes, pvi_segment *seg)
{
    images *im = arg;
    struct pv_load *job = im->job;
    const int64_t batch = pvi_batch_rows(im->pixels);
    for (int64_t first = 0; first < im->n; first += batch) {
        const int64_t rows = im->n - first < batch ? im->n - first : batch;
        pv_status s = pvi_read_part(job->ctx, job->src, bytes, (size_t)(rows * im->pixels), "images",
                                    first * im->pixels, im->n * im->pixels);
        if (s == PV_OK) s = fill_segment(im, bytes, first, rows, seg);
        if (s == PV_OK) s = pvi_append_batch(job, seg, pvi_source_fraction(job->src));
        if (s != PV_OK) return s;
    }
    return pvi_read_end(job->ctx, job->src);
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
    job->level = im->value;
    if (s == PV_OK) s = pvi_rows_check(job, "images", im->n, "pixels", im->pixels);
    if (s == PV_OK) s = read_labels(im);
    if (s == PV_OK) s = pvi_byte_labels_declare(job, is_path(job->cfg->labels), &im->classes);
    if (s == PV_OK) s = pvi_read_declared(job->ctx, job->src, "images", (double)im->n * (double)im->pixels);
    if (s == PV_OK) s = pvi_build_begin(job, im->pixels);
    job->counted = job->cfg->features == PV_AUTO_I64;
    if (s == PV_OK) s = pvi_read_batches(job, pvi_batch_rows(im->pixels), im->pixels, im->pixels, read_images, im);
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
    .head = { .name = "idx",
              .summary = "IDX images, labels in a file beside them",
              .reference = "LeCun, Cortes, Burges: the MNIST database, file format",
              .params = pv_no_params },
    .probe = probe,
    .read = read_file,
};
