/* test_export.c - exported files read back byte by byte, by readers written here: protocol buffer, ZIP, NPY,
 * safetensors. */
#include "datatest.h"
#include "protobuf.h"

#include "cert/cert.h"

static dt t;
static char model[96], file[96];
static double *w;
static int64_t d;

/* A trained model with 3 features, bias 1 and the given model; its weights are in w. */
static void train(const char *name, const char *rows, const char *labels)
{
    pv_plan *plan;
    pv_result *r;
    dt_write(t.path, rows, strlen(rows));
    PVT_OK(pv_plan_create(t.ctx, &plan));
    PVT_OK(pv_plan_set(plan, "data.path", t.path));
    PVT_OK(pv_plan_set(plan, "data.key_path", t.key));
    if (labels) PVT_OK(pv_plan_set(plan, "data.labels", labels));
    PVT_OK(pv_plan_set(plan, "model", name));
    PVT_OK(pv_plan_set(plan, "budget.epsilon", "2"));
    PVT_OK(pv_plan_set(plan, "budget.delta", "1e-3"));
    PVT_OK(pv_plan_set(plan, "data.bias", "0.5"));
    PVT_OK(pv_plan_set(plan, "optimizer.steps", "3"));
    PVT_CHECK(pv_plan_run(plan, &r) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    PVT_OK(pv_result_weights(r, NULL, 0, &d));
    w = calloc((size_t)d, sizeof *w);
    PVT_OK(pv_result_weights(r, w, d, &d));
    PVT_OK(pv_result_save(r, model));
    pv_result_free(r);
    pv_plan_free(plan);
}

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    snprintf(model, sizeof model, "%s/m.pvt", t.dir);
    snprintf(file, sizeof file, "%s/e", t.dir);
    train("softmax", "a 1:0.5 2:1 3:-1\nb 2:0.25\nc 1:-1 3:0.5\na 3:1\nb 1:1\n", "a,b,c");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(model);
    unlink(file);
    free(w);
    w = NULL;
    dt_close(&t);
    return 0;
}

static uint8_t *export(const char *format, size_t *n)
{
    pv_model *m;
    char *text;
    PVT_OK(pv_model_load(t.ctx, model, &m));
    PVT_CHECK(pv_model_export(m, format, file) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    pv_model_free(m);
    PVT_OK(pvi_file_read(t.ctx, file, 1 << 24, &text, n));
    return (uint8_t *)text;
}

/* ---- protocol buffer ------------------------------------------------------------------------------------------- */

static void check_tensor(const field *graph, const char *name, const float *want, size_t n)
{
    field tensor, f;
    for (int i = 0; find(graph, 5, i, &tensor); i++) {
        if (!find(&tensor, 8, 0, &f) || !is_text(&f, name)) continue;
        PVT_TRUE(find(&tensor, 2, 0, &f) && f.value == 1); /* FLOAT */
        PVT_TRUE(find(&tensor, 9, 0, &f));
        PVT_IS(f.value, 4 * n);
        for (size_t k = 0; k < n; k++) {
            const uint32_t bits = (uint32_t)little(f.p + 4 * k, 4);
            float v;
            memcpy(&v, &bits, 4);
            PVT_NEAR(v, want[k], 0);
        }
        return;
    }
    PVT_CHECK(false, "no tensor %s", name);
}

static void onnx(void **state)
{
    (void)state;
    size_t n;
    uint8_t *b = export("onnx", &n);
    field all = { .p = b, .value = n }, graph, f, g;
    PVT_TRUE(find(&all, 1, 0, &f) && f.value == 8);
    PVT_TRUE(find(&all, 8, 0, &f) && find(&f, 2, 0, &g) && g.value == 13);
    PVT_TRUE(find(&all, 7, 0, &graph));
    float weight[9], bias[3], constant = 0.5f, radius = 1;
    PVT_IS(d, 12);
    for (int c = 0; c < 3; c++) {
        for (int j = 0; j < 3; j++) weight[3 * c + j] = (float)w[4 * c + j];
        bias[c] = (float)(0.5 * w[4 * c + 3]);
    }
    check_tensor(&graph, "weight", weight, 9);
    check_tensor(&graph, "bias", bias, 3);
    check_tensor(&graph, "bias_column", &constant, 1);
    check_tensor(&graph, "least", &constant, 1);
    check_tensor(&graph, "radius", &radius, 1);
    static const char *const ops[] = { "Abs", "ReduceMax", "Max",    "Div",  "ReduceSumSquare",
                                       "Div", "Mul",       "Add",    "Sqrt", "Max",
                                       "Div", "Min",       "Mul",    "Gemm", "Div",
                                       "Mul", "Add",       "Softmax" };
    for (int i = 0; i < 18; i++) PVT_TRUE(find(&graph, 1, i, &f) && find(&f, 4, 0, &g) && is_text(&g, ops[i]));
    PVT_TRUE(!find(&graph, 1, 18, &f));
    PVT_TRUE(find(&graph, 11, 0, &f) && find(&f, 1, 0, &g) && is_text(&g, "x"));
    PVT_TRUE(find(&graph, 12, 1, &f) && find(&f, 1, 0, &g) && is_text(&g, "probability"));
    PVT_TRUE(has_fact(&all, "classes", "[\"a\",\"b\",\"c\"]") && has_fact(&all, "delta", "0.001"));
    PVT_TRUE(has_fact(&all, "epsilon", NULL) && has_fact(&all, "privacy", "PRIVATE: see the certificate"));
    pvi_free(t.ctx, b);
}

/* ---- ZIP with NPY ---------------------------------------------------------------------------------------------- */

static uint32_t crc_bitwise(const uint8_t *p, size_t n)
{
    uint32_t c = 0xffffffffu;
    while (n--) {
        c ^= *p++;
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
    }
    return ~c;
}

static void npz(void **state)
{
    (void)state;
    size_t n;
    uint8_t *b = export("npz", &n);
    const uint8_t *end = b + n - 22, *entry = b + little(end + 16, 4);
    static const char *const names[] = { "weight.npy", "bias.npy", "metadata.json" };
    PVT_TRUE(memcmp(end, "PK\5\6", 4) == 0);
    PVT_IS(little(end + 10, 2), 3);
    PVT_IS(little(end + 12, 4), (uint64_t)(end - entry));
    for (int i = 0; i < 3; i++) {
        PVT_TRUE(memcmp(entry, "PK\1\2", 4) == 0);
        const size_t len = little(entry + 28, 2), size = little(entry + 24, 4);
        const uint8_t *local = b + little(entry + 42, 4), *body = local + 30 + len;
        PVT_TRUE(len == strlen(names[i]) && memcmp(entry + 46, names[i], len) == 0);
        PVT_TRUE(memcmp(local, "PK\3\4", 4) == 0 && memcmp(local + 30, names[i], len) == 0);
        PVT_IS(memcmp(entry + 6, local + 4, 24), 0); /* both headers say the same */
        PVT_IS(little(entry + 16, 4), crc_bitwise(body, size));
        if (i < 2) {
            const size_t head = little(body + 8, 2);
            char text[256] = { 0 };
            PVT_TRUE(memcmp(body, "\x93NUMPY\1\0", 8) == 0 && (10 + head) % 64 == 0 && body[9 + head] == '\n');
            memcpy(text, body + 10, head);
            PVT_TRUE(strstr(text, "'descr': '<f8', 'fortran_order': False"));
            PVT_TRUE(strstr(text, i ? "'shape': (3,)" : "'shape': (3, 3,)"));
            double v;
            memcpy(&v, body + 10 + head + 8, 8);
            PVT_NEAR(v, i ? 0.5 * w[7] : w[1], 0);
            PVT_IS(size, 10 + head + (i ? 24u : 72u));
        } else {
            PVT_TRUE(body[0] == '{' && memmem(body, size, "\"epsilon\": \"2\"", 14));
        }
        entry += 46 + len;
    }
    PVT_TRUE(entry == end);
    pvi_free(t.ctx, b);
}

static void safetensors(void **state)
{
    (void)state;
    size_t n;
    uint8_t *b = export("safetensors", &n);
    const size_t head = little(b, 8);
    pv_arena *a = pvi_arena_create(t.ctx);
    pvi_json *root;
    PVT_TRUE(head % 8 == 0);
    PVT_IS(n, 8 + head + 12 * 8);
    PVT_OK(pvi_json_parse(t.ctx, a, "header", (const char *)b + 8, head, &root));
    const pvi_json *meta = pvi_json_get(root, "__metadata__"), *bias = pvi_json_get(root, "bias");
    for (const pvi_json *v = meta->child; v; v = v->next) PVT_IS(v->type, PVI_JSTR);
    assert_string_equal(pvi_json_get(meta, "epsilon")->text, "2");
    assert_string_equal(pvi_json_get(bias, "dtype")->text, "F64");
    const pvi_json *at = pvi_json_get(bias, "data_offsets")->child;
    PVT_IS(at->num, 72);
    PVT_IS(at->next->num, 96);
    double v;
    memcpy(&v, b + 8 + head + 72 + 16, 8);
    PVT_NEAR(v, 0.5 * w[11], 0);
    pvi_arena_free(a);
    pvi_free(t.ctx, b);
}

static void misuse(void **state)
{
    (void)state;
    pv_model *m;
    PVT_OK(pv_model_load(t.ctx, model, &m));
    PVT_IS(pv_model_export(m, "pickle", file), PV_E_PARAM);
    PVT_IS(pv_model_export(m, NULL, file), PV_E_ARG);
    PVT_IS(pv_model_export(NULL, "onnx", file), PV_E_ARG);
    PVT_IS(pv_model_export(m, "onnx", "/no/such/folder/x"), PV_E_IO);
    pv_model_free(m);
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(onnx, setup, teardown),
        cmocka_unit_test_setup_teardown(npz, setup, teardown),
        cmocka_unit_test_setup_teardown(safetensors, setup, teardown),
        cmocka_unit_test_setup_teardown(misuse, setup, teardown),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
