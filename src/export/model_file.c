/* model_file.c - the model file: weights, settings and certificate in one file.
 *
 *   offset  bytes
 *   0       8      "PRIVETM1"
 *   8       8      format version, 1
 *   16      8      h, length of the header
 *   24      8      c, length of the certificate
 *   32      8      d, number of weights
 *   40      h      header: canonical JSON, begins with the words PRIVATE or NOT PRIVATE
 *   40+h    c      certificate: canonical JSON, as certificate.c writes it
 *   40+h+c  8 d    weights, IEEE 754 doubles
 *   end-32  32     BLAKE2b-256 of every byte before
 *
 * Integers and doubles are little-endian, nothing is padded, nothing follows.  A reader compares the
 * lengths with the size of the file before it allocates.  The certificate is stored as plain text, so
 * that it can be read, and taken out, with any tool.  Writing goes through a temporary file and a
 * rename: at every moment the path holds the old model or the new one. */
#include "cert/cert.h"
#include "export/model_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 1, PREFIX = 40, BLOCK = 4096 };
#define TEXT_LIMIT   ((uint64_t)1 << 28) /* header or certificate, bytes */
#define WEIGHT_LIMIT ((uint64_t)1 << 40) /* keeps every sum of lengths far from overflow */

static void put_u64(uint8_t *out, uint64_t x)
{
    for (int i = 0; i < 8; i++) out[i] = (uint8_t)(x >> (8 * i));
}

static uint64_t get_u64(const uint8_t *in)
{
    uint64_t x = 0;
    for (int i = 0; i < 8; i++) x |= (uint64_t)in[i] << (8 * i);
    return x;
}

/* ---- header ------------------------------------------------------------------------------------------ */

static void write_domain(pvi_jw *w, const pv_domain *dom)
{
    pvi_jw_open(w, "domain", '{');
    pvi_jw_i64(w, dom->unit_rows ? "persons" : "rows", dom->n);
    if (dom->unit_rows) pvi_jw_i64(w, "rows_per_person", dom->unit_rows);
    pvi_jw_i64(w, "columns", dom->p);
    pvi_jw_f64(w, "row_norm", dom->row_norm);
    pvi_jw_i64(w, "classes", dom->classes);
    pvi_jw_f64(w, "y_lo", dom->y_lo);
    pvi_jw_f64(w, "y_hi", dom->y_hi);
    if (dom->height) {
        pvi_jw_i64(w, "height", dom->height);
        pvi_jw_i64(w, "width", dom->width);
        pvi_jw_i64(w, "channels", dom->channels);
    }
    pvi_jw_close(w, '}');
}

static void write_header(pvi_jw *w, const pvi_model_file *m)
{
    pvi_jw_open(w, NULL, '{');
    pvi_jw_str(w, "notice", m->is_private ? "PRIVATE: see the certificate" : "NOT PRIVATE");
    pvi_jw_str(w, "model", m->model);
    write_domain(w, &m->domain);
    if (m->class_names) {
        pvi_jw_open(w, "class_names", '[');
        for (int64_t i = 0; i < m->domain.classes; i++) pvi_jw_str(w, NULL, m->class_names[i]);
        pvi_jw_close(w, ']');
    } else {
        pvi_jw_str(w, "class_names", NULL);
    }
    pvi_jw_str(w, "settings", m->settings);
    pvi_jw_str(w, "schema", m->schema);
    if (m->noise > 0.0) pvi_jw_f64(w, "noise_at_most", m->noise); /* files of before have none */
    pvi_jw_close(w, '}');
    pvi_str_puts(w->out, "\n");
}

typedef struct header {
    pv_ctx *ctx;
    pv_arena *arena;
    const char *path;
    pvi_model_file *m;
} header;

static pv_status bad_header(header *h, const char *what)
{
    return pvi_fail(h->ctx, PV_E_FORMAT, "%s: damaged model file: %s", h->path, what);
}

static bool text_field(const pvi_json *root, const char *key, const char **out)
{
    const pvi_json *v = pvi_json_get(root, key);
    if (v && v->type == PVI_JSTR) *out = v->text;
    return v && (v->type == PVI_JSTR || v->type == PVI_JNULL);
}

static bool f64_field(const pvi_json *obj, const char *key, double *out)
{
    const pvi_json *v = pvi_json_get(obj, key);
    if (v && v->type == PVI_JNUM) *out = v->num;
    return v && v->type == PVI_JNUM;
}

static bool read_image(const pvi_json *dom, pv_domain *out)
{
    if (!pvi_json_get(dom, "height")) return true;
    return pvi_json_i64(pvi_json_get(dom, "height"), &out->height) &&
           pvi_json_i64(pvi_json_get(dom, "width"), &out->width) &&
           pvi_json_i64(pvi_json_get(dom, "channels"), &out->channels) && out->height > 0 && out->width > 0 &&
           out->channels > 0 && out->height <= INT32_MAX && out->width <= INT32_MAX &&
           out->height * out->width <= INT32_MAX && out->channels <= INT32_MAX &&
           out->height * out->width * out->channels <= out->p;
}

static bool read_domain(const pvi_json *dom, pv_domain *out)
{
    const pvi_json *persons = pvi_json_get(dom, "persons");
    if (persons && !(pvi_json_i64(pvi_json_get(dom, "rows_per_person"), &out->unit_rows) && out->unit_rows >= 1))
        return false;
    return pvi_json_i64(persons ? persons : pvi_json_get(dom, "rows"), &out->n) &&
           pvi_json_i64(pvi_json_get(dom, "columns"), &out->p) &&
           pvi_json_i64(pvi_json_get(dom, "classes"), &out->classes) && f64_field(dom, "row_norm", &out->row_norm) &&
           f64_field(dom, "y_lo", &out->y_lo) && f64_field(dom, "y_hi", &out->y_hi) && out->n >= 0 && out->p >= 0 &&
           out->classes >= 0 && out->row_norm >= 0.0 && out->y_lo <= out->y_hi && read_image(dom, out);
}

static pv_status read_class_names(header *h, const pvi_json *v)
{
    if (v && v->type == PVI_JNULL) return PV_OK;
    if (!v || v->type != PVI_JARR || v->count != h->m->domain.classes) return bad_header(h, "class_names");
    const char **names = pv_arena_get(h->arena, ((size_t)v->count + 1) * sizeof *names);
    if (!names) return pvi_nomem(h->ctx);
    int64_t n = 0;
    for (const pvi_json *c = v->child; c; c = c->next) {
        if (c->type != PVI_JSTR) return bad_header(h, "class_names");
        names[n++] = c->text;
    }
    h->m->class_names = names;
    return PV_OK;
}

/* The header must be the text this file would write for it: no unknown field, no second spelling. */
static pv_status compare_header(header *h, const char *text, size_t len)
{
    pvi_str canon = { .ctx = h->ctx };
    pvi_jw w = { .out = &canon, .indent = 1 };
    write_header(&w, h->m);
    pv_status s = PV_OK;
    if (canon.failed) s = pvi_nomem(h->ctx);
    else if (canon.len != len || memcmp(canon.s, text, len) != 0)
        s = bad_header(h, "the header is not as privet writes it");
    pvi_str_free(&canon);
    return s;
}

static pv_status read_header(header *h, const char *text, size_t len)
{
    const char *notice = NULL;
    pvi_json *root;
    pv_status s = pvi_json_parse(h->ctx, h->arena, h->path, text, len, &root);
    if (s != PV_OK) return s;
    if (!text_field(root, "notice", &notice) || !text_field(root, "model", &h->m->model) || !h->m->model ||
        !text_field(root, "settings", &h->m->settings) || !h->m->settings ||
        !text_field(root, "schema", &h->m->schema))
        return bad_header(h, "a field of the header is missing");
    if (pvi_json_get(root, "noise_at_most") && !(f64_field(root, "noise_at_most", &h->m->noise) && h->m->noise > 0.0))
        return bad_header(h, "noise_at_most");
    if (!read_domain(pvi_json_get(root, "domain"), &h->m->domain)) return bad_header(h, "domain");
    return read_class_names(h, pvi_json_get(root, "class_names"));
}

/* ---- what the certificate binds -------------------------------------------------------------------------- */

/* As stored: little-endian.  Calls fn with pieces of at most BLOCK bytes. */
static void each_block(const double *w, int64_t d, void (*fn)(void *user, const void *data, size_t size), void *user)
{
    uint8_t block[BLOCK];
    for (int64_t at = 0; at < d; at += BLOCK / 8) {
        const int64_t n = d - at < BLOCK / 8 ? d - at : BLOCK / 8;
        for (int64_t j = 0; j < n; j++) {
            uint64_t bits;
            memcpy(&bits, &w[at + j], 8);
            put_u64(block + 8 * j, bits);
        }
        fn(user, block, (size_t)n * 8);
    }
}

static void hash_block(void *hasher, const void *data, size_t size)
{
    pvi_hash_add(hasher, data, size);
}

void pvi_weights_digest(const double *w, int64_t d, char hex[65])
{
    uint8_t hash[PVI_HASH_SIZE];
    pvi_hasher h;
    pvi_hash_begin(&h, NULL, 0);
    each_block(w, d, hash_block, &h);
    pvi_hash_end(&h, hash);
    pvi_hex(hash, sizeof hash, hex);
}

pv_status pvi_model_digests(pv_ctx *ctx, const pvi_model_file *m, char header_hex[65], char weights_hex[65])
{
    pvi_str head = { .ctx = ctx };
    pvi_jw w = { .out = &head, .indent = 1 };
    uint8_t hash[PVI_HASH_SIZE];

    write_header(&w, m);
    const bool failed = head.failed;
    if (!failed) pvi_hash(NULL, 0, head.s, head.len, hash);
    pvi_str_free(&head);
    if (failed) return pvi_nomem(ctx);
    pvi_hex(hash, sizeof hash, header_hex);
    pvi_weights_digest(m->w, m->d, weights_hex);
    return PV_OK;
}

static bool same_text(const char *x, const char *y)
{
    return x && y && strcmp(x, y) == 0;
}

/* Whether the model is private is what its certificate says, never an argument; and from version 3 on it must be the
 * certificate of these weights under this header. */
static pv_status check_binding(pv_ctx *ctx, const char *path, const pvi_cert *c, const pvi_model_file *m)
{
    char header_hex[65], weights_hex[65];
    if (c->version < 3) return PV_OK;
    const pv_status s = pvi_model_digests(ctx, m, header_hex, weights_hex);
    if (s != PV_OK) return s;
    if (!same_text(c->weights_digest, weights_hex))
        return pvi_fail(ctx, PV_E_VERIFY, "%s: does not hold: the certificate is of other weights", path);
    if (!same_text(c->header_digest, header_hex))
        return pvi_fail(
            ctx, PV_E_VERIFY,
            "%s: does not hold: the certificate is of another header (model, domain, classes, settings or "
            "schema)",
            path);
    return PV_OK;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static pv_status check_model(pv_ctx *ctx, const char *path, const pvi_model_file *m)
{
    if (!m->model || !m->settings || !m->certificate || m->d < 0)
        return pvi_fail(ctx, PV_E_ARG, "%s: a model needs a name, settings and a certificate", path);
    for (int64_t j = 0; j < m->d; j++)
        if (!isfinite(m->w[j]))
            return pvi_fail(ctx, PV_E_NUMERIC, "%s: weight %lld is not finite: not written", path, (long long)j);
    return PV_OK;
}

static pv_status bind(pv_ctx *ctx, const char *path, const char *cert, size_t len, pvi_model_file *m)
{
    pvi_cert c;
    pv_arena *a = pvi_arena_create(ctx);
    if (!a) return pvi_nomem(ctx);
    pv_status s = pvi_cert_parse(ctx, a, path, cert, len, &c);
    m->is_private = s == PV_OK && c.is_private;
    if (s == PV_OK) s = check_binding(ctx, path, &c, m);
    pvi_arena_free(a);
    return s;
}

typedef struct sink { /* a file, or bytes in memory */
    pvi_atomic *f;
    pvi_str *bytes;
    pvi_hasher h;
} sink;

static void put(sink *s, const void *data, size_t size)
{
    if (s->bytes) pvi_str_add(s->bytes, data, size);
    else pvi_atomic_put(s->f, data, size);
}

static void emit(void *user, const void *data, size_t size)
{
    sink *s = user;
    pvi_hash_add(&s->h, data, size);
    put(s, data, size);
}

static void emit_model(sink *to, const pvi_model_file *m, const pvi_str *head)
{
    uint8_t prefix[PREFIX], hash[PVI_HASH_SIZE];
    const size_t cert_len = strlen(m->certificate);

    memcpy(prefix, pvi_model_magic, sizeof pvi_model_magic);
    put_u64(prefix + 8, VERSION);
    put_u64(prefix + 16, head->len);
    put_u64(prefix + 24, cert_len);
    put_u64(prefix + 32, (uint64_t)m->d);
    pvi_hash_begin(&to->h, NULL, 0);
    emit(to, prefix, sizeof prefix);
    emit(to, head->s, head->len);
    emit(to, m->certificate, cert_len);
    each_block(m->w, m->d, emit, to);
    pvi_hash_end(&to->h, hash);
    put(to, hash, sizeof hash);
}

/* What is to be written, looked through, and its header. */
static pv_status prepare(pv_ctx *ctx, const char *path, pvi_model_file *m, pvi_str *head)
{
    pvi_jw w = { .out = head, .indent = 1 };
    pv_status s = check_model(ctx, path, m);
    if (s == PV_OK) s = bind(ctx, path, m->certificate, strlen(m->certificate), m);
    if (s != PV_OK) return s;
    write_header(&w, m);
    return head->failed ? pvi_nomem(ctx) : PV_OK;
}

pv_status pvi_model_write(pv_ctx *ctx, const char *path, const pvi_model_file *model)
{
    pvi_model_file m = *model;
    pvi_str head = { .ctx = ctx };
    pvi_atomic file;
    pv_status s = prepare(ctx, path, &m, &head);
    if (s == PV_OK) s = pvi_atomic_open(ctx, path, &file);
    if (s == PV_OK) {
        emit_model(&(sink) { .f = &file }, &m, &head);
        s = pvi_atomic_commit(&file);
    }
    pvi_str_free(&head);
    return s;
}

pv_status pvi_model_to_bytes(pv_ctx *ctx, const pvi_model_file *model, pvi_str *out)
{
    pvi_model_file m = *model;
    pvi_str head = { .ctx = ctx };
    const pv_status s = prepare(ctx, "model", &m, &head);
    if (s == PV_OK) emit_model(&(sink) { .bytes = out }, &m, &head);
    pvi_str_free(&head);
    return s != PV_OK ? s : out->failed ? pvi_nomem(ctx) : PV_OK;
}

/* ---- reading -------------------------------------------------------------------------------------------- */

typedef struct lengths {
    uint64_t header, certificate, weights;
} lengths;

/* The prefix against the size of the file: afterwards every length is safe to allocate. */
static pv_status read_prefix(pv_ctx *ctx, const char *path, const uint8_t *p, size_t got, uint64_t size, lengths *n)
{
    if (!pvi_is_model_file((const char *)p, got))
        return pvi_fail(ctx, PV_E_FORMAT, "%s: not a privet model file", path);
    if (got < PREFIX) return pvi_fail(ctx, PV_E_FORMAT, "%s: damaged model file: it ends in the prefix", path);
    if (get_u64(p + 8) != VERSION)
        return pvi_fail(ctx, PV_E_FORMAT, "%s: model format version %llu; this privet reads version %d", path,
                        (unsigned long long)get_u64(p + 8), VERSION);
    *n = (lengths) { get_u64(p + 16), get_u64(p + 24), get_u64(p + 32) };
    if (n->header > TEXT_LIMIT || n->certificate > TEXT_LIMIT || n->weights > WEIGHT_LIMIT ||
        size != PREFIX + n->header + n->certificate + 8 * n->weights + PVI_HASH_SIZE)
        return pvi_fail(ctx, PV_E_FORMAT, "%s: damaged model file: %llu bytes do not fit the recorded lengths", path,
                        (unsigned long long)size);
    return PV_OK;
}

typedef struct source {
    pv_ctx *ctx;
    const char *path;
    int fd;            /* owned by pvi_model_read; unless `at`: bytes in memory */
    const uint8_t *at; /* the next of them */
    size_t left;
    pvi_hasher hash;
} source;

/* As many bytes as there are, up to `size`. */
static size_t read_some(const source *in, char *out, size_t size)
{
    size_t got = 0;
    while (got < size) {
        const ssize_t n = read(in->fd, out + got, size - got);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        got += (size_t)n;
    }
    return got;
}

static size_t get(source *in, void *out, size_t size)
{
    if (!in->at) return read_some(in, out, size);
    if (size > in->left) size = in->left;
    if (size) memcpy(out, in->at, size);
    in->at += size;
    in->left -= size;
    return size;
}

static pv_status take(source *in, void *out, size_t size)
{
    if (get(in, out, size) != size)
        return pvi_fail(in->ctx, PV_E_FORMAT, "%s: damaged model file: it ends early", in->path);
    pvi_hash_add(&in->hash, out, size);
    return PV_OK;
}

static pv_status take_text(source *in, pv_arena *a, uint64_t len, char **out)
{
    *out = pv_arena_get(a, (size_t)len + 1); /* zeroed: the text ends */
    return *out ? take(in, *out, (size_t)len) : pvi_nomem(in->ctx);
}

static pv_status take_weights(source *in, pv_arena *a, uint64_t d, const double **out)
{
    double *w = pv_arena_f64(a, (int64_t)d);
    if (!w) return pvi_nomem(in->ctx);
    const pv_status s = take(in, w, (size_t)d * 8);
    for (uint64_t j = 0; j < d && s == PV_OK; j++) {
        uint8_t raw[8];
        memcpy(raw, &w[j], 8);
        const uint64_t bits = get_u64(raw);
        memcpy(&w[j], &bits, 8);
        if (!isfinite(w[j]))
            return pvi_fail(in->ctx, PV_E_FORMAT, "%s: damaged model file: weight %llu is not finite", in->path,
                            (unsigned long long)j);
    }
    *out = w;
    return s;
}

static pv_status check_hash(source *in)
{
    uint8_t want[PVI_HASH_SIZE], got[PVI_HASH_SIZE];
    pvi_hash_end(&in->hash, want);
    if (get(in, got, sizeof got) != sizeof got || memcmp(want, got, sizeof got) != 0)
        return pvi_fail(in->ctx, PV_E_FORMAT, "%s: damaged model file: the checksum does not match", in->path);
    return PV_OK;
}

static pv_status read_body(source *in, pv_arena *a, const lengths *n, pvi_model_file *out)
{
    header h = { in->ctx, a, in->path, out };
    char *head = NULL, *cert = NULL;
    pv_status s = take_text(in, a, n->header, &head);
    if (s == PV_OK) s = take_text(in, a, n->certificate, &cert);
    if (s == PV_OK) s = take_weights(in, a, n->weights, &out->w);
    if (s == PV_OK) s = check_hash(in); /* before anything is believed */
    out->certificate = cert;
    out->d = (int64_t)n->weights;
    if (s == PV_OK) s = read_header(&h, head, (size_t)n->header);
    if (s == PV_OK) s = bind(in->ctx, in->path, cert, (size_t)n->certificate, out);
    return s == PV_OK ? compare_header(&h, head, (size_t)n->header) : s;
}

static pv_status read_all(source *in, pv_arena *a, uint64_t size, pvi_model_file *out)
{
    uint8_t prefix[PREFIX] = { 0 };
    lengths n = { 0 };
    const size_t got = get(in, prefix, sizeof prefix);
    pvi_hash_begin(&in->hash, NULL, 0);
    pvi_hash_add(&in->hash, prefix, sizeof prefix);
    pv_status s = read_prefix(in->ctx, in->path, prefix, got, size, &n);
    if (s == PV_OK) s = read_body(in, a, &n, out);
    if (s != PV_OK) memset(out, 0, sizeof *out);
    return s;
}

static pv_status size_of(const source *in, uint64_t *size)
{
    struct stat st;
    if (fstat(in->fd, &st) != 0) return pvi_fail(in->ctx, PV_E_IO, "%s: %s", in->path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return pvi_fail(in->ctx, PV_E_IO, "%s: not a regular file", in->path);
    *size = (uint64_t)st.st_size;
    return PV_OK;
}

pv_status pvi_model_read(pv_ctx *ctx, pv_arena *a, const char *path, pvi_model_file *out)
{
    source in = { .ctx = ctx, .path = path };
    uint64_t size = 0;

    memset(out, 0, sizeof *out);
    in.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block: it is refused */
    if (in.fd < 0) return pvi_fail(ctx, PV_E_IO, "%s: %s", path, strerror(errno));
    pv_status s = size_of(&in, &size);
    if (s == PV_OK) s = read_all(&in, a, size, out);
    close(in.fd);
    return s;
}

pv_status pvi_model_of_bytes(pv_ctx *ctx, pv_arena *a, const char *name, const void *bytes, size_t size,
                             pvi_model_file *out)
{
    source in = { .ctx = ctx, .path = name, .fd = -1, .at = bytes, .left = size };
    memset(out, 0, sizeof *out);
    return read_all(&in, a, size, out);
}

/* ---- copying ------------------------------------------------------------------------------------------------ */

static bool copy_text(pv_arena *a, const char *from, const char **out)
{
    *out = from ? pvi_arena_strdup(a, from, strlen(from)) : NULL;
    return !from || *out;
}

pv_status pvi_model_copy(pv_ctx *ctx, pv_arena *a, const pvi_model_file *from, pvi_model_file *out)
{
    const size_t k = from->class_names ? (size_t)from->domain.classes : 0;
    double *w = pv_arena_f64(a, from->d);
    const char **names = pv_arena_get(a, (k + 1) * sizeof *names);
    *out = *from;
    bool ok = w && names && copy_text(a, from->model, &out->model) && copy_text(a, from->settings, &out->settings) &&
              copy_text(a, from->certificate, &out->certificate) && copy_text(a, from->schema, &out->schema);
    for (size_t i = 0; ok && i < k; i++) ok = copy_text(a, from->class_names[i], &names[i]);
    if (!ok) return pvi_nomem(ctx);
    memcpy(w, from->w, sizeof *w * (size_t)from->d);
    out->w = w;
    out->class_names = from->class_names ? names : NULL;
    return PV_OK;
}
