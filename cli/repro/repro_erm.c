/* repro_erm.c - ERM: D. Wang, J. Xu, Differentially private empirical risk minimization with smooth non-convex loss
 * functions. */
#include "repro.h"

/* (lambda/2) ||w||_1 with lambda = 0.01.  Rows of length 4 make the sigmoid loss 1-Lipschitz.
 * calibration=paper: zCDP noise, step 1/(2L), no momentum. */
#define COMMON                                                                                                       \
    "model=sigmoid reg=l1 reg.lambda=0.005 data.norm=unit data.row_norm=4 data.bias=0 optimizer=pgd "                \
    "optimizer.output=last budget.relation=replace budget.delta=0.001 run.diagnostics=yes"
#define PAPER "optimizer.calibration=paper "

static const line levels[] = {
    { "epsilon = 0.1", PAPER "optimizer.steps=200 budget.epsilon=0.1", NULL, false },
    { "epsilon = 0.5", PAPER "optimizer.steps=200 budget.epsilon=0.5", NULL, false },
    { "epsilon = 2", PAPER "optimizer.steps=200 budget.epsilon=2", NULL, false },
    { "epsilon = 5", PAPER "optimizer.steps=200 budget.epsilon=5", NULL, false },
    { 0 },
};
static const line lengths[] = {
    { "T = 100", PAPER "optimizer.steps=100 budget.epsilon=2", NULL, false },
    { "T = 200", PAPER "optimizer.steps=200 budget.epsilon=2", NULL, false },
    { "T = 400", PAPER "optimizer.steps=400 budget.epsilon=2", NULL, false },
    { "T = 800", PAPER "optimizer.steps=800 budget.epsilon=2", NULL, false },
    { 0 },
};
#define SIZE PAPER "optimizer.steps=400 budget.epsilon=2"
static const line linear_sizes[] = {
    { "n = 2,000", SIZE, "linear:2000", false },
    { "n = 5,000", SIZE, "linear:5000", false },
    { "n = 10,000", SIZE, "linear:10000", false },
    { 0 },
};
static const line covtype_sizes[] = {
    { "n = 20,000", SIZE, "covtype:20000", false },
    { "n = 50,000", SIZE, "covtype:50000", false },
    { "n = 100,000", SIZE, "covtype:100000", false },
    { "n = 200,000", SIZE, "covtype:200000", false },
    { 0 },
};

/* Zhang et al. 2017 as the paper prints it, on the whole gradient: sqrt(8 ln(1/delta) ln(T/delta))/epsilon times the
 * sensitivity 2/n, T = 200.  It costs more than the epsilon it is named after, so the budget is opened for it. */
#define STEP " clip=1 optimizer.steps=200 optimizer.momentum=0 optimizer.step=0.3247595"
static const line methods_half[] = {
    { "zCDP (the paper's)", PAPER "optimizer.steps=200 budget.epsilon=0.5", NULL, false },
    { "moments accountant", "accountant=rdp budget.epsilon=0.5" STEP, NULL, false },
    { "exact Gaussian curve", "accountant=gaussian budget.epsilon=0.5" STEP, NULL, false },
    { "Zhang et al. as printed", "budget.noise_multiplier=51.94 budget.epsilon=1000" STEP, NULL, false },
    { 0 },
};
static const line methods_two[] = {
    { "zCDP (the paper's)", PAPER "optimizer.steps=200 budget.epsilon=2", NULL, false },
    { "moments accountant", "accountant=rdp budget.epsilon=2" STEP, NULL, false },
    { "exact Gaussian curve", "accountant=gaussian budget.epsilon=2" STEP, NULL, false },
    { "Zhang et al. as printed", "budget.noise_multiplier=12.99 budget.epsilon=1000" STEP, NULL, false },
    { 0 },
};

static const sweep fig1[] = { { "synthetic", "linear", NULL, NULL, levels, NULL },
                              { "covtype", "covtype:200000", NULL, NULL, levels, NULL },
                              { 0 } };
static const sweep fig2[] = { { "synthetic", "linear", NULL, NULL, lengths, NULL },
                              { "covtype", "covtype:200000", NULL, NULL, lengths, NULL },
                              { 0 } };
static const sweep fig3[] = { { "synthetic", "linear", NULL, NULL, linear_sizes, NULL },
                              { "covtype", "covtype", NULL, NULL, covtype_sizes, NULL },
                              { 0 } };
static const sweep fig4[] = { { "small", "linear", NULL, NULL, methods_half, NULL },
                              { "half", "covtype:200000", NULL, NULL, methods_half, NULL },
                              { "two", "covtype:200000", NULL, NULL, methods_two, NULL },
                              { 0 } };

#define STEPS_AXIS "steps", "length of the projected gradient", M_GRADIENT, CURVE | LOG_Y, 0
static const panel two_sets[] = {
    { "Synthetic, 10,000 x 100", "synthetic", STEPS_AXIS },
    { "Covertype, 200,000 x 54", "covtype", STEPS_AXIS },
    { 0 },
};
static const panel sizes[] = {
    { "Synthetic, 100 columns", "synthetic", STEPS_AXIS },
    { "Covertype, 54 columns", "covtype", STEPS_AXIS },
    { 0 },
};
static const panel two_budgets[] = {
    { "Synthetic, epsilon = 0.5", "small", STEPS_AXIS },
    { "Covertype, epsilon = 0.5", "half", STEPS_AXIS },
    { "Covertype, epsilon = 2", "two", STEPS_AXIS },
    { 0 },
};

#define TAKEN                                                                                                        \
    "Weights start at 0, the paper's at random; the step is 1/(2L), the paper takes TFOCS's line search. Every "     \
    "third row of Covertype, about; its columns to [0, 1] by published bounds, rows to length 4, so that the "       \
    "loss is 1-Lipschitz. The model returned is the last iterate. "
#define ERM_ITEM(id, what, extra, reason, grid, view, quick_seconds)                                                 \
    {                                                                                                                \
        .name = "erm-fig" id, .paper = "ERM", .figure = "Fig. " id, .shows = what, .taken = TAKEN extra,             \
        .why = reason, .common = COMMON, .curve = "projected_gradient", .sweeps = grid, .panels = view,              \
        .runs = { 2, 10 }, .seconds = {                                                                              \
            quick_seconds,                                                                                           \
            quick_seconds                                                                                            \
        }                                                                                                            \
    }

const item repro_erm[] = {
    ERM_ITEM("1", "projected gradient along 200 steps, for four epsilons", "",
             "On the synthetic table a larger epsilon ends at a smaller gradient, as the paper says. On Covertype "
             "it does from 0.1 to 0.5; from there on 200 steps of this size are the limit, and less noise changes "
             "nothing. The paper also reads from its two plots that a larger table has a smaller error; they show "
             "two problems, and Fig. 3 is the comparison. It prints no number.",
             fig1, two_sets, 0.4),
    ERM_ITEM("2", "projected gradient for several numbers of steps, epsilon = 2",
             "The paper's values of T are not in its text.",
             "More steps mean more noise in each: on the synthetic table a longer run is higher at the same step. At "
             "its end it is lower up to T = 400 and higher again at 800, where noise is the limit; on Covertype each "
             "doubling lowers it, to two thirds or less. The paper sees less effect of T than of epsilon; on "
             "Covertype it is the other way round here (Fig. 1).",
             fig2, two_sets, 0.5),
    ERM_ITEM("3", "projected gradient for several numbers of rows, epsilon = 2, T = 400",
             "The paper's values of n are not in its text.",
             "More rows mean less noise and a smaller gradient, as the paper says; on Covertype there is little left "
             "to gain beyond 50,000 rows, where 400 steps are the limit. It prints no number.",
             fig3, sizes, 0.3),
    ERM_ITEM(
        "4", "projected gradient with the noise of several analyses",
        "The noise of Zhang et al. is the formula printed, on "
        "the whole gradient.",
        "The paper finds its zCDP noise better than the others; here it is the largest of the four and ends highest "
        "on 10,000 rows, where less noise ends lower; on Covertype the differences are too small to tell. Noise "
        "over sensitivity at epsilon 0.5 and 2: zCDP 107 and 28.1, moments accountant 74.4 and 22.7, exact curve "
        "65.2 and 20.4; the formula printed for Zhang et al. gives 51.9 and 13.0, which really cost epsilon 0.66 "
        "and 3.49.",
        fig4, two_budgets, 0.4),
    { 0 },
};
