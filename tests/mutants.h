/* mutants.h - certificates that no run wrote, made to reach every part of verifying: does it always come back?
 *
 * A mutant starts from a certificate of tests/corpus.  Most keep the fields in agreement with each other, so that the
 * accountants are asked: other noise, delta, numbers of releases and rows, samplers, shapes of the event tree, other
 * accountants, constants of the bound under assumptions.  The rest change one number of the text, or one byte, and
 * repair the checksum.  Numbers are ordinary or extreme.  Nothing is expected of the answer but that it is one: a
 * status with one line.  A question that takes MOST_SECONDS of processor time is printed and ends the test; the
 * slowest is reported. */
#ifndef MUTANTS_H
#define MUTANTS_H
#include "corpus.h"
#include "pvtest.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SECONDS = 60, MOST_FILES = 512 };

typedef struct mutants {
    pv_ctx *ctx;
    char *text[MOST_FILES];
    size_t len[MOST_FILES];
    int files;
    uint64_t seed;
    int64_t held, refused;
    double slowest, total;
    char question[400];
} mutants;

static char mutant_now[400]; /* for the handler */

static void mutant_too_long(int sig)
{
    static const char head[] = "runs away: ";
    (void)sig;
    if (write(2, head, sizeof head - 1) < 0 || write(2, mutant_now, strlen(mutant_now)) < 0) _exit(1);
    _exit(1);
}

static double mutant_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void mutant_load(const char *path, const char *name, void *user)
{
    mutants *m = user;
    (void)name;
    if (m->files == MOST_FILES) return;
    PVT_OK(pvi_file_read(m->ctx, path, 1 << 20, &m->text[m->files], &m->len[m->files]));
    m->files++;
}

static int64_t draw(mutants *m, int64_t n)
{
    return (int64_t)(pvt_u64(&m->seed) % (uint64_t)n);
}

/* Ordinary three times out of four: log-uniform between lo and hi; otherwise out of the list. */
static double some(mutants *m, double lo, double hi)
{
    static const double odd[] = { 1e-300, 1e-100, 1e-30, 1e-16, 1e-9,   1e-4,   0.02,
                                  0.5,    1,      2,     700,   1e5,    1e9,    1e15,
                                  1e16,   1e30,   1e100, 1e300, 5e-324, 0x1p53, 1.7976931348623157e308 };
    if (draw(m, 4)) return lo * pow(hi / lo, pvt_uniform(&m->seed));
    return odd[draw(m, sizeof odd / sizeof *odd)];
}

static int64_t some_count(mutants *m)
{
    static const int64_t odd[] = { 0, 1, 2, 1000, 1000000, 1000000000, 1LL << 45, 1LL << 53, INT64_MAX };
    return draw(m, 4) ? (int64_t)pow(1e4, pvt_uniform(&m->seed)) : odd[draw(m, sizeof odd / sizeof *odd)];
}

/* ---- event trees ----------------------------------------------------------------------------------------------- */

static double leaf_value(pv_ev_kind kind, double z)
{
    return kind == PV_EV_SELECT ? 1.0 / z : kind == PV_EV_BALL ? fmin(z, 1.0) : z;
}

static pv_event *new_event(pv_arena *a, pv_ev_kind kind)
{
    pv_event *e = pv_arena_get(a, sizeof *e);
    PVT_TRUE(e != NULL);
    e->kind = kind;
    return e;
}

static pv_event *release(pv_arena *a, pv_ev_kind kind, pv_ev_kind sampler, double rate, double z)
{
    pv_event *leaf = new_event(a, kind);
    leaf->a = leaf_value(kind, z);
    if (sampler == PV_EV_NONE) return leaf;
    pv_event *e = new_event(a, sampler);
    e->a = rate;
    e->n = sampler == PV_EV_CYCLIC ? (int64_t)fmax(1.0, rint(1.0 / rate)) : 0;
    if (sampler == PV_EV_CYCLIC) e->a = 0.0;
    e->sub = leaf;
    return e;
}

static pv_event *times(pv_arena *a, pv_event *sub, int64_t n)
{
    pv_event *e = new_event(a, PV_EV_REPEAT);
    e->n = n;
    e->sub = sub;
    return e;
}

/* Several different releases, or one in a deep tree of repetitions and sequences. */
static pv_event *shape(mutants *m, pv_arena *a, const pvi_cert *c, pv_ev_kind kind, pv_ev_kind sampler, double z,
                       double *most, double *count)
{
    const double rate = c->batch / (double)c->rows;
    pv_event *e = release(a, kind, sampler, rate, z);
    *count = 1.0;
    if (draw(m, 3) == 0) { /* many different terms */
        const int64_t k = 1 + draw(m, draw(m, 8) ? 8 : 300);
        pv_event *all = new_event(a, PV_EV_SEQ);
        const pv_event **tail = &all->sub;
        for (int64_t i = 0; i < k; i++) {
            const double factor = i == 0 ? 1.0 : 1.0 + (double)draw(m, 1000) / 100.0;
            pv_event *part = times(a, release(a, kind, sampler, rate, z * factor), 1 + draw(m, 100));
            *most = fmax(*most, z * factor);
            *count += (double)part->n;
            *tail = part;
            tail = &part->next;
        }
        *count -= 1.0;
        return all;
    }
    for (int64_t depth = draw(m, 8) ? 1 : draw(m, 26); depth > 0; depth--) {
        const int64_t n = depth > 2 ? 1 + draw(m, 3) : some_count(m);
        *count *= (double)n;
        e = times(a, e, n);
    }
    return e;
}

/* ---- mutants whose fields agree -------------------------------------------------------------------------------- */

static void other_rows(mutants *m, pvi_cert *c)
{
    if (draw(m, 2) || strcmp(c->mechanism, "ball") == 0) return;
    c->rows = draw(m, 4) ? 10 + draw(m, 1000000) : some_count(m);
    c->batch = fmin(fmax(1.0, (double)c->rows * fmin(some(m, 1e-4, 1.0), 1.0)), (double)c->rows);
    if (strcmp(c->sampler, "full batch") == 0) c->batch = (double)c->rows;
    if (strcmp(c->sampler, "cyclic") == 0) c->batch = (double)c->rows / rint((double)c->rows / c->batch);
}

static void other_names(mutants *m, pvi_cert *c)
{
    static const char *const accountants[] = { "best", "gaussian", "zcdp", "rdp", "tv", "compose", "pld" };
    static const char *const samplers[] = { "full batch", "poisson", "fixed size", "cyclic" };
    if (draw(m, 3) == 0) c->accountant = accountants[draw(m, 7)];
    if (draw(m, 3) == 0 && c->accountant_replace) c->accountant_replace = accountants[draw(m, 7)];
    if (draw(m, 4) == 0) c->sampler = samplers[draw(m, 4)];
    if (draw(m, 6) == 0) c->relation = c->relation == PV_REL_REPLACE ? PV_REL_ZERO_OUT : PV_REL_REPLACE;
    if (c->relation == PV_REL_ZERO_OUT && !c->accountant_replace) c->accountant_replace = "best";
    if (draw(m, 3) == 0) c->replace_is_group_bound = !c->replace_is_group_bound;
}

static pv_ev_kind sampler_event(const char *name)
{
    return *name == 'p' ? PV_EV_POISSON : *name == 'c' ? PV_EV_CYCLIC : name[1] == 'i' ? PV_EV_FIXED : PV_EV_NONE;
}

/* Noise, events and what follows from them. */
static void other_noise(mutants *m, pv_arena *a, pvi_cert *c)
{
    const pv_mechanism_ops *mech = (const pv_mechanism_ops *)(const void *)pv_find(PV_KIND_mechanism, c->mechanism);
    const bool group = c->replace_is_group_bound;
    double z = c->noise_multiplier = some(m, 0.01, 1e3), most = z, count;
    c->events = shape(m, a, c, mech->event, sampler_event(c->sampler), z, &most, &count);
    c->noise_multiplier_max = most;
    c->sensitivity =
        pvi_sensitivity(&(pvi_bound) { c->clip_norm, c->replace_change }, c->relation, group, c->rounding_allowance);
    c->noise_stddev = z * c->sensitivity;
    c->queries = count < 9e18 ? (int64_t)count : INT64_MAX;
    for (int64_t i = 0; i < c->n_kinds; i++) c->kinds[i].count = i ? 1 : c->queries - c->n_kinds + 1;
    if (c->n_kinds && c->kinds[0].count < 1) c->kinds[0].count = 1;
    c->events_replace = NULL;
    if (c->relation == PV_REL_REPLACE) return;
    const double other = c->noise_stddev / (c->replace_change + c->rounding_allowance) / z * (1.0 - 1e-13);
    c->events_replace = pvi_event_scale(a, c->events, group ? 1.0 : other);
}

/* A bound under assumptions that some constants would give, whatever it is worth. */
static void other_conditional(mutants *m, pv_arena *a, pvi_cert *c)
{
    const pvi_hidden_sbcd h = { .step = some(m, 1e-4, 1),
                                .smooth = some(m, 0.1, 100),
                                .shrink = some(m, 1e-3, 1),
                                .fixed_order = true,
                                .last_iterate_only = true,
                                .no_momentum = true,
                                .convex = true };
    const char *json;
    double epsilon;
    if (pvi_event_check(NULL, c->events) != PV_OK) return;
    if (pvi_hidden_sbcd_write(m->ctx, a, h, c->events, c->delta, &epsilon, &json) == PV_OK) c->conditional = json;
}

static void agreeing(mutants *m, pv_arena *a, pvi_cert *c)
{
    static const char *const settings[] = { "{\"optimizer.noise\":\"linear:1,2\"}",
                                            "{\"optimizer.noise\":\"linear:1,2\",\"sampler\":\"poisson\"}",
                                            "{\"optimizer.noise\":\"linear:1,2\",\"sampler\":\"fixed\"}",
                                            "{\"optimizer.noise\":\"linear:1,2\",\"sampler\":\"cyclic\"}" };
    c->conditional = NULL;
    other_names(m, c);
    other_rows(m, c);
    const char *s = c->sampler; /* the settings say nothing else, so that nothing contradicts them */
    c->settings = settings[*s == 'p' ? 1 : *s == 'c' ? 3 : s[1] == 'i' ? 2 : 0];
    if (c->n_kinds > 1) c->n_kinds = 1;
    if (draw(m, 2)) c->delta = fmin(some(m, 1e-12, 0.1), 1.0 - 0x1p-53);
    c->epsilon = draw(m, 3) ? 1e299 : some(m, 0.01, 100); /* most claims are large enough for any events */
    c->epsilon_replace = 1e300;
    c->delta_draws = pvi_draws_share(c->epsilon, c->delta);
    if (draw(m, 6) == 0) c->weights = c->features = some_count(m);
    other_noise(m, a, c);
    if (draw(m, 4) == 0 && strcmp(c->optimizer, "sbcd") == 0) other_conditional(m, a, c);
}

/* ---- mutants of the text --------------------------------------------------------------------------------------- */

static void repair_checksum(pvi_str *b)
{
    char hex[65];
    uint8_t hash[32];
    char *tail = memmem(b->s, b->len, ",\n  \"checksum\"", 14);
    if (!tail) return;
    b->len = (size_t)(tail - b->s);
    pvi_hash(NULL, 0, b->s, b->len, hash);
    pvi_hex(hash, 32, hex);
    pvi_str_printf(b, ",\n  \"checksum\": \"%s\"\n}\n", hex);
}

/* Another number in the place of one, or another byte. */
static void edited(mutants *m, const char *text, size_t len, pvi_str *b)
{
    size_t at = (size_t)draw(m, (int64_t)len), n = 1;
    char put[40] = { 0 };
    if (draw(m, 4)) {
        while (at < len && !(text[at] == ' ' && strchr("-0123456789", text[at + 1]) && text[at + 1])) at++;
        n = at < len ? 1 + strcspn(text + at + 1, ",\n]}") : 0;
        put[0] = ' ';
        pvi_f64_text(draw(m, 3) ? some(m, 1e-6, 1e6) : (double)some_count(m), put + 1);
    } else {
        put[0] = (char)(32 + draw(m, 95));
    }
    pvi_str_add(b, text, at);
    pvi_str_puts(b, put);
    if (at + n < len) pvi_str_add(b, text + at + n, len - at - n);
    repair_checksum(b);
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

static void ask(mutants *m, int64_t number, const char *text, size_t len)
{
    const struct itimerval limit = { .it_value.tv_sec = MOST_SECONDS }, off = { 0 };
    pvi_cert c;
    pv_arena *a = pvi_arena_create(m->ctx);
    setitimer(ITIMER_PROF, &limit, NULL);
    const double begin = mutant_clock();
    pv_status s = pvi_cert_parse(m->ctx, a, "m", text, len, &c);
    if (s == PV_OK) {
        pvi_str words = { .ctx = m->ctx };
        pvi_jw w = { .out = &words };
        pvi_event_write(c.events ? c.events : new_event(a, PV_EV_NONE), &w, NULL);
        snprintf(mutant_now, sizeof mutant_now, "mutant %lld: %s, %s and %s, delta %g, %.250s\n", (long long)number,
                 c.optimizer ? c.optimizer : "?", c.accountant ? c.accountant : "?",
                 c.accountant_replace ? c.accountant_replace : "none", c.delta, words.s);
        pvi_str_free(&words);
        s = pvi_cert_verify(m->ctx, "m", &c);
    }
    const double took = mutant_clock() - begin;
    setitimer(ITIMER_PROF, &off, NULL);
    pvi_arena_free(a);
    m->total += took;
    *(s == PV_OK ? &m->held : &m->refused) += 1;
    PVT_CHECK(s == PV_OK || s == PV_E_VERIFY || s == PV_E_FORMAT, "mutant %lld: status %d: %s", (long long)number, s,
              pv_ctx_errmsg(m->ctx));
    PVT_CHECK(!strchr(pv_ctx_errmsg(m->ctx), '\n'), "mutant %lld: %s", (long long)number, pv_ctx_errmsg(m->ctx));
    if (took <= m->slowest) return;
    m->slowest = took;
    memcpy(m->question, mutant_now, sizeof m->question);
}

static void one_mutant(mutants *m, int64_t number)
{
    m->seed = 0x9e3779b97f4a7c15u * (uint64_t)(number + 1); /* each can be made again on its own */
    const int64_t i = draw(m, m->files);
    pv_arena *a = pvi_arena_create(m->ctx);
    pvi_str b = { .ctx = m->ctx };
    if (draw(m, 4)) {
        pvi_cert c;
        char *json;
        PVT_OK(pvi_cert_parse(m->ctx, a, "corpus", m->text[i], m->len[i], &c));
        agreeing(m, a, &c);
        PVT_OK(pvi_cert_write(m->ctx, &c, &json));
        pvi_str_puts(&b, json);
        pvi_free(m->ctx, json);
    } else {
        edited(m, m->text[i], m->len[i], &b);
    }
    ask(m, number, b.s, b.len);
    pvi_str_free(&b);
    pvi_arena_free(a);
}

/* Mutants first, first + step, ... below count. */
static void run_mutants(int64_t first, int64_t step, int64_t count)
{
    mutants m = { 0 };
    PVT_OK(pv_ctx_create(NULL, &m.ctx));
    signal(SIGPROF, mutant_too_long);
    corpus_each("certificates-v2", ".json", mutant_load, &m);
    corpus_each("certificates-v3", ".json", mutant_load, &m);
    PVT_TRUE(m.files > 200);
    for (int64_t k = first; k < count; k += step) {
        one_mutant(&m, k);
        if (k / step % 5000 == 4999)
            fprintf(stderr, "%lld mutants of %lld by process %lld\n", (long long)(k / step + 1),
                    (long long)(count / step), (long long)first);
    }
    printf("mutants %lld, %lld, ... below %lld: %lld held, %lld refused, %.1f s in all; slowest %.2f s: %s",
           (long long)first, (long long)(first + step), (long long)count, (long long)m.held, (long long)m.refused,
           m.total, m.slowest, m.question);
    for (int i = 0; i < m.files; i++) pvi_free(m.ctx, m.text[i]);
    pv_ctx_free(m.ctx);
}
#endif
