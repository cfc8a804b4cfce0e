/* split_prox.c - the closed forms of the split network that need a matrix: x by one factor per layer, and the prox of
 * cross-entropy by Newton.
 *
 *   theta is out x in, stored as its transpose W;  K = theta theta';  p = softmax(z)
 *   (1) P = (theta'theta + c I)^-1 theta' = theta' (theta theta' + c I)^-1: the smaller Gram matrix is factored, in
 *       double, once per layer and query.  Its eigenvalues are at least c, so it is never singular: a factor that cannot
 *       be found means that the weights have overflowed.
 *   (2) With t = x + theta' a every minimiser of the prox can be reached, and it has gamma a = -(p - e_y).  Newton for
 *         phi(a) = log sum e^z - z_y + (gamma/2) a'K a,  z = z0 + K a
 *       goes by  (gamma I + H K) step = -(p - e_y + gamma a),  H = diag(p) - p p',  which is Newton's step of the strongly
 *       convex problem in t; halved until phi falls (Armijo), so it converges from a = 0. */
#include "model/split.h"

/* ---- (1) ---------------------------------------------------------------------------------------------- */

static void fill_offsets(const pvi_split_state *s, int64_t n, int64_t stride)
{
    for (int64_t t = 0; t < n; t++) s->at[t] = (int32_t)(t * stride);
}

/* gram (m x ld) = sum of the outer products of n rows of length m, `stride` apart. */
static void outer_sum(const pvi_split_state *s, const float *rows, int64_t n, int64_t m, int64_t stride)
{
    fill_offsets(s, n, stride);
    const pvi_taps taps = { s->at, n, 1, m, 0 };
    s->kernel->outer(&taps, rows, rows, s->at, stride, false, s->gram);
}

/* gram <- (gram + c I)^-1, m x ld; ld: m padded. */
static bool invert_gram(const pvi_split_state *s, int64_t m, int64_t ld, double c)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) s->a[i * m + j] = (double)s->gram[i * ld + j] + (i == j ? c : 0.0);
    if (!s->split->cholesky(m, s->a)) return false;
    s->split->invert(m, s->a, s->l);
    memset(s->li, 0, sizeof *s->li * (size_t)(m * ld));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++) s->li[i * ld + j] = (float)s->l[i * m + j];
    outer_sum(s, s->li, m, m, ld);
    return true;
}

pv_status pvi_split_back(const pvi_split_state *s, pvi_split_layer *l, double c)
{
    static const int32_t zero = 0;
    const bool short_out = l->out <= l->in;
    const int64_t m = short_out ? l->out : l->in;
    if (short_out) outer_sum(s, l->w, l->in, l->out, l->ldw);
    else outer_sum(s, l->wt, l->out, l->in, l->ldt);
    if (!invert_gram(s, m, short_out ? l->ldw : l->ldt, c)) return PV_E_NUMERIC;
    const pvi_taps taps = { &zero, 1, 1, m, 0 };
    if (short_out) s->kernel->product(&taps, l->out, s->gram, l->ldw, l->wt, l->ldt, NULL, l->ldt, false, l->back);
    else s->kernel->product(&taps, l->out, l->wt, l->ldt, s->gram, l->ldt, NULL, l->ldt, false, l->back);
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
