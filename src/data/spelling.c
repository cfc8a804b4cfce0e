/* spelling.c - numbers as a table says that it writes them: 1.234,5 or 1 234.5 or 1'234.
 *
 *   (1) thousands   1 to 3 digits, then groups of exactly 3 behind the declared mark, in front of the decimal mark:
 *                   what is grouped otherwise is no number, so that 12,5 is never taken for 125; nor is 0.500 for
 *                   500: one or two digits in front of a mark do not begin with 0
 *   (2) a blank     as the mark may be a no-break space (U+00A0, U+202F), an apostrophe U+2019
 *   (3) decimal     the declared mark is a point; a point that is not declared makes the text no number
 *   (4) the rest    sign, exponent and length are those of every number (decimal.h)
 *
 * A number becomes the text that it is elsewhere and is read as such: the same float. */
#include "encode.h"

enum { LONGEST = 511 };

typedef struct writing {
    const char *s, *end;
    char *out;
    size_t n;
} writing;

static bool digit(const writing *w)
{
    return w->s < w->end && *w->s >= '0' && *w->s <= '9';
}

static int64_t digits(writing *w)
{
    const size_t from = w->n;
    while (digit(w)) w->out[w->n++] = *w->s++;
    return (int64_t)(w->n - from);
}

/* Bytes of the mark between thousands; 0: none stands here. (2) */
static size_t mark(const writing *w, char declared)
{
    static const struct {
        char declared;
        const char *text;
    } also[] = { { ' ', "\xc2\xa0" }, { ' ', "\xe2\x80\xaf" }, { '\'', "\xe2\x80\x99" } };
    const size_t left = (size_t)(w->end - w->s);
    if (left && *w->s == declared) return 1;
    for (size_t i = 0; i < sizeof also / sizeof *also; i++) {
        const size_t n = strlen(also[i].text);
        if (declared == also[i].declared && left >= n && memcmp(w->s, also[i].text, n) == 0) return n;
    }
    return 0;
}

static bool whole_part(writing *w, char thousands)
{
    int64_t group = digits(w);
    size_t skip = thousands ? mark(w, thousands) : 0;
    const bool padded = group == 1 || group == 2 ? w->out[w->n - (size_t)group] == '0' : false; /* 0.500 is no 500 */
    if (skip && (group < 1 || group > 3 || padded)) return false;
    for (; skip; skip = mark(w, thousands)) { /* (1) */
        w->s += skip;
        if ((group = digits(w)) != 3) return false;
    }
    return true;
}

bool pvi_spelt_number(const pvi_schema *sc, const char *s, size_t len, double *out)
{
    char plain[LONGEST + 17];
    writing w = { .s = s, .end = s + len, .out = plain };
    if (!sc->respelt) return pvi_number(s, len, out);
    if (len > LONGEST) return false;
    if (w.s < w.end && (*w.s == '-' || *w.s == '+')) plain[w.n++] = *w.s++;
    if (!whole_part(&w, sc->thousands)) return false;
    if (w.s < w.end && *w.s == sc->decimal) { /* (3) */
        plain[w.n++] = '.';
        w.s++;
        digits(&w);
    } else if (w.s < w.end && *w.s == '.') {
        return false;
    }
    while (w.s < w.end && w.n < LONGEST) { /* (4): an exponent, inf, nan */
        if (*w.s == '.' || *w.s == ',') return false;
        plain[w.n++] = *w.s++;
    }
    memset(plain + w.n, 0, 16);
    return w.s == w.end && pvi_number(plain, w.n, out);
}
