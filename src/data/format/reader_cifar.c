/* reader_cifar.c - CIFAR-10, binary version: one row per image, v = byte/255 - center.
 *
 *   record   1 byte class, 0..9 | 3072 bytes: 32 x 32 red values, row by row, then green, then blue      3073 bytes
 *   file     records one after the other, no header; a set is several files (paths.c)
 *
 * Classes are 0..9 unless data.labels declares fewer.
 * Privacy  the scaling 1/255 and the centre are constants of the format and the settings, not of the rows. */
#include "data/reader.h"

enum { SIDE = 32, CHANNELS = 3, PIXELS = SIDE * SIDE * CHANNELS, RECORD = 1 + PIXELS, CLASSES = 10 };

typedef struct images {
    struct pv_load *job;
    const char *path; /* of the file being read */
    float value[256]; /* of a pixel byte */
    pvi_byte_labels classes;
} images;

static pv_status bad_class(const images *im, int64_t at, int class_no)
{
    char why[256];
    if (class_no >= CLASSES) snprintf(why, sizeof why, "class %d, but CIFAR-10 has 0 to 9", class_no);
    else pvi_byte_label_why(im->job, class_no, why);
    return pvi_fail(im->job->ctx, PV_E_FORMAT, "%s: byte %lld: %s", im->path, (long long)at, pvi_told(im->job, why));
}

static pv_status fill_segment(const images *im, const uint8_t *bytes, int64_t rows, int64_t at, pvi_segment *seg)
{
    uint32_t e = 0;
    seg->byte = bytes + 1;
    seg->stride = RECORD;
    for (int64_t i = 0; i < rows; i++, bytes += RECORD) {
        if (bytes[0] >= CLASSES || !im->classes.known[bytes[0]]) return bad_class(im, at + i * RECORD, bytes[0]);
        seg->y[i] = im->classes.y[bytes[0]];
        for (int32_t j = 0; j < PIXELS; j++) {
            const float v = im->value[bytes[1 + j]];
            if (v == 0.0f) continue;
            seg->val[e] = v;
            seg->idx[e++] = j;
        }
        seg->end[i] = e;
    }
    seg->rows = rows;
    seg->max_index = PIXELS;
    return PV_OK;
}

static pv_status read_records(void *arg, uint8_t *bytes, pvi_segment *seg)
{
    images *im = arg;
    struct pv_load *job = im->job;
    size_t got = PVI_BATCH * RECORD;
    for (int64_t at = 0; got == PVI_BATCH * RECORD; at += (int64_t)got) {
        pv_status s = pvi_read_some(job->src, bytes, PVI_BATCH * RECORD, &got);
        if (s == PV_OK) s = fill_segment(im, bytes, (int64_t)(got / RECORD), at, seg);
        if (s != PV_OK) return s;
        if (got % RECORD)
            return pvi_fail(job->ctx, PV_E_FORMAT, "%s: truncated: the record at byte %lld has %lld of %d bytes",
                            im->path, (long long)(at + (int64_t)(got / RECORD) * RECORD), (long long)(got % RECORD),
                            RECORD);
        if ((s = pvi_append_batch(job, seg, pvi_source_fraction(job->src))) != PV_OK) return s;
    }
    return PV_OK;
}

static pv_status check_features(const struct pv_load *job)
{
    const int64_t rows = job->cfg->rows == PV_AUTO_I64 ? 0 : job->cfg->rows; /* the builder counts */
    return pvi_rows_check(job, "images", rows, "pixels", PIXELS);
}

static pv_status read_file(const void *cfg, struct pv_load *job)
{
    images *im = pvi_alloc(job->ctx, sizeof *im);
    (void)cfg;
    if (!im) return pvi_nomem(job->ctx);
    im->job = job;
    im->path = pvi_source_path(job->src);
    job->labelled = true;
    for (int b = 0; b < 256; b++) im->value[b] = (float)(b / 255.0 - job->cfg->center);
    job->level = im->value;
    pv_status s = check_features(job);
    if (s == PV_OK) s = pvi_image_found(job, (pvi_shape) { SIDE, SIDE, CHANNELS });
    if (s == PV_OK) s = pvi_byte_labels_declare(job, false, &im->classes);
    if (s == PV_OK) s = pvi_build_begin(job, PIXELS);
    if (s == PV_OK) s = pvi_read_batches(job, PVI_BATCH, RECORD, PIXELS, read_records, im);
    pvi_free(job->ctx, im);
    return s;
}

/* The format has no magic bytes: the published names, and a class in front. */
static int probe(const char *path, const uint8_t *magic, size_t n)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const bool batch = strncmp(name, "data_batch_", 11) == 0 || strncmp(name, "test_batch", 10) == 0;
    return batch && strstr(name, ".bin") && n > 0 && magic[0] < CLASSES ? 100 : 0;
}

const pv_reader_ops pv_reader_cifar = {
    .head = { .name = "cifar",
              .summary = "CIFAR-10 images, binary version, several files",
              .reference = "Krizhevsky 2009: Learning multiple layers of features from tiny images; binary version",
              .params = pv_no_params },
    .probe = probe,
    .read = read_file,
    .images = true,
    .part_prefix = "data_batch_",
    .part_suffix = ".bin",
    .parts = 5,
};
