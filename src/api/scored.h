/* scored.h - a model file in use: read, checked, ready to score rows or to be written in another format. */
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
    void *st;
};
#endif
