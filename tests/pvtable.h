/* pvtable.h - small tables in memory for tests of whole runs, which are made through the public calls (pvt_run);
 * tests that look behind the noise, or at a job, take the matrix. */
#ifndef PVTABLE_H
#define PVTABLE_H
#include "data/load.h"
#include "pvtest.h"

/* What an optimiser calls its number of steps. */
static inline const char *pvt_steps_key(const char *optimizer)
{
    const pv_plugin *h = pv_find(PV_KIND_optimizer, optimizer);
    return pvi_param_find(h->params, "steps") ? "optimizer.steps" : "optimizer.passes";
}

typedef struct pvt_table { /* a dense matrix owned by the test; free with pvt_table_free */
    pvi_matrix m;
    float *x, *y, *norm;
    int64_t *ptr;
    int32_t *idx;
    bool
        stretched; /* rows are stored longer and shorter than they were made: the model scales long ones down again */
} pvt_table;

/* 2^-4 .. 2^60 times as long. */
static inline void pvt_stretch_row(pvt_table *t, int64_t i)
{
    const int64_t p = t->m.domain.p;
    const int by = (int)((i * 13 + 33) % 65) - 4;
    for (int64_t j = 0; j < p; j++) t->x[i * p + j] = ldexpf(t->x[i * p + j], by);
    t->norm[i] = ldexpf(t->norm[i], by);
}

static inline void pvt_table_stretch(pvt_table *t)
{
    t->stretched = true;
    for (int64_t i = 0; i < t->m.domain.n; i++) pvt_stretch_row(t, i);
}

static inline void pvt_set_row(pvt_table *t, int64_t i, const double *x, double y)
{
    const int64_t p = t->m.domain.p;
    double s = 0.0;
    for (int64_t j = 0; j < p; j++) {
        t->x[i * p + j] = (float)x[j];
        s += (double)t->x[i * p + j] * t->x[i * p + j];
    }
    t->norm[i] = s == 0.0 ? 0.0f : nextafterf((float)sqrt(s), 2.0f);
    t->y[i] = (float)y;
    PVT_TRUE(t->norm[i] <= 1.0f);
    if (t->stretched) pvt_stretch_row(t, i);
}

/* n random rows inside the unit ball with labels of a noisy linear rule: -1/+1 for two classes,
 * 0..k-1 for k, numbers within -2..2 for none. */
static inline pvt_table *pvt_table_make(int64_t n, int64_t p, int64_t classes, uint64_t seed)
{
    pvt_table *t = calloc(1, sizeof *t);
    double *x = malloc(sizeof *x * (size_t)p);
    t->m.domain = (pv_domain) { .n = n, .p = p, .row_norm = 1.0, .classes = classes, .y_lo = -2, .y_hi = 2 };
    t->m.ld = p;
    t->m.x = t->x = aligned_alloc(64, (sizeof(float) * (size_t)(n * p) + 191) / 64 * 64);
    t->m.y = t->y = calloc((size_t)n, sizeof(float));
    t->m.norm = t->norm = calloc((size_t)n, sizeof(float));
    t->m.has_labels = true;
    memset(t->m.digest, '0', 64);
    for (int64_t i = 0; i < n; i++) {
        double s = 0.0;
        for (int64_t j = 0; j < p; j++) {
            x[j] = pvt_normal(&seed);
            s += x[j] * x[j];
        }
        const double scale = 0.999 * pvt_uniform(&seed) / sqrt(s);
        for (int64_t j = 0; j < p; j++) x[j] *= scale;
        const double u = 4.0 * x[0] + 2.0 * x[p - 1] + 0.3 * pvt_normal(&seed);
        const double v = u < -1.999 ? -1.999 : u > 1.999 ? 1.999 : u;
        pvt_set_row(t, i, x,
                    classes == 2 ? (u > 0 ? 1.0 : -1.0)
                    : classes    ? floor((v + 2) / 4 * (double)classes)
                                 : v);
    }
    free(x);
    return t;
}

/* The same rows as CSR storage, zeros included. */
static inline void pvt_table_as_csr(pvt_table *t)
{
    const int64_t n = t->m.domain.n, p = t->m.domain.p;
    t->m.ptr = t->ptr = malloc(sizeof *t->ptr * (size_t)(n + 1));
    t->m.idx = t->idx = malloc(sizeof *t->idx * (size_t)(n * p));
    for (int64_t i = 0; i <= n; i++) t->ptr[i] = i * p;
    for (int64_t k = 0; k < n * p; k++) t->idx[k] = (int32_t)(k % p);
    t->m.val = t->x;
    t->m.x = NULL;
}

/* What the rows of a table mean, as settings: no bias, bounds of rows and labels, classes by name. */
static inline pv_status pvt_describe(pv_plan *p, const pv_domain *d)
{
    char text[256] = "-1,1";
    pv_status s = pv_plan_set(p, "data.key_path", "none");
    if (s == PV_OK) s = pv_plan_set_f64(p, "data.bias", 0.0);
    if (s == PV_OK) s = pv_plan_set_f64(p, "data.row_norm", d->row_norm);
    if (s == PV_OK && d->classes == 0) s = pv_plan_set_f64(p, "data.y_min", d->y_lo);
    if (s == PV_OK && d->classes == 0) s = pv_plan_set_f64(p, "data.y_max", d->y_hi);
    for (int64_t k = 0, at = 0; d->classes > 2 && k < d->classes; k++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s%lld", k ? "," : "", (long long)k);
    if (s == PV_OK && d->classes) s = pv_plan_set(p, "data.labels", text);
    snprintf(text, sizeof text, "%lldx%lldx%lld", (long long)d->height, (long long)d->width, (long long)d->channels);
    return s == PV_OK && d->height ? pv_plan_set(p, "data.image", text) : s;
}

/* pv_plan_run_on with the rows of a dense table, where they are. */
static inline pv_status pvt_run(pv_ctx *c, pv_plan *p, const pvt_table *t, pv_result **out)
{
    const pv_domain *d = &t->m.domain;
    pv_data *rows = NULL;
    *out = NULL;
    pv_status s = pvt_describe(p, d);
    if (s == PV_OK) s = pv_data_dense(c, t->x, PV_FLOAT32, d->n, d->p, d->p, 1, &rows);
    if (s == PV_OK) s = pv_data_labels(rows, t->y, PV_FLOAT32, d->n);
    if (s == PV_OK) s = pv_plan_run_on(p, rows, out);
    pv_data_free(rows);
    return s;
}

static inline void pvt_table_free(pvt_table *t)
{
    free(t->ptr);
    free(t->idx);
    free(t->x);
    free(t->y);
    free(t->norm);
    free(t);
}
#endif
