/* export.h - a trained model for other programs: named tensors, what they mean, and the formats they are written
 * in. */
#ifndef PVI_EXPORT_H
#define PVI_EXPORT_H
#include "data/load.h"
#include "model/net.h"
#include "cert/cert.h"
#include "export/model_file.h"

enum { PVI_TENSOR_DIMS = 4 };
typedef struct pvi_tensor {
    char name[48];
    int dims;
    int64_t shape[PVI_TENSOR_DIMS], size; /* size: their product */
    double *v;                            /* in the arena */
} pvi_tensor;

/* The row as the model sees it: x' = s (x, bias), or s (x - center, bias) where center is subtracted by the graph,
 * with s of data.norm. */
typedef struct pvi_row_rule {
    int64_t columns;      /* of x */
    double center;        /* data.center */
    bool by_graph;        /* an ONNX graph subtracts it; false: whoever makes x does */
    double bias;          /* 0: no constant column */
    double radius;        /* R */
    int64_t norm;         /* 0 clip, 1 unit, 2 max: order of data.norm */
    const char *encoding; /* how a raw row becomes x: table, rows, image or scatter (docs/export.md) */
    const char *what;     /* the same in a sentence */
    pvi_ramps curves;     /* of numbers of a table; columns are then those of the features they make */
    pvi_units_of raw;     /* x has numbers in their own units; features 0: encoded ones */
    pvi_hwc pixels;       /* scatter: the images before the transform; height 0: none */
} pvi_row_rule;

typedef struct pvi_export {
    pv_ctx *ctx;
    pv_arena *arena;
    const pvi_model_file *file;
    const pvi_cert *cert;
    const pvi_net *net; /* NULL: linear, weight [outputs, columns] and bias [outputs] */
    double scale;       /* net: the input is multiplied by it */
    bool split;         /* net: trained block by block */
    double hidden;      /* net: outputs of a relu longer than this are scaled down to it; 0: none are */
    int64_t outputs;    /* columns of the score; 1 for classes: the margin of the second of two */
    pvi_row_rule row;
    pvi_tensor *tensor;
    int64_t tensors;
    int64_t pairs; /* facts for the metadata, key and text */
    const char *key[24], *text[24];
} pvi_export;

/* Tensors and facts from the model; row, net, scale and outputs are set by the caller. */
pv_status pvi_export_fill(pvi_export *e);
const pvi_tensor *pvi_export_find(const pvi_export *e, const char *layer, const char *part);
void pvi_export_name(const pvi_export *e, int64_t layer, char name[32]); /* net: kind and position from 1 */
/* Whole files as bytes. */
void pvi_onnx_write(const pvi_export *e, pvi_str *out);
void pvi_npz_write(const pvi_export *e, pvi_str *out);
void pvi_npy_write(const pvi_export *e, pvi_str *out);
void pvi_safetensors_write(const pvi_export *e, pvi_str *out);
#endif
