/* opt_tr.c - DP-TR: private trust-region steps to a second-order stationary point.
 *
 * Solves    min (1/n) sum_i f(w; z_i) + r(w), f and r twice differentiable, not necessarily convex
 * Iterates  (g_t, H_t) = ask(w)        one joint release: clipped, summed, noised, metered        (1)
 *           h_t = argmin_{||h|| <= r} <g_t, h> + h'H_t h/2, globally                                       (2)
 *           w <- w + h_t, and r by how well (2) predicted the gradient at its end (trust_region.c),
 *           all in coordinates that a first release of second moments gives (precondition.c)
 * Returns   the mean of the last half of the iterates, moved to a lower local minimum if the penalty has many
 *           (basins.c)
 *
 * Names     T: steps   r: radius   u_t: events spent on step t (second_order.c)
 * Privacy   (1) is one Gaussian release of a vector whose sensitivity is derived in query_hessian.c (1), (2); all
 *           else is a function of released values.  The run costs u_0 + sum_t u_t Gaussian events of equal multiplier
 *           and nothing more, u_0 for second moments (query_moments.c (1), (2)); u events on one sum: release.c (4).
 *           Against the paper's calibration, per unit of budget:
 *           (a) a row's Hessian has rank one, so its Frobenius norm is at most K = sup|phi''| R^2, not K sqrt d;
 *           (b) rows of convex losses have Hessians with <H, H'> >= 0: sqrt 2 K when one is replaced, not 2 K;
 *           (c) noise equal in all directions of the Frobenius norm: half the variance off the diagonal;
 *           (d) gradient and Hessian in one vector, clipped together: the two are never large at once, and for
 *               logistic rows the Hessian is free up to weight 0.7 (glm_joint.c);
 *           (e) exact Gaussian composition, all releases averaged, and noise shaped by the rows' second moments.
 *           calibration=paper has none of (a)-(e) but its own sensitivities 2 G and 2 K sqrt d with equal shares, and
 *           the variances 4 G^2 T/(n^2 phi) and 4 d K^2 T/(n^2 phi) of its Theorem 14 (paper.c (9)); what is
 *           certified is the accountant's epsilon for them.
 * Defaults  T = 48, growth 1; the rest in trust_region.c.
 * Chosen    by optimizer=auto for logistic regression where noise leaves second derivatives readable and the steps
 *           take no more time than those of gradient descent.  All releases of the Hessian, averaged, have noise of
 *           norm sqrt(d) C/(n mu s), s the weight of the Hessian, and no curvature is above K = 0.7 C/s: their ratio
 *           is sqrt(d)/(0.7 n mu), twice that under replace.  The metric divides by eigenvalues that are the smaller
 *           the more columns there are, so that
 *             k = sqrt(d)/(n mu) max(1, (d/50)^2) <= 0.005                                                     (3)
 *           is asked for; the factor of d and 0.005 are not derived but chosen on ijcnn1, a9a and made-up tables of
 *           500 to 1,000,000 rows and 6 to 200 columns (docs/results/optimizers.md): above it gradient descent may
 *           order rows better, whatever becomes of the probabilities.  Steps: 2^33/(n d^2) within 8 .. 16, more were
 *           no better; one takes the time of about 0.3 d gradient steps, so no more of them than that allows  (4)
 *           and 8 of them at most 2^33 products, a second or two: with the hundreds of weights that curves are, tr is
 *           no better than gradient descent on samples, and slower                                           (5)
 * Cost      one pass over the rows with a rank-k update, and an eigendecomposition, per step; 7 d^2 doubles.
 *           Transformed rows take the place of the others, or are made in each pass (run.copy).
 * Reference D. Wang, J. Xu, Escaping saddle points of empirical risk privately and scalably via DP-trust region
 *           method, ECML PKDD 2020, Algorithm 1, Theorems 14 and 15. */
#include "opt/bounds.h"
#include "opt/trust_region.h"

static const double most_noise = 0.005, wide = 50.0, gradients = 0.3, work = 0x1p33;
enum { LEAST = 8, MOST = 16 };

static int64_t quick_steps(const pv_problem *p) /* (4) */
{
    const double d = (double)p->d, n = (double)p->n, T = fmin(fmax(work / (n * d * d), LEAST), MOST);
    return (int64_t)fmin(T, (double)pvi_default_pgd_steps(p) / (gradients * d));
}

static bool suits(const pv_problem *p)
{
    const double d = (double)p->d, wider = fmax(1.0, d / wide);
    return pvi_precondition_fits(p) && sqrt(d) * pvi_run_noise(p, 1.0) * wider * wider <= most_noise && /* (3) */
           quick_steps(p) >= LEAST && LEAST * gradients * d * d * (double)p->n <= work;                 /* (5) */
}

static void adjust(void *cfg, const pv_problem *p)
{
    ((pvi_second_cfg *)cfg)->loop.steps = quick_steps(p);
}

static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    const pvi_second_cfg *c = c_;
    return c->calibration == PVI_SECOND_PAPER ? pvi_paper_joint(p, c->loop.steps, c->growth, z) : PV_OK;
}

const pv_optimizer_ops pv_optimizer_tr = {
    .head = { .name = "tr",
              .summary = "private trust region: noisy gradient and Hessian in one release",
              .reference = "Wang, Xu 2020, Algorithm 1 (DP-TR)",
              .cfg_size = sizeof(pvi_second_cfg),
              .state_size = sizeof(pvi_trust_region),
              .params = pvi_trust_region_params },
    .auto_for = PV_ANY_MODEL | PV_FOR_TWO,
    .suits = suits,
    .adjust = adjust,
    .needs = PV_SMOOTH | PV_HESSIAN,
    .ask = { { &pvi_query_hessian, &pv_mechanism_gaussian, &pvi_full, NULL },
             PVI_PRECONDITION_ASK(&pvi_full, pvi_second_learns) },
    .resolve = pvi_trust_region_resolve,
    .plan = pvi_second_plan,
    .state = pvi_trust_region_arrays,
    .init = pvi_trust_region_init,
    .step = pvi_trust_region_step,
    .steps = pvi_loop_steps,
    .noise = noise,
    .weigh = pvi_second_weigh,
    .warn = pvi_second_warn,
    .bounds = pvi_bounds_trust_region,
};
