/* test_threads.c - several contexts in several threads, which thread calls back, small stacks.
 * label: tsan */
#include "pvtest.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { THREADS = 4, WEIGHTS = 64 };
static char folder[] = "/tmp/privet_threads_XXXXXX", table[64], schema[64], images[64], persons[64];

/* IDX: 40 images of 16 x 16 bytes in two classes, for a network and for scattering. */
static void write_images(void)
{
    uint64_t seed = 3;
    char path[96];
    snprintf(images, sizeof images, "%s/train-images-idx3-ubyte", folder);
    FILE *f = fopen(images, "wb");
    const uint8_t head[] = { 0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 16, 0, 0, 0, 16 },
                  tail[] = { 0, 0, 8, 1, 0, 0, 0, 40 };
    PVT_TRUE(f && fwrite(head, 1, sizeof head, f) == sizeof head);
    for (int i = 0; i < 40 * 256; i++) fputc((int)(pvt_u64(&seed) & 255), f);
    fclose(f);
    snprintf(path, sizeof path, "%s/train-labels-idx1-ubyte", folder);
    f = fopen(path, "wb");
    PVT_TRUE(f && fwrite(tail, 1, sizeof tail, f) == sizeof tail);
    for (int i = 0; i < 40; i++) fputc(i & 1, f);
    fclose(f);
}

static int setup(void **state)
{
    (void)state;
    pv_ctx *ctx;
    if (!mkdtemp(folder)) return 1;
    snprintf(table, sizeof table, "%s/demo_train.csv", folder);
    write_images();
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pv_demo_data(ctx, folder, 1, 2000, 100));
    char command[256];
    snprintf(persons, sizeof persons, "%s/demo.schema.json", folder);
    snprintf(schema, sizeof schema, "%s/rows.schema.json", folder);
    snprintf(command, sizeof command, "sed -e 's/\"person\",/\"ignore\"/' -e '/\"rows\"/d' %s >%s", persons, schema);
    PVT_IS(system(command), 0);
    pv_ctx_free(ctx);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* ---- a day's work on one context ----------------------------------------------------------------------------- */

typedef struct job {
    int number;
    const char *settings[8][2]; /* beside data and seed */
    pv_alloc alloc;             /* get NULL: the default */
    pv_log_fn log;
    pv_progress_fn progress;
    void *user;
    double w[WEIGHTS];
    int64_t d;
    char *cost; /* free() */
    const char *failed;
    char why[256];
} job;

#define WORK(call)                                                                                                   \
    if ((call) != PV_OK) {                                                                                           \
        j->failed = #call;                                                                                           \
        snprintf(j->why, sizeof j->why, "%s", pv_ctx_errmsg(ctx));                                                   \
        goto out;                                                                                                    \
    }

static void work_on(job *j, pv_ctx *ctx)
{
    char seed[16], model[96], scores[96], *json;
    pv_plan *plan = NULL;
    pv_result *r = NULL;
    pv_model *m = NULL;
    snprintf(seed, sizeof seed, "%d", j->number);
    snprintf(model, sizeof model, "%s/model%d", folder, j->number);
    snprintf(scores, sizeof scores, "%s/scores%d", folder, j->number);
    pv_ctx_on_log(ctx, j->log, j->user);
    pv_ctx_on_progress(ctx, j->progress, j->user);
    WORK(pv_plan_create(ctx, &plan));
    WORK(pv_plan_set(plan, "data.path", table));
    WORK(pv_plan_set(plan, "data.schema", schema));
    WORK(pv_plan_set(plan, "data.key_path", "none"));
    WORK(pv_plan_set(plan, "run.seed", seed));
    for (int i = 0; i < 8 && j->settings[i][0]; i++) WORK(pv_plan_set(plan, j->settings[i][0], j->settings[i][1]));
    WORK(pv_plan_run(plan, &r));
    WORK(pv_result_weights(r, j->w, WEIGHTS, &j->d));
    WORK(pv_result_save(r, model));
    WORK(pv_model_load(ctx, model, &m));
    WORK(pv_model_set(m, "data.key_path", "none"));
    WORK(pv_model_predict(m, j->settings[0][1] && strcmp(j->settings[0][0], "data.path") == 0 ? images : table,
                          scores));
    WORK(pv_model_export(m, "onnx", scores));
    if (pv_verify(ctx, model, NULL) != PV_E_VERIFY) j->failed = "pv_verify"; /* a seed was set */
    WORK(pv_calibrate(
        ctx, "{\"mechanism\": \"gaussian\", \"q\": 0.01, \"steps\": 100, \"epsilon\": 1, \"delta\": 1e-5}", &json));
    j->cost = strdup(json);
    pv_string_free(ctx, json);
out:
    pv_model_free(m);
    pv_result_free(r);
    pv_plan_free(plan);
}

static void *work(void *arg)
{
    job *j = arg;
    pv_ctx *ctx;
    if (pv_ctx_create(j->alloc.get ? &j->alloc : NULL, &ctx) != PV_OK) {
        j->failed = "pv_ctx_create";
        return NULL;
    }
    work_on(j, ctx);
    pv_ctx_free(ctx);
    return NULL;
}

static void worked(const job *j)
{
    PVT_CHECK(!j->failed, "%s: %s", j->failed, j->why);
}

/* ---- several contexts ------------------------------------------------------- */

static void contexts_do_not_meet(void **state)
{
    (void)state;
    pthread_t t[THREADS];
    job alone[THREADS] = { 0 }, together[THREADS];
    static const char *const optimizers[THREADS] = { "pgd", "tr", "sgd", "adam" };
    for (int i = 0; i < THREADS; i++) {
        alone[i] = (job) { .number = i + 1,
                           .settings = { { "optimizer", optimizers[i] },
                                         { "run.threads", i & 1 ? "2" : "1" },
                                         { "optimizer.steps", "5" },
                                         { "budget.delta", "1e-5" } } };
        together[i] = alone[i];
        work(&alone[i]);
        worked(&alone[i]);
    }
    for (int i = 0; i < THREADS; i++) PVT_IS(pthread_create(&t[i], NULL, work, &together[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        worked(&together[i]);
        PVT_CHECK(alone[i].d == together[i].d && memcmp(alone[i].w, together[i].w, sizeof alone[i].w) == 0,
                  "thread %d: other weights", i);
        free(alone[i].cost);
        free(together[i].cost);
    }
}

/* ---- who is called, and where ------------------------------------------------------- */

typedef struct watch {
    pthread_t host;
    _Atomic int64_t lines, progress, gets, puts, elsewhere;
} watch;

static void look(watch *w)
{
    if (!pthread_equal(pthread_self(), w->host)) atomic_fetch_add(&w->elsewhere, 1);
}

static void on_log(void *user, pv_level level, const char *line)
{
    watch *w = user;
    (void)level, (void)line;
    look(w);
    atomic_fetch_add(&w->lines, 1);
}

static bool on_progress(void *user, const char *what, double done, double total, double epsilon)
{
    watch *w = user;
    (void)what, (void)done, (void)total, (void)epsilon;
    look(w);
    atomic_fetch_add(&w->progress, 1);
    return true;
}

static void *watched_get(void *self, size_t n)
{
    watch *w = self;
    look(w);
    atomic_fetch_add(&w->gets, 1);
    char *p = malloc(n + 64);
    if (!p) return NULL;
    memset(p, 0xa5, n + 64);
    char *q = p + 32 - (uintptr_t)p % 32 + 16; /* aligned as malloc's, but no better: 16 modulo 32 */
    memcpy(q - sizeof p, &p, sizeof p);
    return q;
}

static void watched_put(void *self, void *p)
{
    watch *w = self;
    look(w);
    atomic_fetch_add(&w->puts, 1);
    char *from;
    memcpy(&from, (char *)p - sizeof from, sizeof from);
    free(from);
}

static void the_host_is_called_on_its_own_thread(void **state)
{
    (void)state;
    static const char *const more[][2][2] = {
        { { "optimizer", "pgd" }, { "clip", "0.5" } },
        { { "data.path", images }, { "model", "mlp" } },
        { { "data.path", images }, { "data.transform", "scatter" } },
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        watch w = { .host = pthread_self() };
        job j = { .number = 9,
                  .alloc = { watched_get, watched_put, &w },
                  .log = on_log,
                  .progress = on_progress,
                  .user = &w,
                  .settings = { { more[i][0][0], more[i][0][1] },
                                { more[i][1][0], more[i][1][1] },
                                { "run.threads", "4" },
                                { "optimizer.steps", "5" },
                                { "budget.delta", "1e-3" },
                                { "budget.epsilon", "5" },
                                { i ? "data.schema" : NULL, "" } } };
        work(&j);
        worked(&j);
        PVT_TRUE(w.lines > 0 && w.progress > 0 && w.gets > 100);
        PVT_CHECK(w.elsewhere == 0, "case %d: %lld calls on other threads", (int)i, (long long)w.elsewhere);
        PVT_IS(w.gets, w.puts);
        free(j.cost);
    }
}

/* ---- a small stack ------------------------------------------------------- */

enum { STACK = 64 << 10, LINE = 64 }; /* as privet.h says */

/* Runs on a stack of its own memory and says how much of it was used.  Where threads must have more, as on Arm, the
 * memory is larger, and what was used must still fit. */
static size_t stack_used(void *(*fn)(void *), void *arg)
{
    const long least = sysconf(_SC_THREAD_STACK_MIN);
    const size_t size = least > STACK ? (size_t)least : STACK;
    pthread_attr_t attr;
    pthread_t t;
    char *stack;
    PVT_IS(posix_memalign((void **)&stack, 65536, size), 0);
    memset(stack, 0x5a, size);
    PVT_IS(pthread_attr_init(&attr), 0);
    PVT_IS(pthread_attr_setstack(&attr, stack, size), 0);
    PVT_IS(pthread_create(&t, &attr, fn, arg), 0);
    pthread_join(t, NULL);
    pthread_attr_destroy(&attr);
    size_t untouched = 0;
    while (untouched < size && stack[untouched] == 0x5a) untouched++;
    free(stack);
    PVT_CHECK(size - untouched <= STACK - 4096, "%zu bytes of stack, and %d are promised", size - untouched,
              (int)STACK);
    return size - untouched;
}

static void a_small_stack_is_enough(void **state)
{
    (void)state;
    if (SANITIZED) PVT_SKIP("sanitizers make frames larger");
    static const char *const more[][2][2] = {
        { { "optimizer", "pgd" }, { "accountant", "pld" } },
        { { "optimizer", "tr" }, { "run.diagnostics", "yes" } },
        { { "optimizer", "pgd" }, { "data.schema", persons } },
        { { "optimizer", "sgd" }, { "sampler", "poisson" } },
        { { "optimizer", "fw-l1" }, { "set", "l1ball" } },
        { { "optimizer", "prgd" }, { "budget.relation", "replace" } },
        { { "data.path", images }, { "model", "mlp" } },
        { { "data.path", images }, { "data.transform", "scatter" } },
        { { "optimizer", "sgd" }, { "accountant", "rdp" } },
    };
    size_t most = 0;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        job j = { .number = 20 + (int)i,
                  .settings = { { more[i][0][0], more[i][0][1] },
                                { more[i][1][0], more[i][1][1] },
                                { "run.threads", "1" }, /* all of it on this stack */
                                { "optimizer.steps", "5" },
                                { "budget.delta", "1e-3" },
                                { "budget.epsilon", "5" },
                                { strcmp(more[i][0][0], "data.path") == 0 ? "data.schema" : NULL, "" } } };
        const size_t used = stack_used(work, &j);
        worked(&j);
        free(j.cost);
        print_message("%s=%s: %zu bytes of stack\n", more[i][0][0], more[i][0][1], used);
        if (used > most) most = used;
    }
    print_message("at most %zu of %d bytes\n", most, (int)STACK);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(contexts_do_not_meet),
        cmocka_unit_test(the_host_is_called_on_its_own_thread),
        cmocka_unit_test(a_small_stack_is_enough),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
