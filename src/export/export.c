/* export.c - tensors of a model in the order other programs expect, and what to know about them.
 *
 * Linear models: weight [outputs, columns], bias [outputs]; the score of a row is s (weight x + bias), s being the
 * factor of the row norm, since the constant column is scaled with its row.
 * Networks: conv weight [filters, channels, height, width], dense weight [outputs, inputs], an image being flattened
 * row by row, column by column, channels last; group norm weight and bias per channel.  Layers are named by kind and
 * position. */
#include "export/export.h"

static pvi_tensor *add(pvi_export *e, const char *layer, const char *part, int dims, const int64_t *shape)
{
    pvi_tensor *t = &e->tensor[e->tensors];
    snprintf(t->name, sizeof t->name, "%s%s%s", layer, *layer ? "." : "", part);
    t->dims = dims;
    t->size = 1;
    for (int k = 0; k < dims; k++) t->size *= t->shape[k] = shape[k];
    t->v = pv_arena_f64(e->arena, t->size);
    if (!t->v) return NULL;
    e->tensors++;
    return t;
}

const pvi_tensor *pvi_export_find(const pvi_export *e, const char *layer, const char *part)
{
    char name[48];
    snprintf(name, sizeof name, "%s%s%s", layer, *layer ? "." : "", part);
    for (int64_t i = 0; i < e->tensors; i++)
        if (strcmp(e->tensor[i].name, name) == 0) return &e->tensor[i];
    return NULL;
}

/* ---- linear ------------------------------------------------------------------------------------------------ */

static pv_status fill_linear(pvi_export *e)
{
    const int64_t p = e->row.columns, ld = p + (e->row.bias != 0.0), k = e->outputs;
    pvi_tensor *w = add(e, "", "weight", 2, (const int64_t[]) { k, p });
    pvi_tensor *b = w ? add(e, "", "bias", 1, &k) : NULL;
    if (!b) return pvi_nomem(e->ctx);
    for (int64_t c = 0; c < k; c++) {
        memcpy(w->v + c * p, e->file->w + c * ld, sizeof(double) * (size_t)p);
        b->v[c] = ld > p ? e->row.bias * e->file->w[c * ld + p] : 0.0;
    }
    return PV_OK;
}

/* ---- networks ------------------------------------------------------------------------------------------------ */

static bool fill_conv(pvi_export *e, const pvi_layer *l, const char *name)
{
    const int64_t K = l->kernel, C = l->in.c, N = l->units;
    pvi_tensor *t = add(e, name, "weight", 4, (const int64_t[]) { N, C, K, K });
    for (int64_t n = 0, at = 0; t && n < N; n++)
        for (int64_t c = 0; c < C; c++)
            for (int64_t ab = 0; ab < K * K; ab++) t->v[at++] = e->file->w[l->weights + (ab * C + c) * N + n];
    return t;
}

/* Where a network trained in blocks keeps input j of an image: it reads channel after channel (model/split.c). */
static int64_t split_input(const pvi_export *e, int64_t j)
{
    const pvi_hwc in = e->net->in;
    return j % in.c * in.h * in.w + j / in.c;
}

static bool fill_dense(pvi_export *e, const pvi_layer *l, const char *name)
{
    const int64_t N = l->units, J = l->n_weights / N;
    const bool planes = e->split && l == e->net->layer;
    pvi_tensor *t = add(e, name, "weight", 2, (const int64_t[]) { N, J });
    for (int64_t n = 0, at = 0; t && n < N; n++)
        for (int64_t j = 0; j < J; j++)
            t->v[at++] = e->file->w[l->weights + (planes ? split_input(e, j) : j) * N + n];
    return t;
}

static bool fill_plain(pvi_export *e, const pvi_layer *l, const char *name)
{
    pvi_tensor *t = add(e, name, "weight", 1, &l->n_weights);
    if (t) memcpy(t->v, e->file->w + l->weights, sizeof(double) * (size_t)l->n_weights);
    return t;
}

void pvi_export_name(const pvi_export *e, int64_t layer, char name[32])
{
    snprintf(name, 32, "%s%lld", pvi_layer_names[e->net->layer[layer].kind], (long long)(layer + 1));
}

static pv_status fill_net(pvi_export *e)
{
    for (int64_t i = 0; i < e->net->n; i++) {
        const pvi_layer *l = &e->net->layer[i];
        char name[32];
        if (!l->n_weights) continue;
        pvi_export_name(e, i, name);
        const bool ok = l->kind == PVI_LAYER_CONV    ? fill_conv(e, l, name)
                        : l->kind == PVI_LAYER_DENSE ? fill_dense(e, l, name)
                                                     : fill_plain(e, l, name);
        pvi_tensor *b = ok ? add(e, name, "bias", 1, &l->n_biases) : NULL;
        if (!b) return pvi_nomem(e->ctx);
        memcpy(b->v, e->file->w + l->biases, sizeof(double) * (size_t)l->n_biases);
    }
    return PV_OK;
}

/* ---- facts ----------------------------------------------------------------------------------------------------- */

static void fact(pvi_export *e, const char *key, const char *text)
{
    e->key[e->pairs] = key;
    e->text[e->pairs++] = text;
}

static void fact_f64(pvi_export *e, const char *key, double x)
{
    char text[32];
    pvi_f64_text(x, text);
    fact(e, key, pvi_arena_strdup(e->arena, text, strlen(text)));
}

static pv_status fact_str(pvi_export *e, const char *key, pvi_str *b)
{
    const bool ok = !b->failed;
    fact(e, key, ok ? pvi_arena_strdup(e->arena, b->s, b->len) : NULL);
    pvi_str_free(b);
    return ok ? PV_OK : pvi_nomem(e->ctx);
}

static pv_status fill_classes(pvi_export *e)
{
    pvi_str b = { .ctx = e->ctx };
    pvi_jw w = { .out = &b };
    if (!e->file->class_names) return PV_OK;
    pvi_jw_open(&w, NULL, '[');
    for (int64_t k = 0; k < e->file->domain.classes; k++) pvi_jw_str(&w, NULL, e->file->class_names[k]);
    pvi_jw_close(&w, ']');
    return fact_str(e, "classes", &b);
}

static pv_status fact_image(pvi_export *e, const char *key, pvi_hwc in)
{
    pvi_str b = { .ctx = e->ctx };
    if (!in.h) return PV_OK;
    pvi_str_printf(&b, "%lldx%lldx%lld", (long long)in.h, (long long)in.w, (long long)in.c);
    return fact_str(e, key, &b);
}

/* How a raw row becomes the model's input. */
static pv_status fill_input(pvi_export *e)
{
    static const char *const norm[] = { "clip", "unit", "max" };
    const pv_domain *dom = &e->file->domain;
    fact(e, "input", e->row.what);
    fact(e, "encoding", e->row.encoding);
    fact_f64(e, "center", e->row.center);
    fact_f64(e, "bias_column", e->row.bias);
    fact_f64(e, "row_norm", e->row.radius);
    fact(e, "norm", norm[e->row.norm]);
    if (e->row.curves.ramp) fact_f64(e, "row_factor", e->row.curves.factor);
    const pv_status s = fact_image(e, "pixels", e->row.pixels);
    return s == PV_OK ? fact_image(e, "image", (pvi_hwc) { dom->height, dom->width, dom->channels }) : s;
}

static pv_status fill_layers(pvi_export *e)
{
    pvi_str b = { .ctx = e->ctx };
    for (int64_t i = 0; i < e->net->n; i++) pvi_str_printf(&b, "%s%s", i ? "," : "", e->net->layer[i].text);
    fact_f64(e, "scale", e->scale);
    if (e->hidden > 0.0) fact_f64(e, "hidden_radius", e->hidden);
    return fact_str(e, "layers", &b);
}

/* The guarantee, the input, and what is computed from it. */
static pv_status fill_facts(pvi_export *e)
{
    pvi_str b = { .ctx = e->ctx };
    fact(e, "privacy", e->cert->is_private ? "PRIVATE: see the certificate" : "NOT PRIVATE");
    if (e->cert->is_private) {
        fact_f64(e, "epsilon", e->cert->epsilon);
        fact_f64(e, "delta", e->cert->delta);
    }
    pvi_cert_statement(e->cert, &b);
    pv_status s = fact_str(e, "statement", &b);
    fact(e, "model", e->file->model);
    if (s == PV_OK) s = fill_input(e);
    if (s == PV_OK && e->net) s = fill_layers(e);
    if (s == PV_OK) s = fill_classes(e);
    fact(e, "settings", e->file->settings);
    if (e->file->schema) fact(e, "schema", e->file->schema);
    for (int64_t i = 0; i < e->pairs; i++)
        if (!e->text[i]) return pvi_nomem(e->ctx);
    return s;
}

pv_status pvi_export_fill(pvi_export *e)
{
    e->tensor = pv_arena_get(e->arena, sizeof *e->tensor * 2 * PVI_MAX_LAYERS);
    if (!e->tensor) return pvi_nomem(e->ctx);
    const pv_status s = e->net ? fill_net(e) : fill_linear(e);
    return s == PV_OK ? fill_facts(e) : s;
}
