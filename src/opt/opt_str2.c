/* opt_str2.c - DP-STR as it is printed: gradient and Hessian from samples of their own.
 *
 * Iterates  S, T: two independent Poisson samples of |S| and |T| rows in expectation, fresh in every step       (1)
 *           g_t = mean of clipped gradients over S, with noise;   H_t = mean of Hessians over T, with noise
 *           the step from them as in opt_tr.c, (2) there
 * Returns   what tr does
 *
 * Privacy   A step is two releases, gradient x Gaussian x Poisson (query_gradient.c) at the rate |S|/n and Hessian x
 *           Gaussian x Poisson (query_curvature.c) at |T|/n: T of each, with one noise multiplier z, calibrated over
 *           the sum of all.  With many steps and small rates their cost is about that of variances,
 *           (2) cost ~ T (|S|^2 + |T|^2)/(n z)^2,  noise of g: z C/|S|,  of H: z K/|T|,
 *           so that at one cost g has (1 + (|T|/|S|)^2)^(1/2) times the noise it would have alone, and H has
 *           (1 + (|S|/|T|)^2)^(1/2) times: the sizes divide the budget.  One joint release (opt_str.c) has 1 and
 *           1/weight = 1.4 times where gradients and Hessians of one row are not large together.
 *           calibration=paper: the noise of opt_str.c (2) on the mean over S, and the same with K sqrt d for G on
 *           that over T.  Sums have z_g = |S| sigma/Delta_g and z_H = |T| sigma/Delta_g, the smaller one is planned
 *           and the other follows (second_order.c (7)).  What is certified is the accountant's epsilon for both.
 * Sizes     (3) Theorem 18 with alpha and calibration=paper: |S| = G^2 ln(d/zeta)/alpha^2,
 *           |T| = K^2 ln(d/zeta)/(alpha rho), 1 for the constant behind Omega and zeta = 0.05; refused where the
 *           table has no more rows than that.
 *           Otherwise n/10 rows, at least 512, for both: sampler.batch, sampler.batch_hessian.
 * Defaults  those of opt_str.c; growth is 1, and weight is what the sizes make of it.
 * Cost      T samples of each kind, and T eigendecompositions; 8 d^2 doubles; a copy of the rows.
 * Reference D. Wang, J. Xu 2020, Algorithm 2, Theorem 18. */
#include "opt/bounds.h"
#include "opt/trust_region.h"

static const double zeta = 0.05;

static pv_status batch(const void *c_, const pv_problem *p, int k, double *rows)
{
    const pvi_second_cfg *c = c_;
    const double n = (double)p->n, G = p->joint->grad, K = p->joint->hess, l = log((double)p->d / zeta);
    if (k == PVI_SECOND_MOMENTS) return PV_OK;
    if (c->calibration != PVI_SECOND_PAPER || isnan(c->alpha)) {
        if (k == PVI_SECOND_STEPS) *rows = fmin(n, fmax(ceil(n / 10.0), 512.0));
        return PV_OK;
    }
    const double size = ceil(k == PVI_SECOND_STEPS ? G * G * l / (c->alpha * c->alpha)
                                                   : K * K * l / (c->alpha * pvi_second_rho(p))); /* (3) */
    *rows = fmax(size, 1.0);
    if (size < n) return PV_OK;
    return pvi_fail(
        p->ctx, PV_E_UNSUPPORTED,
        "calibration=paper: Theorem 18 of DP-STR asks for |%s| = %.0f rows at optimizer.alpha=%g, and there "
        "are %lld: a larger alpha or %s would do; calibration=default has no such condition",
        k == PVI_SECOND_STEPS ? "S" : "T", size, c->alpha, (long long)p->n,
        k == PVI_SECOND_STEPS ? "sampler.batch" : "sampler.batch_hessian");
}

static pv_status resolve(void *c_, const pv_problem *p)
{
    pvi_second_cfg *c = c_;
    c->growth = c->weight = 1.0; /* which are no settings here */
    return pvi_trust_region_resolve(c, p);
}

static void weigh(const void *c, const pv_problem *p, pv_joint *j)
{
    (void)p;
    j->plain = ((const pvi_second_cfg *)c)->calibration == PVI_SECOND_PAPER;
    j->scale = 1.0;
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    const pvi_second_cfg *c = c_;
    if (c->calibration != PVI_SECOND_PAPER) return PV_OK;
    const double rows = fmin(p->planned[PVI_SECOND_STEPS].batch, p->planned[PVI_SECOND_HESSIAN].batch);
    *z = rows * pvi_paper_samples(p, c->loop.steps) / p->planned[PVI_SECOND_STEPS].change;
    return PV_OK;
}

const pv_optimizer_ops pv_optimizer_str2 = {
    .head = { .name = "str2",
              .summary = "private trust region, gradient and Hessian from Poisson samples of their own",
              .reference = "Wang, Xu 2020, Algorithm 2 (DP-STR)",
              .cfg_size = sizeof(pvi_second_cfg),
              .state_size = sizeof(pvi_trust_region),
              .params = pvi_trust_region_apart_params },
    .needs = PV_SMOOTH | PV_HESSIAN,
    .ask = { { &pvi_query_gradient, &pv_mechanism_gaussian, &pvi_poisson, NULL },
             PVI_PRECONDITION_ASK(&pvi_poisson, pvi_second_learns),
             { &pvi_query_curvature, &pv_mechanism_gaussian, &pvi_poisson, NULL } },
    .batch = batch,
    .resolve = resolve,
    .plan = pvi_second_plan,
    .state = pvi_trust_region_arrays,
    .init = pvi_trust_region_init,
    .step = pvi_trust_region_step,
    .steps = pvi_loop_steps,
    .noise = noise,
    .weigh = weigh,
    .warn = pvi_second_warn,
    .bounds = pvi_bounds_sampled_trust_region,
};
