/* help.c - what `privet --help`, `privet help COMMAND` and `privet COMMAND --help` print. */
#include "cli.h"

#include <string.h>

static void overview(void)
{
    puts("privet trains models on rows about people and limits what they give away about any one row.\n\n"
         "usage: privet COMMAND ...\n");
    for (const command *c = cli_commands; c->name; c++)
        if (c->help) printf("  %-9s  %s\n", c->name, c->help);
    fputs("\ntopics of privet help: settings", stdout);
    for (const topic *t = cli_topics; t->name; t++) printf(", %s", t->name);
    puts("\n\nTo start:  privet demo\n"
         "           privet train data.csv --schema schema.json --epsilon 1 --out model.pvt\n"
         "           privet verify model.pvt\n\n"
         "privet COMMAND --help   options of a command\n"
         "privet list             every setting: default, range, meaning\n"
         "privet --version        version of the library\n\n"
         "exit codes: 0 done, 2 usage, 3 input or certificate that does not hold, 4 budget refused, 5 internal,\n"
         "            6 data to reproduce a paper is missing");
}

static void options(const command *cmd)
{
    char left[48];
    puts("\noptions:");
    for (const option *o = cli_options; o->name; o++) {
        if (!(o->groups & (cmd->groups | OPT_ALWAYS))) continue;
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->word ? " " : "", o->word ? o->word : "");
        if (o->key) printf("  %-20s  %s  (%s)\n", left, o->help, o->key);
        else printf("  %-20s  %s\n", left, o->help);
    }
}

int command_help(cli *c, const command *cmd)
{
    printf("privet %s: %s\n\nusage: privet %s %s\n", cmd->name,
           cmd->help ? cmd->help : "for the build and for other commands", cmd->name, cmd->words);
    options(cmd);
    const topic *about = find_topic(cmd->name);
    if (about) putchar('\n'), print_topic(about);
    if (!(cmd->groups & (OPT_PLAN | OPT_DATA))) return EXIT_DONE;
    puts("\nEvery option with a name in brackets is short for that setting: --epsilon 1 is budget.epsilon=1.");
    return show_settings(c, cmd->groups & OPT_PLAN ? NULL : "data");
}

int cmd_help(cli *c)
{
    if (c->args.n_words == 0) {
        overview();
        return EXIT_DONE;
    }
    const command *cmd = find_command(c->args.words[0]);
    const topic *t = find_topic(c->args.words[0]);
    if (t && !cmd) return print_topic(t), EXIT_DONE;
    if (strcmp(c->args.words[0], "settings") == 0) return show_settings(c, NULL);
    return cmd ? command_help(c, cmd) : unknown_command(c->args.words[0]);
}
