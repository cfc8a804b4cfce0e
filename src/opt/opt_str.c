/* opt_str.c - DP-STR: the trust-region method on samples of the rows.
 *
 * Iterates  as opt_tr.c, each event a fresh Poisson sample of the rows: step t averages the releases of u_t samples,
 *           (g_t, H_t) = mean of u_t joint releases at w, one sample each                                    (1)
 * Returns   the last iterate
 *
 * Privacy   (1) is u_t Poisson-sampled Gaussian events; gradient and Hessian of one sample share one event.  The paper
 *           draws two samples per step and composes (epsilon, delta) pairs; re-deriving its constant from its own Lemmas 4
 *           and 5 for the 2T mechanisms it runs gives 512 G^2 T ln(5T/delta) ln(2/delta)/(n epsilon)^2, twice the
 *           printed variance: the printed noise is too small by its own proof.  The loss-distribution accountant
 *           on (1) needs far less than either.  calibration=paper: its sensitivities and equal shares, accounted for the
 *           same way.
 * Defaults  T = 20, growth 8; a sample holds n/20 rows (within 512 .. 16384): sampler.batch.
 * Cost      sum_t u_t samples, and T eigendecompositions; 4 d^2 doubles.
 * Reference D. Wang, J. Xu 2020, Algorithm 2; Abadi et al. 2016 for the sampled Gaussian. */
#include "opt/region.h"

static pv_status resolve(void *c, const pv_problem *p)
{
    return pvi_region_resolve(c, p, 20, 8.0);
}

const pv_optimizer_ops pv_optimizer_str = {
    .head = { .abi = PV_PLUGIN_ABI,
              .name = "str",
              .summary = "private trust region on Poisson samples of the rows",
              .reference = "Wang, Xu 2020 (DP-STR)",
              .cfg_size = sizeof(pvi_second_cfg),
              .state_size = sizeof(pvi_region),
              .params = pvi_region_params },
    .needs = PV_SMOOTH | PV_HESSIAN,
    .resolve = resolve,
    .plan = pvi_second_plan,
    .init = pvi_region_init,
    .step = pvi_region_step,
    .steps = pvi_loop_steps,
    .stochastic = true,
    .joint = pvi_second_joint,
};
