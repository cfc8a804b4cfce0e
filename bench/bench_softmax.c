/* bench_softmax.c - clipped gradient sums of softmax regression on drawn batches, 60,000 x 784, 10 classes.
 *
 * Prints time per batch of 64 and 128 drawn rows, the arithmetic rate (4 p k operations a row), and beside it the
 * time to read the same rows once (a plain vectorised sum), best of several rounds, interleaved.
 *
 *   bench_softmax [rounds] [rows] [columns] [classes] */
#include "model/model.h"
#include "bench.h"

extern const pv_model_ops pv_model_softmax;

enum { BATCHES = 100, MAX_BATCH = 128 };

static double seconds(void)
{
    return clock_seconds(CLOCK_MONOTONIC);
}

static int64_t read_rows(const pv_rows *v)
{
    int64_t s = 0;
    for (int64_t i = 0; i < v->n; i++) {
        const int32_t *x = (const int32_t *)(const void *)(v->x + v->pick[i] * v->ld);
        int32_t t = 0;
        for (int64_t j = 0; j < v->p; j++) t ^= x[j];
        s += t;
    }
    return s;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    const int64_t n = argc > 2 ? atoll(argv[2]) : 60000, p = argc > 3 ? atoll(argv[3]) : 784;
    const pv_domain dom = { .n = n, .p = p, .row_norm = 1, .classes = argc > 4 ? atoll(argv[4]) : 10 };
    const int64_t d = pv_model_softmax.dim(NULL, &dom);
    float *x = get_lines(sizeof *x * (size_t)(n * p)), *y = get_lines(sizeof *y * (size_t)n),
          *norm = get_lines(sizeof *norm * (size_t)n);
    float *g = get_lines(sizeof *g * (size_t)d);
    double *w = get_lines(sizeof *w * (size_t)d);
    int64_t *pick = get_lines(sizeof *pick * BATCHES * MAX_BATCH), bad = 0, sum = 0;
    void *scratch = get_lines(pv_model_softmax.scratch(NULL, &dom, MAX_BATCH));
    pvi_softmax_state st = { 0 };
    pv_ctx *ctx;
    if (pv_ctx_create(NULL, &ctx)) return 1;
    pv_arena *a = pvi_arena_create(ctx);
    for (int64_t i = 0; i < n * p; i++) x[i] = (float)((double)(next() >> 40) * 0x1p-24 - 0.5) / sqrtf((float)p);
    for (int64_t i = 0; i < n; i++) y[i] = (float)(next() % (uint64_t)dom.classes), norm[i] = 1;
    for (int64_t j = 0; j < d; j++) w[j] = (double)(j % 7) - 3;
    for (int64_t i = 0; i < BATCHES * MAX_BATCH; i++) pick[i] = (int64_t)(next() % (uint64_t)n);
    if (pv_model_softmax.begin(&st, NULL, &dom, w, 0, a) != PV_OK) return 1;

    for (int64_t batch = 64; batch <= MAX_BATCH; batch *= 2) {
        double best[2] = { INFINITY, INFINITY };
        for (int r = 0; r < rounds; r++)
            for (int kind = 0; kind < 2; kind++) {
                const double t = seconds();
                for (int b = 0; b < BATCHES; b++) {
                    const pv_rows v = { .n = batch,
                                        .p = p,
                                        .ld = p,
                                        .x = x,
                                        .y = y,
                                        .norm = norm,
                                        .bound = INFINITY,
                                        .pick = pick + b * batch };
                    if (kind) pv_model_softmax.grad_sum(&st, NULL, &v, 0.5, g, &bad, scratch);
                    else sum += read_rows(&v);
                }
                best[kind] = fmin(best[kind], (seconds() - t) / BATCHES);
            }
        printf("softmax %lld x %lld, %lld classes, batch %lld: gradient %.1f us (%.1f GFLOP/s), reading the rows "
               "%.1f us\n",
               (long long)n, (long long)p, (long long)dom.classes, (long long)batch, best[1] * 1e6,
               4.0 * (double)(batch * d) / best[1] * 1e-9, best[0] * 1e6);
    }
    printf("checksum %lld\n", (long long)(sum + bad) & 1023);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
    free(x), free(y), free(norm), free(g), free(w), free(pick), free(scratch);
    return 0;
}
