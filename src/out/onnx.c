/* onnx.c - a model as an ONNX graph, operator set 13: the protocol buffer is written by hand.
 *
 *   x [n, columns]  ->  row rule  ->  weight x + bias, or the layers of the network  ->  score, probability
 *
 * Row rule, with b the constant column (pvi_row_rule):
 *   (1) s = R / max(||(x - center, b)||, R)   clip      R / max(||..||, 10^-30)   unit
 *       the largest |..| instead   max
 *   (2) linear: score = s (weight (x - center) + bias);   network: its input is scale s (x - center, b), without b
 *       for images.
 * The library enforces (1) in double with a margin of 2^-22, so results agree to about 10^-6, not to the last bit.
 *
 * Protocol buffers: a field is a varint (number << 3 | type), type 0 a varint, 2 a length and bytes, 5 four bytes.
 * Images are [n, channels, rows, columns]; a flatten puts channels last first, as the weights expect.
 * Reference  onnx.proto, IR version 8. */
#include "out/export.h"

#include <stdlib.h>

enum { IR = 8, OPSET = 13, FLOAT = 1, INT64 = 7 };
enum { ATTR_FLOAT = 1, ATTR_INT = 2, ATTR_INTS = 7 };

/* ---- protocol buffers --------------------------------------------------------------------------------------- */

static void varint(pvi_str *b, uint64_t x)
{
    char c[10];
    size_t n = 0;
    do {
        c[n++] = (char)((x & 0x7f) | (x > 0x7f ? 0x80 : 0));
    } while (x >>= 7);
    pvi_str_add(b, c, n);
}

static void number(pvi_str *b, int field, int64_t x)
{
    varint(b, (uint64_t)field << 3);
    varint(b, (uint64_t)x);
}

static void bytes(pvi_str *b, int field, const char *s, size_t n)
{
    varint(b, (uint64_t)field << 3 | 2);
    varint(b, n);
    pvi_str_add(b, s, n);
}

static void text(pvi_str *b, int field, const char *s)
{
    bytes(b, field, s, strlen(s));
}

/* A finished message as a field of another; frees it. */
static void message(pvi_str *b, int field, pvi_str *m)
{
    if (m->failed) b->failed = true;
    else bytes(b, field, m->s ? m->s : "", m->len);
    pvi_str_free(m);
}

static void put_f32(pvi_str *b, double x)
{
    const float f = (float)x;
    uint32_t u;
    char raw[4];
    memcpy(&u, &f, 4);
    for (int i = 0; i < 4; i++) raw[i] = (char)(u >> (8 * i));
    pvi_str_add(b, raw, 4);
}

/* ---- pieces of a graph ---------------------------------------------------------------------------------------- */

typedef struct graph {
    const pvi_export *e;
    pvi_str nodes, init; /* fields of GraphProto */
    int64_t next;        /* number of the next value */
    char last[32];       /* the value computed last */
    bool has_gelu;
} graph;

static pvi_str empty(const graph *g)
{
    return (pvi_str) { .ctx = g->e->ctx };
}

static void tensor(graph *g, const char *name, int dims, const int64_t *shape, const double *v, int64_t n)
{
    pvi_str t = empty(g), raw = empty(g);
    for (int k = 0; k < dims; k++) number(&t, 1, shape[k]);
    number(&t, 2, FLOAT);
    text(&t, 8, name);
    for (int64_t i = 0; i < n; i++) put_f32(&raw, v[i]);
    message(&t, 9, &raw);
    message(&g->init, 5, &t);
}

static void scalar(graph *g, const char *name, double x)
{
    tensor(g, name, 0, NULL, &x, 1);
}

static void shape(graph *g, const char *name, int64_t n, const int64_t *v) /* an int64 tensor */
{
    pvi_str t = empty(g);
    number(&t, 1, n);
    number(&t, 2, INT64);
    for (int64_t i = 0; i < n; i++) number(&t, 7, v[i]); /* unpacked, which every reader accepts */
    text(&t, 8, name);
    message(&g->init, 5, &t);
}

typedef struct attr {
    const char *name;
    int type;
    double f;
    int64_t n, i[4]; /* ATTR_INT: i[0]; ATTR_INTS: n of them */
} attr;

static void attribute(const graph *g, pvi_str *node, const attr *a)
{
    pvi_str m = empty(g);
    text(&m, 1, a->name);
    if (a->type == ATTR_FLOAT) {
        varint(&m, 2 << 3 | 5);
        put_f32(&m, a->f);
    } else if (a->type == ATTR_INT) {
        number(&m, 3, a->i[0]);
    } else {
        for (int64_t k = 0; k < a->n; k++) number(&m, 8, a->i[k]);
    }
    number(&m, 20, a->type);
    message(node, 5, &m);
}

/* op(a, b, c) -> out, or a fresh value when out is NULL; b and c may be NULL.  Becomes g->last. */
static void node(graph *g, const char *op, const char *a, const char *b, const char *c, const char *out,
                 const attr *attrs)
{
    pvi_str m = empty(g);
    char fresh[32];
    snprintf(fresh, sizeof fresh, "v%lld", (long long)++g->next);
    text(&m, 1, a);
    if (b) text(&m, 1, b);
    if (c) text(&m, 1, c);
    text(&m, 2, out ? out : fresh);
    text(&m, 4, op);
    for (; attrs && attrs->name; attrs++) attribute(g, &m, attrs);
    message(&g->nodes, 1, &m);
    snprintf(g->last, sizeof g->last, "%s", out ? out : fresh);
}

/* ---- the row rule ---------------------------------------------------------------------------------------------- */

static const attr along_row[] = { { "axes", ATTR_INTS, 0, 1, { 1 } },
                                  { "keepdims", ATTR_INT, 0, 1, { 1 } },
                                  { 0 } };

/* (1): leaves x - center in `x`, s in `s`. */
static void row_rule(graph *g, char x[32])
{
    const pvi_row_rule *r = &g->e->row;
    snprintf(x, 32, "x");
    if (r->center != 0.0) {
        scalar(g, "center", r->center);
        node(g, "Sub", "x", "center", NULL, NULL, NULL);
        snprintf(x, 32, "%s", g->last);
    }
    scalar(g, "radius", r->radius);
    scalar(g, "least", r->norm == 1 ? 1e-30 : r->radius);
    scalar(g, "constant", r->norm == 2 ? fabs(r->bias) : r->bias * r->bias);
    if (r->norm == 2) {
        node(g, "Abs", x, NULL, NULL, NULL, NULL);
        node(g, "ReduceMax", g->last, NULL, NULL, NULL, along_row);
        node(g, "Max", g->last, "constant", NULL, NULL, NULL);
    } else {
        node(g, "ReduceSumSquare", x, NULL, NULL, NULL, along_row);
        node(g, "Add", g->last, "constant", NULL, NULL, NULL);
        node(g, "Sqrt", g->last, NULL, NULL, NULL, NULL);
    }
    node(g, "Max", g->last, "least", NULL, NULL, NULL);
    node(g, "Div", "radius", g->last, NULL, "s", NULL);
}

static const attr transposed[] = { { "transB", ATTR_INT, 0, 1, { 1 } }, { 0 } };

static void linear(graph *g, const char *x)
{
    node(g, "Gemm", x, "weight", "bias", NULL, transposed);
    node(g, "Mul", g->last, "s", NULL, "score", NULL);
}

/* ---- layers ---------------------------------------------------------------------------------------------------- */

static void flatten(graph *g, pvi_hwc in)
{
    const attr last[] = { { "perm", ATTR_INTS, 0, 4, { 0, 2, 3, 1 } }, { 0 } },
               from[] = { { "axis", ATTR_INT, 0, 1, { 1 } }, { 0 } };
    if (in.h * in.w > 1) node(g, "Transpose", g->last, NULL, NULL, NULL, last);
    node(g, "Flatten", g->last, NULL, NULL, NULL, from);
}

static void conv(graph *g, const pvi_layer *l, const char *w, const char *b)
{
    const attr a[] = { { "kernel_shape", ATTR_INTS, 0, 2, { l->kernel, l->kernel } },
                       { "strides", ATTR_INTS, 0, 2, { l->stride, l->stride } },
                       { "pads", ATTR_INTS, 0, 4, { l->pad_top, l->pad_left, l->pad_bottom, l->pad_right } },
                       { 0 } };
    node(g, "Conv", g->last, w, b, NULL, a);
}

static void pool(graph *g, const pvi_layer *l)
{
    const attr a[] = { { "kernel_shape", ATTR_INTS, 0, 2, { l->kernel, l->kernel } },
                       { "strides", ATTR_INTS, 0, 2, { l->stride, l->stride } },
                       { 0 } };
    node(g, l->kind == PVI_LAYER_MAXPOOL ? "MaxPool" : "AveragePool", g->last, NULL, NULL, NULL, a);
}

/* 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
static void gelu(graph *g)
{
    char x[32];
    snprintf(x, sizeof x, "%s", g->last);
    if (!g->has_gelu) { /* constants that all such layers share */
        scalar(g, "gelu_cubic", 0.044715);
        scalar(g, "gelu_root", 0.79788456080286535588);
        scalar(g, "one", 1.0);
        scalar(g, "half", 0.5);
        g->has_gelu = true;
    }
    node(g, "Mul", x, x, NULL, NULL, NULL);
    node(g, "Mul", g->last, x, NULL, NULL, NULL);
    node(g, "Mul", g->last, "gelu_cubic", NULL, NULL, NULL);
    node(g, "Add", g->last, x, NULL, NULL, NULL);
    node(g, "Mul", g->last, "gelu_root", NULL, NULL, NULL);
    node(g, "Tanh", g->last, NULL, NULL, NULL, NULL);
    node(g, "Add", g->last, "one", NULL, NULL, NULL);
    node(g, "Mul", g->last, x, NULL, NULL, NULL);
    node(g, "Mul", g->last, "half", NULL, NULL, NULL);
}

/* Hidden values longer than e->hidden are scaled down to it (model/split.c). */
static void relu(graph *g)
{
    char x[32];
    node(g, "Relu", g->last, NULL, NULL, NULL, NULL);
    if (!(g->e->hidden > 0.0)) return;
    snprintf(x, sizeof x, "%s", g->last);
    node(g, "ReduceL2", x, NULL, NULL, NULL, along_row);
    node(g, "Max", g->last, "hidden_radius", NULL, NULL, NULL);
    node(g, "Div", "hidden_radius", g->last, NULL, NULL, NULL);
    node(g, "Mul", x, g->last, NULL, NULL, NULL);
}

static const attr epsilon[] = { { "epsilon", ATTR_FLOAT, PVI_GROUPNORM_EPSILON, 0, { 0 } }, { 0 } };

/* Groups as the channels of an instance norm, then gain and shift of each channel. */
static void group_norm(graph *g, const pvi_layer *l, const char *name, const char *w, const char *b)
{
    char split[48], whole[48], ones[48], zeros[48];
    double *unit = pv_arena_f64(g->e->arena, l->groups);
    const bool vector = l->in.h * l->in.w == 1;
    if (!unit) {
        g->nodes.failed = true;
        return;
    }
    snprintf(split, sizeof split, "%s.split", name);
    snprintf(whole, sizeof whole, "%s.whole", name);
    snprintf(ones, sizeof ones, "%s.ones", name);
    snprintf(zeros, sizeof zeros, "%s.zeros", name);
    shape(g, split, 3, (const int64_t[]) { 0, l->groups, -1 });
    shape(g, whole, vector ? 2 : 4, (const int64_t[]) { -1, l->in.c, l->in.h, l->in.w });
    for (int64_t k = 0; k < l->groups; k++) unit[k] = 1.0;
    tensor(g, ones, 1, &l->groups, unit, l->groups);
    for (int64_t k = 0; k < l->groups; k++) unit[k] = 0.0;
    tensor(g, zeros, 1, &l->groups, unit, l->groups);
    node(g, "Reshape", g->last, split, NULL, NULL, NULL);
    node(g, "InstanceNormalization", g->last, ones, zeros, NULL, epsilon);
    node(g, "Reshape", g->last, whole, NULL, NULL, NULL);
    node(g, "Mul", g->last, w, NULL, NULL, NULL);
    node(g, "Add", g->last, b, NULL, NULL, NULL);
}

static void layer(graph *g, int64_t i)
{
    const pvi_layer *l = &g->e->net->layer[i];
    char name[32], w[48], b[48];
    pvi_export_name(g->e, i, name);
    snprintf(w, sizeof w, "%s.weight", name);
    snprintf(b, sizeof b, "%s.bias", name);
    switch (l->kind) {
    case PVI_LAYER_CONV: conv(g, l, w, b); break;
    case PVI_LAYER_DENSE:
        if (l->in.h * l->in.w > 1) flatten(g, l->in);
        node(g, "Gemm", g->last, w, b, NULL, transposed);
        break;
    case PVI_LAYER_MAXPOOL:
    case PVI_LAYER_AVGPOOL: pool(g, l); break;
    case PVI_LAYER_RELU: relu(g); break;
    case PVI_LAYER_TANH: node(g, "Tanh", g->last, NULL, NULL, NULL, NULL); break;
    case PVI_LAYER_GELU: gelu(g); break;
    case PVI_LAYER_GROUPNORM: group_norm(g, l, name, w, b); break;
    case PVI_LAYER_FLATTEN: flatten(g, l->in); break;
    }
}

static void network(graph *g, const char *x)
{
    const pvi_hwc in = g->e->net->in;
    const attr columns[] = { { "axis", ATTR_INT, 0, 1, { 1 } }, { 0 } };
    char row[32];
    scalar(g, "scale", g->e->scale);
    if (g->e->hidden > 0.0) scalar(g, "hidden_radius", g->e->hidden);
    node(g, "Mul", x, "s", NULL, NULL, NULL);
    if (g->e->row.bias != 0.0 && in.h * in.w == 1 &&
        in.c == g->e->row.columns + 1) { /* a table: the constant is a column */
        snprintf(row, sizeof row, "%s", g->last);
        scalar(g, "bias_column", g->e->row.bias);
        node(g, "Mul", "s", "bias_column", NULL, NULL, NULL);
        node(g, "Concat", row, g->last, NULL, NULL, columns);
    }
    node(g, "Mul", g->last, "scale", NULL, NULL, NULL);
    if (in.h * in.w > 1) {
        shape(g, "image", 4, (const int64_t[]) { -1, in.c, in.h, in.w });
        node(g, "Reshape", g->last, "image", NULL, NULL, NULL);
    }
    for (int64_t i = 0; i < g->e->net->n; i++) layer(g, i);
    node(g, "Identity", g->last, NULL, NULL, "score", NULL);
}

/* ---- the file -------------------------------------------------------------------------------------------------- */

static void value_info(graph *g, pvi_str *out, int field, const char *name, int64_t columns)
{
    pvi_str m = empty(g), type = empty(g), t = empty(g), dims = empty(g), rows = empty(g), width = empty(g);
    text(&rows, 2, "rows");
    number(&width, 1, columns);
    message(&dims, 1, &rows);
    message(&dims, 1, &width);
    number(&t, 1, FLOAT);
    message(&t, 2, &dims);
    message(&type, 1, &t);
    text(&m, 1, name);
    message(&m, 2, &type);
    message(out, field, &m);
}

/* Tensors as the operators want them: the gain of a group norm is one per plane. */
static void weights(graph *g)
{
    for (int64_t i = 0; i < g->e->tensors; i++) {
        const pvi_tensor *t = &g->e->tensor[i];
        const bool planes = g->e->net && strncmp(t->name, "groupnorm", 9) == 0;
        const pvi_layer *l = planes ? &g->e->net->layer[strtol(t->name + 9, NULL, 10) - 1] : NULL;
        if (l && l->in.h * l->in.w > 1) tensor(g, t->name, 3, (const int64_t[]) { t->size, 1, 1 }, t->v, t->size);
        else tensor(g, t->name, t->dims, t->shape, t->v, t->size);
    }
}

static void build(graph *g, pvi_str *out)
{
    const pvi_export *e = g->e;
    const attr classes[] = { { "axis", ATTR_INT, 0, 1, { 1 } }, { 0 } };
    char x[32];
    row_rule(g, x);
    weights(g);
    if (e->net) network(g, x);
    else linear(g, x);
    const bool probability = e->file->domain.classes > 0;
    if (probability && e->outputs == 1) node(g, "Sigmoid", "score", NULL, NULL, "probability", NULL);
    else if (probability) node(g, "Softmax", "score", NULL, NULL, "probability", classes);
    pvi_str_add(out, g->nodes.s ? g->nodes.s : "", g->nodes.len);
    text(out, 2, "privet");
    pvi_str_add(out, g->init.s ? g->init.s : "", g->init.len);
    value_info(g, out, 11, "x", e->row.columns);
    value_info(g, out, 12, "score", e->outputs);
    if (probability) value_info(g, out, 12, "probability", e->outputs);
    out->failed |= g->nodes.failed || g->init.failed;
}

void pvi_onnx_write(const pvi_export *e, pvi_str *out)
{
    graph g = { .e = e, .nodes = { .ctx = e->ctx }, .init = { .ctx = e->ctx } };
    pvi_str body = { .ctx = e->ctx }, ops = { .ctx = e->ctx };
    build(&g, &body);
    number(out, 1, IR);
    text(out, 2, "privet");
    text(out, 3, pv_version());
    message(out, 7, &body);
    text(&ops, 1, "");
    number(&ops, 2, OPSET);
    message(out, 8, &ops);
    for (int64_t i = 0; i < e->pairs; i++) {
        pvi_str pair = { .ctx = e->ctx };
        text(&pair, 1, e->key[i]);
        text(&pair, 2, e->text[i]);
        message(out, 14, &pair);
    }
    pvi_str_free(&g.nodes);
    pvi_str_free(&g.init);
}
