/* cmd_predict.c - privet predict: one line of scores per row. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The library writes files only: a temporary one that nobody else can read, copied. */
static int to_stdout(cli *c, pv_model *m)
{
    char folder[] = "/tmp/privet.XXXXXX", path[sizeof folder + 8], part[1 << 16];
    if (!mkdtemp(folder)) return complain(EXIT_INPUT, "%s: %s", folder, strerror(errno));
    snprintf(path, sizeof path, "%s/scores", folder);
    const pv_status s = pv_model_predict(m, c->args.words[1], path);
    progress_clear();
    FILE *f = s == PV_OK ? fopen(path, "rb") : NULL;
    int why = 0;
    for (size_t n; f && !why && (n = fread(part, 1, sizeof part, f)) > 0;)
        if (fwrite(part, 1, n, stdout) != n) why = errno ? errno : EIO;
    if (f) fclose(f);
    if (!why && fflush(stdout) != 0) why = errno;
    unlink(path);
    rmdir(folder);
    if (s != PV_OK) return fail(c, s);
    return why ? complain(EXIT_INPUT, "standard output: cannot be written: %s", strerror(why)) : EXIT_DONE;
}

int cmd_predict(cli *c)
{
    const char *out = c->args.out && strcmp(c->args.out, "-") != 0 ? c->args.out : NULL;
    pv_model *m = NULL;
    if (c->args.json && !out) return usage("predict --json needs --out FILE: the scores are CSV");
    int code = out ? check_writable(out) : EXIT_DONE;
    if (code == EXIT_DONE) code = open_model(c, &m);
    if (code == EXIT_DONE && !out) {
        code = to_stdout(c, m);
    } else if (code == EXIT_DONE) {
        const pv_status s = pv_model_predict(m, c->args.words[1], out);
        progress_clear();
        if (s != PV_OK) code = fail(c, s);
    }
    if (code == EXIT_DONE && out) {
        const char *const pairs[] = { "model",
                                      c->args.words[0],
                                      "data",
                                      c->args.words[1],
                                      "scores",
                                      out,
                                      c->not_private ? "warning" : NULL,
                                      "NOT PRIVATE",
                                      NULL };
        if (c->args.json) print_pairs(pairs);
        else row("scores", "%s", out);
    }
    pv_model_free(m);
    return code;
}
