/* transform.c - rows of images on their way into the matrix: pixels of a segment to features of data.transform.
 *
 * Privacy  every function here maps one row to one row; nothing is kept from one to the next. */
#include "reader.h"

enum { ALIGN = 64 };

struct pvi_features {
    pv_ctx *ctx;
    const char *path;
    pvi_scatter *scatter; /* owned */
    int64_t pixels;
    void *raw; /* owned: per thread the transform's scratch, then PVI_FEATURE_ROWS rows of pixels */
    char *scratch;
    size_t scratch_size, pixels_at;
};

static pv_status make_scratch(pvi_features *f)
{
    f->pixels_at = pvi_scatter_scratch(f->scatter);
    f->scratch_size = f->pixels_at + sizeof(float) * PVI_FEATURE_ROWS * (size_t)f->pixels;
    f->scratch_size = (f->scratch_size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    f->raw = pvi_raw(f->ctx, f->scratch_size * (size_t)pvi_threads(f->ctx) + ALIGN);
    if (!f->raw) return pvi_nomem(f->ctx);
    f->scratch = (char *)(((uintptr_t)f->raw + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
    return PV_OK;
}

static pv_status check_model(const struct pv_load *job, pvi_shape in, int64_t features)
{
    if (job->transformed <= 0 || job->transformed == features) return PV_OK;
    return pvi_fail(job->ctx, PV_E_FORMAT, "%s: images of %lldx%lldx%lld give %lld features, the model has %lld",
                    job->name, (long long)in.height, (long long)in.width, (long long)in.channels, (long long)features,
                    (long long)job->transformed);
}

pv_status pvi_features_open(struct pv_load *job, int64_t columns, pvi_features **out, int64_t *features)
{
    const pvi_shape in = job->image;
    pv_status s = columns >= 0 ? pvi_image_check(job, columns) : PV_OK;
    *out = NULL;
    if (s == PV_OK && job->cfg->layout == PVI_LAYOUT_SPARSE)
        s = pvi_fail(job->ctx, PV_E_PARAM, "data.transform gives dense rows: leave out data.layout=sparse");
    if (s != PV_OK) return s;
    pvi_features *f = pvi_alloc(job->ctx, sizeof *f);
    if (!f) return pvi_nomem(job->ctx);
    *f = (pvi_features) { .ctx = job->ctx, .path = job->name, .pixels = in.height * in.width * in.channels };
    *out = f; /* the builder frees it, whatever happens */
    job->pixels = in;
    if ((s = pvi_scatter_open(job->ctx, job->cfg, in, &f->scatter)) != PV_OK) return s;
    if ((s = pvi_scatter_shape(job->ctx, job->cfg, in, &job->image)) != PV_OK) return s;
    *features = job->image.height * job->image.width * job->image.channels;
    s = check_model(job, in, *features);
    return s == PV_OK ? make_scratch(f) : s;
}

void pvi_features_free(pvi_features *f)
{
    if (!f) return;
    pvi_scatter_free(f->scatter);
    pvi_free(f->ctx, f->raw);
    pvi_free(f->ctx, f);
}

pv_status pvi_features_check(const pvi_features *f, int64_t widest)
{
    if (widest <= f->pixels) return PV_OK;
    return pvi_fail(f->ctx, PV_E_FORMAT, "%s: a row has feature %lld, but the images have %lld pixels", f->path,
                    (long long)widest, (long long)f->pixels);
}

int64_t pvi_features_blocks(int64_t rows)
{
    return (rows + PVI_FEATURE_ROWS - 1) / PVI_FEATURE_ROWS;
}

void pvi_features_rows(const pvi_features *f, const pvi_segment *g, int64_t first, int64_t rows, float *x, int64_t ld,
                       int thread)
{
    char *scratch = f->scratch + (size_t)thread * f->scratch_size;
    float *pixel = (float *)(void *)(scratch + f->pixels_at);
    memset(pixel, 0, sizeof *pixel * (size_t)(rows * f->pixels));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t r = first + i, j = r ? g->end[r - 1] : 0; j < g->end[r]; j++)
            pixel[i * f->pixels + g->idx[j]] = g->val[j];
    pvi_scatter_rows(f->scatter, rows, pixel, x, ld, scratch);
}
