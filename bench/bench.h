/* bench.h - what benches share: made-up numbers, a clock, memory on lines of the cache. */
#ifndef PVB_BENCH_H
#define PVB_BENCH_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Xorshift; the same numbers in every run. */
static inline uint64_t next(void)
{
    static uint64_t seed = 88172645463325252u;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static inline double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Zeros. */
static inline void *get_lines(size_t size)
{
    void *p = aligned_alloc(64, (size + 63) / 64 * 64);
    if (!p) abort();
    memset(p, 0, size);
    return p;
}
#endif
