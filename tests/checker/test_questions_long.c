/* test_questions_long.c - 10^5 random questions about one release, and how far the answers are from the truth.
 * label: long
 *   test_questions_long [questions [seed]] */
#include <stdio.h>
#include <stdlib.h>

#include "questions.h"

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 100000;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 7;
    return ck_questions(n, seed, true) > 0;
}
