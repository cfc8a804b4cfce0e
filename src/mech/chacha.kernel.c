/* chacha.kernel.c - ChaCha20 keystream, several blocks at a time; one copy per instruction set.
 *
 * Block     16 words of 32 bits: 4 constants, 8 of the key, a 64-bit block counter, a 64-bit nonce; 10 double
 *           rounds of quarter rounds
 *           (1)  a += b; d = rot(d ^ a, 16);  c += d; b = rot(b ^ c, 12);
 *                a += b; d = rot(d ^ a,  8);  c += d; b = rot(b ^ c,  7)
 *           on the columns, then on the diagonals; then the input is added.
 * Layout    vector x[w] holds word w of LANES consecutive blocks; a transposition at the end brings the
 *           words of one block together.
 * Same bytes as libsodium's for every instruction set (test_kernels).  No branch, no table: time depends on
 * the length only.
 * Reference Bernstein, "ChaCha, a variant of Salsa20", 2008; RFC 8439. */
#include "mech/kernel.h"

/* Index lists for two vectors x, y made of 128-bit pieces of four words.  LOW/HIGH interleave words or pairs of
 * words inside each piece; EVEN/ODD take every other piece of x, then of y. */
#if defined(__AVX512F__)
enum { LANES = 16 };
#define COUNT  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define LOW32  0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29
#define HIGH32 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31
#define LOW64  0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HIGH64 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define EVEN   0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define ODD    4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#elif defined(__AVX2__)
enum { LANES = 8 };
#define COUNT  0, 1, 2, 3, 4, 5, 6, 7
#define LOW32  0, 8, 1, 9, 4, 12, 5, 13
#define HIGH32 2, 10, 3, 11, 6, 14, 7, 15
#define LOW64  0, 1, 8, 9, 4, 5, 12, 13
#define HIGH64 2, 3, 10, 11, 6, 7, 14, 15
#define EVEN   0, 1, 2, 3, 8, 9, 10, 11
#define ODD    4, 5, 6, 7, 12, 13, 14, 15
#else
enum { LANES = 4 };
#define COUNT  0, 1, 2, 3
#define LOW32  0, 4, 1, 5
#define HIGH32 2, 6, 3, 7
#define LOW64  0, 1, 4, 5
#define HIGH64 2, 3, 6, 7
#endif
#define MIX(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)

typedef uint32_t vec __attribute__((vector_size(4 * LANES)));

static inline vec rot(vec x, int n)
{
    return x << n | x >> (32 - n);
}

/* By 16 and by 8 bits: whole bytes move, which without a rotate instruction is one shuffle instead of three steps. */
typedef uint8_t bytes __attribute__((vector_size(4 * LANES)));
#define WORDS(W) W(0), W(4), W(8), W(12), W(16), W(20), W(24), W(28)
#define BY16(i)  i + 2, i + 3, i, i + 1
#define BY8(i)   i + 3, i, i + 1, i + 2

static inline vec rot16(vec x)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    return (vec)MIX((bytes)x, (bytes)x, WORDS(BY16));
#else
    return rot(x, 16);
#endif
}

static inline vec rot8(vec x)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    return (vec)MIX((bytes)x, (bytes)x, WORDS(BY8));
#else
    return rot(x, 8);
#endif
}

static inline void quarter(vec *a, vec *b, vec *c, vec *d) /* (1) */
{
    *a += *b, *d = rot16(*d ^ *a);
    *c += *d, *b = rot(*b ^ *c, 12);
    *a += *b, *d = rot8(*d ^ *a);
    *c += *d, *b = rot(*b ^ *c, 7);
}

static inline void rounds(vec x[16])
{
    for (int i = 0; i < 10; i++) {
        for (int c = 0; c < 4; c++) quarter(&x[c], &x[4 + c], &x[8 + c], &x[12 + c]);
        for (int c = 0; c < 4; c++) quarter(&x[c], &x[4 + (c + 1) % 4], &x[8 + (c + 2) % 4], &x[12 + (c + 3) % 4]);
    }
}

/* x[0 .. 3], four words of all blocks: afterwards piece p of x[i] holds the four words of block 4p + i. */
static inline void gather_words(vec *x)
{
    const vec a = MIX(x[0], x[1], LOW32), b = MIX(x[0], x[1], HIGH32);
    const vec c = MIX(x[2], x[3], LOW32), d = MIX(x[2], x[3], HIGH32);
    x[0] = MIX(a, c, LOW64);
    x[1] = MIX(a, c, HIGH64);
    x[2] = MIX(b, d, LOW64);
    x[3] = MIX(b, d, HIGH64);
}

/* Blocks i, 4 + i, ...: their four groups of words are in g0 .. g3. */
static inline void store(vec g0, vec g1, vec g2, vec g3, int i, uint8_t *out)
{
#if defined(__AVX512F__)
    const vec a = MIX(g0, g1, EVEN), b = MIX(g0, g1, ODD), c = MIX(g2, g3, EVEN), d = MIX(g2, g3, ODD);
    const vec block[4] = { MIX(a, c, EVEN), MIX(b, d, EVEN), MIX(a, c, ODD), MIX(b, d, ODD) };
    memcpy(out + 64 * i, &block[0], 64);
    memcpy(out + 64 * (4 + i), &block[1], 64);
    memcpy(out + 64 * (8 + i), &block[2], 64);
    memcpy(out + 64 * (12 + i), &block[3], 64);
#elif defined(__AVX2__)
    const vec half[4] = { MIX(g0, g1, EVEN), MIX(g2, g3, EVEN), MIX(g0, g1, ODD), MIX(g2, g3, ODD) };
    for (int p = 0; p < 4; p++) memcpy(out + 64 * (4 * (p / 2) + i) + 32 * (p % 2), &half[p], 32);
#else
    const vec quarter_block[4] = { g0, g1, g2, g3 };
    memcpy(out + 64 * i, quarter_block, 64);
#endif
}

static inline void load_state(const uint8_t *key, uint64_t nonce, uint32_t in[16])
{
    static const uint32_t constants[4] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };
    memcpy(in, constants, sizeof constants);
    memcpy(in + 4, key, PVI_KEY_SIZE); /* little-endian machines only, as the whole library */
    in[14] = (uint32_t)nonce;
    in[15] = (uint32_t)(nonce >> 32);
}

static inline void some_blocks(const uint32_t in[16], uint64_t counter, uint8_t *out)
{
    const vec index = { COUNT };
    vec x[16], first[16];
    for (int w = 0; w < 16; w++) first[w] = (vec) { 0 } + in[w];
    first[12] = index + (uint32_t)counter;
    first[13] = (uint32_t)(counter >> 32) - (vec)(first[12] < index); /* a comparison is -1 where true: the carry */
    memcpy(x, first, sizeof x);
    rounds(x);
    for (int w = 0; w < 16; w++) x[w] += first[w];
    for (int g = 0; g < 4; g++) gather_words(x + 4 * g);
    for (int i = 0; i < 4; i++) store(x[i], x[4 + i], x[8 + i], x[12 + i], i, out);
}

pvi_stream_fn PVI_ISA_NAME(pvi_chacha_blocks);
void PVI_ISA_NAME(pvi_chacha_blocks)(const uint8_t *key, uint64_t nonce, uint64_t counter, uint8_t *out,
                                     size_t blocks)
{
    uint32_t in[16] = { 0 };
    uint8_t rest[64 * LANES];
    load_state(key, nonce, in);
    for (; blocks >= LANES; blocks -= LANES, counter += LANES, out += sizeof rest) some_blocks(in, counter, out);
    if (blocks > 0) {
        some_blocks(in, counter, rest);
        memcpy(out, rest, 64 * blocks);
        pvi_wipe(rest, sizeof rest);
    }
    pvi_wipe(in, sizeof in);
}
