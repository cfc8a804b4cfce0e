/* corpus.h - every file of a folder of tests/corpus, in the order of their names. */
#ifndef CORPUS_H
#define CORPUS_H
#include "cert/cert.h"

#include <dirent.h>
#include <stdlib.h>

typedef void corpus_fn(const char *path, const char *name, void *user);

static inline void corpus_each(const char *folder, const char *ending, corpus_fn *fn, void *user)
{
    char dir[512], path[1024];
    struct dirent **list;
    const char *source = getenv("PRIVET_SOURCE");
    snprintf(dir, sizeof dir, "%s/tests/corpus/%s", source ? source : ".", folder);
    const int n = scandir(dir, &list, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const size_t len = strlen(list[i]->d_name), end = strlen(ending);
        snprintf(path, sizeof path, "%s/%s", dir, list[i]->d_name);
        if (len > end && strcmp(list[i]->d_name + len - end, ending) == 0) fn(path, list[i]->d_name, user);
        free(list[i]);
    }
    if (n >= 0) free(list);
}
#endif
