/* fft.c - real discrete Fourier transform of N = 2^k numbers, X_j = sum_m x_m e^{-2 pi i j m/N}, j = 0 .. N/2.
 *
 *   (1) z_m = x_2m + i x_{2m+1}, m < M = N/2, and Z its complex transform
 *   (2) Z_j by four transforms of n/4 points, z_{4m+q} -> T_q, and with w = e^{-2 pi i/n}, t_q = w^{jq} T_q(j),
 *       Z_{j + l n/4} = t_0 + (-i)^l t_1 + (-1)^l t_2 + i^l t_3;  eight points by two transforms of four
 *   (3) E_j = (Z_j + conj Z_{M-j})/2, O_j = (Z_j - conj Z_{M-j})/2i, t = e^{-2 pi i j/N} O_j:
 *       X_j = E_j + t, X_{M-j} = conj(E_j - t)
 *
 * Error, u = 2^-53, in the 2-norm and relative to it, to first order in u (which a factor 2 more than covers).  A
 * root is off by 3 u: its angle, at most pi/4, by 2 roundings, its sine and cosine by one unit in the last place
 * each.  A complex product is off by 5^(1/2) u (Brent, Percival, Zimmermann 2007), a sum by u.  All steps of (2) are
 * orthogonal up to a factor, so their errors add up: 5^(1/2) + 3 + 2 < 7.25 for each factor 4, 6.25 for a factor 2,
 * and 1 + 5^(1/2) + 3 + 1 < 7.25 for (3).  Together
 *   (4) |computed - true|_2 <= (3.625 log2 N + 7) u |X|_2 < 8 u log2 N |X|_2, N >= 8, where |X|_2 = N^(1/2) |x|_2.
 *
 * No state is kept and nothing is allocated: the caller brings the memory, and threads and forks may do as they like.
 * The arithmetic is in fft.kernel.c: the same operations in the same order for every instruction set, so that the
 * numbers are the same bits. */
#include "core/isa.h"
#include "pld.h"

#define PI 3.14159265358979323846

pvi_fft_fn PVI_DECLARE_NARROW(pvi_fft);
pvi_fft_fn *const pvi_fft_isa[] = PVI_EACH_NARROW(pvi_fft);

void pvi_fft_real(int64_t N, const double *w, double *z, double *x)
{
    pvi_fft_isa[pvi_isa()](N, w, z, x);
}

int64_t pvi_fft_room(int64_t n)
{
    return n + n / 4 + 2;
}

/* e^{-2 pi i k/n}, 0 <= k < n, from the first eighth of the circle at w. */
static void root(int64_t n, const double *w, int64_t k, double *re, double *im)
{
    const int64_t quarter = k / (n / 4), in = k % (n / 4);
    const bool far = in > n / 8;
    const double *at = w + 2 * (far ? n / 4 - in : in);
    const double c = at[far], s = at[!far];
    *re = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
    *im = quarter == 0 ? -s : quarter == 1 ? -c : quarter == 2 ? s : c;
}

/* First the cosines and sines of the first eighth of the circle, then for n = N/2, N/8, ... the powers of (2). */
void pvi_fft_roots(int64_t N, double *w)
{
    double *to = w + N / 4 + 2;
    for (int64_t k = 0; k <= N / 8; k++) {
        const double x = 2.0 * PI * ((double)k / (double)N);
        w[2 * k] = cos(x);
        w[2 * k + 1] = sin(x);
    }
    for (int64_t n = N / 2; n > 8; n /= 4)
        for (int64_t j = 0; j < n / 4; j += 4)
            for (int q = 1; q < 4; q++, to += 8)
                for (int l = 0; l < 4; l++) root(N, w, (j + l) * q * (N / n), &to[l], &to[4 + l]);
}
