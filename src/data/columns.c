/* columns.c - which features of a row come from which column, for a model that has curves.
 *
 * All rows of such a model are multiplied by one factor (curves.c (3)), so what a column adds to a score depends on
 * that column alone, and can be shown without a row: by the declaration and the weights. */
#include "curves.h"
#include "encode.h"

static pv_status name_values(pv_ctx *ctx, pv_arena *a, const pvi_dictionary *words, pvi_origin *p)
{
    p->value = pv_arena_get(a, sizeof *p->value * (size_t)(words->codes + 1));
    if (!p->value) return pvi_nomem(ctx);
    for (int64_t i = words->count; i-- > 0;)
        p->value[words->word[i].code] = words->word[i].text; /* the first spelling */
    return PV_OK;
}

static pv_status ends_of_line(pv_ctx *ctx, pv_arena *a, const pvi_column *c, pvi_origin *p)
{
    double *end = pv_arena_f64(a, 2);
    if (!end) return pvi_nomem(ctx);
    end[0] = c->lo;
    end[1] = c->hi;
    p->at = end;
    p->points = 2;
    p->absent_line = c->missing == PVI_MISSING_MIDDLE ? 0.5 : 0.0;
    return PV_OK;
}

static pv_status place_of(pv_ctx *ctx, pv_arena *a, const pvi_column *c, pvi_origin *p)
{
    *p = (pvi_origin) { .name = c->name,
                        .first = c->wide,
                        .features = 1,
                        .date = c->date,
                        .lo = c->lo,
                        .hi = c->hi,
                        .monotone = c->monotone };
    if (c->type == PVI_COL_CATEGORY) {
        p->kind = PVI_ORIGIN_CATEGORY;
        p->points = p->features = c->words.codes;
        return name_values(ctx, a, &c->words, p);
    }
    p->kind = c->curved ? PVI_ORIGIN_CURVE : PVI_ORIGIN_LINE;
    if (!c->curved) return ends_of_line(ctx, a, c, p);
    p->points = p->features = c->knots;
    p->at = c->knot;
    p->absent = c->missing != PVI_MISSING_ERROR;
    return PV_OK;
}

/* Columns are pixels: the model has the features that data.transform makes of the image. */
static pv_status transformed_features(pv_ctx *ctx, const pvi_data_cfg *cfg, int64_t *out)
{
    pvi_shape image;
    pv_status s = pvi_image_parse(ctx, cfg->image, &image);
    if (s == PV_OK) s = pvi_scatter_shape(ctx, cfg, image, &image);
    if (s == PV_OK) *out = image.height * image.width * image.channels;
    return s;
}

pv_status pvi_trained_features(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, int64_t *out)
{
    pvi_schema *sc;
    const pv_status s = pvi_curves_trained(ctx, a, cfg, schema, &sc);
    if (s == PV_OK) *out = sc->curved ? sc->wide : sc->features;
    return s == PV_OK && cfg->transform != PVI_TRANSFORM_NONE ? transformed_features(ctx, cfg, out) : s;
}

pv_status pvi_curves_origins(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, pvi_origins *out)
{
    pvi_schema *sc;
    *out = (pvi_origins) { 0 };
    pv_status s = pvi_curves_trained(ctx, a, cfg, schema, &sc);
    if (s != PV_OK || !sc->curved) return s;
    out->place = pv_arena_get(a, sizeof *out->place * (size_t)sc->count);
    if (!out->place) return pvi_nomem(ctx);
    for (int64_t i = 0; i < sc->count && s == PV_OK; i++) {
        const pvi_column *c = &sc->column[i];
        if (c->type == PVI_COL_NUMBER || c->type == PVI_COL_CATEGORY) s = place_of(ctx, a, c, &out->place[out->n++]);
    }
    out->features = sc->wide;
    out->factor = pvi_curves_factor(cfg, sc);
    return s;
}

/* ---- raw numbers ------------------------------------------------------------------------------------------ */

/* A category has 0 or 1 for each value, which stay. */
static void raw_column(const pvi_column *c, double center, pvi_units_of *r)
{
    const bool number = c->type == PVI_COL_NUMBER;
    double v;
    for (int64_t k = c->first; k < c->first + (number ? 1 : c->words.codes); k++) {
        r->from[k] = number ? c->from : 0.0;
        r->slope[k] = number ? 1.0 / c->range : 1.0;
        r->center[k] = number ? center : 0.0;
        if (number && pvi_encode_absent(c, &v)) r->absent[k] = pvi_encode_feature(c, v, center);
    }
}

pv_status pvi_raw_features(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, pvi_units_of *out)
{
    pvi_schema *sc;
    *out = (pvi_units_of) { 0 };
    const pv_status s = pvi_curves_trained(ctx, a, cfg, schema, &sc);
    if (s != PV_OK) return s;
    double *all = pv_arena_f64(a, 4 * sc->features);
    if (!all) return pvi_nomem(ctx);
    *out = (pvi_units_of) { sc->features, all, all + sc->features, all + 2 * sc->features, all + 3 * sc->features };
    for (int64_t i = 0; i < sc->count; i++)
        if (sc->column[i].type == PVI_COL_NUMBER || sc->column[i].type == PVI_COL_CATEGORY)
            raw_column(&sc->column[i], cfg->center, out);
    return PV_OK;
}

/* ---- one category -------------------------------------------------------------------------------------------- */

pv_status pvi_category_find(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, const char *column,
                            pvi_category *out)
{
    pvi_schema *sc;
    pvi_origin p;
    int64_t i = 0;
    pv_status s = schema ? pvi_curves_trained(ctx, a, cfg, schema, &sc)
                         : pvi_fail(ctx, PV_E_PARAM, "the model has no schema, so no column %s", column);
    if (s != PV_OK) return s;
    while (i < sc->count && strcmp(sc->column[i].name, column) != 0) i++;
    if (i == sc->count) return pvi_fail(ctx, PV_E_PARAM, "the model has no column %s", column);
    const pvi_column *c = &sc->column[i];
    if (c->type != PVI_COL_CATEGORY)
        return pvi_fail(ctx, PV_E_PARAM, "column %s is no category: only those have groups", column);
    if ((s = name_values(ctx, a, &c->words, &p)) != PV_OK) return s;
    *out = (pvi_category) { sc->curved ? c->wide : c->first, c->words.codes, p.value };
    return PV_OK;
}
