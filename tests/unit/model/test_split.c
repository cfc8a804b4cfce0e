/* test_split.c - the split network: every closed form against a minimiser that knows only the objective, and the
 * gradient sum against the definitions, one row at a time in double. */
#include "arenatest.h"
#include "model/split.h"
#include "nettest.h"

/* ---- kernels: every instruction set against sums in double ---------------------------------------------------- */

enum { MOST_ROWS = 70, MOST_LD = 96 };

static void fill(uint64_t *seed, float *a, int64_t rows, int64_t n, int64_t ld)
{
    memset(a, 0, sizeof *a * (size_t)(rows * ld));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < n; j++) a[r * ld + j] = (float)pvt_normal(seed);
}

static void products_are_sums(void **state)
{
    (void)state;
    static float x[MOST_ROWS * MOST_LD], w[MOST_ROWS * MOST_LD], panels[MOST_ROWS * MOST_LD], g[MOST_ROWS * MOST_LD],
        out[MOST_ROWS * MOST_LD], bias[MOST_LD];
    static const int64_t sizes[][3] = { { 1, 1, 1 }, { 5, 7, 5 }, { 6, 16, 16 }, { 13, 21, 33 }, { 64, 70, 80 } };
    uint64_t seed = 9;
    for (int isa = 0; isa <= (int)pvi_isa(); isa++)
        for (int k = 0; k < 5; k++) {
            const pvi_split_kernel *q = pvi_split_kernel_isa[isa];
            const int64_t rows = sizes[k][0], len = sizes[k][1], n = sizes[k][2];
            const int64_t ldx = pvi_split_pad(len), ld = pvi_split_pad(n);
            fill(&seed, x, rows, len, ldx), fill(&seed, w, len, n, ld), fill(&seed, bias, 1, n, ld);
            q->pack(len, ld, w, ld, panels);
            q->product(rows, len, x, ldx, panels, ld, k % 2 ? bias : NULL, out);
            for (int64_t r = 0; r < rows; r++)
                for (int64_t j = 0; j < ld; j++) {
                    double sum = k % 2 ? (double)bias[j] : 0;
                    for (int64_t t = 0; t < len; t++) sum += (double)x[r * ldx + t] * (double)w[t * ld + j];
                    PVT_CHECK(fabs((double)out[r * ld + j] - sum) < 1e-4, "product of case %d", k);
                }
            for (int64_t j = 0; j < len * n + 1; j++) g[j] = 0.5f;
            q->outer(rows, x, ldx, out, ld, len, n, k % 2, g, n);
            for (int64_t i = 0; i < len; i++)
                for (int64_t j = 0; j < n; j++) {
                    double sum = k % 2 ? 0.5 : 0;
                    for (int64_t t = 0; t < rows; t++) sum += (double)x[t * ldx + i] * (double)out[t * ld + j];
                    PVT_CHECK(fabs((double)g[i * n + j] - sum) < 1e-3, "outer product of case %d", k);
                }
            PVT_TRUE(g[len * n] == 0.5f); /* nothing is written beyond */
        }
}

/* back (theta'theta + c I) = theta, whichever side is the shorter. */
static void factor_solves(void **state)
{
    (void)state;
    static float w[80 * 80], transposed[80 * 80], forth[80 * 80], room[200 * 400], eye[80 * 80], rows[80 * 80];
    static const int64_t sizes[][2] = { { 1, 1 }, { 3, 40 }, { 40, 3 }, { 33, 33 }, { 61, 74 }, { 74, 61 } };
    uint64_t seed = 11;
    for (int isa = 0; isa <= (int)pvi_isa(); isa++)
        for (int k = 0; k < 6; k++) {
            const pvi_split_kernel *q = pvi_split_kernel_isa[isa];
            const int64_t in = sizes[k][0], out = sizes[k][1], ldt = pvi_split_pad(in), ldv = pvi_split_pad(out);
            pvi_split_layer l = { .in = in, .out = out, .ldv = ldv, .w = w, .transposed = transposed, .back = forth };
            const double c = k % 2 ? 1 : 0.25;
            l.system = room;
            PVT_TRUE(pvi_split_system(&l) <= 200 * 400);
            memset(room, 0, sizeof room), memset(transposed, 0, sizeof transposed), memset(eye, 0, sizeof eye);
            fill(&seed, w, in, out, ldv);
            for (int64_t j = 0; j < in * ldv; j++) w[j] *= 0.3f;
            q->transpose(in, out, w, ldv, transposed, ldt);
            for (int64_t i = 0; i < out; i++) eye[i * 80 + i] = 1;
            PVT_OK(pvi_split_back(q, &l, c));
            q->product(out, out, eye, 80, forth, ldt, NULL, rows); /* unpacks back */
            for (int64_t n = 0; n < out; n++)
                for (int64_t j = 0; j < in; j++) {
                    double left = c * (double)rows[n * ldt + j];
                    for (int64_t i = 0; i < in; i++)
                        for (int64_t p = 0; p < out; p++)
                            left += (double)rows[n * ldt + i] * (double)w[i * ldv + p] * (double)w[j * ldv + p];
                    PVT_CHECK(fabs(left - (double)w[j * ldv + n]) < 1e-5, "%lld x %lld: %g instead of %g",
                              (long long)in, (long long)out, left, (double)w[j * ldv + n]);
                }
            w[0] = 1e25f;
            transposed[0] = 1e25f;
            PVT_IS(pvi_split_back(q, &l, c), PV_E_NUMERIC);
        }
}

/* A known largest singular value: s along one pair of unit vectors, less along another. */
static void spectral_norm_is_found(void **state)
{
    (void)state;
    enum { ROWS = 23, COLUMNS = 37 };
    static double w[ROWS * COLUMNS];
    static float v[48], room[24 * 48];
    for (int scale = -30; scale <= 30; scale += 30) {
        const double s = 4 * pow(10, scale), other = 3 * pow(10, scale);
        memset(v, 0, sizeof v);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLUMNS; j++)
                w[i * COLUMNS + j] = s / sqrt((double)(ROWS * COLUMNS)) +
                                     (i < 2 && j < 2 ? other * (i ? -0.5 : 0.5) * (j ? -1 : 1) : 0);
        PVT_REL(pvi_spectral_norm(ROWS, COLUMNS, w, 0, 300, v, room), s, 1e-5);
        PVT_REL(pvi_spectral_norm(ROWS, COLUMNS, w, 0, 1, v, room), s, 1e-5); /* goes on from where it was */
        PVT_REL(pvi_spectral_norm(ROWS, COLUMNS, w, 10 * s, 1, v, room), sqrt(s * s + other * other), 1e-6);
    }
    memset(w, 0, sizeof w);
    PVT_TRUE(pvi_spectral_norm(ROWS, COLUMNS, w, 0, 10, v, room) == 0);
}

/* ---- U: one number at a time, by a fine search -------------------------------------------------------------- */

static double u_objective(double target, double v, double u)
{
    const double r = target - fmax(u, 0);
    return r * r + (u - v) * (u - v);
}

static void lift_is_the_minimiser(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int isa = 0; isa <= (int)pvi_isa(); isa++)
        for (int trial = 0; trial < 400; trial++) {
            float v = (float)(2 * pvt_normal(&seed)), x = fmaxf(v, 0), d = (float)(2 * pvt_normal(&seed));
            if (trial % 3 == 0) x *= 0.5f; /* scaled down to the radius */
            const double target = (double)x + (double)d;
            double best = INFINITY;
            for (double u = -12; u <= 12; u += 1e-3) best = fmin(best, u_objective(target, (double)v, u));
            pvi_split_kernel_isa[isa]->lift(1, &v, &x, &d);
            const double got = u_objective(target, (double)v, (double)v + (double)d);
            PVT_CHECK(got <= best + 1e-5, "V %g, target %g: %g instead of %g", (double)v, target, got, best);
        }
}

/* ---- prox of cross-entropy: gradient descent in x until it stands still --------------------------------------- */

enum { IN = 7, K = 4 };

static double descend(const double *theta, const double *z0, int64_t y, double gamma, double *t)
{
    memset(t, 0, sizeof *t * IN);
    double value = 0;
    for (int round = 0; round < 40000; round++) {
        double z[K], p[K], sum = 0, g[IN];
        for (int c = 0; c < K; c++) {
            z[c] = z0[c];
            for (int j = 0; j < IN; j++) z[c] += theta[c * IN + j] * t[j];
        }
        for (int c = 0; c < K; c++) sum += p[c] = exp(z[c]);
        value = log(sum) - z[y];
        for (int j = 0; j < IN; j++) {
            g[j] = gamma * t[j];
            value += 0.5 * gamma * t[j] * t[j];
            for (int c = 0; c < K; c++) g[j] += (p[c] / sum - (c == y)) * theta[c * IN + j];
        }
        for (int j = 0; j < IN; j++) t[j] -= 0.02 * g[j];
    }
    return value;
}

static void newton_finds_the_prox(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int trial = 0; trial < 20; trial++) {
        double theta[K * IN], gram[K * K] = { 0 }, z0[K], a[K], want[IN], work[K * K + 5 * K];
        const double gamma = trial % 2 ? 1.0 : 0.25;
        const int64_t y = trial % K;
        for (int i = 0; i < K * IN; i++) theta[i] = pvt_normal(&seed);
        for (int i = 0; i < K; i++) z0[i] = 3 * pvt_normal(&seed);
        for (int i = 0; i < K; i++)
            for (int j = 0; j < K; j++)
                for (int q = 0; q < IN; q++) gram[i * K + j] += theta[i * IN + q] * theta[j * IN + q];
        descend(theta, z0, y, gamma, want);
        PVT_TRUE(pvi_split_softmax(K, gram, z0, y, gamma, a, work));
        for (int j = 0; j < IN; j++) {
            double got = 0;
            for (int c = 0; c < K; c++) got += theta[c * IN + j] * a[c];
            PVT_CHECK(fabs(got - want[j]) < 1e-6, "coordinate %d: %.9g instead of %.9g", j, got, want[j]);
        }
    }
    double bad[1] = { INFINITY }, gram[1] = { 1 }, a[1], work[6];
    PVT_TRUE(!pvi_split_softmax(1, gram, bad, 0, 1.0, a, work));
}

/* ---- a row's gradient by the definitions ----------------------------------------------------------------------- */

enum { MOST = 16, LAYERS = 3 };

typedef struct row_pass {
    int64_t in[LAYERS], out[LAYERS];
    double x[LAYERS][MOST], v[LAYERS][MOST], r[LAYERS][MOST];
} row_pass;

static double weight(const nt_net *f, int i, int64_t j, int64_t n)
{
    const pvi_layer *l = &f->cfg.net.layer[2 * i];
    return (double)(float)f->w[l->weights + j * l->units + n];
}

static void pass_forward(const nt_net *f, int64_t row, row_pass *q)
{
    for (int i = 0; i < LAYERS; i++) {
        const pvi_layer *l = &f->cfg.net.layer[2 * i];
        q->in[i] = l->in.c, q->out[i] = l->units;
        double size = 0;
        for (int64_t j = 0; j < q->in[i]; j++) {
            q->x[i][j] = i ? fmax(0, q->v[i - 1][j]) : f->cfg.scale * (double)f->t.x[row * f->t.ld + j];
            size += q->x[i][j] * q->x[i][j];
        }
        const double shrink = i && sqrt(size) > f->cfg.radius ? f->cfg.radius / sqrt(size) : 1;
        for (int64_t j = 0; j < q->in[i]; j++) q->x[i][j] *= shrink;
        for (int64_t n = 0; n < q->out[i]; n++) {
            q->v[i][n] = f->w[l->biases + n];
            for (int64_t j = 0; j < q->in[i]; j++) q->v[i][n] += weight(f, i, j, n) * q->x[i][j];
        }
    }
}

/* The value at t of layer i's problem in x: R or ||U - theta x||^2/2, and the distance to the old x. */
static double x_objective(const nt_net *f, const row_pass *q, int i, const double *u, int64_t y, const double *t,
                          double *grad)
{
    const bool last = i == LAYERS - 1;
    double value = 0, z[MOST] = { 0 }, r[MOST] = { 0 }, sum = 0, c = last ? f->cfg.gamma : 1.0;
    for (int64_t n = 0; n < q->out[i]; n++) {
        z[n] = q->v[i][n];
        for (int64_t j = 0; j < q->in[i]; j++) z[n] += weight(f, i, j, n) * (t[j] - q->x[i][j]);
    }
    for (int64_t n = 0; n < q->out[i]; n++) sum += exp(z[n]);
    if (last && f->cfg.loss != 2) value = log(sum) - z[y];
    for (int64_t n = 0; n < q->out[i]; n++) {
        r[n] = !last ? z[n] - u[n] : f->cfg.loss == 2 ? z[n] - (n == y) : exp(z[n]) / sum - (n == y);
        if (!last || f->cfg.loss == 2) value += 0.5 * r[n] * r[n];
    }
    for (int64_t j = 0; j < q->in[i]; j++) {
        grad[j] = c * (t[j] - q->x[i][j]);
        value += 0.5 * c * (t[j] - q->x[i][j]) * (t[j] - q->x[i][j]);
        for (int64_t n = 0; n < q->out[i]; n++) grad[j] += weight(f, i, j, n) * r[n];
    }
    return value;
}

static void minimise_x(const nt_net *f, const row_pass *q, int i, const double *u, int64_t y, double *t)
{
    double g[MOST], step = 0.5;
    memcpy(t, q->x[i], sizeof *t * MOST);
    for (int round = 0; round < 5000; round++) {
        double next[MOST], h[MOST], square = 0;
        const double now = x_objective(f, q, i, u, y, t, g);
        for (int64_t j = 0; j < q->in[i]; j++) next[j] = t[j] - step * g[j], square += g[j] * g[j];
        if (square < 1e-26) return;
        if (x_objective(f, q, i, u, y, next, h) > now - 0.25 * step * square) step *= 0.5;
        else memcpy(t, next, sizeof *t * MOST);
    }
}

static double minimise_u(double target, double v)
{
    double best = v, value = u_objective(target, v, v);
    const double tries[] = { fmax(0, 0.5 * (target + v)), fmin(0, v) };
    for (int k = 0; k < 2; k++)
        if (u_objective(target, v, tries[k]) < value) best = tries[k], value = u_objective(target, v, best);
    return best;
}

/* g: the row's part by layers, each clipped to clip/sqrt(LAYERS). */
static void row_part(const nt_net *f, int64_t row, double clip, double *g)
{
    row_pass q;
    double target[MOST], u[MOST], none[MOST] = { 0 };
    const int64_t y = (int64_t)f->t.y[row];
    pass_forward(f, row, &q);
    double sum = 0;
    for (int64_t n = 0; n < q.out[LAYERS - 1]; n++) sum += exp(q.v[LAYERS - 1][n]);
    for (int64_t n = 0; n < q.out[LAYERS - 1]; n++)
        q.r[LAYERS - 1][n] = (f->cfg.loss == 2 ? q.v[LAYERS - 1][n] : exp(q.v[LAYERS - 1][n]) / sum) - (n == y);
    minimise_x(f, &q, LAYERS - 1, none, y, target);
    for (int i = LAYERS - 2; i >= 0; i--) {
        for (int64_t n = 0; n < q.out[i]; n++) {
            u[n] = minimise_u(target[n], q.v[i][n]);
            q.r[i][n] = f->cfg.gamma * (q.v[i][n] - u[n]);
        }
        if (i > 0) minimise_x(f, &q, i, u, y, target);
    }
    for (int i = 0; i < LAYERS; i++) {
        const pvi_layer *l = &f->cfg.net.layer[2 * i];
        double norm = 0;
        for (int64_t n = 0; n < q.out[i]; n++)
            for (int64_t j = 0; j <= q.in[i]; j++) {
                double *to = j < q.in[i] ? &g[l->weights + j * l->units + n] : &g[l->biases + n];
                *to = q.r[i][n] * (j < q.in[i] ? q.x[i][j] : 1);
                norm += *to * *to;
            }
        const double s = fmin(1, clip / sqrt(LAYERS) / sqrt(norm));
        for (int64_t j = 0; j < l->n_weights + l->n_biases; j++) g[l->weights + j] *= s;
    }
}

static void sum_is_the_definition(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        nt_net f;
        nt_make(&f, ctx, arena, "split-mlp", "dense9,relu,dense11,relu,dense", 0, 0, 6, 5, 12, 17);
        f.cfg.loss = variant & 1 ? 2 : 1;
        if (variant & 2) f.cfg.gamma = 0.5, f.cfg.radius = 1.5;
        nt_begin(&f, arena);
        double *want = malloc(sizeof *want * (size_t)f.d);
        float *g = malloc(sizeof *g * (size_t)f.d);
        for (int64_t r = 0; r < f.t.n; r++) {
            int64_t bad = 0;
            double error = 0, size = 0;
            memset(want, 0, sizeof *want * (size_t)f.d);
            memset(g, 0, sizeof *g * (size_t)f.d);
            pv_rows v = mt_view(&f.t, r % 2 == 0, false);
            v.pick = &r;
            v.n = 1;
            const double clip = r % 3 ? 100 : 0.2;
            f.ops->grad_sum(f.st, &f.cfg, &v, clip, g, &bad, f.scratch);
            row_part(&f, r, clip, want);
            for (int64_t j = 0; j < f.d; j++) error += pow((double)g[j] - want[j], 2), size += want[j] * want[j];
            PVT_CHECK(sqrt(error) <= 2e-5 * sqrt(size), "variant %d, row %lld: off by %g of %g", variant,
                      (long long)r, sqrt(error), sqrt(size));
            PVT_IS(bad, 0);
        }
        free(want), free(g);
        nt_free(&f);
    }
}

/* ---- convolutions --------------------------------------------------------------------------------------------- */

/* For every output pixel t, place ab of the kernel and channel within the image: input j of the dense network. */
#define EACH_TAP(...)                                                                                                \
    for (int64_t t = 0; t < l->out.h * l->out.w; t++)                                                                \
        for (int64_t ab = 0; ab < l->kernel * l->kernel; ab++)                                                       \
            for (int64_t ch = 0; ch < l->in.c; ch++) {                                                               \
                const int64_t r = t / l->out.w * l->stride + ab / l->kernel - l->pad_top;                            \
                const int64_t q = t % l->out.w * l->stride + ab % l->kernel - l->pad_left;                           \
                if (r < 0 || r >= l->in.h || q < 0 || q >= l->in.w) continue;                                        \
                const int64_t pixel = r * l->in.w + q;                                                               \
                const int64_t j = first ? ch * l->in.h * l->in.w + pixel : pixel * l->in.c + ch;                     \
                for (int64_t n = 0; n < l->units; n++) {                                                             \
                    const int64_t own = l->weights + (ab * l->in.c + ch) * l->units + n;                             \
                    const int64_t other = m->weights + j * m->units + t * l->units + n;                              \
                    __VA_ARGS__;                                                                                     \
                }                                                                                                    \
            }

/* The dense network that repeats the kernels, layer by layer. */
static void repeat_kernels(const nt_net *c, nt_net *d)
{
    for (int64_t i = 0; i < c->cfg.net.n; i += 2) {
        const pvi_layer *l = &c->cfg.net.layer[i], *m = &d->cfg.net.layer[i];
        const bool first = i == 0;
        if (l->kind == PVI_LAYER_DENSE) {
            memcpy(d->w + m->weights, c->w + l->weights, sizeof *c->w * (size_t)(l->n_weights + l->n_biases));
            continue;
        }
        memset(d->w + m->weights, 0, sizeof *d->w * (size_t)m->n_weights);
        EACH_TAP(d->w[other] = c->w[own]);
        for (int64_t k = 0; k < m->n_biases; k++) d->w[m->biases + k] = c->w[l->biases + k % l->units];
    }
    nt_begin(d, arena);
}

static void fold(const nt_net *c, const nt_net *d, const float *from, double *to)
{
    memset(to, 0, sizeof *to * (size_t)c->d);
    for (int64_t i = 0; i < c->cfg.net.n; i += 2) {
        const pvi_layer *l = &c->cfg.net.layer[i], *m = &d->cfg.net.layer[i];
        const bool first = i == 0;
        for (int64_t k = 0; k < m->n_biases; k++) to[l->biases + k % l->units] += (double)from[m->biases + k];
        if (l->kind == PVI_LAYER_CONV) EACH_TAP(to[own] += (double)from[other]);
        for (int64_t k = 0; l->kind == PVI_LAYER_DENSE && k < l->n_weights; k++)
            to[l->weights + k] = (double)from[m->weights + k];
    }
}

static void compare_networks(nt_net *c, nt_net *d, int64_t loss)
{
    const pv_rows v = mt_view(&c->t, true, false);
    float *g = calloc((size_t)c->d, sizeof *g), *wide = calloc((size_t)d->d, sizeof *wide), a[64], b[64];
    double *want = malloc(sizeof *want * (size_t)c->d), diff = 0, size = 0;
    int64_t bad = 0;
    c->cfg.loss = d->cfg.loss = loss;
    nt_begin(c, arena);
    nt_begin(d, arena);
    c->ops->grad_sum(c->st, &c->cfg, &v, INFINITY, g, &bad, c->scratch);
    d->ops->grad_sum(d->st, &d->cfg, &v, INFINITY, wide, &bad, d->scratch);
    fold(c, d, wide, want);
    for (int64_t j = 0; j < c->d; j++) {
        diff += pow((double)g[j] - want[j], 2);
        size += want[j] * want[j];
    }
    PVT_CHECK(sqrt(diff) <= 1e-5 * sqrt(size), "loss %d: %g of %g", (int)loss, sqrt(diff), sqrt(size));
    PVT_REL(c->ops->value_sum(c->st, &c->cfg, &v, c->scratch), d->ops->value_sum(d->st, &d->cfg, &v, d->scratch),
            1e-5);
    c->ops->predict(c->st, &c->cfg, &v, a, c->scratch);
    d->ops->predict(d->st, &d->cfg, &v, b, d->scratch);
    for (int64_t k = 0; k < v.n * 4; k++) PVT_NEAR((double)a[k], (double)b[k], 1e-5);
    PVT_IS(bad, 0);
    free(g), free(wide), free(want);
}

/* (4) of split_conv.c: the whole layer against its kernel. */
static void compare_norms(const nt_net *c, const nt_net *d)
{
    pv_tensor part[6];
    c->ops->tensors(&c->cfg, &c->dom, part);
    for (int64_t i = 0; i < 2; i++) {
        const pvi_layer *l = &c->cfg.net.layer[2 * i], *m = &d->cfg.net.layer[2 * i];
        const int64_t in = m->n_weights / m->units, taps = l->n_weights / l->units;
        float *v = calloc((size_t)(pvi_split_pad(m->units) * (in + 2)), sizeof *v);
        const double all = pvi_spectral_norm(in, m->units, d->w + m->weights, 0, 500, v, v + pvi_split_pad(m->units));
        memset(v, 0, sizeof *v * (size_t)pvi_split_pad(m->units));
        const double one =
            pvi_spectral_norm(taps, l->units, c->w + l->weights, 0, 500, v, v + pvi_split_pad(l->units));
        PVT_CHECK(all <= (double)part[2 * i].overlap * one * (1 + 1e-5) && all > 0.3 * one, "%g, %g", all, one);
        free(v);
    }
}

/* A convolution is the dense layer that repeats its kernel: the same scores, and gradients that add up. */
static void convolutions_repeat_their_kernels(void **state)
{
    (void)state;
    enum { ROWS = 16 };
    nt_net c, d;
    nt_make(&c, ctx, arena, "split-mlp", "conv3x3s2same,relu,conv4x2,relu,dense", 5, 6, 2, 4, ROWS, 9);
    nt_make(&d, ctx, arena, "split-mlp", "dense27,relu,dense16,relu,dense", 5, 6, 2, 4, ROWS, 9);
    repeat_kernels(&c, &d);
    compare_networks(&c, &d, 2);
    compare_networks(&c, &d, 1);
    c.cfg.radius = d.cfg.radius = 0.8; /* hidden values are longer */
    compare_networks(&c, &d, 2);
    compare_norms(&c, &d);
    nt_free(&c);
    nt_free(&d);
}

static void other_networks_are_refused(void **state)
{
    (void)state;
    static const char *const layers[] = { "dense4,tanh,dense", "dense4,dense", "relu,dense",
                                          "dense4,groupnorm2,dense" };
    const pv_domain dom = { .n = 9, .p = 3, .row_norm = 1, .classes = 3 };
    const pv_model_ops *m = (const pv_model_ops *)(const void *)pv_find(PV_KIND_model, "split-mlp");
    for (int i = 0; i < 4; i++) {
        pvi_net_cfg c = { 0 };
        pvi_param_defaults(m->head.params, &c);
        c.layers = layers[i];
        PVT_IS(m->open(&c, &dom, ctx), PV_E_PARAM);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "relu between") != NULL, "%s", pv_ctx_errmsg(ctx));
    }
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(products_are_sums),
                                      cmocka_unit_test(factor_solves),
                                      cmocka_unit_test(spectral_norm_is_found),
                                      cmocka_unit_test(lift_is_the_minimiser),
                                      cmocka_unit_test(newton_finds_the_prox),
                                      cmocka_unit_test(sum_is_the_definition),
                                      cmocka_unit_test(convolutions_repeat_their_kernels),
                                      cmocka_unit_test(other_networks_are_refused) };
    return cmocka_run_group_tests(all, setup, teardown);
}
