/* memory_table.h - columns in memory as a table: what a source says of them, and the rows they become. */
#ifndef PVI_MEMORY_TABLE_H
#define PVI_MEMORY_TABLE_H
#include "data/data.h"

/* Kinds of cells: the types of pv_type, and from here on those of Arrow. */
enum {
    PVI_CELL_NONE = 0,  /* the column is not there                                              */
    PVI_CELL_HALF = 32, /* 16-bit floats                                                        */
    PVI_CELL_BIT,       /* truth values, a bit each                                             */
    PVI_CELL_TEXT,      /* 32-bit offsets                                                       */
    PVI_CELL_LONG_TEXT, /* 64-bit offsets                                                       */
    PVI_CELL_VIEW,      /* views of 16 bytes: length, and the text or where it is               */
    PVI_CELL_DAY,       /* 32-bit days since 1970-01-01                                         */
    PVI_CELL_DATE,      /* 64-bit count since then, per_day of them a day, written as a date    */
    PVI_CELL_TIME,      /* the same, written as a time                                          */
    PVI_CELL_DECIMAL,   /* 128-bit integers over 10^scale                                       */
    PVI_CELL_NULL       /* nothing at all                                                       */
};

typedef struct pvi_bitmap { /* bit i of the rows; at NULL: all are set */
    const uint8_t *at;
    int64_t first;
} pvi_bitmap;

typedef struct pvi_cells { /* a column of a piece: `count` cells */
    int kind;
    const void *at;               /* cell 0 */
    int64_t first, stride, count; /* bits and views: cell 0 is number `first`; stride in values */
    const char *bytes;            /* text */
    int64_t end;                  /* bytes of it */
    const void *const *view;      /* texts that views point into, and their sizes */
    const int64_t *view_size;
    int64_t views;
    int64_t per_day;
    bool utc;
    int scale;
    pvi_bitmap valid, above;       /* null cells; null rows */
    const struct pvi_cells *words; /* the kind is that of the indices, these are the values */
    /* What each of the words becomes, filled by pvi_table_run; NULL: looked up one by one. */
    float *word_val;
    int32_t *word_code;
} pvi_cells;

static inline bool pvi_bit(const pvi_bitmap *b, int64_t i)
{
    const int64_t k = b->first + i;
    return !b->at || (b->at[k >> 3] >> (k & 7) & 1);
}
static inline bool pvi_cell_there(const pvi_cells *c, int64_t i)
{
    return c->kind != PVI_CELL_NULL && pvi_bit(&c->valid, i) && pvi_bit(&c->above, i);
}
/* Which of the n <= 64 cells from i on are null? */
uint64_t pvi_cells_null(const pvi_cells *c, int64_t i, int64_t n);
bool pvi_cell_is_text(const pvi_cells *c);   /* of the words if it has some: text, with no number behind it */
bool pvi_cell_is_number(const pvi_cells *c); /* a number, with no other text than its own                 */
double pvi_cell_number(const pvi_cells *c, int64_t i);
void pvi_cells_numbers(const pvi_cells *c, int64_t i, int64_t n, double *out); /* of cells that are numbers or days */
/* The cell's text, in room; s NULL: it cannot be read, and why says so. */
pvi_span pvi_cell_text(const pvi_cells *c, int64_t i, char room[PVI_TEXT_ROOM], const char **why);

/* What n numbers of a column become; false: some are outside of its bounds or NaN (numbers.kernel.c). */
typedef bool pvi_numbers_fn(const pvi_column *col, double center, const double *v, int64_t n, float *x);
extern pvi_numbers_fn *const pvi_numbers_isa[PVI_ISA_COUNT];

typedef struct pvi_table {
    struct pv_load *job;
    const pvi_schema *sc;
    pvi_cells *cells; /* one for each column of sc                                                 */
    pvi_cells beside; /* labels that are no column; kind 0: none                                   */
    int64_t row0;     /* rows before this piece                                                    */
    pvi_rounds rounds;
    pvi_numbers_fn *numbers;
    int64_t slots; /* columns that give features                                                   */
    bool whole;    /* their values are the rows: all are numbers, and the builder takes rows       */
} pvi_table;
/* Calls pvi_build_begin. */
pv_status pvi_table_open(pvi_table *t, struct pv_load *job, const pvi_schema *sc, pvi_cells *cells);
pv_status pvi_table_run(pvi_table *t, int64_t rows, double before, double after);
void pvi_table_close(pvi_table *t);
/* ---- matrices (memory_dense.c) --------------------------------------------------------------------------------- */
typedef struct pvi_dense { /* without a schema */
    struct pv_load *job;
    pvi_data_dense d;
    const void *y; /* labels of the piece; NULL: none */
    pv_type y_type;
    bool borrow; /* rows are read where they are */
    bool rows;   /* the builder takes them whole */
    pvi_rounds rounds;
} pvi_dense;
/* Calls pvi_build_begin; then pieces, by d and y as they are set. */
pv_status pvi_dense_open(pvi_dense *s, struct pv_load *job, const pvi_data_dense *d, int64_t rows);
pv_status pvi_dense_run(pvi_dense *s, int64_t rows, double before, double after);
void pvi_dense_close(pvi_dense *s);
/* A matrix as a table with a schema; sets job->labelled. */
pv_status pvi_dense_cells(struct pv_load *job, const pvi_data_dense *d, pvi_cells *cells);
#endif
