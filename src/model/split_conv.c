/* split_conv.c - a convolution as a layer of the split network.
 *
 *   W     kernel as a matrix of K K channels x units       x_t   patch of the input below output pixel t
 *   Theta the same layer as a matrix of outputs x inputs, which repeats W; everything of split.c holds with it
 *   (1) V_t = W'x_t + bias at every pixel t: Theta x, without writing Theta
 *   (2) the gradient of F by W is gamma sum_t x_t (V_t - U_t)', by the biases gamma sum_t (V_t - U_t).  It is formed
 *       for one row in a scratch, its norm is taken of these floats, and they are multiplied by f and added: (M1)
 *       to (M3) as for a convolution in net.c (3), the factor f gamma rounded twice against a bound lowered by 2^-22
 *   (3) split.c (5) needs P = (Theta'Theta + I)^-1 Theta'.  Theta is written out for it, once per query, and the
 *       smaller Gram matrix factored as for dense layers: exact, and only for layers of up to MOST numbers.  The
 *       first layer's input is what it is, so it needs no P.
 *   (4) An input pixel is in at most c^2 patches, c = ceil(K/stride), so  ||Theta x||^2 = sum_t ||W'x_t||^2
 *       <= ||W||^2 sum_t ||x_t||^2 <= (c ||W|| ||x||)^2:  a spectral norm ||W|| <= rho/c makes the layer
 *       rho-Lipschitz (opt_sbcd.c). */
#include "model/split.h"

enum { MOST = 1 << 23 };

pv_status pvi_split_conv_check(pv_ctx *ctx, const pvi_layer *l, bool first, int64_t number)
{
    const double in = (double)l->in.h * (double)l->in.w * (double)l->in.c,
                 out = (double)l->out.h * (double)l->out.w * (double)l->out.c;
    if (first || in * out <= (double)MOST) return PV_OK;
    return pvi_fail(ctx, PV_E_PARAM,
                    "model: layer %lld (%s): training block by block writes out the matrix of a convolution behind "
                    "the first, here of %.0f x %.0f numbers; 2^23 in all would do: larger strides, fewer filters",
                    (long long)number, l->text, in, out);
}

int64_t pvi_split_conv_image(const pvi_layer *l)
{
    return (l->in.h + l->pad_top + l->pad_bottom) * (l->in.w + l->pad_left + l->pad_right) * l->in.c;
}

bool pvi_split_conv_room(pvi_split_layer *k, pv_arena *a)
{
    const pvi_layer *l = k->conv;
    const int64_t rows = l->out.h * l->out.w, width = (l->in.w + l->pad_left + l->pad_right) * l->in.c;
    int32_t *at = pv_arena_get(a, sizeof *at * (size_t)rows), *bt = pv_arena_get(a, sizeof *bt * (size_t)rows);
    k->ldk = pvi_split_pad(l->units);
    k->kernel = pv_arena_get(a, sizeof(float) * (size_t)(l->n_weights / l->units * k->ldk));
    k->bias = pv_arena_get(a, sizeof(float) * (size_t)k->ldk);
    if (!at || !bt || !k->kernel || !k->bias) return false;
    for (int64_t t = 0; t < rows; t++) {
        at[t] = (int32_t)(t / l->out.w * l->stride * width + t % l->out.w * l->stride * l->in.c);
        bt[t] = (int32_t)(t * l->units);
    }
    k->taps = (pvi_taps) { at, rows, l->kernel, l->kernel * l->in.c, width };
    k->bt = bt;
    return true;
}

/* (3): Theta', inputs x outputs. */
static void write_out(const pvi_split_kernel *s, pvi_split_layer *k)
{
    const pvi_layer *l = k->conv;
    memset(k->w, 0, sizeof *k->w * (size_t)(k->in * k->ldv));
    for (int64_t t = 0; t < k->taps.rows; t++)
        for (int64_t ab = 0; ab < l->kernel * l->kernel; ab++) {
            const int64_t r = t / l->out.w * l->stride + ab / l->kernel - l->pad_top,
                          q = t % l->out.w * l->stride + ab % l->kernel - l->pad_left;
            if (r < 0 || r >= l->in.h || q < 0 || q >= l->in.w) continue;
            for (int64_t c = 0; c < l->in.c; c++)
                memcpy(k->w + ((r * l->in.w + q) * l->in.c + c) * k->ldv + t * l->units,
                       k->kernel + (ab * l->in.c + c) * k->ldk, sizeof *k->w * (size_t)l->units);
        }
    s->transpose(k->in, k->out, k->w, k->ldv, k->transposed, pvi_split_pad(k->in));
}

bool pvi_split_conv_fill(const pvi_split_kernel *s, pvi_split_layer *k, const double *w)
{
    const pvi_layer *l = k->conv;
    const int64_t taps = l->n_weights / l->units;
    float most = 0.0f;
    for (int64_t j = 0; j <= taps; j++) {
        const double *const from = w + l->weights + j * l->units;
        float *const to = j < taps ? k->kernel + j * k->ldk : k->bias;
        for (int64_t n = 0; n < l->units; n++) {
            to[n] = (float)from[n];
            most = fabsf(to[n]) <= most ? most : fabsf(to[n]); /* a NaN stays */
        }
    }
    if (!isfinite(most)) return false;
    if (k->w) write_out(s, k);
    return true;
}

/* The input as the kernels want it: with zeros around it where there are any. */
static const float *padded(const pvi_split_layer *k, const float *x, float *image)
{
    const int64_t size = pvi_split_conv_image(k->conv);
    if (size == k->in) return x;
    pvi_net_pad(k->conv, x, image, size);
    return image;
}

void pvi_split_conv_forward(const pvi_net_kernel *n, const pvi_split_layer *k, const float *x, float *image, float *v)
{
    memset(v + k->out, 0, sizeof *v * (size_t)(k->ldv - k->out));
    n->product(&k->taps, 1, padded(k, x, image), 0, k->kernel, k->ldk, k->bias, k->conv->units, false, v); /* (1) */
}

double pvi_split_conv_gradient(const pvi_net_kernel *n, const pvi_split_layer *k, const float *x, const float *d,
                               float *image, float *grad)
{
    const pvi_layer *l = k->conv;
    n->outer(&k->taps, padded(k, x, image), d, k->bt, l->units, false, grad); /* (2) */
    n->columns(k->taps.rows, l->units, d, grad + l->n_weights);
    return n->squares(grad, l->n_weights + l->n_biases);
}
