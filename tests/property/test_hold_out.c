/* test_hold_out.c - run.holdout_share: every unit is in one part or in the other, whole, and which is drawn anew. */
#include "pvtest.h"
#include "run/run.h"

#include <unistd.h>

enum { ROWS = 1000, PERSONS = 250 };
static char path[] = "/tmp/privet_hold_out_XXXXXX";

/* Row i has the value i/2000 in column 1 and belongs to person i/4. */
static void write_rows(void)
{
    FILE *f = fopen(path, "w");
    PVT_TRUE(f != NULL);
    fputs("x,id,y\n", f);
    for (int i = 0; i < ROWS; i++) fprintf(f, "%.4f,%d,%s\n", i / 2000.0, i / 4, i % 2 ? "yes" : "no");
    fclose(f);
}

static double value_of(const pvi_matrix *m, int64_t r)
{
    return m->x ? (double)m->x[r * m->ld] : m->ptr[r + 1] > m->ptr[r] ? (double)m->val[m->ptr[r]] : 0.0;
}

/* Marks the rows of a part; how many units it has. */
static int64_t mark(const pvi_matrix *m, int part, int seen[ROWS])
{
    const int64_t from = m->start ? m->start[0] : 0, to = m->start ? m->start[m->domain.n] : m->domain.n;
    for (int64_t r = from; r < to; r++) {
        const int64_t i = llrint(value_of(m, r) * 2000.0);
        PVT_TRUE(i >= 0 && i < ROWS && seen[i] == 0);
        PVT_TRUE((m->y[r] > 0.0f) == (i % 2 == 1));
        seen[i] = part;
    }
    return m->domain.n;
}

static void check(pv_ctx *ctx, bool persons, const char *layout, int seen[ROWS])
{
    static const char by_person[] =
        "{\"header\": true, \"columns\": [{\"name\": \"x\", \"type\": \"number\", \"min\": 0,"
        " \"max\": 1}, {\"name\": \"id\", \"type\": \"person\", \"rows\": 4}, {\"name\": "
        "\"y\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}";
    static const char by_row[] =
        "{\"header\": true, \"columns\": [{\"name\": \"x\", \"type\": \"number\", \"min\": 0, "
        "\"max\": 1}, {\"name\": \"id\", \"type\": \"ignore\"}, {\"name\": \"y\", \"type\": "
        "\"label\", \"values\": [\"no\", \"yes\"]}]}";
    pvi_matrix *m, train, held;
    pv_plan *p;
    memset(seen, 0, sizeof *seen * ROWS);
    PVT_OK(pv_plan_create(ctx, &p));
    PVT_OK(pv_plan_set(p, "data.path", path));
    PVT_OK(pv_plan_set(p, "data.schema", persons ? by_person : by_row));
    PVT_OK(pv_plan_set(p, "data.curves", "off"));
    PVT_OK(pv_plan_set(p, "data.bias", "0"));
    PVT_OK(pv_plan_set(p, "data.layout", layout));
    PVT_OK(pv_plan_set(p, "run.holdout_share", "0.2"));
    PVT_OK(pvi_plan_data(p, NULL, &m));
    PVT_OK(pvi_hold_out(p, m, &train, &held));
    const int64_t n = persons ? PERSONS : ROWS;
    PVT_IS(mark(&train, 1, seen), n - n / 5);
    PVT_IS(mark(&held, 2, seen), n / 5);
    for (int i = 0; i < ROWS; i++) PVT_TRUE(seen[i] != 0 && (!persons || seen[i] == seen[i / 4 * 4]));
    pvi_matrix_free(m);
    pv_plan_free(p);
}

static void parts(void **state)
{
    (void)state;
    pv_ctx *ctx;
    int a[ROWS], b[ROWS];
    PVT_OK(pv_ctx_create(NULL, &ctx));
    const int fd = mkstemp(path);
    PVT_TRUE(fd >= 0);
    close(fd);
    write_rows();
    for (int persons = 0; persons < 2; persons++)
        for (int sparse = 0; sparse < 2; sparse++) {
            int64_t both = 0, tail = 0;
            check(ctx, persons, sparse ? "sparse" : "dense", a);
            check(ctx, persons, sparse ? "sparse" : "dense", b);
            for (int i = 0; i < ROWS; i++) both += a[i] == 2 && b[i] == 2, tail += a[i] == 2 && i >= 800;
            PVT_CHECK(both < 120, "%lld held out twice, about 40 expected", (long long)both);
            PVT_CHECK(tail < 120, "%lld of the last 200, about 40 expected", (long long)tail);
        }
    unlink(path);
    pv_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(parts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
