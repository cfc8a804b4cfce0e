/* mills.h - Mills' ratio of the normal distribution (mills.c). */
#ifndef PVI_MILLS_H
#define PVI_MILLS_H

/* R = Q(x)/phi(x) and D = -R'(x) = 1 - x R, relative error below 2^-48, for -0.5 <= x < inf. */
void pvi_mills(double x, double *R, double *D);
#endif
