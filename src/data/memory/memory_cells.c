/* memory_cells.c - one cell of a column in memory: is it there, its number, its text.
 *
 *   (1) numbers   at their value; integers above 2^53 rounded to nearest, as reading their decimal text would; days
 *                 and times as date.c (2)
 *   (2) text      what a CSV has: integers in decimal, floats the shortest text that reads back as the same float,
 *                 truth values true and false, 2024-01-31, 2024-01-31 12:34:56 with as many digits of a second as the
 *                 unit has, decimals with all of theirs
 * Text of Arrow is checked against the sizes it declares before it is read. */
#include "memory_table.h"

uint64_t pvi_cells_null(const pvi_cells *c, int64_t i, int64_t n)
{
    const uint64_t all = n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
    uint64_t mask = all;
    const pvi_bitmap *both[] = { &c->valid, &c->above };
    if (c->kind == PVI_CELL_NULL) return all;
    for (int k = 0; k < 2; k++) {
        if (!both[k]->at) continue;
        const int64_t bit = both[k]->first + i;
        const uint8_t *p = both[k]->at + (bit >> 3);
        const int shift = (int)(bit & 7);
        const int64_t bytes = (shift + n + 7) / 8; /* up to nine */
        uint64_t low = 0;
        memcpy(&low, p, (size_t)(bytes < 8 ? bytes : 8));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        low = __builtin_bswap64(low);
#endif
        low >>= shift;
        if (bytes == 9) low |= (uint64_t)p[8] << (64 - shift);
        mask &= low;
    }
    return ~mask & all;
}

static const pvi_cells *values(const pvi_cells *c)
{
    return c->words ? c->words : c;
}

bool pvi_cell_is_text(const pvi_cells *c)
{
    const int kind = values(c)->kind;
    return kind == PVI_CELL_TEXT || kind == PVI_CELL_LONG_TEXT || kind == PVI_CELL_VIEW || kind == PVI_CELL_DECIMAL;
}

bool pvi_cell_is_number(const pvi_cells *c)
{
    const int kind = values(c)->kind;
    return kind < PVI_CELL_HALF || kind == PVI_CELL_HALF || kind == PVI_CELL_DECIMAL;
}

/* ---- numbers --------------------------------------------------------------------------------------------------- */
static double half(uint16_t h)
{
    const int e = h >> 10 & 31, m = h & 1023;
    const double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h >> 15 ? -v : v;
}

double pvi_cell_number(const pvi_cells *c, int64_t i)
{
    const int64_t k = i * c->stride;
    switch (c->kind) {
    case PVI_CELL_HALF: return half(((const uint16_t *)c->at)[k]);
    case PVI_CELL_BIT: return pvi_bit(&(pvi_bitmap) { c->at, c->first }, i);
    case PVI_CELL_DAY: return ((const int32_t *)c->at)[k];
    case PVI_CELL_DATE:
    case PVI_CELL_TIME: return pvi_date_number(((const int64_t *)c->at)[k], c->per_day);
    default: return pvi_type_value((pv_type)c->kind, c->at, k);
    }
}

#define LANE(name, type)                                                                                             \
    static void name(const void *at, int64_t stride, int64_t n, double *out)                                         \
    {                                                                                                                \
        const type *x = at;                                                                                          \
        if (stride == 1)                                                                                             \
            for (int64_t j = 0; j < n; j++) out[j] = (double)x[j];                                                   \
        else                                                                                                         \
            for (int64_t j = 0; j < n; j++) out[j] = (double)x[j * stride];                                          \
    }
LANE(lane_f32, float)
LANE(lane_f64, double)
LANE(lane_i8, int8_t)
LANE(lane_i16, int16_t)
LANE(lane_i32, int32_t)
LANE(lane_i64, int64_t)
LANE(lane_u8, uint8_t)
LANE(lane_u16, uint16_t)
LANE(lane_u32, uint32_t)
LANE(lane_u64, uint64_t)
typedef void lane_fn(const void *at, int64_t stride, int64_t n, double *out);
static lane_fn *const lane_of[] = {
    [PV_FLOAT32] = lane_f32, [PV_FLOAT64] = lane_f64, [PV_INT8] = lane_i8,  [PV_INT16] = lane_i16,
    [PV_INT32] = lane_i32,   [PV_INT64] = lane_i64,   [PV_UINT8] = lane_u8, [PV_UINT16] = lane_u16,
    [PV_UINT32] = lane_u32,  [PV_UINT64] = lane_u64,  [PV_BOOL8] = lane_u8
};

void pvi_cells_numbers(const pvi_cells *c, int64_t i, int64_t n, double *out)
{
    if (c->kind == PVI_CELL_DAY) return lane_i32((const int32_t *)c->at + i * c->stride, c->stride, n, out);
    if (c->kind < PVI_CELL_HALF) {
        const char *at = (const char *)c->at + i * c->stride * pvi_type_size((pv_type)c->kind);
        return lane_of[c->kind](at, c->stride, n, out);
    }
    for (int64_t j = 0; j < n; j++) out[j] = pvi_cell_number(c, i + j);
}

/* ---- text ------------------------------------------------------------------------------------------------------ */
/* A copy with room to read behind it, cut where no declared word could match it: what follows a text in its buffer is
 * the next one, whose digits must not be taken for its own. */
static pvi_span copy(const char *s, size_t len, char room[PVI_TEXT_ROOM])
{
    enum { BEHIND = 32 };
    const size_t n = len < PVI_TEXT_ROOM - BEHIND ? len : PVI_TEXT_ROOM - BEHIND;
    if (n) memcpy(room, s, n);
    memset(room + n, 0, BEHIND);
    return (pvi_span) { room, n };
}

static pvi_span offset_text(const pvi_cells *c, int64_t i, char room[PVI_TEXT_ROOM], const char **why)
{
    const bool wide = c->kind == PVI_CELL_LONG_TEXT;
    const int64_t from = wide ? ((const int64_t *)c->at)[i] : ((const int32_t *)c->at)[i],
                  to = wide ? ((const int64_t *)c->at)[i + 1] : ((const int32_t *)c->at)[i + 1];
    if (from >= 0 && to >= from && to <= c->end)
        return copy(c->bytes ? c->bytes + from : NULL, (size_t)(to - from), room);
    *why = "its text lies outside of the buffer";
    return (pvi_span) { NULL, 0 };
}

static pvi_span view_text(const pvi_cells *c, int64_t i, char room[PVI_TEXT_ROOM], const char **why)
{
    const char *v = (const char *)c->at + 16 * i;
    int32_t word[4];
    memcpy(word, v, 16);
    if (word[0] >= 0 && word[0] <= 12) return copy(v + 4, (size_t)word[0], room);
    const int64_t k = word[2], from = word[3], n = word[0];
    if (n >= 0 && k >= 0 && k < c->views && from >= 0 && c->view[k] && from + n <= c->view_size[k])
        return copy((const char *)c->view[k] + from, (size_t)n, room);
    *why = "its text lies outside of the buffer";
    return (pvi_span) { NULL, 0 };
}

/* A 128-bit integer with `scale` digits behind the point. */
static void decimal_text(const pvi_cells *c, int64_t i, char *out)
{
    unsigned __int128 m;
    char digits[48];
    int n = 0;
    memcpy(&m, (const char *)c->at + 16 * i, 16);
    const bool negative = m >> 127;
    if (negative) m = -m;
    for (; m || n <= c->scale; m /= 10) digits[n++] = (char)('0' + (int)(m % 10));
    if (negative) *out++ = '-';
    while (n > 0) {
        *out++ = digits[--n];
        if (n == c->scale && n > 0) *out++ = '.';
    }
    memset(out, 0, 17);
}

static size_t float_text(double v, char room[PVI_TEXT_ROOM])
{
    const float f = (float)v;
    return pvi_type_text(PV_FLOAT32, &f, 0, room);
}

pvi_span pvi_cell_text(const pvi_cells *c, int64_t i, char room[PVI_TEXT_ROOM], const char **why)
{
    if (c->kind == PVI_CELL_TEXT || c->kind == PVI_CELL_LONG_TEXT) return offset_text(c, i, room, why);
    if (c->kind == PVI_CELL_VIEW) return view_text(c, i, room, why);
    memset(room, 0, 96);
    switch (c->kind) {
    case PVI_CELL_HALF: float_text(pvi_cell_number(c, i), room); break;
    case PVI_CELL_BIT: strcpy(room, pvi_cell_number(c, i) != 0.0 ? "true" : "false"); break;
    case PVI_CELL_DAY: pvi_date_text(((const int32_t *)c->at)[i * c->stride], room); break;
    case PVI_CELL_DATE: {
        const int64_t v = ((const int64_t *)c->at)[i * c->stride];
        pvi_date_text(v / c->per_day - (v % c->per_day < 0), room);
        break;
    }
    case PVI_CELL_TIME: pvi_time_text(((const int64_t *)c->at)[i * c->stride], c->per_day, c->utc, room); break;
    case PVI_CELL_DECIMAL: decimal_text(c, i, room); break;
    default: pvi_type_text((pv_type)c->kind, c->at, i * c->stride, room); break;
    }
    return (pvi_span) { room, strlen(room) };
}
