/* outlook.c - will noise leave anything to be learned?  Said before a row is looked at, from public quantities.
 *
 * All gradients that a run releases, averaged, have noise of standard deviation s = C/(n mu) in each of d weights
 * (twice that under replace; defaults.c), of length sqrt(d) s.  What there is to learn shows as a mean gradient at
 * the start, of length g: with curvature h a step along it lowers the loss by g^2/(2 h), and the noise raises it by
 * d s^2/(2 h).  So noise outweighs what can be learned where
 * (1) r = g/(sqrt(d) s) = 0.05 n mu/sqrt(d)  is below 1, with g = 0.05 C for a signal of ordinary size.
 * 0.05 is not derived but chosen on seven tables (docs/results/optimizers.md): below 1 most models have less than
 * half of the AUC above 0.5 that they have without noise, above it most have more.  A signal may be stronger or
 * weaker: that depends on the rows, and cannot be known here.
 * (2) r is 1 with n/r units, or, mu being about in proportion to epsilon, with epsilon/r, or with r^2 d weights:
 *     near 1, where delta and the proportion stay.  Far below 1 no number is given.
 * Networks  are left out: their d weights are far more than the directions that gradients use.  Their defaults are
 *           for images; with a table a note says that a linear model is mostly better. */
#include "opt/opt.h"
#include "plan/job.h"

double pvi_job_outlook(const pvi_job *j)
{
    const bool sums = j->release[0].kind && j->release[0].kind->mech->entry && !j->opt->descend && !j->opt->released;
    return j->private_run && sums && isfinite(j->prob.L) ? pvi_signal_to_noise(&j->prob) : NAN;
}

void pvi_outlook_log(const pvi_job *j)
{
    const double r = pvi_job_outlook(j);
    if (j->opt->released) return; /* nothing is learned */
    if (j->private_run && j->model.ops->props & PV_NETWORK && j->dom.height == 0)
        pvi_log(j->ctx, PV_LOG_NOTE,
                "model = %s: its defaults are for images; probabilities for rows of a table are mostly better with "
                "model=auto",
                j->model.named->name);
    if (!(r < 1.0)) return;
    if (r < 0.3) {
        pvi_log(
            j->ctx, PV_LOG_NOTE,
            "noise will outweigh what can be learned (signal to noise about %.2g): many more %ss, a larger epsilon "
            "or fewer columns are needed",
            r, pvi_unit_word(&j->dom));
        return;
    }
    pvi_log(j->ctx, PV_LOG_NOTE,
            "noise is likely to outweigh what can be learned (signal to noise about %.2g): about %.2g %ss, epsilon "
            "%.2g, or %lld weights instead of %lld would bring it to about 1",
            r, (double)j->dom.n / r, pvi_unit_word(&j->dom), j->prob.epsilon / r,
            (long long)fmax(1.0, floor(r * r * (double)j->prob.d)), (long long)j->prob.d); /* (2) */
}
