/* task.c - what identifies a run, and the record of one that is finished.
 *
 * The key is a text: version, settings in alphabetical order, the files as they are (size and time of the last
 * change, not a digest of the rows, which would tell something about them), and last the repeat or its seed.  A
 * record's name is a hash of the key, and the record holds the key itself, so that no other run is taken for it. */
#include "runs/runs.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void put_stat(FILE *f, const struct stat *st)
{
    fprintf(f, " %lld %lld.%09ld", (long long)st->st_size, (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

/* The files of a folder: sums, which do not depend on the order they are listed in. */
static void put_folder(FILE *f, const char *path)
{
    long long files = 0, size = 0, time = 0;
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) {
        struct stat st;
        if (fstatat(dirfd(d), e->d_name, &st, 0) != 0 || !S_ISREG(st.st_mode)) continue;
        files++;
        size += (long long)st.st_size;
        time += (long long)st.st_mtim.tv_sec;
    }
    if (d) closedir(d);
    fprintf(f, " %lld files %lld %lld", files, size, time);
}

/* Of a list with commas, each file on its own, unless there is a file of that name. */
static void put_path(FILE *f, const char *key, const char *path)
{
    char whole[PATH_MAX], one[PATH_MAX];
    struct stat st;
    fprintf(f, "%s=%s", key, realpath(path, whole) ? whole : path);
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) put_folder(f, path);
        else put_stat(f, &st);
    } else {
        for (const char *at = path; *at; at += strcspn(at, ","), at += *at == ',') {
            snprintf(one, sizeof one, "%.*s", (int)strcspn(at, ","), at);
            if (stat(one, &st) == 0) put_stat(f, &st);
        }
    }
    fputc('\n', f);
}

static bool is_path(const char *key)
{
    static const char *const keys[] = { "data.path",    "data.schema", "data.labels",     "data.person_file",
                                        "set.vertices", "run.holdout", "optimizer.start", "data.trained_on" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0) return true;
    return false;
}

static int by_key(const void *a, const void *b)
{
    const setting *const *x = a, *const *y = b;
    return strcmp((*x)->key, (*y)->key);
}

static char *copy(const char *text)
{
    char *own = strdup(text);
    if (!own) abort();
    return own;
}

void task_set(task *t, const char *key, const char *value)
{
    int i = 0;
    while (i < t->n_settings && strcmp(t->settings[i].key, key) != 0) i++;
    if (i < t->n_settings) {
        free((char *)(uintptr_t)t->settings[i].value);
    } else {
        t->settings = realloc(t->settings, sizeof *t->settings * (size_t)(t->n_settings + 1));
        if (!t->settings) abort();
        t->settings[t->n_settings++].key = copy(key);
    }
    t->settings[i].value = copy(value);
}

const char *task_get(const task *t, const char *key)
{
    for (int i = 0; i < t->n_settings; i++)
        if (strcmp(t->settings[i].key, key) == 0) return t->settings[i].value;
    return NULL;
}

static char *key_of(const task *t)
{
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    const setting **sorted = calloc((size_t)t->n_settings + 1, sizeof *sorted);
    if (!f || !sorted) abort();
    for (int i = 0; i < t->n_settings; i++) sorted[i] = &t->settings[i];
    qsort(sorted, (size_t)t->n_settings, sizeof *sorted, by_key);
    fprintf(f, "privet %s\n", pv_version());
    for (int i = 0; i < t->n_settings; i++) {
        if (strcmp(sorted[i]->key, "run.threads") == 0) continue; /* not a bit of the result depends on them */
        if (is_path(sorted[i]->key)) put_path(f, sorted[i]->key, sorted[i]->value);
        else fprintf(f, "%s=%s\n", sorted[i]->key, sorted[i]->value);
    }
    if (t->test) put_path(f, "holdout", t->test);
    else fputs("holdout none\n", f);
    if (t->seeded) fprintf(f, "seed %ld", t->seed);
    else fprintf(f, "repeat %d", t->repeat);
    if (fclose(f) != 0) abort();
    free(sorted);
    return text;
}

/* FNV-1a from two starts: 32 digits. */
void task_identify(task *t)
{
    t->key = key_of(t);
    uint64_t h[2] = { 0xcbf29ce484222325u, 0x84222325cbf29ce4u };
    for (int k = 0; k < 2; k++)
        for (const char *s = t->key; *s; s++) h[k] = (h[k] ^ (unsigned char)*s) * 0x100000001b3u;
    snprintf(t->name, NAME_SIZE, "%016llx%016llx", (unsigned long long)h[0], (unsigned long long)h[1]);
}

void task_free(task *t)
{
    for (int i = 0; i < t->n_settings; i++) {
        free((char *)(uintptr_t)t->settings[i].key);
        free((char *)(uintptr_t)t->settings[i].value);
    }
    free(t->settings);
    free(t->test);
    free(t->certificate);
    free(t->key);
    free(t->why);
    free(t->record);
    *t = (task) { 0 };
}

char *run_path(const char *out, const char *name, const char *ending)
{
    char *path;
    if (asprintf(&path, "%s/runs/%s%s", out, name, ending) < 0) abort();
    return path;
}

/* ---- records ------------------------------------------------------------------------------------------------ */

/* As a record has it: line ends are vertical bars. */
char run_key_char(char c)
{
    return c == '\n' ? '|' : (unsigned char)c < 0x20 ? ' ' : c;
}

static bool same_key(jv v, const char *key)
{
    const size_t cap = strlen(key) + 2;
    char *text = malloc(cap);
    bool same = true;
    if (!text) abort();
    jv_str(v, text, cap);
    for (size_t i = 0; same && (key[i] || text[i]); i++) same = text[i] == (key[i] ? run_key_char(key[i]) : '\0');
    free(text);
    return same;
}

/* Does the library read it as an object?  What it holds is not looked at: lists are refused there. */
bool json_valid(cli *c, const char *text, size_t len, const char *name)
{
    pv_plan *plan = NULL;
    pv_status s = pv_plan_create(c->ctx, &plan);
    if (s == PV_OK) s = pv_plan_load(plan, text, len, name);
    pv_plan_free(plan);
    return s == PV_OK || s == PV_E_PARAM;
}

bool record_read(cli *c, const char *path, const char *key, char **text)
{
    struct stat st;
    char *body = NULL;
    *text = NULL;
    FILE *f = fopen(path, "rbe");
    if (!f) return false;
    size_t n = 0;
    if (fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) && st.st_size < 1 << 28 &&
        (body = malloc((size_t)st.st_size + 1)))
        n = fread(body, 1, (size_t)st.st_size, f);
    fclose(f);
    if (body) body[n] = '\0';
    const jv v = { body };
    char format[32];
    bool good = body && strlen(body) == n && json_valid(c, body, n, path) &&
                strcmp(jv_str(jv_get(v, "format"), format, sizeof format), "privet-run") == 0 &&
                (!key || same_key(jv_get(v, "key"), key));
    if (good) *text = body;
    else free(body);
    return good;
}
