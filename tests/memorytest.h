/* memorytest.h - rows of memory beside the same rows in files. */
#ifndef MEMORYTEST_H
#define MEMORYTEST_H
#include "data/data.h"
#include "datatest.h"

typedef struct mt {
    dt d;
    char rows[96], labels[96];
} mt;

static inline void mt_open(mt *t)
{
    dt_open(&t->d);
    PVT_OK(pvi_set_threads(t->d.ctx, 2));
    snprintf(t->rows, sizeof t->rows, "%s/x.npy", t->d.dir);
    snprintf(t->labels, sizeof t->labels, "%s/y.npy", t->d.dir);
}

static inline void mt_close(mt *t)
{
    unlink(t->rows);
    unlink(t->labels);
    dt_close(&t->d);
}

static inline double mt_uniform(uint64_t *s, double lo, double hi)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return lo + (hi - lo) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* columns 0: one value a row, of shape (n,). */
static inline void mt_npy(const char *path, const char *descr, int n, int columns, const void *x, size_t size)
{
    char head[128], shape[48];
    snprintf(shape, sizeof shape, columns ? "(%d, %d)" : "(%d,)", n, columns);
    const int len = snprintf(head + 10, 100, "{'descr': '%s', 'fortran_order': False, 'shape': %s}\n", descr, shape);
    memcpy(head, "\x93NUMPY\1\0", 8);
    head[8] = (char)len;
    head[9] = 0;
    FILE *f = fopen(path, "wb");
    PVT_TRUE(f != NULL);
    const bool ok = fwrite(head, 1, 10 + (size_t)len, f) == 10 + (size_t)len && fwrite(x, 1, size, f) == size;
    PVT_TRUE(fclose(f) == 0 && ok);
}

static inline pvi_matrix *mt_load(mt *t, pv_data *d)
{
    pvi_matrix *m;
    const pv_status s = pvi_data_load(t->d.ctx, &t->d.cfg, &t->d.expect, d, &m);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(t->d.ctx));
    return m;
}

static inline pvi_matrix *mt_file(mt *t) /* data.path */
{
    return mt_load(t, NULL);
}

static inline void mt_fails(mt *t, pv_data *d, pv_status want, const char *message)
{
    pvi_matrix *m;
    const pv_status s = pvi_data_load(t->d.ctx, &t->d.cfg, &t->d.expect, d, &m);
    PVT_TRUE(m == NULL);
    PVT_CHECK(s == want && strcmp(pv_ctx_errmsg(t->d.ctx), message) == 0, "status %d, message \"%s\", wanted \"%s\"",
              (int)s, pv_ctx_errmsg(t->d.ctx), message);
}

/* A call with bad arguments: PV_E_ARG and this message. */
static inline void mt_refused(mt *t, pv_status s, const char *message)
{
    PVT_CHECK(s == PV_E_ARG && strcmp(pv_ctx_errmsg(t->d.ctx), message) == 0,
              "status %d, message \"%s\", wanted \"%s\"", (int)s, pv_ctx_errmsg(t->d.ctx), message);
}
#endif
