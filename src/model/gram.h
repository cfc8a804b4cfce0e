/* gram.h - norms of sums of outer products from inner products; the mathematics is in gram.c. */
#ifndef PVI_GRAM_H
#define PVI_GRAM_H
#include <stdbool.h>
#include <stdint.h>

enum { PVI_GRAM_CHUNK = 32, PVI_GRAM_ROWS = 32 }; /* vectors added up in floats; rows of a unit, at most */

/* Are n rows few enough for matrices of so many entries, whose rows and columns have `sides` numbers? */
bool pvi_gram_pays(int64_t n, int64_t sides, int64_t entries);
/* A square that the float sum of the outer products of n rows is no longer than the root of; A, B: n x n, those above
 * the diagonal are read; own: the lengths of the products.  Negative: unknown, form the sum. */
double pvi_gram_square(const double *A, const double *B, const double *own, int64_t n);
#endif
