/* repro_record.c - a line per finished run in RESULTS/runs.csv, so that an interrupted set goes on where it stopped.
 *
 * A run is known by its command, which holds every setting, its number and the version whose defaults it had; figures
 * of the same runs share them.  A line is written by one call and synced; a torn last line is no record.  Texts are
 * in quotes, numbers have 9 digits, what was not measured is empty. */
#include "repro.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is computed on rows without noise says so wherever it stands. */
static const char *const names[MEASURES] = { "value",
                                             "accuracy_not_private",
                                             "log_loss_not_private",
                                             "objective_not_private",
                                             "gradient_not_private",
                                             "epsilon",
                                             "seconds" };

static void runs_path(const place *p, char out[4200])
{
    snprintf(out, 4200, "%s/runs.csv", p->out);
}

static void put_number(FILE *f, double x)
{
    if (!isnan(x)) fprintf(f, "%.9g", x);
    fputc(',', f);
}

static void put_line(FILE *f, const record *r)
{
    fprintf(f, "\"%s\",%d,%s,", r->command, r->run, pv_version());
    for (int i = 0; i < MEASURES; i++) put_number(f, r->m[i]);
    fputc('"', f);
    for (int i = 0; i < r->n_curve; i++) fprintf(f, "%s%.9g:%.9g", i ? " " : "", r->curve_x[i], r->curve_y[i]);
    fputs("\"\n", f);
}

static char *line_of(const record *r, bool header, size_t *len)
{
    char *text;
    FILE *f = open_memstream(&text, len);
    if (!f) abort();
    if (header) {
        fputs("command,run,version,", f);
        for (int i = 0; i < MEASURES; i++) fprintf(f, "%s,", names[i]);
        fputs("curve\n", f);
    }
    put_line(f, r);
    if (fclose(f) != 0) abort();
    return text;
}

/* Does the file end in the middle of a line? */
static bool torn(int fd, off_t size)
{
    char last = '\n';
    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

int record_add(const place *p, const record *r)
{
    char path[4200];
    struct stat st;
    size_t len;
    runs_path(p, path);
    const int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || fstat(fd, &st) != 0) return complain(EXIT_INPUT, "%s: %s", path, strerror(errno));
    char *text = line_of(r, st.st_size == 0, &len);
    bool good = !torn(fd, st.st_size) || write(fd, "\n", 1) == 1;
    good = good && write(fd, text, len) == (ssize_t)len && fsync(fd) == 0;
    const int why = errno;
    close(fd);
    free(text);
    return good ? EXIT_DONE : complain(EXIT_INPUT, "%s: %s", path, strerror(why));
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static void take_curve(char *s, record *r)
{
    char *end;
    for (r->n_curve = 0;; r->n_curve++) {
        const double x = strtod(s, &end);
        if (end == s || *end != ':') return;
        const double y = strtod(end + 1, &s);
        r->curve_x = realloc(r->curve_x, sizeof(double) * (size_t)(r->n_curve + 1));
        r->curve_y = realloc(r->curve_y, sizeof(double) * (size_t)(r->n_curve + 1));
        if (!r->curve_x || !r->curve_y) abort();
        r->curve_x[r->n_curve] = x;
        r->curve_y[r->n_curve] = y;
    }
}

/* The measures, from the comma before them; false: the line is no whole record. */
static bool take(char *s, record *r)
{
    double m[MEASURES];
    for (int i = 0; i < MEASURES; i++) {
        char *end;
        const char *at = ++s;
        m[i] = strtod(at, &end);
        if (end == at) m[i] = NAN;
        if (*end != ',') return false;
        s = end;
    }
    if (s[1] != '"' || s[strlen(s) - 1] != '\n') return false;
    memcpy(r->m, m, sizeof m);
    take_curve(s + 2, r);
    return true;
}

int record_find(const place *p, record *r)
{
    char path[4200], *text = NULL, *key;
    size_t cap = 0;
    int found = 0;
    runs_path(p, path);
    FILE *f = fopen(path, "re");
    if (!f) return errno == ENOENT ? 0 : (complain(EXIT_INPUT, "%s: %s", path, strerror(errno)), -1);
    if (asprintf(&key, "\"%s\",%d,%s,", r->command, r->run, pv_version()) < 0) abort();
    while (!found && getline(&text, &cap, f) > 0)
        if (strncmp(text, key, strlen(key)) == 0) found = take(text + strlen(key) - 1, r);
    fclose(f);
    free(text);
    free(key);
    return found;
}

void record_clear(record *r)
{
    free(r->curve_x);
    free(r->curve_y);
    free(r->command);
    *r = (record) { 0 };
}
