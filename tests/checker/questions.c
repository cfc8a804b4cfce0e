/* questions.c - random questions about one release, checked against its exact curve.
 *
 * Wrong is
 *   (1) an epsilon at which the true delta is above the one asked for; a delta below the true one; a noise found by
 *       calibration that costs more than its budget: the interval around the truth lies wholly on the wrong side
 *   (2) a certified lower bound below which the true delta is already small enough
 *   (3) an answer of `best` below some accountant's certified lower bound
 *   (4) an answer where no theorem covers the release; an error without a message; no answer within LIMIT seconds
 * Parameters are log-uniform: one half over the whole range, the other over the part in common use; and one in
 * eight lies at an edge of its range.  A few lie outside: there every answer must be an error. */
#include "questions.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "draw.h"
#include "single.h"

#define LIMIT 30.0
#define SLOW  2.0

typedef enum form { PLAIN, REPEATED, CYCLIC, SEQUENCE } form;

typedef struct question {
    ck_release r;
    form form;
    double delta;
    bool outside; /* of the declared range */
    char events[700];
} question;

static const struct kind {
    const char *name, *a, *key, *b; /* shorthand and tree */
} kinds[] = {
    { "gaussian", "z", "noise_multiplier", NULL }, { "laplace", "scale", "scale", NULL },
    { "select", "eps0", "epsilon", NULL },         { "ball", "delta0", "delta", NULL },
    { "eps-delta", "eps0", "epsilon", "delta0" },
};
static const char *const samplers[] = { "", "poisson", "fixed" };

/* ---- random inputs
 * ------------------------------------------------------------------------------------------------ */

static uint64_t next_u64(uint64_t *s) /* splitmix64 */
{
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *s)
{
    return ((double)(next_u64(s) >> 11) + 0.5) * 0x1p-53;
}

static int whole(uint64_t *s, int n) /* 0 .. n-1 */
{
    return (int)(uniform(s) * n);
}

static double log_uniform(uint64_t *s, double least, double most)
{
    return fmin(fmax(least * pow(most / least, uniform(s)), least), most);
}

/* In use: least, most of what is common. */
static double pick(uint64_t *s, ck_range g, double least, double most)
{
    if (whole(s, 8) == 0) {
        const double edge = exp(-20.0 * uniform(s)); /* just inside one of the ends, or on it */
        const double t = whole(s, 4) == 0 ? 1.0 : 1.0 - 0.1 * edge;
        return whole(s, 2) ? g.most * t : fmin(g.least * (2.0 - t), g.most);
    }
    return whole(s, 2) ? log_uniform(s, g.least, g.most) : log_uniform(s, fmax(g.least, least), fmin(g.most, most));
}

static double pick_delta(uint64_t *s, ck_input in)
{
    return pick(s, ck_range_of(in, CK_GAUSSIAN), 1e-20, 1e-2);
}

static double pick_epsilon(uint64_t *s)
{
    return pick(s, ck_range_of(CK_IN_EPSILON, CK_GAUSSIAN), 1e-2, 1e2);
}

static void random_release(uint64_t *s, ck_release *r)
{
    static const ck_kind often[] = { CK_GAUSSIAN, CK_GAUSSIAN, CK_GAUSSIAN,  CK_LAPLACE,
                                     CK_SELECT,   CK_BALL,     CK_EPS_DELTA, CK_GAUSSIAN };
    *r = (ck_release) { .kind = often[whole(s, 8)], .rate = 1.0, .times = 1.0, .rows = 1.0 };
    r->a = r->kind == CK_BALL ? pick_delta(s, CK_IN_DELTA0) : pick(s, ck_range_of(CK_IN_A, r->kind), 1e-3, 1e3);
    if (r->kind == CK_EPS_DELTA && whole(s, 4)) r->b = pick_delta(s, CK_IN_DELTA0);
    const int how = whole(s, 10);
    r->sampler = how < 3 ? CK_WHOLE : how < 8 ? CK_POISSON : CK_FIXED;
    if (r->sampler != CK_WHOLE) {
        r->rate = pick(s, ck_range_of(CK_IN_RATE, r->kind), 1e-4, 1.0);
        if (whole(s, 8) == 0) r->rate = 1.0 - pow(10.0, -1.0 - 14.0 * uniform(s)); /* near 1 */
        if (!(r->rate < 1.0)) r->rate = 0.5;
    }
    r->replace = r->sampler == CK_FIXED ? whole(s, 10) > 0 : whole(s, r->sampler == CK_WHOLE ? 2 : 6) == 0;
}

/* Moves one input out of the declared range. */
static void leave_range(uint64_t *s, question *q)
{
    const ck_range a = ck_range_of(CK_IN_A, q->r.kind), d = ck_range_of(CK_IN_DELTA, q->r.kind);
    switch (whole(s, 3)) {
    case 0: q->r.a = whole(s, 2) ? a.least * 0.99 : a.most * 1.01; break;
    case 1: q->delta = whole(s, 2) ? d.least * 0.99 : 0.5 + 0.5 * d.most; break;
    default:
        if (q->r.sampler == CK_WHOLE) q->delta = d.least * 0.5;
        else q->r.rate = ck_range_of(CK_IN_RATE, q->r.kind).least * 0.99;
    }
    q->outside = true;
}

static void random_question(uint64_t *s, question *q)
{
    *q = (question) { 0 };
    random_release(s, &q->r);
    q->delta = pick_delta(s, CK_IN_DELTA);
    const int how = whole(s, 10);
    q->form = how < 7 ? PLAIN : how == 7 ? CYCLIC : how == 8 ? SEQUENCE : REPEATED;
    if (q->form == REPEATED && (q->r.kind != CK_GAUSSIAN || q->r.sampler == CK_FIXED)) q->form = PLAIN;
    if (q->form == CYCLIC && q->r.sampler != CK_WHOLE) q->form = PLAIN;
    if (q->form == REPEATED) q->r.times = floor(pow(10.0, 6.0 * uniform(s)));
    const bool noise = q->r.kind == CK_GAUSSIAN || q->r.kind == CK_LAPLACE;
    if (q->form == PLAIN && noise && q->r.sampler == CK_WHOLE && whole(s, 6) == 0) q->r.rows = 2.0 + whole(s, 9);
#ifdef CK_DECLARED
    if (whole(s, 40) == 0) leave_range(s, q);
#else
    (void)leave_range;
#endif
}

/* Is there a theorem, and may it be asked? */
static bool answerable(const question *q)
{
    return ck_known(&q->r) && !q->outside;
}

/* ---- writing a question
 * -------------------------------------------------------------------------------------------- */

static void append(char *out, size_t room, const char *format, ...)
{
    const size_t n = strlen(out);
    va_list v;
    va_start(v, format);
    if (vsnprintf(out + n, room - n, format, v) >= (int)(room - n)) abort();
    va_end(v);
}

static void write_tree(question *q)
{
    const ck_release *r = &q->r;
    const struct kind *k = &kinds[r->kind];
    char *o = q->events;
    const size_t room = sizeof q->events;
    const bool times = q->form == REPEATED;
    append(o, room, "\"events\":");
    if (q->form == SEQUENCE) append(o, room, "{\"kind\":\"sequence\",\"events\":[{\"kind\":\"none\"},");
    if (q->form == CYCLIC)
        append(o, room, "{\"kind\":\"repeat\",\"times\":7,\"event\":{\"kind\":\"cyclic\",\"parts\":7,\"event\":");
    if (r->sampler) append(o, room, "{\"kind\":\"%s\",\"rate\":%.17g,\"event\":", samplers[r->sampler], r->rate);
    if (times) append(o, room, "{\"kind\":\"repeat\",\"times\":%.0f,\"event\":", r->times);
    append(o, room, "{\"kind\":\"%s\",\"%s\":%.17g", k->name, k->key, r->a);
    if (k->b) append(o, room, ",\"delta\":%.17g", r->b);
    append(o, room, "}%s%s", times ? "}" : "", r->sampler ? "}" : "");
    if (q->form == CYCLIC) append(o, room, "}}");
    if (q->form == SEQUENCE)
        append(o, room,
               ",{\"kind\":\"repeat\",\"times\":0,\"event\":{\"kind\":\"gaussian\",\"noise_multiplier\":1}}]}");
}

/* The members of a request that name the events. */
static void write_events(question *q, bool calibrate)
{
    const ck_release *r = &q->r;
    const struct kind *k = &kinds[r->kind];
    const size_t room = sizeof q->events;
    q->events[0] = '\0';
    if (q->form != PLAIN) {
        write_tree(q);
        return;
    }
    append(q->events, room, "\"mechanism\":\"%s\"", k->name);
    if (!calibrate) append(q->events, room, ",\"%s\":%.17g", k->a, r->a);
    if (k->b) append(q->events, room, ",\"%s\":%.17g", k->b, r->b);
    if (r->sampler) append(q->events, room, ",\"sampler\":\"%s\",\"q\":%.17g", samplers[r->sampler], r->rate);
    if (r->rows > 1.0) append(q->events, room, ",\"rows\":%.0f", r->rows);
}

/* ---- the count
 * ----------------------------------------------------------------------------------------------------- */

enum { CLASSES = CK_KINDS * 5, ACCOUNTANTS = 7 };
typedef struct list {
    int64_t n, room;
    double *x;
} list;
typedef struct tally {
    int64_t wrong, answers, refused, slow, zero;
    double longest, asked; /* seconds */
    list ratio[ACCOUNTANTS][CLASSES];
} tally;

static void wrong(tally *t, const ck_request *q, const ck_answer *a, const char *what)
{
    if (++t->wrong > 200) return;
    printf("WRONG %s\n  %s %s\n  answer: status %d, epsilon %.10g, lower %.10g, delta %.6g, noise %.10g %s\n", what,
           q->what == CK_CALIBRATE ? "calibrate"
           : q->what == CK_CURVE   ? "curve"
                                   : "account",
           q->json, a->status, a->epsilon, a->lower, a->delta, a->noise, a->message);
}

static void wrong_truth(tally *t, const ck_request *q, const ck_answer *a, const char *what, const ck_release *r,
                        double delta)
{
    char text[200];
    double lo, hi;
    ck_epsilon(r, delta, &lo, &hi);
    snprintf(text, sizeof text, "%s: the true epsilon at delta %.6g is %.12g", what, delta, hi);
    wrong(t, q, a, text);
}

/* Does the true curve lie above (side 1), below (side -1) the point (eps, delta) for sure? */
static bool beyond(const ck_release *r, double eps, double delta, int side)
{
    arb_t d, x;
    if (isinf(eps) && side > 0) return false; /* an infinite epsilon promises nothing */
    if (isinf(eps)) eps = 1e15;               /* what is left there is disclosed outright */
    arb_init(d), arb_init(x);
    ck_delta(d, r, eps);
    arb_set_d(x, delta);
    const bool yes = side > 0 ? arb_gt(d, x) : arb_lt(d, x);
    arb_clear(d), arb_clear(x);
    return yes;
}

static bool usable(tally *t, const ck_request *q, const ck_answer *a, bool allowed)
{
    t->answers += a->status == 0;
    t->refused += a->status > 0;
    t->asked += a->seconds;
    if (a->seconds > t->longest) t->longest = a->seconds;
    if (a->seconds > SLOW) {
        t->slow++;
        printf("SLOW %.1f s: %s\n", a->seconds, q->json);
    }
    if (a->status == CK_HANGS) wrong(t, q, a, "no answer in time");
    else if (a->status < 0) wrong(t, q, a, "crash");
    else if (a->status > 0 && !a->message[0]) wrong(t, q, a, "refused without a message");
    else if (a->status == 0 && !allowed) wrong(t, q, a, "answered outside the range, or without a theorem");
    else if (a->status == 0) return true;
    return false;
}

/* The truth is known to lie between lo and truth: a wide interval, of tiny epsilons, gives no ratio. */
static void add_ratio(tally *t, int accountant, const ck_release *r, double claimed, double lo, double truth)
{
    if (!(lo > 0.999 * truth && isfinite(truth) && isfinite(claimed))) {
        t->zero++;
        return;
    }
    const int how = r->sampler == CK_WHOLE ? 0 : 1 + 2 * (r->sampler == CK_FIXED) + r->replace;
    list *l = &t->ratio[accountant][r->kind * 5 + how];
    if (l->n == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->x = realloc(l->x, (size_t)l->room * sizeof *l->x);
        if (!l->x) abort();
    }
    l->x[l->n++] = claimed / truth;
}

/* ---- one question
 * --------------------------------------------------------------------------------------------------- */

/* (1), (2) for one accountant's epsilon; returns it, or INFINITY. */
static double check_epsilon(tally *t, const question *q, const ck_request *req, const ck_answer *a)
{
    if (!usable(t, req, a, answerable(q))) return INFINITY;
    if (!(a->epsilon >= 0.0 && a->lower >= 0.0)) wrong(t, req, a, "no number");
    else if (beyond(&q->r, a->epsilon, q->delta, 1)) wrong_truth(t, req, a, "epsilon too small", &q->r, q->delta);
    if (a->lower > 0.0 && !ck_group(&q->r) && beyond(&q->r, a->lower * (1.0 - 1e-12), q->delta, -1))
        wrong_truth(t, req, a, "lower bound too large", &q->r, q->delta);
    return a->epsilon;
}

/* Returns the smallest epsilon.  `best` asks all the others again: it can be left out. */
static double ask_epsilons(tally *t, question *q, bool best, bool distances)
{
    ck_request req[ACCOUNTANTS];
    ck_answer a[ACCOUNTANTS];
    double least = INFINITY, lower = 0.0, lo = 0.0, truth = 0.0;
    const int first = best ? 0 : 1;
    write_events(q, false);
    for (int i = 0; i < ACCOUNTANTS; i++)
        ck_request_make(&req[i], CK_EPSILON, ck_accountants[i], q->events, q->r.replace, q->delta, 0);
    ck_ask(ACCOUNTANTS - first, req + first, LIMIT, a + first);
    if (distances && answerable(q)) ck_epsilon(&q->r, q->delta, &lo, &truth);
    for (int i = first; i < ACCOUNTANTS; i++) {
        least = fmin(least, check_epsilon(t, q, &req[i], &a[i]));
        if (a[i].status == 0 && a[i].lower > lower) lower = a[i].lower;
        if (a[i].status == 0 && distances) add_ratio(t, i, &q->r, a[i].epsilon, lo, truth);
    }
    if (best && a[0].status == 0 && a[0].epsilon < lower)
        wrong(t, &req[0], &a[0], "best is below a certified lower bound");
    return least;
}

static void ask_deltas(tally *t, const question *q, double eps)
{
    ck_request req[ACCOUNTANTS];
    ck_answer a[ACCOUNTANTS];
    for (int i = 0; i < ACCOUNTANTS; i++)
        ck_request_make(&req[i], CK_DELTA, ck_accountants[i], q->events, q->r.replace, eps, 0);
    ck_ask(ACCOUNTANTS, req, LIMIT, a);
    for (int i = 0; i < ACCOUNTANTS; i++) {
        if (!usable(t, &req[i], &a[i], answerable(q))) continue;
        if (!(a[i].delta >= 0.0 && a[i].delta <= 1.0)) wrong(t, &req[i], &a[i], "no number");
        else if (a[i].delta < 1.0 && beyond(&q->r, eps, a[i].delta, 1))
            wrong_truth(t, &req[i], &a[i], "delta too small", &q->r, a[i].delta);
    }
}

static void ask_curve(tally *t, const question *q, double end)
{
    ck_request req;
    ck_answer a;
    ck_request_make(&req, CK_CURVE, "best", q->events, q->r.replace, end, 0);
    ck_ask(1, &req, LIMIT, &a);
    if (!usable(t, &req, &a, answerable(q))) return;
    if (a.points != CK_POINTS) wrong(t, &req, &a, "not a curve");
    for (int i = 0; i < a.points; i++)
        if (a.del[i] < 1.0 && beyond(&q->r, a.eps[i], a.del[i], 1)) {
            a.epsilon = a.eps[i], a.delta = a.del[i];
            wrong_truth(t, &req, &a, "curve too low", &q->r, a.delta);
            break;
        }
}

static void ask_calibration(tally *t, question *q, double target)
{
    ck_request req;
    ck_answer a;
    if (q->form != PLAIN || q->r.kind > CK_SELECT || q->r.rows > 1.0) return;
    write_events(q, true);
    ck_request_make(&req, CK_CALIBRATE, "best", q->events, q->r.replace, target, q->delta);
    ck_ask(1, &req, LIMIT, &a);
    if (!usable(t, &req, &a, answerable(q))) return;
    ck_release found = q->r;
    found.a = a.noise;
    if (!(a.noise > 0.0 && a.epsilon <= target)) wrong(t, &req, &a, "calibration missed its target");
    else if (beyond(&found, a.epsilon, q->delta, 1)) wrong_truth(t, &req, &a, "too little noise", &found, q->delta);
}

/* ---- all of them
 * ------------------------------------------------------------------------------------------------------ */

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static void print_distances(tally *t)
{
    static const char *const how[] = { "", " poisson", " poisson replace (group bound)", " fixed", " fixed replace" };
    printf("\nclaimed epsilon / true epsilon\n%-10s %-42s %8s %10s %10s %10s %10s %10s\n", "accountant", "release",
           "answers", "least", "50 %", "90 %", "99 %", "largest");
    for (int i = 0; i < ACCOUNTANTS; i++)
        for (int c = 0; c < CLASSES; c++) {
            list *l = &t->ratio[i][c];
            char name[64];
            if (!l->n) continue;
            qsort(l->x, (size_t)l->n, sizeof *l->x, ascending);
            snprintf(name, sizeof name, "%s%s", kinds[c / 5].name, how[c % 5]);
            printf("%-10s %-42s %8lld %10.6g %10.6g %10.6g %10.6g %10.6g\n", ck_accountants[i], name, (long long)l->n,
                   l->x[0], l->x[l->n / 2], l->x[l->n * 9 / 10], l->x[l->n * 99 / 100], l->x[l->n - 1]);
            free(l->x);
        }
    printf("%lld answers at a true epsilon below 1e-9 or so, or infinite, have no ratio\n", (long long)t->zero);
}

static int64_t report(tally *t)
{
    printf("%lld answers, %lld refusals, %lld wrong; %lld took more than %g s, the longest %.2f s, all %.0f s\n",
           (long long)t->answers, (long long)t->refused, (long long)t->wrong, (long long)t->slow, SLOW, t->longest,
           t->asked);
    return t->wrong;
}

int64_t ck_questions(int64_t n, uint64_t seed, bool distances)
{
    static tally t;
    int64_t releases = 0;
    printf("%lld questions, seed %llu\n", (long long)n, (unsigned long long)seed);
    for (int64_t i = 0; t.answers < n; i++, releases++) {
        uint64_t s = seed + (uint64_t)i * 0xD1B54A32D192ED03u;
        question q;
        random_question(&s, &q);
        const double least = ask_epsilons(&t, &q, i % 4 == 0, distances);
        if (q.outside) continue; /* perhaps only of the delta asked with */
        const double eps = least > 0.0 && least < 1e5 ? least : pick_epsilon(&s);
        if (i % 4 == 1 && q.r.rows <= 1.0) ask_deltas(&t, &q, eps * (0.2 + 1.2 * uniform(&s)));
        if (i % 128 == 2 && q.r.rows <= 1.0) ask_curve(&t, &q, eps * (0.5 + uniform(&s)));
        if (i % 64 == 3) ask_calibration(&t, &q, pick_epsilon(&s));
    }
    printf("%lld releases: ", (long long)releases);
    report(&t);
    if (distances) print_distances(&t);
    return t.wrong;
}

/* ---- questions once answered wrongly
 * ------------------------------------------------------------------------------------ */

static const struct named {
    double z, q, delta;
} named[] = {
    { 0.02, 0.5, 1e-5 },                /* losses above ln of the largest double                     */
    { 0.0031, 0.5, 1e-5 },              /* the same, further out                                     */
    { 0.09874, 0.0005248, 1.826e-180 }, /* tails that are subnormal                                  */
    { 0.06881, 5.068e-07, 6.757e-133 }, /* the same                                                  */
    { 0.06319, 1.836e-05, 2.68e-118 },  /* the same                                                  */
    { 1174, 3.76e-05, 1e-285 },         /* ran for minutes                                           */
    { 120.8, 0.0314, 1e-285 },          /* the same                                                  */
};

int64_t ck_named(void)
{
    static tally t;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        question q = { .r = { .kind = CK_GAUSSIAN,
                              .a = named[i].z,
                              .sampler = CK_POISSON,
                              .rate = named[i].q,
                              .times = 1.0,
                              .rows = 1.0 },
                       .delta = named[i].delta };
        double lo, hi;
        const double least = ask_epsilons(&t, &q, true, false);
        ck_epsilon(&q.r, q.delta, &lo, &hi);
        printf("gaussian z=%g q=%g --delta %g: claimed %.8g, true %.8g\n", named[i].z, named[i].q, named[i].delta,
               least, hi);
        ask_deltas(&t, &q, 0.5 * hi);
        ask_deltas(&t, &q, hi);
        if (i == 0) ask_curve(&t, &q, hi), ask_calibration(&t, &q, 750.0);
    }
    return report(&t);
}
