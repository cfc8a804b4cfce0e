/* cmd_synth.c - privet synth: a made-up table to try networks on. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A whole number of the command line, 1e3 as well; false: it is not one. */
static bool number(cli *c, const char *key, int64_t fallback, int64_t *out)
{
    const char *text = setting_value(c, key);
    char *end = NULL;
    *out = text ? strtoll(text, &end, 10) : fallback;
    if (!text || (end != text && *end == '\0')) return true;
    const double x = strtod(text, &end);
    if (end == text || *end || !(fabs(x) < 9e15) || x != floor(x)) return false;
    *out = (int64_t)x;
    return true;
}

/* A table of somebody else's, the real Madelon for instance, is not written over. */
static int check_folder(const char *folder)
{
    static const char *const files[][2] = { { "madelon_train.csv", ",x20,class\n" },
                                            { "madelon_test.csv", ",x20,class\n" },
                                            { "madelon.schema.json", "{\"name\": \"x20\", \"type\": \"number\"" } };
    char path[512];
    if (strlen(folder) > 400) return usage("the name of the folder is too long");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i][0]);
        const int code = check_own(path, files[i][1], "name another folder: privet synth FOLDER");
        if (code != EXIT_DONE) return code;
    }
    return EXIT_DONE;
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
    const int code = check_folder(folder);
    if (code != EXIT_DONE) return code;
    const pv_status s = pv_synth_data(c->ctx, folder, (uint64_t)seed, rows, heldout);
    if (s != PV_OK) return fail(c, s);
    row("table", "%s/madelon_train.csv, %lld row%s", folder, (long long)rows, rows == 1 ? "" : "s");
    row("to test on", "%s/madelon_test.csv, %lld row%s", folder, (long long)heldout, heldout == 1 ? "" : "s");
    row("declared", "%s/madelon.schema.json", folder);
    return EXIT_DONE;
}
