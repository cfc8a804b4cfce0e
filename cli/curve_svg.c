/* curve_svg.c - a privacy curve as a picture: delta against epsilon, and what any test can achieve.
 *
 * Left: log10 delta from 0 down to -10.  Right: type II against type I error; the shaded region is out of reach of
 * every test. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

enum { MAX = 256, CAPTION = 30 };

static int numbers(jv v, double *out)
{
    int n = 0;
    for (jv_iter it = jv_begin(v); n < MAX && jv_next(&it);) out[n++] = jv_num(it.value);
    return n;
}

void draw_delta(FILE *f, jv v, double x, double y)
{
    double e[MAX], d[MAX];
    const int n = numbers(jv_get(v, "epsilon"), e);
    numbers(jv_get(v, "delta"), d);
    for (int i = 0; i < n; i++) d[i] = d[i] > 0 ? log10(d[i]) : -400;
    const double end = n ? e[n - 1] : 1.0, step = plot_step(end);
    const plot p = { f, 0, end, -10, 0, "Privacy curve", "epsilon", "delta, at most", 0 };
    plot_open(&p, x, y);
    for (double m = 0; m <= end * 1.0001; m += step) plot_mark_x(&p, m, "%.4g");
    for (int k = 0; k >= -10; k -= 2) plot_mark_y(&p, k, "1e%g");
    plot_line(&p, e, d, n, 0);
    plot_close(&p);
}

void draw_tests(FILE *f, jv v, double x, double y)
{
    double a[MAX], b[MAX];
    const int n = numbers(jv_get(v, "alpha"), a);
    numbers(jv_get(v, "beta"), b);
    const plot p = { f, 0, 1, 0, 1, "Errors of any test for one unit", "false alarms", "misses, at least", 0 };
    plot_open(&p, x, y);
    plot_area(&p, a, b, n);
    for (int k = 0; k <= 4; k++) plot_mark_x(&p, 0.25 * k, "%.2f");
    for (int k = 0; k <= 4; k++) plot_mark_y(&p, 0.25 * k, "%.2f");
    plot_diagonal(&p, true);
    plot_line(&p, a, b, n, 0);
    plot_text(&p, 0.66, 0.42, "start", "blind guessing");
    plot_text(&p, 0.04, 0.04, "start", "out of reach");
    plot_close(&p);
}

char *curve_svg(jv v)
{
    char *text = NULL, relation[32];
    size_t len;
    const int width = 2 * plot_width, height = plot_height + CAPTION;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    draw_delta(f, v, 0, 0);
    draw_tests(f, v, plot_width, 0);
    fprintf(f,
            "<text x=\"70\" y=\"%d\" fill=\"#5b6b7b\" font-family=\"Helvetica, Arial, sans-serif\" "
            "font-size=\"12\">relation %s; fitted by a Gaussian with mu = %.4g at the points shown</text>\n",
            height - 14, jv_str(jv_get(v, "relation"), relation, sizeof relation), jv_num(jv_get(v, "mu")));
    fputs("</svg>\n", f);
    fclose(f);
    return text;
}
