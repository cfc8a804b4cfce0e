/* pld_compose.c - composing masses on a lattice, and delta(eps) of the result, with every error bounded.
 *
 * Step e, repeated n_e times, has masses p_e(k) at losses a_e + k h.  With A = sum n_e a_e and a tilt
 * theta > 0, M_e = sum_k p_e(k) e^{theta k h}, r_e(k) = p_e(k) e^{theta k h}/M_e, and r = the composition of
 * all r_e, the finite part of the composed curve is
 *   (1) delta(eps) = prod M_e^{n_e} sum_{k >= K} r(k) e^{-theta k h} (1 - e^{eps - A - k h}),
 *       K = the first k with A + k h > eps.
 * Tilting moves the bulk of r to eps (theta near the saddle point), so that nothing cancels however
 * small delta is.  r is computed on a circle of N points, y = N h, from its Fourier coefficients
 *   (2) F_j = prod_e f_e(w_j)^{n_e},  f_e(w) = sum_k r_e(k) e^{iwk},  w_j = 2 pi j/N,
 * and the sum over k >= K of (1), extended over all periods of the circle, is geometric: with x0 = A + K h - eps,
 *   (3) delta~(eps) = prod M^n e^{-theta K h}/N sum_j F_j e^{-i w_j K} (b1 + b2 r1 e^{-i w_j})
 *                     / ((1 - r1 e^{-i w_j})(1 - r2 e^{-i w_j})),
 *       b1 = 1 - e^-x0, b2 = e^-x0 - e^-h, r1 = e^{-theta h}, r2 = e^{-(1+theta) h}.
 *
 * Wrapping  a loss L is counted as L + m y for every integer m, with weight e^{-theta m y}, so
 *   (4) delta~(eps) - delta(eps) = sum_{m != 0} e^{-theta m y} E(1 - e^{eps - L - m y})_+ >= 0:
 *   delta~ is an upper bound as it stands; pvi_pld_excess bounds the difference.
 *
 * High frequencies  For 0 < w m <= pi, 1 - cos x >= 2 x^2/pi^2 on |x| <= pi gives
 *   (5) |f(w)|^2 <= 1 - (2 w^2/pi^2) D,  D = sum over pairs |i-k| <= m of r(i) r(k) (i-k)^2.
 *   D is bounded below by the pairs within blocks that span m = 2^l, twice weight times second moment
 *   of each block.  Each octave pi/2^{l+1} < w <= pi/2^l uses its own l, so all frequencies are
 *   covered by a few passes over the masses.  After many steps a few dozen frequencies are left
 *   whatever N is: they are summed directly.  Otherwise one FFT per term gives all of them.
 *
 * Rounding  u = 2^-53.  r_e(k) is off by (8 + 4 theta |k| h) u relative, its sum by (len/8 + 8) u; a power
 *   e^{i w_j k} by 12 u per factor since it was last computed afresh; an FFT by 8 u log2 N in the 2-norm
 *   (fft.c (4)), so by that times sqrt(N) |r|_2 for
 *   each coefficient.  With E the sum, |F_j| is off by at most |F_j| (exp(sum n_e (ln(1 + E_e/|f_e|) + 4 u)) - 1).
 *   The powers in (3) are off by 400 u, the exponent of the factor before the sum by 16 u times the sizes of
 *   its parts.  eps itself is moved by its own rounding, to the safe side. */
#include "pld.h"

#define U  PVI_PLD_U
#define PI 3.14159265358979323846

#define TINY 0x1p-100
enum { LANES = 8, FRESH = 64 };

/* ---- one term's coefficients ------------------------------------------------------------------------------ */

struct pvi_pld_law {
    double h, theta, A, absA, lnM, slack; /* slack: of the exponent of prod M^n                         */
    double inf;                           /* probability that some loss is infinite                   */
    int64_t N, freq;                      /* points on the circle; frequencies 0 .. freq-1 are kept      */
    int64_t center;                       /* sum n_e c_e: r_e is indexed by k - c_e                     */
    double *Fr, *Fi;                      /* F_j, then F_j/((1 - r1 e)(1 - r2 e))                          */
    double *dF, *dead;                    /* relative error of F_j in logs; or a bound on |F_j| if it is 0  */
    double *zr, *zi;                      /* r1 e^{-i w_j}                                               */
    double err, high;                     /* sum of errors/|...|; bound on the sum of |F_j| left out        */
    const pvi_pld_mass *single;           /* one step in all: its masses; else NULL                       */
};

typedef struct term {
    int64_t used, len, count, center; /* len: used, padded with zeros to LANES                        */
    int64_t *k;                       /* k - center                                                  */
    double *r, *zr, *zi, *cr, *ci;    /* r(k); e^{i w_1 k}; r(k) e^{i w_j k}                             */
    double lnM, err;                  /* err: of sums of r                                            */
} term;

static pv_status term_open(pv_arena *a, const pvi_pld_mass *m, double h, double theta, term *t)
{
    const int64_t pad = (m->len + LANES - 1) / LANES * LANES;
    double mean, var, err = 0;
    *t = (term) { .count = m->count };
    t->k = pv_arena_get(a, (size_t)pad * sizeof *t->k);
    double *mem = pv_arena_f64(a, 5 * pad);
    if (!t->k || !mem) return PV_E_NOMEM;
    t->r = mem, t->zr = mem + pad, t->zi = mem + 2 * pad, t->cr = mem + 3 * pad, t->ci = mem + 4 * pad;
    t->lnM = pvi_pld_log_moment(m, h, theta, &mean, &var);
    t->center = (int64_t)floor(mean / h + 0.5);
    for (int64_t i = 0; i < m->len; i++) {
        const double x = theta * h * (double)m->k[i], r = m->p[i] * exp(x - t->lnM);
        if (r < TINY) continue; /* together less than u; they would only slow the sums down */
        t->k[t->used] = m->k[i] - t->center;
        t->r[t->used++] = r;
        err += r * (8 + 4 * (fabs(x) + fabs(t->lnM)));
    }
    t->len = (t->used + LANES - 1) / LANES * LANES;
    t->err = (err + (double)t->len / LANES + 9) * U;
    return PV_OK;
}

static void phase(uint64_t j, int64_t k, int64_t N, double *c, double *s)
{
    const uint64_t m = (j * (uint64_t)k) & (uint64_t)(N - 1); /* N is a power of two */
    const double x = (double)(m > (uint64_t)N / 2 ? (int64_t)m - N : (int64_t)m) / (double)N;
    *c = cos(2.0 * PI * x);
    *s = sin(2.0 * PI * x);
}

static void refresh(term *t, uint64_t j, int64_t N)
{
    for (int64_t i = 0; i < t->len; i++) {
        double c, s;
        phase(j, t->k[i], N, &c, &s);
        t->cr[i] = t->r[i] * c;
        t->ci[i] = t->r[i] * s;
    }
}

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* c_k *= z_k, summed lane by lane: the same roundings on every processor. */
static void next_frequency(term *t, double *re, double *im)
{
    lanes *cr = (lanes *)t->cr, *ci = (lanes *)t->ci;
    const lanes *zr = (const lanes *)t->zr, *zi = (const lanes *)t->zi;
    lanes ar = { 0 }, ai = { 0 };
    for (int64_t i = 0; i < t->len / LANES; i++) {
        const lanes x = cr[i] * zr[i] - ci[i] * zi[i], y = cr[i] * zi[i] + ci[i] * zr[i];
        cr[i] = x;
        ci[i] = y;
        ar += x;
        ai += y;
    }
    *re = *im = 0;
    for (int l = 0; l < LANES; l++) *re += ar[l], *im += ai[l];
}

static void square(double *re, double *im)
{
    const double x = (*re - *im) * (*re + *im);
    *im = 2.0 * *re * *im;
    *re = x;
}

static void times(double *re, double *im, double fr, double fi)
{
    const double x = *re * fr - *im * fi;
    *im = *re * fi + *im * fr;
    *re = x;
}

/* Multiplies F_j by f^n, f = (re, im) off by err.  Where f^n < e^-100, or only a bound on it is known, F_j becomes
 * 0 and the bound is kept.  `floor` = e^{-100/n}. */
static void multiply(pvi_pld_law *s, int64_t j, double re, double im, double err, int64_t count, double floor)
{
    const double size = sqrt(re * re + im * im) * (1.0 + 4 * U), n = (double)count;
    if (s->dead[j] > 0) {
        s->dead[j] *= exp(n * err); /* |f| <= 1 + err */
    } else if (size + err < floor || size <= 2 * err) {
        const double bound = size + err < floor ? 4e-44 : pow(size + err, n) * (1.0 + 1e-9);
        s->dead[j] = bound * exp(s->dF[j]) + 0x1p-1000;
        s->Fr[j] = s->Fi[j] = 0.0;
    } else {
        s->dF[j] += n * (err / (size - err) + 6 * U); /* ln(1 + x) <= x */
        for (int64_t m = count;; square(&re, &im)) {
            if (m & 1) times(&s->Fr[j], &s->Fi[j], re, im);
            if ((m >>= 1) == 0) break;
        }
    }
}

static void sum_direct(pvi_pld_law *s, term *t)
{
    const double least = exp(-100.0 / (double)t->count);
    for (int64_t i = 0; i < t->len; i++) phase(1, t->k[i], s->N, &t->zr[i], &t->zi[i]);
    for (int64_t j = 0; j < s->freq; j++) {
        double re, im;
        if (j % FRESH == 0) refresh(t, (uint64_t)j - 1, s->N); /* one back, as next_frequency() goes one forward */
        next_frequency(t, &re, &im);
        multiply(s, j, re, im, t->err + 12 * U * (double)(j % FRESH + 2), t->count, least);
    }
}

/* x: room for the transform, then its roots. */
static void sum_fft(pvi_pld_law *s, const term *t, double *x)
{
    const double least = exp(-100.0 / (double)t->count), N = (double)s->N;
    double norm2 = 0;
    memset(x, 0, (size_t)s->N * sizeof *x);
    for (int64_t i = 0; i < t->used; i++) x[(uint64_t)t->k[i] & (uint64_t)(s->N - 1)] += t->r[i];
    for (int64_t i = 0; i < s->N; i++) norm2 += x[i] * x[i];
    pvi_fft_real(s->N, x + s->N + 2, s->zr, x); /* zr and zi, in a row, are filled later */
    const double err = t->err + 8 * U * log2(N) * sqrt(N * norm2) * (1.0 + 1e-6);
    for (int64_t j = 0; j < s->freq; j++) multiply(s, j, x[2 * j], -x[2 * j + 1], err, t->count, least);
}

/* ---- how many frequencies ----------------------------------------------------------------------------- */

/* (5): sum over terms of n_e D_e for blocks of 2^l points. */
static double spread(const term *t, int64_t terms, int l)
{
    const int64_t reach = (int64_t)1 << l;
    double sum = 0;
    for (int64_t e = 0; e < terms; e++) {
        double D = 0;
        for (int64_t i = 0; i < t[e].used;) {
            const int64_t first = t[e].k[i];
            double w = 0, m1 = 0, m2 = 0;
            for (; i < t[e].used && t[e].k[i] - first <= reach; i++) {
                const double d = (double)(t[e].k[i] - first), r = t[e].r[i];
                w += r;
                m1 += r * d;
                m2 += r * d * d;
            }
            const double x = w * m2 - m1 * m1 - 1e-12 * w * m2;
            if (x > 0) D += x;
        }
        sum += (double)t[e].count * 2.0 * D * (1.0 - 1e-6);
    }
    return sum;
}

/* Frequencies needed so that the others add at most `budget` to sum |F_j|; *high is their bound. */
static int64_t frequencies(const term *t, int64_t terms, int64_t N, double budget, double *high)
{
    const double step = 2.0 * PI / (double)N;
    *high = 0;
    for (int l = 0;; l++) {
        const double top = PI / ldexp(1.0, l), bottom = 0.5 * top, width = 0.5 * top / step;
        if (width < 1.0) return 2;                        /* only w = 0 and the first are left */
        const double X = spread(t, terms, l) / (PI * PI); /* |F| <= exp(-w^2 X) */
        const double all = (width + 1.0) * exp(-bottom * bottom * X);
        if (*high + all <= budget) {
            *high += all;
            continue;
        }
        const double room = 0.5 * (budget - *high);
        double w = X > 0 ? sqrt(log(width / room + 1.0) / X) : top;
        if (!(w <= top)) w = top; /* NaN: all */
        *high += (top - w) / step * exp(-w * w * X) + (w < top ? exp(-w * w * X) : 0.0);
        const int64_t j = (int64_t)ceil(w / step) + 1;
        return j < N / 2 + 1 ? j : N / 2 + 1;
    }
}

/* ---- putting it together --------------------------------------------------------------------------------- */

/* F_j -> F_j/((1 - r1 e^{-iw})(1 - r2 e^{-iw})), and the sums of the error bounds. */
static void divide(pvi_pld_law *s)
{
    const double c1 = -expm1(-s->theta * s->h), r1 = exp(-s->theta * s->h);
    const double c2 = -expm1(-(1.0 + s->theta) * s->h), r2 = exp(-(1.0 + s->theta) * s->h);
    for (int64_t j = 0; j < s->freq; j++) {
        if (s->dead[j] > 0) { /* |1 - r e| >= 1 - r */
            s->high += s->dead[j];
            continue;
        }
        const double w = 2.0 * PI * (double)j / (double)s->N, half = sin(0.5 * w);
        const double cx = 2.0 * half * half, sx = sin(w); /* 1 - e^{-iw} = cx + i sx */
        const double ar = c1 + r1 * cx, ai = r1 * sx, br = c2 + r2 * cx, bi = r2 * sx;
        const double dr = ar * br - ai * bi, di = ar * bi + ai * br, d2 = dr * dr + di * di;
        const double mult = j == 0 || 2 * j == s->N ? 1.0 : 2.0, fr = s->Fr[j] * mult, fi = s->Fi[j] * mult;
        s->err += sqrt((fr * fr + fi * fi) / d2) * expm1(s->dF[j] + (512 + (double)s->freq) * U);
        s->Fr[j] = (fr * dr + fi * di) / d2;
        s->Fi[j] = (fi * dr - fr * di) / d2;
        s->zr[j] = r1 * (1.0 - cx);
        s->zi[j] = -r1 * sx;
    }
    s->err = (s->err + 2.0 * s->high / (c1 * c2)) * (1.0 + 1e-6);
    while (s->freq > 2 && s->dead[s->freq - 1] > 0) s->freq--; /* evaluations become cheaper */
}

static pv_status law_open(pv_arena *a, const pvi_pld_mass *m, int64_t terms, term *t, pvi_pld_law *s)
{
    double never = 0, center = 0;
    for (int64_t e = 0; e < terms; e++) {
        const pv_status ok = term_open(a, &m[e], s->h, s->theta, &t[e]);
        if (ok != PV_OK) return ok;
        const double n = (double)m[e].count;
        s->A += n * m[e].offset;
        s->absA += n * fabs(m[e].offset);
        center += n * (double)t[e].center;
        if (!(fabs(center) < 0x1p52)) return PV_E_NUMERIC;
        s->center += m[e].count * t[e].center;
        s->lnM += n * t[e].lnM;
        s->slack += 16 * U * n * (fabs(t[e].lnM) + 1.0);
        never += n * log1p(-m[e].inf);
    }
    s->inf = -expm1(never);
    return PV_OK;
}

/* Frequencies to keep, and whether to get them by FFT; PV_E_NUMERIC: too much work. */
static pv_status choose_method(const term *t, int64_t terms, double scale, double *work, pvi_pld_law *s, bool *fft)
{
    /* what is left out may add 1e-6 of `scale` to (3): 2 (b1 + b2) high/((1 - r1)(1 - r2) N) */
    const double N = (double)s->N, d0 = expm1(-s->theta * s->h) * expm1(-(1.0 + s->theta) * s->h) / -expm1(-s->h);
    double len = 0, grow = 0;
    for (int64_t e = 0; e < terms; e++) {
        len += (double)t[e].len;
        grow += 2.0 * (double)t[e].count * t[e].err; /* sum r <= 1 + err */
    }
    scale = scale > 0 ? pvi_pld_min(scale, 1.0) : 0.0;
    s->freq = frequencies(t, terms, s->N, 0.5e-6 * scale * N * d0, &s->high);
    s->high *= exp(grow);
    const double direct = 3.0 * len * (double)s->freq + 80.0 * (double)s->freq;
    const double whole = 2.0 * (double)terms * N * (10.0 + log2(N)) + 40.0 * N;
    *fft = direct > whole;
    if (*fft) s->freq = s->N / 2 + 1, s->high = 0;
    if (!(*work + (*fft ? whole : direct) <= PVI_PLD_WORK)) return PV_E_NUMERIC;
    *work += *fft ? whole : direct;
    return PV_OK;
}

pv_status pvi_pld_compose(pv_arena *a, const pvi_pld_mass *m, int64_t terms, double h, double theta, int64_t N,
                          double scale, double *work, pvi_pld_law **out)
{
    bool fft;
    pvi_pld_law *s = *out = pv_arena_get(a, sizeof *s + (size_t)terms * sizeof(term));
    if (!s) return PV_E_NOMEM;
    term *t = (term *)(s + 1);
    *s = (pvi_pld_law) { .h = h, .theta = theta, .N = N };
    if (!(theta > 0.0)) return PV_E_NUMERIC; /* the sum of (3) would not converge */
    if (terms == 1 && m->count == 1) return s->single = m, s->inf = m->inf, PV_OK;
    pv_status ok = law_open(a, m, terms, t, s);
    if (ok == PV_OK) ok = choose_method(t, terms, scale, work, s, &fft);
    if (ok != PV_OK) return ok;
    double *mem = pv_arena_f64(a, 6 * s->freq), *x = pv_arena_f64(a, fft ? N + 2 + pvi_fft_room(N) : 0);
    if (!mem || !x) return PV_E_NOMEM;
    s->Fr = mem, s->Fi = mem + s->freq, s->dF = mem + 2 * s->freq;
    s->dead = mem + 3 * s->freq, s->zr = mem + 4 * s->freq, s->zi = mem + 5 * s->freq;
    for (int64_t j = 0; j < s->freq; j++) s->Fr[j] = 1.0;
    if (fft) pvi_fft_roots(N, x + N + 2);
    for (int64_t e = 0; e < terms; e++) {
        if (fft) sum_fft(s, &t[e], x);
        else sum_direct(s, &t[e]);
    }
    divide(s);
    return PV_OK;
}

/* ---- (3) ---------------------------------------------------------------------------------------------------- */

/* The sum over j of (3), before the factor, for the lattice point K. */
static double series(const pvi_pld_law *s, int64_t K, double b1, double b2)
{
    const int64_t turnby = -(K - s->center);
    double stepr, stepi, c = 1, d = 0, sum = 0;
    phase(1, turnby, s->N, &stepr, &stepi);
    for (int64_t j = 0; j < s->freq; j++) {
        if (j % FRESH == 0) phase((uint64_t)j, turnby, s->N, &c, &d);
        const double wr = b1 + b2 * s->zr[j], wi = b2 * s->zi[j];
        const double gr = s->Fr[j] * wr - s->Fi[j] * wi, gi = s->Fr[j] * wi + s->Fi[j] * wr;
        sum += gr * c - gi * d;
        const double x = c * stepr - d * stepi;
        d = c * stepi + d * stepr;
        c = x;
    }
    return sum;
}

/* One step: (1) itself, a sum of positive terms. */
static double single(const pvi_pld_law *s, double eps, int sign)
{
    const pvi_pld_mass *m = s->single;
    double sum = 0;
    for (int64_t i = m->len; i-- > 0;) {
        const double x = m->offset + (double)m->k[i] * s->h;
        const double d = x - eps + sign * 8 * U * (fabs(m->offset) + fabs(x) + fabs(eps));
        if (!(d > 0)) break;
        sum += m->p[i] * -expm1(-d);
    }
    return sum * (1.0 + sign * 4 * U * (double)(m->len + 8));
}

/* sign +1: upper bound, -1: lower bound of (3), finite part. */
static double bound(const pvi_pld_law *s, double eps, int sign)
{
    if (s->single) return single(s, eps, sign);
    const double move = 32 * U * (s->absA + fabs(eps) + s->h);
    const double at = (eps - sign * move - s->A) / s->h, K = floor(at) + 1.0;
    const double x0 = pvi_pld_min((K - at) * s->h, s->h);
    if (eps == INFINITY) return 0.0; /* no finite loss is larger */
    if (!(fabs(K) < 0x1p52)) return sign > 0 ? 1.0 : 0.0;
    const double b1 = -expm1(-x0), b2 = exp(-s->h) * expm1(s->h - x0);
    const double sum = (series(s, (int64_t)K, b1, b2) + sign * (b1 + b2) * s->err) / (double)s->N;
    const double slack = s->slack + 16 * U * (s->theta * fabs(K) * s->h + 4.0);
    const double d = sum * exp(s->lnM - s->theta * K * s->h + sign * slack);
    return sign > 0 ? d : d > 0 ? d : 0.0; /* NaN stays in an upper bound */
}

double pvi_pld_delta_ub(const pvi_pld_law *s, double eps)
{
    const double d = (bound(s, eps, 1) + s->inf) * (1.0 + 64 * U);
    return d < 1.0 ? d : 1.0;
}

double pvi_pld_delta_lb(const pvi_pld_law *s, double eps, double excess)
{
    if (s->single) excess = 0;
    const double d = (bound(s, eps, -1) - excess + s->inf) * (1.0 - 64 * U);
    return d > 0.0 ? d : 0.0;
}
