/* test_reader_libsvm.c - LIBSVM rows: what is read, and every refusal with its line and column. */
#include "data/format/svm.h"
#include "datatest.h"

static dt t;

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    t.cfg.format = "libsvm";
    t.cfg.bias = 0;
    t.cfg.row_norm = 1e6;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dt_close(&t);
    return 0;
}

static void reads_rows(void **state)
{
    (void)state;
    pvi_matrix *m =
        dt_load(&t, "\xef\xbb\xbf# comment\n\n+1 1:0.5 3:-2e-1 # c 9:9\r\n  -1\t2:1\t\n0 4:0.0\n-1.0\n1 1:1e2#x\n");
    PVT_IS(m->domain.n, 5);
    PVT_IS(m->domain.p, 4);
    PVT_TRUE(m->features_measured && m->has_labels && m->x);
    static const float y[] = { 1, -1, -1, -1, 1 };
    static const float x[5][4] = { { 0.5f, 0, -0.2f, 0 }, { 0, 1, 0, 0 }, { 0 }, { 0 }, { 100, 0, 0, 0 } };
    for (int i = 0; i < 5; i++) {
        PVT_TRUE(m->y[i] == y[i]);
        for (int j = 0; j < 4; j++)
            PVT_CHECK(dt_at(m, i, j) == x[i][j], "row %d column %d: %g", i, j, (double)dt_at(m, i, j));
    }
    assert_string_equal(m->class_names[0], "-1");
    assert_string_equal(m->class_names[1], "+1");
    pvi_matrix_free(m);
}

static void bias_and_layouts(void **state)
{
    (void)state;
    static const char text[] = "1 2:3\n-1 1:4 3:0.25\n1\n";
    t.cfg.bias = 1;
    for (int64_t layout = 0; layout < 3; layout++)
        for (int declared = 0; declared < 2; declared++) {
            t.cfg.layout = layout;
            t.cfg.features = declared ? 5 : PV_AUTO_I64;
            pvi_matrix *m = dt_load(&t, text);
            const int64_t p = declared ? 6 : 4;
            PVT_IS(m->domain.p, p);
            PVT_IS(m->x != NULL, layout != PVI_LAYOUT_SPARSE);
            PVT_TRUE(dt_at(m, 0, 1) == 3 && dt_at(m, 1, 2) == 0.25f && dt_at(m, 0, p - 1) == 1 &&
                     dt_at(m, 2, p - 1) == 1);
            PVT_TRUE(dt_at(m, 1, p - 2) == (declared ? 0.0f : 0.25f));
            if (m->x) PVT_IS((uintptr_t)m->x % 64, 0);
            const pv_rows v = pvi_matrix_rows(m, 1, 2);
            PVT_IS(v.n, 2);
            PVT_TRUE(v.y[0] == -1 && v.norm[0] > 4 && (v.x ? v.x[0] == 4 : v.val[v.ptr[0]] == 4));
            pvi_matrix_free(m);
        }
}

/* Rows of 300 columns, from empty to full: norms bound every row and do not depend on the layout. */
static void norms_of_every_row(void **state)
{
    (void)state;
    enum { ROWS = 200, COLUMNS = 300 };
    static char text[ROWS * COLUMNS * 12];
    static float norm[ROWS];
    for (int step = 1; step < 400; step *= 7) { /* values a row: all, every seventh, ... */
        size_t at = 0;
        for (int i = 0; i < ROWS; i++) {
            at += (size_t)sprintf(text + at, "1");
            for (int j = 1 + i % step; j <= COLUMNS; j += step)
                at += (size_t)sprintf(text + at, " %d:%d", j, i + j % 5);
            at += (size_t)sprintf(text + at, "\n");
        }
        for (int k = 0; k < 2; k++) {
            t.cfg.layout = k ? PVI_LAYOUT_SPARSE : PVI_LAYOUT_DENSE;
            pvi_matrix *m = dt_load(&t, text);
            PVT_IS(m->x != NULL, k == 0);
            for (int i = 0; i < ROWS; i++) {
                double sum = 0;
                for (int j = 0; j < m->domain.p; j++) sum += (double)dt_at(m, i, j) * (double)dt_at(m, i, j);
                PVT_CHECK((double)m->norm[i] >= sqrt(sum) && (double)m->norm[i] <= sqrt(sum) * (1 + 0x1p-20),
                          "step %d row %d: norm %.9g of %.9g", step, i, (double)m->norm[i], sqrt(sum));
                PVT_CHECK(k == 0 || m->norm[i] == norm[i], "step %d row %d: layouts differ", step, i);
                norm[i] = m->norm[i];
            }
            pvi_matrix_free(m);
        }
    }
}

static void refusals(void **state)
{
    (void)state;
    char longnum[700] = "1 1:", want[128];
    memset(longnum + 4, '1', 600);
    strcpy(longnum + 604, "\n");
    snprintf(want, sizeof want, ":1:5: a number of 600 characters is too long");
    const struct {
        const char *text, *rest;
    } bad[] = {
        { "1 1:1\n-1 0:3\n", ":2:4: feature index 0: indices start at 1" },
        { "1 2:1 1:1\n", ":1:7: feature index 1 after 2: indices must ascend" },
        { "1 2:1 2:1\n", ":1:7: feature index 2 occurs twice in one row" },
        { "1 2147483648:1\n", ":1:3: feature index 2147483648 is above 2147483647" },
        { "1 99999999999999999999999999:1\n", ":1:3: feature index 999999999999999999999999 is above 2147483647" },
        { "\n\n1 1:nan\n", ":3:5: 'nan' is not a finite number" },
        { "1 1:-inf\n", ":1:5: '-inf' is not a finite number" },
        { "1 1:1e999\n", ":1:5: '1e999' is not a finite number" },
        { "1 1:1e39\n", ":1:5: 1e39 is too large for a 32-bit float" },
        { "1 1:1x\n", ":1:5: '1x' is not a number" },
        { "1 1:0x10\n", ":1:5: '0x10' is not a number" },
        { "1 1:\n", ":1:5: a value is missing after ':'" },
        { "1 1: 2:3\n", ":1:5: a value is missing after ':'" },
        { longnum, want },
        { "1 1\n", ":1:3: index:value is needed, found '1'" },
        { "1 1:1 abc\n", ":1:7: index:value is needed, found 'abc'" },
        { "1 a:1\n", ":1:3: 'a:1' is not index:value" },
        { "1 -1:1\n", ":1:3: '-1:1' is not index:value" },
        { "1 :1\n", ":1:3: ':1' is not index:value" },
        { "1 1:1:1\n", ":1:5: '1:1' is not a number" },
        { "1 qid:3 1:1\n", ":1:3: ranking data (qid) is not supported; remove the qid entries" },
        { "1 1:1\n1:1 2:1\n", ":2:1: the label is missing: a line starts with it, then index:value pairs" },
        { "1 1:1\n2 1:1\n", ":2:1: label '2' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes" },
        { "1,2 1:1\n", ":1:1: label '1,2' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes" },
        { "1 1:1\n  yes 1:1", ":2:3: label 'yes' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes" },
        { "1 1:1\n\x01\x02\xff garbage\n",
          ":2:1: label '?\?\?' is not -1, 0 or +1; declare the labels, as in data.labels=no,yes" },
        { "\n# only\n", ": no rows" },
        { "1\n-1\n", ": no feature in any row" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) dt_fails(&t, bad[i].text, PV_E_FORMAT, bad[i].rest);
    static const char nul[] = "1 1:1\n1 2:\0003\n";
    dt_fails_bytes(&t, nul, sizeof nul - 1, PV_E_FORMAT, ":2:5: '?3' is not a number");
    static const char behind[] = "1 1:1\0001\n";
    dt_fails_bytes(&t, behind, sizeof behind - 1, PV_E_FORMAT, ":1:5: '1?1' is not a number");
}

static void first_error_wins(void **state)
{
    (void)state;
    enum { LINES = 4000 };
    char *text = malloc(LINES * 16);
    for (int threads = 1; threads <= 4; threads += 3)
        for (int64_t chunk = 16; chunk <= 1 << 16; chunk *= 16) {
            PVT_OK(pvi_set_threads(t.ctx, threads));
            t.cfg.chunk = chunk;
            size_t n = 0;
            for (int i = 1; i <= LINES; i++)
                n += (size_t)sprintf(text + n, i >= 1234 && i % 7 == 2 ? "1 1:x\n" : "1 1:0.5 2:7\n");
            dt_fails_bytes(&t, text, n, PV_E_FORMAT, /* 1234 = 7 * 176 + 2 */
                           ":1234:5: 'x' is not a number; the first of 100 or more problems");
        }
    free(text);
}

static void declared_labels(void **state)
{
    (void)state;
    t.cfg.labels = "2|3,1";
    pvi_matrix *m = dt_load(&t, "1 1:1\n2.0 1:1\n3 1:1\n+1 1:1\n");
    PVT_TRUE(m->y[0] == 1 && m->y[1] == -1 && m->y[2] == -1 && m->y[3] == 1);
    assert_string_equal(m->class_names[0], "2");
    pvi_matrix_free(m);
    t.cfg.labels = "cat,dog,cow";
    m = dt_load(&t, "dog 1:1\ncow 1:1\ncat 1:1\n");
    PVT_IS(m->domain.classes, 3);
    PVT_TRUE(m->y[0] == 1 && m->y[1] == 2 && m->y[2] == 0);
    pvi_matrix_free(m);
    dt_fails(&t, "pig 1:1\n", PV_E_FORMAT, ":1:1: label 'pig' is none of: cat, dog, cow");
    t.cfg.labels = "a,a";
    dt_fails(&t, "a 1:1\n", PV_E_PARAM, "data.labels=a,a: a is listed twice");
    t.cfg.labels = "a";
    dt_fails(&t, "a 1:1\n", PV_E_PARAM, "data.labels=a: two or more classes are needed, as in data.labels=no,yes");
    t.cfg.labels = "a,,b";
    dt_fails(&t, "a 1:1\n", PV_E_PARAM, "data.labels=a,,b: a label is empty");
    t.cfg.labels = "a,b";
    t.expect.classes = 3;
    dt_fails(&t, "a 1:1\n", PV_E_PARAM, "the model tells 3 classes apart, but 2 are declared");
    t.cfg.labels = NULL;
    dt_fails(
        &t, "1 1:1\n", PV_E_PARAM,
        "3 classes need their labels declared: data.labels=a,b,c names them in order (never taken from the rows)");
}

static void real_labels(void **state)
{
    (void)state;
    t.expect = (pvi_expect) { .classes = 0, .y_lo = -1, .y_hi = 10 };
    pvi_matrix *m = dt_load(&t, "2.5 1:1\n-1 1:1\n1e1 1:1\n");
    PVT_TRUE(m->y[0] == 2.5f && m->y[1] == -1 && m->y[2] == 10 && m->domain.classes == 0 && m->domain.y_hi == 10);
    pvi_matrix_free(m);
    dt_fails(&t, "1 1:1\n11 1:1\n", PV_E_FORMAT,
             ":2:1: label '11' is outside the declared -1 .. 10; data.outside=clamp would clamp it");
    dt_fails(&t, "nan 1:1\n", PV_E_FORMAT, ":1:1: label 'nan' is not a finite number");
    t.cfg.outside = PVI_OUTSIDE_CLAMP;
    m = dt_load(&t, "11 1:1\n-7 1:1\n");
    PVT_TRUE(m->y[0] == 10 && m->y[1] == -1);
    pvi_matrix_free(m);
    t.expect.y_hi = -1;
    static const char wanted[] =
        "the model predicts a number, which needs declared bounds, the lower below the upper: "
        "data.y_min=A data.y_max=B, or a schema";
    dt_fails(&t, "1 1:1\n", PV_E_PARAM, wanted);
    t.cfg.y_min = -3; /* settings win over what the model expects */
    dt_fails(&t, "1 1:1\n", PV_E_PARAM, wanted);
    t.cfg.y_max = 4;
    m = dt_load(&t, "5 1:1\n-7 1:1\n");
    PVT_TRUE(m->y[0] == 4 && m->y[1] == -3 && m->domain.y_lo == -3 && m->domain.y_hi == 4);
    pvi_matrix_free(m);
}

static void declared_sizes(void **state)
{
    (void)state;
    t.cfg.features = 3;
    dt_fails(&t, "1 1:1\n1 2:1 4:1\n", PV_E_FORMAT,
             ":2:7: feature index 4 is above data.features=3; data.outside=missing drops it");
    t.cfg.outside = PVI_OUTSIDE_MISSING;
    pvi_matrix *m = dt_load(&t, "1 1:1 4:1\n-1 2:1 4:1 5:7\n");
    PVT_IS(m->domain.p, 3);
    PVT_TRUE(!m->features_measured && m->norm[0] >= 1 && m->norm[0] < 1.0001);
    pvi_matrix_free(m);
    t.cfg.outside = PVI_OUTSIDE_ERROR;
    t.cfg.features = PV_AUTO_I64;
    t.expect.features = 3;
    dt_fails(&t, "1 4:1\n", PV_E_FORMAT,
             ":1:3: feature index 4, but the model has 3 features; data.outside=missing drops it");
    t.cfg.features = 4;
    dt_fails(&t, "1 4:1\n", PV_E_PARAM, "data.features=4, but the model has 3");
    t.expect.features = 0;
    t.cfg.rows = 2;
    dt_fails(&t, "1 1:1\n", PV_E_FORMAT, ": fewer rows than the declared data.rows=2");
    dt_fails(&t, "1 1:1\n1 1:1\n1 1:1\n", PV_E_FORMAT, ": more rows than the declared data.rows=2");
}

static void scoring_without_labels(void **state)
{
    (void)state;
    t.expect.labels_optional = true;
    t.expect.classes = 2;
    pvi_matrix *m = dt_load(&t, "\n1:1 2:3\n2:1\n");
    PVT_TRUE(!m->has_labels && m->domain.n == 2 && dt_at(m, 0, 1) == 3);
    pvi_matrix_free(m);
    m = dt_load(&t, "1 1:1\n-1 2:1\n");
    PVT_TRUE(m->has_labels && m->y[1] == -1);
    pvi_matrix_free(m);
}

static void refused_settings(void **state)
{
    (void)state;
    t.cfg.center = 0.5;
    dt_fails(&t, "1 1:1\n", PV_E_PARAM,
             "data.center is for tables: LIBSVM rows leave zeros out, and must stay sparse");
    t.cfg.center = 0;
    t.cfg.format = "arff";
    dt_fails(&t, "1 1:1\n", PV_E_PARAM, "data.format=arff: one of auto, cifar, csv, idx, libsvm, npy is needed");
    t.cfg.path = NULL;
    dt_fails(&t, "", PV_E_PARAM, "data.path is not set: which file holds the rows?");
    t.cfg.path = t.path;
}

/* Random rows; wide > 1024 makes them sparse, late: only in the last rows. */
static char *random_text(uint64_t seed, int rows, bool late)
{
    char *text = malloc((size_t)rows * 400 + 100), *p = text;
    for (int i = 0; i < rows; i++) {
        p += sprintf(p, "%s", pvt_u64(&seed) & 1 ? "+1" : "-1");
        int64_t at = 0;
        const int64_t step = late && i > rows - 5 ? 400 : 3;
        for (int k = 0; k < 10; k++) {
            at += 1 + (int64_t)(pvt_u64(&seed) % (uint64_t)step);
            p += sprintf(p, " %lld:%.*g", (long long)at, (int)(pvt_u64(&seed) % 17) + 1, pvt_normal(&seed));
        }
        p += sprintf(p, "\n");
    }
    return text;
}

static void threads_and_chunks_change_nothing(void **state)
{
    (void)state;
    t.cfg.bias = 1;
    t.cfg.row_norm = 1;
    for (int late = 0; late < 2; late++) {
        char *text = random_text(5, 3000, late);
        pvi_matrix *want = dt_load(&t, text);
        PVT_IS(want->x == NULL, late);
        for (int threads = 1; threads <= 3; threads += 2)
            for (int64_t chunk = 16; chunk < 1 << 20; chunk *= 9) {
                PVT_OK(pvi_set_threads(t.ctx, threads));
                t.cfg.chunk = chunk;
                pvi_matrix *m = dt_load(&t, NULL);
                dt_same(m, want);
                pvi_matrix_free(m);
            }
        pvi_matrix_free(want);
        free(text);
    }
}

/* Every stored value is the double strtod reads, scaled by the row's factor: recomputed from the text. */
static void values_are_those_of_the_text(void **state)
{
    (void)state;
    char *text = random_text(6, 500, false);
    pvi_matrix *m = dt_load(&t, text);
    char *line = text;
    for (int64_t r = 0; r < m->domain.n; r++) {
        char *end = strchr(line, '\n');
        *end = '\0';
        for (char *tok = strchr(line, ' '); tok; tok = strchr(tok + 1, ' ')) {
            const long j = strtol(tok + 1, &tok, 10);
            const float want = (float)strtod(tok + 1, NULL);
            PVT_CHECK(dt_at(m, r, j - 1) == want, "row %lld index %ld: %.9g, want %.9g", (long long)r, j,
                      (double)dt_at(m, r, j - 1), (double)want);
        }
        line = end + 1;
    }
    pvi_matrix_free(m);
    free(text);
}

/* One number in every shape a file may hold: few and many digits, on either side of the point, signs, exponents. */
static void random_number(uint64_t *s, char *out)
{
    const uint64_t u = pvt_u64(s), v = pvt_u64(s);
    const int before = (int)(u % 11), after = (int)((u >> 8) % 20), shape = (int)((u >> 16) % 8);
    char *p = out;
    if (shape == 1) *p++ = '+';
    if ((u >> 24) % 2) *p++ = '-', p -= shape == 1; /* not both signs */
    for (int i = 0; i < before; i++) *p++ = (char)('0' + (v >> i) % 10);
    if (after > 0 || before == 0) *p++ = '.';
    for (int i = 0; i < after || (i == 0 && before == 0); i++) *p++ = (char)('0' + (v >> (3 * i)) % 10);
    if (shape == 2) p += sprintf(p, "e%d", (int)((u >> 32) % 20) - 10);
    *p = '\0';
}

/* Each kernel gives what strtod gives, for lines of random numbers and indices. */
static void kernels_agree(void **state)
{
    (void)state;
    enum { LINES = 3000, TOKENS = 12, ROOM = LINES * TOKENS };
    static char text[128 + ROOM * 48 + 128];
    static float want[ROOM], val[ROOM + 1], y[LINES];
    static int32_t want_idx[ROOM], idx[ROOM + 1];
    static uint32_t end[LINES];
    const pvi_svm st = { .limit = INT32_MAX };
    uint64_t s = 12;
    size_t n = 0;
    char *p = text + 64;
    for (int i = 0; i < LINES; i++) {
        int64_t index = 0;
        for (int j = 0; j < TOKENS; j++) {
            char number[64];
            random_number(&s, number);
            index += 1 + (int64_t)(pvt_u64(&s) % (pvt_u64(&s) % 8 ? 20 : 30000000));
            p += sprintf(p, "%s%lld:%s", j == 0 ? "" : pvt_u64(&s) % 9 ? " " : " \t ", (long long)index, number);
            const float v = (float)strtod(number, NULL);
            if (v != 0.0f) {
                want[n] = v;
                want_idx[n++] = (int32_t)index - 1;
            }
        }
        p += sprintf(p, i % 5 ? "\n" : " # x\r\n");
    }
    for (int isa = 0; isa <= (int)pvi_isa(); isa++) {
        pvi_chunk c = { .begin = text + 64, .end = p, .stop = text + 64, .last = true };
        c.seg.end = end;
        c.seg.y = y;
        c.seg.idx = idx;
        c.seg.val = val;
        pvi_svm_parse_isa[isa](&st, &c);
        PVT_CHECK(c.bad == NULL, "%s: %.30s", c.why, c.bad);
        PVT_IS(c.seg.rows, LINES);
        PVT_IS(c.lines, LINES);
        PVT_IS(end[LINES - 1], n);
        for (size_t i = 0; i < n; i++)
            PVT_CHECK(val[i] == want[i] && idx[i] == want_idx[i], "kernel %d entry %zu: %d:%.9g, want %d:%.9g", isa,
                      i, idx[i], (double)val[i], want_idx[i], (double)want[i]);
    }
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
int main(void)
{
    const struct CMUnitTest all[] = {
        T(reads_rows),
        T(bias_and_layouts),
        T(norms_of_every_row),
        T(refusals),
        T(first_error_wins),
        T(declared_labels),
        T(real_labels),
        T(declared_sizes),
        T(scoring_without_labels),
        T(refused_settings),
        T(threads_and_chunks_change_nothing),
        T(values_are_those_of_the_text),
        T(kernels_agree),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
