/* ask.h - putting questions to privet, through its public interface, in a process of their own: one that never
 * answers,
 * or crashes, is a finding and not the end of the test. */
#ifndef CK_ASK_H
#define CK_ASK_H
#include <stdbool.h>
#include <stddef.h>

typedef enum ck_what { CK_EPSILON, CK_DELTA, CK_CALIBRATE, CK_CURVE } ck_what;
enum { CK_POINTS = 129, CK_HANGS = -1000, CK_CRASHES = -1001 };

typedef struct ck_request {
    ck_what what;
    const char *accountant;
    char json[1000];
} ck_request;

typedef struct ck_answer {
    int status;                   /* 0, an error, CK_HANGS or CK_CRASHES          */
    double epsilon, lower, delta; /* as claimed                                     */
    double noise;                 /* CK_CALIBRATE: the parameter found                */
    double seconds;               /* of processor time */
    int points;                   /* CK_CURVE */
    double eps[CK_POINTS], del[CK_POINTS];
    char message[240];
} ck_answer;

/* "best" and the names of all accountants, NULL at the end. */
extern const char *const ck_accountants[];
/* `events`: the members that name the events, e.g. "\"mechanism\":\"gaussian\",\"z\":1"; asks for epsilon at delta
 * x, for delta at epsilon x, for the noise that costs epsilon x at delta y, for the curve up to epsilon x. */
void ck_request_make(ck_request *q, ck_what what, const char *accountant, const char *events, bool replace, double x,
                     double y);
/* Asks n questions, each for `limit` seconds of processor time at most. */
void ck_ask(int n, const ck_request *q, double limit, ck_answer *a);
#endif
