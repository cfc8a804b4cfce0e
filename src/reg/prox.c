/* prox.c - penalty and constraint set together in one exact proximal step.
 *
 * For a step eta > 0, a penalty r and a closed convex set C,
 *   (1)  prox(u) = argmin_{x in C}  r(x) + ||x - u||^2 / (2 eta).
 * Write S_t(u) = sign(u) max(|u| - t, 0) coordinate-wise and P for the projection onto C.
 *
 * The penalties with a prox are  r(x) = a ||x||_1 + (m/2) ||x||^2,  a, m >= 0 (flag PV_ELASTIC).
 * Completing the square gives, with c = 1 + eta m,
 *   (2)  r(x) + ||x - u||^2/(2 eta) = a ||x||_1 + c/(2 eta) ||x - u/c||^2 + const,
 * so the quadratic part always reduces to a scaling, on every set: with a = 0, prox(u) = P(u/c),
 * and otherwise (1) is the problem of a ||x||_1 alone at u/c with step eta/c.  The proofs below are
 * therefore for r = a ||x||_1; t = eta a.  In each, the claim is prox(u) = P(S_t(u)), except (6).
 *
 *   (3)  C = { ||x||_2 <= R }.  z = S_t(u) satisfies u - z = t s for some s in d||z||_1.  Let
 *        x = k z, k = min(1, R/||z||).  As k > 0 (z = 0 is its own projection), d||x||_1 = d||z||_1,
 *        hence  a s + (x - u)/eta + mu x = 0  with  mu = (1/k - 1)/eta >= 0  and  mu > 0 only if
 *        ||x|| = R: the Karush-Kuhn-Tucker conditions of (1), sufficient because (1) is convex.
 *   (4)  C = { lo_j <= x_j <= hi_j } (box, l_inf ball).  (1) splits into scalar problems.  A strictly
 *        convex function on an interval is minimal at its free minimiser clamped to the interval.
 *   (5)  C = { ||x||_1 <= R }.  With a multiplier mu >= 0 the conditions of (1) read
 *        (a + mu) s + (x - u)/eta = 0, s in d||x||_1, so x = S_{t + eta mu}(u) = S_{eta mu}(S_t(u)),
 *        with mu > 0 only if ||x||_1 = R.  P(z) has the same form with z = S_t(u) in place of u (its
 *        conditions are those above with a = 0), so x = P(S_t(u)).
 *   (6)  C = { x >= 0, sum x = R } (simplex).  ||x||_1 = R on all of C, the penalty is a constant, and
 *        prox(u) = P(u).  Thresholding first would be wrong.
 *
 * (3)-(5) are what the flag PV_L1_FIRST of a set promises, (6) is PV_L1_FLAT.  Anything else is
 * refused when the run is planned.  A penalty without a prox (the smooth non-convex one) is left to
 * the gradient, so its pv_prox is P alone and pv_reg_grad adds r'.
 *
 * Reference  composing two proximal maps is not exact in general: Y.-L. Yu, On decomposing the proximal map,
 *            NIPS 2013. */
#include "reg.h"

static bool has_prox(const pv_reg_ops *reg)
{
    return reg && reg->prox;
}

pv_status pvi_prox_check(pv_ctx *ctx, const pv_reg_ops *reg, const pv_set_ops *set)
{
    if (reg && !reg->prox && !reg->grad)
        return pvi_fail(ctx, PV_E_UNSUPPORTED, "reg=%s has neither a proximal step nor a gradient", reg->head.name);
    if (!set) return PV_OK;
    if (!set->project)
        return pvi_fail(ctx, PV_E_UNSUPPORTED,
                        "set=%s has no exact projection, only a linear oracle; a Frank-Wolfe optimizer would work",
                        set->head.name);
    if (!has_prox(reg)) return PV_OK;
    if (!(reg->props & PV_ELASTIC))
        return pvi_fail(ctx, PV_E_UNSUPPORTED,
                        "no exact proximal step is known for reg=%s on set=%s; without a set it works",
                        reg->head.name, set->head.name);
    if (!(reg->props & PV_SMOOTH) && !(set->props & (PV_L1_FIRST | PV_L1_FLAT)))
        return pvi_fail(ctx, PV_E_UNSUPPORTED,
                        "no exact proximal step is known for reg=%s on set=%s; reg=%s would work", reg->head.name,
                        set->head.name, pv_names_with(PV_KIND_reg, PV_ELASTIC | PV_SMOOTH).text);
    return PV_OK;
}

void pv_prox(const pv_problem *p, double eta, double *w)
{
    const pv_reg_ops *reg = p->reg;
    if (p->set && (p->set->props & PV_L1_FLAT)) { /* (6): only the scaling of (2) is left */
        if (has_prox(reg) && reg->strong) pvi_scale(w, 1.0 / (1.0 + eta * reg->strong(p->reg_cfg)), p->d);
    } else if (has_prox(reg)) {
        pvi_penalty_prox(p, eta, w);
    }
    if (p->set) p->set->project(p->set_st, p->set_cfg, w, p->d);
}

void pv_reg_grad(const pv_problem *p, const double *w, double *g)
{
    if (p->reg && !p->reg->prox && p->reg->grad) pvi_penalty_grad(p, w, g);
}

void pvi_set_start(const pv_problem *p, double *w)
{
    if (p->start) memcpy(w, p->start, (size_t)p->d * sizeof *w);
    else memset(w, 0, (size_t)p->d * sizeof *w);
    if (!p->set) return;
    if (p->set->project) p->set->project(p->set_st, p->set_cfg, w, p->d);
    else p->set->lmo(p->set_st, p->set_cfg, w, w, p->d); /* no direction preferred: any member */
}
