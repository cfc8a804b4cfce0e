/* auc.c - exact area under the ROC curve.
 *
 * With P positives and N negatives, and over groups of equal score in rising order,
 *   (1)  AUC = sum_groups pos (2 neg_below + neg) / (2 P N),
 * the normalised Mann-Whitney statistic with half a point for a tie.  Numerator and denominator are whole
 * numbers below 2^63 for n < 2^31 and are added as such: the only rounding is the final division.
 *
 * Each row becomes one 64-bit key, the score mapped to an integer of the same order above the class bit, so one
 * radix sort by the score bits replaces a sort of pairs: three passes of 11 bits. */
#include "eval.h"

enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 3 };

/* Order-preserving: negative floats have their bits flipped, others only the sign.  -0 equals +0. */
static uint64_t key_of(float score, uint8_t positive)
{
    const float x = score + 0.0f;
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    u = u & 0x80000000u ? ~u : u | 0x80000000u;
    return (uint64_t)u << 1 | (positive != 0);
}

static uint64_t digit(uint64_t key, int pass)
{
    return key >> (1 + pass * BITS) & (BUCKETS - 1);
}

/* Sorts a by score using b as room for one copy; PASSES is odd, so the result is in b. */
static void radix_sort(uint64_t *a, uint64_t *b, int64_t n, int64_t (*count)[BUCKETS])
{
    for (int64_t i = 0; i < n; i++)
        for (int p = 0; p < PASSES; p++) count[p][digit(a[i], p)]++;
    for (int p = 0; p < PASSES; p++) {
        int64_t at = 0;
        for (int64_t k = 0; k < BUCKETS; k++) {
            const int64_t c = count[p][k];
            count[p][k] = at;
            at += c;
        }
        for (int64_t i = 0; i < n; i++) b[count[p][digit(a[i], p)]++] = a[i];
        uint64_t *t = a;
        a = b;
        b = t;
    }
}

/* (1) over sorted keys. */
static double area(const uint64_t *key, int64_t n)
{
    uint64_t below = 0, above = 0, twice = 0;
    for (int64_t i = 0, end; i < n; i = end) {
        uint64_t pos = 0;
        for (end = i; end < n && key[end] >> 1 == key[i] >> 1; end++) pos += key[end] & 1;
        const uint64_t neg = (uint64_t)(end - i) - pos;
        twice += pos * (2 * below + neg);
        below += neg;
        above += pos;
    }
    if (below == 0 || above == 0) return NAN;
    return (double)twice / (2.0 * (double)below * (double)above);
}

pv_status pvi_auc(pv_ctx *ctx, int64_t n, const float *score, const uint8_t *positive, double *auc)
{
    *auc = NAN;
    if (n < 0 || n > INT32_MAX) return pvi_fail(ctx, PV_E_ARG, "AUC of %lld rows: at most 2^31 - 1", (long long)n);
    pv_status s = PV_OK;
    uint64_t *a = pvi_alloc(ctx, (size_t)n * sizeof *a);
    uint64_t *b = pvi_alloc(ctx, (size_t)n * sizeof *b);
    int64_t(*count)[BUCKETS] = pvi_alloc(ctx, PASSES * sizeof *count);
    if (!a || !b || !count) {
        s = pvi_nomem(ctx);
        goto out;
    }
    for (int64_t i = 0; i < n; i++) a[i] = key_of(score[i], positive[i]);
    radix_sort(a, b, n, count);
    *auc = area(b, n);
out:
    pvi_free(ctx, count);
    pvi_free(ctx, b);
    pvi_free(ctx, a);
    return s;
}
