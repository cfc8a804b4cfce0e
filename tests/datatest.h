/* datatest.h - loading rows from text written to a temporary folder. */
#ifndef DATATEST_H
#define DATATEST_H
#include <sys/stat.h>
#include <unistd.h>

#include "data/reader.h"
#include "pvtest.h"

typedef struct dt {
    pv_ctx *ctx;
    char dir[64], path[96], schema[96], key[96];
    pvi_data_cfg cfg;
    pvi_expect expect;
} dt;

static inline void dt_open(dt *t)
{
    memset(t, 0, sizeof *t);
    PVT_OK(pv_ctx_create(NULL, &t->ctx));
    strcpy(t->dir, "/tmp/privet-test-XXXXXX");
    PVT_TRUE(mkdtemp(t->dir) != NULL);
    snprintf(t->path, sizeof t->path, "%s/d", t->dir);
    snprintf(t->schema, sizeof t->schema, "%s/s", t->dir);
    snprintf(t->key, sizeof t->key, "%s/k", t->dir);
    pvi_param_defaults(pvi_data_params, &t->cfg);
    t->cfg.path = t->path;
    t->cfg.key_path = t->key;
    t->expect.classes = -1;
}

static inline void dt_close(dt *t)
{
    unlink(t->path);
    unlink(t->schema);
    unlink(t->key);
    PVT_IS(rmdir(t->dir), 0); /* nothing else was left behind */
    pv_ctx_free(t->ctx);
}

static inline void dt_write(const char *path, const void *data, size_t n)
{
    FILE *f = fopen(path, "wb");
    PVT_TRUE(f != NULL);
    const bool ok = fwrite(data, 1, n, f) == n;
    PVT_TRUE(fclose(f) == 0 && ok);
}

static inline pvi_matrix *dt_load(dt *t, const char *text)
{
    pvi_matrix *m;
    if (text) dt_write(t->path, text, strlen(text));
    const pv_status s = pvi_data_load(t->ctx, &t->cfg, &t->expect, NULL, &m);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(t->ctx));
    return m;
}

/* Loading fails with this status and "<path>:<rest>". */
static inline void dt_fails_bytes(dt *t, const void *data, size_t n, pv_status want, const char *rest)
{
    pvi_matrix *m;
    dt_write(t->path, data, n);
    const pv_status s = pvi_data_load(t->ctx, &t->cfg, &t->expect, NULL, &m);
    const char *msg = pv_ctx_errmsg(t->ctx);
    PVT_TRUE(m == NULL);
    const size_t k = strlen(t->path);
    if (strncmp(msg, t->path, k) == 0) msg += k;
    PVT_CHECK(s == want && strcmp(msg, rest) == 0, "status %d, message \"%s\", wanted \"%s\"", (int)s, msg, rest);
}

static inline void dt_fails(dt *t, const char *text, pv_status want, const char *rest)
{
    dt_fails_bytes(t, text, strlen(text), want, rest);
}

/* Value of column j of row r as it is stored, dense or sparse; the last may be the bias. */
static inline float dt_raw(const pvi_matrix *m, int64_t r, int64_t j)
{
    if (m->bias != 0.0f && j == m->domain.p - 1) return m->bias;
    if (m->x) return m->x[r * m->ld + j];
    if (m->cell) return (float)pvi_cells_feature(m, r, j);
    if (m->byte) return m->level[m->byte[r * m->ld + j]];
    for (int64_t k = m->ptr[r]; k < m->ptr[r + 1]; k++)
        if (m->idx[k] == j) return m->val[k];
    return 0.0f;
}

/* The same as the model sees it, but for the last bits where it is scaled. */
static inline float dt_at(const pvi_matrix *m, int64_t r, int64_t j)
{
    const double norm = (double)m->norm[r], R = m->domain.row_norm;
    const bool scaled = m->unit ? norm > 0.0 : norm > R;
    return scaled ? (float)(R / norm * (double)dt_raw(m, r, j)) : dt_raw(m, r, j);
}

/* A model that takes bytes gets the floats that others get: the same values, norms and labels. */
static inline void dt_same_as_bytes(dt *t)
{
    pvi_matrix *m = dt_load(t, NULL);
    t->expect.pixels = true;
    pvi_matrix *b = dt_load(t, NULL);
    t->cfg.layout = PVI_LAYOUT_DENSE;
    pvi_matrix *d = dt_load(t, NULL);
    const size_t n = (size_t)m->domain.n;
    const int64_t features = m->domain.p - (t->cfg.bias != 0);
    PVT_TRUE(m->x && !m->byte && !b->x && b->byte && !b->ptr && d->x && !d->byte);
    PVT_TRUE(b->domain.n == m->domain.n && b->domain.p == m->domain.p && b->ld == features);
    PVT_IS(memcmp(m->y, b->y, n * 4), 0);
    PVT_IS(memcmp(m->norm, b->norm, n * 4), 0);
    for (int64_t r = 0; r < m->domain.n; r++)
        for (int64_t j = 0; j < features; j++) {
            const float x = dt_raw(m, r, j), y = dt_raw(b, r, j);
            PVT_TRUE(memcmp(&x, &y, sizeof x) == 0);
        }
    PVT_TRUE(strcmp(m->digest, b->digest) != 0); /* as for every layout */
    assert_string_equal(m->digest, d->digest);
    b->byte[0] ^= 1;
    char before[65];
    strcpy(before, b->digest);
    PVT_OK(pvi_digest(t->ctx, &t->cfg, b)); /* every part of the rows counts */
    PVT_TRUE(strcmp(before, b->digest) != 0);
    t->cfg.layout = PVI_LAYOUT_AUTO;
    t->expect.pixels = false;
    pvi_matrix_free(m), pvi_matrix_free(b), pvi_matrix_free(d);
}

/* Bit-identical content, whatever the storage. */
static inline void dt_same(const pvi_matrix *a, const pvi_matrix *b)
{
    PVT_IS(a->domain.n, b->domain.n);
    PVT_IS(a->domain.p, b->domain.p);
    PVT_IS(a->domain.classes, b->domain.classes);
    PVT_IS(a->x != NULL, b->x != NULL);
    const size_t n = (size_t)a->domain.n;
    PVT_IS(memcmp(a->y, b->y, n * 4), 0);
    PVT_IS(memcmp(a->norm, b->norm, n * 4), 0);
    if (a->x) {
        const int64_t q = a->domain.p - (a->bias != 0.0f); /* the bias has no column */
        for (int64_t r = 0; r < a->domain.n; r++)
            for (int64_t j = 0; j < q; j++) {
                const float x = a->x[r * a->ld + j] + 0.0f, y = b->x[r * b->ld + j] + 0.0f; /* borrowed: -0 stays */
                PVT_IS(memcmp(&x, &y, sizeof x), 0);
            }
    } else {
        PVT_IS(memcmp(a->ptr, b->ptr, (n + 1) * 8), 0);
        PVT_IS(memcmp(a->idx, b->idx, (size_t)a->ptr[n] * 4), 0);
        PVT_IS(memcmp(a->val, b->val, (size_t)a->ptr[n] * 4), 0);
    }
    assert_string_equal(a->digest, b->digest);
}
#endif
