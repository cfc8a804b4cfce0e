/* net.kernel.c - the inner loops of networks; what they compute is said in net_run.h, why in net.c.
 *
 * product   a tile of up to ROWS rows by NV vectors of outputs stays in registers while the taps go by; each step
 *           loads NV vectors of weights and one number per row.
 * outer     a tile of weights stays in registers while the rows go by.  Where a filter fills one vector only, two
 *           segments share a tile, for the sake of enough independent sums.
 * inner     a tile of 4 rows at a time; lanes are added up every CHUNK vectors (gram.c (2)).
 * All other functions run over contiguous channels. */
#include "model/gram.h"
#include "model/net_run.h"
#include "model/simd.h"

enum { ROWS = 9, NV = PVI_W == 16 ? 2 : 1, TAPS = 8, UNIT_TAPS = 4, CHUNK = PVI_GRAM_CHUNK };

/* A NaN stays one, so that the example is noticed. */
PVI_INLINE vf vpositive(vf x)
{
    return vsel(x < 0.0f, vset(0.0f), x);
}

/* ---- products ------------------------------------------------------------------------------------------ */

/* rows and nv are constants where this is inlined. */
PVI_INLINE void product_tile(const float *const *row, int rows, int nv, const pvi_taps *p, const float *w,
                             int64_t ldw, const float *bias, int64_t lanes, bool relu, float *out, int64_t ldo)
{
    vf a[ROWS][NV];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < nv; v++) a[r][v] = bias ? vload(bias + v * W) : vset(0.0f);
    for (int64_t s = 0; s < p->segments; s++) {
        const float *x[ROWS];
        for (int r = 0; r < rows; r++) x[r] = row[r] + s * p->step;
        for (int64_t k = 0; k < p->len; k++, w += ldw) {
            vf b[NV];
            for (int v = 0; v < nv; v++) b[v] = vload(w + v * W);
            for (int r = 0; r < rows; r++) {
                const vf c = vset(x[r][k]);
                for (int v = 0; v < nv; v++) a[r][v] = vfma(c, b[v], a[r][v]);
            }
        }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < nv; v++) {
            const vf y = relu ? vpositive(a[r][v]) : a[r][v];
            if (v < nv - 1 || lanes == W) vstore(out + r * ldo + v * W, y);
            else vstore_n(out + r * ldo + v * W, y, lanes);
        }
}

#define PRODUCT_CASE(R)                                                                                              \
    case R: product_tile(row, R, nv, p, w, ldw, bias, lanes, relu, out, ldo); break

PVI_INLINE void product_rows(const float *const *row, int64_t rows, int nv, const pvi_taps *p, const float *w,
                             int64_t ldw, const float *bias, int64_t lanes, bool relu, float *out, int64_t ldo)
{
    switch (rows) {
        PRODUCT_CASE(1);
        PRODUCT_CASE(2);
        PRODUCT_CASE(3);
        PRODUCT_CASE(4);
        PRODUCT_CASE(5);
        PRODUCT_CASE(6);
        PRODUCT_CASE(7);
        PRODUCT_CASE(8);
    default: product_tile(row, ROWS, nv, p, w, ldw, bias, lanes, relu, out, ldo); break;
    }
}

static void product(const pvi_taps *p, int64_t count, const float *x, int64_t xs, const float *w, int64_t ldw,
                    const float *bias, int64_t n, bool relu, float *out)
{
    const int64_t all = count * p->rows, tiles = (all + ROWS - 1) / ROWS;
    int64_t e = 0, t = 0;
    for (int64_t k = 0, r = 0; k < tiles; k++) {
        const int64_t rows = (all - r + tiles - k - 1) / (tiles - k); /* as equal as they come */
        const float *row[ROWS];
        for (int64_t q = 0; q < rows; q++) {
            row[q] = x + e * xs + p->at[t];
            if (++t == p->rows) t = 0, e++;
        }
        for (int64_t j = 0; j < n; j += NV * W) {
            const int64_t left = n - j, lanes = left >= NV * W ? W : left % W ? left % W : W;
            const float *const b = bias ? bias + j : NULL;
            if (left > (NV - 1) * W) product_rows(row, rows, NV, p, w + j, ldw, b, lanes, relu, out + r * n + j, n);
            else product_rows(row, rows, 1, p, w + j, ldw, b, lanes, relu, out + r * n + j, n);
        }
        r += rows;
    }
}

/* segs segments of taps consecutive taps by nv vectors; constants where inlined. */
PVI_INLINE void outer_tile(const pvi_taps *p, const float *x, const float *b, const int32_t *bt, int segs, int taps,
                           int nv, int64_t lanes, bool add, float *g, int64_t n)
{
    vf a[2][TAPS][NV];
    for (int s = 0; s < segs; s++)
        for (int k = 0; k < taps; k++)
            for (int v = 0; v < nv; v++) {
                const float *const from = g + (s * p->len + k) * n + v * W;
                a[s][k][v] = !add ? vset(0.0f) : v < nv - 1 || lanes == W ? vload(from) : vload_n(from, lanes);
            }
    for (int64_t t = 0; t < p->rows; t++) {
        const float *const c = x + p->at[t], *const f = b + bt[t];
        vf y[NV];
        for (int v = 0; v < nv; v++) y[v] = v < nv - 1 || lanes == W ? vload(f + v * W) : vload_n(f + v * W, lanes);
        for (int s = 0; s < segs; s++)
            for (int k = 0; k < taps; k++) {
                const vf z = vset(c[s * p->step + k]);
                for (int v = 0; v < nv; v++) a[s][k][v] = vfma(z, y[v], a[s][k][v]);
            }
    }
    for (int s = 0; s < segs; s++)
        for (int k = 0; k < taps; k++)
            for (int v = 0; v < nv; v++) {
                float *const to = g + (s * p->len + k) * n + v * W;
                if (v < nv - 1 || lanes == W) vstore(to, a[s][k][v]);
                else vstore_n(to, a[s][k][v], lanes);
            }
}

PVI_INLINE void outer_taps(const pvi_taps *p, const float *x, const float *b, const int32_t *bt, int segs, int nv,
                           int64_t lanes, bool add, float *g, int64_t n)
{
    int64_t k = 0;
    for (; k + TAPS <= p->len; k += TAPS) outer_tile(p, x + k, b, bt, segs, TAPS, nv, lanes, add, g + k * n, n);
    for (; k + 4 <= p->len; k += 4) outer_tile(p, x + k, b, bt, segs, 4, nv, lanes, add, g + k * n, n);
    for (; k < p->len; k++) outer_tile(p, x + k, b, bt, segs, 1, nv, lanes, add, g + k * n, n);
}

static void outer(const pvi_taps *p, const float *x, const float *b, const int32_t *bt, int64_t n, bool add, float *g)
{
    for (int64_t j = 0; j < n; j += NV * W) {
        const int64_t left = n - j, lanes = left >= NV * W ? W : left % W ? left % W : W;
        int64_t s = 0;
        if (left > (NV - 1) * W) {
            for (; s < p->segments; s++)
                outer_taps(p, x + s * p->step, b + j, bt, 1, NV, lanes, add, g + s * p->len * n + j, n);
            continue;
        }
        for (; s + 2 <= p->segments; s += 2)
            outer_taps(p, x + s * p->step, b + j, bt, 2, 1, lanes, add, g + s * p->len * n + j, n);
        for (; s < p->segments; s++)
            outer_taps(p, x + s * p->step, b + j, bt, 1, 1, lanes, add, g + s * p->len * n + j, n);
    }
}

/* outer_tile() for runs; a[..] what g has, v[..] a run's sum. */
PVI_INLINE void runs_tile(const pvi_taps *p, const float *x, const float *b, const int32_t *bt, int taps, int nv,
                          int64_t lanes, const pvi_runs *runs, float *g, int64_t n)
{
    vf a[UNIT_TAPS][NV];
    int64_t t = 0;
    for (int k = 0; k < taps; k++)
        for (int v = 0; v < nv; v++)
            a[k][v] = v < nv - 1 || lanes == W ? vload(g + k * n + v * W) : vload_n(g + k * n + v * W, lanes);
    for (int64_t u = 0; u < runs->n; u++) {
        const bool alone = runs->alone[u];
        vf s[UNIT_TAPS][NV];
        for (int k = 0; k < taps; k++)
            for (int v = 0; v < nv; v++) s[k][v] = alone ? a[k][v] : vset(0.0f);
        for (const int64_t end = t + runs->size[u]; t < end; t++) {
            const float *const c = x + p->at[t], *const f = b + bt[t];
            vf y[NV];
            for (int v = 0; v < nv; v++)
                y[v] = v < nv - 1 || lanes == W ? vload(f + v * W) : vload_n(f + v * W, lanes);
            for (int k = 0; k < taps; k++)
                for (int v = 0; v < nv; v++) s[k][v] = vfma(vset(c[k]), y[v], s[k][v]);
        }
        const vf f = vset(runs->f[u]);
        for (int k = 0; k < taps; k++)
            for (int v = 0; v < nv; v++) a[k][v] = alone ? s[k][v] : vfma(f, s[k][v], a[k][v]);
    }
    for (int k = 0; k < taps; k++)
        for (int v = 0; v < nv; v++)
            if (v < nv - 1 || lanes == W) vstore(g + k * n + v * W, a[k][v]);
            else vstore_n(g + k * n + v * W, a[k][v], lanes);
}

PVI_INLINE void runs_taps(const pvi_taps *p, const float *x, const float *b, const int32_t *bt, int nv, int64_t lanes,
                          const pvi_runs *runs, float *g, int64_t n)
{
    int64_t k = 0;
    for (; k + UNIT_TAPS <= p->len; k += UNIT_TAPS)
        runs_tile(p, x + k, b, bt, UNIT_TAPS, nv, lanes, runs, g + k * n, n);
    for (; k < p->len; k++) runs_tile(p, x + k, b, bt, 1, nv, lanes, runs, g + k * n, n);
}

/* One segment: a dense layer's. */
static void outer_units(const pvi_taps *p, const float *x, const float *b, const int32_t *bt, int64_t n,
                        const pvi_runs *runs, float *g)
{
    for (int64_t j = 0; j < n; j += NV * W) {
        const int64_t left = n - j, lanes = left >= NV * W ? W : left % W ? left % W : W;
        if (left > (NV - 1) * W) runs_taps(p, x, b + j, bt, NV, lanes, runs, g + j, n);
        else runs_taps(p, x, b + j, bt, 1, lanes, runs, g + j, n);
    }
}

/* out[j] += the products of x with up to 4 rows; t is a constant where this is inlined. */
PVI_INLINE void inner_tile(const float *x, const float *const *row, int t, int64_t n, double *out)
{
    enum { K = W / 4, FOLDS = 4 / K };
    for (int64_t from = 0; from < n; from += CHUNK * W) {
        const int64_t end = n - from < CHUNK * W ? n : from + CHUNK * W;
        vf a[4], f[4];
        float sum[W];
        int64_t i = from;
        for (int r = 0; r < 4; r++) a[r] = f[r] = vset(0.0f);
        for (; i + W <= end; i += W) {
            const vf c = vload(x + i);
            for (int r = 0; r < t; r++) a[r] = vfma(c, vload(row[r] + i), a[r]);
        }
        if (i < end) {
            const vf c = vload_n(x + i, end - i);
            for (int r = 0; r < t; r++) a[r] = vfma(c, vload_n(row[r] + i, end - i), a[r]);
        }
        for (int h = 0; h < FOLDS; h++) f[h] = vfold_quads(a + h * K);
        vstore(sum, vsum_quads(f[0], f[1], f[2], f[3]));
        for (int r = 0; r < t; r++) out[r] += (double)sum[4 * (r % K) + r / K];
    }
}

static void inner(const float *x, const float *const *row, int64_t rows, int64_t n, double *out)
{
    for (int64_t j = 0; j < rows; j++) out[j] = 0.0;
    for (int64_t j = 0; j < rows; j += 4) switch (rows - j) {
        case 1: inner_tile(x, row + j, 1, n, out + j); break;
        case 2: inner_tile(x, row + j, 2, n, out + j); break;
        case 3: inner_tile(x, row + j, 3, n, out + j); break;
        default: inner_tile(x, row + j, 4, n, out + j); break;
        }
}

static void scatter(const pvi_taps *p, const float *col, float *dx)
{
    for (int64_t t = 0; t < p->rows; t++)
        for (int64_t s = 0; s < p->segments; s++, col += p->len) {
            float *const to = dx + p->at[t] + s * p->step;
            int64_t k = 0;
            for (; k + W <= p->len; k += W) vstore(to + k, vload(to + k) + vload(col + k));
            for (; k < p->len; k++) to[k] += col[k];
        }
}

static void columns(int64_t rows, int64_t n, const float *b, float *sum)
{
    for (int64_t j = 0; j < n; j += W) {
        const int64_t lanes = n - j < W ? n - j : W;
        vf s = vset(0.0f);
        for (int64_t t = 0; t < rows; t++) s += vload_n(b + t * n + j, lanes);
        vstore_n(sum + j, s, lanes);
    }
}

/* ---- vectors --------------------------------------------------------------------------------------------- */

static double squares(const float *v, int64_t n)
{
    typedef double vd __attribute__((vector_size(4 * PVI_W)));
    typedef float half __attribute__((vector_size(2 * PVI_W), aligned(4), may_alias));
    enum { H = W / 2 };
    vd s[4] = { 0 };
    int64_t i = 0;
    for (; i + 4 * H <= n; i += 4 * H)
        for (int k = 0; k < 4; k++) {
            const vd x = __builtin_convertvector(*(const half *)(v + i + k * H), vd);
            s[k] += x * x;
        }
    double sum = 0.0;
    for (int k = 0; k < 4; k++)
        for (int l = 0; l < H; l++) sum += s[k][l];
    for (; i < n; i++) sum += (double)v[i] * (double)v[i];
    return sum;
}

/* y = f(x) lane by lane, the rest through masked loads; what is run uses IN and OUT. */
#define EACH(n, ...)                                                                                                 \
    do {                                                                                                             \
        int64_t i = 0;                                                                                               \
        for (; i + W <= (n); i += W) {                                                                               \
            const int64_t lanes = W;                                                                                 \
            __VA_ARGS__;                                                                                             \
        }                                                                                                            \
        if (i < (n)) {                                                                                               \
            const int64_t lanes = (n)-i;                                                                             \
            __VA_ARGS__;                                                                                             \
        }                                                                                                            \
    } while (0)
#define IN(v)      (lanes == W ? vload((v) + i) : vload_n((v) + i, lanes))
#define OUT(v, to) (lanes == W ? vstore((v) + i, to) : vstore_n((v) + i, to, lanes))

static void axpy(float s, const float *v, int64_t n, float *g)
{
    const vf f = vset(s);
    EACH(n, OUT(g, vfma(f, IN(v), IN(g))));
}

static void relu(const float *x, int64_t n, float *y)
{
    EACH(n, OUT(y, vpositive(IN(x))));
}

static void relu_back(const float *y, const float *dy, int64_t n, float *dx)
{
    const vf zero = vset(0.0f);
    EACH(n, OUT(dx, vsel(IN(y) > zero, IN(dy), zero)));
}

/* (1 - e)/(1 + e) with e = exp(-2|x|); near 0, where that cancels, the series of tanh to x^11. */
PVI_INLINE vf vtanh(vf x)
{
    const vf a = vabs(x), e = vexp_neg(a * -2.0f), far = (1.0f - e) / (1.0f + e), z = x * x;
    vf q = vfma(z, vset(-0x1.226e36p-7f), vset(0x1.664f48p-6f));
    q = vfma(q, z, vset(-0x1.ba1ba2p-5f));
    q = vfma(q, z, vset(0x1.111112p-3f));
    q = vfma(q, z, vset(-0x1.555556p-2f));
    return vsel(a < 0.35f, vfma(x * z, q, x), vcopysign(far, x));
}

static void tanh_all(const float *x, int64_t n, float *y)
{
    EACH(n, OUT(y, vtanh(IN(x))));
}

static void tanh_back(const float *y, const float *dy, int64_t n, float *dx)
{
    EACH(n, const vf t = IN(y); OUT(dx, IN(dy) * (1.0f - t * t)));
}

#define GELU_C 0x1.988454p-1f /* sqrt(2/pi) */
#define GELU_A 0x1.6e4e26p-5f /* 0.044715   */

static void gelu(const float *x, int64_t n, float *y)
{
    EACH(n, const vf a = IN(x), t = vtanh(GELU_C * vfma(GELU_A * a * a, a, a)); OUT(y, 0.5f * a * (1.0f + t)));
}

static void gelu_back(const float *x, const float *dy, int64_t n, float *dx)
{
    EACH(n, const vf a = IN(x), t = vtanh(GELU_C * vfma(GELU_A * a * a, a, a));
         const vf slope = GELU_C * (1.0f + 3.0f * GELU_A * a * a);
         OUT(dx, IN(dy) * (0.5f * (1.0f + t) + 0.5f * a * (1.0f - t * t) * slope)));
}

static void sigmoid(const float *x, int64_t n, float *y)
{
    EACH(n, const vf a = IN(x), e = vexp_neg(-vabs(a)), q = 1.0f / (1.0f + e); OUT(y, vsel(a < 0.0f, e * q, q)));
}

static void sigmoid_back(const float *y, const float *dy, int64_t n, float *dx)
{
    EACH(n, const vf t = IN(y); OUT(dx, IN(dy) * (t * (1.0f - t))));
}

/* ---- local response normalisation ------------------------------------------------------------------------- */

/* s^(-3/4) */
PVI_INLINE vf vpower(vf s)
{
    const vf r = 1.0f / vsqrt(s);
    return r * vsqrt(r);
}

/* For every shift k of the window and every channel with a neighbour there: this one at `from`, that at from + k. */
#define EACH_SHIFT(...)                                                                                              \
    for (int64_t k = -l->radius; k <= l->radius; k++) {                                                              \
        const int64_t from = k < 0 ? -k : 0, n = l->in.c - (k < 0 ? -k : k);                                         \
        EACH(n, __VA_ARGS__);                                                                                        \
    }

static void lrn(const pvi_layer *l, const float *x, float *y, float *s)
{
    const int64_t C = l->in.c;
    const vf a = vset((float)(PVI_LRN_ALPHA / (double)(2 * l->radius + 1)));
    for (int64_t p = 0; p < l->in.h * l->in.w; p++, x += C, y += C, s += C) {
        EACH(C, const vf v = IN(x); OUT(y, a * v * v); OUT(s, vset(1.0f)));
        EACH_SHIFT(OUT(s + from, IN(s + from) + IN(y + from + k)));
        EACH(C, OUT(y, IN(x) * vpower(IN(s))));
    }
}

static void lrn_back(const pvi_layer *l, const float *x, const float *y, const float *dy, float *s, float *dx)
{
    const int64_t C = l->in.c;
    const vf a = vset((float)(-2.0 * PVI_LRN_BETA * PVI_LRN_ALPHA / (double)(2 * l->radius + 1)));
    for (int64_t p = 0; p < l->in.h * l->in.w; p++, x += C, y += C, dy += C, s += C, dx += C) {
        EACH(C, const vf d = IN(dy), r = IN(s); OUT(dx, d * vpower(r)); OUT(s, d * IN(y) / r)); /* s: t from now on */
        EACH_SHIFT(OUT(dx + from, vfma(a * IN(x + from), IN(s + from + k), IN(dx + from))));
    }
}

/* ---- pools ------------------------------------------------------------------------------------------------ */

/* For output (i, j), channels c .. c + lanes: rows a and columns b of the window, as far as they are in the image
 * where it is cut, and the place `first` of the first of them in x.  full: every vector is whole. */
#define EACH_WINDOW(...)                                                                                             \
    for (int64_t i = 0; i < l->out.h; i++)                                                                           \
        for (int64_t j = 0; j < l->out.w; j++) {                                                                     \
            const int64_t top = i * l->stride - (cut ? l->pad_top : 0);                                              \
            const int64_t left = j * l->stride - (cut ? l->pad_left : 0);                                            \
            const int64_t a0 = cut && top < 0 ? -top : 0, b0 = cut && left < 0 ? -left : 0;                          \
            const int64_t a1 = cut && top + kernel > l->in.h ? l->in.h - top : kernel;                               \
            const int64_t b1 = cut && left + kernel > l->in.w ? l->in.w - left : kernel;                             \
            for (int64_t c = 0; c < l->in.c; c += W) {                                                               \
                const int64_t lanes = full || l->in.c - c > W ? W : l->in.c - c;                                     \
                const int64_t first = ((top + a0) * l->in.w + left + b0) * l->in.c + c;                              \
                const int64_t at = (i * l->out.w + j) * l->in.c + c;                                                 \
                __VA_ARGS__;                                                                                         \
            }                                                                                                        \
        }
#define EACH_IN_WINDOW(o)                                                                                            \
    for (int64_t a = a0; a < a1; a++)                                                                                \
        for (int64_t b = b0, o = first + (a - a0) * l->in.w * l->in.c; b < b1; b++, o += l->in.c)
#define GET(v)     (full ? vload(v) : vload_n(v, lanes))
#define PUT(v, to) (full ? vstore(v, to) : vstore_n(v, to, lanes))

/* A NaN anywhere in the window gives NaN, so that the example is noticed. */
PVI_INLINE vf vmax_nan(vf a, vf b)
{
    return vsel((a > b) | (a != a), a, b);
}

/* kernel, full and cut are constants where these are inlined. */
PVI_INLINE void maxpool_any(const pvi_layer *l, int64_t kernel, bool full, bool cut, const float *x, float *y)
{
    EACH_WINDOW(vf m = GET(x + first); EACH_IN_WINDOW(o) m = vmax_nan(m, GET(x + o)); PUT(y + at, m));
}

/* To the first of equal maxima. */
PVI_INLINE void maxpool_back_any(const pvi_layer *l, int64_t kernel, bool full, bool cut, const float *x,
                                 const float *y, const float *dy, float *dx)
{
    EACH_WINDOW(const vf m = GET(y + at); vf d = GET(dy + at); EACH_IN_WINDOW(o) {
        const vi hit = GET(x + o) == m;
        PUT(dx + o, GET(dx + o) + vsel(hit, d, vset(0.0f)));
        d = vsel(hit, vset(0.0f), d);
    });
}

PVI_INLINE void avgpool_any(const pvi_layer *l, int64_t kernel, bool full, bool cut, const float *x, float *y)
{
    EACH_WINDOW(const float share = 1.0f / (float)((a1 - a0) * (b1 - b0)); vf m = vset(0.0f);
                EACH_IN_WINDOW(o) m += GET(x + o); PUT(y + at, m * share));
}

PVI_INLINE void avgpool_back_any(const pvi_layer *l, int64_t kernel, bool full, bool cut, const float *dy, float *dx)
{
    EACH_WINDOW(const float share = 1.0f / (float)((a1 - a0) * (b1 - b0)); const vf d = GET(dy + at) * share;
                EACH_IN_WINDOW(o) PUT(dx + o, GET(dx + o) + d));
}

#define SPECIALIZE(fn, ...)                                                                                          \
    do {                                                                                                             \
        const bool whole = l->in.c % W == 0;                                                                         \
        if (l->same) fn(l, l->kernel, whole, true, __VA_ARGS__);                                                     \
        else if (whole && l->kernel == 2) fn(l, 2, true, false, __VA_ARGS__);                                        \
        else if (whole) fn(l, l->kernel, true, false, __VA_ARGS__);                                                  \
        else fn(l, l->kernel, false, false, __VA_ARGS__);                                                            \
    } while (0)

static void maxpool(const pvi_layer *l, const float *x, float *y)
{
    SPECIALIZE(maxpool_any, x, y);
}

static void maxpool_back(const pvi_layer *l, const float *x, const float *y, const float *dy, float *dx)
{
    SPECIALIZE(maxpool_back_any, x, y, dy, dx);
}

static void avgpool(const pvi_layer *l, const float *x, float *y)
{
    SPECIALIZE(avgpool_any, x, y);
}

static void avgpool_back(const pvi_layer *l, const float *dy, float *dx)
{
    SPECIALIZE(avgpool_back_any, dy, dx);
}

extern const pvi_net_kernel PVI_ISA_NAME(pvi_net_kernel);
const pvi_net_kernel PVI_ISA_NAME(pvi_net_kernel) = { .product = product,
                                                      .outer = outer,
                                                      .outer_units = outer_units,
                                                      .inner = inner,
                                                      .scatter = scatter,
                                                      .columns = columns,
                                                      .squares = squares,
                                                      .axpy = axpy,
                                                      .relu = relu,
                                                      .relu_back = relu_back,
                                                      .tanh = tanh_all,
                                                      .tanh_back = tanh_back,
                                                      .gelu = gelu,
                                                      .gelu_back = gelu_back,
                                                      .sigmoid = sigmoid,
                                                      .sigmoid_back = sigmoid_back,
                                                      .lrn = lrn,
                                                      .lrn_back = lrn_back,
                                                      .maxpool = maxpool,
                                                      .maxpool_back = maxpool_back,
                                                      .avgpool = avgpool,
                                                      .avgpool_back = avgpool_back };
