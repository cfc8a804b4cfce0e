/* paths.c - one path, several files: a list with commas, or the parts that a reader knows by name.
 *
 *   a file               itself; the first part (data_batch_1.bin of CIFAR-10) brings the others beside it
 *   a folder             the parts in it, as many as there are from the first on
 *   a,b,c                these files, when there is none of that name
 * Each may end in .gz or .bz2 as well. */
#include "reader.h"

#include <sys/stat.h>

static bool is_kind(const char *path, mode_t kind)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

/* folder/PREFIXkSUFFIX, then what follows the name of the first. */
static const char *part_name(struct pv_load *job, const pv_reader_ops *r, const char *folder, size_t len, int k,
                             const char *tail)
{
    const size_t size = len + strlen(r->part_prefix) + 12 + strlen(r->part_suffix) + strlen(tail);
    char *out = pv_arena_get(job->arena, size);
    if (out) snprintf(out, size, "%.*s%s%d%s%s", (int)len, folder, r->part_prefix, k, r->part_suffix, tail);
    return out;
}

static pv_status find_parts(struct pv_load *job, const pv_reader_ops *r, const char *folder, size_t len,
                            const char *tail)
{
    const char **file = pv_arena_get(job->arena, sizeof *file * (size_t)r->parts);
    if (!file) return pvi_nomem(job->ctx);
    for (job->files = 0; job->files < r->parts; job->files++) {
        const char *name = part_name(job, r, folder, len, (int)job->files + 1, tail);
        if (!name) return pvi_nomem(job->ctx);
        if (!is_kind(name, S_IFREG)) break;
        file[job->files] = name;
    }
    job->file = file;
    return PV_OK;
}

/* The i-th reader that knows parts by name; NULL: no more. */
static const pv_reader_ops *reader_of_parts(int64_t i)
{
    const pv_plugin *h;
    for (int64_t k = 0; (h = pv_nth(PV_KIND_reader, k)); k++) {
        const pv_reader_ops *r = (const pv_reader_ops *)(const void *)h;
        if (r->parts && i-- == 0) return r;
    }
    return NULL;
}

static pv_status read_folder(struct pv_load *job, const char *const *at)
{
    static const char *const tail[] = { "", ".gz", ".bz2" };
    const char *path = *at;
    const size_t len = strlen(path), size = len + 2;
    const pv_reader_ops *r;
    char *folder = pv_arena_get(job->arena, size);
    if (!folder) return pvi_nomem(job->ctx);
    snprintf(folder, size, "%s%s", path, path[len - 1] == '/' ? "" : "/");
    for (int64_t k = 0; (r = reader_of_parts(k)); k++)
        for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) {
            const pv_status s = find_parts(job, r, folder, strlen(folder), tail[i]);
            if (s != PV_OK || job->files) return s;
        }
    job->file = at; /* refused when it is opened */
    job->files = 1;
    return PV_OK;
}

/* What follows the name of a first part; NULL: it is none. */
static const char *after_first_part(const pv_reader_ops *r, const char *name)
{
    const size_t n = strlen(r->part_prefix), m = strlen(r->part_suffix);
    const bool first =
        strncmp(name, r->part_prefix, n) == 0 && name[n] == '1' && strncmp(name + n + 1, r->part_suffix, m) == 0;
    return first ? name + n + 1 + m : NULL;
}

static pv_status split_list(struct pv_load *job, const char *path)
{
    char *text = pvi_arena_strdup(job->arena, path, strlen(path));
    int64_t n = 1;
    for (const char *c = path; *c; c++) n += *c == ',';
    const char **file = pv_arena_get(job->arena, sizeof *file * (size_t)n);
    if (!text || !file) return pvi_nomem(job->ctx);
    for (job->files = 0; text; text = *text ? text : NULL) {
        const size_t len = strcspn(text, ",");
        const bool more = text[len] == ',';
        text[len] = '\0';
        if (len == 0) return pvi_fail(job->ctx, PV_E_PARAM, "data.path=%s: a name in the list is empty", path);
        file[job->files++] = text;
        if (!more) break;
        text += len + 1;
    }
    job->file = file;
    return job->files == n ? PV_OK
                           : pvi_fail(job->ctx, PV_E_PARAM, "data.path=%s: a name in the list is empty", path);
}

/* The files that one path names. */
static pv_status one_path(struct pv_load *job, const char *const *at)
{
    const char *path = *at, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    job->file = at;
    job->files = 1;
    if (is_kind(path, S_IFDIR)) return read_folder(job, at);
    const pv_reader_ops *r;
    for (int64_t k = 0; is_kind(path, S_IFREG) && (r = reader_of_parts(k)); k++) {
        const char *tail = after_first_part(r, name);
        if (tail) return find_parts(job, r, path, (size_t)(name - path), tail);
    }
    struct stat st;
    return strchr(path, ',') && stat(path, &st) != 0 ? split_list(job, path) : PV_OK;
}

pv_status pvi_paths(struct pv_load *job, const char *const *path, int64_t n)
{
    if (n == 1) return one_path(job, path);
    const char **all = NULL;
    int64_t files = 0, room = 0;
    for (int64_t i = 0; i < n; i++) {
        const pv_status s = one_path(job, &path[i]);
        if (s != PV_OK) return s;
        if (files + job->files > room) {
            const char **more = pv_arena_get(job->arena, (size_t)(room = 2 * (files + job->files)) * sizeof *more);
            if (!more) return pvi_nomem(job->ctx);
            if (files) memcpy(more, all, (size_t)files * sizeof *more);
            all = more;
        }
        memcpy(all + files, job->file, (size_t)job->files * sizeof *all);
        files += job->files;
    }
    job->file = all;
    job->files = files;
    return PV_OK;
}
