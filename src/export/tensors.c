/* tensors.c - NPZ, NPY and safetensors: the weights as named arrays of doubles, exactly as trained.
 *
 * NPZ          a ZIP file whose members are NPY files, stored without compression, and metadata.json
 *   member     "PK\3\4" | version 20 | flags 0 | method 0 | time, date | CRC-32 | size | size | name length | 0 |
 *              name | bytes
 *   directory  "PK\1\2" ... per member, then "PK\5\6" with their number, size and place.  Dates are the earliest ZIP
 *              knows, so equal models give equal files.
 * NPY          one array: all weights, nothing else
 * safetensors  8 bytes: length of the header | JSON: "__metadata__", then name: dtype, shape, data_offsets | values
 * All numbers are little-endian.  Members of 4 GiB or more would need ZIP64; the caller refuses them. */
#include "export/export.h"

enum { MEMBERS = 2 * PVI_MAX_LAYERS + 1, DOS_DATE = 0x21 }; /* 1 January 1980 */

static void put(pvi_str *b, uint64_t x, int bytes)
{
    char raw[8];
    for (int i = 0; i < bytes; i++) raw[i] = (char)(x >> (8 * i));
    pvi_str_add(b, raw, (size_t)bytes);
}

static void put_values(pvi_str *b, const pvi_tensor *t)
{
    for (int64_t i = 0; i < t->size; i++) {
        uint64_t bits;
        memcpy(&bits, &t->v[i], 8);
        put(b, bits, 8);
    }
}

static void put_metadata(pvi_jw *w, const pvi_export *e, const char *key)
{
    pvi_jw_open(w, key, '{');
    pvi_jw_str(w, "format", "privet");
    for (int64_t i = 0; i < e->pairs; i++) pvi_jw_str(w, e->key[i], e->text[i]);
    pvi_jw_close(w, '}');
}

/* ---- NPZ ---------------------------------------------------------------------------------------------------- */

static void put_npy(pvi_str *b, const pvi_tensor *t)
{
    char text[256];
    size_t n = (size_t)snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
    for (int k = 0; k < t->dims; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%lld,%s", (long long)t->shape[k],
                              k + 1 < t->dims ? " " : "");
    n += (size_t)snprintf(text + n, sizeof text - n, "), }");
    const size_t len = (10 + n + 1 + 63) / 64 * 64 - 10; /* values start at a multiple of 64 */
    pvi_str_add(b, "\x93NUMPY\1\0", 8);
    put(b, len, 2);
    pvi_str_add(b, text, n);
    for (; n + 1 < len; n++) pvi_str_add(b, " ", 1);
    pvi_str_add(b, "\n", 1);
    put_values(b, t);
}

/* The reflected polynomial 0xEDB88320, four bits at a time. */
static uint32_t crc32(const char *s, size_t n)
{
    uint32_t table[16], c = 0xffffffffu;
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int k = 0; k < 4; k++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
    }
    for (size_t i = 0; i < n; i++) {
        c ^= (uint8_t)s[i];
        c = c >> 4 ^ table[c & 15];
        c = c >> 4 ^ table[c & 15];
    }
    return ~c;
}

typedef struct member {
    char name[64];
    uint64_t at, size, crc;
} member;

/* What both headers of a member say. */
static void put_header(pvi_str *b, const member *m)
{
    put(b, 20, 2); /* version needed */
    put(b, 0, 2);  /* flags */
    put(b, 0, 2);  /* stored */
    put(b, 0, 2);
    put(b, DOS_DATE, 2);
    put(b, m->crc, 4);
    put(b, m->size, 4);
    put(b, m->size, 4);
    put(b, strlen(m->name), 2);
    put(b, 0, 2); /* no extra field */
}

static void put_member(pvi_str *out, member *m, const pvi_str *bytes)
{
    m->at = out->len;
    m->size = bytes->len;
    m->crc = crc32(bytes->s, bytes->len);
    pvi_str_add(out, "PK\3\4", 4);
    put_header(out, m);
    pvi_str_puts(out, m->name);
    pvi_str_add(out, bytes->s, bytes->len);
}

static void put_directory(pvi_str *out, const member *m, int64_t n)
{
    const uint64_t at = out->len;
    for (int64_t i = 0; i < n; i++) {
        pvi_str_add(out, "PK\1\2", 4);
        put(out, 20, 2); /* made by */
        put_header(out, &m[i]);
        put(out, 0, 2); /* no comment */
        put(out, 0, 2); /* first disk */
        put(out, 0, 2);
        put(out, 0, 4);
        put(out, m[i].at, 4);
        pvi_str_puts(out, m[i].name);
    }
    const uint64_t size = out->len - at;
    pvi_str_add(out, "PK\5\6", 4);
    put(out, 0, 4); /* disks */
    put(out, (uint64_t)n, 2);
    put(out, (uint64_t)n, 2);
    put(out, size, 4);
    put(out, at, 4);
    put(out, 0, 2);
}

/* All weights in the order of the model file, as optimizer.start takes them.  No room for metadata. */
void pvi_npy_write(const pvi_export *e, pvi_str *out)
{
    double *w = pv_arena_f64(e->arena, e->file->d);
    const pvi_tensor all = { .dims = 1, .shape = { e->file->d }, .size = e->file->d, .v = w };
    if (w) memcpy(w, e->file->w, (size_t)e->file->d * sizeof *w);
    if (w) put_npy(out, &all);
    else out->failed = true;
}

void pvi_npz_write(const pvi_export *e, pvi_str *out)
{
    member list[MEMBERS];
    int64_t n = 0;
    for (; n <= e->tensors; n++) {
        pvi_str b = { .ctx = out->ctx };
        pvi_jw w = { .out = &b, .indent = 2 };
        const bool last = n == e->tensors;
        if (last) put_metadata(&w, e, NULL);
        else put_npy(&b, &e->tensor[n]);
        snprintf(list[n].name, sizeof list[n].name, "%s%s", last ? "metadata.json" : e->tensor[n].name,
                 last ? "" : ".npy");
        if (b.failed) out->failed = true;
        else put_member(out, &list[n], &b);
        pvi_str_free(&b);
        if (out->failed) return;
    }
    put_directory(out, list, n);
}

/* ---- safetensors ----------------------------------------------------------------------------------------------- */

void pvi_safetensors_write(const pvi_export *e, pvi_str *out)
{
    pvi_str head = { .ctx = out->ctx };
    pvi_jw w = { .out = &head };
    int64_t at = 0;
    pvi_jw_open(&w, NULL, '{');
    put_metadata(&w, e, "__metadata__");
    for (int64_t i = 0; i < e->tensors; i++) {
        const pvi_tensor *t = &e->tensor[i];
        pvi_jw_open(&w, t->name, '{');
        pvi_jw_str(&w, "dtype", "F64");
        pvi_jw_open(&w, "shape", '[');
        for (int k = 0; k < t->dims; k++) pvi_jw_i64(&w, NULL, t->shape[k]);
        pvi_jw_close(&w, ']');
        pvi_jw_open(&w, "data_offsets", '[');
        pvi_jw_i64(&w, NULL, at);
        pvi_jw_i64(&w, NULL, at += 8 * t->size);
        pvi_jw_close(&w, ']');
        pvi_jw_close(&w, '}');
    }
    pvi_jw_close(&w, '}');
    while (!head.failed && head.len % 8) pvi_str_puts(&head, " ");
    put(out, head.len, 8);
    if (head.failed) out->failed = true;
    else pvi_str_add(out, head.s, head.len);
    for (int64_t i = 0; i < e->tensors; i++) put_values(out, &e->tensor[i]);
    pvi_str_free(&head);
}
