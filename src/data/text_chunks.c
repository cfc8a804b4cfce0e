/* text_chunks.c - text files in parallel: rounds of chunks cut at line ends.
 *
 * A round holds a few chunks per thread.  While the chunks of one round are parsed into segments, the
 * bytes of the next are read or decompressed by tasks of the same parallel call.  Afterwards the
 * segments are appended in file order, so memory is the matrix plus two rounds.  A line that does not fit into a
 * round makes the rounds longer, up to data.max_line.  A longer one is refused wherever the cuts are: parsers look
 * at every record they have taken, and between rounds what is known of one that goes on behind them is looked at.
 *
 * A line end may sit inside a quoted field, so a cut may be wrong.  The first chunk of a round starts
 * a record; if the parser takes a chunk up to its end, the next chunk starts a record too.  If it stops
 * earlier (chunk.stop), the later chunks of the round are dropped and the bytes from there on open the
 * next round.  The outcome is that of a sequential parse, whatever the threads did, and an error is
 * reported only when every chunk before it is known to be right: the first one in the file.
 *
 * After the first error the rest is read for others, from its record on: chunks are parsed with a list for what is
 * wrong, which is counted in the order of the file, and rows are dropped.  That ends with MOST problems, after
 * FURTHER bytes or with the file.  What is counted is a function of the file alone. */
#include "reader.h"

enum { PER_THREAD = 4, PAD = 128, MOST = 100, FURTHER = 64 << 20 };

typedef struct buffer { /* raw[from .. to) holds bytes not parsed yet; PAD spare bytes in front and behind cap */
    char *owned, *raw;
    size_t cap, from, to;
} buffer;

typedef struct run {
    struct pv_load *job;
    const pvi_text_ops *ops;
    void *st;
    size_t chunk_size, wish; /* usual size of a chunk; now, larger while a record does not fit        */
    size_t usual, fill;      /* bytes asked for per round: usually, now                               */
    double fraction;         /* of the file read when the round began                                 */
    buffer buf[2];
    int now;       /* the buffer being parsed; the other one is filled                      */
    bool ended;    /* all bytes of the file have been read                                  */
    bool filling;  /* slices were read, and nobody has asked yet what came                  */
    bool damaged;  /* the file cannot be read on                                            */
    int64_t lines; /* line ends before buf[now].from                                        */
    size_t held;   /* bytes at buf[now].from known to be of one record, which goes on behind them */
    pvi_chunk *chunk;
    int64_t room, count; /* chunks allocated, in this round                                         */
    int64_t slices;
    bool surveying; /* the first error is behind us, or nothing but errors is asked for */
    bool enough;    /* of them                                                          */
    pvi_problems *found, own;
    int64_t most, further; /* problems; bytes to look at behind the first         */
    pvi_problem *list;     /* room for those of all chunks                        */
    size_t list_room;
    char told[sizeof((pv_ctx *)NULL)->err]; /* the first error                          */
} run;

void pvi_chunk_fail(pvi_chunk *c, const char *at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->why, sizeof c->why, fmt, ap);
    va_end(ap);
    c->bad = at;
    c->what = PVI_MALFORMED;
}

bool pvi_chunk_note(pvi_chunk *c, int64_t column)
{
    if (!c->list || !c->bad) return false;
    if (c->listed < c->list_room) c->list[c->listed++] = (pvi_problem) { c->bad, (int32_t)column, c->what };
    c->bad = NULL;
    return true;
}

const char *pvi_excerpt(const char *s, size_t len, char out[48])
{
    size_t n = len > 40 ? 40 : len;
    while (len > 40 && n > 36 && ((unsigned char)s[n] & 0xc0) == 0x80) n--; /* no character is cut */
    memcpy(out, s, n);
    memcpy(out + n, "...", 4);
    if (len <= 40) out[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if (out[i] == '\0') out[i] = '?';
    return out;
}

/* Letters of another encoding: bytes above 0x7f that are no UTF-8, among bytes that are text. */
static bool is_foreign(const char *text)
{
    bool found = false;
    for (const char *s = text; *s;) {
        const int n = pvi_character((const unsigned char *)s);
        const bool ascii = (unsigned char)*s < 0x80;
        if (n == 0 && ascii && *s != '\t') return false;
        found |= n == 0 && !ascii;
        s += n ? n : 1;
    }
    return found;
}

/* None for a message that was cut, perhaps within a character. */
static const char *encoding_hint(const char *why)
{
    if (strstr(why, "UTF-16")) return "; iconv -f utf-16 -t utf-8 converts that";
    if (strlen(why) + 1 >= sizeof((pvi_chunk *)NULL)->why || !is_foreign(why)) return "";
    return "; not UTF-8: iconv -f latin1 -t utf-8 converts Latin-1";
}

void pvi_chunk_stopped(pvi_chunk *c, const char *from, const char *at)
{
    const char *end = at < c->end ? memchr(at, '\n', (size_t)(c->end - at)) : NULL;
    pvi_chunk_longer(c, from, end ? end + 1 : c->end);
}

static pv_status too_long(const run *r, int64_t line)
{
    return pvi_fail(r->job->ctx, PV_E_FORMAT,
                    "%s:%lld:1: a line of more than data.max_line=%lld bytes; is a quote left open?",
                    pvi_source_path(r->job->src), (long long)line, (long long)r->job->cfg->max_line);
}

/* file:line:column of c->bad, counted in bytes. */
static pv_status report(const run *r, const pvi_chunk *c)
{
    const buffer *b = &r->buf[r->now];
    const char *start = b->raw + b->from, *at = c->longer ? c->longer : c->bad;
    int64_t line = r->lines + 1;
    for (const char *s = start; (s = memchr(s, '\n', (size_t)(at - s))) != NULL; line++) start = ++s;
    if (c->longer) return too_long(r, line);
    const char *why = pvi_told(r->job, c->why);
    return pvi_fail(r->job->ctx, PV_E_FORMAT, "%s:%lld:%lld: %s%s", pvi_source_path(r->job->src), (long long)line,
                    (long long)(c->bad - start) + 1, why, why == c->why ? encoding_hint(why) : "");
}

/* ---- buffers ---------------------------------------------------------------------------------- */
/* Room for `fill` bytes behind `to`, moving or enlarging the buffer. */
static pv_status make_room(run *r, buffer *b, size_t head, size_t fill)
{
    const size_t held = b->to - b->from;
    if (b->from >= head && b->to + fill <= b->cap) return PV_OK;
    const size_t cap = head + held + fill;
    char *owned = pvi_alloc(r->job->ctx, cap + 2 * PAD);
    if (!owned) return pvi_nomem(r->job->ctx);
    if (held) memcpy(owned + PAD + head, b->raw + b->from, held);
    pvi_free(r->job->ctx, b->owned);
    *b = (buffer) { owned, owned + PAD, cap, head, head + held };
    return PV_OK;
}

static void fill_task(void *arg, int64_t k, int thread)
{
    run *r = arg;
    buffer *b = &r->buf[1 - r->now];
    (void)thread;
    pvi_source_slice(r->job->src, b->raw + b->to, r->fill, k);
}

static pv_status finish_fill(run *r)
{
    buffer *b = &r->buf[1 - r->now];
    size_t got;
    pv_status s = pvi_source_filled(r->job->src, r->fill, &got, &r->ended);
    r->filling = false;
    r->damaged = s != PV_OK;
    b->to += got;
    memset(b->raw + b->to, 0, PAD);
    return s;
}

/* The unparsed rest of the current buffer goes in front of the freshly filled one, which becomes current. */
static pv_status turn_over(run *r)
{
    buffer *old = &r->buf[r->now], *next = &r->buf[1 - r->now];
    const size_t rest = old->to - old->from;
    if (r->held > (size_t)r->job->cfg->max_line) return too_long(r, r->lines + 1);
    pv_status s = make_room(r, next, rest, 0);
    if (s != PV_OK) return s;
    next->from -= rest;
    if (rest) memcpy(next->raw + next->from, old->raw + old->from, rest);
    old->from = old->to = 0;
    r->now = 1 - r->now;
    return PV_OK;
}

/* ---- chunks --------------------------------------------------------------------------------------- */
static pv_status segment_room(pv_ctx *ctx, pvi_segment *g, size_t rows, size_t entries, bool ids)
{
    if (rows > g->row_room) {
        pvi_free(ctx, g->end);
        pvi_free(ctx, g->y);
        pvi_free(ctx, g->person);
        g->row_room = 0;
        g->end = pvi_raw(ctx, rows * sizeof *g->end);
        g->y = pvi_raw(ctx, rows * sizeof *g->y);
        g->person = ids ? pvi_raw(ctx, rows * sizeof *g->person) : NULL;
        if (!g->end || !g->y || (ids && !g->person)) return pvi_nomem(ctx);
        g->row_room = rows;
    }
    if (entries > g->entry_room) {
        pvi_free(ctx, g->idx);
        pvi_free(ctx, g->val);
        g->entry_room = 0;
        g->idx = pvi_raw(ctx, entries * sizeof *g->idx);
        g->val = pvi_raw(ctx, entries * sizeof *g->val);
        if (!g->idx || !g->val) return pvi_nomem(ctx);
        g->entry_room = entries;
    }
    g->rows = g->max_index = 0;
    return PV_OK;
}

static pv_status add_chunk(run *r, const char *begin, const char *end)
{
    if (r->count == r->room) {
        const int64_t room = r->room ? 2 * r->room : 16;
        pvi_chunk *c = pvi_alloc(r->job->ctx, sizeof *c * (size_t)room);
        if (!c) return pvi_nomem(r->job->ctx);
        if (r->room) memcpy(c, r->chunk, sizeof *c * (size_t)r->room);
        pvi_free(r->job->ctx, r->chunk);
        r->chunk = c;
        r->room = room;
    }
    pvi_chunk *c = &r->chunk[r->count++];
    c->begin = begin;
    c->end = end;
    c->stop = begin;
    c->bad = c->longer = NULL;
    c->list = NULL;
    c->listed = c->spaced = 0;
    c->limit = (size_t)r->job->cfg->max_line + 1;
    c->last = false;
    c->lines = 0;
    const size_t size = (size_t)(end - begin);
    return segment_room(r->job->ctx, &c->seg, size / r->ops->row_bytes(r->st) + 2, size / r->ops->entry_bytes + 2,
                        r->job->id_column);
}

/* Cuts the current buffer behind line ends into chunks; what follows the last line end waits. */
static pv_status cut(run *r)
{
    buffer *b = &r->buf[r->now];
    r->count = 0;
    if (r->ended && b->to > b->from && b->raw[b->to - 1] != '\n') b->raw[b->to++] = '\n'; /* into the padding */
    const char *p = b->raw + b->from, *stop = b->raw + b->to;
    while (p < stop) {
        const char *q = (size_t)(stop - p) > r->wish ? memchr(p + r->wish - 1, '\n', (size_t)(stop - p) - r->wish + 1)
                                                     : memrchr(p, '\n', (size_t)(stop - p));
        if (!q) q = memrchr(p, '\n', (size_t)(stop - p));
        if (!q) break;
        pv_status s = add_chunk(r, p, q + 1);
        if (s != PV_OK) return s;
        p = q + 1;
    }
    if (r->count > 0) r->chunk[r->count - 1].last = r->ended && p == stop;
    return PV_OK;
}

static void task(void *arg, int64_t k, int thread)
{
    run *r = arg;
    if (k < r->slices) fill_task(arg, k, thread);
    else r->ops->parse(r->st, &r->chunk[k - r->slices]);
}

/* Bytes up to `stop` are done with; those up to `known` are of one record. */
static void advance(run *r, const char *stop, const char *known, int64_t lines)
{
    buffer *b = &r->buf[r->now];
    const size_t from = (size_t)(stop - b->raw);
    r->held = (size_t)(known - stop);
    r->wish = from == b->from ? 2 * r->wish : r->chunk_size;
    if (r->surveying) r->further -= (int64_t)(from - b->from);
    b->from = from;
    r->lines += lines;
}

/* ---- all errors --------------------------------------------------------------------------------------- */
static pv_status give_lists(run *r)
{
    size_t room = 0;
    for (int64_t i = 0; i < r->count; i++) {
        pvi_chunk *c = &r->chunk[i];
        const int64_t fields = 2 * (c->end - c->begin); /* at most: each has a byte, and its record one more */
        c->list_room = fields < r->most ? fields : r->most;
        room += (size_t)c->list_room;
    }
    if (room > r->list_room) {
        pvi_free(r->job->ctx, r->list);
        r->list_room = 0;
        r->list = pvi_raw(r->job->ctx, room * sizeof *r->list);
        if (!r->list) return pvi_nomem(r->job->ctx);
        r->list_room = room;
    }
    room = 0;
    for (int64_t i = 0; i < r->count; i++) {
        r->chunk[i].list = r->list + room;
        room += (size_t)r->chunk[i].list_room;
    }
    return PV_OK;
}

/* What one chunk noted; it begins in this line. */
static pv_status count_problems(run *r, const pvi_chunk *c, int64_t line)
{
    const char *from = c->begin, *start = r->buf[r->now].raw + r->buf[r->now].from;
    pv_status s = PV_OK;
    for (int64_t i = 0; i < c->listed && s == PV_OK && !r->enough; i++) {
        const pvi_problem *p = &c->list[i];
        for (const char *q = from; (q = memchr(q, '\n', (size_t)(p->at - q))) != NULL; line++) from = ++q;
        r->enough = p->at - start > r->further;
        if (r->enough) break;
        const char *name = p->column > 0 && r->ops->column ? r->ops->column(r->st, p->column) : NULL;
        s = pvi_problem_count(r->job->ctx, r->found, name, p->column, p->what, line);
        r->enough = r->found->total >= r->most;
    }
    return s;
}

/* Counts what the chunks noted up to the first early stop. */
static pv_status survey(run *r)
{
    const buffer *b = &r->buf[r->now];
    const char *stop = b->raw + b->from, *known = b->raw + b->to;
    int64_t lines = 0;
    pv_status s = PV_OK;
    for (int64_t i = 0; i < r->count && s == PV_OK && !r->enough; i++) {
        const pvi_chunk *c = &r->chunk[i];
        s = count_problems(r, c, r->lines + lines + 1);
        r->found->rows += c->seg.rows;
        r->found->spaced += c->spaced;
        if (s == PV_OK && c->longer) s = report(r, c);
        lines += c->lines;
        stop = c->stop;
        if (c->stop < c->end) {
            known = c->end;
            break;
        }
    }
    advance(r, stop, known, lines);
    r->enough |= r->further <= 0;
    return s;
}

/* The error in the chunk is the one to report; others are looked for unless they must not be told. */
static pv_status first_error(run *r, const pvi_chunk *c)
{
    const pv_status s = report(r, c);
    if (c->longer || r->job->cfg->messages == PVI_TELL_PLACE) return s;
    memcpy(r->told, r->job->ctx->err, sizeof r->told);
    r->surveying = true;
    return PV_OK;
}

/* The first error again, with how many there are; whatever ended the survey counts no more. */
static pv_status all_errors(run *r)
{
    char many[64] = "";
    const int64_t n = r->found->total;
    if (n > 1 && !r->damaged) {
        pvi_problems_tell(r->job->ctx, r->found, pvi_source_path(r->job->src));
        snprintf(many, sizeof many, "; the first of %lld %sproblems%s", (long long)n, n >= r->most ? "or more " : "",
                 n < r->most && r->further <= 0 ? " in 64 MiB" : "");
    }
    return pvi_fail(r->job->ctx, PV_E_FORMAT, "%s%s", r->told, many);
}

/* ---- rounds ------------------------------------------------------------------------------------------- */

/* Appends what the chunks hold up to the first early stop. */
static pv_status take(run *r)
{
    buffer *b = &r->buf[r->now];
    pvi_segment **seg = pvi_alloc(r->job->ctx, sizeof *seg * (size_t)(r->count + 1));
    int64_t n = 0, lines = 0;
    const char *stop = b->raw + b->from, *known = b->raw + b->to;
    pv_status s = PV_OK;
    if (!seg) return pvi_nomem(r->job->ctx);
    for (int64_t i = 0; i < r->count && s == PV_OK; i++) {
        pvi_chunk *c = &r->chunk[i];
        seg[n++] = &c->seg;
        lines += c->lines;
        stop = c->stop;
        if (c->bad || c->longer) s = first_error(r, c);
        if (r->surveying) break;
        if (c->stop < c->end) {
            known = c->end; /* the record goes on behind the chunk; how far is not known */
            break;
        }
    }
    const char *from = b->raw + b->from;
    const bool pieces = r->job->expect->piece != NULL;
    advance(r, stop, r->surveying ? stop : known, lines);
    if (r->surveying) r->wish = r->chunk_size, r->further = FURTHER;
    if (s == PV_OK && !r->surveying) s = pvi_build_append(r->job->out, seg, n, pieces ? 1.0 : r->fraction);
    if (s == PV_OK && !r->surveying && pieces) s = pvi_hand_over(r->job, from, (size_t)(stop - from));
    pvi_free(r->job->ctx, seg);
    return s;
}

/* Parses one round while the next is read. */
static pv_status round_trip(run *r)
{
    buffer *next = &r->buf[1 - r->now];
    pv_status s = cut(r);
    if (s == PV_OK && r->surveying) s = give_lists(r);
    if (s != PV_OK) return s;
    r->slices = 0;
    next->from = next->to = 0;
    const buffer *b = &r->buf[r->now];
    /* Where quoted line ends make most cuts wrong, what is there is parsed before more is read. */
    const bool fill = !r->ended && (b->to - b->from <= 2 * r->usual || r->wish > r->chunk_size);
    r->fraction = pvi_source_fraction(r->job->src);
    r->fill = r->wish > r->usual ? r->wish : r->usual;
    if (fill) {
        next->from = next->to = r->fill / 2; /* the rest of this round usually fits in front */
        if ((s = make_room(r, next, next->from, r->fill)) != PV_OK) return s;
        r->slices = pvi_source_slices(r->job->src, r->fill);
    }
    pvi_parallel(r->job->ctx, r->slices + r->count, task, r);
    r->filling = fill;
    if ((s = r->surveying ? survey(r) : take(r)) != PV_OK || r->enough) return s;
    if (fill) {
        if ((s = finish_fill(r)) == PV_OK) s = turn_over(r);
    }
    if (s == PV_OK &&
        !pvi_progress(r->job->ctx, "reading", pvi_fraction(r->job, pvi_source_fraction(r->job->src)), 1.0, -1.0))
        s = pvi_fail(r->job->ctx, PV_E_CANCELLED, PVI_STOPPED_READING, pvi_source_path(r->job->src));
    return s;
}

/* ---- the beginning ------------------------------------------------------------------------------------ */
static pv_status read_more(run *r)
{
    buffer *b = &r->buf[1 - r->now];
    b->from = b->to = 0;
    pv_status s = make_room(r, b, r->fill / 2, r->fill);
    if (s != PV_OK) return s;
    b->from = b->to = r->fill / 2;
    pvi_parallel(r->job->ctx, pvi_source_slices(r->job->src, r->fill), fill_task, r);
    if ((s = finish_fill(r)) != PV_OK) return s;
    return turn_over(r);
}

static void skip_mark(buffer *b) /* UTF-8 byte order mark */
{
    if (b->to - b->from >= 3 && memcmp(b->raw + b->from, "\xef\xbb\xbf", 3) == 0) b->from += 3;
}

/* Lets the reader take the lines before the rows; reads until it has enough. */
static pv_status start(run *r)
{
    pv_status s = read_more(r);
    if (s != PV_OK) return s;
    skip_mark(&r->buf[r->now]);
    for (;;) {
        buffer *b = &r->buf[r->now];
        if (r->ended && b->to > b->from && b->raw[b->to - 1] != '\n') b->raw[b->to++] = '\n';
        const char *begin = b->raw + b->from, *end = memrchr(begin, '\n', b->to - b->from);
        pvi_chunk c = { .begin = begin, .end = end ? end + 1 : begin, .stop = begin, .last = r->ended };
        c.limit = (size_t)r->job->cfg->max_line + 1;
        if (c.end > begin && (s = r->ops->start(r->st, r->job, &c)) != PV_OK) return s;
        if (c.bad || c.longer) return report(r, &c);
        const bool took = c.stop > begin; /* lines that hold no row are not kept */
        r->held = (size_t)((c.stop < c.end ? c.end : b->raw + b->to) - c.stop);
        b->from += (size_t)(c.stop - begin);
        r->lines += c.lines;
        if (r->job->begun) return PV_OK;
        if (r->ended) return pvi_fail(r->job->ctx, PV_E_FORMAT, "%s: no rows", pvi_source_path(r->job->src));
        if ((s = read_more(r)) != PV_OK) return s;
        r->fill = took ? r->usual : 2 * r->fill;
    }
}

/* What is wrong with a row may follow from damage of a compressed file, and the checksum that tells stands behind
 * the row: damage is the error then, however far was read ahead (libbz2 keeps back what it made in the call that
 * finds it).  Of a file that ends too early the first error stands, and others are not told: how many there are would
 * depend on how much was read at a time. */
static pv_status look_for_damage(run *r, pv_status found)
{
    enum { PIECE = 1 << 16 };
    pv_ctx *ctx = r->job->ctx;
    char told[sizeof ctx->err];
    size_t got;
    bool end = r->ended;
    if ((found != PV_E_FORMAT && found != PV_E_PARAM) || r->damaged || pvi_source_plain(r->job->src)) return found;
    char *piece = pvi_raw(ctx, PIECE);
    if (!piece) return found;
    memcpy(told, ctx->err, sizeof told);
    pv_status s = r->filling ? pvi_source_filled(r->job->src, r->fill, &got, &end) : PV_OK;
    while (s == PV_OK && !end) {
        pvi_source_slice(r->job->src, piece, PIECE, 0); /* the only one */
        s = pvi_source_filled(r->job->src, PIECE, &got, &end);
    }
    pvi_free(ctx, piece);
    r->damaged = s != PV_OK;
    if (pvi_source_damaged(r->job->src)) return s;
    memcpy(ctx->err, told, sizeof told); /* rows before an end that came too early are as they were written */
    return found;
}

static void close_run(run *r)
{
    pv_ctx *ctx = r->job->ctx;
    for (int64_t i = 0; i < r->room; i++) {
        pvi_segment *g = &r->chunk[i].seg;
        pvi_free(ctx, g->end);
        pvi_free(ctx, g->y);
        pvi_free(ctx, g->person);
        pvi_free(ctx, g->idx);
        pvi_free(ctx, g->val);
    }
    pvi_free(ctx, r->chunk);
    pvi_free(ctx, r->list);
    pvi_free(ctx, r->buf[0].owned);
    pvi_free(ctx, r->buf[1].owned);
    pvi_problems_free(ctx, &r->own);
}

pv_status pvi_text_run(struct pv_load *job, const pvi_text_ops *ops, void *st)
{
    run r = { .job = job, .ops = ops, .st = st, .most = MOST, .found = &r.own };
    const bool checking = job->expect->problems != NULL;
    if (checking) {
        r.surveying = true;
        r.found = job->expect->problems;
        r.most = r.further = INT64_MAX;
    }
    r.chunk_size = r.wish = (size_t)job->cfg->chunk;
    r.usual = r.fill = r.chunk_size * PER_THREAD * (size_t)pvi_threads(job->ctx);
    pv_status s = start(&r);
    while (s == PV_OK && !r.enough && (!r.ended || r.buf[r.now].to > r.buf[r.now].from)) s = round_trip(&r);
    const bool cut_short = s == PV_E_CANCELLED || s == PV_E_NOMEM || (r.damaged && pvi_source_damaged(job->src));
    const bool errors = r.surveying && !checking && !cut_short;
    s = look_for_damage(&r, errors ? PV_E_FORMAT : s);
    if (errors && !pvi_source_damaged(job->src)) s = all_errors(&r);
    close_run(&r);
    return s;
}
