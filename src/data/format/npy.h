/* npy.h - the header of an NPY file (npy.c), for the reader of rows and its labels. */
#ifndef PVI_NPY_H
#define PVI_NPY_H
#include "data/reader.h"

enum { PVI_NPY_DIMS = 4 };
typedef struct pvi_npy {
    char kind; /* 'f', 'u', 'i' or 'b' */
    int size;  /* bytes of a value */
    int dims;
    int64_t shape[PVI_NPY_DIMS];
} pvi_npy;
/* Reads the header; the source then stands at the first value. */
pv_status pvi_npy_header(pv_ctx *ctx, pvi_source *src, pvi_npy *out);
double pvi_npy_value(const pvi_npy *h, const uint8_t *at);
#endif
