/* 01_train.c - the library in one page: train a private model, show its certificate, keep it.
 *
 *   cc 01_train.c $(pkg-config --cflags --libs privet) -o 01_train
 *   ./01_train people.csv people.json model.pvt */
#include <privet.h>
#include <stdio.h>

static pv_status train(pv_ctx *ctx, char **argv)
{
    pv_plan *plan = NULL;
    pv_result *result = NULL;
    const char *certificate;
    pv_status s = pv_plan_create(ctx, &plan);

    if (s == PV_OK) s = pv_plan_set(plan, "data.path", argv[1]);
    if (s == PV_OK) s = pv_plan_set(plan, "data.schema", argv[2]);
    if (s == PV_OK) s = pv_plan_set(plan, "model", "logistic");
    if (s == PV_OK) s = pv_plan_set(plan, "budget.epsilon", "1");
    if (s == PV_OK) s = pv_plan_run(plan, &result); /* reads the rows, adds the noise, keeps the books */
    if (s == PV_OK) s = pv_result_certificate(result, &certificate);
    if (s == PV_OK) fputs(certificate, stdout);
    if (s == PV_OK) s = pv_result_save(result, argv[3]);
    pv_result_free(result);
    pv_plan_free(plan);
    return s;
}

int main(int argc, char **argv)
{
    pv_ctx *ctx;

    if (argc != 4) return fprintf(stderr, "usage: %s DATA SCHEMA MODEL\n", argv[0]), 2;
    if (pv_ctx_create(NULL, &ctx) != PV_OK) return 5;
    const pv_status s = train(ctx, argv);
    if (s != PV_OK) fprintf(stderr, "%s\n", pv_ctx_errmsg(ctx));
    pv_ctx_free(ctx);
    return s == PV_OK ? 0 : 1;
}
