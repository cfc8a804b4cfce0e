/* test_rng.c - the source of randomness: stream, ranges, fork, wiping, refusal without entropy. */
#include "ctxtest.h"
#include "mech/mech.h"
#include "aborttest.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* From here on in this process, the given system call does nothing and returns this error, 0 for success. */
static bool answer(int number, unsigned error)
{
    if (SANITIZED && number != SYS_getrandom) return false; /* the sanitizer itself needs the memory calls */
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog prog = { .len = sizeof code / sizeof *code, .filter = code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

static bool deny(int number)
{
    return answer(number, EPERM);
}

enum { CANNOT_DENY = 77, WRONG = 1 };

static void expect_child(int (*fn)(const void *), int want)
{
    const int got = in_child(fn, NULL);
    if (got == CANNOT_DENY) PVT_SKIP("this system has no seccomp filters");
    PVT_IS(got, want);
}

enum { STREAM = 16384, HANDED = STREAM - PVI_KEY_SIZE }; /* one refill; what of it is handed out */

/* Two refills computed by hand: the first 32 bytes of the stream become the next key. */
static void stream_is_chacha20_with_key_erasure(void **state)
{
    (void)state;
    static uint8_t key[PVI_KEY_SIZE] = { 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01 }, want[2][STREAM],
                   got[2 * HANDED];
    pvi_chacha20(key, 0, 0, want[0], STREAM);
    pvi_chacha20(want[0], 0, 0, want[1], STREAM);
    pv_rng *r;
    PVT_OK(pvi_rng_create_test(ctx, 0x0123456789abcdefu, &r));
    PVT_TRUE(pvi_rng_is_test(r));
    for (size_t i = 0; i < sizeof got;) { /* in pieces of 1, 2, 3 ... bytes */
        const size_t piece = i % 61 + 1, n = piece < sizeof got - i ? piece : sizeof got - i;
        pvi_rng_bytes(r, got + i, n);
        i += n;
    }
    assert_memory_equal(got, want[0] + 32, HANDED);
    assert_memory_equal(got + HANDED, want[1] + 32, HANDED);
    pvi_rng_free(r);
    pvi_rng_free(NULL);
}

/* RFC 8439, section 2.4.2 has a 96-bit nonce; with a zero counter and nonce both forms agree with
 * the first test vector of appendix A.1. */
static void chacha20_known_vector(void **state)
{
    (void)state;
    static const uint8_t want[16] = { 0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90,
                                      0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86, 0xbd, 0x28 };
    const uint8_t key[PVI_KEY_SIZE] = { 0 };
    uint8_t got[64];
    pvi_chacha20(key, 0, 0, got, sizeof got);
    assert_memory_equal(got, want, sizeof want);
}

static void ranges(void **state)
{
    (void)state;
    pv_rng *r;
    PVT_OK(pvi_rng_create(ctx, &r));
    PVT_TRUE(!pvi_rng_is_test(r));
    for (int i = 0; i < 100000; i++) {
        PVT_TRUE(pvi_rng_below(r, 7) < 7);
    }
    PVT_IS(pvi_rng_below(r, 1), 0);
    for (int i = 0; i < 50; i++) PVT_TRUE(pvi_rng_below(r, (1ull << 63) + 1) <= 1ull << 63); /* half are refused */
    pvi_rng_free(r);
}

static void two_sources_differ(void **state)
{
    (void)state;
    pv_rng *a, *b;
    PVT_OK(pvi_rng_create(ctx, &a));
    PVT_OK(pvi_rng_create(ctx, &b));
    PVT_TRUE(pvi_rng_u64(a) != pvi_rng_u64(b));
    pvi_rng_free(a);
    pvi_rng_free(b);
}

/* Parent and child read on after fork(), half-way through a buffer: no shared bytes.  release: as the oracle does. */
static void child_differs(bool real, bool want_same, bool release)
{
    pv_rng *r;
    int fd[2];
    uint64_t mine[64], its[64];
    PVT_OK(real ? pvi_rng_create(ctx, &r) : pvi_rng_create_test(ctx, 5, &r));
    pvi_rng_u64(r);
    PVT_IS(pipe(fd), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        if (release) pvi_rng_begin(r);
        pvi_rng_bytes(r, its, sizeof its);
        pvi_rng_free(r);
        exit(write(fd[1], its, sizeof its) == (ssize_t)sizeof its ? 0 : WRONG);
    }
    int status;
    pvi_rng_bytes(r, mine, sizeof mine);
    PVT_IS(read(fd[0], its, sizeof its), sizeof its);
    waitpid(pid, &status, 0);
    PVT_IS(status, 0);
    int same = 0;
    for (int i = 0; i < 64; i++) same += mine[i] == its[i];
    PVT_IS(same, want_same ? 64 : 0);
    pvi_rng_free(r);
    close(fd[0]);
    close(fd[1]);
}

static void fork_gives_a_new_stream(void **state)
{
    (void)state;
    child_differs(true, false, false);
    child_differs(true, false, true);
}

static void fork_keeps_a_test_stream(void **state)
{
    (void)state;
    child_differs(false, true, false);
    child_differs(false, true, true);
}

/* qemu-user: madvise says yes and does nothing. */
static int fork_where_wiping_is_a_lie(const void *arg)
{
    (void)arg;
    if (!answer(SYS_madvise, 0)) return CANNOT_DENY;
    child_differs(true, false, true);
    return 0;
}

static void fork_on_a_kernel_that_lies(void **state)
{
    (void)state;
    expect_child(fork_where_wiping_is_a_lie, 0);
}

static int fork_without_wipe(const void *arg)
{
    (void)arg;
    if (!deny(SYS_madvise)) return CANNOT_DENY;
    child_differs(true, false, false);
    return 0;
}

static void fork_on_an_old_kernel(void **state)
{
    (void)state;
    expect_child(fork_without_wipe, 0);
}

static int no_entropy(const void *arg)
{
    (void)arg;
    pv_rng *r;
    if (!deny(SYS_getrandom)) return CANNOT_DENY;
    const pv_status st = pvi_rng_create(ctx, &r);
    return st == PV_E_RNG && r == NULL && strstr(pv_ctx_errmsg(ctx), "no randomness") ? 0 : WRONG;
}

static void refuses_without_entropy(void **state)
{
    (void)state;
    expect_child(no_entropy, 0);
}

static pv_rng *shared;
static int no_entropy_after_fork(const void *arg)
{
    (void)arg;
    if (!deny(SYS_getrandom)) return CANNOT_DENY;
    pvi_rng_u64(shared);
    return WRONG;
}

static void child_without_entropy_aborts(void **state)
{
    (void)state;
    PVT_OK(pvi_rng_create(ctx, &shared));
    expect_child(no_entropy_after_fork, ABORTED);
    pvi_rng_free(shared);
}

static int no_pages(const void *arg)
{
    (void)arg;
    pv_rng *r;
    if (!deny(SYS_mmap)) return CANNOT_DENY;
    return pvi_rng_create(ctx, &r) == PV_E_NOMEM && !r && pvi_rng_create_test(ctx, 1, &r) == PV_E_NOMEM && !r ? 0
                                                                                                              : WRONG;
}

static void refuses_without_pages(void **state)
{
    (void)state;
    expect_child(no_pages, 0);
}

static void *no_memory(void *self, size_t n)
{
    (void)self;
    (void)n;
    return NULL;
}

static void refuses_without_memory(void **state)
{
    (void)state;
    pv_rng *r;
    const pv_alloc kept = ctx->alloc;
    ctx->alloc.get = no_memory;
    PVT_IS(pvi_rng_create(ctx, &r), PV_E_NOMEM);
    PVT_TRUE(r == NULL);
    ctx->alloc = kept;
}

/* The first member after ctx is the pointer to the secret pages.  With munmap denied they stay
 * readable after _free, and must hold nothing but zeros. */
static int wiped(const void *arg)
{
    (void)arg;
    pv_rng *r;
    if (!deny(SYS_munmap)) return CANNOT_DENY;
    if (pvi_rng_create(ctx, &r) != PV_OK) return WRONG;
    pvi_rng_u64(r);
    const uint8_t *secret = ((uint8_t **)(void *)r)[1];
    int before = 0, after = 0;
    for (int i = 0; i < STREAM; i++) before += secret[i] != 0;
    pvi_rng_free(r);
    for (int i = 0; i < STREAM + 64; i++) after += secret[i] != 0;
    return before > STREAM / 2 && after == 0 ? 0 : WRONG;
}

static void free_wipes_the_key(void **state)
{
    (void)state;
    expect_child(wiped, 0);
}

/* What was handed out is no longer in the buffer. */
static void used_bytes_are_erased(void **state)
{
    (void)state;
    pv_rng *r;
    uint8_t out[64];
    PVT_OK(pvi_rng_create(ctx, &r));
    pvi_rng_bytes(r, out, sizeof out);
    const uint8_t *secret = ((uint8_t **)(void *)r)[1];
    for (int i = 0; i < 4096; i++)
        PVT_TRUE(memcmp(secret + i, out, 16) != 0 && memcmp(secret + i, out + 48, 16) != 0);
    pvi_rng_free(r);
}

static int below_zero(const void *arg)
{
    (void)arg;
    pv_rng *r;
    if (pvi_rng_create_test(ctx, 1, &r) != PV_OK) return WRONG;
    pvi_rng_below(r, 0);
    return WRONG;
}

static void below_zero_aborts(void **state)
{
    (void)state;
    expect_child(below_zero, ABORTED);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(chacha20_known_vector),
        cmocka_unit_test(stream_is_chacha20_with_key_erasure),
        cmocka_unit_test(ranges),
        cmocka_unit_test(two_sources_differ),
        cmocka_unit_test(fork_gives_a_new_stream),
        cmocka_unit_test(fork_keeps_a_test_stream),
        cmocka_unit_test(fork_on_an_old_kernel),
        cmocka_unit_test(fork_on_a_kernel_that_lies),
        cmocka_unit_test(refuses_without_entropy),
        cmocka_unit_test(child_without_entropy_aborts),
        cmocka_unit_test(refuses_without_pages),
        cmocka_unit_test(refuses_without_memory),
        cmocka_unit_test(free_wipes_the_key),
        cmocka_unit_test(used_bytes_are_erased),
        cmocka_unit_test(below_zero_aborts),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
