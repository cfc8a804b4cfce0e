/* net_run.h - a network at work on one micro-batch: where everything lies, and the kernels. */
#ifndef PVI_NET_RUN_H
#define PVI_NET_RUN_H
#include "model/net.h"

/* Which numbers of an input a row of the product sees: row t reads `segments` runs of `len` numbers, `step` apart,
 * the first of them at offset at[t].  A convolution has one row per output pixel, a dense layer one per example. */
typedef struct pvi_taps {
    const int32_t *at;
    int64_t rows, segments, len, step;
} pvi_taps;

/* Every output is one sequence of multiply-adds in the order of the taps, so it depends on nothing but its own
 * inputs: neither on the place in a batch nor on the size of a tile. */
typedef struct pvi_net_kernel {
    /* out[(e rows + t) n + j] = bias[j] + sum_k x[e xs + tap(t, k)] w[k ldw + j] for examples e < count; w and bias
     * are padded with zeros to ldw, a multiple of 16.  relu: the positive part of it. */
    void (*product)(const pvi_taps *p, int64_t count, const float *x, int64_t xs, const float *w, int64_t ldw,
                    const float *bias, int64_t n, bool relu, float *out);
    /* g[k n + j] = (or += with add) sum_t x[tap(t, k)] b[bt[t] + j], one t after the other. */
    void (*outer)(const pvi_taps *p, const float *x, const float *b, const int32_t *bt, int64_t n, bool add,
                  float *g);
    /* The same for runs of t, units of several rows: the sum of each is formed in registers, from zeros, and g += f
     * times it; a run that is alone is one t, added to g as outer() does. */
    void (*outer_units)(const pvi_taps *p, const float *x, const float *b, const int32_t *bt, int64_t n,
                        const pvi_runs *runs, float *g);
    /* out[j] = <x, row[j]> for j < rows, in floats (gram.c). */
    void (*inner)(const float *x, const float *const *row, int64_t rows, int64_t n, double *out);
    /* dx[tap(t, k)] += col[t segments len + k] */
    void (*scatter)(const pvi_taps *p, const float *col, float *dx);
    void (*columns)(int64_t rows, int64_t n, const float *b, float *sum); /* sum[j] = sum_t b[t n + j]         */
    double (*squares)(const float *v, int64_t n);                         /* sum of squares, in double         */
    void (*axpy)(float s, const float *v, int64_t n, float *g);           /* g += s v                          */
    void (*relu)(const float *x, int64_t n, float *y);
    void (*relu_back)(const float *y, const float *dy, int64_t n, float *dx);
    void (*tanh)(const float *x, int64_t n, float *y);
    void (*tanh_back)(const float *y, const float *dy, int64_t n, float *dx);
    void (*gelu)(const float *x, int64_t n, float *y);
    void (*gelu_back)(const float *x, const float *dy, int64_t n, float *dx);
    void (*sigmoid)(const float *x, int64_t n, float *y);
    void (*sigmoid_back)(const float *y, const float *dy, int64_t n, float *dx);
    /* net_norm.c (4), (5) of one example; s: its denominators without the power, overwritten going back. */
    void (*lrn)(const pvi_layer *l, const float *x, float *y, float *s);
    void (*lrn_back)(const pvi_layer *l, const float *x, const float *y, const float *dy, float *s, float *dx);
    void (*maxpool)(const pvi_layer *l, const float *x, float *y);
    void (*maxpool_back)(const pvi_layer *l, const float *x, const float *y, const float *dy,
                         float *dx); /* dx zeroed */
    void (*avgpool)(const pvi_layer *l, const float *x, float *y);
    void (*avgpool_back)(const pvi_layer *l, const float *dy, float *dx); /* dx zeroed */
} pvi_net_kernel;
extern const pvi_net_kernel *const pvi_net_kernel_isa[PVI_ISA_COUNT];

/* Group normalisation (net_norm.c) of one example; stat: mean and 1/deviation of each group. */
void pvi_groupnorm(const pvi_layer *l, const float *gain, const float *bias, const float *x, float *y, double *stat);
void pvi_groupnorm_back(const pvi_layer *l, const float *gain, const float *x, const double *stat, const float *dy,
                        float *dx, float *dgain, float *dbias);

/* What a layer keeps in the scratch memory of a thread; offsets in floats, each for `batch` examples. */
typedef struct pvi_place {
    int64_t in, in_size;   /* its input, padded for a convolution with same; size per example */
    int64_t out, out_size; /* out == in: the layer works in place */
    int64_t delta;         /* layers from the first dense one on: gradient of the loss by its output */
    int64_t stat;          /* groupnorm, lrn */
    int64_t inst;          /* groupnorm behind the first dense layer: its own gradient, per example */
    bool padded;           /* in is a copy with zeros around it */
    bool fused;            /* conv or dense whose relu is done with it; relu that is done already */
} pvi_place;

typedef struct pvi_pack { /* float copies of one layer's weights */
    float *w, *bias, *wt; /* K x ldw, ldw, units x ldt; NULL: not needed */
    int64_t k, ldw, ldt;
    pvi_taps taps; /* of one example */
    pvi_taps back; /* rows of the gradient by its output */
} pvi_pack;

typedef struct pvi_net_plan {
    int64_t batch;       /* examples at once */
    int64_t first_dense; /* layer; all before it are the head */
    int64_t head;        /* weights of the head: the first of all */
    int64_t back0;       /* first layer with weights: the gradient by its input is not needed */
    pvi_place place[PVI_MAX_LAYERS];
    int64_t d[2], col, inst; /* head, one example: two gradients in turn, columns of a convolution, its weights' */
    int64_t image, mean; /* several views of a row: the row itself; the sum or mean of their gradients, of a unit's */
    int64_t floats;      /* in all */
} pvi_net_plan;

typedef struct pvi_net_state {
    const pvi_net_kernel *kernel;
    const pvi_net *net;
    pvi_net_plan plan;
    pvi_pack pack[PVI_MAX_LAYERS];
    const int32_t *input; /* where each column of a row goes in the first layer's input */
    float scale;
    int64_t classes; /* of the domain */
    uint64_t query;  /* its number: the views of a row change with it */
    bool ready;
} pvi_net_state;

enum { PVI_NET_BATCH = 32 };                     /* examples of a micro-batch, at most */
typedef struct pvi_net_work {                    /* one thread's scratch; the floats follow */
    int64_t n;                                   /* examples of this micro-batch */
    int64_t row[PVI_NET_BATCH];                  /* their stored rows */
    bool usable[PVI_NET_BATCH];                  /* finite outputs and a known label */
    float factor[PVI_NET_BATCH][PVI_MAX_LAYERS]; /* what clipping multiplies a layer's gradient with; 0: nothing */
    double norm2[PVI_NET_BATCH][PVI_MAX_LAYERS]; /* squared norm of a layer's gradient */
    int32_t at[PVI_NET_BATCH], bt[PVI_NET_BATCH];
    _Alignas(64) float x[];
} pvi_net_work;

void pvi_net_plan_make(const pvi_net *net, int64_t views, bool units, pvi_net_plan *out); /* units: of several rows */
size_t pvi_net_scratch(const pvi_net_plan *p);
/* PV_E_NUMERIC: not finite as floats. */
pv_status pvi_net_pack(pvi_net_state *s, int64_t views, bool units, const double *w, pv_arena *a);
/* Examples first .. of the rows into the micro-batch, and their outputs (n x outputs). */
int64_t pvi_net_fill(const pvi_net_state *s, const pv_rows *rows, int64_t first, pvi_net_work *k);
void pvi_net_fill_row(const pvi_net_state *s, const pv_rows *rows, int64_t r, float *to); /* one stored row */
/* The lines of an image into the middle of one of `size` numbers with zeros around it. */
void pvi_net_pad(const pvi_layer *l, const float *x, float *to, int64_t size);
const float *pvi_net_forward(const pvi_net_state *s, pvi_net_work *k);
/* Gradient by the outputs is in place[last].delta.  Tail: all examples at once; head: one of them, its gradient by
 * the head's weights goes to plan.inst.  Both set norm2 of the layers. */
void pvi_net_back_tail(const pvi_net_state *s, pvi_net_work *k);
void pvi_net_back_head(const pvi_net_state *s, pvi_net_work *k, int64_t e);
/* Loss of one row from its outputs z and label, and the gradient by z unless NULL; NAN: unusable (net.c). */
double pvi_net_loss(const pvi_net_state *s, const pvi_net_cfg *c, const float *z, float y, float *delta);
/* Clip factors of all layers from their squared norms; false: the row is not usable (net.c). */
bool pvi_net_factors(const pvi_net_state *s, const pvi_net_cfg *c, double clip, const double *norm2, float *factor);

/* The next micro-batch of rows, forward and backward to its tail; then examples from .. to-1 of it, each clipped and
 * added to g (net.c). */
void pvi_net_start_batch(const pvi_net_state *s, const pvi_net_cfg *c, const pv_rows *rows, int64_t first,
                         pvi_net_work *k);
void pvi_net_add_examples(const pvi_net_state *s, const pvi_net_cfg *c, double clip, int64_t from, int64_t to,
                          float *g, int64_t *n_bad, pvi_net_work *k);
/* The same for example e alone, but its dense layers: their b are multiplied with f.  False: it adds nothing. */
bool pvi_net_clip_example(const pvi_net_state *s, const pvi_net_cfg *c, double clip, int64_t e, float *g,
                          int64_t *n_bad, pvi_net_work *k);

/* ---- units of several rows (net_units.c) -------------------------------------------------------------------- */
/* v = (or += with more) the gradients of the usable examples from .. to-1 of a micro-batch that went back to its
 * tail. */
void pvi_net_form(const pvi_net_state *s, pvi_net_work *k, int64_t from, int64_t to, bool more, float *v);
/* g += weight clip(share v), weight <= 1; false, and nothing is added: v is not finite. */
bool pvi_net_add_vector(const pvi_net_state *s, const pvi_net_cfg *c, double clip, const float *v, float share,
                        double weight, float *g);
void pvi_net_sum_units(const pvi_net_state *s, const pvi_net_cfg *c, const pv_rows *units, double clip, float *g,
                       int64_t *n_bad, pvi_net_work *k);

/* ---- several views of a row (net_views.c) ------------------------------------------------------------------- */
enum { PVI_MAX_VIEWS = 16 };
typedef struct pvi_view {
    int64_t down, right; /* pixels */
    bool flip;           /* left and right exchanged, before it is moved */
} pvi_view;
/* Views of a stored row at a query: public, a function of these numbers alone.  The first is the row itself. */
void pvi_net_views(const pvi_net_cfg *c, uint64_t query, int64_t row, pvi_view view[PVI_MAX_VIEWS]);
/* plan.mean = (or += with more) the gradients of all views of stored row r, whose place in the whole table is
 * `place`; false: one of them is not usable. */
bool pvi_net_add_row(const pvi_net_state *s, const pvi_net_cfg *c, const pv_rows *rows, int64_t r, int64_t place,
                     bool more, pvi_net_work *k);
/* g += the clipped mean of the views' gradients, row by row; rows that are not usable are counted. */
void pvi_net_sum_views(const pvi_net_state *s, const pvi_net_cfg *c, const pv_rows *rows, double clip, float *g,
                       int64_t *n_bad, pvi_net_work *k);
#endif
