/* test_host.c - what the library must not do to the program it is part of: its umask, its forks, its floating-point
 * environment, its locale; and how the host stops it.
 * label: tsan */
#include "pvtest.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#ifdef __SANITIZE_ADDRESS__
#define ADDRESSES /* are checked, by gcc */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESSES
#endif
#endif

static char folder[] = "/tmp/privet_host_XXXXXX";
static atomic_bool stop;

static int setup(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

/* ---- umask -------------------------------------------------------------------------------------------------- */

/* Stands in for the C library's: whoever asks for the umask changes it for all threads. */
static atomic_int asked;
mode_t umask(mode_t mask)
{
    atomic_fetch_add(&asked, 1);
    return (mode_t)syscall(SYS_umask, mask);
}

static void *save(void *number)
{
    pv_ctx *ctx;
    char path[64];
    snprintf(path, sizeof path, "%s/saved%d", folder, *(int *)number);
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return "no context";
    const char *bad = NULL;
    struct stat st;
    while (!atomic_load(&stop) && !bad) {
        if (pv_file_write(ctx, path, "x", 1) != PV_OK) bad = "not written";
        else if (stat(path, &st) != 0 || (st.st_mode & 0777) != 0640) bad = "not as the umask says";
    }
    pv_ctx_free(ctx);
    return (void *)(uintptr_t)bad;
}

static void files_of_the_host_keep_their_modes(void **state)
{
    (void)state;
    enum { THREADS = 4, FILES = 1000 };
    pthread_t t[THREADS];
    int number[THREADS] = { 0, 1, 2, 3 }, wrong = 0;
    char path[64];
    const mode_t before = umask(027);
    atomic_store(&stop, false);
    for (int i = 0; i < THREADS; i++) PVT_IS(pthread_create(&t[i], NULL, save, &number[i]), 0);
    for (int i = 0; i < FILES; i++) {
        struct stat st;
        snprintf(path, sizeof path, "%s/host%d", folder, i);
        const int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);
        PVT_TRUE(fd >= 0 && fstat(fd, &st) == 0);
        wrong += (st.st_mode & 0777) != 0640;
        close(fd);
        unlink(path);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        PVT_CHECK(!bad, "%s", (const char *)bad);
    }
    PVT_IS(wrong, 0);
    PVT_IS(asked, 1);
    PVT_IS(umask(before), 027);
}

/* ---- forks -------------------------------------------------------------------------------------------------- */

/* Composed by Fourier transform. */
static const char question[] = "{\"mechanism\": \"gaussian\", \"z\": 0.6, \"q\": 0.3, \"steps\": 3, \"delta\": 1e-8, "
                               "\"accountant\": \"pld\"}";

static pv_status ask(void)
{
    pv_ctx *ctx;
    char *json;
    pv_status s = pv_ctx_create(NULL, &ctx);
    if (s != PV_OK) return s;
    s = pv_account(ctx, question, &json);
    pv_string_free(ctx, json);
    pv_ctx_free(ctx);
    return s;
}

static void *ask_on(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop))
        if (ask() != PV_OK) return "no answer";
    return NULL;
}

static void children_get_answers(void **state)
{
    (void)state;
#if defined(ADDRESSES) || defined(__SANITIZE_THREAD__)
    PVT_SKIP("a sanitizer's own allocator may be locked by another thread at fork, and stays so in the child");
#endif
    enum { THREADS = 2, CHILDREN = 60 };
    pthread_t t[THREADS];
    atomic_store(&stop, false);
    for (int i = 0; i < THREADS; i++) PVT_IS(pthread_create(&t[i], NULL, ask_on, NULL), 0);
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0) {
            alarm(60); /* a child that waits for ever dies of it */
            _exit(ask() == PV_OK ? 0 : 1);
        }
        PVT_TRUE(child > 0);
        PVT_TRUE(waitpid(child, &status, 0) == child);
        PVT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child %d: status %#x", i, status);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) {
        void *bad;
        pthread_join(t[i], &bad);
        PVT_CHECK(!bad, "%s", (const char *)bad);
    }
}

/* ---- floating point ------------------------------------------------------------------------------------------- */

typedef struct answers {
    char *text;
    size_t len;
} answers;

typedef pv_status (*asking)(pv_ctx *, const char *, char **);
static void put_answer(FILE *f, pv_ctx *ctx, asking fn, const char *request)
{
    char *json, *line, *save_at = NULL;
    PVT_CHECK(fn(ctx, request, &json) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    for (line = strtok_r(json, "\n", &save_at); line; line = strtok_r(NULL, "\n", &save_at))
        if (!strstr(line, "\"seconds\"")) fprintf(f, "%s\n", line);
    pv_string_free(ctx, json);
}

/* Without a decimal sign and without rounding of the host's. */
static void put_bits(FILE *f, const double *w, int64_t d)
{
    for (int64_t i = 0; i < d; i++) {
        uint64_t bits;
        memcpy(&bits, &w[i], sizeof bits);
        fprintf(f, "%llx\n", (unsigned long long)bits);
    }
}

static void put_model(FILE *f, pv_ctx *ctx, const char *optimizer)
{
    pv_plan *plan;
    pv_result *r;
    double w[64];
    int64_t d;
    char path[64], table[64], scores[64], *json;
    snprintf(path, sizeof path, "%s/model.pvt", folder);
    snprintf(table, sizeof table, "%s/demo_train.csv", folder);
    snprintf(scores, sizeof scores, "%s/scores.csv", folder);
    const char *const settings[][2] = { { "data.path", table },      { "data.person_rows", "4" },
                                        { "optimizer", optimizer },  { "run.seed", "7" },
                                        { "budget.delta", "1e-5" },  { "optimizer.steps", "8" },
                                        { "budget.epsilon", "0.7" }, { "run.threads", "2" } };
    char schema[64];
    snprintf(schema, sizeof schema, "%s/demo.schema.json", folder);
    PVT_OK(pv_plan_create(ctx, &plan));
    PVT_OK(pv_plan_set(plan, "data.schema", schema));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        PVT_CHECK(pv_plan_set(plan, settings[i][0], settings[i][1]) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_CHECK(pv_plan_run(plan, &r) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_weights(r, w, 64, &d));
    put_bits(f, w, d);
    double eps;
    PVT_IS(pv_plan_epsilon(plan, 1.5, &eps), PV_E_ARG);
    fprintf(f, "%s\n", pv_ctx_errmsg(ctx));
    PVT_IS(pv_plan_set(plan, "budget.epsilon", "0,7"), PV_E_PARAM); /* a comma is none anywhere */
    fprintf(f, "%s\n", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_save(r, path));
    pv_model *m;
    PVT_OK(pv_model_load(ctx, path, &m));
    PVT_OK(pv_model_predict(m, table, scores));
    PVT_OK(pv_model_eval(m, table, &json));
    fputs(json, f);
    pv_string_free(ctx, json);
    PVT_IS(pv_verify(ctx, path, NULL), PV_E_VERIFY); /* a seed was set; the cost was recomputed on the way */
    pv_model_free(m);
    pv_result_free(r);
    pv_plan_free(plan);
    FILE *in = fopen(scores, "r");
    PVT_TRUE(in != NULL);
    for (int c; (c = fgetc(in)) != EOF;) fputc(c, f);
    fclose(in);
}

/* More digits than the fast path reads, on all threads: the C library decides. */
static void put_long_digits(FILE *f, pv_ctx *ctx)
{
    char path[64];
    double w[8];
    int64_t d;
    uint64_t seed = 1;
    pv_plan *plan;
    pv_result *r;
    snprintf(path, sizeof path, "%s/digits", folder);
    FILE *out = fopen(path, "w");
    PVT_TRUE(out != NULL);
    for (int i = 0; i < 3000; i++)
        fprintf(out, "%d 1:0.%019llu%019llu\n", i % 2 ? 1 : -1, (unsigned long long)pvt_u64(&seed),
                (unsigned long long)pvt_u64(&seed));
    fclose(out);
    const char *const settings[][2] = { { "data.path", path },      { "data.key_path", "none" },
                                        { "data.chunk", "512" },    { "run.threads", "4" },
                                        { "budget.delta", "1e-5" }, { "optimizer.steps", "2" },
                                        { "run.seed", "1" } };
    PVT_OK(pv_plan_create(ctx, &plan));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        PVT_CHECK(pv_plan_set(plan, settings[i][0], settings[i][1]) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_CHECK(pv_plan_run(plan, &r) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    PVT_OK(pv_result_weights(r, w, 8, &d));
    put_bits(f, w, d < 8 ? d : 8);
    pv_result_free(r);
    pv_plan_free(plan);
}

static int meddle; /* what callbacks do to the environment: a rounding mode, -1: flush to zero; 0: nothing */

static void change_environment(void)
{
    if (meddle > 0) fesetround(meddle);
#if defined(__x86_64__)
    if (meddle < 0) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

static void keep_line(void *user, pv_level level, const char *line)
{
    fprintf(user, "%d %s\n", (int)level, line);
    change_environment();
}

static bool go_on(void *user, const char *what, double done, double total, double epsilon)
{
    (void)user, (void)what, (void)done, (void)total, (void)epsilon;
    change_environment();
    return true;
}

static answers all_answers(void)
{
    answers a;
    pv_ctx *ctx;
    FILE *f = open_memstream(&a.text, &a.len);
    PVT_OK(pv_ctx_create(NULL, &ctx));
    pv_ctx_on_log(ctx, keep_line, f);
    pv_ctx_on_progress(ctx, go_on, NULL);
    put_answer(f, ctx, pv_account, question);
    put_answer(f, ctx, pv_account,
               "{\"mechanism\": \"gaussian\", \"z\": 1.1, \"q\": 0.004, \"steps\": 900, "
               "\"delta\": 1e-200, \"accountant\": \"rdp\"}");
    put_answer(f, ctx, pv_calibrate, "{\"mechanism\": \"laplace\", \"steps\": 3, \"epsilon\": 1, \"delta\": 1e-6}");
    put_answer(f, ctx, pv_curve, "{\"mechanism\": \"gaussian\", \"z\": 2, \"steps\": 3}");
    put_answer(f, ctx, pv_epochs,
               "{\"noise\": \"constant+linear:4,1\", \"z\": 5, \"batches\": 5, \"epochs\": 5, "
               "\"step\": 0.01, \"smooth\": 50, \"delta\": 1e-5}");
    put_model(f, ctx, "pgd");
    put_model(f, ctx, "tr");
    put_long_digits(f, ctx);
    pv_ctx_free(ctx);
    fclose(f);
    return a;
}

static unsigned control_word(void)
{
#if defined(__x86_64__)
    return _mm_getcsr();
#else
    return (unsigned)fegetround();
#endif
}

static void compare_with(const answers *want, const char *what)
{
    const unsigned before = control_word();
    const answers got = all_answers();
    const unsigned after = control_word();
    fesetenv(FE_DFL_ENV);
    PVT_CHECK(before == after, "%s: control word %#x became %#x", what, before, after);
    PVT_CHECK(got.len == want->len && memcmp(got.text, want->text, got.len) == 0, "%s: other answers", what);
    free(got.text);
}

static void environments_are_put_aside_and_back(void **state)
{
    (void)state;
    static const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    pv_ctx *ctx;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    PVT_OK(pv_demo_data(ctx, folder, 1, 300, 100));
    pv_ctx_free(ctx);
    fesetenv(FE_DFL_ENV);
    const answers want = all_answers();
    PVT_TRUE(want.len > 1000);
    PVT_IS(fetestexcept(FE_ALL_EXCEPT), 0); /* no flag is left raised */
    for (int i = 0; i < 3; i++) {
        fesetround(modes[i]);
        compare_with(&want, "rounding mode");
    }
    feenableexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID | FE_UNDERFLOW); /* the next one ends the process */
    compare_with(&want, "traps");
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* results below the normal numbers become 0, and so do operands */
    compare_with(&want, "flush to zero");
    meddle = -1;
    compare_with(&want, "flush to zero, by a callback");
#endif
    for (int i = 0; i < 3; i++) {
        meddle = modes[i];
        compare_with(&want, "rounding mode, by a callback");
    }
    meddle = 0;
    free(want.text);
}

/* ---- locale -------------------------------------------------------------------------------------------------- */

/* A locale with a comma, installed or made on the spot. */
static bool comma_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8" };
    char command[160];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i])) return true;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    return system(command) == 0 && setenv("LOCPATH", folder, 1) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
}

static void numbers_have_points_under_every_locale(void **state)
{
    (void)state;
    char text[16];
    const answers want = all_answers();
    if (!comma_locale()) PVT_SKIP("no locale with a decimal comma, and no localedef to make one");
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5");
    const answers got = all_answers();
    snprintf(text, sizeof text, "%g", 0.5);
    assert_string_equal(text, "0,5"); /* still the host's */
    PVT_TRUE(setlocale(LC_ALL, "C"));
    for (size_t i = 0, from = 0; i < got.len && i < want.len; i++) {
        if (want.text[i] == '\n') from = i + 1;
        PVT_CHECK(got.text[i] == want.text[i], "under a comma: %.100s", got.text + from);
    }
    PVT_IS(got.len, want.len);
    free(want.text);
    free(got.text);
}

/* ---- a child with its parent's handles ------------------------------------------------------------------------ */

static pv_plan *table_plan(pv_ctx *ctx, const char *seed, const char *threads)
{
    pv_plan *plan;
    char table[64], schema[64];
    snprintf(table, sizeof table, "%s/demo_train.csv", folder);
    snprintf(schema, sizeof schema, "%s/demo.schema.json", folder);
    const char *const settings[][2] = { { "data.path", table },     { "data.schema", schema },
                                        { "run.seed", seed },       { "run.threads", threads },
                                        { "budget.delta", "1e-4" }, { "optimizer.steps", "8" },
                                        { "data.key_path", "none" } };
    PVT_OK(pv_plan_create(ctx, &plan));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        PVT_CHECK(pv_plan_set(plan, settings[i][0], settings[i][1]) == PV_OK, "%s", pv_ctx_errmsg(ctx));
    return plan;
}

enum { WEIGHTS = 64 };
static pv_status weights(pv_plan *plan, double *w)
{
    pv_result *r;
    int64_t d;
    memset(w, 0, sizeof *w * WEIGHTS);
    pv_status s = pv_plan_run(plan, &r);
    if (s == PV_OK) s = pv_result_weights(r, w, WEIGHTS, &d);
    pv_result_free(r);
    return s;
}

static void children_inherit_a_context(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    PVT_SKIP("ThreadSanitizer knows no threads of a child");
#endif
    pv_ctx *ctx;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    for (int seeded = 0; seeded < 2; seeded++) {
        pv_plan *plan = table_plan(ctx, seeded ? "3" : "auto", "4");
        double mine[WEIGHTS], its[WEIGHTS];
        int pipes[2], status;
        PVT_OK(weights(plan, mine)); /* the threads exist now */
        PVT_IS(pipe(pipes), 0);
        const pid_t child = fork();
        if (child == 0) {
            alarm(60); /* a child that waits for its parent's threads dies of it */
            const bool ok = weights(plan, its) == PV_OK && write(pipes[1], its, sizeof its) == (ssize_t)sizeof its;
            pv_plan_free(plan);
            pv_ctx_free(ctx);
            _exit(ok ? 0 : 1);
        }
        PVT_TRUE(child > 0);
        PVT_TRUE(waitpid(child, &status, 0) == child);
        PVT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: status %#x", status);
        PVT_TRUE(read(pipes[0], its, sizeof its) == (ssize_t)sizeof its);
        PVT_IS(memcmp(mine, its, sizeof its) == 0, seeded); /* the same noise with a seed only */
        PVT_OK(weights(plan, mine));
        close(pipes[0]);
        close(pipes[1]);
        pv_plan_free(plan);
    }
    pv_ctx_free(ctx);
}

static bool fork_once(void *user, const char *what, double done, double total, double epsilon)
{
    pid_t *child = user;
    (void)done, (void)total, (void)epsilon;
    if (*child >= 0 || strcmp(what, "training") != 0) return true;
    *child = fork();
    if (*child == 0) alarm(60);
    return true;
}

/* A child that was made by a callback comes back from it, and finishes the call without its parent's threads. */
static void a_callback_may_fork(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    PVT_SKIP("ThreadSanitizer knows no threads of a child");
#endif
    pv_ctx *ctx;
    double w[WEIGHTS];
    pid_t child = -1;
    int status = 0;
    PVT_OK(pv_ctx_create(NULL, &ctx));
    pv_plan *plan = table_plan(ctx, "auto", "4");
    PVT_OK(pv_plan_set(plan, "data.chunk", "64"));
    pv_ctx_on_progress(ctx, fork_once, &child);
    const pv_status s = weights(plan, w);
    if (child == 0) _exit(s == PV_OK ? 0 : 1);
    PVT_OK(s);
    PVT_TRUE(child > 0);
    PVT_TRUE(waitpid(child, &status, 0) == child);
    PVT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child: status %#x", status);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
}

/* ---- stopping ------------------------------------------------------------------------------------------------- */

typedef struct stopping {
    const char *what;
    int calls, after;
} stopping;

static bool stop_at(void *user, const char *what, double done, double total, double epsilon)
{
    stopping *s = user;
    (void)done, (void)total, (void)epsilon;
    return strcmp(what, s->what) != 0 || s->calls++ < s->after;
}

static void stopping_is_one_status(void **state)
{
    (void)state;
    pv_ctx *ctx;
    pv_result *r = (pv_result *)folder;
    pv_model *m;
    char model[64], table[64], scores[64], *json;
    snprintf(model, sizeof model, "%s/stopped.pvt", folder);
    snprintf(table, sizeof table, "%s/demo_train.csv", folder);
    snprintf(scores, sizeof scores, "%s/stopped.csv", folder);
    PVT_OK(pv_ctx_create(NULL, &ctx));
    pv_plan *plan = table_plan(ctx, "auto", "2");
    stopping s = { "training", 0, 3 };
    pv_ctx_on_progress(ctx, stop_at, &s);
    PVT_IS(pv_plan_run(plan, &r), PV_E_CANCELLED);
    PVT_TRUE(!r && strstr(pv_ctx_errmsg(ctx), "3 of 8 steps") && strstr(pv_ctx_errmsg(ctx), "counts as spent"));
    s = (stopping) { "reading", 0, 0 };
    PVT_IS(pv_plan_run(plan, &r), PV_E_CANCELLED);
    PVT_TRUE(!r && strstr(pv_ctx_errmsg(ctx), "no budget is spent"));
    PVT_IS(pv_plan_cost(plan, &json), PV_E_CANCELLED);
    PVT_TRUE(!json);
    s = (stopping) { "nothing", 0, 0 };
    PVT_OK(pv_plan_run(plan, &r));
    PVT_OK(pv_result_save(r, model));
    PVT_OK(pv_model_load(ctx, model, &m));
    s = (stopping) { "reading", 0, 0 };
    PVT_IS(pv_model_predict(m, table, scores), PV_E_CANCELLED);
    PVT_IS(access(scores, F_OK), -1);
    PVT_IS(pv_model_eval(m, table, &json), PV_E_CANCELLED);
    assert_string_equal(pv_status_name(PV_E_CANCELLED), "cancelled");
    pv_model_free(m);
    pv_result_free(r);
    pv_plan_free(plan);
    pv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(files_of_the_host_keep_their_modes),
        cmocka_unit_test(children_get_answers),
        cmocka_unit_test(environments_are_put_aside_and_back),
        cmocka_unit_test(numbers_have_points_under_every_locale),
        cmocka_unit_test(children_inherit_a_context),
        cmocka_unit_test(a_callback_may_fork),
        cmocka_unit_test(stopping_is_one_status),
    };
    return cmocka_run_group_tests(all, setup, teardown);
}
