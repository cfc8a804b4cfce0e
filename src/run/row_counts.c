/* row_counts.c - the stage before the optimiser: persons counted by their rows, with noise, and what follows for K.
 *
 * Everything here is made of one release (plan/stage.c) and of public numbers.  Counts are rounded to whole persons,
 * so that a certificate holds exactly what K was chosen by. */
#include "run/run.h"

pv_status pvi_row_counts(const pvi_job *j, pv_oracle *o, pv_arena *a, pvi_row_count *out)
{
    const pvi_release *r = &j->release[PVI_STAGE];
    *out = (pvi_row_count) { .cap = j->dom.unit_rows };
    if (!r->asked) return PV_OK;
    double *share = pv_arena_f64(a, r->q.values);
    out->bins = r->q.values;
    out->count = pv_arena_get(a, sizeof *out->count * (size_t)out->bins);
    if (!share || !out->count) return pvi_nomem(j->ctx);
    const pv_status s = pv_ask(o, PVI_STAGE, NULL, (pv_spend) { 1, 1.0 }, share);
    if (s != PV_OK) return s;
    for (int64_t k = 0; k < out->bins; k++) out->count[k] = llrint(share[k] * (double)j->dom.n);
    if (j->cap_open) out->cap = pvi_person_rows_cap(out->count, out->bins, j->dom.n);
    const double stddev = j->private_run ? r->noise.scale : 0.0;
    out->found = pvi_person_rows_total(out->count, out->bins, j->dom.n, out->cap, stddev);
    pvi_oracle_cap(o, out->cap);
    if (j->cap_open)
        pvi_log(j->ctx, PV_LOG_NOTE,
                out->cap < out->bins
                    ? "data.person_rows = %lld: by a noisy histogram, at most three persons in ten have more"
                    : "data.person_rows = %lld, data.person_rows_most: by a noisy histogram, more than three persons "
                      "in ten have as many",
                (long long)out->cap);
    return PV_OK;
}

void pvi_row_counts_write(const pvi_row_count *c, pvi_jw *w)
{
    if (c->count) pvi_rows_found_write(w, &c->found);
}
