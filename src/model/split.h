/* split.h - what the files of the split network share: its layers at work, closed forms, kernels.
 *
 * Rows of matrices are padded with zeros to multiples of 16 numbers, the leading dimension ld. */
#ifndef PVI_SPLIT_H
#define PVI_SPLIT_H
#include "model/net_run.h"

enum { PVI_SPLIT_BATCH = 64, PVI_SPLIT_TILE = 6, PVI_SPLIT_PAD = 16 }; /* examples of a micro-batch */

typedef struct pvi_split_kernel {
    /* len rows of ld numbers of w, in the order in which product() reads them. */
    void (*pack)(int64_t len, int64_t ld, const float *w, int64_t ldw, float *panels);
    /* out[r ld + j] = bias[j] + sum_{k<len} x[r ldx + k] w[k ld + j]; bias NULL: none. */
    void (*product)(int64_t rows, int64_t len, const float *x, int64_t ldx, const float *panels, int64_t ld,
                    const float *bias, float *out);
    /* g[k ldg + j] = (or += with add) sum_{t<rows} x[t ldx + k] b[t ldb + j], k < taps, j < n, one t after the
     * other. */
    void (*outer)(int64_t rows, const float *x, int64_t ldx, const float *b, int64_t ldb, int64_t taps, int64_t n,
                  bool add, float *g, int64_t ldg);
    /* Upper triangle of the m x m matrix of sums of products of x's columns; what is below it is not defined. */
    void (*gram)(int64_t rows, const float *x, int64_t ldx, int64_t m, float *a, int64_t lda);
    /* a = (A | R), m rows, A symmetric with all eigenvalues at least `least`, given by its upper triangle: becomes
     * (U | U'^-1 R), A = U'U.  No pivot can be below `least`, so rounding is not allowed to make it so.  false:
     * overflow.  room: TILE lda numbers. */
    bool (*eliminate)(int64_t m, int64_t width, float least, float *a, int64_t lda, float *room);
    /* z (m rows) <- U^-1 z; room: TILE (ldz + m) numbers. */
    void (*substitute)(int64_t m, const float *u, int64_t ldu, int64_t width, float *z, int64_t ldz, float *room);
    void (*transpose)(int64_t rows, int64_t columns, const float *a, int64_t lda, float *to, int64_t ldt);
    /* next = w'(w v), w of `in` rows; returns ||w v||^2. */
    double (*twice)(int64_t in, int64_t ld, const float *w, const float *v, float *next);
    /* d: x_new - x on entry, U_new - V on return, U_new by split.c (3); x: the layer's activation, V its input. */
    void (*lift)(int64_t n, const float *v, const float *x, float *d);
    double (*squares)(int64_t n, const float *x); /* sum of squares; n: a multiple of 16 */
    void (*scale)(int64_t n, float f, float *d);  /* d = pvi_times(d, f); n: a multiple of 16 */
} pvi_split_kernel;
extern const pvi_split_kernel *const pvi_split_kernel_isa[PVI_ISA_COUNT];

static inline int64_t pvi_split_pad(int64_t n)
{
    return (n + PVI_SPLIT_PAD - 1) / PVI_SPLIT_PAD * PVI_SPLIT_PAD;
}

typedef struct pvi_split_layer {
    int64_t in, out, ldx, ldv;  /* ldx: of rows of inputs, which end with the number 1; ldv: of outputs */
    int64_t weights, biases;    /* where they begin in the vector of all; biases follow the weights       */
    float *w, *bias;            /* theta', in x ldv; ldv                                                   */
    float *forward, *back;      /* packed: theta'; and what takes U_new - V to x_new - x, out x pad(in)    */
    float *transposed, *system; /* theta, out x pad(in); room for pvi_split_back                           */
    int64_t x, v, d;            /* inputs, outputs, changes of a micro-batch: offsets in floats            */
    const pvi_layer *conv;      /* NULL: dense.  A convolution's bias is that of a filter                  */
    float *kernel;              /* W, ldk numbers for each tap; its w is written out for P alone           */
    int64_t ldk, grad;          /* grad: one row's gradient, an offset                                     */
    pvi_taps taps;
    const int32_t *bt; /* first output of every pixel */
} pvi_split_layer;

typedef struct pvi_split_state {
    const pvi_net_kernel *kernel; /* first, as in every network's state */
    const pvi_split_kernel *split;
    const pvi_net *net;
    int64_t n; /* dense layers */
    pvi_split_layer layer[PVI_MAX_LAYERS];
    double *k; /* theta_D theta_D' */
    float scale, radius, gamma;
    int64_t classes;
    int64_t pixels, channels; /* of rows that are planes where the first layer wants channels last; 0: it does not */
    int64_t image;            /* an input with zeros around it: offset in floats                                    */
    bool squared, ready;
} pvi_split_state;

/* ---- convolutions (split_conv.c) -------------------------------------------------------------------------- */
pv_status pvi_split_conv_check(pv_ctx *ctx, const pvi_layer *l, bool first, int64_t number);
int64_t pvi_split_conv_image(const pvi_layer *l); /* numbers of an input with zeros around it */
bool pvi_split_conv_room(pvi_split_layer *k, pv_arena *a);
bool pvi_split_conv_fill(const pvi_split_kernel *s, pvi_split_layer *k, const double *w); /* false: not finite */
void pvi_split_conv_forward(const pvi_net_kernel *n, const pvi_split_layer *k, const float *x, float *image,
                            float *v);
/* One row's gradient to grad, weights and biases; returns its squared norm. */
double pvi_split_conv_gradient(const pvi_net_kernel *n, const pvi_split_layer *k, const float *x, const float *d,
                               float *image, float *grad);

/* Numbers of `system`. */
int64_t pvi_split_system(const pvi_split_layer *l);
/* back = ((theta'theta + c I)^-1 theta')', by the smaller of the two Gram matrices; PV_E_NUMERIC: no finite
 * factor. */
pv_status pvi_split_back(const pvi_split_kernel *k, pvi_split_layer *l, double c);

/* The largest singular value of w (in x out) by at most `rounds` of power iteration from v, which goes on from call
 * to call; v = 0 starts it.  Where ||w||_F <= enough, that bound is all one needs to know, and is returned.
 * room: (in + 1) pad(out) floats; v: pad(out). */
double pvi_spectral_norm(int64_t in, int64_t out, const double *w, double enough, int rounds, float *v, float *room);

/* The prox of cross-entropy (split_prox.c): a with x_new = x + theta_D' a for
 *   x_new = argmin_t  log sum_c e^{z_c} - z_y + (gamma/2) ||t - x||^2,   z = z0 + theta_D (t - x),
 * K = theta_D theta_D'.  work: classes^2 + 5 classes doubles.  false: something is not finite. */
bool pvi_split_softmax(int64_t classes, const double *K, const double *z0, int64_t y, double gamma, double *a,
                       double *work);
#endif
