/* fuzz_rows.h - loading rows from bytes in memory, twice, with different cuts: the outcome must not differ.
 *
 * The file is anonymous memory, reached through the path of its descriptor, so no disk is touched. */
#ifndef FUZZ_ROWS_H
#define FUZZ_ROWS_H
#include <sys/mman.h>
#include <unistd.h>

#include "data/reader.h"
#include "fuzz.h"

static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
    static char path[32];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("rows", MFD_CLOEXEC);
        FUZZ_REQUIRE(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    FUZZ_REQUIRE(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    return path;
}

/* The labels that lie in a file of their own; its path has a '/', so data.labels takes it for one. */
static inline const char *fuzz_labels(const uint8_t *data, size_t size)
{
    static char path[32];
    static int fd = -1;
    if (fd < 0) {
        fd = memfd_create("labels", MFD_CLOEXEC);
        FUZZ_REQUIRE(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    FUZZ_REQUIRE(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    return path;
}

static inline const char *fuzz_key(void)
{
    static char path[32];
    static int fd = -1;
    if (fd < 0) {
        const uint8_t key[PVI_KEY_SIZE] = { 1, 2, 3 };
        fd = memfd_create("key", MFD_CLOEXEC);
        FUZZ_REQUIRE(fd >= 0 && pwrite(fd, key, sizeof key, 0) == (ssize_t)sizeof key);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    return path;
}

/* Images as bytes: their floats are finite, and the norm bounds theirs. */
static inline void fuzz_check_bytes(const pvi_matrix *m)
{
    for (int64_t i = 0; i < m->domain.n; i++) {
        double sum = (double)m->bias * (double)m->bias;
        for (int64_t j = 0; j < m->ld; j++) {
            const float v = m->level[m->byte[i * m->ld + j]];
            FUZZ_REQUIRE(isfinite(v));
            sum += (double)v * (double)v;
        }
        FUZZ_REQUIRE(sqrt(sum) <= (double)m->norm[i] * (1 + 1e-12));
    }
}

/* Every stored row is finite and sorted, and the norm beside it bounds its own. */
static inline void fuzz_check_rows(const pvi_matrix *m)
{
    if (m->byte) {
        fuzz_check_bytes(m);
        return;
    }
    for (int64_t i = 0; i < m->domain.n; i++) {
        double sum = (double)m->bias * (double)m->bias;
        const int64_t from = m->x ? i * m->ld : m->ptr[i], to = m->x ? (i + 1) * m->ld : m->ptr[i + 1];
        const float *v = m->x ? m->x : m->val;
        for (int64_t j = from; j < to; j++) {
            FUZZ_REQUIRE(isfinite(v[j]));
            if (!m->x)
                FUZZ_REQUIRE(m->idx[j] >= 0 && m->idx[j] < m->domain.p && (j == from || m->idx[j] > m->idx[j - 1]));
            sum += (double)v[j] * v[j];
        }
        FUZZ_REQUIRE(sqrt(sum) <= (double)m->norm[i] * (1 + 1e-12));
        const double y = (double)m->y[i];
        FUZZ_REQUIRE(!m->has_labels || (y >= m->domain.y_lo && y <= m->domain.y_hi));
    }
}

static inline bool fuzz_same(const pvi_matrix *a, const pvi_matrix *b)
{
    if (!a || !b) return a == b;
    const size_t n = (size_t)a->domain.n;
    return a->domain.n == b->domain.n && a->domain.p == b->domain.p && (a->x != NULL) == (b->x != NULL) &&
           strcmp(a->digest, b->digest) == 0 && memcmp(a->norm, b->norm, n * 4) == 0;
}

/* What is told of several problems must not depend on the cuts, either. */
typedef struct fuzz_log {
    char text[4096];
    size_t len;
} fuzz_log;
static inline void fuzz_note(void *user, pv_level level, const char *line)
{
    fuzz_log *l = user;
    if (level == PV_LOG_ERROR)
        l->len += (size_t)snprintf(l->text + l->len, sizeof l->text - l->len, "%.150s\n", line);
    FUZZ_REQUIRE(l->len < sizeof l->text);
}

static inline void fuzz_load(pv_ctx *ctx, pvi_data_cfg *cfg, const pvi_expect *e, int64_t chunk)
{
    pvi_matrix *one, *two;
    char why[sizeof ctx->err];
    fuzz_log told[2] = { 0 };
    pv_ctx_on_log(ctx, fuzz_note, &told[0]);
    cfg->chunk = 8192;
    const pv_status s = pvi_data_load(ctx, cfg, e, NULL, &one);
    if (s == PV_OK) fuzz_check_rows(one);
    else fuzz_refused(ctx, s);
    memcpy(why, ctx->err, sizeof why);
    cfg->chunk = chunk;
    pv_ctx_on_log(ctx, fuzz_note, &told[1]);
    FUZZ_REQUIRE(pvi_data_load(ctx, cfg, e, NULL, &two) == s);
    FUZZ_REQUIRE(s == PV_OK ? fuzz_same(one, two) : strcmp(why, ctx->err) == 0);
    FUZZ_REQUIRE(strcmp(told[0].text, told[1].text) == 0);
    pv_ctx_on_log(ctx, NULL, NULL);
    pvi_matrix_free(one);
    pvi_matrix_free(two);
}

static inline pv_ctx *fuzz_context(pvi_data_cfg *cfg)
{
    pv_ctx *ctx;
    FUZZ_REQUIRE(pv_ctx_create(NULL, &ctx) == PV_OK && pvi_set_threads(ctx, 1) == PV_OK);
    memset(cfg, 0, sizeof *cfg);
    pvi_param_defaults(pvi_data_params, cfg);
    cfg->key_path = fuzz_key();
    return ctx;
}
#endif
