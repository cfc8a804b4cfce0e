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

/* Of the gradients of squared errors, which have no bound: what they are at most where a label in the middle of its
 * bounds is predicted.  0: not optimizer=auto's to say, or no bounds are declared. */
static double label_size(const pvi_job *j)
{
    const double half = 0.5 * (j->dom.y_hi - j->dom.y_lo);
    const bool open = pvi_model_props(&j->model) & PV_FOR_NUMBERS && isfinite(half) && pvi_auto_formulas(j->plan);
    return open ? half * j->dom.row_norm : 0.0;
}

static double default_clip(const pvi_job *j)
{
    if (!isfinite(j->prob.G)) return pvi_default_clip(&j->prob);
    const bool may_cut = pvi_model_props(&j->model) & PV_CLASSIFY && pvi_kind_of(&j->opt->ask[0])->may_clip &&
                         !(j->opt->needs & PV_HESSIAN) &&
                         !by_the_paper(j); /* a Hessian is not of clipped gradients */
    return may_cut ? pvi_default_clip(&j->prob) : j->prob.G;
}

static pv_status set_clip(pvi_job *j)
{
    double G, L, clip = j->plan->s.clip;
    j->model.ops->constants(j->model.cfg, &j->dom, &G, &L);
    j->prob.G = G;
    j->prob.L = L;
    j->prob.size = label_size(j);
    if (j->opt->ask[0].query->counts) return j->prob.C = 1.0, PV_OK; /* nothing is clipped: bins are counted */
    if (isnan(clip) && (isfinite(G) || j->prob.size > 0.0)) clip = default_clip(j);
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
    j->prob.C = fmin(clip, G * pvi_unit_longest(&j->dom));
    return PV_OK;
}

/* ---- samplers -------------------------------------------------------------------------------------------------- */

/* sampler=... for the first of the kind's samplers that sees every unit, or that draws some. */
static const char *setting_of(const pvi_release_kind *k, bool whole)
{
    const pvi_sampler_ops *const *s = k->samplers;
    while (s[1] && s[0]->whole != whole) s++;
    return s[0]->setting;
}

/* A size that was set, and cannot be. */
static pv_status check_size(const pvi_job *j, const pvi_release *r, const char *key, double rows)
{
    if (isnan(rows)) return PV_OK;
    if (r->sampler->whole)
        return pvi_fail(j->ctx, PV_E_PARAM, "%s needs a sampler that draws batches: add sampler=%s", key,
                        setting_of(r->kind, false));
    if (rows <= (double)j->dom.n) return PV_OK;
    return pvi_fail(j->ctx, PV_E_PARAM, "%s=%g is more than the %lld %ss there are", key, rows, (long long)j->dom.n,
                    pvi_unit_word(&j->dom));
}

/* Rows in a sample of ask k: as set, or as the optimiser says, or as of the first ask; NAN: the query's choice. */
static pv_status wanted_rows(const pvi_job *j, int k, double set, double *rows)
{
    *rows = set;
    const pv_status s = isnan(set) && j->opt->batch ? j->opt->batch(j->opt_cfg, &j->prob, k, rows) : PV_OK;
    if (s == PV_OK && isnan(*rows) && k > 0) *rows = j->release[0].batch;
    return s;
}

/* A release of ask k.  Every release of a plan is on samples alike, or on all rows: the first decides, and how large
 * they are unless the query has a size of its own. */
static pv_status set_sample(pvi_job *j, int k, pvi_release *r)
{
    const pvi_settings *s = &j->plan->s;
    const pv_ask_row *ask = &j->opt->ask[k];
    const double n = (double)j->dom.n, set = ask->query->own_batch ? s->batch_hessian : k > 0 ? NAN : s->batch;
    const char *key = ask->query->own_batch ? "sampler.batch_hessian" : "sampler.batch";
    double rows;
    r->kind = pvi_kind_of(ask);
    PVI_REQUIRE(r->kind);
    r->q.ops = ask->query;
    r->sampler = s->sampler == 0 ? ask->sampler : pvi_sampler_chosen(s->sampler);
    if (!isnan(j->auto_batch)) r->sampler = j->opt->sampled;
    if (!pvi_kind_takes(r->kind, r->sampler) || (!pvi_kind_has_sizes(r->kind) && !isnan(s->batch)))
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "optimizer=%s %s", j->opt->head.name, r->kind->refuse);
    pv_status st = check_size(j, r, key, set);
    if (st == PV_OK) st = wanted_rows(j, k, k == 0 && isnan(set) ? j->auto_batch : set, &rows);
    if (st != PV_OK) return st;
    pvi_release_sample(r, rows, n);
    if (k > 0 && isnan(set) && j->release[0].sampler->whole)
        r->sampler = j->release[0].sampler, pvi_release_sample(r, NAN, n);
    j->planned[k].batch = r->batch;
    if (r->sampler->whole == j->release[0].sampler->whole) return PV_OK;
    return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                    "%s=%g beside sampler.batch=%g: one of them is every row, and no proof covers both in one run; "
                    "set both below the %lld %ss, or sampler=%s",
                    key, r->batch, j->release[0].batch, (long long)j->dom.n, pvi_unit_word(&j->dom),
                    setting_of(r->kind, true));
}

static bool draws_two(const pv_plugin *h, uint32_t of)
{
    const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)h;
    (void)of;
    for (int k = 0; k < PV_MOST_ASKS && o->ask[k].query; k++)
        if (o->ask[k].query->own_batch) return true;
    return false;
}

/* A size that no release has. */
static pv_status check_sizes(const pvi_job *j)
{
    if (isnan(j->plan->s.batch_hessian) || draws_two(&j->opt->head, 0)) return PV_OK;
    return pvi_fail(j->ctx, PV_E_PARAM,
                    "sampler.batch_hessian: optimizer=%s draws no sample for Hessians alone; there is optimizer=%s",
                    j->opt->head.name, pv_names_where(PV_KIND_optimizer, draws_two, 0).text);
}

/* ---- second derivatives ---------------------------------------------------------------------------------------- */

enum { MAX_DENSE = 4096 }; /* weights of a Hessian that is held whole */

static bool has_curvature(const pv_plugin *h, uint32_t of)
{
    (void)of;
    return ((const pv_reg_ops *)(const void *)h)->curv != NULL;
}

static pv_status check_second(pvi_job *j)
{
    const char *opt = j->opt->head.name;
    if (!j->model.ops->hess)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s needs second derivatives, which model=%s does not have", opt,
                        j->model.named->name);
    if (j->prob.d > MAX_DENSE)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s holds a Hessian of %lld x %lld, and does so up to %d: use optimizer=%s", opt,
                        (long long)j->prob.d, (long long)j->prob.d, MAX_DENSE, pvi_plain_optimizer(j)->head.name);
    if (j->prob.set)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED, "optimizer=%s works without a constraint set: leave set=%s out",
                        opt, j->prob.set->head.name);
    if (!j->prob.reg->curv)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s needs a penalty with second derivatives: reg=%s has none, use reg=%s", opt,
                        j->prob.reg->head.name, pv_names_where(PV_KIND_reg, has_curvature, 0).text);
    return PV_OK;
}

/* What resolve may look at: every bound but those that depend on the scale. */
static pv_status open_second(pvi_job *j)
{
    const bool needed = j->opt->needs & PV_HESSIAN;
    const pv_status s = needed ? check_second(j) : PV_OK;
    if (s != PV_OK || !j->model.ops->hess) return s;
    j->joint.grad = j->prob.C;
    j->model.ops->hess->bounds(j->model.cfg, &j->dom, &j->joint);
    if (needed && !(j->joint.hess >= 0x1p-40 && j->joint.hess <= 0x1p40))
        return pvi_fail(j->ctx, PV_E_PARAM, "the Hessian of one row has no usable bound: %g", j->joint.hess);
    j->prob.joint = &j->joint;
    return PV_OK;
}

/* ---- rows of the plan ------------------------------------------------------------------------------------------ */

/* plan.c asks whether a proof covers units of several rows; does the model take them there? */
static pv_status check_units(const pvi_job *j, const pvi_release *r)
{
    const pvi_query_ops *q = r->kind->query;
    if (!j->dom.unit_rows) return PV_OK;
    PVI_REQUIRE(pvi_kind_takes_units(r->kind));
    if (pvi_kind_is_second(r->kind) && !(j->model.ops->hess && j->model.ops->hess->props & PV_UNITS))
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer=%s asks for %s, which model=%s has of rows, not of persons: %s%s",
                        j->opt->head.name, r->kind->name, j->model.named->name,
                        q->transforms ? "optimizer.share=0 would do" : "use optimizer=",
                        q->transforms ? "" : pvi_plain_optimizer(j)->head.name);
    return PV_OK;
}

static pv_status open_query(pvi_job *j, pvi_release *r)
{
    const pv_status s = check_units(j, r);
    if (s != PV_OK) return s;
    r->q.prob = &j->prob;
    r->q.dom = &j->dom;
    r->q.model = j->model.ops;
    r->q.cfg = j->model.cfg;
    r->q.sparse = j->sparse && !j->transforms;
    r->q.joint = j->joint;
    r->q.descent = j->descent;
    r->q.unit = 1.0;
    return r->q.ops->open(&r->q, j->ctx);
}

/* Everything that resolve may look at; then resolve, and what depends on it. */
pv_status pvi_job_releases(pvi_job *j)
{
    pv_status s = set_clip(j);
    if (s == PV_OK) s = open_second(j);
    if (s == PV_OK) s = check_sizes(j);
    for (int k = 0; s == PV_OK && k < PV_MOST_ASKS && j->opt->ask[k].query; k++) s = set_sample(j, k, &j->release[k]);
    if (s != PV_OK) return s;
    j->prob.batch = j->release[0].batch;
    j->prob.sampling = j->release[0].sampler->event;
    j->prob.planned = j->planned;
    if ((s = j->opt->resolve(j->opt_cfg, &j->prob)) != PV_OK) return s;
    if (j->opt->weigh) j->opt->weigh(j->opt_cfg, &j->prob, &j->joint);
    if (j->opt->descend) j->opt->descend(j->opt_cfg, &j->descent);
    for (int k = 0; k < PV_MOST_ASKS && j->opt->ask[k].query; k++) {
        const pv_ask_row *ask = &j->opt->ask[k];
        j->release[k].asked = !ask->wanted || ask->wanted(j->opt_cfg);
        if (j->release[k].asked) j->releases = k + 1;
        j->transforms |= j->release[k].asked && ask->query->transforms;
    }
    for (int k = 0; s == PV_OK && k < j->releases; k++)
        if (j->release[k].asked) s = open_query(j, &j->release[k]);
    return s == PV_OK ? pvi_job_stage(j) : s;
}
