/* comm.h - processes that train together; one process is the only kind there is so far (comm_one.c).
 *
 * The oracle leaves its exact integer sum at rank 0, which alone draws noise, and every rank gets what rank 0
 * released. */
#ifndef PVI_COMM_H
#define PVI_COMM_H
#include "core/core.h"

typedef struct pvi_comm {
    int rank, size;
    void (*sum)(const struct pvi_comm *c, int64_t *x, int64_t n); /* over all ranks, at rank 0 */
    /* The status and the numbers of rank 0, everywhere; one that failed fails all. */
    pv_status (*share)(const struct pvi_comm *c, pv_status s, double *x, int64_t n);
} pvi_comm;
extern const pvi_comm pvi_comm_one;
#endif
