/* pld_pair.c - the dominating pair (P, Q) of one event, and its masses between two losses.
 *
 * A pair dominates a mechanism if H_g(P||Q) = sup_S P(S) - g Q(S) is at least the mechanism's for
 * every g >= 0 and every two neighbours; such pairs compose adaptively (Zhu, Dong, Wang 2022, Thm 10).
 *
 * Base pairs (P0, Q0), all symmetric under exchange, by their loss l = ln dP0/dQ0:
 *   (1) Gaussian, multiplier z   l ~ N(1/2z^2, 1/z^2) under P0, N(-1/2z^2, 1/z^2) under Q0
 *   (2) Laplace, e0 = 1/scale    P0: density e^{(l-e0)/2}/4 on (-e0, e0), 1/2 at e0, e^-e0/2 at -e0
 *   (3) selection, range e0      P0: density e^{(l-e0)/2}/(2 (1 - e^-e0)) on (-e0, e0)
 *   (4) (e0, d)                  P0: d at infinity, (1-d)/(1 + e^-e0) at e0, (1-d)/(1 + e^e0) at -e0
 *                                (Kairouz, Oh, Viswanath 2015, Thm 2.5); a ball is (0, d)
 *   Q0 has e^-l times these.  (3): a mechanism of bounded range e0 (Dong, Durfee, Rogers 2020, Def. 2)
 *   has l in [t - e0, t], its worst law has two points, H_g = (E - T)(1 - g/T)/(E - 1) with E = e^e0,
 *   T = e^t; the supremum over T is reached at T^2 = g E and is (sqrt E - sqrt g)^2/(E - 1), whose
 *   second derivative is (3).  The lower bound uses t = e0/2, which a two-candidate exponential
 *   mechanism attains: randomised response with e0/2.
 *
 * Sampling with probability q (Zhu, Dong, Wang 2022, Thm 11):
 *   (5) remove   P = (1-q) Q0 + q P0, Q = Q0        loss ln(1 - q + q e^l)
 *   (6) add      P = Q0, Q = (1-q) Q0 + q P0        loss -ln(1 - q + q e^l)
 * With G(eps) = 1 + (e^eps - 1)/q the set {loss > eps} of (5) is {e^l > G(eps)}, and for a cell C of
 * losses between lo and hi,
 *   (7) remove   P(C) - e^lo Q(C) = q (P0(C) - G(lo) Q0(C))
 *   (8) add      P(C) - e^lo Q(C) = q e^lo (G(-lo) Q0(C) - P0(C))
 * so only differences of the base pair cancel, never 1 - q against 1.
 *
 * Range   losses go far beyond ln of the largest double, 709.  e^l stands only in products with tails of Q0, and
 *   (9)  e^l Q0(l, inf) = e^l Q(aQ) = phi(aP) R(aQ),  aP, aQ = z l -+ 1/2z,  R Mills' ratio (mills.c),
 *   because aQ^2 - aP^2 = 2 l: neither e^l nor the tail is formed where one of them leaves the range.  Likewise
 *   (10) e^lo Q(C) = (1-q) Q0(C) + q G(lo) Q0(C) (remove), e^lo ((1-q) Q0(C) + q P0(C)) (add)
 *   is given instead of Q(C).  What underflows is then below 2^-1000 after every multiplication, which pld_mass.c
 *   adds to the infinite losses.
 *
 * Errors  u = 2^-53.  exp, expm1, log1p, log err by at most 4 ulp and erfc by at most 16 in every libm
 *   in use (glibc documents 1 and 5); constants below are at least twice the sums of the roundings.
 *   A Gaussian tail at a = z l +- 1/2z is off by the rounding of a, relative (1 + |a|) |da|.
 *   An edge is placed where the computed l says, off the wanted loss by at most
 *   16 u (|eps| + q)(1 + |l|); moving the mass of a cell by that much changes E by at most P times it. */
#include "mills.h"
#include "pld.h"

#define U            PVI_PLD_U
#define SQRT_HALF    0.70710678118654752440
#define INV_SQRT_2PI 0.39894228040143267794

/* ln(1 - q + q e^l) */
static double sampled_loss(double q, double l)
{
    if (q == 1.0) return l;
    if (l < 600.0) return log1p(q * expm1(l));
    return l + log(q); /* (1-q) e^-l/q is below an ulp; atoms never come here: acct_pld.c refuses them */
}

/* One point of the base pair: probability P under P0, Q under Q0. */
static void put_atom(pvi_pld_pair *x, double l, double P, double Q)
{
    const double loss = x->add ? -sampled_loss(x->q, l) : sampled_loss(x->q, l);
    const double p = x->add ? Q : (1.0 - x->q) * Q + x->q * P;
    if (!(p > 0)) return;
    if (loss == INFINITY) x->top += p;
    else x->atom[x->atoms++] = (pvi_pld_atom) { loss, p };
}

/* Points l and -l, in ascending order of the loss. */
static void put_both(pvi_pld_pair *x, double l, double P, double Q)
{
    if (x->add) put_atom(x, l, P, Q), put_atom(x, -l, Q, P);
    else put_atom(x, -l, Q, P), put_atom(x, l, P, Q);
}

/* (4): randomised response with infinite losses of probability d. */
static void response(pvi_pld_pair *x, double e0, double d)
{
    const double s = x->add ? INFINITY : -INFINITY;
    put_atom(x, s, x->add ? d : 0.0, x->add ? 0.0 : d);
    put_both(x, e0, (1.0 - d) / (1.0 + exp(-e0)), (1.0 - d) / (1.0 + exp(e0)));
    put_atom(x, -s, x->add ? 0.0 : d, x->add ? d : 0.0);
}

/* A multiple of h at or, within rounding, just above e0: the caller's offset makes up for it. */
static double on_lattice(double e0, double h)
{
    return h * floor(e0 / h * (1.0 + 8 * U));
}

/* The event at the other end of its slack. */
static pvi_pld_term relaxed(const pvi_pld_term *t)
{
    pvi_pld_term r = *t;
    const bool noise = t->kind == PV_EV_GAUSSIAN || t->kind == PV_EV_LAPLACE;
    r.a = noise ? t->a * (1.0 + t->slack) : t->a / (1.0 + t->slack);
    r.b = t->b / (1.0 + t->slack);
    if (t->rate < 1.0) r.rate = t->rate / (1.0 + t->slack);
    return r;
}

void pvi_pld_pair_init(pvi_pld_pair *x, const pvi_pld_term *t, bool add, bool low, double h)
{
    const pvi_pld_term r = low ? relaxed(t) : *t;
    *x = (pvi_pld_pair) { .q = r.rate, .add = add };
    if (r.kind == PV_EV_GAUSSIAN) { /* (1) */
        x->z = r.a;
        x->scale = 1.0 / r.a;
        return;
    }
    double e0 = r.kind == PV_EV_LAPLACE ? 1.0 / r.a : r.kind == PV_EV_BALL ? 0.0 : r.a;
    if (low && r.kind == PV_EV_SELECT) e0 *= 0.5;
    if (low && r.rate == 1.0) e0 = on_lattice(e0, h); /* smaller losses, but exactly on the lattice */
    x->scale = x->e0 = e0;
    if (r.kind == PV_EV_LAPLACE) { /* (2) */
        x->coef = 0.5;
        put_both(x, e0, 0.5, 0.5 * exp(-e0));
    } else if (r.kind == PV_EV_SELECT && !low) { /* (3) */
        x->coef = -1.0 / expm1(-e0);
    } else { /* (4) */
        response(x, e0, r.kind == PV_EV_BALL ? r.a : r.kind == PV_EV_EPS_DELTA ? r.b : 0.0);
        for (int i = 0; i < x->atoms; i++) x->scale = pvi_pld_max(x->scale, fabs(x->atom[i].loss));
    }
}

void pvi_pld_pair_range(const pvi_pld_pair *x, double tail, double *lo, double *hi)
{
    const double a = sqrt(-2.0 * log(tail)), z = x->z;
    double l_lo = -x->e0, l_hi = x->e0; /* of the base loss, under P */
    if (z > 0) {
        l_lo = (x->q < 1 ? -a - 0.5 / z : 0.5 / z - a) / z;
        l_hi = (x->add ? a - 0.5 / z : a + 0.5 / z) / z;
    }
    *lo = sampled_loss(x->q, l_lo);
    *hi = sampled_loss(x->q, l_hi);
    if (x->add) {
        const double t = *lo;
        *lo = -*hi;
        *hi = -t;
    }
}

double pvi_pld_pair_inner(const pvi_pld_pair *x)
{
    const double loss = sampled_loss(x->q, (-2.0 - 0.5 / x->z) / x->z); /* Q0 has 0.023 below */
    return x->add ? -loss : loss;
}

/* ---- edges --------------------------------------------------------------------------------------- */

#define SMALL 1e-290 /* below, erfc comes near the subnormal numbers and its relative error is not known */
#define LARGE 600.0  /* above, e^l comes near the largest double */

static double tail(double a, double da, double *err)
{
    const double s = 0.5 * erfc(fabs(a) * SQRT_HALF);
    *err = s > 0 ? s * (32 * U + 4 * U * (1.0 + fabs(a)) * da) : 0.0;
    return s;
}

/* l = ln G(s) = ln(1 + (e^s - 1)/q); s - ln q + ln(1 - (1-q) e^-s) where e^s/q leaves the range */
static void base_loss(double q, double s, pvi_pld_edge *e)
{
    const double t = expm1(s) / q;
    e->gam = 1.0 + t;
    if (t < 1e300) e->l = t > -1.0 ? log1p(t) : -INFINITY;
    else e->l = s - log(q) + log1p(-(1.0 - q) * exp(-s));
}

/* (9): directly, or as phi(aP) R(aQ) where one of the factors of e^l sQ has left the range of a double. */
static void lifted_tail(double da, pvi_pld_edge *e)
{
    if (!(e->aQ > 0)) return;
    if (e->sQ > SMALL && e->l < LARGE) {
        e->gQ = e->gam * e->sQ;
        e->rG = e->gam * e->rQ + 8 * U * (1.0 + fabs(e->l)) * e->gQ;
        return;
    }
    if (!(e->l < INFINITY)) return; /* nothing is left beyond */
    double R, D;
    pvi_mills(e->aQ, &R, &D);
    e->gQ = INV_SQRT_2PI * exp(-0.5 * e->aP * e->aP) * R;
    e->rG = e->gQ * (64 * U + 4 * U * (1.0 + fabs(e->aP)) * (da + fabs(e->aP)));
}

void pvi_pld_pair_edge(const pvi_pld_pair *x, double eps, pvi_pld_edge *e)
{
    const double s = x->add ? -eps : eps, q = x->q, z = x->z;
    *e = (pvi_pld_edge) { .eps = eps, .l = s };
    if (q < 1) base_loss(q, s, e);
    else e->gam = exp(s);
    if (z == 0) return;
    e->aP = z * e->l - 0.5 / z;
    e->aQ = z * e->l + 0.5 / z;
    const double da = z * fabs(e->l) + 0.5 / z; /* its rounding is 2 u da at most */
    e->sP = tail(e->aP, da, &e->rP);
    e->sQ = tail(e->aQ, da, &e->rQ);
    lifted_tail(da, e);
}

/* ---- cells ---------------------------------------------------------------------------------------- */

static double finite_abs(double l)
{
    return fabs(l) < INFINITY ? fabs(l) : 0.0;
}

static double between(double a1, double s1, double a2, double s2)
{
    const double d = a1 >= 0 ? s1 - s2 : a2 <= 0 ? s2 - s1 : 1.0 - s1 - s2;
    return d > 0 ? d : 0.0;
}

/* P0, Q0 of the cell l1 < l2; G = g Q0 and D = P0 - G with g = e^{l1}, or, upper, D = G - P0 with g = e^{l2}. */
typedef struct base {
    double P, Q, G, D, eP, eQ, eG, eD;
} base;

/* (9): e^{l1} Q0 = gQ1 - e^{l1-l2} gQ2, e^{l2} Q0 = e^{l2-l1} gQ1 - gQ2, where both tails are upper ones. */
static void lifted_cell(const pvi_pld_edge *e1, const pvi_pld_edge *e2, bool upper, base *b)
{
    const double d = e2->l - e1->l, f1 = upper ? exp(d) : 1.0, f2 = upper ? 1.0 : exp(-d);
    const double off = 8 * U * (2.0 + fabs(e1->l) + finite_abs(e2->l)); /* of f1, f2 */
    const double G = f1 * e1->gQ - f2 * e2->gQ;
    b->G = G > 0 ? G : 0.0;
    b->eG = f1 * e1->rG + f2 * e2->rG + off * (f1 * e1->gQ + f2 * e2->gQ);
}

static void gaussian_cell(const pvi_pld_edge *e1, const pvi_pld_edge *e2, bool upper, base *b)
{
    const double g = upper ? e2->gam : e1->gam;
    b->P = between(e1->aP, e1->sP, e2->aP, e2->sP);
    b->Q = between(e1->aQ, e1->sQ, e2->aQ, e2->sQ);
    b->eP = e1->rP + e2->rP + 4 * U * b->P;
    b->eQ = e1->rQ + e2->rQ + 4 * U * b->Q;
    b->G = g * b->Q;
    b->eG = fabs(g) * b->eQ + 16 * U * fabs(b->G);
    if (e1->aQ > 0 && (e2->l >= LARGE || e2->sQ <= SMALL)) lifted_cell(e1, e2, upper, b);
    b->D = upper ? b->G - b->P : b->P - b->G;
    b->eD = b->eP + b->eG + 16 * U * (b->P + b->Q);
}

/* (2), (3) with d = l2 - l1: P0 = c e^{(l1-e0)/2} m, m = e^{d/2} - 1, Q0 = c e^{-(l1+e0)/2} (1 - e^{-d/2}),
 * e^{l2} Q0 - P0 = c e^{(l1-e0)/2} m^2, P0 - e^{l1} Q0 = that e^{-d/2}: nothing cancels.  Where an edge lies beyond
 * the support, its own e^l is taken: e^l Q0 - e^{e0} Q0 = e^{e0} Q0 (e^{l-e0} - 1). */
static void exponential_cell(const pvi_pld_pair *x, const pvi_pld_edge *e1, const pvi_pld_edge *e2, bool upper,
                             base *b)
{
    const double e0 = x->e0, l1 = e1->l > -e0 ? e1->l : -e0, l2 = e2->l < e0 ? e2->l : e0, d = l2 - l1;
    *b = (base) { 0 };
    if (!(d > 0)) return;
    const double m = expm1(0.5 * d), f = x->coef * exp(0.5 * (l1 - e0)), part = x->coef * -expm1(-0.5 * d);
    b->P = f * m;
    b->Q = exp(-0.5 * (l1 + e0)) * part;
    b->D = upper ? f * m * m : f * m * m * exp(-0.5 * d);
    if (upper && e2->l > e0) b->D += exp(0.5 * (e0 - l1)) * part * expm1(e2->l - e0);
    if (!upper && e1->l < -e0) b->D += (exp(-e0) - e1->gam) * b->Q;
    b->G = upper ? b->P + b->D : b->P - b->D;
    b->eP = 32 * U * (1.0 + e0) * b->P;
    b->eQ = 32 * U * (1.0 + e0) * b->Q;
    b->eD = 64 * U * (1.0 + e0) * (b->D + b->P + fabs(b->G));
    b->eG = b->eP + b->eD;
}

void pvi_pld_pair_cell(const pvi_pld_pair *x, const pvi_pld_edge *lo, const pvi_pld_edge *hi, pvi_pld_cell *c)
{
    const double q = x->q;
    const pvi_pld_edge *e1 = x->add ? hi : lo, *e2 = x->add ? lo : hi;
    base b;
    if (x->z > 0) gaussian_cell(e1, e2, x->add, &b);
    else exponential_cell(x, e1, e2, x->add, &b);
    const double mix = (1.0 - q) * b.Q + q * b.P, emix = (1.0 - q) * b.eQ + q * b.eP + 4 * U * mix;
    const double down = x->add ? exp(lo->eps) : 1.0, f = q * down; /* (8), (7) */
    c->P = x->add ? b.Q : mix;
    c->eP = x->add ? b.eQ : emix;
    c->L = x->add ? down * mix : (1.0 - q) * b.Q + q * b.G; /* (10) */
    c->eL = (x->add ? down * emix : (1.0 - q) * b.eQ + q * b.eG) + 16 * U * fabs(c->L);
    c->E = f * b.D;
    const double far = pvi_pld_max(finite_abs(lo->eps), finite_abs(hi->eps));
    const double place = 16 * U * (far + q) * (1.0 + pvi_pld_max(finite_abs(lo->l), finite_abs(hi->l)));
    c->eE = f * b.eD + 16 * U * fabs(c->E) + c->P * place;
}
