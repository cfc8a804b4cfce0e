/* siphash.kernel.c - SipHash-2-4 with 128 bits of several messages of one length, a lane each.
 *
 *   v      four words of state; a round mixes them by additions, rotations and exclusive ors
 *   m_i    the message in words of 8 bytes, the last of them with its length in the highest byte
 *   (1) for each m_i: v3 ^= m_i, two rounds, v0 ^= m_i
 *   (2) v2 ^= 0xee, four rounds, the exclusive or of all words; v1 ^= 0xdd, four rounds, the same again
 * One hash is a chain of rounds that wait for each other; lanes fill the time.
 * Results are those of pvi_short_hash().
 * Reference  Aumasson, Bernstein: SipHash, INDOCRYPT 2012. */
#include <string.h>

#include "core/core.h"

#if defined(__AVX512F__)
enum { LANES = 8 }; /* at a time */
#elif defined(__AVX2__)
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));
typedef struct state {
    lanes v[4];
} state;

PVI_INLINE uint64_t little(uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

PVI_INLINE lanes rotate(lanes x, int by)
{
    return (x << by) | (x >> (64 - by));
}

PVI_INLINE void rounds(state *s, int n)
{
    lanes a = s->v[0], b = s->v[1], c = s->v[2], d = s->v[3];
    for (int i = 0; i < n; i++) {
        a += b, c += d;
        b = rotate(b, 13) ^ a, d = rotate(d, 16) ^ c;
        a = rotate(a, 32);
        c += b, a += d;
        b = rotate(b, 17) ^ c, d = rotate(d, 21) ^ a;
        c = rotate(c, 32);
    }
    s->v[0] = a, s->v[1] = b, s->v[2] = c, s->v[3] = d;
}

/* Word `at` of each message. */
PVI_INLINE lanes words(const uint8_t *const *data, size_t at, size_t size)
{
    lanes m;
    for (int l = 0; l < LANES; l++) {
        uint64_t x = 0;
        if (at + 8 <= size) memcpy(&x, data[l] + at, 8);
        else if (at < size) memcpy(&x, data[l] + at, size - at);
        m[l] = little(x);
    }
    return m;
}

PVI_INLINE void absorb(state *s, lanes m) /* (1) */
{
    s->v[3] ^= m;
    rounds(s, 2);
    s->v[0] ^= m;
}

PVI_INLINE void hash_lanes(const uint64_t *k, const uint8_t *const *data, size_t size, uint8_t *out)
{
    const lanes zero = { 0 }, k0 = zero + little(k[0]), k1 = zero + little(k[1]);
    state s = { { k0 ^ 0x736f6d6570736575, k1 ^ (0x646f72616e646f6d ^ 0xee), k0 ^ 0x6c7967656e657261,
                  k1 ^ 0x7465646279746573 } };
    size_t at = 0;
    for (; at + 8 <= size; at += 8) absorb(&s, words(data, at, size));
    absorb(&s, words(data, at, size) | (uint64_t)size << 56);
    s.v[2] ^= zero + 0xee; /* (2) */
    for (int half = 0; half < 2; half++) {
        if (half) s.v[1] ^= zero + 0xdd;
        rounds(&s, 4);
        const lanes h = s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
        for (int l = 0; l < LANES; l++) {
            const uint64_t x = little(h[l]);
            memcpy(out + 16 * l + 8 * half, &x, sizeof x);
        }
    }
}

pvi_short_hashes_fn PVI_ISA_NAME(pvi_short_hashes);
void PVI_ISA_NAME(pvi_short_hashes)(const uint8_t *key, const uint8_t *const *data, size_t size, uint8_t *out)
{
    uint64_t k[2];
    memcpy(k, key, sizeof k);
    for (int l = 0; l < PVI_HASH_LANES; l += LANES) hash_lanes(k, data + l, size, out + 16 * l);
}
