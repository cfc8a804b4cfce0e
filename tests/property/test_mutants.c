/* test_mutants.c - verifying always comes back: the first few hundred of the mutants of mutants.h. */
#include "mutants.h"

static void a_few_hundred(void **state)
{
    (void)state;
    run_mutants(0, 1, 400);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(a_few_hundred) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
