/* test_model_file.c - a model file is read exactly as written, or refused; the old file survives. */
#include "cert_fixture.h"
#include "pvtest.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static pv_ctx *ctx;
static char dir[32], path[64], *cert, *unbound; /* the latter of version 2: it fits any weights */

static int setup(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/privet-test-XXXXXX");
    if (pv_ctx_create(NULL, &ctx) != PV_OK || !mkdtemp(dir)) return 1;
    snprintf(path, sizeof path, "%s/m.pvt", dir);
    pvi_cert c = fixture_cert();
    if (pvi_cert_write(ctx, &c, &cert) != PV_OK) return 1;
    c.version = 2;
    return pvi_cert_write(ctx, &c, &unbound) != PV_OK;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    pvi_free(ctx, cert);
    pvi_free(ctx, unbound);
    pv_ctx_free(ctx);
    return rmdir(dir); /* fails when a test left something behind */
}

/* The bytes of the file, read from memory. */
static pv_status bytes_status(pv_arena *a)
{
    pvi_model_file m;
    char *bytes;
    size_t size;
    PVT_OK(pvi_file_read(ctx, path, 1 << 24, &bytes, &size));
    const pv_status s = pvi_model_of_bytes(ctx, a, path, bytes, size, &m);
    pvi_free(ctx, bytes);
    return s;
}

static pv_status read_status(void)
{
    pvi_model_file m;
    pv_arena *a = pvi_arena_create(ctx);
    const pv_status s = pvi_model_read(ctx, a, path, &m);
    char said[sizeof ctx->err];
    snprintf(said, sizeof said, "%s", pv_ctx_errmsg(ctx));
    static int files; /* one of eight is enough of the bytes */
    if (s != PV_E_IO && files++ % 8 == 0)
        PVT_TRUE(bytes_status(a) == s && (s == PV_OK || strcmp(said, pv_ctx_errmsg(ctx)) == 0));
    if (s != PV_OK) PVT_TRUE(m.w == NULL && m.certificate == NULL);
    if (s != PV_OK) PVT_TRUE(strchr(pv_ctx_errmsg(ctx), '\n') == NULL);
    pvi_arena_free(a);
    return s;
}

static void put(const void *data, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    PVT_TRUE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
}

static void round_trip(void **state)
{
    (void)state;
    const pvi_model_file m = fixture_model(cert);
    pvi_model_file back;
    pv_arena *a = pvi_arena_create(ctx);
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_CHECK(pvi_model_read(ctx, a, path, &back) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_IS(back.d, 3);
    PVT_IS(memcmp(back.w, m.w, sizeof fixture_weights), 0);
    assert_string_equal(back.model, m.model);
    assert_string_equal(back.settings, m.settings);
    assert_string_equal(back.schema, m.schema);
    assert_string_equal(back.certificate, cert);
    assert_string_equal(back.class_names[1], "yes");
    PVT_TRUE(back.is_private && back.domain.n == 20000 && back.domain.p == 3 && back.domain.y_lo == -1.0);
    PVT_OK(pv_verify(ctx, path, NULL));
    pvi_arena_free(a);
}

/* The shape of images is part of the header when there is one, and must fit the columns. */
static void image_shape(void **state)
{
    (void)state;
    pvi_model_file m = fixture_model(unbound), back;
    pv_arena *a = pvi_arena_create(ctx);
    m.domain.height = m.domain.channels = 1;
    m.domain.width = 2;
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_CHECK(pvi_model_read(ctx, a, path, &back) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_TRUE(back.domain.height == 1 && back.domain.width == 2 && back.domain.channels == 1);
    m.domain.channels = 2; /* four columns of three */
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_IS(pvi_model_read(ctx, a, path, &back), PV_E_FORMAT);
    m.domain.width = m.domain.channels = INT64_MAX;
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_IS(pvi_model_read(ctx, a, path, &back), PV_E_FORMAT);
    pvi_arena_free(a);
}

/* The layout, byte by byte, as the header comment of model_file.c and the docs give it. */
static void layout(void **state)
{
    (void)state;
    const pvi_model_file m = fixture_model(cert);
    char *text;
    size_t len;
    uint8_t hash[32];
    static const uint8_t half[8] = { 0, 0, 0, 0, 0, 0, 0xe0, 0x3f }; /* 0.5 */
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    PVT_IS(memcmp(text, "PRIVETM1\1\0\0\0\0\0\0\0", 16), 0);
    const size_t h = (uint8_t)text[16] + 256u * (uint8_t)text[17], c = (uint8_t)text[24] + 256u * (uint8_t)text[25];
    PVT_IS(len, 40 + h + c + 24 + 32);
    PVT_IS(text[32], 3);
    PVT_IS(c, strlen(cert));
    PVT_IS(memcmp(text + 40 + h, cert, c), 0);
    PVT_IS(memcmp(text + 40 + h + c, half, 8), 0);
    PVT_IS(memcmp(text + 40, "{\n \"notice\": \"PRIVATE", 21), 0);
    pvi_hash(NULL, 0, text, len - 32, hash);
    PVT_IS(memcmp(hash, text + len - 32, 32), 0);
    pvi_free(ctx, text);
}

static void not_private_says_so(void **state)
{
    (void)state;
    const pvi_cert c = {
        .version = 2, .why_not = "test seed", .epsilon = INFINITY, .relation = PV_REL_ZERO_OUT, .model = "logistic"
    };
    char *off, *text;
    size_t len;
    pvi_model_file back;
    PVT_OK(pvi_cert_write(ctx, &c, &off));
    const pvi_model_file m = fixture_model(off);
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    PVT_IS(memcmp(text + 40, "{\n \"notice\": \"NOT PRIVATE", 25), 0);
    pv_arena *a = pvi_arena_create(ctx);
    PVT_OK(pvi_model_read(ctx, a, path, &back));
    PVT_TRUE(!back.is_private);
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_VERIFY);
    pvi_arena_free(a);
    pvi_free(ctx, text);
    pvi_free(ctx, off);
}

static void every_truncation_and_flip_is_refused(void **state)
{
    (void)state;
    const pvi_model_file m = fixture_model(cert);
    char *text;
    size_t len;
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    for (size_t i = 0; i < len; i++) {
        put(text, i);
        pv_status s = read_status();
        PVT_CHECK(s == PV_E_FORMAT, "first %zu of %zu bytes gave %d", i, len, s);
        for (int bit = 0; bit < 8; bit += 1 + (int)(i % 3)) {
            text[i] ^= (char)(1 << bit);
            put(text, len);
            s = read_status();
            PVT_CHECK(s == PV_E_FORMAT, "byte %zu bit %d gave %d", i, bit, s);
            text[i] ^= (char)(1 << bit);
        }
    }
    char *longer = calloc(1, len + 1);
    memcpy(longer, text, len);
    put(longer, len + 1);
    PVT_IS(read_status(), PV_E_FORMAT);
    put(text, len);
    PVT_OK(read_status());
    free(longer);
    pvi_free(ctx, text);
}

/* Rewrites the checksum after a change, so that the checks behind it are reached. */
static void put_sealed(char *text, size_t len)
{
    pvi_hash(NULL, 0, text, len - 32, (uint8_t *)text + len - 32);
    put(text, len);
}

static void resealed_files_are_still_checked(void **state)
{
    (void)state;
    const pvi_model_file m = fixture_model(cert);
    char *text;
    size_t len;
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    char *copy = malloc(len);
    const size_t weights = len - 32 - 24;
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    for (int k = 0; k < 3; k++) { /* the fixture's platform is little-endian or this test says so */
        memcpy(copy, text, len);
        memcpy(copy + weights + 8, &bad[k], 8);
        put_sealed(copy, len);
        PVT_IS(read_status(), PV_E_FORMAT);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "weight 1 is not finite"), "%s", pv_ctx_errmsg(ctx));
    }
    for (size_t i = 8; i < len - 32; i++) {
        memcpy(copy, text, len);
        copy[i] ^= 1;
        put_sealed(copy, len);
        PVT_CHECK(read_status() != PV_OK, "byte %zu of %zu", i, len);
    }
    free(copy);
    pvi_free(ctx, text);
}

/* A header that is edited without changing its length, and sealed again. */
static void edited_headers_are_refused(void **state)
{
    (void)state;
    static const char *const edits[][2] = { { "\"classes\": 2", "\"classes\": 3" },
                                            { "\"rows\": 20000", "\"rows\": -2000" },
                                            { "\"y_lo\": -1", "\"y_lo\": 10" },
                                            { "\"row_norm\"", "\"row_Norm\"" },
                                            { "\n \"model\"", " \n\"model\"" },
                                            { "\"schema\"", "\"schemb\"" },
                                            { "\"no\"", "1234" },
                                            { "\"PRIVATE: see", "\"PRIVATE: sea" } };
    const pvi_model_file m = fixture_model(cert);
    char *text;
    size_t len;
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        const size_t n = strlen(edits[i][0]);
        char *at = memmem(text, len, edits[i][0], n);
        PVT_CHECK(at != NULL && strlen(edits[i][1]) == n, "%s", edits[i][0]);
        memcpy(at, edits[i][1], n);
        put_sealed(text, len);
        const pv_status s = read_status();
        PVT_CHECK(s == PV_E_FORMAT || s == PV_E_VERIFY, "accepted: %s", edits[i][1]);
        PVT_IS(pv_verify(ctx, path, NULL), PV_E_VERIFY);
        memcpy(at, edits[i][0], n);
    }
    put_sealed(text, len);
    PVT_OK(read_status());
    pvi_free(ctx, text);
}

static void huge_lengths_do_not_allocate(void **state)
{
    (void)state;
    char head[40 + 32] = "PRIVETM1\1";
    static const int at[] = { 16, 24, 32 };
    for (int k = 0; k < 3; k++)
        for (int byte = 0; byte < 8; byte++) {
            memset(head + 16, 0, 24);
            head[at[k] + byte] = (char)0xff;
            put(head, sizeof head);
            PVT_IS(read_status(), PV_E_FORMAT);
        }
    memset(head + 16, 0xff, 24); /* sums that wrap around */
    put(head, sizeof head);
    PVT_IS(read_status(), PV_E_FORMAT);
}

static void foreign_files(void **state)
{
    (void)state;
    static const char *const texts[] = { "", "P", "PRIVETM2 something else", "{\"format\":\"privet-certificate\"}",
                                         "\x1f\x8b\x08" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put(texts[i], strlen(texts[i]));
        PVT_IS(read_status(), PV_E_FORMAT);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "not a privet model file"), "%s", pv_ctx_errmsg(ctx));
    }
    pvi_model_file m;
    pv_arena *a = pvi_arena_create(ctx);
    PVT_IS(pvi_model_read(ctx, a, dir, &m), PV_E_IO);
    PVT_IS(pvi_model_read(ctx, a, "/dev/zero", &m), PV_E_IO);
    PVT_IS(pvi_model_read(ctx, a, "/nonexistent/m", &m), PV_E_IO);
    unlink(path);
    PVT_IS(mkfifo(path, 0600), 0);
    PVT_IS(pvi_model_read(ctx, a, path, &m), PV_E_IO); /* and does not hang */
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_IO);
    pvi_arena_free(a);
}

static void refuses_to_write_nonsense(void **state)
{
    (void)state;
    const double bad[3] = { 0, NAN, 0 };
    pvi_model_file m = fixture_model(cert);
    m.w = bad;
    PVT_IS(pvi_model_write(ctx, path, &m), PV_E_NUMERIC);
    m = fixture_model(NULL);
    PVT_IS(pvi_model_write(ctx, path, &m), PV_E_ARG);
    m = fixture_model("{}");
    PVT_IS(pvi_model_write(ctx, path, &m), PV_E_FORMAT);
    PVT_TRUE(access(path, F_OK) != 0);
}

static void certificate_of_another_model(void **state)
{
    (void)state;
    pvi_model_file m = fixture_model(unbound);
    m.model = "squared";
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_VERIFY);
    m = fixture_model(unbound);
    m.domain.n = 7;
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_VERIFY);
    m = fixture_model(unbound);
    m.domain.p = 7;
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_VERIFY);
    m = fixture_model(unbound);
    m.settings = "{\"optimizer.steps\":1000}";
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_VERIFY);
}

/* From version 3 on a model under a certificate that was written for another is neither written nor read: of each
 * part that predictions depend on, another one. */
static void certificates_bind_the_model(void **state)
{
    (void)state;
    static const double other_weights[3] = { 0.5, -1.25e-300, 3.0000001e8 };
    static const char *const other_classes[2] = { "yes", "no" };
    pvi_model_file m[8];
    for (int i = 0; i < 8; i++) m[i] = fixture_model(cert);
    m[0].w = other_weights;
    m[1].class_names = other_classes;
    m[2].schema = "{\"columns\":[1]}";
    m[3].schema = NULL;
    m[4].domain.row_norm = 2.0;
    m[5].domain.y_hi = 2.0;
    m[6].model = "squared";
    m[7].settings = "{}";
    for (int i = 0; i < 8; i++) {
        PVT_CHECK(pvi_model_write(ctx, path, &m[i]) == PV_E_VERIFY, "wrote %d", i);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), i ? "another header" : "other weights"), "%d: %s", i,
                  pv_ctx_errmsg(ctx));
    }
    PVT_TRUE(access(path, F_OK) != 0);
}

/* The weights of another run under the header and certificate of this one, every checksum recomputed. */
static void other_weights_under_a_certificate(void **state)
{
    (void)state;
    const pvi_model_file m = fixture_model(cert);
    char *text;
    size_t len;
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_OK(pvi_file_read(ctx, path, 1 << 20, &text, &len));
    text[len - 32 - 24] ^= 1;
    put_sealed(text, len);
    PVT_IS(read_status(), PV_E_VERIFY);
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_VERIFY);
    PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "the certificate is of other weights"), "%s", pv_ctx_errmsg(ctx));
    pvi_free(ctx, text);
}

/* ---- the old file survives ------------------------------------------------------------------------------ */

static void unwritable_folder(void **state)
{
    (void)state;
    const pvi_model_file m = fixture_model(cert);
    PVT_IS(pvi_model_write(ctx, "/nonexistent/m.pvt", &m), PV_E_IO);
    PVT_IS(pvi_model_write(ctx, dir, &m), PV_E_IO);
    PVT_IS(pvi_model_write(ctx, "", &m), PV_E_IO);
    PVT_IS(pvi_model_write(ctx, "/dev/full", &m), PV_E_IO);
    struct stat st;
    PVT_TRUE(stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode)); /* it was not replaced */
    PVT_OK(pvi_model_write(ctx, path, &m));
    PVT_IS(chmod(dir, 0555), 0);
    const pid_t child = fork(); /* as nobody, since root may write everywhere */
    if (child == 0) _exit((geteuid() == 0 && setuid(65534) != 0) ? 1 : (int)pvi_model_write(ctx, path, &m));
    int how;
    PVT_IS(waitpid(child, &how, 0), child);
    PVT_IS(chmod(dir, 0700), 0);
    PVT_TRUE(WIFEXITED(how));
    PVT_IS(WEXITSTATUS(how), PV_E_IO);
    PVT_OK(read_status());
}

static void full_disk(void **state)
{
    (void)state;
    pvi_model_file m = fixture_model(unbound);
    struct rlimit old, small;
    double *big = calloc(1 << 16, sizeof *big);
    PVT_OK(pvi_model_write(ctx, path, &m));
    m.w = big;
    m.d = 1 << 16;
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit then fails as on a full disk */
    getrlimit(RLIMIT_FSIZE, &old);
    for (rlim_t limit = 0; limit < 600000; limit = limit * 3 + 100) {
        small = (struct rlimit) { limit > 500000 ? (1 << 19) : limit, old.rlim_max };
        setrlimit(RLIMIT_FSIZE, &small);
        const pv_status s = pvi_model_write(ctx, path, &m);
        setrlimit(RLIMIT_FSIZE, &old);
        PVT_IS(s, PV_E_IO);
        PVT_CHECK(strstr(pv_ctx_errmsg(ctx), "cannot be written"), "%s", pv_ctx_errmsg(ctx));
        PVT_OK(read_status()); /* the old one; teardown sees that no temporary file is left */
    }
    free(big);
}

static void remove_temporaries(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -f %s/m.pvt.tmp.*", dir);
    PVT_IS(system(command), 0);
}

/* A child writes models of all weights k = 1, 2, ... over each other until it is killed. */
static void killed_while_writing(void **state)
{
    (void)state;
    enum { D = 1 << 17, ROUNDS = 40 };
    double *w = calloc(D, sizeof *w);
    pvi_model_file m = fixture_model(unbound), back;
    uint64_t seed = 7;
    m.w = w;
    m.d = D;
    PVT_OK(pvi_model_write(ctx, path, &m));
    for (int round = 0; round < ROUNDS; round++) {
        const pid_t child = fork();
        PVT_TRUE(child >= 0);
        if (child == 0) {
            for (double k = 1;; k++) {
                for (int j = 0; j < D; j++) w[j] = k;
                if (pvi_model_write(ctx, path, &m) != PV_OK) _exit(1);
            }
        }
        usleep((useconds_t)(pvt_u64(&seed) % 30000));
        PVT_IS(kill(child, SIGKILL), 0);
        int how;
        PVT_IS(waitpid(child, &how, 0), child);
        PVT_TRUE(WIFSIGNALED(how));
        pv_arena *a = pvi_arena_create(ctx);
        PVT_CHECK(pvi_model_read(ctx, a, path, &back) == PV_OK, "round %d: %s", round, pv_ctx_errmsg(ctx));
        PVT_IS(back.d, D);
        for (int j = 0; j < D; j++) PVT_TRUE(back.w[j] == back.w[0]); /* one whole model, not two halves */
        pvi_arena_free(a);
    }
    remove_temporaries(); /* SIGKILL leaves no one to clean up */
    free(w);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = {
        CASE(round_trip),
        CASE(image_shape),
        CASE(layout),
        CASE(not_private_says_so),
        CASE(every_truncation_and_flip_is_refused),
        CASE(resealed_files_are_still_checked),
        CASE(edited_headers_are_refused),
        CASE(huge_lengths_do_not_allocate),
        CASE(foreign_files),
        CASE(refuses_to_write_nonsense),
        CASE(certificate_of_another_model),
        CASE(certificates_bind_the_model),
        CASE(other_weights_under_a_certificate),
        CASE(unwritable_folder),
        CASE(full_disk),
        CASE(killed_while_writing),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
