/* fuzz_arrow.c - any numbers as an Arrow stream: sizes, offsets, bitmaps, texts and indices as the bytes say, in
 * buffers exactly as long as the sizes demand: refused with one line, or rows inside the ball; the same twice;
 * everything handed out is given back.  Byte 0: settings; byte 1: columns and batches; then whatever is asked for,
 * again from the start. */
#include <errno.h>

#include "data/data.h"
#include "fuzz_rows.h"

static const char *const schemas[] = {
    "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": -100, \"max\": 100, \"missing\": \"middle\", "
    "\"outside\": \"clamp\"}, {\"name\": \"b\", \"type\": \"category\", \"values\": [\"x\", \"y\", \"1\", \"true\", "
    "\"1970-01-02\"], \"outside\": \"missing\"}, {\"name\": \"y\", \"type\": \"label\", \"values\": [[\"0\", "
    "\"false\"], [\"1\", \"true\", \"x\"]]}]}",
    "{\"missing\": [\"\", \"7\"], \"columns\": [{\"name\": \"y\", \"type\": \"label\", \"min\": -200, \"max\": 300, "
    "\"outside\": \"clamp\"}, {\"name\": \"a\", \"type\": \"date\", \"min\": \"1960-01-01\", \"max\": "
    "\"1990-01-01\", "
    "\"missing\": \"zero\", \"outside\": \"missing\"}, {\"name\": \"b\", \"type\": \"ignore\"}]}",
};
static const char *const names[] = { "a", "b", "y", "z" };
static const char *const formats[] = {
    "c", "C", "s",  "S",   "i",   "I",    "l",       "L",      "e", "f", "g",  "b",
    "u", "U", "vu", "tdD", "tdm", "tss:", "tsn:UTC", "d:10,2", "n", "z", "+l", ""
};
enum { FORMATS = sizeof formats / sizeof *formats, BUFFERS = 4 };

typedef struct feed {
    const uint8_t *data;
    size_t size, at;
    int columns, batches, odd; /* odd: how often sizes are not what they should be */
    int kind[4], words[4];     /* formats; -1: no dictionary */
    int64_t live;
    char error[16];
} feed;

static int take(feed *f)
{
    return f->data[f->at++ % f->size];
}

static bool oddly(feed *f)
{
    return f->odd && take(f) % 16 < f->odd;
}

/* ---- arrays ---------------------------------------------------------------------------------------------------- */
typedef struct owned {
    feed *f;
    void *buffer[BUFFERS];
    struct ArrowArray child[4], *children[4], dictionary;
} owned;

static void release_array(struct ArrowArray *a)
{
    owned *o = a->private_data;
    o->f->live--;
    for (int i = 0; i < 4; i++)
        if (o->child[i].release) o->child[i].release(&o->child[i]);
    if (o->dictionary.release) o->dictionary.release(&o->dictionary);
    for (int i = 0; i < BUFFERS; i++) free(o->buffer[i]);
    free((void *)a->buffers);
    free(o);
    a->release = NULL;
}

static owned *begin(feed *f, struct ArrowArray *a)
{
    owned *o = calloc(1, sizeof *o);
    o->f = f;
    *a = (struct ArrowArray) { .buffers = calloc(BUFFERS, sizeof *a->buffers), .private_data = o };
    a->release = release_array;
    f->live++;
    return o;
}

static void *buffer(struct ArrowArray *a, int k, size_t size)
{
    owned *o = a->private_data;
    uint8_t *p = o->buffer[k] = malloc(size ? size : 1);
    for (size_t i = 0; i < size; i++) p[i] = (uint8_t)take(o->f);
    a->buffers[k] = p;
    return p;
}

/* Offsets that mostly ascend; the last one is the size of the text, which is there. */
static void text_buffers(feed *f, struct ArrowArray *a, bool wide)
{
    const int64_t n = a->length + a->offset;
    const bool lie = oddly(f);
    int64_t at = 0;
    char *p = buffer(a, 1, (size_t)(n + 1) * (wide ? 8 : 4));
    for (int64_t i = 0; i <= n; i++) {
        const int64_t v = lie && i < n ? (int8_t)take(f) : at;
        const int32_t narrow = (int32_t)v;
        memcpy(p + i * (wide ? 8 : 4), wide ? (const void *)&v : (const void *)&narrow, wide ? 8 : 4);
        if (i < n) at += take(f) % 4;
    }
    char *s = buffer(a, 2, (size_t)at);
    for (int64_t i = 0; i < at; i++) s[i] = "xy017t-."[(uint8_t)s[i] % 8];
    a->n_buffers = 3;
}

static void view_buffers(feed *f, struct ArrowArray *a)
{
    const int64_t n = a->length + a->offset, size = take(f);
    int32_t *p = buffer(a, 1, (size_t)n * 16);
    const bool lie = oddly(f);
    for (int64_t i = 0; i < n; i++) {
        p[4 * i] = lie ? (int8_t)take(f) : take(f) % 20;
        if (p[4 * i] > 12) p[4 * i + 2] = lie ? (int8_t)take(f) : 0, p[4 * i + 3] = take(f) % 64;
    }
    buffer(a, 2, (size_t)size);
    *(int64_t *)buffer(a, 3, 8) = size;
    a->n_buffers = 4;
}

static size_t value_size(const char *format)
{
    switch (format[0]) {
    case 'c':
    case 'C':
    case 'b': return 1;
    case 's':
    case 'S':
    case 'e': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'd': return 16;
    case 't': return strcmp(format, "tdD") == 0 ? 4 : 8;
    default: return 8;
    }
}

static void make_array(feed *f, int kind, int words, int64_t n, struct ArrowArray *a)
{
    owned *o = begin(f, a);
    const char *format = formats[kind];
    a->length = oddly(f) ? take(f) % 16 : n;
    a->offset = take(f) % 10;
    a->n_buffers = 2;
    const size_t total = (size_t)(a->length + a->offset);
    if (take(f) & 1) buffer(a, 0, total / 8 + (total % 8 != 0));
    a->null_count = a->buffers[0] ? -1 : oddly(f) ? take(f) % 3 : 0;
    if (strcmp(format, "n") == 0) a->n_buffers = 0;
    else if (strcmp(format, "u") == 0 || strcmp(format, "U") == 0) text_buffers(f, a, format[0] == 'U');
    else if (strcmp(format, "vu") == 0) view_buffers(f, a);
    else if (strcmp(format, "b") == 0) buffer(a, 1, total / 8 + (total % 8 != 0));
    else buffer(a, 1, total * value_size(format));
    if (oddly(f)) a->n_buffers = take(f) % 4;
    if (a->n_buffers > 3) a->n_buffers = 3; /* a fourth is that of views only */
    if (strcmp(format, "vu") == 0 && a->n_buffers == 3) a->n_buffers = 4;
    if (oddly(f)) a->buffers[1] = NULL;
    if (oddly(f)) a->offset = -1;
    if (words >= 0) {
        make_array(f, words, -1, take(f) % 6, &o->dictionary);
        a->dictionary = &o->dictionary;
    }
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *a)
{
    feed *f = s->private_data;
    *a = (struct ArrowArray) { 0 };
    if (f->batches-- <= 0) return 0;
    if (oddly(f) && take(f) % 4 == 0) return EIO;
    const int64_t n = take(f) % 90, skip = take(f) % 3;
    owned *o = begin(f, a);
    a->length = oddly(f) ? take(f) % 16 : n;
    a->offset = skip;
    a->n_buffers = 1;
    a->n_children = oddly(f) ? take(f) % 5 : f->columns;
    for (int i = 0; i < f->columns; i++) {
        make_array(f, f->kind[i], f->words[i], n + skip, &o->child[i]);
        o->children[i] = &o->child[i];
    }
    a->children = o->children;
    if (take(f) % 4 == 0) {
        const size_t total = (size_t)(a->length + a->offset);
        buffer(a, 0, total / 8 + (total % 8 != 0));
        a->null_count = -1;
    }
    return 0;
}

/* ---- the stream ------------------------------------------------------------------------------------------------ */
static void release_schema(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) free(s->children[i]->dictionary), free(s->children[i]);
    free(s->children);
    s->release = NULL;
    ((feed *)s->private_data)->live--;
}

static void release_nothing(struct ArrowSchema *s)
{
    s->release = NULL;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *s)
{
    feed *f = stream->private_data;
    *s = (struct ArrowSchema) { .format = "+s", .n_children = f->columns, .private_data = f };
    s->release = release_schema;
    s->children = calloc((size_t)f->columns + 1, sizeof *s->children);
    f->live++;
    for (int i = 0; i < f->columns; i++) {
        struct ArrowSchema *c = s->children[i] = calloc(1, sizeof *c);
        *c = (struct ArrowSchema) { .format = formats[f->kind[i]], .name = names[i], .release = release_nothing };
        if (f->words[i] < 0) continue;
        c->dictionary = calloc(1, sizeof *c);
        *c->dictionary = (struct ArrowSchema) { .format = formats[f->words[i]], .release = release_nothing };
    }
    return 0;
}

static const char *last_error(struct ArrowArrayStream *s)
{
    return ((feed *)s->private_data)->error;
}

static void release_stream(struct ArrowArrayStream *s)
{
    ((feed *)s->private_data)->live--;
    s->release = NULL;
}

static pv_status load(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *e, const uint8_t *data, size_t size,
                      pvi_matrix **m)
{
    feed f = { .data = data, .size = size, .at = 2, .live = 1 };
    f.columns = data[1] % 5, f.batches = data[1] / 5 % 4, f.odd = data[1] & 128 ? 0 : take(&f) % 4;
    for (int i = 0; i < 4; i++) {
        f.kind[i] = take(&f) % FORMATS;
        f.words[i] = take(&f) % 4 ? -1 : take(&f) % FORMATS;
    }
    for (size_t i = 0; i + 1 < sizeof f.error; i++) f.error[i] = (char)take(&f);
    struct ArrowArrayStream s = { get_schema, get_next, last_error, release_stream, &f };
    pv_data *d;
    FUZZ_REQUIRE(pv_data_arrow(ctx, &s, &d) == PV_OK);
    const pv_status st = pvi_data_load(ctx, cfg, e, d, m);
    pv_data_free(d);
    FUZZ_REQUIRE(f.live == 0);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pvi_data_cfg cfg;
    if (size < 4) return 0;
    pv_ctx *ctx = fuzz_context(&cfg);
    const int which = data[0] & 3;
    const pvi_expect e = { .classes = which == 2 ? 0 : -1, .labels_optional = data[0] & 4, .y_lo = -1, .y_hi = 2 };
    if (which < 2) cfg.schema = schemas[which];
    else if (which == 3) cfg.labels = "0,1,x";
    cfg.outside = data[0] >> 3 & 3 ? (data[0] >> 3 & 3) - 1 : 0;
    cfg.bias = data[0] & 32 ? 0.0 : 1.0;
    cfg.center = data[0] & 64 ? 0.5 : 0.0;
    cfg.layout = data[0] & 128 ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_AUTO;
    pvi_matrix *one, *two;
    char why[sizeof ctx->err];
    const pv_status s = load(ctx, &cfg, &e, data, size, &one);
    if (s == PV_OK) fuzz_check_rows(one);
    else fuzz_refused(ctx, s);
    memcpy(why, ctx->err, sizeof why);
    FUZZ_REQUIRE(load(ctx, &cfg, &e, data, size, &two) == s);
    FUZZ_REQUIRE(s == PV_OK ? fuzz_same(one, two) : strcmp(why, ctx->err) == 0);
    pvi_matrix_free(one), pvi_matrix_free(two);
    pv_ctx_free(ctx);
    return 0;
}
