/* repro_tr.c - TR: D. Wang, J. Xu, Escaping saddle points of empirical risk privately and scalably via DP-trust
 * region method. */
#include "repro.h"

#define GRID     "{0.2 1 2|0.2 0.4 0.6 0.8 1 1.2 1.4 1.6 1.8 2}"
#define COMMON   "data.norm=unit data.bias=0 budget.relation=replace run.diagnostics=yes run.measure=loss,gradient"
#define LOGISTIC " model=logistic reg=nonconvex reg.lambda=0.001"
#define SIGMOID  " model=sigmoid reg=l2 reg.lambda=0.001"
#define COVTYPE  "budget.delta={1e-5|1.7211e-6}"
#define IJCNN1   "budget.delta=2.857e-5"

/* "As printed": sensitivities, equal shares, equal steps and noise of the paper, 10 steps; for DP-STR the noise its
 * proof asks for.  Either costs less than the budget. */
#define METHODS(batch)                                                                                               \
    {                                                                                                                \
        { "DP-TR", "optimizer=tr budget.epsilon=@", NULL, false },                                                   \
            { "DP-STR", "optimizer=str sampler.batch=" batch " budget.epsilon=@", NULL, false },                     \
            { "DP-STR, two samples", "optimizer=str2 sampler.batch=" batch " budget.epsilon=@", NULL, false },       \
            { "DP-GD", "optimizer=gd-sosp budget.epsilon=@", NULL, false },                                          \
            { "pgd", "optimizer=pgd budget.epsilon=@", NULL, false },                                                \
            { "DP-TR as printed", "optimizer=tr optimizer.calibration=paper optimizer.steps=10 budget.epsilon=@",    \
              NULL, false },                                                                                         \
            { "DP-STR as printed",                                                                                   \
              "optimizer=str optimizer.calibration=paper optimizer.steps=10 sampler=fixed sampler.batch=" batch      \
              " budget.epsilon=@",                                                                                   \
              NULL, false },                                                                                         \
            { "two samples as printed",                                                                              \
              "optimizer=str2 optimizer.calibration=paper optimizer.steps=10 sampler=fixed sampler.batch=" batch     \
              " budget.epsilon=@",                                                                                   \
              NULL, false },                                                                                         \
            { "without privacy",                                                                                     \
              "optimizer=tr privacy=off optimizer.steps=40 optimizer.growth=1 optimizer.radius=3", NULL, true },     \
            { 0 },                                                                                                   \
    }
static const line on_covtype[] = METHODS("{10000|50000}"), on_ijcnn1[] = METHODS("5000");

static const sweep covtype[] = { { "covtype", "covtype", COVTYPE, GRID, on_covtype, NULL }, { 0 } };
static const sweep ijcnn1[] = { { "ijcnn1", "ijcnn1", IJCNN1, GRID, on_ijcnn1, NULL }, { 0 } };
static const sweep both[] = { { "covtype", "covtype", COVTYPE, GRID, on_covtype, NULL },
                              { "ijcnn1", "ijcnn1", IJCNN1, GRID, on_ijcnn1, NULL },
                              { 0 } };

static const panel accuracies[] = {
    { "Covertype", "covtype", "epsilon", "accuracy, %", M_ACCURACY, PERCENT, 0 },
    { "IJCNN", "ijcnn1", "epsilon", "accuracy, %", M_ACCURACY, PERCENT, 0 },
    { 0 },
};
#define PANELS(set)                                                                                                  \
    {                                                                                                                \
        { "Optimality gap", set, "epsilon", "F(w) - min F", M_OBJECTIVE, GAP | LOG_Y | NO_LEVELS, 0 },               \
            { "Gradient norm", set, "epsilon", "length of the gradient", M_GRADIENT, LOG_Y | NO_LEVELS, 0 },         \
            { "Gap against time, epsilon = 1",     set, "processor seconds", "F(w) - min F", M_OBJECTIVE,            \
              CURVE | TIME | GAP | LOG_Y | ONLY_X, 1 },                                                              \
            { 0 },                                                                                                   \
    }
static const panel on_covtype_panels[] = PANELS("covtype"), on_ijcnn1_panels[] = PANELS("ijcnn1");

/* The text gives the accuracy of the non-private classifier only. */
static const printed accuracies_printed[] = {
    { 0, "without privacy", (double)NAN, 86, 0 },
    { 1, "without privacy", (double)NAN, 95, 0 },
    { 0 },
};

#define TAKEN                                                                                                        \
    "Columns of Covertype are scaled to [0, 1] by their published bounds, then rows to length 1; no bias; type "     \
    "2 against the rest; with --quick 100,000 rows and delta = 1e-5. Steps, radii and step sizes are not given:"     \
    " DP-TR, DP-STR (but for the paper's batch), DP-GD and, beside them, pgd (gradient steps with momentum and no "  \
    "Hessian) run at their defaults; those of DP-GD were chosen on these problems, as DP-TR's were "                 \
    "(docs/algorithms/gd-sosp.md). DP-STR takes gradient and Hessian from one sample, with two samples (Algorithm "  \
    "2) from one each of the paper's batch. The printed forms take 10 steps (with alpha = 0.1 the printed rule "     \
    "stops "                                                                                                         \
    "after two or three). Seconds are the processor's and include the passes that draw the curve."
#define AND_STR                                                                                                      \
    " What brings DP-STR near: sampling is accounted tightly, and a row's Hessian is released with its true "        \
    "sensitivity, not sqrt(p) times it. In their printed forms both methods are above DP-GD. The paper "             \
    "prints no number."
#define FIGURE(id, what, problem, on, reason, seconds_quick, seconds_whole)                                          \
    {                                                                                                                \
        .name = "tr-fig" id, .paper = "TR", .figure = "Fig. " id, .shows = what, .taken = TAKEN,                     \
        .why = reason AND_STR, .common = COMMON problem, .quick_data = "covtype:100000", .curve = "objective",       \
        .sweeps = on, .panels = on_##on##_panels, .runs = { 2, 10 }, .seconds = {                                    \
            seconds_quick,                                                                                           \
            seconds_whole                                                                                            \
        }                                                                                                            \
    }

/* What the figures show, as recorded in docs/results/papers.md. */
#define ACCURACIES_SHOW                                                                                              \
    "The problem solved without noise gives 68.5 % on Covertype (100,000 rows) and, on IJCNN, the share of "         \
    "the frequent class, 90.24 %; the 86 % and 95 % printed for no privacy are out of reach of this model. "         \
    "DP-TR, DP-STR with one sample or two, and DP-GD end within a point of the run without noise at every "          \
    "epsilon, and so does pgd but for Covertype at 0.2. The accuracy of DP-TR and DP-GD does not increase "          \
    "with epsilon, as the paper says it does; that of the printed DP-STR does, with one sample and with two."
#define FIG4_SHOWS                                                                                                   \
    "DP-TR has the smallest gap at 0.2 and 2, as in the paper; at 1 DP-TR, whose spread is largest there, "          \
    "both forms of DP-STR and pgd are within their spread of each other. DP-GD has four times as much as "           \
    "DP-TR at 0.2 and twice as much at 1, and hardly less at 2 than at 1, since its 1,000 steps without "            \
    "momentum are the limit there; pgd has six times as much at 0.2. DP-STR, the paper's open problem, has a "       \
    "third more than DP-TR at 0.2 and eight times as much at 2; with two samples two thirds more and seven "         \
    "times."
#define FIG6_SHOWS                                                                                                   \
    "At 0.2 DP-TR, DP-STR, DP-GD and pgd are within their spread of each other, and DP-STR with two "                \
    "samples has 1.4 times as much. From 0.6 on DP-TR is lowest: DP-GD and pgd have twice its gap at 0.6 "           \
    "and three times at 1, DP-STR 1.4 times and twice; at 1.8 pgd has 2.2 times and the others about "               \
    "three times as much. The paper has DP-TR below DP-GD throughout, and DP-STR, its open problem, "                \
    "above both."
#define FIG8_SHOWS                                                                                                   \
    "The paper has DP-TR below DP-GD. Here DP-GD, tuned like DP-TR, has little more than half of DP-TR's gap "       \
    "at 0.2, and is level with it at 1 and 2. pgd is as low at 1 and 2 but stuck at 0.2. DP-STR, the paper's "       \
    "open problem, is level with DP-TR at 0.2, and five and eight times as high at 1 and 2; with two samples "       \
    "it has nearly three times DP-TR's gap at 0.2, and as much as with one at 1 and 2."
#define FIG10_SHOWS                                                                                                  \
    "DP-TR, DP-STR and DP-GD are within their spread of each other at every epsilon; the mean of DP-TR "             \
    "is below that of DP-GD throughout, as in the paper, by a fifth at most. pgd has less than half of "             \
    "their gap at 0.2, half as much again at 0.6 and 1, and is level from 1.4 on. DP-STR, the paper's "              \
    "open problem, has twice DP-TR's gap at 0.2 and 1.8 with two samples."

const item repro_tr[] = {
    { .name = "tr-fig2",
      .paper = "TR",
      .figure = "Fig. 2",
      .shows = "accuracy of sigmoid regression against epsilon, Covertype and IJCNN",
      .taken = TAKEN " Accuracy is that on the rows trained on; the paper names no others.",
      .why = ACCURACIES_SHOW,
      .common = COMMON SIGMOID,
      .quick_data = "covtype:100000",
      .curve = "objective",
      .sweeps = both,
      .panels = accuracies,
      .printed = accuracies_printed,
      .runs = { 2, 10 },
      .seconds = { 0.8, 4.2 } },
    FIGURE("4", "logistic regression with a non-convex penalty on Covertype: gap, gradient, time", LOGISTIC, covtype,
           FIG4_SHOWS, 1.7, 10),
    FIGURE("6", "logistic regression with a non-convex penalty on IJCNN: gap, gradient, time", LOGISTIC, ijcnn1,
           FIG6_SHOWS, 0.5, 0.5),
    FIGURE("8", "sigmoid regression with an l2 penalty on Covertype: gap, gradient, time", SIGMOID, covtype,
           FIG8_SHOWS, 0.9, 8),
    FIGURE("10", "sigmoid regression with an l2 penalty on IJCNN: gap, gradient, time", SIGMOID, ijcnn1, FIG10_SHOWS,
           0.4, 0.4),
    { 0 },
};
