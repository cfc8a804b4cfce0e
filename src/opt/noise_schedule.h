/* noise_schedule.h - noise that changes from epoch to epoch, by a public rule. */
#ifndef PVI_NOISE_SCHEDULE_H
#define PVI_NOISE_SCHEDULE_H
#include "core/core.h"

/* o(k) of epoch k = 0 .. K-1 of K; NAN: text is not a schedule. */
double pvi_noise_variance(const char *text, int64_t k, int64_t K);
/* Readable and positive in every epoch, or PV_E_PARAM; least: the smallest o. */
bool pvi_noise_is_constant(const char *text);
pv_status pvi_noise_check(pv_ctx *ctx, const char *text, int64_t K, double *least);
#endif
