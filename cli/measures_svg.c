/* measures_svg.c - curves along a run, from the lines that run.log wrote: a panel for every measure, a line for the
 * rows trained on and one for held-out rows.
 *
 * A line is one flat JSON object of numbers, words and true or false, as src/run/measures.c writes it; any other is
 * refused with its number. */
#include "cli.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key, *title;
    bool log; /* axis */
} panels[] = {
    { "objective", "Objective", false },
    { "gradient_norm", "Length of the gradient", true },
    { "projected_gradient", "Projected gradient", true },
    { "mirror_gradient", "Mirror gradient", true },
    { "frank_wolfe_gap", "Frank-Wolfe gap", true },
    { "lambda_min", "Lowest eigenvalue of the Hessian", false },
    { "accuracy", "Accuracy", false },
    { "log_loss", "Log loss", false },
    { "auc", "AUC", false },
    { "rmse", "Root mean square error", false },
};
enum { PANELS = sizeof panels / sizeof *panels, KINDS = 2, WORD = 80, LIMIT = 1 << 28 };
static const char *const kinds[KINDS] = { "training", "held-out" };

typedef struct moment { /* one line */
    int kind;
    double step, value[PANELS]; /* NAN: not there */
    char weights[WORD];         /* of the returned model; empty: not there */
} moment;

typedef struct moments {
    moment *at;
    int n;
} moments;

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* "word" to `out`, letters, digits, spaces and -_:; NULL: it is none. */
static const char *take_word(const char *s, char out[WORD])
{
    size_t n = 0;
    if (*s++ != '"') return NULL;
    while (n < WORD - 1 && (isalnum((unsigned char)s[n]) || (s[n] && strchr(" -_:;", s[n])))) n++;
    if (s[n] != '"') return NULL;
    memcpy(out, s, n);
    out[n] = '\0';
    return s + n + 1;
}

static const char *take_value(const char *s, const char *key, moment *m)
{
    char word[WORD], *end;
    double x = NAN;
    if (*s == '"') { /* "nan" and "inf" are words, too */
        if (!(s = take_word(s, word))) return NULL;
        for (int k = 0; k < KINDS; k++)
            if (strcmp(key, "rows") == 0 && strcmp(word, kinds[k]) == 0) m->kind = k;
        if (strcmp(key, "weights_digest") == 0) memcpy(m->weights, word, sizeof word);
        return s;
    }
    if (strncmp(s, "true", 4) == 0) return s + 4;
    if (strncmp(s, "false", 5) == 0) return s + 5;
    if (*s != '-' && !isdigit((unsigned char)*s)) return NULL;
    x = strtod(s, &end);
    if (strcmp(key, "step") == 0) m->step = x;
    for (int k = 0; k < PANELS; k++)
        if (strcmp(key, panels[k].key) == 0) m->value[k] = x;
    return end;
}

/* false: not such a line. */
static bool take_line(const char *s, moment *m)
{
    char key[WORD];
    *m = (moment) { .kind = -1, .step = NAN };
    for (int k = 0; k < PANELS; k++) m->value[k] = NAN;
    if (*s++ != '{') return false;
    for (;; s++) {
        if (!(s = take_word(s, key)) || *s++ != ':') return false;
        if (!(s = take_value(s, key, m))) return false;
        if (*s == '}') break;
        if (*s != ',') return false;
    }
    return s[1] == '\0' && m->kind >= 0 && isfinite(m->step);
}

static int read_moments(const char *path, const char *digest, moments *out)
{
    char *text, *save = NULL;
    size_t len;
    int code = read_text_of(path, LIMIT, "a file that run.log names", &text, &len), line = 0;
    *out = (moments) { 0 };
    if (code != EXIT_DONE) return code;
    for (char *s = strtok_r(text, "\n", &save); s && code == EXIT_DONE; s = strtok_r(NULL, "\n", &save)) {
        if (out->n % 256 == 0) out->at = realloc(out->at, sizeof *out->at * (size_t)(out->n + 256));
        if (!out->at) abort();
        line++;
        if (take_line(s, &out->at[out->n])) out->n++;
        else code = complain(EXIT_INPUT, "%s:%d: not a line that run.log writes", path, line);
    }
    if (code == EXIT_DONE && out->n > 0) {
        const char *whose = out->at[out->n - 1].weights;
        if (*whose && *digest && strcmp(whose, digest) != 0)
            code = complain(EXIT_INPUT, "%s: measures of another run: its weights are not those of the model", path);
    }
    if (code == EXIT_DONE && out->n == 0) code = complain(EXIT_INPUT, "%s: no measures in it", path);
    free(text);
    return code;
}

/* ---- drawing --------------------------------------------------------------------------------------------------- */

static bool drawn(const moments *m, int panel)
{
    for (int i = 0; i < m->n; i++)
        if (isfinite(m->at[i].value[panel])) return true;
    return false;
}

static void draw(FILE *f, const moments *m, int panel, double x0, double y0)
{
    axis x = { INFINITY, -INFINITY, false }, y = { INFINITY, -INFINITY, panels[panel].log };
    double *px = calloc((size_t)m->n, sizeof *px), *py = calloc((size_t)m->n, sizeof *py);
    if (!px || !py) abort();
    for (int i = 0; i < m->n; i++)
        if (isfinite(m->at[i].value[panel])) axis_widen(&x, m->at[i].step), axis_widen(&y, m->at[i].value[panel]);
    axis_settle(&x, 0.03);
    axis_settle(&y, 0.06);
    const plot p = { f, x.lo, x.hi, y.lo, y.hi, panels[panel].title, "step", "", 1 };
    plot_open(&p, x0, y0);
    axis_mark(&p, &x, plot_mark_x);
    axis_mark(&p, &y, plot_mark_y);
    for (int kind = 0; kind < KINDS; kind++) {
        int n = 0;
        for (int i = 0; i < m->n; i++) {
            const double v = m->at[i].value[panel];
            if (m->at[i].kind != kind || !isfinite(v) || (y.log && !(v > 0))) continue;
            px[n] = m->at[i].step;
            py[n++] = axis_at(&y, v);
        }
        plot_line(&p, px, py, n, kind);
        if (n) plot_key(&p, 0, kind == 1, kind, kind ? "held-out rows" : "training rows");
    }
    plot_close(&p);
    free(px);
    free(py);
}

int measures_svg(const char *path, const char *weights_digest, char **svg)
{
    moments m;
    size_t len;
    int shown = 0, at = 0, code = read_moments(path, weights_digest, &m);
    *svg = NULL;
    for (int k = 0; code == EXIT_DONE && k < PANELS; k++) shown += drawn(&m, k);
    if (code == EXIT_DONE && shown == 0) code = complain(EXIT_INPUT, "%s: no measures in it", path);
    if (code == EXIT_DONE) {
        const int each = plot_height + 2 * plot_key_height, width = 2 * plot_width, height = (shown + 1) / 2 * each;
        FILE *f = open_memstream(svg, &len);
        if (!f) abort();
        fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n",
                width, height, width, height);
        for (int k = 0; k < PANELS; k++) {
            if (!drawn(&m, k)) continue;
            draw(f, &m, k, at % 2 * plot_width, at / 2 * each);
            at++;
        }
        fputs("</svg>\n", f);
        if (fclose(f) != 0) abort();
    }
    free(m.at);
    return code;
}
