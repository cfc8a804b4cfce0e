/* topics.c - privet help TOPIC, and the same texts as pages of the manual: parts of docs/ that the build takes along
 * (tools/topics.sh), with the marks of Markdown taken off. */
#include "cli.h"

#include <string.h>

#include <topics.inc> /* of the build */

enum { BAR = 1 }; /* a bar that is text, in a line of a table */

const topic cli_topics[] = {
    { "schema", "how the columns of a table are declared", text_schema },
    { "certificate", "what a certificate says, and what verifying it shows", text_certificate },
    { "privacy", "what epsilon and delta mean, in words", text_privacy },
    { "people", "several rows of one person", text_people },
    { "evaluation", "how good a model is, without leaking the test rows", text_evaluation },
    { "words", "our words and the field's", text_words },
    { "pitfalls", "how private training goes wrong elsewhere", text_pitfalls },
    { 0 },
};

const topic *find_topic(const char *name)
{
    for (const topic *t = cli_topics; t->name; t++)
        if (strcmp(t->name, name) == 0) return t;
    return NULL;
}

/* Does a link [text](target) begin here? */
static bool is_link(const char *s, size_t len)
{
    const char *end = memchr(s, ']', len);
    return end && end + 1 < s + len && end[1] == '(';
}

/* [text](link) is text; backquotes and the stars of bold words go. */
void plain_line(const char *s, size_t len, char *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < len && n + 1 < cap; i++) {
        const char *end = s[i] == ']' && i + 1 < len && s[i + 1] == '(' ? memchr(s + i, ')', len - i) : NULL;
        if (end) i = (size_t)(end - s);
        else if (s[i] == '\\' && i + 1 < len && s[i + 1] == '|') out[n++] = BAR, i++;
        else if (s[i] == '[' && is_link(s + i, len - i)) continue;
        else if (s[i] != '`' && !(s[i] == '*' && i + 1 < len && s[i + 1] == '*') &&
                 !(s[i] == '*' && i && s[i - 1] == '*'))
            out[n++] = s[i];
    }
    out[n] = '\0';
}

/* A line of a table without its bars; false: the line under the heads. */
bool plain_cells(const char *line, char *out, size_t cap)
{
    size_t n = 0;
    if (strspn(line, "|- ") == strlen(line)) return false;
    for (const char *p = line + 1; *p && n + 4 < cap; p++) {
        if (*p == '|' && p[1]) out[n++] = '|';
        else if (*p != '|') out[n++] = *p == BAR ? '|' : *p;
    }
    while (n && out[n - 1] == ' ') n--;
    out[n] = '\0';
    return true;
}

void print_topic(const topic *t)
{
    char line[4096], cells[4096];
    bool code = false;
    for (const char *p = t->text; *p;) {
        const size_t len = strcspn(p, "\n");
        if (strncmp(p, "```", 3) == 0) code = !code;
        else if (code) printf("    %.*s\n", (int)len, p);
        else {
            plain_line(p, len, line, sizeof line);
            if (line[0] == '#') printf("%s\n", line + strspn(line, "# "));
            else if (line[0] != '|') puts(line);
            else if (plain_cells(line, cells, sizeof cells)) printf("  %s\n", cells + strspn(cells, " "));
        }
        p += len + (p[len] == '\n');
    }
}
