/* fuzz.h - what the harnesses share: an entry point, edits of a valid input, and a loud failure. */
#ifndef FUZZ_H
#define FUZZ_H
#include <stdlib.h>

#include "core/core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_REQUIRE(cond)                                                                                           \
    do {                                                                                                             \
        if (!(cond)) {                                                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);                                               \
            abort();                                                                                                 \
        }                                                                                                            \
    } while (0)

/* A refusal is one printable line that says something. */
static inline void fuzz_refused(pv_ctx *ctx, pv_status s)
{
    const char *m = pv_ctx_errmsg(ctx);
    FUZZ_REQUIRE(s != PV_E_INTERNAL && s != PV_OK && *m);
    for (; *m; m++) FUZZ_REQUIRE((unsigned char)*m >= 0x20);
}

/* Edits a valid text by a list of three bytes each: where (16 bits), what.  The high bit of the second
 * byte deletes instead.  Finds deep errors that random bytes would never reach. */
static inline size_t fuzz_edit(char *text, size_t len, const uint8_t *edits, size_t n)
{
    for (; n >= 3; n -= 3, edits += 3) {
        const size_t at = (size_t)edits[0] | (size_t)(edits[1] & 0x7f) << 8;
        if (at >= len) continue;
        if (edits[1] & 0x80) {
            memmove(text + at, text + at + 1, len - at - 1);
            len--;
        } else {
            text[at] = (char)edits[2];
        }
    }
    return len;
}
#endif
