/* split.h - what the files of the split network share: its layers at work, closed forms, kernels. */
#ifndef PVI_SPLIT_H
#define PVI_SPLIT_H
#include "model/net_run.h"

typedef struct pvi_split_kernel {
    /* Lower Cholesky factor of the m x m matrix in the lower triangle of a, in place; false: not positive definite. */
    bool (*cholesky)(int64_t m, double *a);
    void (*invert)(int64_t m, const double *l, double *inverse); /* of a lower triangle; zeros above it        */
    /* d: x_new - x on entry, U_new - V on return, U_new by split.c (3); x: the layer's activation, V its input. */
    void (*lift)(int64_t n, const float *v, const float *x, float *d);
} pvi_split_kernel;
extern const pvi_split_kernel *const pvi_split_kernel_isa[PVI_ISA_COUNT];

typedef struct pvi_split_layer {
    int64_t in, out, ldw, ldt; /* leading dimensions: in and out padded to multiples of 16 */
    int64_t weights, biases;   /* where they begin in the vector of all                    */
    float *w, *bias, *wt;      /* in x ldw, ldw, out x ldt; wt NULL: not needed            */
    float *back;               /* out x ldt: takes U_new - V to x_new - x                  */
    int64_t x, v, d;           /* activations, outputs, changes of a micro-batch: offsets in floats */
} pvi_split_layer;

typedef struct pvi_split_state {
    const pvi_net_kernel *kernel; /* first, as in every network's state */
    const pvi_split_kernel *split;
    const pvi_net *net;
    int64_t n; /* dense layers */
    pvi_split_layer layer[PVI_MAX_LAYERS];
    int32_t *at;      /* offsets for the products of whole matrices */
    double *a, *l;    /* a factor and its inverse                     */
    float *gram, *li; /* their float copies                           */
    double *k;        /* theta_D theta_D'                             */
    float scale, radius, gamma;
    int64_t classes;
    bool squared, ready;
} pvi_split_state;

/* back = ((theta'theta + c I)^-1 theta')', by the smaller of the two Gram matrices; PV_E_NUMERIC: no finite factor. */
pv_status pvi_split_back(const pvi_split_state *s, pvi_split_layer *l, double c);

/* The prox of cross-entropy (split_prox.c): a with x_new = x + theta_D' a for
 *   x_new = argmin_t  log sum_c e^{z_c} - z_y + (gamma/2) ||t - x||^2,   z = z0 + theta_D (t - x),
 * K = theta_D theta_D'.  work: classes^2 + 5 classes doubles.  false: something is not finite. */
bool pvi_split_softmax(int64_t classes, const double *K, const double *z0, int64_t y, double gamma, double *a,
                       double *work);
#endif
