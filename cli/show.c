/* show.c - results for people: aligned pairs, wrapped text, and JSON passed through. */
#include "cli.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 12, WIDTH = 100 };

void row(const char *label, const char *fmt, ...)
{
    va_list ap;
    printf("%-*s ", LABEL, label);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

void paragraph(const char *label, const char *text)
{
    int column = printf("%-*s", LABEL, label);
    while (*text) {
        const int len = (int)strcspn(text, " ");
        if (column + 1 + len > WIDTH && column > LABEL) column = printf("\n%-*s", LABEL, "") - 1;
        column += printf(" %.*s", len, text);
        text += len;
        text += strspn(text, " ");
    }
    putchar('\n');
}

/* 1234567 as 1,234,567: counts are read by people. */
const char *with_commas(double x, char out[40])
{
    char digits[32];
    const int n = snprintf(digits, sizeof digits, "%.0f", x);
    int o = 0;
    for (int i = 0; i < n; i++) {
        out[o++] = digits[i];
        if (digits[i] != '-' && i + 1 < n && (n - 1 - i) % 3 == 0) out[o++] = ',';
    }
    out[o] = '\0';
    return out;
}

/* Six digits, never below x: a cost shown may not be smaller than the cost. */
const char *cost_text(double x, char out[40])
{
    char text[40];
    for (int k = 0; k <= 10; k++) {
        snprintf(text, sizeof text, "%.6g", x * (1.0 + 1e-6 * k));
        if (!(strtod(text, NULL) < x)) break;
    }
    return memcpy(out, text, sizeof text);
}

void print_json(const char *json)
{
    const size_t n = strlen(json);
    fputs(json, stdout);
    if (n == 0 || json[n - 1] != '\n') putchar('\n');
}

/* How strong, why, and what that means: the words of every answer that has an epsilon. */
void show_strength(jv v)
{
    char word[32], why[512], line[600];
    snprintf(line, sizeof line, "%s: %s", jv_str(jv_get(v, "strength"), word, sizeof word),
             jv_str(jv_get(v, "strength_because"), why, sizeof why));
    paragraph("strength", line);
    paragraph("meaning", jv_str(jv_get(v, "guess"), line, sizeof line));
}

static void show_noise(jv v)
{
    const jv choice = jv_get(v, "selection_epsilon"), radius = jv_get(v, "noise_radius");
    if (choice.p) row("noise", "private choices, each of epsilon %.4g", jv_num(choice));
    else if (radius.p) row("noise", "uniform in a ball of radius %.4g around a sum of gradients", jv_num(radius));
    else if (jv_get(jv_get(v, "settings"), "optimizer.passes").p)
        row("noise", "once, on the weights: %.4g times what one row can move them by",
            jv_num(jv_get(v, "noise_multiplier")));
    else
        row("noise", "standard deviation %.4g on each entry of a sum of gradients, multiplier %.4g",
            jv_num(jv_get(v, "noise_stddev")), jv_num(jv_get(v, "noise_multiplier")));
}

static void show_guarantee(jv v)
{
    char relation[32], accountant[32], eps[40], delta[40];
    const double replace = jv_num(jv_get(v, "epsilon_replace"));
    jv_str(jv_get(v, "relation"), relation, sizeof relation);
    row("privacy", "epsilon %s at delta %s, relation %s, accountant %s", cost_text(jv_num(jv_get(v, "epsilon")), eps),
        cost_text(jv_num(jv_get(v, "delta")), delta), relation,
        jv_str(jv_get(v, "accountant"), accountant, sizeof accountant));
    if (strcmp(relation, "replace") != 0 && isfinite(replace))
        row("", "epsilon %s for relation replace", cost_text(replace, eps));
    show_strength(v);
    show_noise(v);
}

/* A plan or a finished run: both have these fields. */
const char *people_words(jv people, char *out, size_t cap)
{
    bool persons = false;
    char rows[80] = "", costs[200] = "", eps[40];
    for (jv_iter it = jv_begin(people); people.p && jv_next(&it);) {
        const double e = jv_num(jv_get(it.value, "epsilon"));
        const size_t r = strlen(rows), c = strlen(costs);
        const jv n = jv_get(it.value, "rows");
        persons = !n.p;
        snprintf(rows + r, sizeof rows - r, "%s%.0f", r ? ", " : "", jv_num(n.p ? n : jv_get(it.value, "persons")));
        snprintf(costs + c, sizeof costs - c, "%s%s", c ? ", " : "",
                 e < INFINITY ? cost_text(ceil(e * 100.0 - 1e-9) / 100.0, eps) : "none");
    }
    if (*rows && persons) snprintf(out, cap, "%s persons together have epsilon %s", rows, costs);
    else if (*rows) snprintf(out, cap, "somebody with %s rows has epsilon %s", rows, costs);
    else *out = '\0';
    return out;
}

void show_counted(jv v)
{
    char n[40], e[40];
    const jv rows = jv_get(v, "rows_counted");
    if (!rows.p) return;
    row("rows", "about %s that count, standard error %s: counted with noise, within epsilon",
        with_commas(jv_num(rows), n), with_commas(jv_num(jv_get(v, "rows_counted_error")), e));
}

/* How many rows of a person count; before a run it may be that a release will say it. */
static void show_cap(jv v)
{
    char n[40];
    const jv most = jv_get(v, "rows_per_person_most"), share = jv_get(v, "person_rows_share");
    if (most.p)
        row("protected", "each person, with all of their rows (how many count, at most %s, a noisy histogram says)",
            with_commas(jv_num(most), n));
    else
        row("protected", "each person, with all of their rows (%s of them count, at most)",
            with_commas(jv_num(jv_get(v, "rows_per_person")), n));
    if (share.p) row("histogram", "of rows per person, before the first step: %g of the budget", jv_num(share));
    show_counted(v);
}

void show_run(jv v)
{
    char a[64], b[64], why[256], n1[40], n2[40];
    const bool private = jv_true(jv_get(v, "private"));
    if (!private) {
        jv_str(jv_get(v, "why"), why, sizeof why);
        row("NOT PRIVATE", "%s", *why ? why : "no noise: no guarantee is given");
    }
    const jv persons = jv_get(v, "persons");
    const double weights = jv_num(jv_get(v, "parameters")), n = jv_num(persons.p ? persons : jv_get(v, "rows"));
    row("fit", "%s with %s weight%s on %s %s%s", jv_str(jv_get(v, "model"), a, sizeof a), with_commas(weights, n1),
        weights == 1 ? "" : "s", with_commas(n, n2), persons.p ? "person" : "row", n == 1 ? "" : "s");
    if (persons.p && private) show_cap(v);
    const bool joint = jv_get(jv_get(v, "settings"), "optimizer.weight").p; /* of the Hessian in a release */
    const jv passes = jv_get(jv_get(v, "settings"), "optimizer.passes");    /* before one release */
    const double steps = jv_num(passes.p ? passes : jv_get(v, "steps"));
    row("optimizer", "%s, %s %s%s, %s clipped at %.4g", jv_str(jv_get(v, "optimizer"), b, sizeof b),
        with_commas(steps, n1), passes.p ? "pass" : "step",
        steps == 1 ? ""
        : passes.p ? "es"
                   : "s",
        joint ? "gradient and Hessian together" : "gradients", jv_num(jv_get(v, "clip_norm")));
    if (private) show_guarantee(v);
    char words[320], line[400];
    if (!private || !*people_words(jv_get(v, "people"), words, sizeof words)) return;
    snprintf(line, sizeof line, "%s, draws taken as ideal", words);
    paragraph("people", line);
}

/* {"a": "x", ...} from a list of keys and texts. */
static void print_quoted(const char *s)
{
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') printf("\\%c", *s);
        else if ((unsigned char)*s < 0x20) printf("\\u%04x", (unsigned)*s);
        else putchar(*s);
    }
    putchar('"');
}

void json_text(const char *key, const char *text)
{
    if (key) printf("\"%s\": ", key);
    if (text) print_quoted(text);
    else fputs("null", stdout);
}

void json_number(const char *key, double x)
{
    printf("\"%s\": ", key);
    if (isfinite(x)) printf("%.15g", x);
    else fputs("null", stdout);
}

void print_pairs(const char *const *pairs)
{
    putchar('{');
    for (int i = 0; pairs[i]; i += 2) {
        if (i) fputs(", ", stdout);
        json_text(pairs[i], pairs[i + 1]);
    }
    puts("}");
}
