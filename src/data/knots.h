/* knots.h - knots of curves where values lie: histograms to be released, rows that wait for them. */
#ifndef PVI_KNOTS_H
#define PVI_KNOTS_H
#include "curves.h"

/* Histogram of a number: bin i is edge[i] <= x < edge[i + 1] of its feature x, the last one closed. */
typedef struct pvi_fine {
    int32_t feature;
    int64_t edges; /* of PVI_KNOT_BINS + 1; fewer where floats are no finer */
    float *edge;
    double *at; /* the same in the column's unit */
    pvi_column *column;
} pvi_fine;

typedef struct pvi_late {
    pv_arena *arena; /* owned: of the schema and of all this */
    pvi_schema *schema;
    pvi_data_cfg cfg;
    bool whole, offered; /* of pvi_curves_expand; pvi_matrix_offer was called */
    pvi_fine *fine;      /* m->knots.columns of them */
} pvi_late;

/* Sets sc->knots, and `placed` of columns: data.knots_share, or the rule.  open: columns whose knots nobody said. */
pv_status pvi_knots_share(pv_ctx *ctx, const pvi_data_cfg *cfg, const pvi_expect *e, double n, bool rule,
                          pvi_schema *sc);
/* The rows of m wait: takes the arena where it succeeds. */
pv_status pvi_late_open(pv_arena *a, const pvi_data_cfg *cfg, bool whole, pvi_schema *sc, pvi_matrix *m);
void pvi_late_free(pvi_late *l);
#endif
