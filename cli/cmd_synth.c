/* cmd_synth.c - privet synth: a made-up table to try networks on. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* A whole number of the command line; false: it is not one. */
static bool number(cli *c, const char *key, int64_t fallback, int64_t *out)
{
    const char *text = setting_value(c, key);
    char *end = NULL;
    *out = text ? strtoll(text, &end, 10) : fallback;
    return !text || (end != text && *end == '\0');
}

int cmd_synth(cli *c)
{
    const char *folder = c->args.words[0];
    int64_t rows, heldout, seed;
    for (int i = 0; i < c->args.n_settings; i++) {
        const char *key = c->args.settings[i].key;
        if (strcmp(key, "rows") != 0 && strcmp(key, "heldout") != 0 && strcmp(key, "seed") != 0)
            return usage("synth has no setting %s; there is rows, heldout and seed", key);
    }
    if (!number(c, "rows", 4800, &rows) || !number(c, "heldout", 1200, &heldout) || !number(c, "seed", 1, &seed))
        return usage("rows, heldout and seed are whole numbers");
    const pv_status s = pv_synth_data(c->ctx, folder, (uint64_t)seed, rows, heldout);
    if (s != PV_OK) return fail(c, s);
    row("table", "%s/madelon_train.csv, %lld rows", folder, (long long)rows);
    row("to test on", "%s/madelon_test.csv, %lld rows", folder, (long long)heldout);
    row("declared", "%s/madelon.schema.json", folder);
    return EXIT_DONE;
}
