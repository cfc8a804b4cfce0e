/* ask.c - questions to privet, in a child process that is ended when it does not answer. */
#include "ask.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "privet.h"

enum { WALL = 1800 }; /* seconds, for a child that waits for ever */

const char *const ck_accountants[] = { "best", "gaussian", "zcdp", "rdp", "tv", "compose", "pld", NULL };

void ck_request_make(ck_request *q, ck_what what, const char *accountant, const char *events, bool replace, double x,
                     double y)
{
    char tail[200];
    q->what = what;
    q->accountant = accountant;
    switch (what) {
    case CK_EPSILON: snprintf(tail, sizeof tail, "\"delta\":%.17g", x); break;
    case CK_DELTA:
    case CK_CURVE: snprintf(tail, sizeof tail, "\"epsilon\":%.17g", x); break;
    case CK_CALIBRATE: snprintf(tail, sizeof tail, "\"epsilon\":%.17g,\"delta\":%.17g", x, y); break;
    }
    const int n = snprintf(q->json, sizeof q->json, "{%s,\"relation\":\"%s\",\"accountant\":\"%s\",%s}", events,
                           replace ? "replace" : "zero-out", accountant, tail);
    if (n >= (int)sizeof q->json) abort();
}

/* ---- the child ------------------------------------------------------------------------------------------------- */

/* The number behind "key": in a flat object; text such as "inf" included. */
static double member(const char *json, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *at = strstr(json, name);
    if (!at) return NAN;
    at += strlen(name);
    at += strspn(at, " \"");
    return strtod(at, NULL);
}

static int numbers(const char *json, const char *key, double *out)
{
    char name[64];
    int n = 0;
    snprintf(name, sizeof name, "\"%s\":", key);
    for (const char *at = strstr(json, name); at;) { /* the array of that name: not a number of that name */
        at += strlen(name);
        at += strspn(at, " \n");
        if (*at != '[') {
            at = strstr(at, name);
            continue;
        }
        for (at++; n < CK_POINTS && *at != ']'; n++) {
            at += strspn(at, " \n,\"");
            out[n] = strtod(at, (char **)(void *)&at);
            at += strspn(at, " \n,\"");
        }
        return n;
    }
    return n;
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void answer(pv_ctx *ctx, const ck_request *q, ck_answer *a)
{
    char *json = NULL;
    const double start = now(CLOCK_PROCESS_CPUTIME_ID);
    a->status = q->what == CK_CALIBRATE ? pv_calibrate(ctx, q->json, &json)
                : q->what == CK_CURVE   ? pv_curve(ctx, q->json, &json)
                                        : pv_account(ctx, q->json, &json);
    a->seconds = now(CLOCK_PROCESS_CPUTIME_ID) - start;
    if (a->status != PV_OK) {
        snprintf(a->message, sizeof a->message, "%s", pv_ctx_errmsg(ctx));
    } else if (q->what == CK_CURVE) {
        a->points = numbers(json, "epsilon", a->eps);
        if (numbers(json, "delta", a->del) != a->points) a->points = 0;
    } else {
        a->epsilon = member(json, "epsilon");
        a->lower = member(json, "epsilon_lower");
        a->delta = member(json, "delta");
        a->noise = member(json, "noise_multiplier");
        if (isnan(a->noise)) a->noise = member(json, "eps0");
    }
    pv_string_free(ctx, json);
}

/* From now on so many seconds of processor time, then SIGXCPU. */
static void allow(double seconds)
{
    const rlim_t end = (rlim_t)(now(CLOCK_PROCESS_CPUTIME_ID) + seconds) + 1;
    if (setrlimit(RLIMIT_CPU, &(struct rlimit) { end, RLIM_INFINITY }) != 0) _exit(1);
}

static void child(int n, const ck_request *q, double limit, int out)
{
    pv_ctx *ctx;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) _exit(1);
    for (int i = 0; i < n; i++) {
        ck_answer a = { 0 };
        allow(limit);
        answer(ctx, &q[i], &a);
        for (size_t sent = 0; sent < sizeof a;) {
            const ssize_t k = write(out, (const char *)&a + sent, sizeof a - sent);
            if (k <= 0) _exit(1);
            sent += (size_t)k;
        }
    }
    _exit(0);
}

/* ---- the parent
 * -------------------------------------------------------------------------------------------------- */

/* Reads one answer; false when there is none. */
static bool receive(int in, ck_answer *a)
{
    for (size_t got = 0; got < sizeof *a;) {
        struct pollfd p = { .fd = in, .events = POLLIN };
        if (poll(&p, 1, 1000 * WALL) <= 0) return false;
        const ssize_t k = read(in, (char *)a + got, sizeof *a - got);
        if (k <= 0) return false;
        got += (size_t)k;
    }
    return true;
}

void ck_ask(int n, const ck_request *q, double limit, ck_answer *a)
{
    for (int done = 0; done < n;) {
        int pipes[2], status = 0;
        fflush(stdout);
        if (pipe(pipes) != 0) abort();
        const pid_t pid = fork();
        if (pid < 0) abort();
        if (pid == 0) {
            close(pipes[0]);
            child(n - done, q + done, limit, pipes[1]);
        }
        close(pipes[1]);
        while (done < n && receive(pipes[0], &a[done])) done++;
        close(pipes[0]);
        if (done < n) kill(pid, SIGKILL); /* if it is still there */
        waitpid(pid, &status, 0);
        if (done == n) break;
        const bool late = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
        a[done++] = (ck_answer) { .status = late ? CK_HANGS : CK_CRASHES, .seconds = limit };
    }
}
