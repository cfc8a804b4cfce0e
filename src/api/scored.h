/* scored.h - a model in use: read or handed over, checked, ready to score rows or to be written in another format. */
#ifndef PVI_SCORED_H
#define PVI_SCORED_H
#include "run/run.h"

struct pv_model {
    PVI_HANDLE;
    pv_arena *arena; /* owned */
    pvi_model_file file;
    pvi_cert cert;
    pv_plan *plan; /* owned: the settings of the training run */
    pvi_model_choice choice;
    const char **class_name; /* of every class; NULL: there are none */
    void *st;
    double cut; /* margin above which the second of two classes is predicted */
};

typedef struct pvi_scores { /* of rows; pvi_scores_free also after a failure */
    pvi_matrix *x;
    float *score, *own; /* rows x outputs: the caller's, or one made for it */
    int64_t outputs;
    uint8_t owner_key[PVI_SHORT_KEY]; /* of x->owner, where labels were needed: drawn for this call */
} pvi_scores;
/* Reads the rows of `from` (NULL: of `path`) and scores them; into: NULL, or buffers for exactly so many rows. */
pv_status pvi_score(pv_model *m, pv_data *from, const char *path, bool labels_optional, const pv_predictions *into,
                    pvi_scores *out);
/* The same, handed over in pieces as they are read; what is no text, in one. */
pv_status pvi_score_pieces(pv_model *m, pv_data *from, const char *path, const pvi_piece *piece);
pv_status pvi_score_matrix(pv_model *m, pvi_matrix *x, float **score); /* rows x outputs; pvi_free                */
/* The rows of another file, read as new ones are, with ids under the same key. */
pv_status pvi_owners_of(pv_model *m, const char *path, const pvi_scores *as, pvi_matrix **out);
/* Labelled rows as units: those of a person side by side, as in training; seed: of a test, PV_AUTO_I64: none. */
pv_status pvi_units_of_rows(pv_model *m, pv_data *from, int64_t seed, pvi_matrix **out);
bool pvi_is_training_data(const pvi_cert *c, const pvi_matrix *x); /* by the keyed digest (predict.c) */
/* Feature j of row r as it was read, before the factor of its norm. */
static inline double pvi_feature_of(const pvi_matrix *x, int64_t r, int64_t j)
{
    if (x->x) return (double)x->x[r * x->ld + j];
    if (x->cell) return pvi_cells_feature(x, r, j);
    for (int64_t k = x->ptr[r]; k < x->ptr[r + 1]; k++)
        if (x->idx[k] == j) return (double)x->val[k];
    return 0.0;
}
void pvi_scores_free(pv_ctx *ctx, pvi_scores *s);
#endif
