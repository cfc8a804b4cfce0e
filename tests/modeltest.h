/* modeltest.h - random rows and plain double references for the model tests. */
#ifndef MODELTEST_H
#define MODELTEST_H
#include "model/model.h"
#include "pvtest.h"

typedef struct mt_rows { /* one set of values, held dense and as CSR; every array owned */
    int64_t n, p, ld;
    float *x, *val, *y, *norm;
    int64_t *ptr, *pick;
    int32_t *idx;
} mt_rows;

static inline float mt_up(double x)
{
    const float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

/* Stored row norms: the smallest float at or above the norm. */
static inline void mt_norms(mt_rows *t)
{
    for (int64_t i = 0; i < t->n; i++) {
        double s = 0;
        for (int64_t j = 0; j < t->p; j++) s += (double)t->x[i * t->ld + j] * (double)t->x[i * t->ld + j];
        t->norm[i] = mt_up(sqrt(s) * (1 + 1e-15));
    }
}

static inline void mt_csr(mt_rows *t)
{
    int64_t k = 0;
    for (int64_t i = 0; i < t->n; i++) {
        t->ptr[i] = k;
        for (int64_t j = 0; j < t->p; j++)
            if (t->x[i * t->ld + j] != 0.0f) {
                t->idx[k] = (int32_t)j;
                t->val[k++] = t->x[i * t->ld + j];
            }
    }
    t->ptr[t->n] = k;
}

/* Rows of norm about r with a share of zeros; labels from 0 .. classes-1, -1/+1 or real. */
static inline mt_rows mt_make(uint64_t seed, int64_t n, int64_t p, double r, int64_t classes)
{
    mt_rows t = { .n = n, .p = p, .ld = p + (int64_t)(pvt_u64(&seed) % 3) };
    t.x = calloc((size_t)(n * t.ld), sizeof *t.x);
    t.val = calloc((size_t)(n * p), sizeof *t.val);
    t.idx = calloc((size_t)(n * p), sizeof *t.idx);
    t.ptr = calloc((size_t)n + 1, sizeof *t.ptr);
    t.y = calloc((size_t)n, sizeof *t.y);
    t.norm = calloc((size_t)n, sizeof *t.norm);
    t.pick = calloc((size_t)n, sizeof *t.pick);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < p; j++)
            t.x[i * t.ld + j] = pvt_uniform(&seed) < 0.3 ? 0.0f : (float)(r * pvt_normal(&seed) / sqrt((double)p));
        for (int64_t j = p; j < t.ld; j++) t.x[i * t.ld + j] = NAN; /* padding must not be read into sums */
        t.y[i] = classes == 2  ? (pvt_u64(&seed) & 1 ? 1.0f : -1.0f)
                 : classes > 2 ? (float)(pvt_u64(&seed) % (uint64_t)classes)
                               : (float)pvt_normal(&seed);
        t.pick[i] = (int64_t)(pvt_u64(&seed) % (uint64_t)n);
    }
    mt_norms(&t);
    mt_csr(&t);
    return t;
}

static inline void mt_free(mt_rows *t)
{
    free(t->x), free(t->val), free(t->idx), free(t->ptr), free(t->y), free(t->norm), free(t->pick);
}

static inline pv_rows mt_view(const mt_rows *t, bool dense, bool pick)
{
    pv_rows v = {
        .n = t->n, .p = t->p, .y = t->y, .norm = t->norm, .bound = INFINITY, .pick = pick ? t->pick : NULL
    };
    if (dense) {
        v.x = t->x;
        v.ld = t->ld;
    } else {
        v.ptr = t->ptr;
        v.idx = t->idx;
        v.val = t->val;
    }
    return v;
}

static inline const float *mt_row(const mt_rows *t, const pv_rows *v, int64_t i)
{
    return t->x + (v->pick ? v->pick[i] : i) * t->ld;
}

static inline double mt_dot(const float *x, const double *w, int64_t p)
{
    double s = 0;
    for (int64_t j = 0; j < p; j++) s += (double)x[j] * (double)(float)w[j];
    return s;
}
#endif
