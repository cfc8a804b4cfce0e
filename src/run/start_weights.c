/* start_weights.c - the weights of optimizer.start, drawn or read from a file.
 *
 * Which files a private run may start from.  Its certificate counts what this run releases, so its start must owe
 * nothing to the rows:
 *   FILE.npy  whoever runs it declares so by naming the file; the certificate records the digest of the weights and
 *             the declaration among its assumptions
 *   FILE.pvt  is a function of rows about people, perhaps the same ones.
 *             NOT PRIVATE: nobody counted what it gives away of them; refused.
 *             Private: adaptive composition would make the cost of both runs that of both lists of events.  A
 *             certificate describes the releases of one run, one bound and one noise for each kind, and every check
 *             of it rests on that; so this is refused too, rather than left uncounted.
 * Weights that are evaluated (opt_evaluation.c) are given in memory and may be those of any model: it is public
 * beside what is released here, and what it cost is counted by its own certificate, as the assumptions say.
 * A run that is NOT PRIVATE itself takes either.  `random` is drawn before the first release by the source that all
 * noise comes from: no row has a say. */
#include "data/format/npy.h"
#include "mech/mech.h"
#include "run/run.h"

static pv_status wrong_size(const pvi_job *j, const char *path, int64_t n)
{
    pvi_expect e = { 0 };
    pvi_plan_curves(j->plan, &e);
    const bool curves = j->plan->s.data.schema && e.curves == PVI_CURVES_FIT && j->prob.d > n;
    return pvi_fail(j->ctx, PV_E_PARAM, "optimizer.start=%s: %lld weights, and this model has %lld%s", path,
                    (long long)n, (long long)j->prob.d,
                    curves ? "; knots of curves have some of them, which data.curves=off leaves out" : "");
}

/* ---- random ------ */

/* On a grid 2^30 times as fine as the scale. */
static pv_status draw(pvi_job *j, pv_rng *rng)
{
    const double spacing = ldexp(1.0, ilogb(j->start.scale) - 30);
    int64_t *x = pv_arena_get(j->arena, (size_t)j->prob.d * sizeof *x);
    if (!x) return pvi_nomem(j->ctx);
    pvi_rng_begin(rng);
    pvi_normal_add(rng, j->start.scale, spacing, x, j->prob.d);
    for (int64_t k = 0; k < j->prob.d; k++) j->start.w[k] = (double)x[k] * spacing;
    return PV_OK;
}

/* ---- NPY ------ */

enum { BLOCK = 4096 };

static pv_status read_values(pvi_job *j, pvi_source *src, const pvi_npy *h)
{
    uint8_t block[BLOCK * 8];
    const int64_t d = j->prob.d;
    for (int64_t at = 0; at < d; at += BLOCK) {
        const int64_t n = d - at < BLOCK ? d - at : BLOCK;
        const pv_status s = pvi_read_exactly(j->ctx, src, block, (size_t)(n * h->size), "weights");
        if (s != PV_OK) return s;
        for (int64_t k = 0; k < n; k++) j->start.w[at + k] = pvi_npy_value(h, block + k * h->size);
    }
    return pvi_read_end(j->ctx, src);
}

static pv_status read_array(pvi_job *j, const char *path)
{
    pvi_source *src;
    pvi_npy h;
    int64_t n = 1;
    pv_status s = pvi_source_open(j->ctx, path, 1000.0, &src);
    if (s == PV_OK) s = pvi_npy_header(j->ctx, src, &h);
    for (int k = 0; s == PV_OK && k < h.dims; k++) /* saturates */
        n = h.shape[k] > 0 && n > INT64_MAX / h.shape[k] ? INT64_MAX : n * h.shape[k];
    if (s == PV_OK && n != j->prob.d) s = wrong_size(j, path, n);
    if (s == PV_OK) s = read_values(j, src, &h);
    pvi_source_close(src);
    return s;
}

/* ---- model file ------ */

static pv_status may_start(const pvi_job *j, const char *path, bool is_private)
{
    if (!j->private_run || j->plan->s.seed != PV_AUTO_I64) return PV_OK;
    if (!is_private)
        return pvi_fail(
            j->ctx, PV_E_UNSUPPORTED,
            "optimizer.start=%s: it is NOT PRIVATE, so that a run from it is, too: add --privacy off; or, "
            "if its rows were public, declare so by `privet export %s --out FILE.npy`",
            path, path);
    return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                    "optimizer.start=%s: a certificate counts one run, and this model cost another: train once with "
                    "the whole budget; or, if none of its rows is among these, declare so by `privet export %s --out "
                    "FILE.npy`",
                    path, path);
}

static pv_status read_model(pvi_job *j, const char *path)
{
    pvi_model_file file;
    pv_status s = pvi_model_read(j->ctx, j->arena, path, &file);
    if (s == PV_OK) s = may_start(j, path, file.is_private);
    if (s == PV_OK && file.d != j->prob.d) s = wrong_size(j, path, file.d);
    if (s == PV_OK && file.domain.p != j->dom.p)
        s = pvi_fail(j->ctx, PV_E_PARAM, "optimizer.start=%s: a model of %lld columns, and there are %lld", path,
                     (long long)file.domain.p, (long long)j->dom.p);
    if (s == PV_OK) memcpy(j->start.w, file.w, (size_t)j->prob.d * sizeof *file.w);
    return s;
}

/* ---- both ------ */

static void note_projection(pvi_job *j, const char *text)
{
    const pv_problem *p = &j->prob;
    double *w = p->set ? pv_arena_f64(j->arena, p->d) : NULL;
    bool moved = false;
    if (!w) return;
    pvi_set_start(p, w);
    for (int64_t k = 0; k < p->d; k++) moved |= w[k] != (p->start ? p->start[k] : 0.0);
    if (moved)
        pvi_log(j->ctx, PV_LOG_NOTE, "optimizer.start=%s: outside of set=%s, its projection is taken", text,
                p->set->head.name);
}

static const double most_weight = 1e30; /* a float holds 3e38: no step comes near */

pv_status pvi_start_fill(pvi_job *j, pv_rng *rng)
{
    const char *path = j->plan->s.start;
    if (j->start.kind == PVI_START_MODEL || (j->start.kind == PVI_START_RANDOM && !rng)) return PV_OK;
    if (j->start.kind == PVI_START_ZERO || j->start.kind == PVI_START_RANDOM) {
        const pv_status drawn = j->start.kind == PVI_START_RANDOM ? draw(j, rng) : PV_OK;
        if (drawn == PV_OK) note_projection(j, path);
        return drawn;
    }
    pv_status s = PV_OK;
    if (j->start.kind == PVI_START_GIVEN) memcpy(j->start.w, j->plan->given, (size_t)j->prob.d * sizeof *j->start.w);
    else s = j->start.kind == PVI_START_PVT ? read_model(j, path) : read_array(j, path);
    if (s != PV_OK) return s;
    for (int64_t k = 0; k < j->prob.d; k++)
        if (!(fabs(j->start.w[k]) <= most_weight))
            return pvi_fail(j->ctx, PV_E_PARAM,
                            "optimizer.start=%s: weight %lld is %g; numbers of size %g at most are taken", path,
                            (long long)k, j->start.w[k], most_weight);
    memcpy(j->start_digest, "file:", 5);
    pvi_weights_digest(j->start.w, j->prob.d, j->start_digest + 5);
    note_projection(j, path);
    return PV_OK;
}
