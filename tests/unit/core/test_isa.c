/* test_isa.c - the level the kernels run at is what the kernel of the operating system says of this processor. */
#include "core/isa.h"
#include "pvtest.h"

#include <ctype.h>

static char flags[1 << 14]; /* " fpu vme ... " of the first processor; "": not said here */

static int setup(void **state)
{
    (void)state;
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (!f) return 0;
    static char line[1 << 14];
    while (!flags[0] && fgets(line, sizeof line, f))
        if (strncmp(line, "flags", 5) == 0) strcpy(flags, strchr(line, ':') + 1);
    fclose(f);
    return 0;
}

#ifdef PVI_X86
static bool flag(const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = strstr(flags, name); p; p = strstr(p + 1, name))
        if (p[-1] == ' ' && isspace((unsigned char)p[n])) return true;
    return false;
}

static bool all(const char *const *names)
{
    for (; *names; names++)
        if (!flag(*names)) return false;
    return true;
}
#endif

static void level(void **state)
{
    (void)state;
#ifdef PVI_X86
    static const char *const avx2[] = { "avx2", "fma", "bmi1", "bmi2", NULL };
    static const char *const avx512[] = { "avx512f", "avx512dq", "avx512bw", "avx512vl", NULL };
    if (!flags[0]) skip();
    PVT_IS(pvi_isa(), !all(avx2) ? PVI_ISA_BASE : !all(avx512) ? PVI_ISA_AVX2 : PVI_ISA_AVX512);
#else
    PVT_IS(pvi_isa(), PVI_ISA_BASE);
#endif
}

static void aes(void **state)
{
    (void)state;
#ifdef PVI_X86
    static const char *const names[] = { "aes", "vaes", "avx2", NULL };
    if (!flags[0]) skip();
    PVT_IS(pvi_isa_aes(), all(names));
#else
    PVT_TRUE(!pvi_isa_aes());
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(level), cmocka_unit_test(aes) };
    return cmocka_run_group_tests(tests, setup, NULL);
}
