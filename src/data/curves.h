/* curves.h - hat functions of the numbers of a table: which columns, which knots, and the rows made of them. */
#ifndef PVI_CURVES_H
#define PVI_CURVES_H
#include "reader.h"

/* Which columns become curves: sets `curved` of them, and of the schema how many there are.  Before rows are read. */
pv_status pvi_curves_choose(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const pvi_expect *e, pvi_schema *sc);
/* Their knots, where none are declared, for n units; where each column's features begin, and how many there are. */
pv_status pvi_curves_place(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const pvi_expect *e, double n,
                           pvi_schema *sc);
/* The schema of a trained model with its curves placed; and the factor that every row of it has. */
pv_status pvi_curves_trained(pv_ctx *ctx, pv_arena *a, const pvi_data_cfg *cfg, const char *schema, pvi_schema **out);
double pvi_curves_factor(const pvi_data_cfg *cfg, const pvi_schema *sc);
/* Rows of one feature a number, a missing one below -1/2, to rows of hats: cells, dense or CSR; whole: no cells. */
pv_status pvi_curves_expand(const pvi_data_cfg *cfg, bool whole, const pvi_schema *sc, pvi_matrix *m);
bool pvi_curves_dense(const pvi_data_cfg *cfg, const pvi_schema *sc); /* not CSR */
/* k knots at equal distances on the column's scale, fewer where floats are no finer, into c->knot; the feature of a
 * number, as its knots are compared with. */
void pvi_curves_spread(pvi_column *c, int64_t k);
float pvi_curves_at(const pvi_column *c, double v);
#endif
