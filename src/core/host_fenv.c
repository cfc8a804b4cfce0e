/* host_fenv.c - the host's floating-point environment, put aside while the library computes.
 *
 * Every bound in the library assumes rounding to nearest and gradual underflow; a host may have set another rounding
 * mode, flush-to-zero, or traps on division by zero, which the library relies on being quiet.  Each call therefore
 * computes in the default environment and puts back the host's, raised flags included.  Environments belong to
 * threads, so nobody else sees the change.
 *
 * A callback of the host may leave another one behind (a library that it loads, linked for fast mathematics, is
 * enough): the default is set again behind every callback, and looked at before every release.  Subnormal numbers
 * that count as zero would make the norm of a row too small, and what it adds too large. */
#include "core.h"

void pvi_fenv_default(fenv_t *host)
{
    PVI_REQUIRE(fegetenv(host) == 0 && fesetenv(FE_DFL_ENV) == 0);
}

void pvi_fenv_restore(fenv_t *host)
{
    fesetenv(host);
}

void pvi_after_host(pv_ctx *ctx)
{
    PVI_REQUIRE(fesetenv(FE_DFL_ENV) == 0);
    uselocale(ctx->locale);
}

bool pvi_fenv_is_default(void)
{
    volatile float least = 0x1p-149f, normal = 0x1p-126f;
    return fegetround() == FE_TONEAREST && least != 0.0f && normal * 0.5f != 0.0f;
}
