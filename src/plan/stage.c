/* stage.c - a release before the optimiser's: how many rows persons have, or where values of the table lie.
 *
 * Rows of persons.  Where nobody said K, the most rows of a person that count, it need not cost anything: what is
 * clipped of a person is at most C long whatever K is (model/units.c (M1)), so that K = data.person_rows_most brings
 * no more noise.  Where persons count by their rows (unit.weight=rows) what one with k rows adds is k/K of C, and a K
 * that few reach makes all contributions short beside the noise: there a share of the budget buys a noisy histogram
 * of rows per person, of which K is a quantile (query/person_rows.c).  The same histogram says how many rows there
 * are.
 * Values.  Knots of curves may stand where values lie: a share buys a histogram of every number (data/knots.c).
 *
 * What is planned is planned for all that may be released: C = min(clip, G K) with unit.combine=sum is the only bound
 * that K enters, and a unit of fewer rows is within that of more; how many knots there are is settled before it is
 * known where.  So events, noise and cost stand before the first release, and what it says decides what is computed
 * afterwards. */
#include "plan/job.h"

static double person_share(const pvi_job *j)
{
    const double set = j->plan->s.data.person_rows_share;
    if (!isnan(set)) return set;
    return j->cap_open && j->plan->s.unit_weight == PV_UNIT_ROWS ? 0.05 : 0.0;
}

static void say_persons(const pvi_job *j)
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

static void warn_values(const pvi_job *j)
{
    const double s = j->release[PVI_STAGE].noise.scale, n = (double)j->dom.n;
    if (s * sqrt(2.0 * log(PVI_KNOT_BINS)) <= 0.1 * n) return;
    pvi_log(j->ctx, PV_LOG_WARN,
            "noise of %.3g on each count of values is large beside %lld %ss: knots will stand nearly as if nothing "
            "had been paid for; a larger data.knots_share, or data.knots_share=0, would be better",
            s, (long long)j->dom.n, pvi_unit_word(&j->dom));
}

/* Noise on how many have more than K rows, at its largest (query/person_rows.c (2)), beside the persons. */
void pvi_stage_warn(const pvi_job *j)
{
    const pvi_release *r = &j->release[PVI_STAGE];
    const double n = (double)j->dom.n;
    if (!r->asked || !j->private_run) return;
    if (j->knots.share > 0.0) warn_values(j);
    if (j->knots.share > 0.0 || 0.5 * sqrt((double)r->q.length) * r->noise.scale <= 0.1 * n) return;
    pvi_log(j->ctx, PV_LOG_WARN,
            "noise of %.3g on each count of rows per person is large beside %lld persons: a larger "
            "data.person_rows_share, a smaller data.person_rows_most, or data.person_rows=K would help",
            r->noise.scale, (long long)j->dom.n);
}

static pv_status check_mechanism(const pvi_job *j, const char *key, const char *what)
{
    if (j->release[0].kind->mech == &pv_mechanism_gaussian) return PV_OK;
    return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                    "%s: a noisy histogram has no proof beside the releases of optimizer=%s: %s", key,
                    j->opt->head.name, what);
}

bool pvi_stage_counts(const pvi_job *j)
{
    return j->stage_share > 0.0 && j->knots.share == 0.0;
}

/* Releases `bins`, of kind `name`, for j->stage_share of the budget. */
static pv_status open_stage(pvi_job *j, const char *name, pvi_bins bins)
{
    pvi_release *r = &j->release[PVI_STAGE];
    *r = (pvi_release) { .asked = true };
    r->kind = pvi_kind_named(name);
    r->sampler = r->kind->samplers[0]; /* every unit */
    r->q = (pvi_query) { .ops = r->kind->query, .prob = &j->prob, .dom = &j->dom, .unit = 1.0 };
    r->q.model = j->model.ops;
    r->q.cfg = j->model.cfg;
    r->q.bins = bins;
    pvi_release_sample(r, (double)j->dom.n, (double)j->dom.n);
    r->group_bound = j->release[0].group_bound; /* release.c (5) */
    j->releases = PVI_STAGE + 1;
    return r->q.ops->open(&r->q, j->ctx);
}

static pv_status stage_of_persons(pvi_job *j)
{
    say_persons(j);
    if (j->stage_share == 0.0) return PV_OK;
    const pv_status s =
        check_mechanism(j, "data.person_rows_share",
                        j->cap_open ? "data.person_rows=K (--rows-per-person K) needs none" : "leave it out");
    if (s != PV_OK) return s;
    if (j->dom.unit_rows > PVI_PERSON_ROWS_MOST)
        return pvi_fail(j->ctx, PV_E_PARAM, "data.person_rows_share counts persons of up to %d rows, and %lld count",
                        PVI_PERSON_ROWS_MOST, (long long)j->dom.unit_rows);
    return open_stage(j, pvi_kind_person_rows, pvi_person_rows_bins(j->dom.unit_rows));
}

static pv_status stage_of_values(pvi_job *j)
{
    const pv_status s = check_mechanism(j, "data.knots_share", "leave it out");
    if (s != PV_OK) return s;
    j->stage_share = j->knots.share;
    pvi_log(j->ctx, PV_LOG_NOTE,
            "data.knots_share = %g: of the budget, for noisy histograms of %lld column%s, by which knots are placed",
            j->knots.share, (long long)j->knots.columns, j->knots.columns == 1 ? "" : "s");
    return open_stage(j, pvi_kind_column_values, pvi_column_values_bins(j->late, j->knots.columns));
}

pv_status pvi_job_stage(pvi_job *j)
{
    j->stage_share = j->dom.unit_rows ? person_share(j) : 0.0;
    if (j->stage_share > 0.0 && j->knots.share > 0.0)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "data.person_rows_share and data.knots_share: one of them is released before the first step, "
                        "leave the other out");
    const pv_status s = j->dom.unit_rows ? stage_of_persons(j) : PV_OK;
    return s == PV_OK && j->knots.share > 0.0 ? stage_of_values(j) : s;
}
