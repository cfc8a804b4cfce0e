/* data.h - the handle behind pv_data: a source of rows, and labels that come apart.
 *
 * A source is like a reader of a file format (reader.h) without bytes: `read` fills job->label, labelled and counted,
 * calls pvi_build_begin and hands segments over.  Files are the source whose `read` is NULL. */
#ifndef PVI_DATA_H
#define PVI_DATA_H
#include "encode.h"

typedef struct pvi_data_ops {
    const char *name; /* what messages call the rows; NULL: they have a path                           */
    pv_status (*read)(struct pv_load *job);
    void (*close)(pv_data *d); /* gives back what `of` owns; may be NULL                               */
} pvi_data_ops;

typedef struct pvi_data_files {
    const char **path; /* owned, and the texts in it */
    int64_t n;
} pvi_data_files;

typedef struct pvi_data_dense {
    const void *x;
    pv_type type;
    int64_t columns, row_stride, column_stride; /* strides in values */
} pvi_data_dense;

typedef struct pvi_data_csr {
    const void *ptr, *idx, *val;
    pv_type ptr_type, idx_type, val_type;
    int64_t columns;
} pvi_data_csr;

typedef struct pvi_data_batches {
    pv_batch_fn next;
    void *user;
    int64_t columns;
    pv_type type, y_type;
} pvi_data_batches;

struct pv_data {
    PVI_HANDLE;
    const pvi_data_ops *ops;
    int64_t rows; /* -1: not known before they are read                      */
    bool used;    /* has been read, which was possible once                  */
    const void *y;
    pv_type y_type;
    const char *const *words; /* instead of y, or those whose places y has                */
    int64_t n_words;          /* in the latter case                                       */
    int64_t labels;           /* of y or words; 0: no labels that come apart             */
    const void *person;       /* ids of the rows, or as words; neither: a column says it, or nothing */
    pv_type person_type;
    const char *const *person_words;
    int64_t persons; /* how many ids; 0: none                                   */
    union {
        pvi_data_files files;
        pvi_data_dense dense;
        pvi_data_csr csr;
        struct ArrowArrayStream arrow;
        pvi_data_batches batches;
    } of;
};

pv_status pvi_data_create(pv_ctx *ctx, const pvi_data_ops *ops, int64_t rows, pv_data **out);
pv_status pvi_data_begin(pv_ctx *ctx,
                         pv_data *d); /* called by sources that can be read once: refuses a second time */

/* ---- values in memory ------------------------------------------------- */
int64_t pvi_type_size(pv_type t); /* bytes; 0: no type */
bool pvi_type_is_float(pv_type t);
/* Value i behind x.  Integers above 2^53 are rounded, as reading their decimal text would. */
double pvi_type_value(pv_type t, const void *x, int64_t i);
/* How it is written: integers in decimal, floats as the shortest text that reads back as the same float.  Returns its
 * length; 16 bytes behind the text are readable. */
enum { PVI_TYPE_TEXT = 64 };
size_t pvi_type_text(pv_type t, const void *x, int64_t i, char out[PVI_TYPE_TEXT]);

/* Labels that are numbers, with those seen last: what a number means does not change. */
enum { PVI_LABELS_SEEN = 64 };
typedef struct pvi_labels_seen { /* zero-initialise */
    uint64_t bits[PVI_LABELS_SEEN];
    float y[PVI_LABELS_SEEN];
    bool there[PVI_LABELS_SEEN];
} pvi_labels_seen;
bool pvi_label_of(const pvi_label_rule *r, pvi_labels_seen *seen, pv_type t, const void *x, int64_t i, float *y,
                  char *why, size_t why_size);

pv_status pvi_dense_check(pv_ctx *ctx, const char *name, const pvi_data_dense *d, int64_t rows);

/* ---- rounds of blocks (memory_rounds.c) -------------------------------------------------
 * Rows first .. first + rows of a piece of memory into segments, on all threads, appended in order. */
typedef struct pvi_block {
    int64_t first, rows;
    int64_t bad, column; /* row of the piece that is refused, -1: none; its column, -1: the label             */
    char why[256];
    pvi_segment seg;
    pvi_labels_seen *seen;
} pvi_block;
typedef struct pvi_rounds {
    struct pv_load *job;
    void *arg;
    /* Any thread, no allocation, no pvi_fail: fills b->seg, or sets bad, column and why for the first row refused. */
    void (*fill)(void *arg, pvi_block *b);
    pv_status (*refuse)(void *arg, const pvi_block *b);     /* the message about a block that is bad          */
    int64_t (*cut)(void *arg, int64_t first, int64_t most); /* rows of the block at `first`; NULL: most    */
    pvi_block *block;                                       /* owned                                          */
    int64_t blocks, block_rows;
} pvi_rounds;
/* Blocks that stay small, of rows with at most `entries` values; blocks of so many rows and entries. */
pv_status pvi_rounds_open(pvi_rounds *r, int64_t entries);
pv_status pvi_rounds_room(pvi_rounds *r, int64_t rows, int64_t entries);
pv_status pvi_rounds_run(pvi_rounds *r, int64_t rows, double before, double after); /* fractions of the whole */
void pvi_rounds_close(pvi_rounds *r);
void pvi_block_fail(pvi_block *b, int64_t row, int64_t column, const char *fmt, ...) PVI_PRINTF(4, 5);
#endif
