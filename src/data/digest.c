/* digest.c - which data this was, for the certificate and the budget, without telling what is in it.
 *
 *   leaf_k = H(key, array, k, bytes k 2^20 .. of the array)        digest = H(key, sizes, leaf_0, leaf_1, ...)
 *
 * H is BLAKE2b-256 keyed with a secret of the data's owner: whoever sees only the digest cannot try
 * out guesses for a small table or a single row, which a bare hash would allow.  The leaves are cut by
 * position, so threads do not change the result. */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAF = 1 << 20 };

/* ---- the key --------------------------------------------------------------------------------------- */
static pv_status join(pv_ctx *ctx, const char *a, const char *b, char **out)
{
    const size_t n = strlen(a) + strlen(b) + 1;
    *out = pvi_alloc(ctx, n);
    if (!*out) return pvi_nomem(ctx);
    snprintf(*out, n, "%s%s", a, b);
    return PV_OK;
}

static pv_status key_file(pv_ctx *ctx, const pvi_data_cfg *cfg, char **out)
{
    const char *home = getenv("PRIVET_HOME"), *user = getenv("HOME");
    if (cfg->key_path && *cfg->key_path) return join(ctx, cfg->key_path, "", out);
    if (home && *home) return join(ctx, home, "/secret.key", out);
    if (user && *user) return join(ctx, user, "/.local/share/privet/secret.key", out);
    *out = NULL;
    return PV_OK;
}

static void make_folders(char *path)
{
    for (char *c = strchr(path + 1, '/'); c; c = strchr(c + 1, '/')) {
        *c = '\0';
        mkdir(path, 0700); /* there already, or the file cannot be made: the next open tells */
        *c = '/';
    }
}

/* A complete key appears under its name or none does: written beside it, then linked. */
static bool create_key(pv_ctx *ctx, char *path, const uint8_t key[PVI_KEY_SIZE])
{
    char *temp;
    bool ok = false;
    if (join(ctx, path, ".XXXXXX", &temp) != PV_OK) return false;
    make_folders(path);
    const int fd = mkostemp(temp, O_CLOEXEC); /* mode 0600 */
    if (fd >= 0) {
        ok = write(fd, key, PVI_KEY_SIZE) == PVI_KEY_SIZE && fsync(fd) == 0 && link(temp, path) == 0;
        close(fd);
        unlink(temp);
    }
    pvi_free(ctx, temp);
    return ok;
}

/* PV_DONE: there is no such file. */
static pv_status read_key(pv_ctx *ctx, const char *path, uint8_t key[PVI_KEY_SIZE])
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? PV_DONE : pvi_fail(ctx, PV_E_IO, "%s: secret key: %s", path, strerror(errno));
    uint8_t buf[PVI_KEY_SIZE + 1];
    const bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    const ssize_t n = regular ? read(fd, buf, sizeof buf) : -1;
    close(fd);
    if (n != PVI_KEY_SIZE) {
        pvi_wipe(buf, sizeof buf);
        return pvi_fail(ctx, PV_E_FORMAT, "%s: not a secret key: a file of %d random bytes is needed", path,
                        PVI_KEY_SIZE);
    }
    if (st.st_mode & 077) pvi_log(ctx, PV_LOG_WARN, "%s: the secret key can be read by others; chmod 600 it", path);
    memcpy(key, buf, PVI_KEY_SIZE);
    pvi_wipe(buf, sizeof buf);
    return PV_OK;
}

static pv_status find_key(pv_ctx *ctx, const pvi_data_cfg *cfg, uint8_t key[PVI_KEY_SIZE])
{
    char *path;
    pv_status s = key_file(ctx, cfg, &path);
    if (s == PV_OK) s = path ? read_key(ctx, path, key) : PV_DONE;
    if (s == PV_DONE && (s = pvi_entropy(ctx, key, PVI_KEY_SIZE)) == PV_OK) {
        if (!path || !create_key(ctx, path, key)) {
            s = path ? read_key(ctx, path, key) : PV_DONE; /* another process may have been first */
            if (s == PV_DONE) {
                pvi_log(
                    ctx, PV_LOG_WARN,
                    "%s cannot be created: the data's digest is keyed for this run only and will differ next time",
                    path ? path : "a secret key file");
                s = PV_OK;
            }
        }
    }
    pvi_free(ctx, path);
    return s;
}

/* ---- the tree ---------------------------------------------------------------------------------------- */
typedef struct piece {
    const char *data;
    size_t size;
    int64_t leaves;
} piece;
enum { PIECES = 5 };

typedef struct tree {
    const uint8_t *key;
    piece piece[PIECES];
    uint8_t (*leaf)[PVI_HASH_SIZE];
} tree;

static void hash_leaf(void *arg, int64_t k, int thread)
{
    const tree *t = arg;
    uint64_t where[2] = { 0, (uint64_t)k };
    const piece *p = t->piece;
    (void)thread;
    for (; where[1] >= (uint64_t)p->leaves; where[0]++, p++) where[1] -= (uint64_t)p->leaves;
    const size_t from = (size_t)where[1] * LEAF, n = p->size - from < LEAF ? p->size - from : LEAF;
    pvi_hasher h;
    pvi_hash_begin(&h, t->key, PVI_KEY_SIZE);
    pvi_hash_add(&h, where, sizeof where);
    pvi_hash_add(&h, p->data + from, n);
    pvi_hash_end(&h, t->leaf[k]);
}

static int64_t cut_pieces(const pvi_matrix *m, tree *t)
{
    const size_t n = (size_t)m->domain.n, e = m->ptr ? (size_t)m->ptr[n] : 0;
    const piece all[PIECES] = { { (const char *)m->x, m->x ? n * (size_t)m->ld * 4 : 0, 0 },
                                { (const char *)m->ptr, m->ptr ? (n + 1) * 8 : 0, 0 },
                                { (const char *)m->idx, e * 4, 0 },
                                { (const char *)m->val, e * 4, 0 },
                                { (const char *)m->y, n * 4, 0 } };
    int64_t leaves = 0;
    for (int i = 0; i < PIECES; i++) {
        t->piece[i] = all[i];
        t->piece[i].leaves = (int64_t)((all[i].size + LEAF - 1) / LEAF);
        leaves += t->piece[i].leaves;
    }
    return leaves;
}

static void hash_root(const tree *t, const pvi_matrix *m, int64_t leaves, char out[65])
{
    static const char what[] = "privet data 1";
    uint64_t head[2 + PIECES] = { (uint64_t)m->domain.n, (uint64_t)m->domain.p };
    uint8_t root[PVI_HASH_SIZE];
    pvi_hasher h;
    for (int i = 0; i < PIECES; i++) head[2 + i] = t->piece[i].size;
    pvi_hash_begin(&h, t->key, PVI_KEY_SIZE);
    pvi_hash_add(&h, what, sizeof what);
    pvi_hash_add(&h, head, sizeof head);
    pvi_hash_add(&h, t->leaf, (size_t)leaves * PVI_HASH_SIZE);
    pvi_hash_end(&h, root);
    pvi_hex(root, sizeof root, out);
}

pv_status pvi_digest(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_matrix *m)
{
    uint8_t key[PVI_KEY_SIZE];
    tree t = { .key = key };
    pv_status s = find_key(ctx, cfg, key);
    if (s == PV_OK) {
        const int64_t leaves = cut_pieces(m, &t);
        t.leaf = pvi_alloc(ctx, (size_t)leaves * PVI_HASH_SIZE);
        if (!t.leaf) {
            s = pvi_nomem(ctx);
        } else {
            pvi_parallel(ctx, leaves, hash_leaf, &t);
            hash_root(&t, m, leaves, m->digest);
        }
    }
    pvi_free(ctx, t.leaf);
    pvi_wipe(key, sizeof key);
    return s;
}
