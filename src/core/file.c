/* file.c - reading small files whole; writing files so that the old one survives any failure. */
#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The slots hold pointers that only whoever noted them frees. */
void pvi_temp_note(pv_ctx *ctx, char *old, char *path)
{
    for (int i = 0; i < PVI_TEMPS; i++) {
        char *expect = old;
        if (atomic_compare_exchange_strong(&ctx->temp[i], &expect, path)) return;
    }
}

/* From a signal handler: touches the slots and calls unlink(), nothing else. */
void pv_cleanup(pv_ctx *ctx)
{
    for (int i = 0; ctx && i < PVI_TEMPS; i++) {
        const char *t = atomic_load(&ctx->temp[i]);
        if (t) unlink(t);
    }
}

const char pvi_model_magic[8] = { 'P', 'R', 'I', 'V', 'E', 'T', 'M', '1' };

bool pvi_is_model_file(const char *text, size_t len)
{
    return len >= sizeof pvi_model_magic && memcmp(text, pvi_model_magic, sizeof pvi_model_magic) == 0;
}

pv_status pvi_file_read(pv_ctx *ctx, const char *path, size_t limit, char **out, size_t *len)
{
    pv_status s = PV_OK;
    struct stat st;
    char *buf = NULL;
    size_t used = 0;

    *out = NULL;
    *len = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return pvi_fail(ctx, PV_E_IO, "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) != 0) s = pvi_fail(ctx, PV_E_IO, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(st.st_mode)) s = pvi_fail(ctx, PV_E_IO, "%s: is a directory, a file is needed", path);
    else if (!S_ISREG(st.st_mode)) s = pvi_fail(ctx, PV_E_IO, "%s: not a regular file", path);
    else if ((uint64_t)st.st_size > limit)
        s = pvi_fail(ctx, PV_E_FORMAT, "%s: %lld bytes, more than the %zu such a file may have", path,
                     (long long)st.st_size, limit);
    if (s != PV_OK) goto out;
    buf = pvi_alloc(ctx, (size_t)st.st_size + 1);
    if (!buf) {
        s = pvi_nomem(ctx);
        goto out;
    }
    while (used < (size_t)st.st_size) {
        const ssize_t n = read(fd, buf + used, (size_t)st.st_size - used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            s = pvi_fail(ctx, PV_E_IO, "%s: %s", path, strerror(errno));
            goto out;
        }
        if (n == 0) break;
        used += (size_t)n;
    }
    *out = buf;
    *len = used;
    buf = NULL;
out:
    pvi_free(ctx, buf);
    close(fd);
    return s;
}

/* A new file beside the target, PATH.tmp.xxxxxx.  The kernel applies the umask: asking for it means changing it, for
 * every thread of the host.  -1: errno says why. */
static int open_temp(pvi_atomic *a, size_t size)
{
    int fd = -1;
    errno = EEXIST;
    for (int tries = 0; fd < 0 && errno == EEXIST && tries < 100; tries++) {
        uint8_t name[3];
        if (pvi_entropy(a->ctx, name, sizeof name) != PV_OK) {
            errno = EAGAIN;
            break;
        }
        snprintf(a->temp, size, "%s.tmp.%02x%02x%02x", a->path, name[0], name[1], name[2]);
        pvi_temp_note(a->ctx, NULL, a->temp); /* first: a signal may come before open() returns */
        fd = open(a->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0) pvi_temp_note(a->ctx, a->temp, NULL);
    }
    if (fd < 0) a->temp[0] = '\0'; /* nothing to remove */
    return fd;
}

enum { BUFFER = 65536 };

pv_status pvi_atomic_open(pv_ctx *ctx, const char *path, pvi_atomic *a)
{
    struct stat st;
    char target[PATH_MAX]; /* a link stays a link: what it points to is replaced */

    *a = (pvi_atomic) { .ctx = ctx, .fd = -1 };
    if (!*path) return pvi_fail(ctx, PV_E_IO, "the output path is empty");
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && realpath(path, target)) path = target;
    const bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return pvi_fail(ctx, PV_E_IO, "%s: is a directory, cannot be written as a file", path);
    const size_t size = strlen(path) + 16;
    a->path = pvi_strdup(ctx, path);
    a->temp = pvi_alloc(ctx, size);
    a->buf = pvi_alloc(ctx, BUFFER);
    if (!a->path || !a->temp || !a->buf) {
        pvi_atomic_abandon(a);
        return pvi_nomem(ctx);
    }
    /* A device or pipe is written in place: a rename would replace /dev/null itself. */
    const bool special = exists && !S_ISREG(st.st_mode);
    a->fd = special ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : open_temp(a, size);
    if (a->fd < 0) {
        const int e = errno;
        pvi_atomic_abandon(a);
        return pvi_fail(ctx, PV_E_IO, "%s: cannot be written: %s", path, strerror(e));
    }
    return PV_OK;
}

bool pvi_write_all(int fd, const void *data, size_t size)
{
    for (const char *from = data; size > 0;) {
        const ssize_t n = write(fd, from, size);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = EIO;
        if (n <= 0) return false;
        from += n;
        size -= (size_t)n;
    }
    return true;
}

static void write_out(pvi_atomic *a, const void *data, size_t size)
{
    if (!a->error && !pvi_write_all(a->fd, data, size)) a->error = errno;
}

static void flush(pvi_atomic *a)
{
    write_out(a, a->buf, a->held);
    a->held = 0;
}

void pvi_atomic_put(pvi_atomic *a, const void *data, size_t size)
{
    if (size > BUFFER - a->held) flush(a);
    if (size > BUFFER) {
        write_out(a, data, size);
        return;
    }
    if (size) memcpy(a->buf + a->held, data, size);
    a->held += size;
}

void pvi_atomic_fmt(pvi_atomic *a, const char *fmt, ...)
{
    char text[256];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text) a->error = EOVERFLOW; /* never half a line */
    else pvi_atomic_put(a, text, (size_t)n);
}

/* Makes the rename itself durable. */
static void sync_folder(const char *path, pv_ctx *ctx)
{
    char *copy = pvi_strdup(ctx, path);
    if (!copy) return;
    const int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    pvi_free(ctx, copy);
}

pv_status pvi_atomic_commit(pvi_atomic *a)
{
    const bool special = !a->temp[0];
    flush(a);
    if (!a->error && !special && fsync(a->fd) != 0) a->error = errno;
    if (close(a->fd) != 0 && !a->error) a->error = errno;
    a->fd = -1;
    if (!a->error && !special && rename(a->temp, a->path) != 0) a->error = errno;
    pv_status s = PV_OK;
    if (a->error) {
        s = pvi_fail(a->ctx, PV_E_IO, "%s: cannot be written: %s", a->path, strerror(a->error));
    } else if (!special) {
        pvi_temp_note(a->ctx, a->temp, NULL);
        sync_folder(a->path, a->ctx);
        a->temp[0] = '\0';
    }
    pvi_atomic_abandon(a);
    return s;
}

void pvi_atomic_abandon(pvi_atomic *a)
{
    if (a->fd >= 0) close(a->fd);
    a->fd = -1;
    if (a->temp && a->temp[0]) unlink(a->temp);
    if (a->temp) pvi_temp_note(a->ctx, a->temp, NULL);
    if (a->ctx) {
        pvi_free(a->ctx, a->temp);
        pvi_free(a->ctx, a->path);
        pvi_free(a->ctx, a->buf);
    }
    a->temp = a->path = a->buf = NULL;
}

pv_status pvi_file_write(pv_ctx *ctx, const char *path, const void *data, size_t size)
{
    pvi_atomic a;
    pv_status s = pvi_atomic_open(ctx, path, &a);
    if (s != PV_OK) return s;
    pvi_atomic_put(&a, data, size);
    return pvi_atomic_commit(&a);
}

pv_status pv_file_write(pv_ctx *ctx, const char *path, const void *data, size_t size)
{
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, path);
    if (size && !data) return pvi_fail(ctx, PV_E_ARG, "pv_file_write: data is NULL");
    return pvi_done(ctx, pvi_file_write(ctx, path, data, size));
}
