/* fft.c - real discrete Fourier transform; the only file that includes fftw3.h.
 *
 * FFTW's planner keeps global tables, so planning and destroying take a lock; executing does not.
 * FFTW_ESTIMATE: no measurements, so the same size gives the same plan on the same machine. */
#include <fftw3.h>
#include <pthread.h>

#include "pld.h"

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

pv_status pvi_fft_real(int64_t n, double *x)
{
    pthread_mutex_lock(&planner);
    fftw_plan p = n <= INT32_MAX ? fftw_plan_dft_r2c_1d((int)n, x, (fftw_complex *)x, FFTW_ESTIMATE) : NULL;
    pthread_mutex_unlock(&planner);
    if (!p) return PV_E_NOMEM;
    fftw_execute(p);
    pthread_mutex_lock(&planner);
    fftw_destroy_plan(p);
    pthread_mutex_unlock(&planner);
    return PV_OK;
}
