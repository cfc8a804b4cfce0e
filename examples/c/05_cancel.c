/* 05_cancel.c - a run that another thread stops.
 *
 *   cc 05_cancel.c $(pkg-config --cflags --libs privet) -pthread -o 05_cancel && ./05_cancel
 *
 * A context and what was made of it belong to one thread.  The other thread sets a flag; the progress callback, which
 * the library calls on the thread that called it, looks at the flag.  A run that was cancelled has no model, and its
 * whole budget counts as spent: some of its noisy answers may have been seen. */
#include <privet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ROWS = 5000, COLUMNS = 20 };
static float x[ROWS][COLUMNS], y[ROWS];

typedef struct button {
    atomic_bool running, pressed;
} button;

static void *press(void *arg) /* the other thread: a person who closes a window */
{
    button *b = arg;
    while (!atomic_load(&b->running)) continue;
    atomic_store(&b->pressed, true);
    return NULL;
}

static bool go_on(void *arg, const char *what, double done, double total, double epsilon)
{
    button *b = arg;
    (void)what, (void)total, (void)epsilon;
    if (done > 0) atomic_store(&b->running, true);
    return !atomic_load(&b->pressed);
}

static pv_status train(pv_ctx *ctx, pv_data *rows)
{
    pv_plan *plan = NULL;
    pv_result *result = NULL;
    pv_status s = pv_plan_create(ctx, &plan);
    if (s == PV_OK) s = pv_plan_set(plan, "data.labels", "-1,1");
    if (s == PV_OK) s = pv_plan_set_i64(plan, "data.features", COLUMNS);
    if (s == PV_OK) s = pv_plan_set_i64(plan, "optimizer.steps", 1000000);
    if (s == PV_OK) s = pv_plan_run_on(plan, rows, &result);
    pv_result_free(result);
    pv_plan_free(plan);
    return s;
}

int main(void)
{
    static button b;
    pthread_t other;
    pv_ctx *ctx;
    pv_data *rows = NULL;
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) x[i][j] = (float)((i * 31 + j * 17) % 101) / 101.0f;
        y[i] = i % 3 ? 1.0f : -1.0f;
    }
    if (pv_ctx_create(NULL, &ctx) != PV_OK || pthread_create(&other, NULL, press, &b) != 0) return 5;
    pv_ctx_on_progress(ctx, go_on, &b);
    pv_status s = pv_data_dense(ctx, x, PV_FLOAT32, ROWS, COLUMNS, COLUMNS, 1, &rows);
    if (s == PV_OK) s = pv_data_labels(rows, y, PV_FLOAT32, ROWS);
    if (s == PV_OK) s = train(ctx, rows);
    atomic_store(&b.running, true); /* whatever happened, the other thread ends */
    pthread_join(other, NULL);
    printf("%s: %s\n", pv_status_name(s), pv_ctx_errmsg(ctx));
    pv_data_free(rows);
    pv_ctx_free(ctx);
    return s == PV_E_CANCELLED ? 0 : 1;
}
