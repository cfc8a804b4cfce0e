/* aborttest.h - runs a call in a child process and says whether it ended in a privacy check. */
#ifndef ABORTTEST_H
#define ABORTTEST_H
#include "pvtest.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ABORTED = 134 };

static inline void on_abort(int sig)
{
    (void)sig;
    exit(ABORTED); /* a clean end, so that coverage is written */
}

/* Exit status of fn(arg) run in a child with standard error closed; ABORTED after abort(). */
static inline int in_child(int (*fn)(const void *arg), const void *arg)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGABRT, on_abort);
        if (!freopen("/dev/null", "w", stderr)) exit(99);
        exit(fn(arg));
    }
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
#endif
