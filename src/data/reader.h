/* reader.h - what a reader plug-in works with: bytes in, rows out.
 *
 *   source.c       bytes of a file, decompressed                         pvi_source
 *   text_chunks.c  rounds of chunks cut at line ends, parsed in parallel  pvi_text_run
 *   dictionary.c   declared words (labels, categories) to codes           pvi_dictionary
 *   schema.c       the declared columns of a table                        pvi_schema
 *   matrix.c       rows appended in file order                            pvi_build_*
 *   row_norm.c     a bound on the norm of a row                           pvi_row_bound */
#ifndef PVI_READER_H
#define PVI_READER_H
#include "core/isa.h"
#include "load.h"
#include "dictionary.h"

/* ---- bytes (source.c) ------------------------------------------------------------------------
 * Plain, gzip or bzip2, told apart by the first bytes.  A fill asks for the next `want` bytes as
 * pvi_source_slices() tasks that may run on any thread (decompression is one task); then
 * pvi_source_filled() on the caller's thread says how many came, or what went wrong. */
typedef struct pvi_source pvi_source;
/* expansion: decompressed bytes allowed for each byte of the file. */
pv_status pvi_source_open(pv_ctx *ctx, const char *path, double expansion, pvi_source **out);
void pvi_source_close(pvi_source *s);
const char *pvi_source_path(const pvi_source *s);
const uint8_t *pvi_source_peek(const pvi_source *s, size_t *n); /* the first 4096 bytes, before any fill */
int64_t pvi_source_slices(const pvi_source *s, size_t want);
void pvi_source_slice(pvi_source *s, char *buf, size_t want, int64_t k);
pv_status pvi_source_filled(pvi_source *s, size_t want, size_t *got, bool *end);
/* Bytes that can still come, at most: those of the file, or what max_expansion lets a compressed one become. */
double pvi_source_most(const pvi_source *s);
bool pvi_source_plain(const pvi_source *s);
bool pvi_source_damaged(const pvi_source *s);    /* what came out of a compressed file may be anything */
double pvi_source_fraction(const pvi_source *s); /* of the file read so far, 0..1                    */

/* Refuses what is known to be something else by its first bytes, with how it becomes a table (kinds.c). */
pv_status pvi_kind_check(pv_ctx *ctx, const char *name, const uint8_t *s, size_t n);

typedef struct pvi_schema pvi_schema;
/* A number as the table writes it (spelling.c): with its decimal mark and thousands. */
bool pvi_spelt_number(const pvi_schema *sc, const char *s, size_t len, double *out);

/* ---- labels (label.c) ---------------------------------------------------------------------------- */
typedef struct pvi_label_rule {
    int64_t classes;           /* 2: -1/+1; k: 0..k-1; 0: real                                                   */
    double lo, hi;             /* real                                                                            */
    bool clamp;                /* real, outside lo..hi: clamp, else error                                         */
    bool by_default;           /* -1, 0 and +1, because nothing was declared                                      */
    const char *column;        /* of a table; NULL: it has no name                                              */
    const pvi_schema *written; /* how it writes numbers; NULL: as everywhere                        */
    pvi_dictionary words;      /* classes                                                                         */
} pvi_label_rule;
/* From data.labels and what the model expects, for formats without a schema. */
pv_status pvi_label_declare(struct pv_load *job, pvi_label_rule *out);
/* y of one label; false: not in the declared set, `why` says so.  16 bytes behind s are readable. */
bool pvi_label_value(const pvi_label_rule *r, const char *s, size_t len, float *y, char *why, size_t why_size);
enum { PVI_MEMO = 4 };
typedef struct pvi_label_memo { /* the last few short labels; zero-initialise, one per chunk                 */
    uint64_t key[PVI_MEMO];
    float y[PVI_MEMO];
    int next;
} pvi_label_memo;
static inline uint64_t pvi_label_key(const char *s, size_t len) /* len <= 7 */
{
    return (pvi_load8(s) & (((uint64_t)1 << (8 * len)) - 1)) | (uint64_t)(len + 1) << 56;
}
bool pvi_label_learn(const pvi_label_rule *r, pvi_label_memo *m, const char *s, size_t len, float *y, char *why,
                     size_t why_size);
static inline bool pvi_label_recall(const pvi_label_rule *r, pvi_label_memo *m, const char *s, size_t len, float *y,
                                    char *why, size_t why_size)
{
    const uint64_t key = len <= 7 ? pvi_label_key(s, len) : 0;
    for (int i = 0; i < PVI_MEMO && key; i++)
        if (m->key[i] == key) return *y = m->y[i], true;
    return pvi_label_learn(r, m, s, len, y, why, why_size);
}
pv_status pvi_label_check(struct pv_load *job, const pvi_label_rule *r); /* declared against expected    */
float pvi_label_class(const pvi_label_rule *r, int32_t code);            /* y of a class                 */
/* The same for a number x, which text spells. */
bool pvi_label_number(const pvi_label_rule *r, double x, const char *text, size_t len, float *y, char *why,
                      size_t why_size);
/* The label of a table to job->label: by the schema, or by the settings without one; checked. */
pv_status pvi_label_table(struct pv_load *job);
/* Labels that come apart (data.c) to job->apart, by job->label. */
pv_status pvi_labels_apart(struct pv_load *job);

/* ---- schema (schema.c) ----------------------------------------------------------------------------- */
enum { PVI_TELL_FULL, PVI_TELL_PLACE }; /* order of data.messages */
/* Order of data.outside, where OTHER is the usual wish: numbers clamp. */
enum { PVI_OUTSIDE_ERROR, PVI_OUTSIDE_CLAMP, PVI_OUTSIDE_MISSING, PVI_OUTSIDE_OTHER };
typedef struct pvi_outside { /* what the settings say, PVI_OUTSIDE_* */
    int64_t numbers, categories, text;
} pvi_outside;
pvi_outside pvi_outside_of(const pvi_data_cfg *cfg);           /* load.c */
enum { PVI_LAYOUT_AUTO, PVI_LAYOUT_DENSE, PVI_LAYOUT_SPARSE }; /* order of data.layout             */
enum { PVI_DENSE_FEATURES = 1024 }; /* more are sparse, unless a reader, an image or data.layout says dense */
typedef enum pvi_coltype {
    PVI_COL_NUMBER,
    PVI_COL_CATEGORY,
    PVI_COL_LABEL,
    PVI_COL_IGNORE,
    PVI_COL_PERSON
} pvi_coltype;
typedef enum pvi_missing { PVI_MISSING_ERROR, PVI_MISSING_ZERO, PVI_MISSING_MIDDLE } pvi_missing;
typedef struct pvi_column {
    const char *name;
    const char *source; /* who or what declared it; NULL: not said                                          */
    pvi_coltype type;
    double lo, hi;        /* number, real label                                                            */
    double from, range;   /* number: stored as (v - from) / range                                           */
    bool date;            /* number: bounds were declared as dates, values are days since 1970-01-01         */
    bool unread;          /* ignored, and of type text                                                      */
    bool raw;             /* number taken as it is, lo and hi are those of floats: no schema                */
    pvi_dictionary words; /* category, class label                                                         */
    int32_t first;        /* feature of the number, or of the first category                               */
    pvi_missing missing;
    int64_t outside; /* PVI_OUTSIDE_*; -1: as the settings say                                        */
    int64_t text;    /* numbers: ERROR or MISSING for what is none; -1: as the settings say          */
    int32_t other;   /* category: code of the value "other", -1: it has none                         */
    bool straight;   /* "curve": false                                                                */
    bool curved;     /* becomes hat functions (curves.c); a missing value is then stored below -1/2   */
    int monotone;    /* 1: a curve that never falls, -1: never rises, 0: either                        */
    int64_t scale;   /* PVI_SCALE_*: where knots stand                                                */
    int64_t knots;   /* 0: not declared, and not yet chosen                                           */
    double *knot;
    bool bought;  /* "placed": its knots are by a histogram that another run released and counts */
    bool placed;  /* a released histogram says where its knots stand (knots.c)                          */
    int32_t wide; /* the first of its features among those of curves                                  */
} pvi_column;
enum { PVI_SCALE_LINEAR, PVI_SCALE_LOG, PVI_SCALE_SYMLOG };
enum { PVI_KNOTS_MOST = 1024 };
struct pvi_schema {
    bool header;
    char separator;
    int64_t skip;
    char decimal, thousands; /* marks of numbers; thousands 0: none                                           */
    bool respelt;            /* they are others than in 1234.5                                              */
    bool trailing;           /* a separator may end a record                                                */
    pvi_dictionary missing;  /* texts that mean: no value                                                     */
    bool numeric_missing;    /* one of them reads as a number                                                */
    int64_t categories;      /* columns of that type                                                         */
    int64_t count, features, label; /* label: its column, -1: none                                       */
    int64_t person;                 /* the column that says whose row it is, -1: none                    */
    int64_t person_rows;            /* K that it declares; PV_AUTO_I64: none                             */
    pvi_column *column;
    int64_t curved, wide; /* columns with a curve; features when those are hats                          */
    pvi_knots_ask knots;  /* what is to be released before the knots stand                                */
};
/* `text` is a file name, or the JSON itself when it starts with '{'.  Lives in the arena. */
pv_status pvi_schema_load(pv_ctx *ctx, pv_arena *a, const char *text, pvi_schema **out);
pv_status pvi_schema_parse(pv_ctx *ctx, pv_arena *a, const char *name, const char *text, size_t len,
                           pvi_schema **out);
/* Numbers, and the label last; `person` is the column of ids, -1: none. */
pv_status pvi_schema_plain(pv_ctx *ctx, pv_arena *a, int64_t columns, int64_t person, pvi_schema **out);
/* The schema of a file whose column i is column from[i], or, if that is -1, none of it; NULL: no memory. */
pvi_schema *pvi_schema_arranged(pv_arena *a, const pvi_schema *s, const int64_t *from, int64_t count);
pv_status pvi_schema_json(pv_ctx *ctx, const pvi_schema *s, char **out); /* canonical; caller frees        */
#define PVI_STOPPED_READING "%s: stopped while reading: nothing was released, and no budget is spent"
#define PVI_BOUND_MAX       1e38 /* of declared bounds, so that they and their distance are 32-bit floats */
/* Finite, lo < hi with room for 32-bit floats in between. */
bool pvi_bounds_ok(double lo, double hi);
bool pvi_is_truth(const char *word); /* a spelling of a column of type boolean */

/* ---- features of images (scatter.c) -------------------------------------------------------------------- */
enum { PVI_TRANSFORM_NONE, PVI_TRANSFORM_SCATTER }; /* order of data.transform                                */
enum { PVI_SCATTER_ROWS = 16 };                     /* rows of one call at most                              */
typedef struct pvi_scatter pvi_scatter;
pv_status pvi_scatter_open(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_shape in, pvi_scatter **out);
void pvi_scatter_free(pvi_scatter *s);
const struct pvi_bank *pvi_scatter_bank(const pvi_scatter *s); /* its tables, for tests                        */
size_t pvi_scatter_scratch(const pvi_scatter *s); /* bytes, 64-byte aligned, one per thread                   */
/* in: rows x pixels; out[r * ld + feature].  Each row's features depend on that row alone. */
void pvi_scatter_rows(const pvi_scatter *s, int64_t rows, const float *in, float *out, int64_t ld, void *scratch);

/* ---- transformed rows (transform.c) -------------------------------------------------------------------------- */
enum { PVI_FEATURE_ROWS = PVI_SCATTER_ROWS };
typedef struct pvi_features pvi_features;
struct pvi_segment;
/* Sets job->image to the shape of the features; `columns` of the file, -1: as many as data.image says. */
pv_status pvi_features_open(struct pv_load *job, int64_t columns, pvi_features **out, int64_t *features);
void pvi_features_free(pvi_features *f);
pv_status pvi_features_check(const pvi_features *f, int64_t widest); /* the highest column in the file          */
int64_t pvi_features_blocks(int64_t rows);                           /* of PVI_FEATURE_ROWS                     */
/* Features of rows first .. first + rows of the segment, at most PVI_FEATURE_ROWS, to x with ld floats per row. */
void pvi_features_rows(const pvi_features *f, const struct pvi_segment *g, int64_t first, int64_t rows, float *x,
                       int64_t ld, int thread);

/* ---- persons (persons.c) ------------------------------------------------------------------------------ */
enum { PVI_PERSON_TEXT = 1000 }; /* bytes that an id may have */
/* The id of a text; false: there is none, or it is too long, and why says so. */
bool pvi_person_id(const struct pv_load *job, const char *s, size_t len, pvi_id *out, char *why, size_t why_size);
pv_status pvi_persons_open(struct pv_load *job, pvi_schema *sc); /* which ids, and their key; sc may be NULL */
/* Rows of a person side by side, at most K of them, in an order that only key and rows decide. */
pv_status pvi_persons_group(struct pv_load *job, pvi_matrix *m);
pv_status pvi_persons_keep(struct pv_load *job, pvi_matrix *m); /* m->owner, rows as they stand */
bool pvi_named_like_id(const char *name);                       /* patient, customer_id */
/* In two steps (person_order.c): who there is by the ids of all rows, which are used up; then rows, K of each person
 * at most, and, if asked for, an id of each.  *o, which may be NULL, is freed in any case. */
typedef struct pvi_person_order pvi_person_order;
pv_status pvi_persons_find(pvi_matrix *m, const uint8_t *key, pvi_id *ids, pvi_person_order **o);
int64_t pvi_persons_count(const pvi_person_order *o);
pv_status pvi_persons_place(pvi_person_order *o, int64_t K, bool ids);
void pvi_persons_free(pvi_person_order *o);
pvi_id pvi_id_hash(const uint8_t *key, const void *data, size_t size);
pvi_id pvi_person_of(pvi_id e); /* the bits of an id that are compared */

/* ---- rows (matrix.c) ---------------------------------------------------------------------------------- */
/* Rows of one chunk before they are normed: CSR, indices ascending from 0, zeros left out. */
typedef struct pvi_segment {
    int64_t rows, max_index; /* max_index: highest feature mentioned, counted from 1, zeros included       */
    uint32_t *end;           /* entries up to the end of row i                                             */
    float *y, *val;
    int32_t *idx;
    size_t row_room, entry_room;
    int64_t row_at, entry_at; /* where they go in the matrix: set by pvi_build_append                      */
    const uint8_t *byte;      /* images: the bytes of row i, from byte + i stride; val is job->level of them */
    int64_t stride;
    pvi_id *person; /* who owns row i; NULL: no column says so                                   */
    const float
        *row; /* all values of row i, from row + i row_ld, instead of end, idx and val: pvi_build_takes_rows */
    int64_t row_ld;
} pvi_segment;
typedef struct pvi_builder pvi_builder;
void *pvi_raw(pv_ctx *ctx, size_t size); /* like pvi_alloc, but not zeroed: pages stay untouched            */
/* features < 0: measured while reading.  Once for every file; all must agree. */
pv_status pvi_build_begin(struct pv_load *job, int64_t features);
/* The rows that follow are row 0, 1, ... of x, and stay there: nothing of them is copied. */
void pvi_build_borrow(pvi_builder *b, const float *x, int64_t ld);
/* `fraction` of the file lies behind these rows: for guessing how much room the rest will take. */
pv_status pvi_build_append(pvi_builder *b, pvi_segment *const *seg, int64_t n, double fraction);
bool pvi_build_takes_rows(const pvi_builder *b); /* may segments have all values of their rows?             */
pv_status pvi_build_end(pvi_builder *b, pvi_matrix **out); /* domain, norms and rows; no labels' names yet  */
/* The rows so far, and a builder for those that follow. */
pv_status pvi_build_again(struct pv_load *job, pvi_matrix **out);
bool pvi_build_empty(const pvi_builder *b);
void pvi_build_free(pvi_builder *b);
pvi_id *pvi_build_ids(const pvi_builder *b); /* of all rows, as long as b lives; NULL: no column had them   */
/* CSR: row i becomes what row order[i] was; the rows behind `keep` are given up.  order is overwritten. */
pv_status pvi_matrix_order(pvi_matrix *m, int64_t *order, int64_t keep);
/* Moves what dense rows have, one at a time. */
typedef struct pvi_mover {
    char *x;
    size_t line;
    float *y, *norm;
    char *aside;
    bool moves; /* false: CSR, or rows without values; nothing moves */
} pvi_mover;
typedef struct pvi_kept {
    float y, norm;
} pvi_kept;
size_t pvi_matrix_line(const pvi_matrix *m);                  /* bytes of a dense row, 0: CSR                     */
pvi_mover pvi_matrix_mover(const pvi_matrix *m, char *aside); /* aside: room for a row                            */
/* Lines are short, and there are many: words, not calls. */
static inline void pvi_line_copy(char *to, const char *from, size_t n)
{
    for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), to += sizeof(uint64_t), from += sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    for (; n > 0; n--) *to++ = *from++;
}
static inline void pvi_move_row(const pvi_mover *v, int64_t to, int64_t from)
{
    if (!v->moves) return;
    pvi_line_copy(v->x + (size_t)to * v->line, v->x + (size_t)from * v->line, v->line);
    v->y[to] = v->y[from];
    v->norm[to] = v->norm[from];
}
/* One row at a time is aside, and comes back. */
static inline pvi_kept pvi_move_keep(const pvi_mover *v, int64_t i)
{
    pvi_line_copy(v->aside, v->x + (size_t)i * v->line, v->line);
    return (pvi_kept) { v->y[i], v->norm[i] };
}
static inline void pvi_move_back(const pvi_mover *v, int64_t to, pvi_kept kept)
{
    pvi_line_copy(v->x + (size_t)to * v->line, v->aside, v->line);
    v->y[to] = kept.y;
    v->norm[to] = kept.norm;
}
static inline void pvi_move_swap(const pvi_mover *v, int64_t i, int64_t j)
{
    if (!v->moves) return;
    const pvi_kept kept = pvi_move_keep(v, i);
    pvi_move_row(v, i, j);
    pvi_move_back(v, j, kept);
}
/* Room for other features of the same rows: `line` bytes each, at *to; or, with line 0, CSR whose ptr is to be filled
 * in, then pvi_matrix_entries.  What was there goes to `old`, to be read until pvi_matrix_old_free. */
pv_status pvi_matrix_renew(pvi_matrix *m, int64_t features, size_t line, pvi_matrix *old, void **to);
pv_status pvi_matrix_entries(pvi_matrix *m, int64_t entries);
void pvi_matrix_old_free(pvi_matrix *old);

/* ---- one load ------------------------------------------------------------------------------------------ */
struct pv_load {
    pv_ctx *ctx;
    pv_arena *arena; /* lives for the load                                                                  */
    const pvi_data_cfg *cfg;
    const pvi_expect *expect;
    pv_data *from;            /* NULL: the files of data.path                                               */
    const char *name;         /* what messages call the rows: the file under way, or the kind of memory     */
    const char *whole;        /* the same of all files: data.path                                           */
    float *apart;             /* labels that come apart, owned; NULL: none.  Set by pvi_build_begin         */
    int64_t aparts;           /* how many of them; 0: none                                                  */
    pvi_source *src;          /* of the file under way                                                      */
    const char *const *file;  /* several when data.path names several (paths.c)                             */
    int64_t files, part;      /* 0: rows of memory; which of them is under way                              */
    bool begun;               /* pvi_build_begin has been called for it                                     */
    bool beside;              /* labels come beside the rows, not as a column of them                       */
    pvi_shape image;          /* declared, or found by the reader: pvi_image_found; zeros: not images       */
    pvi_shape pixels;         /* the same before data.transform changed it                                  */
    const pvi_schema *schema; /* NULL: none declared                                                        */
    pvi_schema *declared;     /* the same, for the knots of curves                                          */
    int64_t transformed;      /* features the trained model has, after the transform; 0: free               */
    pvi_label_rule label;     /* filled by the reader                                                       */
    bool counted;             /* set by the reader: the number of columns came from the file               */
    bool labelled;            /* set by the reader: the file has labels                                     */
    bool by_person;           /* rows of a person are one unit                                              */
    int64_t person_rows;      /* K                                                                          */
    bool cap_open;            /* nobody said it: the most that it may be                                     */
    bool id_column;           /* a column says who owns a row                                               */
    bool ids_found;           /* set by the reader of tables: the file has that column                       */
    uint8_t person_key[PVI_SHORT_KEY];
    bool dense;         /* set from the reader's: rows stay dense, however many features there are   */
    int64_t handed;     /* rows that expect->piece has taken                                           */
    const float *level; /* images whose values are those of 256 bytes: set before pvi_build_begin            */
    pvi_builder *out;
};
/* The fraction of all files that lies behind, when this much of the one under way does. */
static inline double pvi_fraction(const struct pv_load *job, double fraction)
{
    return job->files > 1 ? ((double)job->part + fraction) / (double)job->files : fraction;
}
/* Hands over the rows so far, which were this text. */
pv_status pvi_hand_over(struct pv_load *job, const char *text, size_t len);
/* What is wrong with a value, as far as data.messages lets it be told. */
const char *pvi_told(const struct pv_load *job, const char *why);

/* What the model at work was trained on, for a message: written to out.  NULL: none, this is training.  (load.c) */
const char *pvi_trained_on(const struct pv_load *job, char out[72]);

/* ---- several files (paths.c) ------------------------------------------------------------------------------------
 * Paths as data.path takes them, as the files they name: itself, a list with commas, or the CIFAR-10 batches of a
 * folder or beside the first. */
pv_status pvi_paths(struct pv_load *job, const char *const *path, int64_t n);

/* ---- images (image.c) ------------------------------------------------------------------------------------------
 * The reader found images of this shape in the file: kept, or refused when data.image says otherwise. */
pv_status pvi_image_found(struct pv_load *job, pvi_shape shape);
/* Do so many features make up the images that are declared? */
pv_status pvi_image_check(const struct pv_load *job, int64_t features);

/* ---- binary formats (binary.c) --------------------------------------------------------------------------------- */
enum { PVI_BATCH = 256 }; /* rows read at a time, at most                                                          */
int64_t pvi_batch_rows(int64_t columns); /* so many that a batch stays small                                       */
pv_status pvi_read_some(pvi_source *src, void *buf, size_t n, size_t *got); /* fewer than n: the file ends         */
pv_status pvi_read_exactly(pv_ctx *ctx, pvi_source *src, void *buf, size_t n, const char *what); /* `what` was cut */
/* The same for the next n of `total` bytes, `before` of which have been read. */
pv_status pvi_read_part(pv_ctx *ctx, pvi_source *src, void *buf, size_t n, const char *what, int64_t before,
                        int64_t total);
/* Refuses more bytes of `what` than can come; before any memory is taken for them. */
pv_status pvi_read_declared(pv_ctx *ctx, const pvi_source *src, const char *what, double bytes);
pv_status pvi_read_end(pv_ctx *ctx, pvi_source *src); /* nothing is left                                           */
bool pvi_ends_with(const char *s, const char *tail);
/* Rows and columns of the file against data.rows, data.features and the trained model. */
pv_status pvi_rows_check(const struct pv_load *job, const char *rows_are, int64_t rows, const char *columns_are,
                         int64_t columns);
/* Runs `read` with room for `rows` records of `record` bytes and a segment for as many rows of `columns` entries. */
typedef pv_status pvi_batch_fn(void *arg, uint8_t *bytes, pvi_segment *seg);
pv_status pvi_read_batches(struct pv_load *job, int64_t rows, int64_t record, int64_t columns, pvi_batch_fn *read,
                           void *arg);
/* Rows of a batch to the builder, with progress; `fraction` of all files lies behind them. */
pv_status pvi_append_batch(struct pv_load *job, pvi_segment *seg, double fraction);
/* What a label byte means: one of the declared classes, or of 0..9 when none are (`by_path`: data.labels is a
 * file). */
typedef struct pvi_byte_labels {
    float y[256];
    bool known[256];
} pvi_byte_labels;
pv_status pvi_byte_labels_declare(struct pv_load *job, bool by_path, pvi_byte_labels *out);
/* Why a byte is no label, for a message.  Returns why. */
const char *pvi_byte_label_why(const struct pv_load *job, int byte, char why[256]);
/* The labels of an array, by data.labels if it names classes: reader_npy.c. */
pv_status pvi_array_labels(struct pv_load *job, bool named);
pv_status pvi_labels_default(struct pv_load *job); /* 0..9, or as many as the trained model has                     */

/* ---- problems (problems.c) ------------------------------------------------------------------------------------- */
typedef enum pvi_trouble {
    PVI_UNDECLARED,
    PVI_OUTSIDE,
    PVI_NO_VALUE,
    PVI_NO_NUMBER,
    PVI_NO_DATE,
    PVI_NO_ID,
    PVI_COUNT, /* from here on no field is wrong, but the record */
    PVI_MALFORMED,
    PVI_NO_LABEL, /* of a line without columns */
    PVI_TROUBLES
} pvi_trouble;
typedef struct pvi_problem {
    const char *at;
    int32_t column; /* from 1; 0: none */
    pvi_trouble what;
} pvi_problem;
typedef struct pvi_group {
    char *name; /* of the column; may be NULL or empty */
    int64_t column;
    pvi_trouble what;
    int64_t count, line; /* the first */
} pvi_group;
typedef struct pvi_problems {          /* zero-initialise */
    pvi_group *group;                  /* in the order of their first ones */
    int64_t groups, room, total, rows; /* rows: that were looked at */
    int64_t spaced;                    /* ids with blanks that an eye may miss: no problem */
    int32_t *index;
    int64_t columns;
} pvi_problems;
pv_status pvi_problem_count(pv_ctx *ctx, pvi_problems *p, const char *name, int64_t column, pvi_trouble what,
                            int64_t line);
const char *pvi_trouble_name(pvi_trouble what);
void pvi_problem_text(const pvi_group *g, char *out, size_t size); /* column "job": 40 values not declared, ... */
void pvi_problems_tell(pv_ctx *ctx, const pvi_problems *p, const char *name); /* a line for each group, logged */
void pvi_problems_free(pv_ctx *ctx, pvi_problems *p);

/* ---- text (text_chunks.c) -------------------------------------------------------------------------------------- */
typedef struct pvi_chunk {
    const char *begin, *end; /* starts a line; end[-1] == '\n'; 16 bytes in front, 96 behind are readable */
    bool last;               /* nothing follows in the file                                             */
    size_t limit;            /* bytes that a record may have, its line end included; 0: any number      */
    /* filled by the parser */
    const char *stop;   /* first byte not taken: end, or the start of a record that goes on behind the chunk      */
    const char *bad;    /* where the error is; NULL: none                                                         */
    const char *longer; /* where a record above the limit begins, which is an error before any other; NULL: none */
    char why[256];
    pvi_trouble what; /* with bad: its kind                                                                      */
    int64_t lines;    /* line ends in begin .. stop                                                                */
    int64_t spaced;   /* ids with blanks at an end, or two side by side, where problems are looked for             */
    /* Room for problems: the parser notes there what would be `bad`, and goes on.  NULL: it stops at the first.  */
    pvi_problem *list;
    int64_t listed, list_room;
    pvi_segment seg;
} pvi_chunk;
typedef struct pvi_text_ops {
    /* Called once with the first bytes: takes what precedes the rows (chunk.stop), calls
     * pvi_build_begin.  stop == begin with no error asks for more bytes unless `last`.        */
    pv_status (*start)(void *st, struct pv_load *job, pvi_chunk *c);
    void (*parse)(const void *st, pvi_chunk *c); /* any thread; no allocation, no pvi_fail                       */
    size_t (*row_bytes)(const void *st);         /* at least so many bytes per row                               */
    size_t entry_bytes;                          /* ... and per stored entry                                     */
    const char *(*column)(const void *st, int64_t i); /* its name, i from 1; NULL: columns have none             */
} pvi_text_ops;
pv_status pvi_text_run(struct pv_load *job, const pvi_text_ops *ops, void *st);
/* A record from .. to (behind its line end) that is above the limit?  Then it is noted.  For parsers. */
static inline bool pvi_chunk_longer(pvi_chunk *c, const char *from, const char *to)
{
    if (__builtin_expect((size_t)(to - from) - 1 <= c->limit - 1, 1)) return false; /* 0 - 1 is the largest */
    c->longer = from;
    return true;
}
/* The same for a record in which an error was found: it ends with the line of `at`. */
void pvi_chunk_stopped(pvi_chunk *c, const char *from, const char *at);
/* Notes the error of the chunk, in that column, and takes it back; false: there is none, or no list.  For parsers. */
bool pvi_chunk_note(pvi_chunk *c, int64_t column);
/* Records an error of the chunk, PVI_MALFORMED; for parsers. */
void pvi_chunk_fail(pvi_chunk *c, const char *at, const char *fmt, ...) PVI_PRINTF(3, 4);
/* A piece of the input for a message: at most 40 bytes, "..." when cut.  Returns out. */
const char *pvi_excerpt(const char *s, size_t len, char out[48]);

/* ---- norms (row_norm.c) ---------------------------------------------------------------------------------------- */
/* sum[i] = bias^2 + the squares of row i of n values at v + i ld (row_norm.kernel.c). */
typedef void pvi_squares_fn(const float *v, int64_t rows, int64_t ld, int64_t n, float bias, double *sum);
extern pvi_squares_fn *const pvi_squares_isa[PVI_ISA_COUNT];

typedef struct pvi_row_norm {
    float bound; /* the largest float <= R */
    bool unit, max;
    float bias;
    double near[2]; /* a length between these may be `bound` */
    pvi_squares_fn *squares;
} pvi_row_norm;
pvi_row_norm pvi_row_norm_of(const pvi_data_cfg *cfg);
/* A float at or above the norm of the row (v, bias), without rounding errors in our favour; `bound` itself where the
 * row is just as long; infinite where no float is large enough. */
float pvi_row_bound(const pvi_row_norm *b, const int32_t *idx, const float *v, int64_t n); /* idx NULL: 0, 1, ... */
/* The same of rows with every feature, row i at v + i ld. */
void pvi_row_bounds(const pvi_row_norm *b, const float *v, int64_t rows, int64_t ld, int64_t n, float *norm);

/* ---- digest (digest.c) ----------------------------------------------------------------------------------------- */
pv_status pvi_digest(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_matrix *m);
#endif
