/* arrow_columns.c - the Arrow C data interface: format texts to kinds of cells, arrays to cells.
 *
 * An array says how many values and buffers it has, and nothing says how long a buffer is: what can be checked is
 * that the numbers agree with each other and with the type, and that offsets of text stay below the last one.
 *
 * Reference  arrow.apache.org/docs/format/CDataInterface.html */
#include "arrow_columns.h"

enum { MOST_BITS = 59 }; /* lengths and offsets are below 2^59, so that no sum or size of theirs overflows */

/* ---- types ----------------------------------------------------------------------------------------------------- */
static const struct {
    const char *format;
    int kind;
} plain[] = { { "n", PVI_CELL_NULL },  { "b", PVI_CELL_BIT },   { "c", PV_INT8 },        { "C", PV_UINT8 },
              { "s", PV_INT16 },       { "S", PV_UINT16 },      { "i", PV_INT32 },       { "I", PV_UINT32 },
              { "l", PV_INT64 },       { "L", PV_UINT64 },      { "e", PVI_CELL_HALF },  { "f", PV_FLOAT32 },
              { "g", PV_FLOAT64 },     { "u", PVI_CELL_TEXT },  { "vu", PVI_CELL_VIEW }, { "U", PVI_CELL_LONG_TEXT },
              { "tdD", PVI_CELL_DAY }, { "tdm", PVI_CELL_DATE } };
static const struct {
    const char *prefix, *name;
} others[] = { { "z", "binary data" },
               { "Z", "binary data" },
               { "vz", "binary data" },
               { "w:", "binary data" },
               { "+l", "a list" },
               { "+L", "a list" },
               { "+vl", "a list" },
               { "+vL", "a list" },
               { "+w:", "a list" },
               { "+s", "a struct" },
               { "+m", "a map" },
               { "+u", "a union" },
               { "+r", "run-end encoding" },
               { "tt", "a time of day" },
               { "tD", "a duration" },
               { "ti", "an interval" },
               { "d:", "a decimal that is not of 128 bits, or has no digits" } };

/* tsu:ZONE */
static bool time_format(const char *f, pvi_arrow_type *out)
{
    static const char units[] = "smun";
    static const int64_t per_day[] = { 86400, 86400000, 86400000000, 86400000000000 };
    if (strncmp(f, "ts", 2) != 0 || !f[2] || !strchr(units, f[2]) || f[3] != ':') return false;
    out->kind = PVI_CELL_TIME;
    out->per_day = per_day[strchr(units, f[2]) - units];
    out->utc = f[4] != '\0';
    return true;
}

/* d:PRECISION,SCALE or with ,128 */
static bool decimal_format(const char *f, pvi_arrow_type *out)
{
    int digits = 0, scale = -1, bits = 128, n = 0;
    if (sscanf(f, "d:%d,%d%n", &digits, &scale, &n) != 2 || digits < 1 || digits > 38 || scale < 0 || scale > 38)
        return false;
    if (f[n] == ',' && sscanf(f + n + 1, "%d", &bits) != 1) return false;
    if (bits != 128 || (f[n] != '\0' && f[n] != ',')) return false;
    out->kind = PVI_CELL_DECIMAL;
    out->scale = scale;
    return true;
}

const char *pvi_arrow_format(const char *f, pvi_arrow_type *out)
{
    *out = (pvi_arrow_type) { .per_day = 86400000 }; /* of date64 */
    if (!f) return "a column without a type";
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(f, plain[i].format) == 0) return out->kind = plain[i].kind, NULL;
    if (time_format(f, out) || decimal_format(f, out)) return NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(f, others[i].prefix, strlen(others[i].prefix)) == 0) return others[i].name;
    return "a type that is not known";
}

/* ---- arrays ---------------------------------------------------------------------------------------------------- */
static size_t value_size(int kind)
{
    switch (kind) {
    case PVI_CELL_HALF: return 2;
    case PVI_CELL_DAY:
    case PVI_CELL_TEXT: return 4;
    case PVI_CELL_DATE:
    case PVI_CELL_TIME:
    case PVI_CELL_LONG_TEXT: return 8;
    case PVI_CELL_VIEW:
    case PVI_CELL_DECIMAL: return 16;
    case PVI_CELL_BIT: return 1;
    default: return (size_t)pvi_type_size((pv_type)kind);
    }
}

static bool sizes_can_be(const struct ArrowArray *a)
{
    const int64_t most = (int64_t)1 << MOST_BITS;
    return a->length >= 0 && a->offset >= 0 && a->length < most && a->offset < most && a->n_buffers >= 0 &&
           a->n_children >= 0 && a->null_count >= -1;
}

/* Null counts that are not known are found in the bitmap, and one of zero needs none. */
static const char *bind_bits(const struct ArrowArray *a, int64_t first, pvi_bitmap *out)
{
    *out = (pvi_bitmap) { NULL, 0 };
    if (a->null_count == 0) return NULL;
    if (a->buffers[0]) *out = (pvi_bitmap) { a->buffers[0], first };
    return a->buffers[0] || a->null_count == -1 ? NULL : "it has nulls, and no bitmap says where";
}

static const char *bind_text(const struct ArrowArray *a, pvi_cells *out)
{
    const int64_t last = a->offset + a->length;
    const void *offsets = a->buffers[1];
    out->end = out->kind == PVI_CELL_TEXT ? ((const int32_t *)offsets)[last] : ((const int64_t *)offsets)[last];
    out->bytes = a->buffers[2];
    if (out->end < 0) return "its text ends before it begins";
    return out->bytes || out->end == 0 ? NULL : "it has no text";
}

static const char *bind_views(const struct ArrowArray *a, pvi_cells *out)
{
    out->views = a->n_buffers - 3;
    out->view = (const void *const *)a->buffers + 2;
    out->view_size = a->buffers[a->n_buffers - 1];
    return out->views == 0 || out->view_size ? NULL : "the sizes of its texts are not there";
}

const char *pvi_arrow_bind(const pvi_arrow_type *t, const struct ArrowArray *a, int64_t skip, int64_t n,
                           pvi_cells *out)
{
    const size_t size = value_size(t->kind), align = size > 8 ? 8 : size;
    const bool text = t->kind == PVI_CELL_TEXT || t->kind == PVI_CELL_LONG_TEXT;
    *out = (pvi_cells) {
        .kind = t->kind, .stride = 1, .count = n, .per_day = t->per_day, .utc = t->utc, .scale = t->scale
    };
    if (!a || !a->release || !sizes_can_be(a)) return "its sizes cannot be";
    if (a->length < skip || a->length - skip < n) return "it is shorter than the batch";
    if ((a->dictionary != NULL) != t->dictionary) return "its dictionary does not agree with the schema";
    if (t->kind == PVI_CELL_NULL) return NULL;
    const bool enough = text ? a->n_buffers == 3 : t->kind == PVI_CELL_VIEW ? a->n_buffers >= 3 : a->n_buffers == 2;
    if (!enough || !a->buffers) return "its number of buffers does not agree with the schema";
    if (n == 0) return NULL;
    out->first = a->offset + skip;
    const char *bad = bind_bits(a, out->first, &out->valid);
    if (bad) return bad;
    if (!a->buffers[1]) return "a buffer is missing";
    if ((uintptr_t)a->buffers[1] % align) return "a buffer is not aligned";
    out->at = t->kind == PVI_CELL_BIT ? a->buffers[1] : (const char *)a->buffers[1] + (size_t)out->first * size;
    return text ? bind_text(a, out) : t->kind == PVI_CELL_VIEW ? bind_views(a, out) : NULL;
}

const char *pvi_arrow_bind_struct(const struct ArrowArray *a, int64_t children, pvi_bitmap *above)
{
    *above = (pvi_bitmap) { NULL, 0 };
    if (!sizes_can_be(a)) return "its sizes cannot be";
    if (a->n_children != children || (children > 0 && !a->children))
        return "its number of columns does not agree with the schema";
    if (a->n_buffers != 1 || !a->buffers) return "its number of buffers does not agree with the schema";
    return bind_bits(a, a->offset, above);
}
