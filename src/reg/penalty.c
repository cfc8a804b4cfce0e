/* penalty.c - the penalty of all weights: the same in all of them, or stronger in one layer than in another.
 *
 *   (1) r(w) = sum_d a_d r(w_d),  w_d the weights and biases of layer d,  a_d >= 0 its factor (reg.layers)
 *   (2) the sum has a term for every layer, so its prox is that of each layer on its own, and
 *         prox_{eta, a r}(w) = argmin_x a r(x) + ||x - w||^2/(2 eta) = prox_{eta a, r}(w)   for a > 0;   w for a = 0
 *       multiply the objective by 1/a.  So factors need nothing of a penalty that it does not have.
 *   (3) r is strongly convex with min_d a_d times the constant of r, smooth with max_d a_d times that of r'.
 * One factor a for all weights is (1) with a_d = a.  With a constraint set, which ties the layers together, (2)
 * fails: factors are refused there.
 * A penalty is a function of the weights alone, which are released values: it has no part in sensitivity or cost, but
 * for a descent that releases its end alone (query_descent.c (6)). */
#include "reg.h"

static bool differ(const pv_problem *p)
{
    return p->reg_layers && p->reg_layers->n > 1;
}

/* Of all weights, where they do not differ. */
static double common(const pv_problem *p)
{
    return p->reg_layers && p->reg_layers->n == 1 ? p->reg_layers->v[0] : 1.0;
}

pv_status pvi_penalty_check(const pv_problem *p, const pv_numbers *factors)
{
    const pv_status s = pvi_list_check(p->ctx, "reg.layers", factors, p->tensors / 2);
    if (s != PV_OK || (factors->n == 1 && factors->v[0] == 1.0)) return s;
    if (p->reg->props & PV_ZERO)
        return pvi_fail(p->ctx, PV_E_PARAM, "reg.layers are factors of a penalty, and there is none: add reg=%s",
                        pv_names_with(PV_KIND_reg, PV_SMOOTH | PV_STRONG).text);
    if (p->tensors == 0)
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                        "reg.layers is for networks; the penalty of other models has its own factor, reg.lambda");
    if (p->set)
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                        "no exact proximal step is known for reg.layers on set=%s; without a set it works",
                        p->set->head.name);
    return PV_OK;
}

static int64_t layers(const pv_problem *p)
{
    return differ(p) ? p->tensors / 2 : 1;
}

static int64_t size_of(const pv_problem *p, int64_t layer)
{
    return differ(p) ? p->tensor[2 * layer].size + p->tensor[2 * layer + 1].size : p->d;
}

static double factor(const pv_problem *p, int64_t layer)
{
    return differ(p) ? p->reg_layers->v[layer] : common(p);
}

double pvi_penalty_value(const pv_problem *p, const double *w) /* (1) */
{
    double sum = 0.0;
    for (int64_t i = 0; i < layers(p); w += size_of(p, i++))
        sum += factor(p, i) * p->reg->value(p->reg_cfg, w, size_of(p, i));
    return sum;
}

/* g += a r'(w), a block at a time: the penalty adds r' itself. */
static void add_slope(const pv_problem *p, double a, const double *w, double *g, int64_t d)
{
    enum { BLOCK = 256 };
    double slope[BLOCK];
    for (int64_t j = 0; j < d; j += BLOCK) {
        const int64_t n = d - j < BLOCK ? d - j : BLOCK;
        memset(slope, 0, sizeof slope);
        p->reg->grad(p->reg_cfg, w + j, slope, n);
        for (int64_t k = 0; k < n; k++) g[j + k] += a * slope[k];
    }
}

void pvi_penalty_grad(const pv_problem *p, const double *w, double *g)
{
    for (int64_t i = 0; i < layers(p); w += size_of(p, i), g += size_of(p, i), i++) {
        if (factor(p, i) == 1.0) p->reg->grad(p->reg_cfg, w, g, size_of(p, i));
        else add_slope(p, factor(p, i), w, g, size_of(p, i));
    }
}

void pvi_penalty_prox(const pv_problem *p, double eta, double *w) /* (2) */
{
    for (int64_t i = 0; i < layers(p); w += size_of(p, i++))
        if (factor(p, i) > 0.0) p->reg->prox(p->reg_cfg, eta * factor(p, i), w, size_of(p, i));
}

double pvi_penalty_strong(const pv_problem *p) /* (3) */
{
    double least = (double)INFINITY;
    for (int64_t i = 0; i < layers(p); i++) least = fmin(least, factor(p, i));
    return p->reg->strong ? least * p->reg->strong(p->reg_cfg) : 0.0;
}
