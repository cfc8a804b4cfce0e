/* ledger.c - what several runs cost together: their events composed, not their epsilons added.
 *
 * Equal trees of events are counted, not repeated.
 *   (1) every run has a share of its delta for the accuracy of its draws; these shares add up
 *   (2) each is enough up to an epsilon of its own; the least of them counts
 *   (3) runs that protect persons and runs that protect rows have no common unit, and no sum
 * What draws take of delta where the sum of all runs stands is the accountant's to say (src/acct/draws.c). */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a release that is without noise: no other release needs counting then. */
bool events_private(jv events)
{
    char kind[32];
    return events.p && strcmp(jv_str(jv_get(events, "kind"), kind, sizeof kind), "nonprivate") != 0;
}

int ledger_add(ledger *l, jv object, const char *key, const ledger_run *run)
{
    char *events = jv_text(object, key);
    l->delta = fmax(l->delta, run->delta);
    l->draws += (double)run->times * run->draws;                       /* (1) */
    if (run->draws > 0.0) l->covered = fmin(l->covered, run->covered); /* (2) */
    *(run->person ? &l->persons : &l->rows) = true;                    /* (3) */
    int i = 0;
    while (i < l->n && strcmp(l->at[i].events, events) != 0) i++;
    if (i < l->n) {
        l->at[i].count += run->times;
        free(events);
        return i;
    }
    l->at = realloc(l->at, sizeof *l->at * (size_t)(l->n + 1));
    if (!l->at) abort();
    l->at[l->n++] = (ledger_entry) { events, run->times };
    return i;
}

void ledger_ask(const ledger *l, FILE *f, const char *relation, double delta)
{
    fprintf(f, "\"relation\": \"%s\", \"delta\": %.17g, ", relation, delta);
    fprintf(f, "\"draws\": %.17g, \"draws_epsilon\": %.17g, ", l->draws * (1.0 + 1e-12),
            isfinite(l->covered) ? l->covered : 0.0);
    fputs("\"events\": {\"kind\": \"sequence\", \"events\": [", f);
    for (int i = 0; i < l->n; i++)
        fprintf(f, "%s{\"kind\": \"repeat\", \"times\": %ld, \"event\": %s}", i ? ", " : "", l->at[i].count,
                l->at[i].events);
    fputs("]}", f);
}

void ledger_free(ledger *l)
{
    for (int i = 0; i < l->n; i++) free(l->at[i].events);
    free(l->at);
}
