/* compare_chart.c - one panel for a measure: means with their standard deviation.
 *
 * Against a setting that varies and is a number, the other settings being lines; otherwise the cells side by side.
 * Lines stand a little beside each other, so that no bar hides another. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

enum { LABEL = 64, SIDE_BY_SIDE = 5, WIDE = 24 };
#define BESIDE 0.012 /* of the width, between two lines */

/* Which setting is drawn along the axis; -1: the cells themselves. */
static int along(const grid *g)
{
    if (g->pairs && g->n_varying > 1) return -1;
    for (int v = 1; v < g->n_varying; v++)
        if (grid_numeric(&g->at[g->varying[v]])) return v;
    return g->n_varying && grid_numeric(&g->at[g->varying[0]]) ? 0 : -1;
}

static double x_of(const grid *g, int cell, int v)
{
    return v < 0 ? cell + 1 : strtod(grid_value(g, cell, g->varying[v]), NULL);
}

/* The cells of one line are those with the label of its first; lines without any run are left out. */
static bool first_of_line(const sums *s, int k, int cell, int v)
{
    char a[256], b[256];
    const grid *g = s->r->g;
    bool runs_there = sums_at(s, k, cell)->runs > 0;
    grid_label(g, cell, v, a, sizeof a);
    for (int i = 0; v >= 0 && i < g->cells; i++) {
        grid_label(g, i, v, b, sizeof b);
        if (strcmp(a, b) != 0) continue;
        if (i < cell) return false;
        runs_there |= sums_at(s, k, i)->runs > 0;
    }
    return runs_there;
}

static int lines_of(const sums *s, int k, int v)
{
    int n = 0;
    for (int i = 0; i < s->r->g->cells; i++) n += first_of_line(s, k, i, v);
    return n;
}

/* Plots take plain words: what is markup elsewhere is escaped. */
static void escape(const char *text, char *out, size_t cap)
{
    char *escaped;
    size_t len;
    FILE *f = open_memstream(&escaped, &len);
    if (!f) abort();
    html_put(f, text);
    if (fclose(f) != 0) abort();
    snprintf(out, cap, "%s", escaped);
    free(escaped);
}

static void label_of(const grid *g, int cell, int v, char out[6 * LABEL])
{
    char plain[LABEL];
    grid_label(g, cell, v, plain, sizeof plain);
    escape(plain, out, 6 * LABEL);
}

static bool is_narrow(const grid *g, int v)
{
    char label[LABEL];
    for (int i = 0; i < g->cells; i++) {
        grid_label(g, i, v, label, sizeof label);
        if (strlen(label) > WIDE) return false;
    }
    return true;
}

/* Few cells with short names have them below the axis. */
static bool is_named(const grid *g)
{
    char label[LABEL];
    for (int i = 0; i < g->cells; i++) {
        grid_label(g, i, -1, label, sizeof label);
        if (g->cells > SIDE_BY_SIDE || strlen(label) > 42u / (unsigned)g->cells || strchr(label, '%')) return false;
    }
    return true;
}

static int key_rows(const sums *s, int k)
{
    const grid *g = s->r->g;
    const int v = along(g), n = lines_of(s, k, v);
    if ((v < 0 && is_named(g)) || n < 2) return 0;
    return is_narrow(g, v) ? (n + 1) / 2 : n;
}

int chart_height(const sums *s, int k)
{
    return plot_height + plot_key_height * key_rows(s, k) + 8;
}

static void fit(const sums *s, int k, int v, axis *x, axis *y)
{
    const grid *g = s->r->g;
    double lo = INFINITY, hi = 0.0;
    for (int i = 0; i < g->cells; i++) {
        lo = fmin(lo, x_of(g, i, v));
        hi = fmax(hi, x_of(g, i, v));
    }
    x->log = v >= 0 && lo > 0 && hi >= 8.0 * lo;
    for (int i = 0; i < g->cells; i++) {
        const cellsum *c = sums_at(s, k, i);
        axis_widen(x, x_of(g, i, v));
        axis_widen(y, c->mean);
        if (!isnan(c->sd)) axis_widen(y, c->mean - c->sd), axis_widen(y, c->mean + c->sd);
    }
    if (v < 0) *x = (axis) { 0.4, g->cells + 0.6, false };
    else axis_settle(x, 0.06);
    axis_settle(y, 0.08);
}

static void mark_cells(const plot *p, const grid *g)
{
    for (int i = 0; i < g->cells; i++) {
        char label[6 * LABEL], number[16];
        label_of(g, i, -1, label);
        snprintf(number, sizeof number, "%d", i + 1);
        if (is_named(g) || g->cells <= 20 || i % (g->cells / 10) == 0)
            plot_mark_x(p, i + 1, is_named(g) ? label : number);
    }
}

static int by_x(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/* The cells of a line, from left to right: x, mean, sd. */
static int points_of(const sums *s, int k, int v, int first, const axis *x, double (*out)[3])
{
    const grid *g = s->r->g;
    char label[256], other[256];
    int n = 0;
    grid_label(g, first, v, label, sizeof label);
    for (int i = first; i < g->cells; i++) {
        const cellsum *c = sums_at(s, k, i);
        grid_label(g, i, v, other, sizeof other);
        if (isnan(c->mean) || (v < 0 ? i != first : strcmp(label, other) != 0)) continue;
        out[n][0] = axis_at(x, x_of(g, i, v));
        out[n][1] = c->mean;
        out[n++][2] = c->sd;
    }
    qsort(out, (size_t)n, sizeof *out, by_x);
    return n;
}

static void draw_line(const plot *p, const sums *s, int k, int v, int first, int series, int lines, const axis *x)
{
    const int cells = s->r->g->cells;
    double(*at)[3] = calloc((size_t)cells, sizeof *at), *px = calloc((size_t)cells, sizeof *px),
    *py = calloc((size_t)cells, sizeof *py);
    if (!at || !px || !py) abort();
    const int n = points_of(s, k, v, first, x, at);
    const double aside = v < 0 ? 0.0 : (series - (lines - 1) / 2.0) * BESIDE * (p->x1 - p->x0);
    for (int i = 0; i < n; i++) {
        px[i] = fmin(p->x1, fmax(p->x0, at[i][0] + aside));
        py[i] = at[i][1];
        if (at[i][2] > 0) plot_bar(p, px[i], py[i] - at[i][2], py[i] + at[i][2], series);
    }
    if (n > 1) plot_line(p, px, py, n, series);
    for (int i = 0; i < n; i++) plot_dot(p, px[i], py[i], 3.2, series);
    free(at);
    free(px);
    free(py);
}

void chart_draw(FILE *f, const sums *s, int k, double left, double top)
{
    const grid *g = s->r->g;
    const int v = along(g), lines = lines_of(s, k, v), rows = key_rows(s, k);
    axis x = { INFINITY, -INFINITY, false }, y = { INFINITY, -INFINITY, false };
    char below[6 * LABEL], title[80];
    fit(s, k, v, &x, &y);
    escape(v < 0 ? "" : grid_word(g->at[g->varying[v]].key), below, sizeof below);
    snprintf(title, sizeof title, "%s%s", measures[k].label, runs_private(s->r) ? "" : " (NOT PRIVATE)");
    const plot p = { f, x.lo, x.hi, y.lo, y.hi, title, below, "mean and standard deviation", rows };
    plot_open(&p, left, top);
    if (v < 0) mark_cells(&p, g);
    else axis_mark(&p, &x, plot_mark_x);
    axis_mark(&p, &y, plot_mark_y);
    const bool two = is_narrow(g, v);
    for (int i = 0, n = 0; i < g->cells; i++) {
        char label[6 * LABEL], numbered[6 * LABEL + 16];
        if (!first_of_line(s, k, i, v)) continue;
        draw_line(&p, s, k, v, i, n, lines, &x);
        label_of(g, i, v, label);
        if (v < 0) snprintf(numbered, sizeof numbered, "%d: %s", i + 1, label);
        else snprintf(numbered, sizeof numbered, "%s", label);
        if (rows) plot_key(&p, two ? n / 2 : n, two && n % 2, n, numbered);
        n++;
    }
    plot_close(&p);
}
