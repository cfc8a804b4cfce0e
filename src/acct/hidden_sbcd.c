/* hidden_sbcd.c - the last iterate of noisy block coordinate descent: DP-SBCD, Theorem 4.6, as far as it holds.
 *
 * In epoch k = 0 .. K-1 the batches j = 0 .. J-1 are taken in the same order.  Each step of a layer is
 *     theta <- T(F(theta) + N(0, v_k I)),  F(theta) = theta - eta grad,  T the prox of r,
 * F and T Lipschitz with constants L_F and L_T, and one row moves F by at most sqrt(v_k)/z_k in its own batch and not
 * at all in the others.  With 1/c the reciprocal log-Sobolev constant of theta (0 at the start, which is public):
 *   (1) 1/c <- L_T^2 (L_F^2/c + v_k)                                                          (Lemma 4.7)
 *   (2) the row's own batch:  R_a/a grows by at most 1/(2 z_k^2)                              (Corollary 4.5, 2)
 *   (3) any other batch:      R_a/a shrinks by the factor 1/(1 + c v_k/L_F^2)                 (Corollary 4.5, 1)
 * R_a the Renyi divergence of order a, for every a > 1 at once.  Starting from 0, (1) to (3) are run through step by
 * step for a row in batch j0; a row's place is fixed, so the bound is the largest over j0, not the average that the
 * theorem takes over a random place.  The outcome is R_a <= a rate for all a.
 *   (4) (1) does not depend on j0, so an epoch takes all rates at once: with the factors f_j of (3),
 *       rate_j0 <- (rate_j0 prod_{j<j0} f_j + 1/(2 z_k^2)) prod_{j>j0} f_j
 *       Each step multiplies and adds a few times: a relative 16 J K 2^-53 is above what rounding can take away.
 * Work is in proportion to J K, memory to J; more than MOST_STEPS and MOST_BATCHES is refused before it begins.
 *
 * Departures from the printed theorem.
 *   - The exponent of (3) is -1, printed -1/L_T^2.  T comes after the noise; where it is a scaling it is a bijection
 *     and leaves R_a alone, and for two Gaussians (3) with -1 is an equality: with L_T < 1 the printed bound lies
 *     below the true divergence.  For L_T = 1 both agree.
 *   - The printed product telescopes (1) and (3) with c_K^{n/b-1} for the last constant and with the factors l = k
 *     and l = K in it; (3) gives c_{K-1}^{n/b} and l = k+1 .. K-1.  Here nothing is telescoped.
 *   - A prox of a convex function has L_T <= 1 (printed 2), and of (lambda/2) ||.||^2 it is 1/(1 + eta lambda).
 *   - The layer's problem is convex but not strongly: L_F = max(1, |1 - eta beta|); who assumes strong convexity m
 *     has L_F = max(|1 - eta m|, |1 - eta beta|), since the eigenvalues of 1 - eta Hessian lie between.  beta =
 *     gamma (X^2 + 1) with X the bound on its input (Lemma 3.2 prints X^4, in these units).  Clipping a row's
 *     gradient r x' keeps this for the squared loss: it clips r to C/||x||, the gradient of a Huber function of
 *     theta x - U, convex and as smooth.
 * What the theorem does not treat, and a caller has to state as assumptions: the layers are trained together, so x_d
 * and U_d of one layer's problem depend on the others; theta is rescaled to its spectral norm, which may expand
 * distances; nothing but the last iterate is seen.  Hence this number is never charged. */
#include "acct.h"

#define HUGE_INVERSE 1e200 /* 1/c grows without bound where F expands; past this a step hides nothing */

static pv_status not_met(pv_ctx *ctx, const char *condition)
{
    return pvi_fail(ctx, PV_E_UNSUPPORTED, "hidden-state accounting does not apply: %s", condition);
}

static pv_status gates(pv_ctx *ctx, const pvi_hidden_sbcd *h)
{
    bool good = h->batches >= 1 && h->epochs >= 1 && h->step > 0 && h->smooth > 0 && h->shrink >= 0 && h->z &&
                h->strong >= 0 && h->strong <= h->smooth;
    for (int64_t k = 0; good && k < h->epochs; k++) good = h->z[k] > 0 && isfinite(h->z[k]);
    if (!good || !isfinite(h->step) || !isfinite(h->smooth) || !isfinite(h->shrink))
        return pvi_fail(ctx, PV_E_ARG, "hidden-state accounting: a constant is missing or out of range");
    if (!h->fixed_order) return not_met(ctx, "batches are not taken in a fixed order");
    if (!h->last_iterate_only) return not_met(ctx, "more than the last iterate leaves the run");
    if (!h->no_momentum) return not_met(ctx, "momentum remembers earlier steps");
    if (!h->convex)
        return not_met(ctx, "clipping may be active, and the clipped gradient of this loss need not contract");
    return PV_OK;
}

enum { MOST_BATCHES = 1 << 22, MOST_STEPS = 1 << 28 };

/* (4) */
static void one_epoch(int64_t J, double v, double F2, double T2, double *inverse, double *factor, double *rate)
{
    double before_j0 = 1.0, after_j0 = 1.0; /* inverse: 1/c, in units of the variance of noise multiplier 1 */
    for (int64_t j = 0; j < J; j++) {
        const double grown = F2 * *inverse;                           /* L_F^2/c */
        factor[j] = grown < HUGE_INVERSE ? grown / (grown + v) : 1.0; /* (3); beyond, next to nothing is hidden */
        *inverse = fmin(T2 * (grown + v), HUGE_INVERSE);              /* (1) */
        rate[j] = rate[j] * before_j0 + 0.5 / v;                      /* (2) */
        before_j0 *= factor[j];
    }
    for (int64_t j = J - 1; j >= 0; j--) {
        rate[j] *= after_j0;
        after_j0 *= factor[j];
    }
}

static pv_status largest_rate(pv_ctx *ctx, const pvi_hidden_sbcd *h, double F2, double T2, double *most)
{
    const int64_t J = h->batches;
    double inverse = 0.0, *rate = pvi_alloc(ctx, 2 * sizeof *rate * (size_t)J); /* zeroed */
    if (!rate) return pvi_nomem(ctx);
    for (int64_t k = 0; k < h->epochs; k++) one_epoch(J, h->z[k] * h->z[k], F2, T2, &inverse, rate + J, rate);
    bool good = true;
    for (int64_t j = 0; j < J; j++) { /* 0: a step with L_F = 0 forgets all rows but those of its own batch */
        good = good && rate[j] >= 0.0 && isfinite(rate[j]);
        *most = fmax(*most, rate[j]);
    }
    good = good && *most > 0.0;
    pvi_free(ctx, rate);
    return good ? PV_OK : pvi_fail(ctx, PV_E_NUMERIC, "hidden-state accounting: the bound cannot be computed");
}

pv_status pvi_hidden_sbcd_rate(pv_ctx *ctx, const pvi_hidden_sbcd *h, double *rate)
{
    *rate = INFINITY;
    pv_status s = gates(ctx, h);
    if (s != PV_OK) return s;
    const double F = fmax(fabs(1.0 - h->step * h->strong), fabs(1.0 - h->step * h->smooth)),
                 T = 1.0 / (1.0 + h->step * h->shrink);
    const double steps = (double)h->batches * (double)h->epochs;
    double most = 0.0;
    if (!(F < 1e50)) return not_met(ctx, "the step is far too long for the layer's smoothness");
    if (h->batches > MOST_BATCHES || steps > MOST_STEPS) return not_met(ctx, "there are too many batches or epochs");
    if ((s = largest_rate(ctx, h, F * F, T * T, &most)) != PV_OK) return s;
    *rate = most * (1.0 + 1e-12 + 16.0 * steps * 0x1p-53); /* above the rounding */
    return PV_OK;
}

static double linear(const void *rate, double m)
{
    return (1.0 + m) * *(const double *)rate;
}

double pvi_hidden_sbcd_epsilon(double rate, double delta)
{
    return pvi_rdp_epsilon(linear, &rate, delta, sqrt(log(1.0 / delta) / rate));
}

/* ---- in a certificate ----------------------------------------------------------------------------------- */

const char *const pvi_hidden_sbcd_assumptions[] = {
    "Only the last weights leave the run, and whoever attacks sees no others.",
    "Each layer's problem is treated as if the other layers stood still, although all are trained together.",
    "A layer's targets are treated as if they did not move with its own weights, although they are computed from "
    "them.",
    "Scaling a layer to its spectral norm is treated as if it moved no two weights apart.",
    NULL,
};

/* Noise multipliers of the epochs: sequences of repetitions of one release on one of J parts, or on all rows. */
static bool take_epochs(const pv_event *e, int64_t times, pvi_hidden_sbcd *h, double *z, int64_t cap)
{
    if (e->kind == PV_EV_REPEAT) return times == 1 && take_epochs(e->sub, e->n, h, z, cap);
    if (e->kind == PV_EV_SEQ) {
        for (const pv_event *p = e->sub; p; p = p->next)
            if (times != 1 || !take_epochs(p, 1, h, z, cap)) return false;
        return true;
    }
    const int64_t J = e->kind == PV_EV_CYCLIC ? e->n : 1;
    const pv_event *leaf = e->kind == PV_EV_CYCLIC ? e->sub : e;
    if (leaf->kind != PV_EV_GAUSSIAN || times % J || (h->batches && h->batches != J) || times / J > cap - h->epochs)
        return false;
    h->batches = J;
    for (int64_t k = 0; k < times / J; k++) z[h->epochs++] = leaf->a;
    return true;
}

pv_status pvi_hidden_sbcd_write(pv_ctx *ctx, pv_arena *a, pvi_hidden_sbcd h, const pv_event *events, double delta,
                                double *epsilon, const char **json)
{
    enum { MOST = 100000 };
    double rate, *z = pv_arena_f64(a, MOST);
    char *text;
    if (!z) return pvi_nomem(ctx);
    h.batches = h.epochs = 0;
    h.z = z;
    if (!take_epochs(events, 1, &h, z, MOST)) return not_met(ctx, "batches are not taken in a fixed order");
    pv_status s = pvi_hidden_sbcd_rate(ctx, &h, &rate);
    if (s != PV_OK) return s;
    *epsilon = pvi_hidden_sbcd_epsilon(rate, delta);
    pvi_str b = { .ctx = ctx };
    pvi_jw w = { .out = &b };
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_str(&w, "guarantee", "hidden-state");
    pvi_jw_str(&w, "theorem", "DP-SBCD, Theorem 4.6, with the exponent -1 that its proof supports");
    pvi_jw_bool(&w, "charged", false);
    pvi_jw_f64(&w, "epsilon", *epsilon * (1.0 + 1e-9));
    pvi_jw_f64(&w, "delta", delta);
    pvi_jw_i64(&w, "batches", h.batches);
    pvi_jw_i64(&w, "epochs", h.epochs);
    pvi_jw_f64(&w, "step", h.step);
    pvi_jw_f64(&w, "smoothness", h.smooth);
    pvi_jw_f64(&w, "shrinkage", h.shrink);
    pvi_jw_open(&w, "assumptions", '[');
    for (int i = 0; pvi_hidden_sbcd_assumptions[i]; i++) pvi_jw_str(&w, NULL, pvi_hidden_sbcd_assumptions[i]);
    pvi_jw_close(&w, ']');
    pvi_jw_close(&w, '}');
    if ((s = pvi_str_take(&b, &text)) != PV_OK) return s;
    *json = pvi_arena_strdup(a, text, strlen(text));
    pvi_free(ctx, text);
    return *json ? PV_OK : pvi_nomem(ctx);
}

/* The same values in the same places; epsilon apart. */
static bool same(const pvi_json *x, const pvi_json *y)
{
    if (x->type != y->type || x->count != y->count) return false;
    if (x->key && strcmp(x->key, y->key) != 0) return false; /* members of objects: both have keys */
    if (x->key && strcmp(x->key, "epsilon") == 0) return true;
    if (x->type == PVI_JNUM || x->type == PVI_JBOOL) return x->num == y->num;
    if (x->type == PVI_JSTR) return strcmp(x->text, y->text) == 0;
    for (x = x->child, y = y->child; x; x = x->next, y = y->next)
        if (!same(x, y)) return false;
    return true;
}

static double number(const pvi_json *v, const char *key)
{
    const pvi_json *x = pvi_json_get(v, key);
    return x && x->type == PVI_JNUM ? x->num : NAN;
}

pv_status pvi_hidden_sbcd_check(pv_ctx *ctx, const char *json, const pv_event *events, double delta)
{
    pvi_json *said, *made;
    const char *again;
    double epsilon = INFINITY;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_json_parse(ctx, a, "conditional", json, strlen(json), &said);
    if (s == PV_OK) {
        const pvi_hidden_sbcd h = { .step = number(said, "step"),
                                    .smooth = number(said, "smoothness"),
                                    .shrink = number(said, "shrinkage"),
                                    .fixed_order = true,
                                    .last_iterate_only = true,
                                    .no_momentum = true,
                                    .convex = true };
        s = pvi_hidden_sbcd_write(ctx, a, h, events, delta, &epsilon, &again);
    }
    if (s == PV_OK) s = pvi_json_parse(ctx, a, "conditional", again, strlen(again), &made);
    if (s == PV_OK && (!same(made, said) || !(epsilon <= number(said, "epsilon"))))
        s = pvi_fail(ctx, PV_E_VERIFY, "the conditional statement does not follow from its constants and the events");
    pvi_arena_free(a);
    return s;
}
