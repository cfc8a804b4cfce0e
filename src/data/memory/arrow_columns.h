/* arrow_columns.h - columns of the Arrow C data interface as cells (arrow_columns.c). */
#ifndef PVI_ARROW_COLUMNS_H
#define PVI_ARROW_COLUMNS_H
#include "memory_table.h"

typedef struct pvi_arrow_type {
    int kind; /* PVI_CELL_*, or a pv_type */
    int64_t per_day;
    bool utc;
    int scale;
    bool dictionary; /* the kind is that of the indices */
} pvi_arrow_type;

/* What a format text says; NULL: understood, else what it is, for a message. */
const char *pvi_arrow_format(const char *format, pvi_arrow_type *out);
/* Cells skip .. skip + n of an array; NULL: bound, else what is wrong with the array. */
const char *pvi_arrow_bind(const pvi_arrow_type *t, const struct ArrowArray *a, int64_t skip, int64_t n,
                           pvi_cells *out);
/* Null rows of a struct array, and whether its sizes can be. */
const char *pvi_arrow_bind_struct(const struct ArrowArray *a, int64_t children, pvi_bitmap *above);
#endif
