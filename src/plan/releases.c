/* releases.c - what the run will ask of the rows: clipping norm, samplers, and the rows of the plan. */
#include "opt/opt.h"
#include "plan/job.h"

/* A theorem is about the loss as it is, and about the constants it names. */
static bool by_the_paper(const pvi_job *j)
{
    const pv_param *row = pvi_param_find(j->opt->head.params, "calibration");
    int64_t value = PVI_BY_ACCOUNTANT;
    if (row) memcpy(&value, (const char *)j->opt_cfg + row->offset, sizeof value);
    return value == PVI_BY_PAPER;
}

static double default_clip(const pvi_job *j)
{
    const bool may_cut =
        pvi_model_props(&j->model) & PV_CLASSIFY && pvi_kind_of(&j->opt->ask[0])->may_clip && !by_the_paper(j);
    return may_cut ? pvi_default_clip(&j->prob) : j->prob.bound;
}

static pv_status set_clip(pvi_job *j)
{
    double G, L, clip = j->plan->s.clip;
    j->model.ops->constants(j->model.cfg, &j->dom, &G, &L);
    j->prob.bound = G;
    j->prob.L = L;
    if (isnan(clip) && isfinite(G)) clip = default_clip(j);
    if (isnan(clip) && j->model.ops->clip > 0.0) clip = j->model.ops->clip;
    if (isnan(clip) && !j->private_run) clip = 1e6; /* only the grid needs some bound */
    if (isnan(clip)) { /* a loss without a bound of its own: the gradient at w = 0 is at most |y| R */
        const double y = fmax(fabs(j->dom.y_lo), fabs(j->dom.y_hi));
        if (!isfinite(y) || !(y > 0.0))
            return pvi_fail(j->ctx, PV_E_PARAM,
                            "model=%s has no gradient bound of its own: set clip=C, "
                            "or declare bounds for the label (data.y_min, data.y_max, or a schema)",
                            j->model.named->name);
        clip = y * j->dom.row_norm;
        pvi_log(j->ctx, PV_LOG_NOTE, "clip = %g: the largest gradient at the start, from the label's declared bounds",
                clip);
    }
    if (!(clip >= PVI_CLIP_MIN && clip <= PVI_CLIP_MAX))
        return pvi_fail(j->ctx, PV_E_PARAM, "clip = %g: gradients are clipped between 1e-18 and 1e18", clip);
    j->prob.G = fmin(clip, G);
    return PV_OK;
}

/* ---- samplers -------------------------------------------------------------------------------------------------- */

/* A release of ask k; every release of a plan is on samples alike: the first decides how large they are. */
static pv_status set_sample(pvi_job *j, int k, pvi_release *r)
{
    const pvi_settings *s = &j->plan->s;
    const pv_ask_row *ask = &j->opt->ask[k];
    const double n = (double)j->dom.n;
    r->kind = pvi_kind_of(ask);
    PVI_REQUIRE(r->kind);
    r->q.ops = ask->query;
    r->sampler = s->sampler == 0 ? ask->sampler : pvi_samplers[s->sampler - 1];
    if (!pvi_kind_takes(r->kind, r->sampler) || (r->kind->refuse && !isnan(s->batch)))
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "optimizer=%s %s", j->opt->head.name, r->kind->refuse);
    if (r->sampler->whole && !isnan(s->batch))
        return pvi_fail(j->ctx, PV_E_PARAM, "sampler.batch needs a sampler that draws batches: add sampler=poisson");
    if (s->batch > n)
        return pvi_fail(j->ctx, PV_E_PARAM, "sampler.batch=%g is more than the %lld rows there are", s->batch,
                        (long long)j->dom.n);
    pvi_release_sample(r, k > 0 && !j->release[0].sampler->whole ? j->release[0].batch : s->batch, n);
    if (k > 0 && j->release[0].sampler->whole) r->sampler = j->release[0].sampler, pvi_release_sample(r, NAN, n);
    return PV_OK;
}

/* ---- second derivatives ---------------------------------------------------------------------------------------- */

enum { MAX_DENSE = 4096 }; /* weights of a Hessian that is held whole */

static pv_status check_second(pvi_job *j)
{
    const char *opt = j->opt->head.name;
    if (!j->model.ops->hess)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s needs second derivatives, which model=%s does not have", opt,
                        j->model.named->name);
    if (j->prob.d > MAX_DENSE)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s holds a Hessian of %lld x %lld, and does so up to %d: use optimizer=pgd or sgd",
                        opt, (long long)j->prob.d, (long long)j->prob.d, MAX_DENSE);
    if (j->prob.set)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "optimizer=%s works without a constraint set: leave set=%s out",
                        opt, j->prob.set->head.name);
    if (!j->prob.reg->curv)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s needs a penalty with second derivatives: reg=%s has none, reg=l2 does", opt,
                        j->prob.reg->head.name);
    return PV_OK;
}

/* What resolve may look at: every bound but those that depend on the scale. */
static pv_status open_second(pvi_job *j)
{
    const bool needed = j->opt->needs & PV_HESSIAN;
    const pv_status s = needed ? check_second(j) : PV_OK;
    if (s != PV_OK || !j->model.ops->hess) return s;
    j->joint.grad = j->prob.G;
    j->model.ops->hess->bounds(j->model.cfg, &j->dom, &j->joint);
    if (needed && !(j->joint.hess >= 0x1p-40 && j->joint.hess <= 0x1p40))
        return pvi_fail(j->ctx, PV_E_PARAM, "the Hessian of one row has no usable bound: %g", j->joint.hess);
    j->prob.joint = &j->joint;
    return PV_OK;
}

/* ---- rows of the plan ------------------------------------------------------------------------------------------ */

static pv_status open_query(pvi_job *j, pvi_release *r)
{
    r->q.prob = &j->prob;
    r->q.dom = &j->dom;
    r->q.model = j->model.ops;
    r->q.cfg = j->model.cfg;
    r->q.sparse = j->sparse && !j->transforms;
    r->q.joint = j->joint;
    return r->q.ops->open(&r->q, j->ctx);
}

/* Everything that resolve may look at; then resolve, and what depends on it. */
pv_status pvi_job_releases(pvi_job *j)
{
    pv_status s = set_clip(j);
    for (int k = 0; s == PV_OK && k < PV_MOST_ASKS && j->opt->ask[k].query; k++) s = set_sample(j, k, &j->release[k]);
    if (s != PV_OK) return s;
    j->prob.batch = j->release[0].batch;
    j->prob.sampling = j->release[0].sampler->event;
    j->prob.planned = j->planned;
    if ((s = open_second(j)) != PV_OK || (s = j->opt->resolve(j->opt_cfg, &j->prob)) != PV_OK) return s;
    if (j->opt->weigh) j->opt->weigh(j->opt_cfg, &j->prob, &j->joint);
    for (int k = 0; k < PV_MOST_ASKS && j->opt->ask[k].query; k++) {
        const pv_ask_row *ask = &j->opt->ask[k];
        j->release[k].asked = !ask->wanted || ask->wanted(j->opt_cfg);
        if (j->release[k].asked) j->releases = k + 1;
        j->transforms |= j->release[k].asked && ask->query->transforms;
    }
    for (int k = 0; s == PV_OK && k < j->releases; k++)
        if (j->release[k].asked) s = open_query(j, &j->release[k]);
    return s;
}
