/* opt_str.c - DP-STR: the trust-region method on samples of the rows.
 *
 * Iterates  as opt_tr.c, each event a fresh Poisson sample of the rows: step t averages the releases of u_t samples,
 *           (g_t, H_t) = mean of u_t joint releases at w, one sample each                                    (1)
 * Returns   what tr does
 *
 * Privacy   (1) is u_t Poisson-sampled Gaussian events; gradient and Hessian of one sample share one event.  The
 *           loss-distribution accountant composes them.
 *           calibration=paper: two mechanisms a step, each made 2 gamma epsilon_0 by sampling a share gamma of the
 *           rows (its Lemma 5), 2T of them composed by its Lemma 4.  For sigma = sqrt(2 ln(1.25/delta_0))
 *           Delta/epsilon_0 that asks on the mean of a sample for the variance
 *           (2) sigma^2 = 512 G^2 T ln(5T/delta) ln(2/delta)/(n epsilon)^2,
 *           twice what is printed (256): the printed noise is too small by its own proof, and (2) is used.  A release
 *           sums m = gamma n rows with noise z Delta, so z = m sigma/Delta, Delta = B or 2 B: query_hessian.c (2).
 *           What is certified is the accountant's epsilon for that z.
 * Defaults  T = 48, growth 1; a sample holds n/10 rows (at least 512): sampler.batch.
 * Cost      sum_t u_t samples, and T eigendecompositions; 7 d^2 doubles; transformed rows as in opt_tr.c.
 * Reference D. Wang, J. Xu 2020, Algorithm 2; Abadi et al. 2016 for the sampled Gaussian. */
#include "opt/bounds.h"
#include "opt/trust_region.h"

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    const pvi_second_cfg *c = c_;
    if (c->calibration != PVI_SECOND_PAPER) return PV_OK;
    if (c->growth != 1.0)
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                        "optimizer.growth=%g: the paper's noise is for steps of equal budget; leave it out, or "
                        "calibration=default",
                        c->growth);
    *z = p->batch * pvi_paper_samples(p, c->loop.steps) / p->planned[0].change;
    return PV_OK;
}

const pv_optimizer_ops pv_optimizer_str = {
    .head = { .name = "str",
              .summary = "private trust region on Poisson samples of the rows",
              .reference = "Wang, Xu 2020 (DP-STR)",
              .cfg_size = sizeof(pvi_second_cfg),
              .state_size = sizeof(pvi_trust_region),
              .params = pvi_trust_region_params },
    .needs = PV_SMOOTH | PV_HESSIAN,
    .ask = { { &pvi_query_hessian, &pv_mechanism_gaussian, &pvi_poisson, NULL },
             PVI_PRECONDITION_ASK(&pvi_poisson, pvi_second_learns) },
    .resolve = pvi_trust_region_resolve,
    .plan = pvi_second_plan,
    .state = pvi_trust_region_arrays,
    .init = pvi_trust_region_init,
    .step = pvi_trust_region_step,
    .steps = pvi_loop_steps,
    .noise = noise,
    .weigh = pvi_second_weigh,
    .warn = pvi_second_warn,
    .bounds = pvi_bounds_sampled_trust_region,
};
