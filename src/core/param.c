/* param.c - parameter rows: defaults, parsing, ranges, text, JSON, suggestions. */
#include "core.h"

static void *slot(const pv_param *row, void *cfg)
{
    return (char *)cfg + row->offset;
}

void pvi_param_defaults(const pv_param *rows, void *cfg)
{
    for (const pv_param *r = rows; r->key; r++) {
        void *p = slot(r, cfg);
        switch (r->type) {
        case PV_F64: *(double *)p = r->def; break;
        case PV_I64: *(int64_t *)p = isnan(r->def) ? PV_AUTO_I64 : (int64_t)r->def; break;
        case PV_BOOL: *(bool *)p = r->def != 0.0; break;
        case PV_ENUM: *(int64_t *)p = (int64_t)r->def; break;
        case PV_STR: *(const char **)p = r->choices; break;
        case PV_LIST: *(pv_numbers *)p = (pv_numbers) { .n = !isnan(r->def), .v = { r->def } }; break;
        }
    }
}

const pv_param *pvi_param_find(const pv_param *rows, const char *key)
{
    for (const pv_param *r = rows; r->key; r++)
        if (strcmp(r->key, key) == 0) return r;
    return NULL;
}

/* Index of `word` in "a|b|c", or -1. */
static int64_t choice_index(const char *choices, const char *word)
{
    const size_t n = strlen(word);
    int64_t i = 0;
    for (const char *c = choices;; i++) {
        const size_t len = strcspn(c, "|");
        if (len == n && memcmp(c, word, n) == 0) return i;
        if (!c[len]) return -1;
        c += len + 1;
    }
}

static void choice_text(const char *choices, int64_t index, const char **s, size_t *len)
{
    for (; index > 0; index--) choices += strcspn(choices, "|") + 1;
    *s = choices;
    *len = strcspn(choices, "|");
}

static pv_status bad_range(pv_ctx *ctx, const char *prefix, const pv_param *r, const char *value)
{
    char lo[32], hi[32];
    pvi_f64_text(r->lo, lo);
    pvi_f64_text(r->hi, hi);
    return pvi_fail(ctx, PV_E_PARAM, "%s%s=%s: %s between %s and %s%s is needed (%s)", prefix, r->key, value,
                    r->type == PV_I64    ? "a whole number"
                    : r->type == PV_LIST ? "a number, or one for each layer,"
                                         : "a number",
                    lo, hi, isnan(r->def) && r->type != PV_LIST ? ", or auto," : "", r->help);
}

static bool parse_bool(const char *v, bool *out)
{
    static const char *const yes[] = { "true", "yes", "on", "1" }, *const no[] = { "false", "no", "off", "0" };
    for (int i = 0; i < 4; i++) {
        if (strcmp(v, yes[i]) == 0) return *out = true, true;
        if (strcmp(v, no[i]) == 0) return *out = false, true;
    }
    return false;
}

/* Whole numbers may be written 1e6: counts often are. */
static bool parse_whole(const char *v, int64_t *out)
{
    double x;
    if (pvi_parse_i64(v, strlen(v), out)) return true;
    if (!pvi_parse_f64(v, strlen(v), &x) || !(fabs(x) < 9e15) || x != floor(x)) return false;
    *out = (int64_t)x;
    return true;
}

/* Numbers with commas between them, or slashes where a comma already means something else. */
static bool parse_list(const pv_param *r, const char *v, pv_numbers *out)
{
    out->n = 0;
    if (r->choices && strcmp(v, r->choices) == 0) return true;
    for (;; v++) {
        const size_t len = strcspn(v, ",/");
        double x;
        if (out->n == PV_LIST_MOST || !pvi_parse_f64(v, len, &x) || !(x >= r->lo && x <= r->hi)) return false;
        out->v[out->n++] = x;
        v += len;
        if (!*v) return true;
    }
}

pv_status pvi_list_check(pv_ctx *ctx, const char *key, const pv_numbers *l, int64_t layers)
{
    if (l->n <= 1 || l->n == layers) return PV_OK;
    if (layers == 0)
        return pvi_fail(ctx, PV_E_PARAM, "%s has %lld numbers, and the model has no layers: one number is needed",
                        key, (long long)l->n);
    return pvi_fail(ctx, PV_E_PARAM, "%s has %lld numbers, and the network has %lld layers with weights", key,
                    (long long)l->n, (long long)layers);
}

pv_status pvi_param_set(pv_ctx *ctx, pv_arena *a, const char *prefix, const pv_param *rows, void *cfg,
                        const char *key, const char *value)
{
    const pv_param *r = pvi_param_find(rows, key);
    if (!r) return pvi_fail(ctx, PV_E_PARAM, "unknown setting %s%s", prefix, key);
    void *p = slot(r, cfg);
    const bool automatic = isnan(r->def) && strcmp(value, "auto") == 0;
    double x;
    int64_t i;

    switch (r->type) {
    case PV_F64:
        if (automatic) x = PV_AUTO;
        else if (!pvi_parse_f64(value, strlen(value), &x) || !(x >= r->lo && x <= r->hi))
            return bad_range(ctx, prefix, r, value);
        *(double *)p = x;
        return PV_OK;
    case PV_I64:
        if (automatic) i = PV_AUTO_I64;
        else if (!parse_whole(value, &i) || !((double)i >= r->lo && (double)i <= r->hi))
            return bad_range(ctx, prefix, r, value);
        *(int64_t *)p = i;
        return PV_OK;
    case PV_BOOL:
        if (!parse_bool(value, p))
            return pvi_fail(ctx, PV_E_PARAM, "%s%s=%s: yes or no is needed", prefix, key, value);
        return PV_OK;
    case PV_ENUM:
        if ((i = choice_index(r->choices, value)) < 0)
            return pvi_fail(ctx, PV_E_PARAM, "%s%s=%s: one of %s is needed", prefix, key, value, r->choices);
        *(int64_t *)p = i;
        return PV_OK;
    case PV_LIST: {
        pv_numbers l;
        if (!parse_list(r, value, &l)) return bad_range(ctx, prefix, r, value);
        *(pv_numbers *)p = l;
        return PV_OK;
    }
    case PV_STR: {
        char *copy = pvi_arena_strdup(a, value, strlen(value));
        if (!copy) return pvi_nomem(ctx);
        *(const char **)p = copy;
        return PV_OK;
    }
    }
    return pvi_fail(ctx, PV_E_INTERNAL, "setting %s%s has no type", prefix, key);
}

static void list_text(const pv_param *r, const pv_numbers *l, pvi_str *out)
{
    char text[32];
    if (l->n == 0) pvi_str_puts(out, r->choices);
    for (int64_t i = 0; i < l->n; i++) {
        pvi_f64_text(l->v[i], text);
        pvi_str_printf(out, "%s%s", i ? "," : "", text);
    }
}

void pvi_param_text(const pv_param *r, const void *cfg, pvi_str *out)
{
    const void *p = (const char *)cfg + r->offset;
    char text[32];
    const char *s;
    size_t n;

    switch (r->type) {
    case PV_F64:
        if (isnan(*(const double *)p)) {
            pvi_str_puts(out, "auto");
        } else {
            pvi_f64_text(*(const double *)p, text);
            pvi_str_puts(out, text);
        }
        break;
    case PV_I64:
        if (*(const int64_t *)p == PV_AUTO_I64) pvi_str_puts(out, "auto");
        else pvi_str_printf(out, "%lld", (long long)*(const int64_t *)p);
        break;
    case PV_BOOL: pvi_str_puts(out, *(const bool *)p ? "yes" : "no"); break;
    case PV_ENUM:
        choice_text(r->choices, *(const int64_t *)p, &s, &n);
        pvi_str_add(out, s, n);
        break;
    case PV_STR: pvi_str_puts(out, *(const char *const *)p ? *(const char *const *)p : ""); break;
    case PV_LIST: list_text(r, p, out); break;
    }
}

void pvi_param_json(const pv_param *r, const void *cfg, pvi_jw *w, const char *key)
{
    const void *p = (const char *)cfg + r->offset;
    if (r->type == PV_F64 && !isnan(*(const double *)p)) {
        pvi_jw_f64(w, key, *(const double *)p);
    } else if (r->type == PV_I64 && *(const int64_t *)p != PV_AUTO_I64) {
        pvi_jw_i64(w, key, *(const int64_t *)p);
    } else if (r->type == PV_BOOL) {
        pvi_jw_bool(w, key, *(const bool *)p);
    } else if (r->type == PV_LIST && ((const pv_numbers *)p)->n == 1) {
        pvi_jw_f64(w, key, ((const pv_numbers *)p)->v[0]);
    } else if (r->type == PV_STR && !*(const char *const *)p) {
        pvi_jw_str(w, key, NULL);
    } else {
        pvi_str text = { .ctx = w->out->ctx };
        pvi_param_text(r, cfg, &text);
        pvi_jw_str(w, key, text.s ? text.s : "");
        w->out->failed |= text.failed;
        pvi_str_free(&text);
    }
}

void pvi_param_describe(const pv_param *r, pvi_jw *w)
{
    static const char *const types[] = { "", "number", "integer", "yes/no", "choice", "text", "numbers" };
    pvi_jw_open(w, NULL, '{');
    pvi_jw_str(w, "key", r->key);
    pvi_jw_str(w, "type", types[r->type]);
    if (r->type == PV_STR) {
        pvi_jw_str(w, "default", r->choices);
    } else if (r->type == PV_ENUM) {
        const char *s;
        size_t n;
        char word[64];
        choice_text(r->choices, (int64_t)r->def, &s, &n);
        snprintf(word, sizeof word, "%.*s", (int)n, s);
        pvi_jw_str(w, "default", word);
        pvi_jw_str(w, "choices", r->choices);
    } else if (r->type == PV_BOOL) {
        pvi_jw_bool(w, "default", r->def != 0.0);
    } else {
        if (isnan(r->def)) pvi_jw_str(w, "default", r->type == PV_LIST ? r->choices : "auto");
        else pvi_jw_f64(w, "default", r->def);
        pvi_jw_f64(w, "min", r->lo);
        pvi_jw_f64(w, "max", r->hi);
    }
    pvi_jw_bool(w, "certified", r->certified);
    pvi_jw_str(w, "help", r->help);
    pvi_jw_close(w, '}');
}

/* Edits (insert, delete, replace, swap) between two words, capped at 63 characters. */
static int distance(const char *a, const char *b)
{
    uint8_t d[64][64];
    const int n = (int)strnlen(a, 63), m = (int)strnlen(b, 63);
    for (int i = 0; i <= n; i++) d[i][0] = (uint8_t)i;
    for (int j = 0; j <= m; j++) d[0][j] = (uint8_t)j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = (uint8_t)best;
        }
    return d[n][m];
}

const char *pvi_nearest(const char *word, const char *const *words, int64_t n)
{
    const char *best = NULL;
    int best_d = (int)strlen(word) / 3 + 2; /* further away than this is no suggestion */
    for (int64_t i = 0; i < n; i++) {
        const int dist = distance(word, words[i]);
        if (dist < best_d && 2 * dist <= (int)strlen(word)) { /* foo is not a slip of box */
            best_d = dist;
            best = words[i];
        }
    }
    return best;
}
