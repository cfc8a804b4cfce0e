/* test_spread.c - how many events the steps of a second-order method spend: added up one by one, and counted. */
#include "acct/acct.h"
#include "pvtest.h"

static void long_runs_count_what_short_ones_add_up(void **state)
{
    (void)state;
    static const double growths[] = { 1.0, 1.2, 3.0, 37.5, 1e4 };
    static const int64_t steps[] = { 1, 2, 7, 48, 99999, 100001, 250000 };
    for (int g = 0; g < 5; g++)
        for (int k = 0; k < 7; k++) {
            int64_t sum = 0;
            for (int64_t t = 1; t <= steps[k]; t++) sum += pvi_spread_units(growths[g], steps[k], t);
            PVT_IS(pvi_spread_total(growths[g], steps[k]), sum);
        }
    PVT_IS(pvi_spread_total(1.0, 1000000000), 1000000000); /* at once */
    PVT_TRUE(pvi_spread_total(30.0, 1000000000) > 1000000000);
}

static void a_share_of_all(void **state)
{
    (void)state;
    PVT_IS(pvi_spread_first(0.0, 100), 0);
    PVT_IS(pvi_spread_first(0.1, 90), 10);
    PVT_IS(pvi_spread_first(0.001, 5), 1);
}

int main(void)
{
    const struct CMUnitTest all[] = { cmocka_unit_test(long_runs_count_what_short_ones_add_up),
                                      cmocka_unit_test(a_share_of_all) };
    return cmocka_run_group_tests(all, NULL, NULL);
}
