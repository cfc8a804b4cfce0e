/* monotone.c - curves that are declared to rise or to fall, made so exactly.
 *
 * The weights w_1..w_K at the knots of a column with "monotone": "up" are replaced by the nearest ones that do not
 * fall,
 *   (1) argmin sum_j (u_j - w_j)^2  over u_1 <= ... <= u_K,
 * by pooling adjacent violators: neighbours in the wrong order are replaced by their mean until there are none (Ayer,
 * Brunk, Ewing, Reid, Silverman 1955).  "down": the same of -w.  Between knots the curve is linear, so it is monotone
 * everywhere.  A straight number of such a table: a weight of the wrong sign becomes 0.  The weight of a missing
 * value stays.
 * Sets      u is a mean of permutations of w, so it stays in every convex set that permutations of weights do not
 *           change: balls of l1, l2 and l-infinity norms, the simplex.
 * Privacy   a function of the released weights and the declaration: post-processing, which costs nothing. */
#include "run/run.h"

/* (1): size[i] values have been pooled to w[i]; both are stacks that grow over the values already read. */
static void rise(double *w, int64_t n, int64_t *size)
{
    int64_t top = 0;
    for (int64_t j = 0; j < n; j++, top++) {
        w[top] = w[j];
        size[top] = 1;
        for (; top > 0 && w[top - 1] > w[top]; top--) {
            const double a = (double)size[top - 1], b = (double)size[top];
            w[top - 1] = (a * w[top - 1] + b * w[top]) / (a + b);
            size[top - 1] += size[top];
        }
    }
    for (int64_t j = n; j > 0;) /* each pool back over its values, from behind */
        for (int64_t k = size[--top]; k > 0; k--) w[--j] = w[top];
}

static void make_monotone(const pvi_origin *p, double *w, int64_t *size)
{
    const double sign = p->monotone;
    if (p->kind == PVI_ORIGIN_LINE) {
        w[p->first] = sign * fmax(0.0, sign * w[p->first]);
        return;
    }
    for (int64_t j = 0; j < p->features; j++) w[p->first + j] *= sign;
    rise(w + p->first, p->features, size);
    for (int64_t j = 0; j < p->features; j++) w[p->first + j] *= sign;
}

pv_status pvi_monotone_open(const pvi_job *j, const pvi_matrix *m, pv_arena *a, pvi_origins *out)
{
    *out = (pvi_origins) { 0 };
    const pvi_data_cfg *cfg = &j->plan->s.data;
    const pv_status s = m->schema_json ? pvi_curves_origins(j->ctx, a, cfg, m->schema_json, out) : PV_OK;
    for (int64_t i = 0; s == PV_OK && i < out->n; i++)
        if (out->place[i].monotone && j->prob.d != j->dom.p)
            return pvi_fail(j->ctx, PV_E_UNSUPPORTED,
                            "column \"%s\": \"monotone\" is for one score, of two classes or a number; "
                            "model=%s has several",
                            out->place[i].name, j->model.named->name);
    return s;
}

pv_status pvi_monotone(const pvi_origins *of, pv_arena *a, pv_ctx *ctx, double *w)
{
    for (int64_t i = 0; i < of->n; i++) {
        const pvi_origin *p = &of->place[i];
        if (!p->monotone) continue;
        int64_t *size = pv_arena_get(a, sizeof *size * (size_t)p->features);
        if (!size) return pvi_nomem(ctx);
        make_monotone(p, w, size);
    }
    return PV_OK;
}
