/* auto_optimizer.c - which optimiser optimizer=auto is, from public quantities.
 *
 * Of the optimisers for models like this one (auto_for), the one that asks most of them, as long as it says that the
 * problem suits it; whether it then takes samples is its own answer, too.  The formulas are in the optimisers' files:
 * opt_tr.c (1), (2), opt_pgd.c (4).
 * Settings  an optimiser's setting, a sampler, a clip or noise given by hand, or no noise at all: the one that suits
 *           every problem, with every unit in every step, as if there were no formulas.
 * Privacy   units, weights, budget and constants of the loss are public: nothing here depends on a row. */
#include "opt/opt.h"
#include "plan/job.h"

enum { SPARSE = 100 }; /* numbers in a sparse row, about */

static bool by_hand(const pv_plan *plan)
{
    const pvi_settings *s = &plan->s;
    for (const pvi_pair *p = plan->pairs; p; p = p->next)
        if (strncmp(p->key, "optimizer.", 10) == 0) return true;
    return s->unit_combine != 0 || s->unit_weight != 0 || s->sampler != 0 || !isnan(s->batch) || !isnan(s->clip) ||
           !isnan(s->noise_multiplier) || strcmp(s->start, "auto") != 0;
}

bool pvi_auto_formulas(const pv_plan *plan)
{
    return strcmp(plan->s.optimizer, "auto") == 0 && plan->s.privacy == PVI_PRIVACY_ON && !by_hand(plan);
}

/* Second derivatives that a metric can be learned for. */
static bool has_second(const pvi_job *j)
{
    const pv_hess_ops *h = j->model.ops->hess;
    return h && h->moment && pvi_model_props(&j->model) & PV_HESSIAN && (!j->dom.unit_rows || h->props & PV_UNITS) &&
           j->prob.reg->curv && !j->prob.set && !j->sparse && !j->dom.max_norm;
}

/* The problem as an optimiser on clipped gradients will see it; false: there is no rule for its steps. */
static bool foresee(const pvi_job *j, pv_problem *p, pv_joint *joint)
{
    *p = j->prob;
    if (!pvi_auto_formulas(j->plan)) return false;
    j->model.ops->constants(j->model.cfg, &j->dom, &p->G, &p->L);
    if (!isfinite(p->G) || !isfinite(p->L) || !(p->L > 0.0)) return false;
    p->C = pvi_model_props(&j->model) & PV_CLASSIFY ? pvi_clip_for(p) : p->G;
    *joint = (pv_joint) { .grad = p->C };
    if (!has_second(j)) return true;
    j->model.ops->hess->bounds(j->model.cfg, &j->dom, joint);
    p->joint = joint;
    return true;
}

/* p NULL: of those without conditions. */
static const pv_optimizer_ops *best_of(uint32_t props, const pv_problem *p)
{
    const pv_plugin *h;
    const pv_optimizer_ops *best = NULL;
    for (int64_t i = 0; (h = pv_nth(PV_KIND_optimizer, i)); i++) {
        const pv_optimizer_ops *o = (const pv_optimizer_ops *)(const void *)h;
        if (!o->auto_for || o->auto_for & ~(props | PV_ANY_MODEL)) continue;
        if (best && __builtin_popcount(o->auto_for) <= __builtin_popcount(best->auto_for)) continue;
        if (o->suits && !(p && o->suits(p))) continue;
        best = o;
    }
    return best;
}

const pv_optimizer_ops *pvi_plain_optimizer(const pvi_job *j)
{
    return best_of(j->model.ops->props | pvi_model_props(&j->model), NULL);
}

static void note_choice(const pvi_job *j, const pv_optimizer_ops *o)
{
    const long long n = (long long)j->dom.n;
    const char *unit = pvi_unit_word(&j->dom);
    if (o->suits)
        pvi_log(j->ctx, PV_LOG_NOTE, "optimizer = %s: %lld %ss bear the noise of second derivatives by %lld weights",
                o->head.name, n, unit, (long long)j->prob.d);
    if (!isnan(j->auto_batch))
        pvi_log(j->ctx, PV_LOG_NOTE,
                "sampler.batch = %.0f, of %lld %ss: more passes over the table would take time only", j->auto_batch,
                n, unit);
}

pv_status pvi_auto_optimizer(pvi_job *j)
{
    pv_problem p;
    pv_joint joint;
    const bool known = foresee(j, &p, &joint);
    const pv_optimizer_ops *o = best_of(j->model.ops->props | pvi_model_props(&j->model), known ? &p : NULL);
    if (!o) return pvi_fail(j->ctx, PV_E_INTERNAL, "no optimizer takes every model");
    j->opt = o;
    if (known && o->sample) j->auto_batch = o->sample(&p, j->sparse ? fmin((double)p.d, SPARSE) : (double)p.d);
    note_choice(j, o);
    const pv_status s = pvi_plugin_cfg(j->plan, j->arena, "optimizer.", &o->head, &j->opt_cfg);
    if (s == PV_OK && known && o->adjust) o->adjust(j->opt_cfg, &p);
    return s;
}
