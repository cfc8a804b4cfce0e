/* scatter.h - the scattering transform: tables shared by scatter.c and its kernel. */
#ifndef PVI_SCATTER_H
#define PVI_SCATTER_H
#include <stddef.h>
#include <stdint.h>

#include "core/isa.h"

enum {
    PVI_SCATTER_LANES = 16, /* images that are transformed side by side                                */
    PVI_SCATTER_SIDE = 256, /* longest padded side                                                      */
    PVI_SCATTER_SCALES = 4, /* largest J                                                                */
    PVI_SCATTER_STAGES = 8  /* of a Fourier transform: 2^8 = PVI_SCATTER_SIDE                           */
};

/* Fourier transform of n points: radices, and the twiddles exp(-2 pi i p j / (l r)) of each stage. */
typedef struct pvi_dft {
    int n, stages, radix[PVI_SCATTER_STAGES];
    const float *twiddle[PVI_SCATTER_STAGES]; /* l x r pairs (cos, sin) */
    const float *root;                        /* n pairs exp(-2 pi i k / n), for radices without a butterfly */
} pvi_dft;

/* Low pass and subsampling along one side: out[o] = sum_k weight[o taps + k] in[at[o taps + k]], taps even. */
typedef struct pvi_lowpass {
    int out, taps;
    const int *at;
    const float *weight;
} pvi_lowpass;

typedef struct pvi_bank {
    int height, width;                                         /* of the image */
    int scales, angles;                                        /* J, L */
    int top, left;                                             /* padding in front */
    int rows[PVI_SCATTER_SCALES], columns[PVI_SCATTER_SCALES]; /* padded, at resolution 2^-r */
    int out_rows, out_columns;
    int paths;                                                             /* 1 + J L + L^2 J (J - 1) / 2 */
    pvi_dft dft_rows[PVI_SCATTER_SCALES], dft_columns[PVI_SCATTER_SCALES]; /* along a column; along a row */
    pvi_lowpass low_rows[PVI_SCATTER_SCALES], low_columns[PVI_SCATTER_SCALES];
    /* Fourier transform of psi_{j,l} at resolution r <= j, divided by the number of points: [r][j * L + l] */
    const float *const *psi[PVI_SCATTER_SCALES];
} pvi_bank;

/* One channel of PVI_SCATTER_LANES images: in[pixel * LANES + lane] -> out[feature * LANES + lane], all 64-byte
 * aligned; feature = (path * out_rows + row) * out_columns + column.  The scratch holds
 * 8 rows[0] columns[0] + columns[0] + 6 PVI_SCATTER_SIDE vectors of LANES floats. */
typedef void pvi_scatter_fn(const pvi_bank *b, const float *in, float *out, float *scratch);
extern pvi_scatter_fn *const pvi_scatter_isa[PVI_ISA_COUNT];
#endif
