/* epochs_svg.c - what passes of block coordinate descent cost: epsilon against epochs, a line per noise schedule.
 *
 * Left: all that is released, which is what is certified.  Right: the last weights alone, under assumptions.  Both
 * have an axis of their own, since the second can be far from the first. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

enum { MAX = 30000 };

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

static void panel(FILE *f, jv v, const char *key, const char *title, double at, int schedules)
{
    static double x[MAX], y[MAX];
    char name[120];
    const double end = jv_num(jv_get(v, "epochs")), most = largest(v, key, y), step = plot_step(most);
    const plot p = { f, 0, end, 0, 1.08 * most, title, "epochs", "epsilon, at most", schedules };
    int series = 0;
    plot_open(&p, at, 0);
    for (double m = 0; m <= end * 1.0001; m += plot_step(end)) plot_mark_x(&p, m, "%.4g");
    for (double m = 0; m <= p.y1; m += step) plot_mark_y(&p, m, "%.4g");
    for (jv_iter it = jv_begin(jv_get(v, "schedules")); jv_next(&it); series++) {
        const int n = numbers(jv_get(it.value, key), y);
        for (int k = 0; k < n; k++) x[k] = k + 1;
        plot_line(&p, x, y, n, series);
        plot_key(&p, series, false, series, jv_str(jv_get(it.value, "noise"), name, sizeof name));
    }
    plot_close(&p);
}

char *epochs_svg(jv v)
{
    char *text = NULL;
    size_t len;
    int schedules = 0;
    for (jv_iter it = jv_begin(jv_get(v, "schedules")); jv_next(&it);) schedules++;
    const int width = 2 * plot_width, height = plot_height + plot_key_height * (schedules + 1);
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, height, width, height);
    panel(f, v, "composition", "All releases (certified)", 0, schedules);
    panel(f, v, "hidden_state", "Last weights alone (conditional)", plot_width, schedules);
    fputs("</svg>\n", f);
    fclose(f);
    return text;
}
