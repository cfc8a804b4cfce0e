/* test_ball.c - noise uniform in the volume of a ball.  False-alarm rate: see stattest.h. */
#include "stat/stattest.h"

enum { M = DRAWS(20000), DMAX = 2001 };
static int64_t x[DMAX];
static double out[DMAX];
static double radius_u[M], first_u[M];

/* P(first coordinate <= t) for t in [-1, 1]: Simpson over the density (1 - t^2)^((d-1)/2) up to a constant. */
static double marginal(double t, int d)
{
    enum { STEPS = 100 };
    double part[2] = { 0 };
    for (int which = 0; which < 2; which++) {
        const double hi = which ? 1 : t, w = (hi + 1) / STEPS;
        for (int i = 0; i <= STEPS; i++) {
            const double a = -1 + i * w, f = pow(fmax(0, 1 - a * a), 0.5 * (d - 1));
            part[which] += f * (i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2) * w / 3;
        }
    }
    return part[0] / part[1];
}

static void uniform_in_the_volume(void **state)
{
    (void)state;
    const pv_mechanism_ops *m = (const pv_mechanism_ops *)pv_find(PV_KIND_mechanism, "ball");
    const int ds[] = { 1, 2, 3, 4, 7, 10, 511, 512, 513, 2001 };
    const double R = 2.5, h = 0x1p-29;
    PVT_TRUE(m && m->norm == PV_L2 && m->event == PV_EV_BALL);
    for (int c = 0; c < 10; c++) {
        const int d = ds[c], reps = d > 100 ? 1000 : M;
        double cross = 0, ends = 0;
        for (int i = 0; i < reps; i++) {
            double norm2 = 0;
            memset(x, 0, sizeof x);
            m->draw(&(pv_noise) { .scale = R, .spacing = h, .length = d }, rng, 1.0, 1.0, x, NULL, out);
            for (int j = 0; j < d; j++) norm2 += (double)x[j] * h * ((double)x[j] * h);
            const double r = sqrt(norm2) / R;
            PVT_CHECK(r <= 1 + pvi_grid_error(h, d) / R * 1.001, "d = %d: outside, %.17g", d, r);
            radius_u[i] = pow(r, d); /* uniform: volume grows with r^d */
            const double first = (double)x[0] * h / R, last = (double)x[d - 1] * h / R;
            first_u[i] =
                d <= 10 ? marginal(first, d) : phi_cdf(first * sqrt(d + 2.0)); /* near enough for 1000 draws */
            cross += first * last * (d + 2);
            ends += last * sqrt(d + 2.0);
        }
        PVT_PLAUSIBLE(ks_p(radius_u, reps), "d = %d: radius", d);
        PVT_PLAUSIBLE(ks_p(first_u, reps), "d = %d: first coordinate", d);
        PVT_PLAUSIBLE(normal_p(ends / sqrt(reps)), "d = %d: mean of the last coordinate", d);
        if (d > 1) PVT_PLAUSIBLE(normal_p(cross / sqrt(reps)), "d = %d: coordinates correlated", d);
    }
}

/* A radius of few grid units, d = 1: V uniform on [-R, R], P(round = k) by hand. */
static void small_support(void **state)
{
    (void)state;
    const double R = 3.2;
    double seen[7] = { 0 }, want[7];
    for (int i = 0; i < M; i++) {
        int64_t v = 0;
        pvi_ball_add(rng, R, 1.0, &v, 1);
        PVT_TRUE(v >= -3 && v <= 3);
        seen[v + 3]++;
    }
    for (int k = -3; k <= 3; k++) want[k + 3] = M * (k == 3 || k == -3 ? R - 2.5 : 1) / (2 * R);
    PVT_PLAUSIBLE(pearson_p(seen, want, 7), "d = 1 on seven cells");
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(uniform_in_the_volume), cmocka_unit_test(small_support) };
    return cmocka_run_group_tests(all, stat_setup, stat_teardown);
}
