/* onnx.c - a model as an ONNX graph, operator set 13: the protocol buffer is written by hand.
 *
 *   x [n, columns]  ->  row rule  ->  weight x + bias, or the layers of the network  ->  score, probability
 *
 * Row rule, with v = x - center where the graph subtracts it, else v = x, and b the constant column (pvi_row_rule):
 *   (1) m = max(|v_1|, ..., |v_p|, |b|),  u = v / m,  q = ||(u, b/m)||  (1 for max)
 *       f = min(m, R/q)  clip and max      f = R/q  unit
 *   (2) row = f u,  s = f/m, the factor of the row; m comes first so that no square leaves the range of a float
 *   (3) linear: score = weight row + s bias;   network: its input is scale (row, s b), without s b for images.
 * The library enforces (1) in double with a margin of 2^-22, so results agree to about 10^-6, not to the last bit.
 *   (4) tables with curves (pvi_ramps): v_j = min(max(min((x_i - t) a, (x_i - t') a'), 0), 1), and s = f, m = 1 are
 *       constants, since all rows have one norm
 *   (5) raw numbers (pvi_units_of): x is first min(max((x - from) slope, 0), 1) - center, or `absent` where it is NaN
 *
 * Outputs: score [n, k] and, for classes, probability [n, k].  k = 1: the margin of the second of two classes, and
 * its sigmoid.  k > 1: one number per class, and their softmax; a network has k = 2 for two classes.
 *
 * Protocol buffers: a field is a varint (number << 3 | type), type 0 a varint, 2 a length and bytes, 5 four bytes.
 * Images are [n, channels, rows, columns] up to a flatten or dense layer, which puts channels last first, as the
 * weights expect; from there on rows are [n, columns].
 * Reference  onnx.proto, IR version 8. */
#include "export/export.h"

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
    pvi_str nodes, init;   /* fields of GraphProto */
    int64_t next;          /* number of the next value */
    char last[32];         /* the value computed last */
    const char *known[12]; /* constants that are there */
    int64_t constants;
    bool image; /* it is [n, channels, rows, columns], not [n, columns] */
    pvi_hwc at; /* its shape */
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

/* A constant, made when it is first used; returns its name. */
static const char *scalar(graph *g, const char *name, double x)
{
    for (int64_t i = 0; i < g->constants; i++)
        if (strcmp(g->known[i], name) == 0) return name;
    tensor(g, name, 0, NULL, &x, 1);
    return g->known[g->constants++] = name;
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

static const attr along_row[] = { { "axes", ATTR_INTS, 0, 1, { 1 } }, { "keepdims", ATTR_INT, 0, 1, { 1 } }, { 0 } };

static const attr along_image[] = { { "axes", ATTR_INTS, 0, 3, { 1, 2, 3 } },
                                    { "keepdims", ATTR_INT, 0, 1, { 1 } },
                                    { 0 } };

/* The smallest normal float: rows of zeros are divided by it. */
#define LEAST 0x1p-126

/* (1): u, q of clip and unit. */
static void length(graph *g)
{
    node(g, "ReduceSumSquare", "u", NULL, NULL, "squares", along_row);
    if (g->e->row.bias != 0.0) {
        node(g, "Div", scalar(g, "bias_column", g->e->row.bias), "m", NULL, NULL, NULL);
        node(g, "Mul", g->last, g->last, NULL, NULL, NULL);
        node(g, "Add", "squares", g->last, NULL, NULL, NULL);
    }
    node(g, "Sqrt", g->last, NULL, NULL, NULL, NULL);
    /* q is at least 1 up to rounding, unless the row is zero. */
    node(g, "Max", g->last, scalar(g, "one", 1.0), NULL, "q", NULL);
}

static void raw_line(graph *g, const char *name, const double *v)
{
    tensor(g, name, 2, (const int64_t[]) { 1, g->e->row.raw.features }, v, g->e->row.raw.features);
}

/* (5): leaves "encoded". */
static void from_raw(graph *g)
{
    const pvi_units_of *r = &g->e->row.raw;
    raw_line(g, "from", r->from);
    raw_line(g, "slope", r->slope);
    raw_line(g, "raw_center", r->center);
    raw_line(g, "absent", r->absent);
    node(g, "IsNaN", "x", NULL, NULL, "missing", NULL);
    node(g, "Sub", "x", "from", NULL, NULL, NULL);
    node(g, "Mul", g->last, "slope", NULL, NULL, NULL);
    node(g, "Max", g->last, scalar(g, "zero", 0.0), NULL, NULL, NULL);
    node(g, "Min", g->last, scalar(g, "one", 1.0), NULL, NULL, NULL);
    node(g, "Sub", g->last, "raw_center", NULL, NULL, NULL);
    node(g, "Where", "missing", "absent", g->last, "encoded", NULL);
}

static const char *input(const graph *g)
{
    return g->e->row.raw.features ? "encoded" : "x";
}

/* (1), (2): leaves "row", "f" and "m". */
static void row_rule(graph *g)
{
    const pvi_row_rule *r = &g->e->row;
    const bool unit = r->norm == 1, max = r->norm == 2, center = r->center != 0.0 && r->by_graph;
    const char *v = center ? "v" : input(g), *radius = scalar(g, "radius", r->radius);
    if (center) node(g, "Sub", "x", scalar(g, "center", r->center), NULL, v, NULL);
    node(g, "Abs", v, NULL, NULL, NULL, NULL);
    node(g, "ReduceMax", g->last, NULL, NULL, NULL, along_row);
    node(g, "Max", g->last, scalar(g, "least", fmax(fabs(r->bias), LEAST)), NULL, "m", NULL);
    node(g, "Div", v, "m", NULL, "u", NULL);
    if (!max) length(g);
    if (!max) node(g, "Div", radius, "q", NULL, unit ? "f" : NULL, NULL);
    if (!unit) node(g, "Min", "m", max ? radius : g->last, NULL, "f", NULL);
    node(g, "Mul", "u", "f", NULL, "row", NULL);
}

/* A constant of each ramp, as one line. */
static void ramp_line(graph *g, const char *name, int which, bool slope)
{
    const pvi_ramps *c = &g->e->row.curves;
    double *v = pv_arena_f64(g->e->arena, c->wide);
    if (!v) {
        g->nodes.failed = true;
        return;
    }
    for (int64_t j = 0; j < c->wide; j++) v[j] = slope ? c->ramp[j].slope[which] : c->ramp[j].at[which];
    tensor(g, name, 2, (const int64_t[]) { 1, c->wide }, v, c->wide);
}

/* (4): leaves "row" and "f". */
static void curves(graph *g)
{
    static const char *const at[2] = { "left", "right" }, *const slope[2] = { "left_slope", "right_slope" },
                             *const side[2] = { "rising", "falling" };
    const attr columns[] = { { "axis", ATTR_INT, 0, 1, { 1 } }, { 0 } };
    const pvi_ramps *c = &g->e->row.curves;
    int64_t *from = pv_arena_get(g->e->arena, sizeof *from * (size_t)c->wide);
    if (!from) {
        g->nodes.failed = true;
        return;
    }
    for (int64_t j = 0; j < c->wide; j++) from[j] = c->ramp[j].from;
    shape(g, "column", c->wide, from);
    node(g, "Gather", input(g), "column", NULL, "value", columns);
    for (int k = 0; k < 2; k++) {
        ramp_line(g, at[k], k, false);
        ramp_line(g, slope[k], k, true);
        node(g, "Sub", "value", at[k], NULL, NULL, NULL);
        node(g, "Mul", g->last, slope[k], NULL, side[k], NULL);
    }
    node(g, "Min", side[0], side[1], scalar(g, "one", 1.0), NULL, NULL);
    node(g, "Max", g->last, scalar(g, "zero", 0.0), NULL, NULL, NULL);
    node(g, "Mul", g->last, scalar(g, "f", c->factor), NULL, "row", NULL);
}

/* (2), where there is a constant column. */
static const char *row_factor(graph *g)
{
    if (g->e->row.curves.ramp) return scalar(g, "f", g->e->row.curves.factor);
    node(g, "Div", "f", "m", NULL, "s", NULL);
    return g->last;
}

static const attr transposed[] = { { "transB", ATTR_INT, 0, 1, { 1 } }, { 0 } };

/* (3) */
static void linear(graph *g)
{
    if (g->e->row.bias == 0.0) {
        node(g, "Gemm", "row", "weight", "bias", "score", transposed);
        return;
    }
    node(g, "Gemm", "row", "weight", NULL, "inner", transposed);
    node(g, "Mul", row_factor(g), "bias", NULL, NULL, NULL);
    node(g, "Add", "inner", g->last, NULL, "score", NULL);
}

/* ---- layers ---------------------------------------------------------------------------------------------------- */

static void as_vector(graph *g)
{
    const attr last[] = { { "perm", ATTR_INTS, 0, 4, { 0, 2, 3, 1 } }, { 0 } },
               from[] = { { "axis", ATTR_INT, 0, 1, { 1 } }, { 0 } };
    if (!g->image) return;
    if (g->at.h * g->at.w > 1) node(g, "Transpose", g->last, NULL, NULL, NULL, last);
    node(g, "Flatten", g->last, NULL, NULL, NULL, from);
    g->image = false;
}

/* For layers with windows: what comes in may be a vector, as an image of one pixel. */
static void as_image(graph *g, const char *name)
{
    char value[48];
    if (g->image) return;
    snprintf(value, sizeof value, "%s.image", name);
    shape(g, value, 4, (const int64_t[]) { -1, g->at.c, g->at.h, g->at.w });
    node(g, "Reshape", g->last, value, NULL, NULL, NULL);
    g->image = true;
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
                       { "pads", ATTR_INTS, 0, 4, { l->pad_top, l->pad_left, l->pad_bottom, l->pad_right } },
                       { 0 } };
    /* what is padded is left out of the mean: count_include_pad is 0 unless said */
    node(g, l->kind == PVI_LAYER_MAXPOOL ? "MaxPool" : "AveragePool", g->last, NULL, NULL, NULL, a);
}

/* ONNX divides alpha by the channels of the window as well. */
static void lrn(graph *g, const pvi_layer *l)
{
    const attr a[] = { { "alpha", ATTR_FLOAT, PVI_LRN_ALPHA, 0, { 0 } },
                       { "beta", ATTR_FLOAT, PVI_LRN_BETA, 0, { 0 } },
                       { "bias", ATTR_FLOAT, 1.0, 0, { 0 } },
                       { "size", ATTR_INT, 0, 1, { 2 * l->radius + 1 } },
                       { 0 } };
    node(g, "LRN", g->last, NULL, NULL, NULL, a);
}

/* 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
static void gelu(graph *g)
{
    char x[32];
    snprintf(x, sizeof x, "%s", g->last);
    node(g, "Mul", x, x, NULL, NULL, NULL);
    node(g, "Mul", g->last, x, NULL, NULL, NULL);
    node(g, "Mul", g->last, scalar(g, "gelu_cubic", 0.044715), NULL, NULL, NULL);
    node(g, "Add", g->last, x, NULL, NULL, NULL);
    node(g, "Mul", g->last, scalar(g, "gelu_root", 0.79788456080286535588), NULL, NULL, NULL);
    node(g, "Tanh", g->last, NULL, NULL, NULL, NULL);
    node(g, "Add", g->last, scalar(g, "one", 1.0), NULL, NULL, NULL);
    node(g, "Mul", g->last, x, NULL, NULL, NULL);
    node(g, "Mul", g->last, scalar(g, "half", 0.5), NULL, NULL, NULL);
}

/* Hidden values longer than e->hidden are scaled down to it (model/split.c). */
static void relu(graph *g)
{
    char x[32];
    node(g, "Relu", g->last, NULL, NULL, NULL, NULL);
    if (!(g->e->hidden > 0.0)) return;
    const char *radius = scalar(g, "hidden_radius", g->e->hidden);
    snprintf(x, sizeof x, "%s", g->last);
    node(g, "ReduceL2", x, NULL, NULL, NULL, g->image ? along_image : along_row);
    node(g, "Max", g->last, radius, NULL, NULL, NULL);
    node(g, "Div", radius, g->last, NULL, NULL, NULL);
    node(g, "Mul", x, g->last, NULL, NULL, NULL);
}

static const attr epsilon[] = { { "epsilon", ATTR_FLOAT, PVI_GROUPNORM_EPSILON, 0, { 0 } }, { 0 } };

/* Gain or shift of a group norm: one number per channel, in front of the points of an image. */
static void per_channel(graph *g, const char *name, const char *part)
{
    const pvi_tensor *t = pvi_export_find(g->e, name, part);
    tensor(g, t->name, g->image ? 3 : 1, (const int64_t[]) { t->size, 1, 1 }, t->v, t->size);
}

/* Groups as the channels of an instance norm, then gain and shift of each channel. */
static void group_norm(graph *g, const pvi_layer *l, const char *name, const char *w, const char *b)
{
    char split[48], whole[48], ones[48], zeros[48];
    double *unit = pv_arena_f64(g->e->arena, l->groups);
    if (!unit) {
        g->nodes.failed = true;
        return;
    }
    snprintf(split, sizeof split, "%s.split", name);
    snprintf(whole, sizeof whole, "%s.whole", name);
    snprintf(ones, sizeof ones, "%s.ones", name);
    snprintf(zeros, sizeof zeros, "%s.zeros", name);
    shape(g, split, 3, (const int64_t[]) { 0, l->groups, -1 });
    shape(g, whole, g->image ? 4 : 2, (const int64_t[]) { -1, l->in.c, l->in.h, l->in.w });
    for (int64_t k = 0; k < l->groups; k++) unit[k] = 1.0;
    tensor(g, ones, 1, &l->groups, unit, l->groups);
    for (int64_t k = 0; k < l->groups; k++) unit[k] = 0.0;
    tensor(g, zeros, 1, &l->groups, unit, l->groups);
    per_channel(g, name, "weight");
    per_channel(g, name, "bias");
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
    const bool window = l->kind == PVI_LAYER_CONV || l->kind == PVI_LAYER_MAXPOOL || l->kind == PVI_LAYER_AVGPOOL ||
                        l->kind == PVI_LAYER_LRN;
    if (window) as_image(g, name);
    if (l->kind == PVI_LAYER_DENSE || l->kind == PVI_LAYER_FLATTEN) as_vector(g);
    switch (l->kind) {
    case PVI_LAYER_CONV: conv(g, l, w, b); break;
    case PVI_LAYER_DENSE: node(g, "Gemm", g->last, w, b, NULL, transposed); break;
    case PVI_LAYER_MAXPOOL:
    case PVI_LAYER_AVGPOOL: pool(g, l); break;
    case PVI_LAYER_RELU: relu(g); break;
    case PVI_LAYER_TANH: node(g, "Tanh", g->last, NULL, NULL, NULL, NULL); break;
    case PVI_LAYER_GELU: gelu(g); break;
    case PVI_LAYER_SIGMOID: node(g, "Sigmoid", g->last, NULL, NULL, NULL, NULL); break;
    case PVI_LAYER_LRN: lrn(g, l); break;
    case PVI_LAYER_GROUPNORM: group_norm(g, l, name, w, b); break;
    case PVI_LAYER_FLATTEN: break;
    }
    g->at = l->out;
}

/* (3) */
static void network(graph *g)
{
    const attr columns[] = { { "axis", ATTR_INT, 0, 1, { 1 } }, { 0 } };
    const bool image = g->e->file->domain.height > 0;
    snprintf(g->last, sizeof g->last, "row");
    if (g->e->row.bias != 0.0 && !image) { /* a table: the constant is a column */
        node(g, "Mul", row_factor(g), scalar(g, "bias_column", g->e->row.bias), NULL, NULL, NULL);
        node(g, "Concat", "row", g->last, NULL, NULL, columns);
    }
    node(g, "Mul", g->last, scalar(g, "scale", g->e->scale), NULL, NULL, NULL);
    g->at = g->e->net->in;
    if (image) as_image(g, "row");
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

/* All but those of a group norm, whose shape depends on what it gets. */
static void weights(graph *g)
{
    for (int64_t i = 0; i < g->e->tensors; i++) {
        const pvi_tensor *t = &g->e->tensor[i];
        const bool channels = strncmp(t->name, "groupnorm", 9) == 0;
        if (!channels) tensor(g, t->name, t->dims, t->shape, t->v, t->size);
    }
}

static void build(graph *g, pvi_str *out)
{
    const pvi_export *e = g->e;
    const attr classes[] = { { "axis", ATTR_INT, 0, 1, { 1 } }, { 0 } };
    if (e->row.raw.features) from_raw(g);
    if (e->row.curves.ramp) curves(g);
    else row_rule(g);
    weights(g);
    if (e->net) network(g);
    else linear(g);
    const bool probability = e->file->domain.classes > 0;
    if (probability && e->outputs == 1) node(g, "Sigmoid", "score", NULL, NULL, "probability", NULL);
    else if (probability) node(g, "Softmax", "score", NULL, NULL, "probability", classes);
    pvi_str_add(out, g->nodes.s ? g->nodes.s : "", g->nodes.len);
    text(out, 2, "privet");
    pvi_str_add(out, g->init.s ? g->init.s : "", g->init.len);
    value_info(g, out, 11, "x", e->row.curves.ramp ? e->row.curves.features : e->row.columns);
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
