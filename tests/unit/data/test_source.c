/* test_source.c - plain, gzip and bzip2 give the same rows; damaged and unusable files are named.
 * label: tsan */
#include "datatest.h"

#include <bzlib.h>
#include <zlib.h>

static dt t;
static char text[200000];
static size_t len;

static int setup(void **state)
{
    (void)state;
    uint64_t s = 4;
    dt_open(&t);
    t.cfg.bias = 1;
    len = 0;
    while (len < sizeof text - 200) {
        len += (size_t)sprintf(text + len, "%s", pvt_u64(&s) & 1 ? "+1" : "-1");
        for (int j = 1; j < 9; j++) len += (size_t)sprintf(text + len, " %d:%.6f", j, pvt_normal(&s));
        text[len++] = '\n';
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dt_close(&t);
    return 0;
}

static size_t gz(const char *in, size_t n, char *out, size_t room)
{
    z_stream z = { 0 };
    PVT_IS(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)in;
    z.avail_in = (unsigned)n;
    z.next_out = (Bytef *)out;
    z.avail_out = (unsigned)room;
    const int r = deflate(&z, Z_FINISH);
    PVT_IS(r, Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

static size_t bz(const char *in, size_t n, char *out, size_t room)
{
    unsigned made = (unsigned)room;
    const int r = BZ2_bzBuffToBuffCompress(out, &made, (char *)(uintptr_t)in, (unsigned)n, 1, 0, 0);
    PVT_IS(r, BZ_OK);
    return made;
}

typedef size_t (*packer)(const char *, size_t, char *, size_t);

static void compressed_is_the_same(void **state)
{
    (void)state;
    static char packed[400000];
    dt_write(t.path, text, len);
    pvi_matrix *want = dt_load(&t, NULL);
    for (int k = 0; k < 2; k++) {
        const packer pack = k ? bz : gz;
        for (int members = 1; members <= 3; members++) {
            size_t n = 0;
            for (int i = 0; i < members; i++) {
                const size_t a = len * (size_t)i / (size_t)members, b = len * (size_t)(i + 1) / (size_t)members;
                n += pack(text + a, b - a, packed + n, sizeof packed - n);
            }
            for (int64_t chunk = 64; chunk <= 1 << 18; chunk <<= 6) {
                t.cfg.chunk = chunk;
                dt_write(t.path, packed, n);
                pvi_matrix *m = dt_load(&t, NULL);
                dt_same(m, want);
                pvi_matrix_free(m);
            }
            memset(packed + n, 0, 512); /* padding of tapes */
            dt_write(t.path, packed, n + 512);
            pvi_matrix *m = dt_load(&t, NULL);
            dt_same(m, want);
            pvi_matrix_free(m);
        }
    }
    pvi_matrix_free(want);
}

static void damaged(void **state)
{
    (void)state;
    static char packed[400000];
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "bzip2" : "gzip";
        char cut[96], bad[96], behind[96];
        snprintf(cut, sizeof cut, ": truncated: the %s data ends too early", name);
        snprintf(bad, sizeof bad, ": the %s data is damaged", name);
        snprintf(behind, sizeof behind, ": other bytes follow the %s data", name);
        size_t n = (k ? bz : gz)(text, len, packed, sizeof packed);
        dt_fails_bytes(&t, packed, n - 1, PV_E_FORMAT, cut);
        dt_fails_bytes(&t, packed, n / 2, PV_E_FORMAT, cut);
        dt_fails_bytes(&t, packed, 12, PV_E_FORMAT, cut);
        memcpy(packed + n, "x", 2);
        dt_fails_bytes(&t, packed, n + 1, PV_E_FORMAT, behind);
        packed[n / 2] ^= 0x55;
        pvi_matrix *m;
        dt_write(t.path, packed, n);
        PVT_IS(pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m), PV_E_FORMAT); /* damaged, or rows made of rubbish */
        packed[n / 2] ^= 0x55;
        packed[n - (k ? 4 : 6)] ^= 1; /* a checksum */
        dt_fails_bytes(&t, packed, n, PV_E_FORMAT, bad);
        n = (k ? bz : gz)("", 0, packed, sizeof packed);
        dt_fails_bytes(&t, packed, n, PV_E_FORMAT, ": empty once decompressed");
    }
}

/* An error in the rows comes before the end of a truncated file. */
static void rows_are_judged_first(void **state)
{
    (void)state;
    static char packed[400000];
    t.cfg.chunk = 4096;
    t.cfg.format = "libsvm";
    memcpy(text, "+1 1:x ", 7);
    const size_t n = gz(text, len, packed, sizeof packed);
    dt_fails_bytes(&t, packed, n - 100, PV_E_FORMAT, ":1:6: 'x' is not a number");
}

/* But not rows that damage made: blank lines and numbers of a bzip2 block with a wrong checksum, however much is read
 * at a time. */
static void damage_is_told_before_its_rows(void **state)
{
    (void)state;
    static const uint8_t block[] = {
        0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xbf, 0xcc, 0xd2, 0x72, 0x00,
        0x00, 0x02, 0xd8, 0x00, 0x00, 0x10, 0x40, 0x0b, 0x7a, 0x10, 0x20, 0x00, 0x31, 0x00, 0xd3,
        0x4d, 0x03, 0x53, 0xc9, 0x34, 0xf4, 0x6a, 0x7b, 0x48, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x42, 0x42, 0xff, 0x33, 0x49, 0xc8,
    };
    t.cfg.format = "libsvm";
    t.cfg.labels = "1,2";
    for (t.cfg.chunk = 16; t.cfg.chunk <= 8192; t.cfg.chunk *= 8)
        dt_fails_bytes(&t, block, sizeof block, PV_E_FORMAT, ": the bzip2 data is damaged");
}

static void unusable(void **state)
{
    (void)state;
    pvi_matrix *m;
    char want[200];
    const struct {
        const char *path, *what;
        pv_status s;
    } bad[] = { { "/nonexistent/file", "No such file or directory", PV_E_IO },
                { t.dir, "is a directory, a data file is needed", PV_E_IO },
                { "/dev/null", "not a regular file", PV_E_IO } };
    for (int i = 0; i < 3; i++) {
        t.cfg.path = bad[i].path;
        PVT_IS(pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m), bad[i].s);
        snprintf(want, sizeof want, "%s: %s", bad[i].path, bad[i].what);
        assert_string_equal(pv_ctx_errmsg(t.ctx), want);
    }
    t.cfg.path = t.path;
    dt_fails(&t, "", PV_E_FORMAT, ": empty file");
    static const char garbage[] = "\x7f\x45LF\0\0\1\2\3";
    dt_fails_bytes(&t, garbage, sizeof garbage, PV_E_FORMAT,
                   ":1:1: neither LIBSVM lines nor a table; data.format= names the format");
    PVT_IS(mkfifo(t.schema, 0600), 0);
    t.cfg.path = t.schema; /* must not wait for a writer */
    PVT_IS(pvi_data_load(t.ctx, &t.cfg, &t.expect, NULL, &m), PV_E_IO);
    t.cfg.path = t.path;
}

static bool stop_now(void *user, const char *what, double done, double total, double epsilon)
{
    (void)user;
    (void)total;
    (void)epsilon;
    return strcmp(what, "reading") != 0 || done < 0.5;
}

static void can_be_stopped(void **state)
{
    (void)state;
    t.cfg.chunk = 4096;
    pv_ctx_on_progress(t.ctx, stop_now, NULL);
    dt_fails_bytes(&t, text, len, PV_E_CANCELLED,
                   ": stopped while reading: nothing was released, and no budget is spent");
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = { T(compressed_is_the_same),         T(damaged),  T(rows_are_judged_first),
                                      T(damage_is_told_before_its_rows), T(unusable), T(can_be_stopped) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
