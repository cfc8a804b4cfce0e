/* test_mutants_long.c - verifying always comes back: 100,000 mutants, or as many as PRIVET_MUTANTS says.
 * label: long */
#include "mutants.h"

#include <sys/wait.h>

/* One process for each core: mutants do not depend on each other. */
static void very_many(void **state)
{
    (void)state;
    const char *count = getenv("PRIVET_MUTANTS");
    const int64_t n = count ? strtoll(count, NULL, 10) : 100000;
    const int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int how, failed = 0;
    for (int k = 0; k < cores; k++) {
        const pid_t child = fork();
        PVT_TRUE(child >= 0);
        if (child > 0) continue;
        run_mutants(k, cores, n);
        fflush(stdout);
        _exit(0);
    }
    for (int k = 0; k < cores; k++) {
        PVT_TRUE(wait(&how) > 0);
        failed += !WIFEXITED(how) || WEXITSTATUS(how) != 0;
    }
    PVT_IS(failed, 0);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(very_many) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
