/* pld_moment.c - moment generating functions of masses on a lattice, and what Markov's inequality says.
 *
 * K(t) = sum_e n_e (t a_e + ln sum_k p_e(k) e^{t k h}) is the cumulant function of the composition.
 *   (1) e^{-t x}(1 - e^-x)_+ <= (t/(1+t))^t/(1+t) gives  delta(eps) <= e^{K(t) - t eps} (t/(1+t))^t/(1+t)
 *   (2) what wrapping adds, see pld_compose.c (4):  m > 0 at most e^{-theta y}/(1 - e^{-theta y}); m < 0, by (1)
 *       at t > theta, at most e^{K(t) - t eps}/(1+t) e^{-(t-theta) y}/(1 - e^{-(t-theta) y})
 * Rounding  an exponent is off by 16 u times the sizes of its parts, the sum in ln by (len + 4) u. */
#include "pld.h"

#define U PVI_PLD_U

double pvi_pld_log_moment(const pvi_pld_mass *m, double h, double theta, double *mean, double *var)
{
    const double ref = (double)m->k[m->len - 1] * h, top = theta * ref;
    double s0 = 0, s1 = 0, s2 = 0;
    for (int64_t i = m->len; i-- > 0;) {
        const double x = (double)m->k[i] * h, w = m->p[i] * exp(theta * x - top), d = x - ref;
        s0 += w;
        s1 += w * d;
        s2 += w * d * d;
    }
    const double mu = s1 / s0;
    *mean = ref + mu;
    *var = pvi_pld_max(s2 / s0 - mu * mu, 0.0);
    return log(s0) + top;
}

pvi_pld_cumulant pvi_pld_cumulants(const pvi_pld_mass *m, int64_t terms, double h, double theta)
{
    pvi_pld_cumulant t = { 0 };
    for (int64_t e = 0; e < terms; e++) {
        double mean, var;
        const double n = (double)m[e].count, lnM = pvi_pld_log_moment(&m[e], h, theta, &mean, &var);
        t.K += n * (lnM + theta * m[e].offset);
        t.K1 += n * (mean + m[e].offset);
        t.K2 += n * var;
    }
    return t;
}

/* An upper bound on K(t) - t eps. */
static double exponent(const pvi_pld_mass *m, int64_t terms, double h, double t, double eps)
{
    double K = -t * eps, err = fabs(t * eps);
    for (int64_t e = 0; e < terms; e++) {
        double mean, var;
        const double n = (double)m[e].count, shift = t * m[e].offset;
        const double lnM = pvi_pld_log_moment(&m[e], h, t, &mean, &var);
        const double far = t * h * (fabs((double)m[e].k[0]) + fabs((double)m[e].k[m[e].len - 1]));
        K += n * (lnM + shift);
        err += n * (fabs(lnM) + fabs(shift) + far + 4.0 + (double)m[e].len);
    }
    return K + 16 * U * err;
}

double pvi_pld_markov(const pvi_pld_mass *m, int64_t terms, double h, double theta, double eps)
{
    return exponent(m, terms, h, theta, eps) - theta * log1p(1.0 / theta) - log1p(theta) + 64 * U * (1.0 + theta);
}

double pvi_pld_excess(const pvi_pld_mass *m, int64_t terms, double h, double theta, double y, double t, double eps)
{
    const double low = exp(-theta * y) / -expm1(-theta * y), d = (t - theta) * y;
    const double high = exp(exponent(m, terms, h, t, eps) - d) / (-expm1(-d) * (1.0 + t)); /* (2) */
    return (low + high) * (1.0 + 1e-9);
}
