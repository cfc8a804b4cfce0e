/* mirror.c - which mirror map goes with which set; the Euclidean map.
 *
 * Euclidean: psi(x) = ||x||^2/2, D(x, w) = ||x - w||^2/2, modulus 1 in l2, and
 *   (1)  argmin_{x in C} eta (<g, x> + r(x)) + ||x - w||^2/2 = prox_{eta r, C}(w - eta g),
 * the ordinary proximal step, exact wherever prox.c is. */
#include "reg.h"

extern const pv_mirror_ops pv_mirror_euclidean;

const pv_mirror_ops *pvi_mirror_default(const pv_set_ops *set)
{
    for (int64_t i = 0; set && pv_nth(PV_KIND_mirror, i); i++) {
        const pv_mirror_ops *m = (const pv_mirror_ops *)pv_nth(PV_KIND_mirror, i);
        if (m->on & set->props) return m;
    }
    return &pv_mirror_euclidean;
}

/* A set that the map is made for. */
static const char *made_for(const pv_mirror_ops *map)
{
    const pv_plugin *h;
    for (int64_t i = 0; (h = pv_nth(PV_KIND_set, i)); i++)
        if (((const pv_set_ops *)(const void *)h)->props & map->on) return h->name;
    return "?";
}

pv_status pvi_mirror_l1_check(pv_ctx *ctx, const pv_mirror_ops *map, const pv_reg_ops *reg, const pv_set_ops *set)
{
    if (!set || !(set->props & map->on))
        return pvi_fail(ctx, PV_E_UNSUPPORTED,
                        "mirror=%s works on set=%s only, not on set=%s; mirror=euclidean would work", map->head.name,
                        made_for(map), set ? set->head.name : "none");
    if (!reg || !reg->prox) return PV_OK;
    if ((reg->props & PV_ELASTIC) && !(reg->props & PV_STRONG)) return PV_OK; /* no quadratic part */
    return pvi_fail(ctx, PV_E_UNSUPPORTED,
                    "mirror=%s has no exact step for reg=%s; reg=none, reg=l1 or mirror=euclidean would work",
                    map->head.name, reg->head.name);
}

static void step(const pv_problem *p, double eta, const double *g, double *w)
{
    for (int64_t j = 0; j < p->d; j++) w[j] -= eta * g[j];
    pv_prox(p, eta, w); /* (1) */
}

static double divergence(const pv_problem *p, const double *x, const double *w)
{
    double s = 0.0;
    for (int64_t j = 0; j < p->d; j++) s += (x[j] - w[j]) * (x[j] - w[j]);
    return 0.5 * s;
}

static double modulus(const pv_problem *p)
{
    (void)p;
    return 1.0;
}

const pv_mirror_ops pv_mirror_euclidean = {
    .head = { .name = "euclidean",
              .summary = "||x||^2/2 on any set with a projection",
              .reference = "Nemirovski, Yudin 1983",
              .params = pv_no_params },
    .check = pvi_prox_check,
    .step = step,
    .divergence = divergence,
    .modulus = modulus,
};
