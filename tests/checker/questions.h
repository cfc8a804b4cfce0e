/* questions.h - random questions over the whole range of inputs, and their check against single.c. */
#ifndef CK_QUESTIONS_H
#define CK_QUESTIONS_H
#include <stdbool.h>
#include <stdint.h>

/* Asks until n questions are answered; with `distances`, also says how far claims are from the truth.  Returns the
 * number of wrong answers, each of which was printed with a request that gets it. */
int64_t ck_questions(int64_t n, uint64_t seed, bool distances);
/* Questions that were once answered wrongly, or not at all. */
int64_t ck_named(void);
#endif
