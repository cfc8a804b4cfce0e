/* source.c - the bytes of a data file, plain, decompressed or from UTF-16; the only file that knows zlib and bzip2.
 *
 * The format is told by the first bytes, never by the name.  Several gzip or bzip2 streams one
 * after the other count as one.  Bytes behind the last stream other than zero padding, a stream that
 * ends early and a wrong checksum are errors: half a table would still train.
 *
 * Slices run on pool threads, so nothing here allocates or reports while one is under way: the
 * decompressors take their memory from `pool`, and errors wait in the struct for
 * pvi_source_filled().  Plain files are read with pread rather than mapped, because a mapped file
 * that shrinks kills the process.  "-" is standard input; a pipe, which has no size, is read once from its beginning
 * to its end. */
#include "reader.h"
#include "utf16.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { SLICE = 1 << 18, INPUT = 1 << 16, PEEK = 4096, POOL_GZ = 1 << 16, POOL_BZ = 5 << 20, GZIP_BITS = 15 + 16 };

typedef enum kind { PLAIN, PIPE, GZ, BZ, WIDE } kind;
typedef enum trouble { NONE, READ_FAILED, SHRANK, CUT_SHORT, CORRUPT, TRAILING, NO_MEMORY, EXPANDS } trouble;
#define FREE_BYTES 0x1p26 /* so many may come out of any compressed file */

struct pvi_source {
    pv_ctx *ctx;
    char *path; /* owned */
    int fd;
    kind kind;
    bool piped;       /* size is not known */
    int64_t size, at; /* file size; bytes of the file consumed */
    trouble trouble;
    int err; /* errno of READ_FAILED */
    /* compressed only */
    uint8_t *input; /* owned; INPUT bytes */
    size_t in_at, in_len;
    bool in_stream, ended;  /* between begin and end of a stream; nothing more will come */
    size_t got;             /* bytes of the last slice */
    double made, expansion; /* bytes decompressed so far; allowed for each byte of the file */
    z_stream z;
    bz_stream b;
    pvi_utf16 u;
    char rest[4]; /* of text from UTF-16: made, but without room */
    size_t rest_at, rest_len;
    char *pool; /* owned; the decompressor's memory */
    size_t pool_used, pool_size;
    size_t peek_at, peek_len; /* unread part of peek */
    uint8_t peek[PEEK];
};

/* ---- memory of the decompressors -------------------------------------------------------------- */
static void *pool_get(void *self, size_t n)
{
    pvi_source *s = self;
    n = (n + 15) & ~(size_t)15;
    if (n > s->pool_size - s->pool_used) return NULL;
    void *p = s->pool + s->pool_used;
    s->pool_used += n;
    return p;
}

static void *z_get(void *self, unsigned n, unsigned size)
{
    return pool_get(self, (size_t)n * size);
}

static void *b_get(void *self, int n, int size)
{
    return pool_get(self, (size_t)n * (size_t)size);
}

static void pool_put(void *self, void *p)
{
    (void)self;
    (void)p; /* the pool is emptied when the next stream begins */
}

/* ---- compressed input ----------------------------------------------------------------------------- */
/* At least one unread input byte; false at the end of the file or on trouble. */
static bool more_input(pvi_source *s)
{
    while (s->in_at == s->in_len) {
        const ssize_t n = read(s->fd, s->input, INPUT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            s->trouble = READ_FAILED;
            s->err = errno;
        }
        if (n <= 0) return false;
        s->in_at = 0;
        s->in_len = (size_t)n;
        s->at += n;
    }
    return true;
}

static bool begin_stream(pvi_source *s)
{
    s->pool_used = 0;
    int ok;
    if (s->kind == GZ) {
        s->z = (z_stream) { .zalloc = z_get, .zfree = pool_put, .opaque = s };
        ok = inflateInit2(&s->z, GZIP_BITS) == Z_OK;
    } else {
        s->b = (bz_stream) { .bzalloc = b_get, .bzfree = pool_put, .opaque = s };
        ok = BZ2_bzDecompressInit(&s->b, 0, 0) == BZ_OK;
    }
    if (!ok) s->trouble = NO_MEMORY;
    s->in_stream = ok;
    return ok;
}

/* Behind a stream: another one, zero padding, or nothing. */
static bool next_stream(pvi_source *s)
{
    const uint8_t first = s->kind == GZ ? 0x1f : 'B';
    bool padding = false;
    while (more_input(s)) {
        if (s->input[s->in_at] == first && !padding) return begin_stream(s);
        if (s->input[s->in_at] != 0) {
            s->trouble = TRAILING;
            return false;
        }
        padding = true;
        s->in_at++;
    }
    s->ended = s->trouble == NONE;
    return false;
}

static trouble z_step(pvi_source *s, char *out, size_t room, size_t *made, bool *over)
{
    s->z.next_in = s->input + s->in_at;
    s->z.avail_in = (unsigned)(s->in_len - s->in_at);
    s->z.next_out = (Bytef *)out;
    s->z.avail_out = (unsigned)room;
    const int r = inflate(&s->z, Z_NO_FLUSH);
    s->in_at = s->in_len - s->z.avail_in;
    *made = room - s->z.avail_out;
    *over = r == Z_STREAM_END;
    return r == Z_MEM_ERROR ? NO_MEMORY : r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR ? NONE : CORRUPT;
}

static trouble b_step(pvi_source *s, char *out, size_t room, size_t *made, bool *over)
{
    s->b.next_in = (char *)s->input + s->in_at;
    s->b.avail_in = (unsigned)(s->in_len - s->in_at);
    s->b.next_out = out;
    s->b.avail_out = (unsigned)room;
    const int r = BZ2_bzDecompress(&s->b);
    s->in_at = s->in_len - s->b.avail_in;
    *made = room - s->b.avail_out;
    *over = r == BZ_STREAM_END;
    return r == BZ_MEM_ERROR ? NO_MEMORY : r == BZ_OK || r == BZ_STREAM_END ? NONE : CORRUPT;
}

/* Up to `room` bytes of text from UTF-16; the last few by way of `rest`, as a character is up to 4 bytes. */
static size_t widen_some(pvi_source *s, char *out, size_t room)
{
    size_t got = 0, used, made;
    while (got < room && s->trouble == NONE && !s->ended) {
        for (; s->rest_at < s->rest_len && got < room; s->rest_at++) out[got++] = s->rest[s->rest_at];
        if (got == room) break;
        if (!more_input(s)) {
            s->ended = s->trouble == NONE && s->u.have == 0;
            if (s->trouble == NONE && !s->ended) s->trouble = CUT_SHORT;
            break;
        }
        const bool tail = room - got < sizeof s->rest;
        char *to = tail ? s->rest : out + got;
        const size_t n = tail ? sizeof s->rest : room - got;
        if (!pvi_utf16_text(&s->u, s->input + s->in_at, s->in_len - s->in_at, &used, to, n, &made)) {
            s->trouble = CORRUPT;
            break;
        }
        s->in_at += used;
        s->rest_at = 0;
        s->rest_len = tail ? made : 0;
        if (!tail) got += made;
    }
    return got;
}

/* Up to `room` decompressed bytes; stops early at the end of the file or on trouble. */
static size_t inflate_some(pvi_source *s, char *out, size_t room)
{
    size_t got = 0;
    if (s->kind == WIDE) return widen_some(s, out, room);
    while (got < room && s->trouble == NONE && !s->ended) {
        if (!s->in_stream && !next_stream(s)) break;
        size_t made;
        bool over;
        const size_t step = room - got < (1u << 30) ? room - got : 1u << 30; /* the counters are 32 bits wide */
        const bool input = more_input(s);
        if (!input && s->trouble != NONE) break;
        s->trouble =
            s->kind == GZ ? z_step(s, out + got, step, &made, &over) : b_step(s, out + got, step, &made, &over);
        got += made;
        s->made += (double)made;
        if (s->trouble == NONE && s->made > FREE_BYTES && s->made > s->expansion * (double)s->at)
            s->trouble = EXPANDS;
        if (over) s->in_stream = false;
        else if (!input && made == 0 && s->trouble == NONE) s->trouble = CUT_SHORT;
    }
    return got;
}

/* ---- the slices ----------------------------------------------------------------------------------- */
static void read_plain(pvi_source *s, char *buf, size_t n, int64_t offset)
{
    while (n > 0) {
        const ssize_t r = pread(s->fd, buf, n, (off_t)offset);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) {
            if (r < 0) __atomic_store_n(&s->err, errno, __ATOMIC_RELAXED);
            __atomic_store_n(&s->trouble, r < 0 ? READ_FAILED : SHRANK, __ATOMIC_RELAXED);
            return;
        }
        buf += r;
        offset += r;
        n -= (size_t)r;
    }
}

/* Up to n bytes; fewer: the pipe has ended, or there is trouble. */
static size_t read_pipe(pvi_source *s, char *buf, size_t n)
{
    size_t got = 0;
    while (got < n && !s->ended) {
        const ssize_t r = read(s->fd, buf + got, n - got);
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) {
            s->trouble = READ_FAILED;
            s->err = errno;
        }
        s->ended = r <= 0;
        if (r > 0) got += (size_t)r, s->at += r;
    }
    return got;
}

static size_t plain_left(const pvi_source *s, size_t want)
{
    const uint64_t left = (uint64_t)(s->size - s->at);
    return left < want ? (size_t)left : want;
}

int64_t pvi_source_slices(const pvi_source *s, size_t want)
{
    if (s->kind != PLAIN) return 1;
    return (int64_t)((plain_left(s, want) + SLICE - 1) / SLICE);
}

void pvi_source_slice(pvi_source *s, char *buf, size_t want, int64_t k)
{
    if (s->kind == PLAIN) {
        const size_t all = plain_left(s, want), from = (size_t)k * SLICE;
        read_plain(s, buf + from, all - from < SLICE ? all - from : SLICE, s->at + (int64_t)from);
        return;
    }
    size_t kept = s->peek_len - s->peek_at;
    if (kept > want) kept = want;
    memcpy(buf, s->peek + s->peek_at, kept);
    s->peek_at += kept;
    s->got =
        kept + (s->kind == PIPE ? read_pipe(s, buf + kept, want - kept) : inflate_some(s, buf + kept, want - kept));
}

static pv_status complain(pvi_source *s)
{
    const char *tool = s->kind == GZ ? "gzip" : s->kind == BZ ? "bzip2" : "UTF-16";
    switch (s->trouble) {
    case READ_FAILED: return pvi_fail(s->ctx, PV_E_IO, "%s: %s", s->path, strerror(s->err));
    case SHRANK: return pvi_fail(s->ctx, PV_E_IO, "%s: became shorter while it was read", s->path);
    case CUT_SHORT: return pvi_fail(s->ctx, PV_E_FORMAT, "%s: truncated: the %s data ends too early", s->path, tool);
    case TRAILING: return pvi_fail(s->ctx, PV_E_FORMAT, "%s: other bytes follow the %s data", s->path, tool);
    case EXPANDS:
        return pvi_fail(s->ctx, PV_E_FORMAT,
                        "%s: decompresses to more than %g times its size; data.max_expansion= allows more", s->path,
                        s->expansion);
    case NO_MEMORY: return pvi_nomem(s->ctx);
    default: return pvi_fail(s->ctx, PV_E_FORMAT, "%s: the %s data is damaged", s->path, tool);
    }
}

pv_status pvi_source_filled(pvi_source *s, size_t want, size_t *got, bool *end)
{
    *got = 0;
    *end = false;
    if (s->kind == PLAIN) {
        if (s->trouble != NONE) return complain(s);
        *got = plain_left(s, want);
        s->at += (int64_t)*got;
        *end = s->at == s->size;
        return PV_OK;
    }
    *got = s->got;
    *end = s->ended && s->peek_at == s->peek_len;
    /* What came before the trouble is still parsed, so that an earlier error in the rows is named first (but see
     * look_for_damage in text_chunks.c). */
    return s->trouble != NONE && s->got == 0 ? complain(s) : PV_OK;
}

/* ---- opening ------------------------------------------------------------------------------------------ */
static pv_status check_kind(pvi_source *s)
{
    struct stat st;
    if (fstat(s->fd, &st) != 0) return pvi_fail(s->ctx, PV_E_IO, "%s: %s", s->path, strerror(errno));
    if (S_ISDIR(st.st_mode)) return pvi_fail(s->ctx, PV_E_IO, "%s: is a directory, a data file is needed", s->path);
    s->piped = strcmp(s->path, "-") == 0 && (!S_ISREG(st.st_mode) || lseek(s->fd, 0, SEEK_CUR) != 0);
    if (!S_ISREG(st.st_mode) && !s->piped) return pvi_fail(s->ctx, PV_E_IO, "%s: not a regular file", s->path);
    if (S_ISREG(st.st_mode) && st.st_size == 0) return pvi_fail(s->ctx, PV_E_FORMAT, "%s: empty file", s->path);
    s->size = st.st_size;
    s->kind = s->piped ? PIPE : PLAIN;
    const ssize_t n = s->piped ? (ssize_t)read_pipe(s, (char *)s->peek, PEEK) : pread(s->fd, s->peek, PEEK, 0);
    if (n < 0 || s->trouble != NONE)
        return pvi_fail(s->ctx, PV_E_IO, "%s: %s", s->path, strerror(s->piped ? s->err : errno));
    if (n == 0) return pvi_fail(s->ctx, PV_E_FORMAT, "%s: empty", s->path);
    s->peek_len = (size_t)n;
    if (n >= 2 && s->peek[0] == 0x1f && s->peek[1] == 0x8b) s->kind = GZ;
    else if (n >= 4 && memcmp(s->peek, "BZh", 3) == 0 && s->peek[3] >= '1' && s->peek[3] <= '9') s->kind = BZ;
    else if (pvi_utf16_begins(s->peek, (size_t)n, &s->u)) s->kind = WIDE;
    return PV_OK;
}

static pv_status open_compressed(pvi_source *s)
{
    s->pool_size = s->kind == GZ ? POOL_GZ : s->kind == BZ ? POOL_BZ : 16;
    s->pool = pvi_alloc(s->ctx, s->pool_size);
    s->input = pvi_alloc(s->ctx, INPUT);
    if (!s->pool || !s->input) return pvi_nomem(s->ctx);
    if (s->piped) { /* what was looked at comes no more */
        memcpy(s->input, s->peek, s->peek_len);
        s->in_len = s->peek_len;
        s->ended = false;
    }
    s->peek_len = inflate_some(s, (char *)s->peek, PEEK);
    if (s->peek_len > 0) return PV_OK;
    if (s->trouble != NONE) return complain(s);
    return pvi_fail(s->ctx, PV_E_FORMAT, s->kind == WIDE ? "%s: empty" : "%s: empty once decompressed", s->path);
}

pv_status pvi_source_open(pv_ctx *ctx, const char *path, double expansion, pvi_source **out)
{
    *out = NULL;
    pvi_source *s = pvi_alloc(ctx, sizeof *s);
    if (!s) return pvi_nomem(ctx);
    s->ctx = ctx;
    s->expansion = expansion;
    s->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int e = errno;
    s->path = pvi_strdup(ctx, path);
    pv_status st = PV_OK;
    if (!s->path) st = pvi_nomem(ctx);
    else if (s->fd < 0) st = pvi_fail(ctx, PV_E_IO, "%s: %s", path, strerror(e));
    else st = check_kind(s);
    if (st == PV_OK && s->kind != PLAIN && s->kind != PIPE) st = open_compressed(s);
    if (st == PV_OK) *out = s;
    else pvi_source_close(s);
    return st;
}

void pvi_source_close(pvi_source *s)
{
    if (!s) return;
    if (s->fd >= 0) close(s->fd);
    pvi_free(s->ctx, s->pool);
    pvi_free(s->ctx, s->input);
    pvi_free(s->ctx, s->path);
    pvi_free(s->ctx, s);
}

const char *pvi_source_path(const pvi_source *s)
{
    return s->path;
}

const uint8_t *pvi_source_peek(const pvi_source *s, size_t *n)
{
    *n = s->peek_len;
    return s->peek;
}

bool pvi_source_damaged(const pvi_source *s)
{
    return s->trouble == CORRUPT;
}

bool pvi_source_plain(const pvi_source *s)
{
    return s->kind == PLAIN || s->kind == PIPE;
}

double pvi_source_most(const pvi_source *s)
{
    if (s->piped) return INFINITY;
    if (s->kind == PLAIN) return (double)(s->size - s->at);
    if (s->kind == WIDE) return 1.5 * (double)s->size; /* three bytes for a unit, at most */
    return fmax(FREE_BYTES, s->expansion * (double)s->size);
}

double pvi_source_fraction(const pvi_source *s)
{
    return s->piped ? 0.0 : (double)s->at / (double)s->size;
}
