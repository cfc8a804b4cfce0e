/* compare_run.c - does the runs of a comparison that are not recorded yet, several at a time.
 *
 * Each is a process of its own, `privet run` (cmd_run.c): one that crashes takes no other with it, and no random
 * state is shared.  They end when this process does.  Repeat 1 of all cells comes first; a cell that was refused is
 * not asked for again. */
#include "compare.h"

#include <ctype.h>
#include <dirent.h>
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
    int at;    /* the run */
    FILE *err;
} worker;

typedef struct work {
    cli *c;
    runs *r;
    worker *workers;
    int jobs, busy, next, pending, done;
    char threads[32];
    double begun;
} work;

static double now(void)
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

static int make_folder(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? EXIT_DONE
                                                     : complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
}

/* OUT, its parts, and a lock that lasts as long as the process. */
static int open_folder(const grid *g)
{
    static const char *const parts[] = { "", "/runs", "/certificates" };
    char path[4096];
    int code = EXIT_DONE;
    for (int i = 0; code == EXIT_DONE && i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", g->out, parts[i]);
        code = make_folder(path);
    }
    if (code != EXIT_DONE) return code;
    snprintf(path, sizeof path, "%s/runs/lock", g->out);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        return complain(EXIT_INPUT, "%s: another privet compare is at work there; name another folder with --out",
                        g->out);
    return EXIT_DONE;
}

/* A run that was killed while it was measured leaves its model. */
static void remove_models(const grid *g)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/runs", g->out);
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;)
        if (strspn(e->d_name, "0123456789abcdef") == 32 && strncmp(e->d_name + 32, ".pvt", 4) == 0)
            unlinkat(dirfd(d), e->d_name, 0);
    if (d) closedir(d);
}

/* --fresh: the record stays under another name, since what it cost stays spent. */
static void set_aside(const grid *g, const char *name)
{
    char *from = run_path(g, name, ".json"), *to = NULL;
    for (int n = 1; access(from, F_OK) == 0; n++) {
        char ending[32];
        free(to);
        snprintf(ending, sizeof ending, ".%d.json", n);
        to = run_path(g, name, ending);
        if (access(to, F_OK) != 0 && rename(from, to) != 0) break;
    }
    free(from);
    free(to);
}

static void find_done(work *w)
{
    const grid *g = w->r->g;
    for (int i = 0; i < g->cells * g->repeats; i++) {
        run *x = &w->r->at[i];
        x->key = run_key(g, i / g->repeats, i % g->repeats);
        run_name(x->key, x->name);
        if (g->fresh) set_aside(g, x->name);
        char *path = run_path(g, x->name, ".json");
        if (record_read(w->c, path, x->key, x, NULL)) x->fate = FINISHED;
        else w->pending++;
        free(path);
    }
}

/* ---- one worker --------------------------------------------------------------------------------------------- */

static char *pair(const char *key, const char *value)
{
    char *text;
    if (asprintf(&text, "%s=%s", key, value) < 0) abort();
    return text;
}

/* privet run --quiet key=value ... -- RECORD KEY HOLDOUT */
static char **command_of(const work *w, int at)
{
    const grid *g = w->r->g;
    const int cell = at / g->repeats;
    char seed[32], **argv = calloc((size_t)g->n + 10, sizeof *argv);
    int n = 0;
    if (!argv) abort();
    argv[n++] = strdup("privet");
    argv[n++] = strdup("run");
    argv[n++] = strdup("--quiet");
    for (int f = 0; f < g->n; f++) argv[n++] = pair(g->at[f].key, grid_value(g, cell, f));
    if (!grid_setting(g, cell, "run.threads")) argv[n++] = pair("run.threads", w->threads);
    snprintf(seed, sizeof seed, "%ld", g->seed + at % g->repeats);
    if (g->seeded) argv[n++] = pair("run.seed", seed);
    argv[n++] = strdup("--");
    argv[n++] = run_path(g, w->r->at[at].name, ".json");
    argv[n++] = strdup(w->r->at[at].key);
    argv[n++] = strdup(g->holdout ? g->holdout : grid_setting(g, cell, "data.path"));
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

static int start(work *w, int at)
{
    worker *k = w->workers;
    while (k->pid) k++;
    char **argv = command_of(w, at);
    const pid_t parent = getpid();
    *k = (worker) { .at = at, .err = tmpfile() };
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

/* The warnings of a run are passed on once; its error is returned.  free() it; NULL: none. */
static char *read_errors(FILE *err)
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
            bool known = n_told == 16;
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

/* Usage, budget and input are the cell's affair, and would be again; the rest is a run's. */
static void end_run(work *w, worker *k, int status)
{
    runs *r = w->r;
    run *x = &r->at[k->at];
    char **cell = &r->why[k->at / r->g->repeats], *why = read_errors(k->err),
         *path = run_path(r->g, x->name, ".json");
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
    fclose(k->err);
    *k = (worker) { 0 };
    w->busy--;
    w->done++;
    if (code == EXIT_DONE && record_read(w->c, path, x->key, x, NULL)) {
        x->fate = FINISHED;
        r->now++;
    } else if (code != EXIT_DONE && code != EXIT_INTERNAL) {
        x->fate = REFUSED;
        if (!r->code) r->code = code;
        if (!*cell) *cell = why ? strdup(why) : strdup("no reason was given");
    } else {
        x->fate = CRASHED;
        r->crashed++;
        if (!*cell && WIFSIGNALED(status) && asprintf(cell, "ended by signal %d", WTERMSIG(status)) < 0) abort();
        if (!*cell) *cell = why ? strdup(why) : strdup("ended early");
    }
    free(path);
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
    char what[32];
    snprintf(what, sizeof what, "run %d of %d", w->done, w->pending);
    progress_show(what, (double)w->done / w->pending, now() - w->begun);
    return EXIT_DONE;
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

/* The next run to do, repeat by repeat; -1: none is left. */
static int next_run(work *w)
{
    const grid *g = w->r->g;
    for (; w->next < g->cells * g->repeats; w->next++) {
        const int cell = w->next % g->cells, at = cell * g->repeats + w->next / g->cells;
        if (w->r->at[at].fate != NOT_YET) continue;
        bool refused = false;
        for (int i = 0; i < g->repeats && !refused; i++) refused = w->r->at[cell * g->repeats + i].fate == REFUSED;
        if (refused) {
            w->r->at[at].fate = REFUSED;
            w->done++;
            continue;
        }
        w->next++;
        return at;
    }
    return -1;
}

static int do_pending(work *w)
{
    int code = EXIT_DONE, at = 0;
    w->begun = now();
    while (code == EXIT_DONE && (at >= 0 || w->busy)) {
        while (code == EXIT_DONE && w->busy < w->jobs && (at = next_run(w)) >= 0) code = start(w, at);
        if (code == EXIT_DONE && w->busy) code = wait_for_one(w);
    }
    for (int i = 0; i < w->jobs; i++)
        if (w->workers[i].pid) kill(w->workers[i].pid, SIGTERM);
    progress_clear();
    return code;
}

int runs_do(cli *c, runs *r)
{
    const grid *g = r->g;
    work w = { .c = c, .r = r };
    r->at = calloc((size_t)g->cells * (size_t)g->repeats, sizeof *r->at);
    r->why = calloc((size_t)g->cells, sizeof *r->why);
    if (!r->at || !r->why) abort();
    int code = open_folder(g);
    if (code == EXIT_DONE) code = grid_file(c, g);
    if (code != EXIT_DONE) return code;
    remove_models(g);
    find_done(&w);
    w.jobs = g->jobs ? g->jobs : cores();
    if (w.jobs > w.pending) w.jobs = w.pending > 0 ? w.pending : 1;
    snprintf(w.threads, sizeof w.threads, "%d", cores() > w.jobs ? cores() / w.jobs : 1);
    w.workers = calloc((size_t)w.jobs, sizeof *w.workers);
    if (!w.workers) abort();
    signals_phase(PHASE_KEPT);
    code = do_pending(&w);
    signals_phase(PHASE_QUIET);
    free(w.workers);
    return code;
}

const char *cell_fate(const runs *r, int cell)
{
    for (int i = 0; i < r->g->repeats; i++)
        if (r->at[cell * r->g->repeats + i].fate == REFUSED) return "refused";
    return "failed";
}

void runs_free(runs *r)
{
    for (int i = 0; r->at && i < r->g->cells * r->g->repeats; i++) free(r->at[i].key);
    for (int i = 0; r->why && i < r->g->cells; i++) free(r->why[i]);
    free(r->at);
    free(r->why);
    *r = (runs) { 0 };
}
