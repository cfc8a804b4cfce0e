/* 04_predict.c - a model file at work in a service: load it once, then score rows into buffers of one's own.
 *
 *   cc 04_predict.c $(pkg-config --cflags --libs privet) -o 04_predict
 *   ./04_predict model.pvt 0.5 -1.25 3        one row: the numbers of its columns, the label left out */
#include <privet.h>
#include <stdio.h>
#include <stdlib.h>

static pv_status score(pv_model *model, pv_data *row)
{
    pv_model_info info;
    const char *name;
    int64_t label;
    pv_status s = pv_model_describe(model, &info);
    if (s != PV_OK) return s;
    float *const raw = malloc(sizeof *raw * (size_t)info.outputs);
    double *const chance = malloc(sizeof *chance * (size_t)(info.classes + 1));
    const bool classes = info.classes > 0;
    const pv_predictions into = { 1, raw, classes ? chance : NULL, classes ? &label : NULL };
    if (!raw || !chance) s = PV_E_NOMEM;
    if (s == PV_OK) s = pv_model_predict_on(model, row, &into);
    if (s == PV_OK && !classes) printf("%g\n", (double)raw[0]);
    for (int64_t k = 0; k < info.classes && s == PV_OK; k++) {
        s = pv_model_class(model, k, &name);
        if (s == PV_OK) printf("%s %-12s %.4f\n", k == label ? "*" : " ", name, chance[k]);
    }
    free(raw);
    free(chance);
    return s;
}

int main(int argc, char **argv)
{
    pv_ctx *ctx;
    pv_model *model = NULL;
    pv_data *row = NULL;
    if (argc < 3) return fprintf(stderr, "usage: %s MODEL VALUE ...\n", argv[0]), 2;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 5;
    pv_status s = pv_model_load(ctx, argv[1], &model);
    double *const x = malloc(sizeof *x * (size_t)(argc - 2));
    for (int j = 0; x && j < argc - 2; j++) x[j] = strtod(argv[j + 2], NULL);
    if (s == PV_OK) s = pv_data_dense(ctx, x, PV_FLOAT64, 1, argc - 2, argc - 2, 1, &row);
    if (s == PV_OK) s = score(model, row);
    if (s != PV_OK) fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
    pv_data_free(row);
    pv_model_free(model);
    free(x);
    pv_ctx_free(ctx);
    return s == PV_OK ? 0 : 1;
}
