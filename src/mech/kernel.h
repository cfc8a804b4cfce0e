/* kernel.h - the inner loops that exist once per instruction set. */
#ifndef PVI_MECH_KERNEL_H
#define PVI_MECH_KERNEL_H
#include "core/isa.h"
#include "mech/mech.h"

/* Doubles differ by a few ulps between instruction sets (fused multiply-add); what is released does not, because
 * every draw within reach of such an error is decided exactly (normal.c). */
enum { PVI_BEST_LANES = 8 };
typedef struct pvi_best {
    double first[PVI_BEST_LANES], second[PVI_BEST_LANES], index[PVI_BEST_LANES];
} pvi_best;

/* A cipher's keystream, 64-byte blocks from `counter` on. */
typedef void pvi_stream_fn(const uint8_t *key, uint64_t nonce, uint64_t counter, uint8_t *out, size_t blocks);
typedef pvi_stream_fn *pvi_stream;
pvi_stream pvi_stream_pick(bool has_aes, pvi_stream other); /* AES-256 (aes.c), or the other */

typedef struct pvi_mech_kernels {
    pvi_stream chacha; /* ChaCha20 */
    pvi_stream stream; /* of the words below: ChaCha20, or what a source puts in its place (aes.c) */
    /* y0[i], y1[i] = the two Gaussians of words a[i], b[i] times s; NAN: undecided (draw.kernel.c). */
    void (*gauss)(const uint64_t *a, const uint64_t *b, double s, double *y0, double *y1, int64_t n);
    /* y[i] = s times the exponential variable of words a[i], b[i]; NAN: undecided. */
    void (*exponential)(const uint64_t *a, const uint64_t *b, double s, double *y, int64_t n);
    /* v[i] = (round(score[i] * inverse) - top) * unit + the Gumbel variable of word a[i]; |score*inverse| < 2^51;
     * INFINITY: undecided. */
    void (*gumbel)(const uint64_t *a, const double *score, double inverse, double top, double unit, double *v,
                   int64_t n);
    /* Lane l keeps the largest and second largest v[i], and first + i of the largest, over i = l mod PVI_BEST_LANES;
     * n a multiple of it. */
    void (*keep_best)(const double *v, double first, pvi_best *best, int64_t n);
    /* x[i] += round(y[i]) where y[i] is at least `margin` away from every half-integer, |y| < 2^51; true: some
     * was not. */
    bool (*round_add)(const double *y, double margin, int64_t *x, int64_t n);
    /* acc[i] += round(x[i] * inverse), ties to even, where |x[i] * inverse| < 2^51; true: some was not. */
    bool (*grid_add)(const float *x, double inverse, int64_t *acc, int64_t n);
} pvi_mech_kernels;

extern const pvi_mech_kernels *const pvi_mech_kernels_isa[PVI_ISA_COUNT];
const pvi_mech_kernels *pvi_rng_kernels(pv_rng *r); /* the ones this source uses; best by default  */
pv_ctx *pvi_rng_ctx(const pv_rng *r);               /* its threads                                 */
void pvi_rng_use(pv_rng *r, const pvi_mech_kernels *k);
bool pvi_rounds_to_nearest(void); /* the rounding mode every bound here assumes (grid.c) */

/* ---- bits (random_bits.c): the uniform bits behind a sequence of draws -------------------------------------------
 * A call that draws takes one key from the source and reads words a, b of draw i of chunk c at fixed places of its
 * stream; the further bits of an undecided draw have places of their own.  So a draw never depends on which other
 * draws were undecided, and a vector can be gone through twice. */
enum { PVI_CHUNK = 256 };
typedef struct pvi_bits {
    _Alignas(64) uint64_t a[PVI_CHUNK];
    uint64_t b[PVI_CHUNK];
    const pvi_mech_kernels *k;
    uint64_t chunk;
    uint8_t key[PVI_KEY_SIZE];
} pvi_bits;
void pvi_bits_begin(pvi_bits *w, pv_rng *r);
void pvi_bits_load(pvi_bits *w, int64_t chunk, int64_t n); /* n <= PVI_CHUNK                          */
/* U of draw i, 204 bits (draw.kernel.c), and the 128 bits that follow the top 50 of b[i]. */
typedef struct pvi_wide {
    uint64_t u[4], angle[2];
} pvi_wide;
void pvi_bits_wide(const pvi_bits *w, int64_t i, pvi_wide *out);
void pvi_bits_end(pvi_bits *w);
#endif
