/* binary.c - what readers of binary formats share: exact reads, batches of rows, labels that are bytes. */
#include "reader.h"

pv_status pvi_read_some(pvi_source *src, void *buf, size_t n, size_t *got)
{
    bool end;
    *got = 0;
    for (int64_t k = 0, slices = pvi_source_slices(src, n); k < slices; k++) pvi_source_slice(src, buf, n, k);
    return pvi_source_filled(src, n, got, &end);
}

pv_status pvi_read_part(pv_ctx *ctx, pvi_source *src, void *buf, size_t n, const char *what, int64_t before,
                        int64_t total)
{
    size_t got;
    const pv_status s = pvi_read_some(src, buf, n, &got);
    if (s != PV_OK || got == n) return s;
    return pvi_fail(ctx, PV_E_FORMAT, "%s: truncated in the %s: %lld of %lld bytes are there", pvi_source_path(src),
                    what, (long long)(before + (int64_t)got), (long long)total);
}

pv_status pvi_read_exactly(pv_ctx *ctx, pvi_source *src, void *buf, size_t n, const char *what)
{
    return pvi_read_part(ctx, src, buf, n, what, 0, (int64_t)n);
}

pv_status pvi_read_declared(pv_ctx *ctx, const pvi_source *src, const char *what, double bytes)
{
    const double most = pvi_source_most(src);
    if (bytes <= most) return PV_OK;
    if (pvi_source_plain(src))
        return pvi_fail(ctx, PV_E_FORMAT, "%s: truncated in the %s: %.0f of %.0f bytes are there",
                        pvi_source_path(src), what, most, bytes);
    return pvi_fail(ctx, PV_E_FORMAT,
                    "%s: the header declares %.0f bytes of %s, too many for a file of this size; data.max_expansion= "
                    "allows more",
                    pvi_source_path(src), bytes, what);
}

pv_status pvi_read_end(pv_ctx *ctx, pvi_source *src)
{
    char more;
    size_t got;
    const pv_status s = pvi_read_some(src, &more, 1, &got);
    if (s != PV_OK) return s;
    return got == 0 ? PV_OK : pvi_fail(ctx, PV_E_FORMAT, "%s: longer than its header says", pvi_source_path(src));
}

bool pvi_ends_with(const char *s, const char *tail)
{
    const size_t n = strlen(s), m = strlen(tail);
    return n >= m && strcmp(s + n - m, tail) == 0;
}

pv_status pvi_rows_check(const struct pv_load *job, const char *rows_are, int64_t rows, const char *columns_are,
                         int64_t columns)
{
    const pvi_data_cfg *c = job->cfg;
    const int64_t want = job->expect->features > 0    ? job->expect->features
                         : c->features != PV_AUTO_I64 ? c->features
                                                      : columns;
    char text[72];
    const char *trained = pvi_trained_on(job, text);
    if (columns != want && trained)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %s of %lld %s, but the model was trained on %s", job->name,
                        rows_are, (long long)columns, columns_are, trained);
    if (columns != want)
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %s of %lld %s, but %lld are declared", job->name, rows_are,
                        (long long)columns, columns_are, (long long)want);
    if (c->rows != PV_AUTO_I64 && c->rows != rows && job->files <= 1) /* of several files the builder counts them */
        return pvi_fail(job->ctx, PV_E_FORMAT, "%s: %lld %s, but data.rows=%lld", job->name, (long long)rows,
                        rows_are, (long long)c->rows);
    return PV_OK;
}

int64_t pvi_batch_rows(int64_t columns)
{
    const int64_t rows = (1 << 22) / (columns > 0 ? columns : 1);
    return rows < 1 ? 1 : rows > PVI_BATCH ? PVI_BATCH : rows;
}

pv_status pvi_read_batches(struct pv_load *job, int64_t rows, int64_t record, int64_t columns, pvi_batch_fn *read,
                           void *arg)
{
    pv_ctx *ctx = job->ctx;
    const size_t n = (size_t)rows, entries = n * (size_t)columns;
    uint8_t *bytes = pvi_raw(ctx, n * (size_t)record);
    pvi_segment seg = { .end = pvi_raw(ctx, n * sizeof(uint32_t)),
                        .y = pvi_raw(ctx, n * sizeof(float)),
                        .val = pvi_raw(ctx, entries * sizeof(float)),
                        .idx = pvi_raw(ctx, entries * sizeof(int32_t)),
                        .row_room = n,
                        .entry_room = entries };
    const pv_status s = bytes && seg.end && seg.y && seg.val && seg.idx ? read(arg, bytes, &seg) : pvi_nomem(ctx);
    pvi_free(ctx, bytes);
    pvi_free(ctx, seg.end);
    pvi_free(ctx, seg.y);
    pvi_free(ctx, seg.val);
    pvi_free(ctx, seg.idx);
    return s;
}

pv_status pvi_append_batch(struct pv_load *job, pvi_segment *seg, double fraction)
{
    const pv_status s = pvi_build_append(job->out, &seg, 1, fraction);
    if (s != PV_OK || job->cfg->transform != PVI_TRANSFORM_NONE) return s; /* the transform tells how far it is */
    if (!pvi_progress(job->ctx, "reading", pvi_fraction(job, fraction), 1.0, -1.0))
        return pvi_fail(job->ctx, PV_E_CANCELLED, PVI_STOPPED_READING, job->name);
    return PV_OK;
}

/* ---- labels ------------------------------------------------------------------------------------------- */

pv_status pvi_labels_default(struct pv_load *job)
{
    const int64_t classes = job->expect->classes > 2 ? job->expect->classes : 10;
    pvi_str list = { .ctx = job->ctx };
    pvi_data_cfg *cfg = pv_arena_get(job->arena, sizeof *cfg);
    for (int64_t k = 0; k < classes; k++) pvi_str_printf(&list, k ? ",%lld" : "%lld", (long long)k);
    if (cfg && !list.failed) {
        *cfg = *job->cfg;
        cfg->labels = pvi_arena_strdup(job->arena, list.s, list.len);
        job->cfg = cfg;
    }
    pvi_str_free(&list);
    return cfg && cfg->labels ? PV_OK : pvi_nomem(job->ctx);
}

static bool byte_label(const struct pv_load *job, int byte, float *y, char why[256])
{
    char text[24] = { 0 };
    const int len = snprintf(text, sizeof text, "%d", byte);
    return pvi_label_value(&job->label, text, (size_t)len, y, why, 256);
}

const char *pvi_byte_label_why(const struct pv_load *job, int byte, char why[256])
{
    float y;
    why[0] = '\0';
    byte_label(job, byte, &y, why);
    return why;
}

pv_status pvi_byte_labels_declare(struct pv_load *job, bool by_path, pvi_byte_labels *out)
{
    char why[256];
    pv_status s = !job->cfg->labels || by_path ? pvi_labels_default(job) : PV_OK;
    if (s == PV_OK) s = pvi_label_declare(job, &job->label);
    if (s == PV_OK) s = pvi_label_check(job, &job->label);
    for (int b = 0; s == PV_OK && b < 256; b++) out->known[b] = byte_label(job, b, &out->y[b], why);
    return s;
}
