/* plot.c - small line plots as SVG: no scripts, no fonts of their own.
 *
 * Every element has its colour as an attribute and a class: alone the picture looks as drawn here, and a page that
 * contains it may recolour the classes (a dark page, a print).  Series differ in colour and in dashes, so that
 * neither colour blindness nor a grey printer makes them alike. */
#include "cli.h"

#include <math.h>
#include <stdarg.h>

enum { W = 360, H = 300, LEFT = 70, TOP = 40, RIGHT = 24, BOTTOM = 56 };
static const char *const colours[] = { "#0b62a8", "#d55e00", "#009e73", "#cc79a7", "#b8860b",
                                       "#56b4e9", "#7b5aa6", "#8c1d40", "#5f6b2d" };
static const char *const dashes[] = { "none", "7 4", "2 3", "10 3 2 3", "5 5", "1 4", "12 4", "7 2 1 2", "3 6" };
enum { SERIES = sizeof colours / sizeof *colours };
static const char ink[] = "#1b2733", grid[] = "#dfe4ea", shade[] = "#cfe3f5", soft[] = "#5b6b7b";

const int plot_width = LEFT + W + RIGHT, plot_height = TOP + H + BOTTOM, plot_key_height = 20;

static double px(const plot *p, double x)
{
    return LEFT + W * (x - p->x0) / (p->x1 - p->x0);
}

static double py(const plot *p, double y)
{
    return TOP + H * (p->y1 - y) / (p->y1 - p->y0);
}

void plot_open(const plot *p, double x, double y)
{
    const int height = plot_height + p->rows * plot_key_height;
    fprintf(p->f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"%s\" x=\"%g\" y=\"%g\" width=\"%d\" "
            "height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n",
            p->title, x, y, plot_width, height, plot_width, height);
}

static void text_at(const plot *p, double x, double y, const char *anchor, const char *class, const char *text)
{
    fprintf(p->f, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", class, x, y,
            anchor, ink, text);
}

void plot_text(const plot *p, double x, double y, const char *anchor, const char *text)
{
    text_at(p, px(p, x), py(p, y), anchor, "ink", text);
}

void plot_mark_x(const plot *p, double x, const char *fmt)
{
    char text[32];
    snprintf(text, sizeof text, fmt, x);
    fprintf(p->f, "<line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\"/>\n", px(p, x), TOP,
            px(p, x), TOP + H, grid);
    text_at(p, px(p, x), TOP + H + 18, "middle", "ink", text);
}

void plot_mark_y(const plot *p, double y, const char *fmt)
{
    char text[32];
    snprintf(text, sizeof text, fmt, y);
    fprintf(p->f, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\"/>\n", LEFT,
            py(p, y), LEFT + W, py(p, y), grid);
    text_at(p, LEFT - 8, py(p, y) + 4, "end", "ink", text);
}

/* 1, 2 or 5 times a power of ten: about five marks over the range. */
double plot_step(double range)
{
    const double raw = range / 5.0, p = pow(10.0, floor(log10(raw))), m = raw / p;
    return p * (m < 1.5 ? 1.0 : m < 3.5 ? 2.0 : m < 7.5 ? 5.0 : 10.0);
}

static void points(const plot *p, const double *x, const double *y, int n)
{
    for (int i = 0; i < n; i++)
        if (y[i] >= p->y0) fprintf(p->f, "%.2f,%.2f ", px(p, x[i]), py(p, y[i] > p->y1 ? p->y1 : y[i]));
}

void plot_line(const plot *p, const double *x, const double *y, int n, int series)
{
    fprintf(p->f,
            "<polyline class=\"series%d\" fill=\"none\" stroke=\"%s\" stroke-dasharray=\"%s\" stroke-width=\"2.5\" "
            "points=\"",
            series % SERIES, colours[series % SERIES], dashes[series % SERIES]);
    points(p, x, y, n);
    fputs("\"/>\n", p->f);
}

/* Between the line and the lower left corner. */
void plot_area(const plot *p, const double *x, const double *y, int n)
{
    fprintf(p->f, "<polygon class=\"shade\" fill=\"%s\" points=\"%.2f,%.2f ", shade, px(p, p->x0), py(p, p->y0));
    points(p, x, y, n);
    fputs("\"/>\n", p->f);
}

void plot_dot(const plot *p, double x, double y, double radius, int series)
{
    fprintf(p->f, "<circle class=\"dot%d\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.1f\" fill=\"%s\"/>\n", series % SERIES,
            px(p, x), py(p, y), radius, colours[series % SERIES]);
}

/* From y0 to y1, with short ends: how far runs spread.  What lies outside the frame is cut. */
void plot_bar(const plot *p, double x, double y0, double y1, int series)
{
    const double top = py(p, y1 < p->y1 ? y1 : p->y1), low = py(p, y0 > p->y0 ? y0 : p->y0), at = px(p, x);
    if (!(y1 >= p->y0 && y0 <= p->y1)) return;
    fprintf(p->f,
            "<path class=\"series%d\" stroke=\"%s\" stroke-width=\"1.3\" fill=\"none\" "
            "d=\"M%.2f %.2fV%.2fM%.2f %.2fh8M%.2f %.2fh8\"/>\n",
            series % SERIES, colours[series % SERIES], at, low, top, at - 4, low, at - 4, top);
}

/* An open circle, so that the line through it shows. */
static void diamond(const plot *p, double x, double y, const char *class, const char *colour)
{
    fprintf(
        p->f,
        "<path class=\"%s\" stroke=\"%s\" stroke-width=\"1.8\" fill=\"none\" d=\"M%.2f %.2fl6 6l-6 6l-6 -6z\"/>\n",
        class, colour, x, y - 6);
}

static void cross(const plot *p, double x, double y, const char *class, const char *colour)
{
    fprintf(p->f,
            "<path class=\"%s\" stroke=\"%s\" stroke-width=\"2\" fill=\"none\" d=\"M%.2f %.2fl9 9m-9 0l9 -9\"/>\n",
            class, colour, x - 4.5, y - 4.5);
}

void plot_cross(const plot *p, double x, double y, int series)
{
    char class[16];
    snprintf(class, sizeof class, "series%d", series % SERIES);
    cross(p, px(p, x), py(p, y), class, colours[series % SERIES]);
}

void plot_diamond(const plot *p, double x, double y, int series)
{
    char class[16];
    snprintf(class, sizeof class, "series%d", series % SERIES);
    diamond(p, px(p, x), py(p, y), class, colours[series % SERIES]);
}

static double key_x(bool right)
{
    return right ? LEFT + W / 2.0 - 10 : 14;
}

static double key_y(int row)
{
    return TOP + H + BOTTOM + 4 + plot_key_height * row;
}

/* One entry of the legend: a piece of the line, and what it is. */
void plot_key(const plot *p, int row, bool right, int series, const char *label)
{
    const double x = key_x(right), y = key_y(row);
    fprintf(p->f,
            "<line class=\"series%d\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-dasharray=\"%s\" stroke-width=\"2.5\"/>\n",
            series % SERIES, x, y, x + 30, y, colours[series % SERIES], dashes[series % SERIES]);
    fprintf(p->f, "<circle class=\"dot%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\" fill=\"%s\"/>\n", series % SERIES,
            x + 15, y, colours[series % SERIES]);
    text_at(p, x + 38, y + 4, "start", "ink", label);
}

void plot_key_cross(const plot *p, int row, bool right, const char *label)
{
    cross(p, key_x(right) + 15, key_y(row), "soft", soft);
    text_at(p, key_x(right) + 38, key_y(row) + 4, "start", "ink", label);
}

void plot_key_diamond(const plot *p, int row, bool right, const char *label)
{
    diamond(p, key_x(right) + 15, key_y(row), "soft", soft);
    text_at(p, key_x(right) + 38, key_y(row) + 4, "start", "ink", label);
}

/* Dashed, at zero. */
void plot_zero(const plot *p)
{
    fprintf(
        p->f,
        "<line class=\"soft\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" stroke-dasharray=\"5 4\"/>\n",
        LEFT, py(p, 0.0), LEFT + W, py(p, 0.0), soft);
}

/* Around zero, at the left edge: a standard deviation of noise up and down. */
void plot_noise(const plot *p, double sd)
{
    fprintf(p->f,
            "<path class=\"whisker\" stroke=\"%s\" stroke-width=\"1.5\" fill=\"none\" "
            "d=\"M%d %.2fV%.2fM%d %.2fh8M%d %.2fh8\"/>\n",
            ink, LEFT + 10, py(p, -sd), py(p, sd), LEFT + 6, py(p, -sd), LEFT + 6, py(p, sd));
}

/* Dashed, from corner to corner: what guessing, or perfection, would give. */
void plot_diagonal(const plot *p, bool falling)
{
    fprintf(p->f,
            "<line class=\"soft\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-dasharray=\"5 4\"/>\n",
            LEFT, falling ? TOP : TOP + H, LEFT + W, falling ? TOP + H : TOP, soft);
}

/* Frame, title and axis names last, over everything else. */
void plot_close(const plot *p)
{
    fprintf(p->f,
            "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"%s\"/>\n",
            LEFT, TOP, W, H, ink);
    fprintf(p->f,
            "<text class=\"ink\" x=\"%d\" y=\"%d\" font-size=\"15\" font-weight=\"bold\" fill=\"%s\">%s</text>\n",
            LEFT, TOP - 14, ink, p->title);
    text_at(p, LEFT + W / 2.0, TOP + H + 42, "middle", "ink", p->below);
    fprintf(p->f,
            "<text class=\"ink\" transform=\"translate(%d %.1f) rotate(-90)\" text-anchor=\"middle\" "
            "fill=\"%s\">%s</text>\n</svg>\n",
            LEFT - 55, TOP + H / 2.0, ink, p->beside);
}
