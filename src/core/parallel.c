/* parallel.c - a small pool of threads that share a counter of tasks.
 *
 * Workers spin briefly for the next job before they sleep, because mini-batch queries follow each
 * other within microseconds.  The caller's thread works too, as thread 0.
 *
 * Fork      A child has none of its parent's threads, and a lock that one of them held stays locked.  A pool
 *           therefore knows its process: in another one it is given up, neither locked nor joined, and started anew.
 * Tasks     take no memory and call nobody back: allocators and callbacks of the host see its own thread only. */
#include "core.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAX_THREADS = 256, SPINS = 2000 };

typedef struct worker {
    struct pvi_pool *pool;
    int index;
    pthread_t thread;
} worker;

struct pvi_pool {
    pid_t pid;
    locale_t locale; /* of the context */
    int threads;     /* caller included */
    int started;     /* workers that exist: threads - 1, or fewer if the system gave no more */
    worker *workers;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    _Atomic uint64_t job; /* raised for every job; workers watch it */
    bool quit, open;      /* open: a worker that wakes up may still join the job */
    pvi_task fn;
    void *arg;
    int64_t n;
    _Atomic int64_t next;
    _Atomic int busy; /* workers still inside the current job */
};

static void drain(pvi_pool *p, int thread)
{
    for (int64_t i; (i = atomic_fetch_add(&p->next, 1)) < p->n;) p->fn(p->arg, i, thread);
}

static void *work(void *arg)
{
    worker *w = arg;
    pvi_pool *p = w->pool;
    uint64_t seen = 0;

    uselocale(p->locale);
    for (;;) {
        for (int i = 0; i < SPINS && atomic_load(&p->job) == seen; i++) sched_yield();
        pthread_mutex_lock(&p->lock);
        while (atomic_load(&p->job) == seen && !p->quit) pthread_cond_wait(&p->wake, &p->lock);
        const bool quit = p->quit, join = p->open && !quit;
        seen = atomic_load(&p->job);
        if (join) atomic_fetch_add(&p->busy, 1);
        pthread_mutex_unlock(&p->lock);
        if (quit) return NULL;
        if (!join) continue;
        drain(p, w->index);
        atomic_fetch_sub(&p->busy, 1);
    }
}

static int core_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    const long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

pv_status pvi_set_threads(pv_ctx *ctx, int threads)
{
    if (threads < 0 || threads > MAX_THREADS)
        return pvi_fail(ctx, PV_E_PARAM, "threads must be between 0 (all cores) and %d", MAX_THREADS);
    if (threads == 0) threads = core_count();
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    if (ctx->pool && ctx->pool->threads == threads && ctx->pool->pid == getpid()) return PV_OK;
    pvi_pool_free(ctx->pool, ctx);
    ctx->pool = NULL;

    pvi_pool *p = pvi_alloc(ctx, sizeof *p);
    worker *w = pvi_alloc(ctx, sizeof *w * (size_t)threads);
    if (!p || !w) {
        pvi_free(ctx, p);
        pvi_free(ctx, w);
        return pvi_nomem(ctx);
    }
    p->pid = getpid();
    p->locale = ctx->locale;
    p->threads = threads;
    p->workers = w;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    for (int i = 1; i < threads; i++) {
        w[i] = (worker) { .pool = p, .index = i };
        if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0) break; /* fewer threads, same result */
        p->started++;
    }
    ctx->pool = p;
    return PV_OK;
}

static void stop(pvi_pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->quit = true;
    atomic_fetch_add(&p->job, 1);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int i = 1; i <= p->started; i++) pthread_join(p->workers[i].thread, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->wake);
}

void pvi_pool_free(pvi_pool *p, pv_ctx *ctx)
{
    if (!p) return;
    if (p->pid == getpid()) stop(p);
    pvi_free(ctx, p->workers);
    pvi_free(ctx, p);
}

int pvi_threads(pv_ctx *ctx)
{
    if (!ctx->pool && pvi_set_threads(ctx, 0) != PV_OK) return 1;
    return ctx->pool->threads;
}

void pvi_parallel(pv_ctx *ctx, int64_t n, pvi_task fn, void *arg)
{
    const int threads = pvi_threads(ctx);
    if (ctx->pool && ctx->pool->pid != getpid() && pvi_set_threads(ctx, threads) != PV_OK) ctx->err[0] = '\0';
    pvi_pool *p = ctx->pool; /* NULL: no memory for another one, so this thread does it all */

    if (n <= 1 || threads == 1 || !p || p->started == 0) {
        for (int64_t i = 0; i < n; i++) fn(arg, i, 0);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->arg = arg;
    p->n = n;
    atomic_store(&p->next, 0);
    p->open = true;
    atomic_fetch_add(&p->job, 1);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    drain(p, 0);
    pthread_mutex_lock(&p->lock);
    p->open = false; /* who has not woken up by now is not waited for: on a busy machine that takes long */
    pthread_mutex_unlock(&p->lock);
    while (atomic_load(&p->busy) > 0) sched_yield();
}
