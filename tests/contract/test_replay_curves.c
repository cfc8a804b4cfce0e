/* test_replay_curves.c - neighbour replay of tables whose numbers are curves: files that differ in one row.
 *
 * As in test_replay.c, the second run is fed the values that the first one released, and the sums before noise must
 * lie within the declared sensitivity.  The rows go through reader, knots and hats, so that what is measured is what
 * one row of the file can do, to the encoding of others as well: all other rows of both matrices must be the same. */
#include "data/cells.h"
#include "datatest.h"
#include "replaytape.h"

enum { ROWS = 300, SPECIAL = 77 };
static const char schema[] =
    "{\"missing\": [\"?\"], \"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 1, "
    "\"missing\": \"zero\"},"
    "{\"name\": \"b\", \"type\": \"number\", \"min\": 1, \"max\": 1000, \"scale\": \"log\"},"
    "{\"name\": \"c\", \"type\": \"number\", \"min\": -1, \"max\": 1, \"knots\": [-1, 0, 0.5]},"
    "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}%s]}";
static const char owner[] = ",{\"name\": \"p\", \"type\": \"person\", \"rows\": 3}";

/* Persons own three rows each; all of the special one are special. */
static void write_rows(const char *path, int other, bool persons)
{
    FILE *f = fopen(path, "w");
    PVT_TRUE(f != NULL);
    fprintf(f, persons ? "a,b,c,y,p\n" : "a,b,c,y\n");
    for (int i = 0; i < ROWS; i++) {
        const bool special = persons ? i / 3 == SPECIAL / 3 : i == SPECIAL;
        if (special && other) fprintf(f, "?,1000,-1,no");
        else if (special) fprintf(f, "1,1,1,yes");
        else fprintf(f, "%.3f,%d,%.3f,%s", i % 17 / 16.0, 1 + i * 37 % 1000, i % 21 / 10.0 - 1, i % 3 ? "no" : "yes");
        if (persons) fprintf(f, ",p%d", i / 3);
        fprintf(f, "\n");
    }
    const bool closed = fclose(f) == 0;
    PVT_TRUE(closed);
}

static void others_are_the_same(const pvi_matrix *a, const pvi_matrix *b)
{
    PVT_IS(a->domain.p, b->domain.p);
    PVT_TRUE(strcmp(a->schema_json, b->schema_json) == 0);
    if (a->late) return; /* rows wait for their knots: looked at after the run */
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < a->domain.p && i != SPECIAL; j++) PVT_TRUE(dt_raw(a, i, j) == dt_raw(b, i, j));
}

static void leave_out(pvi_matrix *m)
{
    if (m->cell) pvi_cells_record(m, SPECIAL)[PVI_CELLS_NORM] = -1.0f;
    else m->norm[SPECIAL] = -1.0f;
}

/* How far the histograms moved, over what they may. */
static double counted;

static void watch(void *user, const pvi_seen *r, double *value)
{
    tape *tp = user;
    if (r->release->kind->stage && !value && tp->playing)
        counted = tape_distance(tp, r) / r->release->noise.sensitivity;
    tape_watch(user, r, value);
}

static void replay(dt *t, const char *relation, const char *layout, const char *curves, const char *optimizer,
                   const char *prevalence, bool paid, bool persons)
{
    char declared[sizeof schema + sizeof owner];
    snprintf(declared, sizeof declared, schema, persons ? owner : "");
    const char *const set[][2] = { { "data.path", t->path },
                                   { "data.schema", declared },
                                   { "data.key_path", t->key },
                                   { "data.curves", curves },
                                   { "data.layout", layout },
                                   { "budget.relation", relation },
                                   { "budget.noise_multiplier", "2" },
                                   { "budget.epsilon", paid ? "500" : "1e6" },
                                   { "accountant", "rdp" },
                                   { "optimizer", optimizer },
                                   { "optimizer.steps", "6" },
                                   { "clip", "0.05" },
                                   { "run.seed", "42" },
                                   { "data.knots_share", paid ? "0.2" : "0" },
                                   { "model.prevalence", prevalence } };
    tape *tp = calloc(1, sizeof *tp);
    pvi_matrix *m[2];
    pv_plan *plan;
    PVT_OK(pv_plan_create(t->ctx, &plan));
    for (size_t i = 0; i < sizeof set / sizeof *set && set[i][1]; i++)
        PVT_OK(pv_plan_set(plan, set[i][0], set[i][1]));
    for (int k = 0; k < 2; k++) {
        write_rows(t->path, k, persons);
        PVT_OK(pvi_plan_data(plan, NULL, &m[k]));
    }
    if (!persons) others_are_the_same(m[0], m[1]);
    if (strcmp(relation, "zero-out") == 0) leave_out(m[1]);
    for (int k = 0; k < 2; k++) {
        pv_result *r;
        tp->playing = k;
        PVT_IS(m[k]->late != NULL, paid);
        const pv_status s = pvi_run_matrix(plan, m[k], watch, tp, &r);
        PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(t->ctx));
        pv_result_free(r);
    }
    if (!persons) others_are_the_same(m[0], m[1]);
    for (int k = 0; k < 2; k++) pvi_matrix_free(m[k]);
    /* Two columns have open knots; of the row that the first files have, both values move or go. */
    if (paid) PVT_CHECK(counted > 0.8 && counted <= 1.0, "%s, %s: counts moved %.3f", relation, layout, counted);
    PVT_IS(tp->at, tp->n);
    PVT_CHECK(tp->worst > 0.7, "%s, %s: measured only %.3f", relation, layout, tp->worst);
    tape_free(tp);
    pv_plan_free(plan);
}

static void files_that_differ_in_a_row(void **state)
{
    (void)state;
    dt t;
    dt_open(&t);
    static const char *const relations[] = { "zero-out", "replace" },
                             *const layouts[] = { "auto", "sparse", "dense" }, *const optimizers[] = { "pgd", "sgd" };
    for (int k = 0; k < 12; k++)
        replay(&t, relations[k & 1], layouts[k / 4], k & 1 ? "9" : "auto", optimizers[k >> 1 & 1], NULL, false,
               false);
    for (int k = 0; k < 6; k++) /* knots by a release */
        replay(&t, relations[k & 1], layouts[k / 2], k & 1 ? "9" : "auto", optimizers[k & 1], NULL, true, false);
    for (int k = 0; k < 3; k++) replay(&t, "replace", layouts[k], "9", "pgd", NULL, true, true);
    for (int k = 0; k < 4; k++) /* classes that count differently: the heavy one, and the light one, is left out */
        replay(&t, relations[k & 1], layouts[k & 1], "auto", "pgd", k & 2 ? "0.2" : "0.8", false, false);
    dt_write(t.schema, "", 0);
    dt_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(files_that_differ_in_a_row) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
