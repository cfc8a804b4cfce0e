/* test_siphash.c - hashes in lanes against one at a time, on every instruction set; a vector of the reference. */
#include "core/core.h"
#include "pvtest.h"

static void lanes_are_single_hashes(void **state)
{
    uint8_t key[PVI_SHORT_KEY], text[PVI_HASH_LANES][100], want[16], out[16 * PVI_HASH_LANES];
    const uint8_t *at[PVI_HASH_LANES];
    uint64_t seed = 9;
    (void)state;
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)(256 * pvt_uniform(&seed));
    for (int l = 0; l < PVI_HASH_LANES; l++) {
        at[l] = text[l];
        for (size_t i = 0; i < sizeof text[l]; i++) text[l][i] = (uint8_t)(256 * pvt_uniform(&seed));
    }
    for (int isa = 0; isa <= (int)pvi_isa(); isa++)
        for (size_t size = 0; size <= sizeof text[0]; size++) {
            pvi_short_hashes_isa[isa](key, at, size, out);
            for (int l = 0; l < PVI_HASH_LANES; l++) {
                pvi_short_hash(key, text[l], size, want);
                assert_memory_equal(out + 16 * l, want, sizeof want);
            }
        }
}

/* The first of vectors.h of the reference: 128 bits of nothing, under the key 00 01 .. 0f. */
static void reference_vector(void **state)
{
    static const uint8_t want[16] = { 0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6,
                                      0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93 };
    uint8_t key[PVI_SHORT_KEY], out[16 * PVI_HASH_LANES];
    const uint8_t *at[PVI_HASH_LANES];
    (void)state;
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)i;
    for (int l = 0; l < PVI_HASH_LANES; l++) at[l] = key;
    pvi_short_hashes_isa[pvi_isa()](key, at, 0, out);
    assert_memory_equal(out, want, sizeof want);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(lanes_are_single_hashes), cmocka_unit_test(reference_vector) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
