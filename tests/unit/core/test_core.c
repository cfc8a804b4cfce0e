/* test_core.c - context, arena, text, JSON, parameters, numbers, threads, files.
 * label: tsan */
#include "core/core.h"

#include "ctxtest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* PV_OK leaves no message, whatever was tried; every failure has one. */
static void a_call_ends_with_its_own_message(void **state)
{
    (void)state;
    pvi_fail(ctx, PV_E_UNSUPPORTED, "this one does not do it, the next one may");
    PVT_OK(pvi_done(ctx, PV_OK));
    assert_string_equal(pv_ctx_errmsg(ctx), "");
    PVT_IS(pvi_done(ctx, PV_E_NUMERIC), PV_E_NUMERIC);
    assert_string_equal(pv_ctx_errmsg(ctx), pv_status_name(PV_E_NUMERIC));
}

static pv_status parse(const char *text, pv_arena *a, pvi_json **v)
{
    return pvi_json_parse(ctx, a, "t", text, strlen(text), v);
}

static void json_round_trip(void **state)
{
    (void)state;
    pv_arena *a = pvi_arena_create(ctx);
    pvi_json *v;
    PVT_OK(parse("{\"a\": [1, -2.5e3, true, null, \"x\\n\\u00e9\\ud83d\\ude00\"], \"b\": {}}", a, &v));
    const pvi_json *list = pvi_json_get(v, "a");
    PVT_IS(list->count, 5);
    PVT_NEAR(list->child->next->num, -2500.0, 0);
    int64_t one;
    PVT_TRUE(pvi_json_i64(list->child, &one) && one == 1);
    PVT_TRUE(!pvi_json_i64(list->child->next, &one));
    const pvi_json *s = list->child->next->next->next->next;
    assert_string_equal(s->text, "x\n\xc3\xa9\xf0\x9f\x98\x80");

    pvi_str out = { .ctx = ctx };
    pvi_jw w = { .out = &out };
    pvi_jw_open(&w, NULL, '{');
    pvi_jw_str(&w, "s", s->text);
    pvi_jw_f64(&w, "f", 0.1);
    pvi_jw_f64(&w, "inf", INFINITY);
    pvi_jw_open(&w, "l", '[');
    pvi_jw_i64(&w, NULL, INT64_MIN);
    pvi_jw_bool(&w, NULL, false);
    pvi_jw_close(&w, ']');
    pvi_jw_close(&w, '}');
    assert_string_equal(
        out.s,
        "{\"s\":\"x\\u000a\xc3\xa9\xf0\x9f\x98\x80\",\"f\":0.1,\"inf\":\"inf\",\"l\":[-9223372036854775808,false]}");
    PVT_OK(parse(out.s, a, &v));
    pvi_str_free(&out);
    pvi_arena_free(a);
}

static void json_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",    "{",           "[1,]",        "{\"a\":1,\"a\":2}", "{a:1}", "[01]",  "[1.]",    "[1e]",   "[+1]",
        "nul", "\"\\u0000\"", "\"\\ud800\"", "\"\\q\"",           "\"a",   "[1] x", "[1e999]", "\"\t\"", "[\"\\"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pv_arena *a = pvi_arena_create(ctx);
        pvi_json *v;
        PVT_CHECK(parse(bad[i], a, &v) == PV_E_FORMAT, "accepted: %s", bad[i]);
        PVT_TRUE(v == NULL);
        pvi_arena_free(a);
    }
    char deep[200];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    pv_arena *a = pvi_arena_create(ctx);
    pvi_json *v;
    PVT_IS(parse(deep, a, &v), PV_E_FORMAT);
    PVT_TRUE(strstr(pv_ctx_errmsg(ctx), "nested too deeply"));
    char *wide = malloc(16384);
    for (int n = 1000; n <= 1001; n++) { /* {"k0":0,...} with n keys */
        size_t len = 0;
        for (int k = 0; k < n; k++) len += (size_t)sprintf(wide + len, "%c\"k%d\":0", k ? ',' : '{', k);
        strcpy(wide + len, "}");
        PVT_IS(parse(wide, a, &v), n == 1000 ? PV_OK : PV_E_FORMAT);
    }
    free(wide);
    PVT_IS(parse("{\n  \"a\": x}", a, &v), PV_E_FORMAT);
    PVT_CHECK(strncmp(pv_ctx_errmsg(ctx), "t:2:8:", 6) == 0, "%s", pv_ctx_errmsg(ctx));
    pvi_arena_free(a);
}

static void numbers_round_trip(void **state)
{
    (void)state;
    uint64_t seed = 1;
    char text[32];
    for (int i = 0; i < 20000; i++) {
        union {
            uint64_t u;
            double d;
        } x = { .u = pvt_u64(&seed) };
        double back;
        if (!isfinite(x.d)) continue;
        pvi_f64_text(x.d, text);
        PVT_TRUE(pvi_parse_f64(text, strlen(text), &back));
        PVT_CHECK(back == x.d, "%s", text);
    }
    double d;
    int64_t k;
    PVT_TRUE(!pvi_parse_f64("0x10", 4, &d) && !pvi_parse_f64(" 1", 2, &d) && !pvi_parse_f64("1 ", 2, &d));
    PVT_TRUE(!pvi_parse_i64("9223372036854775808", 19, &k) && !pvi_parse_i64("-", 1, &k) &&
             !pvi_parse_i64("1.0", 3, &k));
}

typedef struct cfg {
    double eta;
    int64_t steps, mode;
    bool on;
    const char *path;
    pv_numbers sigma, norms;
} cfg;
static const pv_param rows[] = { { "eta", PV_F64, offsetof(cfg, eta), 0.5, 0, 10, false, "step", NULL },
                                 { "steps", PV_I64, offsetof(cfg, steps), PV_AUTO, 1, 1e9, true, "T", NULL },
                                 { "mode", PV_ENUM, offsetof(cfg, mode), 1, 0, 0, false, "which", "last|average" },
                                 { "on", PV_BOOL, offsetof(cfg, on), 1, 0, 1, false, "switch", NULL },
                                 { "path", PV_STR, offsetof(cfg, path), 0, 0, 0, false, "file", NULL },
                                 { "sigma", PV_LIST, offsetof(cfg, sigma), 2, 0, 9, false, "of layers", NULL },
                                 { "norms", PV_LIST, offsetof(cfg, norms), PV_AUTO, 1, 9, true, "C", "equal" },
                                 { 0 } };

static void parameters(void **state)
{
    (void)state;
    pv_arena *a = pvi_arena_create(ctx);
    cfg c = { 0 };
    pvi_param_defaults(rows, &c);
    PVT_TRUE(c.eta == 0.5 && c.steps == PV_AUTO_I64 && c.mode == 1 && c.on && !c.path);
    PVT_OK(pvi_param_set(ctx, a, "o.", rows, &c, "steps", "1e3"));
    PVT_IS(c.steps, 1000);
    PVT_OK(pvi_param_set(ctx, a, "o.", rows, &c, "steps", "auto"));
    PVT_IS(c.steps, PV_AUTO_I64);
    static const char *const bad[][2] = { { "steps", "0" },  { "steps", "1.5" }, { "steps", "9e18" },
                                          { "eta", "nan" },  { "eta", "-1" },    { "eta", "auto" },
                                          { "eta", "1x" },   { "mode", "best" }, { "mode", "last|average" },
                                          { "on", "maybe" }, { "nope", "1" },    { "eta", "" } };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        PVT_CHECK(pvi_param_set(ctx, a, "o.", rows, &c, bad[i][0], bad[i][1]) == PV_E_PARAM, "%s=%s", bad[i][0],
                  bad[i][1]);
    PVT_OK(pvi_param_set(ctx, a, "o.", rows, &c, "mode", "last"));
    PVT_IS(c.mode, 0);
    PVT_OK(pvi_param_set(ctx, a, "o.", rows, &c, "path", "a b"));
    assert_string_equal(c.path, "a b");
    static const char *const words[] = { "optimizer.steps", "optimizer.eta", "budget.epsilon" };
    assert_string_equal(pvi_nearest("optimizer.stpes", words, 3), "optimizer.steps");
    PVT_TRUE(pvi_nearest("zzz", words, 3) == NULL);
    pvi_arena_free(a);
}

static void is_written(const cfg *c, const char *key, const char *json)
{
    pvi_str b = { .ctx = ctx };
    pvi_jw w = { .out = &b };
    pvi_jw_open(&w, NULL, '{');
    pvi_param_json(pvi_param_find(rows, key), c, &w, key);
    pvi_jw_close(&w, '}');
    assert_string_equal(b.s, json);
    pvi_str_free(&b);
}

/* One number is written as one number, so that what had no list before reads as it did. */
static void lists(void **state)
{
    (void)state;
    pv_arena *a = pvi_arena_create(ctx);
    cfg c = { 0 };
    char many[200] = "1";
    pvi_param_defaults(rows, &c);
    PVT_TRUE(c.sigma.n == 1 && c.sigma.v[0] == 2 && c.norms.n == 0);
    is_written(&c, "sigma", "{\"sigma\":2}");
    is_written(&c, "norms", "{\"norms\":\"equal\"}");
    PVT_OK(pvi_param_set(ctx, a, "o.", rows, &c, "sigma", "0,9/0.25"));
    PVT_TRUE(c.sigma.n == 3 && c.sigma.v[0] == 0 && c.sigma.v[1] == 9 && c.sigma.v[2] == 0.25);
    is_written(&c, "sigma", "{\"sigma\":\"0,9,0.25\"}");
    PVT_OK(pvi_param_set(ctx, a, "o.", rows, &c, "norms", "3"));
    is_written(&c, "norms", "{\"norms\":3}");
    PVT_OK(pvi_param_set(ctx, a, "o.", rows, &c, "norms", "equal"));
    PVT_IS(c.norms.n, 0);
    for (int i = 1; i < PV_LIST_MOST; i++) strcat(many, ",1");
    PVT_OK(pvi_param_set(ctx, a, "o.", rows, &c, "sigma", many));
    PVT_IS(c.sigma.n, PV_LIST_MOST);
    strcat(many, ",1");
    const char *const bad[] = { many, "", ",", "1,", ",1", "1,,2", "1,10", "1,-1", "nan", "1,x", "equal", "auto" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        PVT_CHECK(pvi_param_set(ctx, a, "o.", rows, &c, "sigma", bad[i]) == PV_E_PARAM, "sigma=%s", bad[i]);
    PVT_IS(c.sigma.n, PV_LIST_MOST); /* what is refused changes nothing */
    pvi_arena_free(a);
}

static void add_task(void *arg, int64_t task, int thread)
{
    (void)thread;
    __atomic_fetch_add(&((int64_t *)arg)[task], task + 1, __ATOMIC_RELAXED);
}

static void every_task_once(void **state)
{
    (void)state;
    static int64_t hit[5000];
    for (int threads = 1; threads <= 4; threads++) {
        PVT_OK(pvi_set_threads(ctx, threads));
        for (int round = 0; round < 50; round++) {
            memset(hit, 0, sizeof hit);
            const int64_t n = round * 100;
            pvi_parallel(ctx, n, add_task, hit);
            for (int64_t i = 0; i < 5000; i++) PVT_IS(hit[i], i < n ? i + 1 : 0);
        }
    }
    PVT_IS(pvi_set_threads(ctx, -1), PV_E_PARAM);
}

static void arena_pieces_are_aligned_and_zero(void **state)
{
    (void)state;
    pv_arena *a = pvi_arena_create(ctx);
    for (size_t size = 0; size < 300000; size = size * 3 + 7) {
        unsigned char *p = pv_arena_get(a, size);
        PVT_TRUE(p && (uintptr_t)p % 64 == 0);
        for (size_t i = 0; i < size; i++) PVT_IS(p[i], 0);
        memset(p, 0xff, size);
    }
    PVT_TRUE(pv_arena_f64(a, -1) == NULL && pv_arena_f64(a, INT64_MAX) == NULL);
    pvi_arena_free(a);
}

static void files_are_atomic(void **state)
{
    (void)state;
    char dir[] = "/tmp/privet-test-XXXXXX", path[128], *text;
    size_t n;
    PVT_TRUE(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/a", dir);
    PVT_OK(pvi_file_write(ctx, path, "old", 3));
    pvi_atomic w;
    PVT_OK(pvi_atomic_open(ctx, path, &w));
    pvi_atomic_put(&w, "half", 4);
    pvi_atomic_abandon(&w);
    PVT_OK(pvi_file_read(ctx, path, 100, &text, &n));
    PVT_IS(n, 3);
    assert_string_equal(text, "old");
    pvi_free(ctx, text);
    PVT_IS(pvi_file_read(ctx, path, 2, &text, &n), PV_E_FORMAT);
    PVT_IS(pvi_file_read(ctx, dir, 100, &text, &n), PV_E_IO);
    PVT_IS(pvi_file_write(ctx, dir, "x", 1), PV_E_IO);
    PVT_IS(pvi_file_write(ctx, "/nonexistent/x", "x", 1), PV_E_IO);
    PVT_OK(pvi_atomic_open(ctx, path, &w));
    pv_cleanup(ctx); /* what a signal handler does */
    PVT_IS(pvi_atomic_commit(&w), PV_E_IO);
    unlink(path);
    PVT_IS(rmdir(dir), 0); /* nothing else was left behind */
}

/* A pipe (or /dev/null) is written to, not replaced by a file; a link keeps pointing. */
static void special_files_stay(void **state)
{
    (void)state;
    char dir[] = "/tmp/privet-test-XXXXXX", path[128], fifo[128], link_path[128], got[8] = "", *text;
    struct stat st;
    size_t n;
    PVT_TRUE(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/a", dir);
    snprintf(fifo, sizeof fifo, "%s/pipe", dir);
    snprintf(link_path, sizeof link_path, "%s/link", dir);
    PVT_IS(mkfifo(fifo, 0600), 0);
    const int fd = open(fifo, O_RDWR | O_NONBLOCK);
    PVT_TRUE(fd >= 0);
    PVT_OK(pv_file_write(ctx, fifo, "hello", 5));
    PVT_IS(read(fd, got, sizeof got), 5);
    assert_string_equal(got, "hello");
    close(fd);
    PVT_IS(stat(fifo, &st), 0);
    PVT_TRUE(S_ISFIFO(st.st_mode));

    PVT_OK(pv_file_write(ctx, path, "old", 3));
    PVT_IS(symlink(path, link_path), 0);
    PVT_OK(pv_file_write(ctx, link_path, "new", 3));
    PVT_IS(lstat(link_path, &st), 0);
    PVT_TRUE(S_ISLNK(st.st_mode));
    PVT_OK(pvi_file_read(ctx, path, 100, &text, &n));
    assert_string_equal(text, "new");
    pvi_free(ctx, text);
    PVT_IS(pv_file_write(ctx, NULL, "x", 1), PV_E_ARG);
    unlink(link_path);
    unlink(fifo);
    unlink(path);
    PVT_IS(rmdir(dir), 0);
}

/* Text of a hostile file in a message: no control characters, no broken UTF-8; letters stay letters. */
static void messages_are_printable(void **state)
{
    (void)state;
    PVT_IS(pvi_fail(ctx, PV_E_FORMAT,
                    "a\x1b[2Jb\x7f \xff\xc2\x9b\xc0\x80 \xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82 \xe2\x82"),
           PV_E_FORMAT);
    assert_string_equal(pv_ctx_errmsg(ctx), "a?[2Jb? ????? \xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82 ??");
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(a_call_ends_with_its_own_message, setup, teardown),
        cmocka_unit_test_setup_teardown(json_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(json_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_round_trip, setup, teardown),
        cmocka_unit_test_setup_teardown(parameters, setup, teardown),
        cmocka_unit_test_setup_teardown(lists, setup, teardown),
        cmocka_unit_test_setup_teardown(every_task_once, setup, teardown),
        cmocka_unit_test_setup_teardown(arena_pieces_are_aligned_and_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(files_are_atomic, setup, teardown),
        cmocka_unit_test_setup_teardown(special_files_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_are_printable, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
