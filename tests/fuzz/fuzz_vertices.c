/* fuzz_vertices.c - any vertex file is refused with a message, or gives vertices the oracle can use. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

enum { D = 3 };

static void check_hull(const pv_set_ops *set, const void *st, const void *cfg)
{
    const double g[D] = { 1.0, -0.5, 0.25 };
    const int64_t K = set->atoms(st, cfg, D);
    const double radius = set->radius(st, cfg, D);
    double best[D], v[D], least = 0.0;
    FUZZ_REQUIRE(K >= 1 && radius >= 0.0 && radius <= 2e12);
    set->lmo(st, cfg, g, best, D);
    for (int j = 0; j < D; j++) least += best[j] * g[j];
    for (int64_t k = 0; k < K; k++) {
        double at = 0.0;
        set->atom(st, cfg, k, v, D);
        for (int j = 0; j < D; j++) at += v[j] * g[j];
        FUZZ_REQUIRE(isfinite(at) && at >= least - 1e-3);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const pv_set_ops *set = (const pv_set_ops *)pv_find(PV_KIND_set, "polytope");
    char path[64];
    pv_ctx *ctx;
    const int fd = memfd_create("vertices", MFD_CLOEXEC);
    if (fd < 0 || pv_ctx_create(NULL, &ctx) != PV_OK) return 0;
    FUZZ_REQUIRE(write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);

    pv_arena *a = pvi_arena_create(ctx);
    void *cfg = pv_arena_get(a, set->head.cfg_size), *st = pv_arena_get(a, set->head.state_size);
    FUZZ_REQUIRE(pvi_param_set(ctx, a, "set.", set->head.params, cfg, "vertices", path) == PV_OK);
    const pv_status s = set->open(st, cfg, D, ctx, a);
    if (s == PV_OK) check_hull(set, st, cfg);
    else fuzz_refused(ctx, s);
    pvi_arena_free(a);
    pv_ctx_free(ctx);
    close(fd);
    return 0;
}
