/* draft.c - a schema to begin with: the columns of a table by its header, or by rows that are public.
 *
 * Bounds and values that are copied from private rows leak them, and no accountant sees it.  So of a private table
 * the header alone is read: every column is "open", which training refuses, until somebody who knows the data says
 * what it is.  Rows are read only where the caller declares them to be public; each column then says where its
 * declaration is from ("source"), and types are the narrowest that all its values fit:
 *   number     with the least and the greatest as bounds      date      the same, of days
 *   category   of at most VALUES words of WORD bytes          person    what is named like an id
 *   ignore     everything else
 * A table of many columns and any length is read once, in memory that does not grow with its rows. */
#include "draft.h"

enum { VALUES = 64, WORD = 100, COLUMNS = 100000, FIELD = 4096, PIECE = 1 << 18 };

typedef struct seen { /* of one column */
    char *name;
    int64_t values, numbers, dates, missing, words;
    double lo, hi, first, last; /* as numbers, as days */
    int64_t commas, respelt;    /* numbers with a decimal comma; those and others without a point */
    double from, to;            /* as these */
    char **word;                /* the first VALUES */
} seen;

typedef struct draft {
    pv_ctx *ctx;
    pv_arena *arena;
    const char *path, *label;
    bool rows; /* are public, and read */
    char separator;
    enum { BEGIN, PLAIN, QUOTED, ENDED } at; /* in a field: before it, in it, in quotes, behind the closing one */
    char field[FIELD + 32];                  /* with room to read behind it */
    size_t len;                              /* of the field; more than FIELD: cut */
    seen *column;
    int64_t room, columns, i, records, line;
    bool used[8];         /* markers */
    bool comma, trailing; /* numbers have a decimal comma; a separator ends some lines */
    char before;          /* the last byte */
} draft;

static const char *const markers[] = { "", "NA", "N/A", "?", "NaN", "nan", "NULL", "null" };
enum { MARKERS = sizeof markers / sizeof *markers };

/* ---- one field -------------------------------------------------------------------------------------------- */

static char *copy(draft *d, const char *s, size_t len)
{
    char *out = pv_arena_get(d->arena, len + 1);
    if (!out) return NULL;
    memcpy(out, s, len);
    out[len] = '\0';
    return out;
}

/* A first line that is a row would show it: names are texts of one line, of private tables no numbers or dates. */
static pv_status check_name(draft *d)
{
    double x;
    char part[48];
    const size_t len = d->len < FIELD ? d->len : FIELD;
    const char *why = NULL;
    memset(d->field + len, 0, 16);
    for (size_t i = 0, n; i < len && !why; i += n)
        if ((n = (size_t)pvi_character((const unsigned char *)d->field + i)) == 0)
            why = (uint8_t)d->field[i] < 0x80 ? "has a line end or another control character in it"
                                              : "is no text in UTF-8; iconv -f latin1 -t utf-8 converts Latin-1";
    if (!why && !d->rows && (pvi_number(d->field, len, &x) || pvi_date_parse(d->field, len, &x)))
        why =
            "is a value, not a name: is the first line a row?  A table without a header needs a schema by hand, with "
            "\"header\": false";
    if (!why) return PV_OK;
    return pvi_fail(d->ctx, PV_E_FORMAT, "%s:1: column %lld of the header, \"%s\", %s", d->path,
                    (long long)d->columns + 1, pvi_excerpt(d->field, len, part), why);
}

static pv_status add_name(draft *d)
{
    const pv_status s = check_name(d);
    if (s != PV_OK) return s;
    if (d->columns == COLUMNS)
        return pvi_fail(d->ctx, PV_E_FORMAT, "%s:1: more than %d columns", d->path, (int)COLUMNS);
    if (d->columns == d->room) {
        const int64_t room = d->room ? 2 * d->room : 64;
        seen *more = pv_arena_get(d->arena, sizeof *more * (size_t)room);
        if (!more) return pvi_nomem(d->ctx);
        if (d->columns) memcpy(more, d->column, sizeof *more * (size_t)d->columns);
        d->column = more;
        d->room = room;
    }
    seen *c = &d->column[d->columns++];
    *c = (seen) { .name = copy(d, d->field, d->len < FIELD ? d->len : FIELD) };
    return c->name ? PV_OK : pvi_nomem(d->ctx);
}

static pv_status add_word(draft *d, seen *c, size_t len)
{
    if (c->words > VALUES) return PV_OK;
    if (!c->word && !(c->word = pv_arena_get(d->arena, sizeof *c->word * VALUES))) return pvi_nomem(d->ctx);
    for (int64_t i = 0; i < c->words; i++)
        if (strncmp(c->word[i], d->field, len) == 0 && c->word[i][len] == '\0') return PV_OK;
    if (c->words == VALUES || len > WORD) return c->words = VALUES + 1, PV_OK; /* too many for a category */
    c->word[c->words] = copy(d, d->field, len);
    return c->word[c->words++] ? PV_OK : pvi_nomem(d->ctx);
}

static void widen(double x, bool first, double *lo, double *hi)
{
    *lo = first || x < *lo ? x : *lo;
    *hi = first || x > *hi ? x : *hi;
}

static pv_status add_value(draft *d)
{
    if (d->i == d->columns && d->len == 0) return d->trailing = true, PV_OK;
    if (d->i >= d->columns)
        return pvi_fail(d->ctx, PV_E_FORMAT, "%s:%lld: the record has more than the %lld columns of the header",
                        d->path, (long long)d->line + 1, (long long)d->columns);
    static const pvi_schema comma = { .decimal = ',', .respelt = true };
    seen *c = &d->column[d->i];
    double x;
    for (int m = 0; m < MARKERS; m++)
        if (d->len == strlen(markers[m]) && memcmp(d->field, markers[m], d->len) == 0) {
            d->used[m] = true;
            c->missing++;
            return PV_OK;
        }
    c->values++;
    if (d->len > FIELD || memchr(d->field, '\0', d->len)) return c->words = VALUES + 1, PV_OK;
    memset(d->field + d->len, 0, 16);
    if (pvi_number(d->field, d->len, &x) && fabs(x) <= PVI_BOUND_MAX) widen(x, c->numbers++ == 0, &c->lo, &c->hi);
    if (pvi_spelt_number(&comma, d->field, d->len, &x) && fabs(x) <= PVI_BOUND_MAX) {
        c->commas += memchr(d->field, ',', d->len) != NULL;
        widen(x, c->respelt++ == 0, &c->from, &c->to);
    }
    if (pvi_date_parse(d->field, d->len, &x)) widen(x, c->dates++ == 0, &c->first, &c->last);
    return add_word(d, c, d->len);
}

static pv_status end_field(draft *d)
{
    while (d->at == PLAIN && d->len > 0 && d->len < FIELD && strchr(" \t\r", d->field[d->len - 1])) d->len--;
    const pv_status s = d->records == 0 ? add_name(d) : add_value(d);
    d->i++;
    d->len = 0;
    d->at = BEGIN;
    return s;
}

static pv_status end_record(draft *d)
{
    if (d->i == 0 && d->at == BEGIN) return PV_OK; /* a blank line */
    pv_status s = end_field(d);
    if (s == PV_OK && d->records > 0 && d->i < d->columns)
        s = pvi_fail(d->ctx, PV_E_FORMAT, "%s:%lld: the record has %lld columns, the header %lld", d->path,
                     (long long)d->line + 1, (long long)d->i, (long long)d->columns);
    d->records++;
    d->i = 0;
    return s;
}

static void put(draft *d, char ch)
{
    if (d->len < FIELD) d->field[d->len] = ch;
    d->len++;
}

static pv_status one_byte(draft *d, char ch)
{
    const bool blank = (ch == ' ' || ch == '\t') && ch != d->separator;
    if (d->at == QUOTED) {
        if (ch == '"') d->at = ENDED;
        else put(d, ch);
        return PV_OK;
    }
    if (ch == d->separator) return end_field(d);
    if (ch == '\n') return end_record(d);
    if (d->at == ENDED && ch == '"') { /* doubled */
        put(d, ch);
        d->at = QUOTED;
        return PV_OK;
    }
    if (d->at == BEGIN && (blank || ch == '\r')) return PV_OK;
    if (d->at == BEGIN && ch == '"') return d->at = QUOTED, PV_OK;
    if (d->at == ENDED) {
        if (blank || ch == '\r') return PV_OK;
        return pvi_fail(d->ctx, PV_E_FORMAT, "%s:%lld: text follows a closing quote", d->path,
                        (long long)d->line + 1);
    }
    d->at = PLAIN;
    put(d, ch);
    return PV_OK;
}

/* ---- the table -------------------------------------------------------------------------------------------- */

/* The one that the first line has most of. */
static char find_separator(const uint8_t *text, size_t n)
{
    static const char all[] = { ',', ';', '\t', '|' };
    char best = ',';
    int64_t most = 0;
    for (size_t k = 0; k < sizeof all; k++) {
        int64_t count = 0;
        bool quoted = false;
        for (size_t i = 0; i < n && text[i] != '\n'; i++) {
            quoted ^= text[i] == '"';
            count += !quoted && text[i] == (uint8_t)all[k];
        }
        if (count > most) most = count, best = all[k];
    }
    return best;
}

static pv_status read_piece(draft *d, const char *text, size_t n, bool first)
{
    pv_status s = PV_OK;
    size_t i = first && n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    for (; i < n && s == PV_OK && (d->rows || d->records == 0); i++) {
        if (text[i] == '\0')
            return pvi_fail(d->ctx, PV_E_FORMAT, "%s:%lld: this is no text in UTF-8: another kind of file, or UTF-16",
                            d->path, (long long)d->line + 1);
        if (d->before == '\r' && text[i] != '\n' && d->at != QUOTED && d->records == 0)
            return pvi_fail(d->ctx, PV_E_FORMAT,
                            "%s:1: lines must end with a line feed, not with a carriage return alone", d->path);
        d->before = text[i];
        s = one_byte(d, text[i]);
        d->line += text[i] == '\n';
    }
    return s;
}

/* Of a dictionary there are no rows, and nothing more to do. */
static pv_status read_fields(draft *d, bool json, char **out)
{
    if (d->rows)
        return pvi_fail(d->ctx, PV_E_PARAM, "%s: a dictionary of columns has no rows: leave out --public", d->path);
    return pvi_draft_fields(d->ctx, d->arena, d->path, d->label, json, out);
}

static pv_status read_table(draft *d, char **out)
{
    pvi_source *from;
    char *piece = pvi_raw(d->ctx, PIECE);
    size_t got, n;
    bool end = false;
    pv_status s = piece ? pvi_source_open(d->ctx, d->path, 500.0, &from) : pvi_nomem(d->ctx);
    if (s != PV_OK) {
        pvi_free(d->ctx, piece);
        return s;
    }
    const uint8_t *peek = pvi_source_peek(from, &n);
    bool json;
    d->separator = find_separator(peek, n);
    if (pvi_source_plain(from) && pvi_draft_is_fields(peek, n, &json)) {
        s = read_fields(d, json, out);
        end = true;
    } else {
        s = pvi_kind_check(d->ctx, d->path, peek, n);
    }
    for (bool first = true; s == PV_OK && !end && (d->rows || d->records == 0); first = false) {
        for (int64_t k = 0; k < pvi_source_slices(from, PIECE); k++) pvi_source_slice(from, piece, PIECE, k);
        s = pvi_source_filled(from, PIECE, &got, &end);
        if (s == PV_OK) s = read_piece(d, piece, got, first);
    }
    if (s == PV_OK && !*out && end && d->at == QUOTED)
        s = pvi_fail(d->ctx, PV_E_FORMAT, "%s: a quoted field is never closed", d->path);
    else if (s == PV_OK && !*out && end && (d->i > 0 || d->at != BEGIN)) s = end_record(d);
    pvi_source_close(from);
    pvi_free(d->ctx, piece);
    return s;
}

/* ---- the schema ------------------------------------------------------------------------------------------- */

static void put_key(pvi_str *t, const char *key)
{
    pvi_str_printf(t, ", \"%s\": ", key);
}

void pvi_draft_text(pvi_str *t, const char *text)
{
    pvi_jw_str(&(pvi_jw) { .out = t }, NULL, text);
}

void pvi_draft_pair(pvi_str *t, const char *key, const char *text)
{
    put_key(t, key);
    pvi_draft_text(t, text);
}

void pvi_draft_unquote(char *field)
{
    char *to = field;
    for (const char *s = field + 1; *s && !(*s == '"' && s[1] != '"'); s++) {
        s += *s == '"';
        *to++ = *s;
    }
    *to = '\0';
}

static void put_bound(pvi_str *t, const char *key, bool date, double x)
{
    char text[32];
    put_key(t, key);
    if (date) {
        pvi_date_text((int64_t)x, text);
        pvi_draft_text(t, text);
    } else {
        pvi_jw_f64(&(pvi_jw) { .out = t }, NULL, x);
    }
}

static void put_list(pvi_str *t, const char *const *word, int64_t n)
{
    pvi_str_puts(t, "[");
    for (int64_t i = 0; i < n; i++) {
        pvi_str_puts(t, i ? ", " : "");
        pvi_draft_text(t, word[i]);
    }
    pvi_str_puts(t, "]");
}

/* Do numbers have a decimal comma?  In a column with some all do, and in none are there others with a point. */
static void find_comma(draft *d)
{
    bool some = false, point = false;
    for (int64_t i = 0; i < d->columns; i++) {
        const seen *c = &d->column[i];
        some |= c->commas > 0 && c->respelt == c->values;
        point |= c->values > 0 && c->numbers == c->values && c->respelt < c->values;
    }
    d->comma = some && !point;
    for (int64_t i = 0; i < d->columns && d->comma; i++) {
        seen *c = &d->column[i];
        c->numbers = c->respelt;
        c->lo = c->from;
        c->hi = c->to;
    }
}

/* What all values of a public column fit. */
static void write_found(pvi_str *t, const seen *c, bool label)
{
    const bool number = c->numbers == c->values && pvi_bounds_ok(c->lo, c->hi);
    const bool date = !label && c->dates == c->values && c->first < c->last;
    const bool few = c->words >= 2 && c->words <= VALUES;
    const bool category = few && (label ? c->words <= 20 || !number : !number && !date);
    const bool person = !label && pvi_named_like_id(c->name);
    bool truth = category && c->words > 2; /* yes, No, 1 */
    for (int64_t i = 0; i < c->words && truth; i++) truth = pvi_is_truth(c->word[i]);
    const char *type = label      ? "label"
                       : person   ? "person"
                       : truth    ? "boolean"
                       : category ? "category"
                       : date     ? "date"
                       : number   ? "number"
                                  : "ignore";
    pvi_draft_pair(t, "type", type);
    if (truth && label) {
        pvi_draft_pair(t, "values", "boolean");
    } else if (category && !person && !truth) {
        put_key(t, "values");
        put_list(t, (const char *const *)c->word, c->words);
    } else if ((date || number) && !person) {
        put_bound(t, "min", date, date ? c->first : c->lo);
        put_bound(t, "max", date, date ? c->last : c->hi);
        if (c->missing && !label) pvi_draft_pair(t, "missing", "middle");
    }
    pvi_draft_pair(t, "source", "public file");
}

static pv_status write_schema(draft *d, char **out)
{
    pvi_str t = { .ctx = d->ctx };
    const char *used[MARKERS];
    int64_t n = 0;
    for (int m = 0; m < MARKERS; m++)
        if (m == 0 || d->used[m]) used[n++] = markers[m];
    find_comma(d);
    pvi_str_puts(&t, "{\"header\": true");
    put_key(&t, "separator");
    pvi_str_puts(&t, d->separator == '\t' ? "\"\\t\"" : (const char[]) { '"', d->separator, '"', 0 });
    if (d->comma) pvi_draft_pair(&t, "decimal", ",");
    if (d->trailing) pvi_str_puts(&t, ", \"trailing\": true");
    put_key(&t, "missing");
    put_list(&t, used, n);
    pvi_str_puts(&t, ",\n \"columns\": [");
    for (int64_t i = 0; i < d->columns; i++) {
        const seen *c = &d->column[i];
        const bool label = d->label && strcmp(d->label, c->name) == 0;
        pvi_str_puts(&t, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
        pvi_draft_text(&t, c->name);
        if (d->rows) write_found(&t, c, label);
        else pvi_draft_pair(&t, "type", label ? "label" : "open");
        pvi_str_puts(&t, "}");
    }
    pvi_str_puts(&t, "\n]}\n");
    return pvi_str_take(&t, out);
}

/* Names are there, once each, and the label's among them. */
static pv_status check(draft *d)
{
    pvi_dictionary names;
    int64_t twice;
    bool found = !d->label;
    const seen *last = d->columns ? &d->column[d->columns - 1] : NULL;
    if (d->columns > 2 && !*last->name && last->values == 0) d->columns--; /* every line ends with a separator */
    if (d->columns == 0) return pvi_fail(d->ctx, PV_E_FORMAT, "%s: no header", d->path);
    if (d->columns == 1)
        return pvi_fail(d->ctx, PV_E_FORMAT,
                        "%s: one column only: a table has its columns between commas, semicolons, tabs or bars",
                        d->path);
    if (d->rows && d->records < 2) return pvi_fail(d->ctx, PV_E_FORMAT, "%s: no rows", d->path);
    pvi_span *name = pv_arena_get(d->arena, sizeof *name * (size_t)d->columns);
    int32_t *code = pv_arena_get(d->arena, sizeof *code * (size_t)d->columns);
    if (!name || !code) return pvi_nomem(d->ctx);
    for (int64_t i = 0; i < d->columns; i++) {
        name[i] = (pvi_span) { d->column[i].name, strlen(d->column[i].name) };
        code[i] = (int32_t)i;
        found |= d->label && strcmp(d->label, d->column[i].name) == 0;
    }
    const pv_status s = pvi_dictionary_build(d->ctx, d->arena, d->columns, name, code, &names, &twice);
    if (s != PV_OK) return s;
    if (twice >= 0)
        return pvi_fail(d->ctx, PV_E_FORMAT, "%s:1: the header has \"%s\" twice", d->path, d->column[twice].name);
    return found ? PV_OK : pvi_fail(d->ctx, PV_E_PARAM, "%s: the header has no column \"%s\"", d->path, d->label);
}

pv_status pv_schema_draft(pv_ctx *ctx, const char *path, const char *label, bool rows_are_public, char **json)
{
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, path);
    PVI_NEEDS(ctx, json);
    pv_arena *a = pvi_arena_create(ctx);
    draft *d = a ? pv_arena_get(a, sizeof *d) : NULL;
    if (!d) {
        pvi_arena_free(a);
        return pvi_nomem(ctx);
    }
    *d = (draft) { .ctx = ctx, .arena = a, .path = path, .label = label, .rows = rows_are_public };
    pv_status s = read_table(d, json);
    if (s == PV_OK && !*json) s = check(d);
    if (s == PV_OK && !*json) s = write_schema(d, json);
    pvi_arena_free(a);
    return s;
}

pv_status pv_schema_canonical(pv_ctx *ctx, const char *schema, char **json)
{
    pvi_schema *sc;
    if (json) *json = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, schema);
    PVI_NEEDS(ctx, json);
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_schema_load(ctx, a, schema, &sc);
    if (s == PV_OK) s = pvi_schema_json(ctx, sc, json);
    pvi_arena_free(a);
    return s;
}
