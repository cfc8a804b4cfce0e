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
void pvi_rng_begin(pv_rng *r); /* before every release: a new key where the process is another one     */
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
/* The same for doubles, |x[j]| / spacing < 2^62. */
void pvi_grid_add_f64(const double *x, double spacing, int64_t *acc, int64_t d);
double pvi_grid_error(double spacing, int64_t d);
void pvi_grid_value(const int64_t *acc, double spacing, double scale, double *out, int64_t d); /* acc*spacing*scale */

/* ---- draws (normal.c and the mechanism files) ----------------------------------------------------
 * Integer draws are the rounded real-valued ones, decided exactly, and the same on every instruction set;
 * noise_scale / spacing from 2^-4 to 2^40. */
/* x[j] += round(noise_scale/spacing * N(0,1)), constant work per draw. */
void pvi_normal_add(pv_rng *r, double noise_scale, double spacing, int64_t *x, int64_t d);
/* Certified total variation between one coordinate's draw and the ideal.  Summed over all draws of a run it costs
 * 1 + e^epsilon times the sum in delta. */
double pvi_normal_tv_per_draw(void);
/* Of all the draws of a run, made in so many pairs, noise_scale / spacing from least to most. */
pvi_close pvi_normal_close(double least, double most, double pairs);
/* x += round(v / spacing), v uniform in the volume of the d-ball of the given radius. */
void pvi_ball_add(pv_rng *r, double radius, double spacing, int64_t *x, int64_t d);
double pvi_ball_tv(int64_t d); /* of one whole vector                                                   */

/* Private selection (mech_select.c): index i with probability proportional to exp(score_i / scale), scores first
 * rounded to multiples of pvi_select_grid(scale).  |score| < 2^22 scale. */
int64_t pvi_select(pv_rng *r, const double *score, int64_t n, double scale);
double pvi_select_grid(double scale);
double pvi_select_tv(int64_t n); /* of one selection among n                                           */

/* Of a planned release: the scale to draw `times` the planned noise with; scale z Delta for noise on the grid, or a
 * refusal where the draws are not made for it (grid.c). */
double pvi_noise_scale(const pv_noise *n, double times);
pv_status pvi_noise_plan(pv_noise *n, pv_ctx *ctx);

/* ---- the closed list of mechanisms (mech_*.c; contract in plugin.h) ---------------------------- */
extern const pv_mechanism_ops pv_mechanism_gaussian, pv_mechanism_select, pv_mechanism_ball;

/* ---- the closed list of samplers (sampler.c): which units a query sees, and what follows from it ------- */
typedef struct pvi_sampler_ops {
    const char *name;    /* pinned: in certificates                                                      */
    const char *setting; /* sampler=...                                                                  */
    pv_ev_kind event;    /* that stands above a leaf; PV_EV_NONE: nothing does                           */
    bool whole;          /* every unit, in every query: events spent together take one sum               */
    bool consecutive;    /* units of a sample lie side by side                                           */
    bool group_bound;    /* under replace its events count as two zero-out steps, noise is for zero-out  */
    int groups;          /* group sums that differ between neighbours under replace                      */
    const char *caveat;  /* optional: a sentence for the assumptions of a certificate                    */
    double (*batch)(double wanted, double units); /* expected size of a sample where `wanted` is set; NULL: as is */
    int64_t (*draw)(pv_rng *r, double rate, int64_t units, int64_t number, int64_t *out);
    double (*tv)(double rate, int64_t units); /* of one sample from the ideal one; NULL: none              */
    pvi_close (*close)(double rate, int64_t units);
} pvi_sampler_ops;
extern const pvi_sampler_ops pvi_full, pvi_poisson, pvi_fixed, pvi_cyclic, pvi_one;
extern const pvi_sampler_ops *const pvi_samplers[];          /* all of them; NULL ends the list                     */
#define PVI_SAMPLER_CHOICES "auto|full|poisson|fixed|cyclic" /* a row of the table of settings */
const pvi_sampler_ops *pvi_sampler_chosen(int64_t choice);   /* by its number there, after auto             */
int64_t pvi_sampler_choice(const pvi_sampler_ops *s);        /* its number there                             */
const pvi_sampler_ops *pvi_sampler_named(const char *name);  /* as certificates do; NULL: none of them      */
/* Draws the units of one query in ascending order; out has room for all.  rate: Poisson probability; fixed size:
 * exactly round(rate units) of them; cyclic: consecutive blocks, `number` picks which. */
void pvi_sample(pv_rng *r, const pvi_sampler_ops *s, double rate, int64_t units, int64_t number, int64_t *out,
                int64_t *count);
double pvi_sample_tv(const pvi_sampler_ops *s, double rate, int64_t units);
pvi_close pvi_sample_close(const pvi_sampler_ops *s, double rate, int64_t units);
/* The event of one release: the leaf, under what this sampler puts above it.  NULL: no memory. */
const pv_event *pvi_sampler_event(const pvi_sampler_ops *s, double rate, const pv_event *leaf, pv_arena *a);
#endif
