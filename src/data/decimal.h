/* decimal.h - decimal text to double, correctly rounded, without a branch per digit.
 *
 *   (1) value = m * 10^q,   m: the digits read as one integer,   q: exponent - digits after the point
 *   (2) m <= 2^53 and |q| <= 22: m and 10^|q| are doubles, so one division or product rounds once
 *   (3) otherwise decimal.c: a 128-bit product with a table of powers of five
 *   (4) more than 19 digits, |q| > 65, subnormal: the C library, through pvi_parse_f64
 *
 * Digits are taken eight at a time from one unaligned load: t = text ^ "00000000" has a byte
 * above 9 at the first character that is no digit; shifting the bytes in front of it to the top
 * leaves leading zeros below, and three multiplications add up pairs, fours and eights.
 *
 * Callers guarantee 16 readable bytes after the number and a byte that is no digit at its end. */
#ifndef PVI_DECIMAL_H
#define PVI_DECIMAL_H
#include "core/core.h"

extern const uint64_t pvi_ten_u64[20];     /* 10^k, exact                                             */
extern const double pvi_ten_f64[23];       /* 10^k, exact                                             */
extern const double pvi_signed_ten[2][16]; /* 10^k, -10^k                                          */

/* m * 10^q for the cases beyond (2); false: out of the table's reach. */
bool pvi_decimal_wide(uint64_t m, int64_t q, double *out);

static inline uint64_t pvi_load8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

/* Digits at the start of 8 bytes: how many, and their value. */
static inline int pvi_digits8(const char *p, uint64_t *value)
{
    uint64_t t = pvi_load8(p) ^ 0x3030303030303030u;
    const uint64_t other = (t | (t + 0x7676767676767676u)) & 0x8080808080808080u;
    const int n = other ? __builtin_ctzll(other) >> 3 : 8;
    t = n == 8 ? t : (t << 8) << (56 - 8 * n);
    t = t * 10 + (t >> 8);
    *value =
        ((t & 0x000000FF000000FFu) * 0x000F424000000064u + ((t >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
        32;
    return n;
}

/* Appends the digits at p to *m (which wraps past 19 digits; the caller counts). */
static inline const char *pvi_digits(const char *p, uint64_t *m)
{
    for (;;) {
        uint64_t v;
        const int n = pvi_digits8(p, &v);
        *m = *m * pvi_ten_u64[n] + v;
        p += n;
        if (n < 8) return p;
    }
}

static inline const char *pvi_exponent(const char *p, int64_t *q)
{
    const char *s = p + 1;
    const bool neg = *s == '-';
    uint64_t e = 0;
    s += neg || *s == '+';
    const char *end = pvi_digits(s, &e);
    if (end == s || end - s > 9) return NULL;
    *q += neg ? -(int64_t)e : (int64_t)e;
    return end;
}

/* The number at p, which starts with a sign, a digit or a point.  Returns the byte behind it; NULL
 * when it is no number or belongs to case (4): the caller then takes the whole token to
 * pvi_parse_f64, which decides. */
static inline const char *pvi_decimal(const char *p, double *out)
{
    const bool neg = *p == '-';
    const char *s = p + (neg || *p == '+'), *start = s;
    uint64_t m = 0;
    int64_t q = 0, count;

    s = pvi_digits(s, &m);
    count = s - start;
    if (*s == '.') {
        const char *point = s;
        s = pvi_digits(s + 1, &m);
        q = -(s - point - 1);
        count -= q;
    }
    if ((uint64_t)(count - 1) > 18) return NULL;
    if ((*s | 0x20) == 'e' && !(s = pvi_exponent(s, &q))) return NULL;
    double x = (double)m;
    if (m <= (uint64_t)1 << 53 && (uint64_t)(q + 22) <= 44) x = q < 0 ? x / pvi_ten_f64[-q] : x * pvi_ten_f64[q];
    else if (!pvi_decimal_wide(m, q, &x)) return NULL;
    *out = neg ? -x : x;
    return s;
}

/* A whole token as a number, by the fast way or the library's.  inf and nan pass: callers check. */
static inline bool pvi_number(const char *s, size_t len, double *out)
{
    const char *end = pvi_decimal(s, out);
    return (end && end == s + len) || pvi_parse_f64(s, len, out);
}
#endif
