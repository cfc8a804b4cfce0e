/* report.c - what the command says: errors and notes on stderr, results on stdout. */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line, whatever was typed. */
static int error_line(int code, const char *fmt, va_list ap)
{
    char line[4096];
    progress_clear();
    vsnprintf(line, sizeof line, fmt, ap);
    for (unsigned char *p = (unsigned char *)line; *p; p++)
        if (*p < ' ' || *p == 127) *p = '?';
    fprintf(stderr, "privet: %s\n", line);
    return code;
}

int usage(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_line(EXIT_USAGE, fmt, ap);
    va_end(ap);
    return EXIT_USAGE;
}

int complain(int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    error_line(code, fmt, ap);
    va_end(ap);
    return code;
}

static int exit_code(pv_status s)
{
    switch (s) {
    case PV_OK:
    case PV_DONE: return EXIT_DONE;
    case PV_E_ARG:
    case PV_E_PARAM:
    case PV_E_UNSUPPORTED: return EXIT_USAGE;
    case PV_E_IO:
    case PV_E_FORMAT:
    case PV_E_VERIFY: return EXIT_INPUT;
    case PV_E_CANCELLED: /* once training has begun, its budget is spent */
    case PV_E_BUDGET: return EXIT_BUDGET;
    default: return EXIT_INTERNAL;
    }
}

/* What is wrong besides, a line each; printed before the error. */
static char *errors;

static void keep_error(const char *line)
{
    const size_t had = errors ? strlen(errors) : 0, more = strlen(line) + sizeof "privet: \n";
    char *text = realloc(errors, had + more);
    if (!text) return;
    errors = text;
    snprintf(text + had, more, "privet: %s\n", line);
}

int fail(cli *c, pv_status s)
{
    progress_clear();
    if (errors) fputs(errors, stderr);
    free(errors);
    errors = NULL;
    const char *message = pv_ctx_errmsg(c->ctx);
    return complain(exit_code(s), "%s", *message ? message : pv_status_name(s));
}

int flush_stdout(int code)
{
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != EXIT_DONE) return code;
    if (!errno && write(STDOUT_FILENO, "\n", 1) == 1) errno = 0; /* it failed earlier: ask for the reason again */
    if (errno) return complain(EXIT_INPUT, "standard output: cannot be written: %s", strerror(errno));
    return complain(EXIT_INPUT, "standard output: cannot be written");
}

/* ---- notes: kept until the command knows it will not fail ---------------------------------------- */
static struct {
    char *text; /* owned; lines end with a newline */
    size_t len;
    bool direct; /* no more waiting */
} notes;

static void keep(pv_level level, const char *line)
{
    const char *prefix = level == PV_LOG_WARN ? "privet: warning: " : "privet: note: ";
    if (notes.direct) {
        progress_clear();
        fprintf(stderr, "%s%s\n", prefix, line);
        return;
    }
    const size_t more = strlen(prefix) + strlen(line) + 1;
    char *text = realloc(notes.text, notes.len + more + 1);
    if (!text) return;
    notes.text = text;
    notes.len += (size_t)snprintf(text + notes.len, more + 1, "%s%s\n", prefix, line);
}

static void on_log(void *user, pv_level level, const char *line)
{
    const cli *c = user;
    if (level == PV_LOG_ERROR) {
        keep_error(line);
        return;
    }
    /* Notes are about choices of a run; a command that only uses a model makes none. */
    if (level == PV_LOG_WARN || (!c->args.quiet && (c->cmd->groups & OPT_PLAN))) keep(level, line);
}

void note(pv_level level, const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    keep(level, line);
}

void notes_attach(cli *c)
{
    pv_ctx_on_log(c->ctx, on_log, c);
}

void notes_flush(void)
{
    if (notes.text) {
        progress_clear();
        fputs(notes.text, stderr);
    }
    free(notes.text);
    notes.text = NULL;
    notes.len = 0;
    notes.direct = true;
}
