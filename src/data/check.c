/* check.c - a table against a schema: everything that training would refuse, counted by column and kind.
 *
 * The whole file is read and no row is kept.  What is found is a function of private rows without any noise: for the
 * screen of their owner, and not for the schema, which everybody who has the model sees. */
#include "encode.h"

enum { CHUNK = 1 << 15 }; /* a list of problems is made for each, of its size */

static pv_status write_found(pv_ctx *ctx, const pvi_problems *p, char **json)
{
    pvi_str text = { .ctx = ctx };
    pvi_jw w = { .out = &text };
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_bool(&w, "private", false);
    pvi_jw_i64(&w, "rows", p->rows);
    pvi_jw_i64(&w, "problems", p->total);
    pvi_jw_open(&w, "kinds", '[');
    for (int64_t i = 0; i < p->groups; i++) {
        const pvi_group *g = &p->group[i];
        char line[256];
        pvi_problem_text(g, line, sizeof line);
        pvi_jw_open(&w, NULL, '{');
        if (g->column > 0) pvi_jw_str(&w, "column", g->name);
        pvi_jw_str(&w, "kind", pvi_trouble_name(g->what));
        pvi_jw_i64(&w, "count", g->count);
        pvi_jw_i64(&w, "first_line", g->line);
        pvi_jw_str(&w, "text", line);
        pvi_jw_close(&w, '}');
    }
    pvi_jw_close(&w, ']');
    pvi_jw_i64(&w, "spaced_ids", p->spaced);
    pvi_jw_close(&w, '}');
    return pvi_str_take(&text, json);
}

pv_status pv_schema_check(pv_ctx *ctx, const char *schema, const char *path, char **json)
{
    pvi_data_cfg cfg;
    pvi_problems found = { 0 };
    pvi_matrix *none;
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, schema);
    PVI_NEEDS(ctx, path);
    PVI_NEEDS(ctx, json);
    memset(&cfg, 0, sizeof cfg);
    pvi_param_defaults(pvi_data_params, &cfg);
    cfg.schema = schema;
    cfg.path = path;
    cfg.chunk = CHUNK;
    cfg.key_path = "none";
    static const uint8_t key[PVI_SHORT_KEY]; /* ids are looked at, and compared with nothing */
    const pvi_expect expect = {
        .classes = -1, .labels_optional = true, .undigested = true, .problems = &found, .owner_key = key
    };
    pv_status s = pvi_data_load(ctx, &cfg, &expect, NULL, &none);
    if (s == PV_OK) s = write_found(ctx, &found, json);
    pvi_problems_free(ctx, &found);
    return s;
}
