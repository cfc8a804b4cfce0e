/* plugin.h - the contracts a plug-in file fulfils.
 *
 * One plug-in = one file + one line in src/core/registry.def.  Every slot is
 * required unless marked optional; NULL then means the documented default.  */
#ifndef PVI_PLUGIN_H
#define PVI_PLUGIN_H
#include <math.h>

#include "privet.h"

/* One tunable.  This row is the only source of the default, the range check,
 * --help, the JSON key and the certificate entry.
 * A default of PV_AUTO means `chosen from public quantities` by the optimiser's
 * resolve slot: an F64 holds NAN and an I64 holds PV_AUTO_I64 until then.       */
typedef enum pv_ptype { PV_F64 = 1, PV_I64 = 2, PV_BOOL = 3, PV_ENUM = 4, PV_STR = 5, PV_LIST = 6 } pv_ptype;
#define PV_AUTO     ((double)NAN)
#define PV_AUTO_I64 INT64_MIN
enum { PV_LIST_MOST = 64 };
typedef struct pv_numbers { /* one number for all layers, or one for each                        */
    int64_t n;              /* 0: the word that the row has in `choices`                         */
    double v[PV_LIST_MOST];
} pv_numbers;
typedef struct pv_param {
    const char *key;     /* NULL ends the table                                     */
    pv_ptype type;       /* double, int64_t, bool, int64_t (index), const char *, pv_numbers */
    size_t offset;       /* into the plug-in's cfg struct                           */
    double def, lo, hi;  /* default, closed range; ENUM: def indexes `choices`   */
    bool certified;      /* enters the guarantee, so is certified                */
    const char *help;    /* one line, names the symbol it sets                   */
    const char *choices; /* ENUM: "random|last|average"; STR: default or NULL; LIST: the word for none, or NULL */
} pv_param;

/* First member of every ops struct, so the registry sees all kinds alike.      */
typedef struct pv_plugin {
    const char *name, *summary, *reference; /* reference: paper, theorem    */
    size_t cfg_size, state_size;            /* framework allocates, zeroed  */
    const pv_param *params;                 /* never NULL; { 0 } ends it    */
} pv_plugin;
extern const pv_param pv_no_params[]; /* for a plug-in without parameters        */

typedef struct pv_arena pv_arena;   /* scratch, freed as a whole after the run  */
typedef struct pv_rng pv_rng;       /* the only source of randomness            */
typedef struct pv_oracle pv_oracle; /* the only way to the data                 */

double *pv_arena_f64(pv_arena *a, int64_t n); /* zeroed; NULL: no memory         */
void *pv_arena_get(pv_arena *a, size_t size); /* zeroed, 64-byte aligned; NULL: no memory */

/* ---- neighbouring relation ------------------------------------------------------
 * ZERO_OUT: one row's contribution removed, n public.  REPLACE: one row changed. */
typedef enum pv_relation { PV_REL_ZERO_OUT = 1, PV_REL_REPLACE = 2 } pv_relation;

/* ---- data ------------------------------------------------------------------------
 * What is declared about the rows; public, never measured on values.            */
typedef struct pv_domain {
    int64_t n;         /* units: rows, or persons who own several                  */
    int64_t p;         /* columns the model sees, bias included                    */
    double row_norm;   /* R: ||x_i|| <= R for every row as the model sees it, bias included */
    bool max_norm;     /* R bounds the largest |x_ij| of a row, not its length     */
    int64_t classes;   /* 2: y in {-1,+1}; k > 2: y in {0..k-1}; 0: real y         */
    double y_lo, y_hi; /* bounds of a real label                                 */
    /* Images: a row is `channels` planes of height x width values, each plane row by row, then the
     * bias column if there is one.  All 0: not images.                                     */
    int64_t height, width, channels;
    /* K: rows that a unit owns at most.  0: a unit is a row.                                */
    int64_t unit_rows;
    uint8_t unit_combine, unit_weight; /* as in pv_rows */
} pv_domain;

/* What a unit of several rows adds (model/units.c (2)); 0 is what a table is unless a plan says otherwise. */
enum { PV_UNIT_MEAN = 0, PV_UNIT_SUM = 1 }; /* of its rows' gradients, before it is clipped */
enum { PV_UNIT_ONE = 0, PV_UNIT_ROWS = 1 }; /* a unit counts once, or by its rows */

/* A view of units.  A unit is one row, or where start is set a person with several; it has a place in the whole
 * table, which depends on no thread and no process: pick[i], or first + i.  n, first and pick count units.
 * Everything borrowed.  Dense iff x != NULL, pixels iff byte != NULL, else CSR.
 * Unit i of the view is u = pick ? pick[i] : i.  Without start it is stored row r = u.  With start it owns the stored
 * rows r = start[u] .. start[u+1]-1; x, ptr, byte, y and norm then begin at row 0 of the whole table, start at unit
 * `first` of it (at unit 0 with pick); only a model that is PV_UNITS gets such a view.
 * Rows are stored raw, as they came: the model sees
 *   x = s (v, b),  b the bias (0: there is no such column),  s the gain, a function of norm[r], bound and unit
 *   (model.h)
 *   dense  v = x[r*ld .. r*ld+q)      CSR  idx/val[ptr[r] .. ptr[r+1])      q = p, or p - 1 with a bias
 *   pixels v_j = level[byte[r*ld+j]]; only for a model that is PV_PIXELS
 * Indices of a CSR row ascend.  Nothing behind the q-th value of a dense row may be read.  Stored values are finite,
 * whatever their size, and ||(v, b)|| <= norm[r] (data.norm=max: the largest of them), which is infinite where no
 * float is large enough; a row with a negative norm adds nothing.  s norm[r] <= bound <= domain.row_norm.    */
typedef struct pv_rows {
    int64_t n, p; /* p: columns the model sees, bias included */
    const float *x;
    int64_t ld;
    const int64_t *ptr;
    const int32_t *idx;
    const float *val;
    const float *y;
    const float *norm;
    float bound, bias; /* bound: the largest float <= R; INFINITY: rows are what they are, s = 1 */
    bool unit;         /* every row but one of zeros gets the norm `bound`, not only longer ones */
    const int64_t *pick;
    int64_t first; /* place in the whole table of unit 0 of the view, where pick is NULL */
    int64_t next;  /* units that pick names behind its first n: those asked for next, so that they can be fetched */
    const uint8_t *byte;
    const float *level;   /* of the 256 bytes */
    const int64_t *start; /* NULL: a unit is a row */
    int64_t unit_rows;    /* K: rows that a unit owns at most, each at least one; 1 where start is NULL */
    bool prefix;          /* units may own more: the first K of each are meant */
    uint8_t unit_combine; /* PV_UNIT_MEAN, PV_UNIT_SUM */
    uint8_t unit_weight;  /* PV_UNIT_ONE, PV_UNIT_ROWS */
    const float *A;       /* NULL, or x = A s (v, b), p x p, symmetric, rows padded to 16 floats; pv_hess_ops only */
} pv_rows;

struct pv_load; /* what a reader gets and fills: src/data/reader.h               */
typedef struct pv_reader_ops {
    pv_plugin head;
    int (*probe)(const char *path, const uint8_t *magic, size_t n); /* 0..100, after decompression */
    pv_status (*read)(const void *cfg, struct pv_load *job);
    bool tables; /* what a schema declares                                               */
    bool images; /* without a declaration                                                */
    bool dense;  /* a value for every feature: rows stay dense, however many there are    */
    /* Optional: a set is several files, named PREFIX1SUFFIX, PREFIX2SUFFIX, ... up to so many. */
    const char *part_prefix, *part_suffix;
    int parts;
} pv_reader_ops;

/* Words of a message; empty: none. */
typedef struct pv_words {
    char text[320];
} pv_words;

/* ---- properties of losses, regularisers, problems --------------------------------- */
enum {
    PV_CONVEX = 1u,
    PV_SMOOTH = 2u,
    PV_LIPSCHITZ = 4u,
    PV_STRONG = 8u,
    PV_COMPACT = 16u,
    PV_HESSIAN = 32u,
    PV_PROX = 64u,             /* regulariser or set with an exact prox / projection          */
    PV_LMO = 128u,             /* set with a linear minimisation oracle                       */
    PV_CLASSIFY = 512u,        /* loss: labels are classes; without it labels are real        */
    PV_MARGIN = 1024u,         /* loss: phi of m = y <w,x>; without it, of the residual <w,x> - y */
    PV_ELASTIC = 2048u,        /* regulariser: a ||w||_1 + (strong/2) ||w||^2, with a = 0 if PV_SMOOTH */
    PV_L1_FIRST = 4096u,       /* set: soft threshold, then project, is the exact prox of a ||w||_1  */
    PV_L1_FLAT = 8192u,        /* set: ||w||_1 is constant on it, so an l1 penalty changes nothing    */
    PV_ANY_LABEL = 16384u,     /* model: classes or numbers, its loss follows the labels          */
    PV_BLOCKS = 32768u,        /* model: the gradient of each tensor is that of its own convex problem */
    PV_PIXELS = 65536u,        /* model: takes rows as bytes                                          */
    PV_OF_LOSSES = 1u << 17,   /* model: goes by the names of its losses                            */
    PV_FOR_NUMBERS = 1u << 18, /* loss or model: what model=auto is for labels that are numbers,  */
    PV_FOR_TWO = 1u << 19,     /*   two classes,                                                 */
    PV_FOR_MANY = 1u << 20,    /*   more classes                                                 */
    PV_NETWORK = 1u << 21,     /* model: layers of a description                                       */
    PV_DENSE = 1u << 22,       /* network: one with PV_BLOCKS may stand in for it                         */
    PV_LINEAR = 1u << 23,      /* model: a weight for every column and class                             */
    PV_ZERO = 1u << 24,        /* regulariser: r = 0                                                      */
    PV_L1_BALL = 1u << 25,     /* set: { ||w||_1 <= R }                                                */
    PV_ANY_MODEL = 1u << 26,   /* every model has it                                                  */
    PV_UNITS = 1u << 27        /* model, second derivatives: takes units of several rows             */
};

/* ---- GLM loss: phi of the margin and its derivatives, a vector at a time ----------- */
typedef struct pv_loss_ops {
    pv_plugin head;
    uint32_t props;
    double sup1, sup2, sup3; /* suprema of |phi'|, |phi''|, |phi'''|; INFINITY: unbounded */
    void (*eval)(const void *cfg, int64_t n, const float *m, float *v, float *d1, float *d2); /* any NULL */
    /* optional, for suprema that depend on cfg (the three above are then those of the defaults) */
    void (*sup)(const void *cfg, double sup[3]);
    /* optional: phi'(m) in double for finite m, within 2^-48 (max(1, |phi'(m)|) + sup2); NULL: in float only */
    double (*slope)(const void *cfg, double m);
    /* optional: factors, at most 1, of the loss of rows with label -1 and +1, which eval() leaves out; NULL: 1.  Not
     * for losses with PV_HESSIAN or slope. */
    void (*weights)(const void *cfg, double a[2]);
} pv_loss_ops;

/* ---- gradient and Hessian in one release ------------------------------------------------------
 * A row contributes the vector (g_i, scale svec(H_i)): its clipped gradient, then its clipped Hessian in coordinates
 * whose Euclidean norm is `scale` times the Frobenius norm.  The Hessian is `blocks` x `blocks` symmetric blocks of
 * width x width; h holds the blocks of the lower triangle, each as its own lower triangle, row after row.          */
typedef struct pv_joint {
    double scale;          /* s; 0: not chosen yet                                                */
    double grad, hess;     /* C, K: bounds on ||g_i|| and on ||H_i||_F                             */
    double clip;           /* B >= C: bound on the norm of the whole vector                        */
    double rho;            /* Lipschitz constant of the loss's Hessian (INFINITY: none)             */
    int64_t blocks, width; /* d = blocks width                                                     */
    bool convex;           /* every H_i is positive semidefinite: enforced, not assumed            */
    bool plain;            /* entries off the diagonal without their weight of sqrt 2               */
    double row_norm;       /* R, where rows can be asked for moments and transformed; 0: not      */
} pv_joint;
/* Contracts (M1) to (M3) as below, for the whole vector: (M1) B; (M2) rounding times B. */
typedef struct pv_hess_ops {
    void (*bounds)(const void *cfg, const pv_domain *dom, pv_joint *j);       /* not scale, grad, clip, plain */
    double (*norm)(const void *cfg, const pv_domain *dom, const pv_joint *j); /* B that clips nothing more   */
    size_t (*scratch)(const void *cfg, const pv_domain *dom);
    void (*sum)(const void *st, const void *cfg, const pv_rows *rows, const pv_joint *j, float *g, float *h,
                int64_t *n_bad, void *scratch); /* g, h += ; h without scale and weights           */
    double (*rounding)(const void *cfg, int64_t m, int64_t d);
    /* Optional, both or neither.  moment: h += sum of x x' / R^2, (M1) with 1 for B.  transform: consecutive rows
     * of a view with A; rows of ld floats to x, bounds of their norms to norm, negative for a row of no use.    */
    void (*moment)(const pv_rows *rows, double row_norm, float *h, int64_t *n_bad, void *scratch);
    void (*transform)(const pv_rows *rows, float *x, int64_t ld, float *norm, void *scratch);
    uint32_t props; /* PV_UNITS: sum and moment take units of several rows                        */
} pv_hess_ops;

/* ---- the weights of a layer, or its biases -------------------------------------------------------
 * stored as [(pixel channels + channel) units + unit]; what is no image is one pixel.             */
typedef struct pv_tensor {
    int64_t size; /* pixels channels units */
    int64_t pixels, channels, units;
    int64_t overlap; /* of a convolution: windows along a side that see a pixel, at most; else 0 or 1 */
} pv_tensor;

/* ---- descent on the rows before anything is released (query/query_descent.c) ----------------- */
typedef struct pv_descent {
    int64_t passes; /* T: gradient steps, each over all rows                                      */
    double step;    /* eta                                                                        */
} pv_descent;

/* ---- model: what the oracle calls.  glm.c implements it once for every loss. --------
 * The oracle splits the units into groups fixed by position and calls grad_sum per
 * group.  Privacy rests on three promises, all tested over the registry:
 *   (M1) each unit contributes a vector of L2 norm at most clip (+ rounding): the clipped
 *        gradient of its row, or the clipped sum or mean of the gradients of its rows;
 *   (M2) the float sum of a group of m units differs from the exact sum by at most
 *        rounding(cfg, m, d) * clip in L2 norm;
 *   (M3) units are accumulated one after the other, so that a unit whose contribution
 *        is zero leaves the sum bit-identical.                                        */
typedef struct pv_model_ops {
    pv_plugin head;
    uint32_t props; /* 0: glm takes the loss's                                    */
    int64_t (*dim)(const void *cfg, const pv_domain *dom);
    size_t (*scratch)(const void *cfg, const pv_domain *dom, int64_t max_rows); /* bytes per thread */
    /* Once per query before any group, on one thread; keeps a float copy of w in st.  number: from 1 on. */
    pv_status (*begin)(void *st, const void *cfg, const pv_domain *dom, const double *w, int64_t number, pv_arena *a);
    /* g (d floats) += sum of clip(grad_i); n_bad += rows that were not finite (they add 0). */
    void (*grad_sum)(const void *st, const void *cfg, const pv_rows *rows, double clip, float *g, int64_t *n_bad,
                     void *scratch);
    double (*rounding)(const void *cfg, int64_t m, int64_t d);
    /* sum of losses over the rows: a diagnostic, never released as private          */
    double (*value_sum)(const void *st, const void *cfg, const pv_rows *rows, void *scratch);
    /* score: n x outputs(cfg) row-major; margin for binary and real, logits otherwise */
    int64_t (*outputs)(const void *cfg, const pv_domain *dom);
    void (*predict)(const void *st, const void *cfg, const pv_rows *rows, float *score, void *scratch);
    /* G: bound on one row's gradient norm without clipping; L: smoothness constant of the
     * average loss (INFINITY: none).  Public: from the domain and the loss constants only. */
    void (*constants)(const void *cfg, const pv_domain *dom, double *G, double *L);
    /* Optional, for CSR rows: sum[j] += round(clip(grad_i)_j / spacing) for every row on its own, in time
     * proportional to the non-zeros; exact but for the rounding, so no group sums are needed.         */
    void (*grid_sum)(const void *st, const void *cfg, const pv_rows *rows, double clip, double spacing, int64_t *sum,
                     int64_t *n_bad, void *scratch);
    /* Optional, before all others: completes cfg from the domain; PV_E_PARAM: the model does not fit the data. */
    pv_status (*open)(void *cfg, const pv_domain *dom, pv_ctx *ctx);
    /* Optional: d weights to start from, by cfg and public quantities only; NULL: zeros.                     */
    void (*start)(const void *cfg, const pv_domain *dom, double *w);
    /* Optional: how many tensors the weights consist of, and they in order unless NULL; NULL: one.  Two for every
     * layer with weights: these, and its biases.                                                             */
    int64_t (*tensors)(const void *cfg, const pv_domain *dom, pv_tensor *out);
    double clip; /* default bound on one row's gradient where constants() knows none; 0: none                */
    const pv_hess_ops *hess; /* optional: NULL, no second derivatives                              */
} pv_model_ops;

/* ---- regulariser r(w): never noised, never part of a sensitivity ---------------------
 * One rule everywhere: a regulariser with prox enters through pv_prox and nowhere else; one
 * without it must have grad, which the optimiser adds to the gradient (pv_reg_grad).       */
typedef struct pv_reg_ops {
    pv_plugin head;
    uint32_t props; /* PV_CONVEX, PV_SMOOTH, PV_PROX ...                                   */
    double (*value)(const void *cfg, const double *w, int64_t d);
    void (*grad)(const void *cfg, const double *w, double *g, int64_t d); /* optional: adds r'(w) to g   */
    void (*curv)(const void *cfg, const double *w, double *h, int64_t d); /* optional: adds diag r'' to h */
    void (*prox)(const void *cfg, double eta, double *w, int64_t d);      /* optional; in place          */
    double (*smooth)(const void *cfg); /* optional: Lipschitz constant of r' (INFINITY: none)   */
    double (*strong)(const void *cfg); /* optional: strong convexity of r (0: none)             */
    double (*third)(const void *cfg);  /* optional: Lipschitz constant of r'' (INFINITY: none)   */
} pv_reg_ops;

/* ---- constraint set C --------------------------------------------------------------------- */
typedef struct pv_set_ops {
    pv_plugin head;
    uint32_t props;
    pv_status (*open)(void *st, const void *cfg, int64_t d, pv_ctx *ctx, pv_arena *a); /* optional */
    void (*project)(const void *st, const void *cfg, double *w, int64_t d);            /* optional; in place      */
    void (*lmo)(const void *st, const void *cfg, const double *g, double *v,
                int64_t d);                                                         /* optional: argmin_v <v,g> */
    int64_t (*atoms)(const void *st, const void *cfg, int64_t d);                   /* optional; vertices       */
    void (*atom)(const void *st, const void *cfg, int64_t k, double *v, int64_t d); /* with atoms      */
    double (*radius)(const void *st, const void *cfg, int64_t d); /* sup ||w||_2 over C (INFINITY)      */
    double (*width)(const void *st, const void *cfg, int64_t d);  /* Gaussian width (INFINITY)          */
    /* With atoms: score[k] = <v_k, g> for all of them, and the largest ||v_k||_1.                     */
    void (*scores)(const void *st, const void *cfg, const double *g, double *score, int64_t d);
    double (*radius1)(const void *st, const void *cfg, int64_t d);
} pv_set_ops;

/* ---- privacy event: all an accountant ever sees.  Values are pinned; sensitivity
 *      refers to the neighbouring relation of the plan ------------------------------ */
typedef enum pv_ev_kind {
    PV_EV_NONE = 0,
    PV_EV_GAUSSIAN = 1,  /* a = standard deviation / L2 sensitivity                    */
    PV_EV_LAPLACE = 2,   /* a = scale / L1 sensitivity                                 */
    PV_EV_SELECT = 3,    /* exponential mechanism, a = its epsilon (bounded range)     */
    PV_EV_BALL = 4,      /* uniform in a ball: (0, a), total variation                 */
    PV_EV_EPS_DELTA = 5, /* an (epsilon, delta) known from elsewhere: a, b             */
    PV_EV_POISSON = 10,  /* each row enters sub with probability a; sub's sensitivity is the zero-out one */
    PV_EV_FIXED = 11,    /* a fraction a of the rows, without replacement, n public    */
    PV_EV_CYCLIC = 12,   /* one of n parts of the rows, fixed by position: repeated right above, in turn     */
    PV_EV_REPEAT = 20,   /* n adaptive repetitions of sub                              */
    PV_EV_SEQ = 21,      /* sub, then sub->next, ...                                   */
    PV_EV_NONPRIVATE = 90
} pv_ev_kind;
typedef struct pv_event {
    pv_ev_kind kind;
    double a, b;
    int64_t n;
    const struct pv_event *sub, *next;
    int release; /* of a planned tree: whose row of the plan a leaf is; accountants do not look at it */
} pv_event;
const pv_event *pv_ev_leaf(pv_arena *a, pv_ev_kind kind, double x, double y); /* NULL: no memory */
const pv_event *pv_ev_sampled(pv_arena *a, pv_ev_kind kind, double rate, const pv_event *sub);
const pv_event *pv_ev_cyclic(pv_arena *a, int64_t parts, const pv_event *sub);
const pv_event *pv_ev_repeat(pv_arena *a, int64_t n, const pv_event *sub);
const pv_event *pv_ev_seq(pv_arena *a, int64_t k, const pv_event *const *parts);

/* ---- mechanism: what is done to a sum before it leaves; a closed list, since each has proofs in several places
 * ----- */
typedef enum pv_norm { PV_L1 = 1, PV_L2 = 2, PV_LINF = 3 } pv_norm;
struct pv_problem;
typedef struct pv_noise {  /* of one release, as planned                                                     */
    double multiplier;     /* z                                                                              */
    double sensitivity;    /* of the sum, under the relation of the plan                                     */
    double scale;          /* what is drawn: z times the sensitivity, as the mechanism means it              */
    bool off;              /* nothing is private: draw() adds nothing                                        */
    double spacing;        /* of the grid that the sum is on                                                 */
    double max_ratio;      /* the largest noise of the plan over that of this multiplier                     */
    double change;         /* how far a neighbour can move what the noise is added to, in the mechanism's norm */
    int64_t length, units; /* numbers in the sum; units in the table                                         */
    double bound;          /* what one unit adds to the sum, at most                                         */
    bool max_norm;         /* a row's largest value is bounded, not its length                               */
    const struct pv_problem *problem;
} pv_noise;
/* How close a real law P' is to the ideal P: P'(S) <= e^kappa P(S) + tau and P(S) <= e^kappa P'(S) + tau for every S.
 * Both add up over the draws of a run, however each depends on those before it. */
typedef struct pvi_close {
    double kappa, tau;
} pvi_close;
typedef struct pv_mechanism_ops {
    pv_plugin head;
    pv_norm norm;       /* of the sensitivity it is scaled to                            */
    pv_ev_kind event;   /* its leaf event                                                 */
    unsigned relations; /* with a proof: bits 1 << pv_relation                           */
    const char *caveat; /* optional: a sentence for the assumptions of a certificate     */
    const char *shown;  /* what plans and results call shown_value()                      */
    double (*shown_value)(const pv_noise *n);
    double (*entry)(const pv_noise *n);            /* standard deviation on one number of the sum; optional */
    double (*leaf)(double z, double d);            /* its event's number for a noise multiplier      */
    pv_words (*lacks)(const struct pv_problem *p); /* optional: what a problem lacks for it   */
    /* Optional: the multiplier for T releases on one unit each; NULL: the accountant's.    */
    double (*own_multiplier)(double T, double units, double d, double delta);
    pv_status (*plan)(pv_noise *n, pv_ctx *ctx); /* scale and change from the sensitivity; or refuses      */
    void (*warn)(const pv_noise *n, double T, pv_ctx *ctx); /* optional                    */
    /* How close the draws of T releases are to the ideal ones: by ratio; in total variation. */
    pvi_close (*close)(const pv_noise *n, double T);
    double (*distance)(const pv_noise *n, double T);
    /* Optional: what is compared instead of the sum, so many numbers; NULL: the sum itself. */
    int64_t (*scores)(const pv_noise *n);
    void (*score)(const pv_noise *n, const int64_t *sum, double *gradient, double *score);
    /* out: `length` numbers times unit, or the index chosen; times: the planned scale; sum is overwritten. */
    void (*draw)(const pv_noise *n, pv_rng *rng, double times, double unit, int64_t *sum, const double *score,
                 double *out);
} pv_mechanism_ops;
double pv_ball_delta(double distance, double radius, double d); /* of two balls: share of the volume not in common */
double pv_ball_radius(double distance, double delta, double d); /* smallest radius with at most delta            */

/* ---- optimiser -------------------------------------------------------------------------- */
typedef struct pv_planned { /* a release, as far as an optimiser may know it: public             */
    const pv_event *event;  /* of one; NULL: not asked for                                      */
    double change;          /* how far a neighbour moves the exact sum                          */
    double stddev;          /* of the noise on a number of its average; 0: not known yet, or none */
    double batch;           /* expected rows in its sample                                       */
} pv_planned;
typedef struct pv_problem {               /* public quantities only                                          */
    pv_ctx *ctx;                          /* threads and messages                                            */
    int64_t d, n;                         /* weights, rows                                                   */
    uint32_t props;                       /* of loss + reg                                                   */
    int64_t outputs;                      /* numbers predicted per row: 1, or the classes                    */
    double G;                             /* bound of one row's gradient without clipping (INFINITY: none)   */
    double C, L;                          /* clipping norm, at most that bound; smoothness of the loss       */
    double size;                          /* half a real label's range times R, where G is none; 0: C stands for it */
    double batch;                         /* expected rows per query                                         */
    double noise_multiplier, sensitivity; /* of one gradient query; 0 before calibration, or off */
    double epsilon, delta;                /* the target; INFINITY when privacy is off                        */
    double mu;                            /* Gaussian-DP parameter with the same (epsilon, delta); for defaults */
    pv_relation relation;
    const pv_reg_ops *reg;
    const void *reg_cfg;
    const pv_set_ops *set; /* NULL: the whole space                                            */
    const void *set_cfg, *set_st;
    const pv_planned *planned;    /* by the number of the optimiser's ask                           */
    pv_ev_kind sampling;          /* the event that samples of this plan are; PV_EV_NONE: every row  */
    const double *start;          /* d weights to start from; NULL: zeros                                   */
    const pv_tensor *tensor;      /* what the weights consist of, `tensors` of them, two for a layer          */
    int64_t tensors;              /* 0: one tensor                                                          */
    const pv_numbers *reg_layers; /* factors of the penalty; NULL, or one number: the same in every layer      */
    const pv_joint *joint;        /* constants of its second derivatives; NULL: there are none    */
} pv_problem;

/* What an optimiser asks for, in the order of its numbers; query NULL ends the list.  The third is the sampler unless
 * another is set. */
struct pvi_query_ops;   /* src/query/query.h                                                    */
struct pvi_sampler_ops; /* src/mech/mech.h                                                      */
typedef struct pv_ask_row {
    const struct pvi_query_ops *query;
    const pv_mechanism_ops *mech;
    const struct pvi_sampler_ops *sampler;
    bool (*wanted)(const void *cfg); /* optional, after resolve: is it asked for at all?         */
} pv_ask_row;
enum { PV_MOST_ASKS = 4 };
typedef struct pv_spend { /* planned events that one answer takes, at least 1                    */
    int64_t events;       /* spent together they have 1/sqrt(events) of the noise of one         */
    double factor;        /* >= 1: times the noise planned; its event is pvi_event_scale(event, factor) */
} pv_spend;
/* The only way to rows: sampled, clipped, summed, noised, metered, averaged over the expected (never the realised)
 * number of rows.  out: what the query's file says.  On any error out is zeros. */
pv_status pv_ask(pv_oracle *o, int k, const double *at, pv_spend how, double *out);
static inline pv_status pv_ask_once(pv_oracle *o, const double *at, double *out)
{
    const pv_spend once = { 1, 1.0 };
    return pv_ask(o, 0, at, once, out);
}
/* Room for transformed rows; then: from now on every query sees A x for a row x, A d x d and symmetric, whatever its
 * norm, clipped as before; weights v given to a query stand for w = A v.  Only where joint->row_norm > 0. */
pv_status pv_transform_reserve(pv_oracle *o);
pv_status pv_transform_rows(pv_oracle *o, const double *A);
/* 0 .. n-1 for choices that touch no row (a random iterate, an initial point). */
int64_t pv_random_below(pv_oracle *o, int64_t n);
/* w <- argmin_x r(x) + ||x - w||^2/(2 eta) over the set: exact, or it was refused at planning. */
void pv_prox(const pv_problem *p, double eta, double *w);
/* g += r'(w) for a regulariser that pv_prox leaves to the gradient; nothing otherwise.         */
void pv_reg_grad(const pv_problem *p, const double *w, double *g);

/* An array in an optimiser's state: the framework makes it, zeroed, for d weights.        */
typedef enum pv_array { PV_VECTOR = 1, PV_SQUARE = 2 } pv_array;
typedef struct pv_state {
    size_t offset;  /* of the double * in the state                                        */
    pv_array shape; /* d, or d x d; 0 ends the table                                       */
} pv_state;

typedef struct pv_motion { /* x <- v - step g(v),  v <- x + momentum (x - x before), so many steps */
    double step, momentum;
    int64_t steps;
    double shrink; /* factor of what is returned */
} pv_motion;

typedef struct pv_optimizer_ops {
    pv_plugin head;
    uint32_t needs; /* required problem props                                             */
    pv_ask_row ask[PV_MOST_ASKS];
    const pv_state *state; /* arrays of its state, made before init; NULL: none             */
    /* Optional, before resolve: expected rows in a sample of ask k where none are set; left at NAN: as many as of
     * ask 0, or the query's own choice.                                                     */
    pv_status (*batch)(const void *cfg, const pv_problem *p, int k, double *rows);
    /* Fill every parameter still at PV_AUTO from public quantities; log why.              */
    pv_status (*resolve)(void *cfg, const pv_problem *p);
    pv_status (*plan)(const void *cfg, const pv_problem *p, pv_arena *a, const pv_event **total);
    pv_status (*init)(void *st, const void *cfg, const pv_problem *p, pv_arena *a); /* optional */
    pv_status (*step)(void *st, const void *cfg, const pv_problem *p, int64_t t,    /* t = 1, 2, ... */
                      pv_oracle *o, double *w); /* PV_DONE after the last step             */
    int64_t (*steps)(const void *cfg);          /* for progress                            */
    /* Optional: the noise multiplier by a formula of its own; left at NAN: the accountant's.  The events of one query
     * are in p, with a multiplier of 1.  What the run costs is always the accountant's.              */
    pv_status (*noise)(const void *cfg, const pv_problem *p, double *multiplier);
    /* With queries of Hessians: sets j->scale and j->plain, after resolve.                        */
    void (*weigh)(const void *cfg, const pv_problem *p, pv_joint *j);
    /* With queries of a descent: its steps, after resolve.                                        */
    void (*descend)(const void *cfg, pv_descent *d);
    uint32_t auto_for; /* optimizer=auto is this one for models with these properties, more of them first; 0: never */
    /* Optional, where auto_for fits: is it the one for this problem?  C is that of clipped gradients, joint is NULL
     * unless second moments can be asked for.  NULL: always.                                       */
    bool (*suits)(const pv_problem *p);
    /* Optional, then: settings that only optimizer=auto chooses, before resolve.                   */
    void (*adjust)(void *cfg, const pv_problem *p);
    /* Optional, with optimizer=auto: expected units in a sample by `sampled`, where a row has about so many numbers;
     * NAN: every unit.                                                                            */
    double (*sample)(const pv_problem *p, double columns);
    const struct pvi_sampler_ops *sampled;
    /* Optional: a second bound under further assumptions, below the certified epsilon, as a JSON object that a
     * certificate carries beside its own and that is never charged; left alone: there is none.  */
    pv_status (*conditional)(const void *cfg, const pv_problem *p, const pv_event *total, double certified,
                             pv_arena *a, const char **json);
    /* Optional, of an optimiser that asks for counts: what was released of them, as many as its query has values. */
    const double *(*released)(const void *st);
    /* Optional: warns of a plan whose noise, known by now, leaves little hope.                   */
    void (*warn)(const void *cfg, const pv_problem *p);
    /* Optional: the run is descent with one step and momentum on every release, noise alike in all of them, without
     * penalty or set, and returns the mean of the last half: false where settings make it another (run/band.c). */
    bool (*motion)(const void *cfg, const pv_problem *p, pv_motion *out);
    const struct pvi_utility *bounds; /* optional: what its theorems promise, a list of opt/bounds.h */
} pv_optimizer_ops;

/* ---- mirror map: a distance other than the Euclidean one ------------------------------------
 * psi is differentiable and strongly convex on the set it is made for; D(x, w) = psi(x) - psi(w)
 * - <psi'(w), x - w>.  step replaces w by argmin_{x in C} eta (<g, x> + r(x)) + D(x, w), exactly; a
 * regulariser without prox is left to g (pv_reg_grad), as everywhere.                           */
typedef struct pv_mirror_ops {
    pv_plugin head;
    uint32_t on; /* property of the sets it is made for, and the default on; 0: any set         */
    pv_status (*check)(pv_ctx *ctx, const pv_reg_ops *reg, const pv_set_ops *set); /* or PV_E_UNSUPPORTED */
    void (*step)(const pv_problem *p, double eta, const double *g, double *w);
    double (*divergence)(const pv_problem *p, const double *x, const double *w);
    double (*modulus)(const pv_problem *p); /* of strong convexity, in a norm that is nowhere below l2's */
} pv_mirror_ops;

/* ---- accountant ---------------------------------------------------------------------------
 * compose() may be called several times; it leaves no trace on refusal.  All results are
 * upper bounds unless named _lb.  open() is called before all others on zeroed state and hands over the
 * context to allocate with, which outlives the state; what the state owns, close() frees.    */
typedef struct pv_accountant_ops {
    pv_plugin head;
    pv_status (*supports)(const void *cfg, pv_relation rel, const pv_event *ev); /* unknown kind: PV_E_UNSUPPORTED */
    pv_status (*compose)(void *st, const void *cfg, pv_relation rel, const pv_event *ev);
    pv_status (*epsilon_ub)(const void *st, const void *cfg, double delta, double *eps);
    pv_status (*delta_ub)(const void *st, const void *cfg, double eps, double *delta);
    pv_status (*epsilon_lb)(const void *st, const void *cfg, double delta, double *eps); /* optional: 0 */
    void (*close)(void *st);                                                             /* optional    */
    void (*open)(void *st, pv_ctx *ctx);                                                 /* optional    */
} pv_accountant_ops;
double pv_up(double x, int k); /* x moved k ulps up; 0 stays 0.  Costs round up only       */

/* ---- registry ------------------------------------------------------------------------------ */
typedef enum pv_kind {
    PV_KIND_reader,
    PV_KIND_loss,
    PV_KIND_model,
    PV_KIND_reg,
    PV_KIND_set,
    PV_KIND_mechanism,
    PV_KIND_optimizer,
    PV_KIND_accountant,
    PV_KIND_mirror,
    PV_KIND_COUNT
} pv_kind;
const char *pv_kind_name(pv_kind kind);
const pv_plugin *pv_find(pv_kind kind, const char *name); /* NULL: no such plug-in  */
const pv_plugin *pv_nth(pv_kind kind, int64_t i);         /* NULL past the end      */
/* For messages, which name no plug-in themselves: "a, b or c", those of the list that are so, or that have all these
 * properties (losses, models, penalties, sets); empty: none. */
pv_words pv_names_where(pv_kind kind, bool (*is)(const pv_plugin *h, uint32_t of), uint32_t of);
pv_words pv_names_with(pv_kind kind, uint32_t props);
void pv_words_add(pv_words *w, const char *glue, const char *text); /* no glue before the first words */

#endif
