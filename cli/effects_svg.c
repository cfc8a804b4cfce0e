/* effects_svg.c - what a column adds to a score, as a picture: a curve over the declared range, or bars of a
 * category; and the parts of one row's score, as bars.
 *
 * Knots at very different distances (those of a logarithmic scale) are drawn at equal ones, with their values below,
 * since a curve is a straight line between neighbours in either case. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1024, BAR = 22, TOP = 34, NAMES = 170, LONGEST = 24, BARS = 30 };

typedef struct shape { /* a column's points */
    int n, outputs;
    double at[MOST], x[MOST];                   /* values, and where they are drawn */
    double effect[EFFECT_CLASSES][MOST], noise; /* at most; NAN: not known */
    bool by_knots, date;
    char name[160];
} shape;

/* At most so many characters of a text, without markup. */
static const char *short_text(jv v, int most, char *out, size_t cap)
{
    char raw[256], *text = NULL;
    size_t len, n = 0;
    int characters = 0;
    jv_str(v, raw, sizeof raw);
    for (; raw[n] && characters < most; characters++) do
            n++;
        while ((raw[n] & 0xc0) == 0x80);
    const bool cut = raw[n] != '\0';
    raw[n] = '\0';
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    html_put(f, raw);
    if (fclose(f) != 0) abort();
    snprintf(out, cap, "%s%s", text, cut ? "&#8230;" : "");
    free(text);
    return out;
}

static int numbers(jv v, double *out)
{
    int n = 0;
    for (jv_iter it = jv_begin(v); n < MOST && jv_next(&it);) out[n++] = jv_num(it.value);
    return n;
}

const char *effect_at(bool date, double v, char out[40])
{
    struct tm t;
    const time_t seconds = (time_t)(v * 86400.0);
    if (date && gmtime_r(&seconds, &t)) strftime(out, 40, "%Y-%m-%d", &t);
    else snprintf(out, 40, "%.5g", v);
    return out;
}

static void read_shape(jv effects, jv column, shape *s)
{
    char type[16];
    double least = INFINITY, most = 0.0;
    s->n = numbers(jv_get(column, "at"), s->at);
    s->date = strcmp(jv_str(jv_get(column, "type"), type, sizeof type), "date") == 0;
    s->outputs = 0;
    for (jv_iter it = jv_begin(jv_get(column, "effect")); s->outputs < EFFECT_CLASSES && jv_next(&it);)
        numbers(it.value, s->effect[s->outputs++]);
    s->noise = jv_num(jv_get(effects, "noise_at_most"));
    for (int i = 1; i < s->n; i++) {
        least = fmin(least, s->at[i] - s->at[i - 1]);
        most = fmax(most, s->at[i] - s->at[i - 1]);
    }
    s->by_knots = most > 20.0 * least;
    for (int i = 0; i < s->n; i++) s->x[i] = s->by_knots ? (double)i : s->at[i];
    short_text(jv_get(column, "name"), 40, s->name, sizeof s->name);
}

static axis effect_axis(const shape *s)
{
    axis y = { INFINITY, -INFINITY, false };
    for (int o = 0; o < s->outputs; o++)
        for (int i = 0; i < s->n; i++) axis_widen(&y, s->effect[o][i]);
    if (s->noise > 0.0) {
        axis_widen(&y, -s->noise);
        axis_widen(&y, s->noise);
    }
    axis_widen(&y, 0.0);
    const double air = 0.06 * fmax(y.hi - y.lo, 1e-9);
    y.lo -= air;
    y.hi += air;
    return y;
}

static void mark_values(const plot *p, const shape *s)
{
    char text[40];
    if (!s->by_knots && !s->date) {
        const axis x = { p->x0, p->x1, false };
        axis_mark(p, &x, plot_mark_x);
        return;
    }
    const int each = (s->n + 4) / 5; /* marks are at knots */
    for (int i = 0; i < s->n; i += each) plot_mark_x(p, s->x[i], effect_at(s->date, s->at[i], text));
}

static void draw_curve(FILE *f, const shape *s, const char *beside)
{
    const axis y = effect_axis(s);
    char below[300], lo[40], hi[40];
    snprintf(below, sizeof below, "%s, declared %s to %s%s", s->name, effect_at(s->date, s->at[0], lo),
             effect_at(s->date, s->at[s->n - 1], hi), s->by_knots ? " (knots at equal distances)" : "");
    const plot p = { f, s->x[0], s->x[s->n - 1], y.lo, y.hi, s->name, below, beside, 0 };
    plot_open(&p, 0, 0);
    mark_values(&p, s);
    axis_mark(&p, &y, plot_mark_y);
    plot_zero(&p);
    if (s->noise > 0.0) plot_noise(&p, s->noise);
    for (int o = 0; o < s->outputs; o++) plot_line(&p, s->x, s->effect[o], s->n, o);
    for (int i = 0; s->n <= 40 && s->outputs == 1 && i < s->n; i++) plot_dot(&p, s->x[i], s->effect[0][i], 2.4, 0);
    plot_close(&p);
}

/* ---- bars ------------------------------------------------------------------------------------------------------ */

typedef struct bar {
    char label[400];
    double value;
} bar;

static int larger(const void *a, const void *b)
{
    const double x = ((const bar *)a)->value, y = ((const bar *)b)->value;
    return (x < y) - (x > y);
}

static void one_bar(FILE *f, const bar *b, int row, double zero, double scale)
{
    const double x = zero + scale * b->value, y = TOP + BAR * row;
    fprintf(f, "<text class=\"ink\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#1b2733\">%s</text>\n", NAMES - 8,
            y + 15, b->label);
    fprintf(f, "<rect class=\"dot0\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"#0b62a8\"/>\n",
            fmin(zero, x), y + 4, fabs(x - zero), BAR - 8);
    fprintf(f, "<text class=\"ink\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#1b2733\">%+.2f</text>\n",
            plot_width - 4, y + 15, b->value);
}

static void draw_bars(FILE *f, const char *title, const bar *bars, int n)
{
    const double room = plot_width - NAMES - 56;
    double lo = 0.0, hi = 0.0;
    for (int i = 0; i < n; i++) {
        lo = fmin(lo, bars[i].value);
        hi = fmax(hi, bars[i].value);
    }
    const double scale = hi > lo ? room / (hi - lo) : 0.0, zero = NAMES - scale * lo;
    const int height = TOP + BAR * n + 8;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"%s\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n"
            "<text class=\"ink\" x=\"8\" y=\"20\" font-size=\"15\" font-weight=\"bold\" fill=\"#1b2733\">%s</text>\n",
            title, plot_width, height, plot_width, height, title);
    for (int i = 0; i < n; i++) one_bar(f, &bars[i], i, zero, scale);
    fprintf(f, "<line class=\"soft\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\" stroke=\"#5b6b7b\"/>\n</svg>\n",
            zero, TOP, zero, TOP + BAR * n);
}

/* Those of a category, the largest first; of many the largest and the smallest. */
static void draw_values(FILE *f, jv column)
{
    static bar bars[MOST];
    double effect[MOST];
    char title[160];
    jv_iter first = jv_begin(jv_get(column, "effect"));
    int n = jv_next(&first) ? numbers(first.value, effect) : 0, i = 0;
    for (jv_iter it = jv_begin(jv_get(column, "at")); i < n && jv_next(&it); i++) {
        short_text(it.value, LONGEST, bars[i].label, sizeof bars[i].label);
        bars[i].value = effect[i];
    }
    qsort(bars, (size_t)n, sizeof *bars, larger);
    if (n > BARS) memmove(bars + BARS / 2, bars + n - BARS / 2, sizeof *bars * (BARS / 2));
    draw_bars(f, short_text(jv_get(column, "name"), 40, title, sizeof title), bars, n > BARS ? BARS : n);
}

void draw_effect(FILE *f, jv effects, jv column)
{
    static shape s; /* large */
    char score[32];
    if (strcmp(jv_str(jv_get(column, "shape"), score, sizeof score), "category") == 0) {
        draw_values(f, column);
        return;
    }
    read_shape(effects, column, &s);
    draw_curve(f, &s, jv_str(jv_get(effects, "score"), score, sizeof score));
}

/* ---- pictures of their own --------------------------------------------------------------------------------- */

static FILE *open_picture(char **text, size_t *len, int height)
{
    FILE *f = open_memstream(text, len);
    if (!f) abort();
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            plot_width, height, plot_width, height);
    return f;
}

static char *close_picture(FILE *f, char **text)
{
    fputs("</svg>\n", f);
    if (fclose(f) != 0) abort();
    return *text;
}

static int picture_height(jv column)
{
    char kind[16];
    int n = 0;
    if (strcmp(jv_str(jv_get(column, "shape"), kind, sizeof kind), "category") != 0) return plot_height;
    for (jv_iter it = jv_begin(jv_get(column, "at")); jv_next(&it);) n++;
    return TOP + BAR * (n > BARS ? BARS : n) + 8;
}

char *effects_svg(jv effects)
{
    char *text;
    size_t len;
    int height = 0, y = 0;
    for (jv_iter it = jv_begin(jv_get(effects, "columns")); jv_next(&it);) height += picture_height(it.value);
    FILE *f = open_picture(&text, &len, height);
    for (jv_iter it = jv_begin(jv_get(effects, "columns")); jv_next(&it); y += picture_height(it.value)) {
        fprintf(f, "<g transform=\"translate(0 %d)\">\n", y);
        draw_effect(f, effects, it.value);
        fputs("</g>\n", f);
    }
    return close_picture(f, &text);
}

/* "age = 42" */
static void name_part(jv column, char *out, size_t cap)
{
    char name[160], value[160], type[16], day[40];
    const jv v = jv_get(column, "value");
    const bool date = strcmp(jv_str(jv_get(column, "type"), type, sizeof type), "date") == 0;
    short_text(jv_get(column, "name"), LONGEST / 2, name, sizeof name);
    if (v.p && *v.p != '"' && *v.p != 'n') effect_at(date, jv_num(v), day);
    snprintf(out, cap, "%s = %s", name,
             v.p && *v.p == '"' ? short_text(v, LONGEST / 2, value, sizeof value)
             : *v.p == 'n'      ? "missing"
                                : day);
}

char *parts_svg(jv parts)
{
    static bar bars[MOST];
    char *text;
    size_t len;
    int n = 0;
    for (jv_iter it = jv_begin(jv_get(parts, "columns")); n < MOST && jv_next(&it); n++) {
        jv_iter first = jv_begin(jv_get(it.value, "effect"));
        bars[n].value = jv_next(&first) ? jv_num(first.value) : 0.0;
        name_part(it.value, bars[n].label, sizeof bars[n].label);
    }
    FILE *f = open_picture(&text, &len, TOP + BAR * n + 8);
    draw_bars(f, "What each column adds", bars, n);
    return close_picture(f, &text);
}
