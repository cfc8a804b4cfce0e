/* host_fenv.c - the host's floating-point environment, put aside while the library computes.
 *
 * Every bound in the library assumes rounding to nearest and gradual underflow; a host may have set another rounding
 * mode, flush-to-zero, or traps on division by zero, which the library relies on being quiet.  Each call therefore
 * computes in the default environment and puts back the host's, raised flags included.  Environments belong to
 * threads, so nobody else sees the change. */
#include "core.h"

void pvi_fenv_default(fenv_t *host)
{
    PVI_REQUIRE(fegetenv(host) == 0 && fesetenv(FE_DFL_ENV) == 0);
}

void pvi_fenv_restore(fenv_t *host)
{
    fesetenv(host);
}
