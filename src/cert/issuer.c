/* issuer.c - who issued a certificate, whom to ask, when, and what the data are called.
 *
 * Texts that whoever runs the training declares.  They are settings, so that the certificate repeats them and its
 * checksum covers them; nothing in a file can show that they are true, and nothing in them comes from rows. */
#include "cert.h"
#include "data/encode.h"

enum { MOST = 200, DAY = 10 }; /* bytes of a text; of 2026-01-31 */

static bool is_line(const char *s)
{
    const size_t len = strlen(s);
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        const int n = pvi_character(p);
        if (n == 0) return false;
        p += n;
    }
    return len > 0 && len <= MOST;
}

const char *pvi_issuer_needs(const char *key, const char *value)
{
    double days;
    if (strncmp(key, "issuer.", 7) != 0) return NULL;
    if (strcmp(key, "issuer.date") != 0) return is_line(value) ? NULL : "one line of 1 to 200 bytes of UTF-8";
    const size_t len = strlen(value);
    return len == DAY && pvi_date_parse(value, len, &days) ? NULL : "a day as 2026-01-31, or today,";
}

void pvi_issuer_write(const pvi_cert *c, pv_ctx *ctx, pvi_jw *w)
{
    static const char *const names[][2] = { { "issuer", "issuer.name" },
                                            { "contact", "issuer.contact" },
                                            { "date", "issuer.date" },
                                            { "data_name", "issuer.data" } };
    pv_arena *a = pvi_arena_create(ctx);
    pvi_json *v = NULL;
    if (a && c->settings && pvi_json_parse(ctx, a, "settings", c->settings, strlen(c->settings), &v) != PV_OK)
        v = NULL;
    for (int i = 0; i < 4; i++) {
        const pvi_json *text = v ? pvi_json_get(v, names[i][1]) : NULL;
        pvi_jw_str(w, names[i][0], text && text->type == PVI_JSTR ? text->text : NULL);
    }
    pvi_arena_free(a);
}
