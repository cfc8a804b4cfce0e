/* chart.c - one panel of a result: axes that fit the numbers, lines, spread, legend.
 *
 * What is not positive does not appear on a logarithmic axis. */
#include "repro/repro.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is drawn ------------------------------------------------------------------------------------------ */

static const sweep *sweep_of(const item *it, int k)
{
    const sweep *s = it->sweeps;
    while (strcmp(s->name, it->panels[k].sweep) != 0) s++;
    return s;
}

static bool is_drawn(const summary *s, int k, const char *label)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i].panel == k && strcmp(s->at[i].line, label) == 0) return true;
    return false;
}

static bool two_columns(const sweep *s)
{
    for (const line *l = s->lines; l->label; l++)
        if (strlen(l->label) > 24) return false;
    return true;
}

static bool has_printed(const item *it, int k)
{
    for (const printed *w = it->printed; w && w->line; w++)
        if (w->panel == k && !isnan(w->x)) return true;
    return false;
}

/* Curves along training runs end with the model that is returned. */
static bool ends_with_model(const item *it, int k)
{
    return it->curve && (it->panels[k].flags & CURVE);
}

static int key_rows(const item *it, int k)
{
    const sweep *s = sweep_of(it, k);
    int n = has_printed(it, k) + ends_with_model(it, k);
    for (const line *l = s->lines; l->label; l++) n++;
    return two_columns(s) ? (n + 1) / 2 : n;
}

int panel_height(const item *it, int k)
{
    return plot_height + plot_key_height * key_rows(it, k) + 8;
}

static void fit(const summary *s, int k, axis *x, axis *y)
{
    for (int i = 0; i < s->n; i++) {
        const point *p = &s->at[i];
        if (p->panel != k) continue;
        axis_widen(x, p->x);
        axis_widen(y, p->mean);
        if (!isnan(p->x)) axis_widen(y, p->paper); /* no cross is drawn at a level */
        if (!isnan(p->spread) && (!y->log || p->spread < 0.9 * p->mean)) axis_widen(y, p->mean - p->spread);
        if (!isnan(p->spread)) axis_widen(y, p->mean + p->spread);
    }
    axis_settle(x, 0.03);
    axis_settle(y, 0.06);
}

static void draw_spread(const plot *p, const point *q, const axis *x, const axis *y, int series)
{
    const double low = q->mean - q->spread, floor_y = y->log && !(low > 0) ? p->y0 : axis_at(y, low);
    if (q->spread > 0 && !(y->log && !(q->mean > 0)))
        plot_bar(p, axis_at(x, q->x), floor_y, axis_at(y, q->mean + q->spread), series);
}

static void draw_line(const plot *p, const summary *s, int k, const char *label, const axis *x, const axis *y,
                      int series, bool model)
{
    double *px = calloc((size_t)s->n + 2, sizeof *px), *py = calloc((size_t)s->n + 2, sizeof *py);
    int n = 0;
    if (!px || !py) abort();
    for (int i = 0; i < s->n; i++) {
        const point *q = &s->at[i];
        if (q->panel != k || strcmp(q->line, label) != 0 || isnan(q->mean) || (y->log && !(q->mean > 0))) continue;
        if (isnan(q->x)) {
            px[n] = p->x0, py[n++] = axis_at(y, q->mean);
            px[n] = p->x1, py[n++] = axis_at(y, q->mean);
            continue;
        }
        draw_spread(p, q, x, y, series);
        px[n] = axis_at(x, q->x);
        py[n++] = axis_at(y, q->mean);
    }
    plot_line(p, px, py, n, series);
    for (int i = 0; i + model < n && n < 32; i++)
        if (px[i] > p->x0 && px[i] < p->x1) plot_dot(p, px[i], py[i], 3.2, series);
    if (model && n) plot_diamond(p, px[n - 1], py[n - 1], series);
    free(px);
    free(py);
}

/* Crosses: what the paper prints. */
static void draw_paper(const plot *p, const summary *s, int k, const char *label, const axis *x, const axis *y,
                       int series)
{
    for (int i = 0; i < s->n; i++) {
        const point *q = &s->at[i];
        if (q->panel == k && strcmp(q->line, label) == 0 && !isnan(q->paper) && !isnan(q->x))
            plot_cross(p, axis_at(x, q->x), axis_at(y, q->paper), series);
    }
}

void panel_draw(FILE *f, const item *it, int k, const summary *s, double left, double top)
{
    const panel *w = &it->panels[k];
    const sweep *sw = sweep_of(it, k);
    axis x = { INFINITY, -INFINITY, (w->flags & LOG_X) != 0 }, y = { INFINITY, -INFINITY, (w->flags & LOG_Y) != 0 };
    fit(s, k, &x, &y);
    const plot p = { f, x.lo, x.hi, y.lo, y.hi, w->title, w->below, w->beside, key_rows(it, k) };
    plot_open(&p, left, top);
    axis_mark(&p, &x, plot_mark_x);
    axis_mark(&p, &y, plot_mark_y);
    const bool two = two_columns(sw);
    int shown = 0;
    for (int i = 0; sw->lines[i].label; i++) {
        if (!is_drawn(s, k, sw->lines[i].label)) continue;
        draw_line(&p, s, k, sw->lines[i].label, &x, &y, i, ends_with_model(it, k));
        draw_paper(&p, s, k, sw->lines[i].label, &x, &y, i);
        plot_key(&p, two ? shown / 2 : shown, two && shown % 2, i, sw->lines[i].label);
        shown++;
    }
    if (has_printed(it, k)) plot_key_cross(&p, two ? shown / 2 : shown, two && shown % 2, "printed in the paper");
    shown += has_printed(it, k);
    if (ends_with_model(it, k)) plot_key_diamond(&p, two ? shown / 2 : shown, two && shown % 2, "model returned");
    plot_close(&p);
}
