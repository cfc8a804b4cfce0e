/* measures.c - measures along a run: on the rows to train on (run.diagnostics), on others (run.holdout), and in a
 * file as they are made (run.log).
 *
 * What each table has is in diagnose.c.  What that means for the guarantee of the rows trained on:
 *   training rows, shown at the end   the model's guarantee stands, without them: the certificate says so
 *   training rows, shown on the way   whoever sees them may stop the run by them, so that its end depends on rows:
 *                                     the run is NOT PRIVATE
 *   held-out rows                     are measured at iterates, all functions of what was released and charged, so
 *                                     nothing more is known of the rows trained on, provided that none is among the
 *                                     held-out ones.  That is an assumption of the certificate; the same file twice
 *                                     is refused.  A bound for the last iterate alone is not stated then.
 * For the people in held-out rows nothing is promised: every figure says NOT PRIVATE. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <stdio.h>

#include "run/run.h"

struct pvi_measures {
    pv_ctx *ctx;
    int64_t d;
    pvi_diagnosis *train, *other; /* NULL: not asked for */
    pvi_matrix *held;
    int log; /* descriptor of run.log; -1: none, or no more lines */
};

static const char of_training[] = "NOT PRIVATE: computed from the rows without noise, not covered by the certificate";
static const char of_others[] =
    "NOT PRIVATE: computed from held-out rows without noise; the people in them are not protected";

/* ---- what, on which rows ----------------------------------------------------------------------------------- */

static pv_status wanted(const pvi_job *j, unsigned *out)
{
    static const struct {
        const char *word;
        unsigned bits;
    } words[] = { { "loss", PVI_MEASURE_LOSS },
                  { "gradient", PVI_MEASURE_GRADIENT },
                  { "accuracy", PVI_MEASURE_ACCURACY },
                  { "curvature", PVI_MEASURE_CURVATURE },
                  { "all", 15u } };
    enum { WORDS = sizeof words / sizeof *words };
    size_t n = 0;
    *out = 0;
    for (const char *at = j->plan->s.measure;; at += n + 1) {
        int k = 0;
        n = strcspn(at, ",");
        while (k < WORDS && (strlen(words[k].word) != n || strncmp(at, words[k].word, n) != 0)) k++;
        if (k == WORDS)
            return pvi_fail(j->ctx, PV_E_PARAM,
                            "run.measure=%s: a list of loss, gradient, accuracy, curvature, or all",
                            j->plan->s.measure);
        *out |= words[k].bits;
        if (!at[n]) return PV_OK;
    }
}

/* Read as the rows to train on were, but for their number. */
static pv_status load_other(const pvi_job *j, const pvi_matrix *m, const char *path, pvi_matrix **out)
{
    pvi_expect expect = pvi_model_expect(&j->model);
    pvi_data_cfg cfg = j->plan->s.data;
    pvi_data_elsewhere(&cfg, path);
    if (expect.classes < 0) expect.classes = j->dom.classes;
    expect.features = j->dom.p - (cfg.bias != 0.0);
    expect.curves = PVI_CURVES_DECLARED;
    expect.trained = m->schema_json; /* with the knots */
    expect.y_lo = j->dom.y_lo;
    expect.y_hi = j->dom.y_hi;
    expect.owner_key = m->start && m->owner ? m->owner_key : NULL;
    return pvi_data_load(j->ctx, &cfg, &expect, NULL, out);
}

/* A person stands on one side.  said: the setting that names the others; level: of a note that nobody can tell. */
static pv_status check_apart(const pvi_job *j, const pvi_matrix *m, pvi_matrix *other, const char *said,
                             const char *path, pv_level level)
{
    if (other->owner &&
        pvi_ids_common(other->owner, pvi_ids_sort(other->owner, other->stored), m->owner, j->dom.n) > 0)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "%s=%s: some of its rows belong to persons who are to be trained on; a person stands on one "
                        "side",
                        said, path);
    if (m->start && !other->owner)
        pvi_log(j->ctx, level,
                "%s=%s: no column says whose rows these are, so nobody can tell whether some belong to persons who "
                "are trained on",
                said, path);
    return PV_OK;
}

static pv_status load_held(pvi_measures *x, const pvi_job *j, const pvi_matrix *m)
{
    const char *path = j->plan->s.holdout;
    const pv_status s = load_other(j, m, path, &x->held);
    if (s == PV_OK && m->digest[0] && strcmp(m->digest, x->held->digest) == 0)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "run.holdout=%s: these are the rows to train on; run.diagnostics=yes measures on those",
                        path);
    return s == PV_OK ? check_apart(j, m, x->held, "run.holdout", path, PV_LOG_NOTE) : s;
}

/* run.apart: nothing is measured there, now. */
static pv_status check_others(const pvi_job *j, const pvi_matrix *m)
{
    const char *path = j->plan->s.apart;
    pvi_matrix *other = NULL;
    if (!path || !m->start) return PV_OK;
    pv_status s = load_other(j, m, path, &other);
    if (s == PV_OK) s = check_apart(j, m, other, "run.apart", path, PV_LOG_WARN);
    pvi_matrix_free(other);
    return s;
}

/* Is this file one of those, with commas between them? */
static bool among(const struct stat *file, const char *paths)
{
    char path[4096];
    struct stat other;
    while (paths && *paths) {
        const size_t len = strcspn(paths, ",");
        snprintf(path, sizeof path, "%.*s", (int)(len < sizeof path ? len : 0), paths);
        if (stat(path, &other) == 0 && other.st_dev == file->st_dev && other.st_ino == file->st_ino) return true;
        paths += len + (paths[len] == ',');
    }
    return false;
}

/* Emptied only when it is known to be none of the inputs. */
static pv_status open_log(pvi_measures *x, const pvi_settings *s)
{
    struct stat file;
    x->log = open(s->log, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (x->log < 0 || fstat(x->log, &file) != 0) return pvi_fail(x->ctx, PV_E_IO, "%s: %s", s->log, strerror(errno));
    if (among(&file, s->data.path) || among(&file, s->data.schema) || among(&file, s->holdout) ||
        among(&file, s->start) || among(&file, s->data.person_file))
        return pvi_fail(x->ctx, PV_E_PARAM, "run.log=%s is an input; name another file", s->log);
    if (S_ISREG(file.st_mode) && ftruncate(x->log, 0) != 0)
        return pvi_fail(x->ctx, PV_E_IO, "%s: %s", s->log, strerror(errno));
    return PV_OK;
}

static void warn(const pvi_job *j)
{
    const pvi_settings *s = &j->plan->s;
    if (s->diagnostics)
        pvi_log(j->ctx, PV_LOG_WARN,
                "run.diagnostics is set: the diagnostics are NOT PRIVATE, and no certificate covers them");
    if (pvi_job_exposes(j))
        pvi_log(j->ctx, PV_LOG_WARN,
                "run.log shows measures of the training rows while it trains: the result is NOT PRIVATE");
    if (s->holdout) pvi_log(j->ctx, PV_LOG_WARN, "measures on held-out rows are NOT PRIVATE for the people in them");
}

/* What does nothing without rows to measure on; NULL: nothing of that kind is set. */
static const char *idle(const pvi_settings *set)
{
    const pv_param *row = pvi_param_find(pvi_settings_params, "run.measure");
    if (set->diagnostics || set->holdout) return NULL;
    if (set->log) return "run.log";
    if (set->every != PV_AUTO_I64) return "run.every";
    return strcmp(set->measure, row->choices) != 0 ? "run.measure" : NULL;
}

pv_status pvi_measures_check(const pvi_job *j)
{
    const pvi_settings *set = &j->plan->s;
    const char *path = set->holdout, *alone = idle(set);
    char first[4096];
    struct stat file;
    unsigned what;
    const pv_status s = wanted(j, &what);
    if (s != PV_OK) return s;
    if ((path && !*path) || (set->log && !*set->log))
        return pvi_fail(j->ctx, PV_E_PARAM, "%s has no value: name a file, or leave it out",
                        path && !*path ? "run.holdout" : "run.log");
    if (alone)
        return pvi_fail(j->ctx, PV_E_PARAM,
                        "%s does nothing without rows to measure on: add run.holdout=FILE or run.diagnostics=yes, or "
                        "leave it out",
                        alone);
    if (!path) return PV_OK;
    snprintf(first, sizeof first, "%.*s", (int)(strcspn(path, ",") % sizeof first), path);
    if (stat(first, &file) != 0) return pvi_fail(j->ctx, PV_E_IO, "run.holdout=%s: %s", path, strerror(errno));
    return PV_OK;
}

pv_status pvi_measures_create(const pvi_job *j, const pvi_matrix *m, pv_arena *a, pvi_measures **out)
{
    const pvi_settings *set = &j->plan->s;
    unsigned what;
    pv_status s = pvi_measures_check(j);
    *out = NULL;
    if (s == PV_OK) s = check_others(j, m);
    if (s == PV_OK) s = wanted(j, &what);
    if (s != PV_OK || (!set->diagnostics && !set->holdout)) return s;
    pvi_measures *x = *out = pv_arena_get(a, sizeof *x);
    if (!x) return pvi_nomem(j->ctx);
    x->ctx = j->ctx;
    x->d = j->prob.d;
    x->log = -1;
    warn(j);
    if (set->diagnostics) s = pvi_diagnose_create(j, m, what | PVI_MEASURE_SECOND, a, &x->train);
    if (s == PV_OK && set->holdout) s = load_held(x, j, m);
    if (s == PV_OK && set->holdout) s = pvi_diagnose_create(j, x->held, what, a, &x->other);
    if (s == PV_OK && set->log) s = open_log(x, set);
    return s;
}

void pvi_measures_close(pvi_measures *x)
{
    if (!x) return;
    if (x->log >= 0) close(x->log);
    pvi_matrix_free(x->held);
    x->log = -1;
    x->held = NULL;
}

/* ---- along the way --------------------------------------------------------------------------------------------- */

/* One line, the last of all with the digest of the weights, by which it is known whose it is; a disk that is full is
 * no reason to lose the run. */
static void put_line(pvi_measures *x, const pvi_diagnosis *d, const double *w_returned)
{
    char digest[65] = "";
    pvi_str b = { .ctx = x->ctx };
    pvi_jw w = { .out = &b };
    if (x->log < 0) return;
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_str(&w, "rows", d == x->train ? "training" : "held-out");
    pvi_jw_str(&w, "warning", "NOT PRIVATE");
    pvi_jw_bool(&w, "returned", w_returned);
    pvi_diagnose_write_last(d, &w);
    if (w_returned) pvi_weights_digest(w_returned, x->d, digest), pvi_jw_str(&w, "weights_digest", digest);
    pvi_jw_close(&w, '}');
    pvi_str_puts(&b, "\n");
    if (!b.failed && !pvi_write_all(x->log, b.s, b.len)) {
        pvi_log(x->ctx, PV_LOG_WARN, "run.log: %s; no more lines are written", strerror(errno));
        close(x->log);
        x->log = -1;
    }
    pvi_str_free(&b);
}

static pv_status measure(pvi_measures *x, int64_t step, const double *w, bool returned)
{
    pvi_diagnosis *const both[] = { x->train, x->other };
    pv_status s = PV_OK;
    for (int k = 0; s == PV_OK && k < 2; k++) {
        if (!both[k]) continue;
        s = returned ? pvi_diagnose_end(both[k], step, w) : pvi_diagnose_at(both[k], step, w);
        if (s == PV_OK) put_line(x, both[k], returned ? w : NULL);
    }
    return s;
}

pv_status pvi_measures_at(pvi_measures *x, int64_t t, int64_t T, const double *w)
{
    return pvi_diagnose_due(x->train ? x->train : x->other, t, T) ? measure(x, t, w, false) : PV_OK;
}

pv_status pvi_measures_end(pvi_measures *x, int64_t step, const double *w)
{
    return measure(x, step, w, true);
}

void pvi_measures_write(const pvi_measures *x, pvi_jw *w)
{
    if (x->train) pvi_diagnose_write(x->train, w, "diagnostics_not_private", of_training);
    if (x->other) pvi_diagnose_write(x->other, w, "holdout_not_private", of_others);
}
