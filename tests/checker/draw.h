/* draw.h - the ranges from which random questions are drawn: those that src/acct/range.h declares. */
#ifndef CK_DRAW_H
#define CK_DRAW_H
#include "single.h"

#if defined __has_include
#if __has_include("acct/range.h")
#include "acct/range.h"
#define CK_DECLARED 1
#endif
#endif

typedef struct ck_range {
    double least, most;
} ck_range;

typedef enum ck_input { CK_IN_A, CK_IN_DELTA0, CK_IN_RATE, CK_IN_DELTA, CK_IN_EPSILON } ck_input;

#ifdef CK_DECLARED
static inline ck_range ck_range_of(ck_input in, ck_kind k)
{
    static const pvi_range_id a[] = { PVI_RANGE_NOISE, PVI_RANGE_SCALE, PVI_RANGE_SELECT, PVI_RANGE_DELTA0,
                                      PVI_RANGE_EPS0 };
    static const pvi_range_id other[] = { PVI_RANGE_DELTA0, PVI_RANGE_RATE, PVI_RANGE_DELTA, PVI_RANGE_EPSILON };
    const pvi_range *r = &pvi_ranges[in == CK_IN_A ? a[k] : other[in - 1]];
    return (ck_range) { r->least, r->most };
}
#else
static inline ck_range ck_range_of(ck_input in, ck_kind k)
{
    static const ck_range a[] = { { 1e-3, 1e4 }, { 1e-3, 1e4 }, { 1e-6, 1e3 }, { 1e-150, 0.99 }, { 1e-6, 1e3 } };
    static const ck_range other[] = { { 1e-150, 0.99 }, { 1e-9, 1 }, { 1e-150, 0.5 }, { 1e-3, 1e3 } };
    return in == CK_IN_A ? a[k] : other[in - 1];
}
#endif
#endif
