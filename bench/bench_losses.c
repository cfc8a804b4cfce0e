/* bench_losses.c - nanoseconds per element of every loss: phi' alone, and value with both derivatives.
 *
 *   bench_losses [rounds] */
#include "model/model.h"

#include <stdlib.h>
#include <time.h>

enum { N = 4096, REPEATS = 200 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double best(const pv_loss_ops *loss, const void *cfg, int rounds, const float *m, float *v, float *d1,
                   float *d2)
{
    double least = INFINITY;
    for (int r = 0; r < rounds; r++) {
        const double t = seconds();
        for (int k = 0; k < REPEATS; k++) loss->eval(cfg, N, m, v, d1, d2);
        least = fmin(least, (seconds() - t) / REPEATS / N);
    }
    return least * 1e9;
}

int main(int argc, char **argv)
{
    static float m[N], v[N], d1[N], d2[N];
    const int rounds = argc > 1 ? atoi(argv[1]) : 30;
    const pv_plugin *head;
    for (int i = 0; i < N; i++) m[i] = (float)(i % 997) / 50 - 10;
    for (int64_t i = 0; (head = pv_nth(PV_KIND_loss, i)) != NULL; i++) {
        const pv_loss_ops *loss = (const pv_loss_ops *)(const void *)head;
        void *cfg = calloc(1, head->cfg_size + 1);
        if (!cfg) return 1;
        pvi_param_defaults(head->params, cfg);
        const double slope = best(loss, cfg, rounds, m, NULL, d1, NULL), all = best(loss, cfg, rounds, m, v, d1, d2);
        printf("%-10s phi' %.3f ns, phi, phi', phi'' %.3f ns per element\n", head->name, slope, all);
        free(cfg);
    }
    return 0;
}
