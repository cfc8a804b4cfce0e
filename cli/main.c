/* main.c - the command table, and from argv to one of its rows. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

#define SETTINGS OPT_PLAN | OPT_DATA
#define RELEASES                                                                                                     \
    "[gaussian z=Z | laplace scale=B | select eps0=E | ball delta0=D or distance=H [radius=R] dimension=P | "        \
    "eps-delta eps0=E delta0=D | noisy-gd ...] "                                                                     \
    "[q=Q] [steps=T]"

const command cli_commands[] = {
    { "schema", cmd_schema, "draft DATA | show SCHEMA|MODEL | check SCHEMA|MODEL DATA", 2, 3,
      OPT_SCHEMA | OPT_OUT | OPT_JSON | OPT_QUIET,
      "begin a schema from the header of a table, print one as a table, or count what of a table does not fit it" },
    { "train", cmd_train, "DATA [key=value ...]", 0, 1,
      SETTINGS | OPT_TRAIN | OPT_OUT | OPT_CERT | OPT_JSON | OPT_QUIET,
      "fit a model to private rows, within a privacy budget" },
    { "predict", cmd_predict, "MODEL DATA [key=value ...]", 2, 2,
      OPT_DATA | OPT_DECIDE | OPT_OUT | OPT_JSON | OPT_QUIET | OPT_PREDICT, "score rows with a model" },
    { "eval", cmd_eval, "MODEL DATA [key=value ...]", 2, 2,
      OPT_DATA | OPT_DECIDE | OPT_EVAL | OPT_CERT | OPT_JSON | OPT_QUIET,
      "accuracy, AUC and confusion matrix on labelled rows; with --epsilon as a private release of its own" },
    { "plan", cmd_plan, "[DATA] [key=value ...]", 0, 1, SETTINGS | OPT_JSON | OPT_QUIET | OPT_BOUNDS,
      "cost, noise and steps of a run; counts the rows of DATA unless --rows says how many" },
    { "verify", cmd_verify, "MODEL|CERTIFICATE", 1, 1, OPT_CERT | OPT_JSON,
      "recompute epsilon from the recorded events; needs no data" },
    { "export", cmd_export, "MODEL --out FILE", 1, 1, OPT_FORMAT | OPT_OUT | OPT_JSON | OPT_QUIET,
      "write a model as ONNX, NPZ or safetensors, for other programs" },
    { "explain", cmd_explain, "MODEL [DATA | column=value ...]", 1, 1000, OPT_EXPLAIN | OPT_JSON | OPT_QUIET,
      "what each column adds to a score: of one row, or over its declared range" },
    { "show", cmd_show, "MODEL", 1, 1, OPT_SHOW | OPT_JSON,
      "the weights of a model, by column, knot and value, with the error that its noise implies" },
    { "report", cmd_report, "MODEL|RESULTS [DATA] [key=value ...]", 1, 2,
      OPT_DATA | OPT_OUT | OPT_JSON | OPT_QUIET | OPT_PAGE,
      "the guarantee, and accuracy on labelled rows, as one page to read or print" },
    { "compare", cmd_compare, "[DATA] --holdout FILE [key=value,value ...]", 0, 1,
      SETTINGS | OPT_COMPARE | OPT_OUT | OPT_JSON | OPT_QUIET,
      "runs for every combination of settings: means, spreads, tests, plots, and what they all cost together" },
    { "reproduce", cmd_reproduce, "list|all|NAME", 1, 1, OPT_REPRO | OPT_OUT | OPT_JSON | OPT_QUIET,
      "the tables and figures of the papers: numbers, plots, the paper's numbers beside them" },
    { "account", cmd_account, "MODEL|CERTIFICATE ... | " RELEASES, 0, 1000,
      OPT_ACCT | OPT_COST | OPT_GROUP | OPT_JSON,
      "what several runs cost together, or releases: epsilon at a delta, or delta at an epsilon" },
    { "calibrate", cmd_calibrate, "[gaussian | laplace | select | noisy-gd ...] [q=Q] [steps=T]", 0, 1,
      OPT_ACCT | OPT_COST | OPT_JSON, "the least noise that keeps releases within a budget" },
    { "curve", cmd_curve, RELEASES " | sbcd z=Z epochs=K batches=M step=S smooth=L", 0, 1,
      OPT_ACCT | OPT_DRAW | OPT_JSON,
      "delta at every epsilon, and the errors of every test; or of sbcd, the cost after every pass" },
    { "list", cmd_list, "[KIND|NAME|KEY]", 0, 1, OPT_JSON, "every plug-in and setting: default, range, meaning" },
    { "demo", cmd_demo, "[FOLDER]", 0, 1, OPT_JSON | OPT_QUIET, "the whole path once, on data made up on the spot" },
    { "synth", cmd_synth, "FOLDER [rows=N] [heldout=N] [seed=N]", 1, 1, OPT_SYNTH | OPT_QUIET,
      "a made-up table of five classes that a linear model cannot separate" },
    { "new", cmd_new, "loss|penalty|optimizer NAME [--tree FOLDER]", 2, 2, OPT_TREE | OPT_JSON,
      "begin a plug-in in the source tree: its file, its line, a test, a page" },
    { "help", cmd_help, "[COMMAND|TOPIC]", 0, 1, 0, "how to use a command, and what a topic is about" },
    { "run", cmd_run, "key=value ... -- RECORD CERTIFICATE KEY TEST", 4, 4, SETTINGS | OPT_QUIET, NULL },
    { "man", cmd_man, "[FOLDER]", 0, 1, 0, NULL },
    { "complete", cmd_complete, "", 0, 0, 0, NULL },
    { 0 },
};

const command *find_command(const char *name)
{
    for (const command *c = cli_commands; c->name; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

static const char *command_name(const void *list, int i)
{
    for (const command *c = list; c->name; c++)
        if (c->help && i-- == 0) return c->name;
    return NULL;
}

int unknown_command(const char *name)
{
    const char *near = nearest(name, command_name, cli_commands);
    if (near) return usage("unknown command %s; did you mean %s?", name, near);
    return usage("unknown command %s; privet --help lists what there is", name);
}

static int run(const char *program, const command *cmd, int argc, char **argv)
{
    cli c = { .program = program, .cmd = cmd };
    int code = args_parse(cmd, argc, argv, &c.args);
    if (code == EXIT_DONE && pv_ctx_create(NULL, &c.ctx) != PV_OK) code = complain(EXIT_INTERNAL, "out of memory");
    if (code == EXIT_DONE) {
        notes_attach(&c);
        progress_attach(&c);
        signals_context(c.ctx);
        code = c.args.help ? command_help(&c, cmd) : cmd->run(&c);
        progress_clear();
    }
    code = flush_stdout(code);
    if (code == EXIT_DONE) notes_flush();
    signals_context(NULL);
    pv_ctx_free(c.ctx);
    args_free(&c.args);
    return code;
}

int main(int argc, char **argv)
{
    signals_install();
    if (argc < 2) return usage("no command given; privet --help lists what there is");
    if (strcmp(argv[1], "--version") == 0) {
        printf("privet %s\n", pv_version());
        return flush_stdout(EXIT_DONE);
    }
    const bool wants_help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    const command *cmd = find_command(wants_help ? "help" : argv[1]);
    if (!cmd) return unknown_command(argv[1]);
    return run(argv[0], cmd, argc - 2, argv + 2);
}
