/* cmd_predict.c - privet predict: one line of scores per row. */
#include "cli.h"

#include <string.h>

static bool print(void *user, const char *text, size_t size)
{
    (void)user;
    return fwrite(text, 1, size, stdout) == size;
}

/* Scores to standard output; where it cannot take them, that is said instead of what followed from it. */
static int print_scores(cli *c, pv_model *m, const char *keep)
{
    const pv_status s = pv_model_predict_keeping(m, c->args.words[1], keep, NULL, print, NULL);
    progress_clear();
    const int code = flush_stdout(EXIT_DONE);
    return code == EXIT_DONE && s != PV_OK ? fail(c, s) : code;
}

int cmd_predict(cli *c)
{
    const char *out = c->args.out && strcmp(c->args.out, "-") != 0 ? c->args.out : NULL;
    const char *keep = c->args.append ? "*" : c->args.keep;
    pv_model *m = NULL;
    if (c->args.json && !out) return usage("predict --json needs --out FILE: the scores are CSV");
    if (c->args.append && c->args.keep) return usage("--append keeps every column: --keep has no more to say");
    int code = out ? check_writable(out) : EXIT_DONE;
    if (code == EXIT_DONE) code = open_model(c, &m);
    if (code == EXIT_DONE && !out) {
        code = print_scores(c, m, keep);
    } else if (code == EXIT_DONE) {
        const pv_status s = pv_model_predict_keeping(m, c->args.words[1], keep, out, NULL, NULL);
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
