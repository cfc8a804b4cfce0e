/* pld_below.c - moving merged cells to lattice points without raising their curve.
 *
 * A cell of probabilities P and Q has the curve (P - t Q)_+.  With E = P - e^{x_k} Q,
 *   (1) E >= 0:  mass P + m at k, -m at a point j < k,   m = E/(e^{x_k - x_j} - 1)
 *   (2) E <= 0:  mass P + m at k, -m at a point j > k,   m = -E/(1 - e^{x_k - x_j})
 * has the same P and Q, hence the same curve outside (x_j, x_k) and a smaller one inside: straight in
 * (1) from the cell's value at x_j to 0 at x_k, negative in (2).  The -m is taken out of the mass of a
 * neighbouring cells, at most nine tenths of what is left there, so that all masses stay non-negative.  Without
 * enough support
 *   (3) E > 0:  mass P at k alone,
 *   (4) E < 0:  mass P at k - 1 alone,
 * which only lowers losses, since x_{k-1} is not above the cell's (pld_mass.c (3)); the unsupported share may also go
 * to k + 1 or k - 1 and lean to the other side from there.  Everything is linear in the cell, so shares can be
 * treated differently.
 *
 * Rounding  m may be too small in (1) and too large in (2), both of which lower the curve; factors 1 +- 16 u. */
#include <stdlib.h>

#include "pld.h"

#define U PVI_PLD_U

enum { REACH = 8 }; /* cells to lean on */

/* Cell i: P, E, k as above.  Mass stay lies at `at`; others have subtracted `taken`, balancing adds `gain`; and
 * mass `low` lies at k - 1. */
typedef struct cells {
    int64_t len;
    const int64_t *k;
    int64_t *at;
    const double *P, *E;
    double *stay, *taken, *gain, *low;
    double h;
} cells;

/* Subtracts up to `want` from cell j. */
static double take(cells *x, int64_t j, double want)
{
    const double m = pvi_pld_min(want, 0.9 * (x->stay[j] - x->taken[j]));
    if (!(m > 0)) return 0.0;
    x->taken[j] += m * (1.0 + 16 * U);
    return m;
}

/* Excess E at k, by (1) with cells before i when E > 0, by (2) with cells after i when E < 0; returns the balanced
 * share, and the mass it adds. */
static double lean(cells *x, int64_t i, int64_t k, double E, double *m)
{
    const int64_t dir = E > 0 ? -1 : 1;
    double share = 0;
    *m = 0;
    for (int64_t j = i + dir; j >= 0 && j < x->len && share < 1.0 && llabs(j - i) <= REACH; j += dir) {
        if ((x->at[j] - k) * dir <= 0) continue;
        const double all = E / expm1((double)(k - x->at[j]) * x->h) * (1.0 + 16 * U);
        const double got = take(x, j, all * (1.0 - share));
        *m += got * (E > 0 ? 1.0 - 48 * U : 1.0); /* (1): too small */
        share += got / all;
    }
    return pvi_pld_min(share, 1.0);
}

static void emit(pvi_pld_mass *out, int64_t k, double p)
{
    if (!(p > 0)) return;
    int64_t i = out->len++;
    for (; i > 0 && out->k[i - 1] > k; i--) out->k[i] = out->k[i - 1], out->p[i] = out->p[i - 1];
    out->k[i] = k;
    out->p[i] = p * (1.0 - 32 * U);
}

/* E < 0: the cell cannot stay without support.  The smaller part of a split cell is out of reach of the others. */
static void settle(cells *x, int64_t i, pvi_pld_mass *out)
{
    double m;
    const double share = lean(x, i, x->k[i], x->E[i], &m);
    const double keep = share < 1.0 ? x->P[i] * share * (1.0 - 16 * U) : x->P[i], rest = x->P[i] - keep;
    if (share >= 0.5) {
        x->stay[i] = keep;
        x->gain[i] = m;
        x->low[i] = rest;
    } else { /* (4) */
        emit(out, x->k[i], keep + m);
        x->at[i] = x->k[i] - 1;
        x->stay[i] = rest;
    }
}

/* What went down to k - 1 has an excess there. */
static void lift(cells *x, int64_t i)
{
    const bool whole = x->at[i] != x->k[i];
    const double part = (whole ? x->stay[i] : x->low[i]) / x->P[i];
    const double E = part * (x->E[i] - expm1(-x->h) * (x->P[i] - x->E[i])) * (1.0 - 16 * U);
    double m;
    if (!(E > 0)) return;
    lean(x, i, x->k[i] - 1, E, &m);
    if (whole) x->gain[i] += m;
    else x->low[i] += m;
}

/* E > 0: leans to the left; of the share without support, as much as possible goes to k + 1. */
static void raise(cells *x, int64_t i, pvi_pld_mass *out)
{
    const double rest = 1.0 - lean(x, i, x->k[i], x->E[i], &x->gain[i]);
    const double E = x->E[i] - expm1(x->h) * (x->P[i] - x->E[i]) * (1.0 + 16 * U); /* at k + 1 */
    const double part = pvi_pld_min(rest, 0.5 * (x->stay[i] - x->taken[i]) / x->P[i]);
    double m;
    if (!(rest > 0x1p-20 && part > 0 && E < 0)) return; /* (3) */
    const double up = part * lean(x, i, x->k[i] + 1, E * part, &m) * x->P[i];
    x->stay[i] -= up * (1.0 + 16 * U);
    emit(out, x->k[i] + 1, up + m);
}

pv_status pvi_pld_balance(pv_arena *a, double h, const double *E, pvi_pld_mass *m)
{
    const int64_t n = m->len;
    pvi_pld_mass out = *m;
    cells x = { .len = n, .k = m->k, .P = m->p, .E = E, .h = h };
    double *mem = pv_arena_f64(a, 4 * n);
    x.at = pv_arena_get(a, (size_t)n * sizeof *x.at);
    out.k = pv_arena_get(a, (size_t)(3 * n + 1) * sizeof *out.k);
    out.p = pv_arena_f64(a, 3 * n + 1);
    if (!mem || !x.at || !out.k || !out.p) return PV_E_NOMEM;
    x.stay = mem, x.taken = mem + n, x.gain = mem + 2 * n, x.low = mem + 3 * n;
    memcpy(x.stay, m->p, (size_t)n * sizeof *mem);
    memcpy(x.at, m->k, (size_t)n * sizeof *x.at);
    out.len = 0;
    for (int64_t i = n; i-- > 0;) /* from the right: what the cells lean on is settled */
        if (E[i] < 0) settle(&x, i, &out);
    for (int64_t i = 0; i < n; i++) {
        if (E[i] < 0) lift(&x, i);
        if (E[i] > 0) raise(&x, i, &out);
    }
    for (int64_t i = 0; i < n; i++) {
        emit(&out, x.k[i] - 1, x.low[i]);
        emit(&out, x.at[i], x.stay[i] - x.taken[i] + x.gain[i]);
    }
    *m = out;
    return PV_OK;
}
