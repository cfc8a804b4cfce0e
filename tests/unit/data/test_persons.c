/* test_persons.c - rows of a person become one unit: who owns what, in which order, how many of them, from where ids
 * come, and what is refused. */
#include "data/data.h"
#include "datatest.h"

enum { PERSONS = 60, MOST = 9, CAP = 4 };

/* Row r of person i: a value that nobody else has, a label. */
typedef struct row {
    int person, at;
} row;

static int rows_of(int person)
{
    return 1 + person * 7 % MOST;
}

static int all_rows(row *out)
{
    int n = 0;
    for (int i = 0; i < PERSONS; i++)
        for (int r = 0; r < rows_of(i); r++) out[n++] = (row) { i, r };
    return n;
}

static double value(row r)
{
    return (r.person * 16 + r.at + 1) / 1024.0;
}

static void shuffle(row *r, int n, uint64_t seed)
{
    for (int i = n - 1; i > 0; i--) {
        const int k = (int)(pvt_uniform(&seed) * (i + 1));
        const row t = r[i];
        r[i] = r[k];
        r[k] = t;
    }
}

static char *as_csv(const row *r, int n)
{
    char *text = malloc(64 * (size_t)(n + 1)), *p = text;
    p += sprintf(p, "v,who,w,y\n");
    for (int i = 0; i < n; i++)
        p += sprintf(p, "%.17g, \"nr %d\" ,%d,%s\n", value(r[i]), r[i].person, r[i].at % 2,
                     r[i].at % 3 ? "yes" : "no");
    return text;
}

static const char schema[] = "{\"columns\": [{\"name\": \"v\", \"type\": \"number\", \"min\": 0, \"max\": 1},"
                             "{\"name\": \"who\", \"type\": \"person\"},"
                             "{\"name\": \"w\", \"type\": \"number\", \"min\": 0, \"max\": 1},"
                             "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}";

static void open_persons(dt *t)
{
    dt_open(t);
    t->cfg.schema = schema;
    t->cfg.person_rows = CAP;
    t->expect = (pvi_expect) { .classes = -1, .persons = true, .seed = 5 };
}

static int person_of(const pvi_matrix *m, int64_t r)
{
    return (int)lrint((double)dt_raw(m, r, 0) * 1024.0 - 1.0) / 16;
}

static bool same_rows(const pvi_matrix *a, const pvi_matrix *b)
{
    if (a->domain.n != b->domain.n || a->stored != b->stored) return false;
    if (memcmp(a->start, b->start, sizeof *a->start * (size_t)(a->domain.n + 1)) != 0) return false;
    for (int64_t r = 0; r < a->stored; r++) {
        if (a->y[r] != b->y[r] || a->norm[r] != b->norm[r]) return false;
        for (int64_t j = 0; j < 2; j++)
            if (dt_raw(a, r, j) != dt_raw(b, r, j)) return false;
    }
    return true;
}

/* Every person once, with min(rows, cap) rows of their own, none twice. */
static void check_table(const pvi_matrix *m, int64_t K)
{
    bool met[PERSONS] = { false };
    PVT_IS(m->domain.n, PERSONS);
    PVT_IS(m->domain.unit_rows, K);
    PVT_IS(m->start[0], 0);
    PVT_IS(m->start[PERSONS], m->stored);
    for (int64_t u = 0; u < PERSONS; u++) {
        const int64_t from = m->start[u], n = m->start[u + 1] - from;
        const int who = person_of(m, from);
        PVT_TRUE(!met[who]);
        met[who] = true;
        PVT_IS(n, rows_of(who) < K ? rows_of(who) : K);
        for (int64_t r = from; r < from + n; r++) {
            PVT_IS(person_of(m, r), who);
            for (int64_t s = from; s < r; s++) PVT_TRUE(dt_raw(m, r, 0) != dt_raw(m, s, 0));
        }
    }
}

static void any_order_of_rows_gives_the_same_units(void **state)
{
    (void)state;
    row r[PERSONS * MOST];
    const int n = all_rows(r);
    static const int64_t layouts[] = { PVI_LAYOUT_DENSE, PVI_LAYOUT_SPARSE };
    for (int l = 0; l < 2; l++) {
        pvi_matrix *first = NULL;
        dt t;
        open_persons(&t);
        t.cfg.layout = layouts[l];
        for (uint64_t k = 0; k < 6; k++) {
            t.cfg.chunk = k % 2 ? 64 : 1 << 20; /* and whatever chunks are cut */
            shuffle(r, n, k);
            char *text = as_csv(r, n);
            pvi_matrix *m = dt_load(&t, text);
            check_table(m, CAP);
            PVT_CHECK(!first || same_rows(first, m), "layout %d, order %d", l, (int)k);
            free(text);
            if (first) pvi_matrix_free(m);
            else first = m;
        }
        pvi_matrix_free(first);
        dt_close(&t);
    }
}

/* Several buckets of person_order.c, and one person with more rows than a thread has room for: persons of 1 to 9 rows
 * and person 0 with every fourth, each row with values of its own. */
enum { MANY = 60000, LARGE = MANY / 4 };

static char *many_rows(uint64_t order)
{
    static int place[MANY];
    char *text = malloc(64 * (size_t)(MANY + 1)), *p = text + sprintf(text, "v,who,w,y\n");
    for (int i = 0; i < MANY; i++) place[i] = i;
    for (int i = MANY - 1; i > 0; i--) {
        const int k = (int)(pvt_uniform(&order) * (i + 1)), t = place[i];
        place[i] = place[k];
        place[k] = t;
    }
    for (int i = 0; i < MANY; i++) {
        const int r = place[i], who = r % 4 ? 1 + r / 20 : 0;
        p += sprintf(p, "%.6f,%d,%.6f,%s\n", (who + 1) / 4096.0, who, r / (double)MANY, r % 3 ? "yes" : "no");
    }
    return text;
}

/* w of a row is its number in file order zero. */
static void check_many(const pvi_matrix *m)
{
    static bool met[MANY];
    memset(met, 0, sizeof met);
    PVT_IS(m->stored, MANY - LARGE + 5000);
    for (int64_t u = 0; u < m->domain.n; u++)
        for (int64_t r = m->start[u]; r < m->start[u + 1]; r++) {
            const int who = (int)lrint((double)dt_raw(m, r, 0) * 4096.0) - 1;
            const int number = (int)lrint((double)dt_raw(m, r, 1) * MANY);
            PVT_IS(who, number % 4 ? 1 + number / 20 : 0);
            PVT_IS(who, (int)lrint((double)dt_raw(m, m->start[u], 0) * 4096.0) - 1);
            PVT_TRUE(!met[number] && m->y[r] == (number % 3 ? 1.0f : -1.0f));
            met[number] = true;
        }
}

static void many_rows_are_put_in_order_by_buckets(void **state)
{
    (void)state;
    static const int64_t layouts[] = { PVI_LAYOUT_DENSE, PVI_LAYOUT_SPARSE };
    for (int l = 0; l < 2; l++) {
        dt t;
        open_persons(&t);
        t.cfg.layout = layouts[l];
        t.cfg.person_rows = 5000;
        char *text = many_rows(1), *other = many_rows(2);
        pvi_matrix *a = dt_load(&t, text), *b = dt_load(&t, other);
        check_many(a);
        PVT_TRUE(same_rows(a, b));
        pvi_matrix_free(a);
        pvi_matrix_free(b);
        free(text);
        free(other);
        dt_close(&t);
    }
}

/* Another seed: another order of persons, and of those with many rows others stay. */
static void the_key_decides_order_and_choice(void **state)
{
    (void)state;
    row r[PERSONS * MOST];
    const int n = all_rows(r);
    char *text = as_csv(r, n);
    dt t;
    open_persons(&t);
    pvi_matrix *a = dt_load(&t, text);
    t.expect.seed = 6;
    pvi_matrix *b = dt_load(&t, NULL);
    t.expect.seed = PV_AUTO_I64; /* a key of its own for every load */
    pvi_matrix *c = dt_load(&t, NULL), *d = dt_load(&t, NULL);
    PVT_TRUE(!same_rows(a, b) && !same_rows(c, d) && !same_rows(a, c));
    check_table(b, CAP);
    check_table(c, CAP);
    pvi_matrix_free(a);
    pvi_matrix_free(b);
    pvi_matrix_free(c);
    pvi_matrix_free(d);
    free(text);
    dt_close(&t);
}

/* Of eight rows, five alike, K = 2 stay: every subset of places alike often, so the two are alike in 10 of 28 cases,
 * and each of the others is there in 1 of 4. */
static void rows_that_stay_are_a_uniform_draw(void **state)
{
    (void)state;
    enum { TIMES = 4000 };
    int alike = 0, one = 0;
    dt t;
    open_persons(&t);
    t.cfg.person_rows = 2;
    dt_write(t.path, "", 0);
    static const char text[] =
        "v,who,w,y\n.5,a,0,no\n.5,a,0,no\n.125,a,0,no\n.5,a,0,no\n.25,a,0,no\n.5,a,0,no\n.5,a,0,no\n"
        ".75,a,0,no\n.5,b,0,no\n";
    for (int k = 0; k < TIMES; k++) {
        t.expect.seed = k;
        pvi_matrix *m = dt_load(&t, text);
        const int64_t u = m->start[1] == 2 ? 0 : m->start[1];
        alike += dt_raw(m, u, 0) == 0.5f && dt_raw(m, u + 1, 0) == 0.5f;
        one += dt_raw(m, u, 0) == 0.25f || dt_raw(m, u + 1, 0) == 0.25f;
        pvi_matrix_free(m);
    }
    /* five standard deviations */
    PVT_CHECK(fabs(alike / (double)TIMES - 10.0 / 28.0) < 5 * sqrt(0.23 / TIMES), "%d alike", alike);
    PVT_CHECK(fabs(one / (double)TIMES - 0.25) < 5 * sqrt(0.19 / TIMES), "%d of one", one);
    dt_close(&t);
}

/* A column of text, a file of ids, ids beside rows in memory as words and as numbers: one table. */
static void ids_may_come_from_anywhere(void **state)
{
    (void)state;
    enum { N = 5 };
    static const double x[N][2] = { { .5, 1 }, { .25, 0 }, { .125, 1 }, { .75, 0 }, { .625, 1 } };
    static const char *const word[N] = { "7", "8", "7", "9", "8" };
    static const int16_t number[N] = { 7, 8, 7, 9, 8 };
    static const int32_t y[N] = { -1, 1, 1, -1, 1 };
    static const char csv[] = "7,.5,1,-1\n8,.25,0,1\n7,.125,1,1\n9,.75,0,-1\n8,.625,1,1\n",
                      svm[] = "-1 1:.5 2:1\n1 1:.25\n1 1:.125 2:1\n-1 1:.75\n1 1:.625 2:1\n";
    dt t;
    pvi_matrix *m[4];
    open_persons(&t);
    t.cfg.schema = NULL;
    t.cfg.person = "1";
    t.cfg.labels = "-1,1";
    m[0] = dt_load(&t, csv);
    t.cfg.person = NULL;
    t.cfg.person_file = t.schema;
    dt_write(t.schema, "7\n 8\t\n7\r\n9\n8", 12);
    m[1] = dt_load(&t, svm);
    t.cfg.person_file = NULL;
    for (int k = 0; k < 2; k++) {
        pv_data *d;
        PVT_OK(pv_data_dense(t.ctx, x, PV_FLOAT64, N, 2, 2, 1, &d));
        PVT_OK(pv_data_labels(d, y, PV_INT32, N));
        PVT_OK(k ? pv_data_person_words(d, word, N) : pv_data_persons(d, number, PV_INT16, N));
        PVT_OK(pvi_data_load(t.ctx, &t.cfg, &t.expect, d, &m[2 + k]));
        pv_data_free(d);
    }
    PVT_IS(m[0]->domain.n, 3);
    PVT_IS(m[0]->domain.p, 3);
    for (int k = 1; k < 4; k++) PVT_CHECK(same_rows(m[0], m[k]), "source %d", k);
    for (int k = 0; k < 4; k++) pvi_matrix_free(m[k]);
    dt_close(&t);
}

/* Scoring looks at rows: the column is there, and stays unread. */
static void scoring_has_no_persons(void **state)
{
    (void)state;
    dt t;
    open_persons(&t);
    t.expect.persons = false;
    t.cfg.person_rows = PV_AUTO_I64;
    pvi_matrix *m = dt_load(&t, "v,who,w,y\n.5,,0,no\n.25,a,1,yes\n.5,a,0,no\n");
    PVT_IS(m->domain.n, 3);
    PVT_TRUE(!m->start && m->domain.unit_rows == 0 && m->domain.p == 3);
    pvi_matrix_free(m);
    dt_close(&t);
}

/* Nobody says how many rows of one person count: as many as may be, and it is known that nobody said it. */
static void cap_is_open(void **state)
{
    (void)state;
    dt t;
    open_persons(&t);
    t.cfg.person_rows = PV_AUTO_I64;
    t.cfg.person_rows_most = 2;
    pvi_matrix *m = dt_load(&t, "v,who,w,y\n.5,a,0,no\n.25,a,1,yes\n.5,a,0,no\n.5,b,0,no\n");
    PVT_IS(m->domain.n, 2);
    PVT_TRUE(m->cap_open && m->domain.unit_rows == 2 && m->stored == 3);
    pvi_matrix_free(m);
    t.cfg.person_rows = 1;
    m = dt_load(&t, "v,who,w,y\n.5,a,0,no\n.25,a,1,yes\n");
    PVT_TRUE(!m->cap_open && m->domain.unit_rows == 1 && m->stored == 1);
    pvi_matrix_free(m);
    dt_close(&t);
}

static void says(dt *t, const char *text, pv_status want, const char *what)
{
    pvi_matrix *m;
    dt_write(t->path, text, strlen(text));
    PVT_IS(pvi_data_load(t->ctx, &t->cfg, &t->expect, NULL, &m), want);
    PVT_CHECK(strstr(pv_ctx_errmsg(t->ctx), what), "%s, wanted %s", pv_ctx_errmsg(t->ctx), what);
}

static void refusals(void **state)
{
    (void)state;
    static const char good[] = "v,who,w,y\n.5,a,0,no\n.25,b,1,yes\n";
    dt t;
    open_persons(&t);
    says(&t, "v,who,w,y\n.5,a,0,no\n.25,,1,yes\n", PV_E_FORMAT, ":3:5: no id: whose row is it?");
    t.cfg.rows = 2;
    says(&t, good, PV_E_PARAM, "data.persons=N declares persons");
    t.cfg.rows = PV_AUTO_I64;
    t.cfg.persons = 1;
    says(&t, good, PV_E_FORMAT, "more persons than the declared data.persons=1");
    t.cfg.persons = 3;
    says(&t, good, PV_E_FORMAT, "fewer persons than the declared data.persons=3");
    t.cfg.persons = PV_AUTO_I64;
    t.cfg.person = "v";
    says(&t, good, PV_E_PARAM, "the schema says that \"who\" is the person");
    t.cfg.schema = "{\"columns\": [{\"name\": \"v\", \"type\": \"number\", \"min\": 0, \"max\": 1},"
                   "{\"name\": \"who\", \"type\": \"ignore\"}, {\"name\": \"w\", \"type\": \"ignore\"},"
                   "{\"name\": \"y\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}";
    says(&t, good, PV_E_PARAM, "the schema has it as a feature; declare \"type\": \"person\"");
    t.cfg.person = "y";
    says(&t, good, PV_E_PARAM, "the schema has it as the label");
    t.cfg.schema = schema;
    t.cfg.person = "z";
    says(&t, good, PV_E_PARAM, "the schema has no such column");
    t.cfg.person = NULL;
    t.cfg.person_file = t.schema;
    says(&t, good, PV_E_PARAM, "one place is enough");
    t.cfg.schema = NULL;
    t.cfg.labels = "no,yes";
    dt_write(t.schema, "a\n", 2);
    says(&t, "no 1:1\nyes 2:1\n", PV_E_FORMAT, "another number of ids of persons than of rows");
    dt_write(t.schema, "a\n\n", 3);
    says(&t, "no 1:1\nyes 2:1\n", PV_E_FORMAT, ":2:1: no id");
    t.cfg.person_file = NULL;
    t.cfg.person = "1";
    says(&t, "no 1:1\nyes 2:1\n", PV_E_PARAM, "rows of this format have no such column; data.person_file");
    t.cfg.person = "3";
    says(&t, "1,2,no\n", PV_E_PARAM, "from 1 to 2, and the last one is the label");
    t.cfg.person = NULL;
    says(&t, "1,2,no\n", PV_E_PARAM, "are for rows that persons own");
    t.cfg.schema =
        "{\"columns\": [{\"name\": \"v\", \"type\": \"person\"}, {\"name\": \"w\", \"type\": \"person\"}]}";
    says(&t, good, PV_E_FORMAT, "a second person");
    dt_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_of_rows_gives_the_same_units),
        cmocka_unit_test(many_rows_are_put_in_order_by_buckets),
        cmocka_unit_test(the_key_decides_order_and_choice),
        cmocka_unit_test(rows_that_stay_are_a_uniform_draw),
        cmocka_unit_test(ids_may_come_from_anywhere),
        cmocka_unit_test(scoring_has_no_persons),
        cmocka_unit_test(cap_is_open),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
