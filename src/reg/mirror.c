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

/* Without a quadratic part. */
static bool has_step(const pv_plugin *h, uint32_t of)
{
    const pv_reg_ops *reg = (const pv_reg_ops *)(const void *)h;
    (void)of;
    return !reg->prox || ((reg->props & PV_ELASTIC) && !(reg->props & PV_STRONG));
}

pv_status pvi_mirror_l1_check(pv_ctx *ctx, const pv_mirror_ops *map, const pv_reg_ops *reg, const pv_set_ops *set)
{
    if (!set || !(set->props & map->on))
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "mirror=%s works on set=%s only, not on set=%s; mirror=%s would work",
                        map->head.name, pv_names_with(PV_KIND_set, map->on).text, set ? set->head.name : "none",
                        pv_mirror_euclidean.head.name);
    if (!reg || has_step(&reg->head, 0)) return PV_OK;
    return pvi_fail(ctx, PV_E_UNSUPPORTED, "mirror=%s has no exact step for reg=%s; reg=%s or mirror=%s would work",
                    map->head.name, reg->head.name, pv_names_where(PV_KIND_reg, has_step, 0).text,
                    pv_mirror_euclidean.head.name);
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
