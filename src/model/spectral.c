/* spectral.c - the largest singular value of a layer, by power iteration.
 *
 *   v <- A'A v / ||A'A v||,   sigma = F ||A'A v|| / ||A v||,   A = W / F as floats, F the length of all of W together
 *
 * sigma comes from below, and is never above F; when it stands still to 1e-7 there is no more to learn from
 * floats. */
#include "model/split.h"

static double length(int64_t n, const float *v)
{
    double s = 0.0;
    for (int64_t j = 0; j < n; j++) s += (double)v[j] * (double)v[j];
    return sqrt(s);
}

/* The length of w as a vector. */
static double frobenius(int64_t n, const double *w)
{
    double s[8] = { 0 };
    for (int64_t j = 0; j < n / 8 * 8; j++) s[j % 8] += w[j] * w[j];
    for (int64_t j = n / 8 * 8; j < n; j++) s[0] += w[j] * w[j];
    return sqrt(((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])));
}

static void narrow(int64_t in, int64_t out, const double *w, double factor, int64_t ld, float *a)
{
    memset(a, 0, sizeof *a * (size_t)(in * ld));
    for (int64_t j = 0; j < in; j++)
        for (int64_t n = 0; n < out; n++) a[j * ld + n] = (float)(w[j * out + n] * factor);
}

double pvi_spectral_norm(int64_t in, int64_t out, const double *w, double enough, int rounds, float *v, float *room)
{
    const pvi_split_kernel *const k = pvi_split_kernel_isa[pvi_isa()];
    const int64_t ld = pvi_split_pad(out);
    const double F = frobenius(in * out, w);
    float *const next = room, *const a = room + ld;
    double last = 0.0, now = 0.0;
    if (!(F > enough)) return F;
    narrow(in, out, w, 1.0 / F, ld, a);
    if (length(out, v) == 0.0)
        for (int64_t n = 0; n < out; n++) v[n] = (float)((n % 2 ? 0.9 : 1.1) / sqrt((double)out));
    for (int round = 0; round < rounds; round++) {
        const double u = sqrt(k->twice(in, ld, a, v, next)), size = length(out, next), inverse = 1.0 / size;
        if (!(u > 0.0 && size > 0.0)) return F; /* v was orthogonal to all of W */
        for (int64_t n = 0; n < out; n++) v[n] = (float)((double)next[n] * inverse);
        now = size / u;
        if (fabs(now - last) <= 1e-7 * now) break;
        last = now;
    }
    return now * F;
}
