/* opt_sbcd.c - DP-SBCD: stochastic block coordinate descent for networks with bounded Lipschitz constants.
 *
 * Solves    min_theta  sum_d problems of the layers (model/split.c), the matrix of layer d of spectral norm <= rho_d
 * Iterates  for every mini-batch, all layers d at once, from one release
 *             g = pv_query(theta)         g_d = (1/b) sum_i clip((V_d - U_d) x_d'), noise sigma sqrt(o(k,j)/min o)
 *             m_d = beta m_d + g_d;  theta_d <- prox_{eta, r_d}(theta_d - eta m_d)                        (1)
 *             theta_d <- theta_d min(1, rho_d / lambda_d),  lambda_d by power iteration                   (2)
 *           A convolution is rho_d-Lipschitz where its kernel has a spectral norm of rho_d/c (split_conv.c (4)):
 *           lambda_d is c times that of the kernel, an upper bound where the others are found from below
 * Returns   by default a moving average of the iterates, which keeps the bound (2), since a norm ball is convex; the
 *           last iterate in the paper
 *
 * Names     eta: step, by its schedule   beta: momentum, 0 in the paper   k: epoch, b: batch, J = n/b batches
 *           K: epochs   o(k,j): noise schedule (schedule.c (2))
 * The printed update is theta <- prox(theta - eta grad + N(0, 2 eta o I)).  Its privacy formula takes grad as the
 * mean over the batch; with gradient=sum, eta multiplies the sum instead.  With calibration=paper, sigma is what the
 * printed o means under that reading, for steps of one length:
 *             sigma = b sqrt(2 o / eta)  (mean),   sigma = sqrt(2 o / eta)  (sum)                         (3)
 * Privacy   a release per mini-batch and nothing else looks at rows: composition over all of them is what is charged.
 *           (1) and (2) act on released values.  A second, conditional statement about the last iterate is in
 *           acct/hidden_sbcd.c.
 * Reference DP-SBCD, Algorithm 2, (2), (7), (8). */
#include "acct/acct.h"
#include "model/split.h"
#include "opt/opt.h"
#include "reg/reg.h"

enum { MEAN, SUM, FIRST_ROUNDS = 300, ROUNDS = 20 }; /* of power iteration, which goes on from step to step */

typedef struct cfg {
    pvi_loop_cfg loop;
    int64_t epochs, gradient, calibration;
    double step, momentum;
    pv_numbers rho; /* one, or of every layer */
} cfg;

typedef struct state {
    pvi_loop loop;
    double *g, *m;
    float *room; /* of every layer: its singular vector, kept between steps, and room for pvi_spectral_norm */
} state;

static const pv_param params[] = {
    PVI_LOOP_ROWS(PVI_OUT_EMA),
    { "epochs", PV_I64, offsetof(cfg, epochs), PV_AUTO, 1, 1e9, true, "K, passes over the rows; sets steps", NULL },
    { "step", PV_F64, offsetof(cfg, step), PV_AUTO, 1e-12, 1e12, true,
      "eta, step size; auto: 1/(10 C) for the mean gradient", NULL },
    { "momentum", PV_F64, offsetof(cfg, momentum), PV_AUTO, 0, 0.9999, true,
      "beta, weight of past gradients; auto: 0.9, and 0 with calibration=paper", NULL },
    { "rho", PV_LIST, offsetof(cfg, rho), 3, 1e-6, 1e6, true,
      "rho, bound on every layer's spectral norm; or one for each layer", NULL },
    PVI_SCHEDULE_ROW("constant", true),
    PVI_WARMUP_ROW(0, true),
    PVI_NOISE_ROWS,
    { "gradient", PV_ENUM, offsetof(cfg, gradient), MEAN, 0, 0, true, "what eta multiplies", "mean|sum" },
    PVI_CALIBRATION_ROW(cfg, "paper: o is the variance of DP-SBCD (8) as printed"),
    { 0 }
};

static pv_status resolve(void *c_, const pv_problem *p)
{
    cfg *c = c_;
    const int64_t J = pvi_epoch_steps(p);
    if (c->epochs != PV_AUTO_I64 && c->loop.steps != PV_AUTO_I64 && c->loop.steps != c->epochs * J)
        return pvi_fail(p->ctx, PV_E_PARAM,
                        "optimizer.epochs=%lld means %lld steps, and optimizer.steps=%lld: leave one out",
                        (long long)c->epochs, (long long)(c->epochs * J), (long long)c->loop.steps);
    if (c->loop.steps == PV_AUTO_I64)
        c->loop.steps = c->epochs != PV_AUTO_I64 ? c->epochs * J : 15 * J > 100 ? 15 * J : 100;
    c->epochs = (c->loop.steps - 1) / J + 1;
    if (isnan(c->step)) c->step = 0.1 / p->C / (c->gradient == SUM ? p->batch : 1.0);
    if (isnan(c->momentum)) c->momentum = c->calibration == PVI_BY_PAPER ? 0.0 : 0.9;
    const pv_status s = pvi_list_check(p->ctx, "optimizer.rho", &c->rho, p->tensors / 2);
    return s == PV_OK ? pvi_schedule_check(&c->loop.sched, p, c->loop.steps) : s;
}

/* (3) */
static pv_status noise(const void *c_, const pv_problem *p, double *z)
{
    const cfg *c = c_;
    pvi_schedule sched;
    if (c->calibration != PVI_BY_PAPER) return PV_OK;
    pv_arena *a = pvi_arena_create(p->ctx);
    if (!a) return pvi_nomem(p->ctx);
    pv_status s = pvi_paper_equal_steps(p, "DP-SBCD (8)", &c->loop.sched);
    if (s == PV_OK) s = pvi_schedule_open(&sched, &c->loop.sched, p, c->loop.steps, a);
    if (s == PV_OK) {
        const double sigma = (c->gradient == SUM ? 1.0 : p->batch) * sqrt(2.0 * sched.least / c->step);
        *z = sigma / (p->relation == PV_REL_REPLACE ? 2.0 * p->C : p->C);
    }
    pvi_arena_free(a);
    return s;
}

static int64_t layer_room(const pv_problem *p, int64_t layer)
{
    const int64_t out = p->tensor[2 * layer].units, in = p->tensor[2 * layer].size / out;
    return (in + 2) * pvi_split_pad(out);
}

static const pv_state arrays[] = {
    PVI_LOOP_ARRAY, { offsetof(state, g), PV_VECTOR }, { offsetof(state, m), PV_VECTOR }, { 0, 0 }
};

static pv_status init(void *s_, const void *c_, const pv_problem *p, pv_arena *a)
{
    state *s = s_;
    const cfg *c = c_;
    int64_t room = 0;
    for (int64_t i = 0; i < p->tensors / 2; i++) room += layer_room(p, i);
    s->room = pv_arena_get(a, sizeof *s->room * (size_t)room);
    if (!s->room) return PV_E_NOMEM;
    return pvi_loop_init(&s->loop, &c->loop, p, a);
}

/* Where the gates of acct/hidden_sbcd.c are open; otherwise composition is all there is. */
static pv_status conditional(const void *c_, const pv_problem *p, const pv_event *total, double certified,
                             pv_arena *a, const char **json)
{
    const cfg *c = c_;
    double epsilon;
    const pv_reg_ops *reg = p->reg;
    const bool convex = isfinite(p->L) && (reg->props & PV_CONVEX) && (reg->prox || !reg->grad);
    const pvi_hidden_sbcd h = { .step = c->gradient == SUM ? c->step * p->batch : c->step,
                                .smooth = p->L,
                                .shrink = reg->prox ? pvi_penalty_strong(p) : 0.0,
                                .fixed_order = true, /* judged by the events */
                                .last_iterate_only = c->loop.output == PVI_OUT_LAST,
                                .no_momentum = c->momentum == 0.0,
                                .convex = convex };
    if (!convex || !h.last_iterate_only || !h.no_momentum || !pvi_schedule_equal_steps(&c->loop.sched)) return PV_OK;
    const char *text;
    const pv_status s = pvi_hidden_sbcd_write(p->ctx, a, h, total, p->delta, &epsilon, &text);
    if (s != PV_OK) return s == PV_E_UNSUPPORTED ? PV_OK : s;
    if (!(epsilon < certified)) return PV_OK; /* it says less than what is certified */
    *json = text;
    pvi_log(p->ctx, PV_LOG_NOTE,
            "who sees nothing but the last weights: epsilon %.6g, under assumptions that the certificate lists; "
            "what is certified and charged rests on none of them",
            epsilon);
    return PV_OK;
}

/* ---- (2) ---------------------------------------------------------------------------------------------------- */

typedef struct scaling { /* layers are scaled by different threads */
    const pv_problem *p;
    const state *s;
    const pv_numbers *rho;
    double *w;
} scaling;

/* Tensors come in pairs: the matrix of a layer, and its biases. */
static void scale_layer(void *arg, int64_t layer, int thread)
{
    const scaling *q = arg;
    const pv_problem *p = q->p;
    int64_t at = 0, room = 0;
    for (int64_t i = 0; i < 2 * layer; i++) at += p->tensor[i].size;
    for (int64_t i = 0; i < layer; i++) room += layer_room(p, i);
    const int64_t size = p->tensor[2 * layer].size, out = p->tensor[2 * layer].units, in = size / out;
    const double rho = pvi_list_at(q->rho, layer) / fmax(1.0, (double)p->tensor[2 * layer].overlap);
    double *const w = q->w + at;
    float *const v = q->s->room + room;
    const int rounds = v[0] == 0.0f ? FIRST_ROUNDS : ROUNDS;
    (void)thread;
    const double lambda = pvi_spectral_norm(in, out, w, rho, rounds, v, v + pvi_split_pad(out));
    const double f = rho / lambda;
    for (int64_t j = 0; lambda > rho && j < size; j++) w[j] *= f;
}

static void normalize(const pv_problem *p, const state *s, const pv_numbers *rho, double *w)
{
    scaling q = { p, s, rho, w };
    pvi_parallel(p->ctx, p->tensors / 2, scale_layer, &q);
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

static pv_status step(void *s_, const void *c_, const pv_problem *p, int64_t t, pv_oracle *o, double *w)
{
    state *s = s_;
    const cfg *c = c_;
    const double eta = pvi_loop_eta(&s->loop, c->gradient == SUM ? c->step * p->batch : c->step, t);

    pvi_loop_begin(&s->loop, p, t, o, w);
    if (t == 1) normalize(p, s, &c->rho, w);
    const pv_status st = pvi_loop_ask(&s->loop, t, o, w, s->g);
    if (st != PV_OK) return st;
    pv_reg_grad(p, w, s->g);
    for (int64_t j = 0; j < p->d; j++) {
        s->m[j] = c->momentum * s->m[j] + s->g[j];
        w[j] -= eta * s->m[j];
    }
    pv_prox(p, eta, w); /* (1) */
    normalize(p, s, &c->rho, w);
    return pvi_loop_end(&s->loop, p, t, w);
}

const pv_optimizer_ops pv_optimizer_sbcd = {
    .head = { .name = "sbcd",
              .summary = "DP-SBCD: a network layer by layer, with bounded Lipschitz constants",
              .reference = "Chen, Liu, Algorithm 2 (DP-SBCD)",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .needs = PV_PROX | PV_BLOCKS,
    .ask = { { &pvi_query_gradient, &pv_mechanism_gaussian, &pvi_poisson, NULL } },
    .resolve = resolve,
    .plan = pvi_loop_plan,
    .state = arrays,
    .init = init,
    .step = step,
    .steps = pvi_loop_steps,
    .noise = noise,
    .auto_for = PV_ANY_MODEL | PV_NETWORK | PV_BLOCKS,
    .conditional = conditional,
};
