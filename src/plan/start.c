/* start.c - optimizer.start: where a run starts, as far as a plan can say it without reading a file.
 *
 *   auto          what the model starts from by itself: zeros; networks draw by a public seed
 *   zero          zeros
 *   random:SCALE  every weight from N(0, SCALE^2), by the run's own source of randomness
 *   FILE.pvt      the weights of a model file
 *   FILE.npy      an array of as many numbers as there are weights, declared public
 * One place for all optimisers: they take it from pv_problem (reg/prox.c:pvi_set_start), in the coordinates of the
 * weights, and move it to those they step in themselves.
 *
 * Set       a start outside the constraint set is replaced by its projection; a set without one is refused.
 * Privacy   what is released depends on rows through releases alone, whatever they start from: each is charged as the
 *           worst over all points it can be made at.  So any start that no row had a say in costs nothing, and bounds
 *           for the last iterate (acct/hidden_sbcd.c) hold for each start, hence for one drawn independently of rows.
 *           Which files may be such a start is decided by run/start_weights.c, which reads them.
 * Defaults  of steps and step sizes (opt/defaults.c, opt/paper.c) are those of a start at 0. */
#include "data/reader.h"
#include "plan/job.h"

static const char random_word[] = "random:";
static const double most_scale = 1e6;

static pv_status parse(pv_ctx *ctx, const char *text, pvi_start *out)
{
    const size_t n = sizeof random_word - 1;
    *out = (pvi_start) { .kind = PVI_START_MODEL };
    if (strcmp(text, "auto") == 0) return PV_OK;
    if (strcmp(text, "zero") == 0) return out->kind = PVI_START_ZERO, PV_OK;
    if (strncmp(text, random_word, n) == 0) {
        out->kind = PVI_START_RANDOM;
        if (pvi_parse_f64(text + n, strlen(text + n), &out->scale) && out->scale >= 1e-12 && out->scale <= most_scale)
            return PV_OK;
        return pvi_fail(ctx, PV_E_PARAM, "optimizer.start=%s: a scale from 1e-12 to %g is needed, as in random:0.1",
                        text, most_scale);
    }
    out->kind = pvi_ends_with(text, ".pvt") ? PVI_START_PVT : PVI_START_NPY;
    if (out->kind == PVI_START_PVT || pvi_ends_with(text, ".npy")) return PV_OK;
    return pvi_fail(ctx, PV_E_PARAM, "optimizer.start=%s: auto, zero, random:SCALE, FILE.pvt or FILE.npy is needed",
                    text);
}

pv_status pvi_job_start(pvi_job *j)
{
    const pv_model_ops *m = j->model.ops;
    const pv_status s = j->plan->given ? PV_OK : parse(j->ctx, j->plan->s.start, &j->start);
    if (j->plan->given) j->start = (pvi_start) { .kind = PVI_START_GIVEN };
    const bool own = j->start.kind == PVI_START_MODEL;
    if (s != PV_OK) return s;
    if (!own && j->prob.set && !j->prob.set->project)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "optimizer.start: set=%s has no projection that would put a start into it: leave it out",
                        j->prob.set->head.name);
    if (j->start.kind == PVI_START_ZERO || (own && !m->start)) return PV_OK;
    double *w = pv_arena_f64(j->arena, j->prob.d);
    if (!w) return pvi_nomem(j->ctx);
    if (own) m->start(j->model.cfg, &j->dom, w);
    else j->start.w = w;
    j->prob.start = w;
    return PV_OK;
}
