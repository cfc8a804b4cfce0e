/* loss.h - the law of the loss of one release (loss.c). */
#ifndef CK_LOSS_H
#define CK_LOSS_H
#include "single.h"

/* One of the pairs (P, Q) that bound the truth.  add: the row is added, else removed.  upper: the pair dominates the
 * release, else it is one that the release may have, and a selection has the two losses t e0 and (t - 1) e0. */
typedef struct ck_side {
    bool add, upper;
    double t;
} ck_side;

typedef struct ck_tails {
    arb_t P, Q;
} ck_tails;
/* P(loss > L), Q(loss > L) */
void ck_above(ck_tails *T, const ck_release *r, const ck_side *side, double L, slong prec);
/* The probability under P of an infinite loss. */
void ck_at_infinity(arb_t p, const ck_release *r, const ck_side *side, slong prec);
#endif
