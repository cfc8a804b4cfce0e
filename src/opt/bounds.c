/* bounds.c - what the papers' theorems promise for a plan: their utility bounds in its public quantities.
 *
 * n rows, p weights, l = ln(1/delta); G bounds one row's clipped gradient, M is its smoothness, rho the Lipschitz
 * constant of its Hessian; ||C|| and ||C||_1 are the largest norms in the set, w its Gaussian width (derived in each
 * set's file), W = ||C||^2 + w^2; K vertices; batch b; zeta = 0.05 the probability with which a bound may fail.
 * Wang, Xu 2019 (their (4) to (8) and Table 1):
 *   (1)  (4), Theorem 2    E ||projected gradient||    (p l)^(1/4) / sqrt(n epsilon)
 *   (2)  (5), Theorem 3    population gradient         sqrt(G^2 p ln(G/zeta) ln(n)/n) + (1).  Printed is a tau for
 *        which gradients are tau-sub-Gaussian: <u, g - E g> lies in an interval of length 2 G ||u||, so that by
 *        Hoeffding's lemma tau = G will do
 *   (3)  (6), Theorem 4    Frank-Wolfe gap             ||C|| (W l)^(1/4) / sqrt(n epsilon)
 *   (4)  (7), Theorem 5    E ||projected gradient||    ||C||^(3/2) (W l)^(1/4) / sqrt(n epsilon)
 *   (5)  (8), Theorem 6    Frank-Wolfe gap             ||C||_1 l^(1/4) sqrt(ln(n K/zeta)) / sqrt(n epsilon)
 *   (6)  Table 1, Zhang et al. 2017                    (p l ln(n/delta))^(1/4) / sqrt(n epsilon)
 * Wang, Xu 2020:
 *   (7)  Theorem 15        alpha of an alpha-SOSP      (sqrt(p ln(1/zeta) l)/(n epsilon))^(4/7), (5) there solved
 *        for alpha; without G, M, rho, Delta and ln(1/alpha), which its Omega leaves out.  Its radius
 *        sqrt(alpha/rho)
 *   (8)  [28] beside it    the same of Wang, Chen, Xu  (sqrt(p l)/(n epsilon))^(1/2)
 *   (9)  Theorem 18        rows of a gradient          G^2 ln(p/zeta)/alpha^2, printed with an L that the paper
 *        does not define; the bound on what is averaged is G.  Rows of a Hessian: M^2 ln(p/zeta)/(alpha rho)
 * Wang, Gu et al. 2019 (DP-LSSGD), sigma the smoothing, gamma and beta of smooth.c:
 *   (10) Theorem 4, convex     E F - F*                G sqrt(6 gamma (D_sigma + G^2/b) p l)/(n epsilon)
 *   (11) Theorem 7             E ||F'||^2 in A^(-1)    G sqrt(beta p M (2 D_F + M G^2/b) l)/(n epsilon)
 *        D_sigma = ||w0 - w*||^2 in A_sigma <= (1 + 4 sigma) D^2 and D_F = F(w0) - F* <= G D, where
 *        D = ||w0 - w*|| is at most 2 ||C|| in a set, and taken to be 1 without one.  Theorem 7 is printed for the
 *        mean of the iterates; its proof averages ||F'(w_t)||^2, which for a non-convex F is what a random iterate
 *        has, not their mean
 * All are up to a constant that the papers do not give, 1 here, and for the steps, lengths and output of the
 * theorem; (1) to (6) are printed without G and L, for which they take 1. */
#include "opt/bounds.h"
#include "opt/opt.h"
#include "opt/smooth.h"

typedef struct pvi_utility_inputs {
    const pv_problem *p;
    double n, d, l, G, M, rho;
    double ne, radius, radius1, W, atoms, batch, sigma, D;
    bool symmetric;
} inputs;

static const double zeta = 0.05;

/* ---- conditions: NULL, or why there is none -------------------------------------------------------------------- */

static const char *smooth(const inputs *q)
{
    return isfinite(q->M) ? NULL : "the loss has no smoothness constant";
}

static const char *in_set(const inputs *q)
{
    if (smooth(q)) return smooth(q);
    return q->symmetric ? NULL : "needs a bounded set symmetric about 0, as l1ball or l2ball";
}

static const char *of_vertices(const inputs *q)
{
    return smooth(q) ? smooth(q) : q->atoms > 0.0 ? NULL : "needs a set with vertices, as l1ball";
}

static const char *population(const inputs *q)
{
    if (smooth(q)) return smooth(q);
    if (!(q->G > zeta)) return "its ln(tau/zeta) is not positive";
    return q->n >= q->d * log(q->d) ? NULL : "needs n of p ln(p) rows or more";
}

static const char *curved(const inputs *q)
{
    if (q->p->set) return "has no constraint set";
    return isfinite(q->rho) && isfinite(q->M) ? NULL : "needs second derivatives with a Lipschitz constant";
}

static const char *smoothed(const inputs *q)
{
    return isnan(q->sigma) ? "has one smoothing for all layers" : smooth(q);
}

static const char *convex(const inputs *q)
{
    if (isnan(q->sigma)) return smoothed(q);
    return q->p->props & PV_CONVEX ? NULL : "needs a convex loss";
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static double projected(const inputs *q)
{
    return pow(q->d * q->l, 0.25) / sqrt(q->ne); /* (1) */
}

static double of_population(const inputs *q)
{
    return sqrt(q->G * q->G * q->d * log(q->G / zeta) * log(q->n) / q->n) + projected(q); /* (2) */
}

static double gap(const inputs *q)
{
    return q->radius * pow(q->W * q->l, 0.25) / sqrt(q->ne); /* (3) */
}

static double mirror(const inputs *q)
{
    return pow(q->radius, 1.5) * pow(q->W * q->l, 0.25) / sqrt(q->ne); /* (4) */
}

static double gap_of_vertices(const inputs *q)
{
    return q->radius1 * pow(q->l, 0.25) * sqrt(log(q->n * q->atoms / zeta)) / sqrt(q->ne); /* (5) */
}

static double zhang(const inputs *q)
{
    return pow(q->d * q->l * (log(q->n) + q->l), 0.25) / sqrt(q->ne); /* (6) */
}

static double sosp(const inputs *q)
{
    return pow(sqrt(q->d * log(1.0 / zeta) * q->l) / q->ne, 4.0 / 7.0); /* (7) */
}

static double sosp_radius(const inputs *q)
{
    return sqrt(sosp(q) / q->rho);
}

static double sosp_before(const inputs *q)
{
    return sqrt(sqrt(q->d * q->l) / q->ne); /* (8) */
}

static double sample_gradient(const inputs *q)
{
    return q->G * q->G * log(q->d / zeta) / (sosp(q) * sosp(q)); /* (9) */
}

static double sample_hessian(const inputs *q)
{
    return q->M * q->M * log(q->d / zeta) / (sosp(q) * q->rho); /* (9) */
}

static double excess(const inputs *q)
{
    const double D = (1.0 + 4.0 * q->sigma) * q->D * q->D;
    return q->G * sqrt(6.0 * pvi_smooth_gamma(q->sigma, q->p->d) * (D + q->G * q->G / q->batch) * q->d * q->l) /
           q->ne;
}

static double square_gradient(const inputs *q)
{
    const double beta = pvi_smooth_beta(q->sigma, q->p->d), D = 2.0 * q->G * q->D + q->M * q->G * q->G / q->batch;
    return q->G * sqrt(beta * q->d * q->M * D * q->l) / q->ne; /* (11) */
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

#define ERM "Wang, Xu 2019, "
#define TR  "Wang, Xu 2020, "
#define LS  "DP-LSSGD, "
const pvi_utility pvi_bounds_gradient[] = {
    { ERM "(4), Theorem 2", "norm of the projected gradient", "(p l)^(1/4) / sqrt(n e)", smooth, projected },
    { ERM "(5), Theorem 3", "norm of the population gradient",
      "sqrt(G^2 p ln(G/0.05) ln(n)/n) + (p l)^(1/4) / sqrt(n e)", population, of_population },
    { 0 },
};
const pvi_utility pvi_bounds_frank_wolfe[] = {
    { ERM "(6), Theorem 4", "Frank-Wolfe gap", "R (W l)^(1/4) / sqrt(n e)", in_set, gap },
    { 0 },
};
const pvi_utility pvi_bounds_mirror[] = {
    { ERM "(7), Theorem 5", "norm of the projected gradient", "R^(3/2) (W l)^(1/4) / sqrt(n e)", in_set, mirror },
    { 0 },
};
const pvi_utility pvi_bounds_vertices[] = {
    { ERM "(8), Theorem 6", "Frank-Wolfe gap", "R1 l^(1/4) sqrt(ln(n K/0.05)) / sqrt(n e)", of_vertices,
      gap_of_vertices },
    { 0 },
};
static const pvi_utility earlier[] = {
    /* of methods that are no optimisers here */
    { ERM "Table 1: Zhang et al. 2017", "norm of the gradient", "(p l ln(n/delta))^(1/4) / sqrt(n e)", smooth,
      zhang },
    { ERM "Table 1: Wang, Ye, Xu 2017", "norm of the gradient", "(p l)^(1/4) / sqrt(n e)", smooth, projected },
    { 0 },
};
const pvi_utility pvi_bounds_trust_region[] = {
    { TR "Theorem 15", "alpha of an alpha-SOSP", "(sqrt(p ln(1/0.05) l) / (n e))^(4/7)", curved, sosp },
    { TR "Theorem 15", "radius of its steps", "sqrt(alpha / rho)", curved, sosp_radius },
    { 0 },
};
const pvi_utility pvi_bounds_sosp[] = {
    { TR "Remark 16: Wang, Chen, Xu 2019", "alpha of an alpha-SOSP", "(sqrt(p l) / (n e))^(1/2)", curved,
      sosp_before },
    { 0 },
};
const pvi_utility pvi_bounds_sampled_trust_region[] = {
    { TR "Theorem 18", "alpha of an alpha-SOSP", "(sqrt(p ln(1/0.05) l) / (n e))^(4/7)", curved, sosp },
    { TR "Theorem 18", "rows of a gradient, at least", "G^2 ln(p/0.05) / alpha^2", curved, sample_gradient },
    { TR "Theorem 18", "rows of a Hessian, at least", "M^2 ln(p/0.05) / (alpha rho)", curved, sample_hessian },
    { 0 },
};
const pvi_utility pvi_bounds_smoothed[] = {
    { LS "Theorem 4", "objective above its minimum", "G sqrt(6 gamma ((1+4s) D^2 + G^2/b) p l) / (n e)", convex,
      excess },
    { LS "Theorem 7", "squared norm of the gradient in A^-1", "G sqrt(beta p M (2 G D + M G^2/b) l) / (n e)",
      smoothed, square_gradient },
    { 0 },
};

/* In the order of the papers.  Which optimisers they are bounds of is declared by these. */
static const pvi_utility *const all[] = {
    pvi_bounds_gradient,
    pvi_bounds_frank_wolfe,
    pvi_bounds_mirror,
    pvi_bounds_vertices,
    earlier,
    pvi_bounds_trust_region,
    pvi_bounds_sosp,
    pvi_bounds_sampled_trust_region,
    pvi_bounds_smoothed,
};

/* ---- of a plan ------------------------------------------------------------------------------------------------- */

/* Of the optimiser: 0 where it has none, NAN where layers have their own. */
static double smoothing_of(const pv_optimizer_ops *opt, const void *cfg)
{
    const pv_param *r = pvi_param_find(opt->head.params, "smoothing");
    if (!r || r->type != PV_LIST) return 0.0;
    const pv_numbers *l = (const pv_numbers *)(const void *)((const char *)cfg + r->offset);
    return l->n == 1 ? l->v[0] : NAN;
}

static inputs inputs_of(const pv_optimizer_ops *opt, const void *cfg, const pv_problem *p)
{
    inputs q = { .p = p, .n = (double)p->n, .d = (double)p->d, .l = log(1.0 / p->delta), .G = p->C };
    const pv_set_ops *set = p->set && p->set->props & PV_COMPACT ? p->set : NULL;
    q.M = p->L;
    q.rho = p->joint ? p->joint->rho : INFINITY;
    q.ne = q.n * p->epsilon;
    q.batch = p->batch;
    q.sigma = smoothing_of(opt, cfg);
    q.D = 1.0;
    if (!set) return q;
    q.radius = set->radius(p->set_st, p->set_cfg, p->d);
    q.D = 2.0 * q.radius;
    q.W = q.radius * q.radius + pow(set->width(p->set_st, p->set_cfg, p->d), 2.0);
    q.symmetric = set->lmo && pvi_paper_symmetric(p);
    if (set->atoms && set->radius1) {
        q.atoms = (double)set->atoms(p->set_st, p->set_cfg, p->d);
        q.radius1 = set->radius1(p->set_st, p->set_cfg, p->d);
    }
    return q;
}

static void write_inputs(const inputs *q, pvi_jw *w)
{
    pvi_jw_open(w, "with", '{');
    pvi_jw_f64(w, "n", q->n);
    pvi_jw_f64(w, "p", q->d);
    pvi_jw_f64(w, "e", q->p->epsilon);
    pvi_jw_f64(w, "l", q->l);
    pvi_jw_f64(w, "G", q->G);
    if (isfinite(q->M)) pvi_jw_f64(w, "M", q->M);
    if (isfinite(q->rho)) pvi_jw_f64(w, "rho", q->rho);
    if (q->W > 0.0) {
        pvi_jw_f64(w, "R", q->radius);
        pvi_jw_f64(w, "gaussian_width", sqrt(q->W - q->radius * q->radius));
        pvi_jw_f64(w, "W", q->W);
    }
    if (q->atoms > 0.0) {
        pvi_jw_f64(w, "R1", q->radius1);
        pvi_jw_f64(w, "K", q->atoms);
    }
    pvi_jw_f64(w, "b", q->batch);
    if (isfinite(q->sigma)) pvi_jw_f64(w, "s", q->sigma);
    pvi_jw_f64(w, "D", q->D);
    pvi_jw_close(w, '}');
}

/* Names of the optimisers that declare this list; false: none does. */
static bool names_of(const pvi_utility *list, char *out, size_t cap)
{
    const pv_plugin *plugin;
    out[0] = '\0';
    for (int64_t i = 0; (plugin = pv_nth(PV_KIND_optimizer, i)) != NULL; i++) {
        const size_t n = strlen(out);
        if (((const pv_optimizer_ops *)(const void *)plugin)->bounds != list) continue;
        snprintf(out + n, cap - n, "%s%s", n ? ", " : "", plugin->name);
    }
    return out[0] != '\0';
}

static void write_list(const pvi_utility *list, const pv_optimizer_ops *opt, const inputs *q, pvi_jw *w)
{
    char names[80];
    const bool named = names_of(list, names, sizeof names);
    for (const pvi_utility *b = list; b->theorem; b++) {
        const char *lacks = b->lacks(q);
        const double value = lacks ? NAN : b->value(q);
        pvi_jw_open(w, NULL, '{');
        pvi_jw_str(w, "theorem", b->theorem);
        if (named) pvi_jw_str(w, "optimizer", names);
        pvi_jw_bool(w, "of_this_plan", opt->bounds == list);
        pvi_jw_str(w, "measure", b->measure);
        pvi_jw_str(w, "formula", b->formula);
        if (isfinite(value)) pvi_jw_f64(w, "value", value);
        else pvi_jw_str(w, "void", lacks ? lacks : "a constant is missing");
        pvi_jw_close(w, '}');
    }
}

void pvi_bounds_write(const pv_optimizer_ops *opt, const void *cfg, const pv_problem *p, pvi_jw *w)
{
    const inputs q = inputs_of(opt, cfg, p);
    pvi_jw_open(w, "bounds", '{');
    pvi_jw_str(w, "constant", "1: each bound is up to a constant that the paper does not give");
    pvi_jw_str(w, "holds_for", "the steps, lengths of steps and output of the theorem, not for other settings");
    write_inputs(&q, w);
    pvi_jw_open(w, "theorems", '[');
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) write_list(all[i], opt, &q, w);
    pvi_jw_close(w, ']');
    pvi_jw_close(w, '}');
}
