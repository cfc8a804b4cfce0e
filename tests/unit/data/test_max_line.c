/* test_max_line.c - data.max_line is exact: a line of so many bytes is read, one byte more is refused, wherever it
 * stands in the file, whatever it holds, and however many threads cut the text into whatever chunks. */
#include "datatest.h"

enum { LIMIT = 100, ROWS = 400 };
static dt t;

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    t.cfg.max_line = LIMIT;
    t.cfg.row_norm = 1e6;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    dt_close(&t);
    return 0;
}

/* The same outcome for every way to cut: rows read (want NULL), or this message. */
static void same_everywhere(const char *text, int64_t rows, const char *want)
{
    static const int threads[] = { 1, 2, 8 };
    static const int64_t chunks[] = { 16, 300, 1 << 18 };
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            PVT_OK(pvi_set_threads(t.ctx, threads[i]));
            t.cfg.chunk = chunks[k];
            if (want) {
                dt_fails(&t, text, PV_E_FORMAT, want);
            } else {
                pvi_matrix *m = dt_load(&t, text);
                PVT_IS(m->domain.n, rows);
                pvi_matrix_free(m);
            }
        }
}

/* `before` rows like `row`, then the line, then as many rows again unless the file is to end there. */
static char *file_with(const char *head, const char *row, int before, const char *line, bool more)
{
    char *text = malloc(strlen(head) + 2 * ROWS * strlen(row) + strlen(line) + 2), *p = text;
    p += sprintf(p, "%s", head);
    for (int i = 0; i < before; i++) p += sprintf(p, "%s", row);
    p += sprintf(p, "%s", line);
    if (more) *p++ = '\n';
    for (int i = 0; more && i < before; i++) p += sprintf(p, "%s", row);
    *p = '\0';
    return text;
}

/* start + filler + end, n bytes in all. */
static char *line_of(const char *start, char filler, const char *end, int n)
{
    static char line[2 * LIMIT];
    const size_t a = strlen(start), b = strlen(end);
    memset(line, filler, (size_t)n);
    memcpy(line, start, a);
    memcpy(line + (size_t)n - b, end, b + 1);
    return line;
}

static void expect(const char *head, const char *row, const char *line, int64_t line_rows, int lines_of_head,
                   bool fits)
{
    static const int places[] = { 0, 3, ROWS };
    for (size_t i = 0; i < 3; i++)
        for (int more = 0; more < 2; more++) {
            char *text = file_with(head, row, places[i], line, more), want[160];
            const int64_t rows = places[i] * (1 + more) + line_rows;
            snprintf(want, sizeof want, ":%d:1: a line of more than data.max_line=%d bytes; is a quote left open?",
                     lines_of_head + places[i] + 1, (int)LIMIT);
            if (!fits || rows > 0) same_everywhere(text, rows, fits ? NULL : want);
            free(text);
        }
}

static void libsvm(void **state)
{
    (void)state;
    t.cfg.format = "libsvm";
    for (int over = 0; over < 2; over++) {
        expect("", "+1 1:0.5 2:0.25\n", line_of("-1 1:0.", '3', " 2:1", LIMIT + over), 1, 0, !over);
        expect("", "+1 1:0.5 2:0.25\n", line_of("-1 1:0.5", ' ', " 2:1", LIMIT + over), 1, 0, !over);
        expect("", "+1 1:0.5 2:0.25\n", line_of("#", 'x', "x", LIMIT + over), 0, 0, !over);
        expect("", "+1 1:0.5 2:0.25\n", line_of(" ", ' ', " ", LIMIT + over), 0, 0, !over);
    }
    /* what else is wrong with such a line comes second */
    expect("", "+1 1:0.5\n", line_of("7 1:", '3', " 2:1", LIMIT + 1), 1, 0, false);
    expect("", "+1 1:0.5\n", line_of("-1 1:x", ' ', " 2:1", LIMIT + 1), 1, 0, false);
    /* a byte order mark is not part of the line */
    char text[3 * LIMIT];
    snprintf(text, sizeof text, "\xef\xbb\xbf%s\n", line_of("-1 1:0.5", ' ', " 2:1", LIMIT));
    same_everywhere(text, 1, NULL);
}

static const char schema[] = "{\"header\": true, \"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, "
                             "\"max\": 1}, {\"name\": \"b\", \"type\": \"ignore\"},"
                             "{\"name\": \"y\", \"type\": \"label\", \"values\": [0, 1]}]}";

static void table(void **state)
{
    (void)state;
    t.cfg.schema = t.schema;
    dt_write(t.schema, schema, sizeof schema - 1);
    for (int over = 0; over < 2; over++) {
        expect("a,b,y\n", "0.5,x,1\n", line_of("0.25,", 'x', ",0", LIMIT + over), 1, 1, !over);
        expect("a,b,y\n", "0.5,x,1\n", line_of("0.25,\"", '\n', "\",0", LIMIT + over), 1, 1, !over);
        expect("a,b,y\n", "0.5,x,1\n", line_of("0.25,\"\n,\"\"", 'x', "\n\",0\r", LIMIT + over), 1, 1, !over);
        expect("a,b,y\n", "0.5,x,1\n", line_of(" ", ' ', " ", LIMIT + over), 0, 1, !over);
        char head[3 * LIMIT];
        snprintf(head, sizeof head, "%s\n", line_of("a,b,", ' ', "y", LIMIT + over));
        char *text = file_with(head, "0.5,x,1\n", ROWS, "1,x,0", true);
        same_everywhere(text, 2 * ROWS + 1,
                        over ? ":1:1: a line of more than data.max_line=100 bytes; is a quote left open?" : NULL);
        free(text);
    }
    expect("a,b,y\n", "0.5,x,1\n", line_of("2,", 'x', ",0", LIMIT + 1), 1, 1, false);
    expect("a,b,y\n", "0.5,x,1\n", line_of("0.5,\"", '\n', "\"x,0", LIMIT + 1), 1, 1, false);
}

/* Many short lines with quoted line ends: what is left of a round is more than one record. */
static void quoted_line_ends(void **state)
{
    (void)state;
    t.cfg.schema = t.schema;
    dt_write(t.schema, schema, sizeof schema - 1);
    char *text = file_with("a,b,y\n", "0.5,\"\n\n,\n\",1\n", ROWS, "1,\"\n\",0", true);
    same_everywhere(text, 2 * ROWS + 1, NULL);
    free(text);
    /* a quote that is never closed: refused for that while the rest is short, for its length afterwards */
    text = file_with("a,b,y\n", "0.5,x,1\n", 5, "1,\"x,0\n0.5,x,1\n", false);
    same_everywhere(text, 0, ":7:3: a quoted field is never closed");
    free(text);
    text = file_with("a,b,y\n", "0.5,x,1\n", ROWS, "1,\"x,0", true);
    same_everywhere(text, 0, ":402:1: a line of more than data.max_line=100 bytes; is a quote left open?");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(libsvm, setup, teardown),
        cmocka_unit_test_setup_teardown(table, setup, teardown),
        cmocka_unit_test_setup_teardown(quoted_line_ends, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
