/* bench_train.c - one epoch of training, noise, clipping, sampling and metering included, next to other tools.
 *
 * Shapes of MNIST (60,000 x 784, softmax over 10 classes, batch 128) and Covertype (581,012 x 54, logistic, batches
 * of 1,000 and 50,000), filled with made-up numbers: dense kernels do not look at them.  For each
 *   private     DP-SGD: Poisson batches, clipped, noised
 *   plain       the same loop with noise and clipping off
 *   peers       PyTorch's own loop without privacy, batches by index, and Opacus in its best mode
 * Best of several rounds in one process per tool, ours before and after the peers.  Then fw-l1 on sparse rows, time
 * per choice against n and p, and the exponents of n and p that fit the times of an epoch.
 *
 *   PRIVET_PYTHON=python-with-torch-and-opacus bench_train [rounds] [threads] [parts: m c l f g] */
#include "run/run.h"

#include <stdlib.h>
#include <time.h>

static pv_ctx *ctx;
static uint64_t seed = 88172645463325252u;

static uint64_t next(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *get(size_t size)
{
    char *p = pvi_alloc(ctx, size + 128); /* as a run has it, on a line of the cache */
    if (!p) abort();
    char *at = (char *)(((uintptr_t)p + 127) & ~(uintptr_t)63);
    memcpy(at - sizeof p, &p, sizeof p);
    return at;
}

static void check(pv_status s)
{
    if (s == PV_OK || s == PV_DONE) return;
    fprintf(stderr, "bench_train: %s\n", pv_ctx_errmsg(ctx));
    exit(1);
}

/* ---- tables ------------------------------------------------------------------------------------------- */

/* n rows of p columns and a bias, inside the unit ball. */
static pvi_matrix *dense(int64_t n, int64_t p, int64_t classes)
{
    pvi_matrix *m = get(sizeof *m);
    m->domain = (pv_domain) { .n = n, .p = p + 1, .row_norm = 1, .classes = classes };
    m->ld = (p + 15) / 16 * 16;
    m->bias = 1.0f / sqrtf((float)p + 1.0f);
    float *all = get(sizeof *all * (size_t)(n * m->ld));
    m->x = all;
    m->y = get(sizeof *m->y * (size_t)n);
    m->norm = get(sizeof *m->norm * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        float *x = all + i * m->ld;
        for (int64_t j = 0; j < p; j++) x[j] = ((float)(next() >> 40) * 0x1p-23f - 1.0f) * m->bias;
        m->norm[i] = 1.0f;
        m->y[i] = classes == 2 ? (next() & 1 ? 1.0f : -1.0f) : (float)(next() % (uint64_t)classes);
    }
    return m;
}

/* n rows with k of p columns set to 1, in no particular place. */
static pvi_matrix *sparse(int64_t n, int64_t p, int64_t k)
{
    pvi_matrix *m = get(sizeof *m);
    m->domain = (pv_domain) { .n = n, .p = p, .row_norm = 1, .max_norm = true, .classes = 2 };
    m->ptr = get(sizeof *m->ptr * (size_t)(n + 1));
    m->idx = get(sizeof *m->idx * (size_t)(n * k));
    m->val = get(sizeof *m->val * (size_t)(n * k));
    m->y = get(sizeof *m->y * (size_t)n);
    m->norm = get(sizeof *m->norm * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        m->ptr[i + 1] = (i + 1) * k;
        for (int64_t e = 0; e < k; e++) {
            m->idx[i * k + e] = (int32_t)((p / k) * e + (int64_t)(next() % (uint64_t)(p / k)));
            m->val[i * k + e] = 1.0f;
        }
        m->norm[i] = 1.0f;
        m->y[i] = next() & 1 ? 1.0f : -1.0f;
    }
    return m;
}

static void put(const void *at)
{
    void *p;
    if (!at) return;
    memcpy(&p, (const char *)at - sizeof p, sizeof p);
    pvi_free(ctx, p);
}

static void drop(pvi_matrix *m)
{
    put(m->x), put(m->ptr), put(m->idx), put(m->val), put(m->y), put(m->norm), put(m);
}

/* ---- the loop of a run, without reading, planning and certifying ------------------------------------------ */

typedef struct racer {
    pv_plan *plan;
    pvi_job *job;
    const pvi_matrix *m;
    double wall, cpu; /* seconds of one run, the best */
} racer;

static racer line_up(const pvi_matrix *m, const char *const *pairs) /* key, value, ..., NULL */
{
    racer r = { .m = m, .wall = INFINITY, .cpu = INFINITY };
    check(pv_plan_create(ctx, &r.plan));
    for (; *pairs; pairs += 2) check(pv_plan_set(r.plan, pairs[0], pairs[1]));
    check(pvi_job_create(r.plan, m, &r.job));
    return r;
}

static void race(racer *r)
{
    const pvi_job *j = r->job;
    pv_arena *a = pvi_arena_create(ctx);
    pv_rng *rng;
    pv_oracle *o;
    check(pvi_rng_create(ctx, &rng));
    check(pvi_oracle_create(j, r->m, rng, NULL, NULL, &o));
    double *w = pv_arena_f64(a, j->prob.d);
    void *st;
    if (!w) abort();
    const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    pv_status s = pvi_optimizer_state(j, a, &st);
    for (int64_t t = 1; s == PV_OK; t++) s = j->opt->step(st, j->opt_cfg, &j->prob, t, o, w);
    r->wall = fmin(r->wall, seconds(CLOCK_MONOTONIC) - wall);
    r->cpu = fmin(r->cpu, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    check(s);
    pvi_oracle_free(o);
    pvi_rng_free(rng);
    pvi_arena_free(a);
}

static void go_home(racer *r)
{
    pvi_job_free(r->job);
    pv_plan_free(r->plan);
}

/* ---- against peers ------------------------------------------------------------------------------------------- */

static int threads;

static void run_peers(int64_t n, int64_t p, int64_t classes, int64_t batch, const racer *ours)
{
    const char *python = getenv("PRIVET_PYTHON"), *source = getenv("PRIVET_SOURCE");
    char command[512], name[64];
    double wall, cpu;
    if (!python) {
        printf("  peers skipped: PRIVET_PYTHON is not set\n");
        return;
    }
    snprintf(command, sizeof command, "%s %s/bench/peers/train_peers.py %lld %lld %lld %lld %d", python,
             source ? source : ".", (long long)n, (long long)p, (long long)classes, (long long)batch, threads);
    fflush(stdout);
    FILE *f = popen(command, "r");
    while (f && fscanf(f, "%63s %lf %lf", name, &wall, &cpu) == 3)
        printf("  %-16s %9.4f s %9.4f s   %6.1f  %6.1f\n", name, wall, cpu, wall / ours->wall, cpu / ours->cpu);
    if (!f || pclose(f) != 0) printf("  peers skipped: %s has no torch and opacus\n", python);
}

static void compare(const char *what, const pvi_matrix *m, const char *model, int64_t p, int64_t batch, int rounds)
{
    char steps[32], size[32];
    snprintf(steps, sizeof steps, "%lld", (long long)((m->domain.n + batch - 1) / batch));
    snprintf(size, sizeof size, "%lld", (long long)batch);
    const char *pairs[] = { "model",
                            model,
                            "optimizer",
                            "sgd",
                            "optimizer.steps",
                            steps,
                            "sampler",
                            "poisson",
                            "sampler.batch",
                            size,
                            "optimizer.step",
                            "0.5",
                            "budget.noise_multiplier",
                            "1",
                            "budget.epsilon",
                            "1000",
                            "clip",
                            "0.5",
                            "accountant",
                            "rdp",
                            NULL },
               *off[] = {
                   "model",         model, "optimizer",      "sgd", "optimizer.steps", steps, "sampler", "poisson",
                   "sampler.batch", size,  "optimizer.step", "0.5", "privacy",         "off", NULL
               };
    racer private = line_up(m, pairs), plain = line_up(m, off);
    for (int r = 0; r < rounds; r++) race(&private), race(&plain);
    printf("%s, batch %lld, one epoch of %s steps, %d threads\n", what, (long long)batch, steps, threads);
    printf("  %-16s %11s %11s   %s\n", "", "wall", "processor", "times private: wall, processor");
    printf("  %-16s %9.4f s %9.4f s\n", "private", private.wall, private.cpu);
    printf("  %-16s %9.4f s %9.4f s   %6.3f  %6.3f\n", "plain", plain.wall, plain.cpu, plain.wall / private.wall,
           plain.cpu / private.cpu);
    run_peers(m->domain.n, p, m->domain.classes, batch, &private);
    go_home(&private), go_home(&plain);
}

/* ---- how the time grows ---------------------------------------------------------------------------------------- */

/* Seconds of one choice of fw-l1; choices() differ in number so that what a run does once drops out. */
static double choice_time(int64_t n, int64_t p, int64_t k, int rounds)
{
    static const char *const few[] = { "optimizer",       "fw-l1", "set",        "l1ball", "data.norm", "max",
                                       "optimizer.steps", "2",     "accountant", "zcdp",   NULL },
                             *const many[] = { "optimizer",       "fw-l1", "set",        "l1ball", "data.norm", "max",
                                               "optimizer.steps", "12",    "accountant", "zcdp",   NULL };
    pvi_matrix *m = sparse(n, p, k);
    racer a = line_up(m, few), b = line_up(m, many);
    for (int r = 0; r < rounds; r++) race(&a), race(&b);
    const double time = (b.cpu - a.cpu) / 10.0;
    go_home(&a), go_home(&b);
    drop(m);
    return time;
}

static void choices(int rounds)
{
    static const struct {
        int64_t n, p;
    } at[] = { { 20000, 1000000 }, { 20000, 500000 }, { 20000, 250000 }, { 10000, 1000000 }, { 40000, 1000000 } };
    printf("fw-l1, 50 non-zeros a row, %d threads: processor time of one private choice\n", threads);
    for (int i = 0; i < 5; i++)
        printf("  n = %6lld  p = %8lld  %8.3f ms\n", (long long)at[i].n, (long long)at[i].p,
               1e3 * choice_time(at[i].n, at[i].p, 50, rounds));
}

/* Seconds of an epoch of full-batch DP gradient descent. */
static double epoch_time(int64_t n, int64_t p, int rounds)
{
    static const char *const pairs[] = {
        "optimizer", "pgd", "optimizer.steps", "10", "budget.noise_multiplier", "10", "budget.epsilon", "1000", NULL
    };
    pvi_matrix *m = dense(n, p, 2);
    racer r = line_up(m, pairs);
    for (int i = 0; i < rounds; i++) race(&r);
    go_home(&r);
    drop(m);
    return r.cpu / 10.0;
}

/* Slope of log time against log size: least squares. */
static double exponent(const double *size, const double *time, int n)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (int i = 0; i < n; i++) {
        const double a = log(size[i]), b = log(time[i]);
        x += a / n, y += b / n, xx += a * a / n, xy += a * b / n;
    }
    return (xy - x * y) / (xx - x * x);
}

static void growth(int rounds)
{
    double size[4], time[4]; /* none fits a cache: where some do, the exponent is that of the memory */
    for (int i = 0; i < 4; i++) time[i] = epoch_time((int64_t)(size[i] = 100000 << i), 255, rounds);
    printf("epoch of pgd, logistic, processor time: n^%.3f for n = 100,000 .. 800,000 at p = 256 (%.2f .. %.2f ms)\n",
           exponent(size, time, 4), 1e3 * time[0], 1e3 * time[3]);
    for (int i = 0; i < 4; i++) time[i] = epoch_time(100000, (int64_t)(size[i] = 256 << i) - 1, rounds);
    printf("                                         p^%.3f for p = 256 .. 2,048 at n = 100,000 (%.2f .. %.2f ms)\n",
           exponent(size, time, 4), 1e3 * time[0], 1e3 * time[3]);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 5;
    if (pv_ctx_create(NULL, &ctx)) return 1;
    check(pvi_set_threads(ctx, argc > 2 ? atoi(argv[2]) : 0));
    threads = pvi_threads(ctx);
    if (argc <= 3 || strchr(argv[3], 'm')) {
        pvi_matrix *m = dense(60000, 784, 10);
        compare("softmax 60,000 x 784, 10 classes", m, "softmax", 784, 128, rounds);
        drop(m);
    }
    for (int large = 0; large < 2; large++) {
        if (argc > 3 && !strchr(argv[3], large ? 'l' : 'c')) continue;
        pvi_matrix *m = dense(581012, 54, 2);
        compare("logistic 581,012 x 54", m, "logistic", 54, large ? 50000 : 1000, rounds);
        drop(m);
    }
    if (argc <= 3 || strchr(argv[3], 'f')) choices(rounds);
    if (argc <= 3 || strchr(argv[3], 'g')) growth(rounds);
    pv_ctx_free(ctx);
    return 0;
}
