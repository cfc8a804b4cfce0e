/* scale.c - what epsilon and delta mean, in words and colours: the one scale of every output.
 *
 * A guess.  A coin decides which of two neighbouring tables is used, and whoever sees the result guesses which it
 * was.  With a, b the chances of a wrong guess on either table, (epsilon, delta) in both directions says
 *   (1)  1 - a <= e^epsilon b + delta,   1 - b <= e^epsilon a + delta.
 * Their sum is a + b >= 2 (1 - delta) / (1 + e^epsilon), so that
 *   (2)  P[right] = 1 - (a + b)/2 <= 1 - (1 - delta) / (1 + e^epsilon) = (e^epsilon + delta) / (1 + e^epsilon).
 * Randomised response with failures attains it: from epsilon and delta alone nothing smaller follows.
 *
 * Delta.  To publish each of n rows with probability delta is (0, delta)-private, so a promise with this delta alone
 * does not exclude
 *   (3)  n delta rows published on average.
 *
 * The limits are a convention (docs/scale.md says whose); the worse of the two decides. */
#include "acct.h"

/* Limits are met from below: of epsilon `<=`, of n delta `<`.  1e-9: a product of doubles that stand for decimals. */
static const struct {
    double epsilon, rows;
    const char *word, *colour;
} scale[] = {
    { 1.0, 0.1 * (1.0 + 1e-9), "strong", "green" },
    { 3.0, 0.1 * (1.0 + 1e-9), "moderate", "amber" },
    { 10.0, 1.0 - 1e-9, "weak", "amber" },
    { INFINITY, INFINITY, "next to none", "red" },
};
/* FEW rows: what nobody counted, or what is smaller, is judged as such a table; 0.1 is no small delta for one row. */
enum { LAST = sizeof scale / sizeof *scale - 1, FEW = 100 };

static int level_epsilon(double epsilon)
{
    int k = 0;
    while (k < LAST && !(epsilon <= scale[k].epsilon)) k++;
    return k;
}

static int level_delta(const pvi_claim *c)
{
    const double shown = c->delta * fmax(c->rows, FEW); /* (3) */
    int k = 0;
    while (k < LAST && !(shown < scale[k].rows)) k++;
    return k;
}

/* P[wrong] of (2), rounded down. */
static double wrong(const pvi_claim *c)
{
    const double p = (1.0 - c->delta) / (1.0 + exp(c->epsilon));
    return p > 0 ? p * (1.0 - 1e-12) : 0.0;
}

pvi_strength pvi_strength_of(const pvi_claim *c)
{
    const int e = level_epsilon(c->epsilon), d = level_delta(c), k = e > d ? e : d;
    return (pvi_strength) { k, scale[k].word, scale[k].colour, fmin(1.0, pv_up(1.0 - wrong(c), 1)) };
}

/* ---- sentences -------------------------------------------------------------------------------------------- */

/* Six digits, rounded up: what is shown is not below what is meant. */
static void put(pvi_str *out, double x)
{
    char text[32] = "nan";
    if (!isnan(x)) pvi_f64_text(x > 0 && x < INFINITY ? pvi_digits_up(x, 6) : x, text);
    pvi_str_puts(out, text);
}

static void put_epsilon(pvi_str *out, double epsilon)
{
    const int k = level_epsilon(epsilon);
    pvi_str_puts(out, "epsilon ");
    put(out, epsilon);
    pvi_str_printf(out, " is %s %g", k ? "above" : "at most", scale[k ? k - 1 : 0].epsilon);
}

/* Where nobody says how many rows there are: how many there may be. */
static void put_rows(pvi_str *out, double delta)
{
    const double most = floor(0.1 / delta * (1.0 + 1e-9));
    if (!(most >= 1.0)) pvi_str_puts(out, " is too large for any table");
    else if (most < 1e15) pvi_str_printf(out, " is for tables of at most %.0f row%s", most, most == 1.0 ? "" : "s");
    else pvi_str_puts(out, " is small enough for any table");
}

static void put_delta(pvi_str *out, const pvi_claim *c)
{
    const int k = level_delta(c);
    pvi_str_puts(out, "delta ");
    put(out, c->delta);
    if (!(c->rows > 0)) {
        put_rows(out, c->delta);
        return;
    }
    pvi_str_puts(out, k == LAST ? " is not below" : k ? " is more than a tenth of" : " is at most a tenth of");
    pvi_str_printf(out, " one in %.0f %s", fmax(c->rows, FEW), c->persons ? "persons" : "rows");
    if (c->rows < FEW) pvi_str_puts(out, ", the fewest that count");
    if (k != LAST || c->rows < FEW) return;
    pvi_str_puts(out, ": that alone would allow ");
    put(out, c->delta * c->rows); /* (3) */
    pvi_str_puts(out, " of them to be shown outright, on average");
}

/* (2) in percent, with as many digits as it takes to stay below 100. */
static void put_right(pvi_str *out, double wrong)
{
    char text[32];
    double unit = 10.0;
    if (!(wrong > 1e-8)) {
        pvi_str_puts(out, "may guess right practically every time");
        return;
    }
    while (wrong * 100.0 * unit < 1.0) unit *= 10.0;
    pvi_f64_text((100.0 * unit - floor(wrong * 100.0 * unit)) / unit, text); /* the double nearest to a decimal */
    pvi_str_printf(out, "guesses right at most %s %% of the time", text);
}

void pvi_strength_guess(const pvi_claim *c, pvi_str *out)
{
    const bool replace = c->relation == PV_REL_REPLACE;
    const long long k = c->group;
    pvi_str_puts(out, "Suppose a coin decides ");
    if (c->persons)
        pvi_str_puts(out, replace ? "which of two given persons' rows are used"
                                  : "whether all rows of one person are used");
    else if (k <= 1) pvi_str_puts(out, replace ? "which of two given rows is used" : "whether one given row is used");
    else pvi_str_printf(out, "whether %lld given rows are used", k);
    if (k > 1 && replace) pvi_str_printf(out, " or %lld others", k);
    pvi_str_puts(out, ". Whoever sees the result and knows everything else ");
    put_right(out, wrong(c));
    pvi_str_puts(out, "; without the result, 50 %.");
}

void pvi_strength_why(const pvi_claim *c, pvi_str *out)
{
    const bool contrast = c->rows > 0 && (level_epsilon(c->epsilon) == 0) != (level_delta(c) == 0);
    put_epsilon(out, c->epsilon);
    pvi_str_puts(out, contrast ? ", but " : ", and ");
    put_delta(out, c);
}

static void write_text(pvi_jw *w, const char *key, const pvi_claim *c, void (*say)(const pvi_claim *, pvi_str *))
{
    pvi_str text = { .ctx = w->out->ctx };
    say(c, &text);
    pvi_jw_str(w, key, text.s);
    w->out->failed |= text.failed;
    pvi_str_free(&text);
}

void pvi_strength_write(pvi_jw *w, const pvi_claim *c)
{
    if (!c) {
        pvi_jw_str(w, "strength", "none");
        pvi_jw_str(w, "colour", "red");
        pvi_jw_str(w, "strength_because", "NOT PRIVATE: no guarantee is given");
        pvi_jw_f64(w, "guess_right_at_most", 1.0);
        pvi_jw_str(w, "guess", "Whoever sees the result may learn anything about any row.");
        return;
    }
    const pvi_strength s = pvi_strength_of(c);
    pvi_jw_str(w, "strength", s.word);
    pvi_jw_str(w, "colour", s.colour);
    write_text(w, "strength_because", c, pvi_strength_why);
    pvi_jw_f64(w, "guess_right_at_most", s.right);
    write_text(w, "guess", c, pvi_strength_guess);
}

void pvi_strength_log(pv_ctx *ctx, const pvi_claim *c)
{
    pvi_str why = { .ctx = ctx };
    const pvi_strength s = pvi_strength_of(c);
    if (s.level == 0) return;
    pvi_strength_why(c, &why);
    pvi_log(ctx, s.level == LAST ? PV_LOG_WARN : PV_LOG_NOTE, "protection is %s: %s", s.word, why.s ? why.s : "");
    pvi_str_free(&why);
}
