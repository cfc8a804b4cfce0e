/* test_replay_persons_files.c - neighbour replay of files that differ in all rows of one person, with what else a run
 * may do: curves, classes that count differently, second derivatives in other coordinates, curves that only rise,
 * persons held out, counted rows, ids apart.
 *
 * As in test_replay_persons.c, the second run is fed what the first one released, and sums before noise must lie
 * within the declared sensitivity.  Here the rows go through reader, ids, cap, knots and hats: the person has other
 * rows, more or fewer of them, below the cap or above it, at other places of the file.  Their id is the same, so that
 * they keep their place among persons (persons.c, matched permutations), and all other persons must have the rows
 * they had. */
#include "data/cells.h"
#include "datatest.h"
#include "replaytape.h"

enum { PERSONS = 260, SPECIAL = 77, K = 4, MOST_SET = 24 };

typedef struct config {
    const char *relation, *layout, *curves, *optimizer, *sampler, *combine, *weight;
    const char *more[2][2]; /* two settings of its own */
    int rows;               /* of the person in the other table */
    bool held, apart;       /* a share of the persons is held out; ids stand in a file of their own */
    bool open;              /* K is found by counting */
} config;

static const char schema[] =
    "{\"missing\": [\"?\"], \"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 1, "
    "\"missing\": \"zero\"}, {\"name\": \"who\", \"type\": \"%s\"},"
    "{\"name\": \"b\", \"type\": \"number\", \"min\": 1, \"max\": 1000, \"scale\": \"log\"%s},"
    "{\"name\": \"c\", \"type\": \"category\", \"values\": [\"x\", \"y\", \"z\"]},"
    "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}";

typedef struct out {
    FILE *rows, *ids;
} out;

static void put(const out *o, int who, const char *a, int b, int c, bool yes)
{
    fprintf(o->rows, "%s,p%d,%d,%c,%s\n", a, who, b, "xyz"[c], yes ? "yes" : "no");
    fprintf(o->ids, "p%d\n", who);
}

/* The special person's rows stand together at an end of the file, or among those of others. */
static void write_special(const out *o, const config *c, int table)
{
    for (int r = 0; r < (table ? c->rows : K); r++)
        if (table) put(o, SPECIAL, "?", 1000, 2, false);
        else put(o, SPECIAL, "1", 1, 0, true);
}

static void write_table(const dt *t, const config *c, int table)
{
    const out o = { fopen(t->path, "w"), fopen(t->schema, "w") };
    PVT_TRUE(o.rows && o.ids);
    fprintf(o.rows, "a,who,b,c,y\n");
    if (table) write_special(&o, c, table);
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < PERSONS; i++) {
            char a[16];
            const int n = i * 31 + k * 7;
            snprintf(a, sizeof a, "%.4f", n % 1009 / 1009.0);
            if (i == SPECIAL && k == 3 && !table) write_special(&o, c, table);
            if (i != SPECIAL && k < 1 + i % 6) put(&o, i, a, 1 + n * 37 % 1000, n % 3, n % 5 < 2);
        }
    const bool closed = fclose(o.rows) == 0 && fclose(o.ids) == 0;
    PVT_TRUE(closed);
}

/* The one person whose rows differ, or -1. */
static int64_t compare(const pvi_matrix *a, const pvi_matrix *b)
{
    int64_t found = -1;
    PVT_IS(a->domain.n, b->domain.n);
    PVT_IS(a->domain.p, b->domain.p);
    PVT_TRUE(strcmp(a->schema_json, b->schema_json) == 0);
    for (int64_t u = 0; u < a->domain.n; u++) {
        const int64_t from = a->start[u], to = b->start[u], n = a->start[u + 1] - from;
        bool same = n == b->start[u + 1] - to;
        for (int64_t r = 0; r < n && same; r++)
            for (int64_t j = 0; j < a->domain.p; j++) same &= dt_raw(a, from + r, j) == dt_raw(b, to + r, j);
        if (same) continue;
        PVT_IS(found, -1);
        found = u;
    }
    return found;
}

static void leave_out(pvi_matrix *m, int64_t u)
{
    for (int64_t r = m->start[u]; r < m->start[u + 1]; r++)
        if (m->cell) pvi_cells_record(m, r)[PVI_CELLS_NORM] = -1.0f;
        else m->norm[r] = -1.0f;
}

static pv_plan *make_plan(const dt *t, const config *c, const char *declared)
{
    const char *const set[MOST_SET][2] = { { "data.path", t->path },
                                           { "data.schema", declared },
                                           { "data.person_file", c->apart ? t->schema : NULL },
                                           { "data.key_path", t->key },
                                           { "data.curves", c->curves },
                                           { "data.layout", c->layout },
                                           { "budget.relation", c->relation },
                                           { "budget.noise_multiplier", "2" },
                                           { "budget.epsilon", "1e6" },
                                           { "accountant", "rdp" },
                                           { "optimizer", c->optimizer },
                                           { "optimizer.steps", "5" },
                                           { "clip", "0.05" },
                                           { "run.seed", "42" },
                                           { "unit.combine", c->combine },
                                           { "unit.weight", c->weight },
                                           { "sampler", c->sampler },
                                           { "sampler.batch", strcmp(c->sampler, "full") == 0 ? NULL : "120" },
                                           { "run.holdout_share", c->held ? "0.3" : NULL },
                                           { c->open ? "data.person_rows_most" : "data.person_rows", "4" },
                                           { "data.person_rows_share", c->open ? "0.1" : NULL },
                                           { c->more[0][0], c->more[0][1] },
                                           { c->more[1][0], c->more[1][1] } };
    pv_plan *plan;
    PVT_OK(pv_plan_create(t->ctx, &plan));
    for (int i = 0; i < MOST_SET; i++)
        if (set[i][0] && set[i][1]) PVT_OK(pv_plan_set(plan, set[i][0], set[i][1]));
    if (c->open) PVT_OK(pv_plan_set(plan, "budget.noise_multiplier", "auto"));
    return plan;
}

/* How far the sums moved, of what is declared. */
static double replay(dt *t, const config *c)
{
    char declared[1024];
    pvi_matrix *m[2], train[2], held[2];
    tape *tp = calloc(1, sizeof *tp);
    snprintf(declared, sizeof declared, schema, c->apart ? "ignore" : "person",
             strcmp(c->curves, "off") == 0 ? "" : ", \"monotone\": \"up\"");
    pv_plan *plan = make_plan(t, c, declared);
    for (int k = 0; k < 2; k++) {
        write_table(t, c, k);
        const pv_status s = pvi_plan_data(plan, NULL, &m[k]);
        PVT_CHECK(s == PV_OK, "%s", pv_ctx_errmsg(t->ctx));
        train[k] = *m[k];
        if (c->held) PVT_OK(pvi_hold_out(plan, m[k], &train[k], &held[k]));
        PVT_IS(m[k]->domain.n, PERSONS);
    }
    const int64_t special = compare(m[0], m[1]);
    PVT_TRUE(special >= 0);
    if (strcmp(c->relation, "zero-out") == 0) leave_out(m[1], special);
    for (int k = 0; k < 2; k++) {
        pv_result *r;
        tp->playing = k;
        const pv_status s = pvi_run_matrix(plan, &train[k], tape_watch, tp, &r);
        PVT_CHECK(s == PV_OK, "%s, %s: %s", c->optimizer, c->more[0][0] ? c->more[0][0] : "", pv_ctx_errmsg(t->ctx));
        pv_result_free(r);
    }
    PVT_IS(tp->at, tp->n);
    const bool away = c->held && special >= train[0].domain.n;
    const double worst = tp->worst;
    PVT_CHECK(!away || worst == 0.0, "a person who is held out moved sums");
    for (int k = 0; k < 2; k++) pvi_matrix_free(m[k]);
    tape_free(tp);
    pv_plan_free(plan);
    return away ? -1.0 : worst;
}

static const config plain = { .relation = "zero-out",
                              .layout = "auto",
                              .curves = "auto",
                              .optimizer = "pgd",
                              .sampler = "full",
                              .combine = "mean",
                              .weight = "one",
                              .rows = 3 };

/* A person with fewer rows, with more than count, and with one. */
static void every_line_of_units(void **state)
{
    static const char *const layouts[] = { "auto", "dense", "sparse" }, *const curves[] = { "auto", "7", "off" };
    static const int rows[] = { 3, 11, 1 };
    (void)state;
    dt t;
    dt_open(&t);
    for (int i = 0; i < 3 * 3 * 4 * 2; i++) {
        config c = plain;
        c.layout = layouts[i % 3];
        c.curves = curves[i / 3 % 3];
        c.combine = i / 9 % 2 ? "sum" : "mean";
        c.weight = i / 18 % 2 ? "rows" : "one";
        c.relation = i / 36 ? "replace" : "zero-out";
        c.rows = rows[(i + i / 9) % 3];
        c.apart = i % 4 == 3;
        c.sampler = i % 5 == 4 ? "poisson" : "full";
        c.optimizer = i % 5 == 4 ? "sgd" : "pgd";
        if (c.sampler[0] == 'p') c.more[0][0] = "sampler.batch", c.more[0][1] = "200";
        const double worst = replay(&t, &c);
        PVT_CHECK(worst > 0.3, "%s, %s, %s, %s: measured only %.3f", c.relation, c.combine, c.weight, c.layout,
                  worst);
    }
    dt_write(t.schema, "", 0);
    dt_close(&t);
}

/* What a run may do besides. */
static void with_everything_else(void **state)
{
    static const struct {
        const char *optimizer, *sampler, *more[2][2];
        double least;
    } cases[] = {
        { "pgd", "full", { { "model.prevalence", "0.1" } }, 0.3 },
        { "pgd", "full", { { "model.class_weight", "20" } }, 0.3 },
        { "tr", "full", { { "optimizer.share", "0.2" } }, 0.1 },
        { "tr", "full", { { "optimizer.share", "0" }, { "data.norm", "unit" } }, 0.1 },
        { "tr", "full", { { "optimizer.share", "0.2" }, { "run.copy", "0" } }, 0.1 },
        { "str", "poisson", { { "sampler.batch", "200" } }, 0.05 },
        { "adam", "poisson", { { "sampler.batch", "200" } }, 0.3 },
        { "pgd", "full", { { "optimizer.shrink", "0.5" } }, 0.3 },
        { "pgd", "full", { { "data.norm", "unit" } }, 0.3 },
        { "fw-l1", "full", { { "set", "l1ball" } }, 0.1 },
    };
    (void)state;
    dt t;
    dt_open(&t);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int i = 0; i < 8; i++) {
            config c = plain;
            c.optimizer = cases[k].optimizer;
            c.sampler = cases[k].sampler;
            memcpy(c.more, cases[k].more, sizeof c.more);
            c.relation = i & 1 ? "replace" : "zero-out";
            c.combine = i & 2 ? "sum" : "mean";
            c.weight = i == 5 || i == 6 ? "rows" : "one";
            c.layout = i & 4 ? "sparse" : "auto";
            c.curves = "6";
            c.rows = i & 2 ? 9 : 2;
            const double worst = replay(&t, &c);
            PVT_CHECK(worst > cases[k].least, "%s, %s, %d: measured only %.3f", c.optimizer, c.more[0][0], i, worst);
        }
    dt_write(t.schema, "", 0);
    dt_close(&t);
}

/* Persons who are held out move nothing; those who are not, no more than ever; K that is found by counting. */
static void held_out_and_counted(void **state)
{
    static const char *const seeds[] = { "1", "2",  "3",  "4",  "5",  "6",  "7",  "8",
                                         "9", "10", "11", "12", "13", "14", "15", "16" };
    (void)state;
    int away = 0, there = 0;
    dt t;
    dt_open(&t);
    for (int i = 0; i < 16; i++) {
        config c = plain;
        c.relation = i & 1 ? "replace" : "zero-out";
        c.optimizer = i & 2 ? "tr" : "pgd";
        c.layout = i & 4 ? "dense" : "auto";
        c.curves = i & 4 ? "off" : "6";
        c.rows = i & 1 ? 7 : i < 8 ? 2 : K; /* who adds nothing falls into no bin either: test_histogram.c */
        c.weight = i & 8 ? "rows" : "one";
        c.held = i < 8 || i & 1;
        c.open = i >= 8;
        c.more[0][0] = "run.seed";
        c.more[0][1] = seeds[i];
        const double worst = replay(&t, &c);
        away += worst < 0.0;
        there += worst > 0.1;
    }
    PVT_CHECK(away > 1 && there > 6, "%d held out, %d not", away, there);
    dt_write(t.schema, "", 0);
    dt_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_line_of_units), cmocka_unit_test(with_everything_else),
                                        cmocka_unit_test(held_out_and_counted) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
