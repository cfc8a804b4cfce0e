/* bench_net.c - clipped gradient sums of the tutorial network for MNIST: rows per second and thread.
 *
 * Groups of 64 drawn images of 28 x 28; arithmetic rate by the multiply-adds the network needs (2.13 million
 * operations a row), beside the rate of a loop of multiply-adds in registers, best of several rounds, interleaved.
 * bench/peers/net_peer.py measures whole training steps beside PyTorch and Opacus.
 *
 *   bench_net [rounds] [model] */
#include "model/net_run.h"
#include "bench.h"

enum { ROWS = 4096, GROUP = 64, GROUPS = 4 };

static double seconds(void)
{
    return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* Multiply-adds of one row, twice: forward, by the weights and (but for the first layer) by the input. */
static double operations(const pvi_net *net)
{
    double sum = 0;
    bool first = true;
    for (int64_t i = 0; i < net->n; i++) {
        const pvi_layer *l = &net->layer[i];
        if (l->kind != PVI_LAYER_CONV && l->kind != PVI_LAYER_DENSE) continue;
        sum += 2.0 * (double)(l->n_weights * l->out.h * l->out.w) * (first ? 2 : 3);
        first = false;
    }
    return sum;
}

/* The best this core does: multiply-adds of 12 independent sums. */
#ifdef PVI_X86
#include <immintrin.h>
#define PEAK(name, isa, type, lanes, set1, fma)                                                                      \
    __attribute__((target(isa))) static double name(float *out)                                                      \
    {                                                                                                                \
        enum { SUMS = 12, STEPS = 400000 };                                                                          \
        type a[SUMS];                                                                                                \
        const type b = set1(0.999f), c = set1(0.001f);                                                               \
        for (int i = 0; i < SUMS; i++) a[i] = set1(*out + (float)i);                                                 \
        const double t = seconds();                                                                                  \
        for (int64_t s = 0; s < STEPS; s++)                                                                          \
            _Pragma("GCC unroll 12") for (int i = 0; i < SUMS; i++) a[i] = fma(a[i], b, c);                          \
        const double took = seconds() - t;                                                                           \
        for (int i = 0; i < SUMS; i++) *out += ((const float *)&a[i])[0];                                            \
        return 2.0 * lanes * SUMS * STEPS / took;                                                                    \
    }
PEAK(peak_512, "avx512f", __m512, 16, _mm512_set1_ps, _mm512_fmadd_ps)
PEAK(peak_256, "avx2,fma", __m256, 8, _mm256_set1_ps, _mm256_fmadd_ps)
static double peak(float *out)
{
    return pvi_isa() == PVI_ISA_AVX512 ? peak_512(out) : pvi_isa() == PVI_ISA_AVX2 ? peak_256(out) : 0;
}
#else
static double peak(float *out)
{
    (void)out;
    return 0;
}
#endif

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    const char *name = argc > 2 ? argv[2] : "mnist-cnn";
    const pv_model_ops *m = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, name);
    const bool color = strcmp(name, "cifar-cnn") == 0;
    const int64_t side = color ? 32 : 28, p = side * side * (color ? 3 : 1);
    const pv_domain dom = {
        .n = ROWS, .p = p, .row_norm = 1, .classes = 10, .height = side, .width = side, .channels = color ? 3 : 1
    };
    pvi_net_cfg cfg = { 0 };
    pv_ctx *ctx;
    if (!m || !m->open || pv_ctx_create(NULL, &ctx)) return 1;
    pvi_param_defaults(m->head.params, &cfg);
    cfg.augment = 1;
    if (m->open(&cfg, &dom, ctx) != PV_OK) return 1;
    const int64_t d = cfg.net.d;
    float *x = get_lines(sizeof *x * (size_t)(ROWS * p)), *y = get_lines(sizeof *y * ROWS),
          *norm = get_lines(sizeof *norm * ROWS);
    float *g = get_lines(sizeof *g * (size_t)d), sink = 0;
    double *w = get_lines(sizeof *w * (size_t)d), best[3] = { INFINITY, INFINITY, 0 };
    int64_t pick[GROUPS * GROUP], bad = 0;
    void *st = get_lines(m->head.state_size), *scratch = get_lines(m->scratch(&cfg, &dom, GROUP));
    pv_arena *a = pvi_arena_create(ctx);
    for (int64_t i = 0; i < ROWS * p; i++) x[i] = next() % 5 ? 0.0f : (float)((double)(next() >> 40) * 0x1p-24) / 9;
    for (int64_t i = 0; i < ROWS; i++) y[i] = (float)(next() % 10), norm[i] = 1.0f;
    for (int i = 0; i < GROUPS * GROUP; i++) pick[i] = (int64_t)(next() % ROWS);
    m->start(&cfg, &dom, w);
    if (m->begin(st, &cfg, &dom, w, 0, a) != PV_OK) return 1;
    for (int r = 0; r < rounds; r++)
        for (int kind = 0; kind < 2; kind++) {
            const double t = seconds();
            for (int b = 0; b < GROUPS; b++) {
                const pv_rows v = {
                    .n = GROUP, .p = p, .ld = p, .x = x, .y = y, .norm = norm, .bound = 1, .pick = pick + b * GROUP
                };
                m->grad_sum(st, &cfg, &v, kind ? 1.0 : (double)INFINITY, g, &bad, scratch);
            }
            best[kind] = fmin(best[kind], (seconds() - t) / (GROUPS * GROUP));
            best[2] = fmax(best[2], r % 8 ? 0 : peak(&sink));
        }
    printf("%s, %lld weights, one thread: clipped %.2f us a row (%.0f rows/s, %.1f GFLOP/s), not clipped %.2f us, "
           "ratio %.2f; multiply-add peak %.1f GFLOP/s\n",
           name, (long long)d, best[1] * 1e6, 1 / best[1], operations(&cfg.net) / best[1] * 1e-9, best[0] * 1e6,
           best[1] / best[0], best[2] * 1e-9);
    fprintf(stderr, "checksum %g %lld\n", (double)sink, (long long)bad);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
    free(x), free(y), free(g), free(w), free(st), free(scratch);
    return 0;
}
