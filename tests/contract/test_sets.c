/* test_sets.c - every constraint set of the registry: projection, linear oracle, atoms, radius, width, and the
 * exact proximal step of every penalty on it. */
#include "arenatest.h"
#include "alloctest.h"
#include "plug.h"
#include "reg/reg.h"

#include <unistd.h>

enum { MAXD = 40 };
typedef struct opened {
    const pv_set_ops *ops;
    void *cfg, *st;
    int64_t d;
} opened;

static const pv_set_ops *set_at(int64_t i)
{
    return (const pv_set_ops *)pv_nth(PV_KIND_set, i);
}

static const double R = 1.7, LO = -0.3; /* the box is [LO, R] */

/* Vertices of the polytope under test, as the file says them: away from the origin, one repeated. */
enum { VERTICES = 9 };
static double vertex_at(int64_t k, int64_t j)
{
    return 0.125 * (double)((int64_t)((uint64_t)((k % 8) * 131 + j * 37 + 11) * 2654435761u >> 20 & 31) - 12);
}

static const char *vertex_file(int64_t d)
{
    char *path = pvi_arena_strdup(arena, "/tmp/privet_test_XXXXXX", 23);
    const int fd = mkstemp(path);
    FILE *f = fdopen(fd, "w");
    fprintf(f, "# vertices\n\n");
    for (int64_t k = 0; k < VERTICES; k++)
        for (int64_t j = 0; j < d; j++)
            fprintf(f, "%s%.17g%s", j && k % 2 ? "," : " ", vertex_at(k, j), j + 1 < d ? "" : "\r\n");
    fclose(f);
    return path;
}

static opened open_set(const pv_set_ops *s, int64_t d)
{
    opened o = { .ops = s, .d = d, .cfg = plug_cfg(ctx, arena, &s->head, "radius", "1.7") };
    const pv_param *rows = s->head.params;
    const bool file = pvi_param_find(rows, "vertices");
    const char *path = file ? vertex_file(d) : NULL;
    if (pvi_param_find(rows, "lo")) PVT_OK(pvi_param_set(ctx, arena, "", rows, o.cfg, "lo", "-0.3"));
    if (pvi_param_find(rows, "hi")) PVT_OK(pvi_param_set(ctx, arena, "", rows, o.cfg, "hi", "1.7"));
    if (file) PVT_OK(pvi_param_set(ctx, arena, "", rows, o.cfg, "vertices", path));
    o.st = pv_arena_get(arena, s->head.state_size + 1);
    if (s->open) PVT_OK(s->open(o.st, o.cfg, d, ctx, arena));
    if (file) remove(path);
    return o;
}

/* Distance outside the set, by its definition; the hull only knows its vertices here. */
static double outside(const char *name, const double *w, int64_t d)
{
    double l1 = 0.0, l2 = 0.0, max = -INFINITY, min = INFINITY, sum = 0.0, vertex = INFINITY;
    for (int64_t j = 0; j < d; j++) {
        l1 += fabs(w[j]);
        l2 += w[j] * w[j];
        sum += w[j];
        max = fmax(max, w[j]);
        min = fmin(min, w[j]);
    }
    if (!strcmp(name, "l2ball")) return fmax(0.0, sqrt(l2) - R);
    if (!strcmp(name, "l1ball")) return fmax(0.0, l1 - R);
    if (!strcmp(name, "linfball")) return fmax(0.0, fmax(max, -min) - R);
    if (!strcmp(name, "box")) return fmax(0.0, fmax(max - R, LO - min));
    if (!strcmp(name, "simplex")) return fmax(fabs(sum - R), -min);
    if (strcmp(name, "polytope") != 0) fail_msg("%s: write its definition here", name);
    for (int64_t k = 0; k < VERTICES; k++) {
        double far = 0.0;
        for (int64_t j = 0; j < d; j++) far = fmax(far, fabs(w[j] - vertex_at(k, j)));
        vertex = fmin(vertex, far);
    }
    return vertex;
}

static void random_vector(uint64_t *s, double *w, int64_t d, double scale)
{
    for (int64_t j = 0; j < d; j++) w[j] = scale * pvt_normal(s);
}

static double dot(const double *a, const double *b, int64_t d)
{
    double s = 0.0;
    for (int64_t j = 0; j < d; j++) s += a[j] * b[j];
    return s;
}

/* A random member: a convex combination of extreme points found by the linear oracle. */
static void member(const opened *o, uint64_t *s, double *v)
{
    double g[MAXD], x[MAXD], total = 0.0;
    memset(v, 0, sizeof(double) * (size_t)o->d);
    const int parts = 1 + (int)(pvt_uniform(s) * 4.0);
    for (int k = 0; k < parts; k++) {
        const double a = -log(pvt_uniform(s));
        random_vector(s, g, o->d, 1.0);
        o->ops->lmo(o->st, o->cfg, g, x, o->d);
        for (int64_t j = 0; j < o->d; j++) v[j] += a * x[j];
        total += a;
    }
    for (int64_t j = 0; j < o->d; j++) v[j] /= total;
}

static void every_slot_and_flag_is_consistent(void **state)
{
    (void)state;
    int64_t n = 0;
    for (const pv_set_ops *s; (s = set_at(n)); n++) {
        PVT_CHECK(s->head.name && s->head.summary && s->head.reference && s->head.params, "%s: head is incomplete",
                  s->head.name);
        PVT_CHECK(!!s->project == !!(s->props & PV_PROX), "%s: PV_PROX", s->head.name);
        PVT_CHECK(!!s->lmo == !!(s->props & PV_LMO), "%s: PV_LMO", s->head.name);
        PVT_CHECK(!!s->atoms == !!s->atom, "%s: atoms without atom", s->head.name);
        PVT_CHECK(s->radius && s->width, "%s: radius or width is missing", s->head.name);
        PVT_CHECK(!(s->props & (PV_L1_FIRST | PV_L1_FLAT)) || s->project, "%s: l1 flags need a projection",
                  s->head.name);
    }
    PVT_TRUE(n >= 6);
}

static void check_projection(const opened *o, uint64_t *s, double scale)
{
    double w[MAXD] = { 0 }, p[MAXD], q[MAXD], v[MAXD] = { 0 }, diff[MAXD], vp[MAXD];
    const int64_t d = o->d;
    random_vector(s, w, d, scale);
    memcpy(p, w, sizeof w);
    o->ops->project(o->st, o->cfg, p, d);
    PVT_NEAR(outside(o->ops->head.name, p, d), 0.0, 1e-14 * R * 4.0);

    memcpy(q, p, sizeof p); /* idempotent */
    o->ops->project(o->st, o->cfg, q, d);
    for (int64_t j = 0; j < d; j++) PVT_NEAR(q[j], p[j], 1e-14 * R);

    for (int64_t j = 0; j < d; j++) diff[j] = w[j] - p[j];
    for (int k = 0; k < 30; k++) { /* <w - Pw, v - Pw> <= 0 for every v in the set */
        member(o, s, v);
        for (int64_t j = 0; j < d; j++) vp[j] = v[j] - p[j];
        PVT_CHECK(dot(diff, vp, d) <= 1e-13 * (1.0 + scale) * R * (double)d, "%s d=%lld: %g", o->ops->head.name,
                  (long long)d, dot(diff, vp, d));
    }
    member(o, s, v); /* members stay where they are */
    memcpy(q, v, sizeof v);
    o->ops->project(o->st, o->cfg, q, d);
    for (int64_t j = 0; j < d; j++) PVT_NEAR(q[j], v[j], 1e-13 * R);
}

static void projection_is_exact(void **state)
{
    (void)state;
    uint64_t s = 1;
    static const double scales[] = { 0.1, 1.0, 10.0, 1e6, 1e150 };
    for (int64_t i = 0; set_at(i); i++)
        for (int64_t d = 1; set_at(i)->project && d <= MAXD; d += d < 5 ? 1 : 7) {
            const opened o = open_set(set_at(i), d);
            for (int round = 0; round < 60; round++) check_projection(&o, &s, scales[round % 4]);
            double w[MAXD];
            random_vector(&s, w, d, scales[4]); /* huge input: still inside */
            o.ops->project(o.st, o.cfg, w, d);
            PVT_NEAR(outside(o.ops->head.name, w, d), 0.0, 1e-13 * R);
        }
}

static void linear_oracle_is_optimal(void **state)
{
    (void)state;
    uint64_t s = 2;
    double g[MAXD], v[MAXD], m[MAXD];
    for (int64_t i = 0; set_at(i); i++)
        for (int64_t d = 1; set_at(i)->lmo && d <= MAXD; d += d < 5 ? 1 : 7) {
            const opened o = open_set(set_at(i), d);
            for (int round = 0; round < 100; round++) {
                random_vector(&s, g, d, 1.0);
                o.ops->lmo(o.st, o.cfg, g, v, d);
                PVT_NEAR(outside(o.ops->head.name, v, d), 0.0, 1e-14 * R * 4.0);
                const double best = dot(v, g, d), tol = 1e-13 * R * (double)d;
                for (int k = 0; k < 20; k++) {
                    if (o.ops->project) { /* members made by the projection, not by the oracle under test */
                        random_vector(&s, m, d, 2.0);
                        o.ops->project(o.st, o.cfg, m, d);
                    } else {
                        member(&o, &s, m);
                    }
                    PVT_TRUE(dot(m, g, d) >= best - tol);
                }
                double lowest = INFINITY;
                for (int64_t k = 0; o.ops->atoms && k < o.ops->atoms(o.st, o.cfg, d); k++) {
                    o.ops->atom(o.st, o.cfg, k, m, d);
                    lowest = fmin(lowest, dot(m, g, d));
                    PVT_NEAR(outside(o.ops->head.name, m, d), 0.0, 1e-14 * R);
                }
                if (o.ops->atoms) PVT_NEAR(best, lowest, tol);
            }
            memset(g, 0, sizeof g); /* no direction at all: any member */
            o.ops->lmo(o.st, o.cfg, g, v, d);
            PVT_NEAR(outside(o.ops->head.name, v, d), 0.0, 1e-14 * R * 4.0);
        }
}

/* The order is part of the contract: the private selection of an atom computes scores without building atoms. */
static void atoms_come_in_the_documented_order(void **state)
{
    (void)state;
    enum { D = 4 };
    double v[D];
    const opened ball = open_set((const pv_set_ops *)pv_find(PV_KIND_set, "l1ball"), D);
    const opened simplex = open_set((const pv_set_ops *)pv_find(PV_KIND_set, "simplex"), D);
    PVT_IS(ball.ops->atoms(ball.st, ball.cfg, D), 2 * D);
    PVT_IS(simplex.ops->atoms(simplex.st, simplex.cfg, D), D);
    for (int64_t k = 0; k < 2 * D; k++) {
        ball.ops->atom(ball.st, ball.cfg, k, v, D);
        for (int64_t j = 0; j < D; j++) PVT_NEAR(v[j], j != k % D ? 0.0 : k < D ? R : -R, 0.0);
    }
    for (int64_t k = 0; k < D; k++) {
        simplex.ops->atom(simplex.st, simplex.cfg, k, v, D);
        for (int64_t j = 0; j < D; j++) PVT_NEAR(v[j], j == k ? R : 0.0, 0.0);
    }
    const opened hull = open_set((const pv_set_ops *)pv_find(PV_KIND_set, "polytope"), D);
    for (int64_t k = 0; k < VERTICES; k++) {
        hull.ops->atom(hull.st, hull.cfg, k, v, D);
        for (int64_t j = 0; j < D; j++) PVT_NEAR(v[j], vertex_at(k, j), 0.0);
    }
}

static void radius_bounds_members_and_is_reached(void **state)
{
    (void)state;
    uint64_t s = 3;
    double v[MAXD], g[MAXD];
    for (int64_t i = 0; set_at(i); i++)
        for (int64_t d = 1; set_at(i)->lmo && d <= MAXD; d += 13) {
            const opened o = open_set(set_at(i), d);
            const double r = o.ops->radius(o.st, o.cfg, d);
            double far = 0.0;
            for (int k = 0; k < 500; k++) {
                random_vector(&s, g, d, 1.0);
                for (int64_t j = 0; k == 0 && j < d; j++) g[j] = -1.0; /* the far corner of the box */
                o.ops->lmo(o.st, o.cfg, g, v, d);
                far = fmax(far, sqrt(dot(v, v, d)));
            }
            for (int64_t k = 0; o.ops->atoms && k < o.ops->atoms(o.st, o.cfg, d); k++) {
                o.ops->atom(o.st, o.cfg, k, v, d);
                far = fmax(far, sqrt(dot(v, v, d)));
            }
            PVT_CHECK(far <= r * (1.0 + 1e-14) && far >= r * (1.0 - 1e-12), "%s: %g against %g", o.ops->head.name,
                      far, r);
        }
}

/* Mean of -<lmo(g), g> over Gaussian g, against the closed form. */
static void width_matches_simulation(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    uint64_t s = 4;
    double v[MAXD], g[MAXD];
    for (int64_t i = 0; set_at(i); i++)
        for (int64_t d = 1; set_at(i)->lmo && d <= MAXD; d += 13) {
            const opened o = open_set(set_at(i), d);
            double mean = 0.0, square = 0.0;
            for (int k = 0; k < DRAWS; k++) {
                random_vector(&s, g, d, 1.0);
                o.ops->lmo(o.st, o.cfg, g, v, d);
                const double x = -dot(v, g, d);
                mean += x / DRAWS;
                square += x * x / DRAWS;
            }
            const double error = sqrt(fmax(0.0, square - mean * mean) / DRAWS);
            const double more = o.ops->project ? 0.0 : 0.05 * mean + 0.02; /* the hull's width is itself simulated */
            PVT_CHECK(fabs(o.ops->width(o.st, o.cfg, d) - mean) <= 5.0 * error + more + 1e-12,
                      "%s d=%lld: %.10g against %.10g +- %g", o.ops->head.name, (long long)d,
                      o.ops->width(o.st, o.cfg, d), mean, error);
        }
}

static double penalised(const pv_problem *p, double eta, const double *x, const double *u)
{
    double q = 0.0;
    for (int64_t j = 0; j < p->d; j++) q += (x[j] - u[j]) * (x[j] - u[j]);
    return (p->reg->prox ? p->reg->value(p->reg_cfg, x, p->d) : 0.0) + q / (2.0 * eta);
}

/* pv_prox against every direction towards a member: a convex objective that falls along none is minimal. */
static void check_prox(const opened *o, const pv_reg_ops *reg, uint64_t *s)
{
    double u[MAXD] = { 0 }, x[MAXD], v[MAXD], y[MAXD];
    const pv_problem p = { .d = o->d,
                           .reg = reg,
                           .reg_cfg = plug_cfg(ctx, arena, &reg->head, "lambda", "0.4"),
                           .set = o->ops,
                           .set_cfg = o->cfg,
                           .set_st = o->st };
    const double eta = exp(1.5 * pvt_normal(s));
    random_vector(s, u, o->d, 2.0);
    memcpy(x, u, sizeof u);
    pv_prox(&p, eta, x);
    PVT_NEAR(outside(o->ops->head.name, x, o->d), 0.0, 1e-14 * R * 4.0);
    const double best = penalised(&p, eta, x, u);
    for (int k = 0; k < 60; k++) {
        const double step = exp2(-24.0 * pvt_uniform(s));
        member(o, s, v);
        for (int64_t j = 0; j < o->d; j++) y[j] = x[j] + step * (v[j] - x[j]);
        PVT_CHECK(penalised(&p, eta, y, u) >= best - 1e-14 * (1.0 + best), "%s on %s: %.17g < %.17g", reg->head.name,
                  o->ops->head.name, penalised(&p, eta, y, u), best);
    }
}

static void penalty_and_set_together_are_exact(void **state)
{
    (void)state;
    uint64_t s = 6;
    for (int64_t i = 0; set_at(i); i++)
        for (int64_t r = 0; pv_nth(PV_KIND_reg, r); r++) {
            const pv_reg_ops *reg = (const pv_reg_ops *)pv_nth(PV_KIND_reg, r);
            if (pvi_prox_check(ctx, reg, set_at(i)) != PV_OK) continue;
            for (int64_t d = 1; d <= 6; d++) {
                const opened o = open_set(set_at(i), d);
                for (int round = 0; round < 150; round++) check_prox(&o, reg, &s);
            }
        }
}

/* Closed forms of the order statistics of few Gaussians, and the definition by another quadrature. */
static double mean_max_by_sum(double d, bool magnitude)
{
    const double h = 1.0 / 2048.0;
    double s = 0.0;
    for (double t = h / 2.0; t < 14.0; t += h) { /* midpoint rule, corrected once below */
        const double q = 0.5 * erfc(t / sqrt(2.0));
        s += h * (magnitude ? 1.0 - pow(1.0 - 2.0 * q, d) : 1.0 - pow(1.0 - q, d) - pow(q, d));
    }
    return s;
}

static void gaussian_expectations(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846;
    PVT_REL(pvi_mean_max_abs(1), sqrt(2.0 / pi), 1e-14);
    PVT_REL(pvi_mean_max_abs(2), 2.0 / sqrt(pi), 1e-14);
    PVT_NEAR(pvi_mean_max(1), 0.0, 1e-15);
    PVT_REL(pvi_mean_max(2), 1.0 / sqrt(pi), 1e-14);
    PVT_REL(pvi_mean_max(3), 1.5 / sqrt(pi), 1e-14);
    PVT_REL(pvi_mean_max(4), 6.0 / sqrt(pi) / pi * atan(sqrt(2.0)), 1e-14);
    PVT_REL(pvi_mean_max(5), 5.0 / (4.0 * sqrt(pi)) + 15.0 / (2.0 * pi * sqrt(pi)) * asin(1.0 / 3.0), 1e-14);
    for (double d = 10; d < 1e10; d *= 10) {
        PVT_REL(pvi_mean_max((int64_t)d), mean_max_by_sum(d, false), 1e-6);
        PVT_REL(pvi_mean_max_abs((int64_t)d), mean_max_by_sum(d, true), 1e-6);
    }
    PVT_REL(pvi_mean_norm(1), sqrt(2.0 / pi), 1e-15);
    PVT_REL(pvi_mean_norm(2), sqrt(pi / 2.0), 1e-15);
    for (int64_t d = 1; d < 400; d++) /* E|z|_d E|z|_{d+1} = d, across both formulas */
        PVT_REL(pvi_mean_norm(d) * pvi_mean_norm(d + 1), (double)d, 1e-12);
}

/* Sizes and scales the small cases do not reach: ties, one dominant value, geometric decay (many passes). */
static void thresholds_of_long_vectors(void **state)
{
    (void)state;
    enum { D = 100000 };
    uint64_t s = 12;
    double *w = pv_arena_f64(arena, D);
    for (int shape = 0; shape < 6; shape++)
        for (double radius = 1e-6; radius < 1e7; radius *= 1e3) {
            for (int64_t j = 0; j < D; j++)
                w[j] = shape == 0   ? pvt_normal(&s)
                       : shape == 1 ? 1.0
                       : shape == 2 ? (j == 777 ? 1e9 : pvt_uniform(&s))
                       : shape == 3 ? pow(0.999, (double)j)
                       : shape == 4 ? ldexp(1.0, (int)(j % 60))
                                    : 1e15 + (double)(j % 10);
            for (int magnitude = 0; magnitude < 2; magnitude++) {
                const pvi_cut cut = pvi_cut_find(w, D, magnitude, radius);
                double sum = 0.0, c = 0.0;
                for (int64_t j = 0; j < D; j++) { /* compensated, so that the test's own sum is exact enough */
                    const double x = pvi_cut_apply(cut, magnitude ? fabs(w[j]) : w[j]) - c, t = sum + x;
                    c = (t - sum) - x;
                    sum = t;
                }
                PVT_REL(sum, radius, 1e-11);
            }
        }
}

static void numbers_that_are_none_do_not_hang_or_vanish(void **state)
{
    (void)state;
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int64_t i = 0; set_at(i); i++)
        for (int k = 0; set_at(i)->project && k < 3; k++) {
            const opened o = open_set(set_at(i), 5);
            double w[5] = { 1.0, bad[k], -2.0, 0.5, 3.0 };
            o.ops->project(o.st, o.cfg, w, 5);
            bool nan = false;
            for (int j = 0; j < 5; j++) nan |= isnan(w[j]) || isinf(w[j]);
            PVT_CHECK(nan || (k > 0 && outside(o.ops->head.name, w, 5) <= 1e-14), "%s hides %g", o.ops->head.name,
                      bad[k]);
        }
}

static pv_status open_text(const char *text, int64_t d)
{
    const pv_set_ops *s = (const pv_set_ops *)pv_find(PV_KIND_set, "polytope");
    char path[] = "/tmp/privet_test_XXXXXX";
    FILE *f = fdopen(mkstemp(path), "w");
    fputs(text, f);
    fclose(f);
    void *cfg = plug_cfg(ctx, arena, &s->head, "vertices", path), *st = pv_arena_get(arena, s->head.state_size);
    const pv_status got = s->open(st, cfg, d, ctx, arena);
    remove(path);
    return got;
}

static void vertex_files_say_what_is_wrong(void **state)
{
    (void)state;
    const pv_set_ops *s = (const pv_set_ops *)pv_find(PV_KIND_set, "polytope");
    static const struct {
        const char *text, *message;
    } bad[] = {
        { "", "no vertex in the file" },
        { "# only\n\n  \n", "no vertex in the file" },
        { "1 2\n3\n", ":2: 1 numbers, but a vertex has 2" },
        { "1 2\n\n# c\n3 4 5\n", ":4:5: more than the 2 numbers" },
        { "1 two\n", ":1:3: \"two\" is not a number" },
        { "1 nan\n", ":1:3: " },
        { "1 2\n1, inf", ":2:4: " },
        { "1 1e400\n", ":1:3: " },
        { "1 0x10\n", ":1:3: " },
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        PVT_IS(open_text(bad[k].text, 2), PV_E_FORMAT);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), bad[k].message), "%s", pv_ctx_errmsg(ctx));
    }
    PVT_OK(open_text("1 2\n3,4", 2));
    void *st = pv_arena_get(arena, s->head.state_size);
    PVT_IS(s->open(st, plug_cfg(ctx, arena, &s->head, NULL, NULL), 2, ctx, arena), PV_E_PARAM);
    PVT_IS(s->open(st, plug_cfg(ctx, arena, &s->head, "vertices", "/nonexistent/v"), 2, ctx, arena), PV_E_IO);
    PVT_IS(s->open(st, plug_cfg(ctx, arena, &s->head, "vertices", "/tmp"), 2, ctx, arena), PV_E_IO);
    const pv_set_ops *box = (const pv_set_ops *)pv_find(PV_KIND_set, "box");
    PVT_IS(box->open(st, plug_cfg(ctx, arena, &box->head, "lo", "1"), 2, ctx, arena), PV_E_PARAM);
}

static void failing_memory_is_reported(void **state)
{
    (void)state;
    const char *path = vertex_file(40);
    const pv_set_ops *s = (const pv_set_ops *)pv_find(PV_KIND_set, "polytope");
    const void *cfg = plug_cfg(ctx, arena, &s->head, "vertices", path);
    pv_status got = PV_E_NOMEM;
    for (int allowed = 0; got != PV_OK; allowed++) {
        pvt_memory m = { 0 };
        pv_ctx *c = pvt_counted(&m);
        pv_arena *a = pvi_arena_create(c);
        void *st = pv_arena_get(arena, s->head.state_size);
        m.left = allowed;
        got = s->open(st, cfg, 40, c, a);
        PVT_TRUE(got == PV_OK ? allowed >= 2 : got == PV_E_NOMEM);
        pvi_arena_free(a);
        pv_ctx_free(c);
        PVT_IS(m.live, 0);
    }
    remove(path);
}

static void starts_are_members(void **state)
{
    (void)state;
    double w[MAXD];
    for (int64_t i = 0; set_at(i); i++)
        for (int64_t d = 1; d <= MAXD; d += 13) {
            const opened o = open_set(set_at(i), d);
            const pv_problem p = { .d = d, .set = o.ops, .set_cfg = o.cfg, .set_st = o.st };
            pvi_set_start(&p, w);
            PVT_NEAR(outside(o.ops->head.name, w, d), 0.0, 1e-14 * R);
        }
    const pv_problem free_space = { .d = 3 };
    w[2] = 1.0;
    pvi_set_start(&free_space, w);
    PVT_NEAR(w[2], 0.0, 0.0);
}

static void pairs_without_a_proof_are_refused(void **state)
{
    (void)state;
    const pv_reg_ops *l1 = (const pv_reg_ops *)pv_find(PV_KIND_reg, "l1"),
                     *l2 = (const pv_reg_ops *)pv_find(PV_KIND_reg, "l2");
    for (int64_t i = 0; set_at(i); i++) /* every penalty goes with every set that has a projection */
        for (int64_t r = 0; pv_nth(PV_KIND_reg, r); r++)
            PVT_IS(pvi_prox_check(ctx, (const pv_reg_ops *)pv_nth(PV_KIND_reg, r), set_at(i)),
                   set_at(i)->project ? PV_OK : PV_E_UNSUPPORTED);
    pv_set_ops odd = *set_at(0);
    odd.head.name = "odd";
    odd.props &= ~(PV_L1_FIRST | PV_L1_FLAT);
    PVT_IS(pvi_prox_check(ctx, l1, &odd), PV_E_UNSUPPORTED);
    assert_non_null(strstr(pv_ctx_errmsg(ctx), "reg=l1 on set=odd"));
    PVT_OK(pvi_prox_check(ctx, l2, &odd));
    odd.project = NULL;
    PVT_IS(pvi_prox_check(ctx, l2, &odd), PV_E_UNSUPPORTED);
    pv_reg_ops other = *l1;
    other.props &= ~PV_ELASTIC;
    PVT_IS(pvi_prox_check(ctx, &other, set_at(0)), PV_E_UNSUPPORTED);
    PVT_OK(pvi_prox_check(ctx, &other, NULL));
    other.prox = NULL;
    PVT_IS(pvi_prox_check(ctx, &other, NULL), PV_E_UNSUPPORTED);
    PVT_OK(pvi_prox_check(ctx, NULL, NULL));
}

static void bad_settings_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "0", "-1", "nan", "inf", "wide" };
    for (int64_t i = 0; set_at(i); i++) {
        const pv_plugin *p = &set_at(i)->head;
        if (!pvi_param_find(p->params, "radius")) continue;
        void *cfg = plug_cfg(ctx, arena, p, NULL, NULL);
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
            PVT_IS(pvi_param_set(ctx, arena, "set.", p->params, cfg, "radius", bad[k]), PV_E_PARAM);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_slot_and_flag_is_consistent),
        cmocka_unit_test(projection_is_exact),
        cmocka_unit_test(linear_oracle_is_optimal),
        cmocka_unit_test(atoms_come_in_the_documented_order),
        cmocka_unit_test(radius_bounds_members_and_is_reached),
        cmocka_unit_test(width_matches_simulation),
        cmocka_unit_test(penalty_and_set_together_are_exact),
        cmocka_unit_test(gaussian_expectations),
        cmocka_unit_test(thresholds_of_long_vectors),
        cmocka_unit_test(numbers_that_are_none_do_not_hang_or_vanish),
        cmocka_unit_test(vertex_files_say_what_is_wrong),
        cmocka_unit_test(failing_memory_is_reported),
        cmocka_unit_test(starts_are_members),
        cmocka_unit_test(pairs_without_a_proof_are_refused),
        cmocka_unit_test(bad_settings_are_refused),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
