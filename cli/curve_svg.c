/* curve_svg.c - a privacy curve as a picture: delta against epsilon, and what any test can achieve.
 *
 * Two panels of plain SVG, no scripts, no fonts of their own.  Left: log10 delta from 0 down to -10.
 * Right: type II against type I error; the shaded region is out of reach of every test. */
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 256, W = 360, H = 300, LEFT = 70, TOP = 56, GAP = 110 };
static const char ink[] = "#1b2733", grid[] = "#dfe4ea", line[] = "#0b62a8", shade[] = "#cfe3f5", soft[] = "#5b6b7b";

typedef struct canvas {
    FILE *f;
    double x0, y0, x1, y1; /* data range: left, bottom, right, top */
    double ox;             /* left edge of the panel */
} canvas;

static double px(const canvas *c, double x)
{
    return c->ox + W * (x - c->x0) / (c->x1 - c->x0);
}

static double py(const canvas *c, double y)
{
    return TOP + H * (c->y1 - y) / (c->y1 - c->y0);
}

static void label(const canvas *c, double x, double y, const char *anchor, const char *fmt, ...)
{
    va_list ap;
    fprintf(c->f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor, ink);
    va_start(ap, fmt);
    vfprintf(c->f, fmt, ap);
    va_end(ap);
    fputs("</text>\n", c->f);
}

static void frame(const canvas *c, const char *title, const char *below, const char *beside)
{
    fprintf(c->f, "<rect x=\"%.1f\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"%s\"/>\n", c->ox, TOP,
            W, H, ink);
    fprintf(c->f, "<text x=\"%.1f\" y=\"%d\" font-size=\"15\" font-weight=\"bold\" fill=\"%s\">%s</text>\n", c->ox,
            TOP - 16, ink, title);
    label(c, c->ox + W / 2.0, TOP + H + 42, "middle", "%s", below);
    fprintf(c->f,
            "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\" fill=\"%s\">%s</text>\n",
            c->ox - 50, TOP + H / 2.0, ink, beside);
}

static void grid_x(const canvas *c, double x, const char *fmt)
{
    fprintf(c->f, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\"/>\n", px(c, x), TOP, px(c, x),
            TOP + H, grid);
    label(c, px(c, x), TOP + H + 18, "middle", fmt, x);
}

static void grid_y(const canvas *c, double y, const char *fmt)
{
    fprintf(c->f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", c->ox, py(c, y),
            c->ox + W, py(c, y), grid);
    label(c, c->ox - 8, py(c, y) + 4, "end", fmt, y);
}

/* 1, 2 or 5 times a power of ten: about five marks on [0, end]. */
static double nice_step(double end)
{
    const double raw = end / 5.0, p = pow(10.0, floor(log10(raw))), m = raw / p;
    return p * (m < 1.5 ? 1.0 : m < 3.5 ? 2.0 : m < 7.5 ? 5.0 : 10.0);
}

static void points(const canvas *c, const double *x, const double *y, int n)
{
    for (int i = 0; i < n; i++)
        if (y[i] >= c->y0) fprintf(c->f, "%.2f,%.2f ", px(c, x[i]), py(c, y[i] > c->y1 ? c->y1 : y[i]));
}

static int numbers(jv v, double *out)
{
    int n = 0;
    for (jv_iter it = jv_begin(v); n < MAX && jv_next(&it);) out[n++] = jv_num(it.value);
    return n;
}

static void curve_panel(FILE *f, jv v)
{
    double e[MAX], d[MAX];
    const int n = numbers(jv_get(v, "epsilon"), e);
    numbers(jv_get(v, "delta"), d);
    for (int i = 0; i < n; i++) d[i] = d[i] > 0 ? log10(d[i]) : -400;
    const double end = n ? e[n - 1] : 1.0, step = nice_step(end);
    const canvas c = { f, 0, -10, end, 0, LEFT };
    for (double x = 0; x <= end * 1.0001; x += step) grid_x(&c, x, "%.4g");
    for (int k = 0; k >= -10; k -= 2) grid_y(&c, k, "1e%g");
    fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" points=\"", line);
    points(&c, e, d, n);
    fputs("\"/>\n", f);
    frame(&c, "Privacy curve", "epsilon", "delta, at most");
}

static void test_panel(FILE *f, jv v)
{
    double a[MAX], b[MAX];
    const int n = numbers(jv_get(v, "alpha"), a);
    numbers(jv_get(v, "beta"), b);
    const canvas c = { f, 0, 0, 1, 1, LEFT + W + GAP };
    fprintf(f, "<polygon fill=\"%s\" points=\"%.2f,%.2f ", shade, px(&c, 0), py(&c, 0));
    points(&c, a, b, n);
    fputs("\"/>\n", f);
    for (int k = 0; k <= 4; k++) grid_x(&c, 0.25 * k, "%.2f");
    for (int k = 0; k <= 4; k++) grid_y(&c, 0.25 * k, "%.2f");
    fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-dasharray=\"5 4\"/>\n",
            px(&c, 0), py(&c, 1), px(&c, 1), py(&c, 0), soft);
    fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" points=\"", line);
    points(&c, a, b, n);
    fputs("\"/>\n", f);
    label(&c, px(&c, 0.66), py(&c, 0.42), "start", "blind guessing");
    label(&c, px(&c, 0.04), py(&c, 0.04), "start", "out of reach");
    frame(&c, "Errors of any test for one row", "false alarms", "misses, at least");
}

char *curve_svg(jv v)
{
    char *text = NULL, relation[32];
    size_t len;
    const int width = LEFT + 2 * W + GAP + 40, height = TOP + H + 84;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
            "fill=\"#ffffff\"/>\n",
            width, height, width, height);
    curve_panel(f, v);
    test_panel(f, v);
    fprintf(f,
            "<text x=\"%d\" y=\"%d\" fill=\"%s\">relation %s; fitted by a Gaussian with mu = %.4g at the points "
            "shown</text>\n",
            LEFT, height - 14, soft, jv_str(jv_get(v, "relation"), relation, sizeof relation),
            jv_num(jv_get(v, "mu")));
    fputs("</svg>\n", f);
    fclose(f);
    return text;
}
