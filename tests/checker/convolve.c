/* convolve.c - many releases: losses on a lattice, rounded up or down, convolved as integers.
 *
 * The loss of an outcome x is ln P(x)/Q(x).  Its law under P gives delta(eps) = E (1 - e^{eps - loss})_+, and the
 * losses of independent releases add up.  Two facts:
 *   (U) An outcome of loss between lo and hi may be split into two of losses lo and hi with the same P and Q
 *       altogether: who sees the parts can join them, so the split pair is easier to tell apart.  With P and Q of a
 *       whole cell, p_hi = (P - e^lo Q)/(1 - e^{lo-hi}), p_lo = P - p_hi.
 *   (L) Outcomes may be joined: a cell becomes one outcome of loss ln(P/Q), harder to tell apart.  Making a loss
 *       smaller, or leaving an outcome out, lowers delta(eps) further.  So the mass P goes to the next lattice point
 *       offset + k h below; every offset is allowed, and the one that loses least is taken.
 * Both hold when other releases follow, as they act outcome by outcome.  Masses are integers in units of 2^-bits,
 * rounded up for (U) and down for (L).  At the ends of the lattice (U) counts losses above it as infinite and those
 * below as lying on its first point; (L) counts those above as lying on its last point and leaves out those below. */
#include "convolve.h"

#include <math.h>
#include <stdlib.h>

#include "loss.h"

/* ---- one release on the lattice
 * ------------------------------------------------------------------------------------- */

static void law_init(ck_law *x)
{
    fmpz_poly_init(x->p);
    fmpz_init(x->inf);
    arb_init(x->offset);
}

void ck_law_free(ck_law *x)
{
    fmpz_poly_clear(x->p);
    fmpz_clear(x->inf);
    arb_clear(x->offset);
}

/* 2^bits p as an integer, rounded up or down; not below 0. */
static void to_integer(fmpz_t out, const arb_t p, slong bits, bool up)
{
    arf_t x;
    arf_init(x);
    if (up) arb_get_ubound_arf(x, p, bits + 64);
    else arb_get_lbound_arf(x, p, bits + 64);
    arf_mul_2exp_si(x, x, bits);
    if (up) arf_ceil(x, x);
    else arf_floor(x, x);
    arf_get_fmpz(out, x, ARF_RND_DOWN);
    if (fmpz_sgn(out) < 0) fmpz_zero(out);
    arf_clear(x);
}

static void put(ck_law *law, slong i, const arb_t p, const ck_lattice *g, bool up)
{
    fmpz_t x, y;
    fmpz_init(x), fmpz_init(y);
    to_integer(x, p, g->bits, up);
    fmpz_poly_get_coeff_fmpz(y, law->p, i);
    fmpz_add(x, x, y);
    fmpz_poly_set_coeff_fmpz(law->p, i, x);
    fmpz_clear(x), fmpz_clear(y);
}

static double edge(const ck_lattice *g, slong i)
{
    return (double)(i - g->K) * g->h; /* exact: h has few bits */
}

/* (U): cell i is split between the points i and i + 1. */
static void split(ck_law *law, slong i, const arb_t P, const arb_t Q, const ck_lattice *g, slong prec)
{
    arb_t x, y;
    arb_init(x), arb_init(y);
    arb_set_d(x, edge(g, i));
    arb_exp(x, x, prec);
    arb_mul(x, x, Q, prec);
    arb_sub(x, P, x, prec);
    arb_set_d(y, -g->h);
    arb_expm1(y, y, prec);
    arb_div(x, x, y, prec);
    arb_neg(x, x); /* p_hi */
    put(law, i + 1, x, g, true);
    arb_sub(y, P, x, prec);
    put(law, i, y, g, true);
    arb_clear(x), arb_clear(y);
}

/* A lower bound on ln(P/Q). */
static double joined_loss(const arb_t P, const arb_t Q, slong prec)
{
    arb_t x;
    arf_t low;
    arb_init(x), arf_init(low);
    arb_div(x, P, Q, prec);
    arb_log(x, x, prec);
    arb_get_lbound_arf(low, x, 53);
    const double l = arb_is_finite(x) ? arf_get_d(low, ARF_RND_FLOOR) : NAN;
    arb_clear(x), arf_clear(low);
    return l;
}

/* The largest i with offset + (i - K) h <= loss. */
static slong point_below(const ck_lattice *g, double offset, double loss)
{
    slong i = (slong)fmin(fmax(floor((loss - offset) / g->h), (double)-g->K - 1.0), (double)g->K) + g->K;
    arb_t x, y;
    arb_init(x), arb_init(y);
    for (;; i--) { /* rounding of the quotient */
        arb_set_d(x, offset);
        arb_set_d(y, edge(g, i));
        arb_add(x, x, y, ARF_PREC_EXACT);
        arb_set_d(y, loss);
        if (i < 0 || arb_le(x, y)) break;
    }
    arb_clear(x), arb_clear(y);
    return i;
}

/* (L): what rounding down to the lattice with this offset takes from the mean. */
static double lost(const ck_lattice *g, double offset, slong n, const double *loss, const double *weight)
{
    double sum = 0;
    for (slong i = 0; i < n; i++) {
        const double x = (loss[i] - offset) / g->h;
        if (weight[i] > 0) sum += weight[i] * (x - floor(x));
    }
    return sum;
}

/* (L): the offset, among the places where cells want to be, that loses least. */
static double best_offset(const ck_lattice *g, slong n, const double *loss, const double *weight)
{
    double best = 0.0, least = lost(g, 0.0, n, loss, weight), heavy = 0.0;
    for (slong i = 0; i < n; i++)
        if (weight[i] > heavy) heavy = weight[i];
    for (slong i = 0, tried = 0; i < n && tried < 400; i++) {
        if (!(weight[i] > 0.003 * heavy)) continue;
        const double want = loss[i] - g->h * floor(loss[i] / g->h), x = lost(g, want, n, loss, weight);
        tried++;
        if (x < least) least = x, best = want;
    }
    return best;
}

static void join(ck_law *law, slong n, arb_ptr P, const double *loss, const double *weight, const ck_lattice *g)
{
    const double offset = best_offset(g, n, loss, weight);
    arb_set_d(law->offset, offset);
    for (slong i = 0; i < n; i++) {
        const slong k = weight[i] > 0 ? point_below(g, offset, loss[i]) : -1;
        if (k >= 0) put(law, k > 2 * g->K ? 2 * g->K : k, P + i, g, false);
    }
}

/* One release. */
static void one(ck_law *law, const ck_release *r, const ck_lattice *g, const ck_side *side)
{
    const slong cells = 2 * g->K, prec = g->bits + 128;
    double *loss = calloc((size_t)cells, sizeof *loss), *weight = calloc((size_t)cells, sizeof *weight);
    arb_ptr Ps = _arb_vec_init(cells);
    ck_tails lo, hi;
    arb_t P, Q;
    if (!loss || !weight) abort();
    arb_init(lo.P), arb_init(lo.Q), arb_init(hi.P), arb_init(hi.Q), arb_init(P), arb_init(Q);
    law_init(law);
    fmpz_poly_fit_length(law->p, cells + 1);
    ck_above(&lo, r, side, edge(g, 0), prec);
    arb_sub_ui(P, lo.P, 1, prec);
    arb_neg(P, P);
    if (side->upper) put(law, 0, P, g, true); /* below the lattice */
    for (slong i = 0; i < cells; i++) {
        ck_above(&hi, r, side, edge(g, i + 1), prec);
        arb_sub(P, lo.P, hi.P, prec);
        arb_sub(Q, lo.Q, hi.Q, prec);
        if (side->upper && !arb_is_zero(P)) split(law, i, P, Q, g, prec);
        if (!side->upper && arb_is_positive(P)) {
            loss[i] = joined_loss(P, Q, prec);
            weight[i] = isnan(loss[i]) ? 0.0 : arf_get_d(arb_midref(P), ARF_RND_DOWN);
            arb_set(Ps + i, P);
        }
        arb_swap(lo.P, hi.P);
        arb_swap(lo.Q, hi.Q);
    }
    ck_at_infinity(Q, r, side, prec);
    if (!side->upper) join(law, cells, Ps, loss, weight, g);
    arb_sub(P, lo.P, Q, prec); /* finite, above the lattice */
    if (side->upper) arb_add(Q, Q, P, prec);
    else put(law, cells, P, g, false);
    to_integer(law->inf, Q, g->bits, side->upper);
    _arb_vec_clear(Ps, cells);
    arb_clear(lo.P), arb_clear(lo.Q), arb_clear(hi.P), arb_clear(hi.Q), arb_clear(P), arb_clear(Q);
    free(loss), free(weight);
}

/* ---- adding losses
 * --------------------------------------------------------------------------------------------------- */

/* x / 2^bits, rounded */
static void unscale(fmpz_t x, slong bits, bool up)
{
    if (up) fmpz_cdiv_q_2exp(x, x, (ulong)bits);
    else fmpz_fdiv_q_2exp(x, x, (ulong)bits);
}

/* Probability altogether, in units of 2^-bits. */
static void total(fmpz_t sum, const ck_law *x)
{
    fmpz_t one_more;
    fmpz_init(one_more);
    fmpz_one(one_more);
    fmpz_poly_evaluate_fmpz(sum, x->p, one_more);
    fmpz_add(sum, sum, x->inf);
    fmpz_clear(one_more);
}

/* An infinite loss in either: inf_x T_y + T_x inf_y - inf_x inf_y. */
static void join_infinite(fmpz_t inf, const ck_law *x, const ck_law *y)
{
    fmpz_t t;
    fmpz_init(t);
    total(t, y);
    fmpz_mul(inf, x->inf, t);
    total(t, x);
    fmpz_addmul(inf, t, y->inf);
    fmpz_submul(inf, x->inf, y->inf);
    fmpz_clear(t);
}

/* x = x + y, as independent losses */
static void add_losses(ck_law *x, const ck_law *y, const ck_lattice *g, bool upper)
{
    fmpz_poly_t z;
    fmpz_t inf, c, ends[2];
    fmpz_poly_init(z);
    fmpz_init(inf), fmpz_init(c), fmpz_init(ends[0]), fmpz_init(ends[1]);
    join_infinite(inf, x, y);
    fmpz_poly_mul(z, x->p, y->p);
    fmpz_poly_zero(x->p);
    for (slong i = fmpz_poly_length(z) - 1; i >= 0; i--) {
        const slong k = i - g->K; /* (i' - K) + (i'' - K) = k - K */
        fmpz_poly_get_coeff_fmpz(c, z, i);
        if (k < 0) fmpz_add(ends[0], ends[0], c);
        else if (k > 2 * g->K) fmpz_add(ends[1], ends[1], c);
        else unscale(c, g->bits, upper), fmpz_poly_set_coeff_fmpz(x->p, k, c);
    }
    if (upper) { /* above: infinite; below: on the first point */
        fmpz_add(inf, inf, ends[1]);
        unscale(ends[0], g->bits, true);
        fmpz_poly_get_coeff_fmpz(c, x->p, 0);
        fmpz_add(c, c, ends[0]);
        fmpz_poly_set_coeff_fmpz(x->p, 0, c);
    } else { /* above: on the last point; below: left out */
        unscale(ends[1], g->bits, false);
        fmpz_poly_get_coeff_fmpz(c, x->p, 2 * g->K);
        fmpz_add(c, c, ends[1]);
        fmpz_poly_set_coeff_fmpz(x->p, 2 * g->K, c);
    }
    unscale(inf, g->bits, upper);
    fmpz_set(x->inf, inf);
    arb_add(x->offset, x->offset, y->offset, 256);
    fmpz_poly_clear(z);
    fmpz_clear(inf), fmpz_clear(c), fmpz_clear(ends[0]), fmpz_clear(ends[1]);
}

/* No loss at all. */
static void nothing(ck_law *x, const ck_lattice *g)
{
    fmpz_t c;
    law_init(x);
    fmpz_init(c);
    fmpz_one(c);
    fmpz_mul_2exp(c, c, (ulong)g->bits);
    fmpz_poly_set_coeff_fmpz(x->p, g->K, c);
    fmpz_clear(c);
}

static void copy(ck_law *x, const ck_law *y)
{
    fmpz_poly_set(x->p, y->p);
    fmpz_set(x->inf, y->inf);
    arb_set(x->offset, y->offset);
}

void ck_compose(ck_law *law, const ck_step *s, int64_t n, const ck_lattice *g, const ck_side *side)
{
    nothing(law, g);
    for (int64_t e = 0; e < n; e++) {
        ck_law x, power, twice;
        one(&x, &s[e].r, g, side);
        law_init(&power), law_init(&twice);
        copy(&power, &x);
        int bit = 62;
        while (!(s[e].count >> bit & 1)) bit--;
        for (bit--; bit >= 0; bit--) { /* power: the leading bits of count so far */
            copy(&twice, &power);
            add_losses(&power, &twice, g, side->upper);
            if (s[e].count >> bit & 1) add_losses(&power, &x, g, side->upper);
        }
        add_losses(law, &power, g, side->upper);
        ck_law_free(&x), ck_law_free(&power), ck_law_free(&twice);
    }
}

void ck_law_delta(arb_t delta, const ck_law *law, const ck_lattice *g, double eps)
{
    const slong prec = g->bits + 64;
    arb_t f, step, x, p;
    arb_init(f), arb_init(step), arb_init(x), arb_init(p);
    arb_zero(delta);
    arb_set_d(x, eps);
    arb_sub(x, x, law->offset, prec);
    arb_set_d(f, edge(g, 2 * g->K));
    arb_sub(f, x, f, prec);
    arb_exp(f, f, prec); /* e^{eps - loss} at the last point */
    arb_set_d(step, g->h);
    arb_exp(step, step, prec);
    for (slong i = 2 * g->K; i >= 0; i--) {
        fmpz_t c;
        fmpz_init(c);
        arb_sub_ui(p, f, 1, prec);
        arb_neg(p, p);
        fmpz_poly_get_coeff_fmpz(c, law->p, i);
        if (!arb_is_nonpositive(p)) arb_addmul_fmpz(delta, p, c, prec);
        fmpz_clear(c);
        if (arb_is_negative(p)) break;
        arb_mul(f, f, step, prec);
    }
    arb_add_fmpz(delta, delta, law->inf, prec);
    arb_mul_2exp_si(delta, delta, -g->bits);
    arb_clear(f), arb_clear(step), arb_clear(x), arb_clear(p);
}

/* ---- the truth
 * -------------------------------------------------------------------------------------------------------- */

enum { SIDES = 12 };
typedef struct laws {
    ck_lattice g;
    int n;
    ck_side side[SIDES];
    ck_law law[SIDES];
} laws;

static bool group(const ck_step *s, int64_t n)
{
    for (int64_t e = 0; e < n; e++)
        if (s[e].r.sampler == CK_POISSON && s[e].r.replace) return true;
    return false;
}

/* The largest delta at eps, from above or from below; (10) of single.c where it is needed. */
static void largest(arb_t delta, const laws *x, bool upper, bool twice, double eps)
{
    arb_t d;
    arb_init(d);
    arb_zero(delta);
    for (int i = 0; i < x->n; i++) {
        if (x->side[i].upper != upper) continue;
        ck_law_delta(d, &x->law[i], &x->g, twice ? 0.5 * eps : eps);
        arb_max(delta, delta, d, 256);
    }
    if (twice) {
        arb_set_d(d, 0.5 * eps);
        arb_exp(d, d, 256);
        arb_add_ui(d, d, 1, 256);
        arb_mul(delta, delta, d, 256);
    }
    arb_clear(d);
}

/* From above: the smallest eps found with delta(eps) <= delta.  From below: the largest found with delta(eps) >
 * delta. */
static double invert(const laws *x, bool upper, bool twice, double delta)
{
    double lo = 0.0, hi = x->g.h * (double)x->g.K * (twice ? 2.0 : 1.0);
    arb_t d, t;
    arb_init(d), arb_init(t);
    arb_set_d(t, delta);
    largest(d, x, upper, twice, 0.0);
    if (upper ? arb_le(d, t) : !arb_gt(d, t)) hi = 0.0; /* 0 is enough; or nothing is known to be too little */
    else {
        largest(d, x, upper, twice, hi);
        if (upper && !arb_le(d, t)) lo = hi = INFINITY;
        if (!upper && arb_gt(d, t)) lo = hi;
    }
    for (int i = 0; i < 60 && hi - lo > 1e-10 * hi; i++) {
        const double mid = 0.5 * (lo + hi);
        largest(d, x, upper, twice, mid);
        *((upper ? arb_le(d, t) : !arb_gt(d, t)) ? &hi : &lo) = mid;
    }
    arb_clear(d), arb_clear(t);
    return upper ? hi : lo;
}

static void build(laws *x, const ck_step *s, int64_t n, bool upper_only)
{
    bool sampled = false, select = false;
    static const double t[] = { 0.5, 0.625, 0.75 };
    for (int64_t e = 0; e < n; e++) sampled |= s[e].r.sampler != CK_WHOLE, select |= s[e].r.kind == CK_SELECT;
    x->n = 0;
    for (int add = 0; add <= sampled; add++) {
        x->side[x->n++] = (ck_side) { .add = add, .upper = true, .t = 0.5 };
        for (int k = 0; k < (upper_only ? 0 : select ? 3 : 1); k++)
            x->side[x->n++] = (ck_side) { .add = add, .upper = false, .t = t[k] };
    }
    for (int i = 0; i < x->n; i++) ck_compose(&x->law[i], s, n, &x->g, &x->side[i]);
}

static void release(laws *x)
{
    for (int i = 0; i < x->n; i++) ck_law_free(&x->law[i]);
}

/* x with its last bits cut off, so that small multiples are exact. */
static double few_bits(double x)
{
    int e;
    const double m = frexp(x, &e);
    return ldexp(floor(ldexp(m, 30)), e - 30);
}

/* h: e0 divided by a power of two if there is an e0 without a sampler, so that its losses are lattice points. */
static double lattice_step(const ck_step *s, int64_t n, double reach, slong K)
{
    double h = reach / (double)K;
    for (int64_t e = 0; e < n; e++) {
        const ck_release *r = &s[e].r;
        if (r->sampler != CK_WHOLE || r->kind == CK_GAUSSIAN || r->kind == CK_BALL || !(r->a > 0)) continue;
        const double e0 = few_bits(r->kind == CK_LAPLACE ? 1.0 / r->a : r->a);
        return e0 * exp2(ceil(log2(h / e0)));
    }
    return few_bits(h);
}

/* Do losses up to `reach` decide about delta?  From above, on a coarse lattice. */
static bool reaches(const ck_step *s, int64_t n, double delta, double reach, slong bits)
{
    const bool twice = group(s, n);
    laws rough = { .g = { .h = lattice_step(s, n, reach, 128), .K = 128, .bits = bits } };
    build(&rough, s, n, true);
    const double far = invert(&rough, true, twice, delta);
    release(&rough);
    return far < (twice ? 1.2 : 0.6) * rough.g.h * 128.0;
}

void ck_truth_of(const ck_step *s, int64_t n, double delta, slong K, ck_truth *out)
{
    const bool twice = group(s, n);
    const slong bits = 96 - (slong)floor(log2(delta)) * (twice ? 2 : 1);
    double reach = 1e-2;
    while (reach < 1e9 && !reaches(s, n, delta, reach, bits)) reach *= 16.0;
    for (double less = reach / 8.0; less < reach; less *= 2.0)
        if (reaches(s, n, delta, less, bits)) reach = less;
    laws x = { .g = { .h = lattice_step(s, n, reach, K), .K = K, .bits = bits } };
    build(&x, s, n, false);
    out->eps_lo = invert(&x, false, twice, delta);
    out->eps_hi = invert(&x, true, twice, delta);
    out->eps = isfinite(out->eps_hi) ? 0.5 * (out->eps_lo + out->eps_hi) : out->eps_lo;
    arb_t d;
    arf_t b;
    arb_init(d), arf_init(b);
    largest(d, &x, false, twice, out->eps);
    arb_get_lbound_arf(b, d, 53);
    out->delta_lo = fmax(0.0, arf_get_d(b, ARF_RND_FLOOR));
    largest(d, &x, true, twice, out->eps);
    arb_get_ubound_arf(b, d, 53);
    out->delta_hi = arf_get_d(b, ARF_RND_CEIL);
    arb_clear(d), arf_clear(b);
    release(&x);
}
