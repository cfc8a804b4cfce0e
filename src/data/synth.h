/* synth.h - what the made-up tables share: random numbers and the folder they go to. */
#ifndef PVI_SYNTH_H
#define PVI_SYNTH_H
#include "core/core.h"

/* ---- random numbers for the demonstration only; noise never comes from here ------------------------ */
static inline uint64_t pvi_synth_next(uint64_t *s)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline double pvi_synth_uniform(uint64_t *s)
{
    return ((double)(pvi_synth_next(s) >> 11) + 0.5) * 0x1p-53;
}

static inline double pvi_synth_normal(uint64_t *s)
{
    const double u = pvi_synth_uniform(s), v = pvi_synth_uniform(s);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* Makes the folder; PV_E_ARG: the numbers of rows make no table. */
pv_status pvi_synth_folder(pv_ctx *ctx, const char *folder, int64_t rows, int64_t heldout_rows);
#endif
