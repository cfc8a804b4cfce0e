/* data.c - the handle of rows: files, and labels that come apart.
 *
 * Everything that can be told from the arguments is refused when the handle is made; what is in the rows, when they
 * are read.  Labels that come apart are numbers, words or places in a list of words:
 *
 *   (1) a number is the label whose text it is, integers in decimal, floats as the shortest text that reads back as
 *       the same float; as in LIBSVM lines, labels that are equal as numbers are equal: 1, 1.0 and "+1"
 *   (2) a word is a label as a field of a table is */
#include "data.h"

#include <float.h>

/* ---- types ------------------------------------------------- */
int64_t pvi_type_size(pv_type t)
{
    static const int8_t size[] = {
        [PV_FLOAT32] = 4, [PV_FLOAT64] = 8, [PV_INT8] = 1,   [PV_INT16] = 2,  [PV_INT32] = 4, [PV_INT64] = 8,
        [PV_UINT8] = 1,   [PV_UINT16] = 2,  [PV_UINT32] = 4, [PV_UINT64] = 8, [PV_BOOL8] = 1
    };
    return (int)t < 0 || (size_t)t >= sizeof size ? 0 : size[t];
}

bool pvi_type_is_float(pv_type t)
{
    return t == PV_FLOAT32 || t == PV_FLOAT64;
}

static bool is_unsigned(pv_type t)
{
    return t == PV_UINT8 || t == PV_UINT16 || t == PV_UINT32 || t == PV_UINT64 || t == PV_BOOL8;
}

/* The bytes of an integer, extended to 64 bits by its sign if it has one. */
static uint64_t integer_bits(pv_type t, const void *x, int64_t i)
{
    switch (t) {
    case PV_INT8: return (uint64_t)((const int8_t *)x)[i];
    case PV_INT16: return (uint64_t)((const int16_t *)x)[i];
    case PV_INT32: return (uint64_t)((const int32_t *)x)[i];
    case PV_UINT8:
    case PV_BOOL8: return ((const uint8_t *)x)[i];
    case PV_UINT16: return ((const uint16_t *)x)[i];
    case PV_UINT32: return ((const uint32_t *)x)[i];
    default: return ((const uint64_t *)x)[i];
    }
}

double pvi_type_value(pv_type t, const void *x, int64_t i)
{
    if (t == PV_FLOAT32) return (double)((const float *)x)[i];
    if (t == PV_FLOAT64) return ((const double *)x)[i];
    const uint64_t bits = integer_bits(t, x, i);
    return is_unsigned(t) ? (double)bits : (double)(int64_t)bits;
}

/* The shortest text that reads back as the same float. */
static void f32_text(float v, char out[32])
{
    double back;
    for (int digits = 6; digits <= 9; digits++) {
        char text[32];
        snprintf(text, sizeof text, "%.*g", digits, (double)v);
        if (digits == 9 || (pvi_parse_f64(text, strlen(text), &back) && (float)back == v)) {
            pvi_f64_text(pvi_parse_f64(text, strlen(text), &back) ? back : (double)v, out); /* any locale */
            return;
        }
    }
}

size_t pvi_type_text(pv_type t, const void *x, int64_t i, char out[PVI_TYPE_TEXT])
{
    memset(out, 0, PVI_TYPE_TEXT);
    if (t == PV_FLOAT32) f32_text(((const float *)x)[i], out);
    else if (t == PV_FLOAT64) pvi_f64_text(((const double *)x)[i], out);
    else if (is_unsigned(t)) snprintf(out, 32, "%llu", (unsigned long long)integer_bits(t, x, i));
    else snprintf(out, 32, "%lld", (long long)integer_bits(t, x, i));
    return strlen(out);
}

static uint64_t value_bits(pv_type t, const void *x, int64_t i)
{
    uint64_t bits = 0;
    if (!pvi_type_is_float(t)) return integer_bits(t, x, i);
    const size_t size = (size_t)pvi_type_size(t);
    memcpy(&bits, (const char *)x + (size_t)i * size, size);
    return bits;
}

bool pvi_label_of(const pvi_label_rule *r, pvi_labels_seen *seen, pv_type t, const void *x, int64_t i, float *y,
                  char *why, size_t why_size)
{
    const uint64_t bits = value_bits(t, x, i), slot = (bits * 0x9E3779B97F4A7C15u) >> 58;
    char text[PVI_TYPE_TEXT];
    if (seen->there[slot] && seen->bits[slot] == bits) return *y = seen->y[slot], true;
    const size_t len = pvi_type_text(t, x, i, text);
    if (!pvi_label_number(r, pvi_type_value(t, x, i), text, len, y, why, why_size)) return false;
    seen->there[slot] = true;
    seen->bits[slot] = bits;
    seen->y[slot] = *y;
    return true;
}

/* ---- the handle ------------------------------------------------- */
pv_status pvi_data_create(pv_ctx *ctx, const pvi_data_ops *ops, int64_t rows, pv_data **out)
{
    pv_data *d = pvi_handle_open(ctx, PVI_DATA, sizeof *d);
    if (!d) return PV_E_NOMEM;
    d->ops = ops;
    d->rows = rows;
    *out = d;
    return PV_OK;
}

pv_status pvi_data_begin(pv_ctx *ctx, pv_data *d)
{
    if (d->used) return pvi_fail(ctx, PV_E_ARG, "%s: has been read, which is possible once", d->ops->name);
    d->used = true;
    return PV_OK;
}

void pv_data_free(pv_data *d)
{
    if (!pvi_alive(d, PVI_DATA, __func__)) return;
    if (d->ops->close) d->ops->close(d);
    pvi_handle_close(d);
}

int64_t pv_data_rows(const pv_data *d)
{
    return pvi_alive(d, PVI_DATA, __func__) ? d->rows : -1;
}

/* ---- files ------------------------------------------------- */
static void close_files(pv_data *d)
{
    pvi_data_files *f = &d->of.files;
    for (int64_t i = 0; f->path && i < f->n; i++) pvi_free(d->ctx, (void *)(uintptr_t)f->path[i]);
    pvi_free(d->ctx, (void *)f->path);
}

static const pvi_data_ops files_ops = { .close = close_files };

pv_status pv_data_files(pv_ctx *ctx, const char *const *paths, int64_t n, pv_data **out)
{
    if (out) *out = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, paths);
    PVI_NEEDS(ctx, out);
    if (n < 1 || n > INT32_MAX) return pvi_fail(ctx, PV_E_ARG, "files: at least one path is needed");
    for (int64_t i = 0; i < n; i++)
        if (!paths[i] || !*paths[i]) return pvi_fail(ctx, PV_E_ARG, "files: path %lld is empty", (long long)i + 1);
    pv_data *d = NULL;
    pv_status s = pvi_data_create(ctx, &files_ops, -1, &d);
    if (s != PV_OK) return s;
    d->of.files.path = pvi_alloc(ctx, (size_t)n * sizeof *d->of.files.path);
    d->of.files.n = n;
    for (int64_t i = 0; d->of.files.path && i < n && s == PV_OK; i++)
        if (!(d->of.files.path[i] = pvi_strdup(ctx, paths[i]))) s = pvi_nomem(ctx);
    if (!d->of.files.path) s = pvi_nomem(ctx);
    if (s == PV_OK) *out = d;
    else pv_data_free(d);
    return s;
}

pv_status pv_data_file(pv_ctx *ctx, const char *path, pv_data **out)
{
    if (out) *out = NULL;
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, path);
    PVI_NEEDS(ctx, out);
    return pv_data_files(ctx, &path, 1, out);
}

/* ---- labels that come apart ------------------------------------------------- */
static pv_status check_labels(pv_data *d, int64_t n)
{
    const char *name = d->ops->name ? d->ops->name : "files";
    if (n < 1 || n > PTRDIFF_MAX / 8) return pvi_fail(d->ctx, PV_E_ARG, "%s: no labels were given", name);
    if (d->rows >= 0 && n != d->rows)
        return pvi_fail(d->ctx, PV_E_ARG, "%s: %lld labels for %lld rows", name, (long long)n, (long long)d->rows);
    return PV_OK;
}

static pv_status check_numbers(pv_data *d, const void *y, pv_type type, int64_t n)
{
    const pv_status s = check_labels(d, n);
    if (s != PV_OK) return s;
    if (!pvi_type_size(type)) return pvi_fail(d->ctx, PV_E_ARG, "labels: %d is no type of values", (int)type);
    if ((uintptr_t)y % (uintptr_t)pvi_type_size(type))
        return pvi_fail(d->ctx, PV_E_ARG, "labels: the values are not aligned");
    return PV_OK;
}

pv_status pv_data_labels(pv_data *d, const void *y, pv_type type, int64_t n)
{
    PVI_CALL(d, PVI_DATA);
    PVI_NEEDS(d->ctx, y);
    const pv_status s = check_numbers(d, y, type, n);
    if (s != PV_OK) return s;
    d->y = y;
    d->y_type = type;
    d->words = NULL;
    d->labels = n;
    return PV_OK;
}

pv_status pv_data_label_places(pv_data *d, const void *y, pv_type type, int64_t n, const char *const *words,
                               int64_t count)
{
    PVI_CALL(d, PVI_DATA);
    PVI_NEEDS(d->ctx, y);
    PVI_NEEDS(d->ctx, words);
    const pv_status s = check_numbers(d, y, type, n);
    if (s != PV_OK) return s;
    if (pvi_type_is_float(type) || type == PV_BOOL8)
        return pvi_fail(d->ctx, PV_E_ARG, "labels: places in a list of words are integers");
    for (int64_t i = 0; i < count; i++)
        if (!words[i]) return pvi_fail(d->ctx, PV_E_ARG, "labels: word %lld is NULL", (long long)i + 1);
    for (int64_t i = 0; i < n; i++) /* a negative one is larger than any count */
        if (integer_bits(type, y, i) >= (uint64_t)(count > 0 ? count : 0))
            return pvi_fail(d->ctx, PV_E_ARG, "labels: label %lld is none of %lld words", (long long)i + 1,
                            (long long)count);
    d->y = y;
    d->y_type = type;
    d->words = words;
    d->n_words = count;
    d->labels = n;
    return PV_OK;
}

pv_status pv_data_label_words(pv_data *d, const char *const *y, int64_t n)
{
    PVI_CALL(d, PVI_DATA);
    PVI_NEEDS(d->ctx, y);
    const pv_status s = check_labels(d, n);
    if (s != PV_OK) return s;
    for (int64_t i = 0; i < n; i++)
        if (!y[i]) return pvi_fail(d->ctx, PV_E_ARG, "labels: label %lld is NULL", (long long)i + 1);
    d->words = y;
    d->y = NULL;
    d->labels = n;
    return PV_OK;
}

/* ---- ids that come apart ------------------------------------------------- */
static pv_status check_persons(pv_data *d, int64_t n)
{
    const char *name = d->ops->name ? d->ops->name : "files";
    if (n < 1 || n > PTRDIFF_MAX / 8) return pvi_fail(d->ctx, PV_E_ARG, "%s: no ids of persons were given", name);
    if (d->rows >= 0 && n != d->rows)
        return pvi_fail(d->ctx, PV_E_ARG, "%s: another number of ids of persons than of rows", name);
    return PV_OK;
}

pv_status pv_data_persons(pv_data *d, const void *id, pv_type type, int64_t n)
{
    PVI_CALL(d, PVI_DATA);
    PVI_NEEDS(d->ctx, id);
    const pv_status s = check_persons(d, n);
    if (s != PV_OK) return s;
    if (!pvi_type_size(type)) return pvi_fail(d->ctx, PV_E_ARG, "persons: %d is no type of values", (int)type);
    if ((uintptr_t)id % (uintptr_t)pvi_type_size(type))
        return pvi_fail(d->ctx, PV_E_ARG, "persons: the values are not aligned");
    d->person = id;
    d->person_type = type;
    d->person_words = NULL;
    d->persons = n;
    return PV_OK;
}

pv_status pv_data_person_words(pv_data *d, const char *const *id, int64_t n)
{
    PVI_CALL(d, PVI_DATA);
    PVI_NEEDS(d->ctx, id);
    const pv_status s = check_persons(d, n);
    if (s != PV_OK) return s;
    for (int64_t i = 0; i < n; i++)
        if (!id[i]) return pvi_fail(d->ctx, PV_E_ARG, "persons: id %lld is NULL", (long long)i + 1);
    d->person_words = id;
    d->person = NULL;
    d->persons = n;
    return PV_OK;
}

/* (2): looked up where 16 bytes can be read; what is too long for any declared word is cut, and matches none. */
static bool word_label(const struct pv_load *job, pvi_label_memo *memo, const char *word, float *y, char why[256])
{
    char text[PVI_TEXT_ROOM];
    const size_t n = strnlen(word, sizeof text - 32);
    memcpy(text, word, n);
    memset(text + n, 0, 32);
    return pvi_label_recall(&job->label, memo, text, n, y, why, 256);
}

pv_status pvi_labels_apart(struct pv_load *job)
{
    const pv_data *d = job->from;
    char why[256] = "";
    pvi_label_memo memo = { 0 };
    pvi_labels_seen *seen = NULL;
    pv_status s = PV_OK;
    if (!job->aparts || job->apart) return PV_OK;
    job->apart = pvi_raw(job->ctx, (size_t)d->labels * sizeof *job->apart);
    seen = pvi_alloc(job->ctx, sizeof *seen);
    if (!job->apart || !seen) s = pvi_nomem(job->ctx);
    for (int64_t i = 0; i < d->labels && s == PV_OK; i++) {
        const int64_t at = d->words && d->y ? (int64_t)integer_bits(d->y_type, d->y, i) : i;
        if (d->words && d->y && !(at >= 0 && at < d->n_words)) { /* it was in range when it was handed over */
            s = pvi_fail(job->ctx, PV_E_ARG, "%s: labels changed after they were handed over", job->name);
            break;
        }
        const bool good = d->words
                              ? word_label(job, &memo, d->words[at], &job->apart[i], why)
                              : pvi_label_of(&job->label, seen, d->y_type, d->y, i, &job->apart[i], why, sizeof why);
        if (!good)
            s = pvi_fail(job->ctx, PV_E_FORMAT, "%s: label %lld: %s", job->name, (long long)i + 1,
                         pvi_told(job, why));
    }
    pvi_free(job->ctx, seen);
    return s;
}
