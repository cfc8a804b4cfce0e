/* pvtest.h - short names over cmocka; failures print values.
 *
 *   static void one_plus_one(void **state) { (void)state; PVT_NEAR(1 + 1, 2, 0); }
 *   int main(void) { const struct CMUnitTest all[] = { cmocka_unit_test(one_plus_one) };
 *                    return cmocka_run_group_tests(all, NULL, NULL); } */
#ifndef PVTEST_H
#define PVTEST_H
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "privet.h"

#define PVT_CHECK(cond, ...)                                                                                         \
    do {                                                                                                             \
        if (!(cond)) {                                                                                               \
            print_error("%s:%d: %s: ", __FILE__, __LINE__, #cond);                                                   \
            print_error(__VA_ARGS__);                                                                                \
            print_error("\n");                                                                                       \
            fail();                                                                                                  \
        }                                                                                                            \
    } while (0)
#define PVT_TRUE(cond) PVT_CHECK(cond, "is false")
#define PVT_IS(got, want)                                                                                            \
    PVT_CHECK((long long)(got) == (long long)(want), "got %lld, want %lld", (long long)(got), (long long)(want))
#define PVT_OK(expr) PVT_IS(expr, PV_OK)
#define PVT_NEAR(got, want, tol)                                                                                     \
    PVT_CHECK(fabs((double)(got) - (double)(want)) <= (tol), "got %.17g, want %.17g", (double)(got), (double)(want))
#define PVT_REL(got, want, tol)                                                                                      \
    PVT_CHECK(fabs((double)(got) - (double)(want)) <= (tol)*fabs((double)(want)), "got %.17g, want %.17g",           \
              (double)(got), (double)(want))
#define PVT_SKIP(why)                                                                                                \
    do {                                                                                                             \
        print_message("skipped: %s\n", why);                                                                         \
        skip();                                                                                                      \
    } while (0)

/* Small deterministic generator for test inputs (never for noise). */
static inline uint64_t pvt_u64(uint64_t *s)
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static inline double pvt_uniform(uint64_t *s)
{
    return ((double)(pvt_u64(s) >> 11) + 0.5) * 0x1p-53;
}
static inline double pvt_normal(uint64_t *s)
{
    const double u = pvt_uniform(s), v = pvt_uniform(s);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}
#endif
