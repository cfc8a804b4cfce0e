/* set_polytope.c - the convex hull of vertices read from a file.
 *
 *   (1) linear oracle   the vertex with the smallest <v_k, g>, the first of equals: O(K d)
 *   (2) atoms           the K vertices, in file order
 *   (3) radius          max_k ||v_k||
 *   (4) Gaussian width  E max_k <v_k, z>, by Monte Carlo: the mean of (max_k <v_k, z> + max_k <v_k, -z>)/2 over a
 *                       fixed sequence of z (the pairing removes the part linear in z).  It only feeds
 *                       defaults, and the fixed sequence makes a plan the same every time; this generator
 *                       must never make noise.
 *
 * A projection onto a hull of vertices is a quadratic program without a closed form, so none is offered:
 * Frank-Wolfe methods need only (1).
 *
 * The file: one vertex per line, d numbers separated by blanks or commas; empty lines and lines starting with # are
 * skipped.  It is a setting, hence public. */
#include "reg.h"

typedef struct cfg {
    const char *vertices;
} cfg;
typedef struct state {
    double *v; /* borrowed from the arena: K x d */
    int64_t K;
    double *z; /* d, scratch of width() */
} state;

static const pv_param params[] = {
    { "vertices", PV_STR, offsetof(cfg, vertices), 0, 0, 0, false, "file with one vertex per line", NULL },
    { 0 },
};

enum { FILE_LIMIT = 1 << 30 };

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

static const char *line_end(const char *s, const char *end)
{
    const char *nl = memchr(s, '\n', (size_t)(end - s));
    return nl ? nl : end;
}

static bool is_skipped(const char *s, const char *end)
{
    while (s < end && is_blank(*s)) s++;
    return s == end || *s == '#';
}

/* One line of d numbers into v. */
static pv_status read_line(pv_ctx *ctx, const char *path, int64_t line, const char *s, const char *end, double *v,
                           int64_t d)
{
    const char *at = s;
    int64_t j = 0;
    for (;;) {
        while (at < end && is_blank(*at)) at++;
        if (at == end) break;
        const char *word = at;
        while (at < end && !is_blank(*at)) at++;
        const long long column = word - s + 1;
        if (j == d)
            return pvi_fail(ctx, PV_E_FORMAT, "%s:%lld:%lld: more than the %lld numbers a vertex has", path,
                            (long long)line, column, (long long)d);
        if (!pvi_parse_f64(word, (size_t)(at - word), &v[j]) || !(fabs(v[j]) <= 1e12))
            return pvi_fail(ctx, PV_E_FORMAT, "%s:%lld:%lld: \"%.*s\" is not a number between -1e12 and 1e12", path,
                            (long long)line, column, (int)(at - word < 40 ? at - word : 40), word);
        j++;
    }
    if (j == d) return PV_OK;
    return pvi_fail(ctx, PV_E_FORMAT, "%s:%lld: %lld numbers, but a vertex has %lld (one per weight)", path,
                    (long long)line, (long long)j, (long long)d);
}

static pv_status read_vertices(state *s, const char *path, const char *text, size_t len, int64_t d, pv_ctx *ctx,
                               pv_arena *a)
{
    const char *const end = text + len;
    int64_t line = 0, k = 0;
    for (const char *p = text; p < end; p = line_end(p, end) + 1) s->K += !is_skipped(p, line_end(p, end));
    if (s->K == 0) return pvi_fail(ctx, PV_E_FORMAT, "%s: no vertex in the file", path);
    /* A good line takes 2d bytes at least, so a file of many short lines fails below before it needs more room. */
    const int64_t room = (int64_t)(len / 2) / d + 2;
    if (!(s->v = pv_arena_f64(a, (s->K < room ? s->K : room) * d))) return pvi_nomem(ctx);

    for (const char *p = text; p < end; p = line_end(p, end) + 1) {
        line++;
        if (is_skipped(p, line_end(p, end))) continue;
        const pv_status st = read_line(ctx, path, line, p, line_end(p, end), s->v + k++ * d, d);
        if (st != PV_OK) return st;
    }
    return PV_OK;
}

static pv_status open(void *s_, const void *c_, int64_t d, pv_ctx *ctx, pv_arena *a)
{
    state *s = s_;
    const char *path = ((const cfg *)c_)->vertices;
    char *text = NULL;
    size_t len;
    if (!path || !*path)
        return pvi_fail(ctx, PV_E_PARAM, "set=polytope needs set.vertices=FILE, one vertex per line");
    pv_status st = pvi_file_read(ctx, path, FILE_LIMIT, &text, &len);
    if (st != PV_OK) return st;
    st = read_vertices(s, path, text, len, d, ctx, a);
    pvi_free(ctx, text);
    if (st == PV_OK && !(s->z = pv_arena_f64(a, d))) return pvi_nomem(ctx);
    return st;
}

static void atom(const void *s_, const void *c_, int64_t k, double *v, int64_t d)
{
    (void)c_;
    memcpy(v, ((const state *)s_)->v + k * d, (size_t)d * sizeof *v);
}

static void lmo(const void *s_, const void *c_, const double *g, double *v, int64_t d)
{
    const state *s = s_;
    int64_t best = 0;
    double least = INFINITY;
    for (int64_t k = 0; k < s->K; k++) {
        const double x = pvi_dot(s->v + k * d, g, d);
        if (x < least) least = x, best = k;
    }
    atom(s, c_, best, v, d); /* (1) */
}

static int64_t atoms(const void *s_, const void *c_, int64_t d)
{
    (void)c_, (void)d;
    return ((const state *)s_)->K; /* (2) */
}

static double radius(const void *s_, const void *c_, int64_t d)
{
    const state *s = s_;
    double r = 0.0;
    (void)c_;
    for (int64_t k = 0; k < s->K; k++) r = fmax(r, pvi_norm2(s->v + k * d, d)); /* (3) */
    return r;
}

static double radius1(const void *s_, const void *c_, int64_t d)
{
    const state *s = s_;
    double r = 0.0;
    (void)c_;
    for (int64_t k = 0; k < s->K; k++) r = fmax(r, pvi_norm1(s->v + k * d, d));
    return r;
}

static void scores(const void *s_, const void *c_, const double *g, double *score, int64_t d)
{
    const state *s = s_;
    (void)c_;
    for (int64_t k = 0; k < s->K; k++) score[k] = pvi_dot(s->v + k * d, g, d);
}

static double uniform(uint64_t *x) /* SplitMix64, in (0, 1) */
{
    uint64_t z = (*x += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double width(const void *s_, const void *c_, int64_t d) /* (4) */
{
    const state *s = s_;
    (void)c_;
    const double work = (double)s->K * (double)d;
    const int draws = (int)fmin(4096.0, fmax(16.0, 1e8 / work));
    uint64_t seed = 1;
    double total = 0.0;
    for (int i = 0; i < draws; i++) {
        for (int64_t j = 0; j < d; j++) s->z[j] = sqrt(-2.0 * log(uniform(&seed))) * cos(2.0 * M_PI * uniform(&seed));
        double most = -INFINITY, least = INFINITY;
        for (int64_t k = 0; k < s->K; k++) {
            const double x = pvi_dot(s->v + k * d, s->z, d);
            most = fmax(most, x);
            least = fmin(least, x);
        }
        total += 0.5 * (most - least);
    }
    return total / draws;
}

const pv_set_ops pv_set_polytope = {
    .head = { .name = "polytope",
              .summary = "convex hull of the vertices in a file",
              .reference = "Talwar, Thakurta, Zhang 2015; Wang, Xu 2019 (DP-FW-L1)",
              .cfg_size = sizeof(cfg),
              .state_size = sizeof(state),
              .params = params },
    .props = PV_CONVEX | PV_COMPACT | PV_LMO,
    .open = open,
    .lmo = lmo,
    .atoms = atoms,
    .atom = atom,
    .radius = radius,
    .width = width,
    .scores = scores,
    .radius1 = radius1,
};
