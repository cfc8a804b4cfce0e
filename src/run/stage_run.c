/* stage_run.c - the stage before the optimiser (plan/stage.c): its release, and what is done by it.
 *
 * Everything after the release is made of what was released and of public numbers.  Counts are rounded to whole
 * units, so that a certificate holds exactly what was decided by. */
#include "run/run.h"

static pv_status release(const pvi_job *j, pv_oracle *o, pv_arena *a, pvi_stage_found *f)
{
    const pvi_release *r = &j->release[PVI_STAGE];
    double *share = pv_arena_f64(a, r->q.values);
    f->n = r->q.values;
    f->count = pv_arena_get(a, sizeof *f->count * (size_t)f->n);
    f->stddev = j->private_run ? r->noise.scale : 0.0;
    if (!share || !f->count) return pvi_nomem(j->ctx);
    const pv_status s = pv_ask(o, PVI_STAGE, NULL, (pv_spend) { 1, 1.0 }, share);
    for (int64_t k = 0; s == PV_OK && k < f->n; k++) f->count[k] = llrint(share[k] * (double)j->dom.n);
    return s;
}

pv_status pvi_stage_run(const pvi_job *j, pv_oracle *o, pvi_matrix *m, pv_arena *a, pvi_stage_found *out)
{
    *out = (pvi_stage_found) { .rows = { .cap = j->dom.unit_rows } };
    PVI_REQUIRE(!m->late || j->release[PVI_STAGE].asked);
    if (!j->release[PVI_STAGE].asked) return PV_OK;
    pv_status s = release(j, o, a, out);
    if (s != PV_OK) return s;
    if (!m->late) {
        out->rows = pvi_row_counts(j, o, out);
        return PV_OK;
    }
    s = pvi_late_encode(m, out->count, out->stddev);
    return s == PV_OK ? pvi_oracle_rows(o) : s;
}
