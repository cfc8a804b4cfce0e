/* pld_mass.c - one step's privacy losses as masses on a lattice, from above or from below.
 *
 * A measure p on the losses x_k stands for the curve g(t) = p(inf) + sum_k p_k (1 - t e^{-x_k})_+.
 * Composing one step at a time integrates curves against non-negative measures, so
 *   g >= H_t(P||Q) for every t >= 0 gives an upper bound of the composed curve, g <= H a lower one,
 * whether or not p sums to one.  Losses are cut into cells; near loss x they are as wide as
 * max(h, c min(|x|, scale, cap)), so that a few hundred cells span all magnitudes.
 *
 * From above (connect the dots: Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, Thm 8): edges lie on the
 *   lattice, and the mass of a cell [lo, hi] moves to its two edges so that P(C) and Q(C) stay,
 *   (1) p_hi = (P - e^lo Q)/(1 - e^{lo-hi}),   p_lo = P - p_hi,
 *   which replaces H by its chord.  Taking P and p_hi too large keeps g >= H.  Losses above the last
 *   edge count as infinite, those below the first as lying on it.  2^-1000 more counts as infinite, for
 *   whatever underflowed.  All masses together are 1 and were rounded up: what is missing by more than rounding got
 *   lost (in 0 times infinity, for losses beyond the range of exp) and counts as infinite too.
 * From below: edges lie half-way between lattice points, and each cell is merged into one point of
 *   probabilities P and Q, which is post-processing.  pld_below.c takes it to the lattice, given
 *   (2) the lattice point x_k next to ln(P/Q), and its excess E = P - e^{x_k} Q.
 *   Taking P and E too small keeps g <= H.  pld_below.c needs a point whose lower neighbour is not above the cell:
 *   (3) P - e^{x_k - h} Q >= 0.  Where rounding leaves less, all of P goes below the cell.
 *
 * Size of the error  a cell of width w adds about w^2/6 to the variance of the loss from above and
 *   takes w^2/12 away from below: second order in w, so both bounds converge fast. */
#include "pld.h"

#define U PVI_PLD_U

/* ---- cells ------------------------------------------------------------------------------------------ */

/* Cell width at lattice position k, in lattice steps; cells below zero do not reach beyond it. */
static int64_t width_at(const pvi_pld_grid *g, double scale, int64_t k)
{
    const double x = fabs((double)k) * (k < 0 ? 1.0 / (1.0 + g->c) : 1.0);
    const double most = k < 0 ? scale : pvi_pld_min(scale, g->cap); /* tilting favours large losses only */
    const double w = g->c * pvi_pld_min(x, most / g->h);
    if (!(w > 1.0)) return 1;
    return g->low ? ((int64_t)w - 1) | 1 : (int64_t)w; /* odd: the middle is a lattice point */
}

typedef struct cuts {
    int64_t len; /* edges */
    pvi_pld_edge *e;
    int64_t *k;    /* from above: lattice points of the edges */
    double offset; /* from below: of the lattice              */
} cuts;

/* The bounded end of a sampled loss carries much mass on little space: from below it is one cell, out to
 * `inner`, heavy enough to support its neighbours.  The lattice is laid so that this cell needs no support
 * itself, and `inner` moved so that it lies half-way between lattice points (closely: any value is valid). */
static double anchor(const pvi_pld_pair *x, const pvi_pld_grid *g, double end, double *inner)
{
    const double h = g->h, dir = x->add ? -1.0 : 1.0;
    double at = end, width = pvi_pld_min(fabs(pvi_pld_pair_inner(x) - end), g->c * g->cap);
    pvi_pld_edge a, b;
    pvi_pld_cell c;
    pvi_pld_pair_edge(x, end, &a);
    for (int i = 0; i < 4; i++) {
        *inner = end + dir * pvi_pld_max(width, 0.5 * h);
        pvi_pld_pair_edge(x, *inner, &b);
        pvi_pld_pair_cell(x, x->add ? &b : &a, x->add ? &a : &b, &c);
        const double E = c.E - 4 * c.eE - 64 * U * c.P * h; /* so that its excess is not negative there */
        const double loss = (x->add ? b.eps : a.eps) - log1p(-E / c.P);
        if (!(fabs(loss) < INFINITY)) return 0.0; /* NaN: nothing there */
        at = loss;
        const double steps = floor(fabs(*inner - at) / h);
        width = fabs(at + dir * (steps + 0.5) * h - end);
    }
    return at;
}

static int64_t count_cuts(const pvi_pld_grid *g, double scale, int64_t first, int64_t last, int64_t room)
{
    int64_t n = 1;
    for (int64_t k = first; k < last && n <= room; n++) k += width_at(g, scale, k);
    return n;
}

static void add_edge(const pvi_pld_pair *x, double eps, int64_t k, cuts *c)
{
    c->k[c->len] = k;
    pvi_pld_pair_edge(x, eps, &c->e[c->len++]);
}

static pv_status make_cuts(pv_arena *a, const pvi_pld_pair *x, const pvi_pld_grid *g, int64_t room, cuts *c)
{
    double lo, hi, inner = 0;
    pvi_pld_pair_range(x, g->tail, &lo, &hi);
    const bool ends = g->low && x->z > 0 && x->q < 1, left = ends && !x->add, right = ends && x->add;
    if (ends) c->offset = anchor(x, g, left ? lo : hi, &inner);
    const double shift = g->low ? 0.5 : 0.0; /* edge k lies at offset + (k - shift) h */
    const double from = ((left ? inner : lo) - c->offset) / g->h, to = ((right ? inner : hi) - c->offset) / g->h;
    const double first = left ? ceil(from + 0.75) : floor(from + shift);
    const double last = right ? floor(to + 0.25) : ceil(to + shift);
    if (!(fabs(first) < 0x1p52 && fabs(last) < 0x1p52)) return PV_E_NUMERIC;
    const int64_t n = count_cuts(g, x->scale, (int64_t)first, (int64_t)last, room);
    if (n > room) return PV_E_NUMERIC;
    c->k = pv_arena_get(a, (size_t)(n + 2) * sizeof *c->k);
    c->e = pv_arena_get(a, (size_t)(n + 2) * sizeof *c->e);
    if (!c->k || !c->e) return PV_E_NOMEM;
    if (left) add_edge(x, lo, 0, c), add_edge(x, inner, 0, c);
    int64_t k = (int64_t)first;
    for (int64_t i = 0; i < n && (!right || k <= (int64_t)last); i++, k += width_at(g, x->scale, k))
        add_edge(x, c->offset + ((double)k - shift) * g->h, k, c);
    if (right) add_edge(x, inner, 0, c), add_edge(x, hi, 0, c);
    return PV_OK;
}

void pvi_pld_mass_put(pvi_pld_mass *m, double *E, int64_t k, double p, double excess)
{
    int64_t i = m->len;
    while (i > 0 && m->k[i - 1] > k) i--;
    if (i > 0 && m->k[i - 1] == k) {
        m->p[i - 1] += p;
        E[i - 1] += excess;
        return;
    }
    for (int64_t j = m->len++; j > i; j--) {
        m->k[j] = m->k[j - 1];
        m->p[j] = m->p[j - 1];
        E[j] = E[j - 1];
    }
    m->k[i] = k;
    m->p[i] = p;
    E[i] = excess;
}

/* ---- from above --------------------------------------------------------------------------------------- */

/* Lattice points are counted exactly. */
static bool atoms_fit(const pvi_pld_pair *x, double h)
{
    double far = 0;
    for (int i = 0; i < x->atoms; i++) far = pvi_pld_max(far, fabs(x->atom[i].loss));
    return far / h < 0x1p52;
}

static void atoms_above(const pvi_pld_pair *x, double h, pvi_pld_mass *m, double *E)
{
    for (int i = 0; i < x->atoms; i++) {
        const double loss = x->atom[i].loss, P = x->atom[i].p * (1.0 + 32 * U);
        const double k = floor(loss / h), d = loss - k * h + (loss != 0 ? 32 * U * (fabs(loss) + h) : 0.0);
        const double share = -expm1(-d) / -expm1(-h) * (1.0 + 32 * U), hi = share < 1 ? P * share : P; /* (1) */
        pvi_pld_mass_put(m, E, (int64_t)k, P - hi, 0.0);
        pvi_pld_mass_put(m, E, (int64_t)k + 1, hi, 0.0);
    }
}

static void cells_above(const pvi_pld_pair *x, double h, const cuts *c, pvi_pld_mass *m)
{
    pvi_pld_edge end;
    pvi_pld_cell cell;
    if (!c->len) return;
    m->len = c->len;
    for (int64_t i = 0; i < c->len; i++) m->k[i] = c->k[i];
    pvi_pld_pair_edge(x, -INFINITY, &end);
    pvi_pld_pair_cell(x, &end, &c->e[0], &cell);
    m->p[0] = cell.P + cell.eP;
    for (int64_t i = 0; i + 1 < c->len; i++) {
        pvi_pld_pair_cell(x, &c->e[i], &c->e[i + 1], &cell);
        const double P = cell.P + cell.eP, w = (double)(c->k[i + 1] - c->k[i]) * h;
        const double hi = (cell.E + cell.eE) / -expm1(-w) * (1.0 + 16 * U); /* (1) */
        const double up = hi < P ? pvi_pld_max(hi, 0.0) : P;                /* NaN, infinity: all of it */
        m->p[i] += P - up;
        m->p[i + 1] += up;
    }
    pvi_pld_pair_edge(x, INFINITY, &end);
    pvi_pld_pair_cell(x, &c->e[c->len - 1], &end, &cell);
    m->inf = pvi_pld_min(m->inf + cell.P + cell.eP + 0x1p-1000, 1.0);
}

static void count_lost(pvi_pld_mass *m)
{
    double sum = m->inf;
    for (int64_t i = 0; i < m->len; i++) sum += m->p[i] > 0 ? m->p[i] : 0.0;
    if (!(sum >= 1.0 - 1e-12)) m->inf = pvi_pld_min(m->inf + (1.0 - sum), 1.0);
}

/* ---- from below ----------------------------------------------------------------------------------------- */

static void atoms_below(const pvi_pld_pair *x, double h, pvi_pld_mass *m, double *E)
{
    for (int i = 0; i < x->atoms; i++) {
        const double loss = x->atom[i].loss, P = x->atom[i].p * (1.0 - 32 * U);
        const double at = loss - 32 * U * (fabs(loss) + fabs(m->offset)) - m->offset;
        const double k = floor(at / h), d = at - k * h;
        pvi_pld_mass_put(m, E, (int64_t)k, P, d > 0 ? P * -expm1(-d) * (1.0 - 32 * U) : 0.0); /* (2) */
    }
}

static void cells_below(const pvi_pld_pair *x, double h, const cuts *c, pvi_pld_mass *m, double *E)
{
    pvi_pld_cell cell;
    const double below = expm1(-h);
    for (int64_t i = 0; i + 1 < c->len; i++) {
        const double lo = c->e[i].eps;
        pvi_pld_pair_cell(x, &c->e[i], &c->e[i + 1], &cell);
        const double P = cell.P - cell.eP, loss = lo - log1p(-cell.E / cell.P);
        if (!(P > 0)) continue;
        double k = floor((loss - m->offset) / h + 0.5);
        const double to = m->offset + k * h, rise = expm1(to - lo); /* (e^{x_k} - e^lo)/e^lo */
        const double off = fabs(lo) + fabs(to) + fabs(m->offset);
        const double err = cell.eE + fabs(rise) * cell.eL + 64 * U * (fabs(rise) * (1.0 + off) + off) * cell.L;
        double excess = cell.E - rise * cell.L - err;                 /* (2) */
        if (!(fabs(excess) <= P && excess >= below * (P - excess))) { /* overflow, or a lattice below rounding: (3) */
            const double place = 16 * U * (fabs(lo) + x->q) * (1.0 + fabs(c->e[i].l));
            excess = 0.0;
            k = floor((lo - place - m->offset) / h - 0.25);
        }
        pvi_pld_mass_put(m, E, (int64_t)k, P, excess);
    }
}

/* ---- both --------------------------------------------------------------------------------------------- */

/* If all losses are infinite, one too improbable to matter keeps moments defined; infinite ones were rounded by more
 * than that. */
static void drop_empty(pvi_pld_mass *m)
{
    int64_t n = 0;
    for (int64_t i = 0; i < m->len; i++) {
        if (!(m->p[i] > 0)) continue;
        m->k[n] = m->k[i];
        m->p[n++] = m->p[i];
    }
    if (n == 0) m->k[n] = -1, m->p[n++] = 0x1p-1000;
    m->len = n;
}

pv_status pvi_pld_mass_build(pv_arena *a, const pvi_pld_term *t, const pvi_pld_grid *g, int64_t room,
                             pvi_pld_mass *out)
{
    pvi_pld_pair x;
    pvi_pld_pair_init(&x, t, g->add, g->low, g->h);
    cuts c = { .offset = g->low ? -64 * U * x.e0 : 0.0 }; /* atoms of (0, e0) fall on lattice points, not below */
    if (!atoms_fit(&x, g->h)) return PV_E_NUMERIC;
    pv_status ok = x.z > 0 || x.coef * x.e0 > 0 ? make_cuts(a, &x, g, room, &c) : PV_OK;
    if (ok != PV_OK) return ok;
    const int64_t most = c.len + 2 * x.atoms + 1;
    *out = (pvi_pld_mass) { .count = t->count, .offset = c.offset, .scale = x.scale };
    out->inf = pvi_pld_min(x.top * (g->low ? 1.0 - 32 * U : 1.0 + 32 * U), 1.0);
    out->k = pv_arena_get(a, (size_t)most * sizeof *out->k);
    out->p = pv_arena_f64(a, most);
    double *E = pv_arena_f64(a, most);
    if (!out->k || !out->p || !E) return PV_E_NOMEM;
    if (g->low) {
        cells_below(&x, g->h, &c, out, E);
        atoms_below(&x, g->h, out, E);
        ok = pvi_pld_balance(a, g->h, E, out);
    } else {
        cells_above(&x, g->h, &c, out);
        atoms_above(&x, g->h, out, E);
        count_lost(out);
    }
    drop_empty(out);
    return ok;
}
