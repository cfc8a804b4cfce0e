/* range.h - which questions are answered (range.c), and how many iterations each loop has at most. */
#ifndef PVI_RANGE_H
#define PVI_RANGE_H
#include <stdbool.h>
#include <stdint.h>

/* ---- inputs ---------------------------------------------------------------------------------------------
 * One row an input: name, least, most, whether 0 is allowed besides.  Every bound of rounding, overflow and
 * underflow in this folder, and every cap below, was derived for these ranges (docs/accountants/limits.md).  What is
 * outside is refused, whoever asks: account, calibrate, curve, plan, train, verify. */
#define PVI_EPSILON_MOST 1e6
#define PVI_DELTA_LEAST  1e-200
#define PVI_DELTA_MOST   0.999999999999
#define PVI_RANGES(X)                                                                                                \
    X(NOISE, "noise multiplier", 1e-6, 1e16, false)                                                                  \
    X(SCALE, "Laplace scale", 1e-6, 1e16, false)                                                                     \
    X(SELECT, "selection epsilon", 1e-16, PVI_EPSILON_MOST, false)                                                   \
    X(EPS0, "epsilon of a release", 1e-16, PVI_EPSILON_MOST, true)                                                   \
    X(DELTA0, "delta of a release", PVI_DELTA_LEAST, 1.0, true)                                                      \
    X(RATE, "sampling rate", 1e-15, 1.0, false)                                                                      \
    X(TIMES, "number of repetitions", 1.0, 0x1p53, true)                                                             \
    X(PARTS, "number of parts", 1.0, 0x1p53, false)                                                                  \
    X(DELTA, "delta", PVI_DELTA_LEAST, PVI_DELTA_MOST, true)                                                         \
    X(EPSILON, "epsilon", 1e-9, PVI_EPSILON_MOST, true)                                                              \
    X(CONSTANT, "constant of a hidden-state bound", 1e-30, 1e30, true)                                               \
    X(GROUP, "rows of a group", 1.0, 1e6, false)

#define PVI_RANGE_NAME(id, name, least, most, zero) PVI_RANGE_##id,
typedef enum pvi_range_id { PVI_RANGES(PVI_RANGE_NAME) PVI_N_RANGES } pvi_range_id;
#undef PVI_RANGE_NAME
typedef struct pvi_range {
    const char *name;
    double least, most;
    bool zero;
} pvi_range;
extern const pvi_range pvi_ranges[PVI_N_RANGES];
bool pvi_in_range(pvi_range_id id, double x); /* false for NaN */
/* "noise multiplier 1e-09 is not in [1e-06, 1e+16]" */
enum { PVI_RANGE_TEXT = 128 };
void pvi_range_text(pvi_range_id id, double x, char text[PVI_RANGE_TEXT]);

/* ---- loops ----------------------------------------------------------------------------------------------
 * Loops that end by comparing doubles: name, cap, whether some are meant to end at it.  Where each cap comes from is
 * in docs/accountants/limits.md; what happens when one is reached is written beside the loop and is the safe side. */
#define PVI_LOOPS(X)                                                                                                 \
    X(GDP_NEWTON, 400, false)                                                                                        \
    X(GDP_MOVE, 1200, false)                                                                                         \
    X(PLD_RISE, 400, false)                                                                                          \
    X(PLD_FALL, 2200, false)                                                                                         \
    X(PLD_CLOSE, 3300, false)                                                                                        \
    X(PLD_WINDOW, 60, false)                                                                                         \
    X(PLD_PASS, 60, false)                                                                                           \
    X(PLD_OCTAVE, 64, false)                                                                                         \
    X(PLD_HALVE, 64, false)                                                                                          \
    X(GROUP_RISE, 16, false)                                                                                         \
    X(GROUP_CLOSE, 240, false)                                                                                       \
    X(ROWS_RISE, 200, false)                                                                                         \
    X(ROWS_CLOSE, 100, false)                                                                                        \
    X(CALIBRATE_FIND, 64, false)                                                                                     \
    X(CALIBRATE_CLOSE, 240, false)                                                                                   \
    X(CALIBRATE_START, 64, false)                                                                                    \
    X(ORDER_FIND, 40, false)                                                                                         \
    X(ORDER_CLOSE, 60, true)                                                                                         \
    X(COMPOSE_CLOSE, 200, false)                                                                                     \
    X(BINOMIAL_SUM, 8000000, false)                                                                                  \
    X(BETA_SERIES, 100000, false)                                                                                    \
    X(RADIUS_RISE, 1100, false)                                                                                      \
    X(RADIUS_CLOSE, 1200, false)                                                                                     \
    X(MU_RISE, 32, true)                                                                                             \
    X(MU_CLOSE, 1200, false)                                                                                         \
    X(SERIES, 200, false)                                                                                            \
    X(RENYI_NODES, 400000, false)                                                                                    \
    X(RENYI_WINDOW, 1000, false)

#define PVI_LOOP_CAP(id, cap, stops) PVI_CAP_##id = (cap),
enum { PVI_LOOPS(PVI_LOOP_CAP) };
#undef PVI_LOOP_CAP
#define PVI_LOOP_NAME(id, cap, stops) PVI_LOOP_##id,
typedef enum pvi_loop_id { PVI_LOOPS(PVI_LOOP_NAME) PVI_N_LOOPS } pvi_loop_id;
#undef PVI_LOOP_NAME

/* Whether iteration i = 0, 1, ... may still be made.  A test builds this folder once more with PVI_COUNT_LOOPS and
 * reads how far each loop came. */
#ifdef PVI_COUNT_LOOPS
bool pvi_count_iteration(pvi_loop_id id, int64_t cap, int64_t i);
#define PVI_ITERATE(id, i) pvi_count_iteration(PVI_LOOP_##id, PVI_CAP_##id, (i))
#else
#define PVI_ITERATE(id, i) ((i) < PVI_CAP_##id)
#endif
#endif
