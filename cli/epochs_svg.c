/* epochs_svg.c - what passes of block coordinate descent cost: epsilon against epochs, a line for every noise schedule.
 *
 * Left: all that is released, which is what is certified.  Right: the last weights alone, under assumptions.  Both have
 * an axis of their own, since the second can be far from the first. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

enum { MAX = 30000, LINE = 20 };

static int numbers(jv v, double *out)
{
    int n = 0;
    for (jv_iter it = jv_begin(v); n < MAX && jv_next(&it);) out[n++] = jv_num(it.value);
    return n;
}

static double largest(jv v, const char *key, double *y)
{
    double most = 0.0;
    for (jv_iter it = jv_begin(jv_get(v, "schedules")); jv_next(&it);) {
        const int n = numbers(jv_get(it.value, key), y);
        for (int k = 0; k < n; k++) most = isfinite(y[k]) ? fmax(most, y[k]) : most;
    }
    return most > 0.0 ? most : 1.0;
}

static void panel(FILE *f, jv v, const char *key, const char *title, double at)
{
    static double x[MAX], y[MAX];
    const double end = jv_num(jv_get(v, "epochs")), most = largest(v, key, y), step = plot_step(most);
    const plot p = { f, 0, end, 0, 1.08 * most, title, "epochs", "epsilon, at most" };
    int series = 0;
    plot_open(&p, at, 0);
    for (double m = 0; m <= end * 1.0001; m += plot_step(end)) plot_mark_x(&p, m, "%.4g");
    for (double m = 0; m <= p.y1; m += step) plot_mark_y(&p, m, "%.4g");
    for (jv_iter it = jv_begin(jv_get(v, "schedules")); jv_next(&it); series++) {
        const int n = numbers(jv_get(it.value, key), y);
        for (int k = 0; k < n; k++) x[k] = k + 1;
        plot_line(&p, x, y, n, series);
    }
    plot_close(&p);
}

/* Names of the schedules below the panels, with a piece of their lines. */
static void legend(FILE *f, jv v, double height)
{
    char name[120];
    int series = 0;
    for (jv_iter it = jv_begin(jv_get(v, "schedules")); jv_next(&it); series++) {
        const plot p = { f, 0, 1, 0, 1, "", "", "" };
        const double y = height + LINE * (series + 0.7);
        fprintf(f, "<svg x=\"70\" y=\"%g\" width=\"46\" height=\"8\" viewBox=\"70 36 46 8\">\n", y - 8);
        plot_line(&p, (const double[]) { 0, 0.13 }, (const double[]) { 1, 1 }, 2, series);
        fprintf(f,
                "</svg>\n<text class=\"ink\" x=\"126\" y=\"%g\" fill=\"#1b2733\" "
                "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">noise variance %s</text>\n",
                y, jv_str(jv_get(it.value, "noise"), name, sizeof name));
    }
}

char *epochs_svg(jv v)
{
    char *text = NULL;
    size_t len;
    int schedules = 0;
    for (jv_iter it = jv_begin(jv_get(v, "schedules")); jv_next(&it);) schedules++;
    const int width = 2 * plot_width, height = plot_height + LINE * (schedules + 1);
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    panel(f, v, "composition", "All releases (certified)", 0);
    panel(f, v, "hidden_state", "Last weights alone (conditional)", plot_width);
    legend(f, v, plot_height);
    fputs("</svg>\n", f);
    fclose(f);
    return text;
}
