/* repro_sum.c - from runs to RESULTS/NAME.csv, NAME.svg and NAME.commands: means, spreads, the paper's numbers.
 *
 * Spread is the standard deviation over runs, n - 1 in the denominator; one run has none. */
#include "repro.h"

#include <stdlib.h>
#include <string.h>

/* ---- means -------------------------------------------------------------------------------------------------- */

static int sweep_of(const item *it, const panel *p)
{
    for (int i = 0; it->sweeps[i].name; i++)
        if (strcmp(it->sweeps[i].name, p->sweep) == 0) return i;
    abort(); /* a table is wrong */
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fabs(a);
}

static double lowest(const records *all, int of)
{
    double low = INFINITY;
    for (int i = 0; i < all->n; i++)
        if (all->at[i].sweep == of) low = fmin(low, all->at[i].m[M_OBJECTIVE]);
    return low;
}

static point *add_point(summary *s, const item *it, int k, const char *label, double x)
{
    if (s->n % 64 == 0) s->at = realloc(s->at, sizeof *s->at * (size_t)(s->n + 64));
    if (!s->at) abort();
    point *p = &s->at[s->n++];
    *p = (point) { .panel = k, .x = x, .spread = NAN, .paper = NAN, .paper_spread = NAN };
    snprintf(p->line, sizeof p->line, "%s", label);
    for (const printed *w = it->printed; w && w->line; w++)
        if (w->panel == k && strcmp(w->line, label) == 0 && same(w->x, x)) {
            p->paper = w->value;
            p->paper_spread = w->spread > 0 ? w->spread : NAN;
        }
    return p;
}

/* Mean and spread of values added one at a time: their distances from the first, so that equal ones have none. */
static void finish_point(point *p, double first, double sum, double squares, double scale)
{
    const double n = p->runs, mean = sum / n;
    p->mean = scale * (first + mean);
    if (p->runs > 1) p->spread = scale * sqrt(fmax(0.0, squares - n * mean * mean) / (n - 1.0));
}

static void add_mean(summary *s, const item *it, int k, const records *all, const record *first, double from)
{
    const panel *p = &it->panels[k];
    point *out = add_point(s, it, k, it->sweeps[first->sweep].lines[first->line].label, first->x);
    double sum = 0.0, squares = 0.0, epsilon = 0.0;
    for (int i = 0; i < all->n; i++) {
        const record *r = &all->at[i];
        if (r->sweep != first->sweep || r->line != first->line || !same(r->x, first->x)) continue;
        const double v = r->m[p->y] - first->m[p->y];
        epsilon += r->m[M_EPSILON];
        sum += v;
        squares += v * v;
        out->runs++;
    }
    if (p->flags & BY_EPSILON) out->x = epsilon / out->runs;
    finish_point(out, first->m[p->y] - from, sum, squares, p->flags & PERCENT ? 100.0 : 1.0);
}

/* Along a run: the points of all runs of a line have the same steps. */
static void add_curve(summary *s, const item *it, int k, const records *all, const record *first, double from)
{
    const panel *p = &it->panels[k];
    for (int j = 0; j < first->n_curve; j++) {
        double sum = 0.0, squares = 0.0, x = 0.0;
        point *out = add_point(s, it, k, it->sweeps[first->sweep].lines[first->line].label, first->curve_x[j]);
        for (int i = 0; i < all->n; i++) {
            const record *r = &all->at[i];
            if (r->sweep != first->sweep || r->line != first->line || !same(r->x, first->x) || j >= r->n_curve)
                continue;
            const double v = r->curve_y[j] - first->curve_y[j];
            x += p->flags & TIME ? r->m[M_SECONDS] * r->curve_x[j] / r->curve_x[r->n_curve - 1] : r->curve_x[j];
            sum += v;
            squares += v * v;
            out->runs++;
        }
        out->x = x / out->runs;
        finish_point(out, first->curve_y[j] - from, sum, squares, 1.0);
    }
}

static bool first_of_its_point(const records *all, int i)
{
    for (int k = 0; k < i; k++)
        if (all->at[k].sweep == all->at[i].sweep && all->at[k].line == all->at[i].line &&
            same(all->at[k].x, all->at[i].x))
            return false;
    return true;
}

summary summarize(const item *it, const records *all, const place *where)
{
    summary s = { .quick = where->quick, .seed = where->seed };
    for (int k = 0; it->panels[k].title; k++) {
        const panel *p = &it->panels[k];
        const int of = sweep_of(it, p);
        const double from = p->flags & GAP ? lowest(all, of) : 0.0;
        for (int i = 0; i < all->n; i++) {
            const record *r = &all->at[i];
            if (r->sweep != of || !first_of_its_point(all, i)) continue;
            if ((p->flags & NO_LEVELS) && isnan(r->x)) continue;
            if ((p->flags & FINITE) && !(r->m[M_EPSILON] < INFINITY)) continue;
            if ((p->flags & ONLY_X) && !same(r->x, p->at)) continue;
            if (p->flags & CURVE) add_curve(&s, it, k, all, r, from);
            else add_mean(&s, it, k, all, r, from);
        }
    }
    return s;
}

void summary_free(summary *s)
{
    free(s->at);
    *s = (summary) { 0 };
}

/* ---- files -------------------------------------------------------------------------------------------------- */

static int write_file(cli *c, const item *it, const place *p, const char *ending, FILE *f, char **text)
{
    char path[4200];
    if (fclose(f) != 0) abort();
    snprintf(path, sizeof path, "%s/%s%s", p->out, it->name, ending);
    const pv_status s = pv_file_write(c->ctx, path, *text, strlen(*text));
    free(*text);
    return s == PV_OK ? EXIT_DONE : fail(c, s);
}

static void put_cell(FILE *f, double x)
{
    fputc(',', f);
    if (!isnan(x)) fprintf(f, "%.6g", x);
}

static void put_table(FILE *f, const item *it, const summary *s)
{
    fputs("panel,series,x,mean,spread,runs,paper,paper_spread,difference,mode\n", f);
    for (int i = 0; i < s->n; i++) {
        const point *p = &s->at[i];
        fprintf(f, "\"%s\",\"%s\"", it->panels[p->panel].title, p->line);
        put_cell(f, p->x);
        put_cell(f, p->mean);
        put_cell(f, p->spread);
        fprintf(f, ",%d", p->runs);
        put_cell(f, p->paper);
        put_cell(f, p->paper_spread);
        put_cell(f, p->mean - p->paper);
        fputs(s->quick ? ",quick" : ",whole", f);
        if (s->seed) fprintf(f, " seed %ld", s->seed);
        fputc('\n', f);
    }
}

static void put_picture(FILE *f, const item *it, const summary *s)
{
    int panels = 0, height[16] = { 0 }, top = 0;
    while (it->panels[panels].title) panels++;
    const int columns = panels == 4 ? 2 : panels < 3 ? panels : 3, width = plot_width * columns;
    for (int k = 0; k < panels; k++) {
        const int h = panel_height(it, k);
        if (h > height[k / columns]) height[k / columns] = h;
    }
    for (int i = 0; i <= (panels - 1) / columns; i++) top += height[i];
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"
            "<title>%s, %s: %s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            width, top, width, top, it->paper, it->figure, it->shows);
    for (int k = 0, y = 0; k < panels; k++) {
        panel_draw(f, it, k, s, (double)(k % columns) * plot_width, y);
        if (k % columns == columns - 1) y += height[k / columns];
    }
    fputs("</svg>\n", f);
}

/* The words of a command from `from` to `end`, each as the shell reads it. */
static void put_words(FILE *f, const char *from, const char *end)
{
    while (from < end) {
        const char *word = memchr(from, ' ', (size_t)(end - from)), *stop = word ? word : end;
        const int len = (int)(stop - from);
        const bool plain = (int)strcspn(from, "|&;<>()$`\\\"*?[~") >= len;
        fprintf(f, plain ? "%.*s" : "'%.*s'", len, from);
        if (word) fputc(' ', f);
        from = stop + 1;
    }
}

/* What was run, once for all runs of a point.  What is computed without a run has the one command that computes all
 * points; behind its # stand the settings of this one. */
static void put_commands(FILE *f, const records *all)
{
    bool computed = false;
    for (int i = 0; i < all->n; i++) {
        const record *r = &all->at[i];
        const char *end = strstr(r->command, " #"), *test = strstr(r->command, " | test ");
        if (r->run != 1 || (end && computed)) continue;
        computed = computed || end;
        put_words(f, r->command, end ? end : test ? test : r->command + strlen(r->command));
        if (strncmp(r->command, "privet train", 12) == 0) fputs(" --out MODEL", f);
        if (test) {
            fputs(" && privet eval MODEL ", f);
            put_words(f, test + 8, test + strlen(test));
        }
        fputc('\n', f);
    }
}

int summary_write(cli *c, const item *it, const place *p, const summary *s, const records *all)
{
    static void (*const put[])(FILE *, const item *, const summary *) = { put_table, put_picture };
    static const char *const ending[] = { ".csv", ".svg", ".commands" };
    int code = EXIT_DONE;
    for (int i = 0; code == EXIT_DONE && i < 3; i++) {
        char *text;
        size_t len;
        FILE *f = open_memstream(&text, &len);
        if (!f) abort();
        if (i < 2) put[i](f, it, s);
        else put_commands(f, all);
        code = write_file(c, it, p, ending[i], f, &text);
    }
    return code;
}

/* ---- reading them back -------------------------------------------------------------------------------------- */

static double take_number(char **s)
{
    char *end;
    const double x = strtod(*s, &end);
    const bool empty = end == *s;
    *s = *end ? end + 1 : end;
    return empty ? NAN : x;
}

static bool take_point(const item *it, char *text, summary *s)
{
    char *label = strstr(text, "\",\""), *rest = label ? strstr(label + 3, "\",") : NULL;
    int k = 0;
    if (!rest) return false;
    *label = *rest = '\0';
    while (it->panels[k].title && strcmp(it->panels[k].title, text + 1) != 0) k++;
    if (!it->panels[k].title) return false;
    rest += 2;
    point *p = add_point(s, it, k, label + 3, take_number(&rest));
    p->mean = take_number(&rest);
    p->spread = take_number(&rest);
    p->runs = (int)take_number(&rest);
    p->paper = take_number(&rest);
    p->paper_spread = take_number(&rest);
    take_number(&rest);
    s->quick = strncmp(rest, "quick", 5) == 0;
    if (sscanf(rest, "%*s seed %ld", &s->seed) != 1) s->seed = 0;
    return true;
}

bool summary_read(const item *it, const char *folder, summary *out)
{
    char path[4200], *text = NULL;
    size_t cap = 0;
    bool good = true;
    *out = (summary) { 0 };
    snprintf(path, sizeof path, "%s/%s.csv", folder, it->name);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    if (getline(&text, &cap, f) <= 0) good = false;
    while (good && getline(&text, &cap, f) > 0) good = take_point(it, text, out);
    fclose(f);
    free(text);
    if (good && out->n) return true;
    summary_free(out);
    return false;
}
