/* net_norm.c - group normalisation of one example; and what local response normalisation computes.
 *
 *   A group is every pixel of C/G consecutive channels, m values x with mean mu and variance v.
 *   (1) x^ = (x - mu) / sqrt(v + epsilon),   y = gain_c x^ + bias_c
 *   (2) dgain_c = sum_pixels dy x^,  dbias_c = sum_pixels dy
 *   (3) dx = (t - mean(t) - x^ mean(t x^)) / sqrt(v + epsilon)  with  t = gain_c dy, means over the group
 * Sums of (1) to (3) are doubles; each example is on its own, so its gradient is well defined (which batch norm's is
 * not).
 * Local response normalisation, in floats (net.kernel.c): at every pixel, for channel c, with the window c - R ..
 * c + R as far as there are channels, a = alpha/(2R + 1), beta = 3/4,
 *   (4) s_c = 1 + a sum_{b in window(c)} x_b^2,   y_c = x_c s_c^-beta
 *   (5) dx_c = dy_c s_c^-beta - 2 a beta x_c sum_{b in window(c)} t_b,   t_b = dy_b y_b / s_b
 *       since y_b depends on x_c by -2 a beta x_c x_b s_b^(-beta - 1), and b is in c's window where c is in b's.
 * It has no weights: its gradient is what passes through it.
 * Reference  Wu, He, Group normalization, ECCV 2018; Krizhevsky, Sutskever, Hinton 2012, with the constants of the
 *            TensorFlow tutorial for CIFAR-10: R = 4, alpha = 0.001. */
#include "model/net_run.h"

/* For every value of group g: index at, channel c. */
#define EACH_VALUE(...)                                                                                              \
    for (int64_t p = 0; p < l->in.h * l->in.w; p++)                                                                  \
        for (int64_t c = g * wide; c < (g + 1) * wide; c++) {                                                        \
            const int64_t at = p * l->in.c + c;                                                                      \
            __VA_ARGS__;                                                                                             \
        }

void pvi_groupnorm(const pvi_layer *l, const float *gain, const float *bias, const float *x, float *y, double *stat)
{
    const int64_t wide = l->in.c / l->groups;
    const double m = (double)(l->in.h * l->in.w * wide);
    for (int64_t g = 0; g < l->groups; g++) {
        double sum = 0.0, square = 0.0;
        EACH_VALUE(sum += (double)x[at]);
        const double mean = sum / m;
        EACH_VALUE(square += ((double)x[at] - mean) * ((double)x[at] - mean));
        const double inverse = 1.0 / sqrt(square / m + PVI_GROUPNORM_EPSILON);
        EACH_VALUE(y[at] = gain[c] * (float)(((double)x[at] - mean) * inverse) + bias[c]); /* (1) */
        stat[2 * g] = mean;
        stat[2 * g + 1] = inverse;
    }
}

void pvi_groupnorm_back(const pvi_layer *l, const float *gain, const float *x, const double *stat, const float *dy,
                        float *dx, float *dgain, float *dbias)
{
    const int64_t wide = l->in.c / l->groups;
    const double m = (double)(l->in.h * l->in.w * wide);
    memset(dgain, 0, sizeof *dgain * (size_t)l->in.c);
    memset(dbias, 0, sizeof *dbias * (size_t)l->in.c);
    for (int64_t g = 0; g < l->groups; g++) {
        const double mean = stat[2 * g], inverse = stat[2 * g + 1];
        double t = 0.0, tx = 0.0;
        EACH_VALUE(const double hat = ((double)x[at] - mean) * inverse; const float d = dy[at];
                   dgain[c] += d * (float)hat; /* (2) */
                   dbias[c] += d; t += (double)gain[c] * (double)d; tx += (double)gain[c] * (double)d * hat);
        t /= m;
        tx /= m;
        EACH_VALUE(const double hat = ((double)x[at] - mean) * inverse;
                   dx[at] = (float)(((double)gain[c] * (double)dy[at] - t - hat * tx) * inverse)); /* (3) */
    }
}
