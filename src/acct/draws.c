/* draws.c - the share of delta that the finite accuracy of draws takes, where releases of several runs cost more
 * together than the epsilon it was set aside for.
 *
 * Accountants assume ideal draws.  Runs have shares of delta for the accuracy of theirs, each enough up to an epsilon
 * of its own (plan/budget.c (1), (2)); s is their sum, c the least of these epsilons.  What all of them cost together
 * has a larger epsilon, and there they take s g, where
 *   (1)  g = 1 up to c, and e^{epsilon - c} above: (1 + a e^y) / (1 + a e^x) <= e^{y - x} for y >= x and a > 0.
 * So epsilon holds at delta where
 *   (2)  it is the accountant's at delta - s, and at most c;
 *   (3)  it is the accountant's at delta / 2, e, and s g(e) <= delta / 2; then the accountant's at delta - s g(e),
 *        which is at most e, holds as well: there draws take no more than s g(e);
 *   (4)  otherwise the accountant's at delta holds at delta + s g, a larger one, which the answer names.
 * Above epsilon 30, as in certificates, nothing is set aside and the answer says that draws are taken as ideal. */
#include "acct.h"

double pvi_draws_taken(const pvi_draws *d, double epsilon)
{
    return d->share * (epsilon <= d->covered ? 1.0 : exp(epsilon - d->covered) * (1.0 + 1e-9)) *
           (1.0 + 0x1p-50); /* (1) */
}

pv_status pvi_account_draws(pv_ctx *ctx, const char *accountant, pv_relation rel, const pv_event *ev, double delta,
                            int64_t rows, const pvi_draws *d, pvi_cost *c)
{
    pv_status s = PV_OK;
    if (d->share == 0.0) return pvi_account_rows(ctx, accountant, rel, ev, delta, rows, c);
    c->epsilon = INFINITY;
    if (d->share <= 0.5 * delta)
        s = pvi_account_rows(ctx, accountant, rel, ev, pvi_down(delta - d->share, 2), rows, c);
    c->delta = delta;
    if (s != PV_OK || c->epsilon <= d->covered) return s; /* (2) */
    if ((s = pvi_account_rows(ctx, accountant, rel, ev, 0.5 * delta, rows, c)) != PV_OK) return s;
    c->delta = delta;
    const double taken = pvi_draws_taken(d, c->epsilon);
    if (c->epsilon <= PVI_DRAWS_LIMIT && taken <= 0.5 * delta) { /* (3) */
        pvi_cost closer = *c;
        s = pvi_account_rows(ctx, accountant, rel, ev, pvi_down(delta - taken, 2), rows, &closer);
        closer.delta = delta;
        if (s == PV_OK && closer.epsilon <= c->epsilon) *c = closer;
        return s;
    }
    s = pvi_account_rows(ctx, accountant, rel, ev, delta, rows, c);
    if (s != PV_OK || c->epsilon > PVI_DRAWS_LIMIT) return s;
    c->delta = fmin(1.0, pv_up(delta + pvi_draws_taken(d, c->epsilon), 2)); /* (4) */
    return PV_OK;
}
