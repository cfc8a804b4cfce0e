/* encode.h - what one value becomes, for tables of text and of memory alike: numbers, categories, missing values. */
#ifndef PVI_ENCODE_H
#define PVI_ENCODE_H
#include "reader.h"

enum { PVI_TEXT_ROOM = 1100 }; /* the longest text a declared word can have, and padding */

typedef struct pvi_encoder {
    const pvi_schema *sc;
    pvi_outside outside;
    char *why;         /* what is wrong with a value, room of 256 */
    pvi_trouble *what; /* and its kind */
    bool plain;        /* numbers are written with a point, whatever the table declares */
} pvi_encoder;

typedef enum pvi_outcome {
    PVI_REFUSED, /* why says so                                                                      */
    PVI_UNFIT,   /* the same, and perhaps because the columns are not those that were meant          */
    PVI_ABSENT,  /* missing, which the column allows                                                 */
    PVI_TAKEN
} pvi_outcome;

/* The number v as it is stored; `center` is data.center. */
static inline double pvi_encode_feature(const pvi_column *col, double v, double center)
{
    return (v - col->from) / col->range - center;
}
/* What a missing number is stored as; false: as nothing. */
static inline bool pvi_encode_absent(const pvi_column *col, double *v)
{
    *v = col->curved ? col->from - col->range : col->lo + 0.5 * col->range;
    return col->curved || col->missing == PVI_MISSING_MIDDLE;
}

/* Each is given the value's text, which has 16 readable bytes behind its start. */
pvi_outcome pvi_encode_missing(const pvi_encoder *e, const pvi_column *col, const pvi_span *f);
pvi_outcome pvi_encode_text(const pvi_encoder *e, const pvi_column *col, const pvi_span *f, double *v); /* a number */
/* The number x, not finite: missing if NaN. */
pvi_outcome pvi_encode_number(const pvi_encoder *e, const pvi_column *col, double x, const pvi_span *f, double *v);
/* A category; `number`: the text is of a number, so what is equal to it matches too. */
pvi_outcome pvi_encode_word(const pvi_encoder *e, const pvi_column *col, const pvi_span *f, bool number,
                            int32_t *code);

/* ---- dates (date.c) -------------------------------------------------------------------------------------------- */
/* 2024-01-31, 2024-01-31 12:34:56.789, with T, Z or an offset: days since 1970-01-01, UTC.  false: none of these. */
bool pvi_date_parse(const char *s, size_t len, double *days);
double pvi_date_number(int64_t count, int64_t per_day); /* of `count` units since then, so many a day          */
void pvi_date_text(int64_t days, char out[32]);         /* 2024-01-31                                          */
void pvi_time_text(int64_t count, int64_t per_day, bool utc, char out[64]); /* 2024-01-31 12:34:56.789[Z]       */
#endif
