/* model.h - what the files of this folder share, and what the plan fills in for them. */
#ifndef PVI_MODEL_H
#define PVI_MODEL_H
#include <float.h>

#include "core/core.h"
#include "core/isa.h"

/* ---- rows as the model sees them (row.c) ------------------------------------------------------------ */
static inline int64_t pvi_stored(const pv_rows *rows) /* columns in memory: all but the bias */
{
    return rows->p - (rows->bias != 0.0f);
}
/* s of a row with this norm: row.c (1). */
static inline float pvi_gain(const pv_rows *rows, float norm)
{
    const float s = rows->bound / norm * (1.0f - 0x1p-22f);
    if (rows->unit ? norm == rows->bound || norm == 0.0f : norm <= rows->bound) return 1.0f;
    return !(s >= FLT_MIN) ? 0.0f : s <= FLT_MAX ? s : FLT_MAX;
}
enum { PVI_GAIN_ONE, PVI_GAIN_SOME, PVI_GAIN_ODD }; /* of a block: s = 1 throughout; not; and some rows are odd */
/* What the padding of a block has for a norm: its gain is 1, and it is not odd. */
static inline float pvi_pad_norm(const pv_rows *rows)
{
    return rows->bound <= 0x1p60f ? rows->bound : 1.0f;
}
/* Are sums over such a row made in double?  row.c (4). */
static inline bool pvi_is_odd(float norm)
{
    return norm != 0.0f && !(norm >= 0x1p-60f && norm <= 0x1p60f);
}
/* <(v, b), w> of a stored row, in double: row.c (4). */
double pvi_row_dot(const pv_rows *rows, int64_t r, const float *w);
/* s of any row, in double: row.c (5). */
double pvi_far_gain(const pv_rows *rows, int64_t r, float norm);
static inline bool pvi_is_far(const pv_rows *rows, float norm) /* s = 0 in (1), of a row that is not zero */
{
    return norm > 0x1p60f && pvi_gain(rows, norm) == 0.0f;
}
/* What the norm of the row's floats fl(s v_j) is at most: row.c (3). */
static inline float pvi_shown_norm(const pv_rows *rows, float norm)
{
    return rows->unit ? (norm == 0.0f ? 0.0f : rows->bound) : norm <= rows->bound ? norm : rows->bound;
}
/* A block of rows as floats that the model sees, bias included. */
typedef struct pvi_shown {
    pv_rows rows; /* CSR: rows 0, 1, ...; nothing is left to be scaled */
    int64_t ptr[65];
    float *x;
    int32_t *idx;
    int64_t ld;
} pvi_shown;
enum { PVI_SHOWN_ROWS = 64 };
size_t pvi_shown_size(int64_t p);                         /* bytes of room for pvi_shown_open */
void pvi_shown_open(pvi_shown *s, int64_t p, void *room); /* 64-byte aligned */
/* The n <= PVI_SHOWN_ROWS rows that row[i] points to (dense) or r[i] numbers (CSR), with norms as stored: row, r and
 * norm are changed to what is seen. */
void pvi_show(pvi_shown *s, const pv_rows *rows, int64_t n, const float **row, int64_t *r, float *norm);

/* ---- losses ---------------------------------------------------------------------------------------
 * A loss in vector instructions has one function per instruction set, in a table of its own (loss_kernel.h):
 * v, d1, d2 = phi(m), phi'(m), phi''(m), any of them NULL, as pv_loss_ops.eval. */
typedef void pvi_loss_fn(const void *cfg, int64_t n, const float *m, float *v, float *d1, float *d2);
#define PVI_LOSS_TABLE(name) extern pvi_loss_fn *const pvi_loss_##name##_isa[PVI_ISA_COUNT]
/* The suprema of |phi'|, |phi''|, |phi'''| under this configuration. */
void pvi_loss_sup(const pv_loss_ops *loss, const void *cfg, double sup[3]);

/* ---- GLM: l(w; x, y) = phi(m) with m = y <w,x> (PV_MARGIN) or m = <w,x> - y ------------------------- */
typedef struct pvi_glm_cfg { /* filled by the plan */
    const pv_loss_ops *loss;
    const void *loss_cfg;
} pvi_glm_cfg;

/* Clipping needs room on both sides in float: gradient sums are offered for clip in this range, or for
 * clip = INFINITY (nothing is private then). */
#define PVI_CLIP_MIN 0x1p-60
#define PVI_CLIP_MAX 0x1p60

enum { PVI_GLM_ROWS = 256 }; /* rows a kernel sees at once, at most */

/* What is needed to bound a row's coefficient: |c| <= top where norm <= safe, else below clip / norm. */
typedef struct pvi_clip {
    float clip, safe, top;
} pvi_clip;

enum { PVI_UNIT_BLOCK = 128 }; /* units that `form` takes at once, at most */
typedef struct pvi_unit_rows { /* units of several rows, one after the other, in a block of n rows */
    const float *const *row;
    int64_t n, first; /* row that the first unit begins with */
    int64_t units;
    const int64_t *size; /* rows of each */
    bool more;           /* the first unit is added to what is in v */
} pvi_unit_rows;

typedef struct pvi_glm_kernel {
    /* What is used next can be fetched early: it lies `ahead` floats further, or, if that is negative, in the -ahead
     * rows that follow in row[n], row[n + 1], ...; 0: unknown. */
    /* Rows are (v, b): q values in memory and the bias, unless that is 0. */
    /* m[i] = <row[i], w>; w is padded with zeros to a multiple of 16.  Each m[i] depends on its row only. */
    void (*dots)(const float *const *row, int64_t n, int64_t q, float bias, const float *w, int64_t ahead, float *m);
    /* g += sum of c[i] row[i], row after row. */
    void (*add)(const float *const *row, int64_t n, int64_t q, float bias, const float *c, int64_t ahead, float *g);
    /* The same for rows r[i] of CSR storage. */
    void (*csr_dots)(const pv_rows *rows, const int64_t *r, int64_t n, const float *w, float *m);
    void (*csr_add)(const pv_rows *rows, const int64_t *r, int64_t n, const float *c, float *g);
    /* s[i] <- gain of norm[i], m[i] <- s[i] m[i], unless all gains are 1; returns a PVI_GAIN.  n: multiple of 16. */
    int (*gain)(const pv_rows *rows, int64_t n, const float *norm, float *s, float *m);
    /* c[i] <- clipped c[i] (times y[i] and s[i], unless NULL); 0 where c, m or norm is unusable, and returns how
     * many those were.  n is a multiple of 16. */
    int64_t (*clip)(const pvi_clip *k, int64_t n, const float *m, const float *norm, const float *y, const float *s,
                    float *c);
    /* v[u * ldv ..] = sum of c[i] row[i] over the rows of unit u, row after row; square[u]: its sum of squares, as
     * good as units.c (6) says.  v is padded to a multiple of 16. */
    void (*form)(const pvi_unit_rows *r, int64_t q, float bias, const float *c, int64_t ahead, float *v, int64_t ldv,
                 double *square);
} pvi_glm_kernel;
extern const pvi_glm_kernel *const pvi_glm_kernel_isa[PVI_ISA_COUNT];

typedef struct pvi_glm_state {
    const pvi_glm_kernel *kernel;
    float *w; /* p weights, zeros up to a multiple of 16 */
    int64_t room;
    double row_norm;
    bool max_norm; /* of the domain */
} pvi_glm_state;

/* Bounds for the coefficients of gradients; of Hessians, with the row's squared norm for its norm. */
pvi_clip pvi_glm_clip(const pvi_glm_state *s, const pvi_glm_cfg *cfg, const pv_rows *rows, double clip);
pvi_clip pvi_glm_hess_clip(const pvi_glm_state *s, const pvi_glm_cfg *cfg, double clip);

/* ---- second derivatives (glm_hess.c) --------------------------------------------------------------------- */
typedef struct pvi_hess_kernel {
    /* t[i] = c[i] row[i], zeros up to a multiple of W; rows as in pvi_glm_kernel. */
    void (*scale)(const float *const *row, int64_t n, int64_t q, float bias, const float *c, float *t, int64_t ldt);
    /* h += sum of t[i] row[i]' as packed lower triangle, row after row; t padded to a multiple of 16. */
    void (*add)(const float *const *row, int64_t n, int64_t p, const float *t, int64_t ldt, float *h);
    void (*csr_add)(const pv_rows *rows, const int64_t *r, int64_t n, const float *c, float *h);
    /* z[i] = M row[i], M p x p and symmetric; rows of M and z of ldm floats, a multiple of 16, those behind p 0. */
    void (*transform)(const float *const *row, int64_t n, int64_t p, const float *M, int64_t ldm, float *z);
    void (*csr_transform)(const pv_rows *rows, const int64_t *r, int64_t n, const float *M, int64_t ldm, float *z);
    /* Sums of the squares of n rows of ld floats, in double. */
    void (*squares)(const float *z, int64_t n, int64_t ld, double *out);
} pvi_hess_kernel;
extern const pvi_hess_kernel *const pvi_hess_kernel_isa[PVI_ISA_COUNT];

/* h holds p (p+1)/2 floats, the lower triangle row after row.  (M1)-(M3) hold as for gradients, with the Frobenius
 * norm and this rounding bound. */
double pvi_glm_hess_rounding(int64_t m, int64_t p); /* in units of clip */
size_t pvi_glm_hess_scratch(int64_t p);

extern const pv_hess_ops pvi_glm_hess; /* gradient and Hessian in one pass (glm_joint.c) */

/* ---- gradients in double (glm_double.c) ------------------------------------------------------------------- */
enum { GLM_DOUBLE_ROWS = 64 }; /* of one sum in double, at most */
typedef struct pvi_glm_double {
    const pvi_glm_cfg *cfg; /* a convex, smooth loss with a slope */
    double clip, y_most;    /* C, Y; Y 0: a margin loss */
    double grid;            /* h */
} pvi_glm_double;
double pvi_glm_double_grid(double clip, int64_t n);
/* e: how far the computed mean of gradients is from the exact one, where ||w|| <= V. */
double pvi_glm_double_error(const pvi_glm_double *at, const pv_domain *dom, double V);
/* sum += the gradients of n rows from place `first` on, in units of h; g: room for p doubles. */
void pvi_glm_double_add(const pvi_glm_double *at, const pv_rows *rows, const double *w, int64_t first, int64_t n,
                        double *g, int64_t *sum);

/* ---- units of several rows whose sums stay in registers (gram.c) ------------------------------------------ */
typedef struct pvi_runs { /* rows that follow each other, unit by unit */
    int64_t n;
    const int64_t *size; /* rows of each */
    const float *f;      /* what its sum is multiplied with */
    const bool *alone;   /* a unit that takes the way of a row: size 1, f not used */
} pvi_runs;

/* ---- softmax: k classes, weights and gradients class after class, w[c * p + j] ------------------------- */
enum { PVI_SOFT_ROWS = 64 }; /* rows of a block, at most; also the stride between classes of z */

/* z[c * PVI_SOFT_ROWS + i] holds the logit of row i for class c, later its coefficient. */
typedef struct pvi_softmax_kernel {
    void (*logits)(const float *const *row, int64_t n, int64_t q, float bias, int64_t k, const float *w, int64_t ldw,
                   float *z);
    void (*csr_logits)(const pv_rows *rows, const int64_t *r, int64_t n, int64_t k, const float *wt, int64_t ldt,
                       float *z);
    /* s[i] <- gain of norm[i], z <- s[i] z, unless all gains are 1; returns a PVI_GAIN.  n: multiple of 16. */
    int (*gain)(const pv_rows *rows, int64_t n, int64_t k, const float *norm, float *s, float *z);
    /* z <- clipped s (p - e_y), s NULL: 1; y: class numbers; returns how many rows were unusable. */
    int64_t (*coefficients)(float clip, int64_t n, int64_t k, const float *y, const float *norm, const float *s,
                            float *z);
    /* a[c] <- p_c (a[c] - sum_b p_b a[b]) with p the softmax of z; both laid out like z; z is overwritten. */
    void (*curvature)(int64_t n, int64_t k, float *z, float *a);
    void (*add)(const float *const *row, int64_t n, int64_t q, float bias, int64_t k, const float *z, float *g);
    /* The same for units: g += f times the sum of a unit's rows, or, of one that is alone, the row. */
    void (*add_units)(const float *const *row, const pvi_runs *runs, int64_t q, float bias, int64_t k, const float *z,
                      float *g);
    void (*csr_add)(const pv_rows *rows, const int64_t *r, int64_t n, int64_t k, const float *z, float *g);
} pvi_softmax_kernel;
extern const pvi_softmax_kernel *const pvi_softmax_kernel_isa[PVI_ISA_COUNT];

typedef struct pvi_softmax_state {
    const pvi_softmax_kernel *kernel;
    float *w, *wt; /* k x ldw for dense rows, its transpose p x ldt for sparse ones; zeros in the padding */
    int64_t p, k, ldw, ldt;
    bool max_norm; /* of the domain */
} pvi_softmax_state;

extern const pv_hess_ops pvi_softmax_hess; /* gradient and Hessian in one pass (softmax_joint.c) */

/* Largest float not above x. */
float pvi_float_down(double x);

/* (M2) for sequential float sums, see glm.c (5). */
double pvi_sum_rounding(int64_t m, int64_t d);
#endif
