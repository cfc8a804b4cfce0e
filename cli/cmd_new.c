/* cmd_new.c - privet new: begins a plug-in in the source tree, as CONTRIBUTING.md walks through it by hand.
 *
 * A file that works, its line in src/core/registry.def, a test and a page, from the templates of the tree itself
 * (tools/new).  @name@ is the name as C has it, @word@ as the command line has it.  Nothing is written over. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES = 3, PATH = 4096, NAME = 25 };
static const char registry[] = "src/core/registry.def";

typedef struct kind {
    const char *name, *plugin; /* of the command, of the registry      */
    const char *files[FILES];  /* from KIND.c.in, KIND_test.c.in, KIND.md.in; %s: the name */
    const char *setting;
} kind;
static const kind kinds[] = {
    { "loss",
      "loss",
      { "src/model/loss_%s.c", "tests/unit/model/test_loss_%s.c", "docs/algorithms/%s.md" },
      "model" },
    { "penalty", "reg", { "src/reg/reg_%s.c", "tests/unit/opt/test_reg_%s.c", "docs/algorithms/%s.md" }, "reg" },
    { "optimizer",
      "optimizer",
      { "src/opt/opt_%s.c", "tests/unit/opt/test_opt_%s.c", "docs/algorithms/%s.md" },
      "optimizer" },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct begin {
    cli *c;
    const kind *k;
    const char *tree, *word;
    char name[NAME]; /* the word with _ for - */
} begin;

/* Where file i goes, in the tree and, with `whole`, with its path. */
static void place_of(const begin *b, int i, bool whole, char out[PATH])
{
    const char *fmt = b->k->files[i], *at = strstr(fmt, "%s"), *name = i == FILES - 1 ? b->word : b->name;
    snprintf(out, PATH, "%s%s%.*s%s%s", whole ? b->tree : "", whole ? "/" : "", (int)(at - fmt), fmt, name, at + 2);
}

static const char *kind_name(const void *list, int i)
{
    (void)list;
    return i < KINDS ? kinds[i].name : NULL;
}

static int find_kind(const char *name, const kind **out)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) return *out = &kinds[i], EXIT_DONE;
    const char *near = nearest(name, kind_name, NULL);
    if (near) return usage("new makes no %s; did you mean %s?", name, near);
    return usage("new makes no %s; there is loss, penalty and optimizer, and CONTRIBUTING.md for the rest", name);
}

static int check_name(begin *b)
{
    const size_t n = strlen(b->word);
    if (n < 2 || n >= NAME || b->word[0] < 'a' || b->word[0] > 'z' || b->word[n - 1] == '-' ||
        strspn(b->word, "abcdefghijklmnopqrstuvwxyz0123456789-") != n)
        return usage("%s is no name for a plug-in: 2 to %d small letters, digits and dashes are, the first a letter",
                     b->word, NAME - 1);
    snprintf(b->name, sizeof b->name, "%s", b->word);
    for (char *s = b->name; *s; s++) *s = *s == '-' ? '_' : *s;
    return EXIT_DONE;
}

/* ---- the registry ------------------------------------------------------------------------------------------- */

static int read_registry(const begin *b, char **text)
{
    char path[PATH], *raw;
    size_t len;
    snprintf(path, sizeof path, "%s/%s", b->tree, registry);
    if (access(path, F_OK) != 0)
        return usage("%s holds no source of privet (%s); name its folder with --tree", b->tree, registry);
    const int code = read_text(path, &raw, &len);
    if (code != EXIT_DONE) return code;
    *text = strndup(raw, len);
    free(raw);
    return *text ? EXIT_DONE : complain(EXIT_INTERNAL, "out of memory");
}

/* Behind the last line of its kind. */
static char *with_line(const begin *b, const char *text)
{
    char first[64], *out;
    snprintf(first, sizeof first, "PV_PLUGIN(%s, ", b->k->plugin);
    const char *last = NULL;
    for (const char *s = text; (s = strstr(s, first)) != NULL; s++) last = s;
    const char *end = last ? strchr(last, '\n') : NULL;
    const int before = (int)(end ? end + 1 - text : (long)strlen(text));
    if (asprintf(&out, "%.*sPV_PLUGIN(%s, %s)\n%s", before, text, b->k->plugin, b->name, text + before) < 0) abort();
    return out;
}

/* ---- files -------------------------------------------------------------------------------------------------- */

static char *filled(const begin *b, const char *text, size_t len)
{
    char *out;
    size_t n;
    FILE *f = open_memstream(&out, &n);
    if (!f) abort();
    for (const char *s = text; s < text + len;) {
        const bool name = strncmp(s, "@name@", 6) == 0, word = strncmp(s, "@word@", 6) == 0;
        if (name || word) fputs(name ? b->name : b->word, f), s += 6;
        else fputc(*s++, f);
    }
    if (fclose(f) != 0) abort();
    return out;
}

static int read_template(const begin *b, int i, char **out)
{
    static const char *const endings[FILES] = { ".c.in", "_test.c.in", ".md.in" };
    char path[PATH], *text;
    size_t len;
    snprintf(path, sizeof path, "%s/tools/new/%s%s", b->tree, b->k->name, endings[i]);
    const int code = read_text(path, &text, &len);
    if (code != EXIT_DONE) return code;
    char *whole = strndup(text, len); /* ends in a zero */
    free(text);
    if (!whole) return complain(EXIT_INTERNAL, "out of memory");
    *out = filled(b, whole, strlen(whole));
    free(whole);
    return EXIT_DONE;
}

/* Everything is looked at before anything is written. */
static int check_free(const begin *b, const char *listed)
{
    char path[PATH], line[96];
    for (int i = 0; i < FILES; i++) {
        place_of(b, i, true, path);
        if (access(path, F_OK) == 0) return usage("%s exists already; choose another name", path);
    }
    snprintf(line, sizeof line, "PV_PLUGIN(%s, %s)", b->k->plugin, b->name);
    if (strstr(listed, line)) return usage("%s/%s has a %s already; choose another name", b->tree, registry, line);
    return EXIT_DONE;
}

static int write_all(const begin *b, char *const texts[FILES], const char *listed)
{
    char path[PATH], *grown = with_line(b, listed);
    pv_status s = PV_OK;
    for (int i = 0; i < FILES && s == PV_OK; i++) {
        place_of(b, i, true, path);
        s = pv_file_write(b->c->ctx, path, texts[i], strlen(texts[i]));
    }
    snprintf(path, sizeof path, "%s/%s", b->tree, registry);
    if (s == PV_OK) s = pv_file_write(b->c->ctx, path, grown, strlen(grown)); /* last: a name without a file fails */
    free(grown);
    return s == PV_OK ? EXIT_DONE : fail(b->c, s);
}

static void tell(const begin *b)
{
    static const char *const what[FILES] = { "source", "test", "page" };
    char path[PATH];
    if (b->c->args.json) fputs("{", stdout);
    for (int i = 0; i < FILES; i++) {
        place_of(b, i, false, path);
        if (b->c->args.json) json_text(what[i], path), fputs(", ", stdout);
        else row(what[i], "%s", path);
    }
    snprintf(path, sizeof path, "PV_PLUGIN(%s, %s)", b->k->plugin, b->name);
    if (b->c->args.json) {
        json_text("line", path), fputs(", ", stdout), json_text("registry", registry), puts("}");
        return;
    }
    row("line", "%s in %s", path, registry);
    row("next", "make test; then change the formulas, the test and the page to those of %s", b->word);
    row("to use it", "build/privet train DATA %s=%s", b->k->setting, b->word);
}

int cmd_new(cli *c)
{
    const char *tree = setting_value(c, "tree");
    begin b = { .c = c, .tree = tree ? tree : ".", .word = c->args.words[1] };
    char *texts[FILES] = { 0 }, *listed = NULL;
    for (int i = 0; i < c->args.n_settings; i++)
        if (strcmp(c->args.settings[i].key, "tree") != 0)
            return usage("new has no setting %s; there is --tree", c->args.settings[i].key);
    if (strlen(b.tree) > 3000) return usage("the path of --tree is too long");
    int code = find_kind(c->args.words[0], &b.k);
    if (code == EXIT_DONE) code = check_name(&b);
    if (code == EXIT_DONE) code = read_registry(&b, &listed);
    if (code == EXIT_DONE) code = check_free(&b, listed);
    for (int i = 0; i < FILES && code == EXIT_DONE; i++) code = read_template(&b, i, &texts[i]);
    if (code == EXIT_DONE) code = write_all(&b, texts, listed);
    if (code == EXIT_DONE) tell(&b);
    for (int i = 0; i < FILES; i++) free(texts[i]);
    free(listed);
    return code;
}
