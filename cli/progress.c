/* progress.c - one line on stderr while something long runs: bar, percentage, time left, budget spent.
 *
 * Drawn only on a terminal, at most ten times a second, never wider than the terminal, and wiped
 * when the work ends, so that nothing of it stays in a scroll-back.  A log gets a line after half a minute, and then
 * whenever as much time again has passed: who looks at it sees that the run is alive. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static struct {
    bool terminal, drawn, quiet;
    double next_line;     /* of a log: seconds after the phase began */
    char what[32];        /* the phase under way                        */
    double begun, redraw; /* seconds: when the phase began, last drawing */
    double part, at;      /* what was done when speed was last looked at, and when, seconds after the phase began */
    double speed;         /* parts a second, lately; 0: not known yet */
} bar;

enum { LOG_AFTER = 30 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int columns(void)
{
    struct winsize w;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0) return w.ws_col;
    return 80;
}

static void time_left(double seconds, char out[24])
{
    const long s = seconds < 360000.0 ? (long)(seconds + 0.999) : 360000L;
    if (s >= 3600) snprintf(out, 24, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else snprintf(out, 24, "%ld:%02ld", s / 60, s % 60);
}

/* Steps may take unequally long, so that time left is told by the speed of late: a mean over about a quarter. */
static void look_at_speed(double part, double elapsed)
{
    const double dt = elapsed - bar.at;
    if (dt < 0.25 || part <= bar.part) return;
    const double now = (part - bar.part) / dt, weight = -expm1(-dt / fmax(0.25 * elapsed, 0.5));
    bar.speed = bar.speed > 0.0 ? bar.speed + weight * (now - bar.speed) : now;
    bar.part = part, bar.at = elapsed;
}

/* What stands right of the bar: "42%  0:12 left  epsilon 0.42". */
static void details(char out[96], double part, double elapsed, double epsilon)
{
    int n = snprintf(out, 96, "%3.0f%%", 100.0 * part);
    look_at_speed(part, elapsed);
    if (elapsed > 0.5 && bar.speed > 0.0) {
        char left[24];
        time_left((1.0 - part) / bar.speed, left);
        n += snprintf(out + n, 96 - (size_t)n, "  %s left", left);
    }
    if (epsilon >= 0.0 && isfinite(epsilon)) snprintf(out + n, 96 - (size_t)n, "  epsilon %.3g spent", epsilon);
}

static void draw(double part, double elapsed, double epsilon)
{
    enum { WIDEST = 30, DETAILS = 42 }; /* room kept for the longest details, so that the bar does not jump */
    char text[96], blocks[WIDEST];
    const int width = columns() - 1;
    int room = width - (int)strlen(bar.what) - DETAILS - 4;
    if (room > WIDEST) room = WIDEST;
    details(text, part, elapsed, epsilon);
    fputs("\r\033[K", stderr);
    if (room >= 8) {
        const int full = (int)(part * room);
        memset(blocks, '.', (size_t)room);
        memset(blocks, '#', (size_t)full);
        fprintf(stderr, "%s [%.*s] %s", bar.what, room, blocks, text);
    } else {
        fprintf(stderr, "%.*s", width > 0 ? width : 0, text);
    }
    fflush(stderr);
    bar.drawn = true;
}

static void log_line(double part, double elapsed, double epsilon)
{
    char text[96];
    if (bar.quiet || elapsed < bar.next_line) return;
    bar.next_line = 2.0 * elapsed;
    details(text, part, elapsed, epsilon);
    fprintf(stderr, "privet: %s %s\n", bar.what, text + strspn(text, " "));
}

static double share(double done, double total)
{
    const double part = total > 0.0 ? done / total : 0.0;
    return part > 1.0 ? 1.0 : part >= 0.0 ? part : 0.0;
}

void progress_show(const char *what, double part, double elapsed)
{
    const double t = now();
    if (!bar.terminal || t - bar.redraw < 0.1) return;
    snprintf(bar.what, sizeof bar.what, "%s", what);
    bar.redraw = t;
    draw(share(part, 1.0), elapsed, -1.0);
}

static bool on_progress(void *user, const char *what, double done, double total, double epsilon)
{
    (void)user;
    const double t = now();
    if (strncmp(bar.what, what, sizeof bar.what - 1) != 0) {
        snprintf(bar.what, sizeof bar.what, "%s", what);
        bar.begun = t;
        bar.part = bar.at = bar.speed = 0.0;
        bar.redraw = 0.0;
        bar.next_line = LOG_AFTER;
    }
    if (strcmp(what, "training") == 0) { /* the input was good, and rows are being asked about */
        signals_phase(PHASE_SPENDING);
        notes_flush();
    }
    if (!bar.terminal) {
        log_line(share(done, total), t - bar.begun, epsilon);
        return true;
    }
    if (t - bar.redraw < 0.1) return true;
    bar.redraw = t;
    draw(share(done, total), t - bar.begun, epsilon);
    return true;
}

void progress_attach(cli *c)
{
    const char *term = getenv("TERM");
    bar.quiet = c->args.quiet;
    bar.terminal = !c->args.quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    pv_ctx_on_progress(c->ctx, on_progress, c);
}

void progress_clear(void)
{
    if (bar.drawn) fputs("\r\033[K", stderr);
    bar.drawn = false;
}
