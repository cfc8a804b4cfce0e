/* curvature.c - NOT PRIVATE: the lowest eigenvalue of the Hessian F''(w), from exact gradients.
 *
 *   (1)  products F''(w) v are differences of gradients, (F'(w + e v) - F'(w - e v)) / 2e for ||v|| = 1: every model
 *        with a gradient has them, in the time of two, and no d x d matrix is held
 *   (2)  Lanczos (eval/stationarity.c (4)) finds the Ritz value t and its vector u
 *   (3)  the quotient q(e) = u' (F'(w + e u) - F'(w - e u)) / 2e is u'F''u up to c e^2 + O(e^4).  What is reported is
 *        (4 q(e/2) - q(e))/3, without c; and as its error the residual of (2), |q(e/2) - q(e)|, which shows rounding
 *        too, and |t - q(e)|, by how much the products of (1) fail to be linear
 *
 * Only where loss and penalty are differentiable twice, everywhere: not with relu or maximum pooling, nor where a
 * model's gradients are those of several problems (split networks).
 *
 * Privacy   none, as in diagnose.c. */
#include "eval/eval.h"
#include "model/net.h"
#include "run/run.h"

static const double reach = 0.05; /* e of (1) */

typedef struct hessian {
    pvi_diagnosis *x;
    const double *w;
    double *at, *up; /* work */
    double e;
    int64_t d;
    pv_status s;
} hessian;

/* (1) */
static void differences(void *arg, const double *v, double *y)
{
    hessian *h = arg;
    for (int side = 1; side >= -1 && h->s == PV_OK; side -= 2) {
        for (int64_t i = 0; i < h->d; i++) h->at[i] = h->w[i] + side * h->e * v[i];
        h->s = pvi_diagnose_gradient(h->x, h->at, side > 0 ? h->up : y);
    }
    for (int64_t i = 0; i < h->d; i++) y[i] = h->s == PV_OK ? (h->up[i] - y[i]) / (2.0 * h->e) : 0.0;
}

int64_t pvi_curvature_work(int64_t d)
{
    return pvi_lanczos_work(d) + 4 * d;
}

static double quotient(hessian *h, double e, const double *u, double *y)
{
    h->e = e;
    differences(h, u, y);
    return pvi_dot(u, y, h->d);
}

pv_status pvi_curvature(pvi_diagnosis *x, int64_t d, const double *w, double *work, pvi_lowest *out)
{
    double *u = work + 2 * d, *y = work + 3 * d, residual;
    hessian h = { .x = x, .w = w, .d = d, .at = work, .up = work + d, .e = reach };
    const double t = pvi_lowest_eigenvalue(d, differences, &h, work + 4 * d, u, &residual); /* (2) */
    const double whole = quotient(&h, reach, u, y), half = quotient(&h, 0.5 * reach, u, y);
    out->value = (4.0 * half - whole) / 3.0; /* (3) */
    out->error = residual + fabs(half - whole) + fabs(t - whole);
    return h.s;
}

static bool smooth_layers(const pvi_net *net)
{
    for (int64_t i = 0; i < net->n; i++)
        if (net->layer[i].kind == PVI_LAYER_RELU || net->layer[i].kind == PVI_LAYER_MAXPOOL) return false;
    return true;
}

const char *pvi_curvature_missing(const pvi_job *j)
{
    const uint32_t props = pvi_model_props(&j->model);
    const pv_reg_ops *reg = j->prob.reg;
    if (!reg->grad || (!(reg->props & PV_ZERO) && !reg->curv)) return "the penalty is not differentiable twice";
    if (props & PV_HESSIAN) return NULL;
    if (props & PV_BLOCKS) return "the layers of a split network have problems of their own";
    if (props & PV_NETWORK && smooth_layers(&((const pvi_net_cfg *)j->model.cfg)->net)) return NULL;
    return props & PV_NETWORK ? "relu and maximum pooling are not differentiable twice"
                              : "the loss is not differentiable twice";
}
