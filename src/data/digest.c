/* digest.c - which data this was, for the certificate and the budget, without telling what is in it.
 *
 *   (1) tags     of every 1 KiB block of every array, four 64-bit words under the key K2 (digest_tags.kernel.c)
 *   (2) leaf_j   = BLAKE2b(K, array, j, tags of 256 blocks)
 *   (3) digest   = BLAKE2b(K, "privet data 2", sizes, leaf_0, leaf_1, ...)         K2 = ChaCha20(BLAKE2b(K, "tags"))
 * The arrays are the rows as they came: values without scaling or bias, whatever lies between the rows in memory, and
 * labels.  Settings that shape what the model sees of a row (norm, bias, R) do not enter.
 *
 * K is a secret of the data's owner: whoever sees only the digest cannot try out guesses for a small table or
 * a single row, which a bare hash would allow.  Two different tables get the same tags with probability at
 * most 2^-128, and a keyed BLAKE2b of different inputs looks random: a universal hash followed by a
 * pseudo-random function is one itself (Wegman, Carter 1981; Shoup 1996).  BLAKE2b over all bytes would say the
 * same and take a third of the loading time.  Blocks are cut by position, so threads do not change the result.
 *
 * The digest stays the same as long as the rows do: two certificates that showed it would tell whether they changed
 * in between.  What is published is therefore
 *   (4) BLAKE2b(salt, digest), both as text, beside a salt that is drawn for every run
 * from which the owner, who can compute the digest, recognises the rows, and nobody else learns anything. */
#include "reader.h"
#include "digest_tags.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCKS = 256, LEAF = BLOCKS * PVI_TAG_BLOCK };

/* ---- the key --------------------------------------------------------------------------------------- */
/* data.key_path=none: nothing is read or written, and the key lives as long as the call. */
static bool no_file(const pvi_data_cfg *cfg)
{
    return cfg->key_path && strcmp(cfg->key_path, "none") == 0;
}

static pv_status join(pv_ctx *ctx, const char *a, const char *b, char **out)
{
    const size_t n = strlen(a) + strlen(b) + 1;
    *out = pvi_alloc(ctx, n);
    if (!*out) return pvi_nomem(ctx);
    snprintf(*out, n, "%s%s", a, b);
    return PV_OK;
}

/* NULL: there is no place for one, or none is wanted. */
static pv_status key_file(pv_ctx *ctx, const pvi_data_cfg *cfg, char **out)
{
    const char *home = getenv("PRIVET_HOME"), *user = getenv("HOME");
    *out = NULL;
    if (no_file(cfg)) return PV_OK;
    if (cfg->key_path && *cfg->key_path) return join(ctx, cfg->key_path, "", out);
    if (home && *home) return join(ctx, home, "/secret.key", out);
    if (user && *user) return join(ctx, user, "/.local/share/privet/secret.key", out);
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
        pvi_temp_note(ctx, NULL, temp);
        ok = write(fd, key, PVI_KEY_SIZE) == PVI_KEY_SIZE && fsync(fd) == 0 && link(temp, path) == 0;
        close(fd);
        unlink(temp);
        pvi_temp_note(ctx, temp, NULL);
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

static void say_for_this_run_only(pv_ctx *ctx, const pvi_data_cfg *cfg, const char *path)
{
    if (no_file(cfg))
        pvi_log(ctx, PV_LOG_NOTE,
                "data.key_path=none: the data's digest is keyed for this run only; the same rows will not be "
                "recognised next time");
    else
        pvi_log(ctx, PV_LOG_WARN,
                "%s cannot be created: the data's digest is keyed for this run only and will differ next time",
                path ? path : "a secret key file");
}

static pv_status find_key(pv_ctx *ctx, const pvi_data_cfg *cfg, uint8_t key[PVI_KEY_SIZE])
{
    char *path;
    pv_status s = key_file(ctx, cfg, &path);
    if (s == PV_OK) s = path ? read_key(ctx, path, key) : PV_DONE;
    if (s == PV_DONE && (s = pvi_entropy(ctx, key, PVI_KEY_SIZE)) == PV_OK) {
        const bool made = path && create_key(ctx, path, key);
        if (made && cfg->key_path && *cfg->key_path)
            pvi_log(ctx, PV_LOG_NOTE, "data.key_path=%s: no key was there, a new one was made", path);
        if (!made) {
            s = path ? read_key(ctx, path, key) : PV_DONE; /* another process may have been first */
            if (s == PV_DONE) say_for_this_run_only(ctx, cfg, path);
            if (s == PV_DONE) s = PV_OK;
        }
    }
    pvi_free(ctx, path);
    return s;
}

/* ---- the tree ---------------------------------------------------------------------------------------- */
typedef struct piece {
    const char *data;
    size_t size;
    size_t line, stride; /* bytes of a line, and from one to the next; 0: in one piece; else floats of the caller */
    int64_t leaves;
} piece;
enum { PLAIN = 5, PIECES = 7, GATHER = 16 }; /* the last two pieces: images as bytes; blocks gathered at a time */

typedef struct tree {
    const uint8_t *key;
    _Alignas(32) uint8_t tag_key[PVI_TAG_KEY];
    pvi_tags_fn *tags;
    piece piece[PIECES];
    uint8_t (*leaf)[PVI_HASH_SIZE];
} tree;

/* n bytes of a piece from byte `from` on, to a place without gaps.  They are floats, and their zeros lose the sign
 * that stored ones do not have. */
static void gather(const piece *p, size_t from, size_t n, uint8_t *to)
{
    for (size_t done = 0; done < n;) {
        const size_t at = (from + done) % p->line, left = p->line - at, some = n - done < left ? n - done : left;
        memcpy(to + done, p->data + (from + done) / p->line * p->stride + at, some);
        done += some;
    }
    for (size_t i = 0; i < n; i += sizeof(float)) {
        float v;
        memcpy(&v, to + i, sizeof v);
        v += 0.0f;
        memcpy(to + i, &v, sizeof v);
    }
}

/* Tags of n bytes of a piece; the last block of an array is filled up with zeros, and the sizes in (3) tell. */
static size_t tag_blocks(const tree *t, const piece *p, size_t from, size_t n, uint64_t *tag)
{
    uint8_t some[GATHER * PVI_TAG_BLOCK];
    size_t done = 0;
    if (!p->stride) {
        t->tags(t->tag_key, p->data + from, n / PVI_TAG_BLOCK, tag);
        done = n / PVI_TAG_BLOCK;
    }
    while (done * PVI_TAG_BLOCK < n) {
        const size_t left = n - done * PVI_TAG_BLOCK, take = left < sizeof some ? left : sizeof some;
        const size_t blocks = (take + PVI_TAG_BLOCK - 1) / PVI_TAG_BLOCK;
        if (p->stride) gather(p, from + done * PVI_TAG_BLOCK, take, some);
        else memcpy(some, p->data + from + done * PVI_TAG_BLOCK, take);
        memset(some + take, 0, blocks * PVI_TAG_BLOCK - take);
        t->tags(t->tag_key, some, blocks, tag + done * PVI_TAG_LANES);
        done += blocks;
    }
    return done;
}

static void hash_leaf(void *arg, int64_t k, int thread)
{
    const tree *t = arg;
    uint64_t where[2] = { 0, (uint64_t)k }, tag[(BLOCKS + 1) * PVI_TAG_LANES];
    const piece *p = t->piece;
    (void)thread;
    for (; where[1] >= (uint64_t)p->leaves; where[0]++, p++) where[1] -= (uint64_t)p->leaves;
    const size_t from = (size_t)where[1] * LEAF, n = p->size - from < LEAF ? p->size - from : LEAF;
    const size_t blocks = tag_blocks(t, p, from, n, tag);
    pvi_hasher h;
    pvi_hash_begin(&h, t->key, PVI_KEY_SIZE);
    pvi_hash_add(&h, where, sizeof where);
    pvi_hash_add(&h, tag, blocks * PVI_TAG_LANES * sizeof *tag);
    pvi_hash_end(&h, t->leaf[k]);
}

static int64_t features(const pvi_matrix *m)
{
    return m->domain.p - (m->bias != 0.0f);
}

static int64_t cut_pieces(const pvi_matrix *m, tree *t)
{
    const size_t n = (size_t)m->domain.n, e = m->ptr ? (size_t)m->ptr[n] : 0, line = (size_t)features(m) * 4;
    const size_t stride = m->borrowed ? (size_t)m->ld * 4 : 0;
    const piece all[PIECES] = { { (const char *)m->x, m->x ? n * line : 0, line, stride, 0 },
                                { (const char *)m->ptr, m->ptr ? (n + 1) * 8 : 0, 0, 0, 0 },
                                { (const char *)m->idx, e * 4, 0, 0, 0 },
                                { (const char *)m->val, e * 4, 0, 0, 0 },
                                { (const char *)m->y, n * 4, 0, 0, 0 },
                                { (const char *)m->byte, m->byte ? n * (size_t)m->ld : 0, 0, 0, 0 },
                                { (const char *)m->level, m->byte ? sizeof m->level : 0, 0, 0, 0 } };
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
    static const char what[] = "privet data 2";
    uint64_t head[2 + PIECES] = { (uint64_t)m->domain.n, (uint64_t)features(m) };
    uint8_t root[PVI_HASH_SIZE];
    pvi_hasher h;
    const size_t pieces = m->byte ? PIECES : PLAIN;
    for (size_t i = 0; i < pieces; i++) head[2 + i] = t->piece[i].size;
    pvi_hash_begin(&h, t->key, PVI_KEY_SIZE);
    pvi_hash_add(&h, what, sizeof what);
    pvi_hash_add(&h, head, sizeof *head * (2 + pieces));
    pvi_hash_add(&h, t->leaf, (size_t)leaves * PVI_HASH_SIZE);
    pvi_hash_end(&h, root);
    pvi_hex(root, sizeof root, out);
}

pvi_tags_fn PVI_DECLARE_NARROW(pvi_tags);
pvi_tags_fn *const pvi_tags_isa[PVI_ISA_COUNT] = PVI_EACH_NARROW(pvi_tags);

static void prepare(tree *t, const uint8_t key[PVI_KEY_SIZE])
{
    uint8_t second[PVI_HASH_SIZE];
    t->key = key;
    t->tags = pvi_tags_isa[pvi_isa()];
    pvi_hash(key, PVI_KEY_SIZE, "tags", 4, second);
    pvi_chacha20(second, 0, 0, t->tag_key, sizeof t->tag_key);
    pvi_wipe(second, sizeof second);
}

pv_status pvi_digest(pv_ctx *ctx, const pvi_data_cfg *cfg, pvi_matrix *m)
{
    uint8_t key[PVI_KEY_SIZE];
    tree t = { 0 };
    pv_status s = find_key(ctx, cfg, key);
    if (s == PV_OK) {
        prepare(&t, key);
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
    pvi_wipe(&t, sizeof t);
    return s;
}

void pvi_salted_digest(const char *salt, const char *digest, char out[65])
{
    uint8_t hash[PVI_HASH_SIZE];
    pvi_hasher h;
    pvi_hash_begin(&h, NULL, 0);
    pvi_hash_add(&h, salt, strlen(salt));
    pvi_hash_add(&h, digest, strlen(digest));
    pvi_hash_end(&h, hash); /* (4) */
    pvi_hex(hash, sizeof hash, out);
}
