/* core.h - what every folder of the library may use; core itself uses nothing else in src/. */
#ifndef PVI_CORE_H
#define PVI_CORE_H
#include <fenv.h>
#include <locale.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "core/isa.h"
#include "plugin.h"

#define PVI_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- context, errors (ctx.c) ----------------------------------------------------------- */
typedef struct pvi_pool pvi_pool;
/* How everything that a caller holds begins (handle.c).  The magic word says what it is and that it is alive. */
#define PVI_HANDLE                                                                                                   \
    uint32_t magic;                                                                                                  \
    pv_ctx *ctx
enum { PVI_TEMPS = 8 }; /* files that one context can have under way at a time; further ones are not noted */
struct pv_ctx {
    PVI_HANDLE;      /* ctx: itself */
    int handles;     /* made from it and alive */
    bool closing;    /* pv_ctx_free came before theirs: goes with the last of them */
    locale_t locale; /* "C" */
    pv_alloc alloc;
    pv_log_fn log;
    void *log_user;
    pv_progress_fn progress;
    void *progress_user;
    pvi_pool *pool;                  /* owned; started on first use */
    _Atomic(char *) temp[PVI_TEMPS]; /* of files under way (file.c) */
    char err[1024];
};

/* Records the message (file, line, column first where there is one) and returns s. */
pv_status pvi_fail(pv_ctx *ctx, pv_status s, const char *fmt, ...) PVI_PRINTF(3, 4);
int pvi_character(const unsigned char *s); /* bytes of the UTF-8 character at s; 0: none, or a control character (C1
                                            * included) */
void pvi_log(pv_ctx *ctx, pv_level level, const char *fmt, ...) PVI_PRINTF(3, 4);
bool pvi_progress(pv_ctx *ctx, const char *what, double done, double total, double epsilon);
void *pvi_alloc(pv_ctx *ctx, size_t size); /* zeroed; NULL: no memory                       */
void *pvi_realloc(pv_ctx *ctx, void *p, size_t old_size, size_t size);
void pvi_free(pv_ctx *ctx, void *p);
char *pvi_strdup(pv_ctx *ctx, const char *s);
pv_status pvi_nomem(pv_ctx *ctx); /* pvi_fail with PV_E_NOMEM                                */

/* A privacy precondition inside the library is false: carrying on could release data.     */
#define PVI_REQUIRE(cond) ((cond) ? (void)0 : pvi_misuse(#cond, __FILE__, __LINE__))
_Noreturn void pvi_misuse(const char *cond, const char *file, int line);

/* ---- floating-point environment (host_fenv.c) ---------------------------------------------- */
void pvi_fenv_default(fenv_t *host);
void pvi_fenv_restore(fenv_t *host);
void pvi_after_host(pv_ctx *ctx); /* behind every callback: the default environment and locale again */
bool pvi_fenv_is_default(void);   /* rounding to nearest, gradual underflow */
/* First line of a public call that computes and has no context. */
#define PVI_FENV                                                                                                     \
    fenv_t host_fenv __attribute__((cleanup(pvi_fenv_restore)));                                                     \
    pvi_fenv_default(&host_fenv)

/* ---- handles and calls (handle.c) -------------------------------------------------------------- */
typedef enum pvi_kind {
    PVI_CTX = 0x50764374,
    PVI_PLAN = 0x5076506c,
    PVI_RESULT = 0x50765265,
    PVI_MODEL = 0x50764d6f,
    PVI_DATA = 0x50764461,
    PVI_FREED = 0x50764465
} pvi_kind;
/* false: NULL.  A handle of another kind, or one that was freed, ends the process. */
bool pvi_alive(const void *handle, pvi_kind kind, const char *call);
/* Zeroed, counted in the context; NULL: no memory, and the message says so. */
void *pvi_handle_open(pv_ctx *ctx, pvi_kind kind, size_t size);
void pvi_handle_close(void *handle); /* the last line of a _free */

typedef struct pvi_host { /* what a call puts aside */
    fenv_t fenv;
    locale_t locale;
} pvi_host;
void pvi_enter(pvi_host *host, pv_ctx *ctx);
void pvi_leave(pvi_host *host);
/* First line of every public call, after each `out` is NULL: PV_E_ARG without a handle; until it returns, no message,
 * the default floating-point environment and the locale "C". */
#define PVI_CALL(handle, kind)                                                                                       \
    if (!pvi_alive(handle, kind, __func__)) return PV_E_ARG;                                                         \
    pvi_host host_state __attribute__((cleanup(pvi_leave)));                                                         \
    pvi_enter(&host_state, (handle)->ctx)
/* Next lines: what may not be false, by its name. */
#define PVI_NEEDS(ctx, p)                                                                                            \
    if (!(p)) return pvi_fail(ctx, PV_E_ARG, "%s: %s is NULL", __func__, #p)
#define PVI_TAKES(ctx, handle, kind)                                                                                 \
    if (!pvi_alive(handle, kind, __func__)) return pvi_fail(ctx, PV_E_ARG, "%s: %s is NULL", __func__, #handle)
/* Last line: PV_OK leaves no message, whatever was tried on the way; every failure has one. */
pv_status pvi_done(pv_ctx *ctx, pv_status s);

/* ---- arena (arena.c) --------------------------------------------------------------------- */
pv_arena *pvi_arena_create(pv_ctx *ctx); /* NULL: no memory                                   */
void pvi_arena_free(pv_arena *a);        /* wipes nothing; use crypto for secrets              */
pv_ctx *pvi_arena_ctx(const pv_arena *a);
char *pvi_arena_strdup(pv_arena *a, const char *s, size_t len);

/* ---- growing text (strbuf.c) --------------------------------------------------------------- */
typedef struct pvi_str { /* zero-initialise, set ctx; text is NUL-terminated                       */
    pv_ctx *ctx;
    char *s; /* owned */
    size_t len, cap;
    bool failed; /* an allocation failed; sticky, checked once at the end                           */
} pvi_str;
void pvi_str_add(pvi_str *b, const char *s, size_t len);
void pvi_str_puts(pvi_str *b, const char *s);
void pvi_str_printf(pvi_str *b, const char *fmt, ...) PVI_PRINTF(2, 3);
void pvi_str_free(pvi_str *b);
/* Takes the text out; PV_E_NOMEM if any append failed. */
pv_status pvi_str_take(pvi_str *b, char **out);

/* ---- JSON (json.c) -------------------------------------------------------------------------- */
typedef enum pvi_jtype { PVI_JNULL, PVI_JBOOL, PVI_JNUM, PVI_JSTR, PVI_JARR, PVI_JOBJ } pvi_jtype;
typedef struct pvi_json {
    pvi_jtype type;
    const char *key;  /* in an object; NUL-terminated                                              */
    const char *text; /* string value (unescaped) or the number as written                         */
    size_t text_len;
    double num;    /* PVI_JNUM; PVI_JBOOL 0 or 1                                                       */
    int64_t count; /* children                                                       */
    struct pvi_json *child, *next; /* first child; next sibling                                     */
    int line, column;
} pvi_json;
/* Strict JSON; duplicate keys, more than 1000 of them, depth above 64, trailing text and NUL in strings are refused.
 * `name` starts the error message.  The tree lives in the arena. */
pv_status pvi_json_parse(pv_ctx *ctx, pv_arena *a, const char *name, const char *text, size_t len, pvi_json **out);
const pvi_json *pvi_json_get(const pvi_json *obj, const char *key); /* NULL: absent                */
/* Exact integer, no rounding: false if it is not one or does not fit. */
bool pvi_json_i64(const pvi_json *v, int64_t *out);

/* Writer.  Objects and arrays may nest; commas are placed by the writer.  indent 0 writes one
 * line.  Doubles are written with 17 significant digits when fewer do not round-trip;
 * infinities and NaN become strings ("inf", "-inf", "nan"), since JSON has none. */
typedef struct pvi_jw {
    pvi_str *out;
    int indent, depth;
    bool first;
} pvi_jw;
void pvi_jw_open(pvi_jw *w, const char *key, char bracket); /* key NULL inside arrays and at top   */
void pvi_jw_close(pvi_jw *w, char bracket);
void pvi_jw_str(pvi_jw *w, const char *key, const char *value); /* NULL: null                       */
void pvi_jw_f64(pvi_jw *w, const char *key, double value);
void pvi_jw_i64(pvi_jw *w, const char *key, int64_t value);
void pvi_jw_bool(pvi_jw *w, const char *key, bool value);
void pvi_jw_raw(pvi_jw *w, const char *key, const char *json); /* already JSON                      */
void pvi_f64_text(double x, char out[32]);                     /* shortest text that reads back as x */

/* ---- numbers (number.c): locale-free ------------------------------------------------------------ */
bool pvi_parse_f64(const char *s, size_t len, double *out); /* whole text; decimal, inf, nan allowed  */
bool pvi_parse_i64(const char *s, size_t len, int64_t *out);
double pvi_digits_up(double x, int digits); /* x > 0 rounded up to so many decimal digits */

/* ---- parameters (param.c) ------------------------------------------------------------------------ */
/* Writes defaults into cfg (cfg_size bytes, zeroed by the caller). */
void pvi_param_defaults(const pv_param *rows, void *cfg);
/* Parses, range-checks and stores one value.  `prefix` ("optimizer.") names the key in messages;
 * strings are copied to the arena. */
pv_status pvi_param_set(pv_ctx *ctx, pv_arena *a, const char *prefix, const pv_param *rows, void *cfg,
                        const char *key, const char *value);
const pv_param *pvi_param_find(const pv_param *rows, const char *key);
void pvi_param_text(const pv_param *row, const void *cfg, pvi_str *out); /* the value as it would be set */
void pvi_param_json(const pv_param *row, const void *cfg, pvi_jw *w, const char *key);
void pvi_param_describe(const pv_param *row, pvi_jw *w); /* for `privet list`                          */
/* Is this list for so many layers?  PV_E_PARAM with its key: neither one number nor as many. */
pv_status pvi_list_check(pv_ctx *ctx, const char *key, const pv_numbers *l, int64_t layers);
static inline double pvi_list_at(const pv_numbers *l, int64_t i) /* of layer i; n > 0 */
{
    return l->v[l->n == 1 ? 0 : i];
}
const char *pvi_nearest(const char *word, const char *const *words, int64_t n); /* NULL: nothing near    */

/* ---- threads (parallel.c) -------------------------------------------------------------------------- */
void pvi_pool_free(pvi_pool *pool, pv_ctx *ctx);
int pvi_threads(pv_ctx *ctx);                                  /* at least 1                            */
pv_status pvi_set_threads(pv_ctx *ctx, int threads);           /* 0: as many as cores                   */
typedef void (*pvi_task)(void *arg, int64_t task, int thread); /* thread < pvi_threads                  */
/* Runs fn for task = 0 .. n-1, each exactly once, on all threads; returns when all are done.  Which
 * thread runs which task is not fixed, so results must not depend on it (integers sum exactly;
 * floating sums go into a slot per task and are added in task order). */
void pvi_parallel(pv_ctx *ctx, int64_t n, pvi_task fn, void *arg);

/* ---- bounds (bound.c) -------------------------------------------------------------------------------- */
double pvi_down(double x, int k); /* x moved k ulps down; 0 stays 0                                       */

/* ---- cryptography (crypto.c): the only file that includes sodium.h ------------------------------------- */
#define PVI_KEY_SIZE  32
#define PVI_HASH_SIZE 32
pv_status pvi_entropy(pv_ctx *ctx, void *out, size_t size); /* operating system; PV_E_RNG: none            */
/* ChaCha20 keystream blocks from `counter` (64-byte blocks) on. */
void pvi_chacha20(const uint8_t key[PVI_KEY_SIZE], uint64_t nonce, uint64_t counter, uint8_t *out, size_t size);
void pvi_wipe(void *p, size_t size);
void pvi_wipe_stack(void); /* what the functions just called left behind: registers a compiler spilled */
/* 128 bits under a key of as many: cheap for short texts. */
enum { PVI_SHORT_KEY = 16 };
void pvi_short_hash(const uint8_t key[PVI_SHORT_KEY], const void *data, size_t size, uint8_t out[16]);
/* The same of PVI_HASH_LANES messages of one size, 16 bytes each to out. */
enum { PVI_HASH_LANES = 8 };
typedef void pvi_short_hashes_fn(const uint8_t *key, const uint8_t *const *data, size_t size, uint8_t *out);
extern pvi_short_hashes_fn *const pvi_short_hashes_isa[PVI_ISA_COUNT];
void pvi_hash(const uint8_t *key, size_t key_len, const void *data, size_t size, uint8_t out[PVI_HASH_SIZE]);
typedef struct pvi_hasher {
    _Alignas(64) uint8_t opaque[512];
} pvi_hasher;
void pvi_hash_begin(pvi_hasher *h, const uint8_t *key, size_t key_len); /* key NULL: unkeyed               */
void pvi_hash_add(pvi_hasher *h, const void *data, size_t size);
void pvi_hash_end(pvi_hasher *h, uint8_t out[PVI_HASH_SIZE]);
void pvi_hex(const uint8_t *in, size_t n, char *out); /* out: 2n + 1 characters                            */

/* ---- files (file.c) -------------------------------------------------------------------------------------- */
/* Whole file into memory, at most `limit` bytes; directories and special files are refused. */
pv_status pvi_file_read(pv_ctx *ctx, const char *path, size_t limit, char **out, size_t *len);
extern const char pvi_model_magic[8]; /* how a model file begins */
bool pvi_is_model_file(const char *text, size_t len);
bool pvi_write_all(int fd, const void *data, size_t size); /* false: errno says why */
/* Writes to a temporary file beside `path`, flushes it to disk, then renames: the old file
 * survives every failure, and no temporary is left behind. */
pv_status pvi_file_write(pv_ctx *ctx, const char *path, const void *data, size_t size);
typedef struct pvi_atomic { /* the same in pieces */
    pv_ctx *ctx;
    int fd, error;           /* error: errno of the first write that failed; commit reports it */
    size_t held;             /* bytes of buf that are not written yet */
    char *path, *temp, *buf; /* owned */
} pvi_atomic;
pv_status pvi_atomic_open(pv_ctx *ctx, const char *path, pvi_atomic *out);
void pvi_atomic_put(pvi_atomic *a, const void *data, size_t size);
void pvi_atomic_fmt(pvi_atomic *a, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* < 256 bytes */
pv_status pvi_atomic_commit(pvi_atomic *a); /* also frees; on failure nothing is left behind */
void pvi_atomic_abandon(pvi_atomic *a);     /* safe after commit                               */
/* (NULL, path): a temporary file from now on, which pv_cleanup removes; (path, NULL): no longer.  The text
 * must live until then. */
void pvi_temp_note(pv_ctx *ctx, char *old, char *path);

#endif
