/* test_truths.c - compositions, against truths.txt, which make_truths.c made.
 *
 * Of each row the true epsilon at delta lies in [eps_lo, eps_hi] and the true delta at eps in [delta_lo, delta_hi].
 * A claimed epsilon below eps_lo, a lower bound above eps_hi, a delta below delta_lo are wrong, whoever
 * claims them. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"

enum { ACCOUNTANTS = 7 };
#define LIMIT 30.0

typedef struct truth {
    bool replace;
    double delta, eps_lo, eps_hi, eps, delta_lo, delta_hi;
    char events[1000];
} truth;

static bool read_row(FILE *f, truth *t)
{
    char relation[16];
    const int n = fscanf(f, "%15s %lf %lf %lf %lf %lf %lf %999[^\n]", relation, &t->delta, &t->eps_lo, &t->eps_hi,
                         &t->eps, &t->delta_lo, &t->delta_hi, t->events);
    t->replace = strcmp(relation, "replace") == 0;
    return n == 8;
}

static int wrong(const ck_request *q, const truth *t, double claimed, const char *what)
{
    printf("WRONG %s: claimed %.12g, epsilon in [%.12g, %.12g], delta at %.12g in [%.6g, %.6g]\n  %s\n", what,
           claimed, t->eps_lo, t->eps_hi, t->eps, t->delta_lo, t->delta_hi, q->json);
    return 1;
}

static int check(const truth *t, int *answers, double *seconds)
{
    ck_request q[2 * ACCOUNTANTS];
    ck_answer a[2 * ACCOUNTANTS];
    char events[1100];
    int bad = 0;
    double lower = 0.0;
    snprintf(events, sizeof events, "\"events\":%s", t->events);
    for (int i = 0; i < ACCOUNTANTS; i++) {
        ck_request_make(&q[i], CK_EPSILON, ck_accountants[i], events, t->replace, t->delta, 0);
        ck_request_make(&q[ACCOUNTANTS + i], CK_DELTA, ck_accountants[i], events, t->replace, t->eps, 0);
    }
    ck_ask(2 * ACCOUNTANTS, q, LIMIT, a);
    for (int i = 0; i < 2 * ACCOUNTANTS; i++) {
        *seconds += a[i].seconds;
        if (a[i].seconds > 2.0) printf("SLOW %.1f s: %s\n", a[i].seconds, q[i].json);
        if (a[i].status < 0) bad += wrong(&q[i], t, NAN, a[i].status == CK_HANGS ? "no answer in time" : "crash");
        if (a[i].status != 0) continue;
        ++*answers;
        if (i < ACCOUNTANTS) {
            if (!(a[i].epsilon >= t->eps_lo)) bad += wrong(&q[i], t, a[i].epsilon, "epsilon too small");
            if (!(a[i].lower <= t->eps_hi)) bad += wrong(&q[i], t, a[i].lower, "lower bound too large");
            if (a[i].lower > lower) lower = a[i].lower;
        } else if (!(a[i].delta >= t->delta_lo)) {
            bad += wrong(&q[i], t, a[i].delta, "delta too small");
        }
    }
    if (a[0].status != 0) bad += wrong(&q[0], t, NAN, a[0].message);
    else if (a[0].epsilon < lower) bad += wrong(&q[0], t, a[0].epsilon, "best below a certified lower bound");
    return bad;
}

int main(void)
{
    const char *source = getenv("PRIVET_SOURCE");
    char path[4096];
    truth t;
    int rows = 0, bad = 0, answers = 0;
    double seconds = 0;
    snprintf(path, sizeof path, "%s/tests/checker/truths.txt", source ? source : ".");
    FILE *f = fopen(path, "r");
    if (!f) {
        printf("%s cannot be read\n", path);
        return 1;
    }
    for (; read_row(f, &t); rows++) bad += check(&t, &answers, &seconds);
    const bool whole = feof(f);
    fclose(f);
    printf("%d compositions, %d answers, %d wrong, %.0f s\n", rows, answers, bad, seconds);
    return bad > 0 || rows < 100 || !whole;
}
