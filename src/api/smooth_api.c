/* smooth_api.c - Laplacian smoothing for whoever holds a released vector: post-processing, so it costs nothing. */
#include "opt/smooth.h"

pv_status pv_smooth(pv_ctx *ctx, double sigma, double *v, int64_t d)
{
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, v);
    pvi_smoother s = { 0 };
    if (d < 1 || !(sigma >= 0 && sigma <= 1e12))
        return pvi_fail(ctx, PV_E_ARG, "pv_smooth: a vector is needed, and a sigma between 0 and 1e12");
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    const pv_status ok = pvi_smooth_open(&s, a, sigma, d);
    if (ok == PV_OK) pvi_smooth(&s, v, d);
    pvi_arena_free(a);
    return pvi_done(ctx, ok);
}

pv_status pv_smooth_factors(double sigma, int64_t d, double *gamma, double *beta)
{
    PVI_FENV;
    if (gamma) *gamma = 0.0;
    if (beta) *beta = 0.0;
    if (!gamma || !beta || d < 1 || !(sigma >= 0 && sigma <= 1e12)) return PV_E_ARG;
    *gamma = pvi_smooth_gamma(sigma, d);
    *beta = pvi_smooth_beta(sigma, d);
    return PV_OK;
}
