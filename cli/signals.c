/* signals.c - Ctrl-C and friends: remove temporaries, say what it means, end as the signal would.
 *
 * Ending by the signal itself, not by exit(130), lets a shell loop stop as the user expects.  A
 * model is written by rename, so an interruption leaves the old file or the new one, never half.
 * Once training has begun, noisy answers about the rows exist and may have been seen by whoever
 * interrupted the run: the budget counts as spent although nothing was written. */
#include "cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t current = PHASE_QUIET;
static pv_ctx *volatile context; /* whose files are under way */

void signals_context(pv_ctx *ctx)
{
    context = ctx;
}

void signals_phase(phase p)
{
    current = p;
}

/* Only async-signal-safe calls from here. */
static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0) { /* nobody is listening */
    }
}

static void on_signal(int sig)
{
    /* The mask holds for the thread that got the signal: a second one (timeout sends to the process and to its
     * group) may find another thread.  Only the first speaks and ends the process. */
    static atomic_flag ending = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&ending)) return;
    pv_cleanup(context);
    if (sig != SIGPIPE) {
        if (isatty(STDERR_FILENO)) say("\r\033[K");
        say(current == PHASE_SPENDING ? "privet: interrupted; no model was written, and the budget counts as spent\n"
            : current == PHASE_KEPT
                ? "privet: interrupted; finished runs are kept, the same command goes on from here\n"
                : "privet: interrupted\n");
    }
    signal(sig, SIG_DFL);
    raise(sig);
}

void signals_install(void)
{
    static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sigaction old, new = { .sa_handler = on_signal };
        sigfillset(&new.sa_mask);
        /* nohup and background shells hand down `ignore`: respect it. */
        if (sigaction(all[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(all[i], &new, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a write error, reported like a full disk */
}
