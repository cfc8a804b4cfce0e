/* crypto.c - libsodium behind one file: entropy, ChaCha20, BLAKE2b, SipHash, wiping. */
#include "core.h"

#include <sodium.h>
#include <sys/random.h>

_Static_assert(sizeof(crypto_generichash_state) <= sizeof(pvi_hasher), "hasher too small");

/* getrandom() rather than randombytes_buf(): libsodium aborts where we must return an error. */
pv_status pvi_entropy(pv_ctx *ctx, void *out, size_t size)
{
    uint8_t *p = out;
    if (sodium_init() < 0)
        return pvi_fail(ctx, PV_E_RNG, "libsodium could not start: no secure randomness, refusing to run");
    while (size > 0) {
        const ssize_t n = getrandom(p, size > 256 ? 256 : size, 0);
        if (n <= 0) return pvi_fail(ctx, PV_E_RNG, "the operating system gave no randomness: refusing to run");
        p += n;
        size -= (size_t)n;
    }
    return PV_OK;
}

void pvi_chacha20(const uint8_t key[PVI_KEY_SIZE], uint64_t nonce, uint64_t counter, uint8_t *out, size_t size)
{
    uint8_t n8[crypto_stream_chacha20_NONCEBYTES];
    for (int i = 0; i < 8; i++) n8[i] = (uint8_t)(nonce >> (8 * i));
    memset(out, 0, size);
    crypto_stream_chacha20_xor_ic(out, out, size, n8, counter, key);
}

void pvi_wipe(void *p, size_t size)
{
    sodium_memzero(p, size);
}

void pvi_wipe_stack(void)
{
    sodium_stackzero(4096);
}

void pvi_hash(const uint8_t *key, size_t key_len, const void *data, size_t size, uint8_t out[PVI_HASH_SIZE])
{
    crypto_generichash(out, PVI_HASH_SIZE, data, size, key, key_len);
}

void pvi_short_hash(const uint8_t key[PVI_SHORT_KEY], const void *data, size_t size, uint8_t out[16])
{
    crypto_shorthash_siphashx24(out, data, size, key);
}

pvi_short_hashes_fn PVI_DECLARE_ISA(pvi_short_hashes);
pvi_short_hashes_fn *const pvi_short_hashes_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_short_hashes);

void pvi_hash_begin(pvi_hasher *h, const uint8_t *key, size_t key_len)
{
    crypto_generichash_init((crypto_generichash_state *)(void *)h, key, key_len, PVI_HASH_SIZE);
}

void pvi_hash_add(pvi_hasher *h, const void *data, size_t size)
{
    crypto_generichash_update((crypto_generichash_state *)(void *)h, data, size);
}

void pvi_hash_end(pvi_hasher *h, uint8_t out[PVI_HASH_SIZE])
{
    crypto_generichash_final((crypto_generichash_state *)(void *)h, out, PVI_HASH_SIZE);
}

void pvi_hex(const uint8_t *in, size_t n, char *out)
{
    sodium_bin2hex(out, 2 * n + 1, in, n);
}
