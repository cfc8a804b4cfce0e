/* account_request.h - a question about costs, as read from JSON (account_request.c). */
#ifndef PVI_QUESTION_H
#define PVI_QUESTION_H
#include <time.h>

#include "acct/acct.h"

typedef struct pvi_request {
    pv_ctx *ctx;
    pv_arena *arena; /* owned */
    const pvi_json *json;
    const pv_event *ev;
    const char *accountant;
    pv_relation rel;
    double delta, epsilon; /* NAN: not given */
    double draws, covered; /* share of delta for the draws of all releases, and up to which epsilon it is enough */
    int64_t rows;
    bool persons; /* in words */
    bool all;
    double unit;                    /* the noise parameter of a shorthand; NAN: the events came as a tree */
    const char *const *assumptions; /* what the answer rests on besides the events; NULL-terminated, or NULL */
    struct timespec start;
} pvi_request;

/* unit: the noise parameter of a shorthand that does not give one (NAN: it must).  Free in every case. */
pv_status pvi_request_open(pv_ctx *ctx, const char *json, double unit, pvi_request *r);
void pvi_request_free(pvi_request *r);
/* Parses the request and nothing more; free in every case. */
pv_status pvi_ask_open(pv_ctx *ctx, const char *json, pvi_request *r);
/* Members of r->json, as numbers or as text; `absent` where there is none. */
pv_status pvi_ask_number(const pvi_request *r, const char *key, double absent, double *out);
pv_status pvi_ask_whole(const pvi_request *r, const char *key, int64_t absent, pvi_range_id range, int64_t *out);
pv_status pvi_ask_text(const pvi_request *r, const char *key, const char *absent, const char **out);
/* PV_E_PARAM where a member is none of the n known ones. */
pv_status pvi_ask_known(const pvi_request *r, const char *const *known, int n);
#endif
