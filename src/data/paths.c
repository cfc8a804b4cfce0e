/* paths.c - one setting, several files: data.path as a list with commas, or as the batches of CIFAR-10.
 *
 *   a file               itself; the first training batch (data_batch_1.bin) brings data_batch_2.bin ... _5.bin
 *                        beside it
 *   a folder             its data_batch_1.bin ... data_batch_5.bin, as many as there are from the first on
 *   a,b,c                these files, when there is none of that name
 * Each may end in .gz or .bz2 as well. */
#include "reader.h"

#include <sys/stat.h>

enum { BATCHES = 5 };
static const char batch_1[] = "data_batch_1.bin";

static bool is_kind(const char *path, mode_t kind)
{
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

/* folder/data_batch_k.bin, then what follows the name of the first. */
static const char *batch_name(struct pv_load *job, const char *folder, size_t len, int k, const char *tail)
{
    const size_t size = len + sizeof batch_1 + strlen(tail);
    char *out = pv_arena_get(job->arena, size);
    if (out) snprintf(out, size, "%.*sdata_batch_%d.bin%s", (int)len, folder, k, tail);
    return out;
}

static pv_status find_batches(struct pv_load *job, const char *folder, size_t len, const char *tail)
{
    const char **file = pv_arena_get(job->arena, sizeof *file * BATCHES);
    if (!file) return pvi_nomem(job->ctx);
    for (job->files = 0; job->files < BATCHES; job->files++) {
        const char *name = batch_name(job, folder, len, (int)job->files + 1, tail);
        if (!name) return pvi_nomem(job->ctx);
        if (!is_kind(name, S_IFREG)) break;
        file[job->files] = name;
    }
    job->file = file;
    return PV_OK;
}

static pv_status read_folder(struct pv_load *job)
{
    static const char *const tail[] = { "", ".gz", ".bz2" };
    const char *path = job->cfg->path;
    const size_t len = strlen(path), size = len + 2;
    char *folder = pv_arena_get(job->arena, size);
    if (!folder) return pvi_nomem(job->ctx);
    snprintf(folder, size, "%s%s", path, path[len - 1] == '/' ? "" : "/");
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) {
        const pv_status s = find_batches(job, folder, strlen(folder), tail[i]);
        if (s != PV_OK || job->files) return s;
    }
    job->file = &job->cfg->path; /* refused when it is opened */
    job->files = 1;
    return PV_OK;
}

static pv_status split_list(struct pv_load *job)
{
    char *text = pvi_arena_strdup(job->arena, job->cfg->path, strlen(job->cfg->path));
    int64_t n = 1;
    for (const char *c = job->cfg->path; *c; c++) n += *c == ',';
    const char **file = pv_arena_get(job->arena, sizeof *file * (size_t)n);
    if (!text || !file) return pvi_nomem(job->ctx);
    for (job->files = 0; text; text = *text ? text : NULL) {
        const size_t len = strcspn(text, ",");
        const bool more = text[len] == ',';
        text[len] = '\0';
        if (len == 0)
            return pvi_fail(job->ctx, PV_E_PARAM, "data.path=%s: a name in the list is empty", job->cfg->path);
        file[job->files++] = text;
        if (!more) break;
        text += len + 1;
    }
    job->file = file;
    return job->files == n
               ? PV_OK
               : pvi_fail(job->ctx, PV_E_PARAM, "data.path=%s: a name in the list is empty", job->cfg->path);
}

pv_status pvi_paths(struct pv_load *job)
{
    const char *path = job->cfg->path, *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    job->file = &job->cfg->path;
    job->files = 1;
    if (is_kind(path, S_IFDIR)) return read_folder(job);
    if (is_kind(path, S_IFREG) && strncmp(name, batch_1, sizeof batch_1 - 1) == 0)
        return find_batches(job, path, (size_t)(name - path), name + sizeof batch_1 - 1);
    struct stat st;
    return strchr(path, ',') && stat(path, &st) != 0 ? split_list(job) : PV_OK;
}
