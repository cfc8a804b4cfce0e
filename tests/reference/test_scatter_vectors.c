/* test_scatter_vectors.c - scattering coefficients against an independent computation, on every instruction set. */
#include "data/scatter.h"
#include "datatest.h"
#include "scatter_vectors.h"

enum { CASES = sizeof scatter_cases / sizeof *scatter_cases };

static float pixel(int y, int x, int channel)
{
    return (float)((7 * y * y + 3 * x * y + 13 * x + 31 * channel) % 17) / 16.0f;
}

static void draw(const scatter_case *c, float *out)
{
    for (int k = 0; k < c->channels; k++)
        for (int y = 0; y < c->height; y++)
            for (int x = 0; x < c->width; x++) *out++ = pixel(y, x, k);
}

typedef struct bench {
    dt t;
    pvi_scatter *s;
    int64_t pixels, features;
    float *in, *out;
    void *scratch;
} bench;

static void open_case(bench *b, const scatter_case *c, int64_t groups)
{
    dt_open(&b->t);
    b->t.cfg.scatter_scales = c->J;
    b->t.cfg.scatter_angles = c->L;
    b->t.cfg.scatter_groups = groups;
    const pvi_shape in = { c->height, c->width, c->channels };
    pvi_shape shape;
    PVT_OK(pvi_scatter_shape(b->t.ctx, &b->t.cfg, in, &shape));
    PVT_IS(shape.height, c->rows);
    PVT_IS(shape.width, c->columns);
    PVT_IS(shape.channels, c->planes);
    PVT_OK(pvi_scatter_open(b->t.ctx, &b->t.cfg, in, &b->s));
    b->pixels = (int64_t)c->height * c->width * c->channels;
    b->features = (int64_t)c->rows * c->columns * c->planes;
    b->in = calloc((size_t)(PVI_SCATTER_ROWS * b->pixels), sizeof(float));
    b->out = calloc((size_t)(PVI_SCATTER_ROWS * b->features), sizeof(float));
    b->scratch = aligned_alloc(64, (pvi_scatter_scratch(b->s) + 63) & ~(size_t)63);
    PVT_TRUE(b->in && b->out && b->scratch);
}

static void close_case(bench *b)
{
    free(b->in);
    free(b->out);
    free(b->scratch);
    pvi_scatter_free(b->s);
    dt_close(&b->t);
}

static void as_computed_from_the_definition(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        const scatter_case *c = &scatter_cases[i];
        bench b;
        open_case(&b, c, 0);
        draw(c, b.in);
        pvi_scatter_rows(b.s, 1, b.in, b.out, b.features, b.scratch);
        double sum = 0, squares = 0;
        for (int64_t j = 0; j < b.features; j++) {
            sum += b.out[j];
            squares += (double)b.out[j] * b.out[j];
        }
        PVT_REL(sum, c->sum, 1e-6);
        PVT_REL(squares, c->squares, 1e-6);
        for (int j = 0; j < 24; j++) PVT_NEAR(b.out[j * c->step], c->some[j], 5e-7);
        close_case(&b);
    }
}

/* The same bits whatever the other rows are, and in whatever place. */
static void a_row_depends_on_itself_alone(void **state)
{
    (void)state;
    const scatter_case *c = &scatter_cases[3];
    bench b;
    open_case(&b, c, 27);
    uint64_t seed = 5;
    for (int64_t j = 0; j < PVI_SCATTER_ROWS * b.pixels; j++) b.in[j] = (float)pvt_normal(&seed) * 100.0f;
    float *alone = calloc((size_t)b.features, sizeof *alone);
    draw(c, b.in);
    pvi_scatter_rows(b.s, 1, b.in, alone, b.features, b.scratch);
    for (int64_t place = 0; place < PVI_SCATTER_ROWS; place++) {
        draw(c, b.in + place * b.pixels);
        pvi_scatter_rows(b.s, PVI_SCATTER_ROWS, b.in, b.out, b.features, b.scratch);
        PVT_IS(memcmp(b.out + place * b.features, alone, sizeof *alone * (size_t)b.features), 0);
        for (int64_t j = 0; j < b.pixels; j++) b.in[place * b.pixels + j] = (float)pvt_normal(&seed);
    }
    free(alone);
    close_case(&b);
}

static void groups_have_mean_0_and_variance_1(void **state)
{
    (void)state;
    const scatter_case *c = &scatter_cases[0];
    bench b, raw;
    open_case(&raw, c, 0);
    open_case(&b, c, 27);
    draw(c, b.in);
    draw(c, raw.in);
    pvi_scatter_rows(b.s, 1, b.in, b.out, b.features, b.scratch);
    pvi_scatter_rows(raw.s, 1, raw.in, raw.out, raw.features, raw.scratch);
    for (int g = 0; g < 27; g++) { /* 3 planes of 49 */
        const float *v = b.out + g * 147, *u = raw.out + g * 147;
        double mean = 0, var = 0, raw_mean = 0, raw_var = 0;
        for (int j = 0; j < 147; j++) mean += v[j] / 147.0, raw_mean += u[j] / 147.0;
        for (int j = 0; j < 147; j++) raw_var += (u[j] - raw_mean) * (u[j] - raw_mean) / 147.0;
        for (int j = 0; j < 147; j++) var += v[j] * (double)v[j] / 147.0;
        PVT_NEAR(mean, 0, 1e-6);
        PVT_REL(var, raw_var / (raw_var + 1e-5), 1e-5);
        PVT_REL(v[77], (u[77] - raw_mean) / sqrt(raw_var + 1e-5), 1e-4);
    }
    close_case(&raw);
    close_case(&b);
}

static void overflow_leaves_a_row_of_zeros(void **state)
{
    (void)state;
    const scatter_case *c = &scatter_cases[3];
    bench b;
    open_case(&b, c, 27);
    for (int r = 0; r < 3; r++) draw(c, b.in + r * b.pixels);
    b.in[b.pixels + 7] = 3e38f;
    b.in[2 * b.pixels + 7] = 1e15f;
    pvi_scatter_rows(b.s, 3, b.in, b.out, b.features, b.scratch);
    double sum[3] = { 0 };
    for (int64_t j = 0; j < 3 * b.features; j++) {
        PVT_TRUE(isfinite(b.out[j]));
        sum[j / b.features] += fabs((double)b.out[j]);
    }
    PVT_TRUE(sum[0] > 0 && sum[1] == 0 && sum[2] > 0);
    close_case(&b);
}

/* ---- through a file ----------------------------------------------------------------------------------------- */

static void write_idx(dt *t, const scatter_case *c, int n, char *labels, size_t size)
{
    uint8_t *b = calloc(1, (size_t)(16 + n * c->height * c->width)), *at = b + 16;
    const uint8_t head[16] = {
        0, 0, 8, 3, 0, 0, 0, (uint8_t)n, 0, 0, 0, (uint8_t)c->height, 0, 0, 0, (uint8_t)c->width
    };
    memcpy(b, head, 16);
    for (int i = 0; i < n; i++)
        for (int y = 0; y < c->height; y++)
            for (int x = 0; x < c->width; x++) *at++ = (uint8_t)(pixel(y, x, i) * 255.0f);
    dt_write(t->path, b, (size_t)(at - b));
    snprintf(labels, size, "%s/l-ubyte", t->dir);
    memcpy(b, (const uint8_t[]) { 0, 0, 8, 1, 0, 0, 0, (uint8_t)n }, 8);
    memset(b + 8, 3, (size_t)n);
    dt_write(labels, b, 8 + (size_t)n);
    t->cfg.labels = labels;
    free(b);
}

static void loaded_rows_are_features_in_the_ball(void **state)
{
    (void)state;
    const scatter_case *c = &scatter_cases[0];
    enum { N = 37 }; /* two full blocks and a part of one */
    char labels[128];
    bench b;
    open_case(&b, c, 27);
    write_idx(&b.t, c, N, labels, sizeof labels);
    b.t.cfg.transform = PVI_TRANSFORM_SCATTER;
    b.t.cfg.norm = PVI_NORM_UNIT;
    b.t.cfg.row_norm = 2;
    b.t.cfg.center = 0.5;
    pvi_matrix *m = dt_load(&b.t, NULL);
    PVT_IS(m->domain.n, N);
    PVT_IS(m->domain.p, 3970);
    PVT_IS(m->domain.height, 7);
    PVT_IS(m->domain.channels, 81);
    PVT_TRUE(m->x != NULL);
    for (int i = 0; i < N; i++) {
        double square = 0, dot = 0, length = 1; /* 1: the bias */
        for (int y = 0; y < c->height; y++)
            for (int x = 0; x < c->width; x++)
                b.in[y * c->width + x] = (float)((uint8_t)(pixel(y, x, i) * 255.0f) / 255.0 - 0.5);
        pvi_scatter_rows(b.s, 1, b.in, b.out, b.features, b.scratch);
        for (int64_t j = 0; j < 3970; j++) square += dt_at(m, i, j) * (double)dt_at(m, i, j);
        for (int64_t j = 0; j < 3969; j++) {
            dot += dt_at(m, i, j) * (double)b.out[j];
            length += b.out[j] * (double)b.out[j];
        }
        dot += dt_at(m, i, 3969);
        PVT_NEAR(sqrt(square), 2, 1e-6);
        PVT_TRUE(m->norm[i] >= sqrt(length) && m->norm[i] <= sqrt(length) * (1 + 1e-6));
        PVT_REL(dot, 2 * sqrt(length), 1e-6); /* the same direction */
        PVT_NEAR(m->y[i], 3, 0);
    }
    /* threads and the model's expectation change nothing */
    b.t.expect.features = 3969;
    PVT_OK(pvi_set_threads(b.t.ctx, 3));
    pvi_matrix *again = dt_load(&b.t, NULL);
    dt_same(m, again);
    pvi_matrix_free(again);
    pvi_matrix_free(m);
    unlink(labels);
    close_case(&b);
}

static void refusals(void **state)
{
    (void)state;
    const scatter_case *c = &scatter_cases[0];
    char labels[128];
    bench b;
    pvi_shape out;
    open_case(&b, c, 27);
    write_idx(&b.t, c, 2, labels, sizeof labels);
    b.t.cfg.transform = PVI_TRANSFORM_SCATTER;
    b.t.expect.features = 784;
    pvi_matrix *m;
    PVT_IS(pvi_data_load(b.t.ctx, &b.t.cfg, &b.t.expect, NULL, &m), PV_E_FORMAT);
    PVT_TRUE(strstr(pv_ctx_errmsg(b.t.ctx), "images of 28x28x1 give 3969 features, the model has 784") != NULL);
    b.t.cfg.layout = PVI_LAYOUT_SPARSE;
    PVT_IS(pvi_data_load(b.t.ctx, &b.t.cfg, &b.t.expect, NULL, &m), PV_E_PARAM);
    b.t.cfg.layout = PVI_LAYOUT_AUTO;
    dt_write(b.t.path, "1 1:2 3:4\n", 10); /* no image */
    b.t.cfg.labels = NULL;
    b.t.expect.features = 0;
    PVT_IS(pvi_data_load(b.t.ctx, &b.t.cfg, &b.t.expect, NULL, &m), PV_E_PARAM);
    PVT_TRUE(strstr(pv_ctx_errmsg(b.t.ctx), "data.image=HEIGHTxWIDTHxCHANNELS") != NULL);
    b.t.cfg.image = "9x9";
    m = dt_load(&b.t, "1 1:2 81:4\n");
    PVT_IS(m->domain.channels, 81);
    pvi_matrix_free(m);
    dt_write(b.t.path, "1 1:2 82:4\n", 11);
    PVT_IS(pvi_data_load(b.t.ctx, &b.t.cfg, &b.t.expect, NULL, &m), PV_E_FORMAT);
    PVT_IS(pvi_scatter_shape(b.t.ctx, &b.t.cfg, (pvi_shape) { 8, 28, 1 }, &out), PV_E_PARAM);
    PVT_IS(pvi_scatter_shape(b.t.ctx, &b.t.cfg, (pvi_shape) { 28, 245, 1 }, &out), PV_E_PARAM);
    PVT_OK(pvi_scatter_shape(b.t.ctx, &b.t.cfg, (pvi_shape) { 9, 244, 1 }, &out));
    PVT_IS(pvi_scatter_shape(b.t.ctx, &b.t.cfg, (pvi_shape) { 244, 244, 10000 }, &out), PV_E_PARAM);
    unlink(labels);
    close_case(&b);
}

/* ---- instruction sets ------------------------------------------------------------------------------------------ */
static void same_bits_on_every_instruction_set(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        bench b;
        open_case(&b, &scatter_cases[i], 0);
        const pvi_bank *bank = pvi_scatter_bank(b.s);
        const size_t points = (size_t)(bank->rows[0] * bank->columns[0]),
                     features = (size_t)(bank->paths * bank->out_rows * bank->out_columns) * PVI_SCATTER_LANES;
        float *in = aligned_alloc(64, points * 64),
              *work = aligned_alloc(64, points * 512 + ((size_t)bank->columns[0] + 6 * PVI_SCATTER_SIDE) * 64),
              *out = aligned_alloc(64, features * 4), *want = aligned_alloc(64, features * 4);
        uint64_t seed = 7;
        for (size_t k = 0; k < points * 16; k++) in[k] = (float)pvt_normal(&seed);
        pvi_scatter_isa[PVI_ISA_BASE](bank, in, want, work);
        for (int isa = 1; isa <= (int)pvi_isa(); isa++) {
            pvi_scatter_isa[isa](bank, in, out, work);
            PVT_IS(memcmp(out, want, features * 4), 0);
        }
        free(in);
        free(work);
        free(out);
        free(want);
        close_case(&b);
    }
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(as_computed_from_the_definition),      cmocka_unit_test(a_row_depends_on_itself_alone),
        cmocka_unit_test(groups_have_mean_0_and_variance_1),    cmocka_unit_test(overflow_leaves_a_row_of_zeros),
        cmocka_unit_test(loaded_rows_are_features_in_the_ball), cmocka_unit_test(refusals),
        cmocka_unit_test(same_bits_on_every_instruction_set),
    };
    return cmocka_run_group_tests(all, NULL, NULL);
}
