/* test_digest.c - the keyed digest: what changes it, what does not, and where the key lives. */
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

/* The tree of the header comment, written out: one leaf per array here. */
static void tree_is_as_documented(void **state)
{
    (void)state;
    pvi_matrix *m = dt_load(&t, "1 1:0.5 2:0.25\n-1 1:0.125\n");
    uint8_t leaf[2][32], root[32], key[32], buf[16 + 24];
    FILE *f = fopen(t.key, "rb");
    PVT_TRUE(f != NULL);
    const size_t got = fread(key, 1, 32, f);
    fclose(f);
    PVT_IS(got, 32);
    uint64_t where[2] = { 0, 0 };
    memcpy(buf, where, 16);
    memcpy(buf + 16, m->x, 24);
    pvi_hash(key, 32, buf, 40, leaf[0]);
    where[0] = 4;
    memcpy(buf, where, 16);
    memcpy(buf + 16, m->y, 8);
    pvi_hash(key, 32, buf, 24, leaf[1]);
    uint8_t all[14 + 56 + 64];
    const uint64_t head[7] = { 2, 3, 24, 0, 0, 0, 8 };
    memcpy(all, "privet data 1", 14);
    memcpy(all + 14, head, 56);
    memcpy(all + 70, leaf, 64);
    pvi_hash(key, 32, all, sizeof all, root);
    char hex[65];
    pvi_hex(root, 32, hex);
    assert_string_equal(hex, m->digest);
    pvi_matrix_free(m);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = { T(depends_on_rows_labels_and_key), T(key_file), T(tree_is_as_documented) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
