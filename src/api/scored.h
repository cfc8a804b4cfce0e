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
};

typedef struct pvi_scores { /* of rows; pvi_scores_free also after a failure */
    pvi_matrix *x;
    float *score, *own; /* rows x outputs: the caller's, or one made for it */
    int64_t outputs;
} pvi_scores;
/* Reads the rows of `from` (NULL: of `path`) and scores them; into: NULL, or buffers for exactly so many rows. */
pv_status pvi_score(pv_model *m, pv_data *from, const char *path, bool labels_optional, const pv_predictions *into,
                    pvi_scores *out);
void pvi_scores_free(pv_ctx *ctx, pvi_scores *s);
#endif
