/* people.c - what a guarantee for one unit means for several: somebody who owns several rows, or several persons.
 *
 * By the accountant's curve for groups (curve.c), whose unit is that of the events, at the delta of the run less its
 * share for draws, which are taken as ideal: that share was set aside for the epsilon of one unit. */
#include "acct.h"

void pvi_people_write(pv_ctx *ctx, pvi_jw *w, const char *accountant, pv_relation rel, const pv_event *ev,
                      double delta, double share, bool persons)
{
    static const int64_t owned[] = { 2, 5, 10, 20 };
    pvi_jw_open(w, persons ? "groups" : "people", '[');
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        pvi_cost c;
        if (pvi_account_rows(ctx, accountant, rel, ev, pvi_down(delta - share, 1), owned[i], &c) != PV_OK)
            c.epsilon = INFINITY;
        pvi_jw_open(w, NULL, '{');
        pvi_jw_i64(w, persons ? "persons" : "rows", owned[i]);
        pvi_jw_f64(w, "epsilon", c.epsilon);
        pvi_jw_close(w, '}');
    }
    pvi_jw_close(w, ']');
}
