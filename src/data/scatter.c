/* scatter.c - scattering transform of an image: filters, tables and rows; the loops are in scatter.kernel.c.
 *
 * For every channel u of an image, with wavelets psi_{j,l} at scale 2^j and angle l, and a low pass phi at 2^J,
 *   (1) S_0 = u * phi,   S_1[j,l] = |u * psi_{j,l}| * phi,   S_2[j,l,j',l'] = ||u * psi_{j,l}| * psi_{j',l'}| * phi,
 *       j < j',
 * each kept at every 2^J-th point: 1 + J L + L^2 J (J-1) / 2 planes.  28 x 28 with J = 2, L = 8: 81 planes of 7 x 7.
 *   (2) gabor(x; s, t, xi, a) = a/(2 pi s^2) exp(-|D_a R_t x|^2 / (2 s^2) + i xi (x_1 cos t + x_2 sin t)),
 *       D_a = diag(1, a)
 *   (3) psi_{j,l} = gabor(s_j, t_l, xi_j, 4/L) - K gabor(s_j, t_l, 0, 4/L), K such that the sum over all x is 0,
 *       s_j = 0.8 2^j, xi_j = (3 pi / 4) / 2^j, t_l = (k - l) pi / L with k = L/2 - 1 rounded towards 0
 *   (4) phi = gabor(0.8 2^(J-1), 0, 0, 1)
 * x_1 runs down, x_2 across.  The image is mirrored to a multiple of 2^J, at least 2^J more than its side, and
 * convolutions are periodic on that; the outermost kept points are dropped.  Filters for an already subsampled image
 * are the frequencies below its limit.  These are the choices of the Kymatio library, so results compare with the
 * literature.
 *   (5) group norm: channels in G runs of equal number, v <- (v - mean) / sqrt(var + 10^-5) within each run of a row.
 *
 * Privacy    a row's features are a function of that row, of settings and of nothing else: neighbouring tables
 *            still differ in one row.  Row norms are bounded afterwards (row_norm.c), so a row's influence is too.
 * Reference  Bruna, Mallat 2013; Oyallon, Mallat 2015; with private linear models: Tramer, Boneh, ICLR 2021. */
#include "scatter.h"
#include "reader.h"

#include <complex.h>

enum { LANES = PVI_SCATTER_LANES, PERIODS = 2 };
#define PI 3.14159265358979323846

struct pvi_scatter {
    pv_ctx *ctx;
    pv_arena *arena; /* owned */
    pvi_bank bank;
    int64_t channels, groups;
    pvi_scatter_fn *fn;
};

/* ---- Fourier transforms of small sizes ---------------------------------------------------------------------- */

static pv_status plan_dft(pv_arena *a, int n, pvi_dft *t)
{
    float *root = pv_arena_get(a, sizeof *root * 2 * (size_t)n);
    if (!root) return PV_E_NOMEM;
    *t = (pvi_dft) { .n = n, .root = root };
    for (int k = 0; k < n; k++) {
        root[2 * k] = (float)cos(2 * PI * k / n);
        root[2 * k + 1] = (float)-sin(2 * PI * k / n);
    }
    for (int rest = n, l = 1, r; rest > 1; rest /= r, l *= r) {
        for (r = rest % 4 == 0 ? 4 : 2; rest % r; r++) {
        }
        float *w = pv_arena_get(a, sizeof *w * 2 * (size_t)(l * r));
        if (!w) return PV_E_NOMEM;
        for (int j = 0; j < l; j++)
            for (int p = 0; p < r; p++) {
                w[2 * (j * r + p)] = (float)cos(2 * PI * p * j / (l * r));
                w[2 * (j * r + p) + 1] = (float)-sin(2 * PI * p * j / (l * r));
            }
        t->twiddle[t->stages] = w;
        t->radix[t->stages++] = r;
    }
    return PV_OK;
}

/* ---- filters, in double ------------------------------------------------------------------------------------- */

typedef struct filter {
    int rows, columns;
    double complex *space, *half; /* the periodic filter, and its transform along rows */
    double *freq;
} filter;

/* (2), one point; cut: 0 or 1 times the frequency. */
static double complex gabor(double x, double y, double s, double t, double xi, double a)
{
    const double along = x * cos(t) + y * sin(t), beside = a * (y * cos(t) - x * sin(t));
    return a / (2 * PI * s * s) * exp(-(along * along + beside * beside) / (2 * s * s)) * cexp(I * xi * along);
}

/* (3), made periodic. */
static void fill_morlet(filter *f, double s, double t, double xi, double a)
{
    double complex sum = 0, envelope_sum = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < f->rows; y++)
            for (int x = 0; x < f->columns; x++) {
                double complex wave = 0, envelope = 0;
                for (int v = -PERIODS; v <= PERIODS; v++)
                    for (int h = -PERIODS; h <= PERIODS; h++) {
                        const double down = y + v * f->rows, across = x + h * f->columns;
                        wave += gabor(down, across, s, t, xi, a);
                        envelope += gabor(down, across, s, t, 0, a);
                    }
                if (pass == 0) {
                    sum += wave;
                    envelope_sum += envelope;
                } else {
                    f->space[y * f->columns + x] = wave - sum / envelope_sum * envelope;
                }
            }
}

/* Real part of the transform; the filters are Hermitian, so the rest is rounding. */
static void transform(filter *f)
{
    for (int y = 0; y < f->rows; y++)
        for (int k = 0; k < f->columns; k++) {
            double complex sum = 0;
            for (int x = 0; x < f->columns; x++)
                sum += f->space[y * f->columns + x] * cexp(-2 * PI * I * ((k * x) % f->columns) / f->columns);
            f->half[y * f->columns + k] = sum;
        }
    for (int q = 0; q < f->rows; q++)
        for (int k = 0; k < f->columns; k++) {
            double complex sum = 0;
            for (int y = 0; y < f->rows; y++)
                sum += f->half[y * f->columns + k] * cexp(-2 * PI * I * ((q * y) % f->rows) / f->rows);
            f->freq[q * f->columns + k] = creal(sum);
        }
}

/* Frequency q of n/2^res as a frequency of n: the lower half from the front, the rest from the back. */
static int unfold(int q, int n, int res)
{
    return q < n >> (res + 1) ? q : q + n - (n >> res);
}

static const float *level(pv_arena *a, const filter *f, int res)
{
    const int rows = f->rows >> res, columns = f->columns >> res;
    float *out = pv_arena_get(a, sizeof *out * (size_t)(rows * columns));
    for (int q = 0; out && q < rows; q++)
        for (int k = 0; k < columns; k++)
            out[q * columns + k] =
                (float)(f->freq[unfold(q, f->rows, res) * f->columns + unfold(k, f->columns, res)] /
                        ((double)rows * columns));
    return out;
}

static pv_status fill_wavelets(pvi_scatter *s, filter *f)
{
    pvi_bank *b = &s->bank;
    const int L = b->angles;
    const float **psi[PVI_SCATTER_SCALES];
    for (int r = 0; r < b->scales; r++) {
        psi[r] = pv_arena_get(s->arena, sizeof *psi[r] * (size_t)(b->scales * L));
        if (!psi[r]) return PV_E_NOMEM;
        b->psi[r] = psi[r];
    }
    for (int j = 0; j < b->scales; j++)
        for (int l = 0; l < L; l++) {
            fill_morlet(f, 0.8 * (1 << j), ((int)(L - L / 2.0 - 1) - l) * PI / L, 0.75 * PI / (1 << j), 4.0 / L);
            transform(f);
            for (int r = 0; r == 0 || r < j; r++)
                if (!(psi[r][j * L + l] = level(s->arena, f, r))) return PV_E_NOMEM;
        }
    return PV_OK;
}

/* ---- the low pass, one side at a time ------------------------------------------------------------------------- */

/* Periodic Gaussian of n points as its low n/2^res frequencies, back in space: h[x], x < n/2^res. */
static void gaussian(int n, int res, double s, double *h)
{
    const int m = n >> res;
    for (int x = 0; x < m; x++) h[x] = 0;
    for (int q = 0; q < m; q++) {
        double f = 0;
        for (int x = -PERIODS * n; x < (PERIODS + 1) * n; x++)
            f += exp(-x * (double)x / (2 * s * s)) / sqrt(2 * PI) / s *
                 cos(2 * PI * unfold(q, n, res) * (double)x / n);
        for (int x = 0; x < m; x++) h[x] += f * cos(2 * PI * ((q * x) % m) / m) / m;
    }
}

/* Output o is point (o + 1) 2^(J - res): the first and the last are dropped.  Weights below 1e-9 of the largest
 * change no float and are left out. */
static pv_status plan_lowpass(pv_arena *a, int n, int res, int scales, pvi_lowpass *out)
{
    const int m = n >> res, step = 1 << (scales - res), kept = m / step - 2;
    double h[PVI_SCATTER_SIDE];
    gaussian(n, res, 0.8 * (1 << (scales - 1)), h);
    int taps = 0;
    for (int x = 0; x < m; x++) taps += fabs(h[x]) > 1e-9 * h[0];
    const int even = taps + taps % 2;
    int *at = pv_arena_get(a, sizeof *at * (size_t)(kept * even));
    float *weight = pv_arena_get(a, sizeof *weight * (size_t)(kept * even));
    if (!at || !weight) return PV_E_NOMEM;
    for (int o = 0; o < kept; o++)
        for (int x = 0, k = o * even; x < m; x++) {
            const double v = h[(((o + 1) * step - x) % m + m) % m];
            if (!(fabs(v) > 1e-9 * h[0])) continue;
            at[k] = x;
            weight[k++] = (float)v;
        }
    *out = (pvi_lowpass) { kept, even, at, weight };
    return PV_OK;
}

/* ---- the bank -------------------------------------------------------------------------------------------------- */

static int padded(int64_t n, int scales)
{
    const int64_t unit = (int64_t)1 << scales;
    return (int)(((n + unit) / unit + 1) * unit);
}

static pv_status check_size(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_shape in)
{
    const int J = (int)cfg->scatter_scales, unit = 1 << J;
    if (!in.height)
        return pvi_fail(ctx, PV_E_PARAM,
                        "data.transform=scatter needs images: data.image=HEIGHTxWIDTHxCHANNELS says how "
                        "the columns form one");
    if (in.height <= 2 * unit || in.width <= 2 * unit || in.height > PVI_SCATTER_SIDE - 3 * unit ||
        in.width > PVI_SCATTER_SIDE - 3 * unit)
        return pvi_fail(
            ctx, PV_E_PARAM,
            "data.transform=scatter: images of %lldx%lld; with data.scatter_scales=%d sides of %d to %d work",
            (long long)in.height, (long long)in.width, J, 2 * unit + 1, PVI_SCATTER_SIDE - 3 * unit);
    return PV_OK;
}

static void set_sizes(pvi_bank *b, const pvi_data_cfg *cfg, pvi_shape in)
{
    const int J = (int)cfg->scatter_scales, L = (int)cfg->scatter_angles;
    *b = (pvi_bank) { .height = (int)in.height, .width = (int)in.width, .scales = J, .angles = L };
    b->paths = 1 + J * L + L * L * J * (J - 1) / 2;
    for (int r = 0; r < J; r++) {
        b->rows[r] = padded(in.height, J) >> r;
        b->columns[r] = padded(in.width, J) >> r;
    }
    b->top = (b->rows[0] - b->height) / 2;
    b->left = (b->columns[0] - b->width) / 2;
    b->out_rows = (b->rows[0] >> J) - 2;
    b->out_columns = (b->columns[0] >> J) - 2;
}

pv_status pvi_scatter_shape(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_shape in, pvi_shape *out)
{
    pvi_bank b;
    const pv_status s = check_size(ctx, cfg, in);
    if (s != PV_OK) return s;
    set_sizes(&b, cfg, in);
    *out = (pvi_shape) { b.out_rows, b.out_columns, b.paths * in.channels };
    if (out->height * out->width * out->channels > INT32_MAX)
        return pvi_fail(ctx, PV_E_PARAM, "data.transform=scatter: more than 2^31 features");
    return PV_OK;
}

static pv_status fill_bank(pvi_scatter *s)
{
    pvi_bank *b = &s->bank;
    const size_t n = (size_t)b->rows[0] * (size_t)b->columns[0];
    filter f = { b->rows[0], b->columns[0], pvi_alloc(s->ctx, n * sizeof *f.space),
                 pvi_alloc(s->ctx, n * sizeof *f.half), pvi_alloc(s->ctx, n * sizeof *f.freq) };
    pv_status st = f.space && f.half && f.freq ? fill_wavelets(s, &f) : PV_E_NOMEM;
    for (int r = 0; r < b->scales && st == PV_OK; r++) {
        st = plan_dft(s->arena, b->rows[r], &b->dft_rows[r]);
        if (st == PV_OK) st = plan_dft(s->arena, b->columns[r], &b->dft_columns[r]);
        if (st == PV_OK) st = plan_lowpass(s->arena, b->rows[0], r, b->scales, &b->low_rows[r]);
        if (st == PV_OK) st = plan_lowpass(s->arena, b->columns[0], r, b->scales, &b->low_columns[r]);
    }
    pvi_free(s->ctx, f.space);
    pvi_free(s->ctx, f.half);
    pvi_free(s->ctx, f.freq);
    return st == PV_OK ? st : pvi_nomem(s->ctx);
}

pvi_scatter_fn PVI_DECLARE_ISA(pvi_scatter);
pvi_scatter_fn *const pvi_scatter_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_scatter);

pv_status pvi_scatter_open(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_shape in, pvi_scatter **out)
{
    pvi_shape shape;
    *out = NULL;
    pv_status st = pvi_scatter_shape(ctx, cfg, in, &shape);
    if (st != PV_OK) return st;
    pvi_scatter *s = pvi_alloc(ctx, sizeof *s);
    if (!s) return pvi_nomem(ctx);
    s->ctx = ctx;
    s->fn = pvi_scatter_isa[pvi_isa()];
    s->channels = in.channels;
    s->groups = cfg->scatter_groups < shape.channels ? cfg->scatter_groups : shape.channels;
    set_sizes(&s->bank, cfg, in);
    s->arena = pvi_arena_create(ctx);
    st = s->arena ? fill_bank(s) : pvi_nomem(ctx);
    if (st == PV_OK) *out = s;
    else pvi_scatter_free(s);
    return st;
}

const pvi_bank *pvi_scatter_bank(const pvi_scatter *s)
{
    return &s->bank;
}

void pvi_scatter_free(pvi_scatter *s)
{
    if (!s) return;
    pvi_arena_free(s->arena);
    pvi_free(s->ctx, s);
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

static size_t in_floats(const pvi_bank *b)
{
    return (size_t)b->height * (size_t)b->width * LANES;
}

static size_t out_floats(const pvi_bank *b)
{
    return (size_t)(b->paths * b->out_rows * b->out_columns) * LANES;
}

size_t pvi_scatter_scratch(const pvi_scatter *s)
{
    const pvi_bank *b = &s->bank;
    const size_t points = (size_t)b->rows[0] * (size_t)b->columns[0];
    return sizeof(float) *
           (in_floats(b) + out_floats(b) + (8 * points + (size_t)b->columns[0] + 6 * PVI_SCATTER_SIDE) * LANES);
}

/* Pixels beyond about 10^18 overflow on the way; such a row becomes zero, whatever the others are. */
static void drop_overflow(float *v, int64_t n)
{
    bool finite = true;
    for (int64_t i = 0; i < n; i++) finite &= isfinite(v[i]) != 0;
    if (!finite) memset(v, 0, sizeof *v * (size_t)n);
}

/* (5) */
static void group_norm(float *v, int64_t channels, int64_t points, int64_t groups)
{
    for (int64_t g = 0; g < groups; g++) {
        float *from = v + channels * g / groups * points, *to = v + channels * (g + 1) / groups * points;
        const double n = (double)(to - from);
        double sum = 0, square = 0;
        for (const float *x = from; x < to; x++) sum += *x;
        for (const float *x = from; x < to; x++) square += (*x - sum / n) * (*x - sum / n);
        const double scale = 1 / sqrt(square / n + 1e-5);
        for (float *x = from; x < to; x++) *x = (float)((*x - sum / n) * scale);
    }
}

void pvi_scatter_rows(const pvi_scatter *s, int64_t rows, const float *in, float *out, int64_t ld, void *scratch)
{
    const pvi_bank *b = &s->bank;
    const int64_t pixels = (int64_t)b->height * b->width, points = (int64_t)b->out_rows * b->out_columns,
                  planes = b->paths * points;
    float *lanes = scratch, *result = lanes + in_floats(b), *work = result + out_floats(b);
    for (int64_t c = 0; c < s->channels; c++) {
        for (int64_t i = 0; i < pixels; i++)
            for (int64_t k = 0; k < LANES; k++)
                lanes[i * LANES + k] = k < rows ? in[(k * s->channels + c) * pixels + i] : 0.0f;
        s->fn(b, lanes, result, work);
        for (int64_t k = 0; k < rows; k++)
            for (int64_t i = 0; i < planes; i++) out[k * ld + c * planes + i] = result[i * LANES + k];
    }
    for (int64_t k = 0; k < rows; k++) {
        drop_overflow(out + k * ld, s->channels * planes);
        group_norm(out + k * ld, s->channels * b->paths, points, s->groups);
    }
}
