/* smooth_layers.c - Laplacian smoothing of all weights: sigma of every layer, and who is whose neighbour.
 *
 * Every tensor is smoothed on its own, as one circle (smooth.c).  Its weights lie as [(q channels + c) units + n]: q
 * a pixel of the input, or of a convolution's kernel, row by row; c its channel; n the unit or filter.  The order in
 * which they stand on the circle decides what smoothing means:
 *   (1) units   (q, c, n): neighbours are the weights of one input to neighbouring units.  Units have no order of
 *               their own, so what is smoothed away is what they do not have in common
 *   (2) pixels  (n, c, q): neighbours are the weights of one unit from neighbouring pixels of one channel; of a
 *               layer behind a dense one, all of whose inputs are one pixel, from neighbouring inputs
 *   stored      as they lie: (1) for the layers of a network; (2) for linear models, which keep class after class
 * In (1) and (2) alike the last weight of one stretch is followed by the first of the next.  An order is a
 * permutation P, the smoothed gradient P' A^-1 P g: gamma and beta of smooth.c stay as they are.
 * Biases are tensors of their own, one pixel and one unit: in every order as they lie. */
#include "opt/smooth.h"

enum { STORED, PIXELS, UNITS };

pv_status pvi_smoothing_check(const pvi_smoothing_cfg *c, const pv_problem *p)
{
    return pvi_list_check(p->ctx, "optimizer.smoothing", &c->sigma, p->tensors / 2);
}

/* A model of one tensor has linear units, one after the other. */
static pv_tensor tensor_of(const pv_problem *p, int64_t i)
{
    if (p->tensors > 0) return p->tensor[i];
    return (pv_tensor) { .size = p->d, .pixels = p->d / p->outputs, .channels = 1, .units = p->outputs };
}

static int64_t tensors_of(const pv_problem *p)
{
    return p->tensors > 0 ? p->tensors : 1;
}

/* Do the units stand where the weights lie in another order? */
static bool moves(const pvi_smoothing *s, const pv_problem *p, const pv_tensor *t)
{
    if (t->units <= 1 || t->units == t->size || t->pixels * t->channels * t->units != t->size) return false;
    return s->order == (p->tensors > 0 ? PIXELS : UNITS);
}

pv_status pvi_smoothing_open(pvi_smoothing *s, const pvi_smoothing_cfg *c, const pv_problem *p, pv_arena *a)
{
    const int64_t n = c->sigma.n == 1 ? 1 : p->tensors / 2;
    int64_t room = 0;
    *s = (pvi_smoothing) { .n = n, .order = c->order, .one = pv_arena_get(a, sizeof *s->one * (size_t)n) };
    if (!s->one) return pvi_nomem(p->ctx);
    for (int64_t i = 0; i < tensors_of(p); i++) {
        const pv_tensor t = tensor_of(p, i);
        if (moves(s, p, &t) && pvi_list_at(&c->sigma, i / 2) > 0.0 && t.size > room) room = t.size;
    }
    s->room = room ? pv_arena_f64(a, room) : NULL;
    if (room && !s->room) return pvi_nomem(p->ctx);
    for (int64_t i = 0; i < n; i++) {
        const int64_t most = n == 1 ? p->d : p->tensor[2 * i].size + p->tensor[2 * i + 1].size;
        const pv_status st = pvi_smooth_open(&s->one[i], a, pvi_list_at(&c->sigma, i), most);
        if (st != PV_OK) return st;
    }
    return PV_OK;
}

/* (q, c, n) to (n, c, q) */
static void to_pixels(const pv_tensor *t, const double *g, double *out)
{
    const int64_t Q = t->pixels, C = t->channels, U = t->units;
    for (int64_t q = 0; q < Q; q++)
        for (int64_t c = 0; c < C; c++)
            for (int64_t n = 0; n < U; n++) out[(n * C + c) * Q + q] = g[(q * C + c) * U + n];
}

/* (n, c, q) to (q, c, n) */
static void to_units(const pv_tensor *t, const double *g, double *out)
{
    const int64_t Q = t->pixels, C = t->channels, U = t->units;
    for (int64_t q = 0; q < Q; q++)
        for (int64_t c = 0; c < C; c++)
            for (int64_t n = 0; n < U; n++) out[(q * C + c) * U + n] = g[(n * C + c) * Q + q];
}

static void smooth_moved(const pvi_smoothing *s, const pvi_smoother *one, bool network, const pv_tensor *t, double *g)
{
    void (*const there)(const pv_tensor *, const double *, double *) = network ? to_pixels : to_units;
    void (*const back)(const pv_tensor *, const double *, double *) = network ? to_units : to_pixels;
    there(t, g, s->room);
    pvi_smooth(one, s->room, t->size);
    back(t, s->room, g);
}

void pvi_smoothing_apply(const pvi_smoothing *s, const pv_problem *p, double *g)
{
    for (int64_t i = 0; i < tensors_of(p); i++) {
        const pv_tensor t = tensor_of(p, i);
        const pvi_smoother *one = &s->one[s->n == 1 ? 0 : i / 2];
        if (one->sigma > 0.0 && moves(s, p, &t)) smooth_moved(s, one, p->tensors > 0, &t, g);
        else pvi_smooth(one, g, t.size);
        g += t.size;
    }
}
