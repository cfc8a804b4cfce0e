/* arrow_peers.c - for tests/cli/test_arrow_peers.sh, which loads it into Python: an Arrow stream that another library
 * made, and the same table as CSV, must give the same rows. */
#include "data/data.h"

/* 0: the same; 1: they differ or one was refused, and why says how.  The stream is taken over. */
PV_API int peers_compare(struct ArrowArrayStream *stream, const char *csv, const char *schema, const char *key,
                         int settings, char *why, size_t why_size);

static bool same(const pvi_matrix *a, const pvi_matrix *b)
{
    const size_t n = (size_t)a->domain.n;
    if (a->domain.n != b->domain.n || a->domain.p != b->domain.p || (a->x != NULL) != (b->x != NULL)) return false;
    if (memcmp(a->y, b->y, n * 4) != 0 || memcmp(a->norm, b->norm, n * 4) != 0) return false;
    if (a->x && memcmp(a->x, b->x, n * (size_t)a->ld * 4) != 0) return false;
    if (a->ptr && (memcmp(a->ptr, b->ptr, (n + 1) * 8) != 0 || memcmp(a->val, b->val, (size_t)a->ptr[n] * 4) != 0 ||
                   memcmp(a->idx, b->idx, (size_t)a->ptr[n] * 4) != 0))
        return false;
    return strcmp(a->digest, b->digest) == 0;
}

static void explain(const pvi_matrix *a, const pvi_matrix *b, char *why, size_t size)
{
    const int64_t n = a->domain.n, ld = a->ld;
    snprintf(why, size, "%lld x %lld, and from the stream %lld x %lld", (long long)n, (long long)a->domain.p,
             (long long)b->domain.n, (long long)b->domain.p);
    if (n != b->domain.n || a->domain.p != b->domain.p) return;
    for (int64_t i = 0; a->x && b->x && i < n * ld; i++)
        if (a->x[i] != b->x[i]) {
            snprintf(why, size, "row %lld, feature %lld: %.9g, and from the stream %.9g", (long long)(i / ld + 1),
                     (long long)(i % ld + 1), (double)a->x[i], (double)b->x[i]);
            return;
        }
}

int peers_compare(struct ArrowArrayStream *stream, const char *csv, const char *schema, const char *key, int settings,
                  char *why, size_t why_size)
{
    const pvi_expect expect = { .classes = -1 };
    pvi_data_cfg cfg = { 0 };
    pv_ctx *ctx;
    pv_data *d = NULL;
    pvi_matrix *a = NULL, *b = NULL;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 1;
    pvi_param_defaults(pvi_data_params, &cfg);
    cfg.path = csv;
    cfg.format = "csv";
    cfg.schema = schema;
    cfg.key_path = key;
    cfg.layout = settings & 1 ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
    cfg.center = settings & 2 ? 0.5 : 0.0;
    cfg.bias = settings & 4 ? 0.0 : 1.0;
    pv_status s = pv_data_arrow(ctx, stream, &d);
    if (s == PV_OK) s = pvi_data_load(ctx, &cfg, &expect, d, &b);
    if (s == PV_OK) s = pvi_data_load(ctx, &cfg, &expect, NULL, &a);
    const bool good = s == PV_OK && same(a, b);
    if (s != PV_OK) snprintf(why, why_size, "%s", pv_ctx_errmsg(ctx));
    else if (!good) explain(a, b, why, why_size);
    pvi_matrix_free(a);
    pvi_matrix_free(b);
    pv_data_free(d);
    pv_ctx_free(ctx);
    return !good;
}
