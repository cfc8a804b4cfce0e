/* test_fft.c - the transform against its definition in long double, within the bound that pld_compose.c relies on. */
#include "acct/pld.h"
#include "core/isa.h"
#include "pvtest.h"

#define U 0x1p-53

typedef struct room {
    int64_t n;
    double *in, *x, *z, *w, norm; /* norm: of the input */
} room;

static void open_room(room *r, int64_t n)
{
    r->n = n;
    r->in = malloc((size_t)n * sizeof(double));
    r->x = malloc((size_t)(n + 2) * sizeof(double));
    r->z = malloc((size_t)n * sizeof(double));
    r->w = malloc((size_t)pvi_fft_room(n) * sizeof(double));
    PVT_TRUE(r->in && r->x && r->z && r->w);
    pvi_fft_roots(n, r->w);
}

static void close_room(room *r)
{
    free(r->in);
    free(r->x);
    free(r->z);
    free(r->w);
}

enum { NORMAL, POSITIVE, IMPULSE, WAVE, SHAPES };
static void fill(room *r, int shape)
{
    uint64_t seed = (uint64_t)r->n * 5 + (uint64_t)shape;
    r->norm = 0;
    for (int64_t i = 0; i < r->n; i++) {
        r->in[i] = shape == NORMAL     ? pvt_normal(&seed)
                   : shape == POSITIVE ? pvt_uniform(&seed)
                   : shape == IMPULSE  ? i == r->n / 8 + 1
                                       : cos(2.0 * M_PI * 3.0 * (double)i / (double)r->n);
        r->norm += r->in[i] * r->in[i];
    }
    memcpy(r->x, r->in, (size_t)r->n * sizeof(double));
    pvi_fft_real(r->n, r->w, r->z, r->x);
    r->norm = sqrt(r->norm);
}

/* |computed - defined| of coefficient j; powers of the root are computed afresh every 256. */
static double error_at(const room *r, int64_t j)
{
    const long double circle = 8 * atanl(1.0L) / (long double)r->n;
    const long double sr = cosl(circle * (long double)j), si = -sinl(circle * (long double)j);
    long double c = 1, s = 0, re = 0, im = 0;
    for (int64_t m = 0; m < r->n; m++) {
        if (m % 256 == 0) {
            const long double at = circle * (long double)(j * m % r->n);
            c = cosl(at), s = -sinl(at);
        }
        re += r->in[m] * c, im += r->in[m] * s;
        const long double next = c * sr - s * si;
        s = c * si + s * sr, c = next;
    }
    return (double)hypotl(r->x[2 * j] - re, r->x[2 * j + 1] - im);
}

static double bound(const room *r)
{
    return 8 * U * log2((double)r->n) * sqrt((double)r->n) * r->norm;
}

/* All coefficients; the 2-norm over the whole circle, so all but the first and the last count twice. */
static void every_coefficient(void **state)
{
    (void)state;
    for (int64_t n = 8; n <= 2048; n *= 2)
        for (int shape = 0; shape < SHAPES; shape++) {
            room r;
            double sum = 0;
            open_room(&r, n);
            fill(&r, shape);
            for (int64_t j = 0; j <= n / 2; j++) {
                const double e = error_at(&r, j);
                sum += (j == 0 || 2 * j == n ? 1 : 2) * e * e;
            }
            PVT_CHECK(sqrt(sum) <= bound(&r), "n = %lld, shape %d: off by %g, allowed %g", (long long)n, shape,
                      sqrt(sum), bound(&r));
            close_room(&r);
        }
}

/* Some coefficients of every size up to 2^22. */
static void every_size(void **state)
{
    (void)state;
    for (int64_t n = 4096; n <= 1 << 22; n *= 2) {
        room r;
        uint64_t seed = (uint64_t)n;
        open_room(&r, n);
        fill(&r, n % 3 ? NORMAL : POSITIVE);
        for (int i = 0; i < 6; i++) {
            const int64_t j = i == 0   ? 0
                              : i == 1 ? 1
                              : i == 2 ? n / 2
                              : i == 3 ? n / 4
                                       : (int64_t)(pvt_u64(&seed) % (uint64_t)(n / 2));
            const double e = error_at(&r, j);
            PVT_CHECK(e <= bound(&r), "n = %lld, j = %lld: off by %g, allowed %g", (long long)n, (long long)j, e,
                      bound(&r));
        }
        close_room(&r);
    }
}

/* Nothing is written behind the room that was asked for. */
static void room_is_enough(void **state)
{
    (void)state;
    for (int64_t n = 8; n <= 4096; n *= 2) {
        const int64_t size = pvi_fft_room(n);
        double *w = malloc((size_t)(size + 1) * sizeof *w), *x = calloc((size_t)(n + 3), sizeof *x),
               *z = malloc((size_t)(n + 1) * sizeof *z);
        PVT_TRUE(w && x && z);
        w[size] = x[n + 2] = z[n] = 12345.0;
        pvi_fft_roots(n, w);
        pvi_fft_real(n, w, z, x);
        PVT_TRUE(w[size] == 12345.0 && x[n + 2] == 12345.0 && z[n] == 12345.0);
        free(w);
        free(x);
        free(z);
    }
}

/* A certificate is recomputed elsewhere: every instruction set gives the same bits. */
static void same_bits(void **state)
{
    (void)state;
    for (int64_t n = 8; n <= 1 << 15; n *= 2)
        for (int shape = 0; shape < SHAPES; shape++) {
            room r;
            open_room(&r, n);
            fill(&r, shape);
            double *x = malloc((size_t)(n + 2) * sizeof *x);
            PVT_TRUE(x != NULL);
            for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
                memcpy(x, r.in, (size_t)n * sizeof *x);
                pvi_fft_isa[isa](n, r.w, r.z, x);
                PVT_CHECK(memcmp(x, r.x, (size_t)(n + 2) * sizeof *x) == 0, "n = %lld, shape %d, isa %d",
                          (long long)n, shape, isa);
            }
            free(x);
            close_room(&r);
        }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(every_coefficient),
        cmocka_unit_test(every_size),
        cmocka_unit_test(room_is_enough),
        cmocka_unit_test(same_bits),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
