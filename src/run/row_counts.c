/* row_counts.c - persons counted by their rows, with noise: K that follows, and how many rows there are. */
#include "run/run.h"

pvi_row_count pvi_row_counts(const pvi_job *j, pv_oracle *o, const pvi_stage_found *f)
{
    pvi_row_count out = { .cap = j->dom.unit_rows, .known = true };
    if (j->cap_open) out.cap = pvi_person_rows_cap(f->count, f->n, j->dom.n);
    out.found = pvi_person_rows_total(f->count, f->n, j->dom.n, out.cap, f->stddev);
    pvi_oracle_cap(o, out.cap);
    if (j->cap_open)
        pvi_log(j->ctx, PV_LOG_NOTE,
                out.cap < f->n
                    ? "data.person_rows = %lld: by a noisy histogram, at most three persons in ten have more"
                    : "data.person_rows = %lld, data.person_rows_most: by a noisy histogram, more than three persons "
                      "in ten have as many",
                (long long)out.cap);
    return out;
}

void pvi_row_counts_write(const pvi_row_count *c, pvi_jw *w)
{
    if (c->known) pvi_rows_found_write(w, &c->found);
}
