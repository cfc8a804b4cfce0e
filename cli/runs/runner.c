/* runner.c - one run, measured: train, certificate, figures on labelled rows, processor time. */
#include "runs/runs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
    double began, ended;
    bool training;
} timer;

static double runner_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* neighbours on the machine do not count */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool runner_progress(const char *what)
{
    const bool training = strcmp(what, "training") == 0, began = training && !timer.training;
    if (began) timer.began = runner_clock();
    if (training) timer.ended = runner_clock();
    timer.training = training;
    return began;
}

static pv_status keep(const pv_result *r, outcome *out)
{
    const char *certificate;
    pv_status s = pv_result_summary(r, &out->summary);
    if (s == PV_OK) s = pv_result_certificate(r, &certificate);
    if (s == PV_OK && !(out->certificate = strdup(certificate))) abort();
    return s;
}

static pv_status measure(const pv_result *r, const char *test, outcome *out)
{
    pv_model *m = NULL;
    pv_status s = pv_result_model(r, &m);
    if (s == PV_OK) s = pv_model_eval(m, test, &out->metrics);
    pv_model_free(m);
    return s;
}

pv_status run_measured(pv_plan *plan, const char *test, outcome *out)
{
    pv_result *result = NULL;
    *out = (outcome) { 0 };
    timer.began = timer.ended = runner_clock();
    timer.training = false;
    pv_status s = pv_plan_run(plan, &result);
    out->seconds = timer.ended - timer.began;
    if (s == PV_OK) s = keep(result, out);
    if (s == PV_OK && *test) s = measure(result, test, out);
    pv_result_free(result);
    return s;
}

void outcome_free(cli *c, outcome *out)
{
    pv_string_free(c->ctx, out->summary);
    pv_string_free(c->ctx, out->metrics);
    free(out->certificate);
    *out = (outcome) { 0 };
}
