/* test_masses.c - the steps inside the loss-distribution accountant, each against the exact curve.
 *
 * Masses of one release from above must have a curve on or above the exact one at every loss, those from below one on
 * or below it; they touch it, so rounding to the wrong side shows.  The composition of masses is compared with their
 * direct convolution.  Points of all sizes, both directions, all kinds. */
#include <arb_poly.h>
#include <math.h>
#include <stdio.h>

#include "acct/acct.h"
#include "acct/pld.h"
#include "ctxtest.h"
#include "single.h"

enum { PREC = 400 };
/* H_G of the base pair for any G = e^x: below 1, H_G(P||Q) = 1 - G + G H_{1/G}(Q||P), and the pair is symmetric. */
static void base_any(arb_t h, const ck_release *r, const arb_t x)
{
    arb_t y;
    if (arb_is_nonnegative(x)) {
        ck_base(h, r, x, PREC);
        return;
    }
    arb_init(y);
    arb_neg(y, x);
    ck_base(h, r, y, PREC);
    arb_sub_ui(h, h, 1, PREC);
    arb_exp(y, x, PREC);
    arb_mul(h, h, y, PREC);
    arb_add_ui(h, h, 1, PREC);
    arb_clear(y);
}

/* One direction at any loss, negative ones too: (6), (7) of single.c. */
static void exact(arb_t d, const ck_release *r, bool add, const arb_t eps)
{
    arb_t q, g, x;
    arb_init(q), arb_init(g), arb_init(x);
    arb_set_d(q, r->rate);
    arb_exp(g, eps, PREC);
    if (r->sampler == CK_WHOLE) {
        base_any(d, r, eps);
    } else if (!add) { /* P - g Q = q (P0 - G Q0) */
        arb_sub_ui(x, g, 1, PREC);
        arb_div(x, x, q, PREC);
        arb_add_ui(x, x, 1, PREC);
        if (arb_is_positive(x)) {
            arb_log(x, x, PREC);
            base_any(d, r, x);
            arb_mul(d, d, q, PREC);
        } else {
            arb_sub_ui(d, g, 1, PREC);
            arb_neg(d, d);
        }
    } else { /* P - g Q = s Q0 - g q P0, s = 1 - g (1-q) */
        arb_t s;
        arb_init(s);
        arb_sub_ui(s, q, 1, PREC);
        arb_mul(s, s, g, PREC);
        arb_add_ui(s, s, 1, PREC);
        arb_zero(d);
        if (arb_is_positive(s)) {
            arb_mul(x, g, q, PREC);
            arb_div(x, x, s, PREC);
            arb_log(x, x, PREC);
            base_any(d, r, x);
            arb_mul(d, d, s, PREC);
        }
        arb_clear(s);
    }
    arb_clear(q), arb_clear(g), arb_clear(x);
}

/* sum of p (1 - e^{eps - x})_+ and inf, of doubles taken as exact */
static void curve_of(arb_t d, const pvi_pld_mass *m, double h, const arb_t eps)
{
    arb_t x, p;
    arb_init(x), arb_init(p);
    arb_set_d(d, m->inf);
    for (int64_t i = 0; i < m->len; i++) {
        arb_set_d(x, h);
        arb_mul_si(x, x, (slong)m->k[i], PREC);
        arb_set_d(p, m->offset);
        arb_add(x, x, p, PREC);
        arb_sub(x, eps, x, PREC);
        if (!arb_is_negative(x)) continue;
        arb_expm1(x, x, PREC);
        arb_set_d(p, m->p[i]);
        arb_submul(d, p, x, PREC);
    }
    arb_clear(x), arb_clear(p);
}

static double between(uint64_t *s, double least, double most)
{
    return least * pow(most / least, pvt_uniform(s));
}

static ck_release random_release(uint64_t *s, int i, pvi_pld_term *t)
{
    static const pv_ev_kind kinds[] = { PV_EV_GAUSSIAN, PV_EV_LAPLACE, PV_EV_SELECT, PV_EV_BALL, PV_EV_EPS_DELTA };
    const ck_kind k = (ck_kind)(i % 2 ? 0 : i / 2 % CK_KINDS);
    ck_release r = { .kind = k, .rate = 1.0, .times = 1.0, .rows = 1.0 };
    const bool extreme = pvt_uniform(s) < 0.3;
    r.a = k == CK_BALL ? between(s, 1e-20, 0.5) : extreme ? between(s, 1e-3, 1e14) : between(s, 0.03, 30.0);
    if (k == CK_SELECT || k == CK_EPS_DELTA) r.a = fmin(r.a, 1e3);
    if (k == CK_EPS_DELTA) r.b = between(s, 1e-20, 0.1);
    if (pvt_uniform(s) < 0.7) r.sampler = CK_POISSON, r.rate = between(s, 1e-4, 0.95);
    *t = (pvi_pld_term) { kinds[k], r.a, r.b, r.rate, 0x1p-44, 1 };
    return r;
}

/* The size of a loss: 1/z, e0, or the larger end of a sampled one */
static double loss_scale(const ck_release *r)
{
    const double e = r->kind == CK_GAUSSIAN || r->kind == CK_LAPLACE ? 1.0 / r->a : r->kind == CK_BALL ? 1e-3 : r->a;
    return log1p(r->rate * expm1(fmin(e, 500.0)));
}

static void compare(const ck_release *r, const pvi_pld_mass *m, const pvi_pld_grid *g, uint64_t *s, int points)
{
    arb_t eps, got, want, x;
    arb_init(eps), arb_init(got), arb_init(want), arb_init(x);
    for (int i = 0; i < points; i++) {
        const int64_t j = i == 0 ? m->len - 1 : i == 1 ? 0 : (int64_t)(pvt_uniform(s) * (double)m->len);
        const double off = i % 3 == 0 ? 0.0 : i % 3 == 1 ? pvt_uniform(s) : i == 2 ? 3.0 : 1.0; /* in steps of h */
        arb_set_d(eps, g->h);
        arb_set_d(x, (double)m->k[j] + off);
        arb_mul(eps, eps, x, PREC);
        arb_set_d(x, m->offset);
        arb_add(eps, eps, x, PREC);
        exact(want, r, g->add, eps);
        curve_of(got, m, g->h, eps);
        PVT_CHECK(g->low ? !arb_gt(got, want) : !arb_lt(got, want),
                  "kind %d a=%.17g b=%g rate=%.17g %s %s h=%g: at loss %g the masses have %.17g, the truth is %.17g",
                  (int)r->kind, r->a, r->b, r->rate, g->add ? "add" : "remove", g->low ? "below" : "above", g->h,
                  arf_get_d(arb_midref(eps), ARF_RND_NEAR), arf_get_d(arb_midref(got), ARF_RND_NEAR),
                  arf_get_d(arb_midref(want), ARF_RND_NEAR));
    }
    arb_clear(eps), arb_clear(got), arb_clear(want), arb_clear(x);
}

static void masses_of_one_release(void **state)
{
    (void)state;
    uint64_t s = 11;
    int built = 0;
    for (int i = 0; i < 400; i++) {
        pvi_pld_term t;
        const ck_release r = random_release(&s, i, &t);
        const double scale = loss_scale(&r);
        const pvi_pld_grid g = { .h = scale * between(&s, 1e-4, 0.1),
                                 .c = between(&s, 0.01, 0.3),
                                 .cap = scale * between(&s, 0.1, 10.0),
                                 .tail = between(&s, 1e-40, 1e-6),
                                 .add = r.sampler != CK_WHOLE && i / 2 % 2,
                                 .low = i / 4 % 2 };
        pv_arena *a = pvi_arena_create(ctx);
        pvi_pld_mass m;
        if (pvi_pld_mass_build(a, &t, &g, 3000, &m) == PV_OK) {
            compare(&r, &m, &g, &s, 12);
            built++;
        }
        pvi_arena_free(a);
    }
    PVT_CHECK(built > 200, "only %d were built", built);
}

/* ---- composition ----------------------------------------------------------------------------------------------- */

/* The masses of `count` steps by direct convolution, as one list of masses. */
static void convolve(arb_poly_t p, const pvi_pld_mass *m)
{
    arb_t c, p1;
    arb_poly_t one;
    arb_init(c), arb_init(p1);
    arb_poly_init(one);
    for (int64_t i = 0; i < m->len; i++) {
        arb_poly_get_coeff_arb(c, one, (slong)(m->k[i] - m->k[0])); /* points may be repeated */
        arb_set_d(p1, m->p[i]);
        arb_add(c, c, p1, PREC);
        arb_poly_set_coeff_arb(one, (slong)(m->k[i] - m->k[0]), c);
    }
    arb_poly_pow_ui(p, one, (ulong)m->count, PREC);
    arb_clear(c), arb_clear(p1);
    arb_poly_clear(one);
}

/* delta(eps) of the convolution, infinite losses included. */
static void composed(arb_t d, const arb_poly_t p, const pvi_pld_mass *m, double h, double eps)
{
    arb_t x, c, shift;
    arb_init(x), arb_init(c), arb_init(shift);
    arb_set_d(d, m->inf); /* 1 - (1 - inf)^n */
    arb_sub_ui(d, d, 1, PREC);
    arb_neg(d, d);
    arb_pow_ui(d, d, (ulong)m->count, PREC);
    arb_sub_ui(d, d, 1, PREC);
    arb_neg(d, d);
    arb_set_d(shift, m->offset);
    arb_mul_si(shift, shift, (slong)m->count, PREC);
    for (slong i = 0; i < arb_poly_length(p); i++) {
        arb_set_d(x, h);
        arb_mul_si(x, x, (slong)(m->k[0] * m->count) + i, PREC);
        arb_add(x, x, shift, PREC);
        arb_set_d(c, eps);
        arb_sub(x, c, x, PREC);
        if (!arb_is_negative(x)) continue;
        arb_expm1(x, x, PREC);
        arb_poly_get_coeff_arb(c, p, i);
        arb_submul(d, c, x, PREC);
    }
    arb_clear(x), arb_clear(c), arb_clear(shift);
}

static void check_law(const pvi_pld_law *law, const pvi_pld_mass *m, const arb_poly_t p, double h, double theta,
                      int64_t N, double eps)
{
    arb_t d, x;
    arb_init(d), arb_init(x);
    composed(d, p, m, h, eps);
    const double up = pvi_pld_delta_ub(law, eps),
                 excess = pvi_pld_excess(m, 1, h, theta, (double)N * h, theta + 1.0, eps);
    const double low = pvi_pld_delta_lb(law, eps, excess), truth = arf_get_d(arb_midref(d), ARF_RND_NEAR);
    arb_set_d(x, up);
    PVT_CHECK(up >= 1.0 || !arb_lt(x, d), "upper bound %.17g, exact %.17g (eps %g, n %ld, theta %g)", up, truth, eps,
              (long)m->count, theta);
    arb_set_d(x, low);
    PVT_CHECK(!arb_gt(x, d), "lower bound %.17g, exact %.17g (eps %g, n %ld, theta %g)", low, truth, eps,
              (long)m->count, theta);
    arb_clear(d), arb_clear(x);
}

static void compositions(void **state)
{
    (void)state;
    uint64_t s = 12;
    int laws = 0;
    for (int i = 0; i < 60; i++) {
        pvi_pld_term t;
        const ck_release r = random_release(&s, i, &t);
        const double scale = loss_scale(&r);
        const pvi_pld_grid g = { scale * 0.1, 0.1, scale, 1e-12, false, i % 2 };
        pv_arena *a = pvi_arena_create(ctx);
        pvi_pld_mass m;
        pvi_pld_law *law;
        double work = 0;
        t.count = i % 4 ? 2 + (int64_t)(20 * pvt_uniform(&s)) : 1;
        if (pvi_pld_mass_build(a, &t, &g, 3000, &m) == PV_OK && m.k[m.len - 1] - m.k[0] < 1500) {
            const double theta = between(&s, 0.05, 5.0) / scale;
            const int64_t N = (int64_t)1 << (6 + (int)(8 * pvt_uniform(&s))); /* small ones wrap */
            arb_poly_t p;
            arb_poly_init(p);
            convolve(p, &m);
            PVT_OK(pvi_pld_compose(a, &m, 1, g.h, theta, N, i % 3 ? 1e-3 : 0.0, &work, &law));
            for (int k = 0; k < 8; k++)
                check_law(law, &m, p, g.h, theta, N,
                          k == 0 ? 0.0 : scale * sqrt((double)t.count) * between(&s, 0.1, 10.0));
            arb_poly_clear(p);
            laws++;
        }
        pvi_arena_free(a);
    }
    PVT_CHECK(laws > 30, "only %d were composed", laws);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(masses_of_one_release),
        cmocka_unit_test(compositions),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
