/* plug.h - plug-ins of the registry with their defaults, for contract tests. */
#ifndef PLUG_H
#define PLUG_H
#include "core/core.h"
#include "pvtest.h"

/* A plug-in's settings: defaults, then any "key=value" given. */
static inline void *plug_cfg(pv_ctx *c, pv_arena *a, const pv_plugin *p, const char *key, const char *value)
{
    void *cfg = pv_arena_get(a, p->cfg_size + 1);
    pvi_param_defaults(p->params, cfg);
    if (key && pvi_param_find(p->params, key)) PVT_OK(pvi_param_set(c, a, "", p->params, cfg, key, value));
    return cfg;
}
#endif
