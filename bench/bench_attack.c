/* bench_attack.c - what the last weights give away: a lower bound of epsilon by attack, beside what a run claims.
 *
 *   bench_attack A B SCHEMA RUNS [key=value ...]
 *
 * A and B are tables that differ in one row, key=value settings of the run; seeds 1 .. RUNS on each table.  The
 * attacker knows both tables and sees the weights of one run:
 *
 *   (1) score = sum_j (mean_B(w_j) - mean_A(w_j)) / var(w_j) w_j, means and pooled variances of the first half
 *   (2) threshold t: the one with the largest (5) on the first half
 *   (3) on the second half: fp of the m runs on A have score > t, fn of the m runs on B have score <= t
 *   (4) fp/m, fn/m <= a, b with confidence 0.975 each (Clopper, Pearson 1934), so both with 0.95
 *   (5) whatever the mechanism, (eps, delta) needs  1 - b <= e^eps a + delta, and with the parts of A and B exchanged
 *       eps >= log((1 - delta - b) / a)
 *   (6) if it is mu-Gaussian (Dong, Roth, Su 2022), mu >= Phi^-1(1 - a) - Phi^-1(b), which composition of Gaussian
 *       releases claims of itself; far less wasteful than (5) with few runs
 * Runs on A and B have different seeds, so that their noise is independent.  NOT PRIVATE, of course: for made-up or
 * public rows. */
#include <math.h>
#include <privet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct side {
    double *w; /* runs x d */
    double *score;
} side;

static double tail_probability(double z)
{
    return 0.5 * erfc(z / sqrt(2.0));
}

/* Phi^-1(1 - p) by bisection. */
static double quantile(double p)
{
    double low = -40.0, high = 40.0;
    for (int i = 0; i < 200; i++) {
        const double z = 0.5 * (low + high);
        if (tail_probability(z) > p) low = z;
        else high = z;
    }
    return low;
}

/* P(X <= k), X binomial. */
static double binomial_cdf(int k, int n, double p)
{
    double sum = 0.0;
    for (int i = 0; i <= k; i++)
        sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) + (n - i) * log1p(-p));
    return sum;
}

/* (4) */
static double share_at_most(int k, int n)
{
    double low = 0.0, high = 1.0;
    if (k >= n) return 1.0;
    for (int i = 0; i < 100; i++) {
        const double p = 0.5 * (low + high);
        if (binomial_cdf(k, n, p) > 0.025) low = p;
        else high = p;
    }
    return high;
}

typedef struct errors {
    double a, b; /* (4) */
} errors;

static errors count(const side s[2], int from, int to, double t)
{
    int fp = 0, fn = 0;
    for (int i = from; i < to; i++) {
        fp += s[0].score[i] > t;
        fn += s[1].score[i] <= t;
    }
    return (errors) { share_at_most(fp, to - from), share_at_most(fn, to - from) };
}

/* (5), the better of the two directions. */
static double any_epsilon(errors e, double delta)
{
    const double one = log(fmax(1.0 - delta - e.b, 1e-300) / e.a), other = log(fmax(1.0 - delta - e.a, 1e-300) / e.b);
    return fmax(0.0, fmax(one, other));
}

static double gaussian_mu(errors e)
{
    return fmax(0.0, quantile(e.a) - quantile(1.0 - e.b)); /* (6) */
}

static void score(const side s[2], int runs, int64_t d)
{
    const int half = runs / 2;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < runs; i++) s[k].score[i] = 0.0;
    for (int64_t j = 0; j < d; j++) {
        double mean[2] = { 0 }, var = 0.0;
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < half; i++) mean[k] += s[k].w[i * d + j] / half;
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < half; i++) {
                const double off = s[k].w[i * d + j] - mean[k];
                var += off * off / (2 * half);
            }
        for (int k = 0; k < 2 && var > 0.0; k++)
            for (int i = 0; i < runs; i++) s[k].score[i] += (mean[1] - mean[0]) / var * s[k].w[i * d + j]; /* (1) */
    }
}

static void attack(const side s[2], int runs, int64_t d, double delta)
{
    const int half = runs / 2;
    double best = s[0].score[0];
    score(s, runs, d);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < half; i++) {
            const double t = s[k].score[i];
            if (any_epsilon(count(s, 0, half, t), delta) > any_epsilon(count(s, 0, half, best), delta))
                best = t; /* (2) */
        }
    const errors e = count(s, half, runs, best); /* (3) */
    double middle = 0.0;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < half; i++) middle += s[k].score[i] / (2 * half);
    printf("attack       epsilon >= %.4f whatever the mechanism, mu >= %.4f if it is Gaussian; each with confidence "
           "0.95\n",
           any_epsilon(e, delta), gaussian_mu(count(s, half, runs, middle)));
}

static pv_status settings(pv_plan *plan, const char *schema, int n, char **set, int64_t seed)
{
    char key[128];
    pv_status s = pv_plan_set(plan, "data.schema", schema);
    if (s == PV_OK) s = pv_plan_set(plan, "data.key_path", "none");
    if (s == PV_OK && seed >= 0) s = pv_plan_set_i64(plan, "run.seed", seed);
    for (int i = 0; i < n && s == PV_OK; i++) {
        const char *eq = strchr(set[i], '=');
        snprintf(key, sizeof key, "%.*s", eq ? (int)(eq - set[i]) : 100, set[i]);
        s = pv_plan_set(plan, key, eq ? eq + 1 : "");
    }
    return s;
}

static void claims(const pv_result *r, const pv_cost *c)
{
    const char *json, *at;
    printf("certified    epsilon %.4f at delta %g, %.4f under replace; noise multiplier %.4f, %lld steps\n",
           c->epsilon, c->delta, c->epsilon_replace, c->noise_multiplier, (long long)c->steps);
    if (pv_result_certificate(r, &json) != PV_OK || !(at = strstr(json, "\"conditional\": {"))) return;
    if ((at = strstr(at, "\"epsilon\": "))) printf("conditional  epsilon %.4f\n", strtod(at + 11, NULL));
}

typedef struct job {
    pv_ctx *ctx;
    const char *schema;
    char **set;
    int n, runs;
    int64_t d;
    double delta;
} job;

static pv_status run(const job *j, const char *path, int64_t seed, pv_result **out)
{
    pv_plan *plan = NULL;
    pv_data *rows = NULL;
    pv_status s = pv_plan_create(j->ctx, &plan);
    *out = NULL;
    if (s == PV_OK) s = settings(plan, j->schema, j->n, j->set, seed);
    if (s == PV_OK) s = pv_data_file(j->ctx, path, &rows);
    if (s == PV_OK) s = pv_plan_run_on(plan, rows, out);
    pv_data_free(rows), pv_plan_free(plan);
    return s;
}

/* What a private run of the same settings claims. */
static pv_status claimed(job *j, const char *path)
{
    pv_result *r;
    pv_cost c = { 0 };
    pv_status s = run(j, path, -1, &r);
    if (s == PV_OK) s = pv_result_weights(r, NULL, 0, &j->d);
    if (s == PV_OK) s = pv_result_cost(r, &c);
    if (s == PV_OK) claims(r, &c);
    j->delta = c.delta;
    pv_result_free(r);
    return s;
}

static pv_status train(const job *j, const char *path, int64_t seed, side *s)
{
    pv_status st = PV_OK;
    int64_t d;
    s->score = calloc((size_t)j->runs, sizeof(double));
    s->w = calloc((size_t)j->runs * (size_t)j->d, sizeof(double));
    if (!s->score || !s->w) return PV_E_NOMEM;
    for (int i = 0; i < j->runs && st == PV_OK; i++) {
        pv_result *r;
        st = run(j, path, seed + i, &r);
        if (st == PV_OK) st = pv_result_weights(r, s->w + i * j->d, j->d, &d);
        pv_result_free(r);
    }
    return st;
}

int main(int argc, char **argv)
{
    if (argc < 5 || atoi(argv[4]) < 4) {
        fprintf(stderr, "usage: bench_attack A B SCHEMA RUNS [key=value ...], at least 4 runs\n");
        return argc == 1 ? 0 : 2; /* `make bench` calls without arguments */
    }
    job j = { .schema = argv[3], .runs = atoi(argv[4]), .set = argv + 5, .n = argc - 5 };
    side s[2] = { { 0 } };
    if (pv_ctx_create(NULL, &j.ctx) != PV_OK) return 1;
    pv_status st = claimed(&j, argv[1]);
    for (int k = 0; k < 2 && st == PV_OK; k++) st = train(&j, argv[1 + k], 1 + (int64_t)k * j.runs, &s[k]);
    if (st == PV_OK) attack(s, j.runs, j.d, j.delta);
    else fprintf(stderr, "bench_attack: %s\n", pv_ctx_errmsg(j.ctx));
    for (int k = 0; k < 2; k++) free(s[k].w), free(s[k].score);
    pv_ctx_free(j.ctx);
    return st == PV_OK ? 0 : 1;
}
