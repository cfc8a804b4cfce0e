/* load.h - rows from files or memory: settings, schema, matrix, and what a reader fills. */
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
    int64_t outside;        /* enum error|clamp|missing|usual: values outside the schema                       */
    int64_t outside_numbers, outside_categories, outside_text; /* enums auto|...: the same of one kind            */
    int64_t messages;     /* enum full|place: does an error about a value quote it?                           */
    int64_t measured;     /* enum none|classes|bounds: what of the declaration was taken from the rows        */
    int64_t chunk;        /* bytes of text per task; speed only                                               */
    int64_t max_line;     /* bytes that a line of text may have                                               */
    double max_expansion; /* decompressed bytes for each byte of the file                                      */
    const char *image;    /* "HxWxC" or "HxW": the rows are images of that shape; NULL: what the file says   */
    int64_t transform;    /* enum none|scatter: public features of images                                    */
    int64_t scatter_scales, scatter_angles, scatter_groups; /* J, L, G of scatter.c                            */
    const char *person;       /* column of ids: its name, or without a schema its number from 1; NULL: the schema's */
    const char *person_file;  /* ids of the rows, a line each; NULL: none                                      */
    const char *trained_on;   /* eval: the file whose persons the new ones are compared with; NULL: none        */
    int64_t person_rows;      /* K; PV_AUTO_I64: not said                                                       */
    int64_t person_rows_most; /* of K that is not said                                                        */
    double person_rows_share; /* of the budget, for a histogram of rows per person; NAN: by the plan           */
    int64_t persons;          /* n, declared; PV_AUTO_I64: counted                                              */
    const char *curves;       /* "auto", "off", or knots of each number of a table                             */
    double knots_share;       /* of the budget, for histograms of values by which knots stand; NAN: by a rule    */
    const char *key_path;     /* secret that keys the digest; NULL: the user's own, made on first use            */
} pvi_data_cfg;
extern const pv_param pvi_data_params[];
enum { PVI_MEASURED_NOTHING, PVI_MEASURED_CLASSES, PVI_MEASURED_BOUNDS }; /* order of data.measured */

/* What the model needs of the labels: classes (2: -1/+1; k: 0..k-1; 0: real values within y_lo..y_hi;
 * -1: whatever the schema or data.labels declares) and, when scoring, the trained model's columns. */
typedef struct pvi_expect {
    int64_t classes;
    double y_lo, y_hi;
    int64_t features;     /* 0: free; otherwise the columns of the trained model, bias excluded          */
    bool labels_optional; /* predict: a file without labels is fine where the format can tell        */
    bool pixels;          /* the model takes images as bytes                                          */
    bool undigested;      /* predict: nobody asks which rows these were, so no key is read or made     */
    bool persons;         /* training: rows of one person become one unit (persons.c)                  */
    int64_t curves;       /* PVI_CURVES_*: may numbers of a table become curves?                       */
    bool curves_asked;    /* PVI_CURVES_FIT: only where a number of knots is set, not by auto          */
    bool whole;           /* a query will look at all rows at once: none of them may be cells           */
    const char *trained;  /* PVI_CURVES_DECLARED: the schema that has the knots, as the model keeps it; may be NULL */
    double epsilon;       /* PVI_CURVES_FIT: the budget, infinite without one                          */
    bool small_clip;      /* PVI_CURVES_FIT: gradients of real labels will be clipped well below their range */
    bool may_pay;         /* PVI_CURVES_FIT: knots may be paid for where nobody said a share               */
    bool keep_persons;    /* training: ids of the persons are kept while the run lasts, to look for them elsewhere  */
    const uint8_t *owner_key; /* eval: rows stay as they are, with ids under this key of PVI_SHORT_KEY bytes; NULL */
    const struct pvi_piece *piece; /* predict: rows go there, as many at a time as are read; NULL: all at the end */
    struct pvi_problems *problems; /* schema check: nothing but these is looked for, and no row is kept; NULL: no */
    int64_t seed;                  /* then: of the test source of randomness; PV_AUTO_I64: none                 */
} pvi_expect;

/* Numbers stay what they are; those of a trained model that have knots become curves; as data.curves says. */
enum { PVI_CURVES_NONE, PVI_CURVES_DECLARED, PVI_CURVES_FIT };

/* Height, width and channels of an image; zeros: not one. */
typedef struct pvi_shape {
    int64_t height, width, channels;
} pvi_shape;

/* Histograms of values that are to be released before knots stand (knots.c). */
typedef struct pvi_knots_ask {
    double share;    /* of the budget; 0: none */
    int64_t columns; /* histograms */
} pvi_knots_ask;
enum { PVI_KNOT_BINS = 128, PVI_KNOT_COLUMNS = 256 };
struct pvi_late; /* knots.h: rows that wait for their knots */

typedef struct pvi_id { /* keyed hash of whoever owns a row (persons.c (1)) */
    uint64_t hi, lo;
} pvi_id;
_Static_assert(sizeof(pvi_id) == 2 * sizeof(uint64_t), "eval takes ids as pairs");

typedef struct pvi_matrix { /* owned by whoever loaded it: pvi_matrix_free                            */
    pv_ctx *ctx;
    pv_domain domain;
    int64_t ld;
    const float *x; /* dense: rows as they came, pv_rows in plugin.h                              */
    bool borrowed;  /* x is the caller's                                                          */
    int64_t room;   /* floats that x has room for; 0: it is the caller's, or there is none         */
    float *spare;   /* x with room for p floats a row, which a run may overwrite; NULL: it may not  */
    int64_t *ptr;
    int32_t *idx;
    float *val;    /* CSR                                                                   */
    uint8_t *byte; /* pixels, ld of them a row                                                    */
    uint8_t *cell; /* rows of curves: records of `cells` cells, the first `hats` of them curves (cells.c)   */
    int64_t cells, hats;
    struct pvi_late *late; /* x or CSR are rows of one feature a number, their curves to be made; NULL: as a model
                              sees them */
    pvi_knots_ask knots;
    size_t line; /* bytes of a record */
    float level[256];
    float *y, *norm;
    int64_t *start; /* units of several rows: unit i owns rows start[i] .. start[i+1]-1; NULL: a unit is a row */
    pvi_id *owner;  /* of each row, where expect.owner_key asked for it and the rows say it; NULL: not; of each */
    uint8_t owner_key[PVI_SHORT_KEY]; /* person, in their order, under this key, where keep_persons did         */
    int64_t stored;                   /* rows: domain.n of them where start is NULL                               */
    bool cap_open;                    /* nobody said K: domain.unit_rows is the most that it may be               */
    float bias;                       /* of every row; 0: there is no such column                                  */
    const float *A;                   /* of pv_rows; NULL in what was loaded                                       */
    bool unit;                        /* data.norm=unit                                                            */
    pvi_shape pixels; /* of the images in the file, before data.transform                            */
    bool has_labels;
    bool features_measured; /* p came from the file                                                 */
    char digest[65];        /* keyed, hexadecimal; never published: pvi_salted_digest                */
    char *schema_json;      /* canonical text of the schema in force, for the model file; may be NULL */
    char **class_names;     /* domain.classes names, NULL for real labels                            */
    void *block;            /* storage behind the arrays                                             */
} pvi_matrix;

/* Rows handed over as they are read, so that they take no more memory than a round of text.  header: of each table
 * that has one, before its rows.  take: the matrix is the callee's to read; `text` has its records, as written. */
typedef struct pvi_dialect {
    char separator;
    bool trailing; /* one may end a record */
} pvi_dialect;
typedef struct pvi_piece {
    pv_status (*header)(void *user, const char *text, size_t len, const pvi_dialect *d);
    pv_status (*take)(void *user, pvi_matrix *m, const char *text, size_t len);
    void *user;
} pvi_piece;
struct pvi_span; /* dictionary.h */
/* Records of such text (csv_copy.c): the one at p, the first `room` of its n fields, and all of it without its line
 * end; returns what is behind it, NULL: there is none. */
const char *pvi_csv_next(const char *p, const char *end, const pvi_dialect *d, struct pvi_span *field, int64_t room,
                         int64_t *n, struct pvi_span *record);
bool pvi_csv_named(const struct pvi_span *f, const char *name,
                   size_t len); /* is that the field, without its quotes? */
/* The rows of `from`; NULL: of the files that data.path names. */
pv_status pvi_data_load(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *expect, pv_data *from,
                        pvi_matrix **out);
void pvi_matrix_free(pvi_matrix *m);
void pvi_matrix_offer(pvi_matrix *m); /* nobody needs the rows after the run: sets spare where there is room */
void pvi_salted_digest(const char *salt, const char *digest, char out[65]); /* digest.c (4) */
/* The shape data.image declares, zeros without it. */
pv_status pvi_image_parse(pv_ctx *ctx, const char *text, pvi_shape *out);
/* Images of what shape does data.transform make of these?  Reads no row. */
pv_status pvi_scatter_shape(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_shape in, pvi_shape *out);
/* Will p columns be stored as CSR?  A function of settings, the public p and the format of the file alone, which
 * its first bytes tell; where there is no file yet, lines of text are assumed. */
pv_status pvi_data_is_sparse(pv_ctx *ctx, const pvi_data_cfg *cfg, int64_t p, bool *sparse);
enum { PVI_NORM_CLIP, PVI_NORM_UNIT, PVI_NORM_MAX };                          /* order of data.norm */
pv_rows pvi_matrix_rows(const pvi_matrix *m, int64_t first, int64_t count);   /* units */
pv_rows pvi_matrix_stored(const pvi_matrix *m, int64_t first, int64_t count); /* rows, whoever owns them */
/* Rows of cells become dense ones before a model sees them, in room for at least as many units; elsewhere nothing
 * happens, and the room has no bytes. */
size_t pvi_matrix_room(const pvi_matrix *m, int64_t units);
void pvi_matrix_show(const pvi_matrix *m, pv_rows *view, void *room);
double pvi_cells_feature(const pvi_matrix *m, int64_t r, int64_t j); /* where m->cell is set */
/* Is there something that says who owns a row?  By settings and schema alone. */
pv_status pvi_data_by_person(pv_ctx *ctx, const pvi_data_cfg *cfg, bool *by_person, int64_t *rows);
/* In order, each once; how many.  How many of a, in order, are in b, likewise. */
int64_t pvi_ids_sort(pvi_id *id, int64_t n);
int64_t pvi_ids_common(const pvi_id *a, int64_t n, const pvi_id *b, int64_t m);
pv_status pvi_data_ownerless(pv_ctx *ctx, const pvi_data_cfg *cfg); /* refuses settings of persons */
/* What a declared schema says without reading any row: features (bias excluded) and label kind. */
/* The same declaration for rows from elsewhere: neither their number nor files beside the first rows, with labels or
 * ids, belong to these. */
void pvi_data_elsewhere(pvi_data_cfg *cfg, const char *path);
/* Knots by a release (knots.c): the bin of value x in histogram `column`, -1: none; where rows have that value; then
 * its counts, columns times PVI_KNOT_BINS of them, and the rows as a model sees them. */
int64_t pvi_late_bin(const struct pvi_late *l, int64_t column, float x);
int32_t pvi_late_feature(const struct pvi_late *l, int64_t column);
bool pvi_late_sparse(const struct pvi_late *l); /* will they be CSR? */
pv_status pvi_late_encode(pvi_matrix *m, const int64_t *count, double stddev);
pv_status pvi_curves_features(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *e, double n, int64_t *features,
                              pvi_knots_ask *knots);
/* Feature j of rows with curves is min(a, b, 1), at least 0, with a = (x[from] - at[0]) slope[0] and b the same of
 * the second, x the row of one feature a number in which a missing one is -1: for programs that have no knots. */
typedef struct pvi_ramp {
    int64_t from;
    double at[2], slope[2];
} pvi_ramp;
/* `schema` has knots; features: of x, wide: ramps.  ramp NULL: there are no curves. */
typedef struct pvi_ramps {
    const pvi_ramp *ramp;
    int64_t features, wide;
    double factor; /* by which the row is multiplied, bias included */
} pvi_ramps;
pv_status pvi_curves_ramps(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, pvi_ramps *out);
/* A category of a trained model's table: its features and their names.  PV_E_PARAM: no such column, or not one. */
typedef struct pvi_category {
    int64_t first, values;
    const char **name;
} pvi_category;
pv_status pvi_category_find(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, const char *column,
                            pvi_category *out);
/* How numbers of a table in their own units become what a model reads, one feature a number or value of a category:
 * absent where there is none, else (v - from) slope, at least 0 and at most 1, minus center. */
typedef struct pvi_units_of {
    int64_t features; /* 0: there is no schema */
    double *from, *slope, *center, *absent;
} pvi_units_of;
pv_status pvi_raw_features(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, pvi_units_of *out);
/* The columns that features come from, and which (columns.c): a curve has one for each knot, a line one, a category
 * one for each value. */
typedef enum pvi_origin_kind { PVI_ORIGIN_CURVE, PVI_ORIGIN_LINE, PVI_ORIGIN_CATEGORY } pvi_origin_kind;
typedef struct pvi_origin {
    const char *name;
    pvi_origin_kind kind;
    int64_t first, features; /* among those of a row; of what is missing not counted                         */
    bool date;               /* numbers: days since 1970-01-01                                               */
    double lo, hi;           /* numbers: declared bounds                                                     */
    int64_t points;          /* knots, both bounds of a line, or values                                      */
    const double *at;        /* where they are; NULL: a category                                             */
    const char **value;      /* their names; NULL: a number                                                  */
    bool absent;             /* a curve: feature first + features is 1 where there is no value               */
    int monotone;            /* 1: may not fall, -1: may not rise, 0: any                                    */
    double absent_line;      /* a line: its feature where there is none                                      */
} pvi_origin;
typedef struct pvi_origins {
    pvi_origin *place;
    int64_t n, features;
    double factor; /* by which every row is multiplied, bias included */
} pvi_origins;
/* `schema` as a model file has it.  n = 0: it has no curves, so rows have no common factor. */
pv_status pvi_curves_origins(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, pvi_origins *out);
/* How many features rows of such a schema have. */
pv_status pvi_trained_features(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, int64_t *out);
float pvi_curves_norm(const pvi_data_cfg *cfg, double columns); /* of every row of so many columns: curves.c (3) */
pv_status pvi_schema_shape(pv_ctx *ctx, const pvi_data_cfg *cfg, int64_t *features, pvi_expect *labels);
#endif
