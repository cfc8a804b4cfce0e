/* repro_prgd.c - PrGD: T. Tholeti, S. Kalyani, On the differentially private nature of perturbed gradient descent. */
#include "repro.h"

static const line dimensions[] = {
    { "d = 1", "data.features=1", NULL, false },
    { "d = 3", "data.features=3", NULL, false },
    { "d = 10", "data.features=10", NULL, false },
    { "d = 30", "data.features=30", NULL, false },
    { "d = 100", "data.features=100", NULL, false },
    { "d = 1000", "data.features=1000", NULL, false },
    { 0 },
};

/* The largest distance of two gradients is twice the clip; the noise is from the unit ball. */
static const sweep distances[] = {
    { "delta", NULL,
      "model=logistic optimizer=prgd optimizer.calibration=paper optimizer.steps=1 data.rows=100 data.bias=0 "
      "budget.relation=replace budget.delta=0.5 clip=@*0.5",
      "0.001 0.05 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9 1.98", dimensions, NULL },
    { 0 },
};

static const panel panels[] = {
    { "Privacy of one step", "delta", "largest distance of two gradients, in radii of the noise", "delta", M_VALUE, 0,
      0 },
    { 0 },
};

/* d = 1 is the uniform distribution, for which the text gives delta = distance/2. */
static const printed numbers[] = {
    { 0, "d = 1", 0.5, 0.25, 0 },
    { 0, "d = 1", 1, 0.5, 0 },
    { 0, "d = 1", 1.5, 0.75, 0 },
    { 0 },
};

const item repro_prgd[] = {
    { .name = "prgd-fig2",
      .paper = "PrGD",
      .figure = "Fig. 2",
      .shows = "privacy of a step with noise from the unit ball, against the distance of gradients, for several "
               "dimensions",
      .taken = "The paper's legend does not survive in its text; six dimensions from 1 to 1000 were taken. The "
               "distance is twice the clip.",
      .why = "The same formula, rounded up: delta rises with the dimension and with the distance, as the paper says.",
      .sweeps = distances,
      .panels = panels,
      .printed = numbers,
      .plan = "events/event/event/delta",
      .runs = { 1, 1 },
      .seconds = { 0.002, 0.002 } },
    { 0 },
};
