/* test_losses.c - what every loss of the registry promises: derivatives that are derivatives, suprema that are
 * suprema, nothing but numbers at extreme margins. */
#include "modeltest.h"

enum { N = 200001 };
static const double H = 1.0 / 64;

typedef struct scan { /* phi on a grid of spacing 2^-10 around zero, exact in float */
    double m[N], v[N], d1[N], d2[N];
} scan;

static void eval_scan(const pv_loss_ops *loss, const void *cfg, scan *s)
{
    float *m = malloc(4 * N * sizeof *m);
    for (int i = 0; i < N; i++) m[i] = (float)ldexp(i - N / 2, -10);
    loss->eval(cfg, N, m, m + N, m + 2 * N, m + 3 * N);
    for (int i = 0; i < N; i++) {
        s->m[i] = m[i];
        s->v[i] = m[N + i];
        s->d1[i] = m[2 * N + i];
        s->d2[i] = m[3 * N + i];
    }
    free(m);
}

typedef void loss_check(const pv_loss_ops *loss, const void *cfg, const double sup[3]);

/* Every loss, with default parameters and with each parameter at values around the default. */
static void for_each(loss_check *check)
{
    const pv_plugin *head;
    for (int64_t i = 0; (head = pv_nth(PV_KIND_loss, i)) != NULL; i++) {
        const pv_loss_ops *loss = (const pv_loss_ops *)(const void *)head;
        char *cfg = calloc(1, head->cfg_size + 1);
        for (int variant = 0; variant < 3; variant++) {
            double sup[3];
            pvi_param_defaults(head->params, cfg);
            for (const pv_param *q = head->params; q->key && q->type == PV_F64; q++) {
                const double value = q->def * pow(3, variant - 1);
                memcpy(cfg + q->offset, &value, sizeof value);
            }
            pvi_loss_sup(loss, cfg, sup);
            check(loss, cfg, sup);
        }
        free(cfg);
    }
}

/* Central differences over 2H; float values of size |a| are off by 2^-23 |a|, the rest by the next derivative. */
static void check_slope(const char *name, const double *m, const double *a, const double *da, double curvature,
                        double jump)
{
    const int k = (int)(H * 1024);
    for (int i = k; i < N - k; i += 7) {
        const double got = (a[i + k] - a[i - k]) / (2 * H);
        const double rounding = 0x1p-21 * (fabs(a[i + k]) + fabs(a[i - k])) / (2 * H);
        const double tol = 4 * rounding + 1e-6 * fabs(da[i]) + (isfinite(curvature) ? curvature * H : jump);
        PVT_CHECK(fabs(got - da[i]) <= tol, "%s at %g: difference %g, derivative %g, tolerance %g", name, m[i], got,
                  da[i], tol);
    }
}

static void slopes(const pv_loss_ops *loss, const void *cfg, const double sup[3])
{
    scan *s = malloc(sizeof *s);
    eval_scan(loss, cfg, s);
    check_slope(loss->head.name, s->m, s->v, s->d1, sup[1], 0);
    check_slope(loss->head.name, s->m, s->d1, s->d2, sup[2], sup[1]);
    free(s);
}

/* No value above the declared supremum, and the supremum nearly reached: it is not just a bound. */
static void suprema(const pv_loss_ops *loss, const void *cfg, const double sup[3])
{
    scan *s = malloc(sizeof *s);
    double top[3] = { 0 };
    eval_scan(loss, cfg, s);
    for (int i = 0; i < N; i++) {
        top[0] = fmax(top[0], fabs(s->d1[i]));
        top[1] = fmax(top[1], fabs(s->d2[i]));
        if (i + 1 < N) top[2] = fmax(top[2], fabs(s->d2[i + 1] - s->d2[i]) * 1024);
    }
    free(s);
    const char *name = loss->head.name;
    PVT_CHECK(top[0] <= sup[0], "%s: |phi'| = %.17g > %.17g", name, top[0], sup[0]);
    PVT_CHECK(top[1] <= sup[1] * (1 + 0x1p-22), "%s: |phi''| = %.17g > %.17g", name, top[1], sup[1]);
    PVT_CHECK(top[2] <= sup[2] + 0x1p-11 * sup[1], "%s: |phi'''| = %g > %g", name, top[2], sup[2]);
    if (isfinite(sup[0])) PVT_CHECK(top[0] >= 0.99 * sup[0], "%s: sup |phi'| = %g, seen %g", name, sup[0], top[0]);
    PVT_CHECK(top[1] >= 0.99 * sup[1], "%s: sup |phi''| = %g, seen %g", name, sup[1], top[1]);
    if (isfinite(sup[2])) PVT_CHECK(top[2] >= 0.95 * sup[2], "%s: sup |phi'''| = %g, seen %g", name, sup[2], top[2]);
}

static void extremes(const pv_loss_ops *loss, const void *cfg, const double sup[3])
{
    static const float m[] = { 1e6f, -1e6f, 1e18f, -1e18f, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-45f, -0.0f };
    float v[10], d1[10], d2[10], nan = NAN;
    loss->eval(cfg, 10, m, v, d1, d2);
    for (int i = 0; i < 10; i++) {
        PVT_CHECK(v[i] >= 0, "%s: phi(%g) = %g", loss->head.name, (double)m[i], (double)v[i]);
        PVT_CHECK(fabs((double)d1[i]) <= sup[0], "%s: phi'(%g) = %g", loss->head.name, (double)m[i], (double)d1[i]);
        PVT_CHECK(fabs((double)d2[i]) <= sup[1] * (1 + 0x1p-22), "%s: phi''(%g) = %g", loss->head.name, (double)m[i],
                  (double)d2[i]);
        if (i < 2) PVT_TRUE(isfinite(v[i]) && isfinite(d1[i]));
    }
    loss->eval(cfg, 1, &nan, NULL, d1, NULL);
    PVT_TRUE(isnan(d1[0])); /* a bad row must not pass for a good one */
}

static void properties(const pv_loss_ops *loss, const void *cfg, const double sup[3])
{
    scan *s = malloc(sizeof *s);
    double lowest = INFINITY, left = 0, right = 0;
    eval_scan(loss, cfg, s);
    for (int i = 0; i < N; i++) lowest = fmin(lowest, s->d2[i]);
    left = s->v[0];
    right = s->v[N - 1];
    free(s);
    PVT_CHECK(!(loss->props & PV_CONVEX) == (lowest < 0), "%s: phi'' reaches %g", loss->head.name, lowest);
    PVT_IS(!(loss->props & PV_LIPSCHITZ), isinf(sup[0]));
    PVT_IS(!(loss->props & PV_HESSIAN), isinf(sup[2]));
    if (loss->props & PV_MARGIN) PVT_CHECK(left > right, "%s rewards errors", loss->head.name);
    PVT_IS(!(loss->props & PV_MARGIN), !(loss->props & PV_CLASSIFY));
}

/* A slope in double is the float's, and as monotone and smooth as phi' up to the error it may have. */
static void double_slopes(const pv_loss_ops *loss, const void *cfg, const double sup[3])
{
    const double step = 0x1p-20;
    if (!loss->slope) return;
    for (int i = 0; i < 40000; i++) {
        const double m = (i - 20000) * 0x1.0abcdp-10, a = loss->slope(cfg, m), b = loss->slope(cfg, m + step);
        const double error = 0x1p-47 * (fmax(1.0, fabs(a)) + sup[1]); /* of both */
        const float at = (float)m;
        float d1;
        loss->eval(cfg, 1, &at, NULL, &d1, NULL);
        PVT_CHECK(fabs(a - (double)d1) <= 0x1p-20 * (1 + fabs(a) + sup[1] * fabs(m)), "%s at %g: %g in double, %g",
                  loss->head.name, m, a, (double)d1);
        PVT_CHECK(!(loss->props & PV_CONVEX) || b >= a - error, "%s: phi' falls at %g", loss->head.name, m);
        PVT_CHECK(fabs(b - a) <= sup[1] * step + error, "%s: phi' jumps at %g", loss->head.name, m);
    }
}

static void defaults_match(const pv_loss_ops *loss, const void *cfg, const double sup[3])
{
    (void)cfg;
    (void)sup;
    char *def = calloc(1, loss->head.cfg_size + 1);
    double at[3];
    pvi_param_defaults(loss->head.params, def);
    pvi_loss_sup(loss, def, at);
    PVT_TRUE(at[0] == loss->sup1 && at[1] == loss->sup2 && at[2] == loss->sup3);
    free(def);
}

static void derivatives(void **state)
{
    (void)state;
    for_each(slopes);
}

static void slopes_in_double(void **state)
{
    (void)state;
    for_each(double_slopes);
}

static void suprema_hold_and_are_tight(void **state)
{
    (void)state;
    for_each(suprema);
}

static void extreme_margins(void **state)
{
    (void)state;
    for_each(extremes);
}

static void declared_properties(void **state)
{
    (void)state;
    for_each(properties);
    for_each(defaults_match);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(derivatives), cmocka_unit_test(slopes_in_double),
                                      cmocka_unit_test(suprema_hold_and_are_tight), cmocka_unit_test(extreme_margins),
                                      cmocka_unit_test(declared_properties) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
