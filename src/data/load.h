/* load.h - rows from files: settings, schema, matrix, and what a reader fills. */
#ifndef PVI_LOAD_H
#define PVI_LOAD_H
#include "core/core.h"

/* The data.* settings; rows in pvi_data_params. */
typedef struct pvi_data_cfg {
    const char *path;       /* plain, .gz or .bz2, told by content                                          */
    const char *schema;     /* JSON file, or the JSON itself (starts with '{', as a model file keeps it)    */
    const char *format;     /* reader name or "auto"                                                        */
    const char *labels;     /* "a,b,..." in order; "a|A,b" gives two spellings of the first                 */
    double y_min, y_max;    /* bounds of a real label without a schema; NAN: none                           */
    int64_t rows, features; /* PV_AUTO_I64: taken from the file (then treated as public, and said so)       */
    double row_norm;        /* R                                                                             */
    int64_t norm;           /* enum clip|unit|max: scale down rows above R; every row to R; R bounds max|x_ij| */
    double center;          /* public constant subtracted from every value before scaling (dense readers)    */
    double bias;            /* value of the constant column appended before the row is normed; 0: none        */
    int64_t layout;         /* enum auto|dense|sparse; auto decides by the declared number of features only    */
    int64_t outside;        /* enum error|clamp|missing: values outside the schema                             */
    int64_t messages;       /* enum full|place: does an error about a value quote it?                           */
    int64_t chunk;          /* bytes of text per task; speed only                                               */
    int64_t max_line;       /* bytes that a line of text may have                                               */
    double max_expansion;   /* decompressed bytes for each byte of the file                                      */
    const char *image;      /* "HxWxC" or "HxW": the rows are images of that shape; NULL: what the file says   */
    int64_t transform;      /* enum none|scatter: public features of images                                    */
    int64_t scatter_scales, scatter_angles, scatter_groups; /* J, L, G of scatter.c                            */
    const char *key_path; /* secret that keys the digest; NULL: the user's own, made on first use            */
} pvi_data_cfg;
extern const pv_param pvi_data_params[];

/* What the model needs of the labels: classes (2: -1/+1; k: 0..k-1; 0: real values within y_lo..y_hi;
 * -1: whatever the schema or data.labels declares) and, when scoring, the trained model's columns. */
typedef struct pvi_expect {
    int64_t classes;
    double y_lo, y_hi;
    int64_t features;     /* 0: free; otherwise the columns of the trained model, bias excluded          */
    bool labels_optional; /* predict: a file without labels is fine where the format can tell        */
    bool pixels;          /* the model takes images as bytes                                          */
} pvi_expect;

/* Height, width and channels of an image; zeros: not one. */
typedef struct pvi_shape {
    int64_t height, width, channels;
} pvi_shape;

typedef struct pvi_matrix { /* owned by whoever loaded it: pvi_matrix_free                            */
    pv_ctx *ctx;
    pv_domain domain;
    int64_t ld;
    float *x; /* dense: rows as they came, pv_rows in plugin.h       */
    int64_t *ptr;
    int32_t *idx;
    float *val;    /* CSR                                                                   */
    uint8_t *byte; /* pixels, ld of them a row                                                    */
    float level[256];
    float *y, *norm;
    float bias;       /* of every row; 0: there is no such column                                  */
    bool unit;        /* data.norm=unit                                                            */
    pvi_shape pixels; /* of the images in the file, before data.transform                            */
    bool has_labels;
    bool features_measured; /* p came from the file                                                 */
    char digest[65];        /* keyed, hexadecimal; never published: pvi_salted_digest                */
    char *schema_json;      /* canonical text of the schema in force, for the model file; may be NULL */
    char **class_names;     /* domain.classes names, NULL for real labels                            */
    void *block;            /* storage behind the arrays                                             */
} pvi_matrix;

pv_status pvi_data_load(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *expect, pvi_matrix **out);
void pvi_matrix_free(pvi_matrix *m);
void pvi_salted_digest(const char *salt, const char *digest, char out[65]); /* digest.c (4) */
/* The shape data.image declares, zeros without it. */
pv_status pvi_image_parse(pv_ctx *ctx, const char *text, pvi_shape *out);
/* Images of what shape does data.transform make of these?  Reads no row. */
pv_status pvi_scatter_shape(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_shape in, pvi_shape *out);
/* Will p columns be stored as CSR?  A function of settings and the public p only. */
bool pvi_data_is_sparse(const pvi_data_cfg *cfg, int64_t p);
enum { PVI_NORM_CLIP, PVI_NORM_UNIT, PVI_NORM_MAX }; /* order of data.norm */
pv_rows pvi_matrix_rows(const pvi_matrix *m, int64_t first, int64_t count);
/* What a declared schema says without reading any row: features (bias excluded) and label kind. */
pv_status pvi_schema_shape(pv_ctx *ctx, const pvi_data_cfg *cfg, int64_t *features, pvi_expect *labels);
#endif
