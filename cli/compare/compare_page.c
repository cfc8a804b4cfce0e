/* compare_page.c - a comparison as one page: what all runs cost, plots, tables, settings. */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

static void verdict(FILE *f, const comparison *q)
{
    char words[1200];
    const together *t = q->t;
    const char *of = t->persons ? "person" : "row";
    const bool none = t->not_private || !isfinite(t->epsilon) || t->unknown;
    together_words(t, words, sizeof words);
    fprintf(f,
            "<div class=\"verdict %s\"><p class=\"head\">Protection of each %s by all runs together: "
            "<span class=\"badge\">%s</span></p>\n<p>",
            none ? "none" : t->colour, of,
            t->not_private ? "NOT PRIVATE"
            : none         ? "not known"
                           : t->strength);
    html_put(f, words);
    fputs("</p></div>\n", f);
}

static void said(FILE *f, const comparison *q)
{
    char out[8][512];
    const int n = remarks(q, out, 8);
    fputs("<ul>\n", f);
    for (int i = 0; i < n; i++) {
        const bool bad = strncmp(out[i], "NOT PRIVATE", 11) == 0;
        fputs(bad ? "<li><strong class=\"none\">" : "<li>", f);
        html_put(f, out[i]);
        fputs(bad ? "</strong></li>\n" : "</li>\n", f);
    }
    fputs("</ul>\n", f);
}

static void plots(FILE *f, const comparison *q)
{
    if (q->g->cells > DRAWN_MAX) return;
    fputs("<div class=\"pair\">\n", f);
    for (int k = 0; k <= QUALITIES; k++) {
        if (!q->s->there[k]) continue;
        fputs("<figure>\n", f);
        chart_draw(f, q->s, k, 0, 0);
        fputs("</figure>\n", f);
    }
    fputs("</div>\n", f);
}

static void put_cell(FILE *f, const char *tag, const char *text)
{
    fprintf(f, "<%s class=\"n\">", tag);
    html_put(f, text);
    fprintf(f, "</%s>", tag);
}

static void put_settings(FILE *f, const grid *g, int cell)
{
    for (int v = 1; v <= g->n_varying; v++) {
        const int at = g->varying[g->pairs ? v - 1 : v % g->n_varying];
        fputs(cell < 0 ? "<th>" : "<td>", f);
        html_put(f, cell < 0 ? grid_word(g->at[at].key) : grid_value(g, cell, at));
        fputs(cell < 0 ? "</th>" : "</td>", f);
    }
}

/* A quality, or (k = QUALITIES) what one run costs. */
static void table(FILE *f, const comparison *q, int k, bool whole)
{
    const bool costs = k == QUALITIES;
    const int columns = costs ? COSTS : q->g->width > 1 ? COLUMNS : 3;
    fprintf(f, "<h2>%s</h2>\n<div class=\"box\"><table>\n<tr>", costs ? "One run" : measures[k].label);
    put_settings(f, q->g, -1);
    for (int i = 0; i < columns; i++) put_cell(f, "th", costs ? cost_heads[i] : table_heads[i]);
    fputs("</tr>\n", f);
    for (int cell = 0; cell < q->g->cells; cell++) {
        char cells[COLUMNS][CELL];
        const char *why = q->r->why[cell];
        fputs("<tr>", f);
        put_settings(f, q->g, cell);
        if (sums_at(q->s, k, cell)->runs == 0 && why) {
            fprintf(f, "<td colspan=\"%d\">%s%s", columns, cell_fate(q->r, cell), whole ? ": " : "");
            html_put(f, whole ? why : "");
            fputs("</td></tr>\n", f);
            continue;
        }
        if (costs) cost_row(q->s, cell, cells);
        else table_row(q->s, k, cell, cells);
        for (int i = 0; i < columns; i++) put_cell(f, "td", cells[i]);
        fputs("</tr>\n", f);
    }
    fputs("</table></div>\n", f);
}

static void settings(FILE *f, const grid *g)
{
    fputs("<h2>Settings</h2>\n<div class=\"box\"><table>\n", f);
    for (int i = 0; i < g->n; i++) {
        fputs("<tr><th>", f);
        html_put(f, g->at[i].key);
        fputs("</th><td>", f);
        for (int k = 0; k < g->at[i].n; k++) {
            fputs(k ? ", " : "", f);
            html_put(f, g->at[i].values[k]);
        }
        fputs("</td></tr>\n", f);
    }
    fputs("<tr><th>holdout</th><td>", f);
    html_put(f, g->holdout ? g->holdout : "none: the training rows");
    fprintf(f, "</td></tr>\n<tr><th>repeats</th><td>%d</td></tr>\n", g->repeats);
    if (g->seeded) fprintf(f, "<tr><th>seed of repeat 1</th><td>%ld</td></tr>\n", g->seed);
    fputs("</table></div>\n<p>Everything else is at its default. <code>runs.csv</code> has every run and measure, "
          "<code>certificates/</code> the certificate of every run, and this makes the same again, or goes on:</p>\n"
          "<pre>privet compare --config compare.json --out ",
          f);
    html_put(f, g->out);
    fprintf(f, "</pre>\n<p class=\"soft\">Made by privet %s.</p>\n", pv_version());
}

char *compare_html(const comparison *q)
{
    char *text, what[200] = "";
    size_t len, n = 0;
    const grid *g = q->g;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    for (int v = 0; v < g->n_varying && n < sizeof what; v++)
        n += (size_t)snprintf(what + n, sizeof what - n, "%s%s", v ? ", " : "", grid_word(g->at[g->varying[v]].key));
    html_begin(f, "Comparison", *what ? what : "repeats of one run");
    verdict(f, q);
    said(f, q);
    plots(f, q);
    bool first = true; /* says why something was refused */
    for (int k = 0; k <= QUALITIES; k++) {
        if (!q->s->there[k]) continue;
        table(f, q, k, first);
        first = false;
    }
    settings(f, g);
    fputs("</body></html>\n", f);
    if (fclose(f) != 0) abort();
    return text;
}
