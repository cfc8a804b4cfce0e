/* repro_sum.c - from runs to RESULTS/NAME.csv, NAME.runs.csv, NAME.svg and NAME.commands: means, spreads, the paper's
 * numbers.  Spread is the standard deviation over runs (sample.c); one run has none. */
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

static bool same_point(const record *a, const record *b)
{
    return a->sweep == b->sweep && a->line == b->line && same(a->x, b->x);
}

static void finish_point(point *p, const sample *s, double from, double scale)
{
    p->runs = s->n;
    p->mean = scale * (sample_mean(s) - from);
    p->spread = scale * sample_sd(s);
}

static void add_mean(summary *s, const item *it, int k, const records *all, const record *first, double from)
{
    const panel *p = &it->panels[k];
    point *out = add_point(s, it, k, it->sweeps[first->sweep].lines[first->line].label, first->x);
    sample y = { 0 }, epsilon = { 0 };
    for (int i = 0; i < all->n; i++) {
        if (!same_point(&all->at[i], first)) continue;
        sample_add(&y, all->at[i].m[p->y]);
        sample_add(&epsilon, all->at[i].m[M_EPSILON]);
    }
    if (p->flags & BY_EPSILON) out->x = sample_mean(&epsilon);
    finish_point(out, &y, from, p->flags & PERCENT ? 100.0 : 1.0);
}

/* Along a run: the points of all runs of a line have the same steps. */
static void add_curve(summary *s, const item *it, int k, const records *all, const record *first, double from)
{
    const panel *p = &it->panels[k];
    for (int j = 0; j < first->n_curve; j++) {
        sample x = { 0 }, y = { 0 };
        point *out = add_point(s, it, k, it->sweeps[first->sweep].lines[first->line].label, first->curve_x[j]);
        for (int i = 0; i < all->n; i++) {
            const record *r = &all->at[i];
            if (!same_point(r, first) || j >= r->n_curve) continue;
            const double part = r->curve_x[j] / r->curve_x[r->n_curve - 1];
            sample_add(&x, p->flags & TIME ? r->m[M_SECONDS] * part : r->curve_x[j]);
            sample_add(&y, r->curve_y[j]);
        }
        out->x = sample_mean(&x);
        finish_point(out, &y, from, 1.0);
    }
}

static bool first_of_its_point(const records *all, int i)
{
    for (int k = 0; k < i; k++)
        if (same_point(&all->at[k], &all->at[i])) return false;
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

/* What is computed on rows without noise says so wherever it stands. */
static const char *const names[MEASURES] = { "value",
                                             "accuracy_not_private",
                                             "log_loss_not_private",
                                             "objective_not_private",
                                             "gradient_not_private",
                                             "epsilon",
                                             "seconds" };

static void put_run(FILE *f, const item *it, const record *r, double step, const char *name, double value)
{
    const sweep *s = &it->sweeps[r->sweep];
    if (isnan(value)) return;
    fprintf(f, "\"%s\",\"%s: %s\"", r->command, s->name, s->lines[r->line].label);
    put_cell(f, r->x);
    fprintf(f, ",%d", r->run);
    put_cell(f, step);
    fprintf(f, ",%s,%.9g\n", name, value);
}

/* One line for every run and measure; with a step where it is of an iterate. */
static void put_runs(FILE *f, const item *it, const records *all)
{
    const bool objective = it->curve && strcmp(it->curve, "objective") == 0;
    fputs("command,series,x,run,step,measure,value\n", f);
    for (int i = 0; i < all->n; i++) {
        const record *r = &all->at[i];
        for (int k = 0; k < MEASURES; k++) put_run(f, it, r, NAN, names[k], r->m[k]);
        for (int j = 0; j < r->n_curve; j++)
            put_run(f, it, r, r->curve_x[j],
                    !it->curve ? names[M_VALUE] : names[objective ? M_OBJECTIVE : M_GRADIENT], r->curve_y[j]);
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

static const char after[] = " # after "; /* so many steps: repro_run.c */

/* One run of a line whose points are measures along it: held-out rows are measured while it trains. */
static void put_along(FILE *f, const char *text, const char *end)
{
    const char *test = strstr(text, " | test ");
    put_words(f, text, test ? test : end);
    if (test) fputs(" run.holdout=", f), put_words(f, test + 8, end);
    fputs(" --out MODEL\n", f);
}

/* What was run, once for all runs of a point.  What is computed without a run has the one command that computes all
 * points; behind its # stand the settings of this one. */
static void put_commands(FILE *f, const item *it, const records *all)
{
    bool computed = false;
    (void)it;
    for (int i = 0; i < all->n; i++) {
        const record *r = &all->at[i];
        const char *end = strstr(r->command, " #"), *test = strstr(r->command, " | test ");
        const char *along = strstr(r->command, after);
        if (r->run != 1 || (end && !along && computed)) continue;
        if (along) {
            const size_t n = (size_t)(along - r->command) + sizeof after - 1;
            if (i == 0 || strncmp(r->command, all->at[i - 1].command, n) != 0) put_along(f, r->command, along);
            continue;
        }
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
    static void (*const of_points[])(FILE *, const item *, const summary *) = { put_table, put_picture };
    static void (*const of_runs[])(FILE *, const item *, const records *) = { put_runs, put_commands };
    static const char *const ending[] = { ".csv", ".svg", ".runs.csv", ".commands" };
    int code = EXIT_DONE;
    for (int i = 0; code == EXIT_DONE && i < 4; i++) {
        char *text;
        size_t len;
        FILE *f = open_memstream(&text, &len);
        if (!f) abort();
        if (i < 2) of_points[i](f, it, s);
        else of_runs[i - 2](f, it, all);
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
