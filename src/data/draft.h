/* draft.h - schemas to begin with: by a table's header or public rows (draft.c), by a dictionary (draft_fields.c). */
#ifndef PVI_DRAFT_H
#define PVI_DRAFT_H
#include "data.h"
#include "encode.h"

void pvi_draft_text(pvi_str *t, const char *text); /* "text" */
void pvi_draft_pair(pvi_str *t, const char *key, const char *text);
void pvi_draft_unquote(char *field); /* "a ""b""" becomes a "b" */
/* Does a file begin as a Table Schema (`json`) or dtypes of pandas do? */
bool pvi_draft_is_fields(const uint8_t *s, size_t n, bool *json);
pv_status pvi_draft_fields(pv_ctx *ctx, pv_arena *a, const char *path, const char *label, bool json, char **out);
#endif
