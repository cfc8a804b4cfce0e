/* model_file.h - the model file: weights, settings and certificate in one file (model_file.c). */
#ifndef PVI_MODEL_FILE_H
#define PVI_MODEL_FILE_H
#include "core/core.h"

/* Magic, version, lengths, JSON header, certificate, little-endian doubles, checksum. */
typedef struct pvi_model_file {
    const char *model;              /* loss or model name */
    const char *settings;           /* JSON object of every setting */
    const char *certificate;        /* canonical JSON */
    const char *schema;             /* canonical JSON of the data schema, NULL: none */
    const char *const *class_names; /* domain.classes of them; NULL: none */
    pv_domain domain;
    double noise; /* no weight has privacy noise of a larger standard deviation (run/band.c); 0: not known */
    const double *w;
    int64_t d;
    bool is_private; /* set by reading: what the certificate says */
} pvi_model_file;
/* BLAKE2b of the header and of the weights as they are stored, hexadecimal: what a certificate binds.  is_private and
 * everything but the certificate must be set. */
pv_status pvi_model_digests(pv_ctx *ctx, const pvi_model_file *m, char header[65], char weights[65]);
void pvi_weights_digest(const double *w, int64_t d, char hex[65]);
pv_status pvi_model_write(pv_ctx *ctx, const char *path, const pvi_model_file *m);
pv_status pvi_model_read(pv_ctx *ctx, pv_arena *a, const char *path, pvi_model_file *out);
/* The bytes of such a file, and back; `name` starts messages. */
pv_status pvi_model_to_bytes(pv_ctx *ctx, const pvi_model_file *m, pvi_str *out);
pv_status pvi_model_of_bytes(pv_ctx *ctx, pv_arena *a, const char *name, const void *bytes, size_t size,
                             pvi_model_file *out);
/* The same model with everything in this arena. */
pv_status pvi_model_copy(pv_ctx *ctx, pv_arena *a, const pvi_model_file *from, pvi_model_file *out);
#endif
