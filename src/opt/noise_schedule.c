/* noise_schedule.c - how much noise each pass over the rows gets, relative to the others.
 *
 *   constant[:O]     o(k) = O in every epoch k = 0 .. K-1
 *   linear:A,B       o(0) = A, o(K-1) = B, straight in between
 *   ramp:A,B,M       straight from A in epoch 0 to B in epoch M-1, then B
 *   table:O0,O1,...  o(k) = Ok; the last value stays
 * o is a variance: the noise of epoch k is sqrt(o(k) / min o) times that of the epoch with the least, which is what
 * calibration finds.  A schedule must be positive everywhere: no noise would mean no privacy in that epoch. */
#include "opt/noise_schedule.h"

static bool take_number(const char **at, double *out)
{
    const size_t n = strcspn(*at, ",");
    const bool good = pvi_parse_f64(*at, n, out) && isfinite(*out);
    *at += n;
    return good;
}

static bool take_comma(const char **at)
{
    return **at == ',' && (*at)++;
}

static double between(double a, double b, int64_t k, int64_t last)
{
    return k >= last ? b : a + (b - a) * (double)k / (double)last;
}

/* Exactly n numbers. */
static bool take_numbers(const char *at, int n, double *x)
{
    for (int i = 0; i < n; i++)
        if ((i > 0 && !take_comma(&at)) || !take_number(&at, &x[i])) return false;
    return *at == '\0';
}

static double from_table(const char *at, int64_t k)
{
    double x, found = NAN;
    for (int64_t i = 0;; i++) {
        if (!take_number(&at, &x)) return NAN;
        if (i <= k) found = x;
        if (*at == '\0') return found;
        if (!take_comma(&at)) return NAN;
    }
}

double pvi_noise_variance(const char *text, int64_t k, int64_t K)
{
    double x[3];
    if (strcmp(text, "constant") == 0) return 1.0;
    if (strncmp(text, "constant:", 9) == 0) return take_numbers(text + 9, 1, x) ? x[0] : NAN;
    if (strncmp(text, "linear:", 7) == 0)
        return take_numbers(text + 7, 2, x) ? between(x[0], x[1], K == 1 ? 1 : k, K - 1) : NAN;
    if (strncmp(text, "ramp:", 5) == 0)
        return take_numbers(text + 5, 3, x) && x[2] >= 1 && x[2] <= 1e9 && x[2] == floor(x[2])
                   ? between(x[0], x[1], x[2] == 1 ? 1 : k, (int64_t)x[2] - 1)
                   : NAN;
    if (strncmp(text, "table:", 6) == 0) return from_table(text + 6, k);
    return NAN;
}

bool pvi_noise_is_constant(const char *text)
{
    return strncmp(text, "constant", 8) == 0;
}

enum { MOST_EPOCHS = 1000 }; /* of noise that changes: each is an event of its own */

pv_status pvi_noise_check(pv_ctx *ctx, const char *text, int64_t K, double *least)
{
    *least = INFINITY;
    if (pvi_noise_is_constant(text)) K = 1;
    if (K > MOST_EPOCHS)
        return pvi_fail(ctx, PV_E_PARAM,
                        "optimizer.noise=%s: noise may change over %d passes at most, and there are %lld", text,
                        MOST_EPOCHS, (long long)K);
    for (int64_t k = 0; k < K; k++) {
        const double o = pvi_noise_variance(text, k, K);
        if (isnan(o))
            return pvi_fail(ctx, PV_E_PARAM,
                            "optimizer.noise=%s: not a schedule; there is constant, linear:FROM,TO, "
                            "ramp:FROM,TO,EPOCHS and table:O1,O2,...",
                            text);
        if (!(o > 0.0))
            return pvi_fail(ctx, PV_E_PARAM,
                            "optimizer.noise=%s: the variance is %g in epoch %lld of %lld, and must be above 0 in "
                            "every one",
                            text, o, (long long)k + 1, (long long)K);
        if (o < *least) *least = o;
    }
    for (int64_t k = 0; k < K; k++)
        if (!(pvi_noise_variance(text, k, K) <= 1e6 * *least))
            return pvi_fail(ctx, PV_E_PARAM, "optimizer.noise=%s: variances may differ by a factor of 1e6 at most",
                            text);
    return PV_OK;
}
