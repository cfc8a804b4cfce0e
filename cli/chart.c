/* chart.c - one panel of a result: axes that fit the numbers, lines, spread, legend.
 *
 * A logarithmic axis is drawn in log10 of its values with marks at powers of ten, or at 1, 2, 5 where there are few.
 * What is not positive does not appear on it. */
#include "repro/repro.h"

#include <stdlib.h>
#include <string.h>

typedef struct axis {
    double lo, hi;
    bool log;
} axis;

static double on(const axis *a, double v)
{
    return a->log ? log10(v) : v;
}

static void widen(axis *a, double v)
{
    if (isnan(v) || (a->log && !(v > 0))) return;
    a->lo = fmin(a->lo, on(a, v));
    a->hi = fmax(a->hi, on(a, v));
}

/* Some air, and never an empty range. */
static void settle(axis *a, double air)
{
    if (!(a->lo <= a->hi)) *a = (axis) { 0, 1, a->log };
    double range = a->hi - a->lo;
    if (!(range > 1e-9 * fabs(a->hi))) range = a->hi != 0 ? fabs(a->hi) : 1.0;
    const bool from_zero = !a->log && a->lo >= 0 && a->lo - air * range < 0;
    a->lo = from_zero ? 0.0 : a->lo - air * range;
    a->hi += air * range;
}

typedef void (*marker)(const plot *p, double v, const char *fmt);

/* Less than a factor of eight from end to end: the marks of a linear axis, where they lie on this one. */
static void mark_narrow(const plot *p, const axis *a, marker mark_at)
{
    const double lo = pow(10.0, a->lo), hi = pow(10.0, a->hi), step = plot_step(hi - lo);
    for (double v = ceil(lo / step) * step; v <= hi; v += step) {
        char text[32];
        snprintf(text, sizeof text, "%.3g", v);
        mark_at(p, log10(v), text);
    }
}

static void mark_log(const plot *p, const axis *a, marker mark_at)
{
    static const double within[] = { 1, 2, 5 };
    const double decades = a->hi - a->lo;
    const int each = decades > 7 ? 2 : 1, steps = decades < 1.6 ? 3 : 1;
    for (int k = (int)floor(a->lo); k <= (int)ceil(a->hi); k++)
        for (int i = 0; i < steps; i++) {
            char text[32];
            const double v = k + log10(within[i]);
            if (v < a->lo || v > a->hi || k % each != 0) continue;
            snprintf(text, sizeof text, k < -3 || k > 4 ? "%.0e" : "%g", within[i] * pow(10.0, k));
            mark_at(p, v, text); /* no % in it, so the value is not printed */
        }
}

static void mark(const plot *p, const axis *a, marker mark_at)
{
    if (a->log) {
        (a->hi - a->lo < 0.9 ? mark_narrow : mark_log)(p, a, mark_at);
        return;
    }
    const double step = plot_step(a->hi - a->lo);
    for (double v = ceil(a->lo / step) * step; v <= a->hi + 1e-9 * step; v += step)
        mark_at(p, fabs(v) < 1e-9 * step ? 0.0 : v, "%.4g");
}

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
        widen(x, p->x);
        widen(y, p->mean);
        if (!isnan(p->x)) widen(y, p->paper); /* no cross is drawn at a level */
        if (!isnan(p->spread) && (!y->log || p->spread < 0.9 * p->mean)) widen(y, p->mean - p->spread);
        if (!isnan(p->spread)) widen(y, p->mean + p->spread);
    }
    settle(x, 0.03);
    settle(y, 0.06);
}

static void draw_spread(const plot *p, const point *q, const axis *x, const axis *y, int series)
{
    const double low = q->mean - q->spread, floor_y = y->log && !(low > 0) ? p->y0 : on(y, low);
    if (q->spread > 0 && !(y->log && !(q->mean > 0)))
        plot_bar(p, on(x, q->x), floor_y, on(y, q->mean + q->spread), series);
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
            px[n] = p->x0, py[n++] = on(y, q->mean);
            px[n] = p->x1, py[n++] = on(y, q->mean);
            continue;
        }
        draw_spread(p, q, x, y, series);
        px[n] = on(x, q->x);
        py[n++] = on(y, q->mean);
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
            plot_cross(p, on(x, q->x), on(y, q->paper), series);
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
    mark(&p, &x, plot_mark_x);
    mark(&p, &y, plot_mark_y);
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
