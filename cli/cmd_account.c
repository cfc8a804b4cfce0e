/* cmd_account.c - privet account: what releases cost, without any data. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void show_others(jv list)
{
    char name[32], eps[40];
    bool first = true;
    for (jv_iter it = jv_begin(list); jv_next(&it); first = false)
        row(first ? "accountants" : "", "%-10s %s", jv_str(jv_get(it.value, "accountant"), name, sizeof name),
            cost_text(jv_num(jv_get(it.value, "epsilon")), eps));
}

static void show_assumptions(jv list)
{
    char line[256];
    bool first = true;
    for (jv_iter it = jv_begin(list); jv_next(&it); first = false)
        row(first ? "if" : "", "%s", jv_str(it.value, line, sizeof line));
}

static void show(jv v)
{
    char relation[32], accountant[32], eps[40], delta[40];
    const double lower = jv_num(jv_get(v, "epsilon_lower")), rows = jv_num(jv_get(v, "rows"));
    row("cost", "epsilon %s at delta %s", cost_text(jv_num(jv_get(v, "epsilon")), eps),
        cost_text(jv_num(jv_get(v, "delta")), delta));
    show_strength(v);
    row("by", "accountant %s, relation %s%s", jv_str(jv_get(v, "accountant"), accountant, sizeof accountant),
        jv_str(jv_get(v, "relation"), relation, sizeof relation),
        jv_true(jv_get(v, "group_bound")) ? ", counted as two zero-out steps (group bound)" : "");
    if (lower > 0) row("at least", "epsilon %.6g, certified too: no accountant can go below", lower);
    if (rows > 1) row("group", "any %.0f rows at once", rows);
    show_others(jv_get(v, "accountants"));
    show_assumptions(jv_get(v, "assumptions"));
}

/* Names of mechanisms have neither dots nor slashes. */
static bool names_files(const args *a)
{
    return a->n_words > 1 || (a->n_words == 1 && strpbrk(a->words[0], "./"));
}

int cmd_account(cli *c)
{
    if (names_files(&c->args)) return account_files(c);
    char *json, *request = make_request(c, NULL);
    const pv_status s = pv_account(c->ctx, request, &json);
    free(request);
    if (s != PV_OK) return fail(c, s);
    if (c->args.json) print_json(json);
    else show((jv) { json });
    pv_string_free(c->ctx, json);
    return EXIT_DONE;
}
