/* test_export_graph.c - every value of an exported ONNX graph has the shape its operators need and its outputs
 * declare; the metadata says how rows are encoded.  Shapes are inferred here, node by node, from the file's bytes. */
#include "datatest.h"
#include "protobuf.h"

#include "cert/cert.h"

enum { ROWS = 5, VALUES = 256 }; /* ROWS stands for the unknown number of rows */

typedef struct value {
    char name[64];
    int rank;
    int64_t dim[4];
    bool numbers; /* an initializer of int64: its values are in `dim` */
} value;

static dt t;
static char model[96], file[96];
static uint8_t *bytes;
static field all, graph;
static value known[VALUES];
static int n_known;
static double *w;
static int64_t d;

/* ---- training ------------------------------------------------------------------------------------------------- */

static const char schema[] = "{\"columns\": [{\"name\": \"a\", \"type\": \"number\", \"min\": 0, \"max\": 4},"
                             "{\"name\": \"b\", \"type\": \"category\", \"values\": [\"u\", \"v\"]},"
                             "{\"name\": \"c\", \"type\": \"label\", \"values\": [\"no\", \"yes\"]}]}";
static const char table[] = "a,b,c\n1,u,no\n2,v,yes\n4,,no\n0,u,yes\n";
/* Images of 4 x 4 with 2 channels, LIBSVM rows. */
static const char images[] = "0 1:1 5:0.5 32:2\n1 2:1 13:-1\n2 7:1\n0 3:1\n1 20:1 22:2\n2 1:0.25\n";

/* settings: key=value words, separated by blanks */
static void train(const char *rows, const char *settings)
{
    pv_plan *plan;
    pv_result *r;
    char words[512], *save = NULL;
    dt_write(t.path, rows, strlen(rows));
    dt_write(t.schema, schema, sizeof schema - 1);
    PVT_OK(pv_plan_create(t.ctx, &plan));
    PVT_OK(pv_plan_set(plan, "data.path", t.path));
    PVT_OK(pv_plan_set(plan, "data.key_path", t.key));
    if (rows == table) PVT_OK(pv_plan_set(plan, "data.schema", t.schema));
    PVT_OK(pv_plan_set(plan, "data.curves", "off"));
    PVT_OK(pv_plan_set(plan, "budget.epsilon", "8"));
    PVT_OK(pv_plan_set(plan, "budget.delta", "1e-3"));
    PVT_OK(pv_plan_set(plan, "optimizer.steps", "2"));
    snprintf(words, sizeof words, "%s", settings);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        PVT_CHECK(pv_plan_set(plan, word, equals + 1) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    }
    PVT_CHECK(pv_plan_run(plan, &r) == PV_OK, "%s: %s", settings, pv_ctx_errmsg(t.ctx));
    PVT_OK(pv_result_weights(r, NULL, 0, &d));
    free(w);
    w = calloc((size_t)d, sizeof *w);
    PVT_OK(pv_result_weights(r, w, d, &d));
    PVT_OK(pv_result_save(r, model));
    pv_result_free(r);
    pv_plan_free(plan);
}

static void export(void)
{
    pv_model *m;
    size_t n;
    char *text;
    PVT_OK(pv_model_load(t.ctx, model, &m));
    PVT_CHECK(pv_model_export(m, "onnx", file) == PV_OK, "%s", pv_ctx_errmsg(t.ctx));
    pv_model_free(m);
    pvi_free(t.ctx, bytes);
    PVT_OK(pvi_file_read(t.ctx, file, 1 << 24, &text, &n));
    bytes = (uint8_t *)text;
    all = (field) { .p = bytes, .value = n };
    PVT_TRUE(find(&all, 7, 0, &graph));
}

static int setup(void **state)
{
    (void)state;
    dt_open(&t);
    snprintf(model, sizeof model, "%s/m.pvt", t.dir);
    snprintf(file, sizeof file, "%s/e", t.dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(model);
    unlink(file);
    pvi_free(t.ctx, bytes);
    bytes = NULL;
    free(w);
    w = NULL;
    dt_close(&t);
    return 0;
}

/* ---- shapes of values ------------------------------------------------------------------------------------------ */

static void copy_text(const field *f, char out[64])
{
    PVT_TRUE(f->value < 64);
    memcpy(out, f->p, f->value);
    out[f->value] = '\0';
}

static value *add(const char *name)
{
    PVT_TRUE(n_known < VALUES);
    for (int i = 0; i < n_known; i++) PVT_CHECK(strcmp(known[i].name, name) != 0, "%s is made twice", name);
    value *v = &known[n_known++];
    *v = (value) { 0 };
    snprintf(v->name, sizeof v->name, "%s", name);
    return v;
}

static value *get(const field *node, int input)
{
    field f = { 0 };
    char name[64];
    PVT_TRUE(find(node, 1, input, &f));
    copy_text(&f, name);
    for (int i = 0; i < n_known; i++)
        if (strcmp(known[i].name, name) == 0) return &known[i];
    PVT_CHECK(false, "%s is used before it is made", name);
    return NULL;
}

static void read_initializers(void)
{
    field tensor = { 0 }, f = { 0 };
    char name[64];
    for (int i = 0; find(&graph, 5, i, &tensor); i++) {
        PVT_TRUE(find(&tensor, 8, 0, &f));
        copy_text(&f, name);
        value *v = add(name);
        PVT_TRUE(find(&tensor, 2, 0, &f));
        v->numbers = f.value == 7;
        for (; v->rank < 4 && find(&tensor, v->numbers ? 7 : 1, v->rank, &f); v->rank++)
            v->dim[v->rank] = (int64_t)f.value;
    }
}

/* Integers of an attribute, at most 4. */
static int attribute(const field *node, const char *want, int64_t out[4])
{
    field a, f;
    for (int i = 0; find(node, 5, i, &a); i++) {
        if (!find(&a, 1, 0, &f) || !is_text(&f, want)) continue;
        int n = 0;
        if (find(&a, 3, 0, &f)) out[n++] = (int64_t)f.value;
        for (; n < 4 && find(&a, 8, n, &f); n++) out[n] = (int64_t)f.value;
        return n;
    }
    return 0;
}

static int64_t at_end(const value *v, int k) /* dimension k from the right, 1 beyond */
{
    return k < v->rank ? v->dim[v->rank - 1 - k] : 1;
}

static void broadcast(const field *node, value *out)
{
    field f;
    int inputs = 0;
    while (find(node, 1, inputs, &f)) inputs++;
    for (int i = 0; i < inputs; i++)
        if (get(node, i)->rank > out->rank) out->rank = get(node, i)->rank;
    for (int k = 0; k < out->rank; k++) {
        int64_t size = 1;
        for (int i = 0; i < inputs; i++) {
            const int64_t own = at_end(get(node, i), k);
            PVT_CHECK(size == 1 || own == 1 || own == size, "%s: %lld beside %lld", out->name, (long long)own,
                      (long long)size);
            if (own > size) size = own;
        }
        out->dim[out->rank - 1 - k] = size;
    }
}

static void gemm(const field *node, value *out)
{
    const value *a = get(node, 0), *b = get(node, 1);
    field f;
    PVT_CHECK(a->rank == 2 && b->rank == 2, "Gemm gets rank %d and %d", a->rank, b->rank);
    PVT_IS(a->dim[1], b->dim[1]);
    if (find(node, 1, 2, &f)) PVT_TRUE(get(node, 2)->rank == 1 && get(node, 2)->dim[0] == b->dim[0]);
    *out = (value) { .rank = 2, .dim = { a->dim[0], b->dim[0] } };
}

static void window(const field *node, const value *filters, value *out)
{
    const value *x = get(node, 0);
    int64_t kernel[4], stride[4], pad[4] = { 0 };
    PVT_CHECK(x->rank == 4, "a window on rank %d", x->rank);
    PVT_TRUE(attribute(node, "kernel_shape", kernel) == 2 && attribute(node, "strides", stride) == 2);
    attribute(node, "pads", pad);
    if (filters) PVT_TRUE(filters->rank == 4 && filters->dim[1] == x->dim[1] && filters->dim[2] == kernel[0]);
    *out = (value) { .rank = 4, .dim = { x->dim[0], filters ? filters->dim[0] : x->dim[1] } };
    for (int k = 0; k < 2; k++) out->dim[2 + k] = (x->dim[2 + k] + pad[k] + pad[k + 2] - kernel[k]) / stride[k] + 1;
}

static int64_t count(const value *v)
{
    int64_t n = 1;
    for (int k = 0; k < v->rank; k++) n *= v->dim[k];
    return n;
}

static void reshape(const field *node, value *out)
{
    const value *x = get(node, 0), *to = get(node, 1);
    int64_t rest = count(x);
    int open = -1;
    PVT_TRUE(to->numbers);
    out->rank = to->rank;
    for (int k = 0; k < to->rank; k++) {
        out->dim[k] = to->dim[k] == 0 ? x->dim[k] : to->dim[k];
        if (out->dim[k] < 0) open = k;
        else rest /= out->dim[k];
    }
    if (open >= 0) out->dim[open] = rest;
    PVT_IS(count(out), count(x));
}

static void infer(const field *node, const char *op, value *out)
{
    static const char *const same[] = {
        "Abs", "Sqrt", "Relu", "Tanh",    "Add",     "Sub",      "Mul",
        "Div", "Max",  "Min",  "Sigmoid", "Softmax", "Identity", "InstanceNormalization"
    };
    const value *x = get(node, 0);
    int64_t perm[4];
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        if (strcmp(op, same[i]) != 0) continue;
        if (i + 1 == sizeof same / sizeof *same) *out = *x;
        else broadcast(node, out);
        return;
    }
    if (strncmp(op, "Reduce", 6) == 0) {
        *out = *x;
        out->dim[1] = 1;
    } else if (strcmp(op, "Gemm") == 0) {
        gemm(node, out);
    } else if (strcmp(op, "Conv") == 0) {
        window(node, get(node, 1), out);
    } else if (strcmp(op, "MaxPool") == 0 || strcmp(op, "AveragePool") == 0) {
        window(node, NULL, out);
    } else if (strcmp(op, "LRN") == 0) { /* over channels */
        PVT_CHECK(x->rank == 4, "LRN on rank %d", x->rank);
        *out = *x;
    } else if (strcmp(op, "Reshape") == 0) {
        reshape(node, out);
    } else if (strcmp(op, "Flatten") == 0) {
        *out = (value) { .rank = 2, .dim = { x->dim[0], count(x) / x->dim[0] } };
    } else if (strcmp(op, "Transpose") == 0) {
        PVT_IS(attribute(node, "perm", perm), x->rank);
        out->rank = x->rank;
        for (int k = 0; k < x->rank; k++) out->dim[k] = x->dim[perm[k]];
    } else {
        PVT_CHECK(strcmp(op, "Concat") == 0, "an operator this test does not know: %s", op);
        *out = *x;
        out->dim[1] += get(node, 1)->dim[1];
    }
}

/* Columns of input or output `name` as declared. */
static int64_t declared(int fields, const char *name)
{
    field info, f, g;
    for (int i = 0; find(&graph, fields, i, &info); i++) {
        if (!find(&info, 1, 0, &f) || !is_text(&f, name)) continue;
        PVT_TRUE(find(&info, 2, 0, &f) && find(&f, 1, 0, &g) && find(&g, 2, 0, &f)); /* the shape */
        PVT_TRUE(find(&f, 1, 1, &g) && find(&g, 1, 0, &f));
        return (int64_t)f.value;
    }
    return -1;
}

/* Infers the shapes of the whole graph; the operator that makes `probability` is left in `last`. */
static void walk(char last[64])
{
    field node = { 0 }, f = { 0 };
    char op[64], name[64];
    n_known = 0;
    value *x = add("x");
    *x = (value) { .name = "x", .rank = 2, .dim = { ROWS, declared(11, "x") } };
    read_initializers();
    for (int i = 0; find(&graph, 1, i, &node); i++) {
        PVT_TRUE(find(&node, 4, 0, &f));
        copy_text(&f, op);
        PVT_TRUE(find(&node, 2, 0, &f));
        copy_text(&f, name);
        value out = { 0 };
        infer(&node, op, &out);
        PVT_CHECK(out.dim[0] == ROWS, "%s has %lld rows", name, (long long)out.dim[0]);
        value *made = add(name);
        snprintf(out.name, sizeof out.name, "%s", name);
        *made = out;
        if (strcmp(name, "score") == 0 || strcmp(name, "probability") == 0) {
            PVT_TRUE(out.rank == 2);
            PVT_IS(out.dim[1], declared(12, name));
        }
        strcpy(last, op);
    }
}

/* ---- cases ----------------------------------------------------------------------------------------------------- */

static void expect(const char *rows, const char *settings, int64_t outputs, const char *op)
{
    char last[64];
    train(rows, settings);
    export();
    walk(last);
    PVT_IS(declared(12, "score"), outputs);
    PVT_CHECK(strcmp(last, op) == 0, "%s: %s", settings, last);
}

/* One column and a sigmoid, or one per class and a softmax: a network has two outputs for two classes. */
static void outputs_of_two_classes(void **state)
{
    (void)state;
    expect(table, "model=logistic", 1, "Sigmoid");
    expect(table, "model=hinge data.bias=0 data.norm=unit", 1, "Sigmoid");
    expect(table, "model=softmax", 2, "Softmax");
    expect(table, "model=mlp", 2, "Softmax");
    expect(table, "model=mlp data.bias=0", 2, "Softmax");
    expect(table, "model=split-mlp", 2, "Softmax");
    expect(images, "model=cnn data.image=4x4x2 data.labels=0,1|2", 2, "Softmax");
    expect(images, "model=squared data.y_min=0 data.y_max=2", 1, "Add");
}

#define ON_IMAGES " data.image=4x4x2 data.labels=0,1,2"

/* A dense layer behind an image, with and without a flatten; images of one pixel; vectors before a window. */
static void ranks_of_images(void **state)
{
    (void)state;
    static const char *const nets[] = {
        "model=cnn",
        "model=mlp",
        "model=split-mlp",
        "model=cnn model.layers=conv4x3,relu,flatten,dense",
        "model=cnn model.layers=conv4x3,groupnorm2,pool2,dense6,groupnorm2,gelu,dense",
        "model=cnn model.layers=pool3,groupnorm1,conv4x1,groupnorm2,tanh,dense",
        "model=cnn model.layers=flatten,conv3x1,relu,dense",
        "model=cnn model.layers=avgpool2s1,flatten,groupnorm2,dense",
        "model=cnn model.layers=conv4x3same,pool3s2same,lrn1,sigmoid,avgpool3s2same,dense",
        "model=cnn model.layers=lrn1,dense4,sigmoid,dense"
    };
    char settings[256];
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        snprintf(settings, sizeof settings, "%s%s", nets[i], ON_IMAGES);
        expect(images, settings, 3, "Softmax");
    }
    expect("0 1:1\n1 2:1\n2 1:-1\n",
           "model=cnn model.layers=conv2x1,groupnorm1,relu,dense data.image=1x1x2 "
           "data.labels=0,1,2 data.features=2",
           3, "Softmax");
}

static bool makes(const char *name)
{
    for (int i = 0; i < n_known; i++)
        if (strcmp(known[i].name, name) == 0) return true;
    return false;
}

/* A table's center is the reader's, an image's the graph's; the metadata gives it for both. */
static void center(void **state)
{
    (void)state;
    expect(table, "model=logistic data.center=0.5", 1, "Sigmoid");
    PVT_TRUE(has_fact(&all, "center", "0.5") && has_fact(&all, "encoding", "table") && !makes("center"));
    PVT_TRUE(has_fact(&all, "schema", NULL) && has_fact(&all, "classes", "[\"no\",\"yes\"]"));
    expect(table, "model=logistic", 1, "Sigmoid");
    PVT_TRUE(has_fact(&all, "center", "0"));
    static const char plain[] = "1,2,0\n3,4,1\n5,6,0\n";
    expect(plain, "model=logistic data.center=0.5 data.labels=0,1 data.format=csv", 1, "Sigmoid");
    PVT_TRUE(has_fact(&all, "center", "0.5") && has_fact(&all, "encoding", "rows") && !makes("center"));
    static const char square[] = "1,2,3,4,0\n3,4,5,6,1\n5,6,7,8,0\n";
    expect(square, "model=mlp data.center=0.5 data.labels=0,1 data.image=2x2x1 data.format=csv", 2, "Softmax");
    PVT_TRUE(has_fact(&all, "center", "0.5") && has_fact(&all, "encoding", "image") && makes("center"));
    PVT_TRUE(has_fact(&all, "image", "2x2x1") && has_fact(&all, "layers", "dense64,relu,dense"));
}

/* sbcd's networks read channel after channel; their exported weights are ordered as all others: channels last. */
static void order_of_split_inputs(void **state)
{
    (void)state;
    field tensor = { 0 }, f = { 0 };
    bool seen = false;
    expect(images, "model=split-mlp model.layers=dense5,relu,dense" ON_IMAGES, 3, "Softmax");
    for (int i = 0; find(&graph, 5, i, &tensor); i++) {
        PVT_TRUE(find(&tensor, 8, 0, &f));
        if (!is_text(&f, "dense1.weight")) continue;
        PVT_TRUE(find(&tensor, 9, 0, &f));
        PVT_IS(f.value, 5 * 32 * 4);
        for (int unit = 0; unit < 5; unit++)
            for (int j = 0; j < 32; j++) {
                const int from = j % 2 * 16 + j / 2; /* 2 channels of 4 x 4 */
                const uint32_t bits = (uint32_t)little(f.p + 4 * (32 * unit + j), 4);
                float got;
                memcpy(&got, &bits, 4);
                PVT_NEAR(got, (float)w[from * 5 + unit], 0);
            }
        seen = true;
    }
    PVT_TRUE(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(outputs_of_two_classes, setup, teardown),
        cmocka_unit_test_setup_teardown(ranks_of_images, setup, teardown),
        cmocka_unit_test_setup_teardown(center, setup, teardown),
        cmocka_unit_test_setup_teardown(order_of_split_inputs, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
