/* test_aes.c - AES-256 in counter mode: published vectors, pieces of any length, draws made of it. */
#include "mech/kernel.h"
#include "pvtest.h"

static pv_ctx *ctx;

static void other(const uint8_t *key, uint64_t nonce, uint64_t counter, uint8_t *out, size_t blocks)
{
    (void)key, (void)nonce, (void)counter;
    memset(out, 0, 64 * blocks);
}

static pvi_stream aes(void)
{
    if (!pvi_isa_aes()) skip();
    return pvi_stream_pick(true, other);
}

static void picks(void **state)
{
    (void)state;
    PVT_TRUE(pvi_stream_pick(false, other) == other);
    PVT_TRUE(pvi_stream_pick(true, other) != other);
}

/* The 16 bytes the cipher makes of `in`: nonce and counter are the halves of `in`. */
static void encrypt(const uint8_t *key, const uint8_t *in, uint8_t *out)
{
    uint64_t half[2];
    uint8_t block[64];
    memcpy(half, in, sizeof half);
    aes()(key, half[0], half[1] / 4, block, 1);
    memcpy(out, block + 16 * (half[1] % 4), 16);
}

static void published_vectors(void **state)
{
    (void)state;
    static const struct {
        uint8_t key[32], in[16], out[16];
    } v[] = {
        /* FIPS 197, appendix C.3 */
        { { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
            0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f },
          { 0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff },
          { 0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf, 0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89 } },
        /* SP 800-38A, F.1.5, blocks 1 and 2 */
        { { 0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81,
            0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7, 0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4 },
          { 0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a },
          { 0xf3, 0xee, 0xd1, 0xbd, 0xb5, 0xd2, 0xa0, 0x3c, 0x06, 0x4b, 0x5a, 0x7e, 0x3d, 0xb1, 0x81, 0xf8 } },
        { { 0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81,
            0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7, 0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4 },
          { 0xae, 0x2d, 0x8a, 0x57, 0x1e, 0x03, 0xac, 0x9c, 0x9e, 0xb7, 0x6f, 0xac, 0x45, 0xaf, 0x8e, 0x51 },
          { 0x59, 0x1c, 0xcb, 0x10, 0xd4, 0x10, 0xed, 0x26, 0xdc, 0x5b, 0xa7, 0x4a, 0x31, 0x36, 0x28, 0x70 } },
    };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        uint8_t got[16];
        encrypt(v[i].key, v[i].in, got);
        assert_memory_equal(got, v[i].out, sizeof got);
    }
}

static void pieces_agree(void **state)
{
    (void)state;
    const uint8_t key[PVI_KEY_SIZE] = { 7 };
    uint8_t all[64 * 13], piece[64 * 13 + 1];
    aes()(key, 5, 1000, all, 13);
    for (uint64_t first = 0; first < 13; first++)
        for (size_t n = 0; first + n <= 13; n++) {
            memset(piece, 0xee, sizeof piece);
            aes()(key, 5, 1000 + first, piece, n);
            assert_memory_equal(piece, all + 64 * first, 64 * n);
            PVT_IS(piece[64 * n], 0xee); /* not a byte further */
        }
    aes()(key, 6, 1000, piece, 13);
    PVT_TRUE(memcmp(piece, all, sizeof all) != 0);
}

/* A private source: standard normal moments, six standard errors wide, and another vector every time. */
static void private_draws(void **state)
{
    (void)state;
    enum { N = 1 << 20 };
    static int64_t x[2][N];
    double m2 = 0, m4 = 0, both = 0;
    pv_rng *r;
    PVT_OK(pvi_rng_create(ctx, &r));
    for (int k = 0; k < 2; k++) pvi_normal_add(r, 1.0, 0x1p-30, x[k], N);
    for (int i = 0; i < N; i++) {
        const double a = ldexp((double)x[0][i], -30), b = ldexp((double)x[1][i], -30);
        m2 += a * a / N, m4 += a * a * a * a / N, both += a * b / N;
    }
    PVT_NEAR(m2, 1.0, 6 * sqrt(2.0 / N));
    PVT_NEAR(m4, 3.0, 6 * sqrt(96.0 / N));
    PVT_NEAR(both, 0.0, 6 / sqrt(N));
    pvi_rng_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(picks), cmocka_unit_test(published_vectors),
                                        cmocka_unit_test(pieces_agree), cmocka_unit_test(private_draws) };
    if (pv_ctx_create(NULL, &ctx)) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pv_ctx_free(ctx);
    return failed;
}
