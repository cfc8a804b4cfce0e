/* rng.c - the source of randomness: ChaCha20 with key erasure.
 *
 * State     a 256-bit key k and a buffer of unread stream bytes.
 * Refill    (1)  k' || b = ChaCha20(k, nonce 0, counter 0 ..);  k <- k',  buffer <- b
 *           so the key that made any byte already handed out no longer exists: a memory image taken
 *           after a release does not let its reader peel the noise off.  Bytes are zeroed as they
 *           are handed out, for the same reason.
 * Key       from the operating system, never stored, never reused; wiped by _free.
 * Fork      the secret lives in pages of its own which the kernel zeroes in a child
 *           (MADV_WIPEONFORK).  A zeroed `alive` word sends the child back to the operating system
 *           for a new key, so parent and child never share a byte.  Where the kernel does not know
 *           the flag, the process id is compared on every call instead.  A kernel may also say that it knows and
 *           do nothing (qemu-user does), so the process id is compared before every release and refill in any
 *           case.  The pages stay out of core dumps, and out of swap where the limits allow it.
 * Draws     a vector of draws takes a key of its own from here and stretches it (random_bits.c), with AES-256 where
 *           the processor has instructions for it, else with ChaCha20.
 * Test      the key is the seed, the cipher ChaCha20 everywhere, so that a seed gives the same draws on every
 *           machine.  Not private, and said so (P6); survives fork unchanged.
 * Reference Bernstein, "Fast-key-erasure random-number generators", 2017; RFC 8439 (ChaCha20). */
#include "mech/kernel.h"

#include <sys/mman.h>
#include <unistd.h>

extern const pvi_mech_kernels PVI_DECLARE_ISA(pvi_mech_kernels);
const pvi_mech_kernels *const pvi_mech_kernels_isa[PVI_ISA_COUNT] = PVI_EACH_ISA(pvi_mech_kernels);

enum { BLOCKS = 256, STREAM = 64 * BLOCKS, ALIVE = 0x50564e47 };

typedef struct secret {
    _Alignas(64) uint8_t buf[STREAM]; /* k' || b of (1); the bytes of k' are zeroed at once */
    uint8_t key[PVI_KEY_SIZE];
    uint32_t alive;  /* ALIVE, or 0 in a child */
    uint32_t unread; /* bytes at the end of buf */
} secret;

struct pv_rng {
    pv_ctx *ctx;
    secret *s; /* owned; pages of its own */
    const pvi_mech_kernels *kernels;
    pvi_mech_kernels own; /* of a private source: AES for the words of draws, where the processor has it */
    bool test;
    bool wiped_on_fork;
    pid_t pid;
};

static size_t secret_size(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (sizeof(secret) + page - 1) / page * page;
}

static pv_status draw_key(pv_rng *r)
{
    const pv_status st = pvi_entropy(r->ctx, r->s->key, sizeof r->s->key);
    if (st != PV_OK) return st;
    r->pid = getpid();
    r->s->unread = 0;
    r->s->alive = ALIVE;
    return PV_OK;
}

static pv_status create(pv_ctx *ctx, bool test, pv_rng **out)
{
    *out = NULL;
    pv_rng *r = pvi_alloc(ctx, sizeof *r);
    if (!r) return pvi_nomem(ctx);
    void *p = mmap(NULL, secret_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        pvi_free(ctx, r);
        return pvi_nomem(ctx);
    }
    *r = (pv_rng) { .ctx = ctx, .s = p, .kernels = pvi_mech_kernels_isa[pvi_isa()], .test = test };
    madvise(p, secret_size(), MADV_DONTDUMP);
    mlock(p, secret_size());
    *out = r;
    return PV_OK;
}

pv_status pvi_rng_create(pv_ctx *ctx, pv_rng **out)
{
    pv_status st = create(ctx, false, out);
    if (st != PV_OK) return st;
    (*out)->own = *(*out)->kernels;
    (*out)->own.stream = pvi_stream_pick(pvi_isa_aes(), (*out)->own.chacha);
    (*out)->kernels = &(*out)->own;
    (*out)->wiped_on_fork = madvise((*out)->s, secret_size(), MADV_WIPEONFORK) == 0;
    if ((st = draw_key(*out)) != PV_OK) {
        pvi_rng_free(*out);
        *out = NULL;
    }
    return st;
}

pv_status pvi_rng_create_test(pv_ctx *ctx, uint64_t seed, pv_rng **out)
{
    const pv_status st = create(ctx, true, out);
    if (st != PV_OK) return st;
    for (int i = 0; i < 8; i++) (*out)->s->key[i] = (uint8_t)(seed >> (8 * i));
    (*out)->s->alive = ALIVE;
    return PV_OK;
}

void pvi_rng_free(pv_rng *r)
{
    if (!r) return;
    pvi_wipe(r->s, sizeof *r->s);
    munmap(r->s, secret_size());
    pvi_free(r->ctx, r);
}

bool pvi_rng_is_test(const pv_rng *r)
{
    return r->test;
}

static bool forked(const pv_rng *r)
{
    if (r->test) return false;
    return r->wiped_on_fork ? r->s->alive != ALIVE : r->pid != getpid();
}

static void renew(pv_rng *r)
{
    PVI_REQUIRE(draw_key(r) == PV_OK); /* noise without entropy is no noise */
}

void pvi_rng_begin(pv_rng *r)
{
    if (!r->test && r->pid != getpid()) renew(r);
}

const pvi_mech_kernels *pvi_rng_kernels(pv_rng *r)
{
    return r->kernels;
}

pv_ctx *pvi_rng_ctx(const pv_rng *r)
{
    return r->ctx;
}

void pvi_rng_use(pv_rng *r, const pvi_mech_kernels *k)
{
    r->kernels = k;
}

static void refill(pv_rng *r)
{
    secret *s = r->s;
    r->kernels->chacha(s->key, 0, 0, s->buf, BLOCKS); /* (1) */
    memcpy(s->key, s->buf, sizeof s->key);
    pvi_wipe(s->buf, sizeof s->key);
    pvi_wipe_stack();
    s->unread = STREAM - PVI_KEY_SIZE;
}

void pvi_rng_bytes(pv_rng *r, void *out, size_t size)
{
    uint8_t *p = out;
    secret *s = r->s;
    if (forked(r)) renew(r);
    while (size > 0) {
        if (s->unread == 0) {
            pvi_rng_begin(r);
            refill(r);
        }
        const size_t n = size < s->unread ? size : s->unread;
        uint8_t *from = s->buf + sizeof s->buf - s->unread;
        memcpy(p, from, n);
        memset(from, 0, n);
        s->unread -= (uint32_t)n;
        p += n;
        size -= n;
    }
}

uint64_t pvi_rng_u64(pv_rng *r)
{
    uint8_t b[8];
    uint64_t x = 0;
    pvi_rng_bytes(r, b, sizeof b);
    for (int i = 0; i < 8; i++) x |= (uint64_t)b[i] << (8 * i);
    return x;
}

/* Lemire's method: the high half of x*n is uniform once the 2^64 mod n lowest products are refused. */
uint64_t pvi_rng_below(pv_rng *r, uint64_t n)
{
    PVI_REQUIRE(n > 0);
    unsigned __int128 m = (unsigned __int128)pvi_rng_u64(r) * n;
    const uint64_t refuse = -n % n;
    while ((uint64_t)m < refuse) m = (unsigned __int128)pvi_rng_u64(r) * n;
    return (uint64_t)(m >> 64);
}
