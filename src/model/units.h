/* units.h - units of several rows: their rows as plain rows, a few at a time, and the one factor that clips them.
 * units.c has the mathematics. */
#ifndef PVI_UNITS_H
#define PVI_UNITS_H
#include "model.h"

/* The stored rows of unit i of a view begin here. */
static inline int64_t pvi_unit_start(const pv_rows *units, int64_t i)
{
    return units->start[units->pick ? units->pick[i] : i];
}
static inline int64_t pvi_unit_size(const pv_rows *units, int64_t i)
{
    const int64_t u = units->pick ? units->pick[i] : i, size = units->start[u + 1] - units->start[u];
    return units->prefix && size > units->unit_rows ? units->unit_rows : size;
}

/* n stored rows from r on, or the n that pick lists, as rows that are units of their own. */
pv_rows pvi_rows_from(const pv_rows *units, int64_t r, int64_t n);
pv_rows pvi_rows_picked(const pv_rows *units, const int64_t *pick, int64_t n);

/* Up to `most` units that take the way of rows, from unit i on, as rows. */
pv_rows pvi_single_rows(const pv_rows *units, int64_t i, int64_t most, int64_t *room);

/* Where a walk over the rows of a view's units stands: row `row` of unit `unit`. */
typedef struct pvi_walk {
    int64_t unit, row;
} pvi_walk;
/* The next rows of a walk, at most `most`, which stays where it is: as one view; picked ones need room for their
 * numbers. */
pv_rows pvi_walk_rows(const pvi_walk *w, const pv_rows *units, int64_t most, int64_t *room);
/* How many rows to take of a walk, at most `most`: whole units, unless the next alone has more. */
int64_t pvi_walk_whole(const pvi_walk *w, const pv_rows *units, int64_t most);
/* Some of the next rows, all of one unit. */
typedef struct pvi_part {
    int64_t n, size;  /* rows, of so many that the unit has */
    int64_t start;    /* stored row that the unit begins with */
    bool first, last; /* the part begins the unit, ends it */
} pvi_part;
static inline pvi_part pvi_walk_part(pvi_walk *w, const pv_rows *units, int64_t most)
{
    const int64_t size = pvi_unit_size(units, w->unit), left = size - w->row;
    const pvi_part part = { .n = left < most ? left : most,
                            .size = size,
                            .start = pvi_unit_start(units, w->unit),
                            .first = w->row == 0,
                            .last = left <= most };
    w->row = part.last ? 0 : w->row + part.n;
    w->unit += part.last;
    return part;
}

/* Of a unit of so many rows: a of units.c (2), and b. */
static inline float pvi_unit_share(const pv_rows *units, int64_t size)
{
    if (units->unit_combine == PV_UNIT_MEAN) return (float)(1.0 / (double)size);
    return units->unit_weight == PV_UNIT_ROWS ? (float)(1.0 / (double)units->unit_rows) : 1.0f;
}
static inline double pvi_unit_weight(const pv_rows *units, int64_t size)
{
    const bool by_rows = units->unit_combine == PV_UNIT_MEAN && units->unit_weight == PV_UNIT_ROWS;
    return by_rows ? fmin((double)size / (double)units->unit_rows, 1.0) : 1.0;
}
/* (3): does it take the way of a row? */
static inline bool pvi_unit_is_row(const pv_rows *units, int64_t size)
{
    return size == 1 && units->unit_weight == PV_UNIT_ONE;
}

/* f of units.c (2) in two steps: C (1 - e) for vectors of d floats, and what C (1 - e)/N, the cut, makes of it. */
static inline double pvi_unit_limit(int64_t d, double clip)
{
    return clip * (1.0 - (0x1p-23 + ((double)d + 64.0) * 0x1p-52));
}
static inline float pvi_unit_cut(double squares, double cut, const pv_rows *units, int64_t size)
{
    const double share = (double)pvi_unit_share(units, size), weight = pvi_unit_weight(units, size);
    if (!(squares < (double)INFINITY)) return 0.0f;         /* (1) */
    const double f = (cut >= share ? share : cut) * weight; /* `share` also where v = 0 */
    return f >= (double)FLT_MIN ? (float)f : 0.0f;
}
/* f of a vector of d floats with this sum of squares, or with the square of its largest entry (5). */
static inline float pvi_unit_factor(double squares, int64_t d, double clip, const pv_rows *units, int64_t size)
{
    return pvi_unit_cut(squares, pvi_unit_limit(d, clip) / sqrt(squares), units, size);
}
/* The square of the largest entry; the sum of squares. */
double pvi_unit_largest(const float *v, int64_t d);
double pvi_unit_squares(const float *v, int64_t d);

/* ---- models ---------------------------------------------------------------------------------------------------- */
size_t pvi_glm_units_scratch(int64_t p); /* beyond the block (glm_units.c) */
/* grad_sum of the GLM for units of several rows; grid: grid_sum of them. */
typedef struct pvi_grid_to {
    double inverse; /* of the spacing */
    int64_t *sum;   /* NULL: not on the grid */
} pvi_grid_to;
void pvi_glm_units_sum(const pvi_glm_state *s, const pvi_glm_cfg *cfg, const pv_rows *units, double clip, float *g,
                       const pvi_grid_to *grid, int64_t *n_bad, void *scratch);
size_t pvi_softmax_units_scratch(int64_t p, int64_t k); /* beyond the block (softmax_units.c) */
void pvi_softmax_units_sum(const pvi_softmax_state *s, const pv_rows *units, double clip, float *g, int64_t *n_bad,
                           void *scratch);
#endif
