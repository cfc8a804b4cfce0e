/* files.c - the few files the command itself reads, and checks made before anything is spent. */
#include "cli.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_LIMIT = 1 << 20 };

/* All of it and a 0, in memory that grows with what is there. */
static int read_stream(FILE *f, const char *path, size_t limit, const char *what, char **text, size_t *len)
{
    for (size_t cap = 0; !feof(f);) {
        if (*len == cap) {
            cap = cap ? 2 * cap : 1 << 16;
            char *more = realloc(*text, cap + 1);
            if (!more) return complain(EXIT_INTERNAL, "out of memory");
            *text = more;
        }
        *len += fread(*text + *len, 1, cap - *len, f);
        if (ferror(f)) return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
        if (*len > limit) return complain(EXIT_INPUT, "%s: more than %zu MB, not %s", path, limit >> 20, what);
    }
    (*text)[*len] = '\0';
    return EXIT_DONE;
}

int read_text_of(const char *path, size_t limit, const char *what, char **text, size_t *len)
{
    struct stat st;
    *text = NULL;
    *len = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
    const int code = fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)
                         ? complain(EXIT_INPUT, "%s: is a directory, a file is needed", path)
                         : read_stream(f, path, limit, what, text, len);
    fclose(f);
    if (code != EXIT_DONE) free(*text), *text = NULL;
    return code;
}

int read_text(const char *path, char **text, size_t *len)
{
    return read_text_of(path, CONFIG_LIMIT, "a file of settings", text, len);
}

/* Makes a file beside the path, as writing it will, and removes it again: access() knows nothing of file systems that
 * take no files, and lets root through everywhere. */
static bool can_make(const char *path)
{
    char temp[PATH_MAX + 16];
    snprintf(temp, sizeof temp, "%s.tmp.XXXXXX", path);
    const int fd = mkstemp(temp);
    if (fd < 0) return false;
    close(fd);
    unlink(temp);
    return true;
}

int check_own(const char *path, const char *mark, const char *advice)
{
    enum { NEAR = 1 << 16 };
    struct stat st;
    if (stat(path, &st) != 0) return EXIT_DONE; /* what else may be wrong, writing it will say */
    char *text = malloc(NEAR);
    FILE *f = S_ISREG(st.st_mode) ? fopen(path, "rbe") : NULL;
    const size_t n = f && text ? fread(text, 1, NEAR, f) : 0;
    const bool own = n && memmem(text, n, mark, strlen(mark));
    if (f) fclose(f);
    free(text);
    if (own) return EXIT_DONE;
    return usage("%s exists already, and this command did not make it; %s", path, advice);
}

/* A run whose result cannot be kept would spend its budget for nothing. */
int check_writable(const char *path)
{
    struct stat st;
    char target[PATH_MAX]; /* of a link, what it points to is written */
    if (strlen(path) >= sizeof target) return complain(EXIT_INPUT, "the output path is too long");
    if (*path && path[strlen(path) - 1] == '/')
        return complain(EXIT_INPUT, "%s: cannot be written: the name of a file is missing", path);
    if (!realpath(path, target)) memcpy(target, path, strlen(path) + 1);
    if (stat(target, &st) == 0) {
        if (S_ISDIR(st.st_mode)) return complain(EXIT_INPUT, "%s: is a directory, cannot be written as a file", path);
        if (!S_ISREG(st.st_mode)) return EXIT_DONE; /* a device or pipe */
    }
    if (can_make(target)) return EXIT_DONE;
    const int why = errno;
    const char *folder = dirname(target);
    if (why == ENOTDIR) return complain(EXIT_INPUT, "%s: cannot be written: %s is not a directory", path, folder);
    if (why == ENOENT && access(folder, F_OK) == 0)
        return complain(EXIT_INPUT, "%s: cannot be written: %s takes no new files", path, folder);
    return complain(EXIT_INPUT, "%s: cannot be written: %s: %s", path, folder, strerror(why));
}

void csv_text(FILE *f, const char *s)
{
    if (!strpbrk(s, ",\"\n\r")) {
        fputs(s, f);
        return;
    }
    fputc('"', f);
    for (; *s; s++) {
        if (*s == '"') fputc('"', f);
        fputc(*s, f);
    }
    fputc('"', f);
}
