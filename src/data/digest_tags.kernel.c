/* digest_tags.kernel.c - NH, the universal hash of UMAC, in four lanes with independent keys.
 *
 *   (1) tag_l = sum_i ((m_2i + k_l,2i) mod 2^32) ((m_2i+1 + k_l,2i+1) mod 2^32)  mod 2^64
 *
 * over the 256 words m of a block.  For two different blocks chosen without knowledge of the key, tag_l
 * agrees with probability at most 2^-32, all four with at most 2^-128.
 * Reference  Black, Halevi, Krawczyk, Krovetz, Rogaway: UMAC, CRYPTO 1999, section 4 (NH is 2^-w-universal). */
#include <string.h>

#include "decimal_scan.h"
#include "digest_tags.h"

enum { WORDS = PVI_TAG_BLOCK / 4 };

#ifdef __AVX2__
PVI_INLINE uint64_t add_up(__m256i a)
{
    const __m128i s = _mm_add_epi64(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    return (uint64_t)_mm_cvtsi128_si64(s) + (uint64_t)_mm_extract_epi64(s, 1);
}

PVI_INLINE void one_block(const uint8_t *key, const uint8_t *data, uint64_t *out)
{
    __m256i sum[PVI_TAG_LANES] = { _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                                   _mm256_setzero_si256() };
    for (size_t i = 0; i < PVI_TAG_BLOCK; i += 32) {
        const __m256i m = _mm256_loadu_si256((const __m256i *)(const void *)(data + i));
        for (int l = 0; l < PVI_TAG_LANES; l++) {
            const __m256i k = _mm256_loadu_si256((const __m256i *)(const void *)(key + l * PVI_TAG_BLOCK + i)),
                          x = _mm256_add_epi32(m, k);
            sum[l] = _mm256_add_epi64(sum[l], _mm256_mul_epu32(x, _mm256_srli_epi64(x, 32)));
        }
    }
    for (int l = 0; l < PVI_TAG_LANES; l++) out[l] = add_up(sum[l]);
}
#else
PVI_INLINE void one_block(const uint8_t *key, const uint8_t *data, uint64_t *out)
{
    uint32_t m[WORDS], k[WORDS];
    memcpy(m, data, PVI_TAG_BLOCK);
    for (int l = 0; l < PVI_TAG_LANES; l++) {
        uint64_t sum = 0;
        memcpy(k, key + l * PVI_TAG_BLOCK, PVI_TAG_BLOCK);
        for (int i = 0; i < WORDS; i += 2) sum += (uint64_t)(m[i] + k[i]) * (uint64_t)(m[i + 1] + k[i + 1]);
        out[l] = sum;
    }
}
#endif

pvi_tags_fn PVI_ISA_NAME(pvi_tags);
void PVI_ISA_NAME(pvi_tags)(const uint8_t key[PVI_TAG_KEY], const void *data, size_t blocks, uint64_t *out)
{
    for (size_t i = 0; i < blocks; i++)
        one_block(key, (const uint8_t *)data + i * PVI_TAG_BLOCK, out + i * PVI_TAG_LANES);
}
