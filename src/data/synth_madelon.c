/* synth_madelon.c - a made-up table of five classes in the manner of Madelon.
 *
 *   (1) ten clusters, two for each class, at different corners of the cube {-s, s}^5, s = 3
 *   (2) a row of cluster c:  u = corner_c + A_c z,  z standard normal, A_c 5 x 5 uniform on [-1, 1]
 *   (3) 20 columns: the 5 numbers u, and 15 mixtures B u / 2, B 15 x 5 uniform on [-1, 1]
 *   (4) one label in a hundred is drawn anew, among all classes
 * Corners and matrices come from the seed, clusters are drawn uniformly, and the rows to test on follow those to
 * train on: the same classes, other rows.  Numbers are written with three decimals; the schema declares them from -16
 * to 16.  The same seed writes the same bytes.
 * Reference  Guyon, Gunn, Ben-Hur, Dror, Result analysis of the NIPS 2003 feature selection challenge, 2004. */
#include "data/synth.h"

#include <stdlib.h>

enum { USEFUL = 5, COLUMNS = 20, CLASSES = 5, CLUSTERS = 10, BOUND = 16 };

typedef struct shape {
    double corner[CLUSTERS][USEFUL], spread[CLUSTERS][USEFUL][USEFUL], mix[COLUMNS - USEFUL][USEFUL];
} shape;

static double symmetric(uint64_t *s)
{
    return 2.0 * pvi_synth_uniform(s) - 1.0;
}

static void draw_shape(uint64_t *s, shape *q)
{
    int corner[1 << USEFUL];
    for (int i = 0; i < 1 << USEFUL; i++) corner[i] = i;
    for (int c = 0; c < CLUSTERS; c++) { /* the first of a random order */
        const int k = c + (int)(pvi_synth_next(s) % (uint64_t)((1 << USEFUL) - c)), t = corner[c];
        corner[c] = corner[k];
        corner[k] = t;
        for (int i = 0; i < USEFUL; i++) {
            q->corner[c][i] = corner[c] >> i & 1 ? 3.0 : -3.0;
            for (int j = 0; j < USEFUL; j++) q->spread[c][i][j] = symmetric(s);
        }
    }
    for (int i = 0; i < COLUMNS - USEFUL; i++)
        for (int j = 0; j < USEFUL; j++) q->mix[i][j] = 0.5 * symmetric(s);
}

static int draw_row(uint64_t *s, const shape *q, double x[COLUMNS])
{
    const int c = (int)(pvi_synth_next(s) % CLUSTERS);
    double z[USEFUL];
    for (int i = 0; i < USEFUL; i++) z[i] = pvi_synth_normal(s);
    for (int i = 0; i < COLUMNS; i++) {
        x[i] = i < USEFUL ? q->corner[c][i] : 0.0;
        for (int j = 0; j < USEFUL; j++)
            x[i] += i < USEFUL ? q->spread[c][i][j] * z[j] : q->mix[i - USEFUL][j] * x[j];
    }
    return pvi_synth_uniform(s) < 0.01 ? (int)(pvi_synth_next(s) % CLASSES) : c % CLASSES;
}

static pv_status write_rows(pv_ctx *ctx, const char *path, uint64_t *seed, const shape *q, int64_t rows)
{
    pvi_atomic a;
    double x[COLUMNS];
    const pv_status s = pvi_atomic_open(ctx, path, &a);
    if (s != PV_OK) return s;
    for (int i = 0; i < COLUMNS; i++) pvi_atomic_fmt(&a, "x%d,", i + 1);
    pvi_atomic_fmt(&a, "class\n");
    for (int64_t r = 0; r < rows; r++) {
        const int label = draw_row(seed, q, x);
        for (int i = 0; i < COLUMNS; i++) { /* no decimal point of some language */
            const long t = lrint(1000.0 * fmin(fmax(x[i], -BOUND), BOUND));
            pvi_atomic_fmt(&a, "%s%ld.%03ld,", t < 0 ? "-" : "", labs(t) / 1000, labs(t) % 1000);
        }
        pvi_atomic_fmt(&a, "%c\n", 'a' + label);
    }
    return pvi_atomic_commit(&a);
}

static pv_status write_schema(pv_ctx *ctx, const char *path)
{
    pvi_str text = { .ctx = ctx };
    char *json;
    pvi_str_puts(&text, "{\n  \"header\": true,\n  \"columns\": [\n");
    for (int i = 0; i < COLUMNS; i++)
        pvi_str_printf(&text, "    {\"name\": \"x%d\", \"type\": \"number\", \"min\": %d, \"max\": %d},\n", i + 1,
                       -BOUND, BOUND);
    pvi_str_puts(&text,
                 "    {\"name\": \"class\", \"type\": \"label\", \"values\": [\"a\", \"b\", \"c\", \"d\", \"e\"]}\n"
                 "  ]\n}\n");
    pv_status s = pvi_str_take(&text, &json);
    if (s != PV_OK) return s;
    s = pvi_file_write(ctx, path, json, strlen(json));
    pvi_free(ctx, json);
    return s;
}

pv_status pv_synth_data(pv_ctx *ctx, const char *folder, uint64_t seed, int64_t rows, int64_t heldout_rows)
{
    PVI_CALL(ctx, PVI_CTX);
    PVI_NEEDS(ctx, folder);
    shape q;
    pv_status s = pvi_synth_folder(ctx, folder, rows, heldout_rows);
    if (s != PV_OK) return s;
    const size_t n = strlen(folder) + 32;
    char *path = pvi_alloc(ctx, n);
    if (!path) return pvi_nomem(ctx);
    draw_shape(&seed, &q);
    snprintf(path, n, "%s/madelon.schema.json", folder);
    s = write_schema(ctx, path);
    snprintf(path, n, "%s/madelon_train.csv", folder);
    if (s == PV_OK) s = write_rows(ctx, path, &seed, &q, rows);
    snprintf(path, n, "%s/madelon_test.csv", folder);
    if (s == PV_OK) s = write_rows(ctx, path, &seed, &q, heldout_rows);
    pvi_free(ctx, path);
    return pvi_done(ctx, s);
}
