/* cells.c - rows of curves as small as they are: one or two numbers of a column are not zero, whatever its knots.
 *
 * A row is a record: its label and norm, so that a sampled row is fetched as a whole, then one cell for each column
 * of the table: a float v and the place `at` of a feature, 6 bytes in all.  A model sees it as a dense row x of zeros
 * but for
 *   (1) a curve     x[at] = 1 - v, x[at + 1] = v: the hats of curves.c (1), v = 0 where one of them is 1
 *   (2) any other   x[at] = v: the value of a category, or a straight number
 * Curves come first in a record, in the order of their features, then the others: where v = 0 the second number of
 * (1) is a zero at the first feature of what follows, or behind the last, and is written before that column's own.
 *
 * Rows are shown where they are needed, as many as a query adds up at once, in room that stays in the cache: models
 * see dense rows, bit by bit those that data.layout=dense stores.  Ten million rows of six curves with 32 knots take
 * 0.5 GB instead of 7.7 GB. */
#include "cells.h"

enum { LINE = 16, AHEAD = 16 };

size_t pvi_cells_line(int64_t cells)
{
    return sizeof(float) * PVI_CELLS_FROM + ((sizeof(float) + sizeof(uint16_t)) * (size_t)cells + 3) / 4 * 4;
}

static int64_t shown_ld(const pvi_matrix *m)
{
    return (m->domain.p + 1 + LINE - 1) / LINE * LINE; /* a number behind the last */
}

static const float *values(const pvi_matrix *m, int64_t r)
{
    return pvi_cells_record(m, r) + PVI_CELLS_FROM;
}

static const uint16_t *places(const pvi_matrix *m, const float *v)
{
    return (const uint16_t *)(const void *)(v + m->cells);
}

static void show_row(const pvi_matrix *m, int64_t r, float *x, int64_t ld)
{
    const float *v = values(m, r);
    const uint16_t *at = places(m, v);
    memset(x, 0, sizeof *x * (size_t)ld);
    for (int64_t k = 0; k < m->hats; k++) { /* (1) */
        x[at[k]] = 1.0f - v[k];
        x[at[k] + 1] = v[k];
    }
    for (int64_t k = m->hats; k < m->cells; k++) x[at[k]] = v[k]; /* (2) */
}

double pvi_cells_feature(const pvi_matrix *m, int64_t r, int64_t j)
{
    const float *v = values(m, r);
    const uint16_t *at = places(m, v);
    for (int64_t k = 0; k < m->cells; k++) {
        if (at[k] == j) return k < m->hats ? (double)(1.0f - v[k]) : (double)v[k];
        if (k < m->hats && at[k] + 1 == j && v[k] > 0.0f) return (double)v[k];
    }
    return 0.0;
}

bool pvi_cells_fit(int64_t features, int64_t unit_rows)
{
    enum { UNITS = 256, MOST = 4 << 20 }; /* that a query adds up at once, at most */
    const double rows = (double)UNITS * (double)(unit_rows > 0 ? unit_rows : 1);
    return features <= PVI_DENSE_FEATURES && rows * (double)(features + 2 + LINE) * sizeof(float) <= (double)MOST;
}

/* ---- what is shown ------------------------------------------------------------------------------------------- */

static size_t lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t pvi_matrix_room(const pvi_matrix *m, int64_t units)
{
    const size_t n = (size_t)units, rows = n * (size_t)(m->start ? m->domain.unit_rows : 1);
    if (!m->cell) return 0;
    return rows * (size_t)shown_ld(m) * sizeof(float) + 2 * lines(rows * sizeof(float)) +
           lines((n + 1) * sizeof(int64_t));
}

typedef struct shown { /* room, cut up */
    float *x, *y, *norm;
    int64_t *start, ld, rows;
} shown;

static void show_one(const pvi_matrix *m, int64_t r, shown *s)
{
    show_row(m, r, s->x + s->rows * s->ld, s->ld);
    s->y[s->rows] = pvi_cells_record(m, r)[PVI_CELLS_LABEL];
    s->norm[s->rows++] = pvi_cells_record(m, r)[PVI_CELLS_NORM];
}

/* Picked rows lie anywhere: they are fetched a few ahead.  (gcc takes a function that only fetches for one without
 * effect, and drops its calls, unless it is inlined.) */
PVI_INLINE void fetch(const pvi_matrix *m, const pv_rows *v, int64_t i)
{
    if (!v->pick || v->start || i >= v->n + v->next) return;
    const char *from = (const char *)pvi_cells_record(m, v->pick[i]), *last = from + m->line - 1;
    for (; from < last; from += 64) __builtin_prefetch(from);
    __builtin_prefetch(last);
}

void pvi_matrix_show(const pvi_matrix *m, pv_rows *v, void *room)
{
    if (!m->cell) return;
    const size_t n = (size_t)v->n, most = n * (size_t)(v->start ? m->domain.unit_rows : 1);
    shown s = { .start = room, .ld = shown_ld(m) };
    s.y = (float *)(void *)((char *)room + lines((n + 1) * sizeof *s.start));
    s.norm = (float *)(void *)((char *)s.y + lines(most * sizeof *s.y));
    s.x = (float *)(void *)((char *)s.norm + lines(most * sizeof *s.norm));
    for (int64_t i = 0; i < v->n; i++) {
        const int64_t u = v->pick ? v->pick[i] : v->first + i, end = v->start ? m->start[u + 1] : u + 1;
        fetch(m, v, i + AHEAD);
        s.start[i] = s.rows;
        for (int64_t r = v->start ? m->start[u] : u; r < end; r++) show_one(m, r, &s);
    }
    s.start[v->n] = s.rows;
    if (v->start) v->start = s.start;
    v->x = s.x;
    v->ld = s.ld;
    v->y = s.y;
    v->norm = s.norm;
    v->pick = NULL;
    v->first = v->next = 0;
}
