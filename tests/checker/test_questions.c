/* test_questions.c - questions about one release, against single.c: those once answered wrongly,
 * and random ones over the whole declared range; see questions.c.
 *   test_questions [questions [seed]] */
#include <stdio.h>
#include <stdlib.h>

#include "questions.h"

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 4000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 20240229;
    return ck_named() > 0 || ck_questions(n, seed, false) > 0;
}
