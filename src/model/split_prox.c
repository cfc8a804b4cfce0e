/* split_prox.c - the closed forms of the split network that need a matrix: x by one factor per layer, and the prox of
 * cross-entropy by Newton.
 *
 *   theta is out x in, stored as its transpose W;  K = theta theta';  p = softmax(z)
 *   (1) P = (theta'theta + c I)^-1 theta' = theta' (theta theta' + c I)^-1: the smaller Gram matrix is factored once
 *       per layer and query, and the factor solves for all of theta at once.  Eigenvalues are at least c, and so is
 *       every pivot: a factor that cannot be found means that the weights have overflowed.  Floats do: with a
 *       spectral norm bounded by rho the matrix is at most (rho^2 + c)/c times longer one way than another.
 *   (2) With t = x + theta' a every minimiser of the prox can be reached, and it has gamma a = -(p - e_y).  Newton
 *       for
 *         phi(a) = log sum e^z - z_y + (gamma/2) a'K a,  z = z0 + K a
 *       goes by  (gamma I + H K) step = -(p - e_y + gamma a),  H = diag(p) - p p',  which is Newton's step of the
 *       strongly convex problem in t; halved until phi falls (Armijo), so it converges from a = 0. */
#include "model/split.h"

/* ---- (1) ---------------------------------------------------------------------------------------------- */

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Leading dimension of (K + c I | theta) and its like: both parts padded. */
static int64_t system_ld(const pvi_split_layer *l)
{
    return pvi_split_pad(l->in) + pvi_split_pad(l->out);
}

int64_t pvi_split_system(const pvi_split_layer *l)
{
    const int64_t m = lesser(l->in, l->out);
    return m * system_ld(l) + PVI_SPLIT_TILE * (system_ld(l) + m);
}

pv_status pvi_split_back(const pvi_split_kernel *k, pvi_split_layer *l, double c)
{
    const bool short_out = l->out <= l->in;
    const int64_t m = lesser(l->in, l->out), ld = system_ld(l), ldt = pvi_split_pad(l->in), ldw = l->ldv;
    const int64_t ldr = short_out ? ldt : ldw; /* of theta, or of theta' */
    float *const a = l->system, *const room = a + m * ld, *const z = a + (ld - ldr);
    if (short_out) k->gram(l->in, l->w, ldw, m, a, ld);
    else k->gram(l->out, l->transposed, ldt, m, a, ld);
    for (int64_t i = 0; i < m; i++) {
        a[i * ld + i] += (float)c;
        memcpy(z + i * ld, (short_out ? l->transposed : l->w) + i * ldr, sizeof *z * (size_t)ldr);
    }
    if (!k->eliminate(m, ld, (float)c, a, ld, room)) return PV_E_NUMERIC;
    k->substitute(m, a, ld, ldr, z, ld, room);
    if (!short_out) k->transpose(l->in, l->out, z, ld, l->transposed, ldt);
    k->pack(l->out, ldt, short_out ? z : l->transposed, short_out ? ld : ldt, l->back);
    return PV_OK;
}

/* ---- (2) ------------------------------------------------------------------------------------------------ */

typedef struct newton {
    int64_t n, y;
    const double *K, *z0;
    double gamma;
    double *p, *z, *r, *step, *Ka, *m; /* m: n x n */
} newton;

/* phi at a + h step, with z, p and K a there. */
static double value(newton *q, const double *a, double h)
{
    double top = -INFINITY, sum = 0.0, square = 0.0;
    for (int64_t i = 0; i < q->n; i++) {
        q->Ka[i] = 0.0;
        for (int64_t j = 0; j < q->n; j++) q->Ka[i] += q->K[i * q->n + j] * (a[j] + h * q->step[j]);
        q->z[i] = q->z0[i] + q->Ka[i];
        top = fmax(top, q->z[i]);
        square += q->Ka[i] * (a[i] + h * q->step[i]);
    }
    for (int64_t i = 0; i < q->n; i++) sum += q->p[i] = exp(q->z[i] - top);
    for (int64_t i = 0; i < q->n; i++) q->p[i] /= sum;
    return log(sum) + top - q->z[q->y] + 0.5 * q->gamma * square;
}

/* step <- the solution of m step = step, by elimination with row exchanges. */
static void solve(int64_t n, double *m, double *x)
{
    for (int64_t c = 0; c < n; c++) {
        int64_t best = c;
        for (int64_t i = c + 1; i < n; i++)
            if (fabs(m[i * n + c]) > fabs(m[best * n + c])) best = i;
        for (int64_t j = c; j < n && best != c; j++) {
            const double t = m[c * n + j];
            m[c * n + j] = m[best * n + j];
            m[best * n + j] = t;
        }
        const double t = x[c];
        x[c] = x[best];
        x[best] = t;
        for (int64_t i = c + 1; i < n; i++) {
            const double f = m[i * n + c] / m[c * n + c];
            for (int64_t j = c + 1; j < n; j++) m[i * n + j] -= f * m[c * n + j];
            x[i] -= f * x[c];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t j = i + 1; j < n; j++) x[i] -= m[i * n + j] * x[j];
        x[i] /= m[i * n + i];
    }
}

/* Newton's step at a, where p belongs; returns its slope, 0 or above: nothing left to gain. */
static double newton_step(newton *q, const double *a)
{
    const int64_t n = q->n;
    double slope = 0.0;
    for (int64_t i = 0; i < n; i++) q->r[i] = q->p[i] - (double)(i == q->y) + q->gamma * a[i];
    for (int64_t j = 0; j < n; j++) {
        double mean = 0.0;
        for (int64_t i = 0; i < n; i++) mean += q->p[i] * q->K[i * n + j];
        for (int64_t i = 0; i < n; i++)
            q->m[i * n + j] = q->p[i] * (q->K[i * n + j] - mean) + (i == j ? q->gamma : 0.0);
    }
    for (int64_t i = 0; i < n; i++) q->step[i] = -q->r[i];
    solve(n, q->m, q->step);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) slope += q->r[i] * q->K[i * n + j] * q->step[j];
    return slope;
}

bool pvi_split_softmax(int64_t classes, const double *K, const double *z0, int64_t y, double gamma, double *a,
                       double *work)
{
    const int64_t n = classes;
    newton q = { n, y, K, z0, gamma, work, work + n, work + 2 * n, work + 3 * n, work + 4 * n, work + 5 * n };
    memset(a, 0, sizeof *a * (size_t)n);
    memset(q.step, 0, sizeof *q.step * (size_t)n);
    double now = value(&q, a, 0.0);
    for (int round = 0; round < 50 && isfinite(now); round++) {
        const double slope = newton_step(&q, a);
        if (!(slope < -1e-14)) break;
        double h = 1.0, next = value(&q, a, h);
        while (!(next <= now + 1e-4 * h * slope) && h > 1e-6) next = value(&q, a, h *= 0.5);
        if (!(next < now)) break;
        for (int64_t i = 0; i < n; i++) a[i] += h * q.step[i];
        now = next;
    }
    return isfinite(now);
}
