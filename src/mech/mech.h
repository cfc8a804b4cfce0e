/* mech.h - randomness, the fixed-point grid and noise. */
#ifndef PVI_MECH_H
#define PVI_MECH_H
#include "core/core.h"

/* ---- source of randomness (rng.c) --------------------------------------------------------------
 * Stream ciphers keyed by the operating system.  After fork() the child draws a new key.  The key
 * is wiped by _free.  With a test seed the stream is reproducible and pvi_rng_is_test is true: the
 * certificate of such a run says NOT PRIVATE (P6). */
pv_status pvi_rng_create(pv_ctx *ctx, pv_rng **out); /* PV_E_RNG: no entropy      */
pv_status pvi_rng_create_test(pv_ctx *ctx, uint64_t seed, pv_rng **out);
void pvi_rng_free(pv_rng *r);
bool pvi_rng_is_test(const pv_rng *r);
void pvi_rng_bytes(pv_rng *r, void *out, size_t size);
uint64_t pvi_rng_u64(pv_rng *r);
uint64_t pvi_rng_below(pv_rng *r, uint64_t n); /* 0 .. n-1, unbiased                                */

/* ---- grid (grid.c) ------------------------------------------------------------------------------
 * Sums are held as int64 multiples of `spacing`, a power of two, so that they add exactly in any
 * order and the value of the sum cannot show in the low bits of the noise. */
/* Spacing for sums of at most n rows of norm at most clip under noise of the given scale: as fine as
 * int64 allows with room for the noise, never coarser than needed; public quantities only.
 * 0: no spacing fits (the caller refuses). */
double pvi_grid_spacing(double clip, int64_t n, double noise_scale, int64_t d);
/* acc[j] += round(x[j] / spacing), ties to even; the L2 error of one call is at most
 * pvi_grid_error(spacing, d). */
void pvi_grid_add(const float *x, double spacing, int64_t *acc, int64_t d);
/* The same for factor * x; a product of two floats is exact in double, so this is the exact function too. */
void pvi_grid_add_times(const float *x, float factor, double spacing, int64_t *acc, int64_t d);
double pvi_grid_error(double spacing, int64_t d);
void pvi_grid_value(const int64_t *acc, double spacing, double scale, double *out, int64_t d); /* acc*spacing*scale */

/* ---- draws (normal.c and the mechanism files) ----------------------------------------------------
 * Integer draws are the rounded real-valued ones, decided exactly, and the same on every instruction set;
 * noise_scale / spacing from 2^-4 to 2^40. */
/* x[j] += round(noise_scale/spacing * N(0,1)), constant work per draw. */
void pvi_normal_add(pv_rng *r, double noise_scale, double spacing, int64_t *x, int64_t d);
/* How close a real law P' is to the ideal P: P'(S) <= e^kappa P(S) + tau and P(S) <= e^kappa P'(S) + tau for every S.
 * Both add up over the draws of a run, however each depends on those before it. */
typedef struct pvi_close {
    double kappa, tau;
} pvi_close;
/* Certified total variation between one coordinate's draw and the ideal.  Summed over all draws of a run it costs
 * 1 + e^epsilon times the sum in delta. */
double pvi_normal_tv_per_draw(void);
/* Of all the draws of a run, made in so many pairs, noise_scale / spacing from least to most. */
pvi_close pvi_normal_close(double least, double most, double pairs);
void pvi_laplace_add(pv_rng *r, double noise_scale, double spacing, int64_t *x, int64_t d);
double pvi_laplace_tv_per_draw(void);
/* x += round(v / spacing), v uniform in the volume of the d-ball of the given radius. */
void pvi_ball_add(pv_rng *r, double radius, double spacing, int64_t *x, int64_t d);
double pvi_ball_tv(int64_t d); /* of one whole vector                                                   */

/* Private selection (mech_select.c): index i with probability proportional to exp(score_i / scale), scores first
 * rounded to multiples of pvi_select_grid(scale).  |score| < 2^22 scale. */
int64_t pvi_select(pv_rng *r, const double *score, int64_t n, double scale);
double pvi_select_grid(double scale);
double pvi_select_tv(int64_t n); /* of one selection among n                                           */

/* ---- samplers (sampler.c): a closed enum; the sampler decides the event ---------------------------- */
typedef enum pvi_sampler { PVI_FULL_BATCH = 0, PVI_POISSON = 1, PVI_FIXED_SIZE = 2, PVI_CYCLIC = 3 } pvi_sampler;
/* Draws the rows of one query in ascending order; out has room for n.  rate: Poisson probability;
 * fixed size: exactly round(rate*n) rows; cyclic: consecutive blocks, step picks which. */
void pvi_sample(pv_rng *r, pvi_sampler kind, double rate, int64_t n, int64_t step, int64_t *out, int64_t *count);
double pvi_sample_tv(pvi_sampler kind, double rate, int64_t n); /* of one query's rows                   */
pvi_close pvi_sample_close(pvi_sampler kind, double rate, int64_t n);
#endif
