/* replaytape.h - what a run released, for a run on a neighbouring table, fed the same values, to compare with. */
#ifndef REPLAYTAPE_H
#define REPLAYTAPE_H
#include "pvtest.h"
#include "run/run.h"

enum { MAX_RELEASES = 4096 };

typedef struct tape {
    int64_t n, at, length[MAX_RELEASES];
    bool playing;
    double worst;                /* largest measured distance / declared sensitivity */
    int64_t *sums[MAX_RELEASES]; /* before noise; scores of a selection instead */
    double *scores[MAX_RELEASES];
    double *values[MAX_RELEASES];
} tape;

/* Distance in the norm the mechanism is scaled to: Euclidean for sums, the largest change for scores. */
static inline double tape_distance(const tape *t, const pvi_seen *r)
{
    double s = 0.0, most = 0.0;
    for (int64_t k = 0; k < r->n; k++) {
        const double diff = r->score ? r->score[k] - t->scores[t->at][k]
                                     : (double)(r->sum[k] - t->sums[t->at][k]) * r->release->noise.spacing;
        s += diff * diff;
        most = fmax(most, fabs(diff));
    }
    return r->score ? most : sqrt(s);
}

static inline void *tape_copy(const void *from, size_t size)
{
    return memcpy(malloc(size), from, size);
}

static inline void tape_record(tape *t, const pvi_seen *r, const double *value)
{
    const size_t d = (size_t)r->n;
    if (value) {
        t->values[t->n++] = tape_copy(value, sizeof *value * (r->score ? 1 : d));
        return;
    }
    t->length[t->n] = r->n;
    if (r->score) t->scores[t->n] = tape_copy(r->score, sizeof *r->score * d);
    else t->sums[t->n] = tape_copy(r->sum, sizeof *r->sum * d);
}

/* A pvi_tap whose user is the tape. */
static inline void tape_watch(void *user, const pvi_seen *r, double *value)
{
    tape *t = user;
    if (!t->playing) {
        PVT_TRUE(t->n < MAX_RELEASES);
        tape_record(t, r, value);
        return;
    }
    PVT_TRUE(t->at < t->n);
    if (value) {
        memcpy(value, t->values[t->at++], sizeof *value * (r->score ? 1 : (size_t)r->n));
        return;
    }
    PVT_IS(r->n, t->length[t->at]);
    PVT_TRUE((r->score != NULL) == (t->scores[t->at] != NULL));
    const double moved = tape_distance(t, r);
    PVT_CHECK(moved <= r->release->noise.change, "release %lld moved by %.9g, declared %.9g", (long long)t->at, moved,
              r->release->noise.change);
    if (moved / r->release->noise.change > t->worst) t->worst = moved / r->release->noise.change;
}

static inline void tape_free(tape *t)
{
    for (int64_t i = 0; i < t->n; i++) {
        free(t->sums[i]);
        free(t->scores[i]);
        free(t->values[i]);
    }
    free(t);
}
#endif
