/* status.c - names of the pinned status codes; version. */
#include "core.h"

const char *pv_version(void)
{
    return PV_VERSION;
}

int pv_version_number(void)
{
    return PV_VERSION_NUMBER;
}

const char *pv_status_name(pv_status s)
{
    static const struct {
        pv_status s;
        const char *name;
    } names[] = {
        { PV_OK, "ok" },
        { PV_DONE, "done" },
        { PV_E_ARG, "bad argument" },
        { PV_E_PARAM, "bad setting" },
        { PV_E_UNSUPPORTED, "unsupported combination" },
        { PV_E_NOMEM, "out of memory" },
        { PV_E_IO, "input or output failed" },
        { PV_E_FORMAT, "malformed input" },
        { PV_E_RNG, "no secure randomness" },
        { PV_E_CANCELLED, "cancelled" },
        { PV_E_BUDGET, "privacy budget refused" },
        { PV_E_PLAN, "release not planned" },
        { PV_E_VERIFY, "certificate does not hold" },
        { PV_E_NUMERIC, "not a finite number" },
        { PV_E_INTERNAL, "internal error" },
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].s == s) return names[i].name;
    return "unknown status";
}
