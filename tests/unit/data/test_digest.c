/* test_digest.c - the keyed digest: what changes it, what does not, and where the key lives.
 * label: tsan */
#include "data/digest_tags.h"
#include "datatest.h"

static dt t;
static int warnings;

static void count_warnings(void *user, pv_level level, const char *line)
{
    (void)user;
    (void)line;
    warnings += level == PV_LOG_WARN;
}

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    warnings = 0;
    pv_ctx_on_log(t.ctx, count_warnings, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dt_close(&t);
    return 0;
}

static void digest_of(const char *text, char out[65])
{
    pvi_matrix *m = dt_load(&t, text);
    memcpy(out, m->digest, 65);
    pvi_matrix_free(m);
}

static void depends_on_rows_labels_and_key(void **state)
{
    (void)state;
    static const char *const text[] = { "1 1:0.5 2:0.25\n-1 1:0.125\n", "1 1:0.5 2:0.25\n1 1:0.125\n",
                                        "-1 1:0.125\n1 1:0.5 2:0.25\n", "1 1:0.5 2:0.25\n-1 1:0.1250001\n",
                                        "1 1:0.5 2:0.25\n" };
    char d[7][65];
    for (int i = 0; i < 5; i++) digest_of(text[i], d[i]);
    PVT_IS(unlink(t.key), 0);
    digest_of(text[0], d[5]); /* another key */
    t.cfg.layout = PVI_LAYOUT_SPARSE;
    digest_of(text[0], d[6]);
    for (int i = 0; i < 7; i++) {
        PVT_IS(strlen(d[i]), 64);
        for (int j = 0; j < i; j++) PVT_TRUE(strcmp(d[i], d[j]) != 0);
    }
    t.cfg.layout = PVI_LAYOUT_AUTO;
    digest_of("# other text\n+1 1:.5 2:2.5e-1\n\n-1.0 1:0.125 2:0\n", d[1]); /* same rows */
    assert_string_equal(d[1], d[5]);
    PVT_IS(warnings, 0);
}

static void key_file(void **state)
{
    (void)state;
    static const char text[] = "1 1:1\n";
    char d[65], e[65], home[96], path[128];
    struct stat st;
    digest_of(text, d);
    PVT_IS(stat(t.key, &st), 0);
    PVT_TRUE(st.st_size == 32 && (st.st_mode & 0777) == 0600);
    PVT_IS(chmod(t.key, 0644), 0);
    digest_of(text, e);
    assert_string_equal(d, e);
    PVT_IS(warnings, 1);
    dt_write(t.key, "short", 5);
    char want[160];
    snprintf(want, sizeof want, "%s: not a secret key: a file of 32 random bytes is needed", t.key);
    dt_fails(&t, text, PV_E_FORMAT, want);
    t.cfg.key_path = "/proc/nowhere/key"; /* cannot be made: a key for this run only */
    digest_of(text, d);
    digest_of(text, e);
    PVT_IS(warnings, 3);
    PVT_TRUE(strcmp(d, e) != 0);

    t.cfg.key_path = "none"; /* asked for: the same, without a warning and without a file */
    digest_of(text, d);
    digest_of(text, e);
    PVT_IS(warnings, 3);
    PVT_TRUE(strcmp(d, e) != 0 && stat("none", &st) != 0);

    t.cfg.key_path = NULL;
    snprintf(home, sizeof home, "%s/new/deep", t.dir);
    PVT_IS(setenv("PRIVET_HOME", home, 1), 0);
    digest_of(text, d);
    digest_of(text, e);
    assert_string_equal(d, e);
    PVT_IS(warnings, 3);
    snprintf(path, sizeof path, "%s/secret.key", home);
    PVT_IS(unlink(path), 0);
    PVT_IS(rmdir(home), 0);
    snprintf(home, sizeof home, "%s/new", t.dir);
    PVT_IS(rmdir(home), 0);
    unsetenv("PRIVET_HOME");
}

/* (1) of digest_tags.kernel.c on one block, n bytes filled up with zeros. */
static void tag_block(const uint8_t *key, const void *data, size_t n, uint64_t out[4])
{
    uint8_t block[1024] = { 0 };
    memcpy(block, data, n);
    for (int l = 0; l < 4; l++) {
        out[l] = 0;
        for (int i = 0; i < 256; i += 2) {
            uint32_t m[2], k[2];
            memcpy(m, block + 4 * i, 8);
            memcpy(k, key + 1024 * l + 4 * i, 8);
            out[l] += (uint64_t)(uint32_t)(m[0] + k[0]) * (uint32_t)(m[1] + k[1]);
        }
    }
}

static void leaf_of(const uint8_t *key, const uint8_t *tag_key, uint64_t array, uint64_t j, const char *data,
                    size_t size, uint8_t out[32])
{
    static uint64_t buf[2 + 4 * 256];
    size_t n = 2;
    buf[0] = array;
    buf[1] = j;
    for (size_t at = j * 262144; at < size && at < (j + 1) * 262144; at += 1024, n += 4)
        tag_block(tag_key, data + at, size - at < 1024 ? size - at : 1024, buf + n);
    pvi_hash(key, 32, buf, n * 8, out);
}

/* What lies between the rows does not enter, nor do bias and norm. */
static void check_gaps(pvi_matrix *m)
{
    char want[65];
    const float *const x = m->x;
    const size_t n = (size_t)m->domain.n;
    float *const apart = malloc(n * 5 * sizeof *apart);
    memcpy(want, m->digest, 65);
    for (size_t i = 0; i < n * 5; i++) apart[i] = i % 5 < 2 ? x[i / 5 * 2 + i % 5] : (float)i;
    m->x = apart;
    m->ld = 5;
    m->borrowed = true;
    m->norm[0] *= 2;
    m->unit = true;
    m->domain.row_norm = 7;
    PVT_OK(pvi_digest(t.ctx, &t.cfg, m));
    assert_string_equal(want, m->digest);
    apart[5 * n - 4] += 1;
    PVT_OK(pvi_digest(t.ctx, &t.cfg, m));
    PVT_TRUE(strcmp(want, m->digest) != 0);
    m->x = x;
    m->ld = 2;
    free(apart);
}

/* The tree of the header comment, written out; n rows of 2 columns, to which the bias adds none. */
static void check_tree(const char *text, uint64_t n)
{
    pvi_matrix *m = dt_load(&t, text);
    uint8_t key[32], second[32], tag_key[4096], root[32];
    FILE *f = fopen(t.key, "rb");
    PVT_TRUE(f != NULL);
    const size_t got = fread(key, 1, 32, f);
    fclose(f);
    PVT_IS(got, 32);
    PVT_IS(m->domain.n, n);
    pvi_hash(key, 32, "tags", 4, second);
    pvi_chacha20(second, 0, 0, tag_key, 4096);
    const uint64_t head[7] = { n, 2, 8 * n, 0, 0, 0, 4 * n };
    const uint64_t xl = (8 * n + 262143) / 262144, yl = (4 * n + 262143) / 262144;
    uint8_t *all = malloc(14 + 56 + 32 * (xl + yl)), *at = all + 70;
    memcpy(all, "privet data 2", 14);
    memcpy(all + 14, head, 56);
    for (uint64_t j = 0; j < xl; j++, at += 32) leaf_of(key, tag_key, 0, j, (const char *)m->x, 8 * n, at);
    for (uint64_t j = 0; j < yl; j++, at += 32) leaf_of(key, tag_key, 4, j, (const char *)m->y, 4 * n, at);
    pvi_hash(key, 32, all, (size_t)(at - all), root);
    char hex[65];
    pvi_hex(root, 32, hex);
    assert_string_equal(hex, m->digest);
    check_gaps(m);
    free(all);
    pvi_matrix_free(m);
}

static void tree_is_as_documented(void **state)
{
    (void)state;
    check_tree("1 1:0.5 2:0.25\n-1 1:0.125\n", 2);
    enum { ROWS = 70000 }; /* several leaves of each array */
    char *text = malloc(ROWS * 32), *p = text;
    for (int i = 0; i < ROWS; i++) p += sprintf(p, "%d 1:0.%05d 2:0.5\n", i % 3 ? 1 : -1, i);
    check_tree(text, ROWS);
    free(text);
}

/* Every instruction set gives the same tags. */
static void tags_agree(void **state)
{
    (void)state;
    static uint8_t key[PVI_TAG_KEY], data[8 * PVI_TAG_BLOCK + 3];
    uint64_t s = 1, a[32], b[32], want[4];
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)pvt_u64(&s);
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)pvt_u64(&s);
    pvi_tags_isa[PVI_ISA_BASE](key, data + 3, 8, a);
    tag_block(key, data + 3 + 7 * PVI_TAG_BLOCK, PVI_TAG_BLOCK, want);
    PVT_IS(memcmp(a + 28, want, 32), 0);
    for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
        pvi_tags_isa[isa](key, data + 3, 8, b);
        PVT_IS(memcmp(a, b, sizeof a), 0);
    }
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = { T(depends_on_rows_labels_and_key), T(key_file), T(tree_is_as_documented),
                                      T(tags_agree) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
