/* test_net.c - gradients of networks against differences, clipped sums against one example at a time. */
#include "arenatest.h"
#include "model/net_run.h"
#include "nettest.h"

static double distance(const float *g, const double *want, int64_t d, double *size)
{
    double diff = 0;
    *size = 0;
    for (int64_t j = 0; j < d; j++) {
        diff += pow((double)g[j] - want[j], 2);
        *size += want[j] * want[j];
    }
    *size = sqrt(*size);
    return sqrt(diff);
}

/* Every clipping mode, below and above the gradients' norms, against the clipped sum of the rows' own gradients. */
static void check_clipped(nt_net *f, const double *rows, bool dense, const char *what)
{
    static const double clips[] = { 1e-3, 0.3, 3, 1e4 };
    const size_t d = (size_t)f->d;
    float *g = malloc(d * sizeof *g);
    double *want = malloc(d * sizeof *want), *one = malloc(d * sizeof *one), size;
    for (int mode = 0; mode < 4; mode++) /* the last: layer by layer, with a norm for each */
        for (int k = 0; k < 4; k++) {
            int64_t bad = 0;
            const pv_rows v = mt_view(&f->t, dense, false);
            nt_clips(f, ctx, mode == 3);
            if (mode < 3) f->cfg.clipping = mode;
            memset(g, 0, d * sizeof *g);
            memset(want, 0, d * sizeof *want);
            f->ops->grad_sum(f->st, &f->cfg, &v, clips[k], g, &bad, f->scratch);
            for (int64_t r = 0; r < v.n; r++) {
                memcpy(one, rows + r * f->d, d * sizeof *one);
                nt_clip(f, clips[k], one);
                for (int64_t j = 0; j < f->d; j++) want[j] += one[j];
            }
            const double diff = distance(g, want, f->d, &size);
            PVT_CHECK(diff <= 1e-5 * size, "%s, clipping %d at %g: off by %.3g of %.3g", what, mode, clips[k], diff,
                      size);
            PVT_IS(bad, 0);
        }
    nt_clips(f, ctx, false);
    free(g), free(want), free(one);
}

static void check_value(nt_net *f, const char *what)
{
    double want = 0;
    const pv_rows v = mt_view(&f->t, true, false);
    for (int64_t r = 0; r < v.n; r++) want += nt_loss(f, r, f->w);
    const double got = f->ops->value_sum(f->st, &f->cfg, &v, f->scratch);
    PVT_CHECK(fabs(got - want) <= 1e-5 * fabs(want), "%s: loss %g instead of %g", what, got, want);
}

static void check_scores(nt_net *f, const char *what)
{
    const int64_t k = f->ops->outputs(&f->cfg, &f->dom);
    float *score = malloc(sizeof *score * (size_t)(f->t.n * k));
    const pv_rows v = mt_view(&f->t, true, false);
    f->ops->predict(f->st, &f->cfg, &v, score, f->scratch);
    for (int64_t r = 0; r < v.n; r++) {
        double z[64];
        nt_outputs(f, r, f->w, z);
        if (f->dom.classes == 2) z[0] = z[1] - z[0];
        for (int64_t c = 0; c < k; c++)
            PVT_CHECK(fabs((double)score[r * k + c] - z[c]) <= 1e-5 * (1 + fabs(z[c])), "%s: score %g instead of %g",
                      what, (double)score[r * k + c], z[c]);
    }
    free(score);
}

static void check_net(const char *layers, int64_t h, int64_t w, int64_t c, int64_t classes, int64_t loss)
{
    enum { ROWS = 5 };
    nt_net f;
    nt_make(&f, ctx, arena, "cnn", layers, h, w, c, classes, ROWS, 3 + (uint64_t)h);
    double *rows = malloc(sizeof *rows * (size_t)(ROWS * f.d)), size;
    float *g = malloc(sizeof *g * (size_t)f.d);
    f.cfg.loss = loss;
    for (int64_t r = 0; r < ROWS; r++) {
        pv_rows v = mt_view(&f.t, true, false);
        int64_t bad = 0;
        nt_gradient(&f, r, rows + r * f.d);
        memset(g, 0, sizeof *g * (size_t)f.d);
        v.pick = &r;
        v.n = 1;
        f.ops->grad_sum(f.st, &f.cfg, &v, INFINITY, g, &bad, f.scratch);
        const double diff = distance(g, rows + r * f.d, f.d, &size);
        PVT_CHECK(diff <= 1e-5 * size, "%s: gradient of row %lld off by %.3g of %.3g", layers, (long long)r, diff,
                  size);
    }
    check_clipped(&f, rows, true, layers);
    check_clipped(&f, rows, false, layers);
    check_value(&f, layers);
    check_scores(&f, layers);
    free(rows), free(g);
    nt_free(&f);
}

/* Each layer on its own and in company; sizes that are and are not multiples of a vector. */
static void gradients_of_layers(void **state)
{
    (void)state;
    check_net("dense", 0, 0, 13, 4, 0);
    check_net("dense", 0, 0, 13, 2, 0);
    check_net("dense", 0, 0, 13, 0, 0);
    check_net("dense", 0, 0, 13, 4, 2);
    check_net("dense17,relu,dense", 0, 0, 13, 3, 0);
    check_net("dense33,tanh,dense5,gelu,dense", 0, 0, 9, 3, 0);
    check_net("dense8,groupnorm2,tanh,dense", 0, 0, 9, 3, 0);
    check_net("gelu,dense8,relu,groupnorm4,dense", 0, 0, 9, 0, 0);
    check_net("conv3x3,dense", 6, 5, 1, 3, 0);
    check_net("conv17x2s2same,relu,dense", 5, 5, 3, 3, 0);
    check_net("conv4x3same,tanh,conv35x3s2,relu,dense", 6, 7, 2, 3, 0);
    check_net("conv4x4s2same,relu,pool2s1,conv5x2,relu,pool2s1,flatten,dense6,relu,dense", 9, 8, 1, 4, 0);
    check_net("pool2,conv3x2,avgpool2,dense", 9, 9, 2, 3, 0);
    check_net("avgpool3s2,conv3x2same,gelu,maxpool2,tanh,dense", 9, 9, 2, 3, 2);
    check_net("conv6x3,groupnorm3,relu,conv4x2same,groupnorm1,tanh,pool3s1,dense", 7, 7, 2, 3, 0);
    check_net("flatten,dense4,tanh,tanh,relu,dense", 3, 3, 2, 2, 0);
    check_net("conv2x1,relu,relu,conv3x2,tanh,pool2,tanh,dense", 5, 5, 1, 0, 0);
    check_net("groupnorm2,conv2x3same,pool2s1,pool2,gelu,dense", 6, 6, 2, 3, 0);
    check_net("dense9,sigmoid,dense17,groupnorm1,sigmoid,dense", 0, 0, 9, 3, 0);
    check_net("conv4x3,sigmoid,pool2,sigmoid,sigmoid,dense", 7, 7, 2, 3, 2);
    check_net("conv5x2same,relu,pool3s2same,conv3x3,avgpool2s1same,dense", 8, 7, 2, 3, 0);
    check_net("pool3s2same,conv17x2,avgpool3s2same,tanh,dense", 8, 9, 3, 3, 0);
    check_net("avgpool4s3same,conv3x1same,pool9s2same,gelu,dense", 8, 8, 2, 3, 0);
    check_net("conv6x3,lrn1,relu,lrn2,dense", 6, 6, 2, 3, 0);
    check_net("conv19x3same,lrn4,pool3s2same,relu,conv5x2,lrn9,flatten,dense7,sigmoid,dense", 6, 5, 2, 3, 0);
    check_net("lrn1,conv3x2,lrn1,tanh,dense", 5, 5, 3, 0, 0);
}

/* With values so large that the normalisation is more than a small correction. */
static void strong_responses(void **state)
{
    (void)state;
    nt_net f;
    nt_make(&f, ctx, arena, "cnn", "conv21x3,lrn4,conv6x2,lrn2,dense", 5, 5, 2, 3, 4, 7);
    double *want = malloc(sizeof *want * (size_t)f.d), size;
    float *g = malloc(sizeof *g * (size_t)f.d);
    for (int64_t j = 0; j < f.cfg.net.layer[2].weights; j++) f.w[j] = (double)(float)(30 * f.w[j]);
    for (int64_t j = f.cfg.net.layer[4].weights; j < f.d; j++) f.w[j] = (double)(float)(0.01 * f.w[j]);
    nt_begin(&f, arena);
    for (int64_t r = 0; r < 4; r++) {
        pv_rows v = mt_view(&f.t, true, false);
        int64_t bad = 0;
        nt_gradient(&f, r, want);
        memset(g, 0, sizeof *g * (size_t)f.d);
        v.pick = &r, v.n = 1;
        f.ops->grad_sum(f.st, &f.cfg, &v, INFINITY, g, &bad, f.scratch);
        const double diff = distance(g, want, f.d, &size);
        PVT_CHECK(diff <= 1e-5 * size, "row %lld off by %.3g of %.3g", (long long)r, diff, size);
    }
    check_value(&f, "strong responses");
    free(want), free(g);
    nt_free(&f);
}

/* Along random directions, and one example at a time against a group larger than a micro-batch. */
static void check_preset(const char *model, int64_t h, int64_t c, int64_t rows)
{
    nt_net f;
    nt_make(&f, ctx, arena, model, NULL, h, h, c, 10, rows, 8);
    const size_t d = (size_t)f.d;
    float *g = calloc(d, sizeof *g);
    double *all = malloc(sizeof *all * d * (size_t)rows), *w = malloc(sizeof *w * d);
    uint64_t seed = 4;
    for (int64_t r = 0; r < rows; r++) {
        pv_rows v = mt_view(&f.t, true, false);
        int64_t bad = 0;
        memset(g, 0, d * sizeof *g);
        v.pick = &r;
        v.n = 1;
        f.ops->grad_sum(f.st, &f.cfg, &v, INFINITY, g, &bad, f.scratch);
        for (size_t j = 0; j < d; j++) all[(size_t)r * d + j] = (double)g[j];
        if (r >= 2) continue;
        double slope = 0, size = 0, h1 = 1e-6;
        double *u = malloc(d * sizeof *u);
        for (size_t j = 0; j < d; j++) { /* half along the gradient: a slope of that size */
            u[j] = (double)g[j] + 0.01 * pvt_normal(&seed);
            slope += u[j] * (double)g[j];
            size += u[j] * u[j];
        }
        for (size_t j = 0; j < d; j++) w[j] = f.w[j] + h1 * u[j] / sqrt(size);
        const double up = nt_loss(&f, r, w);
        for (size_t j = 0; j < d; j++) w[j] = f.w[j] - h1 * u[j] / sqrt(size);
        const double want = (up - nt_loss(&f, r, w)) / (2 * h1);
        slope /= sqrt(size);
        PVT_CHECK(fabs(slope - want) <= 1e-4 * fabs(want), "%s: slope %.9g instead of %.9g", model, slope, want);
        free(u);
    }
    check_clipped(&f, all, true, model);
    free(g), free(all), free(w);
    nt_free(&f);
}

static void presets(void **state)
{
    (void)state;
    check_preset("mnist-cnn", 28, 1, 75);
    check_preset("cifar-cnn", 32, 3, 3);
    check_preset("cifar-tutorial", 32, 3, 3);
}

/* Bytes with their gains against the floats they stand for, bit by bit. */
static void check_bytes(int64_t channels, int64_t views)
{
    enum { ROWS = 40 };
    nt_net f;
    nt_make(&f, ctx, arena, "cnn", "conv4x3same,relu,pool2,dense", 6, 5, channels, 3, ROWS, 2);
    if (views > 1) nt_augment(&f, arena, views, 1, true);
    const int64_t p = f.t.p;
    uint8_t *byte = malloc((size_t)(ROWS * p));
    float level[256], *g = calloc((size_t)f.d, sizeof *g), *want = calloc((size_t)f.d, sizeof *want);
    uint64_t seed = 12;
    int64_t bad = 0;
    for (int b = 0; b < 256; b++) level[b] = (float)(b / 255.0 - 0.13);
    for (int64_t r = 0; r < ROWS; r++) {
        f.t.norm[r] = (float)(0.3 + pvt_uniform(&seed)); /* as if: the gain is what counts here */
        for (int64_t j = 0; j < p; j++) {
            byte[r * p + j] = (uint8_t)pvt_u64(&seed);
            f.t.x[r * f.t.ld + j] = level[byte[r * p + j]];
        }
    }
    pv_rows dense = mt_view(&f.t, true, true), bytes;
    dense.bound = 0.7f;
    bytes = dense;
    bytes.x = NULL, bytes.byte = byte, bytes.level = level, bytes.ld = p;
    f.ops->grad_sum(f.st, &f.cfg, &dense, 0.5, want, &bad, f.scratch);
    f.ops->grad_sum(f.st, &f.cfg, &bytes, 0.5, g, &bad, f.scratch);
    PVT_TRUE(bad == 0 && memcmp(g, want, sizeof *g * (size_t)f.d) == 0);
    free(byte), free(g), free(want);
    nt_free(&f);
}

static void bytes_are_the_same_floats(void **state)
{
    (void)state;
    check_bytes(1, 1);
    check_bytes(3, 1);
    check_bytes(3, 4);
}

/* A row as a view shows it, by the definition: mirrored, then moved, the nearest pixel where none came. */
static void show(const nt_net *f, const float *row, pvi_view v, float *out)
{
    const pvi_hwc in = f->cfg.net.in;
    for (int64_t c = 0; c < in.c; c++)
        for (int64_t y = 0; y < in.h; y++)
            for (int64_t x = 0; x < in.w; x++) {
                const double i = fmin(fmax((double)(y - v.down), 0), (double)(in.h - 1)),
                             j = fmin(fmax((double)(x - v.right), 0), (double)(in.w - 1));
                const int64_t column = v.flip ? in.w - 1 - (int64_t)j : (int64_t)j;
                out[(c * in.h + y) * in.w + x] = row[(c * in.h + (int64_t)i) * in.w + column];
            }
}

/* The mean of the gradients of a row's views. */
static void mean_of_views(nt_net *f, int64_t r, double *mean)
{
    const size_t pixels = (size_t)f->t.p;
    float *const row = f->t.x + r * f->t.ld, *keep = malloc(sizeof *keep * pixels);
    double *one = malloc(sizeof *one * (size_t)f->d);
    pvi_view view[PVI_MAX_VIEWS];
    pvi_net_views(&f->cfg, ((const pvi_net_state *)f->st)->query, r, view);
    memcpy(keep, row, sizeof *keep * pixels);
    memset(mean, 0, sizeof *mean * (size_t)f->d);
    for (int64_t v = 0; v < f->cfg.augment; v++) {
        show(f, keep, view[v], row);
        nt_gradient(f, r, one);
        for (int64_t j = 0; j < f->d; j++) mean[j] += one[j] / (double)f->cfg.augment;
    }
    memcpy(row, keep, sizeof *keep * pixels);
    free(keep), free(one);
}

static void check_views(const char *layers, int64_t h, int64_t w, int64_t c, int64_t views, int64_t shift, bool flip)
{
    enum { ROWS = 4 };
    nt_net f;
    nt_make(&f, ctx, arena, "cnn", layers, h, w, c, 3, ROWS, 11);
    nt_augment(&f, arena, views, shift, flip);
    double *rows = malloc(sizeof *rows * (size_t)(ROWS * f.d));
    for (int64_t r = 0; r < ROWS; r++) mean_of_views(&f, r, rows + r * f.d);
    check_clipped(&f, rows, true, layers);
    check_clipped(&f, rows, false, layers);
    free(rows);
    nt_free(&f);
}

static void views_are_averaged_before_clipping(void **state)
{
    (void)state;
    check_views("conv4x4s2same,relu,pool2s1,conv5x2,relu,pool2s1,flatten,dense6,relu,dense", 9, 8, 1, 4, 2, false);
    check_views("conv3x3same,groupnorm3,tanh,avgpool2,dense8,groupnorm2,relu,dense", 6, 7, 2, 16, 3, true);
    check_views("conv3x2,dense", 6, 5, 3, 2, 0, true);
    check_views("dense5,tanh,dense", 4, 4, 1, 3, 1, false);
}

/* Other rows and other queries get other views, no row has a say, and all moves within reach are drawn. */
static void views_are_public(void **state)
{
    (void)state;
    const pvi_net_cfg c = { .augment = 16, .shift = 2, .flip = true, .seed = 3 };
    pvi_view a[PVI_MAX_VIEWS], b[PVI_MAX_VIEWS];
    int64_t seen[5][5] = { { 0 } }, flipped = 0, same = 0;
    for (int64_t r = 0; r < 400; r++) {
        pvi_net_views(&c, 7, r, a);
        pvi_net_views(&c, 8, r, b);
        PVT_TRUE(a[0].down == 0 && a[0].right == 0 && !a[0].flip);
        for (int v = 1; v < 16; v++) {
            PVT_TRUE(labs(a[v].down) <= 2 && labs(a[v].right) <= 2);
            seen[a[v].down + 2][a[v].right + 2]++;
            flipped += a[v].flip;
            same += a[v].down == b[v].down && a[v].right == b[v].right;
        }
    }
    for (int i = 0; i < 25; i++) PVT_TRUE(labs(seen[i / 5][i % 5] - 240) < 90); /* six standard deviations */
    PVT_TRUE(labs(flipped - 3000) < 240 && labs(same - 240) < 90);
}

/* The weights before the first query depend on the settings alone. */
static void start_is_public(void **state)
{
    (void)state;
    nt_net f;
    nt_make(&f, ctx, arena, "mnist-cnn", NULL, 28, 28, 1, 10, 4, 1);
    double *a = malloc(sizeof *a * (size_t)f.d), *b = malloc(sizeof *b * (size_t)f.d), square = 0;
    f.ops->start(&f.cfg, &f.dom, a);
    f.ops->start(&f.cfg, &f.dom, b);
    assert_memory_equal(a, b, sizeof *a * (size_t)f.d);
    f.cfg.seed = 2;
    f.ops->start(&f.cfg, &f.dom, b);
    PVT_TRUE(memcmp(a, b, sizeof *a * (size_t)f.d) != 0);
    const pvi_layer *l = &f.cfg.net.layer[3]; /* 4 x 4 x 16 inputs before relu: variance 2/256 */
    for (int64_t j = 0; j < l->n_weights; j++) square += a[l->weights + j] * a[l->weights + j] / (double)l->n_weights;
    PVT_CHECK(fabs(square * 128 - 1) < 0.05, "variance %g instead of 1/128", square);
    for (int64_t j = 0; j < l->n_biases; j++) PVT_TRUE(a[l->biases + j] == 0);
    pv_tensor part[8];
    int64_t sum = 0;
    PVT_IS(f.ops->tensors(&f.cfg, &f.dom, NULL), 8);
    f.ops->tensors(&f.cfg, &f.dom, part);
    for (int k = 0; k < 8; k++) {
        sum += part[k].size;
        PVT_IS(part[k].size, part[k].pixels * part[k].channels * part[k].units);
    }
    PVT_IS(sum, 26010);
    PVT_TRUE(part[2].size == 8192 && part[2].pixels == 16 && part[2].channels == 16 && part[2].units == 32);
    PVT_TRUE(part[4].pixels == 16 && part[4].channels == 32 && part[4].units == 32); /* the image before flatten */
    PVT_TRUE(part[6].pixels == 1 && part[6].channels == 32 && part[6].units == 10);
    free(a), free(b);
    nt_free(&f);
}

/* What is promised of all layers together is the root of the squares; where clip says less, all are scaled. */
static void norms_of_layers(void **state)
{
    (void)state;
    nt_net f;
    nt_make(&f, ctx, arena, "mlp", "dense6,relu,dense5,relu,dense", 0, 0, 9, 3, 8, 2);
    double G, L;
    f.ops->constants(&f.cfg, &f.dom, &G, &L);
    PVT_TRUE(G == INFINITY);
    f.cfg.clipping = PVI_CLIP_LAYER;
    f.cfg.clips = (pv_numbers) { 3, { 0.002, 0.003, 0.006 } };
    PVT_OK(f.ops->open(&f.cfg, &f.dom, ctx));
    f.ops->constants(&f.cfg, &f.dom, &G, &L);
    PVT_REL(G, 0.007, 1e-15);
    float *g = calloc((size_t)f.d, sizeof *g);
    int64_t bad = 0, row = 3;
    pv_rows v = mt_view(&f.t, true, false);
    v.pick = &row, v.n = 1;
    for (int k = 0; k < 2; k++) {
        memset(g, 0, sizeof *g * (size_t)f.d);
        f.ops->grad_sum(f.st, &f.cfg, &v, k ? G / 2 : G, g, &bad, f.scratch);
        for (int64_t i = 0, part = 0; i < f.cfg.net.n; i++) {
            const pvi_layer *l = &f.cfg.net.layer[i];
            double own = 0;
            if (!l->n_weights) continue;
            for (int64_t j = 0; j < l->n_weights + l->n_biases; j++) own += pow((double)g[l->weights + j], 2);
            PVT_REL(sqrt(own), f.cfg.clips.v[part] / (k ? 2 : 1), 1e-6); /* every layer is at its norm */
            part++;
        }
    }
    f.cfg.clips.n = 2;
    PVT_IS(f.ops->open(&f.cfg, &f.dom, ctx), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "model.clips has 2 norms, and the network has 3 layers"));
    f.cfg.clips.n = 3, f.cfg.clipping = PVI_CLIP_FLAT;
    PVT_IS(f.ops->open(&f.cfg, &f.dom, ctx), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "add model.clipping=layer"));
    free(g);
    nt_free(&f);
}

static void misfits(void **state)
{
    (void)state;
    const pv_model_ops *cnn = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, "cnn");
    pvi_net_cfg cfg = { 0 };
    pv_domain table = { .n = 5, .p = 20, .row_norm = 1, .classes = 3 };
    pvi_param_defaults(cnn->head.params, &cfg);
    PVT_IS(cnn->open(&cfg, &table, ctx), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "needs images") && strstr(pv_ctx_errmsg(ctx), "data.image"));
    cfg.layers = "dense";
    cfg.augment = 2;
    PVT_IS(cnn->open(&cfg, &table, ctx), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "model.augment=2 moves images"));
    cfg.augment = 1;
    table.classes = 0;
    cfg.loss = 1;
    PVT_IS(cnn->open(&cfg, &table, ctx), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "labels are numbers"));
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(gradients_of_layers),
                                      cmocka_unit_test(strong_responses),
                                      cmocka_unit_test(presets),
                                      cmocka_unit_test(views_are_averaged_before_clipping),
                                      cmocka_unit_test(views_are_public),
                                      cmocka_unit_test(bytes_are_the_same_floats),
                                      cmocka_unit_test(start_is_public),
                                      cmocka_unit_test(norms_of_layers),
                                      cmocka_unit_test(misfits) };
    return cmocka_run_group_tests(all, setup, teardown);
}
