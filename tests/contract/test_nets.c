/* test_nets.c - the promises (M1), (M2), (M3) of every network of the registry, in every way of clipping and with the
 * kernels of every instruction set.
 *
 * What one row adds is seen by a sum over that row alone: each of its coordinates is the exact one rounded once. */
#include "arenatest.h"
#include "model/net_run.h"
#include "nettest.h"

typedef void net_check(nt_net *f, const char *name);

static void use(nt_net *f, int isa)
{
    nt_begin(f, arena);
    ((pvi_net_state *)f->st)->kernel = pvi_net_kernel_isa[isa];
}

static void check_all(net_check *check, const char *model, const char *layers, int64_t h, int64_t c, int64_t rows,
                      int64_t views)
{
    nt_net f;
    nt_make(&f, ctx, arena, model, layers, h, h, c, 10, rows, 5);
    if (views > 1) nt_augment(&f, arena, views, 2, true);
    for (int isa = 0; isa <= (int)pvi_isa(); isa++)
        for (int mode = 0; mode < 4; mode++) { /* the last: layer by layer, with a norm for each */
            char name[64];
            snprintf(name, sizeof name, "%s, instruction set %d, clipping %d, views %d", model, isa, mode,
                     (int)views);
            nt_clips(&f, ctx, mode == 3);
            if (mode < 3) f.cfg.clipping = mode;
            use(&f, isa);
            check(&f, name);
        }
    nt_free(&f);
}

/* Networks other than these two have square images of this size. */
static void for_each(net_check *check)
{
    const pv_plugin *head;
    int64_t n = 0;
    for (int64_t i = 0; (head = pv_nth(PV_KIND_model, i)) != NULL; i++) {
        if (!((const pv_model_ops *)(const void *)head)->open) continue;
        n++;
        if (strcmp(head->name, "mlp") == 0 || strcmp(head->name, "split-mlp") == 0)
            check_all(check, head->name, NULL, 0, 37, 128, 1);
        else if (strncmp(head->name, "cifar", 5) == 0) check_all(check, head->name, NULL, 32, 3, 4, 1);
        else check_all(check, head->name, NULL, 28, 1, 70, 1);
    }
    PVT_TRUE(n >= 4);
    static const char mixed[] = "conv5x3same,groupnorm5,tanh,conv7x2s2,gelu,avgpool2s1,dense6,groupnorm2,relu,dense";
    static const char others[] =
        "pool3s1same,conv6x3same,lrn2,sigmoid,avgpool3s2same,conv20x2,lrn4,dense6,sigmoid,dense";
    check_all(check, "cnn", mixed, 9, 2, 100, 1);
    check_all(check, "cnn", others, 9, 2, 100, 1);
    check_all(check, "split-mlp", "conv3x3s2same,relu,conv20x2,relu,dense9,relu,dense", 7, 2, 100, 1);
    check_all(check, "cnn", others, 9, 2, 60, 3);
    check_all(check, "cnn", mixed, 9, 2, 100, 5);
    check_all(check, "mnist-cnn", NULL, 28, 1, 20, 3);
}

static void sum(const nt_net *f, const int64_t *pick, int64_t n, double clip, float *g, int64_t *bad)
{
    pv_rows v = mt_view(&f->t, true, false);
    v.pick = pick;
    v.n = n;
    f->ops->grad_sum(f->st, &f->cfg, &v, clip, g, bad, f->scratch);
}

static const double clips[] = { 1e-6, 0.05, 1, 1e3 };
enum { CLIPS = sizeof clips / sizeof *clips };

/* (M1) at the start, and at weights so large that much overflows. */
static void check_clip(nt_net *f, const char *name)
{
    const int64_t rows = f->t.n < 6 ? f->t.n : 6;
    float *g = malloc(sizeof *g * (size_t)f->d);
    for (int k = 0; k < CLIPS; k++) {
        int64_t active = 0, bad = 0;
        for (int64_t r = 0; r < rows; r++) {
            double size = 0;
            memset(g, 0, sizeof *g * (size_t)f->d);
            sum(f, &r, 1, clips[k], g, &bad);
            for (int64_t j = 0; j < f->d; j++) size += (double)g[j] * (double)g[j];
            size = sqrt(size);
            PVT_CHECK(size <= clips[k] * (1 + f->ops->rounding(&f->cfg, 1, f->d)),
                      "%s: row %lld has %.17g at clip %g", name, (long long)r, size, clips[k]);
            active += size > 0.8 * clips[k];
        }
        PVT_CHECK(k > 1 || active > 0, "%s: the clip %g is never reached", name, clips[k]);
    }
    free(g);
}

static void check_clip_large(nt_net *f, const char *name)
{
    const pvi_net_kernel *kernel = ((pvi_net_state *)f->st)->kernel;
    static const double scales[] = { 30, 1e4, 1e12, 1e12, 1e24, 1e30 },
                        limit[] = { 0.5, 0.5, 0.5, 1e-12, 1e-9, 1e-12 };
    double *keep = malloc(sizeof *keep * (size_t)f->d);
    memcpy(keep, f->w, sizeof *keep * (size_t)f->d);
    float *g = malloc(sizeof *g * (size_t)f->d);
    for (int s = 0; s < 6; s++) {
        int64_t bad = 0;
        for (int64_t j = 0; j < f->d; j++) f->w[j] = keep[j] * scales[s];
        if (f->ops->begin(f->st, &f->cfg, &f->dom, f->w, 0, arena) != PV_OK) continue; /* too large to use: refused */
        ((pvi_net_state *)f->st)->kernel = kernel;
        for (int64_t r = 0; r < 3; r++) {
            double size = 0;
            memset(g, 0, sizeof *g * (size_t)f->d);
            sum(f, &r, 1, limit[s], g, &bad);
            for (int64_t j = 0; j < f->d; j++) size += (double)g[j] * (double)g[j];
            PVT_CHECK(sqrt(size) <= limit[s] * (1 + 1e-6), "%s: weights times %g give %g of %g", name, scales[s],
                      sqrt(size), limit[s]);
        }
    }
    memcpy(f->w, keep, sizeof *keep * (size_t)f->d);
    free(g), free(keep);
}

/* (M2): a group against the sum of its rows in double; each of those was rounded once. */
static void check_rounding(nt_net *f, const char *name)
{
    const int64_t n = f->t.n;
    float *g = malloc(sizeof *g * (size_t)f->d);
    double *exact = malloc(sizeof *exact * (size_t)f->d);
    int64_t bad = 0, *row = malloc(sizeof *row * (size_t)n);
    for (int how = 0; how < 2; how++) { /* drawn rows, one row repeated */
        double error = 0;
        memset(g, 0, sizeof *g * (size_t)f->d);
        memset(exact, 0, sizeof *exact * (size_t)f->d);
        for (int64_t i = 0; i < n; i++) {
            row[i] = how ? 1 : f->t.pick[i];
            if (how && i > 0) continue; /* the same again: added below */
            memset(g, 0, sizeof *g * (size_t)f->d);
            sum(f, &row[i], 1, 0.7, g, &bad);
            for (int64_t j = 0; j < f->d; j++) exact[j] += (how ? (double)n : 1) * (double)g[j];
        }
        memset(g, 0, sizeof *g * (size_t)f->d);
        sum(f, row, n, 0.7, g, &bad);
        for (int64_t j = 0; j < f->d; j++) error += pow((double)g[j] - exact[j], 2);
        const double bound = f->ops->rounding(&f->cfg, n, f->d) + (double)n * f->ops->rounding(&f->cfg, 1, f->d);
        PVT_CHECK(sqrt(error) / 0.7 <= bound, "%s: error %g, bound %g", name, sqrt(error) / 0.7, bound);
    }
    PVT_TRUE(f->ops->rounding(&f->cfg, 128, f->d) < 1e-3);
    free(g), free(exact), free(row);
}

/* (M3): a group is its rows one after the other, and a row that is not usable leaves no trace. */
static void check_sequence(nt_net *f, const char *name)
{
    const size_t size = (size_t)f->d * sizeof(float);
    float *group = calloc(1, size), *single = calloc(1, size), *less = calloc(1, size);
    int64_t bad = 0, n = 0, *row = malloc(sizeof *row * (size_t)f->t.n);
    const float label = f->t.y[1];
    f->t.y[1] = NAN;
    for (int64_t i = 0; i < f->t.n; i++) row[i] = i;
    sum(f, row, f->t.n, 0.5, group, &bad);
    PVT_IS(bad, 1);
    for (int64_t i = 0; i < f->t.n; i++) sum(f, &i, 1, 0.5, single, &bad);
    PVT_CHECK(memcmp(group, single, size) == 0, "%s: a group is not its rows one by one", name);
    for (int64_t i = 0; i < f->t.n; i++)
        if (i != 1) row[n++] = i;
    sum(f, row, n, 0.5, less, &bad);
    PVT_CHECK(memcmp(group, less, size) == 0, "%s: an unusable row leaves a trace", name);
    f->t.y[1] = label;
    free(group), free(single), free(less), free(row);
}

/* All instruction sets agree, to the rounding of fused and separate steps. */
static void kernels_agree(void **state)
{
    (void)state;
    nt_net f;
    nt_make(&f, ctx, arena, "cnn",
            "conv18x5s2same,gelu,pool2s1same,lrn4,conv40x3,tanh,avgpool2,dense21,relu,dense9,sigmoid,dense", 19, 19,
            3, 7, 40, 6);
    double *want = malloc(sizeof *want * (size_t)f.d), size = 0;
    float *g = malloc(sizeof *g * (size_t)f.d);
    for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
        int64_t bad = 0;
        double diff = 0;
        use(&f, isa);
        memset(g, 0, sizeof *g * (size_t)f.d);
        sum(&f, NULL, 40, 0.3, g, &bad);
        for (int64_t j = 0; j < f.d; j++) {
            if (isa == 0) want[j] = (double)g[j];
            size += want[j] * want[j];
            diff += pow((double)g[j] - want[j], 2);
        }
        PVT_CHECK(sqrt(diff) <= 2e-6 * sqrt(size), "instruction set %d: %g of %g", isa, sqrt(diff), sqrt(size));
    }
    free(want), free(g);
    nt_free(&f);
}

static void clip_is_respected(void **state)
{
    (void)state;
    /* 2^-150 lost from a subnormal product, times an activation of 2^110, would be more than a clip of 1e-12 */
    PVT_TRUE(pvi_times(0x1p-100f, 0x1.8p-27f) == 0.0f && pvi_times(-0x1p-100f, 0x1.8p-27f) == 0.0f);
    PVT_TRUE(pvi_times(0x1p-100f, -0x1p-26f) == -0x1p-126f && pvi_times(3.0f, 0.5f) == 1.5f);
    for_each(check_clip);
    for_each(check_clip_large);
}

static void rounding_is_bounded(void **state)
{
    (void)state;
    for_each(check_rounding);
}

static void rows_add_one_after_the_other(void **state)
{
    (void)state;
    for_each(check_sequence);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(clip_is_respected), cmocka_unit_test(rounding_is_bounded),
                                      cmocka_unit_test(rows_add_one_after_the_other),
                                      cmocka_unit_test(kernels_agree) };
    return cmocka_run_group_tests(all, setup, teardown);
}
