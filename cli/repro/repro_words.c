/* repro_words.c - the notations of repro.h: @, {quick|otherwise}, DATA/ and RESULTS/. */
#include "repro.h"

#include <stdlib.h>
#include <string.h>

/* @, @*FACTOR or @*FACTOR+TERM; returns what follows. */
static const char *put_x(FILE *f, const char *at, double x)
{
    char *end = (char *)(uintptr_t)(at + 1);
    if (at[1] == '*') x *= strtod(at + 2, &end);
    if (*end == '+') x += strtod(end + 1, &end);
    fprintf(f, "%.10g", x);
    return end;
}

char *repro_expand(const char *text, bool quick, double x)
{
    char *out;
    size_t len;
    FILE *f = open_memstream(&out, &len);
    if (!f) abort();
    bool shown = true;
    for (const char *s = text ? text : ""; *s;) {
        if (*s == '{') shown = quick, s++;
        else if (*s == '|') shown = !quick, s++;
        else if (*s == '}') shown = true, s++;
        else if (*s == '@' && shown) s = put_x(f, s, x);
        else if (shown) fputc(*s++, f);
        else s++;
    }
    if (fclose(f) != 0) abort();
    return out;
}

int repro_numbers(const char *text, bool quick, double *out, int cap)
{
    int n = 0;
    out[0] = NAN;
    if (!text) return 1;
    char *list = repro_expand(text, quick, 0.0), *end;
    for (char *s = list; n < cap; s = end) {
        out[n] = strtod(s, &end);
        if (end == s) break;
        n++;
    }
    free(list);
    return n;
}

int repro_along(const item *it, const record *r)
{
    static const char key[] = "run.every=";
    const sweep *s = &it->sweeps[r->sweep];
    const char *settings = s->lines[r->line].settings, *at = settings ? strstr(settings, key) : NULL;
    return at ? atoi(at + sizeof key - 1) : 0;
}

double repro_longest(const sweep *s, bool quick)
{
    double x[256], most = NAN;
    const int n = repro_numbers(s->xs, quick, x, 256);
    for (int i = 0; i < n; i++) most = fmax(most, x[i]);
    return most;
}

char *repro_path(const place *p, const char *text)
{
    char *out;
    size_t len;
    FILE *f = open_memstream(&out, &len);
    if (!f) abort();
    if (strncmp(text, "DATA/", 5) == 0) fprintf(f, "%s%s", p->data ? p->data : "DATA", text + 4);
    else if (strncmp(text, "RESULTS/", 8) == 0) fprintf(f, "%s%s", p->out, text + 7);
    else fputs(text, f);
    if (fclose(f) != 0) abort();
    return out;
}
