/* paper.c - calibration=paper: the noise the papers' own theorems ask for, where their conditions hold.
 *
 * The multiplier z is noise over sensitivity of one release; T releases, batch b of n rows, tau = b/n.  Whatever z
 * comes out, the certified epsilon is the accountant's for that z, never the theorem's; a z that is too small for the
 * budget is refused when the plan is costed.
 *
 * DP-LSSGD, Theorem 2 (sgd, adam).  nu^2 = 20 T alpha G^2/(mu n^2 epsilon) on the mean of a batch, whose sensitivity
 * under replace is 2 G/b, so that
 *   (1)  z^2 = 5 T alpha b^2/(mu n^2 epsilon),   alpha = ln(1/delta)/((1 - mu) epsilon) + 1,   mu in (0, 1)
 *   (2)  conditions: batches of fixed size, z^2 >= 1.5, alpha <= ln(1/(tau (1 + z^2)))
 * The mu with the least noise among those that meet (2) is taken; (2) fails for all of them where epsilon is small or
 * the batch large: at alpha = 1 + ln(1/delta)/epsilon and z^2 = 1.5, the best case, it needs
 *   (3)  epsilon >= ln(1/delta)/(ln(n/(2.5 b)) - 1).
 *
 * DP-PGD, DP-FW-L2, DP-PMD (Theorems 2, 4, 5 of Wang, Xu 2019).  rho + 2 sqrt(rho ln(1/delta)) = epsilon, and T
 * Gaussian releases of the whole gradient cost T/(2 z^2) = rho in zCDP:
 *   (4)  z = sqrt(T/(2 rho)),   i.e. sigma^2 = 2 G^2 T/(n^2 rho) under replace.
 * Printed is 2 L^2 T/(n^2 rho^2): the bound on a gradient is G, not the smoothness L, and rho^2 would be too little
 * noise for rho > 1.
 *   (5)  conditions: full gradients, a smooth loss, the step no longer than below, no momentum (pgd, pmd); a bounded
 *        set symmetric about 0 (fw-l2, pmd), where h(g) = max_{v in C} <v, g> has h(g) = h(-g): tried in random
 *        directions
 * With ||C|| the radius of the set, w its Gaussian width, W = ||C||^2 + w^2, and 1 for the constants behind O:
 *   (6)  pgd, Theorem 2     gamma = 1/(2L),          T = n epsilon/sqrt(d ln(1/delta)), whatever the set
 *   (7)  fw-l2, Theorem 4   gamma = (W ln(1/delta))^(1/4)/(||C|| sqrt(n epsilon)),  T = n epsilon/sqrt(W
 *        ln(1/delta)), so that gamma = 1/(||C|| sqrt(T)), which is used for any T and must be at most 1.  Printed in
 *        gamma is ||C|| + w^2; its Lemma 4, its T and its bound (6) have the square.
 *   (8)  pmd, Theorem 5     gamma = 1/(2L ||C||^2),  T = n epsilon ||C||/sqrt(W ln(1/delta)), for a map of modulus 1
 *        in the norm whose unit ball is C.  A map of modulus m in a norm not below l2's (mirror.c) is divided by m:
 *        gamma = m/(2L ||C||^2).  In C's own norm its modulus is then ||C||^2 (or more, but for a constant: l1 and
 *        l_q), enough where ||C|| >= 1; smaller sets need it divided by ||C||^2 too, which leaves m/(2L).
 *
 * DP-TR (Theorem 14 of Wang, Xu 2020).  phi = rho of (4), half of it for gradients and half for Hessians:
 *   (9)  sigma^2 = 4 G^2 T/(n^2 phi),   sigma_2^2 = 4 d M^2 T/(n^2 phi).
 * A release of (g, s H) with s = G/(M sqrt d) has sensitivity 2 sqrt(2) G/n under replace, so (9) is z of (4); steps
 * of equal budget.  Theorem 14 holds; the exact curve of the same noise is lower, epsilon 0.74 for 1 at delta 1e-5.
 *
 * DP-FW-L1 (Theorem 6).  Advanced composition as the paper states it:
 *   (10) eps_0 = epsilon/sqrt(8 T ln(1/delta)) for each choice, z = 1/eps_0; condition: epsilon < 1
 *   (11) gamma = sqrt(2/(T ||C||^2)), which must be at most 1; T = n epsilon/(sqrt(ln(1/delta)) ln(K n/0.05)), K
 *        vertices
 *
 * PrGD (Theorem 1).  Noise from the unit ball:
 *   (12) z = 1/D, D = 2 G; conditions: D < 2, and the delta it costs within the budget's. */
#include "acct/acct.h"
#include "opt/opt.h"

static const char way_out[] = "calibration=default has no such condition";

static double log_inverse_delta(const pv_problem *p)
{
    return -log(p->delta);
}

/* ---- DP-LSSGD ----------------------------------------------------------------------------------------- */

typedef struct trial {      /* one mu */
    double alpha, z2, most; /* most: right side of the second condition in (2) */
} trial;

static trial try_mu(const pv_problem *p, double T, double mu)
{
    const double tau = p->batch / (double)p->n;
    trial t = { .alpha = log_inverse_delta(p) / ((1.0 - mu) * p->epsilon) + 1.0 };
    t.z2 = 5.0 * T * t.alpha * tau * tau / (mu * p->epsilon); /* (1) */
    t.most = -log(tau * (1.0 + t.z2));
    return t;
}

static pv_status no_mu(const pv_problem *p, const trial *near)
{
    const double room = log((double)p->n / (2.5 * p->batch)) - 1.0;
    char hint[96] = "a smaller sampler.batch would help";
    if (room > 0.0)
        snprintf(hint, sizeof hint, "it needs an epsilon of at least %.3g", log_inverse_delta(p) / room); /* (3) */
    return pvi_fail(
        p->ctx, PV_E_UNSUPPORTED,
        "calibration=paper: Theorem 2 of DP-LSSGD is void, its Renyi order alpha = %.4g exceeds ln(1/(tau (1 "
        "+ z^2))) = %.3g: %s; %s",
        near->alpha, near->most, hint, way_out);
}

pv_status pvi_paper_batches(const pv_problem *p, int64_t T, double *z)
{
    enum { GRID = 4000 };
    trial near = { .alpha = INFINITY };
    double best = INFINITY;

    if (p->sampling != PV_EV_FIXED || p->relation != PV_REL_REPLACE)
        return pvi_fail(
            p->ctx, PV_E_UNSUPPORTED,
            "calibration=paper: Theorem 2 of DP-LSSGD is for batches of fixed size and replaced rows: add "
            "sampler=fixed --relation replace; %s",
            way_out);
    for (int k = 0; k < GRID; k++) {
        const trial t = try_mu(p, (double)T, 1.0 / (1.0 + exp(30.0 - 40.0 * k / GRID)));
        if (!(t.z2 >= 1.5)) continue; /* (2); a smaller mu always meets this one */
        if (t.alpha <= t.most && t.z2 < best) best = t.z2;
        if (!(t.alpha - t.most >= near.alpha - near.most)) near = t;
    }
    if (isinf(best)) return no_mu(p, &near);
    *z = sqrt(best);
    return PV_OK;
}

/* ---- DP-PGD, DP-FW-L2, DP-PMD ----------------------------------------------------------------------------- */

static double support(const pv_problem *p, const double *g, double *v)
{
    p->set->lmo(p->set_st, p->set_cfg, g, v, p->d);
    return pvi_dot(v, g, p->d);
}

/* (5): the oracle minimises, so support() is -h(-g).  Without memory, no. */
bool pvi_paper_symmetric(const pv_problem *p)
{
    enum { DIRECTIONS = 16 };
    uint64_t seed = 88172645463325252u;
    double *g = pvi_alloc(p->ctx, 2 * sizeof *g * (size_t)p->d);
    bool same = g != NULL;
    for (int k = 0; g && k < DIRECTIONS; k++) {
        for (int64_t j = 0; j < p->d; j++) {
            seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17; /* directions, no secrets */
            g[j] = (double)(seed >> 11) * 0x1p-53 - 0.5;
        }
        const double h = support(p, g, g + p->d);
        pvi_scale(g, -1.0, p->d);
        same = same && fabs(h - support(p, g, g + p->d)) <= 1e-9 * fabs(h);
    }
    pvi_free(p->ctx, g);
    return same;
}

static pv_status check_symmetric(const pv_problem *p, const char *theorem)
{
    if (!p->set || !(p->set->props & PV_COMPACT))
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED, "calibration=paper: %s needs a bounded set, set=%s; %s", theorem,
                        pv_names_with(PV_KIND_set, PV_COMPACT).text, way_out);
    if (pvi_paper_symmetric(p)) return PV_OK;
    return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                    "calibration=paper: %s is for sets symmetric about 0, and set=%s is not: balls are; %s", theorem,
                    p->set->head.name, way_out);
}

static double zcdp_multiplier(const pv_problem *p, int64_t T) /* (4) */
{
    const double l = log_inverse_delta(p), root = sqrt(p->epsilon + l) - sqrt(l);
    return sqrt((double)T / (2.0 * root * root));
}

pv_status pvi_paper_full(const pv_problem *p, const char *theorem, bool needs_set, int64_t T, double *z)
{
    if (p->sampling != PV_EV_NONE)
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                        "calibration=paper: %s is for gradients of all rows: leave the sampler out; %s", theorem,
                        way_out);
    if (!isfinite(pvi_smoothness(p)))
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED, "calibration=paper: %s needs a smooth loss; %s", theorem, way_out);
    const pv_status s = needs_set ? check_symmetric(p, theorem) : PV_OK;
    *z = zcdp_multiplier(p, T);
    return s;
}

pv_status pvi_paper_step(const pv_problem *p, const char *theorem, double step, double most, double momentum)
{
    if (!(step <= most * (1.0 + 1e-9)))
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                        "calibration=paper: %s is void for optimizer.step = %g, which must be at most %.6g; %s",
                        theorem, step, most, way_out);
    if (momentum != 0.0)
        return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                        "calibration=paper: %s has no momentum: set optimizer.momentum=0; %s", theorem, way_out);
    return PV_OK;
}

pv_status pvi_paper_equal_noise(const pv_problem *p, const char *theorem, const pvi_schedule_cfg *c)
{
    if (pvi_schedule_equal_noise(c)) return PV_OK;
    return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                    "calibration=paper: %s has the same noise in every step: leave optimizer.noise and "
                    "optimizer.noise_within out; %s",
                    theorem, way_out);
}

pv_status pvi_paper_equal_steps(const pv_problem *p, const char *theorem, const pvi_schedule_cfg *c)
{
    if (pvi_schedule_equal_steps(c)) return PV_OK;
    return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                    "calibration=paper: %s has steps of one length: leave optimizer.schedule and optimizer.warmup "
                    "out; %s",
                    theorem, way_out);
}

/* At least 1, and few enough to count. */
static int64_t whole(double T)
{
    return T >= 1.0 ? (int64_t)fmin(ceil(T), 1e9) : 1;
}

static double radius(const pv_problem *p)
{
    return p->set && (p->set->props & PV_COMPACT) ? p->set->radius(p->set_st, p->set_cfg, p->d) : 1.0;
}

static int64_t steps_for(const pv_problem *p, double factor, double w)
{
    return isfinite(p->epsilon) ? whole(factor * (double)p->n * p->epsilon / sqrt(w * log_inverse_delta(p))) : 1000;
}

/* W of (7); without a set, which is refused elsewhere, d. */
static double set_size(const pv_problem *p)
{
    if (!p->set || !(p->set->props & PV_COMPACT)) return (double)p->d;
    const double r = radius(p), g = p->set->width(p->set_st, p->set_cfg, p->d);
    return r * r + g * g;
}

int64_t pvi_paper_pgd_steps(const pv_problem *p) /* (6) */
{
    return steps_for(p, 1.0, (double)p->d);
}

int64_t pvi_paper_fw_steps(const pv_problem *p) /* (7) */
{
    return steps_for(p, 1.0, set_size(p));
}

double pvi_paper_fw_gamma(const pv_problem *p, int64_t T) /* (7) */
{
    return 1.0 / (radius(p) * sqrt((double)T));
}

pv_status pvi_paper_vertices(const pv_problem *p, int64_t T, double *z)
{
    static const char theorem[] = "Theorem 4 of DP-FW-L2";
    const pv_status s = pvi_paper_full(p, theorem, true, T, z);
    if (s != PV_OK || pvi_paper_fw_gamma(p, T) <= 1.0) return s;
    return pvi_fail(p->ctx, PV_E_UNSUPPORTED,
                    "calibration=paper: %s is void for optimizer.steps = %lld, its step 1/(||C|| sqrt(T)) = %.3g is "
                    "above 1: more steps or a larger set would do; %s",
                    theorem, (long long)T, pvi_paper_fw_gamma(p, T), way_out);
}

int64_t pvi_paper_pmd_steps(const pv_problem *p) /* (8) */
{
    return steps_for(p, radius(p), set_size(p));
}

double pvi_paper_pmd_factor(const pv_problem *p, double modulus) /* (8), gamma L */
{
    const double r = radius(p);
    return 0.5 * modulus / fmax(1.0, r * r);
}

/* ---- DP-TR --------------------------------------------------------------------------------------------------- */

pv_status pvi_paper_joint(const pv_problem *p, int64_t T, double growth, double *z)
{
    if (growth != 1.0)
        return pvi_fail(
            p->ctx, PV_E_UNSUPPORTED,
            "calibration=paper: its noise is for steps of equal budget, and optimizer.growth is %g: leave "
            "it out; %s",
            growth, way_out);
    if (p->sampling != PV_EV_NONE)
        return pvi_fail(
            p->ctx, PV_E_UNSUPPORTED,
            "calibration=paper: Theorem 14 of DP-TR is for releases of all rows: leave the sampler out; %s", way_out);
    *z = zcdp_multiplier(p, T); /* (9) */
    return PV_OK;
}

/* opt_str.c (2). */
double pvi_paper_samples(const pv_problem *p, int64_t steps)
{
    const double T = (double)steps;
    return sqrt(512.0 * T * log(5.0 * T / p->delta) * log(2.0 / p->delta)) * p->joint->grad /
           ((double)p->n * p->epsilon);
}

/* ---- DP-FW-L1 ------------------------------------------------------------------------------------------------ */

int64_t pvi_paper_choices(const pv_problem *p)
{
    const double K = (double)p->set->atoms(p->set_st, p->set_cfg, p->d);
    if (!isfinite(p->epsilon)) return 1000;
    return whole((double)p->n * p->epsilon / (sqrt(log_inverse_delta(p)) * log(K * (double)p->n / 0.05))); /* (11) */
}

double pvi_paper_gamma(const pv_problem *p, int64_t T)
{
    const double r = p->set->radius(p->set_st, p->set_cfg, p->d);
    return sqrt(2.0 / ((double)T * r * r)); /* (11) */
}

pv_status pvi_paper_selection(const pv_problem *p, int64_t T, double *z)
{
    if (!(p->epsilon < 1.0))
        return pvi_fail(
            p->ctx, PV_E_UNSUPPORTED,
            "calibration=paper: the composition behind Theorem 6 of DP-FW-L1 needs an epsilon below 1; %s", way_out);
    if (!(pvi_paper_gamma(p, T) <= 1.0))
        return pvi_fail(
            p->ctx, PV_E_UNSUPPORTED,
            "calibration=paper: Theorem 6 of DP-FW-L1 is void for optimizer.steps = %lld, its step sqrt(2/(T "
            "||C||^2)) = %.3g is above 1: more steps or a larger set.radius would do; %s",
            (long long)T, pvi_paper_gamma(p, T), way_out);
    *z = sqrt(8.0 * (double)T * log_inverse_delta(p)) / p->epsilon; /* (10) */
    return PV_OK;
}

/* ---- PrGD ------------------------------------------------------------------------------------------------------ */

pv_status pvi_paper_ball(const pv_problem *p, int64_t T, double *z)
{
    const double D = 2.0 * p->C, n = (double)p->n;
    if (!(D < 2.0))
        return pvi_fail(
            p->ctx, PV_E_UNSUPPORTED,
            "calibration=paper: Theorem 1 of PrGD needs gradients less than 2 apart, and they are up to %g "
            "apart: clip below 1; %s",
            D, way_out);
    const double one = pv_ball_delta(D, 1.0, (double)p->d), total = -expm1((double)T * log1p(-one / n));
    if (!(total < p->delta))
        return pvi_fail(
            p->ctx, PV_E_UNSUPPORTED,
            "calibration=paper: %lld steps with the unit ball cost delta = %.3g (%.3g added up as in Theorem 1 of "
            "PrGD), more than %g: a smaller clip, fewer steps or a larger delta would do; %s",
            (long long)T, total, (double)T * one / n, p->delta, way_out);
    *z = 1.0 / D; /* (12) */
    return PV_OK;
}
