/* sampler.c - which rows a query sees: full batch, Poisson, fixed size, cyclic.
 *
 * Full       every row.
 * Poisson    each row independently with probability q.
 *            (1)  row i enters iff u_i < q 2^64, u_i uniform on 64 bits: probability floor(q 2^64) / 2^64 <= q,
 *                 and the privacy cost grows with q, so the certified q covers it
 * Fixed      exactly k = round(q n) rows, every subset alike (Floyd):
 *            (2)  for j = n-k .. n-1: t uniform on 0 .. j; take t, or j if t is taken
 *            The marks are bits at the end of out, where the result has not reached yet.
 * Cyclic     l = round(1/q) blocks of consecutive rows whose sizes differ by at most one;
 *            (3)  step t sees rows floor(b n / l) .. floor((b+1) n / l) - 1,  b = t mod l
 * Privacy    the kind decides the event; nothing else may be paired with it.
 * Reference  Bentley, Floyd, "A sample of brilliance", CACM 30(9), 1987, Algorithm F2. */
#include "mech/mech.h"

static int64_t all_rows(int64_t from, int64_t to, int64_t *out)
{
    for (int64_t i = from; i < to; i++) out[i - from] = i;
    return to - from;
}

static int64_t poisson(pv_rng *r, double q, int64_t n, int64_t *out)
{
    enum { CHUNK = 512 };
    const uint64_t threshold = (uint64_t)(q * 0x1p64); /* (1): q < 1 */
    uint64_t u[CHUNK];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += CHUNK) {
        const int64_t m = n - i < CHUNK ? n - i : CHUNK;
        pvi_rng_bytes(r, u, (size_t)m * sizeof *u);
        for (int64_t k = 0; k < m; k++) {
            out[count] = i + k;
            count += u[k] < threshold;
        }
    }
    return count;
}

static int64_t fixed_size(pv_rng *r, int64_t k, int64_t n, int64_t *out)
{
    const int64_t words = (n + 63) / 64;
    uint64_t *mark = (uint64_t *)out + n - words;
    int64_t count = 0;
    memset(mark, 0, (size_t)words * sizeof *mark);
    for (int64_t j = n - k; j < n; j++) { /* (2) */
        int64_t t = (int64_t)pvi_rng_below(r, (uint64_t)j + 1);
        if (mark[t / 64] >> (t % 64) & 1) t = j;
        mark[t / 64] |= (uint64_t)1 << (t % 64);
    }
    /* 64 (w+1) results are written at most before word w+1 is read, and for w+1 < words that is
     * below its place n - words + w + 1. */
    for (int64_t w = 0; w < words; w++)
        for (uint64_t bits = mark[w]; bits; bits &= bits - 1) out[count++] = 64 * w + __builtin_ctzll(bits);
    return count;
}

static int64_t cyclic(double q, int64_t n, int64_t step, int64_t *out)
{
    const int64_t l = (int64_t)fmin(fmax(1.0, rint(1.0 / q)), (double)n), b = step % l;
    const int64_t from = (int64_t)((__int128)b * n / l), to = (int64_t)((__int128)(b + 1) * n / l);
    return all_rows(from, to, out);
}

void pvi_sample(pv_rng *r, pvi_sampler kind, double rate, int64_t n, int64_t step, int64_t *out, int64_t *count)
{
    PVI_REQUIRE(n >= 0 && step >= 0);
    PVI_REQUIRE(kind == PVI_FULL_BATCH || (rate > 0.0 && rate <= 1.0));
    *count = 0;
    if (n == 0) return;
    switch (kind) {
    case PVI_FULL_BATCH: *count = all_rows(0, n, out); return;
    case PVI_POISSON: *count = rate < 1.0 ? poisson(r, rate, n, out) : all_rows(0, n, out); return;
    case PVI_FIXED_SIZE: *count = fixed_size(r, (int64_t)rint(rate * (double)n), n, out); return;
    case PVI_CYCLIC: *count = cyclic(rate, n, step, out); return;
    }
    PVI_REQUIRE(!"a sampler nobody knows");
}
