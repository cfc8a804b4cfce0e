/* cmd_compare.c - privet compare: runs for every combination of settings, their means, spreads and tests, and what
 * all of them cost together.
 *
 *   OUT/table.txt, runs.csv, MEASURE.svg, compare.html   what came out
 *   OUT/compare.json                                     what was asked; --config asks it again
 *   OUT/runs/, OUT/certificates/                         a record and a certificate for every run */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

/* `text` is freed. */
static int write_file(const comparison *q, const char *name, char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", q->g->out, name);
    const pv_status s = pv_file_write(q->c->ctx, path, text, strlen(text));
    free(text);
    return s == PV_OK ? EXIT_DONE : fail(q->c, s);
}

static char *svg_of(const comparison *q, int k)
{
    char *text;
    size_t len;
    const int height = chart_height(q->s, k);
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
            plot_width, height, plot_width, height);
    chart_draw(f, q->s, k, 0, 0);
    fputs("</svg>\n", f);
    if (fclose(f) != 0) abort();
    return text;
}

static char *text_of(const comparison *q)
{
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    if (!f) abort();
    table_text(f, q);
    if (fclose(f) != 0) abort();
    return text;
}

static int write_files(const comparison *q)
{
    int code = write_file(q, "table.txt", text_of(q));
    if (code == EXIT_DONE) code = write_file(q, "runs.csv", table_csv(q));
    if (code == EXIT_DONE) code = write_file(q, "compare.html", compare_html(q));
    for (int k = 0; k <= QUALITIES && code == EXIT_DONE && q->g->cells <= DRAWN_MAX; k++) {
        char name[64];
        snprintf(name, sizeof name, "%s.svg", measures[k].key);
        if (q->s->there[k]) code = write_file(q, name, svg_of(q, k));
    }
    return code;
}

/* Nothing came out: the first reason is what there is to say. */
static int nothing(const runs *r)
{
    for (int i = 0; i < r->g->cells; i++)
        if (r->why[i]) return complain(r->code ? r->code : EXIT_INTERNAL, "%s", r->why[i]);
    return EXIT_DONE;
}

static bool any(const runs *r)
{
    for (int i = 0; i < r->g->cells * r->g->repeats; i++)
        if (r->at[i].fate == FINISHED) return true;
    return false;
}

static int report(cli *c, const grid *g, const runs *r)
{
    sums s;
    together t;
    sums_make(r, &s);
    together_make(c, g, &t);
    const comparison q = { c, g, r, &s, &t };
    int code = write_files(&q);
    if (code == EXIT_DONE) notes_flush();
    if (code == EXIT_DONE && c->args.json) table_json(&q);
    if (code == EXIT_DONE && !c->args.json) {
        table_text(stdout, &q);
        printf("\n%d run%s now, %d in all. In %s: table.txt, runs.csv, compare.html, plots, certificates.\n", r->now,
               r->now == 1 ? "" : "s", t.runs, g->out);
    }
    sums_free(&s);
    if (code == EXIT_DONE && r->crashed)
        code = complain(EXIT_INTERNAL, "%d run%s ended early; the same command tries again", r->crashed,
                        r->crashed == 1 ? "" : "s");
    return code;
}

int cmd_compare(cli *c)
{
    grid g;
    runs r = { .g = &g };
    int code = grid_make(c, &g);
    if (code == EXIT_DONE) code = runs_do(c, &r);
    if (code == EXIT_DONE) code = any(&r) ? report(c, &g, &r) : nothing(&r);
    runs_free(&r);
    grid_free(&g);
    return code;
}
