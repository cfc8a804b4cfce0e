/* utf16.h - a stream of bytes in UTF-16 to one in UTF-8. */
#ifndef PVI_UTF16_H
#define PVI_UTF16_H
#include "core/core.h"

typedef struct pvi_utf16 {
    bool big, mark; /* the first byte of a unit is the higher one; the mark has not come yet */
    uint8_t byte[4];
    int have; /* bytes of a character that goes on; at the end of the text 0 */
} pvi_utf16;

bool pvi_utf16_begins(const uint8_t *s, size_t n, pvi_utf16 *u); /* does a text begin like that? */
/* Takes bytes until they are used up or there is room for less than 4 more; false: they are damaged. */
bool pvi_utf16_text(pvi_utf16 *u, const uint8_t *in, size_t n, size_t *used, char *out, size_t room, size_t *made);
#endif
