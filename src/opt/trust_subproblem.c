/* trust_subproblem.c - the trust-region sub-problem, globally, whatever H is.
 *
 *     minimise <g,h> + h'Hh/2 over ||h|| <= r
 * h is a global minimiser iff for some lambda >= 0
 * (1) (H + lambda I) h = -g,   H + lambda I >= 0,   lambda (||h|| - r) = 0.
 *
 * In the eigenbasis, e_1 <= ... <= e_n, gamma = V g, y = V h:
 * (2) y_i = -gamma_i / (e_i + lambda).
 *     e_1 > 0 and ||y|| <= r at lambda = 0: interior, done.  Otherwise write lambda = l_0 + mu, l_0 = max(0, -e_1),
 *     and delta_i = e_i + l_0 >= 0, so that nothing cancels for lambda next to -e_1:
 * (3) phi(mu) = (sum gamma_i^2/(delta_i + mu)^2)^(1/2) = r,  phi decreasing.
 *     mu lies between max_i(|gamma_i|/r - delta_i) and ||gamma||/r.  Newton's method on 1/phi - 1/r, which is nearly
 *     linear, kept inside the bracket by bisection.
 * (4) Hard case: phi(0+) < r because gamma is 0 on the eigenspace of e_1 <= 0.  Then mu = 0, and the missing length
 *     is added along v_1, which changes neither (1) nor the objective's linear part.
 * A nearly hard case is an ordinary root with a tiny mu.  gamma is scaled to length 1 and e to max 1 first.
 *
 * Above PVI_DENSE_TRUST weights: Lanczos from g with full reorthogonalisation gives T_k = Q_k' H Q_k; (2)-(4) on T_k,
 * whose eigendecomposition is small.  The residual of (1) is beta_k |y_k|.  A second Lanczos run from another start
 * looks for negative curvature that g does not show.  Whatever fails either test is solved by eigendecomposition.
 * With `krylov` = k: the minimum over the span of g, Hg, .., H^(k-1) g and no more, by the same Lanczos run, whatever
 * it misses; k = 1 is the Cauchy point.
 * Reference  More, Sorensen 1983 (1)-(4); Gould, Lucidi, Roma, Toint 1999 for the Lanczos form. */
#include "opt/trust_subproblem.h"

pv_status pvi_trust_open(pvi_trust *t, int64_t d, pv_arena *a)
{
    const bool large = d > PVI_DENSE_TRUST || t->krylov > 0;
    t->d = d;
    t->A = pv_arena_f64(a, d * d);
    t->value = pv_arena_f64(a, d);
    t->work = pv_arena_f64(a, 4 * d);
    t->basis = large ? pv_arena_f64(a, (PVI_KRYLOV + 1) * d) : NULL;
    return t->A && t->value && t->work && (t->basis || !large) ? PV_OK : PV_E_NOMEM;
}

static double length(int64_t n, const double *x)
{
    double top = 0.0, s = 0.0;
    for (int64_t i = 0; i < n; i++) top = fmax(top, fabs(x[i]));
    if (!(top > 0.0) || isinf(top)) return top;
    for (int64_t i = 0; i < n; i++) s += (x[i] / top) * (x[i] / top);
    return top * sqrt(s);
}

static double dot(int64_t n, const double *x, const double *y)
{
    double s = 0.0;
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

/* ---- diagonal H ------------------------------------------------------------------------------------------ */

/* phi(mu) and, in *slope, sum gamma^2/(delta + mu)^3 / phi^2; 0/0 counts as 0. */
static double phi(int64_t n, const double *delta, const double *g, double mu, double *slope)
{
    double s2 = 0.0, s3 = 0.0;
    for (int64_t i = 0; i < n; i++) {
        if (g[i] == 0.0) continue;
        const double q = g[i] / (delta[i] + mu);
        s2 += q * q;
        s3 += q * q / (delta[i] + mu);
    }
    *slope = s3 / s2;
    return sqrt(s2);
}

/* (3): the bracket's ends have phi >= r and phi <= r. */
static double root(int64_t n, const double *delta, const double *g, double r, double lo, double hi)
{
    double mu = lo > 0.0 ? lo : 0.5 * hi, slope;
    for (int k = 0; k < 200 && lo < hi; k++) {
        const double f = phi(n, delta, g, mu, &slope);
        if (fabs(f - r) <= 4e-16 * r) break;
        if (f > r) lo = mu;
        else hi = mu;
        double next = mu + (f / r - 1.0) / slope;
        if (!(next > lo && next < hi)) next = lo > 0.0 && hi > 4.0 * lo ? sqrt(lo) * sqrt(hi) : 0.5 * (lo + hi);
        if (next == mu || !(next > lo) || !(next < hi)) break;
        mu = next;
    }
    return mu;
}

/* lambda for e of size 1, g of length 1; y. */
static double solve_scaled(int64_t n, const double *e, const double *g, double r, double *y, double *delta)
{
    const double base = e[0] > 0.0 ? 0.0 : -e[0];
    double lo = 0.0, slope, mu = 0.0;

    for (int64_t i = 0; i < n; i++) {
        delta[i] = e[i] + base;
        lo = fmax(lo, fabs(g[i]) / r - delta[i]);
    }
    const double f = phi(n, delta, g, 0.0, &slope);
    const bool inside = f <= r; /* false for NaN and infinity */
    if (!inside) mu = root(n, delta, g, r, lo, 1.0 / r);
    for (int64_t i = 0; i < n; i++) y[i] = g[i] == 0.0 ? 0.0 : -g[i] / (delta[i] + mu);
    if (inside && e[0] <= 0.0) { /* (4) */
        const double rest = sqrt(fmax(0.0, (r - f) * (r + f)));
        y[0] += y[0] > 0.0 ? rest : -rest;
    }
    return base + mu;
}

/* Scaling: with H = E H', g = G g', h = (G/E) h', lambda = E lambda' the problem has radius r E/G. */
double pvi_trust_diagonal(int64_t n, const double *e, const double *g, double r, double *y)
{
    const double E = fmax(fabs(e[0]), fabs(e[n - 1])), G = length(n, g);
    double lambda;

    memset(y, 0, (size_t)n * sizeof *y);
    if (G == 0.0) {
        if (e[0] < 0.0 && isfinite(r)) y[0] = r;
        return fmax(0.0, -e[0]);
    }
    if (E == 0.0) {
        for (int64_t i = 0; i < n && isfinite(r); i++) y[i] = -r * (g[i] / G);
        return isfinite(r) ? G / r : 0.0;
    }
    double *const scaled = y + n, *const gamma = y + 2 * n, *const delta = y + 3 * n; /* y has 4 n */
    for (int64_t i = 0; i < n; i++) {
        scaled[i] = isfinite(r) ? e[i] / E : fmax(fabs(e[i]) / E, 0x1p-40);
        gamma[i] = g[i] / G;
    }
    lambda = solve_scaled(n, scaled, gamma, isfinite(r) ? r / G * E : INFINITY, y, delta) * E;
    for (int64_t i = 0; i < n; i++) y[i] = y[i] / E * G;
    return lambda;
}

/* ---- any H ------------------------------------------------------------------------------------------------- */

static pv_status solve_dense(pvi_trust *t, const double *H, const double *g, double r, double *h)
{
    const int64_t d = t->d;
    memcpy(t->A, H, (size_t)(d * d) * sizeof *H);
    const pv_status s = pvi_eigen(d, t->A, t->value, t->work);
    if (s != PV_OK) return s;
    pvi_matvec(d, t->A, g, h); /* gamma */
    t->lambda = pvi_trust_diagonal(d, t->value, h, r, t->work);
    pvi_matvec_t(d, t->A, t->work, h);
    t->products = 0;
    return PV_OK;
}

/* Tridiagonal T_k (diag, beside) of H from the start in basis[0]; returns k. */
static int64_t lanczos(pvi_trust *t, const double *H, int64_t most, double *diag, double *beside)
{
    const int64_t d = t->d;
    for (int64_t k = 0; k < most; k++) {
        double *q = t->basis + k * d, *next = q + d;
        pvi_matvec(d, H, q, next);
        t->products++;
        diag[k] = dot(d, q, next);
        for (int pass = 0; pass < 2; pass++)
            for (int64_t i = 0; i <= k; i++) {
                const double c = dot(d, t->basis + i * d, next);
                for (int64_t j = 0; j < d; j++) next[j] -= c * t->basis[i * d + j];
            }
        beside[k] = length(d, next);
        if (!(beside[k] > 1e-14 * fabs(diag[0]))) return k + 1;
        for (int64_t j = 0; j < d; j++) next[j] /= beside[k];
    }
    return most;
}

/* t->A <- T_k as a full k x k matrix, then its eigenvectors. */
static pv_status small_eigen(pvi_trust *t, int64_t k, const double *diag, const double *beside)
{
    memset(t->A, 0, (size_t)(k * k) * sizeof *t->A);
    for (int64_t i = 0; i < k; i++) {
        t->A[i * k + i] = diag[i];
        if (i + 1 < k) t->A[i * k + i + 1] = t->A[(i + 1) * k + i] = beside[i];
    }
    return pvi_eigen(k, t->A, t->value, t->work);
}

/* A start unlikely to be orthogonal to an eigenvector of H; no randomness, so that runs can be repeated. */
static void mixed_start(pvi_trust *t)
{
    for (int64_t j = 0; j < t->d; j++) t->basis[j] = cos(1.0 + 1.7320508 * (double)j + 0.01 * (double)(j % 97));
    const double n = length(t->d, t->basis);
    for (int64_t j = 0; j < t->d; j++) t->basis[j] /= n;
}

/* The minimum over the span of at most so many vectors from g on, G its length; beta_k |y_k| in *residual. */
static pv_status minimise(pvi_trust *t, const double *H, const double *g, double G, double r, int64_t most, double *h,
                          double *residual)
{
    const int64_t d = t->d;
    double diag[PVI_KRYLOV], beside[PVI_KRYLOV], z[PVI_KRYLOV];
    for (int64_t j = 0; j < d; j++) t->basis[j] = g[j] / G;
    const int64_t k = lanczos(t, H, most, diag, beside);
    if (small_eigen(t, k, diag, beside) != PV_OK) return PV_DONE;
    double *const gamma = h, *const y = t->work; /* k <= d */
    for (int64_t i = 0; i < k; i++) gamma[i] = G * t->A[i * k];
    t->lambda = pvi_trust_diagonal(k, t->value, gamma, r, y);
    pvi_matvec_t(k, t->A, y, z);
    *residual = beside[k - 1] * fabs(z[k - 1]);
    memset(h, 0, (size_t)d * sizeof *h);
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < d; j++) h[j] += z[i] * t->basis[i * d + j];
    return PV_OK;
}

static pv_status solve_inexactly(pvi_trust *t, const double *H, const double *g, double r, double *h)
{
    const double G = length(t->d, g);
    double residual;
    t->products = 0;
    if (!(G > 0.0) || !isfinite(r)) return PV_DONE;
    return minimise(t, H, g, G, r, t->krylov < t->d ? t->krylov : t->d, h, &residual);
}

/* PV_DONE: not good enough. */
static pv_status solve_krylov(pvi_trust *t, const double *H, const double *g, double r, double *h)
{
    double diag[PVI_KRYLOV], beside[PVI_KRYLOV], residual;
    const double G = length(t->d, g);

    t->products = 0;
    if (!(G > 0.0) || !isfinite(r)) return PV_DONE;
    mixed_start(t);
    const int64_t k = lanczos(t, H, 80, diag, beside);
    if (small_eigen(t, k, diag, beside) != PV_OK) return PV_DONE;
    const double lowest = t->value[0], size = fmax(fabs(lowest), fabs(t->value[k - 1]));
    if (minimise(t, H, g, G, r, PVI_KRYLOV, h, &residual) != PV_OK) return PV_DONE;
    if (!(residual <= 1e-10 * (G + size * r))) return PV_DONE; /* (1) */
    return lowest + t->lambda >= -1e-8 * size ? PV_OK : PV_DONE;
}

pv_status pvi_trust_solve(pvi_trust *t, const double *H, const double *g, double r, double *h)
{
    pv_status s = PV_DONE;
    for (int64_t j = 0; j < t->d; j++)
        if (!isfinite(g[j])) return PV_E_NUMERIC;
    if (t->basis) s = t->krylov > 0 ? solve_inexactly(t, H, g, r, h) : solve_krylov(t, H, g, r, h);
    if (s != PV_OK) s = solve_dense(t, H, g, r, h);
    t->norm = length(t->d, h);
    return s;
}
