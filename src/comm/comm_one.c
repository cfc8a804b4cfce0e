/* comm_one.c - one process: its own sums are all there are. */
#include "comm/comm.h"

static void sum(const pvi_comm *c, int64_t *x, int64_t n)
{
    (void)c, (void)x, (void)n;
}

static pv_status share(const pvi_comm *c, pv_status s, double *x, int64_t n)
{
    (void)c, (void)x, (void)n;
    return s;
}

const pvi_comm pvi_comm_one = { .rank = 0, .size = 1, .sum = sum, .share = share };
