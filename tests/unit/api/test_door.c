/* test_door.c - rows from memory through the public calls: the same model, digest and certificate as from a file, and
 * the same predictions from the model in memory, the saved one and the CSV that they are written to. */
#include "memorytest.h"

enum { ROWS = 300, COLUMNS = 6, CLASSES = 3, WIDE = 34 * 33, WIDE_ROWS = 64 };

typedef struct door {
    dt t;
    char model[96], scores[96];
    float x[ROWS * COLUMNS];
    int64_t y[ROWS];
} door;

static int setup(void **state)
{
    static door d;
    uint64_t seed = 5;
    dt_open(&d.t);
    snprintf(d.model, sizeof d.model, "%s/m", d.t.dir);
    snprintf(d.scores, sizeof d.scores, "%s/c", d.t.dir);
    for (int i = 0; i < ROWS * COLUMNS; i++) d.x[i] = (float)pvt_normal(&seed);
    for (int i = 0; i < ROWS; i++) d.y[i] = (int64_t)(pvt_u64(&seed) % CLASSES);
    FILE *f = fopen(d.t.path, "w");
    for (int i = 0; i < ROWS; i++) {
        fprintf(f, "%d", (int)d.y[i]);
        for (int j = 0; j < COLUMNS; j++) fprintf(f, " %d:%.9g", j + 1, (double)d.x[i * COLUMNS + j]);
        fputc('\n', f);
    }
    PVT_TRUE(fclose(f) == 0);
    *state = &d;
    return 0;
}

static int teardown(void **state)
{
    door *d = *state;
    unlink(d->model);
    unlink(d->scores);
    dt_close(&d->t);
    return 0;
}

static pv_plan *plan_of(door *d, const char *path)
{
    pv_plan *p;
    PVT_OK(pv_plan_create(d->t.ctx, &p));
    PVT_OK(pv_plan_set(p, "data.key_path", d->t.key));
    PVT_OK(pv_plan_set(p, "data.labels", "0,1,2"));
    PVT_OK(pv_plan_set(p, "model", "softmax"));
    PVT_OK(pv_plan_set_f64(p, "budget.epsilon", 1.5));
    PVT_OK(pv_plan_set_f64(p, "budget.delta", 1e-4));
    PVT_OK(pv_plan_set_i64(p, "data.features", COLUMNS));
    PVT_OK(pv_plan_set_i64(p, "optimizer.steps", 7));
    PVT_OK(pv_plan_set_i64(p, "run.seed", 3));
    if (path) PVT_OK(pv_plan_set(p, "data.path", path));
    return p;
}

static pv_data *rows_of(door *d)
{
    pv_data *rows;
    PVT_OK(pv_data_dense(d->t.ctx, d->x, PV_FLOAT32, ROWS, COLUMNS, COLUMNS, 1, &rows));
    PVT_OK(pv_data_labels(rows, d->y, PV_INT64, ROWS));
    PVT_IS(pv_data_rows(rows), ROWS);
    return rows;
}

static pv_result *train(door *d, pv_data *rows)
{
    pv_plan *p = plan_of(d, rows ? NULL : d->t.path);
    pv_result *r;
    const pv_status s = rows ? pv_plan_run_on(p, rows, &r) : pv_plan_run(p, &r);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(d->t.ctx));
    pv_plan_free(p);
    return r;
}

/* With a seed the salt of the digest is the same, too: two certificates are equal if everything they say is. */
static void the_same_rows_give_the_same_result(void **state)
{
    door *d = *state;
    pv_data *rows = rows_of(d);
    pv_result *a = train(d, rows), *b = train(d, NULL), *again = train(d, rows);
    double w[3][CLASSES * (COLUMNS + 1)];
    const char *cert[3];
    int64_t n;
    pv_result *const r[3] = { a, b, again };
    for (int i = 0; i < 3; i++) {
        PVT_OK(pv_result_weights(r[i], w[i], CLASSES * (COLUMNS + 1), &n));
        PVT_IS(n, CLASSES * (COLUMNS + 1));
        PVT_OK(pv_result_certificate(r[i], &cert[i]));
        PVT_TRUE(memcmp(w[0], w[i], sizeof w[0]) == 0);
        PVT_CHECK(strcmp(cert[0], cert[i]) == 0, "%s\n%s", cert[0], cert[i]);
    }
    for (int i = 0; i < 3; i++) pv_result_free(r[i]);
    pv_data_free(rows);
}

static void a_changed_row_changes_the_digest(void **state)
{
    door *d = *state;
    pv_data *rows = rows_of(d);
    pv_result *r = train(d, rows);
    pv_model *m;
    char *json;
    PVT_OK(pv_result_model(r, &m));
    PVT_OK(pv_model_set(m, "data.key_path", d->t.key));
    PVT_OK(pv_model_eval_on(m, rows, &json));
    PVT_TRUE(strstr(json, "\"training_rows\": true") != NULL);
    pv_string_free(d->t.ctx, json);
    d->x[ROWS * COLUMNS - 1] += 1.0f;
    PVT_OK(pv_model_eval_on(m, rows, &json));
    PVT_TRUE(strstr(json, "\"training_rows\": false") != NULL);
    pv_string_free(d->t.ctx, json);
    d->x[ROWS * COLUMNS - 1] -= 1.0f;
    pv_model_free(m);
    pv_result_free(r);
    pv_data_free(rows);
}

typedef struct lines {
    char text[1 << 16];
    size_t n;
    int calls, most;
} lines;

static bool keep(void *user, const char *text, size_t size)
{
    lines *l = user;
    PVT_TRUE(l->n + size < sizeof l->text);
    memcpy(l->text + l->n, text, size);
    l->n += size;
    return ++l->calls < l->most;
}

static void read_all(const char *path, lines *out)
{
    FILE *f = fopen(path, "r");
    PVT_TRUE(f != NULL);
    out->n = fread(out->text, 1, sizeof out->text - 1, f);
    out->text[out->n] = '\0';
    fclose(f);
}

/* The CSV says what the buffers say. */
static void check_lines(const char *text, const float *score, const double *chance, const int64_t *label)
{
    const char *at = strchr(text, '\n') + 1;
    PVT_TRUE(strncmp(text, "prediction,p(0),p(1),p(2)\n", 26) == 0);
    for (int i = 0; i < ROWS; i++) {
        int64_t best = 0;
        double sum = 0.0;
        PVT_IS(at[0] - '0', label[i]);
        char *end = (char *)(size_t)(at + 1);
        for (int k = 0; k < CLASSES; k++) {
            const double want = strtod(end + 1, &end);
            PVT_NEAR(chance[i * CLASSES + k], want, 1e-8);
            sum += chance[i * CLASSES + k];
            if (score[i * CLASSES + k] > score[i * CLASSES + best]) best = k;
        }
        PVT_NEAR(sum, 1.0, 1e-12);
        PVT_IS(best, label[i]);
        at = end + 1;
    }
}

static void predictions_agree(void **state)
{
    door *d = *state;
    static float score[2][ROWS * CLASSES];
    static double chance[2][ROWS * CLASSES];
    static int64_t label[2][ROWS];
    static lines out[2];
    pv_data *rows = rows_of(d);
    pv_result *r = train(d, rows);
    pv_model *m[2];
    PVT_OK(pv_result_model(r, &m[0]));
    PVT_OK(pv_result_save(r, d->model));
    pv_result_free(r); /* the model lives on its own */
    PVT_OK(pv_model_load(d->t.ctx, d->model, &m[1]));
    for (int i = 0; i < 2; i++) {
        const pv_predictions into = { ROWS, score[i], chance[i], label[i] };
        PVT_OK(pv_model_set(m[i], "data.key_path", d->t.key));
        PVT_OK(pv_model_predict_on(m[i], rows, &into));
    }
    PVT_TRUE(memcmp(score[0], score[1], sizeof score[0]) == 0);
    PVT_TRUE(memcmp(chance[0], chance[1], sizeof chance[0]) == 0);
    PVT_OK(pv_model_predict(m[1], d->t.path, d->scores));
    read_all(d->scores, &out[0]);
    out[1].most = 1000;
    PVT_OK(pv_model_predict_to(m[0], rows, keep, &out[1]));
    PVT_TRUE(strcmp(out[0].text, out[1].text) == 0);
    check_lines(out[0].text, score[0], chance[0], label[0]);
    out[1].n = out[1].calls = 0;
    out[1].most = 1;
    PVT_IS(pv_model_predict_to(m[0], rows, keep, &out[1]), PV_E_CANCELLED);
    pv_model_free(m[0]);
    pv_model_free(m[1]);
    pv_data_free(rows);
}

static void costs_are_the_certificates(void **state)
{
    door *d = *state;
    pv_data *rows = rows_of(d);
    pv_plan *p = plan_of(d, NULL);
    pv_cost before, after;
    pv_result *r;
    char *json, want[64];
    PVT_OK(pv_plan_cost_on(p, rows, &before));
    PVT_IS(before.rows, ROWS);
    PVT_IS(before.steps, 7);
    PVT_IS(before.weights, CLASSES * (COLUMNS + 1));
    PVT_TRUE(!before.is_private); /* a seed */
    PVT_TRUE(before.epsilon <= 1.5 && before.epsilon > 1.49 && before.epsilon_replace > before.epsilon);
    PVT_OK(pv_plan_run_on(p, rows, &r));
    PVT_OK(pv_result_cost(r, &after));
    PVT_TRUE(after.epsilon >= before.epsilon && after.epsilon <= 1.5);
    PVT_NEAR(after.noise_multiplier, before.noise_multiplier, 0);
    PVT_OK(pv_result_summary(r, &json));
    snprintf(want, sizeof want, "\"noise_multiplier\": %.17g", after.noise_multiplier);
    want[24] = '\0'; /* the first digits */
    PVT_CHECK(strstr(json, want) != NULL, "%s not in %s", want, json);
    pv_string_free(d->t.ctx, json);
    pv_result_free(r);
    PVT_OK(pv_plan_set(p, "privacy", "off"));
    PVT_OK(pv_plan_cost_on(p, rows, &before));
    PVT_TRUE(isinf(before.epsilon) && before.delta == 1.0 && before.noise_multiplier == 0.0);
    pv_plan_free(p);
    pv_data_free(rows);
}

/* What a plan of WIDE columns says with data.rows, and what the run then says. */
static void compare_plan(door *d, const char *path, const char *labels, const char *image)
{
    pv_cost planned, made;
    pv_plan *p;
    pv_result *r;
    PVT_OK(pv_plan_create(d->t.ctx, &p));
    PVT_OK(pv_plan_set(p, "data.key_path", "none"));
    PVT_OK(pv_plan_set(p, "data.path", path));
    PVT_OK(pv_plan_set(p, "data.labels", labels));
    PVT_OK(pv_plan_set(p, "model", "logistic"));
    PVT_OK(pv_plan_set_i64(p, "data.rows", WIDE_ROWS));
    PVT_OK(pv_plan_set_i64(p, "optimizer.steps", 2));
    if (image) PVT_OK(pv_plan_set(p, "data.image", image));
    else PVT_OK(pv_plan_set_i64(p, "data.features", WIDE));
    PVT_OK(pv_plan_cost_on(p, NULL, &planned));
    const pv_status s = pv_plan_run(p, &r);
    PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(d->t.ctx));
    PVT_OK(pv_result_cost(r, &made));
    PVT_CHECK(planned.sensitivity == made.sensitivity, "%s: planned %.9g, was %.9g", path, planned.sensitivity,
              made.sensitivity);
    PVT_TRUE(planned.noise_multiplier == made.noise_multiplier && planned.weights == made.weights);
    pv_result_free(r);
    pv_plan_free(p);
}

/* Arrays stay dense however wide they are, lines do not: the sensitivities differ, and so would a plan that did not
 * look which of them the file has. */
static void plans_without_rows_are_those_of_the_run(void **state)
{
    door *d = *state;
    static float x[WIDE_ROWS * WIDE];
    static int64_t y[WIDE_ROWS];
    char labels[96];
    for (int i = 0; i < WIDE_ROWS; i++) x[i * WIDE + i] = x[i * WIDE + WIDE - 1] = 0.5f, y[i] = i % 2;
    snprintf(labels, sizeof labels, "%s/y", d->t.dir);
    mt_npy(d->t.path, "<f4", WIDE_ROWS, WIDE, x, sizeof x);
    mt_npy(labels, "<i8", WIDE_ROWS, 0, y, sizeof y);
    compare_plan(d, d->t.path, labels, NULL);
    FILE *f = fopen(d->t.path, "w");
    for (int i = 0; i < WIDE_ROWS; i++) fprintf(f, "%d %d:0.5 %d:0.5\n", i % 2, i + 1, WIDE);
    PVT_TRUE(fclose(f) == 0);
    compare_plan(d, d->t.path, "0,1", NULL);
    compare_plan(d, d->t.path, "0,1", "34x33");
    unlink(labels);
}

static void classes_and_shapes(void **state)
{
    door *d = *state;
    pv_data *rows = rows_of(d);
    pv_result *r = train(d, rows);
    pv_model *m;
    pv_model_info info;
    const char *name;
    PVT_OK(pv_result_model(r, &m));
    PVT_OK(pv_model_describe(m, &info));
    PVT_IS(info.classes, CLASSES);
    PVT_IS(info.outputs, CLASSES);
    PVT_IS(info.features, COLUMNS);
    PVT_IS(info.weights, CLASSES * (COLUMNS + 1));
    PVT_TRUE(!info.is_private);
    PVT_OK(pv_model_class(m, 2, &name));
    PVT_TRUE(strcmp(name, "2") == 0);
    PVT_IS(pv_model_class(m, 3, &name), PV_E_ARG);
    PVT_TRUE(name == NULL);
    pv_model_free(m);
    pv_result_free(r);
    pv_data_free(rows);
}

static void wrong_buffers_are_refused(void **state)
{
    door *d = *state;
    static float score[ROWS * CLASSES];
    pv_data *rows = rows_of(d), *narrow;
    pv_result *r = train(d, rows);
    pv_model *m;
    PVT_OK(pv_result_model(r, &m));
    const pv_predictions few = { ROWS - 1, score, NULL, NULL };
    PVT_IS(pv_model_predict_on(m, rows, &few), PV_E_ARG);
    PVT_TRUE(strcmp(pv_ctx_errmsg(d->t.ctx), "buffers for 299 rows, and there are 300") == 0);
    PVT_OK(pv_data_dense(d->t.ctx, d->x, PV_FLOAT32, ROWS, COLUMNS - 1, COLUMNS, 1, &narrow));
    const pv_predictions all = { ROWS, score, NULL, NULL };
    PVT_TRUE(pv_model_predict_on(m, narrow, &all) != PV_OK);
    pv_data_free(narrow);
    pv_model_free(m);
    pv_result_free(r);
    pv_data_free(rows);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(the_same_rows_give_the_same_result, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_row_changes_the_digest, setup, teardown),
        cmocka_unit_test_setup_teardown(predictions_agree, setup, teardown),
        cmocka_unit_test_setup_teardown(costs_are_the_certificates, setup, teardown),
        cmocka_unit_test_setup_teardown(plans_without_rows_are_those_of_the_run, setup, teardown),
        cmocka_unit_test_setup_teardown(classes_and_shapes, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_buffers_are_refused, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
