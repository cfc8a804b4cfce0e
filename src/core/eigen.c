/* eigen.c - eigenvalues and eigenvectors of a symmetric matrix.
 *
 * (1) Householder: for k = 0 .. n-3 a reflection I - t v v' of the trailing n-k-1 coordinates takes row k to a
 *     multiple of its first unit vector; the trailing block B becomes B - v q' - q v', q = t B v - (t^2/2) (v'Bv) v.
 *     The result is tridiagonal; v stays in row k of the matrix.
 * (2) V = the product of the reflections, built from the last to the first on the rows it touches.
 * (3) Implicit QL with Wilkinson's shift: each sweep chases a bulge through the tridiagonal matrix by plane
 *     rotations, applied to neighbouring rows of V, until an entry beside the diagonal is negligible.
 *     Negligible is relative to the diagonal beside it.  On the null space of a matrix of low rank that is rounding
 *     itself, and sweeps would go on for ever: after 30 of them it is relative to ||A||, as backward stability is.
 * All inner loops run along rows.  Backward stable: the computed pairs are exact for a matrix within a modest
 * multiple of n 2^-53 ||A|| of A.
 * Reference  Golub, Van Loan, Matrix Computations, 4th ed., sections 8.3.1 and 8.3.5. */
#include "eigen.h"

static double dot(int64_t n, const double *x, const double *y)
{
    double s[8] = { 0 };
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) s[k] += x[i + k] * y[i + k];
    for (; i < n; i++) s[0] += x[i] * y[i];
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

static void axpy(int64_t n, double a, const double *restrict x, double *restrict y)
{
    for (int64_t i = 0; i < n; i++) y[i] += a * x[i];
}

void pvi_matvec(int64_t n, const double *a, const double *x, double *y)
{
    for (int64_t i = 0; i < n; i++) y[i] = dot(n, a + i * n, x);
}

void pvi_matvec_t(int64_t n, const double *a, const double *x, double *y)
{
    memset(y, 0, (size_t)n * sizeof *y);
    for (int64_t i = 0; i < n; i++) axpy(n, x[i], a + i * n, y);
}

void pvi_from_eigen(int64_t n, const double *V, const double *e, double *a)
{
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; e[k] != 0.0 && i < n; i++) axpy(n, e[k] * V[k * n + i], V + k * n, a + i * n);
}

/* v <- the reflector of the m numbers in v, v[0] = 1; returns t, and what is left of v in *beta. */
static double reflector(int64_t m, double *v, double *beta)
{
    const double tail = dot(m - 1, v + 1, v + 1), x = v[0];
    *beta = x;
    if (tail == 0.0) return 0.0;
    const double norm = sqrt(x * x + tail), first = x <= 0.0 ? x - norm : -tail / (x + norm);
    *beta = norm;
    for (int64_t i = 1; i < m; i++) v[i] /= first;
    v[0] = 1.0;
    return 2.0 * first * first / (tail + first * first);
}

/* (1) for row k; t is kept on the diagonal's place of the reflectors, q is scratch. */
static double reduce_row(int64_t n, double *a, int64_t k, double *beta, double *q)
{
    const int64_t m = n - k - 1;
    double *v = a + k * n + k + 1;
    const double t = reflector(m, v, beta);
    if (t == 0.0) return t;
    for (int64_t i = 0; i < m; i++) q[i] = t * dot(m, a + (k + 1 + i) * n + k + 1, v);
    axpy(m, -0.5 * t * dot(m, q, v), v, q);
    for (int64_t i = 0; i < m; i++) {
        double *row = a + (k + 1 + i) * n + k + 1;
        for (int64_t j = 0; j < m; j++) row[j] -= v[i] * q[j] + q[i] * v[j];
    }
    return t;
}

/* Diagonal to d, the entries beside it to e[0 .. n-2], a <- V with A = V' T V. */
static void tridiagonal(int64_t n, double *a, double *d, double *e)
{
    for (int64_t k = 0; k < n; k++) {
        d[k] = a[k * n + k];
        if (k + 1 == n) break;
        /* d[k+1 ..] is not in use yet: scratch for q */
        a[k * n + k] = k + 2 < n ? reduce_row(n, a, k, &e[k], d + k + 1) : 0.0;
        if (k + 2 == n) e[k] = a[k * n + k + 1];
    }
    e[n - 1] = 0.0;
    for (int64_t k = n - 1; k >= 0; k--) { /* (2): row k still holds its reflector */
        const double t = k + 2 < n ? a[k * n + k] : 0.0;
        const double *v = a + k * n + k + 1;
        for (int64_t i = k + 1; t != 0.0 && i < n; i++) {
            double *row = a + i * n + k + 1;
            axpy(n - k - 1, -t * dot(n - k - 1, row, v), v, row);
        }
        for (int64_t j = k; j < n; j++) a[k * n + j] = a[j * n + k] = j == k;
    }
}

/* One sweep of (3) over rows l .. m; false: it ended early because the bulge vanished. */
static void sweep(int64_t n, int64_t l, int64_t m, double *d, double *e, double *v)
{
    const double half = (d[l + 1] - d[l]) / (2.0 * e[l]);
    double g = d[m] - d[l] + e[l] / (half + copysign(hypot(half, 1.0), half)), s = 1.0, c = 1.0, p = 0.0;
    for (int64_t i = m - 1; i >= l; i--) {
        const double f = s * e[i], b = c * e[i], r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0.0) {
            d[i + 1] -= p;
            e[m] = 0.0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const double w = (d[i] - g) * s + 2.0 * c * b;
        p = s * w;
        d[i + 1] = g + p;
        g = c * w - b;
        double *restrict x = v + i * n, *restrict y = v + (i + 1) * n;
        for (int64_t k = 0; k < n; k++) {
            const double z = y[k];
            y[k] = s * x[k] + c * z;
            x[k] = c * x[k] - s * z;
        }
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0.0;
}

/* The largest entry of the matrix is 1/2 or more. */
static bool ql(int64_t n, double *d, double *e, double *v)
{
    for (int64_t l = 0; l < n; l++)
        for (int tries = 0;; tries++) {
            const double least = tries < 30 ? 0.0 : 0x1p-53;
            int64_t m = l;
            while (m + 1 < n && fabs(e[m]) > 0x1p-53 * (fabs(d[m]) + fabs(d[m + 1])) + least) m++;
            if (m == l) break;
            if (tries == 60) return false;
            sweep(n, l, m, d, e, v);
        }
    return true;
}

static void sort(int64_t n, double *d, double *v)
{
    for (int64_t i = 0; i + 1 < n; i++) {
        int64_t k = i;
        for (int64_t j = i + 1; j < n; j++)
            if (d[j] < d[k]) k = j;
        if (k == i) continue;
        const double t = d[i];
        d[i] = d[k];
        d[k] = t;
        for (int64_t j = 0; j < n; j++) {
            const double x = v[i * n + j];
            v[i * n + j] = v[k * n + j];
            v[k * n + j] = x;
        }
    }
}

pv_status pvi_eigen(int64_t n, double *a, double *value, double *work)
{
    double top = 0.0;
    for (int64_t i = 0; i < n * n; i++) {
        if (!isfinite(a[i])) return PV_E_NUMERIC;
        top = fmax(top, fabs(a[i]));
    }
    int e = 0;
    if (top > 0.0) frexp(top, &e);
    for (int64_t i = 0; i < n * n; i++) a[i] = ldexp(a[i], -e); /* no square over- or underflows */
    tridiagonal(n, a, value, work);
    if (!ql(n, value, work, a)) return PV_E_NUMERIC;
    sort(n, value, a);
    for (int64_t i = 0; i < n; i++) value[i] = ldexp(value[i], e);
    return PV_OK;
}
