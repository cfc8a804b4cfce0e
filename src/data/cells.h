/* cells.h - rows of curves that are stored as records of cells (cells.c). */
#ifndef PVI_CELLS_H
#define PVI_CELLS_H
#include "reader.h"

enum { PVI_CELLS_LABEL, PVI_CELLS_NORM, PVI_CELLS_FROM }; /* floats of a record; then those of its cells */
size_t pvi_cells_line(int64_t cells);                     /* bytes of a record */
static inline float *pvi_cells_record(const pvi_matrix *m, int64_t r)
{
    return (float *)(void *)(m->cell + (size_t)r * m->line);
}
/* May rows of so many features be cells?  unit_rows: of a person at most; 0: a unit is a row. */
bool pvi_cells_fit(int64_t features, int64_t unit_rows);
#endif
