/* 03_arrow.c - rows as an Arrow stream, which pyarrow, polars, DuckDB, ADBC drivers and many databases hand out.
 *
 *   cc 03_arrow.c $(pkg-config --cflags --libs privet) -o 03_arrow && ./03_arrow
 *
 * Here the stream is made by hand, of two batches with a number, a category and the label; a real program gets the
 * ArrowArrayStream from elsewhere and passes it on. */
#include <privet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 2, ROWS = 1000, COLUMNS = 3 };
static const char schema[] = "{\"columns\": [{\"name\": \"age\", \"type\": \"number\", \"min\": 0, \"max\": 100},"
                             " {\"name\": \"ward\", \"type\": \"category\", \"values\": [\"surgery\", \"medicine\"]},"
                             " {\"name\": \"back\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}";

/* ---- a stream made by hand ------------------------------------------------------------------------------------ */

typedef struct table { /* one batch */
    double age[ROWS];
    int32_t ward_end[ROWS + 1], back_end[ROWS + 1];
    char ward[8 * ROWS], back[3 * ROWS];
    const void *buffers[COLUMNS][3], *no_buffer[1];
    struct ArrowArray column[COLUMNS], *columns[COLUMNS];
} table;

static void release_batch(struct ArrowArray *a)
{
    free(a->private_data);
    a->release = NULL;
}

static void release_column(struct ArrowArray *a)
{
    a->release = NULL; /* its memory belongs to the batch */
}

static int32_t append(char *text, int32_t end, const char *word)
{
    memcpy(text + end, word, strlen(word));
    return end + (int32_t)strlen(word);
}

static void fill(table *t, uint32_t *state)
{
    for (int i = 0; i < ROWS; i++) {
        *state = *state * 1664525u + 1013904223u;
        t->age[i] = (double)(*state >> 8) / 167772.16;
        const int surgery = *state >> 31, back = t->age[i] + 20.0 * surgery > 60.0;
        t->ward_end[i + 1] = append(t->ward, t->ward_end[i], surgery ? "surgery" : "medicine");
        t->back_end[i + 1] = append(t->back, t->back_end[i], back ? "yes" : "no");
    }
}

static int next_batch(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    static int made = 0;
    memset(out, 0, sizeof *out); /* no release: the stream has ended */
    if (made == BATCHES) return 0;
    made++;
    table *t = calloc(1, sizeof *t);
    if (!t) return 12; /* ENOMEM */
    fill(t, s->private_data);
    const void *data[COLUMNS][2] = { { t->age, NULL }, { t->ward_end, t->ward }, { t->back_end, t->back } };
    for (int k = 0; k < COLUMNS; k++) {
        t->buffers[k][1] = data[k][0]; /* buffers[k][0], the validity bitmap, is NULL: no value is missing */
        t->buffers[k][2] = data[k][1];
        t->column[k] = (struct ArrowArray) {
            .length = ROWS, .n_buffers = k ? 3 : 2, .buffers = t->buffers[k], .release = release_column
        };
        t->columns[k] = &t->column[k];
    }
    *out = (struct ArrowArray) { .length = ROWS,
                                 .n_buffers = 1,
                                 .n_children = COLUMNS,
                                 .buffers = t->no_buffer,
                                 .children = t->columns,
                                 .release = release_batch,
                                 .private_data = t };
    return 0;
}

static void release_schema(struct ArrowSchema *s)
{
    s->release = NULL;
}

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    static struct ArrowSchema column[COLUMNS], *columns[COLUMNS];
    static const char *const name[COLUMNS] = { "age", "ward", "back" }, *const format[COLUMNS] = { "g", "u", "u" };
    (void)s;
    for (int k = 0; k < COLUMNS; k++) {
        column[k] = (struct ArrowSchema) { .format = format[k], .name = name[k], .release = release_schema };
        columns[k] = &column[k];
    }
    *out = (struct ArrowSchema) {
        .format = "+s", .name = "", .n_children = COLUMNS, .children = columns, .release = release_schema
    };
    return 0;
}

static const char *last_error(struct ArrowArrayStream *s)
{
    (void)s;
    return NULL;
}

static void release_stream(struct ArrowArrayStream *s)
{
    s->release = NULL;
}

/* ---- training on it -------------------------------------------------------------------------------------------- */

static pv_status train(pv_ctx *ctx, pv_data *rows)
{
    pv_plan *plan = NULL;
    pv_result *result = NULL;
    pv_cost cost;
    pv_status s = pv_plan_create(ctx, &plan);
    if (s == PV_OK) s = pv_plan_set(plan, "data.schema", schema);
    if (s == PV_OK) s = pv_plan_set_f64(plan, "budget.epsilon", 1.0);
    if (s == PV_OK) s = pv_plan_run_on(plan, rows, &result);
    if (s == PV_OK) s = pv_result_cost(result, &cost);
    if (s == PV_OK)
        printf("%lld rows, %lld weights, epsilon %g at delta %g\n", (long long)cost.rows, (long long)cost.weights,
               cost.epsilon, cost.delta);
    pv_result_free(result);
    pv_plan_free(plan);
    return s;
}

int main(void)
{
    pv_ctx *ctx;
    pv_data *rows;
    uint32_t state = 1;
    struct ArrowArrayStream stream = { get_schema, next_batch, last_error, release_stream, &state };
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 5;
    pv_status s = pv_data_arrow(ctx, &stream, &rows); /* takes the stream over, also when it fails */
    if (s == PV_OK) s = train(ctx, rows);
    if (s != PV_OK) fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
    pv_data_free(rows);
    pv_ctx_free(ctx);
    return s == PV_OK ? 0 : 1;
}
