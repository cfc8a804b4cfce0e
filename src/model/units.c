/* units.c - a person's rows as one unit: the sum or mean of their gradients is clipped once (unit.combine), and
 * counts once or by their rows (unit.weight).
 *
 *   u      2^-24                                      C      clip
 *   k      rows of a unit, 1 <= k <= K                g_r    gradient of its row r, as floats
 *   v      the sum of the g_r, as computed            d      entries of v
 *
 * (1) v is formed in floats, row after row from zeros, in a scratch of its own.  Each entry is one sequence of
 *     operations on the unit's rows and the weights: v is a function of the unit alone, whatever stands before or
 *     beside it and wherever a block of rows ends.  A row that is not usable (a NaN, an unknown label) adds nothing
 *     to v and is counted; the unit's other rows stay.  Rows whose gradient is beyond 2^60 in norm are cut to that
 *     before (linear models), so that no v overflows; of a network, a v that is not finite adds nothing.
 * (2) What the unit adds is q = f v, one float f = fl(min(a, t) b), t = C (1 - e)/N; N the norm of v in double,
 *     e = 2u + (d + 64) 2^-52; 0 where that is below the normal floats.  That is, up to rounding, b clip(a v), with
 *         unit.combine   unit.weight   a             b        q                       average it belongs to
 *         mean           one           fl(1/k)       1        clip(mean)              persons, (1/n) sum of means
 *         mean           rows          fl(1/k)       k/K      (k/K) clip(mean)        rows, (1/(n K)) sum of sums
 *         sum            one           1             1        clip(sum)               none: rows add up, as far as C
 *         sum            rows          fl(1/K)       1        clip(sum/K)             rows, (1/(n K)) sum of sums
 *     Rows are averaged over n K, persons times the cap, since how many rows there are is nobody's to know: a person
 *     of k rows has k/K of what one with K rows has.  With a cap that few reach all q are short beside C.
 *
 * Privacy.  q is the exact product of the float f and the floats v: rounding on the way to v, cancellation included,
 * is part of what the unit adds and no error.
 *   (M1) N is the root of a sum of d squares in double, each exact, so N >= ||v|| (1 - (d + 2) 2^-53); e, the
 *        quotient and the products with 1 - e and b are off by 2^-53 each, and fl(t b) <= (1 + u) t b, b <= 1:
 *        ||q|| <= C in exact arithmetic, for every unit, in each line of (2), however large K, however its rows
 *        cancel.  K appears in no bound.
 *   (M2) one multiply-add per unit and coordinate, f v_j added to the sum: glm.c (5) with a = f and z = v, for m
 *        units.
 *   (M3) likewise: a unit with f v = 0 leaves every coordinate as it was.
 * (3) Where units count once, a unit of one row takes the way of a row (glm.c, softmax.c, net.c), with the same bits
 *     as where units are rows: ||q|| <= C by their (M1), and mean and sum are the same.
 * (4) Replacing all of a unit's rows changes one q: by at most 2 C.  Units of one group are added in their order,
 *     which no row has a say in.
 * (5) data.norm=max: sums are released to a mechanism that goes by the largest entry (mech_select.c (5)).  N is then
 *     the largest |v_j|, which is exact, and every |q_j| <= C.
 * (6) Dense linear models have the squares of v in floats, of strips of at most 8 vectors: products, 7 sums of a lane
 *     and 4 over the lanes are off by a factor of at least (1 - u)^13 together, and strips are added up in double.
 *     Where the result Q is in [2^-80, 2^80] no square was too large for floats, and underflow took away less than
 *     d 2^-149 <= d 2^-69 Q.  N^2 = (1 + 2^-20) Q is then at least the sum of squares that (M1) is about, 1 + 2^-20
 *     being 1 + 16 u, and at most 1 + 2^-19 times it; elsewhere that sum is made in double. */
#include "units.h"

pv_rows pvi_rows_from(const pv_rows *units, int64_t r, int64_t n)
{
    pv_rows v = *units;
    v.start = NULL;
    v.prefix = false;
    v.unit_rows = 1;
    v.pick = NULL;
    v.next = 0;
    v.n = n;
    v.first = r;
    if (v.x) v.x += r * v.ld;
    if (v.byte) v.byte += r * v.ld;
    if (v.ptr) v.ptr += r;
    v.y += r;
    v.norm += r;
    return v;
}

pv_rows pvi_rows_picked(const pv_rows *units, const int64_t *pick, int64_t n)
{
    pv_rows v = pvi_rows_from(units, 0, n);
    v.pick = pick;
    return v;
}

pv_rows pvi_single_rows(const pv_rows *units, int64_t i, int64_t most, int64_t *room)
{
    int64_t n = 0;
    while (n < most && i + n < units->n && pvi_unit_is_row(units, pvi_unit_size(units, i + n))) {
        room[n] = pvi_unit_start(units, i + n);
        n++;
    }
    return pvi_rows_picked(units, room, n);
}

pv_rows pvi_walk_rows(const pvi_walk *w, const pv_rows *units, int64_t most, int64_t *room)
{
    pvi_walk at = *w;
    int64_t n = 0, all = 0;               /* rows of the view; with those asked for next */
    if (!units->pick && !units->prefix) { /* consecutive units own consecutive rows */
        const int64_t r = units->start[w->unit] + w->row, left = units->start[units->n] - r;
        return pvi_rows_from(units, r, left < most ? left : most);
    }
    while (all < most && at.unit < units->n + units->next) {
        const bool own = at.unit < units->n;
        const int64_t row = at.row;
        const pvi_part part = pvi_walk_part(&at, units, most - all);
        for (int64_t i = 0; i < part.n; i++) room[all++] = part.start + row + i;
        if (own) n = all;
    }
    pv_rows v = pvi_rows_picked(units, room, n);
    v.next = all - n;
    return v;
}

int64_t pvi_walk_whole(const pvi_walk *w, const pv_rows *units, int64_t most)
{
    int64_t n = pvi_unit_size(units, w->unit) - w->row;
    if (n >= most) return most;
    for (int64_t u = w->unit + 1; u < units->n; u++) {
        const int64_t size = pvi_unit_size(units, u);
        if (n + size > most) break;
        n += size;
    }
    return n;
}

double pvi_unit_largest(const float *v, int64_t d)
{
    float most = 0.0f;
    for (int64_t j = 0; j < d; j++) most = fabsf(v[j]) > most ? fabsf(v[j]) : most; /* (5) */
    return (double)most * (double)most;
}

double pvi_unit_squares(const float *v, int64_t d)
{
    double sum = 0.0;
    for (int64_t j = 0; j < d; j++) sum += (double)v[j] * (double)v[j];
    return sum;
}
