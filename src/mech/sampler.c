/* sampler.c - which rows a query sees: full batch, Poisson, fixed size, cyclic.
 *
 * Full       every row.
 * Poisson    each row independently with probability q.
 *            (1)  q >= 1/8 or q < 2^-24: row i enters iff u_i < q 2^64, u_i uniform on 64 bits; probability
 *                 floor(q 2^64) / 2^64, which is q for q >= 1/8 and never above q: the cost grows with q
 *            (4)  otherwise the rows left out before the next one are geometric: floor(L / l), L = -ln U exponential,
 *                 l = -ln(1 - q).  The double L / l is within 2^-43 / l of the real one (draw.kernel.c (8), 4u for
 *                 1 / l); that near to an integer, U gets 128 more bits and L and l 118 bits of precision (exact.c),
 *                 and integer division decides.  The division is wrong only if L is within
 *                 2^-118 (1 + L/l) of a multiple of l: probability below 2^-117 (1 + L/l) / l <= 2^-64 for q >= 2^-24
 *            (5)  Skip by skip: k is wrong only if L is within w = 2^-118 (max(1, L) + k') + 2^-192 e^L of k' l, k' = k
 *                 or k + 1, the last term for the bits of U that are not drawn; L = k' l < k', so w is below
 *                 2^-117 (1 + k') and that term.  It has probability 2 w e^{-k' l} each, and k itself e^{-k l} q; so
 *                 for k < n with e^{k l} <= 2^104 the two laws of k differ by a factor of at most
 *                 1 +- ((n + 1) 2^-115 + 2^-85)/q, what is beyond has probability 2^-104, and of "n or more", all the
 *                 same, the factor is smaller.  A query has at most n + 1 skips, n q + 1 on average.
 * Fixed      exactly k = round(q n) rows, every subset alike (Floyd):
 *            (2)  for j = n-k .. n-1: t uniform on 0 .. j; take t, or j if t is taken
 *            The marks are bits at the end of out, where the result has not reached yet.
 * Cyclic     l = round(1/q) blocks of consecutive rows whose sizes differ by at most one;
 *            (3)  step t sees rows floor(b n / l) .. floor((b+1) n / l) - 1,  b = t mod l
 * Privacy    the kind decides the event; nothing else may be paired with it.
 * Reference  Bentley, Floyd, "A sample of brilliance", CACM 30(9), 1987, Algorithm F2. */
#include "mech/exact.h"
#include "mech/kernel.h"

static int64_t all_rows(int64_t from, int64_t to, int64_t *out)
{
    for (int64_t i = from; i < to; i++) out[i - from] = i;
    return to - from;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* (1) */
static int64_t every_row(pv_rng *r, double q, int64_t n, int64_t *out)
{
    const uint64_t threshold = (uint64_t)(q * 0x1p64); /* q < 1 */
    uint64_t u[PVI_CHUNK];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += PVI_CHUNK) {
        const int64_t m = smaller(n - i, PVI_CHUNK);
        pvi_rng_bytes(r, u, (size_t)m * sizeof *u);
        for (int64_t k = 0; k < m; k++) {
            out[count] = i + k;
            count += u[k] < threshold;
        }
    }
    return count;
}

/* -ln(1 - q) in units of 2^-120.  For 2^-24 <= q < 1/8 the last bit of q is at least 2^-77. */
static pvi_u128 exact_rate(double q)
{
    const pvi_u128 rest = -((pvi_u128)ldexp(q, 77) << 51); /* 1 - q in units of 2^-128 */
    return pvi_exact_neglog((const uint64_t[4]) { (uint64_t)(rest >> 64), (uint64_t)rest, 0, 0 });
}

/* floor(L / l) of draw i, y being L / l in double precision. */
static int64_t skip(const pvi_bits *w, int64_t i, double y, double margin, double q)
{
    const double whole = rint(y);
    if (fabs(y - whole) > margin) return (int64_t)whole - (y < whole);
    pvi_wide wide;
    pvi_bits_wide(w, i, &wide);
    return (int64_t)(pvi_exact_neglog(wide.u) / exact_rate(q));
}

/* (4) */
static int64_t by_skips(pv_rng *r, double q, int64_t n, int64_t *out)
{
    const double s = -1.0 / log1p(-q), margin = s * 0x1p-43;
    double y[PVI_CHUNK];
    pvi_bits w;
    int64_t count = 0, row = -1;
    pvi_bits_begin(&w, r);
    for (int64_t chunk = 0; row < n; chunk++) {
        const int64_t m = smaller((int64_t)((double)(n - row) * q * 1.25) + 16, PVI_CHUNK);
        pvi_bits_load(&w, chunk, m);
        w.k->exponential(w.a, w.b, s, y, m);
        for (int64_t i = 0; i < m && row < n; i++) {
            row += 1 + skip(&w, i, y[i], margin, q);
            if (row < n) out[count++] = row;
        }
    }
    pvi_bits_end(&w);
    return count;
}

static bool uses_skips(double q)
{
    return q >= 0x1p-24 && q < 0.125;
}

static int64_t poisson(pv_rng *r, double q, int64_t n, int64_t *out)
{
    if (q >= 1.0) return all_rows(0, n, out);
    return uses_skips(q) ? by_skips(r, q, n, out) : every_row(r, q, n, out);
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
    case PVI_POISSON: *count = poisson(r, rate, n, out); return;
    case PVI_FIXED_SIZE: *count = fixed_size(r, (int64_t)rint(rate * (double)n), n, out); return;
    case PVI_CYCLIC: *count = cyclic(rate, n, step, out); return;
    }
    PVI_REQUIRE(!"a sampler nobody knows");
}

/* By (4), a draw per row taken and one that ends. */
double pvi_sample_tv(pvi_sampler kind, double rate, int64_t n)
{
    return kind == PVI_POISSON && uses_skips(rate) ? ((double)n * rate + 1.0) * 0x1p-64 : 0.0;
}

/* (5); twice as much covers P' in place of P on the right. */
pvi_close pvi_sample_close(pvi_sampler kind, double rate, int64_t n)
{
    if (kind != PVI_POISSON || !uses_skips(rate)) return (pvi_close) { 0.0, 0.0 };
    const double rows = (double)n;
    return (pvi_close) { (rows + 1.0) * 2.0 * ((rows + 1.0) * 0x1p-115 + 0x1p-85) / rate,
                         (rows * rate + 1.0) * 0x1p-102 };
}
