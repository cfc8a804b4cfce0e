/* compare_sum.c - from runs to means, spreads and paired tests.
 *
 * Spread is the standard deviation over repeats (sample.c).  A cell is tested against the first one of
 * its group: differences repeat by repeat, their mean over its standard error is t with n - 1 degrees of freedom. */
#include "compare.h"

#include <stdlib.h>

const measure measures[MEASURES] = {
    { "accuracy", "accuracy", 1 },
    { "auc", "AUC", 1 },
    { "log_loss", "log loss", -1 },
    { "rmse", "RMSE", -1 },
    { "mae", "MAE", -1 },
    { "r2", "R2", 1 },
    { "seconds", "processor seconds of training", 0 },
    { "epsilon", "epsilon of one run", 0 },
    { "noise_multiplier", "noise multiplier", 0 },
};

bool runs_private(const runs *r)
{
    for (int i = 0; i < r->g->cells * r->g->repeats; i++)
        if (r->at[i].fate == FINISHED && (!r->at[i].private || r->at[i].own_rows)) return false;
    return true;
}

const cellsum *sums_at(const sums *s, int k, int cell)
{
    return &s->at[k * s->r->g->cells + cell];
}

int sums_base(const grid *g, int cell)
{
    return cell - cell % g->width;
}

static void test(const runs *r, int k, int cell, cellsum *out)
{
    const grid *g = r->g;
    const run *a = &r->at[sums_base(g, cell) * g->repeats], *b = &r->at[cell * g->repeats];
    sample d = { 0 };
    for (int i = 0; i < g->repeats; i++)
        if (a[i].fate == FINISHED && b[i].fate == FINISHED && isfinite(a[i].m[k]) && isfinite(b[i].m[k]))
            sample_add(&d, b[i].m[k] - a[i].m[k]);
    const double sd = sample_sd(&d);
    out->pairs = d.n;
    out->difference = sample_mean(&d);
    if (!(sd > 0)) return; /* no spread, no test */
    out->t = out->difference / (sd / sqrt(d.n));
    out->p = student_p(out->t, d.n - 1.0);
}

static void sum_cell(const runs *r, int k, int cell, cellsum *out)
{
    const grid *g = r->g;
    sample s = { 0 };
    *out = (cellsum) { .difference = NAN, .t = NAN, .p = NAN, .holm = NAN };
    for (int i = 0; i < g->repeats; i++) {
        const run *x = &r->at[cell * g->repeats + i];
        if (x->fate == FINISHED && isfinite(x->m[k])) sample_add(&s, x->m[k]);
    }
    out->runs = s.n;
    out->mean = sample_mean(&s);
    out->sd = sample_sd(&s);
    if (k < QUALITIES && cell != sums_base(g, cell)) test(r, k, cell, out);
}

/* One family: all tests of the table, whatever the measure. */
static void correct(sums *s)
{
    const int n = MEASURES * s->r->g->cells;
    double *p = calloc((size_t)n + 1, sizeof *p);
    if (!p) abort();
    for (int i = 0; i < n; i++)
        if (!isnan(s->at[i].p)) p[s->tests++] = s->at[i].p;
    holm(p, s->tests);
    for (int i = 0, k = 0; i < n; i++)
        if (!isnan(s->at[i].p)) s->at[i].holm = p[k++];
    free(p);
}

void sums_make(const runs *r, sums *s)
{
    const int cells = r->g->cells;
    *s = (sums) { .r = r, .at = calloc((size_t)cells * MEASURES, sizeof *s->at) };
    if (!s->at) abort();
    for (int k = 0; k < MEASURES; k++)
        for (int i = 0; i < cells; i++) {
            sum_cell(r, k, i, &s->at[k * cells + i]);
            s->there[k] |= s->at[k * cells + i].runs > 0;
        }
    correct(s);
}

void sums_free(sums *s)
{
    free(s->at);
    *s = (sums) { 0 };
}
