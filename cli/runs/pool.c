/* pool.c - does the runs that are not recorded yet, several at a time.
 *
 * Each is a process of its own, `privet run` (cmd_run.c): one that crashes takes no other with it, and no random
 * state is shared.  They end when this process does.  What was refused for one run of a group is not asked for
 * again. */
#include "runs/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef struct worker {
    pid_t pid; /* 0: idle */
    task *t;
    FILE *err;
} worker;

typedef struct work {
    pool *p;
    worker *workers;
    int jobs, busy, next, pending, done;
    char threads[32];
} work;

double wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* ---- the folder --------------------------------------------------------------------------------------------- */

int pool_open(const char *out)
{
    static const char *const parts[] = { "", "/runs", "/certificates" };
    char path[4096];
    if (strlen(out) > 4000) return usage("the path of --out is too long");
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", out, parts[i]);
        if (mkdir(path, 0777) != 0 && errno != EEXIST) return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
    }
    snprintf(path, sizeof path, "%s/runs/lock", out);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return complain(EXIT_INPUT, "%s: another privet is at work there; name another folder with --out", out);
    return EXIT_DONE;
}

static bool find_record(cli *c, const char *out, task *t)
{
    char *path = run_path(out, t->name, ".json");
    const bool found = record_read(c, path, t->key, &t->record);
    free(path);
    return found;
}

int pool_pending(cli *c, const char *out, task *at, int n)
{
    int pending = 0;
    for (int i = 0; i < n; i++) {
        if (at[i].fate == NOT_YET && find_record(c, out, &at[i])) at[i].fate = FINISHED;
        pending += at[i].fate == NOT_YET;
    }
    return pending;
}

/* ---- one worker --------------------------------------------------------------------------------------------- */

static char *pair(const char *key, const char *value)
{
    char *text;
    if (asprintf(&text, "%s=%s", key, value) < 0) abort();
    return text;
}

/* privet run --quiet key=value ... -- RECORD CERTIFICATE KEY TEST */
static char **command_of(const work *w, const task *t)
{
    char seed[32], **argv = calloc((size_t)t->n_settings + 13, sizeof *argv);
    int n = 0;
    if (!argv) abort();
    argv[n++] = strdup("privet");
    argv[n++] = strdup("run");
    argv[n++] = strdup("--quiet");
    for (int i = 0; i < t->n_settings; i++) argv[n++] = pair(t->settings[i].key, t->settings[i].value);
    if (!task_get(t, "run.threads")) argv[n++] = pair("run.threads", w->threads);
    snprintf(seed, sizeof seed, "%ld", t->seed);
    if (t->seeded) argv[n++] = pair("run.seed", seed);
    if (t->test) argv[n++] = pair("run.apart", t->test); /* before anything is spent */
    argv[n++] = strdup("--");
    argv[n++] = run_path(w->p->out, t->name, ".json");
    if (t->certificate) argv[n++] = strdup(t->certificate);
    else if (asprintf(&argv[n++], "%s/certificates/%s.json", w->p->out, t->name) < 0) abort();
    argv[n++] = strdup(t->key);
    argv[n++] = strdup(t->test ? t->test : task_get(t, "data.path"));
    for (int i = 0; i < n; i++)
        if (!argv[i]) abort();
    return argv;
}

static void become(char **argv, pid_t parent, FILE *err)
{
    const int nothing = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
        dup2(nothing, STDOUT_FILENO) >= 0 && dup2(fileno(err), STDERR_FILENO) >= 0)
        execv("/proc/self/exe", argv);
    _exit(EXIT_INTERNAL);
}

static int start(work *w, task *t)
{
    worker *k = w->workers;
    while (k->pid) k++;
    char **argv = command_of(w, t);
    const pid_t parent = getpid();
    *k = (worker) { .t = t, .err = tmpfile() };
    k->pid = k->err ? fork() : -1;
    const int why = errno;
    if (k->pid == 0) become(argv, parent, k->err);
    for (char **a = argv; *a; a++) free(*a);
    free(argv);
    if (k->pid > 0) return w->busy++, EXIT_DONE;
    if (k->err) fclose(k->err);
    *k = (worker) { 0 };
    return complain(EXIT_INTERNAL, "a run could not be started: %s", strerror(why));
}

/* The warnings of a run are passed on once, if at all; its error is returned.  free() it; NULL: none. */
static char *read_errors(FILE *err, bool warn)
{
    static const char error[] = "privet: ", warning[] = "privet: warning: ";
    static char *told[16];
    static int n_told;
    char *line = NULL, *why = NULL;
    size_t cap = 0;
    rewind(err);
    while (getline(&line, &cap, err) > 0) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, warning, sizeof warning - 1) == 0) {
            bool known = !warn || n_told == 16;
            for (int i = 0; i < n_told && !known; i++) known = strcmp(told[i], line) == 0;
            if (known || !(told[n_told] = strdup(line))) continue;
            note(PV_LOG_WARN, "%s", told[n_told++] + sizeof warning - 1);
        } else if (strncmp(line, error, sizeof error - 1) == 0 && !why) {
            why = strdup(line + sizeof error - 1);
        }
    }
    free(line);
    return why;
}

/* Usage, budget and input are the group's affair, and would be again; the rest is a run's. */
static void end_run(work *w, worker *k, int status)
{
    task *t = k->t;
    char *why = read_errors(k->err, w->p->warn);
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
    fclose(k->err);
    *k = (worker) { 0 };
    w->busy--;
    w->done++;
    if (code == EXIT_DONE && find_record(w->p->c, w->p->out, t)) {
        t->fate = FINISHED;
        w->p->now++;
    } else if (code != EXIT_DONE && code != EXIT_INTERNAL) {
        t->fate = REFUSED;
        t->code = code;
        t->why = strdup(why ? why : "no reason was given");
    } else {
        t->fate = CRASHED;
        t->code = EXIT_INTERNAL;
        w->p->crashed++;
        if (WIFSIGNALED(status) && asprintf(&t->why, "ended by signal %d", WTERMSIG(status)) < 0) abort();
        if (!t->why) t->why = strdup(why ? why : "ended early");
    }
    free(why);
}

static int wait_for_one(work *w)
{
    int status;
    const pid_t pid = waitpid(-1, &status, 0);
    if (pid < 0 && errno == EINTR) return EXIT_DONE;
    if (pid < 0) return complain(EXIT_INTERNAL, "waiting for a run: %s", strerror(errno));
    for (int i = 0; i < w->jobs; i++)
        if (w->workers[i].pid == pid) {
            end_run(w, &w->workers[i], status);
            break;
        }
    w->p->progress(w->p->user, w->done, w->pending);
    return EXIT_DONE;
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

static bool refused_before(const pool *p, int i)
{
    for (int k = 0; k < p->n; k++)
        if (p->at[k].group == p->at[i].group && p->at[k].fate == REFUSED) return true;
    return false;
}

/* The next run to do; NULL: none is left. */
static task *next_task(work *w)
{
    for (; w->next < w->p->n; w->next++) {
        task *t = &w->p->at[w->next];
        if (t->fate != NOT_YET) continue;
        if (!refused_before(w->p, w->next)) return w->next++, t;
        t->fate = REFUSED;
        w->done++;
    }
    return NULL;
}

static int do_pending(work *w)
{
    int code = EXIT_DONE;
    task *t = w->p->at;
    while (code == EXIT_DONE && (t || w->busy)) {
        while (code == EXIT_DONE && w->busy < w->jobs && (t = next_task(w)) != NULL) code = start(w, t);
        if (code == EXIT_DONE && w->busy) code = wait_for_one(w);
    }
    for (int i = 0; i < w->jobs; i++)
        if (w->workers[i].pid) kill(w->workers[i].pid, SIGTERM);
    return code;
}

int pool_do(pool *p)
{
    work w = { .p = p, .pending = pool_pending(p->c, p->out, p->at, p->n) };
    const int n = cores();
    w.jobs = p->jobs ? p->jobs : n;
    if (w.jobs > w.pending) w.jobs = w.pending > 0 ? w.pending : 1;
    snprintf(w.threads, sizeof w.threads, "%d", n > w.jobs ? n / w.jobs : 1);
    w.workers = calloc((size_t)w.jobs, sizeof *w.workers);
    if (!w.workers) abort();
    signals_phase(PHASE_KEPT);
    const int code = do_pending(&w);
    signals_phase(PHASE_QUIET);
    free(w.workers);
    return code;
}
