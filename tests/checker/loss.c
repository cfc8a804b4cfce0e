/* loss.c - the law of the loss of one release: probabilities of a loss above L.
 *
 * The loss of an outcome is l = ln P0/Q0, P0 and Q0 its probabilities without a sampler.  Pairs are symmetric under
 * exchange, P0(l > y) = Q0(l < -y):
 *   Gaussian   l = mu x + mu^2/2 under P0, mu x - mu^2/2 under Q0, x standard normal
 *   Laplace    l = e0 (|x| - |x - 1|), x Laplace of scale 1/e0 around 1 under P0, around 0 under Q0
 *   selection  upper: the pair whose curve is (3) of single.c; its second derivative is the density of l under P0
 *              lower: the two losses t e0 and (t - 1) e0, the first of probability (1 - T/E)/(1 - 1/E) under P0,
 *              T = e^{t e0}, E = e^e0: (3) before the supremum.  Exchanged it is the same with 1 - t.
 *   (e0, d)    under P0 infinite with probability d, else e0 or -e0 as randomised response; a ball is (0, d)
 * Sampled, removing a row has the loss ln(1 - q + q e^l), P = (1-q) Q0 + q P0, Q = Q0; adding it has minus that
 * loss, P and Q exchanged.  Neighbours differ by one of the two in all releases: the truth is the larger. */
#include "loss.h"

#include <stdlib.h>

static void gaussian_above(ck_tails *T, const ck_release *r, const arb_t y, slong prec)
{
    arb_t mu, x;
    arb_init(mu), arb_init(x);
    arb_set_d(mu, r->a);
    arb_inv(mu, mu, prec);
    arb_div(x, y, mu, prec);
    arb_mul_2exp_si(mu, mu, -1);
    arb_sub(mu, mu, x, prec); /* mu/2 - y/mu */
    ck_normal(T->P, mu, prec);
    arb_mul_2exp_si(x, x, 1);
    arb_add(x, x, mu, prec); /* mu/2 + y/mu */
    arb_neg(x, x);
    ck_normal(T->Q, x, prec);
    arb_clear(mu), arb_clear(x);
}

/* Is y < x?  Lattice and losses are such that this is always decided. */
static bool before(const arb_t y, const arb_t x)
{
    if (arb_lt(y, x)) return true;
    if (!arb_ge(y, x)) abort();
    return false;
}

/* 1 - ½ e^{(y-e0)/2} and ½ e^{-(y+e0)/2} between -e0 and e0; with `select` the densities of the dominating pair
 * instead:
 * (1 - e^{(y-e0)/2})/(1 - e^-e0) and (e^{-(y+e0)/2} - e^-e0)/(1 - e^-e0). */
static void spread_above(ck_tails *T, bool select, const arb_t e0, const arb_t y, slong prec)
{
    arb_t x, c;
    arb_init(x), arb_init(c);
    arb_sub(x, y, e0, prec);
    arb_mul_2exp_si(x, x, -1);
    arb_exp(T->P, x, prec);
    arb_add(x, y, e0, prec);
    arb_mul_2exp_si(x, x, -1);
    arb_neg(x, x);
    arb_exp(T->Q, x, prec);
    if (select) {
        arb_neg(c, e0);
        arb_exp(c, c, prec);
        arb_sub(T->Q, T->Q, c, prec);
        arb_sub_ui(c, c, 1, prec);
        arb_neg(c, c);
        arb_sub_ui(T->P, T->P, 1, prec);
        arb_neg(T->P, T->P);
        arb_div(T->P, T->P, c, prec);
        arb_div(T->Q, T->Q, c, prec);
    } else {
        arb_mul_2exp_si(T->P, T->P, -1);
        arb_sub_ui(T->P, T->P, 1, prec);
        arb_neg(T->P, T->P);
        arb_mul_2exp_si(T->Q, T->Q, -1);
    }
    arb_clear(x), arb_clear(c);
}

/* Two losses, `hi` with probability P1 under P0 and P1 e^-hi under Q0, and lo; the rest under P0 is infinite. */
static void points_above(ck_tails *T, const arb_t lo, const arb_t hi, const arb_t P1, const arb_t d, const arb_t y,
                         slong prec)
{
    arb_t one;
    arb_init(one);
    arb_set(T->P, d);
    arb_zero(T->Q);
    if (before(y, hi)) {
        arb_add(T->P, T->P, P1, prec);
        arb_neg(T->Q, hi);
        arb_exp(T->Q, T->Q, prec);
        arb_mul(T->Q, T->Q, P1, prec);
    }
    if (before(y, lo)) {
        arb_one(T->P);
        arb_one(one);
        arb_sub(T->Q, one, d, prec);
    }
    arb_clear(one);
}

static void two_losses_above(ck_tails *T, const ck_release *r, double t, const arb_t e0, const arb_t y, slong prec)
{
    arb_t lo, hi, P1, d, x;
    arb_init(lo), arb_init(hi), arb_init(P1), arb_init(d), arb_init(x);
    if (r->kind == CK_SELECT) {
        arb_set_d(hi, t);
        arb_mul(hi, hi, e0, prec);
        arb_sub(lo, hi, e0, prec);
        arb_expm1(P1, lo, prec);
        arb_neg(x, e0);
        arb_expm1(x, x, prec);
        arb_div(P1, P1, x, prec); /* (1 - T/E)/(1 - 1/E) */
    } else {
        arb_set_d(d, r->kind == CK_BALL ? r->a : r->b);
        arb_set(hi, e0);
        arb_neg(lo, e0);
        arb_exp(x, lo, prec);
        arb_add_ui(x, x, 1, prec);
        arb_sub_ui(P1, d, 1, prec);
        arb_neg(P1, P1);
        arb_div(P1, P1, x, prec); /* (1 - d)/(1 + e^-e0) */
    }
    points_above(T, lo, hi, P1, d, y, prec);
    arb_clear(lo), arb_clear(hi), arb_clear(P1), arb_clear(d), arb_clear(x);
}

/* P0(l > y), Q0(l > y) */
static void base_above(ck_tails *T, const ck_release *r, const ck_side *side, const arb_t y, slong prec)
{
    arb_t e0, low;
    if (r->kind == CK_GAUSSIAN) {
        gaussian_above(T, r, y, prec);
        return;
    }
    arb_init(e0), arb_init(low);
    arb_set_d(e0, r->kind == CK_BALL ? 0.0 : r->a);
    if (r->kind == CK_LAPLACE) arb_inv(e0, e0, prec);
    arb_neg(low, e0);
    if (r->kind == CK_LAPLACE || (r->kind == CK_SELECT && side->upper)) {
        if (before(y, low)) arb_one(T->P), arb_one(T->Q);
        else if (before(y, e0)) spread_above(T, r->kind == CK_SELECT, e0, y, prec);
        else arb_zero(T->P), arb_zero(T->Q);
    } else {
        two_losses_above(T, r, side->add ? 1.0 - side->t : side->t, e0, y, prec);
    }
    arb_clear(e0), arb_clear(low);
}

/* P(loss > L), Q(loss > L) of one release. */
void ck_above(ck_tails *T, const ck_release *r, const ck_side *side, double L, slong prec)
{
    arb_t y, q, x;
    arb_init(y), arb_init(q), arb_init(x);
    arb_set_d(y, L);
    if (r->sampler != CK_WHOLE) {
        arb_set_d(q, r->rate);
        if (side->add) arb_neg(y, y);
        arb_expm1(y, y, prec);
        arb_div(y, y, q, prec);
        arb_add_ui(x, y, 1, prec); /* e^l at the loss L: ln(1 - q + q e^l) = L or -L */
        if (!arb_is_positive(x)) { /* beyond -ln(1-q): no loss when adding, every one when removing */
            if (!arb_is_negative(x)) abort();
            arb_set_ui(T->P, !side->add);
            arb_set_ui(T->Q, !side->add);
            goto done;
        }
        arb_log1p(y, y, prec);
        if (side->add) arb_neg(y, y); /* l < y, by symmetry -l > -y with P0 and Q0 exchanged */
    }
    base_above(T, r, side, y, prec);
    if (r->sampler != CK_WHOLE) {
        arb_t *mixed = side->add ? &T->Q : &T->P, *other = side->add ? &T->P : &T->Q; /* (1-q) other + q mixed */
        arb_sub(x, *mixed, *other, prec);
        arb_mul(x, x, q, prec);
        arb_add(*mixed, *other, x, prec);
    }
done:
    arb_clear(y), arb_clear(q), arb_clear(x);
}

/* The probability under P of an infinite loss. */
void ck_at_infinity(arb_t p, const ck_release *r, const ck_side *side, slong prec)
{
    arb_t q;
    arb_init(q);
    arb_set_d(p, r->kind == CK_BALL ? r->a : r->kind == CK_EPS_DELTA ? r->b : 0.0);
    arb_set_d(q, r->rate);
    if (r->sampler != CK_WHOLE && side->add) arb_zero(p);
    arb_mul(p, p, q, prec);
    arb_clear(q);
}
