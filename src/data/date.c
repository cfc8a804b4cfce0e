/* date.c - dates and times as numbers: days since 1970-01-01, proleptic Gregorian calendar, UTC.
 *
 *   (1) days of y-m-d: years begin in March, so that the leap day is a year's last; 400 years have 146097 days
 *   (2) a time of day adds (nanoseconds since midnight) / (86400 10^9), both exact in double: one rounding, the same
 *       whether the time was text or a count of any unit
 *   (3) a count of units is split into days and the rest by division that rounds down
 *
 * Reference  Hinnant, chrono-compatible low-level date algorithms (days_from_civil, civil_from_days). */
#include "encode.h"

#define NANOS 86400e9 /* a day */

static int64_t days_of(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    const int64_t era = (y >= 0 ? y : y - 399) / 400, year = y - era * 400,
                  day = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + year * 365 + year / 4 - year / 100 + day - 719468; /* (1) */
}

static void civil(int64_t days, int64_t *y, int *m, int *d)
{
    days += 719468;
    const int64_t era = (days >= 0 ? days : days - 146096) / 146097, doe = days - era * 146097,
                  year = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365,
                  doy = doe - (365 * year + year / 4 - year / 100), mp = (5 * doy + 2) / 153;
    *d = (int)(doy - (153 * mp + 2) / 5 + 1);
    *m = (int)(mp < 10 ? mp + 3 : mp - 9);
    *y = year + era * 400 + (*m <= 2);
}

/* ---- text ------------------------------------------------------------------------------------------------------ */
typedef struct scan {
    const char *s, *end;
} scan;

static bool take_char(scan *p, char c)
{
    if (p->s == p->end || *p->s != c) return false;
    p->s++;
    return true;
}

/* Exactly n digits. */
static bool take_digits(scan *p, int n, int64_t *out)
{
    *out = 0;
    if (p->end - p->s < n) return false;
    for (int i = 0; i < n; i++, p->s++) {
        if (*p->s < '0' || *p->s > '9') return false;
        *out = 10 * *out + (*p->s - '0');
    }
    return true;
}

/* .f up to nine digits, more than that are not a time that can be told apart. */
static bool take_fraction(scan *p, int64_t *nanos)
{
    int n = 0;
    *nanos = 0;
    if (!take_char(p, '.')) return true;
    for (; p->s < p->end && *p->s >= '0' && *p->s <= '9' && n < 9; p->s++, n++) *nanos = 10 * *nanos + (*p->s - '0');
    if (n == 0) return false;
    for (; n < 9; n++) *nanos *= 10;
    return true;
}

/* Z, +HH:MM, +HHMM or +HH, as minutes east of Greenwich. */
static bool take_zone(scan *p, int64_t *minutes)
{
    int64_t h, m = 0;
    *minutes = 0;
    if (p->s == p->end || take_char(p, 'Z')) return p->s == p->end;
    const bool west = *p->s == '-';
    if (!west && *p->s != '+') return false;
    p->s++;
    if (!take_digits(p, 2, &h)) return false;
    if (p->s < p->end && (take_char(p, ':'), !take_digits(p, 2, &m))) return false;
    *minutes = (west ? -1 : 1) * (60 * h + m);
    return p->s == p->end && h < 24 && m < 60;
}

static bool take_time(scan *p, int64_t *seconds, int64_t *nanos)
{
    int64_t h, m, s = 0, zone;
    *nanos = 0;
    if (!take_digits(p, 2, &h) || !take_char(p, ':') || !take_digits(p, 2, &m)) return false;
    if (take_char(p, ':') && (!take_digits(p, 2, &s) || !take_fraction(p, nanos))) return false;
    if (!take_zone(p, &zone)) return false;
    *seconds = 3600 * h + 60 * (m - zone) + s;
    return h < 24 && m < 60 && s < 60;
}

bool pvi_date_parse(const char *text, size_t len, double *days)
{
    static const int8_t length[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    scan p = { text, text + len };
    int64_t y, m, d, seconds = 0, nanos = 0;
    if (!take_digits(&p, 4, &y) || !take_char(&p, '-') || !take_digits(&p, 2, &m) || !take_char(&p, '-') ||
        !take_digits(&p, 2, &d))
        return false;
    const bool leap = (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
    if (m < 1 || m > 12 || d < 1 || d > length[m - 1] + (m == 2 && leap)) return false;
    if (p.s < p.end && !((take_char(&p, ' ') || take_char(&p, 'T')) && take_time(&p, &seconds, &nanos))) return false;
    int64_t day = days_of(y, m, d) + seconds / 86400, rest = seconds % 86400; /* an offset may lead to another day */
    if (rest < 0) day--, rest += 86400;
    *days = (double)day + (double)(rest * 1000000000 + nanos) / NANOS; /* (2) */
    return true;
}

/* ---- counts ---------------------------------------------------------------------------------------------------- */
static int64_t split(int64_t count, int64_t per_day, int64_t *rest)
{
    int64_t day = count / per_day;
    *rest = count % per_day;
    if (*rest < 0) day--, *rest += per_day; /* (3) */
    return day;
}

double pvi_date_number(int64_t count, int64_t per_day)
{
    int64_t rest;
    const int64_t day = split(count, per_day, &rest);
    return (double)day + (double)(rest * (86400000000000 / per_day)) / NANOS; /* (2) */
}

void pvi_date_text(int64_t days, char out[32])
{
    int64_t y;
    int m, d;
    civil(days, &y, &m, &d);
    snprintf(out, 32, y < 0 ? "-%04lld-%02d-%02d" : "%04lld-%02d-%02d", (long long)(y < 0 ? -y : y), m, d);
}

void pvi_time_text(int64_t count, int64_t per_day, bool utc, char out[64])
{
    int64_t rest;
    pvi_date_text(split(count, per_day, &rest), out);
    const int64_t unit = per_day / 86400, s = rest / unit;
    size_t n = strlen(out);
    n += (size_t)snprintf(out + n, 64 - n, " %02d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    const int digits = unit == 1 ? 0 : unit == 1000 ? 3 : unit == 1000000 ? 6 : 9;
    if (digits) n += (size_t)snprintf(out + n, 64 - n, ".%0*lld", digits, (long long)(rest % unit));
    if (utc) snprintf(out + n, 64 - n, "Z");
}
