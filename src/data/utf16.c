/* utf16.c - text in UTF-16, as Excel and PowerShell write it, to UTF-8.
 *
 *   (1) order      the mark FE FF or FF FE in front says which byte of a unit comes first; it is left out
 *   (2) characters of one unit, or of two: a high surrogate D800 .. DBFF, then a low one DC00 .. DFFF
 * A surrogate without its other half, and a byte without its unit, are damage. */
#include "utf16.h"

static uint32_t unit(const pvi_utf16 *u, const uint8_t *s)
{
    return u->big ? (uint32_t)s[0] << 8 | s[1] : (uint32_t)s[1] << 8 | s[0];
}

/* Up to 4 bytes. */
static size_t write_utf8(uint32_t c, char *out)
{
    if (c < 0x80) return out[0] = (char)c, 1;
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(c | (n == 2 ? 0xc0u : n == 3 ? 0xe0u : 0xf0u));
    return n;
}

bool pvi_utf16_begins(const uint8_t *s, size_t n, pvi_utf16 *u)
{
    const bool big = n >= 2 && s[0] == 0xfe && s[1] == 0xff, little = n >= 2 && s[0] == 0xff && s[1] == 0xfe;
    const bool wider = little && n >= 4 && s[2] == 0 && s[3] == 0; /* UTF-32 */
    *u = (pvi_utf16) { .big = big, .mark = true };
    return (big || little) && !wider;
}

bool pvi_utf16_text(pvi_utf16 *u, const uint8_t *in, size_t n, size_t *used, char *out, size_t room, size_t *made)
{
    size_t i = 0, k = 0;
    for (; i < n && room - k >= 4; i++) {
        u->byte[u->have++] = in[i];
        if (u->have & 1) continue;
        const uint32_t first = unit(u, u->byte);
        const bool high = first >= 0xd800 && first < 0xdc00, mark = u->mark;
        if (high && u->have == 2) continue; /* (2) */
        uint32_t c = first;
        if (u->have == 4) {
            const uint32_t low = unit(u, u->byte + 2);
            if (low < 0xdc00 || low > 0xdfff) return false;
            c = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
        } else if (first >= 0xdc00 && first < 0xe000) {
            return false;
        }
        u->have = 0;
        u->mark = false;
        if (!mark) k += write_utf8(c, out + k); /* (1) */
    }
    *used = i;
    *made = k;
    return true;
}
