/* range.c - the table of range.h, and what is said to whoever asks beyond it. */
#include "range.h"

#include <stdio.h>
#include <stdlib.h>

#define ROW(id, name, least, most, zero) { name, least, most, zero },
const pvi_range pvi_ranges[PVI_N_RANGES] = { PVI_RANGES(ROW) };

bool pvi_in_range(pvi_range_id id, double x)
{
    const pvi_range *r = &pvi_ranges[id];
    return (x >= r->least && x <= r->most) || (r->zero && x == 0.0);
}

void pvi_range_text(pvi_range_id id, double x, char text[PVI_RANGE_TEXT])
{
    const pvi_range *r = &pvi_ranges[id];
    char value[32];
    snprintf(value, sizeof value, "%.10g", x);
    if (pvi_in_range(id, strtod(value, NULL))) snprintf(value, sizeof value, "%.17g", x); /* a last digit outside */
    snprintf(text, PVI_RANGE_TEXT, "%s %s is not in [%.12g, %.12g]%s", r->name, value, r->least, r->most,
             r->zero ? " and not 0" : "");
}
