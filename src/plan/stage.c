/* stage.c - a release before the optimiser's: how many rows persons have.
 *
 * Where nobody said K, the most rows of a person that count, it need not cost anything: what is clipped of a person
 * is at most C long whatever K is (model/units.c (M1)), so that K = data.person_rows_most brings no more noise.
 * Where persons count by their rows (unit.weight=rows) what one with k rows adds is k/K of C, and a K that few reach
 * makes all contributions short beside the noise: there a share of the budget buys a noisy histogram of rows per
 * person, of which K is a quantile (query/person_rows.c).  The same histogram says how many rows there are.
 *
 * What is planned is planned for the most that K can be: C = min(clip, G K) with unit.combine=sum is the only bound
 * that K enters, and a unit of fewer rows is within that of more.  So events, noise and cost stand before the first
 * release, and K decides what is computed afterwards. */
#include "plan/job.h"

static double share_of(const pvi_job *j)
{
    const double set = j->plan->s.data.person_rows_share;
    if (!isnan(set)) return set;
    return j->cap_open && j->plan->s.unit_weight == PV_UNIT_ROWS ? 0.05 : 0.0;
}

static void say(const pvi_job *j)
{
    const long long most = (long long)j->dom.unit_rows;
    if (j->stage_share > 0.0 && j->cap_open)
        pvi_log(j->ctx, PV_LOG_NOTE,
                "data.person_rows = auto: at most %lld, chosen by a noisy histogram that takes %g of the budget",
                most, j->stage_share);
    else if (j->cap_open && j->plan->s.unit_weight == PV_UNIT_ROWS)
        pvi_log(
            j->ctx, PV_LOG_WARN,
            "data.person_rows = %lld: persons count by their rows, so where few have so many all contributions are "
            "short beside the noise; data.person_rows=K, or a data.person_rows_share of the budget, would help",
            most);
    else if (j->cap_open)
        pvi_log(j->ctx, PV_LOG_NOTE, "data.person_rows = %lld: data.person_rows_most; more rows cost no more noise",
                most);
}

/* Noise on how many have more than K rows, at its largest (query/person_rows.c (2)), beside the persons. */
void pvi_stage_warn(const pvi_job *j)
{
    const pvi_release *r = &j->release[PVI_STAGE];
    const double n = (double)j->dom.n;
    if (!r->asked || !j->private_run || 0.5 * sqrt((double)r->q.length) * r->noise.scale <= 0.1 * n) return;
    pvi_log(j->ctx, PV_LOG_WARN,
            "noise of %.3g on each count of rows per person is large beside %lld persons: a larger "
            "data.person_rows_share, a smaller data.person_rows_most, or data.person_rows=K would help",
            r->noise.scale, (long long)j->dom.n);
}

static pv_status check(const pvi_job *j)
{
    const char *what = j->cap_open ? "data.person_rows=K (--rows-per-person K) needs none" : "leave it out";
    if (j->release[0].kind->mech != &pv_mechanism_gaussian)
        return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                        "data.person_rows_share: a noisy histogram has no proof beside the releases of optimizer=%s: "
                        "%s",
                        j->opt->head.name, what);
    if (j->dom.unit_rows > PVI_PERSON_ROWS_MOST)
        return pvi_fail(j->ctx, PV_E_PARAM, "data.person_rows_share counts persons of up to %d rows, and %lld count",
                        PVI_PERSON_ROWS_MOST, (long long)j->dom.unit_rows);
    return PV_OK;
}

pv_status pvi_job_stage(pvi_job *j)
{
    pvi_release *r = &j->release[PVI_STAGE];
    if (!j->dom.unit_rows) return PV_OK;
    j->stage_share = share_of(j);
    say(j);
    if (j->stage_share == 0.0) return PV_OK;
    const pv_status s = check(j);
    if (s != PV_OK) return s;
    *r = (pvi_release) { .asked = true };
    r->kind = pvi_kind_of(&(pv_ask_row) { .query = &pvi_query_histogram, .mech = &pv_mechanism_gaussian });
    r->sampler = r->kind->samplers[0]; /* every unit */
    r->q = (pvi_query) { .ops = r->kind->query, .prob = &j->prob, .dom = &j->dom, .unit = 1.0 };
    r->q.model = j->model.ops;
    r->q.cfg = j->model.cfg;
    r->q.bins = pvi_person_rows_bins(j->dom.unit_rows);
    pvi_release_sample(r, (double)j->dom.n, (double)j->dom.n);
    r->group_bound = j->release[0].group_bound; /* release.c (5) */
    j->releases = PVI_STAGE + 1;
    return r->q.ops->open(&r->q, j->ctx);
}
