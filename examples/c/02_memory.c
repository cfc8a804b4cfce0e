/* 02_memory.c - rows in memory: train on a float matrix without copying it, and predict into buffers of one's own.
 *
 *   cc 02_memory.c $(pkg-config --cflags --libs privet) -o 02_memory && ./02_memory
 *
 * Then the same rows once more from a file, with the same seed: the weights are the same bits.  (A seed makes noise
 * that can be repeated, so both of those models are NOT PRIVATE.) */
#include <privet.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 2000, COLUMNS = 5, WEIGHTS = COLUMNS + 1 };
static float x[ROWS][COLUMNS];
static int32_t y[ROWS];

static void make_up_rows(void)
{
    uint32_t state = 1;
    for (int i = 0; i < ROWS; i++) {
        float sum = 0.0f;
        for (int j = 0; j < COLUMNS; j++) {
            state = state * 1664525u + 1013904223u;
            x[i][j] = (float)(state >> 8) / 16777216.0f - 0.5f;
            sum += x[i][j] * (float)(j + 1);
        }
        y[i] = sum > 0.0f ? 1 : -1;
    }
}

static pv_status train(pv_ctx *ctx, pv_data *rows, const char *path, int64_t seed, pv_result **out)
{
    pv_plan *plan = NULL;
    pv_status s = pv_plan_create(ctx, &plan);
    *out = NULL;
    if (s == PV_OK) s = pv_plan_set(plan, "model", "logistic");
    if (s == PV_OK) s = pv_plan_set(plan, "data.labels", "-1,1");
    if (s == PV_OK) s = pv_plan_set_i64(plan, "data.features", COLUMNS);
    if (s == PV_OK) s = pv_plan_set_f64(plan, "budget.epsilon", 1.0);
    if (s == PV_OK && seed >= 0) s = pv_plan_set_i64(plan, "run.seed", seed);
    if (s == PV_OK && path) s = pv_plan_set(plan, "data.path", path);
    if (s == PV_OK) s = path ? pv_plan_run(plan, out) : pv_plan_run_on(plan, rows, out);
    pv_plan_free(plan);
    return s;
}

/* How many rows the model gets right, and what it cost. */
static pv_status use(pv_result *result, pv_data *rows)
{
    static double probability[ROWS][2];
    static int64_t label[ROWS];
    const pv_predictions into = { .rows = ROWS, .probability = &probability[0][0], .label = label };
    pv_model *model = NULL;
    pv_cost cost;
    int right = 0;
    pv_status s = pv_result_cost(result, &cost);
    if (s == PV_OK) s = pv_result_model(result, &model); /* no file in between */
    if (s == PV_OK) s = pv_model_predict_on(model, rows, &into);
    for (int i = 0; i < ROWS && s == PV_OK; i++) right += (label[i] == 1) == (y[i] == 1);
    if (s == PV_OK)
        printf("epsilon %g at delta %g, %d of %d rows right; the first is class 1 with probability %.3f\n",
               cost.epsilon, cost.delta, right, ROWS, probability[0][1]);
    pv_model_free(model);
    return s;
}

static int write_rows(const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) return 0;
    for (int i = 0; i < ROWS; i++) {
        fprintf(f, "%d", (int)y[i]);
        for (int j = 0; j < COLUMNS; j++) fprintf(f, " %d:%.9g", j + 1, x[i][j]);
        fputc('\n', f);
    }
    return fclose(f) == 0;
}

static pv_status compare_with_file(pv_ctx *ctx, pv_data *rows)
{
    double w[2][WEIGHTS];
    int64_t d;
    pv_result *r[2] = { NULL, NULL };
    if (!write_rows("02_memory.svm")) return PV_E_IO;
    pv_status s = train(ctx, rows, NULL, 7, &r[0]);
    if (s == PV_OK) s = train(ctx, NULL, "02_memory.svm", 7, &r[1]);
    for (int k = 0; k < 2 && s == PV_OK; k++) s = pv_result_weights(r[k], w[k], WEIGHTS, &d);
    if (s == PV_OK)
        printf("from a file: %s\n", memcmp(w[0], w[1], sizeof w[0]) == 0 ? "the same weights" : "OTHER weights");
    pv_result_free(r[0]);
    pv_result_free(r[1]);
    remove("02_memory.svm");
    return s;
}

int main(void)
{
    pv_ctx *ctx;
    pv_data *rows = NULL;
    pv_result *result = NULL;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 5;
    make_up_rows();
    pv_status s = pv_data_dense(ctx, x, PV_FLOAT32, ROWS, COLUMNS, COLUMNS, 1, &rows);
    if (s == PV_OK) s = pv_data_labels(rows, y, PV_INT32, ROWS);
    if (s == PV_OK) s = train(ctx, rows, NULL, -1, &result);
    if (s == PV_OK) s = use(result, rows);
    if (s == PV_OK) s = compare_with_file(ctx, rows);
    if (s != PV_OK) fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
    pv_result_free(result);
    pv_data_free(rows); /* before what it borrows goes, and before the context */
    pv_ctx_free(ctx);
    return s == PV_OK ? 0 : 1;
}
