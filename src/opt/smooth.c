/* smooth.c - Laplacian smoothing in O(d): g <- A^{-1} g with A = I - sigma L, L the periodic second difference.
 *
 *   (1)  (A x)_i = (1 + 2 sigma) x_i - sigma (x_{i-1} + x_{i+1}),  indices modulo d
 *   (2)  eigenvalues  lambda_i = 1 + 2 sigma - 2 sigma cos(2 pi i/d)
 * The symbol factors: with a = 2 sigma / (2 sigma + 1 + sqrt(4 sigma + 1)) in [0, 1) and c = (2 sigma + 1 +
 * sqrt(4 sigma + 1))/2,  c a = sigma and c (1 + a^2) = 1 + 2 sigma, so
 *   (3)  A = c (I - a S)(I - a S^{-1}),  S the cyclic shift,
 * and A^{-1} is one first-order recursion in each direction, closed around the circle:
 *   (4)  p_i = g_i + a p_{i-1}     (5)  x_i = p_i + a x_{i+1}     (6)  result x_i / c
 * Closing (4): p_{-1} = p_{d-1} = sum_{k=0}^{d-1} a^k g_{d-1-k} / (1 - a^d), likewise (5).
 *
 * Speed.  Run as written, every step waits for the one before.  But a start value is forgotten at the rate
 * a^k: after K steps with
 *   (7)  a^K <= 2^-64
 * a recursion started from zero agrees with the true one to rounding.  So a block is cut into eight lanes of m >= K
 * elements that run side by side, each after K warm-up steps taken in its neighbour; blocks stay in cache
 * between (4), which writes to scratch, and (5), which writes the result, so that memory is read once and written
 * once.  A block needs p before its first element (carried from the block before) and K elements behind its
 * last (not yet overwritten, or kept in `edge` where another task might overwrite them).  How the vector is cut
 * depends on d and sigma alone, so the result is the same for any number of threads.  Vectors too short for lanes
 * use the closed form of (4) and (5) directly.
 *
 * Privacy    a function of the noisy gradient only: post-processing, free.
 * Noise      white noise keeps a fraction of its power:
 *   (8)  gamma = (1/d) sum 1/lambda_i   = (1 + u) / ((1 - u) q),          u = a^d, q = sqrt(4 sigma + 1)
 *   (9)  beta  = (1/d) sum 1/lambda_i^2 = (1 + 2 sigma)(1 + u) / ((1 - u) q^3) + 2 d u / ((1 - u)^2 q^2)
 *        Both by aliasing the kernels of 1/lambda and 1/lambda^2 (a^|k|/q, and its convolution with itself
 *        (|k| + (1 + 2 sigma)/q) a^|k|/q^2) onto the circle.  (9) equals the printed form of Proposition 8 and,
 *        unlike it, has no cancellation for small sigma.
 * Reference  B. Wang, Gu, Boedihardjo, L. Wang, Barekat, Osher, DP-LSSGD, MSML 2020: Propositions 5 and 8. */
#include "opt/smooth.h"

enum {
    LANES = 8,
    LANE =
        4096 + 40, /* a block fits the second-level cache; not a multiple of 512, so lanes use different cache sets */
    MIN_LANE = 16,
    MAX_TASKS = 32,
};

/* ---- short vectors: (4) and (5) in full --------------------------------------------------------- */

/* sum_{k<n} a^k v_{n-1-k}, or a^k v_k backward. */
static double closing(const double *v, int64_t n, double a, bool backward)
{
    double p = 0.0;
    for (int64_t i = 0; i < n; i++) p = v[backward ? n - 1 - i : i] + a * p;
    return p;
}

static void smooth_whole(const pvi_smoother *s, double *g, int64_t d)
{
    const double a = s->a, rest = -expm1((double)d * log(a)); /* 1 - a^d */
    double p = closing(g, d, a, false) / rest;
    for (int64_t i = 0; i < d; i++) g[i] = p = g[i] + a * p; /* (4) */
    double x = closing(g, d, a, true) / rest;
    for (int64_t i = d - 1; i >= 0; i--) { /* (5), (6) */
        x = g[i] + a * x;
        g[i] = x * s->scale;
    }
}

/* ---- one block ------------------------------------------------------------------------------------
 * Element i of lane l is g[l m + i]; its p goes to row i of scratch, slot l, so that a step of all lanes is one
 * contiguous row.  Lanes are worked on in pairs and elements two at a time,
 *   (10)  p_{i+1} = (g_{i+1} + a g_i) + a^2 p_{i-1},
 * so that a chain waits for one multiplication and one addition every second element.  What is left after the lanes
 * and the look-ahead form the tail, behind the rows. */

typedef double pair __attribute__((vector_size(16)));
enum { PAIRS = LANES / 2 };

static inline pair load(const double *at)
{
    pair v;
    memcpy(&v, at, sizeof v);
    return v;
}

static inline void store(double *at, pair v)
{
    memcpy(at, &v, sizeof v);
}

static int64_t lane_len(int64_t n)
{
    return n / (2 * LANES) * 2;
}

/* (4) over the block.  `carry` comes in as p before the block and goes out as p at its last element. */
static void forward(const double *g, int64_t n, const double *ahead, int64_t K, double a, double *carry, double *out)
{
    const int64_t m = lane_len(n);
    const double a2 = a * a;
    double start[LANES] = { 0 };
    for (int64_t i = -K; i < 0; i++)
        for (int l = 1; l < LANES; l++) start[l] = g[l * m + i] + a * start[l];
    start[0] = *carry;
    pair p[PAIRS];
    for (int k = 0; k < PAIRS; k++) p[k] = load(start + 2 * k);
    for (int64_t i = 0; i < m; i += 2)
        for (int k = 0; k < PAIRS; k++) {
            const pair even = load(g + 2 * k * m + i),
                       odd = load(g + (2 * k + 1) * m + i); /* two steps of two lanes */
            const pair first = { even[0], odd[0] }, second = { even[1], odd[1] };
            store(out + i * LANES + 2 * k, first + a * p[k]);
            p[k] = (second + a * first) + a2 * p[k]; /* (10) */
            store(out + (i + 1) * LANES + 2 * k, p[k]);
        }
    double q = p[PAIRS - 1][1];
    for (int64_t i = LANES * m; i < n; i++) out[i] = q = g[i] + a * q;
    *carry = q;
    for (int64_t i = 0; i < K; i++) out[n + i] = q = ahead[i] + a * q;
}

/* (5) and (6) over the block. */
static void backward(const double *p, int64_t n, int64_t K, double a, double scale, double *g)
{
    const int64_t m = lane_len(n);
    const double a2 = a * a;
    double start[LANES] = { 0 }, y = 0.0;
    for (int64_t i = n + K - 1; i >= n; i--) y = p[i] + a * y;
    for (int64_t i = n - 1; i >= LANES * m; i--) {
        y = p[i] + a * y;
        g[i] = y * scale;
    }
    for (int64_t i = K - 1; i >= 0; i--) /* lane l warms up on the first K elements of lane l + 1 */
        for (int l = 0; l < LANES - 1; l++) start[l] = p[i * LANES + l + 1] + a * start[l];
    start[LANES - 1] = y;
    pair x[PAIRS];
    for (int k = 0; k < PAIRS; k++) x[k] = load(start + 2 * k);
    for (int64_t i = m - 2; i >= 0; i -= 2)
        for (int k = 0; k < PAIRS; k++) {
            const pair first = load(p + (i + 1) * LANES + 2 * k), second = load(p + i * LANES + 2 * k);
            const pair later = scale * (first + a * x[k]);
            x[k] = (second + a * first) + a2 * x[k]; /* (10) */
            const pair early = scale * x[k];
            store(g + 2 * k * m + i, (pair) { early[0], later[0] });
            store(g + (2 * k + 1) * m + i, (pair) { early[1], later[1] });
        }
}

/* ---- tasks: runs of blocks ---------------------------------------------------------------------------- */

typedef struct job {
    const pvi_smoother *s;
    double *g;
    int64_t d, blocks, tasks;
} job;

static int64_t block_start(const job *j, int64_t block)
{
    return block == j->blocks ? j->d : block * LANES * j->s->lane; /* the last block takes the remainder */
}

static int64_t task_block(const job *j, int64_t task)
{
    return j->blocks * task / j->tasks;
}

static void run_task(void *arg, int64_t task, int thread)
{
    const job *j = arg;
    const pvi_smoother *s = j->s;
    const double *edge = s->edge + task * (s->warm + 1);
    double *scratch = s->scratch + thread * s->scratch_len;
    double carry = edge[0];
    const int64_t last = task_block(j, task + 1);
    for (int64_t b = task_block(j, task); b < last; b++) {
        const int64_t from = block_start(j, b), to = block_start(j, b + 1);
        forward(j->g + from, to - from, b + 1 < last ? j->g + to : edge + 1, s->warm, s->a, &carry, scratch);
        backward(scratch, to - from, s->warm, s->a, s->scale, j->g + from);
    }
}

/* What a task needs from outside itself, taken before any task writes. */
static void save_edges(const job *j)
{
    const int64_t K = j->s->warm, d = j->d;
    for (int64_t t = 0; t < j->tasks; t++) {
        double *edge = j->s->edge + t * (K + 1);
        const int64_t from = block_start(j, task_block(j, t)), to = block_start(j, task_block(j, t + 1));
        edge[0] = closing(j->g + (from ? from : d) - K, K, j->s->a, false);
        memcpy(edge + 1, j->g + to % d, (size_t)K * sizeof *edge);
    }
}

void pvi_smooth(const pvi_smoother *s, double *g, int64_t d)
{
    if (s->a == 0.0 || d <= 1) return; /* one element: A = 1 */
    if (lane_len(d) < s->warm || lane_len(d) < MIN_LANE) {
        smooth_whole(s, g, d);
        return;
    }
    job j = { .s = s, .g = g, .d = d, .blocks = d / (LANES * s->lane) };
    if (j.blocks < 1) j.blocks = 1;
    j.tasks = j.blocks < MAX_TASKS ? j.blocks : MAX_TASKS;
    save_edges(&j);
    if (j.tasks > 1 && pvi_threads(s->ctx) <= s->threads) pvi_parallel(s->ctx, j.tasks, run_task, &j);
    else
        for (int64_t t = 0; t < j.tasks; t++) run_task(&j, t, 0);
}

pv_status pvi_smooth_open(pvi_smoother *s, pv_arena *arena, double sigma, int64_t max_d)
{
    pv_ctx *ctx = pvi_arena_ctx(arena);
    if (!(sigma >= 0.0 && sigma <= 1e12))
        return pvi_fail(ctx, PV_E_PARAM, "sigma=%g: between 0 and 1e12 is needed", sigma);
    if (max_d < 0) return pvi_fail(ctx, PV_E_ARG, "a vector cannot have %lld elements", (long long)max_d);
    const double top = 2.0 * sigma + 1.0 + sqrt(4.0 * sigma + 1.0);
    *s = (pvi_smoother) { .sigma = sigma, .a = 2.0 * sigma / top, .scale = 2.0 / top, .max_d = max_d, .ctx = ctx };
    if (s->a == 0.0) return PV_OK;
    s->warm = (int64_t)ceil(64.0 * M_LN2 / -log(s->a)); /* (7) */
    s->lane = s->warm > LANE / 8 ? 8 * s->warm : LANE;
    if (max_d / LANES < s->warm) return PV_OK; /* always too short for lanes */
    const int64_t block = 2 * LANES * s->lane < max_d ? 2 * LANES * s->lane : max_d;
    s->scratch_len = block + s->warm;
    s->threads = max_d < 2 * LANES * s->lane ? 1 : pvi_threads(ctx);
    s->scratch = pv_arena_f64(arena, s->scratch_len * s->threads);
    s->edge = pv_arena_f64(arena, MAX_TASKS * (s->warm + 1));
    return s->scratch && s->edge ? PV_OK : pvi_nomem(ctx);
}

/* ---- how much noise is left --------------------------------------------------------------------------------- */

double pvi_smooth_gamma(double sigma, int64_t d) /* (8) */
{
    const double q = sqrt(4.0 * sigma + 1.0), log_u = (double)d * log(2.0 * sigma / (2.0 * sigma + 1.0 + q));
    return (1.0 + exp(log_u)) / (-expm1(log_u) * q);
}

double pvi_smooth_beta(double sigma, int64_t d) /* (9) */
{
    const double q = sqrt(4.0 * sigma + 1.0), log_u = (double)d * log(2.0 * sigma / (2.0 * sigma + 1.0 + q));
    const double u = exp(log_u), rest = -expm1(log_u);
    return (1.0 + 2.0 * sigma) * (1.0 + u) / (rest * q * q * q) + 2.0 * (double)d * u / (rest * rest * q * q);
}
