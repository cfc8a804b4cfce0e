/* number.c - numbers to text and back; the locale is "C" inside every call and on every thread of ours (handle.c). */
#include "core.h"

#include <errno.h>
#include <stdlib.h>

bool pvi_parse_f64(const char *s, size_t len, double *out)
{
    char buf[512], *end;
    if (len == 0 || len >= sizeof buf) return false;
    for (size_t i = 0; i < len; i++) { /* strtod also takes hexadecimal, blanks and nan(...): we do not */
        const char c = s[i];
        if (!((c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-' || (c >= 'A' && c <= 'Z' && c != 'X') ||
              (c >= 'a' && c <= 'z' && c != 'x')))
            return false;
    }
    memcpy(buf, s, len);
    buf[len] = '\0';
    *out = strtod(buf, &end);
    return *end == '\0';
}

bool pvi_parse_i64(const char *s, size_t len, int64_t *out)
{
    char buf[32], *end;
    if (len == 0 || len >= sizeof buf) return false;
    for (size_t i = 0; i < len; i++)
        if (!((s[i] >= '0' && s[i] <= '9') || (i == 0 && (s[i] == '-' || s[i] == '+') && len > 1))) return false;
    memcpy(buf, s, len);
    buf[len] = '\0';
    errno = 0;
    *out = strtoll(buf, &end, 10);
    return errno == 0 && *end == '\0';
}

void pvi_f64_text(double x, char out[32])
{
    double back;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, x);
        if (pvi_parse_f64(out, strlen(out), &back) && back == x) return;
    }
}

/* The smallest m at or above x / 10^k, for the k that gives m so many digits; x itself is finite and > 0.  Where 10^k
 * is no double of full precision any more (x below about 1e-290), x stays as it is: there is no room for
 * rounding up. */
double pvi_digits_up(double x, int digits)
{
    enum { TRIES = 8 }; /* the quotient is off by a few last digits of a double, m by one at most */
    const int k = (int)floor(log10(x)) - digits + 1;
    char text[32];
    double up, m = ceil(x / pow(10.0, k)) - 1.0; /* one below: pow may be off in its last digit */
    for (int i = 0; k > -300 && k < 300 && i < TRIES; i++, m++) {
        snprintf(text, sizeof text, "%.0fe%d", m, k);
        if (pvi_parse_f64(text, strlen(text), &up) && up >= x) return up;
    }
    return x;
}
