/* test_mirrors.c - every mirror map: its step minimises what it says, its divergence is the definition, its modulus
 * holds, and pairs it has no exact step for are refused.  Stationarity measures on top of them. */
#include "arenatest.h"
#include "eval/eval.h"
#include "plug.h"
#include "reg/reg.h"

enum { MAXD = 30 };
static const double R = 1.7;

static const pv_mirror_ops *map_at(int64_t i)
{
    return (const pv_mirror_ops *)pv_nth(PV_KIND_mirror, i);
}

static const pv_mirror_ops *map_named(const char *name)
{
    return (const pv_mirror_ops *)pv_find(PV_KIND_mirror, name);
}

static pv_problem problem(int64_t d, const char *reg, const char *set)
{
    pv_problem p = { .d = d, .reg = (const pv_reg_ops *)pv_find(PV_KIND_reg, reg) };
    p.reg_cfg = plug_cfg(ctx, arena, &p.reg->head, "lambda", "0.4");
    p.set = set ? (const pv_set_ops *)pv_find(PV_KIND_set, set) : NULL;
    if (p.set) p.set_cfg = plug_cfg(ctx, arena, &p.set->head, "radius", "1.7");
    return p;
}

static void random_vector(uint64_t *s, double *w, int64_t d, double scale)
{
    for (int64_t j = 0; j < d; j++) w[j] = scale * pvt_normal(s);
}

/* A member of the l2 ball, l1 ball or simplex of radius R; boundary: exactly on it. */
static void member(uint64_t *s, const pv_problem *p, double *w, bool boundary)
{
    const bool simplex = p->set && !strcmp(p->set->head.name, "simplex"),
               l1 = p->set && !strcmp(p->set->head.name, "l1ball");
    double norm = 0.0;
    for (int64_t j = 0; j < p->d; j++) {
        w[j] = pow(pvt_uniform(s), 4.0) * (simplex || pvt_uniform(s) < 0.5 ? 1.0 : -1.0);
        norm += simplex || l1 ? fabs(w[j]) : w[j] * w[j];
    }
    if (!simplex && !l1) norm = sqrt(norm);
    const double size = R * (simplex || boundary ? 1.0 : pvt_uniform(s));
    for (int64_t j = 0; j < p->d; j++) w[j] *= size / norm;
}

/* psi and its derivative as defined, for D by the definition. */
static double psi(const char *name, const double *x, int64_t d)
{
    const double q = 1.0 + 1.0 / (d > 2 ? log((double)d) : 1.0);
    double s = 0.0;
    for (int64_t j = 0; j < d; j++)
        s += !strcmp(name, "euclidean") ? 0.5 * x[j] * x[j]
             : !strcmp(name, "entropy") ? (x[j] > 0.0 ? x[j] * log(x[j]) : 0.0)
                                        : pow(fabs(x[j]), q);
    return !strcmp(name, "pnorm") ? 0.5 * pow(s, 2.0 / q) : s;
}

static double psi_slope(const char *name, const double *x, int64_t d, int64_t j)
{
    const double q = 1.0 + 1.0 / (d > 2 ? log((double)d) : 1.0);
    if (!strcmp(name, "euclidean")) return x[j];
    if (!strcmp(name, "entropy")) return log(x[j]) + 1.0;
    double s = 0.0;
    for (int64_t k = 0; k < d; k++) s += pow(fabs(x[k]), q);
    return s > 0.0 ? copysign(pow(fabs(x[j]), q - 1.0), x[j]) * pow(s, (2.0 - q) / q) : 0.0;
}

static double by_definition(const char *name, const double *x, const double *w, int64_t d)
{
    double s = psi(name, x, d) - psi(name, w, d);
    for (int64_t j = 0; j < d; j++) s -= psi_slope(name, w, d, j) * (x[j] - w[j]);
    return s;
}

/* A set that it is made for. */
static const char *set_of(const pv_mirror_ops *m)
{
    const pv_plugin *h;
    for (int64_t i = 0; m->on && (h = pv_nth(PV_KIND_set, i)); i++)
        if (((const pv_set_ops *)(const void *)h)->props & m->on) return h->name;
    return "l2ball";
}

static void every_slot_is_filled(void **state)
{
    (void)state;
    int64_t n = 0;
    for (; map_at(n); n++)
        PVT_TRUE(map_at(n)->check && map_at(n)->step && map_at(n)->divergence && map_at(n)->modulus);
    PVT_TRUE(n >= 3);
    PVT_TRUE(pvi_mirror_default(NULL) == map_named("euclidean"));
    PVT_TRUE(pvi_mirror_default((const pv_set_ops *)pv_find(PV_KIND_set, "box")) == map_named("euclidean"));
    PVT_TRUE(pvi_mirror_default((const pv_set_ops *)pv_find(PV_KIND_set, "simplex")) == map_named("entropy"));
    PVT_TRUE(pvi_mirror_default((const pv_set_ops *)pv_find(PV_KIND_set, "l1ball")) == map_named("pnorm"));
}

/* In the norm of the map's modulus: l2, l1 on the simplex, l_q on the l1 ball. */
static double distance(const pv_problem *p, const double *x, const double *w)
{
    const char *set = p->set->head.name;
    const double power = !strcmp(set, "l2ball")   ? 2.0
                         : !strcmp(set, "l1ball") ? 1.0 + 1.0 / fmax(1.0, log((double)p->d))
                                                  : 1.0;
    double sum = 0.0;
    for (int64_t j = 0; j < p->d; j++) sum += pow(fabs(x[j] - w[j]), power);
    return pow(sum, 1.0 / power);
}

static void divergence_and_modulus_follow_the_definition(void **state)
{
    (void)state;
    uint64_t s = 31;
    double x[MAXD], w[MAXD];
    for (int64_t i = 0; map_at(i); i++)
        for (int round = 0; round < 600; round++) {
            const pv_problem p = problem(1 + round % MAXD, "none", set_of(map_at(i)));
            member(&s, &p, x, round % 2);
            member(&s, &p, w, round % 3);
            for (int64_t j = 0; round % 5 == 0 && j < p.d; j++) /* close together, inside the set */
                x[j] = w[j] + 1e-4 * (x[j] - w[j]);
            const double D = map_at(i)->divergence(&p, x, w), far = distance(&p, x, w);
            PVT_NEAR(D, by_definition(map_at(i)->head.name, x, w, p.d), 1e-12);
            PVT_CHECK(D >= 0.5 * map_at(i)->modulus(&p) * far * far * (1.0 - 1e-9) - 1e-14,
                      "%s d=%lld: D = %g, distance %g", map_at(i)->head.name, (long long)p.d, D, far);
        }
}

/* From a point of equal weights, w + t (1, -1, 1, ...) has D = (q - 1)/2 of the squared l_q distance for small t: no
 * larger modulus is true. */
static void the_modulus_of_pnorm_is_tight(void **state)
{
    (void)state;
    enum { D = 8 };
    const pv_problem p = problem(D, "none", "l1ball");
    const double q = 1.0 + 1.0 / log(D);
    double w[D], x[D];
    for (int j = 0; j < D; j++) w[j] = 0.1, x[j] = 0.1 + (j % 2 ? -1e-3 : 1e-3);
    const double far = distance(&p, x, w);
    PVT_NEAR(map_named("pnorm")->modulus(&p), q - 1.0, 1e-15);
    PVT_REL(map_named("pnorm")->divergence(&p, x, w), 0.5 * (q - 1.0) * far * far, 1e-3);
}

static void entropy_divergence_has_all_its_digits(void **state)
{
    (void)state;
    const pv_problem p = problem(2, "none", "simplex");
    const double w[2] = { 1.0, 0.7 };
    for (double e = 1e-2; e > 1e-7; e /= 3.0) {
        const double x[2] = { 1.0 + e, 0.7 - e };
        const long double a = (long double)x[0] - 1.0L, b = (long double)x[1] - (long double)w[1];
        const long double want =
            ((long double)x[0] * log1pl(a) - a) + ((long double)x[1] * log1pl(b / (long double)w[1]) - b);
        PVT_REL(map_named("entropy")->divergence(&p, x, w), want, 1e-9);
    }
    const double edge[2] = { R, 0.0 }, inside[2] = { 0.85, 0.85 }, near[2] = { 0.851, 0.849 };
    PVT_REL(map_named("entropy")->divergence(&p, near, inside), 0.5 * map_named("entropy")->modulus(&p) * 4e-6,
            1e-3); /* tight */
    PVT_REL(map_named("entropy")->divergence(&p, edge, inside), R * log(2.0), 1e-14);
    PVT_TRUE(isinf(map_named("entropy")->divergence(&p, inside, edge)));
}

static double objective(const pv_mirror_ops *m, const pv_problem *p, double eta, const double *g, const double *x,
                        const double *w)
{
    double s = 0.0;
    for (int64_t j = 0; j < p->d; j++) s += eta * g[j] * x[j];
    return s + (p->reg->prox ? eta * p->reg->value(p->reg_cfg, x, p->d) : 0.0) +
           by_definition(m->head.name, x, w, p->d);
}

static void check_step(const pv_mirror_ops *m, const char *reg, int64_t d, uint64_t *s)
{
    const pv_problem p = problem(d, reg, set_of(m));
    double w[MAXD] = { 0 }, g[MAXD], x[MAXD], y[MAXD], v[MAXD];
    const double eta = exp(1.5 * pvt_normal(s));
    if (m->check(ctx, p.reg, p.set) != PV_OK) return;
    if (pvt_uniform(s) < 0.8 || !strcmp(m->head.name, "entropy")) member(s, &p, w, pvt_uniform(s) < 0.3);
    random_vector(s, g, d, 1.0);
    memcpy(x, w, sizeof w);
    m->step(&p, eta, g, x);
    const double best = objective(m, &p, eta, g, x, w);
    for (int k = 0; k < 80; k++) {
        const double step = exp2(-20.0 * pvt_uniform(s));
        member(s, &p, v, pvt_uniform(s) < 0.5);
        for (int64_t j = 0; j < d; j++) y[j] = x[j] + step * (v[j] - x[j]);
        const double there = objective(m, &p, eta, g, y, w);
        PVT_CHECK(there >= best - 2e-14 * (1.0 + fabs(best) + eta), "%s reg=%s d=%lld eta=%g: %.17g < %.17g",
                  m->head.name, reg, (long long)d, eta, there, best);
    }
    double l1 = 0.0;
    for (int64_t j = 0; j < d; j++) l1 += fabs(x[j]);
    if (!strcmp(set_of(m), "l1ball")) PVT_TRUE(l1 <= R * (1.0 + 1e-14));
    if (!strcmp(set_of(m), "simplex")) PVT_REL(l1, R, 1e-14);
}

static void steps_are_exact_minimisers(void **state)
{
    (void)state;
    static const char *const regs[] = { "none", "l1", "l2", "elastic", "nonconvex" };
    uint64_t s = 33;
    for (int64_t i = 0; map_at(i); i++)
        for (int r = 0; r < 5; r++)
            for (int round = 0; round < 300; round++) check_step(map_at(i), regs[r], 1 + round % 9, &s);
}

/* The optimality conditions of the p-norm step at full precision and in many dimensions: psi'(x) is the threshold of
 * theta at one common mu, which is eta lambda inside the ball. */
static void pnorm_step_meets_its_conditions(void **state)
{
    (void)state;
    uint64_t s = 35;
    static const int64_t dims[] = { 1, 2, 3, 10, 1000, 50000 };
    for (int k = 0; k < 6; k++)
        for (int round = 0; round < 12; round++) {
            const int64_t d = dims[k];
            const pv_problem p = problem(d, round % 2 ? "l1" : "none", "l1ball");
            const double eta = exp(4.0 * (pvt_uniform(&s) - 0.7) * (round % 3)),
                         q = 1.0 + 1.0 / (d > 2 ? log((double)d) : 1.0);
            double *w = pv_arena_f64(arena, d), *x = pv_arena_f64(arena, d), *g = pv_arena_f64(arena, d);
            if (round % 4) member(&s, &p, w, round % 4 == 1);
            random_vector(&s, g, d, 1.0);
            memcpy(x, w, (size_t)d * sizeof *x);
            map_named("pnorm")->step(&p, eta, g, x);
            double sw = 0.0, sx = 0.0, l1 = 0.0, mu = -1.0, top = 0.0, mu_lo = 0.0;
            for (int64_t j = 0; j < d; j++) sw += pow(fabs(w[j]), q), sx += pow(fabs(x[j]), q), l1 += fabs(x[j]);
            for (int64_t j = 0; j < d; j++) {
                const double dw = sw > 0.0 ? copysign(pow(fabs(w[j]), q - 1.0), w[j]) * pow(sw, (2.0 - q) / q) : 0.0;
                const double theta = dw - eta * g[j],
                             dx = copysign(pow(fabs(x[j]), q - 1.0), x[j]) * pow(sx, (2.0 - q) / q);
                top = fmax(top, fabs(theta));
                if (x[j] == 0.0) {
                    mu_lo = fmax(mu_lo, fabs(theta));
                    continue;
                }
                PVT_TRUE(x[j] * theta > 0.0);
                const double here = fabs(theta) - fabs(dx);
                if (mu < 0.0) mu = here;
                PVT_NEAR(here, mu, 1e-12 * (1.0 + top));
            }
            const double least = round % 2 ? 0.4 * eta : 0.0;
            if (mu >= 0.0) {
                PVT_TRUE(mu >= least - 1e-12 * (1.0 + top) && mu_lo <= mu + 1e-12 * (1.0 + top));
                if (mu > least + 1e-9 * (1.0 + top)) PVT_REL(l1, R, 1e-13);
            } else {
                PVT_TRUE(top <= least); /* all zero: the penalty is stronger than everything */
            }
            PVT_TRUE(l1 <= R * (1.0 + 1e-13));
        }
}

static void entropy_step_survives_extremes(void **state)
{
    (void)state;
    const pv_problem p = problem(4, "none", "simplex");
    double w[4] = { R / 4, R / 4, R / 4, R / 4 };
    const double g[4] = { 1e6, -1e6, 0.0, 1e6 }, back[4] = { -4e6, 0.0, 0.0, 0.0 };
    map_named("entropy")->step(&p, 1.0, g, w);
    PVT_NEAR(w[1], R, 1e-15);
    PVT_TRUE(w[0] > 0.0 && w[0] < 1e-200); /* small, but not lost */
    map_named("entropy")->step(&p, 1.0, back, w);
    PVT_NEAR(w[0], R, 1e-15);
    double zero[4] = { R, 0.0, 0.0, 0.0 };
    map_named("entropy")->step(&p, 1.0, g, zero);
    PVT_NEAR(zero[0], R, 0.0);
    PVT_NEAR(zero[1], 0.0, 0.0);
}

static void numbers_that_are_none_are_not_hidden(void **state)
{
    (void)state;
    for (int64_t i = 0; map_at(i); i++) {
        const pv_problem p = problem(3, "none", set_of(map_at(i)));
        double w[3] = { R / 3, R / 3, R / 3 };
        const double g[3] = { 0.0, NAN, 1.0 };
        map_at(i)->step(&p, 1.0, g, w);
        PVT_TRUE(isnan(w[0] + w[1] + w[2]));
    }
}

static void pairs_without_an_exact_step_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *map, *reg, *set;
        pv_status want;
    } pairs[] = {
        { "euclidean", "l1", "simplex", PV_OK },
        { "euclidean", "l1", NULL, PV_OK },
        { "euclidean", "none", "polytope", PV_E_UNSUPPORTED },
        { "entropy", "none", "simplex", PV_OK },
        { "entropy", "l1", "simplex", PV_OK },
        { "entropy", "nonconvex", "simplex", PV_OK },
        { "entropy", "l2", "simplex", PV_E_UNSUPPORTED },
        { "entropy", "elastic", "simplex", PV_E_UNSUPPORTED },
        { "entropy", "none", "l1ball", PV_E_UNSUPPORTED },
        { "entropy", "none", NULL, PV_E_UNSUPPORTED },
        { "pnorm", "l1", "l1ball", PV_OK },
        { "pnorm", "none", "l1ball", PV_OK },
        { "pnorm", "nonconvex", "l1ball", PV_OK },
        { "pnorm", "l2", "l1ball", PV_E_UNSUPPORTED },
        { "pnorm", "none", "l2ball", PV_E_UNSUPPORTED },
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const pv_problem p = problem(3, pairs[k].reg, pairs[k].set);
        PVT_IS(map_named(pairs[k].map)->check(ctx, p.reg, p.set), pairs[k].want);
    }
    assert_non_null(strstr(pv_ctx_errmsg(ctx), "mirror=pnorm works on set=l1ball only, not on set=l2ball"));
}

/* ---- stationarity ----------------------------------------------------------------------------------- */

static void measures_without_a_set_are_the_gradient(void **state)
{
    (void)state;
    const double x[3] = { 1.0, -2.0, 0.5 }, g[3] = { 0.3, 0.0, -0.4 };
    double work[6];
    pv_problem p = problem(3, "none", NULL);
    PVT_REL(pvi_gradient_norm(&p, x, g, work), 0.5, 1e-15);
    PVT_REL(pvi_projected_gradient(&p, map_named("euclidean"), 0.125, x, g, work), 0.5, 1e-14);
    PVT_TRUE(isnan(pvi_frank_wolfe_gap(&p, x, g, work)));

    p = problem(3, "l2",
                NULL); /* lambda 0.4: g + 0.4 x = (.7, -.8, -.2); the prox contracts it by 1 + gamma lambda */
    PVT_REL(pvi_gradient_norm(&p, x, g, work), sqrt(0.49 + 0.64 + 0.04), 1e-14);
    PVT_REL(pvi_projected_gradient(&p, map_named("euclidean"), 0.125, x, g, work), sqrt(1.17) / 1.05, 1e-14);

    p = problem(3, "nonconvex", NULL); /* r'(x) = 0.8 x/(1 + x^2)^2 enters both */
    const double r[3] = { 0.3 + 0.2, -0.8 * 2.0 / 25.0, -0.4 + 0.4 / (1.25 * 1.25) };
    const double norm = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    PVT_REL(pvi_gradient_norm(&p, x, g, work), norm, 1e-14);
    PVT_REL(pvi_projected_gradient(&p, map_named("euclidean"), 0.125, x, g, work), norm, 1e-14);
    p = problem(3, "l1", NULL);
    PVT_TRUE(isnan(pvi_gradient_norm(&p, x, g, work)));
}

/* At the minimiser of a linear function over the set both measures vanish; elsewhere the gap is what the definition
 * says over all members tried. */
static void measures_vanish_exactly_at_stationary_points(void **state)
{
    (void)state;
    uint64_t s = 41;
    double g[6], x[6], v[6], work[12];
    static const char *const sets[] = { "l2ball", "l1ball", "linfball", "simplex" };
    for (int k = 0; k < 4; k++)
        for (int round = 0; round < 50; round++) {
            const pv_problem p = problem(6, "none", sets[k]);
            random_vector(&s, g, 6, 1.0);
            p.set->lmo(p.set_st, p.set_cfg, g, x, 6);
            PVT_NEAR(pvi_frank_wolfe_gap(&p, x, g, work), 0.0, 1e-14);
            for (int64_t i = 0; map_at(i); i++)
                if (map_at(i)->check(ctx, p.reg, p.set) == PV_OK)
                    PVT_NEAR(pvi_projected_gradient(&p, map_at(i), 0.5, x, g, work), 0.0, 1e-13);
            member(&s, &p, x, false);
            const double gap = pvi_frank_wolfe_gap(&p, x, g, work);
            double reached = -INFINITY, size = 0.0;
            for (int64_t j = 0; j < 6; j++) size += fabs(g[j]);
            for (int n = 0; n < 400; n++) {
                if (!strcmp(sets[k], "linfball"))
                    for (int64_t j = 0; j < 6; j++) v[j] = pvt_u64(&s) & 1 ? R : -R;
                else member(&s, &p, v, true);
                double value = 0.0;
                for (int64_t j = 0; j < 6; j++) value -= (v[j] - x[j]) * g[j];
                reached = fmax(reached, value);
            }
            PVT_TRUE(gap >= reached - 1e-13 && reached >= gap - 0.7 * R * size);
            PVT_TRUE(gap > 0.0 && pvi_projected_gradient(&p, map_named("euclidean"), 0.5, x, g, work) > 0.0);
        }
}

/* Closed forms of the gap: <x, g> + R ||g|| in the dual norm. */
static void gap_has_its_closed_form(void **state)
{
    (void)state;
    const double x[3] = { 0.2, -0.1, 0.3 }, g[3] = { 3.0, 0.0, -4.0 };
    double work[6];
    const double inner = 0.6 - 1.2;
    pv_problem p = problem(3, "none", "l2ball");
    PVT_REL(pvi_frank_wolfe_gap(&p, x, g, work), inner + 5.0 * R, 1e-14);
    p = problem(3, "none", "l1ball");
    PVT_REL(pvi_frank_wolfe_gap(&p, x, g, work), inner + 4.0 * R, 1e-14);
    p = problem(3, "none", "linfball");
    PVT_REL(pvi_frank_wolfe_gap(&p, x, g, work), inner + 7.0 * R, 1e-14);
    p = problem(3, "l1", "l1ball");
    PVT_TRUE(isnan(pvi_frank_wolfe_gap(&p, x, g, work)));
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_slot_is_filled),
        cmocka_unit_test(divergence_and_modulus_follow_the_definition),
        cmocka_unit_test(the_modulus_of_pnorm_is_tight),
        cmocka_unit_test(entropy_divergence_has_all_its_digits),
        cmocka_unit_test(steps_are_exact_minimisers),
        cmocka_unit_test(pnorm_step_meets_its_conditions),
        cmocka_unit_test(entropy_step_survives_extremes),
        cmocka_unit_test(numbers_that_are_none_are_not_hidden),
        cmocka_unit_test(pairs_without_an_exact_step_are_refused),
        cmocka_unit_test(measures_without_a_set_are_the_gradient),
        cmocka_unit_test(measures_vanish_exactly_at_stationary_points),
        cmocka_unit_test(gap_has_its_closed_form),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
