/* problems.c - what is wrong with rows, counted by column and kind.
 *
 * Readers hand over problems in the order of the file, so the groups, their counts and their first lines are those of
 * reading from top to bottom, whatever the chunks and threads were.  Counts and places come from the rows: they are
 * for whoever owns them, as every message about a value is, and no part of a result. */
#include "reader.h"

static const struct {
    const char *one, *more, *rest;
} kinds[PVI_TROUBLES] = {
    [PVI_UNDECLARED] = { "value", "values", "not declared" },
    [PVI_OUTSIDE] = { "value", "values", "outside the declared bounds" },
    [PVI_NO_VALUE] = { "value", "values", "missing" },
    [PVI_NO_NUMBER] = { "value", "values", "not a number" },
    [PVI_NO_DATE] = { "value", "values", "not a date" },
    [PVI_NO_ID] = { "row", "rows", "without an id" },
    [PVI_COUNT] = { "record", "records", "of another number of columns" },
    [PVI_NO_LABEL] = { "label", "labels", "outside the declaration" },
    [PVI_MALFORMED] = { "line", "lines", "that cannot be read" },
};

/* The place in `index` of a column and kind, which grows with the columns; 0: no memory. */
static int32_t *place(pv_ctx *ctx, pvi_problems *p, int64_t column, pvi_trouble what)
{
    if (column >= p->columns) {
        const int64_t columns = 2 * column + 64;
        const size_t each = PVI_TROUBLES * sizeof *p->index;
        int32_t *more = pvi_realloc(ctx, p->index, (size_t)p->columns * each, (size_t)columns * each);
        if (!more) return NULL;
        memset(more + p->columns * PVI_TROUBLES, 0, (size_t)(columns - p->columns) * each);
        p->index = more;
        p->columns = columns;
    }
    return &p->index[column * PVI_TROUBLES + (int64_t)what];
}

pv_status pvi_problem_count(pv_ctx *ctx, pvi_problems *p, const char *name, int64_t column, pvi_trouble what,
                            int64_t line)
{
    int32_t *at = place(ctx, p, column, what);
    if (!at) return pvi_nomem(ctx);
    if (*at == 0) {
        if (p->groups == p->room) {
            const int64_t room = 2 * p->room + 16;
            pvi_group *more = pvi_realloc(ctx, p->group, (size_t)p->room * sizeof *more, (size_t)room * sizeof *more);
            if (!more) return pvi_nomem(ctx);
            p->group = more;
            p->room = room;
        }
        char *own = pvi_strdup(ctx, name ? name : "");
        if (!own) return pvi_nomem(ctx);
        p->group[p->groups++] = (pvi_group) { .name = own, .column = column, .what = what, .line = line };
        *at = (int32_t)p->groups;
    }
    p->group[*at - 1].count++;
    p->total++;
    return PV_OK;
}

const char *pvi_trouble_name(pvi_trouble what)
{
    return kinds[what].rest;
}

void pvi_problem_text(const pvi_group *g, char *out, size_t size)
{
    char name[48];
    size_t n = 0;
    if (g->column > 0 && *g->name)
        n = (size_t)snprintf(out, size, "column \"%s\": ", pvi_excerpt(g->name, strlen(g->name), name));
    else if (g->column > 0) n = (size_t)snprintf(out, size, "column %lld: ", (long long)g->column);
    snprintf(out + n, size - n, "%lld %s %s, %s line %lld", (long long)g->count,
             g->count == 1 ? kinds[g->what].one : kinds[g->what].more, kinds[g->what].rest,
             g->count == 1 ? "in" : "first in", (long long)g->line);
}

void pvi_problems_tell(pv_ctx *ctx, const pvi_problems *p, const char *name)
{
    enum { TOLD = 20 };
    char text[256];
    for (int64_t i = 0; i < p->groups && i < TOLD; i++) {
        pvi_problem_text(&p->group[i], text, sizeof text);
        pvi_log(ctx, PV_LOG_ERROR, "%s: %s", name, text);
    }
    if (p->groups > TOLD)
        pvi_log(ctx, PV_LOG_ERROR, "%s: and %lld more kinds of problems", name, (long long)(p->groups - TOLD));
}

void pvi_problems_free(pv_ctx *ctx, pvi_problems *p)
{
    for (int64_t i = 0; i < p->groups; i++) pvi_free(ctx, p->group[i].name);
    pvi_free(ctx, p->index);
    pvi_free(ctx, p->group);
    *p = (pvi_problems) { 0 };
}
