/* diagnose_second.c - NOT PRIVATE: is the returned model an alpha-SOSP, and how far above the minimum is it?
 *
 * Only with run.diagnostics, and for the methods that look for second-order stationary points (tr, str, gd-sosp).
 *   (1)  alpha-SOSP:  ||F'(w)|| <= alpha  and  lambda_min(F''(w)) >= -sqrt(rho alpha), rho the Lipschitz constant of
 *        F''.  Reported are both left sides and the smallest alpha for which they hold,
 *          alpha = max(||F'||, min(0, lambda_min)^2 / rho)
 *   (2)  lambda_min by Lanczos (curvature.c)
 *   (3)  reference: the lowest objective that trust-region runs of thirty steps without noise reach from the start,
 *        for two radii.  Where the objective has many minima, a lower one may exist, and a gap below zero says so.
 *
 * Privacy   none, as in diagnose.c.  The runs of (3) have settings, random source and output of their own. */
#include "eval/eval.h"
#include "opt/second_order.h"
#include "run/run.h"

static const char *const radii[] = { "4", "1000" };
enum { RUNS = sizeof radii / sizeof *radii };

/* ---- (3) ------------------------------------------------------------------------------------------------- */

/* The second-order method on every row whose steps have a radius. */
static const char *reference_method(void)
{
    const pv_plugin *h;
    for (int64_t i = 0; (h = pv_nth(PV_KIND_optimizer, i)); i++) {
        const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)h;
        if (o->needs & PV_HESSIAN && o->ask[0].sampler->whole && pvi_param_find(h->params, "radius")) return h->name;
    }
    return "auto";
}

/* The plan of a run without noise on the same rows; what it borrows lives as long as `plan`. */
static pv_status reference_plan(const pv_plan *plan, const char *radius, pv_plan **out)
{
    pv_status s = pv_plan_create(plan->ctx, out);
    if (s != PV_OK) return s;
    pv_plan *p = *out;
    p->s = plan->s;
    p->s.optimizer = reference_method();
    p->s.mechanism = "auto";
    p->s.privacy = PVI_PRIVACY_OFF;
    p->s.sampler = 0;
    p->s.batch = p->s.batch_hessian = p->s.noise_multiplier = p->s.clip = NAN;
    p->s.seed = p->s.every = PV_AUTO_I64;
    p->s.diagnostics = false;
    p->s.holdout = p->s.apart = p->s.log = NULL;
    for (const pvi_pair *k = plan->pairs; s == PV_OK && k; k = k->next)
        if (strncmp(k->key, "optimizer.", 10) != 0) s = pv_plan_set(p, k->key, k->value);
    if (s == PV_OK) s = pv_plan_set(p, "optimizer.steps", "30");
    if (s == PV_OK) s = pv_plan_set(p, "optimizer.growth", "1");
    if (s == PV_OK) s = pv_plan_set(p, "optimizer.radius", radius);
    return s;
}

static pv_status reference_run(const pvi_job *j, const pvi_matrix *m, const char *radius, double *w)
{
    pv_plan *p = NULL;
    pv_result *r = NULL;
    int64_t d;
    pv_status s = reference_plan(j->plan, radius, &p);
    pvi_matrix same = *m; /* its rows */
    if (s == PV_OK) s = pvi_run_matrix(p, &same, NULL, NULL, &r);
    if (s == PV_OK) s = pv_result_weights(r, w, j->prob.d, &d);
    pv_result_free(r);
    pv_plan_free(p);
    return s;
}

static pv_status reference(const pvi_job *j, const pvi_matrix *m, pvi_diagnosis *x, double *w, double *best)
{
    pv_ctx *ctx = j->ctx;
    const pv_log_fn log = ctx->log;
    const pv_progress_fn progress = ctx->progress;
    pv_status s = PV_OK;
    ctx->log = NULL; /* what these runs would say is not about the run that was asked for */
    ctx->progress = NULL;
    *best = INFINITY;
    for (int k = 0; s == PV_OK && k < RUNS; k++) {
        double value = NAN;
        s = reference_run(j, m, radii[k], w);
        if (s == PV_OK) s = pvi_diagnose_objective(x, w, &value);
        *best = fmin(*best, value);
    }
    ctx->log = log;
    ctx->progress = progress;
    if (s == PV_OK || s == PV_E_NOMEM) return s;
    *best = NAN; /* a run without noise must not decide whether the private model leaves */
    return PV_OK;
}

/* ---- report -------------------------------------------------------------------------------------------------- */

/* optimizer.alpha, if the method has such a setting and it was given; NAN otherwise. */
static double wanted_alpha(const pvi_job *j)
{
    const pv_param *row = pvi_param_find(j->opt->head.params, "alpha");
    double alpha = NAN;
    if (row) memcpy(&alpha, (const char *)j->opt_cfg + row->offset, sizeof alpha);
    return alpha;
}

pv_status pvi_diagnose_second(const pvi_job *j, const pvi_matrix *m, pvi_diagnosis *x, const double *w, pv_arena *a,
                              pvi_sosp *out)
{
    double *other = pv_arena_f64(a, j->prob.d), *g = pv_arena_f64(a, j->prob.d);
    pvi_lowest low = { 0 };
    if (!other || !g) return pvi_nomem(j->ctx);
    pv_status s = pvi_diagnose_gradient(x, w, g);
    if (s == PV_OK) s = pvi_diagnose_objective(x, w, &out->objective);
    if (s == PV_OK) s = pvi_diagnose_lowest(x, w, &low);
    if (s == PV_OK) s = reference(j, m, x, other, &out->reference);
    out->lowest = low.value;
    out->gradient = pvi_norm2(g, j->prob.d);
    out->rho = pvi_second_rho(&j->prob);
    out->wanted = wanted_alpha(j);
    out->alpha = fmax(out->gradient, out->rho > 0.0 ? pow(fmin(out->lowest, 0.0), 2.0) / out->rho : 0.0); /* (1) */
    return s;
}

void pvi_sosp_write(const pvi_sosp *s, pvi_jw *w)
{
    pvi_jw_open(w, "second_order", '{');
    pvi_jw_f64(w, "gradient_norm", s->gradient);
    pvi_jw_f64(w, "lambda_min", s->lowest);
    pvi_jw_f64(w, "rho", s->rho);
    pvi_jw_f64(w, "alpha", s->alpha);
    pvi_jw_f64(w, "sqrt_rho_alpha", sqrt(s->rho * s->alpha));
    if (!isnan(s->wanted)) pvi_jw_f64(w, "alpha_wanted", s->wanted);
    if (!isnan(s->wanted)) pvi_jw_bool(w, "alpha_wanted_reached", s->alpha <= s->wanted);
    pvi_jw_f64(w, "reference_objective", s->reference);
    pvi_jw_f64(w, "optimality_gap", s->objective - s->reference);
    pvi_jw_i64(w, "reference_runs", RUNS);
    pvi_jw_close(w, '}');
}
