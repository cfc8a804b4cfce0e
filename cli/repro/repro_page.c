/* repro_page.c - a folder of results as one page, or as a text for the documentation.
 *
 * Everything comes from RESULTS/NAME.csv and NAME.commands; the words are those of the tables in repro_*.c. */
#include "repro.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 8 }; /* values of x in a table; of more, some are left out */

typedef struct sheet {
    FILE *f;
    bool text; /* Markdown, not a page */
} sheet;

static void put_words(const sheet *o, const char *words)
{
    if (o->text) fputs(words, o->f);
    else html_put(o->f, words);
}

static void cell(const sheet *o, bool head, const char *words)
{
    fputs(o->text ? "| " : head ? "<th>" : "<td>", o->f);
    put_words(o, words);
    fputs(o->text ? " " : head ? "</th>" : "</td>", o->f);
}

/* ---- a table of a panel: series down, x across -------------------------------------------------------------- */

/* Values of x in their order; curves: the last one of each line, as one column. */
static int columns_of(const item *it, int k, const summary *s, double out[POINTS_MAX])
{
    int n = 0;
    if (it->panels[k].flags & CURVE) return out[0] = NAN, 1;
    for (int i = 0; i < s->n && n < POINTS_MAX; i++) {
        bool known = s->at[i].panel != k || isnan(s->at[i].x);
        for (int j = 0; j < n && !known; j++) known = out[j] == s->at[i].x;
        if (!known) out[n++] = s->at[i].x;
    }
    return n;
}

static bool in_panel(const point *p, int k, const char *label)
{
    return p->panel == k && strcmp(p->line, label) == 0;
}

static const point *point_at(const item *it, int k, const summary *s, const char *label, double x)
{
    const point *found = NULL;
    for (int i = 0; i < s->n; i++) {
        const point *p = &s->at[i];
        if (!in_panel(p, k, label)) continue;
        if ((it->panels[k].flags & CURVE) || p->x == x || isnan(p->x)) found = p; /* a level is there for every x */
    }
    return found;
}

/* "mean +- spread (paper's)", and where: a cell. */
static void put_point(const sheet *o, const point *p, bool where)
{
    char words[128] = "";
    int n = 0;
    if (p) n = snprintf(words, sizeof words, "%.4g", p->mean);
    if (p && p->spread > 0) n += snprintf(words + n, sizeof words - (size_t)n, " \xc2\xb1 %.2g", p->spread);
    if (p && !isnan(p->paper)) n += snprintf(words + n, sizeof words - (size_t)n, " (%.4g", p->paper);
    if (p && p->paper_spread > 0)
        n += snprintf(words + n, sizeof words - (size_t)n, " \xc2\xb1 %.2g", p->paper_spread);
    if (p && !isnan(p->paper)) n += snprintf(words + n, sizeof words - (size_t)n, ")");
    if (p && where) snprintf(words + n, sizeof words - (size_t)n, " at %.3g", p->x);
    cell(o, false, words);
}

static void end_row(const sheet *o)
{
    fputs(o->text ? "|\n" : "</tr>\n", o->f);
}

/* What the cells are, and what the numbers above them are. */
static void put_head(const sheet *o, const char *cells, const char *above)
{
    char words[192];
    snprintf(words, sizeof words, "%s, by %s", cells, above);
    cell(o, true, words);
}

static void begin_table(const sheet *o)
{
    fputs(o->text ? "" : "<div class=\"box\"><table>\n<tr>", o->f);
}

static void end_head(const sheet *o, int columns)
{
    end_row(o);
    for (int i = 0; o->text && i < columns; i++) fputs("|---", o->f);
    if (o->text) end_row(o);
}

static void begin_row(const sheet *o, const char *label)
{
    if (!o->text) fputs("<tr>", o->f);
    cell(o, true, label);
}

static void end_table(const sheet *o)
{
    fputs(o->text ? "\n" : "</table></div>\n", o->f);
}

static int points_of(const summary *s, int k, const char *label)
{
    int n = 0;
    for (int i = 0; i < s->n; i++) n += in_panel(&s->at[i], k, label);
    return n;
}

/* Series whose points lie at values of x of their own: each cell says where. */
static void scattered_table(const sheet *o, const panel *w, int k, const line *lines, const summary *s)
{
    char words[256];
    int columns = 0;
    for (const line *l = lines; l->label; l++) {
        const int n = points_of(s, k, l->label);
        columns = n > columns ? n : columns;
    }
    begin_table(o);
    snprintf(words, sizeof words, "%s: %s, at %s", w->title, w->beside, w->below);
    cell(o, true, words);
    for (int i = 1; i <= columns; i++) {
        snprintf(words, sizeof words, "point %d", i);
        cell(o, true, words);
    }
    end_head(o, columns + 1);
    for (const line *l = lines; l->label; l++) {
        int n = points_of(s, k, l->label);
        if (!n) continue;
        begin_row(o, l->label);
        for (int i = 0; i < s->n; i++)
            if (in_panel(&s->at[i], k, l->label)) put_point(o, &s->at[i], true);
        while (n++ < columns) put_point(o, NULL, true);
        end_row(o);
    }
    end_table(o);
}

static void table(const sheet *o, const item *it, int k, const summary *s)
{
    double xs[POINTS_MAX];
    char words[96];
    const panel *w = &it->panels[k];
    const sweep *sw = it->sweeps;
    while (strcmp(sw->name, w->sweep) != 0) sw++;
    if (w->flags & BY_EPSILON) {
        scattered_table(o, w, k, sw->lines, s);
        return;
    }
    const int n = columns_of(it, k, s, xs), each = (n + COLUMNS - 1) / COLUMNS;
    if (n == 0) return; /* a file of results that lost lines */
    begin_table(o);
    snprintf(words, sizeof words, "%s: %s", w->title, w->beside);
    if (w->flags & CURVE) cell(o, true, words);
    else put_head(o, words, w->below);
    for (int i = 0; i < n; i += each) {
        snprintf(words, sizeof words, !isnan(xs[i]) ? "%.4g" : it->curve ? "model returned" : "at the end", xs[i]);
        cell(o, true, words);
    }
    end_head(o, (n + each - 1) / each + 1);
    for (const line *l = sw->lines; l->label; l++) {
        if (!points_of(s, k, l->label)) continue;
        begin_row(o, l->label);
        for (int i = 0; i < n; i += each) put_point(o, point_at(it, k, s, l->label, xs[i]), false);
        end_row(o);
    }
    end_table(o);
}

/* ---- one item ----------------------------------------------------------------------------------------------- */

static void plots(const sheet *o, const item *it, const summary *s)
{
    fputs("<div class=\"pair\">\n", o->f);
    for (int k = 0; it->panels[k].title; k++) {
        fputs("<figure>\n", o->f);
        panel_draw(o->f, it, k, s, 0, 0);
        fputs("</figure>\n", o->f);
    }
    fputs("</div>\n", o->f);
}

static void paragraph_of(const sheet *o, const char *name, const char *words)
{
    char *trimmed = strdup(words); /* texts of tables may end in a blank, for another one to follow */
    if (!trimmed) abort();
    for (size_t n = strlen(trimmed); n && trimmed[n - 1] == ' '; n--) trimmed[n - 1] = '\0';
    fprintf(o->f, o->text ? "%s " : "<p><strong>%s</strong> ", name);
    put_words(o, trimmed);
    free(trimmed);
    fputs(o->text ? "\n\n" : "</p>\n", o->f);
}

static int runs_of(const summary *s)
{
    int most = 0;
    for (int i = 0; i < s->n; i++) most = s->at[i].runs > most ? s->at[i].runs : most;
    return most;
}

static void put_commands(const sheet *o, const item *it, const char *folder)
{
    char path[4200], *text = NULL;
    size_t cap = 0;
    snprintf(path, sizeof path, "%s/%s.commands", folder, it->name);
    FILE *in = fopen(path, "re");
    if (!in) return;
    fputs("<details><summary>Commands</summary>\n<pre>", o->f);
    while (getline(&text, &cap, in) > 0) {
        text[strcspn(text, "\n")] = '\0';
        html_put(o->f, text);
        fputc('\n', o->f);
    }
    fprintf(o->f,
            "</pre>\n<p>Each run's certificate is in <code>certificates/%s-*.json</code> of the folder of results, "
            "or under the "
            "figure that ran the same command first.</p></details>\n",
            it->name);
    fclose(in);
    free(text);
}

static void put_item(const sheet *o, const item *it, const char *folder, const summary *s)
{
    const int runs = runs_of(s);
    fprintf(o->f, o->text ? "### %s, %s\n\n" : "<h2>%s, %s</h2>\n", it->paper, it->figure);
    fputs(o->text ? "" : "<p>", o->f);
    put_words(o, it->shows);
    const char *const tick[] = { o->text ? "`" : "<code>", o->text ? "`" : "</code>" };
    fprintf(o->f, " (%sprivet reproduce %s%s%s", tick[0], it->name, s->quick ? " --quick" : "",
            it->full && !s->quick ? " --full" : "");
    if (it->runs[1] > 1) fprintf(o->f, " --runs %d", runs);
    if (s->seed) fprintf(o->f, " --seed %ld", s->seed);
    fprintf(o->f, "%s: %d run%s a point%s).", tick[1], runs, runs > 1 ? "s" : "",
            s->seed ? ", the same seeds for all series, NOT PRIVATE" : "");
    if (s->quick)
        fprintf(o->f, " The paper's own sizes were not run: about %.2g hours of two cores.",
                item_minutes(it, false) / 60.0);
    fputs(o->text ? "\n\n" : "</p>\n", o->f);
    if (o->text) fprintf(o->f, "![%s, %s](%s/%s.svg)\n\n", it->paper, it->figure, folder, it->name);
    else plots(o, it, s);
    if (!o->text)
        fprintf(o->f, "<details%s><summary>Numbers%s</summary>\n", it->printed ? " open" : "",
                it->printed ? ", the paper's in brackets" : "");
    for (int k = 0; it->panels[k].title; k++) table(o, it, k, s);
    if (!o->text) fputs("</details>\n", o->f);
    paragraph_of(o, "Against the paper.", it->why);
    paragraph_of(o, "Taken here.", it->taken);
    if (!o->text) put_commands(o, it, folder);
}

/* Items whose results are not in the folder, by name. */
static void missing_names(const char *folder, char *out, size_t cap)
{
    const item *it;
    summary s;
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; (it = repro_item(i)) != NULL && n < cap; i++) {
        if (summary_read(it, folder, &s)) summary_free(&s);
        else n += (size_t)snprintf(out + n, cap - n, "%s%s", n ? ", " : "; not among them: ", it->name);
    }
}

static void introduction(const sheet *o, const char *folder, int items)
{
    char words[1024], missing[512];
    missing_names(folder, missing, sizeof missing);
    snprintf(
        words, sizeof words,
        "%d %s of five papers%s. Means over runs, \xc2\xb1 their standard deviation; in "
        "brackets what the "
        "paper prints. Measures on rows (accuracy, loss, gradient) are computed without noise, NOT PRIVATE and not "
        "covered by the certificates; the data sets are public. Made by privet %s.",
        items, items == 1 ? "table or figure" : "tables and figures", missing, pv_version());
    fputs(o->text ? "" : "<p>", o->f);
    put_words(o, words);
    fputs(o->text ? "\n\n" : "</p>\n", o->f);
}

int results_page(cli *c, const char *folder, const char *out, bool markdown)
{
    char *text;
    size_t len;
    const item *it;
    summary s;
    int found = 0;
    sheet o = { open_memstream(&text, &len), markdown };
    if (!o.f) abort();
    for (int i = 0; (it = repro_item(i)) != NULL; i++)
        if (summary_read(it, folder, &s)) summary_free(&s), found++;
    if (!markdown) html_begin(o.f, "Results", folder);
    introduction(&o, folder, found);
    for (int i = 0; (it = repro_item(i)) != NULL; i++) {
        if (!summary_read(it, folder, &s)) continue;
        put_item(&o, it, folder, &s);
        summary_free(&s);
    }
    if (!markdown) fputs("</body></html>\n", o.f);
    if (fclose(o.f) != 0) abort();
    const pv_status st = found ? pv_file_write(c->ctx, out, text, len) : PV_OK;
    free(text);
    if (!found)
        return complain(EXIT_INPUT, "%s holds no results; privet reproduce all --quick --out %s makes them", folder,
                        folder);
    if (st != PV_OK) return fail(c, st);
    if (c->args.json) {
        fputs("{", stdout);
        json_text("report", out), fputs(", ", stdout);
        json_text("results", folder), printf(", \"items\": %d}\n", found);
    } else {
        row("report", "%s", out);
    }
    return EXIT_DONE;
}
