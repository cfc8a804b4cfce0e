/* npy.c - the header of NumPy's NPY format, versions 1 to 3.
 *
 *   "\x93NUMPY" | major, minor | length of the text: 2 bytes (version 1), 4 bytes (2 and 3), little-endian | text |
 *   values
 *   text: {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 784), }   keys in any order, blanks to fill up
 *
 * Every size is checked before anything is allocated from it. */
#include "npy.h"

enum { TEXT = 8192 };

typedef struct scan {
    pv_ctx *ctx;
    const char *path, *at;
    pvi_npy *h;
    bool descr, order, shape;
} scan;

static pv_status bad(const scan *s, const char *what)
{
    return pvi_fail(s->ctx, PV_E_FORMAT, "%s: NPY header: %s", s->path, what);
}

static void blanks(scan *s)
{
    s->at += strspn(s->at, " \t\n");
}

static bool take(scan *s, const char *word)
{
    const size_t n = strlen(word);
    blanks(s);
    if (strncmp(s->at, word, n) != 0) return false;
    s->at += n;
    return true;
}

/* 'text' or "text" into out. */
static bool take_string(scan *s, char *out, size_t size)
{
    blanks(s);
    const char quote = *s->at;
    if (quote != '\'' && quote != '"') return false;
    const size_t n = strcspn(s->at + 1, "'\"\\");
    if (s->at[1 + n] != quote || n >= size) return false;
    for (size_t i = 1; i <= n; i++)
        if (s->at[i] < 0x20 || s->at[i] > 0x7e) return false; /* it may end up in a message */
    memcpy(out, s->at + 1, n);
    out[n] = '\0';
    s->at += n + 2;
    return true;
}

static pv_status take_descr(scan *s)
{
    static const char kinds[] = "fuib";
    char d[16];
    blanks(s);
    if (*s->at == '[') return bad(s, "a table with named columns: save one plain array instead");
    if (!take_string(s, d, sizeof d) || strlen(d) < 3) return bad(s, "'descr' cannot be read");
    const int size = d[3] == '\0' && d[2] >= '1' && d[2] <= '8' ? d[2] - '0' : 0;
    const bool known = strchr(kinds, d[1]) && (size == 1 || size == 2 || size == 4 || size == 8) &&
                       !(d[1] == 'f' && size < 4) && !(d[1] == 'b' && size > 1);
    if (!known || (d[0] == '>' && size > 1) || !strchr("<>|=", d[0]))
        return pvi_fail(s->ctx, PV_E_FORMAT, "%s: values of type %s; save a.astype('<f4') or a.astype('u1')", s->path,
                        d);
    s->h->kind = d[1];
    s->h->size = size;
    s->descr = true;
    return PV_OK;
}

static pv_status take_order(scan *s)
{
    if (take(s, "True"))
        return pvi_fail(s->ctx, PV_E_FORMAT, "%s: Fortran order; save numpy.ascontiguousarray(a)", s->path);
    if (!take(s, "False")) return bad(s, "'fortran_order' is neither True nor False");
    s->order = true;
    return PV_OK;
}

static pv_status take_shape(scan *s)
{
    if (!take(s, "(")) return bad(s, "'shape' is not a tuple");
    for (s->h->dims = 0; !take(s, ")"); s->h->dims++) {
        blanks(s);
        const size_t n = strspn(s->at, "0123456789");
        if (n == 0 || n > 18) return bad(s, "a size in 'shape' is not a number");
        if (s->h->dims == PVI_NPY_DIMS)
            return pvi_fail(s->ctx, PV_E_FORMAT, "%s: more than four dimensions; save a.reshape(len(a), -1)",
                            s->path);
        int64_t *size = &s->h->shape[s->h->dims];
        *size = 0;
        for (size_t i = 0; i < n; i++) *size = 10 * *size + (s->at[i] - '0');
        s->at += n;
        if (!take(s, ",") && (blanks(s), *s->at != ')')) return bad(s, "'shape' is not a tuple");
    }
    s->shape = true;
    return PV_OK;
}

static pv_status take_pair(scan *s)
{
    char key[32];
    if (!take_string(s, key, sizeof key) || !take(s, ":")) return bad(s, "not a dictionary");
    if (strcmp(key, "descr") == 0 && !s->descr) return take_descr(s);
    if (strcmp(key, "fortran_order") == 0 && !s->order) return take_order(s);
    if (strcmp(key, "shape") == 0 && !s->shape) return take_shape(s);
    return pvi_fail(s->ctx, PV_E_FORMAT, "%s: NPY header: key '%s' is unknown or there twice", s->path, key);
}

static pv_status take_all(scan *s)
{
    if (!take(s, "{")) return bad(s, "not a dictionary");
    while (!take(s, "}")) {
        const pv_status st = take_pair(s);
        if (st != PV_OK) return st;
        if (!take(s, ",") && (blanks(s), *s->at != '}')) return bad(s, "not a dictionary");
    }
    blanks(s);
    if (*s->at) return bad(s, "something follows the dictionary");
    return s->descr && s->order && s->shape ? PV_OK : bad(s, "'descr', 'fortran_order' and 'shape' are needed");
}

pv_status pvi_npy_header(pv_ctx *ctx, pvi_source *src, pvi_npy *out)
{
    uint8_t head[12];
    char text[TEXT + 1];
    *out = (pvi_npy) { 0 };
    scan s = { .ctx = ctx, .path = pvi_source_path(src), .at = text, .h = out };
    pv_status st = pvi_read_exactly(ctx, src, head, 10, "header");
    if (st != PV_OK) return st;
    if (memcmp(head, "\x93NUMPY", 6) != 0) return pvi_fail(ctx, PV_E_FORMAT, "%s: not an NPY file", s.path);
    if (head[6] < 1 || head[6] > 3 || head[7] != 0)
        return pvi_fail(ctx, PV_E_FORMAT, "%s: NPY version %d.%d; 1.0, 2.0 and 3.0 can be read", s.path, head[6],
                        head[7]);
    uint32_t len = (uint32_t)head[8] | (uint32_t)head[9] << 8;
    if (head[6] > 1) {
        if ((st = pvi_read_exactly(ctx, src, head + 10, 2, "header")) != PV_OK) return st;
        len |= (uint32_t)head[10] << 16 | (uint32_t)head[11] << 24;
    }
    if (len > TEXT) return pvi_fail(ctx, PV_E_FORMAT, "%s: an NPY header of %u bytes", s.path, len);
    if ((st = pvi_read_exactly(ctx, src, text, len, "header")) != PV_OK) return st;
    text[len] = '\0';
    if (strlen(text) != len) return bad(&s, "a zero byte in the text");
    return take_all(&s);
}

double pvi_npy_value(const pvi_npy *h, const uint8_t *at)
{
    uint64_t bits = 0;
    for (int i = 0; i < h->size; i++) bits |= (uint64_t)at[i] << (8 * i);
    if (h->kind == 'f' && h->size == 8) {
        double v;
        memcpy(&v, &bits, 8);
        return v;
    }
    if (h->kind == 'f') {
        const uint32_t low = (uint32_t)bits;
        float v;
        memcpy(&v, &low, 4);
        return (double)v;
    }
    if (h->kind == 'i') { /* the sign bit counts -2^(8 size - 1) */
        const uint64_t sign = (uint64_t)1 << (8 * h->size - 1);
        return bits & sign ? -(double)((~bits & (sign - 1)) + 1) : (double)bits;
    }
    return (double)bits;
}
