/* random_bits.c - the uniform bits behind a sequence of draws; see kernel.h.
 *
 *   (1) chunk c:          stream(key, nonce 0, blocks 64 c ..)        32 blocks of words a, 32 of words b
 *   (2) draw i of it:     stream(key, nonce 1, block 256 c + i)       the bits beyond a and b */
#include "mech/kernel.h"

void pvi_bits_begin(pvi_bits *w, pv_rng *r)
{
    w->k = pvi_rng_kernels(r);
    pvi_rng_bytes(r, w->key, sizeof w->key);
}

void pvi_bits_load(pvi_bits *w, int64_t chunk, int64_t n)
{
    const size_t blocks = (size_t)(n + 7) / 8;
    w->chunk = (uint64_t)chunk;
    if (n == PVI_CHUNK) { /* (1), in one go: b follows a */
        w->k->stream(w->key, 0, 64 * w->chunk, (uint8_t *)w, 64);
        return;
    }
    w->k->stream(w->key, 0, 64 * w->chunk, (uint8_t *)w->a, blocks);
    w->k->stream(w->key, 0, 64 * w->chunk + 32, (uint8_t *)w->b, blocks);
}

void pvi_bits_wide(const pvi_bits *w, int64_t i, pvi_wide *out)
{
    uint64_t more[8];
    w->k->stream(w->key, 1, PVI_CHUNK * w->chunk + (uint64_t)i, (uint8_t *)more, 1); /* (2) */
    out->u[0] = w->a[i];
    out->u[1] = w->b[i] << 52 | more[0] >> 12; /* the low 12 bits of b, then more */
    out->u[2] = more[0] << 52 | more[1] >> 12;
    out->u[3] = more[1] << 52;
    out->angle[0] = (w->b[i] >> 14) << 14 | more[2] >> 50; /* the top 50 bits of b, then more */
    out->angle[1] = more[2] << 14 | more[3] >> 50;
    pvi_wipe(more, sizeof more);
}

void pvi_bits_end(pvi_bits *w)
{
    pvi_wipe(w, sizeof *w);
    pvi_wipe_stack();
}
