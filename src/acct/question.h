/* question.h - a question about costs, as read from JSON (question.c). */
#ifndef PVI_QUESTION_H
#define PVI_QUESTION_H
#include <time.h>

#include "acct.h"

typedef struct pvi_request {
    pv_ctx *ctx;
    pv_arena *arena; /* owned */
    const pvi_json *json;
    const pv_event *ev;
    const char *accountant;
    pv_relation rel;
    double delta, epsilon; /* NAN: not given */
    int64_t rows;
    bool all;
    double unit;                    /* the noise parameter of a shorthand; NAN: the events came as a tree */
    const char *const *assumptions; /* what the answer rests on besides the events; NULL-terminated, or NULL */
    struct timespec start;
} pvi_request;

/* unit: the noise parameter of a shorthand that does not give one (NAN: it must).  Free in every case. */
pv_status pvi_request_open(pv_ctx *ctx, const char *json, double unit, pvi_request *r);
void pvi_request_free(pvi_request *r);
#endif
