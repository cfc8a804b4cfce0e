/* fuzz_model.c - a model file is refused, or can be written and read to the same.
 *
 * First byte: 0 raw bytes; 1 edits of a valid file; 2 the same, sealed again; 3 raw bytes, sealed. */
#include "cert_fixture.h"
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

static void check_same(pv_ctx *ctx, const pvi_model_file *m)
{
    char path[64];
    pvi_model_file back;
    pv_arena *a = pvi_arena_create(ctx);
    snprintf(path, sizeof path, "/dev/shm/privet-fuzz-%ld.pvt", (long)getpid());
    FUZZ_REQUIRE(pvi_model_write(ctx, path, m) == PV_OK && pvi_model_read(ctx, a, path, &back) == PV_OK);
    FUZZ_REQUIRE(back.d == m->d && memcmp(back.w, m->w, (size_t)m->d * 8) == 0 && strcmp(back.model, m->model) == 0);
    FUZZ_REQUIRE(strcmp(back.settings, m->settings) == 0 && back.is_private == m->is_private);
    unlink(path);
    pvi_arena_free(a);
}

static void check_file(pv_ctx *ctx, const char *bytes, size_t len)
{
    char path[64];
    pvi_model_file m;
    pv_arena *a = pvi_arena_create(ctx);
    const int fd = memfd_create("fuzz", 0);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    pv_status s = pvi_model_read(ctx, a, path, &m);
    if (s == PV_OK) {
        for (int64_t j = 0; j < m.d; j++) FUZZ_REQUIRE(isfinite(m.w[j]));
        check_same(ctx, &m);
        s = pv_verify(ctx, path, NULL);
    }
    if (s != PV_OK) fuzz_refused(ctx, s);
    close(fd);
    pvi_arena_free(a);
}

/* The bytes of a valid file, made once. */
static const char *valid(pv_ctx *ctx, size_t *len)
{
    static char *bytes;
    static size_t size;
    if (!bytes) {
        char path[64], *cert, *text;
        pvi_cert c = fixture_cert();
        c.version = 2; /* which binds no weights: otherwise every edit would end at the digests */
        if (pvi_cert_write(ctx, &c, &cert) != PV_OK) abort();
        const pvi_model_file m = fixture_model(cert);
        snprintf(path, sizeof path, "/dev/shm/privet-fuzz-%ld.pvt", (long)getpid());
        if (pvi_model_write(ctx, path, &m) != PV_OK || pvi_file_read(ctx, path, 1 << 20, &text, &size) != PV_OK)
            abort();
        unlink(path);
        bytes = malloc(size);
        memcpy(bytes, text, size);
        pvi_free(ctx, text);
        pvi_free(ctx, cert);
    }
    *len = size;
    return bytes;
}

/* Makes the lengths fit and the checksum right, so that what lies behind is reached. */
static void seal(char *b, size_t len)
{
    if (len >= 32) pvi_hash(NULL, 0, b, len - 32, (uint8_t *)b + len - 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pv_ctx *ctx;
    if (size < 1 || size > 65536 || data[0] > 3 || pv_ctx_create(NULL, &ctx) != PV_OK) return 0;
    size_t len = size - 1;
    char *b;
    if (data[0] == 1 || data[0] == 2) {
        const char *good = valid(ctx, &len);
        b = malloc(len);
        memcpy(b, good, len);
        len = fuzz_edit(b, len, data + 1, size - 1);
    } else {
        b = malloc(len + 1);
        memcpy(b, data + 1, len);
    }
    if (data[0] >= 2) seal(b, len);
    check_file(ctx, b, len);
    free(b);
    pv_ctx_free(ctx);
    return 0;
}
