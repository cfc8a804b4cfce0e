/* model_export.c - a model for other programs: which format, and what its input is. */
#include "export/export.h"
#include "api/scored.h"

typedef struct format {
    const char *name;
    void (*write)(const pvi_export *e, pvi_str *out);
    bool raw;     /* rows are numbers in their own units */
    int64_t most; /* weights; beyond them the file would not be what readers expect */
} format;
static const format formats[] = {
    { "onnx", pvi_onnx_write, false, 500000000 }, /* a protocol buffer ends at 2 GiB */
    { "onnx-raw", pvi_onnx_write, true, 500000000 },
    { "npz", pvi_npz_write, false, 500000000 }, /* a ZIP file without extensions at 4 GiB */
    { "npy", pvi_npy_write, false, INT64_MAX },
    { "safetensors", pvi_safetensors_write, false, INT64_MAX },
};

static const format *find_format(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

static pv_status describe_rows(const pv_model *m, pv_arena *a, pvi_row_rule *r)
{
    const pvi_data_cfg *c = &m->plan->s.data;
    pvi_shape image;
    pvi_ramps curves = { 0 };
    pv_status s = pvi_image_parse(m->ctx, c->image, &image);
    if (s == PV_OK && m->file.schema) s = pvi_curves_ramps(m->ctx, a, c, m->file.schema, &curves);
    if (s != PV_OK) return s;
    *r = (pvi_row_rule) { .columns = m->file.domain.p - (c->bias != 0.0),
                          .center = c->center,
                          .bias = c->bias,
                          .radius = c->row_norm,
                          .norm = c->norm,
                          .curves = curves };
    if (c->transform) {
        r->encoding = "scatter";
        r->what = "scattering features of images as data.transform computes them from pixels minus center, "
                  "channel after channel, each row by row; the row norm is not yet applied";
        r->pixels = (pvi_hwc) { image.height, image.width, image.channels };
    } else if (r->curves.ramp) {
        r->encoding = "curves";
        r->what = "the columns of the schema in order: a number as (value - min)/(max - min), -1 if it is missing, a "
                  "category as one column of 0 or 1 per value; an ONNX graph makes hat functions of numbers with "
                  "knots by itself, readers of arrays have to";
    } else if (m->file.schema) {
        r->encoding = "table";
        r->what = "the columns of the schema in order: a number as (value - min)/(max - min) - center, a category as "
                  "one column of 0 or 1 per value; missing: zeros, or 0.5 - center for \"middle\"";
    } else if (m->file.domain.height) {
        r->encoding = "image";
        r->by_graph = true;
        r->what = "an image, channel after channel, each row by row; bytes divided by 255, other numbers as they "
                  "are; an ONNX graph subtracts center by itself, readers of arrays have to";
    } else {
        r->encoding = "rows";
        r->what = "the numbers of a row in the order of their columns, bytes divided by 255, each minus center";
    }
    return s;
}

/* The same for rows in their own units. */
static pv_status describe_raw(const pv_model *m, pv_arena *a, pvi_row_rule *r)
{
    if (!m->file.schema || m->plan->s.data.transform || m->file.domain.height)
        return pvi_fail(m->ctx, PV_E_UNSUPPORTED,
                        "onnx-raw is for tables with a schema, whose numbers have units of their own: use onnx");
    r->encoding = "raw";
    r->what = "the columns of the schema in order: a number as it is in the table, a date in days since 1970-01-01, "
              "NaN if it is missing; a category as one column of 0 or 1 per value; the graph clamps numbers to their "
              "bounds";
    return pvi_raw_features(m->ctx, a, &m->plan->s.data, m->file.schema, &r->raw);
}

static pv_status open_export(const pv_model *m, bool raw, pvi_export *e)
{
    *e = (pvi_export) { .ctx = m->ctx, .file = &m->file, .cert = &m->cert };
    if (m->cert.is_private) { /* what the file will say must hold: its reader cannot check it */
        const pv_status s = pvi_cert_verify(m->ctx, "the certificate", &m->cert);
        if (s != PV_OK) return s;
    }
    e->arena = pvi_arena_create(m->ctx);
    pv_status s = e->arena ? describe_rows(m, e->arena, &e->row) : pvi_nomem(m->ctx);
    if (s == PV_OK && raw) s = describe_raw(m, e->arena, &e->row);
    if (s != PV_OK) return s;
    e->outputs = m->choice.ops->outputs(m->choice.cfg, &m->file.domain);
    if (pvi_is_net(m->choice.ops)) {
        const pvi_net_cfg *c = m->choice.cfg;
        e->net = &c->net;
        e->outputs = c->net.outputs; /* two classes have two, of which predict shows the difference */
        e->scale = c->scale;
        e->split = m->choice.ops->open != pvi_net_open;
        e->hidden = e->split ? c->radius : 0.0;
    } else if (m->file.d == m->file.domain.classes * m->file.domain.p) {
        e->outputs = m->file.domain.classes; /* softmax: likewise */
    } else if (m->file.d != e->outputs * m->file.domain.p) {
        return pvi_fail(m->ctx, PV_E_UNSUPPORTED, "model=%s cannot be exported: linear models and networks can",
                        m->file.model);
    }
    return pvi_export_fill(e);
}

pv_status pv_model_export(const pv_model *m, const char *format_name, const char *path)
{
    PVI_CALL(m, PVI_MODEL);
    PVI_NEEDS(m->ctx, format_name);
    PVI_NEEDS(m->ctx, path);
    pvi_export e;
    const format *f = find_format(format_name);
    if (!f)
        return pvi_fail(m->ctx, PV_E_PARAM, "format %s: onnx, onnx-raw, npz, npy or safetensors is needed",
                        format_name);
    if (m->file.d > f->most)
        return pvi_fail(m->ctx, PV_E_UNSUPPORTED, "%lld weights are too many for %s: use safetensors",
                        (long long)m->file.d, format_name);
    pvi_str out = { .ctx = m->ctx };
    pv_status s = open_export(m, f->raw, &e);
    if (s == PV_OK) {
        f->write(&e, &out);
        s = out.failed ? pvi_nomem(m->ctx) : pvi_file_write(m->ctx, path, out.s, out.len);
    }
    pvi_str_free(&out);
    pvi_arena_free(e.arena);
    return pvi_done(m->ctx, s);
}
