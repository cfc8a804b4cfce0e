/* image.c - rows that are images: their shape, declared or found in the file.
 *
 * A row of C channels, height H and width W holds C planes of H x W values, each plane row by row: the value of
 * channel c at row y, column x is column (c H + y) W + x.  The shape is public: it is a setting, or a property of the
 * file's format that every row shares. */
#include "reader.h"

enum { MAX_SIDE = 1 << 15 };

static bool take_size(const char **s, int64_t *out)
{
    const size_t n = strspn(*s, "0123456789");
    if (n == 0 || n > 5 || !pvi_parse_i64(*s, n, out)) return false;
    *s += n;
    return *out >= 1 && *out <= MAX_SIDE;
}

static bool parse(const char *s, pvi_shape *out)
{
    out->channels = 1;
    if (!take_size(&s, &out->height) || *s++ != 'x' || !take_size(&s, &out->width)) return false;
    if (*s == 'x') {
        s++;
        if (!take_size(&s, &out->channels)) return false;
    }
    return *s == '\0' && out->height * out->width * out->channels <= INT32_MAX;
}

pv_status pvi_image_parse(pv_ctx *ctx, const char *text, pvi_shape *out)
{
    pvi_shape shape = { 0 };
    *out = shape;
    if (!text) return PV_OK;
    if (!parse(text, &shape))
        return pvi_fail(ctx, PV_E_PARAM,
                        "data.image=%.40s: HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS is needed, as 28x28 or "
                        "32x32x3, up to %d a side",
                        text, MAX_SIDE);
    *out = shape;
    return PV_OK;
}

pv_status pvi_image_found(struct pv_load *job, pvi_shape s)
{
    const pvi_shape d = job->image;
    char text[72];
    const char *trained = pvi_trained_on(job, text);
    const bool other = d.height && (d.height != s.height || d.width != s.width || d.channels != s.channels);
    if (other && !trained && !job->cfg->image)
        return pvi_fail(job->ctx, PV_E_FORMAT,
                        "%s: images of %lldx%lldx%lld, but the files before have %lldx%lldx%lld", job->name,
                        (long long)s.height, (long long)s.width, (long long)s.channels, (long long)d.height,
                        (long long)d.width, (long long)d.channels);
    if (other)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: images of %lldx%lldx%lld, but %s%s", job->name,
                        (long long)s.height, (long long)s.width, (long long)s.channels,
                        trained ? "the model was trained on " : "data.image=", trained ? trained : job->cfg->image);
    job->image = s;
    return PV_OK;
}

pv_status pvi_image_check(const struct pv_load *job, int64_t features)
{
    const pvi_shape d = job->image;
    if (!d.height || d.height * d.width * d.channels == features) return PV_OK;
    return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %lld features do not make an image of %lldx%lldx%lld", job->name,
                    (long long)features, (long long)d.height, (long long)d.width, (long long)d.channels);
}
