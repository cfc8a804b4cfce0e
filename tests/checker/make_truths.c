/* make_truths.c - makes truths.txt: random compositions, with the bounds of convolve.c on what they cost.
 *   make_truths [first last] > truths.txt
 * Candidates first .. last - 1 (all when absent) are independent of each other; those whose epsilon is 0, or for
 * which 2^14 lattice points leave it uncertain by more than 3 %, are left out.  One row each:
 *   relation delta eps_lo eps_hi eps delta_lo delta_hi events
 * the true epsilon at delta lies in [eps_lo, eps_hi], the true delta at eps in [delta_lo, delta_hi]. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convolve.h"

enum { CANDIDATES = 360, TERMS = 3, FIRST_K = 2048, LAST_K = 8192 };

static uint64_t next_u64(uint64_t *s) /* splitmix64 */
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Log-uniform; few bits, so that losses can lie on a lattice. */
static double between(uint64_t *s, double least, double most)
{
    int e;
    const double u = (double)(next_u64(s) >> 11) * 0x1p-53, m = frexp(least * pow(most / least, u), &e);
    return ldexp(rint(ldexp(m, 12)), e - 12);
}

static int whole(uint64_t *s, int n)
{
    return (int)(next_u64(s) % (uint64_t)n);
}

static void random_step(uint64_t *s, ck_step *x, bool sampled, ck_kind kind)
{
    *x = (ck_step) { .r = { .kind = kind, .rate = 1.0, .times = 1.0, .rows = 1.0 } };
    x->count = (int64_t)rint(between(s, 1.0, 20000.0));
    if (whole(s, 3)) x->count = (int64_t)exp2(rint(log2((double)x->count))); /* quicker */
    const double n = sqrt((double)x->count), q = sampled ? between(s, 1e-6, 0.9) : 1.0;
    /* noise such that n releases have an effect of 0.05 to 50, or rather more for one in four */
    const double effect = whole(s, 4) ? between(s, 0.05, 50.0) : between(s, 1.0, 1e4);
    switch (kind) {
    case CK_GAUSSIAN:
        x->r.a = sampled ? 1.0 / sqrt(log1p(effect * effect / (n * n * q * q))) : n / effect;
        if (sampled && whole(s, 4) == 0) x->r.a = between(s, 0.02, 300.0);
        break;
    case CK_LAPLACE: x->r.a = exp2(rint(log2(fmin(fmax(n * q / effect, 1e-2), 1e4)))); break; /* 1/a exact */
    case CK_BALL: x->r.a = between(s, 1e-40, 1e-2); break;
    default: x->r.a = fmin(effect / (n * q), 40.0); break;
    }
    if (kind != CK_BALL && kind != CK_LAPLACE) x->r.a = between(s, x->r.a, x->r.a); /* rounded */
    if (kind == CK_EPS_DELTA && whole(s, 3)) x->r.b = between(s, 1e-40, 1e-3);
    if (sampled) x->r.sampler = CK_POISSON, x->r.rate = q;
}

/* Half are Poisson-sampled Gaussians alone; the others anything. */
static int64_t candidate(uint64_t *s, ck_step step[TERMS], bool *replace, double *delta)
{
    int64_t n = 1;
    const int family = whole(s, 10);
    *replace = whole(s, 4) == 0;
    *delta = whole(s, 2) ? between(s, 1e-12, 1e-2) : between(s, 1e-100, 1e-10);
    if (family < 5) {
        random_step(s, &step[0], true, CK_GAUSSIAN);
        if (whole(s, 8) == 0) step[0].r.sampler = CK_FIXED, *replace = true;
    } else {
        n = family < 8 ? 1 : 2 + whole(s, TERMS - 1);
        for (int64_t i = 0; i < n; i++)
            random_step(s, &step[i], whole(s, 3) == 0,
                        n == 1 ? (ck_kind)(1 + whole(s, CK_KINDS - 1)) : (ck_kind)whole(s, CK_KINDS));
    }
    for (int64_t i = 0; i < n; i++) step[i].r.replace = *replace;
    return n;
}

static void print_events(const ck_step *s, int64_t n)
{
    static const char *const name[] = { "gaussian", "laplace", "select", "ball", "eps-delta" };
    static const char *const key[] = { "noise_multiplier", "scale", "epsilon", "delta", "epsilon" };
    printf("{\"kind\":\"sequence\",\"events\":[");
    for (int64_t i = 0; i < n; i++) {
        const ck_release *r = &s[i].r;
        printf("%s{\"kind\":\"repeat\",\"times\":%lld,\"event\":", i ? "," : "", (long long)s[i].count);
        if (r->sampler)
            printf("{\"kind\":\"%s\",\"rate\":%.17g,\"event\":", r->sampler == CK_FIXED ? "fixed" : "poisson",
                   r->rate);
        printf("{\"kind\":\"%s\",\"%s\":%.17g", name[r->kind], key[r->kind], r->a);
        if (r->kind == CK_EPS_DELTA) printf(",\"delta\":%.17g", r->b);
        printf("}%s}", r->sampler ? "}" : "");
    }
    printf("]}\n");
}

/* Of fixed-size samples only an attack is composed: what they cost at most is not known here. */
static bool attack_only(const ck_step *s, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (s[i].r.sampler == CK_FIXED) return true;
    return false;
}

static void row(const ck_step *s, int64_t n, bool replace, double delta, double certain)
{
    ck_truth t;
    double width;
    for (slong K = FIRST_K; K <= LAST_K; K *= 4) {
        ck_truth_of(s, n, delta, K, &t);
        width = t.eps_lo > 0 && isfinite(t.eps_hi) ? t.eps_hi / t.eps_lo - 1.0 : INFINITY;
        if (width < 0.01 || width > 0.2) break; /* good enough; or hopeless */
    }
    if (!(width < certain)) return;
    if (attack_only(s, n)) t.eps_hi = INFINITY, t.delta_hi = 1.0, t.eps = t.eps_lo;
    printf("%s %.17g %.12g %.12g %.17g %.10g %.10g ", replace ? "replace" : "zero-out", delta, t.eps_lo * (1 - 1e-11),
           t.eps_hi * (1 + 1e-11), t.eps, t.delta_lo * (1 - 1e-9), t.delta_hi * (1 + 1e-9));
    print_events(s, n);
    fflush(stdout);
}

/* Losses above ln of the largest double; a composition that adding a row tells more about than removing it. */
static const struct special {
    ck_step step;
    double delta;
} specials[] = {
    { { { CK_GAUSSIAN, 0.02, 0, CK_POISSON, 0.5, 1, 1, false }, 100 }, 1e-5 },
    { { { CK_EPS_DELTA, 2.0, 0, CK_POISSON, 0.3, 1, 1, false }, 4 }, 0.338 },
};
enum { SPECIALS = sizeof specials / sizeof *specials };

int main(int argc, char **argv)
{
    const int first = argc > 2 ? atoi(argv[1]) : -SPECIALS, last = argc > 2 ? atoi(argv[2]) : CANDIDATES;
    for (int i = first; i < last; i++) {
        ck_step step[TERMS];
        bool replace = false;
        double delta;
        uint64_t s = (uint64_t)i * 0xD1B54A32D192ED03u;
        int64_t n = 1;
        if (i >= 0) n = candidate(&s, step, &replace, &delta);
        else step[0] = specials[-1 - i].step, delta = specials[-1 - i].delta;
        row(step, n, replace, delta, i < 0 ? 0.15 : 0.03);
    }
    return 0;
}
