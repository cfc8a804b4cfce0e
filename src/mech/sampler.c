/* sampler.c - which rows a query sees: full batch, Poisson, fixed size, cyclic.  All samplers are in this file, as
 * entries of pvi_samplers near its end.
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
 *            (5)  Skip by skip: k is wrong only if L is within w = 2^-118 (max(1, L) + k') + 2^-192 e^L of k' l, k' =
 *                 k or k + 1, the last term for the bits of U that are not drawn; L = k' l < k', so w is below
 *                 2^-117 (1 + k') and that term.  It has probability 2 w e^{-k' l} each, and k itself e^{-k l} q; so
 *                 for k < n with e^{k l} <= 2^104 the two laws of k differ by a factor of at most
 *                 1 +- ((n + 1) 2^-115 + 2^-85)/q, what is beyond has probability 2^-104, and of "n or more", all the
 *                 same, the factor is smaller.  A query has at most n + 1 skips, n q + 1 on average.
 * Fixed      exactly k = round(q n) rows, every subset alike (Floyd):
 *            (2)  for j = n-k .. n-1: t uniform on 0 .. j; take t, or j if t is taken
 *            The marks are bits at the end of out, where the result has not reached yet.
 * Cyclic     l = round(1/q) blocks of consecutive rows whose sizes differ by at most one;
 *            (3)  step t sees rows floor(b n / l) .. floor((b+1) n / l) - 1,  b = t mod l
 * Privacy    the sampler decides the event; nothing else may be paired with it.
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

static int64_t full(pv_rng *r, double q, int64_t n, int64_t number, int64_t *out)
{
    (void)r, (void)q, (void)number;
    return all_rows(0, n, out);
}

static int64_t poisson(pv_rng *r, double q, int64_t n, int64_t number, int64_t *out)
{
    (void)number;
    if (q >= 1.0) return all_rows(0, n, out);
    return uses_skips(q) ? by_skips(r, q, n, out) : every_row(r, q, n, out);
}

static int64_t fixed_size(pv_rng *r, double q, int64_t n, int64_t number, int64_t *out)
{
    const int64_t words = (n + 63) / 64, k = (int64_t)rint(q * (double)n);
    uint64_t *mark = (uint64_t *)out + n - words;
    int64_t count = 0;
    (void)number;
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

static int64_t cyclic(pv_rng *r, double q, int64_t n, int64_t number, int64_t *out)
{
    const int64_t l = (int64_t)fmin(fmax(1.0, rint(1.0 / q)), (double)n), b = number % l;
    const int64_t from = (int64_t)((__int128)b * n / l), to = (int64_t)((__int128)(b + 1) * n / l);
    (void)r;
    return all_rows(from, to, out);
}

/* By (4), a draw per row taken and one that ends. */
static double poisson_tv(double rate, int64_t n)
{
    return uses_skips(rate) ? ((double)n * rate + 1.0) * 0x1p-64 : 0.0;
}

/* (5); twice as much covers P' in place of P on the right. */
static pvi_close poisson_close(double rate, int64_t n)
{
    const double rows = (double)n;
    if (!uses_skips(rate)) return (pvi_close) { 0.0, 0.0 };
    return (pvi_close) { (rows + 1.0) * 2.0 * ((rows + 1.0) * 0x1p-115 + 0x1p-85) / rate,
                         (rows * rate + 1.0) * 0x1p-102 };
}

static double all_units(double wanted, double n)
{
    (void)wanted;
    return n;
}

static double whole_number(double wanted, double n)
{
    (void)n;
    return floor(wanted);
}

/* Parts of equal size, or nearly. */
static double equal_parts(double wanted, double n)
{
    return n / fmin(fmax(1.0, rint(n / wanted)), n);
}

static double one_unit(double wanted, double n)
{
    (void)wanted, (void)n;
    return 1.0;
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

const pvi_sampler_ops pvi_full = { .name = "full batch",
                                   .setting = "full",
                                   .event = PV_EV_NONE,
                                   .whole = true,
                                   .consecutive = true,
                                   .groups = 1,
                                   .batch = all_units,
                                   .draw = full };
const pvi_sampler_ops pvi_poisson = {
    .name = "poisson",
    .setting = "poisson",
    .event = PV_EV_POISSON,
    .group_bound = true,
    .groups = 1,
    .caveat = "Batches are drawn by Poisson sampling inside the run and are never revealed.",
    .draw = poisson,
    .tv = poisson_tv,
    .close = poisson_close
};
/* A sample that holds another row instead of the replaced one: both may be of other groups. */
const pvi_sampler_ops pvi_fixed = { .name = "fixed size",
                                    .setting = "fixed",
                                    .event = PV_EV_FIXED,
                                    .groups = 2,
                                    .batch = whole_number,
                                    .draw = fixed_size };
const pvi_sampler_ops pvi_cyclic = { .name = "cyclic",
                                     .setting = "cyclic",
                                     .event = PV_EV_CYCLIC,
                                     .consecutive = true,
                                     .groups = 1,
                                     .batch = equal_parts,
                                     .draw = cyclic };
/* One uniform unit; neighbours are compared with the replaced unit drawn in both. */
const pvi_sampler_ops pvi_one = {
    .name = "fixed size", .setting = "fixed", .event = PV_EV_FIXED, .groups = 1, .batch = one_unit, .draw = fixed_size
};
const pvi_sampler_ops *const pvi_samplers[] = { &pvi_full, &pvi_poisson, &pvi_fixed, &pvi_cyclic, &pvi_one, NULL };

const pvi_sampler_ops *pvi_sampler_chosen(int64_t choice)
{
    const char *word = PVI_SAMPLER_CHOICES;
    for (; choice > 0; choice--) word = strchr(word, '|') + 1;
    const size_t len = strcspn(word, "|");
    for (const pvi_sampler_ops *const *s = pvi_samplers; *s; s++)
        if (strlen((*s)->setting) == len && memcmp((*s)->setting, word, len) == 0) return *s;
    return NULL;
}

int64_t pvi_sampler_choice(const pvi_sampler_ops *s)
{
    int64_t choice = 1;
    while (pvi_sampler_chosen(choice) != s) choice++;
    return choice;
}

const pvi_sampler_ops *pvi_sampler_named(const char *name)
{
    for (const pvi_sampler_ops *const *s = pvi_samplers; *s; s++)
        if (strcmp((*s)->name, name) == 0) return *s;
    return NULL;
}

void pvi_sample(pv_rng *r, const pvi_sampler_ops *s, double rate, int64_t n, int64_t number, int64_t *out,
                int64_t *count)
{
    PVI_REQUIRE(n >= 0 && number >= 0);
    PVI_REQUIRE(s->whole || (rate > 0.0 && rate <= 1.0));
    *count = n > 0 ? s->draw(r, rate, n, number, out) : 0;
}

double pvi_sample_tv(const pvi_sampler_ops *s, double rate, int64_t n)
{
    return s->tv ? s->tv(rate, n) : 0.0;
}

pvi_close pvi_sample_close(const pvi_sampler_ops *s, double rate, int64_t n)
{
    return s->close ? s->close(rate, n) : (pvi_close) { 0.0, 0.0 };
}

const pv_event *pvi_sampler_event(const pvi_sampler_ops *s, double rate, const pv_event *leaf, pv_arena *a)
{
    if (!leaf || s->event == PV_EV_NONE) return leaf;
    return s->event == PV_EV_CYCLIC ? pv_ev_cyclic(a, (int64_t)rint(1.0 / rate), leaf)
                                    : pv_ev_sampled(a, s->event, rate, leaf);
}
