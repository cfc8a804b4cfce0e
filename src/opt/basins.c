/* basins.c - which of the penalty's local minima each weight should be in.
 *
 * A bounded penalty makes many local minima: a weight either is small and pays little, or large and pays the most.
 * Noise decides for some of them.  At the end of a run the loss is known as a parabola with gradient g and Hessian H,
 * and the penalty exactly, so that their sum  J(h) = g'h + h'Hh/2 + r(A (v + h))  can be searched without any
 * release:
 * (1) Let K = H + A diag(c) A, c = max(r'', 0), P = A K^(-1) A and s the gradient of J.  Moving weight j to x, the
 *     others following, costs (x - x0)^2/(2 Q) - (w_j - x0)^2/(2 Q) apart from its own penalty, to second order,
 *     where Q = P_jj/(1 - c_j P_jj) and x0 = w_j + Q r'(w_j) - (A K^(-1) s)_j/(1 - c_j P_jj).
 * (2) The lowest value of (x - x0)^2/(2 Q) + r(x) lies between 0 and x0; it is looked for at 64 places.
 * (3) The weight that gains most is moved there, all follow by Newton steps with K until J stops falling, and the new
 *     point is kept if J fell by more than noise ||h' - h||, one standard deviation of what noise in g does to it.  H
 *     holds its own noise, added to the diagonal, so that little is expected of directions where it is not known.
 * (4) The loss is no parabola.  Points further than `far` from v, where margins have changed by 1 in the mean, are
 *     not believed: else the weights of separable rows, where all curvature vanishes, would be given up to save their
 *     penalty.
 * Repeated until no weight gains.  Everything here is a function of released values. */
#include "opt/basins.h"

enum { PLACES = 64, NEWTON = 30 };
static const double least = 1e-6; /* gain worth a move */

typedef struct work {
    double *K, *B; /* d x d: Cholesky's factor of K; rows K^(-1) a_j */
    double *w, *slope, *curved, *next, *step;
    bool *refused;
} work;

/* Lower factor of a positive matrix in place; false: it is not positive. */
static bool factor(int64_t d, double *K)
{
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double x = K[i * d + j] - pvi_dot(K + i * d, K + j * d, j);
            if (j < i) K[i * d + j] = x / K[j * d + j];
            else if (x > 0.0) K[i * d + i] = sqrt(x);
            else return false;
        }
    return true;
}

static void solve(int64_t d, const double *L, double *x)
{
    for (int64_t i = 0; i < d; i++) x[i] = (x[i] - pvi_dot(L + i * d, x, i)) / L[i * d + i];
    for (int64_t i = d; i-- > 0;) {
        x[i] /= L[i * d + i];
        for (int64_t j = 0; j < i; j++) x[j] -= L[i * d + j] * x[i];
    }
}

/* J(h), and the weights there in k->w. */
static double value(const pvi_model *m, work *k, const double *h)
{
    const int64_t d = m->p->d;
    double sum = 0.0;
    for (int64_t i = 0; i < d; i++) k->slope[i] = m->v[i] + h[i];
    pvi_matvec(d, m->A, k->slope, k->w);
    for (int64_t i = 0; i < d; i++) sum += h[i] * (m->g[i] + 0.5 * pvi_dot(m->H + i * d, h, d));
    return sum + m->p->reg->value(m->p->reg_cfg, k->w, d);
}

/* K at the weights in k->w, factored; r' in k->slope, c in k->curved. */
static bool curvature(const pvi_model *m, work *k)
{
    const pv_problem *p = m->p;
    const int64_t d = p->d;
    memset(k->slope, 0, (size_t)d * sizeof *k->slope);
    memset(k->curved, 0, (size_t)d * sizeof *k->curved);
    p->reg->grad(p->reg_cfg, k->w, k->slope, d);
    p->reg->curv(p->reg_cfg, k->w, k->curved, d);
    memcpy(k->K, m->H, (size_t)(d * d) * sizeof *k->K);
    for (int64_t j = 0; j < d; j++) {
        const double *a = m->A + j * d, c = k->curved[j] = fmax(k->curved[j], 0.0);
        for (int64_t r = 0; c > 0.0 && r < d; r++)
            for (int64_t s = 0; s <= r; s++) k->K[r * d + s] += c * a[r] * a[s];
    }
    return factor(d, k->K);
}

/* s at h into k->step, with r' in k->slope. */
static void gradient(const pvi_model *m, work *k, const double *h)
{
    const int64_t d = m->p->d;
    for (int64_t i = 0; i < d; i++) {
        k->step[i] = m->g[i] + pvi_dot(m->H + i * d, h, d);
        for (int64_t j = 0; j < d; j++) k->step[i] += m->A[j * d + i] * k->slope[j];
    }
}

/* (3): Newton steps from h, halved until J falls; returns J. */
static double descend(const pvi_model *m, work *k, double *h)
{
    const int64_t d = m->p->d;
    double now = value(m, k, h);
    for (int t = 0; t < NEWTON && curvature(m, k); t++) {
        double *step = k->step, length = 1.0, then = INFINITY;
        gradient(m, k, h);
        solve(d, k->K, step);
        for (; length > 1e-4; length *= 0.5) {
            for (int64_t i = 0; i < d; i++) k->next[i] = h[i] - length * step[i];
            if ((then = value(m, k, k->next)) <= now) break;
        }
        if (!(then <= now)) break;
        const double fell = now - then;
        memcpy(h, k->next, (size_t)d * sizeof *h);
        now = then;
        if (fell < 0.01 * least) break;
    }
    return now;
}

/* (2): where between 0 and x0; returns the gain over staying at w. */
static double best_place(const pv_problem *p, double w, double x0, double Q, double *x)
{
    const double at_w = p->reg->value(p->reg_cfg, &w, 1) + 0.5 * (w - x0) * (w - x0) / Q;
    double lowest = at_w;
    *x = w;
    for (int i = 0; i <= PLACES; i++) {
        const double z = x0 * i / PLACES, f = p->reg->value(p->reg_cfg, &z, 1) + 0.5 * (z - x0) * (z - x0) / Q;
        if (f < lowest) lowest = f, *x = z;
    }
    return at_w - lowest;
}

/* (1): the weight that gains most, as a move of v along k->step; false: none does. */
static bool propose(const pvi_model *m, work *k, const double *h, int64_t *which)
{
    const int64_t d = m->p->d;
    double most = 3.0 * least, along = 0.0;
    value(m, k, h);
    if (!curvature(m, k)) return false;
    gradient(m, k, h);
    *which = -1;
    for (int64_t j = 0; j < d; j++) {
        double *b = k->B + j * d, x;
        if (k->refused[j]) continue;
        memcpy(b, m->A + j * d, (size_t)d * sizeof *b);
        solve(d, k->K, b);
        const double P = pvi_dot(m->A + j * d, b, d), rest = 1.0 - k->curved[j] * P, Q = P / rest;
        if (!(P > 0.0 && Q > 0.0)) continue;
        const double x0 = k->w[j] + Q * k->slope[j] - pvi_dot(b, k->step, d) / rest;
        const double gain = best_place(m->p, k->w[j], x0, Q, &x);
        if (gain > most) most = gain, *which = j, along = (x - k->w[j]) / P;
    }
    for (int64_t i = 0; *which >= 0 && i < d; i++) k->step[i] = along * k->B[*which * d + i];
    return *which >= 0;
}

static pv_status open_work(work *k, int64_t d, pv_arena *a)
{
    k->K = pv_arena_f64(a, 2 * d * d + 5 * d);
    k->refused = pv_arena_get(a, (size_t)d * sizeof *k->refused);
    if (!k->K || !k->refused) return PV_E_NOMEM;
    k->B = k->K + d * d;
    k->w = k->B + d * d;
    k->slope = k->w + d;
    k->curved = k->slope + d;
    k->next = k->curved + d;
    k->step = k->next + d;
    return PV_OK;
}

pv_status pvi_basins(const pvi_model *m, pv_arena *a, double *h)
{
    const int64_t d = m->p->d;
    const double cube = (double)d * (double)d * (double)d;
    work k;
    double *try = pv_arena_f64(a, d), now;
    if (!try || open_work(&k, d, a) != PV_OK) return PV_E_NOMEM;
    memset(h, 0, (size_t)d * sizeof *h);
    now = value(m, &k, h);
    int64_t j, rounds = (int64_t)fmax(8.0, fmin(4.0 * (double)d, 3e9 / cube)); /* seconds */
    while (rounds-- > 0 && propose(m, &k, h, &j)) {
        double far = 0.0, all = 0.0;
        for (int64_t i = 0; i < d; i++) try[i] = h[i] + k.step[i];
        const double then = descend(m, &k, try);
        for (int64_t i = 0; i < d; i++) far += (try[i] - h[i]) * (try[i] - h[i]), all += try[i] * try[i];
        k.refused[j] = !(then < now - least - m->noise * sqrt(far) && all <= m->far * m->far); /* (3), (4) */
        if (k.refused[j]) continue;
        memcpy(h, try, (size_t)d * sizeof *h);
        memset(k.refused, 0, (size_t)d * sizeof *k.refused);
        now = then;
    }
    return PV_OK;
}
